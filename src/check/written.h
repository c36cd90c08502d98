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
/* The same for `bytes`, at most 16, at each lane's address; all of them lie in [low, high), and `w` is not
 * written completely. While one sets bytes so, nobody else may change any. */
bool wmi_written_test_each(const struct wmi_written *w, const uint64_t *address, uint64_t lanes,
                           unsigned bytes);
void wmi_written_set_each(struct wmi_written *w, const uint64_t *address, uint64_t lanes, unsigned bytes);
/* No byte is written any more. */
void wmi_written_restart(struct wmi_written *w);
/* Bit i: the byte at address + i is not written, for the first `size` bytes, at most 64. */
uint64_t wmi_written_missing(const struct wmi_written *w, uint64_t address, unsigned size);

#endif
