#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Randomly changed valid lines: wrong_text.py ISA_LINES TARGET[+ATTRIBUTE...] FORMS TAKEN_LINES COUNT

We must reject what llvm-mc-19 rejects, except for listed lines and for modifiers in another order than LLVM's, which
LLVM accepts in our printed order. We may reject one in a hundred lines that LLVM accepts."""
import random
import re
import sys

from llvm import llvm_words, need_llvm, our_words, ours, read_forms
from wrong_lines import read_lines
import words_rdna

OPERANDS = ('v1 v[2:3] v[3:4] v[4:7] v255 v[255:256] v300 v[4:2] s5 s3 s[4:5] s[5:6] s[3:4] s[1:9] s[100:103] s103 s105 vcc vcc_lo exec exec_lo '
            'm0 null src_scc src_vccz ttmp3 ttmp[2:3] ttmp99 src_lds_direct src_shared_base flat_scratch xnack_mask '
            'src_pops_exiting_wave_id tba_lo 0 7 64 65 -1 0x12345678 0x123456789 0.5 0.15915494 1.5 3.0e40 1.5e99 a1 a[2:3] off -v1 |v1| '
            '-s5 |s5| neg(1) |1.5| sext(v1) v1.l v1.h [v1,v2] x').split()
MODIFIERS = ('clamp mul:2 div:2 mul:3 glc slc dlc scc sc0 sc1 nt tfe lds lwe da unorm r128 a16 d16 offen idxen addr64 gds offset:0 offset:5 '
             'offset:-5 offset:255 offset:4095 offset:4096 offset:65535 offset:65536 offset:99999 offset0:1 offset1:255 offset0:256 '
             'op_sel:[1,0] op_sel:[1,0,0] op_sel:[0,0,1] op_sel:[1,1,1,1] op_sel:[1,2] op_sel_hi:[0,1] op_sel_hi:[0,1,1] op_sel_hi:[1,1,0] '
             'neg_lo:[1,0] neg_lo:[1,0,0] neg_lo:[0,0,1] neg_hi:[1,0,0] neg_hi:[0,0,1] quad_perm:[0,1,2,3] row_shr:1 row_shl:0 row_bcast:15 '
             'row_newbcast:3 row_share:3 row_xmask:3 wave_shl:1 row_mirror row_mask:0x3 bank_mask:0x10 bound_ctrl:0 bound_ctrl:1 fi:1 '
             'dpp8:[0,1,2,3,4,5,6,7] dst_sel:BYTE_1 src0_sel:WORD_1 dst_unused:UNUSED_PAD dmask:0x3 dmask:0xf dmask:0x1f dmask:0 '
             'dim:SQ_RSRC_IMG_2D dim:SQ_RSRC_IMG_2D_MSAA_ARRAY th:TH_LOAD_NT th:TH_STORE_NT th:TH_ATOMIC_RETURN th:TH_LOAD_BYPASS '
             'scope:SCOPE_SYS cbsz:3 cbsz:8 abid:4 blgp:2 neg:[1,0,0] high wait_vdst:3 wait_exp:2 waitvsrc:1 vm done compr row_en format:5 '
             'byte_sel:1 index_key:1 nosuch noglc').split()


def change(r, text):
    name, _, rest = text.partition(' ')
    parts = rest.split(', ')
    how = r.randrange(7)
    if how == 0 and len(parts) > 1:
        parts.pop(r.randrange(len(parts)))
    elif how == 1:
        parts.insert(r.randrange(len(parts) + 1), r.choice(OPERANDS))
    elif how in (2, 3):
        i = r.randrange(len(parts))
        behind = parts[i].partition(' ')[2] if i == len(parts) - 1 else ''
        parts[i] = (r.choice(OPERANDS) + ' ' + behind).rstrip()
    elif how == 4:
        parts[-1] += ' ' + r.choice(MODIFIERS)
    elif how == 5:
        name = name[:-1] + r.choice('xyz9_')
    else:
        at = r.randrange(len(rest) + 1)
        rest = rest[:at] + r.choice('[],:|(x') + rest[at:]
        return name + ' ' + rest
    return name + ' ' + ', '.join(parts)


def only_order(program, target, texts, attributes, extra):
    """For each text that we accept: whether it consists of the same parts as our text of its words, which LLVM accepts."""
    words = [ws for ws, _ in our_words(program, target, texts, attributes)]
    printed = ours(program, target, words, attributes) if words else []
    values = re.compile(r'(op_sel|op_sel_hi|neg_lo|neg_hi):\[[^]]*\]') # we print one per operand
    parts = lambda text: sorted(re.findall(r'[^\s,]+', values.sub(r'\1', text)))
    return [theirs == ws and parts(text) == parts(own)
            for text, ws, own, theirs in zip(texts, words, printed, llvm_words(target, printed, extra))]


def main(program, place, path, taken_path, count):
    target, *attributes = place.split('+')
    need_llvm(target)
    attributes = ['+' + a for a in attributes]
    extra = ['-mattr=' + ','.join(attributes)] if attributes else []
    r, forms = random.Random(3), read_forms(path)
    if target.startswith('gfx1'):
        forms = words_rdna.more_forms(forms)
    right = [t for t in ours(program, target, [f[2] for f in forms], attributes) if t != '?']
    base_of = {}
    for _ in range(int(count)):
        base = r.choice(right)
        base_of[change(r, base)] = base
    texts = list(base_of)
    answers = list(zip(texts, llvm_words(target, texts, extra), our_words(program, target, texts, attributes)))
    only_llvm = [text for text, theirs, (mine, _) in answers if theirs is None and mine is not None]
    listed = set(read_lines(taken_path)[place])
    # Lines that LLVM prints but does not accept need not be accepted when changed.
    only_llvm = [text for text, theirs in zip(only_llvm, llvm_words(target, [base_of[t] for t in only_llvm], extra))
                 if theirs is not None]
    unlisted = [text for text, order in zip(only_llvm, only_order(program, target, only_llvm, attributes, extra))
                if not order and text not in listed]
    only_we = [(text, why) for text, theirs, (mine, why) in answers if theirs is not None and mine is None]
    refused = sum(theirs is None for _, theirs, _ in answers)
    for text in unlisted:
        print('only LLVM refuses', text)
    for text, why in only_we:
        print('only we refuse', text, why)
    print('%s: of %d wrong lines we refuse %d, and take %d that are only in another order or listed; %d of %d right ones refused' %
          (place, refused, refused - len(only_llvm), len(only_llvm) - len(unlisted), len(only_we), len(texts) - refused))
    return int(bool(unlisted) or len(only_we) * 100 > len(texts))


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
