; SPDX-License-Identifier: MIT
; Waves of a workgroup that communicate through a buffer whose descriptor is in s[0:3], where HSA's kernels have that of
; private memory: drivers of graphics have any there.
; Source: LLVM AMDGPUUsage, "Private Segment Buffer"; "Memory Model GFX6-GFX9", load and store atomic of workgroup scope.
; TARGETS: gfx900 gfx90a

; s[0:3] = the buffer, v1 = 0, v2 = 1; waves behind the first one go to `\behind`.
.macro begin behind
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    s_waitcnt lgkmcnt(0)
    v_mov_b32 v1, 0
    v_mov_b32 v2, 1
    s_mov_b32 s0, s4
    s_and_b32 s1, s5, 0xffff
    s_mov_b32 s2, 4096
    s_mov_b32 s3, 0x00027000
    v_cmp_gt_u32 vcc, 64, v0
    s_cbranch_vccz \behind
.endm

; The flag is stored when the data has arrived, and awaited.
; KERNEL: flag data
; RUN: flag -g 128 -b 128 --arg data=zero:u32:1024 --only race
flag:
    begin wait
    v_mov_b32 v3, 7
    buffer_store_dword v3, v1, s[0:3], 0 offen offset:64
    s_waitcnt vmcnt(0)
    buffer_store_dword v2, v1, s[0:3], 0 offen
    s_endpgm
wait:
    buffer_load_dword v4, v1, s[0:3], 0 offen
    s_waitcnt vmcnt(0)
    v_readfirstlane_b32 s6, v4
    s_cmp_eq_u32 s6, 0
    s_cbranch_scc1 wait
    buffer_load_dword v5, v1, s[0:3], 0 offen offset:64
    s_waitcnt vmcnt(0)
    buffer_store_dword v5, v1, s[0:3], 0 offen offset:128
    s_endpgm

; Without a loop that waits, the load is a race with the store.
; KERNEL: no_flag data
; RUN: no_flag -g 128 -b 128 --arg data=zero:u32:1024 --only race
no_flag:
    begin other
    buffer_store_dword v2, v1, s[0:3], 0 offen
    s_endpgm
other:
    buffer_load_dword v4, v1, s[0:3], 0 offen ; FINDS: race-global
    s_waitcnt vmcnt(0)
    buffer_store_dword v4, v1, s[0:3], 0 offen offset:128
    s_endpgm
