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
import facts  # noqa: E402
from bad import Bad  # noqa: E402
from resolve import resolve  # noqa: E402
from write import body_number, files, row_class  # noqa: E402

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
        made = files(isa)
    except Bad as bad:
        frame = traceback.extract_tb(bad.__traceback__)[-1]
        return [str(bad)], (os.path.basename(frame.filename), frame.lineno)
    out = []
    for node in dict.fromkeys(t.node for t in isa.targets.values()):
        for space, by_op in resolve(isa, node).items():
            for op, form in sorted(by_op.items()):
                operands = ['%s%s%s' % (s[1], '+' * s[10], '~' * s[11]) for s in form.specs]
                body = ' =' + form.body if form.body != form.row.name else ''
                out.append('%s %s %02x %s %d %s %0*x%s' % (node, space.name, op, form.name, form.layout.dwords,
                                                          ' '.join(operands), 8 * form.layout.dwords, form.zero, body))
    return out + bodies(isa, made['insn.def']) + [said(isa, row) for row in isa.rows.values() if row.facts], None


def bodies(isa, insn_def):
    """Rows that have several bodies, and the number that each node takes."""
    out = [line.split('*/ ')[1] for row in isa.rows.values() if len(row.bodies) > 1
           for line in insn_def.split('\n') if row.name in line]
    for node in dict.fromkeys(t.node for t in isa.targets.values()):
        for by_op in resolve(isa, node).values():
            out += ['%s %s' % (node, body_number(isa, f.row, f.body)) for f in by_op.values() if len(f.row.bodies) > 1]
    return out


def said(isa, row):
    """What a row says of itself beyond operands and flags."""
    out = ['counts ' + facts.counts(row, row_class(isa, row))]
    out += [key + ' ' + (row.facts[key] if key == 'group' else ' '.join(row.facts[key]))
            for key in ('group', 'waits', 'rules', 'cache') if key in row.facts]
    matrix = facts.matrix_of(row)
    if matrix:
        out.append('matrix %dx%dx%d %d %s %s %s %s' % (matrix[:-1] + ('sparse' if matrix.sparse else 'dense',)))
    return row.name + ' ' + ', '.join(out)


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
    for file in ('read.py', 'facts.py', 'resolve.py', 'write.py', 'isagen.py'):
        for number, line in enumerate(open(os.path.join(os.path.dirname(here), file)), 1):
            if 'raise Bad(' in line and (file, number) not in reached:
                wrong += 1
                print('%s:%d: no bad case reaches: %s' % (file, number, line.strip()))
    print('%d cases, %d wrong' % (count, wrong))
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
