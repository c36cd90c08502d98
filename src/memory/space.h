/* SPDX-License-Identifier: MIT */
/* Guest memory: allocations at fixed guest addresses with guard gaps, and how a guest range becomes host bytes. */
#ifndef WMI_SPACE_H
#define WMI_SPACE_H

#include "wavemem/wavemem.h"

/* One allocation. Guest address `low` is host byte `host`; `high` is the first address behind it. */
struct wmi_allocation {
    uint64_t low, high;
    unsigned char *host;
    unsigned flags; /* WM_READ_ONLY */
    char name[64];
};

struct wmi_space; /* sorted by address; not changed while a dispatch runs */

/* The allocation that an access fell into last time, by value so that a check is two compares. */
struct wmi_hit {
    uint64_t low, high; /* low == high == 0: nothing yet */
    unsigned char *host;
    unsigned flags;
};

struct wmi_space *wmi_space_create(void);
void wmi_space_destroy(struct wmi_space *space);
/* Zeroed memory, 4096-byte aligned, at an address that depends on earlier calls only. */
enum wm_status wmi_space_allocate(struct wmi_space *space, uint64_t size, unsigned flags, const char *name,
                                  uint64_t *address, struct wm_diag *diag);
enum wm_status wmi_space_free(struct wmi_space *space, uint64_t address, struct wm_diag *diag);
/* The allocation that holds `address`, or NULL. */
const struct wmi_allocation *wmi_space_find(const struct wmi_space *space, uint64_t address);
/* The allocation nearest to `address`, for reports; NULL when there is none. */
const struct wmi_allocation *wmi_space_nearest(const struct wmi_space *space, uint64_t address);
/* Host bytes of [address, address + size) if it lies in one allocation, else NULL. */
unsigned char *wmi_space_host(const struct wmi_space *space, uint64_t address, uint64_t size);

#endif
