/* SPDX-License-Identifier: MIT */
/* How misses are spread over the sets and channels of a cache. */
#ifndef WMI_PROFILE_SPREAD_H
#define WMI_PROFILE_SPREAD_H

#include "wavemem/wavemem.h"

enum { WMI_CHANNEL_BYTES = 256 /* neighbouring bytes of one channel of L2 (rocprofiler-compute) */ };

/* Sets the figures of the cache's sets and channels from its misses by set. The sets repeat the channels:
 * `sets` lines are a multiple of all channels' bytes; if not, the channels are left out. */
void wmi_spread(struct wm_profile_cache *row, const struct wm_cache *cache, const uint64_t *missed,
                uint32_t sets);

#endif
