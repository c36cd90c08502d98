/* SPDX-License-Identifier: MIT */
/* wavemem prof: executes kernels and shows what each of their memory instructions costs. */
#include "counters.h"
#include "html.h"
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
    "A page with a drawing of each access, and the same figures for a script:\n"
    "  wavemem prof ... --html report.html\n"
    "  wavemem prof ... --json | jq '.rows[] | select(.efficiency < 0.5) | .text'\n"
    "A test that fails when an access becomes bad, and what changed between two builds:\n"
    "  wavemem prof ... --fail-if 'efficiency<0.5' --fail-if 'conflicts>0' --json=new.json\n"
    "  wavemem diff old.json new.json\n"
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
    "  clocks      of the address unit for a run, or of LDS, on average. A wave of 64 takes 4 when all "
    "lanes\n"
    "              load or store 4 bytes or less and each four lanes share an address or an aligned block "
    "of\n"
    "              four elements, else 16; from gfx10 on 32 lanes take 1 within a line of 128 bytes, else 8\n"
    "  conflicts   of these, clocks that LDS lost because lanes wanted different dwords of one bank\n"
    "Rows that waste most lines come first. LDS has no lines, and what is not of its kind is a dash.\n"
    "Below the table: the lanes that meet in the worst bank conflict of a row.\n"
    "--json has more: tag lookups, requests to L2, stores that collapse, the worst bank conflict.\n"
    "\n"
    "      --counters FILE  the same as AMD's hardware counters (SQ_INSTS_*, SQ_LDS_*, TA_*, TD_*, TCP_*),\n"
    "                       as CSV: kernel,name,value, with a total for the kernel '*'. TCP_TCC_READ_REQ is\n"
    "                       what an empty vector cache would ask for: hardware asks for less where it hits\n"
    "      --html FILE      one page that needs nothing else: sortable tables, and of each instruction one\n"
    "                       real wave drawn onto cache lines or LDS banks\n"
    "      --fail-if FIGURE<NUMBER  exit code 1 when an instruction's figure is so; also <=, >, >=. Figures "
    "are\n"
    "                       the keys of a row of --json; 'total.' before one: the sum over all instructions\n"
    "\n";

/* Sums over rows; lines and ideal only of rows that have them. */
struct totals {
    uint64_t executions, lanes, bytes_asked, distinct_bytes, lines, ideal_lines;
    uint64_t fast, address_clocks, tag_lookups, read_requests, write_requests, atomic_requests, collapsed;
    uint64_t lds_passes, lds_conflicts, lds_serial;
    bool has_lines, has_vector, has_lds;
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
    totals->has_vector |= row->has_vector;
    totals->has_lds |= row->has_lds;
    totals->fast += row->fast;
    totals->address_clocks += row->address_clocks;
    totals->tag_lookups += row->tag_lookups;
    totals->read_requests += row->read_requests;
    totals->write_requests += row->write_requests;
    totals->atomic_requests += row->atomic_requests;
    totals->collapsed += row->collapsed;
    totals->lds_passes += row->lds_passes;
    totals->lds_conflicts += row->lds_conflicts;
    totals->lds_serial += row->lds_serial;
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

/* Kernels in the order of their code; in each the rows that waste most lines first, those without lines last
 * by their conflicts. */
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
    if (!a->has_lines && a->lds_conflicts != b->lds_conflicts)
        return a->lds_conflicts > b->lds_conflicts ? -1 : 1;
    return a->pc < b->pc ? -1 : a->pc > b->pc;
}

/* ---- text ---- */

static const struct tool_column columns[] = {
    {"efficiency", TOOL_RIGHT}, {"runs", TOOL_RIGHT},  {"lanes", TOOL_RIGHT},      {"bytes", TOOL_RIGHT},
    {"lines", TOOL_RIGHT},      {"ideal", TOOL_RIGHT}, {"clocks", TOOL_RIGHT},     {"conflicts", TOOL_RIGHT},
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

/* An average over the runs of what only some rows have. */
static void add_average_cell(struct tool_table *table, bool has, uint64_t sum, uint64_t runs)
{
    if (has && runs)
        tool_table_cell(table, "%.1f", (double)sum / (double)runs);
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
    add_average_cell(table, row->has_vector || row->has_lds, row->address_clocks + row->lds_passes,
                     row->executions);
    add_average_cell(table, row->has_lds, row->lds_conflicts, row->executions);
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
    for (unsigned i = 0; i < 4; i++)
        tool_table_cell(table, "%s", "");
    tool_table_cell(table, "total");
}

/* The lanes of a mask as "0 2 4-7"; `text` holds any. */
static const char *lane_list(uint64_t lanes, char text[256])
{
    int length = 0;
    text[0] = '\0';
    for (int lane = 0; lane < 64; lane++) {
        int last = lane;
        if (!(lanes >> lane & 1))
            continue;
        while (last < 63 && lanes >> (last + 1) & 1)
            last++;
        if (last > lane + 1)
            length += sprintf(text + length, " %d-%d", lane, last);
        else
            length += sprintf(text + length, " %d", last = lane);
        lane = last;
    }
    return text + (length > 0);
}

/* What the table has no room for: which lanes meet where. */
static void print_remarks(const struct wm_profile_row *row)
{
    char lanes[256];
    if (row->lds_depth > 1)
        printf("+0x%" PRIx64 "  at worst lanes %s want %" PRIu32 " different dwords of LDS bank %" PRIu32
               "\n",
               row->offset, lane_list(row->lds_lanes, lanes), row->lds_depth, row->lds_bank);
    if (row->lds_serial)
        printf("+0x%" PRIx64 "  misaligned in LDS: %" PRIu64 " lanes went one by one\n", row->offset,
               row->lds_serial);
}

static void print_text(const struct wm_profile_row **rows, size_t count)
{
    struct totals all = {0};
    unsigned kernels = 0;
    for (size_t i = 0; i < count;) {
        struct tool_table table = {.columns = columns, .column_count = sizeof(columns) / sizeof(columns[0])};
        struct totals totals = {0};
        const uint64_t start = start_of(rows[i]);
        const size_t first = i;
        printf("%s%s\n", i ? "\n" : "", kernel_of(rows[i]));
        for (; i < count && start_of(rows[i]) == start; i++) {
            add_row(&table, rows[i]);
            add(&totals, rows[i]);
            add(&all, rows[i]);
        }
        add_totals(&table, &totals);
        tool_table_print(&table, stdout, 0);
        tool_table_free(&table);
        for (size_t row = first; row < i; row++)
            print_remarks(rows[row]);
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

/* An average over the runs, as the table shows it. */
static void set_average(json_t *object, const char *key, bool has, uint64_t sum, uint64_t runs)
{
    json_object_set_new(object, key, has && runs ? json_real((double)sum / (double)runs) : json_null());
}

static void set_sum(json_t *object, const char *key, bool has, uint64_t sum)
{
    json_object_set_new(object, key, has ? json_integer((json_int_t)sum) : json_null());
}

/* Each null in a row of another kind. */
static void set_costs(json_t *object, const struct totals *sums)
{
    const bool has_vector = sums->has_vector, has_lds = sums->has_lds;
    set_sum(object, "fast_executions", has_vector, sums->fast);
    set_sum(object, "address_clocks", has_vector, sums->address_clocks);
    set_sum(object, "tag_lookups", has_vector, sums->tag_lookups);
    set_sum(object, "read_requests", has_vector, sums->read_requests);
    set_sum(object, "write_requests", has_vector, sums->write_requests);
    set_sum(object, "atomic_requests", has_vector, sums->atomic_requests);
    set_sum(object, "collapsed_stores", has_vector, sums->collapsed);
    set_sum(object, "lds_passes", has_lds, sums->lds_passes);
    set_sum(object, "lds_conflicts", has_lds, sums->lds_conflicts);
    set_sum(object, "lds_serial_lanes", has_lds, sums->lds_serial);
}

/* The lanes that met on a bank in the worst execution; null without a conflict. */
static json_t *json_conflict(const struct wm_profile_row *row)
{
    char lanes[256];
    if (row->lds_depth < 2)
        return json_null();
    return json_pack("{s:I, s:I, s:s}", "dwords", (json_int_t)row->lds_depth, "bank",
                     (json_int_t)row->lds_bank, "lanes", lane_list(row->lds_lanes, lanes));
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
    struct totals sums = {0};
    add(&sums, row);
    set_average(object, "clocks", row->has_vector || row->has_lds, row->address_clocks + row->lds_passes,
                row->executions);
    set_average(object, "conflicts", row->has_lds, row->lds_conflicts, row->executions);
    set_costs(object, &sums);
    json_object_set_new(object, "worst_conflict", json_conflict(row));
    return object;
}

static void set_totals(json_t *object, const struct totals *totals)
{
    set_count(object, "executions", totals->executions);
    set_count(object, "lanes", totals->lanes);
    set_count(object, "bytes_asked", totals->bytes_asked);
    set_count(object, "distinct_bytes", totals->distinct_bytes);
    set_lines(object, totals->has_lines, totals->lines, totals->ideal_lines);
    set_costs(object, totals);
}

static bool same_line(const struct wm_profile_row *a, const struct wm_profile_row *b)
{
    return a->file && b->file && a->line == b->line && strcmp(a->file, b->file) == 0 &&
           strcmp(kernel_of(a), kernel_of(b)) == 0;
}

/* The sums of the rows of each source line, in the order in which the rows first name it. */
static json_t *json_source_lines(const struct wm_profile_row **rows, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        struct totals totals = {0};
        bool seen = !rows[i]->file;
        for (size_t before = 0; before < i && !seen; before++)
            seen = same_line(rows[before], rows[i]);
        if (seen)
            continue;
        for (size_t k = i; k < count; k++)
            if (same_line(rows[k], rows[i]))
                add(&totals, rows[k]);
        json_t *object = json_object();
        json_object_set_new(object, "kernel", json_string(kernel_of(rows[i])));
        json_object_set_new(object, "file", json_string(rows[i]->file));
        set_count(object, "line", rows[i]->line);
        set_totals(object, &totals);
        json_array_append_new(list, object);
    }
    return list;
}

static void add_json(json_t *report, const struct wm_profile_row **rows, size_t count)
{
    json_t *list = json_array(), *sums = json_object();
    struct totals totals = {0};
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(list, json_row(rows[i]));
        add(&totals, rows[i]);
    }
    set_totals(sums, &totals);
    json_object_set_new(report, "rows", list);
    json_object_set_new(report, "source_lines", json_source_lines(rows, count));
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
    add_json(report, sorted, count);
    if (!job->json || job->json_path)
        print_text(sorted, count);
    json_t *failed =
        tool_gates_failed(&job->gates, json_object_get(report, "rows"), json_object_get(report, "totals"));
    code = tool_gates_report(failed, code);
    json_object_set_new(report, "failed", failed);
    if (job->counters_path && tool_write_counters(sorted, count, job->counters_path) != TOOL_CLEAN)
        code = TOOL_WRONG;
    if (job->html_path && tool_write_html(sorted, count, report, job->html_path) != TOOL_CLEAN)
        code = TOOL_WRONG;
    free(sorted);
    return job->json ? tool_write_report(report, job->json_path, code) : code;
}

static int profile_job(struct tool_job *job)
{
    struct wm_profile *profile;
    struct wm_diag diag;
    if (wm_profile_create(&profile, &diag) != WM_OK)
        return tool_fail("%s", diag.message);
    json_t *report = tool_report("prof");
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
