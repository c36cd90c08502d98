/* SPDX-License-Identifier: MIT */
/* Findings as annotations of GitHub Actions: "Workflow commands", with the escapes of its toolkit
 * (actions/toolkit, packages/core/src/command.ts). */
#include "tool/check/show.h"

#include "tool/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* property: of the part before the second "::". */
static void put(FILE *file, const char *text, bool property)
{
    char *clean = tool_escaped(text);
    for (const char *c = clean; *c; c++)
        if (*c == '%' || *c == '\r' || *c == '\n' || (property && (*c == ':' || *c == ',')))
            fprintf(file, "%%%02X", (unsigned)*c);
        else
            fputc(*c, file);
    free(clean);
}

/* " (kernel+0x10, inlined at a.cl:12: instruction)", with the line of the kernel itself. */
static void put_place(FILE *file, const json_t *finding)
{
    const json_t *calls = json_object_get(finding, "inlined");
    const size_t depth = json_array_size(calls);
    char text[TOOL_CHECK_PLACE];
    fputs(" (", file);
    put(file, tool_check_place(finding, text), false);
    if (depth && tool_text_of(json_array_get(calls, depth - 1), "file")) {
        fputs(", inlined at ", file);
        put(file, tool_check_where(json_array_get(calls, depth - 1), text), false);
    }
    fputs(": ", file);
    put(file, tool_text_of(finding, "instruction"), false);
    fputc(')', file);
}

static void put_finding(FILE *file, const json_t *finding)
{
    const char *path = tool_check_file_of(finding);
    fprintf(file, "::%s ", tool_is_error(finding) ? "error" : "notice");
    if (path) {
        fputs("file=", file);
        put(file, path, true);
        fprintf(file, ",line=%" PRId64, (int64_t)tool_number_of(finding, "line"));
        if (tool_number_of(finding, "column"))
            fprintf(file, ",col=%" PRId64, (int64_t)tool_number_of(finding, "column"));
        fputc(',', file);
    }
    fputs("title=wavemem ", file);
    put(file, tool_text_of(finding, "rule"), true);
    fputs("::", file);
    put(file, tool_text_of(finding, "message"), false);
    put_place(file, finding);
}

void tool_check_print_github(FILE *file, const struct tool_check_report *report)
{
    const bool all = report->request->all;
    const json_t *shown = all ? report->findings : report->groups;
    size_t i;
    json_t *one;
    json_array_foreach(shown, i, one)
    {
        if (i == TOOL_CHECK_SHOWN && !all)
            break;
        put_finding(file, all ? one : json_array_get(one, 0));
        if (!all && json_array_size(one) > 1)
            fprintf(file, "; %zu more with the same cause", json_array_size(one) - 1);
        fputc('\n', file);
    }
}
