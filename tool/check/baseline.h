/* SPDX-License-Identifier: MIT */
/* --baseline: findings of an earlier report are known. tool_read_baseline() reads it. */
#ifndef WAVEMEM_TOOL_CHECK_BASELINE_H
#define WAVEMEM_TOOL_CHECK_BASELINE_H

#include "tool/check/request.h"

/* Whether the baseline has the finding. */
bool tool_is_known(const struct tool_check_request *request, const json_t *finding);

#endif
