/* SPDX-License-Identifier: MIT */
/* bf16 arithmetic, and tanh.
 *
 * Packed bf16 rounds to nearest even and keeps denormals whatever MODE says; FP16_OVFL makes finite results
 * that are too large the largest number. Source: CDNA 5 ISA, "PK_*_BF16 ops". Results are rounded once, from
 * f64, in which products of bf16 or f32 are exact and sums are rounded to odd. */
#include "arithmetic/transcendental_units.h"
#include "sem/float_bodies.h"

enum {
    SIGN = 0x8000,
    INFINITE = 0x7f80,
    QUIET = 0x40,
    LARGEST = 0x7f7f,
    ONE = 0x3f80,
    NOT_A_NUMBER = 0xffc0
};
enum { SIGN_BIT_64 = 63, FRACTION_64 = 52, BIAS_64 = 1023, FRACTION = 7, BIAS = 127 };

static inline uint64_t bits_of(double x)
{
    return WMI_BITS_AS(uint64_t, x);
}

static inline float float_of(uint32_t bits)
{
    return WMI_BITS_AS(float, bits);
}

/* p + z rounded to odd. */
static inline double odd_sum(double p, double z)
{
    const double sum = p + z, other = sum - p, error = (p - (sum - other)) + (z - other);
    const uint64_t bits = bits_of(sum);
    const bool inexact = error != 0 && bits << 1 >> (FRACTION_64 + 1) != 0x7ff && !(bits & 1);
    const uint64_t odd = inexact ? ((error > 0) == (sum > 0) ? bits + 1 : bits - 1) : bits;
    return WMI_BITS_AS(double, odd);
}

/* No NaN; to nearest even. */
static inline uint32_t rounded(double x, bool saturates)
{
    const uint64_t bits = bits_of(x), field = bits >> FRACTION_64 & 0x7ff;
    const uint32_t sign = (uint32_t)(bits >> SIGN_BIT_64) << 15;
    const int e = (int)field - BIAS_64 + BIAS;
    if (field == 0x7ff)
        return sign | INFINITE;
    const unsigned cut = FRACTION_64 - FRACTION + (unsigned)(e < 1 ? 1 - e : 0), drop = cut > 60 ? 60 : cut;
    const uint64_t m = field ? (bits & ((UINT64_C(1) << FRACTION_64) - 1)) | UINT64_C(1) << FRACTION_64 : 0;
    const uint64_t half = UINT64_C(1) << (drop - 1), rest = m & (2 * half - 1);
    const uint32_t kept = (uint32_t)(m >> drop) + (rest > half || (rest == half && m >> drop & 1));
    const int code = (int)kept + (e > 1 ? (e - 1) << FRACTION : 0);
    return sign | (code < INFINITE ? (uint32_t)code : saturates ? LARGEST : INFINITE);
}

static inline bool is_nan(uint32_t x)
{
    return (x & 0x7fff) > INFINITE;
}

static inline bool is_nan_f32(uint32_t x)
{
    return (x & 0x7fffffff) > WMI_EXPONENT_F32;
}

static bool saturates(const char *frame)
{
    return ((const struct wmi_frame *)(const void *)frame)->mode & WMI_MODE_FP16_OVFL;
}

/* In [0, 1]; a NaN gives 0. */
static inline uint32_t clamped(uint32_t x)
{
    return is_nan(x) || x & SIGN ? 0 : x > ONE ? ONE : x;
}

/* a * b + c of f32 as bf16: the first NaN, an invalid operation makes one. An infinity stays one. */
static inline uint32_t fused(uint32_t a, uint32_t b, uint32_t c, bool saturates)
{
    const double product = (double)float_of(a) * float_of(b), z = float_of(c), sum = odd_sum(product, z);
    const bool infinite = product - product != 0 || z - z != 0;
    if (sum == sum)
        return rounded(sum, saturates && !infinite);
    return is_nan_f32(a)        ? a >> 16 | QUIET
           : is_nan_f32(b)      ? b >> 16 | QUIET
           : product != product ? NOT_A_NUMBER
           : is_nan_f32(c)      ? c >> 16 | QUIET
                                : NOT_A_NUMBER;
}

/* ---- packed ---- */

enum operation { ADD, MULTIPLY, FUSED };

static inline uint32_t one_of(uint32_t a, uint32_t b, uint32_t c, enum operation operation, bool saturates)
{
    const uint32_t one = 0x3f800000, minus_zero = 0x80000000;
    switch (operation) {
    case ADD:
        return is_nan_f32(a) ? a >> 16 | QUIET : fused(b, one, a, saturates);
    case MULTIPLY:
        return fused(a, b, minus_zero, saturates);
    default:
        return fused(a, b, c, saturates);
    }
}

static WMI_APART void packed(char *restrict frame, const struct wmi_op *op, enum operation operation)
{
    const wmi_word *a = wmi_row(frame, op->a), *b = wmi_row(frame, op->b),
                   *c = operation == FUSED ? wmi_row(frame, op->c) : a;
    const bool saturated = saturates(frame), clamp = op->y & 1;
    wmi_word r[WMI_LANES];
    for (unsigned i = 0; i < WMI_LANES; i++) {
        const uint32_t low = one_of(a[i] << 16, b[i] << 16, c[i] << 16, operation, saturated);
        const uint32_t high =
            one_of(a[i] & 0xffff0000, b[i] & 0xffff0000, c[i] & 0xffff0000, operation, saturated);
        r[i] = clamp ? clamped(low) | clamped(high) << 16 : low | high << 16;
    }
    WMI_MASKED_LOOP(u32, r[i]);
}

/* The host must round to nearest and keep denormals. */
#define UNDER_NEAREST(name, call)                                                                            \
    WMI_DEFINE(name)                                                                                         \
    {                                                                                                        \
        const uint32_t usual = ((const struct wmi_frame *)frame)->mxcsr32;                                   \
        wmi_host_float_set(wmi_host_float_word(0, 3));                                                       \
        call;                                                                                                \
        wmi_host_float_set(usual);                                                                           \
        return wmi_next(frame, op);                                                                          \
    }
UNDER_NEAREST(v_pk_add_bf16, packed(frame, op, ADD))
UNDER_NEAREST(v_pk_mul_bf16, packed(frame, op, MULTIPLY))
UNDER_NEAREST(v_pk_fma_bf16, packed(frame, op, FUSED))

/* The same order as of f32, whose upper half a bf16 is. */
static inline u32v extreme(u32v a, u32v b, bool maximum)
{
    const uint32_t denormals = WMI_MODE_DENORMAL_IN_F32 | WMI_MODE_DENORMAL_OUT_F32;
    return (u32v)(maximum ? wmi_max_num_f32((f32v)a, (f32v)b, denormals)
                          : wmi_min_num_f32((f32v)a, (f32v)b, denormals));
}

static inline u32v clamped_halves(u32v x, const struct wmi_op *op)
{
    u32v low = x << 16, high = x & 0xffff0000u;
    if (!(op->y & 1))
        return x;
    const u32v one = wmi_splat_u32(0x3f800000u), most = wmi_splat_u32(0x7f800000u);
    low = wmi_select_u32((u32v)(low > most), wmi_splat_u32(0), wmi_select_u32((u32v)(low > one), one, low));
    high =
        wmi_select_u32((u32v)(high > most), wmi_splat_u32(0), wmi_select_u32((u32v)(high > one), one, high));
    return low >> 16 | high;
}

/* Compared under a control word that keeps denormals. */
#define EXTREMES(name, maximum)                                                                              \
    WMI_LANE_LOOP(                                                                                           \
        name, WMI_APART, WMI_LOAD2(u32v, u32v),                                                              \
        WMI_STORE1(clamped_halves(extreme(a << 16, b << 16, maximum) >> 16 |                                 \
                                      (extreme(a & 0xffff0000u, b & 0xffff0000u, maximum) & 0xffff0000u),    \
                                  op)))                                                                      \
    WMI_UNDER(name, wmi_host_float_word(0, 3))
EXTREMES(v_pk_min_num_bf16, false)
EXTREMES(v_pk_max_num_bf16, true)

/* ---- mixed ---- */

/* One half of d, which is rounded once; the other half stays. */
static WMI_APART void mixed(char *restrict frame, const struct wmi_op *op, unsigned at)
{
    const wmi_word *a = wmi_row(frame, op->a), *b = wmi_row(frame, op->b), *c = wmi_row(frame, op->c),
                   *old = wmi_row(frame, op->d);
    const bool saturated = saturates(frame), clamp = op->y & 1;
    wmi_word r[WMI_LANES];
    for (unsigned i = 0; i < WMI_LANES; i++) {
        const uint32_t value = fused(a[i], b[i], c[i], saturated);
        r[i] = (old[i] & ~(0xffffu << at)) | (clamp ? clamped(value) : value) << at;
    }
    WMI_MASKED_LOOP(u32, r[i]);
}

UNDER_NEAREST(v_fma_mixlo_bf16, mixed(frame, op, 0))
UNDER_NEAREST(v_fma_mixhi_bf16, mixed(frame, op, 16))

/* ---- functions ---- */

/* Lambert's continued fraction in f64: exact to an f32 for all that is left. Source of the limits: CDNA 5
 * ISA, V_TANH_F32. */
static float hyperbolic(float x)
{
    enum { TERMS = 57 };
    const double size = x < 0 ? -(double)x : x, square = size * size;
    double r = TERMS;
    if (x != x)
        return float_of(WMI_BITS_AS(uint32_t, x) | WMI_QUIET_F32);
    if (size < 1.0 / 1024)
        return x;
    if (size >= 8)
        return x < 0 ? -1.0f : 1.0f;
    for (int k = TERMS - 2; k > 0; k -= 2)
        r = k + square / r;
    return (float)(x / r);
}

static inline uint32_t to_bf16(float x)
{
    const uint32_t bits = WMI_BITS_AS(uint32_t, x);
    return is_nan_f32(bits) ? bits >> 16 | QUIET : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

static WMI_APART void tanh_f32(char *restrict frame, const struct wmi_op *op)
{
    const wmi_word *a = wmi_row(frame, op->a);
    wmi_word r[WMI_LANES];
    for (unsigned i = 0; i < WMI_LANES; i++)
        r[i] = WMI_BITS_AS(uint32_t, hyperbolic(float_of(a[i])));
    WMI_MASKED_LOOP(u32, r[i]);
}

static WMI_APART void tanh_bf16(char *restrict frame, const struct wmi_op *op)
{
    const wmi_word *a = wmi_row(frame, op->a);
    wmi_word r[WMI_LANES];
    for (unsigned i = 0; i < WMI_LANES; i++)
        r[i] = to_bf16(hyperbolic(float_of(a[i] << 16)));
    WMI_MASKED_LOOP(u32, r[i]);
}

UNDER_NEAREST(v_tanh_f32, tanh_f32(frame, op))
UNDER_NEAREST(v_tanh_bf16, tanh_bf16(frame, op))

static WMI_APART f32v tanh_of(f32v x)
{
    for (unsigned i = 0; i < WMI_VECTOR_LANES; i++)
        x[i] = hyperbolic(x[i]);
    return x;
}

WMI_F16_1(v_tanh_f16, tanh_of(x))

/* The results of f32, rounded to nearest even. */
static inline u32v narrowed(f32v x)
{
    const u32v bits = (u32v)x, nan = (u32v)((bits & 0x7fffffff) > WMI_EXPONENT_F32);
    return wmi_select_u32(nan, bits | WMI_QUIET_F32, bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

#define FUNCTION(name, value)                                                                                \
    WMI_LANE_LOOP(name, WMI_APART, const f32v x = (f32v)(wmi_load_u32(frame + op->a + at) << 16),            \
                  WMI_STORE1(narrowed(value)))                                                               \
    WMI_UNDER(name, wmi_host_float_nearest(usual))
FUNCTION(v_rcp_bf16, wmi_unit_rcp(x))
FUNCTION(v_sqrt_bf16, wmi_unit_sqrt(x))
FUNCTION(v_rsq_bf16, wmi_unit_rsq(x))
FUNCTION(v_log_bf16, wmi_unit_log2(x))
FUNCTION(v_exp_bf16, wmi_unit_exp2(x))
FUNCTION(v_sin_bf16, wmi_unit_sin(x))
FUNCTION(v_cos_bf16, wmi_unit_cos(x))
