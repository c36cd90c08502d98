/* SPDX-License-Identifier: MIT */
/* Accesses to guest memory that never split an aligned element of up to 8 bytes (single-copy atomicity), so
 * that no thread sees one half of what another one stores.
 *
 * What guests rely on: LLVM makes relaxed atomic loads and stores of up to 64 bits one plain load or store
 * (AMDGPUUsage, "Memory Model"; clang, MaxAtomicInlineWidth of AMDGPU). AMD's ISA manuals say nothing, and
 * nobody promises anything for 12 and 16 bytes; their aligned halves of 8 bytes are kept whole here.
 *
 * What hosts promise: aligned loads and stores of up to 8 bytes are atomic, with AVX also those of 16 bytes
 * (Intel SDM, volume 3, "Guaranteed Atomic Operations"; AMD APM, volume 2, "Access Atomicity"). Relied upon
 * beyond that, and true of all known hosts: vector instructions that are wider, unaligned, masked or indexed
 * do not split an aligned element of 8 bytes.
 *
 * memcpy() may access bytes twice, and compilers may split or repeat plain accesses: hence `volatile`. */
#ifndef WMI_SINGLE_COPY_H
#define WMI_SINGLE_COPY_H

#include <stddef.h>
#include <stdint.h>

/* Guest memory has no declared type and any alignment. */
typedef uint16_t __attribute__((aligned(1), may_alias)) wmi_guest_16;
typedef uint32_t __attribute__((aligned(1), may_alias)) wmi_guest_32;
typedef uint64_t __attribute__((aligned(1), may_alias)) wmi_guest_64;
typedef uint64_t __attribute__((vector_size(16), may_alias)) wmi_aligned_128;
typedef wmi_aligned_128 __attribute__((aligned(1))) wmi_guest_128;

static inline uint64_t wmi_read_64(const void *from)
{
    return *(const volatile wmi_guest_64 *)from;
}

static inline void wmi_write_64(void *to, uint64_t value)
{
    *(volatile wmi_guest_64 *)to = value;
}

/* Copies from guest memory, and to it, in the largest pieces possible: an element of 16 bytes or less with
 * the fewest accesses. */
#define WMI_SINGLE_COPY(name, to_guest, from_guest)                                                          \
    static inline __attribute__((always_inline)) void name(void *to, const void *from, size_t bytes)         \
    {                                                                                                        \
        to_guest unsigned char *d = to;                                                                      \
        const from_guest unsigned char *s = from;                                                            \
        _Pragma("GCC unroll 4") for (; bytes >= 16; bytes -= 16, d += 16, s += 16) *                         \
            (to_guest wmi_guest_128 *)d = *(const from_guest wmi_guest_128 *)s;                              \
        if (bytes & 8) {                                                                                     \
            *(to_guest wmi_guest_64 *)d = *(const from_guest wmi_guest_64 *)s;                               \
            d += 8, s += 8;                                                                                  \
        }                                                                                                    \
        if (bytes & 4) {                                                                                     \
            *(to_guest wmi_guest_32 *)d = *(const from_guest wmi_guest_32 *)s;                               \
            d += 4, s += 4;                                                                                  \
        }                                                                                                    \
        if (bytes & 2) {                                                                                     \
            *(to_guest wmi_guest_16 *)d = *(const from_guest wmi_guest_16 *)s;                               \
            d += 2, s += 2;                                                                                  \
        }                                                                                                    \
        if (bytes & 1)                                                                                       \
            *d = *s;                                                                                         \
    }
WMI_SINGLE_COPY(wmi_read_guest, , volatile)
WMI_SINGLE_COPY(wmi_write_guest, volatile, )
#undef WMI_SINGLE_COPY

#endif
