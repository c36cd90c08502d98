// SPDX-License-Identifier: MIT
// Waits that nobody needs, and waits that somebody does.

.include "waits.inc"

// v2 = 4 * work-item, s[4:5] = in, s[6:7] = out
.macro begin
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v2, 2, v0
  wait_scalar
.endm

// Two loads could be on their way at the same time.
// RUN: in_turn -g 64 -b 64 --arg in=iota:u32:128 --arg out=zero:u32:64 --only wait --needless
// KERNEL: in_turn in out
in_turn:
  begin
  global_load_dword v1, v2, s[4:5]
  wait_loads // FINDS: needless-wait
  global_load_dword v3, v2, s[4:5] offset:256
  wait_loads
  v_add_u32 v1, v1, v3
  global_store_dword v2, v1, s[6:7]
  s_endpgm

// RUN: in_turn_good -g 64 -b 64 --arg in=iota:u32:128 --arg out=zero:u32:64 --only wait --needless
// KERNEL: in_turn_good in out
in_turn_good:
  begin
  global_load_dword v1, v2, s[4:5]
  global_load_dword v3, v2, s[4:5] offset:256
  wait_loads
  v_add_u32 v1, v1, v3
  global_store_dword v2, v1, s[6:7]
  s_endpgm

// Nothing is on its way.
// RUN: twice -g 64 -b 64 --arg in=iota:u32:128 --arg out=zero:u32:64 --only wait --needless
// KERNEL: twice in out
twice:
  begin
  global_load_dword v1, v2, s[4:5]
  wait_loads
  v_add_u32 v1, 1, v1
  wait_loads // FINDS: needless-wait
  v_add_u32 v1, 1, v1
  global_store_dword v2, v1, s[6:7]
  s_endpgm

// The wait is needed in one execution of two.
// RUN: twice_good -g 64 -b 64 --arg in=iota:u32:128 --arg out=zero:u32:64 --only wait --needless
// KERNEL: twice_good in out
twice_good:
  begin
  s_mov_b32 s8, 2
  v_mov_b32 v1, 0
.Ltwice_good:
  wait_loads
  v_add_u32 v1, 1, v1
  global_load_dword v1, v2, s[4:5]
  s_sub_u32 s8, s8, 1
  s_cmp_lg_u32 s8, 0
  s_cbranch_scc1 .Ltwice_good
  wait_loads
  global_store_dword v2, v1, s[6:7]
  s_endpgm

// An acquiring load: what follows may rely on the order.
// RUN: order_good -g 64 -b 64 --arg in=iota:u32:128 --arg out=zero:u32:64 --only wait --needless
// KERNEL: order_good in out lds=256
order_good:
  begin
  s_mov_b32 m0, -1
  ds_write_b32 v2, v0
  wait_lds
  barrier
  ds_read_b32 v1, v2
  wait_lds
  barrier
  ds_write_b32 v2, v0
  wait_lds
  global_store_dword v2, v1, s[6:7]
  s_endpgm
