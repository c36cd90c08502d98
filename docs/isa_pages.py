#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pages about all instructions, from `wavemem isa --json --all`: isa_pages.py WAVEMEM INDEX (the pages go into INDEX's folder isa/)."""
import json
import os
import re
import subprocess
import sys


def bits(form):
    """'31:26 encoding 0x38, 25:18 opcode 0x3, ...' for each dword."""
    out = []
    for dword in range(form['dwords']):
        parts = []
        for f in sorted((f for f in form['bits'] if f['position'] // 32 == dword), key=lambda f: -f['position']):
            low = f['position'] % 32
            place = '%d:%d' % (low + f['width'] - 1, low) if f['width'] > 1 else str(low)
            parts.append('%s %s%s' % (place, f['name'], ' 0x%x' % f['value'] if 'value' in f and f['name'] != '0' else ''))
        out.append('dword %d: %s' % (dword, ', '.join(parts)))
    return out


def page(row):
    out = ['## ' + row['row'], '']
    for key in ('computes', 'reads', 'writes'):
        if key in row:
            out.append('- %s: `%s`' % (key, row[key]))
    waits = dict.fromkeys(t['raises'] for f in row['forms'] for t in f['targets'] if 'raises' in t)
    if waits:
        out.append('- raises: ' + '; '.join(waits))
    remark = ': ' + row['remark'] if 'remark' in row else ''
    out.append('- fidelity: ' + row['fidelity'] + (', with ' + row['remark_with'] if 'remark_with' in row else '') + remark)
    out += ['- erratum: ' + text for text in row['errata']]
    for form in row['forms']:
        operands = ', '.join('%s:%s' % (o['role'], o['type']) for o in form['operands'])
        out += ['', '**%s** %s, opcode 0x%x%s: %s' % (form['name'], form['encoding'], form['opcode'], '; ' + operands if operands else '',
                                                   ' '.join(t['name'] for t in form['targets'])), '']
        out += ['- ' + line for line in bits(form)]
    return '\n'.join(out) + '\n'


def main(wavemem, index):
    rows = json.loads(subprocess.run([wavemem, 'isa', '--json', '--all'], stdout=subprocess.PIPE, check=True).stdout)
    folder = os.path.join(os.path.dirname(index), 'isa')
    os.makedirs(folder, exist_ok=True)
    kinds = {}
    for row in rows:
        kinds.setdefault(row['kind'], []).append(row)
    lines = ['# The instructions', '', 'Made from isa/ by `wavemem isa --json --all`; do not edit.', '']
    for kind, members in kinds.items():
        name = re.sub(r'\W+', '-', kind).lower() + '.md'
        with open(os.path.join(folder, name), 'w') as file:
            file.write('# %s instructions\n\n' % kind + '\n'.join(page(row) for row in members))
        lines += ['## [%s](isa/%s)' % (kind, name), '', ' '.join('[%s](isa/%s#%s)' % (r['row'], name, r['row']) for r in members), '']
    with open(index, 'w') as file:
        file.write('\n'.join(lines))


if __name__ == '__main__':
    main(*sys.argv[1:])
