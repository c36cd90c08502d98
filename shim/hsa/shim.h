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
#include <sys/types.h>

#define SHIM_API __attribute__((visibility("default")))

/* ---- runtime.c ---- */

enum { SHIM_GPUS = 16, SHIM_NAME = 256, SHIM_PATH = 4096 };

/* The GPUs of the process, all of one target; they exist from the first hsa_init() on, until the process
 * ends. They share a machine, so that each reaches the memory of the others. */
struct shim_device {
    struct wm_machine *machine;
    const struct wm_gpu *gpus[SHIM_GPUS];
    unsigned gpu_count;
    char target[16]; /* "gfx900" */
    char isa[64];    /* "amdgcn-amd-amdhsa--gfx900:xnack-" */
    unsigned wave_size;
    uint32_t threads; /* of a dispatch */
    double timeout;   /* of a dispatch, seconds; 0: none */
    bool goes_on;     /* after a fault */
};

/* NULL before hsa_init(), and in a child that was forked after it; then every function fails without a lock.
 */
const struct shim_device *shim_device(void);
/* Ends such a child; for functions that cannot fail, and copies, whose failure libamdhip64 5.2 does not pass
 * on. */
void shim_refuse_child(void);
uint64_t shim_now(void); /* nanoseconds, the unit of all timestamps */
/* Says on stderr why a packet failed. */
void shim_report(const char *text);
/* Says on stderr what else the program did wrong; after many times no more. */
void shim_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The status of HSA for what the machine said. */
hsa_status_t shim_status(enum wm_status status);

/* ---- agents.c ---- */

/* Handles are small numbers that no pointer is. GPUs follow the first one. */
enum { SHIM_CPU = 1, SHIM_GPU = 2, SHIM_ISA = 1 };
/* Of the first GPU; those of others follow, two for each. */
enum shim_pool {
    SHIM_POOL_FINE = 1, /* of the host, also for arguments of kernels */
    SHIM_POOL_COARSE,   /* of the host */
    SHIM_POOL_DEVICE,
    SHIM_POOL_GROUP,
};
#define SHIM_MOST_BYTES (UINT64_C(64) << 30) /* that a machine allocates */

bool shim_is_agent(hsa_agent_t agent);
/* The number of the GPU, or -1. */
int shim_gpu(hsa_agent_t agent);
/* Which kind of pool it is, and of which agent; 0: there is none. */
enum shim_pool shim_pool_kind(hsa_amd_memory_pool_t pool, hsa_agent_t *agent);
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
/* Whether a queue has a packet that it has not noticed yet, but could process. */
bool shim_packets_wait(void);

/* ---- events.c ---- */

/* Calls the program's handlers of memory faults. */
void shim_tell_fault(unsigned gpu, const struct wm_fault *fault);

/* ---- executables.c ---- */

/* The name of the kernel with this object; "" if it is of no executable. */
void shim_name_kernel(uint64_t kernel_object, char *name, size_t size);

/* What code objects are called in messages. */
#define SHIM_OBJECT "code object"

/* ---- results.c ---- */

/* Begins if the environment asks for it. */
void shim_results_begin(void);
/* The path of this process's file of that kind; false: nobody wants it. */
bool shim_result_path(const char *kind, char path[SHIM_PATH]);
/* Adds a line to it. */
void shim_result(const char *kind, const char *text);

/* ---- launches.c ---- */

struct shim_launch {
    const char *symbol; /* of the kernel; "" if it is of no executable */
    uint64_t number;    /* of the kernel's launches, from 1 on */
    bool observed;      /* by those who observe anything */
};

void shim_launches_begin(void);
/* Counts a launch. */
struct shim_launch shim_launch(uint64_t kernel_object);

/* ---- observe.c ---- */

/* Begins if the environment asks for it. */
void shim_observe_begin(const struct shim_device *device);
/* Lets those who observe the launch do so, until shim_observe_leave(); false: nobody does. */
bool shim_observe_enter(const struct shim_launch *launch, unsigned gpu, struct wm_dispatch *options);
void shim_observe_leave(const struct shim_launch *launch, const struct wm_result *result);
/* Writes what was observed; later launches are not. Not between enter and leave. */
void shim_observe_end(void);

/* ---- sites.c ---- */

enum { SHIM_FRAMES = 4 };

/* Where the program called the runtime, and from where. */
struct shim_site {
    void *frames[SHIM_FRAMES]; /* NULL: no more */
};

void shim_note_site(struct shim_site *site);
/* "main (app.hip:12)"; false: unknown. Takes long. */
bool shim_site_text(const struct shim_site *site, char *text, size_t size);

/* ---- faults.c ---- */

/* Says on stderr why a launch failed. fault: NULL if it could not start. */
void shim_report_fault(const struct shim_launch *launch, const struct wm_packet *packet,
                       const struct wm_gpu *gpu, unsigned number, const struct wm_fault *fault,
                       const char *text);

/* ---- quiet.c ---- */

/* The calling thread, one of the runtime's own, sleeps until shim_awake(): nothing changes unless a signal
 * changes or a packet comes. Return what shim_awake() wants. */
int shim_asleep(void);
/* It sleeps until the condition holds, without a time limit. */
int shim_asleep_for(hsa_signal_t signal, hsa_signal_condition_t condition, int64_t compare);
void shim_awake(int slot);
/* As wm_dispatch.others; own: the thread that called wm_dispatch. */
uint64_t shim_nobody_acts(pid_t own);

/* ---- memory.c ---- */

/* Whether other processes may change memory that kernels see; true also if that is not known. */
bool shim_others_have_memory(void);
/* What the program allocated or registered. */
struct shim_allocation {
    uint64_t low, size;
    const char *kind;
    struct shim_site site;
};

/* What contains the address, or else is nearest to it; false: nothing. */
bool shim_nearest(uint64_t address, struct shim_allocation *near);

/* Copies between any two addresses of host or device. */
hsa_status_t shim_copy(uint64_t to, uint64_t from, size_t size);

#endif
