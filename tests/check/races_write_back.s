; SPDX-License-Identifier: MIT
; A write-back of L2 before a flag must be waited for: it counts with vmcnt.
; Sources: LLVM AMDGPUUsage, "Memory Model GFX942": release; LLVM pull request 178316.
; TARGETS: gfx942

.include "flags.inc"

; KERNEL: unwaited data out
; RUN: unwaited -g 128 -b 64 --arg data=zero:u32:128 --arg out=zero:u32:64 --only race
unwaited:
    begin .Lunwaited
    global_store_dword v1, v0, s[4:5]
    s_waitcnt vmcnt(0)
    buffer_wbl2 sc1
    global_store_dword v2, v3, s[4:5] offset:256 sc1
    s_endpgm
.Lunwaited:
    global_load_dword v4, v2, s[4:5] offset:256 sc1
    s_waitcnt vmcnt(0)
    v_cmp_eq_u32 vcc, 0, v4
    s_cbranch_vccnz .Lunwaited
    buffer_inv sc1
    global_load_dword v4, v1, s[4:5]    ; FINDS: race-release
    s_waitcnt vmcnt(0)
    global_store_dword v1, v4, s[6:7]
    s_endpgm

; The wait leaves the load behind the write-back on its way.
; KERNEL: waited_good data out
; RUN: waited_good -g 128 -b 64 --arg data=zero:u32:128 --arg out=zero:u32:64 --only race
waited_good:
    begin .Lwaited_good
    global_store_dword v1, v0, s[4:5]
    buffer_wbl2 sc1
    global_load_dword v5, v1, s[6:7]
    s_waitcnt vmcnt(1)
    global_store_dword v2, v3, s[4:5] offset:256 sc1
    s_endpgm
.Lwaited_good:
    global_load_dword v4, v2, s[4:5] offset:256 sc1
    s_waitcnt vmcnt(0)
    v_cmp_eq_u32 vcc, 0, v4
    s_cbranch_vccnz .Lwaited_good
    buffer_inv sc1
    global_load_dword v4, v1, s[4:5]
    s_waitcnt vmcnt(0)
    s_endpgm
