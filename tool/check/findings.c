/* SPDX-License-Identifier: MIT */
/* The findings of a check, and what it has seen, as JSON. */
#include "tool/check/findings.h"

#include "tool/report/document.h"

#include <inttypes.h>

static json_t *hex(uint64_t number)
{
    return json_sprintf("0x%" PRIx64, number);
}

/* A finding about an allocation has no instruction. */
static json_t *text_or_empty(const char *text)
{
    return tool_json_text(text ? text : "");
}

static json_t *text_or_null(const char *text)
{
    return text ? tool_json_text(text) : json_null();
}

/* The inlined functions that an instruction belongs to. */
static json_t *inlined_of(const struct wm_inlined *inlined, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(
            list, json_pack("{s:o, s:o, s:i, s:i}", "function", tool_json_text(inlined[i].function), "file",
                            text_or_null(inlined[i].call_file), "line", (int)inlined[i].call_line, "column",
                            (int)inlined[i].call_column));
    return list;
}

/* The earlier instruction of two. */
static json_t *first_of(const struct wm_finding *f)
{
    if (!f->first_text)
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:I, s:o, s:i, s:i, s:o}", "kernel", text_or_null(f->first_kernel),
                     "instruction", tool_json_text(f->first_text), "pc", hex(f->first_pc), "offset",
                     (json_int_t)f->first_offset, "file", text_or_null(f->first_file), "line",
                     (int)f->first_line, "column", (int)f->first_column, "inlined",
                     inlined_of(f->first_inlined, f->first_inlined_count));
}

static json_t *memory_of(const struct wm_finding *f)
{
    if (!f->bytes)
        return json_null();
    json_t *allocation =
        f->allocation
            ? json_pack("{s:o, s:o, s:I, s:n}", "name", tool_json_text(f->allocation), "address",
                        hex(f->allocation_address), "bytes", (json_int_t)f->allocation_bytes, "origin")
            : json_null();
    const bool private = f->allocation && !f->allocation_address;
    return json_pack("{s:s, s:o, s:I, s:o}", "space", private ? "private" : wm_space_name(f->space),
                     "address", hex(f->address), "bytes", (json_int_t)f->bytes, "allocation", allocation);
}

json_t *tool_json_finding(const struct wm_finding *f)
{
    json_t *one = json_object();
    json_object_set_new(one, "rule", json_string(f->rule));
    json_object_set_new(one, "class", json_string(wm_check_class_name(f->what)));
    json_object_set_new(one, "severity", json_string(f->severity == WM_SEVERITY_NOTE ? "note" : "error"));
    json_object_set_new(one, "message", tool_json_text(f->message));
    json_object_set_new(one, "source", text_or_null(f->source));
    json_object_set_new(one, "remedy", text_or_null(f->remedy));
    json_object_set_new(one, "executions", json_integer((json_int_t)f->count));
    json_object_set_new(one, "kernel", text_or_empty(f->kernel));
    json_object_set_new(one, "instruction", text_or_empty(f->text));
    json_object_set_new(one, "pc", hex(f->pc));
    json_object_set_new(one, "offset", json_integer((json_int_t)f->offset));
    json_object_set_new(one, "file", text_or_null(f->file));
    json_object_set_new(one, "line", json_integer(f->line));
    json_object_set_new(one, "column", json_integer(f->column));
    json_object_set_new(one, "inlined", inlined_of(f->inlined, f->inlined_count));
    json_object_set_new(one, "first_pc", hex(f->first_pc));
    json_object_set_new(one, "first", first_of(f));
    json_object_set_new(one, "launch", json_integer(f->launch));
    json_object_set_new(one, "workgroup", f->has_wave ? tool_json_extent(f->workgroup) : json_null());
    json_object_set_new(one, "wave", f->has_wave ? json_integer(f->wave) : json_null());
    json_object_set_new(one, "lanes", f->lanes ? hex(f->lanes) : json_null());
    json_object_set_new(one, "memory", memory_of(f));
    json_object_set_new(one, "cause", json_string(f->by_allocation ? "allocation" : "instruction"));
    return one;
}

json_t *tool_json_findings(struct wm_check *check)
{
    size_t count;
    const struct wm_finding *findings = wm_check_findings(check, &count);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, tool_json_finding(&findings[i]));
    return list;
}

json_t *tool_json_coverage(struct wm_check *check)
{
    static const char *const names[WM_COVER_COUNT] = {
        [WM_COVER_GLOBAL] = "global",   [WM_COVER_FLAT] = "flat", [WM_COVER_LDS] = "lds",
        [WM_COVER_SCRATCH] = "scratch", [WM_COVER_GDS] = "gds",   [WM_COVER_SCALAR] = "scalar",
    };
    size_t count;
    const struct wm_coverage *rows = wm_check_coverage(check, &count);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct wm_coverage *row = &rows[i];
        json_t *accesses = row->counts_accesses ? json_object() : json_null();
        for (unsigned a = 0; row->counts_accesses && a < WM_COVER_COUNT; a++)
            json_object_set_new(accesses, names[a], json_integer((json_int_t)row->accesses[a]));
        json_t *one =
            json_pack("{s:o, s:I, s:I, s:I, s:I}", "kernel", tool_json_text(row->kernel), "launches",
                      (json_int_t)row->launches, "workgroups", (json_int_t)row->workgroups, "waves",
                      (json_int_t)row->waves, "instructions", (json_int_t)row->instructions);
        json_object_set_new(one, "code",
                            row->counts_accesses ? json_integer((json_int_t)row->code) : json_null());
        json_object_set_new(one, "executed_code",
                            row->counts_accesses ? json_integer((json_int_t)row->executed_code)
                                                 : json_null());
        json_object_set_new(one, "accesses", accesses);
        json_array_append_new(list, one);
    }
    return list;
}
