/* SPDX-License-Identifier: MIT */
/* libFuzzer target: arbitrary bytes as a .npy file give an array within these bytes, or one message. */
#include "tool/arguments/npy.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct tool_npy npy;
    struct wm_diag diag = {0};
    if (tool_npy_parse(bytes, size, "fuzz.npy", &npy, &diag)) {
        if (npy.data + npy.count * npy.type->size != size)
            abort();
    } else if (!diag.message[0]) {
        abort();
    }
    return 0;
}
