/* SPDX-License-Identifier: MIT */
/* Global data share of one dispatch.
 *
 * GDS: 64 KiB, zero at the start of the dispatch. M0[31:16] is the base of the instruction's region and
 * M0[15:0] its size in bytes (RDNA 3 ISA, table of GDS fields; LLVM puts the size of the kernel's GDS there).
 * An instruction runs the corresponding LDS step on the GDS under the dispatch's lock.
 *
 * GS registers: eight of 32 bits and eight of 64, used as counters by streamout; only the first active lane
 * acts. Sources: RDNA 3 ISA, DS_ADD_GS_REG_RTN; Mesa, ac_nir_to_llvm.c, for the lane.
 *
 * Ordered count: waves update each of four counters in launch order (by workgroup, then wave). Source of the
 * fields: LLVM, IntrinsicsAMDGPU.td and AMDGPUISelDAGToDAG.cpp, ds_ordered_add. Unverified: lanes that supply
 * no value keep their result registers. */
#include "exec/memory/gds.h"

#include "exec/control/steps.h"
#include "exec/run/dispatch.h"

#include <stdlib.h>
#include <string.h>

enum { GDS_BYTES = 1 << 16, PADDING = 64 };

enum { ORDERED = 4 }; /* ordered counters */

struct wmi_gds {
    struct turn { /* the wave whose ordered count is next */
        uint64_t group;
        uint32_t wave;
    } turn[ORDERED];
    alignas(64) unsigned char memory[GDS_BYTES + PADDING];
    uint64_t gs[WMI_GS_REGISTERS];
};

void wmi_gds_destroy(struct wmi_gds *gds)
{
    free(gds);
}

const size_t wmi_gds_bytes = sizeof(struct wmi_gds);

struct wmi_gds *wmi_gds_copy(const struct wmi_gds *gds)
{
    struct wmi_gds *copy = aligned_alloc(64, sizeof *copy);
    if (copy)
        *copy = *gds;
    return copy;
}

/* The dispatch's GDS, allocated on first use; NULL if out of host memory. The caller holds the dispatch's
 * lock. */
static struct wmi_gds *gds_of(struct wmi_dispatch *dispatch)
{
    if (!dispatch->gds && (dispatch->gds = aligned_alloc(64, sizeof *dispatch->gds)))
        memset(dispatch->gds, 0, sizeof *dispatch->gds);
    return dispatch->gds;
}

/* x: addresses the whole GDS, ignoring M0. */
const struct wmi_op *wmi_step_gds_instead(char *restrict frame, const struct wmi_op *op)
{
    struct wmi_wave *wave = wmi_wave_of(frame);
    struct wmi_workgroup *group = wave->group;
    struct wmi_dispatch *dispatch = group->dispatch;
    const uint32_t m0 = ((const struct wmi_frame *)frame)->s[WMI_S_M0];
    const uint32_t base = op->x ? 0 : m0 >> 16, left = GDS_BYTES - base;
    const uint32_t size = op->x ? GDS_BYTES : (m0 & 0xffff) < left ? m0 & 0xffff : left;
    unsigned char *const lds = group->lds;
    const uint32_t lds_size = group->lds_size;
    const struct wmi_op *next = NULL;
    pthread_mutex_lock(&dispatch->lock);
    struct wmi_gds *gds = gds_of(dispatch);
    if (gds) {
        group->lds = gds->memory + base;
        group->lds_size = size;
        next = op[1].body(frame, op + 1); /* followed by wmi_step_return_to_loop() */
        group->lds = lds;
        group->lds_size = lds_size;
    }
    pthread_mutex_unlock(&dispatch->lock);
    return gds ? next : wmi_gds_no_memory(wave, ((const struct wmi_memory_op *)op->data)->pc);
}

/* Fields of DS_ORDERED_COUNT's offset. */
enum {
    ORDERED_INDEX_SHIFT = 2,      /* offset0: counter index; with the bits below, also added to the address */
    ORDERED_RELEASE = 1 << 8,     /* offset1: releases the next wave */
    ORDERED_OPERATION_SHIFT = 12, /* 0: add, 1: swap */
    ORDERED_DWORDS_SHIFT = 14,    /* dwords minus one, one per lane; 0 before gfx10 */
};

/* The first active lanes each add or swap a dword. */
static void count_in_order(struct wmi_gds *gds, char *frame, const struct wmi_op *op)
{
    const struct wmi_frame *state = (const struct wmi_frame *)frame;
    const uint32_t *values = (const uint32_t *)(frame + op->a);
    uint32_t *results = (uint32_t *)(frame + op->d), at = (state->s[WMI_S_M0] >> 16) + (op->x & 0xfc);
    const bool swaps = op->x >> ORDERED_OPERATION_SHIFT & 3;
    uint64_t left = state->exec.bits;
    for (uint32_t i = 0; i <= op->x >> ORDERED_DWORDS_SHIFT && left; i++, left &= left - 1, at += 4) {
        const unsigned lane = (unsigned)__builtin_ctzll(left);
        uint32_t before = 0, after;
        if (at <= GDS_BYTES - 4)
            memcpy(&before, gds->memory + at, 4);
        after = swaps ? values[lane] : before + values[lane];
        if (at <= GDS_BYTES - 4)
            memcpy(gds->memory + at, &after, 4);
        results[lane] = before;
    }
}

/* x: offset; a: value row; d: result row; value: pc. Waits for the wave's turn. */
const struct wmi_op *wmi_step_ordered_count(char *restrict frame, const struct wmi_op *op)
{
    struct wmi_wave *wave = wmi_wave_of(frame);
    const struct wmi_workgroup *group = wave->group;
    struct wmi_dispatch *dispatch = group->dispatch;
    bool goes_on = false;
    pthread_mutex_lock(&dispatch->lock);
    struct wmi_gds *gds = gds_of(dispatch);
    struct turn *turn = gds ? &gds->turn[op->x >> ORDERED_INDEX_SHIFT & (ORDERED - 1)] : NULL;
    if (gds &&
        (turn->group > group->flat_id || (turn->group == group->flat_id && turn->wave >= wave->index))) {
        goes_on = true;
        count_in_order(gds, frame, op);
        const bool own = turn->group == group->flat_id && turn->wave == wave->index;
        if (own && op->x & ORDERED_RELEASE)
            *turn = wave->index + 1 < group->wave_count ? (struct turn){group->flat_id, wave->index + 1}
                                                        : (struct turn){group->flat_id + 1, 0};
    }
    pthread_mutex_unlock(&dispatch->lock);
    if (!gds)
        return wmi_gds_no_memory(wave, op->value);
    if (goes_on)
        return op + 1;
    ((struct wmi_frame *)frame)->left--; /* makes endless waits reach the instruction limit */
    wave->resume = op;
    return NULL;
}

/* x: register; y: whether it subtracts; a: data row; d: result rows; value: pc. */
const struct wmi_op *wmi_step_gs_register_count(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_frame *state = (const struct wmi_frame *)frame;
    struct wmi_wave *wave = wmi_wave_of(frame);
    struct wmi_dispatch *dispatch = wave->group->dispatch;
    uint32_t *result = (uint32_t *)(frame + op->d);
    const uint64_t value = wmi_gds_first_lane(frame, op);
    if (!state->exec.bits)
        return op + 1;
    pthread_mutex_lock(&dispatch->lock);
    struct wmi_gds *gds = gds_of(dispatch);
    const uint64_t before = gds ? gds->gs[op->x] : 0, after = op->y ? before - value : before + value;
    if (gds)
        gds->gs[op->x] = op->x < WMI_GS_NARROW ? (uint32_t)after : after;
    pthread_mutex_unlock(&dispatch->lock);
    if (!gds)
        return wmi_gds_no_memory(wave, op->value);
    const unsigned lane = (unsigned)__builtin_ctzll(state->exec.bits);
    result[lane] = (uint32_t)before;
    if (op->x >= WMI_GS_NARROW)
        result[state->wave_size + lane] = (uint32_t)(before >> 32);
    return op + 1;
}
