; SPDX-License-Identifier: MIT
; A flag that is polled with scalar loads: the loop invalidates the scalar cache.
; Source: Vega ISA, "S_DCACHE_INV".
; TARGETS: gfx900 gfx90a

.include "flags.inc"

; KERNEL: poll data out
; RUN: poll -g 128 -b 64 --arg data=zero:u32:128 --arg out=zero:u32:64 --only race
poll:
    begin .Lpoll
    global_store_dword v1, v0, s[4:5]
    s_waitcnt vmcnt(0)
    global_store_dword v2, v3, s[4:5] offset:256
    s_endpgm
.Lpoll:
    s_dcache_inv
    s_load_dword s8, s[4:5], 0x100
    s_waitcnt lgkmcnt(0)
    s_cmp_eq_u32 s8, 0
    s_cbranch_scc1 .Lpoll
    s_load_dword s9, s[4:5], 0x10       ; FINDS: race-acquire
    global_load_dword v4, v1, s[4:5]    ; FINDS: race-acquire
    s_waitcnt vmcnt(0) lgkmcnt(0)
    s_endpgm

; KERNEL: poll_good data out
; RUN: poll_good -g 128 -b 64 --arg data=zero:u32:128 --arg out=zero:u32:64 --only race
poll_good:
    begin .Lpoll_good
    global_store_dword v1, v0, s[4:5]
    s_waitcnt vmcnt(0)
    global_store_dword v2, v3, s[4:5] offset:256
    s_endpgm
.Lpoll_good:
    s_dcache_inv
    s_load_dword s8, s[4:5], 0x100
    s_waitcnt lgkmcnt(0)
    s_cmp_eq_u32 s8, 0
    s_cbranch_scc1 .Lpoll_good
    s_dcache_inv
    s_load_dword s9, s[4:5], 0x10
    buffer_wbinvl1_vol
    global_load_dword v4, v1, s[4:5]
    s_waitcnt vmcnt(0) lgkmcnt(0)
    s_endpgm

; Without the invalidation, the loop may never see the flag.
; KERNEL: stale data out
; RUN: stale -g 128 -b 64 --arg data=zero:u32:128 --arg out=zero:u32:64 --only race
stale:
    s_load_dwordx4 s[4:7], s[0:1], 0x0
    v_mov_b32 v2, 0
    v_mov_b32 v3, 1
    s_waitcnt lgkmcnt(0)
    s_cmp_lg_u32 s2, 0
    s_cbranch_scc1 .Lstale
    global_store_dword v2, v3, s[4:5] offset:256
    s_endpgm
.Lstale:
    s_load_dword s8, s[4:5], 0x100      ; FINDS: race-global
    s_waitcnt lgkmcnt(0)
    s_cmp_eq_u32 s8, 0
    s_cbranch_scc1 .Lstale
    s_endpgm
