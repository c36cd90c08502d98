/* SPDX-License-Identifier: MIT */
/* The assembler's input by lines: a file, and text inserted by .include, macros and repetitions. */
#include "assembler/parts.h"

#include <ctype.h>
#include <string.h>

enum { EXPANSIONS = 100000, DEPTH = 200 }; /* of macros, repetitions and files */

/* ---- comments ---- */

/* The end of a string: after its closing quote, or the end of the line. */
static size_t string_end(const char *text, size_t size, size_t i)
{
    for (i++; i < size && text[i] != '"' && text[i] != '\n'; i++)
        i += text[i] == '\\' && i + 1 < size && text[i + 1] != '\n';
    return i < size && text[i] == '"' ? i + 1 : i < size ? i : size;
}

static size_t blank_line(char *text, size_t size, size_t i)
{
    for (; i < size && text[i] != '\n'; i++)
        text[i] = ' ';
    return i;
}

static size_t blank_block(char *text, size_t size, size_t i)
{
    for (; i < size && !(text[i] == '*' && i + 1 < size && text[i + 1] == '/'); i++)
        text[i] = text[i] == '\n' ? '\n' : ' ';
    for (unsigned n = 0; n < 2 && i < size; n++)
        text[i++] = ' ';
    return i;
}

static bool begins_line(const char *text, size_t i)
{
    while (i && (text[i - 1] == ' ' || text[i - 1] == '\t'))
        i--;
    return !i || text[i - 1] == '\n';
}

/* Replaces comments by blanks: ; and // to the end of the line, lines that begin with #, and C comments. */
static void blank_comments(char *text, size_t size)
{
    static const char marks[] = {';', '/', '#', '"'};
    enum { MARKS = sizeof marks };
    size_t next[MARKS] = {0}; /* next position of each, or `size` */
    for (size_t i = 0; i < size;) {
        size_t at = size;
        for (unsigned m = 0; m < MARKS; m++) {
            if (next[m] <= i && next[m] < size) {
                const char *found = text[i] == marks[m] ? text + i : memchr(text + i, marks[m], size - i);
                next[m] = found ? (size_t)(found - text) : size;
            }
            at = next[m] < at ? next[m] : at;
        }
        if (at == size)
            return;
        const char second = at + 1 < size ? text[at + 1] : 0;
        if (text[at] == '"')
            i = string_end(text, size, at);
        else if (text[at] == ';' || (text[at] == '/' && second == '/') ||
                 (text[at] == '#' && begins_line(text, at)))
            i = blank_line(text, size, at);
        else if (text[at] == '/' && second == '*')
            i = blank_block(text, size, at);
        else
            i = at + 1;
    }
}

/* ---- lines ---- */

bool wmi_asm_next_line(struct wmi_assembler *a, const char **begin, const char **end)
{
    if (a->gave_up || a->errors > WMI_ASM_ENOUGH) {
        a->source = NULL;
        a->conditions = 0;
    }
    while (a->source && a->source->at >= a->source->end) {
        if (a->conditions > a->source->conditions)
            wmi_asm_error(a, a->place.line, "expected .endif before the end of %s",
                          a->source->name ? "the file" : "the macro");
        a->conditions = a->source->conditions;
        a->source = a->source->outer;
    }
    struct wmi_asm_source *source = a->source;
    if (!source)
        return false;
    const char *newline = memchr(source->at, '\n', (size_t)(source->end - source->at));
    *begin = source->at;
    *end = newline ? newline : source->end;
    source->at = *end + (newline != NULL);
    if (source->name) {
        a->place.number = ++source->line;
        a->place.name = source->name;
    }
    a->place.line = *begin;
    a->place.line_end = *end;
    return true;
}

void wmi_asm_give_up(struct wmi_assembler *a, const char *at, const char *why)
{
    wmi_asm_error(a, at, "%s", why);
    a->gave_up = true;
}

bool wmi_asm_may_expand(struct wmi_assembler *a, const char *at)
{
    unsigned depth = 0;
    for (const struct wmi_asm_source *s = a->source; s; s = s->outer)
        depth++;
    if (depth > DEPTH)
        wmi_asm_give_up(a, at,
                        "macros, repetitions or files are expanded too deep: more than 200 in each other");
    else if (a->expansions >= EXPANSIONS)
        wmi_asm_give_up(a, at, "more than 100000 macros and repetitions are expanded");
    else if (a->expanded >= WMI_ASM_MOST_TEXT)
        wmi_asm_give_up(a, at, "macros, repetitions and files come to more than 128 MiB of text");
    return !a->gave_up;
}

static struct wmi_asm_source *push_source(struct wmi_assembler *a, const char *text, size_t size)
{
    if (!wmi_asm_may_expand(a, a->place.line))
        return NULL;
    a->expansions++;
    a->expanded += size;
    struct wmi_asm_source *source = wmi_asm_allocate(a, 1, sizeof *source);
    *source = (struct wmi_asm_source){
        .outer = a->source, .at = text, .end = text + size, .conditions = a->conditions};
    a->source = source;
    return source;
}

void wmi_asm_push_text(struct wmi_assembler *a, const char *text, size_t size, const char *macro)
{
    struct wmi_asm_source *source = push_source(a, text, size);
    if (source)
        source->macro = macro;
}

static bool may_have_comments(const char *text, size_t size)
{
    return size && (memchr(text, ';', size) || memchr(text, '/', size) || memchr(text, '#', size));
}

void wmi_asm_push_file(struct wmi_assembler *a, const char *name, const char *text, size_t size)
{
    if (may_have_comments(text, size)) {
        char *copy = wmi_asm_text(a, text, size);
        blank_comments(copy, size);
        text = copy;
    }
    struct wmi_asm_source *source = push_source(a, text, size);
    if (source)
        source->name = name;
    a->counts_registers |= wmi_asm_names_counts(text, size);
}

bool wmi_asm_word_is(const char *word, size_t length, const char *name)
{
    return strlen(name) == length && !memcmp(word, name, length);
}
