/* SPDX-License-Identifier: MIT */
/* A bit per byte of memory that tells whether the byte has been written. */
#include "check/uninit/written.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    LARGE = 1 << 16 /* size of the bit mask in bytes from which on it is mapped, so that untouched pages take
                       no memory */
};

static size_t bytes_of(const struct wmi_written *w)
{
    return (size_t)((w->high - w->low + 63) / 64 * 8);
}

bool wmi_written_create(struct wmi_written *w, uint64_t low, uint64_t high)
{
    *w = (struct wmi_written){.low = low, .high = high, .left = high - low};
    if (low == high)
        return true;
    if (bytes_of(w) < LARGE)
        return (w->bits = calloc(1, bytes_of(w)));
    void *bits =
        mmap(NULL, bytes_of(w), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    w->bits = bits == MAP_FAILED ? NULL : bits;
    return w->bits;
}

void wmi_written_destroy(struct wmi_written *w)
{
    if (w->bits && bytes_of(w) < LARGE)
        free(w->bits);
    else if (w->bits)
        munmap(w->bits, bytes_of(w));
    w->bits = NULL;
}

/* Clamps [address, address + size) to what `w` covers, as offsets from `low`. */
static bool clamp(const struct wmi_written *w, uint64_t address, uint64_t size, uint64_t *from, uint64_t *to)
{
    const uint64_t end = address + size < address ? UINT64_MAX : address + size;
    *from = address > w->low ? address - w->low : 0;
    *to = (end < w->high ? end : w->high) - w->low;
    return w->bits && end > w->low && address < w->high && *from < *to;
}

/* Mask of the bits of one word in [from, to). */
static uint64_t mask_of(uint64_t word, uint64_t from, uint64_t to)
{
    const uint64_t first = word * 64;
    const uint64_t above = from > first ? UINT64_MAX << (from - first) : UINT64_MAX;
    const uint64_t below = to - first < 64 ? ~(UINT64_MAX << (to - first)) : UINT64_MAX;
    return above & below;
}

static unsigned count_of(uint64_t bits)
{
    return bits == UINT64_MAX ? 64 : (unsigned)__builtin_popcountll(bits);
}

static void change(struct wmi_written *w, uint64_t from, uint64_t to, bool set)
{
    uint64_t changed = 0;
    for (uint64_t word = from / 64; word * 64 < to; word++) {
        const uint64_t mask = mask_of(word, from, to);
        const uint64_t old = set ? __atomic_fetch_or(&w->bits[word], mask, __ATOMIC_RELAXED)
                                 : __atomic_fetch_and(&w->bits[word], ~mask, __ATOMIC_RELAXED);
        changed += count_of(mask & (set ? ~old : old));
    }
    if (!set)
        __atomic_fetch_add(&w->left, changed, __ATOMIC_RELAXED);
    else if (changed && __atomic_sub_fetch(&w->left, changed, __ATOMIC_RELAXED) == 0)
        __atomic_store_n(&w->all, true, __ATOMIC_RELAXED);
}

void wmi_written_set(struct wmi_written *w, uint64_t address, uint64_t size)
{
    uint64_t from, to;
    if (__atomic_load_n(&w->all, __ATOMIC_RELAXED) || !clamp(w, address, size, &from, &to))
        return;
    if (from == 0 && to == w->high - w->low)
        __atomic_store_n(&w->all, true, __ATOMIC_RELAXED);
    else
        change(w, from, to, true);
}

void wmi_written_set_words_alone(struct wmi_written *w, uint64_t address, uint64_t size)
{
    uint64_t from, to;
    if (w->all || !clamp(w, address, size, &from, &to))
        return;
    for (uint64_t word = from / 64; word * 64 < to; word++) {
        const uint64_t added = mask_of(word, from, to) & ~w->bits[word];
        w->bits[word] |= added;
        w->left -= count_of(added);
    }
    w->all = !w->left;
}

void wmi_written_clear(struct wmi_written *w, uint64_t address, uint64_t size)
{
    uint64_t from, to;
    if (!clamp(w, address, size, &from, &to))
        return;
    if (__atomic_load_n(&w->all, __ATOMIC_RELAXED)) {
        change(w, 0, w->high - w->low, true); /* the host's writes may have left them as they were */
        __atomic_store_n(&w->all, false, __ATOMIC_RELAXED);
    }
    change(w, from, to, false);
}

bool wmi_written_test(const struct wmi_written *w, uint64_t address, uint64_t size)
{
    uint64_t from, to;
    if (__atomic_load_n(&w->all, __ATOMIC_RELAXED) || !clamp(w, address, size, &from, &to))
        return true;
    for (uint64_t word = from / 64; word * 64 < to; word++)
        if (mask_of(word, from, to) & ~__atomic_load_n(&w->bits[word], __ATOMIC_RELAXED))
            return false;
    return true;
}

uint64_t wmi_written_missing(const struct wmi_written *w, uint64_t address, unsigned size)
{
    uint64_t from, to;
    if (__atomic_load_n(&w->all, __ATOMIC_RELAXED) || !clamp(w, address, size, &from, &to))
        return 0;
    const uint64_t word = from / 64, skipped = w->low + from - address;
    const unsigned shift = from % 64;
    uint64_t bits = __atomic_load_n(&w->bits[word], __ATOMIC_RELAXED) >> shift;
    if (shift && (word + 1) * 64 < to)
        bits |= __atomic_load_n(&w->bits[word + 1], __ATOMIC_RELAXED) << (64 - shift);
    return (~bits & mask_of(0, 0, to - from)) << skipped;
}

void wmi_written_restart(struct wmi_written *w)
{
    if (w->bits)
        memset(w->bits, 0, bytes_of(w));
    w->left = w->high - w->low;
    w->all = false;
}
