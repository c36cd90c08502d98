# SPDX-License-Identifier: MIT
"""The arguments of a launch: arrays become guest memory, scalars get the type that the kernel declares."""
from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np

from . import _images
from ._errors import BadArgument
from ._library import ffi
from ._module import Argument, KernelInfo

if TYPE_CHECKING:
    from ._machine import Buffer

# OpenCL's and C's names: kind and bytes.
SCALARS = {
    "bool": ("u", 1), "char": ("i", 1), "uchar": ("u", 1), "signed char": ("i", 1), "unsigned char": ("u", 1),
    "short": ("i", 2), "ushort": ("u", 2), "unsigned short": ("u", 2), "int": ("i", 4), "uint": ("u", 4),
    "unsigned": ("u", 4), "unsigned int": ("u", 4), "long": ("i", 8), "ulong": ("u", 8), "unsigned long": ("u", 8),
    "long long": ("i", 8), "unsigned long long": ("u", 8), "size_t": ("u", 8), "half": ("f", 2), "_Float16": ("f", 2),
    "float": ("f", 4), "double": ("f", 8),
}
VECTOR = re.compile(r"(u?(?:char|short|int|long)|half|float|double)(2|3|4|8|16)")
QUALIFIERS = re.compile(r"\b(?:const|volatile|restrict|__restrict|__global|__constant|__local)\b")
CPU = 1  # kDLCPU of DLPack


@dataclass(frozen=True)
class Local:
    """The size of a __local argument: it points to this many bytes of LDS."""

    bytes: int


@dataclass
class Region:
    """Host memory [low, high) of one or more arrays that overlap: one allocation of guest memory."""

    low: int
    high: int
    writable: bool
    name: str
    keep: List[Any]
    address: int = 0


@dataclass
class Layout:
    """What the arguments of a launch need."""

    data: bytearray
    regions: List[Region]
    pointers: List[Tuple[int, Region, int]]  # offset in data; what it points to
    objects: List[Tuple[int, _images.Object]]  # the same for images and samplers
    dynamic_lds: int
    keep: List[Any]


def element(type_name: str) -> Optional[Tuple[str, int, int]]:
    """Kind ("i", "u", "f"), bytes of a component, and components of a scalar type; None: another type."""
    name = " ".join(QUALIFIERS.sub(" ", type_name).split())
    if name in SCALARS:
        return SCALARS[name] + (1,)
    vector = VECTOR.fullmatch(name)
    return SCALARS[vector.group(1)] + (int(vector.group(2)),) if vector else None


def array_of(value: Any, where: str) -> Optional[np.ndarray]:
    """A NumPy array over the memory of `value`, without a copy; None: it is nothing of the kind."""
    if isinstance(value, np.ndarray):
        return value
    try:
        view = memoryview(value)
    except TypeError:
        pass
    else:
        try:
            return np.asarray(view)
        except (ValueError, TypeError) as error:
            raise BadArgument(f"{where}: NumPy cannot use this {type(value).__name__}: {error}") from None
    if not hasattr(value, "__dlpack__"):
        return None
    try:
        device = value.__dlpack_device__()[0]
        if device != CPU:
            raise BadArgument(f"{where}: the {type(value).__name__} is on DLPack device {int(device)}; expected 1, "
                              "memory of the CPU")
        array = np.from_dlpack(value)
    except BadArgument:
        raise
    except Exception as error:  # whatever the other library raises
        raise BadArgument(f"{where}: the {type(value).__name__} gives no array: {error}") from error
    if array.flags.writeable or not array.size:
        return array
    # NumPy marks what comes from DLPack as not writable, because old versions of the protocol cannot say it.
    memory = np.frombuffer(ffi.buffer(ffi.cast("char *", array.ctypes.data), extent(array, where)[1]), np.uint8)
    result = np.lib.stride_tricks.as_strided(memory.view(array.dtype), array.shape, array.strides)
    holder = _Holder(result, (array, value))
    return holder


class _Holder(np.ndarray):
    """An array that keeps other objects alive."""

    keep: Any

    def __new__(cls, array: np.ndarray, keep: Any) -> _Holder:
        self = array.view(cls)
        self.keep = keep
        return self


def extent(array: np.ndarray, where: str) -> Tuple[int, int]:
    """Address and bytes of an array's memory, which must have no gaps."""
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        raise BadArgument(f"{where}: the array of shape {array.shape} and strides {array.strides} is not contiguous in "
                          "memory, so it cannot be updated in place; pass numpy.ascontiguousarray(...) and copy back")
    if array.dtype.hasobject:
        raise BadArgument(f"{where}: an array of Python objects has no values that a kernel could use")
    if not array.dtype.isnative:
        raise BadArgument(f"{where}: the dtype {array.dtype} is not of this machine's byte order")
    return array.ctypes.data, array.nbytes


def check_dtype(array: np.ndarray, formal: Argument, value: Any, where: str) -> None:
    """Refuses arrays of other elements than the declared type's. Raw bytes and structured arrays are accepted."""
    declared = formal.type_name.strip()
    if not declared.endswith("*") or array.dtype.kind == "V":
        return
    if not isinstance(value, np.ndarray) and array.dtype in (np.uint8, np.int8):
        return
    expected = element(declared[:-1].rstrip("* "))
    if declared[:-1].rstrip().endswith("*") or expected is None:
        return
    kind, size, components = expected
    given, bytes_ = array.dtype.kind, array.dtype.itemsize
    if given == "c":
        given, bytes_ = ("f", bytes_ // 2) if components % 2 == 0 else ("c", bytes_)
    fits = bytes_ == size and ((given in "iub") == (kind in "iu")) and given in "iubfc"
    if not fits:
        raise BadArgument(f"{where} is declared as {formal.type_name}; got an array of {array.dtype}. Pass "
                          "array.view(...) of the right dtype if the bytes are meant")
    if array.nbytes % (size * components if components != 3 else size * 4):
        raise BadArgument(f"{where} is declared as {formal.type_name}, elements of "
                          f"{size * (4 if components == 3 else components)} bytes; got {array.nbytes} bytes")


def integer(value: Any, size: int, signed: Optional[bool], where: str) -> bytes:
    """An integer of `size` bytes; signed None: either."""
    low = 0 if signed is False else -(1 << (8 * size - 1))
    high = 1 << (8 * size - (1 if signed else 0))
    number = value.__index__()
    if not low <= number < high:
        raise BadArgument(f"{where} is {number}; expected {low} to {high - 1}")
    return (number & ((1 << 8 * size) - 1)).to_bytes(size, "little")


def floating(value: Any, size: int, where: str) -> bytes:
    with np.errstate(over="ignore"):
        result = np.dtype(f"f{size}").type(value)
    if np.isinf(result) and not np.isinf(float(value)):
        raise BadArgument(f"{where} is {value}; it does not fit in {8 * size} bits")
    return result.tobytes()


def is_integer(value: Any) -> bool:
    return hasattr(type(value), "__index__") and not isinstance(value, np.ndarray)


def is_number(value: Any) -> bool:
    return is_integer(value) or isinstance(value, (float, np.floating))


def component(value: Any, kind: str, size: int, where: str, type_name: str) -> bytes:
    if kind == "f":
        if is_number(value):
            return floating(value, size, where)
    elif is_integer(value) or isinstance(value, np.bool_):
        return integer(int(value), size, kind == "i", where)
    raise BadArgument(f"{where} is declared as {type_name}; got {value!r}")


def scalar(value: Any, formal: Argument, where: str) -> bytes:
    """The bytes of an argument that is passed by value."""
    known = element(formal.type_name)
    size = formal.size
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if known:
        kind, bytes_, components = known
        if components == 1 and bytes_ == size:
            return component(value, kind, bytes_, where, formal.type_name)
        if np.iterable(value) and not isinstance(value, (bytes, bytearray, memoryview)):
            values = list(value)
            if len(values) == components or len(values) * bytes_ == size:
                data = b"".join(component(one, kind, bytes_, where, formal.type_name) for one in values)
                return data.ljust(size, b"\0")
            raise BadArgument(f"{where} is declared as {formal.type_name}; expected {components} values, got {len(values)}")
    if is_integer(value) and size in (1, 2, 4, 8):
        return integer(value, size, None, where)
    if isinstance(value, (float, np.floating)) and size in (2, 4, 8):
        return floating(value, size, where)
    try:
        raw: Optional[bytes] = memoryview(value).tobytes()
    except TypeError:
        raw = None
    if raw is None or len(raw) != size:
        raise BadArgument(f"{where} has {size} bytes by value ({formal.type_name or 'of unknown type'}); got " +
                          (repr(value) if raw is None else f"{len(raw)} bytes"))
    return raw


def find_region(regions: List[Region], low: int, size: int, writable: bool, name: str, keep: Any) -> None:
    """Adds host memory to the regions; those that overlap become one, as they are in the host's memory."""
    new = Region(low, low + size, writable, name, [keep])
    for old in [one for one in regions if one.low < new.high and new.low < one.high]:
        regions.remove(old)
        new = Region(min(old.low, new.low), max(old.high, new.high), old.writable or new.writable,
                     old.name if old.name == new.name else f"{old.name}, {new.name}", old.keep + new.keep)
    regions.append(new)


def match(info: KernelInfo, values: Sequence[Any], named: Dict[str, Any]) -> List[Tuple[Argument, Any, str]]:
    """Each explicit argument of the kernel with its value and its name in messages."""
    formals = [one for one in info.arguments if one.kind != "hidden"]
    names = [one.name for one in formals]
    listing = ", ".join(f"{one.type_name} {one.name}".strip() or one.kind for one in formals)
    for name in named:
        if name not in names:
            raise BadArgument(f"{info.source_name} has no argument or option '{name}'; its arguments: {listing or 'none'}")
        if names.index(name) < len(values):
            raise BadArgument(f"{info.source_name}: argument '{name}' is given twice")
    missing = [one for one in formals[len(values):] if one.name not in named]
    if len(values) > len(formals) or missing:
        raise BadArgument(f"{info.source_name} has {len(formals)} arguments ({listing or 'none'}); got "
                          f"{len(values) + len(named)}")
    result = []
    for i, formal in enumerate(formals):
        where = f"{info.source_name}: argument {i}" + (f" '{formal.name}'" if formal.name else "")
        result.append((formal, values[i] if i < len(values) else named[formal.name], where))
    return result


def lay_out(info: KernelInfo, values: Sequence[Any], named: Dict[str, Any], dynamic_lds: int,
            address_of: Callable[[Buffer, str], Optional[int]]) -> Layout:
    """Lays the arguments out as the kernel finds them. `address_of` gives the address of a Buffer, else None."""
    matched = match(info, values, named)
    layout = Layout(bytearray(max((one.offset + one.size for one, _, _ in matched), default=0)), [], [], [], 0, [])
    lds = info.lds_size
    placed = []
    for formal, value, where in matched:
        place = slice(formal.offset, formal.offset + formal.size)
        if formal.kind == "dynamic_lds":
            if not isinstance(value, Local) or not is_integer(value.bytes) or value.bytes < 0:
                raise BadArgument(f"{where} is local memory; expected wavemem.Local(bytes), got {value!r}")
            lds += -lds % max(formal.alignment, 1)
            layout.data[place] = lds.to_bytes(8, "little")[: formal.size]
            lds += value.bytes
            continue
        if isinstance(value, (_images.Image, _images.Sampler, _images.Texture)):
            if formal.size != 8 or not _images.takes(formal.kind, value):
                raise BadArgument(f"{where} is {formal.kind.replace('_', ' ')}; it takes no {type(value).__name__}")
            layout.objects.append((formal.offset, _images.Object(value, info.target, where)))
            continue
        address = address_of(value, where)
        if address is None and formal.kind != "by_value":
            if value is None:
                address = 0
            elif is_integer(value):
                address = int.from_bytes(integer(value, 8, False, where), "little")
        if address is not None:
            if formal.size != 8:
                raise BadArgument(f"{where} has {formal.size} bytes; an address has 8")
            layout.data[place] = address.to_bytes(8, "little")
        elif formal.kind == "by_value":
            layout.data[place] = scalar(value, formal, where)
        else:
            array = array_of(value, where)
            if array is None or formal.kind != "global_buffer":
                raise BadArgument(f"{where} is {formal.kind.replace('_', ' ')}; expected " +
                                  ("an array, a Buffer, an address or None" if formal.kind == "global_buffer" else
                                   _images.EXPECTED.get(formal.kind, "") + "a Buffer, an address or None") + f", got {type(value).__name__}")
            low, size = extent(array, where)
            check_dtype(array, formal, value, where)
            layout.keep.append(array)
            if size:  # else it stays a null pointer: there is nothing to point to
                find_region(layout.regions, low, size, array.flags.writeable, formal.name or f"argument {formal.offset}",
                            array)
                placed.append((formal.offset, low))
    for offset, low in placed:
        region = next(one for one in layout.regions if one.low <= low < one.high)
        layout.pointers.append((offset, region, low - region.low))
    layout.dynamic_lds = lds - info.lds_size + dynamic_lds
    return layout
