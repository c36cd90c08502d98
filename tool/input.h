/* SPDX-License-Identifier: MIT */
/* Files that the command reads itself. */
#ifndef WAVEMEM_TOOL_INPUT_H
#define WAVEMEM_TOOL_INPUT_H

#include "wavemem/wavemem.h"

/* The whole of a file, which may be a pipe; the caller frees. False: `diag` says why. */
bool tool_read_file(const char *path, uint8_t **bytes, size_t *size, struct wm_diag *diag);
/* The same of standard input. */
bool tool_read_stdin(uint8_t **bytes, size_t *size, struct wm_diag *diag);

#endif
