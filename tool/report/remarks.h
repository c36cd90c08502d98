/* SPDX-License-Identifier: MIT */
/* The advice for the instructions of a kernel, without repetitions. */
#ifndef WAVEMEM_TOOL_REMARKS_H
#define WAVEMEM_TOOL_REMARKS_H

#include "wavemem/wavemem.h"

enum {
    TOOL_REMARKS = 8, /* maximum shown per kernel; the rest is shown with the instructions */
    TOOL_NAMED = 4,   /* maximum number of instructions named per piece of advice */
};

/* One piece of advice and its rows. */
struct tool_remark {
    const struct wm_profile_row *row[TOOL_NAMED]; /* the first of them */
    size_t rows;
    double gain; /* of all rows, see struct wm_profile_row */
};

/* Collects the advice for the rows of one kernel, largest gain first. Returns the number; the caller frees
 * *remarks. */
size_t tool_remarks(const struct wm_profile_row *const *rows, size_t count, struct tool_remark **remarks);

#endif
