/* SPDX-License-Identifier: MIT */
/* Uninitialised values: the fast path of accesses of which only the addresses matter. */
#include "check/races/runs.h"
#include "check/uninit/uninit.h"

enum { FEW = 4 /* maximum runs that are checked one by one */ };

/* Whether all bytes of the run are written; a store marks them as written. False: the whole access is
 * needed. */
static inline bool pass_run(struct wmi_written *written, uint64_t start, uint64_t end, bool stores, bool lds)
{
    if (stores && lds) {
        wmi_written_set_alone(written, start, end - start);
        return true;
    }
    if (wmi_written_has(written, start, end - start))
        return true;
    if (stores)
        wmi_written_set(written, start, end - start);
    return stores;
}

/* Whether there are many runs, and all bytes from the first to the last run are written. */
static inline bool is_range_written(const struct wmi_runs *runs, const struct wmi_written *written)
{
    const struct wmi_address_summary *summary = runs->summary;
    const uint64_t count = (uint64_t)__builtin_popcountll(runs->starts);
    uint32_t least = UINT32_MAX, most = 0;
    if (count <= FEW || summary->high || summary->lanes != WMI_ALL_LANES)
        return false;
    for (unsigned lane = 0; lane < WMI_LANES; lane++) {
        least = summary->low[lane] < least ? summary->low[lane] : least;
        most = summary->low[lane] > most ? summary->low[lane] : most;
    }
    const uint64_t from = runs->base + least, to = runs->base + most + runs->bytes;
    return (to - from) / 64 < 2 * count && from >= summary->from && to <= summary->to &&
           wmi_written_test(written, from, to - from);
}

/* Bytes of one word of the bit mask that have not been checked yet. */
struct word {
    uint64_t number, bytes;
    unsigned added; /* bytes that earlier words have added */
};

static inline bool pass_word(struct wmi_written *written, struct word *word, bool stores)
{
    if (stores)
        word->added += wmi_written_set_word(written, word->number, word->bytes);
    return stores || !(word->bytes & ~__atomic_load_n(&written->bits[word->number], __ATOMIC_RELAXED));
}

/* pass_run() for each lane; the lanes' bytes are scattered. */
static bool pass_lanes(struct wmi_written *written, const struct wmi_runs *runs, bool stores)
{
    const struct wmi_address_summary *summary = runs->summary;
    const uint64_t low = summary->from > written->low ? summary->from : written->low,
                   high = summary->to < written->high ? summary->to : written->high,
                   all = UINT64_MAX >> (64 - runs->bytes);
    struct word word = {0};
    bool ok = high > low && high - low >= runs->bytes;
    const uint64_t most = high - runs->bytes - low;
    for (uint64_t lanes = summary->lanes; ok && lanes; lanes &= lanes - 1) {
        const uint64_t address = wmi_runs_address(runs, (unsigned)__builtin_ctzll(lanes)),
                       at = address - written->low;
        const unsigned shift = at % 64;
        ok = address - low <= most;
        if (!ok)
            break;
        if (at / 64 != word.number) {
            ok = pass_word(written, &word, stores);
            word.number = at / 64;
            word.bytes = 0;
        }
        word.bytes |= all << shift;
        if (shift + runs->bytes > 64) {
            ok = ok && pass_word(written, &word, stores);
            word.number++;
            word.bytes = all >> (64 - shift);
        }
    }
    ok = ok && pass_word(written, &word, stores);
    wmi_written_add(written, word.added);
    return ok;
}

/* Handles accesses of waves without a shadow: loads of written bytes, and stores. */
bool WMI_BUILD_NAME(wmi_uninit_summary)(void *local, const struct wmi_address_summary *summary,
                                        uint32_t slot);
bool WMI_BUILD_NAME(wmi_uninit_summary)(void *local, const struct wmi_address_summary *summary, uint32_t slot)
{
    struct wmi_uninit_shard *shard = local;
    const bool lds = summary->shape >> 16 == WMI_SPACE_LDS;
    const unsigned places = summary->shape >> 8 & 0xff, bytes = summary->shape & 0xff;
    if (!shard->group || summary->wave >= shard->group->waves || slot >= shard->check->slots)
        return false;
    const struct wmi_shadow *shadow = shard->group->shadow[summary->wave];
    if (shadow && shadow->last) /* the shadow may be active */
        return false;
    struct wmi_written *written = lds ? &shard->group->lds : wmi_uninit_region(shard, summary->from, slot);
    if (!written || __atomic_load_n(&written->all, __ATOMIC_RELAXED))
        return true;
    const struct wmi_uninit_instruction *insn =
        wmi_uninit_instruction_of(shard->check, shard->check->slot[slot]);
    const bool stores = wmi_rows[insn->shadow.id].memory == WMI_MEMORY_STORE;
    if (written == &shard->check->scratch)
        return false;
    for (unsigned i = 0; i < places; i++) {
        struct wmi_runs runs = wmi_runs_begin(summary, summary->base + i * insn->distance, bytes, true);
        uint64_t start, end, before = 0, before_end = 0;
        if (is_range_written(&runs, written))
            continue;
        if (__builtin_popcountll(runs.starts) > FEW) {
            if (!pass_lanes(written, &runs, stores))
                return false;
            continue;
        }
        while (runs.starts) {
            wmi_runs_next(&runs, &start, &end);
            if (start == before && end == before_end)
                continue;
            if (start < summary->from || end > summary->to || end <= start ||
                !pass_run(written, start, end, stores, lds))
                return false;
            before = start;
            before_end = end;
        }
    }
    return true;
}
