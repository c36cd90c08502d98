#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Alternative spellings of memory instructions against llvm-mc-19: alternatives.py ISA_LINES COUNT TARGET...

Random operands and modifiers in random order and spelling: offsets as decimal, hexadecimal and expressions; formats and
similar modifiers by number and by name. Lines accepted by LLVM must encode to the same words; lines accepted only by us
must be spellings of a line that LLVM accepts: our text of their words."""
import random
import re
import sys

from llvm import llvm_words, need_llvm, our_words, ours

# Parts that LLVM accepts and ignores: dlc of atomics, returning without a register for it, null as an address.
QUIRKS = re.compile(r'.*atomic.*[ ,]dlc|.*TH_ATOMIC\w*RETURN|scratch_.*null|.*[ ,]noscc')

DATA_FORMATS = '8 16 8_8 32 16_16 10_11_11 11_11_10 10_10_10_2 2_10_10_10 8_8_8_8 32_32 16_16_16_16 32_32_32 32_32_32_32'.split()
NUMBER_FORMATS = 'UNORM SNORM USCALED SSCALED UINT SINT FLOAT SNORM_OGL'.split()
UNIFIED_FORMATS = ('8_UNORM 8_SINT 16_FLOAT 8_8_UINT 32_FLOAT 16_16_SSCALED 10_11_11_FLOAT 2_10_10_10_SNORM 8_8_8_8_UNORM 32_32_UINT '
                   '16_16_16_16_FLOAT 32_32_32_SINT 32_32_32_32_FLOAT').split()
DIMS = '1D 2D 3D CUBE 1D_ARRAY 2D_ARRAY 2D_MSAA 2D_MSAA_ARRAY'.split()
HINTS = ('RT NT HT BYPASS LU RT_NT NT_HT NT_RT NT_WB RT_WB RETURN CASCADE_RT CASCADE_NT RT_RETURN NT_RETURN').split()


def number(r, value):
    """A number in a random spelling."""
    return r.choice(['%d', '0x%x', ' %d', '0x%X', '(%d)', '%d+0', '0+%d', '1*%d', '%d<<0', '-%d+' + str(2 * value), '0b' + bin(value)[2:] + '+0*%d']) % value



def unified(r):
    return '[%s%s]' % (r.choice(['', 'BUF_FMT_']), r.choice(UNIFIED_FORMATS))


def split_format(r):
    names = []
    if r.random() < .8:
        names.append(r.choice(['', 'BUF_DATA_FORMAT_']) + r.choice(DATA_FORMATS))
    if r.random() < .8 or not names:
        names.append(r.choice(['', 'BUF_NUM_FORMAT_']) + r.choice(NUMBER_FORMATS))
    r.shuffle(names)
    if len(names) == 2 and r.random() < .4 and all('BUF' in n for n in names):
        names.reverse()
    return '[' + r.choice([',', ', ', ' , ']).join(names) + ']'


def format_of(r):
    kind = r.randrange(6)
    if kind == 0:
        return 'format:' + number(r, r.randrange(128))
    if kind == 1:
        return 'format:' + unified(r)
    if kind == 2:
        return 'format:' + split_format(r)
    parts = ['dfmt:' + number(r, r.randrange(1, 15)), 'nfmt:' + number(r, r.randrange(8))]
    if kind == 3:
        parts.pop(r.randrange(2))
    r.shuffle(parts)
    return r.choice([', ', ' ', ',']).join(parts)


def policy(r):
    """Cache policies of every generation; LLVM determines which ones a target has."""
    if r.random() < .25:
        return [r.choice(['th:TH_%s_%s' % (k, h) for k in ('LOAD', 'STORE', 'ATOMIC') for h in HINTS] + ['th:' + number(r, r.randrange(8))])] * (
            r.random() < .8) + ['scope:' + r.choice(['SCOPE_CU', 'SCOPE_SE', 'SCOPE_DEV', 'SCOPE_SYS', number(r, r.randrange(4))])] * (r.random() < .6)
    words = r.choice([['glc', 'slc'], ['glc', 'slc', 'dlc'], ['sc0', 'sc1', 'nt'], ['glc', 'slc', 'scc']])
    return [r.choice(['', '', '', 'no']) + w for w in words if r.random() < .4]


def line(name, operands, r, modifiers):
    modifiers = [m for m in modifiers if m]
    r.shuffle(modifiers)
    text = name + ' ' + r.choice([', ', ',', ' , ']).join(operands)
    for m in modifiers:
        text += r.choice([' ', ' ', ' ', ', ', '  ']) + m
    return text


def some(r, share, word):
    return word if r.random() < share else ''


def buffer_line(r):
    typed = r.random() < .5
    name, data = r.choice(
        [('tbuffer_load_format_x', 'v1'), ('tbuffer_load_format_xyzw', 'v[4:7]'), ('tbuffer_store_format_xy', 'v[2:3]'),
         ('tbuffer_load_format_d16_x', 'v1')] if typed else
        [('buffer_load_dword', 'v1'), ('buffer_load_b32', 'v1'), ('buffer_store_dwordx2', 'v[2:3]'), ('buffer_load_ubyte', 'v1'),
         ('buffer_load_format_xyzw', 'v[4:7]'), ('buffer_atomic_add', 'v9'), ('buffer_atomic_add_u32', 'v9'), ('buffer_store_b64', 'v[2:3]')])
    mode = r.choice([('off', []), ('v2', ['offen']), ('v2', ['idxen']), ('v[2:3]', ['offen', 'idxen']), ('v[2:3]', ['addr64'])])
    soffset = r.choice(['s1', '0', '0x40', 'null', 'm0', '-1', '0.5', 'ttmp3'])
    modifiers = mode[1] + policy(r) + [some(r, .6, 'offset:' + number(r, r.choice([0, 4, 16, 255, 4095]))), some(r, .1, 'tfe'), some(r, .1, 'lds')]
    format_text = some(r, .9, format_of(r)) if typed else ''
    operands = [data, mode[0], 's[4:7]', soffset]
    if not typed and modifiers and 'lds' in modifiers:
        operands = operands[1:]
    if format_text and r.random() < .5: # before the scalar offset, as LLVM 9 printed it
        operands[-1] = r.choice(['%s, %s', '%s %s']) % (format_text, soffset) if r.random() < .5 else '%s %s' % (soffset, format_text)
    else:
        modifiers.append(format_text)
    return line(name, operands, r, modifiers)


def flat_line(r):
    space = r.choice(['flat', 'global', 'scratch'])
    name, shape = r.choice([('load_dword', 'da'), ('load_b32', 'da'), ('store_dwordx2', 'aD'), ('store_b64', 'aD'), ('atomic_add', 'ad'),
                            ('atomic_add_u32', 'ad'), ('atomic_swap_x2', 'DaD'), ('atomic_swap_b64', 'DaD'), ('load_ubyte_d16', 'da'),
                            ('load_lds_dword', 'a')])
    base = r.choice(['off', 's[2:3]', 's2', 'null', 'vcc'])
    address = {'flat': 'v[2:3]', 'global': 'v[2:3]' if base in ('off', 'null') else 'v2', 'scratch': 'off' if base == 's2' else r.choice(['v2', 'off'])}[space]
    operands = [{'d': 'v1', 'D': 'v[6:7]', 'a': address}[c] for c in shape] + ([] if space == 'flat' else [base])
    offset = some(r, .7, 'offset:' + (number(r, r.choice([0, 4, 255, 2047, 4095])) if r.random() < .8 else r.choice(['-4', '-0x10', '-(8)', '-2048'])))
    return line(space + '_' + name, operands, r, policy(r) + [offset, some(r, .05, 'lds'), some(r, .1, 'th:TH_ATOMIC_RETURN')])


def ds_line(r):
    name, operands = r.choice([('ds_read_b32', 'v1,v2'), ('ds_load_b32', 'v1,v2'), ('ds_write_b64', 'v2,v[4:5]'), ('ds_store_b64', 'v2,v[4:5]'),
                               ('ds_read2_b32', 'v[2:3],v1'), ('ds_load_2addr_b32', 'v[2:3],v1'), ('ds_write2st64_b32', 'v1,v2,v3'), ('ds_add_u32', 'v1,v2'),
                               ('ds_swizzle_b32', 'v1,v2'), ('ds_nop', ''), ('ds_gws_init', 'v1'), ('ds_add_rtn_f32', 'v1,v2,v3')])
    modifiers = [some(r, .7, 'offset:' + number(r, r.choice([0, 4, 255, 65535]))), some(r, .3, 'offset0:' + number(r, r.choice([0, 1, 255]))),
                 some(r, .3, 'offset1:' + number(r, r.choice([0, 1, 255]))), some(r, .2, 'gds')]
    if 'swizzle' in name and r.random() < .8:
        modifiers = ['offset:swizzle(%s)' % r.choice(['QUAD_PERM, 0, 1, 2, 3', 'QUAD_PERM,3,0x2,1,0', 'SWAP, 16', 'SWAP,1', 'REVERSE,2', 'REVERSE, 32', 'BROADCAST,4,3',
                                                      'BROADCAST, 2, 0', 'BITMASK_PERM, "00pi1"', 'BITMASK_PERM,"ppppp"'])]
    return line(name, operands.split(',') if operands else [], r, modifiers)


def image_line(r):
    name, data, address, sampler = r.choice([('image_load', 'v[4:7]', 'v[0:3]', ''), ('image_store', 'v[4:7]', 'v[0:3]', ''), ('image_load', 'v5', 'v[0:1]', ''),
                                             ('image_sample', 'v[4:7]', 'v[0:3]', 's[12:15]'), ('image_sample', 'v[4:5]', 'v[0:1]', 's[12:15]'),
                                             ('image_atomic_add', 'v5', 'v[0:1]', ''), ('image_atomic_add_uint', 'v5', 'v[0:1]', ''), ('image_get_resinfo', 'v[4:7]', 'v0', ''),
                                             ('image_load', 'v[4:7]', '[v0, v9]', ''), ('image_load', 'v5', '[v0,v1]', '')])
    operands = [data, address, 's[16:23]'] + [sampler] * bool(sampler)
    mask = {'v[4:7]': 15, 'v[4:5]': 3, 'v5': 1}[data]
    modifiers = ['dmask:' + number(r, mask), some(r, .6, 'dim:' + r.choice(['SQ_RSRC_IMG_' + r.choice(DIMS), r.choice(DIMS), number(r, r.randrange(8)), 'SQ_RSRC_IMG_2D']))]
    modifiers += [some(r, .2, m) for m in ('unorm', 'da', 'r128', 'lwe', 'a16', 'd16')] + policy(r)
    return line(name, operands, r, modifiers)


def scalar_line(r):
    name, data, base = r.choice([('s_load_dword', 's5', 's[2:3]'), ('s_load_b32', 's5', 's[2:3]'), ('s_load_dwordx4', 's[8:11]', 's[2:3]'),
                                 ('s_buffer_load_dword', 's5', 's[4:7]'), ('s_buffer_load_b64', 's[8:9]', 's[4:7]'), ('s_store_dword', 's5', 's[2:3]'),
                                 ('s_atomic_add', 's5', 's[2:3]')])
    offset = r.choice([number(r, r.choice([0, 4, 0x10, 0xff, 0x100, 0xfffff])), 's1', 'm0', 's1 offset:' + number(r, r.choice([0, 16, 0xfffff])), 'null', 'offset:16',
                       'ttmp1', '0x12345678'])
    return line(name, [data, base, offset], r, policy(r))


# The spelling in CLRX's documents (GcnMemHandling, GcnInstrsMtbuf), and LLVM's.
CAPITALS = [
    ('TBUFFER_LOAD_FORMAT_X V1, V2, S[4:7], 0 OFFEN FORMAT:[8_8_8_8,UNORM]', 'tbuffer_load_format_x v1, v2, s[4:7], 0 format:[BUF_DATA_FORMAT_8_8_8_8,BUF_NUM_FORMAT_UNORM] offen'),
    ('TBUFFER_LOAD_FORMAT_XYZW V[4:7], V[2:3], S[8:11], S3 IDXEN OFFEN OFFSET:16 format:[32_32_32_32,float]',
     'tbuffer_load_format_xyzw v[4:7], v[2:3], s[8:11], s3 format:[BUF_DATA_FORMAT_32_32_32_32,BUF_NUM_FORMAT_FLOAT] idxen offen offset:16'),
    ('tbuffer_store_format_xy v[2:3], off, s[4:7], s1 format:[buf_data_format_16_16, buf_num_format_sint]',
     'tbuffer_store_format_xy v[2:3], off, s[4:7], s1 format:[BUF_DATA_FORMAT_16_16,BUF_NUM_FORMAT_SINT]'),
    ('BUFFER_LOAD_FORMAT_XYZW V[4:7], V2, S[4:7], S1 IDXEN GLC SLC OFFSET:0xFF',
     'buffer_load_format_xyzw v[4:7], v2, s[4:7], s1 idxen offset:255 glc slc'),
    ('BUFFER_STORE_DWORDX2 V[2:3], OFF, S[4:7], 0', 'buffer_store_dwordx2 v[2:3], off, s[4:7], 0'),
    ('S_LOAD_DWORDX4 S[8:11], S[2:3], 0x10', 's_load_dwordx4 s[8:11], s[2:3], 0x10'),
    ('S_BUFFER_LOAD_DWORD S5, S[4:7], M0', 's_buffer_load_dword s5, s[4:7], m0'),
    ('DS_READ2_B32 V[2:3], V1 OFFSET0:1 OFFSET1:2', 'ds_read2_b32 v[2:3], v1 offset0:1 offset1:2'),
    ('FLAT_LOAD_DWORD V1, V[2:3] GLC', 'flat_load_dword v1, v[2:3] glc'),
    ('IMAGE_LOAD V[4:7], V[0:3], S[16:23] DMASK:15 UNORM', 'image_load v[4:7], v[0:3], s[16:23] dmask:0xf unorm'),
]


def capitals(program, target):
    wrong = 0
    for (text, _), theirs, (mine, why) in zip(CAPITALS, llvm_words(target, [b for _, b in CAPITALS]), our_words(program, target, [a for a, _ in CAPITALS])):
        if mine != theirs:
            wrong += 1
            print('%s: %s\n  llvm %s\n  ours %s %s' % (target, text, theirs, mine, why))
    return wrong


def of_no_meaning(program, target, alone):
    """The number of lines accepted only by us whose printed text LLVM rejects or encodes differently."""
    texts = ours(program, target, [words for _, words in alone])
    wrong = [(line, text) for (line, words), text, theirs in zip(alone, texts, llvm_words(target, texts)) if theirs != words]
    for line, text in wrong[:12]:
        print('%s: %s\n  is taken for %s, of which LLVM makes something else' % (target, line, text))
    return len(wrong)


def main(program, count, *targets):
    need_llvm()
    failed = 0
    for target in targets:
        r = random.Random(11)
        texts = [r.choice([buffer_line, buffer_line, flat_line, ds_line, image_line, scalar_line])(r) for _ in range(int(count))]
        taken = wrong = 0
        alone = []
        for text, theirs, (mine, why) in zip(texts, llvm_words(target, texts), our_words(program, target, texts)):
            taken += theirs is not None
            if theirs is None and mine is not None:
                alone.append((text, mine))
            if theirs is not None and mine != theirs and not (mine is None and QUIRKS.match(text)):
                wrong += 1
                if wrong <= 12:
                    show = lambda ws: ' '.join('%08x' % w for w in ws) if ws else 'refused'
                    print('%s: %s\n  llvm %s\n  ours %s %s' % (target, text, show(theirs), show(mine), why))
        print('%s: of %d spellings LLVM takes %d, of which we make other words in %d; %d more we take alone' % (target, len(texts), taken, wrong, len(alone)))
        failed |= target in ('gfx600', 'gfx700', 'gfx803', 'gfx900') and capitals(program, target) > 0
        failed |= wrong > 0 or taken * 20 < len(texts) or of_no_meaning(program, target, alone) > 0
    return int(failed)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
