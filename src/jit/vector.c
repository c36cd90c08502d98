/* SPDX-License-Identifier: MIT */
/* Host code of vector steps: a table of recipes, and the functions that follow them.
 *
 * Results are those of the bodies in src/sem, bit for bit. What is rare there - NaNs, numbers out of the
 * range of a conversion - leaves the compiled code before the step, and the body executes it. */
#include "jit/vector.h"
#include "arithmetic/float.h"
#include "arithmetic/host_float.h"
#include "jit/half_masks.h"
#include "jit/masks.h"
#include "jit/sums.h"

/* ---- instructions ---- */

unsigned wmi_vector_splat(struct wmi_stretch *s, uint32_t value)
{
    const unsigned reg = wmi_stretch_result(s, true).reg[0];
    if (value == UINT32_MAX) {
        wmi_evex(&s->host, WMI_VPTERNLOGD, reg, reg, wmi_zmm(reg), WMI_NO_MASK, 0xff);
    } else if (!value) {
        wmi_evex_plain(&s->host, WMI_VPXORD, reg, reg, wmi_zmm(reg));
    } else {
        wmi_move_immediate(&s->host, WMI_RAX, value);
        wmi_evex_plain(&s->host, WMI_VPBROADCASTD_GPR, reg, 0, wmi_zmm(WMI_RAX));
    }
    return reg;
}

unsigned wmi_vector_active(const struct wmi_stretch *s, bool uniform, unsigned strip)
{
    return s->partial && !uniform ? WMI_K_EXEC + s->first_strip + strip : WMI_NO_MASK;
}

unsigned wmi_vector_active_or_zero(const struct wmi_stretch *s, bool uniform, unsigned strip)
{
    const unsigned mask = wmi_vector_active(s, uniform, strip);
    if (s->by_halves) /* only NaNs of active lanes are collected there */
        return WMI_NO_MASK;
    return mask ? mask | WMI_ZEROING : mask;
}

void wmi_vector_leave_for_nan(struct wmi_stretch *s, const struct wmi_rows *d)
{
    const unsigned strips = wmi_rows_strips(s, d);
    if (s->by_halves) {
        s->host.vectors->collect_nans(&s->host, d->reg[0], wmi_vector_active(s, d->uniform, 0));
        s->halves.may_fail = true;
        return;
    }
    if (s->host.vectors->test_nans) {
        s->host.vectors->test_nans(&s->host, d->reg, strips);
        wmi_stretch_exit_if(s, WMI_IF_NOT_EQUAL);
        return;
    }
    wmi_vector_compare(s, WMI_VCMPPS, WMI_K, d->reg[0], wmi_zmm(d->reg[strips > 1 ? 1 : 0]), WMI_NO_MASK,
                       WMI_UNORDERED);
    if (strips > 2)
        wmi_vector_compare(s, WMI_VCMPPS, WMI_K + 1, d->reg[2], wmi_zmm(d->reg[3]), WMI_NO_MASK,
                           WMI_UNORDERED);
    wmi_kortest(&s->host, WMI_K, strips > 2 ? WMI_K + 1 : WMI_K);
    wmi_stretch_exit_if(s, WMI_IF_NOT_EQUAL);
}

void wmi_vector_leave_if(struct wmi_stretch *s, uint32_t instruction, const struct wmi_rows *a,
                         const struct wmi_rows *b, int predicate)
{
    const bool uniform = a->uniform && b->uniform;
    const unsigned strips = uniform ? 1 : s->strips;
    for (unsigned i = 0; i < strips; i++) {
        wmi_vector_compare(s, instruction, i ? WMI_K + 1 : WMI_K, wmi_rows_register(a, i),
                           wmi_rows_operand(s, b, i), wmi_vector_active(s, uniform, i), predicate);
        if (i)
            wmi_mask(&s->host, WMI_KOR, WMI_K, WMI_K, WMI_K + 1);
    }
    wmi_kortest(&s->host, WMI_K, WMI_K);
    wmi_stretch_exit_if(s, WMI_IF_NOT_EQUAL);
}

bool wmi_recipe_allows(const struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_recipe *recipe = wmi_recipe_of(step);
    const uint32_t word = s->block->mode.mxcsr32;
    return !(recipe->flags & WMI_CLAMPS && step->y & 1) &&
           !(recipe->flags & WMI_NEEDS_AVX512 && !wmi_has_avx512(s)) &&
           !(recipe->flags & WMI_FLUSHES && wmi_host_float_flush(word) != word) &&
           !(recipe->flags & WMI_NEAREST && wmi_host_float_nearest(word) != word) &&
           !(recipe->flags & WMI_AS_F32 && s->block->mode.mxcsr64 != word);
}

/* ---- one result from one, two or three sources ---- */

static void put_two(struct wmi_stretch *s, uint32_t instruction, const struct wmi_rows *d,
                    const struct wmi_rows *a, const struct wmi_rows *b, bool zeroes)
{
    for (unsigned i = 0; i < wmi_rows_strips(s, d); i++)
        wmi_evex(&s->host, instruction, d->reg[i], wmi_rows_register(a, i), wmi_rows_operand(s, b, i),
                 zeroes ? wmi_vector_active_or_zero(s, d->uniform, i) : WMI_NO_MASK, WMI_NO_IMMEDIATE);
}

struct wmi_rows wmi_vector_two(struct wmi_stretch *s, uint32_t instruction, const struct wmi_rows *a,
                               const struct wmi_rows *b, bool zeroes)
{
    struct wmi_rows d = wmi_stretch_result(s, a->uniform && b->uniform);
    put_two(s, instruction, &d, a, b, zeroes);
    return d;
}

/* The same with registers of the step as `a`, which get the result if they are enough. */
static struct wmi_rows two_in_place(struct wmi_stretch *s, uint32_t instruction, const struct wmi_rows *a,
                                    const struct wmi_rows *b)
{
    if (a->uniform && !b->uniform)
        return wmi_vector_two(s, instruction, a, b, false);
    put_two(s, instruction, a, a, b, false);
    return *a;
}

static bool emit_two(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_recipe *recipe = wmi_recipe_of(step);
    if (!wmi_recipe_allows(s, step))
        return false;
    bool reversed = recipe->flags & WMI_REVERSED;
    if (recipe->flags & WMI_COMMUTES)
        reversed =
            !wmi_stretch_use(s, step->b, false).in_memory && wmi_stretch_use(s, step->a, false).in_memory;
    const struct wmi_rows a = wmi_stretch_use(s, reversed ? step->b : step->a, true);
    const struct wmi_rows b = wmi_stretch_use(s, reversed ? step->a : step->b, false);
    /* On the host, too, the result of two NaNs is the first one, quieted. */
    const bool settles = reversed && recipe->flags & WMI_SETTLES;
    const bool uniform = a.uniform && b.uniform;
    struct wmi_rows d = settles ? wmi_stretch_result(s, uniform) : wmi_stretch_result_in(s, &a, uniform);
    put_two(s, recipe->host, &d, &a, &b, settles);
    if (settles)
        wmi_vector_leave_for_nan(s, &d);
    wmi_stretch_write(s, step->d, &d);
    return true;
}

/* d = a + b or a - b; with the CLAMP bit, what does not fit becomes the limit: min(a, ~b) + b, max(a, b) - b.
 */
static bool emit_sum(struct wmi_stretch *s, const struct wmi_step *step)
{
    const uint32_t vpminud = WMI_EVEX(0x3b, WMI_MAP_0F38, WMI_PREFIX_66, 0),
                   vpmaxud = WMI_EVEX(0x3f, WMI_MAP_0F38, WMI_PREFIX_66, 0);
    const struct wmi_recipe *recipe = wmi_recipe_of(step);
    const bool reversed = recipe->flags & WMI_REVERSED;
    if (!(step->y & 1))
        return emit_two(s, step);
    const struct wmi_rows a = wmi_stretch_use(s, reversed ? step->b : step->a, true),
                          b = wmi_stretch_use(s, reversed ? step->a : step->b, true);
    struct wmi_rows first;
    if (recipe->host == WMI_VPADDD) {
        const struct wmi_rows ones = wmi_vector_uniform(wmi_vector_splat(s, UINT32_MAX)),
                              most = wmi_vector_two(s, WMI_VPXORD, &b, &ones, false);
        first = wmi_vector_two(s, vpminud, &most, &a, false);
    } else {
        first = wmi_vector_two(s, vpmaxud, &a, &b, false);
    }
    struct wmi_rows d = wmi_vector_two(s, recipe->host, &first, &b, false);
    wmi_stretch_write(s, step->d, &d);
    return true;
}

/* d = instruction(a), with the recipe's argument as immediate if the instruction is of map 0F3A. */
static bool emit_one(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_recipe *recipe = wmi_recipe_of(step);
    const int immediate = (recipe->host >> 8 & 7) == WMI_MAP_0F3A ? recipe->argument : WMI_NO_IMMEDIATE;
    const struct wmi_rows a = wmi_stretch_use(s, step->a, false);
    struct wmi_rows d = wmi_stretch_result_in(s, &a, a.uniform);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++)
        wmi_evex(&s->host, recipe->host, d.reg[i], 0, wmi_rows_operand(s, &a, i), WMI_NO_MASK, immediate);
    wmi_stretch_write(s, step->d, &d);
    return true;
}

struct wmi_rows wmi_vector_copy(struct wmi_stretch *s, const struct wmi_rows *a, bool uniform)
{
    struct wmi_rows d = wmi_stretch_result(s, uniform);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++)
        wmi_evex_plain(&s->host, WMI_VMOVDQA32, d.reg[i], 0, wmi_rows_operand(s, a, i));
    return d;
}

/* Bitwise: the argument is the table of VPTERNLOGD, by a, b, c. */
static bool emit_logic_3(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_rows a = wmi_stretch_use(s, step->a, false), b = wmi_stretch_use(s, step->b, true),
                          c = wmi_stretch_use(s, step->c, false);
    struct wmi_rows d = wmi_stretch_result_in(s, &a, a.uniform && b.uniform && c.uniform);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++)
        wmi_evex_from(&s->host, WMI_VPTERNLOGD, d.reg[i], wmi_rows_operand(s, &a, i),
                      wmi_rows_register(&b, i), wmi_rows_operand(s, &c, i), WMI_NO_MASK,
                      wmi_recipe_of(step)->argument);
    wmi_stretch_write(s, step->d, &d);
    return true;
}

/* The same of a and b: the table has equal entries for both values of the third operand. */
static bool emit_logic_2(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_rows a = wmi_stretch_use(s, step->a, false), b = wmi_stretch_use(s, step->b, true);
    struct wmi_rows d = wmi_vector_copy(s, &a, a.uniform && b.uniform);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++)
        wmi_evex(&s->host, WMI_VPTERNLOGD, d.reg[i], wmi_rows_register(&b, i),
                 wmi_zmm(wmi_rows_register(&b, i)), WMI_NO_MASK, wmi_recipe_of(step)->argument);
    wmi_stretch_write(s, step->d, &d);
    return true;
}

static bool emit_not(struct wmi_stretch *s, const struct wmi_step *step)
{
    enum { NOT_THIRD = 0x55 };
    const struct wmi_rows a = wmi_stretch_use(s, step->a, true);
    struct wmi_rows d = wmi_stretch_result(s, a.uniform);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++)
        wmi_evex(&s->host, WMI_VPTERNLOGD, d.reg[i], wmi_rows_register(&a, i),
                 wmi_zmm(wmi_rows_register(&a, i)), WMI_NO_MASK, NOT_THIRD);
    wmi_stretch_write(s, step->d, &d);
    return true;
}

static bool emit_move(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_rows a = wmi_stretch_use(s, step->a, false);
    struct wmi_rows d = wmi_vector_copy(s, &a, a.uniform);
    wmi_stretch_write(s, step->d, &d);
    wmi_stretch_copies_constant(s, step->a, step->d);
    return true;
}

/* The argument: which sources are multiplied. */
enum { A_TIMES_B, A_TIMES_C };

static bool emit_fused(struct wmi_stretch *s, const struct wmi_step *step)
{
    const bool middle = wmi_recipe_of(step)->argument == A_TIMES_C;
    const struct wmi_rows a = wmi_stretch_use(s, step->a, true),
                          b = wmi_stretch_use(s, middle ? step->c : step->b, false),
                          c = wmi_stretch_use(s, middle ? step->b : step->c, false);
    struct wmi_rows d = wmi_stretch_result(s, a.uniform && b.uniform && c.uniform);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++)
        wmi_evex_from(&s->host, WMI_VFMADD231PS, d.reg[i], wmi_rows_operand(s, &c, i),
                      wmi_rows_register(&a, i), wmi_rows_operand(s, &b, i),
                      wmi_vector_active_or_zero(s, d.uniform, i), WMI_NO_IMMEDIATE);
    wmi_vector_leave_for_nan(s, &d);
    wmi_stretch_write(s, step->d, &d);
    return true;
}

/* (a * b) + c, rounded twice. */
static bool emit_multiply_add(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_recipe *recipe = wmi_recipe_of(step);
    if (!wmi_recipe_allows(s, step))
        return false;
    const bool middle = recipe->argument == A_TIMES_C;
    const struct wmi_rows a = wmi_stretch_use(s, step->a, true),
                          b = wmi_stretch_use(s, middle ? step->c : step->b, false),
                          c = wmi_stretch_use(s, middle ? step->b : step->c, false);
    const struct wmi_rows product = wmi_vector_two(s, WMI_VMULPS, &a, &b, false);
    struct wmi_rows d = wmi_vector_two(s, WMI_VADDPS, &product, &c, true);
    wmi_vector_leave_for_nan(s, &d);
    wmi_stretch_write(s, step->d, &d);
    return true;
}

/* Minimum and maximum of numbers. See wmi_lower_f32(). The argument: how the two orders are joined. */
static bool emit_min_max_f32(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_recipe *recipe = wmi_recipe_of(step);
    const struct wmi_rows a = wmi_stretch_use(s, step->a, true), b = wmi_stretch_use(s, step->b, true);
    wmi_vector_leave_if(s, WMI_VCMPPS, &a, &b, WMI_UNORDERED);
    struct wmi_rows d = wmi_vector_two(s, recipe->host, &a, &b, false);
    const struct wmi_rows other = wmi_vector_two(s, recipe->host, &b, &a, false);
    const bool flush = !(s->block->mode.mode & WMI_MODE_DENORMAL_IN_F32);
    const unsigned exponent = flush ? wmi_vector_splat(s, WMI_EXPONENT_F32) : 0,
                   sign = flush ? wmi_vector_splat(s, WMI_SIGN_F32) : 0;
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++) {
        wmi_evex_plain(&s->host, recipe->host == WMI_VMINPS ? WMI_VPORD : WMI_VPANDD, d.reg[i], d.reg[i],
                       wmi_zmm(other.reg[i]));
        if (flush) {
            wmi_evex_plain(&s->host, WMI_VPTESTNMD, WMI_K, d.reg[i], wmi_zmm(exponent));
            wmi_evex(&s->host, WMI_VPANDD, d.reg[i], d.reg[i], wmi_zmm(sign), WMI_K, WMI_NO_IMMEDIATE);
        }
    }
    wmi_stretch_write(s, step->d, &d);
    return true;
}

/* Converts toward zero. The host gives the recipe's argument, signed or unsigned, for what is out of range.
 */
enum { TO_SIGNED, TO_UNSIGNED };

static bool emit_to_integer(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_recipe *recipe = wmi_recipe_of(step);
    const struct wmi_rows a = wmi_stretch_use(s, step->a, false);
    struct wmi_rows d = wmi_stretch_result(s, a.uniform);
    const struct wmi_rows wrong =
        wmi_vector_uniform(wmi_vector_splat(s, recipe->argument == TO_SIGNED ? 0x80000000u : UINT32_MAX));
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++)
        wmi_evex_plain(&s->host, recipe->host, d.reg[i], 0, wmi_rows_operand(s, &a, i));
    wmi_vector_leave_if(s, WMI_VPCMPD, &d, &wrong, WMI_EQUAL);
    wmi_stretch_write(s, step->d, &d);
    return true;
}

/* f32 of the byte that the argument selects. */
static bool emit_from_byte(struct wmi_stretch *s, const struct wmi_step *step)
{
    const unsigned byte = wmi_recipe_of(step)->argument;
    const struct wmi_rows a = wmi_stretch_use(s, step->a, false);
    struct wmi_rows d = wmi_stretch_result(s, a.uniform);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++) {
        wmi_vector_shift(s, 6, d.reg[i], wmi_rows_operand(s, &a, i), 24 - 8 * byte);
        wmi_vector_shift(s, 2, d.reg[i], wmi_zmm(d.reg[i]), 24);
        wmi_evex_plain(&s->host, wmi_recipe_of(step)->host, d.reg[i], 0, wmi_zmm(d.reg[i]));
    }
    wmi_stretch_write(s, step->d, &d);
    return true;
}

/* ---- shifts ---- */

/* `ends`: the step has nothing else to compute. */
static struct wmi_rows shifted(struct wmi_stretch *s, enum wmi_shift shift, uint32_t value_row,
                               uint32_t amount_row, bool ends)
{
    uint32_t amount;
    if (wmi_stretch_constant(s, amount_row, &amount)) {
        const struct wmi_rows value = wmi_stretch_use(s, value_row, false);
        struct wmi_rows d =
            ends ? wmi_stretch_result_in(s, &value, value.uniform) : wmi_stretch_result(s, value.uniform);
        for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++)
            wmi_vector_shift(s, shift, d.reg[i], wmi_rows_operand(s, &value, i), amount & 31);
        return d;
    }
    const struct wmi_rows value = wmi_stretch_use(s, value_row, true);
    const struct wmi_rows bits = wmi_stretch_use(s, amount_row, false);
    const struct wmi_rows low = wmi_vector_uniform(wmi_vector_splat(s, 31));
    const struct wmi_rows count = wmi_vector_two(s, WMI_VPANDD, &low, &bits, false);
    return wmi_vector_two(s,
                          shift == WMI_LEFT    ? WMI_VPSLLVD
                          : shift == WMI_RIGHT ? WMI_VPSRLVD
                                               : WMI_VPSRAVD,
                          &value, &count, false);
}

/* The amount is the first operand with WMI_REVERSED. */
static bool emit_shift(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_recipe *recipe = wmi_recipe_of(step);
    const bool reversed = recipe->flags & WMI_REVERSED;
    struct wmi_rows d = shifted(s, (enum wmi_shift)recipe->argument, reversed ? step->b : step->a,
                                reversed ? step->a : step->b, true);
    wmi_stretch_write(s, step->d, &d);
    return true;
}

/* (a << b) with c. */
static bool emit_shift_with(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_rows first = shifted(s, WMI_LEFT, step->a, step->b, false);
    const struct wmi_rows c = wmi_stretch_use(s, step->c, false);
    struct wmi_rows d = two_in_place(s, wmi_recipe_of(step)->host, &first, &c);
    wmi_stretch_write(s, step->d, &d);
    return true;
}

/* (a with b) with c: the argument selects the second instruction. */
static bool emit_two_twice(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_recipe *recipe = wmi_recipe_of(step);
    const struct wmi_rows a = wmi_stretch_use(s, step->a, true), b = wmi_stretch_use(s, step->b, false),
                          c = wmi_stretch_use(s, step->c, false);
    const struct wmi_rows first = wmi_vector_two(s, recipe->host, &a, &b, false);
    struct wmi_rows d = two_in_place(s, recipe->argument ? recipe->host : WMI_VPADDD, &first, &c);
    wmi_stretch_write(s, step->d, &d);
    return true;
}

/* (a + b) << c for constant c. */
static bool emit_add_shift(struct wmi_stretch *s, const struct wmi_step *step)
{
    uint32_t amount;
    if (!wmi_stretch_constant(s, step->c, &amount))
        return false;
    const struct wmi_rows a = wmi_stretch_use(s, step->a, true), b = wmi_stretch_use(s, step->b, false);
    struct wmi_rows d = wmi_vector_two(s, WMI_VPADDD, &a, &b, false);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++)
        wmi_vector_shift(s, WMI_LEFT, d.reg[i], wmi_zmm(d.reg[i]), amount & 31);
    wmi_stretch_write(s, step->d, &d);
    return true;
}

/* {a, b} >> c units of 1 or 8 bits, up to `most`, for amounts in a row. A shift by 32 gives 0. */
static bool put_align_by_row(struct wmi_stretch *s, const struct wmi_step *step, unsigned unit, unsigned most)
{
    enum { BYTE_SHIFT = 3 };
    const struct wmi_rows a = wmi_stretch_use(s, step->a, true), b = wmi_stretch_use(s, step->b, true),
                          c = wmi_stretch_use(s, step->c, false);
    struct wmi_rows d = wmi_stretch_result(s, a.uniform && b.uniform && c.uniform);
    const unsigned mask = wmi_vector_splat(s, most), all = wmi_vector_splat(s, 32),
                   t = wmi_stretch_register(s);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++) {
        wmi_evex_plain(&s->host, WMI_VPANDD, t, mask, wmi_rows_operand(s, &c, i));
        if (unit > 1)
            wmi_vector_shift(s, WMI_LEFT, t, wmi_zmm(t), BYTE_SHIFT);
        wmi_evex_plain(&s->host, WMI_VPSRLVD, d.reg[i], wmi_rows_register(&b, i), wmi_zmm(t));
        wmi_evex_plain(&s->host, WMI_VPSUBD, t, all, wmi_zmm(t));
        wmi_evex_plain(&s->host, WMI_VPSLLVD, t, wmi_rows_register(&a, i), wmi_zmm(t));
        wmi_evex_plain(&s->host, WMI_VPORD, d.reg[i], d.reg[i], wmi_zmm(t));
    }
    wmi_stretch_write(s, step->d, &d);
    return true;
}

static bool put_rotation(struct wmi_stretch *s, const struct wmi_step *step, unsigned count)
{
    const struct wmi_rows a = wmi_stretch_use(s, step->a, false);
    struct wmi_rows d = wmi_stretch_result_in(s, &a, a.uniform);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++)
        wmi_vector_shift(s, WMI_ROTATE_RIGHT, d.reg[i], wmi_rows_operand(s, &a, i), count);
    wmi_stretch_write(s, step->d, &d);
    return true;
}

/* {a, b} >> c; the argument is the size of its unit in bits. */
static bool emit_align(struct wmi_stretch *s, const struct wmi_step *step)
{
    uint32_t amount;
    const unsigned unit = wmi_recipe_of(step)->argument, most = 32 / unit - 1;
    if (!wmi_stretch_constant(s, step->c, &amount))
        return put_align_by_row(s, step, unit, most);
    const unsigned count = unit * (amount & most);
    if (step->a == step->b)
        return put_rotation(s, step, count);
    const struct wmi_rows a = wmi_stretch_use(s, step->a, false), b = wmi_stretch_use(s, step->b, false);
    struct wmi_rows d = wmi_stretch_result(s, a.uniform && b.uniform);
    const unsigned high = wmi_stretch_register(s);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++) {
        wmi_vector_shift(s, WMI_RIGHT, d.reg[i], wmi_rows_operand(s, &b, i), count);
        if (count) {
            wmi_vector_shift(s, WMI_LEFT, high, wmi_rows_operand(s, &a, i), 32 - count);
            wmi_evex_plain(&s->host, WMI_VPORD, d.reg[i], d.reg[i], wmi_zmm(high));
        }
    }
    wmi_stretch_write(s, step->d, &d);
    return true;
}

/* The field of a at bit b, c bits wide, both constant; the argument is the shift that extends it. */
static bool emit_field(struct wmi_stretch *s, const struct wmi_step *step)
{
    uint32_t first, width;
    if (!wmi_stretch_constant(s, step->b, &first) || !wmi_stretch_constant(s, step->c, &width))
        return false;
    first &= 31;
    width &= 31;
    if (!width)
        return false;
    const unsigned above = first + width < 32 ? 32 - first - width : 0;
    const struct wmi_rows a = wmi_stretch_use(s, step->a, false);
    struct wmi_rows d = wmi_stretch_result(s, a.uniform);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++) {
        wmi_vector_shift(s, WMI_LEFT, d.reg[i], wmi_rows_operand(s, &a, i), above);
        wmi_vector_shift(s, wmi_recipe_of(step)->argument, d.reg[i], wmi_zmm(d.reg[i]), above + first);
    }
    wmi_stretch_write(s, step->d, &d);
    return true;
}

/* ---- products ---- */

/* The low 24 bits, extended by the shift. */
static struct wmi_rows low_24(struct wmi_stretch *s, uint32_t row, enum wmi_shift shift)
{
    const struct wmi_rows a = wmi_stretch_use(s, row, false);
    struct wmi_rows d = wmi_stretch_result(s, a.uniform);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++) {
        wmi_vector_shift(s, WMI_LEFT, d.reg[i], wmi_rows_operand(s, &a, i), 8);
        wmi_vector_shift(s, shift, d.reg[i], wmi_zmm(d.reg[i]), 8);
    }
    return d;
}

static bool emit_multiply_24(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_recipe *recipe = wmi_recipe_of(step);
    if (!wmi_recipe_allows(s, step))
        return false;
    const struct wmi_rows a = low_24(s, step->a, (enum wmi_shift)recipe->argument),
                          b = low_24(s, step->b, (enum wmi_shift)recipe->argument);
    struct wmi_rows d = wmi_vector_two(s, WMI_VPMULLD, &a, &b, false);
    if (recipe->host) {
        const struct wmi_rows c = wmi_stretch_use(s, step->c, false);
        d = wmi_vector_two(s, recipe->host, &d, &c, false);
    }
    wmi_stretch_write(s, step->d, &d);
    return true;
}

static bool emit_multiply_high(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_rows a = wmi_stretch_use(s, step->a, true), b = wmi_stretch_use(s, step->b, true);
    struct wmi_rows d = wmi_vector_high_product(s, &a, &b, false);
    wmi_stretch_write(s, step->d, &d);
    return true;
}

/* ---- lane masks ---- */

/* Stores the 16 bits of a strip. What reads the mask as a whole soon after has to wait for these stores, so
 * compares, which scalar instructions read, join them first. */
static void store_strip_mask(struct wmi_stretch *s, unsigned k, uint32_t place, unsigned strip)
{
    wmi_kmov_store(&s->host, k, WMI_FRAME, (int32_t)(place + 2 * strip), 2);
}

/* Masks of half strips: the one that the step writes to the place, or WMI_NO_MASK, and no code will be made;
 * the bits of one that has been computed. */
static unsigned begin_half_mask(struct wmi_stretch *s, uint32_t place)
{
    const unsigned number = wmi_stretch_add_half_mask(s, place);
    if (number != WMI_LANE_MASKS)
        return WMI_K_LANES + number;
    s->host.needs_both = true;
    return WMI_NO_MASK;
}

static void end_half_mask(struct wmi_stretch *s, unsigned k)
{
    const struct wmi_half_mask *mask = &s->halves.mask[k - WMI_K_LANES];
    if (mask->is_collected)
        s->host.vectors->collect_bits(&s->host, mask->reg,
                                      s->first_strip * WMI_STRIP_LANES +
                                          (s->host.only_half - 1u) * WMI_STRIP_LANES / 2);
}

/* Of rows, or of f64 in pairs of rows. */
struct comparison {
    uint32_t instruction;
    int predicate;
    const struct wmi_rows *a, *b;
    const struct wmi_pair *pair_a, *pair_b;
};

static void compare_strip(struct wmi_stretch *s, const struct comparison *c, unsigned k, unsigned strip)
{
    const unsigned mask = wmi_vector_active(s, false, strip);
    if (c->pair_a) {
        const struct wmi_host_pair a = wmi_vector_operands(s, c->pair_a, strip),
                                   b = wmi_vector_operands(s, c->pair_b, strip);
        s->host.vectors->compare_f64(&s->host, c->instruction, k, &a, &b, mask, c->predicate);
        return;
    }
    wmi_vector_compare(s, c->instruction, k, wmi_rows_register(c->a, strip), wmi_rows_operand(s, c->b, strip),
                       mask, c->predicate);
}

static void store_comparison(struct wmi_stretch *s, const struct comparison *c, uint32_t place)
{
    if (s->by_halves) {
        const unsigned k = begin_half_mask(s, place);
        if (k) {
            compare_strip(s, c, k, 0);
            end_half_mask(s, k);
        }
        return;
    }
    for (unsigned i = 0; i < s->strips; i += 2) {
        const unsigned joined = WMI_K + i / 2, k = s->partial ? joined : WMI_K_HELD + i;
        for (unsigned j = 0; j < 2; j++)
            compare_strip(s, c, k + j, i + j);
        wmi_kunpack(&s->host, joined, k + 1, k, 16);
    }
    if (s->strips == 4)
        wmi_kunpack(&s->host, WMI_K, WMI_K + 1, WMI_K, 32);
    wmi_kmov_store(&s->host, WMI_K, WMI_FRAME, (int32_t)place, 2 * s->strips);
    wmi_stretch_hold_mask(s, place);
}

void wmi_vector_store_compare(struct wmi_stretch *s, uint32_t instruction, const struct wmi_rows *a,
                              const struct wmi_rows *b, int predicate, uint32_t place)
{
    store_comparison(s, &(struct comparison){instruction, predicate, .a = a, .b = b}, place);
}

void wmi_vector_store_compare_f64(struct wmi_stretch *s, uint32_t instruction, const struct wmi_pair *a,
                                  const struct wmi_pair *b, int predicate, uint32_t place)
{
    store_comparison(s, &(struct comparison){instruction, predicate, .pair_a = a, .pair_b = b}, place);
}

/* The register with the mask at the place of the frame, in lanes of a strip: `k`, if it must be loaded. */
static unsigned strip_mask(struct wmi_stretch *s, unsigned k, uint32_t place, unsigned strip)
{
    const unsigned number = s->first_strip + strip, in_run = wmi_stretch_find_half_mask(s, place);
    if (in_run != WMI_LANE_MASKS)
        return WMI_K_LANES + in_run;
    if (wmi_stretch_holds_mask(s, place))
        return WMI_K_HELD + number;
    wmi_kmov_load(&s->host, k, WMI_FRAME, (int32_t)(place + 2 * number));
    return k;
}

static bool emit_compare(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_recipe *recipe = wmi_recipe_of(step);
    if (wmi_stretch_drops_mask(s, step->d, s->at))
        return true;
    if (wmi_mask_lasts(s)) {
        if (s->by_halves)
            return false;
        wmi_put_lasting_mask(s, step, recipe->host, recipe->argument);
        return true;
    }
    const struct wmi_rows a = wmi_stretch_use(s, step->a, true), b = wmi_stretch_use(s, step->b, false);
    wmi_vector_store_compare(s, recipe->host, &a, &b, recipe->argument, step->d);
    return true;
}

static bool emit_select(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_rows a = wmi_stretch_use(s, step->a, true), b = wmi_stretch_use(s, step->b, false);
    struct wmi_rows d = wmi_stretch_result(s, false);
    for (unsigned i = 0; i < s->strips; i++) {
        const unsigned k = strip_mask(s, WMI_K + i % 3, step->c, i);
        wmi_evex(&s->host, WMI_VPBLENDMD, d.reg[i], wmi_rows_register(&a, i), wmi_rows_operand(s, &b, i), k,
                 WMI_NO_IMMEDIATE);
    }
    wmi_stretch_write(s, step->d, &d);
    return true;
}

/* The same as emit_carry() for a half strip. */
static void carry_half(struct wmi_stretch *s, const struct wmi_step *step, const struct wmi_rows *a,
                       const struct wmi_rows *b, struct wmi_rows *d)
{
    const struct wmi_recipe *recipe = wmi_recipe_of(step);
    const bool carries = !wmi_stretch_drops_mask(s, step->e, s->at);
    const unsigned in = recipe->argument ? strip_mask(s, WMI_K, step->c, 0) : WMI_NO_MASK,
                   out = carries ? begin_half_mask(s, step->e) : WMI_NO_MASK;
    s->host.vectors->carry_half(&s->host, d->reg[0], wmi_rows_register(a, 0), wmi_rows_operand(s, b, 0),
                                recipe->host == WMI_VPADDD, in, out, wmi_vector_active(s, false, 0));
    if (out)
        end_half_mask(s, out);
    wmi_stretch_write(s, step->d, d);
}

/* d = a + b + carry in, or a - b - borrow in; the argument says whether there is one. The mask at e receives
 * the carries of active lanes. */
static bool emit_carry(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_recipe *recipe = wmi_recipe_of(step);
    if (!wmi_recipe_allows(s, step))
        return false;
    const bool adds = recipe->host == WMI_VPADDD, reversed = recipe->flags & WMI_REVERSED;
    const struct wmi_rows a = wmi_stretch_use(s, reversed ? step->b : step->a, true),
                          b = wmi_stretch_use(s, reversed ? step->a : step->b, false);
    struct wmi_rows d = wmi_stretch_result(s, false);
    if (s->by_halves) {
        carry_half(s, step, &a, &b, &d);
        return true;
    }
    const unsigned ones = recipe->argument ? wmi_vector_splat(s, UINT32_MAX) : 0;
    const unsigned over = WMI_K, further = WMI_K + 2;
    const bool carries = !wmi_stretch_drops_mask(s, step->e, s->at);
    for (unsigned i = 0; i < s->strips; i++) {
        const unsigned from = wmi_rows_register(&a, i), mask = wmi_vector_active(s, false, i);
        wmi_evex_plain(&s->host, recipe->host, d.reg[i], from, wmi_rows_operand(s, &b, i));
        /* A sum below an addend has wrapped, and so has a difference above what it was taken from. */
        if (adds && carries)
            wmi_vector_compare(s, WMI_VPCMPUD, over, d.reg[i], wmi_zmm(from), mask, WMI_BELOW);
        else if (carries)
            wmi_vector_compare(s, WMI_VPCMPUD, over, from, wmi_rows_operand(s, &b, i), mask, WMI_BELOW);
        if (recipe->argument) {
            const unsigned in = strip_mask(s, WMI_K + 1, step->c, i);
            /* With the carry in, ones become zero; with the borrow in, zero becomes ones. */
            wmi_evex(&s->host, adds ? WMI_VPSUBD : WMI_VPADDD, d.reg[i], d.reg[i], wmi_zmm(ones), in,
                     WMI_NO_IMMEDIATE);
            if (!carries)
                continue;
            if (!adds) {
                wmi_vector_compare(s, WMI_VPCMPUD, further, d.reg[i], wmi_zmm(ones), in, WMI_EQUAL);
            } else {
                wmi_evex(&s->host, WMI_VPTESTNMD, further, d.reg[i], wmi_zmm(d.reg[i]), in, WMI_NO_IMMEDIATE);
            }
            if (mask)
                wmi_mask(&s->host, WMI_KAND, further, further, mask);
            wmi_mask(&s->host, WMI_KOR, over, over, further);
        }
        if (carries)
            store_strip_mask(s, over, step->e, i);
    }
    wmi_stretch_write(s, step->d, &d);
    return true;
}

/* A source that is a row, or a scalar word that all lanes get. */
static struct wmi_rows row_or_scalar(struct wmi_stretch *s, uint32_t place, bool scalar)
{
    if (!scalar)
        return wmi_stretch_use(s, place, true);
    const unsigned reg = wmi_stretch_register(s);
    wmi_evex_plain(&s->host, WMI_VPBROADCASTD_MEMORY, reg, 0, wmi_at(WMI_FRAME, (int32_t)place));
    return wmi_vector_uniform(reg);
}

/* {high, low} = {c, a} + {e, b}; low may be a, and high c. The mask at *place, if there is one, receives the
 * carries of active lanes. */
static void add_pairs(struct wmi_stretch *s, const struct wmi_rows *a, const struct wmi_rows *b,
                      const struct wmi_rows *c, const struct wmi_rows *e, const struct wmi_rows *low,
                      const struct wmi_rows *high, const uint32_t *place)
{
    const bool by_host = !place && s->host.vectors->add_64;
    const unsigned ones = by_host ? 0 : wmi_vector_splat(s, UINT32_MAX), carry = WMI_K, over = WMI_K + 1,
                   further = WMI_K + 2;
    for (unsigned i = 0; i < wmi_rows_strips(s, low); i++) {
        const unsigned from = wmi_rows_register(a, i), from_high = wmi_rows_register(c, i),
                       to_high = high->reg[i], mask = wmi_vector_active(s, false, i);
        if (by_host) {
            const struct wmi_host_pair addend = {wmi_rows_operand(s, b, i), wmi_rows_operand(s, e, i)};
            s->host.vectors->add_64(&s->host, low->reg[i], to_high, from, from_high, &addend);
            continue;
        }
        wmi_evex_plain(&s->host, WMI_VPADDD, low->reg[i], from, wmi_rows_operand(s, b, i));
        wmi_vector_compare(s, WMI_VPCMPUD, carry, low->reg[i], wmi_rows_operand(s, b, i), WMI_NO_MASK,
                           WMI_BELOW);
        wmi_evex_plain(&s->host, WMI_VPADDD, to_high, from_high, wmi_rows_operand(s, e, i));
        if (place)
            wmi_vector_compare(s, WMI_VPCMPUD, over, to_high, wmi_rows_operand(s, e, i), mask, WMI_BELOW);
        wmi_evex(&s->host, WMI_VPSUBD, to_high, to_high, wmi_zmm(ones), carry, WMI_NO_IMMEDIATE);
        if (!place)
            continue;
        wmi_evex(&s->host, WMI_VPTESTNMD, further, to_high, wmi_zmm(to_high), carry, WMI_NO_IMMEDIATE);
        if (mask)
            wmi_mask(&s->host, WMI_KAND, further, further, mask);
        wmi_mask(&s->host, WMI_KOR, over, over, further);
        store_strip_mask(s, over, *place, i);
    }
}

/* Sums of 64 bits. Bits of the argument: */
enum { SCALAR_LOW = 1, SCALAR_HIGH = 2, STORES_CARRY = 4 };

static bool emit_add_64(struct wmi_stretch *s, const struct wmi_step *step)
{
    const unsigned kind = wmi_recipe_of(step)->argument;
    const bool stores = kind & STORES_CARRY && !wmi_stretch_drops_mask(s, step->y, s->at);
    if (s->by_halves && (stores || wmi_takes_sum(s)))
        return false;
    s->joins_next = wmi_takes_sum(s);
    if (s->joins_next)
        return true;
    const struct wmi_rows a = row_or_scalar(s, step->a, kind & SCALAR_LOW),
                          b = wmi_stretch_use(s, step->b, false),
                          c = row_or_scalar(s, step->c, kind & SCALAR_HIGH),
                          e = wmi_stretch_use(s, step->e, false);
    const bool uniform = a.uniform && b.uniform && c.uniform && e.uniform && !stores;
    struct wmi_rows low = wmi_stretch_result(s, uniform), high = wmi_stretch_result(s, uniform);
    add_pairs(s, &a, &b, &c, &e, &low, &high, stores ? &step->y : NULL);
    wmi_stretch_write(s, step->d, &low);
    wmi_stretch_write(s, step->x, &high);
    return true;
}

/* 64-bit a * b + c; the mask at e receives the carry. LLVM also uses it for products of which only the low
 * word matters. */
static bool emit_multiply_add_64(struct wmi_stretch *s, const struct wmi_step *step)
{
    if (!wmi_recipe_allows(s, step))
        return false;
    const bool carries = !wmi_stretch_drops_mask(s, step->e, s->at);
    if (s->by_halves && carries)
        return false;
    if (!carries && wmi_stretch_drops_row(s, step->d + s->row_bytes)) {
        const struct wmi_rows x = wmi_stretch_use(s, step->a, true), y = wmi_stretch_use(s, step->b, false),
                              z = wmi_stretch_use(s, step->c, false),
                              product = wmi_vector_two(s, WMI_VPMULLD, &x, &y, false);
        struct wmi_rows sum = wmi_vector_two(s, WMI_VPADDD, &product, &z, false);
        wmi_stretch_write(s, step->d, &sum);
        return true;
    }
    const uint32_t sources[] = {step->a, step->b, step->c, step->c + s->row_bytes};
    for (unsigned i = 0; i < sizeof sources / sizeof *sources; i++)
        wmi_stretch_spread(s, sources[i]);
    const struct wmi_rows a = wmi_stretch_use(s, step->a, true), b = wmi_stretch_use(s, step->b, true),
                          c = wmi_stretch_use(s, step->c, false),
                          c_high = wmi_stretch_use(s, step->c + s->row_bytes, false);
    struct wmi_rows high = wmi_vector_high_product(s, &a, &b, false),
                    low = wmi_vector_two(s, WMI_VPMULLD, &a, &b, false);
    if (high.uniform) /* rare, and the carries are those of all strips */
        high = wmi_vector_copy(s, &high, false), low = wmi_vector_copy(s, &low, false);
    add_pairs(s, &low, &c, &high, &c_high, &low, &high, carries ? &step->e : NULL);
    wmi_stretch_write(s, step->d, &low);
    wmi_stretch_write(s, step->d + s->row_bytes, &high);
    return true;
}

/* ---- stages, and moves between scalars and rows ---- */

static bool emit_broadcast(struct wmi_stretch *s, const struct wmi_step *step)
{
    struct wmi_rows d = wmi_stretch_result(s, true);
    wmi_evex_plain(&s->host, WMI_VPBROADCASTD_MEMORY, d.reg[0], 0, wmi_at(WMI_FRAME, (int32_t)step->a));
    wmi_stretch_write_all_lanes(s, step->d, &d);
    return true;
}

static bool emit_move_scalar(struct wmi_stretch *s, const struct wmi_step *step)
{
    struct wmi_rows d = wmi_stretch_result(s, true);
    wmi_evex_plain(&s->host, WMI_VPBROADCASTD_MEMORY, d.reg[0], 0, wmi_at(WMI_FRAME, (int32_t)step->a));
    wmi_stretch_write(s, step->d, &d);
    return true;
}

static bool emit_first_lane(struct wmi_stretch *s, const struct wmi_step *step)
{
    if (s->partial)
        return false;
    const struct wmi_rows a = wmi_stretch_use(s, step->a, true);
    wmi_evex_plain(&s->host, WMI_VMOVD_GPR, a.reg[0], 0, wmi_at(WMI_FRAME, (int32_t)step->d));
    return true;
}

struct wmi_rows wmi_vector_modify(struct wmi_stretch *s, const struct wmi_rows *a, bool negates,
                                  bool absolute)
{
    const struct wmi_rows bits = wmi_vector_uniform(wmi_vector_splat(s, absolute && !negates ? ~WMI_SIGN_F32
                                                                        : negates            ? WMI_SIGN_F32
                                                                                             : 0));
    return wmi_vector_two(s,
                          !negates   ? (absolute ? WMI_VPANDD : WMI_VPORD)
                          : absolute ? WMI_VPORD
                                     : WMI_VPXORD,
                          &bits, a, false);
}

static bool emit_modify_f32(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_rows a = wmi_stretch_use(s, step->a, false);
    struct wmi_rows d = wmi_vector_modify(s, &a, step->x & WMI_MODIFY_NEG, step->x & WMI_MODIFY_ABS);
    wmi_stretch_write_all_lanes(s, step->d, &d);
    return true;
}

/* Numbers to [0, 1]: positive ones are ordered like integers, and negative ones are below. */
static bool emit_clamp_f32(struct wmi_stretch *s, const struct wmi_step *step)
{
    const uint32_t vpmaxsd = WMI_EVEX(0x3d, WMI_MAP_0F38, WMI_PREFIX_66, 0),
                   vpminsd = WMI_EVEX(0x39, WMI_MAP_0F38, WMI_PREFIX_66, 0);
    const struct wmi_rows a = wmi_stretch_use(s, step->a, true);
    wmi_vector_leave_if(s, WMI_VCMPPS, &a, &a, WMI_UNORDERED);
    const struct wmi_rows zero = wmi_vector_uniform(wmi_vector_splat(s, 0)),
                          one = wmi_vector_uniform(wmi_vector_splat(s, 0x3f800000));
    struct wmi_rows d = wmi_vector_two(s, vpmaxsd, &a, &zero, false);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++)
        wmi_evex_plain(&s->host, vpminsd, d.reg[i], d.reg[i], wmi_zmm(one.reg[0]));
    wmi_stretch_write(s, step->d, &d);
    return true;
}

/* ---- the table ---- */

static const struct wmi_recipe recipes[WMI_STEP_COUNT] = {
#include "jit/vector.def"
};

const struct wmi_recipe *wmi_recipe_of(const struct wmi_step *step)
{
    return &recipes[step->id];
}

wmi_emit_step *wmi_vector_emitter(const struct wmi_step *step)
{
    if (recipes[step->id].emit && step->lanes != offsetof(struct wmi_frame, exec))
        return NULL;
    return recipes[step->id].emit;
}

bool wmi_vector_keeps(const struct wmi_step *step)
{
    return wmi_recipe_of(step)->flags & WMI_KEEPS;
}

bool wmi_vector_works_on_bases(const struct wmi_step *step)
{
    const struct wmi_recipe *recipe = wmi_recipe_of(step);
    return recipe->emit && !(recipe->flags & WMI_NEEDS_STRIPS);
}

bool wmi_vector_works_by_halves(const struct wmi_step *step)
{
    const struct wmi_recipe *recipe = wmi_recipe_of(step);
    return wmi_vector_emitter(step) && !(recipe->flags & WMI_WHOLE_WAVE) &&
           (!(recipe->flags & WMI_NEEDS_STRIPS) || recipe->flags & WMI_IN_HALVES);
}

bool wmi_vector_compares(const struct wmi_step *step, uint32_t *instruction, int *predicate)
{
    const struct wmi_recipe *recipe = wmi_recipe_of(step);
    if (recipe->emit != emit_compare || recipe->host == WMI_VCMPPS)
        return false;
    *instruction = recipe->host;
    *predicate = recipe->argument;
    return true;
}
