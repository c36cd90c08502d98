/* SPDX-License-Identifier: MIT */
/* Stop and step: a dispatch that stops at breakpoints, and whose registers, LDS and memory can be read and
 * changed while it is stopped. examples/breakpoint.c is a complete use.
 *
 * A run is a dispatch on one thread of its own, which runs only while wm_run_to() or wm_run_end() waits for
 * it: waves run one at a time and in the same order in every run. What the dispatch calls (observers,
 * progress, print, stale) is called on that thread; these functions may not call those of this header.
 *
 * While a run exists, a dispatch runs on the machine: see wm_dispatch.progress. Whenever it is stopped, all
 * functions of memory.h may be used. Once the kernel has ended (WM_STOP_END), the machine may be used for
 * anything. */
#ifndef WAVEMEM_STOP_H
#define WAVEMEM_STOP_H

#include "queue.h"

#ifdef __cplusplus
extern "C" {
#endif

struct wm_run;

/* Prepares a dispatch; no instruction has been executed yet. The request and its arguments are copied, but
 * what else it points to must live until wm_run_end(): profile, check, fidelity, observers, users. Its
 * `threads` is ignored. Time during which the run is stopped counts neither for its `timeout` nor for
 * wm_result.seconds. Errors: those of wm_dispatch. */
WM_API enum wm_status wm_run_begin(struct wm_machine *machine, const struct wm_object *object,
                                   const struct wm_kernel *kernel, const struct wm_dispatch *request,
                                   struct wm_run **run, struct wm_diag *diag);

/* The same for a packet (queue.h), which is copied, but not what it points to. Once the kernel has ended, its
 * result, its `completed` and its signal are given as by wm_dispatch_packet(). Errors: also those of it. */
WM_API enum wm_status wm_run_begin_packet(struct wm_machine *machine, const struct wm_packet *packet,
                                          struct wm_run **run, struct wm_diag *diag);

enum wm_stop_kind {
    WM_STOP_STEP,       /* so many instructions were executed */
    WM_STOP_ADDRESS,    /* before an instruction at one of the addresses */
    WM_STOP_WAVE,       /* before the next instruction of a wave */
    WM_STOP_ACCESS,     /* before an access to the range of addresses */
    WM_STOP_FAULT,      /* the wave has faulted; the next wm_run_to() ends the kernel */
    WM_STOP_CHECKPOINT, /* no wave is stopped, and wm_run_save() is possible */
    WM_STOP_END,        /* the kernel has ended, by itself or by a fault: see the result of wm_run_end() */
};

/* What a wave waits for. */
enum wm_wait {
    WM_WAIT_NONE,
    WM_WAIT_BARRIER,       /* the other waves of its workgroup, at s_barrier or s_barrier_wait */
    WM_WAIT_NAMED_BARRIER, /* the waves that joined its named barrier */
    WM_WAIT_CLUSTER,       /* the other workgroups of its cluster */
    WM_WAIT_GLOBAL,        /* global wave sync: other waves at the barrier, or a semaphore */
    WM_WAIT_ORDER,         /* its turn in an ordered count */
    WM_WAIT_MEMORY,        /* in a loop that only a change of memory can end */
};

/* Bytes whose accesses stop a run: of guest memory, or of LDS. */
struct wm_stop_range {
    uint64_t low, high; /* [low, high) */
    bool loads, stores; /* at least one; atomics are both */
    bool lds;           /* offsets in the LDS of any workgroup instead of guest addresses */
};

/* What to run to. If several members are set, the first event stops the run. With none of them it goes on to
 * the end. A fault of a wave always stops it. */
struct wm_stop_at {
    size_t struct_size; /* sizeof(struct wm_stop_at) */
    /* STEP: after so many instructions of the wave that is stopped, while other waves run as usual; 0: no
     * limit. If the wave ends earlier, before the next instruction that any wave executes. If no wave is
     * stopped yet, 1 stops before the first instruction of the first wave, 2 before its second. */
    uint64_t instructions;
    const uint64_t *addresses; /* ADDRESS: address_count guest addresses of instructions (wm_symbol) */
    size_t address_count;
    /* WAVE: only this wave stops, if it exists, and `instructions` counts its own. Without another event,
     * before its next instruction. */
    bool at_wave;
    uint32_t workgroup[3], wave; /* wave: within the workgroup */
    /* ACCESS: before any lane accesses a byte of [access_low, access_high), none if both are 0. Atomics are
     * loads and stores. Accesses that are refused, such as those out of range, do not count. */
    uint64_t access_low, access_high;
    bool loads, stores;
    bool lds; /* offsets in the LDS of any workgroup instead of guest addresses */
    /* STEP: before the next instruction of any wave, once all waves have executed at least so many in total
     * since the beginning; 0: no limit. Every run of the same dispatch counts alike, so that a number stands
     * for a place in its history. */
    uint64_t executed;
    const struct wm_stop_range *ranges; /* ACCESS: range_count more ranges */
    size_t range_count;
    /* STEP: with at_wave, also when the wave has ended, before the next instruction of any wave. */
    bool at_wave_end;
    /* CHECKPOINT: as soon as wm_run_save() is possible, once all waves have executed at least so many
     * instructions in total; 0: never. */
    uint64_t checkpoint;
};

/* Where a run is stopped. With END and CHECKPOINT, of all members only `kind` and `executed` have a meaning.
 */
struct wm_stopped {
    size_t struct_size; /* sizeof(struct wm_stopped), set by the caller */
    enum wm_stop_kind kind;
    uint32_t workgroup[3], wave;
    uint64_t pc;           /* guest address of the instruction that is executed next, or that faulted */
    uint64_t instructions; /* that the wave has executed */
    uint64_t lanes;        /* EXEC */
    uint32_t wave_size;    /* lanes, 32 or 64 */
    uint32_t sgprs, vgprs, agprs; /* registers of the wave: numbers from 0 to one less */
    uint32_t lds_bytes;           /* of the workgroup */
    /* ACCESS: the lanes that access the range, and the guest address, or offset in LDS, at which the lowest
     * of them does. FAULT: the lanes that fault, and the first byte that they access; 0 if it is not about
     * memory. */
    uint64_t access_lanes, address;
    uint64_t executed; /* instructions of all waves before this one since the run began */
    uint64_t ranges;   /* ACCESS: bit i: of ranges[i], the first 64 of them */
    /* What the wave has set that the meaning of the instruction at pc depends on, for wm_decode_in(). */
    uint32_t state;
    /* Of a wave that wm_run_select() selects: why it is not executed now. NONE: others have their turn. */
    enum wm_wait waits;
};

/* Runs on until something of *at happens. at: NULL: to the end. Events are looked for in instructions that
 * are executed from now on, so that the run leaves an address at which it is stopped. After an ACCESS stop,
 * the instruction is executed with the registers as they are then.
 * WM_BAD_ARGUMENT: the run has ended; an empty range of accesses, or neither loads nor stores; a workgroup or
 * wave that the grid does not have. Errors of wm_dispatch, such as WM_NO_MEMORY, end the run. */
WM_API enum wm_status wm_run_to(struct wm_run *run, const struct wm_stop_at *at, struct wm_stopped *stopped,
                                struct wm_diag *diag);

/* Selects the wave whose registers and LDS the functions below access, until the next wm_run_to(): at first
 * the one that is stopped. *stopped describes it, with the kind of the stop; may be NULL. The pc of a wave
 * that waits at a barrier or in s_sleep is that of this instruction; one of a branch that it has just taken
 * is where that leads. WM_NOT_FOUND: the workgroup is not in execution, or the wave has ended;
 * WM_BAD_ARGUMENT: no wave is stopped. */
WM_API enum wm_status wm_run_select(struct wm_run *run, const uint32_t workgroup[3], uint32_t wave,
                                    struct wm_stopped *stopped, struct wm_diag *diag);

/* Registers of the selected wave.
 *
 *   s4, ttmp5, m0, scc, mode, vcc_lo, vcc_hi, exec_lo, exec_hi, flat_scratch_lo, _hi, xnack_mask_lo, _hi
 *                            one value; scc is 0 or 1
 *   vcc, exec                one value in waves of 32 lanes, else two: the low half, the high half
 *   flat_scratch, xnack_mask, shared_base, private_base, pc
 *                            two
 *   v3, a0                   one per lane: wave_size
 *
 * `count` is the number of `values`: for wm_run_get at least, for wm_run_set exactly as many as the register
 * has. What is set is what the next instruction sees; a wave that waits within an instruction (global wave
 * sync, ordered count) may have read its operands already.
 * WM_NOT_FOUND: the wave has no register of that name; WM_BAD_ARGUMENT: no wave is stopped, another count, a
 * value that the register cannot have; WM_UNSUPPORTED: the pc, and bits 27 and 28 of MODE on targets where
 * they are GPR_IDX_EN and VSKIP, and 12 to 19 where they are those of s_set_vgpr_msb, cannot be changed. */
WM_API enum wm_status wm_run_get(struct wm_run *run, const char *name, uint32_t *values, size_t count,
                                 struct wm_diag *diag);
WM_API enum wm_status wm_run_set(struct wm_run *run, const char *name, const uint32_t *values, size_t count,
                                 struct wm_diag *diag);

/* Copies `size` bytes from or to offset `address` of the LDS of the selected wave's workgroup.
 * WM_OUT_OF_RANGE: they are not all within lds_bytes; WM_BAD_ARGUMENT: no wave is stopped. */
WM_API enum wm_status wm_run_read_lds(struct wm_run *run, uint32_t address, void *bytes, uint32_t size,
                                      struct wm_diag *diag);
WM_API enum wm_status wm_run_write_lds(struct wm_run *run, uint32_t address, const void *bytes, uint32_t size,
                                       struct wm_diag *diag);

/* The same for the private memory of one lane of the selected wave, in which `address` is the offset that
 * SCRATCH instructions and V#s of private memory add to the base of the wave's scratch.
 * WM_OUT_OF_RANGE: the lane has less; WM_BAD_ARGUMENT: no wave is stopped, or it has no such lane. */
WM_API enum wm_status wm_run_read_private(struct wm_run *run, unsigned lane, uint32_t address, void *bytes,
                                          uint32_t size, struct wm_diag *diag);
WM_API enum wm_status wm_run_write_private(struct wm_run *run, unsigned lane, uint32_t address,
                                           const void *bytes, uint32_t size, struct wm_diag *diag);

/* ---- checkpoints ---- */

/* The state of all waves and workgroups of a run, without guest memory. */
struct wm_checkpoint;

/* Saves the state of a run that is stopped with CHECKPOINT. WM_BAD_ARGUMENT: it is not; WM_UNSUPPORTED: a
 * wave waits within an instruction (global wave sync, ordered count), or the dispatch has a modelled scalar
 * cache or another observer, whose state is not saved. */
WM_API enum wm_status wm_run_save(struct wm_run *run, struct wm_checkpoint **checkpoint,
                                  struct wm_diag *diag);
/* Lets a run that has just begun, with the same request as the one that was saved, go on from there. The
 * caller restores guest memory, behind wm_run_begin(): all allocations that can be found
 * (wm_find_allocation). WM_BAD_ARGUMENT: the run has gone on already, or its kernel or grid is another. */
WM_API enum wm_status wm_run_restore(struct wm_run *run, const struct wm_checkpoint *checkpoint,
                                     struct wm_diag *diag);
/* Bytes of host memory that it takes. */
WM_API size_t wm_checkpoint_bytes(const struct wm_checkpoint *checkpoint);
WM_API void wm_checkpoint_destroy(struct wm_checkpoint *checkpoint); /* NULL is allowed */

/* Lets the kernel run to its end without further stops, or with `cancel` ends it where it is
 * (WM_FAULT_STOPPED), fills in the result as wm_dispatch does, and frees the run, whatever the status.
 * result: may be NULL. The only errors are those of the dispatch and WM_BAD_ARGUMENT: the run is NULL or is
 * not stopped (both free nothing), or result->struct_size is wrong. */
WM_API enum wm_status wm_run_end(struct wm_run *run, bool cancel, struct wm_result *result,
                                 struct wm_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
