/* SPDX-License-Identifier: MIT */
/* The entry point of the module: the page writes files, calls verbs of the command, and reads what they print and write. */
#include "web/playground.h"

#include <emscripten.h>
#include <stdio.h>
#include <string.h>

const struct tool_verb *const tool_verbs[TOOL_VERBS + 1] = {
    &tool_verb_run, &tool_verb_prof, &tool_verb_check,   &tool_verb_asm,
    &tool_verb_dis, &tool_verb_info, &tool_verb_isa, &tool_verb_explain, &web_verb_steps,
};

const struct tool_verb *tool_find_verb(const struct tool_verb *const *verbs, const char *name)
{
    while (*verbs && strcmp((*verbs)->name, name) != 0)
        verbs++;
    return *verbs;
}

enum { MOST_WORDS = 128, MOST_BYTES = 1 << 14 };

/* Runs the verb in the file /words: itself and its words, each ended by a newline. (Strings as parameters would need
 * pointers of the lowered module.) Returns an enum tool_exit. */
EMSCRIPTEN_KEEPALIVE int playground(void)
{
    static const char path[] = "/words";
    char text[MOST_BYTES + 1], *words[MOST_WORDS + 1];
    FILE *file = fopen(path, "r");
    const size_t size = file ? fread(text, 1, MOST_BYTES, file) : 0;
    int count = 0, code = TOOL_WRONG;
    if (file)
        fclose(file);
    text[size] = '\0';
    for (char *word = text, *end; count < MOST_WORDS && (end = strchr(word, '\n')); word = end + 1) {
        *end = '\0';
        words[count++] = word;
    }
    words[count] = NULL;
    const struct tool_verb *verb = count ? tool_find_verb(tool_verbs, words[0]) : NULL;
    if (verb)
        code = verb->run(count, words);
    else
        fputs("unknown verb\n", stderr);
    fflush(NULL);
    return code;
}
