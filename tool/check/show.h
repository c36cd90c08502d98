/* SPDX-License-Identifier: MIT */
/* The report of a check, in all forms. */
#ifndef WAVEMEM_TOOL_CHECK_SHOW_H
#define WAVEMEM_TOOL_CHECK_SHOW_H

#include "tool/check/filter.h"

/* What is reported. All are borrowed. */
struct tool_check_report {
    const struct tool_check_request *request;
    json_t *findings;   /* what is left */
    json_t *groups;     /* the same by their causes: tool_check_groups() */
    json_t *suppressed; /* what suppressions hide */
    size_t known;       /* findings that the baseline has */
    json_t *coverage;   /* kernels that ran */
    json_t *unchecked;  /* names of kernels that did not */
    json_t *incomplete; /* {what, why}: what could not be checked */
};

enum { TOOL_CHECK_SHOWN = 100 }; /* findings, without --all */

/* Takes what a check has found, of one process or several, and reports it as the request says: as text to
 * `text` (NULL: not), into files, and into `report` (NULL: not). unchecked: kernels that could have run, as
 * an array of symbols, or NULL. Returns the exit code: TOOL_FINDINGS, TOOL_INCOMPLETE, TOOL_CLEAN, or `code`
 * if that is worse. */
int tool_check_show(struct tool_check_request *request, json_t *findings, json_t *coverage, json_t *unchecked,
                    json_t *report, FILE *text, int code);

/* ---- in text.c, github.c, sarif.c, junit.c ---- */

/* Writes the place of a finding, or of its earlier instruction: "kernel+0x28". Returns `text`. */
enum { TOOL_CHECK_PLACE = 600 };
const char *tool_check_place(const json_t *finding, char text[TOOL_CHECK_PLACE]);
/* Writes its source line, "a.cl:12", or without one its place. Returns `text`. */
const char *tool_check_where(const json_t *finding, char text[TOOL_CHECK_PLACE]);
/* The file of a finding as seen from the current folder, or NULL. */
const char *tool_check_file_of(const json_t *finding);
/* Prints one finding, several lines. */
void tool_check_print(FILE *file, const json_t *finding);
void tool_check_print_all(FILE *file, const struct tool_check_report *report);
void tool_check_print_github(FILE *file, const struct tool_check_report *report);
int tool_check_write_sarif(const struct tool_check_report *report, const char *path);
int tool_check_write_junit(const struct tool_check_report *report, const char *path);

#endif
