/* SPDX-License-Identifier: MIT */
/* Model of the non-coherent scalar data cache, which can check or replace coherent memory.
 *
 * Only dispatches that ask for it (enum wm_scalar_cache) have steps that use it. Each workgroup has its own
 * cache, empty at its start. Hardware shares one cache between several CUs and keeps it across workgroups, so
 * it may show effects that this model does not. 16 KiB of 64-byte lines (as in hardware), 4 ways, LRU
 * (unverified). */
#ifndef WMI_SMEM_CACHE_H
#define WMI_SMEM_CACHE_H

#include <stdbool.h>

struct wmi_workgroup;

/* Frees the workgroup's cache. Dirty data is lost, and reported if the workgroup has finished. */
void wmi_scalar_cache_end(struct wmi_workgroup *group, bool finished);

#endif
