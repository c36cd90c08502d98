/* SPDX-License-Identifier: MIT */
/* libFuzzer target: the trace reader. The first byte says whether the rest is a file or its records, which
 * are compressed first, so that mutations get past zstd and its checksum. */
#include "wavemem/wavemem.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

static void replay(const uint8_t *bytes, size_t size)
{
    struct wm_profile *profile;
    struct wm_diag diag;
    size_t rows, kernels, dispatches, codes;
    if (wm_profile_create(&profile, &diag) != WM_OK)
        return;
    wm_profile_replay(profile, bytes, size, "trace", &diag);
    const struct wm_profile_row *row = wm_profile_rows(profile, &rows);
    for (size_t i = 0; i < rows; i++)
        if (row[i].file)
            wm_profile_source(profile, row[i].file);
    const struct wm_profile_kernel *kernel = wm_profile_kernels(profile, &kernels);
    wm_profile_dispatches(profile, &dispatches);
    wm_profile_code(profile, &codes);
    /* As the only part of its dispatch: of a few workgroups, or as many as it says. */
    const uint64_t workgroups = kernels && kernel->workgroups ? kernel->workgroups : 1 + size % 8;
    wm_profile_destroy(profile);
    const struct wm_trace_part part = {bytes, size, "trace", 0, workgroups};
    wm_trace_merge(&part, 1, "/dev/null", &diag);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size == 0)
        return 0;
    if (bytes[0] & 1) {
        replay(bytes + 1, size - 1);
        return 0;
    }
    const size_t room = ZSTD_compressBound(size);
    uint8_t *file = malloc(8 + room);
    memcpy(file, "WMTRACE", 8);
    const size_t length = ZSTD_compress(file + 8, room, bytes + 1, size - 1, 1);
    if (!ZSTD_isError(length))
        replay(file, 8 + length);
    free(file);
    return 0;
}
