/* SPDX-License-Identifier: MIT */
/* Parts of the page of `prof --html`. */
#ifndef WAVEMEM_TOOL_HTML_PARTS_H
#define WAVEMEM_TOOL_HTML_PARTS_H

#include "tool/report/report.h"

#include <stdio.h>

/* Writes escaped text: names and sources are untrusted. */
void html_text(FILE *file, const char *text);
/* Heads and cells of a table's figures: the table of instructions, or, with fewer figures, those of sources
 * and listings. */
enum html_table { HTML_INSTRUCTIONS, HTML_LINES };
void html_figure_heads(FILE *file, enum html_table table);
void html_figure_cells(FILE *file, enum html_table table, const struct tool_sums *sums); /* NULL: empty */
/* Returns the number of the instruction's drawing, whose id is "i" and the number. */
size_t html_number_of(const struct tool_report *report, const struct wm_profile_row *row);

/* The bounds, occupancy and caches of each kernel. */
void html_summary(FILE *file, const struct tool_report *report);
/* Source files and listings with figures and heat. */
void html_sources(FILE *file, const struct tool_report *report);
/* Drawings of one wave of the instruction, and its histogram. */
void html_drawings(FILE *file, const struct wm_profile_row *row);

#endif
