/* SPDX-License-Identifier: MIT */
/* Opens the file of a verb: a code object, an entry of a bundle, or a source. */
#include "tool/sources/sources.h"

#include "tool/input.h"
#include "tool/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sources are compiled for this product's target if nothing names one. */
static const char default_gpu[] = "mi210";

/* ---- sources ---- */

/* Chooses the target of a source: -m, what the text says, that of --gpu, or a default, which is told. */
static int choose_target(const struct tool_open *how, enum tool_language language, const char *text,
                         size_t size, char target[64])
{
    char named[64];
    uint64_t number;
    const struct wm_gpu *gpu = how->gpu;
    struct wm_diag diag;
    tool_named_target(language, text, size, named);
    if (how->target && tool_parse_u64(how->target, &number))
        return tool_fail("%s-m %s: %s is a source; expected a target like gfx90a", how->where, how->target,
                         how->file);
    if (how->target && language == TOOL_IR && *named &&
        strncmp(named, how->target, strcspn(how->target, ":")) != 0)
        return tool_fail("%s-m %s: the functions of %s are for %s", how->where, how->target, how->file,
                         named);
    if (how->target && strlen(how->target) < 64) {
        strcpy(target, how->target);
        return TOOL_CLEAN;
    }
    if (*named) {
        strcpy(target, named);
        return TOOL_CLEAN;
    }
    if (!gpu && wm_gpu_find(default_gpu, &gpu, &diag) != WM_OK)
        return tool_fail("%s%s", how->where, diag.message);
    snprintf(target, 64, "%.*s", (int)strcspn(gpu->targets, " ,"), gpu->targets);
    if (!how->gpu) {
        tool_print_label(stderr, TOOL_YELLOW, "note");
        tool_print(stderr, "%s is compiled for %s (%s); -m TARGET chooses another one\n", how->file, target,
                   gpu->title);
    }
    return TOOL_CLEAN;
}

static int assemble(const struct tool_open *how, const char *target, const char *text, size_t size,
                    uint8_t **bytes, size_t *bytes_size)
{
    const struct tool_compile *compile = how->compile;
    const char *folders[TOOL_KEPT_MOST], *symbols[TOOL_KEPT_MOST];
    size_t count = 0;
    char *messages = NULL, full[80];
    struct wm_diag diag;
    if (compile->level || compile->clang)
        return tool_fail("%s%s is for the compiler; wavemem assembles %s itself", how->where,
                         compile->level ? "-O" : "--clang", how->file);
    for (size_t i = 0; i < compile->options.count; i++) {
        if (compile->options.kept[i].letter != 'I')
            return tool_fail("%s-D and --compile-option are for the compiler; wavemem assembles %s itself",
                             how->where, how->file);
        folders[count++] = compile->options.kept[i].value;
    }
    for (size_t i = 0; i < compile->symbols.count; i++)
        symbols[i] = compile->symbols.kept[i].value;
    snprintf(full, sizeof full, how->wave && !strstr(target, ":wave") ? "%s:wave%u" : "%s", target,
             how->wave);
    const struct wm_assemble_options options = {.struct_size = sizeof options,
                                                .flags = WM_ASSEMBLE_FILES | WM_ASSEMBLE_LINES,
                                                .folders = folders,
                                                .folder_count = count,
                                                .symbols = symbols,
                                                .symbol_count = compile->symbols.count};
    const enum wm_status status =
        wm_assemble_with(&options, text, size, how->file, wm_target_known(full) ? full : target, bytes,
                         bytes_size, &messages, &diag);
    if (messages)
        fputs(messages, stderr);
    const bool told = status == WM_BAD_FILE && messages && *messages;
    free(messages);
    return status == WM_OK ? TOOL_CLEAN : told ? TOOL_WRONG : tool_fail("%s%s", how->where, diag.message);
}

int tool_make_object(const struct tool_open *how, uint8_t **bytes, size_t *size)
{
    const enum tool_language language = tool_language_of(how->file);
    char target[64];
    uint8_t *text;
    size_t text_size;
    struct wm_diag diag;
    *bytes = NULL;
    *size = 0;
    if (!tool_read_file(how->file, &text, &text_size, &diag))
        return tool_fail("%s%s", how->where, diag.message);
    if (language != TOOL_ASSEMBLY && how->compile->symbols.count) {
        free(text);
        return tool_fail("%s--defsym is for assembly; %s takes -D", how->where, how->file);
    }
    int code = choose_target(how, language, (const char *)text, text_size, target);
    if (code == TOOL_CLEAN)
        code = language == TOOL_ASSEMBLY
                   ? assemble(how, target, (const char *)text, text_size, bytes, size)
                   : tool_compile_source(how, language, target, (const char *)text, text_size, bytes, size);
    free(text);
    return code;
}

static int open_source(const struct tool_open *how, struct wm_object **object)
{
    struct wm_diag diag;
    uint8_t *bytes;
    size_t size;
    int code = tool_make_object(how, &bytes, &size);
    if (code == TOOL_CLEAN && wm_object_open(bytes, size, how->file, NULL, object, &diag) != WM_OK)
        code = tool_fail("%s%s", how->where, diag.message);
    free(bytes);
    return code;
}

/* ---- bundles ---- */

/* Looks for how->kernel in all entries of the file that fit the target. WM_NOT_FOUND: no kernel is named, or
 * the file has no bundles; WM_BAD_ARGUMENT: none has it, or several have. */
static enum wm_status search_bundles(const struct tool_open *how, struct wm_object **object,
                                     struct wm_diag *diag)
{
    struct wm_bundle *bundle;
    struct wm_diag ignored;
    char found[200] = "";
    unsigned count = 0, fitting = 0;
    if (!how->kernel || wm_bundle_open_file(how->file, &bundle, &ignored) != WM_OK)
        return WM_NOT_FOUND;
    for (size_t i = 0; i < wm_bundle_entry_count(bundle); i++) {
        const struct wm_bundle_entry *entry = wm_bundle_entry(bundle, i);
        const struct wm_kernel *kernel;
        const uint8_t *bytes;
        struct wm_object *here;
        if (!*entry->target || wm_bundle_bytes(bundle, i, &bytes, &ignored) != WM_OK ||
            wm_object_open(bytes, entry->size, how->file, how->target, &here, &ignored) != WM_OK)
            continue;
        fitting++;
        if (wm_object_version(here) == 0 ||
            wm_object_find_kernel(here, how->kernel, &kernel, &ignored) != WM_OK) {
            wm_object_close(here);
            continue;
        }
        const size_t used = strlen(found);
        snprintf(found + used, sizeof found - used, "%s%zu (%s)", count ? ", " : "", i, entry->target);
        if (count++)
            wm_object_close(here);
        else
            *object = here;
    }
    wm_bundle_close(bundle);
    if (count == 1)
        return WM_OK;
    if (!count) {
        snprintf(diag->message, sizeof diag->message, "%s: none of its %u code objects%s%s has a kernel '%s'",
                 how->file, fitting, how->target ? " for " : "", how->target ? how->target : "", how->kernel);
        return WM_BAD_ARGUMENT;
    }
    wm_object_close(*object);
    *object = NULL;
    snprintf(diag->message, sizeof diag->message,
             "%s: %s is in the entries %s; -m chooses one, by its target or number", how->file, how->kernel,
             found);
    return WM_BAD_ARGUMENT;
}

int tool_open(const struct tool_open *how, struct wm_object **object)
{
    struct wm_diag diag;
    *object = NULL;
    if (tool_is_source(how->file))
        return open_source(how, object);
    enum wm_status status =
        (how->code_only ? wm_object_open_code : wm_object_open_file)(how->file, how->target, object, &diag);
    if (status == WM_BAD_ARGUMENT) {
        const enum wm_status found = search_bundles(how, object, &diag);
        status = found == WM_NOT_FOUND ? status : found;
    }
    return status == WM_OK ? TOOL_CLEAN : tool_fail("%s%s", how->where, diag.message);
}
