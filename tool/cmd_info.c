/* SPDX-License-Identifier: MIT */
/* wavemem info: lists the kernels of a code object with their arguments and resources. */
#include "tool/input.h"
#include "tool/report/document.h"
#include "tool/report/table.h"
#include "tool/sources/sources.h"
#include "tool/text.h"
#include "tool/tool.h"
#include "wavemem/wavemem.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char help[] =
    "usage: wavemem info [-m TARGET] [-k KERNEL] [--all] [--json] FILE\n"
    "\n"
    "Lists the target and the kernels of a code object or a source: arguments, registers, LDS, scratch, "
    "workgroup\n"
    "limits. Of a bundle or a HIP program it lists the entries, and the kernels of the only code object or\n"
    "of the one that -m chooses.\n"
    "\n"
    "  wavemem info transpose.co                      every kernel\n"
    "  wavemem info -k transpose_lds transpose.co     one kernel\n"
    "  wavemem info -m gfx1100 transpose.cl           of a source, compiled for gfx1100\n"
    "  wavemem info librocrand.so.1                   the targets that a program has code for\n"
    "  wavemem info -m gfx900 librocrand.so.1         the kernels for one\n"
    "  wavemem info --json transpose.co | jq -r '.kernels[].name'\n"
    "\n"
    "An argument's number or name is what 'wavemem run --arg' takes. Names come from the metadata (clang\n"
    "writes them with -cl-kernel-arg-info) or from debug information (-g).\n"
    "\n"
    "  -m, --target NAME  the entry of a bundle: its target (gfx900, gfx90a:xnack+), or its number\n"
    "  -k, --kernel NAME  only this kernel\n"
    "  -a, --all          also list the hidden arguments, which wavemem fills\n"
    "      --json         everything, as JSON\n"
    "\n";

static const char codes[] = "\n"
                            "Exit codes: 0 clean, 2 wrong usage or bad input.\n";

struct request {
    const char *file, *kernel, *target;
    struct tool_compile compile;
    bool all, json, help;
};

enum { HELP = 1 };

static const struct tool_option options[] = {
    {"kernel", 'k', TOOL_VALUE, TOOL_KEEP(kernel)},
    {"all", 'a', TOOL_NO_VALUE, TOOL_KEEP(all)},
    {"json", 0, TOOL_NO_VALUE, TOOL_KEEP(json)},
    {"help", 'h', TOOL_NO_VALUE, HELP},
    {"target", 'm', TOOL_VALUE, TOOL_KEEP(target)},
    TOOL_COMPILE_OPTIONS(struct request, compile),
    {NULL, 0, TOOL_NO_VALUE, 0},
};

/* ---- text ---- */

enum { SHOWN = 64 };

/* Truncates text to the width of a column. */
static const char *shown(const char *text, char copy[SHOWN])
{
    size_t end = strlen(text);
    const bool cut = end >= SHOWN;
    if (cut)
        for (end = SHOWN - sizeof("..."); end && ((unsigned char)text[end] & 0xc0) == 0x80;)
            end--; /* keep UTF-8 characters whole */
    snprintf(copy, SHOWN, "%.*s%s", (int)end, text, cut ? "..." : "");
    return copy;
}

static void print_resources(const struct wm_kernel *k)
{
    printf("  wave%u, %s%s%u SGPRs, %u VGPRs", k->wave_size, k->mode ? k->mode : "", k->mode ? " mode, " : "",
           k->sgprs, k->vgprs);
    if (k->agprs)
        printf(" (%u of them AccVGPRs)", k->agprs);
    if (k->sgpr_spills || k->vgpr_spills)
        printf(", spilled: %u SGPRs, %u VGPRs", k->sgpr_spills, k->vgpr_spills);
    printf("\n  the descriptor allocates %u SGPRs, %u VGPRs", k->allocated_sgprs, k->allocated_vgprs);
    if (k->allocated_agprs)
        printf(", %u AccVGPRs", k->allocated_agprs);
    printf("\n  LDS %u bytes per workgroup, scratch %u bytes per lane%s, kernarg %u bytes\n", k->lds_size,
           k->scratch_size, k->dynamic_stack ? " and a dynamic stack" : "", k->kernarg_size);
    if (k->required_cluster[0])
        printf("  cluster: %u,%u,%u workgroups required\n", k->required_cluster[0], k->required_cluster[1],
               k->required_cluster[2]);
    if (k->required_workgroup[0])
        printf("  workgroup: %u,%u,%u required\n", k->required_workgroup[0], k->required_workgroup[1],
               k->required_workgroup[2]);
    else if (k->max_workgroup)
        printf("  workgroup: at most %u work-items\n", k->max_workgroup);
}

static void print_arguments(const struct wm_kernel *kernel, bool all)
{
    static const struct tool_column columns[] = {{"#", TOOL_RIGHT},      {"name", TOOL_LEFT},
                                                 {"type", TOOL_LEFT},    {"kind", TOOL_LEFT},
                                                 {"offset", TOOL_RIGHT}, {"size", TOOL_RIGHT}};
    struct tool_table table = {columns, sizeof(columns) / sizeof(columns[0]), NULL, 0};
    size_t hidden = 0;
    for (size_t i = 0; i < kernel->argument_count; i++) {
        const struct wm_argument *a = &kernel->arguments[i];
        char name[SHOWN], type[SHOWN], kind[SHOWN];
        if (a->kind == WM_ARGUMENT_HIDDEN && !all) {
            hidden++;
            continue;
        }
        tool_table_cell(&table, "%zu", i);
        tool_table_cell(&table, "%s", *a->name ? shown(a->name, name) : "-");
        tool_table_cell(&table, "%s%s", a->is_const ? "const " : "",
                        *a->type_name ? shown(a->type_name, type) : "-");
        tool_table_cell(&table, "%s", shown(a->value_kind, kind));
        tool_table_cell(&table, "%" PRIu32, a->offset);
        tool_table_cell(&table, "%" PRIu32, a->size);
    }
    if (table.cell_count)
        tool_table_print(&table, stdout, 2);
    tool_table_free(&table);
    if (hidden)
        printf("  and %zu hidden arguments (--all)\n", hidden);
    if (!kernel->argument_count)
        puts("  no arguments");
}

static void print_kernel(const struct wm_object *object, const struct wm_kernel *kernel, bool all)
{
    const char *file;
    unsigned line;
    tool_print(stdout, "\n%s", kernel->source_name);
    if (wm_kernel_line(object, kernel, &file, &line))
        tool_print(stdout, "  (%s:%u)", file, line);
    if (strcmp(kernel->name, kernel->source_name) != 0)
        tool_print(stdout, "\n  symbol %s", kernel->name);
    putchar('\n');
    print_resources(kernel);
    print_arguments(kernel, all);
}

static void print_entries(const struct wm_bundle *bundle, const char *file)
{
    static const struct tool_column columns[] = {{"#", TOOL_RIGHT},      {"target", TOOL_LEFT},
                                                 {"bundle", TOOL_RIGHT}, {"offset", TOOL_RIGHT},
                                                 {"size", TOOL_RIGHT},   {"id", TOOL_LEFT}};
    struct tool_table table = {columns, sizeof(columns) / sizeof(columns[0]), NULL, 0};
    const size_t count = wm_bundle_entry_count(bundle);
    size_t bundles = 0, compressed = 0;
    for (size_t i = 0; i < count; i++) {
        const struct wm_bundle_entry *entry = wm_bundle_entry(bundle, i);
        char target[SHOWN], id[SHOWN];
        compressed += entry->compressed && entry->bundle >= bundles;
        bundles = entry->bundle + 1;
        tool_table_cell(&table, "%zu", i);
        tool_table_cell(&table, "%s", *entry->target ? shown(entry->target, target) : "-");
        tool_table_cell(&table, "%zu", entry->bundle);
        tool_table_cell(&table, "0x%" PRIx64, entry->offset);
        tool_table_cell(&table, "%zu", entry->size);
        tool_table_cell(&table, "%s", shown(entry->id, id));
    }
    tool_print(stdout, "%s: %zu offload bundle%s", file, bundles, bundles == 1 ? "" : "s");
    if (compressed)
        printf(" (%zu compressed)", compressed);
    printf(", %zu entr%s\n", count, count == 1 ? "y" : "ies");
    tool_table_print(&table, stdout, 2);
    tool_table_free(&table);
}

/* ---- JSON ---- */

static json_t *json_argument(const struct wm_argument *a)
{
    json_t *object = json_object();
    json_object_set_new(object, "name", tool_json_text(a->name));
    json_object_set_new(object, "type", tool_json_text(a->type_name));
    json_object_set_new(object, "kind", tool_json_text(a->value_kind));
    json_object_set_new(object, "hidden", json_boolean(a->kind == WM_ARGUMENT_HIDDEN));
    json_object_set_new(object, "const", json_boolean(a->is_const));
    json_object_set_new(object, "offset", json_integer(a->offset));
    json_object_set_new(object, "size", json_integer(a->size));
    return object;
}

static json_t *json_extent(const uint32_t extent[3])
{
    return extent[0] ? json_pack("[iii]", (int)extent[0], (int)extent[1], (int)extent[2]) : json_null();
}

static json_t *json_kernel(const struct wm_kernel *k)
{
    json_t *object = json_object(), *arguments = json_array();
    const struct {
        const char *key;
        uint32_t value;
    } numbers[] = {
        {"wave_size", k->wave_size},
        {"sgprs", k->sgprs},
        {"vgprs", k->vgprs},
        {"agprs", k->agprs},
        {"allocated_sgprs", k->allocated_sgprs},
        {"allocated_vgprs", k->allocated_vgprs},
        {"allocated_agprs", k->allocated_agprs},
        {"sgpr_spills", k->sgpr_spills},
        {"vgpr_spills", k->vgpr_spills},
        {"lds_bytes", k->lds_size},
        {"scratch_bytes", k->scratch_size},
        {"kernarg_bytes", k->kernarg_size},
        {"max_workgroup", k->max_workgroup},
    };
    json_object_set_new(object, "name", tool_json_text(k->name));
    json_object_set_new(object, "source_name", tool_json_text(k->source_name));
    json_object_set_new(object, "entry", json_sprintf("0x%" PRIx64, k->entry));
    json_object_set_new(object, "descriptor", json_sprintf("0x%" PRIx64, k->descriptor));
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        json_object_set_new(object, numbers[i].key, json_integer(numbers[i].value));
    json_object_set_new(object, "mode", k->mode ? json_string(k->mode) : json_null());
    json_object_set_new(object, "required_workgroup", json_extent(k->required_workgroup));
    json_object_set_new(object, "required_cluster", json_extent(k->required_cluster));
    json_object_set_new(object, "dynamic_stack", json_boolean(k->dynamic_stack));
    for (size_t i = 0; i < k->argument_count; i++)
        json_array_append_new(arguments, json_argument(&k->arguments[i]));
    json_object_set_new(object, "arguments", arguments);
    return object;
}

/* ---- the verb ---- */

static int parse(int argc, char **argv, struct request *request)
{
    struct tool_words words = {
        .verb = argv[0], .options = options, .count = argc - 1, .words = argv + 1, .request = request};
    for (int id; (id = tool_next_option(&words)) != TOOL_OPTION_END;) {
        if (id == TOOL_OPTION_WRONG)
            return TOOL_WRONG;
        if (id == HELP) {
            request->help = true;
            return TOOL_CLEAN;
        }
        if (request->file)
            return tool_fail("unexpected '%s': one file at a time, and it is %s", words.value, request->file);
        request->file = words.value;
    }
    return request->file ? TOOL_CLEAN : tool_fail("a file is needed: wavemem info FILE");
}

static void print_text(const struct wm_object *object, const struct request *request,
                       const struct wm_kernel *only)
{
    const size_t count = wm_object_kernel_count(object);
    tool_print(stdout, "%s: %s, code object version %u, %zu kernel%s\n", request->file,
               wm_object_target_id(object), wm_object_version(object), count, count == 1 ? "" : "s");
    for (size_t i = 0; i < count; i++) {
        const struct wm_kernel *kernel = wm_object_kernel(object, i);
        if (!only || kernel == only)
            print_kernel(object, kernel, request->all);
    }
}

static json_t *json_entries(const struct wm_bundle *bundle)
{
    json_t *entries = json_array();
    for (size_t i = 0; i < wm_bundle_entry_count(bundle); i++) {
        const struct wm_bundle_entry *entry = wm_bundle_entry(bundle, i);
        json_t *object = json_object();
        json_object_set_new(object, "id", tool_json_text(entry->id));
        json_object_set_new(object, "target", tool_json_text(entry->target));
        json_object_set_new(object, "bundle", json_integer((json_int_t)entry->bundle));
        json_object_set_new(object, "offset", json_integer((json_int_t)entry->offset));
        json_object_set_new(object, "size", json_integer((json_int_t)entry->size));
        json_object_set_new(object, "compressed", json_boolean(entry->compressed));
        json_array_append_new(entries, object);
    }
    return entries;
}

/* `bundle` or `object` may be NULL, not both. */
static int print_json(const struct wm_bundle *bundle, const struct wm_object *object,
                      const struct request *request, const struct wm_kernel *only)
{
    json_t *report = json_object(), *kernels = json_array();
    json_object_set_new(report, "file", tool_json_text(request->file));
    if (bundle)
        json_object_set_new(report, "entries", json_entries(bundle));
    if (object) {
        json_object_set_new(report, "target", tool_json_text(wm_object_target_id(object)));
        json_object_set_new(report, "version", json_integer(wm_object_version(object)));
    }
    for (size_t i = 0; object && i < wm_object_kernel_count(object); i++) {
        const struct wm_kernel *kernel = wm_object_kernel(object, i);
        if (!only || kernel == only)
            json_array_append_new(kernels, json_kernel(kernel));
    }
    if (object)
        json_object_set(report, "kernels", kernels);
    json_decref(kernels);
    const int failed = json_dumpf(report, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(report);
    return failed ? tool_fail("%s: no memory for the report", request->file) : TOOL_CLEAN;
}

/* Prints the requested parts of the code object, and of the bundle unless NULL. */
static int show(const struct wm_bundle *bundle, const struct wm_object *object, const struct request *request)
{
    const struct wm_kernel *only = NULL;
    struct wm_diag diag;
    if (request->kernel && wm_object_find_kernel(object, request->kernel, &only, &diag) != WM_OK)
        return tool_fail("%s", diag.message);
    if (request->json)
        return print_json(bundle, object, request, only);
    if (bundle)
        print_entries(bundle, request->file);
    if (bundle && object)
        putchar('\n');
    if (object)
        print_text(object, request, only);
    return TOOL_CLEAN;
}

/* The opened file. A bundle with one code object sets both; otherwise one is NULL. */
struct opened {
    struct wm_bundle *bundle;
    struct wm_object *object;
};

/* Opens the bytes, or the file if they are NULL. */
static int open_file(const struct request *request, const uint8_t *bytes, size_t size, struct opened *opened)
{
    const char *file = request->file, *target = request->target;
    struct wm_diag diag;
    if (!target && !request->kernel && !tool_is_source(file)) {
        const enum wm_status status = bytes ? wm_bundle_open(bytes, size, file, &opened->bundle, &diag)
                                            : wm_bundle_open_file(file, &opened->bundle, &diag);
        if (status && status != WM_NOT_FOUND)
            return tool_fail("%s", diag.message);
    }
    if (tool_is_source(file) || (request->kernel && !bytes)) {
        const struct tool_open how = {.where = "",
                                      .file = file,
                                      .target = target,
                                      .kernel = request->kernel,
                                      .compile = &request->compile,
                                      .verb = "info"};
        return tool_open(&how, &opened->object);
    }
    const enum wm_status status = bytes ? wm_object_open(bytes, size, file, target, &opened->object, &diag)
                                        : wm_object_open_file(file, target, &opened->object, &diag);
    if (status && !(opened->bundle && (status == WM_BAD_ARGUMENT || status == WM_NOT_FOUND)))
        return tool_fail("%s", diag.message);
    if (opened->object && wm_object_version(opened->object) == 0)
        return tool_fail("%s: neither ELF nor a bundle", file);
    return TOOL_CLEAN;
}

/* Reads the file first unless it is a regular one: pipes can be read only once. */
static int open_once(const struct request *request, struct opened *opened)
{
    struct stat status;
    uint8_t *bytes;
    size_t size;
    struct wm_diag diag;
    if (tool_is_source(request->file) || stat(request->file, &status) != 0 || S_ISREG(status.st_mode) ||
        S_ISDIR(status.st_mode))
        return open_file(request, NULL, 0, opened);
    if (!tool_read_file(request->file, &bytes, &size, &diag))
        return tool_fail("%s", diag.message);
    const int code = open_file(request, bytes, size, opened);
    free(bytes);
    return code;
}

static int cmd_info(int argc, char **argv)
{
    struct request request = {0};
    struct opened opened = {0};
    int code = parse(argc, argv, &request);
    if (code == TOOL_CLEAN && request.help) {
        printf("%s%s%s", help, tool_compile_help, codes);
        return TOOL_CLEAN;
    }
    code = code ? code : open_once(&request, &opened);
    code = code ? code : show(opened.bundle, opened.object, &request);
    wm_object_close(opened.object);
    wm_bundle_close(opened.bundle);
    return code;
}

const struct tool_verb tool_verb_info = {
    "info", "list the kernels of a code object, their arguments and resources", cmd_info, help, options,
    NULL};
