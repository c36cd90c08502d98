; SPDX-License-Identifier: MIT
; Asynchronous and tensor copies to LDS: the bytes are there when ASYNCcnt or TENSORcnt covers them, not LOADcnt.
; Sources: CDNA 5 ISA, "Memory Dependency Counters", "Asynchronous Memory Load and Store", "Tensor Instructions".
; TARGETS: gfx1250

; v1 = own dword, v2 = a dword of another wave, s[4:5] = in
.macro begin
    s_load_b64 s[4:5], s[0:1], 0x0
    v_lshlrev_b32 v1, 2, v0
    v_xor_b32 v2, 0x80, v1
    s_wait_kmcnt 0x0
.endm

; s[8:19] = the D# of 128 dwords of `in`
.macro describe
    s_mov_b32 s8, 1
    s_mov_b32 s9, 0
    s_mov_b32 s10, s4
    s_or_b32 s11, s5, 0x80000000
    s_mov_b32 s12, 0x20000
    s_mov_b32 s13, 128 << 16
    s_mov_b32 s14, 1 << 16
    s_mov_b32 s15, 128 << 16
    s_mov_b32 s16, 1
    s_mov_b32 s17, 128
    s_mov_b32 s18, 0
    s_mov_b32 s19, 0
.endm

; KERNEL: own in lds=1024
; RUN: own -g 128 -b 128 --arg in=iota:u32:512
own:
    begin
    global_load_async_to_lds_b32 v1, v1, s[4:5]
    s_wait_loadcnt 0x0
    ds_load_b32 v3, v1              ; FINDS: load-to-lds-before-wait
    s_wait_asynccnt 0x0
    s_wait_dscnt 0x0
    s_endpgm

; KERNEL: own_good in lds=1024
; RUN: own_good -g 128 -b 128 --arg in=iota:u32:512
own_good:
    begin
    global_load_async_to_lds_b32 v1, v1, s[4:5]
    s_wait_asynccnt 0x0
    ds_load_b32 v3, v1
    s_wait_dscnt 0x0
    s_endpgm

; The wait leaves one copy.
; KERNEL: counted in lds=2048
; RUN: counted -g 128 -b 128 --arg in=iota:u32:512
counted:
    begin
    global_load_async_to_lds_b32 v1, v1, s[4:5]
    global_load_async_to_lds_b32 v1, v1, s[4:5] offset:512
    s_wait_asynccnt 0x1
    ds_load_b32 v3, v1
    ds_load_b32 v4, v1 offset:512   ; FINDS: load-to-lds-before-wait
    s_wait_asynccnt 0x0
    s_wait_dscnt 0x0
    s_endpgm

; The counter does not say which of the two is left: loads are in order with loads, and stores with stores.
; KERNEL: mixed in lds=2048
; RUN: mixed -g 128 -b 128 --arg in=iota:u32:512
mixed:
    begin
    global_load_async_to_lds_b32 v1, v1, s[4:5]
    v_add_nc_u32 v6, 0x400, v1
    ds_store_b32 v6, v1
    s_wait_dscnt 0x0
    global_store_async_from_lds_b32 v1, v6, s[4:5]
    s_wait_asynccnt 0x1
    ds_load_b32 v3, v1              ; FINDS: load-to-lds-before-wait
    s_wait_asynccnt 0x0
    s_wait_dscnt 0x0
    s_endpgm

; Behind the second load, the first one is there, whatever became of the store.
; KERNEL: mixed_good in lds=2048
; RUN: mixed_good -g 128 -b 128 --arg in=iota:u32:512
mixed_good:
    begin
    global_load_async_to_lds_b32 v1, v1, s[4:5]
    v_add_nc_u32 v6, 0x400, v1
    ds_store_b32 v6, v1
    s_wait_dscnt 0x0
    global_store_async_from_lds_b32 v1, v6, s[4:5]
    v_add_nc_u32 v7, 0x200, v1
    global_load_async_to_lds_b32 v7, v1, s[4:5]
    s_wait_asynccnt 0x1
    ds_load_b32 v3, v1
    s_wait_asynccnt 0x0
    s_wait_dscnt 0x0
    s_endpgm

; Another wave reads behind the barrier what is in flight at it.
; KERNEL: other in lds=1024
; RUN: other -g 128 -b 128 --arg in=iota:u32:512
other:
    begin
    global_load_async_to_lds_b32 v1, v1, s[4:5]
    s_barrier_signal -1
    s_barrier_wait -1
    ds_load_b32 v3, v2              ; FINDS: load-to-lds-at-barrier
    s_wait_asynccnt 0x0
    s_wait_dscnt 0x0
    s_endpgm

; KERNEL: other_good in lds=1024
; RUN: other_good -g 128 -b 128 --arg in=iota:u32:512
other_good:
    begin
    global_load_async_to_lds_b32 v1, v1, s[4:5]
    s_wait_asynccnt 0x0
    s_barrier_signal -1
    s_barrier_wait -1
    ds_load_b32 v3, v2
    s_wait_dscnt 0x0
    s_endpgm

; KERNEL: tensor in lds=1024
; RUN: tensor -g 32 -b 32 --arg in=iota:u32:512
tensor:
    begin
    describe
    tensor_load_to_lds s[8:11], s[12:19]
    s_wait_asynccnt 0x0
    ds_load_b32 v3, v1              ; FINDS: load-to-lds-before-wait
    s_wait_tensorcnt 0x0
    s_wait_dscnt 0x0
    s_endpgm

; KERNEL: tensor_good in lds=1024
; RUN: tensor_good -g 32 -b 32 --arg in=iota:u32:512
tensor_good:
    begin
    describe
    tensor_load_to_lds s[8:11], s[12:19]
    s_wait_tensorcnt 0x0
    ds_load_b32 v3, v1
    s_wait_dscnt 0x0
    s_endpgm

; KERNEL: tensors in lds=2048
; RUN: tensors -g 32 -b 32 --arg in=iota:u32:512
tensors:
    begin
    describe
    tensor_load_to_lds s[8:11], s[12:19]
    s_movk_i32 s9, 0x400
    tensor_load_to_lds s[8:11], s[12:19]
    s_wait_tensorcnt 0x1
    ds_load_b32 v3, v1
    ds_load_b32 v4, v1 offset:1024  ; FINDS: load-to-lds-before-wait
    s_wait_tensorcnt 0x0
    s_wait_dscnt 0x0
    s_endpgm

; The store still reads LDS.
; KERNEL: overwritten in lds=1024
; RUN: overwritten -g 128 -b 128 --arg in=iota:u32:512
overwritten:
    begin
    global_store_async_from_lds_b32 v1, v1, s[4:5]
    ds_store_b32 v1, v0             ; FINDS: store-from-lds-before-wait
    s_wait_asynccnt 0x0
    s_wait_dscnt 0x0
    s_endpgm

; KERNEL: overwritten_good in lds=1024
; RUN: overwritten_good -g 128 -b 128 --arg in=iota:u32:512
overwritten_good:
    begin
    global_store_async_from_lds_b32 v1, v1, s[4:5]
    s_wait_asynccnt 0x0
    ds_store_b32 v1, v0
    s_wait_dscnt 0x0
    s_endpgm

; The wait leaves the second store, which reads other dwords.
; KERNEL: overwritten_counted in lds=1024
; RUN: overwritten_counted -g 128 -b 128 --arg in=iota:u32:512
overwritten_counted:
    begin
    global_store_async_from_lds_b32 v1, v1, s[4:5]
    global_store_async_from_lds_b32 v1, v1, s[4:5] offset:512
    s_wait_asynccnt 0x1
    ds_store_b32 v1, v0
    ds_store_b32 v1, v0 offset:512  ; FINDS: store-from-lds-before-wait
    s_wait_asynccnt 0x0
    s_wait_dscnt 0x0
    s_endpgm

; Another wave overwrites what the store still reads behind the barrier.
; KERNEL: overwritten_by_other in lds=1024
; RUN: overwritten_by_other -g 128 -b 128 --arg in=iota:u32:512
overwritten_by_other:
    begin
    global_store_async_from_lds_b32 v1, v1, s[4:5]
    s_barrier_signal -1
    s_barrier_wait -1
    ds_store_b32 v2, v0             ; FINDS: store-from-lds-at-barrier
    s_wait_asynccnt 0x0
    s_wait_dscnt 0x0
    s_endpgm

; KERNEL: overwritten_by_other_good in lds=1024
; RUN: overwritten_by_other_good -g 128 -b 128 --arg in=iota:u32:512
overwritten_by_other_good:
    begin
    global_store_async_from_lds_b32 v1, v1, s[4:5]
    s_wait_asynccnt 0x0
    s_barrier_signal -1
    s_barrier_wait -1
    ds_store_b32 v2, v0
    s_wait_dscnt 0x0
    s_endpgm
