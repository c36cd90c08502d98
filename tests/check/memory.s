// SPDX-License-Identifier: MIT
// Memory errors of instructions that compilers hardly emit where they can go wrong: descriptors, two places of one
// instruction.

.include "waits.inc"

// v2 = 4 * work-item, s[4:5] = in, s[6:7] = out
.macro begin
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v2, 2, v0
  wait_scalar
.endm

// s[8:11] = a V# of `in`. select: OOB_SELECT, from gfx10 on
.macro resource stride, records, select
  s_mov_b32 s8, s4
  s_and_b32 s9, s5, 0xffff
  s_or_b32 s9, s9, \stride << 16
  s_mov_b32 s10, \records
.if .amdgcn.gfx_generation_number >= 10
  s_mov_b32 s11, 0x01016fac | \select << 28
.else
  s_mov_b32 s11, 0x00024fac
.endif
.endm

.macro load_buffer value, address, kind
.if .amdgcn.gfx_generation_number >= 12
  buffer_load_b32 \value, \address, s[8:11], null \kind
.else
  buffer_load_dword \value, \address, s[8:11], 0 \kind
.endif
.endm

.macro store_out value
  wait_loads
  global_store_dword v2, \value, s[6:7]
  s_endpgm
.endm

// RUN: scalar_behind -g 64 -b 64 --arg in=iota:u32:4 --arg out=zero:u32:64
// KERNEL: scalar_behind in out
scalar_behind:
  begin
  s_load_dwordx4 s[8:11], s[4:5], 0x8 // FINDS: out-of-bounds
  wait_scalar
  v_mov_b32 v1, s11
  store_out v1

// RUN: scalar_behind_good -g 64 -b 64 --arg in=iota:u32:4 --arg out=zero:u32:64
// KERNEL: scalar_behind_good in out
scalar_behind_good:
  begin
  s_load_dwordx4 s[8:11], s[4:5], 0x0
  wait_scalar
  v_mov_b32 v1, s11
  store_out v1

// A V# of 4 records of 16 bytes, and 64 lanes.
// RUN: index_dropped -g 64 -b 64 --arg in=iota:u32:16 --arg out=zero:u32:64
// KERNEL: index_dropped in out
index_dropped:
  begin
  resource 16, 4, 0
  load_buffer v1, v0, idxen // FINDS: buffer-dropped
  store_out v1

// RUN: index_dropped_good -g 64 -b 64 --arg in=iota:u32:16 --arg out=zero:u32:64
// KERNEL: index_dropped_good in out
index_dropped_good:
  begin
  resource 16, 4, 0
  v_and_b32 v3, 3, v0
  load_buffer v1, v3, idxen
  store_out v1

// A V# of 128 bytes.
// RUN: offset_dropped -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64
// KERNEL: offset_dropped in out
offset_dropped:
  begin
  resource 0, 128, 3
  load_buffer v1, v2, offen // FINDS: buffer-dropped
  store_out v1

// RUN: offset_dropped_good -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64
// KERNEL: offset_dropped_good in out
offset_dropped_good:
  begin
  resource 0, 256, 3
  load_buffer v1, v2, offen
  store_out v1

// In range of the V#, but not of the allocation.
// RUN: descriptor_too_large -g 64 -b 64 --arg in=iota:u32:63 --arg out=zero:u32:64
// KERNEL: descriptor_too_large in out
descriptor_too_large:
  begin
  resource 0, 256, 3
  load_buffer v1, v2, offen // FINDS: out-of-bounds
  store_out v1

// RUN: descriptor_too_large_good -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64
// KERNEL: descriptor_too_large_good in out
descriptor_too_large_good:
  begin
  resource 0, 256, 3
  load_buffer v1, v2, offen
  store_out v1

// RUN: scalar_dropped -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64
// KERNEL: scalar_dropped in out
scalar_dropped:
  begin
  resource 0, 128, 3
  s_buffer_load_dwordx4 s[12:15], s[8:11], 0x78 // FINDS: buffer-dropped
  wait_scalar
  v_mov_b32 v1, s15
  store_out v1

// RUN: scalar_dropped_good -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64
// KERNEL: scalar_dropped_good in out
scalar_dropped_good:
  begin
  resource 0, 128, 3
  s_buffer_load_dwordx4 s[12:15], s[8:11], 0x70
  wait_scalar
  v_mov_b32 v1, s15
  store_out v1

// The second place of the instruction is behind LDS.
// RUN: second_place -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64
// KERNEL: second_place in out lds=256
second_place:
  begin
  ds_write_b32 v2, v0
  wait_lds
  ds_read2_b32 v[4:5], v2 offset1:64 // FINDS: lds-out-of-bounds
  wait_lds
  store_out v4

// RUN: second_place_good -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64
// KERNEL: second_place_good in out lds=256
second_place_good:
  begin
  ds_write_b32 v2, v0
  wait_lds
  ds_read2_b32 v[4:5], v2 offset1:0
  wait_lds
  store_out v4

// Wide elements, of which a quarter fits.
// RUN: wide_in_lds -g 32 -b 32 --arg in=iota:u32:64 --arg out=zero:u32:64
// KERNEL: wide_in_lds in out lds=128
wide_in_lds:
  begin
  ds_write_b32 v2, v0
  wait_lds
  v_lshlrev_b32 v3, 4, v0
  ds_read_b128 v[4:7], v3 // FINDS: lds-out-of-bounds
  wait_lds
  store_out v7

// RUN: wide_in_lds_good -g 32 -b 32 --arg in=iota:u32:64 --arg out=zero:u32:64
// KERNEL: wide_in_lds_good in out lds=128
wide_in_lds_good:
  begin
  ds_write_b32 v2, v0
  wait_lds
  v_lshlrev_b32 v3, 4, v0
  v_and_b32 v3, 0x70, v3
  ds_read_b128 v[4:7], v3
  wait_lds
  store_out v7

// Eight bytes must be aligned to eight.
// RUN: misaligned_pair -g 64 -b 64 --arg in=iota:u32:66 --arg out=zero:u32:64
// KERNEL: misaligned_pair in out
misaligned_pair:
  begin
  v_mov_b32 v4, 1
  v_mov_b32 v5, 0
  v_lshlrev_b32 v3, 3, v0
  v_and_b32 v3, 0x78, v3
  v_or_b32 v3, 4, v3
  global_atomic_add_x2 v3, v[4:5], s[4:5] // FINDS: misaligned
  s_endpgm

// RUN: misaligned_pair_good -g 64 -b 64 --arg in=iota:u32:66 --arg out=zero:u32:64
// KERNEL: misaligned_pair_good in out
misaligned_pair_good:
  begin
  v_mov_b32 v4, 1
  v_mov_b32 v5, 0
  v_lshlrev_b32 v3, 3, v0
  v_and_b32 v3, 0x78, v3
  global_atomic_add_x2 v3, v[4:5], s[4:5]
  s_endpgm
