// SPDX-License-Identifier: MIT
// Instructions that come from macros, repetitions and several sections: assembled_files.py --own-lines asks which lines they get.
.text
.globl k
k:
  s_nop 0

.macro two x
  s_nop \x
  s_nop 1
.endm
two 5
.macro outer
  two 3
  s_nop 4
.endm
  outer
  s_mov_b32 s0, 1
.rept 2
  s_nop 7
.endr
.irp n, 1, 2
  s_nop \n
  two \n
.endr
.if 1
  s_nop 2
.else
  s_nop 3
.endif
/* A comment
   of lines */ s_nop 6
.long 5
.p2align 6
foo: s_branch later
later: s_endpgm
.section .text.b,"ax"
 s_nop 3
.section .rodata
.long 1
.text
 s_nop 5
