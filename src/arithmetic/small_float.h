/* SPDX-License-Identifier: MIT */
/* The values of floats of 4, 6 and 8 bits, and of f16 and bf16. Every one of them is exact in f32.
 *
 * fp8 is E4M3, bf8 is E5M2. FNUZ (gfx940): exponent biases 8 and 16, no infinities, no negative zero, whose
 * code 0x80 is the only NaN. OCP (gfx950, gfx12): biases 7 and 15; E4M3 has NaNs 0x7f and 0xff and no
 * infinities, E5M2 is as IEEE 754. fp6 (E2M3), bf6 (E3M2) and fp4 (E2M1): biases 1, 3 and 1, all codes
 * finite. E5M3 has no sign in its 8 bits: a code of 9 bits here. It scales products on gfx12.5 (CDNA 5 ISA,
 * "WMMA Operations with Block-Scale"). Sources: OCP 8-bit Floating Point Specification (OFP8), OCP
 * Microscaling Formats (MX) 1.0, CDNA 3 ISA. */
#ifndef WMI_SMALL_FLOAT_H
#define WMI_SMALL_FLOAT_H

#include <stdbool.h>
#include <stdint.h>

enum wmi_small_float {
    WMI_FP8_FNUZ,
    WMI_BF8_FNUZ,
    WMI_FP8_OCP,
    WMI_BF8_OCP,
    WMI_FP6,
    WMI_BF6,
    WMI_FP4,
    WMI_E5M3,
    WMI_SMALL_F16,
    WMI_SMALL_BF16,
    WMI_SMALL_FLOATS,
};

/* The codes that are no finite numbers. */
enum wmi_small_specials { WMI_SMALL_FINITE, WMI_SMALL_FNUZ, WMI_SMALL_ONE_NAN, WMI_SMALL_IEEE };

struct wmi_small_layout {
    uint8_t exponent, fraction; /* bits */
    uint8_t bias;
    uint8_t specials; /* enum wmi_small_specials */
};

static const struct wmi_small_layout wmi_small_layouts[WMI_SMALL_FLOATS] = {
    [WMI_FP8_FNUZ] = {4, 3, 8, WMI_SMALL_FNUZ},    [WMI_BF8_FNUZ] = {5, 2, 16, WMI_SMALL_FNUZ},
    [WMI_FP8_OCP] = {4, 3, 7, WMI_SMALL_ONE_NAN},  [WMI_BF8_OCP] = {5, 2, 15, WMI_SMALL_IEEE},
    [WMI_FP6] = {2, 3, 1, WMI_SMALL_FINITE},       [WMI_BF6] = {3, 2, 3, WMI_SMALL_FINITE},
    [WMI_E5M3] = {5, 3, 15, WMI_SMALL_ONE_NAN},    [WMI_FP4] = {2, 1, 1, WMI_SMALL_FINITE},
    [WMI_SMALL_F16] = {5, 10, 15, WMI_SMALL_IEEE}, [WMI_SMALL_BF16] = {8, 7, 127, WMI_SMALL_IEEE},
};

/* Bits of the f32 with the value of `code`, whose bits above the format's are ignored. A NaN is quiet and
 * keeps its sign; FNUZ's is positive. */
static inline uint32_t wmi_f32_of_small(uint32_t code, enum wmi_small_float format)
{
    const struct wmi_small_layout *f = &wmi_small_layouts[format];
    const uint32_t sign_bit = 1u << (f->exponent + f->fraction);
    const uint32_t sign = code & sign_bit ? 0x80000000u : 0, magnitude = code & (sign_bit - 1);
    const uint32_t ones = (1u << f->exponent) - 1;
    uint32_t m = magnitude & ((1u << f->fraction) - 1);
    int e = (int)(magnitude >> f->fraction);

    if (f->specials == WMI_SMALL_FNUZ && sign && !magnitude)
        return 0x7fc00000u;
    if (f->specials == WMI_SMALL_ONE_NAN && magnitude == sign_bit - 1)
        return sign | 0x7fc00000u;
    if (f->specials == WMI_SMALL_IEEE && (uint32_t)e == ones)
        return sign | 0x7f800000u | (m ? 0x400000u | m << (23 - f->fraction) : 0);
    if (!magnitude)
        return sign;
    if (e == 0)
        for (e = 1; !(m >> f->fraction); e--)
            m <<= 1;
    m &= (1u << f->fraction) - 1;
    return sign | (uint32_t)(e + 127 - f->bias) << 23 | m << (23 - f->fraction);
}

/* How an f32 becomes a small float. */
struct wmi_small_rounding {
    bool stochastic; /* the top bits of `seed` are added to what is cut off; else to nearest even */
    bool saturates;  /* MODE.FP16_OVFL: finite numbers too large become the largest */
    uint32_t seed;
};

/* The code of the f32 `bits`. NaNs of OCP formats lose their sign, as measured on gfx12 (bjacob/goc).
 * Denormal results of stochastic rounding are aligned before the seed is added, as measured there too. Of
 * formats without NaN, infinities and NaNs give the largest number (unverified). */
static inline uint32_t wmi_small_of_f32(uint32_t bits, enum wmi_small_float format,
                                        const struct wmi_small_rounding *rounding)
{
    const struct wmi_small_layout *f = &wmi_small_layouts[format];
    const uint32_t sign_bit = 1u << (f->exponent + f->fraction), sign = bits >> 31 ? sign_bit : 0;
    const uint32_t magnitude = bits & 0x7fffffffu, ones = sign_bit - 1;
    const uint32_t most = f->specials == WMI_SMALL_IEEE      ? ones - (1u << f->fraction)
                          : f->specials == WMI_SMALL_ONE_NAN ? ones - 1
                                                             : ones;
    const uint32_t overflow = rounding->saturates || f->specials == WMI_SMALL_FINITE ? sign | most
                              : f->specials == WMI_SMALL_FNUZ                        ? sign_bit
                                                                                     : sign | (most + 1);
    if (magnitude > 0x7f800000u)
        return f->specials == WMI_SMALL_FNUZ      ? sign_bit
               : f->specials == WMI_SMALL_IEEE    ? (sign_bit | ones) - 1
               : f->specials == WMI_SMALL_ONE_NAN ? sign_bit | ones
                                                  : sign | most;
    if (magnitude == 0x7f800000u)
        return f->specials == WMI_SMALL_IEEE ? sign | (most + 1) : overflow;
    const uint32_t field = magnitude >> 23, m = (magnitude & 0x7fffff) | (field ? 0x800000 : 0);
    const int e = (int)(field ? field : 1) - 127, least = 1 - f->bias, below = e < least ? least - e : 0;
    const int cut = 23 - f->fraction;
    uint32_t kept;
    if (rounding->stochastic) {
        kept = ((below > 24 ? 0 : m >> below) + (rounding->seed >> (32 - cut))) >> cut;
    } else {
        const int drop = cut + below > 26 ? 26 : cut + below;
        const uint32_t half = 1u << (drop - 1), rest = m & (2 * half - 1);
        kept = (m >> drop) + (rest > half || (rest == half && m >> drop & 1));
    }
    const uint32_t code = kept + (e > least ? (uint32_t)(e - least) << f->fraction : 0);
    if (code > most)
        return overflow;
    return code || f->specials != WMI_SMALL_FNUZ ? sign | code : 0;
}

#endif
