# SPDX-License-Identifier: MIT
"""The C library through cffi: finding it, calling it, and turning its structs into Python and NumPy values.

No layout of a struct is written here: all of them come from the C headers.
"""
from __future__ import annotations

import dataclasses
import functools
import os
from pathlib import Path
from typing import Any, Callable, Dict, Tuple, Type, TypeVar

import cffi
import numpy as np

from . import _errors, _reduce

HERE = Path(__file__).resolve().parent
HEADERS = HERE.parents[1] / "include" / "wavemem"  # in a source tree
T = TypeVar("T")


def _declarations() -> str:
    packed = HERE / "_wavemem.h"
    if packed.exists():
        return packed.read_text(encoding="utf-8")
    if (HEADERS / "wavemem.h").exists():
        return _reduce.reduce(HEADERS)
    raise ImportError(f"{packed} is missing; please install the package with pip")


def _open(ffi: cffi.FFI) -> Any:
    packed = HERE / "libwavemem.so"
    name = os.environ.get("WAVEMEM_LIBRARY") or (str(packed) if packed.exists() else "libwavemem.so.0")
    try:
        return ffi.dlopen(name)
    except OSError as error:
        raise ImportError(f"wavemem's library cannot be loaded: {error}. In a source tree, set WAVEMEM_LIBRARY to "
                          "build/libwavemem.so, which `make` builds; or install the package with pip") from error


ffi = cffi.FFI()
ffi.cdef(_declarations())
lib: Any = _open(ffi)
NULL = ffi.NULL
version: str = ffi.string(lib.wm_version()).decode()


# ---- calls ----


@functools.lru_cache(maxsize=None)
def names(enum: str) -> Dict[int, str]:
    """The constants of `enum`, value to name: in lower case, without what all names begin with."""
    elements = dict(sorted(ffi.typeof("enum " + enum).elements.items()))
    common = os.path.commonprefix(list(elements.values()))
    common = common[: common.rindex("_") + 1]
    return {value: name[len(common):].lower() for value, name in elements.items()}


def value_of(enum: str, name: str, what: str) -> int:
    """The constant of `enum` with this name, for an argument called `what`."""
    known = names(enum)
    for value, one in known.items():
        if one == name:
            return value
    raise _errors.BadArgument(f"{what} is {name!r}; expected one of {', '.join(map(repr, known.values()))}")


def error_of(status: int, message: str) -> _errors.Error:
    name = names("wm_status").get(status, "")
    return _errors.CLASSES.get(name, _errors.Error)(message)


def call(function: Callable[..., int], *arguments: Any) -> None:
    """Calls a function whose last parameter is `diag`; raises what it reports."""
    diag = ffi.new("struct wm_diag *")
    status = function(*arguments, diag)
    if status:
        raise error_of(status, text(diag.message) or names("wm_status")[status])


def text(pointer: Any) -> Any:
    """The string at a char pointer or in a char array; None for NULL."""
    return ffi.string(pointer).decode("utf-8", "replace") if pointer else None


def c_text(value: Any, what: str) -> Any:
    """A char array for an argument; None becomes NULL."""
    if value is None:
        return NULL
    if not isinstance(value, str):
        raise _errors.BadArgument(f"{what} is of type {type(value).__name__}; expected a str")
    if "\0" in value:
        raise _errors.BadArgument(f"{what} contains a NUL character")
    try:
        return ffi.new("char[]", value.encode())
    except UnicodeEncodeError:
        raise _errors.BadArgument(f"{what} is {value!r}, which is not valid Unicode") from None


def c_path(value: Any) -> Any:
    """A path as a char array."""
    path = os.fsencode(value)
    if b"\0" in path:
        raise _errors.BadArgument("the path contains a NUL character")
    return ffi.new("char[]", path)


def data_of(value: Any, what: str) -> memoryview:
    """The bytes of an object with the buffer protocol."""
    try:
        view = memoryview(value)
    except TypeError:
        raise _errors.BadArgument(f"{what} is of type {type(value).__name__}; expected bytes, an array or another "
                                  "object with the buffer protocol") from None
    if not view.c_contiguous:
        raise _errors.BadArgument(f"{what} is not contiguous in memory; pass a copy (numpy.ascontiguousarray)")
    return view.cast("B") if view.nbytes else memoryview(b"")


def words_of(value: Any, what: str) -> Any:
    """A uint32_t array from bytes, a NumPy array or a sequence of numbers. Its len() is the number of words."""
    if not isinstance(value, (bytes, bytearray, memoryview)):
        try:
            array = np.asarray(value)
            if array.dtype.kind not in "iu" or array.ndim != 1:
                raise ValueError
            numbers = [int(one) for one in array]
        except (TypeError, ValueError, OverflowError):
            raise _errors.BadArgument(f"{what}: expected bytes, or a sequence of 32-bit words") from None
        if any(not -(1 << 31) <= one < 1 << 32 for one in numbers):
            raise _errors.BadArgument(f"{what}: a word does not fit in 32 bits")
        return ffi.new("uint32_t[]", [one & 0xFFFFFFFF for one in numbers])
    data = data_of(value, what)
    if len(data) % 4:
        raise _errors.BadArgument(f"{what} has {len(data)} bytes; expected a multiple of 4")
    words = ffi.new("uint32_t[]", len(data) // 4)
    ffi.memmove(words, data, len(data))
    return words


def triple(value: Any, what: str, limit: int = 1 << 32) -> list:
    """Up to three numbers of work-items: one number, or a sequence. Missing ones are 0."""
    try:
        numbers = [int(one) for one in value] if np.iterable(value) and not isinstance(value, str) else \
            [value.__index__()]
    except (AttributeError, TypeError, ValueError):
        raise _errors.BadArgument(f"{what} is {value!r}; expected a number, or up to three of them") from None
    if not 1 <= len(numbers) <= 3 or any(not 0 <= one < limit for one in numbers):
        raise _errors.BadArgument(f"{what} is {value!r}; expected one to three numbers from 0 to {limit - 1}")
    return numbers + [0] * (3 - len(numbers))


def number(value: Any, what: str, limit: int) -> int:
    """An integer from 0 to limit - 1."""
    try:
        result = value.__index__()
    except (AttributeError, TypeError):
        raise _errors.BadArgument(f"{what} is {value!r}; expected an integer") from None
    if not 0 <= result < limit:
        raise _errors.BadArgument(f"{what} is {result}; expected 0 to {limit - 1}")
    return result


def seconds(value: Any) -> float:
    """A time, which C checks."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise _errors.BadArgument(f"timeout is {value!r}; expected seconds") from None


class Owned:
    """A C object that is destroyed when nobody claims it any more: at first its owner does.

    Counted by hand, because Python finalizes the objects of a garbage cycle in any order: a run must end before what it
    uses goes. Lists do without a lock, which a finalizer could not take.
    """

    def __init__(self, pointer: Any, destroy: Callable[[Any], object]) -> None:
        self.pointer = pointer
        self._destroy = destroy
        self._claims = [None]
        self._left = [pointer]

    def claim(self) -> None:
        self._claims.append(None)

    def release(self) -> None:
        self._claims.pop()
        if not self._claims:
            try:
                pointer = self._left.pop()
            except IndexError:  # another thread was faster
                return
            self.pointer = None
            self._destroy(pointer)


# ---- values ----


def plain(value: Any, ctype: Any) -> Any:
    """A field's value as a str, int, float, bool, tuple, name of an enum constant or None."""
    if ctype.kind == "primitive":
        return value.decode("latin-1").rstrip("\0") if isinstance(value, bytes) else value
    if ctype.kind == "enum":
        return names(ctype.cname.split()[-1]).get(value, "?")
    if ctype.kind == "array":
        if ctype.item.cname == "char":
            return text(value)
        return tuple(plain(value[i], ctype.item) for i in range(ctype.length))
    if ctype.kind == "pointer" and ctype.item.cname == "char":
        return text(value)
    raise TypeError(ctype.cname)


@functools.lru_cache(maxsize=None)
def _fields(struct: str) -> Dict[str, Any]:
    return {name: field.type for name, field in ffi.typeof(struct).fields}


def record(kind: Type[T], source: Any, **given: Any) -> T:
    """A dataclass from the fields of the same names of a struct; `given` are those that need more."""
    ctype = ffi.typeof(source)
    fields = _fields((ctype.item if ctype.kind == "pointer" else ctype).cname)
    values = {field.name: plain(getattr(source, field.name), fields[field.name])
              for field in dataclasses.fields(kind) if field.name not in given}
    return kind(**values, **given)


def _is_text(ctype: Any) -> bool:
    return ctype.kind in ("pointer", "array") and ctype.item.cname == "char"


@functools.lru_cache(maxsize=None)
def _dtypes(struct: str) -> Any:
    """Two dtypes of a struct: as it is in C, and as the user sees it. There, texts and enum constants are str, and
    pointers to anything else are absent."""
    ctype = ffi.typeof(struct)
    names_, formats, offsets, shown = [], [], [], []
    for name, field in ctype.fields:
        shape: Tuple[int, ...] = ()
        item = field.type
        while item.kind == "array" and not _is_text(item):
            shape, item = shape + (item.length,), item.item
        if _is_text(item):
            one, other = (f"S{item.length}" if item.kind == "array" else "u8"), "O"
        elif item.kind == "struct":
            one, other = _dtypes(item.cname)
        elif item.kind == "enum":
            one, other = f"u{ffi.sizeof(item)}", "O"
        elif item.kind == "pointer":
            one, other = "u8", None
        else:
            kind = "?" if item.cname in ("_Bool", "bool") else "f" if item.cname in ("float", "double") else \
                "i" if item.cname.startswith("int") else "u"
            one = other = kind if kind == "?" else f"{kind}{ffi.sizeof(item)}"
        names_.append(name)
        formats.append((one, shape))
        offsets.append(field.offset)
        if other is not None:
            shown.append((name, other, shape))
    return (np.dtype({"names": names_, "formats": formats, "offsets": offsets, "itemsize": ffi.sizeof(ctype)}),
            np.dtype(shown))


_text_at = np.frompyfunc(lambda address: text(ffi.cast("char *", int(address))), 1, 1)
_text_in = np.frompyfunc(lambda raw: raw.decode("utf-8", "replace"), 1, 1)


def _copy(target: np.ndarray, source: np.ndarray, ctype: Any) -> None:
    for name, field in ctype.fields:
        if name not in target.dtype.names:
            continue
        item = field.type
        while item.kind == "array" and not _is_text(item):
            item = item.item
        if item.kind == "struct":
            _copy(target[name], source[name], item)
        elif item.kind == "enum":
            known = names(item.cname.split()[-1])
            target[name] = np.frompyfunc(lambda value: known.get(int(value), "?"), 1, 1)(source[name])
        elif _is_text(item):
            target[name] = (_text_at if item.kind == "pointer" else _text_in)(source[name])
        else:
            target[name] = source[name]


def table(pointer: Any, count: int) -> np.ndarray:
    """A structured array with a copy of `count` structs. Its fields have the names and the order of those in C."""
    ctype = ffi.typeof(pointer).item
    inside, shown = _dtypes(ctype.cname)
    result = np.zeros(count, shown)
    if count:
        _copy(result, np.frombuffer(ffi.buffer(pointer, count * ffi.sizeof(ctype)), inside), ctype)
    return result


def frame(array: np.ndarray) -> Any:
    """A structured array as a pandas.DataFrame; nested fields and subarrays become columns of their own."""
    try:
        import pandas
    except ImportError:
        raise ImportError("data frames need pandas, which is not installed") from None
    columns: Dict[str, Any] = {}
    levels = list(names("wm_cache_level").values())

    def add(prefix: str, values: np.ndarray) -> None:
        if values.dtype.names:
            for name in values.dtype.names:
                add(f"{prefix}_{name}" if prefix else name, values[name])
        elif values.ndim > 1:
            for i in range(values.shape[1]):
                add(f"{prefix}_{i}", values[:, i])
        else:
            columns[prefix] = values

    for name in array.dtype.names or ():
        values = array[name]
        if values.ndim > 1 and values.shape[1] == lib.WM_CACHE_LEVELS:
            for i in range(lib.WM_CACHE_LEVELS):
                add(f"{levels[i]}" if name == "cache" else f"{name}_{levels[i]}", values[:, i])
        else:
            add(name, values)
    return pandas.DataFrame(columns)
