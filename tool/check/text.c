/* SPDX-License-Identifier: MIT */
/* The report of a check as text. */
#include "tool/check/show.h"

#include "tool/report/report.h"
#include "tool/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t hex_of(const json_t *object, const char *key)
{
    const char *text = tool_text_of(object, key);
    return text ? strtoull(text, NULL, 16) : 0;
}

const char *tool_check_place(const json_t *finding, char text[TOOL_CHECK_PLACE])
{
    const char *kernel = tool_text_of(finding, "kernel");
    char name[TOOL_NAME];
    snprintf(text, TOOL_CHECK_PLACE, "%s+0x%" PRIx64, tool_name(kernel ? kernel : "", name),
             (uint64_t)tool_number_of(finding, "offset"));
    return text;
}

const char *tool_check_file_of(const json_t *finding)
{
    const char *file = tool_text_of(finding, "file");
    char here[4096];
    if (!file || !getcwd(here, sizeof here))
        return file;
    const size_t length = strlen(here);
    return !strncmp(file, here, length) && file[length] == '/' ? file + length + 1 : file;
}

const char *tool_check_where(const json_t *finding, char text[TOOL_CHECK_PLACE])
{
    const char *file = tool_check_file_of(finding);
    if (!file)
        return tool_check_place(finding, text);
    snprintf(text, TOOL_CHECK_PLACE, "%.500s:%" PRId64, file, (int64_t)tool_number_of(finding, "line"));
    return text;
}

/* An instruction: "  at   kernel+0x28   v_add_u32 ...   a.cl:12". */
static void print_place(FILE *file, const char *label, const json_t *at)
{
    char place[TOOL_CHECK_PLACE];
    if (!*tool_text_of(at, "instruction"))
        return; /* it is about an allocation */
    tool_print(file, "  %-4s %s   %s", label, tool_check_place(at, place), tool_text_of(at, "instruction"));
    if (tool_text_of(at, "file"))
        tool_print(file, "   %s:%" PRId64, tool_check_file_of(at), (int64_t)tool_number_of(at, "line"));
    fputc('\n', file);
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(at, "inlined"), i, one)
    {
        tool_print(file, "       in   %s, inlined", tool_text_of(one, "function"));
        if (tool_text_of(one, "file"))
            tool_print(file, " at %s:%" PRId64, tool_check_file_of(one),
                       (int64_t)tool_number_of(one, "line"));
        fputc('\n', file);
    }
}

static void print_who(FILE *file, const json_t *finding)
{
    const json_t *group = json_object_get(finding, "workgroup");
    const uint64_t lanes = hex_of(finding, "lanes");
    const int64_t executions = tool_number_of(finding, "executions");
    char list[256];
    if (tool_text_of(finding, "call"))
        tool_print(file, "  by   %s; %" PRId64 " time%s in all\n", tool_text_of(finding, "call"), executions,
                   executions == 1 ? "" : "s");
    if (!*tool_text_of(finding, "instruction"))
        return;
    fputs("  by   ", file);
    if (json_is_array(group))
        fprintf(
            file,
            "workgroup (%" PRId64 ",%" PRId64 ",%" PRId64 ") wave %" PRId64 "%s%s of launch %" PRId64 "; ",
            (int64_t)json_integer_value(json_array_get(group, 0)),
            (int64_t)json_integer_value(json_array_get(group, 1)),
            (int64_t)json_integer_value(json_array_get(group, 2)), (int64_t)tool_number_of(finding, "wave"),
            !lanes                ? ""
            : lanes & (lanes - 1) ? ", lanes "
                                  : ", lane ",
            lanes ? tool_lane_list(lanes, list) : "", (int64_t)tool_number_of(finding, "launch"));
    else
        fprintf(file, "launch %" PRId64 "; ", (int64_t)tool_number_of(finding, "launch"));
    fprintf(file, "%" PRId64 " execution%s in all\n", executions, executions == 1 ? "" : "s");
}

static void print_memory(FILE *file, const json_t *memory)
{
    const json_t *allocation = json_object_get(memory, "allocation");
    const uint64_t address = hex_of(memory, "address");
    const int64_t bytes = tool_number_of(memory, "bytes");
    if (!json_is_object(memory))
        return;
    tool_print(file, "  to   0x%" PRIx64 ", %" PRId64 " byte%s, %s", address, bytes, bytes == 1 ? "" : "s",
               tool_text_of(memory, "space"));
    if (json_is_object(allocation)) {
        const uint64_t low = hex_of(allocation, "address");
        const uint64_t size = (uint64_t)tool_number_of(allocation, "bytes");
        tool_print(file, "; '%s' is %" PRIu64 " bytes from 0x%" PRIx64 " on",
                   tool_text_of(allocation, "name"), size, low);
        if (address < low)
            fprintf(file, ", %" PRIu64 " bytes behind it", low - address);
        else if (address - low >= size)
            fprintf(file, ", which end %" PRIu64 " bytes before it", address - low - size);
        else
            fprintf(file, ", this is byte %" PRIu64, address - low);
        if (tool_text_of(allocation, "origin"))
            tool_print(file, "; allocated by %s", tool_text_of(allocation, "origin"));
    }
    if (tool_text_of(memory, "object"))
        tool_print(file, "; %s", tool_text_of(memory, "object"));
    fputc('\n', file);
}

void tool_check_print(FILE *file, const json_t *finding)
{
    const json_t *first = json_object_get(finding, "first");
    const char *source = tool_text_of(finding, "source"), *remedy = tool_text_of(finding, "remedy");
    tool_print_label(file, tool_is_error(finding) ? TOOL_RED : TOOL_YELLOW,
                     tool_is_error(finding) ? "error" : "note");
    tool_print(file, "%s\n", tool_text_of(finding, "message"));
    print_place(file, "at", finding);
    if (json_is_object(first))
        print_place(file, "and", first);
    print_who(file, finding);
    print_memory(file, json_object_get(finding, "memory"));
    tool_print(file, "  rule %s (%s)%s%s\n", tool_text_of(finding, "rule"), tool_text_of(finding, "class"),
               source ? ": " : "", source ? source : "");
    if (remedy)
        tool_print(file, "  fix  %s\n", remedy);
}

/* ---- the summary ---- */

static int64_t sum_of(const json_t *rows, const char *key)
{
    int64_t sum = 0;
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row) sum += tool_number_of(row, key);
    return sum;
}

static void print_classes(FILE *file, unsigned classes)
{
    bool any = false;
    fputs("checked    ", file);
    for (unsigned bit = 1; bit && bit <= classes; bit <<= 1)
        if (classes & bit && *wm_check_class_name((enum wm_check_what)bit)) {
            fprintf(file, "%s%s", any ? ", " : "", wm_check_class_name((enum wm_check_what)bit));
            any = true;
        }
    fputc('\n', file);
}

static void print_accesses(FILE *file, const json_t *rows)
{
    static const char *const spaces[][2] = {{"global", "global"},   {"flat", "FLAT"}, {"lds", "LDS"},
                                            {"scratch", "scratch"}, {"gds", "GDS"},   {"scalar", "scalar"}};
    bool any = false, counted = json_array_size(rows) != 0;
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row) counted &= json_is_object(json_object_get(row, "accesses"));
    if (!counted)
        return;
    fputs("accesses   ", file);
    for (size_t s = 0; s < sizeof spaces / sizeof *spaces; s++) {
        int64_t sum = 0;
        json_array_foreach(rows, i, row) sum +=
            tool_number_of(json_object_get(row, "accesses"), spaces[s][0]);
        if (sum)
            fprintf(file, "%s%" PRId64 " %s", any ? ", " : "", sum, spaces[s][1]);
        any |= sum != 0;
    }
    fputs(any ? "\n" : "none\n", file);
}

/* Kernels that did not run: the first ones, and how many. */
static void print_unchecked(FILE *file, const json_t *kernels)
{
    enum { NAMED = 3 };
    const size_t count = json_array_size(kernels);
    char name[TOOL_NAME];
    size_t i;
    json_t *one;
    if (!count)
        return;
    fprintf(file, "unchecked  %zu kernel%s that did not run: ", count, count == 1 ? "" : "s");
    json_array_foreach(kernels, i, one) if (i < NAMED)
        tool_print(file, "%s%s", i ? ", " : "", tool_name(json_string_value(one), name));
    fputs(count > NAMED ? ", ...\n" : "\n", file);
}

/* What was not checked: instructions that no wave reached, kernels that did not run. */
static void print_gaps(FILE *file, const struct tool_check_report *report)
{
    char name[TOOL_NAME];
    size_t i;
    json_t *one;
    json_array_foreach(report->coverage, i, one)
    {
        const int64_t code = tool_number_of(one, "code"), executed = tool_number_of(one, "executed_code");
        if (executed < code)
            tool_print(file,
                       "unchecked  %" PRId64 " of %" PRId64 " instructions of %s, which no wave reached\n",
                       code - executed, code, tool_name(tool_text_of(one, "kernel"), name));
    }
    print_unchecked(file, report->unchecked);
    json_array_foreach(report->incomplete, i, one)
        tool_print(file, "unchecked  %s: %s\n", tool_text_of(one, "what"), tool_text_of(one, "why"));
}

static void print_found(FILE *file, const struct tool_check_report *report)
{
    const size_t all = json_array_size(report->findings), hidden = json_array_size(report->suppressed);
    size_t errors = 0, i;
    json_t *one;
    json_array_foreach(report->findings, i, one) errors += tool_is_error(one);
    const size_t causes = json_array_size(report->groups);
    fprintf(file, "found      %zu error%s", errors, errors == 1 ? "" : "s");
    if (all > errors)
        fprintf(file, ", %zu note%s", all - errors, all - errors == 1 ? "" : "s");
    if (causes < all)
        fprintf(file, " (%zu cause%s)", causes, causes == 1 ? "" : "s");
    if (hidden)
        fprintf(file, ", %zu suppressed", hidden);
    if (report->known)
        fprintf(file, ", %zu in the baseline", report->known);
    fputc('\n', file);
}

/* What the methods cannot see, unless there is something else to care about first. */
static void print_limits(FILE *file, const struct tool_check_report *report)
{
    const char *label = "misses";
    size_t i;
    json_t *one;
    json_array_foreach(report->findings, i, one) if (tool_is_error(one)) return;
    if (json_array_size(report->incomplete))
        return;
    for (unsigned bit = 1; bit && bit <= report->request->classes; bit <<= 1) {
        const enum wm_check_what class = (enum wm_check_what)bit;
        if (!(report->request->classes & bit) || !*wm_check_class_name(class))
            continue;
        fprintf(file, "%-10s %-7s %s\n", label, wm_check_class_name(class), wm_check_class_limits(class));
        label = "";
    }
}

/* ---- findings with the same cause ---- */

enum { LISTED = 6 /* kernels or places of other findings */ };

static const char *kernel_of(const json_t *finding, char text[TOOL_CHECK_PLACE])
{
    char name[TOOL_NAME];
    snprintf(text, TOOL_CHECK_PLACE, "%s", tool_name(tool_text_of(finding, "kernel"), name));
    return text;
}

/* Prints what `name` says of the findings of a group, each once, but not what it says of the first. */
static void print_different(FILE *file, const char *label, const json_t *group,
                            const char *(*name)(const json_t *finding, char text[TOOL_CHECK_PLACE]))
{
    char text[TOOL_CHECK_PLACE];
    json_t *seen = json_object(), *one;
    size_t i, different = 0;
    json_array_foreach(group, i, one)
    {
        if (json_object_get(seen, name(one, text)))
            continue;
        json_object_set_new(seen, text, json_true());
        if (i && different++ < LISTED)
            tool_print(file, "%s%s", different > 1 ? ", " : label, text);
    }
    if (different > LISTED)
        fprintf(file, " and %zu more", different - LISTED);
    if (different)
        fputc('\n', file);
    json_decref(seen);
}

/* Prints the first finding of a group, and where the others are. */
static void print_group(FILE *file, const json_t *group)
{
    const size_t more = json_array_size(group) - 1;
    tool_check_print(file, json_array_get(group, 0));
    if (!more)
        return;
    fprintf(file, "  also %zu more finding%s of this rule with the same cause: --all\n", more,
            more == 1 ? "" : "s");
    print_different(file, "       at   ", group, tool_check_where);
    print_different(file, "       in   ", group, kernel_of);
}

/* Prints the findings: all, or one of each group. */
static void print_findings(FILE *file, const struct tool_check_report *report)
{
    size_t i, left = 0;
    json_t *one;
    if (report->request->all) {
        json_array_foreach(report->findings, i, one) tool_check_print(file, one);
        return;
    }
    json_array_foreach(report->groups, i, one)
    {
        if (i < TOOL_CHECK_SHOWN)
            print_group(file, one);
        else
            left += json_array_size(one);
    }
    if (left)
        fprintf(file, "and %zu more findings: --all\n", left);
}

void tool_check_print_all(FILE *file, const struct tool_check_report *report)
{
    const struct tool_check_request *request = report->request;
    const json_t *rows = report->coverage;
    const int64_t launches = sum_of(rows, "launches");
    const size_t kernels = json_array_size(rows);
    print_findings(file, report);
    print_classes(file, request->classes);
    const int64_t workgroups = sum_of(rows, "workgroups"), waves = sum_of(rows, "waves");
    fprintf(file,
            "ran        %zu kernel%s, %" PRId64 " launch%s, %" PRId64 " workgroup%s, %" PRId64
            " wave%s, %" PRId64 " instructions\n",
            kernels, kernels == 1 ? "" : "s", launches, launches == 1 ? "" : "es", workgroups,
            workgroups == 1 ? "" : "s", waves, waves == 1 ? "" : "s", sum_of(rows, "instructions"));
    print_accesses(file, rows);
    print_gaps(file, report);
    for (size_t i = 0; i < request->suppression_count; i++)
        if (!request->suppression[i].used)
            tool_print(file, "unused     %s:%u: nothing matches '%s %s%s%s'\n", request->suppressions,
                       request->suppression[i].line, request->suppression[i].rule,
                       request->suppression[i].kernel, request->suppression[i].place ? " " : "",
                       request->suppression[i].place ? request->suppression[i].place : "");
    print_limits(file, report);
    print_found(file, report);
}
