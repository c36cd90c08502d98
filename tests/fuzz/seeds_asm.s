// SPDX-License-Identifier: MIT
// Seeds of fuzz_asm: directives, macros, a kernel and its metadata.
.text
.globl foo
.p2align 8
.type foo,@function
foo:
  .macro ADD a, b=v1
  v_add_f32 \a, \a, \b
  .endm
  ADD v0
  ADD v2, v3
  .rept 3
  s_nop 0
  .endr
  .if 1 > 2
  bad
  .else
  s_branch 1f
1: s_cbranch_scc0 foo
  .endif
  s_mov_b32 s0, end-foo
end:
  s_endpgm
.Lend:
  .size foo, .Lend-foo
.rodata
.p2align 6
.amdhsa_kernel foo
 .amdhsa_next_free_vgpr 4
 .amdhsa_next_free_sgpr 8
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version:
  - 1
  - 2
amdhsa.kernels:
  - .name: foo
    .symbol: foo.kd
    .kernarg_segment_size: 0
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .kernarg_segment_align: 4
    .wavefront_size: 64
    .sgpr_count: 8
    .vgpr_count: 4
    .max_flat_workgroup_size: 64
...
.end_amdgpu_metadata
.data
.byte 1, 2, end-foo
.long foo_symbol, 0x12345678
.ascii "text\n"
.fill 3, 4, 0x11223344
.set x, (1 + 2) * 3 << 4
.ifdef x
s_mov_b32 s1, x
.endif
.text
s_waitcnt vmcnt(0) & lgkmcnt(0)
s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s2
s_sendmsg sendmsg(MSG_GS, GS_OP_EMIT, 1)
ds_swizzle_b32 v0, v1 offset:swizzle(BITMASK_PERM,"01pi0")
tbuffer_load_format_x v0, off, s[4:7], format:[BUF_DATA_FORMAT_32,float], s1 offset:4 glc
v_add_f32_dpp v0, -v1, |v2| quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0x3
v_add_f32_sdwa v0, sext(v1), v2 dst_sel:WORD_1 src0_sel:BYTE_2
s_add_u32 s0, s0, foo@rel32@lo+4
image_sample v[0:3], v[1:2], s[8:15], s[4:7] dmask:0xf unorm
global_load_dword v1, v[2:3], off offset:-8
exp mrt0 v0, v1, v2, off done vm
.altmacro
.macro alt a, b
.byte a, \b&
.endm
alt %1+2, <3>
.noaltmacro
.reloc 0, R_AMDGPU_ABS32, foo
.set count, .amdgcn.next_free_vgpr
.version "v"
.print "p"
.ifeqs "a", "a"
.else
.endif
.dcb.d 2, nan
.file 0 "d" "a.cl" md5 0x0102030405060708090a0b0c0d0e0f10 source "x"
.file 1 "d/b.cl"
.cfi_sections .debug_frame, .eh_frame
.text
.cfi_startproc
.loc 1 5 3 prologue_end is_stmt 0 discriminator 3
s_nop 0
.cfi_def_cfa s32, 8
.cfi_offset v3, -16
.cfi_escape 1, 2
.loc 0 9999
.cfi_endproc
