/* SPDX-License-Identifier: MIT */
/* What --exports shows: the exports of each wave, and how many messages of each kind were sent. */
#ifndef WAVEMEM_TOOL_EXPORTS_H
#define WAVEMEM_TOOL_EXPORTS_H

#include "wavemem/wavemem.h"

#include <jansson.h>
#include <stdio.h>

struct tool_exports {
    struct wm_observer observer; /* for wm_dispatch.observers */
    json_t *exports, *messages;  /* of one dispatch */
};

/* tool_exports_end() must follow. */
void tool_exports_begin(struct tool_exports *exports);
/* Puts the exports in the order of workgroups and waves. Returns {"exports", "messages"}, which the caller
 * owns. */
json_t *tool_exports_end(struct tool_exports *exports);
/* Prints what tool_exports_end() returned. */
void tool_print_exports(FILE *file, const char *kernel, const json_t *report);

#endif
