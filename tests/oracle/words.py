# SPDX-License-Identifier: MIT
"""Random words of each encoding: which bits are which field, told here anew and not read from isa/."""

VGPR9 = lambda r: 256 + r.randrange(256)
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


# Instructions that are legal in one or two words only.
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


# VOP3 opcodes of gfx8 and gfx9 with an integer source for which LLVM shows the neg bit as sext() or ignores neg and abs;
# no document gives these bits a meaning there, and we refuse them (isa/ERRATA.md).
INTEGER_SOURCES = {0x133, 0x1dd, 0x1f0, 0x1f1, 0x1f2, 0x1f5, 0x1f6, 0x1f8, 0x1f9, 0x1fb, 0x1fc, 0x204, 0x205, 0x284, 0x288,
                   0x292, 0x29e, 0x29f}


def special_fields(encoding, opcode):
    """Fields that mean something else in some opcodes of an encoding."""
    none = lambda r: 0
    if encoding == 'VOP3' and opcode < 256:  # compares: a scalar result
        return [(0, 8, lambda r: r.choice([r.randrange(0, 100, 2), 106, 126]))]
    if encoding == 'VOP3' and opcode in INTEGER_SOURCES:
        return [(8, 3, none), (61, 3, none)]
    if encoding == 'VOP3' and 624 <= opcode <= 631:  # interpolation takes VGPRs only
        return [(50, 9, VGPR9 if opcode > 628 else none)] + [(41, 9, VGPR9 if opcode != 626 else lambda r: r.randrange(3))]
    if encoding == 'VOP3' and opcode == 649:  # v_readlane_b32
        return [(32, 9, VGPR9)]
    if encoding == 'VOP1' and opcode == 81:  # v_swap_b32
        return [(0, 9, VGPR9)]
    if encoding == 'VOP2-DPP' and opcode == 51:  # v_ldexp_f16: as INTEGER_SOURCES
        return [(54, 2, none)]
    if encoding == 'VOP1' and opcode == 2:  # v_readfirstlane_b32: LLVM shows other sources as VGPRs
        return [(0, 9, VGPR9), (17, 8, sdst)]
    if encoding == 'MIMG' and 16 <= opcode <= 28:  # atomics: one or two dwords, cmpswap twice that; no D16
        return [(8, 4, lambda r: r.choice([3, 15] if opcode == 17 else [1, 3])), (16, 2, none)]
    if encoding == 'MIMG' and 64 <= opcode <= 95:  # gather4: LLVM has no three dwords for D16 with tfe
        return [(16, 1, none)]
    return []


def vary(r, encoding, opcode, words):
    """The words with some of their fields chosen anew."""
    out = list(words)
    share = r.choice([0.15, 0.4, 0.8, 1.0])
    special = special_fields(encoding, opcode)
    fields = FIELDS[encoding] + special
    for pos, width, choose in fields:
        if pos < 32 * len(words) and (r.random() < share or (pos, width, choose) in special):
            put(out, pos, width, choose(r))
    if encoding == 'VOP3' and opcode not in INTEGER_SOURCES and r.random() < 0.3:
        put(out, 8, 7, r.randrange(0, 100, 2))  # VOP3B's scalar result
    # v_nop, v_clrexcp, s_getpc_b64: LLVM takes a literal that nothing reads
    no_source = (encoding, opcode) in (('VOP1', 0), ('VOP1', 53), ('SOP1', 28))
    if encoding in ('SOP2', 'SOPC', 'SOP1') and not no_source and r.random() < 0.15:
        put(out, 0, 8, 255)
    if encoding in ('VOP2', 'VOP1', 'VOPC') and len(out) == 1 and not no_source and r.random() < 0.2:
        put(out, 0, 9, 255)
    if len(words) == 2 and encoding in ('VOP2', 'SOPK'):
        out[1] = literal(r)
    elif has_literal(encoding, out):
        out.append(literal(r))
    return out
