/* SPDX-License-Identifier: MIT */
/* Queues: dispatches that run in the background, described as the packets of HSA's user mode queues describe
 * them. examples/queues.c is a complete program.
 *
 * The dispatches of a queue run one after another, in the order in which they were submitted; those of
 * different queues at the same time, so that a kernel may wait for one of another queue if its options say so
 * (wm_dispatch.waits_for_others). Addresses of what wavemem allocates for a dispatch (scratch, packet) depend
 * on its queue only, not on what runs beside it.
 *
 * Sources: HSA Platform System Architecture 1.2, section 2.9; HSA Runtime 1.2, hsa_kernel_dispatch_packet_t.
 */
#ifndef WAVEMEM_QUEUE_H
#define WAVEMEM_QUEUE_H

#include "machine.h"

#ifdef __cplusplus
extern "C" {
#endif

struct wm_queue;

/* The machine must live longer than its queues: to destroy it earlier has no effect. WM_NO_MEMORY: no memory,
 * or the host starts no more threads. */
WM_API enum wm_status wm_queue_create(struct wm_machine *machine, struct wm_queue **queue,
                                      struct wm_diag *diag);
/* Cancels what has not ended, waits for it, and frees the queue. Not from its own callbacks: there it does
 * nothing. */
WM_API void wm_queue_destroy(struct wm_queue *queue);

struct wm_packet {
    size_t struct_size; /* sizeof(struct wm_packet) */
    /* Guest address of the kernel's descriptor: symbol NAME.kd of a loaded code object, or 64 bytes that the
     * caller has put into guest memory, with the code at the offset that they say. */
    uint64_t kernel_object;
    uint64_t kernarg_address; /* guest address of the kernarg segment, which the kernel sees as it is */
    /* True: wavemem writes the hidden arguments there before the kernel starts, as wm_dispatch does. False:
     * they are the caller's, too, as a runtime writes them. */
    bool fills_hidden_arguments;
    uint32_t grid[3], workgroup[3]; /* as in struct wm_dispatch */
    uint32_t private_segment_size;  /* bytes of scratch per lane, at least; 0: what the descriptor says */
    uint32_t
        group_segment_size; /* bytes of LDS per workgroup, static and dynamic; 0: what the descriptor says */
    /* Guest addresses of 64-bit signals, as many as dependency_count, that must be 0 before it starts. */
    const uint64_t *dependencies;
    size_t dependency_count;
    /* Guest address of a 64-bit signal that is decremented when the dispatch has completed, also after a
     * fault or if it was cancelled; 0: none. For an amd_signal_t this is the address of its `value`. Once it
     * is decremented, wm_queue_wait finds the dispatch completed, and the other way round. */
    uint64_t completion_signal;
    /* Limits, threads, profile, check, observers and callbacks; its grid, workgroup, cluster, arguments,
     * dynamic_lds and global_offset must be 0. NULL: the defaults. It is copied; what it points to must live
     * until the dispatch has completed. */
    const struct wm_dispatch *options;
    struct wm_result *result; /* filled in before `completed` is called; or NULL */
    /* Called on the queue's thread before completion is signalled; or NULL. status and diag are what
     * wm_dispatch would give. */
    void (*completed)(void *user, enum wm_status status, const struct wm_result *result,
                      const struct wm_diag *diag);
    void *user;
    /* For code without a descriptor in guest memory, as graphics drivers have it: the 64 bytes of one, whose
     * entry is not used (LLVM AMDGPUUsage, "Kernel Descriptor"); kernel_object is the guest address of the
     * code. It is copied. NULL: the descriptor lies at kernel_object. */
    const void *descriptor;
    const char *name; /* what reports call that code; copied. NULL: a name that depends on its instructions */
    uint32_t cluster[3]; /* as in struct wm_dispatch */
};

/* Runs a packet on the calling thread until it ends, without a queue; waits for its dependencies first.
 * Errors are those of wm_queue_submit and wm_dispatch. */
WM_API enum wm_status wm_dispatch_packet(struct wm_machine *machine, const struct wm_packet *packet,
                                         struct wm_diag *diag);

/* The kernel that a packet names, its code object, and the guest address of the object's address 0. They live
 * as long as the machine, or as the caller keeps the object open. Errors: those of wm_queue_submit about
 * kernel_object. */
WM_API enum wm_status wm_packet_kernel(struct wm_machine *machine, const struct wm_packet *packet,
                                       const struct wm_object **object, const struct wm_kernel **kernel,
                                       uint64_t *bias, struct wm_diag *diag);

/* Puts a dispatch into the queue. *ticket, which counts from 1, names it in the functions below; may be NULL.
 * WM_BAD_ARGUMENT: no descriptor lies at kernel_object, a signal's address is not a multiple of 8 in guest
 * memory, group_segment_size is less than the kernel's static LDS, options that must be 0 are not. What only
 * execution can tell, such as a workgroup that is too large, is told at completion. */
WM_API enum wm_status wm_queue_submit(struct wm_queue *queue, const struct wm_packet *packet,
                                      uint64_t *ticket, struct wm_diag *diag);
/* Waits until the dispatch has completed, ticket 0: until all have, but at most `seconds`; negative: without
 * a limit. *completed says whether it has. WM_BAD_ARGUMENT: no such ticket, or called from the queue's own
 * thread. */
WM_API enum wm_status wm_queue_wait(struct wm_queue *queue, uint64_t ticket, double seconds, bool *completed,
                                    struct wm_diag *diag);
/* Ends the dispatch, ticket 0: all that were submitted, with WM_FAULT_STOPPED: at once if it has not begun,
 * else within 2^19 instructions of a thread. Nothing happens if it has completed. Does not wait.
 * WM_BAD_ARGUMENT: no such ticket. */
WM_API enum wm_status wm_queue_cancel(struct wm_queue *queue, uint64_t ticket, struct wm_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
