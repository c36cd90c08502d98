/* SPDX-License-Identifier: MIT */
/* Host code of vector steps that count, find, reverse or select bits and bytes; see sem/valu_bits_lanes.c. */
#include "jit/lane_access.h"
#include "jit/vector.h"

static const uint32_t vpshufb = WMI_EVEX(0x00, WMI_MAP_0F38, WMI_PREFIX_66, 0),
                      vbroadcasti32x4 = WMI_EVEX_OF(0x5a, WMI_MAP_0F38, WMI_PREFIX_66, 0, 4);

/* What VPSHUFB looks up in each 16 bytes. */
static const struct byte_tables {
    uint8_t set_bits[16], reversed_bits[16]; /* of four bits */
    uint8_t reversed_bytes[16];              /* of each word */
    uint8_t first_bytes[16];                 /* the number of the first byte of each word */
    uint32_t lanes_below[2 * WMI_STRIP_LANES];
} tables = {
    .set_bits = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4},
    .reversed_bits = {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15},
    .reversed_bytes = {3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12},
    .first_bytes = {0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12},
    .lanes_below = {0x00000000, 0x00000001, 0x00000003, 0x00000007, 0x0000000f, 0x0000001f, 0x0000003f,
                    0x0000007f, 0x000000ff, 0x000001ff, 0x000003ff, 0x000007ff, 0x00000fff, 0x00001fff,
                    0x00003fff, 0x00007fff, 0x0000ffff, 0x0001ffff, 0x0003ffff, 0x0007ffff, 0x000fffff,
                    0x001fffff, 0x003fffff, 0x007fffff, 0x00ffffff, 0x01ffffff, 0x03ffffff, 0x07ffffff,
                    0x0fffffff, 0x1fffffff, 0x3fffffff, 0x7fffffff},
};

/* A register with one of the tables, until the end of the step. Changes RAX. */
static unsigned table(struct wmi_stretch *s, size_t place)
{
    const unsigned reg = wmi_stretch_register(s);
    wmi_move_immediate(&s->host, WMI_RAX, (uintptr_t)&tables);
    wmi_evex_plain(&s->host, vbroadcasti32x4, reg, 0, wmi_at(WMI_RAX, (int32_t)place));
    return reg;
}

/* Looks up both halves of each byte of `low`: the results replace it and `high`. */
static void look_up_halves(struct wmi_stretch *s, unsigned results, unsigned four_bits, unsigned low,
                           unsigned high)
{
    wmi_vector_shift(s, WMI_RIGHT, high, wmi_zmm(low), 4);
    wmi_evex_plain(&s->host, WMI_VPANDD, low, low, wmi_zmm(four_bits));
    wmi_evex_plain(&s->host, WMI_VPANDD, high, high, wmi_zmm(four_bits));
    wmi_evex_plain(&s->host, vpshufb, low, results, wmi_zmm(low));
    wmi_evex_plain(&s->host, vpshufb, high, results, wmi_zmm(high));
}

static void put_splat(struct wmi_stretch *s, unsigned reg, uint32_t value)
{
    wmi_move_immediate(&s->host, WMI_RAX, value);
    wmi_access_splat(s, reg);
}

/* What counting bits needs. */
struct counter {
    unsigned set_bits, four_bits, byte_ones, half_ones, other;
};

static struct counter begin_counting(struct wmi_stretch *s)
{
    return (struct counter){
        .set_bits = table(s, offsetof(struct byte_tables, set_bits)),
        .four_bits = wmi_vector_splat(s, 0x0f0f0f0f),
        .byte_ones = wmi_vector_splat(s, 0x01010101),
        .half_ones = wmi_vector_splat(s, 0x00010001),
        .other = wmi_stretch_register(s),
    };
}

/* d = the number of set bits of each of its words. */
static void count_bits(struct wmi_stretch *s, const struct counter *c, unsigned d)
{
    const uint32_t vpaddb = WMI_EVEX(0xfc, WMI_MAP_0F, WMI_PREFIX_66, 0),
                   vpmaddubsw = WMI_EVEX(0x04, WMI_MAP_0F38, WMI_PREFIX_66, 0),
                   vpmaddwd = WMI_EVEX(0xf5, WMI_MAP_0F, WMI_PREFIX_66, 0);
    look_up_halves(s, c->set_bits, c->four_bits, d, c->other);
    wmi_evex_plain(&s->host, vpaddb, d, d, wmi_zmm(c->other));
    wmi_evex_plain(&s->host, vpmaddubsw, d, d, wmi_zmm(c->byte_ones));
    wmi_evex_plain(&s->host, vpmaddwd, d, d, wmi_zmm(c->half_ones));
}

/* The bits of a, plus b. */
bool wmi_emit_count_bits(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_rows a = wmi_stretch_use(s, step->a, false), b = wmi_stretch_use(s, step->b, false),
                          count = wmi_vector_copy(s, &a, a.uniform);
    const struct counter counter = begin_counting(s);
    for (unsigned i = 0; i < wmi_rows_strips(s, &count); i++)
        count_bits(s, &counter, count.reg[i]);
    struct wmi_rows d = wmi_vector_two(s, WMI_VPADDD, &count, &b, false);
    wmi_stretch_write(s, step->d, &d);
    return true;
}

/* How many of the lanes that a mask of 32 lanes is for are below those of the strip. */
enum reach { NONE, SOME, ALL };

static enum reach reach_below(unsigned strip, bool high)
{
    const bool is_upper = strip >= 2;
    return is_upper == high ? SOME : is_upper ? ALL : NONE;
}

/* Where the masks of lanes below are, and with all bits set, their counts. */
static struct wmi_host_operand below_in_half(unsigned strip)
{
    return wmi_at(WMI_RAX,
                  (int32_t)(offsetof(struct byte_tables, lanes_below) + strip % 2 * WMI_STRIP_BYTES));
}

static struct wmi_host_operand counts_in_half(unsigned strip)
{
    return wmi_at(WMI_R9, wmi_lane_offsets(1, strip % 2));
}

/* b + the number of lanes below, among 32. */
static struct wmi_rows add_lanes_below(struct wmi_stretch *s, const struct wmi_rows *b, bool high)
{
    struct wmi_rows d = wmi_stretch_result(s, false);
    const unsigned all = wmi_vector_splat(s, 32);
    wmi_move_immediate(&s->host, WMI_R9, (uintptr_t)&wmi_lane_tables);
    for (unsigned i = 0; i < s->strips; i++) {
        const unsigned from = wmi_rows_register(b, i);
        const enum reach reach = reach_below(i, high);
        if (reach == NONE)
            wmi_evex_plain(&s->host, WMI_VMOVDQA32, d.reg[i], 0, wmi_zmm(from));
        else
            wmi_evex_plain(&s->host, WMI_VPADDD, d.reg[i], from,
                           reach == ALL ? wmi_zmm(all) : counts_in_half(i));
    }
    return d;
}

/* b + the bits of a for lanes below, among 32. */
static struct wmi_rows add_bits_below(struct wmi_stretch *s, const struct wmi_rows *a,
                                      const struct wmi_rows *b, bool high)
{
    struct wmi_rows d = wmi_stretch_result(s, false);
    const struct counter counter = begin_counting(s);
    wmi_move_immediate(&s->host, WMI_RAX, (uintptr_t)&tables);
    for (unsigned i = 0; i < s->strips; i++) {
        const unsigned from = wmi_rows_register(a, i);
        const enum reach reach = reach_below(i, high);
        if (reach == NONE) {
            wmi_evex_plain(&s->host, WMI_VMOVDQA32, d.reg[i], 0, wmi_rows_operand(s, b, i));
            continue;
        }
        wmi_evex_plain(&s->host, WMI_VPANDD, d.reg[i], from, reach == ALL ? wmi_zmm(from) : below_in_half(i));
        count_bits(s, &counter, d.reg[i]);
        wmi_evex_plain(&s->host, WMI_VPADDD, d.reg[i], d.reg[i], wmi_rows_operand(s, b, i));
    }
    return d;
}

/* The argument: whether a is for the upper 32 lanes. */
bool wmi_emit_count_below(struct wmi_stretch *s, const struct wmi_step *step)
{
    const bool high = wmi_recipe_of(step)->argument;
    const struct wmi_rows b = wmi_stretch_use(s, step->b, true);
    uint32_t mask = 0;
    struct wmi_rows d;
    if (wmi_stretch_constant(s, step->a, &mask) && mask == UINT32_MAX) {
        d = add_lanes_below(s, &b, high);
    } else {
        const struct wmi_rows a = wmi_stretch_use(s, step->a, true);
        d = add_bits_below(s, &a, &b, high);
    }
    wmi_stretch_write(s, step->d, &d);
    return true;
}

bool wmi_emit_reverse_bits(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_rows a = wmi_stretch_use(s, step->a, false);
    struct wmi_rows d = wmi_vector_copy(s, &a, a.uniform);
    const unsigned bits = table(s, offsetof(struct byte_tables, reversed_bits)),
                   bytes = table(s, offsetof(struct byte_tables, reversed_bytes)),
                   four_bits = wmi_vector_splat(s, 0x0f0f0f0f), other = wmi_stretch_register(s);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++) {
        look_up_halves(s, bits, four_bits, d.reg[i], other);
        wmi_vector_shift(s, WMI_LEFT, d.reg[i], wmi_zmm(d.reg[i]), 4);
        wmi_evex_plain(&s->host, WMI_VPORD, d.reg[i], d.reg[i], wmi_zmm(other));
        wmi_evex_plain(&s->host, vpshufb, d.reg[i], d.reg[i], wmi_zmm(bytes));
    }
    wmi_stretch_write(s, step->d, &d);
    return true;
}

/* ---- the first set bit: the exponent of a float tells where it is ---- */

enum { FRACTION = 23, BIAS = 127 };

/* Zeros below the lowest set bit, or -1, which is more than the exponent of 0. */
bool wmi_emit_first_from_low(struct wmi_stretch *s, const struct wmi_step *step)
{
    const uint32_t vcvtudq2ps = WMI_EVEX(0x7a, WMI_MAP_0F, WMI_PREFIX_F2, 0),
                   vpmaxsd = WMI_EVEX(0x3d, WMI_MAP_0F38, WMI_PREFIX_66, 0);
    const struct wmi_rows a = wmi_stretch_use(s, step->a, false);
    struct wmi_rows d = wmi_stretch_result(s, a.uniform);
    const unsigned zero = wmi_vector_splat(s, 0), bias = wmi_vector_splat(s, BIAS),
                   ones = wmi_vector_splat(s, UINT32_MAX);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++) {
        const unsigned reg = d.reg[i];
        wmi_evex_plain(&s->host, WMI_VPSUBD, reg, zero, wmi_rows_operand(s, &a, i));
        wmi_evex_plain(&s->host, WMI_VPANDD, reg, reg, wmi_rows_operand(s, &a, i));
        wmi_evex_plain(&s->host, vcvtudq2ps, reg, 0, wmi_zmm(reg));
        wmi_vector_shift(s, WMI_RIGHT, reg, wmi_zmm(reg), FRACTION);
        wmi_evex_plain(&s->host, WMI_VPSUBD, reg, reg, wmi_zmm(bias));
        wmi_evex_plain(&s->host, vpmaxsd, reg, reg, wmi_zmm(ones));
    }
    wmi_stretch_write(s, step->d, &d);
    return true;
}

/* Zeros above the highest set bit, or -1. The bit below it is cleared, so that no rounding reaches the next
 * exponent. The argument: of the value as it is, or inverted if it is negative. */
bool wmi_emit_first_from_high(struct wmi_stretch *s, const struct wmi_step *step)
{
    const uint32_t vcvtudq2ps = WMI_EVEX(0x7a, WMI_MAP_0F, WMI_PREFIX_F2, 0);
    const bool is_signed = wmi_recipe_of(step)->argument == WMI_FROM_SIGNED;
    const struct wmi_rows a = wmi_stretch_use(s, step->a, false);
    struct wmi_rows d = wmi_stretch_result(s, a.uniform);
    const unsigned below = wmi_stretch_register(s), top = wmi_vector_splat(s, BIAS + 31),
                   ones = wmi_vector_splat(s, UINT32_MAX);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++) {
        const unsigned reg = d.reg[i];
        if (is_signed) {
            wmi_vector_shift(s, WMI_RIGHT_SIGNED, reg, wmi_rows_operand(s, &a, i), 31);
            wmi_evex_plain(&s->host, WMI_VPXORD, reg, reg, wmi_rows_operand(s, &a, i));
        } else {
            wmi_evex_plain(&s->host, WMI_VMOVDQA32, reg, 0, wmi_rows_operand(s, &a, i));
        }
        wmi_evex_plain(&s->host, WMI_VPTESTNMD, WMI_K, reg, wmi_zmm(reg));
        wmi_vector_shift(s, WMI_RIGHT, below, wmi_zmm(reg), 1);
        wmi_evex_plain(&s->host, WMI_VPANDND, reg, below, wmi_zmm(reg));
        wmi_evex_plain(&s->host, vcvtudq2ps, reg, 0, wmi_zmm(reg));
        wmi_vector_shift(s, WMI_RIGHT, reg, wmi_zmm(reg), FRACTION);
        wmi_evex_plain(&s->host, WMI_VPSUBD, reg, top, wmi_zmm(reg));
        wmi_evex(&s->host, WMI_VMOVDQA32, reg, 0, wmi_zmm(ones), WMI_K, WMI_NO_IMMEDIATE);
    }
    wmi_stretch_write(s, step->d, &d);
    return true;
}

/* ---- bytes ---- */

enum { FIRST_AND_SECOND_OR_THIRD = 0xea };

/* v_perm_b32 with one selection for all lanes. It becomes a selection of bytes of a and one of b, for
 * VPSHUFB, which gives 0 for a byte whose highest bit is set. Leaves if a byte selects a sign or ones. */
static struct wmi_rows permute_by_uniform(struct wmi_stretch *s, const struct wmi_rows *a,
                                          const struct wmi_rows *b, unsigned select)
{
    const uint32_t vpcmpub = WMI_EVEX(0x3e, WMI_MAP_0F3A, WMI_PREFIX_66, 0);
    struct wmi_rows d = wmi_stretch_result(s, a->uniform && b->uniform);
    const unsigned first = table(s, offsetof(struct byte_tables, first_bytes)),
                   of_a = wmi_stretch_register(s), of_b = wmi_stretch_register(s),
                   t = wmi_vector_splat(s, 0x07070707), special = WMI_K;
    wmi_vector_compare(s, vpcmpub, special, select, wmi_zmm(t), WMI_NO_MASK, WMI_ABOVE);
    put_splat(s, t, 0x0c0c0c0c);
    wmi_vector_compare(s, vpcmpub, special, select, wmi_zmm(t), special, WMI_DIFFERS);
    wmi_kortest(&s->host, special, special);
    wmi_stretch_exit_if(s, WMI_IF_NOT_EQUAL);
    put_splat(s, of_a, 0x03030303);
    wmi_evex_plain(&s->host, WMI_VPANDD, t, select, wmi_zmm(of_a));
    wmi_evex_plain(&s->host, WMI_VPORD, first, first, wmi_zmm(t));
    put_splat(s, t, 0x04040404);
    wmi_evex_plain(&s->host, WMI_VPANDD, of_b, select, wmi_zmm(t));
    wmi_evex_plain(&s->host, WMI_VPXORD, of_a, of_b, wmi_zmm(t)); /* the bytes that come from b */
    wmi_vector_shift(s, WMI_LEFT, of_a, wmi_zmm(of_a), 5);
    wmi_vector_shift(s, WMI_LEFT, of_b, wmi_zmm(of_b), 5);
    put_splat(s, t, 0x08080808);
    wmi_evex_plain(&s->host, WMI_VPANDD, t, select, wmi_zmm(t));
    wmi_vector_shift(s, WMI_LEFT, t, wmi_zmm(t), 4); /* zeros */
    wmi_evex_plain(&s->host, WMI_VPORD, of_a, of_a, wmi_zmm(t));
    wmi_evex_plain(&s->host, WMI_VPORD, of_a, of_a, wmi_zmm(first));
    wmi_evex_plain(&s->host, WMI_VPORD, of_b, of_b, wmi_zmm(first));
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++) {
        wmi_evex_plain(&s->host, vpshufb, t, wmi_rows_register(a, i), wmi_zmm(of_a));
        wmi_evex_plain(&s->host, vpshufb, d.reg[i], wmi_rows_register(b, i), wmi_zmm(of_b));
        wmi_evex_plain(&s->host, WMI_VPORD, d.reg[i], d.reg[i], wmi_zmm(t));
    }
    return d;
}

/* Each byte of c selects one of {a, b}; 8 to 11: the sign of one of their halves; 12: zero; above: ones. */
bool wmi_emit_permute_bytes(struct wmi_stretch *s, const struct wmi_step *step)
{
    const uint32_t vpaddb = WMI_EVEX(0xfc, WMI_MAP_0F, WMI_PREFIX_66, 0),
                   vpsubb = WMI_EVEX(0xf8, WMI_MAP_0F, WMI_PREFIX_66, 0),
                   vpcmpub = WMI_EVEX(0x3e, WMI_MAP_0F3A, WMI_PREFIX_66, 0),
                   vpcmpb = WMI_EVEX(0x3f, WMI_MAP_0F3A, WMI_PREFIX_66, 0),
                   vptestmb = WMI_EVEX(0x26, WMI_MAP_0F38, WMI_PREFIX_66, 0),
                   vmovdqu8 = WMI_EVEX(0x6f, WMI_MAP_0F, WMI_PREFIX_F2, 0);
    const unsigned special = WMI_K, other = WMI_K + 1, set = WMI_K + 2;
    const struct wmi_rows a = wmi_stretch_use(s, step->a, true), b = wmi_stretch_use(s, step->b, true),
                          c = wmi_stretch_use(s, step->c, true);
    if (c.uniform) {
        struct wmi_rows permuted = permute_by_uniform(s, &a, &b, c.reg[0]);
        wmi_stretch_write(s, step->d, &permuted);
        return true;
    }
    struct wmi_rows d = wmi_stretch_result(s, false);
    const unsigned first = table(s, offsetof(struct byte_tables, first_bytes)),
                   three = wmi_vector_splat(s, 0x03030303), four = wmi_vector_splat(s, 0x04040404),
                   seven = wmi_vector_splat(s, 0x07070707), twelve = wmi_vector_splat(s, 0x0c0c0c0c),
                   zero = wmi_vector_splat(s, 0), ones = wmi_vector_splat(s, UINT32_MAX),
                   at = wmi_stretch_register(s);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++) {
        const unsigned select = wmi_rows_register(&c, i), reg = d.reg[i];
        wmi_vector_compare(s, vpcmpub, special, select, wmi_zmm(seven), WMI_NO_MASK, WMI_ABOVE);
        /* The byte with the sign that 8 + i selects is 2 * i + 1, which is 2 * (8 + i) + 1 modulo 8. */
        wmi_evex_plain(&s->host, WMI_VMOVDQA32, at, 0, wmi_zmm(select));
        wmi_evex(&s->host, vpaddb, at, select, wmi_zmm(select), special, WMI_NO_IMMEDIATE);
        wmi_evex(&s->host, vpsubb, at, at, wmi_zmm(ones), special, WMI_NO_IMMEDIATE);
        wmi_evex_plain(&s->host, vptestmb, other, at, wmi_zmm(four));
        wmi_evex(&s->host, WMI_VPTERNLOGD, at, three, wmi_zmm(first), WMI_NO_MASK, FIRST_AND_SECOND_OR_THIRD);
        wmi_evex_plain(&s->host, vpshufb, reg, wmi_rows_register(&b, i), wmi_zmm(at));
        wmi_evex(&s->host, vpshufb, reg, wmi_rows_register(&a, i), wmi_zmm(at), other, WMI_NO_IMMEDIATE);
        wmi_vector_compare(s, vpcmpb, set, reg, wmi_zmm(zero), special, WMI_BELOW);
        wmi_evex(&s->host, vmovdqu8, reg, 0, wmi_zmm(zero), special, WMI_NO_IMMEDIATE);
        wmi_evex(&s->host, vmovdqu8, reg, 0, wmi_zmm(ones), set, WMI_NO_IMMEDIATE);
        wmi_vector_compare(s, vpcmpub, special, select, wmi_zmm(twelve), special, WMI_NOT_BELOW);
        wmi_evex(&s->host, vmovdqu8, reg, 0, wmi_zmm(zero), special, WMI_NO_IMMEDIATE);
        wmi_vector_compare(s, vpcmpub, special, select, wmi_zmm(twelve), special, WMI_ABOVE);
        wmi_evex(&s->host, vmovdqu8, reg, 0, wmi_zmm(ones), special, WMI_NO_IMMEDIATE);
    }
    wmi_stretch_write(s, step->d, &d);
    return true;
}
