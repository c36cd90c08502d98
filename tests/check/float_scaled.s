// SPDX-License-Identifier: MIT
// Conversions of f32 to OCP's fp8, whose largest number is 448, after a division by a scale.
// Sources: CDNA 4 ISA, V_CVT_SCALEF32_PK_FP8_F32; IEEE 754-2019, 7.4.
// TARGETS: gfx950

// v2 = 4 * work-item, s[4:5] = out
.macro begin
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32 v2, 2, v0
  s_waitcnt lgkmcnt(0)
.endm

.macro finish value
  global_store_dword v2, \value, s[4:5]
  s_endpgm
.endm

// The upper half of the result, with a scale of 2.
// RUN: narrow_scaled -g 64 -b 64 --arg out=zero:u32:64 --only float
// KERNEL: narrow_scaled out
narrow_scaled:
  begin
  v_mov_b32 v1, 0x44480000 // 800
  v_mov_b32 v3, 0x447a0000 // 1000
  v_mov_b32 v4, 2.0
  v_mov_b32 v5, 0
  v_cvt_scalef32_pk_fp8_f32 v5, v1, v3, v4 op_sel:[0,0,0,1] // FINDS: float-conversion
  finish v5

// RUN: narrow_scaled_good -g 64 -b 64 --arg out=zero:u32:64 --only float
// KERNEL: narrow_scaled_good out
narrow_scaled_good:
  begin
  v_mov_b32 v1, 0x44480000 // 800
  v_mov_b32 v4, 2.0
  v_mov_b32 v5, 0
  v_cvt_scalef32_pk_fp8_f32 v5, v1, v1, v4 op_sel:[0,0,0,1]
  finish v5
