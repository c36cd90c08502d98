/* SPDX-License-Identifier: MIT */
/* The command: finds the verb and runs it. */
#include "tool/tool.h"
#include "wavemem/wavemem.h"

#include <stdio.h>
#include <string.h>

static void print_help(FILE *file)
{
    fputs("wavemem executes the machine code of AMD GPUs on this CPU and shows what it does to memory.\n\n"
          "usage: wavemem VERB ...\n\n",
          file);
    for (const struct tool_verb *const *verb = tool_verbs; *verb; verb++)
        fprintf(file, "  %-7s %s\n", (*verb)->name, (*verb)->summary);
    fputs(
        "\n"
        "Start with a kernel in OpenCL, HIP or assembly, or with a code object (.co):\n"
        "  wavemem info transpose.cl                      its kernels and their arguments\n"
        "  wavemem prof transpose.cl -k transpose_naive --guess   what its memory accesses cost; --guess "
        "makes\n"
        "                                                 up sizes and arguments, and prints the whole "
        "command\n"
        "  wavemem check transpose.cl -k transpose_naive --guess   the errors that the hardware lets pass\n"
        "  wavemem run transpose.co -k transpose_naive -g 1k,1k -b 16,16 --arg in=rand:f32:1M \\\n"
        "      --arg out=zero:f32:1M --arg n=1k --out out=out.npy\n"
        "\n"
        "'wavemem VERB --help' explains a verb by examples; 'man wavemem' is the reference.\n"
        "Exit codes: 0 clean, 1 a mismatch or a finding, 2 wrong usage or bad input, 3 the kernel faulted,\n"
        "4 incomplete, 130 stopped by Ctrl-C.\n",
        file);
}

/* Prints the usage, the purpose and the examples of a verb: the first three paragraphs of its help. */
static int print_usage(const struct tool_verb *verb)
{
    const char *end = verb->help;
    for (unsigned paragraphs = 0; *end && paragraphs < 3; end++)
        paragraphs += end[0] == '\n' && (end[1] == '\n' || !end[1]);
    fprintf(stderr, "%.*s\n'wavemem %s --help' lists the options.\n", (int)(end - verb->help), verb->help,
            verb->name);
    return TOOL_WRONG;
}

static int finish(int code)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        return tool_fail("the output could not be written");
    return code;
}

static int unknown_verb(const char *word)
{
    const char *names[TOOL_VERBS];
    size_t count = 0;
    for (; tool_verbs[count]; count++)
        names[count] = tool_verbs[count]->name;
    const char *nearest = tool_nearest(word, names, count, sizeof *names);
    if (nearest)
        return tool_fail("unknown verb '%s'; did you mean '%s'? ('wavemem --help' lists all)", word, nearest);
    return tool_fail("unknown verb '%s'; 'wavemem --help' lists all", word);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return TOOL_WRONG;
    }
    const char *word = argv[1];
    const struct tool_verb *verb = tool_find_verb(tool_verbs, word);
    if (verb && argc == 2 && !verb->needs_no_words)
        return print_usage(verb);
    if (verb)
        return finish(verb->run(argc - 1, argv + 1));
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0) {
        print_help(stdout);
        return finish(TOOL_CLEAN);
    }
    if (strcmp(word, "--version") == 0) {
        printf("wavemem %s%s\n", wm_version(), TOOL_LOST);
        return finish(TOOL_CLEAN);
    }
    if (strcmp(word, "__complete") == 0)
        return finish(tool_complete(argc - 2, argv + 2));
    return unknown_verb(word);
}
