#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Generates docs/support.md: the rows of isa/ in each generation, and their fidelity. support.py OUTPUT FILE..."""
import sys

from isagen import load
from bad import Bad
from resolve import resolve

HEAD = '''# What wavemem decodes and executes

Made from isa/ by isagen; do not edit. A row is an instruction under one of its names, a column a generation. Instructions that
generations call differently have a row for each name; the remark gives the name of the row in isa/.

| mark | means |
| --- | --- |
| exact | executes as its source says, bit by bit |
| approx | executes; the hardware's last bits are known to nobody: the remark gives the bounds |
| unverified | executes; what the remark says is decided by no document and no measurement |
| exact* | exact, but unverified with the modifier that the remark names |
| todo | decodes and prints; a kernel that reaches it stops there: the remark says why |
| (empty) | the generation does not have it |

Tests execute each row's body against exact arithmetic, and kernels from compilers on a target of each generation; a mark
says what the body does, not that a test has run the instruction on that generation. What is unverified of many rows alike:
'''


def is_missing(isa, row, node):
    return 'todo' in row.flags


def mark(isa, row, node):
    if is_missing(isa, row, node):
        return 'todo'
    grades = [g for g in row.grades if node in g.nodes]
    always = next((g.name for g in grades if not g.field), None)
    return always or ('exact*' if grades else 'exact')


def remark(row):
    if 'todo' in row.flags:
        return row.missing
    return '; '.join(('with %s: ' % g.field if g.field else '') + g.remark for g in row.grades)


def names_of(isa, node):
    """{row: its names at a node}."""
    names = {}
    for by_op in resolve(isa, node).values():
        for form in by_op.values():
            names.setdefault(form.row, set()).add(form.base)
    return names


def table(head, lines):
    return ['| %s |' % ' | '.join(str(cell) for cell in line) for line in [head, ['---'] * len(head)] + lines]


def counts(isa, targets, names):
    """How many rows of each generation have each mark, and why some do not execute."""
    lines, reasons = [], {}
    for node in targets:
        marks = [mark(isa, row, node) for row in names[node]]
        lines.append([node, len(marks), len(marks) - marks.count('todo')] +
                     [marks.count(m) for m in ('exact', 'exact*', 'unverified', 'approx', 'todo')])
        for row in names[node]:
            if is_missing(isa, row, node):
                reasons.setdefault(row.missing or 'execution of this generation is not built', {}).setdefault(node, []).append(row.name)
    out = table(['generation', 'rows', 'execute', 'exact', 'exact*', 'unverified', 'approx', 'todo'], lines)
    if reasons:
        out += [''] + table(['why todo'] + list(targets), [[reason] + [len(by_node.get(node, ())) or '' for node in targets]
                                                           for reason, by_node in reasons.items()])
    return out


def rows_of(isa, file, targets, names):
    """One line for each name of each row."""
    lines = []
    for row in isa.rows.values():
        if row.where[0] != file:
            continue
        called = {node: names[node].get(row, ()) for node in targets}
        for name in dict.fromkeys([row.name] + sorted(set().union(*called.values()))):
            cells = [mark(isa, row, node) if name in called[node] else '' for node in targets]
            also = '' if name == row.name else 'row %s' % row.name
            if any(cells):
                lines.append([name] + cells + ['; '.join(x for x in (also, remark(row)) if x)])
    return lines


def support(isa):
    targets = {}
    for name, target in isa.targets.items():
        targets.setdefault(target.node, []).append(name)
    names = {node: names_of(isa, node) for node in targets}
    out = [HEAD] + ['- ' + text for text in isa.general] + ['']
    out += table(['generation', 'targets'], [[node, ' '.join(called)] for node, called in targets.items()]) + ['']
    out += counts(isa, targets, names)
    for file in dict.fromkeys(row.where[0] for row in isa.rows.values()):
        out += ['', '## ' + file, ''] + table(['instruction', *targets, 'remark'], rows_of(isa, file, targets, names))
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
