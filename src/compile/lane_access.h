/* SPDX-License-Identifier: MIT */
/* What global memory and LDS have in common: a dword per lane, at a distance from one place of the host. */
#ifndef WMI_LANE_ACCESS_H
#define WMI_LANE_ACCESS_H

#include "compile/stretch.h"

/* The mask of a strip's active lanes; none for a version in which all are active. */
static inline unsigned wmi_access_mask(const struct wmi_stretch *s, unsigned strip)
{
    return s->partial ? WMI_K_EXEC + strip : WMI_NO_MASK;
}

/* The register = the word in RAX in all lanes. */
void wmi_access_splat(struct wmi_stretch *s, unsigned reg);
/* Adds to k5 the active lanes of the strip for which `instruction` holds; `is_first`: k5 is those alone.
 * Changes k6. */
void wmi_access_collect(struct wmi_stretch *s, uint32_t instruction, unsigned a, unsigned b, unsigned mask,
                        int predicate, bool is_first);

/* Loads or stores the dwords of the active lanes at RCX + distance, in the order of lanes: of those that
 * write the same place, the highest one wins. All distances are in range and below 2^31. Each strip finds out
 * whether its places follow one another, are the same (for loads), or neither. `scratch`: two registers that
 * were taken before the code branched; `ahead`: how many bytes behind a run to prefetch, or 0. Needs R9 =
 * wmi_lane_offset; changes RAX, k5. */
void wmi_access_load(struct wmi_stretch *s, const struct wmi_rows *distance, const struct wmi_rows *d,
                     const uint8_t scratch[2], unsigned ahead);
void wmi_access_store(struct wmi_stretch *s, const struct wmi_rows *distance, const struct wmi_rows *data,
                      const uint8_t scratch[2], unsigned ahead);

#endif
