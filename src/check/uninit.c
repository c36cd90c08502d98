/* SPDX-License-Identifier: MIT */
/* The checker of uninitialised values: which bytes nobody wrote, and what depends on those that are loaded.
 *
 * A load of such bytes is not an error by itself: code copies padding, updates bit fields, and loads what it
 * then does not use. So a wave that loads them gets a twin (check/twin.h), in which they have other values.
 * It is an error when the two differ in what they do: in a branch, in EXEC, in an address, in what they store
 * to global memory, in a message. */
#include "check/checker.h"
#include "check/twin.h"
#include "check/undefined.h"
#include "check/written.h"

#include "sem/sem.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK = 1 << 10, /* instructions; chunks never move, because twins point to them */
    CHUNKS = 1 << 12,
    ORIGINS = 1 << 16,
    RECENT = 64,
    LOOK_AFTER = 64, /* instructions between two looks whether a twin still differs */
    TEXT = 256,
};

/* What memory an undefined value was loaded from. */
enum source { SOURCE_GLOBAL, SOURCE_LDS, SOURCE_SCRATCH, SOURCES };

/* What depends on it. */
enum use { USE_BRANCH, USE_EXEC, USE_ADDRESS, USE_STORE, USE_MESSAGE, USE_ATOMIC, USES };

/* Where an undefined value comes from: a load, by its first case. */
struct origin {
    uint64_t pc, address, bytes, group;
    uint32_t wave, launch;
    enum source source;
    bool partial; /* other bytes of the lane's access were written: perhaps padding */
};

struct instruction {
    struct wmi_twin_instruction twin;
    uint64_t distance; /* DS: from its first place to the second */
    /* Memory: how bytes become registers; opaque: in another way. */
    bool is_signed, d16, d16_hi, opaque;
};

struct group { /* a workgroup that runs */
    struct group *next;
    uint64_t number;
    uint32_t waves;
    struct wmi_written lds;
    struct wmi_undefined lds_values, scratch_values;
    struct wmi_twin *twin[]; /* of each wave; NULL: it never had one */
};

struct checker;

struct shard { /* of the one thread of a dispatch */
    struct checker *check;
    struct group *group, *unused; /* whose turn it is; and those that have ended */
    struct recent {
        uint64_t low, high;
        struct wmi_written *region;
    } recent[RECENT]; /* by slot: what is known of the addresses in [low, high) */
    uint64_t seen;    /* generation of the regions that `recent` knows */
    bool missed;
    uint64_t moved_pc;        /* of the instruction whose bytes are on their way to LDS */
    uint64_t moved_bytes[64]; /* of each lane: a bit per byte that is undefined */
    uint32_t moved_origin;
};

struct checker {
    bool origins;
    struct wmi_observer observer;
    struct wmi_check_dispatch dispatch;
    uint32_t waves; /* of a workgroup */
    struct instruction *chunk[CHUNKS];
    uint32_t instructions, decoded; /* decoded: number of the last one */
    uint32_t *slot;                 /* number of the instruction of each slot */
    uint32_t slots;
    const char *missed;
    struct wmi_found_set findings;
    struct origin *origin; /* [1, origin_count]: over all dispatches */
    uint32_t origin_count;
    struct wmi_undefined values; /* of global memory */
    struct wmi_written scratch;
    uint32_t *scratch_high; /* of each wave's piece: bytes that may be written */
    size_t pieces;
    /* Global memory, sorted by address. The host may change it while a dispatch runs. */
    pthread_mutex_t lock;
    struct wmi_written **region;
    size_t regions, room;
    struct wmi_written **retired; /* until no dispatch runs */
    size_t retired_count;
    uint64_t generation; /* counts changes of the regions */
};

static const char no_memory[] = "no memory for all that was to be checked";

/* ---- rules ---- */

/* Details of findings. */
enum { USE, OTHER_PC, SOURCE, PARTIAL };

static const char *const source_names[] = {
    [SOURCE_GLOBAL] = "global memory", [SOURCE_LDS] = "LDS", [SOURCE_SCRATCH] = "private memory"};

static void other_text(const struct wmi_words *words, const struct wmi_found *found, char *text, size_t size)
{
    struct wm_profile_row row = {.pc = found->detail[OTHER_PC]};
    words->describe(words->user, 0, &row);
    if (row.file && row.line)
        snprintf(text, size, "'%s' in line %u", row.text ? row.text : "?", row.line);
    else
        snprintf(text, size, "'%s' at %s+0x%" PRIx64, row.text ? row.text : "?", row.kernel ? row.kernel : "",
                 row.offset);
}

static void word_load(const struct wmi_words *words, const struct wmi_found *found, char *message,
                      size_t size)
{
    static const char *const uses[] = {
        [USE_BRANCH] = "the branch %s depends on them",
        [USE_EXEC] = "the active lanes after %s depend on them",
        [USE_ADDRESS] = "the address of %s depends on them",
        [USE_STORE] = "%s stores a value that depends on them",
        [USE_MESSAGE] = "the message of %s depends on them",
    };
    const enum use use = (enum use)found->detail[USE];
    char other[TEXT], tail[2 * TEXT];
    const int length =
        snprintf(message, size, "reads %" PRIu64 " byte%s of %s that nobody wrote", found->bytes,
                 found->bytes == 1 ? "" : "s", source_names[found->detail[SOURCE]]);
    if (use == USE_ATOMIC || length < 0 || (size_t)length >= size)
        return;
    other_text(words, found, other, sizeof other);
    const char *at = strstr(uses[use], "%s");
    snprintf(tail, sizeof tail, "%.*s%s%s", (int)(at - uses[use]), uses[use], other, at + 2);
    snprintf(message + length, size - (size_t)length, ", and %s", tail);
}

static void word_use(const struct wmi_words *words, const struct wmi_found *found, char *message, size_t size)
{
    static const char *const uses[] = {
        [USE_BRANCH] = "the condition of the branch depends",
        [USE_EXEC] = "which lanes are active from here on depends",
        [USE_ADDRESS] = "the address depends",
        [USE_STORE] = "the stored value depends",
        [USE_MESSAGE] = "the message depends",
        [USE_ATOMIC] = "the result depends",
    };
    char other[TEXT];
    other_text(words, found, other, sizeof other);
    snprintf(message, size, "%s on %" PRIu64 " byte%s of %s that nobody wrote%s%s", uses[found->detail[USE]],
             found->bytes, found->bytes == 1 ? "" : "s", source_names[found->detail[SOURCE]],
             found->detail[USE] == USE_ATOMIC ? "" : ", loaded by ",
             found->detail[USE] == USE_ATOMIC ? "" : other);
}

#define REMEDY "write the bytes before they are read; LDS, private memory and new allocations have no values"

static const struct wmi_check_rule load_rules[SOURCES] = {
    [SOURCE_GLOBAL] = {.name = "uninit-global",
                       .class = WM_CHECK_UNINIT,
                       .remedy = REMEDY,
                       .word = word_load},
    [SOURCE_LDS] = {.name = "uninit-lds", .class = WM_CHECK_UNINIT, .remedy = REMEDY, .word = word_load},
    [SOURCE_SCRATCH] = {.name = "uninit-scratch",
                        .class = WM_CHECK_UNINIT,
                        .remedy = REMEDY,
                        .word = word_load},
};

static const struct wmi_check_rule use_rules[USES] = {
#define USE(use, text)                                                                                       \
    [use] = {.name = text, .class = WM_CHECK_ORIGINS, .remedy = REMEDY, .has_first = true, .word = word_use}
    USE(USE_BRANCH, "uninit-branch"), USE(USE_EXEC, "uninit-exec"),       USE(USE_ADDRESS, "uninit-address"),
    USE(USE_STORE, "uninit-store"),   USE(USE_MESSAGE, "uninit-message"), USE(USE_ATOMIC, "uninit-atomic"),
#undef USE
};

/* ---- findings ---- */

static struct instruction *instruction_of(const struct checker *check, uint32_t number)
{
    return &check->chunk[number / CHUNK][number % CHUNK];
}

/* The number of the load's origin; 0: no memory. */
static uint32_t add_origin(struct shard *shard, const struct origin *origin)
{
    struct checker *check = shard->check;
    for (uint32_t i = check->origin_count; i; i--)
        if (check->origin[i].pc == origin->pc && check->origin[i].partial == origin->partial &&
            check->origin[i].source == origin->source)
            return i;
    if (check->origin_count + 1 >= ORIGINS)
        return 0;
    if (!check->origin && !(check->origin = malloc(ORIGINS * sizeof *check->origin))) {
        shard->missed = true;
        return 0;
    }
    check->origin[++check->origin_count] = *origin;
    return check->origin_count;
}

/* Instruction `pc` of the wave makes use of a value from the origin. */
static void add_use(struct shard *shard, uint32_t number, enum use use, uint64_t pc, uint32_t wave,
                    uint64_t lanes)
{
    const struct checker *check = shard->check;
    const struct origin *origin = &check->origin[number];
    struct wmi_found found = {
        .count = 1,
        .launch = check->dispatch.launch,
        .has_wave = true,
        .wave = wave,
        .group = shard->group->number,
        .lanes = lanes,
        .space = origin->source == SOURCE_LDS ? WMI_SPACE_LDS : WMI_SPACE_GLOBAL,
        .address = origin->address,
        .bytes = origin->bytes,
        .detail = {[USE] = use, [SOURCE] = origin->source, [PARTIAL] = origin->partial},
    };
    if (!number)
        return;
    if (check->origins) {
        found.rule = &use_rules[use];
        found.pc = pc;
        found.first_pc = found.detail[OTHER_PC] = origin->pc;
    } else {
        found.rule = &load_rules[origin->source];
        found.pc = origin->pc;
        found.detail[OTHER_PC] = pc;
    }
    shard->missed |= !wmi_found_add(&shard->check->findings, &found);
}

/* ---- global memory ---- */

/* Index of the first region that ends above the address. */
static size_t first_above(const struct checker *check, uint64_t address)
{
    size_t from = 0, to = check->regions;
    while (from < to) {
        const size_t middle = (from + to) / 2;
        if (check->region[middle]->high <= address)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static struct wmi_written *region_at(const struct checker *check, uint64_t address)
{
    const size_t at = first_above(check, address);
    return at < check->regions && check->region[at]->low <= address ? check->region[at] : NULL;
}

static void add_region(struct checker *check, uint64_t address, uint64_t size)
{
    struct wmi_written *region = malloc(sizeof *region);
    if (check->regions == check->room) {
        const size_t room = check->room ? 2 * check->room : 64;
        struct wmi_written **more = realloc(check->region, room * sizeof(struct wmi_written *));
        if (more) {
            check->region = more;
            check->room = room;
        }
    }
    if (!region || check->regions == check->room || !wmi_written_create(region, address, address + size)) {
        free(region);
        check->missed = no_memory;
        return;
    }
    const size_t at = first_above(check, address);
    memmove(check->region + at + 1, check->region + at, (check->regions - at) * sizeof(struct wmi_written *));
    check->region[at] = region;
    check->regions++;
    __atomic_fetch_add(&check->generation, 1, __ATOMIC_RELEASE);
}

static void destroy_region(struct wmi_written *region)
{
    wmi_written_destroy(region);
    free(region);
}

static void free_retired(struct checker *check)
{
    for (size_t i = 0; i < check->retired_count; i++)
        destroy_region(check->retired[i]);
    free(check->retired);
    check->retired = NULL;
    check->retired_count = 0;
}

/* Forgets the region, which a dispatch that runs may still look at. */
static void remove_region(struct checker *check, size_t at)
{
    struct wmi_written *region = check->region[at];
    struct wmi_written **more =
        realloc(check->retired, (check->retired_count + 1) * sizeof(struct wmi_written *));
    if (!more) { /* it stays, as written */
        wmi_written_set(region, region->low, region->high - region->low);
        return;
    }
    check->retired = more;
    check->retired[check->retired_count++] = region;
    check->regions--;
    memmove(check->region + at, check->region + at + 1, (check->regions - at) * sizeof(struct wmi_written *));
    __atomic_fetch_add(&check->generation, 1, __ATOMIC_RELEASE);
}

static void see_memory(void *self, const struct wm_event *event)
{
    struct checker *check = self;
    const struct wm_memory *memory = &event->memory;
    pthread_mutex_lock(&check->lock);
    struct wmi_written *region = region_at(check, memory->address);
    switch (event->kind) {
    case WM_EVENT_ALLOCATE:
        if (!region)
            add_region(check, memory->address, memory->size);
        break;
    case WM_EVENT_FREE:
        if (region)
            remove_region(check, first_above(check, memory->address));
        break;
    case WM_EVENT_HOST_WRITE:
    case WM_EVENT_HOST_POINTER:
        if (region)
            wmi_written_set(region, memory->address, memory->size);
        break;
    default:
        break;
    }
    pthread_mutex_unlock(&check->lock);
}

/* The region of an address, or NULL: all of it is written. */
static struct wmi_written *find_region(struct shard *shard, uint64_t address, uint32_t slot)
{
    struct checker *check = shard->check;
    struct recent *recent = &shard->recent[slot % RECENT];
    if (__builtin_expect(__atomic_load_n(&check->generation, __ATOMIC_ACQUIRE) != shard->seen, 0)) {
        memset(shard->recent, 0, sizeof shard->recent);
        shard->seen = __atomic_load_n(&check->generation, __ATOMIC_ACQUIRE);
    }
    if (__builtin_expect(address >= recent->low && address < recent->high, 1))
        return recent->region;
    if (address >= check->scratch.low && address < check->scratch.high) {
        *recent = (struct recent){check->scratch.low, check->scratch.high, &check->scratch};
        return recent->region;
    }
    pthread_mutex_lock(&check->lock);
    const size_t at = first_above(check, address);
    struct wmi_written *region = at < check->regions ? check->region[at] : NULL;
    if (region && region->low <= address)
        *recent = (struct recent){region->low, region->high, region};
    else { /* a part of the gap between regions, in which scratch memory may lie, too */
        const uint64_t low = address & ~UINT64_C(63), end = at ? check->region[at - 1]->high : 0;
        *recent = (struct recent){low > end ? low : end, low + 64, NULL};
        region = NULL;
    }
    pthread_mutex_unlock(&check->lock);
    return recent->region;
}

/* ---- one place of a lane ---- */

struct place {
    struct wmi_written *written; /* NULL: all of it is */
    struct wmi_undefined *values;
    enum source source;
};

static struct place place_of(struct shard *shard, const struct wmi_element *element, uint64_t address,
                             uint32_t slot)
{
    struct group *group = shard->group;
    if (element->space == WMI_SPACE_LDS)
        return (struct place){&group->lds, &group->lds_values, SOURCE_LDS};
    struct wmi_written *written = find_region(shard, address, slot);
    if (written == &shard->check->scratch)
        return (struct place){written, &group->scratch_values, SOURCE_SCRATCH};
    return (struct place){written, &shard->check->values, SOURCE_GLOBAL};
}

/* By how much the byte differs; *origin: of its value, or 0: nobody wrote it. */
static uint8_t difference_of(const struct place *place, uint64_t address, uint32_t *origin)
{
    const struct wmi_undefined_dword *value = wmi_undefined_find(place->values, address);
    const uint8_t stored = value ? (uint8_t)(value->difference >> address % 4 * 8) : 0;
    *origin = stored ? value->origin : 0;
    return stored ? stored : (uint8_t)(wmi_undefined_pattern(address) >> address % 4 * 8);
}

/* A misaligned access is another checker's business: it is made, or it ends the wave. */
static bool is_refused(const struct wmi_element *element, unsigned lane)
{
    return (element->bad_range | element->bad_aperture) >> lane & 1;
}

static void note_scratch(struct checker *check, uint64_t address, uint64_t bytes)
{
    const uint64_t at = address - check->dispatch.scratch, stride = check->dispatch.scratch_stride;
    const size_t piece = stride ? (size_t)(at / stride) : 0;
    const uint64_t high = stride ? at % stride + bytes : 0;
    if (piece < check->pieces && high > check->scratch_high[piece])
        check->scratch_high[piece] = high < UINT32_MAX ? (uint32_t)high : UINT32_MAX;
}

static void set_written(struct shard *shard, const struct place *place, uint64_t address, uint64_t bytes)
{
    if (!place->written)
        return;
    wmi_written_set(place->written, address, bytes);
    if (place->source == SOURCE_SCRATCH)
        note_scratch(shard->check, address, bytes);
}

/* ---- twins ---- */

static struct wmi_twin *twin_of(const struct shard *shard, uint32_t wave)
{
    return wave < shard->group->waves ? shard->group->twin[wave] : NULL;
}

/* The wave's twin while it differs from the wave. */
static struct wmi_twin *active_twin(const struct wmi_access *access)
{
    return *access->watched;
}

/* The twin of a wave that is about to load an undefined value. NULL: no memory. */
static struct wmi_twin *begin_twin(struct shard *shard, const struct wmi_access *access, uint32_t slot)
{
    struct checker *check = shard->check;
    struct wmi_twin *twin = twin_of(shard, access->wave);
    if (*access->watched)
        return *access->watched;
    if (twin) {
        wmi_twin_restart(twin, access->frame);
    } else if (access->wave < shard->group->waves &&
               (twin = wmi_twin_create(access->frame, access->layout, check->dispatch.wave_lanes))) {
        shard->group->twin[access->wave] = twin;
    } else {
        shard->missed = true;
        return NULL;
    }
    wmi_twin_precede(twin, access->frame, &instruction_of(check, check->slot[slot])->twin);
    *access->watched = twin;
    return twin;
}

/* ---- loads ---- */

/* The bytes of one lane's access that are undefined. */
struct lane_load {
    uint64_t missing[WMI_ACCESS_ELEMENTS]; /* of each element: a bit per byte */
    bool any, partial;
};

/* Of the element `alone`, or of all of them if it is negative. */
static struct lane_load look(struct shard *shard, const struct wmi_access *access, unsigned lane, int alone,
                             uint32_t slot)
{
    struct lane_load load = {0};
    const uint64_t all = access->bytes < 64 ? (UINT64_C(1) << access->bytes) - 1 : UINT64_MAX;
    for (unsigned e = 0; e < access->elements; e++) {
        const struct wmi_element *element = &access->element[e];
        load.missing[e] = 0;
        if ((alone >= 0 && e != (unsigned)alone) || !(element->mask >> lane & 1) ||
            is_refused(element, lane) || element->space > WMI_SPACE_LDS)
            continue;
        const struct place place = place_of(shard, element, element->address[lane], slot);
        if (place.written)
            load.missing[e] = wmi_written_missing(place.written, element->address[lane], access->bytes);
        load.any |= load.missing[e];
        load.partial |= load.missing[e] != all;
    }
    return load;
}

/* By how much the registers differ that the lane loads from one element. */
static void load_element(struct shard *shard, const struct wmi_access *access, struct wmi_twin *twin,
                         const struct instruction *insn, unsigned e, unsigned lane,
                         const struct lane_load *load, uint32_t fresh, uint32_t slot)
{
    const struct wmi_element *element = &access->element[e];
    const struct wmi_register_range *result = &access->facts->result;
    const bool vector = result->file == WM_REGISTER_VGPR || result->file == WM_REGISTER_AGPR;
    const uint32_t step = vector ? 4 * access->facts->lanes : 4;
    const struct place place = place_of(shard, element, element->address[lane], slot);
    for (unsigned word = 0; word * 4 < access->bytes; word++) {
        uint32_t difference = 0, origin = fresh;
        for (unsigned at = 4 * word; at < 4 * word + 4 && at < access->bytes; at++) {
            uint32_t from;
            if (!(load->missing[e] >> at & 1))
                continue;
            difference |= (uint32_t)difference_of(&place, element->address[lane] + at, &from) << at % 4 * 8;
            origin = from ? from : origin;
        }
        if (access->bytes < 4 && insn->is_signed && difference >> (8 * access->bytes - 1) & 1)
            difference |= UINT32_MAX << (8 * access->bytes - 1);
        if (insn->d16)
            difference &= 0xffff;
        if (insn->d16_hi)
            difference <<= 16;
        const uint32_t reg = element->reg + word;
        if (difference && origin && reg < result->count)
            shard->missed |= !wmi_twin_load(twin, result->offset + reg * step + (vector ? 4 * lane : 0),
                                            difference, origin);
    }
}

/* The first of the bytes in the lane's access that are undefined, and their number. */
static struct origin origin_of(struct shard *shard, const struct wmi_access *access, unsigned lane,
                               const struct lane_load *load, uint32_t slot)
{
    struct origin origin = {.pc = access->pc,
                            .group = shard->group->number,
                            .wave = access->wave,
                            .launch = shard->check->dispatch.launch,
                            .partial = load->partial};
    for (unsigned e = 0; e < access->elements; e++) {
        const struct wmi_element *element = &access->element[e];
        if (!load->missing[e])
            continue;
        if (!origin.bytes) {
            origin.source = place_of(shard, element, element->address[lane], slot).source;
            origin.address = element->address[lane] + (unsigned)__builtin_ctzll(load->missing[e]);
        }
        origin.bytes += (unsigned)__builtin_popcountll(load->missing[e]);
    }
    return origin;
}

/* One lane's load, or one place of it, that has undefined bytes. */
static void load_lane(struct shard *shard, const struct wmi_access *access, unsigned lane,
                      const struct lane_load *load, uint32_t slot)
{
    const struct instruction *insn = instruction_of(shard->check, shard->check->slot[slot]);
    const struct origin origin = origin_of(shard, access, lane, load, slot);
    const uint32_t fresh = add_origin(shard, &origin);
    if (!access->facts->result.count) { /* to LDS */
        shard->moved_pc = access->pc;
        shard->moved_bytes[lane] = load->missing[0];
        shard->moved_origin = fresh;
        return;
    }
    struct wmi_twin *twin = insn->opaque && load->partial ? NULL : begin_twin(shard, access, slot);
    for (unsigned e = 0; twin && !insn->opaque && e < access->elements; e++)
        if (load->missing[e])
            load_element(shard, access, twin, insn, e, lane, load, fresh, slot);
    for (unsigned i = 0; twin && insn->opaque && i < access->facts->result.count; i++)
        shard->missed |=
            !wmi_twin_load(twin, access->facts->result.offset + 4 * (i * access->facts->lanes + lane),
                           wmi_undefined_pattern(origin.address + 4 * i), fresh);
}

/* Whether all bytes between the lowest and the highest of each element are written. */
static bool is_all_written(struct shard *shard, const struct wmi_access *access, uint32_t slot)
{
    for (unsigned e = 0; e < access->elements; e++) {
        const struct wmi_element *element = &access->element[e];
        uint64_t low = UINT64_MAX, high = 0;
        if (element->space > WMI_SPACE_LDS || !element->mask)
            continue;
        for (uint64_t lanes = element->mask; lanes; lanes &= lanes - 1) {
            const uint64_t at = element->address[__builtin_ctzll(lanes)];
            low = at < low ? at : low;
            high = at > high ? at : high;
        }
        const struct place place = place_of(shard, element, low, slot);
        if (high - low > 64 * 64 ||
            (place.written && (high + access->bytes > place.written->high ||
                               !wmi_written_test(place.written, low, high + access->bytes - low))))
            return false;
        if (!place.written && high != low && place_of(shard, element, high, slot).written)
            return false;
    }
    return true;
}

static void see_load(struct shard *shard, const struct wmi_access *access, uint32_t slot)
{
    /* The places of a DS instruction are loads of their own that the compiler has joined. */
    const unsigned alone = access->path == WMI_PATH_DS ? access->elements : 1;
    if (!access->facts->result.count)
        memset(shard->moved_bytes, 0, sizeof shard->moved_bytes);
    if (is_all_written(shard, access, slot))
        return;
    for (unsigned e = 0; e < alone; e++) {
        uint64_t lanes = 0;
        for (unsigned i = 0; i < access->elements; i++)
            lanes |= access->element[i].mask;
        for (; lanes; lanes &= lanes - 1) {
            const unsigned lane = (unsigned)__builtin_ctzll(lanes);
            const struct lane_load load =
                look(shard, access, lane, alone > 1 || access->path == WMI_PATH_DS ? (int)e : -1, slot);
            if (load.any)
                load_lane(shard, access, lane, &load, slot);
        }
    }
}

/* ---- stores ---- */

/* Whether the lanes' places are one run of bytes; its start and size. */
static bool is_run(const struct wmi_element *element, unsigned bytes, uint64_t *start, uint64_t *size)
{
    uint64_t lanes = element->mask;
    if (!lanes || element->bad_range || element->bad_aperture)
        return false;
    uint64_t next = *start = element->address[__builtin_ctzll(lanes)];
    for (; lanes; lanes &= lanes - 1, next += bytes)
        if (element->address[__builtin_ctzll(lanes)] != next)
            return false;
    *size = next - *start;
    return true;
}

static void mark_element(struct shard *shard, const struct wmi_access *access,
                         const struct wmi_element *element, uint32_t slot)
{
    uint64_t start, size;
    if (element->space > WMI_SPACE_LDS)
        return;
    if (is_run(element, access->bytes, &start, &size)) {
        const struct place place = place_of(shard, element, start, slot);
        set_written(shard, &place, start, size);
        return;
    }
    for (uint64_t lanes = element->mask; lanes; lanes &= lanes - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(lanes);
        const struct place place = place_of(shard, element, element->address[lane], slot);
        if (!is_refused(element, lane))
            set_written(shard, &place, element->address[lane], access->bytes);
    }
}

/* Stores one byte whose value differs. */
static void put_difference(struct shard *shard, const struct place *place, uint64_t address,
                           uint8_t difference, uint32_t origin)
{
    const unsigned shift = address % 4 * 8;
    if (!place->written)
        return;
    if (!wmi_undefined_put(place->values, address, 0xffu << shift, (uint32_t)difference << shift, origin)) {
        shard->missed = true;
        return;
    }
    wmi_written_clear(place->written, address, 1);
    if (place->source == SOURCE_SCRATCH)
        note_scratch(shard->check, address, 1);
}

/* The registers that an element of a store comes from; *reg: the first of them. */
static const struct wmi_register_range *data_of(const struct wmi_access *access, unsigned e, unsigned *reg)
{
    const bool second = e && access->path == WMI_PATH_DS && access->facts->data[1].count;
    *reg = second ? 0 : access->element[e].reg;
    return &access->facts->data[second];
}

/* By how much the bytes in memory differ, at most four of them. */
static uint32_t memory_difference(const struct place *place, uint64_t address, unsigned bytes)
{
    uint32_t difference = 0, origin;
    uint64_t missing = place->written ? wmi_written_missing(place->written, address, bytes) : 0;
    for (; missing; missing &= missing - 1) {
        const unsigned at = (unsigned)__builtin_ctzll(missing);
        difference |= (uint32_t)difference_of(place, address + at, &origin) << 8 * at;
    }
    return difference;
}

/* One lane's data of one element of a store. */
struct stored {
    unsigned words;
    uint32_t difference[WMI_ACCESS_ELEMENTS], origin[WMI_ACCESS_ELEMENTS];
    bool wholly; /* every byte differs */
};

static struct stored stored_by(const struct wmi_access *access, const struct wmi_twin *twin,
                               const struct instruction *insn, unsigned e, unsigned lane)
{
    unsigned reg;
    const struct wmi_register_range *data = data_of(access, e, &reg);
    const bool vector = data->file == WM_REGISTER_VGPR || data->file == WM_REGISTER_AGPR;
    const uint32_t step = vector ? 4 * access->facts->lanes : 4;
    struct stored stored = {.wholly = true};
    for (; stored.words * 4 < access->bytes && stored.words < WMI_ACCESS_ELEMENTS &&
           reg + stored.words < data->count;
         stored.words++) {
        const uint32_t offset = data->offset + (reg + stored.words) * step + (vector ? 4 * lane : 0);
        const unsigned left = access->bytes - 4 * stored.words;
        const uint32_t mask = left < 4 ? (1u << 8 * left) - 1 : UINT32_MAX;
        const uint32_t difference =
            wmi_twin_word(twin, access->frame, offset) >> (insn->d16_hi ? 16 : 0) & mask;
        stored.difference[stored.words] = difference;
        stored.origin[stored.words] = difference ? wmi_twin_origin(twin, offset) : 0;
        for (unsigned at = 0; at < left && at < 4; at++)
            stored.wholly &= (difference >> 8 * at & 0xff) != 0;
    }
    return stored;
}

/* One lane of a store by a wave with a twin. Returns the origin of a value that is an error to store. */
static uint32_t store_lane(struct shard *shard, const struct wmi_access *access, const struct wmi_twin *twin,
                           const struct instruction *insn, unsigned e, unsigned lane, uint32_t slot)
{
    const uint64_t address = access->element[e].address[lane];
    const struct place place = place_of(shard, &access->element[e], address, slot);
    const struct stored stored = stored_by(access, twin, insn, e, lane);
    uint32_t reported = 0;
    for (unsigned word = 0; word < stored.words; word++) {
        const unsigned left = access->bytes - 4 * word < 4 ? access->bytes - 4 * word : 4;
        const uint32_t difference = stored.difference[word], origin = stored.origin[word];
        /* A bit field is written by a load of the bits around it, which stay undefined: not an error. */
        const bool stays = !(difference & ~memory_difference(&place, address + 4 * word, left));
        set_written(shard, &place, address + 4 * word, left);
        if (!origin)
            continue;
        const bool padding = shard->check->origin[origin].partial && !stored.wholly;
        const bool wrong = place.source == SOURCE_GLOBAL && !stays && !padding;
        if (wrong && !reported)
            reported = origin;
        for (unsigned at = 0; !insn->opaque && !wrong && at < left; at++)
            if (difference >> 8 * at & 0xff)
                put_difference(shard, &place, address + 4 * word + at, (uint8_t)(difference >> 8 * at),
                               origin);
    }
    if (insn->opaque || 4 * stored.words < access->bytes)
        set_written(shard, &place, address, access->bytes);
    return reported;
}

static void see_store(struct shard *shard, const struct wmi_access *access, uint32_t slot)
{
    const struct wmi_twin *twin = active_twin(access);
    const struct instruction *insn = instruction_of(shard->check, shard->check->slot[slot]);
    uint64_t wrong = 0;
    uint32_t origin = 0;
    for (unsigned e = 0; e < access->elements; e++) {
        const struct wmi_element *element = &access->element[e];
        if (!twin) {
            mark_element(shard, access, element, slot);
            continue;
        }
        if (element->space > WMI_SPACE_LDS)
            continue;
        for (uint64_t lanes = element->mask; lanes; lanes &= lanes - 1) {
            const unsigned lane = (unsigned)__builtin_ctzll(lanes);
            const uint32_t from =
                is_refused(element, lane) ? 0 : store_lane(shard, access, twin, insn, e, lane, slot);
            wrong |= (uint64_t)(from != 0) << lane;
            origin = from && !origin ? from : origin;
        }
    }
    if (origin)
        add_use(shard, origin, USE_STORE, access->pc, access->wave, wrong);
}

/* The LDS side of a move from memory. */
static void see_move(struct shard *shard, const struct wmi_access *access, uint32_t slot)
{
    const struct wmi_element *element = &access->element[0];
    if (access->kind != WMI_ACCESS_STORE)
        return;
    mark_element(shard, access, element, slot);
    for (uint64_t lanes = element->mask; shard->moved_pc == access->pc && lanes; lanes &= lanes - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(lanes);
        const struct place place = place_of(shard, element, element->address[lane], slot);
        for (uint64_t left = is_refused(element, lane) ? 0 : shard->moved_bytes[lane]; left;
             left &= left - 1) {
            const uint64_t address = element->address[lane] + (unsigned)__builtin_ctzll(left);
            const uint32_t pattern = wmi_undefined_pattern(address);
            put_difference(shard, &place, address, (uint8_t)(pattern >> address % 4 * 8),
                           shard->moved_origin);
        }
    }
    shard->moved_pc = 0;
}

/* ---- atomics ---- */

static void see_atomic(struct shard *shard, const struct wmi_access *access, uint32_t slot)
{
    uint64_t wrong = 0;
    uint32_t number = 0;
    if (access->facts->operation == WM_ATOMIC_SWAP) {
        if (access->facts->result.count)
            see_load(shard, access, slot);
        see_store(shard, access, slot);
        return;
    }
    for (unsigned e = 0; e < access->elements; e++) {
        for (uint64_t lanes = access->element[e].mask; lanes; lanes &= lanes - 1) {
            const unsigned lane = (unsigned)__builtin_ctzll(lanes);
            const struct lane_load load = look(shard, access, lane, (int)e, slot);
            if (!load.any)
                continue;
            const struct origin origin = origin_of(shard, access, lane, &load, slot);
            const uint32_t own = add_origin(shard, &origin);
            number = number ? number : own;
            wrong |= UINT64_C(1) << lane;
            const struct wmi_element one = {.space = access->element[e].space,
                                            .mask = UINT64_C(1) << lane,
                                            .address = access->element[e].address};
            mark_element(shard, access, &one, slot); /* other lanes may update the same value */
        }
    }
    if (number)
        add_use(shard, number, USE_ATOMIC, access->pc, access->wave, wrong);
}

/* ---- the observer ---- */

static void see_access(void *local, const struct wmi_access *access, uint32_t slot)
{
    struct shard *shard = local;
    if (!shard->group || slot >= shard->check->slots)
        return;
    if (access->path == WMI_PATH_LDS_DMA)
        see_move(shard, access, slot);
    else if (access->kind == WMI_ACCESS_LOAD)
        see_load(shard, access, slot);
    else if (access->kind == WMI_ACCESS_STORE)
        see_store(shard, access, slot);
    else
        see_atomic(shard, access, slot);
}

/* What the instruction that the wave has executed did with values that differ. */
static void check_done(struct shard *shard, struct wmi_twin *twin, const char *frame, uint32_t wave)
{
    for (unsigned word = WMI_S_EXEC; word < WMI_S_EXEC + 2; word++) {
        const struct wmi_twin_difference found = wmi_twin_compare_word(twin, frame, word);
        if (found.origin && twin->last) {
            add_use(shard, found.origin, USE_EXEC, twin->last->pc, wave, 0);
            break;
        }
    }
}

static bool is_zero(const char *frame, unsigned word)
{
    const struct wmi_frame *f = (const struct wmi_frame *)frame;
    return !(f->s[word] | (f->wave_size == 64 ? f->s[word + 1] : 0));
}

/* What a branch or message is about to do with them. */
static void check_control(struct shard *shard, struct wmi_twin *twin, const char *frame,
                          const struct instruction *insn, uint32_t wave)
{
    const struct wmi_row *row = &wmi_rows[insn->twin.id];
    const bool sends = row->group == WMI_GROUP_SENDMSG, branches = row->group == WMI_GROUP_BRANCH;
    const struct wmi_twin_difference scc = wmi_twin_compare_word(twin, frame, WMI_S_SCC);
    if (row->flags & WMI_ROW_READS_SCC && scc.origin) {
        add_use(shard, scc.origin, USE_BRANCH, insn->twin.pc, wave, 0);
        wmi_twin_settle_word(twin, frame, WMI_S_SCC);
    }
    if (row->flags & WMI_ROW_READS_VCC && is_zero(frame, WMI_S_VCC) != is_zero(twin->frame, WMI_S_VCC)) {
        for (unsigned word = WMI_S_VCC; word < WMI_S_VCC + 2; word++) {
            const struct wmi_twin_difference vcc = wmi_twin_compare_word(twin, frame, word);
            if (vcc.origin)
                add_use(shard, vcc.origin, USE_BRANCH, insn->twin.pc, wave, 0);
            wmi_twin_settle_word(twin, frame, word);
        }
    }
    for (unsigned i = 0; (sends || branches) && i < insn->twin.spans; i++) {
        const struct wmi_span_of_registers *span = &insn->twin.span[i];
        const struct wmi_twin_difference found = wmi_twin_compare(twin, frame, span, 0);
        if (!span->read || !found.origin || span->first == WMI_REGISTER_VCC)
            continue;
        add_use(shard, found.origin, sends ? USE_MESSAGE : USE_BRANCH, insn->twin.pc, wave, 0);
        wmi_twin_settle(twin, frame, span);
    }
}

static void check_address(struct shard *shard, struct wmi_twin *twin, const char *frame,
                          const struct instruction *insn, uint32_t wave)
{
    const uint64_t active = ((const struct wmi_frame *)frame)->exec.bits;
    for (unsigned i = 0; i < insn->twin.spans; i++) {
        const struct wmi_span_of_registers *span = &insn->twin.span[i];
        if (!span->read ||
            (span->role != WMI_ROLE_ADDR && span->role != WMI_ROLE_RSRC && span->role != WMI_ROLE_SAMP &&
             span->role != WMI_ROLE_OFFSET && span->role != WMI_ROLE_SADDR))
            continue;
        const struct wmi_twin_difference found = wmi_twin_compare(twin, frame, span, active);
        if (!found.origin)
            continue;
        add_use(shard, found.origin, USE_ADDRESS, insn->twin.pc, wave, found.lanes);
        wmi_twin_settle(twin, frame, span);
    }
}

static bool is_lane_exchange(const struct wmi_row *row)
{
    return row->class == WMI_CLASS_DS && row->flags & WMI_ROW_CROSS_LANE;
}

static char *run_twin(void *local, void **watched, uint32_t number, const char *frame,
                      const struct wmi_frame_layout *layout)
{
    struct shard *shard = local;
    struct wmi_twin *twin = *watched;
    const struct instruction *insn = instruction_of(shard->check, number);
    const struct wmi_row *row = &wmi_rows[insn->twin.id];
    uint32_t wave = 0;
    (void)layout;
    while (wave < shard->group->waves && shard->group->twin[wave] != twin)
        wave++;
    wmi_twin_follow(twin, frame);
    check_done(shard, twin, frame, wave);
    wmi_twin_settle_state(twin, frame);
    if (twin->executed % LOOK_AFTER == 0 && !wmi_twin_differs(twin, frame)) {
        *watched = NULL;
        return NULL;
    }
    if (row->class == WMI_CLASS_CONTROL)
        check_control(shard, twin, frame, insn, wave);
    else if (row->class != WMI_CLASS_SALU && row->class != WMI_CLASS_VALU && row->class != WMI_CLASS_EXPORT &&
             !is_lane_exchange(row))
        check_address(shard, twin, frame, insn, wave);
    wmi_twin_precede(twin, frame, &insn->twin);
    return twin->frame;
}

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
static bool see_outline(void *local, const struct wmi_outline *outline, uint32_t slot)
{
    struct shard *shard = local;
    const enum wmi_address_space space = (enum wmi_address_space)(outline->shape >> 16);
    const unsigned places = outline->shape >> 8 & 0xff, bytes = outline->shape & 0xff;
    if (!shard->group || outline->wave >= shard->group->waves || slot >= shard->check->slots)
        return false;
    const struct wmi_twin *twin = shard->group->twin[outline->wave];
    if (twin && twin->last) /* perhaps active */
        return false;
    struct wmi_written *written =
        space == WMI_SPACE_LDS ? &shard->group->lds : find_region(shard, outline->from, slot);
    if (!written || __atomic_load_n(&written->all, __ATOMIC_RELAXED))
        return true;
    const struct instruction *insn = instruction_of(shard->check, shard->check->slot[slot]);
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

static bool see_outline_lane(void *local, uint32_t slot, uint32_t wave, uint32_t depth, uint64_t address,
                             const struct wmi_hit *hit)
{
    struct shard *shard = local;
    (void)depth;
    if (!shard->group || wave >= shard->group->waves || address < hit->low || address >= hit->high)
        return false;
    const struct wmi_twin *twin = shard->group->twin[wave];
    const struct wmi_written *written = find_region(shard, address, slot);
    return !(twin && twin->last) && (!written || __atomic_load_n(&written->all, __ATOMIC_RELAXED));
}

static uint32_t add_instruction(void *self, uint64_t pc, const struct wmi_instruction *insn)
{
    struct checker *check = self;
    const uint32_t number = check->instructions;
    const struct wmi_row *row = &wmi_rows[insn->id];
    if (number / CHUNK == CHUNKS) {
        check->missed = "too many instructions";
        return WMI_NOT_SHOWN;
    }
    struct instruction **chunk = &check->chunk[number / CHUNK];
    if (!*chunk && !(*chunk = calloc(CHUNK, sizeof **chunk))) {
        check->missed = no_memory;
        return WMI_NOT_SHOWN;
    }
    struct instruction *entry = &(*chunk)[number % CHUNK];
    *entry = (struct instruction){.twin = {.pc = pc, .id = insn->id}};
    entry->twin.spans = (uint8_t)wmi_registers_of(check->dispatch.target, insn, entry->twin.span);
    entry->twin.computes =
        row->class == WMI_CLASS_SALU || row->class == WMI_CLASS_VALU || is_lane_exchange(row);
    for (unsigned i = 0; i < insn->operands; i++)
        if (insn->operand[i].kind == WMI_OPERAND_SPECIAL && insn->operand[i].reg == WMI_SPECIAL_LDS_DIRECT)
            entry->twin.computes = false;
    const struct wmi_operand *result = wmi_operand(insn, WMI_ROLE_D);
    const unsigned bytes = row->elements * row->bytes;
    if (row->elements == 2 && row->class == WMI_CLASS_DS)
        entry->distance = (uint64_t)(insn->field[WMI_FIELD_offset1] - insn->field[WMI_FIELD_offset0]) *
                          row->bytes * (row->flags & WMI_ROW_STRIDE64 ? 64 : 1);
    entry->is_signed = row->flags & WMI_ROW_SIGNED;
    entry->d16 = row->flags & WMI_ROW_D16;
    entry->d16_hi = row->flags & WMI_ROW_D16_HI;
    entry->opaque = row->class == WMI_CLASS_IMAGE || row->class == WMI_CLASS_TBUFFER ||
                    row->flags & WMI_ROW_FORMAT ||
                    (row->memory == WMI_MEMORY_LOAD && result && result->dwords != (bytes + 3) / 4);
    check->decoded = number;
    check->instructions++;
    return number;
}

static uint32_t add_slot(void *self, uint64_t pc, unsigned id)
{
    enum { AT_ONCE = 256 };
    struct checker *check = self;
    (void)pc, (void)id;
    if (check->slots % AT_ONCE == 0) {
        uint32_t *more = realloc(check->slot, (check->slots + AT_ONCE) * sizeof *more);
        if (!more) {
            check->missed = no_memory;
            return UINT32_MAX;
        }
        check->slot = more;
    }
    check->slot[check->slots] = check->decoded;
    return check->slots++;
}

static void destroy_group(struct group *group, uint32_t waves)
{
    for (uint32_t i = 0; i < waves; i++)
        wmi_twin_destroy(group->twin[i]);
    wmi_written_destroy(&group->lds);
    free(group);
}

static void *begin_thread(void *self)
{
    struct shard *shard = calloc(1, sizeof *shard);
    if (shard)
        shard->check = self;
    return shard;
}

static void end_thread(void *self, void *local)
{
    struct checker *check = self;
    struct shard *shard = local;
    if (shard && shard->missed)
        check->missed = no_memory;
    for (struct group *group = shard ? shard->unused : NULL, *next; group; group = next) {
        next = group->next;
        destroy_group(group, check->waves);
    }
    free(shard);
}

/* A workgroup begins: its LDS and the private memory of its waves have no values. */
static struct group *begin_group(struct shard *shard, uint64_t number, uint32_t waves, uint64_t scratch)
{
    struct checker *check = shard->check;
    const struct wmi_check_dispatch *dispatch = &check->dispatch;
    struct group *group = shard->unused;
    if (group) {
        shard->unused = group->next;
        wmi_written_restart(&group->lds);
    } else {
        group = calloc(1, sizeof *group + check->waves * sizeof(struct wmi_twin *));
        if (!group || !wmi_written_create(&group->lds, 0, dispatch->lds_bytes)) {
            free(group);
            shard->missed = true;
            return NULL;
        }
    }
    group->number = number;
    group->waves = waves;
    for (uint32_t wave = 0; dispatch->scratch_stride && wave < waves; wave++) {
        const uint64_t at = scratch + wave * dispatch->scratch_stride;
        const size_t piece = (size_t)((at - dispatch->scratch) / dispatch->scratch_stride);
        if (piece >= check->pieces || !check->scratch_high[piece])
            continue;
        wmi_written_clear(&check->scratch, at, check->scratch_high[piece]);
        check->scratch_high[piece] = 0;
    }
    return group;
}

static void turn(void *local, void **watched, uint64_t number, uint32_t waves, uint64_t scratch)
{
    struct shard *shard = local;
    if (!*watched && waves <= shard->check->waves)
        *watched = begin_group(shard, number, waves, scratch);
    shard->group = *watched;
}

static void end_group(void *local, void *watched, uint64_t instructions)
{
    struct shard *shard = local;
    struct group *group = watched;
    (void)instructions;
    if (!group)
        return;
    for (uint32_t i = 0; i < group->waves; i++)
        if (group->twin[i])
            group->twin[i]->last = NULL;
    wmi_undefined_free(&group->lds_values);
    wmi_undefined_free(&group->scratch_values);
    group->next = shard->unused;
    shard->unused = group;
    shard->group = NULL;
}

static const char *incomplete(void *self)
{
    return ((const struct checker *)self)->missed;
}

/* ---- the checker ---- */

static void *create(unsigned what)
{
    struct checker *check = calloc(1, sizeof *check);
    if (!check)
        return NULL;
    check->origins = what & WM_CHECK_ORIGINS;
    check->observer = (struct wmi_observer){
        .self = check,
        .lds_moves = true,
        .thread_begin = begin_thread,
        .thread_end = end_thread,
        .access = see_access,
        .outline = see_outline,
        .outline_lane = see_outline_lane,
        .instruction = add_slot,
        .decoded = add_instruction,
        .twin = run_twin,
        .turn = turn,
        .end = end_group,
        .incomplete = incomplete,
    };
    pthread_mutex_init(&check->lock, NULL);
    return check;
}

static void destroy(void *self)
{
    struct checker *check = self;
    for (unsigned i = 0; i < CHUNKS; i++)
        free(check->chunk[i]);
    for (size_t i = 0; i < check->regions; i++)
        destroy_region(check->region[i]);
    free_retired(check);
    wmi_written_destroy(&check->scratch);
    wmi_undefined_free(&check->values);
    wmi_found_free(&check->findings);
    pthread_mutex_destroy(&check->lock);
    free(check->region);
    free(check->scratch_high);
    free(check->origin);
    free(check->slot);
    free(check);
}

/* What wavemem itself allocates, it has written. */
static void forget_own(struct checker *check)
{
    const struct wmi_space *space = check->dispatch.space;
    for (size_t i = check->regions; space && i-- > 0;) {
        const struct wmi_allocation *allocation = wmi_space_find(space, check->region[i]->low);
        if (!allocation || allocation->flags & (WMI_ALLOCATION_OWN | WMI_ALLOCATION_HOST))
            remove_region(check, i);
    }
}

static bool begin_scratch(struct checker *check)
{
    const struct wmi_check_dispatch *dispatch = &check->dispatch;
    const struct wmi_allocation *allocation =
        dispatch->scratch && dispatch->space ? wmi_space_find(dispatch->space, dispatch->scratch) : NULL;
    wmi_written_destroy(&check->scratch);
    free(check->scratch_high);
    check->scratch_high = NULL;
    check->pieces = 0;
    check->scratch = (struct wmi_written){0};
    if (!allocation || !dispatch->scratch_stride)
        return true;
    const size_t pieces = (size_t)((allocation->high - dispatch->scratch) / dispatch->scratch_stride) + 1;
    check->scratch_high = calloc(pieces, sizeof *check->scratch_high);
    check->pieces = check->scratch_high ? pieces : 0;
    return check->scratch_high && wmi_written_create(&check->scratch, dispatch->scratch, allocation->high);
}

static const struct wmi_observer *begin(void *self, const struct wmi_check_dispatch *dispatch)
{
    struct checker *check = self;
    const uint64_t items = (uint64_t)dispatch->workgroup[0] * dispatch->workgroup[1] * dispatch->workgroup[2];
    check->dispatch = *dispatch;
    check->waves = (uint32_t)((items + dispatch->wave_lanes - 1) / dispatch->wave_lanes);
    check->instructions = check->slots = 0;
    check->missed = NULL;
    pthread_mutex_lock(&check->lock);
    forget_own(check);
    free_retired(check);
    __atomic_fetch_add(&check->generation, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&check->lock);
    return begin_scratch(check) ? &check->observer : NULL;
}

static bool end(void *self, struct wmi_found_set *findings)
{
    struct checker *check = self;
    return wmi_found_move(findings, &check->findings);
}

const struct wmi_checker wmi_checker_uninit = {
    .name = "uninitialised values",
    .classes = WM_CHECK_UNINIT | WM_CHECK_ORIGINS,
    .in_order = true,
    .create = create,
    .destroy = destroy,
    .begin = begin,
    .end = end,
    .memory = see_memory,
};
