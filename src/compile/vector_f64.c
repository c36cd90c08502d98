/* SPDX-License-Identifier: MIT */
/* Host code of vector steps on f64. The words of a number are in two rows; two registers with eight numbers
 * each are made of a strip of both, and the results are taken apart again. The order of lanes in between does
 * not matter: VPUNPCKLDQ and VPUNPCKHDQ join the lanes 0, 1, 4, 5, ... and 2, 3, 6, 7, ..., and VSHUFPS
 * undoes that. */
#include "base/float.h"
#include "compile/lane_access.h"
#include "compile/vector.h"

static const uint32_t vpunpckldq = WMI_EVEX(0x62, WMI_MAP_0F, WMI_PREFIX_66, 0),
                      vpunpckhdq = WMI_EVEX(0x6a, WMI_MAP_0F, WMI_PREFIX_66, 0),
                      vshufps = WMI_EVEX(0xc6, WMI_MAP_0F, 0, 0),
                      vcmppd = WMI_EVEX(0xc2, WMI_MAP_0F, WMI_PREFIX_66, 1);

/* Rows with the low and high words of numbers. */
struct numbers {
    struct wmi_rows low, high;
};

/* Registers for the numbers of a strip. */
struct joined {
    unsigned reg[2];
};

/* For numbers: both registers of uniform ones are the same. */
static struct joined take_joined(struct wmi_stretch *s, bool uniform)
{
    const unsigned first = wmi_stretch_register(s);
    return (struct joined){{first, uniform ? first : wmi_stretch_register(s)}};
}

static struct numbers use_numbers(struct wmi_stretch *s, uint32_t row)
{
    if (!s->on_bases) { /* there are too few registers for rows in runs */
        wmi_stretch_spread(s, row);
        wmi_stretch_spread(s, row + s->row_bytes);
    }
    return (struct numbers){wmi_stretch_use(s, row, true), wmi_stretch_use(s, row + s->row_bytes, true)};
}

static struct numbers use_numbers_in_memory(struct wmi_stretch *s, uint32_t row)
{
    return (struct numbers){wmi_stretch_use_in_memory(s, row),
                            wmi_stretch_use_in_memory(s, row + s->row_bytes)};
}

static bool is_uniform(const struct numbers *a)
{
    return a->low.uniform && a->high.uniform;
}

static void join(struct wmi_stretch *s, const struct numbers *a, unsigned strip, const struct joined *to)
{
    unsigned low = to->reg[1];
    if (a->low.in_memory)
        wmi_evex_plain(&s->host, WMI_VMOVUPS_LOAD, low, 0, wmi_rows_operand(s, &a->low, strip));
    else
        low = wmi_rows_register(&a->low, strip);
    wmi_evex_plain(&s->host, vpunpckldq, to->reg[0], low, wmi_rows_operand(s, &a->high, strip));
    if (to->reg[0] != to->reg[1])
        wmi_evex_plain(&s->host, vpunpckhdq, to->reg[1], low, wmi_rows_operand(s, &a->high, strip));
}

static void take_apart(struct wmi_stretch *s, const struct joined *from, const struct numbers *d,
                       unsigned strip)
{
    enum { EVEN = 0x88, ODD = 0xdd };
    wmi_evex(&s->host, vshufps, d->low.reg[strip], from->reg[0], wmi_zmm(from->reg[1]), WMI_NO_MASK, EVEN);
    wmi_evex(&s->host, vshufps, d->high.reg[strip], from->reg[0], wmi_zmm(from->reg[1]), WMI_NO_MASK, ODD);
}

/* Leaves for the body if a result is a NaN or, where only those of active lanes count, an infinity. k5: of
 * joined results of all strips so far. */
static void collect_nans(struct wmi_stretch *s, const struct joined *result, bool is_first)
{
    const unsigned k = is_first ? WMI_K : WMI_K + 1;
    wmi_vector_compare(s, vcmppd, k, result->reg[0], wmi_zmm(result->reg[1]), WMI_NO_MASK, WMI_UNORDERED);
    if (!is_first)
        wmi_mask(&s->host, WMI_KOR, WMI_K, WMI_K, k);
}

static void collect_active_nans(struct wmi_stretch *s, const struct numbers *d, unsigned infinity,
                                unsigned scratch, unsigned strip)
{
    const unsigned k = strip ? WMI_K + 1 : WMI_K;
    wmi_vector_shift(s, WMI_LEFT, scratch, wmi_zmm(d->high.reg[strip]), 1);
    wmi_vector_compare(s, WMI_VPCMPUD, k, scratch, wmi_zmm(infinity), WMI_K_EXEC + strip, WMI_NOT_BELOW);
    if (strip)
        wmi_mask(&s->host, WMI_KOR, WMI_K, WMI_K, k);
}

/* d = instruction(a, b), or a * b + c. */
static void compute(struct wmi_stretch *s, const struct wmi_step *step, uint32_t instruction,
                    const struct numbers *a, const struct numbers *b, const struct numbers *c)
{
    enum { INFINITY_WITHOUT_SIGN = 0xffe00000 };
    const bool uniform = is_uniform(a) && is_uniform(b) && (!c || is_uniform(c)),
               masked = s->partial && !uniform;
    struct numbers d = {wmi_stretch_result(s, uniform), wmi_stretch_result(s, uniform)};
    const struct joined x = take_joined(s, is_uniform(a)), y = take_joined(s, is_uniform(b));
    const unsigned spare = wmi_stretch_register(s);
    const unsigned infinity = masked ? wmi_vector_splat(s, INFINITY_WITHOUT_SIGN) : 0;
    for (unsigned i = 0; i < (uniform ? 1 : s->strips); i++) {
        const struct joined z = {{d.high.reg[i], spare}};
        if (!i || !is_uniform(a))
            join(s, a, i, &x);
        if (!i || !is_uniform(b))
            join(s, b, i, &y);
        if (c)
            join(s, c, i, &z);
        for (unsigned k = 0; k < 2; k++)
            wmi_evex_plain(&s->host, instruction, z.reg[k], x.reg[k], wmi_zmm(y.reg[k]));
        if (!masked)
            collect_nans(s, &z, !i);
        take_apart(s, &z, &d, i);
        if (masked)
            collect_active_nans(s, &d, infinity, spare, i);
    }
    wmi_kortest(&s->host, WMI_K, WMI_K);
    wmi_stretch_exit_if(s, WMI_IF_NOT_EQUAL);
    s->has_read = true;
    wmi_stretch_write(s, step->d, &d.low);
    wmi_stretch_write(s, step->d + s->row_bytes, &d.high);
}

bool wmi_emit_f64(struct wmi_stretch *s, const struct wmi_step *step)
{
    if (!wmi_recipe_allows(s, step))
        return false;
    const struct numbers a = use_numbers(s, step->a), b = use_numbers(s, step->b);
    compute(s, step, wmi_recipe_of(step)->host, &a, &b, NULL);
    return true;
}

bool wmi_emit_fused_f64(struct wmi_stretch *s, const struct wmi_step *step)
{
    const uint32_t vfmadd231pd = WMI_EVEX(0xb8, WMI_MAP_0F38, WMI_PREFIX_66, 1);
    if (!wmi_recipe_allows(s, step))
        return false;
    /* There are too few registers for three numbers and the result, each of a register per strip. */
    const struct numbers a = use_numbers(s, step->a), b = use_numbers(s, step->b),
                         c = is_uniform(&a) || is_uniform(&b) ? use_numbers(s, step->c)
                                                              : use_numbers_in_memory(s, step->c);
    compute(s, step, vfmadd231pd, &a, &b, &c);
    return true;
}

/* Minimum and maximum of numbers. See wmi_min_f64(). A NaN leaves for the body, in inactive lanes, too. */
bool wmi_emit_min_max_f64(struct wmi_stretch *s, const struct wmi_step *step)
{
    const uint32_t vminpd = WMI_EVEX(0x5d, WMI_MAP_0F, WMI_PREFIX_66, 1),
                   vmaxpd = WMI_EVEX(0x5f, WMI_MAP_0F, WMI_PREFIX_66, 1);
    const bool lesser = wmi_recipe_of(step)->argument == WMI_LESSER;
    if (!wmi_recipe_allows(s, step) || !(s->block->mode.mode & WMI_MODE_DENORMAL_IN_F64))
        return false;
    const struct numbers a = use_numbers(s, step->a), b = use_numbers(s, step->b);
    const bool uniform = is_uniform(&a) && is_uniform(&b);
    struct numbers d = {wmi_stretch_result(s, uniform), wmi_stretch_result(s, uniform)};
    const struct joined x = take_joined(s, is_uniform(&a)), y = take_joined(s, is_uniform(&b));
    const unsigned spare = wmi_stretch_register(s), other = wmi_stretch_register(s);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d.low); i++) {
        const struct joined z = {{d.high.reg[i], spare}};
        if (!i || !is_uniform(&a))
            join(s, &a, i, &x);
        if (!i || !is_uniform(&b))
            join(s, &b, i, &y);
        for (unsigned k = 0; k < 2; k++) {
            const bool is_first = !i && !k;
            wmi_vector_compare(s, vcmppd, is_first ? WMI_K : WMI_K + 1, x.reg[k], wmi_zmm(y.reg[k]),
                               WMI_NO_MASK, WMI_UNORDERED);
            if (!is_first)
                wmi_mask(&s->host, WMI_KOR, WMI_K, WMI_K, WMI_K + 1);
            wmi_evex_plain(&s->host, lesser ? vminpd : vmaxpd, z.reg[k], x.reg[k], wmi_zmm(y.reg[k]));
            wmi_evex_plain(&s->host, lesser ? vminpd : vmaxpd, other, y.reg[k], wmi_zmm(x.reg[k]));
            wmi_evex_plain(&s->host, lesser ? WMI_VPORD : WMI_VPANDD, z.reg[k], z.reg[k], wmi_zmm(other));
        }
        take_apart(s, &z, &d, i);
    }
    wmi_kortest(&s->host, WMI_K, WMI_K);
    wmi_stretch_exit_if(s, WMI_IF_NOT_EQUAL);
    s->has_read = true;
    wmi_stretch_write(s, step->d, &d.low);
    wmi_stretch_write(s, step->d + s->row_bytes, &d.high);
    return true;
}

/* k5 and k6 hold the truth for the numbers of two registers; words of ones for true lanes are put in their
 * order, as results are, and compared once more. */
bool wmi_emit_compare_f64(struct wmi_stretch *s, const struct wmi_step *step)
{
    enum { EVEN = 0x88 };
    const uint32_t vpmovm2q = WMI_EVEX(0x38, WMI_MAP_0F38, WMI_PREFIX_F3, 1);
    const struct wmi_recipe *recipe = wmi_recipe_of(step);
    if (!wmi_recipe_allows(s, step))
        return false;
    const struct numbers a = use_numbers(s, step->a), b = use_numbers(s, step->b);
    struct wmi_rows truth = wmi_stretch_result(s, is_uniform(&a) && is_uniform(&b));
    const struct joined x = take_joined(s, is_uniform(&a)), y = take_joined(s, is_uniform(&b));
    const unsigned other = wmi_stretch_register(s);
    const struct wmi_rows zero = wmi_vector_uniform(wmi_vector_splat(s, 0));
    for (unsigned i = 0; i < wmi_rows_strips(s, &truth); i++) {
        if (!i || !is_uniform(&a))
            join(s, &a, i, &x);
        if (!i || !is_uniform(&b))
            join(s, &b, i, &y);
        for (unsigned k = 0; k < 2; k++) {
            wmi_vector_compare(s, recipe->host, WMI_K + k, x.reg[k], wmi_zmm(y.reg[k]), WMI_NO_MASK,
                               recipe->argument);
            wmi_evex_plain(&s->host, vpmovm2q, k ? other : truth.reg[i], 0, wmi_zmm(WMI_K + k));
        }
        wmi_evex(&s->host, vshufps, truth.reg[i], truth.reg[i], wmi_zmm(other), WMI_NO_MASK, EVEN);
    }
    wmi_vector_store_compare(s, WMI_VPCMPD, &truth, &zero, WMI_DIFFERS, step->d);
    return true;
}

/* d = the f64 of a. A NaN leaves for the body. */
bool wmi_emit_to_f64(struct wmi_stretch *s, const struct wmi_step *step)
{
    if (!wmi_recipe_allows(s, step))
        return false;
    const struct wmi_rows a = wmi_stretch_use(s, step->a, true);
    if (wmi_recipe_of(step)->argument == WMI_FROM_FLOAT)
        wmi_vector_leave_if(s, WMI_VCMPPS, &a, &a, WMI_UNORDERED);
    struct numbers d = {wmi_stretch_result(s, a.uniform), wmi_stretch_result(s, a.uniform)};
    const struct joined x = take_joined(s, false);
    wmi_move_immediate(&s->host, WMI_R9, (uintptr_t)&wmi_lane_tables);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d.low); i++) {
        const unsigned from = wmi_rows_register(&a, i);
        wmi_evex(&s->host, WMI_VALIGNQ, x.reg[1], from, wmi_zmm(from), WMI_NO_MASK, 4);
        wmi_evex_plain(&s->host, wmi_recipe_of(step)->host, x.reg[0], 0, wmi_zmm(from));
        wmi_evex_plain(&s->host, wmi_recipe_of(step)->host, x.reg[1], 0, wmi_zmm(x.reg[1]));
        wmi_access_select_words(s, d.low.reg[i], offsetof(struct wmi_lane_tables, even), x.reg[0],
                                wmi_zmm(x.reg[1]));
        wmi_access_select_words(s, d.high.reg[i], offsetof(struct wmi_lane_tables, odd), x.reg[0],
                                wmi_zmm(x.reg[1]));
    }
    s->has_read = true;
    wmi_stretch_write(s, step->d, &d.low);
    wmi_stretch_write(s, step->d + s->row_bytes, &d.high);
    return true;
}

/* d = the f64 of a, rounded to f32 or toward zero to an integer. A NaN or what is out of range leaves for the
 * body. */
bool wmi_emit_from_f64(struct wmi_stretch *s, const struct wmi_step *step)
{
    const uint32_t vinserti64x4 = WMI_EVEX(0x3a, WMI_MAP_0F3A, WMI_PREFIX_66, 1);
    const struct wmi_recipe *recipe = wmi_recipe_of(step);
    if (!wmi_recipe_allows(s, step))
        return false;
    const struct numbers a = use_numbers(s, step->a);
    struct wmi_rows d = wmi_stretch_result(s, is_uniform(&a));
    const struct joined x = take_joined(s, false);
    wmi_move_immediate(&s->host, WMI_R9, (uintptr_t)&wmi_lane_tables);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++) {
        const unsigned low = wmi_rows_register(&a.low, i), high = wmi_rows_register(&a.high, i);
        wmi_access_select_words(s, x.reg[0], offsetof(struct wmi_lane_tables, low_pairs), low, wmi_zmm(high));
        wmi_access_select_words(s, x.reg[1], offsetof(struct wmi_lane_tables, high_pairs), low,
                                wmi_zmm(high));
        for (unsigned k = 0; k < 2; k++)
            wmi_evex_plain(&s->host, recipe->host, x.reg[k], 0, wmi_zmm(x.reg[k]));
        wmi_evex(&s->host, vinserti64x4, d.reg[i], x.reg[0], wmi_zmm(x.reg[1]), WMI_NO_MASK, 1);
    }
    if (recipe->argument == WMI_FROM_FLOAT) {
        wmi_vector_leave_if(s, WMI_VCMPPS, &d, &d, WMI_UNORDERED);
    } else {
        const uint32_t wrong = recipe->argument == WMI_FROM_SIGNED ? 0x80000000u : UINT32_MAX;
        const struct wmi_rows limit = wmi_vector_uniform(wmi_vector_splat(s, wrong));
        wmi_vector_leave_if(s, WMI_VPCMPD, &d, &limit, WMI_EQUAL);
    }
    wmi_stretch_write(s, step->d, &d);
    return true;
}

/* Changes the signs, which the high words hold. */
bool wmi_emit_modify_f64(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_rows a = wmi_stretch_use(s, step->a, false),
                          a_high = wmi_stretch_use(s, step->a + s->row_bytes, false);
    struct wmi_rows low = wmi_vector_copy(s, &a, a.uniform),
                    high = wmi_vector_modify(s, &a_high, step->x & WMI_MODIFY_NEG, step->x & WMI_MODIFY_ABS);
    wmi_stretch_write_all_lanes(s, step->d, &low);
    wmi_stretch_write_all_lanes(s, step->d + s->row_bytes, &high);
    return true;
}
