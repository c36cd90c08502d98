/* SPDX-License-Identifier: MIT */
/* Host code of vector steps that order three values, and that test the class of a float. */
#include "arithmetic/float.h"
#include "jit/vector.h"

/* ---- minimum, maximum and median of three ---- */

/* The median is max(min(a, b), min(max(a, b), c)). */
static bool is_median(const struct wmi_recipe *recipe)
{
    return recipe->argument & WMI_MEDIAN;
}

/* Of integers. The recipe's instruction is the minimum. */
bool wmi_emit_order_3(struct wmi_stretch *s, const struct wmi_step *step)
{
    enum { TO_MAXIMUM = 4 }; /* added to the opcode */
    const struct wmi_recipe *recipe = wmi_recipe_of(step);
    const uint32_t lesser = recipe->host, greater = lesser + TO_MAXIMUM,
                   first = recipe->argument & WMI_FIRST_GREATER ? greater : lesser,
                   second = recipe->argument & WMI_SECOND_GREATER ? greater : lesser;
    const struct wmi_rows a = wmi_stretch_use(s, step->a, true), b = wmi_stretch_use(s, step->b, false),
                          c = wmi_stretch_use(s, step->c, false);
    struct wmi_rows d = wmi_stretch_result(s, a.uniform && b.uniform && c.uniform);
    const unsigned low = wmi_stretch_register(s);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++) {
        const unsigned x = wmi_rows_register(&a, i), reg = d.reg[i];
        const struct wmi_host_operand y = wmi_rows_operand(s, &b, i);
        wmi_evex_plain(&s->host, first, reg, x, y);
        wmi_evex_plain(&s->host, second, reg, reg, wmi_rows_operand(s, &c, i));
        if (!is_median(recipe))
            continue;
        wmi_evex_plain(&s->host, lesser, low, x, y);
        wmi_evex_plain(&s->host, greater, reg, reg, wmi_zmm(low));
    }
    wmi_stretch_write(s, step->d, &d);
    return true;
}

/* d = the lesser or greater one of a and b, with -0 below +0; see wmi_lower_f32(). d may be a. Changes
 * `other`. */
static void order_f32(struct wmi_stretch *s, bool greater, unsigned d, unsigned a, unsigned b, unsigned other)
{
    const uint32_t instruction = greater ? WMI_VMAXPS : WMI_VMINPS;
    wmi_evex_plain(&s->host, instruction, other, b, wmi_zmm(a));
    wmi_evex_plain(&s->host, instruction, d, a, wmi_zmm(b));
    wmi_evex_plain(&s->host, greater ? WMI_VPANDD : WMI_VPORD, d, d, wmi_zmm(other));
}

/* Of numbers, where it is enough to flush the result. A NaN leaves for the body. */
bool wmi_emit_order_3_f32(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_recipe *recipe = wmi_recipe_of(step);
    const bool flush = !(s->block->mode.mode & WMI_MODE_DENORMAL_IN_F32);
    const struct wmi_rows a = wmi_stretch_use(s, step->a, true), b = wmi_stretch_use(s, step->b, true),
                          c = wmi_stretch_use(s, step->c, true);
    wmi_vector_leave_if(s, WMI_VCMPPS, &a, &b, WMI_UNORDERED);
    wmi_vector_leave_if(s, WMI_VCMPPS, &c, &c, WMI_UNORDERED);
    struct wmi_rows d = wmi_stretch_result(s, a.uniform && b.uniform && c.uniform);
    const unsigned low = wmi_stretch_register(s), other = wmi_stretch_register(s),
                   exponent = flush ? wmi_vector_splat(s, WMI_EXPONENT_F32) : 0,
                   sign = flush ? wmi_vector_splat(s, WMI_SIGN_F32) : 0;
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++) {
        const unsigned x = wmi_rows_register(&a, i), y = wmi_rows_register(&b, i), reg = d.reg[i];
        order_f32(s, recipe->argument & WMI_FIRST_GREATER, reg, x, y, other);
        order_f32(s, recipe->argument & WMI_SECOND_GREATER, reg, reg, wmi_rows_register(&c, i), other);
        if (is_median(recipe)) {
            order_f32(s, false, low, x, y, other);
            order_f32(s, true, reg, reg, low, other);
        }
        if (flush) {
            wmi_evex_plain(&s->host, WMI_VPTESTNMD, WMI_K, reg, wmi_zmm(exponent));
            wmi_evex(&s->host, WMI_VPANDD, reg, reg, wmi_zmm(sign), WMI_K, WMI_NO_IMMEDIATE);
        }
    }
    wmi_stretch_write(s, step->d, &d);
    return true;
}

/* ---- v_cmp_class ---- */

/* Kinds of numbers by their size without a sign. */
enum { ZERO, DENORMAL, NORMAL, INFINITE, SIGNALLING_NAN, QUIET_NAN, KINDS };

static const struct class_tables {
    /* The bits of b that stand for a kind, whatever the sign, and for all kinds of each sign. */
    uint32_t of_kind[KINDS], of_sign[2];
    /* The smallest word of each kind, and the first one of none, by type. For f16, of words with a number in
     * the high half; for f64, of high words in which bit 0 is set if a bit of the low word is. */
    uint32_t least[3][KINDS + 1];
} tables = {
    {0x060, 0x090, 0x108, 0x204, 0x001, 0x002},
    {0x3c3, 0x03f},
    {
        [WMI_CLASS_F16] = {0, 1, 0x04000000, 0x7c000000, 0x7c000001, 0x7e000000, 0x80000000},
        [WMI_CLASS_F32] = {0, 1, 0x00800000, 0x7f800000, 0x7f800001, 0x7fc00000, 0x80000000},
        [WMI_CLASS_F64] = {0, 1, 0x00100000, 0x7ff00000, 0x7ff00001, 0x7ff80000, 0x80000000},
    },
};

/* The words of a by which its kind and sign are known. */
static struct wmi_rows words_to_class(struct wmi_stretch *s, const struct wmi_step *step)
{
    const unsigned type = wmi_recipe_of(step)->argument;
    if (type == WMI_CLASS_F32)
        return wmi_stretch_use(s, step->a, true);
    if (type == WMI_CLASS_F16) {
        const struct wmi_rows a = wmi_stretch_use(s, step->a, false), d = wmi_stretch_result(s, a.uniform);
        for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++)
            wmi_vector_shift(s, WMI_LEFT, d.reg[i], wmi_rows_operand(s, &a, i), 16);
        return d;
    }
    const struct wmi_pair a = wmi_vector_use_pair(s, step->a);
    const struct wmi_rows d = wmi_vector_copy(s, &a.high, wmi_pair_is_uniform(&a));
    const unsigned one = wmi_vector_splat(s, 1);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++) {
        const unsigned low = wmi_rows_register(&a.low, i);
        wmi_evex_plain(&s->host, WMI_VPTESTMD, WMI_K, low, wmi_zmm(low));
        wmi_evex(&s->host, WMI_VPORD, d.reg[i], d.reg[i], wmi_zmm(one), WMI_K, WMI_NO_IMMEDIATE);
    }
    return d;
}

/* Whether b asks for the kinds `first` to `end` - 1, whatever their sign. */
static bool is_range(uint32_t b, unsigned *first, unsigned *end)
{
    uint32_t bits = 0;
    *first = 0;
    while (*first < KINDS && !(b & tables.of_kind[*first]))
        ++*first;
    for (*end = *first; *end < KINDS && b & tables.of_kind[*end]; ++*end)
        bits |= tables.of_kind[*end];
    return bits == (b & (tables.of_sign[0] | tables.of_sign[1]));
}

/* b is constant, and the words of the kinds that it asks for are in one range. */
static void store_range(struct wmi_stretch *s, const struct wmi_step *step, uint32_t first, uint32_t end)
{
    const struct wmi_rows words = words_to_class(s, step),
                          size = wmi_vector_uniform(wmi_vector_splat(s, ~WMI_SIGN_F32)),
                          width = wmi_vector_uniform(wmi_vector_splat(s, end - first)),
                          d = wmi_vector_two(s, WMI_VPANDD, &words, &size, false);
    const unsigned start = wmi_vector_splat(s, first);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++)
        wmi_evex_plain(&s->host, WMI_VPSUBD, d.reg[i], d.reg[i], wmi_zmm(start));
    wmi_vector_store_compare(s, WMI_VPCMPUD, &d, &width, WMI_BELOW, step->d);
}

static struct wmi_host_operand of_kind(unsigned kind)
{
    return wmi_at(WMI_RAX, (int32_t)(offsetof(struct class_tables, of_kind) + 4 * kind));
}

static struct wmi_host_operand least(unsigned type, unsigned kind)
{
    struct wmi_host_operand word =
        wmi_at(WMI_RAX, (int32_t)(offsetof(struct class_tables, least) + 4 * (type * (KINDS + 1) + kind)));
    word.broadcast = true;
    return word;
}

/* The bit of each word's class. */
static struct wmi_rows class_bits(struct wmi_stretch *s, const struct wmi_rows *words, unsigned type)
{
    const struct wmi_rows d = wmi_stretch_result(s, words->uniform);
    const unsigned size = wmi_stretch_register(s), signs = wmi_stretch_register(s),
                   magnitude = wmi_vector_splat(s, ~WMI_SIGN_F32), zero = wmi_vector_splat(s, 0),
                   positive = wmi_vector_splat(s, tables.of_sign[0]),
                   negative = wmi_vector_splat(s, tables.of_sign[1]);
    wmi_move_immediate(&s->host, WMI_RAX, (uintptr_t)&tables);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++) {
        const unsigned word = wmi_rows_register(words, i), reg = d.reg[i];
        wmi_vector_compare(s, WMI_VPCMPD, WMI_K, word, wmi_zmm(zero), WMI_NO_MASK, WMI_BELOW);
        wmi_evex(&s->host, WMI_VPBLENDMD, signs, positive, wmi_zmm(negative), WMI_K, WMI_NO_IMMEDIATE);
        wmi_evex_plain(&s->host, WMI_VPANDD, size, word, wmi_zmm(magnitude));
        wmi_evex_plain(&s->host, WMI_VPBROADCASTD_MEMORY, reg, 0, of_kind(ZERO));
        for (unsigned kind = ZERO + 1; kind < KINDS; kind++) {
            wmi_vector_compare(s, WMI_VPCMPUD, WMI_K, size, least(type, kind), WMI_NO_MASK, WMI_NOT_BELOW);
            wmi_evex(&s->host, WMI_VPBROADCASTD_MEMORY, reg, 0, of_kind(kind), WMI_K, WMI_NO_IMMEDIATE);
        }
        wmi_evex_plain(&s->host, WMI_VPANDD, reg, reg, wmi_zmm(signs));
    }
    return d;
}

/* The mask at d = the lanes for whose class b has a bit. */
bool wmi_emit_class(struct wmi_stretch *s, const struct wmi_step *step)
{
    const unsigned type = wmi_recipe_of(step)->argument;
    uint32_t classes;
    unsigned first, end;
    if (wmi_stretch_constant(s, step->b, &classes) && is_range(classes, &first, &end)) {
        store_range(s, step, tables.least[type][first], tables.least[type][end]);
        return true;
    }
    const struct wmi_rows words = words_to_class(s, step), b = wmi_stretch_use(s, step->b, false),
                          bits = class_bits(s, &words, type);
    wmi_vector_store_compare(s, WMI_VPTESTMD, &bits, &b, WMI_NO_IMMEDIATE, step->d);
    return true;
}
