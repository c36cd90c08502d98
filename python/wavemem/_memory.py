# SPDX-License-Identifier: MIT
"""Guest memory of a machine, and the arrays that show it."""
from __future__ import annotations

import functools
import threading
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Tuple

import numpy as np

from ._errors import BadArgument, OutOfRange
from ._library import NULL, Owned, c_text, call, data_of, ffi, lib
from ._observe import Sink

if TYPE_CHECKING:
    from ._machine import Machine


class _ThreadSink(threading.local, Sink):
    """Exceptions of observers of the machine: they belong to the thread whose call caused the event."""


def _destroy(objects: List[Owned], pointer: Any) -> None:
    lib.wm_machine_destroy(pointer)
    for one in objects:
        one.release()


class _Native:
    """The C machine. It lives until its Machine is closed and the last array over its memory is gone.

    C needs no locks here, and none may be held in its functions: they may wait for a dispatch, which may wait for an
    observer that uses the machine.
    """

    def __init__(self, target: str) -> None:
        result = ffi.new("struct wm_machine **")
        call(lib.wm_machine_create, c_text(target, "target"), result)
        self.keep: List[Owned] = []  # objects: they must outlive the machine
        self.owned = Owned(result[0], functools.partial(_destroy, self.keep))
        self.lock = threading.Lock()  # of what follows
        self.observers: Dict[int, Any] = {}
        self.pins: List[Tuple[int, int, Any]] = []  # memory that arrays show: first byte, end, weak reference
        self.freeing: List[Tuple[int, int]] = []  # memory that no array may begin to show
        self.late: List[Tuple[int, int]] = []  # address and size: to be freed when no array shows it
        self.mapped: Dict[int, Any] = {}  # host memory that the guest sees, by guest address
        self.dispatches = 0
        self.sink = _ThreadSink()

    def __del__(self) -> None:
        if hasattr(self, "owned"):
            self.owned.release()

    @property
    def pointer(self) -> Any:
        pointer = self.owned.pointer
        if pointer is None:  # what finalizers see that come after the machine's
            raise BadArgument("the machine is closed")
        return pointer

    def call(self, function: Callable[..., int], *arguments: Any) -> None:
        """Calls a C function that takes the machine."""
        if self.sink.observing:
            raise BadArgument("an observer may not use the machine that it observes")
        call(function, self.pointer, *arguments)
        self.sink.take()

    def pin(self, address: int, size: int) -> Any:
        """A buffer over guest memory, which keeps it from being freed."""
        if self.sink.observing:
            raise BadArgument("an observer may not use the machine that it observes")
        pin = _Pin()
        end = address + size
        with self.lock:
            self.pins = [one for one in self.pins if one[2]() is not None]
            free = any(first < end and address < last for first, last in self.freeing)
            if not free:
                self.pins.append((address, end, weakref.ref(pin)))
        pointer = NULL if free else lib.wm_host_pointer(self.pointer, address, size)
        self.sink.take()
        if pointer == NULL:
            raise OutOfRange(f"{size} bytes at {address:#x} are not within one allocation")
        return ffi.buffer(ffi.gc(ffi.cast("char *", pointer), lambda _, native=self, pin=pin: None), size)

    def free(self, address: int, size: int) -> bool:
        """Frees an allocation unless arrays show it: False."""
        if self.owned.pointer is None:
            return True
        end = address + size
        with self.lock:
            if any(first < end and address < last and alive() is not None for first, last, alive in self.pins):
                return False
            self.freeing.append((address, end))
        try:
            self.call(lib.wm_free, address)
            self.mapped.pop(address, None)
            return True
        finally:
            with self.lock:
                self.freeing.remove((address, end))

    def free_late(self) -> None:
        """Frees what arrays showed when it was to be freed, as far as they are gone."""
        with self.lock:
            late, self.late = self.late, []
        while late:
            try:
                if self.free(*late[-1]):
                    late.pop()
                    continue
            except BadArgument:  # called from an observer
                pass
            with self.lock:
                self.late.append(late.pop())


class _Pin:
    """Lives as long as an array over guest memory."""

    __slots__ = ("__weakref__",)


@dataclass(frozen=True)
class Allocation:
    """Memory that the guest can reach."""

    address: int
    size: int
    """Bytes."""
    read_only: bool
    is_host: bool
    """Host memory: Machine.map()."""
    is_own: bool
    """Made by wavemem, of a code object or a dispatch; it cannot be freed."""
    name: str


class Buffer:
    """An allocation of guest memory, an array that is mapped to it, or a variable of a loaded module.

    Launches take it as a pointer argument. It stays there until free() or the machine's close(), also when no Python
    object refers to it any more, since the guest may have its address. As a context manager it frees itself.
    """

    def __init__(self, machine: Machine, address: int, size: int, dtype: np.dtype, shape: Tuple[int, ...], name: str,
                 owned: bool = True, mapped: Optional[np.ndarray] = None) -> None:
        self._machine = machine
        self._address: Optional[int] = address
        self._owned = owned
        self._mapped = mapped
        self.size = size
        """Bytes."""
        self.dtype = dtype
        self.shape = shape
        self.name = name
        """As in fault reports."""

    @property
    def address(self) -> int:
        """Guest address of the first byte. Raises BadArgument after free()."""
        self._machine._open
        if self._address is None:
            raise BadArgument(f"the buffer '{self.name}' is freed")
        return self._address

    def array(self, dtype: Any = None) -> np.ndarray:
        """A NumPy array over the guest memory itself: what either side stores, the other sees.

        Without `dtype`, it has the dtype and shape of the array that was given to allocate(), else uint8. With it, it
        is one-dimensional. It stays valid in every case: while it exists, free() raises BufferError.
        """
        if self._mapped is not None:
            self.address
            whole = self._mapped
        else:
            whole = np.frombuffer(self._machine._open.pin(self.address, self.size), np.uint8)
        if dtype is not None:
            try:
                return whole.view(dtype)
            except (TypeError, ValueError) as error:
                raise BadArgument(f"{self.size} bytes as an array of {dtype}: {error}") from None
        return whole.view(self.dtype).reshape(self.shape)

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> np.ndarray:
        array = self.array()
        if dtype is not None and np.dtype(dtype) != array.dtype:
            return array.astype(dtype)
        return array.copy() if copy else array

    def write(self, data: Any, offset: int = 0) -> None:
        """Copies bytes or an array to guest memory, `offset` bytes behind the start. Raises OutOfRange."""
        self._range(offset, 0)
        self._machine.write(self.address + offset, data)

    def read(self, size: Optional[int] = None, offset: int = 0) -> bytes:
        """Copies `size` bytes (None: all that follow) from `offset` bytes behind the start. Raises OutOfRange."""
        self._range(offset, size or 0)
        return self._machine.read(self.address + offset, self.size - offset if size is None else size)

    def _range(self, offset: int, size: int) -> None:
        if not (hasattr(offset, "__index__") and hasattr(size, "__index__")):
            raise BadArgument(f"{size!r} bytes at offset {offset!r}; expected integers")
        if not 0 <= offset <= offset + size <= self.size:
            raise OutOfRange(f"{size} bytes at offset {offset} of the buffer '{self.name}' of {self.size} bytes")

    def free(self) -> None:
        """Frees the memory, or ends the mapping; freeing twice is fine.

        Raises BufferError while arrays show allocated memory. What a kernel does there from now on is a fault.
        """
        if self._address is None or self._machine._native is None:
            return
        if not self._owned:
            raise BadArgument(f"'{self.name}' belongs to a loaded module and cannot be freed")
        if not self._machine._native.free(self._address, self.size):
            raise BufferError(f"an array still shows the buffer '{self.name}'; delete it before free()")
        self._address = None

    def __enter__(self) -> Buffer:
        self.address
        return self

    def __exit__(self, *_: object) -> None:
        """Frees the memory, or if arrays still show it, when they are gone."""
        native = self._machine._native
        if self._address is not None and native is not None and self._owned:
            if not native.free(self._address, self.size):
                native.late.append((self._address, self.size))
            self._address = None

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        where = "freed" if self._address is None else f"{self._address:#x}"
        return f"<wavemem.Buffer {self.name!r}, {self.size} bytes, {where}>"



def contiguous(value: Any) -> np.ndarray:
    """An array with the bytes of `value` in C's order."""
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            raise BadArgument("an array of Python objects has no values that a kernel could use")
        return np.ascontiguousarray(value) if value.ndim else value
    return np.frombuffer(data_of(value, "data"), np.uint8) if data_of(value, "data").nbytes else np.zeros(0, np.uint8)
