/* SPDX-License-Identifier: MIT */
/* Checks for missing waits and hazards. */
#ifndef WAVEMEM_CHECK_H
#define WAVEMEM_CHECK_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct wm_check; /* an observer that reports missing waits and hazards */

/* What to check.
 * WM_CHECK_WAITS: registers that are used before the wait counters guarantee that their data has arrived.
 * WM_CHECK_HAZARDS: instructions that are closer together than the target requires (AMD's "manually inserted
 * wait states" and the distances that LLVM keeps). Both follow the documented guarantees, not actual
 * latencies. They do not change the results of the kernel. */
enum wm_check_what { WM_CHECK_WAITS = 1, WM_CHECK_HAZARDS = 2 };

/* One violated rule at one instruction, over all checked dispatches. */
struct wm_finding {
    const char
        *rule; /* "read-before-wait", "write-before-wait", "store-data-before-wait", or a hazard's name */
    const char *message;   /* a sentence: the problem, the earlier instruction, what is missing */
    const char *source;    /* the document that states the rule, or NULL */
    const char *kernel;    /* symbol that contains the instruction */
    const char *text;      /* the instruction in LLVM's syntax */
    const char *file;      /* source file, or NULL */
    unsigned line, column; /* 0 when unknown */
    uint64_t pc, offset;   /* guest address; bytes from the symbol, or from the start of code without one */
    uint64_t first_pc;     /* guest address of the earlier instruction that it conflicts with */
    uint64_t count;        /* executions, counted per wave */
};

WM_API enum wm_status wm_check_create(unsigned what, struct wm_check **check, struct wm_diag *diag);
WM_API void wm_check_destroy(struct wm_check *check);
/* The findings in order of their address; valid until the next dispatch or wm_check_destroy. */
WM_API const struct wm_finding *wm_check_findings(struct wm_check *check, size_t *count);

#ifdef __cplusplus
}
#endif

#endif
