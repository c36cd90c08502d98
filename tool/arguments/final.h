/* SPDX-License-Identifier: MIT */
/* Runs a dispatch and writes the final registers of one of its waves: --registers, --of. */
#ifndef WAVEMEM_TOOL_FINAL_H
#define WAVEMEM_TOOL_FINAL_H

#include "tool/arguments/job.h"

#include <jansson.h>

/* Runs the dispatch as wm_dispatch() does. *registers: those of the wave d->final when it ends, or NULL if it
 * did not end. */
enum wm_status tool_run_to_registers(struct wm_machine *machine, const struct tool_dispatch *d,
                                     const struct wm_dispatch *dispatch, struct wm_result *result,
                                     json_t **registers, struct wm_diag *diag);
/* Writes them to the file; returns an enum tool_exit. */
int tool_write_registers(const struct tool_dispatch *d, const json_t *registers);

#endif
