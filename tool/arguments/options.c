/* SPDX-License-Identifier: MIT */
/* The options of every verb. */
#include "tool/tool.h"

#include <stdio.h>
#include <string.h>

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
