/* SPDX-License-Identifier: MIT */
/* What reports read of findings, and which are reported: kernels, suppressions. */
#ifndef WAVEMEM_TOOL_CHECK_FILTER_H
#define WAVEMEM_TOOL_CHECK_FILTER_H

#include "tool/check/request.h"

#include <stdio.h>

/* A member of a finding, or of another object: its text, or NULL; its number, or 0. */
const char *tool_text_of(const json_t *object, const char *key);
json_int_t tool_number_of(const json_t *object, const char *key);
bool tool_is_error(const json_t *finding);
/* Whether it has the members that a report prints. For findings that another process wrote. */
bool tool_is_finding(const json_t *one);

/* Whether a suppression matches; marks it as used. */
bool tool_is_suppressed(struct tool_check_request *request, const json_t *finding);
/* Whether --only-kernel lets this symbol through. */
bool tool_kernel_wanted(const struct tool_check_request *request, const char *symbol);

/* Writes a file of suppressions for the findings. */
int tool_write_suppressions(const char *path, const json_t *findings);

#endif
