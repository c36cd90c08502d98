/* SPDX-License-Identifier: MIT */
/* The JSON documents of `run`, `prof`, `replay` and `diff`. */
#include "tool/report/document.h"

#include "tool/output.h"
#include "tool/tool.h"
#include "wavemem/wavemem.h"

json_t *tool_report(const char *verb)
{
    return json_pack("{s:s, s:i, s:s, s:[]}", "wavemem", wm_version(), "schema", TOOL_REPORT_SCHEMA, "verb",
                     verb, "incomplete");
}

int tool_incomplete(json_t *report, const char *what, const char *why)
{
    if (report)
        json_array_append_new(json_object_get(report, "incomplete"),
                              json_pack("{s:o, s:s}", "what", tool_json_text(what), "why", why));
    char name[512];
    tool_fail("%s: the analysis is incomplete: %s", wm_source_name(what, name, sizeof name), why);
    return TOOL_INCOMPLETE;
}

static bool put(const json_t *report, FILE *file)
{
    return json_dumpf(report, file, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) == 0 && fputc('\n', file) != EOF;
}

int tool_write_report(const json_t *report, const char *path, int code)
{
    struct tool_file file;
    if (!path)
        return put(report, stdout) ? code : tool_fail("--json: the report could not be written");
    if (!tool_begin_file(&file, "--json", path))
        return TOOL_WRONG;
    if (!put(report, file.whole.stream) && !ferror(file.whole.stream)) {
        tool_drop_file(&file);
        return tool_fail("--json %s: no memory for the report", path);
    }
    return tool_end_file(&file) == TOOL_CLEAN ? code : TOOL_WRONG;
}
