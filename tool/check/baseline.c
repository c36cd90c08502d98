/* SPDX-License-Identifier: MIT */
/* The findings of an earlier report, which are not reported again. */
#include "tool/check/baseline.h"

#include "tool/check/filter.h"
#include "tool/check/keys.h"

/* Whether all of them are findings. *keyed: and have keys, which older reports lack. */
static bool are_findings(const json_t *findings, bool *keyed)
{
    size_t i;
    json_t *one;
    *keyed = true;
    json_array_foreach(findings, i, one)
    {
        if (!tool_is_finding(one))
            return false;
        *keyed &= tool_text_of(one, "key") != NULL;
    }
    return json_is_array(findings);
}

/* The keys of the findings, as the keys of an object. */
static json_t *keys_of(const json_t *findings, bool keyed)
{
    json_t *sorted = tool_check_sorted(findings), *keys = json_object(), *one;
    size_t i;
    if (!keyed)
        tool_check_set_keys(sorted);
    json_array_foreach(sorted, i, one) json_object_set_new(keys, tool_text_of(one, "key"), json_true());
    json_decref(sorted);
    return keys;
}

int tool_read_baseline(struct tool_check_request *request)
{
    json_error_t error;
    bool keyed;
    json_t *report = json_load_file(request->baseline, 0, &error);
    if (!report)
        return tool_fail("--baseline %s: line %d: %s", request->baseline, error.line, error.text);
    const json_t *findings = json_object_get(report, "findings");
    if (are_findings(findings, &keyed))
        request->known = keys_of(findings, keyed);
    json_decref(report);
    return request->known ? TOOL_CLEAN
                          : tool_fail("--baseline %s: expected the JSON report of a check, with 'findings'",
                                      request->baseline);
}

bool tool_is_known(const struct tool_check_request *request, const json_t *finding)
{
    return json_object_get(request->known, tool_text_of(finding, "key"));
}
