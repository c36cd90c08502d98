# SPDX-License-Identifier: MIT
"""Random words of each encoding. The fields are defined here independently of isa/."""

VGPR9 = lambda r: 256 + r.randrange(256)
VGPR_OF_8 = lambda r: 256 + r.randrange(0, 240, 2)
CONSTANTS = list(range(128, 209)) + list(range(240, 249))
SPECIAL = [106, 107, 124, 126, 127, 102, 103, 104, 105, 108, 123, 235, 236, 237, 238, 239, 251, 252, 253]


def ssrc(r):
    return r.choice([r.randrange(102), r.choice(CONSTANTS), r.choice(SPECIAL)])


def src(r):
    return r.choice([VGPR9(r), VGPR9(r), r.randrange(102), r.choice(CONSTANTS), r.choice(SPECIAL)])


def sdst(r):
    return r.choice([r.randrange(102), r.randrange(102), 106, 107, 124, 126, 102, 104, 108, 120])


def even_sgpr(r):
    return r.randrange(0, 96, 4)


any_bits = lambda width: lambda r: r.randrange(1 << width)
rarely = lambda width: lambda r: r.randrange(1 << width) if r.random() < 0.2 else 0
v8 = any_bits(8)
small8 = lambda r: r.randrange(0, 240)
LITERALS = [0, 1, 16, 64, 65, 0xffffffff, 0xfffffff0, 0xffffffef, 0x3f800000, 0x3f000000, 0xbf800000, 0x40000000,
            0xc0800000, 0x3e22f983, 0x3ff00000, 0x40100000, 0xbfe00000, 0x3c00, 0xb800, 0x3118, 0xffff, 0x12345678,
            0x3fc45f30]


def literal(r):
    return r.choice([r.choice(LITERALS), r.randrange(1 << 32), r.randrange(1 << 16)])


def dpp_ctrl(r):
    return r.choice([r.randrange(256), 0x100 + r.randrange(1, 16), 0x110 + r.randrange(1, 16),
                     0x120 + r.randrange(1, 16), 0x130, 0x134, 0x138, 0x13c, 0x140, 0x141, 0x142, 0x143])


sel = lambda r: r.randrange(7)
VOP3 = [(0, 8, small8), (32, 9, src), (41, 9, src), (50, 9, src), (8, 3, rarely(3)), (61, 3, rarely(3)),
        (11, 4, rarely(4)), (15, 1, rarely(1)), (59, 2, rarely(2))]
VOP3B = [(8, 7, lambda r: r.randrange(0, 100, 2))]
SDWA = [(40, 3, sel), (43, 2, lambda r: r.randrange(3)), (45, 1, rarely(1)), (46, 2, rarely(2)), (48, 3, sel),
        (51, 3, rarely(3)), (55, 1, rarely(1)), (56, 3, sel), (59, 3, rarely(3)), (63, 1, rarely(1)), (32, 8, v8)]
DPP = [(32, 8, v8), (40, 9, dpp_ctrl), (51, 1, any_bits(1)), (52, 4, rarely(4)), (56, 8, any_bits(8))]
VALU2 = [(9, 8, v8), (17, 8, small8)]
MUBUF = [(0, 12, any_bits(12)), (12, 1, any_bits(1)), (13, 1, any_bits(1)), (14, 1, any_bits(1)), (16, 1, rarely(1)),
         (17, 1, rarely(1)), (32, 8, small8), (40, 8, small8), (48, 5, lambda r: r.randrange(25)), (55, 1, rarely(1)),
         (56, 8, ssrc)]

# encoding: fields of (position, width, how to choose)
FIELDS = {
    'SOP2': [(0, 8, ssrc), (8, 8, ssrc), (16, 7, sdst)],
    'SOP1': [(0, 8, ssrc), (16, 7, sdst)],
    'SOPC': [(0, 8, ssrc), (8, 8, ssrc)],
    'SOPK': [(0, 16, any_bits(16)), (16, 7, sdst)],
    'SOPP': [(0, 16, lambda r: r.choice([r.randrange(1 << 16), r.randrange(128), r.randrange(1 << 10)]))],
    'VOP2': VALU2 + [(0, 9, src)],
    'VOP1': [(17, 8, small8), (0, 9, src)],
    'VOPC': [(0, 9, src), (9, 8, v8)],
    'VOP2-DPP': VALU2 + DPP, 'VOP1-DPP': VALU2[1:] + DPP,
    'VOP2-SDWA': VALU2 + SDWA, 'VOP1-SDWA': VALU2[1:] + SDWA,
    'VOPC-SDWA': [(9, 8, v8), (40, 7, sdst), (47, 1, any_bits(1))] + SDWA[4:],
    'VOP3': VOP3,
    'VOP3P': VOP3 + [(14, 1, any_bits(1)), (59, 2, any_bits(2))],
    'DS': [(0, 16, any_bits(16)), (16, 1, rarely(1)), (32, 8, small8), (40, 8, small8), (48, 8, small8), (56, 8, small8)],
    'MUBUF': MUBUF,
    'MTBUF': [f for f in MUBUF if f[0] not in (16, 17)] + [(19, 4, any_bits(4)), (23, 3, any_bits(3)), (54, 1, rarely(1))],
    'MIMG': [(8, 4, any_bits(4)), (12, 6, rarely(6)), (25, 1, rarely(1)), (63, 1, rarely(1)), (32, 8, small8),
             (40, 8, small8), (48, 5, lambda r: r.randrange(0, 24)), (53, 5, lambda r: r.randrange(0, 25))],
    'FLAT': [(0, 12, any_bits(12)), (16, 2, any_bits(2)), (32, 8, small8), (40, 8, small8), (56, 8, small8)],
    'GLOBAL': [(0, 13, any_bits(13)), (13, 1, rarely(1)), (16, 2, any_bits(2)), (32, 8, small8), (40, 8, small8),
               (56, 8, small8), (48, 7, lambda r: r.choice([127, r.randrange(0, 100, 2), 106]))],
    'SMEM': [(0, 6, lambda r: r.randrange(0, 48, 2)), (6, 7, lambda r: r.choice([even_sgpr(r), sdst(r)])),
             (14, 1, rarely(1)), (16, 1, rarely(1)), (17, 1, any_bits(1)), (32, 21, any_bits(21)),
             (57, 7, lambda r: r.choice([r.randrange(102), 106, 124]))],
    'VINTRP': [(0, 8, small8), (8, 8, any_bits(8)), (18, 8, small8)],
    'EXP': [(0, 4, any_bits(4)), (4, 6, any_bits(6)), (10, 3, any_bits(3)), (32, 8, v8), (40, 8, v8), (48, 8, v8),
            (56, 8, v8)],
}
FIELDS['SCRATCH'] = FIELDS['GLOBAL']
# scales, then a matrix product
FIELDS['VOP3PX2'] = [(0, 11, any_bits(11)), (11, 2, any_bits(2)), (13, 3, any_bits(3)), (32, 9, VGPR9), (41, 9, VGPR9), (50, 9, any_bits(9)),
                     (59, 2, any_bits(2)), (61, 3, any_bits(3)), (64, 8, small8), (72, 3, any_bits(3)), (79, 1, any_bits(1)), (96, 9, VGPR_OF_8),
                     (105, 9, VGPR_OF_8), (114, 9, lambda r: r.choice([VGPR_OF_8(r), r.choice(CONSTANTS)])), (123, 2, any_bits(2)), (125, 3, any_bits(3))]

# Fields at other positions in other generations: (target, encoding).
SADDR = lambda null: lambda r: r.choice([null, r.randrange(0, 100, 2), 106])
SADDR32 = lambda null: lambda r: r.choice([null, r.randrange(100), 106])
even8 = lambda r: r.randrange(0, 240, 2)
FLAT90A = [(0, 12, any_bits(12)), (16, 2, any_bits(2)), (25, 1, any_bits(1)), (32, 8, even8), (40, 8, even8), (55, 1, any_bits(1)),
           (56, 8, even8)]
SBASE = (0, 6, lambda r: r.randrange(0, 48, 2))
SDATA = (6, 7, lambda r: r.choice([even_sgpr(r), sdst(r)]))
MFMA = [(0, 8, lambda r: r.randrange(0, 200, 2)), (32, 8, lambda r: r.randrange(0, 200, 2)),
        (41, 8, lambda r: r.randrange(0, 200, 2)), (50, 9, lambda r: r.choice([256 + r.randrange(0, 200, 2), 128, 242, 193])),
        (8, 3, rarely(3)), (11, 4, rarely(4)), (15, 1, any_bits(1)), (59, 2, any_bits(2)), (61, 3, rarely(3))]
NEWBCAST = lambda r: r.choice([dpp_ctrl(r), 0x150 + r.randrange(16), 0x150 + r.randrange(16)])
DPP90A = [f if f[0] != 40 else (40, 9, NEWBCAST) for f in DPP]
MUBUF90A = MUBUF + [(15, 1, any_bits(1))]
FIELDS_OF = {
    ('gfx803', 'SMEM'): [SBASE, SDATA, (16, 1, rarely(1)), (17, 1, any_bits(1)), (32, 20, any_bits(20))],
    ('gfx803', 'FLAT'): [(16, 2, any_bits(2)), (32, 8, small8), (40, 8, small8), (56, 8, small8)],
    ('gfx908', 'VOP3P-MAI'): [f for f in MFMA if f[0] != 15], ('gfx90a', 'VOP3P-MAI'): MFMA,
    ('gfx90a', 'FLAT'): FLAT90A, ('gfx90a', 'GLOBAL'): FLAT90A + [(48, 7, SADDR(127))],
    ('gfx90a', 'SCRATCH'): FLAT90A + [(48, 7, SADDR32(127))],
    ('gfx90a', 'DS'): FIELDS['DS'] + [(25, 1, any_bits(1))],
    ('gfx90a', 'MUBUF'): MUBUF90A,
    ('gfx90a', 'MTBUF'): FIELDS['MTBUF'] + [(53, 1, any_bits(1))],
    ('gfx90a', 'MIMG'): FIELDS['MIMG'] + [(7, 1, any_bits(1))],
    ('gfx90a', 'VOP1-DPP'): VALU2[1:] + DPP90A, ('gfx90a', 'VOP2-DPP'): VALU2 + DPP90A,
    ('gfx942', 'FLAT'): FLAT90A, ('gfx942', 'GLOBAL'): FLAT90A + [(48, 7, SADDR(127))],
    ('gfx942', 'SCRATCH'): FLAT90A + [(48, 7, SADDR32(127)), (13, 1, any_bits(1))],
}
for key in [k for k in FIELDS_OF if k[0] == 'gfx90a' and ('gfx942', k[1]) not in FIELDS_OF]:
    FIELDS_OF['gfx942', key[1]] = FIELDS_OF[key]
for key in [k for k in FIELDS_OF if k[0] == 'gfx942']:
    FIELDS_OF['gfx950', key[1]] = FIELDS_OF[key]


# Fields of gfx6 and gfx7. LLVM checks our text by assembling it, so only words in its canonical form are useful: SGPR
# tuples start at multiples of four, exports have all their sources.
quad = lambda r: r.choice([r.randrange(0, 100, 4), r.randrange(0, 100, 4), 106, 126])
literal6 = lambda r: r.randrange(0x10000, 1 << 31) | 4
ssrc6 = lambda r: r.choice([quad(r), quad(r), r.choice(CONSTANTS[:-1]), 107, 124, 127])
src6 = lambda r: r.choice([VGPR9(r), VGPR9(r), ssrc6(r)])
MUBUF6 = [(0, 12, any_bits(12)), (12, 2, any_bits(2)), (14, 1, any_bits(1)), (15, 1, rarely(1)), (16, 1, rarely(1)), (32, 8, small8),
          (40, 8, small8), (48, 5, lambda r: r.randrange(25)), (54, 1, rarely(1)), (55, 1, rarely(1)), (56, 8, ssrc6)]
VOP3_6 = [(0, 8, small8), (32, 9, src6), (41, 9, src6), (50, 9, src6), (8, 3, rarely(3)), (61, 3, rarely(3)), (11, 1, rarely(1)),
          (59, 2, rarely(2))]
for key, fields in {
        'SOP2': [(0, 8, ssrc6), (8, 8, ssrc6), (16, 7, quad)], 'SOP1': [(0, 8, ssrc6), (16, 7, quad)],
        'SOPC': [(0, 8, ssrc6), (8, 8, ssrc6)], 'SOPK': [(0, 16, any_bits(16)), (16, 7, quad)],
        'VOP2': VALU2 + [(0, 9, src6)], 'VOP1': [(17, 8, small8), (0, 9, src6)], 'VOPC': [(0, 9, src6), (9, 8, v8)], 'VOP3': VOP3_6,
        'DS': [(0, 16, any_bits(16)), (17, 1, rarely(1)), (32, 8, small8), (40, 8, small8), (48, 8, small8), (56, 8, small8)],
        'MUBUF': MUBUF6, 'MTBUF': [f for f in MUBUF6 if f[0] != 16] + [(19, 4, any_bits(4)), (23, 3, any_bits(3))],
        'MIMG': [(8, 4, any_bits(4)), (12, 6, rarely(6)), (25, 1, rarely(1)), (32, 8, small8), (40, 8, small8),
                 (48, 5, lambda r: r.randrange(0, 24)), (53, 5, lambda r: r.randrange(0, 25))],
        'FLAT': [(16, 2, any_bits(2)), (32, 8, small8), (40, 8, small8), (56, 8, small8)],
        'SMRD': [(0, 8, any_bits(8)), (8, 1, any_bits(1)), (9, 6, lambda r: r.randrange(0, 48, 2)), (15, 7, lambda r: r.randrange(0, 88, 4))],
        'EXP': [(4, 6, any_bits(6)), (11, 2, any_bits(2)), (32, 8, v8), (40, 8, v8), (48, 8, v8), (56, 8, v8)]}.items():
    FIELDS_OF['gfx600', key] = FIELDS_OF['gfx700', key] = fields

# Targets that read and write words like another one, except for a row or two.
RELATIVES = {'gfx600': 'gfx601 gfx602', 'gfx700': 'gfx701 gfx702 gfx703 gfx704 gfx705', 'gfx803': 'gfx801 gfx802 gfx805 gfx810',
             'gfx900': 'gfx902 gfx904 gfx909 gfx90c gfx9-generic', 'gfx942': 'gfx940 gfx941', 'gfx950': 'gfx9-4-generic'}
LIKE = {relative: target for target, relatives in RELATIVES.items() for relative in relatives.split()}


def fields_of(target, encoding):
    target = 'gfx950' if target == 'gfx9-4-generic' else target
    return FIELDS_OF.get((target, encoding)) or FIELDS_OF.get((target[:-2], encoding)) or FIELDS[encoding]


# Bits or operands that LLVM prints although the instruction does not have them, and that we reject or print differently
# (isa/ERRATA.md).
LLVM_QUIRKS = {
    'gfx908': r'v_(dot|pk_fmac)\w*_(dpp|e64)',
    'gfx9-generic': r'v_mad_mix',
    'gfx803': r'src_(shared|private|pops)|v_ldexp_f16_dpp|null',
    'gfx90a': r'v_(dot|pk_fmac)\w*_(dpp|e64)',
    'gfx942': r'v_(dot|pk_fmac)\w*_(dpp|e64)',
    'gfx950': r'v_dot2c_f32_f16_(dpp|e64)|v_dot(2c_i|[48]c)\w*_(dpp|e64)|v_pk_fmac\w*_(dpp|e64|sdwa)|v_align\w* .*(op_sel|clamp)|src_flat_scratch_base',
}


def quirks_of(target):
    return '|'.join(LLVM_QUIRKS[t] for t in {target, LIKE.get(target, target)} if t in LLVM_QUIRKS) or 'none such'


# Instructions with only one or two legal words.
FREE_OF_FIELDS = ['ds_nop', 'v_nop', 'v_clrexcp']


def put(words, pos, width, value):
    mask = (1 << width) - 1
    i, shift = divmod(pos, 32)
    words[i] = words[i] & ~(mask << shift) & 0xffffffff | (value & mask) << shift


def has_literal(encoding, words):
    w = words[0]
    if encoding in ('SOP2', 'SOPC'):
        return w & 255 == 255 or w >> 8 & 255 == 255
    return encoding == 'SOP1' and w & 255 == 255 or encoding in ('VOP1', 'VOP2', 'VOPC') and w & 511 == 255


GCN = ['gfx600', 'gfx700']
VEGA = ['gfx803', 'gfx900', 'gfx906', 'gfx908', 'gfx90a', 'gfx942', 'gfx950']

# Position of the opcode on gfx8 and gfx9: position, width.
OPCODES = {'SOP2': (23, 7), 'SOP1': (8, 8), 'SOPC': (16, 7), 'SOPP': (16, 7), 'SOPK': (23, 5), 'VOP2': (25, 6), 'VOP1': (9, 8),
           'VOPC': (17, 8), 'VOP3': (16, 10), 'VOP3P': (16, 7), 'VOP3P-MAI': (16, 7), 'VOP1-DPP': (9, 8), 'VOP2-DPP': (25, 6),
           'VOP1-SDWA': (9, 8), 'VOP2-SDWA': (25, 6), 'VOPC-SDWA': (17, 8), 'SMEM': (18, 8), 'DS': (17, 8), 'MUBUF': (18, 7),
           'MTBUF': (15, 4), 'MIMG': (18, 7), 'FLAT': (18, 7), 'GLOBAL': (18, 7), 'SCRATCH': (18, 7), 'VINTRP': (16, 2)}

# VOP3 opcodes of gfx8 and gfx9 with an integer source for which LLVM prints the neg bit as sext() or ignores neg and
# abs; no document defines these bits there, and we reject them (isa/ERRATA.md).
INTEGER_SOURCES = {0x133, 0x1dd, 0x1f0, 0x1f1, 0x1f2, 0x1f5, 0x1f6, 0x1f8, 0x1f9, 0x1fb, 0x1fc, 0x204, 0x205, 0x284, 0x288,
                   0x292, 0x29e, 0x29f}


def clean(out, encoding, opcode):
    """Clears the fields of gfx6 and gfx7 that an instruction does not use, as LLVM's assembler does."""
    if encoding == 'MUBUF' and opcode in (112, 113):  # cache control
        out[0], out[1] = out[0] & 0xfffc0000, 0
    elif encoding in ('MUBUF', 'MTBUF'):
        if out[0] >> 15 & 1:  # addr64 excludes the others
            put(out, 12, 2, 0)
        elif not out[0] >> 12 & 3:
            put(out, 32, 8, 0)
        if encoding == 'MUBUF' and out[0] >> 16 & 1:  # lds: no data
            put(out, 40, 8, 0)
            put(out, 55, 1, 0)
    elif encoding == 'FLAT':
        is_load, is_store = opcode < 0x18, 0x18 <= opcode < 0x30
        if is_load:
            put(out, 40, 8, 0)
        elif is_store or not out[0] >> 16 & 1:
            put(out, 56, 8, 0)
    elif encoding == 'SOP1' and opcode in (0x20, 0x22, 0x32):  # s_setpc, s_rfe, s_cbranch_join: no result
        put(out, 16, 7, 0)
    elif encoding == 'SOP1' and opcode == 0x1f:  # s_getpc: no source
        put(out, 0, 8, 0)
    elif encoding == 'SOP2' and opcode == 0x2b:  # s_cbranch_g_fork: no result
        put(out, 16, 7, 0)
    elif encoding == 'SOPK' and opcode == 0x15:  # s_setreg_imm32: no register
        put(out, 16, 7, 0)
    elif encoding == 'SOPP' and opcode in (0x10, 0x11):  # s_sendmsg: message, operation, stream
        put(out, 0, 16, out[0] & 0x37f)
    elif encoding == 'SOPP' and opcode == 0xc:  # s_waitcnt: the bits of its three counters
        put(out, 0, 16, out[0] & 0xf7f)
    elif encoding == 'VOP1' and opcode in (0, 65):  # v_nop, v_clrexcp: no operands
        put(out, 0, 9, 0)
        put(out, 17, 8, 0)


def special_fields_gcn(encoding, opcode):
    if encoding == 'VOP3' and opcode < 256:  # compares: a scalar result
        return [(0, 8, quad)]
    if encoding == 'VOP3' and opcode == 256:  # v_cndmask_b32: a mask
        return [(50, 9, quad)]
    if encoding == 'VOP3' and opcode == 0x175:  # v_mqsad_u32_u8: VGPRs only
        return [(50, 9, VGPR9)]
    if encoding == 'VOP3' and opcode in (0x125, 0x126, 0x127, 0x128, 0x129, 0x12a, 0x16d, 0x16e, 0x176, 0x177):  # a mask, and one read
        return [(8, 7, quad)] + ([(50, 9, quad)] if 0x128 <= opcode <= 0x12a else [])
    if encoding in ('VOP1', 'VOP3') and opcode in (67, 68, 0x1c3, 0x1c4):  # v_movrels_b32, v_movrelsd_b32
        return [(0 if encoding == 'VOP1' else 32, 9, VGPR9)]
    if encoding == 'VINTRP':
        return [(10, 6, any_bits(5))] + ([(0, 8, lambda r: r.randrange(3))] if opcode == 2 else [])
    if encoding == 'EXP':
        return [(4, 6, lambda r: r.choice([*range(10), *range(12, 16), *range(32, 64)]))]
    if encoding == 'VOP1' and opcode == 2:  # v_readfirstlane_b32
        return [(0, 9, VGPR9), (17, 8, quad)]
    if encoding == 'VOP2' and opcode in (1, 2):  # v_readlane_b32, v_writelane_b32
        scalar = lambda r: r.choice([quad(r), r.choice(CONSTANTS[:64])])
        return [(9, 8, scalar)] + ([(0, 9, VGPR9), (17, 8, quad)] if opcode == 1 else [(0, 9, scalar)])
    if encoding == 'MIMG' and 64 <= opcode <= 95:  # gather4: one channel
        return [(8, 4, lambda r: 1 << r.randrange(4))]
    if encoding == 'MIMG' and (14 < opcode < 32 or opcode == 14):  # atomics: one or two dwords, cmpswap twice that
        return [(8, 4, lambda r: r.choice([3, 15] if opcode in (16, 29) else [1, 3])), (16, 2, lambda r: 0)]
    return []


def special_fields(target, encoding, opcode):
    """Fields with another meaning in some opcodes of an encoding."""
    none = lambda r: 0
    if target in GCN:
        return special_fields_gcn(encoding, opcode)
    if target not in VEGA:
        return []
    if encoding == 'VOP3' and opcode < 256:  # compares: a scalar result
        return [(0, 8, lambda r: r.choice([r.randrange(0, 100, 2), 106, 126]))]
    if encoding == 'VOP3' and opcode in INTEGER_SOURCES:
        return [(8, 3, none), (61, 3, none)]
    if encoding == 'VOP3' and 624 <= opcode <= 631:  # interpolation takes VGPRs only
        return [(50, 9, VGPR9 if opcode > 628 else none)] + [(41, 9, VGPR9 if opcode != 626 else lambda r: r.randrange(3))]
    if encoding == 'VOP3' and opcode == 649:  # v_readlane_b32
        return [(32, 9, VGPR9), (0, 8, sdst)]
    if target == 'gfx950' and encoding == 'VOP3' and opcode == 574:  # v_cvt_scalef32_sr_pk_fp4_f32: LLVM 22 writes constants as SGPRs
        return [(32, 9, VGPR_OF_8)]
    if target == 'gfx950' and encoding == 'VOP3' and opcode in (409, 410):  # v_permlane16_swap_b32, v_permlane32_swap_b32
        return [(32, 9, VGPR9)]
    if target == 'gfx950' and encoding == 'VOP3' and 594 <= opcode <= 611:  # up to 32 registers
        low = lambda r: r.randrange(0, 224, 2)
        return [(0, 8, low), (32, 9, lambda r: 256 + low(r))] + ([(41, 9, lambda r: 256 + low(r))] if opcode <= 595 else [])
    if encoding == 'VOP1' and opcode in (81, 82, 89, 90):  # v_swap_b32, v_accvgpr_mov_b32, and those two
        return [(0, 9, VGPR9)]
    if encoding == 'VOP2-DPP' and opcode == 51:  # v_ldexp_f16: see INTEGER_SOURCES
        return [(54, 2, none)]
    if encoding == 'VOP1' and opcode == 2:  # v_readfirstlane_b32: LLVM shows other sources as VGPRs
        return [(0, 9, VGPR9), (17, 8, sdst)]
    if encoding == 'MIMG' and 16 <= opcode <= 28:  # atomics: one or two dwords, cmpswap twice that; no D16
        return [(8, 4, lambda r: r.choice([3, 15] if opcode == 17 else [1, 3])), (16, 2, none)]
    if encoding == 'MIMG' and 64 <= opcode <= 95:  # gather4: LLVM has no form of three dwords for D16 with tfe
        return [(16, 1, none)]
    return []


def vary(r, target, encoding, opcode, words, _text=None):
    """The words with some fields replaced by random values."""
    target = LIKE.get(target, target)
    out = list(words)
    share = r.choice([0.15, 0.4, 0.8, 1.0])
    special = special_fields(target, encoding, opcode)
    fields = fields_of(target, encoding) + special
    for pos, width, choose in fields:
        if pos < 32 * len(words) and (r.random() < share or (pos, width, choose) in special):
            put(out, pos, width, choose(r))
    if target in GCN:
        clean(out, encoding, opcode)
    if encoding == 'VOP3' and target in VEGA and opcode not in INTEGER_SOURCES and r.random() < 0.3:
        put(out, 8, 7, r.randrange(0, 100, 2))  # VOP3B's scalar result
    # v_nop, v_clrexcp, s_getpc_b64: LLVM accepts an unused literal
    no_source = target in GCN and encoding == 'VOP1' and opcode in (67, 68) or (encoding, opcode) in (('VOP1', 0), ('VOP1', 53), ('SOP1', 28))
    if encoding in ('SOP2', 'SOPC', 'SOP1') and not no_source and r.random() < 0.15:
        put(out, 0, 8, 255)
    if encoding in ('VOP2', 'VOP1', 'VOPC') and len(out) == 1 and not no_source and r.random() < 0.2:
        put(out, 0, 9, 255)
    if len(words) == 2 and encoding == 'VOP2' and target not in GCN and r.random() < 0.2:
        put(out, 0, 9, 255)  # v_madmk, v_madak: the first source is the same literal
    if len(words) == 2 and encoding in ('VOP2', 'SOPK'):
        out[-1] = literal(r) if target not in GCN else literal6(r)
    elif target == 'gfx700' and encoding == 'SMRD' and r.random() < 0.2:  # an offset in dwords in the second dword
        put(out, 0, 9, 255)
        out.append(literal6(r))
    elif has_literal(encoding, out):
        half = encoding == 'VOP1' and opcode == 11  # v_cvt_f32_f16: only 16 bits are used
        out.append(literal(r) if target not in GCN else literal6(r) & 0x7fff if half else literal6(r))
    return out
