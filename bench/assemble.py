#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the assembler's speed with llvm-mc-19's: assemble.py WAVEMEM LIBRARY EXAMPLES [TARGET...]

Two inputs per target: our disassembly of all code of a library, assembled to raw bytes, and the output of clang-19 -S for all .cl
files in the folder EXAMPLES, with directives, comments and metadata, assembled to a code object. For the first, both must produce
the same bytes; tests/oracle/assembled_files.py compares the second. Times are the minimum CPU time of alternating runs, including
process start. With WAVEMEM_BENCH_SMALL in the environment there is only one run."""
import glob
import os
import resource
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../tests/oracle'))
from assembled_files import BITCODE, LIBRARIES, SKIP

RUNS = 1 if os.environ.get('WAVEMEM_BENCH_SMALL') else 7


def cpu_time(*command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def disassembled(wavemem, library, target, path):
    with open(path, 'w') as file:
        subprocess.run([wavemem, 'dis', '-m', target, '--plain', '--reassemblable', library], stdout=file, check=True)


def compiled(examples, target, path):
    """False: clang-19 or rocm-device-libs is not installed, or compilation failed."""
    bitcode = next((folder for folder in BITCODE if os.path.exists(os.path.join(folder, 'ocml.bc'))), None)
    if not shutil.which('clang-19') or not bitcode:
        return False
    text = ''.join(open(name).read() for name in sorted(glob.glob(os.path.join(examples, '*.cl'))))
    link = [word for name in LIBRARIES for word in
            ('-Xclang', '-mlink-builtin-bitcode', '-Xclang', os.path.join(bitcode, name + '.bc'))]
    command = ['clang-19', '-x', 'cl', '-cl-std=CL2.0', '-target', 'amdgcn-amd-amdhsa', '-mcpu=' + target, '-nogpulib', '-O3', '-w', '-S']
    return subprocess.run([*command, *link, '-', '-o', path], input=text, text=True).returncode == 0


def measure(wavemem, target, path, raw):
    """Returns our seconds and llvm-mc-19's; writes path.ours and path.o."""
    ours, theirs = [], []
    for _ in range(RUNS):
        ours.append(cpu_time(wavemem, 'asm', '-m', target, *['--raw'] * raw, path, '-o', path + '.ours'))
        theirs.append(cpu_time('llvm-mc-19', '-triple=amdgcn-amd-amdhsa', '-mcpu=' + target, '-filetype=obj', path, '-o', path + '.o'))
    return min(ours), min(theirs)


def is_same(path):
    subprocess.run(['llvm-objcopy-19', '-O', 'binary', '--only-section=.text', path + '.o', path + '.theirs'], check=True)
    with open(path + '.ours', 'rb') as a, open(path + '.theirs', 'rb') as b:
        return a.read() == b.read()


def show(what, path, ours, theirs, remark=''):
    with open(path) as file:
        lines = sum(1 for _ in file)
    print('%-24s %9d %7.1f ms %12.1f %11.1f ms %6.1f%s' % (what, lines, 1e3 * ours, lines / ours / 1e6, 1e3 * theirs, theirs / ours, remark))


def main(wavemem, library, examples, *targets):
    if not os.path.exists(library) or not shutil.which('llvm-mc-19'):
        print('skipped: %s or llvm-mc-19 is not installed' % library)
        return SKIP
    print('%-24s %9s %10s %12s %14s %6s' % ('text', 'lines', 'wavemem', 'million/s', 'llvm-mc-19', 'ratio'))
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'k.s')
        for target in targets or ['gfx900']:
            disassembled(wavemem, library, target, path)
            times = measure(wavemem, target, path, raw=True)
            same = is_same(path)
            failed += not same
            show(target + ', disassembly', path, *times, '' if same else '  OTHER BYTES')
            if compiled(examples, target, path):
                show(target + ', clang -S', path, *measure(wavemem, target, path, raw=False))
    return int(failed > 0)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
