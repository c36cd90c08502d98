/* SPDX-License-Identifier: MIT */
/* Programs in which the waves of a run execute at full speed. */
#ifndef WMI_API_STOP_FAST_H
#define WMI_API_STOP_FAST_H

#include "api/run.h"

/* Finds or makes the program for what the run goes to now. Without memory, waves stay in the dispatch's own.
 */
void wmi_run_choose_fast(struct wm_run *run);
/* The program in which the wave executes its next instructions, see wmi_observer.program. */
struct wmi_program *wmi_run_program(struct wm_run *run, const struct wmi_wave *wave, bool may_stop,
                                    uint64_t instructions);
void wmi_run_free_fast(struct wm_run *run);

#endif
