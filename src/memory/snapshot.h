/* SPDX-License-Identifier: MIT */
/* Copies of the guest's memory: to go back to, and to compare with. */
#ifndef WMI_SNAPSHOT_H
#define WMI_SNAPSHOT_H

#include "memory/space.h"

/* What allocations contained that the guest can write, without scratch memory. Pages of zeros take no memory.
 * What is freed later is neither restored nor compared. */
struct wmi_snapshot {
    struct wmi_snapshot_part {
        uint64_t low, high;
        unsigned char *host;
        unsigned char **page; /* NULL: zeros */
    } *part;
    size_t parts, capacity;
};

/* Copies the memory. False: no memory, or some of it is the caller's, which others may change; there is
 * nothing to free. */
bool wmi_snapshot_take(struct wmi_snapshot *snapshot, const struct wmi_space *space);
void wmi_snapshot_restore(const struct wmi_snapshot *snapshot, const struct wmi_space *space);
void wmi_snapshot_free(struct wmi_snapshot *snapshot);

/* How memory differs from a snapshot. */
struct wmi_snapshot_difference {
    uint64_t address;  /* of the first aligned dword that differs, */
    unsigned size;     /* bytes of it that lie in the allocation */
    uint32_t was, now; /* its value in the snapshot, and in memory */
    uint64_t bytes;    /* that differ, in all; 0: none does */
};

/* Compares the allocations for which `wanted` returns true. */
void wmi_snapshot_compare(const struct wmi_snapshot *snapshot, const struct wmi_space *space,
                          bool (*wanted)(void *user, const struct wmi_allocation *allocation), void *user,
                          struct wmi_snapshot_difference *difference);

#endif
