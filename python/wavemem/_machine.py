# SPDX-License-Identifier: MIT
"""Machines: guest memory and launches of kernels."""
from __future__ import annotations

import codecs
import contextlib
import threading
import weakref
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple, Union

import numpy as np

from ._arguments import Layout, lay_out
from ._errors import BadArgument, Fault, OutOfRange
from ._library import (NULL, c_text, call, data_of, ffi, lib, names, number, plain, record, text, triple, value_of)
from ._module import KernelInfo, Module, Source, _info, is_bundle
from ._observe import Event, Observer, Sink, c_observer

if TYPE_CHECKING:
    from ._profile import Check, Fidelity, Profile

SomeObserver = Union[Observer, Callable[[Event], object]]
_faults = names("wm_fault_kind")
_RUNNING = "a dispatch is running on the machine"


class _Native:
    """The C machine. It lives until its Machine is closed and the last array over its memory is gone."""

    def __init__(self, target: str) -> None:
        result = ffi.new("struct wm_machine **")
        call(lib.wm_machine_create, c_text(target, "target"), result)
        self.pointer = result[0]
        self.lock = threading.RLock()
        self.inside = False  # a C function that takes the machine: only observers of the machine run
        self.running = False
        self.callback: Optional[int] = None  # the thread that is in a callback which may use guest memory
        self.sink = Sink()
        self.keep: List[Any] = []  # objects: they must outlive the machine
        self.observers: Dict[int, Any] = {}
        self.pins: List[Tuple[int, int, Any]] = []  # memory that arrays show: first byte, end, weak reference
        self.late: List[int] = []  # allocations to free when no array shows them

    def __del__(self, destroy: Any = lib.wm_machine_destroy) -> None:
        if getattr(self, "pointer", None) is not None:
            destroy(self.pointer)

    def call(self, function: Callable[..., int], *arguments: Any, memory: bool = False) -> None:
        """Calls a C function that takes the machine. memory: callbacks of a dispatch may call it, too."""
        with self.lock:
            self.refuse(memory)
            if not self.running:
                self.free_late()
            self.run(function, *arguments)

    def run(self, function: Callable[..., int], *arguments: Any) -> None:
        self.inside = True
        try:
            call(function, self.pointer, *arguments)
        finally:
            self.inside = False
        self.sink.take()

    def refuse(self, memory: bool) -> None:
        if self.inside:
            raise BadArgument("an observer may not use the machine that it observes")
        if self.running and not (memory and self.callback == threading.get_ident()):
            raise BadArgument(_RUNNING + ("; its observers may use arrays over guest memory (Buffer.array)"
                                          if memory else ""))

    @contextlib.contextmanager
    def dispatching(self) -> Iterator[None]:
        with self.lock:
            self.refuse(False)
            self.free_late()
            self.running = True
        try:
            yield
        finally:
            self.running = False

    @contextlib.contextmanager
    def calling_back(self) -> Iterator[None]:
        """While a callback runs that may use guest memory."""
        self.callback = threading.get_ident()
        try:
            yield
        finally:
            self.callback = None

    def pin(self, address: int, size: int) -> Any:
        """A buffer over guest memory, which keeps it from being freed."""
        with self.lock:
            self.refuse(True)
            self.inside = True
            try:
                pointer = lib.wm_host_pointer(self.pointer, address, size)
            finally:
                self.inside = False
            self.sink.take()
            if pointer == NULL:
                raise OutOfRange(f"{size} bytes at {address:#x} are not within one allocation")
            pinned = ffi.gc(ffi.cast("char *", pointer), lambda _, native=self: None)
            self.pins = [one for one in self.pins if one[2]() is not None]
            self.pins.append((address, address + size, weakref.ref(pinned)))
            return ffi.buffer(pinned, size)

    def is_shown(self, low: int, high: int) -> bool:
        return any(first < high and low < end and alive() is not None for first, end, alive in self.pins)

    def free_late(self) -> None:
        if self.late:
            low = {first for first, end, alive in self.pins if alive() is not None}
            freed = [one for one in self.late if one not in low]
            self.late = [one for one in self.late if one in low]
            for address in freed:
                self.run(lib.wm_free, address)


class Buffer:
    """An allocation of guest memory, or a variable of a loaded module.

    Launches take it as a pointer argument. It stays allocated until free() or the machine's close(), also when no
    Python object refers to it any more, since the guest may have its address. As a context manager it frees itself.
    """

    def __init__(self, machine: Machine, address: int, size: int, dtype: np.dtype, shape: Tuple[int, ...], name: str,
                 owned: bool) -> None:
        self._machine = machine
        self._address: Optional[int] = address
        self._owned = owned
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
        if not 0 <= offset <= offset + size <= self.size:
            raise OutOfRange(f"{size} bytes at offset {offset} of the buffer '{self.name}' of {self.size} bytes")

    def free(self) -> None:
        """Frees the memory; freeing twice is fine. Raises BufferError while arrays show it."""
        if self._address is None or self._machine._native is None:
            return
        if not self._owned:
            raise BadArgument(f"'{self.name}' belongs to a loaded module and cannot be freed")
        if self._machine._native.is_shown(self._address, self._address + self.size):
            raise BufferError(f"an array still shows the buffer '{self.name}'; delete it before free()")
        self._machine._native.call(lib.wm_free, self._address)
        self._address = None

    def __enter__(self) -> Buffer:
        self.address
        return self

    def __exit__(self, *_: object) -> None:
        """Frees the memory, or if arrays still show it, when they are gone."""
        native = self._machine._native
        if self._address is None or native is None or not self._owned:
            return
        if native.is_shown(self._address, self._address + self.size):
            native.late.append(self._address)
            self._address = None
        else:
            self.free()

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        where = "freed" if self._address is None else f"{self._address:#x}"
        return f"<wavemem.Buffer {self.name!r}, {self.size} bytes, {where}>"


@dataclass(frozen=True)
class Stale:
    """An instruction that relies on a coherent scalar cache."""

    kind: str
    """"load": of a cached line that has changed in memory; "store": never written back; "vector_load": a FLAT or GLOBAL
    load of what a scalar store has not written back."""
    pc: int
    count: int
    """Executions, or for stores lost lines."""
    workgroup: Tuple[int, int, int]
    wave: int
    address: int
    text: str
    """The complete report, several lines."""


@dataclass
class Result:
    """What a launch did."""

    seconds: float
    """Wall-clock time of the dispatch itself."""
    wave_instructions: int
    """Executed, counted per wave."""
    waves: int
    workgroups: int
    violations: int
    """With on_violation="goes_on": executions that violated memory."""
    violation: Optional[Fault]
    """The first of them: that of the lowest workgroup and wave."""
    reproducible: bool
    """Those who watched the dispatch would have seen the same with any number of threads."""
    incomplete: str
    """Which observers did not see everything, and why; "": all did."""
    printed: str = ""
    """What the kernel printed with OpenCL's printf; "" with print=."""
    stale: List[Stale] = field(default_factory=list)
    """Of scalar_cache "checked" and "stale"."""


@dataclass(frozen=True)
class Dependence:
    """Whether workgroups of a kernel may depend on one another."""

    kind: str
    """"independent", "depends_by_atomic", "depends_by_load", ...: enum wm_dependence_kind."""
    pc: int
    offset: int
    """Of the instruction, from the start of its function."""
    function: str
    text: str
    """The instruction."""


def _fault(c: Any, result: Optional[Result] = None) -> Fault:
    fields = {name: plain(getattr(c, name), one.type) for name, one in ffi.typeof(c).fields}
    report = fields.pop("text")
    return Fault(report, result=result, **fields)


class Kernel:
    """A kernel of a loaded module. Calling it launches it."""

    def __init__(self, program: Program, kernel: Any) -> None:
        self._program = program
        self._kernel = kernel  # belongs to the object, which the machine keeps
        self.info: KernelInfo = _info(kernel)
        """Its arguments, registers and sizes."""

    @property
    def name(self) -> str:
        return self.info.name

    @property
    def machine(self) -> Machine:
        return self._program.machine

    def __repr__(self) -> str:
        return f"<wavemem.Kernel {self.info.source_name!r}, {self.info.target}>"

    def dependence(self) -> Dependence:
        """Decides from the code whether the workgroups may depend on one another: wm_find_dependence()."""
        result = ffi.new("struct wm_dependence *")
        self.machine._open.call(lib.wm_find_dependence, self._program._object, self._kernel, result)
        return record(Dependence, result)

    def steps(self) -> str:
        """The instructions and the steps that carry them out, for questions about speed here."""
        lines: List[str] = []
        write = ffi.callback("void(void *, const char *)", lambda _, line: lines.append(text(line)))
        call(lib.wm_kernel_steps, self._program._object, self._kernel, write, NULL)
        return "\n".join(lines) + "\n"

    def __call__(self, *arguments: Any, grid: Any, workgroup: Any = None, dynamic_lds: int = 0, threads: int = 0,
                 max_instructions: int = 0, timeout: float = 0.0, alignment: str = "unaligned",
                 scalar_cache: str = "coherent", on_violation: str = "stops", global_offset: Any = 0,
                 profile: Optional[Profile] = None, check: Optional[Check] = None, fidelity: Optional[Fidelity] = None,
                 observers: Union[SomeObserver, Sequence[SomeObserver]] = (),
                 progress: Optional[Callable[[int, int], object]] = None,
                 print: Optional[Callable[[str], object]] = None, **named: Any) -> Result:
        """Runs the kernel until it ends.

        arguments, named: the explicit arguments in their order or by their names.
          - Pointers: a NumPy array, or anything with the buffer protocol or DLPack on the CPU (bytearray, array.array,
            ctypes, tensors of PyTorch), contiguous: its bytes are copied to guest memory before the run and back after
            it, also after a fault. Read-only memory (bytes, array.flags.writeable False) is read-only for the kernel,
            too. Arrays that overlap share memory as they do here. Elements must be those of the declared type, if the
            metadata has it; raw bytes and structured arrays may go to every pointer. An empty array is a null pointer.
            A Buffer stays in guest memory; an int is a guest address; None is a null pointer.
          - Scalars: numbers, converted to the declared type; vector types take a sequence of numbers. Without a declared
            type (HIP), the size decides. Structs: bytes, or a NumPy structured value, of the exact size.
          - __local pointers: wavemem.Local(bytes).
        grid: work-items, one to three numbers. workgroup: the same; needed unless the kernel requires a size.
        dynamic_lds: bytes in addition to static LDS and Local arguments.
        threads: host threads; 0: one per CPU. max_instructions: per wave; 0: 2**40. timeout: seconds; 0: none.
        alignment: "unaligned", "dword", "dword_strict", "strict": enum wm_alignment.
        scalar_cache: "coherent", "checked", "stale": enum wm_scalar_cache; findings are in Result.stale.
        on_violation: "stops" or "goes_on", as the hardware does without a trap handler.
        global_offset: added to get_global_id() of OpenCL kernels, one to three numbers.
        profile, check, fidelity, observers: who watches; see those classes. A function as observer gets accesses.
        progress: called from time to time with the number of workgroups that are done, and of all; it may use guest
          memory, and returns False to stop the dispatch.
        print: called with pieces of what the kernel prints; None: it is in Result.printed.

        Raises Fault if the kernel faults; BadArgument and other Errors if it cannot run; what an observer or progress()
        raises, and KeyboardInterrupt, which end the dispatch.
        """
        native = self.machine._open
        request = ffi.new("struct wm_dispatch *")
        request.struct_size = ffi.sizeof("struct wm_dispatch")
        if workgroup is None:
            workgroup = self.info.required_workgroup
            if not any(workgroup):
                raise BadArgument(f"{self.info.source_name} requires no workgroup size; workgroup= must give one, of at "
                                  f"most {self.info.max_workgroup} work-items")
        request.grid = triple(grid, "grid")
        request.workgroup = triple(workgroup, "workgroup")
        request.global_offset = triple(global_offset, "global_offset", 1 << 64)
        request.threads = number(threads, "threads", 1 << 32)
        request.max_instructions = number(max_instructions, "max_instructions", 1 << 64)
        request.timeout = float(timeout)
        request.alignment = value_of("wm_alignment", alignment, "alignment")
        request.scalar_cache = value_of("wm_scalar_cache", scalar_cache, "scalar_cache")
        if on_violation not in ("stops", "goes_on"):
            raise BadArgument(f"on_violation is {on_violation!r}; expected 'stops' or 'goes_on'")
        request.on_violation = lib.WM_VIOLATION_GOES_ON if on_violation == "goes_on" else lib.WM_VIOLATION_STOPS
        layout = lay_out(self.info, arguments, named, number(dynamic_lds, "dynamic_lds", 1 << 32), self.machine._address_of)
        request.dynamic_lds = number(layout.dynamic_lds, "dynamic LDS", 1 << 32)

        sink = Sink()
        callbacks = _Callbacks(native, sink, progress, print)
        callbacks.set(request)
        watchers = [observers] if callable(observers) or isinstance(observers, Observer) else list(observers)
        structs = [c_observer(one, sink) for one in watchers]
        pointers = ffi.new("struct wm_observer *[]", [struct for struct, _ in structs] or [NULL])
        request.observers = ffi.cast("struct wm_observer **", pointers)
        request.observer_count = len(structs)

        result = ffi.new("struct wm_result *")
        result.struct_size = ffi.sizeof("struct wm_result")
        with contextlib.ExitStack() as stack:
            stack.enter_context(native.dispatching())
            for name, watcher in (("profile", profile), ("check", check), ("fidelity", fidelity)):
                if watcher is not None:
                    setattr(request, name, stack.enter_context(_used(watcher, name)))
            stack.enter_context(_placed(native, layout, sink))
            data = ffi.from_buffer(layout.data)
            request.arguments = data
            request.arguments_size = len(layout.data)
            call(lib.wm_dispatch, native.pointer, self._program._object, self._kernel, request, result)
        sink.take()
        native.sink.take()
        done = callbacks.finish(result)
        if result.fault.kind != lib.WM_FAULT_NONE:
            raise _fault(result.fault, done)
        return done

    launch = __call__


@contextlib.contextmanager
def _placed(native: _Native, layout: Layout, sink: Sink) -> Iterator[None]:
    """Guest memory with the contents of the host's arrays, which has their bytes afterwards."""
    regions = []
    try:
        for region in layout.regions:
            address = ffi.new("uint64_t *")
            size = region.high - region.low
            native.run(lib.wm_allocate, size, 0 if region.writable else lib.WM_READ_ONLY,
                       c_text(region.name.replace("\0", ""), "name"), address)
            region.address = address[0]
            regions.append(region)
            native.run(lib.wm_write, region.address, ffi.cast("char *", region.low), size)
        for offset, region, distance in layout.pointers:
            layout.data[offset:offset + 8] = (region.address + distance).to_bytes(8, "little")
        yield
        for region in regions:
            if region.writable:
                native.run(lib.wm_read, region.address, ffi.cast("char *", region.low), region.high - region.low)
    finally:
        for region in regions:
            call(lib.wm_free, native.pointer, region.address)


@contextlib.contextmanager
def _used(watcher: Any, name: str) -> Iterator[Any]:
    use = getattr(watcher, "_used", None)
    if use is None or watcher._of != name:
        raise BadArgument(f"{name} is {watcher!r}; expected a wavemem.{name.capitalize()}")
    with use() as pointer:
        yield pointer


class _Callbacks:
    """The functions of a dispatch that C calls."""

    def __init__(self, native: _Native, sink: Sink, progress: Any, print_: Any) -> None:
        self.native, self.sink, self.user_progress, self.user_print = native, sink, progress, print_
        self.pieces: List[str] = []
        self.stale: List[Stale] = []
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        if progress is not None and not callable(progress):
            raise BadArgument(f"progress is {progress!r}; expected a function")
        if print_ is not None and not callable(print_):
            raise BadArgument(f"print is {print_!r}; expected a function")

    def set(self, request: Any) -> None:
        # Always there: it lets KeyboardInterrupt in, and stops a dispatch whose observer raised an exception.
        self.keep = (ffi.callback("bool(void *, uint64_t, uint64_t)", self.progress, error=False),
                     ffi.callback("void(void *, const char *, size_t)", self.print),
                     ffi.callback("void(void *, const struct wm_stale *)", self.add_stale))
        request.progress, request.print, request.stale = self.keep

    def progress(self, _: Any, done: int, count: int) -> bool:
        try:
            if self.sink.error is None and self.user_progress is not None:
                with self.native.calling_back():
                    return self.user_progress(done, count) is not False
        except BaseException as error:
            self.sink.put(error)
        return self.sink.error is None

    def print(self, _: Any, start: Any, length: int) -> None:
        try:
            piece = self.decoder.decode(ffi.buffer(start, length)[:])
            if self.user_print is None:
                self.pieces.append(piece)
            elif self.sink.error is None:
                with self.native.calling_back():
                    self.user_print(piece)
        except BaseException as error:
            self.sink.put(error)

    def add_stale(self, _: Any, c: Any) -> None:
        try:
            self.stale.append(record(Stale, c))
        except BaseException as error:
            self.sink.put(error)

    def finish(self, c: Any) -> Result:
        violation = _fault(c.violation) if c.violation.kind != lib.WM_FAULT_NONE else None
        return record(Result, c, violation=violation, printed="".join(self.pieces), stale=self.stale)


class Program:
    """A module that is loaded into a machine."""

    def __init__(self, machine: Machine, module: Module) -> None:
        self.machine = machine
        self.module = module
        self._object = module._open
        native = machine._open
        if not any(one is self._object for one in native.keep):
            native.keep.append(self._object)
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
        return Buffer(self.machine, address[0], size[0], np.dtype(np.uint8), (size[0],), name, False)

    def __repr__(self) -> str:
        return f"<wavemem.Program of {self.module!r}>"


class Machine:
    """One GPU of one target ("gfx900") and its memory.

    A context manager that closes itself. Machines are independent: each thread may have its own. One machine may be
    used by one thread at a time; while a dispatch runs, other threads get BadArgument. Dispatches release Python's lock.

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
        """Frees guest memory, as soon as no array shows any. Closing twice is fine."""
        if self._native is not None:
            with self._native.lock:
                self._native.refuse(False)
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

    def allocate(self, what: Any, *, name: Optional[str] = None, read_only: bool = False) -> Buffer:
        """Allocates guest memory, which is followed by a guard gap.

        what: a number of bytes, which are zero; or an array or bytes, which are copied.
        name: appears in fault reports. read_only: stores of a kernel fault.
        Raises BadArgument if there are no bytes; NoMemory beyond 64 GiB per machine.
        """
        native = self._open
        if hasattr(type(what), "__index__") and not isinstance(what, np.ndarray):
            size, dtype, data = number(what, "the size", 1 << 64), np.dtype(np.uint8), None
            shape: Tuple[int, ...] = (size,)
        else:
            data = _contiguous(what)
            size, dtype, shape = data.nbytes, data.dtype, data.shape
        address = ffi.new("uint64_t *")
        native.call(lib.wm_allocate, size, lib.WM_READ_ONLY if read_only else 0, c_text(name, "name"), address)
        buffer = Buffer(self, address[0], size, dtype, shape, name or "", True)
        if data is not None:
            try:
                self.write(address[0], data)
            except BaseException:
                buffer.free()
                raise
        return buffer

    def write(self, address: int, data: Any) -> None:
        """Copies bytes or an array to guest memory. Raises OutOfRange unless all of it is within one allocation."""
        array = _contiguous(data)
        self._open.call(lib.wm_write, number(address, "the address", 1 << 64), ffi.cast("char *", array.ctypes.data),
                        array.nbytes, memory=True)

    def read(self, address: int, size: int) -> bytes:
        """Copies bytes from guest memory. Raises OutOfRange unless all of them are within one allocation."""
        native = self._open
        number(size, "the size", 1 << 64)
        if size > 1 << 36:  # of all guest memory
            raise OutOfRange(f"{size} bytes at {address:#x} are not within one allocation")
        data = bytearray(size)
        native.call(lib.wm_read, number(address, "the address", 1 << 64), ffi.from_buffer(data), size, memory=True)
        return bytes(data)

    def array(self, address: int, size: int, dtype: Any = np.uint8) -> np.ndarray:
        """A one-dimensional NumPy array over `size` bytes of guest memory, as Buffer.array. Raises OutOfRange."""
        data = self._open.pin(number(address, "the address", 1 << 64), number(size, "the size", 1 << 63))
        try:
            return np.frombuffer(data, np.uint8).view(dtype)
        except (TypeError, ValueError) as error:
            raise BadArgument(f"{size} bytes as an array of {dtype}: {error}") from None

    def set_apertures(self, shared_base: int, private_base: int) -> None:
        """Sets the apertures of FLAT instructions: wm_set_apertures(). Raises BadArgument, Unsupported."""
        self._open.call(lib.wm_set_apertures, number(shared_base, "shared_base", 1 << 64),
                        number(private_base, "private_base", 1 << 64))

    def observe(self, observer: SomeObserver) -> None:
        """Shows events of the machine's memory ("allocate" to "host_pointer") to an observer, until unobserve().

        An exception of the observer reaches the caller of the method that caused the event, which has had its effect.
        """
        native = self._open
        if id(observer) in native.observers:
            raise BadArgument("the machine is observed by this observer already")
        struct, keep = c_observer(observer, native.sink)
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


def _contiguous(value: Any) -> np.ndarray:
    """An array with the bytes of `value` in C's order."""
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            raise BadArgument("an array of Python objects has no values that a kernel could use")
        return np.ascontiguousarray(value) if value.ndim else value
    return np.frombuffer(data_of(value, "data"), np.uint8) if data_of(value, "data").nbytes else np.zeros(0, np.uint8)
