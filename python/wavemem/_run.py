# SPDX-License-Identifier: MIT
"""Runs: dispatches that stop at breakpoints, and whose registers and LDS can be read and changed then."""
from __future__ import annotations

import atexit
import contextlib
import threading
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterator, List, Optional, Sequence, Tuple, Union

import numpy as np

from ._errors import BadArgument, OutOfRange
from ._library import c_text, call, ffi, lib, number, record, triple
from ._memory import contiguous
from ._start import words

if TYPE_CHECKING:
    from ._launch import Kernel, Result, _Dispatch

PAIRS = ("flat_scratch", "xnack_mask", "pc")
MASKS = ("vcc", "exec")


@dataclass(frozen=True)
class Stopped:
    """Where a run is stopped, and the wave that stopped it. At the "end", only `kind` has a meaning."""

    kind: str
    """"step", "address", "wave", "access", "fault" or "end"."""
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

    def __init__(self, kernel: Kernel, dispatch: _Dispatch) -> None:
        self._kernel = kernel
        self._dispatch = dispatch
        self._lock = threading.Lock()
        self._pointer: Any = None
        self.stopped: Optional[Stopped] = None
        """Where it is stopped; None: nothing has been executed yet."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(dispatch.placed())
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
           access: Optional[Sequence[int]] = None, loads: bool = True, stores: bool = True, lds: bool = False) -> Stopped:
        """Runs on until the first of these events; without any, to the end. A fault of a wave always stops it.

        addresses: guest addresses of instructions, or names of functions: stops before an instruction there.
        instructions: stops after so many of the stopped wave, or of the one that workgroup= names.
        workgroup, wave: only this wave stops; without another event, before its next instruction.
        access: (low, high), stops before any lane accesses a byte of these guest addresses, high excluded; `lds`: offsets
            in LDS instead. loads, stores: kinds of accesses; atomics are both.

        Raises BadArgument for what the grid does not have; what an observer or progress() raises, which ends the run.
        """
        with self._open() as run:
            at = ffi.new("struct wm_stop_at *")
            at.struct_size = ffi.sizeof("struct wm_stop_at")
            at.instructions = number(instructions, "instructions", 1 << 64)
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
