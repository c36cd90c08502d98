#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`wavemem isa --json --all` against the lists made from LLVM: explained.py WAVEMEM FORMS...

Each word of a list must match the fixed bits of a form with the list's name on its target, and the bits of every form
must cover its dwords exactly once."""
import json
import os
import re
import subprocess
import sys

from llvm import read_forms


def value(words, field):
    position, width = field['position'], field['width']
    return words[position // 32] >> position % 32 & (1 << width) - 1 if position // 32 < len(words) else None


def agrees(words, field):
    """Whether the words have the fixed bits. DPP8 has another code with fi:1."""
    here = value(words, field)
    return here == field['value'] or (field['name'], field['value'], here) == ('encoding', 0xe9, 0xea)


def covers(form):
    bits = sorted(b for f in form['bits'] for b in range(f['position'], f['position'] + f['width']))
    return bits == list(range(32 * form['dwords']))


def main(wavemem, *paths):
    rows = json.loads(subprocess.run([wavemem, 'isa', '--json', '--all'], capture_output=True, check=True).stdout)
    by_name, wrong, forms = {}, 0, 0
    for row in rows:
        for form in row['forms']:
            forms += 1
            if not covers(form):
                wrong += 1
                print('%s, %s: its bits do not cover its dwords once' % (form['name'], form['encoding']))
            for target in form['targets']:
                by_name.setdefault((target['name'], form['name']), []).append(form)
    words = 0
    for path in paths:
        target = re.search(r'forms-(\w+)', os.path.basename(path)).group(1)
        for encoding, _, word, text in read_forms(path):
            words += 1
            name = text.split()[0]
            found = by_name.get((target, name), [])
            if not any(all(agrees(word, f) for f in form['bits'] if f.get('value') is not None) for form in found):
                wrong += 1
                print('%s: no form of %s has the fixed bits of %s (%s)' % (target, name, ' '.join('%08x' % w for w in word), encoding))
    formulas = sum('computes' in row for row in rows)
    print('%d rows (%d with formulas), %d forms, %d words, %d wrong' % (len(rows), formulas, forms, words, wrong))
    return int(wrong > 0 or not words)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
