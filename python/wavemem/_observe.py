# SPDX-License-Identifier: MIT
"""Observers: Python functions that are called for what happens while kernels run."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Iterable, List, Optional, Tuple, Union

import numpy as np

from ._errors import BadArgument, Error
from ._library import ffi, lib, names, number, record, text

KINDS = {name: value for value, name in names("wm_event_kind").items() if name not in ("all", "values")}
OF_MACHINE = {"allocate", "free", "map", "host_write", "host_read", "host_pointer"}
_names = names("wm_event_kind")
_files = names("wm_register_file")


class Registers:
    """Registers of an instruction and their values."""

    def __init__(self, c: Any) -> None:
        self.file: str = _files.get(c.file, "?")
        """"sgpr", "vgpr", "agpr" or "other" (VCC, M0 ...)."""
        self.first: int = c.first
        """Number of the first register."""
        self.count: int = c.count
        """Number of registers."""
        self.values: Optional[np.ndarray] = None
        """uint32 [registers, lanes], with one lane for scalar registers; None without `values` or after a fault."""
        if c.values:
            words = np.frombuffer(ffi.buffer(c.values, 4 * c.count * c.stride), np.uint32)
            self.values = words.reshape(c.count, c.stride).copy()

    def __repr__(self) -> str:
        return f"<Registers {self.file} {self.first} to {self.first + self.count - 1}>"


def _per_lane(values: Any, lanes: int) -> np.ndarray:
    """A copy of 64 values; C leaves those of other lanes as they happen to be."""
    return np.where(is_lane(lanes), np.frombuffer(ffi.buffer(values, 512), np.uint64), np.uint64(0))


class Place:
    """One place that each lane accesses."""

    def __init__(self, c: Any) -> None:
        self.space: str = text(lib.wm_space_name(c.space))
        """"global", "LDS", "GDS" or "lanes" (ds_permute_b32): what the addresses belong to."""
        self.lanes: int = c.lanes
        """Bit mask of the lanes that access it."""
        self.out_of_range: int = c.out_of_range
        """Bit mask of lanes that are refused: loads give 0."""
        self.misaligned: int = c.misaligned
        self.no_address: int = c.no_address
        self.first_register: int = c.first_register
        """Register of `data` or `result`, from 0 on, in which the place's bytes begin."""
        self.address: np.ndarray = _per_lane(c.address, c.lanes)
        """uint64 [64]: address per lane; 0 for lanes that are not in `lanes`."""
        self.private_offset: Optional[np.ndarray] = _per_lane(c.private_offset, c.lanes) if c.private_offset else None
        """uint64 [64]: of private memory, the lane's own offset; else None."""

    @property
    def addresses(self) -> np.ndarray:
        """uint64 [n]: the addresses of the lanes in `lanes` only, in the order of the lanes."""
        return self.address[lanes_of(self.lanes)]

    def __repr__(self) -> str:
        return f"<Place {self.space} lanes {self.lanes:#x}>"


class Access:
    """What one wave does to memory by one instruction."""

    def __init__(self, c: Any) -> None:
        self.path: str = text(lib.wm_path_name(c.path))
        """"SMEM", "BUFFER", "GLOBAL", "FLAT", "SCRATCH", "DS" ..."""
        self.kind: str = text(lib.wm_access_kind_name(c.kind))
        """"load", "store" or "atomic"."""
        self.atomic: Optional[str] = text(lib.wm_atomic_name(c.atomic)) if c.atomic else None
        """"add", "compare swap" ...; None: it is none."""
        self.scope: Optional[str] = text(lib.wm_scope_name(c.scope)) if c.scope else None
        self.policy: int = c.policy
        """Cache bits: GLC 1, SLC 2, DLC 4, NV 8, SC1 16."""
        self.bytes: int = c.bytes
        """Bytes of each place."""
        self.wave_size: int = c.wave_size
        """Lanes of the wave, 32 or 64."""
        self.completed: bool = c.completed
        """With values: False if it faulted."""
        self.places: List[Place] = [Place(c.place[i]) for i in range(c.places)]
        """Places per lane: read2 has two, private memory one for each dword."""
        self.data: Tuple[Optional[Registers], Optional[Registers]] = tuple(  # type: ignore[assignment]
            Registers(one) if one.file or one.values else None for one in c.data)
        """What it stores: the registers before it. The second is DATA2 of DS instructions."""
        self.result: Optional[Registers] = Registers(c.result) if c.result.file or c.result.values else None
        """What it loads, or the value before an atomic: the registers after it."""

    def __repr__(self) -> str:
        return f"<Access {self.path} {self.kind} of {self.bytes} bytes>"


@dataclass(frozen=True)
class Barrier:
    """Of "barrier_arrive" and "barrier_leave"."""

    number: int
    """-1: the workgroup's; 1 to 16: named ones of gfx12."""
    waits: bool
    """Arriving: the wave goes no further until the others are there."""


@dataclass(frozen=True)
class CacheControl:
    """Of "cache": an instruction that writes back or invalidates."""

    operations: int
    """Write back 1, invalidate 2, discard 4."""
    caches: int
    """Bit mask, 1 << enum wm_cache_level."""
    scope: Optional[str]
    policy: int
    volatile_only: bool


@dataclass(frozen=True)
class Message:
    """Of "message": s_sendmsg."""

    id: int
    m0: int
    name: str
    """"MSG_GS"; "": the target has no name for it."""
    operation: str
    """"GS_OP_EMIT", of messages with one."""


@dataclass(frozen=True)
class Export:
    """Of "export": what a wave hands to the fixed functions behind it."""

    target: int
    name: str
    """"mrt0", "pos1", "param2", "prim", "null"; "": the target has no name for it."""
    components: int
    """Bit i means component i, x to w."""
    wave_size: int
    values: Tuple[Optional[np.ndarray], ...]
    """For each component the values of all lanes, as uint32; None: it is not enabled. If compressed, the first two have two
    components of 16 bits each."""
    compressed: bool
    done: bool
    valid_mask: bool
    row: bool
    m0: int


@dataclass(frozen=True)
class Extent:
    """Of the kinds that end in "_begin" and "_end"."""

    completed: bool
    """At the end: by itself, not by a fault."""
    waves: int
    """Of the workgroup."""
    instructions: int
    """At the end: executed."""
    kernel: Optional[str]
    """Of dispatches, as what follows."""
    grid: Tuple[int, int, int]
    """Work-items."""
    workgroup_size: Tuple[int, int, int]
    """Work-items."""
    lds_bytes: int
    """Of a workgroup."""


@dataclass(frozen=True)
class Memory:
    """Of "allocate", "free", "host_write", "host_read", "host_pointer"."""

    address: int
    size: int
    """Bytes."""
    flags: int
    """Of an allocation; 1: read-only."""
    name: Optional[str]
    """Of an allocation."""
    data: Optional[bytes]
    """Of host reads and writes: the bytes."""
    is_own: bool
    """Of an allocation: wavemem's, as code objects, kernarg segments and scratch are."""


class Event:
    """Something that happened. Valid during the call; arrays and objects that its attributes return may be kept."""

    __slots__ = ("_c", "_access")

    def __init__(self, c: Any) -> None:
        self._c = c
        self._access: Optional[Access] = None

    def _get(self, *kinds: str) -> Any:
        if self._c is None:
            raise Error("the event is over: an event may be used during the observer's call only; keep what you need of "
                        "it, such as event.access")
        if kinds and _names.get(self._c.kind) not in kinds:
            raise AttributeError(f"an event of kind '{self.kind}' has no such attribute")
        return self._c

    @property
    def kind(self) -> str:
        """"access", "instruction", ...: one of those that the observer asked for."""
        return _names[self._get().kind]

    @property
    def pc(self) -> int:
        """Guest address of the instruction; 0: not caused by one."""
        return self._get().pc

    @property
    def workgroup(self) -> Tuple[int, int, int]:
        c = self._get().workgroup
        return c[0], c[1], c[2]

    @property
    def wave(self) -> int:
        """Number within the workgroup."""
        return self._get().wave

    @property
    def lanes(self) -> int:
        """EXEC as a bit mask."""
        return self._get().lanes

    @property
    def access(self) -> Access:
        """Of "access"."""
        c = self._get("access") if self._access is None else None
        if self._access is None:
            self._access = Access(c.access)
        return self._access

    @property
    def block_end(self) -> int:
        """Of "block": the guest address behind it."""
        return self._get("block").block_end

    @property
    def barrier(self) -> Barrier:
        c = self._get("barrier_arrive", "barrier_leave").barrier
        return Barrier(c.number, c.waits)

    @property
    def cache(self) -> CacheControl:
        c = self._get("cache").cache
        return CacheControl(c.operations, c.caches, text(lib.wm_scope_name(c.scope)) if c.scope else None, c.policy,
                            c.volatile_only)

    @property
    def message(self) -> Message:
        c = self._get("message").message
        return Message(c.id, c.m0, text(c.name), text(c.operation))

    @property
    def exported(self) -> Export:
        """Of "export"."""
        c = self._get("export").exported
        values = tuple(np.frombuffer(ffi.buffer(row, 4 * c.wave_size), np.uint32).copy() if row else None for row in c.values)
        return Export(c.target, text(c.name), c.components, c.wave_size, values, c.compressed, c.done, c.valid_mask, c.row,
                      c.m0)

    @property
    def extent(self) -> Extent:
        c = self._get(*(one for one in KINDS if one.endswith(("_begin", "_end")))).extent
        return record(Extent, c)

    @property
    def memory(self) -> Memory:
        c = self._get(*OF_MACHINE).memory
        data = bytes(ffi.buffer(c.bytes, c.size)) if c.bytes else None
        return Memory(c.address, c.size, c.flags, text(c.name), data, bool(c.is_own))

    def __repr__(self) -> str:
        return "<wavemem.Event, over>" if self._c is None else \
            f"<wavemem.Event {self.kind} at {self.pc:#x}, workgroup {self.workgroup} wave {self.wave}>"


@dataclass(frozen=True)
class Observer:
    """Asks for events of a launch (`observers=`) or of a machine (Machine.observe).

    callback: called with each Event. It may read and write guest memory, but not allocate, free or run anything; observers
        of a machine may not use it at all. An exception that it raises stops the dispatch and reaches the caller.
    events: kinds of events; the default is "access". Of instructions: "access", "instruction", "block",
        "barrier_arrive", "barrier_leave", "cache", "message", "export"; of a dispatch: "wave_begin", "wave_end",
        "workgroup_begin", "workgroup_end", "dispatch_begin", "dispatch_end"; of a machine: "allocate", "free", "map",
        "host_write", "host_read", "host_pointer".
    values: accesses come with the values of their registers.

    A launch with observers runs on one thread, so the events come in the same order in every run.
    """

    callback: Callable[[Event], object]
    events: Union[str, Iterable[str]] = ("access",)
    values: bool = False

    def _bits(self) -> int:
        bits = lib.WM_EVENT_VALUES if self.values else 0
        for name in (self.events,) if isinstance(self.events, str) else self.events:
            if name not in KINDS:
                raise BadArgument(f"no kind of event {name!r}; expected some of {', '.join(KINDS)}")
            bits |= KINDS[name]
        return bits


class Sink:
    """Where callbacks leave an exception until C has returned."""

    def __init__(self) -> None:
        self.error: Optional[BaseException] = None
        self.observing = False  # in a callback of a machine's observer

    def put(self, error: BaseException) -> None:
        if self.error is None:
            self.error = error

    def on_error(self, _: Any, error: BaseException, traceback: Any) -> None:
        """What cffi calls when a callback raises, also if KeyboardInterrupt comes before its first line."""
        self.put(error.with_traceback(traceback))

    def take(self) -> None:
        """Raises the exception, if there is one."""
        error, self.error = self.error, None
        if error is not None:
            try:
                raise error
            finally:
                del error


def c_observer(observer: Any, sink: Sink, of_machine: bool = False) -> Tuple[Any, Any]:
    """The struct wm_observer for an Observer or a function, and what must live as long as it."""
    if not isinstance(observer, Observer):
        if not callable(observer):
            raise BadArgument(f"an observer is {observer!r}; expected a wavemem.Observer or a function")
        observer = Observer(observer)
    function = observer.callback

    def event(_: Any, c: Any) -> None:
        if sink.error is not None:
            return
        shown = Event(c)
        sink.observing = of_machine
        try:
            function(shown)
        finally:
            sink.observing = False
            shown._c = None

    callback = ffi.callback("void(void *, const struct wm_event *)", event, onerror=sink.on_error)
    struct = ffi.new("struct wm_observer *")
    struct.struct_size = ffi.sizeof("struct wm_observer")
    struct.events = observer._bits()
    struct.event = callback
    return struct, (callback, observer)


def is_lane(mask: int) -> np.ndarray:
    """A bit mask of lanes as bool [64]."""
    return np.unpackbits(np.array([number(mask, "the mask", 1 << 64)], "<u8").view(np.uint8), bitorder="little").view(bool)


def lanes_of(mask: int) -> np.ndarray:
    """The numbers of the lanes in a bit mask, ascending: intp [n]."""
    return np.flatnonzero(is_lane(mask))


def access_table(events: Iterable[Tuple[int, Tuple[int, int, int], int, Access]]) -> np.ndarray:
    rows = [(pc, workgroup, wave, access.path, access.kind, place.space, access.bytes, place.lanes, place.address)
            for pc, workgroup, wave, access in events for place in access.places]
    return np.array(rows, ACCESS_ROW)


ACCESS_ROW = np.dtype([("pc", "u8"), ("workgroup", "u4", 3), ("wave", "u4"), ("path", "O"), ("kind", "O"),
                       ("space", "O"), ("bytes", "u4"), ("lanes", "u8"), ("address", "u8", 64)])


class AccessLog(Observer):
    """An observer that keeps all accesses. `limit`: it raises MemoryError after this many events."""

    def __init__(self, limit: int = 1_000_000) -> None:
        self_seen: List[Tuple[int, Tuple[int, int, int], int, Access]] = []
        object.__setattr__(self, "_seen", self_seen)

        def see(event: Event) -> None:
            if len(self_seen) >= limit:
                raise MemoryError(f"an AccessLog has its limit of {limit} accesses")
            self_seen.append((event.pc, event.workgroup, event.wave, event.access))

        super().__init__(see)

    def rows(self) -> np.ndarray:
        """A structured array with one row for each place of each access, in the order of execution.

        Fields: pc, workgroup [3], wave, path, kind, space, bytes (of each lane), lanes (bit mask), address uint64 [64]
        (0 for lanes that are not in the mask).
        """
        return access_table(self._seen)  # type: ignore[attr-defined]

    def clear(self) -> None:
        """Forgets all accesses."""
        self._seen.clear()  # type: ignore[attr-defined]
