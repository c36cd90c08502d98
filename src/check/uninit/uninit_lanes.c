/* SPDX-License-Identifier: MIT */
/* Uninitialised values: the fast path of accesses of which only the addresses matter. */
#include "check/races/runs.h"
#include "check/uninit/uninit.h"

#include <stdalign.h>

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

/* No other thread changes the mask meanwhile. */
static inline bool pass_word(struct wmi_written *written, struct word *word, bool stores)
{
    const uint64_t missing = word->bytes & ~written->bits[word->number];
    if (stores && missing) {
        written->bits[word->number] |= missing;
        word->added += (unsigned)__builtin_popcountll(missing);
    }
    return stores || !missing;
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

/* Lanes of which each accesses bytes of a word of its own. */
struct apart {
    alignas(64) uint32_t word[WMI_LANES + 1]; /* four times the word's number, as wmi_gather_u64() takes it */
    alignas(64) uint64_t bytes[WMI_LANES];
};

/* Finds the words of all lanes. False: they do not ascend, or may be out of bounds. */
static bool find_apart(const struct wmi_written *written, const struct wmi_runs *runs, struct apart *apart)
{
    const struct wmi_address_summary *summary = runs->summary;
    const uint64_t low = summary->from > written->low ? summary->from : written->low,
                   high = summary->to < written->high ? summary->to : written->high,
                   all = UINT64_MAX >> (64 - runs->bytes), first = low - written->low;
    if (summary->lanes != WMI_ALL_LANES || high <= low || high - low < runs->bytes ||
        high - written->low > UINT32_MAX)
        return false;
    const uint64_t most = high - runs->bytes - low, base = runs->base - written->low;
    const uint32_t *const upper = summary->high ? summary->high : NULL;
    uint64_t bad = 0;
    uint32_t sinks = 0;
    for (unsigned lane = 0; lane < WMI_LANES; lane++) {
        const uint64_t at = base + (summary->low[lane] | (upper ? (uint64_t)upper[lane] << 32 : 0));
        bad |= (uint64_t)(at - first > most) | (uint64_t)(at % 64 + runs->bytes > 64);
        apart->word[lane] = (uint32_t)at / 64 * 4;
        apart->bytes[lane] = all << at % 64;
    }
    apart->word[WMI_LANES] = UINT32_MAX;
    for (unsigned lane = 0; lane < WMI_LANES; lane++)
        sinks |= apart->word[lane + 1] <= apart->word[lane];
    return !bad && !sinks;
}

/* pass_lanes() for such lanes. */
static bool pass_apart(struct wmi_written *written, const struct apart *apart, bool stores)
{
    enum { WORDS = WMI_VECTOR_BYTES / 8, ALL = (1 << WORDS) - 1 };
    unsigned added = 0;
    for (unsigned lane = 0; lane < WMI_LANES; lane += WORDS) {
        const u64v bytes = *(const u64v *)&apart->bytes[lane],
                   old = wmi_gather_u64(written->bits, &apart->word[lane], ALL), missing = bytes & ~old;
        if (wmi_equal_bits_u64(missing, wmi_splat_u64(0)) == ALL)
            continue;
        if (!stores)
            return false;
        wmi_scatter_u64(written->bits, &apart->word[lane], ALL, old | bytes);
        for (unsigned i = 0; i < WORDS; i++)
            added += (unsigned)__builtin_popcountll(missing[i]);
    }
    wmi_written_add(written, added);
    return true;
}

/* Checks or marks the bytes of scattered lanes. What is not LDS may be changed by the host, too, but only
 * under the lock; one lock for all lanes takes less time than an atomic operation for each. */
static bool pass_scattered(struct wmi_uninit *check, struct wmi_written *written, const struct wmi_runs *runs,
                           bool stores, bool lds)
{
    struct apart apart;
    if (!lds)
        pthread_mutex_lock(&check->lock);
    const bool ok = find_apart(written, runs, &apart) ? pass_apart(written, &apart, stores)
                                                      : pass_lanes(written, runs, stores);
    if (!lds)
        pthread_mutex_unlock(&check->lock);
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
            if (!pass_scattered(shard->check, written, &runs, stores, lds))
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
