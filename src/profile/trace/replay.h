/* SPDX-License-Identifier: MIT */
/* A profile as a trace: what it sees goes into a file, and from there into another profile, which tells the
 * same or what another product would make of it. docs/trace.md has the format. */
#ifndef WMI_PROFILE_REPLAY_H
#define WMI_PROFILE_REPLAY_H

#include "profile/profile.h"
#include "profile/trace/trace.h"

/* What a trace begins with. */
struct wmi_trace_header {
    char *target; /* that the kernels ran on: "gfx900" */
    char *gpu;    /* the product that was modelled: "vega64" */
};
void wmi_trace_header_free(struct wmi_trace_header *header);

/* ---- writing, by the profile ---- */

struct wmi_tracer;

/* Begins the file. */
enum wm_status wmi_tracer_create(const char *path, struct wmi_tracer **tracer, struct wm_diag *diag);
/* A dispatch on `target` begins, after the profile's own beginning, and is over, after its end. */
void wmi_tracer_begin(struct wmi_tracer *tracer, struct wm_profile *profile, const char *target);
void wmi_tracer_end(struct wmi_tracer *tracer, struct wm_profile *profile);
/* Completes the file and frees the tracer; WM_IO, WM_NO_MEMORY: it is not whole. */
enum wm_status wmi_tracer_finish(struct wmi_tracer *tracer, const struct wm_profile *profile,
                                 struct wm_diag *diag);
/* Frees the tracer; there is no file. NULL is nothing. */
void wmi_tracer_drop(struct wmi_tracer *tracer);

/* ---- reading ---- */

/* The first record. */
enum wm_status wmi_replay_header(struct wmi_trace *trace, struct wmi_trace_header *header,
                                 struct wm_diag *diag);
/* The rest, into a profile that has seen nothing yet and knows its product. target: the header's; rules: its.
 */
enum wm_status wmi_replay(struct wmi_trace *trace, struct wm_profile *profile, const char *target,
                          const struct wmi_cost_rules *rules, struct wm_diag *diag);

#endif
