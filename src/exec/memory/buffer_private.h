/* SPDX-License-Identifier: MIT */
/* Private memory that buffer instructions access by a V# with dword swizzle, whose index is the lane: the
 * places of all lanes. For *_lanes.c. */
#ifndef WMI_BUFFER_PRIVATE_H
#define WMI_BUFFER_PRIVATE_H

#include "exec/memory/buffer_most.h"

enum { PRIVATE_ROW = 4 * WMI_LANES };

/* Properties common to all lanes. */
struct request {
    const struct wmi_lanes *lanes;
    struct wmi_hit *hit;
    uint64_t base;   /* address of lane 0 at offset 0 */
    uint64_t buffer; /* that of the V# */
    uint32_t offset; /* offset of the first active lane */
    bool uniform;    /* all active lanes have this offset */
};

/* Whether the V# is private memory and all lanes may access offsets below `end`. */
INLINE bool is_private(const char *frame, const struct wmi_op *op, uint64_t end, uint32_t soffset)
{
    const struct wmi_memory_op *m = op->data;
    const struct wmi_buffer_rules *rules = m->buffer;
    const uint32_t *words = (const uint32_t *)(frame + op->b);
    if (WMI_LANES == 64 && rules->private_unchecked)
        return (words[1] & rules->private_mask[0]) == rules->private_value[0] &&
               (words[3] & rules->private_mask[1]) == rules->private_value[1];
    const struct wmi_buffer buffer = wmi_buffer_of(frame, op);
    if (!buffer.swizzle || !buffer.add_tid || buffer.element_size != 4 || buffer.index_stride != WMI_LANES ||
        end > UINT32_MAX)
        return false;
    const struct wmi_buffer_place last = {
        .lane = WMI_LANES - 1, .offset = end - 1, .soffset = soffset, .bytes = 1};
    return wmi_buffer_in_range(&buffer, &last);
}

/* False if the V# is not private memory, a lane is out of range or no lane is active. */
INLINE bool begin_private(const char *frame, const struct wmi_op *op, struct request *r, struct shape shape)
{
    const struct wmi_memory_op *m = op->data;
    const uint32_t *words = (const uint32_t *)(frame + op->b);
    const uint32_t soffset = *(const uint32_t *)(frame + op->e);
    uint32_t most = 0;
    r->lanes = (const struct wmi_lanes *)(frame + op->lanes);
    if (op->y & WMI_BUFFER_IDXEN || !r->lanes->bits)
        return false;
    r->offset = (uint32_t)m->offset;
    r->uniform = true;
    if (op->y & WMI_BUFFER_OFFEN) {
        const uint32_t *row = (const uint32_t *)(frame + op->a);
        const uint32_t first = row[__builtin_ctzll(r->lanes->bits)];
        u32v differ = {0};
        for (unsigned v = 0; v < VECTORS; v++)
            differ |= (vector(row, v) ^ first) & vector(r->lanes->row, v);
        r->uniform = !wmi_any(differ);
        r->offset += first;
        most = r->uniform ? first : most_of(row, r->lanes);
    }
    /* Offsets wrap at 32 bits; wrapping ones take the slow path where offsets are checked. */
    const uint64_t end = (uint64_t)most + (uint32_t)m->offset + shape.elements * shape.bytes;
    if (!is_private(frame, op, end, soffset))
        return false;
    r->hit = &wmi_wave_of(frame)->worker->hits[m->hit];
    r->buffer = wmi_buffer_base(m->buffer, words);
    r->base = r->buffer + soffset;
    return true;
}

/* Host address of lane 0's dword at the common offset; NULL unless one allocation holds all rows of the
 * access and each element lies within a dword. */
INLINE unsigned char *private_rows(const char *frame, const struct request *r, struct shape shape)
{
    if (r->offset % 4 + shape.bytes > 4)
        return NULL;
    return wmi_vmem_reach_private(frame, r->hit, r->buffer, r->base + (uint64_t)(r->offset / 4) * PRIVATE_ROW,
                                  shape.elements * PRIVATE_ROW, false);
}

/* Distance of each active lane's first element from the start of the allocation; inactive lanes get the place
 * of the first active lane's offset. */
INLINE bool private_places(const char *frame, const struct wmi_op *op, const struct request *r,
                           struct shape shape, uint64_t *places)
{
    const struct wmi_memory_op *m = op->data;
    const uint32_t *row = (const uint32_t *)(frame + op->a);
    if (!wmi_vmem_reach_private(frame, r->hit, r->buffer, r->base + (uint64_t)(r->offset / 4) * PRIVATE_ROW,
                                4, false))
        return false;
    const uint64_t size = r->hit->high - r->hit->low, base = r->base - r->hit->low;
    const uint64_t span = (shape.elements - 1) * PRIVATE_ROW + 4;
    if (size < span)
        return false;
    const uint64_t limit = size - span;
    uint64_t bad = 0;
    for (unsigned i = 0; i < WMI_LANES; i++) {
        const uint32_t active = r->lanes->row[i % WMI_LANES];
        const uint32_t own = row[i % WMI_LANES] + (uint32_t)m->offset;
        const uint32_t offset = (own & active) | (r->offset & ~active);
        const uint64_t at = base + (uint64_t)(offset / 4) * PRIVATE_ROW + 4 * i;
        bad |= (uint64_t)(at > limit) & active;
        bad |= (uint64_t)(offset % 4 + shape.bytes > 4);
        places[i] = at + offset % 4;
    }
    return !bad;
}

#endif
