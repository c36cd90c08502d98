/* SPDX-License-Identifier: MIT */
/* Which findings are reported: those of the kernels that are asked for, and that the baseline does not have.
 */
#include "tool/check/filter.h"

#include <string.h>

const char *tool_text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

json_int_t tool_number_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

bool tool_is_error(const json_t *finding)
{
    const char *severity = tool_text_of(finding, "severity");
    return severity && !strcmp(severity, "error");
}

bool tool_is_finding(const json_t *one)
{
    static const char *const texts[] = {"rule", "class", "severity", "message", "kernel", "instruction"};
    const json_t *first = json_object_get(one, "first"), *memory = json_object_get(one, "memory");
    const json_t *allocation = json_object_get(memory, "allocation");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!tool_text_of(one, texts[i]))
            return false;
    return (!json_is_object(first) || tool_text_of(first, "instruction")) &&
           (!json_is_object(memory) || tool_text_of(memory, "space")) &&
           (!json_is_object(allocation) || tool_text_of(allocation, "name"));
}

bool tool_kernel_wanted(const struct tool_check_request *request, const char *symbol)
{
    char name[512];
    if (!request->has_regex)
        return true;
    return symbol && (!regexec(&request->regex, symbol, 0, NULL, 0) ||
                      !regexec(&request->regex, wm_source_name(symbol, name, sizeof name), 0, NULL, 0));
}

/* ---- the baseline ---- */

int tool_read_baseline(struct tool_check_request *request)
{
    json_error_t error;
    json_t *report = json_load_file(request->baseline, 0, &error);
    if (!report)
        return tool_fail("--baseline %s: line %d: %s", request->baseline, error.line, error.text);
    json_t *findings = json_object_get(report, "findings");
    if (json_is_array(findings))
        request->known = json_incref(findings);
    json_decref(report);
    return request->known ? TOOL_CLEAN
                          : tool_fail("--baseline %s: expected the JSON report of a check, with 'findings'",
                                      request->baseline);
}

static bool same_text(const json_t *a, const json_t *b, const char *key)
{
    const char *left = tool_text_of(a, key), *right = tool_text_of(b, key);
    return left && right ? !strcmp(left, right) : left == right;
}

bool tool_is_known(const struct tool_check_request *request, const json_t *finding)
{
    const char *by = tool_text_of(finding, "file") ? "line" : "offset";
    size_t i;
    json_t *old;
    json_array_foreach(request->known, i,
                       old) if (same_text(old, finding, "rule") && same_text(old, finding, "kernel") &&
                                same_text(old, finding, "file") &&
                                tool_number_of(old, by) == tool_number_of(finding, by)) return true;
    return false;
}
