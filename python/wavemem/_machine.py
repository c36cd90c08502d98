# SPDX-License-Identifier: MIT
"""Machines and what is loaded into them."""
from __future__ import annotations

from typing import Any, List, Optional, Tuple, Union

import numpy as np

from ._arguments import array_of, extent
from ._errors import BadArgument, NotFound, OutOfRange
from ._launch import Kernel, SomeObserver
from ._library import c_text, call, ffi, lib, number, text
from ._memory import Allocation, Buffer, _Native, contiguous
from ._module import Module, Source, is_bundle
from ._observe import c_observer
from ._queue import Queue


class Program:
    """A module that is loaded into a machine."""

    def __init__(self, machine: Machine, module: Module) -> None:
        self.machine = machine
        self.module = module
        self._object = module._open  # the machine keeps it open
        native = machine._open
        with native.lock:
            if module._object is not None and module._object not in native.keep:
                module._object.claim()
                native.keep.append(module._object)
        native.call(lib.wm_load, self._object)

    def kernel(self, name: Optional[str] = None) -> Kernel:
        """Finds a kernel by its symbol or source name; the last template arguments may be omitted. None: the only one.

        Raises NotFound, whose message lists the kernels.
        """
        self.machine._open
        result = ffi.new("struct wm_kernel **")
        call(lib.wm_object_find_kernel, self._object, c_text(name, "name"), result)
        return Kernel(self, result[0])

    def __getitem__(self, name: str) -> Kernel:
        return self.kernel(name)

    @property
    def kernels(self) -> List[Kernel]:
        self.machine._open
        return [Kernel(self, lib.wm_object_kernel(self._object, i))
                for i in range(lib.wm_object_kernel_count(self._object))]

    def symbol(self, name: str) -> Buffer:
        """The guest memory of a symbol: a __device__ variable, a function. It cannot be freed. Raises NotFound."""
        address, size = ffi.new("uint64_t *"), ffi.new("uint64_t *")
        self.machine._open.call(lib.wm_symbol, self._object, c_text(name, "name"), address, size)
        return Buffer(self.machine, address[0], size[0], np.dtype(np.uint8), (size[0],), name, owned=False)

    def __repr__(self) -> str:
        return f"<wavemem.Program of {self.module!r}>"


class Machine:
    """One GPU of one target ("gfx900") and its memory.

    A context manager that closes itself. Threads may use it at the same time, and run kernels at the same time: dispatches
    release Python's lock. Memory may be allocated and freed while they run, also by progress(); observers may read and
    write it only.

    Raises NotFound for an unknown target.
    """

    _native: Optional[_Native] = None

    def __init__(self, target: str) -> None:
        self._native = _Native(target)
        self.target = target

    @property
    def _open(self) -> _Native:
        if self._native is None:
            raise BadArgument("the machine is closed")
        return self._native

    def close(self) -> None:
        """Frees guest memory, as soon as no array shows any. Closing twice is fine. Raises BadArgument during a dispatch."""
        native = self._native
        if native is not None:
            with native.lock:
                if native.dispatches:
                    raise BadArgument("a dispatch is running on the machine; it cannot be closed")
                self._native = None

    def __enter__(self) -> Machine:
        self._open
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<wavemem.Machine {self.target}{', closed' if self._native is None else ''}>"

    def load(self, source: Union[Module, Source]) -> Program:
        """Loads a module into guest memory; loading it again has no effect.

        source: a Module, or what Module() takes; from offload bundles the machine's target is chosen.
        Raises BadArgument if it is for another target, and what Module() raises.
        """
        self._open
        if not isinstance(source, Module):
            source = Module(source, self.target if is_bundle(source) else None)
        return Program(self, source)

    def allocate(self, what: Any, *, address: Optional[int] = None, name: Optional[str] = None, read_only: bool = False
                 ) -> Buffer:
        """Allocates guest memory.

        what: a number of bytes, which are zero; or an array or bytes, which are copied.
        address: where, a multiple of 4096; None: wavemem chooses, and leaves a guard gap behind it. The same sequence of
            calls returns the same addresses.
        name: appears in fault reports. read_only: stores of a kernel fault.
        Raises BadArgument if there are no bytes, or if the address is taken or not possible; NoMemory beyond 512 GiB.
        """
        native = self._open
        if hasattr(type(what), "__index__") and not isinstance(what, np.ndarray):
            size, dtype, data = number(what, "the size", 1 << 64), np.dtype(np.uint8), None
            shape: Tuple[int, ...] = (size,)
        else:
            data = contiguous(what)
            size, dtype, shape = data.nbytes, data.dtype, data.shape
        native.free_late()
        flags = lib.WM_READ_ONLY if read_only else 0
        place = ffi.new("uint64_t *")
        if address is None:
            native.call(lib.wm_allocate, size, flags, c_text(name, "name"), place)
        else:
            place[0] = number(address, "the address", 1 << 64)
            native.call(lib.wm_allocate_at, place[0], size, flags, c_text(name, "name"))
        buffer = Buffer(self, place[0], size, dtype, shape, name or "")
        if data is not None:
            try:
                self.write(place[0], data)
            except BaseException:
                buffer.free()
                raise
        return buffer

    def map(self, array: Any, *, address: Optional[int] = None, name: Optional[str] = None, read_only: bool = False) -> Buffer:
        """Makes an array's memory part of the guest's, without a copy: both see the same bytes at once.

        array: NumPy, buffer protocol or DLPack on the CPU, contiguous. It is kept alive, and must not be resized, until
            free() or close().
        address: of the guest; it must agree with the host's address modulo 64. None: it is the host's, so that pointers
            in it are valid on both sides; it differs from run to run then, as do figures that depend on addresses.
        read_only: stores of a kernel fault; arrays that cannot be written need it.
        Raises BadArgument if the array is empty, or if the address is taken or not possible.
        """
        native = self._open
        shown = array_of(array, "map")
        if shown is None:
            raise BadArgument(f"map: expected an array, got {type(array).__name__}")
        low, size = extent(shown, "map")
        if not shown.flags.writeable and not read_only:
            raise BadArgument("map: the array cannot be written; with read_only=True the kernel cannot write it either")
        at = low if address is None else number(address, "the address", 1 << 64)
        native.call(lib.wm_map_host, ffi.cast("void *", low), size, at, lib.WM_READ_ONLY if read_only else 0,
                    c_text(name, "name"))
        native.mapped[at] = (array, shown)
        whole = np.frombuffer(ffi.buffer(ffi.gc(ffi.cast("char *", low), lambda _, keep=(array, shown): None), size), np.uint8)
        whole.flags.writeable = shown.flags.writeable
        return Buffer(self, at, size, shown.dtype, shown.shape, name or "", mapped=whole)

    def allocations(self) -> List[Allocation]:
        """All memory that the guest can reach, in the order of addresses."""
        result: List[Allocation] = []
        while True:
            one = self._find(result[-1].address + result[-1].size if result else 0, True)
            if one is None:
                return result
            result.append(one)

    def find(self, address: int) -> Optional[Allocation]:
        """The allocation that contains an address; None: there is none."""
        return self._find(number(address, "the address", 1 << 64), False)

    def _find(self, address: int, or_next: bool) -> Optional[Allocation]:
        c = ffi.new("struct wm_allocation *")
        c.struct_size = ffi.sizeof("struct wm_allocation")
        try:
            self._open.call(lib.wm_find_allocation, address, or_next, c)
        except NotFound:
            return None
        return Allocation(c.address, c.size, bool(c.flags & lib.WM_READ_ONLY), c.is_host, c.is_own, text(c.name) or "")

    def write(self, address: int, data: Any) -> None:
        """Copies bytes or an array to guest memory. Raises OutOfRange unless all of it is within one allocation."""
        array = contiguous(data)
        self._open.call(lib.wm_write, number(address, "the address", 1 << 64), ffi.cast("char *", array.ctypes.data),
                        array.nbytes)

    def read(self, address: int, size: int) -> bytes:
        """Copies bytes from guest memory. Raises OutOfRange unless all of them are within one allocation."""
        native = self._open
        number(size, "the size", 1 << 64)
        if size > 1 << 39:  # of all guest memory
            raise OutOfRange(f"{size} bytes at {address:#x} are not within one allocation")
        data = bytearray(size)
        native.call(lib.wm_read, number(address, "the address", 1 << 64), ffi.from_buffer(data), size)
        return bytes(data)

    def array(self, address: int, size: int, dtype: Any = np.uint8) -> np.ndarray:
        """A one-dimensional NumPy array over `size` bytes of guest memory, as Buffer.array. Raises OutOfRange."""
        data = self._open.pin(number(address, "the address", 1 << 64), number(size, "the size", 1 << 63))
        try:
            return np.frombuffer(data, np.uint8).view(dtype)
        except (TypeError, ValueError) as error:
            raise BadArgument(f"{size} bytes as an array of {dtype}: {error}") from None

    def queue(self) -> Queue:
        """A queue of dispatches that run in the background."""
        return Queue(self)

    def set_apertures(self, shared_base: int, private_base: int) -> None:
        """Sets the apertures of FLAT instructions: wm_set_apertures(). Raises BadArgument, Unsupported."""
        self._open.call(lib.wm_set_apertures, number(shared_base, "shared_base", 1 << 64),
                        number(private_base, "private_base", 1 << 64))

    def set_first_address(self, address: int) -> None:
        """Sets where free addresses are looked for first: wm_set_first_address(). Raises BadArgument."""
        self._open.call(lib.wm_set_first_address, number(address, "address", 1 << 64))

    def reset_gws(self) -> None:
        """Sets the resources of global wave sync to 0: wm_reset_gws(). Raises BadArgument while a dispatch runs."""
        self._open.call(lib.wm_reset_gws)

    def observe(self, observer: SomeObserver) -> None:
        """Shows events of the machine's memory ("allocate" to "host_pointer") to an observer, until unobserve().

        An exception of the observer reaches the caller of the method that caused the event, which has had its effect.
        """
        native = self._open
        if id(observer) in native.observers:
            raise BadArgument("the machine is observed by this observer already")
        struct, keep = c_observer(observer, native.sink, of_machine=True)
        native.call(lib.wm_machine_observe, struct)
        native.observers[id(observer)] = (struct, keep)

    def unobserve(self, observer: SomeObserver) -> None:
        """Ends observe(). Raises BadArgument if the observer was not there."""
        native = self._open
        if id(observer) not in native.observers:
            raise BadArgument("the machine is not observed by this observer")
        native.call(lib.wm_machine_unobserve, native.observers[id(observer)][0])
        del native.observers[id(observer)]

    def _address_of(self, value: Any, where: str) -> Optional[int]:
        """The guest address of a Buffer; None: it is none."""
        if not isinstance(value, Buffer):
            return None
        if value._machine is not self:
            raise BadArgument(f"{where}: the buffer '{value.name}' belongs to another machine")
        return value.address
