#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles OpenCL kernels for a GPU and for the host, two at a time, then runs a test program on them.

usage: compile.py [--clang VERSION] [--option OPTION]... [-O N]... [-t TARGET]... [--host] [--two-steps] [--together] FOLDER SOURCE... -- PROGRAM [ARGUMENT]...

FOLDER/NAME-TARGET-ON.co is the GPU's code object, FOLDER/NAME-hostWAVE.so the output of `--host`. Outputs newer than
their source are kept, so tests that share a folder compile shared files once. `{target}`, `{level}` and `{wave}` in the
arguments are replaced by each combination in turn: the program runs once per combination. A TARGET like gfx1030-wave64
has waves of 64 lanes; WAVE is the wave size that the sources see. Exit code 77 ("skipped") if a compiler or the device
library is missing. With WAVEMEM_TEST_REDUCED only the last -O is used.

--together: all sources make one file, FOLDER/together-TARGET-ON.co, because starting clang and ld.lld and linking the
device library takes several times as long as compiling a small kernel.

--clang: the compiler of device code, 19 if not given. The host's is always 19. --option: a further option for it, which
the names of outputs do not tell: use a folder of its own.

--two-steps: printf is bound to its buffer before the device library is linked, whose own printf does nothing, as in
AMD's OpenCL runtime.
"""
import argparse
import contextlib
import fcntl
import glob
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
BITCODE = [os.environ.get('BITCODE', ''), '/usr/lib/*/amdgcn/bitcode', '/usr/amdgcn/bitcode', '/opt/rocm/amdgcn/bitcode']
COMMON = ['-x', 'cl', '-cl-std=CL2.0', '-Werror', '-Wno-unused-function', '-I', os.path.join(HERE, 'opencl')]
# Both sides round every operation, and round correctly.
EXACT = ['-ffp-contract=off', '-cl-fp32-correctly-rounded-divide-sqrt']


def skip(why):
    print(f'skipped: {why}')
    sys.exit(77)


def bitcode_folder():
    for pattern in BITCODE:
        for folder in sorted(glob.glob(pattern)) if pattern else []:
            if os.path.exists(os.path.join(folder, 'ocml.bc')):
                return folder
    skip('no ocml.bc: install rocm-device-libs or set BITCODE to its folder')


def version_number(target):
    """The device library's number of a target: gfx90a is 9 * 1000 + 0 * 100 + 10."""
    digits = target[3:]
    return int(digits[:-2]) * 1000 + int(digits[-2]) * 100 + int(digits[-1], 16)


def wave_of(target):
    return 32 if version_number(target.split('-')[0]) >= 10000 and '-' not in target else 64


@contextlib.contextmanager
def alone(output):
    """Prevents concurrent tests from making the same file."""
    with open(output + '.lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def bitcode_for(target, place):
    """The device library's folder; for targets newer than the library, a folder in `place` that adds the target's
    number."""
    folder = bitcode_folder()
    name = f'oclc_isa_version_{target[3:]}.bc'
    if os.path.exists(os.path.join(folder, name)):
        return folder
    os.makedirs(place, exist_ok=True)
    with alone(os.path.join(place, name)):
        for file in os.listdir(folder):
            with contextlib.suppress(FileExistsError):
                os.symlink(os.path.join(folder, file), os.path.join(place, file))
        source = os.path.join(place, name + '.cl')
        with open(source, 'w') as text:
            text.write(f'extern const __constant int __oclc_ISA_version = {version_number(target)};\n')
        subprocess.run(['clang-19', '-x', 'cl', '-target', 'amdgcn-amd-amdhsa', '-nogpulib', '-w', '-emit-llvm', '-c', source, '-o',
                        os.path.join(place, name)], check=True)
    return place


def device_commands(clang, further, source, output, target, bitcode, level, two_steps, include):
    wave = wave_of(target)
    target, *wave64 = target.split('-')
    # Without the version, clang 19 links the constants of the old ABI to a code object of version 5.
    common = [f'clang-{clang}', '-target', 'amdgcn-amd-amdhsa', f'-mcpu={target}', f'-O{level}', '-mcode-object-version=5']
    common += ['-mwavefrontsize64'] if wave64 else []
    common += further
    if include and version_number(target) < 9000:  # clang flushes f32 denormals by default there, the host does not
        common += ['-Xclang', '-fdenormal-fp-math-f32=ieee']
    link = [f'--rocm-device-lib-path={bitcode}']
    if clang > 19:  # it does not know this option of the device library any more
        flushes = version_number(target) < 9000 and not include
        link += ['-Xclang', '-mlink-builtin-bitcode', '-Xclang', os.path.join(bitcode, f'oclc_daz_opt_{"on" if flushes else "off"}.bc')]
    language = [option for option in COMMON if option != "-Werror" or clang == 19] + [f'-DWAVE={wave}'] + (EXACT + ['-include', 'device.clh'] if include else []) + ['-cl-kernel-arg-info']
    if two_steps:
        middle = output + '.bc'
        return [common + language + ['-nogpulib', '-emit-llvm', '-c', source, '-o', middle],
                common + link + ['-x', 'ir', middle, '-o', output]]
    return [common + link + language + [source, '-o', output]]


def together(sources, output):
    """Writes a source that includes all of these, whose macros do not meet; returns its path."""
    text = ''
    for source in sources:
        with open(source) as file:
            macros = re.findall(r'^ *# *define +(\w+)', file.read(), re.M)
        text += f'#include "{os.path.abspath(source)}"\n' + ''.join(f'#undef {macro}\n' for macro in macros)
    with alone(output):
        if not os.path.exists(output) or open(output).read() != text:
            with open(output, 'w') as file:
                file.write(text)
    return output


def host_commands(source, output, wave):
    return [['clang-19'] + COMMON + [f'-DWAVE={wave}'] + EXACT + ['-target', 'x86_64-linux-gnu', '-cl-no-stdinc', '-include', 'host.clh', '-Wno-psabi', '-O1', '-fPIC',
                                     '-shared', '-nostdlib', source, '-lgcc', '-o', output]]


def stale(output, inputs):
    return not os.path.exists(output) or os.path.getmtime(output) < max(os.path.getmtime(path) for path in inputs)


def make(job):
    """Makes an output unless it is newer than its inputs; returns an error message, or None."""
    output, inputs, commands = job
    with alone(output):
        for command in commands if stale(output, inputs) else []:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode != 0:
                return ' '.join(command) + '\n' + done.stdout
    return None


def main():
    split = sys.argv.index('--')
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('-O', dest='levels', action='append', default=[])
    parser.add_argument('-t', dest='targets', action='append', default=[])
    parser.add_argument('--clang', type=int, default=19)
    parser.add_argument('--option', dest='options', action='append', default=[])
    parser.add_argument('--host', action='store_true')
    parser.add_argument('--plain', action='store_true', help='as users compile, without opencl/device.clh')
    parser.add_argument('--two-steps', action='store_true')
    parser.add_argument('--together', action='store_true')
    parser.add_argument('folder')
    parser.add_argument('sources', nargs='+')
    options = parser.parse_args(sys.argv[1:split])
    program = sys.argv[split + 1:]
    for tool in ('clang-19', f'clang-{options.clang}', f'ld.lld-{options.clang}'):
        if not shutil.which(tool):
            skip(f'no {tool}')
    bitcode_folder()
    if os.environ.get('WAVEMEM_TEST_REDUCED'):
        options.levels = options.levels[-1:]
    os.makedirs(options.folder, exist_ok=True)

    bitcode = {t: bitcode_for(t.split('-')[0], os.path.join(options.folder, 'bitcode')) for t in options.targets}
    headers = [os.path.abspath(__file__)] + glob.glob(os.path.join(HERE, 'opencl', '*.clh'))
    if options.together:
        headers += options.sources
        options.sources = [together(options.sources, os.path.join(options.folder, 'together.cl'))]
    jobs = []
    for source in options.sources:
        name = os.path.join(options.folder, os.path.splitext(os.path.basename(source))[0])
        for wave in sorted(set(map(wave_of, options.targets))) if options.host else []:
            output = f'{name}-host{wave}.so'
            jobs.append((output, headers + [source], host_commands(source, output, wave)))
        for target in options.targets:
            for level in options.levels:
                output = f'{name}-{target}-O{level}.co'
                jobs.append((output, headers + [source],
                             device_commands(options.clang, options.options, source, output, target, bitcode[target], level, options.two_steps, not options.plain)))
    with ThreadPoolExecutor(2) as pool:
        failures = [failure for failure in pool.map(make, jobs) if failure]
    for failure in failures:
        print(failure)
    if failures:
        return 1

    worst = 0
    for target in options.targets:
        for level in options.levels:
            print(f'==== {target} -O{level}', flush=True)
            command = [part.replace('{target}', target).replace('{level}', level).replace('{wave}', str(wave_of(target))) for part in program]
            worst = max(worst, abs(subprocess.run(command).returncode))
    return worst


if __name__ == "__main__":
    sys.exit(main())
