# SPDX-License-Identifier: MIT
"""Properties of an instruction other than operands and flags: key:value words in the first line of its row.

    counts:CLASS                  the wait counter it increments, if its encoding does not imply it
    waits:COUNTER[,COUNTER]       the counters it waits for
    group:GROUP                   instructions that hazards, the assembler or observers treat alike
    rules:RULE[,RULE]             what LLVM's assembler rejects although it can be encoded
    cache:OPERATION,LEVEL[,SCOPE] its effect on a cache
    matrix:SHAPE:D,A,B            sizes (MxNxK or MxNxKxBLOCKS) and element types of a matrix product, D += A * B
    sparse:SHAPE:D,A,B            the same, with only two of each four elements of A along K
    work:KIND                     the unit that executes it and its rate there, if its encoding and types do not imply it

Each list corresponds to an enumeration in src/isa/isa.h, in the same order where it matters."""
import re
from collections import namedtuple

from bad import Bad

COUNTS = 'none load store atomic sample ray lds scalar message export ldsdir async tensor'.split()
COUNTERS = 'load store sample bvh ds km exp'.split()
SHARED_COUNTERS = {'async': 'sample', 'tensor': 'bvh'}  # of gfx12.5, which has neither samples nor rays
GROUPS = ('none idle vector_nop permlane readlane writelane div_fmas setreg getreg denorm_mode rfe movrel branch '
          'sendmsg depctr dot fma64 mad64 acc_read acc_write lds_dma scratch gws cmpswap msaa pck '
          'madmk mask swap part part_always').split()
RULES = ('a_sgpr a_sgpr_pair a_vgpr a_null a_barrier b_no_literal c_vgpr c_vgpr_dpp imm_unsigned no_literal no_dpp '
         'halves_e64 one_scalar no_lds_direct no_gds gds no_d16 low_mask sdwa_dword m0_lane half_a half_c odd_result '
         'repeats').split()
CACHE_OPERATIONS = {'invalidate': ['INVALIDATE'], 'write_back': ['WRITE_BACK'],
                    'write_back_invalidate': ['WRITE_BACK', 'INVALIDATE'], 'discard': ['DISCARD'],
                    'prefetch': ['PREFETCH']}
CACHE_LEVELS = 'vector gl1 l2 scalar instruction'.split()
CACHE_SCOPES = 'all volatile system workgroup field'.split()
WORK = ('internal salu branch message smem vector_memory lds gds export full multiply divide wide trans double double_mul '
        'double_trans matrix').split()
KEYS = 'counts waits group rules cache matrix sparse work'.split()

Cache = namedtuple('Cache', 'operation level scope')
Matrix = namedtuple('Matrix', 'm n k blocks d a b sparse')


def one_of(where, value, known, what):
    if value not in known:
        raise Bad(where, "unknown %s '%s'" % (what, value))
    return value


def read_matrix(where, value, elements, sparse):
    m = re.fullmatch(r'(\d+)x(\d+)x(\d+)(?:x(\d+))?:(\w+),(\w+),(\w+)', value)
    if not m:
        raise Bad(where, "'%s' is no matrix; write MxNxK:D,A,B or MxNxKxBLOCKS:D,A,B" % value)
    sizes = [int(x) for x in m.groups('1')[:4]]
    if not all(0 < x < 256 for x in sizes):
        raise Bad(where, "the sizes of '%s' are not from 1 to 255" % value)
    return Matrix(*sizes, *(one_of(where, x, elements, 'element') for x in m.groups()[4:]), sparse)


def read(where, key, value, elements):
    """The value of one word."""
    words = value.split(',')
    if key == 'counts':
        return one_of(where, value, COUNTS, 'class of counters')
    if key == 'waits':
        return [one_of(where, SHARED_COUNTERS.get(word, word), COUNTERS, 'counter') for word in words]
    if key == 'group':
        return one_of(where, value, GROUPS, 'group')
    if key == 'rules':
        return [one_of(where, word, RULES, 'rule') for word in words]
    if key == 'work':
        return one_of(where, value, WORK, 'kind of work')
    if key == 'cache':
        if not 2 <= len(words) <= 3:
            raise Bad(where, "'%s' is no cache operation; write OPERATION,LEVEL or OPERATION,LEVEL,SCOPE" % value)
        scope = words[2] if len(words) > 2 else 'all'
        return Cache(one_of(where, words[0], CACHE_OPERATIONS, 'cache operation'), one_of(where, words[1], CACHE_LEVELS, 'cache'),
                     one_of(where, scope, CACHE_SCOPES, 'scope'))
    return read_matrix(where, value, elements, key == 'sparse')


def counts(row, class_):
    """The wait counter that a row increments: explicit, or derived from its encoding, operands and memory flag."""
    if 'counts' in row.facts:
        return row.facts['counts']
    if class_ in ('smem', 'ds'):
        return {'smem': 'scalar', 'ds': 'lds'}[class_]
    if class_ not in ('buffer', 'tbuffer', 'image', 'flat', 'global', 'scratch'):
        return 'none'
    if any(e.operand('samp') for e in row.encodings):
        return 'sample'
    return row.flags['memory'][0] if 'memory' in row.flags else 'none'


def work(row, class_):
    """The kind of work of a row: explicit, or derived from its class and the types of its operands."""
    if 'work' in row.facts:
        return row.facts['work']
    if class_ == 'control':
        family = row.encodings[0].family
        unit = 'full' if family.startswith('vop') else 'internal' if family in ('sopp', 'illegal') or 'waits' in row.facts else 'salu'
        return {'branch': 'branch', 'sendmsg': 'message'}.get(row.facts.get('group'), unit)
    if class_ == 'export':
        return {'exp': 'export', 'ldsdir': 'lds'}.get(row.encodings[0].family, 'full')
    if class_ == 'ds':
        return 'lds'
    if class_ != 'valu':
        return class_ if class_ in ('salu', 'smem') else 'vector_memory'
    if 'one_lane' in row.flags:
        return 'salu'
    if matrix_of(row):
        return 'matrix'
    double = any(o.type == 'f64' for o in row.encodings[0].operands)
    if 'trans' in row.flags:
        return 'double_trans' if double else 'trans'
    return 'double' if double else 'full'


def matrix_of(row):
    return row.facts.get('matrix') or row.facts.get('sparse')


def sizes_of(matrix, elements, lanes):
    """{role: bits of the matrix that a lane may hold}. Results of less than 32 bits may take a register each; on gfx11
    each half of the lanes holds whole rows of A and columns of B."""
    def share(count, element):
        return max(32, count * elements[element] // lanes)

    k = matrix.k // 2 if matrix.sparse else matrix.k
    result = matrix.m * matrix.n * matrix.blocks
    return {'d': {share(result, matrix.d), result * 32 // lanes},
            'a': {share(matrix.m * k * matrix.blocks, matrix.a), matrix.k * elements[matrix.a]},
            'b': {share(matrix.n * matrix.k * matrix.blocks, matrix.b), matrix.k * elements[matrix.b]}}
