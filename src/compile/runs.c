/* SPDX-License-Identifier: MIT */
#include "compile/runs.h"

enum { LAST = WMI_STRIP_LANES - 1 };

/* A word of a table in all lanes. Needs R11. */
static struct wmi_host_operand in_all_lanes(size_t table, unsigned stride)
{
    struct wmi_host_operand operand = wmi_at(WMI_R11, (int32_t)(table + 4 * wmi_stride_number(stride)));
    operand.broadcast = true;
    return operand;
}

/* Leaves if a base compares so. */
static void leave_if(struct wmi_stretch *s, uint32_t instruction, unsigned a, struct wmi_host_operand b,
                     int predicate)
{
    wmi_evex(&s->host, instruction, WMI_K, a, b, WMI_NO_MASK, predicate);
    wmi_kortest(&s->host, WMI_K, WMI_K);
    wmi_stretch_exit_if(s, WMI_IF_NOT_EQUAL);
}

void wmi_runs_leave_if_wraps(struct wmi_stretch *s, unsigned bases, unsigned stride)
{
    if (stride)
        leave_if(s, WMI_VPCMPUD, bases, in_all_lanes(offsetof(struct wmi_spread_tables, most), stride),
                 WMI_ABOVE);
}

/* A register with the values of the strips' last lanes. Needs R11. */
static unsigned last_lanes(struct wmi_stretch *s, const struct wmi_rows *a)
{
    const unsigned reg = wmi_stretch_register(s);
    wmi_evex_plain(&s->host, WMI_VPADDD, reg, a->reg[0],
                   in_all_lanes(offsetof(struct wmi_spread_tables, last), a->stride));
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
static unsigned stride_of(struct wmi_stretch *s, uint32_t row)
{
    return wmi_stretch_use_base(s, row).stride;
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

/* a - b, and with the CLAMP bit, the same if no lane of a is below the uniform b. */
static bool put_difference(struct wmi_stretch *s, const struct wmi_step *step, uint32_t from, uint32_t what)
{
    if (!(step->y & 1))
        return put_sum(s, step, WMI_VPSUBD, from, what);
    if (!have_bases(s, from, what) || stride_of(s, what))
        return false;
    const struct wmi_rows a = wmi_stretch_use_base(s, from), b = wmi_stretch_use_base(s, what);
    const unsigned d = wmi_stretch_register(s);
    wmi_spread_begin(&s->host);
    wmi_runs_leave_if_wraps(s, a.reg[0], a.stride);
    leave_if(s, WMI_VPCMPUD, a.reg[0], wmi_zmm(b.reg[0]), WMI_BELOW);
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
    const struct wmi_rows a = wmi_stretch_use_base(s, step->a);
    const unsigned d = wmi_stretch_register(s);
    wmi_evex_plain(&s->host, WMI_VMOVDQA32, d, 0, wmi_zmm(a.reg[0]));
    wmi_stretch_write_runs(s, step->d, d, a.stride);
    return true;
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

/* Leaves unless the bits below 2^width of a, and what a strip adds to them, stay below 2^width. Needs R11. */
static void leave_if_carries(struct wmi_stretch *s, const struct wmi_rows *a, unsigned width)
{
    if (!a->stride || width >= 32) {
        wmi_runs_leave_if_wraps(s, a->reg[0], a->stride);
        return;
    }
    const unsigned low = wmi_stretch_register(s);
    shift(s, WMI_LEFT, low, a->reg[0], 32 - width);
    shift(s, WMI_RIGHT, low, low, 32 - width);
    wmi_evex_plain(&s->host, WMI_VPADDD, low, low,
                   in_all_lanes(offsetof(struct wmi_spread_tables, last), a->stride));
    shift(s, WMI_RIGHT, low, low, width);
    leave_if(s, WMI_VPTESTMD, low, wmi_zmm(low), WMI_NO_IMMEDIATE);
}

/* The bits of a from `first` on: the same in all lanes of a strip if what is below does not carry, and
 * growing if `first` is 0 and what is kept does not carry. */
static bool put_field(struct wmi_stretch *s, const struct wmi_step *step, uint32_t row, unsigned first,
                      unsigned width)
{
    if (!wmi_stretch_has_base(s, row) || !width)
        return false;
    const struct wmi_rows a = wmi_stretch_use_base(s, row);
    if ((uint64_t)a.stride * LAST >> (first ? first : width)) /* it always carries */
        return false;
    const unsigned d = wmi_stretch_register(s), above = first + width < 32 ? 32 - first - width : 0;
    wmi_spread_begin(&s->host);
    leave_if_carries(s, &a, first ? first : width);
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

/* With a constant of which the lowest bits are set, and no others. */
static bool emit_and(struct wmi_stretch *s, const struct wmi_step *step)
{
    uint32_t mask;
    const bool reversed = wmi_stretch_constant(s, step->a, &mask);
    if ((!reversed && !wmi_stretch_constant(s, step->b, &mask)) || !mask || mask & (mask + 1))
        return false;
    return put_field(s, step, reversed ? step->b : step->a, 0, (unsigned)__builtin_popcount(mask));
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
    wmi_spread_begin(&s->host);
    const unsigned last = last_lanes(s, &a);
    wmi_evex_plain(&s->host, WMI_VPXORD, last, last, wmi_zmm(a.reg[0]));
    shift(s, WMI_RIGHT, last, last, 31);
    leave_if(s, WMI_VPTESTMD, last, wmi_zmm(last), WMI_NO_IMMEDIATE);
    shift(s, WMI_RIGHT_SIGNED, d, a.reg[0], 31);
    wmi_stretch_write_runs(s, step->d, d, 0);
    return true;
}

/* d = a | b, where one of them grows. That is a sum if no bit is set in both. */
static bool put_or(struct wmi_stretch *s, const struct wmi_step *step, const struct wmi_rows *a,
                   const struct wmi_rows *b)
{
    const struct wmi_rows *grows = a->stride ? a : b, *other = a->stride ? b : a;
    if (!grows->stride || other->stride)
        return false;
    const unsigned width = 32 - (unsigned)__builtin_clz(grows->stride * LAST), bits = wmi_stretch_register(s),
                   d = wmi_stretch_register(s);
    wmi_spread_begin(&s->host);
    leave_if_carries(s, grows, width);
    wmi_evex(&s->host, WMI_VPTERNLOGD, bits, bits, wmi_zmm(bits), WMI_NO_MASK, 0xff);
    shift(s, WMI_RIGHT, bits, bits, 32 - width);
    wmi_evex_plain(&s->host, WMI_VPORD, bits, bits,
                   wmi_zmm(grows->reg[0])); /* every bit that a lane may have */
    leave_if(s, WMI_VPTESTMD, bits, wmi_zmm(other->reg[0]), WMI_NO_IMMEDIATE);
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
    struct wmi_rows first = {.uniform = true, .runs = true, .stride = (uint8_t)stride};
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

/* v_mad_u64_u32 of which only the low word is read. */
static bool emit_multiply_add_low(struct wmi_stretch *s, const struct wmi_step *step)
{
    return !(step->y & 1) && wmi_stretch_drops_mask(s, step->e) &&
           wmi_stretch_drops_row(s, step->d + s->row_bytes) && put_multiply_add(s, step, 0);
}

/* The minimum (WMI_BELOW) or maximum (WMI_ABOVE) of what grows and what does not, if it is the same one in
 * all lanes: the one that grows. */
static bool put_limit(struct wmi_stretch *s, const struct wmi_step *step, uint32_t compare, unsigned wanted)
{
    if (!have_bases(s, step->a, step->b) || !stride_of(s, step->a) == !stride_of(s, step->b))
        return false;
    const struct wmi_rows a = wmi_stretch_use_base(s, step->a), b = wmi_stretch_use_base(s, step->b);
    const struct wmi_rows *grows = a.stride ? &a : &b, *limit = a.stride ? &b : &a;
    const unsigned d = wmi_stretch_register(s);
    wmi_spread_begin(&s->host);
    const unsigned last = last_lanes(s, grows);
    leave_if(s, compare, last, wmi_zmm(grows->reg[0]), WMI_BELOW);
    leave_if(s, compare, wanted == WMI_BELOW ? last : grows->reg[0], wmi_zmm(limit->reg[0]),
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

/* d = the lanes for which a and b compare so. That is usually all of them, because indices are compared with
 * sizes: then the first and the last lane of each strip, between which the values only grow, do. */
static bool put_compare(struct wmi_stretch *s, const struct wmi_step *step, uint32_t instruction,
                        int predicate)
{
    const bool orders = predicate != WMI_EQUAL && predicate != WMI_DIFFERS;
    if (!orders || !have_bases(s, step->a, step->b))
        return false;
    const struct wmi_rows a = wmi_stretch_use_base(s, step->a), b = wmi_stretch_use_base(s, step->b);
    if (a.stride && b.stride)
        return false;
    const struct wmi_rows *grows = a.stride ? &a : &b;
    const unsigned lane[] = {wmi_stretch_register(s), wmi_stretch_register(s)}, collected = WMI_K,
                   further = WMI_K + 1, joined = WMI_K + 2;
    wmi_spread_begin(&s->host);
    wmi_evex(&s->host, instruction, collected, a.reg[0], wmi_zmm(b.reg[0]), WMI_NO_MASK,
             predicate ^ WMI_OPPOSITE);
    if (grows->stride) {
        wmi_evex_plain(&s->host, WMI_VPADDD, lane[0], grows->reg[0],
                       in_all_lanes(offsetof(struct wmi_spread_tables, last), grows->stride));
        wmi_evex(&s->host, instruction, further, lane[0], wmi_zmm(grows->reg[0]), WMI_NO_MASK, WMI_BELOW);
        wmi_mask(&s->host, WMI_KOR, collected, collected, further);
        wmi_evex(&s->host, instruction, further, a.stride ? lane[0] : a.reg[0],
                 wmi_zmm(a.stride ? b.reg[0] : lane[0]), WMI_NO_MASK, predicate ^ WMI_OPPOSITE);
        wmi_mask(&s->host, WMI_KOR, collected, collected, further);
    }
    wmi_kortest(&s->host, collected, collected);
    const size_t differ = wmi_jump_if(&s->host, WMI_IF_NOT_EQUAL);
    wmi_move_immediate(&s->host, WMI_RAX, UINT64_MAX);
    wmi_scalar_memory(&s->host, WMI_MOV_STORE, s->lanes == 64, WMI_RAX, WMI_FRAME, (int32_t)step->d);
    const size_t done = wmi_jump(&s->host);
    wmi_land(&s->host, differ);
    for (unsigned i = 0; i < s->strips; i++) {
        wmi_spread_strip(&s->host, lane[0], a.reg[0], a.stride, i);
        wmi_spread_strip(&s->host, lane[1], b.reg[0], b.stride, i);
        wmi_evex(&s->host, instruction, joined, lane[0], wmi_zmm(lane[1]), WMI_NO_MASK, predicate);
        wmi_kmov_store(&s->host, joined, WMI_FRAME, (int32_t)(step->d + 2 * i), 2);
    }
    wmi_land(&s->host, done);
    return true;
}

/* ---- 64 bits ---- */

/* Pairs of rows: the low words grow and do not wrap, the high words are the same in all lanes of a strip. */

static struct wmi_rows base_or_scalar(struct wmi_stretch *s, uint32_t place, bool scalar)
{
    if (!scalar)
        return wmi_stretch_use_base(s, place);
    const unsigned reg = wmi_stretch_register(s);
    wmi_evex_plain(&s->host, WMI_VPBROADCASTD_MEMORY, reg, 0, wmi_at(WMI_FRAME, (int32_t)place));
    return (struct wmi_rows){.reg = {(uint8_t)reg}, .uniform = true};
}

/* {x, d} = {c, a} + {e, b} */
static bool put_add_64(struct wmi_stretch *s, const struct wmi_step *step, bool scalar_low, bool scalar_high,
                       bool stores_carry)
{
    const uint32_t a_row = scalar_low ? step->b : step->a, c_row = scalar_high ? step->e : step->c;
    if (!have_bases(s, a_row, step->b) || !have_bases(s, c_row, step->e) || stride_of(s, c_row) ||
        stride_of(s, step->e))
        return false;
    const unsigned stride = stride_of(s, step->b) + (scalar_low ? 0 : stride_of(s, step->a));
    if (!wmi_is_stride(stride))
        return false;
    const struct wmi_rows a = base_or_scalar(s, step->a, scalar_low), b = wmi_stretch_use_base(s, step->b),
                          c = base_or_scalar(s, step->c, scalar_high), e = wmi_stretch_use_base(s, step->e);
    const unsigned low = wmi_stretch_register(s), high = wmi_stretch_register(s),
                   ones = wmi_stretch_register(s), carry = WMI_K + 1;
    wmi_spread_begin(&s->host);
    wmi_runs_leave_if_wraps(s, a.reg[0], a.stride);
    wmi_runs_leave_if_wraps(s, b.reg[0], b.stride);
    wmi_evex_plain(&s->host, WMI_VPADDD, low, a.reg[0], wmi_zmm(b.reg[0]));
    wmi_runs_leave_if_wraps(s, low, stride);
    wmi_evex_plain(&s->host, WMI_VPADDD, high, c.reg[0], wmi_zmm(e.reg[0]));
    if (stores_carry)
        leave_if(s, WMI_VPCMPUD, high, wmi_zmm(e.reg[0]), WMI_BELOW);
    wmi_evex(&s->host, WMI_VPCMPUD, carry, low, wmi_zmm(b.reg[0]), WMI_NO_MASK, WMI_BELOW);
    wmi_evex(&s->host, WMI_VPTERNLOGD, ones, ones, wmi_zmm(ones), WMI_NO_MASK, 0xff);
    if (stores_carry) {
        /* All ones would wrap. */
        wmi_evex(&s->host, WMI_VPCMPUD, WMI_K, high, wmi_zmm(ones), carry, 0);
        wmi_kortest(&s->host, WMI_K, WMI_K);
        wmi_stretch_exit_if(s, WMI_IF_NOT_EQUAL);
        wmi_move_immediate(&s->host, WMI_RAX, 0);
        wmi_scalar_memory(&s->host, WMI_MOV_STORE, s->lanes == 64, WMI_RAX, WMI_FRAME, (int32_t)step->y);
    }
    wmi_evex(&s->host, WMI_VPSUBD, high, high, wmi_zmm(ones), carry, WMI_NO_IMMEDIATE);
    wmi_stretch_write_runs(s, step->d, low, stride);
    wmi_stretch_write_runs(s, step->x, high, 0);
    return true;
}

static bool emit_add_64(struct wmi_stretch *s, const struct wmi_step *step)
{
    const enum wmi_step_id id = step->id;
    const bool scalars = id == WMI_STEP_fused_ADD_64_SCALARS || id == WMI_STEP_fused_ADD_64_SCALARS_ALONE;
    return put_add_64(
        s, step, scalars || id == WMI_STEP_fused_ADD_64_SCALAR || id == WMI_STEP_fused_ADD_64_SCALAR_ALONE,
        scalars, id <= WMI_STEP_fused_ADD_64_SCALARS);
}

/* Shifts {high, low} at b by x, 1 to 31. */
static bool emit_shift_64(struct wmi_stretch *s, const struct wmi_step *step)
{
    const unsigned count = step->x & 31;
    if (!have_bases(s, step->b, step->b + s->row_bytes) || stride_of(s, step->b + s->row_bytes))
        return false;
    const struct wmi_rows low = wmi_stretch_use_base(s, step->b),
                          high = wmi_stretch_use_base(s, step->b + s->row_bytes);
    if (low.stride && (count > 4 || !wmi_is_stride((unsigned)low.stride << count)))
        return false;
    const unsigned d = wmi_stretch_register(s), d_high = wmi_stretch_register(s),
                   over = wmi_stretch_register(s), stride = low.stride ? (unsigned)low.stride << count : 0;
    wmi_spread_begin(&s->host);
    wmi_runs_leave_if_wraps(s, low.reg[0], low.stride);
    shift(s, WMI_LEFT, d, low.reg[0], count);
    wmi_runs_leave_if_wraps(s, d, stride);
    shift(s, WMI_RIGHT, over, low.reg[0], 32 - count);
    shift(s, WMI_LEFT, d_high, high.reg[0], count);
    wmi_evex_plain(&s->host, WMI_VPORD, d_high, d_high, wmi_zmm(over));
    wmi_stretch_write_runs(s, step->d, d, stride);
    wmi_stretch_write_runs(s, step->d + s->row_bytes, d_high, 0);
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
        BODY(v_mad_u64_u32, emit_multiply_add_low);
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
    if (sources != SAME_IN_STRIP || !wmi_vector_works_on_bases(step))
        return false;
    s->on_bases = true;
    const bool emitted = wmi_vector_emitter(step)(s, step);
    s->on_bases = false;
    return emitted;
}
