/* SPDX-License-Identifier: MIT */
/* The findings of a kernel: asks each cause about each instruction, sums up what its change would save in
 * each part of the GPU, and derives the bound after the change. */
#include "profile/advice/findings.h"
#include "profile/kernels.h"
#include "profile/needs.h"
#include "profile/parts.h"
#include "profile/slots.h"

#include "base/text.h"
#include "profile/advice/after.h"
#include "profile/advice/causes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Findings that gain less than this share of the kernel's bound and of its predicted time are omitted. */
static const double least_gain = 0.05;

/* Causes that are always listed: if they are this share of the clocks of a part that is busy for at least
 * this share of the bound. */
static const double least_waste = 0.25, least_busy = 0.1;

const char *const *wmi_profile_causes(size_t *count)
{
    static const char *names[32];
    *count = wmi_cause_count + wmi_kernel_cause_count;
    assert(*count <= sizeof names / sizeof *names);
    for (size_t i = 0; i < *count; i++)
        names[i] = i < wmi_cause_count ? wmi_causes[i].name : wmi_kernel_causes[i - wmi_cause_count].name;
    return names;
}

/* ---- one kernel ---- */

struct kernel {
    struct wm_profile *profile;
    const struct wm_profile_kernel *row;
    struct wmi_binding binding;
    double scale, executions; /* executions: of vector and LDS instructions */
    double clocks[WMI_GPU_PARTS];
    struct wmi_suspects suspects;
    struct wmi_after_accesses accesses; /* as the suspects */
};

/* An instruction with a cause. */
struct entry {
    uint32_t cause, suspect;
    double saved[WMI_GPU_PARTS], weight;
    double issue; /* clocks that all waves together no longer issue */
    struct wm_profile_row after;
};

static enum wmi_gpu_part longest(const double clocks[WMI_GPU_PARTS])
{
    unsigned most = 0;
    for (unsigned part = 1; part < WMI_GPU_PARTS; part++)
        if (clocks[part] > clocks[most])
            most = part;
    return most;
}

static void needs_of(const struct kernel *k, const struct wm_profile_row *row, double clocks[WMI_GPU_PARTS])
{
    memset(clocks, 0, WMI_GPU_PARTS * sizeof *clocks); /* of other parts, rows know nothing */
    wmi_needs(row, &k->profile->gpu, &k->binding, clocks);
    for (unsigned part = 0; part < WMI_GPU_PARTS; part++)
        clocks[part] *= k->scale;
}

/* Clocks that waves issue the code for, each as if it were alone. */
static double issue_of(const struct kernel *k, const struct wmi_executed *code)
{
    double clocks = 0;
    for (unsigned kind = 0; kind < WMI_WORK_KINDS; kind++)
        clocks += (double)code->work[kind] * wmi_time_issue(k->row->gpu, k->binding.wave_lanes, kind);
    return clocks;
}

/* Clocks that waves no longer issue. more: code that the change adds. */
static double issue_saved(const struct kernel *k, const struct entry *entry, const struct wmi_executed *more)
{
    const struct wm_profile_row *row = k->suspects.suspect[entry->suspect].row;
    const struct wmi_counts *counts = &k->profile->instructions[wmi_profile_slot_of(k->profile, row)].counts;
    const struct wmi_executed own = {.work[WMI_WORK_VECTOR_MEMORY] = row->executions};
    const struct wmi_executed *code = wmi_causes[entry->cause].with_block ? &counts->code : &own;
    const double left = (double)entry->after.executions / (double)row->executions;
    return issue_of(k, code) * (1 - left) - issue_of(k, more);
}

/* Adds the code that the change removes or needs besides. */
static void add_code(const struct kernel *k, struct entry *entry, double now[WMI_GPU_PARTS],
                     double then[WMI_GPU_PARTS])
{
    const struct wmi_cause *cause = &wmi_causes[entry->cause];
    const struct wm_profile_row *row = k->suspects.suspect[entry->suspect].row;
    const struct wmi_counts *counts = &k->profile->instructions[wmi_profile_slot_of(k->profile, row)].counts;
    const double left = (double)entry->after.executions / (double)row->executions;
    const struct wmi_executed besides = {.work[WMI_WORK_FULL] = cause->unpacked * row->executions};
    double around[WMI_GPU_PARTS] = {0}, more[WMI_GPU_PARTS] = {0};
    if (cause->with_block)
        wmi_code_clocks(k->profile, &k->binding, &counts->code, around);
    wmi_code_clocks(k->profile, &k->binding, &besides, more);
    for (unsigned part = 0; part < WMI_GPU_PARTS; part++) {
        now[part] += around[part] * k->scale;
        then[part] += (around[part] * left + more[part]) * k->scale;
    }
    entry->issue = issue_saved(k, entry, &besides);
}

static void ask(struct kernel *k, uint32_t cause, uint32_t at, struct entry **entry)
{
    const struct wmi_suspect *suspect = &k->suspects.suspect[at];
    double now[WMI_GPU_PARTS], then[WMI_GPU_PARTS];
    struct wm_profile_row row = *suspect->row;
    row.memory_written = wmi_kernel_written(k->binding.kernel, wmi_profile_slot_of(k->profile, suspect->row));
    needs_of(k, &row, now);
    if (!wmi_causes[cause].improve(suspect, &row))
        return;
    needs_of(k, &row, then);
    struct entry *e = *entry;
    *e = (struct entry){.cause = cause, .suspect = at, .after = row};
    add_code(k, e, now, then);
    for (unsigned part = 0; part < WMI_GPU_PARTS; part++) {
        e->saved[part] = now[part] - then[part];
        e->weight += k->clocks[part] > 0 ? e->saved[part] / k->clocks[part] : 0;
    }
    (*entry)++;
}

/* The clocks of the parts without what is saved. */
static void left(const double clocks[WMI_GPU_PARTS], const double saved[WMI_GPU_PARTS],
                 double then[WMI_GPU_PARTS])
{
    for (unsigned part = 0; part < WMI_GPU_PARTS; part++)
        then[part] = clocks[part] > saved[part] ? clocks[part] - saved[part] : 0;
}

static struct wm_bound bound_of(const struct kernel *k, const double clocks[WMI_GPU_PARTS])
{
    const enum wmi_gpu_part part = longest(clocks);
    return (struct wm_bound){.name = wmi_gpu_part_names[part],
                             .clocks = clocks[part],
                             .seconds = clocks[part] / (1e6 * k->row->gpu->clock_mhz)};
}

static double predicted_after(const struct kernel *k, const struct wmi_after *after)
{
    return wmi_after_predicted(&k->binding, k->clocks, after);
}

static double gain_of(const struct kernel *k, const struct wmi_after *after)
{
    const double now = k->clocks[longest(k->clocks)], predicted = k->row->predicted.seconds;
    const double bound = now > 0 ? 1 - after->clocks[longest(after->clocks)] / now : 0;
    const double time = predicted > 0 ? 1 - predicted_after(k, after) / predicted : 0;
    return time > bound ? time : bound;
}

/* Whether the change saves much of what one of the parts does. */
static bool is_waste(const struct kernel *k, const double then[WMI_GPU_PARTS])
{
    const double now = k->clocks[longest(k->clocks)];
    for (unsigned i = 0; i < WMI_GPU_PARTS; i++)
        if (k->clocks[i] >= least_busy * now && k->clocks[i] - then[i] >= least_waste * k->clocks[i] &&
            now > 0)
            return true;
    return false;
}

static struct wmi_finding *add_finding(struct kernel *k, const char *cause, const struct wmi_after *after)
{
    struct wmi_findings *findings = &k->profile->findings;
    if (findings->count == findings->capacity) {
        const size_t capacity = findings->capacity ? 2 * findings->capacity : 16;
        struct wmi_finding **more = realloc(findings->of, capacity * sizeof *more);
        if (!more)
            return NULL;
        findings->of = more;
        findings->capacity = capacity;
    }
    struct wmi_finding *finding = calloc(1, sizeof *finding);
    if (!finding)
        return NULL;
    findings->of[findings->count++] = finding;
    struct wm_profile_finding *shown = &finding->shown;
    *shown = (struct wm_profile_finding){.kernel = k->row->kernel,
                                         .pc = k->row->pc,
                                         .cause = cause,
                                         .verdict = finding->texts.verdict,
                                         .place = finding->place,
                                         .numbers = finding->texts.numbers,
                                         .change = finding->texts.change,
                                         .now = bound_of(k, k->clocks),
                                         .after = bound_of(k, after->clocks)};
    shown->predicted = k->row->predicted.seconds;
    shown->predicted_after = predicted_after(k, after);
    shown->gain = gain_of(k, after);
    return finding;
}

/* ---- places ---- */

static bool same_line(const struct wm_profile_row *a, const struct wm_profile_row *b)
{
    return a->file && b->file && a->line == b->line && !strcmp(a->file, b->file);
}

static void put_place(const struct wm_profile_row *row, char *text, size_t size)
{
    const char *slash = row->file ? strrchr(row->file, '/') : NULL;
    if (row->file)
        wmi_format(text, size, "%s:%u", slash ? slash + 1 : row->file, row->line);
    else
        wmi_format(text, size, "+0x%" PRIx64, row->offset);
}

/* Names up to three lines or instructions, the most costly first. */
static void put_places(struct wmi_finding *finding)
{
    enum { NAMED = 3 };
    const struct wm_profile_row **rows = finding->rows;
    const size_t count = finding->shown.row_count;
    size_t places = 0, length = 0;
    for (size_t i = 0; i < count; i++) {
        bool seen = false;
        for (size_t before = 0; before < i && before < 256 && !seen; before++)
            seen = same_line(rows[before], rows[i]);
        if (seen)
            continue;
        if (places < NAMED && length + 4 < WMI_PLACE_BYTES) {
            char text[WMI_PLACE_BYTES];
            put_place(rows[i], text, sizeof text);
            wmi_format(finding->place + length, sizeof finding->place - length, "%s%s", places ? ", " : "",
                       text);
            length = strlen(finding->place);
        }
        places++;
    }
    if (places == 1) {
        finding->shown.file = rows[0]->file;
        finding->shown.line = rows[0]->line;
    }
    if (places > NAMED && length + 4 < WMI_PLACE_BYTES)
        wmi_format(finding->place + length, sizeof finding->place - length, " and %zu more", places - NAMED);
}

/* ---- instructions ---- */

static void add_to(struct wm_profile_row *sums, const struct wm_profile_row *row)
{
    sums->executions += row->executions;
    sums->lanes += row->lanes;
    sums->distinct_bytes += row->distinct_bytes;
    sums->lines += row->lines;
    sums->ideal_lines += row->ideal_lines;
    sums->address_clocks += row->address_clocks;
    sums->atomic_requests += row->atomic_requests;
    sums->lds_passes += row->lds_passes;
    sums->lds_conflicts += row->lds_conflicts;
    sums->lds_serial += row->lds_serial;
    sums->memory_read += row->memory_read;
    sums->cache[WM_CACHE_L2].bytes += row->cache[WM_CACHE_L2].bytes;
}

/* Makes a finding of `count` entries of one cause. False: out of memory. */
static bool add_entries(struct kernel *k, const struct entry *const *entries, size_t count,
                        const struct wmi_after *after)
{
    const struct wmi_cause *cause = &wmi_causes[entries[0]->cause];
    struct wmi_finding *finding = add_finding(k, cause->name, after);
    if (!finding || !(finding->rows = calloc(count, sizeof *finding->rows)))
        return false;
    struct wmi_affected affected = {
        .kernel = k->row, .lead = &k->suspects.suspect[entries[0]->suspect], .rows = count};
    for (size_t i = 0; i < count; i++) {
        finding->rows[i] = k->suspects.suspect[entries[i]->suspect].row;
        add_to(&affected.now, finding->rows[i]);
        add_to(&affected.after, &entries[i]->after);
    }
    finding->shown.rows = finding->rows;
    finding->shown.row_count = count;
    cause->say(&affected, &finding->texts);
    put_places(finding);
    return true;
}

static int by_weight(const void *left, const void *right)
{
    const struct entry *a = *(const struct entry *const *)left, *b = *(const struct entry *const *)right;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return (a->suspect > b->suspect) - (a->suspect < b->suspect);
}

/* Sets how much the changes of all entries together save. before: scratch space for `count` accesses. */
static void save(struct kernel *k, struct entry *const *entries, size_t count, struct wmi_time_access *before,
                 struct wmi_after *after)
{
    for (size_t i = 0; i < count; i++)
        before[i] = wmi_after_change(&k->accesses, entries[i]->suspect, &entries[i]->after);
    wmi_after_save(&k->accesses, after);
    for (size_t i = 0; i < count; i++)
        k->accesses.access[entries[i]->suspect] = before[i];
}

/* Makes a finding of the entries if it gains enough, else returns false in *worth. False: out of memory. */
static bool try_entries(struct kernel *k, struct entry **entries, size_t count, bool *worth)
{
    struct wmi_time_access *before = calloc(count, sizeof *before);
    struct wmi_after after = {0};
    double saved[WMI_GPU_PARTS] = {0};
    if (!before)
        return false;
    save(k, entries, count, before, &after);
    free(before);
    for (size_t i = 0; i < count; i++) {
        after.saved += entries[i]->issue;
        for (unsigned part = 0; part < WMI_GPU_PARTS; part++)
            saved[part] += entries[i]->saved[part];
    }
    left(k->clocks, saved, after.clocks);
    *worth = gain_of(k, &after) >= least_gain ||
             (wmi_causes[entries[0]->cause].listed && is_waste(k, after.clocks));
    if (!*worth)
        return true;
    qsort(entries, count, sizeof *entries, by_weight);
    return add_entries(k, (const struct entry *const *)entries, count, &after);
}

/* By cause and source line. Without a line table, all instructions of a cause that do the same belong
 * together.
 */
static bool same_group(const struct kernel *k, const struct entry *a, const struct entry *b)
{
    const struct wm_profile_row *left = k->suspects.suspect[a->suspect].row,
                                *right = k->suspects.suspect[b->suspect].row;
    if (a->cause != b->cause)
        return false;
    const struct wmi_family *family = k->suspects.suspect[a->suspect].family;
    if (wmi_causes[a->cause].scope == WMI_WHOLE_KERNEL ||
        (wmi_causes[a->cause].scope == WMI_EACH_FAMILY && family &&
         family == k->suspects.suspect[b->suspect].family))
        return true;
    return left->file || right->file
               ? same_line(left, right)
               : !strcmp(left->operation, right->operation) && !strcmp(left->path, right->path);
}

/* The entries of one cause: a finding for each group that gains enough, and one for all others together. */
static bool sort_out(struct kernel *k, struct entry *entries, size_t count)
{
    struct entry **group = calloc(count + 1, sizeof *group), **rest = calloc(count + 1, sizeof *rest);
    bool *done = calloc(count + 1, sizeof *done), good = group && rest && done, worth;
    size_t left_over = 0, open = count; /* open: in no group yet */
    for (size_t first = 0; good && first < count; first++) {
        size_t members = 0;
        if (done[first])
            continue;
        group[members++] = &entries[first];
        for (size_t member = 0; member < members; member++) /* with those that belong to the others, too */
            for (size_t i = first + 1; i < count && members < open; i++)
                if (!done[i] && same_group(k, group[member], &entries[i])) {
                    done[i] = true;
                    group[members++] = &entries[i];
                }
        open -= members;
        good = try_entries(k, group, members, &worth);
        if (good && !worth) {
            memcpy(rest + left_over, group, members * sizeof *group);
            left_over += members;
        }
    }
    good = good && (!left_over || try_entries(k, rest, left_over, &worth));
    free(group);
    free(rest);
    free(done);
    return good;
}

static bool find_in_rows(struct kernel *k)
{
    struct entry *entries = calloc(k->suspects.count + 1, sizeof *entries);
    bool good = entries;
    for (uint32_t cause = 0; good && cause < wmi_cause_count; cause++) {
        struct entry *end = entries;
        for (uint32_t i = 0; i < k->suspects.count; i++)
            ask(k, cause, i, &end);
        good = sort_out(k, entries, (size_t)(end - entries));
    }
    free(entries);
    return good;
}

/* ---- kernels ---- */

static bool find_in_kernel(struct kernel *k)
{
    for (size_t i = 0; i < wmi_kernel_cause_count; i++) {
        const struct wmi_kernel_cause *cause = &wmi_kernel_causes[i];
        struct wmi_after after = {0};
        memcpy(after.clocks, k->clocks, sizeof after.clocks);
        if (!cause->improve(&k->binding, &after))
            continue;
        /* Some causes are not about the bound. */
        const bool same = !memcmp(after.clocks, k->clocks, sizeof after.clocks);
        if (!same && gain_of(k, &after) < least_gain)
            continue;
        struct wmi_finding *finding = add_finding(k, cause->name, &after);
        if (!finding)
            return false;
        finding->last = (uint8_t)(1 + i);
        wmi_format(finding->place, sizeof finding->place, "kernel");
        cause->say(&k->binding, &finding->texts);
    }
    return true;
}

/* ---- order ---- */

static int by_gain(const void *left, const void *right)
{
    const struct wmi_finding *a = *(struct wmi_finding *const *)left,
                             *b = *(struct wmi_finding *const *)right;
    if (a->shown.pc != b->shown.pc)
        return a->shown.pc < b->shown.pc ? -1 : 1;
    if (a->last != b->last)
        return a->last < b->last ? -1 : 1;
    if (a->shown.gain != b->shown.gain)
        return a->shown.gain > b->shown.gain ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/* A row shows the first finding that names it. */
static void mark_rows(struct wm_profile *profile, const struct wmi_finding *finding)
{
    for (size_t i = 0; i < finding->shown.row_count; i++) {
        struct wm_profile_row *row = &profile->rows[finding->shown.rows[i] - profile->rows];
        if (row->advice)
            continue;
        row->advice = finding->advice;
        row->gain = finding->shown.gain;
    }
}

/* What waves wait for each row of the kernel. */
static void mark_waits(struct wm_profile *profile, const struct kernel *k,
                       const struct wm_profile_row *const *rows, size_t count)
{
    const double all = k->binding.kernel->time.waves;
    for (size_t i = 0; i < count && all > 0; i++) {
        struct wm_profile_row *row = &profile->rows[rows[i] - profile->rows];
        row->has_waits = true;
        row->waits = wmi_time_access_waits(&k->accesses.work, i) / all;
    }
}

static bool find_in(struct wm_profile *profile, const struct wm_profile_kernel *row)
{
    struct kernel k = {.profile = profile, .row = row, .scale = row->sample_scale};
    const struct wm_profile_row **rows = calloc(profile->row_count + 1, sizeof *rows);
    size_t count = 0;
    if (!rows)
        return false;
    for (size_t i = 0; i < profile->row_count; i++) {
        struct wmi_binding binding;
        if (wmi_kernels_binding(profile, profile->rows[i].pc - profile->rows[i].offset, &binding) &&
            binding.row == row)
            rows[count++] = &profile->rows[i];
    }
    bool good = true;
    if (wmi_kernels_binding(profile, row->pc, &k.binding)) {
        for (uint32_t i = 0; i < row->bounds; i++)
            k.clocks[wmi_part_of(&row->bound[i])] = row->bound[i].clocks;
        good = wmi_suspects_find(&k.suspects, profile, &k.binding, rows, count) &&
               wmi_after_begin(&k.accesses, profile, &k.binding, rows, count);
        if (good)
            mark_waits(profile, &k, rows, count);
        good = good && find_in_rows(&k) && find_in_kernel(&k);
        wmi_after_end(&k.accesses);
        wmi_suspects_free(&k.suspects);
    }
    free(rows);
    return good;
}

bool wmi_findings_make(struct wm_profile *profile)
{
    struct wmi_findings *findings = &profile->findings;
    bool good = true;
    for (size_t i = 0; good && i < profile->kernel_row_count; i++)
        good = find_in(profile, &profile->kernel_rows[i]);
    for (size_t i = 0; i < findings->count; i++)
        findings->of[i]->number = (uint32_t)i;
    if (findings->count)
        qsort(findings->of, findings->count, sizeof *findings->of, by_gain);
    findings->shown = calloc(findings->count + 1, sizeof *findings->shown);
    if (!good || !findings->shown)
        return false;
    for (size_t i = 0; i < findings->count; i++) {
        struct wmi_finding *finding = findings->of[i];
        wmi_format(finding->advice, sizeof finding->advice, "%s: %s; %s", finding->texts.verdict,
                   finding->texts.numbers, finding->texts.change);
        findings->shown[i] = finding->shown;
        mark_rows(profile, finding);
    }
    return true;
}

void wmi_findings_free(struct wmi_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        free(findings->of[i]->rows);
        free(findings->of[i]);
    }
    free(findings->of);
    free(findings->shown);
    *findings = (struct wmi_findings){0};
}
