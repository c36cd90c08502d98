/* SPDX-License-Identifier: MIT */
/* libFuzzer target: any bytes as a .npy file give an array or one message, and the array lies inside the
 * bytes. */
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
