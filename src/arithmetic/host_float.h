/* SPDX-License-Identifier: MIT */
/* The host's float control word for the MODE register of a wave. */
#ifndef WMI_HOST_FLOAT_H
#define WMI_HOST_FLOAT_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)

static inline uint32_t wmi_host_float_get(void)
{
    return __builtin_ia32_stmxcsr();
}

static inline void wmi_host_float_set(uint32_t word)
{
    __builtin_ia32_ldmxcsr(word);
}

/* MXCSR for a 2-bit rounding mode and a 2-bit denormal mode of MODE, all exceptions masked.
 * Rounding: 0 even, 1 up, 2 down, 3 zero. Denormals: bit 0 allows them as inputs, bit 1 as outputs.
 * Source: Vega ISA, "MODE register", FP_ROUND and FP_DENORM. */
static inline uint32_t wmi_host_float_word(unsigned round, unsigned denormals)
{
    static const uint16_t rounding[4] = {0x0000, 0x4000, 0x2000, 0x6000};
    return 0x1f80u | rounding[round & 3] | (denormals & 1 ? 0 : 0x0040u) | (denormals & 2 ? 0 : 0x8000u);
}

/* Whether the host has such a mode. */
static inline bool wmi_host_float_has(unsigned round, unsigned denormals)
{
    (void)round, (void)denormals;
    return true;
}

/* The same word with denormal inputs and outputs flushed, or with rounding to nearest. */
static inline uint32_t wmi_host_float_flush(uint32_t word)
{
    return word | 0x8040u;
}

static inline uint32_t wmi_host_float_nearest(uint32_t word)
{
    return word & ~0x6000u;
}

#elif defined(__aarch64__)

static inline uint32_t wmi_host_float_get(void)
{
    uint64_t word;
    __asm__ volatile("mrs %0, fpcr" : "=r"(word)::"memory");
    return (uint32_t)word;
}

/* Calls that only read memory must not move across it. */
static inline void wmi_host_float_set(uint32_t word)
{
    __asm__ volatile("msr fpcr, %0" ::"r"((uint64_t)word) : "memory");
}

/* FPCR has one flush bit for inputs and outputs: set if either is flushed. (Armv8.7 has one more, FIZ, if its
 * alternative handling is on; that is not used.) */
static inline uint32_t wmi_host_float_word(unsigned round, unsigned denormals)
{
    static const uint32_t rounding[4] = {0u << 22, 1u << 22, 2u << 22, 3u << 22};
    return rounding[round & 3] | (denormals == 3 ? 0 : 1u << 24);
}

static inline bool wmi_host_float_has(unsigned round, unsigned denormals)
{
    (void)round;
    return denormals == 0 || denormals == 3;
}

static inline uint32_t wmi_host_float_flush(uint32_t word)
{
    return word | 1u << 24;
}

static inline uint32_t wmi_host_float_nearest(uint32_t word)
{
    return word & ~(3u << 22);
}

#elif defined(__wasm__)

/* WebAssembly always rounds to nearest and keeps denormals: dispatches that need another mode are refused. */
static inline uint32_t wmi_host_float_get(void)
{
    return 0;
}

static inline void wmi_host_float_set(uint32_t word)
{
    (void)word;
}

static inline uint32_t wmi_host_float_word(unsigned round, unsigned denormals)
{
    (void)round, (void)denormals;
    return 0;
}

static inline bool wmi_host_float_has(unsigned round, unsigned denormals)
{
    return round == 0 && denormals == 3;
}

static inline uint32_t wmi_host_float_flush(uint32_t word)
{
    return word;
}

static inline uint32_t wmi_host_float_nearest(uint32_t word)
{
    return word;
}

#else
#error "wavemem needs to know how this CPU sets its float rounding: add it to host_float.h"
#endif

#endif
