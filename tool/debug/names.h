/* SPDX-License-Identifier: MIT */
/* Names in expressions: arguments of the kernel, variables of the source, convenience variables. */
#ifndef WAVEMEM_DEBUG_NAMES_H
#define WAVEMEM_DEBUG_NAMES_H

#include "tool/debug/value.h"

/* An argument of the kernel or a variable in scope. *found: there is one of that name. False: it has no value
 * that can be shown, with a message. */
bool debug_name(struct debug_session *s, const char *name, size_t length, unsigned lane,
                struct debug_value *value, bool *found, struct wm_diag *diag);
/* $NAME, without the $. */
bool debug_convenience(struct debug_session *s, const char *name, size_t length, unsigned lane,
                       struct debug_value *value, struct wm_diag *diag);

/* The value of an argument of the dispatch. False: it has no type that is known. */
bool debug_argument(struct debug_session *s, size_t index, struct debug_value *value);

/* A variable in scope. Returns false if there are not so many. *why: why there is no value; NULL: there is.
 */
bool debug_variable(struct debug_session *s, size_t index, unsigned lane, struct wm_variable *variable,
                    struct debug_value *value, const char **why);

#endif
