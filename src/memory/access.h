/* SPDX-License-Identifier: MIT */
/* The access: the memory request of one instruction of one wave. Built only for observers and on slow paths.
 */
#ifndef WMI_ACCESS_H
#define WMI_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

enum wmi_path {
    WMI_PATH_SMEM,
    WMI_PATH_BUFFER,
    WMI_PATH_TBUFFER,
    WMI_PATH_IMAGE,
    WMI_PATH_FLAT,
    WMI_PATH_GLOBAL,
    WMI_PATH_SCRATCH,
    WMI_PATH_DS,
    WMI_PATH_GDS,
    WMI_PATH_LDS_DMA,
    WMI_PATH_IFETCH,
    WMI_PATH_CONTROL, /* cache invalidation without a memory request; `policy` is a mask of 1 <<
                         wm_cache_level */
    WMI_PATH_COUNT
};

enum wmi_access_kind { WMI_ACCESS_LOAD, WMI_ACCESS_STORE, WMI_ACCESS_ATOMIC };

/* WMI_SPACE_LANES is not memory: ds_permute_b32 and similar instructions route data through the LDS hardware,
 * with four bytes of address per lane. */
enum wmi_address_space { WMI_SPACE_GLOBAL, WMI_SPACE_LDS, WMI_SPACE_GDS, WMI_SPACE_LANES, WMI_SPACE_COUNT };

enum { WMI_ACCESS_ELEMENTS = 16 };

/* Cache policy bits of the instruction. */
enum {
    WMI_POLICY_GLC = 1,
    WMI_POLICY_SLC = 2,
    WMI_POLICY_DLC = 4,
    WMI_POLICY_NV = 8,
    WMI_POLICY_SC1 = 16,
};

/* Returned by decoded() and block() of an observer to exclude the instruction or block. */
enum { WMI_NOT_SHOWN = UINT32_MAX };

enum { WMI_BLOCKS = 1 << 20 /* maximum number of blocks of a program that an observer can count */ };

/* One element per lane: `bytes` of the access at address[lane], for the lanes in `mask`. */
struct wmi_element {
    enum wmi_address_space space;
    uint64_t mask;                               /* lanes whose address is in this space */
    uint64_t bad_range, bad_align, bad_aperture; /* lanes of `mask` that fail a check */
    const uint64_t *address;                     /* per lane, as the hardware sees it (scratch: swizzled) */
    const uint64_t *private_offset; /* scratch: offset in the lane's private segment; else NULL */
};

struct wmi_access {
    uint64_t pc, instruction; /* guest address; sequence number in the wave (0 if not counted) */
    uint32_t workgroup[3], wave;
    enum wmi_path path;
    enum wmi_access_kind kind;
    uint64_t lanes;   /* EXEC at issue; 1 for SMEM; may be 0 */
    uint32_t policy;  /* WMI_POLICY_*; for WMI_PATH_CONTROL see there */
    uint32_t depth;   /* value of its wait counter at issue, including itself; 0: no counter, or no observer
                         asked for it */
    uint8_t elements; /* elements per lane (dwordx4: 1 element of 16 bytes; read2: 2 elements) */
    uint8_t bytes;    /* bytes of each element */
    struct wmi_element element[WMI_ACCESS_ELEMENTS];
};

/* An access whose lane addresses have not been computed yet. Any address in [from, to) is known to be valid.
 * The elements of the instruction are at fixed distances from the first. */
struct wmi_outline {
    const uint32_t *low, *high; /* halves of each lane's address of the first element; high NULL: 0 */
    uint64_t base;              /* added to all of them */
    uint64_t lanes;             /* active lanes as in wmi_access, at least one */
    uint64_t from, to;
    uint32_t shape;       /* wmi_access_shape(), if all elements are in one space */
    uint32_t wave, depth; /* as in wmi_access */
};

/* Encodes space, number of elements and their size in one number. */
static inline uint32_t wmi_access_shape(enum wmi_address_space space, unsigned elements, unsigned bytes)
{
    return (uint32_t)space << 16 | elements << 8 | bytes;
}

/* The apertures of FLAT instructions for LDS and private memory: 64-bit address ranges, limits inclusive.
 * Software chooses them. The defaults are non-canonical 48-bit addresses, where no allocation can be:
 * SH_MEM_BASES shared 1, private 2 by the rule {base, 48'b0}. Source: LLVM AMDGPUUsage, "Address Spaces" (4
 * GiB wide and aligned). */
struct wmi_apertures {
    uint64_t shared_base, shared_limit, private_base, private_limit;
};

#define WMI_DEFAULT_APERTURES {1ULL << 48, (1ULL << 48) + 0xffffffff, 2ULL << 48, (2ULL << 48) + 0xffffffff}

struct wmi_instruction; /* of src/isa; opaque here, only passed through */
struct wmi_hit;         /* space.h */

/* Observes a dispatch and cannot change it. Callbacks run on the worker threads; `local` is the value that
 * thread_begin returned for the worker, so observers need no locks. */
struct wmi_observer {
    void *self;
    bool depths; /* requests wmi_access.depth */
    void *(*thread_begin)(void *self);
    void (*thread_end)(void *self, void *local);
    void (*access)(void *local, const struct wmi_access *access, uint32_t slot);
    /* Called once per memory instruction when it is lowered, under the program's lock. Returns its slot, a
     * dense number that is passed to access(). */
    uint32_t (*instruction)(void *self, uint64_t pc, unsigned id);
    /* Both NULL, or both set. decoded() is called once per instruction when it is lowered, under the
     * program's lock, and returns a number or WMI_NOT_SHOWN. execute() is called each time before a wave
     * executes an instruction with a number. *wave is NULL when the wave starts and then belongs to the
     * observer. scalars: the scalar registers, indexed by WMI_S_* of src/sem/sem.h. */
    uint32_t (*decoded)(void *self, uint64_t pc, const struct wmi_instruction *insn);
    void (*execute)(void *local, void **wave, uint32_t number, const uint32_t *scalars);
    /* All NULL, or all set. block() is called once per block when it is lowered, under the program's lock. A
     * block is the code [from, to), executed from start to end; waves enter it by a branch or, if `falls` is
     * set, from the preceding instruction. It returns a number below WMI_BLOCKS or WMI_NOT_SHOWN. If the
     * block is empty and `falls` is set, waves continue into the next block, which is counted as if it had
     * been branched to. block_counters() returns the worker's counters, indexed by that number; each
     * execution increments one. fetch() is called when a wave executes a block whose counter was 0. */
    uint32_t (*block)(void *self, uint64_t from, uint64_t to, bool falls);
    uint64_t *(*block_counters)(void *local);
    void (*fetch)(void *local, uint32_t wave, uint32_t block);
    /* Both NULL, or both set. turn() is called when a worker starts or resumes a workgroup; *group is NULL
     * when it starts and then belongs to the observer. end() is called when the workgroup has ended, also by
     * a fault, with the number of executed instructions. With these callbacks, workgroups start in the order
     * of their numbers. */
    void (*turn)(void *local, void **group, uint64_t number, uint32_t waves);
    void (*end)(void *local, void *group, uint64_t instructions);
    /* NULL, or: returns whether the outline is sufficient; if not, access() is called with the full access.
     */
    bool (*outline)(void *local, const struct wmi_outline *outline, uint32_t slot);
    /* NULL if outline is NULL, or: the same for an instruction with one lane and one element, whose shape is
     * fixed. Any address within the hit is valid. */
    bool (*outline_lane)(void *local, uint32_t slot, uint32_t wave, uint32_t depth, uint64_t address,
                         const struct wmi_hit *hit);
};

#endif
