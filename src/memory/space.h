/* SPDX-License-Identifier: MIT */
/* Guest memory: allocations at fixed guest addresses with guard gaps, and translation of guest ranges to host
 * memory. */
#ifndef WMI_SPACE_H
#define WMI_SPACE_H

#include "wavemem/wavemem.h"

/* One allocation: guest addresses [low, high), stored at `host`. */
struct wmi_allocation {
    uint64_t low, high;
    unsigned char *host;
    unsigned flags;         /* WM_READ_ONLY */
    uint64_t stride, piece; /* only the first `piece` bytes of each `stride` are accessible; 0: all */
    char name[64];
};

struct wmi_space; /* sorted by address; not changed while a dispatch runs */

enum { WMI_SPACE_GAP = 1 << 16 }; /* minimum distance between allocations, and their alignment, in bytes */

/* The range of allocations: far from 0, and canonical 48-bit addresses, so outside every aperture. */
#define WMI_SPACE_LOW  0x10000000000ULL
#define WMI_SPACE_HIGH 0x7fff00000000ULL
/* Limit for the bytes of all allocations. */
#define WMI_SPACE_LIMIT (64ULL << 30)

/* A copy of the bounds of the last allocation accessed, so that a check takes two comparisons. */
struct wmi_hit {
    uint64_t low, high; /* low == high == 0: empty */
    unsigned char *host;
    unsigned flags;
};

struct wmi_space *wmi_space_create(void);
/* Registers `changed`, which is called after each allocation and, with `freed`, before each free. */
void wmi_space_listen(struct wmi_space *space,
                      void (*changed)(void *user, const struct wmi_allocation *allocation, bool freed),
                      void *user);
/* Creates a space in which all addresses except the last 64 bytes are allocated, but have no memory. For
 * computing addresses only. */
struct wmi_space *wmi_space_create_everywhere(void);
void wmi_space_destroy(struct wmi_space *space);
/* Allocates zeroed memory, 4096-byte aligned, at an address that depends on earlier calls only: addresses
 * ascend, and are reused only when the top is reached. The host memory is rounded up to whole pages.
 * WM_BAD_ARGUMENT: 0 bytes; WM_NO_MEMORY: above WMI_SPACE_LIMIT, or the host has no memory. */
enum wm_status wmi_space_allocate(struct wmi_space *space, uint64_t size, unsigned flags, const char *name,
                                  uint64_t *address, struct wm_diag *diag);
/* Frees the allocation that starts at `address`; WM_NOT_FOUND: none does. */
enum wm_status wmi_space_free(struct wmi_space *space, uint64_t address, struct wm_diag *diag);
/* Divides the allocation at `address` into pieces, separated by guard gaps of at least WMI_SPACE_GAP. */
void wmi_space_divide(struct wmi_space *space, uint64_t address, uint64_t stride, uint64_t piece);
/* Finds the allocation, or the piece of a divided one, that contains `address`. */
bool wmi_space_reach(const struct wmi_space *space, uint64_t address, struct wmi_hit *hit);
/* Zeroes `size` bytes of a divided allocation. */
void wmi_space_clear(unsigned char *host, uint64_t size);
/* Returns the allocation that contains `address`, or NULL. */
const struct wmi_allocation *wmi_space_find(const struct wmi_space *space, uint64_t address);
/* Returns the allocation nearest to `address`, for reports; NULL: there is none. Ignores divided
 * allocations, because most of their addresses are gaps. */
const struct wmi_allocation *wmi_space_nearest(const struct wmi_space *space, uint64_t address);
/* Returns the host memory of [address, address + size) if the range is within one allocation, else NULL. */
unsigned char *wmi_space_host(const struct wmi_space *space, uint64_t address, uint64_t size);

#endif
