/* SPDX-License-Identifier: MIT */
/* Files of suppressions: a line for each, RULE KERNEL [PLACE]. */
#include "tool/check/show.h"

#include "tool/input.h"
#include "tool/output.h"
#include "tool/text.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PLACE = 4200 };

/* Cuts the next word off; NULL: there is none. */
static char *next_word(char **rest)
{
    char *word = *rest + strspn(*rest, " \t\r");
    if (!*word)
        return NULL;
    *rest = word + strcspn(word, " \t\r");
    if (**rest)
        *(*rest)++ = 0;
    return word;
}

/* Removes the blanks at the end of a text. */
static void trim(char *text)
{
    size_t length = strlen(text);
    while (length && strchr(" \t\r", text[length - 1]))
        text[--length] = 0;
}

static int read_line(struct tool_check_request *request, const char *text, unsigned number)
{
    char *line = strdup(text);
    struct tool_suppression *all =
        realloc(request->suppression, (request->suppression_count + 1) * sizeof *all);
    if (all)
        request->suppression = all;
    if (!line || !all) {
        free(line);
        return tool_fail("--suppressions: out of memory");
    }
    char *comment = *line == '#' ? line : strstr(line, " #");
    if (comment)
        *comment = 0;
    char *rest = line, *rule = next_word(&rest), *kernel = rule ? next_word(&rest) : NULL;
    if (!rule) {
        free(line);
        return TOOL_CLEAN;
    }
    if (!kernel) {
        free(line);
        return tool_fail("--suppressions %s:%u: expected RULE KERNEL [PLACE]", request->suppressions, number);
    }
    memmove(line, rule, strlen(rule) + 1); /* the start of what is to be freed */
    rest += strspn(rest, " \t");
    trim(rest);
    all[request->suppression_count++] = (struct tool_suppression){
        .rule = line, .kernel = kernel, .place = *rest ? rest : NULL, .line = number};
    return TOOL_CLEAN;
}

/* Whether the place is a key, which has no patterns: "a76bea1afd4ba2aa:1". */
static bool is_key(const char *place)
{
    enum { HASH = 16 };
    return place && strspn(place, "0123456789abcdef") == HASH && place[HASH] == ':' && place[HASH + 1] &&
           place[HASH + 1 + strspn(place + HASH + 1, "0123456789")] == 0;
}

/* Links those with the same key in the order of the file, and all others. */
static int link_suppressions(struct tool_check_request *request)
{
    request->keyed = json_object();
    request->unkeyed = SIZE_MAX;
    for (size_t i = request->suppression_count; i-- > 0;) {
        struct tool_suppression *one = &request->suppression[i];
        const json_t *next = is_key(one->place) ? json_object_get(request->keyed, one->place) : NULL;
        one->next = !is_key(one->place) ? request->unkeyed
                    : next              ? (size_t)json_integer_value(next)
                                        : SIZE_MAX;
        if (!is_key(one->place))
            request->unkeyed = i;
        else if (json_object_set_new(request->keyed, one->place, json_integer((json_int_t)i)))
            return tool_fail("--suppressions: out of memory");
    }
    return TOOL_CLEAN;
}

int tool_read_suppressions(struct tool_check_request *request)
{
    struct wm_diag diag;
    uint8_t *bytes;
    size_t size;
    if (!tool_read_file(request->suppressions, &bytes, &size, &diag))
        return tool_fail("--suppressions %s", diag.message);
    char *text = realloc(bytes, size + 1);
    if (!text) {
        free(bytes);
        return tool_fail("--suppressions: out of memory");
    }
    text[size] = 0;
    int code = strlen(text) == size ? TOOL_CLEAN
                                    : tool_fail("--suppressions %s: not a text file", request->suppressions);
    unsigned number = 1;
    for (char *line = text, *next; line && !code; line = next, number++) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        code = read_line(request, line, number);
    }
    free(text);
    return code ? code : link_suppressions(request);
}

/* Whether the pattern matches the path, or its last parts. */
static bool matches_path(const char *pattern, const char *path)
{
    for (const char *part = path; part; part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL)
        if (!fnmatch(pattern, part, 0))
            return true;
    return false;
}

static bool matches_line(const char *pattern, const json_t *at)
{
    const char *file = tool_text_of(at, "file");
    char place[PLACE];
    if (!file)
        return false;
    snprintf(place, sizeof place, "%s:%" PRId64, file, (int64_t)tool_number_of(at, "line"));
    return matches_path(pattern, place);
}

/* Its key, its offset, its file, its line, or a line that calls an inlined function which it belongs to. */
static bool matches_place(const char *pattern, const json_t *finding)
{
    const char *file = tool_text_of(finding, "file");
    char place[PLACE];
    snprintf(place, sizeof place, "+0x%" PRIx64, (uint64_t)tool_number_of(finding, "offset"));
    if (!fnmatch(pattern, place, 0) || !fnmatch(pattern, tool_text_of(finding, "key"), 0))
        return true;
    size_t i;
    json_t *call;
    json_array_foreach(json_object_get(finding, "inlined"), i,
                       call) if (matches_line(pattern, call)) return true;
    return matches_line(pattern, finding) || (file && matches_path(pattern, file));
}

static bool matches(const struct tool_suppression *one, const char *rule, const char *kernel,
                    const json_t *finding)
{
    char name[512];
    return !fnmatch(one->rule, rule, 0) &&
           (!fnmatch(one->kernel, kernel, 0) ||
            !fnmatch(one->kernel, wm_source_name(kernel, name, sizeof name), 0)) &&
           (!one->place || matches_place(one->place, finding));
}

bool tool_is_suppressed(struct tool_check_request *request, const json_t *finding)
{
    const char *rule = tool_text_of(finding, "rule"), *kernel = tool_text_of(finding, "kernel");
    const json_t *keyed = json_object_get(request->keyed, tool_text_of(finding, "key"));
    const size_t lists[] = {keyed ? (size_t)json_integer_value(keyed) : SIZE_MAX, request->unkeyed};
    for (size_t l = 0; request->keyed && rule && kernel && l < 2; l++)
        for (size_t i = lists[l]; i != SIZE_MAX; i = request->suppression[i].next)
            if (matches(&request->suppression[i], rule, kernel, finding)) {
                request->suppression[i].used = true;
                return true;
            }
    return false;
}

/* Characters that patterns give a meaning get a backslash; blanks and control characters match any one. */
static void put_pattern(FILE *file, const char *text)
{
    for (const char *c = text; *c; c++) {
        if (strchr("*?[]\\", *c))
            fputc('\\', file);
        fputc((unsigned char)*c <= ' ' ? '?' : *c, file);
    }
}

int tool_write_suppressions(const char *path, const json_t *findings)
{
    struct tool_file file;
    size_t i;
    json_t *one;
    if (!tool_begin_file(&file, "--write-suppressions", path))
        return TOOL_WRONG;
    FILE *out = file.whole.stream;
    fputs("# RULE KERNEL PLACE # why it may stay\n", out);
    json_array_foreach(findings, i, one)
    {
        const char *kernel = tool_text_of(one, "kernel");
        char place[TOOL_CHECK_PLACE];
        fprintf(out, "%s ", tool_text_of(one, "rule"));
        if (*kernel)
            put_pattern(out, kernel);
        else
            fputc('*', out); /* raw instructions, or an allocation */
        tool_print(out, " %s # %s: %s\n", tool_text_of(one, "key"), tool_check_where(one, place),
                   tool_text_of(one, "message"));
    }
    return tool_end_file(&file);
}
