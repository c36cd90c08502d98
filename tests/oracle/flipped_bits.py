#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each word of a list with each of its bits flipped, and some words of each encoding with each opcode: our text must
equal that of llvm-mc-19, and we must reject what it rejects. flipped_bits.py ISA_LINES TARGET FORMS [ATTRIBUTE...]

Random words of known fields (random_words.py) do not find bits that we treat as a field, or ignore, and LLVM does
not."""
import re
import sys

from llvm import llvm, need_llvm, ours, read_forms, report
from words import INTEGER_SOURCES, OPCODES, put
import words_rdna

# Intended differences, by LLVM's text or ours (isa/ERRATA.md).
QUIRKS = re.compile(r'ds_nop|ds_b?permute|image_\w+_pck|image_get|image_atomic|buffer_store_lds_dword|buffer_wbinvl1|v_ldexp_f16|v_dot\d+c'
                    r'|v_(cvt|frexp_exp)_\w*[iu]\d+_f\d+_sdwa .*(mul|div):|_atomic_\w+_f\d+ .*(glc|scc)|flat_\w+ .*offset:'
                    r'|v_interp_mov_f32|v_readlane|v_readfirstlane|v_swap|v_accvgpr_mov|v_cmp\w*_e64 src')
# LLVM 22 in addition: op_sel of v_alignbit, and a bit of v_cvt_pk_bf16_f32 among ignored ones that must be zero.
QUIRKS_OF = {'gfx950': re.compile(QUIRKS.pattern + r'|v_pk_fmac|v_align\w+ |v_cvt_pk_bf16_f32|v_ldexp_f32|v_cvt_pk_u8_f32')}
# RDNA: instructions that differ in any form, and, by encoding, bits that are independent of the row.
QUIRKS_RDNA = re.compile(
    r'ds_nop|ds_b?permute_b32 .*gds|ds_bvh_stack\w* .*gds|image_\w+_pck.* d16|image_get_\w+ .*d16|image_atomic|image_get_resinfo'
    r'|v_cvt_\w*[iu]\d+_f\d+_sdwa .*(mul|div):|v_frexp_exp_i16_f16_sdwa .*(mul|div):'
    r'|v_mov_b16_e64|v_fmac_f16_e64\w* .*op_sel'  # LLVM does not know them, or ignores their bits
    r'|v_cndmask_b32_dpp .*\|v\d+, vcc'
    r'|s_atc_probe\w* (0x|3[2-9]|[4-6]\d)')  # seven bits
NEG_ABS = (8, 9, 10, 61, 62, 63)
# neg and abs of integer and packed sources: LLVM ignores them or shows sext().
UNSIGNED_RDNA = re.compile(words_rdna.NEG_ABS_ROWS)
PACKED_DPP = re.compile(r'v_(mov_b16|ldexp_f16|dot2acc|dot2c|dot4c|pk_fmac)')
# Bits that turn words with a literal into an encoding of another length.
OTHER_LENGTH = {'SOP2': (23, 24), 'SOPK': (23, 24), 'VOPD-X': (22, 23, 24, 25), 'VOPD-Y': (17, 18, 19, 20, 21)}
# LLVM has no instruction with as many addresses, regardless of the last address byte.
THREE_ADDRESSES = re.compile(r'image_(sample|sample_lz|gather4|gather4_lz|gather4h|get_lod) ')


def is_rdna(target):
    return target.startswith('gfx1')


def skipped_bits(target, encoding, opcode, words, text):
    """Bits whose flipped words prove nothing."""
    out = set()
    if len(words) > 1:
        out.update(range(25, 32))  # another encoding
    if encoding == 'VOP3PX2':  # two instructions
        out.update(range(16, 23), range(75, 79), range(80, 96))
    if not is_rdna(target):
        return out.union(NEG_ABS if encoding == 'VOP3' and opcode in INTEGER_SOURCES else ())
    if len(words) == 3 and 'VOP3' in encoding:
        out.update(range(32, 41))  # another kind of DPP, or none
    if 'VOP3' in encoding and UNSIGNED_RDNA.match(text):
        out.update(NEG_ABS)
    if encoding in ('VOP1-DPP', 'VOP2-DPP') and PACKED_DPP.match(text):
        out.update(range(52, 56))
    if THREE_ADDRESSES.match(text) and encoding == 'VSAMPLE':
        out.update(range(88, 96))
    if encoding == 'VIMAGE' and 'bvh' in text:
        out.add(6)  # a16 uses one address fewer
    if len(words) > 1 and encoding in OTHER_LENGTH:
        out.update(OTHER_LENGTH[encoding])
    return out


def flips(target, encoding, opcode, words, text):
    skipped = skipped_bits(target, encoding, opcode, words, text)
    base = list(words)
    if encoding == 'VIMAGE' and 'bvh' not in text:  # LLVM reads address 0 where there is none
        base[2] |= 0x07050300
    for bit in range(9 if 'DPP' in encoding or 'SDWA' in encoding else 0, 32 * len(words)):
        if bit in skipped:
            continue
        out = list(base)
        out[bit // 32] ^= 1 << bit % 32
        # invalid selections: llvm-mc-19 crashes
        if 'SDWA' in encoding and (7 in (out[1] >> 8 & 7, out[1] >> 16 & 7, out[1] >> 24 & 7) or out[1] >> 11 & 3 == 3):
            continue
        yield out


def each_opcode(target, forms):
    """Some words of each encoding with all its opcodes, including unassigned ones."""
    opcodes = words_rdna.opcodes_of(target) if is_rdna(target) else OPCODES
    for encoding, (pos, width) in opcodes.items():
        samples = [words for e, _, words, _ in forms if e == encoding]
        samples = [words for words in samples if len(words) == min(map(len, samples))]  # without a literal
        for words in samples[::len(samples) // 6 + 1]:
            for opcode in range(1 << width):
                out = list(words)
                put(out, pos, width, opcode)
                yield out


def main(isa_lines, target, path, *attributes):
    need_llvm(target)
    forms = read_forms(path)
    quirks = QUIRKS_OF.get(target, QUIRKS)
    if is_rdna(target):
        forms, quirks = words_rdna.legal_forms(words_rdna.more_forms(forms), attributes), QUIRKS_RDNA
    words = [out for form in forms for out in flips(target, *form)] + list(each_opcode(target, forms))
    extra = ['-mattr=' + ','.join(attributes)] if attributes else []
    total, wrong = 0, []
    for ws, theirs, mine in zip(words, llvm(target, words, extra), ours(isa_lines, target, words, attributes)):
        if theirs and ('/*' in theirs or quirks.search(theirs)) or quirks.search(mine):
            continue
        total += 1
        if (theirs or '?') != mine:
            wrong.append((ws, theirs, mine))
    return report('flipped bits, %s' % ' '.join((target,) + attributes), total, wrong)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
