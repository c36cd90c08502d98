# SPDX-License-Identifier: MIT
"""Runs: dispatches that stop at breakpoints, and whose registers and LDS can be read and changed then."""
from __future__ import annotations

import atexit
import contextlib
import threading
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union

import numpy as np

from ._errors import BadArgument, OutOfRange
from ._library import c_text, call, ffi, lib, number, record, triple
from ._memory import contiguous
from ._start import words

if TYPE_CHECKING:
    from ._launch import Kernel, Result, _Dispatch

PAIRS = ("flat_scratch", "xnack_mask", "shared_base", "private_base", "pc")
MASKS = ("vcc", "exec")


@dataclass(frozen=True)
class Stopped:
    """Where a run is stopped, and the wave that stopped it. At the "end", only `kind` has a meaning."""

    kind: str
    """"step", "address", "wave", "access", "fault", "checkpoint" or "end"."""
    workgroup: Tuple[int, int, int]
    wave: int
    """Within the workgroup."""
    pc: int
    """Guest address of the instruction that is executed next, or that faulted."""
    instructions: int
    """That the wave has executed."""
    lanes: int
    """EXEC as a bit mask."""
    wave_size: int
    """Lanes, 32 or 64."""
    sgprs: int
    """Number of registers of the wave, like vgprs and agprs."""
    vgprs: int
    agprs: int
    lds_bytes: int
    """Of the workgroup."""
    access_lanes: int
    """"access": bit mask of the lanes that access the range."""
    address: int
    """"access": guest address, or offset in LDS, at which the lowest of them does."""
    executed: int
    """Instructions of all waves before this one since the run began."""
    state: int
    """What the wave has set that the meaning of the instruction at pc depends on, for decode()."""
    waits: str
    """Of a selected wave, why it is not executed now: "none", "barrier", "named_barrier", "cluster", "global" (global
    wave sync), "order" (ordered count), "memory" (in a loop that only a change of memory can end)."""


def _value(variable: Any, data: bytearray) -> Any:
    """A number, an array of numbers, or the bytes of something else."""
    letter = {lib.WM_VARIABLE_SIGNED: "i", lib.WM_VARIABLE_FLOAT: "f", lib.WM_VARIABLE_UNSIGNED: "u",
              lib.WM_VARIABLE_POINTER: "u"}.get(variable.kind)
    if letter is None or variable.element_bytes not in ((2, 4, 8) if letter == "f" else (1, 2, 4, 8)):
        return bytes(data)
    array = np.frombuffer(bytes(data), f"<{letter}{variable.element_bytes}")
    return array[0].item() if array.size == 1 else array.copy()


_open_runs: "weakref.WeakSet[Run]" = weakref.WeakSet()


@atexit.register
def _cancel_all() -> None:
    """Ends what is left before the interpreter does: afterwards threads get no answer from it any more."""
    for run in list(_open_runs):
        run.cancel()


class Run:
    """A dispatch that stops: what Kernel.step() returns. A context manager that runs it to its end.

    While it is stopped, `run["v3"]` is a register of the stopped wave, and may be assigned:
      - "v3", "a0": uint32 [lanes];
      - "s4", "ttmp5", "m0", "scc", "mode", "vcc_lo", "exec_hi", ...: an int of 32 bits;
      - "vcc", "exec": an int with a bit for each lane; "flat_scratch", "xnack_mask", "pc": an int of 64 bits.
    Arrays are in guest memory until the end, and get the kernel's results then; to look at memory before, pass a Buffer.

    The methods raise BadArgument once the run has ended.
    """

    def __init__(self, kernel: Kernel, dispatch: _Dispatch, history: bool = False) -> None:
        if history and dispatch.is_observed:
            raise BadArgument("history=True: what is executed again would be observed again; expected no profile, check, fidelity "
                              "or observers")
        self._kernel = kernel
        self._dispatch = dispatch
        self._memory: Optional[List[Tuple[int, bytes]]] = None
        self._next = 0
        self._lock = threading.Lock()
        self._pointer: Any = None
        self.stopped: Optional[Stopped] = None
        """Where it is stopped; None: nothing has been executed yet."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(dispatch.placed())
            if history:
                self._memory = self._copy_memory()
                self._next = self._find_next()
                call(lib.wm_set_first_address, dispatch.native.pointer, self._next)
            run = ffi.new("struct wm_run **")
            call(lib.wm_run_begin, dispatch.native.pointer, kernel._program._object, kernel._kernel, dispatch.request, run)
            self._pointer = run[0]
            # In a garbage cycle, the machine and the generators in `stack` may be finalized before this object.
            self._claims = [dispatch.native.owned, *(one._owned for _, one in dispatch.watchers)]
            for one in self._claims:
                one.claim()
            _open_runs.add(self)
            self._placed = stack.pop_all()

    @contextlib.contextmanager
    def _open(self) -> Iterator[Any]:
        if not self._lock.acquire(blocking=False):
            raise BadArgument("the run is not stopped: another thread, or a callback, has let it go on")
        try:
            if self._pointer is None:
                raise BadArgument("the run has ended")
            yield self._pointer
        finally:
            self._lock.release()

    def _call(self, *function: Any) -> None:
        """Calls a function that lets the run go on. It does so on a thread of its own if this is the main thread, which
        alone receives signals: Ctrl-C makes progress() stop the run."""
        if threading.current_thread() is not threading.main_thread():
            call(*function)
            return
        errors: List[BaseException] = []

        def work() -> None:
            try:
                call(*function)
            except BaseException as error:
                errors.append(error)

        thread = threading.Thread(target=work, name="wavemem run")
        thread.start()
        while thread.is_alive():
            try:
                thread.join()
            except BaseException as error:
                self._dispatch.sink.put(error)
        for one in errors:
            raise one

    def _stop(self, run: Any, request: Any) -> Stopped:
        stopped = ffi.new("struct wm_stopped *")
        stopped.struct_size = ffi.sizeof("struct wm_stopped")
        self._call(lib.wm_run_to, run, request, stopped)
        self._dispatch.sink.take()
        self.stopped = record(Stopped, stopped)
        return self.stopped

    def to(self, *addresses: Union[int, str], instructions: int = 0, workgroup: Any = None, wave: int = 0,
           access: Optional[Sequence[int]] = None, loads: bool = True, stores: bool = True, lds: bool = False,
           executed: int = 0) -> Stopped:
        """Runs on until the first of these events; without any, to the end. A fault of a wave always stops it.

        addresses: guest addresses of instructions, or names of functions: stops before an instruction there.
        instructions: stops after so many of the stopped wave, or of the one that workgroup= names.
        workgroup, wave: only this wave stops; without another event, before its next instruction.
        access: (low, high), stops before any lane accesses a byte of these guest addresses, high excluded; `lds`: offsets
            in LDS instead. loads, stores: kinds of accesses; atomics are both.
        executed: stops once all waves have executed so many instructions in total; see Stopped.executed.

        Raises BadArgument for what the grid does not have; what an observer or progress() raises, which ends the run.
        """
        with self._open() as run:
            at = ffi.new("struct wm_stop_at *")
            at.struct_size = ffi.sizeof("struct wm_stop_at")
            at.instructions = number(instructions, "instructions", 1 << 64)
            at.executed = number(executed, "executed", 1 << 64)
            array = ffi.new("uint64_t[]", [self._address(one) for one in addresses] or [0])
            at.addresses, at.address_count = array, len(addresses)
            if workgroup is not None:
                at.at_wave = True
                at.workgroup = triple(workgroup, "workgroup")
                at.wave = number(wave, "wave", 1 << 32)
            if access is not None:
                try:
                    low, high = access
                except (TypeError, ValueError):
                    raise BadArgument(f"access is {access!r}; expected two addresses") from None
                at.access_low = number(low, "the low address", 1 << 64)
                at.access_high = number(high, "the high address", 1 << 64)
                at.loads, at.stores, at.lds = bool(loads), bool(stores), bool(lds)
            return self._stop(run, at)

    def step(self, instructions: int = 1) -> Stopped:
        """Executes instructions of the stopped wave, while others run as usual.

        If no wave is stopped yet, 1 stops before the first instruction of the first wave.
        """
        if instructions < 1:
            raise BadArgument(f"instructions is {instructions}; expected at least 1")
        return self.to(instructions=instructions)

    # ---- backwards ----

    def _copy_memory(self) -> List[Tuple[int, bytes]]:
        machine = self._kernel.machine
        return [(one.address, machine.read(one.address, one.size)) for one in machine.allocations() if not one.read_only]

    def _find_next(self) -> int:
        """Where the dispatch allocates memory of its own, each time alike."""
        native, address = self._dispatch.native, ffi.new("uint64_t *")
        native.call(lib.wm_allocate, 4096, 0, c_text("a try", "name"), address)
        native.call(lib.wm_free, address[0])
        return address[0]

    def _begin_again(self) -> None:
        """From the memory that the dispatch began with. What was changed since is lost."""
        if self._memory is None:
            raise BadArgument("the run has no history; expected Kernel.step(..., history=True)")
        dispatch, kernel = self._dispatch, self._kernel
        with self._open() as run:
            self._pointer = None
            call(lib.wm_run_end, run, True, ffi.NULL)
            call(lib.wm_reset_gws, dispatch.native.pointer)
            dispatch.callbacks.pieces.clear()
            call(lib.wm_set_first_address, dispatch.native.pointer, self._next)
            again = ffi.new("struct wm_run **")
            call(lib.wm_run_begin, dispatch.native.pointer, kernel._program._object, kernel._kernel, dispatch.request, again)
            self._pointer = again[0]
            self.stopped = None
        for address, data in self._memory:
            kernel.machine.write(address, data)

    def goto(self, executed: int) -> Stopped:
        """Goes to before the instruction that waves execute when they have executed so many in total, forwards or back.

        Going back executes the dispatch again from its beginning; what was changed in it is lost. Requires history=True.
        """
        if self.stopped is None or executed < self.stopped.executed or self.stopped.kind == "end":
            self._begin_again()
            self.step()
        assert self.stopped is not None
        return self.to(executed=executed) if executed > self.stopped.executed else self.stopped

    def back(self, instructions: int = 1) -> Stopped:
        """Goes back by so many instructions of the stopped wave, at most to its first one."""
        now = self.stopped
        if now is None or now.kind == "end":
            raise BadArgument("no wave is stopped")
        count = max(now.instructions - number(instructions, "instructions", 1 << 64), 0)
        self._begin_again()
        return self.to(instructions=count + 1, workgroup=now.workgroup, wave=now.wave)

    def who(self, address: int, size: int = 4, lds: bool = False) -> Optional[Stopped]:
        """The last store to these bytes before now: the wave, before the instruction, as a stop of kind "access"; None:
        this dispatch has not written them. `lds`: an offset in the LDS of the stopped wave's workgroup.

        The run is where it was afterwards, without what was changed. Requires history=True.
        """
        now = self.stopped
        low = number(address, "the address", 1 << 64)
        if number(size, "the size", 1 << 64) < 1:
            raise BadArgument(f"size is {size}; expected at least 1")
        if now is None:
            return None
        if lds and now.kind == "end":
            raise BadArgument("LDS ends with its workgroup; no wave is stopped")
        last: Optional[Stopped] = None
        self._begin_again()
        while True:
            stopped = self.to(access=(low, low + size), loads=False, lds=lds, executed=now.executed)
            if stopped.kind == "end" or stopped.executed >= now.executed:
                break
            if stopped.kind == "access" and (not lds or stopped.workgroup == now.workgroup):
                last = stopped
            elif stopped.kind == "fault":
                break
        if now.kind == "end":
            if self.stopped is None or self.stopped.kind != "end":
                self.to()
        else:
            self.goto(now.executed)
            self.select(now.workgroup, now.wave)
        return last

    def locals(self, lane: int = 0) -> Dict[str, Any]:
        """Variables of the source in scope at the stopped wave, for one lane, by name; of those with the same name the
        innermost. A number, an array of numbers, or bytes (structs); None: the compiler has removed it, or its location is
        not supported. Empty without debug information."""
        stopped = self.stopped
        if stopped is None or stopped.kind == "end":
            raise BadArgument("no wave is stopped")
        if number(lane, "the lane", 1 << 32) >= stopped.wave_size:
            raise BadArgument(f"lane is {lane}; the wave has {stopped.wave_size}")
        with self._open() as run:
            return self._read_locals(run, stopped, lane)

    def _read_locals(self, run: Any, stopped: Stopped, lane: int) -> Dict[str, Any]:
        program, machine = self._kernel._program, self._dispatch.native.pointer
        bias = program.symbol(self._kernel.info.name).address - self._kernel._kernel.entry
        values = ffi.new("uint32_t[]", stopped.wave_size)

        @ffi.callback("bool(void *, char *, uint32_t *)")
        def read_register(_: Any, name: Any, value: Any) -> bool:
            if lib.wm_run_get(run, name, values, stopped.wave_size, ffi.NULL):
                return False
            text = ffi.string(name)
            value[0] = values[lane if text[:1] in (b"v", b"a") and text[1:].isdigit() else 0]
            return True

        @ffi.callback("bool(void *, enum wm_variable_space, uint64_t, void *, size_t)")
        def read_memory(_: Any, space: int, address: int, data: Any, size: int) -> bool:
            if space == lib.WM_VARIABLE_LDS:
                return not lib.wm_run_read_lds(run, address, data, size, ffi.NULL)
            if space == lib.WM_VARIABLE_PRIVATE:
                return not lib.wm_run_read_private(run, lane, address, data, size, ffi.NULL)
            return not lib.wm_read(machine, address, data, size, ffi.NULL)

        reader = ffi.new("struct wm_variable_reader *", {"read_register": read_register, "read_memory": read_memory, "bias": bias,
                                                         "wave_size": stopped.wave_size})
        variable = ffi.new("struct wm_variable *")
        kind = ffi.new("struct wm_type *")
        found: Dict[str, Any] = {}
        index = 0
        while lib.wm_object_variable(program._object, stopped.pc - bias, index, variable):
            name = ffi.string(variable.name).decode()
            known = lib.wm_object_type(program._object, variable.type_id, kind)
            size = kind.bytes if known and variable.kind == lib.WM_VARIABLE_OTHER else variable.bytes
            data = bytearray(min(size, 1 << 16))
            state = lib.WM_VARIABLE_UNSUPPORTED
            if data:
                state = lib.wm_object_variable_read(program._object, stopped.pc - bias, index, reader, ffi.from_buffer(data), len(data))
            if found.get(name) is None:
                found[name] = _value(variable, data) if state == lib.WM_VARIABLE_SHOWN else None
            index += 1
        return found

    def _address(self, one: Any) -> int:
        return self._kernel._program.symbol(one).address if isinstance(one, str) else number(one, "the address", 1 << 64)

    def select(self, workgroup: Any, wave: int = 0) -> Stopped:
        """Selects the wave whose registers and LDS are accessed until it runs on. Raises NotFound if it is not running."""
        with self._open() as run:
            stopped = ffi.new("struct wm_stopped *")
            stopped.struct_size = ffi.sizeof("struct wm_stopped")
            group = ffi.new("uint32_t[3]", triple(workgroup, "workgroup"))
            call(lib.wm_run_select, run, group, number(wave, "wave", 1 << 32), stopped)
            self.stopped = record(Stopped, stopped)
            return self.stopped

    def _count(self, name: Any) -> int:
        if not isinstance(name, str):
            raise BadArgument(f"a register is {name!r}; expected a name such as 'v3'")
        size = self.stopped.wave_size if self.stopped else 64
        if name[:1] in ("v", "a") and name[1:].isdigit():
            return size
        return 2 if name in PAIRS or (name in MASKS and size == 64) else 1

    def __getitem__(self, name: str) -> Any:
        count = self._count(name)
        with self._open() as run:
            values = ffi.new("uint32_t[]", count)
            call(lib.wm_run_get, run, c_text(name, "name"), values, count)
        if name[1:].isdigit() and name[0] in "va":
            return np.array(list(values), np.uint32)
        return sum(value << 32 * i for i, value in enumerate(values))

    def __setitem__(self, name: str, value: Any) -> None:
        count = self._count(name)
        given = words(name, value)
        if name[:1] in ("v", "a") and name[1:].isdigit() and given.size == 1:
            given = np.repeat(given, count)
        elif count == 2 and given.size == 1:
            given = np.array([given[0], 0xFFFFFFFF if np.ndim(value) == 0 and value < 0 else 0], np.uint32)
        with self._open() as run:
            values = ffi.new("uint32_t[]", given.tolist())
            call(lib.wm_run_set, run, c_text(name, "name"), values, len(given))

    def vgpr(self, index: int, dtype: Any = np.uint32) -> np.ndarray:
        """A copy of a vector register, [lanes], its 32 bits as uint32, int32 or float32."""
        return self[f"v{number(index, 'the register', 1 << 16)}"].view(dtype)

    def sgpr(self, index: int) -> int:
        """A scalar register."""
        return self[f"s{number(index, 'the register', 1 << 16)}"]

    def read_lds(self, offset: int = 0, size: Optional[int] = None) -> bytes:
        """Bytes of the LDS of the selected wave's workgroup; size None: all that follow. Raises OutOfRange."""
        offset = number(offset, "the offset", 1 << 32)
        if size is None:
            size = max((self.stopped.lds_bytes if self.stopped else 0) - offset, 0)
        if number(size, "the size", 1 << 32) > 1 << 20:
            raise OutOfRange(f"{size} bytes at {offset} are not within LDS")
        data = bytearray(size)
        with self._open() as run:
            call(lib.wm_run_read_lds, run, offset, ffi.from_buffer(data), size)
        return bytes(data)

    def write_lds(self, offset: int, data: Any) -> None:
        """Copies bytes or an array to the LDS of the selected wave's workgroup. Raises OutOfRange."""
        array = contiguous(data)
        with self._open() as run:
            call(lib.wm_run_write_lds, run, number(offset, "the offset", 1 << 32), ffi.cast("char *", array.ctypes.data),
                 number(array.nbytes, "the size", 1 << 32))

    def _end(self, cancel: bool) -> None:
        with self._open() as run:
            self._pointer = None
            try:
                with self._placed:
                    if cancel:
                        call(lib.wm_run_end, run, True, self._dispatch.result)
                    else:
                        self._call(lib.wm_run_end, run, False, self._dispatch.result)
            finally:
                for one in self._claims:
                    one.release()

    def finish(self) -> Result:
        """Runs to the end without further stops, copies results to arrays, and returns the Result.

        Raises Fault if the kernel faults, and what an observer or progress() raises.
        """
        self._end(False)
        return self._dispatch.finish()

    def cancel(self) -> None:
        """Ends the kernel where it is, and copies what it did to arrays. Does nothing once the run has ended."""
        if self._pointer is not None:
            self._end(True)

    def __enter__(self) -> Run:
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        if kind is not None:
            self.cancel()
        elif self._pointer is not None:
            self.finish()

    def __del__(self) -> None:
        if getattr(self, "_pointer", None) is not None:
            self.cancel()

    def __repr__(self) -> str:
        if self._pointer is None:
            return "<wavemem.Run, ended>"
        where = f"{self.stopped.kind} at {self.stopped.pc:#x}" if self.stopped else "not begun"
        return f"<wavemem.Run of {self._kernel.info.source_name!r}, {where}>"
