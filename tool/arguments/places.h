/* SPDX-License-Identifier: MIT */
/* Where the buffers of a job lie in guest memory. */
#ifndef WAVEMEM_TOOL_PLACES_H
#define WAVEMEM_TOOL_PLACES_H

#include "tool/arguments/dwords.h"
#include "tool/arguments/job.h"

/* Who refers to buffers by @NAME. */
struct tool_scope {
    struct tool_job *job;
    size_t dispatch;            /* or TOOL_ANY_DISPATCH */
    struct wm_machine *machine; /* NULL: before execution, when only the names can be checked */
};

/* The function of a struct tool_names whose user is a struct tool_scope. Allocates buffers. */
bool tool_find_place(void *user, const char *name, size_t length, struct tool_place *place,
                     struct wm_diag *diag);
/* The target that descriptors are built for. */
const char *tool_job_target(const struct tool_job *job);

/* Allocates a buffer, if it is not yet, without filling it. */
bool tool_allocate(struct wm_machine *machine, struct tool_buffer *buffer, struct wm_diag *diag);
/* Fills all buffers that have been allocated, and those that their words refer to. */
bool tool_fill_buffers(struct tool_job *job, struct wm_machine *machine, struct wm_diag *diag);
/* Writes the elements to guest memory. */
bool tool_write_array(struct tool_scope *scope, const struct tool_array *array, uint64_t address,
                      struct wm_diag *diag);

#endif
