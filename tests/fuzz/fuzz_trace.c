/* SPDX-License-Identifier: MIT */
/* libFuzzer target: the reader of traces, and the merge of one or two.
 *
 * The first byte says what the rest is: a file or the records of one, which are compressed here; one trace,
 * one as both parts of its dispatches, or two, of which the first one's size is in two bytes. */
#include "tests/fuzz/trace_file.h"
#include "wavemem/wavemem.h"

enum { IS_FILE = 1, IS_BOTH = 2, IS_TWO = 4 };

/* A part, and the workgroups that it seems to have of each dispatch. */
struct part {
    uint8_t *file;
    size_t size, dispatches;
    uint64_t workgroups;
};

static void replay(struct part *part)
{
    struct wm_profile *profile;
    struct wm_diag diag;
    size_t rows, kernels, codes;
    part->dispatches = 1;
    part->workgroups = 1 + part->size % 8; /* if it does not say */
    if (wm_profile_create(&profile, &diag) != WM_OK)
        return;
    wm_profile_replay(profile, part->file, part->size, "trace", &diag);
    const struct wm_profile_row *row = wm_profile_rows(profile, &rows);
    for (size_t i = 0; i < rows; i++)
        if (row[i].file)
            wm_profile_source(profile, row[i].file);
    const struct wm_profile_kernel *kernel = wm_profile_kernels(profile, &kernels);
    wm_profile_dispatches(profile, &part->dispatches);
    wm_profile_code(profile, &codes);
    if (!part->dispatches)
        part->dispatches = 1;
    if (kernels && kernel->workgroups >= part->dispatches)
        part->workgroups = kernel->workgroups / part->dispatches;
    wm_profile_destroy(profile);
}

static void merge(const struct part *parts, size_t count)
{
    enum { MOST = 8 };
    struct wm_trace_range ranges[2][MOST];
    struct wm_trace_part given[2];
    struct wm_diag diag;
    const size_t dispatches = parts[0].dispatches < MOST ? parts[0].dispatches : MOST;
    uint64_t next = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t d = 0; d < dispatches; d++)
            ranges[i][d] = (struct wm_trace_range){next, parts[i].workgroups};
        next += parts[i].workgroups;
        given[i] = (struct wm_trace_part){parts[i].file, parts[i].size, "trace", ranges[i], dispatches};
    }
    wm_trace_merge(given, count, "/dev/null", &diag);
}

static struct part make_part(const uint8_t *bytes, size_t size, bool is_file)
{
    struct part part = {.size = size};
    if (is_file) {
        part.file = malloc(size + 1);
        memcpy(part.file, bytes, size);
    } else {
        part.file = make_trace_file(bytes, size, &part.size);
    }
    return part;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < 3)
        return 0;
    const uint8_t choice = *bytes++;
    const bool is_file = choice & IS_FILE, two = choice & IS_TWO;
    struct part parts[2] = {{0}};
    size--;
    if (two) {
        const size_t given = bytes[0] | (size_t)bytes[1] << 8, room = size - 2,
                     first = given < room ? given : room;
        parts[0] = make_part(bytes + 2, first, is_file);
        parts[1] = make_part(bytes + 2 + first, room - first, is_file);
        replay(&parts[1]);
    } else {
        parts[0] = make_part(bytes, size, is_file);
    }
    replay(&parts[0]);
    if (choice & IS_BOTH)
        merge((struct part[]){parts[0], parts[0]}, 2);
    else
        merge(parts, two ? 2 : 1);
    free(parts[0].file);
    free(parts[1].file);
    return 0;
}
