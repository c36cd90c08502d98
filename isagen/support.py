#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Generates docs/support.md: the rows of isa/ in each generation, and their fidelity. support.py OUTPUT FILE..."""
import sys

from isagen import load
from bad import Bad
from resolve import resolve

HEAD = '''# What wavemem decodes and executes

Made from isa/ by isagen; do not edit. A row is an instruction, a column a generation.

| mark | means |
| --- | --- |
| exact | executes as its source says, bit by bit |
| approx | executes; the hardware's last bits are known to nobody: the remark gives the bounds |
| unverified | executes; what the remark says is decided by no document and no measurement |
| exact* | exact, but unverified with the modifier that the remark names |
| todo | decodes and prints; a kernel that reaches it stops there |
| (empty) | the generation does not have it |

Only gfx900 and its nearest kin are executed in tests: on other generations a mark says what the row's body does, and that
the row decodes. What is unverified of many rows alike:
'''


def mark(row):
    if 'todo' in row.flags:
        return 'todo'
    always = next((g.name for g in row.grades if not g.field), None)
    return always or ('exact*' if row.grades else 'exact')


def remark(row):
    if 'todo' in row.flags:
        return ''
    return '; '.join(('with %s: ' % g.field if g.field else '') + g.remark for g in row.grades)


def support(isa):
    targets = {}
    for name, target in isa.targets.items():
        targets.setdefault(target.node, []).append(name)
    has = {node: {form.row.name for by_op in resolve(isa, node).values() for form in by_op.values()} for node in targets}
    out = [HEAD] + ['- ' + text for text in isa.general] + ['', '| generation | targets |', '| --- | --- |']
    out += ['| %s | %s |' % (node, ' '.join(names)) for node, names in targets.items()]
    files = dict.fromkeys(row.where[0] for row in isa.rows.values())
    for file in files:
        rows = [row for row in isa.rows.values() if row.where[0] == file]
        out += ['', '## ' + file, '', '| instruction | %s | remark |' % ' | '.join(targets),
                '| --- |' + ' --- |' * (len(targets) + 1)]
        for row in rows:
            cells = [mark(row) if row.name in has[node] else '' for node in targets]
            out.append('| %s | %s | %s |' % (row.name, ' | '.join(cells), remark(row)))
    return '\n'.join(out) + '\n'


def main(arguments):
    try:
        text = support(load(arguments[2:]))
        with open(arguments[1], 'w') as file:
            file.write(text)
    except (Bad, OSError) as bad:
        print(bad, file=sys.stderr)
        return 2
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
