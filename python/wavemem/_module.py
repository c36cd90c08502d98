# SPDX-License-Identifier: MIT
"""Code objects and offload bundles."""
from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Iterator, List, Optional, Tuple, Union

from ._errors import BadArgument, BadFile, NotFound
from ._library import NULL, Owned, c_path, c_text, call, data_of, ffi, lib, number, record, text

Source = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview]


@dataclass(frozen=True)
class Argument:
    """An argument of a kernel, as its metadata declares it."""

    name: str
    """"" if neither metadata nor DWARF names it."""
    type_name: str
    """"const float*"; "" if unknown (HIP)."""
    value_kind: str
    """.value_kind of the metadata."""
    kind: str
    """"by_value", "global_buffer", "dynamic_lds", "image", "sampler", "pipe", "queue", "hidden"."""
    offset: int
    """Bytes from the start of the kernarg segment."""
    size: int
    """Bytes."""
    alignment: int
    """Bytes; of dynamic LDS: alignment of what it points to."""
    is_const: bool
    """The metadata declares that it is only read."""


@dataclass(frozen=True)
class KernelInfo:
    """What a code object says about a kernel."""

    name: str
    """The symbol, mangled for C++."""
    source_name: str
    """Demangled: "math::scale<float, 4>"."""
    target: str
    descriptor: int
    """Address of the kernel descriptor in the object, before relocation."""
    entry: int
    """Address of the first instruction in the object, before relocation."""
    kernarg_size: int
    """Bytes, with hidden arguments."""
    lds_size: int
    """Bytes of static LDS per workgroup."""
    scratch_size: int
    """Bytes per lane."""
    sgprs: int
    vgprs: int
    agprs: int
    sgpr_spills: int
    vgpr_spills: int
    wave_size: int
    """Lanes, 32 or 64."""
    mode: Optional[str]
    """"CU" or "WGP" on gfx10 and later; else None."""
    max_workgroup: int
    """Work-items."""
    required_workgroup: Tuple[int, int, int]
    """Work-items; (0, 0, 0): any."""
    required_cluster: Tuple[int, int, int]
    """Workgroups of a cluster (gfx1250); (0, 0, 0): there are none."""
    dynamic_stack: bool
    dimensions: int
    """Of the work-item and workgroup ids that the kernel may read, 1 to 3."""
    arguments: Tuple[Argument, ...]
    """All of them, the hidden ones last."""
    allocated_sgprs: int
    """Registers that the descriptor allocates."""
    allocated_vgprs: int
    allocated_agprs: int


@dataclass(frozen=True)
class Section:
    """Executable code of a module."""

    address: int
    """Of the first byte, in the object."""
    code: bytes
    name: str
    """".text"; "" if it has none."""


@dataclass(frozen=True)
class Line:
    """A place in a source file; line and column are 0 when unknown."""

    file: str
    line: int
    column: int


@dataclass(frozen=True)
class BundleEntry:
    """An entry of an offload bundle."""

    id: str
    """"hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+"."""
    target: str
    """"gfx90a:xnack+"; "" if it is not for an AMD GPU."""
    size: int
    """Bytes."""
    bundle: int
    """Number of the bundle in the file."""
    offset: int
    """Bytes from the start of that bundle, decompressed."""
    compressed: bool
    data: bytes
    """The code object, for Module()."""


def _given(source: Source) -> bool:
    """Whether `source` is a path; else it is bytes."""
    return isinstance(source, (str, os.PathLike))


def bundle_entries(source: Source) -> List[BundleEntry]:
    """The entries of clang's offload bundles in a file or in bytes: a bundle, plain or compressed, or all bundles in
    the .hip_fatbin sections of a host ELF file.

    Raises NotFound if there are none, BadFile, InputOutput.
    """
    result = ffi.new("struct wm_bundle **")
    if _given(source):
        call(lib.wm_bundle_open_file, c_path(source), result)
    else:
        data = data_of(source, "source")
        call(lib.wm_bundle_open, ffi.from_buffer(data), len(data), c_text("bytes", ""), result)
    bundle = ffi.gc(result[0], lib.wm_bundle_close)
    entries = []
    for i in range(lib.wm_bundle_entry_count(bundle)):
        entry = lib.wm_bundle_entry(bundle, i)
        start = ffi.new("uint8_t **")
        call(lib.wm_bundle_bytes, bundle, i, start)
        entries.append(record(BundleEntry, entry, data=bytes(ffi.buffer(start[0], entry.size))))
    return entries


def is_bundle(source: Source) -> bool:
    """Whether a file or bytes contain offload bundles. Raises BadFile, InputOutput."""
    result = ffi.new("struct wm_bundle **")
    try:
        if _given(source):
            call(lib.wm_bundle_open_file, c_path(source), result)
        else:
            data = data_of(source, "source")
            call(lib.wm_bundle_open, ffi.from_buffer(data), len(data), c_text("bytes", ""), result)
    except NotFound:
        return False
    lib.wm_bundle_close(result[0])
    return True


class Module:
    """A parsed code object. Immutable; threads may share it.

    source: a path, or the bytes of one of:
      - an ELF code object. If `target` is given, the object must be for it.
      - offload bundles, plain or compressed, or a host ELF file with them: `target` selects the entry ("gfx900",
        "gfx90a:xnack+"); without it, there must be only one.
      - anything else, if `target` is given: raw instructions, with one kernel "raw". s[0:1] then has the address of
        the arguments, s2 to s4 the workgroup id, v0 to v2 the work-item id.

    Raises BadFile, NotFound (no entry matches), BadArgument (several match), Unsupported, InputOutput.
    """

    _object: Optional[Owned] = None

    def __init__(self, source: Source, target: Optional[str] = None, *, name: str = "bytes") -> None:
        result = ffi.new("struct wm_object **")
        wanted = c_text(target, "target")
        if _given(source):
            self.name: str = os.fspath(source)  # type: ignore[assignment]
            base, ending = os.path.splitext(self.name)
            if ending in (".cl", ".hip"):
                raise BadFile(f"{self.name}: a source; compile it first: wavemem compile {self.name} -m TARGET -o {base}.co")
            call(lib.wm_object_open_file, c_path(source), wanted, result)
        else:
            self.name = name
            data = data_of(source, "source")
            call(lib.wm_object_open, ffi.from_buffer(data), len(data), c_text(name, "name"), wanted, result)
        self._object = Owned(result[0], lib.wm_object_close)

    @property
    def _open(self) -> Any:
        if self._object is None:
            raise BadArgument(f"the module {self.name} is closed")
        return self._object.pointer

    def close(self) -> None:
        """Closes the module; machines that have loaded it keep what they need. Closing twice is fine."""
        owned, self._object = self._object, None
        if owned is not None:
            owned.release()

    def __del__(self) -> None:
        self.close()

    def __enter__(self) -> Module:
        self._open
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<wavemem.Module {self.name!r}, {'closed' if self._object is None else self.target_id}>"

    @property
    def target(self) -> str:
        """"gfx900"."""
        return text(lib.wm_object_target(self._open))

    @property
    def target_id(self) -> str:
        """The target with the features that it was compiled for: "gfx90a:sramecc+:xnack-"."""
        return text(lib.wm_object_target_id(self._open))

    @property
    def version(self) -> int:
        """Code object version; 0: raw instructions."""
        return lib.wm_object_version(self._open)

    def _kernel(self, name: Optional[str]) -> Any:
        result = ffi.new("struct wm_kernel **")
        call(lib.wm_object_find_kernel, self._open, c_text(name, "name"), result)
        return result[0]

    def kernel(self, name: Optional[str] = None) -> KernelInfo:
        """Finds a kernel by its symbol or source name; the last template arguments may be omitted. None: the only one.

        Raises NotFound, whose message lists the kernels.
        """
        return _info(self._kernel(name))

    @property
    def kernels(self) -> List[KernelInfo]:
        """All kernels in the order of the metadata."""
        return [_info(lib.wm_object_kernel(self._open, i)) for i in range(lib.wm_object_kernel_count(self._open))]

    def __iter__(self) -> Iterator[KernelInfo]:
        return iter(self.kernels)

    def sections(self) -> List[Section]:
        """The executable sections in the order of their addresses."""
        count = lib.wm_object_code(self._open, NULL, 0)
        code = ffi.new("struct wm_code[]", count)
        lib.wm_object_code(self._open, code, count)
        return [Section(one.address, bytes(ffi.buffer(one.bytes, one.size)), text(one.section) or "") for one in code]

    def symbol(self, address: int) -> Optional[Tuple[str, int]]:
        """The code symbol that contains an address of the object, and the offset within it in bytes; None: none."""
        distance = ffi.new("uint64_t *")
        name = text(lib.wm_object_symbol(self._open, number(address, "the address", 1 << 64), distance))
        return None if name is None else (name, distance[0])

    def state(self, address: int) -> int:
        """What the code in front of an address of the object has set that the meaning of the instruction there depends
        on, for `decode`: the last s_set_vgpr_msb of gfx1250. 0: nothing, it is not known, or ways to it differ."""
        return int(lib.wm_object_state(self._open, number(address, "the address", 1 << 64)))

    def line(self, address: int) -> Optional[Line]:
        """The source line of an address of the object, from DWARF; None: unknown."""
        file, line, column = ffi.new("char **"), ffi.new("unsigned *"), ffi.new("unsigned *")
        if not lib.wm_object_line(self._open, number(address, "the address", 1 << 64), file, line, column):
            return None
        return Line(text(file[0]) or "", line[0], column[0])


def _info(kernel: Any) -> KernelInfo:
    return record(KernelInfo, kernel, arguments=tuple(
        record(Argument, kernel.arguments[i]) for i in range(kernel.argument_count)))
