/* SPDX-License-Identifier: MIT */
/* A run that can be stopped. */
#ifndef WMI_API_STOP_H
#define WMI_API_STOP_H

#include "api/run.h"

/* WM_BAD_ARGUMENT: it is NULL, or it is running, so this is called by something that it calls. */
enum wm_status wmi_run_check(struct wm_run *run, const char *function, struct wm_diag *diag);
/* Describes a wave that goes on at `pc`. */
struct wm_stopped wmi_run_describe(const struct wm_run *run, enum wm_stop_kind kind,
                                   const struct wmi_wave *wave, uint64_t pc, uint64_t instructions);
/* The upper bits of VGPR numbers in which the wave executes the instruction at pc: its own, or where it has
 * not come to a step that tells, what the code makes of them. */
unsigned wmi_run_state(const struct wm_run *run, const struct wmi_wave *wave, uint64_t pc);

/* Runs a dispatch on the calling thread, for hosts without threads. visit(run, user) is called before the
 * first instruction, when no wave is stopped, and at each stop. It may call wm_run_get(), wm_run_read_lds()
 * and the like, and wmi_run_next(); no other function of wavemem/stop.h. Errors: those of wm_dispatch. */
enum wm_status wmi_run_visiting(struct wm_machine *machine, const struct wm_object *object,
                                const struct wm_kernel *kernel, const struct wm_dispatch *request,
                                wmi_run_visitor *visit, void *user, struct wm_result *result,
                                struct wm_diag *diag);
/* Where the visited run is stopped; NULL: no wave is. */
const struct wm_stopped *wmi_run_stopped(const struct wm_run *run);
/* What the visited run goes to next, see wm_run_to(). Errors: those of it. */
enum wm_status wmi_run_next(struct wm_run *run, const struct wm_stop_at *at, struct wm_diag *diag);

#endif
