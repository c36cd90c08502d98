/* SPDX-License-Identifier: MIT */
/* What the careful paths of memory instructions share: lanes one by one, and what they may not do. */
#ifndef WMI_CAREFUL_H
#define WMI_CAREFUL_H

#include "exec/atomic.h"
#include "exec/wave.h"
#include "wavemem/wavemem.h"

/* How high the wait counter of the wave's instruction is now, itself included. */
static inline uint32_t wmi_wave_depth(const struct wmi_wave *wave, const struct wmi_memory_op *m)
{
    return wmi_depth_of(wave->entered, m->depth);
}

/* Shows the observer an access, of which only the depth is left to say. */
static inline void wmi_show_access(const struct wmi_wave *wave, const struct wmi_memory_op *m,
                                   struct wmi_access *access)
{
    access->depth = wmi_wave_depth(wave, m);
    access->facts = &m->facts;
    access->frame = (const char *)wave->frame;
    access->lds = wave->group->lds;
    m->observer->access(wave->worker->observers[m->watcher], access, m->slot);
}

/* Row `row` of the registers from byte `offset` of the frame on. */
static inline uint32_t *wmi_row_at(char *frame, uint32_t offset, unsigned row)
{
    return (uint32_t *)(frame + offset) + row * ((const struct wmi_frame *)frame)->wave_size;
}

/* The next lane of a set, which loses it. */
static inline unsigned wmi_take_lane(uint64_t *lanes)
{
    const unsigned lane = (unsigned)__builtin_ctzll(*lanes);
    *lanes &= *lanes - 1;
    return lane;
}

/* What is said of every access of these lanes that is shown; it has no elements yet, and they are left as
 * they are. */
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
}

/* Lanes that may not do what they do, and why. */
struct wmi_cause {
    enum wm_fault_kind kind;
    uint64_t lanes;
    bool plain; /* WM_FAULT_MISALIGNED: no atomic, but what the alignment mode refuses */
};

/* The fault of the first of the causes that has lanes, without what they reach; no lanes: there is none. */
struct wmi_fault wmi_fault_of(const struct wmi_memory_op *m, const struct wmi_cause *causes, unsigned count,
                              uint32_t bytes);
/* One of its lanes reaches `bytes` at `address`. What wraps around the end of the 64-bit space ends there. */
void wmi_fault_reaches(struct wmi_fault *fault, uint64_t address, uint32_t bytes);

/* Carries out an atomic of one lane, whose data are `lane` of the rows at op->c, and returns what was there
 * in the rows at op->d if the instruction does. host: NULL where the lane is out of range. */
void wmi_atomic_lane(char *frame, const struct wmi_op *op, enum wmi_atomic operation, unsigned lane,
                     unsigned char *host);

#endif
