// SPDX-License-Identifier: MIT
// What assembly files may say besides instructions: assembled_files.py holds it against llvm-mc-19 and ld.lld-19.
.include "directives.inc"
.ident "a test"
.file "directives.cl"

// ---- code, symbols, relocations
.text
.globl f
.protected f
.p2align 8
.type f,@function
f:
    s_getpc_b64 s[0:1]
    s_add_u32 s0, s0, var@gotpcrel32@lo+4
    s_addc_u32 s1, s1, var@gotpcrel32@hi+12
    s_add_u32 s2, s0, pvar@gotpcrel32@lo+4
    s_add_u32 s2, s2, pvar@rel32@lo+4
    s_cbranch_scc0 1f
    s_branch over
1:  s_branch 1b
over:
    .p2align 4
    s_endpgm
.Lend:
.size f, .Lend-f
local:
    s_nop 0
after = .
.section .text.more,"ax",@progbits
    s_nop 4
.section .text.more2,"ax",@progbits,unique,1
    s_nop 5

// ---- a kernel
.globl k
.protected k
.type k,@function
.p2align 8
k:
    s_endpgm
.Lk_end:
.size k, .Lk_end-k
.section .rodata,"a",@progbits
.p2align 6
.amdhsa_kernel k
    .amdhsa_next_free_vgpr 5
    .amdhsa_next_free_sgpr 9
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_kernarg_size 16
    .amdhsa_float_round_mode_32 0b01
.end_amdhsa_kernel

// ---- sections
.data
.globl var
.type var,@object
var:
    .quad var
    .quad local
    .quad pvar+8
    .quad .Lend
    .size var, 32
.globl pvar
.protected pvar
pvar:
    .long 1
.weak weak
weak:
    .long 2
.section .data.rel.ro,"aw"
    .quad var
.section .init_array,"aw",@init_array
    .quad f
.section .rodata.x,"a"
.globl ro
ro:
    .long 7
.bss
.globl zeros
zeros:
    .zero 100
few:
    .skip 4
.comm common, 16, 8
.section mine,"a"
    .long 6
.section aside
    .quad var
    .long f-local
    .long .Lend-f
.section .bss.rel.ro,"aw",@nobits
    .zero 4
.section .note.mine,"a",@note
    .long 4, 0, 1, 0
.weak nowhere
.data
    .quad nowhere
.hidden hid
.globl hid
hid:
.set alias, var
.globl alias
.globl absolute
.set absolute, 7
.pushsection .rodata
    .byte 1
.popsection
    .byte 2
.previous
.section .AMDGPU.csdata,"",@progbits
.section .note.GNU-stack,"",@progbits

// ---- data
.section .rodata.data,"a"
    .byte 1, -128, 255, 'a', '\n', 1 == 1
    .short 1, 0xffff
    .2byte 3
    .value 4
    .long 0x12345678, 1 + 2 * 3 | 8, (1 << 4) - 1, ~0, !0, 7 / 2, 7 % 4
    .int from_include, later
    .4byte .Lend - f
    .quad 0x123456789abcdef, later * 2
    .8byte -1
    .octa 0x123456789abcdef0fedcba9876543210, 1234567890123456789012345
    .float 1.5, -2.0, 1, inf, 0x1p4
    .single 0.1
    .double 0.1, -1e300
    .dc.b 1
    .dc.w 2
    .dc.l 3
    .dc.a 4
    .dcb.w 2, 3
    .dcb.l 2, 5
    .ds.w 2
    .uleb128 300, 0
    .sleb128 -300, 64
    .ascii "a\tb" "c\"\\\101\x41"
    .asciz "d", "e"
    .string "f"
    .fill 3, 2, 0x1234
    .fill 2, 8, 0x55667788
    .zero 3, 4
    .space 2
    .skip 3, 1
    .balign 16
    .p2align 5, 0xcc
    .p2alignw 3, 0x1234
    .align 8
    .org . + 4, 0xee
    .byte later
    .set later, 5
    .set later2, later + 1
    .long later2
    .incbin "directives.inc", 3, 20
    "quoted name":
    .long . - "quoted name"

// ---- metadata: YAML in block and flow style, keys in LLVM's order
.amdgpu_metadata
---
amdhsa.kernels:
  - .args:
      - {.address_space: global, .name: a, .offset: 0,
         .size: 8, .value_kind: global_buffer}
      - { .offset: 8, .size: 8, .value_kind: hidden_global_offset_x }
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 16
    .max_flat_workgroup_size: 256
    .name:           k   # a comment
    .private_segment_fixed_size: 0
    .sgpr_count:     8
    .symbol:         k.kd
    .vgpr_count:     4
    .wavefront_size: 64
amdhsa.printf: ["1:1:4:%d\\n", '2:0:x, y']
amdhsa.version: [1, 2]
other: {a: 1, b: [true, false, -5, 0x10, text more], 'c d': {}, e: []}
...
.end_amdgpu_metadata

// ---- macros, repetition, conditions
.macro pair a:req, b=3, rest:vararg
    .ascii "\a|\b|\rest|\@|\+|\()x\n"
.endm
pair 1
pair 1, 2, 3, 4
pair a=5
pair 1 + 2 4
pair (1, 2) -3 -4
pair "x y",z
.macro nested n
    .if \n
        .long \n
        nested (\n - 1)
    .else
        .exitm
        .long 99
    .endif
    .byte 0xa0 + \n
.endm
nested 3
.purgem pair
.macro pair a
    .ascii "\a"
.endm
pair again
included 1
included 2, b=9
.rept 3
    .byte \+
    .rept 2
        .byte 8
    .endr
.endr
.irp x, 1, 2+3, 4
    .byte \x
.endr
.irpc c, 159
    .byte \c
.endr
.ifdef from_include
    .byte 1
.else
    .byte 2
.endif
.ifndef from_include
    .error "not skipped"
.elseif 0
    .error "not skipped"
.else
    .byte 3
    .ifc a b, a b
        .byte 4
    .endif
    .ifnc a, b
        .byte 5
    .endif
    .ifeqs "a", "b"
        .err
    .endif
    .ifb
        .byte 6
    .endif
    .ifnb x
        .byte 7
    .endif
    .ifeq 0
        .byte 8
    .endif
    .ifge 0
        .byte 9
    .endif
    .ifgt 0
        .byte 10
    .endif
    .iflt -1
        .byte 11
    .endif
    .ifle 1
        .byte 12
    .endif
.endif
/* A comment
   of lines */ .byte 13 // and one behind
    .byte 14 ; another

// Numbers of as many bytes as they need, of what comes later: they are within what they measure, and padded where they were larger.
.section .lebs, "", @progbits
.La: .zero 63
.uleb128 .Lb-.La
.uleb128 .Lc-.Lb, 5, late-3
.sleb128 .La-.Lc, -late
.zero 62
.Lb: .zero 200
.p2align 6
.Lc:
.uleb128 .Ld-.La
.p2align 3
.Ld: .zero 20000
.set late, 20000

// A symbol that only the value of another one names is undefined, and listed.
.set alias_of_nothing, nowhere
.set further_from_nothing, nowhere_else + 4
