/* SPDX-License-Identifier: MIT */
/* The output of --check-waits and --check-hazards: each finding, with its reason and count. */
#include "tool/report/findings.h"
#include "tool/check/request.h"
#include "tool/report/document.h"
#include "tool/text.h"

#include <inttypes.h>

void tool_print_findings(FILE *file, struct wm_check *check)
{
    size_t count;
    const struct wm_finding *f = wm_check_findings(check, &count);
    for (size_t i = 0; i < count; i++, f++) {
        tool_print(file, "warning: %s\n", f->message);
        tool_print(file, "  at   %s+0x%" PRIx64 "   %s", f->kernel, f->offset, f->text);
        if (f->file)
            tool_print(file, "   %s:%u", f->file, f->line);
        fprintf(file, "\n  by   %" PRIu64 " executions   [%s]%s%s\n", f->count, f->rule, f->source ? " " : "",
                f->source ? f->source : "");
    }
    fprintf(file, "%zu finding%s\n", count, count == 1 ? "" : "s");
}

json_t *tool_json_findings(struct wm_check *check)
{
    size_t count;
    const struct wm_finding *f = wm_check_findings(check, &count);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++, f++) {
        json_t *entry = json_pack("{s:s, s:o, s:o, s:o, s:I, s:I}", "rule", f->rule, "message",
                                  tool_json_text(f->message), "kernel", tool_json_text(f->kernel),
                                  "instruction", tool_json_text(f->text), "offset", (json_int_t)f->offset,
                                  "executions", (json_int_t)f->count);
        json_object_set_new(entry, "class", json_string(tool_check_class_name(f->class)));
        json_object_set_new(entry, "severity",
                            json_string(f->severity == WM_SEVERITY_NOTE ? "note" : "error"));
        json_object_set_new(entry, "pc", json_sprintf("0x%" PRIx64, f->pc));
        json_object_set_new(entry, "first_pc", json_sprintf("0x%" PRIx64, f->first_pc));
        json_object_set_new(entry, "source", f->source ? json_string(f->source) : json_null());
        json_object_set_new(entry, "file", f->file ? tool_json_text(f->file) : json_null());
        json_object_set_new(entry, "line", json_integer(f->line));
        json_array_append_new(list, entry);
    }
    return list;
}
