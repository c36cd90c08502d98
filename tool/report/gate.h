/* SPDX-License-Identifier: MIT */
/* Conditions such as "efficiency<0.5" or "bound==memory" that fail a run when a figure of its profile meets
 * them. */
#ifndef WAVEMEM_TOOL_GATE_H
#define WAVEMEM_TOOL_GATE_H

#include "tool/tool.h"

#include <jansson.h>

enum tool_gate_scope {
    TOOL_OF_ROWS,    /* each instruction: "lines" */
    TOOL_OF_TOTALS,  /* the sums over all instructions: "total.lines" */
    TOOL_OF_KERNELS, /* each kernel: "occupancy" */
};

enum tool_gate_sign { TOOL_LESS, TOOL_LESS_OR_EQUAL, TOOL_MORE, TOOL_MORE_OR_EQUAL, TOOL_SAME, TOOL_OTHER };

struct tool_gate {
    const char *text; /* as given */
    char key[40];     /* of a figure in the report's JSON, or of tool_kernel_figures() */
    enum tool_gate_scope scope;
    enum tool_gate_sign sign;
    double number;
    const char *word; /* TOOL_SAME, TOOL_OTHER: the part of the GPU */
};

enum { TOOL_GATES = 32 };

struct tool_gates {
    struct tool_gate gate[TOOL_GATES];
    size_t count;
};

/* The section of --help about conditions. */
extern const char tool_gates_help[];

/* Adds a condition. TOOL_WRONG after a message that begins with `where`. `text` must stay valid. */
int tool_gates_add(struct tool_gates *gates, const char *where, const char *text);

/* Reads the figure; false if it is missing or null. */
bool tool_json_figure(const json_t *figures, const char *key, double *value);

/* The figures of a kernel that conditions can test: an object with the kernel's name and the figures. */
json_t *tool_kernel_figures(const json_t *kernel);

/* Figures by scope: an array of objects, an object, an array of objects. */
struct tool_gated {
    const json_t *rows;
    json_t *totals;
    const json_t *kernels;
};

/* Evaluates each condition for each object that has its figure. Returns those that are met: an array of
 * objects with condition, kernel, offset and text (if it is about an instruction), and value. */
json_t *tool_gates_failed(const struct tool_gates *gates, const struct tool_gated *gated);

/* Prints a line per failed condition to stderr. Returns `code`, or TOOL_FINDINGS if `code` is TOOL_CLEAN and
 * a condition is met. */
int tool_gates_report(const json_t *failed, int code);

#endif
