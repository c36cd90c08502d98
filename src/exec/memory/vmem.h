/* SPDX-License-Identifier: MIT */
/* Vector memory steps: what the fast steps share with the slow path. */
#ifndef WMI_VMEM_H
#define WMI_VMEM_H

#include "base/single_copy.h"
#include "exec/control/frame_words.h"
#include "exec/run/dispatch.h"
#include "exec/run/wave.h"

#include <string.h>

/* A fast step of one shape, for both forms. */
struct wmi_vmem_step {
    uint8_t kind; /* enum wmi_access_kind */
    uint8_t elements, bytes;
    bool is_signed, d16, d16_hi;
    wmi_body step[WMI_VMEM_FAST_FORMS];
};

/* Fast steps of one CPU level and wave size, one per shape, terminated by an entry with no elements. */
const struct wmi_vmem_step *wmi_vmem_steps(enum wmi_cpu_level level, unsigned lanes);

/* Flags of a hit besides those of its allocation, and those that fast stores leave to the slow path. */
enum {
    WMI_HIT_GUARDED = 1 << 24, /* an observer must be shown stores */
    WMI_HIT_CAREFUL = WM_READ_ONLY | WMI_HIT_GUARDED,
};

/* Sets `*hit` to the allocation that holds `address`; false if there is none. */
bool wmi_vmem_touch(const struct wmi_worker *worker, struct wmi_hit *hit, uint64_t address);

/* Host address of [address, address + bytes), via the hit; NULL unless one allocation holds the whole
 * range. */
static inline unsigned char *wmi_vmem_reach(const struct wmi_worker *worker, struct wmi_hit *hit,
                                            uint64_t address, uint64_t bytes)
{
    if (address - hit->low >= hit->high - hit->low && !wmi_vmem_touch(worker, hit, address))
        return NULL;
    return bytes <= hit->high - address ? hit->host + (address - hit->low) : NULL;
}

/* Whether an access to private memory at this base is one to the scratch memory of the dispatch. */
static inline bool wmi_vmem_is_scratch(const char *frame, uint64_t base)
{
    const struct wmi_dispatch *dispatch = wmi_wave_of(frame)->worker->dispatch;
    return base - dispatch->scratch_base < dispatch->scratch_bytes;
}

/* The same for private memory at `base`. In the dispatch's scratch memory, a wave reaches its own piece only:
 * a wrong offset must not lead to the piece of another wave, as on hardware, nor to any other allocation.
 * shared: unless the address chose the memory of another wave. */
static inline unsigned char *wmi_vmem_reach_private(const char *frame, struct wmi_hit *hit, uint64_t base,
                                                    uint64_t address, uint64_t bytes, bool shared)
{
    const struct wmi_frame *f = (const struct wmi_frame *)(const void *)frame;
    const uint64_t at = address - f->private_low;
    if (at < f->private_bytes) {
        if (hit->low != f->private_low || hit->high - hit->low != f->private_bytes)
            *hit = (struct wmi_hit){f->private_low, f->private_low + f->private_bytes,
                                    (unsigned char *)(uintptr_t)f->private_host, 0};
        return bytes <= f->private_bytes - at ? hit->host + at : NULL;
    }
    return wmi_vmem_is_scratch(frame, base) && !shared
               ? NULL
               : wmi_vmem_reach(wmi_wave_of(frame)->worker, hit, address, bytes);
}

/* The new register value after loading an element, given its old value. */
static inline uint32_t wmi_vmem_loaded(const struct wmi_memory_op *m, const unsigned char *p, uint32_t old)
{
    uint32_t value = 0;
    wmi_read_guest(&value, p, m->bytes); /* guest and supported hosts are little-endian */
    if (m->is_signed && m->bytes < 4) {
        const unsigned shift = 32 - 8 * m->bytes;
        value = (uint32_t)((int32_t)(value << shift) >> shift);
    }
    if (m->d16_hi)
        return (old & 0xffff) | value << 16;
    if (m->d16)
        return (old & 0xffff0000) | (value & 0xffff);
    return value;
}

/* SS and ST require the offset to be aligned to the data (3 dwords: unverified) and the sum to a dword.
 * Source: RDNA3 ISA, FLAT. The effect of a misaligned address is not documented: it is reported to observers,
 * and carried out. False of other forms. */
bool wmi_vmem_is_odd(const char *frame, const struct wmi_op *op);

/* Fast path of the slow step for private memory addressed by FLAT or SCRATCH. False: nothing has been
 * done. */
bool wmi_vmem_private(char *restrict frame, const struct wmi_op *op);
/* Reports such an access to the observer; false: it is none, and nothing was reported. */
bool wmi_vmem_show_private(const char *frame, const struct wmi_op *op);

/* What each lane accesses. */
struct wmi_vmem_plan {
    uint64_t lanes;                          /* EXEC */
    uint64_t global, lds, scratch;           /* disjoint subsets of `lanes` */
    uint64_t outside, read_only, misaligned; /* subsets of `lanes` with violations */
    uint64_t aperture;                       /* subset of `lanes`: not a memory address (violation) */
    uint64_t wide;                           /* 8-byte atomics on private memory (violation) */
    uint64_t dropped;                        /* subset of `lanes`: out of range; load 0, store nothing */
    uint64_t partial;            /* subset of `lds`: partly out of range, the rest is carried out */
    uint64_t guarded;            /* subset of `lanes`: an observer must be shown the store */
    uint64_t odd;                /* subset of `lanes`: less aligned than the form requires */
    uint32_t bytes;              /* per lane */
    uint64_t address[64];        /* guest address; for LDS: byte offset in the workgroup's LDS */
    uint64_t private_offset[64]; /* for `scratch`: byte offset in the lane's private memory */
    uint8_t private_lane[64];    /* and the lane whose memory it is */
    unsigned char *host[64];     /* host address for `global` and `lds` lanes without violation */
};

void wmi_vmem_make_plan(char *frame, const struct wmi_op *op, struct wmi_vmem_plan *plan);
/* Whether lanes of the plan have a violation, and which. */
bool wmi_vmem_plan_faults(const char *frame, const struct wmi_memory_op *m, const struct wmi_vmem_plan *plan,
                          struct wmi_fault *fault);
/* Guest address of the wave's private memory for FLAT and SCRATCH. */
uint64_t wmi_vmem_scratch_base(const char *frame, const struct wmi_memory_op *m);

static inline uint64_t wmi_frame_slot_64(const char *frame, unsigned slot)
{
    return wmi_frame_64(frame, (uint32_t)offsetof(struct wmi_frame, s) + 4 * slot);
}

#endif
