/* SPDX-License-Identifier: MIT */
/* The output of --fidelity: the executed instructions and how exactly each is modelled. */
#include "tool/report/fidelity.h"

#include "tool/report/table.h"

#include <inttypes.h>

static const char *const grades[] = {
    [WM_GRADE_EXACT] = "exact",
    [WM_GRADE_APPROX] = "approximate",
    [WM_GRADE_UNVERIFIED] = "unverified",
};

void tool_print_fidelity_rows(FILE *file, const struct wm_fidelity_row *rows, size_t count)
{
    static const struct tool_column columns[] = {
        {"executed", TOOL_RIGHT}, {"instruction", TOOL_LEFT}, {"fidelity", TOOL_LEFT}};
    struct tool_table table = {.columns = columns, .column_count = sizeof(columns) / sizeof(columns[0])};
    uint64_t kinds[3] = {0}, executions[3] = {0};
    for (size_t i = 0; i < count; i++) {
        tool_table_cell(&table, "%" PRIu64, rows[i].executions);
        tool_table_cell(&table, "%s", rows[i].name);
        tool_table_cell(&table, "%s%s%s", grades[rows[i].grade], *rows[i].remark ? ": " : "", rows[i].remark);
        kinds[rows[i].grade]++;
        executions[rows[i].grade] += rows[i].executions;
    }
    fputs("fidelity\n", file);
    tool_table_print(&table, file, 0);
    tool_table_free(&table);
    for (unsigned grade = 0; grade < 3; grade++)
        fprintf(file, "%s: %" PRIu64 " instructions, executed %" PRIu64 " times\n", grades[grade],
                kinds[grade], executions[grade]);
    for (const char *const *text = wm_fidelity_general(); *text; text++)
        fprintf(file, "unverified %s\n", *text);
}

json_t *tool_json_fidelity_rows(const struct wm_fidelity_row *rows, size_t count)
{
    json_t *list = json_array(), *general = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_pack("{s:s, s:I, s:s, s:s}", "instruction", rows[i].name,
                                              "executions", (json_int_t)rows[i].executions, "grade",
                                              grades[rows[i].grade], "remark", rows[i].remark));
    for (const char *const *text = wm_fidelity_general(); *text; text++)
        json_array_append_new(general, json_string(*text));
    return json_pack("{s:o, s:o}", "rows", list, "unverified_in_general", general);
}

void tool_print_fidelity(FILE *file, struct wm_fidelity *fidelity)
{
    size_t count;
    const struct wm_fidelity_row *rows = wm_fidelity_rows(fidelity, &count);
    tool_print_fidelity_rows(file, rows, count);
}

json_t *tool_json_fidelity(struct wm_fidelity *fidelity)
{
    size_t count;
    const struct wm_fidelity_row *rows = wm_fidelity_rows(fidelity, &count);
    return tool_json_fidelity_rows(rows, count);
}
