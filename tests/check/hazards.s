// SPDX-License-Identifier: MIT
// Instructions that are too close together.
// Sources: "Manually Inserted Wait States" of the Vega and CDNA3 ISA; LLVM, GCNHazardRecognizer.cpp.

.include "waits.inc"

.macro begin
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v2, 2, v0
  wait_scalar
.endm

.macro compare value
.if .amdgcn.gfx_generation_number >= 10
  v_cmp_lt_f32 vcc_lo, \value, \value
.else
  v_cmp_lt_f32 vcc, \value, \value
.endif
.endm

// A vector instruction writes an SGPR that vector memory reads: five wait states.
// RUN: base -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64
// TARGETS: gfx9*
// KERNEL: base in out
base:
  begin
  v_mov_b32 v3, s4
  s_nop 0
  v_readfirstlane_b32 s8, v3
  s_mov_b32 s9, s5
  s_nop 2
  global_load_dword v1, v2, s[8:9] // FINDS: valu-sgpr-vmem
  wait_loads
  global_store_dword v2, v1, s[6:7]
  s_endpgm

// RUN: base_good -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64
// TARGETS: gfx9*
// KERNEL: base_good in out
base_good:
  begin
  v_mov_b32 v3, s4
  s_nop 0
  v_readfirstlane_b32 s8, v3
  s_mov_b32 s9, s5
  s_nop 3
  global_load_dword v1, v2, s[8:9]
  wait_loads
  global_store_dword v2, v1, s[6:7]
  s_endpgm

// DPP reads a register behind the instruction that wrote it: two wait states.
// RUN: dpp -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64
// TARGETS: gfx9*
// KERNEL: dpp in out
dpp:
  begin
  v_mov_b32 v3, v0
  v_mov_b32_dpp v4, v3 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf // FINDS: vgpr-dpp
  global_store_dword v2, v4, s[6:7]
  s_endpgm

// RUN: dpp_good -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64
// TARGETS: gfx9*
// KERNEL: dpp_good in out
dpp_good:
  begin
  v_mov_b32 v3, v0
  s_nop 1
  v_mov_b32_dpp v4, v3 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf
  global_store_dword v2, v4, s[6:7]
  s_endpgm

// RUN: mode -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64
// TARGETS: gfx9* gfx1030 gfx1100
// KERNEL: mode in out
mode:
  begin
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 3
  s_getreg_b32 s8, hwreg(HW_REG_MODE) // FINDS gfx9*: setreg-getreg
  v_mov_b32 v1, s8
  global_store_dword v2, v1, s[6:7]
  s_endpgm

// RUN: mode_good -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64
// TARGETS: gfx9* gfx1030 gfx1100
// KERNEL: mode_good in out
mode_good:
  begin
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 3
  s_nop 1
  s_getreg_b32 s8, hwreg(HW_REG_MODE)
  v_mov_b32 v1, s8
  global_store_dword v2, v1, s[6:7]
  s_endpgm

// The data of a wide store is overwritten at once: one wait state, on gfx942 two.
// RUN: wide_store -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:256
// TARGETS: gfx9*
// KERNEL: wide_store in out
wide_store:
  begin
  v_lshlrev_b32 v3, 4, v0
  v_mov_b32 v4, 1
  v_mov_b32 v5, 2
  v_mov_b32 v6, 3
  v_mov_b32 v7, 4
  global_store_dwordx4 v3, v[4:7], s[6:7]
  v_mov_b32 v7, 0 // FINDS: store-data
  s_endpgm

// RUN: wide_store_good -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:256
// TARGETS: gfx9*
// KERNEL: wide_store_good in out
wide_store_good:
  begin
  v_lshlrev_b32 v3, 4, v0
  v_mov_b32 v4, 1
  v_mov_b32 v5, 2
  v_mov_b32 v6, 3
  v_mov_b32 v7, 4
  global_store_dwordx4 v3, v[4:7], s[6:7]
  s_nop 1
  v_mov_b32 v7, 0
  s_endpgm

// VCC behind a comparison, for v_div_fmas: four wait states.
// RUN: division -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64
// TARGETS: gfx9*
// KERNEL: division in out
division:
  begin
  v_mov_b32 v3, 1.0
  compare v3
  s_nop 2
  v_div_fmas_f32 v4, v3, v3, v3 // FINDS: vcc-div-fmas
  global_store_dword v2, v4, s[6:7]
  s_endpgm

// RUN: division_good -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64
// TARGETS: gfx9*
// KERNEL: division_good in out
division_good:
  begin
  v_mov_b32 v3, 1.0
  compare v3
  s_nop 3
  v_div_fmas_f32 v4, v3, v3, v3
  global_store_dword v2, v4, s[6:7]
  s_endpgm

// gfx11: the result of a transcendental instruction is read by the next vector instruction (LLVM,
// fixVALUTransUseHazard).
// RUN: transcendental -g 32 -b 32 --arg in=iota:u32:64 --arg out=zero:u32:64
// TARGETS: gfx1100
// KERNEL: transcendental in out
transcendental:
  begin
  v_mov_b32 v3, 2.0
  v_rcp_f32 v4, v3
  v_mul_f32 v5, v4, v3 // FINDS: trans-use
  global_store_dword v2, v5, s[6:7]
  s_endpgm

// RUN: transcendental_good -g 32 -b 32 --arg in=iota:u32:64 --arg out=zero:u32:64
// TARGETS: gfx1100
// KERNEL: transcendental_good in out
transcendental_good:
  begin
  v_mov_b32 v3, 2.0
  v_rcp_f32 v4, v3
.if .amdgcn.gfx_generation_number >= 10
  s_waitcnt_depctr 0xfff
.endif
  v_mul_f32 v5, v4, v3
  global_store_dword v2, v5, s[6:7]
  s_endpgm

// gfx11.0: the lower half of a 64-bit multiply-add overwrites the upper half of the addend, or a factor (LLVM,
// FeatureMADIntraFwdBug: "ensure vdst and src2 do not partially overlap").
.macro multiply_add result, factor, addend
.if .amdgcn.gfx_generation_number == 11
  v_mad_u64_u32 \result, null, \factor, v2, \addend
.endif
.endm

// RUN: addend -g 32 -b 32 --arg in=iota:u32:64 --arg out=zero:u32:64
// TARGETS: gfx1100
// KERNEL: addend in out
addend:
  begin
  v_mov_b32 v4, 1
  v_mov_b32 v5, 0
  multiply_add v[5:6], v2, v[4:5]
  global_store_dword v2, v6, s[6:7] // FINDS: mad-overlap
  s_endpgm

// RUN: factor -g 32 -b 32 --arg in=iota:u32:64 --arg out=zero:u32:64
// TARGETS: gfx1100
// KERNEL: factor in out
factor:
  begin
  v_mov_b32 v4, 1
  v_mov_b32 v5, 0
  v_mov_b32 v6, v0
  multiply_add v[6:7], v6, v[4:5]
  global_store_dword v2, v7, s[6:7] // FINDS: mad-overlap
  s_endpgm

// The upper half is not used, as where clang adds 32 bits; and the addend may be the result.
// RUN: addend_good -g 32 -b 32 --arg in=iota:u32:64 --arg out=zero:u32:64
// TARGETS: gfx1100
// KERNEL: addend_good in out
addend_good:
  begin
  v_mov_b32 v4, 1
  v_mov_b32 v5, 0
  multiply_add v[4:5], v2, v[4:5]
  global_store_dword v2, v5, s[6:7]
  multiply_add v[5:6], v2, v[4:5]
  v_mov_b32 v6, 0
  v_add_f32 v7, v6, v5
  global_store_dword v2, v7, s[6:7]
  s_endpgm

// gfx11: the wave has deallocated its VGPRs, which other waves may have by now.
// RUN: deallocated -g 32 -b 32 --arg in=iota:u32:64 --arg out=zero:u32:64
// TARGETS: gfx1100 gfx1200
// KERNEL: deallocated in out
deallocated:
  begin
.if .amdgcn.gfx_generation_number >= 11
  s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)
.endif
  global_store_dword v2, v0, s[6:7] // FINDS: vgpr-after-dealloc
  s_endpgm

// RUN: deallocated_good -g 32 -b 32 --arg in=iota:u32:64 --arg out=zero:u32:64
// TARGETS: gfx1100 gfx1200
// KERNEL: deallocated_good in out
deallocated_good:
  begin
  global_store_dword v2, v0, s[6:7]
.if .amdgcn.gfx_generation_number >= 11
  s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)
.endif
  s_endpgm
