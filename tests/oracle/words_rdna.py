# SPDX-License-Identifier: MIT
"""Random words of each encoding of gfx10 to gfx12. The fields are defined here independently of isa/."""
import re

from words import LITERALS, put

# A field: (position, width, how to choose).
any_bits = lambda width: lambda r: r.randrange(1 << width)
often = lambda width: lambda r: r.randrange(1 << width) if r.random() < 0.8 else 0
rarely = lambda width: lambda r: r.randrange(1 << width) if r.random() < 0.2 else 0
often_zero = lambda choose: lambda r: choose(r) if r.random() < 0.3 else 0
none = lambda r: 0
vgpr = lambda r: r.randrange(0, 240)
VGPR9 = lambda r: 256 + r.randrange(256)
CONSTANTS = list(range(128, 209)) + list(range(240, 249))
SPECIAL = [106, 107, 124, 125, 126, 127, 108, 123, 235, 236, 237, 238, 253]


def ssrc(r):
    return r.choice([r.randrange(106), r.choice(CONSTANTS), r.choice(SPECIAL)])


def src(r):
    return r.choice([VGPR9(r), VGPR9(r), r.randrange(106), r.choice(CONSTANTS), r.choice(SPECIAL)])


def src_or_literal(r):
    return 255 if r.random() < 0.1 else src(r)


def sdst(r):
    return r.choice([r.randrange(106), r.randrange(0, 104, 4), 106, 107, 126, 108, 120])


def literal(r):
    return r.choice([r.choice(LITERALS), r.randrange(1 << 32), r.randrange(1 << 16)])


def dpp_ctrl(r):
    return r.choice([r.randrange(256), 0x100 + r.randrange(1, 16), 0x110 + r.randrange(1, 16), 0x120 + r.randrange(1, 16),
                     0x140, 0x141, 0x150 + r.randrange(16), 0x160 + r.randrange(16)])


attribute = lambda r: r.randrange(255)  # 255 would look like a literal here
fours = lambda r: r.randrange(0, 100, 4)
pairs = lambda r: r.randrange(0, 100, 2)
sel = lambda r: r.randrange(7)
# soffset, saddr: often "no register"
null_or = lambda null, choose: lambda r: choose(r) if r.random() < 0.6 else null

VOP3 = [(0, 8, vgpr), (32, 9, src), (41, 9, src), (50, 9, src), (8, 3, rarely(3)), (61, 3, rarely(3)), (11, 4, rarely(4)),
        (15, 1, rarely(1)), (59, 2, rarely(2))]
VOP3_LITERAL = [(0, 8, vgpr), (32, 9, src_or_literal), (41, 9, src_or_literal), (50, 9, src_or_literal)] + VOP3[4:]
VOP3_SECOND = [(0, 8, vgpr), (41, 9, VGPR9), (50, 9, src)] + VOP3[4:]
SDWA = [(40, 3, sel), (43, 2, lambda r: r.randrange(3)), (45, 1, rarely(1)), (46, 2, rarely(2)), (48, 3, sel),
        (51, 3, rarely(3)), (55, 1, rarely(1)), (56, 3, sel), (59, 3, rarely(3)), (63, 1, rarely(1)), (32, 8, vgpr)]
DPP = [(32, 8, vgpr), (40, 9, dpp_ctrl), (50, 1, any_bits(1)), (51, 1, any_bits(1)), (52, 4, rarely(4)), (56, 8, any_bits(8))]
DPP8 = [(32, 8, vgpr), (40, 24, any_bits(24))]
THIRD = lambda fields: [(p + 32, w, f) for p, w, f in fields if p != 52]
VOPD = [(0, 9, src), (9, 8, vgpr), (32, 9, src), (41, 8, vgpr), (49, 7, any_bits(7)), (56, 8, vgpr)]
EXP = [(0, 4, any_bits(4)), (4, 6, any_bits(6)), (11, 1, any_bits(1)), (32, 8, vgpr), (40, 8, vgpr), (48, 8, vgpr), (56, 8, vgpr)]
DS = [(0, 16, any_bits(16)), (32, 8, vgpr), (40, 8, vgpr), (48, 8, vgpr), (56, 8, vgpr)]
BUFFER = [(32, 8, vgpr), (40, 8, vgpr), (48, 5, lambda r: r.randrange(25)), (56, 8, ssrc), (0, 12, any_bits(12)), (14, 1, any_bits(1))]
BUFFER10 = BUFFER + [(12, 2, any_bits(2)), (15, 1, any_bits(1)), (54, 1, rarely(1)), (55, 1, rarely(1))]
BUFFER11 = BUFFER + [(12, 2, any_bits(2)), (53, 1, rarely(1)), (54, 2, any_bits(2))]
SBASE = (0, 6, lambda r: r.randrange(0, 48, 2))
SDATA = (6, 7, sdst)
NSA = [(64 + 8 * i, 8, vgpr) for i in range(12)]
IMAGE = [(32, 8, vgpr), (40, 8, vgpr), (8, 4, any_bits(4)), (48, 5, lambda r: r.randrange(24))]
FLAT = [(32, 8, vgpr), (40, 8, vgpr), (56, 8, vgpr)]
FLAT12 = [(32, 8, vgpr), (50, 2, any_bits(2)), (52, 3, any_bits(3)), (55, 8, vgpr), (64, 8, vgpr), (72, 24, any_bits(24))]
VIMAGE = [(0, 3, any_bits(3)), (4, 1, rarely(1)), (5, 1, rarely(1)), (22, 4, any_bits(4)), (32, 8, vgpr), (41, 9, fours), (50, 2, any_bits(2)),
          (52, 3, any_bits(3)), (64, 8, vgpr), (72, 8, vgpr), (80, 8, vgpr), (88, 8, vgpr)]

COMMON = {
    'SOP2': [(0, 8, ssrc), (8, 8, ssrc), (16, 7, sdst)],
    'SOP1': [(0, 8, ssrc), (16, 7, sdst)],
    'SOPC': [(0, 8, ssrc), (8, 8, ssrc)],
    'SOPK': [(0, 16, any_bits(16)), (16, 7, sdst)],
    'SOPP': [(0, 16, lambda r: r.choice([r.randrange(1 << 16), r.randrange(128), r.randrange(1 << 10)]))],
    'VOP2': [(0, 9, src), (9, 8, vgpr), (17, 8, vgpr)],
    'VOP1': [(0, 9, src), (17, 8, vgpr)],
    'VOPC': [(0, 9, src), (9, 8, vgpr)],
    'VOP2-DPP': [(9, 8, vgpr), (17, 8, vgpr)] + DPP, 'VOP1-DPP': [(17, 8, vgpr)] + DPP, 'VOPC-DPP': [(9, 8, vgpr)] + DPP,
    'VOP2-DPP8': [(9, 8, vgpr), (17, 8, vgpr)] + DPP8, 'VOP1-DPP8': [(17, 8, vgpr)] + DPP8, 'VOPC-DPP8': [(9, 8, vgpr)] + DPP8,
    'VOP2-SDWA': [(9, 8, vgpr), (17, 8, vgpr)] + SDWA, 'VOP1-SDWA': [(17, 8, vgpr)] + SDWA,
    'VOPC-SDWA': [(9, 8, vgpr), (40, 7, sdst), (47, 1, any_bits(1))] + SDWA[4:],
    'VOP3': VOP3_LITERAL,
    'VOP3P': VOP3_LITERAL + [(14, 1, any_bits(1)), (59, 2, any_bits(2))],
    'VOP3-DPP': VOP3_SECOND + THIRD(DPP), 'VOP3-DPP8': VOP3_SECOND + THIRD(DPP8),
    'VOP3P-DPP': VOP3_SECOND + THIRD(DPP), 'VOP3P-DPP8': VOP3_SECOND + THIRD(DPP8),
    'VOPD-X': VOPD, 'VOPD-Y': VOPD,
    'VINTRP': [(0, 8, vgpr), (8, 8, any_bits(8)), (18, 8, vgpr)],
    'VINTERP': [(0, 8, vgpr), (8, 3, any_bits(3)), (11, 4, rarely(4)), (15, 1, rarely(1)), (32, 9, VGPR9), (41, 9, VGPR9), (50, 9, VGPR9),
                (61, 3, rarely(3))],
    'LDSDIR': [(0, 8, vgpr), (8, 8, any_bits(8)), (16, 4, any_bits(4))],
    'EXP': EXP, 'VEXPORT': EXP + [(13, 1, any_bits(1))],
    'DS': DS + [(17, 1, rarely(1))], 'VDS': DS,
}
BY_GENERATION = {
    10: {
        'SMEM': [SBASE, SDATA, (14, 1, any_bits(1)), (16, 1, any_bits(1)), (32, 21, often(21)), (57, 7, null_or(125, sdst))],
        'MUBUF': BUFFER10 + [(16, 1, rarely(1))], 'MTBUF': BUFFER10 + [(19, 7, any_bits(7))],
        'EXP': EXP + [(10, 1, any_bits(1)), (12, 1, any_bits(1))],
        'MIMG': IMAGE + [(3, 3, any_bits(3)), (7, 1, any_bits(1)), (12, 2, any_bits(2)), (15, 3, rarely(3)), (25, 1, any_bits(1)),
                         (53, 5, lambda r: r.randrange(25)), (62, 2, rarely(2))] + NSA,
        'FLAT': FLAT + [(0, 11, any_bits(11)), (12, 1, any_bits(1)), (16, 2, any_bits(2))],
        'GLOBAL': FLAT + [(0, 13, any_bits(13)), (13, 1, rarely(1)), (16, 2, any_bits(2)), (48, 7, null_or(125, pairs))],
        'SCRATCH': FLAT + [(0, 13, any_bits(13)), (13, 1, rarely(1)), (16, 2, any_bits(2)), (48, 7, null_or(125, sdst))],
    },
    11: {
        'SMEM': [SBASE, SDATA, (13, 2, any_bits(2)), (32, 21, often(21)), (57, 7, null_or(124, sdst))],
        'MUBUF': BUFFER11, 'MTBUF': BUFFER11 + [(19, 7, any_bits(7))],
        'EXP': EXP + [(13, 1, any_bits(1))],
        'MIMG': IMAGE + [(2, 3, any_bits(3)), (7, 1, any_bits(1)), (12, 3, any_bits(3)), (15, 3, rarely(3)), (53, 2, rarely(2)),
                         (58, 5, lambda r: r.randrange(25))] + NSA,
        'FLAT': FLAT + [(0, 13, any_bits(13)), (13, 3, any_bits(3))],
        'GLOBAL': FLAT + [(0, 13, any_bits(13)), (13, 3, any_bits(3)), (48, 7, null_or(124, pairs))],
        'SCRATCH': FLAT + [(0, 13, any_bits(13)), (13, 3, any_bits(3)), (48, 7, null_or(124, sdst)), (55, 1, any_bits(1))],
    },
    12: {
        'SMEM': [SBASE, SDATA, (21, 4, any_bits(4)), (32, 24, often(24)), (57, 7, null_or(124, sdst))],
        'LDSDIR': COMMON['LDSDIR'] + [(23, 1, any_bits(1))],
        'VFLAT': FLAT12,
        'VGLOBAL': FLAT12 + [(0, 7, null_or(124, pairs))],
        'VSCRATCH': FLAT12 + [(0, 7, null_or(124, sdst)), (49, 1, any_bits(1))],
        'VBUFFER': FLAT12[:3] + [(0, 7, null_or(124, sdst)), (22, 1, rarely(1)), (41, 9, fours), (62, 2, any_bits(2)), (64, 8, vgpr),
                                 (72, 24, any_bits(24))],
        'VIMAGE': VIMAGE + [(6, 1, rarely(1)), (55, 1, rarely(1))],
        'VSAMPLE': VIMAGE + [(3, 1, rarely(1)), (13, 1, rarely(1)), (40, 1, rarely(1)), (55, 9, fours)],
    },
}
BY_GENERATION[12]['VBUFFER-TYPED'] = BY_GENERATION[12]['VBUFFER'] + [(55, 7, any_bits(7))]

# gfx1250: tuples begin at even registers, literals of 64 bits have the code 254.
even = lambda r: r.randrange(0, 224) & (-2 if r.random() < 0.9 else -1)
EVEN9 = lambda r: 256 + even(r)
src_even = lambda r: r.choice([EVEN9(r), EVEN9(r), EVEN9(r), r.randrange(0, 106, 2), r.choice(CONSTANTS), r.choice(SPECIAL + [230, 231])])
EVENS = {vgpr: even, VGPR9: EVEN9, src: src_even, src_or_literal: lambda r: 255 if r.random() < 0.1 else src_even(r)}
# of a matrix: A, B, C, D
MATRIX = [(0, 8, even), (32, 9, EVEN9), (41, 9, EVEN9), (50, 9, lambda r: EVEN9(r) if r.random() < 0.8 else r.choice(CONSTANTS)),
          (8, 3, rarely(3)), (11, 4, rarely(4)), (15, 1, rarely(1)), (61, 3, rarely(3))]
NV = [(7, 1, rarely(1))]
BY_GENERATION[12.5] = {key: [(pos, width, EVENS.get(choose, choose)) for pos, width, choose in fields]
                       for key, fields in {**COMMON, **BY_GENERATION[12]}.items()}
BY_GENERATION[12.5].update({
    'SMEM': BY_GENERATION[12]['SMEM'] + [(20, 1, rarely(1)), (56, 1, rarely(1))],
    'VBUFFER': BY_GENERATION[12.5]['VBUFFER'] + NV,
    'VFLAT': BY_GENERATION[12.5]['VFLAT'] + NV + [(0, 7, null_or(124, pairs)), (48, 1, rarely(1))],
    'VGLOBAL': BY_GENERATION[12.5]['VGLOBAL'] + NV + [(48, 1, rarely(1))],
    'VSCRATCH': BY_GENERATION[12.5]['VSCRATCH'] + NV + [(48, 1, rarely(1))],
    'VIMAGE': NV + [(50, 2, any_bits(2)), (52, 3, any_bits(3)), (64, 8, fours), (72, 8, fours)],
    'VOPD3-X': [(0, 9, src_even), (32, 9, src_even), (41, 6, rarely(6))] + [(p, 8, even) for p in (48, 56, 64, 72, 80, 88)],
    'VOP3PX2': [(p + 64, w, f) for p, w, f in MATRIX] + [(32, 9, src_even), (41, 9, src_even), (8, 2, any_bits(2)), (11, 1, any_bits(1)),
                (13, 2, any_bits(2)), (59, 1, any_bits(1)), (61, 2, any_bits(2)), (123, 2, any_bits(2))],
})
BY_GENERATION[12.5]['VOPD3-Y'] = BY_GENERATION[12.5]['VOPD3-X']
BY_GENERATION[12.5]['VOP3PX2-SCALE16'] = BY_GENERATION[12.5]['VOP3PX2']

# Texts in which LLVM differs from us (isa/ERRATA.md), by target.
QUIRKS_OF_GFX1250 = r'v_cmpx?_class_f(32|64)|v\[2\d\d:2(5[6-9]|[67])|v_(fma_mix(lo|hi)|cvt_(pk|sr)_[fb][fp]8)_\w+_e64_dpp .*quad_perm:\[\d,\d,\d,[01]\]'
QUIRKS_OF_GFX1153 = r'v_cmpx?_class_(f(32|64)|f16.*[-|(])|v_pipeflush|v_nop|v_cndmask_b16.*, v\d+$|v_cndmask_b16_e64_dpp .*\.h|v\[2\d\d:2(5[6-9]|6)|v_(fma_mix(lo|hi))_\w+_e64_dpp .*quad_perm:\[\d,\d,\d,[01]\]'
LLVM_QUIRKS = {'gfx1250': QUIRKS_OF_GFX1250, 'gfx1251': QUIRKS_OF_GFX1250, 'gfx1200': r'v_cndmask_b32_dpp .*\|v\d+, vcc', 'gfx1153': QUIRKS_OF_GFX1153}

# Instructions with only one or two legal words.
FREE_OF_FIELDS = ['v_nop', 'v_illegal', 'v_pipeflush', 'v_clrexcp']

# Operands that LLVM prints although the instruction cannot have them, and that we reject (isa/ERRATA.md): other choices
# for some fields of some instructions. (mnemonics, encodings, fields)
NEG_ABS_ROWS = r'v_(mad|min3|max3|med3|add_nc|sub_nc)_[iu]16|v_mad_[iu]32_[iu]16|v_cvt_pk_u8_f32|v_ldexp_f|v_trig_preop|v_cvt_sr_'
SPECIAL_FIELDS = [
    (r'v_(readfirstlane|swap|swaprel|permlane64)_b(32|16)', 'VOP1', [(0, 9, VGPR9)]),
    (r'v_readfirstlane_b32', 'VOP1', [(17, 8, sdst)]),
    (r'v_readlane_b32', 'VOP3', [(0, 8, sdst), (32, 9, VGPR9), (41, 9, ssrc)]),
    (r'v_writelane_b32', 'VOP3', [(32, 9, ssrc), (41, 9, ssrc)]),
    (r'v_permlanex?16_b32', 'VOP3', [(32, 9, VGPR9), (41, 9, ssrc), (50, 9, ssrc)]),
    (r'v_permlanex?16_var_b32', 'VOP3', [(32, 9, VGPR9), (41, 9, VGPR9)]),
    (r'v_s_', 'VOP3', [(0, 8, lambda r: r.randrange(106)), (32, 9, ssrc)]),
    (r'v_wmma', 'VOP3P', [(32, 9, VGPR9), (41, 9, VGPR9), (50, 9, src)]),
    (r'v_swmmac', 'VOP3P', [(32, 9, VGPR9), (41, 9, VGPR9), (50, 9, VGPR9)]),
    (r'v_interp_p1_|v_interp_p2_f32|v_interp_p1ll', 'VOP3', [(32, 9, attribute), (41, 9, VGPR9), (50, 9, none)]),
    (r'v_interp_mov', 'VOP3', [(32, 9, attribute), (41, 9, lambda r: r.randrange(3)), (50, 9, none)]),
    (r'v_interp_p1lv|v_interp_p2_f16', 'VOP3', [(32, 9, attribute), (41, 9, VGPR9), (50, 9, VGPR9)]),
    (r'v_cmp_', 'VOP3.*', [(0, 8, lambda r: r.choice([r.randrange(0, 104, 2), 106, 126]))]),
    # neg and abs of integer or packed sources
    (NEG_ABS_ROWS, 'VOP3.*',
     [(8, 3, none), (61, 3, none)]),
    (r'v_ldexp_f|v_dot2acc|v_dot2c|v_dot4c|v_pk_fmac', 'VOP2-DPP', [(52, 4, none)]),
    (r'v_mov_b16', 'VOP1-DPP', [(52, 4, none)]),
    # images: sizes of data and address without an LLVM instruction
    (r'image_atomic_(cmpswap|fcmpswap)', 'MIMG', [(8, 4, lambda r: r.choice([3, 15]))]),
    (r'image_atomic_(?!cmpswap|fcmpswap)', 'MIMG', [(8, 4, lambda r: r.choice([1, 3]))]),
    (r'image_atomic_cmpswap', 'VIMAGE', [(22, 4, lambda r: r.choice([3, 15]))]),
    (r'image_atomic_(?!cmpswap)', 'VIMAGE', [(22, 4, lambda r: r.choice([1, 3]))]),
    (r'image_((load|store)_mip|sample|gather4|get_lod)', 'MIMG10', [(3, 3, lambda r: r.randrange(7))]),
    (r'image_((load|store)_mip|sample|gather4|get_lod)', 'MIMG11', [(2, 3, lambda r: r.randrange(7))]),
    (r'image', 'VSAMPLE', [(0, 3, lambda r: r.randrange(7))]),
    (r'image_(?!bvh)', 'VIMAGE', [(0, 3, lambda r: r.randrange(7))] + [(p, 8, lambda r: r.randrange(1, 240)) for p in (72, 80, 88)]),
    (r'image_atomic', 'MIMG10', [(16, 2, none), (63, 1, none)]),
    (r'image_atomic', 'MIMG11', [(17, 1, none), (53, 2, none)]),
    (r'image_atomic', 'VIMAGE', [(5, 1, none), (55, 1, none)]),
    (r'image_gather4', 'MIMG10', [(16, 1, none)]),
    (r'image_(gather4|msaa)', 'MIMG11', [(53, 1, none)]),
    (r'image_(gather4|msaa)', 'VSAMPLE', [(3, 1, none)]),
    (r'image_msaa', 'VIMAGE', [(55, 1, none)]),
    # unused literal
    (r'v_nop|v_pipeflush|v_clrexcp', 'VOP1', [(0, 9, none)]),
    (r's_getpc_b64|s_get_pc_i64|s_get_shader', 'SOP1', [(0, 8, none)]),
    # gfx1250
    (r'v_wmma_(?!scale)|v_swmmac', 'VOP3P12.5', MATRIX + [(59, 2, lambda r: r.choice([3, 3, 3, any_bits(2)(r)]))]),
    (r'v_wmma_f32_16x16x128_f8f6f4', 'VOP3P12.5', [(59, 2, any_bits(2))]),
    (r'v_wmma_f32_32x16x128_f4', 'VOP3P12.5', [(11, 4, lambda r: 8)]),
    (r'v_wmma_\w+_16x16x16_|v_wmma_i32_16x16x32_iu4|v_swmmac_\w+_16x16x32_|v_swmmac_i32_16x16x64_iu4', 'VOP3P12.5', [(14, 1, lambda r: 1)]),
    (r'v_swmmac', 'VOP3P12.5', [(50, 9, EVEN9)]),
    (r'v_permlane_(bcast|up|down|xor)_|v_permlane_idx_gen', 'VOP3.*', [(32, 9, VGPR9), (41, 9, ssrc), (50, 9, ssrc)]),
    (r'v_permlane16_swap', 'VOP1', [(0, 9, VGPR9)]),
    (r'v_permlane16_swap', 'VOP3', [(32, 9, VGPR9)]),
    (r'v_cvt_scale(f32)?_', 'VOP312.5', [(32, 9, EVEN9)]),
    (r's_sendmsg_rtn', 'SOP1', [(0, 8, lambda r: r.choice([128 + r.randrange(10), r.randrange(250)]))]),
]


def quirks_of(target):
    return LLVM_QUIRKS.get(target, 'none such')


def generation_of(target):
    return 12.5 if target.startswith('gfx125') else int(re.match(r'gfx(1\d)', target).group(1))


def takes_literal(encoding, words):
    w = words[0]
    if encoding in ('SOP2', 'SOPC'):
        return w & 255 == 255 or w >> 8 & 255 == 255
    if encoding in ('VOP3', 'VOP3P'):
        return any(words[1] >> p & 511 == 255 for p in (0, 9, 18))
    return encoding == 'SOP1' and w & 255 == 255 or encoding in ('VOP1', 'VOP2', 'VOPC') and w & 511 == 255


def fetching_inactive(form):
    """The form of DPP8 with fi:1, which has another marker instead of the first source."""
    encoding, opcode, words, text = form
    mark = int(encoding.startswith('VOP3'))
    return encoding, opcode, [w & ~0x1ff | 0xea if i == mark else w for i, w in enumerate(words)], text


def more_forms(forms):
    """Encodings missing from the lists: DPP8 of VOP3, DPP of the VOP3P rows that have it, and DPP8 with fi:1."""
    out = []
    for encoding, opcode, words, text in forms:
        if encoding == 'VOP3-DPP':
            out.append(('VOP3-DPP8', opcode, [words[0], words[1] & ~0x1ff | 0xe9, 0x05397702], text))
        if encoding == 'VOP3P' and re.match(r'v_fma_mix|v_dot2_f32_f16|v_dot4_f32', text) and any(f[0] == 'VOP3-DPP' for f in forms):
            out.append(('VOP3P-DPP', opcode, [words[0], words[1] & ~0x1ff | 0xfa, 0xff011102], text))
            out.append(('VOP3P-DPP8', opcode, [words[0], words[1] & ~0x1ff | 0xe9, 0x05397702], text))
    return forms + out + [fetching_inactive(f) for f in forms + out if f[0].endswith('DPP8')]


# Position of the opcode: position, width. Other encodings have a split opcode.
OPCODES = {
    'SOP2': (23, 7), 'SOP1': (8, 8), 'SOPC': (16, 7), 'SOPP': (16, 7), 'SOPK': (23, 5), 'VOP2': (25, 6), 'VOP1': (9, 8),
    'VOPC': (17, 8), 'VOP3': (16, 10), 'VOP3P': (16, 7), 'VOP1-DPP': (9, 8), 'VOP2-DPP': (25, 6), 'VOPC-DPP': (17, 8),
    'VOP1-DPP8': (9, 8), 'VOP2-DPP8': (25, 6), 'VOPC-DPP8': (17, 8), 'DS': (18, 8), 'VDS': (18, 8), 'LDSDIR': (20, 2),
}
OPCODES_BY_GENERATION = {
    10: {'SMEM': (18, 8), 'MUBUF': (18, 8), 'FLAT': (18, 7), 'GLOBAL': (18, 7), 'SCRATCH': (18, 7), 'VINTRP': (16, 2),
         'VOP1-SDWA': (9, 8), 'VOP2-SDWA': (25, 6), 'VOPC-SDWA': (17, 8)},
    11: {'SMEM': (18, 8), 'MUBUF': (18, 8), 'MTBUF': (15, 4), 'FLAT': (18, 7), 'GLOBAL': (18, 7), 'SCRATCH': (18, 7),
         'VINTERP': (16, 7)},
    12: {'SMEM': (13, 6), 'VINTERP': (16, 5)},
    12.5: {'SMEM': (13, 6), 'VOP3P': (16, 8)},
}


def opcodes_of(target):
    return {**OPCODES, **OPCODES_BY_GENERATION[generation_of(target)]}


def legal_forms(forms, attributes):
    """The forms valid with LLVM's attributes: VOPD requires wave32."""
    return [f for f in forms if not ('+wavefrontsize64' in attributes and f[0].startswith('VOPD'))]


def special_fields(generation, encoding, text):
    """Fields with another meaning in some instructions of an encoding."""
    return [f for name, where, fields in SPECIAL_FIELDS
            if re.match(name, text) and (re.fullmatch(where, encoding) or where == encoding + str(generation)) for f in fields]


def address_count(text, dim, a16):
    """Number of registers of an image address (RDNA 2 ISA, "Image Addressing"; LLVM, getAddrSizeMIMGOp)."""
    name = text.split()[0]
    parts = name.split('_')[2:]
    if name == 'image_get_resinfo':
        return 1
    coordinates = [1, 2, 3, 3, 2, 3, 3, 4][dim] + any(p in ('l', 'cl', 'mip') for p in parts)
    count = sum(p in ('c', 'b', 'o') for p in parts) + ((coordinates + 1) // 2 if a16 else coordinates)
    if 'd' in parts or 'cd' in parts:
        gradients = [1, 2, 3, 2, 1, 2, 2, 2][dim]  # in each of two directions
        count += 2 * ((gradients + 1) // 2) if 'g16' in parts else 2 * gradients
    return count


def add_address_list(r, generation, out, text):
    """Appends the NSA dwords that the address needs to MIMG."""
    dim, a16 = (out[0] >> 3 & 7, out[1] >> 30 & 1) if generation == 10 else (out[0] >> 2 & 7, out[0] >> 16 & 1)
    addresses = address_count(text, dim, a16)
    if 'bvh' in text or addresses < 2:
        return
    count = (addresses + 2) // 4 if generation == 10 else 1
    put(out, 1 if generation == 10 else 0, 2 if generation == 10 else 1, count)
    out += [0] * count
    for pos, width, choose in NSA[:addresses - 1 if generation == 10 else 4]:
        put(out, pos, width, choose(r))


def add_wide_literal(r, encoding, out, fixed):
    """A literal of 64 bits instead of the first source, and in v_fmamk_f64 and v_fmaak_f64."""
    if len(out) == 3 and encoding == 'VOP2':
        out[1:] = [literal(r), r.choice([literal(r), literal(r), 0, 0xffffffff])]
        if r.random() < 0.3:
            put(out, 0, 9, 254)
    elif len(out) == 1 and not fixed and encoding in ('SOP1', 'SOP2', 'SOPC', 'VOP1', 'VOP2', 'VOPC') and r.random() < 0.2:
        put(out, 0, 9 if encoding.startswith('V') else 8, 254)
        out += [literal(r), r.choice([literal(r), literal(r), 0, 0xffffffff])]


def vary(r, target, encoding, _, words, text):
    """The words with some fields replaced by random values."""
    out = list(words)
    share = r.choice([0.15, 0.4, 0.8, 1.0])
    generation = generation_of(target)
    special = special_fields(generation, encoding, text)
    for pos, width, choose in (BY_GENERATION[generation].get(encoding) or COMMON[encoding]):
        if pos < 32 * len(words) and r.random() < share:
            put(out, pos, width, choose(r))
    for pos, width, choose in special:
        put(out, pos, width, choose(r))
    if encoding == 'MIMG' and r.random() < 0.4:
        add_address_list(r, generation, out, text)
    fixed = any(pos == 0 for pos, _, _ in special)
    if encoding in ('SOP2', 'SOPC', 'SOP1') and len(out) == 1 and not fixed and r.random() < 0.15:
        put(out, 0, 8, 255)
    if encoding in ('VOP2', 'VOP1', 'VOPC') and len(out) == 1 and not fixed and r.random() < 0.2:
        put(out, 0, 9, 255)
    if len(words) == 2 and encoding in ('VOP2', 'SOP2') and r.random() < 0.2:
        put(out, 0, 9 if encoding == 'VOP2' else 8, 255)  # the first source is the same literal
    if len(words) == 2 and encoding in ('VOP2', 'SOP2', 'SOPK') or len(words) == 3 and encoding in ('VOPD-X', 'VOPD-Y'):
        out[-1] = literal(r)
    elif takes_literal(encoding, out):
        out.append(literal(r))
    if generation == 12.5:
        add_wide_literal(r, encoding, out, fixed)
    return out
