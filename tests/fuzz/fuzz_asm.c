/* SPDX-License-Identifier: MIT */
/* libFuzzer: arbitrary text through the assembler. The first byte selects the target, and whether to make a
 * code object and line information. */
#include "assembler/assembler.h"

#include <stdlib.h>

static const char *const targets[] = {
    "gfx600",         "gfx700",
    "gfx803",         "gfx900",
    "gfx906",         "gfx908",
    "gfx90a",         "gfx942",
    "gfx1010",        "gfx1030",
    "gfx1100",        "gfx1150",
    "gfx1200",        "gfx1100:real-true16",
    "gfx1030:wave64", "gfx1200:wave64:real-true16",
};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (!size)
        return 0;
    const char *target = targets[bytes[0] % (sizeof targets / sizeof targets[0])];
    /* Exactly as long as the input, so that the sanitizer detects reads past the end. */
    char *text = malloc(size);
    for (size_t i = 1; i < size; i++)
        text[i - 1] = (char)bytes[i];
    uint8_t *out;
    size_t out_size;
    char *messages;
    const struct wmi_assemble_options options = {
        .name = "fuzz", .target = target, .raw = bytes[0] & 128, .lines = bytes[0] & 64};
    const enum wm_status status = wmi_assemble_file(text, size - 1, &options, &out, &out_size, &messages);
    if (status == WM_BAD_FILE && !(messages && *messages))
        abort(); /* failed without a message */
    free(out);
    free(messages);
    free(text);
    return 0;
}
