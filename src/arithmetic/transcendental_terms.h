/* SPDX-License-Identifier: MIT */
/* The coefficients of exp2, log2 and the sine: see transcendental.h, which computes with them, and
 * jit/vector_transcendental.c, whose host code does. */
#ifndef WMI_TRANSCENDENTAL_TERMS_H
#define WMI_TRANSCENDENTAL_TERMS_H

/* (2^f - 1 - f ln 2) / f^2, from the highest power on. */
#define WMI_EXP2_TERMS 0x1.44138ap-13f, 0x1.5f0890p-10f, 0x1.3b2a54p-7f, 0x1.c6af6cp-5f, 0x1.ebfbe0p-3f
/* (log2(1 + z) - z log2(e)) / z^2 is the sum of (z * term[2 i] - term[2 i + 1]) * z^(2 i). */
#define WMI_LOG2_TERMS                                                                                       \
    0x1.ec7094p-2f, 0x1.715476p-1f, 0x1.277c3ep-2f, 0x1.715480p-2f, 0x1.a48380p-3f, 0x1.ec7732p-3f,          \
        0x1.5d018cp-3f, 0x1.6efd84p-3f, 0x1.900022p-4f, 0x1.5579e8p-3f
/* (sin(2 pi f) / f - 2 pi) / f^2 by powers of f^2, from the highest on. */
#define WMI_SINE_TERMS -0x1.cc9b60p+3f, 0x1.501408p+5f, -0x1.32d12ep+6f, 0x1.466bc0p+6f, -0x1.4abbcep+5f
enum { WMI_EXP2_TERM_COUNT = 5, WMI_LOG2_TERM_COUNT = 10, WMI_SINE_TERM_COUNT = 5 };
/* In two parts, of which the first has 12 bits. */
#define WMI_LN_2_HIGH   0x1.62ep-1f
#define WMI_LN_2_LOW    0x1.0bfbe8p-15f
#define WMI_LOG2_E_HIGH 0x1.714p0f
#define WMI_LOG2_E_LOW  0x1.47652cp-12f
#define WMI_TWO_PI_HIGH 0x1.922p+2f
#define WMI_TWO_PI_LOW  -0x1.2aeef4p-16f
/* The fraction of the square root of 2. */
#define WMI_ROOT_2_FRACTION 0x3504f3u

#endif
