/* SPDX-License-Identifier: MIT */
/* Properties of a linear buffer access over all lanes: the farthest place, and each lane's distance from the
 * base. For *_lanes.c. */
#ifndef WMI_BUFFER_MOST_H
#define WMI_BUFFER_MOST_H

#include "exec/memory/buffer.h"
#include "exec/memory/vmem_shape.h"

/* The maximum over the active lanes, 0 if there are none. */
INLINE uint32_t most_of(const uint32_t *row, const struct wmi_lanes *lanes)
{
    u32v high = {0};
    uint32_t most = 0;
    for (unsigned v = 0; v < VECTORS; v++) {
        const u32v here = vector(row, v) & vector(lanes->row, v);
        high = wmi_select_u32((u32v)(here > high), here, high);
    }
    for (unsigned i = 0; i < WMI_VECTOR_LANES; i++)
        most = high[i] > most ? high[i] : most;
    return most;
}

/* The place with the highest index and the highest offset of the active lanes, plus `last` bytes. False
 * unless the V# is linear, `bytes` at that place are in range, and all distances from the base fit in 32
 * bits. */
INLINE bool most_place(const char *frame, const struct wmi_op *op, const struct wmi_buffer *buffer,
                       uint32_t last, uint32_t bytes, struct wmi_buffer_place *place)
{
    const struct wmi_memory_op *m = op->data;
    const struct wmi_lanes *lanes = (const struct wmi_lanes *)(frame + op->lanes);
    const uint32_t *row = (const uint32_t *)(frame + op->a);
    uint64_t offset = (uint64_t)(uint32_t)m->offset + last;
    uint32_t index = 0;
    if (buffer->swizzle || buffer->lane)
        return false;
    if (op->y & WMI_BUFFER_IDXEN) {
        index = most_of(row, lanes);
        row += WMI_LANES;
    }
    if (op->y & WMI_BUFFER_OFFEN)
        offset += most_of(row, lanes);
    *place = (struct wmi_buffer_place){
        .index = index, .offset = offset, .soffset = *(const uint32_t *)(frame + op->e), .bytes = bytes};
    return offset <= UINT32_MAX && (uint64_t)index * buffer->stride + offset <= UINT32_MAX &&
           wmi_buffer_in_range(buffer, place);
}

/* distance = index * stride + VGPR offset + `more`, for all lanes including inactive ones. */
INLINE void fill_distances(const char *frame, const struct wmi_op *op, const struct wmi_buffer *buffer,
                           uint32_t *to, uint32_t more)
{
    const uint32_t *row = (const uint32_t *)(frame + op->a);
    const bool idxen = op->y & WMI_BUFFER_IDXEN, offen = op->y & WMI_BUFFER_OFFEN;
    const uint32_t *offsets = row + (idxen ? WMI_LANES : 0);
    for (unsigned v = 0; v < VECTORS; v++) {
        u32v distance = wmi_splat_u32(more);
        if (idxen)
            distance += vector(row, v) * buffer->stride;
        if (offen)
            distance += vector(offsets, v);
        ((u32v *)to)[v] = distance;
    }
}

#endif
