/* SPDX-License-Identifier: MIT */
/* wavemem asm: assembles LLVM's syntax to a code object or raw instructions. */
#include "tool/input.h"
#include "tool/output.h"
#include "tool/tool.h"
#include "wavemem/wavemem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: wavemem asm -m TARGET [-g] [--raw] [-I FOLDER] [--defsym NAME=NUMBER] FILE -o OUTPUT\n"
    "\n"
    "Assembles instructions and directives in LLVM's syntax and links the result.\n"
    "\n"
    "  wavemem asm -m gfx1100 k.s -o k.co         a code object, which `wavemem run k.co` takes\n"
    "  clang-19 -S ... -o - k.cl | wavemem asm -m gfx1100 - -o k.co   compiler output\n"
    "  wavemem asm -m gfx1100 -g k.s -o k.co      `wavemem prof --source` and `dis --lines` show lines of "
    "k.s\n"
    "  wavemem asm -m gfx1100 --raw k.s -o k.bin  only the bytes of section .text\n"
    "\n"
    "  -m, --target NAME  the target; gfx1030:wave64: waves of 64 lanes, gfx1100:real-true16: halves of\n"
    "                     VGPRs have names (v0.l, v0.h), gfx90a:xnack+: features\n"
    "  -o, --output FILE  the output file; - is standard output\n"
    "  -I, --include FOLDER  search .include and .incbin files in FOLDER, too; may be repeated\n"
    "      --defsym NAME=NUMBER  define a symbol, as .set does; may be repeated\n"
    "  -g, --lines        line tables for the lines of FILE, if it has no .file and .loc, which always "
    "count\n"
    "      --raw          write the contents of section .text only, without ELF\n"
    "\n"
    "FILE - reads standard input. Errors show the line and what was expected.\n"
    "Exit codes: 0 clean, 2 wrong usage or bad input.\n";

struct request {
    const char *file, *target, *output;
    struct tool_kept_list folders, symbols;
    bool lines, raw, help;
};

static const struct tool_option options[] = {
    {"help", 'h', TOOL_NO_VALUE, TOOL_KEEP(help)},
    {"target", 'm', TOOL_VALUE, TOOL_KEEP(target)},
    {"output", 'o', TOOL_VALUE, TOOL_KEEP(output)},
    {"raw", 0, TOOL_NO_VALUE, TOOL_KEEP(raw)},
    {"include", 'I', TOOL_VALUE, TOOL_OPTION_LISTED, offsetof(struct request, folders)},
    {"defsym", 0, TOOL_VALUE, TOOL_OPTION_LISTED, offsetof(struct request, symbols)},
    {"lines", 'g', TOOL_NO_VALUE, TOOL_KEEP(lines)},
    {NULL, 0, TOOL_NO_VALUE, 0},
};

static int parse(struct request *request, int count, char **words)
{
    struct tool_words line = {
        .verb = "asm", .options = options, .count = count, .words = words, .request = request};
    for (int id; (id = tool_next_option(&line)) != TOOL_OPTION_END;) {
        if (id == TOOL_OPTION_WRONG)
            return TOOL_WRONG;
        if (id == TOOL_OPTION_OPERAND && request->file)
            return tool_fail("asm: one file at a time, not also '%s'", line.value);
        request->file = line.value;
    }
    if (request->help)
        return TOOL_CLEAN;
    if (!request->file || !request->target || !request->output)
        return tool_fail("asm: %s is missing; see 'wavemem asm --help'", !request->file     ? "the file"
                                                                         : !request->target ? "-m TARGET"
                                                                                            : "-o OUTPUT");
    return TOOL_CLEAN;
}

static int cmd_asm(int argc, char **argv)
{
    struct request request = {0};
    struct wm_diag diag;
    uint8_t *text = NULL, *bytes = NULL;
    char *messages = NULL;
    size_t size, bytes_size;
    int code = parse(&request, argc - 1, argv + 1);
    if (code)
        return code;
    if (request.help) {
        fputs(help, stdout);
        return TOOL_CLEAN;
    }
    const bool from_stdin = strcmp(request.file, "-") == 0;
    if (from_stdin)
        request.file = "<stdin>";
    if (!(from_stdin ? tool_read_stdin(&text, &size, &diag)
                     : tool_read_file(request.file, &text, &size, &diag)))
        return tool_fail("%s", diag.message);
    const char *folders[TOOL_KEPT_MOST], *symbols[TOOL_KEPT_MOST];
    for (size_t i = 0; i < request.folders.count; i++)
        folders[i] = request.folders.kept[i].value;
    for (size_t i = 0; i < request.symbols.count; i++)
        symbols[i] = request.symbols.kept[i].value;
    const struct wm_assemble_options how = {
        .struct_size = sizeof how,
        .flags =
            WM_ASSEMBLE_FILES | (request.raw ? WM_ASSEMBLE_RAW : 0) | (request.lines ? WM_ASSEMBLE_LINES : 0),
        .folders = folders,
        .folder_count = request.folders.count,
        .symbols = symbols,
        .symbol_count = request.symbols.count,
    };
    const enum wm_status status = wm_assemble_with(&how, (const char *)text, size, request.file,
                                                   request.target, &bytes, &bytes_size, &messages, &diag);
    if (messages)
        fputs(messages, stderr);
    if (status == WM_BAD_FILE && messages && *messages) {
        code = TOOL_WRONG;
    } else if (status != WM_OK) {
        code = tool_fail("%s", diag.message);
    } else {
        code = tool_write_object(request.output, bytes, bytes_size);
    }
    free(text);
    free(bytes);
    free(messages);
    return code;
}

const struct tool_verb tool_verb_asm = {
    "asm", "assemble a code object or raw instructions", cmd_asm, help, options, NULL};
