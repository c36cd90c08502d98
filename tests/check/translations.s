; SPDX-License-Identifier: MIT
; Sources of memory instructions that may still be replayed, until XCNT or their own counter says that they were translated.
; Sources: CDNA 5 ISA, S_WAIT_XCNT; LLVM, SIInsertWaitcnts and llvm/test/CodeGen/AMDGPU/wait-xcnt.mir.
; TARGETS: gfx1250

.macro begin
    s_load_b64 s[4:5], s[0:1], 0x0
    v_lshlrev_b32 v1, 2, v0
    v_mov_b32 v2, 7
    s_wait_kmcnt 0x0
.endm

; KERNEL: address in
; RUN: address -g 32 -b 32 --arg in=iota:u32:64
address:
    begin
    global_load_b32 v3, v1, s[4:5]
    v_mov_b32 v1, 0                  ; FINDS: source-before-translation
    s_wait_loadcnt 0x0
    s_endpgm

; KERNEL: base in
; RUN: base -g 32 -b 32 --arg in=iota:u32:64
base:
    begin
    global_load_b32 v3, v1, s[4:5]
    s_mov_b32 s5, 0                  ; FINDS: source-before-translation
    s_wait_loadcnt 0x0
    s_endpgm

; KERNEL: data in
; RUN: data -g 32 -b 32 --arg in=iota:u32:64
data:
    begin
    global_store_b32 v1, v2, s[4:5]
    v_mov_b32 v2, 0                  ; FINDS: source-before-translation
    s_endpgm

; The wait leaves the second one.
; KERNEL: counted in
; RUN: counted -g 32 -b 32 --arg in=iota:u32:64
counted:
    begin
    v_mov_b32 v4, v1
    global_store_b32 v1, v2, s[4:5]
    global_store_b32 v4, v2, s[4:5] offset:4
    s_wait_xcnt 0x1
    v_mov_b32 v1, 0
    v_mov_b32 v4, 0                  ; FINDS: source-before-translation
    s_endpgm

; By XCNT, by its own counter, by scalar memory, which comes only after vector memory has been translated, and by a
; load, whose result comes only then.
; KERNEL: good in
; RUN: good -g 32 -b 32 --arg in=iota:u32:64
good:
    begin
    global_store_b32 v1, v2, s[4:5]
    s_wait_xcnt 0x0
    v_mov_b32 v2, 0
    global_load_b32 v3, v1, s[4:5]
    s_wait_loadcnt 0x0
    v_lshlrev_b32 v1, 2, v0
    global_load_b32 v3, v1, s[4:5] offset:4
    s_load_b32 s6, s[4:5], 0x0
    v_lshlrev_b32 v1, 2, v0
    v_mov_b32 v4, v1
    s_wait_loadcnt 0x0
    s_wait_kmcnt 0x0
    global_store_b32 v4, v2, s[4:5] offset:8
    global_load_b32 v4, v1, s[4:5]
    s_wait_loadcnt 0x0
    s_endpgm

; Jumps, barriers and messages leave nothing to translate.
; KERNEL: drained in
; RUN: drained -g 64 -b 64 --arg in=iota:u32:64
drained:
    begin
    global_load_b32 v3, v1, s[4:5]
    s_branch after
after:
    v_mov_b32 v1, 0
    global_load_b32 v4, v2, s[4:5]
    s_barrier_signal -1
    v_mov_b32 v2, 0
    s_barrier_wait -1
    global_load_b32 v5, v1, s[4:5]
    s_cbranch_scc0 fell
    s_nop 0
fell:
    s_sendmsg sendmsg(MSG_INTERRUPT)
    v_mov_b32 v1, 0
    s_wait_loadcnt 0x0
    s_endpgm

; A load overwrites half of an address that an earlier one may still need: it is translated behind that one, but what
; follows it is not known to be.
; KERNEL: behind_load in
; RUN: behind_load -g 32 -b 32 --arg in=iota:u32:64
behind_load:
    begin
    v_mov_b64 v[6:7], s[4:5]
    flat_load_b32 v3, v[6:7]
    global_load_b32 v6, v1, s[4:5]
    v_mov_b32 v7, 0                  ; FINDS: source-before-translation
    s_wait_loadcnt_dscnt 0x0
    s_endpgm

; Scalar prefetches are not retried, so that earlier addresses have to be translated first. Source: CDNA 5 ISA, "Scalar
; Prefetch Instructions". A note, as LLVM 22 does not wait.
; KERNEL: prefetch in
; RUN: prefetch -g 32 -b 32 --arg in=iota:u32:64
prefetch:
    begin
    global_load_b32 v3, v1, s[4:5]
    s_prefetch_data s[4:5], 0x0, null, 3        ; FINDS: prefetch-before-translation
    s_prefetch_inst s[4:5], 0x0, null, 3
    global_store_b32 v1, v2, s[4:5]
    s_prefetch_inst_pc_rel 0x0, null, 3         ; FINDS: prefetch-before-translation
    s_wait_loadcnt 0x0
    s_endpgm

; By XCNT, by the counter of the load, and with LDS instructions, which have no address to translate. Vector prefetches
; are no such instructions.
; KERNEL: prefetch_good in lds=256
; RUN: prefetch_good -g 32 -b 32 --arg in=iota:u32:64
prefetch_good:
    begin
    s_prefetch_data s[4:5], 0x0, null, 3
    global_load_b32 v3, v1, s[4:5]
    s_wait_xcnt 0x0
    s_prefetch_data s[4:5], 0x0, null, 3
    global_load_b32 v4, v1, s[4:5]
    global_prefetch_b8 v1, s[4:5]
    s_wait_loadcnt 0x0
    s_prefetch_inst_pc_rel 0x0, null, 3
    ds_store_b32 v1, v2
    s_prefetch_data_pc_rel 0x0, null, 3
    s_wait_dscnt 0x0
    s_endpgm
