/* SPDX-License-Identifier: MIT */
/* `replay` as a part of other verbs. */
#ifndef WAVEMEM_TOOL_REPLAY_H
#define WAVEMEM_TOOL_REPLAY_H

#include <jansson.h>

/* What the trace does not say. */
struct tool_replay_more {
    int code;           /* TOOL_FAULT: the program faulted, which the report says */
    const char *who;    /* of losses */
    const char *losses; /* a line each: what was not observed; or NULL */
    const char *killed; /* why all the rest is missing; or NULL */
    json_t *fidelity;   /* for the JSON; or NULL */
};

/* As the verb, with its words. */
int tool_replay(int argc, char **argv, const struct tool_replay_more *more);
/* Says what is missing, also in `json` unless NULL; returns TOOL_INCOMPLETE if anything is. */
int tool_tell_more(json_t *json, const struct tool_replay_more *more);
/* Checks the words without reading the trace; says what is wrong. */
int tool_check_replay(int argc, char **argv);

#endif
