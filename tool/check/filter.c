/* SPDX-License-Identifier: MIT */
/* What reports read of findings, and which kernels are asked for. */
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
