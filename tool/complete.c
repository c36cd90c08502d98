/* SPDX-License-Identifier: MIT */
/* Candidates for the completion of shells: verbs, options, and values of options. */
#include "tool/sources/sources.h"
#include "tool/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void offer(const char *candidate, const char *suffix, const char *begun)
{
    if (!strncmp(candidate, begun, strlen(begun)))
        printf("%s%s\n", candidate, suffix);
}

static void offer_verbs(const struct tool_verb *const *verbs, const char *begun)
{
    for (; *verbs; verbs++)
        offer((*verbs)->name, "", begun);
}

static void offer_options(const struct tool_option *options, const char *begun)
{
    char text[80];
    for (const struct tool_option *o = options; o && o->name; o++) {
        snprintf(text, sizeof text, "--%s", o->name);
        offer(text, "", begun);
        snprintf(text, sizeof text, "-%c", o->letter);
        if (o->letter && strlen(begun) < 2)
            offer(text, "", begun);
    }
}

/* The option whose value follows the word; NULL: none. */
static const struct tool_option *takes_next(const struct tool_option *options, const char *word)
{
    for (const struct tool_option *o = options; o && o->name; o++)
        if (o->takes == TOOL_VALUE && ((!strncmp(word, "--", 2) && !strcmp(word + 2, o->name)) ||
                                       (word[0] == '-' && o->letter && word[1] == o->letter && !word[2])))
            return o;
    return NULL;
}

static void offer_products(const char *begun)
{
    size_t count;
    const struct wm_gpu *gpus = wm_gpus(&count);
    for (size_t i = 0; i < count; i++)
        offer(gpus[i].name, "", begun);
}

/* The targets of all products, each once. */
static void offer_targets(const char *begun)
{
    size_t count;
    const struct wm_gpu *gpus = wm_gpus(&count);
    for (size_t i = 0; i < count; i++)
        for (const char *at = gpus[i].targets; *at; at += strspn(at, " ")) {
            char target[64];
            bool known = false;
            snprintf(target, sizeof target, "%.*s", (int)strcspn(at, " "), at);
            for (size_t before = 0; before < i && !known; before++) {
                const char *found = strstr(gpus[before].targets, target);
                known = found && strchr(" ", found[strlen(target)]);
            }
            at += strlen(target);
            if (!known)
                offer(target, "", begun);
        }
}

/* The code object among the words, and what -k says; sources are not compiled for a completion. */
static struct wm_object *object_of(const struct tool_option *options, int count, char **words,
                                   const char **kernel)
{
    struct wm_object *object = NULL;
    const char *file = NULL, *target = NULL;
    for (int i = 0; i + 1 < count; i++) {
        const struct tool_option *option = takes_next(options, words[i]);
        if (option && !strcmp(option->name, "kernel"))
            *kernel = words[i + 1];
        if (option && !strcmp(option->name, "target"))
            target = words[i + 1];
        if (option)
            i++;
        else if (words[i][0] != '-' && !file)
            file = words[i];
    }
    if (file && !tool_is_source(file))
        wm_object_open_file(file, target, &object, NULL);
    return object;
}

static void offer_kernels(const struct wm_object *object, const char *begun)
{
    for (size_t i = 0; i < wm_object_kernel_count(object); i++)
        offer(wm_object_kernel(object, i)->source_name, "", begun);
}

static void offer_arguments(const struct wm_object *object, const char *name, const char *begun)
{
    const struct wm_kernel *kernel;
    if (wm_object_find_kernel(object, name, &kernel, NULL) != WM_OK)
        return;
    for (size_t i = 0; i < kernel->argument_count; i++)
        if (kernel->arguments[i].kind != WM_ARGUMENT_HIDDEN && *kernel->arguments[i].name)
            offer(kernel->arguments[i].name, "=", begun);
}

static void offer_value(const struct tool_verb *verb, const struct tool_option *option, int count,
                        char **words)
{
    const char *begun = words[count - 1], *kernel = NULL;
    struct wm_object *object = NULL;
    if (!strcmp(option->name, "gpu")) {
        offer_products(begun);
    } else if (!strcmp(option->name, "target")) {
        offer_targets(begun);
    } else if (!strcmp(option->name, "kernel")) {
        object = object_of(verb->options, count, words, &kernel);
        offer_kernels(object, begun);
    } else if (!strcmp(option->name, "arg") || !strcmp(option->name, "out") ||
               !strcmp(option->name, "expect")) {
        object = object_of(verb->options, count, words, &kernel);
        offer_arguments(object, kernel, begun);
    } else {
        puts(":files");
    }
    wm_object_close(object);
}

int tool_complete(int count, char **words)
{
    const struct tool_verb *verb = NULL;
    if (count < 1)
        return TOOL_WRONG;
    if (count == 1) {
        offer_verbs(tool_verbs, words[0]);
        offer("--help", "", words[0]);
        offer("--version", "", words[0]);
        return TOOL_CLEAN;
    }
    verb = tool_find_verb(tool_verbs, words[0]);
    if (verb && verb->subjects && count == 2) {
        offer_verbs(verb->subjects, words[1]);
        return TOOL_CLEAN;
    }
    if (verb && verb->subjects) {
        verb = tool_find_verb(verb->subjects, words[1]);
        words++;
        count--;
    }
    const struct tool_option *option = verb ? takes_next(verb->options, words[count - 2]) : NULL;
    if (!verb)
        return TOOL_CLEAN;
    if (option && count > 2)
        offer_value(verb, option, count - 1, words + 1);
    else if (words[count - 1][0] == '-')
        offer_options(verb->options, words[count - 1]);
    else
        puts(":files");
    return TOOL_CLEAN;
}
