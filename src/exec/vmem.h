/* SPDX-License-Identifier: MIT */
/* Vector memory steps: how their records are laid out, and what the fast steps share with the careful path.
 */
#ifndef WMI_VMEM_H
#define WMI_VMEM_H

#include "exec/lower.h"
#include "exec/wave.h"

#include <string.h>

/* Where the addresses of the lanes come from. The instruction's offset is added in all forms. */
enum wmi_vmem_form {
    WMI_VMEM_VADDR,      /* a: a 64-bit address per lane, two rows */
    WMI_VMEM_SADDR,      /* b: a 64-bit scalar base; a: an unsigned 32-bit offset per lane, one row */
    WMI_VMEM_FAST_FORMS, /* those above have fast steps */
    /* a, one row, and b, a 32-bit scalar: their sum is an offset in the lane's private memory. What the
     * instruction does not have (SS, SV, ST of the RDNA3 ISA's names) is a constant 0. */
    WMI_VMEM_SCRATCH = WMI_VMEM_FAST_FORMS,
};

/* y of a SCRATCH instruction without VADDR: its offset must be aligned. */
enum { WMI_VMEM_SCALAR_ONLY = 1 };

/* The record of every vector memory step: d result rows, c data rows, a and b the address as the form says,
 * x the form, data the struct wmi_memory_op. */

/* What a load or store moves per lane: X(kind, elements, bytes of each in memory, signed, d16, d16_hi). */
#define WMI_VMEM_SHAPES(X)                                                                                   \
    X(LOAD, 1, 1, 0, 0, 0)                                                                                   \
    X(LOAD, 1, 1, 1, 0, 0)                                                                                   \
    X(LOAD, 1, 2, 0, 0, 0)                                                                                   \
    X(LOAD, 1, 2, 1, 0, 0)                                                                                   \
    X(LOAD, 1, 4, 0, 0, 0)                                                                                   \
    X(LOAD, 2, 4, 0, 0, 0)                                                                                   \
    X(LOAD, 3, 4, 0, 0, 0)                                                                                   \
    X(LOAD, 4, 4, 0, 0, 0)                                                                                   \
    X(LOAD, 1, 1, 0, 1, 0)                                                                                   \
    X(LOAD, 1, 1, 0, 1, 1)                                                                                   \
    X(LOAD, 1, 1, 1, 1, 0)                                                                                   \
    X(LOAD, 1, 1, 1, 1, 1)                                                                                   \
    X(LOAD, 1, 2, 0, 1, 0)                                                                                   \
    X(LOAD, 1, 2, 0, 1, 1)                                                                                   \
    X(STORE, 1, 1, 0, 0, 0)                                                                                  \
    X(STORE, 1, 2, 0, 0, 0)                                                                                  \
    X(STORE, 1, 4, 0, 0, 0)                                                                                  \
    X(STORE, 2, 4, 0, 0, 0)                                                                                  \
    X(STORE, 3, 4, 0, 0, 0)                                                                                  \
    X(STORE, 4, 4, 0, 0, 0)                                                                                  \
    X(STORE, 1, 1, 0, 1, 1)                                                                                  \
    X(STORE, 1, 2, 0, 1, 1)

/* A fast step of one shape and its two forms. */
struct wmi_vmem_step {
    uint8_t kind; /* enum wmi_access_kind */
    uint8_t elements, bytes;
    bool is_signed, d16, d16_hi;
    wmi_body step[WMI_VMEM_FAST_FORMS];
};

/* The fast step for what `m` moves, of a form that has one; NULL: there is none. */
wmi_body wmi_vmem_fast_step(const struct wmi_builder *builder, const struct wmi_memory_op *m,
                            enum wmi_vmem_form form);

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

/* Two words of the scalar file or of the constants. */
static inline uint64_t wmi_frame_64(const char *frame, uint32_t offset)
{
    uint64_t value;
    memcpy(&value, frame + offset, sizeof value);
    return value;
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

/* Carries out a load or store lane by lane, whatever it reaches: several allocations, LDS, private memory,
 * nothing. All lanes are checked before the first acts, so a faulting instruction changes nothing. */
const struct wmi_op *wmi_vmem_careful(char *restrict frame, const struct wmi_op *op);
/* Tries to do that the quick way for private memory addressed by FLAT or SCRATCH. False: nothing is done. */
bool wmi_vmem_private(char *restrict frame, const struct wmi_op *op);
/* Carries out an atomic, with the operation in wmi_memory_op.parameter. */
const struct wmi_op *wmi_vmem_atomic(char *restrict frame, const struct wmi_op *op);
/* The numbers of the lanes, times 4, into row d: the addresses of ADDTID. */
const struct wmi_op *wmi_vmem_thread_offsets(char *restrict frame, const struct wmi_op *op);
/* Block loads and stores: a step that keeps the addresses, rows a (as many as the form x has), in rows e, and
 * one that moves the dwords that M0 chooses, of which there are registers for wmi_memory_op.parameter; y: as
 * for SCRATCH, and above it twice the place of v0. The second one's twin shows the access. */
const struct wmi_op *wmi_vmem_keep_addresses(char *restrict frame, const struct wmi_op *op);
const struct wmi_op *wmi_vmem_block(char *restrict frame, const struct wmi_op *op);
const struct wmi_op *wmi_vmem_block_watch(char *restrict frame, const struct wmi_op *op);
/* Transposing loads: which lanes give addresses, into the lane set d; and what the load brought into rows a,
 * elements of y bytes, into rows d. */
const struct wmi_op *wmi_vmem_first_lanes(char *restrict frame, const struct wmi_op *op);
const struct wmi_op *wmi_vmem_transpose(char *restrict frame, const struct wmi_op *op);
/* Row a, a dword of each lane of EXEC, to LDS at (M0 & y) + offset + 4 * lane. */
const struct wmi_op *wmi_vmem_to_lds(char *restrict frame, const struct wmi_op *op);
/* Row d, a dword of each lane of EXEC, from LDS there. */
const struct wmi_op *wmi_vmem_from_lds(char *restrict frame, const struct wmi_op *op);
/* Shows the access that the next step is going to make to the observer. */
const struct wmi_op *wmi_vmem_watch(char *restrict frame, const struct wmi_op *op);

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

/* Operations of atomics, by what they make of memory `m` and data `d`. */
enum wmi_atomic {
    WMI_ATOMIC_NONE,
    WMI_ATOMIC_SWAP,
    WMI_ATOMIC_CMPSWAP, /* m == second data ? first data : m */
    WMI_ATOMIC_ADD,
    WMI_ATOMIC_SUB,
    WMI_ATOMIC_RSUB, /* d - m */
    WMI_ATOMIC_SMIN,
    WMI_ATOMIC_UMIN,
    WMI_ATOMIC_SMAX,
    WMI_ATOMIC_UMAX,
    WMI_ATOMIC_AND,
    WMI_ATOMIC_OR,
    WMI_ATOMIC_XOR,
    WMI_ATOMIC_INC,      /* m >= d ? 0 : m + 1 */
    WMI_ATOMIC_DEC,      /* m == 0 || m > d ? d : m - 1 */
    WMI_ATOMIC_CSUB,     /* m >= d ? m - d : 0 */
    WMI_ATOMIC_COND_SUB, /* m >= d ? m - d : m */
    WMI_ATOMIC_FCMPSWAP, /* as CMPSWAP, comparing numbers */
    WMI_ATOMIC_FMIN,
    WMI_ATOMIC_FMAX,
    WMI_ATOMIC_FADD,
    WMI_ATOMIC_FADD_FLUSH, /* denormals are zeros */
    WMI_ATOMIC_PK_ADD_F16,
    WMI_ATOMIC_PK_ADD_BF16,
    WMI_ATOMIC_ORDERED_ADD, /* low half of m == low half of d ? {high m + high d, low m + 1} : m */
    WMI_ATOMIC_COUNT
};

/* Whether the data has a second part, to compare with. */
static inline bool wmi_atomic_compares(enum wmi_atomic operation)
{
    return operation == WMI_ATOMIC_CMPSWAP || operation == WMI_ATOMIC_FCMPSWAP;
}

/* The operation of a row, WMI_ATOMIC_NONE when it is no atomic that we know. */
enum wmi_atomic wmi_atomic_of(unsigned id);
/* The same, as the target that is lowered for does it. */
enum wmi_atomic wmi_lower_atomic(const struct wmi_builder *builder, unsigned id);
/* One atomic at naturally aligned host bytes; returns what was there before. */
uint32_t wmi_atomic_32(enum wmi_atomic operation, unsigned char *host, uint32_t data, uint32_t compare);
uint64_t wmi_atomic_64(enum wmi_atomic operation, unsigned char *host, uint64_t data, uint64_t compare);

#endif
