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

; Stores of the device's scope write through: they need no write-back, but must be complete. Also of 16 bytes, and read by loads
; that bypass caches.
; KERNEL: through_good data out
; RUN: through_good -g 128 -b 64 --arg data=zero:u32:128 --arg out=zero:u32:64 --only race
through_good:
    begin .Lthrough_good
    global_store_dword v1, v0, s[4:5] sc1
    s_waitcnt vmcnt(0)
    global_store_dword v2, v3, s[4:5] offset:256 sc1
    s_endpgm
.Lthrough_good:
    global_load_dword v4, v2, s[4:5] offset:256 sc1
    s_waitcnt vmcnt(0)
    v_cmp_eq_u32 vcc, 0, v4
    s_cbranch_vccnz .Lthrough_good
    buffer_inv sc1
    global_load_dword v4, v1, s[4:5]
    s_waitcnt vmcnt(0)
    s_endpgm

; KERNEL: through data out
; RUN: through -g 128 -b 64 --arg data=zero:u32:128 --arg out=zero:u32:64 --only race
through:
    begin .Lthrough
    global_store_dword v1, v0, s[4:5] sc1
    global_store_dword v2, v3, s[4:5] offset:256 sc1
    s_endpgm
.Lthrough:
    global_load_dword v4, v2, s[4:5] offset:256 sc1
    s_waitcnt vmcnt(0)
    v_cmp_eq_u32 vcc, 0, v4
    s_cbranch_vccnz .Lthrough
    buffer_inv sc1
    global_load_dword v4, v1, s[4:5]    ; FINDS: race-release
    s_waitcnt vmcnt(0)
    s_endpgm

; A plain store before it does not write through.
; KERNEL: through_plain data out
; RUN: through_plain -g 128 -b 64 --arg data=zero:u32:256 --arg out=zero:u32:64 --only race
through_plain:
    begin .Lthrough_plain
    global_store_dword v1, v0, s[4:5] offset:512
    global_store_dword v1, v0, s[4:5] sc1
    s_waitcnt vmcnt(0)
    global_store_dword v2, v3, s[4:5] offset:256 sc1
    s_endpgm
.Lthrough_plain:
    global_load_dword v4, v2, s[4:5] offset:256 sc1
    s_waitcnt vmcnt(0)
    v_cmp_eq_u32 vcc, 0, v4
    s_cbranch_vccnz .Lthrough_plain
    buffer_inv sc1
    global_load_dword v4, v1, s[4:5]
    global_load_dword v5, v1, s[4:5] offset:512     ; FINDS: race-release
    s_waitcnt vmcnt(0)
    s_endpgm

; Two waves store, and behind a barrier one of them stores the flag.
; KERNEL: through_waves_good data out
; RUN: through_waves_good -g 256 -b 128 --arg data=zero:u32:1024 --arg out=zero:u32:64 --only race
through_waves_good:
    begin .Lthrough_waves_good
    v_lshlrev_b32 v8, 4, v0
    global_store_dwordx4 v8, v[4:7], s[4:5] sc0 sc1
    s_waitcnt vmcnt(0)
    s_barrier
    v_cmp_gt_u32 vcc, 64, v0
    s_cbranch_vccz .Lthrough_waves_end
    global_store_dword v2, v3, s[4:5] offset:2048 sc1
.Lthrough_waves_end:
    s_endpgm
.Lthrough_waves_good:
    global_load_dword v4, v2, s[4:5] offset:2048 sc1
    s_waitcnt vmcnt(0)
    v_cmp_eq_u32 vcc, 0, v4
    s_cbranch_vccnz .Lthrough_waves_good
    v_lshlrev_b32 v8, 4, v0
    global_load_dwordx4 v[4:7], v8, s[4:5] sc0 sc1
    s_waitcnt vmcnt(0)
    s_endpgm

; Wave 1 has not waited before the barrier.
; KERNEL: through_waves data out
; RUN: through_waves -g 256 -b 128 --arg data=zero:u32:1024 --arg out=zero:u32:64 --only race
through_waves:
    begin .Lthrough_waves
    v_lshlrev_b32 v8, 4, v0
    global_store_dwordx4 v8, v[4:7], s[4:5] sc0 sc1
    s_barrier
    s_waitcnt vmcnt(0)
    v_cmp_gt_u32 vcc, 64, v0
    s_cbranch_vccz .Lthrough_waves_over
    global_store_dword v2, v3, s[4:5] offset:2048 sc1
.Lthrough_waves_over:
    s_endpgm
.Lthrough_waves:
    global_load_dword v4, v2, s[4:5] offset:2048 sc1
    s_waitcnt vmcnt(0)
    v_cmp_eq_u32 vcc, 0, v4
    s_cbranch_vccnz .Lthrough_waves
    v_lshlrev_b32 v8, 4, v0
    global_load_dwordx4 v[4:7], v8, s[4:5] sc0 sc1  ; FINDS: race-release
    s_waitcnt vmcnt(0)
    s_endpgm
