/* SPDX-License-Identifier: MIT */
/* Counts accesses that are like one before them but for where they begin, by their outline alone. */
#include "base/vector_bits.h"
#include "profile/shard.h"

/* Whether the lanes have addresses high:low of the lane that is `first`, + relative, as long as none of these
 * sums leaves 32 bits. */
static inline __attribute__((always_inline)) bool
same_rows(const uint32_t *low, const uint32_t *high, const int32_t *relative, uint64_t lanes, unsigned first)
{
    u32v differs = wmi_splat_u32(0);
    const u32v low_first = wmi_splat_u32(low[first]), high_first = wmi_splat_u32(high ? high[first] : 0);
    for (unsigned lane = 0; lane < WMI_LANES; lane += WMI_VECTOR_LANES) {
        u32v other = (wmi_load_u32((const char *)(low + lane)) - low_first) ^
                     wmi_load_u32((const char *)(relative + lane));
        if (high)
            other |= wmi_load_u32((const char *)(high + lane)) ^ high_first;
        differs |= other & wmi_expand(lanes >> lane & ((1ULL << WMI_VECTOR_LANES) - 1));
    }
    return !wmi_any(differs);
}

/* Whether the memo remembers the access, whose first lane is at `base`. */
static inline __attribute__((always_inline)) bool
holds(const struct wmi_memo *memo, const struct wmi_outline *outline, unsigned first, uint64_t base)
{
    if (memo->shape != outline->shape || memo->lanes != outline->lanes ||
        (base ^ memo->base) % WMI_MEMO_PHASE)
        return false;
    const uint64_t lowest = base + (uint64_t)(int64_t)memo->lowest,
                   behind = base + (uint64_t)(int64_t)memo->behind;
    if (lowest < outline->from || behind > outline->to || behind < lowest)
        return false;
    if (!(outline->lanes & (outline->lanes - 1)))
        return true;
    const int64_t low = outline->low[first];
    if (low + memo->lowest_lane < 0 || low + memo->highest_lane > UINT32_MAX)
        return false;
    return outline->high
               ? same_rows(outline->low, outline->high, memo->element[0].relative, outline->lanes, first)
               : same_rows(outline->low, NULL, memo->element[0].relative, outline->lanes, first);
}

bool WMI_BUILD_NAME(wmi_repeat_outline)(void *local, const struct wmi_outline *outline, uint32_t slot);
bool WMI_BUILD_NAME(wmi_repeat_outline)(void *local, const struct wmi_outline *outline, uint32_t slot)
{
    struct wmi_shard *shard = local;
    if (slot >= shard->size)
        return false;
    struct wmi_shard_counts *of = &shard->counts[slot];
    if (shard->first_wave + outline->wave < of->quick_from)
        return !shard->first_wave; /* what is not in the sample is not looked at */
    const unsigned first = (unsigned)__builtin_ctzll(outline->lanes);
    uint64_t base = outline->base;
    if (outline->low)
        base += outline->low[first] | (outline->high ? (uint64_t)outline->high[first] << 32 : 0);
    struct wmi_memo *memo = of->memos[base / 4 % WMI_SHARD_MEMOS];
    if (!memo || !holds(memo, outline, first, base))
        return false;
    wmi_shard_count_depth(&of->counts, outline->depth);
    wmi_shard_repeat(shard, of, memo, outline->wave, base);
    return true;
}
