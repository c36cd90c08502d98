/* SPDX-License-Identifier: MIT */
/* The findings of a check as JSON, from which all reports are made: those of `exec` come from another
 * process. */
#ifndef WAVEMEM_TOOL_CHECK_FINDINGS_H
#define WAVEMEM_TOOL_CHECK_FINDINGS_H

#include "wavemem/wavemem.h"

#include <jansson.h>

/* An array of findings, and one of kernels that were checked: docs/schema/check.json. */
json_t *tool_json_findings(struct wm_check *check);
/* One finding. */
json_t *tool_json_finding(const struct wm_finding *finding);
json_t *tool_json_coverage(struct wm_check *check);

#endif
