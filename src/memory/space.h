/* SPDX-License-Identifier: MIT */
/* Guest memory: allocations at fixed guest addresses with guard gaps, and how a guest range becomes host
 * bytes. */
#ifndef WMI_SPACE_H
#define WMI_SPACE_H

#include "wavemem/wavemem.h"

/* One allocation. Guest address `low` is host byte `host`; `high` is the first address behind it. */
struct wmi_allocation {
    uint64_t low, high;
    unsigned char *host;
    unsigned flags;         /* WM_READ_ONLY */
    uint64_t stride, piece; /* only the first `piece` bytes of each `stride` are there; 0: all */
    char name[64];
};

struct wmi_space; /* sorted by address; not changed while a dispatch runs */

enum { WMI_SPACE_GAP = 1 << 16 }; /* bytes between two allocations at least; starts are multiples of it */

/* Where allocations lie: far from 0, below the hole of 48-bit addresses and so outside every aperture. */
#define WMI_SPACE_LOW  0x10000000000ULL
#define WMI_SPACE_HIGH 0x7fff00000000ULL
/* Bytes of all allocations together. */
#define WMI_SPACE_LIMIT (64ULL << 30)

/* The allocation that an access fell into last time, by value so that a check is two compares. */
struct wmi_hit {
    uint64_t low, high; /* low == high == 0: nothing yet */
    unsigned char *host;
    unsigned flags;
};

struct wmi_space *wmi_space_create(void);
/* From now on calls `changed` for each allocation that was made and, with `freed`, that is going to be freed.
 */
void wmi_space_listen(struct wmi_space *space,
                      void (*changed)(void *user, const struct wmi_allocation *allocation, bool freed),
                      void *user);
/* A space in which every address is allocated, but for the last 64 bytes. It has no memory behind it:
 * for those who only ask where an access goes. */
struct wmi_space *wmi_space_create_everywhere(void);
void wmi_space_destroy(struct wmi_space *space);
/* Zeroed memory, 4096-byte aligned, at an address that depends on earlier calls only: addresses go up and
 * come back only when the top is reached. The host memory is as long as asked for, and then up to the next
 * page. WM_BAD_ARGUMENT for 0 bytes; WM_NO_MEMORY above WMI_SPACE_LIMIT or when the host refuses. */
enum wm_status wmi_space_allocate(struct wmi_space *space, uint64_t size, unsigned flags, const char *name,
                                  uint64_t *address, struct wm_diag *diag);
/* WM_NOT_FOUND unless an allocation starts at `address`. */
enum wm_status wmi_space_free(struct wmi_space *space, uint64_t address, struct wm_diag *diag);
/* Makes pieces of the allocation at `address`, with guard gaps of at least WMI_SPACE_GAP between them. */
void wmi_space_divide(struct wmi_space *space, uint64_t address, uint64_t stride, uint64_t piece);
/* The bytes around `address` that the guest may reach from there: an allocation, or a piece of one. */
bool wmi_space_reach(const struct wmi_space *space, uint64_t address, struct wmi_hit *hit);
/* Makes `size` bytes zero that lie in a divided allocation. */
void wmi_space_clear(unsigned char *host, uint64_t size);
/* The allocation that holds `address`, or NULL. */
const struct wmi_allocation *wmi_space_find(const struct wmi_space *space, uint64_t address);
/* The allocation nearest to `address`, for reports; NULL when there is none. */
const struct wmi_allocation *wmi_space_nearest(const struct wmi_space *space, uint64_t address);
/* Host bytes of [address, address + size) if it lies in one allocation, else NULL. */
unsigned char *wmi_space_host(const struct wmi_space *space, uint64_t address, uint64_t size);

#endif
