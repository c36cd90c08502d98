/* SPDX-License-Identifier: MIT */
/* The subjects that wavemem explain knows. */
#ifndef WAVEMEM_TOOL_EXPLAIN_H
#define WAVEMEM_TOOL_EXPLAIN_H

#include "tool/tool.h"

extern const struct tool_verb explain_verb_descriptor, explain_verb_address, explain_verb_format,
    explain_verb_image;

#endif
