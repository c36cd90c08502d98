/* SPDX-License-Identifier: MIT */
/* Reads commands, from files and from a terminal, and finds what they name. */
#include "tool/debug/prompt.h"

#include "tool/input.h"
#include "tool/tool.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- commands ---- */

static bool is_alias(const char *aliases, const char *word, size_t length)
{
    for (const char *at = aliases; *at; at += strspn(at, " ")) {
        const size_t size = strcspn(at, " ");
        if (size == length && !strncmp(at, word, length))
            return true;
        at += size;
    }
    return false;
}

static bool begins(const struct debug_command *c, const char *word, size_t length)
{
    return !strncmp(c->name, word, length);
}

const struct debug_command *debug_find_command(const struct debug_command *table, const char *word,
                                               size_t length, const char *kind, struct wm_diag *diag)
{
    const struct debug_command *found = NULL;
    for (const struct debug_command *c = table; c->name; c++) {
        if ((begins(c, word, length) && !c->name[length]) || is_alias(c->aliases, word, length))
            return c;
        if (!begins(c, word, length))
            continue;
        if (found) {
            tool_because(diag, "Ambiguous %s \"%.*s\": %s, %s.", kind, (int)length, word, found->name,
                         c->name);
            return NULL;
        }
        found = c;
    }
    if (!found)
        tool_because(diag, "Undefined %s: \"%.*s\".  Try \"help\".", kind, (int)(length < 60 ? length : 60),
                     word);
    return found;
}

/* All commands: a copy of the tables, one behind the other. */
static const struct debug_command *all_commands(struct debug_command all[96])
{
    size_t count = 0;
    for (const struct debug_command *c = debug_run_commands; c->name; c++)
        all[count++] = *c;
    for (const struct debug_command *c = debug_look_commands; c->name && count < 95; c++)
        all[count++] = *c;
    all[count] = (struct debug_command){NULL, NULL, NULL, NULL};
    return all;
}

bool debug_execute(struct debug_session *s, const char *line, struct wm_diag *diag)
{
    struct debug_command all[96];
    char *copy = strdup(line + strspn(line, " \t"));
    if (!copy)
        return tool_because(diag, "out of memory");
    for (size_t length = strlen(copy); length && isspace((unsigned char)copy[length - 1]);)
        copy[--length] = 0;
    bool good = true;
    if (*copy && *copy != '#') {
        size_t length = 0;
        while (isalpha((unsigned char)copy[length]) || copy[length] == '-')
            length++;
        const struct debug_command *command =
            length ? debug_find_command(all_commands(all), copy, length, "command", diag) : NULL;
        if (!length)
            tool_because(diag, "Undefined command: \"%.60s\".  Try \"help\".", copy);
        good = command && command->run(s, copy + length + strspn(copy + length, " \t"), diag);
    }
    free(copy);
    return good;
}

bool debug_execute_file(struct debug_session *s, const char *path, struct wm_diag *diag)
{
    uint8_t *bytes;
    size_t size;
    if (!tool_read_file(path, &bytes, &size, diag))
        return false;
    char *text = realloc(bytes, size + 1);
    if (!text) {
        free(bytes);
        return tool_because(diag, "out of memory");
    }
    text[size] = 0;
    unsigned number = 1;
    bool good = true;
    for (char *line = text, *next; line && good && !s->quits; line = next, number++) {
        struct wm_diag why;
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        if (s->traces && *line && *line != '#')
            tool_print(s->out, "+%s\n", line);
        good = debug_execute(s, line, &why);
        if (!good)
            tool_because(diag, "%.100s:%u: %s", path, number, why.message);
    }
    free(text);
    return good;
}

void debug_close(struct debug_session *s)
{
    debug_free_stops(s);
    debug_free_texts(s);
    debug_session_end(s);
}

/* ---- the prompt ---- */

/* readline() and add_history() of libedit, where it is installed; it is loaded only for a terminal. */
struct editor {
    char *(*readline)(const char *prompt);
    int (*add_history)(const char *line);
};

static struct editor find_editor(void)
{
    struct editor editor = {NULL, NULL};
    void *library = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) ? dlopen("libedit.so.2", RTLD_NOW) : NULL;
    if (library) {
        void *symbols[] = {dlsym(library, "readline"), dlsym(library, "add_history")};
        memcpy(&editor.readline, &symbols[0], sizeof symbols[0]);
        memcpy(&editor.add_history, &symbols[1], sizeof symbols[1]);
    }
    return editor;
}

/* The next line, which the caller frees; NULL: the end. */
static char *read_line(const struct debug_session *s, const struct editor *editor, bool prompts)
{
    char *line = NULL;
    size_t room = 0;
    fflush(s->out);
    if (editor->readline && editor->add_history) {
        line = editor->readline("(wavemem) ");
        if (line && *line)
            editor->add_history(line);
        return line;
    }
    if (prompts) {
        fputs("(wavemem) ", s->out);
        fflush(s->out);
    }
    const ssize_t length = getline(&line, &room, stdin);
    if (length < 0) {
        free(line);
        return NULL;
    }
    if (length && line[length - 1] == '\n')
        line[length - 1] = 0;
    return line;
}

/* Whether an empty line repeats the command. */
static bool is_repeated(const char *line)
{
    static const char *const words[] = {"s",
                                        "si",
                                        "n",
                                        "ni",
                                        "step",
                                        "stepi",
                                        "next",
                                        "nexti",
                                        "c",
                                        "continue",
                                        "rs",
                                        "rsi",
                                        "rn",
                                        "rni",
                                        "rc",
                                        "l",
                                        "list",
                                        "u",
                                        "until",
                                        "up",
                                        "down",
                                        "reverse-step",
                                        "reverse-stepi",
                                        "reverse-next",
                                        "reverse-nexti",
                                        "reverse-continue",
                                        "x"};
    const size_t length = strcspn(line, " \t/");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length && !strncmp(line, words[i], length))
            return true;
    return false;
}

bool debug_has_left(const struct debug_session *s)
{
    return s->leaves ||
           (s->source->launches && s->state == DEBUG_AFTER && s->fault.kind == WM_FAULT_NONE && !s->between);
}

bool debug_prompt(struct debug_session *s, bool prompts)
{
    const struct editor editor = find_editor();
    char *last = NULL;
    bool more = true;
    while (more && !s->quits && !debug_has_left(s)) {
        struct wm_diag diag;
        char *line = read_line(s, &editor, prompts);
        more = line;
        if (!more)
            break;
        const char *command = line[strspn(line, " \t")] ? line : last ? last : "";
        if (!debug_execute(s, command, &diag)) {
            fflush(s->out);
            tool_print(stderr, "%s\n", diag.message);
        }
        if (command == line) {
            free(last);
            last = is_repeated(line) ? line : NULL;
            if (!last)
                free(line);
        } else {
            free(line);
        }
    }
    free(last);
    if (!more && isatty(STDIN_FILENO))
        fputc('\n', s->out);
    return more;
}
