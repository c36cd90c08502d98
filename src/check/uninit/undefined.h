/* SPDX-License-Identifier: MIT */
/* Undefined values in memory: the difference (XOR) of each byte between a wave and its shadow
 * (check/uninit/shadow.h), and the origin of the value. Bytes that were never written have no entry:
 * wmi_undefined_pattern() returns their difference. */
#ifndef WMI_UNDEFINED_H
#define WMI_UNDEFINED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The difference of the four bytes of the dword at `address` if they were never written; no byte of it is
 * 0. */
static inline uint32_t wmi_undefined_pattern(uint64_t address)
{
    uint64_t x = (address / 4 + 1) * 0x9e3779b97f4a7c15ULL;
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9ULL;
    return (uint32_t)(x >> 32) | 0x01010101u;
}

struct wmi_undefined_dword {
    uint64_t key; /* address / 4 + 1; 0: no entry */
    uint32_t difference, origin;
};

/* Hash table by dword: open addressing, at most half full. All zero: empty. */
struct wmi_undefined {
    struct wmi_undefined_dword *entry;
    size_t count, capacity;
};

/* Returns the dword's entry, or NULL. */
const struct wmi_undefined_dword *wmi_undefined_find(const struct wmi_undefined *u, uint64_t address);
/* Replaces the bytes in `mask` (0xff per byte) of a dword's difference. False: no memory, or too many. */
bool wmi_undefined_put(struct wmi_undefined *u, uint64_t address, uint32_t mask, uint32_t difference,
                       uint32_t origin);
void wmi_undefined_free(struct wmi_undefined *u);

#endif
