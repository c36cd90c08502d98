/* SPDX-License-Identifier: MIT */
/* Host code of vector steps on 64-bit integers, whose low and high words are in two rows. */
#include "arithmetic/float.h"
#include "jit/live.h"
#include "jit/sums.h"
#include "jit/vector.h"

struct wmi_pair wmi_vector_use_pair(struct wmi_stretch *s, uint32_t row)
{
    if (!s->on_bases) { /* there are too few registers for rows in runs */
        wmi_stretch_spread(s, row);
        wmi_stretch_spread(s, row + s->row_bytes);
    }
    return (struct wmi_pair){wmi_stretch_use(s, row, true), wmi_stretch_use(s, row + s->row_bytes, true)};
}

bool wmi_pair_is_uniform(const struct wmi_pair *pair)
{
    return pair->low.uniform && pair->high.uniform;
}

void wmi_vector_write_pair(struct wmi_stretch *s, uint32_t row, struct wmi_pair *result)
{
    wmi_stretch_write(s, row, &result->low);
    wmi_stretch_write(s, row + s->row_bytes, &result->high);
}

/* ---- shifts ---- */

/* Bits leave one word of the value and get to the other one. */
struct shift {
    enum wmi_shift first, second, back; /* of these words; of what gets from one to the other */
    struct wmi_rows *from, *to;         /* the words */
    struct wmi_rows *d_from, *d_to;     /* the results */
};

static struct shift shift_of(enum wmi_shift shift, struct wmi_pair *value, struct wmi_pair *d)
{
    if (shift == WMI_LEFT)
        return (struct shift){WMI_LEFT, WMI_LEFT, WMI_RIGHT, &value->low, &value->high, &d->low, &d->high};
    return (struct shift){shift, WMI_RIGHT, WMI_LEFT, &value->high, &value->low, &d->high, &d->low};
}

static void shift_by_constant(struct wmi_stretch *s, const struct shift *shift, unsigned count)
{
    const bool by_words = count >= 32;
    *shift->d_from = wmi_stretch_result(s, shift->from->uniform);
    *shift->d_to = wmi_stretch_result(s, shift->from->uniform && (by_words || shift->to->uniform));
    const unsigned bits = wmi_stretch_register(s);
    for (unsigned i = 0; i < s->strips; i++) {
        const struct wmi_host_operand from = wmi_rows_operand(s, shift->from, i);
        const unsigned d = shift->d_to->reg[i];
        if (i < wmi_rows_strips(s, shift->d_from))
            wmi_vector_shift(s, shift->first, shift->d_from->reg[i], from, count);
        if (i >= wmi_rows_strips(s, shift->d_to))
            continue;
        if (by_words) {
            wmi_vector_shift(s, shift->first, d, from, count - 32);
            continue;
        }
        wmi_vector_shift(s, shift->second, d, wmi_rows_operand(s, shift->to, i), count);
        wmi_vector_shift(s, shift->back, bits, from, 32 - count);
        wmi_evex_plain(&s->host, WMI_VPORD, d, d, wmi_zmm(bits));
    }
}

static uint32_t variable(enum wmi_shift shift)
{
    return shift == WMI_LEFT ? WMI_VPSLLVD : shift == WMI_RIGHT ? WMI_VPSRLVD : WMI_VPSRAVD;
}

/* Counts of 32 and more, and what is negative, shift a word to 0, or to its sign. */
static void shift_by_row(struct wmi_stretch *s, const struct shift *shift, uint32_t count_row)
{
    enum { ANY_OF_THREE = 0xfe };
    const struct wmi_rows count = wmi_stretch_use(s, count_row, false);
    const bool uniform = shift->from->uniform && shift->to->uniform && count.uniform;
    *shift->d_from = wmi_stretch_result(s, uniform);
    *shift->d_to = wmi_stretch_result(s, uniform);
    const unsigned most = wmi_vector_splat(s, 63), word = wmi_vector_splat(s, 32),
                   n = wmi_stretch_register(s), below = wmi_stretch_register(s),
                   above = wmi_stretch_register(s), few = wmi_stretch_register(s),
                   many = wmi_stretch_register(s);
    for (unsigned i = 0; i < wmi_rows_strips(s, shift->d_to); i++) {
        const unsigned from = wmi_rows_register(shift->from, i), to = wmi_rows_register(shift->to, i),
                       d = shift->d_to->reg[i];
        if (!i || !count.uniform) {
            wmi_evex_plain(&s->host, WMI_VPANDD, n, most, wmi_rows_operand(s, &count, i));
            wmi_evex_plain(&s->host, WMI_VPSUBD, below, word, wmi_zmm(n));
            wmi_evex_plain(&s->host, WMI_VPSUBD, above, n, wmi_zmm(word));
            wmi_vector_compare(s, WMI_VPCMPUD, WMI_K, n, wmi_zmm(word), WMI_NO_MASK, WMI_NOT_BELOW);
        }
        wmi_evex_plain(&s->host, variable(shift->back), few, from, wmi_zmm(below));
        wmi_evex(&s->host, variable(shift->first), many, from, wmi_zmm(above), WMI_K | WMI_ZEROING,
                 WMI_NO_IMMEDIATE);
        wmi_evex_plain(&s->host, variable(shift->second), d, to, wmi_zmm(n));
        wmi_evex(&s->host, WMI_VPTERNLOGD, d, few, wmi_zmm(many), WMI_NO_MASK, ANY_OF_THREE);
        wmi_evex_plain(&s->host, variable(shift->first), shift->d_from->reg[i], from, wmi_zmm(n));
    }
}

/* The amount is the first operand with WMI_REVERSED. */
bool wmi_emit_shift_64(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_recipe *recipe = wmi_recipe_of(step);
    const bool reversed = recipe->flags & WMI_REVERSED;
    const uint32_t count_row = reversed ? step->a : step->b;
    struct wmi_pair value = wmi_vector_use_pair(s, reversed ? step->b : step->a), d;
    const struct shift shift = shift_of((enum wmi_shift)recipe->argument, &value, &d);
    uint32_t count;
    if (wmi_stretch_constant(s, count_row, &count))
        shift_by_constant(s, &shift, count & 63);
    else
        shift_by_row(s, &shift, count_row);
    wmi_vector_write_pair(s, step->d, &d);
    return true;
}

/* Whether nothing but sums that are addresses of memory accesses reads the row that the step writes. */
static bool is_for_addresses(const struct wmi_stretch *s, uint32_t row)
{
    const struct wmi_extent span = {row, row + s->row_bytes};
    bool is_read = false;
    for (size_t i = s->at + 1; i < s->end; i++) {
        const struct wmi_step *step = &s->block->steps[i];
        const bool reads = wmi_step_reads_rows(step, span, s->lanes);
        if (reads && !wmi_is_address(s, i))
            return false;
        is_read |= reads;
        if (wmi_step_writes_rows(step, span, s->lanes))
            return is_read;
    }
    return is_read && !wmi_live_is(s->live, row, s->end, false);
}

/* Whether the row of high words has nothing but the signs of the low ones. */
static bool has_signs(const struct wmi_stretch *s, uint32_t low, uint32_t high)
{
    const struct wmi_extent low_span = {low, low + s->row_bytes}, high_span = {high, high + s->row_bytes};
    for (size_t i = s->at; i-- > s->from;) {
        const struct wmi_step *step = &s->block->steps[i];
        uint32_t count;
        if (s->block->leads[i + 1] || step->id == WMI_STEP_stage_EXEC ||
            wmi_step_writes_rows(step, low_span, s->lanes))
            return false;
        if (wmi_step_writes_rows(step, high_span, s->lanes))
            return step->id == WMI_STEP_BODIES + WMI_INSN_v_ashrrev_i32 && step->b == low &&
                   step->lanes == offsetof(struct wmi_frame, exec) &&
                   wmi_stretch_constant(s, step->a, &count) && (count & 31) == 31;
    }
    return false;
}

/* Shifts a row that is extended by zeros or, if is_checked is set, by signs. An address before its base, or
 * far behind it, is rare: where nothing else needs the high words, they are checked: they are known to be 0
 * then, and a wave in which they are not leaves. */
static void shift_extended(struct wmi_stretch *s, const struct wmi_step *step, unsigned count,
                           bool is_checked)
{
    const uint32_t high_row = step->d + s->row_bytes;
    const struct wmi_rows a = wmi_stretch_use(s, step->b, true);
    struct wmi_rows low = wmi_stretch_result(s, a.uniform),
                    high = wmi_stretch_result(s, a.uniform || is_checked);
    const unsigned all = is_checked ? wmi_stretch_register(s) : 0; /* the bits of all strips */
    for (unsigned i = 0; i < wmi_rows_strips(s, &low); i++) {
        const unsigned from = wmi_rows_register(&a, i), mask = wmi_vector_active(s, a.uniform, i);
        wmi_vector_shift(s, WMI_LEFT, low.reg[i], wmi_zmm(from), count);
        if (!is_checked)
            wmi_vector_shift(s, WMI_RIGHT, high.reg[i], wmi_zmm(from), 32 - count);
        else if (i)
            wmi_evex(&s->host, WMI_VPORD, all, all, wmi_zmm(from), mask, WMI_NO_IMMEDIATE);
        else
            wmi_evex(&s->host, WMI_VMOVDQA32, all, 0, wmi_zmm(from), mask ? mask | WMI_ZEROING : mask,
                     WMI_NO_IMMEDIATE);
    }
    if (is_checked) {
        wmi_vector_shift(s, WMI_RIGHT, all, wmi_zmm(all), 32 - count);
        wmi_test_words(&s->host, all, WMI_K);
        wmi_stretch_exit_if(s, WMI_IF_NOT_EQUAL);
        wmi_evex_plain(&s->host, WMI_VPXORD, high.reg[0], high.reg[0], wmi_zmm(high.reg[0]));
    }
    wmi_stretch_write(s, step->d, &low);
    wmi_stretch_write(s, high_row, &high);
    if (is_checked)
        wmi_stretch_set_constant(s, high_row, 0);
}

/* A shift to the left, by 1 to 31, of an index that is extended to 64 bits by zeros, or by its sign if only
 * sums need the high words of the result. False: it is another number. */
static bool shift_index(struct wmi_stretch *s, const struct wmi_step *step, unsigned count)
{
    const uint32_t above = step->b + s->row_bytes;
    uint32_t value;
    const bool is_zero = wmi_stretch_constant(s, above, &value) && !value,
               is_checked =
                   (is_zero || has_signs(s, step->b, above)) && is_for_addresses(s, step->d + s->row_bytes);
    if (is_zero || is_checked)
        shift_extended(s, step, count, is_checked);
    return is_zero || is_checked;
}

/* v_lshlrev_b64 by x, 1 to 31. */
bool wmi_emit_fused_shift(struct wmi_stretch *s, const struct wmi_step *step)
{
    const unsigned count = step->x & 31;
    if (shift_index(s, step, count))
        return true;
    const struct wmi_rows low = wmi_stretch_use(s, step->b, false),
                          high = wmi_stretch_use(s, step->b + s->row_bytes, false);
    struct wmi_rows d = wmi_stretch_result(s, low.uniform);
    struct wmi_rows d_high = wmi_stretch_result(s, low.uniform && high.uniform);
    const unsigned over = wmi_stretch_register(s);
    for (unsigned i = 0; i < s->strips; i++) {
        if (i < wmi_rows_strips(s, &d))
            wmi_vector_shift(s, WMI_LEFT, d.reg[i], wmi_rows_operand(s, &low, i), count);
        if (i < wmi_rows_strips(s, &d_high)) {
            wmi_vector_shift(s, WMI_RIGHT, over, wmi_rows_operand(s, &low, i), 32 - count);
            wmi_vector_shift(s, WMI_LEFT, d_high.reg[i], wmi_rows_operand(s, &high, i), count);
            wmi_evex_plain(&s->host, WMI_VPORD, d_high.reg[i], d_high.reg[i], wmi_zmm(over));
        }
    }
    wmi_stretch_write(s, step->d, &d);
    wmi_stretch_write(s, step->d + s->row_bytes, &d_high);
    return true;
}

/* ---- sums and products ---- */

struct wmi_host_pair wmi_vector_operands(const struct wmi_stretch *s, const struct wmi_pair *pair,
                                         unsigned strip)
{
    return (struct wmi_host_pair){wmi_rows_operand(s, &pair->low, strip),
                                  wmi_rows_operand(s, &pair->high, strip)};
}

/* {high, low} += c */
static void add_pair(struct wmi_stretch *s, const struct wmi_pair *c, const struct wmi_pair *d)
{
    const bool by_host = s->host.vectors->add_64;
    const unsigned ones = by_host ? 0 : wmi_vector_splat(s, UINT32_MAX);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d->low); i++) {
        const unsigned low = d->low.reg[i], high = d->high.reg[i];
        if (by_host) {
            const struct wmi_host_pair addend = wmi_vector_operands(s, c, i);
            s->host.vectors->add_64(&s->host, low, high, low, high, &addend);
            continue;
        }
        wmi_evex_plain(&s->host, WMI_VPADDD, low, low, wmi_rows_operand(s, &c->low, i));
        wmi_vector_compare(s, WMI_VPCMPUD, WMI_K, low, wmi_rows_operand(s, &c->low, i), WMI_NO_MASK,
                           WMI_BELOW);
        wmi_evex_plain(&s->host, WMI_VPADDD, high, high, wmi_rows_operand(s, &c->high, i));
        wmi_evex(&s->host, WMI_VPSUBD, high, high, wmi_zmm(ones), WMI_K, WMI_NO_IMMEDIATE);
    }
}

/* The pair in registers that may be changed, one for each strip unless `uniform`. */
static void make_own(struct wmi_stretch *s, struct wmi_pair *d, bool uniform)
{
    if (d->low.uniform && !uniform)
        d->low = wmi_vector_copy(s, &d->low, false);
    if (d->high.uniform && !uniform)
        d->high = wmi_vector_copy(s, &d->high, false);
}

/* (a << b) + c for constant b, of which three bits count. */
bool wmi_emit_shift_add_64(struct wmi_stretch *s, const struct wmi_step *step)
{
    uint32_t count;
    if (!wmi_stretch_constant(s, step->b, &count))
        return false;
    struct wmi_pair a = wmi_vector_use_pair(s, step->a), d;
    const struct wmi_pair c = wmi_vector_use_pair(s, step->c);
    const struct shift shift = shift_of(WMI_LEFT, &a, &d);
    shift_by_constant(s, &shift, count & 7);
    make_own(s, &d, wmi_pair_is_uniform(&d) && wmi_pair_is_uniform(&c));
    add_pair(s, &c, &d);
    wmi_vector_write_pair(s, step->d, &d);
    return true;
}

bool wmi_emit_move_64(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_rows low = wmi_stretch_use(s, step->a, false),
                          high = wmi_stretch_use(s, step->a + s->row_bytes, false);
    struct wmi_pair d = {wmi_vector_copy(s, &low, low.uniform), wmi_vector_copy(s, &high, high.uniform)};
    wmi_vector_write_pair(s, step->d, &d);
    return true;
}

struct wmi_rows wmi_vector_high_product(struct wmi_stretch *s, const struct wmi_rows *a,
                                        const struct wmi_rows *b, bool is_signed)
{
    enum { EVEN_LANES = 0x5555 };
    const uint32_t multiply = is_signed ? WMI_EVEX(0x28, WMI_MAP_0F38, WMI_PREFIX_66, 1)
                                        : WMI_EVEX(0xf4, WMI_MAP_0F, WMI_PREFIX_66, 1),
                   vmovshdup = WMI_EVEX(0x16, WMI_MAP_0F, WMI_PREFIX_F3, 0);
    struct wmi_rows d = wmi_stretch_result(s, a->uniform && b->uniform);
    if (s->host.vectors->high_product) {
        for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++)
            s->host.vectors->high_product(&s->host, multiply, d.reg[i], wmi_rows_register(a, i),
                                          wmi_rows_register(b, i));
        return d;
    }
    const unsigned even = wmi_stretch_register(s), other = wmi_stretch_register(s);
    wmi_move_immediate(&s->host, WMI_RAX, EVEN_LANES);
    wmi_kmov_gpr(&s->host, WMI_K, WMI_RAX);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++) {
        const unsigned x = wmi_rows_register(a, i), y = wmi_rows_register(b, i);
        wmi_evex_plain(&s->host, multiply, even, x, wmi_zmm(y));
        wmi_evex(&s->host, WMI_SHIFT_IMMEDIATE_64, WMI_RIGHT, d.reg[i], wmi_zmm(x), WMI_NO_MASK, 32);
        wmi_evex(&s->host, WMI_SHIFT_IMMEDIATE_64, WMI_RIGHT, other, wmi_zmm(y), WMI_NO_MASK, 32);
        wmi_evex_plain(&s->host, multiply, d.reg[i], d.reg[i], wmi_zmm(other));
        wmi_evex(&s->host, vmovshdup, d.reg[i], 0, wmi_zmm(even), WMI_K, WMI_NO_IMMEDIATE);
    }
    return d;
}

bool wmi_emit_multiply_high_signed(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_rows a = wmi_stretch_use(s, step->a, true), b = wmi_stretch_use(s, step->b, true);
    struct wmi_rows d = wmi_vector_high_product(s, &a, &b, true);
    wmi_stretch_write(s, step->d, &d);
    return true;
}

/* Signed a * b + c; the mask at e receives the sign of the 65-bit sum, on which two of three signs agree: of
 * the product, of c, and of the 64-bit sum. */
bool wmi_emit_multiply_add_i64(struct wmi_stretch *s, const struct wmi_step *step)
{
    enum { MOST_OF_THREE = 0xe8 };
    if (!wmi_recipe_allows(s, step))
        return false;
    wmi_stretch_spread(s, step->a);
    wmi_stretch_spread(s, step->b);
    const struct wmi_rows a = wmi_stretch_use(s, step->a, true), b = wmi_stretch_use(s, step->b, true);
    const struct wmi_pair c = {wmi_stretch_use_in_memory(s, step->c),
                               wmi_stretch_use_in_memory(s, step->c + s->row_bytes)};
    struct wmi_pair d = {wmi_vector_two(s, WMI_VPMULLD, &a, &b, false),
                         wmi_vector_high_product(s, &a, &b, true)};
    make_own(s, &d, false);
    const struct wmi_rows product = wmi_vector_copy(s, &d.high, false),
                          zero = wmi_vector_uniform(wmi_vector_splat(s, 0));
    add_pair(s, &c, &d);
    for (unsigned i = 0; i < s->strips; i++)
        wmi_evex(&s->host, WMI_VPTERNLOGD, product.reg[i], d.high.reg[i], wmi_rows_operand(s, &c.high, i),
                 WMI_NO_MASK, MOST_OF_THREE);
    wmi_vector_store_compare(s, WMI_VPCMPD, &product, &zero, WMI_BELOW, step->e);
    wmi_vector_write_pair(s, step->d, &d);
    return true;
}

/* ---- compares ---- */

/* A register per strip that is 0 in lanes where a and b are equal. */
static struct wmi_rows difference(struct wmi_stretch *s, const struct wmi_pair *a, const struct wmi_pair *b)
{
    struct wmi_rows d = wmi_stretch_result(s, wmi_pair_is_uniform(a) && wmi_pair_is_uniform(b));
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++) {
        wmi_evex_plain(&s->host, WMI_VPXORD, d.reg[i], wmi_rows_register(&a->low, i),
                       wmi_rows_operand(s, &b->low, i));
        wmi_evex(&s->host, WMI_VPTERNLOGD, d.reg[i], wmi_rows_register(&a->high, i),
                 wmi_rows_operand(s, &b->high, i), WMI_NO_MASK, WMI_OR_DIFFERENCE);
    }
    return d;
}

struct words {
    struct wmi_rows a, b;
};

/* The words that decide how a and b compare: the high ones, or the low ones if the high ones are equal. Those
 * are unsigned; their top bits change if the words will be compared as signed ones. */
static struct words deciding_words(struct wmi_stretch *s, const struct wmi_pair *a, const struct wmi_pair *b,
                                   bool is_signed)
{
    const bool uniform = wmi_pair_is_uniform(a) && wmi_pair_is_uniform(b);
    struct words d = {wmi_stretch_result(s, uniform), wmi_stretch_result(s, uniform)};
    const struct wmi_pair *const source[] = {a, b};
    const struct wmi_rows *const result[] = {&d.a, &d.b};
    const unsigned sign = is_signed ? wmi_vector_splat(s, WMI_SIGN_F32) : 0;
    for (unsigned i = 0; i < wmi_rows_strips(s, &d.a); i++) {
        wmi_vector_compare(s, WMI_VPCMPUD, WMI_K, wmi_rows_register(&a->high, i),
                           wmi_rows_operand(s, &b->high, i), WMI_NO_MASK, WMI_EQUAL);
        for (unsigned k = 0; k < 2; k++) {
            const unsigned to = result[k]->reg[i];
            const struct wmi_host_operand low = wmi_rows_operand(s, &source[k]->low, i),
                                          high = wmi_rows_operand(s, &source[k]->high, i);
            if (is_signed) {
                wmi_evex_plain(&s->host, WMI_VMOVDQA32, to, 0, high);
                wmi_evex(&s->host, WMI_VPXORD, to, sign, low, WMI_K, WMI_NO_IMMEDIATE);
            } else {
                wmi_evex(&s->host, WMI_VPBLENDMD, to, high.reg, low, WMI_K, WMI_NO_IMMEDIATE);
            }
        }
    }
    return d;
}

bool wmi_emit_compare_64(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_recipe *recipe = wmi_recipe_of(step);
    const struct wmi_pair a = wmi_vector_use_pair(s, step->a), b = wmi_vector_use_pair(s, step->b);
    if (recipe->argument == WMI_EQUAL || recipe->argument == WMI_DIFFERS) {
        const struct wmi_rows zero = wmi_vector_uniform(wmi_vector_splat(s, 0)), d = difference(s, &a, &b);
        wmi_vector_store_compare(s, recipe->host, &d, &zero, recipe->argument, step->d);
        return true;
    }
    const struct words d = deciding_words(s, &a, &b, recipe->host == WMI_VPCMPD);
    wmi_vector_store_compare(s, recipe->host, &d.a, &d.b, recipe->argument, step->d);
    return true;
}
