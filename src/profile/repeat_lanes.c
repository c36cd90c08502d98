/* SPDX-License-Identifier: MIT */
/* Counts accesses that are like one before them but for where they begin, by their outline alone. */
#include "base/vector_bits.h"
#include "profile/shard.h"

/* Whether the lanes have addresses high:low of the lane that is `first`, + relative, as long as none of these
 * sums leaves 32 bits. all: there are no others. */
static inline __attribute__((always_inline)) bool same_rows(const uint32_t *low, const uint32_t *high,
                                                            const struct wmi_pattern *pattern, unsigned first,
                                                            bool all)
{
    const uint64_t some = (1ULL << WMI_VECTOR_LANES) - 1;
    const u32v low_first = wmi_splat_u32(low[first]), high_first = wmi_splat_u32(high ? high[first] : 0);
    u32v differs = wmi_splat_u32(0);
    for (unsigned lane = 0; lane < WMI_LANES; lane += WMI_VECTOR_LANES) {
        u32v other = (wmi_load_u32((const char *)(low + lane)) - low_first) ^
                     wmi_load_u32((const char *)(pattern->relative + lane));
        if (high)
            other |= wmi_load_u32((const char *)(high + lane)) ^ high_first;
        if (!all)
            other &= wmi_expand(pattern->lanes >> lane & some);
        differs |= other;
    }
    return !wmi_any(differs);
}

/* Whether the memo remembers the access, whose first lane is at `base`. */
static inline __attribute__((always_inline)) bool
holds(const struct wmi_memo *memo, const struct wmi_outline *outline, unsigned first, uint64_t base)
{
    const uint64_t lanes = outline->lanes, lowest = base + (uint64_t)(int64_t)memo->lowest,
                   behind = base + (uint64_t)(int64_t)memo->behind;
    if ((memo->base ^ base) % WMI_MEMO_PHASE || memo->shape != outline->shape || lowest < outline->from ||
        behind > outline->to || behind < lowest)
        return false;
    const uint32_t *low = outline->low, *high = outline->high;
    if (!low)
        return true; /* then there never is but one lane */
    const struct wmi_pattern *pattern = memo->pattern;
    const int64_t at = low[first];
    if (pattern->lanes != lanes || at + pattern->lowest < 0 || at + pattern->highest > UINT32_MAX)
        return false;
    if (lanes == UINT64_MAX >> (64 - WMI_LANES))
        return high ? same_rows(low, high, pattern, 0, true) : same_rows(low, NULL, pattern, 0, true);
    return high ? same_rows(low, high, pattern, first, false) : same_rows(low, NULL, pattern, first, false);
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
    struct wmi_memo *memo = of->last;
    if (!memo || (memo->base ^ base) % WMI_MEMO_PHASE) {
        memo = of->memos[base / 4 % WMI_SHARD_MEMOS];
        of->last = memo;
    }
    if (!memo || !holds(memo, outline, first, base))
        return false;
    wmi_shard_count_depth(&of->counts, outline->depth);
    wmi_shard_repeat(shard, of, memo, outline->wave, base);
    return true;
}
