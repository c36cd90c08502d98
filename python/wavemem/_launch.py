# SPDX-License-Identifier: MIT
"""Kernels: launches and their results."""
from __future__ import annotations

import codecs
import contextlib
import inspect
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Callable, Iterator, List, Optional, Sequence, Tuple, Union

from ._arguments import Layout, lay_out
from ._errors import BadArgument, Fault
from ._library import NULL, c_text, call, data_of, ffi, lib, number, plain, record, seconds, text, triple, value_of
from ._memory import _Native
from ._module import KernelInfo, _info
from ._observe import Event, Observer, Sink, c_observer
from ._run import Run
from ._start import Start, c_start

if TYPE_CHECKING:
    from ._machine import Machine, Program
    from ._profile import Check, Fidelity, Profile

SomeObserver = Union[Observer, Callable[[Event], object]]


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
    compiled_bytes: int
    """Host code that was made of the kernel's code."""
    compile_seconds: float
    """The time that making it took."""
    compile_refused: bool
    """The host does not execute memory that was written, so the code was interpreted."""
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
    def _is_raw(self) -> bool:
        return lib.wm_object_version(self._program._object) == 0

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
        self.machine._open
        lines: List[str] = []
        write = ffi.callback("void(void *, const char *)", lambda _, line: lines.append(text(line)))
        call(lib.wm_kernel_steps, self._program._object, self._kernel, write, NULL)
        return "\n".join(lines) + "\n"

    def __call__(self, *arguments: Any, grid: Any, workgroup: Any = None, dynamic_lds: int = 0, threads: int = 0,
                 max_instructions: int = 0, timeout: float = 0.0, alignment: str = "unaligned",
                 scalar_cache: str = "coherent", on_violation: str = "stops", global_offset: Any = 0,
                 cluster: Any = 0, profile: Optional[Profile] = None, check: Optional[Check] = None,
                 fidelity: Optional[Fidelity] = None,
                 observers: Union[SomeObserver, Sequence[SomeObserver]] = (), start: Optional[Start] = None,
                 waits_for_others: bool = False, cooperative: bool = False, gpu: Optional[str] = None,
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
          - Images, samplers, HIP's textures and surfaces: wavemem.Image(array), wavemem.Sampler(), wavemem.Texture().
          - Raw code: nothing, or bytes, which are what its argument register points to.
        grid: work-items, one to three numbers. workgroup: the same; needed unless the kernel requires a size.
        dynamic_lds: bytes in addition to static LDS and Local arguments.
        threads: host threads; 0: one per CPU. max_instructions: per wave; 0: 2**40. timeout: seconds; 0: none.
        alignment: "unaligned", "dword", "dword_strict", "strict": enum wm_alignment.
        scalar_cache: "coherent", "checked", "stale": enum wm_scalar_cache; findings are in Result.stale.
        on_violation: "stops" or "goes_on", as the hardware does without a trap handler.
        global_offset: added to get_global_id() of OpenCL kernels, one to three numbers.
        cluster: workgroups of a cluster (gfx1250), one to three numbers; 0: what the kernel's metadata says.
        profile, check, fidelity, observers: who watches; see those classes. A function as observer gets accesses.
        start: what registers hold when waves begin, see Start; None: as the kernel's descriptor says.
        waits_for_others: the kernel may wait for what the host or another dispatch writes: that is no deadlock then.
        cooperative: all workgroups are resident at once and may synchronize; BadArgument if the grid does not fit on the
          product `gpu` ("mi210"); None: the profile's, or the target's default.
        progress: called from time to time with the number of workgroups that are done, and of all; it may use the machine,
          and returns False to stop the dispatch.
        print: called with pieces of what the kernel prints; None: it is in Result.printed.

        Raises Fault if the kernel faults; BadArgument and other Errors if it cannot run; what an observer or progress()
        raises, and KeyboardInterrupt, which end the dispatch.
        """
        dispatch = _Dispatch(self, arguments, named, grid=grid, workgroup=workgroup, dynamic_lds=dynamic_lds, threads=threads,
                             max_instructions=max_instructions, timeout=timeout, alignment=alignment,
                             scalar_cache=scalar_cache, on_violation=on_violation, global_offset=global_offset,
                             cluster=cluster, profile=profile, check=check, fidelity=fidelity, observers=observers, start=start,
                             waits_for_others=waits_for_others, cooperative=cooperative, gpu=gpu, progress=progress,
                             print=print)
        with dispatch.placed():
            call(lib.wm_dispatch, dispatch.native.pointer, self._program._object, self._kernel, dispatch.request,
                 dispatch.result)
        return dispatch.finish()

    launch = __call__

    def step(self, *arguments: Any, history: bool = False, **options: Any) -> Run:
        """Prepares a run that stops where it is told to, with the arguments and options of a launch; nothing is executed
        yet. `threads` is ignored. history: keeps a copy of the memory, so that the run can go back (back(), goto(), who()).

            with kernel.step(a, b, c, 1000, grid=1024, workgroup=256) as run:
                run.to("vecadd")
                run["v0"]
        """
        options.setdefault("grid", None)
        keywords = {name: options.pop(name) for name in list(options) if name in _OPTIONS}
        return Run(self, _Dispatch(self, arguments, options, **keywords), history)


_OPTIONS = frozenset(name for name, one in inspect.signature(Kernel.__call__).parameters.items()
                     if one.kind is one.KEYWORD_ONLY)


class _Dispatch:
    """A struct wm_dispatch with all that it points to."""

    def __init__(self, kernel: Kernel, arguments: Sequence[Any], named: Any, *, grid: Any, workgroup: Any = None,
                 dynamic_lds: int = 0, threads: int = 0, max_instructions: int = 0, timeout: float = 0.0,
                 alignment: str = "unaligned", scalar_cache: str = "coherent", on_violation: str = "stops",
                 global_offset: Any = 0, cluster: Any = 0, profile: Any = None, check: Any = None, fidelity: Any = None,
                 observers: Any = (), start: Any = None, waits_for_others: bool = False, cooperative: bool = False,
                 gpu: Optional[str] = None, progress: Any = None, print: Any = None) -> None:
        info = kernel.info
        self.native = kernel.machine._open
        self.request = request = ffi.new("struct wm_dispatch *")
        request.struct_size = ffi.sizeof("struct wm_dispatch")
        if workgroup is None:
            workgroup = info.required_workgroup
            if not any(workgroup):
                raise BadArgument(f"{info.source_name} requires no workgroup size; workgroup= must give one, of at most "
                                  f"{info.max_workgroup} work-items")
        request.grid = triple(grid, "grid")
        request.workgroup = triple(workgroup, "workgroup")
        request.global_offset = triple(global_offset, "global_offset", 1 << 64)
        request.cluster = triple(cluster, "cluster")
        request.threads = number(threads, "threads", 1 << 32)
        request.max_instructions = number(max_instructions, "max_instructions", 1 << 64)
        request.timeout = seconds(timeout)
        request.alignment = value_of("wm_alignment", alignment, "alignment")
        request.scalar_cache = value_of("wm_scalar_cache", scalar_cache, "scalar_cache")
        if on_violation not in ("stops", "goes_on"):
            raise BadArgument(f"on_violation is {on_violation!r}; expected 'stops' or 'goes_on'")
        request.on_violation = lib.WM_VIOLATION_GOES_ON if on_violation == "goes_on" else lib.WM_VIOLATION_STOPS
        request.waits_for_others = bool(waits_for_others)
        request.cooperative = bool(cooperative)
        if gpu is not None:
            found = ffi.new("struct wm_gpu **")
            call(lib.wm_gpu_find, c_text(gpu, "gpu"), found)
            request.gpu = found[0]
        self.start = c_start(start)
        request.start = self.start[0]
        if kernel._is_raw and len(arguments) == 1 and not named:
            data = bytearray(data_of(arguments[0], "the argument of raw code"))
            self.layout = Layout(data, [], [], [], number(dynamic_lds, "dynamic_lds", 1 << 32), [])
        else:
            self.layout = lay_out(info, arguments, named, number(dynamic_lds, "dynamic_lds", 1 << 32),
                                  kernel.machine._address_of)
        request.dynamic_lds = number(self.layout.dynamic_lds, "dynamic LDS", 1 << 32)

        self.sink = Sink()
        self.callbacks = _Callbacks(self.sink, progress, print)
        self.callbacks.set(request)
        watchers = [observers] if callable(observers) or isinstance(observers, Observer) else list(observers)
        self.observers = [c_observer(one, self.sink) for one in watchers]
        self.pointers = ffi.new("struct wm_observer *[]", [struct for struct, _ in self.observers] or [NULL])
        request.observers = ffi.cast("struct wm_observer **", self.pointers)
        request.observer_count = len(watchers)
        self.watchers = [(name, one) for name, one in (("profile", profile), ("check", check), ("fidelity", fidelity))
                         if one is not None]
        self.is_observed = bool(self.watchers or self.observers)
        self.keep: Any = None
        self.result = ffi.new("struct wm_result *")
        self.result.struct_size = ffi.sizeof("struct wm_result")

    @contextlib.contextmanager
    def placed(self) -> Iterator[None]:
        """While the arguments are in guest memory, and those who watch are in use."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(_counted(self.native))
            self.native.free_late()
            for name, watcher in self.watchers:
                setattr(self.request, name, stack.enter_context(_used(watcher, name)))
            stack.enter_context(_placed(self.native, self.layout))
            self.data = ffi.from_buffer(self.layout.data)
            self.request.arguments = self.data
            self.request.arguments_size = len(self.layout.data)
            yield

    def finish(self) -> Result:
        """The result; raises what callbacks raised, and the fault."""
        self.sink.take()
        self.native.sink.take()
        c = self.result
        violation = _fault(c.violation) if c.violation.kind != lib.WM_FAULT_NONE else None
        result = record(Result, c, violation=violation, printed="".join(self.callbacks.pieces), stale=self.callbacks.stale)
        if c.fault.kind != lib.WM_FAULT_NONE:
            raise _fault(c.fault, result)
        return result


@contextlib.contextmanager
def _counted(native: _Native) -> Iterator[None]:
    """While a dispatch runs, for Machine.close()."""
    native.owned.claim()
    with native.lock:
        native.dispatches += 1
    try:
        yield
    finally:
        with native.lock:
            native.dispatches -= 1
        native.owned.release()


@contextlib.contextmanager
def _placed(native: _Native, layout: Layout) -> Iterator[None]:
    """Guest memory with the contents of the host's arrays, which has their bytes afterwards."""
    regions = []
    try:
        for region in layout.regions:
            address = ffi.new("uint64_t *")
            size = region.high - region.low
            native.call(lib.wm_allocate, size, 0 if region.writable else lib.WM_READ_ONLY,
                       c_text(region.name.replace("\0", ""), "name"), address)
            region.address = address[0]
            regions.append(region)
            native.call(lib.wm_write, region.address, ffi.cast("char *", region.low), size)
        for offset, region, distance in layout.pointers:
            layout.data[offset:offset + 8] = (region.address + distance).to_bytes(8, "little")
        for offset, one in layout.objects:
            layout.data[offset:offset + 8] = one.put(native).to_bytes(8, "little")
        yield
        for _, one in layout.objects:
            one.get(native)
        for region in regions:
            if region.writable:
                native.call(lib.wm_read, region.address, ffi.cast("char *", region.low), region.high - region.low)
    finally:
        for region in regions:
            call(lib.wm_free, native.pointer, region.address)
        for _, one in layout.objects:
            one.free(native)


@contextlib.contextmanager
def _used(watcher: Any, name: str) -> Iterator[Any]:
    use = getattr(watcher, "_used", None)
    if use is None or watcher._of != name:
        raise BadArgument(f"{name} is {watcher!r}; expected a wavemem.{name.capitalize()}")
    with use() as pointer:
        yield pointer


class _Callbacks:
    """The functions of a dispatch that C calls."""

    def __init__(self, sink: Sink, progress: Any, print_: Any) -> None:
        self.sink, self.user_progress, self.user_print = sink, progress, print_
        self.pieces: List[str] = []
        self.stale: List[Stale] = []
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        if progress is not None and not callable(progress):
            raise BadArgument(f"progress is {progress!r}; expected a function")
        if print_ is not None and not callable(print_):
            raise BadArgument(f"print is {print_!r}; expected a function")

    def set(self, request: Any) -> None:
        # Always there: it lets KeyboardInterrupt in, and stops a dispatch whose observer raised an exception.
        on_error = self.sink.on_error
        self.keep = (ffi.callback("bool(void *, uint64_t, uint64_t)", self.progress, error=False, onerror=on_error),
                     ffi.callback("void(void *, const char *, size_t)", self.print, onerror=on_error),
                     ffi.callback("void(void *, const struct wm_stale *)", self.add_stale, onerror=on_error))
        request.progress, request.print, request.stale = self.keep

    def progress(self, _: Any, done: int, count: int) -> bool:
        if self.sink.error is not None:
            return False
        return self.user_progress is None or self.user_progress(done, count) is not False

    def print(self, _: Any, start: Any, length: int) -> None:
        piece = self.decoder.decode(ffi.buffer(start, length)[:])
        if self.user_print is None:
            self.pieces.append(piece)
        elif self.sink.error is None:
            self.user_print(piece)

    def add_stale(self, _: Any, c: Any) -> None:
        self.stale.append(record(Stale, c))
