/* SPDX-License-Identifier: MIT */
/* The advice on the instructions of a kernel, each piece said once. */
#ifndef WAVEMEM_TOOL_REMARKS_H
#define WAVEMEM_TOOL_REMARKS_H

#include "wavemem/wavemem.h"

enum {
    TOOL_REMARKS = 8, /* that a kernel shows; the rest stands with the instructions */
    TOOL_NAMED = 4,   /* instructions that are named of one */
};

/* One piece of advice, and the rows that it is for. */
struct tool_remark {
    const struct wm_profile_row *row[TOOL_NAMED]; /* the first of them */
    size_t rows;
    double gain; /* of all rows, see struct wm_profile_row */
};

/* Of rows of one kernel, that first which promises most. Returns how many there are; free *remarks. */
size_t tool_remarks(const struct wm_profile_row *const *rows, size_t count, struct tool_remark **remarks);

#endif
