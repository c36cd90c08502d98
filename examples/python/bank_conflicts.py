# SPDX-License-Identifier: MIT
"""LDS bank conflicts against the distance of the lanes: one kernel, measured for 64 strides, plotted as a PNG.

usage: bank_conflicts.py [OUTPUT.png]
"""
import sys
from math import gcd

import matplotlib
import numpy as np

import wavemem

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

KERNEL = """
    .text
    .globl sweep
    .p2align 8
    .type sweep,@function
sweep:                                      ; lane i reads the dword at i * stride
    s_load_dword s4, s[0:1], 0x0
    s_waitcnt lgkmcnt(0)
    v_mul_lo_u32 v1, v0, s4
    v_lshlrev_b32 v1, 2, v1
    ds_read_b32 v2, v1
    s_waitcnt lgkmcnt(0)
    s_endpgm
.Lend:
    .size sweep, .Lend-sweep
    .rodata
    .p2align 6
    .amdhsa_kernel sweep
        .amdhsa_user_sgpr_kernarg_segment_ptr 1
        .amdhsa_group_segment_fixed_size 32768
        .amdhsa_next_free_vgpr 3
        .amdhsa_next_free_sgpr 8
    .end_amdhsa_kernel
    .amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: sweep
    .symbol: sweep.kd
    .kernarg_segment_size: 4
    .kernarg_segment_align: 4
    .group_segment_fixed_size: 32768
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 8
    .vgpr_count: 3
    .max_flat_workgroup_size: 64
    .args:
      - {.name: stride, .offset: 0, .size: 4, .value_kind: by_value, .type_name: uint}
...
    .end_amdgpu_metadata
"""


def passes(kernel, stride):
    """How often the LDS is passed over for one read of 64 lanes that are `stride` dwords apart."""
    with wavemem.Profile() as profile:
        kernel(stride, grid=64, workgroup=64, profile=profile)
        rows = profile.rows()
        return int(rows[rows["path"] == "DS"]["lds_passes"][0])


def main():
    strides = np.arange(1, 65)
    with wavemem.Machine("gfx900") as machine:
        kernel = machine.load(wavemem.assemble(KERNEL, "gfx900")).kernel()
        measured = [passes(kernel, int(stride)) for stride in strides]
    # 32 banks of a dword; 32 lanes per pass: those whose distance is a multiple of 32 dwords share a bank.
    expected = [2 * gcd(int(stride), 32) for stride in strides]
    assert measured == expected, list(zip(strides, measured, expected))
    pyplot.figure(figsize=(8, 3))
    pyplot.bar(strides, measured)
    pyplot.xlabel("distance of the lanes, dwords")
    pyplot.ylabel("LDS passes")
    pyplot.title("ds_read_b32 on gfx900: odd distances have no conflicts")
    pyplot.savefig(sys.argv[1] if len(sys.argv) > 1 else "bank_conflicts.png", bbox_inches="tight")


if __name__ == "__main__":
    main()
