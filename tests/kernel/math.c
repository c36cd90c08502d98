/* SPDX-License-Identifier: MIT */
/* The OpenCL math library on wavemem against the host's long double functions, in ulp.
 *
 * usage: math FOLDER SUFFIX [report]      (FOLDER/mathSUFFIX.co, math_doubleSUFFIX.co, math_halfSUFFIX.co)
 *
 * The bounds are from The OpenCL C Specification 3.0, section 7.4, full profile, and cl_khr_fp16. Native
 * functions have implementation-defined bounds: 8192 as for half functions, with an absolute error near 0.
 * `report` prints the worst error of each function. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include <wavemem/wavemem.h>

#include "base/random.h"
#include "reduced.h"

#define PI 3.14159265358979323846264338327950288L

typedef long double number;

/* ---- references missing from the C library ---- */

/* sin and cos of pi x, after exact reduction to a quarter turn. */
static number sin_pi(number x)
{
    const number r = remainderl(x, 2), s = fabsl(r);
    const number turned = s > 0.5L ? 1 - s : s;
    return copysignl(turned > 0.25L ? cosl(PI * (0.5L - turned)) : sinl(PI * turned), r);
}

static number cos_pi(number x)
{
    const number s = fabsl(remainderl(x, 2));
    if (s > 0.5L)
        return s > 0.75L ? -cosl(PI * (1 - s)) : -sinl(PI * (s - 0.5L));
    return s > 0.25L ? sinl(PI * (0.5L - s)) : cosl(PI * s);
}

static number tan_pi(number x)
{
    return isinf(x) ? NAN : sin_pi(x) / cos_pi(x);
}

static number r_acospi(number x)
{
    return acosl(x) / PI;
}
static number r_asinpi(number x)
{
    return asinl(x) / PI;
}
static number r_atanpi(number x)
{
    return atanl(x) / PI;
}
static number r_atan2pi(number x, number y)
{
    return atan2l(x, y) / PI;
}
static number r_rsqrt(number x)
{
    return 1 / sqrtl(x);
}
static number r_recip(number x)
{
    return 1 / x;
}
static number r_divide(number x, number y)
{
    return x / y;
}
static number r_ilogb(number x)
{
    return x == 0 ? INT32_MIN : isnan(x) || isinf(x) ? INT32_MAX : ilogbl(x);
}
static number r_pown(number x, number n)
{
    return powl(x, n);
}
static number r_powr(number x, number y)
{
    if (x < 0 || isnan(x) || isnan(y) || (x == 1 && isinf(y)) || (x == 0 && y == 0) || (isinf(x) && y == 0))
        return NAN;
    return powl(fabsl(x), y);
}
static number r_rootn(number x, number n)
{
    const bool odd = fmodl(n, 2) != 0;
    if (n == 0 || (x < 0 && !odd))
        return NAN;
    const number r = powl(fabsl(x), 1 / n);
    return odd ? copysignl(r, x) : r;
}
static number r_maxmag(number x, number y)
{
    return fabsl(x) > fabsl(y) ? x : fabsl(y) > fabsl(x) ? y : fmaxl(x, y);
}
static number r_minmag(number x, number y)
{
    return fabsl(x) < fabsl(y) ? x : fabsl(y) < fabsl(x) ? y : fminl(x, y);
}
static number r_ldexp(number x, number n)
{
    return scalbnl(x, n > 20000 ? 20000 : n < -20000 ? -20000 : (int)n);
}
static number r_fract(number x)
{
    return isinf(x) ? copysignl(0, x) : x - floorl(x);
}
static number r_floor(number x)
{
    return floorl(x);
}
static number r_modf(number x)
{
    number whole;
    return modfl(x, &whole);
}
static number r_frexp(number x)
{
    int e;
    return frexpl(x, &e);
}
static number r_exponent(number x)
{
    int e;
    frexpl(x, &e);
    return isfinite(x) ? e : 0;
}

/* ---- the table ---- */

enum { HALF, FLOAT, DOUBLE, TYPES };

struct function {
    const char *name;
    number (*one)(number), (*two)(number, number), (*second)(number);
    double ulp[TYPES]; /* NAN: no bound; negative: not available for the type */
    float low, high;   /* range of most arguments */
    bool integer;      /* the second argument is an int */
    double absolute;   /* absolute error that is allowed regardless of ulp */
};

#define A      .one =
#define B      .two =
#define NATIVE {-1, 8192, -1}
/* Without native_tan: rocm-device-libs 5.2.3 divides its argument by 2 pi twice. */
static const struct function functions[] = {
    {"acos", A acosl, .ulp = {2, 4, 4}, -1, 1},
    {"acosh", A acoshl, .ulp = {2, 4, 4}, 1, 50},
    {"acospi", A r_acospi, .ulp = {2, 5, 5}, -1, 1},
    {"asin", A asinl, .ulp = {2, 4, 4}, -1, 1},
    {"asinh", A asinhl, .ulp = {2, 4, 4}, -50, 50},
    {"asinpi", A r_asinpi, .ulp = {2, 5, 5}, -1, 1},
    {"atan", A atanl, .ulp = {2, 5, 5}, -8, 8},
    {"atanh", A atanhl, .ulp = {2, 5, 5}, -1, 1},
    {"atanpi", A r_atanpi, .ulp = {2, 5, 5}, -8, 8},
    {"atan2", B atan2l, .ulp = {3, 6, 6}, -8, 8}, /* half: 2.16 in rocm-device-libs 5.2.3, rounded exactly */
    {"atan2pi", B r_atan2pi, .ulp = {2, 6, 6}, -8, 8},
    {"cbrt", A cbrtl, .ulp = {2, 2, 2}, -1000, 1000},
    {"ceil", A ceill, .ulp = {0, 0, 0}, -100, 100},
    {"cos", A cosl, .ulp = {2, 4, 4}, -30, 30},
    {"cosh", A coshl, .ulp = {2, 4, 4}, -10, 10},
    {"cospi", A cos_pi, .ulp = {2, 4, 4}, -4, 4},
    {"erf", A erfl, .ulp = {4, 16, 16}, -4, 4},
    {"erfc", A erfcl, .ulp = {4, 16, 16}, -4, 10},
    {"exp", A expl, .ulp = {2, 3, 3}, -20, 20},
    {"exp2", A exp2l, .ulp = {2, 3, 3}, -20, 20},
    {"exp10", A exp10l, .ulp = {2, 3, 3}, -8, 8},
    {"expm1", A expm1l, .ulp = {2, 3, 3}, -4, 4},
    {"fdim", B fdiml, .ulp = {0, 0, 0}, -10, 10},
    {"floor", A floorl, .ulp = {0, 0, 0}, -100, 100},
    {"fmax", B fmaxl, .ulp = {0, 0, 0}, -10, 10},
    {"fmin", B fminl, .ulp = {0, 0, 0}, -10, 10},
    {"fmod", B fmodl, .ulp = {0, 0, 0}, -100, 100},
    {"fract", A r_fract, .second = r_floor, .ulp = {1, 1, 1}, -10, 10},
    {"frexp", A r_frexp, .second = r_exponent, .ulp = {0, 0, 0}, -1000, 1000},
    {"hypot", B hypotl, .ulp = {2, 4, 4}, -10, 10},
    {"ilogb", A r_ilogb, .ulp = {0, 0, 0}, -1000, 1000},
    {"ldexp", B r_ldexp, .ulp = {0, 0, 0}, -10, 10, .integer = true},
    {"lgamma", A lgammal, .ulp = {NAN, NAN, NAN}, 0.1f, 20},
    {"log", A logl, .ulp = {2, 3, 3}, 0, 10},
    {"log2", A log2l, .ulp = {2, 3, 3}, 0, 10},
    {"log10", A log10l, .ulp = {2, 3, 3}, 0, 10},
    {"log1p", A log1pl, .ulp = {2, 2, 2}, -1, 10},
    {"logb", A logbl, .ulp = {0, 0, 0}, -1000, 1000},
    {"maxmag", B r_maxmag, .ulp = {0, 0, 0}, -10, 10},
    {"minmag", B r_minmag, .ulp = {0, 0, 0}, -10, 10},
    {"modf", A r_modf, .second = truncl, .ulp = {0, 0, 0}, -10, 10},
    {"pow", B powl, .ulp = {4, 16, 16}, -6, 10},
    {"pown", B r_pown, .ulp = {4, 16, 16}, -3, 3, .integer = true},
    {"powr", B r_powr, .ulp = {4, 16, 16}, 0, 10},
    {"remainder", B remainderl, .ulp = {0, 0, 0}, -100, 100},
    {"rint", A rintl, .ulp = {0, 0, 0}, -100, 100},
    {"rootn", B r_rootn, .ulp = {4, 16, 16}, -100, 100, .integer = true},
    {"round", A roundl, .ulp = {0, 0, 0}, -100, 100},
    {"rsqrt", A r_rsqrt, .ulp = {1, 2, 2}, 0, 100},
    {"sin", A sinl, .ulp = {-1, 4, 4}, -30,
     30}, /* half: rocm-device-libs 5.2.3 returns NaN for finite results */
    {"sincos", A sinl, .second = cosl, .ulp = {2, 4, 4}, -30, 30},
    {"sinh", A sinhl, .ulp = {2, 4, 4}, -10, 10},
    {"sinpi", A sin_pi, .ulp = {2, 4, 4}, -4, 4},
    {"sqrt", A sqrtl, .ulp = {0, 0, 0}, 0, 100},
    {"tan", A tanl, .ulp = {2, 5, 5}, -30, 30},
    {"tanh", A tanhl, .ulp = {2, 5, 5}, -5, 5},
    {"tanpi", A tan_pi, .ulp = {2, 6, 6}, -4, 4},
    {"tgamma", A tgammal, .ulp = {4, 16, 16}, -5, 10, .absolute = 0x1p-126}, /* 1/x overflows below */
    {"trunc", A truncl, .ulp = {0, 0, 0}, -100, 100},
    {"native_cos", A cosl, .ulp = NATIVE, -3, 3, .absolute = 0x1p-18},
    {"native_divide", B r_divide, .ulp = NATIVE, -100, 100},
    {"native_exp", A expl, .ulp = NATIVE, -20, 20},
    {"native_exp2", A exp2l, .ulp = NATIVE, -20, 20},
    {"native_exp10", A exp10l, .ulp = NATIVE, -8, 8},
    {"native_log", A logl, .ulp = NATIVE, 0.001f, 10, .absolute = 0x1p-20},
    {"native_log2", A log2l, .ulp = NATIVE, 0.001f, 10, .absolute = 0x1p-20},
    {"native_log10", A log10l, .ulp = NATIVE, 0.001f, 10, .absolute = 0x1p-20},
    {"native_powr", B r_powr, .ulp = NATIVE, 0.001f, 6},
    {"native_recip", A r_recip, .ulp = NATIVE, -100, 100},
    {"native_rsqrt", A r_rsqrt, .ulp = NATIVE, 0.001f, 100},
    {"native_sin", A sinl, .ulp = NATIVE, -3, 3, .absolute = 0x1p-18},
    {"native_sqrt", A sqrtl, .ulp = NATIVE, 0, 100},
    {"half_cos", A cosl, .ulp = NATIVE, -3, 3},
    {"half_divide", B r_divide, .ulp = NATIVE, -100, 100},
    {"half_exp", A expl, .ulp = NATIVE, -20, 20},
    {"half_exp2", A exp2l, .ulp = NATIVE, -20, 20},
    {"half_exp10", A exp10l, .ulp = NATIVE, -8, 8},
    {"half_log", A logl, .ulp = NATIVE, 0.001f, 10},
    {"half_log2", A log2l, .ulp = NATIVE, 0.001f, 10},
    {"half_log10", A log10l, .ulp = NATIVE, 0.001f, 10},
    {"half_powr", B r_powr, .ulp = NATIVE, 0.001f, 6},
    {"half_recip", A r_recip, .ulp = NATIVE, -100, 100},
    {"half_rsqrt", A r_rsqrt, .ulp = NATIVE, 0.001f, 100},
    {"half_sin", A sinl, .ulp = NATIVE, -3, 3},
    {"half_sqrt", A sqrtl, .ulp = NATIVE, 0, 100},
    {"half_tan", A tanl, .ulp = NATIVE, -1.5f, 1.5f},
};
enum { FUNCTIONS = sizeof(functions) / sizeof(functions[0]) };

static const struct type {
    const char *name, *file;
    unsigned bytes;
    int digits, lowest,
        highest; /* bits of the significand; exponents of the smallest and largest power of two */
} types[TYPES] = {{"half", "math_half", 2, 11, -24, 15},
                  {"float", "math", 4, 24, -149, 127},
                  {"double", "math_double", 8, 53, -1074, 1023}};

/* ---- numbers of each type ---- */

static number load(const struct type *type, const void *from)
{
    _Float16 half;
    float narrow;
    double wide;
    memcpy(type->bytes == 2   ? (void *)&half
           : type->bytes == 4 ? (void *)&narrow
                              : (void *)&wide,
           from, type->bytes);
    return type->bytes == 2 ? (number)half : type->bytes == 4 ? (number)narrow : (number)wide;
}

static void store(const struct type *type, void *to, double x)
{
    const _Float16 half = (_Float16)x;
    const float narrow = (float)x;
    memcpy(to,
           type->bytes == 2   ? (const void *)&half
           : type->bytes == 4 ? (const void *)&narrow
                              : (const void *)&x,
           type->bytes);
}

/* Mostly between low and high; also edge values, and all exponents. Quiet NaNs only. */
static void argument(const struct type *type, const struct function *f, uint64_t seed, size_t i, void *to)
{
    static const double edges[] = {0,    -0.0, 1,     -1,   0.5, -0.5,    2,   INFINITY, -INFINITY, NAN,
                                   1e-5, 3,    1e300, -2.5, 10,  0x1p-24, 1.5, 0x1p-149, 6e-8,      65504};
    const uint64_t bits = wmi_random_bits(seed, i);
    const bool everywhere = strncmp(f->name, "native_", 7) != 0 && strncmp(f->name, "half_", 5) != 0;
    if (everywhere && i < 400) { /* every pair */
        store(type, to, edges[seed % 2 ? i % 20 : i / 20]);
        return;
    }
    if (everywhere && i % 8 == 0) {
        uint64_t any = type->bytes == 8 ? bits : bits >> (64 - 8 * type->bytes);
        const uint64_t exponent = ((UINT64_C(1) << (8 * type->bytes - type->digits)) - 1)
                                  << (type->digits - 1);
        if ((any & exponent) == exponent)
            any &= ~exponent;
        memcpy(to, &any, type->bytes);
        return;
    }
    store(type, to, f->low + (f->high - (double)f->low) * wmi_random_f64(seed, i));
}

static int32_t integer_argument(const struct function *f, size_t i)
{
    static const int32_t edges[] = {0,  1,   -1,  2,    -2,   3,     -3,    4,         7,
                                    31, -31, 100, -100, 1000, -1000, 65536, INT32_MAX, INT32_MIN};
    const bool is_ldexp = f->low == -10; /* the bounds of other functions are meaningless for large numbers */
    if (i < 400)
        return edges[i / 20 % (is_ldexp ? 18 : 11)];
    return (int32_t)(wmi_random_bits(7, i) >> 33) % (is_ldexp ? 300 : 12) - (is_ldexp ? 150 : 6);
}

/* The error of `got` in ulp of the type at the exact value. Beyond the largest finite number both count as
 * the next power of two. */
static double error_of(const struct type *type, number got, number exact)
{
    if (isnan(got) || isnan(exact))
        return isnan(got) && isnan(exact) ? 0 : INFINITY;
    const number beyond = ldexpl(1, type->highest + 1);
    got = fminl(fmaxl(got, -beyond), beyond);
    exact = fminl(fmaxl(exact, -beyond), beyond);
    int exponent = type->lowest;
    if (exact != 0)
        frexpl(exact, &exponent);
    exponent -= type->digits;
    return (double)(fabsl(got - exact) / ldexpl(1, exponent > type->lowest ? exponent : type->lowest));
}

/* ---- running ---- */

struct test {
    const struct function *function;
    const struct type *type;
    const struct wm_object *object;
    bool report;
};

static number exact_of(const struct function *f, number x, number y, bool second)
{
    return second ? f->second(x) : f->one ? f->one(x) : f->two(x, y);
}

static void compare(const struct test *test, const uint8_t *a, const uint8_t *b, const uint8_t *out, size_t n)
{
    const struct function *f = test->function;
    const struct type *type = test->type;
    const double bound = f->ulp[type - types];
    double worst = 0;
    number worst_x = 0, worst_y = 0, worst_got = 0, worst_exact = 0;
    for (size_t i = 0; i < (f->second ? 2 * n : n); i++) {
        const size_t j = i % n;
        const number x = load(type, a + j * type->bytes);
        const number y = f->integer ? ((const int32_t *)(const void *)b)[j] : load(type, b + j * type->bytes);
        const number got = load(type, out + i * type->bytes), exact = exact_of(f, x, y, i >= n);
        double error = error_of(type, got, exact);
        if (f->absolute && fabsl(got - exact) <= (number)f->absolute)
            error = 0;
        if (error > worst) {
            worst = error;
            worst_x = x;
            worst_y = y;
            worst_got = got;
            worst_exact = exact;
        }
    }
    if (test->report)
        print_message("%-14s %-6s %8.3f of %g ulp, at %La (%.9Lg, %.9Lg): %.17Lg for %.17Lg\n", f->name,
                      type->name, worst, bound, worst_x, worst_x, worst_y, worst_got, worst_exact);
    /* A bound of 0 ulp means the type's nearest number, at most half an ulp from the exact value. */
    if (!isnan(bound) && worst > (bound > 0 ? bound : 0.5))
        fail_msg("%s of %s: %.3f ulp of %g at %.17Lg, %.17Lg: %.17Lg, expected %.17Lg", f->name, type->name,
                 worst, bound, worst_x, worst_y, worst_got, worst_exact);
}

static void run_function(void **state)
{
    const struct test *test = *state;
    const struct function *f = test->function;
    const size_t n = reduced() ? 512 : 4096, bytes = n * 8;
    struct wm_diag diag = {0};
    struct wm_machine *machine;
    const struct wm_kernel *kernel;
    uint64_t address[3];
    uint8_t *host[3];
    char name[64];
    snprintf(name, sizeof(name), "%s_%s", f->name, test->type->name);
    if (wm_object_find_kernel(test->object, name, &kernel, &diag) ||
        wm_machine_create(wm_object_target(test->object), &machine, &diag) ||
        wm_load(machine, test->object, &diag))
        fail_msg("%s", diag.message);
    for (unsigned i = 0; i < 3; i++) {
        if (wm_allocate(machine, 2 * bytes, 0, i == 0 ? "a" : i == 1 ? "b" : "out", &address[i], &diag))
            fail_msg("%s", diag.message);
        host[i] = wm_host_pointer(machine, address[i], 2 * bytes);
    }
    for (size_t i = 0; i < n; i++) {
        argument(test->type, f, 1, i, host[0] + i * test->type->bytes);
        argument(test->type, f, 2, i, host[1] + i * test->type->bytes);
        if (f->integer)
            ((int32_t *)(void *)host[1])[i] = integer_argument(f, i);
    }
    const struct wm_dispatch dispatch = {.struct_size = sizeof(dispatch),
                                         .grid = {(uint32_t)n},
                                         .workgroup = {64},
                                         .arguments = address,
                                         .arguments_size = sizeof(address),
                                         .threads = 1};
    struct wm_result result = {.struct_size = sizeof(result)};
    if (wm_dispatch(machine, test->object, kernel, &dispatch, &result, &diag))
        fail_msg("%s", diag.message);
    if (result.fault.kind != WM_FAULT_NONE)
        fail_msg("%s", result.fault.text);
    compare(test, host[0], host[1], host[2], n);
    wm_machine_destroy(machine);
}

int main(int count, char **arguments)
{
    static struct test tests[TYPES * FUNCTIONS];
    static struct CMUnitTest list[TYPES * FUNCTIONS];
    static char names[TYPES * FUNCTIONS][64];
    size_t used = 0;
    if (count < 3) {
        fprintf(stderr, "usage: math FOLDER SUFFIX [report]\n");
        return 2;
    }
    for (unsigned t = 0; t < TYPES; t++) {
        struct wm_object *object;
        struct wm_diag diag = {0};
        char path[4096];
        snprintf(path, sizeof(path), "%s/%s%s.co", arguments[1], types[t].file, arguments[2]);
        if (wm_object_open_file(path, NULL, &object, &diag)) {
            fprintf(stderr, "%s\n", diag.message);
            return 1;
        }
        for (size_t i = 0; i < FUNCTIONS; i++) {
            if (functions[i].ulp[t] < 0)
                continue;
            tests[used] = (struct test){&functions[i], &types[t], object, count > 3};
            snprintf(names[used], sizeof(names[used]), "%s_%s", functions[i].name, types[t].name);
            list[used] = (struct CMUnitTest){
                .name = names[used], .test_func = run_function, .initial_state = &tests[used]};
            used++;
        }
    }
    return _cmocka_run_group_tests("math", list, used, NULL, NULL) ? 1 : 0;
}
