/* SPDX-License-Identifier: MIT */
/* Chooses what is reported of a check, and reports it. */
#include "tool/check/show.h"

#include "tool/check/baseline.h"
#include "tool/check/causes.h"
#include "tool/check/keys.h"
#include "tool/report/document.h"

#include <string.h>

/* Whether it is the same finding in another process. Where addresses tell allocations apart, it is not. */
static bool is_same(const json_t *a, const json_t *b)
{
    static const char *const keys[] = {"offset", "rule", "kernel", "instruction", "file", "line", "message"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!json_equal(json_object_get(a, keys[i]), json_object_get(b, keys[i])))
            return false;
    const json_t *first = json_object_get(a, "first"), *other = json_object_get(b, "first");
    if (!*tool_text_of(a, "instruction"))
        return json_equal(json_object_get(a, "memory"), json_object_get(b, "memory"));
    const char *one = tool_text_of(first, "kernel"), *its = tool_text_of(other, "kernel");
    return tool_number_of(first, "offset") == tool_number_of(other, "offset") &&
           (one && its ? !strcmp(one, its) : one == its);
}

static bool is_at(const json_t *a, const json_t *b)
{
    return tool_number_of(a, "offset") == tool_number_of(b, "offset") &&
           !strcmp(tool_text_of(a, "rule"), tool_text_of(b, "rule")) &&
           !strcmp(tool_text_of(a, "kernel"), tool_text_of(b, "kernel"));
}

/* Adds the finding, or its executions to the same one of another process. The list is in order. */
static void add(json_t *list, json_t *finding)
{
    for (size_t i = json_array_size(list); i-- && is_at(json_array_get(list, i), finding);) {
        json_t *one = json_array_get(list, i);
        if (!is_same(one, finding))
            continue;
        json_object_set_new(
            one, "executions",
            json_integer(tool_number_of(one, "executions") + tool_number_of(finding, "executions")));
        return;
    }
    json_array_append(list, finding);
}

/* The findings of the kernels that are asked for, each once, in order and with keys. */
static json_t *identify(const struct tool_check_request *request, const json_t *findings)
{
    json_t *sorted = tool_check_sorted(findings), *kept = json_array(), *one;
    size_t i;
    json_array_foreach(sorted, i, one) if (tool_kernel_wanted(request, tool_text_of(one, "kernel")))
        add(kept, one);
    json_decref(sorted);
    tool_check_set_keys(kept);
    return kept;
}

/* What suppressions, baseline and kernels leave. */
static void choose(struct tool_check_request *request, const json_t *findings,
                   struct tool_check_report *report)
{
    json_t *all = identify(request, findings), *one;
    size_t i;
    json_array_foreach(all, i, one)
    {
        if (tool_is_suppressed(request, one))
            json_array_append(report->suppressed, one);
        else if (tool_is_known(request, one))
            report->known++;
        else
            json_array_append(report->findings, one);
    }
    json_decref(all);
    tool_check_set_groups(report->findings);
    tool_check_set_groups(report->suppressed);
    report->groups = tool_check_groups(report->findings);
}

static json_t *wanted(const struct tool_check_request *request, const json_t *kernels)
{
    json_t *list = json_array();
    size_t i;
    json_t *one;
    json_array_foreach(kernels, i, one)
    {
        const char *symbol = json_is_string(one) ? json_string_value(one) : tool_text_of(one, "kernel");
        if (tool_kernel_wanted(request, symbol))
            json_array_append(list, one);
    }
    return list;
}

static json_t *unused(const struct tool_check_request *request)
{
    json_t *list = json_array();
    for (size_t i = 0; i < request->suppression_count; i++)
        if (!request->suppression[i].used)
            json_array_append_new(list, json_integer(request->suppression[i].line));
    return list;
}

static json_t *names_of(unsigned classes)
{
    json_t *list = json_array();
    for (unsigned bit = 1; bit && bit <= classes; bit <<= 1)
        if (classes & bit && *wm_check_class_name((enum wm_check_what)bit))
            json_array_append_new(list, json_string(wm_check_class_name((enum wm_check_what)bit)));
    return list;
}

static json_t *limits_of(unsigned classes)
{
    json_t *limits = json_object();
    for (unsigned bit = 1; bit && bit <= classes; bit <<= 1)
        if (classes & bit && *wm_check_class_name((enum wm_check_what)bit))
            json_object_set_new(limits, wm_check_class_name((enum wm_check_what)bit),
                                json_string(wm_check_class_limits((enum wm_check_what)bit)));
    return limits;
}

static void fill(json_t *document, const struct tool_check_report *report)
{
    json_object_set_new(document, "classes", names_of(report->request->classes));
    json_object_set_new(document, "limits", limits_of(report->request->classes));
    json_object_set(document, "findings", report->findings);
    json_object_set(document, "suppressed", report->suppressed);
    json_object_set_new(document, "causes", json_integer((json_int_t)json_array_size(report->groups)));
    json_object_set_new(document, "known", json_integer((json_int_t)report->known));
    json_object_set_new(document, "unused_suppressions", unused(report->request));
    json_object_set(document, "coverage", report->coverage);
    json_object_set(document, "unchecked", report->unchecked);
}

static int write_files(const struct tool_check_report *report)
{
    const struct tool_check_request *request = report->request;
    int code = TOOL_CLEAN;
    if (request->sarif)
        code = tool_worse(code, tool_check_write_sarif(report, request->sarif));
    if (request->junit)
        code = tool_worse(code, tool_check_write_junit(report, request->junit));
    if (request->write_suppressions)
        code = tool_worse(code, tool_write_suppressions(request->write_suppressions, report->findings));
    return code;
}

/* A fault that a finding explains is a finding; a check that saw nothing did not pass. */
static int judge(const struct tool_check_report *report, int code)
{
    size_t i, errors = 0;
    json_t *one;
    json_array_foreach(report->findings, i, one) errors += tool_is_error(one);
    if (!report->request->given)
        return errors ? tool_worse(code, TOOL_FINDINGS) : code;
    if (code == TOOL_FAULT && errors)
        code = TOOL_INCOMPLETE;
    if (json_array_size(report->incomplete))
        code = tool_worse(code, TOOL_INCOMPLETE);
    return errors ? tool_worse(code, TOOL_FINDINGS) : code;
}

int tool_check_show(struct tool_check_request *request, json_t *findings, json_t *coverage, json_t *unchecked,
                    json_t *document, FILE *text, int code)
{
    json_t *own = json_object();
    if (!document)
        json_object_set_new(document = own, "incomplete", json_array());
    struct tool_check_report report = {
        .request = request,
        .findings = json_array(),
        .suppressed = json_array(),
        .coverage = wanted(request, coverage),
        .unchecked = wanted(request, unchecked),
        .incomplete = json_object_get(document, "incomplete"),
    };
    choose(request, findings, &report);
    if (request->given && !json_array_size(report.coverage))
        tool_incomplete(document, "check", "no kernel ran that it covers");
    fill(document, &report);
    if (text)
        tool_check_print_all(text, &report);
    if (request->github)
        tool_check_print_github(text ? text : stderr, &report);
    code = judge(&report, code);
    code = tool_worse(code, write_files(&report));
    json_decref(report.findings);
    json_decref(report.groups);
    json_decref(report.suppressed);
    json_decref(report.coverage);
    json_decref(report.unchecked);
    json_decref(own);
    return code;
}
