/* SPDX-License-Identifier: MIT */
#ifndef WMI_FLOAT_BITS_H
#define WMI_FLOAT_BITS_H

#include <stdint.h>
#include <string.h>

static inline float wmi_float_of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint32_t wmi_bits_of_float(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

#endif
