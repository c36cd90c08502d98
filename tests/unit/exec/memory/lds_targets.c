/* SPDX-License-Identifier: MIT */
/* Every DS instruction that LLVM knows on each of thirteen targets, assembled and run, against a simple
 * reference derived from its name.
 *
 * usage: lds_targets FORMS-TARGET.TSV ...; the lists are LLVM's, so that they are complete. Floats hold
 * integers here, for which all rules agree; lds.c tests other values. WAVEMEM_TEST_REDUCED: a third of the
 * rounds of each instruction, on the next target the next third. */
#include "reduced.h"
#include "unit/random.h"
#include "wavemem/wavemem.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LDS_BYTES = 1000, /* wide accesses at the end are partly out of range */
    LDS_WORDS = 256,
    ROW = 64, /* dwords per row in the buffer */
    ADDR = 0,
    DATA = 1,
    DATA2 = 5,
    RESULT = 9,
    LDS = 13, /* 256 dwords: 4 rows */
    RESULT_OUT = 17,
    LDS_OUT = 21,
    ROWS = 25,
    ROUNDS = 6,
    GDS_ROUNDS = 3, /* additional rounds on the GDS, where there is one */
    TEXT = 1 << 14,
};

static void fail(const char *target, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(stderr, "%s: ", target);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    exit(1);
}

/* ---- semantics, derived from the name ---- */

enum kind { READ, WRITE, ATOMIC, EXCHANGE2, COUNT, SWIZZLE, PERMUTE, BPERMUTE };

struct statement {
    enum kind kind;
    char operation[64]; /* "add", "cmpst", ... without prefix, rtn and type */
    char type[64];      /* "u32", "b128", ... */
    unsigned bytes, places;
    bool returns, second, stride64, swapped, addtid, is_signed, d16, high;
};

/* Not tested here: global wave sync, ordered count, graphics pipeline and ray instructions. */
static bool is_left_out(const char *name)
{
    static const char *const names[] = {"ds_gws_",       "ds_nop",        "ds_ordered_count",
                                        "ds_bvh_stack",  "ds_add_gs_reg", "ds_sub_gs_reg",
                                        "ds_param_load", "ds_direct_load"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(name, names[i], strlen(names[i])))
            return true;
    return false;
}

/* Replaces `part` of the text, if present, by a string that is not longer. */
static bool take(char *text, const char *part, const char *replacement)
{
    char *at = strstr(text, part);
    if (!at)
        return false;
    memcpy(at, replacement, strlen(replacement));
    memmove(at + strlen(replacement), at + strlen(part), strlen(at + strlen(part)) + 1);
    return true;
}

static struct statement statement_of(const char *target, const char *name)
{
    struct statement s = {.places = 1};
    char text[64];
    snprintf(text, sizeof text, "%s", name + 3);
    /* RDNA's names. */
    take(text, "load_2addr_stride64_", "read2st64_");
    take(text, "load_2addr_", "read2_");
    take(text, "load_", "read_");
    take(text, "storexchg_2addr_stride64_", "wrxchg2st64_");
    take(text, "storexchg_2addr_", "wrxchg2_");
    take(text, "storexchg_", "wrxchg_");
    take(text, "store_2addr_stride64_", "write2st64_");
    take(text, "store_2addr_", "write2_");
    s.swapped = take(text, "cmpstore", "cmpst");
    take(text, "store_", "write_");
    take(text, "min_num", "min");
    take(text, "max_num", "max");

    s.returns = take(text, "_rtn", "");
    s.second = take(text, "_src2", "");
    s.stride64 = take(text, "2st64", "2");
    s.addtid = take(text, "_addtid", "");
    s.high = take(text, "_d16_hi", "");
    s.d16 = take(text, "_d16", "") || s.high;
    if (!strcmp(text, "append") || !strcmp(text, "consume")) {
        snprintf(s.operation, sizeof s.operation, "%s", text);
        s.kind = COUNT;
        s.returns = true;
        s.bytes = 4;
        return s;
    }
    char *type = strrchr(text, '_');
    if (!type)
        fail(target, "no statement for %s", name);
    *type++ = 0;
    snprintf(s.operation, sizeof s.operation, "%s", text);
    snprintf(s.type, sizeof s.type, "%s", type);
    s.bytes = (unsigned)atoi(type + strcspn(type, "0123456789")) / 8;
    s.is_signed = type[0] == 'i';
    if (!strncmp(text, "pk_", 3))
        s.bytes = 4;
    s.kind = !strncmp(text, "read", 4)            ? READ
             : !strcmp(text, "write") && s.second ? ATOMIC
             : !strncmp(text, "write", 5)         ? WRITE
             : !strcmp(text, "wrxchg2")           ? EXCHANGE2
             : !strcmp(text, "swizzle")           ? SWIZZLE
             : !strcmp(text, "permute")           ? PERMUTE
             : !strcmp(text, "bpermute")          ? BPERMUTE
                                                  : ATOMIC;
    if (strchr(text, '2') && !strstr(text, "32"))
        s.places = 2;
    s.returns |= s.kind == READ || s.kind >= SWIZZLE;
    return s;
}

/* ---- numbers ---- */

static bool is_float(const struct statement *s)
{
    return strchr(s->type, 'f') != NULL;
}

/* An integer of up to 2^7 (bf16) in the format's encoding. */
static uint64_t encoded(const char *type, double x)
{
    uint64_t bits = 0;
    const float f = (float)x;
    uint32_t word;
    memcpy(&word, &f, 4);
    if (!strcmp(type, "f64"))
        memcpy(&bits, &x, 8);
    else if (!strcmp(type, "f32"))
        bits = word;
    else if (!strcmp(type, "bf16"))
        bits = word >> 16;
    else if (x != 0)
        bits = (word >> 16 & 0x8000) | ((word & 0x7fffffff) - (112 << 23)) >> 13;
    return bits;
}

static double decoded(const char *type, uint64_t bits)
{
    double x;
    float f;
    uint32_t word = (uint32_t)bits;
    if (!strcmp(type, "f64")) {
        memcpy(&x, &bits, 8);
        return x;
    }
    if (!strcmp(type, "bf16"))
        word = (uint32_t)bits << 16;
    else if (!strcmp(type, "f16"))
        word = bits & 0x7fff
                   ? (uint32_t)(bits & 0x8000) << 16 | (((uint32_t)(bits & 0x7fff) << 13) + (112 << 23))
                   : 0;
    memcpy(&f, &word, 4);
    return f;
}

static uint64_t integer_value(const struct statement *s, uint64_t m, uint64_t a, uint64_t b)
{
    const char *o = s->operation;
    const uint64_t mask = s->bytes == 8 ? ~0ULL : 0xffffffff;
    const int64_t sm = s->bytes == 8 ? (int64_t)m : (int32_t)m, sa = s->bytes == 8 ? (int64_t)a : (int32_t)a;
    if (!strcmp(o, "add"))
        return (m + a) & mask;
    if (!strcmp(o, "sub"))
        return (m - a) & mask;
    if (!strcmp(o, "rsub"))
        return (a - m) & mask;
    if (!strcmp(o, "inc"))
        return m < a ? m + 1 : 0;
    if (!strcmp(o, "dec"))
        return m != 0 && m <= a ? m - 1 : a;
    if (!strcmp(o, "min"))
        return s->is_signed ? (sa < sm ? a : m) : a < m ? a : m;
    if (!strcmp(o, "max"))
        return s->is_signed ? (sa > sm ? a : m) : a > m ? a : m;
    if (!strcmp(o, "and"))
        return m & a;
    if (!strcmp(o, "or"))
        return m | a;
    if (!strcmp(o, "xor"))
        return m ^ a;
    if (!strcmp(o, "mskor"))
        return (m & ~a) | b;
    if (!strcmp(o, "wrxchg") || !strcmp(o, "write"))
        return a;
    if (!strcmp(o, "cmpst"))
        return m == a ? b : m;
    if (!strcmp(o, "wrap"))
        return (m >= a ? m - a : m + b) & mask;
    if (!strcmp(o, "cond_sub"))
        return m >= a ? m - a : m;
    if (!strcmp(o, "sub_clamp"))
        return m >= a ? m - a : 0;
    if (!strcmp(o, "condxchg32")) {
        for (unsigned half = 0; half < 64; half += 32)
            if (a >> half >> 31 & 1)
                m = (m & ~(0xffffffffULL << half)) | (a & 0x7fffffffULL << half);
        return m;
    }
    fprintf(stderr, "no statement for operation %s\n", o);
    exit(1);
}

static uint64_t float_value(const struct statement *s, uint64_t m, uint64_t a, uint64_t b)
{
    const char *o = s->operation;
    const double x = decoded(s->type, m), y = decoded(s->type, a);
    if (!strcmp(o, "cmpst"))
        return x == y ? b : m;
    return encoded(s->type, !strcmp(o, "min") ? fmin(x, y) : !strcmp(o, "max") ? fmax(x, y) : x + y);
}

static uint64_t atomic_value(const struct statement *s, uint64_t m, uint64_t a, uint64_t b)
{
    if (!is_float(s))
        return integer_value(s, m, a, b);
    if (strncmp(s->operation, "pk_", 3))
        return float_value(s, m, a, b);
    return float_value(s, m & 0xffff, a & 0xffff, 0) | float_value(s, m >> 16, a >> 16, 0) << 16;
}

/* ---- one case ---- */

struct test {
    struct statement s;
    bool gds;
    bool partial; /* gfx12: range-checked by dwords of loads and bytes of stores */
    bool clears;  /* D16 loads write the whole register (LLVM, GCNSubtarget::d16PreservesUnusedBits) */
    unsigned lanes;
    uint32_t exec;      /* of the first 32 lanes; the others are active */
    uint32_t m0, limit; /* accessible bytes of LDS */
    unsigned offset[2]; /* as in the text */
    uint32_t in[ROWS][ROW], want[ROWS][ROW];
};

static bool active(const struct test *t, unsigned lane)
{
    return lane >= 32 || t->exec >> lane & 1;
}

static unsigned char *lds_of(struct test *t)
{
    return (unsigned char *)t->want[LDS_OUT];
}

static uint32_t place_of(const struct test *t, unsigned lane, unsigned place)
{
    const unsigned unit = t->s.places == 2 ? t->s.bytes * (t->s.stride64 ? 64 : 1) : 1;
    const uint32_t base = t->s.addtid ? (t->m0 & 0xffff) + 4 * lane : t->in[ADDR][lane];
    return base + t->offset[place] * unit;
}

static bool inside(const struct test *t, uint32_t at)
{
    return (uint64_t)at + t->s.bytes <= t->limit;
}

static uint64_t pair(const uint32_t rows[][ROW], unsigned lane, unsigned bytes)
{
    return rows[0][lane] | (bytes == 8 ? (uint64_t)rows[1][lane] << 32 : 0);
}

static void put_result(struct test *t, unsigned lane, unsigned first, const unsigned char *value)
{
    for (unsigned k = 0; k < (t->s.bytes + 3) / 4; k++) {
        uint32_t word = 0, *d = &t->want[RESULT_OUT + first + k][lane];
        memcpy(&word, value + 4 * k, t->s.bytes < 4 ? t->s.bytes : 4);
        if (t->s.is_signed && t->s.bytes == 1)
            word = (uint32_t)(int8_t)word;
        if (t->s.is_signed && t->s.bytes == 2)
            word = (uint32_t)(int16_t)word;
        const uint32_t old = t->clears ? 0 : *d;
        *d = t->s.high ? (old & 0xffff) | word << 16 : t->s.d16 ? (old & 0xffff0000) | (word & 0xffff) : word;
    }
}

/* The same for one place of a load or store whose parts are range-checked separately. Source: RDNA 4 ISA,
 * "LDS Alignment and Out-of-Range". */
static void state_partly(struct test *t, unsigned lane, unsigned place)
{
    unsigned char bytes[16] = {0};
    const uint64_t at = place_of(t, lane, place);
    const uint32_t(*data)[ROW] = &t->in[place ? DATA2 : DATA];
    for (unsigned b = 0; b < t->s.bytes; b++) {
        const unsigned end = b / 4 * 4 + 4 < t->s.bytes ? b / 4 * 4 + 4 : t->s.bytes;
        if (t->s.kind == WRITE && at + b < t->limit)
            lds_of(t)[at + b] = (unsigned char)(data[b / 4][lane] >> (t->s.high ? 16 : 0) >> b % 4 * 8);
        else if (t->s.kind != WRITE && at + end <= t->limit)
            bytes[b] = lds_of(t)[at + b];
    }
    if (t->s.returns)
        put_result(t, lane, place * (t->s.bytes / 4), bytes);
}

static void state_memory(struct test *t)
{
    unsigned char *lds = lds_of(t), before[16], zeros[16] = {0};
    uint64_t second[ROW] = {0};
    if (t->s.second)
        for (unsigned i = 0; i < t->lanes; i++) {
            const uint32_t at = t->in[ADDR][i] + 4 * t->offset[0];
            if (active(t, i) && inside(t, at))
                memcpy(&second[i], lds + at, t->s.bytes);
        }
    for (unsigned p = 0; p < t->s.places; p++)
        for (unsigned i = 0; i < t->lanes; i++) {
            const uint32_t at = t->s.second ? t->in[ADDR][i] : place_of(t, i, p);
            const unsigned first = p * (t->s.bytes / 4);
            if (!active(t, i))
                continue;
            if (t->partial && t->s.kind != ATOMIC) {
                state_partly(t, i, p);
                continue;
            }
            if (!inside(t, at)) {
                if (t->s.returns)
                    put_result(t, i, first, zeros);
                continue;
            }
            memcpy(before, lds + at, t->s.bytes);
            const uint32_t(*data)[ROW] = &t->in[p ? DATA2 : DATA];
            if (t->s.kind == WRITE)
                for (unsigned k = 0; k < t->s.bytes; k += 4) {
                    const uint32_t word = data[k / 4][i] >> (t->s.high ? 16 : 0);
                    memcpy(lds + at + k, &word, t->s.bytes < 4 ? t->s.bytes : 4);
                }
            if (t->s.kind == ATOMIC) {
                uint64_t m = 0, a = pair(&t->in[DATA], i, t->s.bytes), b = pair(&t->in[DATA2], i, t->s.bytes);
                memcpy(&m, before, t->s.bytes);
                if (t->s.second)
                    a = second[i];
                const uint64_t value =
                    t->s.swapped ? atomic_value(&t->s, m, b, a) : atomic_value(&t->s, m, a, b);
                memcpy(lds + at, &value, t->s.bytes);
            }
            if (t->s.returns)
                put_result(t, i, first, before);
        }
}

/* Both places of a lane are read before they are written. */
static void state_exchange(struct test *t)
{
    for (unsigned i = 0; i < t->lanes; i++) {
        unsigned char before[2][8] = {{0}};
        if (!active(t, i))
            continue;
        for (unsigned p = 0; p < 2; p++)
            if (inside(t, place_of(t, i, p)))
                memcpy(before[p], lds_of(t) + place_of(t, i, p), t->s.bytes);
        for (unsigned p = 0; p < 2; p++) {
            const uint64_t value = pair(&t->in[p ? DATA2 : DATA], i, t->s.bytes);
            if (inside(t, place_of(t, i, p)))
                memcpy(lds_of(t) + place_of(t, i, p), &value, t->s.bytes);
            put_result(t, i, p * (t->s.bytes / 4), before[p]);
        }
    }
}

static void state_count(struct test *t)
{
    const uint32_t at = (t->m0 & 0xffff) + t->offset[0];
    uint32_t was, now;
    memcpy(&was, lds_of(t) + at, 4);
    now = was;
    for (unsigned i = 0; i < t->lanes; i++)
        if (active(t, i)) {
            t->want[RESULT_OUT][i] = was;
            now += t->s.operation[0] == 'a' ? 1 : UINT32_MAX;
        }
    memcpy(lds_of(t) + at, &now, 4);
}

/* ds_swizzle_b32 in the two modes of all generations: any of four, and masks. */
static unsigned swizzle_source(unsigned offset, unsigned i)
{
    if (offset & 0x8000)
        return (i & ~3u) + (offset >> 2 * (i & 3) & 3);
    return (i & 32) + ((((i & 31) & (offset & 31)) | (offset >> 5 & 31)) ^ (offset >> 10 & 31));
}

static void state_lanes(struct test *t)
{
    uint32_t got[ROW] = {0};
    for (unsigned i = 0; i < t->lanes; i++) {
        const unsigned other = t->s.kind == SWIZZLE ? swizzle_source(t->offset[0], i)
                                                    : (t->in[ADDR][i] + t->offset[0]) / 4 % t->lanes;
        if (t->s.kind == PERMUTE && active(t, i))
            got[other] = t->in[DATA][i];
        if (t->s.kind != PERMUTE && active(t, other))
            got[i] = t->in[t->s.kind == SWIZZLE ? ADDR : DATA][other];
    }
    for (unsigned i = 0; i < t->lanes; i++)
        if (active(t, i))
            t->want[RESULT_OUT][i] = got[i];
}

static void state_slowly(struct test *t)
{
    memcpy(t->want, t->in, sizeof t->want);
    memcpy(t->want[RESULT_OUT], t->in[RESULT], 4 * sizeof t->in[0]);
    memcpy(t->want[LDS_OUT], t->in[LDS], 4 * LDS_WORDS);
    if (t->s.kind == EXCHANGE2)
        state_exchange(t);
    else if (t->s.kind == COUNT)
        state_count(t);
    else if (t->s.kind >= SWIZZLE)
        state_lanes(t);
    else
        state_memory(t);
    /* Zeros after the workgroup's LDS. */
    memset(lds_of(t) + LDS_BYTES, 0, 4 * LDS_WORDS - LDS_BYTES);
}

/* ---- execution ---- */

struct code {
    char text[TEXT];
    size_t length;
    const char *target;
    unsigned generation;
};

static void __attribute__((format(printf, 2, 3))) add(struct code *code, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    code->length += (size_t)vsnprintf(code->text + code->length, TEXT - code->length, format, list);
    va_end(list);
    if (code->length >= TEXT)
        fail(code->target, "the code is too long");
}

static void add_row(struct code *code, bool load, unsigned reg, unsigned row, unsigned lane)
{
    const char *name = load ? "buffer_load_" : "buffer_store_";
    add(code, "s_movk_i32 s8, 0x%x\n", 4 * (row * ROW + lane));
    add(code, "%s%s v%u, v1, s[4:7], s8 offen\n", name, code->generation >= 11 ? "b32" : "dword", reg);
}

static void add_tuple(struct code *code, const char *before, unsigned reg, unsigned dwords)
{
    if (dwords == 1)
        add(code, "%sv%u", before, reg);
    else
        add(code, "%sv[%u:%u]", before, reg, reg + dwords - 1);
}

static void add_instruction(struct code *code, const struct test *t, const char *name)
{
    const struct statement *s = &t->s;
    const unsigned dwords = (s->bytes + 3) / 4;
    const bool two = s->places == 2;
    const char *before = " ";
    const bool compares =
        strstr(s->operation, "cmpst") || strstr(s->operation, "mskor") || !strcmp(s->operation, "wrap");
    add(code, "%s", name);
    if (s->returns)
        add_tuple(code, before, 12, two ? 2 * dwords : dwords), before = ", ";
    if (!s->addtid && s->kind != COUNT)
        add_tuple(code, before, 2, 1), before = ", ";
    if (s->kind != READ && s->kind != COUNT && s->kind != SWIZZLE && !s->second)
        add_tuple(code, before, 4, dwords), before = ", ";
    if ((two && s->kind != READ) || compares)
        add_tuple(code, before, 8, dwords);
    if (two)
        add(code, " offset0:%u offset1:%u%s\n", t->offset[0], t->offset[1], t->gds ? " gds" : "");
    else
        add(code, " offset:%u%s\n", t->offset[0], t->gds ? " gds" : "");
}

static void write_code(struct code *code, const struct test *t, uint64_t buffer, const char *name)
{
    const int all = t->gds ? LDS_BYTES : -1; /* for GDS, M0[31:16] is the base and M0[15:0] the size */
    code->length = 0;
    add(code, "s_mov_b32 s4, 0x%x\ns_mov_b32 s5, 0x%x\ns_mov_b32 s6, -1\ns_mov_b32 s7, 0x%x\n",
        (uint32_t)buffer, (uint32_t)(buffer >> 32), code->generation >= 10 ? 0x31016facu : 0x00024facu);
    add(code, "v_lshlrev_b32 v1, 2, v0\ns_mov_b32 m0, %d\n", all);
    for (unsigned word = 0; word < LDS_WORDS; word += t->lanes) {
        add_row(code, true, 20, LDS, word);
        add(code, "s_nop 0\nds_%s_b32 v1, v20 offset:%u%s\n", code->generation >= 11 ? "store" : "write",
            4 * word, t->gds ? " gds" : "");
    }
    add_row(code, true, 2, ADDR, 0);
    for (unsigned k = 0; k < 4; k++) {
        add_row(code, true, 4 + k, DATA + k, 0);
        add_row(code, true, 8 + k, DATA2 + k, 0);
        add_row(code, true, 12 + k, RESULT + k, 0);
    }
    add(code, "s_mov_b32 exec_lo, 0x%x\ns_mov_b32 m0, 0x%x\n", t->exec, t->m0);
    add_instruction(code, t, name);
    add(code, "s_mov_b32 exec_lo, -1\ns_mov_b32 m0, %d\n", all);
    for (unsigned k = 0; k < 4; k++)
        add_row(code, false, 12 + k, RESULT_OUT + k, 0);
    for (unsigned word = 0; word < LDS_WORDS; word += t->lanes) {
        add(code, "ds_%s_b32 v20, v1 offset:%u%s\n", code->generation >= 11 ? "load" : "read", 4 * word,
            t->gds ? " gds" : "");
        add_row(code, false, 20, LDS_OUT, word);
    }
    add(code, "s_endpgm\n");
}

static void run(struct code *code, const struct test *t, const char *name)
{
    struct wm_diag diag = {0};
    struct wm_machine *machine;
    uint64_t buffer = 0;
    struct wm_object *object;
    const struct wm_kernel *kernel;
    struct wm_result result = {.struct_size = sizeof result};
    uint8_t *bytes = NULL;
    char *messages = NULL;
    size_t size;
    static uint32_t got[ROWS][ROW];
    const struct wm_dispatch dispatch = {.struct_size = sizeof dispatch,
                                         .grid = {t->lanes},
                                         .workgroup = {t->lanes},
                                         .dynamic_lds = LDS_BYTES,
                                         .threads = 1};
    if (wm_machine_create(code->target, &machine, &diag) ||
        wm_allocate(machine, sizeof t->in, 0, "buffer", &buffer, &diag))
        fail(code->target, "%s", diag.message);
    write_code(code, t, buffer, name);
    if (wm_assemble(code->text, code->length, "code", code->target, WM_ASSEMBLE_RAW, &bytes, &size, &messages,
                    &diag))
        fail(code->target, "%s: %s\n%s", name, diag.message, messages ? messages : "");
    if (wm_write(machine, buffer, t->in, sizeof t->in, &diag) ||
        wm_object_open(bytes, size, "code", code->target, &object, &diag) ||
        wm_object_find_kernel(object, NULL, &kernel, &diag) || wm_load(machine, object, &diag) ||
        wm_dispatch(machine, object, kernel, &dispatch, &result, &diag) ||
        wm_read(machine, buffer, got, sizeof got, &diag))
        fail(code->target, "%s: %s", name, diag.message);
    if (result.fault.kind)
        fail(code->target, "%s: %s", name, result.fault.text);
    for (unsigned row = RESULT_OUT; row < ROWS; row++)
        for (unsigned i = 0; i < (row < LDS_OUT ? t->lanes : ROW); i++)
            if (got[row][i] != t->want[row][i])
                fail(code->target, "%s (m0 0x%x, offsets %u %u): %s %u of %s is %08x, not %08x", name, t->m0,
                     t->offset[0], t->offset[1], row < LDS_OUT ? "lane" : "dword",
                     row < LDS_OUT ? i : (row - LDS_OUT) * ROW + i, row < LDS_OUT ? "the result" : "LDS",
                     got[row][i], t->want[row][i]);
    wm_machine_destroy(machine);
    wm_object_close(object);
    free(bytes);
    free(messages);
}

/* ---- all instructions of a target ---- */

static uint32_t random_operand(const struct statement *s, unsigned k)
{
    if (!is_float(s))
        return random_word() % 4 ? random_word() : random_word() % 8;
    const double x = random_word() % 3;
    if (s->bytes == 8)
        return (uint32_t)(encoded(s->type, x) >> 32 * (k & 1));
    const uint32_t bits = (uint32_t)encoded(s->type, x);
    return strstr(s->type, "16") ? bits | (uint32_t)encoded(s->type, 1) << 16 : bits;
}

static void fill(struct test *t, unsigned generation, unsigned round)
{
    const struct statement *s = &t->s;
    const unsigned align = s->kind == READ || s->kind == WRITE ? (round % 2 ? 1 : 4) : 8;
    for (unsigned row = 0; row < ROWS; row++)
        for (unsigned i = 0; i < ROW; i++)
            t->in[row][i] = random_operand(s, row >= LDS ? i : row >= DATA2 ? row - DATA2 : row - DATA);
    for (unsigned i = 0; i < ROW; i++)
        t->in[ADDR][i] = (round < 2 ? i * 8 : random_word() % 1100) / align * align;
    t->exec = round % 3 ? random_word() | 1 : 0xffffffff;
    t->offset[0] = round ? random_word() % (s->places == 2 ? s->stride64 ? 2 : 60 : 600) / align * align : 0;
    t->offset[1] = round ? random_word() % (s->stride64 ? 2 : 60) : 1;
    if (s->kind == SWIZZLE)
        t->offset[0] = random_word() & (round % 2 ? 0x80ff : 0x7fff);
    if (s->second)
        t->offset[0] = (random_word() % 64 * 2) & 0x7fff;
    t->m0 = UINT32_MAX;
    t->limit = LDS_BYTES;
    if (s->addtid || s->kind == COUNT)
        t->m0 = random_word() % 64 * 4;
    if (t->gds && s->kind != COUNT) {
        t->m0 = t->limit = round % 2 ? random_word() % 800 : LDS_BYTES;
    } else if (generation <= 8 && s->kind <= EXCHANGE2 && round % 2) {
        t->m0 = random_word() % 800 / 4 * 4;
        t->limit = t->m0;
    } else if (s->kind <= EXCHANGE2 && !s->addtid && round % 2) {
        t->m0 = 16; /* no limit */
    }
}

static unsigned run_target(const char *forms, unsigned number)
{
    static struct code code;
    static struct test test;
    char target[16], line[512], last[64] = "";
    const unsigned step = reduced() ? 3 : 1;
    unsigned count = 0;
    const char *name = strstr(forms, "forms-");
    FILE *file = fopen(forms, "r");
    if (!name || !file)
        fail(forms, "no list");
    snprintf(target, sizeof target, "%.*s", (int)strcspn(name + 6, "."), name + 6);
    code.target = target;
    code.generation = (unsigned)atoi(target + 3) / 100;
    if (code.generation < 6) /* gfx90a */
        code.generation = 9;
    const bool has_ecc = !strcmp(target, "gfx90a") || !strcmp(target, "gfx942");
    const bool has_gds = code.generation <= 11 && !has_ecc;
    while (fgets(line, sizeof line, file)) {
        const char *text = strstr(line, "\tds_");
        if (!text)
            continue;
        char mnemonic[64];
        snprintf(mnemonic, sizeof mnemonic, "%.*s", (int)strcspn(text + 1, " \n"), text + 1);
        if (is_left_out(mnemonic) || !strcmp(mnemonic, last))
            continue;
        snprintf(last, sizeof last, "%s", mnemonic);
        test.s = statement_of(target, mnemonic);
        test.lanes = code.generation >= 10 ? 32 : 64;
        test.clears = has_ecc;
        test.partial = code.generation >= 12;
        const bool may_be_gds = has_gds && test.s.kind < SWIZZLE && !test.s.addtid;
        for (unsigned round = (count + number) % step; round < (may_be_gds ? ROUNDS + GDS_ROUNDS : ROUNDS);
             round += step) {
            test.gds = round >= ROUNDS;
            fill(&test, code.generation, round);
            state_slowly(&test);
            run(&code, &test, mnemonic);
        }
        count++;
    }
    fclose(file);
    printf("%s: %u DS instructions\n", target, count);
    return count;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (run_target(argv[i], (unsigned)i) < 100) /* gfx12 has the fewest of the tested targets */
            fail(argv[i], "too few instructions");
    return argc < 2;
}
