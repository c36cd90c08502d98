/* SPDX-License-Identifier: MIT */
/* Schedules recorded waves on one compute unit.
 *
 * Waves issue in order. The wave that can issue first does, of several the one that began first (GCN and RDNA
 * give the oldest wave priority, AMD "RDNA whitepaper" and GCN3 ISA, s_setprio). An instruction waits for
 * wait counters and barriers, then for results (where waves issue each clock) and until its unit is free.
 * Each SIMD has a vector and a scalar unit; the SIMDs of a compute unit share the path to memory, and those
 * of the workgroup LDS. The same rules and latencies as in path.c and predict.c, so this file has no figures.
 */
#include "profile/time/schedule.h"

#include <stdlib.h>
#include <string.h>

enum { FLIGHTS = 64 /* accesses in flight at once; the oldest ones are forgotten */ };

struct flight {
    const struct wmi_wait_facts *facts;
    double ready;
};

/* A wave on its SIMD. */
struct running {
    struct wm_timeline_wave *shown;
    size_t next;  /* step */
    double ready; /* when its last instruction has issued */
    double waits; /* when wait counters allow the next one; 0: not known yet */
    bool at_barrier;
    struct flight flight[FLIGHTS]; /* in the order of issue */
    uint32_t flights;
    double *result; /* when each register can be read; NULL: at once */
};

struct place {
    const struct wmi_schedule *schedule;
    struct running *running; /* resident * group_waves; those of a workgroup beside each other */
    double *units;           /* when they are free: per SIMD UNITS_OF_SIMD, per compute unit 1, LDS */
    size_t next;             /* wave of the next workgroup */
    double end;
};

enum { UNIT_VALU, UNIT_SALU, UNIT_MATRIX, UNITS_OF_SIMD };

static double later(double a, double b)
{
    return a > b ? a : b;
}

static double *unit_of(struct place *place, const struct running *wave, const struct wmi_scheduled_code *code)
{
    const struct wmi_schedule *schedule = place->schedule;
    const uint32_t simd = wave->shown->simd;
    double *shared = place->units + (size_t)schedule->simds * UNITS_OF_SIMD;
    switch (code->unit) {
    case WM_TIMELINE_VALU:
        return &place->units[simd * UNITS_OF_SIMD + UNIT_VALU];
    case WM_TIMELINE_MATRIX:
        return &place->units[simd * UNITS_OF_SIMD + UNIT_MATRIX];
    case WM_TIMELINE_SALU:
    case WM_TIMELINE_BRANCH:
        return &place->units[simd * UNITS_OF_SIMD + UNIT_SALU];
    case WM_TIMELINE_VMEM:
        return &shared[simd / schedule->unit_simds];
    case WM_TIMELINE_LDS:
        return &shared[schedule->simds];
    default:
        return NULL;
    }
}

/* ---- wait counters ---- */

/* When the accesses that the instruction waits for are done; forgets them. */
static double wait_for(struct running *wave, const struct wmi_wait_facts *facts)
{
    unsigned newer[WMI_COUNTER_COUNT] = {0};
    bool done[FLIGHTS] = {false};
    double ready = 0;
    for (uint32_t i = wave->flights; i-- > 0;) {
        const struct flight *flight = &wave->flight[i];
        for (unsigned e = 0; e < flight->facts->events; e++) {
            const struct wmi_wait_event *event = &flight->facts->event[e];
            newer[event->counter] += event->units;
            done[i] |= event->counter != WMI_COUNTER_EXP && facts->limit[event->counter] != UINT8_MAX &&
                       newer[event->counter] > facts->limit[event->counter];
        }
        if (done[i])
            ready = later(ready, flight->ready);
    }
    uint32_t left = 0;
    for (uint32_t i = 0; i < wave->flights; i++)
        if (!done[i])
            wave->flight[left++] = wave->flight[i];
    wave->flights = left;
    return ready;
}

static bool same_order(const struct wmi_wait_facts *a, const struct wmi_wait_facts *b)
{
    return a->events && b->events && a->event[0].counter == b->event[0].counter &&
           a->event[0].order == b->event[0].order && a->event[0].order < WMI_ORDER_NONE;
}

static void add_flight(struct running *wave, const struct wmi_scheduled_code *code, double ready)
{
    for (uint32_t i = 0; i < wave->flights; i++) /* those of one order finish in the order of issue */
        if (same_order(wave->flight[i].facts, &code->waits))
            ready = later(ready, wave->flight[i].ready);
    if (wave->flights == FLIGHTS)
        memmove(wave->flight, wave->flight + 1, --wave->flights * sizeof *wave->flight);
    wave->flight[wave->flights++] = (struct flight){&code->waits, ready};
}

/* ---- results ---- */

static double results_ready(const struct running *wave, const struct wmi_scheduled_code *code)
{
    double ready = 0;
    for (unsigned i = 0; wave->result && i < code->span_count; i++)
        for (unsigned k = 0; code->spans[i].read && k < code->spans[i].count; k++)
            if (code->spans[i].first + k < WMI_REGISTER_COUNT)
                ready = later(ready, wave->result[code->spans[i].first + k]);
    return ready;
}

static void set_results(struct running *wave, const struct wmi_scheduled_code *code, double now)
{
    for (unsigned i = 0; wave->result && i < code->span_count; i++)
        for (unsigned k = 0; code->spans[i].written && k < code->spans[i].count; k++)
            if (code->spans[i].first + k < WMI_REGISTER_COUNT)
                wave->result[code->spans[i].first + k] = now + code->result;
}

/* ---- workgroups ---- */

static bool is_over(const struct running *wave)
{
    return !wave->shown || wave->next == wave->shown->steps;
}

/* Lets the waves of the workgroup go on if all of them are at the barrier. */
static void leave_barrier(struct place *place, const struct running *wave)
{
    const struct wmi_schedule *schedule = place->schedule;
    struct running *group =
        place->running + (wave - place->running) / schedule->group_waves * schedule->group_waves;
    double last = 0;
    for (uint32_t w = 0; w < schedule->group_waves; w++) {
        if (!is_over(&group[w]) && !group[w].at_barrier)
            return;
        if (!is_over(&group[w]))
            last = later(last, later(group[w].ready, group[w].waits));
    }
    for (uint32_t w = 0; w < schedule->group_waves; w++) {
        group[w].waits = group[w].at_barrier ? last : group[w].waits;
        group[w].at_barrier = false;
    }
}

/* ---- instructions ---- */

static struct wm_timeline_step *step_of(const struct running *wave)
{
    return (struct wm_timeline_step *)(uintptr_t)&wave->shown->step[wave->next];
}

/* Prepares the next instruction: what it waits for. */
static void look_ahead(struct place *place, struct running *wave)
{
    if (is_over(wave))
        return;
    const struct wmi_scheduled_code *code = &place->schedule->code[step_of(wave)->code];
    wave->waits = code->waits.waits ? wait_for(wave, &code->waits) : 0;
    wave->at_barrier = code->barrier;
    if (code->barrier)
        leave_barrier(place, wave);
}

/* Starts the next workgroup in these places of waves. */
static void start_group(struct place *place, struct running *group, double now)
{
    const struct wmi_schedule *schedule = place->schedule;
    for (uint32_t w = 0; w < schedule->group_waves; w++) {
        struct running *wave = &group[w];
        double *result = wave->result;
        const uint32_t number = (uint32_t)(wave - place->running);
        *wave = (struct running){.result = result, .ready = now};
        if (place->next == schedule->waves)
            continue;
        wave->shown = &schedule->wave[place->next++];
        wave->shown->simd = number % schedule->simds;
        wave->shown->slot = number / schedule->simds;
        wave->shown->begin = wave->shown->end = now;
        if (result)
            memset(result, 0, WMI_REGISTER_COUNT * sizeof *result);
    }
}

/* Ends the workgroup of the wave if all of its waves have ended. */
static void end_wave(struct place *place, const struct running *wave)
{
    const struct wmi_schedule *schedule = place->schedule;
    struct running *group =
        place->running + (wave - place->running) / schedule->group_waves * schedule->group_waves;
    double end = 0;
    for (uint32_t w = 0; w < schedule->group_waves; w++) {
        if (!is_over(&group[w]))
            return;
        end = later(end, group[w].ready);
    }
    start_group(place, group, end + schedule->turnaround);
    for (uint32_t w = 0; w < schedule->group_waves; w++)
        look_ahead(place, &group[w]);
}

/* When the wave can issue its next instruction. */
static double issue_time(struct place *place, struct running *wave, double *waited)
{
    const struct wmi_scheduled_code *code = &place->schedule->code[step_of(wave)->code];
    const double *unit = unit_of(place, wave, code);
    *waited = later(wave->ready, wave->waits);
    return later(later(*waited, results_ready(wave, code)), unit ? *unit : 0);
}

static void issue(struct place *place, struct running *wave)
{
    struct wm_timeline_step *step = step_of(wave);
    const struct wmi_scheduled_code *code = &place->schedule->code[step->code];
    double waited, *unit = unit_of(place, wave, code);
    const double now = issue_time(place, wave, &waited), begin = wave->ready;
    step->begin = begin;
    step->waits = (float)(waited - begin);
    step->stalls = (float)(now - waited);
    step->issues = (float)code->issue;
    if (unit)
        *unit = now + code->busy;
    if (code->kind != WMI_PATH_KIND_NONE)
        add_flight(wave, code,
                   now + code->latency * (code->kind == WMI_PATH_KIND_LDS ? 1 : place->schedule->slower));
    set_results(wave, code, now);
    wave->ready = now + code->issue;
    wave->shown->end = wave->ready;
    place->end = later(place->end, wave->ready);
    wave->next++;
    look_ahead(place, wave);
    if (!is_over(wave))
        return;
    leave_barrier(place, wave); /* ended waves do not count there */
    end_wave(place, wave);
}

/* The wave that can issue first; NULL: none is left. */
static struct running *next_wave(struct place *place, size_t count)
{
    struct running *first = NULL;
    double soonest = 0, waited;
    for (size_t i = 0; i < count; i++) {
        struct running *wave = &place->running[i];
        if (is_over(wave) || wave->at_barrier)
            continue;
        const double time = issue_time(place, wave, &waited);
        if (first && (time > soonest || (time == soonest && wave->shown->begin >= first->shown->begin)))
            continue;
        first = wave;
        soonest = time;
    }
    return first;
}

static bool make_place(struct place *place, size_t count, bool has_results)
{
    const struct wmi_schedule *schedule = place->schedule;
    place->running = calloc(count, sizeof *place->running);
    place->units = calloc((size_t)schedule->simds * (UNITS_OF_SIMD + 1) + 1, sizeof *place->units);
    bool good = place->running && place->units;
    for (size_t i = 0; good && has_results && i < count; i++)
        good = (place->running[i].result = calloc(WMI_REGISTER_COUNT, sizeof(double)));
    return good;
}

double wmi_schedule_run(const struct wmi_schedule *schedule)
{
    const size_t count = (size_t)schedule->resident * schedule->group_waves;
    struct place place = {.schedule = schedule};
    bool has_results = false;
    for (size_t i = 0; i < schedule->waves && !has_results; i++)
        for (size_t k = 0; k < schedule->wave[i].steps && !has_results; k++)
            has_results = schedule->code[schedule->wave[i].step[k].code].span_count;
    const bool good = make_place(&place, count, has_results);
    for (uint32_t group = 0; good && group < schedule->resident; group++)
        start_group(&place, &place.running[group * schedule->group_waves], 0);
    for (size_t i = 0; good && i < count; i++)
        look_ahead(&place, &place.running[i]);
    for (struct running *wave; good && (wave = next_wave(&place, count));)
        issue(&place, wave);
    for (size_t i = 0; place.running && i < count; i++)
        free(place.running[i].result);
    free(place.running);
    free(place.units);
    return good ? place.end : -1;
}
