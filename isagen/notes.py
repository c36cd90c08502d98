#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Generates what `wavemem isa` prints of rows beyond their tables: formulas, errata, names of layouts.

    notes.py OUTPUT FORMULAS ERRATA BODY_SOURCE... -- FILE...      (FILE... as for isagen.py)

A formula is the body's text in src/sem if that is a single expression, else a line of FORMULAS, else derived from the row's
flags. An erratum applies to the rows that its line names."""
import fnmatch
import re
import sys

from isagen import load
from bad import Bad
from write import HEAD

# Macro arguments that are not expressions: types and parameter lists.
TYPE = re.compile(r'[a-z]\w*|[A-Z]\w*')
BODY = re.compile(r'^([A-Z][A-Z_0-9]+)\((\w+), ([^;]*?)\)$', re.M | re.S)
NAME = re.compile(r'\b(?:v|s|ds|buffer|tbuffer|flat|global|scratch|image|exp)_[\w*?]+')


def arguments(text):
    """Splits at commas outside brackets."""
    out, depth, last = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in '([{') - (c in ')]}')
        if c == ',' and not depth:
            out.append(text[last:i])
            last = i + 1
    return [' '.join(x.split()) for x in out + [text[last:]]]


def body_formulas(sources):
    """{body: text} of bodies that are a single expression."""
    out = {}
    for source in sources:
        for macro, name, rest in BODY.findall(source):
            expressions = [x for x in arguments(rest) if not TYPE.fullmatch(x) and re.search(r'\b[abcd]\b', x)]
            if not expressions or 'DEFINE' in macro or len(expressions) > 2 or '\\' in rest:
                continue
            text = re.sub(r'\bwmi_|\bTWO\b', '', ('SCC = ' if macro.startswith('COMPARE') else 'd = ') + expressions[0])
            text = re.sub(r' ([*&])(\w)', r' \1 \2', re.sub(r'\* ?scc_of\(frame\)', 'SCC', text)).replace('__builtin_', '')
            if len(expressions) == 2:
                text += ('; SCC = ' if 'SCC' in macro else '; with clamp ' if 'CLAMP' in macro else '; ') + expressions[1]
            out[name] = text
    return out


def memory_formula(row, family):
    kind, elements, size = row.flags.get('memory', (None, 0, 0))
    place = 'LDS' if family.startswith('ds') else 'image' if re.match('mimg|vimage', family) else 'memory'
    width = '%d bytes' % size if elements == 1 else '%d x %d bytes' % (elements, size)
    if kind == 'load':
        return 'd = %s[address], %s' % (place, width)
    if kind == 'store':
        return '%s[address] = data, %s' % (place, width)
    if kind == 'atomic':
        operation = re.sub(r'^[a-z]+_(atomic_)?|_(rtn_?|[bufi]\d+|x2)+$', '', row.name)
        return 'old = %s[address]; %s[address] = %s(old, data); returns old if asked to; %s' % (place, place, operation, width)
    return None


def formula(row, bodies, lines):
    found = bodies.get(next(iter(row.bodies.values()), row.name))
    if found:
        return found
    for expression, text in lines:
        m = expression.fullmatch(row.name)
        if m:
            return m.expand(text)
    return memory_formula(row, row.encodings[0].family)


def read_formulas(path):
    out = []
    with open(path) as file:
        for number, line in enumerate(file, 1):
            if line.strip() and not line.startswith('#'):
                expression, colon, text = line.strip().partition(' : ')
                if not colon:
                    raise Bad((path, number), "expected 'REGULAR EXPRESSION : TEXT'")
                out.append((re.compile(expression), text))
    return out


def errata(text):
    """[(names with wildcards, text)] of the lines that name instructions."""
    out, lines = [], re.sub(r'\n  (?=\S)', ' ', text).split('\n')
    for line in lines:
        names = NAME.findall(line)
        if names and line[:1] in '|-':
            cells = [c.strip() for c in line.strip('|- ').split(' | ')]
            out.append((names, ': '.join(cells[:1] + ['; '.join(cells[1:])]) if len(cells) > 1 else cells[0]))
    return out


def quoted(text):
    return '"%s"' % text.replace('\\', '\\\\').replace('"', '\\"') if text else '0'


def notes(isa, bodies, lines, known):
    out = [HEAD, '#include "isa/text/explain.h"', '', 'const char *const wmi_layout_names[] = {']
    out += ['    "%s",' % name for name in dict.fromkeys(name for name, _ in isa.layouts)] + ['};']
    out.append('const char *const wmi_formulas[WMI_INSN_COUNT] = {')
    out += ['    [WMI_INSN_%s] = %s,' % (row.name, quoted(formula(row, bodies, lines))) for row in isa.rows.values()]
    out += ['};', 'const struct wmi_erratum wmi_errata[] = {']
    for names, text in known:
        for row in isa.rows.values():
            if any(fnmatch.fnmatchcase(own, name) for name in names for own in {row.name, *(
                    n for e in row.encodings for n in e.names.values())}):
                out.append('    {WMI_INSN_%s, %s},' % (row.name, quoted(text)))
    return '\n'.join(out + ['    {0, 0},', '};']) + '\n'


def main(arguments_):
    end = arguments_.index('--')
    try:
        isa, lines = load(arguments_[end + 1:]), read_formulas(arguments_[2])
        texts = []
        for path in arguments_[3:end]:
            with open(path) as file:
                texts.append(file.read())
        with open(arguments_[1], 'w') as file:
            file.write(notes(isa, body_formulas(texts[1:]), lines, errata(texts[0])))
    except (Bad, OSError) as bad:
        print(bad, file=sys.stderr)
        return 2
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
