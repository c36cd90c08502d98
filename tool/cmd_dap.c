/* SPDX-License-Identifier: MIT */
/* wavemem dap: the debugger for editors. */
#include "tool/debug/dap.h"
#include "tool/tool.h"

#include <stdio.h>

enum { OPT_HELP = 1 };

static const char help[] =
    "usage: wavemem dap\n"
    "\n"
    "Serves the Debug Adapter Protocol on standard input and output, for VS Code and other editors: the "
    "debugger\n"
    "of 'wavemem debug'. contrib/vscode is an extension that starts it. A client's launch request has\n"
    "  program              a code object or a source\n"
    "  kernel, target       as -k and -m of 'wavemem run'\n"
    "  grid, workgroup      numbers of work-items: 1024 or [64, 64]\n"
    "  arguments            values of the kernel's arguments by name: {\"in\": \"iota:f32:1024\", \"n\": "
    "1024}\n"
    "  args                 more words of the command line: [\"--guess\"]\n"
    "  cwd                  folder\n"
    "  stopOnEntry          stop before the first instruction\n"
    "  stopAtEnd            stop at the last instruction, to go back from there\n"
    "  exec                 true: program is a HIP, Vulkan or OpenCL program, and args are its own words\n"
    "\n"
    "An editor starts it, and sends requests; without any it ends:\n"
    "  wavemem dap < /dev/null\n"
    "\n"
    "Options:\n"
    "  -h, --help           this text\n";

static const struct tool_option options[] = {{"help", 'h', TOOL_NO_VALUE, OPT_HELP},
                                             {NULL, 0, TOOL_NO_VALUE, 0}};

static int cmd_dap(int argc, char **argv)
{
    struct tool_words words = {.verb = argv[0], .options = options, .count = argc - 1, .words = argv + 1};
    for (int id; (id = tool_next_option(&words)) != TOOL_OPTION_END;) {
        if (id == TOOL_OPTION_WRONG)
            return TOOL_WRONG;
        if (id == TOOL_OPTION_OPERAND)
            return tool_fail("unexpected '%s': the client says what is debugged", words.value);
        fputs(help, stdout);
        return TOOL_CLEAN;
    }
    return debug_adapt();
}

const struct tool_verb tool_verb_dap = {
    "dap", "serve the debugger to editors (Debug Adapter Protocol)", cmd_dap, help, options, NULL, true};
