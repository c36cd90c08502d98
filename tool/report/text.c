/* SPDX-License-Identifier: MIT */
/* The report of `prof` as text: for each kernel the verdict, a summary, a table and further findings. */
#include "tool/text.h"
#include "tool/report/advice.h"
#include "tool/report/columns.h"
#include "tool/report/kernel_list.h"
#include "tool/report/lines.h"
#include "tool/report/source.h"
#include "tool/report/summary.h"
#include "tool/tool.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SECTIONS = 2,    /* at most, without --all: a report has at most 60 lines */
    MOST_ROWS = 20,  /* of a single kernel */
    FEWER_ROWS = 10, /* of each of two */
    LEAST_ROWS = 3,  /* of each if others have a line only */
    SOURCE_RANK = 1, /* the last to be omitted */
    ACCESS_RANK = 2,
    LIMIT_RANK = 7,
};

/* ---- tables ---- */

/* Writes "FILE:LINE" or "-". */
static void add_place(struct tool_table *table, const struct wm_profile_row *row)
{
    const char *slash = row->file ? strrchr(row->file, '/') : NULL;
    if (row->file)
        tool_table_cell(table, "%s:%u", slash ? slash + 1 : row->file, row->line);
    else
        tool_table_cell(table, "-");
}

/* The sources that a table quotes. */
struct quoted {
    const struct tool_report *report;
    const char *name; /* of the last one; or NULL */
    struct tool_source source;
};

/* The text of the row's source line without its indentation; NULL: unknown. */
static const char *source_text(struct quoted *quoted, const struct wm_profile_row *row)
{
    if (!row->file || !row->line)
        return NULL;
    if (!quoted->name || strcmp(quoted->name, row->file) != 0) {
        tool_source_free(&quoted->source);
        tool_source_read(quoted->report, row->file, &quoted->source);
        quoted->name = row->file;
    }
    const char *text = row->line <= quoted->source.count ? quoted->source.line[row->line - 1] : NULL;
    return text ? text + strspn(text, " \t") : NULL;
}

/* The last cell of a source line: its text, else the most costly of its instructions. */
static void add_code(struct tool_table *table, struct quoted *quoted, const struct tool_line *line)
{
    const char *text = source_text(quoted, line->row), *instruction = line->row->text ? line->row->text : "";
    if (text)
        tool_table_cell(table, "%s", text);
    else if (line->rows > 1)
        tool_table_cell(table, "%s, and %zu more", instruction, line->rows - 1);
    else
        tool_table_cell(table, "%s", instruction);
}

static void add_line(struct tool_table *table, const struct tool_columns *columns, struct quoted *quoted,
                     const struct tool_line *line)
{
    const struct wm_profile_row *row = line->row;
    char access[TOOL_ACCESS];
    tool_columns_cells(table, columns, &line->sums);
    if (columns->limit)
        tool_table_cell(table, "%s", row->limit ? row->limit : "-");
    if (columns->offsets) {
        add_place(table, row);
        tool_table_cell(table, "+0x%" PRIx64, row->offset);
        tool_table_cell(table, "%s", row->text ? row->text : "");
    } else {
        if (row->file)
            add_place(table, row);
        else
            tool_table_cell(table, "+0x%" PRIx64, row->offset);
        tool_table_cell(table, "%s", tool_access_text(row, access));
        add_code(table, quoted, line);
    }
}

static void add_totals(struct tool_table *table, const struct tool_columns *columns,
                       const struct tool_sums *sums)
{
    tool_columns_cells(table, columns, sums);
    if (columns->limit)
        tool_table_cell(table, "%s", "");
    tool_table_cell(table, "%s", "all");
    tool_table_cell(table, "%s", "");
    tool_table_cell(table, "totals; averages per request (/req)");
}

static void print_rest(const struct tool_line *lines, size_t count, bool offsets)
{
    struct tool_sums sums = {0};
    char share[32];
    for (size_t i = 0; i < count; i++)
        for (size_t figure = 0; figure < tool_figure_count; figure++) {
            sums.value[figure] += lines[i].sums.value[figure];
            sums.has[figure] |= lines[i].sums.has[figure];
        }
    tool_figure_text(tool_find_key("share"), &sums, share);
    printf("and %zu more %s%s", count, offsets ? "instruction" : "row", count == 1 ? "" : "s");
    if (strcmp(share, "-") != 0)
        printf(" with %s of the bound", share);
    puts(": --all");
}

/* Scalar loads that cost nothing are in every kernel, which loads its arguments. */
static bool is_minor(const struct tool_line *line)
{
    double share;
    return strcmp(line->row->path, "SMEM") == 0 &&
           (!tool_figure_value(tool_find_key("share"), &line->sums, &share) || share < 0.001);
}

/* Moves minor lines behind the others, keeping their order; returns how many lines to show. */
static size_t pick_lines(const struct tool_report *report, struct tool_line *lines, size_t count, size_t most)
{
    struct tool_line *minor = calloc(count + 1, sizeof *minor);
    size_t kept = 0, moved = 0;
    if (report->options->all || report->options->sort || !minor) {
        free(minor);
        return count < most ? count : most;
    }
    for (size_t i = 0; i < count; i++)
        if (is_minor(&lines[i]))
            minor[moved++] = lines[i];
        else
            lines[kept++] = lines[i];
    memcpy(lines + kept, minor, moved * sizeof *minor);
    free(minor);
    kept = kept ? kept : count; /* a kernel of scalar loads only */
    return kept < most ? kept : most;
}

static void print_table(const struct tool_report *report, struct tool_columns *columns, size_t first,
                        size_t count, size_t most)
{
    struct tool_table table = {.columns = columns->column,
                               .column_count = columns->count,
                               .width = columns->width,
                               .left_out = columns->left_out};
    struct tool_sums sums = {0};
    struct quoted quoted = {.report = report};
    struct tool_line *lines;
    const size_t found =
        tool_lines(report->rows + first, count, columns->offsets ? TOOL_BY_INSTRUCTION : TOOL_BY_ACCESS,
                   report->options->sort, &lines);
    const size_t shown = pick_lines(report, lines, found, most);
    for (size_t i = 0; i < shown; i++)
        add_line(&table, columns, &quoted, &lines[i]);
    for (size_t i = first; i < first + count; i++)
        tool_sums_add(&sums, report->rows[i]);
    add_totals(&table, columns, &sums);
    tool_table_fit(&table);
    tool_table_print(&table, stdout, 0);
    tool_table_free(&table);
    tool_source_free(&quoted.source);
    if (found > shown)
        print_rest(lines + shown, found - shown, columns->offsets);
    free(lines);
}

/* ---- kernels ---- */

void tool_print_without_rows(const struct tool_report *report, const struct wm_profile_kernel *kernel)
{
    tool_print_verdict(report, kernel);
    tool_summary_text(kernel);
    puts("it executed no memory instruction itself"); /* called functions have their own rows */
}

static void print_group(const struct tool_report *report, struct tool_columns *columns,
                        const struct tool_group *group, size_t most)
{
    char name[TOOL_NAME];
    bool has_lines = false;
    if (!group->count) {
        tool_print_without_rows(report, group->kernel);
        return;
    }
    for (size_t i = group->first; i < group->first + group->count; i++)
        has_lines |= report->rows[i]->file != NULL;
    if (group->kernel) {
        tool_print_verdict(report, group->kernel);
        tool_summary_text(group->kernel);
    } else {
        tool_print_labelled("function", TOOL_BOLD, "%s",
                            tool_name(tool_row_kernel(report->rows[group->first]), name));
    }
    print_table(report, columns, group->first, group->count, most);
    if (!has_lines)
        puts(TOOL_HAS_DWARF ? "no line table: compile with -g to see source lines"
                            : "no source lines: " TOOL_NO_DWARF);
    if (group->kernel)
        tool_advice_text(report, group->kernel);
}

/* What all kernels executed, and how much of the time each takes at least. groups: sorted by that time. */
static void print_program(const struct tool_report *report, const struct tool_group *groups, size_t count)
{
    enum { MOST_SHARES = 5 };
    uint64_t dispatches = 0, workgroups = 0, waves = 0, instructions = 0;
    char text[TOOL_SHORT], name[TOOL_NAME], shares[MOST_SHARES * (TOOL_NAME + 16)] = "";
    double seconds = 0;
    size_t used = 0, named = 0;
    for (size_t i = 0; i < report->kernel_count; i++) {
        const struct wm_profile_kernel *kernel = &report->kernels[i];
        dispatches += kernel->dispatches;
        workgroups += kernel->workgroups;
        waves += kernel->waves;
        instructions += kernel->instructions;
        seconds += kernel->binds ? kernel->binds->seconds : 0;
    }
    tool_print_labelled("in all", TOOL_BOLD,
                        "%zu kernels, %" PRIu64 " dispatches, %" PRIu64 " workgroups, %" PRIu64
                        " waves, %" PRIu64 " instructions",
                        report->kernel_count, dispatches, workgroups, waves, instructions);
    for (size_t i = 0; i < count && named < MOST_SHARES; i++) {
        const struct wm_profile_kernel *kernel = groups[i].kernel;
        if (!kernel || !kernel->binds)
            continue;
        used += (size_t)snprintf(shares + used, sizeof shares - used, "%s%s %.1f%%", named++ ? ", " : "",
                                 tool_name(kernel->kernel, name), 100 * kernel->binds->seconds / seconds);
    }
    if (!named)
        return;
    tool_time_text(seconds, text);
    tool_print_labelled("at least", TOOL_PLAIN, "%s, one after another: %s%s", text, shares,
                        named < report->kernel_count ? ", ..." : "");
}

static void print_all_accesses(const struct tool_sums *all)
{
    char requests[32], lines[32], ideal[32], efficiency[32];
    tool_figure_text(tool_find_key("executions"), all, requests);
    tool_figure_text(tool_find_key("lines"), all, lines);
    tool_figure_text(tool_find_key("ideal_lines"), all, ideal);
    tool_figure_text(tool_find_key("efficiency"), all, efficiency);
    tool_print_labelled("accesses", TOOL_PLAIN, "%s requests, %s lines, ideal %s, efficiency %s", requests,
                        lines, ideal, efficiency);
}

/* Selects the columns. Source lines have one for their place and one for their text. */
static void choose_columns(struct tool_columns *columns, const struct tool_report *report)
{
    bool limit = false;
    tool_columns_choose(columns, report);
    for (size_t i = 0; i < report->count; i++)
        limit |= report->rows[i]->limit != NULL;
    columns->limit = limit;
    columns->offsets = report->options->instructions;
    if (limit)
        tool_columns_place(columns, "limit", LIMIT_RANK);
    if (columns->offsets) {
        tool_columns_place(columns, "source", SOURCE_RANK);
        tool_columns_place(columns, "offset", 0);
        tool_columns_place(columns, "instruction", 0);
    } else {
        tool_columns_place(columns, "source", 0);
        tool_columns_place(columns, "access", ACCESS_RANK);
        tool_columns_place(columns, "code", 0);
    }
}

void tool_print_incomplete(const struct tool_report *report)
{
    const json_t *loss;
    size_t i;
    json_array_foreach(report->incomplete, i, loss)
        tool_print_labelled("partial", TOOL_RED, "%s: %s", json_string_value(json_object_get(loss, "what")),
                            json_string_value(json_object_get(loss, "why")));
    if (report->faulted)
        tool_print_labelled("partial", TOOL_RED, TOOL_FAULTED);
}

/* Chooses the groups that get a section: the ones that take longest, only one of the instances of a template.
 */
static size_t choose_sections(const struct tool_report *report, const struct tool_group *groups, size_t count,
                              bool *chosen)
{
    size_t sections = 0;
    for (size_t i = 0; i < count; i++) {
        chosen[i] = report->options->all || count <= SECTIONS || sections < SECTIONS;
        for (size_t k = 0; k < i && count > SECTIONS && !report->options->all; k++)
            chosen[i] &= !chosen[k] || !tool_same_template(&groups[k], &groups[i]);
        sections += chosen[i];
    }
    return sections;
}

void tool_report_text(const struct tool_report *report)
{
    struct tool_columns columns;
    struct tool_sums all = {0};
    struct tool_group *groups;
    const size_t count = tool_groups(report, &groups);
    bool *chosen = calloc(count + 1, sizeof *chosen);
    const size_t sections = chosen ? choose_sections(report, groups, count, chosen) : 0;
    const size_t most = report->options->all ? SIZE_MAX
                        : sections < count   ? LEAST_ROWS
                        : count > 1          ? FEWER_ROWS
                                             : MOST_ROWS;
    choose_columns(&columns, report);
    tool_print_incomplete(report);
    for (size_t i = 0, printed = 0; chosen && i < count; i++) {
        if (!chosen[i])
            continue;
        if (printed++)
            putchar('\n');
        print_group(report, &columns, &groups[i], most);
    }
    for (size_t i = 0; i < report->count; i++)
        tool_sums_add(&all, report->rows[i]);
    tool_columns_left_out(&columns);
    if (!count)
        puts(TOOL_NO_ACCESS);
    if (sections < count) {
        putchar('\n');
        tool_print_kernel_list(report, groups, count, chosen);
    }
    if (count > 1) {
        putchar('\n');
        print_program(report, groups, count);
        print_all_accesses(&all);
    }
    free(chosen);
    free(groups);
}
