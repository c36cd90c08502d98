/* SPDX-License-Identifier: MIT */
/* Host code of transcendentals of f32: those that gfx11 and gfx12 compute by tables, as in
 * base/transcendental_units.h, and exp, log, sin and cos of other targets, as in base/transcendental.h. These
 * explain the functions.
 *
 * All strips are computed as if all lanes were usual. If an active lane is rare (zero, a denormal, infinite,
 * out of range), code behind the stretch sets the rare lanes. NaNs, and what becomes one, leave for the body.
 */
#include "arithmetic/float.h"
#include "arithmetic/transcendental_near_one.h"
#include "arithmetic/transcendental_tables.h"
#include "arithmetic/transcendental_terms.h"
#include "jit/vector.h"

/* What the code reads as one word for all lanes. */
static const struct constants {
    uint32_t sign, magnitude, exponent, odd_exponent, half_exponent, low_6, one_bit;
    uint32_t fraction_18, fraction_18_even, fraction_19, fraction_19_quarter, fraction_24, fraction_24_top;
    uint32_t rcp_scale, rcp_first, rcp_limit, rcp_largest;
    uint32_t rsq_bias, sqrt_bias, smallest, positive_limit, ones;
    uint32_t exp_scale, exp_smallest, exp_limit;
    float one, two, four, magic, two_16, two_17, two_23, two_29, two_minus_12;
    float exp_bias, exp_over, exp_under;
    uint32_t fraction, fraction_22, upper_bits, exponent_bias, root_2, minus_infinity, usual_exp_limit;
    uint32_t log_row, log_last_row, log_near_one, log_near_size;
    float two_minus_6, two_minus_13, two_minus_35;
    uint32_t turn_bias, fraction_29, eighth, quadrant, sixteen, low_3, above_low_3, sine_first, sine_limit,
        largest;
    uint32_t usual_sine_limit, turns;
    float eighth_part, quarter, half, two_minus_24, two_minus_26, two_pi;
    float sine[WMI_SINE_TERM_COUNT], two_pi_high, two_pi_low;
    float power[WMI_EXP2_TERM_COUNT], ln_2_high, ln_2_low, log[WMI_LOG2_TERM_COUNT], log2_e_high, log2_e_low;
} constants = {
    .sign = WMI_SIGN_F32,
    .magnitude = ~WMI_SIGN_F32,
    .exponent = WMI_EXPONENT_F32,
    .odd_exponent = 1 << 23,
    .half_exponent = ~0x7fffffu,
    .low_6 = 63,
    .one_bit = 1,
    .fraction_18 = 0x3ffff,
    .fraction_18_even = 0x3fffe,
    .fraction_19 = 0x7ffff,
    .fraction_19_quarter = 0x7fffc,
    .fraction_24 = 0xffffff,
    .fraction_24_top = 0xffffc0,
    .rcp_scale = 98u << 23,
    .rcp_first = 1 << 24, /* of numbers without sign, times 2, from 2^-126 to below 2^126 */
    .rcp_limit = 0xfbffffff,
    .rcp_largest = 0x7e800000,
    /* With them, half the exponent also has the scale of the integer that is multiplied by its power. */
    .rsq_bias = (127u - 2 * 30) << 23,
    .sqrt_bias = (127u + 2 * 29) << 23,
    .smallest = 0x800000,
    .positive_limit = 0x7effffff, /* the largest number, minus the smallest */
    .ones = UINT32_MAX,
    .exp_scale = 30 << 23,
    .exp_smallest = 0x33800000,           /* 2^-24 */
    .exp_limit = 0x42fc0000 - 0x33800000, /* 126 */
    .one = 1,
    .two = 2,
    .four = 4,
    .magic = WMI_UNIT_MAGIC,
    .two_16 = 0x1p16f,
    .two_17 = 0x1p17f,
    .two_23 = 0x1p23f,
    .two_29 = 0x1p29f,
    .two_minus_12 = 0x1p-12f,
    .exp_bias = WMI_UNIT_EXP_BIAS,
    .exp_over = 128,
    .exp_under = -126,
    .fraction = 0x7fffff,
    .fraction_22 = 0x3fffff,
    .upper_bits = 0xfffff000,
    .exponent_bias = 127,
    .root_2 = WMI_ROOT_2_FRACTION,
    .minus_infinity = WMI_SIGN_F32 | WMI_EXPONENT_F32,
    .usual_exp_limit = 0x42fbffff, /* below 126 */
    .log_row = 63 << 17,
    .log_last_row = 3 << 17,
    .log_near_one = 0x3f7c0000,
    .log_near_size = 0x3f840000 - 0x3f7c0000,
    .two_minus_6 = 0x1p-6f,
    .two_minus_13 = 0x1p-13f,
    .two_minus_35 = 0x1p-35f,
    .turn_bias = 119,
    .fraction_29 = 0x1fffffff,
    .eighth = 1 << 28, /* of the phase, which has 31 bits */
    .quadrant = 1 << 29,
    .sixteen = 16,
    .low_3 = 7,
    .above_low_3 = ~7u,
    .sine_first = 0x39c00000,
    .sine_limit = 0x7f7fffff - 0x39c00000,
    .largest = 0x7f7fffff,
    .usual_sine_limit = 0x43000000, /* 256, minus the smallest number */
    .turns = 0x43800000,            /* 256 */
    .eighth_part = 0.125f,
    .quarter = 0.25f,
    .half = 0.5f,
    .two_minus_24 = 0x1p-24f,
    .two_minus_26 = 0x1p-26f,
    .two_pi = WMI_UNIT_TWO_PI,
    .sine = {WMI_SINE_TERMS},
    .two_pi_high = WMI_TWO_PI_HIGH,
    .two_pi_low = WMI_TWO_PI_LOW,
    .power = {WMI_EXP2_TERMS},
    .ln_2_high = WMI_LN_2_HIGH,
    .ln_2_low = WMI_LN_2_LOW,
    .log = {WMI_LOG2_TERMS},
    .log2_e_high = WMI_LOG2_E_HIGH,
    .log2_e_low = WMI_LOG2_E_LOW,
};
#define ALL(name) in_all_lanes(offsetof(struct constants, name))

enum { TABLE = WMI_R9, CONSTANTS = WMI_R8 };
/* Temporary registers, of which the last two keep the constants of struct function. */
enum { FACTOR = 5, HALF, TEMPORARIES };
/* Masks: for the next few instructions; of lanes by the half of the table that their rows are in; of lanes
 * that leave, in any strip. */
enum { K_NOW = WMI_K, K_SECOND, K_FIRST, K_ANY = K_FIRST };

static const uint32_t vsubps = WMI_EVEX(0x5c, WMI_MAP_0F, 0, 0),
                      vrndscaleps = WMI_EVEX(0x08, WMI_MAP_0F3A, WMI_PREFIX_66, 0),
                      vcvtdq2ps = WMI_EVEX(0x5b, WMI_MAP_0F, 0, 0),
                      vcvtps2dq = WMI_EVEX(0x5b, WMI_MAP_0F, WMI_PREFIX_66, 0),
                      vcvttps2dq = WMI_EVEX(0x5b, WMI_MAP_0F, WMI_PREFIX_F3, 0),
                      vpermt2d = WMI_EVEX(0x7e, WMI_MAP_0F38, WMI_PREFIX_66, 0); /* a: the indices */
/* d = a * d + b, a * d - b */
static const uint32_t vfmadd213ps = WMI_EVEX(0xa8, WMI_MAP_0F38, WMI_PREFIX_66, 0),
                      vfmsub213ps = WMI_EVEX(0xaa, WMI_MAP_0F38, WMI_PREFIX_66, 0);
enum { ROUND_EVEN = 8, ROUND_DOWN = 8 | 1 }; /* of VRNDSCALEPS */

static struct wmi_host_operand in_all_lanes(size_t constant)
{
    struct wmi_host_operand operand = wmi_at((enum wmi_gpr)CONSTANTS, (int32_t)constant);
    operand.broadcast = true;
    return operand;
}

static void put(struct wmi_stretch *s, uint32_t instruction, unsigned d, unsigned a,
                struct wmi_host_operand b)
{
    wmi_evex_plain(&s->host, instruction, d, a, b);
}

static void put_masked(struct wmi_stretch *s, uint32_t instruction, unsigned d, unsigned a,
                       struct wmi_host_operand b, unsigned mask)
{
    wmi_evex(&s->host, instruction, d, a, b, mask, WMI_NO_IMMEDIATE);
}

static void put_constant(struct wmi_stretch *s, unsigned d, size_t constant, unsigned mask)
{
    put_masked(s, WMI_VPBROADCASTD_MEMORY, d, 0, wmi_at((enum wmi_gpr)CONSTANTS, (int32_t)constant), mask);
}

/* d, rounded to an integer. */
static void put_rounded(struct wmi_stretch *s, unsigned d, int how)
{
    wmi_evex(&s->host, vrndscaleps, d, 0, wmi_zmm(d), WMI_NO_MASK, how);
}

/* ---- parts of the functions ---- */

/* d = the table's column by the low 5 bits of the index. */
static void put_lookup(struct wmi_stretch *s, unsigned d, unsigned index, size_t column)
{
    const int32_t at = (int32_t)column;
    put(s, WMI_VMOVUPS_LOAD, d, 0, wmi_at((enum wmi_gpr)TABLE, at));
    put(s, vpermt2d, d, index, wmi_at((enum wmi_gpr)TABLE, at + WMI_STRIP_BYTES));
}

/* The same of a table with 64 rows: one of the first 32 in lanes of K_FIRST, of the others in those of
 * K_SECOND. Changes t. */
static void put_lookup_64(struct wmi_stretch *s, unsigned d, unsigned t, unsigned index, size_t column)
{
    put(s, WMI_VMOVDQA32, d, 0, wmi_zmm(index));
    for (unsigned half = 0; half < 2; half++) {
        const int32_t at = (int32_t)(column + 2 * half * WMI_STRIP_BYTES);
        put(s, WMI_VMOVUPS_LOAD, t, 0, wmi_at((enum wmi_gpr)TABLE, at));
        put_masked(s, WMI_VPERMI2D, d, t, wmi_at((enum wmi_gpr)TABLE, at + WMI_STRIP_BYTES),
                   half ? K_SECOND : K_FIRST);
    }
}

/* The same, but of a table with 33 rows: the last one in lanes of K_SECOND. */
static void put_lookup_33(struct wmi_stretch *s, unsigned d, unsigned index, size_t column)
{
    put_lookup(s, d, index, column);
    put_masked(s, WMI_VPBROADCASTD_MEMORY, d, 0,
               wmi_at((enum wmi_gpr)TABLE, (int32_t)column + 2 * WMI_STRIP_BYTES), K_SECOND);
}
#define COLUMN(name) offsetof(struct wmi_unit_table, name)

/* d = d * a + b, with two roundings. */
static void put_multiply_add(struct wmi_stretch *s, unsigned d, unsigned a, struct wmi_host_operand b)
{
    put(s, WMI_VMULPS, d, d, wmi_zmm(a));
    put(s, WMI_VADDPS, d, d, b);
}

/* d = the masked bits of x, as a number. */
static void put_masked_number(struct wmi_stretch *s, unsigned d, unsigned x, struct wmi_host_operand mask)
{
    put(s, WMI_VPANDD, d, x, mask);
    put(s, vcvtdq2ps, d, 0, wmi_zmm(d));
}

/* The same in units of the last bit of a constant, a power of two. */
static void put_scaled_number(struct wmi_stretch *s, unsigned d, unsigned x, struct wmi_host_operand mask,
                              size_t power)
{
    enum { D_OR_A_AND_B = 0xf8 };
    put_constant(s, d, power, WMI_NO_MASK);
    wmi_evex(&s->host, WMI_VPTERNLOGD, d, x, mask, WMI_NO_MASK, D_OR_A_AND_B);
    put(s, vsubps, d, d, in_all_lanes(power));
}

/* d = x * x, rounded down to an integer. */
static void put_square_down(struct wmi_stretch *s, unsigned d, unsigned x)
{
    put(s, WMI_VMULPS | WMI_EVEX_TO_ZERO, d, x, wmi_zmm(x));
    put_rounded(s, d, ROUND_DOWN);
}

/* d = the integer t * b, as wmi_product_up() and wmi_product_down() round it. `half`: a register with half of
 * the smallest unit. Changes t. */
static void put_product_up(struct wmi_stretch *s, unsigned d, unsigned t, unsigned b, unsigned half)
{
    put(s, WMI_VMULPS, d, t, wmi_zmm(b));
    put(s, vfmsub213ps | WMI_EVEX_UP, t, b, wmi_zmm(half));
    put(s, WMI_VMINPS, d, d, wmi_zmm(t));
    put(s, vcvtps2dq | WMI_EVEX_UP, d, 0, wmi_zmm(d));
}

static void put_product_down(struct wmi_stretch *s, unsigned d, unsigned t, unsigned b, unsigned half)
{
    put(s, WMI_VMULPS, d, t, wmi_zmm(b));
    put(s, vfmadd213ps | WMI_EVEX_DOWN, t, b, wmi_zmm(half));
    put(s, WMI_VMAXPS, d, d, wmi_zmm(t));
    put(s, vcvtps2dq | WMI_EVEX_DOWN, d, 0, wmi_zmm(d));
}

/* The same as wmi_product_near() rounds it. */
static void put_product_near(struct wmi_stretch *s, unsigned d, unsigned t, unsigned b)
{
    put(s, WMI_VMULPS, d, t, wmi_zmm(b));
    wmi_vector_compare(s, WMI_VCMPPS, K_NOW, d, ALL(two_23), WMI_NO_MASK, WMI_FLOAT_LESS);
    put(s, vfmadd213ps, t, b, ALL(two_23)); /* its unit is one */
    put(s, vcvttps2dq, d, 0, wmi_zmm(d));
    put_masked(s, WMI_VPSUBD, d, t, ALL(two_23), K_NOW);
}

/* d = a sum of at least 29 bits with the term x / 64: wmi_plus_sixty_fourth(). Changes t. */
static void put_plus_sixty_fourth(struct wmi_stretch *s, unsigned d, unsigned x, unsigned t)
{
    wmi_vector_shift(s, WMI_RIGHT_SIGNED, t, wmi_zmm(x), 6);
    put(s, WMI_VPADDD, d, d, wmi_zmm(t));
    put(s, WMI_VPTESTMD, K_NOW, x, ALL(low_6));
    put_masked(s, WMI_VPORD, d, d, ALL(one_bit), K_NOW);
}

/* ---- the functions of gfx11 and gfx12 ---- */

/* Computes d from x in one strip, with temporary registers t. Words of `number`, which may be t[0], are above
 * the function's limit in rare lanes. */
typedef void put_function(struct wmi_stretch *s, unsigned d, unsigned x, const uint8_t *t, unsigned number);

/* Of a table with 64 rows, or with 32. */
static void put_lookup_of(struct wmi_stretch *s, bool has_64, unsigned d, unsigned t, unsigned index,
                          size_t column)
{
    if (has_64)
        put_lookup_64(s, d, t, index, column);
    else
        put_lookup(s, d, index, column);
}

/* The cubic of rcp and of rsq, the root, whose table has 64 rows: d = the integer. */
static void put_falling_cubic(struct wmi_stretch *s, unsigned d, unsigned x, const uint8_t *t, bool is_root)
{
    const unsigned row = t[0], f = t[1], square = t[2], c = t[3], u = t[4];
    wmi_vector_shift(s, WMI_RIGHT, row, wmi_zmm(x), 18);
    put_masked_number(s, f, x, ALL(fraction_18));
    put_scaled_number(s, u, x, ALL(fraction_18_even), offsetof(struct constants, two_17));
    put_square_down(s, square, u);
    /* c0 - c1 * f */
    put_lookup_of(s, is_root, c, u, row, COLUMN(c1));
    put_product_up(s, u, c, f, t[HALF]);
    if (is_root)
        put(s, WMI_VPADDD, u, u, wmi_zmm(u));
    put_lookup_of(s, is_root, d, c, row, COLUMN(c0));
    put(s, WMI_VPSUBD, d, d, wmi_zmm(u));
    /* (c2 - c3 * (4 * f + 1)) * square */
    put(s, vfmadd213ps, f, t[FACTOR], ALL(one));
    put_lookup_of(s, is_root, c, u, row, COLUMN(c3));
    put(s, vfmadd213ps, c, f, ALL(magic));
    put_lookup_of(s, is_root, f, u, row, COLUMN(c2));
    put(s, vsubps, f, f, wmi_zmm(c));
    put_product_near(s, c, f, square);
    put_plus_sixty_fourth(s, d, c, u);
    put(s, vcvtdq2ps, d, 0, wmi_zmm(d));
}

static void put_reciprocal(struct wmi_stretch *s, unsigned d, unsigned x, const uint8_t *t, unsigned number)
{
    put_falling_cubic(s, d, x, t, false);
    put(s, WMI_VPANDD, t[0], x, ALL(half_exponent));
    put(s, WMI_VPSUBD, d, d, wmi_zmm(t[0]));
    put(s, WMI_VPADDD, d, d, ALL(rcp_scale));
    put(s, WMI_VPADDD, number, x, wmi_zmm(x));
    put(s, WMI_VPSUBD, number, number, ALL(rcp_first));
}

static void put_reciprocal_root(struct wmi_stretch *s, unsigned d, unsigned x, const uint8_t *t,
                                unsigned number)
{
    put(s, WMI_VPTESTMD, K_FIRST, x, ALL(odd_exponent));
    put(s, WMI_VPTESTNMD, K_SECOND, x, ALL(odd_exponent));
    put_falling_cubic(s, d, x, t, true);
    put(s, WMI_VPSUBD, t[0], x, ALL(rsq_bias));
    wmi_vector_shift(s, WMI_RIGHT_SIGNED, t[0], wmi_zmm(t[0]), 1);
    put(s, WMI_VPANDD, t[0], t[0], ALL(half_exponent));
    put(s, WMI_VPSUBD, d, d, wmi_zmm(t[0]));
    put(s, WMI_VPSUBD, number, x, ALL(smallest));
}

static void put_root(struct wmi_stretch *s, unsigned d, unsigned x, const uint8_t *t, unsigned number)
{
    const unsigned row = t[0], f = t[1], square = t[2], c = t[3], u = t[4];
    /* The exponent's last bit and four others. */
    put(s, WMI_VPXORD, row, x, ALL(odd_exponent));
    wmi_vector_shift(s, WMI_RIGHT, row, wmi_zmm(row), 19);
    put_masked_number(s, f, x, ALL(fraction_19));
    put_scaled_number(s, u, x, ALL(fraction_19_quarter), offsetof(struct constants, two_16));
    put_square_down(s, square, u);
    /* c0 + c1 * f */
    put_lookup(s, c, row, COLUMN(c1));
    put_product_down(s, u, c, f, t[HALF]);
    put(s, WMI_VPADDD, u, u, wmi_zmm(u));
    put_lookup(s, d, row, COLUMN(c0));
    put(s, WMI_VPADDD, d, d, wmi_zmm(u));
    /* (c3 * (2 * f + 1) - c2) * square */
    put(s, vfmadd213ps, f, t[FACTOR], ALL(one));
    put_lookup(s, c, row, COLUMN(c3));
    put(s, vfmadd213ps, c, f, ALL(magic));
    put_lookup(s, f, row, COLUMN(c2));
    put(s, vsubps, f, f, wmi_zmm(c));
    put_product_near(s, c, f, square);
    put(s, WMI_VPXORD, u, u, wmi_zmm(u));
    put(s, WMI_VPSUBD, c, u, wmi_zmm(c));
    put_plus_sixty_fourth(s, d, c, u);
    put(s, vcvtdq2ps, d, 0, wmi_zmm(d));
    put(s, WMI_VPSUBD, u, x, ALL(sqrt_bias));
    wmi_vector_shift(s, WMI_RIGHT_SIGNED, u, wmi_zmm(u), 1);
    put(s, WMI_VPANDD, u, u, ALL(half_exponent));
    put(s, WMI_VPADDD, d, d, wmi_zmm(u));
    put(s, WMI_VPSUBD, number, x, ALL(smallest));
}

/* A zeroing mask without the lanes in which 2^x is 0: below -126. That is common. */
static unsigned find_no_underflow(struct wmi_stretch *s, unsigned x)
{
    wmi_vector_compare(s, WMI_VCMPPS, K_NOW, x, ALL(exp_under), WMI_NO_MASK, WMI_FLOAT_NOT_BELOW_OR_NAN);
    return K_NOW | WMI_ZEROING;
}

/* The phase has 29 fraction bits; that of a negative number is complemented. */
static void put_power(struct wmi_stretch *s, unsigned d, unsigned x, const uint8_t *t, unsigned number)
{
    const unsigned row = t[0], f = t[1], square = t[2], c = t[3], u = t[4];
    put(s, WMI_VPANDD, c, x, ALL(magnitude));
    put(s, vcvttps2dq, square, 0, wmi_zmm(c)); /* its integer */
    put(s, vcvtdq2ps, f, 0, wmi_zmm(square));
    put(s, vsubps, f, c, wmi_zmm(f));
    put(s, WMI_VMULPS, f, f, ALL(two_29));
    put(s, vcvttps2dq, f, 0, wmi_zmm(f));
    wmi_vector_shift(s, WMI_RIGHT_SIGNED, u, wmi_zmm(x), 31);
    put(s, WMI_VPXORD, f, f, wmi_zmm(u));
    put(s, WMI_VPXORD, d, square, wmi_zmm(u)); /* the exponent */
    wmi_vector_shift(s, WMI_LEFT, d, wmi_zmm(d), 23);
    wmi_vector_shift(s, WMI_RIGHT, row, wmi_zmm(f), 24);
    put_masked_number(s, c, f, ALL(fraction_24_top));
    put_masked_number(s, f, f, ALL(fraction_24));
    /* (c2 + c3 * top) * square */
    put_lookup(s, u, row, COLUMN(c3));
    put_lookup(s, square, row, COLUMN(c2));
    put(s, vfmadd213ps, u, c, wmi_zmm(square));
    put(s, vsubps, u, u, ALL(exp_bias));
    put(s, WMI_VMULPS, c, c, ALL(two_minus_12));
    put_square_down(s, square, c);
    put_product_near(s, c, u, square);
    /* 4 * (c0 + c1 * f) */
    put_lookup(s, square, row, COLUMN(c1));
    put_product_down(s, u, square, f, t[HALF]);
    put_lookup(s, square, row, COLUMN(c0));
    put(s, WMI_VPADDD, u, u, wmi_zmm(square));
    wmi_vector_shift(s, WMI_LEFT, u, wmi_zmm(u), 2);
    put_plus_sixty_fourth(s, u, c, f);
    put(s, vcvtdq2ps, u, 0, wmi_zmm(u));
    put(s, WMI_VPADDD, d, d, wmi_zmm(u));
    const unsigned mask = find_no_underflow(s, x);
    put_masked(s, WMI_VPSUBD, d, d, ALL(exp_scale), mask);
    put(s, WMI_VPANDD, number, x, ALL(magnitude));
    put_masked(s, WMI_VPSUBD, number, number, ALL(exp_smallest), mask);
}

static void put_logarithm(struct wmi_stretch *s, unsigned d, unsigned x, const uint8_t *t, unsigned number)
{
    const unsigned row = t[0], f = t[1], square = t[2], c = t[3], u = t[4];
    /* One row follows the first 32. */
    put(s, WMI_VPANDD, row, x, ALL(log_row));
    wmi_vector_compare(s, WMI_VPCMPD, K_SECOND, row, ALL(log_last_row), WMI_NO_MASK, WMI_EQUAL);
    wmi_vector_shift(s, WMI_RIGHT, row, wmi_zmm(x), 18);
    put_masked_number(s, f, x, ALL(fraction_18));
    put(s, WMI_VMULPS, u, f, ALL(two_minus_6));
    put_square_down(s, square, u);
    /* (c2 - c3 * (2 * f + 1)) * square */
    put(s, WMI_VADDPS, d, f, wmi_zmm(f)); /* f is needed again */
    put(s, WMI_VADDPS, d, d, ALL(one));
    put_lookup_33(s, c, row, COLUMN(c3));
    put(s, vfmadd213ps, c, d, ALL(magic));
    put(s, vsubps, c, c, ALL(magic));
    put_lookup_33(s, u, row, COLUMN(c2));
    put(s, vsubps, c, u, wmi_zmm(c));
    put_product_near(s, u, c, square);
    put(s, WMI_VMOVDQA32, square, 0, wmi_zmm(u));
    /* c0 + c1 * f, of which the product may have more than 24 bits */
    put_lookup_33(s, c, row, COLUMN(c1));
    put(s, WMI_VMULPS, u, c, wmi_zmm(f));
    put_rounded(s, u, ROUND_EVEN);
    put(s, vfmsub213ps, c, f, wmi_zmm(u));
    put_rounded(s, c, ROUND_DOWN);
    put(s, vcvttps2dq, c, 0, wmi_zmm(c));
    put(s, vcvttps2dq, u, 0, wmi_zmm(u));
    put(s, WMI_VPADDD, u, u, wmi_zmm(c));
    put_lookup_33(s, c, row, COLUMN(c0));
    put(s, WMI_VPADDD, u, u, wmi_zmm(c));
    /* The sum / 2^30 - square / 2^35, of which the upper 13 bits join the exponent. */
    wmi_vector_shift(s, WMI_RIGHT, c, wmi_zmm(u), 17);
    wmi_vector_shift(s, WMI_RIGHT, d, wmi_zmm(x), 23);
    put(s, WMI_VPSUBD, d, d, ALL(exponent_bias));
    wmi_vector_shift(s, WMI_LEFT, d, wmi_zmm(d), 13);
    put(s, WMI_VPADDD, d, d, wmi_zmm(c));
    put(s, vcvtdq2ps, d, 0, wmi_zmm(d));
    put(s, WMI_VMULPS, d, d, ALL(two_minus_13));
    wmi_vector_shift(s, WMI_LEFT, u, wmi_zmm(u), 5);
    put(s, WMI_VPANDD, u, u, ALL(fraction_22));
    put(s, WMI_VPSUBD, u, u, wmi_zmm(square));
    put(s, vcvtdq2ps, u, 0, wmi_zmm(u));
    put(s, WMI_VMULPS, u, u, ALL(two_minus_35));
    put(s, WMI_VADDPS | WMI_EVEX_DOWN, d, d, wmi_zmm(u));
    put(s, WMI_VPSUBD, c, x, ALL(log_near_one));
    wmi_vector_compare(s, WMI_VPCMPUD, K_NOW, c, ALL(log_near_size), WMI_NO_MASK, WMI_BELOW);
    put(s, WMI_VPSUBD, number, x, ALL(smallest));
    put_constant(s, number, offsetof(struct constants, ones), K_NOW);
}

/* d = the sine, or the cosine, of x turns without sign. Changes t[0] to t[4]. */
static void put_turn(struct wmi_stretch *s, unsigned d, unsigned x, const uint8_t *t, bool cosine)
{
    const unsigned index = t[0], angle = t[1], quadrant = t[2], u = t[3], c = t[4];
    put(s, WMI_VPANDD, angle, x, ALL(fraction));
    put(s, WMI_VPORD, angle, angle, ALL(smallest));
    wmi_vector_shift(s, WMI_LEFT, u, wmi_zmm(x), 1);
    wmi_vector_shift(s, WMI_RIGHT, u, wmi_zmm(u), 24);
    put(s, WMI_VPSUBD, u, u, ALL(turn_bias));
    put(s, WMI_VPSLLVD, c, angle, wmi_zmm(u));
    put(s, WMI_VPXORD, d, d, wmi_zmm(d));
    put(s, WMI_VPSUBD, u, d, wmi_zmm(u));
    put(s, WMI_VPSRLVD, angle, angle, wmi_zmm(u));
    put(s, WMI_VPORD, angle, angle, wmi_zmm(c)); /* the phase: 31 bits, and perhaps more */
    put(s, WMI_VPANDD, angle, angle, ALL(magnitude));
    wmi_vector_shift(s, WMI_RIGHT, quadrant, wmi_zmm(angle), 29);
    /* In the second half of a quadrant, what is left of it; the tables of sine and cosine change places. */
    put(s, WMI_VPTESTMD, K_NOW, angle, ALL(eighth));
    put(s, WMI_VPANDD, angle, angle, ALL(fraction_29));
    put_constant(s, u, offsetof(struct constants, quadrant), WMI_NO_MASK);
    put_masked(s, WMI_VPSUBD, angle, u, wmi_zmm(angle), K_NOW);
    wmi_vector_shift(s, WMI_RIGHT, index, wmi_zmm(angle), 24);
    wmi_vector_shift(s, WMI_RIGHT, u, wmi_zmm(angle), 28);
    put(s, WMI_VPSUBD, index, index, wmi_zmm(u)); /* the end of the last row is not in one of its own */
    wmi_vector_shift(s, WMI_LEFT, u, wmi_zmm(index), 24);
    put(s, WMI_VPSUBD, angle, angle, wmi_zmm(u));
    put(s, vcvtdq2ps, angle, 0, wmi_zmm(angle));
    put(s, WMI_VMULPS, angle, angle, ALL(two_minus_24));
    wmi_vector_shift(s, WMI_LEFT, u, wmi_zmm(quadrant), 4);
    put(s, WMI_VPANDD, u, u, ALL(sixteen));
    if (cosine)
        put(s, WMI_VPXORD, u, u, ALL(sixteen));
    put_masked(s, WMI_VPXORD, u, u, ALL(sixteen), K_NOW);
    put(s, WMI_VPORD, index, index, wmi_zmm(u));
    /* c0 + t * (c1 + t * (c2 + t * c3)), of which the last three bits of c0 are added first */
    put_lookup(s, d, index, COLUMN(c3));
    for (unsigned i = 2; i; i--) {
        put_lookup(s, c, index, i == 2 ? COLUMN(c2) : COLUMN(c1));
        put_multiply_add(s, d, angle, wmi_zmm(c));
    }
    put(s, WMI_VMULPS, d, d, wmi_zmm(angle));
    put_lookup(s, c, index, COLUMN(c0));
    put(s, WMI_VPANDD, u, c, ALL(low_3));
    put(s, vcvtdq2ps, u, 0, wmi_zmm(u));
    put(s, WMI_VADDPS, d, u, wmi_zmm(d));
    put(s, WMI_VPANDD, c, c, ALL(above_low_3));
    put(s, vcvtdq2ps, c, 0, wmi_zmm(c));
    put(s, WMI_VADDPS, d, c, wmi_zmm(d));
    put(s, WMI_VMULPS, d, d, ALL(two_minus_26));
    /* The sign of what is not zero. */
    if (cosine)
        put(s, WMI_VPADDD, quadrant, quadrant, ALL(one_bit));
    wmi_vector_shift(s, WMI_LEFT, quadrant, wmi_zmm(quadrant), 30);
    put(s, WMI_VPANDD, quadrant, quadrant, ALL(sign));
    put(s, WMI_VPTESTMD, K_NOW, d, wmi_zmm(d));
    put_masked(s, WMI_VPXORD, d, d, wmi_zmm(quadrant), K_NOW);
}

static void put_sine(struct wmi_stretch *s, unsigned d, unsigned x, const uint8_t *t, unsigned number)
{
    put_turn(s, d, x, t, false);
    put(s, WMI_VPANDD, t[1], x, ALL(sign));
    put(s, WMI_VPXORD, d, d, wmi_zmm(t[1]));
    put(s, WMI_VPANDD, number, x, ALL(magnitude));
    put(s, WMI_VPSUBD, number, number, ALL(sine_first));
}

static void put_cosine(struct wmi_stretch *s, unsigned d, unsigned x, const uint8_t *t, unsigned number)
{
    put_turn(s, d, x, t, true);
    put(s, WMI_VPANDD, number, x, ALL(magnitude));
}

/* ---- the functions of other targets: polynomials, without fused operations ---- */

/* d = x, minus the nearest integer. */
static void put_fraction(struct wmi_stretch *s, unsigned d, unsigned x)
{
    wmi_evex(&s->host, vrndscaleps, d, 0, wmi_zmm(x), WMI_NO_MASK, ROUND_EVEN);
    put(s, vsubps, d, x, wmi_zmm(d));
}

static void put_usual_power(struct wmi_stretch *s, unsigned d, unsigned x, const uint8_t *t, unsigned number)
{
    const unsigned whole = t[0], f = t[1], high = t[2], low = t[3], u = t[4];
    wmi_evex(&s->host, vrndscaleps, whole, 0, wmi_zmm(x), WMI_NO_MASK, ROUND_EVEN);
    put(s, vsubps, f, x, wmi_zmm(whole));
    put(s, WMI_VMULPS, d, f, ALL(power[0]));
    put(s, WMI_VADDPS, d, d, ALL(power[1]));
    for (unsigned i = 2; i < WMI_EXP2_TERM_COUNT; i++)
        put_multiply_add(s, d, f, ALL(power[i]));
    put(s, WMI_VPANDD, high, f, ALL(upper_bits));
    put(s, vsubps, low, f, wmi_zmm(high));
    put(s, WMI_VMULPS, high, high, ALL(ln_2_high));
    put(s, WMI_VMULPS, low, low, ALL(ln_2_high));
    put(s, WMI_VMULPS, u, f, wmi_zmm(f));
    put(s, WMI_VMULPS, u, u, wmi_zmm(d));
    put(s, WMI_VMULPS, f, f, ALL(ln_2_low));
    put(s, WMI_VADDPS, f, f, wmi_zmm(u));
    put(s, WMI_VADDPS, low, low, wmi_zmm(f)); /* the rest */
    put(s, WMI_VADDPS, d, high, ALL(one));    /* the sum */
    put(s, vsubps, u, d, ALL(one));
    put(s, vsubps, u, high, wmi_zmm(u)); /* its error */
    put(s, WMI_VADDPS, low, low, wmi_zmm(u));
    put(s, WMI_VADDPS, d, d, wmi_zmm(low));
    put(s, vcvttps2dq, whole, 0, wmi_zmm(whole));
    wmi_vector_shift(s, WMI_LEFT, whole, wmi_zmm(whole), 23);
    const unsigned mask = find_no_underflow(s, x);
    put_masked(s, WMI_VPADDD, d, d, wmi_zmm(whole), mask);
    put_masked(s, WMI_VPANDD, number, x, ALL(magnitude), mask);
}

/* d = z * log[n] - log[n + 1]. */
static void put_term(struct wmi_stretch *s, unsigned d, unsigned z, unsigned n)
{
    put(s, WMI_VMULPS, d, z, ALL(log[n]));
    put(s, vsubps, d, d, ALL(log[n + 1]));
}

static void put_usual_logarithm(struct wmi_stretch *s, unsigned d, unsigned x, const uint8_t *t,
                                unsigned number)
{
    const unsigned z = t[0], z2 = t[1], z4 = t[2], u = t[3], v = t[4];
    put(s, WMI_VPANDD, z, x, ALL(fraction));
    wmi_vector_compare(s, WMI_VPCMPUD, K_NOW, z, ALL(root_2), WMI_NO_MASK, WMI_NOT_BELOW);
    put(s, WMI_VPORD, z, z, ALL(one));
    put_masked(s, WMI_VPSUBD, z, z, ALL(smallest), K_NOW); /* from the exponent */
    put(s, vsubps, z, z, ALL(one));
    put(s, WMI_VMULPS, z2, z, wmi_zmm(z));
    put(s, WMI_VMULPS, z4, z2, wmi_zmm(z2));
    put_term(s, d, z, 6);
    put(s, WMI_VMULPS, d, d, wmi_zmm(z2));
    put_term(s, u, z, 4);
    put(s, WMI_VADDPS, d, u, wmi_zmm(d));
    put_term(s, u, z, 8);
    put(s, WMI_VMULPS, u, u, wmi_zmm(z4));
    put(s, WMI_VADDPS, d, d, wmi_zmm(u));
    put(s, WMI_VMULPS, d, d, wmi_zmm(z4));
    put_term(s, u, z, 2);
    put(s, WMI_VMULPS, u, u, wmi_zmm(z2));
    put_term(s, v, z, 0);
    put(s, WMI_VADDPS, u, v, wmi_zmm(u));
    put(s, WMI_VADDPS, d, u, wmi_zmm(d)); /* the polynomial */
    put(s, WMI_VPANDD, u, z, ALL(upper_bits));
    put(s, vsubps, v, z, wmi_zmm(u));
    put(s, WMI_VMULPS, u, u, ALL(log2_e_high));
    put(s, WMI_VMULPS, v, v, ALL(log2_e_high));
    put(s, WMI_VMULPS, z, z, ALL(log2_e_low));
    put(s, WMI_VADDPS, v, v, wmi_zmm(z));
    put(s, WMI_VMULPS, d, z2, wmi_zmm(d));
    put(s, WMI_VADDPS, d, v, wmi_zmm(d));
    put(s, WMI_VADDPS, d, u, wmi_zmm(d));
    wmi_vector_shift(s, WMI_RIGHT, u, wmi_zmm(x), 23);
    put(s, WMI_VPSUBD, u, u, ALL(exponent_bias));
    put_masked(s, WMI_VPADDD, u, u, ALL(one_bit), K_NOW);
    put(s, vcvtdq2ps, u, 0, wmi_zmm(u));
    put(s, WMI_VADDPS, d, d, wmi_zmm(u)); /* the exponent */
    put(s, WMI_VPSUBD, number, x, ALL(smallest));
}

/* d = the sine of so many turns, from -1/4 to 1/4. Changes f and t[0] to t[2]. */
static void put_sine_of_turn(struct wmi_stretch *s, unsigned d, unsigned f, const uint8_t *t)
{
    const unsigned w = t[0], high = t[1], low = t[2];
    put(s, WMI_VMULPS, w, f, wmi_zmm(f));
    put(s, WMI_VMULPS, d, w, ALL(sine[0]));
    put(s, WMI_VADDPS, d, d, ALL(sine[1]));
    for (unsigned i = 2; i < WMI_SINE_TERM_COUNT; i++)
        put_multiply_add(s, d, w, ALL(sine[i]));
    put(s, WMI_VPANDD, high, f, ALL(upper_bits));
    put(s, vsubps, low, f, wmi_zmm(high));
    put(s, WMI_VMULPS, d, d, wmi_zmm(w));
    put(s, WMI_VADDPS, d, d, ALL(two_pi_low));
    put(s, WMI_VMULPS, d, f, wmi_zmm(d));
    put(s, WMI_VMULPS, low, low, ALL(two_pi_high));
    put(s, WMI_VADDPS, d, low, wmi_zmm(d));
    put(s, WMI_VMULPS, high, high, ALL(two_pi_high));
    put(s, WMI_VADDPS, d, high, wmi_zmm(d));
}

static void put_usual_sine(struct wmi_stretch *s, unsigned d, unsigned x, const uint8_t *t, unsigned number)
{
    const unsigned f = t[3], u = t[4];
    put_fraction(s, f, x);
    put(s, WMI_VPANDD, u, f, ALL(magnitude));
    wmi_vector_compare(s, WMI_VCMPPS, K_NOW, u, ALL(quarter), WMI_NO_MASK, WMI_FLOAT_ABOVE);
    put(s, WMI_VPANDD, u, f, ALL(sign));
    put(s, WMI_VPORD, u, u, ALL(half));
    put_masked(s, vsubps, f, u, wmi_zmm(f), K_NOW);
    put_sine_of_turn(s, d, f, t);
    put(s, WMI_VPANDD, number, x, ALL(magnitude));
    put(s, WMI_VPSUBD, number, number, ALL(smallest));
}

static void put_usual_cosine(struct wmi_stretch *s, unsigned d, unsigned x, const uint8_t *t, unsigned number)
{
    const unsigned f = t[3], u = t[4];
    put_fraction(s, f, x);
    put(s, WMI_VPANDD, f, f, ALL(magnitude));
    put_constant(s, u, offsetof(struct constants, quarter), WMI_NO_MASK);
    put(s, vsubps, f, u, wmi_zmm(f));
    put_sine_of_turn(s, d, f, t);
    put(s, WMI_VPANDD, number, x, ALL(magnitude));
}

/* ---- rare lanes ---- */

/* Sets the lanes of d in which x, which is no NaN, is rare. Changes t. */
typedef void put_rare_lanes(struct wmi_stretch *s, unsigned d, unsigned x, unsigned t);

/* Where x counts as zero, d = infinity with its sign. */
static void put_reciprocal_of_zero(struct wmi_stretch *s, unsigned d, unsigned x, unsigned t)
{
    put(s, WMI_VPANDD, t, x, ALL(sign));
    put(s, WMI_VPTESTNMD, K_NOW, x, ALL(exponent));
    put_masked(s, WMI_VPORD, d, t, ALL(exponent), K_NOW);
}

static void put_rare_reciprocal(struct wmi_stretch *s, unsigned d, unsigned x, unsigned t)
{
    put_reciprocal_of_zero(s, d, x, t);
    put(s, WMI_VPXORD, t, t, wmi_zmm(x)); /* the magnitude */
    wmi_vector_compare(s, WMI_VPCMPUD, K_NOW, t, ALL(rcp_largest), WMI_NO_MASK, WMI_ABOVE);
    put_masked(s, WMI_VPANDD, d, x, ALL(sign), K_NOW);
}

static void put_rare_reciprocal_root(struct wmi_stretch *s, unsigned d, unsigned x, unsigned t)
{
    put_reciprocal_of_zero(s, d, x, t);
    wmi_vector_compare(s, WMI_VPCMPUD, K_NOW, x, ALL(exponent), WMI_NO_MASK, WMI_EQUAL);
    put_masked(s, WMI_VPXORD, d, d, wmi_zmm(d), K_NOW);
}

static void put_rare_root(struct wmi_stretch *s, unsigned d, unsigned x, unsigned t)
{
    (void)t;
    wmi_vector_compare(s, WMI_VPCMPUD, K_NOW, x, ALL(exponent), WMI_NO_MASK, WMI_EQUAL);
    put_masked(s, WMI_VMOVDQA32, d, 0, wmi_zmm(x), K_NOW);
    put(s, WMI_VPTESTNMD, K_NOW, x, ALL(exponent));
    put_masked(s, WMI_VPANDD, d, x, ALL(sign), K_NOW);
}

/* Infinity from 128 on. */
static void put_rare_usual_power(struct wmi_stretch *s, unsigned d, unsigned x, unsigned t)
{
    (void)t;
    wmi_vector_compare(s, WMI_VCMPPS, K_NOW, x, ALL(exp_over), WMI_NO_MASK, WMI_FLOAT_NOT_BELOW);
    put_constant(s, d, offsetof(struct constants, exponent), K_NOW);
}

/* Also 1 near 0. */
static void put_rare_power(struct wmi_stretch *s, unsigned d, unsigned x, unsigned t)
{
    put(s, WMI_VPANDD, t, x, ALL(magnitude));
    wmi_vector_compare(s, WMI_VPCMPUD, K_NOW, t, ALL(exp_smallest), WMI_NO_MASK, WMI_BELOW);
    put_constant(s, d, offsetof(struct constants, one), K_NOW);
    put_rare_usual_power(s, d, x, t);
}

/* Where x counts as zero, minus infinity; of infinity, itself. */
static void put_rare_logarithm(struct wmi_stretch *s, unsigned d, unsigned x, unsigned t)
{
    (void)t;
    put(s, WMI_VPTESTNMD, K_NOW, x, ALL(exponent));
    put_constant(s, d, offsetof(struct constants, minus_infinity), K_NOW);
    wmi_vector_compare(s, WMI_VPCMPUD, K_NOW, x, ALL(exponent), WMI_NO_MASK, WMI_EQUAL);
    put_masked(s, WMI_VMOVDQA32, d, 0, wmi_zmm(x), K_NOW);
}

/* Of zeros, x. */
static void put_rare_usual_sine(struct wmi_stretch *s, unsigned d, unsigned x, unsigned t)
{
    put(s, WMI_VPXORD, t, t, wmi_zmm(t));
    wmi_vector_compare(s, WMI_VCMPPS, K_NOW, x, wmi_zmm(t), WMI_NO_MASK, WMI_FLOAT_EQUAL);
    put_masked(s, WMI_VPANDD, d, x, ALL(sign), K_NOW);
}

/* Near 0, a multiple of x. */
static void put_rare_sine(struct wmi_stretch *s, unsigned d, unsigned x, unsigned t)
{
    put(s, WMI_VPANDD, t, x, ALL(magnitude));
    wmi_vector_compare(s, WMI_VPCMPUD, K_NOW, t, ALL(sine_first), WMI_NO_MASK, WMI_BELOW);
    put_masked(s, WMI_VMULPS, d, x, ALL(two_pi), K_NOW);
}

static void put_no_lanes(struct wmi_stretch *s, unsigned d, unsigned x, unsigned t)
{
    (void)s;
    (void)d;
    (void)x;
    (void)t;
}

/* Leaves for the body if an active lane, without its sign, is above the constant. */
static void leave_beyond(struct wmi_stretch *s, const struct wmi_rows *x, unsigned t, size_t limit)
{
    for (unsigned i = 0; i < wmi_rows_strips(s, x); i++) {
        const unsigned k = i ? K_NOW : K_ANY;
        put(s, WMI_VPANDD, t, wmi_rows_register(x, i), ALL(magnitude));
        wmi_vector_compare(s, WMI_VPCMPUD, k, t, in_all_lanes(limit), wmi_vector_active(s, x->uniform, i),
                           WMI_ABOVE);
        if (i)
            wmi_mask(&s->host, WMI_KOR, K_ANY, K_ANY, K_NOW);
    }
    wmi_kortest(&s->host, K_ANY, K_ANY);
    wmi_stretch_exit_if(s, WMI_IF_NOT_EQUAL);
}

/* Leaves for the body if an active lane is negative, and not a denormal, or a NaN. */
static void leave_for_negative(struct wmi_stretch *s, const struct wmi_rows *x)
{
    for (unsigned i = 0; i < wmi_rows_strips(s, x); i++) {
        const unsigned reg = wmi_rows_register(x, i), k = i ? K_NOW : K_ANY;
        put_masked(s, WMI_VPTESTMD, k, reg, ALL(exponent), wmi_vector_active(s, x->uniform, i));
        wmi_vector_compare(s, WMI_VPCMPUD, k, reg, ALL(exponent), k, WMI_ABOVE);
        if (i)
            wmi_mask(&s->host, WMI_KOR, K_ANY, K_ANY, K_NOW);
    }
    wmi_kortest(&s->host, K_ANY, K_ANY);
    wmi_stretch_exit_if(s, WMI_IF_NOT_EQUAL);
}

/* ---- logarithms near one ---- */

/* On the host's stack, while code calls a function: its operands, and what it may change. */
struct called {
    uint32_t x[WMI_STRIPS * WMI_STRIP_LANES], d[WMI_STRIPS * WMI_STRIP_LANES];
    uint32_t zmm[WMI_ZMM_REGISTERS][WMI_STRIP_LANES];
    uint64_t gpr[4];
    uint16_t mask[4];
};
_Static_assert(sizeof(struct called) % 16 == 8, "with the code's own return address, the stack is aligned");

static void set_near_one(struct called *called, size_t strips)
{
    const uint32_t one = 0x3f800000;
    for (size_t i = 0; i < strips * WMI_STRIP_LANES; i++) {
        const uint32_t x = called->x[i];
        if (x - constants.log_near_one < constants.log_near_size)
            called->d[i] = x == one ? 0 : wmi_unit_log2_near_one(x);
    }
}

static void put_rows_on_stack(struct wmi_stretch *s, uint32_t instruction, const struct wmi_rows *rows,
                              size_t place)
{
    for (unsigned i = 0; i < wmi_rows_strips(s, rows); i++)
        put(s, instruction, wmi_rows_register(rows, i), 0,
            wmi_at(WMI_RSP, (int32_t)(place + i * WMI_STRIP_BYTES)));
}

/* All registers that hold something for later. */
static void put_registers(struct wmi_stretch *s, bool stores)
{
    static const uint8_t gprs[] = {WMI_FRAME, WMI_ROWS, WMI_R10, WMI_R11};
    for (unsigned i = 0; i < WMI_ZMM_REGISTERS; i++)
        if (s->owner[i] < WMI_HELD_ROWS)
            put(s, stores ? WMI_VMOVUPS_STORE : WMI_VMOVUPS_LOAD, i, 0,
                wmi_at(WMI_RSP, (int32_t)(offsetof(struct called, zmm) + i * WMI_STRIP_BYTES)));
    for (unsigned i = 0; i < 4; i++) {
        const int32_t gpr = (int32_t)(offsetof(struct called, gpr) + 8 * i),
                      mask = (int32_t)(offsetof(struct called, mask) + 2 * i);
        wmi_scalar_memory(&s->host, stores ? WMI_MOV_STORE : WMI_MOV_LOAD, true, gprs[i], WMI_RSP, gpr);
        if (stores)
            wmi_kmov_store(&s->host, WMI_K_EXEC + i, WMI_RSP, mask, 2);
        else
            wmi_kmov_load(&s->host, WMI_K_EXEC + i, WMI_RSP, mask);
    }
}

/* Sets the lanes of d in which x is near one. Inactive lanes do not matter. */
static void put_near_one(struct wmi_stretch *s, const struct wmi_rows *d, const struct wmi_rows *x)
{
    enum { ADD = 0, SUB = 5 };
    wmi_arithmetic_immediate(&s->host, SUB, true, WMI_RSP, sizeof(struct called));
    put_registers(s, true);
    put_rows_on_stack(s, WMI_VMOVUPS_STORE, x, offsetof(struct called, x));
    put_rows_on_stack(s, WMI_VMOVUPS_STORE, d, offsetof(struct called, d));
    wmi_end_vectors(&s->host);
    wmi_scalar_registers(&s->host, WMI_MOV_LOAD, true, WMI_RDI, WMI_RSP);
    wmi_move_immediate(&s->host, WMI_RSI, wmi_rows_strips(s, d));
    wmi_move_immediate(&s->host, WMI_RAX, (uintptr_t)set_near_one);
    wmi_call_register(&s->host, WMI_RAX);
    put_registers(s, false);
    put_rows_on_stack(s, WMI_VMOVUPS_LOAD, d, offsetof(struct called, d));
    wmi_arithmetic_immediate(&s->host, ADD, true, WMI_RSP, sizeof(struct called));
}

/* ---- the step ---- */

static const struct function {
    put_function *put;
    put_rare_lanes *put_rare;
    const struct wmi_unit_table *table;
    /* Constants, at offsets in struct constants: the highest number of a usual lane; what parts of the
     * function read, or 0; the largest magnitude for which the wave does not leave. */
    size_t limit, factor, half, reach;
    bool of_positive; /* instead, the wave leaves for negative numbers and NaNs */
} functions[] = {
#define AT(name) offsetof(struct constants, name)
    [WMI_UNIT_RCP] = {put_reciprocal, put_rare_reciprocal, &wmi_rcp_table, AT(rcp_limit), AT(four),
                      AT(quarter), AT(exponent)},
    [WMI_UNIT_RSQ] = {put_reciprocal_root, put_rare_reciprocal_root, &wmi_rsq_table, AT(positive_limit),
                      AT(four), AT(eighth_part), .of_positive = true},
    [WMI_UNIT_SQRT] = {put_root, put_rare_root, &wmi_sqrt_table, AT(positive_limit), AT(two), AT(quarter),
                       .of_positive = true},
    [WMI_UNIT_EXP] = {put_power, put_rare_power, &wmi_exp_table, AT(exp_limit), 0, AT(quarter), AT(exponent)},
    [WMI_UNIT_LOG] = {put_logarithm, put_rare_logarithm, &wmi_log_table, AT(positive_limit), 0,
                      .of_positive = true},
    [WMI_UNIT_SIN] = {put_sine, put_rare_sine, &wmi_sin_table, AT(sine_limit), 0, 0, AT(largest)},
    [WMI_UNIT_COS] = {put_cosine, put_no_lanes, &wmi_sin_table, AT(largest), 0, 0, AT(largest)},
    [WMI_USUAL_EXP] = {put_usual_power, put_rare_usual_power, NULL, AT(usual_exp_limit), 0, 0, AT(exponent)},
    [WMI_USUAL_LOG] = {put_usual_logarithm, put_rare_logarithm, NULL, AT(positive_limit), 0,
                       .of_positive = true},
    [WMI_USUAL_SIN] = {put_usual_sine, put_rare_usual_sine, NULL, AT(usual_sine_limit), 0, 0, AT(turns)},
    [WMI_USUAL_COS] = {put_usual_cosine, put_no_lanes, NULL, AT(turns), 0, 0, AT(turns)},
#undef AT
};

/* All strips. Returns the jump that is taken if an active lane is rare. */
static size_t put_strips(struct wmi_stretch *s, unsigned function, const struct wmi_rows *d,
                         const struct wmi_rows *x, const uint8_t *t)
{
    const uint32_t vpmaxud = WMI_EVEX(0x3f, WMI_MAP_0F38, WMI_PREFIX_66, 0);
    const unsigned most = wmi_stretch_register(s);
    if (functions[function].table)
        wmi_move_immediate(&s->host, (enum wmi_gpr)TABLE, (uintptr_t)functions[function].table);
    wmi_move_immediate(&s->host, (enum wmi_gpr)CONSTANTS, (uintptr_t)&constants);
    if (functions[function].factor)
        put_constant(s, t[FACTOR], functions[function].factor, WMI_NO_MASK);
    if (functions[function].half)
        put_constant(s, t[HALF], functions[function].half, WMI_NO_MASK);
    for (unsigned i = 0; i < wmi_rows_strips(s, d); i++) {
        const unsigned active = wmi_vector_active(s, d->uniform, i);
        functions[function].put(s, d->reg[i], wmi_rows_register(x, i), t, i ? t[0] : most);
        if (i)
            put_masked(s, vpmaxud, most, most, wmi_zmm(t[0]), active);
        else if (active)
            put_masked(s, WMI_VMOVDQA32, most, 0, wmi_zmm(most), active | WMI_ZEROING);
    }
    wmi_vector_compare(s, WMI_VPCMPUD, K_NOW, most, in_all_lanes(functions[function].limit), WMI_NO_MASK,
                       WMI_ABOVE);
    wmi_kortest(&s->host, K_NOW, K_NOW);
    return wmi_jump_if(&s->host, WMI_IF_NOT_EQUAL);
}

bool wmi_emit_transcendental(struct wmi_stretch *s, const struct wmi_step *step)
{
    const unsigned function = wmi_recipe_of(step)->argument;
    if (!wmi_recipe_allows(s, step))
        return false;
    const struct wmi_rows x = wmi_stretch_use(s, step->a, true);
    struct wmi_rows d = wmi_stretch_result(s, x.uniform);
    uint8_t t[TEMPORARIES] = {0};
    for (unsigned i = 0; i < TEMPORARIES; i++)
        if (i < FACTOR || (i == FACTOR ? functions[function].factor : functions[function].half))
            t[i] = (uint8_t)wmi_stretch_register(s);
    const size_t rare = put_strips(s, function, &d, &x, t), usual = s->host.count, first_exit = s->exit_count;
    if (functions[function].of_positive)
        leave_for_negative(s, &x);
    else
        leave_beyond(s, &x, t[0], functions[function].reach);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++)
        functions[function].put_rare(s, d.reg[i], wmi_rows_register(&x, i), t[0]);
    if (function == WMI_UNIT_LOG)
        put_near_one(s, &d, &x);
    wmi_stretch_set_aside(s, usual, first_exit, &rare, 1, usual);
    wmi_stretch_write(s, step->d, &d);
    return true;
}
