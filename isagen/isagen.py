#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Generates the C tables from isa/: isagen.py OUTDIR FILE... (types, targets, names, *.enc, *.isa, then fidelity)."""
import os
import sys

from bad import Bad
from read import Isa, Lines
from write import files

READERS = {'types': Isa.read_types, 'targets': Isa.read_targets, 'names': Isa.read_names, '.enc': Isa.read_encodings,
           '.isa': Isa.read_rows, 'fidelity': Isa.read_fidelity}


def load(paths, open_=open):
    isa = Isa()
    for path in paths:
        name = os.path.basename(path)
        reader = READERS.get(os.path.splitext(name)[1] or name)
        if reader is None:
            raise Bad((name, 0), 'expected types, targets, names, *.enc, *.isa or fidelity')
        with open_(path) as file:
            reader(isa, Lines(name, file.read()))
    return isa


def write(path, text):
    """Does not touch a file that already has this text, so that its dependents are not rebuilt."""
    if os.path.exists(path):
        with open(path) as file:
            if file.read() == text:
                return
    with open(path, 'w') as file:
        file.write(text)


def main(arguments):
    if len(arguments) < 3:
        print('use: isagen.py OUTDIR FILE...', file=sys.stderr)
        return 2
    try:
        made = files(load(arguments[2:]))
        for name, text in made.items():
            write(os.path.join(arguments[1], name), text)
    except (Bad, OSError) as bad:
        print(bad, file=sys.stderr)
        return 2
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
