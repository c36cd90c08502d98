/* SPDX-License-Identifier: MIT */
/* Places of a DS instruction and writes of result rows, for the lds*_lanes.c files only.
 *
 * A place is what one lane reads or writes at one address. The address is ADDR + offset modulo 2^32 (LLVM
 * folds offsets onto negative bases from gfx7 on, so the sum must wrap there; for gfx6 see docs/status.md). A
 * place that is not entirely within the workgroup's LDS is out of range: reads return 0, writes and atomics
 * do nothing. Source: RDNA 3 ISA, "LDS/GDS Alignment and Out-of-Range"; before gfx11, that this applies to
 * whole places is unverified. With wmi_memory_op.lds_partial, parts of a place are checked: see
 * wmi_lds_move_partly(). The 64 bytes after the LDS are readable, so inactive lanes read at address 0. */
#ifndef WMI_LDS_PLACES_H
#define WMI_LDS_PLACES_H

#include "base/vector.h"
#include "exec/memory/lds.h"

#include <string.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define STEP(name)    static const struct wmi_op *name(char *restrict frame, const struct wmi_op *op)

enum { VECTORS = WMI_LANES / WMI_VECTOR_LANES };

struct places {
    alignas(64) uint32_t at[WMI_LANES];
    alignas(64) uint32_t keep[WMI_LANES]; /* all ones if in range, else 0; only set unless all_in_range */
    uint64_t lanes;                       /* active and in range */
    bool all_in_range;                    /* all active lanes are in range */
    bool full;                            /* all lanes of the wave are active and in range */
};

ALWAYS_INLINE uint32_t *row(char *frame, uint32_t offset)
{
    return __builtin_assume_aligned(frame + offset, 64);
}

ALWAYS_INLINE u32v *vectors(uint32_t *row)
{
    return __builtin_assume_aligned(row, 64);
}

ALWAYS_INLINE const struct wmi_lanes *lanes_of(char *frame, const struct wmi_op *op)
{
    return __builtin_assume_aligned(frame + op->lanes, 64);
}

ALWAYS_INLINE unsigned char *lds_of(char *frame)
{
    return wmi_wave_of(frame)->group->lds;
}

/* d = `value` in the lanes of `mask`. */
ALWAYS_INLINE void blend_row(uint32_t *d, const uint32_t *mask, const uint32_t *value)
{
    for (unsigned v = 0; v < VECTORS; v++)
        vectors(d)[v] = wmi_select_u32(((const u32v *)mask)[v], ((const u32v *)value)[v], vectors(d)[v]);
}

/* Shows the access to the observer that is late, unless that was done for the instruction's first place.
 * offset: of the place. */
void WMI_BUILD_NAME(wmi_lds_show_late)(char *frame, const struct wmi_op *op, uint32_t offset);

/* Computes the lanes' places of `bytes` at ADDR + offset. */
ALWAYS_INLINE void find_places(char *frame, const struct wmi_op *op, uint32_t offset, unsigned bytes,
                               struct places *places)
{
    const u32v *addr = vectors(row(frame, op->a));
    const struct wmi_lanes *lanes = lanes_of(frame, op);
    const uint32_t size = wmi_wave_of(frame)->group->lds_size;
    const u32v last = wmi_splat_u32(size - bytes);
    u32v outside = {0};
    for (unsigned v = 0; v < VECTORS; v++) {
        const u32v at = (addr[v] + offset) & ((const u32v *)lanes->row)[v];
        vectors(places->at)[v] = at;
        outside |= (u32v)(at > last);
    }
    places->lanes = lanes->bits;
    places->all_in_range = size >= bytes && !wmi_any(outside);
    places->full = places->all_in_range && lanes->full;
    if (__builtin_expect(places->all_in_range, 1))
        return;
    if (op->data && ((const struct wmi_memory_op *)op->data)->late)
        WMI_BUILD_NAME(wmi_lds_show_late)(frame, op, offset);
    uint64_t in_range = 0;
    for (unsigned i = 0; i < WMI_LANES; i++) {
        const bool in = size >= bytes && places->at[i] <= size - bytes;
        in_range |= (uint64_t)in << i;
        places->keep[i] = in ? ~0u : 0;
        places->at[i] &= places->keep[i];
    }
    places->lanes &= in_range;
}

/* d = `value` in the active lanes, 0 in those out of range. */
ALWAYS_INLINE void put_row(char *frame, const struct wmi_op *op, uint32_t d, const struct places *places,
                           uint32_t *value)
{
    if (!places->all_in_range)
        for (unsigned v = 0; v < VECTORS; v++)
            vectors(value)[v] &= ((const u32v *)places->keep)[v];
    blend_row(row(frame, d), lanes_of(frame, op)->row, value);
}

#endif
