/* SPDX-License-Identifier: MIT */
/* Findings as SARIF 2.1.0 (OASIS, "Static Analysis Results Interchange Format", sections 3.13 to 3.55). */
#include "tool/check/show.h"

#include "tool/check/causes.h"
#include "tool/output.h"
#include "tool/report/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDEST = 1000 /* of a message, in bytes */ };

static const char schema[] = "https://json.schemastore.org/sarif-2.1.0.json";

static json_t *message_of(const char *text)
{
    return json_pack("{s:o}", "text", tool_json_text(text));
}

/* The URI of a path (RFC 3986): relative as it is, absolute with the scheme "file". */
static json_t *uri_of(const char *path)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    char *text = malloc(3 * strlen(path) + 8), *out = text;
    json_t *uri = NULL;
    if (!text)
        return NULL;
    if (*path == '/')
        out += sprintf(out, "file://");
    for (; *path; path++)
        if (strchr(plain, *path))
            *out++ = *path;
        else
            out += sprintf(out, "%%%02X", (unsigned char)*path);
    *out = 0;
    uri = json_string(text);
    free(text);
    return uri;
}

/* Its file, line and column. */
static json_t *physical_of(const json_t *at)
{
    json_t *physical = json_pack("{s:{s:o}}", "artifactLocation", "uri", uri_of(tool_check_file_of(at)));
    json_t *region = json_object();
    if (tool_number_of(at, "line"))
        json_object_set_new(region, "startLine", json_integer(tool_number_of(at, "line")));
    if (tool_number_of(at, "line") && tool_number_of(at, "column"))
        json_object_set_new(region, "startColumn", json_integer(tool_number_of(at, "column")));
    if (json_object_size(region))
        json_object_set(physical, "region", region);
    json_decref(region);
    return physical;
}

/* An instruction as a location: the source line if it has one, and the kernel with the offset. */
static json_t *location_of(const json_t *at)
{
    const char *kernel = tool_text_of(at, "kernel");
    char place[TOOL_CHECK_PLACE];
    json_t *location =
        json_pack("{s:[{s:o, s:o, s:s}]}", "logicalLocations", "name", tool_json_text(kernel ? kernel : ""),
                  "fullyQualifiedName", tool_json_text(tool_check_place(at, place)), "kind", "function");
    if (tool_check_file_of(at))
        json_object_set_new(location, "physicalLocation", physical_of(at));
    return location;
}

/* Adds where the inlined functions that the instruction belongs to were called. */
static void add_calls(json_t *locations, const json_t *at, const char *what)
{
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(at, "inlined"), i, one)
    {
        if (!tool_check_file_of(one))
            continue;
        json_t *location = json_pack("{s:o}", "physicalLocation", physical_of(one));
        char text[600];
        snprintf(text, sizeof text, "%s %.500s, which was inlined", what, tool_text_of(one, "function"));
        json_object_set_new(location, "message", message_of(text));
        json_array_append_new(locations, location);
    }
}

/* The number of the rule in the list, to which it is added if need be. */
static size_t rule_of(json_t *rules, const json_t *finding)
{
    const char *name = tool_text_of(finding, "rule"), *source = tool_text_of(finding, "source"),
               *remedy = tool_text_of(finding, "remedy");
    size_t i;
    json_t *rule;
    json_array_foreach(rules, i, rule) if (!strcmp(tool_text_of(rule, "id"), name)) return i;
    rule = json_pack("{s:s, s:{s:s}}", "id", name, "properties", "class", tool_text_of(finding, "class"));
    if (source)
        json_object_set_new(rule, "fullDescription", message_of(source));
    if (remedy)
        json_object_set_new(rule, "help", message_of(remedy));
    json_array_append_new(rules, rule);
    return i;
}

/* Adds all findings of the group but the first. Returns the executions of all. */
static json_int_t add_others(json_t *locations, const json_t *group)
{
    json_int_t executions = 0;
    size_t i;
    json_t *one;
    json_array_foreach(group, i, one)
    {
        executions += tool_number_of(one, "executions");
        if (!i)
            continue;
        char text[WIDEST];
        json_t *location = location_of(one);
        snprintf(text, sizeof text, "the same cause: %.900s", tool_text_of(one, "message"));
        json_object_set_new(location, "message", message_of(text));
        json_array_append_new(locations, location);
    }
    return executions;
}

/* A group of findings as its first one. */
static json_t *result_of(const json_t *group, json_t *rules, bool suppressed)
{
    const json_t *finding = json_array_get(group, 0);
    json_t *first = json_object_get(finding, "first");
    const json_int_t rule = (json_int_t)rule_of(rules, finding);
    json_t *result =
        json_pack("{s:s, s:I, s:s, s:o, s:[o]}", "ruleId", tool_text_of(finding, "rule"), "ruleIndex", rule,
                  "level", tool_is_error(finding) ? "error" : "note", "message",
                  message_of(tool_text_of(finding, "message")), "locations", location_of(finding));
    json_t *related = json_array();
    if (json_is_object(first)) {
        json_t *location = location_of(first);
        const bool stores = !strcmp(tool_text_of(finding, "class"), "float");
        json_object_set_new(location, "message",
                            message_of(stores ? "the store" : "the earlier instruction"));
        json_array_append_new(related, location);
        add_calls(related, first, stores ? "the store: call of" : "the earlier one: call of");
    }
    add_calls(related, finding, "call of");
    const json_int_t executions = add_others(related, group);
    if (json_array_size(related))
        json_object_set(result, "relatedLocations", related);
    json_decref(related);
    json_object_set_new(result, "partialFingerprints",
                        json_pack("{s:O}", "wavememKey/v1", json_object_get(finding, "key")));
    json_object_set_new(result, "occurrenceCount", json_integer(executions));
    if (suppressed)
        json_object_set_new(result, "suppressions", json_pack("[{s:s}]", "kind", "external"));
    json_t *properties = json_object();
    static const char *const kept[] = {"class", "instruction", "offset",    "launch",
                                       "wave",  "lanes",       "workgroup", "memory"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (!json_is_null(json_object_get(finding, kept[i])))
            json_object_set(properties, kept[i], json_object_get(finding, kept[i]));
    json_object_set_new(result, "properties", properties);
    return result;
}

static void add_results(json_t *results, const json_t *groups, json_t *rules, bool suppressed)
{
    size_t i;
    json_t *group;
    json_array_foreach(groups, i, group) json_array_append_new(results, result_of(group, rules, suppressed));
}

static json_t *notifications_of(const json_t *incomplete)
{
    json_t *list = json_array();
    char text[600];
    size_t i;
    json_t *one;
    json_array_foreach(incomplete, i, one)
    {
        snprintf(text, sizeof text, "%.250s: %.300s", tool_text_of(one, "what"), tool_text_of(one, "why"));
        json_array_append_new(list, json_pack("{s:s, s:o}", "level", "error", "message", message_of(text)));
    }
    return list;
}

int tool_check_write_sarif(const struct tool_check_report *report, const char *path)
{
    json_t *rules = json_array(), *results = json_array();
    struct tool_file file;
    json_t *hidden = tool_check_groups(report->suppressed);
    add_results(results, report->groups, rules, false);
    add_results(results, hidden, rules, true);
    json_decref(hidden);
    json_t *invocation =
        json_pack("{s:b, s:o}", "executionSuccessful", json_array_size(report->incomplete) == 0,
                  "toolExecutionNotifications", notifications_of(report->incomplete));
    json_t *sarif =
        json_pack("{s:s, s:s, s:[{s:{s:{s:s, s:s, s:o}}, s:[o], s:s, s:o}]}", "$schema", schema, "version",
                  "2.1.0", "runs", "tool", "driver", "name", "wavemem", "version", wm_version(), "rules",
                  rules, "invocations", invocation, "columnKind", "utf16CodeUnits", "results", results);
    if (!tool_begin_file(&file, "--sarif", path)) {
        json_decref(sarif);
        return TOOL_WRONG;
    }
    const bool ok = sarif && json_dumpf(sarif, file.whole.stream, JSON_INDENT(2)) == 0;
    json_decref(sarif);
    if (!ok && !ferror(file.whole.stream)) {
        tool_drop_file(&file);
        return tool_fail("--sarif %s: no memory for the report", path);
    }
    fputc('\n', file.whole.stream);
    return tool_end_file(&file);
}
