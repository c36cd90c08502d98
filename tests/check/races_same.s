; SPDX-License-Identifier: MIT
; Waves store to the same two places of LDS at once: with the same values or with others.
; TARGETS: gfx900 gfx90a gfx942 gfx1030

; v1 = a dword that all waves share
.macro begin
    v_and_b32 v1, 31, v0
    v_lshlrev_b32 v1, 2, v1
    v_mov_b32 v2, 7
.endm

; KERNEL: same lds=256
; RUN: same -g 128 -b 128 --only race
same:
    begin
    ds_write2_b32 v1, v2, v2 offset1:32     ; FINDS: race-same-value
    s_waitcnt lgkmcnt(0)
    s_endpgm

; The second value is another one in each wave.
; KERNEL: other lds=256
; RUN: other -g 128 -b 128 --only race
other:
    begin
    ds_write2_b32 v1, v2, v0 offset1:32     ; FINDS: race-same-value, race-lds; FINDS gfx9*: race-lanes
    s_waitcnt lgkmcnt(0)
    s_endpgm
