/* SPDX-License-Identifier: MIT */
/* Fidelity: which instructions were executed, and how exact they are. */
#ifndef WAVEMEM_FIDELITY_H
#define WAVEMEM_FIDELITY_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct wm_fidelity; /* counts which instructions were executed, and says how exact they are */

enum wm_grade {
    WM_GRADE_EXACT,      /* does what its source says, bit by bit */
    WM_GRADE_APPROX,     /* the hardware's last bits are known to nobody: the remark gives the bounds */
    WM_GRADE_UNVERIFIED, /* no document or measurement decides what the remark says */
};

/* One kind of instruction over all dispatches that counted it. */
struct wm_fidelity_row {
    const char *name; /* of the row in isa/, without _e32 and the like */
    enum wm_grade grade;
    const char *remark;  /* bound and source, or what is unverified; "" when exact */
    uint64_t executions; /* by waves, also with no lane active */
};

WM_API enum wm_status wm_fidelity_create(struct wm_fidelity **fidelity, struct wm_diag *diag);
WM_API void wm_fidelity_destroy(struct wm_fidelity *fidelity);
/* The rows that were executed: what is unverified, then what is approximate, then the rest, each by
 * executions. An instruction whose grade depends on a modifier has a row for each. Valid until the next
 * dispatch or wm_fidelity_destroy. */
WM_API const struct wm_fidelity_row *wm_fidelity_rows(struct wm_fidelity *fidelity, size_t *count);
/* What is unverified of many instructions alike, ended by NULL. */
WM_API const char *const *wm_fidelity_general(void);

#ifdef __cplusplus
}
#endif

#endif
