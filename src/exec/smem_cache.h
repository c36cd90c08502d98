/* SPDX-License-Identifier: MIT */
/* The scalar data cache as a thing that may be stale: a model that can check or replace coherent memory.
 *
 * Only dispatches that ask for it (enum wm_scalar_cache) have steps that use it. Each workgroup has a cache
 * of its own that is empty when it starts; hardware shares one between some compute units and keeps it from
 * workgroup to workgroup, so it may show what this one does not. 16 KiB of 64-byte lines (hardware's), 4
 * ways, least recently used out first (unverified). */
#ifndef WMI_SMEM_CACHE_H
#define WMI_SMEM_CACHE_H

#include "exec/smem.h"

#include <pthread.h>

struct wmi_scalar_cache; /* of a workgroup */

/* A place in the code where hardware may do otherwise than coherent memory. */
struct wmi_stale {
    unsigned kind; /* enum wm_stale_kind */
    uint64_t pc, count;
    uint64_t group, address; /* of the lowest workgroup and wave */
    uint32_t wave;
};

/* What the caches of a dispatch found; in wmi_dispatch. */
struct wmi_stales {
    unsigned mode; /* enum wm_scalar_cache */
    pthread_mutex_t lock;
    struct wmi_stale *found;
    size_t count, room;
};

/* Ends the workgroup's cache. What it never wrote back is lost, and found if the workgroup has finished. */
void wmi_scalar_cache_end(struct wmi_workgroup *group, bool finished);

/* Loads, stores and atomics through the cache; the record is that of other scalar steps. */
const struct wmi_op *wmi_scalar_cached(char *restrict frame, const struct wmi_op *op);
/* Before a FLAT or GLOBAL load, whose record it has: finds lanes that load what a scalar store has not
 * written back. */
const struct wmi_op *wmi_scalar_cache_passed_by(char *restrict frame, const struct wmi_op *op);
/* What op->x says to the cache. To discard, the record is that of a load from the address. */
enum wmi_scalar_control {
    WMI_SCALAR_INVALIDATE = 1,
    WMI_SCALAR_WRITE_BACK = 2,
    WMI_SCALAR_VOLATILE_ONLY = 4,
    WMI_SCALAR_DISCARD = 8, /* op->y lines from the address on */
};
const struct wmi_op *wmi_scalar_cache_control(char *restrict frame, const struct wmi_op *op);

#endif
