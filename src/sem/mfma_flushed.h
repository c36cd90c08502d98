/* SPDX-License-Identifier: MIT */
/* Sums of products for MFMA of CDNA 2 by vectors of 16 lanes, if exponents are moderate: those of
 * flushed_group() in mfma_sums.h. All groups of a row of D are added in one pass, so that the sum stays in a
 * register. The four elements of A in a lane are a group. */
#ifndef WMI_MFMA_FLUSHED_H
#define WMI_MFMA_FLUSHED_H

#include "sem/mfma_sums.h"

#if WMI_VECTOR_BYTES == 64

enum { FLUSHED_GROUP = 4, FLUSHED_DEPTH = 16, NEXT_ELEMENT = 64 };

WMI_INLINE void flushed_rows(const struct tile *t, unsigned depth, const wmi_word *c, unsigned c_mask,
                             wmi_word *d)
{
    f32v b[FLUSHED_DEPTH];
    _Pragma("GCC unroll 16") for (unsigned k = 0; k < depth; k++) b[k] = load_loose(t->b + t->b_at[k]);
    for (unsigned n = 0; n < t->rows; n++) {
        const u32v addend = *(const u32v *)(c + (t->at[n] & c_mask));
        f32v sum = (f32v)(addend & (u32v)((addend & 0x7fffffff) >= 0x800000));
        _Pragma("GCC unroll 4") for (unsigned k = 0; k < depth; k += FLUSHED_GROUP)
        {
            const float *const a = t->a + t->first_row + n + t->a_at[k];
            const f32v first = wmi_fused_f32(splat_at(a), b[k], splat_at(a + NEXT_ELEMENT) * b[k + 1]),
                       second = wmi_fused_f32(splat_at(a + 2 * NEXT_ELEMENT), b[k + 2],
                                              splat_at(a + 3 * NEXT_ELEMENT) * b[k + 3]);
            sum += first + second;
        }
        *(f32v *)(d + t->at[n]) = quiet(sum);
    }
}

static void quick_flushed_tile(const struct tile *t, const wmi_word *c, unsigned c_mask, wmi_word *d)
{
    if (t->depth == FLUSHED_GROUP)
        flushed_rows(t, FLUSHED_GROUP, c, c_mask, d);
    else if (t->depth == 2 * FLUSHED_GROUP)
        flushed_rows(t, 2 * FLUSHED_GROUP, c, c_mask, d);
    else if (t->depth == FLUSHED_DEPTH)
        flushed_rows(t, FLUSHED_DEPTH, c, c_mask, d);
    else
        flushed_4_tile(t, c, c_mask, d);
}

#else
#define quick_flushed_tile flushed_4_tile
#endif
#endif
