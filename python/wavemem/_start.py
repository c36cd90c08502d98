# SPDX-License-Identifier: MIT
"""What registers hold when waves begin."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, List, Mapping, Tuple

import numpy as np

from ._errors import BadArgument
from ._library import NULL, c_text, ffi, lib, names, number
from ._memory import Buffer

KINDS = {name: value for value, name in names("wm_start_kind").items() if name not in ("values", "kinds")}


@dataclass(frozen=True)
class Start:
    """Initial registers of a launch, for code that no kernel descriptor describes: raw code, shaders of graphics drivers.

    registers: {"s4": 7, "s[6:7]" is "s6": buffer, "v0": "workitem_id_x"}, in this order, from name ("s4", "v3", "a0",
        "ttmp9", "m0", "vcc", "vcc_lo", "exec", "flat_scratch", "scc", "mode") to
          - a number of 32 bits, or of 64 for this register and the next one; a Buffer: its address, likewise;
          - a float: its bits as f32;
          - several numbers: for scalar registers those of this register and the ones behind it; for a vector register one
            for each lane of a wave, or for each work-item of a workgroup, x first;
          - a word: "workgroup_id_x", "_y", "_z", "_yz", "workgroup_info", "wave_id", "arguments", "scratch_address",
            "scratch_offset", "workitem_id_x", "_y", "_z", "workitem_ids": enum wm_start_kind.
    bare: all other registers are 0; False: they are as the descriptor, or Module() for raw code, says.
    scratch_bytes: per lane.
    """

    registers: Mapping[str, Any] = field(default_factory=dict)
    bare: bool = False
    scratch_bytes: int = 0


def words(name: str, value: Any) -> np.ndarray:
    """The values of a register as uint32 [n]."""
    if isinstance(value, Buffer):
        value = value.address
        return np.array([value & 0xFFFFFFFF, value >> 32], np.uint32)
    if hasattr(type(value), "__index__") and not isinstance(value, np.ndarray):
        value = value.__index__()
        if not -(1 << 63) <= value < 1 << 64:
            raise BadArgument(f"register {name}: {value} does not fit in 64 bits")
        if -(1 << 31) <= value < 1 << 32:
            return np.array([value & 0xFFFFFFFF], np.uint32)
        return np.array([value & 0xFFFFFFFF, value >> 32 & 0xFFFFFFFF], np.uint32)
    array = np.asarray(value)
    if array.dtype.kind == "f":
        array = array.astype(np.float32).view(np.uint32)
    if array.dtype.kind not in "iub" or array.ndim > 1 or ((array < -(1 << 31)) | (array >= 1 << 32)).any():
        raise BadArgument(f"register {name}: expected numbers of 32 bits, a Buffer, or one of {', '.join(KINDS)}; got {value!r}")
    return np.atleast_1d(array.astype(np.int64) & 0xFFFFFFFF).astype(np.uint32)


def c_start(start: Any) -> Tuple[Any, List[Any]]:
    """The struct wm_start, or NULL for None, and what must live as long as it."""
    if start is None:
        return NULL, []
    if not isinstance(start, Start):
        raise BadArgument(f"start is {start!r}; expected a wavemem.Start")
    c = ffi.new("struct wm_start *")
    c.struct_size = ffi.sizeof("struct wm_start")
    c.bare = bool(start.bare)
    c.scratch_bytes = number(start.scratch_bytes, "scratch_bytes", 1 << 32)
    registers = ffi.new("struct wm_start_register[]", max(len(start.registers), 1))
    keep: List[Any] = [registers]
    for one, (name, value) in zip(registers, start.registers.items()):
        keep.append(c_text(name, "the name of a register"))
        one.name = keep[-1]
        if isinstance(value, str):
            if value not in KINDS:
                raise BadArgument(f"register {name}: no such value {value!r}; expected one of {', '.join(KINDS)}")
            one.kind = KINDS[value]
            continue
        given = words(name, value)
        one.kind = lib.WM_START_VALUES
        keep.append(ffi.new("uint32_t[]", given.tolist()))
        one.values, one.count = keep[-1], len(given)
    c.registers, c.register_count = registers, len(start.registers)
    return c, keep
