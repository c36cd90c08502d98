/* SPDX-License-Identifier: MIT */
/* wavemem mcp: tools for agents. */
#include "tool/mcp/mcp.h"
#include "tool/tool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char help[] =
    "usage: wavemem mcp [--root DIR] [options]\n"
    "\n"
    "Serves the Model Context Protocol on standard input and output: tools for agents that write GPU "
    "kernels.\n"
    "\n"
    "An agent starts it, and sends requests; without any it ends:\n"
    "  wavemem mcp < /dev/null\n"
    "A configuration of clients that read JSON:\n"
    "  {\"mcpServers\": {\"wavemem\": {\"command\": \"wavemem\", \"args\": [\"mcp\", \"--root\", "
    "\"/home/me/kernels\"]}}}\n"
    "\n"
    "The tools are compile, info, check, prof, compare (two kernels), disassemble, isa, explain_address and\n"
    "explain_descriptor. Kernels are given as text or as files below the root; sizes and arguments that are\n"
    "missing are made up, as by --guess. Answers are text, and JSON with places and remedies; times are\n"
    "predictions. docs/mcp.md describes them.\n"
    "\n"
    "A call runs in processes of its own. They read files below the root, of installed programs (/usr, "
    "/opt,\n"
    "compilers) and of --allow, and write to a temporary folder only; the kernel sees to that (Landlock, "
    "Linux\n"
    "5.13), also for what sources include. Kernels run on the simulated GPU, and reach nothing else.\n"
    "\n"
    "      --root DIR         default: the current folder\n"
    "      --allow DIR        compilers may read this folder, too; repeatable\n"
    "      --timeout S        seconds that a call may take; default 30\n"
    "      --memory BYTES     address space of a process of a call; default 4G; 0: not limited\n"
    "      --output BYTES     of the text of an answer, and of its JSON; default 16k\n"
    "      --unconfined       serve where Linux has no Landlock: sources can then include any file that the\n"
    "                         user can read\n"
    "  -h, --help\n"
    "\n"
    "Exit codes: 0 the client has closed its end, 2 wrong usage.\n";

struct request {
    const char *root, *seconds, *memory, *output;
    struct tool_kept_list allowed;
    bool unconfined, help;
};

static const struct tool_option options[] = {
    {"help", 'h', TOOL_NO_VALUE, TOOL_KEEP(help)},
    {"root", 0, TOOL_VALUE, TOOL_KEEP(root)},
    {"allow", 0, TOOL_VALUE, TOOL_OPTION_LISTED, offsetof(struct request, allowed)},
    {"timeout", 0, TOOL_VALUE, TOOL_KEEP(seconds)},
    {"memory", 0, TOOL_VALUE, TOOL_KEEP(memory)},
    {"output", 0, TOOL_VALUE, TOOL_KEEP(output)},
    {"unconfined", 0, TOOL_NO_VALUE, TOOL_KEEP(unconfined)},
    {NULL, 0, TOOL_NO_VALUE, 0, 0},
};

/* The folder without links, to be freed; NULL after a message. */
static char *folder_of(const char *option, const char *path)
{
    struct stat facts;
    char *full = realpath(path, NULL);
    if (full && stat(full, &facts) == 0 && S_ISDIR(facts.st_mode))
        return full;
    tool_fail("mcp: %s %s: %s", option, path, full ? "expected a folder" : strerror(errno));
    free(full);
    return NULL;
}

static int set_limits(const struct request *request, struct mcp_settings *settings)
{
    uint64_t bytes;
    if (request->seconds && (!tool_parse_real(request->seconds, &settings->seconds) ||
                             settings->seconds <= 0 || settings->seconds > 86400))
        return tool_fail("mcp: --timeout %s: expected seconds, above 0 and up to 86400", request->seconds);
    if (request->memory && !tool_parse_size(request->memory, &settings->memory))
        return tool_fail("mcp: --memory %s: expected a number of bytes, such as 8G", request->memory);
    if (!request->output)
        return TOOL_CLEAN;
    if (!tool_parse_size(request->output, &bytes) || bytes < 1024 || bytes > 64 << 20)
        return tool_fail("mcp: --output %s: expected a number of bytes from 1k to 64M", request->output);
    settings->output = (size_t)bytes;
    return TOOL_CLEAN;
}

static int serve(const struct request *request)
{
    char *allowed[TOOL_KEPT_MOST + 1] = {NULL};
    struct mcp_settings settings = {.allowed = (const char *const *)allowed,
                                    .seconds = 30,
                                    .memory = UINT64_C(4) << 30,
                                    .output = 16 << 10,
                                    .unconfined = request->unconfined};
    char *root = folder_of("--root", request->root ? request->root : ".");
    int code = root ? set_limits(request, &settings) : TOOL_WRONG;
    for (size_t i = 0; i < request->allowed.count && code == TOOL_CLEAN; i++)
        code = (allowed[i] = folder_of("--allow", request->allowed.kept[i].value)) ? TOOL_CLEAN : TOOL_WRONG;
    if (code == TOOL_CLEAN && !settings.unconfined && !mcp_can_confine())
        code =
            tool_fail("mcp: this kernel has no Landlock (Linux 5.13), so sources could include files outside "
                      "of the root; --unconfined serves all the same");
    settings.root = root;
    code = code == TOOL_CLEAN ? mcp_serve(&settings) : code;
    for (size_t i = 0; i < request->allowed.count; i++)
        free(allowed[i]);
    free(root);
    return code;
}

static int cmd_mcp(int argc, char **argv)
{
    struct request request = {0};
    struct tool_words words = {
        .verb = argv[0], .options = options, .count = argc - 1, .words = argv + 1, .request = &request};
    for (int id; (id = tool_next_option(&words)) != TOOL_OPTION_END;) {
        if (id == TOOL_OPTION_WRONG)
            return TOOL_WRONG;
        return tool_fail("mcp: unexpected '%s'; --root names the folder", words.value);
    }
    if (!request.help)
        return serve(&request);
    fputs(help, stdout);
    return TOOL_CLEAN;
}

const struct tool_verb tool_verb_mcp = {
    "mcp", "serve tools to agents (Model Context Protocol)", cmd_mcp, help, options, NULL, true};
