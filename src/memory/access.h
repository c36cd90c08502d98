/* SPDX-License-Identifier: MIT */
/* The access: what one wave asks of memory in one instruction. Built for observers and on slow paths only. */
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
    WMI_PATH_CONTROL, /* caches are invalidated, and no memory is asked for: `policy` has 1 << wm_cache_level
                       */
    WMI_PATH_COUNT
};

enum wmi_access_kind { WMI_ACCESS_LOAD, WMI_ACCESS_STORE, WMI_ACCESS_ATOMIC };

/* WMI_SPACE_LANES is no memory: ds_permute_b32 and its kin route data through the LDS hardware, four bytes of
 * address for each lane. */
enum wmi_address_space { WMI_SPACE_GLOBAL, WMI_SPACE_LDS, WMI_SPACE_GDS, WMI_SPACE_LANES, WMI_SPACE_COUNT };

enum { WMI_ACCESS_ELEMENTS = 16 };

/* Cache bits of the instruction. */
enum {
    WMI_POLICY_GLC = 1,
    WMI_POLICY_SLC = 2,
    WMI_POLICY_DLC = 4,
    WMI_POLICY_NV = 8,
    WMI_POLICY_SC1 = 16,
};

/* What decoded() of an observer returns for instructions that it need not see. */
enum { WMI_NOT_SHOWN = UINT32_MAX };

enum { WMI_BLOCKS = 1 << 20 /* of a program, that an observer can count */ };

/* One place per lane: `bytes` of the access at address[lane] for the lanes in `mask`. */
struct wmi_element {
    enum wmi_address_space space;
    uint64_t mask;                               /* lanes that reach this space */
    uint64_t bad_range, bad_align, bad_aperture; /* lanes of `mask` that the check refused */
    const uint64_t *address;        /* per lane, as the hardware sees it (scratch: interleaved) */
    const uint64_t *private_offset; /* scratch: the lane's own offset; else NULL */
};

struct wmi_access {
    uint64_t pc, instruction; /* where it stands; running number in its wave (0 when not counted) */
    uint32_t workgroup[3], wave;
    enum wmi_path path;
    enum wmi_access_kind kind;
    uint64_t lanes;   /* EXEC when it issued, 1 for SMEM; may be 0 */
    uint32_t policy;  /* WMI_POLICY_*: cache bits of the instruction; of CONTROL other ones */
    uint32_t depth;   /* how high its wait counter is then, itself included; 0: it has none, or none asked */
    uint8_t elements; /* places per lane (dwordx4 contiguous: 1 place of 16 bytes; read2: 2 places) */
    uint8_t bytes;    /* bytes of each place */
    struct wmi_element element[WMI_ACCESS_ELEMENTS];
};

/* An access of which only the addresses are left to say, before they are made: nothing of it is refused as
 * long as they lie in [from, to). Its places are those that the instruction has, at distances that never
 * change. */
struct wmi_outline {
    const uint32_t *low, *high; /* of each lane's address in the first place; high NULL: 0 */
    uint64_t base;              /* is added to all of them */
    uint64_t lanes;             /* as of the access, at least one */
    uint64_t from, to;
    uint32_t shape;       /* wmi_access_shape() of it, if all places lie in one space */
    uint32_t wave, depth; /* as of the access */
};

/* Space, places and bytes of each in one number. */
static inline uint32_t wmi_access_shape(enum wmi_address_space space, unsigned elements, unsigned bytes)
{
    return (uint32_t)space << 16 | elements << 8 | bytes;
}

/* The address ranges that FLAT instructions find in the 64-bit space for LDS and for a lane's private memory,
 * bounds included. Software chooses them; ours lie in the hole of 48-bit addresses, where no allocation is:
 * SH_MEM_BASES shared 1, private 2 by the rule {base, 48'b0}. Source: LLVM AMDGPUUsage, "Address Spaces" (4
 * GiB wide and aligned). */
struct wmi_apertures {
    uint64_t shared_base, shared_limit, private_base, private_limit;
};

#define WMI_DEFAULT_APERTURES {1ULL << 48, (1ULL << 48) + 0xffffffff, 2ULL << 48, (2ULL << 48) + 0xffffffff}

struct wmi_instruction; /* of src/isa; this room only passes it on */
struct wmi_hit;         /* space.h */

/* Watches a dispatch and can change nothing. Called by the worker's own thread; `local` is what thread_begin
 * returned for that worker, so an observer needs no locks. */
struct wmi_observer {
    void *self;
    bool depths; /* it asks for wmi_access.depth */
    void *(*thread_begin)(void *self);
    void (*thread_end)(void *self, void *local);
    void (*access)(void *local, const struct wmi_access *access, uint32_t slot);
    /* Called once per memory instruction when it is predecoded, under the program's lock; returns its slot,
     * a dense number that access() gets back. */
    uint32_t (*instruction)(void *self, uint64_t pc, unsigned id);
    /* Both NULL, or: once per instruction when it is predecoded, under the program's lock, which gives it a
     * number or WMI_NOT_SHOWN; and each time that a wave is about to execute one that has a number. *wave is
     * NULL when the wave starts, and from then on what the observer keeps of the wave. scalars: its scalar
     * registers, by the numbers of WMI_S_* in src/sem/sem.h. */
    uint32_t (*decoded)(void *self, uint64_t pc, const struct wmi_instruction *insn);
    void (*execute)(void *local, void **wave, uint32_t number, const uint32_t *scalars);
    /* All NULL, or: once per block when it is predecoded, under the program's lock: code in [from, to) that
     * is executed from its start to its end, where waves come by a branch or, with `falls`, from the
     * instruction before it; returns a number below WMI_BLOCKS or WMI_NOT_SHOWN. An empty block that falls:
     * waves run on into one that is counted as if a branch had led there. Counters of the worker by that
     * number, of which each execution adds 1 to one. And a wave executes a block whose counter was 0. */
    uint32_t (*block)(void *self, uint64_t from, uint64_t to, bool falls);
    uint64_t *(*block_counters)(void *local);
    void (*fetch)(void *local, uint32_t wave, uint32_t block);
    /* Both NULL, or: a worker turns to a workgroup, which begins or goes on; *group is NULL when it begins,
     * and from then on what the observer keeps of it. scratch: guest address of the scratch memory of its
     * first wave; which one that is depends on the threads. And it has ended after so many instructions, also
     * by a fault. Workgroups then begin in the order of their numbers. */
    void (*turn)(void *local, void **group, uint64_t number, uint32_t waves, uint64_t scratch);
    void (*end)(void *local, void *group, uint64_t instructions);
    /* NULL, or: whether the outline is all that the observer needs of the access; else access() shows it. */
    bool (*outline)(void *local, const struct wmi_outline *outline, uint32_t slot);
    /* Also NULL then, or: the same of an instruction of one lane and one place, which always has the same
     * shape; nothing of it is refused as long as it lies in the hit. */
    bool (*outline_lane)(void *local, uint32_t slot, uint32_t wave, uint32_t depth, uint64_t address,
                         const struct wmi_hit *hit);
};

#endif
