/* SPDX-License-Identifier: MIT */
/* Expressions of numbers, lanes and addresses. */
#ifndef WAVEMEM_TOOL_EXPRESSION_H
#define WAVEMEM_TOOL_EXPRESSION_H

#include "wavemem/wavemem.h"

/* Guest memory from an address on. */
struct tool_place {
    uint64_t address, size; /* bytes */
};

/* What @NAME stands for. */
struct tool_names {
    /* False: there is no such name; sets diag->message. */
    bool (*find)(void *user, const char *name, size_t length, struct tool_place *place, struct wm_diag *diag);
    void *user;
};

struct tool_expression {
    const struct tool_names *names; /* NULL: there is no @NAME */
    int lane;                       /* -1: there is no `lane` */
    /* Set by tool_evaluate(): */
    uint64_t value;
    bool named, wide;      /* contains an address; contains one that is not cut to 32 bits */
    uint64_t end_of_place; /* where the memory of the last @NAME ends */
    const char *end;       /* the first character after the expression; where it is wrong */
};

/* Evaluates an expression of numbers, `lane`, @NAME, parentheses and C's + - * / % << >> & ^ | ~, in unsigned
 * 64-bit arithmetic; .lo and .hi behind a name or a parenthesis select 32 bits. False: a syntax error, an
 * unknown name or a division by zero; sets diag->message. */
bool tool_evaluate(const char *text, struct tool_expression *expression, struct wm_diag *diag);

#endif
