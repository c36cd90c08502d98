/* SPDX-License-Identifier: MIT */
/* Conditions such as "efficiency<0.5" that fail a run when a figure of its profile meets them. */
#ifndef WAVEMEM_TOOL_GATE_H
#define WAVEMEM_TOOL_GATE_H

#include "tool.h"

#include <jansson.h>

struct tool_gate {
    const char *text; /* as it was given */
    const char *key;  /* of a figure in the report's JSON */
    bool total;       /* of the sum over all instructions, not of each instruction */
    bool or_equal;
    int sign; /* -1: less than the number, 1: more */
    double number;
};

enum { TOOL_GATES = 32 };

struct tool_gates {
    struct tool_gate gate[TOOL_GATES];
    size_t count;
};

/* Adds a condition; TOOL_WRONG after a message that begins with `where`. `text` must stay. */
int tool_gates_add(struct tool_gates *gates, const char *where, const char *text);

/* The figure; false where it is missing or null. */
bool tool_json_figure(const json_t *figures, const char *key, double *value);

/* What fails: an array of objects with condition, kernel, offset, text (of the row; total: null) and value. A
 * condition is asked of each object of the array `rows` that has its figure, or of `totals`. */
json_t *tool_gates_failed(const struct tool_gates *gates, const json_t *rows, json_t *totals);

/* Prints a line for each to stderr; returns `code`, or TOOL_FINDINGS where that was clean and something
 * fails. */
int tool_gates_report(const json_t *failed, int code);

#endif
