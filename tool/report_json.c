/* SPDX-License-Identifier: MIT */
/* The report of `prof` as JSON. */
#include "report.h"

#include <inttypes.h>
#include <string.h>

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
static void set_costs(json_t *object, const struct tool_totals *sums)
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
                     (json_int_t)row->lds_bank, "lanes", tool_lane_list(row->lds_lanes, lanes));
}

static json_t *json_row(const struct wm_profile_row *row)
{
    json_t *object = json_object();
    json_object_set_new(object, "kernel", json_string(tool_row_kernel(row)));
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
    struct tool_totals sums = {0};
    tool_totals_add(&sums, row);
    set_average(object, "clocks", row->has_vector || row->has_lds, row->address_clocks + row->lds_passes,
                row->executions);
    set_average(object, "conflicts", row->has_lds, row->lds_conflicts, row->executions);
    set_costs(object, &sums);
    json_object_set_new(object, "worst_conflict", json_conflict(row));
    return object;
}

static void set_totals(json_t *object, const struct tool_totals *totals)
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
           strcmp(tool_row_kernel(a), tool_row_kernel(b)) == 0;
}

/* The sums of the rows of each source line, in the order in which the rows first name it. */
static json_t *json_source_lines(const struct wm_profile_row *const *rows, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        struct tool_totals totals = {0};
        bool seen = !rows[i]->file;
        for (size_t before = 0; before < i && !seen; before++)
            seen = same_line(rows[before], rows[i]);
        if (seen)
            continue;
        for (size_t k = i; k < count; k++)
            if (same_line(rows[k], rows[i]))
                tool_totals_add(&totals, rows[k]);
        json_t *object = json_object();
        json_object_set_new(object, "kernel", json_string(tool_row_kernel(rows[i])));
        json_object_set_new(object, "file", json_string(rows[i]->file));
        set_count(object, "line", rows[i]->line);
        set_totals(object, &totals);
        json_array_append_new(list, object);
    }
    return list;
}

void tool_report_json(json_t *report, const struct wm_profile_row *const *rows, size_t count)
{
    json_t *list = json_array(), *sums = json_object();
    struct tool_totals totals = {0};
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(list, json_row(rows[i]));
        tool_totals_add(&totals, rows[i]);
    }
    set_totals(sums, &totals);
    json_object_set_new(report, "rows", list);
    json_object_set_new(report, "source_lines", json_source_lines(rows, count));
    json_object_set_new(report, "totals", sums);
}
