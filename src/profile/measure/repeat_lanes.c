/* SPDX-License-Identifier: MIT */
/* Counts accesses that repeat an earlier pattern, from their address summaries alone. */
#include "base/vector_bits.h"
#include "profile/measure/shard.h"

/* Counts the access if its lanes have the memo's relative addresses. The offsets of all lanes must fit into
 * 32 bits. wide: the summary has upper halves of addresses. all: all lanes are active. */
static inline __attribute__((always_inline)) bool finish(struct wmi_shard *shard, struct wmi_shard_counts *of,
                                                         struct wmi_memo *memo,
                                                         const struct wmi_address_summary *summary,
                                                         uint64_t base, bool wide, bool all)
{
    const struct wmi_access_pattern *pattern = memo->pattern;
    const uint64_t some = (1ULL << WMI_VECTOR_LANES) - 1;
    const unsigned first = all ? 0 : (unsigned)__builtin_ctzll(memo->lanes);
    const uint32_t *low = summary->low, *high = summary->high;
    const u32v low_first = wmi_splat_u32(low[first]), high_first = wmi_splat_u32(wide ? high[first] : 0);
    u32v differs = wmi_splat_u32(0);
    for (unsigned lane = 0; lane < WMI_LANES; lane += WMI_VECTOR_LANES) {
        u32v other = (wmi_load_u32((const char *)(low + lane)) - low_first) ^
                     wmi_load_u32((const char *)(pattern->relative + lane));
        if (wide)
            other |= wmi_load_u32((const char *)(high + lane)) ^ high_first;
        if (!all)
            other &= wmi_expand(memo->lanes >> lane & some);
        differs |= other;
    }
    if (wmi_any(differs))
        return false;
    wmi_shard_count_depth(&of->counts, summary->depth);
    return wmi_shard_repeat(shard, of, memo, summary->wave, base);
}

/* Separate functions reduce register pressure. */
#define FINISH(name, wide, all)                                                                              \
    static __attribute__((noinline)) bool name(struct wmi_shard *shard, struct wmi_shard_counts *of,         \
                                               struct wmi_memo *memo,                                        \
                                               const struct wmi_address_summary *summary, uint64_t base)     \
    {                                                                                                        \
        return finish(shard, of, memo, summary, base, wide, all);                                            \
    }
FINISH(finish_wide, true, true)
FINISH(finish_wide_some, true, false)
FINISH(finish_narrow, false, true)
FINISH(finish_narrow_some, false, false)

bool WMI_BUILD_NAME(wmi_repeat_summary)(void *local, const struct wmi_address_summary *summary,
                                        uint32_t slot);
bool WMI_BUILD_NAME(wmi_repeat_summary)(void *local, const struct wmi_address_summary *summary, uint32_t slot)
{
    struct wmi_shard *shard = local;
    if (slot >= shard->size)
        return false;
    struct wmi_shard_counts *of = &shard->counts[slot];
    if (shard->first_wave + summary->wave < of->quick_from)
        return !shard->first_wave /* not sampled: there is nothing to do */ ||
               wmi_shard_measure(shard, of, summary, slot);
    const unsigned first = (unsigned)__builtin_ctzll(summary->lanes);
    const uint32_t low = summary->low[first], *high = summary->high;
    const uint64_t base = summary->base + (low | (high ? (uint64_t)high[first] << 32 : 0));
    struct wmi_memo *memo = wmi_memos_at(&of->memos, base);
    if (!memo || memo->shape != summary->shape || wmi_shard_is_scratch(shard, base) ||
        !wmi_memo_within(memo, base, summary->from, summary->to))
        return false;
    if (memo->lanes != summary->lanes || (int64_t)low + memo->lowest < 0 ||
        (int64_t)low + memo->behind > UINT32_MAX)
        return false;
    if (memo->lanes == UINT64_MAX >> (64 - WMI_LANES))
        return high ? finish_wide(shard, of, memo, summary, base)
                    : finish_narrow(shard, of, memo, summary, base);
    return high ? finish_wide_some(shard, of, memo, summary, base)
                : finish_narrow_some(shard, of, memo, summary, base);
}
