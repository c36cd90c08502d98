// Branches over 62 to 66 dwords, one within another, and backwards: gfx1010's assembler pads those with an offset of 0x3f, which
// moves what stands behind them.
.ident "compiler"
.text
.globl branches
.type branches,@function
branches:
s_branch 63
s_branch a
.fill 62, 4, 0xbf800000
a:
s_branch b
.fill 63, 4, 0xbf800000
b:
s_cbranch_scc0 c
.fill 64, 4, 0xbf800000
c:
s_cbranch_scc1 b
s_call_b64 s[0:1], d
.fill 63, 4, 0xbf800000
d:
s_branch e
s_cbranch_vccz f
s_cbranch_vccnz g
.fill 57, 4, 0xbf800000
s_cbranch_execz h
s_nop 0
s_nop 0
e:
s_nop 0
f:
s_nop 0
g:
.fill 57, 4, 0xbf800000
h:
s_cbranch_execnz d
s_cbranch_cdbgsys i
.fill 63, 4, 0xbf800000
i:
s_endpgm
.size branches, .-branches
