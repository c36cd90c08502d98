// SPDX-License-Identifier: MIT
// Memory errors of private memory, of loads to LDS and of FLAT.
// Sources: Vega and RDNA 2 ISA, "Flat Instructions", "Buffer Loads To LDS".
// TARGETS: gfx900 gfx90a gfx942 gfx1030

.include "waits.inc"

// v2 = 4 * work-item, s[4:5] = in, s[6:7] = out
.macro begin
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v2, 2, v0
  wait_scalar
.endm

// s[8:11] = a V# of `in` with all bytes
.macro resource
  s_mov_b32 s8, s4
  s_and_b32 s9, s5, 0xffff
  s_mov_b32 s10, -1
.if .amdgcn.gfx_generation_number >= 10
  s_mov_b32 s11, 0x31016fac
.else
  s_mov_b32 s11, 0x00024fac
.endif
.endm

// v[4:5] = `from` + 4 * work-item, at most `most`
.macro address from_low, from_high, most
  v_and_b32 v4, \most, v2
  v_mov_b32 v5, \from_high
.if .amdgcn.gfx_generation_number >= 10
  v_add_co_u32 v4, vcc_lo, \from_low, v4
  v_add_co_ci_u32 v5, vcc_lo, 0, v5, vcc_lo
.else
  v_add_co_u32 v4, vcc, \from_low, v4
  s_nop 1
  v_addc_co_u32 v5, vcc, 0, v5, vcc
.endif
.endm

// A load to LDS: M0 says where in LDS the 256 bytes of a wave begin.
// RUN: to_lds -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64
// TARGETS: gfx900 gfx90a gfx942
// KERNEL: to_lds in out lds=256
to_lds:
  begin
  resource
  s_mov_b32 m0, 128
  s_nop 4
  buffer_load_dword v2, s[8:11], 0 offen lds // FINDS: lds-out-of-bounds
  wait_loads
  s_endpgm

// RUN: to_lds_good -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64
// TARGETS: gfx900 gfx90a gfx942
// KERNEL: to_lds_good in out lds=384
to_lds_good:
  begin
  resource
  s_mov_b32 m0, 128
  s_nop 4
  buffer_load_dword v2, s[8:11], 0 offen lds
  wait_loads
  s_endpgm

// Its source may be out of bounds, too.
// RUN: to_lds_source -g 64 -b 64 --arg in=iota:u32:63 --arg out=zero:u32:64
// TARGETS: gfx900 gfx90a gfx942
// KERNEL: to_lds_source in out lds=256
to_lds_source:
  begin
  resource
  s_mov_b32 m0, 0
  s_nop 4
  buffer_load_dword v2, s[8:11], 0 offen lds // FINDS: out-of-bounds
  wait_loads
  s_endpgm

// RUN: to_lds_source_good -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64
// TARGETS: gfx900 gfx90a gfx942
// KERNEL: to_lds_source_good in out lds=256
to_lds_source_good:
  begin
  resource
  s_mov_b32 m0, 0
  s_nop 4
  buffer_load_dword v2, s[8:11], 0 offen lds
  wait_loads
  s_endpgm

// Eight bytes behind the end of `in`, by FLAT.
// RUN: flat_behind -g 64 -b 64 --arg in=iota:u32:32 --arg out=zero:u32:64
// KERNEL: flat_behind in out
flat_behind:
  begin
  address s4, s5, 0xfc
  flat_load_dword v6, v[4:5] // FINDS: out-of-bounds
  s_waitcnt vmcnt(0) lgkmcnt(0)
  global_store_dword v2, v6, s[6:7]
  s_endpgm

// RUN: flat_behind_good -g 64 -b 64 --arg in=iota:u32:32 --arg out=zero:u32:64
// KERNEL: flat_behind_good in out
flat_behind_good:
  begin
  address s4, s5, 0x7c
  flat_load_dword v6, v[4:5]
  s_waitcnt vmcnt(0) lgkmcnt(0)
  global_store_dword v2, v6, s[6:7]
  s_endpgm

// Private memory has atomics of four bytes only. Only gfx942 of these sets FLAT_SCRATCH itself. src_private_base is the upper half of its aperture.
// RUN: private_pair -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64 --only memory
// TARGETS: gfx942
// KERNEL: private_pair in out scratch=64
private_pair:
  begin
  s_mov_b64 s[8:9], src_private_base
  v_mov_b32 v4, 16
  v_mov_b32 v5, s9
  v_mov_b32 v6, 1
  v_mov_b32 v7, 0
  flat_atomic_add_x2 v[4:5], v[6:7] // FINDS: private-atomic
  s_waitcnt vmcnt(0) lgkmcnt(0)
  s_endpgm

// RUN: private_pair_good -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64 --only memory
// TARGETS: gfx942
// KERNEL: private_pair_good in out scratch=64
private_pair_good:
  begin
  s_mov_b64 s[8:9], src_private_base
  v_mov_b32 v4, 16
  v_mov_b32 v5, s9
  v_mov_b32 v6, 1
  flat_atomic_add v[4:5], v6
  s_waitcnt vmcnt(0) lgkmcnt(0)
  s_endpgm
