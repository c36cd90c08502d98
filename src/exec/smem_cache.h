/* SPDX-License-Identifier: MIT */
/* The scalar data cache as a thing that may be stale: a model that can check or replace coherent memory.
 *
 * Only dispatches that ask for it (enum wm_scalar_cache) have steps that use it. Each workgroup has a cache
 * of its own that is empty when it starts; hardware shares one between some compute units and keeps it from
 * workgroup to workgroup, so it may show what this one does not. 16 KiB of 64-byte lines (hardware's), 4
 * ways, least recently used out first (unverified). */
#ifndef WMI_SMEM_CACHE_H
#define WMI_SMEM_CACHE_H

#include <stdbool.h>

struct wmi_workgroup;

/* Ends the workgroup's cache. What it never wrote back is lost, and found if the workgroup has finished. */
void wmi_scalar_cache_end(struct wmi_workgroup *group, bool finished);

#endif
