// SPDX-License-Identifier: MIT
// Registers that are used before the wait counters guarantee their data, and instructions that are too close together.
// Sources: LLVM AMDGPUUsage, "Memory Model"; Vega, CDNA3, RDNA3 and RDNA4 ISA, "Data Dependency Resolution".

.include "waits.inc"

// v2 = 4 * work-item, s[4:5] = in, s[6:7] = out
.macro begin
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v2, 2, v0
.endm

// RUN: load_used -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64
// KERNEL: load_used in out
load_used:
  begin
  wait_scalar
  global_load_dword v1, v2, s[4:5]
  v_mov_b32 v3, 5
  v_mul_u32_u24 v1, v1, v3 // FINDS: read-before-wait
  wait_loads 0
  global_store_dword v2, v1, s[6:7]
  s_endpgm

// RUN: load_used_good -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64
// KERNEL: load_used_good in out
load_used_good:
  begin
  wait_scalar
  global_load_dword v1, v2, s[4:5]
  v_mov_b32 v3, 5
  wait_loads 0
  v_mul_u32_u24 v1, v1, v3
  global_store_dword v2, v1, s[6:7]
  s_endpgm

// Of two loads, the second one may still be on its way.
// RUN: two_loads -g 64 -b 64 --arg in=iota:u32:128 --arg out=zero:u32:64
// KERNEL: two_loads in out
two_loads:
  begin
  wait_scalar
  global_load_dword v1, v2, s[4:5]
  global_load_dword v3, v2, s[4:5] offset:256
  wait_loads 1
  v_add_u32 v1, 1, v1
  global_store_dword v2, v3, s[6:7] // FINDS: read-before-wait
  s_endpgm

// RUN: two_loads_good -g 64 -b 64 --arg in=iota:u32:128 --arg out=zero:u32:64
// KERNEL: two_loads_good in out
two_loads_good:
  begin
  wait_scalar
  global_load_dword v1, v2, s[4:5]
  global_load_dword v3, v2, s[4:5] offset:256
  wait_loads 1
  v_add_u32 v1, 1, v1
  wait_loads 0
  global_store_dword v2, v3, s[6:7]
  s_endpgm

// The address of the arguments' buffers is not there yet.
// RUN: scalar_used -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64
// KERNEL: scalar_used in out
scalar_used:
  begin
  s_mov_b32 s8, s4 // FINDS: read-before-wait
  wait_scalar
  s_endpgm

// RUN: scalar_used_good -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64
// KERNEL: scalar_used_good in out
scalar_used_good:
  begin
  wait_scalar
  s_mov_b32 s8, s4
  s_endpgm

// RUN: lds_used -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64
// KERNEL: lds_used in out lds=256
lds_used:
  begin
  s_mov_b32 m0, -1
  wait_scalar
  ds_write_b32 v2, v0
  wait_lds
  ds_read_b32 v1, v2
  global_store_dword v2, v1, s[6:7] // FINDS: read-before-wait
  s_endpgm

// RUN: lds_used_good -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64
// KERNEL: lds_used_good in out lds=256
lds_used_good:
  begin
  s_mov_b32 m0, -1
  wait_scalar
  ds_write_b32 v2, v0
  wait_lds
  ds_read_b32 v1, v2
  wait_lds
  global_store_dword v2, v1, s[6:7]
  s_endpgm

// A load that has not arrived is overwritten; it may arrive later.
// RUN: overwritten -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64
// KERNEL: overwritten in out
overwritten:
  begin
  wait_scalar
  global_load_dword v1, v2, s[4:5]
  v_mov_b32 v1, 7 // FINDS: write-before-wait
  wait_loads 0
  global_store_dword v2, v1, s[6:7]
  s_endpgm

// RUN: overwritten_good -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64
// KERNEL: overwritten_good in out
overwritten_good:
  begin
  wait_scalar
  global_load_dword v1, v2, s[4:5]
  wait_loads 0
  v_mov_b32 v1, 7
  global_store_dword v2, v1, s[6:7]
  s_endpgm

// A vector instruction writes the SGPR that selects a lane: gfx9 needs four wait states. gfx942 also needs two between
// any vector instructions of which one writes an SGPR that the next one reads (LLVM, checkVALUHazards).
// RUN: lane_select -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64
// TARGETS: gfx9*
// KERNEL: lane_select in out
lane_select:
  v_readfirstlane_b32 s8, v0
  v_readlane_b32 s9, v0, s8 // FINDS: valu-lane-select; FINDS gfx942: valu-sgpr-valu
  s_endpgm

// RUN: lane_select_good -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64
// KERNEL: lane_select_good in out
lane_select_good:
  v_readfirstlane_b32 s8, v0
  s_nop 3
  v_readlane_b32 s9, v0, s8
  s_endpgm

// gfx11: a store to scratch memory is in flight when the wave deallocates its VGPRs, and its scratch memory with them (LLVM,
// SIInsertWaitcnts: the message is left out where such a store is pending).
// RUN: scratch_dealloc -g 32 -b 32 --arg in=iota:u32:64 --arg out=zero:u32:64
// TARGETS: gfx1100 gfx1200
// KERNEL: scratch_dealloc in out scratch=64
scratch_dealloc:
  begin
.if .amdgcn.gfx_generation_number >= 11
  scratch_store_b32 off, v0, off
  scratch_store_b32 off, v0, off offset:4
  s_sendmsg sendmsg(MSG_DEALLOC_VGPRS) // FINDS: scratch-store-before-dealloc
.endif
  s_endpgm

// RUN: scratch_dealloc_good -g 32 -b 32 --arg in=iota:u32:64 --arg out=zero:u32:64
// TARGETS: gfx1100 gfx1200
// KERNEL: scratch_dealloc_good in out scratch=64
scratch_dealloc_good:
  begin
.if .amdgcn.gfx_generation_number >= 11
  scratch_store_b32 off, v0, off
  scratch_store_b32 off, v0, off offset:4
  wait_stores
  wait_scalar
  global_store_dword v2, v0, s[6:7]
  s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)
.endif
  s_endpgm
