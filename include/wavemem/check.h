/* SPDX-License-Identifier: MIT */
/* Checks: what is wrong with code that runs all the same. */
#ifndef WAVEMEM_CHECK_H
#define WAVEMEM_CHECK_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct wm_check; /* looks for missing waits and hazards */

/* What a check looks for: registers that are used before the wait counters say that their data is there, and
 * instructions that must be further apart on the target (AMD's "manually inserted wait states" and what LLVM
 * keeps apart). Both by what the documents guarantee, not by how long things take. Values are always right.
 */
enum wm_check_what { WM_CHECK_WAITS = 1, WM_CHECK_HAZARDS = 2 };

/* One instruction and rule over all dispatches that were checked. */
struct wm_finding {
    const char
        *rule; /* "read-before-wait", "write-before-wait", "store-data-before-wait", or a hazard's name */
    const char *message;   /* a sentence: what, after which instruction, and what is missing */
    const char *source;    /* the document that asks for it, or NULL */
    const char *kernel;    /* symbol that the instruction lies in */
    const char *text;      /* LLVM's text of it */
    const char *file;      /* source file, or NULL */
    unsigned line, column; /* 0 when unknown */
    uint64_t pc, offset;   /* guest address; bytes from the symbol */
    uint64_t first_pc;     /* of the instruction that it goes back to */
    uint64_t count;        /* executions by waves */
};

WM_API enum wm_status wm_check_create(unsigned what, struct wm_check **check, struct wm_diag *diag);
WM_API void wm_check_destroy(struct wm_check *check);
/* What was found, in order of addresses; valid until the next dispatch or wm_check_destroy. */
WM_API const struct wm_finding *wm_check_findings(struct wm_check *check, size_t *count);

#ifdef __cplusplus
}
#endif

#endif
