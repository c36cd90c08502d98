/* SPDX-License-Identifier: MIT */
/* Records which instructions the waves of a few compute units execute, and makes their timelines.
 *
 * Workgroups are dealt to compute units in turn, so the waves to record are known before they run, and do not
 * depend on threads: a workgroup runs on one thread, and writes to records of its own. */
#include "profile/time/timeline.h"

#include "isa/rules/work.h"
#include "profile/cost/gpu.h"
#include "profile/inside.h"
#include "profile/time/clocks.h"
#include "profile/time/schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How much earlier than predicted waves may end, relative. */
#define TOLERANCE 0.01

enum {
    UNITS = 4,        /* compute units that are shown, at most */
    WAVES = 512,      /* waves that are recorded of a dispatch, at most */
    STEPS = 1 << 19,  /* instructions that are recorded of all dispatches */
    ROUND_TRIPS = 10, /* of the search for the factor of latencies */
    SLOWEST = 64,     /* that factor, at most */
};

/* The instructions that a wave has executed. */
struct record {
    uint64_t *pc;
    size_t count, room;
    bool cut, lost; /* it executed more; there was no memory for it */
};

/* An instruction of the code. */
struct taken {
    uint64_t pc;
    unsigned id;
    uint32_t matrix_clocks;
    struct wm_timeline_code shown;
    struct wmi_scheduled_code scheduled;
};

struct wmi_timelines {
    struct wmi_observer observer;
    bool active, failed;
    /* The current dispatch: workgroups `first`, `first` + 1, ... run on `places` places. */
    uint64_t first, groups, places, across[2];
    uint32_t units, per_unit, group_waves; /* per_unit: workgroups that are recorded of each */
    size_t quota, left;                    /* instructions: of a wave; of all further dispatches */
    struct record *records;                /* by unit, workgroup and wave */
    size_t record_count;
    struct taken *taken;
    size_t taken_count, taken_room;
    uint64_t dispatches;
    struct wm_timeline *shown;
    size_t count;
};

/* ---- recording ---- */

static struct record *record_of(struct wmi_timelines *t, const struct wm_event *event)
{
    const uint64_t number = event->workgroup[0] +
                            t->across[0] * (event->workgroup[1] + t->across[1] * event->workgroup[2]) -
                            t->first;
    const uint64_t unit = number % t->places, turn = number / t->places;
    if (unit >= t->units || turn >= t->per_unit || event->wave >= t->group_waves)
        return NULL;
    return &t->records[(unit * t->per_unit + turn) * t->group_waves + event->wave];
}

static void record(void *self, const struct wm_event *event)
{
    struct wmi_timelines *t = self;
    struct record *wave = record_of(t, event);
    if (!wave || wave->cut)
        return;
    if (wave->count == wave->room && wave->count < t->quota) {
        const size_t room = wave->room ? 2 * wave->room : 64;
        uint64_t *pc = realloc(wave->pc, room * sizeof *pc);
        wave->pc = pc ? pc : wave->pc;
        wave->room = pc ? room : wave->room;
        wave->lost = !pc;
    }
    wave->cut = wave->count == t->quota || wave->count == wave->room;
    if (!wave->cut)
        wave->pc[wave->count++] = event->pc;
}

static void *begin_thread(void *self)
{
    return self;
}

static void end_thread(void *self, void *local)
{
    (void)self, (void)local;
}

struct wmi_timelines *wmi_timelines_create(void)
{
    struct wmi_timelines *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->left = STEPS;
    t->observer = (struct wmi_observer){.self = t,
                                        .events = WM_EVENT_INSTRUCTION,
                                        .thread_begin = begin_thread,
                                        .thread_end = end_thread,
                                        .event = record};
    return t;
}

static void forget_code(struct taken *taken)
{
    free((char *)taken->shown.text);
    free((char *)taken->shown.symbol);
    free((char *)taken->shown.file);
    free(taken->scheduled.spans);
}

static void forget_dispatch(struct wmi_timelines *t)
{
    for (size_t i = 0; i < t->record_count; i++)
        free(t->records[i].pc);
    for (size_t i = 0; i < t->taken_count; i++)
        forget_code(&t->taken[i]);
    free(t->records);
    t->records = NULL;
    t->record_count = t->taken_count = 0;
    t->active = false;
}

static void forget_timeline(struct wm_timeline *shown)
{
    for (size_t i = 0; i < shown->codes; i++) {
        free((char *)shown->code[i].text);
        free((char *)shown->code[i].symbol);
        free((char *)shown->code[i].file);
    }
    for (size_t i = 0; i < shown->waves; i++)
        free((void *)(uintptr_t)shown->wave[i].step);
    free((void *)(uintptr_t)shown->code);
    free((void *)(uintptr_t)shown->wave);
    free((char *)shown->kernel);
}

void wmi_timelines_destroy(struct wmi_timelines *t)
{
    if (!t)
        return;
    forget_dispatch(t);
    for (size_t i = 0; i < t->count; i++)
        forget_timeline(&t->shown[i]);
    free(t->shown);
    free(t->taken);
    free(t);
}

static uint64_t divided_up(uint64_t a, uint64_t b)
{
    return b ? (a + b - 1) / b : 0;
}

bool wmi_timelines_begin(struct wmi_timelines *t, const struct wm_profile *profile)
{
    const struct wmi_profile_dispatch *dispatch = &profile->source.dispatch;
    forget_dispatch(t);
    t->dispatches++;
    t->failed = false;
    if (!profile->has_gpu || !profile->rounds || profile->kernel >= profile->kernel_count)
        return true;
    const struct wmi_residence *residence = &profile->kernels[profile->kernel].residence;
    uint64_t items = 1;
    t->groups = 1;
    for (unsigned i = 0; i < 3; i++) {
        const uint64_t along = divided_up(dispatch->grid[i], dispatch->workgroup[i]);
        t->groups *= along;
        items *= dispatch->workgroup[i];
        if (i < 2)
            t->across[i] = along;
    }
    t->first = dispatch->first_group;
    t->groups -= t->first < t->groups ? t->first : t->groups;
    t->group_waves = (uint32_t)divided_up(items, profile->source.wave_lanes);
    t->places = profile->gpu.compute_units / residence->units;
    t->places = t->places ? t->places : 1;
    const uint64_t all = divided_up(t->groups, t->places),
                   wanted = all < 2 * residence->groups ? all : 2 * residence->groups;
    t->units = (uint32_t)(t->groups < UNITS ? t->groups : t->places < UNITS ? t->places : UNITS);
    while (t->units > 1 && t->units * wanted * t->group_waves > WAVES)
        t->units--;
    if (!t->units || !t->group_waves || t->group_waves > WAVES)
        return true;
    const uint64_t most = WAVES / ((uint64_t)t->units * t->group_waves);
    t->per_unit = (uint32_t)(all < most ? all : most);
    t->record_count = (size_t)t->units * t->per_unit * t->group_waves;
    t->quota = t->left / t->record_count;
    t->records = calloc(t->record_count, sizeof *t->records);
    t->record_count = t->records ? t->record_count : 0;
    t->active = t->records && t->quota;
    return t->records;
}

const struct wmi_observer *wmi_timelines_observer(const struct wmi_timelines *t)
{
    return t->active ? &t->observer : NULL;
}

/* ---- code ---- */

static enum wm_timeline_unit unit_of(unsigned work)
{
    static const enum wm_timeline_unit units[] = {
        [WMI_WORK_INTERNAL] = WM_TIMELINE_OTHER, [WMI_WORK_SALU] = WM_TIMELINE_SALU,
        [WMI_WORK_BRANCH] = WM_TIMELINE_BRANCH,  [WMI_WORK_MESSAGE] = WM_TIMELINE_OTHER,
        [WMI_WORK_SMEM] = WM_TIMELINE_SMEM,      [WMI_WORK_VECTOR_MEMORY] = WM_TIMELINE_VMEM,
        [WMI_WORK_LDS] = WM_TIMELINE_LDS,        [WMI_WORK_GDS] = WM_TIMELINE_GDS,
        [WMI_WORK_EXPORT] = WM_TIMELINE_EXPORT,  [WMI_WORK_FULL] = WM_TIMELINE_VALU,
    };
    return work == WMI_WORK_MATRIX ? WM_TIMELINE_MATRIX
           : work >= WMI_WORK_FULL ? WM_TIMELINE_VALU
                                   : units[work];
}

static char *copy_of(struct wmi_timelines *t, const char *text)
{
    char *copy = text ? strdup(text) : NULL;
    t->failed |= text && !copy;
    return copy;
}

static void describe(struct wmi_timelines *t, const struct wm_profile *profile, struct taken *taken)
{
    struct wm_profile_row row = {.pc = taken->pc};
    profile->source.describe(profile->source.user, taken->id, &row);
    taken->shown.pc = taken->pc;
    taken->shown.offset = row.offset;
    taken->shown.line = row.line;
    taken->shown.text = copy_of(t, row.text ? row.text : "");
    taken->shown.symbol = copy_of(t, row.kernel ? row.kernel : "");
    taken->shown.file = copy_of(t, row.file);
}

/* Keeps the registers of the instruction, where waves wait for results. */
static void keep_spans(struct wmi_timelines *t, const struct wmi_target *target,
                       const struct wmi_instruction *insn, struct wmi_scheduled_code *code)
{
    struct wmi_span_of_registers spans[WMI_SPANS];
    const unsigned count = wmi_registers_of(target, insn, spans);
    code->spans = malloc((count + 1) * sizeof *spans);
    t->failed |= !code->spans;
    if (!code->spans)
        return;
    memcpy(code->spans, spans, count * sizeof *spans);
    code->span_count = count;
}

void wmi_timelines_take(struct wmi_timelines *t, const struct wm_profile *profile, uint64_t pc,
                        const struct wmi_instruction *insn)
{
    const struct wmi_target *target = wmi_target_find(profile->source.target_name);
    const struct wmi_row *row = &wmi_rows[insn->id];
    uint32_t counts[WMI_WORK_COUNTS] = {0};
    if (!t->active || !target)
        return;
    if (t->taken_count == t->taken_room) {
        const size_t room = t->taken_room ? 2 * t->taken_room : 256;
        struct taken *grown = realloc(t->taken, room * sizeof *grown);
        t->failed |= !grown;
        if (!grown)
            return;
        t->taken = grown;
        t->taken_room = room;
    }
    struct taken *taken = &t->taken[t->taken_count++];
    *taken = (struct taken){.pc = pc, .id = insn->id};
    wmi_work_add(target, insn, counts);
    taken->matrix_clocks = counts[WMI_WORK_MATRIX_CLOCKS];
    describe(t, profile, taken);
    taken->shown.bytes = 4u * insn->dwords;
    taken->shown.unit = taken->scheduled.unit = unit_of(row->work);
    struct wmi_scheduled_code *code = &taken->scheduled;
    code->kind = wmi_path_kind_of(row);
    code->barrier = insn->id == WMI_INSN_s_barrier || insn->id == WMI_INSN_s_barrier_wait;
    code->waits = wmi_wait_facts_of(target, insn);
    code->issue = wmi_time_issue(&profile->gpu, profile->source.wave_lanes, row->work) + taken->matrix_clocks;
    code->busy = code->issue;
    code->latency = wmi_path_usual_latency(code->kind);
    if (wmi_path_each_clock(target)) {
        code->result = wmi_path_result_clocks(row->work);
        keep_spans(t, target, insn, code);
    }
}

static int by_pc(const void *left, const void *right)
{
    const struct taken *a = left, *b = right;
    return (a->pc > b->pc) - (a->pc < b->pc);
}

/* Sorts the code and removes what was taken twice. */
static void sort_code(struct wmi_timelines *t)
{
    size_t kept = 0;
    if (t->taken_count)
        qsort(t->taken, t->taken_count, sizeof *t->taken, by_pc);
    for (size_t i = 0; i < t->taken_count; i++) {
        if (kept && t->taken[kept - 1].pc == t->taken[i].pc)
            forget_code(&t->taken[i]);
        else
            t->taken[kept++] = t->taken[i];
    }
    t->taken_count = kept;
}

/* The code at the address; NULL: it was not taken. */
static struct taken *code_at(const struct wmi_timelines *t, uint64_t pc)
{
    const struct taken wanted = {.pc = pc};
    return t->taken_count ? bsearch(&wanted, t->taken, t->taken_count, sizeof *t->taken, by_pc) : NULL;
}

/* Gives accesses the latencies and clocks of the dispatch. */
static void set_latencies(const struct wmi_timelines *t, const struct wm_profile *profile,
                          const struct wmi_time_work *work)
{
    for (size_t i = 0; i < work->access_count; i++) {
        const struct wmi_time_access *access = &work->accesses[i];
        struct taken *taken = code_at(t, profile->instructions[i].row.pc);
        if (!taken || taken->id != profile->instructions[i].id || !(access->executions > 0))
            continue;
        taken->scheduled.latency = wmi_time_latency(access, work->gpu);
        if (access->clocks > 0)
            taken->scheduled.busy = access->clocks / access->executions;
    }
    for (size_t i = 0; i < t->taken_count; i++)
        if (t->taken[i].scheduled.kind != WMI_PATH_KIND_NONE)
            t->taken[i].shown.latency = t->taken[i].scheduled.latency;
}

/* ---- timelines ---- */

/* Turns the records of a unit into waves, and returns how many there are; frees the records. */
static size_t make_waves(struct wmi_timelines *t, uint32_t unit, struct wm_timeline_wave *waves)
{
    const size_t each = (size_t)t->per_unit * t->group_waves;
    size_t count = 0;
    for (size_t i = 0; i < each; i++) {
        struct record *record = &t->records[unit * each + i];
        const uint64_t number = t->first + unit + i / t->group_waves * t->places;
        struct wm_timeline_step *steps = record->count ? calloc(record->count, sizeof *steps) : NULL;
        if (!steps) {
            t->failed |= record->count != 0 || record->lost;
            continue;
        }
        t->failed |= record->lost;
        struct wm_timeline_wave *wave = &waves[count++];
        *wave = (struct wm_timeline_wave){
            .workgroup = {(uint32_t)(number % t->across[0]), (uint32_t)(number / t->across[0] % t->across[1]),
                          (uint32_t)(number / t->across[0] / t->across[1])},
            .wave = (uint32_t)(i % t->group_waves),
            .unit = unit,
            .cut = record->cut,
            .step = steps,
        };
        for (size_t k = 0; k < record->count; k++) {
            const struct taken *taken = code_at(t, record->pc[k]);
            if (taken)
                steps[wave->steps++].code = (uint32_t)(taken - t->taken);
        }
        t->left -= record->count < t->left ? record->count : t->left;
        free(record->pc);
        *record = (struct record){0};
    }
    return count;
}

/* The factor of the latencies of memory with which the first unit's waves end when the dispatch is predicted
 * to end: what all units share makes its accesses slower. Below 0: no memory. */
static double find_slower(struct wmi_schedule schedule, double target)
{
    double low = 1, high = 1, end;
    for (;; low = high, high *= 2) {
        schedule.slower = high;
        end = wmi_schedule_run(&schedule);
        if (end < 0 || (high == 1 && end >= target * (1 - TOLERANCE)))
            return end < 0 ? -1 : 1;
        if (end >= target || high >= SLOWEST)
            break;
    }
    for (unsigned i = 0; i < ROUND_TRIPS; i++) {
        schedule.slower = (low + high) / 2;
        end = wmi_schedule_run(&schedule);
        if (end < 0)
            return -1;
        *(end < target ? &low : &high) = schedule.slower;
    }
    return (low + high) / 2;
}

/* Hands the code over to the timeline, and to `scheduled`. */
static void give_code(struct wmi_timelines *t, struct wm_timeline *shown, struct wm_timeline_code *codes,
                      struct wmi_scheduled_code *scheduled)
{
    for (size_t i = 0; i < t->taken_count; i++) {
        scheduled[i] = t->taken[i].scheduled;
        codes[i] = t->taken[i].shown;
        t->taken[i].shown = (struct wm_timeline_code){0};
    }
    shown->code = codes;
    shown->codes = t->taken_count;
}

static void schedule_all(struct wmi_timelines *t, const struct wmi_time_work *work,
                         const struct wmi_time *time, const struct wmi_scheduled_code *code,
                         struct wm_timeline *shown, struct wm_timeline_wave *waves)
{
    const struct wm_gpu *gpu = work->gpu;
    struct wmi_schedule schedule = {.code = code,
                                    .simds = gpu->simds * work->units,
                                    .unit_simds = gpu->simds,
                                    .resident = work->resident,
                                    .group_waves = t->group_waves,
                                    .turnaround = wmi_clocks_of(gpu).turnaround,
                                    .slower = 1,
                                    .wave = waves};
    const double all = (double)divided_up(t->groups, t->places);
    const double share = all > work->resident && t->per_unit < all ? t->per_unit / all : 1;
    bool cut = false;
    for (uint32_t unit = 0; unit < t->units; unit++) {
        schedule.wave = waves + shown->waves;
        schedule.waves = make_waves(t, unit, schedule.wave);
        for (size_t i = 0; i < schedule.waves; i++)
            cut |= schedule.wave[i].cut;
        if (!unit && !cut) {
            const double target = (time->clocks - time->launch) * share - schedule.turnaround,
                         slower = find_slower(schedule, target);
            t->failed |= slower < 0;
            shown->slower = schedule.slower = fmax(1, slower);
        }
        const double end = wmi_schedule_run(&schedule);
        t->failed |= end < 0;
        shown->end = fmax(shown->end, end);
        shown->waves += schedule.waves;
    }
}

bool wmi_timelines_end(struct wmi_timelines *t, const struct wm_profile *profile,
                       const struct wmi_time_work *work, const struct wmi_time *time)
{
    if (!t->active || !(time->clocks > 0))
        return true;
    sort_code(t);
    set_latencies(t, profile, work);
    struct wm_timeline *grown = realloc(t->shown, (t->count + 1) * sizeof *grown);
    struct wm_timeline_code *codes = calloc(t->taken_count + 1, sizeof *codes);
    struct wmi_scheduled_code *scheduled = calloc(t->taken_count + 1, sizeof *scheduled);
    struct wm_timeline_wave *waves = calloc(t->record_count, sizeof *waves);
    t->shown = grown ? grown : t->shown;
    t->failed |= !grown || !codes || !scheduled || !waves;
    if (!t->failed) {
        struct wm_timeline *shown = &t->shown[t->count++];
        *shown = (struct wm_timeline){.kernel = copy_of(t, profile->source.dispatch.kernel),
                                      .gpu = &profile->gpu,
                                      .dispatch = t->dispatches - 1,
                                      .wave_size = profile->source.wave_lanes,
                                      .workgroup_waves = t->group_waves,
                                      .workgroups = t->groups,
                                      .units = t->units,
                                      .units_all = (uint32_t)t->places,
                                      .resident = work->resident,
                                      .launch = time->launch,
                                      .clocks = time->clocks,
                                      .slower = 1,
                                      .wave = waves};
        give_code(t, shown, codes, scheduled);
        schedule_all(t, work, time, scheduled, shown, waves);
        shown->workgroups_shown = shown->waves / t->group_waves;
        codes = NULL;
        waves = NULL;
    }
    free(codes);
    free(waves);
    free(scheduled); /* the spans are those of `taken` */
    forget_dispatch(t);
    return !t->failed;
}

const struct wm_timeline *wmi_timelines(const struct wmi_timelines *t, size_t *count)
{
    *count = t->count;
    return t->shown;
}
