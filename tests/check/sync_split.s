; SPDX-License-Identifier: MIT
; Split and named barriers.
; Sources: RDNA 4 ISA, "Barriers"; LLVM, AMDGPUExecutionSynchronization, "GFX12".
; TARGETS: gfx1200

; s4 = the number of the wave
.macro begin
    v_readfirstlane_b32 s4, v0
    s_lshr_b32 s4, s4, 5
.endm

; The store is in flight at the signal; waiting for it behind that is too late.
; KERNEL: unwaited lds=256
; RUN: unwaited -g 64 -b 64
unwaited:
    v_lshlrev_b32 v1, 2, v0
    v_xor_b32 v2, 0x80, v1
    ds_store_b32 v1, v0
    s_barrier_signal -1
    s_wait_dscnt 0x0
    s_barrier_wait -1
    ds_load_b32 v3, v2              ; FINDS: lds-store-at-barrier
    s_wait_dscnt 0x0
    s_endpgm

; KERNEL: unwaited_good lds=256
; RUN: unwaited_good -g 64 -b 64
unwaited_good:
    v_lshlrev_b32 v1, 2, v0
    v_xor_b32 v2, 0x80, v1
    ds_store_b32 v1, v0
    s_wait_dscnt 0x0
    s_barrier_signal -1
    s_barrier_wait -1
    ds_load_b32 v3, v2
    s_wait_dscnt 0x0
    s_endpgm

; Wave 1 waits for a barrier that it has not signalled.
; KERNEL: unsignalled
; RUN: unsignalled -g 64 -b 64 --only sync
unsignalled:
    begin
    s_cmp_lg_u32 s4, 0
    s_cbranch_scc1 .Lunsignalled
    s_barrier_signal -1
.Lunsignalled:
    s_barrier_wait -1               ; FINDS: deadlock
    s_endpgm

; KERNEL: unsignalled_good
; RUN: unsignalled_good -g 64 -b 64 --only sync
unsignalled_good:
    begin
    s_barrier_signal -1
    s_cmp_lg_u32 s4, 0
    s_cbranch_scc1 .Lsignalled
    s_nop 0
.Lsignalled:
    s_barrier_wait -1
    s_endpgm

; A barrier with a name has three members, but only two waves signal it.
; KERNEL: members
; RUN: members -g 64 -b 64 --only sync
members:
    s_mov_b32 m0, 3 << 16 | 2
    s_barrier_init m0
    s_barrier_signal -1
    s_barrier_wait -1
    s_barrier_join 2
    s_barrier_signal 2
    s_barrier_wait 2                ; FINDS: deadlock
    s_endpgm

; KERNEL: members_good
; RUN: members_good -g 64 -b 64 --only sync
members_good:
    s_mov_b32 m0, 2 << 16 | 2
    s_barrier_init m0
    s_barrier_signal -1
    s_barrier_wait -1
    s_barrier_join 2
    s_barrier_signal 2
    s_barrier_wait 2
    s_endpgm

; One wave stores, signals and goes on; the other one waits.
; KERNEL: one_way lds=256
; RUN: one_way -g 64 -b 64 --only race
one_way:
    begin
    s_mov_b32 m0, 1 << 16 | 3
    s_barrier_init m0
    s_barrier_signal -1
    s_barrier_wait -1
    v_lshlrev_b32 v1, 2, v0
    s_cmp_lg_u32 s4, 0
    s_cbranch_scc1 .Lreads
    ds_store_b32 v1, v0             ; FINDS: race-lds
    s_wait_dscnt 0x0
    s_endpgm
.Lreads:
    v_xor_b32 v1, 0x80, v1
    ds_load_b32 v2, v1
    s_wait_dscnt 0x0
    s_endpgm

; KERNEL: one_way_good lds=256
; RUN: one_way_good -g 64 -b 64 --only race
one_way_good:
    begin
    s_mov_b32 m0, 1 << 16 | 3
    s_barrier_init m0
    s_barrier_signal -1
    s_barrier_wait -1
    v_lshlrev_b32 v1, 2, v0
    s_cmp_lg_u32 s4, 0
    s_cbranch_scc1 .Lreads_good
    ds_store_b32 v1, v0
    s_wait_dscnt 0x0
    s_barrier_signal 3
    s_endpgm
.Lreads_good:
    s_barrier_join 3
    s_barrier_wait 3
    v_xor_b32 v1, 0x80, v1
    ds_load_b32 v2, v1
    s_wait_dscnt 0x0
    s_endpgm

; The wave polls, and stores to private memory in its loop: what it waits for is the load.
; KERNEL: polls flag scratch=16
; RUN: polls -g 32 -b 32 --arg flag=zero:u32:1 --timeout 1
polls:
    s_load_b64 s[4:5], s[0:1], 0x0
    v_mov_b32 v1, 0
    s_wait_kmcnt 0x0
.Lpolls:
    global_load_b32 v2, v1, s[4:5] scope:SCOPE_DEV  ; FINDS: deadlock
    s_wait_loadcnt 0x0
    global_inv scope:SCOPE_DEV
    scratch_store_b32 off, v2, off
    v_cmp_eq_u32 vcc_lo, 0, v2
    s_cbranch_vccnz .Lpolls
    s_endpgm
