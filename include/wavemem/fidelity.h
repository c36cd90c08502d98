/* SPDX-License-Identifier: MIT */
/* Fidelity: which instructions were executed, and how exactly wavemem models each. */
#ifndef WAVEMEM_FIDELITY_H
#define WAVEMEM_FIDELITY_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct wm_fidelity; /* an observer that counts executed instructions */

enum wm_grade {
    WM_GRADE_EXACT,      /* bit-exact according to its source */
    WM_GRADE_APPROX,     /* the hardware's last bits are not documented; the remark gives the error bound */
    WM_GRADE_UNVERIFIED, /* no document or measurement confirms the behaviour that the remark names */
};

/* One instruction, over all dispatches. */
struct wm_fidelity_row {
    const char *name; /* of the row in isa/, without suffixes such as _e32 */
    enum wm_grade grade;
    const char *remark;  /* error bound and source, or what is unverified; "" if exact */
    uint64_t executions; /* counted per wave, even if no lane is active */
};

WM_API enum wm_status wm_fidelity_create(struct wm_fidelity **fidelity, struct wm_diag *diag);
WM_API void wm_fidelity_destroy(struct wm_fidelity *fidelity);
/* The executed instructions: first the unverified, then the approximate, then the exact ones, each group in
 * descending order of executions. An instruction whose grade depends on a modifier has one row per grade.
 * Valid until the next dispatch or wm_fidelity_destroy. */
WM_API const struct wm_fidelity_row *wm_fidelity_rows(struct wm_fidelity *fidelity, size_t *count);
/* Remarks about unverified behaviour that many instructions share; the list ends with NULL. */
WM_API const char *const *wm_fidelity_general(void);

#ifdef __cplusplus
}
#endif

#endif
