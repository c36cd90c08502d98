#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hazards in random short code against LLVM's hazard recognizer: the first instruction with a hazard, and its missing
wait states.

usage: hazards.py HAZARDS

The same instructions are written as machine IR for LLVM and as text for us. LLVM inserts s_nop, s_waitcnt_depctr or
another instruction before an instruction with a hazard; HAZARDS (hazards.c) reports where we find one. Skipped (77)
without llc-19; gfx950 is asked of llc-22, if there. tests/unit/check/check.c tests hazards that LLVM fixes elsewhere than before the instruction (LDSDIR), or
does not know yet (gfx12's reads of SGPRs).
"""
import random
import re
import shutil
import subprocess
import sys

PIECES = 800


def regs(kind, first, count):
    """A register tuple in machine IR and in text."""
    mir = '$' + '_'.join(f'{kind}gpr{first + i}' for i in range(count))
    letter = 'a' if kind == 'a' else kind
    return mir, f'{letter}{first}' if count == 1 else f'{letter}[{first}:{first + count - 1}]'


def v(count=1):
    return regs('v', random.randrange(0, 8, 2 if count > 1 else 1), count)


def a(count=1):
    return regs('a', random.randrange(0, 8, 2 if count > 1 else 1), count)


def mfma(opcode, text, count, accumulators, sources=1):
    d, c = (a(count), a(count)) if accumulators else (v(count), v(count))
    if random.random() < 0.5:
        c = d
    elif count > 4:  # larger ones may not overlap partially
        c = regs('a' if accumulators else 'v', 32 + random.randrange(0, 8, 2), count)
    x, y = v(sources), v(sources)
    suffix = '_e64' if accumulators else '_vgprcd_e64'
    return (f'{d[0]} = {opcode}{suffix} {x[0]}, {y[0]}, {c[0]}, 0, 0, 0, implicit $mode, implicit $exec',
            f'{text} {d[1]}, {x[1]}, {y[1]}, {c[1]}')


def pair(form, text, *operands):
    return form.format(*(o[0] for o in operands)), text.format(*(o[1] for o in operands))


def move():
    return pair('{} = V_MOV_B32_e32 {}, implicit $exec', 'v_mov_b32 {}, {}', v(), v())


def nop():
    n = random.randrange(16)
    return f'S_NOP {n}', f's_nop {n}'


def store():
    return pair('BUFFER_STORE_DWORD_OFFEN_exact {}, {}, $sgpr0_sgpr1_sgpr2_sgpr3, 0, 0, 0, 0, implicit $exec',
                'buffer_store_dword {}, {}, s[0:3], 0 offen', v(), v())


def ds_write():
    return pair('DS_WRITE_B32_gfx9 {}, {}, 0, 0, implicit $exec', 'ds_write_b32 {}, {}', v(), v())


def acc_read():
    return pair('{} = V_ACCVGPR_READ_B32_e64 {}, implicit $exec', 'v_accvgpr_read_b32 {}, {}', v(), a())


def acc_write():
    return pair('{} = V_ACCVGPR_WRITE_B32_e64 {}, implicit $exec', 'v_accvgpr_write_b32 {}, {}', a(), v())


def fma64():
    return pair('{} = V_FMA_F64_e64 0, {}, 0, {}, 0, {}, 0, 0, implicit $mode, implicit $exec',
                'v_fma_f64 {}, {}, {}, {}', v(2), v(2), v(2), v(2))


SPLIT = {'V_MFMA_F32_4X4X1F32': ('v_mfma_f32_4x4x1f32', 4), 'V_MFMA_F32_16X16X4F32': ('v_mfma_f32_16x16x4f32', 4),
         'V_MFMA_F32_32X32X2F32': ('v_mfma_f32_32x32x2f32', 16)}
LATER = {'V_MFMA_F32_4X4X1F32': ('v_mfma_f32_4x4x1_16b_f32', 4), 'V_MFMA_F32_16X16X4F32': ('v_mfma_f32_16x16x4_f32', 4),
         'V_MFMA_F32_32X32X2F32': ('v_mfma_f32_32x32x2_f32', 16)}


def some_mfma(names, accumulators=True):
    opcode = random.choice(list(names))
    return mfma(opcode, *names[opcode], accumulators)


def mfma16(suffix):
    return mfma('V_MFMA_F32_16X16X16F16', 'v_mfma_f32_16x16x16' + suffix, 4, False, 2)


def dgemm_small(suffix):
    return mfma('V_MFMA_F64_4X4X4F64', 'v_mfma_f64_4x4x4' + suffix, 2, False, 2)


def dgemm(suffix):
    return mfma('V_MFMA_F64_16X16X4F64', 'v_mfma_f64_16x16x4' + suffix, 8, False, 2)


def mfma_later():
    return mfma('V_MFMA_F32_16X16X32_F16', 'v_mfma_f32_16x16x32_f16', 4, False, 4)


def f8f6f4():
    """Registers of 4 bits or 8 decide the passes."""
    a, b = (random.choice((0, 1, 2, 4)) for _ in 'ab')
    size = {0: 8, 1: 8, 2: 6, 4: 4}
    d, x, y = v(4), v(size[a]), v(size[b])
    name = f'V_MFMA_F32_16X16X128_F8F6F4_f{8 if a < 2 else 6 if a < 4 else 4}_f{8 if b < 2 else 6 if b < 4 else 4}_vgprcd_e64'
    return (f'{d[0]} = {name} {x[0]}, {y[0]}, {d[0]}, {a}, {b}, implicit $mode, implicit $exec',
            f'v_mfma_f32_16x16x128_f8f6f4 {d[1]}, {x[1]}, {y[1]}, {d[1]} cbsz:{a} blgp:{b}')


def swap():
    d, s = v(), v()
    n = random.choice((16, 32))
    return (f'{d[0]}, {s[0]} = V_PERMLANE{n}_SWAP_B32_e32 {d[0]}, {s[0]}, implicit $exec',
            f'v_permlane{n}_swap_b32 {d[1]}, {s[1]}')


def part():
    high = random.choice((0, 8))
    d, s, t = v(), v(), v()
    return random.choice((
        (f'{d[0]} = V_CVT_SR_F16_F32_e64 {high}, {s[0]}, 0, {t[0]}, {d[0]}, 0, implicit $mode, implicit $exec',
         f'v_cvt_sr_f16_f32 {d[1]}, {s[1]}, {t[1]} op_sel:[0,0,{high // 8}]'),
        (f'{d[0]} = V_CVT_SCALEF32_SR_PK_FP4_F16_e64 0, {s[0]}, 0, {t[0]}, 0, {t[0]}, {d[0]}, 0, implicit $mode, implicit $exec',
         f'v_cvt_scalef32_sr_pk_fp4_f16 {d[1]}, {s[1]}, {t[1]}, {t[1]}')))


def root():
    return pair('{} = V_SQRT_F32_e32 {}, implicit $mode, implicit $exec', 'v_sqrt_f32 {}, {}', v(), v())


def add():
    return pair('{} = V_ADD_U32_e32 {}, {}, implicit $exec', 'v_add_nc_u32 {}, {}, {}', v(), v(), v())


def exec64():
    return '$exec = S_MOV_B64 -1', 's_mov_b64 exec, -1'


def load():
    return pair('{} = GLOBAL_LOAD_DWORD {}, 0, 0, implicit $exec', 'global_load_b32 {}, {}, off', v(), v(2))


def cmpx():
    return ('V_CMPX_LE_F32_nosdst_e32 0, $vgpr0, implicit-def $exec, implicit $mode, implicit $exec',
            'v_cmpx_le_f32 0, v0')


def permlane():
    return pair('{0} = V_PERMLANE16_B32_e64 0, {1}, 0, $sgpr1, 0, $sgpr0, {0}, 0, implicit $exec',
                'v_permlane16_b32 {0}, {1}, s1, s0', v(), v())


def vnop():
    return 'V_NOP_e32 implicit $exec', 'v_nop'


def depctr(imm):
    return lambda: (f'S_WAITCNT_DEPCTR {imm}', f's_waitcnt_depctr {imm:#x}')


def old_load():
    return pair('{} = BUFFER_LOAD_DWORD_OFFEN {}, $sgpr4_sgpr5_sgpr6_sgpr7, 0, 0, 0, 0, implicit $exec',
                'buffer_load_dword {}, {}, s[4:7], 0 offen', v(), v())


def scalar():
    r = regs('s', random.randrange(2, 9), 1)
    return pair('{} = S_MOV_B32 0', 's_mov_b32 {}, 0', r)


def save_exec():
    return '$sgpr10_sgpr11 = S_MOV_B64 $exec', 's_mov_b64 s[10:11], exec'


def scalar_load():
    return '$sgpr12 = S_LOAD_DWORD_IMM $sgpr4_sgpr5, 0, 0', 's_load_dword s12, s[4:5], 0x0'


def first_lane():
    r = regs('s', random.randrange(2, 9), 1)
    return pair('{} = V_READFIRSTLANE_B32 {}, implicit $exec', 'v_readfirstlane_b32 {}, {}', r, v())


def denorm():
    return 'S_DENORM_MODE 0, implicit-def $mode, implicit $mode', 's_denorm_mode 0'


def flat_fmax():
    return pair('{} = FLAT_ATOMIC_FMAX_RTN {}, {}, 0, 0, implicit $exec, implicit $flat_scr',
                'flat_atomic_fmax {}, {}, {} glc', v(), v(2), v())


def old_root():
    return pair('{} = V_SQRT_F32_e32 {}, implicit $mode, implicit $exec', 'v_sqrt_f32 {}, {}', v(), v())


def masked():
    """Scalar code overwrites a mask, then reads it: LLVM inserts its wait between the two."""
    first = random.randrange(2, 8, 2)
    mask, written = regs('s', first, 2), regs('s', first + random.randrange(-2, 4), 1)
    between = [move(), depctr(0xfffe)(), ('$vgpr9 = V_MOV_B32_e32 $sgpr20, implicit $exec', 'v_mov_b32 v9, s20'), exec64()]
    return ([pair('{} = V_CNDMASK_B32_e64 0, {}, 0, {}, {}, implicit $exec', 'v_cndmask_b32_e64 {}, {}, {}, {}', v(), v(), v(), mask)]
            + random.sample(between, random.randrange(2))
            + [pair('{} = S_MOV_B32 0', 's_mov_b32 {}, 0', written), pair('$sgpr30 = S_MOV_B32 {}', 's_mov_b32 s30, {}', written)])


TARGETS = {
    'gfx908': [lambda: some_mfma(SPLIT), acc_read, acc_write, move, nop, store, ds_write],
    'gfx90a': [lambda: some_mfma(SPLIT), lambda: some_mfma(SPLIT, False), lambda: mfma16('f16'), lambda: dgemm_small('f64'),
               lambda: dgemm('f64'), move, nop, store, ds_write, fma64, acc_read, acc_write],
    'gfx942': [lambda: some_mfma(LATER), lambda: some_mfma(LATER, False), lambda: mfma16('_f16'),
               lambda: dgemm_small('_4b_f64'), lambda: dgemm('_f64'), move, nop, store, ds_write, fma64, old_root],
    'gfx950': [lambda: some_mfma(LATER, False), mfma_later, f8f6f4, lambda: dgemm('_f64'), swap, swap, part, part, move, nop,
               store, ds_write, old_root],
    'gfx1010': [old_load, scalar, save_exec, cmpx, permlane, vnop, move, scalar_load, first_lane, nop, depctr(0xffe3),
                depctr(0xfffe), denorm, flat_fmax],
    'gfx1030': [old_load, cmpx, permlane, nop, denorm, flat_fmax, denorm, flat_fmax],
    'gfx1100': [root, move, add, load, cmpx, permlane, vnop, depctr(0xfff), root, cmpx, permlane],
    'gfx1100:wave64': [root, move, add, exec64, exec64, move, add, depctr(0xfff), nop, load],
    'gfx1100:wave64 masks': [masked],
    'gfx1150:wave64': [root, move, add, exec64, exec64, move, add, depctr(0xfff), nop, permlane, cmpx],
    'gfx1200': [move, cmpx, permlane, vnop],
}


def make_piece(kinds):
    """A few instructions that share registers."""
    if kinds == [masked]:
        return masked()
    return [random.choice(kinds)() for _ in range(random.choice((2, 2, 3, 4, 6)))]


def llc_of(target):
    return 'llc-22' if target == 'gfx950' else 'llc-19'


def ask_llvm(target, pieces):
    """For each piece, the first instruction before which LLVM inserted something, and its wait states; or None."""
    name, *wave64 = target.split()[0].split(':')
    text = ''.join(f'---\nname: f{i}\nbody: |\n  bb.0:\n' + ''.join(f'    {m}\n' for m, _ in piece) + '    S_ENDPGM 0\n...\n'
                   for i, piece in enumerate(pieces)).replace('    S_ENDPGM 0\n', '    \n')
    command = [llc_of(target), '-mtriple=amdgcn', '-mcpu=' + name, '-run-pass', 'post-RA-hazard-rec', '-o', '-', '-']
    if wave64:
        command.append('-mattr=+wavefrontsize64,-wavefrontsize32')
    done = subprocess.run(command + ['-x', 'mir'], input=text, capture_output=True, text=True)
    if done.returncode:
        sys.exit(target + ': ' + '\n'.join(re.findall(r'(?m)^.*(?:error:|Bad machine|instruction:).*$', done.stderr)[:6]))
    answers = []
    for i, document in enumerate(done.stdout.split('\n---\n')[-len(pieces):]):
        lines = [line.strip() for line in document.split('bb.0:')[1].split('...')[0].split('\n') if line.strip()]
        answers.append(first_inserted(lines, pieces[i]))
    return answers


def first_inserted(lines, piece):
    for i, (mir, _) in enumerate(piece):
        own = re.sub(r'\s', '', mir)
        inserted = []
        while lines and re.sub(r'\s|killed|renamable|nofpexcept|early-clobber', '', lines[0]) != own:
            inserted.append(lines.pop(0))
        if not lines:
            sys.exit(f'LLVM does not show {mir!r} again: {inserted}')
        if inserted:
            states = sum(int(line.split()[1]) + 1 for line in inserted if line.startswith('S_NOP'))
            return i, states
        lines.pop(0)
    return None


def main():
    if not shutil.which('llc-19'):
        print('skipped: no llc-19')
        return 77
    wrong = hazards = 0
    asked = {target: kinds for target, kinds in TARGETS.items() if shutil.which(llc_of(target))}
    for target, kinds in asked.items():
        random.seed(target)
        pieces = [make_piece(kinds) for _ in range(PIECES)]
        theirs = ask_llvm(target, pieces)
        text = ''.join(''.join(t + '\n' for _, t in piece) + '--\n' for piece in pieces)
        run = subprocess.run([sys.argv[1], target.split()[0]], input=text, capture_output=True, text=True)
        if run.returncode:
            sys.exit(target + ': ' + run.stderr)
        found = 0
        for piece, expected, line in zip(pieces, theirs, run.stdout.splitlines()):
            words = line.split()
            ours = None if words[0] == '-' else (int(words[0]), int(words[1]))
            found += expected is not None
            if ours != expected:
                wrong += 1
                if wrong <= 10:
                    print(f'{target}: LLVM {expected}, we {line}:')
                    print(''.join(f'  {i} {t}\n' for i, (_, t) in enumerate(piece)), end='')
        print(f'{target}: {found} of {len(pieces)} pieces of code in a hazard')
        hazards += found
    return 1 if wrong or hazards < 100 * len(asked) else 0


sys.exit(main())
