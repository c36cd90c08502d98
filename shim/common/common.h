/* SPDX-License-Identifier: MIT */
/* What the replacements for AMD's libraries and driver share: settings from the environment, and reports
 * about the kernels that a program launches. */
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

enum { SHIM_GPUS = 16, SHIM_NAME = 256, SHIM_PATH = 4096, SHIM_TARGET = 16 };

/* ---- settings.c ---- */

/* A GPU of the process. */
struct shim_gpu {
    struct wm_machine *machine;
    const struct wm_gpu *product;
    unsigned number;          /* from 0 on */
    char target[SHIM_TARGET]; /* "gfx900" */
};

/* Of all dispatches; see `wavemem exec --help`. */
struct shim_settings {
    uint32_t threads;
    double timeout; /* seconds; 0: none */
    bool goes_on;   /* after a fault */
};

/* Reads them from the environment, once. Not thread-safe. */
void shim_settings_begin(void);
const struct shim_settings *shim_settings(void);
/* The products that WAVEMEM_GPU names, separated by commas; vega64 if it is not set. Returns how many, or 0
 * after a message. */
unsigned shim_find_products(const struct wm_gpu *products[SHIM_GPUS]);
/* The GPU's word of WAVEMEM_TARGET, separated by commas, if it is one of the product's targets, or else the
 * first of these. */
void shim_choose_target(const struct wm_gpu *product, unsigned number, char target[SHIM_TARGET]);

uint64_t shim_now(void); /* nanoseconds, the unit of all timestamps */
/* Says on stderr why a packet failed. */
void shim_report(const char *text);
/* Says on stderr what else the program did wrong; after many times no more. */
void shim_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- what each stand-in defines ---- */

/* The name of the kernel with this object; "" if it is not known. */
void shim_name_kernel(uint64_t kernel_object, char *name, size_t size);

enum { SHIM_FRAMES = 4 };

/* Where the program called the runtime, and from where. */
struct shim_site {
    void *frames[SHIM_FRAMES]; /* NULL: no more */
};
/* "main (app.hip:12)"; false: unknown. Takes long. */
bool shim_site_text(const struct shim_site *site, char *text, size_t size);

/* What the program allocated or registered. */
struct shim_allocation {
    uint64_t low, size;
    const char *kind;
    struct shim_site site;
    bool is_hidden; /* from the GPU */
};
/* What contains the address, or else is nearest to it; false: nothing. gpu: that accessed it, or NULL. */
bool shim_nearest(const struct shim_gpu *gpu, uint64_t address, struct shim_allocation *near);
/* Where the program allocated what begins, or did before it was freed, at the address; false: unknown. For
 * reports of checks: only these keep what has been freed. */
bool shim_allocation_site(uint64_t low, struct shim_site *site);

/* ---- results.c ---- */

/* Begins if the environment asks for it. */
void shim_results_begin(void);
/* The path of this process's file of that kind; false: nobody wants it. */
bool shim_result_path(const char *kind, char path[SHIM_PATH]);
/* Adds a line to it. */
void shim_result(const char *kind, const char *text);

/* ---- launches.c ---- */

struct shim_launch {
    const char *symbol; /* of the kernel; "" if it is not known */
    uint64_t number;    /* of the kernel's launches, from 1 on */
    bool observed;      /* by those who observe anything */
};

void shim_launches_begin(void);
/* Counts a launch. */
struct shim_launch shim_launch(const struct shim_gpu *gpu, uint64_t kernel_object);

/* ---- observe.c ---- */

/* Begins if the environment asks for it. */
void shim_observe_begin(void);
/* Adds a GPU, before its machine has any memory. It must live as long as the process. */
void shim_observe_gpu(const struct shim_gpu *gpu);
/* Whether memory is checked. */
bool shim_observe_checks(void);
/* Lets those who observe the launch do so, until shim_observe_leave(); false: nobody does. */
bool shim_observe_enter(const struct shim_launch *launch, const struct shim_gpu *gpu,
                        struct wm_dispatch *options);
/* ran: false if the machine refused it. */
void shim_observe_leave(const struct shim_launch *launch, const struct shim_gpu *gpu, bool ran,
                        const struct wm_result *result);
/* Writes what was observed; later launches are not. Not between enter and leave. */
void shim_observe_end(void);

/* ---- faults.c ---- */

/* What code objects are called in messages. */
#define SHIM_OBJECT "code object"

/* Says on stderr why a launch failed. fault: NULL if it could not start. */
void shim_report_fault(const struct shim_launch *launch, const struct wm_packet *packet,
                       const struct shim_gpu *gpu, const struct wm_fault *fault, const char *text);

#endif
