#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random words of every row, our text against llvm-mc-19's: random_words.py ISA_LINES TARGET FORMS COUNT [ATTRIBUTE...]

Attributes are LLVM's: +wavefrontsize64, +real-true16. COUNT is the number of legal words to compare for each row; rows
with stricter fields need more attempts. Words that LLVM rejects, or prints with a comment such as "Invalid register",
do not count."""
import collections
import random
import re
import sys

from llvm import OF_LLVM_22, llvm, need_llvm, ours, read_forms, report
import words as words_gcn
import words_rdna

ROUNDS = 30


def main(program, target, path, count, *attributes):
    need_llvm(target)
    forms, count = read_forms(path), int(count)
    source = words_rdna if target.startswith('gfx1') else words_gcn
    r, quirks = random.Random(1), re.compile(source.quirks_of(target))
    if target.startswith('gfx1'):
        forms = words_rdna.legal_forms(words_rdna.more_forms(forms), attributes)
    halves = r'|v_\w+_[biu]16(_e64)?(_dpp)? ' if '+real-true16' in attributes else ''
    extra = ['-mattr=' + ','.join(attributes)] if attributes else []
    if target in OF_LLVM_22 and not path.endswith(target + '.tsv'):  # the list of another target
        forms = [form for form, text in zip(forms, llvm(target, [f[2] for f in forms], extra)) if text]
    compared, wrong, asked, ours_only = collections.Counter(), [], 0, 0
    for _ in range(ROUNDS):
        owners = [i for i in range(len(forms)) if compared[i] < count for _ in range(count)]
        if not owners:
            break
        words = [source.vary(r, target, *forms[i]) for i in owners]
        asked += len(words)
        for i, ws, theirs, mine in zip(owners, words, llvm(target, words, extra), ours(program, target, words, attributes)):
            if theirs is None or '/*' in theirs or quirks.search(theirs):
                ours_only += mine != '?'
                continue
            if target in ('gfx1153', 'gfx1250', 'gfx1251') and mine == '?' and len(ws) == 3 and 'dpp' not in theirs:
                continue  # the literal of a source that the instruction does not have
            if target == 'gfx1153' and mine == '?' and re.match(r'v_align' + halves, theirs):
                continue  # neg and abs of integers, which LLVM 22 ignores
            if mine == '?' and len(ws) == 4 and '_ld_scale' in theirs:
                continue  # LLVM reads the first half alone
            compared[i] += 1
            if theirs != mine:
                wrong.append((ws, theirs, mine))
    for i, (encoding, _, words, text) in enumerate(forms):
        if compared[i] < count and text.split()[0] not in source.FREE_OF_FIELDS and not quirks.search(text):
            wrong.append((words, '%d legal words of %s' % (count, text), 'only %d were found' % compared[i]))
    print('%d words asked; %d of them refused by LLVM, but not by us' % (asked, ours_only))
    return report('random words, %s' % ' '.join((target,) + attributes), sum(compared.values()), wrong)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
