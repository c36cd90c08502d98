// SPDX-License-Identifier: MIT
// Sums of floats by atomics, which depend on the order of the additions, and sums that do not.

.include "waits.inc"

// v1 = 2^24 in workgroup 0, which absorbs a 1 that is added to it, and not those that are added before; otherwise 1.
.macro atomic_umax address, data, base
.if .amdgcn.gfx_generation_number >= 11
  global_atomic_max_u32 \address, \data, \base
.else
  global_atomic_umax \address, \data, \base
.endif
.endm

.macro begin
  workgroup
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  wait_scalar
  v_mov_b32 v2, 0
  v_mov_b32 v1, 1.0
  s_cmp_eq_u32 s8, 0
  s_cselect_b32 s9, 0x4b800000, 1.0
  v_mov_b32 v1, s9
.endm

// RUN: float_sum -g 256 -b 64 --arg out=zero:u32:1 --only portability --shuffle 1,2
// KERNEL: float_sum out
// TARGETS: gfx90a gfx942 gfx1100
float_sum:
  begin
  s_mov_b64 exec, 1
  global_atomic_add_f32 v2, v1, s[4:5] // FINDS: order-dependent-sum
  s_endpgm

// A maximum does not depend on the order.
// RUN: greatest_good -g 256 -b 64 --arg out=zero:u32:1 --only portability --shuffle 1,2
// KERNEL: greatest_good out
// TARGETS: gfx90a gfx942 gfx1100
greatest_good:
  begin
  s_mov_b64 exec, 1
  atomic_umax v2, v1, s[4:5]
  s_endpgm

// Sums that are exact are the same in each order.
// RUN: exact_sum_good -g 256 -b 64 --arg out=zero:u32:1 --only portability --shuffle 1,2
// KERNEL: exact_sum_good out
// TARGETS: gfx90a gfx942 gfx1100
exact_sum_good:
  begin
  v_mov_b32 v1, 1.0
  s_mov_b64 exec, 1
  global_atomic_add_f32 v2, v1, s[4:5]
  s_endpgm
