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

void tool_check_print_github(FILE *file, const struct tool_check_report *report)
{
    char place[TOOL_CHECK_PLACE];
    size_t i;
    json_t *one;
    json_array_foreach(report->findings, i, one)
    {
        const char *path = tool_check_file_of(one);
        if (i == TOOL_CHECK_SHOWN && !report->request->all)
            break;
        fprintf(file, "::%s ", tool_is_error(one) ? "error" : "notice");
        if (path) {
            fputs("file=", file);
            put(file, path, true);
            fprintf(file, ",line=%" PRId64, (int64_t)tool_number_of(one, "line"));
            if (tool_number_of(one, "column"))
                fprintf(file, ",col=%" PRId64, (int64_t)tool_number_of(one, "column"));
            fputc(',', file);
        }
        fputs("title=wavemem ", file);
        put(file, tool_text_of(one, "rule"), true);
        fputs("::", file);
        put(file, tool_text_of(one, "message"), false);
        fputs(" (", file);
        put(file, tool_check_place(one, place), false);
        fputs(": ", file);
        put(file, tool_text_of(one, "instruction"), false);
        fputs(")\n", file);
    }
}
