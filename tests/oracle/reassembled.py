#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`wavemem dis --plain --reassemblable` through llvm-mc-19, and through `wavemem asm --raw`, always gives the same
bytes.

    reassembled.py WAVEMEM TARGET FORMS COUNT     COUNT random words of each row of the list, and as many random dwords
    reassembled.py WAVEMEM FILE...                code objects
    reassembled.py WAVEMEM --library LIBRARY [N]  every Nth code object in the bundles of a library
"""
import json
import os
import random
import subprocess
import sys
import tempfile

from library_objdump import objects
from llvm import SKIP, mc, need_llvm, read_forms
import words as words_gcn
import words_rdna

SHOWN = 30


def text_section(path, folder):
    out = os.path.join(folder, 'section')
    subprocess.run(['llvm-objcopy-19', '-O', 'binary', '--only-section=.text', path, out], check=True)
    with open(out, 'rb') as file:
        return file.read()


def differences(target, lines, folder):
    """(bytes that llvm-mc-19 assembles from the lines, its messages)"""
    made = os.path.join(folder, 'made.o')
    run = subprocess.run([mc(target), '-arch=amdgcn', '-mcpu=' + target, '-filetype=obj', '-o', made],
                         input='\n'.join(lines) + '\n', capture_output=True, text=True)
    return (text_section(made, folder) if run.returncode == 0 else b''), run.stderr


def assembled(wavemem, target, lines, folder):
    """(bytes that `wavemem asm --raw` assembles from the lines, its messages)"""
    text, made = os.path.join(folder, 'made.s'), os.path.join(folder, 'made.bin')
    with open(text, 'w') as file:
        file.write('\n'.join(lines) + '\n')
    run = subprocess.run([wavemem, 'asm', '--raw', '-m', target, text, '-o', made], capture_output=True, text=True)
    if run.returncode:
        return b'', run.stderr
    with open(made, 'rb') as file:
        return file.read(), run.stderr


def dis(wavemem, *arguments):
    run = subprocess.run([wavemem, 'dis', '--plain', '--reassemblable', *arguments], capture_output=True, text=True)
    if run.returncode:
        sys.exit('wavemem dis %s: exit code %d\n%s' % (' '.join(arguments), run.returncode, run.stderr))
    return run.stdout.splitlines()


def first_differences(target, lines, want, folder):
    """Bisects the lines to find single wrong ones."""
    found, todo = [], [(0, len(lines))]
    while todo and len(found) < SHOWN:
        first, last = todo.pop()
        got, complaint = differences(target, lines[first:last], folder)
        if not complaint and got[:len(want(first, last))] == want(first, last):
            continue
        if last - first == 1:
            found.append((lines[first], want(first, last).hex(), complaint.split('\n')[0] or got.hex()))
        else:
            middle = (first + last) // 2
            todo += [(middle, last), (first, middle)]
    return found


def check_words(wavemem, target, path, count, folder):
    forms, r = read_forms(path), random.Random(2)
    source = words_rdna if target.startswith('gfx1') else words_gcn
    if target.startswith('gfx1'):
        forms = words_rdna.more_forms(forms)
    words = [w for form in forms for w in [form[2]] + [source.vary(r, target, *form) for _ in range(count)]]
    words += [[r.randrange(1 << 32) for _ in range(4)] for _ in range(len(words) // 4)]
    code = b''.join(w.to_bytes(4, 'little') for ws in words for w in ws)
    raw = os.path.join(folder, 'words.bin')
    with open(raw, 'wb') as file:
        file.write(code)
    return compare(wavemem, target, code, dis(wavemem, '--raw', '-m', target, raw), folder, raw)


def compare(wavemem, target, code, lines, folder, name):
    """Prints the differences; returns whether there are any."""
    got, complaint = differences(target, lines, folder)
    same = not complaint and got[:len(code)] == code
    mine, my_complaint = assembled(wavemem, target, lines, folder)
    data = sum(line.startswith('.long') for line in lines)
    print('%s, %s: %d lines, %d of them data: %s' % (os.path.basename(name), target, len(lines), data, 'the same bytes' if same else 'DIFFERENT'))
    if not same:
        listing = subprocess.run([wavemem, 'dis', '--json', '--reassemblable', *(['--raw', '-m', target] if name.endswith('.bin') else []), name],
                                 capture_output=True, text=True).stdout
        places, at = [0], 0
        for insn in json.loads(listing):
            at += 4 * len(insn['words'])
            places.append(at)
        want = lambda first, last: code[places[first]:places[last]]
        for line, wanted, found in first_differences(target, lines, want, folder):
            print('  %s\n    words %s\n    llvm  %s' % (line, wanted, found))
    if mine[:len(code)] != code:
        at = next((i for i, (a, b) in enumerate(zip(mine, code)) if a != b), len(mine))
        print('  wavemem asm: %s' % (my_complaint or 'another byte at 0x%x' % at)[:1000])
    return same and mine[:len(code)] == code


def check_library(wavemem, library, every, folder):
    ok, count, path = True, 0, os.path.join(folder, 'library.co')
    with open(library, 'rb') as file:
        data = file.read()
    for i, (name, code) in enumerate(objects(data)):
        if i % every:
            continue
        with open(path, 'wb') as file:
            file.write(code)
        target = name.split()[-1].split(':')[0]
        ok &= compare(wavemem, target, text_section(path, folder), dis(wavemem, path), folder, path)
        count += 1
    print('%d code objects of %s' % (count, library))
    return ok and count > 0


def main(wavemem, *arguments):
    need_llvm(arguments[0])
    ok = True
    with tempfile.TemporaryDirectory() as folder:
        if arguments[0] == '--library':
            if not os.path.exists(arguments[1]):
                print('skipped: no %s (Debian package librocrand1)' % arguments[1])
                return SKIP
            ok = check_library(wavemem, arguments[1], int((*arguments, 1)[2]), folder)
        elif arguments[0].startswith('gfx'):
            target, path, count = arguments
            ok = check_words(wavemem, target, path, int(count), folder)
        else:
            for path in arguments:
                target = os.path.basename(os.path.dirname(path))
                ok &= compare(wavemem, target, text_section(path, folder), dis(wavemem, path), folder, path)
    return int(not ok)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
