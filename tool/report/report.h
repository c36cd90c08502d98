/* SPDX-License-Identifier: MIT */
/* The report of `prof`: sums, order of rows, text, JSON. */
#ifndef WAVEMEM_TOOL_REPORT_H
#define WAVEMEM_TOOL_REPORT_H

#include "tool/report/figures.h"

enum { TOOL_SOURCE_PATHS = 32 };

/* The report options. */
struct tool_report_options {
    const char *show;  /* --show: comma-separated names of figures, or "all"; NULL: the usual ones */
    const char *sort;  /* --sort: a figure, "offset" or "source"; NULL: the worst first */
    bool source;       /* --source: the source or the listing with figures */
    bool all;          /* --all: all rows and findings */
    bool instructions; /* --instructions: a row for each instruction, not for each source line */
    const char *source_paths[TOOL_SOURCE_PATHS]; /* --source-path, and --source=DIR */
    size_t source_path_count;
    const char *csv_path; /* --csv; or NULL */
};

/* The input of the reports. Rows are sorted by tool_sort_rows(). */
struct tool_report {
    const struct wm_profile_row **rows;
    size_t count;
    const struct wm_profile_kernel *kernels;
    size_t kernel_count;
    const char *const *files; /* the code objects of the rows */
    size_t file_count;
    const struct tool_report_options *options;
    struct wm_profile *profile;           /* of the rows */
    const json_t *incomplete;             /* what could not be analysed, as in the JSON */
    bool faulted;                         /* a dispatch ended with a fault */
    const char *command;                  /* the command line, for a shell */
    const struct tool_compared *compared; /* the run on several products; NULL: on one */
};

/* Adds a folder for sources; TOOL_WRONG: failed, with a message that begins with the option. */
int tool_add_source_path(struct tool_report_options *options, const char *option, const char *path);

/* TOOL_WRONG, after a message, if --show or --sort names an unknown figure. */
int tool_check_report_options(const struct tool_report_options *options);

/* Sorts kernels and functions by address, and the rows of each as tool_lines() does. */
void tool_sort_rows(struct tool_report *report);

/* Guest address of the kernel, which distinguishes kernels of the same name from different files. */
uint64_t tool_row_start(const struct wm_profile_row *row);
const char *tool_row_kernel(const struct wm_profile_row *row);
/* The kernel of the row; NULL: it is in a function. */
const struct wm_profile_kernel *tool_kernel_of(const struct tool_report *report,
                                               const struct wm_profile_row *row);

/* Writes the name of a symbol in the source ("" for NULL) and returns it. */
enum { TOOL_NAME = 512 };
const char *tool_name(const char *symbol, char name[TOOL_NAME]);

/* Writes the lanes of a mask as "0 2 4-7"; `text` is large enough for any mask. */
const char *tool_lane_list(uint64_t lanes, char text[256]);

/* The number of consecutive rows from `first` on that belong to one kernel. */
size_t tool_kernel_rows(const struct tool_report *report, size_t first);

/* The rows of one symbol; a kernel may have none. */
struct tool_group {
    size_t first, count;
    const struct wm_profile_kernel *kernel; /* NULL: it is a function */
};
/* Seconds that the group takes: as predicted, or else at least; 0: it is a function, or has no bound. */
double tool_group_seconds(const struct tool_group *group);
/* Finds the groups, those that take longest first. The caller frees *groups. */
size_t tool_groups(const struct tool_report *report, struct tool_group **groups);

#define TOOL_FAULTED   "a dispatch ended with a fault; the report covers what ran until then"
#define TOOL_NO_ACCESS "no memory instruction was executed"
/* Prints what could not be analysed. */
void tool_print_incomplete(const struct tool_report *report);
/* Prints the verdict and the summary of a kernel without rows. */
void tool_print_without_rows(const struct tool_report *report, const struct wm_profile_kernel *kernel);
/* Print a verdict, a table and findings per kernel; for --source, source or listing instead of the table. */
void tool_report_text(const struct tool_report *report);
void tool_report_source(const struct tool_report *report);
/* The list of the report's kernels. */
json_t *tool_json_kernels(const struct tool_report *report);
/* Adds kernels, rows, sums by source line and totals to `object`. */
void tool_report_json(json_t *object, const struct tool_report *report);
/* Writes a line per row, with all figures; TOOL_WRONG: failed, with a message. */
int tool_report_csv(const struct tool_report *report, const char *path);

#endif
