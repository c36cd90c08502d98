/* SPDX-License-Identifier: MIT */
/* Shared by the slow paths of memory instructions: lane-by-lane access, faults, and reports to observers. */
#ifndef WMI_CAREFUL_H
#define WMI_CAREFUL_H

#include "exec/memory/atomic.h"
#include "exec/run/wave.h"
#include "wavemem/wavemem.h"

/* Wait-counter value of the wave after issuing this instruction. */
static inline uint32_t wmi_wave_depth(const struct wmi_wave *wave, const struct wmi_memory_op *m)
{
    return wmi_depth_of(wave->entered, m->depth);
}

/* Reports an access to the observer; fills in the depth and the pointers to facts, frame and LDS. */
static inline void wmi_show_access(const struct wmi_wave *wave, const struct wmi_memory_op *m,
                                   struct wmi_access *access)
{
    access->depth = wmi_wave_depth(wave, m);
    access->facts = &m->facts;
    access->frame = (const char *)wave->frame;
    access->layout = &wave->worker->layout;
    access->watched =
        wave->watched ? &wave->watched[m->watcher] : NULL; /* explained: nobody keeps anything */
    access->lds = wave->group->lds;
    m->observer->access(wave->worker->observers[m->watcher], access, m->slot);
}

/* Shows the access of this step to the observer that is late. body: the step that shows accesses of its kind,
 * which has the same operands. */
static inline void wmi_show_late(char *frame, const struct wmi_op *op, wmi_body body)
{
    struct wmi_op watch = *op;
    watch.data = ((const struct wmi_memory_op *)op->data)->late;
    body(frame, &watch);
}

/* Row `row` of the registers that start at byte `offset` of the frame. */
static inline uint32_t *wmi_row_at(char *frame, uint32_t offset, unsigned row)
{
    return (uint32_t *)(frame + offset) + row * ((const struct wmi_frame *)frame)->wave_size;
}

/* Removes the lowest lane from a set and returns it. */
static inline unsigned wmi_take_lane(uint64_t *lanes)
{
    const unsigned lane = (unsigned)__builtin_ctzll(*lanes);
    *lanes &= *lanes - 1;
    return lane;
}

/* Fills the fields common to every access of these lanes, without elements, which are left uninitialised. */
static inline void wmi_access_begin(struct wmi_access *access, const struct wmi_memory_op *m,
                                    const struct wmi_wave *wave, uint64_t lanes)
{
    access->pc = m->pc;
    access->instruction = wmi_wave_clock(wave);
    for (unsigned i = 0; i < 3; i++)
        access->workgroup[i] = wave->group->id[i];
    access->wave = wave->index;
    access->path = (enum wmi_path)m->path;
    access->kind = (enum wmi_access_kind)m->kind;
    access->lanes = lanes;
    access->policy = m->policy;
    access->elements = access->bytes = 0;
    access->goes_on = false;
    access->base = 0;
    access->buffer = NULL;
}

/* Lanes with a violation, and its kind. */
struct wmi_refused_lanes {
    enum wm_fault_kind kind;
    uint64_t lanes;
    bool plain; /* WM_FAULT_MISALIGNED: not an atomic, but forbidden by the alignment mode */
};

/* The fault of the first cause that has lanes, without address range; no lanes: there is no fault. */
struct wmi_fault wmi_fault_of(const struct wmi_memory_op *m, const struct wmi_refused_lanes *causes,
                              unsigned count, uint32_t bytes);
/* Extends the fault's address range by `bytes` at `address`, clamped at the end of the address space. */
void wmi_fault_reaches(struct wmi_fault *fault, uint64_t address, uint32_t bytes);

/* Carries out one lane's atomic with the data in the rows at op->c; if the instruction returns, writes the
 * old value to the rows at op->d. host: NULL if the lane is out of range. */
void wmi_atomic_lane(char *frame, const struct wmi_op *op, enum wmi_atomic operation, unsigned lane,
                     unsigned char *host);

#endif
