#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The generator's own tests: good.txt and bad.txt beside this file, each case a change to base.txt.

A case starts with '=== what it shows'. '--- FILE' replaces a file of base.txt, '--- +FILE' appends to it; '>>> ' is what
must come out. Every `raise Bad` of the generator must be reached by some bad case."""
import io
import os
import re
import sys
import traceback

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(here))
from isagen import load  # noqa: E402
from read import Bad  # noqa: E402
from resolve import resolve  # noqa: E402
from write import files  # noqa: E402

ORDER = ['types', 'targets', 'names', 'some.enc', 'rows.isa', 'more.isa', 'fidelity', 'strange']


def read_files(text):
    """{file: text} of the '---' sections, and the '>>> ' lines."""
    out, wanted, name = {}, [], None
    for line in text.split('\n'):
        if line.startswith('--- '):
            name = line[4:]
            out[name] = ''
        elif line.startswith('>>> '):
            wanted.append(line[4:])
        elif name:
            out[name] += line + '\n'
    return out, wanted


def cases(path):
    for part in open(path).read().split('\n=== ')[1:]:
        title, _, text = part.partition('\n')
        yield (title,) + read_files(text)


def changed(base, changes):
    out = dict(base)
    for name, text in changes.items():
        if name.startswith('+'):
            out[name[1:]] = out.get(name[1:], '') + text
        else:
            out[name] = text
    return out


def run(texts):
    """What comes out: lines of forms, or the one message; and the traceback's innermost line."""
    try:
        isa = load([n for n in ORDER if n in texts], lambda name: io.StringIO(texts[name]))
        files(isa)
    except Bad as bad:
        frame = traceback.extract_tb(bad.__traceback__)[-1]
        return [str(bad)], (os.path.basename(frame.filename), frame.lineno)
    out = []
    for node in dict.fromkeys(n for n, _ in isa.targets.values()):
        for space, by_op in resolve(isa, node).items():
            for op, form in sorted(by_op.items()):
                operands = ['%s%s%s' % (s[1], '+' * s[10], '~' * s[11]) for s in form.specs]
                out.append('%s %s %02x %s %d %s %0*x' % (node, space.name, op, form.name, form.layout.dwords,
                                                        ' '.join(operands), 8 * form.layout.dwords, form.zero))
    return out, None


def main():
    base, _ = read_files(open(os.path.join(here, 'base.txt')).read())
    wrong, count, reached = 0, 0, set()
    for name in ('good.txt', 'bad.txt'):
        for title, changes, wanted in cases(os.path.join(here, name)):
            got, line = run(changed(base, changes))
            count += 1
            reached.add(line)
            if got != wanted:
                wrong += 1
                print('%s: %s\n  wanted %s\n  got    %s' % (name, title, '\n         '.join(wanted), '\n         '.join(got)))
    for file in ('read.py', 'resolve.py', 'write.py', 'isagen.py'):
        for number, line in enumerate(open(os.path.join(os.path.dirname(here), file)), 1):
            if 'raise Bad(' in line and (file, number) not in reached:
                wrong += 1
                print('%s:%d: no bad case reaches: %s' % (file, number, line.strip()))
    print('%d cases, %d wrong' % (count, wrong))
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
