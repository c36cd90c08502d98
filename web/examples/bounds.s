// Stores one element too far: the last lane writes past the end of out.
.amdgcn_target "amdgcn-amd-amdhsa--gfx900"
.text
.globl bounds
.p2align 8
.type bounds,@function
bounds:
  s_load_dwordx4 s[4:7], s[0:1], 0x0      // in, out
  s_lshl_b32 s8, s2, 6                    // workgroups of 64 work-items
  v_add_u32_e32 v0, s8, v0
  v_lshlrev_b32_e32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  global_load_dword v2, v1, s[4:5]
  s_waitcnt vmcnt(0)
  global_store_dword v1, v2, s[6:7] offset:4
  s_endpgm
.size bounds, .-bounds

.rodata
.p2align 6
.amdhsa_kernel bounds
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 16
  .amdhsa_next_free_sgpr 16
  .amdhsa_kernarg_size 16
  .amdhsa_float_denorm_mode_32 3
.end_amdhsa_kernel

.amdgpu_metadata
---
amdhsa.version: [1, 0]
amdhsa.kernels:
  - .name: bounds
    .symbol: bounds.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 16
    .max_flat_workgroup_size: 256
    .args:
      - {.name: in, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global, .type_name: "float*"}
      - {.name: out, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global, .type_name: "float*"}
...
.end_amdgpu_metadata
