/* SPDX-License-Identifier: MIT */
/* The output of --fidelity: the executed instructions and how exactly each is modelled. */
#ifndef WAVEMEM_TOOL_FIDELITY_H
#define WAVEMEM_TOOL_FIDELITY_H

#include "wavemem/wavemem.h"

#include <jansson.h>
#include <stdio.h>

void tool_print_fidelity_rows(FILE *file, const struct wm_fidelity_row *rows, size_t count);
json_t *tool_json_fidelity_rows(const struct wm_fidelity_row *rows, size_t count);
void tool_print_fidelity(FILE *file, struct wm_fidelity *fidelity);
json_t *tool_json_fidelity(struct wm_fidelity *fidelity);

#endif
