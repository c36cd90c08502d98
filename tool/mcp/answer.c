/* SPDX-License-Identifier: MIT */
/* What a call of a tool returns: the text of its commands, and the parts of their reports that say what to
 * change, both bounded. */
#include "tool/mcp/mcp.h"

#include "tool/report/document.h"
#include "tool/text.h"
#include "tool/tool.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ITEMS = 24,         /* of a list in a report, at most */
    STRING_MOST = 2000, /* bytes of a string in a report */
};

/* ---- texts ---- */

/* Removes the names of temporary folders: "/tmp/wavemem-mcp.X/call.Y/kernel.cl" becomes "kernel.cl". */
static void hide_folder(char *text, const char *folder)
{
    const size_t length = strlen(folder);
    char *to = text;
    for (const char *from = text; *from;) {
        if (!strncmp(from, folder, length) && from[length] == '/')
            from += length + 1;
        else
            *to++ = *from++;
    }
    *to = 0;
}

/* The file's first `most` bytes, up to the end of a line, with a note if there are more; the caller frees. */
static char *read_text(const char *path, const char *folder, size_t most)
{
    char *text = tool_checked(malloc(most + 100));
    FILE *file = fopen(path, "re");
    const size_t size = file ? fread(text, 1, most, file) : 0;
    text[size] = 0;
    if (size == most && getc(file) != EOF) {
        char *end = strrchr(text, '\n');
        strcpy(end ? end + 1 : text + most, "... (cut: the output is longer than an answer may be)\n");
    }
    if (file)
        fclose(file);
    hide_folder(text, folder);
    return text;
}

/* The texts that the steps wrote, one after another; kind: "out" or "err". */
static char *read_texts(const struct mcp_call *call, const char *kind, unsigned steps, size_t most)
{
    char *all = NULL;
    size_t size;
    FILE *out = tool_checked(open_memstream(&all, &size));
    for (unsigned i = 0; i < steps; i++) {
        if (call->step[i].report) /* a command that is run again as JSON says the same again */
            continue;
        char *path = mcp_path(call, kind, i), *text = read_text(path, call->folder, most / steps);
        fputs(text, out);
        free(text);
        free(path);
    }
    fclose(out);
    return tool_checked(all);
}

/* ---- reports ---- */

/* A copy of the object with these keys, which blanks separate; other values as they are. */
static json_t *pick(const json_t *object, const char *keys)
{
    if (!json_is_object(object))
        return object ? json_deep_copy(object) : json_null();
    json_t *picked = json_object();
    while (*keys) {
        char key[64];
        const size_t length = strcspn(keys, " ");
        snprintf(key, sizeof key, "%.*s", (int)length, keys);
        keys += length + (keys[length] == ' ');
        const json_t *value = json_object_get(object, key);
        if (value && !json_is_null(value))
            json_object_set_new(picked, key, json_deep_copy(value));
    }
    return picked;
}

static json_t *pick_each(const json_t *list, const char *keys)
{
    json_t *picked = json_array(), *one;
    size_t i;
    json_array_foreach(list, i, one) json_array_append_new(picked, pick(one, keys));
    return picked;
}

static void replace(json_t *object, const char *key, const char *keys)
{
    if (json_object_get(object, key))
        json_object_set_new(object, key, pick(json_object_get(object, key), keys));
}

static json_t *of_dispatches(const json_t *report)
{
    json_t *list =
               pick_each(json_object_get(report, "dispatches"), "kernel target grid workgroup fault expect"),
           *one;
    size_t i;
    json_array_foreach(list, i, one) replace(one, "fault", "kind text");
    return list;
}

static json_t *of_prof(const json_t *report)
{
    json_t *kernels = pick_each(json_object_get(report, "kernels"),
                                "kernel source_name gpu workgroups waves instructions occupancy predicted "
                                "binds bounds memory_read memory_written"),
           *one;
    size_t i, k;
    json_array_foreach(kernels, i, one)
    {
        json_t *bounds = json_object_get(one, "bounds"), *bound, *binds = json_object_get(one, "binds");
        json_array_foreach(bounds, k, bound) if (json_equal(json_object_get(bound, "part"), binds))
            json_object_set_new(one, "bound", pick(bound, "part seconds arithmetic"));
        json_object_del(one, "bounds");
        json_object_del(one, "binds");
        replace(one, "occupancy", "waves_per_simd waves_per_simd_most limit vgprs sgprs lds_bytes");
        replace(one, "predicted", "seconds factor like binds");
    }
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o}", "kernels", kernels, "advice",
        pick_each(json_object_get(report, "advice"),
                  "kernel verdict place file line numbers change predicted predicted_after gain"),
        "rows",
        pick_each(json_object_get(report, "rows"),
                  "kernel text path operation file line offset share limit executions efficiency "
                  "lines_per_request ideal_per_request clocks conflicts vector_hit_rate l2_hit_rate"),
        "dispatches", of_dispatches(report), "incomplete", pick(json_object_get(report, "incomplete"), ""));
}

static json_t *of_check(const json_t *report)
{
    json_t *findings =
               pick_each(json_object_get(report, "findings"),
                         "rule class severity message remedy source executions kernel instruction file "
                         "line offset workgroup wave lanes memory first"),
           *one;
    size_t i;
    json_array_foreach(findings, i, one)
    {
        replace(one, "first", "kernel instruction file line offset");
        replace(one, "memory", "space address bytes allocation");
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "findings", findings, "classes",
                     pick(json_object_get(report, "classes"), ""), "coverage",
                     pick_each(json_object_get(report, "coverage"),
                               "kernel launches workgroups waves instructions code executed_code"),
                     "unchecked", pick(json_object_get(report, "unchecked"), ""), "dispatches",
                     of_dispatches(report), "incomplete", pick(json_object_get(report, "incomplete"), ""));
}

static json_t *of_diff(const json_t *report)
{
    return pick(report, "kernels causes pairs totals");
}

/* The report of a step in the form for an answer; NULL: it wrote none. */
static json_t *report_of(const struct mcp_call *call, unsigned step)
{
    char *path = mcp_path(call, call->step[step].report ? "out" : "report", step);
    json_t *report = json_load_file(path, 0, NULL), *answer = NULL;
    const char *verb = json_string_value(json_object_get(report, "verb"));
    free(path);
    if (verb && !strcmp(verb, "prof"))
        answer = of_prof(report);
    else if (verb && !strcmp(verb, "check"))
        answer = of_check(report);
    else if (verb && !strcmp(verb, "diff"))
        answer = of_diff(report);
    else if (json_is_array(report))
        answer = json_pack("{s:O}", "list", report);
    else if (report)
        answer = json_incref(report);
    json_decref(report);
    return answer;
}

/* The reports of all steps in one object. */
static json_t *reports_of(const struct mcp_call *call, unsigned steps)
{
    static const char *const names[MCP_STEPS] = {"this", "other", "changes"};
    json_t *found[MCP_STEPS] = {NULL}, *all = NULL;
    unsigned count = 0;
    for (unsigned i = 0; i < steps; i++)
        count += (found[i] = report_of(call, i)) != NULL;
    for (unsigned i = 0; i < steps; i++) {
        if (count <= 1 && found[i])
            all = found[i];
        else if (found[i] && (all || (all = json_object())))
            json_object_set_new(all, names[i], found[i]);
    }
    return all;
}

/* Cuts lists to `most` elements and says how many are left out; cuts strings, and hides the folder. */
static void shorten(json_t *value, size_t most, const char *folder)
{
    const char *key;
    json_t *one;
    size_t i;
    void *next;
    json_array_foreach(value, i, one) shorten(one, most, folder);
    json_object_foreach_safe(value, next, key, one)
    {
        const size_t size = json_array_size(one);
        char name[80];
        if (size > most) {
            while (json_array_size(one) > most)
                json_array_remove(one, json_array_size(one) - 1);
            snprintf(name, sizeof name, "%.60s_left_out", key);
            json_t *before = json_object_get(value, name);
            json_object_set_new(value, name,
                                json_integer((json_int_t)(size - most) + json_integer_value(before)));
        }
        shorten(one, most, folder);
    }
    if (json_is_string(value)) {
        char *text = tool_checked(strdup(json_string_value(value)));
        hide_folder(text, folder);
        size_t length = strlen(text);
        if (length > STRING_MOST) {
            for (length = STRING_MOST; (text[length] & 0xc0) == 0x80;)
                length--; /* to the beginning of a character */
            strcpy(text + length, "...");
        }
        json_string_set(value, text);
        free(text);
    }
}

/* Shortens the report until it fits. */
static void fit(json_t *report, const char *folder, size_t bytes)
{
    for (size_t most = ITEMS;; most /= 2) {
        shorten(report, most, folder);
        char *text = tool_checked(json_dumps(report, JSON_COMPACT));
        const bool fits = strlen(text) <= bytes;
        free(text);
        if (fits)
            return;
        if (!most)
            break;
    }
    json_object_clear(report);
    json_object_set_new(report, "left_out", json_string("the report is longer than an answer may be"));
}

/* ---- the answer ---- */

static json_t *content(const char *text)
{
    return json_pack("[{s:s, s:o}]", "type", "text", "text", tool_json_text(text));
}

json_t *mcp_failure(const char *message)
{
    return json_pack("{s:o, s:b}", "content", content(message), "isError", 1);
}

static const char *outcome_of(int code)
{
    static const char *const names[] = {[TOOL_CLEAN] = "clean",
                                        [TOOL_FINDINGS] = "findings",
                                        [TOOL_WRONG] = "wrong",
                                        [TOOL_FAULT] = "fault",
                                        [TOOL_INCOMPLETE] = "incomplete"};
    return code >= 0 && code <= TOOL_INCOMPLETE ? names[code] : "limit";
}

/* Why the process ended by this signal. */
static void name_signal(int number, char text[200])
{
    if (number == SIGXFSZ)
        snprintf(text, 200, "stopped: it wrote more than a file may have");
    else
        snprintf(text, 200, "stopped by signal %d (%s); it may have needed more than the limit of memory",
                 number, strsignal(number));
}

json_t *mcp_answer(const struct mcp_call *call, const struct mcp_settings *settings, unsigned steps, int code,
                   int signal, const char *why)
{
    char reason[200] = "";
    if (why)
        snprintf(reason, sizeof reason, "%s", why);
    else if (signal)
        name_signal(signal, reason);
    const bool failed = *reason;
    char *text = read_texts(call, "out", steps, settings->output / 2),
         *messages = read_texts(call, "err", steps, settings->output / 4), *all;
    json_t *report = reports_of(call, steps),
           *answer = json_pack("{s:s}", "outcome", failed ? "limit" : outcome_of(code));
    if (*messages || failed)
        json_object_set_new(answer, "messages", tool_json_text(failed && !*messages ? reason : messages));
    if (report) {
        fit(report, call->folder, settings->output);
        json_object_set_new(answer, "report", report);
    }
    if (asprintf(&all, "%s%s%s%s%s", text, *text && *messages ? "\n" : "", messages, reason,
                 failed ? "\n" : "") < 0)
        all = NULL;
    json_t *result = json_pack("{s:o, s:o, s:b}", "content", content(tool_checked(all)), "structuredContent",
                               answer, "isError", failed || code == TOOL_WRONG);
    free(all);
    free(text);
    free(messages);
    return result;
}
