/* SPDX-License-Identifier: MIT */
/* Findings as JUnit XML, in the form of Jenkins' junit-10.xsd: a test case that fails for each cause, and one
 * that passes for each kernel and class without errors. */
#include "tool/check/show.h"

#include "tool/output.h"
#include "tool/text.h"

#include <stdlib.h>
#include <string.h>

/* Text in XML 1.0, without the characters that it does not have. */
static void put(FILE *file, const char *text)
{
    char *clean = tool_escaped(text);
    for (const char *c = clean; *c; c++)
        switch (*c) {
        case '&':
            fputs("&amp;", file);
            break;
        case '<':
            fputs("&lt;", file);
            break;
        case '>':
            fputs("&gt;", file);
            break;
        case '"':
            fputs("&quot;", file);
            break;
        default:
            if ((unsigned char)*c >= ' ' || *c == '\n' || *c == '\t')
                fputc(*c, file);
        }
    free(clean);
}

/* The text of a finding, line by line. */
static void put_finding(FILE *file, const json_t *finding)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        return;
    tool_check_print(memory, finding);
    if (!fclose(memory))
        for (char *line = text, *next; *line; line = next) {
            next = line + strcspn(line, "\n");
            if (*next)
                *next++ = 0;
            put(file, line);
            fputc('\n', file);
        }
    free(text);
}

static void put_name(FILE *file, const char *kernel, const char *name)
{
    fputs("    <testcase classname=\"", file);
    put(file, kernel);
    fputs("\" name=\"", file);
    put(file, name);
    fputc('"', file);
}

static bool has_error(const json_t *group)
{
    size_t i;
    json_t *one;
    json_array_foreach(group, i, one) if (tool_is_error(one)) return true;
    return false;
}

/* All findings with one cause. They are named after their rule and key, which later builds of the program
 * keep. */
static void put_group(FILE *file, const json_t *group)
{
    const json_t *first = json_array_get(group, 0);
    const size_t count = json_array_size(group);
    char name[TOOL_CHECK_PLACE];
    size_t i;
    json_t *one;
    snprintf(name, sizeof name, "%s %s", tool_text_of(first, "rule"), tool_text_of(first, "key"));
    put_name(file, tool_text_of(first, "kernel"), name);
    fputs(">\n      <failure type=\"", file);
    put(file, tool_text_of(first, "rule"));
    fputs("\" message=\"", file);
    put(file, tool_text_of(first, "message"));
    if (count > 1)
        fprintf(file, " (%zu findings with the same cause)", count);
    fputs("\">", file);
    json_array_foreach(group, i, one) put_finding(file, one);
    fputs("</failure>\n    </testcase>\n", file);
}

static void set_failed(json_t *failed, const char *kernel, const char *class)
{
    if (!json_object_get(failed, kernel))
        json_object_set_new(failed, kernel, json_object());
    json_object_set_new(json_object_get(failed, kernel), class, json_true());
}

/* Writes a test case for each cause of errors. Returns their number; file NULL: only counts. failed: gets the
 * classes with errors of each kernel. */
static size_t put_failures(FILE *file, const json_t *groups, json_t *failed)
{
    size_t count = 0, i, k;
    json_t *group, *one;
    json_array_foreach(groups, i, group)
    {
        if (!has_error(group))
            continue;
        count++;
        if (file)
            put_group(file, group);
        json_array_foreach(group, k, one) if (tool_is_error(one))
            set_failed(failed, tool_text_of(one, "kernel"), tool_text_of(one, "class"));
    }
    return count;
}

/* Writes a test case for each kernel and class without errors, of all kernels that ran, and of other symbols
 * with findings, such as functions. Returns their number; file NULL: only counts. */
static size_t put_passed(FILE *file, const struct tool_check_report *report, const json_t *failed)
{
    const json_t *const lists[] = {report->coverage, report->findings};
    json_t *seen = json_object(), *one;
    size_t count = 0, i;
    for (size_t l = 0; l < 2; l++)
        json_array_foreach(lists[l], i, one)
        {
            const char *kernel = tool_text_of(one, "kernel");
            if (json_object_get(seen, kernel))
                continue;
            json_object_set_new(seen, kernel, json_true());
            for (unsigned bit = 1; bit && bit <= report->request->classes; bit <<= 1) {
                const char *class = wm_check_class_name((enum wm_check_what)bit);
                if (!(report->request->classes & bit) || !*class ||
                    json_object_get(json_object_get(failed, kernel), class))
                    continue;
                count++;
                if (!file)
                    continue;
                put_name(file, kernel, class);
                fputs("/>\n", file);
            }
        }
    json_decref(seen);
    return count;
}

static void put_incomplete(FILE *file, const json_t *incomplete)
{
    size_t i;
    json_t *one;
    json_array_foreach(incomplete, i, one)
    {
        fputs("    <testcase classname=\"", file);
        put(file, tool_text_of(one, "what"));
        fputs("\" name=\"complete\">\n      <error message=\"", file);
        put(file, tool_text_of(one, "why"));
        fputs("\"/>\n    </testcase>\n", file);
    }
}

int tool_check_write_junit(const struct tool_check_report *report, const char *path)
{
    struct tool_file file;
    if (!tool_begin_file(&file, "--junit", path))
        return TOOL_WRONG;
    FILE *out = file.whole.stream;
    json_t *failed = json_object();
    const size_t failures = put_failures(NULL, report->groups, failed),
                 errors = json_array_size(report->incomplete);
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n", out);
    fprintf(out,
            "  <testsuite name=\"wavemem check\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"0\" "
            "time=\"0\">\n",
            put_passed(NULL, report, failed) + failures + errors, failures, errors);
    put_failures(out, report->groups, failed);
    put_passed(out, report, failed);
    put_incomplete(out, report->incomplete);
    fputs("  </testsuite>\n</testsuites>\n", out);
    json_decref(failed);
    return tool_end_file(&file);
}
