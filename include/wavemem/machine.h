/* SPDX-License-Identifier: MIT */
/* The machine: its code objects and dispatches. Its memory: memory.h. */
#ifndef WAVEMEM_MACHINE_H
#define WAVEMEM_MACHINE_H

#include "memory.h"
#include "object.h"
#include "start.h"

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
/* LIMITS. A kernel cannot read or write host memory outside the guest's allocations. Exceeding a limit has the
 * result in the last column.
 *
 *   what                                limit                                       result
 *   ----------------------------------  ------------------------------------------  -------------------
 *   all allocations of a machine        512 GiB                                     WM_NO_MEMORY
 *   arguments of a dispatch             1 MiB                                       WM_BAD_ARGUMENT
 *   workgroup                           1024 work-items, 64 KiB of LDS              WM_BAD_ARGUMENT
 *   grid                                2^64 workgroups                             WM_BAD_ARGUMENT
 *   threads                             256                                         256 are used
 *   scratch of unfinished workgroups    4 GiB of addresses, with the gaps between   fewer threads are used;
 *                                       waves                                       WM_UNSUPPORTED
 *   unfinished workgroups               65536, 1 GiB of registers, LDS and          no more are started
 *                                       scratch in all
 *   instructions of a wave              max_instructions                            WM_FAULT_BUDGET
 *   time of a dispatch                  timeout, checked every 2^19 instructions    WM_FAULT_TIMEOUT
 *                                       of a thread
 *   waiting                             until all remaining waves wait              WM_FAULT_DEADLOCK
 *   lowered code of     a dispatch       2^22 steps, about 700 MB                    WM_FAULT_CODE_LIMIT
 *
 * The guest may write its own code, but an instruction that a dispatch has reached stays as it was decoded then.
 * LDS and scratch are zero when a workgroup begins. */
/* clang-format on */

/* One GPU of one target and its memory. Any thread may use it at any time, except to destroy it; several
 * dispatches may run at the same time. */
struct wm_machine;

/* Creates a machine for a target ("gfx900", "gfx906:sramecc+"). WM_NOT_FOUND: unknown target; WM_NO_MEMORY;
 * WM_BAD_ARGUMENT: a variable of the environment has a value that does not exist. The variables are
 * WAVEMEM_CPU (baseline, avx2 or avx512, by default the most that the CPU has), WAVEMEM_COMPILE (off, auto or
 * always, by default auto) and WAVEMEM_DELAYS (for tests). They are read, and refused, when something is
 * executed or replayed, too. */
WM_API enum wm_status wm_machine_create(const char *target, struct wm_machine **machine,
                                        struct wm_diag *diag);
WM_API void wm_machine_destroy(struct wm_machine *machine);

/* Sets the shared (LDS) and private apertures of FLAT instructions: 4 GiB of 64-bit addresses from each base.
 * The default is what drivers for the generation choose. Errors: WM_BAD_ARGUMENT unless the bases are
 * different multiples of 2^32 from 0x800100000000 to 0xffff7ffe00000000; WM_UNSUPPORTED on targets without
 * FLAT. Sources: LLVM AMDGPUUsage, "Address Spaces"; defaults: isa/targets. */
WM_API enum wm_status wm_set_apertures(struct wm_machine *machine, uint64_t shared_base,
                                       uint64_t private_base, struct wm_diag *diag);

/* Sets the 64 resources of global wave sync (ds_gws_init, ds_gws_barrier, ds_gws_sema_*) to 0, as they are in
 * a new machine. Otherwise they keep their state from one dispatch to the next; a dispatch that ends in a
 * fault leaves them as they are. WM_BAD_ARGUMENT: the machine is NULL, or a dispatch runs on it. */
WM_API enum wm_status wm_reset_gws(struct wm_machine *machine, struct wm_diag *diag);

/* Loads an object's segments into guest memory and applies its relocations. Loading an object again has no
 * effect. The object must outlive the machine and must have the machine's target (WM_BAD_ARGUMENT). */
WM_API enum wm_status wm_load(struct wm_machine *machine, const struct wm_object *object,
                              struct wm_diag *diag);
/* Returns the guest address and size (bytes) of a symbol of a loaded object: a __device__ variable, a
 * function. */
WM_API enum wm_status wm_symbol(struct wm_machine *machine, const struct wm_object *object, const char *name,
                                uint64_t *address, uint64_t *size, struct wm_diag *diag);

/* Optional observers of a dispatch: see observe.h, profile.h, check.h, fidelity.h. */
struct wm_gpu; /* gpu.h */
struct wm_observer;
struct wm_profile;
struct wm_check;
struct wm_fidelity;

/* SH_MEM_CONFIG.ALIGNMENT_MODE, for DS, FLAT, GLOBAL, SCRATCH and buffer instructions, not for scalar memory
 * and images, which always drop low bits. The unit is the size of the data, but 4 bytes at most; from gfx11
 * on, in LDS 16 bytes at most. Atomics must be naturally aligned in every mode. What the mode does not allow
 * is WM_FAULT_MISALIGNED. Source: RDNA 3 ISA, "Alignment" and "LDS/GDS Alignment and Out-of-Range". */
enum wm_alignment {
    WM_ALIGNMENT_UNALIGNED,    /* any address is allowed; the Linux driver's setting */
    WM_ALIGNMENT_DWORD,        /* the bits of the address below the unit are ignored */
    WM_ALIGNMENT_DWORD_STRICT, /* addresses must be multiples of the unit */
    WM_ALIGNMENT_STRICT, /* likewise, and the unit is the size of the data (private memory: 4 at most) */
};

/* How scalar loads and stores (SMRD, SMEM) use the scalar data cache, which the hardware does not keep
 * coherent with memory. The model is described in src/exec/memory/smem_cache.h. */
enum wm_scalar_cache {
    WM_SCALAR_CACHE_COHERENT, /* no cache: loads read memory, stores write it at once */
    WM_SCALAR_CACHE_CHECKED,  /* the same, and report where hardware may differ */
    WM_SCALAR_CACHE_STALE,    /* loads return cached lines, stores stay in the cache until S_DCACHE_WB */
};

enum wm_stale_kind {
    WM_STALE_LOAD,  /* a scalar load of a cached line that has changed in memory: S_DCACHE_INV is missing */
    WM_STALE_STORE, /* a scalar store that was never written back: S_DCACHE_WB is missing */
    /* a FLAT or GLOBAL load of data that a scalar store of the workgroup has not written back yet */
    WM_STALE_VECTOR_LOAD,
};

/* An instruction that relies on a coherent scalar cache. */
struct wm_stale {
    enum wm_stale_kind kind;
    uint64_t pc, count;    /* guest address; number of executions, or for stores of lost lines */
    uint32_t workgroup[3]; /* of the first occurrence */
    uint32_t wave;         /* of the first occurrence, within the workgroup */
    uint64_t address;      /* guest address that the first occurrence loaded or stored */
    const char *text;      /* the complete report, several lines */
};

struct wm_dispatch {
    size_t struct_size; /* sizeof(struct wm_dispatch) */
    /* Work-items. The grid has as many dimensions as members up to the last that is not 0 (get_work_dim(),
     * hidden_grid_dims); 0 counts as 1. */
    uint32_t grid[3];
    uint32_t workgroup[3];     /* work-items; 0 counts as 1 */
    const void *arguments;     /* the explicit arguments in the layout of the kernarg segment */
    uint64_t arguments_size;   /* bytes; wavemem fills the rest, including hidden arguments */
    uint32_t dynamic_lds;      /* bytes, in addition to the static LDS */
    uint32_t threads;          /* host threads; 0: one per CPU */
    uint64_t max_instructions; /* per wave; 0: 2^40 */
    double timeout;            /* seconds of wall-clock time, not negative; 0: none */
    enum wm_alignment alignment;
    struct wm_profile *profile;   /* measures the dispatch; or NULL */
    struct wm_check *check;       /* checks the dispatch; or NULL */
    struct wm_fidelity *fidelity; /* counts executed instructions; or NULL */
    /* Called from time to time, on the thread that called wm_dispatch; return false to stop the dispatch. May
     * be NULL. A kernel that waits for this function to write guest memory is reported as a deadlock.
     * Until wm_dispatch returns, this and other callbacks may read and write guest memory. This one may also
     * allocate, map and free it and load objects; from observers' callbacks this is refused, as are
     * wm_set_apertures and wm_dispatch on the same machine from any callback (WM_BAD_ARGUMENT). The observers
     * of the dispatch report nothing yet, and to destroy the machine or an observer has no effect. The object
     * must stay open. */
    bool (*progress)(void *user, uint64_t workgroups_done, uint64_t workgroups);
    void *progress_user;
    /* Called after the run, also after a fault, with successive pieces of the kernel's OpenCL printf output,
     * not NUL-terminated, in the order in which the lanes reserved buffer space. NULL: printf prints nothing.
     * A dispatch has 4 MiB for printf arguments; when they are full, a line states that later output is lost.
     */
    void (*print)(void *user, const char *text, size_t length);
    void *print_user;
    enum wm_scalar_cache scalar_cache;
    /* Called after the run for each instruction that WM_SCALAR_CACHE_CHECKED or _STALE reported, in order of
     * its address. */
    void (*stale)(void *user, const struct wm_stale *stale);
    void *stale_user;
    /* How a memory violation of any memory instruction is handled. WM_VIOLATION_STOPS ends the dispatch with
     * a fault. WM_VIOLATION_GOES_ON continues as the hardware does without a trap handler: the violating
     * lanes load 0 and store nothing, and TRAPSTS.MEM_VIOL is set (but not by scalar memory, nor by addresses
     * outside every allocation, which are page faults); the result contains the first violation. */
    unsigned on_violation;
    const struct wm_observer *const *observers; /* observer_count of them, see observe.h; or NULL */
    size_t observer_count;
    /* Added to get_global_id() by OpenCL kernels, which read it from hidden_global_offset_x to _z. Other
     * kernels do not have such an offset: WM_BAD_ARGUMENT unless it is 0. */
    uint64_t global_offset[3];
    const struct wm_start *start; /* initial registers, see start.h; NULL: as the kernel's descriptor says */
    /* The kernel may wait for what the host or another dispatch writes to memory: only the limits end
     * waiting, not WM_FAULT_DEADLOCK. False: waves that wait for something that none of the dispatch's own
     * can change are a deadlock, whatever runs beside them. */
    bool waits_for_others;
    /* All workgroups are resident at once, as kernels need that synchronize their whole grid
     * (hipLaunchCooperativeKernel). wavemem prepares what the device library's grid sync uses: resource 0 of
     * global wave sync and hidden_multigrid_sync_arg. WM_BAD_ARGUMENT: the grid does not fit on `gpu`, or
     * another cooperative dispatch runs on the machine; WM_UNSUPPORTED: no product of the target is known, or
     * its workgroups' scratch exceeds what all can have at once. Other dispatches, too, run workgroups that
     * wait for one another, up to LIMITS, but a GPU might not. */
    bool cooperative;
    const struct wm_gpu *gpu; /* how images are tiled, and what a cooperative dispatch fits on; NULL: the
                               * profile's, or the target's default */
    /* With waits_for_others: called on any thread of the dispatch, again and again, while all that is left of
     * the kernel waits. Returns 0 if the host or another dispatch may change memory, or if that is not known,
     * or else a number that is not the same after any of them has acted. If all still waits after a number,
     * and the next number is the same, this is WM_FAULT_DEADLOCK. It must be quick, wait for nothing and not
     * call the library. NULL: they may always change it. */
    uint64_t (*others)(void *user);
    void *others_user;
    /* Runs only `workgroup_count` workgroups, 0: all, from number `first_workgroup` on. They are numbered as
     * they are dispatched: X fastest, then Y, then Z. Those that do not run leave memory as it is. A
     * workgroup that waits for one of them is a deadlock. WM_BAD_ARGUMENT: the grid does not have them; the
     * dispatch is cooperative; the profile takes a sample; the check runs workgroups in other orders. */
    uint64_t first_workgroup, workgroup_count;
    /* Workgroups of a cluster in each dimension, on targets that have clusters (gfx1250); 0 counts as 1. All
     * of a cluster run at the same time. All 0: what the kernel's metadata says. WM_BAD_ARGUMENT: the target
     * has none, the kernel requires another size, a cluster has more than 16 workgroups, or the grid is no
     * multiple of it; only some of the workgroups run. */
    uint32_t cluster[3];
};

enum { WM_VIOLATION_STOPS, WM_VIOLATION_GOES_ON }; /* on_violation of wm_dispatch */

enum wm_fault_kind {
    WM_FAULT_NONE,
    WM_FAULT_MEMORY,      /* an address outside every allocation */
    WM_FAULT_READ_ONLY,   /* a store or atomic to read-only memory */
    WM_FAULT_MISALIGNED,  /* an atomic that is not naturally aligned, or an access that the alignment mode
                             forbids */
    WM_FAULT_INSTRUCTION, /* the words are not an instruction of the target, or the pc left the code */
    WM_FAULT_TODO,        /* an instruction that wavemem does not execute yet */
    WM_FAULT_TRAP,        /* s_trap */
    WM_FAULT_BUDGET,      /* max_instructions reached */
    WM_FAULT_TIMEOUT,
    WM_FAULT_DEADLOCK,   /* all remaining waves wait at a barrier or in a loop whose condition can no longer
                            change */
    WM_FAULT_STOPPED,    /* progress() returned false */
    WM_FAULT_CODE_LIMIT, /* the kernel reached more code than wavemem predecodes: see LIMITS above */
    WM_FAULT_NO_MEMORY,  /* the host has no memory to predecode code, for GDS or for the scalar cache */
    WM_FAULT_APERTURE,   /* an invalid address: bits 63 to 47 differ, and it is in no aperture of FLAT */
    WM_FAULT_PRIVATE_ATOMIC, /* an 8-byte atomic on private memory */
    WM_FAULT_RESOURCE,       /* an image or sampler that wavemem does not support: tiled, multisampled */
    WM_FAULT_OFFSET,         /* a negative offset of s_buffer_load on gfx11 and later */
};

/* Why a dispatch ended early. If several waves fault, this is the fault of the lowest workgroup and wave,
 * whatever the number of threads. */
struct wm_fault {
    enum wm_fault_kind kind;
    uint64_t pc; /* guest address of the instruction */
    uint32_t workgroup[3];
    uint32_t wave;      /* within the workgroup */
    uint64_t lanes;     /* mask of the faulting lanes */
    uint64_t low, high; /* first and last byte that these lanes access */
    uint32_t bytes;     /* per lane */
    bool store;
    char text[1024]; /* the complete report, several lines; the command prints "error: " before it */
};

/* How a workgroup can learn, while it runs, what others of the same dispatch do. */
enum wm_dependence_kind {
    WM_INDEPENDENT,             /* it cannot */
    WM_DEPENDS_BY_ATOMIC,       /* an atomic on memory returns what it found, or its order matters */
    WM_DEPENDS_BY_LOAD,         /* a load bypasses the caches of its compute unit */
    WM_DEPENDS_BY_INVALIDATION, /* the caches of the compute unit are invalidated */
    WM_DEPENDS_BY_GDS,          /* GDS, GWS or an ordered count */
    WM_DEPENDS_BY_LOOP,         /* a loop that only a changed value in memory can end */
    WM_DEPENDS_BY_CODE,         /* unknown: calls through pointers, or 65536 instructions or more */
};

struct wm_dependence {
    enum wm_dependence_kind kind;
    uint64_t pc;       /* guest address of the first such instruction that was found */
    uint64_t offset;   /* from the start of its function */
    char function[64]; /* "" if unknown */
    char text[128];    /* the instruction, or "" */
};

/* Decides from the code of a loaded kernel whether its workgroups may depend on one another. If not, each
 * does the same in whatever order they run, so a dispatch looks the same to those who watch it (profile,
 * check, fidelity, observers) with any number of threads. If they may, a dispatch that is watched, or that
 * has a scalar cache which is not coherent, runs its workgroups on one thread, in one order. Data races are
 * not found: a workgroup that loads, without any synchronization, what another one stores. OpenCL and HIP do
 * not define what such kernels do, and it may depend on the number of threads.
 * WM_BAD_ARGUMENT: an argument is NULL, the object is not loaded, the kernel is not one of it; WM_NO_MEMORY.
 */
WM_API enum wm_status wm_find_dependence(struct wm_machine *machine, const struct wm_object *object,
                                         const struct wm_kernel *kernel, struct wm_dependence *dependence,
                                         struct wm_diag *diag);

struct wm_result {
    size_t struct_size; /* sizeof(struct wm_result), set by the caller */
    struct wm_fault fault;
    uint64_t violations;        /* with WM_VIOLATION_GOES_ON: executions with a violation */
    struct wm_fault violation;  /* the first one of the lowest workgroup and wave */
    double seconds;             /* wall-clock time of the dispatch itself */
    uint64_t wave_instructions; /* executed, including waits and nops */
    uint64_t waves, workgroups;
    /* Whether those who watched the dispatch (profile, check, fidelity, observers, scalar cache) would have
     * seen the same with any number of threads. False if independent workgroups ran and a fault ended the
     * dispatch, after a timeout or stop, and if code was found that only a computed jump leads to.
     * Meaningless for a dispatch that nobody watched. */
    bool reproducible;
    /* Which of profile, check, fidelity, observers, scalar cache and code object (its symbols and lines) did
     * not see everything, and why, so that reports are incomplete; "": all of them did. */
    char incomplete[256];
    /* Host code that was made of the kernel's code (docs/compiler.md), and the seconds that this dispatch
     * took to make code. */
    uint64_t compiled_bytes;
    double compile_seconds;
    bool compile_refused; /* the host does not execute memory that was written, so the code was interpreted */
};

/* Runs a kernel of a loaded object until it ends. Also returns WM_OK if the guest faulted: check
 * result->fault.kind. */
WM_API enum wm_status wm_dispatch(struct wm_machine *machine, const struct wm_object *object,
                                  const struct wm_kernel *kernel, const struct wm_dispatch *dispatch,
                                  struct wm_result *result, struct wm_diag *diag);

/* Writes how the kernel's instructions are executed, line by line: each instruction that its direct branches
 * reach, with its address in the object, and below it the steps that carry it out when nothing observes them;
 * those that this host's compiler leaves to the interpreter are marked, and counted in the last line.
 * For people who work on wavemem or ask why a kernel is slow here; the names of steps may change.
 * WM_BAD_ARGUMENT: an argument is NULL. */
WM_API enum wm_status wm_kernel_steps(const struct wm_object *object, const struct wm_kernel *kernel,
                                      void (*write)(void *user, const char *line), void *user,
                                      struct wm_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
