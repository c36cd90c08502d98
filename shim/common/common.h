/* SPDX-License-Identifier: MIT */
/* Settings from the environment, and reports about the kernels that a program launches, for all replacements
 * for AMD's libraries and driver. */
#ifndef SHIM_COMMON_H
#define SHIM_COMMON_H

#include <wavemem/wavemem.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#define SHIM_API          __attribute__((visibility("default")))
#define SHIM_COUNT(array) (sizeof(array) / sizeof *(array))

enum { SHIM_GPUS = 16, SHIM_NAME = 256, SHIM_OBJECT_NAME = 128, SHIM_PATH = 4096, SHIM_TARGET = 16 };

/* ---- settings.c ---- */

/* A GPU of the process. */
struct shim_gpu {
    struct wm_machine *machine;
    const struct wm_gpu *product;
    unsigned number;          /* from 0 on */
    char target[SHIM_TARGET]; /* "gfx900" */
};

/* Settings of all dispatches; see `wavemem exec --help`. */
struct shim_settings {
    uint32_t threads;
    double timeout; /* seconds; 0: none */
    bool goes_on;   /* continues after a fault */
};

/* Reads them from the environment, once. Not thread-safe. */
void shim_settings_begin(void);
const struct shim_settings *shim_settings(void);
/* Finds the products that WAVEMEM_GPU names, separated by commas; vega64 if it is not set. Returns their
 * number, or 0 after a message. */
unsigned shim_find_products(const struct wm_gpu *products[SHIM_GPUS]);
/* The GPU's word of WAVEMEM_TARGET, separated by commas, if it is one of the product's targets, or else the
 * first of these. */
void shim_choose_target(const struct wm_gpu *product, unsigned number, char target[SHIM_TARGET]);

uint64_t shim_now(void); /* nanoseconds, the unit of all timestamps */
/* Reports on stderr why a packet failed. */
void shim_report(const char *text);
/* Reports on stderr another error of the program. Stops after many reports. */
void shim_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- what each stand-in defines; unknown.c has those of the functions that only some define ---- */

/* The name of the kernel with this object; "" if it is not known. */
void shim_name_kernel(uint64_t kernel_object, char *name, size_t size);

enum { SHIM_FRAMES = 4 };

/* The call stack of the program at a call of the runtime. */
struct shim_site {
    void *frames[SHIM_FRAMES]; /* NULL after the last */
};
/* Writes the site as text, such as "main (app.hip:12)". False: unknown. Slow. */
bool shim_site_text(const struct shim_site *site, char *text, size_t size);

/* Memory that the program allocated or registered. */
struct shim_allocation {
    uint64_t low, size;
    const char *kind;
    char name[SHIM_OBJECT_NAME]; /* that the program gave it; "": none */
    struct shim_site site;
    bool is_hidden; /* the GPU has no access */
};
/* Finds the allocation that contains the address, or else the nearest one; false: there is none. gpu: the GPU
 * that accessed it, or NULL. */
bool shim_nearest(const struct shim_gpu *gpu, uint64_t address, struct shim_allocation *near);
/* Finds the call site of the allocation that starts at the address, or did before it was freed; false:
 * unknown. For reports of checks: freed memory is remembered only for them. */
bool shim_allocation_site(uint64_t low, struct shim_site *site);
/* What the program had put there, under a name, when the check saw its launch of this number (of all kernels,
 * from 1 on), and may have destroyed since. False: unknown. */
bool shim_named_memory(const struct shim_gpu *gpu, uint64_t address, uint64_t launch,
                       struct shim_allocation *found);

/* ---- threads.c ---- */

/* Adds a number to a hash. */
void shim_mix(uint64_t *state, uint64_t number);
/* Whether the stand-in knows what the thread does; *waits: it waits for ever unless somebody acts. Mixes into
 * the state what tells this wait from the next one. */
typedef bool shim_knows_thread(pid_t tid, bool *waits, uint64_t *state);
/* Whether all threads but `own` wait without a time limit, for one another, or execute kernels. The state is
 * not the same if any of them has acted in between. */
bool shim_all_threads_wait(pid_t own, shim_knows_thread *knows, uint64_t *state);
bool shim_has_timers(void);

/* ---- results.c ---- */

/* Begins if the environment asks for it. */
void shim_results_begin(void);
/* The path of this process's file of that kind; false: no results are requested. */
bool shim_result_path(const char *kind, char path[SHIM_PATH]);
/* Adds a line to that file. */
void shim_result(const char *kind, const char *text);

/* ---- launches.c ---- */

struct shim_launch {
    const char *symbol; /* symbol of the kernel; "" if it is not known */
    uint64_t number;    /* of the kernel's launches, from 1 on */
    bool observed;      /* the launch is observed */
};

void shim_launches_begin(void);
/* Counts a launch. name: of the kernel, which may change; NULL: shim_name_kernel() knows it. */
struct shim_launch shim_launch(const struct shim_gpu *gpu, uint64_t kernel_object, const char *name);

/* ---- observe.c ---- */

/* Begins if the environment asks for it. */
void shim_observe_begin(void);
/* Adds a GPU, before its machine has any memory. It must live as long as the process. */
void shim_observe_gpu(const struct shim_gpu *gpu);
/* Whether memory is checked. */
bool shim_observe_checks(void);
/* The number of launches that the GPU's check has seen. */
uint64_t shim_observe_count(const struct shim_gpu *gpu);
/* Adds the observers of the launch, until shim_observe_leave(); false: there are none. */
bool shim_observe_enter(const struct shim_launch *launch, const struct shim_gpu *gpu,
                        struct wm_dispatch *options);
/* ran: false if the machine refused it. */
void shim_observe_leave(const struct shim_launch *launch, const struct shim_gpu *gpu, bool ran,
                        const struct wm_result *result);
/* Lets the check of a GPU see that the program has copied its memory to other memory of it, or to the host
 * (to is 0). site: where the program called the runtime. */
void shim_observe_copy(const struct shim_gpu *gpu, uint64_t to, uint64_t from, size_t size,
                       const struct shim_site *site);
/* Writes the results of observation; later launches are not observed. Not between enter and leave. */
void shim_observe_end(void);

/* ---- debug.c ---- */

/* wm_dispatch_packet(), for `wavemem exec --debug' under the debugger. shares_all: all memory of the GPU is
 * the host's, too, so that going back has to restore it. */
enum wm_status shim_run_packet(const struct shim_gpu *gpu, const struct wm_packet *packet, bool shares_all,
                               struct wm_diag *diag);

/* ---- faults.c ---- */

/* The name of code objects in messages. */
#define SHIM_OBJECT "code object"

/* Reports on stderr why a launch failed. fault: NULL if it could not start. */
void shim_report_fault(const struct shim_launch *launch, const struct wm_packet *packet,
                       const struct shim_gpu *gpu, const struct wm_fault *fault, const char *text);

#endif
