# SPDX-License-Identifier: MIT
"""A property of buffer descriptors, tried with random ones: wavemem's explanation, its execution and a reference of four
lines agree on where a load goes and whether it is in range. pytest descriptor.py

Source of the reference: Vega ISA, "Buffer Addressing" (linear buffers; gfx9); the range check as captured on gfx950
(ROCm/rocm-systems, pull request 10928).
"""
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import wavemem

KERNEL = """
    .text
    .globl load_{mode}
    .p2align 8
    .type load_{mode},@function
load_{mode}:                                ; out[lane] = buffer[...]
    s_load_dwordx4 s[4:7], s[0:1], 0x0      ; the descriptor
    s_load_dwordx4 s[8:11], s[0:1], 0x10    ; out, soffset, scale of the index
    v_mov_b32 v3, v0
    s_waitcnt lgkmcnt(0)
    v_mul_lo_u32 v1, v0, s11                ; index
    v_lshlrev_b32 v2, 2, v0                 ; offset
    {load}
    s_waitcnt vmcnt(0)
    v_lshlrev_b32 v3, 2, v3
    global_store_dword v3, v4, s[8:9]
    s_endpgm
.Lend_{mode}:
    .size load_{mode}, .Lend_{mode}-load_{mode}
    .rodata
    .p2align 6
    .amdhsa_kernel load_{mode}
        .amdhsa_user_sgpr_kernarg_segment_ptr 1
        .amdhsa_next_free_vgpr 5
        .amdhsa_next_free_sgpr 12
    .end_amdhsa_kernel
    .text
"""
METADATA = """
  - .name: load_{mode}
    .symbol: load_{mode}.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 16
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 12
    .vgpr_count: 5
    .max_flat_workgroup_size: 64
    .args:
      - {{.name: descriptor, .offset: 0, .size: 16, .value_kind: by_value, .type_name: uint4}}
      - {{.name: out, .offset: 16, .size: 8, .value_kind: global_buffer, .type_name: uint*}}
      - {{.name: soffset, .offset: 24, .size: 4, .value_kind: by_value, .type_name: uint}}
      - {{.name: scale, .offset: 28, .size: 4, .value_kind: by_value, .type_name: uint}}
"""
MODES = {"off": ("off", ""), "offen": ("v2", "offen"), "idxen": ("v1", "idxen"), "both": ("v[1:2]", "idxen offen")}
INST_OFFSET = 16
LANES = np.arange(64, dtype=np.int64)


@pytest.fixture(scope="module")
def gpu():
    loads = {mode: f"buffer_load_dword v4, {address}, s[4:7], s10 {flags} offset:{INST_OFFSET}"
             for mode, (address, flags) in MODES.items()}
    text = "".join(KERNEL.format(mode=mode, load=load) for mode, load in loads.items())
    text += ".amdgpu_metadata\n---\namdhsa.version: [1, 2]\namdhsa.kernels:" + "".join(METADATA.format(mode=mode) for mode in MODES)
    with wavemem.Machine("gfx900") as machine:
        program = machine.load(wavemem.assemble(text + "\n...\n.end_amdgpu_metadata\n", "gfx900"))
        yield program, machine.allocate(np.arange(1 << 18, dtype=np.uint32), name="records")


def reference(stride, records, index, offset, soffset, idxen):
    """The distance from the base of each lane's dword, and whether it is in range."""
    distance = (index * stride if idxen else 0) + offset + soffset
    return distance, index < records if idxen and stride else offset + soffset + 4 <= records


# The same examples in every run, and no limits of time: a busy machine is no failure.
@settings(derandomize=True, database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mode=st.sampled_from(sorted(MODES)), dwords=st.integers(0, 511), records=st.integers(0, 300),
       soffset_dwords=st.integers(0, 64), scale=st.integers(0, 5))
def test_range(gpu, mode, dwords, records, soffset_dwords, scale):
    program, memory = gpu
    stride, soffset = 4 * dwords, 4 * soffset_dwords
    fields = {"BASE_ADDRESS": memory.address, "STRIDE": stride, "NUM_RECORDS": records, "DATA_FORMAT": 4}
    words = wavemem.encode_descriptor("buffer", fields, "gfx900").words
    idxen, offen = mode in ("idxen", "both"), mode in ("offen", "both")
    index = LANES * scale if idxen else np.zeros(64, np.int64)
    offset = (4 * LANES if offen else 0 * LANES) + INST_OFFSET
    distance, in_range = reference(stride, records, index, offset, soffset, idxen)

    for lane in (0, 1, 31, 63):
        answer = wavemem.explain_buffer(words, "gfx900", idxen=idxen, offen=offen, index=int(index[lane]), offset=4 * lane,
                                        inst_offset=INST_OFFSET, soffset=soffset, lane=lane)
        assert answer.in_range == (in_range[lane],), answer.steps
        assert answer.addresses == (memory.address + distance[lane],), answer.steps

    out = np.full(64, 0xFFFFFFFF, np.uint32)
    program[f"load_{mode}"](words, out, soffset, scale, grid=64, workgroup=64)
    np.testing.assert_array_equal(out, np.where(in_range, distance // 4, 0))
