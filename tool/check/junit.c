/* SPDX-License-Identifier: MIT */
/* Findings as JUnit XML, in the form of Jenkins' junit-10.xsd: a test case for each kernel and class. */
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

static bool belongs(const json_t *finding, const char *kernel, const char *class)
{
    const char *its = tool_text_of(finding, "kernel");
    return its && !strcmp(its, kernel) && !strcmp(tool_text_of(finding, "class"), class);
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

/* Returns the errors of the test case; with `file`, writes it. */
static size_t put_case(FILE *file, const json_t *findings, const char *kernel, const char *class)
{
    const json_t *first = NULL;
    size_t errors = 0, i;
    json_t *one;
    json_array_foreach(findings, i, one) if (belongs(one, kernel, class) && tool_is_error(one) && !errors++)
        first = one;
    if (!file)
        return errors;
    fputs("    <testcase classname=\"", file);
    put(file, kernel);
    fprintf(file, "\" name=\"%s\"", class);
    if (!errors) {
        fputs("/>\n", file);
        return 0;
    }
    fputs(">\n      <failure type=\"", file);
    put(file, tool_text_of(first, "rule"));
    fputs("\" message=\"", file);
    put(file, tool_text_of(first, "message"));
    fputs("\">", file);
    json_array_foreach(findings, i, one) if (belongs(one, kernel, class)) put_finding(file, one);
    fputs("</failure>\n    </testcase>\n", file);
    return errors;
}

static bool has(const json_t *names, const char *name)
{
    size_t i;
    json_t *one;
    json_array_foreach(names, i, one) if (!strcmp(json_string_value(one), name)) return true;
    return false;
}

/* All kernels that ran, and other symbols with findings, such as functions. */
static json_t *kernels_of(const struct tool_check_report *report)
{
    const json_t *const lists[] = {report->coverage, report->findings};
    json_t *names = json_array();
    for (size_t l = 0; l < 2; l++) {
        size_t i;
        json_t *one;
        json_array_foreach(lists[l], i, one) if (!has(names, tool_text_of(one, "kernel")))
            json_array_append(names, json_object_get(one, "kernel"));
    }
    return names;
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
    json_t *kernels = kernels_of(report);
    size_t tests = json_array_size(report->incomplete), failures = 0;
    if (!tool_begin_file(&file, "--junit", path)) {
        json_decref(kernels);
        return TOOL_WRONG;
    }
    FILE *out = file.whole.stream;
    for (int writes = 0; writes < 2; writes++) {
        size_t i;
        json_t *kernel;
        if (writes) {
            fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n", out);
            fprintf(out,
                    "  <testsuite name=\"wavemem check\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
                    "skipped=\"0\" time=\"0\">\n",
                    tests, failures, json_array_size(report->incomplete));
        }
        json_array_foreach(kernels, i, kernel) for (unsigned bit = 1; bit && bit <= report->request->classes;
                                                    bit <<= 1)
        {
            const char *class = wm_check_class_name((enum wm_check_what)bit);
            if (!(report->request->classes & bit) || !*class)
                continue;
            const size_t errors =
                put_case(writes ? out : NULL, report->findings, json_string_value(kernel), class);
            tests += !writes;
            failures += !writes && errors;
        }
    }
    put_incomplete(out, report->incomplete);
    fputs("  </testsuite>\n</testsuites>\n", out);
    json_decref(kernels);
    return tool_end_file(&file);
}
