/* SPDX-License-Identifier: MIT */
/* The machine: guest memory and dispatches. */
#ifndef WAVEMEM_MACHINE_H
#define WAVEMEM_MACHINE_H

#include "object.h"

#ifdef __cplusplus
extern "C" {
#endif

/* LIMITS. No kernel reads or writes memory of the host outside the guest's allocations, and these bounds
 * hold: all allocations of a machine        64 GiB; WM_NO_MEMORY arguments of a dispatch             1 MiB;
 * WM_BAD_ARGUMENT workgroup                           1024 work-items, 64 KiB of LDS; WM_BAD_ARGUMENT grid
 * 2^64 workgroups; WM_BAD_ARGUMENT threads                             256; more count as 256 scratch 4 GiB
 * of addresses for the workgroups that are unfinished at the same time, gaps between waves included; fewer
 * threads run if it is short; WM_UNSUPPORTED unfinished workgroups               8192 of a thread, 1 GiB of
 * all (registers, LDS, scratch) instructions of a wave              max_instructions; WM_FAULT_BUDGET time of
 * a dispatch                  timeout, looked at every 2^19 instructions of a thread; WM_FAULT_TIMEOUT
 *   waiting                             when all waves that are left only wait; WM_FAULT_DEADLOCK
 *   predecoded code of a dispatch       2^22 steps, about 700 MB; WM_FAULT_CODE_LIMIT
 * Code may be written by the guest, but what was reached once in a dispatch stays as it was decoded then. LDS
 * and scratch are zero when a workgroup begins. */

struct wm_machine; /* one GPU of one target with its memory; not thread-safe, uses threads of its own */

WM_API enum wm_status wm_machine_create(const char *target, struct wm_machine **machine,
                                        struct wm_diag *diag);
WM_API void wm_machine_destroy(struct wm_machine *machine);

/* Where FLAT finds LDS and private memory in 64-bit addresses: 4 GiB from each base on. A new machine has
 * what drivers of its generation choose. WM_BAD_ARGUMENT unless both are different multiples of 2^32 whose
 * bits 63 to 47 are not all equal; WM_UNSUPPORTED on targets without FLAT. Sources: LLVM AMDGPUUsage,
 * "Address Spaces"; for the defaults isa/targets. */
WM_API enum wm_status wm_set_apertures(struct wm_machine *machine, uint64_t shared_base,
                                       uint64_t private_base, struct wm_diag *diag);

enum { WM_READ_ONLY = 1 }; /* flags of wm_allocate */

/* Reserves `size` bytes of zeroed guest memory, with a guard gap behind it; `name` appears in fault reports.
 * Addresses do not depend on the host: the same calls give the same addresses. */
WM_API enum wm_status wm_allocate(struct wm_machine *machine, uint64_t size, unsigned flags, const char *name,
                                  uint64_t *address, struct wm_diag *diag);
WM_API enum wm_status wm_free(struct wm_machine *machine, uint64_t address, struct wm_diag *diag);
WM_API enum wm_status wm_write(struct wm_machine *machine, uint64_t address, const void *bytes, uint64_t size,
                               struct wm_diag *diag);
WM_API enum wm_status wm_read(const struct wm_machine *machine, uint64_t address, void *bytes, uint64_t size,
                              struct wm_diag *diag);
/* The host bytes of a guest allocation from `address` on, `size` of them, to fill or read in place; NULL if
 * the range is not inside one allocation. Valid until wm_free. */
WM_API void *wm_host_pointer(struct wm_machine *machine, uint64_t address, uint64_t size);

/* Loads an object's segments into guest memory and applies its relocations; idempotent. The object must
 * outlive the machine. Its target must be the machine's. */
WM_API enum wm_status wm_load(struct wm_machine *machine, const struct wm_object *object,
                              struct wm_diag *diag);
/* The guest address of a symbol of a loaded object: a __device__ global, a function. */
WM_API enum wm_status wm_symbol(struct wm_machine *machine, const struct wm_object *object, const char *name,
                                uint64_t *address, uint64_t *size, struct wm_diag *diag);

/* What may look on: see profile.h, check.h, fidelity.h. */
struct wm_profile;
struct wm_check;
struct wm_fidelity;

/* SH_MEM_CONFIG.ALIGNMENT_MODE: of DS, FLAT, GLOBAL, SCRATCH and buffer instructions. Scalar memory drops the
 * low bits of addresses anyway, and texels of images lie where they should. Atomics must be naturally aligned
 * in every mode. What a mode refuses is WM_FAULT_MISALIGNED.
 * Source: AMD's register headers in PAL; CDNA 4 ISA, "Memory Alignment". */
enum wm_alignment {
    WM_ALIGNMENT_UNALIGNED,    /* any address; what the Linux driver sets */
    WM_ALIGNMENT_DWORD,        /* the low bits of the address are dropped, 2 at most */
    WM_ALIGNMENT_DWORD_STRICT, /* dwords and what is larger must lie on dwords */
    WM_ALIGNMENT_STRICT,       /* and 16 bits on two bytes */
};

/* What scalar loads and stores (SMRD, SMEM) see of the scalar data cache, which on hardware nothing keeps
 * coherent with memory. The model: src/exec/smem_cache.h. */
enum wm_scalar_cache {
    WM_SCALAR_CACHE_COHERENT, /* nothing: loads see memory, stores reach it at once */
    WM_SCALAR_CACHE_CHECKED,  /* the same, but what hardware may do otherwise is found */
    WM_SCALAR_CACHE_STALE,    /* loads see lines as they were fetched, stores stay there until S_DCACHE_WB */
};

enum wm_stale_kind {
    WM_STALE_LOAD,  /* a scalar load of a line that memory has changed since: S_DCACHE_INV is missing */
    WM_STALE_STORE, /* a scalar store that nothing wrote back: S_DCACHE_WB is missing */
    /* a FLAT or GLOBAL load of what a scalar store of the workgroup has not written back yet */
    WM_STALE_VECTOR_LOAD,
};

/* An instruction that relies on the scalar cache to be coherent. */
struct wm_stale {
    enum wm_stale_kind kind;
    uint64_t pc, count;    /* guest address; executions of it, for stores lines that were lost */
    uint32_t workgroup[3]; /* the first one, */
    uint32_t wave;         /* its wave, */
    uint64_t address;      /* and where it loaded or stored */
    const char *text;      /* the whole report, several lines */
};

struct wm_dispatch {
    size_t struct_size;        /* sizeof(struct wm_dispatch) */
    uint32_t grid[3];          /* work-items; 0 counts as 1 */
    uint32_t workgroup[3];     /* work-items; 0 counts as 1 */
    const void *arguments;     /* the explicit arguments as they lie in the kernarg segment */
    uint64_t arguments_size;   /* bytes; the rest, hidden arguments included, is filled by wavemem */
    uint32_t dynamic_lds;      /* bytes behind the static LDS */
    uint32_t threads;          /* host threads; 0: one per CPU */
    uint64_t max_instructions; /* per wave; 0: 2^40 */
    double timeout;            /* seconds of wall-clock time, not negative; 0: none */
    enum wm_alignment alignment;
    struct wm_profile *profile;   /* observes the dispatch, or NULL */
    struct wm_check *check;       /* so does this, or NULL */
    struct wm_fidelity *fidelity; /* or NULL */
    /* Called now and then, on the thread that called wm_dispatch; false stops the run. Or NULL. A kernel that
     * waits for what it might write into guest memory counts as a deadlock.
     * Until wm_dispatch returns, callbacks may read and write guest memory, but the machine takes no
     * wm_allocate, wm_free, wm_load, wm_set_apertures or further wm_dispatch (WM_BAD_ARGUMENT), and what
     * observes the dispatch has nothing to tell yet. If a callback destroys the machine or an observer, that
     * happens when the dispatch has ended. The object must stay open. */
    bool (*progress)(void *user, uint64_t workgroups_done, uint64_t workgroups);
    void *progress_user;
    /* Called after the run, also after a fault, with pieces of what the kernel printed by OpenCL's printf, in
     * the order in which its lanes reserved their places; not terminated. NULL: printf does nothing. A
     * dispatch prints at most 4 MiB of arguments, after that a line says that later output is missing. */
    void (*print)(void *user, const char *text, size_t length);
    void *print_user;
    enum wm_scalar_cache scalar_cache;
    /* Called after the run for each instruction that WM_SCALAR_CACHE_CHECKED or _STALE found, by address. */
    void (*stale)(void *user, const struct wm_stale *stale);
    void *stale_user;
    /* What a memory access does that may not be: WM_VIOLATION_STOPS ends the dispatch with a fault;
     * WM_VIOLATION_GOES_ON goes on as the hardware does where nobody handles its trap: the lanes that may not
     * load 0 and store nothing, TRAPSTS.MEM_VIOL is set (not for addresses outside every allocation, which
     * are page faults), and the result has the first one. For FLAT, GLOBAL and SCRATCH; others stop.
     */
    unsigned on_violation;
};

enum { WM_VIOLATION_STOPS, WM_VIOLATION_GOES_ON }; /* on_violation of wm_dispatch */

enum wm_fault_kind {
    WM_FAULT_NONE,
    WM_FAULT_MEMORY,      /* outside every allocation */
    WM_FAULT_READ_ONLY,   /* a store or atomic to read-only memory */
    WM_FAULT_MISALIGNED,  /* an atomic that is not naturally aligned, or what the alignment mode refuses */
    WM_FAULT_INSTRUCTION, /* the words are no instruction of the target, or the pc left the code */
    WM_FAULT_TODO,        /* an instruction that wavemem does not execute yet */
    WM_FAULT_TRAP,        /* s_trap */
    WM_FAULT_BUDGET,      /* max_instructions reached */
    WM_FAULT_TIMEOUT,
    WM_FAULT_DEADLOCK,   /* all waves that are left wait: at a barrier, or in a loop that nothing can end any
                            more */
    WM_FAULT_STOPPED,    /* progress() said so */
    WM_FAULT_CODE_LIMIT, /* more different code was reached than wavemem predecodes: see LIMITS above */
    WM_FAULT_NO_MEMORY,  /* the host had no memory to predecode more code */
    WM_FAULT_APERTURE,   /* no address: bits 63 to 47 differ, and FLAT finds it in no aperture */
    WM_FAULT_PRIVATE_ATOMIC, /* an atomic of 8 bytes on private memory */
    WM_FAULT_RESOURCE,       /* an image that wavemem does not access: tiled, multisampled */
    WM_FAULT_OFFSET,         /* a negative offset of s_buffer_load, gfx11 and later */
};

/* Why a dispatch ended early. The fault of the lowest workgroup and wave, whatever the number of threads. */
struct wm_fault {
    enum wm_fault_kind kind;
    uint64_t pc; /* guest address of the instruction */
    uint32_t workgroup[3];
    uint32_t wave;      /* in its workgroup */
    uint64_t lanes;     /* that faulted */
    uint64_t low, high; /* first and last byte that they touch */
    uint32_t bytes;     /* per lane */
    bool store;
    char text[1024]; /* the whole report, several lines; the command puts "error: " before it */
};

struct wm_result {
    size_t struct_size; /* sizeof(struct wm_result), set by the caller */
    struct wm_fault fault;
    uint64_t violations;        /* with WM_VIOLATION_GOES_ON: memory instructions of waves that did it, */
    struct wm_fault violation;  /* and the first of the lowest workgroup and wave */
    double seconds;             /* wall-clock time of the dispatch alone */
    uint64_t wave_instructions; /* executed, waits and nops included */
    uint64_t waves, workgroups;
};

/* Runs a kernel of a loaded object to its end. WM_OK also when the guest faulted: look at result->fault.kind.
 */
WM_API enum wm_status wm_dispatch(struct wm_machine *machine, const struct wm_object *object,
                                  const struct wm_kernel *kernel, const struct wm_dispatch *dispatch,
                                  struct wm_result *result, struct wm_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
