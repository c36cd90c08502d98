/* SPDX-License-Identifier: MIT */
/* What limits an instruction, and a sentence of advice where the figures leave no doubt. */
#include "profile/lines.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* ---- what limits it ---- */

/* Clocks of a compute unit, or of its share of what all have together. */
const char *wmi_limit_of(const struct wm_profile_row *row, const struct wm_gpu *gpu)
{
    const struct wm_cache *l2 = &gpu->cache[WM_CACHE_L2];
    const double units = gpu->compute_units;
    const double l2_bytes = (double)l2->clock_bytes * l2->channels * gpu->xcds / units; /* 0: not known */
    const double memory_bytes = gpu->memory_bandwidth * 1e3 / gpu->clock_mhz / units;
    const struct {
        const char *name;
        double clocks;
    } parts[] = {
        {"memory", (double)(row->memory_read + row->memory_written) / memory_bytes},
        {"L2", l2_bytes > 0 ? (double)row->cache[WM_CACHE_L2].bytes / l2_bytes : 0},
        {"L1", (double)row->tag_lookups},
        {"address", (double)row->address_clocks},
        {"data", (double)row->data_clocks},
        {"LDS", (double)row->lds_passes},
    };
    const char *name = NULL;
    double most = 0;
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].clocks > most) {
            most = parts[i].clocks;
            name = parts[i].name;
        }
    return name;
}

/* ---- advice ---- */

/* What the wave that is kept shows. */
struct shape {
    bool has;  /* a wave is kept */
    bool even; /* neighbouring active lanes are `stride` bytes apart, everywhere */
    uint64_t stride;
    unsigned run; /* lanes, a power of two, in each aligned group of which neighbours are `stride` apart */
};

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static struct shape shape_of(const struct wm_profile_row *row)
{
    const struct wm_profile_wave *wave = row->wave;
    struct shape shape = {.has = wave, .run = 64};
    bool first = true;
    for (unsigned lane = 1; wave && lane < 64; lane++) {
        if (!(wave->lanes >> lane & 1) || !(wave->lanes >> (lane - 1) & 1))
            continue;
        const uint64_t apart = distance(wave->address[lane], wave->address[lane - 1]);
        if (first)
            shape.stride = apart;
        first = false;
        while (apart != shape.stride && lane % shape.run)
            shape.run /= 2;
    }
    shape.even = shape.has && !first && shape.run == 64;
    return shape;
}

struct advice {
    const struct wm_profile_row *row;
    struct shape shape;
    double runs;
    char *text;
    size_t size;
};

static bool say(const struct advice *advice, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(advice->text, advice->size, format, arguments);
    va_end(arguments);
    return true;
}

static bool misaligned_lds(const struct advice *a)
{
    return a->row->lds_serial &&
           say(a, "misaligned in LDS: %" PRIu64 " lanes went one by one; align to %u bytes",
               a->row->lds_serial,
               a->row->bytes > 8   ? 16u
               : a->row->bytes > 4 ? 8u
                                   : 4u);
}

static bool bank_conflicts(const struct advice *a)
{
    const struct wm_profile_row *row = a->row;
    if (row->lds_conflicts * 4 < row->lds_passes || row->lds_depth < 2)
        return false;
    if (row->wave && row->wave->in_lds && a->shape.stride && a->shape.stride % 32 == 0)
        return say(a,
                   "%.1f of %.1f LDS clocks are bank conflicts: lanes are %" PRIu64
                   " B apart, and up to %u want bank %u; pad the rows by a dword",
                   (double)row->lds_conflicts / a->runs, (double)row->lds_passes / a->runs, a->shape.stride,
                   row->lds_depth, row->lds_bank);
    return say(a, "%.1f of %.1f LDS clocks are bank conflicts: up to %u different dwords of bank %u at once",
               (double)row->lds_conflicts / a->runs, (double)row->lds_passes / a->runs, row->lds_depth,
               row->lds_bank);
}

static bool shared_atomics(const struct advice *a)
{
    const struct wm_profile_row *row = a->row;
    return row->atomic_requests && row->executions && row->distinct_bytes * 4 <= row->bytes_asked &&
           say(a,
               "%.1f lanes add up to %.1f requests of %u B on %.1f B: combine them in the wave or in LDS "
               "first",
               (double)row->lanes / a->runs, (double)row->atomic_requests / a->runs, row->bytes,
               (double)row->distinct_bytes / a->runs);
}

/* Whether half of the lines, at least, hold nothing that is asked for. */
static bool wastes_lines(const struct wm_profile_row *row)
{
    return row->has_vector && row->lines >= 2 * row->ideal_lines && row->lines >= 4 * row->executions;
}

static bool lanes_apart(const struct advice *a)
{
    const struct wm_profile_row *row = a->row;
    if (!wastes_lines(row) || !a->shape.has || a->shape.run < 4 || a->shape.stride <= row->bytes)
        return false;
    const double lines = (double)row->lines / a->runs, useful = (double)row->distinct_bytes / a->runs;
    if (a->shape.stride < row->line_bytes)
        return say(a,
                   "lanes are %" PRIu64
                   " B apart and use %u of them: %.0f lines for %.0f useful bytes; keep what "
                   "lanes use together in an array of its own",
                   a->shape.stride, row->bytes, lines, useful);
    return say(a,
               "lanes are %" PRIu64
               " B apart: %.0f lines for %.0f useful bytes; index by get_global_id(0) on the "
               "fastest axis, or turn the data in LDS",
               a->shape.stride, lines, useful);
}

/* As of a column of a matrix by workgroups of two dimensions: lanes of a row are together, rows are not. */
static bool scattered(const struct advice *a)
{
    const struct wm_profile_row *row = a->row;
    return wastes_lines(row) &&
           say(a, "lanes lie scattered: %.0f lines for %.0f useful bytes, where %.0f would do",
               (double)row->lines / a->runs, (double)row->distinct_bytes / a->runs,
               (double)row->ideal_lines / a->runs);
}

static bool off_line(const struct advice *a)
{
    const struct wm_profile_row *row = a->row;
    return row->has_vector && row->wave && a->shape.even && a->shape.stride == row->bytes &&
           row->lines > row->ideal_lines &&
           say(a,
               "a row that begins %" PRIu64
               " B behind a line touches %.1f lines where %.1f would do; align it "
               "to %u bytes",
               row->wave->address[__builtin_ctzll(row->wave->lanes)] % row->line_bytes,
               (double)row->lines / a->runs, (double)row->ideal_lines / a->runs, row->line_bytes);
}

static bool few_lanes(const struct advice *a)
{
    const struct wm_profile_row *row = a->row;
    return (row->has_vector || row->has_lds) && row->lanes * 4 <= row->executions * 64 &&
           row->executions > 1 &&
           say(a, "only %.1f lanes are active: what a wave costs serves few work-items",
               (double)row->lanes / a->runs);
}

bool wmi_advise(const struct wm_profile_row *row, char *text, size_t size)
{
    static bool (*const rules[])(const struct advice *) = {
        misaligned_lds, bank_conflicts, shared_atomics, lanes_apart, scattered, off_line, few_lanes,
    };
    const struct advice advice = {.row = row,
                                  .shape = shape_of(row),
                                  .runs = row->executions ? (double)row->executions : 1,
                                  .text = text,
                                  .size = size};
    for (unsigned i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i](&advice))
            return true;
    return false;
}
