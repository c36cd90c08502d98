; SPDX-License-Identifier: MIT
; In WGP mode: of two stores, the first is complete at the barrier. Loads do not count with stores.
; Source: RDNA 3 ISA, "Data Dependency Resolution": VSCNT, in the order of issue.
; TARGETS: gfx1030 gfx1100

; v1 = own dword, v2 = a dword of the other wave, s[4:5] = data
.macro begin
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    v_lshlrev_b32 v1, 2, v0
    v_xor_b32 v2, 0x80, v1
    s_waitcnt lgkmcnt(0)
.endm

; KERNEL: first data
; RUN: first -g 64 -b 64 --arg data=zero:u32:256 --only race
first:
    begin
    global_store_dword v1, v0, s[4:5]
    global_store_dword v1, v0, s[4:5] offset:512
    s_waitcnt_vscnt null, 0x1
    s_barrier
    buffer_gl0_inv
    global_load_dword v3, v2, s[4:5]
    global_load_dword v4, v2, s[4:5] offset:512     ; FINDS: race-release
    s_waitcnt vmcnt(0)
    s_endpgm

; The counter's value is that of the store, however many loads follow.
; KERNEL: loads data
; RUN: loads -g 64 -b 64 --arg data=zero:u32:256 --only race
loads:
    begin
    global_store_dword v1, v0, s[4:5]
    global_load_dword v5, v1, s[4:5] offset:512
    s_waitcnt vmcnt(0)
    s_waitcnt_vscnt null, 0x1
    s_barrier
    buffer_gl0_inv
    global_load_dword v3, v2, s[4:5]                ; FINDS: race-release
    s_waitcnt vmcnt(0)
    s_endpgm

; KERNEL: loads_good data
; RUN: loads_good -g 64 -b 64 --arg data=zero:u32:256 --only race
loads_good:
    begin
    global_store_dword v1, v0, s[4:5]
    global_load_dword v5, v1, s[4:5] offset:512
    s_waitcnt vmcnt(0)
    s_waitcnt_vscnt null, 0x0
    s_barrier
    buffer_gl0_inv
    global_load_dword v3, v2, s[4:5]
    s_waitcnt vmcnt(0)
    s_endpgm
