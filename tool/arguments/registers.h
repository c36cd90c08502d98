/* SPDX-License-Identifier: MIT */
/* Initial registers of a dispatch: --sgpr, --vgpr, --register, --bare, --scratch. */
#ifndef WAVEMEM_TOOL_REGISTERS_H
#define WAVEMEM_TOOL_REGISTERS_H

#include "tool/arguments/job.h"

struct tool_start {
    struct wm_start start;
    bool given; /* whether the dispatch sets anything */
    struct wm_start_register *registers;
    struct tool_start_text {
        char name[24];
    } *names;          /* of the registers */
    uint32_t **values; /* of the registers */
    size_t room;
};

/* Reads the registers of dispatch `index`. machine: NULL: before execution, when addresses are not known.
 * Free the start in any case. */
bool tool_start_make(struct tool_job *job, size_t index, struct wm_machine *machine, struct tool_start *start,
                     struct wm_diag *diag);
void tool_start_free(struct tool_start *start);

#endif
