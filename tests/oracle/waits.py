#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Wait counters: the increments in `wavemem isa --json --all` against LLVM's rules by encoding and mnemonic: waits.py
WAVEMEM FORMS...

Source: LLVM, SIInsertWaitcnts.cpp (updateEventWaitcntAfter, in LLVM 22 AMDGPUHWEvents.cpp: getEventsFor): the events of
an instruction, and the counter of an event on each generation. What LLVM 22 does not count yet (asynchronous and tensor
copies), and prefetches: CDNA 5 ISA, "Memory Dependency Counters", FLAT_PREFETCH_B8; RDNA 4 and CDNA 5 ISA, "Scalar
Prefetch Instructions", where LLVM counts what the documents say is not counted. The rows of isa/ have separate columns
for this, so encodings and mnemonics are an independent source. tests/unit/check/waits.c compares the checker with the
same text."""
import json
import os
import re
import subprocess
import sys

from llvm import read_forms

HELD = ', and expcnt until its data may be overwritten'
# MUBUFIsBufferInv except buffer_wbl2: no event.
INVALIDATES = re.compile(r'buffer_(wbinvl1(_sc|_vol)?|inv|invl2|gl[01]_inv)$')
MESSAGES = re.compile(r's_(sendmsg(halt|_rtn_b32|_rtn_b64)?|get_barrier_state|barrier_signal_isfirst|barrier_leave)$')
# LLVM prints hints of stores (TH_STORE_*) for the last two.
STORES = ('buffer_wbl2', 'global_wb', 'global_wbinv', 'tensor_save', 'tensor_stop')
# isAlwaysGDS.
GDS = re.compile(r'ds_(gws_\w+|ordered_count|(add|sub)_gs_reg_rtn)$')
NO_GDS = re.compile(r'ds_(nop|b?permute_b32|bvh_stack_rtn_b32)$')


def counters(target):
    """Maps each event to its counter."""
    if target.startswith('gfx12'):
        return {'load': 'loadcnt', 'store': 'storecnt', 'sample': 'samplecnt', 'ray': 'bvhcnt', 'lds': 'dscnt',
                'scalar': 'kmcnt', 'exp': 'expcnt'}
    store = 'vscnt' if target.startswith('gfx1') else 'vmcnt'
    return {'load': 'vmcnt', 'store': store, 'sample': 'vmcnt', 'ray': 'vmcnt', 'lds': 'lgkmcnt', 'scalar': 'lgkmcnt',
            'exp': 'expcnt'}


def vector_memory(name, encoding, count, target):
    if INVALIDATES.match(name) or '_prefetch_' in name:
        return None
    if '_async_' in name:
        return 'asynccnt'
    if name.startswith('tensor_') and name not in STORES:
        return 'tensorcnt'
    kind = ('store' if name in STORES or '_store' in name else
            'ray' if '_bvh' in name else
            'sample' if encoding == 'VSAMPLE' or re.match(r'image_(sample|gather|get_lod)', name) else
            'atomic' if '_atomic_' in name else 'load')
    more = ' and ' + count['lds'] if encoding in ('FLAT', 'VFLAT') else ''
    if target == 'gfx600' and kind in ('store', 'atomic'):  # vmemWriteNeedsExpWaitcnt
        more += HELD
    if kind != 'atomic':
        return count[kind] + more
    if count['load'] == count['store']:
        return count['load'] + more
    return '%s%s if it returns a value, else %s%s' % (count['load'], more, count['store'], more)


def expected(name, encoding, target):
    count = counters(target)
    if encoding in ('MUBUF', 'MTBUF', 'VBUFFER', 'VBUFFER-TYPED', 'MIMG', 'VIMAGE', 'VSAMPLE', 'FLAT', 'VFLAT', 'GLOBAL',
                    'VGLOBAL', 'SCRATCH', 'VSCRATCH'):
        return vector_memory(name, encoding, count, target)
    if '_async_' in name:
        return 'asynccnt'
    if encoding in ('DS', 'VDS'):
        if GDS.match(name):
            return count['lds'] + HELD
        has_gds = target not in ('gfx90a', 'gfx942', 'gfx950') and not target.startswith('gfx12')
        return count['lds'] + ('; with gds ' + count['lds'] + HELD if has_gds and not NO_GDS.match(name) else '')
    if '_prefetch_' in name and encoding == 'SMEM':
        return None
    if encoding in ('SMEM', 'SMRD') or MESSAGES.match(name):
        return count['scalar']
    return count['exp'] if encoding in ('LDSDIR', 'EXP', 'VEXPORT') else None


def main(wavemem, *paths):
    rows = json.loads(subprocess.run([wavemem, 'isa', '--json', '--all'], capture_output=True, check=True).stdout)
    says, wrong, words = {}, [], 0
    for row in rows:
        for form in row['forms']:
            for target in form['targets']:
                says.setdefault((target['name'], form['name']), set()).add(target.get('raises'))
    for path in paths:
        target = re.search(r'forms-(\w+)', os.path.basename(path)).group(1)
        for encoding, _, _, text in read_forms(path):
            name = text.split()[0]
            words += 1
            want, got = expected(name, encoding, target), says.get((target, name), {'(no such row)'})
            if got != {want}:
                wrong.append('%s %s (%s): %s; expected %s' % (target, name, encoding, ' or '.join(map(str, got)), want))
    print('\n'.join(wrong[:40]))
    print('%d instructions, %d wrong' % (words, len(wrong)))
    return int(bool(wrong) or words < 20000)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
