; SPDX-License-Identifier: MIT
; A wait for a part of the stores on their way completes the oldest ones, since they complete in order.
; Sources: Vega ISA, "Data Dependency Resolution": stores return in the order of issue; LLVM AMDGPUUsage, "Memory Model": release.
; TARGETS: gfx900 gfx90a

.include "flags.inc"

; The wait leaves the second store, which is not released with the flag.
; KERNEL: second data out
; RUN: second -g 128 -b 64 --arg data=zero:u32:256 --arg out=zero:u32:64 --only race
second:
    begin .Lsecond
    global_store_dword v1, v0, s[4:5]
    global_store_dword v1, v0, s[4:5] offset:512
    s_waitcnt vmcnt(1)
    global_store_dword v2, v3, s[4:5] offset:256
    s_endpgm
.Lsecond:
    global_load_dword v4, v2, s[4:5] offset:256 glc
    s_waitcnt vmcnt(0)
    v_cmp_eq_u32 vcc, 0, v4
    s_cbranch_vccnz .Lsecond
    buffer_wbinvl1_vol
    global_load_dword v4, v1, s[4:5]
    global_load_dword v5, v1, s[4:5] offset:512     ; FINDS: race-release
    s_waitcnt vmcnt(0)
    global_store_dword v1, v4, s[6:7]
    s_endpgm

; KERNEL: first_good data out
; RUN: first_good -g 128 -b 64 --arg data=zero:u32:256 --arg out=zero:u32:64 --only race
first_good:
    begin .Lfirst_good
    global_store_dword v1, v0, s[4:5]
    global_store_dword v1, v0, s[4:5] offset:512
    s_waitcnt vmcnt(1)
    global_store_dword v2, v3, s[4:5] offset:256
    s_endpgm
.Lfirst_good:
    global_load_dword v4, v2, s[4:5] offset:256 glc
    s_waitcnt vmcnt(0)
    v_cmp_eq_u32 vcc, 0, v4
    s_cbranch_vccnz .Lfirst_good
    buffer_wbinvl1_vol
    global_load_dword v4, v1, s[4:5]
    s_waitcnt vmcnt(0)
    global_store_dword v1, v4, s[6:7]
    s_endpgm
