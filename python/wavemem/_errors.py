# SPDX-License-Identifier: MIT
"""Exceptions: one class for each wm_status, and Fault for what a kernel does wrong."""
from __future__ import annotations

from typing import TYPE_CHECKING, Optional, Tuple

if TYPE_CHECKING:
    from ._launch import Result


class Error(Exception):
    """What wavemem refuses. The text is the library's message: where, what is wrong, what was expected."""

    status = "error"
    """Name of the wm_status in lower case, such as "bad_argument"."""


class BadArgument(Error, ValueError):
    """An invalid argument, or a call on an object that is closed."""

    status = "bad_argument"


class BadFile(Error, ValueError):
    """Truncated or corrupt input, another file format, or assembly text with errors."""

    status = "bad_file"
    messages = ""
    """Of assemble(): the assembler's messages with line numbers, at most 20 errors; else ""."""


class Unsupported(Error, NotImplementedError):
    """Valid, but wavemem does not support it."""

    status = "unsupported"


class NotFound(Error, LookupError):
    """No such kernel, argument, target, symbol."""

    status = "not_found"


class NoMemory(Error, MemoryError):
    """The host is out of memory, or a limit of guest memory is exceeded."""

    status = "no_memory"


class InputOutput(Error, OSError):
    """A file could not be read or written."""

    status = "io"


class OutOfRange(Error, IndexError):
    """An address range that is not within one allocation."""

    status = "out_of_range"


CLASSES = {one.status: one for one in (BadArgument, BadFile, Unsupported, NotFound, NoMemory, InputOutput, OutOfRange)}


class Fault(Error):
    """Why a dispatch ended early: a fault of the kernel, a limit, or progress() returned False.

    If several waves fault, this is the fault of the lowest workgroup and wave.
    """

    status = "fault"

    kind: str
    """"memory", "read_only", "misaligned", "instruction", "todo", "trap", "budget", "timeout", "deadlock",
    "stopped", ...: enum wm_fault_kind in lower case."""
    pc: int
    """Guest address of the instruction."""
    workgroup: Tuple[int, int, int]
    wave: int
    """Number of the wave within its workgroup."""
    lanes: int
    """Bit mask of the faulting lanes."""
    low: int
    """First guest address that these lanes access."""
    high: int
    """Last guest address (inclusive) that these lanes access."""
    bytes: int
    """Bytes per lane."""
    store: bool
    text: str
    """The complete report, several lines."""
    result: Optional[Result]
    """What the dispatch did until then; None for a fault that a Result contains itself."""

    def __init__(self, text: str, **fields: object) -> None:
        super().__init__(text)
        self.text = text
        self.result = None
        self.__dict__.update(fields)
