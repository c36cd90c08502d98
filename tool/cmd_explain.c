/* SPDX-License-Identifier: MIT */
/* wavemem explain: finds the question and answers it. */
#include "tool/explain/explain.h"
#include "tool/tool.h"

#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: wavemem explain descriptor|address|format|image -m TARGET ...\n"
    "\n"
    "Explains step by step the meaning of a descriptor, the addresses that the lanes of an instruction\n"
    "access and the checks that they pass, the conversion of a value by a format, or where an image has a\n"
    "texel.\n"
    "\n"
    "  wavemem explain descriptor -m gfx900 0x00010000 0x00100000 0x00000400 0x00027fac\n"
    "  wavemem explain address -m gfx900 'buffer_load_dwordx2 v[1:2], v3, s[4:7], s8 idxen offset:16' \\\n"
    "          --set 's[4:7]=0x00010000,0x00100000,0x00000400,0x00027fac' --set s8=64 --set v3=lane*2 --lane "
    "5\n"
    "  wavemem explain format -m gfx900 8_8_8_8 unorm 0x80402010\n"
    "  wavemem explain format -m gfx900 16_16 snorm --store 0.5,-1.0\n"
    "  wavemem explain image -m gfx1100 0x1000 0xc2a00000 0x010dc1df 0x91b00fac --at 5,7\n"
    "\n"
    "'wavemem explain SUBJECT --help' gives details. All subjects accept --json.\n"
    "\n"
    "Exit codes: 0 clean, 2 wrong usage or bad input.\n";

static const struct tool_verb *const subjects[] = {&explain_verb_descriptor, &explain_verb_address,
                                                   &explain_verb_format, &explain_verb_image, NULL};

static int cmd_explain(int argc, char **argv)
{
    if (argc < 2)
        return tool_fail(
            "explain: a subject is missing: wavemem explain descriptor|address|format|image -m TARGET ...");
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        fputs(help, stdout);
        return TOOL_CLEAN;
    }
    const struct tool_verb *subject = tool_find_verb(subjects, argv[1]);
    if (subject)
        return subject->run(argc - 1, argv + 1);
    const char *const names[] = {subjects[0]->name, subjects[1]->name, subjects[2]->name, subjects[3]->name};
    const char *nearest = tool_nearest(argv[1], names, 4, sizeof *names);
    if (nearest)
        return tool_fail("explain '%s': did you mean '%s'?", argv[1], nearest);
    return tool_fail("explain '%s': expected descriptor, address, format or image", argv[1]);
}

const struct tool_verb tool_verb_explain = {
    "explain",   "decode a descriptor, compute an instruction's addresses, convert a format",
    cmd_explain, help,
    NULL,        subjects};
