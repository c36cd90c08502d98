# SPDX-License-Identifier: MIT
"""The off-chip buffer between tessellation shaders of Mesa's drivers."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, List, Optional, Tuple

from ._library import c_text, call, ffi, lib, number, record, text

_32 = 1 << 32


@dataclass(frozen=True)
class TessPlace:
    """An element of the buffer; see struct wm_tess_place."""

    per_patch: bool
    """Of a patch as a whole; `vertex` means nothing then."""
    patch: int
    """Within the workgroup."""
    vertex: int
    """Within the patch."""
    slot: int
    """The attribute, 16 bytes."""
    indirect: int
    """Index into an array of attributes that begins at `slot`."""
    byte: int
    """Within the attribute: 4 per component."""


@dataclass(frozen=True)
class TessLines:
    """Distinct cache lines that one instruction of the first wave accesses; `_before`: in the older layout, in which all
    data of a patch is contiguous."""

    store_lanes: int
    load_lanes: int
    store: int
    store_before: int
    load: int
    load_before: int


class TessLayout:
    """The layout of the buffer through which a workgroup's control shader passes its outputs to the evaluation shader.

    TessLayout(patches=32, vertices=3, attributes=4), or TessLayout.of_word(0x18000620) from the word that the shaders get.
    name: one of TessLayout.names(). Attributes of all layouts, in bytes: attribute_stride, patch_stride, patch_data, size;
    also source and word. Raises NotFound (the name), BadArgument (a number does not fit its field in the word).
    """

    def __init__(self, *, patches: int, vertices: int, attributes: int, patch_attributes: int = 0,
                 name: str = "radeonsi-2016") -> None:
        self._c = ffi.new("struct wm_tess_layout *")
        call(lib.wm_tess_layout, c_text(name, "name"), number(patches, "patches", _32), number(vertices, "vertices", _32),
             number(attributes, "attributes", _32), number(patch_attributes, "patch_attributes", _32), self._c)

    @classmethod
    def of_word(cls, word: int, *, patch_attributes: int = 0, name: str = "radeonsi-2016") -> TessLayout:
        """The layout that a word describes. No word contains the number of attributes per patch."""
        self = cls.__new__(cls)
        self._c = ffi.new("struct wm_tess_layout *")
        call(lib.wm_tess_layout_of_word, c_text(name, "name"), number(word, "word", _32),
             number(patch_attributes, "patch_attributes", _32), self._c)
        return self

    @staticmethod
    def names() -> List[str]:
        """The known layouts."""
        result: List[str] = []
        while lib.wm_tess_layout_at(len(result)):
            result.append(text(lib.wm_tess_layout_at(len(result))))
        return result

    def __getattr__(self, name: str) -> Any:
        fields = [field for field, _ in ffi.typeof("struct wm_tess_layout").fields]
        if name not in fields:
            raise AttributeError(f"a TessLayout has no attribute '{name}'; it has {', '.join(fields)}")
        value = getattr(self._c, name)
        return value if isinstance(value, int) else text(value)

    def __repr__(self) -> str:
        return (f"<wavemem.TessLayout {self.name!r}: {self.patches} patches, {self.vertices} vertices, {self.attributes} + "
                f"{self.patch_attributes} attributes, {self.size} bytes>")

    def offset(self, *, patch: int, vertex: Optional[int] = None, slot: int, indirect: int = 0, byte: int = 0) -> int:
        """The byte offset of an element; without `vertex`, of an attribute of the patch.

        Raises BadArgument if the layout has no such element.
        """
        place = ffi.new("struct wm_tess_place *")
        place.per_patch = vertex is None
        place.patch = number(patch, "patch", _32)
        place.vertex = 0 if vertex is None else number(vertex, "vertex", _32)
        place.slot = number(slot, "slot", _32)
        place.indirect = number(indirect, "indirect", _32)
        place.byte = number(byte, "byte", _32)
        offset = ffi.new("uint32_t *")
        call(lib.wm_tess_offset, self._c, place, offset)
        return offset[0]

    def place(self, offset: int) -> TessPlace:
        """The element that a byte belongs to. Raises NotFound if it is padding or after the end."""
        place = ffi.new("struct wm_tess_place *")
        call(lib.wm_tess_place, self._c, number(offset, "offset", _32), place)
        return record(TessPlace, place)

    def slot(self, semantic: str, index: int = 0) -> Tuple[int, bool]:
        """The slot of a semantic ("position", "generic", "tessouter", ...), and whether it belongs to the patch.

        Raises NotFound for another name, Unsupported for layouts whose numbering depends on the shaders.
        """
        slot, per_patch = ffi.new("uint32_t *"), ffi.new("bool *")
        call(lib.wm_tess_slot, self._c.name, c_text(semantic, "semantic"), number(index, "index", _32), slot, per_patch)
        return slot[0], bool(per_patch[0])

    def lines(self, *, line_bytes: int = 64, lanes: int = 64, points: int = 1) -> TessLines:
        """Counts the cache lines of a store and a load. points: lanes of the evaluation shader per patch.

        Raises BadArgument for a line that is no power of two of at least 16 bytes, or a layout without attributes.
        """
        lines = ffi.new("struct wm_tess_lines *")
        call(lib.wm_tess_lines, self._c, number(line_bytes, "line_bytes", _32), number(lanes, "lanes", _32),
             number(points, "points", _32), lines)
        return record(TessLines, lines)
