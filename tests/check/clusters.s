; SPDX-License-Identifier: MIT
; Clusters of workgroups.
; Sources: CDNA 5 ISA, "Workgroup Clusters" and "Cluster Barriers"; LLVM, SIMemoryLegalizer for gfx12.5 (fences of the
; scope "cluster": no write-back, and an invalidation of scope SE).
; TARGETS: gfx1250

; Each workgroup of a cluster of two stores, and reads what the other has stored. v1: its place, v2: the other's.
.macro places
    s_load_b64 s[2:3], s[0:1], 0x0
    s_lshl_b32 s4, ttmp9, 1
    s_and_b32 s5, ttmp6, 15
    s_or_b32 s4, s4, s5
    s_xor_b32 s5, s4, 1
    s_lshl_b32 s4, s4, 2
    s_lshl_b32 s5, s5, 2
    v_mov_b32 v1, s4
    v_mov_b32 v2, s5
    s_mov_b32 exec_lo, 1
    s_wait_kmcnt 0x0
.endm

; KERNEL: good out
; RUN: good -g 128 -b 32 --cluster 2 --arg out=zero:u32:4
good:
    places
    global_store_b32 v1, v1, s[2:3]
    s_wait_storecnt 0x0
    s_barrier_signal -3
    s_barrier_wait -3
    global_inv scope:SCOPE_SE
    global_load_b32 v3, v2, s[2:3]
    s_wait_loadcnt 0x0
    s_endpgm

; Two waves in each workgroup, of which one signals.
; KERNEL: good_waves out
; RUN: good_waves -g 256 -b 64 --cluster 2 --arg out=zero:u32:4
good_waves:
    v_readfirstlane_b32 s8, v0
    places
    s_lshr_b32 s8, s8, 5
    s_cmp_eq_u32 s8, 0
    s_cbranch_scc0 .Lgood_waves
    global_store_b32 v1, v1, s[2:3]
.Lgood_waves:
    s_wait_storecnt 0x0
    s_barrier_signal_isfirst -1
    s_barrier_wait -1
    s_cbranch_scc0 .Lgood_waves_wait
    s_barrier_signal -3
.Lgood_waves_wait:
    s_barrier_wait -3
    global_inv scope:SCOPE_SE
    global_load_b32 v3, v2, s[2:3]
    s_wait_loadcnt 0x0
    s_endpgm

; KERNEL: no_barrier out
; RUN: no_barrier -g 128 -b 32 --cluster 2 --arg out=zero:u32:4
no_barrier:
    places
    global_store_b32 v1, v1, s[2:3]  ; FINDS: race-global
    s_wait_storecnt 0x0
    global_inv scope:SCOPE_SE
    global_load_b32 v3, v2, s[2:3]   ; FINDS: race-global
    s_wait_loadcnt 0x0
    s_endpgm

; The store may be in flight when the other workgroup goes on.
; KERNEL: unwaited out
; RUN: unwaited -g 128 -b 32 --cluster 2 --arg out=zero:u32:4
unwaited:
    places
    global_store_b32 v1, v1, s[2:3]
    s_barrier_signal -3
    s_barrier_wait -3
    global_inv scope:SCOPE_SE
    global_load_b32 v3, v2, s[2:3]   ; FINDS: race-release
    s_wait_loadcnt 0x0
    s_endpgm

; KERNEL: not_invalidated out
; RUN: not_invalidated -g 128 -b 32 --cluster 2 --arg out=zero:u32:4
not_invalidated:
    places
    global_store_b32 v1, v1, s[2:3]
    s_wait_storecnt 0x0
    s_barrier_signal -3
    s_barrier_wait -3
    global_load_b32 v3, v2, s[2:3]   ; FINDS: race-acquire
    s_wait_loadcnt 0x0
    s_endpgm

; Others than the cluster are not ordered by its barrier.
; KERNEL: other_cluster out
; RUN: other_cluster -g 128 -b 32 --cluster 2 --arg out=zero:u32:4
other_cluster:
    places
    v_xor_b32 v2, 8, v2
    global_store_b32 v1, v1, s[2:3]  ; FINDS: race-global
    s_wait_storecnt 0x0
    s_barrier_signal -3
    s_barrier_wait -3
    global_inv scope:SCOPE_SE
    global_load_b32 v3, v2, s[2:3]   ; FINDS: race-global
    s_wait_loadcnt 0x0
    s_endpgm

; The first workgroup does not signal.
; KERNEL: unsignalled
; RUN: unsignalled -g 64 -b 32 --cluster 2 --only sync
unsignalled:
    s_and_b32 s5, ttmp6, 15
    s_cmp_eq_u32 s5, 0
    s_cbranch_scc1 .Lunsignalled
    s_barrier_signal -3
.Lunsignalled:
    s_barrier_wait -3                ; FINDS: deadlock
    s_endpgm
