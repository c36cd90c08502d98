/* SPDX-License-Identifier: MIT */
/* wavemem dis: prints instructions as llvm-objdump -d -z does. */
#include "tool/input.h"
#include "tool/listing/listing.h"
#include "tool/sources/sources.h"
#include "tool/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: wavemem dis [options] [-k NAME] [-m TARGET] FILE...\n"
    "       wavemem dis [options] -m TARGET --raw FILE...\n"
    "\n"
    "Disassembles the code sections of code objects, or files of raw instructions, in LLVM's syntax.\n"
    "\n"
    "  wavemem dis transpose.co               like llvm-objdump -d -z: symbols, text, address, words, "
    "targets\n"
    "  wavemem dis -m gfx1100 transpose.cl    a source, compiled for gfx1100\n"
    "  wavemem dis a.co b.co                  several files in one run, which is faster\n"
    "  wavemem dis -k transpose_naive transpose.co   one kernel or function only\n"
    "  wavemem dis --plain transpose.co       text only, one instruction per line, for an assembler or "
    "diff\n"
    "  wavemem dis --lines transpose.co       with source lines from the debug information\n"
    "  wavemem dis --plain --reassemblable --labels t.co   llvm-mc-19 reassembles it to the same bytes\n"
    "  wavemem dis -m gfx900 --raw words.bin  little-endian 32-bit words; - reads standard input\n"
    "  wavemem dis -m gfx900 kernels.hipfb    the code object for one target in a bundle or HIP program\n"
    "\n"
    "Words that are not an instruction of the target are printed as .long.\n"
    "\n"
    "  -k, --kernel NAME  only this symbol, or the kernel with this source name\n"
    "      --plain        only the text of the instructions\n"
    "  -C, --demangle     names as in the source: math::scale<float, 4>; else symbols, as llvm-objdump\n"
    "      --no-addresses, --no-bytes   without addresses; without words\n"
    "      --labels       print labels for branch targets (.L1a4: offset in the section), not distances\n"
    "      --lines        the source line, where it changes; needs DWARF in the code object\n"
    "      --reassemblable  as .long what LLVM's assembler would not turn into the same words: a literal "
    "that\n"
    "                     equals an inline constant, unused bits that are set\n"
    "      --json         write a JSON array with an object per instruction\n"
    "      --steps        with -k KERNEL: print the steps by which wavemem executes each instruction, and\n"
    "                     which of them stay interpreted where the kernel is compiled\n"
    "  -m, --target NAME  the entry of a bundle, by its target (gfx900, gfx90a:xnack+) or number; the "
    "target\n"
    "                     of raw instructions\n"
    "      --raw          FILE contains raw instructions, not ELF\n"
    "  -j, --threads N    host threads; 0, the default, is one per CPU\n"
    "      --wave 32|64   lanes of a wave (gfx10 and later); a kernel's descriptor says its own, else 32\n"
    "      --llvm 19|22   text of this version of LLVM where they differ; 19 is the default, if it knows\n"
    "                     the target\n"
    "\n";

static const char codes[] = "\n"
                            "Exit codes: 0 clean, 2 wrong usage or bad input.\n";

enum { HELP = 1, REASSEMBLABLE, THREADS };

struct request {
    const char **files; /* room for all arguments */
    size_t file_count;
    const char *file; /* the current one */
    const char *target;
    const char *wave; /* "32" or "64", or NULL */
    const char *llvm; /* "19" or "22", whose text to print, or NULL */
    struct tool_listing listing;
    struct tool_compile compile;
    bool raw, help, steps;
};

static const struct tool_option options[] = {
    {"help", 'h', TOOL_NO_VALUE, HELP},
    {"kernel", 'k', TOOL_VALUE, TOOL_KEEP(listing.symbol)},
    {"plain", 0, TOOL_NO_VALUE, TOOL_KEEP(listing.plain)},
    {"target", 'm', TOOL_VALUE, TOOL_KEEP(target)},
    {"raw", 0, TOOL_NO_VALUE, TOOL_KEEP(raw)},
    {"wave", 0, TOOL_VALUE, TOOL_KEEP(wave)},
    {"llvm", 0, TOOL_VALUE, TOOL_KEEP(llvm)},
    {"demangle", 'C', TOOL_NO_VALUE, TOOL_KEEP(listing.demangled)},
    {"no-addresses", 0, TOOL_NO_VALUE, TOOL_KEEP(listing.no_addresses)},
    {"no-bytes", 0, TOOL_NO_VALUE, TOOL_KEEP(listing.no_bytes)},
    {"labels", 0, TOOL_NO_VALUE, TOOL_KEEP(listing.labels)},
    {"lines", 0, TOOL_NO_VALUE, TOOL_KEEP(listing.lines)},
    {"reassemblable", 0, TOOL_NO_VALUE, REASSEMBLABLE},
    {"json", 0, TOOL_NO_VALUE, TOOL_KEEP(listing.json)},
    {"steps", 0, TOOL_NO_VALUE, TOOL_KEEP(steps)},
    {"threads", 'j', TOOL_VALUE, THREADS},
    TOOL_COMPILE_OPTIONS(struct request, compile),
    {NULL, 0, TOOL_NO_VALUE, 0},
};

/* Writes the object's target with the wave size, the features that `requested` (-m, or NULL) names, and the
 * version of LLVM, for wm_disassembler_create(). LLVM 22 names halves of VGPRs on gfx11 by default, on later
 * targets if it is told to; it is the first that knows gfx1153. What a target does not support is left out.
 */
static void name_target(char *name, size_t size, const struct wm_object *object, const char *requested,
                        const char *wave, const char *llvm)
{
    const bool later = llvm && !strcmp(llvm, "22");
    const char *own = wm_object_target(object);
    const bool by_default = !strncmp(own, later ? "gfx11" : "gfx1153", later ? 5 : 7);
    const bool halves = by_default || (requested && strstr(requested, ":real-true16"));
    for (unsigned without = 0; without < 4; without++) {
        const bool has_wave = !(without & 1), has_halves = halves && !(without & 2);
        snprintf(name, size, "%s%s%s%s%s", own, has_wave ? ":wave" : "", has_wave ? wave : "",
                 has_halves && !strstr(own, ":real-true16") ? ":real-true16" : "", later ? ":llvm22" : "");
        if (wm_target_known(name))
            return;
    }
}

enum { MOST_THREADS = 64 };

/* Default: the number of CPUs. */
static void choose_threads(unsigned *threads)
{
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    if (*threads == 0)
        *threads = cpus < 1 ? 1 : cpus > MOST_THREADS ? MOST_THREADS : (unsigned)cpus;
}

static int print_object(const struct wm_object *object, struct request *request)
{
    enum { NAME = 128 };
    struct tool_listing *listing = &request->listing;
    const size_t count = wm_object_code(object, NULL, 0);
    struct wm_code *code = calloc(count + 1, sizeof(*code));
    struct wm_diag diag;
    int result = code ? TOOL_CLEAN : tool_fail("out of memory");
    if (code)
        wm_object_code(object, code, count);
    listing->object = object;
    listing->file = request->file;
    /* [0]: kernels with waves of 32, and code outside of kernels; [1]: kernels with waves of 64 */
    char name[2][NAME];
    for (unsigned i = 0; i < 2 && result == TOOL_CLEAN; i++) {
        name_target(name[i], NAME, object, request->raw ? request->target : NULL,
                    request->wave ? request->wave
                    : i           ? "64"
                                  : "32",
                    request->llvm);
        listing->targets[i] = name[i];
        if (wm_disassembler_create(name[i], listing->flags, &listing->disassembler[i], &diag) != WM_OK)
            result = tool_fail("%s", diag.message);
    }
    choose_threads(&listing->threads);
    if (result == TOOL_CLEAN)
        result = tool_list(listing, code, count);
    wm_disassembler_destroy(listing->disassembler[0]);
    wm_disassembler_destroy(listing->disassembler[1]);
    free(code);
    return result;
}

static bool read_threads(const char *text, unsigned *threads)
{
    char *end;
    const unsigned long number = strtoul(text, &end, 10);
    if (*end || end == text || *text == '-' || number > MOST_THREADS)
        return false;
    *threads = (unsigned)number;
    return true;
}

static int parse(int argc, char **argv, struct request *request)
{
    struct tool_listing *listing = &request->listing;
    struct tool_words words = {
        .verb = argv[0], .options = options, .count = argc - 1, .words = argv + 1, .request = request};
    for (int id; (id = tool_next_option(&words)) != TOOL_OPTION_END;) {
        if (id == TOOL_OPTION_WRONG)
            return TOOL_WRONG;
        if (id == HELP) {
            request->help = true;
            return TOOL_CLEAN;
        }
        if (id == TOOL_OPTION_OPERAND)
            request->files[request->file_count++] = words.value;
        else if (id == REASSEMBLABLE)
            listing->flags |= WM_DISASSEMBLE_REASSEMBLABLE;
        else if (!read_threads(words.value, &listing->threads))
            return tool_fail("-j %s: expected a number of threads (0: one per CPU)", words.value);
    }
    if (listing->lines && !TOOL_HAS_DWARF)
        return tool_fail("--lines: " TOOL_NO_DWARF);
    if (listing->json && (listing->plain || listing->no_addresses || listing->no_bytes))
        return tool_fail("--json has everything: it goes without --plain, --no-addresses and --no-bytes");
    if (request->wave && strcmp(request->wave, "32") != 0 && strcmp(request->wave, "64") != 0)
        return tool_fail("--wave takes 32 or 64, not '%s'", request->wave);
    if (request->llvm && strcmp(request->llvm, "19") != 0 && strcmp(request->llvm, "22") != 0)
        return tool_fail("--llvm takes 19 or 22, not '%s'", request->llvm);
    if (request->steps && (!listing->symbol || listing->json || listing->plain))
        return tool_fail("--steps needs -k KERNEL, and goes without --json and --plain");
    if (listing->json && request->file_count > 1)
        return tool_fail("--json takes one file, and there are %zu", request->file_count);
    if (!request->file_count)
        return tool_fail("a file is needed: wavemem dis FILE, or wavemem dis -m gfx900 --raw FILE");
    if (request->raw && !request->target)
        return tool_fail("--raw needs -m TARGET, one like gfx900");
    return !request->target || tool_check_target("", request->target) ? TOOL_CLEAN : TOOL_WRONG;
}

static int open_request(const struct request *request, struct wm_object **object)
{
    struct wm_diag diag;
    if (strcmp(request->file, "-") != 0) {
        /* Source names of kernels need the metadata; reading it takes longer than listing a small kernel. */
        const struct tool_open how = {.where = "",
                                      .file = request->file,
                                      .target = request->target,
                                      .kernel = request->listing.symbol,
                                      .wave = request->wave ? (unsigned)atoi(request->wave) : 0,
                                      .compile = &request->compile,
                                      .verb = "dis",
                                      .code_only = !request->listing.symbol};
        return tool_open(&how, object);
    }
    uint8_t *bytes;
    size_t size;
    if (!tool_read_stdin(&bytes, &size, &diag))
        return tool_fail("%s", diag.message);
    const enum wm_status status =
        wm_object_open(bytes, size, "standard input", request->target, object, &diag);
    free(bytes);
    return status == WM_OK ? TOOL_CLEAN : tool_fail("%s", diag.message);
}

/* Fails if the object is raw code without --raw, or the reverse. */
static int check_kind(const struct request *request, const struct wm_object *object)
{
    const bool raw = wm_object_version(object) == 0;
    if (raw && !request->raw)
        return tool_fail("%s: neither ELF nor a bundle; -m alone chooses a bundle's entry, raw instructions "
                         "need --raw, too",
                         request->file);
    if (!raw && request->raw)
        return tool_fail("%s: a code object; --raw is for instructions alone", request->file);
    return TOOL_CLEAN;
}

static void write_line(void *file, const char *line)
{
    fprintf(file, "%s\n", line);
}

static int list_steps(const struct request *request, const struct wm_object *object)
{
    const struct wm_kernel *kernel;
    struct wm_diag diag;
    if (wm_object_find_kernel(object, request->listing.symbol, &kernel, &diag) != WM_OK ||
        wm_kernel_steps(object, kernel, write_line, stdout, &diag) != WM_OK)
        return tool_fail("%s", diag.message);
    return TOOL_CLEAN;
}

static int list_file(struct request request)
{
    struct wm_object *object;
    const struct wm_kernel *kernel;
    int code = open_request(&request, &object);
    if (code != TOOL_CLEAN)
        return code;
    code = check_kind(&request, object);
    if (request.steps && code == TOOL_CLEAN) {
        code = list_steps(&request, object);
        wm_object_close(object);
        return code;
    }
    if (request.listing.symbol &&
        wm_object_find_kernel(object, request.listing.symbol, &kernel, NULL) == WM_OK)
        request.listing.symbol = kernel->name;
    code = code ? code : print_object(object, &request);
    wm_object_close(object);
    return code;
}

static int cmd_dis(int argc, char **argv)
{
    struct request request = {.files = calloc((size_t)argc, sizeof(*request.files))};
    int code = request.files ? parse(argc, argv, &request) : tool_fail("out of memory");
    if (code == TOOL_CLEAN && request.help)
        printf("%s%s%s", help, tool_compile_help, codes);
    for (size_t i = 0; i < request.file_count && code == TOOL_CLEAN && !request.help; i++) {
        request.file = request.files[i];
        code = list_file(request);
    }
    free(request.files);
    return code;
}

const struct tool_verb tool_verb_dis = {
    "dis", "disassemble a code object or raw instructions", cmd_dis, help, options, NULL};
