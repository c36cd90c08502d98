#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Text as LLVM 22 writes it for targets of LLVM 19 (target id gfx900:llvm22): later_text.py ISA_LINES TARGET FORMS COUNT [ATTRIBUTE...]

Prints the list's words and random ones, and assembles LLVM 22's texts of the list. The option changes text, not which words are
instructions: words that one of both rejects do not count."""
import random
import re
import shutil
import sys

from llvm import SKIP, llvm, llvm_words, our_words, ours, read_forms, report
import llvm as tools
import words as words_gcn
import words_rdna

# What LLVM 22 prints otherwise than 19 in spite of the option (isa/ERRATA.md).
QUIRKS = re.compile(r'v_alignb\w+ .*(op_sel|\.l)|v_cvt_pk_[fb][fp]8_f32\w* v\d+\.|v_(minmax|maxmin|minimum|maximum)_(num_)?f16.* op_sel|v_(dot4c|dot8c|dot2c|pk_fmac)\w*_(dpp|e64|sdwa)|'
                    r'v_fmac_f16_e64|v_cmpx?_class|v\[2\d\d:2(5[6-9]|6)|src_flat_scratch_base|v_cvt_pk_f32_[fb][fp]8|quad_perm:\[\d,\d,\d,[01]\]|'
                    r'v_(mad|fma)_mix|null|TH_ATOMIC_0x|v_interp_p2_f16')


# Of one target. gfx90a's tuples begin at even registers; LLVM 22 prints the first register of others alone.
QUIRKS_OF = {'gfx90a': QUIRKS.pattern + r'|image_\w+ v(\d*[13579]|\[\d*[13579]:)'}


def main(program, target, path, count, *attributes):
    if not shutil.which('llvm-mc-22'):
        print('skipped: llvm-mc-22 is not installed (Debian package llvm-22)')
        return SKIP
    tools.version = lambda _: '22'
    halves = '+real-true16' in attributes
    tools.modes = lambda target, extra: [*extra, '-mattr=%sreal-true16' % '-+'[halves]] if re.match('gfx1[12]', target) else extra
    attributes = ['+llvm22', *attributes]
    quirks = re.compile(QUIRKS_OF.get(target, QUIRKS.pattern))
    source = words_rdna if target.startswith('gfx1') else words_gcn
    r, forms = random.Random(5), read_forms(path)
    words = [f[2] for f in forms] + [source.vary(r, target, *f) for f in forms for _ in range(int(count))]
    compared, wrong = 0, []
    for ws, theirs, mine in zip(words, llvm(target, words), ours(program, target, words, attributes)):
        if theirs is None or '/*' in theirs or mine == '?' or quirks.search(theirs):
            continue
        compared += 1
        if theirs != mine:
            wrong.append((ws, theirs, mine))
    code = report('text of LLVM 22, %s' % ' '.join([target, *attributes[1:]]), compared, wrong)
    texts = [text for text in llvm(target, words[:len(forms)]) if text and '/*' not in text and not quirks.search(text)]
    both = list(zip(texts, llvm_words(target, texts), our_words(program, target, texts, attributes)))
    wrong = [(theirs or [], text, str(mine)) for text, theirs, (mine, _) in both if theirs and mine and theirs != mine]
    return code | report('words of LLVM 22, %s' % target, len(both), wrong) or int(compared < len(forms) // 2)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
