# SPDX-License-Identifier: MIT
"""Surfaces: where tiled images have their texels, and conversion between arrays and tiled memory."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional, Sequence, Tuple

import numpy as np

from ._errors import BadArgument
from ._library import NULL, c_text, call, data_of, ffi, lib, number, record, text, words_of

_SIDE = 1 << 32


def c_gpu(name: Optional[str]) -> Any:
    """The product called `name`, for C; None: the target's default."""
    if name is None:
        return NULL
    found = ffi.new("struct wm_gpu **")
    call(lib.wm_gpu_find, c_text(name, "gpu"), found)
    return found[0]


@dataclass(frozen=True)
class SurfaceLevel:
    """A mip level: sizes in elements, of compressed formats blocks of 4x4 texels."""

    offset: int
    """Bytes from the start of a layer."""
    pitch: int
    """Elements from one row to the next; 0 in the mip tail of gfx10 and later."""
    width: int
    height: int
    depth: int
    tail: bool
    """It shares a block with other levels."""


@dataclass(frozen=True)
class SurfaceSteps:
    """How an offset comes about: layer + level + block + (within ^ tail_xor ^ pipe_bank_xor)."""

    offset: int
    layer: int
    level: int
    block: int
    block_x: int
    block_y: int
    within: int
    """The value of the equation."""
    tail_x: int
    tail_y: int
    tail_xor: int
    pipe_bank_xor: int
    by_equation: bool
    """Otherwise only `offset` is set."""
    terms: Tuple[str, ...]
    """The equation, from bit 0 on: "x4^y7"."""


class Surface:
    """A tiled or linear image in memory, as a target's product places it.

        surface = wavemem.Surface("gfx1100", "64KB_R_X", (1080, 1920), 4)
        tiled = surface.tile(texels)            # bytes of the surface as an array of uint8
        surface.offset(5, 7)                    # byte of the texel x 5, y 7

    mode: a swizzle mode ("64KB_R_X", "linear") or its number; before gfx9 the index of a tile mode. shape: (width,),
    (height, width) or (depth, height, width), in texels. bytes: of an element. gpu: a product; None: the target's default.
    dimensions: 1, 2 or 3; with 2, `depth` counts slices. compressed: elements are blocks of 4x4 texels. pitch: elements from one
    row to the next, if it is not derived. Raises Unsupported if the product has no such surface.
    """

    def __init__(self, target: str, mode: Any, shape: Sequence[int], bytes: int, *, gpu: Optional[str] = None,
                 dimensions: int = 2, levels: int = 1, samples: int = 1, compressed: bool = False, pitch: int = 0,
                 pipe_bank_xor: int = 0) -> None:
        sizes = [number(one, "shape", _SIDE) for one in shape]
        if not 1 <= len(sizes) <= 3:
            raise BadArgument(f"shape has {len(sizes)} numbers; expected (width,), (height, width) or (depth, height, width)")
        depth, height, width = [1] * (3 - len(sizes)) + sizes
        c = ffi.new("struct wm_surface_shape *")
        c.struct_size = ffi.sizeof("struct wm_surface_shape")
        name = c_text(str(mode), "mode")
        c.mode = name
        c.dimensions, c.bytes = number(dimensions, "dimensions", _SIDE), number(bytes, "bytes", _SIDE)
        c.width, c.height, c.depth = width, height, depth
        c.levels, c.samples = number(levels, "levels", _SIDE), number(samples, "samples", _SIDE)
        c.block = 4 if compressed else 1
        c.pitch, c.pipe_bank_xor = number(pitch, "pitch", _SIDE), number(pipe_bank_xor, "pipe_bank_xor", _SIDE)
        surface = ffi.new("struct wm_surface **")
        call(lib.wm_surface_create, c_text(target, "target"), c_gpu(gpu), c, surface)
        self._keep(surface[0])

    def _keep(self, c: Any) -> None:
        self._c = ffi.gc(c, lib.wm_surface_destroy)
        self._layout = layout = lib.wm_surface_layout(self._c)
        self.mode: str = text(layout.mode)
        self.product: str = text(layout.product)
        self.bytes: int = layout.bytes
        self.packed: int = layout.packed
        self.layer: int = layout.layer
        self.alignment: int = layout.alignment
        self.block: Tuple[int, ...] = tuple(layout.block)
        self.block_bytes: int = layout.block_bytes
        self.element: int = layout.bytes_per_element
        self.samples: int = layout.samples
        self.levels = tuple(record(SurfaceLevel, layout.level[i]) for i in range(layout.levels))
        self.base = 0

    @classmethod
    def of_image(cls, target: str, words: Any, *, gpu: Optional[str] = None) -> Surface:
        """The surface that the eight words of a T# describe; `base` is its address."""
        array = words_of(words, "words")
        if len(array) != 8:
            raise BadArgument(f"words has {len(array)} words; a T# has 8")
        self = cls.__new__(cls)
        surface, base = ffi.new("struct wm_surface **"), ffi.new("uint64_t *")
        call(lib.wm_surface_of_image, c_text(target, "target"), c_gpu(gpu), array, surface, base)
        self._keep(surface[0])
        self.base = base[0]
        return self

    def _place(self, x: int, y: int, z: int, level: int, sample: int) -> Any:
        place = ffi.new("struct wm_surface_place *")
        for name, value in ("x", x), ("y", y), ("z", z), ("level", level), ("sample", sample):
            setattr(place, name, number(value, name, _SIDE))
        return place

    def offset(self, x: int, y: int = 0, z: int = 0, level: int = 0, sample: int = 0) -> int:
        """Bytes from the start of the surface to an element."""
        offset = ffi.new("uint64_t *")
        call(lib.wm_surface_offset, self._c, self._place(x, y, z, level, sample), offset)
        return offset[0]

    def explain(self, x: int, y: int = 0, z: int = 0, level: int = 0, sample: int = 0) -> SurfaceSteps:
        """How the offset of an element comes about."""
        steps = ffi.new("struct wm_surface_steps *")
        call(lib.wm_surface_explain, self._c, self._place(x, y, z, level, sample), steps)
        return record(SurfaceSteps, steps, terms=tuple(text(steps.bit[i].term) for i in range(steps.bits)))

    def tile(self, texels: Any) -> np.ndarray:
        """The bytes of the surface with these texels: an array, or bytes, of level 0, then the others; in each the slices,
        rows, texels and samples without gaps. Bytes of no texel are 0."""
        data = data_of(texels, "texels")
        tiled = np.zeros(self.bytes, np.uint8)
        call(lib.wm_surface_tile, self._c, ffi.from_buffer(data), len(data), ffi.from_buffer(tiled, require_writable=True), self.bytes)
        return tiled

    def untile(self, tiled: Any, dtype: Any = np.uint8) -> np.ndarray:
        """The texels in the bytes of a surface, as a flat array; of one level (depth, height, width, ...) with the axis of a
        texel's parts behind it, if it has several."""
        data = data_of(tiled, "tiled")
        packed = np.zeros(self.packed, np.uint8)
        call(lib.wm_surface_untile, self._c, ffi.from_buffer(data), len(data), ffi.from_buffer(packed, require_writable=True),
             self.packed)
        array = packed.view(dtype)
        if len(self.levels) > 1:
            return array
        level = self.levels[0]
        parts = self.element // array.itemsize
        return array.reshape([level.depth, level.height, level.width] + [n for n in (self.samples, parts) if n > 1])
