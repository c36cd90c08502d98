/* SPDX-License-Identifier: MIT */
/* Fast steps of GLOBAL and FLAT loads and stores: all lanes in one allocation, or in LDS, checked once.
 *
 * FLAT needs no aperture test for allocations: none overlaps an aperture or lies within an instruction offset
 * of one, so a lane whose address is in an allocation does not address an aperture. Other accesses take
 * wmi_step_vmem_careful(). */
#include "base/lanes.h"
#include "exec/control/steps.h"
#include "exec/memory/guest_lanes.h"
#include "exec/memory/vmem.h"
#include "exec/memory/vmem_shape.h"

INLINE unsigned lane_bytes(struct shape shape)
{
    return shape.elements * shape.bytes;
}

/* ---- one lane's bytes in memory and its registers ---- */

/* The new register value after loading an element at `p`, given its old value. */
INLINE uint32_t fetch(const unsigned char *p, uint32_t old, struct shape shape)
{
    uint32_t value;
    if (shape.bytes == 4)
        return *(const word *)p;
    if (shape.bytes == 2)
        value = shape.is_signed ? (uint32_t)(int16_t)*(const half *)p : *(const half *)p;
    else
        value = shape.is_signed ? (uint32_t)(int8_t)*p : *p;
    if (shape.d16_hi)
        return (old & 0xffff) | value << 16;
    if (shape.d16)
        return (old & 0xffff0000) | (value & 0xffff);
    return value;
}

/* Writes the value to lane `i` if the lane is active; without a mask all lanes are. */
INLINE void blend(uint32_t *to, uint32_t value, const uint32_t *mask, unsigned i)
{
    *to = mask ? (*to & ~mask[i]) | (value & mask[i]) : value;
}

INLINE void blend_vector(uint32_t *row, unsigned v, u32v value, const uint32_t *mask)
{
    u32v *to = (u32v *)row + v;
    *to = mask ? wmi_select_u32(vector(mask, v), value, *to) : value;
}

/* Lanes whose elements are contiguous. Memory is read once, in whole vectors, unless elements are words. */
INLINE void fetch_lanes(uint32_t *restrict to, const unsigned char *restrict from,
                        const uint32_t *restrict mask, struct shape shape)
{
    const unsigned bytes = lane_bytes(shape);
    if (shape.elements == 1) {
        for (unsigned i = 0; i < WMI_LANES; i++)
            blend(&to[i], fetch(from + i * bytes, to[i], shape), mask, i);
    } else if (shape.elements == 3) {
        for (unsigned v = 0; v < VECTORS; v++, from += bytes * WMI_VECTOR_LANES) {
            u32v row[3];
            wmi_read_triples(from, row);
            for (unsigned e = 0; e < 3; e++)
                blend_vector(to + e * WMI_LANES, v, row[e], mask);
        }
    } else {
        for (unsigned v = 0; v < VECTORS; v++, from += bytes * WMI_VECTOR_LANES) {
            struct wmi_f64x2 pairs[2];
            if (shape.elements == 4)
                wmi_read_quads(from, &pairs[0], &pairs[1]);
            else
                wmi_read_pairs(from, &pairs[0]);
            for (unsigned e = 0; e < shape.elements; e += 2) {
                blend_vector(to + e * WMI_LANES, v, wmi_low_words(pairs[e / 2]), mask);
                blend_vector(to + (e + 1) * WMI_LANES, v, wmi_high_words(pairs[e / 2]), mask);
            }
        }
    }
}

/* One lane's registers, `stride` words apart. */
INLINE void fetch_one(uint32_t *to, unsigned stride, const unsigned char *p, struct shape shape)
{
    uint32_t values[4];
    if (shape.elements == 1) {
        to[0] = fetch(p, to[0], shape);
        return;
    }
    wmi_read_guest(values, p, lane_bytes(shape));
    for (unsigned e = 0; e < shape.elements; e++)
        to[e * stride] = values[e];
}

/* Two aligned words must not tear. */
INLINE void put_one(unsigned char *p, const uint32_t *from, unsigned i, struct shape shape)
{
    if (shape.elements == 1) {
        put(p, from[i], shape);
        return;
    }
    for (unsigned e = 0; e + 1 < shape.elements; e += 2)
        wmi_write_64(p + 4 * e, from[i + e * WMI_LANES] | (uint64_t)from[i + (e + 1) * WMI_LANES] << 32);
    if (shape.elements == 3)
        *(word *)(p + 8) = from[i + 2 * WMI_LANES];
}

/* Elements of a vector of lanes, contiguous. */
INLINE void put_vector(unsigned char *to, const uint32_t *from, unsigned v, struct shape shape)
{
    struct wmi_f64x2 pairs[2];
    if (shape.elements == 3) {
        u32v row[3];
        for (unsigned e = 0; e < 3; e++)
            row[e] = vector(from + e * WMI_LANES, v);
        wmi_write_triples(to, row);
        return;
    }
    for (unsigned e = 0; e < shape.elements; e += 2)
        pairs[e / 2] = wmi_join(vector(from + e * WMI_LANES, v), vector(from + (e + 1) * WMI_LANES, v));
    if (shape.elements == 4)
        wmi_write_quads(to, pairs[0], pairs[1]);
    else
        wmi_write_pairs(to, pairs[0]);
}

INLINE void put_words(unsigned char *restrict to, const uint32_t *restrict from, unsigned count,
                      struct shape shape)
{
    for (unsigned i = 0; i < count; i++)
        put(to + i * shape.bytes, from[i], shape);
}

/* Stores contiguous elements of all lanes. */
INLINE void put_lanes(unsigned char *restrict to, const uint32_t *restrict from, struct shape shape)
{
    if (shape.elements == 1) {
        put_words(to, from, WMI_LANES, shape);
        return;
    }
    for (unsigned v = 0; v < VECTORS; v++)
        put_vector(to + v * WMI_VECTOR_LANES * lane_bytes(shape), from, v, shape);
}

/* ---- addresses ---- */

/* Added to each lane's register. */
INLINE uint64_t common_base(const char *frame, const struct wmi_op *op, enum wmi_vmem_form form)
{
    const struct wmi_memory_op *m = op->data;
    return (uint64_t)m->offset + (form == WMI_VMEM_SADDR ? wmi_frame_64(frame, op->b) : 0);
}

INLINE uint64_t lane_register(const char *frame, const struct wmi_op *op, enum wmi_vmem_form form,
                              unsigned lane)
{
    const uint32_t *low = (const uint32_t *)(frame + op->a);
    return low[lane] | (form == WMI_VMEM_VADDR ? (uint64_t)low[lane + WMI_LANES] << 32 : 0);
}

INLINE bool holds(const struct wmi_hit *hit, uint64_t address, uint64_t bytes)
{
    const uint64_t size = hit->high - hit->low, at = address - hit->low;
    return at < size && bytes <= size - at;
}

enum {
    /* Prefetch distance in bytes. Following waves usually continue where this one ends, at strides that the
     * host's prefetchers do not detect. Zen 5: vecadd -14 %, spmv -22 %; 1024 and 4096 gave less. */
    AHEAD = 2048,
};

/* 0, step, 2 * step, ... for the first vector of a row. */
INLINE u32v rising(uint32_t step)
{
    u32v lane;
    for (uint32_t i = 0; i < WMI_VECTOR_LANES; i++)
        lane[i] = i * step;
    return lane;
}

/* Properties determined first. */
struct request {
    const struct wmi_lanes *lanes;
    unsigned first, last;                 /* active lanes */
    struct wmi_hit *hit;                  /* the allocation that the first active lane addresses, or: */
    struct wmi_hit lds;                   /* the workgroup's LDS, as far as it may be addressed */
    uint64_t first_register, base, start; /* start: address of the first active lane */
};

/* Whether FLAT addresses LDS, which is then treated like an allocation in the aperture. A lane's address must
 * be in the aperture before an instruction's offset is added, so LDS below a positive offset is left out. */
INLINE bool begin_lds(const char *frame, const struct wmi_memory_op *m, struct request *r)
{
    const struct wmi_workgroup *group = wmi_wave_of(frame)->group;
    const uint64_t shared = wmi_frame_slot_64(frame, WMI_S_SHARED_BASE), size = group->lds_size;
    const uint64_t below = m->offset > 0 ? (uint64_t)m->offset : 0;
    if (m->path != WMI_PATH_FLAT || !shared || below >= size || r->start - shared - below >= size - below ||
        (m->lds_m0 && ((const struct wmi_frame *)frame)->s[WMI_S_M0] < size))
        return false;
    r->lds = (struct wmi_hit){.low = shared + below, .high = shared + size, .host = group->lds + below};
    r->hit = &r->lds;
    return true;
}

/* False if no lane is active or the first one is outside every allocation and LDS; the slow path handles
 * these cases. */
INLINE bool begin(const char *frame, const struct wmi_op *op, unsigned bytes, enum wmi_vmem_form form,
                  struct request *r)
{
    const struct wmi_memory_op *m = op->data;
    struct wmi_worker *worker = wmi_wave_of(frame)->worker;
    r->lanes = (const struct wmi_lanes *)(frame + op->lanes);
    if (!r->lanes->bits)
        return false;
    r->first = (unsigned)__builtin_ctzll(r->lanes->bits);
    r->last = 63 - (unsigned)__builtin_clzll(r->lanes->bits);
    r->hit = &worker->hits[m->hit];
    r->base = common_base(frame, op, form);
    r->first_register = lane_register(frame, op, form, r->first);
    r->start = r->first_register + r->base;
    return holds(r->hit, r->start, bytes) || begin_lds(frame, m, r) ||
           wmi_vmem_touch(worker, r->hit, r->start);
}

/* Whether the active lanes' registers increase by `step` per lane. */
INLINE bool in_steps(const char *frame, const struct wmi_op *op, const struct request *r, unsigned step,
                     enum wmi_vmem_form form)
{
    const uint32_t *low = (const uint32_t *)(frame + op->a), *high = low + WMI_LANES;
    if (low[r->last] - low[r->first] != (r->last - r->first) * step) /* usually decides */
        return false;
    const u32v low_0 = rising(step) + (low[r->first] - r->first * step);
    const u32v high_0 = wmi_splat_u32(form == WMI_VMEM_VADDR ? high[r->first] : 0);
    const bool full = r->lanes->full;
    u32v differ = {0};
    for (unsigned v = 0; v < VECTORS; v++) {
        u32v here = vector(low, v) ^ (low_0 + v * WMI_VECTOR_LANES * step);
        if (form == WMI_VMEM_VADDR)
            here |= vector(high, v) ^ high_0;
        if (!full)
            here &= vector(r->lanes->row, v);
        differ |= here;
    }
    /* The high words are equal, so the low words must not wrap. */
    return !wmi_any(differ) && (uint64_t)low[r->first] + (r->last - r->first) * step <= UINT32_MAX;
}

/* The lanes' places as 32-bit distances from one host address; inactive lanes have distance 0, which is
 * valid. */
struct places {
    unsigned char *host;
    bool uniform;
    bool near;      /* all distances are below 2^31 */
    uint32_t limit; /* maximum distance at which an access may start */
    alignas(64) uint32_t at[WMI_LANES];
};

/* Lanes whose elements are anywhere, all active. The element loops are inside the lane loops: compilers
 * vectorise this with permutes and stores of whole rows. */
INLINE void fetch_places(uint32_t *to, const struct places *places, struct shape shape)
{
    if (shape.elements == 1) {
        for (unsigned i = 0; i < WMI_LANES; i++)
            to[i] = fetch(places->host + places->at[i], to[i], shape);
        return;
    }
    for (unsigned e = 0; e + 1 < shape.elements; e += 2)
        for (unsigned v = 0; v < VECTORS; v++) {
            const struct wmi_f64x2 pairs =
                wmi_collect_pairs(places->host + 4 * e, places->at + v * WMI_VECTOR_LANES);
            ((u32v *)(to + e * WMI_LANES))[v] = wmi_low_words(pairs);
            ((u32v *)(to + (e + 1) * WMI_LANES))[v] = wmi_high_words(pairs);
        }
    if (shape.elements == 3)
        for (unsigned i = 0; i < WMI_LANES; i++)
            to[2 * WMI_LANES + i] = *(const word *)(places->host + places->at[i] + 8);
}

INLINE bool find_places(const char *frame, const struct wmi_op *op, const struct request *r, unsigned bytes,
                        enum wmi_vmem_form form, struct places *places)
{
    const struct wmi_hit *hit = r->hit;
    /* In an allocation of more than 4 GiB, only the range around the first lane is covered. */
    const uint64_t first_at = r->start - hit->low;
    const uint64_t skip = first_at > UINT32_MAX / 2 ? first_at - UINT32_MAX / 2 : 0;
    const uint64_t size = hit->high - hit->low - skip;
    if (size < bytes)
        return false;
    const uint32_t limit = size - bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)(size - bytes);
    const uint64_t origin = hit->low + skip - r->base; /* register value with distance 0 */
    const uint32_t origin_low = (uint32_t)origin, origin_high = (uint32_t)(origin >> 32);
    const uint32_t uniform_at = (uint32_t)(r->first_register - origin);
    const uint32_t *low = (const uint32_t *)(frame + op->a), *high = low + WMI_LANES;
    u32v bad = {0}, differ = {0};
    for (unsigned v = 0; v < VECTORS; v++) {
        const u32v active = vector(r->lanes->row, v), at = vector(low, v) - origin_low;
        u32v far = (u32v)(vector(low, v) < origin_low) - origin_high; /* the borrow, as -1 */
        if (form == WMI_VMEM_VADDR)
            far += vector(high, v);
        bad |= (far | (u32v)(at > limit)) & active;
        differ |= (at ^ uniform_at) & active;
        ((u32v *)places->at)[v] = at & active;
    }
    places->host = hit->host + skip;
    places->uniform = !wmi_any(differ);
    places->near = limit <= INT32_MAX;
    places->limit = limit;
    return !wmi_any(bad);
}

#if WMI_VECTOR_BYTES >= 32
enum { RUN = 8 };

/* Whether the active lanes of every eight have consecutive places, as in two-dimensional workgroups. All
 * eight may then be read. */
INLINE bool lie_in_runs(const struct places *places, const struct wmi_lanes *lanes)
{
    u32v lane, differ = {0};
    if (places->limit < 4 * (RUN - 1))
        return false;
    for (uint32_t i = 0; i < WMI_VECTOR_LANES; i++)
        lane[i] = 4 * (i % RUN);
    for (unsigned v = 0; v < VECTORS; v++) {
        const u32v at = vector(places->at, v), first = wmi_first_of_eight(at);
        differ |= (at ^ (first + lane)) & vector(lanes->row, v);
        differ |= (u32v)(first > places->limit - 4 * (RUN - 1));
    }
    return !wmi_any(differ);
}
#endif

/* ---- the steps ---- */

/* Stores the words of the active lanes; `to` is the first active lane's place. */
INLINE void put_active_words(unsigned char *to, const uint32_t *from, const struct request *r)
{
    const uint64_t lane_0 = (uintptr_t)to - 4 * r->first; /* may precede the allocation */
    for (unsigned v = 0; v < VECTORS; v++)
        wmi_store_active((unsigned char *)lane_0 + v * WMI_VECTOR_BYTES, vector(from, v),
                         vector(r->lanes->row, v));
}

/* The same for elements of any shape. */
INLINE void put_active_lanes(unsigned char *to, const uint32_t *from, const struct request *r,
                             struct shape shape)
{
    const uint64_t all = UINT64_MAX >> (64 - WMI_VECTOR_LANES);
    const uintptr_t lane_0 = (uintptr_t)to - lane_bytes(shape) * r->first; /* may precede the allocation */
    uint64_t left = r->lanes->bits;
    for (unsigned v = 0; v < VECTORS && shape.elements > 1; v++)
        if ((left >> v * WMI_VECTOR_LANES & all) == all) {
            put_vector((unsigned char *)lane_0 + v * WMI_VECTOR_LANES * lane_bytes(shape), from, v, shape);
            left &= ~(all << v * WMI_VECTOR_LANES);
        }
    for (; left; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(left);
        put_one((unsigned char *)lane_0 + i * lane_bytes(shape), from, i, shape);
    }
}

INLINE const struct wmi_op *load_scattered(char *restrict frame, const struct wmi_op *op, struct shape shape,
                                           enum wmi_vmem_form form)
{
    struct request r;
    struct places places;
    if (!begin(frame, op, lane_bytes(shape), form, &r) ||
        !find_places(frame, op, &r, lane_bytes(shape), form, &places))
        return wmi_step_vmem_careful(frame, op);
    uint32_t *to = (uint32_t *)(frame + op->d);
    if (places.uniform) {
        const unsigned char *p = places.host + places.at[r.first];
        const uint32_t keep = shape.d16_hi ? 0xffff : shape.d16 ? 0xffff0000 : 0;
        uint32_t values[4] = {0};
        fetch_one(values, 1, p, shape);
        for (unsigned e = 0; e < shape.elements; e++) {
            const uint32_t value = values[e];
            for (unsigned v = 0; v < VECTORS; v++) {
                u32v *row = (u32v *)(to + e * WMI_LANES) + v;
                *row = wmi_select_u32(vector(r.lanes->row, v) & ~keep, wmi_splat_u32(value), *row);
            }
        }
        return wmi_next(frame, op);
    }
#if WMI_VECTOR_BYTES >= 32
    if (shape.elements == 1 && shape.bytes == 4 && lie_in_runs(&places, r.lanes)) {
        for (unsigned i = 0; i < WMI_LANES; i += RUN)
            __builtin_prefetch(places.host + places.at[i] + AHEAD);
        for (unsigned v = 0; v < VECTORS; v++) {
            const u32v words = wmi_load_eights(places.host, places.at + v * WMI_VECTOR_LANES);
            ((u32v *)to)[v] = wmi_select_u32(vector(r.lanes->row, v), words, vector(to, v));
        }
        return wmi_next(frame, op);
    }
#endif
    if (r.lanes->full) {
        fetch_places(to, &places, shape);
        return wmi_next(frame, op);
    }
    /* Not lane by lane: the next vector load of the row would stall until those stores are in the cache. */
    if (shape.bytes == 4 && places.near) {
        const char *host = (const char *)places.host;
        for (unsigned e = 0; e + 1 < shape.elements; e += 2)
            wmi_gather_pairs(to + e * WMI_LANES, to + (e + 1) * WMI_LANES, host + 4 * e, places.at,
                             r.lanes->bits);
        if (shape.elements % 2)
            wmi_lanes_gather(to + (shape.elements - 1) * WMI_LANES, host + 4 * (shape.elements - 1),
                             places.at, r.lanes->bits);
        return wmi_next(frame, op);
    }
    for (uint64_t left = r.lanes->bits; left; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(left);
        fetch_one(to + i, WMI_LANES, places.host + places.at[i], shape);
    }
    return wmi_next(frame, op);
}

INLINE const struct wmi_op *load_rest(char *restrict frame, const struct wmi_op *op, struct shape shape,
                                      enum wmi_vmem_form form, wmi_body scattered)
{
    const unsigned bytes = lane_bytes(shape);
    struct request r;
    if (!begin(frame, op, bytes, form, &r))
        return wmi_step_vmem_careful(frame, op);
    uint32_t *to = (uint32_t *)(frame + op->d);
    if (!in_steps(frame, op, &r, bytes, form))
        return scattered(frame, op);
    /* Bytes of inactive lanes may be read too, if they are in the allocation. */
    const uint64_t lane_0 = r.start - r.first * bytes;
    if (!holds(r.hit, lane_0, WMI_LANES * bytes))
        return scattered(frame, op);
    const unsigned char *from = r.hit->host + (lane_0 - r.hit->low);
    if (r.lanes->full)
        fetch_lanes(to, from, NULL, shape);
    else
        fetch_lanes(to, from, r.lanes->row, shape);
    return wmi_next(frame, op);
}

INLINE const struct wmi_op *store_scattered(char *restrict frame, const struct wmi_op *op, struct shape shape,
                                            enum wmi_vmem_form form)
{
    struct request r;
    struct places places;
    if (!begin(frame, op, lane_bytes(shape), form, &r) ||
        !find_places(frame, op, &r, lane_bytes(shape), form, &places))
        return wmi_step_vmem_careful(frame, op);
    const uint32_t *from = (const uint32_t *)(frame + op->c);
#if WMI_VECTOR_BYTES >= 32
    if (r.lanes->full && shape.elements == 1 && shape.bytes == 4 && lie_in_runs(&places, r.lanes)) {
        for (unsigned v = 0; v < VECTORS; v++)
            wmi_store_eights(places.host, places.at + v * WMI_VECTOR_LANES, vector(from, v));
        return wmi_next(frame, op);
    }
#endif
    if (r.lanes->full) {
        for (unsigned i = 0; i < WMI_LANES; i++)
            put_one(places.host + places.at[i], from, i, shape);
        return wmi_next(frame, op);
    }
    for (uint64_t left = r.lanes->bits; left; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(left);
        put_one(places.host + places.at[i], from, i, shape);
    }
    return wmi_next(frame, op);
}

INLINE const struct wmi_op *store_rest(char *restrict frame, const struct wmi_op *op, struct shape shape,
                                       enum wmi_vmem_form form, wmi_body scattered)
{
    const unsigned bytes = lane_bytes(shape);
    struct request r;
    if (!begin(frame, op, bytes, form, &r) || r.hit->flags & WMI_HIT_CAREFUL)
        return wmi_step_vmem_careful(frame, op);
    const uint32_t *from = (const uint32_t *)(frame + op->c);
    const unsigned count = r.last - r.first + 1;
    if (!in_steps(frame, op, &r, bytes, form) || !holds(r.hit, r.start, count * bytes))
        return scattered(frame, op);
    unsigned char *to = r.hit->host + (r.start - r.hit->low);
    if (r.lanes->full)
        put_lanes(to, from, shape);
    else if (shape.elements == 1 && shape.bytes == 4)
        put_active_words(to, from, &r);
    else if (shape.elements == 1 && r.lanes->bits >> r.first == UINT64_MAX >> (64 - count))
        put_words(to, from + r.first, count, shape);
    else
        put_active_lanes(to, from, &r, shape);
    return wmi_next(frame, op);
}

/* The most common case: all lanes active, consecutive addresses, in the allocation that the hit caches. These
 * steps handle only this case. */
enum whole { WHOLE_ROW, WHOLE_SCATTERED, NOT_WHOLE };

INLINE enum whole whole_row(const char *frame, const struct wmi_op *op, unsigned bytes,
                            enum wmi_vmem_form form, struct wmi_hit **hit, unsigned char **host)
{
    const struct wmi_memory_op *m = op->data;
    const uint32_t *low = (const uint32_t *)(frame + op->a), *high = low + WMI_LANES;
    *hit = &wmi_wave_of(frame)->worker->hits[m->hit];
    const uint64_t at = lane_register(frame, op, form, 0) + common_base(frame, op, form) - (*hit)->low;
    const uint64_t size = (*hit)->high - (*hit)->low;
    if (!((const struct wmi_lanes *)(frame + op->lanes))->full || size < WMI_LANES * bytes ||
        at > size - WMI_LANES * bytes)
        return NOT_WHOLE;
    if (low[WMI_LANES - 1] - low[0] != (WMI_LANES - 1) * bytes)
        return WHOLE_SCATTERED;
    const u32v low_0 = rising(bytes) + low[0], high_0 = wmi_splat_u32(form == WMI_VMEM_VADDR ? high[0] : 0);
    u32v differ = {0};
    for (unsigned v = 0; v < VECTORS; v++) {
        differ |= vector(low, v) ^ (low_0 + v * WMI_VECTOR_LANES * bytes);
        if (form == WMI_VMEM_VADDR)
            differ |= vector(high, v) ^ high_0;
    }
    /* The high words are equal, so the low words must not wrap. */
    if (wmi_any(differ) || low[0] > UINT32_MAX - (WMI_LANES - 1) * bytes)
        return WHOLE_SCATTERED;
    *host = (*hit)->host + at;
    return WHOLE_ROW;
}

INLINE const struct wmi_op *load(char *restrict frame, const struct wmi_op *op, struct shape shape,
                                 enum wmi_vmem_form form, wmi_body scattered, wmi_body rest)
{
    struct wmi_hit *hit;
    unsigned char *from;
    const enum whole whole = whole_row(frame, op, lane_bytes(shape), form, &hit, &from);
    if (whole != WHOLE_ROW)
        return (whole == WHOLE_SCATTERED ? scattered : rest)(frame, op);
    for (unsigned i = 0; i < WMI_LANES * lane_bytes(shape); i += 64)
        __builtin_prefetch(from + AHEAD + i);
    fetch_lanes((uint32_t *)(frame + op->d), from, NULL, shape);
    return wmi_next(frame, op);
}

INLINE const struct wmi_op *store(char *restrict frame, const struct wmi_op *op, struct shape shape,
                                  enum wmi_vmem_form form, wmi_body scattered, wmi_body rest)
{
    struct wmi_hit *hit;
    unsigned char *to;
    const enum whole whole = whole_row(frame, op, lane_bytes(shape), form, &hit, &to);
    if (whole == NOT_WHOLE || hit->flags & WMI_HIT_CAREFUL)
        return rest(frame, op);
    if (whole == WHOLE_SCATTERED)
        return scattered(frame, op);
    for (unsigned i = 0; i < WMI_LANES * lane_bytes(shape); i += 64)
        __builtin_prefetch(to + AHEAD + i, 1);
    put_lanes(to, (const uint32_t *)(frame + op->c), shape);
    return wmi_next(frame, op);
}

/* ---- one function per shape and form, and their table ---- */

#define STEP_LOAD            load
#define STEP_LOAD_rest       load_rest
#define STEP_LOAD_scattered  load_scattered
#define STEP_STORE           store
#define STEP_STORE_rest      store_rest
#define STEP_STORE_scattered store_scattered
#define NAME(kind, elements, bytes, sign, d16, hi, form)                                                     \
    kind##_##elements##x##bytes##_##sign##d16##hi##_##form
#define STEP(kind, name, rest, scattered, form, ...)                                                         \
    static __attribute__((noinline)) const struct wmi_op *scattered(char *restrict frame,                    \
                                                                    const struct wmi_op *op)                 \
    {                                                                                                        \
        return STEP_##kind##_scattered(frame, op, (struct shape){__VA_ARGS__}, WMI_VMEM_##form);             \
    }                                                                                                        \
    static __attribute__((noinline)) const struct wmi_op *rest(char *restrict frame,                         \
                                                               const struct wmi_op *op)                      \
    {                                                                                                        \
        return STEP_##kind##_rest(frame, op, (struct shape){__VA_ARGS__}, WMI_VMEM_##form, scattered);       \
    }                                                                                                        \
    static const struct wmi_op *name(char *restrict frame, const struct wmi_op *op)                          \
    {                                                                                                        \
        return STEP_##kind(frame, op, (struct shape){__VA_ARGS__}, WMI_VMEM_##form, scattered, rest);        \
    }
#define STEPS_OF(kind, form, ...)                                                                            \
    STEP(kind, NAME(kind, __VA_ARGS__, form), NAME(kind, __VA_ARGS__, form##_rest),                          \
         NAME(kind, __VA_ARGS__, form##_scattered), form, __VA_ARGS__)
#define STEPS(kind, ...) STEPS_OF(kind, VADDR, __VA_ARGS__) STEPS_OF(kind, SADDR, __VA_ARGS__)
WMI_VMEM_SHAPES(STEPS)

#define ENTRY(kind, elements, bytes, ...)                                                                    \
    {WMI_ACCESS_##kind,                                                                                      \
     elements,                                                                                               \
     bytes,                                                                                                  \
     __VA_ARGS__,                                                                                            \
     {NAME(kind, elements, bytes, __VA_ARGS__, VADDR), NAME(kind, elements, bytes, __VA_ARGS__, SADDR)}},

extern const struct wmi_vmem_step WMI_BUILD_NAME(wmi_vmem_steps)[];
const struct wmi_vmem_step WMI_BUILD_NAME(wmi_vmem_steps)[] = {WMI_VMEM_SHAPES(ENTRY){0}};
