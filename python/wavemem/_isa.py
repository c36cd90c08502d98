# SPDX-License-Identifier: MIT
"""Targets and instructions: assembling, disassembling, decoding."""
from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from ._errors import BadArgument, BadFile, NotFound
from ._library import NULL, c_text, call, ffi, lib, number, record, text, words_of

libc: Any = ffi.dlopen(None)
ffi.cdef("void free(void *);")

Words = Union[bytes, bytearray, memoryview, Sequence[int]]


class AssemblerWarning(UserWarning):
    """A warning of the assembler."""


def targets() -> List[str]:
    """The names of all targets: "gfx600", ..."""
    result: List[str] = []
    while True:
        name = text(lib.wm_target_at(len(result)))
        if name is None:
            return result
        result.append(name)


def target_known(name: str) -> bool:
    """Whether a target can be decoded: "gfx900", "gfx90a:xnack+", "gfx1030:wave64", "gfx1100:real-true16"."""
    return bool(lib.wm_target_known(c_text(name, "name")))


def assemble(source: str, target: str, *, raw: bool = False, lines: bool = False, files: bool = False,
             folders: Sequence[Any] = (), symbols: Optional[Mapping[str, int]] = None, name: str = "text") -> bytes:
    """Assembles text in LLVM's syntax to a code object, for Module() or Machine.load(); raw: to its instructions only.

    lines: generates line tables for the text itself. files: allows .include and .incbin: files next to `name`, then in
    `folders`. symbols: values of symbols that are defined before the text is read. name: the file name in messages.

    Raises BadFile if the text has errors: its `messages` has them all. Warnings become AssemblerWarning.
    """
    if not isinstance(source, str):
        raise BadArgument(f"source is of type {type(source).__name__}; expected a str")
    data = c_text(source, "source")
    options = ffi.new("struct wm_assemble_options *")
    options.struct_size = ffi.sizeof("struct wm_assemble_options")
    options.flags = ((lib.WM_ASSEMBLE_RAW if raw else 0) | (lib.WM_ASSEMBLE_LINES if lines else 0) |
                     (lib.WM_ASSEMBLE_FILES if files else 0))
    keep = [ffi.new("char[]", os.fsencode(one)) for one in folders]
    array = ffi.new("char *[]", keep or [NULL])
    options.folders = ffi.cast("const char *const *", array)
    options.folder_count = len(keep)
    defined = [ffi.new("char[]", c_text("%s=%d" % one, "symbols")) for one in (symbols or {}).items()]
    definitions = ffi.new("char *[]", defined or [NULL])
    options.symbols = ffi.cast("const char *const *", definitions)
    options.symbol_count = len(defined)
    code, size, messages = ffi.new("uint8_t **"), ffi.new("size_t *"), ffi.new("char **")
    try:
        call(lib.wm_assemble_with, options, data, len(data) - 1, c_text(name, "name"), c_text(target, "target"), code, size,
             messages)
        said = text(messages[0])
        if said:
            warnings.warn(said.rstrip("\n"), AssemblerWarning, stacklevel=2)
        return bytes(ffi.buffer(code[0], size[0]))
    except BadFile as error:
        error.messages = text(messages[0]) or ""
        raise
    finally:
        libc.free(code[0])
        libc.free(messages[0])


@dataclass(frozen=True)
class Disassembled:
    """One instruction of a listing, or one dword of data."""

    address: int
    words: Tuple[int, ...]
    text: str
    """LLVM's syntax; of data ".long 0x..."."""
    data: bool
    """Not an instruction of the target."""
    branch_target: Optional[int]
    """Address that a direct branch leads to; None: it is none."""


def disassemble(code: Words, target: str, *, address: int = 0, reassemblable: bool = False) -> List[Disassembled]:
    """Disassembles code: bytes whose number is a multiple of 4, or 32-bit words. `address`: of the first.

    reassemblable: prints .long for instructions that LLVM's assembler would not reassemble to the same words.
    Raises NotFound for an unknown target.
    """
    words = words_of(code, "code")
    result = ffi.new("struct wm_disassembler **")
    call(lib.wm_disassembler_create, c_text(target, "target"), lib.WM_DISASSEMBLE_REASSEMBLABLE if reassemblable else 0,
         result)
    disassembler = ffi.gc(result[0], lib.wm_disassembler_destroy)
    listing = []
    at = 0
    while at < len(words):
        one = lib.wm_disassembler_next(disassembler, words + at, len(words) - at)
        end = address + 4 * (at + one.dwords)
        listing.append(Disassembled(address + 4 * at, tuple(words[at:at + one.dwords]),
                                    ffi.buffer(one.text, one.length)[:].decode(), one.data,
                                    end + 4 * one.target if one.branch else None))
        at += one.dwords
    return listing


@dataclass(frozen=True)
class Operand:
    """An operand of a decoded instruction; see struct wm_operand."""

    kind: str
    """"none", "sgpr", "vgpr", "agpr", "ttmp", "special", "constant", "literal", "immediate", "label", "off"."""
    role: str
    """"d", "sdst": results; "a", "b", "c": sources; "addr", "data", "saddr", "soffset" ..."""
    type: str
    """Type per lane: "f32", "v2f16", "b128"."""
    name: Optional[str]
    """Of a special register: "vcc", "exec_lo", "m0"."""
    bits: int
    reg: int
    """First register."""
    dwords: int
    """Number of registers."""
    half: Optional[str]
    """"l" or "h" for a 16-bit operand in half of a VGPR."""
    read: bool
    written: bool
    implied: bool
    """Not encoded."""
    neg: bool
    abs: bool
    sext: bool
    value: int
    """Bits of a constant or literal; an immediate; the distance of a label in dwords."""


@dataclass(frozen=True)
class Instruction:
    """A decoded instruction; see struct wm_instruction."""

    text: str
    """LLVM's syntax."""
    name: str
    """LLVM's mnemonic: "v_add_f32_e32"."""
    encoding: str
    """"vop2", "global" ..."""
    kind: str
    """"scalar", "vector", "SMEM", "buffer", "image", "FLAT", "GLOBAL", "SCRATCH", "DS" ..."""
    words: Tuple[int, ...]
    row: int
    """Number of the row in the description of the instruction set: describe()."""
    flags: Tuple[str, ...]
    """"load", "store", "atomic", "format", "branch", "ends", "masked", "reads_vcc", ..."""
    elements: int
    """Memory: elements per lane."""
    bytes: int
    """Memory: bytes of each element."""
    operands: Tuple[Operand, ...]
    """In assembly order, with implied ones."""
    modifiers: Dict[str, int]
    """All other fields of the encoding: offset, glc, clamp ..."""
    address: Tuple[int, ...]
    """The VGPR of each address dword of an image instruction, if they are encoded separately."""
    second_name: Optional[str]
    """The second instruction of a VOPD pair."""
    second_row: int
    second_operand: int
    """Where its operands start."""
    state: int
    """In which it was decoded."""


_FLAGS = {getattr(lib, name): name[len("WM_INSTRUCTION_"):].lower() for name in dir(lib)
          if name.startswith("WM_INSTRUCTION_") and
          name not in ("WM_INSTRUCTION_DWORDS", "WM_INSTRUCTION_OPERANDS", "WM_INSTRUCTION_MODIFIERS")}


def decode(code: Words, target: str, state: int = 0) -> Instruction:
    """Decodes the instruction at the start of `code`: bytes or 32-bit words.

    `state` is what earlier instructions have set (`Stopped.state`, `Module.state`): the last s_set_vgpr_msb of gfx1250.
    The VGPRs of the operands then have their whole numbers.

    Raises NotFound for an unknown target, BadFile if there is no instruction.
    """
    c_target = lib.wm_target(c_text(target, "target"))
    if c_target == NULL:
        raise NotFound(f"unknown target '{target}'; expected a gfx name such as gfx900")
    words = words_of(code, "code")
    c = ffi.new("struct wm_instruction *")
    if not lib.wm_decode_in(c_target, words, len(words), number(state, "the state", 256), c):
        shown = " ".join(f"{one:08x}" for one in words[0:min(len(words), 5)])
        raise BadFile(f"the words {shown or '(none)'} are not an instruction of {target}")
    line = ffi.new("char[]", 512)
    lib.wm_print(c, line, 512)
    return record(
        Instruction, c, text=text(line), words=tuple(c.words[0:c.dwords]),
        flags=tuple(name for bit, name in sorted(_FLAGS.items()) if c.flags & bit),
        operands=tuple(_operand(c.operand[i]) for i in range(c.operand_count)),
        modifiers={text(c.modifier[i].name): c.modifier[i].value for i in range(c.modifier_count)},
        address=tuple(c.address[0:c.address_count]))


def _operand(c: Any) -> Operand:
    half = ord(c.half)
    return record(Operand, c, half=chr(half) if half else None)


@dataclass(frozen=True)
class Description:
    """An instruction, independent of its name and encoding on each target."""

    name: str
    kind: str
    formula: Optional[str]
    """What it computes, one line."""
    grade: str
    """"exact", "approx", "unverified", or "todo": decoded but not executed yet."""
    remark: Optional[str]
    """If approximate or unverified: bound or reason."""
    remark_field: Optional[str]
    """The grade applies only with this modifier."""
    reads: str
    """Implicitly: "SCC, VCC"."""
    writes: str


def describe(row: int) -> Description:
    """The description of a row: Instruction.row, or a number below row_count(). Raises BadArgument for another one."""
    c = ffi.new("struct wm_isa_row *")
    if not lib.wm_isa_row(number(row, "row", 1 << 63), c):
        raise BadArgument(f"row is {row}; expected 0 to {row_count() - 1}")
    return record(Description, c)


def row_count() -> int:
    """The number of rows in the description of the instruction set."""
    return lib.wm_isa_row_count()


def wait_counters(row: int, target: str) -> Optional[str]:
    """The wait counters that an instruction increments until it completes, in words: "vmcnt and lgkmcnt"; None: none."""
    line = ffi.new("char[]", lib.WM_ISA_WAIT)
    return text(line) if lib.wm_isa_wait(number(row, "row", 1 << 63), c_text(target, "target"), line, lib.WM_ISA_WAIT) else None
