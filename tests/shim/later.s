// SPDX-License-Identifier: MIT
// Kernels for tests/shim/later.c, for a generic target, with fewer work-items in the metadata than they are started with: out[x] = x,
// and one that never ends.

.macro begin name
    .text
    .globl \name
    .p2align 8
    .type \name,@function
\name:
.endm

.macro end name
    s_endpgm
    .rodata
    .p2align 6
    .amdhsa_kernel \name
        .amdhsa_user_sgpr_kernarg_segment_ptr 1
        .amdhsa_kernarg_size 8
        .amdhsa_next_free_vgpr 4
        .amdhsa_next_free_sgpr 8
    .end_amdhsa_kernel
.endm

.macro count name
    begin \name
    s_load_b64 s[2:3], s[0:1], 0x0
    v_and_b32 v0, 0x3ff, v0
    v_lshlrev_b32 v1, 2, v0
    s_waitcnt lgkmcnt(0)
    global_store_b32 v1, v0, s[2:3]
    end \name
.endm

count __amd_rocclr_count
count count

begin __amd_rocclr_endless
again:
    s_branch again
end __amd_rocclr_endless

.amdgpu_metadata
amdhsa.version: [ 1, 2 ]
amdhsa.target: amdgcn-amd-amdhsa--gfx11-generic
amdhsa.kernels:
  - .name: __amd_rocclr_count
    .symbol: __amd_rocclr_count.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 8
    .vgpr_count: 4
    .max_flat_workgroup_size: 256
    .args:
      - { .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global }
  - .name: count
    .symbol: count.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 8
    .vgpr_count: 4
    .max_flat_workgroup_size: 256
    .args:
      - { .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global }
  - .name: __amd_rocclr_endless
    .symbol: __amd_rocclr_endless.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 8
    .vgpr_count: 4
    .max_flat_workgroup_size: 256
    .args:
      - { .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global }
.end_amdgpu_metadata
