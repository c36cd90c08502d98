/* SPDX-License-Identifier: MIT */
/* Vector memory steps: how their records are laid out, and what the fast steps share with the careful path.
 */
#ifndef WMI_VMEM_H
#define WMI_VMEM_H

#include "exec/frame_words.h"
#include "exec/wave.h"

#include <string.h>

/* A fast step of one shape and its two forms. */
struct wmi_vmem_step {
    uint8_t kind; /* enum wmi_access_kind */
    uint8_t elements, bytes;
    bool is_signed, d16, d16_hi;
    wmi_body step[WMI_VMEM_FAST_FORMS];
};

/* The fast steps of one CPU level and wave size, one per shape, ended by an entry with no elements. */
const struct wmi_vmem_step *wmi_vmem_steps(enum wmi_cpu_level level, unsigned lanes);

/* Makes `*hit` the allocation that holds `address`; false when there is none. */
bool wmi_vmem_touch(const struct wmi_worker *worker, struct wmi_hit *hit, uint64_t address);

/* Host bytes of [address, address + bytes), through the hit; NULL unless one allocation holds them all. */
static inline unsigned char *wmi_vmem_reach(const struct wmi_worker *worker, struct wmi_hit *hit,
                                            uint64_t address, uint64_t bytes)
{
    if (address - hit->low >= hit->high - hit->low && !wmi_vmem_touch(worker, hit, address))
        return NULL;
    return bytes <= hit->high - address ? hit->host + (address - hit->low) : NULL;
}

/* The register that an element in memory makes of `old`. */
static inline uint32_t wmi_vmem_loaded(const struct wmi_memory_op *m, const unsigned char *p, uint32_t old)
{
    uint32_t value = 0;
    memcpy(&value, p, m->bytes); /* the guest and the hosts that we know are little-endian */
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

/* Tries to do the quick way what the careful step does, for private memory addressed by FLAT or SCRATCH.
 * False: nothing is done. */
bool wmi_vmem_private(char *restrict frame, const struct wmi_op *op);

/* What each lane of an access reaches. */
struct wmi_vmem_plan {
    uint64_t lanes;                          /* EXEC */
    uint64_t global, lds, scratch;           /* of `lanes`, disjoint */
    uint64_t outside, read_only, misaligned; /* of `lanes`: may not */
    uint64_t aperture;                       /* of `lanes`: no address of memory; may not */
    uint64_t wide;                           /* of `lanes`: 8-byte atomics on private memory; may not */
    uint64_t dropped;                        /* of `lanes`: out of range; loads 0, stores nothing */
    uint64_t odd;                            /* of `lanes`: less aligned than the form asks for */
    uint32_t bytes;                          /* per lane */
    uint64_t address[64];                    /* guest address; LDS: byte of the workgroup's LDS */
    uint64_t private_offset[64];             /* of `scratch`: byte of the lane's private memory */
    unsigned char *host[64];                 /* of `global` and `lds` that may: where the bytes are */
};

void wmi_vmem_make_plan(char *frame, const struct wmi_op *op, struct wmi_vmem_plan *plan);
/* Whether the lanes of the plan do what they may not, and what. */
bool wmi_vmem_plan_faults(const struct wmi_memory_op *m, const struct wmi_vmem_plan *plan,
                          struct wmi_fault *fault);
/* Guest address that the wave's private memory begins at for FLAT and SCRATCH. */
uint64_t wmi_vmem_scratch_base(const char *frame, const struct wmi_memory_op *m);

#endif
