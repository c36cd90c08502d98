/* SPDX-License-Identifier: MIT */
/* The processing of AQL packets, which the replacements for AMD's runtime and for its driver share. */
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
/* Sleeps until the bell has rung since `seen`, or until the time is over. */
void shim_sleep(struct shim_bell *bell, uint32_t seen, uint64_t nanoseconds);
/* The longest sleep, in nanoseconds, of a thread that waits for memory that kernels can change. */
uint64_t shim_quantum(void);
/* Lets the CPU's other thread run in a loop that waits. */
static inline void shim_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}
/* Rings whenever any signal changes, if the replacement is told of it. */
extern struct shim_bell shim_any_signal;

/* ---- processor.c ---- */

/* A kernel dispatch with clusters, which hsa_ext_amd.h has from ROCm 7.12 on
 * (hsa_amd_ext_kernel_dispatch_packet_t). */
enum { SHIM_CLUSTER_PACKET = 3 /* its AmdFormat */ };
struct shim_cluster_packet {
    uint16_t header;
    uint8_t format, setup;
    uint16_t workgroup_size[3], reserved;
    uint32_t cluster_count_x;
    uint16_t cluster_count_y, cluster_count_z;
    uint8_t cluster_size[3], hints;
    uint32_t private_segment_size, group_segment_size;
    uint64_t kernel_object;
    void *kernarg_address;
    hsa_signal_t dependency, completion_signal;
};

union shim_packet {
    uint16_t header;
    hsa_kernel_dispatch_packet_t kernel;
    hsa_barrier_and_packet_t barrier; /* OR has the same layout */
    hsa_amd_barrier_value_packet_t value;
    struct shim_cluster_packet cluster;
};
_Static_assert(sizeof(union shim_packet) == 64, "a packet of a user mode queue");

/* The packet processor of a user mode queue: a thread that runs its packets in order. */
struct shim_processor {
    /* Set by the owner. */
    const struct shim_gpu *gpu;
    union shim_packet *ring;
    uint32_t size;        /* packets, a power of two */
    uint64_t *read_index; /* tells producers which packets have started */
    bool has_doorbell;    /* producers ring the bell for new packets, and shim_any_signal for signals */

    bool ends;     /* atomic */
    bool inactive; /* atomic; set after an error, or by the owner */
    bool idle;     /* atomic; the processor waits for a packet */
    uint64_t next; /* number of the next packet; atomic */
    struct shim_bell bell;
    pthread_t thread;
    pid_t tid; /* of the thread */
};

bool shim_processor_start(struct shim_processor *processor);
/* Stops the processor, and its kernel if one runs. Packets that have not started never complete. Not to be
 * called from its own thread. */
void shim_processor_stop(struct shim_processor *processor);
/* Whether the queue contains a packet that has not started. */
bool shim_processor_has_packet(const struct shim_processor *processor);
bool shim_is_set(const bool *flag);
/* The number of running kernels. */
unsigned shim_kernels_running(void);
bool shim_holds(hsa_signal_condition_t condition, int64_t value, int64_t compare);
/* Completes an operation: stores the times, then decrements the signal, or stores -1 if the operation failed.
 * Handle 0: no signal. gpu: of the packet, or NULL. */
void shim_complete(const struct shim_gpu *gpu, hsa_signal_t signal, uint64_t start, uint64_t end,
                   bool failed);

/* ---- what each stand-in defines ---- */

/* Returns the signal, or NULL if the handle is not that of a signal that the GPU sees. */
amd_signal_t *shim_gpu_signal(const struct shim_gpu *gpu, hsa_signal_t signal);
/* Called when the signal's value has changed: wakes the threads that wait for it. event: its event_id, read
 * before the change, after which the program may destroy the signal. */
void shim_signal_changed(const struct shim_gpu *gpu, hsa_signal_t signal, uint32_t event);
/* Called before a packet is examined. */
void shim_before_packet(const struct shim_gpu *gpu);
/* Called when a packet has failed and the processor is inactive. fault: of its kernel, or NULL. Notifies the
 * owner of the queue, and may not return. */
void shim_packet_failed(struct shim_processor *processor, hsa_status_t status, const struct wm_fault *fault);
/* Declares that the calling thread, of a processor or of the replacement itself, sleeps until shim_awake(),
 * and acts only if a signal changes or a packet arrives. Returns the argument for shim_awake(). */
int shim_asleep(void);
void shim_awake(int slot);
/* Implements wm_dispatch.others. own: the thread that called wm_dispatch(). */
uint64_t shim_nobody_acts(pid_t own);

#endif
