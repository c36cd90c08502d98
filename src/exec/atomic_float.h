/* SPDX-License-Identifier: MIT */
/* Float atomics: the new value from memory `m` and data `d`, as bits. */
#ifndef WMI_ATOMIC_FLOAT_H
#define WMI_ATOMIC_FLOAT_H

#include <stdbool.h>
#include <stdint.h>

/* Sum, rounded to nearest even; flush: denormal operands and results are flushed to zero. */
uint32_t wmi_fadd_32(uint32_t m, uint32_t d);
uint32_t wmi_fadd_flush_32(uint32_t m, uint32_t d);
uint64_t wmi_fadd_64(uint64_t m, uint64_t d);
/* Two 16-bit sums each. */
uint32_t wmi_pk_add_f16_32(uint32_t m, uint32_t d);
uint32_t wmi_pk_add_bf16_32(uint32_t m, uint32_t d);
/* Minimum and maximum; a number takes precedence over a NaN. */
uint32_t wmi_fmin_32(uint32_t m, uint32_t d);
uint64_t wmi_fmin_64(uint64_t m, uint64_t d);
uint32_t wmi_fmax_32(uint32_t m, uint32_t d);
uint64_t wmi_fmax_64(uint64_t m, uint64_t d);
/* Float equality: NaNs are unequal, zeros of both signs are equal. */
bool wmi_fequal_32(uint32_t m, uint32_t c);
bool wmi_fequal_64(uint64_t m, uint64_t c);

#endif
