/* SPDX-License-Identifier: MIT */
/* Assembled buffer instructions on all targets, with random V#s, registers and EXEC, against a simple
 * reference: lane by lane and byte by byte. Formats are converted by src/memory/convert.c, which
 * tests/unit/memory/format.c tests. */
#include "reduced.h"
#include "unit/run_text.h"

#include "base/random.h"
#include "buffer_slow.h"
#include "memory/format.h"

#include <math.h>

enum {
    INDEX = 0,       /* memory layout in words: the lanes' indices, */
    OFFSET = 64,     /* their offsets, */
    REGISTERS = 128, /* v[16:20] before and after, */
    LDS = 448,       /* LDS afterwards, */
    DATA = 640,      /* and the contents of the buffers */
    ROWS = 5,
    LDS_BYTES = 512,
};

static uint64_t drawn;

static uint32_t word(void)
{
    return (uint32_t)wmi_random_bits(41, drawn++);
}

static uint32_t below(uint32_t limit)
{
    return word() % limit;
}

/* ---- instructions ---- */

enum kind { LOAD, STORE, ATOMIC, TO_LDS, LOAD_FORMAT, STORE_FORMAT };

struct instruction {
    const char *name, *later; /* `later`: name from gfx11 on, where older names are gone */
    enum kind kind;
    unsigned elements, bytes;
    bool is_signed, hi, d16;
    unsigned first, last; /* generations */
    uint32_t (*make)(uint32_t m, uint32_t d, uint32_t c);
    bool typed, compares;
    const char *targets; /* prefixes of supporting targets, if not whole generations */
};

#define OPERATION(name, expression)                                                                          \
    static uint32_t name(uint32_t m, uint32_t d, uint32_t c)                                                 \
    {                                                                                                        \
        (void)m, (void)d, (void)c;                                                                           \
        return expression;                                                                                   \
    }
OPERATION(swap, d)
OPERATION(cmpswap, m == c ? d : m)
OPERATION(add, m + d)
OPERATION(sub, m - d)
OPERATION(smin, (int32_t)m < (int32_t)d ? m : d)
OPERATION(umin, m < d ? m : d)
OPERATION(smax, (int32_t)m > (int32_t)d ? m : d)
OPERATION(umax, m > d ? m : d)
OPERATION(and, m &d)
OPERATION(or, m | d)
OPERATION(xor, m ^ d)
OPERATION(inc, m >= d ? 0 : m + 1)
OPERATION(dec, m == 0 || m > d ? d : m - 1)
OPERATION(csub, m >= d ? m - d : 0)
OPERATION(cond_sub, m >= d ? m - d : m)

/* Floats computed in double: precise enough that double rounding is harmless. Memory's NaN has priority, and
 * -0 < +0. */
static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t add_f32(uint32_t m, uint32_t d, uint32_t c)
{
    const float sum = (float)((double)float_of(m) + (double)float_of(d));
    uint32_t bits;
    (void)c;
    memcpy(&bits, &sum, sizeof bits);
    return isnan(float_of(m))   ? m | 1 << 22
           : isnan(float_of(d)) ? d | 1 << 22
           : isnan(sum)         ? 0xffc00000
                                : bits;
}

static uint32_t flushed(uint32_t x)
{
    return fpclassify(float_of(x)) == FP_SUBNORMAL ? x & 1u << 31 : x;
}

static uint32_t add_f32_flush(uint32_t m, uint32_t d, uint32_t c)
{
    return flushed(add_f32(flushed(m), flushed(d), c));
}

static bool below_number(uint32_t a, uint32_t b)
{
    const float x = float_of(a), y = float_of(b);
    return x < y || (x == y && signbit(x) && !signbit(y));
}

static uint32_t min_f32(uint32_t m, uint32_t d, uint32_t c)
{
    (void)c;
    if (isnan(float_of(d)))
        return isnan(float_of(m)) ? d | 1 << 22 : m;
    return isnan(float_of(m)) || below_number(d, m) ? d : m;
}

static uint32_t max_f32(uint32_t m, uint32_t d, uint32_t c)
{
    (void)c;
    if (isnan(float_of(d)))
        return isnan(float_of(m)) ? d | 1 << 22 : m;
    return isnan(float_of(m)) || below_number(m, d) ? d : m;
}

static uint32_t cmpswap_f32(uint32_t m, uint32_t d, uint32_t c)
{
    return float_of(m) == float_of(c) ? d : m;
}

static double half_value(uint32_t h)
{
    const int exponent = (int)(h >> 10 & 31), digits = (int)(h & 0x3ff);
    const double x = exponent == 31 ? (digits ? NAN : INFINITY)
                     : exponent     ? ldexp(digits + 1024, exponent - 25)
                                    : ldexp(digits, -24);
    return h & 0x8000 ? -x : x;
}

static uint32_t add_halves(uint32_t m, uint32_t d)
{
    const double sum = half_value(m) + half_value(d);
    if (isnan(half_value(m)) || isnan(half_value(d)))
        return (isnan(half_value(m)) ? m : d) | 0x200;
    if (isnan(sum))
        return 0xfe00;
    const uint32_t sign = signbit(sum) ? 0x8000 : 0;
    if (sum == 0)
        return sign;
    int exponent;
    frexp(sum, &exponent);
    exponent = exponent < -13 ? -13 : exponent;
    const double digits = nearbyint(ldexp(fabs(sum), 11 - exponent)); /* 11 bits, to nearest even */
    if (isinf(sum) || ldexp(digits, exponent - 11) > 65504)
        return sign | 0x7c00;
    return sign | ((uint32_t)(exponent + 13) * 1024 + (uint32_t)digits); /* includes the leading 1 */
}

static uint32_t pk_add_f16(uint32_t m, uint32_t d, uint32_t c)
{
    (void)c;
    return add_halves(m & 0xffff, d & 0xffff) | add_halves(m >> 16, d >> 16) << 16;
}

static uint32_t add_bf16(uint32_t m, uint32_t d)
{
    const uint32_t sum = add_f32(m << 16, d << 16, 0);
    if (isnan(float_of(sum)))
        return sum >> 16;
    return (sum + 0x7fff + (sum >> 16 & 1)) >> 16; /* the sum as f32, see above */
}

static uint32_t pk_add_bf16(uint32_t m, uint32_t d, uint32_t c)
{
    (void)c;
    return add_bf16(m & 0xffff, d & 0xffff) | add_bf16(m >> 16, d >> 16) << 16;
}

#define MOVE(text, what, count, size, ...) {#text, NULL, what, count, size, __VA_ARGS__}
#define ATOMIC_OF(op)                      {"atomic_" #op, NULL, ATOMIC, 1, 4, .first = 6, .make = op}
#define FLOAT_ORDER                        "gfx600 gfx700 gfx1010 gfx1030 gfx1100 gfx1150"
static const struct instruction instructions[] = {
    MOVE(load_ubyte, LOAD, 1, 1, .first = 6),
    MOVE(load_sbyte, LOAD, 1, 1, .is_signed = true, .first = 6),
    MOVE(load_ushort, LOAD, 1, 2, .first = 6),
    MOVE(load_sshort, LOAD, 1, 2, .is_signed = true, .first = 6),
    MOVE(load_dword, LOAD, 1, 4, .first = 6),
    MOVE(load_dwordx2, LOAD, 2, 4, .first = 6),
    MOVE(load_dwordx3, LOAD, 3, 4, .first = 7),
    MOVE(load_dwordx4, LOAD, 4, 4, .first = 6),
    MOVE(load_ubyte_d16, LOAD, 1, 1, .d16 = true, .first = 9),
    MOVE(load_ubyte_d16_hi, LOAD, 1, 1, .d16 = true, .hi = true, .first = 9),
    MOVE(load_sbyte_d16, LOAD, 1, 1, .is_signed = true, .d16 = true, .first = 9),
    MOVE(load_sbyte_d16_hi, LOAD, 1, 1, .is_signed = true, .d16 = true, .hi = true, .first = 9),
    MOVE(load_short_d16, LOAD, 1, 2, .d16 = true, .first = 9),
    MOVE(load_short_d16_hi, LOAD, 1, 2, .d16 = true, .hi = true, .first = 9),
    MOVE(store_byte, STORE, 1, 1, .first = 6),
    MOVE(store_short, STORE, 1, 2, .first = 6),
    MOVE(store_dword, STORE, 1, 4, .first = 6),
    MOVE(store_dwordx2, STORE, 2, 4, .first = 6),
    MOVE(store_dwordx3, STORE, 3, 4, .first = 7),
    MOVE(store_dwordx4, STORE, 4, 4, .first = 6),
    MOVE(store_byte_d16_hi, STORE, 1, 1, .hi = true, .first = 9),
    MOVE(store_short_d16_hi, STORE, 1, 2, .hi = true, .first = 9),
    ATOMIC_OF(swap),
    {"atomic_cmpswap", NULL, ATOMIC, 1, 4, .first = 6, .make = cmpswap, .compares = true},
    ATOMIC_OF(add),
    ATOMIC_OF(sub),
    ATOMIC_OF(smin),
    ATOMIC_OF(umin),
    ATOMIC_OF(smax),
    ATOMIC_OF(umax),
    ATOMIC_OF(and),
    ATOMIC_OF(or),
    ATOMIC_OF(xor),
    ATOMIC_OF(inc),
    ATOMIC_OF(dec),
    {"atomic_csub", "atomic_csub_u32", ATOMIC, 1, 4, .first = 11, .last = 11, .make = csub},
    {"atomic_sub_clamp_u32", NULL, ATOMIC, 1, 4, .first = 12, .make = csub},
    {"atomic_cond_sub_u32", NULL, ATOMIC, 1, 4, .first = 12, .make = cond_sub},
    {"atomic_add_f32", NULL, ATOMIC, 1, 4, .first = 9, .make = add_f32_flush,
     .targets = "gfx908 gfx90a gfx1100 gfx1150"},
    {"atomic_add_f32", NULL, ATOMIC, 1, 4, .first = 9, .make = add_f32, .targets = "gfx942 gfx1200"},
    {"atomic_pk_add_f16", NULL, ATOMIC, 1, 4, .first = 9, .make = pk_add_f16,
     .targets = "gfx908 gfx90a gfx942 gfx1200"},
    {"atomic_pk_add_bf16", NULL, ATOMIC, 1, 4, .first = 12, .make = pk_add_bf16},
    {"atomic_fmin", "atomic_min_f32", ATOMIC, 1, 4, .first = 6, .make = min_f32, .targets = FLOAT_ORDER},
    {"atomic_fmax", "atomic_max_f32", ATOMIC, 1, 4, .first = 6, .make = max_f32, .targets = FLOAT_ORDER},
    {"atomic_fcmpswap", "atomic_cmpswap_f32", ATOMIC, 1, 4, .first = 6, .make = cmpswap_f32, .compares = true,
     .targets = FLOAT_ORDER},
    {"atomic_min_num_f32", NULL, ATOMIC, 1, 4, .first = 12, .make = min_f32},
    {"atomic_max_num_f32", NULL, ATOMIC, 1, 4, .first = 12, .make = max_f32},
    {"load_ubyte", "load_lds_u8", TO_LDS, 1, 1, .first = 6, .last = 11},
    {"load_sbyte", "load_lds_i8", TO_LDS, 1, 1, .is_signed = true, .first = 6, .last = 11},
    {"load_ushort", "load_lds_u16", TO_LDS, 1, 2, .first = 6, .last = 11},
    {"load_sshort", "load_lds_i16", TO_LDS, 1, 2, .is_signed = true, .first = 6, .last = 11},
    {"load_dword", "load_lds_b32", TO_LDS, 1, 4, .first = 6, .last = 11},
    MOVE(load_format_x, LOAD_FORMAT, 1, 0, .first = 6),
    MOVE(load_format_xy, LOAD_FORMAT, 2, 0, .first = 6),
    MOVE(load_format_xyz, LOAD_FORMAT, 3, 0, .first = 6),
    MOVE(load_format_xyzw, LOAD_FORMAT, 4, 0, .first = 6),
    MOVE(load_format_x, LOAD_FORMAT, 1, 0, .first = 6, .typed = true),
    MOVE(load_format_xyzw, LOAD_FORMAT, 4, 0, .first = 6, .typed = true),
    MOVE(store_format_x, STORE_FORMAT, 1, 0, .first = 6),
    MOVE(store_format_xyzw, STORE_FORMAT, 4, 0, .first = 6),
    MOVE(store_format_xyzw, STORE_FORMAT, 4, 0, .first = 6, .typed = true),
};
enum { INSTRUCTIONS = sizeof instructions / sizeof *instructions };

static unsigned rules_of(const char *target)
{
    static const uint8_t rules[] = {
        [6] = GFX6, [7] = GFX6, [8] = GFX8, [9] = GFX9, [10] = GFX10, [11] = GFX11, [12] = GFX12};
    return rules[generation_of(target)];
}

static const struct wmi_format_rules *formats_of(const char *target)
{
    static const uint8_t rules[] = {[6] = 0, [7] = 0, [8] = 1, [9] = 2, [10] = 3, [11] = 4, [12] = 4};
    return wmi_format_rules(rules[generation_of(target)]);
}

/* ---- a case ---- */

struct test {
    const char *target;
    const struct instruction *in;
    uint32_t v[4]; /* the V#; its base is relative to the start of the memory */
    bool idxen, offen, returns, tfe, addr64;
    uint32_t inst_offset, soffset, m0;
    uint64_t exec;
    unsigned code; /* of a typed instruction */
};

static uint32_t format_bits(const char *target, unsigned code)
{
    return generation_of(target) >= 10 ? code << 12 : (code & 15) << 15 | code >> 4 << 12;
}

static void draw_resource(struct test *t, unsigned rules)
{
    const unsigned align = t->in->kind == ATOMIC ? 4 : 1;
    const unsigned stride = below(4) ? below(12) * 4 : 0;
    const bool tid = below(3) == 0, swizzle = below(3) == 0 && (t->in->kind != ATOMIC || rules > GFX8);
    const unsigned code = below(generation_of(t->target) >= 10 ? 64 : 128);
    t->v[0] = 4 * DATA + below(64) / align * align;
    t->v[1] = stride << 16;
    t->v[2] = below(2) ? below(70) : below(1500);
    t->v[3] = 0x00000fac & ~(below(2) ? 0x38u : 0); /* Y is 0 in some cases */
    t->v[3] |= below(4) << 21 | (uint32_t)tid << 23;
    if (rules == GFX11 || rules == GFX12)
        t->v[1] |= swizzle ? (below(2) ? 3u : 1u) << 30 : 0;
    else
        t->v[1] |= (uint32_t)swizzle << 31;
    if (rules >= GFX10)
        t->v[3] |= below(4) << 28;
    else if (rules <= GFX8)
        t->v[3] |= below(4) << 19;
    if (t->in->kind >= LOAD_FORMAT || rules >= GFX10 || !tid) /* else it would extend the stride */
        t->v[3] |= format_bits(t->target, code);
    if (below(20) == 0)
        t->v[3] |= 1u << 30;
    t->code = below(generation_of(t->target) >= 10 ? 64 : 128);
}

static bool has(const char *target, const struct instruction *in)
{
    const unsigned generation = generation_of(target);
    return generation >= in->first && (!in->last || generation <= in->last) &&
           (!in->targets || strstr(in->targets, target));
}

static struct test draw(const char *target, struct text_run *run)
{
    struct test t = {.target = target};
    const unsigned generation = generation_of(target), rules = rules_of(target);
    do
        t.in = &instructions[below(INSTRUCTIONS)];
    while (!has(target, t.in));
    const unsigned align = t.in->kind == ATOMIC ? 4 : 1;
    draw_resource(&t, rules);
    t.idxen = below(2);
    t.offen = below(2);
    t.returns = below(2) || t.in->make == csub;              /* gfx11 only has this form */
    t.returns &= strcmp(target, "gfx908") || !t.in->targets; /* gfx908's float atomics do not return */
    t.inst_offset = below(3) ? below(32) / align * align : 0;
    t.soffset = below(2) ? below(64) / align * align : 0;
    t.m0 = below(100) * 4;
    t.tfe = t.in->kind <= LOAD && below(8) == 0 && strcmp(target, "gfx90a") && strcmp(target, "gfx942");
    t.addr64 = generation <= 7 && t.in->kind != ATOMIC && below(6) == 0;
    t.exec = below(2) ? UINT64_MAX : below(8) ? (uint64_t)word() << 32 | word() : 0;
    if (lanes_of(target) == 32)
        t.exec = (uint32_t)t.exec;
    for (unsigned i = 0; i < TEXT_WORDS; i++)
        run->memory[i] = word();
    static const uint32_t edges[] = {0,          0x80000000, 1,          0x007fffff, 0x7f800000,
                                     0xff800000, 0x7f800001, 0x3f800000, 0x80000001, 0x03ff0400};
    for (unsigned i = REGISTERS; t.in->kind == ATOMIC && i < TEXT_WORDS; i++)
        if (below(3) == 0)
            run->memory[i] = edges[below(sizeof edges / sizeof *edges)];
    const uint32_t same = below(40);
    for (unsigned i = 0; i < 64; i++) {
        run->memory[INDEX + i] = below(3) ? below(48) : same;
        run->memory[OFFSET + i] = (below(3) ? below(64) : same) / align * align;
    }
    if (t.addr64) {
        t.idxen = t.offen = false;
        memset(t.v, 0, 3 * sizeof *t.v);
        t.v[0] = 4 * DATA;
    }
    return t;
}

static void write_test(struct text *t, struct text_run *run, const void *user)
{
    const struct test *c = user;
    const unsigned generation = generation_of(c->target),
                   last = 15 + (c->in->elements > 1 ? c->in->elements : 1);
    const bool to_lds = c->in->kind == TO_LDS;
    add_resource(t, 4, run->address + c->v[0], c->v[1], c->v[2], c->v[3]);
    add_text(t, "s_mov_b32 s13, 0x%x\ns_mov_b32 m0, 0x%x\nv_lshlrev_b32 v3, 2, v0\n", c->soffset, c->m0);
    add_text(t, "buffer_load_dword v4, v3, s[8:11], s12 offen\nbuffer_load_dword v5, v3, s[8:11], s12 offen "
                "offset:256\n");
    for (unsigned i = 0; i < ROWS; i++)
        add_text(t, "buffer_load_dword v%u, v3, s[8:11], s12 offen offset:%u\n", 16 + i,
                 4 * (REGISTERS + 64 * i));
    add_text(t, "v_mov_b32 v6, v4\nv_mov_b32 v7, 0\ns_mov_b32 exec_lo, 0x%x\n", (uint32_t)c->exec);
    if (lanes_of(c->target) == 64)
        add_text(t, "s_mov_b32 exec_hi, 0x%x\n", (uint32_t)(c->exec >> 32));
    add_text(t, "%sbuffer_%s ", c->in->typed ? "t" : "",
             generation >= 11 && c->in->later ? c->in->later : c->in->name);
    if (!to_lds) {
        const unsigned extra = c->in->compares || c->tfe;
        add_text(t, last + extra > 16 ? "v[16:%u], " : "v16, ", last + extra);
    }
    add_text(t, c->addr64              ? "v[6:7]"
                : c->idxen && c->offen ? "v[4:5]"
                : c->idxen             ? "v4"
                : c->offen             ? "v5"
                                       : "off");
    add_text(t, ", s[4:7], s13");
    if (c->in->typed)
        add_text(t, " format:%u", c->code);
    add_text(t, "%s%s%s", c->addr64 ? " addr64" : "", c->idxen ? " idxen" : "", c->offen ? " offen" : "");
    if (c->inst_offset)
        add_text(t, " offset:%u", c->inst_offset);
    if (c->in->kind == ATOMIC && c->returns)
        add_text(t, generation >= 12              ? " th:TH_ATOMIC_RETURN"
                    : strcmp(c->target, "gfx942") ? " glc"
                                                  : " sc0");
    add_text(t, "%s%s\n", c->tfe ? " tfe" : "", to_lds && generation < 11 ? " lds" : "");
    add_text(t, "s_mov_b32 exec_lo, -1\n%ss_mov_b32 m0, -1\n",
             lanes_of(c->target) == 64 ? "s_mov_b32 exec_hi, -1\n" : "");
    for (unsigned i = 0; i < ROWS; i++)
        add_text(t, "buffer_store_dword v%u, v3, s[8:11], s12 offen offset:%u\n", 16 + i,
                 4 * (REGISTERS + 64 * i));
    for (unsigned i = 0; to_lds && i < LDS_BYTES / 4 / lanes_of(c->target); i++)
        add_text(t,
                 "ds_read_b32 v1, v3 offset:%u\ns_waitcnt lgkmcnt(0)\nbuffer_store_dword v1, v3, s[8:11], "
                 "s12 offen offset:%u\n",
                 4 * lanes_of(c->target) * i, 4 * LDS + 4 * lanes_of(c->target) * i);
}

/* ---- the reference ---- */

struct model {
    const struct test *c;
    unsigned rules;
    unsigned char *memory;
    struct wmi_format format;
    bool strays; /* in range, but outside the data */
};

static struct wmi_buffer_place place_of(const struct model *m, unsigned lane)
{
    const struct test *c = m->c;
    const uint32_t *words = (const uint32_t *)m->memory;
    struct wmi_buffer_place p = {.soffset = c->soffset};
    p.index = c->idxen ? words[INDEX + lane] : 0;
    p.lane = (uint32_t)lane_of(m->rules, c->v, c->idxen, lane);
    p.offset = (uint32_t)c->inst_offset + (c->offen ? words[OFFSET + lane] : 0);
    return p;
}

/* Byte `at` of the lane's access, addressed separately. NULL: not in the data. */
static unsigned char *byte_at(struct model *m, unsigned lane, bool plain, unsigned at)
{
    struct wmi_buffer_place p = place_of(m, lane);
    p.part = at;
    p.offset += at;
    const uint64_t where =
        m->c->addr64 ? m->c->v[0] + (uint64_t)((uint32_t *)m->memory)[INDEX + lane] + p.offset + p.soffset
                     : slow_address(m->rules, m->c->v, plain, m->c->idxen, &p);
    if (where < 4 * DATA || where >= 4 * TEXT_WORDS) {
        m->strays = true;
        return m->memory;
    }
    return m->memory + where;
}

static bool inside(const struct model *m, unsigned lane, bool plain, unsigned at, unsigned bytes)
{
    struct wmi_buffer_place p = place_of(m, lane);
    p.part = at;
    p.offset += at;
    p.bytes = bytes;
    return m->c->addr64 ? !unbound(m->rules, m->c->v)
                        : !slow_out_of_range(m->rules, m->c->v, plain, m->c->idxen, &p);
}

/* With SRAM-ECC D16 loads write the whole register (LLVM, GCNSubtarget::d16PreservesUnusedBits). */
static uint32_t merged(const struct test *c, uint32_t value, uint32_t old)
{
    const struct instruction *in = c->in;
    if (!strcmp(c->target, "gfx90a") || !strcmp(c->target, "gfx942"))
        old = 0;
    if (in->is_signed && in->bytes < 4)
        value = in->bytes == 1 ? (uint32_t)(int8_t)value : (uint32_t)(int16_t)value;
    return in->hi ? (old & 0xffff) | value << 16 : in->d16 ? (old & 0xffff0000) | (value & 0xffff) : value;
}

static void move_lane(struct model *m, unsigned lane, uint32_t (*rows)[64])
{
    const struct test *c = m->c;
    const struct instruction *in = c->in;
    for (unsigned e = 0; e < in->elements; e++) {
        const bool in_range = inside(m, lane, true, e * in->bytes, in->bytes);
        uint32_t value = in->kind == STORE ? rows[e][lane] >> (in->hi ? 16 : 0) : 0;
        for (unsigned b = 0; in_range && b < in->bytes; b++) {
            unsigned char *byte = byte_at(m, lane, true, e * in->bytes + b);
            if (in->kind == STORE && !m->strays)
                *byte = (unsigned char)(value >> 8 * b);
            else
                value |= in->kind == STORE ? 0 : (uint32_t)*byte << 8 * b;
        }
        const uint32_t at = c->m0 + c->inst_offset + 4 * lane;
        if (in->kind == LOAD)
            rows[e][lane] = merged(c, value, rows[e][lane]);
        else if (in->kind == TO_LDS && at + 4 <= LDS_BYTES) {
            value = merged(c, value, 0);
            memcpy(m->memory + 4 * LDS + at, &value, sizeof value);
        }
    }
    if (c->tfe && in->kind == LOAD)
        rows[in->elements][lane] = 0;
}

static void change_lane(struct model *m, unsigned lane, uint32_t (*rows)[64])
{
    uint32_t before = 0;
    if (inside(m, lane, true, 0, 4)) {
        unsigned char *byte = byte_at(m, lane, true, 0);
        if (m->strays)
            return;
        memcpy(&before, byte, 4);
        const uint32_t after = m->c->in->make(before, rows[0][lane], rows[1][lane]);
        memcpy(byte, &after, 4);
    }
    if (m->c->returns)
        rows[0][lane] = before;
}

/* Elements are all or nothing. Whole-byte components are range-checked separately, other formats per
 * element. */
static void convert_lane(struct model *m, unsigned lane, uint32_t (*rows)[64])
{
    const struct instruction *in = m->c->in;
    const struct wmi_format_layout *layout = m->format.layout;
    const unsigned pieces = layout->components && layout->bits[0] * layout->components == 8 * layout->bytes
                                ? layout->components
                                : 1;
    const unsigned select = in->typed ? WMI_SELECT_IDENTITY : m->c->v[3] & 0xfff;
    unsigned char element[16] = {0};
    uint32_t value[4] = {0};
    bool all = layout->components != 0;
    for (unsigned i = 0; i < pieces && all; i++)
        all &= inside(m, lane, false, i * layout->bytes / pieces, layout->bytes / pieces);
    if (in->kind == STORE_FORMAT) {
        for (unsigned i = 0; i < 4; i++) /* the first component for those not given: RDNA 4 ISA */
            value[i] = rows[i < in->elements ? i : 0][lane];
        wmi_format_select_store(select, value);
        wmi_format_store(&m->format, value, false, element);
    }
    for (unsigned b = 0; all && b < layout->bytes; b++) {
        unsigned char *byte = byte_at(m, lane, false, b);
        if (m->strays)
            return;
        if (in->kind == STORE_FORMAT)
            *byte = element[b];
        else
            element[b] = *byte;
    }
    if (in->kind == STORE_FORMAT)
        return;
    if (all)
        wmi_format_load(&m->format, element, false, value);
    wmi_format_select_load(&m->format, select, false, value);
    for (unsigned i = 0; i < in->elements; i++)
        rows[i][lane] = value[i];
}

/* Whether the V# has a format; one without is not bound, for typed instructions too. */
static bool has_format(unsigned rules, const uint32_t v[4])
{
    return rules <= GFX9 ? take(v, 111, 114) : take(v, 108, rules == GFX10 ? 114 : 113);
}

/* Applies the case to `memory`; false if it strays. */
static bool expect(const struct test *c, uint32_t memory[TEXT_WORDS])
{
    struct model m = {.c = c, .rules = rules_of(c->target), .memory = (unsigned char *)memory};
    const struct wmi_format_rules *formats = formats_of(c->target);
    uint32_t rows[ROWS][64];
    m.format = wmi_format_of(
        formats, c->in->typed && has_format(m.rules, c->v) ? c->code : wmi_format_code_of(formats, c->v[3]));
    memcpy(rows, memory + REGISTERS, sizeof rows);
    if (c->in->kind == TO_LDS)
        memset(memory + LDS, 0, LDS_BYTES);
    for (unsigned lane = 0; lane < lanes_of(c->target); lane++) {
        if (!(c->exec >> lane & 1))
            continue;
        if (c->in->kind == ATOMIC)
            change_lane(&m, lane, rows);
        else if (c->in->kind >= LOAD_FORMAT)
            convert_lane(&m, lane, rows);
        else
            move_lane(&m, lane, rows);
    }
    memcpy(memory + REGISTERS, rows, sizeof rows);
    return !m.strays;
}

static void random_instructions(void **state)
{
    (void)state;
    const unsigned cases = reduced() ? 100 : 800;
    for (unsigned i = 0; i < ALL_TARGETS; i++)
        for (unsigned k = 0; k < cases;) {
            struct text_run run;
            uint32_t expected[TEXT_WORDS];
            const uint64_t seed = drawn;
            const struct test c = draw(all_targets[i], &run);
            memcpy(expected, run.memory, sizeof expected);
            if (!expect(&c, expected))
                continue;
            run_written(c.target, lanes_of(c.target), &run, write_test, &c,
                        (struct wm_dispatch){.dynamic_lds = LDS_BYTES});
            if (run.fault.kind)
                fail_msg("%s, %llu: %s", c.target, (unsigned long long)seed, run.fault.text);
            for (unsigned w = 0; w < TEXT_WORDS; w++)
                if (run.memory[w] != expected[w])
                    fail_msg(
                        "%s, %llu: %s, word %u: 0x%x, expected 0x%x; V# %08x %08x %08x, idxen %d offen %d",
                        c.target, (unsigned long long)seed, c.in->name, w, run.memory[w], expected[w], c.v[1],
                        c.v[2], c.v[3], c.idxen, c.offen);
            k++;
        }
}

/* ---- every value of a component: the fast step against src/memory/convert.c ---- */

enum { ELEMENTS = 512, OUT = 1024 };

struct values {
    const char *target;
    unsigned code;
};

static void write_values(struct text *t, struct text_run *run, const void *user)
{
    const struct values *v = user;
    const unsigned lanes = lanes_of(v->target);
    add_resource(t, 4, run->address, 4 << 16, ELEMENTS, 0xfac | format_bits(v->target, v->code));
    add_text(t, "v_lshlrev_b32 v3, 2, v0\n");
    for (unsigned i = 0; i < ELEMENTS; i += lanes) {
        add_text(t, "v_or_b32 v6, 0x%x, v0\nv_or_b32 v7, 0x%x, v3\n", i, 4 * (OUT + 4 * i));
        add_text(t, "buffer_load_format_xyzw v[16:19], v6, s[4:7], s12 idxen\n");
        for (unsigned c = 0; c < 4; c++)
            add_text(t, "buffer_store_dword v%u, v7, s[8:11], s12 offen offset:%u\n", 16 + c, 4 * lanes * c);
    }
}

static void check_values(const char *target, unsigned code, const struct wmi_format *format)
{
    const struct values v = {target, code};
    const unsigned bits =
        format->layout->bits[0] > format->layout->bits[1] ? format->layout->bits[0] : format->layout->bits[1];
    for (uint32_t first = 0; first < 1u << bits; first += ELEMENTS) {
        struct text_run run = {0};
        for (uint32_t i = 0; i < ELEMENTS; i++)
            for (unsigned c = 0; c < format->layout->components; c++) /* odd factors reach all values */
                run.memory[i] |= ((first + i) * (2 * c + 1) & ((1u << format->layout->bits[c]) - 1))
                                 << format->layout->shift[c];
        run_written(target, lanes_of(target), &run, write_values, &v, (struct wm_dispatch){0});
        assert_string_equal(run.fault.text, "");
        for (uint32_t i = 0; i < ELEMENTS; i++) {
            const uint32_t lanes = lanes_of(target), block = OUT + i / lanes * lanes * 4, lane = i % lanes;
            uint32_t value[4];
            wmi_format_load(format, (const unsigned char *)&run.memory[i], false, value);
            for (unsigned c = 0; c < 4; c++)
                if (run.memory[block + lanes * c + lane] != value[c])
                    fail_msg("%s, format %u, element 0x%x, component %u: 0x%x, expected 0x%x", target, code,
                             run.memory[i], c, run.memory[block + lanes * c + lane], value[c]);
        }
    }
}

static void every_value(void **state)
{
    static const char *const targets[] = {"gfx600", "gfx900", "gfx1010", "gfx1100"};
    unsigned formats = 0;
    (void)state;
    for (unsigned i = 0; i < sizeof targets / sizeof *targets; i++)
        for (unsigned code = 0; code < 128; code++) {
            const struct wmi_format format = wmi_format_of(formats_of(targets[i]), code);
            if (code >= (generation_of(targets[i]) >= 11 ? 64u : 128u) || format.layout->bytes != 4 ||
                (i != 1 && format.layout->bits[0] == 16) || format.layout->components < 2)
                continue;
            check_values(targets[i], code, &format);
            formats++;
        }
    assert_true(formats > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_instructions),
        cmocka_unit_test(every_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
