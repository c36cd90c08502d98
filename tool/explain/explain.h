/* SPDX-License-Identifier: MIT */
/* The subjects that wavemem explain knows. */
#ifndef WAVEMEM_TOOL_EXPLAIN_H
#define WAVEMEM_TOOL_EXPLAIN_H

#include "tool/tool.h"
#include "wavemem/wavemem.h"

#include <stdio.h>

extern const struct tool_verb explain_verb_descriptor, explain_verb_address, explain_verb_format,
    explain_verb_image;

/* Prints the fields of a descriptor, and warnings about them. */
void tool_print_descriptor(FILE *out, const char *target, const struct wm_descriptor *d);

#endif
