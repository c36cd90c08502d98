/* SPDX-License-Identifier: MIT */
/* Uninitialised values: accesses whose addresses are all that must be looked at. */
#include "check/uninit.h"

/* The least and the greatest of the lanes' offsets of 32 bits. */
static void find_ends(const struct wmi_outline *outline, unsigned lanes, uint32_t *low, uint32_t *high)
{
    const uint64_t all = UINT64_MAX >> (64 - lanes);
    uint32_t least = UINT32_MAX, most = 0;
    for (unsigned lane = 0; outline->lanes == all && lane < lanes; lane++) {
        least = outline->low[lane] < least ? outline->low[lane] : least;
        most = outline->low[lane] > most ? outline->low[lane] : most;
    }
    for (uint64_t left = outline->lanes == all ? 0 : outline->lanes; left; left &= left - 1) {
        const uint32_t at = outline->low[__builtin_ctzll(left)];
        least = at < least ? at : least;
        most = at > most ? at : most;
    }
    *low = least;
    *high = most;
}

/* Whether all bytes between the first and the last that the outline is about are written; quickly, so not of
 * those that are far from each other. */
static bool is_range_written(const struct wmi_outline *outline, const struct wmi_written *written,
                             unsigned lanes, uint64_t distance, unsigned bytes)
{
    uint32_t low, high;
    if (outline->high)
        return false;
    find_ends(outline, lanes, &low, &high);
    const uint64_t from = low + outline->base + distance, to = high + outline->base + distance;
    return to - from < 64 * 16 && from >= outline->from && to <= outline->to &&
           wmi_written_test(written, from, to + bytes - from);
}

/* The lanes' addresses in the place at `distance`; *low, *high: the least and the greatest. */
static void place_lanes(const struct wmi_outline *outline, uint64_t distance, uint64_t address[64],
                        uint64_t *low, uint64_t *high)
{
    const uint64_t base = outline->base + distance;
    *low = UINT64_MAX;
    *high = 0;
    for (uint64_t lanes = outline->lanes; lanes; lanes &= lanes - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(lanes);
        const uint64_t at =
            (outline->low[lane] | (outline->high ? (uint64_t)outline->high[lane] << 32 : 0)) + base;
        address[lane] = at;
        *low = at < *low ? at : *low;
        *high = at > *high ? at : *high;
    }
}

/* Whether the lanes' places are one run of bytes in their order. */
static bool is_in_order(const uint64_t address[64], uint64_t lanes, unsigned bytes)
{
    uint64_t next = address[__builtin_ctzll(lanes)];
    for (; lanes; lanes &= lanes - 1, next += bytes)
        if (address[__builtin_ctzll(lanes)] != next)
            return false;
    return true;
}

/* Accesses of waves without a twin: loads of written bytes, and stores. */
bool wmi_uninit_outline(void *local, const struct wmi_outline *outline, uint32_t slot)
{
    struct wmi_uninit_shard *shard = local;
    const enum wmi_address_space space = (enum wmi_address_space)(outline->shape >> 16);
    const unsigned places = outline->shape >> 8 & 0xff, bytes = outline->shape & 0xff;
    if (!shard->group || outline->wave >= shard->group->waves || slot >= shard->check->slots)
        return false;
    const struct wmi_twin *twin = shard->group->twin[outline->wave];
    if (twin && twin->last) /* perhaps active */
        return false;
    struct wmi_written *written =
        space == WMI_SPACE_LDS ? &shard->group->lds : wmi_uninit_region(shard, outline->from, slot);
    if (!written || __atomic_load_n(&written->all, __ATOMIC_RELAXED))
        return true;
    const struct wmi_uninit_instruction *insn =
        wmi_uninit_instruction_of(shard->check, shard->check->slot[slot]);
    if (bytes > 16 || written == &shard->check->scratch)
        return false;
    for (unsigned place = 0; place < places; place++) {
        uint64_t address[64], low, high;
        if (is_range_written(outline, written, shard->check->dispatch.wave_lanes, place * insn->distance,
                             bytes))
            continue;
        place_lanes(outline, place * insn->distance, address, &low, &high);
        if (low < outline->from || high > outline->to || outline->to - high < bytes)
            return false;
        if ((high - low < 64 * 16 && wmi_written_test(written, low, high + bytes - low)) ||
            wmi_written_test_each(written, address, outline->lanes, bytes))
            continue;
        if (wmi_rows[insn->twin.id].memory != WMI_MEMORY_STORE)
            return false;
        if (is_in_order(address, outline->lanes, bytes))
            wmi_written_set(written, low, high + bytes - low);
        else if (space == WMI_SPACE_LDS)
            wmi_written_set_each(written, address, outline->lanes, bytes);
        else
            return false;
    }
    return true;
}

bool wmi_uninit_outline_lane(void *local, uint32_t slot, uint32_t wave, uint32_t depth, uint64_t address,
                             const struct wmi_hit *hit)
{
    struct wmi_uninit_shard *shard = local;
    (void)depth;
    if (!shard->group || wave >= shard->group->waves || address < hit->low || address >= hit->high)
        return false;
    const struct wmi_twin *twin = shard->group->twin[wave];
    const struct wmi_written *written = wmi_uninit_region(shard, address, slot);
    return !(twin && twin->last) && (!written || __atomic_load_n(&written->all, __ATOMIC_RELAXED));
}
