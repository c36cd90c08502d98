/* SPDX-License-Identifier: MIT */
/* The output of --check-waits and --check-hazards. */
#ifndef WAVEMEM_TOOL_FINDINGS_H
#define WAVEMEM_TOOL_FINDINGS_H

#include "wavemem/wavemem.h"

#include <jansson.h>
#include <stdio.h>

void tool_print_findings(FILE *file, struct wm_check *check);
json_t *tool_json_findings(struct wm_check *check);

#endif
