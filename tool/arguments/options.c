/* SPDX-License-Identifier: MIT */
/* Messages, options and plain numbers, for every verb of the command. */
#include "tool/text.h"
#include "tool/tool.h"
#include "wavemem/wavemem.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tool_worse(int one, int other)
{
    static const int rank[] = {
        [TOOL_INCOMPLETE] = 1, [TOOL_FINDINGS] = 2, [TOOL_WRONG] = 3, [TOOL_FAULT] = 4, [TOOL_STOPPED] = 5};
    return rank[one] > rank[other] ? one : other;
}

int tool_fail(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    tool_print_label(stderr, TOOL_RED, "wavemem");
    tool_print_list(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    return TOOL_WRONG;
}

bool tool_check_target(const char *where, const char *text)
{
    const struct wm_gpu *gpu;
    struct wm_diag diag;
    uint64_t number;
    if (wm_target_known(text) || tool_parse_u64(text, &number))
        return true;
    if (wm_gpu_find(text, &gpu, &diag) == WM_OK) {
        tool_fail("%s-m %s: this is a product (--gpu); its target is -m %.*s", where, text,
                  (int)strcspn(gpu->targets, " ,"), gpu->targets);
        return false;
    }
    tool_fail(
        "%s-m %s: not a target that wavemem knows; expected one like gfx900 or gfx90a:xnack+, or the number "
        "of a bundle's entry",
        where, text);
    return false;
}

/* Edit distance of short words: letters inserted, deleted or replaced. */
static unsigned edits(const char *a, const char *b)
{
    enum { LONGEST = 32 };
    unsigned row[LONGEST + 1];
    const size_t length = strlen(b);
    if (strlen(a) > LONGEST || length > LONGEST)
        return LONGEST;
    for (size_t i = 0; i <= length; i++)
        row[i] = (unsigned)i;
    for (size_t j = 1; a[j - 1]; j++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)j;
        for (size_t i = 1; i <= length; i++) {
            const unsigned replaced = diagonal + (a[j - 1] != b[i - 1]);
            diagonal = row[i];
            const unsigned shifted = (row[i - 1] < row[i] ? row[i - 1] : row[i]) + 1;
            row[i] = replaced < shifted ? replaced : shifted;
        }
    }
    return row[length];
}

const char *tool_nearest(const char *word, const void *names, size_t count, size_t stride)
{
    const char *nearest = NULL;
    unsigned best = ((unsigned)strlen(word) + 1) / 2 + 1; /* every second letter may be wrong */
    if (best > 4)
        best = 4;
    for (size_t i = 0; i < count; i++) {
        const char *name = *(const char *const *)(const void *)((const char *)names + i * stride);
        const unsigned distance = edits(word, name);
        const bool prefix = strlen(word) >= 2 && strncmp(word, name, strlen(word)) == 0;
        if (prefix && best > 1) {
            nearest = name;
            best = 1;
        } else if (distance < best && distance < strlen(name)) {
            nearest = name;
            best = distance;
        }
    }
    return nearest;
}

static const char *prefix(const struct tool_words *words)
{
    return words->where ? words->where : "";
}

/* What users of HIP and OpenCL call options that have another name here. */
static const struct {
    const char *word, *option;
} synonyms[] = {
    {"block", "workgroup"}, {"block-size", "workgroup"},
    {"local", "workgroup"}, {"local-size", "workgroup"},
    {"global", "grid"},     {"global-size", "grid"},
    {"arch", "target"},     {"offload-arch", "target"},
    {"mcpu", "target"},     {"args", "arg"},
    {"input", "arg"},       {"output", "out"},
};

static int unknown(const struct tool_words *words, const char *word, const char *name)
{
    size_t count = 0;
    for (const struct tool_absent *a = words->absent; a && a->name; a++)
        if (!strcmp(a->name, name)) {
            tool_fail("%s: not with '%s': %s", word, words->verb, a->instead);
            return TOOL_OPTION_WRONG;
        }
    for (; words->options[count].name; count++)
        for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
            if (!strcmp(synonyms[i].word, name) && !strcmp(synonyms[i].option, words->options[count].name) &&
                words->options[count].letter) {
                tool_fail("%sunknown option '%s'; did you mean -%c (--%s)? ('wavemem %s --help' lists all)",
                          prefix(words), word, words->options[count].letter, synonyms[i].option, words->verb);
                return TOOL_OPTION_WRONG;
            }
    const char *nearest = tool_nearest(name, &words->options[0].name, count, sizeof(words->options[0]));
    if (nearest)
        tool_fail("%sunknown option '%s'; did you mean --%s? ('wavemem %s --help' lists all)", prefix(words),
                  word, nearest, words->verb);
    else
        tool_fail("%sunknown option '%s'; 'wavemem %s --help' lists all", prefix(words), word, words->verb);
    return TOOL_OPTION_WRONG;
}

static void keep(void *at, enum tool_takes takes, const char *value)
{
    if (takes == TOOL_NO_VALUE)
        *(bool *)at = true;
    else
        *(const char **)at = value;
}

/* attached: the value in the same word, or NULL. */
static int found(struct tool_words *words, const struct tool_option *option, const char *word,
                 const char *attached)
{
    words->value = attached;
    if (option->takes == TOOL_NO_VALUE && attached) {
        tool_fail("%s--%s takes no value, '%s' gives one", prefix(words), option->name, word);
        return TOOL_OPTION_WRONG;
    }
    if (option->takes == TOOL_VALUE && !attached) {
        if (words->next == words->count) {
            tool_fail("%s%s needs a value; 'wavemem %s --help' has examples", prefix(words), word,
                      words->verb);
            return TOOL_OPTION_WRONG;
        }
        words->value = words->words[words->next++];
    }
    if (option->id == TOOL_OPTION_KEPT)
        keep((char *)words->request + option->kept, option->takes, words->value);
    if (option->id == TOOL_OPTION_LISTED) {
        struct tool_kept_list *list = (void *)((char *)words->request + option->kept);
        if (list->count == TOOL_KEPT_MOST) {
            tool_fail("%s%s: it may be given %d times", prefix(words), word, TOOL_KEPT_MOST);
            return TOOL_OPTION_WRONG;
        }
        list->kept[list->count++] = (struct tool_kept){option->letter, words->value};
    }
    return option->id;
}

static int next_option(struct tool_words *words)
{
    words->value = NULL;
    if (words->next == words->count)
        return TOOL_OPTION_END;
    const char *word = words->words[words->next++];
    if (words->operands_only || word[0] != '-' || word[1] == 0) {
        words->value = word;
        return TOOL_OPTION_OPERAND;
    }
    if (strcmp(word, "--") == 0) {
        words->operands_only = true;
        return next_option(words);
    }
    if (word[1] != '-') {
        for (const struct tool_option *o = words->options; o->name; o++)
            if (o->letter == word[1])
                return found(words, o, word, word[2] ? word + 2 : NULL);
        return unknown(words, word, word + 1);
    }
    const char *name = word + 2;
    const size_t length = strcspn(name, "=");
    for (const struct tool_option *o = words->options; o->name; o++)
        if (strlen(o->name) == length && strncmp(o->name, name, length) == 0)
            return found(words, o, word, name[length] ? name + length + 1 : NULL);
    char bare[64];
    snprintf(bare, sizeof(bare), "%.*s", (int)length, name);
    return unknown(words, word, bare);
}

int tool_next_option(struct tool_words *words)
{
    int id;
    do
        id = next_option(words);
    while (id == TOOL_OPTION_KEPT || id == TOOL_OPTION_LISTED);
    return id;
}

int tool_cut_line(char *line, char **words, int most)
{
    int count = 0;
    char *out = line;
    while (*line) {
        while (*line == ' ' || *line == '\t' || *line == '\r')
            line++;
        if (*line == 0 || *line == '#' || count == most)
            break;
        if (out < line)
            out = line;
        words[count++] = out;
        char quote = 0;
        for (; *line && (quote || !strchr(" \t\r", *line)); line++) {
            if (quote ? *line == quote : *line == '\'' || *line == '"')
                quote = quote ? 0 : *line;
            else
                *out++ = *line;
        }
        if (quote)
            return -1;
        if (*line)
            line++;
        *out++ = 0;
    }
    return count;
}

int tool_parse_apertures(const char *where, const char *text, uint64_t *shared_base, uint64_t *private_base)
{
    const char *comma = strchr(text, ',');
    char first[32];
    const size_t length = comma ? (size_t)(comma - text) : sizeof first;
    if (length < sizeof first) {
        memcpy(first, text, length);
        first[length] = '\0';
    }
    return length < sizeof first && tool_parse_u64(first, shared_base) &&
                   tool_parse_u64(comma + 1, private_base)
               ? TOOL_CLEAN
               : tool_fail("%s--apertures %s: expected two addresses, SHARED_BASE,PRIVATE_BASE", where, text);
}

bool tool_parse_real(const char *text, double *number)
{
    char *end;
    if ((text[0] < '0' || text[0] > '9') && text[0] != '.')
        return false;
    *number = strtod(text, &end);
    return *end == 0 && isfinite(*number) && *number >= 0;
}

unsigned tool_parse_triple(const char *text, uint64_t triple[3])
{
    for (unsigned i = 0; i < 3; i++) {
        const size_t length = strcspn(text, ",");
        char one[64];
        if (length >= sizeof(one))
            return 0;
        memcpy(one, text, length);
        one[length] = 0;
        if (!tool_parse_size(one, &triple[i]))
            return 0;
        text += length;
        if (*text == 0)
            return i + 1;
        text++;
    }
    return 0; /* more than three */
}

unsigned tool_parse_extent(const char *text, uint32_t extent[3])
{
    uint64_t triple[3];
    const unsigned count = tool_parse_triple(text, triple);
    for (unsigned i = 0; i < 3; i++) {
        if (i < count && (triple[i] == 0 || triple[i] > UINT32_MAX))
            return 0;
        extent[i] = i < count ? (uint32_t)triple[i] : 1;
    }
    return count;
}
