/* SPDX-License-Identifier: MIT */
/* Which bytes of memory somebody has written: one bit per byte. */
#ifndef WMI_WRITTEN_H
#define WMI_WRITTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes [low, high). Pages of bits that are all 0 take no memory. Threads may change different bytes at the
 * same time. */
struct wmi_written {
    uint64_t low, high;
    uint64_t *bits;
    uint64_t left; /* bytes that are not written */
    bool all;      /* every byte is written, and the bits mean nothing */
};

/* No byte is written. False: no memory. */
bool wmi_written_create(struct wmi_written *w, uint64_t low, uint64_t high);
void wmi_written_destroy(struct wmi_written *w);
/* `size` bytes at `address`, clamped to what `w` covers. */
void wmi_written_set(struct wmi_written *w, uint64_t address, uint64_t size);
void wmi_written_clear(struct wmi_written *w, uint64_t address, uint64_t size);
/* Whether all of them are written. Bytes out of [low, high) count as written. */
bool wmi_written_test(const struct wmi_written *w, uint64_t address, uint64_t size);
/* The same, quickly of few bytes. */
static inline bool wmi_written_has(const struct wmi_written *w, uint64_t address, uint64_t size)
{
    const uint64_t from = address - w->low, shift = from % 64;
    if (size > 64 - shift || address < w->low || address + size > w->high)
        return wmi_written_test(w, address, size);
    const uint64_t mask = UINT64_MAX >> (64 - size) << shift;
    return !(mask & ~__atomic_load_n(&w->bits[from / 64], __ATOMIC_RELAXED)) ||
           __atomic_load_n(&w->all, __ATOMIC_RELAXED);
}
/* As wmi_written_set() while nobody else changes any byte, also of few bytes quickly. */
static inline void wmi_written_set_alone(struct wmi_written *w, uint64_t address, uint64_t size)
{
    const uint64_t from = address - w->low, shift = from % 64;
    if (size > 64 - shift || address < w->low || address + size > w->high) {
        wmi_written_set(w, address, size);
        return;
    }
    const uint64_t added = UINT64_MAX >> (64 - size) << shift & ~w->bits[from / 64];
    w->bits[from / 64] |= added;
    w->left -= (unsigned)__builtin_popcountll(added);
    w->all |= !w->left;
}
/* Writes bytes of one word, whose bits are at w->bits[word]. Returns how many of them were not written, which
 * wmi_written_add() must be told. */
static inline unsigned wmi_written_set_word(struct wmi_written *w, uint64_t word, uint64_t bytes)
{
    const uint64_t added = bytes & ~__atomic_load_n(&w->bits[word], __ATOMIC_RELAXED);
    return !added ? 0
                  : (unsigned)__builtin_popcountll(
                        added & ~__atomic_fetch_or(&w->bits[word], added, __ATOMIC_RELAXED));
}
static inline void wmi_written_add(struct wmi_written *w, unsigned bytes)
{
    if (bytes && __atomic_sub_fetch(&w->left, bytes, __ATOMIC_RELAXED) == 0)
        __atomic_store_n(&w->all, true, __ATOMIC_RELAXED);
}
/* No byte is written any more. */
void wmi_written_restart(struct wmi_written *w);
/* Bit i: the byte at address + i is not written, for the first `size` bytes, at most 64. */
uint64_t wmi_written_missing(const struct wmi_written *w, uint64_t address, unsigned size);

#endif
