# SPDX-License-Identifier: MIT
"""Queues: dispatches that run in the background, one after another, and wait for those of other queues."""
from __future__ import annotations

import atexit
import contextlib
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any, Iterator, List, Optional, Sequence, Union

from ._errors import BadArgument
from ._launch import Kernel, Result, _counted, _Dispatch, _OPTIONS, _used
from ._library import call, error_of, ffi, lib, number, text
from ._memory import Buffer

if TYPE_CHECKING:
    from ._machine import Machine

_open_queues: "weakref.WeakSet[Queue]" = weakref.WeakSet()
SIGNAL = 64  # bytes of a completion signal, in front of the arguments


@atexit.register
def _close_all() -> None:
    for queue in list(_open_queues):
        queue.close()


class Ticket:
    """A dispatch in a queue."""

    def __init__(self, queue: Queue, dispatch: _Dispatch, after: List[Any]) -> None:
        self.queue = queue
        self._dispatch = dispatch
        self._after = after  # their signals are needed until this one has completed
        self._stack = contextlib.ExitStack()
        self._number = 0
        self._memory: Optional[Buffer] = None
        self._place = 0
        self._status = 0
        self._message = ""
        self._over = False

    @property
    def signal(self) -> int:
        """Guest address of the 64-bit signal that becomes 0 when the dispatch has completed."""
        return self._place

    @property
    def done(self) -> bool:
        """Whether it has completed, also by a fault or because it was cancelled. Then its signal is 0, and the other way
        round."""
        return self._over and self.queue._is_completed(self)

    def wait(self, timeout: Optional[float] = None) -> Result:
        """Waits until it has completed, and returns its Result. Raises Fault if the kernel faulted or was cancelled, what an
        observer or progress() raised, and TimeoutError after `timeout` seconds."""
        self.queue._wait(self, timeout)
        if self._status:
            raise error_of(self._status, self._message)
        return self._dispatch.finish()

    def cancel(self) -> None:
        """Ends it; wait() raises a Fault of kind "stopped" then. Does nothing if it has completed."""
        if not self._over:
            with self.queue._open() as queue:
                call(lib.wm_queue_cancel, queue, self._number)

    def _completed(self, _: Any, status: int, result: Any, diag: Any) -> None:
        self._status, self._message = status, text(diag.message) if status else ""
        self._stack.close()
        self._after = []
        self._over = True

    def __del__(self) -> None:
        if self._memory is not None and self._over:
            self._dispatch.native.late.append((self._place, self._memory.size))  # to be freed with the next allocation

    def __repr__(self) -> str:
        return f"<wavemem.Ticket {self._number}, {'done' if self.done else 'not done'}>"


class Queue:
    """Dispatches in the background: Machine.queue(). Those of one queue run in their order, those of several at the same
    time. As a context manager it waits for all at its end, and raises the first Fault; after an exception it cancels them.
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._pointer: Any = None
        self._lock = threading.Lock()
        self._using = 0
        self._tickets: List[Ticket] = []  # whose callbacks may still be called, or be returning
        self._all: List[Ticket] = []  # for wait()
        native = machine._open
        result = ffi.new("struct wm_queue **")
        native.call(lib.wm_queue_create, result)
        self._pointer = result[0]
        self._owned = native.owned
        self._owned.claim()
        _open_queues.add(self)

    @contextlib.contextmanager
    def _open(self) -> Iterator[Any]:
        with self._lock:
            if self._pointer is None:
                raise BadArgument("the queue is closed")
            self._using += 1
        try:
            yield self._pointer
        finally:
            with self._lock:
                self._using -= 1

    def submit(self, kernel: Kernel, *arguments: Any, grid: Any, workgroup: Any = None, dynamic_lds: int = 0,
               after: Sequence[Union[Ticket, Buffer, int]] = (), **options: Any) -> Ticket:
        """Puts a launch of a kernel into the queue, and returns at once.

        arguments, grid, workgroup, dynamic_lds, options: as for a launch, without global_offset. Pointers are
            Buffers (Machine.allocate, Machine.map) or addresses; arrays would be copied too early.
        after: tickets that must have completed before it starts, of any queue of this machine, or 64-bit signals in guest
            memory that must be 0: addresses, or Buffers that begin with one.

        Raises BadArgument and other Errors. Those that only execution can tell come from Ticket.wait().
        """
        if kernel.machine is not self._machine:
            raise BadArgument(f"the kernel {kernel.info.source_name} is loaded into another machine")
        if "global_offset" in options:
            raise BadArgument("a queue takes no option 'global_offset'; packets do not have it")
        keywords = {name: options.pop(name) for name in list(options) if name in _OPTIONS}
        dispatch = _Dispatch(kernel, arguments, options, grid=grid, workgroup=workgroup, dynamic_lds=dynamic_lds, **keywords)
        if dispatch.layout.regions:
            raise BadArgument("a queue takes no arrays; pass Buffers, from Machine.allocate() or Machine.map()")
        signals = [one.signal if isinstance(one, Ticket) else one.address if isinstance(one, Buffer) else
                   number(one, "a signal", 1 << 64) for one in after]
        ticket = Ticket(self, dispatch, list(after))
        memory = ticket._memory = self._machine.allocate(SIGNAL + max(kernel.info.kernarg_size, len(dispatch.layout.data), 1),
                                                         name="packet")
        ticket._place = memory.address
        memory.write((1).to_bytes(8, "little"))
        memory.write(dispatch.layout.data, SIGNAL)
        packet = ffi.new("struct wm_packet *")
        packet.struct_size = ffi.sizeof("struct wm_packet")
        packet.kernel_object = kernel._program.symbol(kernel.info.name + ".kd").address
        packet.kernarg_address = memory.address + SIGNAL
        packet.fills_hidden_arguments = True
        request = dispatch.request
        packet.grid, packet.workgroup, packet.cluster = request.grid, request.workgroup, request.cluster
        packet.group_segment_size = kernel.info.lds_size + request.dynamic_lds
        request.grid = request.workgroup = request.cluster = [0, 0, 0]
        request.dynamic_lds = 0
        dependencies = ffi.new("uint64_t[]", signals or [0])
        packet.dependencies, packet.dependency_count = dependencies, len(signals)
        packet.completion_signal = memory.address
        packet.options, packet.result = request, dispatch.result
        dispatch.keep = (packet, dependencies, ffi.callback(
            "void(void *, enum wm_status, const struct wm_result *, const struct wm_diag *)", ticket._completed,
            onerror=dispatch.sink.on_error))
        packet.completed = dispatch.keep[-1]
        with self._open() as queue, contextlib.ExitStack() as stack:
            stack.enter_context(_counted(dispatch.native))
            for name, watcher in dispatch.watchers:
                setattr(request, name, stack.enter_context(_used(watcher, name)))
            ticket._stack.push(stack.pop_all())
            self._reap()
            self._tickets.append(ticket)
            given = ffi.new("uint64_t *")
            try:
                call(lib.wm_queue_submit, queue, packet, given)
            except BaseException:
                self._tickets.remove(ticket)
                ticket._completed(None, 0, None, None)
                raise
            ticket._number = given[0]
        self._all.append(ticket)
        return ticket

    def _reap(self) -> None:
        """Lets tickets go that have completed, except the last one: its callback may not have returned yet."""
        with self._lock:
            over = [one for one in self._tickets if one._over][:-1]
            self._tickets = [one for one in self._tickets if one not in over]
        for one in over:
            one._dispatch.keep = None

    def _is_completed(self, ticket: Ticket) -> bool:
        """Of a ticket whose callback has run: whether its signal has changed, too."""
        done = ffi.new("bool *", True)  # stays so if the queue is closed, or behind the ticket in a callback of its own
        with self._lock:
            if self._pointer is not None:
                lib.wm_queue_wait(self._pointer, ticket._number, 0, done, ffi.NULL)
        return bool(done[0])

    def _wait(self, ticket: Ticket, timeout: Optional[float]) -> None:
        end = None if timeout is None else time.monotonic() + timeout
        done = ffi.new("bool *")
        while not ticket.done:  # in pieces, so that Ctrl-C comes through
            left = 0.1 if end is None else min(0.1, max(end - time.monotonic(), 0))
            with self._open() as queue:
                call(lib.wm_queue_wait, queue, ticket._number, left, done)
            if not done[0] and end is not None and time.monotonic() >= end:
                raise TimeoutError(f"dispatch {ticket._number} has not completed after {timeout} s")

    def wait(self) -> List[Result]:
        """Waits for all dispatches since the last wait(); returns their results. Raises as Ticket.wait() of the first that
        does; the others have completed as well."""
        tickets, self._all = self._all, []
        for ticket in tickets:
            self._wait(ticket, None)
        return [ticket.wait() for ticket in tickets]

    def close(self) -> None:
        """Cancels what has not completed. Closing twice is fine. Raises BadArgument in a callback of a dispatch, or while
        another thread waits."""
        if self._pointer is None:
            return
        if isinstance(threading.current_thread(), threading._DummyThread):
            raise BadArgument("a queue cannot be closed in a callback of a dispatch")
        with self._lock:
            if self._using:
                raise BadArgument("another thread waits for the queue")
            pointer, self._pointer = self._pointer, None
        if pointer is not None:
            lib.wm_queue_destroy(pointer)
            self._owned.release()

    def __enter__(self) -> Queue:
        with self._open():
            return self

    def __exit__(self, kind: Any, *_: object) -> None:
        try:
            if kind is None and self._pointer is not None:
                self.wait()
        finally:
            self.close()

    def __del__(self) -> None:
        if self._pointer is not None:
            self.close()

    def __repr__(self) -> str:
        return f"<wavemem.Queue, {'closed' if self._pointer is None else f'{sum(not one.done for one in self._tickets)} not done'}>"
