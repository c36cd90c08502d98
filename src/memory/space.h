/* SPDX-License-Identifier: MIT */
/* Guest memory: allocations at fixed guest addresses, and translation of guest ranges to host memory. */
#ifndef WMI_SPACE_H
#define WMI_SPACE_H

#include "memory/rwlock.h"
#include "wavemem/wavemem.h"

/* Flags of an allocation besides those of wm_allocate(). */
enum {
    WMI_ALLOCATION_OWN = 1 << 16,  /* of a code object or of a dispatch: wm_free() refuses it */
    WMI_ALLOCATION_HOST = 1 << 17, /* memory of the caller */
    WMI_FLAGS_UNBOUND = WM_UNBOUND | WM_READ_ONLY, /* its memory stays zero */
};

/* One allocation: guest addresses [low, high), stored at `host`. */
struct wmi_allocation {
    uint64_t low, high;
    unsigned char *host;
    unsigned flags; /* WM_READ_ONLY, WMI_ALLOCATION_* */
    uint64_t tail; /* bytes at the end that only fill its last page: they can be accessed, but hold no code */
    uint64_t stride, piece; /* only the first `piece` bytes of each `stride` are accessible; 0: all */
    char *name;
};

/* Where code in the allocation ends at the latest. */
static inline uint64_t wmi_code_end(const struct wmi_allocation *allocation)
{
    return allocation->high - allocation->tail;
}

/* The allocations, sorted by address. Functions that change them acquire the write lock. Callers of functions
 * that look something up hold the read lock, or know that nobody else can change the space. */
struct wmi_space;

/* Minimum distance of an address that the space chooses from the allocation below it, and its alignment, in
 * bytes. */
enum { WMI_SPACE_GAP = 1 << 16 };

/* The range of addresses that the space chooses. */
#define WMI_SPACE_LOW  0x10000000000ULL
#define WMI_SPACE_HIGH 0x7fff00000000ULL
/* A caller may choose any canonical 48-bit address except those of the first and the last page, so none in an
 * aperture. */
enum { WMI_SPACE_LEAST = 4096 };
#define WMI_SPACE_HALF (UINT64_C(1) << 47)
/* Limit for the bytes of all allocations: more than any product has. */
#define WMI_SPACE_LIMIT (512ULL << 30)

/* A copy of the bounds of the last allocation accessed, so that a check takes two comparisons. */
struct wmi_hit {
    uint64_t low, high; /* low == high == 0: empty */
    unsigned char *host;
    unsigned flags;
};

struct wmi_space *wmi_space_create(void);
struct wmi_rwlock *wmi_space_rwlock(const struct wmi_space *space);
/* Registers `changed`, which is called after each allocation and, with `freed`, each free, without a
 * lock. */
void wmi_space_listen(struct wmi_space *space,
                      void (*changed)(void *user, const struct wmi_allocation *allocation, bool freed),
                      void *user);
/* Creates a space in which all addresses except the last 64 bytes are allocated, but have no memory. For
 * computing addresses only. */
struct wmi_space *wmi_space_create_everywhere(void);
void wmi_space_destroy(struct wmi_space *space);
/* What to allocate. */
struct wmi_allocation_request {
    uint64_t size, tail; /* including `tail` */
    unsigned flags;
    const char *name; /* NULL: "" */
    bool placed;      /* at `address`; otherwise at one that the space chooses */
    uint64_t address;
    void *host; /* the caller's memory; NULL: new zeroed memory */
    /* For addresses that depend on the calls with the same cursor only: where to look for the next one. NULL:
     * the space's own. */
    uint64_t *cursor;
};

/* Allocates memory, 4096-byte aligned unless it is the caller's. Addresses that the space chooses depend on
 * earlier calls only: they ascend, and are reused only when the top is reached.
 * WM_BAD_ARGUMENT: 0 bytes, an impossible address or one that is taken; WM_NO_MEMORY: above WMI_SPACE_LIMIT,
 * or the host has no memory. */
enum wm_status wmi_space_place(struct wmi_space *space, const struct wmi_allocation_request *request,
                               uint64_t *address, struct wm_diag *diag);
/* The same with the most common request. */
enum wm_status wmi_space_allocate(struct wmi_space *space, uint64_t size, unsigned flags, const char *name,
                                  uint64_t *address, struct wm_diag *diag);
/* Where the space looks for free addresses first from now on: a multiple of WMI_SPACE_GAP. */
void wmi_space_begin_at(struct wmi_space *space, uint64_t address);
/* Frees the allocation that starts at `address`; WM_NOT_FOUND: none does. WM_BAD_ARGUMENT: the
 * caller does not own it: WMI_ALLOCATION_OWN without `own`. */
enum wm_status wmi_space_free(struct wmi_space *space, uint64_t address, bool own, struct wm_diag *diag);
/* Moves the bytes of the allocation that starts at `address` to an empty file, so that other processes can
 * map them. They stay where they are for the guest and the host. WM_NOT_FOUND: none starts there, it is the
 * caller's, or shared already; WM_NO_MEMORY: the host has no memory. */
enum wm_status wmi_space_share(struct wmi_space *space, uint64_t address, int file, struct wm_diag *diag);
/* Divides the allocation at `address` into pieces, separated by guard gaps of at least WMI_SPACE_GAP. */
void wmi_space_divide(struct wmi_space *space, uint64_t address, uint64_t stride, uint64_t piece);
/* Finds the allocation, or the piece of a divided one, that contains `address`. */
bool wmi_space_reach(const struct wmi_space *space, uint64_t address, struct wmi_hit *hit);
/* Zeroes `size` bytes of a divided allocation. */
void wmi_space_clear(unsigned char *host, uint64_t size);
/* Returns the allocation that contains `address`, or NULL. */
const struct wmi_allocation *wmi_space_find(const struct wmi_space *space, uint64_t address);
/* Returns the first allocation that ends above `address`, or NULL. */
const struct wmi_allocation *wmi_space_from(const struct wmi_space *space, uint64_t address);
/* Returns the allocation nearest to `address`, for reports; NULL: there is none. Ignores divided
 * allocations, because most of their addresses are gaps. */
const struct wmi_allocation *wmi_space_nearest(const struct wmi_space *space, uint64_t address);
/* Returns the host memory of [address, address + size) if the range is within one allocation, else NULL. */
unsigned char *wmi_space_host(const struct wmi_space *space, uint64_t address, uint64_t size);

#endif
