# SPDX-License-Identifier: MIT
"""What the tests share: machines, kernels of the examples, and kernels assembled from text with typed arguments."""
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import wavemem

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "gfx900"
COMMAND = os.environ.get("WAVEMEM_COMMAND", str(ROOT / "build" / "wavemem"))

# The same examples in every run, and no limits of time: a busy machine is no failure.
settings.register_profile("same", derandomize=True, database=None, deadline=None,
                          suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("same")


@pytest.fixture
def machine():
    with wavemem.Machine("gfx900") as one:
        yield one


@pytest.fixture
def vecadd(machine):
    return machine.load(EXAMPLES / "vecadd.co").kernel()


# Value kind, size and alignment of arguments; all others are passed by value.
POINTERS = ("global_buffer", "dynamic_shared_pointer", "image", "sampler")


def assembled(body, arguments=(), target="gfx900", lds=0, name="test"):
    """A code object whose kernel has these arguments: (name, type name or "", value kind, size).

    s[0:1] is the address of the arguments, s2 the workgroup, v0 the work-item.
    """
    offset, listing = 0, ""
    for one, type_name, kind, size in arguments:
        offset += -offset % min(size, 16)
        listing += f"      - .name: {one}\n        .offset: {offset}\n        .size: {size}\n        .value_kind: {kind}\n"
        if type_name:
            listing += f"        .type_name: '{type_name}'\n"
        if kind in ("global_buffer", "dynamic_shared_pointer"):
            listing += f"        .address_space: {'local' if kind[0] == 'd' else 'global'}\n"
        if kind == "dynamic_shared_pointer":
            listing += "        .pointee_align: 16\n"
        offset += size
    return wavemem.assemble(f"""
        .amdgcn_target "amdgcn-amd-amdhsa--{target}"
        .text
        .globl {name}
        .p2align 8
        .type {name},@function
{name}:
{body}
        s_endpgm
.L{name}_end:
        .size {name}, .L{name}_end-{name}
        .rodata
        .p2align 6
        .amdhsa_kernel {name}
            .amdhsa_user_sgpr_kernarg_segment_ptr 1
            .amdhsa_group_segment_fixed_size {lds}
            .amdhsa_next_free_vgpr 16
            .amdhsa_next_free_sgpr 16
        .end_amdhsa_kernel
        .amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--{target}
amdhsa.kernels:
  - .name: {name}
    .symbol: {name}.kd
    .kernarg_segment_size: {offset}
    .kernarg_segment_align: 16
    .group_segment_fixed_size: {lds}
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 16
    .max_flat_workgroup_size: 256
{'    .args:' if listing else ''}
{listing}
...
        .end_amdgpu_metadata
""", target)


COPY_ARGUMENTS = """
        s_load_dwordx2 s[4:5], s[0:1], 0x0
        v_lshlrev_b32 v0, 2, v0
        global_load_dword v1, v0, s[0:1]
        s_waitcnt vmcnt(0) lgkmcnt(0)
        global_store_dword v0, v1, s[4:5]
"""
"""Copies the first dwords of the arguments to the buffer that the first argument points to, one per work-item."""

POLL = """
        s_load_dwordx2 s[4:5], s[0:1], 0x0
        v_mov_b32 v1, 0
        v_mov_b32 v3, 1
        s_mov_b32 s7, 0
        s_waitcnt lgkmcnt(0)
        global_store_dword v1, v3, s[4:5] offset:4
.Lloop:
        s_add_u32 s7, s7, 1
        global_load_dword v2, v1, s[4:5] glc
        s_waitcnt vmcnt(0)
        v_readfirstlane_b32 s6, v2
        s_cmp_eq_u32 s6, 0
        s_cbranch_scc1 .Lloop
"""
POLL_ARGUMENTS = [("words", "", "global_buffer", 8)]
"""Sets the second word of its argument, and ends when somebody has set the first one."""


def wait_until_runs(words):
    """Returns when POLL, started by another thread, has begun."""
    while words.read()[4:] == bytes(4):
        pass


FOREVER = """
        s_mov_b32 s4, 0
.Lloop:
        s_add_u32 s4, s4, 1
        s_branch .Lloop
"""
"""Never ends, and is no deadlock either: s4 changes."""
