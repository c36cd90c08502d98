; SPDX-License-Identifier: MIT
; Stores to LDS at a barrier, with and without a wait for them.
; TARGETS: gfx900 gfx90a gfx942 gfx1030

; KERNEL: unwaited lds=1024
; RUN: unwaited -g 256 -b 256 --only sync
unwaited:
    v_lshlrev_b32 v1, 2, v0
    ds_write_b32 v1, v0
    s_barrier                       ; FINDS: lds-store-at-barrier
    ds_read_b32 v2, v1
    s_waitcnt lgkmcnt(0)
    s_endpgm

; KERNEL: waited_good lds=1024
; RUN: waited_good -g 256 -b 256 --only sync
waited_good:
    v_lshlrev_b32 v1, 2, v0
    ds_write_b32 v1, v0
    s_waitcnt lgkmcnt(0)
    s_barrier
    ds_read_b32 v2, v1
    s_waitcnt lgkmcnt(0)
    s_endpgm

; The wait leaves the last operation, which is the load.
; KERNEL: partly_good lds=1024
; RUN: partly_good -g 256 -b 256 --only sync
partly_good:
    v_lshlrev_b32 v1, 2, v0
    ds_write_b32 v1, v0
    ds_read_b32 v2, v1
    s_waitcnt lgkmcnt(1)
    s_barrier
    s_waitcnt lgkmcnt(0)
    s_endpgm

; The wait leaves the last operation, which is the store.
; KERNEL: partly lds=1024
; RUN: partly -g 256 -b 256 --only sync
partly:
    v_lshlrev_b32 v1, 2, v0
    ds_read_b32 v2, v1
    ds_write_b32 v1, v0
    s_waitcnt lgkmcnt(1)
    s_barrier                       ; FINDS: lds-store-at-barrier
    s_waitcnt lgkmcnt(0)
    s_endpgm
