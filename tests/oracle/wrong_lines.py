#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hand-written wrong lines: wrong_lines.py ISA_LINES WRONG_LINES TAKEN_LINES

llvm-mc-19 must reject each line of both lists; we must reject each of the first, with a position within the line and
what is expected there, and accept each of the second (see isa/ERRATA.md), so that no change goes unnoticed."""
import re
import sys
from collections import defaultdict

from llvm import llvm_words, need_llvm, our_words


def read_lines(path):
    """Lines by target with attributes, as in gfx1100+real-true16."""
    lines = defaultdict(list)
    with open(path) as file:
        for line in file:
            if line.strip() and not line.startswith('#'):
                target, text = line.rstrip('\n').split('\t')
                lines[target].append(text)
    return lines


def ask(program, target, texts):
    name, *attributes = target.split('+')
    attributes = ['+' + a for a in attributes]
    theirs = llvm_words(name, texts, ['-mattr=' + ','.join(attributes)] if attributes else [])
    return zip(texts, theirs, our_words(program, name, texts, attributes))


def is_explained(text, why):
    """'? column expected': within the line or at its end; column 0 is for unknown mnemonics."""
    found = re.fullmatch(r'\? (\d+) (.+)', why)
    return found is not None and int(found.group(1)) <= len(text) + 1


def main(program, wrong_path, taken_path):
    need_llvm()
    bad = total = taken = 0
    for target, texts in read_lines(wrong_path).items():
        for text, theirs, (ours, why) in ask(program, target, texts):
            total += 1
            complaint = ('llvm-mc-19 takes' if theirs is not None else 'we take' if ours is not None else
                         None if is_explained(text, why) else 'not explained (%s):' % why)
            if complaint:
                bad += 1
                print(complaint, target, text)
    for target, texts in read_lines(taken_path).items():
        for text, theirs, (ours, why) in ask(program, target, texts):
            taken += 1
            if theirs is not None or ours is None:
                bad += 1
                print('no difference any more:', target, text, why)
    print('%d wrong lines, %d that only llvm-mc-19 refuses; %d not as listed' % (total, taken, bad))
    return int(bad > 0)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
