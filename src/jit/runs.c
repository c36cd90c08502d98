/* SPDX-License-Identifier: MIT */
#include "jit/runs.h"
#include "jit/live.h"
#include "jit/scalar_memory.h"

enum { LAST = WMI_STRIP_LANES - 1 };

static struct wmi_host_operand quadword(size_t place)
{
    struct wmi_host_operand operand = wmi_at(WMI_R11, (int32_t)place);
    operand.broadcast = true;
    return operand;
}

/* How much the values grow to the last lane of a strip, or of the wave if the run is whole. */
static uint64_t growth_of(const struct wmi_stretch *s, unsigned stride, bool whole)
{
    return (uint64_t)stride * (whole ? s->lanes - 1 : LAST);
}

/* A register with the values of the last lanes. */
static unsigned last_lanes(struct wmi_stretch *s, const struct wmi_rows *a)
{
    const unsigned reg = wmi_stretch_register(s);
    wmi_evex_plain(&s->host, WMI_VPADDD, reg, a->reg[0],
                   wmi_stretch_reach(s, offsetof(struct wmi_spread_tables, last), a));
    return reg;
}

static void shift(struct wmi_stretch *s, unsigned digit, unsigned d, unsigned a, unsigned count)
{
    wmi_evex(&s->host, WMI_SHIFT_IMMEDIATE, digit, d, wmi_zmm(a), WMI_NO_MASK, (int)count);
}

/* ---- what a step can do ---- */

static bool have_bases(const struct wmi_stretch *s, uint32_t a, uint32_t b)
{
    return wmi_stretch_has_base(s, a) && wmi_stretch_has_base(s, b);
}

/* The stride that a row would be used with. */
static unsigned stride_of(const struct wmi_stretch *s, uint32_t row)
{
    const int stride = wmi_stretch_stride(s, row);
    return stride > 0 ? (unsigned)stride : 0;
}

/* a + b. The sum is in one of the strides. */
static bool put_sum(struct wmi_stretch *s, const struct wmi_step *step, uint32_t instruction, uint32_t first,
                    uint32_t second)
{
    if (step->y & 1 || !have_bases(s, first, second))
        return false;
    const struct wmi_rows a = wmi_stretch_use_base(s, first), b = wmi_stretch_use_base(s, second);
    const unsigned stride = instruction == WMI_VPADDD ? a.stride + b.stride : (unsigned)(a.stride - b.stride);
    if (!wmi_is_stride(stride))
        return false;
    const unsigned d = wmi_stretch_register(s);
    wmi_evex_plain(&s->host, instruction, d, a.reg[0], wmi_zmm(b.reg[0]));
    wmi_stretch_write_runs(s, step->d, d, stride);
    return true;
}

static bool emit_add(struct wmi_stretch *s, const struct wmi_step *step)
{
    return put_sum(s, step, WMI_VPADDD, step->a, step->b);
}

/* The mask at the place = all lanes, or none. */
static void put_mask(struct wmi_stretch *s, uint32_t place, bool all)
{
    wmi_move_immediate(&s->host, WMI_RAX, all ? UINT64_MAX : 0);
    wmi_scalar_memory(&s->host, WMI_MOV_STORE, s->lanes == 64, WMI_RAX, WMI_FRAME, (int32_t)place);
}

/* The sum, if it does not carry in any lane or nothing reads the carry. */
static bool emit_add_carry(struct wmi_stretch *s, const struct wmi_step *step)
{
    if (wmi_stretch_drops_mask(s, step->e, s->at))
        return put_sum(s, step, WMI_VPADDD, step->a, step->b);
    if (step->y & 1 || !have_bases(s, step->a, step->b) ||
        !wmi_is_stride(stride_of(s, step->a) + stride_of(s, step->b)))
        return false;
    const struct wmi_rows a = wmi_stretch_use_base(s, step->a), b = wmi_stretch_use_base(s, step->b);
    const unsigned stride = a.stride + b.stride;
    const struct wmi_rows sum = {
        .reg = {(uint8_t)wmi_stretch_register(s)}, .whole = a.whole && b.whole, .stride = (uint8_t)stride};
    wmi_stretch_leave_if_wraps(s, &a);
    wmi_stretch_leave_if_wraps(s, &b);
    wmi_evex_plain(&s->host, WMI_VPADDD, sum.reg[0], a.reg[0], wmi_zmm(b.reg[0]));
    wmi_stretch_leave_if(s, WMI_VPCMPUD, sum.reg[0], wmi_zmm(b.reg[0]), WMI_BELOW);
    wmi_stretch_leave_if_wraps(s, &sum);
    put_mask(s, step->e, false);
    wmi_stretch_clears_mask(s, step->e);
    wmi_stretch_write_runs(s, step->d, sum.reg[0], stride);
    return true;
}

/* a + b with the carry of a sum that did not carry, as of the high words of addresses. */
static bool emit_add_carried(struct wmi_stretch *s, const struct wmi_step *step)
{
    return wmi_stretch_has_clear_mask(s, step->c) && wmi_stretch_drops_mask(s, step->e, s->at) &&
           put_sum(s, step, WMI_VPADDD, step->a, step->b);
}

/* a - b, and with the CLAMP bit, the same if no lane of a is below the uniform b. */
static bool put_difference(struct wmi_stretch *s, const struct wmi_step *step, uint32_t from, uint32_t what)
{
    if (!(step->y & 1))
        return put_sum(s, step, WMI_VPSUBD, from, what);
    if (!have_bases(s, from, what) || stride_of(s, what))
        return false;
    const struct wmi_rows a = wmi_stretch_use_base(s, from), b = wmi_stretch_use_base(s, what);
    const unsigned d = wmi_stretch_register(s);
    wmi_stretch_leave_if_wraps(s, &a);
    wmi_stretch_leave_if(s, WMI_VPCMPUD, a.reg[0], wmi_zmm(b.reg[0]), WMI_BELOW);
    wmi_evex_plain(&s->host, WMI_VPSUBD, d, a.reg[0], wmi_zmm(b.reg[0]));
    wmi_stretch_write_runs(s, step->d, d, a.stride);
    return true;
}

static bool emit_subtract(struct wmi_stretch *s, const struct wmi_step *step)
{
    return put_difference(s, step, step->a, step->b);
}

static bool emit_subtract_reversed(struct wmi_stretch *s, const struct wmi_step *step)
{
    return put_difference(s, step, step->b, step->a);
}

static bool emit_add_3(struct wmi_stretch *s, const struct wmi_step *step)
{
    if (!have_bases(s, step->a, step->b) || !wmi_stretch_has_base(s, step->c))
        return false;
    const struct wmi_rows a = wmi_stretch_use_base(s, step->a), b = wmi_stretch_use_base(s, step->b),
                          c = wmi_stretch_use_base(s, step->c);
    const unsigned stride = a.stride + b.stride + c.stride;
    if (!wmi_is_stride(stride))
        return false;
    const unsigned d = wmi_stretch_register(s);
    wmi_evex_plain(&s->host, WMI_VPADDD, d, a.reg[0], wmi_zmm(b.reg[0]));
    wmi_evex_plain(&s->host, WMI_VPADDD, d, d, wmi_zmm(c.reg[0]));
    wmi_stretch_write_runs(s, step->d, d, stride);
    return true;
}

static bool emit_move(struct wmi_stretch *s, const struct wmi_step *step)
{
    if (!wmi_stretch_has_base(s, step->a))
        return false;
    const struct wmi_rows a = wmi_stretch_use_base(s, step->a);
    const unsigned d = wmi_stretch_register(s);
    wmi_evex_plain(&s->host, WMI_VMOVDQA32, d, 0, wmi_zmm(a.reg[0]));
    wmi_stretch_write_runs(s, step->d, d, a.stride);
    return true;
}

/* Of a VGPR whose high half nothing reads. */
static bool emit_low_half(struct wmi_stretch *s, const struct wmi_step *step)
{
    return wmi_live_drops_half(s->live, s->at) && emit_move(s, step);
}

/* ---- shifts and bits by constants ---- */

/* The stride of value << amount for a constant amount, or false. */
static bool find_shift(struct wmi_stretch *s, uint32_t value, uint32_t amount, unsigned *count,
                       unsigned *stride)
{
    uint32_t constant;
    if (!wmi_stretch_has_base(s, value) || !wmi_stretch_constant(s, amount, &constant))
        return false;
    *count = constant & 31;
    *stride = stride_of(s, value);
    if (*stride && *count > 4)
        return false;
    *stride <<= *stride ? *count : 0;
    return wmi_is_stride(*stride);
}

static bool put_shift_left(struct wmi_stretch *s, const struct wmi_step *step, uint32_t value,
                           uint32_t amount)
{
    unsigned count, stride;
    if (!find_shift(s, value, amount, &count, &stride))
        return false;
    const struct wmi_rows a = wmi_stretch_use_base(s, value);
    const unsigned d = wmi_stretch_register(s);
    shift(s, WMI_LEFT, d, a.reg[0], count);
    wmi_stretch_write_runs(s, step->d, d, stride);
    return true;
}

static bool emit_shift_left(struct wmi_stretch *s, const struct wmi_step *step)
{
    return put_shift_left(s, step, step->a, step->b);
}

static bool emit_shift_left_reversed(struct wmi_stretch *s, const struct wmi_step *step)
{
    return put_shift_left(s, step, step->b, step->a);
}

/* (a << b) + c */
static bool emit_shift_add(struct wmi_stretch *s, const struct wmi_step *step)
{
    unsigned count, stride;
    if (!find_shift(s, step->a, step->b, &count, &stride) || !wmi_stretch_has_base(s, step->c))
        return false;
    const struct wmi_rows a = wmi_stretch_use_base(s, step->a), c = wmi_stretch_use_base(s, step->c);
    if (!wmi_is_stride(stride + c.stride))
        return false;
    const unsigned d = wmi_stretch_register(s);
    shift(s, WMI_LEFT, d, a.reg[0], count);
    wmi_evex_plain(&s->host, WMI_VPADDD, d, d, wmi_zmm(c.reg[0]));
    wmi_stretch_write_runs(s, step->d, d, stride + c.stride);
    return true;
}

/* (a + b) << c */
static bool emit_add_shift(struct wmi_stretch *s, const struct wmi_step *step)
{
    uint32_t count;
    if (!have_bases(s, step->a, step->b) || !wmi_stretch_constant(s, step->c, &count))
        return false;
    const struct wmi_rows a = wmi_stretch_use_base(s, step->a), b = wmi_stretch_use_base(s, step->b);
    const unsigned stride = a.stride + b.stride;
    count &= 31;
    if (stride && (count > 4 || !wmi_is_stride(stride << count)))
        return false;
    const unsigned d = wmi_stretch_register(s);
    wmi_evex_plain(&s->host, WMI_VPADDD, d, a.reg[0], wmi_zmm(b.reg[0]));
    shift(s, WMI_LEFT, d, d, count);
    wmi_stretch_write_runs(s, step->d, d, stride ? stride << count : 0);
    return true;
}

/* Leaves unless the bits below 2^width of a, and what is added to them up to the last lane, stay below
 * 2^width. */
static void leave_if_carries(struct wmi_stretch *s, const struct wmi_rows *a, unsigned width)
{
    if (!a->stride || width >= 32) {
        wmi_stretch_leave_if_wraps(s, a);
        return;
    }
    const unsigned low = wmi_stretch_register(s);
    shift(s, WMI_LEFT, low, a->reg[0], 32 - width);
    shift(s, WMI_RIGHT, low, low, 32 - width);
    wmi_evex_plain(&s->host, WMI_VPADDD, low, low,
                   wmi_stretch_reach(s, offsetof(struct wmi_spread_tables, last), a));
    shift(s, WMI_RIGHT, low, low, width);
    wmi_stretch_leave_if(s, WMI_VPTESTMD, low, wmi_zmm(low), WMI_NO_IMMEDIATE);
}

enum { ID_BITS = 10 }; /* of x where one VGPR has all ids */

/* The bits of a from `first` on: the same in all lanes of a strip if what is below does not carry, and
 * growing if `first` is 0 and what is kept does not carry. */
static bool put_field(struct wmi_stretch *s, const struct wmi_step *step, uint32_t row, unsigned first,
                      unsigned width)
{
    if (!wmi_stretch_has_base(s, row) || !width)
        return false;
    struct wmi_rows a = wmi_stretch_use_base(s, row);
    const unsigned bits = first ? first : width; /* that must not carry */
    if (growth_of(s, a.stride, a.whole) >> bits)
        a.whole = s->is_whole = false;
    if (growth_of(s, a.stride, a.whole) >> bits) /* it always carries */
        return false;
    const unsigned d = wmi_stretch_register(s), above = first + width < 32 ? 32 - first - width : 0;
    if (bits < ID_BITS || !wmi_stretch_has_ids(s, row))
        leave_if_carries(s, &a, bits);
    shift(s, WMI_LEFT, d, a.reg[0], above);
    shift(s, WMI_RIGHT, d, d, above + first);
    wmi_stretch_write_runs(s, step->d, d, first ? 0 : a.stride);
    return true;
}

static bool emit_field(struct wmi_stretch *s, const struct wmi_step *step)
{
    uint32_t first, width;
    return wmi_stretch_constant(s, step->b, &first) && wmi_stretch_constant(s, step->c, &width) &&
           put_field(s, step, step->a, first & 31, width & 31);
}

static bool put_shift_right(struct wmi_stretch *s, const struct wmi_step *step, uint32_t value,
                            uint32_t amount)
{
    uint32_t first;
    return wmi_stretch_constant(s, amount, &first) && first & 31 &&
           put_field(s, step, value, first & 31, 32 - (first & 31));
}

static bool emit_shift_right(struct wmi_stretch *s, const struct wmi_step *step)
{
    return put_shift_right(s, step, step->a, step->b);
}

static bool emit_shift_right_reversed(struct wmi_stretch *s, const struct wmi_step *step)
{
    return put_shift_right(s, step, step->b, step->a);
}

/* The low bits of the high words of a pair: these words, if nothing is above the bits. So the pair stays one
 * that a single register holds. */
static bool put_high_bits(struct wmi_stretch *s, const struct wmi_step *step, uint32_t row, unsigned width)
{
    struct wmi_rows pair;
    if (width > 31 || !wmi_stretch_use_high_half(s, row, &pair) ||
        (step->d != row && !wmi_stretch_drops_row(s, row)))
        return false;
    const unsigned end = wmi_stretch_register(s);
    wmi_move_immediate(&s->host, WMI_RAX,
                       (UINT64_C(1) << (32 + width)) - growth_of(s, pair.stride, pair.whole));
    wmi_evex_plain(&s->host, WMI_VPBROADCASTQ_GPR, end, 0, wmi_zmm(WMI_RAX));
    wmi_stretch_leave_if(s, WMI_VPCMPUQ, pair.reg[0], wmi_zmm(end), WMI_NOT_BELOW);
    wmi_stretch_move_half(s, row, step->d);
    return true;
}

/* With a constant of which the lowest bits are set, and no others. */
static bool emit_and(struct wmi_stretch *s, const struct wmi_step *step)
{
    uint32_t mask;
    const bool reversed = wmi_stretch_constant(s, step->a, &mask);
    if ((!reversed && !wmi_stretch_constant(s, step->b, &mask)) || !mask || mask & (mask + 1))
        return false;
    const uint32_t row = reversed ? step->b : step->a;
    const unsigned width = (unsigned)__builtin_popcount(mask);
    return put_high_bits(s, step, row, width) || put_field(s, step, row, 0, width);
}

/* The signs: v_ashrrev_i32 by 31 of values that have the same sign in a strip. */
static bool emit_sign(struct wmi_stretch *s, const struct wmi_step *step)
{
    uint32_t amount;
    if (!wmi_stretch_constant(s, step->a, &amount) || (amount & 31) != 31 ||
        !wmi_stretch_has_base(s, step->b))
        return false;
    const struct wmi_rows a = wmi_stretch_use_base(s, step->b);
    const unsigned d = wmi_stretch_register(s);
    if (!a.stride) {
        shift(s, WMI_RIGHT_SIGNED, d, a.reg[0], 31);
        wmi_stretch_write_runs(s, step->d, d, 0);
        return true;
    }
    const unsigned last = last_lanes(s, &a);
    wmi_evex_plain(&s->host, WMI_VPXORD, d, d, wmi_zmm(d));
    wmi_evex_plain(&s->host, WMI_VPORD, last, last, wmi_zmm(a.reg[0]));
    wmi_stretch_leave_if(s, WMI_VPCMPD, last, wmi_zmm(d), WMI_BELOW);
    wmi_stretch_write_runs(s, step->d, d, 0);
    wmi_stretch_set_constant(s, step->d, 0);
    return true;
}

/* d = a | b, where one of them grows. That is a sum if no bit is set in both. */
static bool put_or(struct wmi_stretch *s, const struct wmi_step *step, const struct wmi_rows *a,
                   const struct wmi_rows *b)
{
    const struct wmi_rows *grows = a->stride ? a : b, *other = a->stride ? b : a;
    if (!grows->stride || other->stride)
        return false;
    const unsigned width = 32 - (unsigned)__builtin_clz((unsigned)growth_of(s, grows->stride, grows->whole)),
                   bits = wmi_stretch_register(s), d = wmi_stretch_register(s);
    leave_if_carries(s, grows, width);
    wmi_evex(&s->host, WMI_VPTERNLOGD, bits, bits, wmi_zmm(bits), WMI_NO_MASK, 0xff);
    shift(s, WMI_RIGHT, bits, bits, 32 - width);
    wmi_evex_plain(&s->host, WMI_VPORD, bits, bits,
                   wmi_zmm(grows->reg[0])); /* every bit that a lane may have */
    wmi_stretch_leave_if(s, WMI_VPTESTMD, bits, wmi_zmm(other->reg[0]), WMI_NO_IMMEDIATE);
    wmi_evex_plain(&s->host, WMI_VPORD, d, a->reg[0], wmi_zmm(b->reg[0]));
    wmi_stretch_write_runs(s, step->d, d, grows->stride);
    return true;
}

static bool emit_or(struct wmi_stretch *s, const struct wmi_step *step)
{
    if (!have_bases(s, step->a, step->b))
        return false;
    const struct wmi_rows a = wmi_stretch_use_base(s, step->a), b = wmi_stretch_use_base(s, step->b);
    return put_or(s, step, &a, &b);
}

/* (a << b) | c */
static bool emit_shift_or(struct wmi_stretch *s, const struct wmi_step *step)
{
    unsigned count, stride;
    if (!find_shift(s, step->a, step->b, &count, &stride) || !wmi_stretch_has_base(s, step->c) ||
        !stride == !stride_of(s, step->c))
        return false;
    const struct wmi_rows a = wmi_stretch_use_base(s, step->a), c = wmi_stretch_use_base(s, step->c);
    struct wmi_rows first = {.uniform = true, .runs = true, .whole = a.whole, .stride = (uint8_t)stride};
    first.reg[0] = (uint8_t)wmi_stretch_register(s);
    shift(s, WMI_LEFT, first.reg[0], a.reg[0], count);
    return put_or(s, step, &first, &c);
}

/* ---- products and limits ---- */

/* a * b + c, where the product is the same in all lanes of a strip. */
static bool put_multiply_add(struct wmi_stretch *s, const struct wmi_step *step, unsigned extend)
{
    if (!have_bases(s, step->a, step->b) || !wmi_stretch_has_base(s, step->c) || stride_of(s, step->a) ||
        stride_of(s, step->b))
        return false;
    const struct wmi_rows a = wmi_stretch_use_base(s, step->a), b = wmi_stretch_use_base(s, step->b),
                          c = wmi_stretch_use_base(s, step->c);
    unsigned x = a.reg[0], y = b.reg[0];
    const unsigned d = wmi_stretch_register(s);
    if (extend) {
        x = wmi_stretch_register(s);
        y = wmi_stretch_register(s);
        shift(s, WMI_LEFT, x, a.reg[0], 8);
        shift(s, extend, x, x, 8);
        shift(s, WMI_LEFT, y, b.reg[0], 8);
        shift(s, extend, y, y, 8);
    }
    wmi_evex_plain(&s->host, WMI_VPMULLD, d, x, wmi_zmm(y));
    wmi_evex_plain(&s->host, WMI_VPADDD, d, d, wmi_zmm(c.reg[0]));
    wmi_stretch_write_runs(s, step->d, d, c.stride);
    return true;
}

static bool emit_multiply_add_u24(struct wmi_stretch *s, const struct wmi_step *step)
{
    return !(step->y & 1) && put_multiply_add(s, step, WMI_RIGHT);
}

static bool emit_multiply_add_i24(struct wmi_stretch *s, const struct wmi_step *step)
{
    return !(step->y & 1) && put_multiply_add(s, step, WMI_RIGHT_SIGNED);
}

/* The minimum (WMI_BELOW) or maximum (WMI_ABOVE) of what grows and a limit, if it is the same one in all
 * lanes: the one that grows. What differs from strip to strip is no limit, as in the maximum of two ids,
 * which code compares with a size that is that of both. */
static bool put_limit(struct wmi_stretch *s, const struct wmi_step *step, uint32_t compare, unsigned wanted)
{
    if (!have_bases(s, step->a, step->b) || !stride_of(s, step->a) == !stride_of(s, step->b))
        return false;
    const struct wmi_rows a = wmi_stretch_use_base(s, step->a), b = wmi_stretch_use_base(s, step->b);
    const struct wmi_rows *grows = a.stride ? &a : &b, *limit = a.stride ? &b : &a;
    if (wmi_stretch_stride(s, a.stride ? step->b : step->a) >= 0)
        return false;
    const unsigned d = wmi_stretch_register(s);
    const unsigned last = last_lanes(s, grows);
    wmi_stretch_leave_if(s, compare, last, wmi_zmm(grows->reg[0]), WMI_BELOW);
    wmi_stretch_leave_if(s, compare, wanted == WMI_BELOW ? last : grows->reg[0], wmi_zmm(limit->reg[0]),
                         wanted == WMI_BELOW ? WMI_ABOVE : WMI_BELOW);
    wmi_evex_plain(&s->host, WMI_VMOVDQA32, d, 0, wmi_zmm(grows->reg[0]));
    wmi_stretch_write_runs(s, step->d, d, grows->stride);
    return true;
}

static bool emit_min_u32(struct wmi_stretch *s, const struct wmi_step *step)
{
    return put_limit(s, step, WMI_VPCMPUD, WMI_BELOW);
}

static bool emit_max_u32(struct wmi_stretch *s, const struct wmi_step *step)
{
    return put_limit(s, step, WMI_VPCMPUD, WMI_ABOVE);
}

static bool emit_min_i32(struct wmi_stretch *s, const struct wmi_step *step)
{
    return put_limit(s, step, WMI_VPCMPD, WMI_BELOW);
}

static bool emit_max_i32(struct wmi_stretch *s, const struct wmi_step *step)
{
    return put_limit(s, step, WMI_VPCMPD, WMI_ABOVE);
}

/* ---- compares ---- */

/* The mask at the place = the lanes of the strips for whose first lanes a and b compare so. */
static void compare_strips(struct wmi_stretch *s, uint32_t instruction, const struct wmi_rows *a,
                           const struct wmi_rows *b, int predicate, uint32_t place)
{
    const uint32_t vpmovm2w = WMI_EVEX(0x28, WMI_MAP_0F38, WMI_PREFIX_F3, 1) | WMI_EVEX_128,
                   vmovq_store = WMI_EVEX_OF(0xd6, WMI_MAP_0F, WMI_PREFIX_66, 1, 3) | WMI_EVEX_128;
    const unsigned words = wmi_stretch_register(s);
    wmi_evex(&s->host, instruction, WMI_K, a->reg[0], wmi_zmm(b->reg[0]), WMI_NO_MASK, predicate);
    wmi_evex_plain(&s->host, vpmovm2w, words, 0, wmi_zmm(WMI_K));
    wmi_evex_plain(&s->host, s->lanes == 64 ? vmovq_store : (uint32_t)WMI_VMOVD_GPR, words, 0,
                   wmi_at(WMI_FRAME, (int32_t)place));
}

/* A jump taken if not all lanes compare so: if the first or the last lane of a strip does not, whichever is
 * more unlike, as the values only grow between them. */
static size_t unless_all_compare(struct wmi_stretch *s, uint32_t instruction, const struct wmi_rows *a,
                                 const struct wmi_rows *b, int predicate)
{
    const struct wmi_rows *grows = a->stride ? a : b;
    const bool wants_less = predicate == WMI_BELOW || predicate == WMI_NOT_ABOVE,
               last_decides = wants_less == (grows == a);
    const unsigned last = last_lanes(s, grows);
    wmi_evex(&s->host, instruction, WMI_K + 1, last, wmi_zmm(grows->reg[0]), WMI_NO_MASK, WMI_BELOW);
    wmi_evex(&s->host, instruction, WMI_K, last_decides && grows == a ? last : a->reg[0],
             wmi_zmm(last_decides && grows == b ? last : b->reg[0]), WMI_NO_MASK, predicate ^ WMI_OPPOSITE);
    wmi_mask(&s->host, WMI_KOR, WMI_K, WMI_K, WMI_K + 1);
    wmi_kortest(&s->host, WMI_K, WMI_K);
    return wmi_jump_if(&s->host, WMI_IF_NOT_EQUAL);
}

/* A jump taken if a lane may be equal to the limit: if that is not farther from the first lane of a strip
 * than the last one is. */
static size_t unless_all_differ(struct wmi_stretch *s, const struct wmi_rows *grows,
                                const struct wmi_rows *limit)
{
    const unsigned distance = wmi_stretch_register(s);
    wmi_evex_plain(&s->host, WMI_VPSUBD, distance, limit->reg[0], wmi_zmm(grows->reg[0]));
    wmi_evex(&s->host, WMI_VPCMPUD, WMI_K, distance,
             wmi_stretch_reach(s, offsetof(struct wmi_spread_tables, last), grows), WMI_NO_MASK,
             WMI_NOT_ABOVE);
    wmi_kortest(&s->host, WMI_K, WMI_K);
    return wmi_jump_if(&s->host, WMI_IF_NOT_EQUAL);
}

/* d = the lanes for which a and b compare so. If one of them grows, that is usually all lanes, because
 * indices are compared with sizes and with the ends of ranges. */
static bool put_compare(struct wmi_stretch *s, const struct wmi_step *step, uint32_t instruction,
                        int predicate)
{
    if (wmi_stretch_drops_mask(s, step->d, s->at))
        return true;
    if (!have_bases(s, step->a, step->b))
        return false;
    const struct wmi_rows a = wmi_stretch_use_base(s, step->a), b = wmi_stretch_use_base(s, step->b);
    if (a.stride && b.stride)
        return false;
    if (!a.stride && !b.stride) {
        compare_strips(s, instruction, &a, &b, predicate, step->d);
        return true;
    }
    const bool orders = predicate != WMI_EQUAL && predicate != WMI_DIFFERS;
    const unsigned lane[] = {wmi_stretch_register(s), wmi_stretch_register(s)}; /* before the code branches */
    const size_t others = orders ? unless_all_compare(s, instruction, &a, &b, predicate)
                                 : unless_all_differ(s, a.stride ? &a : &b, a.stride ? &b : &a);
    put_mask(s, step->d, predicate != WMI_EQUAL);
    const size_t done = wmi_jump(&s->host);
    wmi_land(&s->host, others);
    for (unsigned i = 0; i < s->strips; i++) {
        wmi_spread_strip(&s->host, lane[0], a.reg[0], a.stride, i);
        wmi_spread_strip(&s->host, lane[1], b.reg[0], b.stride, i);
        wmi_evex(&s->host, instruction, WMI_K, lane[0], wmi_zmm(lane[1]), WMI_NO_MASK, predicate);
        wmi_kmov_store(&s->host, WMI_K, WMI_FRAME, (int32_t)(step->d + 2 * i), 2);
    }
    wmi_land(&s->host, done);
    return true;
}

/* ---- 64 bits ---- */

enum {
    VPMOVZXDQ = WMI_EVEX(0x35, WMI_MAP_0F38, WMI_PREFIX_66, 0),
    VPORQ = WMI_EVEX(0xeb, WMI_MAP_0F, WMI_PREFIX_66, 1),
    VPTESTMQ = WMI_EVEX(0x27, WMI_MAP_0F38, WMI_PREFIX_66, 1),
    VPTERNLOGQ = WMI_EVEX(0x25, WMI_MAP_0F3A, WMI_PREFIX_66, 1),
    VPMULUDQ = WMI_EVEX(0xf4, WMI_MAP_0F, WMI_PREFIX_66, 1),
};

bool wmi_runs_have_pair(struct wmi_stretch *s, uint32_t low, uint32_t high)
{
    struct wmi_rows pair;
    return wmi_stretch_use_pair(s, low, high, &pair) || (have_bases(s, low, high) && !stride_of(s, high));
}

unsigned wmi_runs_zero_extend(struct wmi_stretch *s, const struct wmi_rows *row)
{
    const unsigned d = wmi_stretch_register(s);
    wmi_evex_plain(&s->host, VPMOVZXDQ, d, 0, wmi_zmm(row->reg[0]));
    wmi_stretch_leave_if_wraps(s, row);
    return d;
}

struct wmi_rows wmi_runs_pair(struct wmi_stretch *s, uint32_t low_row, uint32_t high_row)
{
    struct wmi_rows pair;
    uint32_t constant;
    if (wmi_stretch_use_pair(s, low_row, high_row, &pair))
        return pair;
    const struct wmi_rows low = wmi_stretch_use_base(s, low_row);
    pair = low;
    pair.runs = true;
    pair.reg[0] = (uint8_t)wmi_runs_zero_extend(s, &low);
    if (wmi_stretch_constant(s, high_row, &constant) && !constant)
        return pair;
    const struct wmi_rows high = wmi_stretch_use_base(s, high_row);
    const unsigned above = wmi_stretch_register(s);
    wmi_evex_plain(&s->host, VPMOVZXDQ, above, 0, wmi_zmm(high.reg[0]));
    wmi_evex(&s->host, WMI_SHIFT_IMMEDIATE_64, WMI_LEFT, above, wmi_zmm(above), WMI_NO_MASK, 32);
    wmi_evex_plain(&s->host, VPORQ, pair.reg[0], pair.reg[0], wmi_zmm(above));
    pair.whole &= high.whole;
    return pair;
}

/* A register with {high, low} in each quadword: `low` is a scalar, and so is `high`, or a uniform row. */
static unsigned pair_of_scalars(struct wmi_stretch *s, uint32_t low, uint32_t high, bool high_is_scalar)
{
    enum { SELECT = 0xd8 }; /* VPTERNLOGQ: d where the third operand is 0, and else the second one */
    const unsigned d = wmi_stretch_register(s);
    unsigned above;
    wmi_evex_plain(&s->host, WMI_VPBROADCASTD_MEMORY, d, 0, wmi_at(WMI_FRAME, (int32_t)low));
    if (high_is_scalar) {
        above = wmi_stretch_register(s);
        wmi_evex_plain(&s->host, WMI_VPBROADCASTD_MEMORY, above, 0, wmi_at(WMI_FRAME, (int32_t)high));
    } else {
        above = wmi_stretch_use_base(s, high).reg[0];
    }
    wmi_evex(&s->host, VPTERNLOGQ, d, above, quadword(offsetof(struct wmi_spread_tables, high_words)),
             WMI_NO_MASK, SELECT);
    return d;
}

/* Whether the row is a copy of the scalar that the frame still has at the place. */
static bool is_copy(const struct wmi_stretch *s, uint32_t row, uint32_t place)
{
    const struct wmi_block *block = s->block;
    const struct wmi_extent lanes = {row, row + s->row_bytes}, word = {place, place + 4};
    for (size_t i = s->at; i > s->from && !block->leads[i]; i--) {
        const struct wmi_step *before = &block->steps[i - 1];
        if (wmi_step_writes_scalars(before, word, s->lanes))
            return false;
        if (wmi_step_writes_rows(before, lanes, s->lanes))
            return before->id == WMI_STEP_fused_MOVE_SCALAR && before->a == place;
    }
    return false;
}

/* What is added in {x, d} = {c, a} + {e, b}. */
enum pair_kind { TWO_ROWS, SCALAR_AND_ROW, TWO_SCALARS };

static bool put_add_64(struct wmi_stretch *s, const struct wmi_step *step, enum pair_kind kind,
                       bool stores_carry)
{
    if (!wmi_runs_have_pair(s, step->b, step->e) ||
        (kind == TWO_ROWS && !wmi_runs_have_pair(s, step->a, step->c)) ||
        (kind == SCALAR_AND_ROW && !(wmi_stretch_has_base(s, step->c) && wmi_stretch_stride(s, step->c) < 0)))
        return false;
    const unsigned stride = stride_of(s, step->b) + (kind == TWO_ROWS ? stride_of(s, step->a) : 0);
    if (!wmi_is_stride(stride))
        return false;
    const struct wmi_rows b = wmi_runs_pair(s, step->b, step->e);
    struct wmi_host_operand a = wmi_at(WMI_FRAME, (int32_t)step->a);
    a.broadcast = true;
    if (kind == TWO_ROWS)
        a = wmi_zmm(wmi_runs_pair(s, step->a, step->c).reg[0]);
    else if (!(kind == TWO_SCALARS ? step->c == step->a + 4 : is_copy(s, step->c, step->a + 4)) ||
             !wmi_scalars_are_together(s, step->a))
        a = wmi_zmm(pair_of_scalars(s, step->a, step->c, kind == TWO_SCALARS));
    const unsigned d = wmi_stretch_register(s);
    if (stores_carry && !wmi_stretch_drops_mask(s, step->y, s->at)) {
        /* Far from 2^64, nothing carries. */
        wmi_evex_plain(&s->host, VPORQ, d, b.reg[0], a);
        wmi_stretch_leave_if(s, VPTESTMQ, d, quadword(offsetof(struct wmi_spread_tables, top_bits)),
                             WMI_NO_IMMEDIATE);
        put_mask(s, step->y, false);
        wmi_stretch_clears_mask(s, step->y);
    }
    wmi_evex_plain(&s->host, WMI_VPADDQ, d, b.reg[0], a);
    wmi_stretch_write_pair(s, step->d, step->x, d, stride);
    return true;
}

static bool emit_add_64(struct wmi_stretch *s, const struct wmi_step *step)
{
    switch ((int)step->id) {
    case WMI_STEP_fused_ADD_64:
        return put_add_64(s, step, TWO_ROWS, true);
    case WMI_STEP_fused_ADD_64_SCALAR:
        return put_add_64(s, step, SCALAR_AND_ROW, true);
    case WMI_STEP_fused_ADD_64_SCALARS:
        return put_add_64(s, step, TWO_SCALARS, true);
    case WMI_STEP_fused_ADD_64_ALONE:
        return put_add_64(s, step, TWO_ROWS, false);
    case WMI_STEP_fused_ADD_64_SCALAR_ALONE:
        return put_add_64(s, step, SCALAR_AND_ROW, false);
    default:
        return put_add_64(s, step, TWO_SCALARS, false);
    }
}

/* Shifts {high, low} at b by x, 1 to 31. */
static bool emit_shift_64(struct wmi_stretch *s, const struct wmi_step *step)
{
    const unsigned count = step->x & 31;
    if (!wmi_runs_have_pair(s, step->b, step->b + s->row_bytes))
        return false;
    unsigned stride = stride_of(s, step->b);
    if (stride && (count > 4 || !wmi_is_stride(stride <<= count)))
        return false;
    const struct wmi_rows b = wmi_runs_pair(s, step->b, step->b + s->row_bytes);
    const unsigned d = wmi_stretch_register(s);
    wmi_evex(&s->host, WMI_SHIFT_IMMEDIATE_64, WMI_LEFT, d, wmi_zmm(b.reg[0]), WMI_NO_MASK, (int)count);
    wmi_stretch_write_pair(s, step->d, step->d + s->row_bytes, d, stride);
    return true;
}

/* (a << b) + c for constant b */
static bool emit_shift_add_64(struct wmi_stretch *s, const struct wmi_step *step)
{
    uint32_t count;
    if (!wmi_stretch_constant(s, step->b, &count) ||
        !wmi_runs_have_pair(s, step->a, step->a + s->row_bytes) ||
        !wmi_runs_have_pair(s, step->c, step->c + s->row_bytes))
        return false;
    const unsigned stride = (stride_of(s, step->a) << (count & 7)) + stride_of(s, step->c);
    if (!wmi_is_stride(stride))
        return false;
    const struct wmi_rows a = wmi_runs_pair(s, step->a, step->a + s->row_bytes),
                          c = wmi_runs_pair(s, step->c, step->c + s->row_bytes);
    const unsigned d = wmi_stretch_register(s);
    wmi_evex(&s->host, WMI_SHIFT_IMMEDIATE_64, WMI_LEFT, d, wmi_zmm(a.reg[0]), WMI_NO_MASK, count & 7);
    wmi_evex_plain(&s->host, WMI_VPADDQ, d, d, wmi_zmm(c.reg[0]));
    wmi_stretch_write_pair(s, step->d, step->d + s->row_bytes, d, stride);
    return true;
}

/* v_mad_u64_u32 of which nothing reads the carry: a 32-bit product if nothing reads the high word either. */
static bool emit_multiply_add_64(struct wmi_stretch *s, const struct wmi_step *step)
{
    const uint32_t high = step->d + s->row_bytes, c_high = step->c + s->row_bytes;
    if (step->y & 1 || !wmi_stretch_drops_mask(s, step->e, s->at))
        return false;
    if (wmi_stretch_drops_row(s, high))
        return put_multiply_add(s, step, 0);
    if (!have_bases(s, step->a, step->b) || stride_of(s, step->a) || stride_of(s, step->b) ||
        !wmi_runs_have_pair(s, step->c, c_high))
        return false;
    const struct wmi_rows a = wmi_stretch_use_base(s, step->a), b = wmi_stretch_use_base(s, step->b),
                          c = wmi_runs_pair(s, step->c, c_high);
    const unsigned d = wmi_runs_zero_extend(s, &a), y = wmi_runs_zero_extend(s, &b);
    wmi_evex_plain(&s->host, VPMULUDQ, d, d, wmi_zmm(y));
    wmi_evex_plain(&s->host, WMI_VPADDQ, d, d, wmi_zmm(c.reg[0]));
    wmi_stretch_write_pair(s, step->d, high, d, c.stride);
    return true;
}

/* ---- the table ---- */

static wmi_emit_step *emitter_of(enum wmi_step_id id)
{
    switch ((int)id) {
#define BODY(name, emit)                                                                                     \
    case WMI_STEP_BODIES + WMI_INSN_##name:                                                                  \
        return emit
        BODY(v_add_u32, emit_add);
        BODY(v_add_co_u32, emit_add_carry);
        BODY(v_addc_co_u32, emit_add_carried);
        BODY(v_sub_u32, emit_subtract);
        BODY(v_subrev_u32, emit_subtract_reversed);
        BODY(v_add3_u32, emit_add_3);
        BODY(v_mov_b32, emit_move);
        BODY(v_lshl_b32, emit_shift_left);
        BODY(v_lshlrev_b32, emit_shift_left_reversed);
        BODY(v_lshl_add_u32, emit_shift_add);
        BODY(v_add_lshl_u32, emit_add_shift);
        BODY(v_lshr_b32, emit_shift_right);
        BODY(v_lshrrev_b32, emit_shift_right_reversed);
        BODY(v_ashrrev_i32, emit_sign);
        BODY(v_bfe_u32, emit_field);
        BODY(v_and_b32, emit_and);
        BODY(v_or_b32, emit_or);
        BODY(v_lshl_or_b32, emit_shift_or);
        BODY(v_mad_u32_u24, emit_multiply_add_u24);
        BODY(v_mad_i32_i24, emit_multiply_add_i24);
        BODY(v_mad_u64_u32, emit_multiply_add_64);
        BODY(v_lshl_add_u64, emit_shift_add_64);
        BODY(v_min_u32, emit_min_u32);
        BODY(v_max_u32, emit_max_u32);
        BODY(v_min_i32, emit_min_i32);
        BODY(v_max_i32, emit_max_i32);
#undef BODY
    case WMI_STEP_fused_ADD_64:
    case WMI_STEP_fused_ADD_64_SCALAR:
    case WMI_STEP_fused_ADD_64_SCALARS:
    case WMI_STEP_fused_ADD_64_ALONE:
    case WMI_STEP_fused_ADD_64_SCALAR_ALONE:
    case WMI_STEP_fused_ADD_64_SCALARS_ALONE:
        return emit_add_64;
    case WMI_STEP_fused_SHIFT_LEFT_64:
        return emit_shift_64;
    case WMI_STEP_stage_OP_SEL_LOW:
        return emit_low_half;
    default:
        return NULL;
    }
}

/* What the rows that the step reads have in common. */
enum sources { OTHERS, UNIFORM, SAME_IN_STRIP, GROWING };

static enum sources sources_of(const struct wmi_stretch *s, const struct wmi_step *step)
{
    static const enum wmi_step_operand operands[] = {WMI_OP_A, WMI_OP_B, WMI_OP_C, WMI_OP_E};
    enum sources all = UNIFORM;
    for (unsigned i = 0; i < sizeof operands / sizeof *operands; i++) {
        if ((step->use[operands[i]] & (WMI_USE_READ | WMI_USE_KIND)) != (WMI_USE_READ | WMI_USE_ROWS))
            continue;
        const struct wmi_extent span = wmi_step_span(step, operands[i], s->lanes);
        if (span.from < offsetof(struct wmi_frame, rows)) /* an operand that the step lacks */
            return OTHERS;
        for (uint32_t row = span.from; row < span.to; row += s->row_bytes) {
            if (!wmi_stretch_has_base(s, row))
                return OTHERS;
            const int stride = wmi_stretch_stride(s, row);
            const enum sources one = stride < 0 ? UNIFORM : stride ? GROWING : SAME_IN_STRIP;
            all = one > all ? one : all;
        }
    }
    return all;
}

static bool emit_on_bases(struct wmi_stretch *s, const struct wmi_step *step)
{
    s->on_bases = true;
    const bool emitted = wmi_vector_emitter(step)(s, step);
    s->on_bases = false;
    return emitted;
}

bool wmi_runs_emit_same(struct wmi_stretch *s, const struct wmi_step *step)
{
    return step->lanes == offsetof(struct wmi_frame, exec) && sources_of(s, step) == SAME_IN_STRIP &&
           emit_on_bases(s, step);
}

bool wmi_runs_emit(struct wmi_stretch *s, const struct wmi_step *step)
{
    const enum sources sources = sources_of(s, step);
    if (sources < SAME_IN_STRIP || step->lanes != offsetof(struct wmi_frame, exec))
        return false;
    wmi_emit_step *emit = emitter_of(step->id);
    if (emit && emit(s, step))
        return true;
    uint32_t instruction;
    int predicate;
    if (wmi_vector_compares(step, &instruction, &predicate))
        return put_compare(s, step, instruction, predicate);
    return sources == SAME_IN_STRIP && wmi_vector_works_on_bases(step) && emit_on_bases(s, step);
}
