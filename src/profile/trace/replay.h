/* SPDX-License-Identifier: MIT */
/* Records a profile as a trace, and fills another profile from a trace, for the same or another product.
 * docs/trace.md describes the format. */
#ifndef WMI_PROFILE_REPLAY_H
#define WMI_PROFILE_REPLAY_H

#include "profile/profile.h"
#include "profile/trace/trace.h"

/* The header of a trace. */
struct wmi_trace_header {
    char *target; /* target of the kernels: "gfx900" */
    char *gpu;    /* modelled product: "vega64" */
    bool keeps_l2;
};
void wmi_trace_header_free(struct wmi_trace_header *header);

/* ---- writing, called by the profile ---- */

struct wmi_tracer;

/* Starts the file. */
enum wm_status wmi_tracer_create(const char *path, struct wmi_tracer **tracer, struct wm_diag *diag);
/* Called at the start and end of a dispatch on `target`, after the profile's own functions. */
void wmi_tracer_begin(struct wmi_tracer *tracer, struct wm_profile *profile, const char *target);
void wmi_tracer_end(struct wmi_tracer *tracer, struct wm_profile *profile);
/* Completes the file and frees the tracer. WM_IO, WM_NO_MEMORY: it could not be completed. */
enum wm_status wmi_tracer_finish(struct wmi_tracer *tracer, const struct wm_profile *profile,
                                 struct wm_diag *diag);
/* Frees the tracer and removes the file. NULL is allowed. */
void wmi_tracer_drop(struct wmi_tracer *tracer);

/* ---- reading ---- */

/* Reads the header, the first record. */
enum wm_status wmi_replay_header(struct wmi_trace *trace, struct wmi_trace_header *header,
                                 struct wm_diag *diag);
/* Reads the rest into a new profile whose product is set. target: that of the header; rules: of this target.
 */
enum wm_status wmi_replay(struct wmi_trace *trace, struct wm_profile *profile, const char *target,
                          const struct wmi_cost_rules *rules, struct wm_diag *diag);

/* In merge.c: wm_trace_merge(). */
enum wm_status wmi_trace_merge(const struct wm_trace_part *parts, size_t count, const char *path,
                               struct wm_diag *diag);

#endif
