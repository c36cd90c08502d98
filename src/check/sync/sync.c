/* SPDX-License-Identifier: MIT */
/* The checker of synchronisation: waves of a workgroup at different barriers, and what a deadlock waits for.
 */
#include "base/grow.h"
#include "check/checker.h"
#include "exec/run/dispatch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct place { /* a memory instruction, or one that waits */
    uint64_t pc;
    bool private;   /* of private memory */
    bool waits;     /* s_barrier_wait, */
    int16_t number; /* for this barrier */
};

enum {
    BARRIERS = 32, /* barriers of the code whose executions are counted, for each wave */
    MEETINGS = 32  /* pairs of barriers at which waves of a workgroup have waited at the same time */
};

struct wave {
    struct {
        uint64_t pc; /* 0: none */
        uint32_t count;
    } passed[BARRIERS];
    uint32_t arrivals, departures; /* at the workgroup's barrier */
    uint64_t barrier;              /* the last one */
    uint64_t access;               /* the last memory access, other than to private memory */
    uint64_t wait;                 /* the s_barrier_wait that it has come to; 0: it has passed it */
    int32_t waits_for;             /* number of its barrier */
    bool ended;
};

/* Two waves at different barriers at the same time. */
struct meeting {
    uint64_t pc, first_pc;
    uint32_t wave, first, count;
};

struct group {
    struct group *next;
    uint64_t number;
    uint32_t waves, begun; /* barriers to which a wave has come */
    uint64_t barrier;      /* the last of them, and who came first */
    uint32_t first;
    uint32_t meetings;
    struct meeting meeting[MEETINGS];
    struct wave wave[WMI_CHECK_WAVES];
};

struct sync {
    struct wmi_observer observer;
    struct wmi_check_dispatch dispatch;
    const struct wmi_dispatch *running; /* NULL: nothing has been executed */
    struct place *place;
    uint32_t places;
    size_t capacity;                    /* of place */
    uint64_t scratch_low, scratch_high; /* private memory */
    struct group *group, *unused;       /* the current one; those that have ended */
    struct wmi_found_set findings;
    const char *missed;
};

static const char no_memory[] = "no memory for all that was to be checked for synchronisation";

/* ---- rules ---- */

enum rule { DIFFERENT_BARRIERS, MORE_BARRIERS, SHIFTED_BARRIERS, DEADLOCK, RULES };
enum { FIRST_WAVE, WAITING, HOW, NUMBER }; /* details */
enum how { POLLS, AT_BARRIER, UNSIGNALLED, AT_NAMED, AT_CLUSTER, HOWS };

static void word_rule(const struct wmi_words *words, const struct wmi_found *found, char *message,
                      size_t size);

static const struct wmi_check_rule rules[RULES] = {
    [DIFFERENT_BARRIERS] = {.name = "different-barriers",
                            .source = "OpenCL C, \"Synchronization Functions\"",
                            .remedy =
                                "let all waves reach the same barrier: move it out of the branch or loop",
                            .class = WM_CHECK_SYNC,
                            .has_first = true,
                            .pairs = true,
                            .word = word_rule},
    [MORE_BARRIERS] = {.name = "different-barriers",
                       .source = "OpenCL C, \"Synchronization Functions\"",
                       .remedy =
                           "let all waves go through the loop equally often: its bounds must not depend on "
                           "the wave",
                       .class = WM_CHECK_SYNC,
                       .word = word_rule},
    [SHIFTED_BARRIERS] = {.name = "shifted-barriers",
                          .source = "AMD's ISA documents, S_BARRIER",
                          .remedy =
                              "none if it is meant; the hardware counts arrivals, but OpenCL and HIP demand "
                              "that all waves reach the same barrier",
                          .class = WM_CHECK_SYNC,
                          .severity = WM_SEVERITY_NOTE,
                          .has_first = true,
                          .pairs = true,
                          .word = word_rule},
    [DEADLOCK] = {.name = "deadlock",
                  .remedy = "let every wave reach the barrier, and store what others wait for before waiting",
                  .class = WM_CHECK_SYNC,
                  .has_first = true,
                  .word = word_rule},
};

static void word_deadlock(const struct wmi_found *found, char *message, size_t size)
{
    const uint64_t first = found->detail[FIRST_WAVE], more = found->detail[WAITING] - 1;
    char waits[64];
    if (more)
        snprintf(waits, sizeof waits, "wave %u and %" PRIu64 " more wait", found->wave, more);
    else
        snprintf(waits, sizeof waits, "wave %u waits", found->wave);
    switch ((enum how)found->detail[HOW]) {
    case AT_BARRIER:
        snprintf(message, size,
                 "deadlock: %s at this barrier for wave %" PRIu64
                 ", which waits for memory that nobody changes",
                 waits, first);
        break;
    case UNSIGNALLED:
        snprintf(message, size,
                 "deadlock: %s for the barrier of the workgroup, which wave %" PRIu64 " has not signalled",
                 waits, first);
        break;
    case AT_NAMED:
        snprintf(message, size,
                 "deadlock: %s for barrier %" PRIu64 ", which has more members than waves that signal it",
                 waits, found->detail[NUMBER]);
        break;
    case AT_CLUSTER:
        snprintf(
            message, size,
            "deadlock: %s for the barrier of the cluster, which not all of its workgroups have signalled",
            waits);
        break;
    case HOWS:
        break;
    case POLLS:
        snprintf(message, size, "deadlock: wave %u waits for memory that nobody changes", found->wave);
        break;
    }
}

static void word_rule(const struct wmi_words *words, const struct wmi_found *found, char *message,
                      size_t size)
{
    (void)words;
    switch ((enum rule)(found->rule - rules)) {
    case DIFFERENT_BARRIERS:
        snprintf(message, size,
                 "wave %u waits at this barrier while wave %" PRIu64 " of its workgroup waits at another",
                 found->wave, found->detail[FIRST_WAVE]);
        break;
    case SHIFTED_BARRIERS:
        snprintf(message, size,
                 "wave %u waits at this barrier while wave %" PRIu64
                 " of its workgroup waits at another: they are barriers apart, as in ping-pong schedules",
                 found->wave, found->detail[FIRST_WAVE]);
        break;
    case MORE_BARRIERS:
        snprintf(message, size,
                 "wave %u executes this barrier %" PRIu64 " times, and wave %" PRIu64
                 " of its workgroup %" PRIu64 ": only the end of that wave lets it go on",
                 found->wave, found->detail[WAITING], found->detail[FIRST_WAVE], found->detail[NUMBER]);
        break;
    default:
        word_deadlock(found, message, size);
        break;
    }
}

static void add_often(struct sync *sync, enum rule rule, const struct group *group, unsigned wave,
                      uint64_t pc, uint64_t first_pc, const uint64_t detail[4], uint64_t count)
{
    const struct wmi_found found = {.rule = &rules[rule],
                                    .pc = pc,
                                    .first_pc = first_pc,
                                    .count = count,
                                    .has_wave = true,
                                    .wave = wave,
                                    .group = group->number,
                                    .launch = sync->dispatch.launch,
                                    .detail = {detail[0], detail[1], detail[2], detail[3]}};
    if (!wmi_found_add(&sync->findings, &found))
        sync->missed = no_memory;
}

static void add(struct sync *sync, enum rule rule, const struct group *group, unsigned wave, uint64_t pc,
                uint64_t first_pc, const uint64_t detail[4])
{
    add_often(sync, rule, group, wave, pc, first_pc, detail, 1);
}

/* ---- instructions ---- */

static uint32_t add_place(struct sync *sync, const struct place *place)
{
    if (!wmi_grow(&sync->place, &sync->capacity, sync->places, sizeof *place)) {
        sync->missed = no_memory;
        return WMI_NOT_SHOWN;
    }
    sync->place[sync->places] = *place;
    return sync->places++;
}

static uint32_t add_memory_insn(void *self, uint64_t pc, unsigned id)
{
    return add_place(self, &(struct place){.pc = pc, .private = wmi_rows[id].class == WMI_CLASS_SCRATCH});
}

/* Numbers barriers, and the first instruction of the kernel, which tells what runs. */
static uint32_t add_wait(void *self, uint64_t pc, const struct wmi_instruction *insn)
{
    struct sync *sync = self;
    const bool barrier = insn->id == WMI_INSN_s_barrier || insn->id == WMI_INSN_s_barrier_signal;
    const bool waits = insn->id == WMI_INSN_s_barrier_wait;
    const struct wmi_operand *number = waits ? wmi_operand(insn, WMI_ROLE_IMM) : NULL;
    if (!barrier && !waits && pc != sync->dispatch.entry)
        return WMI_NOT_SHOWN;
    return add_place(
        sync, &(struct place){.pc = pc, .waits = waits, .number = number ? (int16_t)number->value : 0});
}

static void execute(void *local, void **own, uint32_t number, const uint32_t *scalars)
{
    struct sync *sync = local;
    const struct wmi_wave *running = wmi_wave_of((const char *)scalars - offsetof(struct wmi_frame, s));
    (void)own;
    sync->running = running->group->dispatch;
    if (number >= sync->places || !sync->group)
        return;
    struct wave *wave = &sync->group->wave[running->index];
    const struct place *place = &sync->place[number];
    if (place->waits && (place->number != WM_BARRIER_CLUSTER || running->group->cluster)) {
        wave->wait = place->pc;
        wave->waits_for = place->number;
    }
}

/* A wave executes the memory instruction, in some lane at the address. */
static void pass(struct sync *sync, uint32_t wave, uint32_t slot, uint64_t address)
{
    const bool private = address - sync->scratch_low < sync->scratch_high - sync->scratch_low;
    if (slot >= sync->places || !sync->group || sync->place[slot].private || private)
        return;
    sync->group->wave[wave].access = sync->place[slot].pc;
}

static void see_access(void *local, const struct wmi_access *access, uint32_t slot)
{
    const struct wmi_element *element = &access->element[0];
    if (access->path == WMI_PATH_CONTROL)
        return; /* it invalidates caches */
    const bool global = access->elements && element->space == WMI_SPACE_GLOBAL && element->mask;
    pass(local, access->wave, slot, global ? element->address[__builtin_ctzll(element->mask)] : 0);
}

static bool see_summary(void *local, const struct wmi_address_summary *summary, uint32_t slot)
{
    const bool global = summary->shape >> 16 == WMI_SPACE_GLOBAL && summary->lanes;
    pass(local, summary->wave, slot,
         global ? wmi_summary_address(summary, (unsigned)__builtin_ctzll(summary->lanes)) : 0);
    return true;
}

static bool see_lane(void *local, uint32_t slot, uint32_t wave, uint32_t depth, uint64_t address,
                     const struct wmi_hit *hit)
{
    (void)depth, (void)hit;
    pass(local, wave, slot, address);
    return true;
}

/* ---- barriers ---- */

static void count_barrier(struct wave *wave, uint64_t pc)
{
    unsigned i = 0;
    while (i < BARRIERS && wave->passed[i].pc && wave->passed[i].pc != pc)
        i++;
    if (i == BARRIERS)
        return;
    wave->passed[i].pc = pc;
    wave->passed[i].count++;
}

/* How often the wave has executed the barrier; 0: never, or it is not known. */
static uint32_t count_of(const struct wave *wave, uint64_t pc)
{
    for (unsigned i = 0; i < BARRIERS; i++)
        if (wave->passed[i].pc == pc)
            return wave->passed[i].count;
    return 0;
}

/* Whether a wave executed a barrier more often than others, which have executed it, too, and whose end let it
 * pass. Waves that return before a barrier of the code never execute that one, which is correct. */
static void compare_counts(struct sync *sync, const struct group *group)
{
    unsigned most = 0, other = WMI_CHECK_WAVES;
    for (unsigned i = 0; i < group->waves; i++) {
        if (!group->wave[i].ended)
            return;
        if (group->wave[i].arrivals > group->wave[most].arrivals)
            most = i;
    }
    const struct wave *wave = &group->wave[most];
    const uint32_t count = count_of(wave, wave->barrier);
    for (unsigned i = 0; i < group->waves; i++) {
        if (group->wave[i].arrivals == wave->arrivals)
            continue;
        const uint32_t less = count_of(&group->wave[i], wave->barrier);
        if (!less || less >= count)
            return;
        other = i;
    }
    if (other < WMI_CHECK_WAVES)
        add(sync, MORE_BARRIERS, group, most, wave->barrier, 0,
            (const uint64_t[4]){other, count, 0, count_of(&group->wave[other], wave->barrier)});
}

/* Whether all waves have ended, and have come to a barrier equally often. */
static bool came_equally(const struct group *group)
{
    for (unsigned i = 0; i < group->waves; i++)
        if (!group->wave[i].ended || group->wave[i].arrivals != group->wave[0].arrivals)
            return false;
    return true;
}

/* Whether all waves have executed the barrier, equally often. */
static bool is_common(const struct group *group, uint64_t pc)
{
    const uint32_t count = count_of(&group->wave[0], pc);
    for (unsigned i = 1; i < group->waves; i++)
        if (count_of(&group->wave[i], pc) != count)
            return false;
    return count;
}

/* Reports waves that have waited at different barriers. Some kernels let one half of their waves pass one
 * barrier more before a loop, and the other half one more behind it, so that one half loads while the other
 * computes: they all execute the barriers of the loop (Triton, BlockPingpong, cond_barrier). */
static void report_meetings(struct sync *sync, const struct group *group)
{
    const bool equal = came_equally(group);
    bool shifted = false;
    for (uint32_t i = 0; i < group->meetings; i++) {
        const struct meeting *meeting = &group->meeting[i];
        const bool meant = equal && (is_common(group, meeting->pc) || is_common(group, meeting->first_pc));
        if (!meant || !shifted)
            add_often(sync, meant ? SHIFTED_BARRIERS : DIFFERENT_BARRIERS, group, meeting->wave, meeting->pc,
                      meeting->first_pc, (const uint64_t[4]){meeting->first}, meeting->count);
        shifted |= meant;
    }
}

/* A wave waits at another barrier than the first wave that waits. */
static void meet(struct sync *sync, struct group *group, unsigned wave, uint64_t pc)
{
    for (uint32_t i = 0; i < group->meetings; i++)
        if (group->meeting[i].pc == pc && group->meeting[i].first_pc == group->barrier) {
            group->meeting[i].count++;
            return;
        }
    if (group->meetings < MEETINGS)
        group->meeting[group->meetings++] = (struct meeting){pc, group->barrier, wave, group->first, 1};
    else
        add(sync, DIFFERENT_BARRIERS, group, wave, pc, group->barrier, (const uint64_t[4]){group->first});
}

static void arrive(struct sync *sync, struct group *group, unsigned number, uint64_t pc)
{
    struct wave *wave = &group->wave[number];
    wave->barrier = pc;
    count_barrier(wave, pc);
    if (++wave->arrivals > group->begun) {
        group->begun = wave->arrivals;
        group->barrier = pc;
        group->first = number;
    } else if (wave->arrivals == group->begun && group->barrier != pc) {
        meet(sync, group, number, pc);
    }
}

static void see_event(void *local, const struct wm_event *event)
{
    struct sync *sync = local;
    struct group *group = sync->group;
    if (!group || event->wave >= group->waves)
        return;
    const bool own = event->barrier.number == WM_BARRIER_WORKGROUP;
    switch (event->kind) {
    case WM_EVENT_BARRIER_ARRIVE:
        if (own)
            arrive(sync, group, event->wave, event->pc);
        break;
    case WM_EVENT_BARRIER_LEAVE:
        if (own)
            group->wave[event->wave].departures = group->wave[event->wave].arrivals;
        group->wave[event->wave].wait = 0;
        break;
    case WM_EVENT_WAVE_END:
        group->wave[event->wave].ended = event->extent.completed;
        break;
    default:
        break;
    }
}

/* ---- workgroups ---- */

static void resume(void *local, void **mine, uint64_t number, uint32_t waves, uint64_t scratch)
{
    struct sync *sync = local;
    (void)scratch;
    struct group *group = *mine;
    if (!group && waves <= WMI_CHECK_WAVES) {
        group = sync->unused;
        if (group)
            sync->unused = group->next;
        else if (!(group = malloc(sizeof *group)))
            sync->missed = no_memory;
    }
    if (!*mine && group) {
        memset(group, 0, offsetof(struct group, wave) + waves * sizeof group->wave[0]);
        group->number = number;
        group->waves = waves;
        *mine = group;
    }
    if (waves > WMI_CHECK_WAVES)
        sync->missed = "synchronisation: workgroups of more than 32 waves are not checked";
    sync->group = group;
}

/* Why a wave that has not ended goes no further. */
static enum how how_it_waits(const struct wave *wave)
{
    if (wave->wait && wave->waits_for == WM_BARRIER_CLUSTER)
        return AT_CLUSTER;
    if (wave->wait && wave->waits_for > 0)
        return AT_NAMED;
    if (wave->arrivals > wave->departures)
        return AT_BARRIER;
    return wave->wait ? UNSIGNALLED : POLLS;
}

/* Says who waits for whom in a workgroup that a deadlock has ended. */
static void report_deadlock(struct sync *sync, const struct group *group)
{
    const struct wave *of[HOWS] = {NULL}; /* the first one of each kind */
    uint64_t count[HOWS] = {0};
    for (unsigned i = 0; i < group->waves; i++) {
        const enum how how = how_it_waits(&group->wave[i]);
        if (group->wave[i].ended)
            continue;
        of[how] = of[how] ? of[how] : &group->wave[i];
        count[how]++;
    }
    const struct wave *polls = of[POLLS], *waits = of[AT_BARRIER], *unsignalled = of[UNSIGNALLED],
                      *named = of[AT_NAMED], *clustered = of[AT_CLUSTER];
    if (named) /* the barrier of the workgroup may wait for these waves */
        add(sync, DEADLOCK, group, (unsigned)(named - group->wave), named->wait, 0,
            (const uint64_t[4]){0, count[AT_NAMED], AT_NAMED, (uint64_t)named->waits_for});
    else if (unsignalled)
        add(sync, DEADLOCK, group, (unsigned)(unsignalled - group->wave), unsignalled->wait, 0,
            (const uint64_t[4]){(uint64_t)(unsignalled - group->wave), count[UNSIGNALLED] + count[AT_BARRIER],
                                UNSIGNALLED});
    else if (clustered && !polls)
        add(sync, DEADLOCK, group, (unsigned)(clustered - group->wave), clustered->wait, 0,
            (const uint64_t[4]){0, count[AT_CLUSTER], AT_CLUSTER});
    else if (waits && polls)
        add(sync, DEADLOCK, group, (unsigned)(waits - group->wave), waits->barrier, polls->access,
            (const uint64_t[4]){(uint64_t)(polls - group->wave), count[AT_BARRIER], AT_BARRIER});
    else if (polls)
        add(sync, DEADLOCK, group, (unsigned)(polls - group->wave), polls->access, 0,
            (const uint64_t[4]){0, count[POLLS], POLLS});
}

static void end_group(void *local, void *mine, uint64_t instructions)
{
    struct sync *sync = local;
    struct group *group = mine;
    (void)instructions;
    if (!group)
        return;
    report_meetings(sync, group);
    if (sync->running && sync->running->deadlock)
        report_deadlock(sync, group);
    else
        compare_counts(sync, group);
    group->next = sync->unused;
    sync->unused = group;
    if (sync->group == group)
        sync->group = NULL;
}

/* ---- the checker ---- */

static void *begin_thread(void *self)
{
    return self;
}

static void end_thread(void *self, void *local)
{
    (void)self, (void)local;
}

static const char *incomplete(void *self)
{
    return ((const struct sync *)self)->missed;
}

static void *create(unsigned what)
{
    struct sync *sync = calloc(1, sizeof *sync);
    (void)what;
    if (!sync)
        return NULL;
    sync->observer = (struct wmi_observer){
        .self = sync,
        .events = WM_EVENT_BARRIER_ARRIVE | WM_EVENT_BARRIER_LEAVE | WM_EVENT_WAVE_END,
        .thread_begin = begin_thread,
        .thread_end = end_thread,
        .access = see_access,
        .instruction = add_memory_insn,
        .decoded = add_wait,
        .execute = execute,
        .resume = resume,
        .end = end_group,
        .summary = see_summary,
        .summary_lane = see_lane,
        .event = see_event,
        .incomplete = incomplete,
    };
    return sync;
}

static void destroy(void *self)
{
    struct sync *sync = self;
    for (struct group *group = sync->unused, *next; group; group = next) {
        next = group->next;
        free(group);
    }
    wmi_found_free(&sync->findings);
    free(sync->place);
    free(sync);
}

static const struct wmi_observer *begin(void *self, const struct wmi_check_dispatch *dispatch)
{
    struct sync *sync = self;
    const struct wmi_allocation *scratch =
        dispatch->space && dispatch->scratch ? wmi_space_find(dispatch->space, dispatch->scratch) : NULL;
    sync->dispatch = *dispatch;
    sync->scratch_low = scratch ? scratch->low : 0;
    sync->scratch_high = scratch ? scratch->high : 0;
    sync->running = NULL;
    sync->group = NULL;
    sync->missed = NULL;
    if (!dispatch->lowered)
        sync->places = 0;
    return &sync->observer;
}

static bool end(void *self, struct wmi_found_set *findings)
{
    struct sync *sync = self;
    return wmi_found_move(findings, &sync->findings);
}

struct code {
    struct place *place;
    uint32_t places;
    size_t capacity;
};

static bool exchange(void *self, void **kept)
{
    struct sync *sync = self;
    struct code *code = *kept ? *kept : calloc(1, sizeof *code);
    if (!code)
        return false;
    WMI_EXCHANGE(code->place, sync->place);
    WMI_EXCHANGE(code->places, sync->places);
    WMI_EXCHANGE(code->capacity, sync->capacity);
    *kept = code;
    return true;
}

static void forget(void *kept)
{
    struct code *code = kept;
    if (code)
        free(code->place);
    free(code);
}

const struct wmi_checker wmi_checker_sync = {
    .name = "synchronisation",
    .classes = WM_CHECK_SYNC,
    .in_order = true,
    .create = create,
    .destroy = destroy,
    .begin = begin,
    .exchange = exchange,
    .forget = forget,
    .end = end,
};
