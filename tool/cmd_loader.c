/* SPDX-License-Identifier: MIT */
/* wavemem loader: runs programs of LLVM's libc for GPUs. */
#include "tool/loader/loader.h"
#include "tool/tool.h"

#include <stdio.h>

static const char help[] =
    "usage: wavemem loader [--threads X,Y,Z] [--blocks X,Y,Z] [--timeout S] PROGRAM [ARGUMENT...]\n"
    "\n"
    "Runs a program that was linked for an AMD GPU as LLVM's llvm-gpu-loader does: its kernels _begin,\n"
    "_start (which calls main) and _end. What the program prints, reads, allocates, and its exit code come\n"
    "through the remote procedure calls of LLVM's libc, of LLVM 20 and later.\n"
    "\n"
    "  wavemem loader program.out one two      prints what it prints; its exit code is the program's\n"
    "In the builds of LLVM's libc, compiler-rt and libclc for amdgcn, so that their tests need no GPU:\n"
    "  cmake ... -DCMAKE_CROSSCOMPILING_EMULATOR='/usr/bin/wavemem;loader'\n"
    "\n"
    "      --threads X,Y,Z  work-items of a workgroup of _start; default 1\n"
    "      --blocks X,Y,Z   workgroups of _start; default 1\n"
    "      --timeout S      stop a kernel after S seconds\n"
    "  -h, --help\n"
    "\n"
    "Not supported: system(), and calls of host functions; the program then ends with exit code 4. It reads "
    "and writes files as the user can.\n"
    "\n"
    "Exit codes: the program's, 134 if it aborts; 2 wrong usage or bad input, 3 a kernel faulted, 4 "
    "incomplete.\n";

struct request {
    const char *threads, *blocks, *timeout;
    bool help;
};

static const struct tool_option options[] = {{"help", 'h', TOOL_NO_VALUE, TOOL_KEEP(help)},
                                             {"threads", 0, TOOL_VALUE, TOOL_KEEP(threads)},
                                             {"blocks", 0, TOOL_VALUE, TOOL_KEEP(blocks)},
                                             {"timeout", 0, TOOL_VALUE, TOOL_KEEP(timeout)},
                                             {NULL, 0, TOOL_NO_VALUE, 0, 0}};

/* words: the program and its arguments, up to a NULL. */
static int run(const struct request *request, char *const *words)
{
    struct loader_request how = {.words = words, .blocks = {1, 1, 1}, .threads = {1, 1, 1}};
    struct wm_object *object;
    struct wm_diag diag;
    if (request->threads && !tool_parse_extent(request->threads, how.threads))
        return tool_fail("loader: --threads %s: expected X[,Y[,Z]]", request->threads);
    if (request->blocks && !tool_parse_extent(request->blocks, how.blocks))
        return tool_fail("loader: --blocks %s: expected X[,Y[,Z]]", request->blocks);
    for (unsigned i = 0; i < 3; i++)
        if ((uint64_t)how.threads[i] * how.blocks[i] > UINT32_MAX)
            return tool_fail("loader: more than 2^32-1 work-items in a dimension");
    if (request->timeout && !tool_parse_real(request->timeout, &how.timeout))
        return tool_fail("loader: --timeout %s: expected seconds", request->timeout);
    if (wm_object_open_file(words[0], NULL, &object, &diag) != WM_OK)
        return tool_fail("loader: %s", diag.message);
    how.object = object;
    const int code = loader_run(&how);
    wm_object_close(object);
    return code;
}

static int cmd_loader(int argc, char **argv)
{
    struct request request = {0};
    struct tool_words words = {
        .verb = argv[0], .options = options, .count = argc - 1, .words = argv + 1, .request = &request};
    for (int id; (id = tool_next_option(&words)) != TOOL_OPTION_END;) {
        if (id == TOOL_OPTION_WRONG)
            return TOOL_WRONG;
        return run(&request, argv + words.next); /* all that follows is the program's */
    }
    if (!request.help)
        return tool_fail("loader: the program is missing; see 'wavemem loader --help'");
    fputs(help, stdout);
    return TOOL_CLEAN;
}

const struct tool_verb tool_verb_loader = {
    "loader", "run a program of LLVM's libc for GPUs", cmd_loader, help, options, NULL, false};
