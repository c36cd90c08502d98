/* SPDX-License-Identifier: MIT */
/* Float bodies without a documented bit-exact result, checked against error bounds relative to the C
 * library's long double and for equal results on all CPU levels; and division as expanded by LLVM, which must
 * be correctly rounded. */
#include "frame.h"
#include "isa/isa.h"
#include "rules.h"
#include "sem/table.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include <cmocka.h>

enum { LANES = 64, MODE_ALL_DENORMALS = 0x3f0, MODE_HSA = 0x3c0 };

static void run(struct test_wave *wave, enum wmi_cpu_level level, enum wmi_insn_id id, unsigned d, unsigned a,
                unsigned b, unsigned c)
{
    struct wmi_op op[2] = {{.body = wmi_sem_body(level, LANES, id),
                            .d = test_row(wave, d),
                            .a = test_row(wave, a),
                            .b = test_row(wave, b),
                            .c = test_row(wave, c),
                            .e = 4 * WMI_S_VCC,
                            .lanes = offsetof(struct wmi_frame, exec)}};

    assert_non_null(op[0].body);
    assert_true(test_run(wave, op));
}

static struct test_wave new_wave(uint32_t mode)
{
    struct test_wave wave = test_wave_new(LANES);

    test_set_mode(&wave, mode);
    test_set_lanes(&test_state(&wave)->exec, LANES, UINT64_MAX);
    return wave;
}

/* ---- approximations ---- */

static long double reciprocal(long double x)
{
    return 1 / x;
}

static long double reciprocal_root(long double x)
{
    return 1 / sqrtl(x);
}

/* Beyond 256 turns gfx9 returns 0 (sine) and 1 (cosine); the reduction to one turn is exact. */
static long double sine(long double x)
{
    return fabsl(x) > 256 ? 0 : sinl(2 * (long double)M_PIl * remainderl(x, 1));
}

static long double cosine(long double x)
{
    return fabsl(x) > 256 ? 1 : cosl(2 * (long double)M_PIl * remainderl(x, 1));
}

static const struct approximation {
    const char *name;
    enum wmi_insn_id id;
    long double (*exact)(long double);
    double ulp; /* of the result, or of `floor` if the result is smaller */
    double floor;
    float low, high; /* range of additional samples */
} approximations[] = {
    /* Correctly rounded, or rounded twice. */
    {"v_rcp_f32", WMI_INSN_v_rcp_f32, reciprocal, 0.5, 0, 0.5f, 4},
    {"v_sqrt_f32", WMI_INSN_v_sqrt_f32, sqrtl, 0.5, 0, 0.5f, 4},
    {"v_rsq_f32", WMI_INSN_v_rsq_f32, reciprocal_root, 1, 0, 0.5f, 4},
    /* The ISA document says 1 ulp. */
    {"v_exp_f32", WMI_INSN_v_exp_f32, exp2l, 1, 0, -130, 130},
    {"v_log_f32", WMI_INSN_v_log_f32, log2l, 1.05, 0, 0.5f, 2},
    /* No document gives a bound: 2 ulp of results that are not tiny. */
    {"v_sin_f32", WMI_INSN_v_sin_f32, sine, 2, 1e-3, -2, 2},
    {"v_cos_f32", WMI_INSN_v_cos_f32, cosine, 2, 1e-1, -2, 2},
};

static bool is_tiny(uint32_t bits)
{
    return !(bits & 0x7f800000);
}

/* All rounding modes, with f32 denormals and without: MODE must have no effect. */
static void approximations_keep_their_bounds(void **state)
{
    enum { FUNCTIONS = sizeof approximations / sizeof *approximations };
    unsigned wrong = 0;

    (void)state;
    for (uint32_t i = 0; i < 8 * FUNCTIONS; i++) {
        const struct approximation *f = &approximations[i % FUNCTIONS];
        const uint32_t mode = (i / FUNCTIONS & 4 ? MODE_ALL_DENORMALS : MODE_HSA) | (i / FUNCTIONS & 3);
        struct test_wave wave = new_wave(mode);
        uint64_t seed = 5;
        double worst = 0;

        for (unsigned round = 0; round < 500; round++) {
            uint32_t x[LANES], first[LANES];
            for (unsigned lane = 0; lane < LANES; lane++) {
                const uint64_t pick = test_random(&seed);
                x[lane] = pick >> 63
                              ? (uint32_t)pick
                              : bits_f32(f->low + (f->high - f->low) * (float)((uint32_t)pick * 0x1p-32));
                test_put(&wave, 0, lane, x[lane]);
            }
            run(&wave, WMI_CPU_BASELINE, f->id, 2, 0, 0, 0);
            for (unsigned lane = 0; lane < LANES; lane++) {
                first[lane] = test_get(&wave, 2, lane);
                const float got = as_f32(first[lane]), in = as_f32(x[lane]);
                /* Input and output denormals are flushed, except that sin and cos follow MODE for inputs. */
                const bool keeps = mode & 0x10 && (f->exact == sine || f->exact == cosine);
                const long double want = f->exact(is_tiny(x[lane]) && !keeps ? copysignf(0, in) : in);
                if (isnan(want) || isinf(want) || fabsl(want) < 0x1p-126L || fabsl(want) > 0x1.fffffep127L) {
                    const bool right = isnan(want) ? isnan(got)
                                       : want == 0 ? !(first[lane] & 0x7fffffff)
                                       : fabsl(want) < 0x1p-126L
                                           ? fabsf(got) <= 0x1p-126f
                                           : isinf(got) && !signbit(got) == !signbit(want);
                    if (!right && wrong++ < 8)
                        printf("%s(%a) = %a, expected %La\n", f->name, in, got, want);
                    continue;
                }
                const long double scale = fmaxl(fabsl(want), f->floor);
                const double ulp =
                    (double)(fabsl((long double)got - want) / ldexpl(1, (int)ilogbl(scale) - 23));
                worst = ulp > worst ? ulp : worst;
                if (!(ulp <= f->ulp) && wrong++ < 8)
                    printf("%s(%a) = %a, expected %La: %.3f ulp\n", f->name, in, got, want, ulp);
            }
            for (unsigned level = WMI_CPU_AVX2; level <= wmi_cpu_level(); level++) {
                run(&wave, level, f->id, 2, 0, 0, 0);
                for (unsigned lane = 0; lane < LANES; lane++)
                    if (test_get(&wave, 2, lane) != first[lane] && wrong++ < 8)
                        printf("%s(%a): level %u gives %08x, baseline %08x\n", f->name, as_f32(x[lane]),
                               level, test_get(&wave, 2, lane), first[lane]);
            }
        }
        printf("%s in mode %03x: at most %.3f ulp\n", f->name, mode, worst);
        free(wave.frame);
    }
    assert_int_equal(wrong, 0);
}

static double of_half(uint32_t half)
{
    const uint32_t exponent = half >> 10 & 31, fraction = half & 1023;
    const double size = exponent == 31 ? (fraction ? (double)NAN : HUGE_VAL)
                        : exponent     ? ldexp(1024 + fraction, (int)exponent - 25)
                                       : ldexp(fraction, -24);

    return half & 0x8000 ? -size : size;
}

/* All f16 values: within 1 ulp, where denormals have the ulp of the smallest one; NaN for NaN. */
static void halves_keep_their_bounds(void **state)
{
    static const struct {
        const char *name;
        enum wmi_insn_id id;
        long double (*exact)(long double);
    } functions[] = {
        {"v_rcp_f16", WMI_INSN_v_rcp_f16, reciprocal},      {"v_sqrt_f16", WMI_INSN_v_sqrt_f16, sqrtl},
        {"v_rsq_f16", WMI_INSN_v_rsq_f16, reciprocal_root}, {"v_exp_f16", WMI_INSN_v_exp_f16, exp2l},
        {"v_log_f16", WMI_INSN_v_log_f16, log2l},           {"v_sin_f16", WMI_INSN_v_sin_f16, sine},
        {"v_cos_f16", WMI_INSN_v_cos_f16, cosine},
    };
    /* To nearest with denormals; without; up, down and toward zero. */
    static const uint32_t modes[] = {MODE_HSA, 0x300, 0x3c4, 0x3c8, 0x3cc};
    enum { FUNCTIONS = sizeof functions / sizeof *functions, MODES = sizeof modes / sizeof *modes };
    unsigned wrong = 0;

    (void)state;
    for (size_t i = 0; i < FUNCTIONS * MODES; i++)
        for (unsigned level = 0; level <= wmi_cpu_level(); level++) {
            const size_t f = i % FUNCTIONS;
            const uint32_t mode = modes[i / FUNCTIONS];
            const bool keeps = mode & 0xc0, directed = mode & 0xc;
            struct test_wave wave = new_wave(mode);
            for (uint32_t first = 0; first < 0x10000; first += LANES) {
                for (unsigned lane = 0; lane < LANES; lane++)
                    test_put(&wave, 0, lane, 0xabcd0000 | (first + lane));
                run(&wave, level, functions[f].id, 2, 0, 0, 0);
                for (unsigned lane = 0; lane < LANES; lane++) {
                    const double in = of_half(first + lane),
                                 x = !keeps && fabs(in) < 0x1p-14 ? copysign(0, in) : in;
                    const double got = of_half(test_get(&wave, 2, lane) & 0xffff);
                    const long double want =
                        isinf(x) && (functions[f].exact == sine || functions[f].exact == cosine)
                            ? NAN
                            : functions[f].exact(x);
                    const int place = !isfinite(want) || fabsl(want) < 0x1p-14L ? -24 : ilogbl(want) - 10;
                    const bool right = test_get(&wave, 2, lane) >> 16 ? false
                                       : isnan(want)                  ? isnan(got)
                                       : fabsl(want) >= 65520
                                           ? (isinf(got) || (directed && fabs(got) == 65504)) &&
                                                 !signbit(got) == !signbit(want)
                                       : !keeps && fabsl(want) < 0x1p-14L
                                           ? fabs(got) == 0 || fabs(got) == 0x1p-14
                                           : fabsl(got - want) <= (directed ? 2 : 1) * ldexpl(1, place);
                    if (!right && wrong++ < 8)
                        printf("%s(%a) = %a, expected %La\n", functions[f].name, x, got, want);
                }
            }
            free(wave.frame);
        }
    assert_int_equal(wrong, 0);
}

/* Correctly rounded, except rsq, which is rounded twice. */
static void doubles_are_exact(void **state)
{
    uint64_t seed = 7;

    (void)state;
    for (unsigned i = 0; i < 4 * (wmi_cpu_level() + 1); i++) {
        const unsigned level = i / 4;
        struct test_wave wave = new_wave(MODE_HSA | (i % 4) << 2); /* rounding mode has no effect */
        for (unsigned round = 0; round < 200; round++) {
            for (unsigned lane = 0; lane < LANES; lane++)
                test_put64(&wave, 0, lane, test_random(&seed));
            run(&wave, level, WMI_INSN_v_rcp_f64, 2, 0, 0, 0);
            run(&wave, level, WMI_INSN_v_sqrt_f64, 4, 0, 0, 0);
            run(&wave, level, WMI_INSN_v_rsq_f64, 6, 0, 0, 0);
            for (unsigned lane = 0; lane < LANES; lane++) {
                const double x = as_f64(test_get64(&wave, 0, lane));
                const uint64_t root = test_get64(&wave, 4, lane);
                const long double rsq = as_f64(test_get64(&wave, 6, lane)), want = 1 / sqrtl(x);
                if (isnan(x))
                    continue;
                assert_true(test_get64(&wave, 2, lane) == bits_f64(1 / x));
                assert_true(root == (x < 0 ? UINT64_C(0xfff8000000000000) : bits_f64(sqrt(x))));
                assert_true(x < 0 ? isnan(rsq) : fabsl(rsq - want) <= fabsl(want) * 0x1.8p-52L);
            }
        }
        free(wave.frame);
    }
}

/* The clamping forms of gfx6 and gfx7 equal the plain ones except for infinities. Source: CLRX,
 * GcnInstrsVop1. */
static void bounded_forms_follow_the_plain_ones(void **state)
{
    static const struct {
        enum wmi_insn_id bounded, plain;
        bool wide, to_zero;
    } forms[] = {
        {WMI_INSN_v_log_clamp_f32, WMI_INSN_v_log_f32, false, false},
        {WMI_INSN_v_rcp_clamp_f32, WMI_INSN_v_rcp_f32, false, false},
        {WMI_INSN_v_rcp_legacy_f32, WMI_INSN_v_rcp_f32, false, true},
        {WMI_INSN_v_rsq_clamp_f32, WMI_INSN_v_rsq_f32, false, false},
        {WMI_INSN_v_rsq_legacy_f32, WMI_INSN_v_rsq_f32, false, true},
        {WMI_INSN_v_rcp_clamp_f64, WMI_INSN_v_rcp_f64, true, false},
        {WMI_INSN_v_rsq_clamp_f64, WMI_INSN_v_rsq_f64, true, false},
    };
    enum { FORMS = sizeof forms / sizeof *forms };
    struct test_wave wave = new_wave(MODE_HSA);
    uint64_t seed = 3;
    unsigned infinite = 0;

    (void)state;
    for (size_t i = 0; i < 40 * FORMS; i++)
        for (unsigned level = 0; level <= wmi_cpu_level(); level++) {
            const bool wide = forms[i % FORMS].wide;
            for (unsigned lane = 0; lane < LANES; lane++) {
                const uint64_t bits = test_random(&seed); /* including zeros and infinities */
                test_put64(&wave, 0, lane,
                           lane % 8    ? bits
                           : lane % 16 ? bits & (UINT64_C(1) << 63 | UINT64_C(1) << 31)
                           : wide      ? UINT64_C(0x7ff) << 52
                                       : 0x7f800000);
            }
            run(&wave, level, forms[i % FORMS].bounded, 2, 0, 0, 0);
            run(&wave, level, forms[i % FORMS].plain, 4, 0, 0, 0);
            for (unsigned lane = 0; lane < LANES; lane++) {
                const uint64_t got = wide ? test_get64(&wave, 2, lane) : test_get(&wave, 2, lane);
                const uint64_t plain = wide ? test_get64(&wave, 4, lane) : test_get(&wave, 4, lane);
                const uint64_t inf = wide ? UINT64_C(0x7ff) << 52 : 0x7f800000;
                const uint64_t sign = plain & (wide ? UINT64_C(1) << 63 : 0x80000000);
                const bool is_infinite = plain == (inf | sign);
                assert_true(got == (!is_infinite ? plain : sign | (forms[i % FORMS].to_zero ? 0 : inf - 1)));
                infinite += is_infinite;
            }
        }
    assert_true(infinite > 100);
    free(wave.frame);
}

/* Examples from the ISA documents. */
static void examples_of_the_documents_hold(void **state)
{
    static const struct {
        enum wmi_insn_id id;
        uint32_t in, out;
    } examples[] = {
        {WMI_INSN_v_exp_f32, 0xff800000, 0x00000000},  {WMI_INSN_v_exp_f32, 0x80000000, 0x3f800000},
        {WMI_INSN_v_exp_f32, 0x7f800000, 0x7f800000},  {WMI_INSN_v_log_f32, 0xff800000, 0xffc00000},
        {WMI_INSN_v_log_f32, 0xbf800000, 0xffc00000},  {WMI_INSN_v_log_f32, 0x80000000, 0xff800000},
        {WMI_INSN_v_log_f32, 0x00000000, 0xff800000},  {WMI_INSN_v_log_f32, 0x3f800000, 0x00000000},
        {WMI_INSN_v_log_f32, 0x7f800000, 0x7f800000},  {WMI_INSN_v_rcp_f32, 0xff800000, 0x80000000},
        {WMI_INSN_v_rcp_f32, 0xc0000000, 0xbf000000},  {WMI_INSN_v_rcp_f32, 0x80000000, 0xff800000},
        {WMI_INSN_v_rcp_f32, 0x00000000, 0x7f800000},  {WMI_INSN_v_rcp_f32, 0x7f800000, 0x00000000},
        {WMI_INSN_v_rsq_f32, 0xff800000, 0xffc00000},  {WMI_INSN_v_rsq_f32, 0x80000000, 0xff800000},
        {WMI_INSN_v_rsq_f32, 0x00000000, 0x7f800000},  {WMI_INSN_v_rsq_f32, 0x40800000, 0x3f000000},
        {WMI_INSN_v_rsq_f32, 0x7f800000, 0x00000000},  {WMI_INSN_v_sqrt_f32, 0xff800000, 0xffc00000},
        {WMI_INSN_v_sqrt_f32, 0x80000000, 0x80000000}, {WMI_INSN_v_sqrt_f32, 0x40800000, 0x40000000},
        {WMI_INSN_v_sqrt_f32, 0x7f800000, 0x7f800000}, {WMI_INSN_v_sin_f32, 0xff800000, 0xffc00000},
        {WMI_INSN_v_sin_f32, 0xff7fffff, 0x00000000},  {WMI_INSN_v_sin_f32, 0x80000000, 0x80000000},
        {WMI_INSN_v_sin_f32, 0x3e800000, 0x3f800000},  {WMI_INSN_v_sin_f32, 0x7f800000, 0xffc00000},
        {WMI_INSN_v_cos_f32, 0xff800000, 0xffc00000},  {WMI_INSN_v_cos_f32, 0xff7fffff, 0x3f800000},
        {WMI_INSN_v_cos_f32, 0x80000000, 0x3f800000},  {WMI_INSN_v_cos_f32, 0x3e800000, 0x00000000},
        {WMI_INSN_v_cos_f32, 0x7f800000, 0xffc00000},  {WMI_INSN_v_rcp_f16, 0xfc00, 0x8000},
        {WMI_INSN_v_rcp_f16, 0xc000, 0xb800},          {WMI_INSN_v_rcp_f16, 0x0000, 0x7c00},
        {WMI_INSN_v_sqrt_f16, 0xfc00, 0xfe00},         {WMI_INSN_v_sqrt_f16, 0x4400, 0x4000},
        {WMI_INSN_v_rsq_f16, 0x8000, 0xfc00},          {WMI_INSN_v_rsq_f16, 0x4400, 0x3800},
        {WMI_INSN_v_log_f16, 0xbc00, 0xfe00},          {WMI_INSN_v_log_f16, 0x3c00, 0x0000},
        {WMI_INSN_v_exp_f16, 0xfc00, 0x0000},          {WMI_INSN_v_exp_f16, 0x8000, 0x3c00},
        {WMI_INSN_v_sin_f16, 0xfbff, 0x0000},          {WMI_INSN_v_sin_f16, 0x3400, 0x3c00},
        {WMI_INSN_v_cos_f16, 0x3400, 0x0000},          {WMI_INSN_v_cos_f16, 0x7bff, 0x3c00},
        {WMI_INSN_v_cvt_off_f32_i4, 0x8, 0xbf000000},  {WMI_INSN_v_cvt_off_f32_i4, 0xf, 0xbd800000},
        {WMI_INSN_v_cvt_off_f32_i4, 0x7, 0x3ee00000},
    };
    enum { EXAMPLES = sizeof examples / sizeof *examples };
    struct test_wave wave = new_wave(MODE_HSA);

    (void)state;
    for (size_t i = 0; i < 0x400 * EXAMPLES; i++)
        for (unsigned level = 0; level <= wmi_cpu_level(); level++) {
            test_set_mode(&wave, (uint32_t)(i / EXAMPLES));
            for (unsigned lane = 0; lane < LANES; lane++)
                test_put(&wave, 0, lane, examples[i % EXAMPLES].in);
            run(&wave, level, examples[i % EXAMPLES].id, 2, 0, 0, 0);
            for (unsigned lane = 0; lane < LANES; lane++)
                if (test_get(&wave, 2, lane) != examples[i % EXAMPLES].out) {
                    print_message("%s(%08x) in mode %03zx: %08x\n", wmi_rows[examples[i % EXAMPLES].id].name,
                                  examples[i % EXAMPLES].in, i / EXAMPLES, test_get(&wave, 2, lane));
                    assert_true(false);
                }
        }
    free(wave.frame);
}

/* ---- division ---- */

enum { SCALED_D = 4, SCALED_N = 6, R = 8, S = 10, T = 12, U = 14, MINUS = 16, ONE = 18 };

/* The sequence of LLVM's SITargetLowering::LowerFDIV32; registers in pairs. */
static void divide_f32(struct test_wave *wave, enum wmi_cpu_level level)
{
    const unsigned n = 0, d = 2;

    run(wave, level, WMI_INSN_v_div_scale_f32, SCALED_D, d, d, n);
    run(wave, level, WMI_INSN_v_div_scale_f32, SCALED_N, n, d, n);
    run(wave, level, WMI_INSN_v_rcp_f32, R, SCALED_D, 0, 0);
    for (unsigned lane = 0; lane < LANES; lane++) {
        test_put(wave, MINUS, lane, test_get(wave, SCALED_D, lane) ^ 0x80000000);
        test_put(wave, ONE, lane, 0x3f800000);
    }
    run(wave, level, WMI_INSN_v_fma_f32, S, MINUS, R, ONE);
    run(wave, level, WMI_INSN_v_fma_f32, R, S, R, R);
    run(wave, level, WMI_INSN_v_mul_f32, T, SCALED_N, R, 0);
    run(wave, level, WMI_INSN_v_fma_f32, S, MINUS, T, SCALED_N);
    run(wave, level, WMI_INSN_v_fma_f32, T, S, R, T);
    run(wave, level, WMI_INSN_v_fma_f32, S, MINUS, T, SCALED_N);
    run(wave, level, WMI_INSN_v_div_fmas_f32, U, S, R, T);
    run(wave, level, WMI_INSN_v_div_fixup_f32, U, U, d, n);
}

/* The sequence of SITargetLowering::LowerFDIV64. */
static void divide_f64(struct test_wave *wave, enum wmi_cpu_level level)
{
    const unsigned n = 0, d = 2;

    run(wave, level, WMI_INSN_v_div_scale_f64, SCALED_D, d, d, n);
    run(wave, level, WMI_INSN_v_rcp_f64, R, SCALED_D, 0, 0);
    for (unsigned lane = 0; lane < LANES; lane++) {
        test_put64(wave, MINUS, lane, test_get64(wave, SCALED_D, lane) ^ UINT64_C(0x8000000000000000));
        test_put64(wave, ONE, lane, 0x3ff0000000000000);
    }
    run(wave, level, WMI_INSN_v_fma_f64, S, MINUS, R, ONE);
    run(wave, level, WMI_INSN_v_fma_f64, R, R, S, R);
    run(wave, level, WMI_INSN_v_fma_f64, S, MINUS, R, ONE);
    run(wave, level, WMI_INSN_v_fma_f64, R, R, S, R);
    run(wave, level, WMI_INSN_v_div_scale_f64, SCALED_N, n, d, n);
    run(wave, level, WMI_INSN_v_mul_f64, T, SCALED_N, R, 0);
    run(wave, level, WMI_INSN_v_fma_f64, S, MINUS, T, SCALED_N);
    run(wave, level, WMI_INSN_v_div_fmas_f64, U, S, R, T);
    run(wave, level, WMI_INSN_v_div_fixup_f64, U, U, d, n);
}

/* Operands over the whole range, and with quotients near both ends of it. */
static uint64_t spread(uint64_t *seed, int fraction, int exponent)
{
    static const int places[] = {0, 1, 2, -2, -3, 24, 60};
    const uint64_t pick = test_random(seed), top = (UINT64_C(1) << exponent) - 1;
    const uint64_t where = (uint64_t)places[(pick >> 40) % 7] & top;
    const uint64_t field = pick >> 62 ? pick >> 20 & top : where;

    return (test_random(seed) & ((UINT64_C(1) << fraction) - 1)) | field << fraction |
           (pick >> 61 & 1) << (fraction + exponent);
}

static void division_is_correctly_rounded(void **state)
{
    unsigned wrong = 0;
    uint64_t seed = 9;

    (void)state;
    for (unsigned level = 0; level <= wmi_cpu_level(); level++) {
        struct test_wave wave = new_wave(MODE_ALL_DENORMALS);
        for (unsigned round = 0; round < 3000; round++) {
            for (unsigned lane = 0; lane < LANES; lane++) {
                test_put(&wave, 0, lane, (uint32_t)spread(&seed, 23, 8));
                test_put(&wave, 2, lane, (uint32_t)spread(&seed, 23, 8));
            }
            divide_f32(&wave, level);
            for (unsigned lane = 0; lane < LANES; lane++) {
                const float n = as_f32(test_get(&wave, 0, lane)), d = as_f32(test_get(&wave, 2, lane));
                const float want = n / d, got = as_f32(test_get(&wave, U, lane));
                if ((isnan(want) ? !isnan(got) : bits_f32(got) != bits_f32(want)) && wrong++ < 8)
                    printf("level %u: %a / %a = %a, expected %a\n", level, n, d, got, want);
            }
            for (unsigned lane = 0; lane < LANES; lane++) {
                test_put64(&wave, 0, lane, spread(&seed, 52, 11));
                test_put64(&wave, 2, lane, spread(&seed, 52, 11));
            }
            divide_f64(&wave, level);
            for (unsigned lane = 0; lane < LANES; lane++) {
                const double n = as_f64(test_get64(&wave, 0, lane)), d = as_f64(test_get64(&wave, 2, lane));
                const double want = n / d, got = as_f64(test_get64(&wave, U, lane));
                if ((isnan(want) ? !isnan(got) : bits_f64(got) != bits_f64(want)) && wrong++ < 8)
                    printf("level %u: %a / %a = %a, expected %a (f64)\n", level, n, d, got, want);
            }
        }
        free(wave.frame);
    }
    assert_int_equal(wrong, 0);
}

/* v_div_fmas, the last step of a quotient, as used by the expansion: c is the scaled quotient and a * b its
 * error, at most a few ulp of c. The sum is scaled back by 2^64 (2^128) and rounded once, in every rounding
 * mode. */
static void fmas_scales_back(void **state)
{
    static const struct {
        const struct format *format;
        enum wmi_insn_id id;
        int step, low, high; /* the scale; minimum and maximum exponent of c with it */
    } types[] = {{&exact_f32, WMI_INSN_v_div_fmas_f32, 64, -90, 62},
                 {&exact_f64, WMI_INSN_v_div_fmas_f64, 128, -960, 894}};
    unsigned wrong = 0;
    uint64_t seed = 10;

    (void)state;
    for (unsigned i = 0; i < 2 * 4 * 300; i++)
        for (unsigned level = 0; level <= wmi_cpu_level(); level++) {
            const struct format *f = types[i % 2].format;
            const uint32_t mode = MODE_ALL_DENORMALS | (i / 2 % 4) * 5;
            const int bias = (1 << (f->exponent - 1)) - 1;
            struct test_wave wave = new_wave(mode);
            uint64_t value[LANES][3], vcc = test_random(&seed);

            memcpy(&test_state(&wave)->s[WMI_S_VCC], &vcc, sizeof vcc);
            for (unsigned lane = 0; lane < LANES; lane++) {
                const uint64_t pick = test_random(&seed);
                const int c = pick & 1 ? types[i % 2].low + (int)(pick >> 8) % 30
                                       : types[i % 2].high - (int)(pick >> 8 & 31);
                const int b = c / 2 + (int)(pick >> 20 & 15) - 8,
                          a = c - b - f->fraction - 1 - (int)(pick >> 30 & 1);
                const int exponents[3] = {a, b, c};
                for (unsigned k = 0; k < 3; k++) {
                    const uint64_t bits = test_random(&seed);
                    value[lane][k] = (bits & ((UINT64_C(1) << f->fraction) - 1)) |
                                     (uint64_t)(exponents[k] + bias) << f->fraction |
                                     exact_zero(f, bits >> 63);
                    test_put64(&wave, 2 * k, lane, value[lane][k]);
                }
            }
            run(&wave, level, types[i % 2].id, 8, 0, 2, 4);
            for (unsigned lane = 0; lane < LANES; lane++) {
                const uint64_t *v = value[lane];
                struct number n = exact_sum(exact_product(exact_value(f, v[0]), exact_value(f, v[1])),
                                            exact_value(f, v[2]), direction_of(f, mode));
                const bool large = (int)(v[2] >> f->fraction & ((1u << f->exponent) - 1)) > bias;
                if (vcc >> lane & 1)
                    n.scale += large ? types[i % 2].step : -types[i % 2].step;
                const uint64_t want = rounded(f, n, mode), got = test_get64(&wave, 8, lane);
                if ((f == &exact_f64 ? got : (uint32_t)got) != want && wrong++ < 8)
                    printf("%s level %u mode %03x vcc %d: %llx * %llx + %llx: got %llx, expected %llx\n",
                           wmi_rows[types[i % 2].id].name, level, mode, (int)(vcc >> lane & 1),
                           (unsigned long long)v[0], (unsigned long long)v[1], (unsigned long long)v[2],
                           (unsigned long long)got, (unsigned long long)want);
            }
            free(wave.frame);
        }
    assert_int_equal(wrong, 0);
}

/* ---- others ---- */

/* A number below 16 with 1340 binary digits after the point: words from the top down, the first one with 28
 * digits. */
struct long_number {
    uint32_t word[42];
};
enum { LONG_WORDS = 42, LONG_POINT = 4 };

static struct long_number divided(struct long_number x, uint32_t by)
{
    uint64_t rest = 0;
    for (unsigned i = 0; i < LONG_WORDS; i++) {
        rest = rest << 32 | x.word[i];
        x.word[i] = (uint32_t)(rest / by);
        rest %= by;
    }
    return x;
}

/* x + y, or x - y. */
static struct long_number added(struct long_number x, const struct long_number *y, bool minus)
{
    uint64_t carry = minus;
    for (unsigned i = LONG_WORDS; i-- > 0;) {
        carry += (uint64_t)x.word[i] + (minus ? ~y->word[i] : y->word[i]);
        x.word[i] = (uint32_t)carry;
        carry >>= 32;
    }
    return x;
}

/* factor * atan(1 / of), by its series. */
static struct long_number arc_tangent(uint32_t factor, uint32_t of)
{
    struct long_number power = divided((struct long_number){{factor << (32 - LONG_POINT)}}, of), sum = {{0}};
    for (uint32_t k = 1; k < 1200; k += 2) {
        const struct long_number term = divided(power, k);
        sum = added(sum, &term, k % 4 == 3);
        power = divided(divided(power, of), of);
    }
    return sum;
}

/* The first 1184 binary digits of 2 / pi behind the point. Machin: pi / 4 = 4 atan(1/5) - atan(1/239). */
static void digits_of_two_over_pi(bool *digits)
{
    const struct long_number tangent = arc_tangent(1, 239), quarter = arc_tangent(4, 5),
                             pi_4 = added(quarter, &tangent, true);
    struct long_number rest = {{1u << (31 - LONG_POINT)}}; /* 2 / pi = (1/2) / (pi/4) */
    for (unsigned i = 0; i < 1184; i++) {
        rest = added(rest, &rest, false);
        digits[i] = !(added(rest, &pi_4, true).word[0] >> 31); /* not negative */
        if (digits[i])
            rest = added(rest, &pi_4, true);
    }
}

/* V_TRIG_PREOP_F64 of the CDNA 3 ISA: 53 digits from a place that the exponent and the segment number give.
 */
static double piece_of_two_over_pi(const bool *digits, unsigned exponent, unsigned segment)
{
    const int shift = (int)(segment * 53 + (exponent > 1077 ? exponent - 1077 : 0));
    double piece = 0;
    for (int i = 0; i < 53; i++)
        piece = 2 * piece + (shift + i < 1184 && digits[shift + i]);
    const int power = -53 - shift + (exponent >= 1968 ? 128 : 0);
    return ldexp(floor(ldexp(piece, power < -1074 ? power + 1074 : 0)), power < -1074 ? -1074 : power);
}

/* All exponents and segments; 2 / pi has 1184 digits, as captured on gfx1201 by bjacob/goc, and
 * denormal results are cut off. */
static void trig_preop_gives_two_over_pi(void **state)
{
    static bool digits[1184];
    unsigned wrong = 0;
    (void)state;
    digits_of_two_over_pi(digits);
    for (unsigned level = 0; level <= wmi_cpu_level(); level++) {
        struct test_wave wave = new_wave(MODE_HSA);
        for (unsigned i = 0; i < 2048 * 32; i += LANES) {
            for (unsigned lane = 0; lane < LANES; lane++) {
                test_put64(&wave, 0, lane, (uint64_t)((i + lane) / 32) << 52 | (lane & 1 ? 0x123456789 : 0));
                test_put(&wave, 2, lane, lane % 32);
            }
            run(&wave, level, WMI_INSN_v_trig_preop_f64, 4, 0, 2, 0);
            for (unsigned lane = 0; lane < LANES; lane++) {
                const double want = piece_of_two_over_pi(digits, (i + lane) / 32, lane % 32);
                const double got = as_f64(test_get64(&wave, 4, lane));
                if (got != want && wrong++ < 8)
                    printf("exponent %u segment %u: %a, expected %a\n", (i + lane) / 32, lane % 32, got,
                           want);
            }
        }
        free(wave.frame);
    }
    assert_int_equal(wrong, 0);
}

/* Face, coordinates and major axis for directions along and near each axis. */
static void cube_maps_find_their_face(void **state)
{
    static const struct {
        float x, y, z, id, s, t, axis;
    } directions[] = {
        {3, 1, 2, 0, -2, -1, 6},  {-3, 1, 2, 1, 2, -1, -6}, {1, 3, 2, 2, 1, 2, 6},
        {1, -3, 2, 3, 1, -2, -6}, {1, 2, 3, 4, 1, -2, 6},   {1, 2, -3, 5, -1, -2, -6},
        {2, 2, 2, 4, 2, -2, 4},   {2, -2, 1, 3, 2, -1, -4}, {-2, 1, -2, 5, 2, -1, -4},
    };

    (void)state;
    for (unsigned level = 0; level <= wmi_cpu_level(); level++)
        for (size_t i = 0; i < sizeof directions / sizeof *directions; i++) {
            struct test_wave wave = new_wave(MODE_HSA);
            for (unsigned lane = 0; lane < LANES; lane++) {
                test_put(&wave, 0, lane, bits_f32(directions[i].x));
                test_put(&wave, 1, lane, bits_f32(directions[i].y));
                test_put(&wave, 2, lane, bits_f32(directions[i].z));
            }
            run(&wave, level, WMI_INSN_v_cubeid_f32, 4, 0, 1, 2);
            run(&wave, level, WMI_INSN_v_cubesc_f32, 5, 0, 1, 2);
            run(&wave, level, WMI_INSN_v_cubetc_f32, 6, 0, 1, 2);
            run(&wave, level, WMI_INSN_v_cubema_f32, 7, 0, 1, 2);
            for (unsigned lane = 0; lane < LANES; lane++) {
                assert_true(as_f32(test_get(&wave, 4, lane)) == directions[i].id);
                assert_true(as_f32(test_get(&wave, 5, lane)) == directions[i].s);
                assert_true(as_f32(test_get(&wave, 6, lane)) == directions[i].t);
                assert_true(as_f32(test_get(&wave, 7, lane)) == directions[i].axis);
            }
            free(wave.frame);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves_keep_their_bounds),
        cmocka_unit_test(doubles_are_exact),
        cmocka_unit_test(bounded_forms_follow_the_plain_ones),
        cmocka_unit_test(approximations_keep_their_bounds),
        cmocka_unit_test(examples_of_the_documents_hold),
        cmocka_unit_test(division_is_correctly_rounded),
        cmocka_unit_test(trig_preop_gives_two_over_pi),
        cmocka_unit_test(cube_maps_find_their_face),
        cmocka_unit_test(fmas_scales_back),
    };

    return cmocka_run_group_tests_name("approximations and division", tests, NULL, NULL);
}
