#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The targets of a generation on the words of all of its lists: generation_words.py ISA_LINES TARGET,TARGET... FORMS...

Each target must reject the words of others that LLVM rejects for it."""
import sys

from llvm import llvm, need_llvm, ours, read_forms, report


def main(program, targets, *paths):
    need_llvm(targets.split(',')[0])
    words = [list(w) for w in dict.fromkeys(tuple(f[2]) for path in paths for f in read_forms(path))]
    code = 0
    for target in targets.split(','):
        answers = zip(words, llvm(target, words), ours(program, target, words))
        wrong = [(ws, theirs, mine) for ws, theirs, mine in answers if (theirs or '?') != mine and '/*' not in (theirs or '')]
        code |= report('words of the generation, %s' % target, len(words), wrong)
    return code


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
