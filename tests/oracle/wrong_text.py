#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Wrong lines: right ones changed at random. Where llvm-mc-19 refuses, how often do we? wrong_text.py ISA_LINES TARGET FORMS SHARE

Fails below SHARE percent, and if we refuse what LLVM takes more often than in one line of a hundred."""
import random
import sys

from llvm import llvm_words, need_llvm, our_words, read_forms

COUNT = 3000


def change(r, text):
    name, _, rest = text.partition(' ')
    parts = rest.split(', ')
    how = r.randrange(6)
    if how == 0 and len(parts) > 1:
        parts.pop(r.randrange(len(parts)))
    elif how == 1:
        parts.insert(r.randrange(len(parts) + 1), r.choice(['v1', 's3', '0x1234567', 'off', '7', 's[2:3]']))
    elif how == 2:
        parts[r.randrange(len(parts))] = r.choice(['v300', 's[3:4]', 's[1:9]', 'v[4:2]', 'exec', '0x123456789', '1.5e99', 'v[1:2]', 'vcc_lo', 'ttmp99'])
    elif how == 3:
        parts[-1] += r.choice([' glc', ' offset:99999', ' clamp', ' mul:3', ' row_shl:1', ' dmask:0x1f', ' nosuch', ' offen', ' lds', ' op_sel:[1,2]'])
    elif how == 4:
        name = name[:-1] + r.choice('xyz9_')
    else:
        at = r.randrange(len(rest) + 1)
        rest = rest[:at] + r.choice('[],:|(x') + rest[at:]
        return name + ' ' + rest
    return name + ' ' + ', '.join(parts)


def main(program, target, path, share):
    need_llvm()
    r, forms = random.Random(3), read_forms(path)
    texts = [change(r, r.choice(forms)[3]) for _ in range(COUNT)]
    refused = both = ours_only = 0
    for text, theirs, (mine, why) in zip(texts, llvm_words(target, texts), our_words(program, target, texts)):
        refused += theirs is None
        both += theirs is None and mine is None
        if theirs is None and mine is not None and refused - both < 40:
            print('only LLVM refuses', text)
        if theirs is not None and mine is None:
            ours_only += 1
            print('only we refuse', text, why)
    print('%s: of %d wrong lines we refuse %d; %d of %d right ones' % (target, refused, both, ours_only, COUNT - refused))
    return int(both * 100 < refused * int(share) or ours_only * 100 > COUNT)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
