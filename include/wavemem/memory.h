/* SPDX-License-Identifier: MIT */
/* Guest memory: allocations of a machine, and host memory that its guests see.
 *
 * A guest reaches what is allocated or mapped, and nothing else. Memory may be allocated, mapped and freed
 * while dispatches run, by other threads and by wm_dispatch.progress; observers' callbacks may only read and
 * write. A change waits until each wave that runs has ended its turn (at most some 10,000 instructions). */
#ifndef WAVEMEM_MEMORY_H
#define WAVEMEM_MEMORY_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct wm_machine; /* machine.h */

enum {                   /* flags */
       WM_READ_ONLY = 1, /* a store or an atomic of the guest is WM_FAULT_READ_ONLY */
       /* loads are 0, and stores and atomics change nothing, as in ranges of a sparse resource to which no
        * memory is bound; only for wm_allocate_at() */
       WM_UNBOUND = 2,
};

enum {
    WM_ALLOCATION_ALIGNMENT = 4096, /* bytes: of addresses */
    WM_MAPPING_ALIGNMENT = 64,      /* bytes: guest and host address of mapped memory agree modulo this */
};

/* Allocates `size` bytes of zeroed guest memory, followed by a guard gap. `name` appears in fault reports;
 * NULL stands for "". Addresses do not depend on the host: the same sequence of calls returns the same
 * addresses. WM_BAD_ARGUMENT: size is 0; WM_NO_MEMORY: see LIMITS in machine.h, or the host has no memory. */
WM_API enum wm_status wm_allocate(struct wm_machine *machine, uint64_t size, unsigned flags, const char *name,
                                  uint64_t *address, struct wm_diag *diag);
/* Where wavemem looks for free addresses first from now on, for wm_allocate(), objects and what dispatches
 * need: machines whose addresses shall differ begin far apart. WM_BAD_ARGUMENT: not a multiple of 65536 from
 * 0x10000000000 to 0x7fff00000000. */
WM_API enum wm_status wm_set_first_address(struct wm_machine *machine, uint64_t address,
                                           struct wm_diag *diag);
/* As wm_allocate(), at a given address, a multiple of WM_ALLOCATION_ALIGNMENT: a canonical 48-bit address,
 * not in the first or the last page, so from 0x1000 or from 0xffff800000000000 on. There may be no gap to the
 * neighbours; an access across a border is a fault all the same. WM_BAD_ARGUMENT: not such an address, or
 * part of it is allocated. */
WM_API enum wm_status wm_allocate_at(struct wm_machine *machine, uint64_t address, uint64_t size,
                                     unsigned flags, const char *name, struct wm_diag *diag);
/* Makes `size` bytes of the caller's memory part of the guest's: both see the same bytes at once. address 0:
 * the guest's address is the host's. Otherwise the two must agree modulo WM_MAPPING_ALIGNMENT. The memory
 * must stay valid, and writable without WM_READ_ONLY, until wm_free(), after which no guest touches it. It
 * does not count for the limit of allocations. Errors as for wm_allocate_at. */
WM_API enum wm_status wm_map_host(struct wm_machine *machine, void *host, uint64_t size, uint64_t address,
                                  unsigned flags, const char *name, struct wm_diag *diag);
/* Moves the bytes of the allocation that begins at `address` to an empty file, which other processes can map:
 * its first bytes are the allocation's. Nothing changes for the guest. The caller may close the file, which
 * must not become smaller. WM_NOT_FOUND: none begins there, it is mapped memory, or it is in a file already;
 * WM_NO_MEMORY: the file cannot be written or mapped. */
WM_API enum wm_status wm_share(struct wm_machine *machine, uint64_t address, int file, struct wm_diag *diag);
/* Frees the allocation, or ends the mapping, that begins at `address`. What a wave does there afterwards is
 * WM_FAULT_MEMORY. WM_NOT_FOUND: none begins there; WM_BAD_ARGUMENT: it belongs to wavemem (a code object;
 * what a dispatch that runs has allocated). */
WM_API enum wm_status wm_free(struct wm_machine *machine, uint64_t address, struct wm_diag *diag);

struct wm_allocation {
    size_t struct_size;     /* sizeof(struct wm_allocation), set by the caller */
    uint64_t address, size; /* bytes */
    unsigned flags;         /* WM_READ_ONLY */
    void *host;             /* its bytes, until it is freed */
    bool is_host;           /* wm_map_host() */
    bool is_own;            /* made by wavemem: of a code object or of a dispatch */
    const char *name;       /* until it is freed */
};

/* Describes the allocation that contains `address`; with or_next the next one above it if there is none, so
 * that a loop from 0 finds all. WM_NOT_FOUND: there is none. */
WM_API enum wm_status wm_find_allocation(const struct wm_machine *machine, uint64_t address, bool or_next,
                                         struct wm_allocation *allocation, struct wm_diag *diag);

/* Copies `size` bytes to or from guest memory. WM_OUT_OF_RANGE: the range is not within one allocation. */
WM_API enum wm_status wm_write(struct wm_machine *machine, uint64_t address, const void *bytes, uint64_t size,
                               struct wm_diag *diag);
WM_API enum wm_status wm_read(const struct wm_machine *machine, uint64_t address, void *bytes, uint64_t size,
                              struct wm_diag *diag);
/* Returns a host pointer to `size` bytes of guest memory at `address`, for reading and writing in place, or
 * NULL if the range is not within one allocation. Valid until wm_free. */
WM_API void *wm_host_pointer(struct wm_machine *machine, uint64_t address, uint64_t size);

#ifdef __cplusplus
}
#endif

#endif
