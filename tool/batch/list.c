/* SPDX-License-Identifier: MIT */
/* The list of runs: lines of a file, and the matrices in them. */
#include "tool/batch/batch.h"
#include "tool/input.h"
#include "tool/tool.h"

#include <stdlib.h>
#include <string.h>

/* What is expanded: {a,b} stands for a and for b. */
struct choice {
    const char *open, *close; /* the braces; open NULL: the word has none */
};

/* The first braces with a comma between them, without braces inside. */
static struct choice find_choice(const char *word)
{
    for (const char *open = strchr(word, '{'); open; open = strchr(open + 1, '{')) {
        const char *end = open + 1 + strcspn(open + 1, "{}");
        if (*end == '}' && memchr(open, ',', (size_t)(end - open)))
            return (struct choice){open, end};
    }
    return (struct choice){0};
}

static bool add_run(struct batch_list *list, char *const *words, size_t count)
{
    if (list->count == list->capacity) {
        const size_t capacity = list->capacity ? 2 * list->capacity : 64;
        struct batch_run *runs = realloc(list->runs, capacity * sizeof *runs);
        if (!runs)
            return false;
        list->runs = runs;
        list->capacity = capacity;
    }
    struct batch_run *run = &list->runs[list->count++];
    *run = (struct batch_run){.words = calloc(count + 1, sizeof *run->words), .count = count};
    bool good = run->words;
    for (size_t i = 0; good && i < count; i++)
        good = (run->words[i] = strdup(words[i]));
    return good;
}

/* Adds the command, or one for each choice of its first braces, and so on: the last braces change first. */
static int add_choices(struct batch_list *list, char **words, size_t count, const char *where)
{
    struct choice choice = {0};
    size_t at = 0;
    while (at < count && !(choice = find_choice(words[at])).open)
        at++;
    if (at == count && list->count == BATCH_RUNS)
        return tool_fail("%smore than %d runs", where, BATCH_RUNS);
    if (at == count)
        return add_run(list, words, count) ? TOOL_CLEAN : tool_fail("batch: out of memory");
    char *word = words[at];
    int code = TOOL_CLEAN;
    for (const char *from = choice.open + 1, *to; code == TOOL_CLEAN && from <= choice.close; from = to + 1) {
        to = from + strcspn(from, ",}");
        char *made;
        if (asprintf(&made, "%.*s%.*s%s", (int)(choice.open - word), word, (int)(to - from), from,
                     choice.close + 1) < 0)
            return tool_fail("batch: out of memory");
        words[at] = made;
        code = add_choices(list, words, count, where);
        free(made);
    }
    words[at] = word;
    return code;
}

static int add_line(struct batch_list *list, char *line, const char *where)
{
    const int most = (int)(strlen(line) / 2 + 1);
    char **words = malloc((size_t)most * sizeof *words);
    if (!words)
        return tool_fail("batch: out of memory");
    int count = tool_cut_line(line, words, most), first = 0;
    if (count > 0 && !strcmp(words[0], "wavemem"))
        first = 1;
    int code = count < 0 ? tool_fail("%sa quote is not closed", where) : TOOL_CLEAN;
    if (code == TOOL_CLEAN && count > first) {
        if (!strcmp(words[first], "batch"))
            code = tool_fail("%s'batch' in a batch", where);
        else
            code = add_choices(list, words + first, (size_t)(count - first), where);
    }
    free(words);
    return code;
}

int batch_read(struct batch_list *list, const char *path)
{
    struct wm_diag diag;
    uint8_t *bytes;
    size_t size;
    if (!(strcmp(path, "-") ? tool_read_file(path, &bytes, &size, &diag)
                            : tool_read_stdin(&bytes, &size, &diag)))
        return tool_fail("%s", diag.message);
    char *text = realloc(bytes, size + 1);
    if (!text) {
        free(bytes);
        return tool_fail("batch: out of memory");
    }
    text[size] = 0;
    int code = strlen(text) == size ? TOOL_CLEAN : tool_fail("%s: not a text file", path);
    unsigned number = 1;
    for (char *line = text, *next; line && code == TOOL_CLEAN; line = next, number++) {
        char where[300];
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        snprintf(where, sizeof where, "%.200s:%u: ", path, number);
        code = add_line(list, line, where);
    }
    free(text);
    return code || list->count ? code : tool_fail("%s: holds no command", path);
}

void batch_free(struct batch_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        for (size_t word = 0; list->runs[i].words && word < list->runs[i].count; word++)
            free(list->runs[i].words[word]);
        free(list->runs[i].words);
    }
    free(list->runs);
    *list = (struct batch_list){0};
}
