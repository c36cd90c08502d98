/* SPDX-License-Identifier: MIT */
/* Host code of vector steps on f64. The words of a number are in two rows; two registers with eight numbers
 * each are made of a strip of both, and the results are taken apart again. The order of lanes in between does
 * not matter: VPUNPCKLDQ and VPUNPCKHDQ join the lanes 0, 1, 4, 5, ... and 2, 3, 6, 7, ..., and VSHUFPS
 * undoes that. */
#include "arithmetic/float.h"
#include "jit/lane_access.h"
#include "jit/vector.h"

static const uint32_t vpunpckldq = WMI_EVEX(0x62, WMI_MAP_0F, WMI_PREFIX_66, 0),
                      vpunpckhdq = WMI_EVEX(0x6a, WMI_MAP_0F, WMI_PREFIX_66, 0),
                      vshufps = WMI_EVEX(0xc6, WMI_MAP_0F, 0, 0),
                      vcmppd = WMI_EVEX(0xc2, WMI_MAP_0F, WMI_PREFIX_66, 1),
                      vminpd = WMI_EVEX(0x5d, WMI_MAP_0F, WMI_PREFIX_66, 1),
                      vdivpd = WMI_EVEX(0x5e, WMI_MAP_0F, WMI_PREFIX_66, 1),
                      vsqrtpd = WMI_EVEX(0x51, WMI_MAP_0F, WMI_PREFIX_66, 1),
                      vrndscalepd = WMI_EVEX(0x09, WMI_MAP_0F3A, WMI_PREFIX_66, 1),
                      vfpclasspd = WMI_EVEX(0x66, WMI_MAP_0F3A, WMI_PREFIX_66, 1);

enum { INFINITY_WITHOUT_SIGN = 0xffe00000 }; /* the high word, shifted left */

/* Registers for the numbers of a strip. */
struct joined {
    unsigned reg[2];
};

/* For numbers: both registers of uniform ones are the same, but for bases, which differ from strip to strip.
 */
static struct joined take_joined(struct wmi_stretch *s, bool uniform)
{
    const unsigned first = wmi_stretch_register(s);
    return (struct joined){{first, uniform && !s->on_bases ? first : wmi_stretch_register(s)}};
}

static struct wmi_pair use_pair_in_memory(struct wmi_stretch *s, uint32_t row)
{
    return (struct wmi_pair){wmi_stretch_use_in_memory(s, row),
                             wmi_stretch_use_in_memory(s, row + s->row_bytes)};
}

static void join(struct wmi_stretch *s, const struct wmi_pair *a, unsigned strip, const struct joined *to)
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

static void take_apart(struct wmi_stretch *s, const struct joined *from, const struct wmi_pair *d,
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

static void collect_active_nans(struct wmi_stretch *s, const struct wmi_pair *d, unsigned infinity,
                                unsigned scratch, unsigned strip)
{
    const unsigned k = strip ? WMI_K + 1 : WMI_K;
    wmi_vector_shift(s, WMI_LEFT, scratch, wmi_zmm(d->high.reg[strip]), 1);
    wmi_vector_compare(s, WMI_VPCMPUD, k, scratch, wmi_zmm(infinity), wmi_vector_active(s, false, strip),
                       WMI_NOT_BELOW);
    if (strip)
        wmi_mask(&s->host, WMI_KOR, WMI_K, WMI_K, k);
}

/* The same as compute() of rows that are not uniform, on hosts that have a function for it. */
static void compute_by_host(struct wmi_stretch *s, uint32_t instruction, const struct wmi_pair *d,
                            const struct wmi_pair *a, const struct wmi_pair *b, const struct wmi_pair *c)
{
    const unsigned tested = c ? wmi_stretch_register(s) : 0;
    for (unsigned i = 0; i < s->strips; i++) {
        const struct wmi_host_pair x = wmi_vector_operands(s, a, i), y = wmi_vector_operands(s, b, i),
                                   z = c ? wmi_vector_operands(s, c, i) : x;
        const uint8_t words[] = {d->low.reg[i], d->high.reg[i]};
        s->host.vectors->compute_f64(&s->host, instruction, words, &x, &y, c ? &z : NULL, tested, !i,
                                     wmi_vector_active(s, false, i));
    }
    if (c) {
        wmi_test_words(&s->host, tested, WMI_K);
        wmi_stretch_exit_if(s, WMI_IF_NOT_EQUAL);
    }
}

/* d = instruction(a, b), or a * b + c. Of two NaNs the first one is the result, on the host as well; with c
 * that may differ, so that results are tested. */
static void compute(struct wmi_stretch *s, const struct wmi_step *step, uint32_t instruction,
                    const struct wmi_pair *a, const struct wmi_pair *b, const struct wmi_pair *c)
{
    const bool uniform = wmi_pair_is_uniform(a) && wmi_pair_is_uniform(b) && (!c || wmi_pair_is_uniform(c)),
               masked = s->partial && !uniform;
    struct wmi_pair d = {wmi_stretch_result(s, uniform), wmi_stretch_result(s, uniform)};
    if (!uniform && s->host.vectors->compute_f64) {
        compute_by_host(s, instruction, &d, a, b, c);
        s->has_read = true;
        wmi_vector_write_pair(s, step->d, &d);
        return;
    }
    const struct joined x = take_joined(s, wmi_pair_is_uniform(a)),
                        y = take_joined(s, wmi_pair_is_uniform(b));
    const unsigned spare = wmi_stretch_register(s);
    const unsigned infinity = c && masked ? wmi_vector_splat(s, INFINITY_WITHOUT_SIGN) : 0;
    for (unsigned i = 0; i < (uniform ? 1 : s->strips); i++) {
        const struct joined z = {{d.high.reg[i], spare}};
        if (!i || !wmi_pair_is_uniform(a))
            join(s, a, i, &x);
        if (!i || !wmi_pair_is_uniform(b))
            join(s, b, i, &y);
        if (c)
            join(s, c, i, &z);
        for (unsigned k = 0; k < 2; k++)
            wmi_evex_plain(&s->host, instruction, z.reg[k], x.reg[k], wmi_zmm(y.reg[k]));
        if (c && !masked)
            collect_nans(s, &z, !i);
        take_apart(s, &z, &d, i);
        if (c && masked)
            collect_active_nans(s, &d, infinity, spare, i);
    }
    if (c) {
        wmi_kortest(&s->host, WMI_K, WMI_K);
        wmi_stretch_exit_if(s, WMI_IF_NOT_EQUAL);
    }
    s->has_read = true;
    wmi_vector_write_pair(s, step->d, &d);
}

bool wmi_emit_f64(struct wmi_stretch *s, const struct wmi_step *step)
{
    if (!wmi_recipe_allows(s, step))
        return false;
    const struct wmi_pair a = wmi_vector_use_pair(s, step->a), b = wmi_vector_use_pair(s, step->b);
    compute(s, step, wmi_recipe_of(step)->host, &a, &b, NULL);
    return true;
}

bool wmi_emit_fused_f64(struct wmi_stretch *s, const struct wmi_step *step)
{
    const uint32_t vfmadd231pd = WMI_EVEX(0xb8, WMI_MAP_0F38, WMI_PREFIX_66, 1);
    if (!wmi_recipe_allows(s, step))
        return false;
    /* There are too few registers for three numbers and the result, each of a register per strip. */
    const struct wmi_pair a = wmi_vector_use_pair(s, step->a), b = wmi_vector_use_pair(s, step->b),
                          c = wmi_pair_is_uniform(&a) || wmi_pair_is_uniform(&b)
                                  ? wmi_vector_use_pair(s, step->c)
                                  : use_pair_in_memory(s, step->c);
    compute(s, step, vfmadd231pd, &a, &b, &c);
    return true;
}

/* Minimum and maximum of numbers. See wmi_min_f64(). A NaN leaves for the body, in inactive lanes, too. */
bool wmi_emit_min_max_f64(struct wmi_stretch *s, const struct wmi_step *step)
{
    const uint32_t vmaxpd = WMI_EVEX(0x5f, WMI_MAP_0F, WMI_PREFIX_66, 1);
    const bool lesser = wmi_recipe_of(step)->argument == WMI_LESSER;
    if (!wmi_recipe_allows(s, step) || !(s->block->mode.mode & WMI_MODE_DENORMAL_IN_F64))
        return false;
    const struct wmi_pair a = wmi_vector_use_pair(s, step->a), b = wmi_vector_use_pair(s, step->b);
    const bool uniform = wmi_pair_is_uniform(&a) && wmi_pair_is_uniform(&b);
    struct wmi_pair d = {wmi_stretch_result(s, uniform), wmi_stretch_result(s, uniform)};
    const struct joined x = take_joined(s, wmi_pair_is_uniform(&a)),
                        y = take_joined(s, wmi_pair_is_uniform(&b));
    const unsigned spare = wmi_stretch_register(s), other = wmi_stretch_register(s);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d.low); i++) {
        const struct joined z = {{d.high.reg[i], spare}};
        if (!i || !wmi_pair_is_uniform(&a))
            join(s, &a, i, &x);
        if (!i || !wmi_pair_is_uniform(&b))
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
    wmi_vector_write_pair(s, step->d, &d);
    return true;
}

/* ---- one number ---- */

/* A register with the number in all lanes, until the end of the step. */
static unsigned splat_64(struct wmi_stretch *s, uint64_t value)
{
    const unsigned reg = wmi_stretch_register(s);
    wmi_move_immediate(&s->host, WMI_RAX, value);
    wmi_evex_plain(&s->host, WMI_VPBROADCASTQ_GPR, reg, 0, wmi_zmm(WMI_RAX));
    return reg;
}

/* What a step computes of numbers in a register, in place, with another one and one that holds `constant`. */
struct formula {
    void (*apply)(struct wmi_stretch *s, unsigned reg, unsigned other, unsigned constant);
    uint64_t constant;
    bool needs_denormals; /* otherwise the host flushes them as MODE says */
};

static void subtract_floor(struct wmi_stretch *s, unsigned reg, unsigned other, unsigned below_one)
{
    enum { DOWN = 9 };
    const uint32_t vsubpd = WMI_EVEX(0x5c, WMI_MAP_0F, WMI_PREFIX_66, 1);
    wmi_evex(&s->host, vrndscalepd, other, 0, wmi_zmm(reg), WMI_NO_MASK, DOWN);
    wmi_evex_plain(&s->host, vsubpd, reg, reg, wmi_zmm(other));
    wmi_evex_plain(&s->host, vminpd, reg, below_one, wmi_zmm(reg)); /* a NaN stays */
}

static void invert(struct wmi_stretch *s, unsigned reg, unsigned other, unsigned one)
{
    (void)other;
    wmi_evex_plain(&s->host, vdivpd, reg, one, wmi_zmm(reg));
}

static void take_root(struct wmi_stretch *s, unsigned reg, unsigned other, unsigned constant)
{
    (void)other;
    (void)constant;
    wmi_evex_plain(&s->host, vsqrtpd, reg, 0, wmi_zmm(reg));
}

static void invert_root(struct wmi_stretch *s, unsigned reg, unsigned other, unsigned one)
{
    take_root(s, reg, other, one);
    invert(s, reg, other, one);
}

static void take_significand(struct wmi_stretch *s, unsigned reg, unsigned other, unsigned constant)
{
    enum { HALF_TO_ONE = 2 }; /* the interval; the sign is kept */
    const uint32_t vgetmantpd = WMI_EVEX(0x26, WMI_MAP_0F3A, WMI_PREFIX_66, 1),
                   vpblendmq = WMI_EVEX(0x64, WMI_MAP_0F38, WMI_PREFIX_66, 1);
    (void)constant;
    wmi_evex(&s->host, vgetmantpd, other, 0, wmi_zmm(reg), WMI_NO_MASK, HALF_TO_ONE);
    wmi_evex(&s->host, vfpclasspd, WMI_K + 2, 0, wmi_zmm(reg), WMI_NO_MASK, WMI_IS_ZERO | WMI_IS_INFINITE);
    wmi_evex(&s->host, vpblendmq, reg, other, wmi_zmm(reg), WMI_K + 2, WMI_NO_IMMEDIATE);
}

/* d = the formula of a, by the argument. A NaN leaves for the body. */
bool wmi_emit_one_f64(struct wmi_stretch *s, const struct wmi_step *step)
{
    static const struct formula formulas[] = {
        [WMI_FRACTION] = {subtract_floor, 0x3fefffffffffffff, false},
        [WMI_RECIPROCAL] = {invert, 0x3ff0000000000000, false},
        [WMI_ROOT] = {take_root, 0, false},
        [WMI_RECIPROCAL_ROOT] = {invert_root, 0x3ff0000000000000, false},
        [WMI_SIGNIFICAND] = {take_significand, 0, true},
    };
    const unsigned number = wmi_recipe_of(step)->argument;
    const bool has_denormals = s->block->mode.mode & WMI_MODE_DENORMAL_IN_F64;
    if (!wmi_recipe_allows(s, step) || (formulas[number].needs_denormals && !has_denormals))
        return false;
    const struct wmi_pair a = wmi_vector_use_pair(s, step->a);
    const bool uniform = wmi_pair_is_uniform(&a), masked = s->partial && !uniform;
    struct wmi_pair d = {wmi_stretch_result(s, uniform), wmi_stretch_result(s, uniform)};
    const unsigned spare = wmi_stretch_register(s), other = wmi_stretch_register(s),
                   constant = splat_64(s, formulas[number].constant),
                   infinity = masked ? wmi_vector_splat(s, INFINITY_WITHOUT_SIGN) : 0,
                   magnitude = wmi_vector_splat(s, ~WMI_SIGN_F32);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d.low); i++) {
        const struct joined z = {{d.high.reg[i], spare}};
        join(s, &a, i, &z);
        for (unsigned k = 0; k < 2; k++)
            formulas[number].apply(s, z.reg[k], other, constant);
        if (!masked)
            collect_nans(s, &z, !i);
        take_apart(s, &z, &d, i);
        if (masked)
            collect_active_nans(s, &d, infinity, spare, i);
        if (number == WMI_FRACTION) /* -0 becomes 0 */
            wmi_evex_plain(&s->host, WMI_VPANDD, d.high.reg[i], d.high.reg[i], wmi_zmm(magnitude));
    }
    wmi_kortest(&s->host, WMI_K, WMI_K);
    wmi_stretch_exit_if(s, WMI_IF_NOT_EQUAL);
    wmi_vector_write_pair(s, step->d, &d);
    return true;
}

/* d = a, rounded as the argument says to a whole number. */
bool wmi_emit_round_f64(struct wmi_stretch *s, const struct wmi_step *step)
{
    if (!wmi_recipe_allows(s, step))
        return false;
    const struct wmi_pair a = wmi_vector_use_pair(s, step->a);
    const bool uniform = wmi_pair_is_uniform(&a);
    struct wmi_pair d = {wmi_stretch_result(s, uniform), wmi_stretch_result(s, uniform)};
    const unsigned spare = wmi_stretch_register(s);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d.low); i++) {
        const struct joined z = {{d.high.reg[i], spare}};
        join(s, &a, i, &z);
        for (unsigned k = 0; k < 2; k++)
            wmi_evex(&s->host, vrndscalepd, z.reg[k], 0, wmi_zmm(z.reg[k]), WMI_NO_MASK,
                     wmi_recipe_of(step)->argument);
        take_apart(s, &z, &d, i);
    }
    wmi_vector_write_pair(s, step->d, &d);
    return true;
}

/* The exponent of a as v_frexp_exp has it: 0 for zeros, infinities and NaNs. */
bool wmi_emit_exponent_f64(struct wmi_stretch *s, const struct wmi_step *step)
{
    const uint32_t vgetexppd = WMI_EVEX(0x42, WMI_MAP_0F38, WMI_PREFIX_66, 1),
                   vcvttpd2qq = WMI_EVEX(0x7a, WMI_MAP_0F, WMI_PREFIX_66, 1),
                   vpxorq = WMI_EVEX(0xef, WMI_MAP_0F, WMI_PREFIX_66, 1);
    enum { EVEN = 0x88 };
    if (!wmi_recipe_allows(s, step))
        return false;
    const struct wmi_pair a = wmi_vector_use_pair(s, step->a);
    struct wmi_rows d = wmi_stretch_result(s, wmi_pair_is_uniform(&a));
    const unsigned spare = wmi_stretch_register(s), ones = wmi_vector_splat(s, UINT32_MAX);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++) {
        const struct joined z = {{d.reg[i], spare}};
        join(s, &a, i, &z);
        for (unsigned k = 0; k < 2; k++) {
            const unsigned reg = z.reg[k];
            wmi_evex(&s->host, vfpclasspd, WMI_K, 0, wmi_zmm(reg), WMI_NO_MASK,
                     WMI_IS_NAN | WMI_IS_ZERO | WMI_IS_INFINITE);
            wmi_evex_plain(&s->host, vgetexppd, reg, 0, wmi_zmm(reg));
            wmi_evex_plain(&s->host, vcvttpd2qq, reg, 0, wmi_zmm(reg));
            wmi_evex_plain(&s->host, WMI_VPSUBQ, reg, reg, wmi_zmm(ones));
            wmi_evex(&s->host, vpxorq, reg, reg, wmi_zmm(reg), WMI_K, WMI_NO_IMMEDIATE);
        }
        wmi_evex(&s->host, vshufps, d.reg[i], z.reg[0], wmi_zmm(spare), WMI_NO_MASK, EVEN);
    }
    wmi_stretch_write(s, step->d, &d);
    return true;
}

/* a * 2^b for integers b */
bool wmi_emit_scale_f64(struct wmi_stretch *s, const struct wmi_step *step)
{
    const uint32_t vscalefpd = WMI_EVEX(0x2c, WMI_MAP_0F38, WMI_PREFIX_66, 1),
                   vcvtqq2pd = WMI_EVEX(0xe6, WMI_MAP_0F, WMI_PREFIX_F3, 1),
                   vpsraq = WMI_EVEX(0x72, WMI_MAP_0F, WMI_PREFIX_66, 1);
    if (!wmi_recipe_allows(s, step))
        return false;
    const struct wmi_pair a = wmi_vector_use_pair(s, step->a);
    const struct wmi_rows exponent = wmi_stretch_use(s, step->b, true);
    const struct wmi_pair b = {exponent, exponent};
    const bool uniform = wmi_pair_is_uniform(&a) && exponent.uniform;
    struct wmi_pair d = {wmi_stretch_result(s, uniform), wmi_stretch_result(s, uniform)};
    const struct joined y = take_joined(s, false);
    const unsigned spare = wmi_stretch_register(s);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d.low); i++) {
        const struct joined z = {{d.high.reg[i], spare}};
        join(s, &a, i, &z);
        join(s, &b, i, &y); /* the word twice: signed quadwords, when shifted */
        for (unsigned k = 0; k < 2; k++) {
            wmi_evex(&s->host, vpsraq, WMI_RIGHT_SIGNED, y.reg[k], wmi_zmm(y.reg[k]), WMI_NO_MASK, 32);
            wmi_evex_plain(&s->host, vcvtqq2pd, y.reg[k], 0, wmi_zmm(y.reg[k]));
            wmi_evex_plain(&s->host, vscalefpd, z.reg[k], z.reg[k], wmi_zmm(y.reg[k]));
        }
        take_apart(s, &z, &d, i);
    }
    wmi_vector_write_pair(s, step->d, &d);
    return true;
}

/* ---- compares, conversions, signs ---- */

/* k5 and k6 hold the truth for the numbers of two registers; words of ones for true lanes are put in their
 * order, as results are, and compared once more. */
bool wmi_emit_compare_f64(struct wmi_stretch *s, const struct wmi_step *step)
{
    enum { EVEN = 0x88 };
    const uint32_t vpmovm2q = WMI_EVEX(0x38, WMI_MAP_0F38, WMI_PREFIX_F3, 1);
    const struct wmi_recipe *recipe = wmi_recipe_of(step);
    if (!wmi_recipe_allows(s, step))
        return false;
    const struct wmi_pair a = wmi_vector_use_pair(s, step->a), b = wmi_vector_use_pair(s, step->b);
    if (s->host.vectors->compare_f64) {
        wmi_vector_store_compare_f64(s, recipe->host, &a, &b, recipe->argument, step->d);
        return true;
    }
    struct wmi_rows truth = wmi_stretch_result(s, wmi_pair_is_uniform(&a) && wmi_pair_is_uniform(&b));
    const struct joined x = take_joined(s, wmi_pair_is_uniform(&a)),
                        y = take_joined(s, wmi_pair_is_uniform(&b));
    const unsigned other = wmi_stretch_register(s);
    const struct wmi_rows zero = wmi_vector_uniform(wmi_vector_splat(s, 0));
    for (unsigned i = 0; i < wmi_rows_strips(s, &truth); i++) {
        if (!i || !wmi_pair_is_uniform(&a))
            join(s, &a, i, &x);
        if (!i || !wmi_pair_is_uniform(&b))
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
    struct wmi_pair d = {wmi_stretch_result(s, a.uniform), wmi_stretch_result(s, a.uniform)};
    const struct joined x = take_joined(s, false);
    wmi_move_immediate(&s->host, WMI_R9, (uintptr_t)&wmi_lane_tables);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d.low); i++) {
        const unsigned from = wmi_rows_register(&a, i);
        wmi_evex(&s->host, WMI_VALIGNQ, x.reg[1], from, wmi_zmm(from), WMI_NO_MASK, 4);
        wmi_evex_plain(&s->host, wmi_recipe_of(step)->host, x.reg[0], 0, wmi_zmm(from));
        wmi_evex_plain(&s->host, wmi_recipe_of(step)->host, x.reg[1], 0, wmi_zmm(x.reg[1]));
        wmi_access_split_pairs(s, d.low.reg[i], d.high.reg[i], x.reg[0], wmi_zmm(x.reg[1]));
    }
    s->has_read = true;
    wmi_vector_write_pair(s, step->d, &d);
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
    const struct wmi_pair a = wmi_vector_use_pair(s, step->a);
    struct wmi_rows d = wmi_stretch_result(s, wmi_pair_is_uniform(&a));
    const struct joined x = take_joined(s, false);
    wmi_move_immediate(&s->host, WMI_R9, (uintptr_t)&wmi_lane_tables);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++) {
        wmi_access_join_pairs(s, x.reg[0], x.reg[1], wmi_rows_register(&a.low, i),
                              wmi_rows_register(&a.high, i));
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
