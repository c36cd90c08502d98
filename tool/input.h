/* SPDX-License-Identifier: MIT */
/* Reading of whole files. */
#ifndef WAVEMEM_TOOL_INPUT_H
#define WAVEMEM_TOOL_INPUT_H

#include "wavemem/wavemem.h"

/* Reads a whole file or pipe; the caller frees *bytes. False: see `diag`. */
bool tool_read_file(const char *path, uint8_t **bytes, size_t *size, struct wm_diag *diag);
/* The same for standard input. */
bool tool_read_stdin(uint8_t **bytes, size_t *size, struct wm_diag *diag);

#endif
