/* SPDX-License-Identifier: MIT */
/* What the parts of the replacement for libhsa-runtime64.so.1 know of one another. */
#ifndef SHIM_H
#define SHIM_H

#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <hsa/hsa_ven_amd_loader.h>
#include <wavemem/wavemem.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define SHIM_API __attribute__((visibility("default")))

/* ---- runtime.c ---- */

/* The one GPU of the process; exists from the first hsa_init() on, until the process ends. */
struct shim_device {
    struct wm_machine *machine;
    const struct wm_gpu *gpu;
    char target[16]; /* "gfx900" */
    char isa[64];    /* "amdgcn-amd-amdhsa--gfx900:xnack-" */
    unsigned wave_size;
    uint32_t threads; /* of a dispatch */
    double timeout;   /* of a dispatch, seconds; 0: none */
};

/* NULL before hsa_init(). */
const struct shim_device *shim_device(void);
uint64_t shim_now(void); /* nanoseconds, the unit of all timestamps */
/* Says on stderr why a packet failed. */
void shim_report(const char *text);
/* Says on stderr what else the program did wrong; after many times no more. */
void shim_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The status of HSA for what the machine said. */
hsa_status_t shim_status(enum wm_status status);

/* ---- agents.c ---- */

/* Handles are small numbers that no pointer is. */
enum { SHIM_CPU = 1, SHIM_GPU = 2, SHIM_ISA = 1 };
enum shim_pool {
    SHIM_POOL_FINE = 1, /* of the host, also for arguments of kernels */
    SHIM_POOL_COARSE,   /* of the host */
    SHIM_POOL_DEVICE,
    SHIM_POOL_GROUP,
};
#define SHIM_DEVICE_BYTES (UINT64_C(16) << 30)

bool shim_is_agent(hsa_agent_t agent);
/* A row of a table of attributes. */
struct shim_fact {
    uint32_t attribute, size;
    const void *bytes;
};
hsa_status_t shim_find_fact(const struct shim_fact *facts, size_t count, uint32_t attribute, void *value);
#define SHIM_COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- bells: what threads wait for ---- */

struct shim_bell {
    uint32_t rings, sleepers;
};
void shim_ring(struct shim_bell *bell);
uint32_t shim_rings(const struct shim_bell *bell);
/* Sleeps until the bell has rung since `seen`, at most so long. */
void shim_sleep(struct shim_bell *bell, uint32_t seen, uint64_t nanoseconds);
/* How long those may sleep who wait for memory that kernels can change. */
uint64_t shim_quantum(void);
/* Rings whenever any signal changes. */
extern struct shim_bell shim_any_signal;

/* ---- signals.c ---- */

struct shim_queue;
/* NULL: not the handle of a signal. */
amd_signal_t *shim_signal(hsa_signal_t signal);
hsa_status_t shim_signal_make(int64_t value, struct shim_queue *queue, hsa_signal_t *signal);
bool shim_holds(hsa_signal_condition_t condition, int64_t value, int64_t compare);
/* Completes an operation: stores the times, then subtracts 1, or stores -1 if it failed. Handle 0: nothing.
 */
void shim_complete(hsa_signal_t signal, uint64_t start, uint64_t end, bool failed);

/* ---- queues.c ---- */

void shim_doorbell(struct shim_queue *queue);
/* 0 if no kernel runs. */
unsigned shim_kernels_running(void);

/* ---- executables.c ---- */

/* The name of the kernel with this object; "" if it is of no executable. */
void shim_name_kernel(uint64_t kernel_object, char *name, size_t size);

/* ---- profile.c ---- */

/* Begins if the environment asks for it. */
void shim_profile_begin(const struct shim_device *device);
/* The profile that observes this kernel, until shim_profile_leave(); NULL: none. */
struct wm_profile *shim_profile_enter(uint64_t kernel_object);
void shim_profile_leave(struct wm_profile *entered);
/* Completes the trace. Not between enter and leave. */
void shim_profile_end(void);

/* ---- memory.c ---- */

/* Copies between any two addresses of host or device. */
hsa_status_t shim_copy(uint64_t to, uint64_t from, size_t size);

#endif
