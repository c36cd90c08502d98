#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Assembly files through our assembler, and through llvm-mc-19 and ld.lld-19: the code objects must be equal.
assembled_files.py WAVEMEM [--some] [--lines | --own-lines] SOURCE... TARGET...

Sources are .cl, compiled by clang-19 -S to assembly, or .s. --some: of the .cl only the first, and two others that vary
with the target; these three make one file, because starting the tools takes longer than what they do. --lines: compiled with -g for line tables, and linked without merging strings, which ld.lld would
reorder. --own-lines: both assemblers with -g; only the rows of their line tables are compared. Compared are all
sections (name, type, flags, addresses, bytes), segments, .dynamic and relocations, symbols, hash tables, the header's
flags, and the output of `wavemem info`."""
import concurrent.futures
import glob
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

from llvm import SKIP, tool, with_tools

TOOLS = ['clang', 'llvm-mc', 'llvm-readelf', 'llvm-dwarfdump', 'ld.lld']
BITCODE = glob.glob('/usr/lib/*/amdgcn/bitcode') + ['/usr/amdgcn/bitcode', '/opt/rocm/amdgcn/bitcode']
# The same functions for all targets; this test only needs the text.
LIBRARIES = ['opencl', 'ocml', 'ockl', 'oclc_abi_version_500', 'oclc_isa_version_900', 'oclc_daz_opt_off', 'oclc_unsafe_math_off',
             'oclc_finite_only_off', 'oclc_correctly_rounded_sqrt_on', 'oclc_wavefrontsize64_on']
# Not read by loaders: lld writes its own name, and chooses numbers in tables of names.
NOT_COMPARED = {'.comment', '.strtab', '.symtab', '.shstrtab', '.dynsym'}


class Wrong(Exception):
    pass


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise Wrong('%s: exit code %d\n%s' % (' '.join(command), done.returncode, done.stderr[:2000]))
    return done.stdout


def structure(path):
    """The output of readelf, without sizes of names and positions after .comment."""
    out = []
    for line in run('llvm-readelf-19', '-lSsdrW', '--histogram', path).splitlines():
        found = re.match(r' +\[ *\d+\] (\S+) ', line)
        if 'Start of section headers' in line or 'starting at offset' in line:
            continue
        if found and found.group(1) in NOT_COMPARED and found.group(1) != '.dynsym':
            name, kind, _, _, _, *rest = line.split(']', 1)[1].split()
            line = '%s %s %s' % (name, kind, ' '.join(x for x in rest if not x.isdigit()))
        line = re.sub(r'( [A-Z]+ +0{16}) [0-9a-f]{6}', r'\1', line) # file offsets of sections that are not loaded
        out.append(line.replace('.comment ', ''))
    return [re.sub(r'\[ *\d+\] ', '', l) for l in out if not l.startswith('.comment')]


def contents(path):
    """The contents of each section, and the header's ABI version and flags."""
    with open(path, 'rb') as file:
        data = file.read()
    places, count, names_at = *struct.unpack_from('<Q', data, 40), *struct.unpack_from('<HH', data, 60)
    headers = [struct.unpack_from('<IIQQQQIIQQ', data, places + 64 * i) for i in range(count)]
    names = headers[names_at][4]
    out = {}
    for name, kind, _, _, offset, size, *_ in headers:
        text = data[names + name:data.index(b'\0', names + name)].decode()
        if kind != 8 and text not in NOT_COMPARED: # SHT_NOBITS
            out[text] = data[offset:offset + size]
    out['the header'] = data[8:9] + data[48:52]
    return out


def rows(path):
    """Addresses, lines and flags in a line table."""
    return re.findall(r'^(0x\w+ +\d+ .*)', run('llvm-dwarfdump-19', '--debug-line', path), re.M)


def joined(sources):
    """The text of a source that includes all of these, whose macros do not meet."""
    text = ''
    for source in sources:
        with open(source) as file:
            macros = re.findall(r'^ *# *define +(\w+)', file.read(), re.M)
        text += '#include "%s"\n' % os.path.abspath(source) + ''.join('#undef %s\n' % macro for macro in macros)
    return text


def differences(wavemem, bitcode, lines, sources, target, folder):
    path = lambda kind: os.path.join(folder, 'a.' + kind)
    source = sources[0]
    if source.endswith('.cl'):
        if len(sources) > 1:
            source = path('cl')
            with open(source, 'w') as file:
                file.write(joined(sources))
        version = '6' if 'generic' in target else '5'
        link = [word for name in LIBRARIES if bitcode for word in
                ['-Xclang', '-mlink-builtin-bitcode', '-Xclang', os.path.join(bitcode, name + '.bc')]]
        run(tool('clang', target), '-x', 'cl', '-cl-std=CL2.0', '-target', 'amdgcn-amd-amdhsa', '-mcpu=' + target, '-nogpulib', '-O1', '-w', '-S',
            *['-g'] * (lines == 1), '-mcode-object-version=' + version, *link, source, '-o', path('s'))
    else:
        shutil.copy(source, path('s'))
    own = ['-g'] if lines == 2 else []
    run(tool('llvm-mc', target), *own, '-triple=amdgcn-amd-amdhsa', '-mcpu=' + target, '-I', os.path.dirname(source), '-filetype=obj', path('s'), '-o',
        path('o'))
    run(tool('ld.lld', target), *['-O0'] * (lines == 1), '-shared', path('o'), '-o', path('so'))
    run(wavemem, 'asm', *own, '-m', target, '-I', os.path.dirname(source), path('s'), '-o', path('co'))
    if own:
        ours, theirs = rows(path('co')), rows(path('so'))
        return ['%s, not %s' % (a, b) for a, b in zip(ours, theirs) if a != b][:3] + \
            ['%d rows, not %d' % (len(ours), len(theirs))] * (len(ours) != len(theirs) or not ours)
    ours, theirs = structure(path('co')), structure(path('so'))
    wrong = ['%s, not %s' % (a, b) for a, b in zip(ours, theirs) if a != b][:3]
    if len(ours) != len(theirs):
        wrong.append('%d lines of readelf, not %d' % (len(ours), len(theirs)))
    ours, theirs = contents(path('co')), contents(path('so'))
    wrong += ['the bytes of ' + name for name in sorted(theirs) if ours.get(name) != theirs[name]]
    listed = lambda kind: run(wavemem, 'info', path(kind)).replace(path(kind), '')
    if listed('co') != listed('so'):
        wrong.append('what `wavemem info` shows')
    return wrong


def check(wavemem, bitcode, lines, sources, target):
    with tempfile.TemporaryDirectory() as folder:
        try:
            return differences(wavemem, bitcode, lines, sources, target, folder)
        except Wrong as wrong:
            return [str(wrong)]


def main(wavemem, *words):
    sources = [w for w in words if w.endswith(('.cl', '.s'))]
    targets = with_tools([w for w in words if w not in sources and not w.startswith('--')], TOOLS)
    if not targets:
        print('skipped: no %s of version 19 (Debian packages clang-19, lld-19, llvm-19)' % ', '.join(TOOLS))
        return SKIP
    lines = 1 if '--lines' in words else 2 if '--own-lines' in words else 0
    bitcode = next((folder for folder in BITCODE if os.path.exists(os.path.join(folder, 'ocml.bc'))), None)
    if not bitcode: # the examples need the device library
        sources = [s for s in sources if s.endswith('.s') or os.path.basename(s) == 'compiled.cl']
    jobs = []
    first, *others = [s for s in sources if s.endswith('.cl')] or [None]
    for n, target in enumerate(targets):
        if '--some' in words and first:
            jobs.append(([first] + [s for i, s in enumerate(others) if (i - 2 * n) % len(others) < 2], target))
            jobs += [([s], target) for s in sources if s.endswith('.s')]
        else:
            jobs += [([s], target) for s in sources]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for (files, target), wrong in zip(jobs, pool.map(lambda job: check(wavemem, bitcode, lines, *job), jobs)):
            if wrong:
                failed += 1
                print('%s, %s: other than llvm-mc-19 and ld.lld-19:\n  %s' %
                      (' '.join(map(os.path.basename, files)), target, '\n  '.join(wrong)))
    print('%d of %d files are the same' % (len(jobs) - failed, len(jobs)))
    return int(failed > 0)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
