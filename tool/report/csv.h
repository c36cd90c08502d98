/* SPDX-License-Identifier: MIT */
/* Fields of comma-separated files, after RFC 4180. */
#ifndef WAVEMEM_TOOL_CSV_H
#define WAVEMEM_TOOL_CSV_H

#include <stdio.h>

/* Writes the text, with quotes where it has what would end a field. */
void tool_csv_text(FILE *file, const char *text);

#endif
