#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Our assembler against llvm-mc-19: assembled_text.py ISA_LINES TARGET FORMS COUNT [ATTRIBUTE...]

The words of each row, and random ones of it, are disassembled by us (other tests compare that with LLVM); both
assemblers must encode the same words from the text, or reject it."""
import random
import re
import sys

from llvm import llvm_words, need_llvm, our_words, ours, read_forms
import words as words_gcn
import words_rdna


# Where LLVM is wrong, or chooses an equivalent encoding (isa/ERRATA.md).
QUIRKS = re.compile(r's_atc_probe|v_cmpx?_class_f16|s_setreg_imm32_b32|s_(get_|wakeup_)?barrier\w* .*(src_|null)|v_fmac_f16_e64.* op_sel|(global|buffer|flat)_atomic_(add|min|max|pk_add)_f\w+ .* scc')

GFX1250 = r'|v_\w+64.*[ -]lit\(|.*\|lit\(|v_dual_.*dot2acc_f32_bf16|v_cvt_f32_bf16_e64.* (clamp|mul|div)|v_cvt_(sr_fp8_f32|pk_f32_[fb][fp]8)_e64.* clamp|s_mov_b64 .*scratch_base_hi|s_(set_pc|rfe)_i64 src_|v_(wmma|pk)\w*_bf16 .*0\.15915494'
OF_GFX1153 = r'|v_dot2acc_f32_f16 v\d+, lit\(|.*\|lit\('
QUIRKS_OF = {'gfx1153': re.compile(QUIRKS.pattern + OF_GFX1153 + '|v_mov_b16'), 'gfx1153+real-true16': re.compile(QUIRKS.pattern + OF_GFX1153),
             'gfx1250': re.compile(QUIRKS.pattern + GFX1250), 'gfx1251': re.compile(QUIRKS.pattern + GFX1250), 'gfx950': re.compile(QUIRKS.pattern + r'|(global|flat)_atomic_(add|min|max|pk_add)_\w*f\d+ a.* sc0')}


def main(program, target, path, count, *attributes):
    need_llvm(target)
    source = words_rdna if target.startswith('gfx1') else words_gcn
    r, forms = random.Random(7), read_forms(path)
    if target.startswith('gfx1'):
        forms = words_rdna.more_forms(forms)
    quirks = QUIRKS_OF.get(''.join([target, *attributes])) or QUIRKS_OF.get(target, QUIRKS)
    words = [f[2] for f in forms] + [source.vary(r, target, *f) for f in forms for _ in range(int(count))]
    texts = ours(program, target, words, attributes)
    if '+real-true16' in attributes:  # also without op_sel, which the halves say, and with whole registers
        texts += [re.sub(r' op_sel:\[[01,]+\]', '', t) for t in texts if re.search(r'\.[lh]\b.* op_sel:', t)]
        texts += [t for t in ours(program, target, words) if '16' in t]
    texts = [t for t in texts if t != '?' and not quirks.match(t)]
    extra = ['-mattr=' + ','.join(attributes)] if attributes else []
    wrong, agree, refused, taken = [], 0, 0, 0
    for text, theirs, (mine, why) in zip(texts, llvm_words(target, texts, extra), our_words(program, target, texts, attributes)):
        if theirs == mine:
            agree += 1
            refused += mine is None
        elif theirs is None:
            taken += 1
            print('only LLVM refuses', text)
        else:
            wrong.append((text, theirs, mine, why))
    show = lambda ws: ' '.join('%08x' % w for w in ws) if ws else 'refused'
    for text, theirs, mine, why in wrong[:40]:
        print('%s\n  llvm %s\n  ours %s %s' % (text, show(theirs), show(mine), why))
    print('%s: %d of %d lines agree, %d of them refused; %d that LLVM refuses are taken' % (target, agree, len(texts), refused, taken))
    return 1 if wrong or taken else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
