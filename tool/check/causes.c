/* SPDX-License-Identifier: MIT */
/* Groups findings by their cause. */
#include "tool/check/causes.h"

#include "tool/check/filter.h"
#include "tool/report/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- what tells causes apart, as texts; empty: nothing does ---- */

/* A kernel without its template arguments. */
static void put_family(FILE *out, const json_t *at)
{
    const char *kernel = tool_text_of(at, "kernel");
    char name[TOOL_NAME];
    unsigned depth = 0;
    for (const char *c = tool_name(kernel ? kernel : "", name); *c; c++) {
        depth += *c == '<';
        if (!depth)
            fputc(*c, out);
        depth -= depth && *c == '>';
    }
}

static bool put_line(FILE *out, const json_t *at)
{
    const char *file = tool_text_of(at, "file");
    if (!file)
        return false;
    fputc('\n', out);
    put_family(out, at);
    fprintf(out, "\n%s:%" PRId64, file, (int64_t)tool_number_of(at, "line"));
    return true;
}

static bool put_lines(FILE *out, const json_t *finding)
{
    const json_t *first = json_object_get(finding, "first");
    return put_line(out, finding) && (!json_is_object(first) || put_line(out, first));
}

/* One of the two instructions of a race. A missing barrier gives a race for each store before it and each
 * load behind it of the same array: such races have an instruction in common with one another. */
static bool put_access(FILE *out, const json_t *finding, const json_t *at)
{
    const char *class = tool_text_of(finding, "class"), *file = tool_text_of(at, "file");
    if (!class || strcmp(class, "race") != 0 || !json_is_object(json_object_get(finding, "first")))
        return false;
    fputs("\naccess\n", out);
    put_family(out, at);
    if (file)
        fprintf(out, "\n%s:%" PRId64, file, (int64_t)tool_number_of(at, "line"));
    else
        fprintf(out, "\n+%" PRId64, (int64_t)tool_number_of(at, "offset"));
    return true;
}

static bool put_own_access(FILE *out, const json_t *finding)
{
    return put_access(out, finding, finding);
}

static bool put_first_access(FILE *out, const json_t *finding)
{
    return put_access(out, finding, json_object_get(finding, "first"));
}

/* The call that allocated it if that is known: each launch may allocate memory of its own. */
static bool put_allocation(FILE *out, const json_t *finding)
{
    const char *cause = tool_text_of(finding, "cause");
    const json_t *allocation = json_object_get(json_object_get(finding, "memory"), "allocation");
    const char *origin = tool_text_of(allocation, "origin");
    if (!cause || strcmp(cause, "allocation") != 0 || !json_is_object(allocation))
        return false;
    fprintf(out, "\n%s\n%s", tool_text_of(allocation, "name"),
            origin ? origin : tool_text_of(allocation, "address"));
    return true;
}

/* Bytes of LDS or private memory that nobody wrote, in workgroups or lanes of one kernel. */
static bool put_bytes(FILE *out, const json_t *finding)
{
    const char *class = tool_text_of(finding, "class");
    const json_t *memory = json_object_get(finding, "memory");
    const json_t *allocation = json_object_get(memory, "allocation");
    if (!class || strcmp(class, "uninit") != 0 || !json_is_object(memory))
        return false;
    fputc('\n', out);
    put_family(out, finding);
    fprintf(out, "\n%s\n%s\n%s", tool_text_of(memory, "space"), tool_text_of(memory, "address"),
            json_is_object(allocation) ? tool_text_of(allocation, "name") : "");
    return true;
}

/* The caller frees it. */
static char *cause_of(const json_t *finding, bool (*put)(FILE *out, const json_t *finding))
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fputs(tool_text_of(finding, "rule"), out);
    const bool known = put(out, finding);
    if (!fclose(out) && known)
        return text;
    free(text);
    return NULL;
}

/* ---- groups ---- */

/* The first finding of the group that `index` belongs to, by links to earlier findings. */
static size_t first_of(size_t *link, size_t index)
{
    while (link[index] != index)
        index = link[index] = link[link[index]];
    return index;
}

/* Joins the finding with those that have the same cause. causes: their texts, and a finding of each. */
static void join(json_t *causes, const char *cause, size_t *link, size_t index)
{
    const json_t *known = json_object_get(causes, cause);
    if (!known) {
        json_object_set_new(causes, cause, json_integer((json_int_t)index));
        return;
    }
    const size_t a = first_of(link, (size_t)json_integer_value(known)), b = first_of(link, index);
    link[a < b ? b : a] = a < b ? a : b;
}

void tool_check_set_groups(json_t *findings)
{
    static bool (*const puts[])(FILE *, const json_t *) = {put_lines, put_allocation, put_bytes,
                                                           put_own_access, put_first_access};
    const size_t count = json_array_size(findings);
    size_t *link = calloc(count + 1, sizeof *link);
    json_t *causes = json_object();
    for (size_t i = 0; i < count && link; i++) {
        link[i] = i;
        for (size_t p = 0; p < sizeof puts / sizeof *puts; p++) {
            char *cause = cause_of(json_array_get(findings, i), puts[p]);
            if (cause)
                join(causes, cause, link, i);
            free(cause);
        }
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *first = json_array_get(findings, link ? first_of(link, i) : i);
        json_object_set(json_array_get(findings, i), "group", json_object_get(first, "key"));
    }
    json_decref(causes);
    free(link);
}

json_t *tool_check_groups(const json_t *findings)
{
    json_t *groups = json_array(), *numbers = json_object(), *one; /* numbers: of groups, by name */
    size_t i;
    json_array_foreach(findings, i, one)
    {
        const char *name = tool_text_of(one, "group");
        if (!json_object_get(numbers, name)) {
            json_object_set_new(numbers, name, json_integer((json_int_t)json_array_size(groups)));
            json_array_append_new(groups, json_array());
        }
        json_array_append(json_array_get(groups, (size_t)tool_number_of(numbers, name)), one);
    }
    json_decref(numbers);
    return groups;
}
