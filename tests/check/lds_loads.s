; SPDX-License-Identifier: MIT
; Loads to LDS: bytes that they write are there when the counter of loads from memory covers them.
; Sources: LLVM SIInsertWaitcnts (loads to LDS: vmcnt); CDNA 3 ISA, "Memory Buffer Load to LDS"; LLVM AMDGPUUsage, "Memory
; Model".
; TARGETS: gfx942 gfx950

; v1 = own dword, v2 = a dword of another wave, s[2:3] = in, m0 = the wave's bytes
.macro begin
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    v_lshlrev_b32 v1, 2, v0
    v_xor_b32 v2, 0x100, v1
    v_readfirstlane_b32 s6, v1
    s_mov_b32 m0, s6
    s_waitcnt lgkmcnt(0)
.endm

; KERNEL: own in lds=1024
; RUN: own -g 256 -b 256 --arg in=iota:u32:512
own:
    begin
    global_load_lds_dword v1, s[4:5]
    s_waitcnt lgkmcnt(0)
    ds_read_b32 v3, v1              ; FINDS: load-to-lds-before-wait
    s_waitcnt vmcnt(0) lgkmcnt(0)
    s_endpgm

; KERNEL: own_good in lds=1024
; RUN: own_good -g 256 -b 256 --arg in=iota:u32:512
own_good:
    begin
    global_load_lds_dword v1, s[4:5]
    s_waitcnt vmcnt(0)
    ds_read_b32 v3, v1
    s_waitcnt lgkmcnt(0)
    s_endpgm

; The wait leaves one load: to LDS the second one, in the good case one to a register.
; KERNEL: counted in lds=2048
; RUN: counted -g 256 -b 256 --arg in=iota:u32:512
counted:
    begin
    global_load_lds_dword v1, s[4:5]
    global_load_lds_dword v1, s[4:5] offset:1024
    s_waitcnt vmcnt(1)
    ds_read_b32 v3, v1
    ds_read_b32 v4, v1 offset:1024  ; FINDS: load-to-lds-before-wait
    s_waitcnt vmcnt(0) lgkmcnt(0)
    s_endpgm

; KERNEL: counted_good in lds=2048
; RUN: counted_good -g 256 -b 256 --arg in=iota:u32:512
counted_good:
    begin
    global_load_lds_dword v1, s[4:5]
    global_load_lds_dword v1, s[4:5] offset:1024
    global_load_dword v5, v1, s[4:5]
    s_waitcnt vmcnt(1)
    ds_read_b32 v3, v1
    ds_read_b32 v4, v1 offset:1024
    s_waitcnt vmcnt(0) lgkmcnt(0)
    s_endpgm

; A store behind it counts, too.
; KERNEL: stored_good in lds=1024
; RUN: stored_good -g 256 -b 256 --arg in=iota:u32:512
stored_good:
    begin
    global_load_lds_dword v1, s[4:5]
    global_store_dword v1, v0, s[4:5] offset:1024
    s_waitcnt vmcnt(1)
    ds_read_b32 v3, v1
    s_waitcnt vmcnt(0) lgkmcnt(0)
    s_endpgm

; Another wave reads behind the barrier what is in flight at it.
; KERNEL: other in lds=1024
; RUN: other -g 256 -b 256 --arg in=iota:u32:512
other:
    begin
    global_load_lds_dword v1, s[4:5]
    s_waitcnt lgkmcnt(0)
    s_barrier
    s_waitcnt vmcnt(0)
    ds_read_b32 v3, v2              ; FINDS: load-to-lds-at-barrier
    s_waitcnt lgkmcnt(0)
    s_endpgm

; KERNEL: other_good in lds=1024
; RUN: other_good -g 256 -b 256 --arg in=iota:u32:512
other_good:
    begin
    global_load_lds_dword v1, s[4:5]
    s_waitcnt vmcnt(0)
    s_barrier
    ds_read_b32 v3, v2
    s_waitcnt lgkmcnt(0)
    s_endpgm

; KERNEL: no_barrier in lds=1024
; RUN: no_barrier -g 256 -b 256 --arg in=iota:u32:512
no_barrier:
    begin
    global_load_lds_dword v1, s[4:5] ; FINDS: race-lds
    s_waitcnt vmcnt(0)
    ds_read_b32 v3, v2              ; FINDS: race-lds
    s_waitcnt lgkmcnt(0)
    s_endpgm

; Over a read and a store that are in flight.
; KERNEL: refill in lds=1024
; RUN: refill -g 256 -b 256 --arg in=iota:u32:512
refill:
    begin
    ds_write_b32 v1, v0
    s_waitcnt lgkmcnt(0)
    ds_read_b32 v3, v1
    global_load_lds_dword v1, s[4:5] ; FINDS: load-to-lds-before-wait
    s_waitcnt vmcnt(0) lgkmcnt(0)
    s_endpgm

; KERNEL: refill_good in lds=1024
; RUN: refill_good -g 256 -b 256 --arg in=iota:u32:512
refill_good:
    begin
    ds_write_b32 v1, v0
    s_waitcnt lgkmcnt(0)
    ds_read_b32 v3, v1
    s_waitcnt lgkmcnt(0)
    global_load_lds_dword v1, s[4:5]
    s_waitcnt vmcnt(0)
    ds_read_b32 v3, v1
    s_waitcnt lgkmcnt(0)
    s_endpgm

; KERNEL: overwrite in lds=1024
; RUN: overwrite -g 256 -b 256 --arg in=iota:u32:512
overwrite:
    begin
    global_load_lds_dword v1, s[4:5]
    ds_write_b32 v1, v0             ; FINDS: load-to-lds-before-wait
    s_waitcnt vmcnt(0) lgkmcnt(0)
    s_endpgm

; KERNEL: overwrite_good in lds=1024
; RUN: overwrite_good -g 256 -b 256 --arg in=iota:u32:512
overwrite_good:
    begin
    global_load_lds_dword v1, s[4:5]
    s_waitcnt vmcnt(0)
    ds_write_b32 v1, v0
    s_waitcnt lgkmcnt(0)
    s_endpgm

; The load comes behind a barrier at which the other wave's read is in flight.
; KERNEL: refill_other in lds=1024
; RUN: refill_other -g 256 -b 256 --arg in=iota:u32:512
refill_other:
    begin
    ds_write_b32 v1, v0
    s_waitcnt lgkmcnt(0)
    s_barrier
    ds_read_b32 v3, v2
    s_barrier
    global_load_lds_dword v1, s[4:5] ; FINDS: lds-read-at-barrier
    s_waitcnt vmcnt(0) lgkmcnt(0)
    s_endpgm

; KERNEL: refill_other_good in lds=1024
; RUN: refill_other_good -g 256 -b 256 --arg in=iota:u32:512
refill_other_good:
    begin
    ds_write_b32 v1, v0
    s_waitcnt lgkmcnt(0)
    s_barrier
    ds_read_b32 v3, v2
    s_waitcnt lgkmcnt(0)
    s_barrier
    global_load_lds_dword v1, s[4:5]
    s_waitcnt vmcnt(0)
    s_endpgm

; By a buffer instruction.
; KERNEL: buffer in lds=1024
; RUN: buffer -g 256 -b 256 --arg in=iota:u32:512
buffer:
    begin
    s_mov_b32 s6, 2048
    s_mov_b32 s7, 0x20000
    buffer_load_dword v1, s[4:7], 0 offen lds
    ds_read_b32 v3, v1              ; FINDS: load-to-lds-before-wait
    s_waitcnt vmcnt(0) lgkmcnt(0)
    s_endpgm

; KERNEL: buffer_good in lds=1024
; RUN: buffer_good -g 256 -b 256 --arg in=iota:u32:512
buffer_good:
    begin
    s_mov_b32 s6, 2048
    s_mov_b32 s7, 0x20000
    buffer_load_dword v1, s[4:7], 0 offen lds
    s_waitcnt vmcnt(0)
    ds_read_b32 v3, v1
    s_waitcnt lgkmcnt(0)
    s_endpgm
