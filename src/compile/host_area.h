/* SPDX-License-Identifier: MIT */
/* What code for hosts without AVX-512 has in memory, for each thread: the registers that such a host lacks,
 * and constants. Compiled code finds it in R15. */
#ifndef WMI_HOST_AREA_H
#define WMI_HOST_AREA_H

#include <stdalign.h>
#include <stdint.h>

enum { WMI_AREA_REGISTERS = 32, WMI_AREA_MASKS = 5, WMI_AREA_TEMPORARIES = 3 };

struct wmi_host_area {
    alignas(64) uint32_t reg[WMI_AREA_REGISTERS][16]; /* those that no host register holds */
    alignas(64) uint32_t temporary[WMI_AREA_TEMPORARIES][16];
    alignas(64) uint32_t lanes[WMI_AREA_MASKS][16]; /* k1 to k4: ones in lanes whose bit is set */
    uint64_t k[WMI_AREA_MASKS];                     /* the bits */
    /* Constants. */
    alignas(64) uint32_t bit[16];     /* bit i in word i */
    alignas(64) uint64_t bit_64[8];   /* the same of quadwords */
    alignas(64) uint16_t bit_16[8];   /* and of words */
    alignas(32) uint8_t spread_8[32]; /* the byte of a mask that each byte needs, */
    alignas(32) uint8_t bit_8[32];    /* and its bit in it */
    alignas(32) uint32_t ones[8], low_halves[8];
    /* Words for all lanes: of f32 */
    uint32_t sign, magnitude, sign_and_fraction, half, exponent_bits, least_normal, most_finite, two_32,
        two_31, minus_one, scale_limit, minus_scale_limit, bias, lost_bits;
    uint64_t sign_64, magnitude_64, exponent_64, most_finite_64, two_52, bias_64; /* and of f64 */
};

void wmi_host_area_begin(struct wmi_host_area *area);

#endif
