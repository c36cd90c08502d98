/* SPDX-License-Identifier: MIT */
/* Scalar loads and stores through a non-coherent data cache. Implemented as steps rather than an observer,
 * because WM_SCALAR_CACHE_STALE changes the values that loads return; checking uses the same lines.
 *
 * Sources: Vega ISA, "Scalar Memory Operations" (write-back, S_DCACHE_WB, _INV, _VOL and the NV bit), CLRX on
 * S_DCACHE_DISCARD. Unverified: a load with GLC refetches its line, atomics evict their line, invalidation
 * discards dirty data, and lines are volatile unless an access sets NV. */
#include "exec/memory/smem_cache.h"
#include "exec/memory/smem.h"

#include "exec/control/steps.h"
#include "exec/run/dispatch.h"

#include <stdlib.h>

enum { LINE = 64, WAYS = 4, SETS = 64 };

struct line {
    uint64_t address; /* of its first byte */
    uint64_t dirty;   /* one bit per byte */
    uint64_t used;    /* the cache's clock at the last use; 0: invalid */
    uint64_t store_pc;
    uint32_t store_wave;
    bool is_volatile;
    unsigned char bytes[LINE];
};

struct wmi_scalar_cache {
    uint64_t clock;
    struct line line[SETS][WAYS];
};

/* ---- findings ---- */

static struct wmi_stales *stales_of(const struct wmi_workgroup *group)
{
    return &group->dispatch->stales;
}

static void add_stale(struct wmi_workgroup *group, unsigned kind, uint64_t pc, uint32_t wave,
                      uint64_t address)
{
    struct wmi_stales *s = stales_of(group);
    pthread_mutex_lock(&s->lock);
    size_t at = 0;
    while (at < s->count && (s->found[at].kind != kind || s->found[at].pc != pc))
        at++;
    if (at == s->count && s->count == s->room) {
        const size_t room = 2 * s->room + 16;
        struct wmi_stale *more = realloc(s->found, room * sizeof *more);
        if (more) {
            s->found = more;
            s->room = room;
        }
        s->lost |= !more;
    }
    if (at == s->count && at < s->room)
        s->found[s->count++] = (struct wmi_stale){kind, pc, 0, group->flat_id, address, wave};
    if (at < s->count) {
        struct wmi_stale *found = &s->found[at];
        found->count++;
        if (group->flat_id < found->group || (group->flat_id == found->group && wave < found->wave)) {
            found->group = group->flat_id;
            found->wave = wave;
            found->address = address;
        }
    }
    pthread_mutex_unlock(&s->lock);
}

/* ---- lines ---- */

static bool really_stale(const struct wmi_workgroup *group)
{
    return stales_of(group)->mode == WM_SCALAR_CACHE_STALE;
}

/* The part of a line that an allocation covers: returns its host address and [*first, *first + *count); NULL
 * if there is none. */
static unsigned char *memory_of(const struct wmi_workgroup *group, uint64_t address, unsigned *first,
                                unsigned *count)
{
    struct wmi_hit hit = {0};
    for (unsigned at = 0; at < LINE; at++) { /* an allocation may start within the line */
        if (!wmi_space_reach(group->dispatch->space, address + at, &hit))
            continue;
        const uint64_t left = hit.high - (address + at);
        *first = at;
        *count = left < LINE - at ? (unsigned)left : LINE - at;
        return hit.host + (address + at - hit.low);
    }
    return NULL;
}

/* The length of the longest aligned piece of the line from this byte on whose bytes are all dirty: 8, 4 or 1;
 * 0: the byte is not. */
static unsigned dirty_piece(const struct line *line, unsigned at, unsigned left)
{
    for (unsigned bytes = 8; bytes; bytes /= bytes > 4 ? 2 : 4) {
        const uint64_t all = (UINT64_C(1) << bytes) - 1;
        if (at % bytes == 0 && bytes <= left && (line->dirty >> at & all) == all)
            return bytes;
    }
    return 0;
}

static void write_back(const struct wmi_workgroup *group, struct line *line)
{
    unsigned first, count;
    unsigned char *memory =
        line->dirty && really_stale(group) ? memory_of(group, line->address, &first, &count) : NULL;
    for (unsigned i = 0, piece; memory && i < count; i += piece ? piece : 1) {
        piece = dirty_piece(line, first + i, count - i);
        wmi_write_guest(memory + i, line->bytes + first + i, piece);
    }
    line->dirty = 0;
}

static struct line *find(struct wmi_scalar_cache *cache, uint64_t address)
{
    struct line *set = cache->line[address / LINE % SETS];
    for (unsigned way = 0; way < WAYS; way++)
        if (set[way].used && set[way].address == address)
            return &set[way];
    return NULL;
}

/* The way to fill: a free one, otherwise the least recently used. */
static struct line *way_for(struct wmi_scalar_cache *cache, uint64_t address)
{
    struct line *set = cache->line[address / LINE % SETS], *oldest = set;
    for (unsigned way = 1; way < WAYS; way++)
        if (set[way].used < oldest->used)
            oldest = &set[way];
    return oldest;
}

/* The line in the workgroup's cache; fetched if it misses or if `anew` is set. */
static struct line *fetch(struct wmi_workgroup *group, uint64_t address, bool anew)
{
    struct wmi_scalar_cache *cache = group->scalar_cache;
    struct line *line = find(cache, address);
    if (!line || anew) {
        unsigned first, count;
        if (!line)
            line = way_for(cache, address);
        write_back(group, line);
        *line = (struct line){.address = address};
        const unsigned char *memory = memory_of(group, address, &first, &count);
        if (memory)
            wmi_read_guest(line->bytes + first, memory, count);
    }
    line->used = ++cache->clock;
    return line;
}

static void drop(struct wmi_workgroup *group, struct line *line)
{
    if (line->dirty)
        add_stale(group, WM_STALE_STORE, line->store_pc, line->store_wave,
                  line->address + (unsigned)__builtin_ctzll(line->dirty));
    line->dirty = 0;
    line->used = 0;
}

void wmi_scalar_cache_end(struct wmi_workgroup *group, bool finished)
{
    struct wmi_scalar_cache *cache = group->scalar_cache;
    for (unsigned i = 0; cache && finished && i < SETS * WAYS; i++)
        drop(group, &cache->line[i / WAYS][i % WAYS]);
    free(cache);
    group->scalar_cache = NULL;
}

/* ---- steps ---- */

/* Whether a byte of [offset, offset + bytes) that is not dirty differs from memory. */
static bool is_stale(const struct line *line, unsigned offset, unsigned bytes, const unsigned char *host)
{
    for (unsigned i = 0; i < bytes; i++)
        if (!(line->dirty >> (offset + i) & 1) && line->bytes[offset + i] != host[i])
            return true;
    return false;
}

/* Copies the place between `registers` and the cache lines; `host` is its location in memory. */
static void move(char *frame, const struct wmi_op *op, const struct wmi_scalar_place *place,
                 unsigned char *registers, unsigned char *host)
{
    const struct wmi_memory_op *m = op->data;
    struct wmi_wave *wave = wmi_wave_of(frame);
    struct wmi_workgroup *group = wave->group;
    const bool store = m->kind == WMI_ACCESS_STORE, real = really_stale(group);
    bool stale = false;
    for (uint32_t done = 0, piece; done < place->bytes; done += piece) {
        const uint64_t at = place->address + done;
        const unsigned offset = (unsigned)(at % LINE);
        piece = LINE - offset < place->bytes - done ? LINE - offset : place->bytes - done;
        struct line *line = fetch(group, at - offset, !store && m->policy & WMI_POLICY_GLC);
        line->is_volatile |= !(m->policy & WMI_POLICY_NV);
        if (store) {
            memcpy(line->bytes + offset, registers + done, piece);
            line->dirty |= (piece == LINE ? UINT64_MAX : (UINT64_C(1) << piece) - 1) << offset;
            line->store_pc = m->pc;
            line->store_wave = wave->index;
            continue;
        }
        stale |= is_stale(line, offset, piece, host + done);
        wmi_read_guest(registers + done, real ? line->bytes + offset : host + done, piece);
    }
    if (store && !real)
        wmi_write_guest(host, registers, place->bytes);
    if (stale)
        add_stale(group, WM_STALE_LOAD, m->pc, wave->index, place->address);
}

/* Writes back and evicts the line: atomics execute in memory. */
static void give_up(struct wmi_workgroup *group, uint64_t address)
{
    struct line *line = find(group->scalar_cache, address / LINE * LINE);
    if (!line)
        return;
    write_back(group, line);
    line->used = 0;
}

static bool has_cache(struct wmi_workgroup *group)
{
    return group->scalar_cache || (group->scalar_cache = calloc(1, sizeof *group->scalar_cache));
}

const struct wmi_op *wmi_step_scalar_cached(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    struct wmi_workgroup *group = wmi_wave_of(frame)->group;
    struct wmi_worker *worker = wmi_wave_of(frame)->worker;
    const struct wmi_scalar_place place = wmi_scalar_place_of(frame, op);
    unsigned char registers[64] = {0};
    if (!has_cache(group))
        return wmi_wave_fault(wmi_wave_of(frame),
                              &(struct wmi_fault){.kind = WM_FAULT_NO_MEMORY, .pc = m->pc});
    if (m->kind == WMI_ACCESS_ATOMIC) {
        if (place.bytes)
            give_up(group, place.address);
        return wmi_step_scalar_atomic(frame, op);
    }
    unsigned char *host =
        place.bytes ? wmi_vmem_reach(worker, &worker->hits[m->hit], place.address, place.bytes) : NULL;
    if (place.bytes && !host)
        return wmi_scalar_refuse(frame, op, WM_FAULT_MEMORY, &place);
    if (m->kind == WMI_ACCESS_STORE) {
        if (host && worker->hits[m->hit].flags & WM_UNBOUND)
            return op + 1;
        if (host && worker->hits[m->hit].flags & WM_READ_ONLY)
            return wmi_scalar_refuse(frame, op, WM_FAULT_READ_ONLY, &place);
        memcpy(registers, frame + op->c, place.wanted);
    }
    if (host)
        move(frame, op, &place, registers, host);
    if (m->kind == WMI_ACCESS_STORE)
        return op + 1;
    const uint32_t small = m->bytes < 4 ? wmi_vmem_loaded(m, registers, 0) : 0;
    memcpy(frame + op->d, m->bytes < 4 ? (const void *)&small : registers, m->bytes < 4 ? 4 : place.wanted);
    return op + 1;
}

/* Whether bytes of [address, address + bytes) are dirty. */
static bool is_dirty(struct wmi_scalar_cache *cache, uint64_t address, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        const struct line *line = find(cache, (address + i) / LINE * LINE);
        if (line && line->dirty >> (address + i) % LINE & 1)
            return true;
    }
    return false;
}

const struct wmi_op *wmi_step_scalar_cache_passed_by(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    struct wmi_wave *wave = wmi_wave_of(frame);
    struct wmi_vmem_plan plan;
    if (!wave->group->scalar_cache)
        return op + 1;
    wmi_vmem_make_plan(frame, op, &plan);
    for (uint64_t left = plan.global & ~(plan.outside | plan.aperture); left; left &= left - 1) {
        const uint64_t address = plan.address[__builtin_ctzll(left)];
        if (!is_dirty(wave->group->scalar_cache, address, plan.bytes))
            continue;
        add_stale(wave->group, WM_STALE_VECTOR_LOAD, m->pc, wave->index, address);
        break;
    }
    return op + 1;
}

const struct wmi_op *wmi_step_scalar_cache_control(char *restrict frame, const struct wmi_op *op)
{
    struct wmi_workgroup *group = wmi_wave_of(frame)->group;
    struct wmi_scalar_cache *cache = group->scalar_cache;
    for (unsigned i = 0; cache && i < SETS * WAYS && !(op->x & WMI_SCALAR_DISCARD); i++) {
        struct line *line = &cache->line[i / WAYS][i % WAYS];
        if (!line->used || (op->x & WMI_SCALAR_VOLATILE_ONLY && !line->is_volatile))
            continue;
        if (op->x & WMI_SCALAR_WRITE_BACK)
            write_back(group, line);
        if (op->x & WMI_SCALAR_INVALIDATE)
            drop(group, line);
    }
    if (cache && op->x & WMI_SCALAR_DISCARD) {
        struct wmi_op load = *op;
        load.x = 0; /* base address, not a V# */
        const uint64_t bytes = (uint64_t)LINE * op->y;
        const uint64_t first = wmi_scalar_place_of(frame, &load).address / bytes * bytes;
        for (unsigned i = 0; i < op->y; i++) {
            struct line *line = find(cache, first + LINE * i);
            if (line)
                line->used = line->dirty = 0;
        }
    }
    return op + 1;
}
