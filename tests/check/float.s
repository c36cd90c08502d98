// SPDX-License-Identifier: MIT
// Floating-point exceptions, one kernel for each kind of operand, and values that do not arise, or that no store takes.
// Sources: IEEE 754-2019, 7; Vega ISA, V_CVT_I32_F32 and V_DIV_FIXUP_F32.

.include "waits.inc"

.if .amdgcn.gfx_generation_number == 9 && (.amdgcn.gfx_generation_stepping == 10 || .amdgcn.gfx_generation_minor == 4)
.set HAS_PAIRS, 1
.else
.set HAS_PAIRS, 0
.endif

.if .amdgcn.gfx_generation_number == 9 && .amdgcn.gfx_generation_minor == 0 && .amdgcn.gfx_generation_stepping == 0
.set HAS_EXPORTS, 1
.elseif .amdgcn.gfx_generation_number == 10
.set HAS_EXPORTS, 1
.endif

// v2 = 4 * work-item, s[4:5] = out
.macro begin
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32 v2, 2, v0
  wait_scalar
.endm

.macro finish value
  global_store_dword v2, \value, s[4:5]
  s_endpgm
.endm

// ---- invalid operations ----

// inf - inf: the infinity is a constant, and did not arise.
// RUN: difference -g 64 -b 64 --arg out=zero:u32:64 --only float
// KERNEL: difference out
difference:
  begin
  v_mov_b32 v1, 0x7f800000
  v_sub_f32 v3, v1, v1 // FINDS: float-invalid
  finish v3

// RUN: difference_good -g 64 -b 64 --arg out=zero:u32:64 --only float
// KERNEL: difference_good out
difference_good:
  begin
  v_mov_b32 v1, 0x7f800000
  v_sub_f32 v3, v1, v2
  finish v3

// RUN: zero_times_infinity -g 64 -b 64 --arg out=zero:u32:64 --only float
// KERNEL: zero_times_infinity out
zero_times_infinity:
  begin
  v_mov_b32 v1, 0x7f800000
  v_mov_b32 v3, 0
  v_mul_f32 v3, v1, v3 // FINDS: float-invalid
  v_add_f32 v3, 1.0, v3
  v_max_f32 v4, v3, v3
  finish v4

// RUN: root -g 64 -b 64 --arg out=zero:u32:64 --only float
// KERNEL: root out
root:
  begin
  v_sqrt_f32 v1, -1.0 // FINDS: float-invalid
  finish v1

// A NaN that is there already only propagates.
// RUN: propagated_good -g 64 -b 64 --arg out=zero:u32:64 --only float
// KERNEL: propagated_good out
propagated_good:
  begin
  v_mov_b32 v1, 0x7fc00000
  v_add_f32 v1, 1.0, v1
  v_fma_f32 v1, v1, v1, 1.0
  finish v1

// ---- division by zero ----

// RUN: reciprocal -g 64 -b 64 --arg out=zero:u32:64 --only float
// KERNEL: reciprocal out
reciprocal:
  begin
  v_cvt_f32_u32 v1, v0
  v_rcp_f32 v1, v1 // FINDS: float-division-by-zero
  finish v1

// RUN: reciprocal_good -g 64 -b 64 --arg out=zero:u32:64 --only float
// KERNEL: reciprocal_good out
reciprocal_good:
  begin
  v_cvt_f32_u32 v1, v0
  v_add_f32 v1, 1.0, v1
  v_rcp_f32 v1, v1
  finish v1

// RUN: logarithm -g 64 -b 64 --arg out=zero:u32:64 --only float
// KERNEL: logarithm out
logarithm:
  begin
  v_cvt_f32_u32 v1, v0
  v_log_f32 v1, v1 // FINDS: float-division-by-zero
  v_xor_b32 v1, 0x80000000, v1
  finish v1

// RUN: double -g 64 -b 64 --arg out=zero:u32:128 --only float
// KERNEL: double out
double:
  begin
  v_lshlrev_b32 v2, 3, v0
  v_cvt_f64_u32 v[6:7], v0
  v_rcp_f64 v[4:5], v[6:7] // FINDS: float-division-by-zero
  global_store_dwordx2 v2, v[4:5], s[4:5]
  s_endpgm

// ---- overflow ----

// RUN: product_f16 -g 64 -b 64 --arg out=zero:u32:64 --only float
// KERNEL: product_f16 out
product_f16:
  begin
  v_mov_b32 v1, 0x7bff
  v_mul_f16 v1, v1, v1 // FINDS: float-overflow
  finish v1

// RUN: product_f16_good -g 64 -b 64 --arg out=zero:u32:64 --only float
// KERNEL: product_f16_good out
product_f16_good:
  begin
  v_mov_b32 v1, 0x5b00 // 224
  v_mul_f16 v1, v1, v1
  finish v1

// The high half alone.
// RUN: packed_f16 -g 64 -b 64 --arg out=zero:u32:64 --only float
// KERNEL: packed_f16 out
packed_f16:
  begin
  v_mov_b32 v1, 0x7bff0000
  v_pk_add_f16 v1, v1, v1 // FINDS: float-overflow
  finish v1

// RUN: packed_f16_good -g 64 -b 64 --arg out=zero:u32:64 --only float
// KERNEL: packed_f16_good out
packed_f16_good:
  begin
  v_mov_b32 v1, 0x7bff0000
  v_pk_add_f16 v1, v1, v1 op_sel:[0,0] op_sel_hi:[0,1]
  finish v1

// RUN: sum_f64 -g 64 -b 64 --arg out=zero:u32:128 --only float
// KERNEL: sum_f64 out
sum_f64:
  begin
  v_lshlrev_b32 v2, 3, v0
  v_mov_b32 v6, -1
  v_mov_b32 v7, 0x7fefffff
  v_add_f64 v[4:5], v[6:7], v[6:7] // FINDS: float-overflow
  v_mul_f64 v[4:5], v[4:5], 2.0
  global_store_dwordx2 v2, v[4:5], s[4:5]
  s_endpgm

// RUN: pair -g 64 -b 64 --arg out=zero:u32:128 --only float
// TARGETS: gfx90a gfx942
// KERNEL: pair out
pair:
  begin
  v_lshlrev_b32 v2, 3, v0
  v_mov_b32 v6, 1.0
  v_mov_b32 v7, 0x7f000000
.if HAS_PAIRS
  v_pk_add_f32 v[4:5], v[6:7], v[6:7] // FINDS gfx90a gfx942: float-overflow
.endif
  global_store_dwordx2 v2, v[4:5], s[4:5]
  s_endpgm

// ---- conversions ----

// RUN: too_large -g 64 -b 64 --arg out=zero:u32:64 --only float
// KERNEL: too_large out
too_large:
  begin
  v_cvt_i32_f32 v1, 0x4f000000 // FINDS: float-conversion
  finish v1

// RUN: too_large_good -g 64 -b 64 --arg out=zero:u32:64 --only float
// KERNEL: too_large_good out
too_large_good:
  begin
  v_cvt_u32_f32 v1, 0x4f000000
  finish v1

// RUN: negative -g 64 -b 64 --arg out=zero:u32:64 --only float
// KERNEL: negative out
negative:
  begin
  v_cvt_u32_f32 v1, -1.0 // FINDS: float-conversion
  v_add_u32_e32 v3, v1, v0
  finish v3

// The fraction is cut off before.
// RUN: negative_good -g 64 -b 64 --arg out=zero:u32:64 --only float
// KERNEL: negative_good out
negative_good:
  begin
  v_cvt_u32_f32 v1, -0.5
  finish v1

// RUN: of_nan -g 64 -b 64 --arg out=zero:u32:64 --only float
// KERNEL: of_nan out
of_nan:
  begin
  v_cvt_i32_f32 v1, 0x7fc00000 // FINDS: float-conversion
  finish v1

// The integer comes from the division, which is the cause.
// RUN: of_quotient -g 64 -b 64 --arg out=zero:u32:64 --only float
// KERNEL: of_quotient out
of_quotient:
  begin
  v_cvt_f32_u32 v1, v0
  v_rcp_f32 v1, v1 // FINDS: float-division-by-zero
  v_cvt_i32_f32 v1, v1
  finish v1

// RUN: narrow -g 64 -b 64 --arg out=zero:u32:64 --only float
// KERNEL: narrow out
narrow:
  begin
  v_cvt_f16_f32 v1, 0x49742400 // FINDS: float-conversion
  finish v1

// fp8 of gfx942 has numbers up to 240, that of gfx1200 up to 448, and neither an infinity.
.if .amdgcn.gfx_generation_number == 12 || (.amdgcn.gfx_generation_number == 9 && .amdgcn.gfx_generation_minor == 4)
.set HAS_FP8, 1
.else
.set HAS_FP8, 0
.endif

// RUN: narrow_fp8 -g 64 -b 64 --arg out=zero:u32:64 --only float
// TARGETS: gfx942 gfx1200
// KERNEL: narrow_fp8 out
narrow_fp8:
  begin
  v_mov_b32 v1, 0x43fa0000 // 500
  v_mov_b32 v3, 0x43480000 // 200
.if HAS_FP8
  v_cvt_pk_fp8_f32 v3, v3, v1 // FINDS gfx942 gfx1200: float-conversion
.endif
  finish v3

// RUN: narrow_fp8_good -g 64 -b 64 --arg out=zero:u32:64 --only float
// TARGETS: gfx942 gfx1200
// KERNEL: narrow_fp8_good out
narrow_fp8_good:
  begin
  v_mov_b32 v1, 0x43480000 // 200
  v_mov_b32 v3, -1.0
.if HAS_FP8
  v_cvt_pk_fp8_f32 v3, v3, v1
.endif
  finish v3

// A NaN that is no number before the conversion.
// RUN: narrow_nan_good -g 64 -b 64 --arg out=zero:u32:64 --only float
// TARGETS: gfx942 gfx1200
// KERNEL: narrow_nan_good out
narrow_nan_good:
  begin
  v_mov_b32 v1, 0x7fc00000
.if HAS_FP8
  v_cvt_pk_fp8_f32 v3, v1, v1
.endif
  finish v3

// RUN: narrow_bf8 -g 64 -b 64 --arg out=zero:u32:64 --only float
// TARGETS: gfx942 gfx1200
// KERNEL: narrow_bf8 out
narrow_bf8:
  begin
  v_mov_b32 v1, 0x49742400 // 1e6; the largest number is 57344
  v_mov_b32 v3, 0
.if HAS_FP8
  v_cvt_sr_bf8_f32 v3, v1, v3 // FINDS gfx942 gfx1200: float-conversion
.endif
  finish v3

// What became a NaN before a product of matrices of fp8 reaches the store behind it.
// RUN: matrix_fp8 -g 64 -b 64 --arg out=zero:u32:64 --only float
// TARGETS: gfx942
// KERNEL: matrix_fp8 out
matrix_fp8:
  begin
  v_mov_b32 v1, 0x43fa0000
  v_mov_b32 v8, 0
  v_mov_b32 v9, 0
.if HAS_FP8 && .amdgcn.gfx_generation_number == 9
  v_cvt_pk_fp8_f32 v8, v1, v1 // FINDS gfx942: float-conversion
  s_nop 1
  v_mfma_f32_16x16x32_fp8_fp8 v[4:7], v[8:9], v[8:9], 0
  s_nop 7
  s_nop 7
.endif
  finish v4

// NaNs of others propagate.
// RUN: matrix_fp8_good -g 64 -b 64 --arg out=zero:u32:64 --only float
// TARGETS: gfx942
// KERNEL: matrix_fp8_good out
matrix_fp8_good:
  begin
  v_mov_b32 v8, 0x80808080
  v_mov_b32 v9, 0x80808080
.if HAS_FP8 && .amdgcn.gfx_generation_number == 9
  v_mfma_f32_16x16x32_fp8_fp8 v[4:7], v[8:9], v[8:9], 0
  s_nop 7
  s_nop 7
.endif
  finish v4

// ---- what is not stored ----

// RUN: overwritten_good -g 64 -b 64 --arg out=zero:u32:64 --only float
// KERNEL: overwritten_good out
overwritten_good:
  begin
  v_mov_b32 v1, 0
  v_rcp_f32 v1, v1
  v_mov_b32 v1, 0
  finish v1

// RUN: selected_good -g 64 -b 64 --arg out=zero:u32:64 --only float
// KERNEL: selected_good out
selected_good:
  begin
  v_cvt_f32_u32 v1, v0
  v_rcp_f32 v3, v1
  v_mov_b32 v4, 1.0
.if .amdgcn.gfx_generation_number >= 10
  v_cmp_eq_u32 vcc_lo, 0, v0
  v_cndmask_b32 v3, v3, v4, vcc_lo
.else
  v_cmp_eq_u32 vcc, 0, v0
  v_cndmask_b32 v3, v3, v4, vcc
.endif
  finish v3

// 1 / (1 + inf) is 0.
// RUN: logistic_good -g 64 -b 64 --arg out=zero:u32:64 --only float
// KERNEL: logistic_good out
logistic_good:
  begin
  v_mov_b32 v1, 0x43800000
  v_exp_f32 v1, v1
  v_add_f32 v1, 1.0, v1
  v_rcp_f32 v1, v1
  finish v1

// Only lane 0 divides by zero, and it does not store.
// RUN: inactive_good -g 64 -b 64 --arg out=zero:u32:64 --only float
// KERNEL: inactive_good out
inactive_good:
  begin
  v_cvt_f32_u32 v1, v0
  v_rcp_f32 v1, v1
.if .amdgcn.gfx_generation_number >= 10
  s_bitset0_b32 exec_lo, 0
.else
  s_bitset0_b64 exec, 0
.endif
  finish v1

// ---- other encodings ----

// Every lane reads a finite number of another one.
// RUN: other_lanes -g 64 -b 64 --arg out=zero:u32:64 --only float
// KERNEL: other_lanes out
other_lanes:
  begin
  v_mov_b32 v1, 0x7f7fffff
  v_add_f32_dpp v3, v1, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf // FINDS: float-overflow
  finish v3

// The infinity is a neighbour's.
// RUN: other_lanes_good -g 64 -b 64 --arg out=zero:u32:64 --only float
// KERNEL: other_lanes_good out
other_lanes_good:
  begin
  v_mov_b32 v1, 0x7f800000
  v_mov_b32 v4, 1.0
  v_add_f32_dpp v3, v1, v4 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf
  finish v3

// Lanes that DPP disables keep their old value.
// RUN: kept_good -g 64 -b 64 --arg out=zero:u32:64 --only float
// KERNEL: kept_good out
kept_good:
  begin
  v_mov_b32 v3, 0x7f800000
  v_mov_b32 v4, 1.0
  v_add_f32_dpp v3, v4, v4 quad_perm:[0,1,2,3] row_mask:0x0 bank_mask:0xf
  finish v3

// A scalar register carries the value to all lanes.
// RUN: first_lane -g 64 -b 64 --arg out=zero:u32:64 --only float
// KERNEL: first_lane out
first_lane:
  begin
  v_cvt_f32_u32 v1, v0
  v_rcp_f32 v1, v1 // FINDS: float-division-by-zero
  v_readfirstlane_b32 s8, v1
  v_mov_b32 v3, s8
  finish v3

// Of the finite last lane.
// RUN: last_lane_good -g 64 -b 64 --arg out=zero:u32:64 --only float
// KERNEL: last_lane_good out
last_lane_good:
  begin
  v_cvt_f32_u32 v1, v0
  v_rcp_f32 v1, v1
  v_readlane_b32 s8, v1, 31
  v_mov_b32 v3, s8
  finish v3

// The high half of an operand is out of range, the low one is not.
// RUN: high_half -g 64 -b 64 --arg out=zero:u32:64 --only float
// TARGETS: gfx900
// KERNEL: high_half out
high_half:
  begin
  v_mov_b32 v1, 0x7bff3c00
.if .amdgcn.gfx_generation_number == 9 && .amdgcn.gfx_generation_minor == 0 && .amdgcn.gfx_generation_stepping == 0
  v_mul_f16_sdwa v3, v1, v1 dst_sel:DWORD src0_sel:WORD_1 src1_sel:WORD_1 // FINDS gfx900: float-overflow
.endif
  finish v3

// RUN: mixed -g 64 -b 64 --arg out=zero:u32:64 --only float
// TARGETS: gfx90a gfx942 gfx1030 gfx1100 gfx1200
// KERNEL: mixed out
mixed:
  begin
  v_mov_b32 v1, 0x7bff0000
  v_mov_b32 v4, 2.0
  v_mov_b32 v3, 0
.if .amdgcn.gfx_generation_number != 9 || .amdgcn.gfx_generation_minor != 0 || .amdgcn.gfx_generation_stepping != 0
  v_fma_mixlo_f16 v3, v1, v4, 0 op_sel:[1,0,0] op_sel_hi:[1,0,0] // FINDS gfx90a gfx942 gfx1*: float-overflow
.endif
  finish v3

// Both halves read their operands before either writes, so the second one's are finite.
// RUN: dual -g 64 -b 64 --arg out=zero:u32:64 --only float
// TARGETS: gfx1100 gfx1200
// KERNEL: dual out
dual:
  begin
  v_mov_b32 v1, 0x7f7fffff
  v_mov_b32 v4, 1.0
.if .amdgcn.gfx_generation_number >= 11
  v_dual_mul_f32 v3, v1, v1 :: v_dual_add_f32 v6, v4, v4 // FINDS gfx1100 gfx1200: float-overflow
.endif
  finish v3

// RUN: dual_good -g 64 -b 64 --arg out=zero:u32:64 --only float
// TARGETS: gfx1100 gfx1200
// KERNEL: dual_good out
dual_good:
  begin
  v_mov_b32 v1, 0x7f7fffff
  v_mov_b32 v4, 1.0
.if .amdgcn.gfx_generation_number >= 11
  v_dual_mul_f32 v3, v1, v1 :: v_dual_add_f32 v6, v4, v4
.endif
  finish v6

// RUN: scalar -g 64 -b 64 --arg out=zero:u32:64 --only float
// TARGETS: gfx1200
// KERNEL: scalar out
scalar:
  begin
  s_mov_b32 s8, 0x7f7fffff
.if .amdgcn.gfx_generation_number >= 12
  s_mul_f32 s8, s8, s8 // FINDS gfx1200: float-overflow
.endif
  v_mov_b32 v3, s8
  finish v3

// RUN: exported -g 64 -b 64 --arg out=zero:u32:64 --only float
// TARGETS: gfx900 gfx1030
// KERNEL: exported out
exported:
  begin
  v_mov_b32 v1, 0x7f7fffff
  v_mul_f32 v3, v1, v1 // FINDS gfx900 gfx1030: float-overflow
.ifdef HAS_EXPORTS
  exp mrt0 v0, v0, v0, v3 done vm
.endif
  s_endpgm

// ---- matrices and dot products ----

// RUN: dot -g 64 -b 64 --arg out=zero:u32:64 --only float
// TARGETS: gfx1100 gfx1200
// KERNEL: dot out
dot:
  begin
  v_mov_b32 v1, 0x5c005c00 // 256
  v_mov_b32 v3, 0
.if .amdgcn.gfx_generation_number >= 11
  v_dot2_f16_f16 v3, v1, v1, v3 // FINDS gfx1100 gfx1200: float-overflow
.endif
  finish v3

// RUN: matrix -g 64 -b 64 --arg out=zero:u32:64 --only float
// TARGETS: gfx90a gfx942
// KERNEL: matrix out
matrix:
  begin
  v_mov_b32 v1, 0x7f7fffff
.if HAS_PAIRS
  v_mfma_f32_4x4x1f32 v[4:7], v1, v1, 0 // FINDS gfx90a gfx942: float-overflow
  s_nop 7
  s_nop 7
.endif
  finish v6

// RUN: matrix_good -g 64 -b 64 --arg out=zero:u32:64 --only float
// TARGETS: gfx90a gfx942
// KERNEL: matrix_good out
matrix_good:
  begin
  v_mov_b32 v1, 0x7f800000
.if HAS_PAIRS
  v_mfma_f32_4x4x1f32 v[4:7], v1, v1, 0
  s_nop 7
  s_nop 7
.endif
  finish v6

// RUN: matrix_bf16 -g 64 -b 64 --arg out=zero:u32:64 --only float
// TARGETS: gfx1100
// KERNEL: matrix_bf16 out
matrix_bf16:
  begin
.set reg, 16
.rept 16
  v_mov_b32 v[reg], 0x7f7f7f7f
.set reg, reg + 1
.endr
.if .amdgcn.gfx_generation_number == 11
  v_wmma_f32_16x16x16_bf16 v[4:11], v[16:23], v[24:31], 0 // FINDS gfx1100: float-overflow
.endif
  finish v6
