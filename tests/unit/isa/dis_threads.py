#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`wavemem dis` writes the same listing with any number of threads: dis_threads.py WAVEMEM

The code is misread by threads that start in the middle: literals that look like instructions, in every phase, and
random words."""
import os
import random
import struct
import subprocess
import sys
import tempfile

WORDS = 300000
S_NOP, S_MOV_LITERAL = 0xbf800000, 0xbe8000ff  # the literal of s_mov_b32 s0 is s_mov_b32 s0 again


def codes():
    r = random.Random(1)
    yield 'literals', [S_MOV_LITERAL] * WORDS
    yield 'literals, one dword later', [S_NOP] + [S_MOV_LITERAL] * WORDS
    yield 'random words', [r.getrandbits(32) for _ in range(WORDS)]
    changing = []
    while len(changing) < WORDS:  # phases change at random places
        changing += [S_NOP] * r.randrange(1, 3) + [S_MOV_LITERAL] * r.randrange(1, 9000)
    yield 'changing phases', changing


def listing(wavemem, path, threads, options):
    run = subprocess.run([wavemem, 'dis', '-m', 'gfx900', '--raw', '-j', str(threads), *options, path], capture_output=True)
    if run.returncode or run.stderr:
        sys.exit('%d threads: exit code %d\n%s' % (threads, run.returncode, run.stderr.decode()))
    return run.stdout


def main(wavemem):
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'words.bin')
        for name, words in codes():
            with open(path, 'wb') as file:
                file.write(struct.pack('<%dI' % len(words), *words))
            for options in [], ['--plain']:
                want = listing(wavemem, path, 1, options)
                assert want.count(b'\n') > WORDS // 3
                for threads in 2, 3, 64:
                    if listing(wavemem, path, threads, options) != want:
                        print('%s: %d threads write another listing than one' % (name, threads))
                        wrong += 1
    print('%d listings differ' % wrong)
    return int(wrong > 0)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
