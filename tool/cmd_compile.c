/* SPDX-License-Identifier: MIT */
/* wavemem compile: makes a code object of a source, as the verbs that execute do. */
#include "tool/output.h"
#include "tool/sources/sources.h"
#include "tool/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: wavemem compile FILE -o OUTPUT [-m TARGET] [options of compilation]\n"
    "\n"
    "Compiles OpenCL C (.cl), HIP (.hip) or LLVM's IR (.ll, .bc), or assembles .s, to a code object: the "
    "one\n"
    "that 'wavemem run', 'prof' and 'check' make of the source. For Python, for other tools, or to keep it.\n"
    "\n"
    "  wavemem compile saxpy.cl -m gfx1100 -o saxpy.co\n"
    "  python3 -c 'import wavemem; print(wavemem.Module(\"saxpy.co\").kernels)'\n"
    "\n"
    "  -m, --target NAME  the target; default: what the source names, or that of --gpu, or gfx90a\n"
    "      --gpu NAME     the product whose target it is for (list: prints all)\n"
    "  -o, --output FILE  the code object; - is standard output\n"
    "  -h, --help\n"
    "\n";

static const char codes[] = "\nExit codes: 0 clean, 2 wrong usage or bad input.\n";

struct request {
    const char *file, *target, *gpu_name, *output;
    struct tool_compile compile;
    bool help;
};

static const struct tool_option options[] = {
    {"help", 'h', TOOL_NO_VALUE, TOOL_KEEP(help)}, {"target", 'm', TOOL_VALUE, TOOL_KEEP(target)},
    {"gpu", 0, TOOL_VALUE, TOOL_KEEP(gpu_name)},   {"output", 'o', TOOL_VALUE, TOOL_KEEP(output)},
    TOOL_COMPILE_OPTIONS(struct request, compile), {NULL, 0, TOOL_NO_VALUE, 0, 0},
};

static int parse(struct request *request, int count, char **words)
{
    struct tool_words line = {
        .verb = "compile", .options = options, .count = count, .words = words, .request = request};
    for (int id; (id = tool_next_option(&line)) != TOOL_OPTION_END;) {
        if (id == TOOL_OPTION_WRONG)
            return TOOL_WRONG;
        if (request->file)
            return tool_fail("compile: one file at a time, not also '%s'", line.value);
        request->file = line.value;
    }
    if (request->help)
        return TOOL_CLEAN;
    if (!request->file || !request->output)
        return tool_fail("compile: %s is missing; see 'wavemem compile --help'",
                         request->file ? "-o OUTPUT" : "the file");
    if (!tool_is_source(request->file))
        return tool_fail("compile: %s: expected a source: .cl, .hip, .s, .S, .ll or .bc", request->file);
    return TOOL_CLEAN;
}

static int compile(const struct request *request)
{
    struct tool_open how = {.where = "",
                            .file = request->file,
                            .target = request->target,
                            .compile = &request->compile,
                            .verb = "compile"};
    uint8_t *bytes;
    size_t size;
    if (request->target && !tool_check_target("", request->target))
        return TOOL_WRONG;
    int code = request->gpu_name ? tool_choose_gpu("", request->gpu_name, &how.gpu) : TOOL_CLEAN;
    if (!code && strcmp(request->output, "-"))
        code = tool_check_file("-o", request->output);
    code = code ? code : tool_make_object(&how, &bytes, &size);
    if (code != TOOL_CLEAN)
        return code;
    code = tool_write_object(request->output, bytes, size);
    free(bytes);
    return code;
}

static int cmd_compile(int argc, char **argv)
{
    struct request request = {0};
    const int code = parse(&request, argc - 1, argv + 1);
    if (code != TOOL_CLEAN)
        return code;
    if (!request.help)
        return compile(&request);
    fputs(help, stdout);
    fputs(tool_compile_help, stdout);
    fputs(codes, stdout);
    return TOOL_CLEAN;
}

const struct tool_verb tool_verb_compile = {
    "compile", "compile a source to a code object", cmd_compile, help, options, NULL};
