/* SPDX-License-Identifier: MIT */
/* What the stand-ins for AMD's runtime and for its driver share: the processing of AQL packets. */
#ifndef AQL_H
#define AQL_H

#include "shim/common/common.h"

#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

/* ---- bells.c: what threads wait for ---- */

struct shim_bell {
    uint32_t rings, sleepers;
};
void shim_ring(struct shim_bell *bell);
uint32_t shim_rings(const struct shim_bell *bell);
/* Sleeps until the bell has rung since `seen`, at most so long. */
void shim_sleep(struct shim_bell *bell, uint32_t seen, uint64_t nanoseconds);
/* How long those may sleep who wait for memory that kernels can change. */
uint64_t shim_quantum(void);
/* Rings whenever any signal changes, if the stand-in knows. */
extern struct shim_bell shim_any_signal;

/* ---- processor.c ---- */

union shim_packet {
    uint16_t header;
    hsa_kernel_dispatch_packet_t kernel;
    hsa_barrier_and_packet_t barrier; /* OR has the same layout */
    hsa_amd_barrier_value_packet_t value;
};
_Static_assert(sizeof(union shim_packet) == 64, "a packet of a user mode queue");

/* The packet processor of a user mode queue: a thread that runs its packets in order. */
struct shim_processor {
    /* Set by the owner. */
    const struct shim_gpu *gpu;
    union shim_packet *ring;
    uint32_t size;        /* packets, a power of two */
    uint64_t *read_index; /* where producers see which packets have started */
    bool has_doorbell;    /* somebody rings the bell for new packets, and shim_any_signal */

    bool ends;     /* atomic */
    bool inactive; /* atomic; after an error, or because the owner wants it */
    bool idle;     /* atomic; it waits for a packet */
    uint64_t next; /* to process; atomic */
    struct shim_bell bell;
    pthread_t thread;
    pid_t tid; /* of the thread */
};

bool shim_processor_start(struct shim_processor *processor);
/* Stops its kernel, if one runs; packets that have not started never complete. Not from its own thread. */
void shim_processor_stop(struct shim_processor *processor);
/* Whether the next packet is there. */
bool shim_processor_has_packet(const struct shim_processor *processor);
bool shim_is_set(const bool *flag);
/* 0 if no kernel runs. */
unsigned shim_kernels_running(void);
bool shim_holds(hsa_signal_condition_t condition, int64_t value, int64_t compare);
/* Completes an operation: stores the times, then subtracts 1, or stores -1 if it failed. Handle 0: nothing.
 * gpu: of the packet, or NULL. */
void shim_complete(const struct shim_gpu *gpu, hsa_signal_t signal, uint64_t start, uint64_t end,
                   bool failed);

/* ---- what each stand-in defines ---- */

/* NULL: not the handle of a signal that the GPU sees. */
amd_signal_t *shim_gpu_signal(const struct shim_gpu *gpu, hsa_signal_t signal);
/* Its value has changed: wakes who waits for it. event: its event_id, read before the change, behind which
 * the program may destroy the signal. */
void shim_signal_changed(const struct shim_gpu *gpu, hsa_signal_t signal, uint32_t event);
/* Before a packet is looked at. */
void shim_before_packet(const struct shim_gpu *gpu);
/* A packet failed, and the processor is inactive. fault: of its kernel, or NULL. Tells the owner of the
 * queue, and may not return. */
void shim_packet_failed(struct shim_processor *processor, hsa_status_t status, const struct wm_fault *fault);
/* The calling thread, a processor's or the stand-in's own, sleeps until shim_awake(): nothing changes unless
 * a signal changes or a packet comes. Returns what shim_awake() wants. */
int shim_asleep(void);
void shim_awake(int slot);
/* As wm_dispatch.others; own: the thread that called wm_dispatch. */
uint64_t shim_nobody_acts(pid_t own);

#endif
