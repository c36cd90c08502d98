/* SPDX-License-Identifier: MIT */
/* Uninitialised values: the slow path of loads, stores and atomics. */
#include "check/uninit/uninit.h"

#include <string.h>

/* Whether the access is not made. Misaligned accesses are ignored: they are made, or end the wave, and
 * another checker reports them. */
static bool is_refused(const struct wmi_element *element, unsigned lane)
{
    return (element->bad_range | element->bad_aperture) >> lane & 1;
}

static struct wmi_shadow *shadow_of(const struct wmi_uninit_shard *shard, uint32_t wave)
{
    return wave < shard->group->waves ? shard->group->shadow[wave] : NULL;
}

/* The wave's shadow if it may differ from the wave; else NULL. */
static struct wmi_shadow *active_shadow(const struct wmi_access *access)
{
    return *access->watched;
}

/* Starts the shadow of a wave that is about to load an undefined value. NULL: no memory. */
static struct wmi_shadow *begin_shadow(struct wmi_uninit_shard *shard, const struct wmi_access *access,
                                       uint32_t slot)
{
    struct wmi_uninit *check = shard->check;
    struct wmi_shadow *shadow = shadow_of(shard, access->wave);
    if (*access->watched)
        return *access->watched;
    if (shadow) {
        wmi_shadow_restart(shadow, access->frame);
    } else if (access->wave < shard->group->waves &&
               (shadow = wmi_shadow_create(access->frame, access->layout, check->dispatch.wave_lanes))) {
        shard->group->shadow[access->wave] = shadow;
    } else {
        shard->missed = true;
        return NULL;
    }
    wmi_shadow_precede(shadow, access->frame, &wmi_uninit_instruction_of(check, check->slot[slot])->shadow);
    *access->watched = shadow;
    return shadow;
}

/* ---- loads ---- */

/* The bytes of one lane's access that are undefined. */
struct lane_load {
    uint64_t missing[WMI_ACCESS_ELEMENTS]; /* by element: a bit per byte */
    bool any, partial;
};

/* Finds the undefined bytes of the element `alone`, or of all elements if it is negative. */
static struct lane_load look(struct wmi_uninit_shard *shard, const struct wmi_access *access, unsigned lane,
                             int alone, uint32_t slot)
{
    struct lane_load load = {0};
    const uint64_t all = access->bytes < 64 ? (UINT64_C(1) << access->bytes) - 1 : UINT64_MAX;
    for (unsigned e = 0; e < access->elements; e++) {
        const struct wmi_element *element = &access->element[e];
        load.missing[e] = 0;
        if ((alone >= 0 && e != (unsigned)alone) || !(element->mask >> lane & 1) ||
            is_refused(element, lane) || element->space > WMI_SPACE_LDS)
            continue;
        const struct wmi_uninit_place place =
            wmi_uninit_place_of(shard, element, element->address[lane], slot);
        if (place.written)
            load.missing[e] = wmi_written_missing(place.written, element->address[lane], access->bytes);
        load.any |= load.missing[e];
        load.partial |= load.missing[e] != all;
    }
    return load;
}

/* Adds the differences of the registers that the lane loads from one element. */
static void load_element(struct wmi_uninit_shard *shard, const struct wmi_access *access,
                         struct wmi_shadow *shadow, const struct wmi_uninit_instruction *insn, unsigned e,
                         unsigned lane, const struct lane_load *load, uint32_t fresh, uint32_t slot)
{
    const struct wmi_element *element = &access->element[e];
    const struct wmi_register_range *result = &access->facts->result;
    const bool vector = result->file == WM_REGISTER_VGPR || result->file == WM_REGISTER_AGPR;
    const uint32_t step = vector ? 4 * access->facts->lanes : 4;
    const struct wmi_uninit_place place = wmi_uninit_place_of(shard, element, element->address[lane], slot);
    for (unsigned word = 0; word * 4 < access->bytes; word++) {
        uint32_t difference = 0, origin = fresh;
        for (unsigned at = 4 * word; at < 4 * word + 4 && at < access->bytes; at++) {
            uint32_t from;
            if (!(load->missing[e] >> at & 1))
                continue;
            difference |= (uint32_t)wmi_uninit_difference(&place, element->address[lane] + at, &from)
                          << at % 4 * 8;
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
            shard->missed |= !wmi_shadow_load(shadow, result->offset + reg * step + (vector ? 4 * lane : 0),
                                              difference, origin);
    }
}

/* Describes the first undefined byte of the lane's access, and the number of undefined bytes. */
static struct wmi_uninit_origin origin_of(struct wmi_uninit_shard *shard, const struct wmi_access *access,
                                          const struct wmi_uninit_instruction *insn, unsigned lane,
                                          const struct lane_load *load, uint32_t slot)
{
    struct wmi_uninit_origin origin = {.pc = access->pc,
                                       .group = shard->group->number,
                                       .wave = access->wave,
                                       .launch = shard->check->dispatch.launch,
                                       .partial = load->partial};
    for (unsigned e = 0; e < access->elements; e++) {
        const struct wmi_element *element = &access->element[e];
        if (!load->missing[e])
            continue;
        if (!origin.bytes) {
            origin.source = wmi_uninit_place_of(shard, element, element->address[lane], slot).source;
            origin.address = element->address[lane] + (unsigned)__builtin_ctzll(load->missing[e]);
        }
        origin.bytes += (unsigned)__builtin_popcountll(load->missing[e]);
        for (unsigned at = 0; at < access->bytes; at++)
            origin.places |= (uint8_t)((load->missing[e] >> at & 1) << (at + (insn->d16_hi ? 2 : 0)) % 4);
    }
    return origin;
}

/* Handles one lane's load, or one place of it, that has undefined bytes. */
static void load_lane(struct wmi_uninit_shard *shard, const struct wmi_access *access, unsigned lane,
                      const struct lane_load *load, uint32_t slot)
{
    const struct wmi_uninit_instruction *insn =
        wmi_uninit_instruction_of(shard->check, shard->check->slot[slot]);
    const struct wmi_uninit_origin origin = origin_of(shard, access, insn, lane, load, slot);
    const uint32_t fresh = wmi_uninit_add_origin(shard, &origin);
    if (!access->facts->result.count) { /* a load to LDS */
        shard->moved_pc = access->pc;
        shard->moved_bytes[lane] = load->missing[0];
        shard->moved_origin = fresh;
        return;
    }
    struct wmi_shadow *shadow = insn->opaque && load->partial ? NULL : begin_shadow(shard, access, slot);
    for (unsigned e = 0; shadow && !insn->opaque && e < access->elements; e++)
        if (load->missing[e])
            load_element(shard, access, shadow, insn, e, lane, load, fresh, slot);
    for (unsigned i = 0; shadow && insn->opaque && i < access->facts->result.count; i++)
        shard->missed |=
            !wmi_shadow_load(shadow, access->facts->result.offset + 4 * (i * access->facts->lanes + lane),
                             wmi_undefined_pattern(origin.address + 4 * i), fresh);
}

/* Whether the lanes' accesses form one run of bytes; sets its start and size. */
static bool is_run(const struct wmi_element *element, unsigned bytes, uint64_t *start, uint64_t *size)
{
    const unsigned first = (unsigned)__builtin_ctzll(element->mask),
                   count = (unsigned)__builtin_popcountll(element->mask);
    const uint64_t *address = element->address + first;
    uint64_t different = element->mask >> first & ((element->mask >> first) + 1);
    for (unsigned i = 0; i < count && !different; i++)
        different = address[i] ^ (address[0] + (uint64_t)i * bytes);
    *start = address[0];
    *size = (uint64_t)count * bytes;
    return !different;
}

/* Finds the lowest and the highest address of the lanes. */
static void find_bounds(const struct wmi_element *element, unsigned bytes, uint64_t *low, uint64_t *high)
{
    uint64_t size;
    if (is_run(element, bytes, low, &size)) {
        *high = *low + size - bytes;
        return;
    }
    *low = UINT64_MAX;
    *high = 0;
    for (uint64_t lanes = element->mask; lanes; lanes &= lanes - 1) {
        const uint64_t at = element->address[__builtin_ctzll(lanes)];
        *low = at < *low ? at : *low;
        *high = at > *high ? at : *high;
    }
}

/* Whether all bytes from the lowest to the highest of each element are written. */
static bool is_all_written(struct wmi_uninit_shard *shard, const struct wmi_access *access, uint32_t slot)
{
    for (unsigned e = 0; e < access->elements; e++) {
        const struct wmi_element *element = &access->element[e];
        uint64_t low, high;
        if (element->space > WMI_SPACE_LDS || !element->mask)
            continue;
        find_bounds(element, access->bytes, &low, &high);
        const struct wmi_uninit_place place = wmi_uninit_place_of(shard, element, low, slot);
        if (high - low > 64 * 64 ||
            (place.written && (high + access->bytes > place.written->high ||
                               !wmi_written_test(place.written, low, high + access->bytes - low))))
            return false;
        if (!place.written && high != low && wmi_uninit_place_of(shard, element, high, slot).written)
            return false;
    }
    return true;
}

static void see_load(struct wmi_uninit_shard *shard, const struct wmi_access *access, uint32_t slot)
{
    /* The places of a DS instruction are separate loads that the compiler has merged. */
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

static void mark_element(struct wmi_uninit_shard *shard, const struct wmi_access *access,
                         const struct wmi_element *element, uint32_t slot)
{
    uint64_t start, size;
    if (element->space > WMI_SPACE_LDS || !element->mask)
        return;
    if (!(element->bad_range | element->bad_aperture) && is_run(element, access->bytes, &start, &size)) {
        const struct wmi_uninit_place place = wmi_uninit_place_of(shard, element, start, slot);
        wmi_uninit_written(shard, &place, start, size);
        return;
    }
    for (uint64_t lanes = element->mask; lanes; lanes &= lanes - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(lanes);
        const struct wmi_uninit_place place =
            wmi_uninit_place_of(shard, element, element->address[lane], slot);
        if (!is_refused(element, lane))
            wmi_uninit_written(shard, &place, element->address[lane], access->bytes);
    }
}

/* The registers that hold the data of a store's element; *reg: the first of them. */
static const struct wmi_register_range *data_of(const struct wmi_access *access, unsigned e, unsigned *reg)
{
    const bool second = e && access->path == WMI_PATH_DS && access->facts->data[1].count;
    *reg = second ? 0 : access->element[e].reg;
    return &access->facts->data[second];
}

/* The difference of at most four bytes in memory. */
static uint32_t memory_difference(const struct wmi_uninit_place *place, uint64_t address, unsigned bytes)
{
    uint32_t difference = 0, origin;
    uint64_t missing = place->written ? wmi_written_missing(place->written, address, bytes) : 0;
    for (; missing; missing &= missing - 1) {
        const unsigned at = (unsigned)__builtin_ctzll(missing);
        difference |= (uint32_t)wmi_uninit_difference(place, address + at, &origin) << 8 * at;
    }
    return difference;
}

/* The data that one lane stores to one element. */
struct stored {
    unsigned words;
    uint32_t difference[WMI_ACCESS_ELEMENTS], origin[WMI_ACCESS_ELEMENTS];
    bool wholly; /* every byte differs */
};

static struct stored stored_by(const struct wmi_access *access, const struct wmi_shadow *shadow,
                               const struct wmi_uninit_instruction *insn, unsigned e, unsigned lane)
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
            wmi_shadow_word(shadow, access->frame, offset) >> (insn->d16_hi ? 16 : 0) & mask;
        stored.difference[stored.words] = difference;
        stored.origin[stored.words] = difference ? wmi_shadow_origin(shadow, offset) : 0;
        for (unsigned at = 0; at < left && at < 4; at++)
            stored.wholly &= (difference >> 8 * at & 0xff) != 0;
    }
    return stored;
}

/* The bytes that differ. */
static unsigned places_of(uint32_t difference)
{
    unsigned places = 0;
    for (unsigned at = 0; at < 4; at++)
        places |= (unsigned)((difference >> 8 * at & 0xff) != 0) << at;
    return places;
}

/* Handles one lane of a store by a wave with a shadow. Returns the origin of a value whose store is an error,
 * or 0. */
static uint32_t store_lane(struct wmi_uninit_shard *shard, const struct wmi_access *access,
                           const struct wmi_shadow *shadow, const struct wmi_uninit_instruction *insn,
                           unsigned e, unsigned lane, uint32_t slot)
{
    const uint64_t address = access->element[e].address[lane];
    const struct wmi_uninit_place place = wmi_uninit_place_of(shard, &access->element[e], address, slot);
    const struct stored stored = stored_by(access, shadow, insn, e, lane);
    uint32_t reported = 0;
    for (unsigned word = 0; word < stored.words; word++) {
        const unsigned left = access->bytes - 4 * word < 4 ? access->bytes - 4 * word : 4;
        const uint32_t difference = stored.difference[word], origin = stored.origin[word];
        /* Code writes a bit field by loading and storing the bits around it. These stay undefined, which is
         * no error. */
        const bool stays = !(difference & ~memory_difference(&place, address + 4 * word, left));
        wmi_uninit_written(shard, &place, address + 4 * word, left);
        if (!origin)
            continue;
        const struct wmi_uninit_origin from = wmi_uninit_origin_of(shard->check, origin);
        const bool padding = from.partial && !stored.wholly && !(places_of(difference) & ~from.places);
        const bool wrong =
            place.source == WMI_UNINIT_GLOBAL && !stays && !padding && !shard->check->dispatch.copies;
        if (wrong && !reported)
            reported = origin;
        for (unsigned at = 0; !insn->opaque && !wrong && at < left; at++)
            if (difference >> 8 * at & 0xff)
                wmi_uninit_undefine(shard, &place, address + 4 * word + at, (uint8_t)(difference >> 8 * at),
                                    origin);
    }
    if (insn->opaque || 4 * stored.words < access->bytes)
        wmi_uninit_written(shard, &place, address, access->bytes);
    return reported;
}

static void see_store(struct wmi_uninit_shard *shard, const struct wmi_access *access, uint32_t slot)
{
    const struct wmi_shadow *shadow = active_shadow(access);
    const struct wmi_uninit_instruction *insn =
        wmi_uninit_instruction_of(shard->check, shard->check->slot[slot]);
    uint64_t wrong = 0;
    uint32_t origin = 0;
    for (unsigned e = 0; e < access->elements; e++) {
        const struct wmi_element *element = &access->element[e];
        if (!shadow) {
            mark_element(shard, access, element, slot);
            continue;
        }
        if (element->space > WMI_SPACE_LDS)
            continue;
        for (uint64_t lanes = element->mask; lanes; lanes &= lanes - 1) {
            const unsigned lane = (unsigned)__builtin_ctzll(lanes);
            const uint32_t from =
                is_refused(element, lane) ? 0 : store_lane(shard, access, shadow, insn, e, lane, slot);
            wrong |= (uint64_t)(from != 0) << lane;
            origin = from && !origin ? from : origin;
        }
    }
    if (origin)
        wmi_uninit_use(shard, origin, WMI_UNINIT_STORE, access->pc, access->wave, wrong);
}

/* Handles the LDS side of a move from memory. */
static void see_move(struct wmi_uninit_shard *shard, const struct wmi_access *access, uint32_t slot)
{
    const struct wmi_element *element = &access->element[0];
    if (access->kind != WMI_ACCESS_STORE)
        return;
    mark_element(shard, access, element, slot);
    for (uint64_t lanes = element->mask; shard->moved_pc == access->pc && lanes; lanes &= lanes - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(lanes);
        const struct wmi_uninit_place place =
            wmi_uninit_place_of(shard, element, element->address[lane], slot);
        for (uint64_t left = is_refused(element, lane) ? 0 : shard->moved_bytes[lane]; left;
             left &= left - 1) {
            const uint64_t address = element->address[lane] + (unsigned)__builtin_ctzll(left);
            const uint32_t pattern = wmi_undefined_pattern(address);
            wmi_uninit_undefine(shard, &place, address, (uint8_t)(pattern >> address % 4 * 8),
                                shard->moved_origin);
        }
    }
    shard->moved_pc = 0;
}

/* ---- atomics ---- */

static void see_atomic(struct wmi_uninit_shard *shard, const struct wmi_access *access, uint32_t slot)
{
    const struct wmi_uninit_instruction *insn =
        wmi_uninit_instruction_of(shard->check, shard->check->slot[slot]);
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
            const struct wmi_uninit_origin origin = origin_of(shard, access, insn, lane, &load, slot);
            const uint32_t own = wmi_uninit_add_origin(shard, &origin);
            number = number ? number : own;
            wrong |= UINT64_C(1) << lane;
            const struct wmi_element one = {.space = access->element[e].space,
                                            .mask = UINT64_C(1) << lane,
                                            .address = access->element[e].address};
            mark_element(shard, access, &one, slot); /* another lane may update the same value */
        }
    }
    if (number)
        wmi_uninit_use(shard, number, WMI_UNINIT_ATOMIC, access->pc, access->wave, wrong);
}

void wmi_uninit_access(void *local, const struct wmi_access *access, uint32_t slot)
{
    struct wmi_uninit_shard *shard = local;
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
