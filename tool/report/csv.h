/* SPDX-License-Identifier: MIT */
/* Fields of comma-separated files, according to RFC 4180. */
#ifndef WAVEMEM_TOOL_CSV_H
#define WAVEMEM_TOOL_CSV_H

#include <stdio.h>

/* Writes the text, quoted if it contains a separator, a quote or a line break. */
void tool_csv_text(FILE *file, const char *text);

#endif
