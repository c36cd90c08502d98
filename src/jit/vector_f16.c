/* SPDX-License-Identifier: MIT */
/* Host code of vector steps on f16, which are computed in f32 as in sem/valu_f16_lanes.c. Compiled for waves
 * that round f16 to nearest and keep denormals; NaN results leave for the body. */
#include "arithmetic/float.h"
#include "jit/vector.h"

enum { NEAREST = 0, TOWARD_ZERO = 3 }; /* immediates of VCVTPS2PH */

static bool has_denormals(const struct wmi_stretch *s)
{
    const uint32_t both = WMI_MODE_DENORMAL_IN_F64 | WMI_MODE_DENORMAL_OUT_F64;
    return (s->block->mode.mode & both) == both;
}

static bool is_plain(const struct wmi_stretch *s)
{
    return has_denormals(s) && !(s->block->mode.mode & (WMI_MODE_ROUND_F64 | WMI_MODE_FP16_OVFL));
}

/* d = the f32 of the low halves of a. */
static void widen(struct wmi_stretch *s, unsigned d, unsigned a)
{
    const uint32_t vpmovdw = WMI_EVEX(0x33, WMI_MAP_0F38, WMI_PREFIX_F3, 0),
                   vcvtph2ps = WMI_EVEX(0x13, WMI_MAP_0F38, WMI_PREFIX_66, 0);
    wmi_evex_plain(&s->host, vpmovdw, a, 0, wmi_zmm(d));
    wmi_evex_plain(&s->host, vcvtph2ps, d, 0, wmi_zmm(d));
}

/* d = the f16 of a, with high halves of 0. */
static void narrow(struct wmi_stretch *s, unsigned d, unsigned a, int rounding)
{
    const uint32_t vcvtps2ph = WMI_EVEX(0x1d, WMI_MAP_0F3A, WMI_PREFIX_66, 0),
                   vpmovzxwd = WMI_EVEX(0x33, WMI_MAP_0F38, WMI_PREFIX_66, 0);
    wmi_evex(&s->host, vcvtps2ph, a, 0, wmi_zmm(d), WMI_NO_MASK, rounding);
    wmi_evex_plain(&s->host, vpmovzxwd, d, 0, wmi_zmm(d));
}

static void write_narrow(struct wmi_stretch *s, const struct wmi_step *step, struct wmi_rows *d)
{
    for (unsigned i = 0; i < wmi_rows_strips(s, d); i++)
        narrow(s, d->reg[i], d->reg[i], NEAREST);
    wmi_stretch_write(s, step->d, d);
}

static struct wmi_rows widened(struct wmi_stretch *s, uint32_t row)
{
    const struct wmi_rows a = wmi_stretch_use(s, row, true), d = wmi_stretch_result(s, a.uniform);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++)
        widen(s, d.reg[i], wmi_rows_register(&a, i));
    return d;
}

/* Products are exact in f32; sums to nearest may be rounded twice, see wmi_sum_f16(). */
bool wmi_emit_f16(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_recipe *recipe = wmi_recipe_of(step);
    const bool reversed = recipe->flags & WMI_REVERSED;
    if (!is_plain(s) || !wmi_recipe_allows(s, step))
        return false;
    const struct wmi_rows a = widened(s, reversed ? step->b : step->a),
                          b = widened(s, reversed ? step->a : step->b);
    struct wmi_rows d = wmi_vector_two(s, recipe->host, &a, &b, true);
    wmi_vector_leave_for_nan(s, &d);
    write_narrow(s, step, &d);
    return true;
}

/* What leave_if_doubtful() needs. */
struct doubt {
    unsigned halfway, least, rest, ones, scratch;
};

static struct doubt use_doubt(struct wmi_stretch *s)
{
    enum { REST = 0x1fff, HALFWAY = 0x1000, LEAST_TWICE = 0x71000000 }; /* 2^-14, shifted left */
    return (struct doubt){.halfway = wmi_vector_splat(s, HALFWAY),
                          .least = wmi_vector_splat(s, LEAST_TWICE - 1),
                          .rest = wmi_vector_splat(s, REST),
                          .ones = wmi_vector_splat(s, UINT32_MAX),
                          .scratch = wmi_stretch_register(s)};
}

/* Sums in f32 that lie halfway between two f16, or where f16 are denormal, may not be rounded twice. They
 * leave for the body, except 0, which inactive lanes have. */
static void leave_if_doubtful(struct wmi_stretch *s, const struct doubt *doubt, const struct wmi_rows *sum)
{
    const unsigned t = doubt->scratch, found = WMI_K, k = WMI_K + 1;
    for (unsigned i = 0; i < wmi_rows_strips(s, sum); i++) {
        wmi_evex_plain(&s->host, WMI_VPANDD, t, doubt->rest, wmi_zmm(sum->reg[i]));
        wmi_vector_compare(s, WMI_VPCMPD, i ? k : found, t, wmi_zmm(doubt->halfway), WMI_NO_MASK, WMI_EQUAL);
        if (i)
            wmi_mask(&s->host, WMI_KOR, found, found, k);
        wmi_vector_shift(s, WMI_LEFT, t, wmi_zmm(sum->reg[i]), 1);
        wmi_evex_plain(&s->host, WMI_VPADDD, t, t, wmi_zmm(doubt->ones));
        wmi_vector_compare(s, WMI_VPCMPUD, k, t, wmi_zmm(doubt->least), WMI_NO_MASK, WMI_BELOW);
        wmi_mask(&s->host, WMI_KOR, found, found, k);
    }
    wmi_kortest(&s->host, found, found);
    wmi_stretch_exit_if(s, WMI_IF_NOT_EQUAL);
}

/* d = the f32 of the low or the high half of a. */
static void widen_half(struct wmi_stretch *s, unsigned d, unsigned a, bool high)
{
    if (high)
        wmi_vector_shift(s, WMI_RIGHT, d, wmi_zmm(a), 16);
    widen(s, d, high ? d : a);
}

/* d = instruction(a, b) of one half of each source, or, if there is a c, a * b + c; in f32. Changes x and y.
 */
static void put_half(struct wmi_stretch *s, uint32_t instruction, bool high, const struct wmi_rows *d,
                     const struct wmi_rows *a, const struct wmi_rows *b, const struct wmi_rows *c, unsigned x,
                     unsigned y)
{
    for (unsigned i = 0; i < wmi_rows_strips(s, d); i++) {
        if (!i || !a->uniform)
            widen_half(s, x, wmi_rows_register(a, i), high);
        if (!i || !b->uniform)
            widen_half(s, y, wmi_rows_register(b, i), high);
        if (c)
            widen_half(s, d->reg[i], wmi_rows_register(c, i), high);
        wmi_evex(&s->host, instruction, d->reg[i], x, wmi_zmm(y), wmi_vector_active_or_zero(s, d->uniform, i),
                 WMI_NO_IMMEDIATE);
    }
}

/* The argument: whether b is the addend instead of c. */
bool wmi_emit_fused_f16(struct wmi_stretch *s, const struct wmi_step *step)
{
    const bool middle = wmi_recipe_of(step)->argument;
    if (!is_plain(s) || !wmi_recipe_allows(s, step))
        return false;
    const struct wmi_rows a = wmi_stretch_use(s, step->a, true),
                          b = wmi_stretch_use(s, middle ? step->c : step->b, true),
                          c = wmi_stretch_use(s, middle ? step->b : step->c, true);
    struct wmi_rows d = wmi_stretch_result(s, a.uniform && b.uniform && c.uniform);
    const unsigned x = wmi_stretch_register(s), y = wmi_stretch_register(s);
    const struct doubt doubt = use_doubt(s);
    put_half(s, WMI_VFMADD231PS, false, &d, &a, &b, &c, x, y);
    wmi_vector_leave_for_nan(s, &d);
    leave_if_doubtful(s, &doubt, &d);
    write_narrow(s, step, &d);
    return true;
}

/* Both halves. The argument: whether there is a c, that is, a sum that may not be rounded twice. */
bool wmi_emit_packed_f16(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_recipe *recipe = wmi_recipe_of(step);
    const bool fused = recipe->argument;
    if (!is_plain(s) || !wmi_recipe_allows(s, step))
        return false;
    const struct wmi_rows a = wmi_stretch_use(s, step->a, true), b = wmi_stretch_use(s, step->b, true),
                          c = fused ? wmi_stretch_use(s, step->c, true) : b;
    const bool uniform = a.uniform && b.uniform && c.uniform;
    struct wmi_rows half[2] = {wmi_stretch_result(s, uniform), wmi_stretch_result(s, uniform)};
    const unsigned x = wmi_stretch_register(s), y = wmi_stretch_register(s);
    const struct doubt doubt = fused ? use_doubt(s) : (struct doubt){0};
    for (unsigned high = 0; high < 2; high++)
        put_half(s, recipe->host, high, &half[high], &a, &b, fused ? &c : NULL, x, y);
    for (unsigned high = 0; high < 2; high++) {
        wmi_vector_leave_for_nan(s, &half[high]);
        if (fused)
            leave_if_doubtful(s, &doubt, &half[high]);
    }
    for (unsigned i = 0; i < wmi_rows_strips(s, &half[0]); i++) {
        narrow(s, half[0].reg[i], half[0].reg[i], NEAREST);
        narrow(s, half[1].reg[i], half[1].reg[i], NEAREST);
        wmi_vector_shift(s, WMI_LEFT, half[1].reg[i], wmi_zmm(half[1].reg[i]), 16);
        wmi_evex_plain(&s->host, WMI_VPORD, half[0].reg[i], half[0].reg[i], wmi_zmm(half[1].reg[i]));
    }
    wmi_stretch_write(s, step->d, &half[0]);
    return true;
}

bool wmi_emit_compare_f16(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_recipe *recipe = wmi_recipe_of(step);
    if (!has_denormals(s))
        return false;
    const struct wmi_rows a = widened(s, step->a), b = widened(s, step->b);
    wmi_vector_store_compare(s, recipe->host, &a, &b, recipe->argument, step->d);
    return true;
}

/* ---- sources ---- */

/* The f32 of the half that x selects. */
bool wmi_emit_widen_f16(struct wmi_stretch *s, const struct wmi_step *step)
{
    if (!has_denormals(s))
        return false;
    const struct wmi_rows a = wmi_stretch_use(s, step->a, true);
    struct wmi_rows d = wmi_stretch_result(s, a.uniform);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++)
        widen_half(s, d.reg[i], wmi_rows_register(&a, i), step->x);
    wmi_stretch_write_all_lanes(s, step->d, &d);
    return true;
}

/* `kept` bits of a, with the sign of `changed` halves changed. */
static void write_signs(struct wmi_stretch *s, const struct wmi_step *step, uint32_t kept, uint32_t changed)
{
    const struct wmi_rows a = wmi_stretch_use(s, step->a, false);
    struct wmi_rows d = wmi_stretch_result(s, a.uniform);
    const unsigned mask = wmi_vector_splat(s, kept), signs = wmi_vector_splat(s, changed);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++) {
        wmi_evex_plain(&s->host, WMI_VPANDD, d.reg[i], mask, wmi_rows_operand(s, &a, i));
        wmi_evex_plain(&s->host, WMI_VPXORD, d.reg[i], d.reg[i], wmi_zmm(signs));
    }
    wmi_stretch_write_all_lanes(s, step->d, &d);
}

enum { LOW_SIGN = 0x8000 };
static const uint32_t high_sign = 0x80000000u;

bool wmi_emit_modify_f16(struct wmi_stretch *s, const struct wmi_step *step)
{
    write_signs(s, step, step->x & WMI_MODIFY_ABS ? LOW_SIGN - 1 : 2 * LOW_SIGN - 1,
                step->x & WMI_MODIFY_NEG ? LOW_SIGN : 0);
    return true;
}

/* Bits of x: NEG of the low and the high half, ABS of these. */
bool wmi_emit_modify_v2f16(struct wmi_stretch *s, const struct wmi_step *step)
{
    write_signs(s, step, ~((step->x & 4 ? LOW_SIGN : 0) | (step->x & 8 ? high_sign : 0)),
                (step->x & 1 ? LOW_SIGN : 0) | (step->x & 2 ? high_sign : 0));
    return true;
}

bool wmi_emit_high_half(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_rows a = wmi_stretch_use(s, step->a, false);
    struct wmi_rows d = wmi_stretch_result(s, a.uniform);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++)
        wmi_vector_shift(s, WMI_RIGHT, d.reg[i], wmi_rows_operand(s, &a, i), 16);
    wmi_stretch_write_all_lanes(s, step->d, &d);
    return true;
}

/* ---- conversions: the host quiets NaNs as the bodies do ---- */

bool wmi_emit_from_f16(struct wmi_stretch *s, const struct wmi_step *step)
{
    if (!has_denormals(s))
        return false;
    struct wmi_rows d = widened(s, step->a);
    wmi_stretch_write(s, step->d, &d);
    return true;
}

/* An f32 that is denormal becomes 0, whether the host flushes it or not. */
bool wmi_emit_to_f16(struct wmi_stretch *s, const struct wmi_step *step)
{
    if (!is_plain(s))
        return false;
    const struct wmi_rows a = wmi_stretch_use(s, step->a, true);
    struct wmi_rows d = wmi_stretch_result(s, a.uniform);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++)
        narrow(s, d.reg[i], wmi_rows_register(&a, i), NEAREST);
    wmi_stretch_write(s, step->d, &d);
    return true;
}

/* The f16 of a and b in the two halves, toward zero. */
bool wmi_emit_pack_f16(struct wmi_stretch *s, const struct wmi_step *step)
{
    if (!has_denormals(s))
        return false;
    const struct wmi_rows a = wmi_stretch_use(s, step->a, true), b = wmi_stretch_use(s, step->b, true);
    struct wmi_rows d = wmi_stretch_result(s, a.uniform && b.uniform);
    const unsigned low = wmi_stretch_register(s);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++) {
        narrow(s, d.reg[i], wmi_rows_register(&b, i), TOWARD_ZERO);
        wmi_vector_shift(s, WMI_LEFT, d.reg[i], wmi_zmm(d.reg[i]), 16);
        narrow(s, low, wmi_rows_register(&a, i), TOWARD_ZERO);
        wmi_evex_plain(&s->host, WMI_VPORD, d.reg[i], d.reg[i], wmi_zmm(low));
    }
    wmi_stretch_write(s, step->d, &d);
    return true;
}
