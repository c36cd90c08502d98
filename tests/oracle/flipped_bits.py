#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each word of a list with each of its bits flipped, and some words of each encoding with each opcode: we must read what
llvm-mc-19 reads, as it reads it, and refuse what it refuses. flipped_bits.py ISA_LINES TARGET FORMS

Random words of known fields (random_words.py) do not find bits that we take to be a field, or nothing, and LLVM does not."""
import re
import sys

from llvm import llvm, need_llvm, ours, read_forms, report
from words import INTEGER_SOURCES, OPCODES, put

# Where we differ on purpose, by LLVM's text or ours (isa/ERRATA.md).
QUIRKS = re.compile(r'ds_nop|ds_b?permute|image_\w+_pck|image_get|image_atomic|buffer_store_lds_dword|buffer_wbinvl1|v_ldexp_f16|v_dot\d+c'
                    r'|v_(cvt|frexp_exp)_\w*[iu]\d+_f\d+_sdwa .*(mul|div):|_atomic_\w+_f\d+ .*(glc|scc)|flat_\w+ .*offset:'
                    r'|v_interp_mov_f32|v_readlane|v_readfirstlane|v_swap|v_accvgpr_mov|v_cmp\w*_e64 src')


def flips(encoding, opcode, words):
    """The bits whose flipped words say something: not those that make another encoding of them, of another length."""
    low = 9 if 'DPP' in encoding or 'SDWA' in encoding else 0
    two = len(words) > 1
    for bit in range(low, 32 * len(words)):
        if two and 25 <= bit < 32 or encoding == 'VOP3' and opcode in INTEGER_SOURCES and bit in (8, 9, 10, 61, 62, 63):
            continue
        out = list(words)
        out[bit // 32] ^= 1 << bit % 32
        # selections without meaning: llvm-mc-19 crashes
        if 'SDWA' in encoding and (7 in (out[1] >> 8 & 7, out[1] >> 16 & 7, out[1] >> 24 & 7) or out[1] >> 11 & 3 == 3):
            continue
        yield out


def each_opcode(forms):
    """Some words of each encoding with all its opcodes, also those that are not assigned."""
    for encoding, (pos, width) in OPCODES.items():
        samples = [words for e, _, words, _ in forms if e == encoding]
        for words in samples[::len(samples) // 6 + 1]:
            for opcode in range(1 << width):
                out = list(words)
                put(out, pos, width, opcode)
                yield out


def main(program, target, path):
    need_llvm()
    forms = read_forms(path)
    words = [out for encoding, opcode, ws, _ in forms for out in flips(encoding, opcode, ws)] + list(each_opcode(forms))
    total, wrong = 0, []
    for ws, theirs, mine in zip(words, llvm(target, words), ours(program, target, words)):
        if theirs and ('/*' in theirs or QUIRKS.search(theirs)) or QUIRKS.search(mine):
            continue
        total += 1
        if (theirs or '?') != mine:
            wrong.append((ws, theirs, mine))
    return report('flipped bits, %s' % target, total, wrong)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
