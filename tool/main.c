/* SPDX-License-Identifier: MIT */
/* The command: finds the verb and runs it. */
#include "tool/tool.h"
#include "wavemem/wavemem.h"

#include <stdio.h>
#include <string.h>

static const struct tool_verb verbs[] = {
    {"exec", "run a HIP program as it is, on a simulated GPU", cmd_exec},
    {"run", "execute a kernel, write and compare its outputs", cmd_run},
    {"prof", "execute a kernel and show what each memory instruction costs", cmd_prof},
    {"check", "execute a kernel and find errors that the hardware lets pass", cmd_check},
    {"replay", "repeat a profile from a trace, also for another product or cache size", cmd_replay},
    {"diff", "compare two JSON reports of prof, instruction by instruction", cmd_diff},
    {"asm", "assemble a code object or raw instructions", cmd_asm},
    {"dis", "disassemble a code object or raw instructions", cmd_dis},
    {"info", "list the kernels of a code object, their arguments and resources", cmd_info},
    {"isa", "explain an instruction: encodings, operands, operation", cmd_isa},
    {"explain", "decode a descriptor, compute an instruction's addresses, convert a format", cmd_explain},
    {"tess", "show the off-chip buffer between tessellation shaders, byte by byte", cmd_tess},
    {"tile", "convert an image to the layout that a GPU keeps it in", cmd_tile},
    {"untile", "convert an image back from that layout", cmd_untile},
};
enum { VERBS = sizeof(verbs) / sizeof(verbs[0]) };

static void print_help(FILE *file)
{
    fputs("wavemem executes the machine code of AMD GPUs on this CPU and shows what it does to memory.\n\n"
          "usage: wavemem VERB ...\n\n",
          file);
    for (size_t i = 0; i < VERBS; i++)
        fprintf(file, "  %-7s %s\n", verbs[i].name, verbs[i].summary);
    fputs(
        "\n"
        "  wavemem info transpose.co\n"
        "  wavemem run  transpose.co -k transpose_naive -g 1024,1024 -b 16,16 \\\n"
        "               --arg in=rand:f32:1048576:7 --arg out=zero:f32:1048576 --arg n=1024 --out "
        "out=out.npy\n"
        "\n"
        "'wavemem VERB --help' explains a verb by examples; 'man wavemem' is the reference.\n"
        "Exit codes: 0 clean, 1 a mismatch or a finding, 2 wrong usage or bad input, 3 the kernel faulted,\n"
        "4 incomplete, 130 stopped by Ctrl-C.\n",
        file);
}

static int finish(int code)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        return tool_fail("the output could not be written");
    return code;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return TOOL_WRONG;
    }
    const char *verb = argv[1];
    if (strcmp(verb, "--help") == 0 || strcmp(verb, "-h") == 0 || strcmp(verb, "help") == 0) {
        print_help(stdout);
        return finish(TOOL_CLEAN);
    }
    if (strcmp(verb, "--version") == 0) {
        printf("wavemem %s\n", wm_version());
        return finish(TOOL_CLEAN);
    }
    for (size_t i = 0; i < VERBS; i++)
        if (strcmp(verb, verbs[i].name) == 0)
            return finish(verbs[i].run(argc - 1, argv + 1));
    const char *nearest = tool_nearest(verb, &verbs[0].name, VERBS, sizeof(verbs[0]));
    if (nearest)
        return tool_fail("unknown verb '%s'; did you mean '%s'? ('wavemem --help' lists all)", verb, nearest);
    return tool_fail("unknown verb '%s'; 'wavemem --help' lists all", verb);
}
