/* SPDX-License-Identifier: MIT */
/* wavemem prof: executes kernels and shows what each of their memory instructions costs. */
#include "run.h"
#include "table.h"
#include "tool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: wavemem prof FILE -k KERNEL -g X[,Y[,Z]] -b X[,Y[,Z]] --arg NAME=VALUE ... [--then ...]\n"
    "\n"
    "Executes kernels as 'wavemem run' does, with the same options, and prints a row per memory "
    "instruction.\n"
    "\n"
    "Which access makes the transpose slow:\n"
    "  wavemem prof transpose.co -k transpose_naive -g 1024,1024 -b 16,16 --arg in=rand:f32:1048576:7 \\\n"
    "      --arg out=zero:f32:1048576 --arg n=1024\n"
    "The same figures for a script:\n"
    "  wavemem prof ... --json | jq '.rows[] | select(.efficiency < 0.5) | .text'\n"
    "\n"
    "Columns:\n"
    "  efficiency  ideal / lines\n"
    "  runs        executions by waves\n"
    "  lanes       active lanes of a run, on average\n"
    "  bytes       that one lane asks for\n"
    "  lines       distinct 64-byte lines that a run touches, summed over the runs\n"
    "  ideal       lines that the distinct bytes of a run would fill, at least 1, summed\n"
    "  source      file and line, when the code object has them (clang -g)\n"
    "  offset      bytes from the start of the kernel, as 'wavemem dis' prints them\n"
    "Rows that waste most lines come first. LDS has no lines: a dash.\n"
    "\n";

/* Sums over rows; lines and ideal only of rows that have them. */
struct totals {
    uint64_t executions, lanes, bytes_asked, distinct_bytes, lines, ideal_lines;
    bool has_lines;
};

static void add(struct totals *totals, const struct wm_profile_row *row)
{
    totals->executions += row->executions;
    totals->lanes += row->lanes;
    totals->bytes_asked += row->bytes_asked;
    totals->distinct_bytes += row->distinct_bytes;
    if (row->has_lines) {
        totals->lines += row->lines;
        totals->ideal_lines += row->ideal_lines;
        totals->has_lines = true;
    }
}

static const char *kernel_of(const struct wm_profile_row *row)
{
    return row->kernel ? row->kernel : "";
}

/* Guest address of the kernel: two of one name from two files are two. */
static uint64_t start_of(const struct wm_profile_row *row)
{
    return row->pc - row->offset;
}

static uint64_t waste(const struct wm_profile_row *row)
{
    return row->has_lines && row->lines > row->ideal_lines ? row->lines - row->ideal_lines : 0;
}

/* Kernels in the order of their code; in each the rows that waste most lines first, those without lines last.
 */
static int worst_first(const void *left, const void *right)
{
    const struct wm_profile_row *a = *(const struct wm_profile_row *const *)left;
    const struct wm_profile_row *b = *(const struct wm_profile_row *const *)right;
    if (start_of(a) != start_of(b))
        return start_of(a) < start_of(b) ? -1 : 1;
    if (a->has_lines != b->has_lines)
        return a->has_lines ? -1 : 1;
    if (waste(a) != waste(b))
        return waste(a) > waste(b) ? -1 : 1;
    if (a->has_lines && a->lines != b->lines)
        return a->lines > b->lines ? -1 : 1;
    return a->pc < b->pc ? -1 : a->pc > b->pc;
}

/* ---- text ---- */

static const struct tool_column columns[] = {
    {"efficiency", TOOL_RIGHT}, {"runs", TOOL_RIGHT},  {"lanes", TOOL_RIGHT},
    {"bytes", TOOL_RIGHT},      {"lines", TOOL_RIGHT}, {"ideal", TOOL_RIGHT},
    {"source", TOOL_LEFT},      {"offset", TOOL_LEFT}, {"instruction", TOOL_LEFT},
};

static void add_line_cells(struct tool_table *table, bool has_lines, uint64_t lines, uint64_t ideal)
{
    if (has_lines) {
        tool_table_cell(table, "%" PRIu64, lines);
        tool_table_cell(table, "%" PRIu64, ideal);
    } else {
        tool_table_cell(table, "-");
        tool_table_cell(table, "-");
    }
}

static void add_efficiency_cell(struct tool_table *table, bool has_lines, uint64_t lines, uint64_t ideal)
{
    if (has_lines && lines)
        tool_table_cell(table, "%.1f%%", 100.0 * (double)ideal / (double)lines);
    else
        tool_table_cell(table, "-");
}

static void add_row(struct tool_table *table, const struct wm_profile_row *row)
{
    const char *slash = row->file ? strrchr(row->file, '/') : NULL;
    add_efficiency_cell(table, row->has_lines, row->lines, row->ideal_lines);
    tool_table_cell(table, "%" PRIu64, row->executions);
    if (row->path && strcmp(row->path, "SMEM") == 0) /* asks once for the wave */
        tool_table_cell(table, "-");
    else
        tool_table_cell(table, "%.1f", row->executions ? (double)row->lanes / (double)row->executions : 0);
    tool_table_cell(table, "%u", row->bytes);
    add_line_cells(table, row->has_lines, row->lines, row->ideal_lines);
    if (row->file)
        tool_table_cell(table, "%s:%u", slash ? slash + 1 : row->file, row->line);
    else
        tool_table_cell(table, "-");
    tool_table_cell(table, "+0x%" PRIx64, row->offset);
    tool_table_cell(table, "%s", row->text ? row->text : "");
}

static void add_totals(struct tool_table *table, const struct totals *totals)
{
    add_efficiency_cell(table, totals->has_lines, totals->lines, totals->ideal_lines);
    tool_table_cell(table, "%" PRIu64, totals->executions);
    tool_table_cell(table, "%s", "");
    tool_table_cell(table, "%s", "");
    add_line_cells(table, totals->has_lines, totals->lines, totals->ideal_lines);
    tool_table_cell(table, "%s", "");
    tool_table_cell(table, "%s", "");
    tool_table_cell(table, "total");
}

static void print_text(const struct wm_profile_row **rows, size_t count)
{
    struct totals all = {0};
    unsigned kernels = 0;
    for (size_t i = 0; i < count;) {
        struct tool_table table = {.columns = columns, .column_count = sizeof(columns) / sizeof(columns[0])};
        struct totals totals = {0};
        const uint64_t start = start_of(rows[i]);
        printf("%s%s\n", i ? "\n" : "", kernel_of(rows[i]));
        for (; i < count && start_of(rows[i]) == start; i++) {
            add_row(&table, rows[i]);
            add(&totals, rows[i]);
            add(&all, rows[i]);
        }
        add_totals(&table, &totals);
        tool_table_print(&table, stdout, 0);
        tool_table_free(&table);
        kernels++;
    }
    if (count == 0)
        puts("no memory instruction was executed");
    if (kernels > 1 && all.has_lines && all.lines)
        printf("\nall kernels: %" PRIu64 " runs, %" PRIu64 " lines, ideal %" PRIu64 ", efficiency %.1f%%\n",
               all.executions, all.lines, all.ideal_lines,
               100.0 * (double)all.ideal_lines / (double)all.lines);
}

/* ---- JSON ---- */

static void set_count(json_t *object, const char *key, uint64_t count)
{
    json_object_set_new(object, key, json_integer((json_int_t)count));
}

static void set_lines(json_t *object, bool has_lines, uint64_t lines, uint64_t ideal)
{
    json_object_set_new(object, "lines", has_lines ? json_integer((json_int_t)lines) : json_null());
    json_object_set_new(object, "ideal_lines", has_lines ? json_integer((json_int_t)ideal) : json_null());
    json_object_set_new(object, "efficiency",
                        has_lines && lines ? json_real((double)ideal / (double)lines) : json_null());
}

static json_t *json_row(const struct wm_profile_row *row)
{
    json_t *object = json_object();
    json_object_set_new(object, "kernel", json_string(kernel_of(row)));
    json_object_set_new(object, "text", json_string(row->text ? row->text : ""));
    json_object_set_new(object, "path", json_string(row->path ? row->path : ""));
    json_object_set_new(object, "operation", json_string(row->operation ? row->operation : ""));
    json_object_set_new(object, "file", row->file ? json_string(row->file) : json_null());
    set_count(object, "line", row->line);
    set_count(object, "column", row->column);
    json_object_set_new(object, "pc", json_sprintf("0x%" PRIx64, row->pc));
    set_count(object, "offset", row->offset);
    set_count(object, "executions", row->executions);
    set_count(object, "lanes", row->lanes);
    set_count(object, "bytes", row->bytes);
    set_count(object, "bytes_asked", row->bytes_asked);
    set_count(object, "distinct_bytes", row->distinct_bytes);
    set_lines(object, row->has_lines, row->lines, row->ideal_lines);
    return object;
}

static void add_json(json_t *report, const struct wm_profile_row **rows, size_t count)
{
    json_t *list = json_array(), *sums = json_object();
    struct totals totals = {0};
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(list, json_row(rows[i]));
        add(&totals, rows[i]);
    }
    set_count(sums, "executions", totals.executions);
    set_count(sums, "lanes", totals.lanes);
    set_count(sums, "bytes_asked", totals.bytes_asked);
    set_count(sums, "distinct_bytes", totals.distinct_bytes);
    set_lines(sums, totals.has_lines, totals.lines, totals.ideal_lines);
    json_object_set_new(report, "rows", list);
    json_object_set_new(report, "totals", sums);
}

/* ---- the verb ---- */

static int report_profile(const struct tool_job *job, struct wm_profile *profile, json_t *report, int code)
{
    size_t count;
    const struct wm_profile_row *rows = wm_profile_rows(profile, &count);
    const struct wm_profile_row **sorted = malloc((count + 1) * sizeof(const struct wm_profile_row *));
    if (!sorted)
        return tool_fail("out of memory");
    for (size_t i = 0; i < count; i++)
        sorted[i] = &rows[i];
    qsort(sorted, count, sizeof(const struct wm_profile_row *), worst_first);
    if (report)
        add_json(report, sorted, count);
    if (!report || job->json_path)
        print_text(sorted, count);
    free(sorted);
    return report ? tool_write_report(report, job->json_path, code) : code;
}

static int profile_job(struct tool_job *job)
{
    struct wm_profile *profile;
    struct wm_diag diag;
    if (wm_profile_create(&profile, &diag) != WM_OK)
        return tool_fail("%s", diag.message);
    json_t *report = job->json ? tool_report("prof") : NULL;
    int code = tool_job_run(job, profile, report);
    if (code != TOOL_WRONG) /* what was counted before a fault still helps */
        code = report_profile(job, profile, report, code);
    json_decref(report);
    wm_profile_destroy(profile);
    return code;
}

int cmd_prof(int argc, char **argv)
{
    struct tool_job job;
    int code = tool_job_parse(&job, argv[0], argc - 1, argv + 1);
    if (code == TOOL_CLEAN && job.help) {
        fputs(help, stdout);
        fputs(tool_job_help, stdout);
    } else if (code == TOOL_CLEAN && (code = tool_job_check(&job)) == TOOL_CLEAN) {
        code = profile_job(&job);
    }
    tool_job_free(&job);
    return code;
}
