#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every mnemonic that llvm-mc knows for a target, aliases too, is known to us: mnemonics.py ISA_LINES FORMS... TARGET...

The words that are asked for are those of all forms and those that look like a mnemonic in LLVM's library, which has the
assembler's table, each with and without its last part (v_accvgpr_read for v_accvgpr_read_b32)."""
import re
import shutil
import subprocess
import sys

from llvm import SKIP, llvm_words, mc, our_words, read_forms, run_ours, with_tools

# Names that no target prints.
OTHER_NAMES = {
    'gfx803': ['v_mul_lo_i32 v1, v2, v3'],
    'gfx908': ['v_mul_lo_i32 v1, v2, s3', 'v_accvgpr_read v1, acc0', 'v_accvgpr_write acc1, 0x0', 'v_accvgpr_write_e64 a1, v2'],
    'gfx942': ['v_accvgpr_write acc0, s1', 'v_mul_lo_i32 v1, v2, v3', 'v_mfma_f32_16x16x8xf32 a[0:3], v[0:1], v[2:3], a[0:3]',
               'v_mfma_f32_32x32x4xf32 a[0:15], v[0:1], v[2:3], a[0:15]', 'v_mfma_i32_16x16x32i8 a[0:3], v[0:1], v[2:3], a[0:3]',
               'v_mfma_i32_32x32x16i8 a[0:15], v[0:1], v[2:3], a[0:15]', 'v_mfma_f32_32x32x4bf16 a[0:31], v[0:1], v[2:3], a[0:31]',
               'v_mfma_f32_16x16x4bf16 a[0:15], v[0:1], v[2:3], a[0:15]', 'v_mfma_f32_4x4x4bf16 a[0:3], v[0:1], v[2:3], a[0:3]',
               'v_mfma_f32_32x32x8bf16 a[0:15], v[0:1], v[2:3], a[0:15]', 'v_mfma_f32_16x16x16bf16 v[0:3], v[0:1], v[2:3], 1.0'],
    'gfx950': ['v_mfma_f32_16x16x32bf16 a[0:3], v[0:3], v[4:7], a[0:3]', 'v_mfma_f32_16x16x32f16 a[0:3], v[0:3], v[4:7], a[0:3]',
               'v_mfma_f32_32x32x16bf16 a[0:15], v[0:3], v[4:7], a[0:15]', 'v_mfma_f32_32x32x16f16 a[0:15], v[0:3], v[4:7], a[0:15]',
               'v_mfma_i32_16x16x64i8 a[0:3], v[0:3], v[4:7], a[0:3]', 'v_mfma_i32_32x32x32i8 a[0:15], v[0:3], v[4:7], a[0:15]'],
    'gfx1200': ['buffer_atomic_csub_u32 v5, off, s[8:11], s3 th:TH_ATOMIC_RETURN', 'buffer_atomic_min_f32 v5, off, s[8:11], s3',
                'buffer_atomic_max_f32 v5, v1, s[8:11], s3 offen'],
    'gfx1250': ['global_load_tr_b128 v[0:3], v[4:5], off', 'global_load_tr_b64 v[0:1], v4, s[2:3]', 'v_dot4_i32_i8 v0, v1, v2, v3',
                'v_dot8_i32_i4 v0, v1, s2, v3 clamp'],
}

LOOKS = re.compile(rb'(?<![A-Za-z_])(?:v|s|ds|buffer|tbuffer|image|flat|global|scratch|lds|cluster|tensor)_[a-z0-9_]{2,60}')
# Names of LLVM's own definitions, which its assembler takes by accident.
INTERNAL = re.compile(r'_(t16|fake16)$|_gfx\d+|_op_sel')
SUFFIXES = re.compile(r'_(e32|e64|dpp|sdwa)$')


def words_of_library():
    """Of the library that llvm-mc-19 is linked with."""
    linked = subprocess.run(['ldd', shutil.which('llvm-mc-19')], capture_output=True, text=True).stdout
    path = re.search(r'libLLVM\S* => (\S+)', linked)
    with open(path.group(1) if path else shutil.which('llvm-mc-19'), 'rb') as file:
        return {word.decode() for word in LOOKS.findall(file.read())}


def is_known_to_llvm(target, names):
    """For each name: whether llvm-mc complains about something else than the name."""
    run = subprocess.run([mc(target), '-arch=amdgcn', '-mcpu=' + target, '-filetype=null'], input='\n'.join(names) + '\n',
                         capture_output=True, text=True)
    unknown = {int(line) for line, why in re.findall(r'^<stdin>:(\d+):\d+: error: (.*)', run.stderr, re.M)
               if re.search('invalid instruction|not supported on this GPU', why)}
    return [number not in unknown for number in range(1, len(names) + 1)]


def main(program, *words):
    lists = [word for word in words if word.endswith('.tsv')]
    targets = with_tools([word for word in words if word not in lists], ['llvm-mc'])
    if not targets or not shutil.which('llvm-mc-19'):
        print('skipped: llvm-mc-19 is not installed (Debian package llvm-19)')
        return SKIP
    names = words_of_library() | {form[3].split()[0] for path in lists for form in read_forms(path)}
    names |= {name.rpartition('_')[0] for name in names if name.count('_') > 1}
    names = sorted(name for name in names if not INTERNAL.search(name) and not SUFFIXES.search(name))
    wrong = 0
    for target in targets:
        ours = run_ours(program, 'assemble', target, names, [])
        unknown = [name for name, mine in zip(names, ours) if mine == '? 0 a mnemonic']
        for name, theirs in zip(unknown, is_known_to_llvm(target, unknown)):
            if theirs:
                wrong += 1
                print('%s: %s knows %s' % (target, mc(target), name))
        lines = OTHER_NAMES.get(target, [])
        for line, theirs, (mine, why) in zip(lines, llvm_words(target, lines), our_words(program, target, lines)):
            if mine is None or theirs != mine:
                wrong += 1
                print('%s: %s is %s, not %s %s' % (target, line, theirs, mine, why))
    print('%d names, %d targets: %d are not as LLVM has them' % (len(names), len(targets), wrong))
    return int(wrong > 0 or len(names) < 2000)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
