/* SPDX-License-Identifier: MIT */
/* Parts of the page of `prof --html`. */
#ifndef WAVEMEM_TOOL_HTML_PARTS_H
#define WAVEMEM_TOOL_HTML_PARTS_H

#include "tool/report/report.h"

#include <stdio.h>

/* Writes escaped text: names and sources are untrusted. */
void html_text(FILE *file, const char *text);
/* The same of a format, for parts that come from files. */
void html_format(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Heads and cells of a table's figures: the table of instructions, or, with fewer figures, those of sources
 * and listings. Figures that no row has are left out. */
enum html_table { HTML_INSTRUCTIONS, HTML_LINES };
void html_figure_heads(FILE *file, enum html_table table, const struct tool_report *report);
void html_figure_cells(FILE *file, enum html_table table, const struct tool_report *report,
                       const struct tool_sums *sums); /* NULL: empty */
/* Returns the number of the instruction, whose row in the table of instructions has the id "i" and the
 * number. */
size_t html_number_of(const struct tool_report *report, const struct wm_profile_row *row);

/* The kernels with a product, the longest bound first; returns how many. The caller frees *kernels. */
size_t html_kernels(const struct tool_report *report, const struct wm_profile_kernel ***kernels);
/* Writes bounds, findings, memory chart, occupancy and caches of each kernel. */
void html_summary(FILE *file, const struct tool_report *report);
/* Writes a table of the predicted times of each kernel on several products, if there are several. */
void html_products(FILE *file, const struct tool_report *report);
/* Draws what the kernel moves between waves, caches and memory. */
void html_memory_chart(FILE *file, const struct tool_report *report, const struct wm_profile_kernel *kernel);
/* Draws all kernels below the limits of their product. */
void html_roofline(FILE *file, const struct tool_report *report);
/* Source files and listings with figures, side by side. */
void html_sources(FILE *file, const struct tool_report *report);
/* All figures of each instruction, and one wave to draw, as JSON for the script. */
void html_data(FILE *file, const struct tool_report *report);
/* What the terms of the page mean. */
void html_glossary(FILE *file);

#endif
