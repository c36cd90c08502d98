// SPDX-License-Identifier: MIT
// Waits that are there but do not suffice, and registers that are pending in other lanes.
// Sources: as in waits.s.

.include "waits.inc"

// v2 = 4 * work-item, s[4:5] = in, s[6:7] = out
.macro begin
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v2, 2, v0
  wait_scalar
.endm

.macro add_and_return before, address, value
.if .amdgcn.gfx_generation_number >= 12
  global_atomic_add_u32 \before, \address, \value, s[4:5] th:TH_ATOMIC_RETURN
.elseif .amdgcn.gfx_generation_number == 9 && .amdgcn.gfx_generation_minor == 4
  global_atomic_add \before, \address, \value, s[4:5] sc0
.else
  global_atomic_add \before, \address, \value, s[4:5] glc
.endif
.endm

.macro even_lanes to, from
.if .amdgcn.gfx_generation_number >= 10
  v_mov_b32_dpp \to, \from quad_perm:[0,0,2,2] row_mask:0xf bank_mask:0xf fi:1
.endif
.endm

// Scalar loads return out of order: a wait that leaves one guarantees nothing.
// RUN: scalar_order -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64
// KERNEL: scalar_order in out
scalar_order:
  begin
  s_load_dword s8, s[4:5], 0x0
  s_load_dword s9, s[4:5], 0x40
  wait_scalar 1
  s_add_u32 s10, s8, 1 // FINDS: read-before-wait
  wait_scalar
  s_endpgm

// RUN: scalar_order_good -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64
// KERNEL: scalar_order_good in out
scalar_order_good:
  begin
  s_load_dword s8, s[4:5], 0x0
  s_load_dword s9, s[4:5], 0x40
  wait_scalar 0
  s_add_u32 s10, s8, 1
  s_endpgm

// The wait is for the other memory.
// RUN: other_counter -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64
// KERNEL: other_counter in out lds=256
other_counter:
  begin
  s_mov_b32 m0, -1
  ds_write_b32 v2, v0
  wait_lds
  global_load_dword v3, v2, s[4:5]
  wait_lds
  ds_write_b32 v2, v3 // FINDS: read-before-wait
  wait_lds
  s_endpgm

// RUN: other_counter_good -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64
// KERNEL: other_counter_good in out lds=256
other_counter_good:
  begin
  s_mov_b32 m0, -1
  ds_write_b32 v2, v0
  wait_lds
  global_load_dword v3, v2, s[4:5]
  wait_loads
  ds_write_b32 v2, v3
  wait_lds
  s_endpgm

// One register of four.
// RUN: quarter -g 16 -b 16 --arg in=iota:u32:64 --arg out=zero:u32:64
// KERNEL: quarter in out
quarter:
  begin
  v_lshlrev_b32 v3, 4, v0
  global_load_dwordx4 v[4:7], v3, s[4:5]
  global_load_dword v8, v2, s[4:5]
  wait_loads 2
  v_mov_b32 v9, v7 // FINDS: read-before-wait
  wait_loads
  global_store_dword v2, v9, s[6:7]
  s_endpgm

// RUN: quarter_good -g 16 -b 16 --arg in=iota:u32:64 --arg out=zero:u32:64
// KERNEL: quarter_good in out
quarter_good:
  begin
  v_lshlrev_b32 v3, 4, v0
  global_load_dwordx4 v[4:7], v3, s[4:5]
  global_load_dword v8, v2, s[4:5]
  wait_loads 1
  v_mov_b32 v9, v7
  wait_loads
  global_store_dword v2, v9, s[6:7]
  s_endpgm

// The value that an atomic returns.
// RUN: returned -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64
// KERNEL: returned in out
returned:
  begin
  v_mov_b32 v3, 1
  add_and_return v4, v2, v3
  v_add_u32 v5, 1, v4 // FINDS: read-before-wait
  global_store_dword v2, v5, s[6:7]
  s_endpgm

// RUN: returned_good -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64
// KERNEL: returned_good in out
returned_good:
  begin
  v_mov_b32 v3, 1
  add_and_return v4, v2, v3
  wait_loads
  v_add_u32 v5, 1, v4
  global_store_dword v2, v5, s[6:7]
  s_endpgm

// An address that has not arrived.
// RUN: chain -g 64 -b 64 --arg in=zero:u32:64 --arg out=zero:u32:64
// KERNEL: chain in out
chain:
  begin
  global_load_dword v3, v2, s[4:5]
  global_load_dword v4, v3, s[4:5] // FINDS: read-before-wait
  wait_loads
  global_store_dword v2, v4, s[6:7]
  s_endpgm

// RUN: chain_good -g 64 -b 64 --arg in=zero:u32:64 --arg out=zero:u32:64
// KERNEL: chain_good in out
chain_good:
  begin
  global_load_dword v3, v2, s[4:5]
  wait_loads
  global_load_dword v4, v3, s[4:5]
  wait_loads
  global_store_dword v2, v4, s[6:7]
  s_endpgm

// The lower half of the lanes has loaded; in the upper half, nothing is on its way.
// RUN: other_lanes -g 32 -b 32 --arg in=iota:u32:64 --arg out=zero:u32:64
// KERNEL: other_lanes in out
other_lanes:
  begin
  s_mov_b32 exec_lo, 0x0000ffff
  global_load_dword v1, v2, s[4:5]
  s_mov_b32 exec_lo, 0x0001ffff
  v_add_u32 v3, 1, v1 // FINDS: read-before-wait
  wait_loads
  global_store_dword v2, v3, s[6:7]
  s_endpgm

// RUN: other_lanes_good -g 32 -b 32 --arg in=iota:u32:64 --arg out=zero:u32:64
// KERNEL: other_lanes_good in out
other_lanes_good:
  begin
  s_mov_b32 exec_lo, 0x0000ffff
  global_load_dword v1, v2, s[4:5]
  s_mov_b32 exec_lo, 0xffff0000
  v_mov_b32 v1, 7
  v_add_u32 v1, 1, v1
  s_mov_b32 exec_lo, -1
  wait_loads
  global_store_dword v2, v1, s[6:7]
  s_endpgm

// A second load for other lanes of the same register does not hide the first one.
// RUN: two_halves -g 32 -b 32 --arg in=iota:u32:64 --arg out=zero:u32:64
// KERNEL: two_halves in out
two_halves:
  begin
  s_mov_b32 exec_lo, 0x0000ffff
  global_load_dword v1, v2, s[4:5]
  s_mov_b32 exec_lo, 0xffff0000
  global_load_dword v1, v2, s[4:5]
  s_mov_b32 exec_lo, 0x000000ff
  v_add_u32 v3, 1, v1 // FINDS: read-before-wait
  wait_loads
  s_endpgm

// RUN: two_halves_good -g 32 -b 32 --arg in=iota:u32:64 --arg out=zero:u32:64
// KERNEL: two_halves_good in out
two_halves_good:
  begin
  s_mov_b32 exec_lo, 0x0000ffff
  global_load_dword v1, v2, s[4:5]
  s_mov_b32 exec_lo, 0xffff0000
  global_load_dword v1, v2, s[4:5]
  wait_loads
  s_mov_b32 exec_lo, -1
  v_add_u32 v3, 1, v1
  s_endpgm

// DPP reads a lane that is not active here.
// RUN: neighbour_lane -g 32 -b 32 --arg in=iota:u32:64 --arg out=zero:u32:64
// TARGETS: gfx1030 gfx1100
// KERNEL: neighbour_lane in out
neighbour_lane:
  begin
  s_mov_b32 exec_lo, 0x55555555
  global_load_dword v1, v2, s[4:5]
  s_mov_b32 exec_lo, 0xaaaaaaaa
  even_lanes v3, v1 // FINDS: read-before-wait
  wait_loads
  s_endpgm

// RUN: neighbour_lane_good -g 32 -b 32 --arg in=iota:u32:64 --arg out=zero:u32:64
// TARGETS: gfx1030 gfx1100
// KERNEL: neighbour_lane_good in out
neighbour_lane_good:
  begin
  s_mov_b32 exec_lo, 0x55555555
  global_load_dword v1, v2, s[4:5]
  s_mov_b32 exec_lo, 0xaaaaaaaa
  wait_loads
  even_lanes v3, v1
  s_endpgm
