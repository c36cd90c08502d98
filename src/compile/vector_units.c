/* SPDX-License-Identifier: MIT */
/* Host code of the transcendental steps that take tables: those of gfx11 and gfx12, as in
 * base/transcendental_units.h, which explains the functions. The same operations in the forms for hosts whose
 * instructions cannot round each in its own way.
 *
 * Usual lanes are computed for all strips. If an active lane is rare, the code behind the stretch sets those
 * of them that are no NaN; NaNs, and what becomes one, leave for the body. */
#include "base/float.h"
#include "base/transcendental_tables.h"
#include "compile/vector.h"

/* What the code reads as one word for all lanes. */
static const struct constants {
    uint32_t sign, magnitude, exponent, odd_exponent, half_exponent, low_6, one_bit;
    uint32_t fraction_18, fraction_18_even, fraction_19, fraction_19_quarter, fraction_24, fraction_24_top;
    uint32_t rcp_scale, rcp_rare_bias, rcp_usual, rcp_largest;
    uint32_t rsq_bias, sqrt_bias, smallest, most_usual;
    uint32_t exp_scale, exp_smallest, exp_most_usual;
    float one, four, magic, two_16, two_17, two_21, two_22, two_23, two_29, two_minus_12;
    float exp_bias, exp_over, exp_under;
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
    .rcp_rare_bias = 3 << 23,
    .rcp_usual = 0xfcu << 23,
    .rcp_largest = 0x7e800000,
    /* With them, half the exponent also has the scale of the integer that is multiplied by its power. */
    .rsq_bias = (127u - 2 * 30) << 23,
    .sqrt_bias = (127u + 2 * 29) << 23,
    .smallest = 0x800000,
    .most_usual = 0x7effffff,
    .exp_scale = 30 << 23,
    .exp_smallest = 0x33800000,                /* 2^-24 */
    .exp_most_usual = 0x42fc0000 - 0x33800000, /* 126 */
    .one = 1,
    .four = 4,
    .magic = WMI_UNIT_MAGIC,
    .two_16 = 0x1p16f,
    .two_17 = 0x1p17f,
    .two_21 = 0x1p21f,
    .two_22 = 0x1p22f,
    .two_23 = 0x1p23f,
    .two_29 = 0x1p29f,
    .two_minus_12 = 0x1p-12f,
    .exp_bias = WMI_UNIT_EXP_BIAS,
    .exp_over = 128,
    .exp_under = -126,
};
#define ALL(name) in_all_lanes(offsetof(struct constants, name))

enum { TABLE = WMI_R9, CONSTANTS = WMI_R8 };
enum { TEMPORARIES = 5 };
/* Masks: within a few instructions; which half of a table; the rare lanes of all strips. */
enum { K_NOW = WMI_K, K_SECOND, K_RARE };

static const uint32_t vsubps = WMI_EVEX(0x5c, WMI_MAP_0F, 0, 0),
                      vrndscaleps = WMI_EVEX(0x08, WMI_MAP_0F3A, WMI_PREFIX_66, 0),
                      vcvtdq2ps = WMI_EVEX(0x5b, WMI_MAP_0F, 0, 0),
                      vcvttps2dq = WMI_EVEX(0x5b, WMI_MAP_0F, WMI_PREFIX_F3, 0),
                      vfmadd213ps = WMI_EVEX(0xa8, WMI_MAP_0F38, WMI_PREFIX_66, 0), /* d = a * d + b */
    vfmsub213ps = WMI_EVEX(0xaa, WMI_MAP_0F38, WMI_PREFIX_66, 0),
                      vpermt2d = WMI_EVEX(0x7e, WMI_MAP_0F38, WMI_PREFIX_66, 0); /* a: the indices */
enum { ROUND_DOWN = 8 | 1, ROUND_UP = 8 | 2 };                                   /* of VRNDSCALEPS */

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

/* The same, 32 rows behind it in lanes of K_SECOND if the table has so many. Changes t. */
static void put_lookup_of(struct wmi_stretch *s, bool has_second, unsigned d, unsigned t, unsigned index,
                          size_t column)
{
    put_lookup(s, d, index, column);
    if (!has_second)
        return;
    put_lookup(s, t, index, column + 2 * WMI_STRIP_BYTES);
    put_masked(s, WMI_VMOVDQA32, d, 0, wmi_zmm(t), K_SECOND);
}
#define COLUMN(name) offsetof(struct wmi_unit_table, name)

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
    put(s, WMI_VPBROADCASTD_MEMORY, d, 0, wmi_at((enum wmi_gpr)CONSTANTS, (int32_t)power));
    wmi_evex(&s->host, WMI_VPTERNLOGD, d, x, mask, WMI_NO_MASK, D_OR_A_AND_B);
    put(s, vsubps, d, d, in_all_lanes(power));
}

/* d = x * x, rounded down to an integer. Changes x. */
static void put_square_down(struct wmi_stretch *s, unsigned d, unsigned x)
{
    put(s, WMI_VMULPS, d, x, wmi_zmm(x));
    put_rounded(s, d, ROUND_DOWN);
    put(s, vfmsub213ps, x, x, wmi_zmm(d)); /* negative if the product has been rounded up to d */
    put(s, WMI_VPTESTMD, K_NOW, x, ALL(sign));
    put_masked(s, vsubps, d, d, ALL(one), K_NOW);
}

/* d = t * b, in the units that wmi_cut_product() leaves: those of the constant. Changes t. */
static void put_cut_product(struct wmi_stretch *s, unsigned d, unsigned t, unsigned b,
                            struct wmi_host_operand unit)
{
    put(s, WMI_VMULPS, d, t, wmi_zmm(b));
    wmi_vector_compare(s, WMI_VCMPPS, K_NOW, d, unit, WMI_NO_MASK, WMI_FLOAT_LESS);
    put(s, vfmadd213ps, t, b, unit);
    put_masked(s, vsubps, d, t, unit, K_NOW);
}

/* d = a sum of at least 29 bits with the term x / 64: wmi_plus_sixty_fourth(). Changes t. */
static void put_plus_sixty_fourth(struct wmi_stretch *s, unsigned d, unsigned x, unsigned t)
{
    wmi_vector_shift(s, WMI_RIGHT_SIGNED, t, wmi_zmm(x), 6);
    put(s, WMI_VPADDD, d, d, wmi_zmm(t));
    put(s, WMI_VPTESTMD, K_NOW, x, ALL(low_6));
    put_masked(s, WMI_VPORD, d, d, ALL(one_bit), K_NOW);
}

/* ---- the functions, of one strip: d from x, with temporary registers; K_NOW = the rare lanes of `active`
 * ----
 */

typedef void put_function(struct wmi_stretch *s, unsigned d, unsigned x, const uint8_t *t, unsigned active);

/* The cubic of rcp and rsq: d = the integer. */
static void put_falling_cubic(struct wmi_stretch *s, unsigned d, unsigned x, const uint8_t *t, bool is_root)
{
    const unsigned row = t[0], f = t[1], square = t[2], c = t[3], u = t[4];
    wmi_vector_shift(s, WMI_RIGHT, row, wmi_zmm(x), 18);
    put_masked_number(s, f, x, ALL(fraction_18));
    put_scaled_number(s, u, x, ALL(fraction_18_even), offsetof(struct constants, two_17));
    put_square_down(s, square, u);
    /* c0 - c1 * f */
    put_lookup_of(s, is_root, c, u, row, COLUMN(c1));
    put_cut_product(s, u, c, f, is_root ? ALL(two_21) : ALL(two_22));
    put_rounded(s, u, ROUND_UP);
    put(s, vcvttps2dq, u, 0, wmi_zmm(u));
    if (is_root)
        put(s, WMI_VPADDD, u, u, wmi_zmm(u));
    put_lookup_of(s, is_root, d, c, row, COLUMN(c0));
    put(s, WMI_VPSUBD, d, d, wmi_zmm(u));
    /* (c2 - c3 * (4 * f + 1)) * square */
    put(s, WMI_VMULPS, f, f, ALL(four));
    put(s, WMI_VADDPS, f, f, ALL(one));
    put_lookup_of(s, is_root, c, u, row, COLUMN(c3));
    put(s, vfmadd213ps, c, f, ALL(magic));
    put_lookup_of(s, is_root, f, u, row, COLUMN(c2));
    put(s, vsubps, f, f, wmi_zmm(c));
    put_cut_product(s, c, f, square, ALL(two_23));
    put(s, vcvttps2dq, c, 0, wmi_zmm(c));
    put_plus_sixty_fourth(s, d, c, u);
    put(s, vcvtdq2ps, d, 0, wmi_zmm(d));
}

static void put_reciprocal(struct wmi_stretch *s, unsigned d, unsigned x, const uint8_t *t, unsigned active)
{
    put_falling_cubic(s, d, x, t, false);
    put(s, WMI_VPANDD, t[0], x, ALL(half_exponent));
    put(s, WMI_VPSUBD, d, d, wmi_zmm(t[0]));
    put(s, WMI_VPADDD, d, d, ALL(rcp_scale));
    put(s, WMI_VPADDD, t[0], t[0], ALL(rcp_rare_bias));
    put_masked(s, WMI_VPTESTNMD, K_NOW, t[0], ALL(rcp_usual), active);
}

/* All but positive normal numbers. */
static void find_not_positive(struct wmi_stretch *s, unsigned x, unsigned t, unsigned active)
{
    put(s, WMI_VPSUBD, t, x, ALL(smallest));
    wmi_vector_compare(s, WMI_VPCMPUD, K_NOW, t, ALL(most_usual), active, WMI_ABOVE);
}

static void put_reciprocal_root(struct wmi_stretch *s, unsigned d, unsigned x, const uint8_t *t,
                                unsigned active)
{
    put(s, WMI_VPTESTNMD, K_SECOND, x, ALL(odd_exponent));
    put_falling_cubic(s, d, x, t, true);
    put(s, WMI_VPSUBD, t[0], x, ALL(rsq_bias));
    wmi_vector_shift(s, WMI_RIGHT_SIGNED, t[0], wmi_zmm(t[0]), 1);
    put(s, WMI_VPANDD, t[0], t[0], ALL(half_exponent));
    put(s, WMI_VPSUBD, d, d, wmi_zmm(t[0]));
    find_not_positive(s, x, t[0], active);
}

static void put_root(struct wmi_stretch *s, unsigned d, unsigned x, const uint8_t *t, unsigned active)
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
    put_cut_product(s, u, c, f, ALL(two_22));
    put(s, vcvttps2dq, u, 0, wmi_zmm(u));
    put(s, WMI_VPADDD, u, u, wmi_zmm(u));
    put_lookup(s, d, row, COLUMN(c0));
    put(s, WMI_VPADDD, d, d, wmi_zmm(u));
    /* (c3 * (2 * f + 1) - c2) * square */
    put(s, WMI_VADDPS, f, f, wmi_zmm(f));
    put(s, WMI_VADDPS, f, f, ALL(one));
    put_lookup(s, c, row, COLUMN(c3));
    put(s, vfmadd213ps, c, f, ALL(magic));
    put_lookup(s, f, row, COLUMN(c2));
    put(s, vsubps, f, f, wmi_zmm(c));
    put_cut_product(s, c, f, square, ALL(two_23));
    put(s, vcvttps2dq, c, 0, wmi_zmm(c));
    put(s, WMI_VPXORD, u, u, wmi_zmm(u));
    put(s, WMI_VPSUBD, c, u, wmi_zmm(c));
    put_plus_sixty_fourth(s, d, c, u);
    put(s, vcvtdq2ps, d, 0, wmi_zmm(d));
    put(s, WMI_VPSUBD, u, x, ALL(sqrt_bias));
    wmi_vector_shift(s, WMI_RIGHT_SIGNED, u, wmi_zmm(u), 1);
    put(s, WMI_VPANDD, u, u, ALL(half_exponent));
    put(s, WMI_VPADDD, d, d, wmi_zmm(u));
    find_not_positive(s, x, u, active);
}

/* The phase has 29 fraction bits; that of a negative number is complemented. */
static void put_power(struct wmi_stretch *s, unsigned d, unsigned x, const uint8_t *t, unsigned active)
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
    put_cut_product(s, c, u, square, ALL(two_23));
    put(s, vcvttps2dq, c, 0, wmi_zmm(c));
    /* 4 * (c0 + c1 * f) */
    put_lookup(s, square, row, COLUMN(c1));
    put_cut_product(s, u, square, f, ALL(two_22));
    put(s, vcvttps2dq, u, 0, wmi_zmm(u));
    put_lookup(s, square, row, COLUMN(c0));
    put(s, WMI_VPADDD, u, u, wmi_zmm(square));
    wmi_vector_shift(s, WMI_LEFT, u, wmi_zmm(u), 2);
    put_plus_sixty_fourth(s, u, c, f);
    put(s, vcvtdq2ps, u, 0, wmi_zmm(u));
    put(s, WMI_VPADDD, d, d, wmi_zmm(u));
    put(s, WMI_VPSUBD, d, d, ALL(exp_scale));
    put(s, WMI_VPANDD, c, x, ALL(magnitude));
    put(s, WMI_VPSUBD, c, c, ALL(exp_smallest));
    wmi_vector_compare(s, WMI_VPCMPUD, K_NOW, c, ALL(exp_most_usual), active, WMI_ABOVE);
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

/* Near 0, 1; infinity from 128 on, 0 below -126. */
static void put_rare_power(struct wmi_stretch *s, unsigned d, unsigned x, unsigned t)
{
    put(s, WMI_VPANDD, t, x, ALL(magnitude));
    wmi_vector_compare(s, WMI_VPCMPUD, K_NOW, t, ALL(exp_smallest), WMI_NO_MASK, WMI_BELOW);
    put_masked(s, WMI_VPBROADCASTD_MEMORY, d, 0,
               wmi_at((enum wmi_gpr)CONSTANTS, offsetof(struct constants, one)), K_NOW);
    wmi_vector_compare(s, WMI_VCMPPS, K_NOW, x, ALL(exp_over), WMI_NO_MASK, WMI_FLOAT_NOT_BELOW);
    put_masked(s, WMI_VPBROADCASTD_MEMORY, d, 0,
               wmi_at((enum wmi_gpr)CONSTANTS, offsetof(struct constants, exponent)), K_NOW);
    wmi_vector_compare(s, WMI_VCMPPS, K_NOW, x, ALL(exp_under), WMI_NO_MASK, WMI_FLOAT_LESS);
    put_masked(s, WMI_VPXORD, d, d, wmi_zmm(d), K_NOW);
}

/* Leaves for the body if an active lane is negative, and not a denormal, or a NaN. */
static void leave_for_negative(struct wmi_stretch *s, const struct wmi_rows *x)
{
    for (unsigned i = 0; i < wmi_rows_strips(s, x); i++) {
        const unsigned reg = wmi_rows_register(x, i), k = i ? K_NOW : K_RARE;
        put_masked(s, WMI_VPTESTMD, k, reg, ALL(exponent), wmi_vector_active(s, x->uniform, i));
        wmi_vector_compare(s, WMI_VPCMPUD, k, reg, ALL(exponent), k, WMI_ABOVE);
        if (i)
            wmi_mask(&s->host, WMI_KOR, K_RARE, K_RARE, K_NOW);
    }
    wmi_kortest(&s->host, K_RARE, K_RARE);
    wmi_stretch_exit_if(s, WMI_IF_NOT_EQUAL);
}

/* ---- the step ---- */

static const struct {
    put_function *put;
    put_rare_lanes *put_rare;
    const struct wmi_unit_table *table;
    bool of_positive;
} functions[] = {
    [WMI_UNIT_RCP] = {put_reciprocal, put_rare_reciprocal, &wmi_rcp_table, false},
    [WMI_UNIT_RSQ] = {put_reciprocal_root, put_rare_reciprocal_root, &wmi_rsq_table, true},
    [WMI_UNIT_SQRT] = {put_root, put_rare_root, &wmi_sqrt_table, true},
    [WMI_UNIT_EXP] = {put_power, put_rare_power, &wmi_exp_table, false},
};

bool wmi_emit_unit(struct wmi_stretch *s, const struct wmi_step *step)
{
    const unsigned number = wmi_recipe_of(step)->argument;
    if (!wmi_recipe_allows(s, step))
        return false;
    const struct wmi_rows x = wmi_stretch_use(s, step->a, true);
    struct wmi_rows d = wmi_stretch_result(s, x.uniform);
    uint8_t t[TEMPORARIES];
    for (unsigned i = 0; i < TEMPORARIES; i++)
        t[i] = (uint8_t)wmi_stretch_register(s);
    wmi_move_immediate(&s->host, (enum wmi_gpr)TABLE, (uintptr_t)functions[number].table);
    wmi_move_immediate(&s->host, (enum wmi_gpr)CONSTANTS, (uintptr_t)&constants);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++) {
        functions[number].put(s, d.reg[i], wmi_rows_register(&x, i), t, wmi_vector_active(s, d.uniform, i));
        wmi_mask(&s->host, WMI_KOR, K_RARE, i ? K_RARE : K_NOW, K_NOW);
    }
    wmi_kortest(&s->host, K_RARE, K_RARE);
    const size_t rare = wmi_jump_if(&s->host, WMI_IF_NOT_EQUAL), usual = s->host.count,
                 first_exit = s->exit_count;
    if (functions[number].of_positive)
        leave_for_negative(s, &x);
    else
        wmi_vector_leave_if(s, WMI_VCMPPS, &x, &x, WMI_UNORDERED);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++)
        functions[number].put_rare(s, d.reg[i], wmi_rows_register(&x, i), t[0]);
    wmi_stretch_set_aside(s, usual, first_exit, &rare, 1, usual);
    wmi_stretch_write(s, step->d, &d);
    return true;
}
