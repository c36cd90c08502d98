// Lanes write LDS with a stride of 32 dwords: all on one bank, one after the other.
// Change the shift by 7 to 2, and the conflicts are gone.
.amdgcn_target "amdgcn-amd-amdhsa--gfx900"
.text
.globl banks
.p2align 8
.type banks,@function
banks:
  s_load_dwordx4 s[4:7], s[0:1], 0x0      // in, out
  s_lshl_b32 s8, s2, 6                    // workgroups of 64 work-items
  v_add_u32_e32 v0, s8, v0
  v_lshlrev_b32_e32 v1, 2, v0
  v_and_b32_e32 v4, 63, v0
  v_lshlrev_b32_e32 v3, 7, v4             // 128 bytes: the next row of the same bank
  s_waitcnt lgkmcnt(0)
  global_load_dword v2, v1, s[4:5]
  s_waitcnt vmcnt(0)
  ds_write_b32 v3, v2
  s_waitcnt lgkmcnt(0)
  ds_read_b32 v5, v3
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v5, s[6:7]
  s_endpgm
.size banks, .-banks

.rodata
.p2align 6
.amdhsa_kernel banks
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 16
  .amdhsa_next_free_sgpr 16
  .amdhsa_kernarg_size 16
  .amdhsa_float_denorm_mode_32 3
  .amdhsa_group_segment_fixed_size 8192
.end_amdhsa_kernel

.amdgpu_metadata
---
amdhsa.version: [1, 0]
amdhsa.kernels:
  - .name: banks
    .symbol: banks.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 8192
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
