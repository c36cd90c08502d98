# SPDX-License-Identifier: MIT
"""Explanations of descriptors, formats and addresses."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from ._errors import BadArgument
from ._library import c_text, call, data_of, ffi, lib, number, record, text, value_of, words_of

Words = Union[bytes, bytearray, memoryview, Sequence[int]]
_Bytes = bytes  # where a field is called bytes


@dataclass(frozen=True)
class Field:
    """A field of a descriptor."""

    name: str
    """AMD's: "NUM_RECORDS"."""
    value: int
    bit: int
    """Lowest bit, counted from bit 0 of the descriptor."""
    bits: int
    meaning: str
    """"64 records", "FLOAT"; "" if the value needs no explanation."""


@dataclass(frozen=True)
class Descriptor:
    """A decoded descriptor; descriptor["NUM_RECORDS"] is a field's value."""

    kind: str
    """"buffer", "image", "sampler"."""
    words: Tuple[int, ...]
    fields: Tuple[Field, ...]
    """In the order of their bits."""
    warnings: Tuple[str, ...]
    """Unusual or invalid settings and their effect."""

    def __getitem__(self, name: str) -> int:
        for field in self.fields:
            if field.name == name.upper():
                return field.value
        raise KeyError(name)

    def __iter__(self) -> Iterator[Field]:
        return iter(self.fields)


def _descriptor(c: Any) -> Descriptor:
    return record(Descriptor, c, words=tuple(c.words[0:c.word_count]),
                  fields=tuple(record(Field, c.field[i]) for i in range(c.field_count)),
                  warnings=tuple(text(c.warning[i]) for i in range(c.warning_count)))


def decode_descriptor(kind: str, words: Words, target: str) -> Descriptor:
    """Decodes a "buffer" (four words), "image" (eight, or four with R128) or "sampler" (four) descriptor.

    Raises BadArgument for another number of words, Unsupported if the target has no such descriptor.
    """
    c = ffi.new("struct wm_descriptor *")
    given = words_of(words, "words")
    call(lib.wm_descriptor_decode, c_text(target, "target"), value_of("wm_descriptor_kind", kind, "kind"), given, len(given), c)
    return _descriptor(c)


def encode_descriptor(kind: str, fields: Mapping[str, int], target: str) -> Descriptor:
    """Builds a descriptor from its fields, {"STRIDE": 16}; case is ignored, all others are 0.

    Raises NotFound if the target has no such field, BadArgument if a value does not fit.
    """
    if not isinstance(fields, Mapping):
        raise BadArgument(f"fields is of type {type(fields).__name__}; expected a dict from names to values")
    array = ffi.new("struct wm_descriptor_field[]", max(len(fields), 1))
    keep = []
    for i, (name, value) in enumerate(fields.items()):
        keep.append(c_text(name, "the name of a field"))
        array[i].name = keep[-1]
        array[i].value = number(value, name, 1 << 64)
    c = ffi.new("struct wm_descriptor *")
    call(lib.wm_descriptor_encode, c_text(target, "target"), value_of("wm_descriptor_kind", kind, "kind"), array, len(fields), c)
    return _descriptor(c)


@dataclass(frozen=True)
class BufferAnswer:
    """What one lane of a buffer instruction accesses."""

    addresses: Tuple[int, ...]
    """Of each separately checked element."""
    in_range: Tuple[bool, ...]
    steps: Tuple[str, ...]
    """The derivation: one formula with its values per step."""


def explain_buffer(words: Words, target: str, *, bytes: int = 4, idxen: bool = False, offen: bool = False,
                   addr64: bool = False, index: int = 0, offset: int = 0, address: int = 0, inst_offset: int = 0,
                   soffset: int = 0, lane: int = 0, format: bool = False, parts: int = 0, atomic: bool = False
                   ) -> BufferAnswer:
    """Computes the address of one lane's access through a buffer descriptor, and whether it is in range.

    bytes: accessed by the lane, 1 to 16. The other parameters are the fields of struct wm_buffer_request: `index` and
    `offset` come from VGPRs and are ignored without idxen or offen; `parts`, with a format: number of components that
    are checked separately.

    Raises BadArgument, NotFound (the target).
    """
    given = words_of(words, "words")
    if len(given) != 4:
        raise BadArgument(f"a buffer descriptor has 4 words; got {len(given)}")
    request, c = ffi.new("struct wm_buffer_request *"), ffi.new("struct wm_buffer_answer *")
    try:
        for name, value in dict(idxen=bool(idxen), offen=bool(offen), addr64=bool(addr64), index=index, offset=offset,
                                address=address, inst_offset=inst_offset, soffset=soffset, lane=lane, bytes=bytes,
                                format=bool(format), parts=parts, atomic=bool(atomic)).items():
            setattr(request, name, value)
    except (TypeError, OverflowError) as error:
        raise BadArgument(f"{name} is {value!r}: {error}") from None
    call(lib.wm_buffer_explain, c_text(target, "target"), given, request, c)
    return BufferAnswer(tuple(c.address[0:c.elements]), tuple(c.in_range[0:c.elements]),
                        tuple(text(c.step[i]) for i in range(c.step_count)))


@dataclass(frozen=True)
class Component:
    """Bits [shift, shift + bits) of an element."""

    bits: int
    shift: int
    raw: int


@dataclass(frozen=True)
class FormatAnswer:
    """A buffer format, an element in memory, and the register values."""

    name: str
    """"8_8_8_8 UNORM"."""
    formula: Optional[str]
    """Conversion of a component x of n bits."""
    unified: bool
    """`code` is FORMAT; else DATA_FORMAT | NUM_FORMAT << 4."""
    code: int
    bytes: int
    integer: bool
    """Registers are integers, else f32."""
    is_signed: bool
    unsigned_alpha: bool
    components: Tuple[Component, ...]
    element: _Bytes
    """In memory."""
    values: np.ndarray
    """Registers, [4]: float32, int32 or uint32; for a load, 0 where the format has no component."""


def _format(c: Any) -> FormatAnswer:
    kind = np.float32 if not c.integer else np.int32 if c.is_signed else np.uint32
    return record(FormatAnswer, c, components=tuple(record(Component, c.component[i]) for i in range(c.components)),
                  element=ffi.buffer(c.element)[:c.bytes], values=np.frombuffer(ffi.buffer(c.value), kind).copy())


def load_format(element: Any, layout: str, number: Optional[str] = None, *, target: str) -> FormatAnswer:
    """Converts an element in memory (up to 16 bytes) as a load through a buffer format does.

    layout, number: "8_8_8_8" and "unorm", or both in one: "8_8_8_8_UNORM". Raises NotFound: no such format.
    """
    data = bytes(data_of(element, "element"))
    if len(data) > 16:
        raise BadArgument(f"an element has at most 16 bytes; got {len(data)}")
    words = ffi.new("uint32_t[4]")
    ffi.memmove(words, data, len(data))
    c = ffi.new("struct wm_format_answer *")
    call(lib.wm_format_load, c_text(target, "target"), c_text(layout, "layout"), c_text(number, "number"), words, c)
    return _format(c)


def store_format(values: Any, layout: str, number: Optional[str] = None, *, target: str) -> FormatAnswer:
    """Converts up to four register values as a store through a buffer format does; the result is `element`.

    values: numbers; Python floats are taken as f32. Raises NotFound: no such format.
    """
    array = np.asarray(values)
    if array.ndim != 1 or not 1 <= len(array) <= 4 or array.dtype.kind not in "iuf":
        raise BadArgument("expected one to four numbers")
    if array.dtype.kind == "f":
        bits = array.astype(np.float32).view(np.uint32)
    else:
        bits = array.astype(np.int64).astype(np.uint32)
    words = ffi.new("uint32_t[4]", [int(one) for one in bits])
    c = ffi.new("struct wm_format_answer *")
    call(lib.wm_format_store, c_text(target, "target"), c_text(layout, "layout"), c_text(number, "number"), words, c)
    return _format(c)


@dataclass(frozen=True)
class AddressElement:
    """One element that each lane accesses."""

    space: str
    """"memory" or "LDS"."""
    lanes: int
    """Bit mask of the lanes whose address is in this space."""
    bad_range: int
    """Bit mask of lanes that fail a check, like bad_align and bad_aperture."""
    bad_align: int
    bad_aperture: int
    address: np.ndarray
    """uint64 [64]; of private memory, the interleaved address."""
    private_offset: Optional[np.ndarray]
    """uint64 [64]: offset in the lane's private segment; None: not private memory."""


@dataclass(frozen=True)
class AddressAnswer:
    """What an instruction accesses."""

    text: str
    path: str
    """"BUFFER", "FLAT", "DS" ..."""
    kind: str
    """"load", "store" or "atomic"."""
    format: bool
    wave_size: int
    """Lanes, 32 or 64."""
    lanes: int
    """EXEC; 1 for SMEM."""
    bytes: int
    """Of each element."""
    elements: Tuple[AddressElement, ...]
    steps: Tuple[str, ...]
    """The derivation for one lane: one formula with its values per step."""


def explain_address(instruction: str, target: str, registers: Optional[Mapping[str, Any]] = None, *,
                    lanes: Optional[int] = None, lds_bytes: int = 0, lane: int = 0, shared_base: int = 0,
                    private_base: int = 0) -> AddressAnswer:
    """Computes the addresses that a memory instruction in LLVM's syntax accesses, exactly as execution does.

    registers: {"v2": numpy.arange(64), "s4": 16, "m0": 7}: a number for all lanes, or one per lane; others are 0.
    lanes: EXEC as a bit mask; None: all. lds_bytes: LDS of the workgroup; 0: the target's maximum. lane: the one whose
    address is derived step by step. shared_base, private_base: apertures of FLAT; 0: the target's.

    Raises BadFile (not an instruction), Unsupported (no memory access), BadArgument (no such register).
    """
    request = ffi.new("struct wm_address_request *")
    keep: List[Any] = [c_text(instruction, "instruction"), c_text(target, "target")]
    request.text, request.target = keep
    given = {} if registers is None else registers
    if not isinstance(given, Mapping):
        raise BadArgument(f"registers is of type {type(given).__name__}; expected a dict from names to values")
    array = ffi.new("struct wm_register[]", max(len(given), 1))
    for i, (name, values) in enumerate(given.items()):
        keep.append(c_text(name, "the name of a register"))
        array[i].name = keep[-1]
        try:
            filled = np.asarray(values)
            if filled.dtype.kind == "f":
                filled = filled.astype(np.float32).view(np.uint32)
            filled = filled.astype(np.int64)
            if filled.ndim == 0:
                filled = np.full(64, filled)
            if filled.ndim != 1 or len(filled) > 64 or (filled < -(1 << 31)).any() or (filled >= 1 << 32).any():
                raise ValueError
        except (TypeError, ValueError, OverflowError):
            raise BadArgument(f"register {name}: expected a number of 32 bits, or up to 64 of them") from None
        words = filled.astype(np.uint32)
        ffi.memmove(array[i].value, np.ascontiguousarray(words), words.nbytes)
    request.registers, request.register_count = array, len(given)
    request.lanes = (1 << 64) - 1 if lanes is None else number(lanes, "lanes", 1 << 64)
    request.lds_bytes = number(lds_bytes, "lds_bytes", 1 << 32)
    request.lane = number(lane, "lane", 64)
    request.shared_base, request.private_base = number(shared_base, "shared_base", 1 << 64), number(private_base, "private_base", 1 << 64)
    c = ffi.new("struct wm_address_answer *")
    call(lib.wm_address_explain, request, c)
    return record(AddressAnswer, c, elements=tuple(_element(c.element[i]) for i in range(c.elements)),
                  steps=tuple(text(c.step[i]) for i in range(c.step_count)))


def _element(c: Any) -> AddressElement:
    return record(AddressElement, c, address=np.frombuffer(ffi.buffer(c.address), np.uint64).copy(),
                  private_offset=np.frombuffer(ffi.buffer(c.private_offset), np.uint64).copy() if c.has_private else None)
