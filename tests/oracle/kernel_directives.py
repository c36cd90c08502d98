#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each .amdhsa_ directive of a kernel with several values: kernel_directives.py WAVEMEM TARGET...

We must reject what llvm-mc-19 rejects, and make the same descriptors otherwise. llvm-mc-19 does not know
.amdhsa_inst_pref_size, which LLVM 20 has for gfx11 and later."""
import os
import re
import subprocess
import sys
import tempfile

from assembled_files import contents
from llvm import OF_LLVM_22, SKIP, mc, tool, with_tools

BITS = ('user_sgpr_private_segment_buffer user_sgpr_dispatch_ptr user_sgpr_queue_ptr user_sgpr_kernarg_segment_ptr '
        'user_sgpr_dispatch_id user_sgpr_flat_scratch_init user_sgpr_private_segment_size wavefront_size32 uses_dynamic_stack '
        'enable_private_segment system_sgpr_private_segment_wavefront_offset system_sgpr_workgroup_id_x system_sgpr_workgroup_id_y '
        'system_sgpr_workgroup_id_z system_sgpr_workgroup_info exception_fp_ieee_invalid_op exception_fp_denorm_src '
        'exception_fp_ieee_div_zero exception_fp_ieee_overflow exception_fp_ieee_underflow exception_fp_ieee_inexact '
        'exception_int_div_zero dx10_clamp ieee_mode fp16_overflow round_robin_scheduling workgroup_processor_mode memory_ordered '
        'forward_progress tg_split reserve_vcc reserve_flat_scratch reserve_xnack_mask').split()
OTHERS = {
    'group_segment_fixed_size': (0, 65536, 1 << 32, -1), 'private_segment_fixed_size': (0, 100, 1 << 32), 'kernarg_size': (0, 7, 1 << 32),
    'user_sgpr_kernarg_preload_length': (0, 3, 15, 128), 'user_sgpr_kernarg_preload_offset': (0, 3, 511, 512),
    'system_vgpr_workitem_id': (0, 1, 2, 3, 4), 'float_round_mode_32': (0, 3, 4), 'float_round_mode_16_64': (2, 4),
    'float_denorm_mode_32': (1, 3, 4), 'float_denorm_mode_16_64': (0, 3, 4), 'shared_vgpr_count': (0, 3, 15, 16),
    'next_free_vgpr': (0, 1, 24, 25, 128, 256, 257, 512, 513), 'next_free_sgpr': (0, 1, 8, 96, 97, 100, 102, 103, 104, 106, 107, 112, 200),
    'accum_offset': (0, 4, 5, 8, 256, 260), 'user_sgpr_count': (0, 1, 16, 17, 32, -1), 'nosuch': (1,),
}
CASES = [(name, value) for name in BITS for value in (0, 1, 2, -1)] + [(name, value) for name in OTHERS for value in OTHERS[name]]


def kernel(target, n, name, value):
    """The lines of the kernel; the last one ends it."""
    lines = ['.amdhsa_kernel k%d' % n]
    for needed, usual in (('next_free_vgpr', 4), ('next_free_sgpr', 4), ('accum_offset', 4)):
        if name != needed and (needed != 'accum_offset' or target in ('gfx90a', 'gfx940', 'gfx942', 'gfx950')):
            lines.append('.amdhsa_%s %d' % (needed, usual))
    return lines + ['.amdhsa_%s %d' % (name, value), '.end_amdhsa_kernel']


def assemble(command, folder, target, numbers):
    """The kernels that are rejected; if there are none, the output is in the folder."""
    text, owner = [], {}
    for n in numbers:
        text.append('k%d: s_endpgm' % n)
    text.append('.rodata')
    for n in numbers:
        for line in kernel(target, n, *CASES[n]):
            text.append(line)
            owner[len(text)] = n
    path = os.path.join(folder, 'k.s')
    with open(path, 'w') as file:
        file.write('\n'.join(text) + '\n')
    done = subprocess.run([*command, path], capture_output=True, text=True)
    if done.returncode < 0:
        raise SystemExit('%s: ended by a signal' % command[0])
    return {owner[int(line)] for line in re.findall(r'k\.s:(\d+):\d+: error', done.stderr) if int(line) in owner}


def check(wavemem, target):
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        path = lambda kind: os.path.join(folder, 'k.' + kind)
        llvm = [mc(target), '-triple=amdgcn-amd-amdhsa', '-mcpu=' + target, '-filetype=obj', '-o', path('o')]
        own = [wavemem, 'asm', '-m', target, '-o', path('co')]
        theirs = assemble(llvm, folder, target, range(len(CASES)))
        ours = set()
        for n in range(0, len(CASES), 8): # we report at most twenty errors
            ours |= assemble(own, folder, target, range(n, min(n + 8, len(CASES))))
        for n in sorted(theirs ^ ours):
            failed += 1
            print('%s: .amdhsa_%s %d: LLVM %s it, we do not' % (target, *CASES[n], 'refuses' if n in theirs else 'takes'))
        if target in OF_LLVM_22: # it takes user SGPRs for used ones
            theirs |= {n for n in range(len(CASES)) if CASES[n] == ('user_sgpr_kernarg_preload_length', 15)}
        good = [n for n in range(len(CASES)) if n not in theirs and n not in ours]
        if assemble(llvm, folder, target, good) or assemble(own, folder, target, good):
            raise SystemExit('what is taken alone is refused together')
        subprocess.run([tool('ld.lld', target), '-shared', path('o'), '-o', path('so')], check=True)
        a, b = (re.sub(rb'(?s)(.{16}).{8}(.{40})', rb'\1\2', contents(path(kind))['.rodata']) for kind in ('co', 'so')) # without the entry offset
        for i, n in enumerate(good):
            if a[56 * i:56 * i + 56] != b[56 * i:56 * i + 56]:
                failed += 1
                print('%s: .amdhsa_%s %d:\n  %s, not\n  %s' % (target, *CASES[n], a[56 * i:56 * i + 56].hex(' ', 4), b[56 * i:56 * i + 56].hex(' ', 4)))
    return failed


def main(wavemem, *targets):
    targets = with_tools(targets, ['llvm-mc', 'ld.lld'])
    if not targets:
        print('skipped: llvm-mc-19 or ld.lld-19 is not installed (Debian packages llvm-19, lld-19)')
        return SKIP
    failed = sum(check(wavemem, target) for target in targets)
    print('%d of %d kernels differ' % (failed, len(CASES) * len(targets)))
    return int(failed > 0)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
