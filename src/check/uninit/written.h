/* SPDX-License-Identifier: MIT */
/* A bit per byte of memory that tells whether the byte has been written. */
#ifndef WMI_WRITTEN_H
#define WMI_WRITTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Covers the bytes [low, high). Pages of the mask that are all 0 take no memory. Threads may change different
 * bytes at the same time. */
struct wmi_written {
    uint64_t low, high;
    uint64_t *bits;
    uint64_t left; /* number of bytes that are not written */
    bool all;      /* every byte is written, and the mask is ignored */
};

/* Creates a mask in which no byte is written. False: no memory. */
bool wmi_written_create(struct wmi_written *w, uint64_t low, uint64_t high);
void wmi_written_destroy(struct wmi_written *w);
/* Marks `size` bytes at `address` as written, clamped to what `w` covers. */
void wmi_written_set(struct wmi_written *w, uint64_t address, uint64_t size);
void wmi_written_clear(struct wmi_written *w, uint64_t address, uint64_t size);
/* Whether `size` bytes at `address` are written. Bytes outside of [low, high) count as written. */
bool wmi_written_test(const struct wmi_written *w, uint64_t address, uint64_t size);
/* wmi_written_test() with a fast path for few bytes. */
static inline bool wmi_written_has(const struct wmi_written *w, uint64_t address, uint64_t size)
{
    const uint64_t from = address - w->low, shift = from % 64;
    if (size > 64 - shift || address < w->low || address + size > w->high)
        return wmi_written_test(w, address, size);
    const uint64_t mask = UINT64_MAX >> (64 - size) << shift;
    return !(mask & ~__atomic_load_n(&w->bits[from / 64], __ATOMIC_RELAXED)) ||
           __atomic_load_n(&w->all, __ATOMIC_RELAXED);
}
/* wmi_written_set() while no other thread accesses the mask. */
void wmi_written_set_words_alone(struct wmi_written *w, uint64_t address, uint64_t size);
/* The same with a fast path for few bytes. */
static inline void wmi_written_set_alone(struct wmi_written *w, uint64_t address, uint64_t size)
{
    const uint64_t from = address - w->low, shift = from % 64;
    if (size > 64 - shift || address < w->low || address + size > w->high) {
        wmi_written_set_words_alone(w, address, size);
        return;
    }
    const uint64_t added = UINT64_MAX >> (64 - size) << shift & ~w->bits[from / 64];
    w->bits[from / 64] |= added;
    w->left -= (unsigned)__builtin_popcountll(added);
    w->all |= !w->left;
}
/* Counts bytes that the caller has marked itself. */
static inline void wmi_written_add(struct wmi_written *w, unsigned bytes)
{
    if (bytes && __atomic_sub_fetch(&w->left, bytes, __ATOMIC_RELAXED) == 0)
        __atomic_store_n(&w->all, true, __ATOMIC_RELAXED);
}
/* Marks all bytes as not written. */
void wmi_written_restart(struct wmi_written *w);
/* Returns a mask of the first `size` bytes, at most 64: bit i is set if the byte at address + i is not
 * written. */
uint64_t wmi_written_missing(const struct wmi_written *w, uint64_t address, unsigned size);

#endif
