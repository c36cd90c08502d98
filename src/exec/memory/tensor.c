/* SPDX-License-Identifier: MIT */
/* Tensor copies: a tile of a tensor of up to five dimensions moves between memory and LDS.
 *
 * Source: CDNA 5 ISA, "Tensor Data Mover Instructions", and LLVM's and Triton's code that fills descriptors.
 * Unverified: PAD_AMOUNT counts dwords from 1 on, ITERATE_COUNT 0 means once, the bounds are those of the
 * first iteration, ATOMIC_BARRIER_ADDRESS is in units of 8 bytes, and a dimension of the tile of 0 elements
 * is not used. */
#include "exec/control/steps.h"
#include "exec/memory/careful.h"
#include "exec/memory/vmem.h"
#include "sem/atomic.h"

enum { DIMENSIONS = 5, GROUP_2 = 4, GROUP_3 = 8, ADDRESS_BITS = 57, CHUNK = 32, ROWS = 16 };

/* A D#, as far as execution depends on it. */
struct tile {
    uint64_t memory;
    uint32_t lds, bytes; /* bytes: of an element */
    uint32_t bound[DIMENSIONS], size[DIMENSIONS];
    uint64_t stride[DIMENSIONS]; /* in elements */
    uint32_t interval, padding;  /* padding bytes after each so many bytes of LDS; padding 0: none */
    uint32_t times, workgroups;  /* workgroups: mask of those in the cluster that receive it; 0: this one */
    uint64_t memory_step, lds_step; /* of each iteration, in elements */
    bool gathers, arrives;
    uint32_t row[ROWS]; /* gathers: y of each row of the tile */
    uint32_t barrier;
};

/* `count` bits from bit `first` on of a group. */
static uint64_t bits_of(const uint32_t *group, unsigned first, unsigned count)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < count; i++)
        value |= (uint64_t)(group[(first + i) / 32] >> (first + i) % 32 & 1) << i;
    return value;
}

static void read_rows(struct tile *tile, const uint32_t *group0, const uint32_t *group2,
                      const uint32_t *group3)
{
    const bool wide = bits_of(group0, 30, 1);
    const unsigned most = wide ? ROWS / 2 : ROWS, bits = wide ? 32 : 16, in_group = most / 2;
    for (unsigned i = 0; i < most; i++)
        tile->row[i] = (uint32_t)bits_of(i < in_group ? group2 : group3, i % in_group * bits, bits);
    tile->size[1] = tile->size[1] < most ? tile->size[1] : most;
    tile->size[2] = tile->size[3] = tile->size[4] = 0;
}

static void read_tile(const char *frame, const struct wmi_op *op, struct tile *tile)
{
    static const uint32_t none[4];
    const uint32_t *g0 = (const uint32_t *)(frame + op->a), *g1 = (const uint32_t *)(frame + op->b);
    const uint32_t *g2 = op->x & GROUP_2 ? (const uint32_t *)(frame + op->c) : none;
    const uint32_t *g3 = op->x & GROUP_3 ? (const uint32_t *)(frame + op->e) : none;
    const bool iterates = bits_of(g1, 19, 1), pads = bits_of(g1, 20, 1);
    const unsigned above = 64 - ADDRESS_BITS;
    *tile = (struct tile){
        .memory = (uint64_t)((int64_t)(bits_of(g0, 64, ADDRESS_BITS) << above) >> above),
        .lds = g0[1],
        .bytes = 1u << bits_of(g1, 16, 2),
        .bound = {(uint32_t)bits_of(g1, 48, 32), (uint32_t)bits_of(g1, 80, 32), g2[0], g2[1],
                  (uint32_t)bits_of(g3, 48, 32)},
        .size = {(uint32_t)bits_of(g1, 112, 16), (uint32_t)bits_of(g1, 128, 16),
                 (uint32_t)bits_of(g1, 144, 16), (uint32_t)bits_of(g2, 112, 16),
                 (uint32_t)bits_of(g3, 80, 16)},
        .stride = {1, bits_of(g1, 160, 48), bits_of(g1, 208, 48), bits_of(g2, 64, 48), bits_of(g3, 0, 48)},
        .interval = 8u << bits_of(g1, 22, 3),
        .padding = pads ? 4 * ((uint32_t)bits_of(g1, 25, 7) + 1) : 0,
        .times = 1,
        .workgroups = (uint32_t)bits_of(g1, 0, 16),
        .gathers = bits_of(g0, 31, 1),
        .arrives = bits_of(g1, 18, 1),
        .barrier = 8 * (uint32_t)bits_of(g1, 32, 16),
    };
    if (tile->gathers) {
        read_rows(tile, g0, g2, g3);
    } else if (iterates) {
        tile->times = tile->size[3] ? tile->size[3] : 1;
        tile->lds_step = g2[1];
        tile->memory_step = tile->stride[3];
        tile->size[3] = tile->size[4] = 0;
    }
    if (!(op->x & GROUP_2)) /* tensors of up to two dimensions */
        tile->size[2] = 0;
}

/* An element of the tile, and where it is. */
struct place {
    uint64_t memory;
    uint32_t lds;
    bool inside; /* the tensor */
};

/* One after the other, in the order in which LDS has them. What an iteration would copy beyond the end of LDS
 * is left out, so that a wrong descriptor ends soon (unverified of stores, which might store zeros). */
struct walk {
    const struct tile *tile;
    bool pads, ends;
    uint32_t at[DIMENSIONS], time;
    uint64_t lds, end; /* end: of LDS */
    uint32_t since;    /* bytes since the last padding */
};

static void next_time(struct walk *walk)
{
    const struct tile *tile = walk->tile;
    memset(walk->at, 0, sizeof walk->at);
    walk->time++;
    walk->lds = tile->lds + walk->time * tile->lds_step * tile->bytes;
    walk->since = 0;
    walk->ends = walk->time >= tile->times;
}

static struct walk walk_of(const char *frame, const struct tile *tile, bool loads)
{
    return (struct walk){.tile = tile,
                         .pads = loads && tile->padding,
                         .lds = tile->lds,
                         .end = wmi_wave_of(frame)->group->lds_size,
                         .ends = !tile->size[0]};
}

/* Each workgroup of a multicast asks for the same tile and loads its own copy, see
 * wmi_step_vmem_multicast_lanes(). Stores ignore the mask. */
static bool receives(const char *frame, const struct tile *tile, const struct wmi_memory_op *m)
{
    const struct wmi_workgroup *group = wmi_wave_of(frame)->group;
    return m->kind != WMI_ACCESS_LOAD || !group->cluster || !tile->workgroups ||
           tile->workgroups >> group->rank & 1;
}

static void step_on(struct walk *walk)
{
    const struct tile *tile = walk->tile;
    walk->lds += tile->bytes;
    walk->since += tile->bytes;
    if (walk->pads && walk->since >= tile->interval) {
        walk->since = 0;
        walk->lds += tile->padding;
    }
    for (unsigned i = 0; i < DIMENSIONS; i++) {
        if (++walk->at[i] < tile->size[i])
            return;
        walk->at[i] = 0;
    }
    next_time(walk);
}

static bool next_place(struct walk *walk, struct place *place)
{
    const struct tile *tile = walk->tile;
    while (!walk->ends && walk->lds >= walk->end)
        next_time(walk);
    if (walk->ends)
        return false;
    uint64_t elements = walk->time * tile->memory_step;
    place->inside = true;
    for (unsigned i = 0; i < DIMENSIONS; i++) {
        const uint32_t at = i == 1 && tile->gathers ? tile->row[walk->at[1]] : walk->at[i];
        elements += at * tile->stride[i];
        place->inside &= !tile->size[i] || at < tile->bound[i];
    }
    place->memory = tile->memory + elements * tile->bytes;
    place->lds = (uint32_t)walk->lds;
    step_on(walk);
    return true;
}

static bool is_in_lds(const struct wmi_workgroup *group, uint32_t at, uint32_t bytes)
{
    return at < group->lds_size && bytes <= group->lds_size - at;
}

static void arrive(struct wmi_workgroup *group, uint32_t at)
{
    uint64_t barrier;
    if (!is_in_lds(group, at, sizeof barrier))
        return;
    memcpy(&barrier, group->lds + at, sizeof barrier);
    barrier = wmi_atomic_barrier_arrive_64(barrier, 1, 0);
    memcpy(group->lds + at, &barrier, sizeof barrier);
}

/* Copies an element. Reads outside of the tensor or of LDS give 0, and writes there are dropped. False: its
 * memory is forbidden. */
static bool copy(const struct wmi_memory_op *m, struct wmi_wave *wave, const struct place *place,
                 uint32_t bytes)
{
    const bool loads = m->kind == WMI_ACCESS_LOAD, in_lds = is_in_lds(wave->group, place->lds, bytes);
    struct wmi_hit *hit = &wave->worker->hits[m->hit];
    unsigned char *lds = in_lds ? wave->group->lds + place->lds : NULL, *host = NULL;
    uint64_t value = 0;
    if (place->inside)
        host = wmi_vmem_reach(wave->worker, hit, place->memory, bytes);
    const bool allowed = !place->inside || (host && (loads || !(hit->flags & WM_READ_ONLY)));
    if (loads && host)
        wmi_read_guest(&value, host, bytes);
    if (loads && lds)
        memcpy(lds, &value, bytes);
    if (!loads && lds)
        memcpy(&value, lds, bytes);
    if (!loads && host && allowed && !(hit->flags & WM_UNBOUND))
        wmi_write_guest(host, &value, bytes);
    return allowed;
}

const struct wmi_op *wmi_step_tensor_copy(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    struct wmi_wave *wave = wmi_wave_of(frame);
    struct tile tile;
    struct place place;
    read_tile(frame, op, &tile);
    struct walk walk = walk_of(frame, &tile, m->kind == WMI_ACCESS_LOAD);
    walk.ends |= !receives(frame, &tile, m);
    struct wmi_fault fault = {.kind = WM_FAULT_MEMORY,
                              .pc = m->pc,
                              .low = UINT64_MAX,
                              .bytes = tile.bytes,
                              .store = m->kind == WMI_ACCESS_STORE};
    while (next_place(&walk, &place)) {
        if (copy(m, wave, &place, tile.bytes))
            continue;
        if (wmi_vmem_reach(wave->worker, &wave->worker->hits[m->hit], place.memory, tile.bytes) &&
            !fault.lanes)
            fault.kind = WM_FAULT_READ_ONLY;
        fault.lanes = 1;
        wmi_fault_reaches(&fault, place.memory, tile.bytes);
    }
    if (fault.lanes && !wmi_wave_violates(wave, &fault))
        return NULL;
    if (tile.arrives)
        arrive(wave->group, tile.barrier);
    return op + 1;
}

/* Shows the elements of a chunk as if each were a lane's. */
static void show(const char *frame, const struct wmi_op *op, uint32_t bytes, uint64_t address[64],
                 struct wmi_element *element, bool first)
{
    const struct wmi_memory_op *m = op->data;
    const struct wmi_wave *wave = wmi_wave_of(frame);
    struct wmi_access access;
    wmi_access_begin(&access, m, wave, element->mask);
    if (op->y)
        access.kind = m->kind == WMI_ACCESS_LOAD ? WMI_ACCESS_STORE : WMI_ACCESS_LOAD;
    access.goes_on = !first;
    access.elements = 1;
    access.bytes = (uint8_t)bytes;
    element->address = address;
    access.element[0] = *element;
    wmi_show_access(wave, m, &access);
}

static void add(const char *frame, const struct wmi_op *op, const struct place *place, uint32_t bytes,
                struct wmi_element *element, unsigned lane)
{
    const struct wmi_memory_op *m = op->data;
    struct wmi_wave *wave = wmi_wave_of(frame);
    const uint64_t bit = 1ULL << lane;
    element->mask |= op->y || place->inside ? bit : 0;
    const bool reached =
        op->y ? is_in_lds(wave->group, place->lds, bytes)
              : wmi_vmem_reach(wave->worker, &wave->worker->hits[m->hit], place->memory, bytes) != NULL;
    element->bad_range |= reached ? 0 : bit & element->mask;
}

const struct wmi_op *wmi_step_tensor_watch(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    struct tile tile;
    struct place place;
    read_tile(frame, op, &tile);
    struct walk walk = walk_of(frame, &tile, m->kind == WMI_ACCESS_LOAD);
    walk.ends |= !receives(frame, &tile, m);
    for (bool first = true; !walk.ends; first = false) {
        struct wmi_element element = {.space = op->y ? WMI_SPACE_LDS : WMI_SPACE_GLOBAL};
        uint64_t address[64] = {0};
        for (unsigned lane = 0; lane < CHUNK && next_place(&walk, &place); lane++) {
            address[lane] = op->y ? place.lds : place.memory;
            add(frame, op, &place, tile.bytes, &element, lane);
        }
        if (element.mask)
            show(frame, op, tile.bytes, address, &element, first);
    }
    return op + 1;
}
