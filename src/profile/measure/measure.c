/* SPDX-License-Identifier: MIT */
/* Counts the lines that an access touches, the lines that its data would fill, and its cost (cost.h).
 *
 * Lines = distinct lines with a byte of global memory that a lane accesses; ideal = number of such distinct
 * bytes divided by the line size, rounded up. Lanes that fail a check touch nothing. Lines are those of the
 * generation's vector cache: 64 bytes from gfx6 to gfx90a, 128 later (CDNA3 ISA; rocprofiler-compute's TCP
 * counters; AMD's RDNA white paper). */
#include "profile/measure/measure.h"

#include "observe/observer.h"
#include "profile/cost/banks.h"
#include "profile/cost/requested.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    SECTOR = 64, /* bytes per entry of struct sectors */
    SECTOR_SHIFT = 6,
    SECTOR_SLOTS = 8192, /* more than an access can touch; a power of two */
    DWORD = 4,
    SMEM_SHIFT = 6, /* lines of the scalar cache, on all generations */
};

static_assert((unsigned)SECTOR_SLOTS > (unsigned)WMI_REQUESTS, "an access fits into the set");

/* A hash table of sectors with the accessed bytes of each. An entry is valid if its stamp is `now`. */
struct sectors {
    struct {
        uint64_t key, bytes;
    } entry[SECTOR_SLOTS];
    uint32_t stamp[SECTOR_SLOTS], now;
};

struct wmi_measurer {
    const struct wmi_cost_rules *rules;
    unsigned wave_lanes, line_shift; /* line_shift: log2 of a line's bytes, for this access */
    struct sectors sectors;
    uint64_t order[WMI_REQUESTS]; /* sectors of global memory, in order of first access */
    uint32_t ordered;
    wmi_requested_find *find_requested;
    wmi_banks_find *find_banks;
    struct wmi_same same;
    /* Results of the fast paths for this access, if they applied: */
    bool has_requested, has_banks; /* in global memory; in LDS */
    struct wmi_requested requested;
    struct wmi_banks banks;
    struct wmi_requests room;
    struct wmi_measure measure;
};

/* Distinct bytes and lines of one address space in one access. */
struct touched {
    uint64_t bytes, lines;
};

static unsigned line_shift(const struct wmi_cost_rules *rules, unsigned path)
{
    return rules && path != WMI_PATH_SMEM ? rules->vector.tag_shift : SECTOR_SHIFT;
}

unsigned wmi_line_bytes(const struct wmi_cost_rules *rules, unsigned path)
{
    return 1u << line_shift(rules, path);
}

struct wmi_measurer *wmi_measurer_create(const struct wmi_cost_rules *rules, unsigned wave_lanes)
{
    struct wmi_measurer *measurer = aligned_alloc(alignof(struct wmi_measurer), sizeof *measurer);
    if (!measurer)
        return NULL;
    memset(measurer, 0, sizeof *measurer);
    measurer->rules = rules;
    measurer->wave_lanes = wave_lanes;
    measurer->find_requested = wmi_requested_finder(wmi_cpu_level(), wave_lanes);
    measurer->find_banks = wmi_banks_finder(wmi_cpu_level(), wave_lanes);
    return measurer;
}

/* ---- lines ---- */

/* The slot of the sector, or the slot in which to insert it. */
static size_t slot_of(const struct sectors *set, uint64_t key)
{
    size_t slot = key * 0x9e3779b97f4a7c15ULL >> 51;
    while (set->stamp[slot] == set->now && set->entry[slot].key != key)
        slot = (slot + 1) % SECTOR_SLOTS;
    return slot;
}

static bool has(const struct sectors *set, uint64_t key)
{
    return set->stamp[slot_of(set, key)] == set->now;
}

/* Sector numbers are below 2^58, so the number of the address space fits above them. */
static uint64_t key_of(uint64_t space, uint64_t address)
{
    return address / SECTOR | space << 60;
}

/* Adds the bytes from low to last, which lie in one sector. */
static void add_part(struct wmi_measurer *measurer, struct touched *touched, uint64_t space, uint64_t low,
                     uint64_t last)
{
    struct sectors *set = &measurer->sectors;
    const uint64_t key = key_of(space, low);
    const uint64_t mask = ~0ULL >> (SECTOR - 1 - (last - low)) << low % SECTOR;
    const size_t slot = slot_of(set, key);
    if (set->stamp[slot] != set->now) {
        set->stamp[slot] = set->now;
        set->entry[slot].key = key;
        set->entry[slot].bytes = mask;
        touched->bytes += last - low + 1;
        if (space != WMI_SPACE_GLOBAL)
            return;
        /* A line of two sectors counts once, even if both are touched. */
        touched->lines += measurer->line_shift == SECTOR_SHIFT || !has(set, key ^ 1);
        measurer->order[measurer->ordered++] = key;
        return;
    }
    const uint64_t more = mask & ~set->entry[slot].bytes;
    if (more == mask) /* avoids popcount, which is a call on baseline hosts */
        touched->bytes += last - low + 1;
    else if (more)
        touched->bytes += (uint64_t)__builtin_popcountll(more);
    set->entry[slot].bytes |= mask;
}

/* Adds the bytes from low to last. Ignores ranges that wrap around. */
static void add_range(struct wmi_measurer *measurer, struct touched *touched, uint64_t space, uint64_t low,
                      uint64_t last)
{
    for (; low / SECTOR < last / SECTOR; low = low / SECTOR * SECTOR + SECTOR)
        add_part(measurer, touched, space, low, low | (SECTOR - 1));
    if (low <= last)
        add_part(measurer, touched, space, low, last);
}

/* Merges the ranges of neighbouring lanes first, because most neighbours access adjacent or equal bytes. */
static void add_element(struct wmi_measurer *measurer, struct touched *touched,
                        const struct wmi_element *element, unsigned bytes)
{
    uint64_t left = element->mask & ~(element->bad_range | element->bad_align | element->bad_aperture);
    if (!left)
        return;
    uint64_t low = element->address[__builtin_ctzll(left)], last = low + bytes - 1;
    while (left &= left - 1) {
        const uint64_t at = element->address[__builtin_ctzll(left)];
        if (at == last + 1 && at) { /* no wrap-around */
            last += bytes;
        } else if (at < low || at + bytes - 1 > last) {
            add_range(measurer, touched, element->space, low, last);
            low = at;
            last = at + bytes - 1;
        }
    }
    add_range(measurer, touched, element->space, low, last);
}

/* Whether the access touches all bytes of a block of global memory. */
static bool is_full(const struct wmi_measurer *measurer, uint64_t block, unsigned shift)
{
    const struct sectors *set = &measurer->sectors;
    bool full = true;
    for (uint64_t at = block << shift, end = at + (1ULL << shift); at != end; at += SECTOR) {
        const size_t slot = slot_of(set, key_of(WMI_SPACE_GLOBAL, at));
        full &= set->stamp[slot] == set->now && set->entry[slot].bytes == ~0ULL;
    }
    return full;
}

uint32_t wmi_used_dwords(const struct wmi_access *access)
{
    uint32_t used = 0;
    for (unsigned e = 0; e < access->elements; e++) {
        const struct wmi_element *element = &access->element[e];
        uint64_t left = element->space == WMI_SPACE_GLOBAL ? element->mask : 0;
        left &= ~(element->bad_range | element->bad_align | element->bad_aperture);
        for (; left && used != UINT32_MAX; left &= left - 1) {
            const uint64_t at = element->address[__builtin_ctzll(left)];
            const uint64_t dwords = (at % DWORD + access->bytes + DWORD - 1) / DWORD;
            const uint64_t bits = (dwords < 32 ? 1ULL << dwords : 1ULL << 32) - 1;
            const uint64_t moved = bits << at / DWORD % 32;
            used |= (uint32_t)(moved | moved >> 32);
        }
    }
    return used;
}

/* ---- costs ---- */

/* Lists each block of a load or store once. Blocks of two sectors are listed in the order of their first
 * touched sector. */
static void list_blocks(struct wmi_measurer *measurer)
{
    struct wmi_measure *measure = &measurer->measure;
    struct wmi_requests *requests = &measure->requests;
    for (uint32_t i = 0; i < measurer->ordered; i++) {
        const uint64_t block = measurer->order[i] >> (measure->shift - SECTOR_SHIFT);
        bool listed = false;
        if (measure->shift > SECTOR_SHIFT && has(&measurer->sectors, measurer->order[i] ^ 1))
            for (uint32_t k = requests->count;
                 k-- > 0 && !listed;) /* searches backwards: most likely it is a recent one */
                listed = requests->block[k] == block;
        if (!listed)
            requests->block[requests->count++] = block;
    }
}

static unsigned block_shift(const struct wmi_access *access, const struct wmi_vector_rules *rules)
{
    return access->kind == WMI_ACCESS_LOAD ? rules->read_shift : rules->write_shift;
}

static void measure_vector(struct wmi_measurer *measurer, const struct wmi_access *access)
{
    struct wmi_measure *measure = &measurer->measure;
    const struct wmi_vector_rules *rules = &measurer->rules->vector;
    const bool requested = measurer->has_requested;
    measure->shift = block_shift(access, rules);
    const struct wmi_vector_cost cost =
        requested && !measurer->requested.quads
            ? measurer->requested.cost
            : wmi_coalesce_lanes(access, rules, measurer->wave_lanes,
                                 requested ? &measurer->room : &measure->requests);
    if (access->kind != WMI_ACCESS_ATOMIC && !requested)
        list_blocks(measurer);
    static const enum wmi_sum sums[] = {[WMI_ACCESS_LOAD] = WMI_SUM_READ_REQUESTS,
                                        [WMI_ACCESS_STORE] = WMI_SUM_WRITE_REQUESTS,
                                        [WMI_ACCESS_ATOMIC] = WMI_SUM_ATOMIC_REQUESTS};
    measure->sum[sums[access->kind]] = measure->requests.count;
    measure->sum[WMI_SUM_FAST] = cost.fast;
    measure->sum[WMI_SUM_QUADS] = cost.quads;
    measure->sum[WMI_SUM_ADDRESS_CLOCKS] = cost.clocks;
    const uint32_t data =
        (measure->sum[WMI_SUM_BYTES_REQUESTED] + rules->data_bytes - 1u) / rules->data_bytes;
    measure->sum[WMI_SUM_DATA_CLOCKS] = data > cost.bank_clocks ? data : cost.bank_clocks;
    measure->sum[WMI_SUM_TAG_LOOKUPS] = cost.lookups;
    measure->sum[WMI_SUM_TAG_CLOCKS] = cost.tag_clocks;
    measure->sum[WMI_SUM_PREDICTED_TAGS] =
        access->kind == WMI_ACCESS_STORE ? cost.store_clocks : cost.tag_clocks;
    measure->sum[WMI_SUM_COLLAPSED] = cost.collapsed;
    for (uint32_t i = 0; access->kind == WMI_ACCESS_STORE && !requested && i < measure->requests.count; i++)
        measure->full[i] = is_full(measurer, measure->requests.block[i], measure->shift);
}

static void measure_lds(struct wmi_measurer *measurer, const struct wmi_access *access)
{
    struct wmi_measure *measure = &measurer->measure;
    const struct wmi_lds_rules *rules = &measurer->rules->lds;
    measure->lds =
        measurer->has_banks && wmi_lds_by_halves(access, rules)
            ? wmi_lds_passes_of(&measurer->banks, measurer->wave_lanes)
            : wmi_lds_passes_by(access, rules, measurer->wave_lanes, measurer->find_banks, &measurer->same);
    measure->sum[WMI_SUM_LDS_PASSES] = measure->lds.passes;
    measure->sum[WMI_SUM_LDS_CONFLICTS] = measure->lds.conflicts;
    measure->sum[WMI_SUM_LDS_SERIAL] = measure->lds.serial;
}

/* The fast paths, for most accesses: one naturally aligned element per lane, whose size is a power of two.
 * addresses: of the first element. False: the fast paths do not apply, and nothing was counted. */
static bool touch_quickly(struct wmi_measurer *measurer, const struct wmi_access *access,
                          struct wmi_lane_addresses addresses, struct touched touched[WMI_SPACE_COUNT])
{
    const struct wmi_element *element = &access->element[0];
    measurer->has_requested = measurer->has_banks = false;
    if (access->elements != 1 || access->path == WMI_PATH_SMEM || !access->bytes ||
        access->bytes > WMI_REQUESTED_MOST || (access->bytes & (access->bytes - 1)))
        return false;
    const uint64_t lanes = element->mask & ~(element->bad_range | element->bad_align | element->bad_aperture);
    const struct wmi_cost_rules *rules = measurer->rules;
    if (!lanes)
        return true;
    const unsigned banks = rules ? rules->lds.banks : WMI_BANKS_MOST;
    if (element->space == WMI_SPACE_LDS && access->bytes == DWORD &&
        measurer->find_banks(&measurer->same, addresses, lanes, banks, access->kind != WMI_ACCESS_ATOMIC,
                             &measurer->banks) &&
        measurer->banks.aligned) {
        touched[WMI_SPACE_LDS].bytes = DWORD * measurer->banks.different;
        measurer->has_banks = true;
        return true;
    }
    const bool global = element->space == WMI_SPACE_GLOBAL;
    const struct wmi_request_query query = {
        .at = addresses,
        .mask = lanes,
        .kind = global ? access->kind : WMI_ACCESS_LOAD,
        .bytes = access->bytes,
        .block_shift = (uint8_t)(rules && global ? block_shift(access, &rules->vector) : SECTOR_SHIFT),
        .line_shift = (uint8_t)measurer->line_shift,
        .lookup_lanes = (uint8_t)(rules ? wmi_coalesce_step(access, &rules->vector) : 0),
        .may_be_fast = rules && wmi_coalesce_narrow(access, &rules->vector),
        .banked = rules && wmi_coalesce_banked(access, &rules->vector),
        .rules = rules && global ? &rules->vector : NULL,
    };
    if (!measurer->find_requested(&measurer->same, &query, &measurer->requested))
        return false;
    touched[element->space].bytes = (uint64_t)measurer->requested.different * access->bytes;
    touched[element->space].lines = measurer->requested.lines;
    measurer->has_requested = global;
    if (global && rules) /* other accesses make no requests to the vector cache */
        measurer->measure.requests.count = measurer->requested.count;
    return true;
}

/* Lists the lines that a scalar access requests. */
static void ask_scalar(struct wmi_measure *measure, const struct wmi_access *access)
{
    const struct wmi_element *element = &access->element[0];
    const uint64_t low = element->address[0], last = low + access->bytes - 1;
    measure->shift = SMEM_SHIFT;
    if (element->mask & ~element->bad_range & 1 && low <= last)
        for (uint64_t block = low >> SMEM_SHIFT; block <= last >> SMEM_SHIFT; block++)
            measure->requests.block[measure->requests.count++] = block;
}

static void begin(struct wmi_measurer *measurer, const struct wmi_access *access)
{
    struct wmi_measure *measure = &measurer->measure;
    memset(measure->sum, 0, sizeof measure->sum);
    measure->lds = (struct wmi_lds_cost){0};
    measure->requests.count = 0;
    measurer->ordered = 0;
    measurer->line_shift = line_shift(measurer->rules, access->path);
}

/* The general case of touch_quickly(). */
static void touch(struct wmi_measurer *measurer, const struct wmi_access *access,
                  struct touched touched[WMI_SPACE_COUNT])
{
    if (++measurer->sectors.now == 0) {
        memset(measurer->sectors.stamp, 0, sizeof measurer->sectors.stamp);
        measurer->sectors.now = 1;
    }
    for (unsigned i = 0; i < access->elements; i++)
        add_element(measurer, &touched[access->element[i].space], &access->element[i], access->bytes);
}

/* Sets the sums and costs of an access from the bytes and lines that it touched. */
static void sum_up(struct wmi_measurer *measurer, const struct wmi_access *access,
                   const struct touched touched[WMI_SPACE_COUNT])
{
    struct wmi_measure *measure = &measurer->measure;
    const uint32_t lanes = (uint32_t)__builtin_popcountll(access->lanes);
    measure->sum[WMI_SUM_LANES] = lanes;
    measure->sum[WMI_SUM_BYTES_REQUESTED] = lanes * access->elements * access->bytes;
    for (unsigned space = 0; space <= WMI_SPACE_GDS; space++)
        measure->sum[WMI_SUM_DISTINCT_BYTES] += (uint32_t)touched[space].bytes;
    const struct touched *global = &touched[WMI_SPACE_GLOBAL];
    measure->sum[WMI_SUM_LINES] = (uint32_t)global->lines;
    measure->sum[WMI_SUM_IDEAL_LINES] =
        (uint32_t)((global->bytes + (1u << measurer->line_shift) - 1) >> measurer->line_shift);
    if (!measurer->rules || access->path == WMI_PATH_GDS)
        return;
    if (access->path == WMI_PATH_SMEM) {
        ask_scalar(measure, access);
        return;
    }
    if (access->path != WMI_PATH_DS)
        measure_vector(measurer, access);
    if (access->path == WMI_PATH_DS || access->path == WMI_PATH_FLAT)
        measure_lds(measurer, access);
}

/* Lists the requests that the fast path found. */
static void list_requested(struct wmi_measurer *measurer)
{
    struct wmi_measure *measure = &measurer->measure;
    const struct wmi_requested *requested = &measurer->requested;
    for (uint32_t i = 0; i < measure->requests.count; i++)
        measure->requests.block[i] =
            (requested->base + ((uint64_t)requested->block[i] << measure->shift)) >> measure->shift;
    memcpy(measure->full, requested->full, measure->requests.count);
}

const struct wmi_measure *wmi_measure(struct wmi_measurer *measurer, const struct wmi_access *access)
{
    const struct wmi_lane_addresses addresses = {.address =
                                                     access->elements ? access->element[0].address : NULL};
    struct touched touched[WMI_SPACE_COUNT] = {0};
    begin(measurer, access);
    const bool quickly = touch_quickly(measurer, access, addresses, touched);
    if (!quickly)
        touch(measurer, access, touched);
    measurer->measure.used =
        quickly && measurer->has_requested ? measurer->requested.used : wmi_used_dwords(access);
    sum_up(measurer, access, touched);
    if (quickly && measurer->has_requested)
        list_requested(measurer);
    return &measurer->measure;
}

const struct wmi_measure *wmi_measure_summary(struct wmi_measurer *measurer, enum wmi_path path,
                                              enum wmi_access_kind kind,
                                              const struct wmi_address_summary *summary,
                                              const struct wmi_requested **requested)
{
    const enum wmi_address_space space = wmi_shape_space(summary->shape);
    const uint8_t bytes = wmi_shape_bytes(summary->shape);
    struct touched touched[WMI_SPACE_COUNT] = {0};
    if (!measurer->rules || summary->shape != wmi_access_shape(space, 1, bytes) ||
        summary->to - summary->from < bytes || (space != WMI_SPACE_GLOBAL && bytes != DWORD))
        return NULL;
    struct wmi_access access; /* members that the fast paths do not read stay uninitialised */
    access.path = path;
    access.kind = kind;
    access.lanes = summary->lanes;
    access.elements = 1;
    access.bytes = bytes;
    access.element[0] = (struct wmi_element){.space = space, .mask = summary->lanes};
    const struct wmi_lane_addresses addresses = {.summary = summary};
    begin(measurer, &access);
    if (!touch_quickly(measurer, &access, addresses, touched) ||
        !(measurer->has_banks ? wmi_lds_by_halves(&access, &measurer->rules->lds)
                              : measurer->has_requested && !measurer->requested.quads))
        return NULL;
    measurer->measure.used = measurer->has_requested ? measurer->requested.used : 0;
    *requested = measurer->has_requested ? &measurer->requested : NULL;
    sum_up(measurer, &access, touched);
    return &measurer->measure;
}
