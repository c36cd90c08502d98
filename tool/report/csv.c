/* SPDX-License-Identifier: MIT */
/* The report of `prof` as comma-separated values: a line per instruction, with all figures. */
#include "tool/report/csv.h"
#include "tool/output.h"
#include "tool/report/report.h"
#include "tool/text.h"
#include "tool/tool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void tool_csv_text(FILE *file, const char *text)
{
    char *escaped = tool_escaped(text);
    const bool quoted = strpbrk(escaped, ",\"") != NULL;
    if (quoted)
        fputc('"', file);
    for (const char *at = escaped; *at; at++) {
        if (*at == '"')
            fputc('"', file);
        fputc(*at, file);
    }
    if (quoted)
        fputc('"', file);
    free(escaped);
}

static void write_row(FILE *file, const struct wm_profile_row *row)
{
    struct tool_sums sums = {0};
    tool_sums_add(&sums, row);
    tool_csv_text(file, tool_row_kernel(row));
    fprintf(file, ",%" PRIu64 ",", row->offset);
    tool_csv_text(file, row->text);
    fprintf(file, ",%s,%s,", row->path, row->operation);
    tool_csv_text(file, row->file ? row->file : "");
    fprintf(file, ",%u", row->line);
    for (size_t i = 0; i < tool_figure_count; i++) {
        double value;
        fputc(',', file);
        if (tool_figure_value(&tool_figures[i], &sums, &value) && !tool_figure_is_whole(&tool_figures[i]))
            fprintf(file, "%.9g", value);
        else if (sums.has[i] && tool_figure_is_whole(&tool_figures[i]))
            fprintf(file, "%" PRIu64, sums.value[i]);
    }
    fputc('\n', file);
}

int tool_report_csv(const struct tool_report *report, const char *path)
{
    struct tool_file output;
    if (!tool_begin_file(&output, "--csv", path))
        return TOOL_WRONG;
    FILE *file = output.whole.stream;
    fputs("kernel,offset,text,path,operation,file,line", file);
    for (size_t i = 0; i < tool_figure_count; i++)
        fprintf(file, ",%s", tool_figures[i].key);
    fputc('\n', file);
    for (size_t i = 0; i < report->count; i++)
        write_row(file, report->rows[i]);
    return tool_end_file(&output);
}
