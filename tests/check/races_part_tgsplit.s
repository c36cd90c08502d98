; SPDX-License-Identifier: MIT
; In tgsplit mode: of two stores, the first is complete at the barrier, or before a flag of the workgroup. No write-back is
; needed within it.
; Source: LLVM AMDGPUUsage, "Memory Model GFX90A" and "GFX942", release of workgroup scope; Vega ISA, "Data Dependency
; Resolution": VM_CNT, in the order of issue.
; TARGETS: gfx90a gfx942

; v1 = own dword, v2 = a dword of the other wave, s[4:5] = data
.macro begin
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    v_lshlrev_b32 v1, 2, v0
    v_xor_b32 v2, 0x100, v1
    s_waitcnt lgkmcnt(0)
.endm

.macro refresh
.ifeq .amdgcn.gfx_generation_stepping-10
    buffer_wbinvl1_vol
.else
    buffer_inv sc0
.endif
.endm

; KERNEL: first data tgsplit=1
; RUN: first -g 128 -b 128 --arg data=zero:u32:512 --only race
first:
    begin
    global_store_dword v1, v0, s[4:5]
    global_store_dword v1, v0, s[4:5] offset:1024
    s_waitcnt vmcnt(1)
    s_barrier
    refresh
    global_load_dword v3, v2, s[4:5]
    global_load_dword v4, v2, s[4:5] offset:1024    ; FINDS: race-release
    s_waitcnt vmcnt(0)
    s_endpgm

; KERNEL: all_good data tgsplit=1
; RUN: all_good -g 128 -b 128 --arg data=zero:u32:512 --only race
all_good:
    begin
    global_store_dword v1, v0, s[4:5]
    global_store_dword v1, v0, s[4:5] offset:1024
    s_waitcnt vmcnt(0)
    s_barrier
    refresh
    global_load_dword v3, v2, s[4:5]
    global_load_dword v4, v2, s[4:5] offset:1024
    s_waitcnt vmcnt(0)
    s_endpgm

; A flag of the workgroup, before which only the first store is complete.
; KERNEL: flag data tgsplit=1
; RUN: flag -g 128 -b 128 --arg data=zero:u32:512 --only race
flag:
    begin
    v_cmp_gt_u32 vcc, 64, v0
    s_cbranch_vccz .Lflag
    v_mov_b32 v5, 0
    v_mov_b32 v6, 1
    global_store_dword v1, v0, s[4:5]
    global_store_dword v1, v0, s[4:5] offset:512
    s_waitcnt vmcnt(1)
    global_store_dword v5, v6, s[4:5] offset:1536
    s_endpgm
.Lflag:
    v_mov_b32 v5, 0
.Lflag_loop:
.ifeq .amdgcn.gfx_generation_stepping-10
    global_load_dword v7, v5, s[4:5] offset:1536 glc
.else
    global_load_dword v7, v5, s[4:5] offset:1536 sc0
.endif
    s_waitcnt vmcnt(0)
    v_cmp_eq_u32 vcc, 0, v7
    s_cbranch_vccnz .Lflag_loop
    refresh
    global_load_dword v3, v2, s[4:5]
    global_load_dword v4, v2, s[4:5] offset:512     ; FINDS: race-release
    s_waitcnt vmcnt(0)
    s_endpgm

; No store is complete before the flag.
; KERNEL: flag_late data tgsplit=1
; RUN: flag_late -g 128 -b 128 --arg data=zero:u32:512 --only race
flag_late:
    begin
    v_cmp_gt_u32 vcc, 64, v0
    s_cbranch_vccz .Lflag_late
    v_mov_b32 v5, 0
    v_mov_b32 v6, 1
    global_store_dword v1, v0, s[4:5]
    global_store_dword v1, v0, s[4:5] offset:512
    s_waitcnt vmcnt(2)
    global_store_dword v5, v6, s[4:5] offset:1536
    s_endpgm
.Lflag_late:
    v_mov_b32 v5, 0
.Lflag_late_loop:
.ifeq .amdgcn.gfx_generation_stepping-10
    global_load_dword v7, v5, s[4:5] offset:1536 glc
.else
    global_load_dword v7, v5, s[4:5] offset:1536 sc0
.endif
    s_waitcnt vmcnt(0)
    v_cmp_eq_u32 vcc, 0, v7
    s_cbranch_vccnz .Lflag_late_loop
    refresh
    global_load_dword v3, v2, s[4:5]                ; FINDS: race-release
    global_load_dword v4, v2, s[4:5] offset:512     ; FINDS: race-release
    s_waitcnt vmcnt(0)
    s_endpgm

; KERNEL: flag_good data tgsplit=1
; RUN: flag_good -g 128 -b 128 --arg data=zero:u32:512 --only race
flag_good:
    begin
    v_cmp_gt_u32 vcc, 64, v0
    s_cbranch_vccz .Lflag_good
    v_mov_b32 v5, 0
    v_mov_b32 v6, 1
    global_store_dword v1, v0, s[4:5]
    global_store_dword v1, v0, s[4:5] offset:512
    s_waitcnt vmcnt(0)
    global_store_dword v5, v6, s[4:5] offset:1536
    s_endpgm
.Lflag_good:
    v_mov_b32 v5, 0
.Lflag_good_loop:
.ifeq .amdgcn.gfx_generation_stepping-10
    global_load_dword v7, v5, s[4:5] offset:1536 glc
.else
    global_load_dword v7, v5, s[4:5] offset:1536 sc0
.endif
    s_waitcnt vmcnt(0)
    v_cmp_eq_u32 vcc, 0, v7
    s_cbranch_vccnz .Lflag_good_loop
    refresh
    global_load_dword v3, v2, s[4:5]
    global_load_dword v4, v2, s[4:5] offset:512
    s_waitcnt vmcnt(0)
    s_endpgm
