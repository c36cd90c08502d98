/* SPDX-License-Identifier: MIT */
/* Breakpoints and watchpoints; and continuing to them, in both directions. */
#include "tool/debug/stops.h"

#include "tool/debug/locations.h"
#include "tool/tool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WATCHED = 64 << 20 /* bytes of a watchpoint, which are copied */, MOST_RANGES = 64 };

/* ---- the list ---- */

static void free_breakpoint(struct debug_breakpoint *b)
{
    free(b->what);
    free(b->location);
    free(b->condition);
    free(b->addresses);
    free(b->shadow);
}

struct debug_breakpoint *debug_breakpoint(struct debug_session *s, unsigned number)
{
    for (size_t i = 0; i < s->breakpoint_count; i++)
        if (s->breakpoints[i].number == number)
            return &s->breakpoints[i];
    return NULL;
}

bool debug_delete(struct debug_session *s, unsigned number)
{
    struct debug_breakpoint *b = debug_breakpoint(s, number);
    if (!b)
        return false;
    free_breakpoint(b);
    const size_t after = (size_t)(&s->breakpoints[s->breakpoint_count] - (b + 1));
    memmove(b, b + 1, after * sizeof *b);
    s->breakpoint_count--;
    return true;
}

void debug_free_stops(struct debug_session *s)
{
    for (size_t i = 0; i < s->breakpoint_count; i++)
        free_breakpoint(&s->breakpoints[i]);
    free(s->breakpoints);
}

/* Takes what *b owns. */
static unsigned add(struct debug_session *s, struct debug_breakpoint b, const char *what,
                    const char *condition, struct wm_diag *diag)
{
    struct debug_breakpoint *larger = realloc(s->breakpoints, (s->breakpoint_count + 1) * sizeof *larger);
    s->breakpoints = larger ? larger : s->breakpoints;
    b.what = strdup(what);
    b.location = b.watches ? NULL : strdup(what);
    b.condition = condition && *condition ? strdup(condition) : NULL;
    b.enabled = true;
    b.number = s->last_number + 1;
    if (!larger || !b.what || (!b.watches && !b.location) || (condition && *condition && !b.condition)) {
        free_breakpoint(&b);
        tool_because(diag, "out of memory");
        return 0;
    }
    larger[s->breakpoint_count++] = b;
    return ++s->last_number;
}

/* A condition is tried where the wave is; registers that are not there yet are no mistake before it runs. */
static bool check_condition(struct debug_session *s, const char *condition, bool watches,
                            struct wm_diag *diag)
{
    const struct debug_value zero = {.kind = 'i', .size = 8, .space = DEBUG_NOWHERE, .count = 1};
    const struct debug_change change = {zero, zero, zero};
    struct debug_value value;
    if (!condition || !*condition || s->state != DEBUG_STOPPED)
        return true;
    s->change = watches ? &change : NULL;
    const bool good = debug_evaluate(s, condition, s->lane, &value, diag);
    s->change = NULL;
    return good;
}

unsigned debug_break(struct debug_session *s, const char *location, const char *condition, bool temporary,
                     struct wm_diag *diag)
{
    struct debug_breakpoint b = {.temporary = temporary};
    if (!check_condition(s, condition, false, diag))
        return 0;
    if (!debug_locate(s, location, &b.addresses, &b.address_count, diag)) {
        if (!s->source->launches) /* else it may be in the code of a later launch */
            return 0;
        b.address_count = 0;
    }
    return add(s, b, location, condition, diag);
}

/* A pointer stands for the rest of its allocation. */
static bool watched_place(struct debug_session *s, struct debug_value *v, struct wm_diag *diag)
{
    struct wm_allocation a = {.struct_size = sizeof a};
    if (v->pointer && v->target_space == DEBUG_GLOBAL && v->space != DEBUG_GLOBAL) {
        if (wm_find_allocation(s->machine, v->bits, false, &a, diag) != WM_OK)
            return false;
        *v = (struct debug_value){.kind = v->target_kind,
                                  .size = v->target_size,
                                  .space = DEBUG_GLOBAL,
                                  .address = v->bits,
                                  .count = (a.address + a.size - v->bits) / v->target_size};
    }
    if (v->space != DEBUG_GLOBAL && v->space != DEBUG_LDS)
        return tool_because(diag, v->space == DEBUG_REGISTER
                                      ? "Registers cannot be watched; `who $v3' finds the last write of one."
                                      : "Cannot watch constant value.");
    if (!v->count || v->count * v->size > MOST_WATCHED)
        return tool_because(diag, "Too much to watch: %" PRIu64 " bytes; at most %u.", v->count * v->size,
                            MOST_WATCHED);
    return true;
}

unsigned debug_watch(struct debug_session *s, const char *expression, const char *condition, bool reads,
                     bool writes, struct wm_diag *diag)
{
    struct debug_breakpoint b = {.watches = true, .reads = reads, .writes = writes};
    if (s->state == DEBUG_BEFORE && !debug_restart(s, diag))
        return 0;
    if (!check_condition(s, condition, true, diag) ||
        !debug_evaluate(s, expression, s->lane, &b.place, diag) || !watched_place(s, &b.place, diag))
        return 0;
    memcpy(b.workgroup, s->wave.workgroup, sizeof b.workgroup);
    b.shadow = calloc(b.place.count, b.place.size);
    if (!b.shadow) {
        tool_because(diag, "out of memory");
        return 0;
    }
    return add(s, b, expression, condition, diag);
}

/* ---- goals ---- */

/* What stops the session. ranges[i] belongs to breakpoint watch[i]. */
struct goals {
    uint64_t *addresses;
    size_t address_count;
    struct wm_stop_range ranges[MOST_RANGES];
    struct debug_breakpoint *watch[MOST_RANGES];
    size_t range_count;
};

static void refresh_shadow(struct debug_session *s, struct debug_breakpoint *b)
{
    struct wm_diag ignored; /* LDS of a workgroup that does not execute now */
    const size_t size = b->place.count * b->place.size;
    const struct wm_stopped wave = s->wave;
    if (b->place.space == DEBUG_LDS && s->state == DEBUG_STOPPED) {
        if (wm_run_select(s->run, b->workgroup, 0, NULL, &ignored) != WM_OK ||
            wm_run_read_lds(s->run, (uint32_t)b->place.address, b->shadow, (uint32_t)size, &ignored) != WM_OK)
            memset(b->shadow, 0, size);
        wm_run_select(s->run, wave.workgroup, wave.wave, NULL, &ignored);
    } else if (b->place.space == DEBUG_GLOBAL) {
        wm_read(s->machine, b->place.address, b->shadow, size, &ignored);
    }
}

static bool collect(struct debug_session *s, struct goals *goals, struct wm_diag *diag)
{
    *goals = (struct goals){0};
    size_t room = 1;
    for (size_t i = 0; i < s->breakpoint_count; i++)
        room += s->breakpoints[i].address_count;
    goals->addresses = malloc(room * sizeof *goals->addresses);
    if (!goals->addresses)
        return tool_because(diag, "out of memory");
    for (size_t i = 0; i < s->breakpoint_count; i++) {
        struct debug_breakpoint *b = &s->breakpoints[i];
        for (size_t a = 0; b->enabled && a < b->address_count; a++)
            goals->addresses[goals->address_count++] = b->addresses[a];
        if (!b->enabled || !b->watches || goals->range_count == MOST_RANGES)
            continue;
        goals->watch[goals->range_count] = b;
        goals->ranges[goals->range_count++] =
            (struct wm_stop_range){b->place.address, b->place.address + b->place.count * b->place.size,
                                   b->reads, b->writes, b->place.space == DEBUG_LDS};
        refresh_shadow(s, b);
    }
    return true;
}

/* ---- what a stop means ---- */

/* Counts a hit. False: it is one of those to ignore. */
static bool count_hit(struct debug_breakpoint *b)
{
    b->hits++;
    if (!b->ignore)
        return true;
    b->ignore--;
    return false;
}

static bool has_address(const struct debug_breakpoint *b, uint64_t pc)
{
    for (size_t i = 0; i < b->address_count; i++)
        if (b->addresses[i] == pc)
            return true;
    return false;
}

/* Whether a breakpoint stops the wave that is stopped: its condition holds in an active lane. */
static bool stops_here(struct debug_session *s, bool counts, struct debug_event *event, bool *stops,
                       struct wm_diag *diag)
{
    *stops = false;
    for (size_t i = 0; i < s->breakpoint_count && !*stops; i++) {
        struct debug_breakpoint *b = &s->breakpoints[i];
        unsigned lane = s->lane;
        bool holds = true;
        if (!b->enabled || !has_address(b, s->wave.pc))
            continue;
        if (b->condition && !debug_condition(s, b->condition, s->wave.lanes, &lane, &holds, diag))
            return false;
        if (!holds || (counts && !count_hit(b)))
            continue;
        *stops = true;
        s->lane = lane;
        *event = (struct debug_event){.kind = DEBUG_EVENT_BREAKPOINT,
                                      .number = b->number,
                                      .temporary = b->temporary,
                                      .time = debug_now(s),
                                      .pc = s->wave.pc};
    }
    return true;
}

static struct debug_value element_of(const struct debug_breakpoint *b, uint64_t index, const uint8_t *from)
{
    struct debug_value v = b->place;
    v.count = 1;
    v.bits = 0;
    v.address += index * v.size;
    memcpy(&v.bits, from + index * v.size, v.size);
    return v;
}

/* The first element that the access has changed and for which the condition holds; with reads, or
 * `any_write`, the first that it touches. */
static bool changed(struct debug_session *s, struct debug_breakpoint *b, const uint8_t *now, bool any,
                    uint64_t touched, struct debug_change *change, bool *found, struct wm_diag *diag)
{
    const uint64_t first = any ? touched : 0, end = any ? touched + 1 : b->place.count;
    *found = false;
    for (uint64_t i = first; i < end && !*found; i++) {
        struct debug_value value;
        if (!any && !memcmp(b->shadow + i * b->place.size, now + i * b->place.size, b->place.size))
            continue;
        change->was = element_of(b, i, b->shadow);
        change->is = element_of(b, i, now);
        change->index =
            (struct debug_value){.kind = 'u', .size = 8, .bits = i, .space = DEBUG_NOWHERE, .count = 1};
        if (b->condition) {
            s->change = change;
            const bool good = debug_evaluate(s, b->condition, s->lane, &value, diag);
            s->change = NULL;
            if (!good)
                return false;
        }
        *found = !b->condition || debug_is_true(&value);
    }
    return true;
}

/* The wave is stopped before an access to ranges: executes it, and finds out whether a watchpoint is hit. */
static bool watch_access(struct debug_session *s, struct goals *goals, const struct wm_stopped *access,
                         bool counts, struct debug_event *event, bool *stops, struct wm_diag *diag)
{
    const struct debug_goal after = {.until = s->now + 1};
    const struct debug_time time = debug_now(s);
    const unsigned lane = (unsigned)__builtin_ctzll(access->access_lanes);
    struct wm_instruction instruction;
    struct wm_stopped stopped;
    struct wm_diag ignored;
    debug_instruction(s, access->pc, &instruction, NULL);
    *stops = false;
    if (!debug_advance(s, &after, &stopped, diag))
        return false;
    if (s->state == DEBUG_STOPPED && debug_select(s, access->workgroup, access->wave, &ignored))
        s->lane = lane;
    for (size_t i = 0; i < goals->range_count; i++) {
        struct debug_breakpoint *b = goals->watch[i];
        const size_t size = b->place.count * b->place.size;
        bool found;
        if (!(access->ranges >> i & 1) ||
            (b->place.space == DEBUG_LDS && memcmp(b->workgroup, access->workgroup, sizeof b->workgroup)))
            continue;
        uint8_t *before = malloc(size);
        if (!before)
            return tool_because(diag, "out of memory");
        memcpy(before, b->shadow, size);
        uint8_t *was = b->shadow;
        b->shadow = before;
        struct debug_breakpoint view = *b;
        view.shadow = was;
        refresh_shadow(s, &view); /* `was` has the new bytes now, `before` the old ones */
        const uint64_t touched = (access->address - b->place.address) / b->place.size;
        struct debug_change change;
        const bool reads = b->reads && instruction.flags & WM_INSTRUCTION_LOAD;
        const bool good = changed(s, b, was, reads || b->any_write,
                                  access->address < b->place.address ? 0 : touched, &change, &found, diag);
        b->shadow = was;
        free(before);
        if (!good)
            return false;
        if (!found || *stops || (counts && !count_hit(b)))
            continue;
        *stops = true;
        *event = (struct debug_event){.kind = DEBUG_EVENT_WATCHPOINT,
                                      .number = b->number,
                                      .time = time,
                                      .pc = access->pc,
                                      .state = access->state,
                                      .read = reads && !(instruction.flags & WM_INSTRUCTION_ATOMIC),
                                      .change = change};
    }
    return true;
}

/* The lane that accesses the element of a watchpoint which was hit, found by another look at the access. */
static bool find_lane(struct debug_session *s, const struct debug_event *event, struct wm_diag *diag)
{
    const struct debug_breakpoint *b = debug_breakpoint(s, event->number);
    const struct debug_time now = debug_now(s);
    const struct debug_value *v = &event->change.is;
    const struct wm_stop_range range = {v->address, v->address + v->size, true, true, v->space == DEBUG_LDS};
    const struct debug_goal goal = {.ranges = &range, .range_count = 1, .until = event->time.executed + 1};
    const struct wm_stopped wave = s->wave;
    struct wm_stopped stopped;
    if (!b || b->place.count == 1 || s->state != DEBUG_STOPPED)
        return true;
    if (!debug_go_to(s, event->time, diag) || s->state != DEBUG_STOPPED ||
        !debug_advance(s, &goal, &stopped, diag))
        return false;
    const unsigned lane =
        stopped.kind == WM_STOP_ACCESS ? (unsigned)__builtin_ctzll(stopped.access_lanes) : s->lane;
    if (!debug_go_to_wave(s, now, wave.workgroup, wave.wave, diag))
        return false;
    s->lane = lane;
    return true;
}

/* ---- continuing ---- */

/* Why a wave or a dispatch goes no further. */
static void describe_end(struct debug_session *s, struct debug_event *event)
{
    event->time = debug_now(s);
    event->kind = s->state == DEBUG_STOPPED ? DEBUG_EVENT_FAULT : DEBUG_EVENT_END;
    event->pc = s->state == DEBUG_STOPPED ? s->wave.pc : s->fault.pc;
}

/* A deadlock is a stop: the waves that wait can be looked at. */
static bool go_back_to_deadlock(struct debug_session *s, struct debug_event *event, struct wm_diag *diag)
{
    const struct wm_fault fault = s->fault;
    const struct debug_time time = {s->dispatch, s->now ? s->now - 1 : 0};
    if (!debug_go_to(s, time, diag))
        return false;
    s->fault = fault;
    if (s->state == DEBUG_STOPPED && debug_select(s, fault.workgroup, fault.wave, diag))
        event->kind = DEBUG_EVENT_DEADLOCK;
    return true;
}

/* Runs on to the next event; `until`: at most to this time in the dispatch, as a step; 0: no limit. */
static bool to_next_event(struct debug_session *s, struct goals *goals, uint64_t until, bool counts,
                          struct debug_event *event, bool *stops, struct wm_diag *diag)
{
    const struct debug_goal goal = {.addresses = goals->addresses,
                                    .address_count = goals->address_count,
                                    .ranges = goals->ranges,
                                    .range_count = goals->range_count,
                                    .until = until};
    struct wm_stopped stopped;
    *stops = false;
    *event = (struct debug_event){.kind = DEBUG_EVENT_STEP};
    while (!*stops) {
        if (!debug_advance(s, &goal, &stopped, diag))
            return false;
        if (s->interrupted) {
            event->kind = DEBUG_EVENT_INTERRUPTED;
            return true;
        }
        if (s->state == DEBUG_STOPPED && stopped.kind == WM_STOP_ACCESS &&
            !watch_access(s, goals, &stopped, counts, event, stops, diag))
            return false;
        if (*stops)
            return true;
        if (s->state != DEBUG_STOPPED || s->faulted) {
            describe_end(s, event);
            return true;
        }
        if (until && s->now >= until)
            return true;
        if (stopped.kind != WM_STOP_STEP && !stops_here(s, counts, event, stops, diag))
            return false;
    }
    return true;
}

static bool continue_forward(struct debug_session *s, struct goals *goals, struct debug_event *event,
                             struct wm_diag *diag)
{
    bool stops, last = false;
    for (;;) {
        if (s->state == DEBUG_STOPPED) {
            if (!to_next_event(s, goals, 0, true, event, &stops, diag))
                return false;
            if (stops || s->state == DEBUG_STOPPED)
                return true;
            if (s->fault.kind == WM_FAULT_DEADLOCK)
                return go_back_to_deadlock(s, event, diag);
        }
        if (!debug_next_dispatch(s, &last, diag)) {
            describe_end(s, event);
            if (s->between)
                event->kind = DEBUG_EVENT_INTERRUPTED;
            return last || s->between;
        }
        if (s->source->next) { /* breakpoints may be elsewhere in its code */
            free(goals->addresses);
            *goals = (struct goals){0};
            if (!collect(s, goals, diag))
                return false;
        }
        if (!stops_here(s, true, event, &stops, diag))
            return false;
        if (stops)
            return true;
    }
}

/* The last event of the dispatch from `from` on before `end`, found by executing it up to there. */
static bool find_last_from(struct debug_session *s, struct goals *goals, uint64_t from, struct debug_time end,
                           struct debug_event *last, struct wm_stopped *wave, bool *found,
                           struct wm_diag *diag)
{
    struct debug_event event;
    bool stops;
    *found = false;
    if (!debug_go_to(s, (struct debug_time){end.dispatch, from}, diag))
        return false;
    s->repeated += end.executed - from;
    for (size_t i = 0; i < goals->range_count; i++)
        refresh_shadow(s, goals->watch[i]);
    if (s->state == DEBUG_STOPPED && end.executed && !stops_here(s, false, &event, &stops, diag))
        return false;
    if (s->state == DEBUG_STOPPED && end.executed && stops) {
        *found = true;
        *last = event;
        *wave = s->wave;
    }
    while (s->state == DEBUG_STOPPED && !s->faulted && s->now < end.executed) {
        if (!to_next_event(s, goals, end.executed, false, &event, &stops, diag))
            return false;
        if (event.kind == DEBUG_EVENT_INTERRUPTED) {
            *last = event;
            return true;
        }
        if (!stops || event.time.executed >= end.executed)
            continue;
        *found = true;
        *last = event;
        *wave = s->wave;
    }
    return true;
}

/* From one checkpoint to the next, the latest ones first. */
static bool find_last(struct debug_session *s, struct goals *goals, struct debug_time end,
                      struct debug_event *last, struct wm_stopped *wave, bool *found, struct wm_diag *diag)
{
    *found = false;
    for (;;) {
        const uint64_t from = debug_checkpoint_before(s, end.dispatch, end.executed);
        if (!find_last_from(s, goals, from, end, last, wave, found, diag))
            return false;
        if (*found || !from || last->kind == DEBUG_EVENT_INTERRUPTED)
            return true;
        end.executed = from;
    }
}

static bool continue_backwards(struct debug_session *s, struct goals *goals, struct debug_event *event,
                               struct wm_diag *diag)
{
    const struct debug_time now = debug_now(s);
    struct wm_stopped wave;
    bool found = false;
    for (size_t dispatch = now.dispatch + 1; dispatch-- > 0 && !found;) {
        const struct debug_time end = {dispatch,
                                       dispatch == now.dispatch ? now.executed : s->lengths[dispatch]};
        *event = (struct debug_event){.kind = DEBUG_EVENT_BEGINNING};
        if (!find_last(s, goals, end, event, &wave, &found, diag))
            return false;
        if (event->kind == DEBUG_EVENT_INTERRUPTED) /* stays where it was */
            return debug_go_to(s, now, diag);
    }
    if (!found)
        return debug_go_to(s, (struct debug_time){0, 0}, diag);
    const unsigned lane = s->lane;
    if (!debug_go_to_wave(s, event->time, wave.workgroup, wave.wave, diag))
        return false;
    if (event->kind == DEBUG_EVENT_BREAKPOINT) {
        bool stops;
        struct debug_event again;
        return stops_here(s, false, &again, &stops, diag);
    }
    (void)lane;
    return true;
}

bool debug_continue(struct debug_session *s, bool backwards, struct debug_event *event, struct wm_diag *diag)
{
    struct goals goals;
    s->repeated = 0;
    if (!collect(s, &goals, diag))
        return false;
    const bool good =
        backwards ? continue_backwards(s, &goals, event, diag) : continue_forward(s, &goals, event, diag);
    free(goals.addresses);
    if (good && event->kind == DEBUG_EVENT_WATCHPOINT && !find_lane(s, event, diag))
        return false;
    if (good && event->kind == DEBUG_EVENT_BREAKPOINT && event->temporary)
        debug_delete(s, event->number);
    return good;
}

void debug_relocate(struct debug_session *s)
{
    for (size_t i = 0; i < s->breakpoint_count; i++) {
        struct debug_breakpoint *b = &s->breakpoints[i];
        uint64_t *addresses;
        size_t count;
        struct wm_diag ignored; /* it is in other code */
        if (!b->location || *b->location == '*')
            continue;
        const bool found = debug_locate(s, b->location, &addresses, &count, &ignored);
        free(b->addresses);
        b->addresses = found ? addresses : NULL;
        b->address_count = found ? count : 0;
    }
}

bool debug_run(struct debug_session *s, struct debug_event *event, struct wm_diag *diag)
{
    for (size_t i = 0; i < s->breakpoint_count; i++)
        s->breakpoints[i].hits = 0;
    return debug_restart(s, diag) && debug_run_on(s, event, diag);
}

bool debug_run_on(struct debug_session *s, struct debug_event *event, struct wm_diag *diag)
{
    bool stops = false;
    *event = (struct debug_event){.kind = DEBUG_EVENT_STEP};
    if (s->state == DEBUG_STOPPED && !stops_here(s, true, event, &stops, diag))
        return false;
    if (!stops)
        return debug_continue(s, false, event, diag);
    if (event->temporary)
        debug_delete(s, event->number);
    return true;
}

bool debug_go_to_wave(struct debug_session *s, struct debug_time time, const uint32_t workgroup[3],
                      uint32_t wave, struct wm_diag *diag)
{
    if (!debug_go_to(s, time, diag))
        return false;
    return s->state != DEBUG_STOPPED || debug_select(s, workgroup, wave, diag);
}

/* ---- who wrote it ---- */

/* The last store to the range in the dispatch from `from` on before `end`. */
static bool find_write_from(struct debug_session *s, const struct wm_stop_range *range,
                            const uint32_t *workgroup, uint64_t from, struct debug_time end,
                            struct debug_write_found *write, bool *found, struct wm_diag *diag)
{
    const struct debug_goal goal = {.ranges = range, .range_count = 1, .until = end.executed};
    struct wm_stopped stopped;
    if (!debug_go_to(s, (struct debug_time){end.dispatch, from}, diag))
        return false;
    s->repeated += end.executed - from;
    while (s->state == DEBUG_STOPPED && !s->faulted && s->now < end.executed) {
        if (!debug_advance(s, &goal, &stopped, diag))
            return false;
        if (s->interrupted)
            return tool_because(diag, "Interrupted.");
        if (s->state != DEBUG_STOPPED || stopped.kind != WM_STOP_ACCESS || s->now >= end.executed ||
            (range->lds && memcmp(stopped.workgroup, workgroup, sizeof stopped.workgroup)))
            continue;
        *found = true;
        *write = (struct debug_write_found){
            .time = debug_now(s),
            .workgroup = {stopped.workgroup[0], stopped.workgroup[1], stopped.workgroup[2]},
            .wave = stopped.wave,
            .lanes = stopped.access_lanes,
            .pc = stopped.pc,
            .state = stopped.state};
    }
    return true;
}

/* From one checkpoint to the next, the latest ones first. */
static bool find_write(struct debug_session *s, const struct wm_stop_range *range, const uint32_t *workgroup,
                       struct debug_time end, struct debug_write_found *write, bool *found,
                       struct wm_diag *diag)
{
    for (;;) {
        const uint64_t from = debug_checkpoint_before(s, end.dispatch, end.executed);
        if (!find_write_from(s, range, workgroup, from, end, write, found, diag))
            return false;
        if (*found || !from)
            return true;
        end.executed = from;
    }
}

bool debug_last_write(struct debug_session *s, enum debug_space space, uint64_t address, uint64_t size,
                      struct debug_write_found *write, bool *found, struct wm_diag *diag)
{
    const struct wm_stop_range range = {address, address + size, false, true, space == DEBUG_LDS};
    const struct debug_time now = debug_now(s);
    const struct wm_stopped wave = s->wave;
    const enum debug_state state = s->state;
    const unsigned lane = s->lane;
    *found = false;
    s->repeated = 0;
    if (s->state == DEBUG_BEFORE)
        return true;
    if (!debug_may_go_back(s, diag))
        return false;
    bool good = true;
    for (size_t dispatch = now.dispatch + 1; dispatch-- > 0 && !*found && good;) {
        const uint64_t end = dispatch == now.dispatch ? now.executed : s->lengths[dispatch];
        good = find_write(s, &range, wave.workgroup, (struct debug_time){dispatch, end}, write, found, diag);
        if (range.lds)
            break;
    }
    if (state == DEBUG_AFTER) {
        if (!debug_go_to_end(s, now.dispatch, good ? diag : NULL))
            return false;
    } else if (!debug_go_to_wave(s, now, wave.workgroup, wave.wave, good ? diag : NULL)) {
        return false;
    }
    s->lane = lane;
    return good;
}
