/* SPDX-License-Identifier: MIT */
/* Every DS step, on every CPU level and wave size, against a simple reference based on the ISA documents:
 * random addresses (in range, partly outside, wrapping), masks, data and overlapping registers. */
#include "exec/memory/lds.h"
#include "exec/run/workgroup.h"
#include "unit/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    LDS = 4096,
    ROWS = 24,
    ADDR = 0, /* operand rows, if they do not overlap */
    DATA = 4,
    DATA2 = 8,
    RESULT = 12,
    ROUNDS = 160,
};

/* Registers of a wave, and the LDS, before or after a step. */
struct machine {
    uint32_t reg[ROWS][64];
    unsigned char lds[LDS + 64];
};

struct setting {
    enum wmi_lds_step step;
    unsigned lanes;
    uint64_t exec;
    uint32_t lds_size, m0, x, y;
    unsigned addr, data, data2, result; /* first rows */
    bool returns;
};

/* ---- the reference ---- */

enum kind { READ, READ2, WRITE, WRITE2, ATOMIC, EXCHANGE2, COUNT, LANES, SECOND };

struct shape {
    enum kind kind;
    unsigned bytes; /* per place */
    bool is_signed;
    unsigned half; /* 1: low 16 bits of the register, 2: high 16 bits */
};

static struct shape shape_of(enum wmi_lds_step step)
{
    switch (step) {
    case WMI_LDS_src2_b32:
        return (struct shape){SECOND, 4, false, 0};
    case WMI_LDS_src2_b64:
        return (struct shape){SECOND, 8, false, 0};
    case WMI_LDS_read_u8:
        return (struct shape){READ, 1, false, 0};
    case WMI_LDS_read_i8:
        return (struct shape){READ, 1, true, 0};
    case WMI_LDS_read_u16:
        return (struct shape){READ, 2, false, 0};
    case WMI_LDS_read_i16:
        return (struct shape){READ, 2, true, 0};
    case WMI_LDS_read_u8_d16:
        return (struct shape){READ, 1, false, 1};
    case WMI_LDS_read_u8_d16_hi:
        return (struct shape){READ, 1, false, 2};
    case WMI_LDS_read_i8_d16:
        return (struct shape){READ, 1, true, 1};
    case WMI_LDS_read_i8_d16_hi:
        return (struct shape){READ, 1, true, 2};
    case WMI_LDS_read_u16_d16:
        return (struct shape){READ, 2, false, 1};
    case WMI_LDS_read_u16_d16_hi:
        return (struct shape){READ, 2, false, 2};
    case WMI_LDS_read_b32:
        return (struct shape){READ, 4, false, 0};
    case WMI_LDS_read_b64:
        return (struct shape){READ, 8, false, 0};
    case WMI_LDS_read_b96:
        return (struct shape){READ, 12, false, 0};
    case WMI_LDS_read_b128:
        return (struct shape){READ, 16, false, 0};
    case WMI_LDS_read2_b32:
        return (struct shape){READ2, 4, false, 0};
    case WMI_LDS_read2_b64:
        return (struct shape){READ2, 8, false, 0};
    case WMI_LDS_write_b8:
        return (struct shape){WRITE, 1, false, 0};
    case WMI_LDS_write_b16:
        return (struct shape){WRITE, 2, false, 0};
    case WMI_LDS_write_b8_d16_hi:
        return (struct shape){WRITE, 1, false, 2};
    case WMI_LDS_write_b16_d16_hi:
        return (struct shape){WRITE, 2, false, 2};
    case WMI_LDS_write_b32:
        return (struct shape){WRITE, 4, false, 0};
    case WMI_LDS_write_b64:
        return (struct shape){WRITE, 8, false, 0};
    case WMI_LDS_write_b96:
        return (struct shape){WRITE, 12, false, 0};
    case WMI_LDS_write_b128:
        return (struct shape){WRITE, 16, false, 0};
    case WMI_LDS_write2_b32:
        return (struct shape){WRITE2, 4, false, 0};
    case WMI_LDS_write2_b64:
        return (struct shape){WRITE2, 8, false, 0};
    case WMI_LDS_wrxchg2_b32:
        return (struct shape){EXCHANGE2, 4, false, 0};
    case WMI_LDS_wrxchg2_b64:
        return (struct shape){EXCHANGE2, 8, false, 0};
    case WMI_LDS_append:
    case WMI_LDS_consume:
        return (struct shape){COUNT, 4, false, 0};
    case WMI_LDS_swizzle:
    case WMI_LDS_permute:
    case WMI_LDS_bpermute:
    case WMI_LDS_addtid:
        return (struct shape){LANES, 0, false, 0};
    default:
        return (struct shape){ATOMIC, step >= WMI_LDS_add_b64 ? 8 : 4, false, 0};
    }
}

static float as_float(uint64_t bits)
{
    float x;
    memcpy(&x, &bits, 4);
    return x;
}

static double as_double(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, 8);
    return x;
}

/* The sum of two floats of a format with this many exponent and significand bits, in exact arithmetic: the
 * first NaN, quieted, or the NaN of inf - inf; otherwise the nearest float, ties to even. Such sums are exact
 * in long double except for f64, which the host rounds. */
static uint32_t small_sum(uint32_t m, uint32_t a, unsigned exponent, unsigned digits)
{
    const int bias = (1 << (exponent - 1)) - 1;
    const uint32_t infinity = ((1u << exponent) - 1) << digits, sign = 1u << (exponent + digits);
    long double value[2];
    for (unsigned i = 0; i < 2; i++) {
        const uint32_t bits = i ? a : m, rest = bits & ~sign;
        if (rest > infinity)
            return (i && (m & ~sign) > infinity ? m : bits) | 1u << (digits - 1);
        const int scale = (int)(rest >> digits);
        value[i] = rest == infinity ? INFINITY
                   : scale
                       ? ldexpl((rest & ((1u << digits) - 1)) + (1u << digits), scale - bias - (int)digits)
                       : ldexpl(rest, 1 - bias - (int)digits);
        if (bits & sign)
            value[i] = -value[i];
    }
    const long double sum = value[0] + value[1];
    if (isnan(sum))
        return sign | infinity | 1u << (digits - 1);
    const uint32_t negative = signbit(sum) ? sign : 0;
    if (isinf(sum))
        return negative | infinity;
    if (sum == 0)
        return negative;
    int power;
    frexpl(sum, &power);
    if (power < 2 - bias) /* denormals have the smallest normal exponent */
        power = 2 - bias;
    const long double unit = ldexpl(1, power - 1 - (int)digits);
    const uint32_t units = (uint32_t)rintl(fabsl(sum) / unit); /* to nearest even, the host's default */
    const uint32_t result = ((uint32_t)(power - 2 + bias) << digits) + units;
    return negative | (result > infinity ? infinity : result);
}

/* min or max of two floats given as doubles: numbers take precedence over NaNs, -0 < +0; returns the result's
 * bits. */
static uint64_t pick(bool max, double m, double a, uint64_t m_bits, uint64_t a_bits, uint64_t quiet)
{
    if (isnan(m) && isnan(a))
        return a_bits | quiet;
    if (isnan(m))
        return a_bits;
    if (isnan(a))
        return m_bits;
    if (m == 0 && a == 0)
        return (signbit(a) != 0) == !max ? a_bits : m_bits;
    return (max ? a > m : a < m) ? a_bits : m_bits;
}

static uint64_t atomic_value(enum wmi_lds_step step, uint64_t m, uint64_t a, uint64_t b)
{
    switch (step) {
    case WMI_LDS_add_b32:
    case WMI_LDS_add_b64:
        return m + a;
    case WMI_LDS_sub_b32:
    case WMI_LDS_sub_b64:
        return m - a;
    case WMI_LDS_rsub_b32:
    case WMI_LDS_rsub_b64:
        return a - m;
    case WMI_LDS_inc_b32:
    case WMI_LDS_inc_b64:
        return m < a ? m + 1 : 0;
    case WMI_LDS_dec_b32:
    case WMI_LDS_dec_b64:
        return m != 0 && m <= a ? m - 1 : a;
    case WMI_LDS_min_u32:
    case WMI_LDS_min_u64:
        return a < m ? a : m;
    case WMI_LDS_max_u32:
    case WMI_LDS_max_u64:
        return a > m ? a : m;
    case WMI_LDS_min_i32:
        return (int32_t)a < (int32_t)m ? a : m;
    case WMI_LDS_max_i32:
        return (int32_t)a > (int32_t)m ? a : m;
    case WMI_LDS_min_i64:
        return (int64_t)a < (int64_t)m ? a : m;
    case WMI_LDS_max_i64:
        return (int64_t)a > (int64_t)m ? a : m;
    case WMI_LDS_and_b32:
    case WMI_LDS_and_b64:
        return m & a;
    case WMI_LDS_or_b32:
    case WMI_LDS_or_b64:
        return m | a;
    case WMI_LDS_xor_b32:
    case WMI_LDS_xor_b64:
        return m ^ a;
    case WMI_LDS_mskor_b32:
    case WMI_LDS_mskor_b64:
        return (m & ~a) | b;
    case WMI_LDS_wrxchg_b32:
    case WMI_LDS_wrxchg_b64:
        return a;
    case WMI_LDS_cmpst_b32:
    case WMI_LDS_cmpst_b64:
        return m == a ? b : m;
    case WMI_LDS_wrap_b32:
        return m >= a ? m - a : m + b;
    case WMI_LDS_cond_sub_b32:
        return m < a ? m : m - a;
    case WMI_LDS_sub_clamp_b32:
        return m < a ? 0 : m - a;
    case WMI_LDS_pk_add_f16:
        return small_sum(m & 0xffff, a & 0xffff, 5, 10) | (uint64_t)small_sum(m >> 16, a >> 16, 5, 10) << 16;
    case WMI_LDS_pk_add_bf16:
        return small_sum(m & 0xffff, a & 0xffff, 8, 7) | (uint64_t)small_sum(m >> 16, a >> 16, 8, 7) << 16;
    case WMI_LDS_add_f64: {
        const double sum = as_double(m) + as_double(a);
        uint64_t bits;
        memcpy(&bits, &sum, 8);
        return !isnan(sum)           ? bits
               : isnan(as_double(m)) ? m | 1ULL << 51
               : isnan(as_double(a)) ? a | 1ULL << 51
                                     : 0xfff8ULL << 48;
    }
    case WMI_LDS_cmpst_f32:
        return as_float(m) == as_float(a) ? b : m;
    case WMI_LDS_cmpst_f64:
        return as_double(m) == as_double(a) ? b : m;
    case WMI_LDS_min_f32:
        return pick(false, as_float(m), as_float(a), m, a, 0x400000);
    case WMI_LDS_max_f32:
        return pick(true, as_float(m), as_float(a), m, a, 0x400000);
    case WMI_LDS_min_f64:
        return pick(false, as_double(m), as_double(a), m, a, 1ULL << 51);
    case WMI_LDS_max_f64:
        return pick(true, as_double(m), as_double(a), m, a, 1ULL << 51);
    case WMI_LDS_barrier_arrive_b64: { /* CDNA 5 ISA, DS_ATOMIC_BARRIER_ARRIVE_RTN_B64, with WIDTH = 29 */
        const uint32_t state = (uint32_t)m - (uint32_t)a, phase = state >> 29, count = state & 0x1fffffff;
        const uint32_t left = count >> 28 ? (uint32_t)(m >> 32 & 0xffff) : count;
        return (m & 0xffffffff00000000ULL) | phase << 29 | left;
    }
    case WMI_LDS_condxchg32_b64:
        if (a >> 31 & 1)
            m = (m & ~0xffffffffULL) | (a & 0x7fffffff);
        if (a >> 63)
            m = (m & 0xffffffffULL) | (a & 0x7fffffff00000000ULL);
        return m;
    case WMI_LDS_add_f32: {
        const float sum = as_float(m) + as_float(a);
        uint32_t bits;
        memcpy(&bits, &sum, 4);
        if (isnan(sum))
            bits = isnan(as_float(m))   ? (uint32_t)m | 0x400000
                   : isnan(as_float(a)) ? (uint32_t)a | 0x400000
                                        : 0xffc00000;
        return bits;
    }
    default:
        fail_msg("no statement for step %d", step);
    }
    return 0;
}

/* Lane i's source, following the ISA's examples and pseudo-code. */
static unsigned swizzle_lane(uint32_t offset, unsigned i)
{
    unsigned j;
    if (offset >= 0xe000) {
        const unsigned mask = offset & 0x1f;
        static const unsigned char reversed[32] = {0, 16, 8, 24, 4, 20, 12, 28, 2, 18, 10, 26, 6, 22, 14, 30,
                                                   1, 17, 9, 25, 5, 21, 13, 29, 3, 19, 11, 27, 7, 23, 15, 31};
        j = reversed[i & 31];
        for (unsigned bits = mask; bits; bits &= bits - 1)
            j /= 2;
        j |= i & mask;
    } else if (offset >= 0xc000) {
        const int by = (int)(offset >> 5 & 0x1f) * (offset & 0x400 ? -1 : 1);
        const unsigned mask = offset & 0x1f;
        j = ((i & mask) | (unsigned)(((int)i + by) & 31 & (int)~mask)) & 31;
    } else if (offset >= 0x8000) {
        const unsigned field = i % 4 * 2;
        j = (i & 28) + (offset >> field & 3);
    } else {
        j = (((i & 31) & (offset & 31)) | (offset >> 5 & 31)) ^ (offset >> 10 & 31);
    }
    return j + (i & 32);
}

/* The lane at an address of ds_permute_b32, in the whole wave or within each half. */
static unsigned exchange_lane(const struct setting *s, uint32_t address, unsigned i)
{
    const unsigned lane = (uint32_t)(address + s->x) / 4 % s->lanes;
    return s->y == 32 ? lane % 32 + i / 32 * 32 : lane;
}

static bool active(const struct setting *s, unsigned lane)
{
    return s->exec >> lane & 1;
}

/* Whether all `bytes` at `at` are in range. */
static bool inside(const struct setting *s, uint32_t at, unsigned bytes)
{
    return (uint64_t)at + bytes <= s->lds_size;
}

static void count_slowly(struct machine *m, const struct setting *s)
{
    const uint32_t at = (s->m0 & 0xffff) + s->x;
    uint32_t was = 0;
    if (s->exec && inside(s, at, 4)) {
        memcpy(&was, m->lds + at, 4);
        uint32_t now = was;
        for (unsigned i = 0; i < s->lanes; i++)
            if (active(s, i))
                now += s->step == WMI_LDS_append ? 1 : -1;
        memcpy(m->lds + at, &now, 4);
    }
    for (unsigned i = 0; i < s->lanes; i++)
        if (active(s, i))
            m->reg[s->result][i] = was;
}

static void second_slowly(struct machine *m, const struct machine *before, const struct setting *s,
                          unsigned bytes)
{
    for (unsigned i = 0; i < s->lanes; i++) {
        const uint32_t addr = before->reg[s->addr][i];
        const bool by_address = s->x >= 0x8000;
        int32_t distance = by_address ? (int32_t)(addr >> 17) : (int32_t)(s->x & 0x7fff);
        if (distance >= 0x4000)
            distance -= 0x8000;
        const uint32_t first = by_address ? addr % 0x20000 : addr, at = first + 4 * (uint32_t)distance;
        m->reg[s->result][i] = first;
        for (unsigned k = 0; k < (bytes + 3) / 4; k++) {
            m->reg[s->data + k][i] = 0;
            if (active(s, i) && inside(s, at, bytes))
                memcpy(&m->reg[s->data + k][i], m->lds + at + 4 * k, 4);
        }
    }
}

static void state_slowly(struct machine *m, const struct setting *s)
{
    const struct shape shape = shape_of(s->step);
    const struct machine before = *m;
    const unsigned places = shape.kind == READ2 || shape.kind == EXCHANGE2 ? 2 : 1;
    const unsigned dwords = (shape.bytes + 3) / 4;
    if (shape.kind == WRITE2) { /* all first places, then all second places */
        struct setting one = *s;
        one.step = shape.bytes == 4 ? WMI_LDS_write_b32 : WMI_LDS_write_b64;
        state_slowly(m, &one);
        one.x = s->y;
        one.data = s->data2;
        state_slowly(m, &one);
        return;
    }
    if (shape.kind == COUNT) {
        count_slowly(m, s);
        return;
    }
    if (shape.kind == SECOND) {
        second_slowly(m, &before, s, shape.bytes);
        return;
    }
    if (s->step == WMI_LDS_permute) {
        uint32_t got[64] = {0};
        for (unsigned i = 0; i < s->lanes; i++)
            if (active(s, i))
                got[exchange_lane(s, before.reg[s->addr][i], i)] = before.reg[s->data][i];
        for (unsigned i = 0; i < s->lanes; i++)
            if (active(s, i))
                m->reg[s->result][i] = got[i];
        return;
    }
    for (unsigned i = 0; i < s->lanes; i++) {
        if (s->step == WMI_LDS_addtid)
            m->reg[s->result][i] = (s->m0 & 0xffff) + 4 * i;
        if (!active(s, i))
            continue;
        if (shape.kind == LANES) {
            const bool swizzle = s->step == WMI_LDS_swizzle;
            const unsigned from =
                swizzle ? swizzle_lane(s->x, i) : exchange_lane(s, before.reg[s->addr][i], i);
            if (s->step != WMI_LDS_addtid)
                m->reg[s->result][i] = active(s, from) ? before.reg[swizzle ? s->addr : s->data][from] : 0;
            continue;
        }
        unsigned char place[2][16] = {{0}};
        for (unsigned p = 0; p < places; p++) {
            const uint32_t at = before.reg[s->addr][i] + (p ? s->y : s->x);
            if (inside(s, at, shape.bytes))
                memcpy(place[p], m->lds + at, shape.bytes);
        }
        for (unsigned p = 0; p < places; p++) {
            const uint32_t at = before.reg[s->addr][i] + (p ? s->y : s->x);
            if (!inside(s, at, shape.bytes) || shape.kind == READ || shape.kind == READ2)
                continue;
            uint32_t data[4];
            for (unsigned k = 0; k < dwords; k++)
                data[k] = before.reg[(p ? s->data2 : s->data) + k][i] >> (shape.half == 2 ? 16 : 0);
            if (shape.kind == ATOMIC) {
                uint64_t operand[3] = {0}; /* memory, DATA, DATA2 */
                memcpy(&operand[0], place[0], shape.bytes);
                for (unsigned k = 0; k < dwords; k++) {
                    operand[1] |= (uint64_t)before.reg[s->data + k][i] << 32 * k;
                    operand[2] |= (uint64_t)before.reg[s->data2 + k][i] << 32 * k;
                }
                const uint64_t value = atomic_value(s->step, operand[0], operand[1], operand[2]);
                memcpy(data, &value, 8);
            }
            memcpy(m->lds + at, data, shape.bytes);
        }
        if (shape.kind == WRITE || (shape.kind == ATOMIC && !s->returns))
            continue;
        for (unsigned p = 0; p < places; p++)
            for (unsigned k = 0; k < dwords; k++) {
                uint32_t value;
                memcpy(&value, place[p] + 4 * k, 4);
                if (shape.is_signed)
                    value = shape.bytes == 1 ? (uint32_t)(int8_t)value : (uint32_t)(int16_t)value;
                uint32_t *d = &m->reg[s->result + p * dwords + k][i];
                *d = shape.half == 0   ? value
                     : shape.half == 1 ? (*d & 0xffff0000) | (value & 0xffff)
                                       : (*d & 0xffff) | value << 16;
            }
    }
}

/* ---- the steps ---- */

/* The step after the tested one. */
static const struct wmi_op *stop(char *restrict frame, const struct wmi_op *op)
{
    (void)frame;
    return op;
}

/* Everything that a step accesses through the frame. */
struct world {
    struct wmi_frame *frame;
    struct wmi_wave wave;
    struct wmi_workgroup group;
    struct wmi_worker *worker;
    struct wmi_dispatch dispatch;
    struct wmi_memory_op memory;
    struct wmi_op op, behind;
};

static uint32_t row_offset(unsigned lanes, unsigned row)
{
    return (uint32_t)offsetof(struct wmi_frame, rows) + row * 4 * lanes;
}

static void set_up_world(struct world *w)
{
    memset(w, 0, sizeof *w);
    const size_t size = (sizeof(struct wmi_frame) + ROWS * 256 + 63) / 64 * 64;
    w->frame = aligned_alloc(64, size);
    memset(w->frame, 0, size);
    w->worker = calloc(1, sizeof *w->worker);
    w->worker->dispatch = &w->dispatch;
    w->wave = (struct wmi_wave){.frame = w->frame, .group = &w->group, .worker = w->worker};
    w->frame->wave = &w->wave;
    /* Round to nearest, keep denormals: the host's default. */
    w->frame->mode = 0xf0;
    w->frame->mxcsr32 = w->frame->mxcsr64 = 0x1f80;
}

static void tear_down_world(struct world *w)
{
    free(w->frame);
    free(w->worker);
}

/* Runs the step on `m`, which receives the outcome; returns what the step returned. */
static const struct wmi_op *run(struct world *w, struct machine *m, const struct setting *s,
                                enum wmi_cpu_level level)
{
    /* Exactly the promised size, so that a sanitizer detects reads past the end. */
    unsigned char *lds = malloc(s->lds_size + 64);
    memcpy(lds, m->lds, s->lds_size + 64);
    w->group.lds = lds;
    w->group.lds_size = s->lds_size;
    w->frame->exec.bits = s->exec;
    w->frame->exec.full = s->exec == (s->lanes == 64 ? ~0ULL : 0xffffffff);
    for (unsigned i = 0; i < 64; i++)
        w->frame->exec.row[i] = i < s->lanes && active(s, i) ? ~0u : 0;
    w->frame->s[WMI_S_M0] = s->m0;
    for (unsigned r = 0; r < ROWS; r++)
        memcpy((char *)w->frame + row_offset(s->lanes, r), m->reg[r], 4 * s->lanes);
    w->memory.returns = s->returns;
    w->op = (struct wmi_op){
        .body = wmi_lds_body(level, s->lanes, s->step),
        .a = row_offset(s->lanes, s->addr),
        .b = row_offset(s->lanes, s->data),
        .c = row_offset(s->lanes, s->data2),
        .d = row_offset(s->lanes, s->result),
        .e = row_offset(s->lanes, s->data),
        .x = s->x,
        .y = s->y,
        .lanes = offsetof(struct wmi_frame, exec),
        .data = &w->memory,
    };
    w->behind = (struct wmi_op){.body = stop};
    const struct wmi_op *next = w->op.body((char *)w->frame, &w->op);
    memcpy(m->lds, lds, s->lds_size + 64);
    for (unsigned r = 0; r < ROWS; r++)
        memcpy(m->reg[r], (char *)w->frame + row_offset(s->lanes, r), 4 * s->lanes);
    free(lds);
    return next;
}

/* Special floats and random bits. */
static uint32_t random_operand(enum wmi_lds_step step)
{
    static const uint32_t edges[] = {0,          0x80000000, 1,          0x80000001, 0x3f800000, 0xbf800000,
                                     0x7f800000, 0xff800000, 0x7f800001, 0x7fc00001, 0xffc12345, 0x007fffff,
                                     0x7f7fffff, 0x7ff00000, 0xfff00000, 0x7ff80000, 0xffffffff, 2};
    (void)step;
    return random_bits() % 2 ? (uint32_t)random_bits() : edges[random_bits() % (sizeof edges / 4)];
}

static void fill(struct machine *m, struct setting *s, int round)
{
    const struct shape shape = shape_of(s->step);
    const unsigned align =
        shape.kind == ATOMIC || shape.kind == EXCHANGE2 || shape.kind == COUNT ? shape.bytes : 1;
    s->lds_size = round % 8 == 0 ? (uint32_t)(random_bits() % 40) : LDS - (uint32_t)(random_bits() % 64);
    s->exec = round % 4 == 0 ? ~0ULL : round % 4 == 1 ? random_bits() : random_bits() | random_bits();
    if (round % 16 == 5)
        s->exec = 0;
    if (s->lanes == 32)
        s->exec &= 0xffffffff;
    s->m0 = (uint32_t)random_bits() & (round % 2 ? 0xffff0ffc : 0xfffffffc);
    s->x = (uint32_t)(random_bits() % (round % 3 ? 1024 : 65536)) / align * align;
    s->y = (uint32_t)(random_bits() % 1024) / align * align;
    if (s->step == WMI_LDS_permute || s->step == WMI_LDS_bpermute)
        s->y = random_bits() % 2 ? 64 : 32;
    if (s->step == WMI_LDS_swizzle)
        s->x = (uint32_t)random_bits() & 0xffff;
    s->addr = ADDR, s->data = DATA, s->data2 = DATA2, s->result = RESULT;
    if (shape.kind == SECOND)
        s->x = (uint32_t)random_bits() & (round % 2 ? 0xffff : 0x80ff);
    else if (round % 3 == 0) /* the result overlaps the address, or address and data */
        s->result = round % 2 ? ADDR : DATA - 2;
    if (round % 7 == 0)
        s->data2 = s->data;
    s->returns = random_bits() & 1;
    for (unsigned r = 0; r < ROWS; r++)
        for (unsigned i = 0; i < 64; i++)
            m->reg[r][i] = random_operand(s->step);
    /* Memory that sometimes equals the atomics' operand. */
    for (unsigned i = 0; i + 4 <= sizeof m->lds; i += 4) {
        const uint32_t word = random_bits() % 3 ? random_operand(s->step) : m->reg[DATA][random_bits() % 64];
        memcpy(m->lds + i, &word, 4);
    }
    const unsigned pattern = (unsigned)(random_bits() % 8);
    const uint32_t base = (uint32_t)(random_bits() % 1024) / align * align;
    for (unsigned i = 0; i < 64; i++) {
        uint32_t at;
        switch (pattern) {
        case 0:
            at = base + i * shape.bytes;
            break; /* consecutive */
        case 1:
            at = base;
            break; /* one address */
        case 2:
            at = base + i % 16 * shape.bytes + i / 16 * 512;
            break; /* consecutive within 16 lanes */
        case 3:
            at = i / 16 * 256;
            break; /* one address per 16 lanes */
        case 4:
            at = base + i * shape.bytes + (i == 37 ? 4 * align : 0);
            break; /* nearly consecutive */
        case 5:
            at = (uint32_t)(random_bits() % 5000);
            break; /* some out of range */
        case 6:
            at = -s->x + (uint32_t)(random_bits() % 2048);
            break; /* wraps with the offset */
        default:
            at = (uint32_t)(random_bits() % 2048);
            break;
        }
        if (pattern == 7 && random_bits() % 16 == 0)
            at = (uint32_t)random_bits();
        m->reg[ADDR][i] = at / align * align;
        if (shape.kind == LANES)
            m->reg[ADDR][i] = round % 2 ? (uint32_t)random_bits() : (uint32_t)(random_bits() % 256);
    }
}

static void check_same(const struct machine *got, const struct machine *want, const struct setting *s,
                       enum wmi_cpu_level level, int round)
{
    for (unsigned r = 0; r < ROWS; r++)
        for (unsigned i = 0; i < s->lanes; i++)
            if (got->reg[r][i] != want->reg[r][i])
                fail_msg("step %d level %d lanes %u round %d: row %u lane %u is %08x, not %08x", s->step,
                         level, s->lanes, round, r, i, got->reg[r][i], want->reg[r][i]);
    for (unsigned i = 0; i < s->lds_size + 64; i++)
        if (got->lds[i] != want->lds[i])
            fail_msg("step %d level %d lanes %u round %d: LDS byte %u of %u is %02x, not %02x", s->step,
                     level, s->lanes, round, i, s->lds_size, got->lds[i], want->lds[i]);
}

static void steps_match_statement(void **state)
{
    (void)state;
    struct world w;
    set_up_world(&w);
    static struct machine start, got, want;
    for (int level = 0; level <= (int)wmi_cpu_level(); level++)
        for (unsigned lanes = 32; lanes <= 64; lanes += 32)
            for (int step = 1; step < WMI_LDS_STEP_COUNT; step++) {
                if (step == WMI_LDS_observe || step == WMI_LDS_observe_lanes)
                    continue;
                for (int round = 0; round < ROUNDS; round++) {
                    struct setting s = {.step = step, .lanes = lanes};
                    fill(&start, &s, round);
                    got = want = start;
                    state_slowly(&want, &s);
                    assert_ptr_equal(run(&w, &got, &s, level), &w.op + 1);
                    check_same(&got, &want, &s, level, round);
                }
            }
    tear_down_world(&w);
}

/* Examples printed in the RDNA4 ISA, DS_SWIZZLE_B32: lane i holds i + 1. */
static void swizzle_examples(void **state)
{
    (void)state;
    static const struct {
        uint32_t offset;
        unsigned char want[32];
    } examples[] = {
        {0xe000, {1, 17, 9,  25, 5, 21, 13, 29, 3, 19, 11, 27, 7, 23, 15, 31,
                  2, 18, 10, 26, 6, 22, 14, 30, 4, 20, 12, 28, 8, 24, 16, 32}},
        {0xe010, {1,  9,  5,  13, 3,  11, 7,  15, 2,  10, 6,  14, 4,  12, 8,  16,
                  17, 25, 21, 29, 19, 27, 23, 31, 18, 26, 22, 30, 20, 28, 24, 32}},
        {0xc020, {2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17,
                  18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 1}},
        {0xc420, {32, 1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                  16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31}},
        {0xc021, {1,  4,  3,  6,  5,  8,  7,  10, 9,  12, 11, 14, 13, 16, 15, 18,
                  17, 20, 19, 22, 21, 24, 23, 26, 25, 28, 27, 30, 29, 32, 31, 2}},
        {0xc421, {31, 2,  1,  4,  3,  6,  5,  8,  7,  10, 9,  12, 11, 14, 13, 16,
                  15, 18, 17, 20, 19, 22, 21, 24, 23, 26, 25, 28, 27, 30, 29, 32}},
    };
    struct world w;
    set_up_world(&w);
    static struct machine m;
    for (size_t e = 0; e < sizeof examples / sizeof examples[0]; e++) {
        for (unsigned i = 0; i < 64; i++)
            m.reg[ADDR][i] = i + 1;
        const struct setting s = {
            .step = WMI_LDS_swizzle, .lanes = 64, .exec = ~0ULL, .x = examples[e].offset, .result = RESULT};
        run(&w, &m, &s, wmi_cpu_level());
        for (unsigned i = 0; i < 64; i++)
            assert_int_equal(m.reg[RESULT][i], examples[e].want[i % 32] + i / 32 * 32);
    }
    tear_down_world(&w);
}

/* A misaligned atomic is a fault that names its lanes, and changes nothing. */
static void misaligned_atomics_fault(void **state)
{
    (void)state;
    struct world w;
    set_up_world(&w);
    static struct machine start, got;
    static const enum wmi_lds_step steps[] = {WMI_LDS_add_b32, WMI_LDS_cmpst_b64, WMI_LDS_wrxchg2_b64};
    for (int level = 0; level <= (int)wmi_cpu_level(); level++)
        for (unsigned k = 0; k < 3; k++) {
            const unsigned bytes = k ? 8 : 4;
            struct setting s = {.step = steps[k],
                                .lanes = 64,
                                .exec = ~(1ULL << 9),
                                .lds_size = 1024,
                                .data = DATA,
                                .data2 = DATA2,
                                .result = RESULT,
                                .returns = true};
            for (unsigned i = 0; i < 64; i++)
                start.reg[ADDR][i] = i * bytes;
            start.reg[ADDR][3] += 1;         /* misaligned */
            start.reg[ADDR][5] += bytes / 2; /* misaligned */
            start.reg[ADDR][9] += 1;         /* inactive: ignored */
            start.reg[ADDR][11] = 2001;      /* out of range: dropped */
            got = start;
            w.memory.pc = 0x1234;
            assert_null(run(&w, &got, &s, level));
            check_same(&got, &start, &s, level, 0);
            const struct wmi_fault *fault = &w.worker->fault;
            assert_int_equal(fault->kind, WM_FAULT_MISALIGNED);
            assert_int_equal(fault->pc, 0x1234);
            assert_true(fault->lanes == (1ULL << 3 | 1ULL << 5));
            assert_int_equal(fault->low, 3 * bytes + 1);
            assert_int_equal(fault->high, 5 * bytes + bytes / 2 + bytes - 1);
            assert_int_equal(fault->bytes, bytes);
        }
    tear_down_world(&w);
}

struct seen {
    unsigned count;
    uint32_t slot;
    struct wmi_access access;
    uint64_t address[2][64];
};

static void see(void *local, const struct wmi_access *access, uint32_t slot)
{
    struct seen *seen = local;
    seen->count++;
    seen->slot = slot;
    seen->access = *access;
    for (unsigned p = 0; p < access->elements; p++)
        memcpy(seen->address[p], access->element[p].address, sizeof seen->address[p]);
}

static void observer_sees_the_access(void **state)
{
    (void)state;
    struct world w;
    set_up_world(&w);
    struct seen seen = {0};
    const struct wmi_observer observer = {.access = see};
    static struct machine m;
    void *local = &seen;
    w.worker->observers = &local;
    w.wave.index = 7;
    w.group.id[1] = 5;
    w.memory = (struct wmi_memory_op){.pc = 0x40,
                                      .id = WMI_INSN_ds_wrxchg2_rtn_b64,
                                      .path = WMI_PATH_DS,
                                      .kind = WMI_ACCESS_ATOMIC,
                                      .slot = 3,
                                      .parameter = 2 | 8 << 8,
                                      .observer = &observer};
    const struct setting s = {
        .step = WMI_LDS_observe, .lanes = 64, .exec = 0xff, .lds_size = 256, .x = 8, .y = 240};
    for (unsigned i = 0; i < 64; i++)
        m.reg[ADDR][i] = 8 * i;
    m.reg[ADDR][2] = 4;
    m.reg[ADDR][3] = -8u;
    for (int level = 0; level <= (int)wmi_cpu_level(); level++) {
        memset(&seen, 0, sizeof seen);
        run(&w, &m, &s, level);
        assert_int_equal(seen.count, 1);
        assert_int_equal(seen.slot, 3);
        assert_int_equal(seen.access.pc, 0x40);
        assert_int_equal(seen.access.path, WMI_PATH_DS);
        assert_int_equal(seen.access.kind, WMI_ACCESS_ATOMIC);
        assert_int_equal(seen.access.lanes, 0xff);
        assert_int_equal(seen.access.wave, 7);
        assert_int_equal(seen.access.workgroup[1], 5);
        assert_int_equal(seen.access.elements, 2);
        assert_int_equal(seen.access.bytes, 8);
        for (unsigned p = 0; p < 2; p++) {
            const struct wmi_element *element = &seen.access.element[p];
            assert_int_equal(element->space, WMI_SPACE_LDS);
            assert_int_equal(element->mask, 0xff);
            for (unsigned i = 0; i < 8; i++)
                assert_int_equal(seen.address[p][i], (uint32_t)(m.reg[ADDR][i] + (p ? 240 : 8)));
        }
        /* The second place of lanes 2 and up is beyond the 256 bytes, but lane 3's wraps to 232. */
        assert_int_equal(seen.access.element[0].bad_range, 0);
        assert_int_equal(seen.access.element[0].bad_align, 1 << 2);
        assert_int_equal(seen.access.element[1].bad_range, 0xf0);
        assert_int_equal(seen.access.element[1].bad_align, 1 << 2);
    }
    tear_down_world(&w);
}

/* Reports the source or destination lanes as addresses of four bytes per lane. */
static void observer_sees_exchange(void **state)
{
    (void)state;
    struct world w;
    set_up_world(&w);
    struct seen seen = {0};
    const struct wmi_observer observer = {.access = see};
    static struct machine m;
    void *local = &seen;
    w.worker->observers = &local;
    for (int level = 0; level <= (int)wmi_cpu_level(); level++)
        for (unsigned round = 0; round < 3 * 8; round++) {
            const unsigned id = round % 3 == 0   ? WMI_INSN_ds_permute_b32
                                : round % 3 == 1 ? WMI_INSN_ds_bpermute_b32
                                                 : WMI_INSN_ds_swizzle_b32;
            const struct setting s = {.step = WMI_LDS_observe_lanes,
                                      .lanes = round & 8 ? 32 : 64,
                                      .exec = 0xf0f0f0f0,
                                      .x = (uint32_t)random_bits() & 0x7fff,
                                      .y = round & 16 ? 32 : 64};
            w.memory = (struct wmi_memory_op){.id = (uint16_t)id, .observer = &observer};
            for (unsigned i = 0; i < 64; i++)
                m.reg[ADDR][i] = (uint32_t)random_bits();
            memset(&seen, 0, sizeof seen);
            run(&w, &m, &s, level);
            assert_int_equal(seen.count, 1);
            assert_int_equal(seen.access.kind, round % 3 ? WMI_ACCESS_LOAD : WMI_ACCESS_STORE);
            assert_int_equal(seen.access.bytes, 4);
            assert_int_equal(seen.access.element[0].space, WMI_SPACE_LANES);
            assert_int_equal(seen.access.element[0].mask, 0xf0f0f0f0);
            for (unsigned i = 0; i < s.lanes; i++)
                assert_int_equal(
                    seen.address[0][i],
                    4 * (round % 3 == 2 ? swizzle_lane(s.x, i) : exchange_lane(&s, m.reg[ADDR][i], i)));
        }
    tear_down_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_match_statement),    cmocka_unit_test(swizzle_examples),
        cmocka_unit_test(misaligned_atomics_fault), cmocka_unit_test(observer_sees_the_access),
        cmocka_unit_test(observer_sees_exchange),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
