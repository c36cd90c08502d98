/* SPDX-License-Identifier: MIT */
/* wavemem dis: prints instructions as llvm-objdump -d -z does. */
#include "array.h"
#include "tool.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: wavemem dis [--plain] [-k NAME] [-m TARGET] [--wave 32|64] FILE\n"
    "       wavemem dis [--plain] -m TARGET [--wave 32|64] --raw FILE\n"
    "\n"
    "Disassembles the code sections of a code object, or a file of raw instructions, in LLVM's syntax.\n"
    "\n"
    "  wavemem dis transpose.co               like llvm-objdump -d -z: symbols, text, address, words, "
    "targets\n"
    "  wavemem dis -k transpose_naive transpose.co   one kernel or function only\n"
    "  wavemem dis --plain transpose.co       the text alone, one instruction a line, for an assembler or "
    "diff\n"
    "  wavemem dis -m gfx900 --raw words.bin  little-endian 32-bit words; - reads standard input\n"
    "  wavemem dis -m gfx900 kernels.hipfb    the code object for one target, of a bundle or a HIP program\n"
    "\n"
    "Words that are no instruction of the target are printed as .long.\n"
    "\n"
    "  -k, --kernel NAME  only this symbol, or the kernel of this source name\n"
    "      --plain        only the instructions' text\n"
    "  -m, --target NAME  the entry of a bundle, by its target (gfx900, gfx90a:xnack+) or number; the "
    "target\n"
    "                     of raw instructions\n"
    "      --raw          FILE holds instructions, no ELF\n"
    "      --wave 32|64   lanes of a wave (gfx10 and later); a kernel's descriptor says its own, else 32\n"
    "\n"
    "Exit codes: 0 clean, 2 wrong use or bad input.\n";

enum { LONGEST_DWORDS = 8, TEXT = 512, TEXT_COLUMNS = 59 };

static const struct tool_option options[] = {
    {"help", 'h', TOOL_NO_VALUE, 1}, {"kernel", 'k', TOOL_VALUE, 2}, {"plain", 0, TOOL_NO_VALUE, 3},
    {"target", 'm', TOOL_VALUE, 4},  {"raw", 0, TOOL_NO_VALUE, 5},   {"wave", 0, TOOL_VALUE, 6},
    {NULL, 0, TOOL_NO_VALUE, 0},
};

struct request {
    const char *file, *target, *symbol;
    const char *wave; /* "32" or "64", or NULL */
    bool plain, raw, help;
};

/* Whether an instruction's low 16 bits are a signed distance in dwords. Source: the ISA documents, SOPP and
 * SOPK; s_cbranch_g_fork, _i_fork and _join have other operands. */
static bool is_branch(const char *text)
{
    static const char *const prefixes[] = {
        "s_branch ",      "s_cbranch_scc",     "s_cbranch_vcc", "s_cbranch_exec",
        "s_cbranch_cdbg", "s_cbranch_i_fork ", "s_call_b64 ",   "s_subvector_loop_",
    };
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (strncmp(text, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

static void print_instruction(const struct wm_object *object, const char *text, uint64_t address,
                              const uint32_t *words, unsigned dwords)
{
    printf("\t%-*s// %012" PRIX64 ":", TEXT_COLUMNS, text, address);
    for (unsigned i = 0; i < dwords; i++)
        printf(" %08" PRIX32, words[i]);
    if (is_branch(text)) {
        uint64_t distance;
        const uint64_t target = address + 4 + (uint64_t)((int64_t)(int16_t)words[0] * 4);
        const char *symbol = wm_object_symbol(object, target, &distance);
        if (symbol && distance)
            printf(" <%s+0x%" PRIx64 ">", symbol, distance);
        else if (symbol)
            printf(" <%s>", symbol);
    }
    putchar('\n');
}

/* The symbol that begins at `address`, or NULL. */
static const char *symbol_at(const struct wm_object *object, uint64_t address)
{
    uint64_t distance;
    const char *symbol = wm_object_symbol(object, address, &distance);
    return symbol && distance == 0 ? symbol : NULL;
}

/* Lanes of a wave of the kernel called `symbol`; 0 for other code. */
static unsigned wave_of(const struct wm_object *object, const char *symbol)
{
    for (size_t i = 0; i < wm_object_kernel_count(object); i++)
        if (!strcmp(wm_object_kernel(object, i)->name, symbol))
            return wm_object_kernel(object, i)->wave_size;
    return 0;
}

/* The object's target with the size of waves, as wm_disassemble() takes it. A target that has no such waves
 * keeps its own. */
static void name_target(char *name, size_t size, const struct wm_object *object,
                        const struct request *request, unsigned wave)
{
    snprintf(name, size, "%s:wave%s", wm_object_target(object),
             request->wave ? request->wave
             : wave == 64  ? "64"
                           : "32");
    if (!wm_target_known(name) || (!request->wave && !wave))
        snprintf(name, size, "%s", wm_object_target(object));
}

/* Prints a stretch of code; returns how many instructions were in what was asked for. */
static uint64_t print_code(const struct wm_object *object, const struct wm_code *code,
                           const struct request *request)
{
    char target[TEXT];
    uint64_t printed = 0;
    bool wanted = !request->symbol;
    size_t at = 0;
    name_target(target, sizeof(target), object, request, 0);
    while (at + 4 <= code->size) {
        uint32_t words[LONGEST_DWORDS] = {0};
        const size_t left = (code->size - at) / 4, room = left < LONGEST_DWORDS ? left : LONGEST_DWORDS;
        const uint64_t address = code->address + at;
        char text[TEXT];
        memcpy(words, code->bytes + at, room * 4);
        const char *symbol = symbol_at(object, address);
        if (symbol && request->symbol)
            wanted = strcmp(symbol, request->symbol) == 0;
        if (symbol)
            name_target(target, sizeof(target), object, request, wave_of(object, symbol));
        unsigned dwords = wm_disassemble(target, words, room, text, sizeof(text));
        if (dwords == 0 || dwords > room) {
            snprintf(text, sizeof(text), ".long 0x%08" PRIx32, words[0]);
            dwords = 1;
        }
        at += dwords * 4;
        if (!wanted)
            continue;
        if (symbol && !request->plain)
            printf("\n%016" PRIx64 " <%s>:\n", address, symbol);
        if (request->plain)
            puts(text);
        else
            print_instruction(object, text, address, words, dwords);
        printed++;
    }
    for (; at < code->size && wanted; at++)
        printf("%s.byte 0x%02x\n", request->plain ? "" : "\t", code->bytes[at]);
    return printed;
}

static int print_object(const struct wm_object *object, const struct request *request)
{
    const size_t count = wm_object_code(object, NULL, 0);
    struct wm_code *code = calloc(count + 1, sizeof(*code));
    uint64_t printed = 0;
    if (!code)
        return tool_fail("out of memory");
    wm_object_code(object, code, count);
    if (!request->plain && !request->symbol)
        printf("\n%s:\tfile format %s, %s\n", request->file,
               wm_object_version(object) ? "elf64-amdgpu" : "raw instructions", wm_object_target(object));
    for (size_t i = 0; i < count; i++) {
        if (!request->plain && !request->symbol && code[i].section && code[i].section[0])
            printf("\nDisassembly of section %s:\n", code[i].section);
        printed += print_code(object, &code[i], request);
    }
    free(code);
    if (request->symbol && printed == 0)
        return tool_fail("%s: no code belongs to a symbol '%s'", request->file, request->symbol);
    return TOOL_CLEAN;
}

static int parse(int argc, char **argv, struct request *request)
{
    struct tool_words words = {.verb = argv[0], .options = options, .count = argc - 1, .words = argv + 1};
    for (int id; (id = tool_next_option(&words)) != TOOL_OPTION_END;) {
        switch (id) {
        case TOOL_OPTION_WRONG:
            return TOOL_WRONG;
        case TOOL_OPTION_OPERAND:
            if (request->file)
                return tool_fail("unexpected '%s': one file at a time, and it is %s", words.value,
                                 request->file);
            request->file = words.value;
            break;
        case 1:
            request->help = true;
            return TOOL_CLEAN;
        case 2:
            request->symbol = words.value;
            break;
        case 3:
            request->plain = true;
            break;
        case 4:
            request->target = words.value;
            break;
        case 5:
            request->raw = true;
            break;
        default:
            request->wave = words.value;
        }
    }
    if (request->wave && strcmp(request->wave, "32") != 0 && strcmp(request->wave, "64") != 0)
        return tool_fail("--wave takes 32 or 64, not '%s'", request->wave);
    if (!request->file)
        return tool_fail("a file is needed: wavemem dis FILE, or wavemem dis -m gfx900 --raw FILE");
    if (request->raw && !request->target)
        return tool_fail("--raw needs -m TARGET, one like gfx900");
    return !request->target || tool_check_target("", request->target) ? TOOL_CLEAN : TOOL_WRONG;
}

static int open_request(const struct request *request, struct wm_object **object)
{
    struct wm_diag diag;
    if (strcmp(request->file, "-") != 0)
        return wm_object_open_file(request->file, request->target, object, &diag) == WM_OK
                   ? TOOL_CLEAN
                   : tool_fail("%s", diag.message);
    uint8_t *bytes;
    size_t size;
    if (!tool_read_file("/dev/stdin", &bytes, &size, &diag))
        return tool_fail("%s", diag.message);
    const enum wm_status status =
        wm_object_open(bytes, size, "standard input", request->target, object, &diag);
    free(bytes);
    return status == WM_OK ? TOOL_CLEAN : tool_fail("%s", diag.message);
}

int cmd_dis(int argc, char **argv)
{
    struct request request = {0};
    struct wm_object *object;
    int code = parse(argc, argv, &request);
    if (code == TOOL_CLEAN && request.help) {
        fputs(help, stdout);
        return TOOL_CLEAN;
    }
    code = code ? code : open_request(&request, &object);
    if (code != TOOL_CLEAN)
        return code;
    const struct wm_kernel *kernel;
    if (wm_object_version(object) == 0 && !request.raw)
        code = tool_fail(
            "%s: neither ELF nor a bundle; -m alone chooses a bundle's entry, raw instructions need "
            "--raw, too",
            request.file);
    else if (request.raw && wm_object_version(object) != 0)
        code = tool_fail("%s: a code object; --raw is for instructions alone", request.file);
    if (request.symbol && wm_object_find_kernel(object, request.symbol, &kernel, NULL) == WM_OK)
        request.symbol = kernel->name;
    code = code ? code : print_object(object, &request);
    wm_object_close(object);
    return code;
}
