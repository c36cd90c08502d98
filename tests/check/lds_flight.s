; SPDX-License-Identifier: MIT
; Operations of LDS in flight at a barrier, which waits for no counter: another wave that then touches the bytes may come first.
; Sources: LLVM AMDGPUUsage, "Memory Model" of gfx90a to gfx12: a release of workgroup scope waits for LDS ("lgkmcnt(0)",
; "s_wait_dscnt 0x0") before the barrier, because operations of LDS of different waves can be reordered.
; TARGETS: gfx90a gfx942 gfx1030

; v1 = own dword, v2 = a dword of another wave
.macro begin
    v_lshlrev_b32 v1, 2, v0
    v_xor_b32 v2, 0x100, v1
.endm

; KERNEL: store lds=1024
; RUN: store -g 256 -b 256
store:
    begin
    ds_write_b32 v1, v0
    s_barrier
    ds_read_b32 v3, v2              ; FINDS: lds-store-at-barrier
    s_waitcnt lgkmcnt(0)
    s_endpgm

; KERNEL: store_good lds=1024
; RUN: store_good -g 256 -b 256
store_good:
    begin
    ds_write_b32 v1, v0
    s_waitcnt lgkmcnt(0)
    s_barrier
    ds_read_b32 v3, v2
    s_waitcnt lgkmcnt(0)
    s_endpgm

; Operations of one wave have an order.
; KERNEL: own_good lds=1024
; RUN: own_good -g 256 -b 256
own_good:
    begin
    ds_write_b32 v1, v0
    s_barrier
    ds_read_b32 v3, v1
    s_waitcnt lgkmcnt(0)
    s_endpgm

; KERNEL: read lds=1024
; RUN: read -g 256 -b 256
read:
    begin
    ds_write_b32 v1, v0
    s_waitcnt lgkmcnt(0)
    s_barrier
    ds_read_b32 v3, v2
    s_barrier
    ds_write_b32 v1, v2             ; FINDS: lds-read-at-barrier
    s_waitcnt lgkmcnt(0)
    s_endpgm

; KERNEL: read_good lds=1024
; RUN: read_good -g 256 -b 256
read_good:
    begin
    ds_write_b32 v1, v0
    s_waitcnt lgkmcnt(0)
    s_barrier
    ds_read_b32 v3, v2
    s_waitcnt lgkmcnt(0)
    s_barrier
    ds_write_b32 v1, v2
    s_waitcnt lgkmcnt(0)
    s_endpgm

; The read is waited for behind the barrier, where the other wave may have stored already.
; KERNEL: read_late lds=1024
; RUN: read_late -g 256 -b 256
read_late:
    begin
    ds_write_b32 v1, v0
    s_waitcnt lgkmcnt(0)
    s_barrier
    ds_read_b32 v3, v2
    s_barrier
    s_waitcnt lgkmcnt(0)
    ds_write_b32 v1, v2             ; FINDS: lds-read-at-barrier
    s_waitcnt lgkmcnt(0)
    s_endpgm

; In flight at the first barrier, but not at the second one.
; KERNEL: read_later_good lds=1024
; RUN: read_later_good -g 256 -b 256
read_later_good:
    begin
    ds_write_b32 v1, v0
    s_waitcnt lgkmcnt(0)
    s_barrier
    ds_read_b32 v3, v2
    s_barrier
    s_waitcnt lgkmcnt(0)
    s_barrier
    ds_write_b32 v1, v2
    s_waitcnt lgkmcnt(0)
    s_endpgm

; The wait leaves the last operation, which is the store.
; KERNEL: partly lds=2048
; RUN: partly -g 256 -b 256
partly:
    begin
    ds_write_b32 v1, v0
    ds_write_b32 v1, v0 offset:1024
    s_waitcnt lgkmcnt(1)
    s_barrier
    ds_read_b32 v3, v2
    ds_read_b32 v4, v2 offset:1024  ; FINDS: lds-store-at-barrier
    s_waitcnt lgkmcnt(0)
    s_endpgm

; The wait leaves the last operation, a load of bytes that nobody stores to.
; KERNEL: partly_good lds=2048
; RUN: partly_good -g 256 -b 256
partly_good:
    begin
    ds_write_b32 v1, v0
    ds_read_b32 v4, v1
    s_waitcnt lgkmcnt(1)
    s_barrier
    ds_read_b32 v3, v2
    s_waitcnt lgkmcnt(0)
    s_endpgm

; Two buffers: what is read is not what is stored.
; KERNEL: buffers_good lds=2048
; RUN: buffers_good -g 256 -b 256
buffers_good:
    begin
    ds_write_b32 v1, v0
    s_waitcnt lgkmcnt(0)
    s_barrier
    ds_read_b32 v3, v2
    s_barrier
    ds_write_b32 v1, v2 offset:1024
    s_waitcnt lgkmcnt(0)
    s_barrier
    ds_write_b32 v1, v2
    s_waitcnt lgkmcnt(0)
    s_endpgm

; An atomic is a store; atomics among themselves need no order.
; KERNEL: count lds=1024
; RUN: count -g 256 -b 256
count:
    begin
    v_mov_b32 v3, 0
    ds_write_b32 v1, v3
    s_waitcnt lgkmcnt(0)
    s_barrier
    ds_add_u32 v2, v0
    s_barrier
    ds_read_b32 v3, v1              ; FINDS: lds-store-at-barrier
    s_waitcnt lgkmcnt(0)
    s_endpgm

; KERNEL: count_good lds=1024
; RUN: count_good -g 256 -b 256
count_good:
    begin
    v_mov_b32 v3, 0
    ds_write_b32 v1, v3
    s_waitcnt lgkmcnt(0)
    s_barrier
    ds_add_u32 v2, v0
    s_barrier
    ds_add_u32 v1, v0
    s_waitcnt lgkmcnt(0)
    s_barrier
    ds_read_b32 v3, v1
    s_waitcnt lgkmcnt(0)
    s_endpgm

; Instructions with two places.
; KERNEL: pairs lds=2048
; RUN: pairs -g 256 -b 256
pairs:
    begin
    ds_write2st64_b32 v1, v0, v0 offset1:4
    s_barrier
    ds_read_b32 v3, v2 offset:1024  ; FINDS: lds-store-at-barrier
    s_waitcnt lgkmcnt(0)
    s_endpgm

; FLAT instructions that go to LDS: v[4:5] = own dword, v[6:7] = a dword of another wave
.macro begin_flat
    begin
    s_mov_b64 s[4:5], src_shared_base
    v_mov_b32 v4, v1
    v_mov_b32 v5, s5
    v_mov_b32 v6, v2
    v_mov_b32 v7, s5
.endm

; The data is on its way to LDS, which the counter of memory does not tell.
; KERNEL: flat_store lds=1024
; RUN: flat_store -g 256 -b 256
flat_store:
    begin_flat
    flat_store_dword v[4:5], v0
    s_waitcnt vmcnt(0)
    s_barrier
    flat_load_dword v3, v[6:7]      ; FINDS: lds-store-at-barrier
    s_waitcnt vmcnt(0) lgkmcnt(0)
    s_endpgm

; KERNEL: flat_store_good lds=1024
; RUN: flat_store_good -g 256 -b 256
flat_store_good:
    begin_flat
    flat_store_dword v[4:5], v0
    s_waitcnt lgkmcnt(0)
    s_barrier
    flat_load_dword v3, v[6:7]
    s_waitcnt vmcnt(0) lgkmcnt(0)
    s_endpgm

; KERNEL: flat_read lds=1024
; RUN: flat_read -g 256 -b 256
flat_read:
    begin_flat
    flat_store_dword v[4:5], v0
    s_waitcnt vmcnt(0) lgkmcnt(0)
    s_barrier
    flat_load_dword v3, v[6:7]
    s_barrier
    ds_write_b32 v1, v2             ; FINDS: lds-read-at-barrier
    s_waitcnt vmcnt(0) lgkmcnt(0)
    s_endpgm

; KERNEL: flat_read_good lds=1024
; RUN: flat_read_good -g 256 -b 256
flat_read_good:
    begin_flat
    flat_store_dword v[4:5], v0
    s_waitcnt vmcnt(0) lgkmcnt(0)
    s_barrier
    flat_load_dword v3, v[6:7]
    s_waitcnt vmcnt(0) lgkmcnt(0)
    s_barrier
    ds_write_b32 v1, v2
    s_waitcnt lgkmcnt(0)
    s_endpgm
