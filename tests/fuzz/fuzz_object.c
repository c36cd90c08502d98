/* SPDX-License-Identifier: MIT */
/* libFuzzer: arbitrary bytes as a code object or a bundle; queries everything that it contains. Seeds:
 * examples/, plain and in bundles. */
#include "object/object.h"

#include <stdlib.h>
#include <string.h>

enum { LARGEST_IMAGE = 1 << 20 };

static void ask_kernel(const struct wm_kernel *kernel)
{
    const struct wmi_hidden_values hidden = {{100, 3, 1}, {64, 1, 1}, 2};
    size_t read = strlen(kernel->name) + strlen(kernel->source_name) + strlen(kernel->target) +
                  wmi_kernel_descriptor(kernel)->vgprs;
    for (size_t i = 0; i < kernel->argument_count; i++) {
        const struct wm_argument *a = &kernel->arguments[i];
        read += strlen(a->name) + strlen(a->type_name) + strlen(a->value_kind);
    }
    uint8_t *kernarg = calloc(kernel->kernarg_size + (read == 0), 1);
    wmi_fill_kernarg(kernel, &hidden, kernarg);
    free(kernarg);
}

static void ask_code(const struct wm_object *object)
{
    struct wm_code code[8];
    const size_t count = wm_object_code(object, code, 8);
    volatile size_t read = 0;
    for (size_t i = 0; i < count && i < 8; i++) {
        for (size_t at = 0; at < code[i].size; at += 64) {
            const char *file;
            uint64_t distance;
            unsigned line, column;
            const char *symbol = wm_object_symbol(object, code[i].address + at, &distance);
            read += code[i].bytes[at] + (symbol ? strlen(symbol) : 0);
            if (wm_object_line(object, code[i].address + at, &file, &line, &column))
                read += strlen(file);
        }
    }
}

static void ask(const struct wm_object *object)
{
    struct wm_diag diag;
    for (size_t i = 0; i < wm_object_kernel_count(object); i++)
        ask_kernel(wm_object_kernel(object, i));
    ask_code(object);
    const struct wmi_span span = wmi_object_span(object);
    if (span.high - span.low <= LARGEST_IMAGE) {
        uint8_t *image = malloc(span.high - span.low);
        wmi_object_image(object, 0x10000, NULL, NULL, image, false, &diag);
        free(image);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    enum { MOST = 4 };
    struct wm_object *object;
    struct wm_bundle *bundle;
    struct wm_diag diag;
    if (wm_object_open(bytes, size, "fuzz.co", NULL, &object, &diag) == WM_OK) {
        ask(object);
        wm_object_close(object);
    }
    if (wm_bundle_open(bytes, size, "fuzz.hipfb", &bundle, &diag) != WM_OK)
        return 0;
    for (size_t i = 0; i < wm_bundle_entry_count(bundle) && i < MOST; i++) {
        const struct wm_bundle_entry *entry = wm_bundle_entry(bundle, i);
        if (wm_object_open(bytes, size, "fuzz.hipfb", entry->target, &object, &diag) == WM_OK) {
            ask(object);
            wm_object_close(object);
        }
    }
    wm_bundle_close(bundle);
    return 0;
}
