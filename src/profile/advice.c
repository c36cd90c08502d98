/* SPDX-License-Identifier: MIT */
/* Writes a sentence of advice on an instruction or a kernel, if the figures are conclusive. */
#include "base/text.h"
#include "profile/lines.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* The access pattern of the example wave that the profile keeps for each instruction. */
struct shape {
    bool has;        /* there is an example wave */
    bool even;       /* all neighbouring active lanes are `stride` bytes apart */
    uint64_t stride; /* bytes */
    unsigned
        run; /* neighbours within each aligned group of `run` lanes (a power of two) are `stride` apart */
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
    unsigned wave_lanes;
    char *text;    /* WMI_ADVICE_BYTES */
    double *saved; /* [WMI_GPU_PARTS]: upper bound of the share of this row's work that each part saves */
};

static bool say(const struct advice *advice, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    wmi_format_list(advice->text, WMI_ADVICE_BYTES, format, arguments);
    va_end(arguments);
    return true;
}

/* Only `needed` of the `asked` lines or bytes are necessary: saves the rest in each part from VGPRs to
 * memory. */
static bool saves_lines(const struct advice *advice, uint64_t needed, uint64_t asked)
{
    static const enum wmi_gpu_part parts[] = {WMI_GPU_MEMORY, WMI_GPU_L2, WMI_GPU_L1, WMI_GPU_ADDRESS};
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++)
        advice->saved[parts[i]] = 1 - (double)needed / (double)asked;
    return true;
}

/* Saves `passes` LDS passes. */
static bool saves_passes(const struct advice *advice, uint64_t passes)
{
    advice->saved[WMI_GPU_LDS] = (double)passes / (double)advice->row->lds_passes;
    return true;
}

static bool misaligned_lds(const struct advice *a)
{
    const struct wm_profile_row *row = a->row;
    return row->lds_serial &&
           saves_passes(a, row->lds_serial < row->lds_passes ? row->lds_serial : row->lds_passes) &&
           say(a, "misaligned LDS access: %" PRIu64 " lanes were serialized; align to %u bytes",
               row->lds_serial,
               row->bytes > 8   ? 16u
               : row->bytes > 4 ? 8u
                                : 4u);
}

static bool bank_conflicts(const struct advice *a)
{
    const struct wm_profile_row *row = a->row;
    const double lost = (double)row->lds_conflicts / a->runs, all = (double)row->lds_passes / a->runs;
    if (row->lds_conflicts * 4 < row->lds_passes || row->lds_depth < 2)
        return false;
    saves_passes(a, row->lds_conflicts);
    if (row->wave && row->wave->in_lds && a->shape.stride && a->shape.stride % 32 == 0)
        return say(a,
                   "%.1f of %.1f LDS clocks are bank conflicts: lanes are %" PRIu64
                   " B apart, and up to %u distinct dwords fall into one bank; pad each row by one dword",
                   lost, all, a->shape.stride, row->lds_depth);
    return say(a, "%.1f of %.1f LDS clocks are bank conflicts: up to %u distinct dwords fall into one bank",
               lost, all, row->lds_depth);
}

static bool shared_atomics(const struct advice *a)
{
    const struct wm_profile_row *row = a->row;
    return row->atomic_requests && row->executions && row->distinct_bytes * 4 <= row->bytes_asked &&
           saves_lines(a, row->distinct_bytes, row->bytes_asked) &&
           say(a,
               "%.1f lanes make %.1f requests of %u B to %.1f distinct bytes: combine them within the wave "
               "or in "
               "LDS first",
               (double)row->lanes / a->runs, (double)row->atomic_requests / a->runs, row->bytes,
               (double)row->distinct_bytes / a->runs);
}

/* Whether at least half of the accessed lines would be unnecessary if the data were contiguous. */
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
    saves_lines(a, row->ideal_lines, row->lines);
    if (a->shape.stride < row->line_bytes)
        return say(a,
                   "lanes are %" PRIu64
                   " B apart and use %u of them: %.0f lines for %.0f useful bytes; split the structure into "
                   "one array per member",
                   a->shape.stride, row->bytes, lines, useful);
    return say(a,
               "lanes are %" PRIu64
               " B apart: %.0f lines for %.0f useful bytes; let get_global_id(0) index the "
               "fastest-varying dimension, or transpose the data in LDS",
               a->shape.stride, lines, useful);
}

/* For example a matrix column read by two-dimensional workgroups: contiguous within a row, rows far apart. */
static bool scattered(const struct advice *a)
{
    const struct wm_profile_row *row = a->row;
    return wastes_lines(row) && saves_lines(a, row->ideal_lines, row->lines) &&
           say(a, "scattered access: %.0f lines for %.0f useful bytes, where %.0f would be enough",
               (double)row->lines / a->runs, (double)row->distinct_bytes / a->runs,
               (double)row->ideal_lines / a->runs);
}

static bool off_line(const struct advice *a)
{
    const struct wm_profile_row *row = a->row;
    return row->has_vector && row->wave && a->shape.even && a->shape.stride == row->bytes &&
           row->lines > row->ideal_lines && saves_lines(a, row->ideal_lines, row->lines) &&
           say(a,
               "data that starts %" PRIu64
               " B into a cache line takes %.1f lines where %.1f would be enough; align it "
               "to %u bytes",
               row->wave->address[__builtin_ctzll(row->wave->lanes)] % row->line_bytes,
               (double)row->lines / a->runs, (double)row->ideal_lines / a->runs, row->line_bytes);
}

/* At most a quarter of the lanes is active; a full wave would cost the same. */
static bool few_lanes(const struct advice *a)
{
    const struct wm_profile_row *row = a->row;
    const uint64_t room = row->executions * a->wave_lanes;
    if ((!row->has_vector && !row->has_lds) || row->lanes * 4 > room || row->executions < 2)
        return false;
    for (unsigned part = 0; part < WMI_GPU_PARTS; part++)
        a->saved[part] = 1 - (double)row->lanes / (double)room;
    return say(a, "only %.1f lanes are active, but the instruction costs as much as for a full wave",
               (double)row->lanes / a->runs);
}

bool wmi_advise(const struct wm_profile_row *row, unsigned wave_lanes, char text[WMI_ADVICE_BYTES],
                double saved[WMI_GPU_PARTS])
{
    static bool (*const rules[])(const struct advice *) = {
        misaligned_lds, bank_conflicts, shared_atomics, lanes_apart, scattered, off_line, few_lanes,
    };
    const struct advice advice = {.row = row,
                                  .shape = shape_of(row),
                                  .runs = row->executions ? (double)row->executions : 1,
                                  .wave_lanes = wave_lanes ? wave_lanes : 64,
                                  .text = text,
                                  .saved = saved};
    for (unsigned i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i](&advice))
            return true;
    return false;
}

/* ---- kernels ---- */

/* The share of instruction fetches in the bytes moved by the limiting part (L2 or memory); 0 for other parts.
 */
static double code_of(const struct wm_profile_kernel *kernel)
{
    uint64_t l2 = 0;
    for (uint32_t i = 0; i < kernel->caches; i++)
        if (kernel->cache[i].level == WM_CACHE_L2)
            l2 = kernel->cache[i].read.bytes + kernel->cache[i].write.bytes + kernel->cache[i].atomic.bytes;
    const uint64_t memory = kernel->memory_read + kernel->memory_written;
    if (kernel->binds->name == wmi_gpu_part_names[WMI_GPU_L2])
        return l2 ? (double)kernel->fetch_use[WM_CACHE_L2].bytes / (double)l2 : 0;
    if (kernel->binds->name == wmi_gpu_part_names[WMI_GPU_MEMORY])
        return memory ? (double)kernel->fetch_memory_read / (double)memory : 0;
    return 0;
}

bool wmi_advise_kernel(const struct wm_profile_kernel *kernel, char text[WMI_ADVICE_BYTES])
{
    const uint64_t holds = kernel->gpu->cache[WM_CACHE_INSTRUCTION].bytes;
    if (!kernel->binds || !kernel->instructions)
        return false;
    if (kernel->binds->name == wmi_gpu_part_names[WMI_GPU_FETCH]) {
        snprintf(
            text, WMI_ADVICE_BYTES,
            "the kernel is bound by instruction fetch, so no row has a share: %.1f B of code are fetched per "
            "executed instruction; shorter encodings and fewer taken branches reduce this",
            (double)kernel->fetches * kernel->fetch_bytes / (double)kernel->instructions);
        return true;
    }
    const double code = code_of(kernel);
    if (code < 0.5)
        return false;
    if (kernel->code_bytes > holds)
        wmi_format(text, WMI_ADVICE_BYTES,
                   "%.0f%% of the binding traffic is instruction fetch, which is in no row's share: %.1f KiB "
                   "of code "
                   "exceed the instruction cache of %.1f KiB; reduce unrolling and inlining",
                   100 * code, (double)kernel->code_bytes / 1024, (double)holds / 1024);
    else
        wmi_format(text, WMI_ADVICE_BYTES,
                   "%.0f%% of the binding traffic is instruction fetch, which is in no row's share: each "
                   "instruction "
                   "cache loads the code once",
                   100 * code);
    return true;
}
