// SPDX-License-Identifier: MIT
// Errors with the global data share, which other targets do not have.
// TARGETS: gfx900 gfx1030 gfx1100

// v2 = 4 * work-item, s[4:5] = in, s[6:7] = out
.macro begin
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v2, 2, v0
  s_waitcnt lgkmcnt(0)
.endm

// The region in M0 has 128 bytes at 64.
// RUN: behind_gds -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64
// KERNEL: behind_gds in out
behind_gds:
  begin
  s_mov_b32 m0, 64 << 16 | 128
  s_nop 4
  ds_write_b32 v2, v0 gds // FINDS: gds-out-of-bounds
  s_waitcnt lgkmcnt(0)
  s_endpgm

// RUN: behind_gds_good -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64
// KERNEL: behind_gds_good in out
behind_gds_good:
  begin
  s_mov_b32 m0, 64 << 16 | 256
  s_nop 4
  ds_write_b32 v2, v0 gds
  s_waitcnt lgkmcnt(0)
  s_endpgm

// A store to GDS holds its data until expcnt says that it was read.
// RUN: gds_data -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64
// KERNEL: gds_data in out
gds_data:
  begin
  s_mov_b32 m0, 0x1000
  s_nop 4
  ds_write_b32 v2, v0 gds
  v_mov_b32 v0, 0 // FINDS: store-data-before-wait
  s_waitcnt lgkmcnt(0)
  s_endpgm

// RUN: gds_data_good -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64
// KERNEL: gds_data_good in out
gds_data_good:
  begin
  s_mov_b32 m0, 0x1000
  s_nop 4
  ds_write_b32 v2, v0 gds
  s_waitcnt expcnt(0)
  v_mov_b32 v0, 0
  s_waitcnt lgkmcnt(0)
  s_endpgm
