/* SPDX-License-Identifier: MIT */
/* The checker of races: records which wave accesses which bytes, and reports two accesses that nothing
 * orders. Waves execute in a fixed order on one thread, so the earlier access is always in the shadow. Most
 * accesses are to consecutive dwords that only the wave itself has accessed, for which races_lanes.c has fast
 * paths. */
#include "check/races/races.h"

#include "base/grow.h"
#include "exec/run/polling.h"
#include "exec/run/wave.h"
#include "isa/rules/wait.h"
#include "sem/table.h"

#include <stdlib.h>
#include <string.h>

wmi_race_summary *wmi_race_summary_build(enum wmi_cpu_level level, unsigned lanes)
{
    WMI_TABLE_OF_BUILDS(builds, wmi_race_summary);
    return builds[level][lanes != 32];
}

wmi_race_run *wmi_race_runner(enum wmi_cpu_level level, unsigned lanes)
{
    WMI_TABLE_OF_BUILDS(runners, wmi_race_run);
    return runners[level][lanes != 32];
}

wmi_race_replay *wmi_race_replayer(enum wmi_cpu_level level, unsigned lanes)
{
    WMI_TABLE_OF_BUILDS(replayers, wmi_race_replay);
    return replayers[level][lanes != 32];
}

/* ---- instructions ---- */

static uint32_t add_insn(void *self, uint64_t pc, unsigned id)
{
    struct wmi_races *races = self;
    (void)id;
    if (races->insns == WMI_RACE_SLOTS) {
        races->missed = "races: too many memory instructions";
        return 0;
    }
    if (!wmi_grow(&races->insn, &races->capacity, races->insns, sizeof *races->insn)) {
        races->missed = wmi_race_no_memory;
        return 0;
    }
    races->insn[races->insns] = (struct wmi_race_insn){.pc = pc, .distance = races->distance};
    memcpy(races->insn[races->insns].counted, races->counted, sizeof races->counted);
    return races->insns++;
}

static void learn_insn(struct wmi_races *races, struct wmi_race_insn *insn, const struct wmi_access *access)
{
    insn->pc = access->pc;
    insn->path = (uint8_t)access->path;
    insn->kind = access->kind;
    insn->bytes = access->bytes;
    insn->elements = access->elements;
    insn->policy = (uint8_t)access->policy;
    insn->scope = access->facts->scope;
    insn->operation = access->facts->operation;
    insn->returns = access->facts->result.count;
    insn->lds = access->elements && access->element[0].space == WMI_SPACE_LDS;
    if (access->kind == WMI_ACCESS_LOAD && races->code->options.space)
        insn->load = wmi_race_load_at(races->code, access->pc, insn->lds);
    insn->coherent = wmi_race_is_coherent(&races->rules, insn);
    insn->known = true;
}

/* By how much an instruction increments the counters, in the order of issue. */
static void count_of(const struct wmi_races *races, const struct wmi_wait_facts *facts,
                     uint8_t counted[WMI_RACE_COUNTERS])
{
    memset(counted, 0, WMI_RACE_COUNTERS);
    for (unsigned i = 0; i < facts->events; i++) {
        const struct wmi_wait_event *event = &facts->event[i];
        if (event->counter == WMI_COUNTER_DS &&
            (event->order == WMI_ORDER_LDS || event->order == WMI_ORDER_FLAT))
            counted[WMI_RACE_COUNTS_LDS] = event->units;
        if (event->counter == races->moves)
            counted[event->order == WMI_ORDER_LDS ? WMI_RACE_COUNTS_OUT : WMI_RACE_COUNTS_MOVES] =
                event->units;
        if (races->counts_tensors && event->counter == WMI_COUNTER_TENSOR)
            counted[WMI_RACE_COUNTS_TENSORS] = event->units;
    }
}

/* Numbers the instructions that wait for stores or LDS. Also stores facts of memory instructions for
 * add_insn(), which is called next. */
/* Whether waits for a part of the stores in flight matter. */
static bool counts_stores(const struct wmi_races *races)
{
    return races->waits_for_part &&
           (races->stores == WMI_COUNTER_STORE || races->waits_for.memory || races->order.within);
}

static uint32_t add_wait(void *self, uint64_t pc, const struct wmi_instruction *insn)
{
    struct wmi_races *races = self;
    races->distance = wmi_check_distance(insn);
    const struct wmi_wait_facts facts = wmi_wait_facts_of(races->dispatch.target, insn);
    const struct wmi_race_wait waits = {facts.limit[races->stores], facts.limit[WMI_COUNTER_DS],
                                        facts.limit[races->moves],
                                        races->counts_tensors ? facts.limit[WMI_COUNTER_TENSOR] : UINT8_MAX};
    count_of(races, &facts, races->counted);
    const struct wmi_race_loop loop =
        races->code->options.space ? wmi_race_loop_at(races->code, pc, insn) : (struct wmi_race_loop){0};
    const bool decides = wmi_rows[insn->id].memory == WMI_MEMORY_ATOMIC && races->code->options.space &&
                         wmi_result_decides(races->code, pc);
    const unsigned class = wmi_rows[insn->id].class;
    races->loops.lds |= loop.lds;
    races->loops.memory |= loop.memory;
    races->waits_for.lds |= loop.lds || (decides && (class == WMI_CLASS_DS || class == WMI_CLASS_FLAT));
    races->waits_for.memory |= loop.memory || (decides && class != WMI_CLASS_DS);
    races->waits_for_part |=
        waits.stores && waits.stores < wmi_counter_largest(races->dispatch.target, races->stores);
    races->order.counts_stores = counts_stores(races);
    races->loads_to_lds |= wmi_rows[insn->id].group == WMI_GROUP_LDS_DMA || insn->field[WMI_FIELD_lds];
    if (!facts.waits || (waits.stores & waits.lds & waits.moves & waits.tensors) == UINT8_MAX)
        return WMI_NOT_SHOWN;
    if (!wmi_grow(&races->wait, &races->wait_capacity, races->waits, sizeof waits)) {
        races->missed = wmi_race_no_memory;
        return WMI_NOT_SHOWN;
    }
    races->wait[races->waits] = waits;
    return races->waits++;
}

/* ---- accesses ---- */

/* Returns the slot of the LDS side of a move, which has none of its own: the one that it was given before, or
 * a new one, which is counted as the side of memory. */
static uint32_t slot_of_move(struct wmi_races *races, uint64_t pc)
{
    uint32_t memory = 0;
    for (uint32_t i = 1; i < races->insns; i++) {
        if (races->insn[i].pc == pc && races->insn[i].path == WMI_PATH_LDS_DMA)
            return i;
        memory = races->insn[i].pc == pc ? i : memory;
    }
    const uint32_t slot = add_insn(races, pc, 0);
    if (slot)
        memcpy(races->insn[slot].counted, races->insn[memory].counted, sizeof races->insn->counted);
    return slot;
}

/* Updates the wave's operations in flight, before the access. */
static void count_operation(struct wmi_races *races, struct wmi_race_insn *insn, unsigned wave)
{
    struct wmi_race_wave *w = &races->group->wave[wave];
    const bool writes = insn->kind != WMI_ACCESS_LOAD;
    if (insn->path == WMI_PATH_SMEM || insn->path == WMI_PATH_LDS_DMA)
        return;
    if (!insn->lds)
        wmi_race_count(races, insn, w);
    if (writes && w->releases && wmi_race_release(&races->order, races->group, wave))
        insn->released = true;
    else if (writes)
        wmi_race_store_in_order(races, wave, insn->lds);
}

/* Whether the access is to private memory, which other waves do not see. */
static bool is_private(const struct wmi_races *races, const struct wmi_access *access)
{
    const struct wmi_element *element = &access->element[0];
    return access->path == WMI_PATH_SCRATCH ||
           (access->elements && element->space == WMI_SPACE_GLOBAL && element->mask &&
            (element->private_offset ||
             wmi_race_is_scratch(races, element->address[__builtin_ctzll(element->mask)])));
}

static void see_access(void *local, const struct wmi_access *access, uint32_t slot)
{
    struct wmi_races *races = local;
    struct wmi_race_group *group = races->group;
    if (!group || !group->tag)
        return;
    if (access->path == WMI_PATH_LDS_DMA)
        slot = slot_of_move(races, access->pc);
    if (!slot)
        return;
    struct wmi_race_insn *insn = &races->insn[slot];
    if (access->path == WMI_PATH_CONTROL || access->path == WMI_PATH_GDS) {
        wmi_race_flights_count_moves(&group->flights[access->wave], insn->counted);
        return;
    }
    if (!insn->known)
        learn_insn(races, insn, access);
    if (is_private(races, access)) {
        if (!access->goes_on)
            wmi_race_count_private(races, insn, access->wave);
        return;
    }
    if (!access->goes_on)
        count_operation(races, insn, access->wave);
    wmi_race_record(races, access, slot);
    wmi_race_add_flights(races, access, insn, slot);
    const bool flat = insn->path == WMI_PATH_FLAT;
    group->wave[access->wave].updates |= insn->kind == WMI_ACCESS_ATOMIC;
    if (insn->kind == WMI_ACCESS_LOAD && !insn->lds)
        wmi_race_load(races, access->wave);
    if ((insn->kind != WMI_ACCESS_LOAD || insn->path == WMI_PATH_LDS_DMA) && (insn->lds || flat))
        *(insn->path == WMI_PATH_LDS_DMA ? &group->wave[access->wave].lds_moved
                                         : &group->wave[access->wave].lds_stored) = true;
    if (insn->kind != WMI_ACCESS_LOAD && (!insn->lds || flat))
        wmi_race_store(&races->order, group, access->wave);
}

/* Records a scalar load. */
static bool see_lane(void *local, uint32_t slot, uint32_t wave, uint32_t depth, uint64_t address,
                     const struct wmi_hit *hit)
{
    struct wmi_races *races = local;
    struct wmi_race_group *group = races->group;
    const struct wmi_race_insn *insn = &races->insn[slot];
    (void)depth;
    if (!slot || !insn->known || insn->kind != WMI_ACCESS_LOAD || insn->bytes % 4 || !group || !group->tag ||
        address < hit->low || address + insn->bytes > hit->high || address % 4)
        return false;
    if (address - races->dispatch.kernarg < races->dispatch.kernarg_bytes)
        return true; /* no wave writes the kernarg segment */
    wmi_race_describe(&races->order, group, wave, slot, false, false, &races->now);
    if (wmi_race_log_run(races, address, address + insn->bytes))
        return true;
    if (wmi_race_meets_log(&races->log, address, address + insn->bytes))
        races->replay(races, false);
    for (unsigned i = 0; i < insn->bytes; i += 4)
        if (!wmi_race_touch_dword(races, WMI_SPACE_GLOBAL, address + i))
            return false;
    return true;
}

/* ---- waves and workgroups ---- */

static void execute(void *local, void **wave, uint32_t number, const uint32_t *scalars)
{
    struct wmi_races *races = local;
    const char *frame = (const char *)scalars - offsetof(struct wmi_frame, s);
    const unsigned index = wmi_wave_of(frame)->index;
    (void)wave;
    if (number >= races->waits || !races->group)
        return;
    const struct wmi_race_wait *waits = &races->wait[number];
    if (waits->stores != UINT8_MAX)
        wmi_race_wait(&races->order, races->group, index, waits->stores);
    if (waits->lds != UINT8_MAX)
        wmi_race_wait_for_lds(races->group, index, waits->lds);
    if (waits->moves != UINT8_MAX) {
        wmi_race_wait_for_loads(races->group, index, waits->moves);
        wmi_race_wait_for_loads_to_lds(races->group, index, WMI_RACE_COUNTS_MOVES, waits->moves);
        wmi_race_wait_for_loads_to_lds(races->group, index, WMI_RACE_COUNTS_OUT, waits->moves);
    }
    if (waits->tensors != UINT8_MAX)
        wmi_race_wait_for_loads_to_lds(races->group, index, WMI_RACE_COUNTS_TENSORS, waits->tensors);
}

static struct wmi_race_group *new_group(struct wmi_races *races, uint64_t number, uint32_t waves)
{
    struct wmi_race_group *group = races->unused;
    if (waves > WMI_RACE_WAVES) {
        races->missed = "races: workgroups of more than 32 waves are not checked";
        return NULL;
    }
    if (!group) {
        struct wmi_race_group **all =
            realloc(races->all, (races->groups + 1) * sizeof(struct wmi_race_group *));
        if (all)
            races->all = all;
        if (!all || !(group = calloc(1, sizeof *group))) {
            races->missed = wmi_race_no_memory;
            return NULL;
        }
        all[races->groups++] = group;
    } else {
        races->unused = group->next;
    }
    if (wmi_race_local_begin(&group->lds, races->dispatch.lds_bytes, races->dispatch.launch) &&
        wmi_race_group_begin(&races->order, group, number, waves) &&
        wmi_race_cluster_enter(&races->clusters, number))
        return group;
    group->next = races->unused;
    races->unused = group;
    races->missed = wmi_race_no_memory;
    return NULL;
}

static void resume(void *local, void **group, uint64_t number, uint32_t waves, uint64_t scratch)
{
    struct wmi_races *races = local;
    (void)scratch;
    if (!*group)
        *group = new_group(races, number, waves);
    races->group = *group;
}

static void end_group(void *local, void *group, uint64_t instructions)
{
    struct wmi_races *races = local;
    struct wmi_race_group *ended = group;
    (void)instructions;
    if (!ended)
        return;
    wmi_race_cluster_exit(&races->clusters, wmi_race_past(&races->order, ended->tag)->number);
    ended->next = races->unused;
    races->unused = ended;
    if (races->group == ended)
        races->group = NULL;
}

static void see_cache(struct wmi_races *races, const struct wm_event *event)
{
    const struct wm_cache_control *cache = &event->cache;
    const struct wmi_race_model *model = races->rules.model;
    const bool reaches =
        !model->has_scopes || cache->scope == WM_SCOPE_DEVICE || cache->scope == WM_SCOPE_SYSTEM;
    struct wmi_race_wave *wave = &races->group->wave[event->wave];
    if (cache->operations & WM_CACHE_WRITE_BACK && reaches)
        wmi_race_write_back(&races->order, races->group, event->wave);
    if (!(cache->operations & WM_CACHE_INVALIDATE))
        return;
    /* gfx940: buffer_inv sc0 invalidates the vector cache in tgsplit mode only. */
    if (cache->scope == WM_SCOPE_WORKGROUP ||
        (cache->caches & 1 << WM_CACHE_VECTOR && (!model->has_scopes || cache->scope >= WM_SCOPE_ENGINE)))
        wmi_race_refresh(&races->order, races->group, event->wave);
    if (cache->caches & 1 << WM_CACHE_SCALAR)
        wmi_race_rescan(&races->order, races->group, event->wave);
    if (!reaches)
        return;
    wave->invalidated |= cache->caches & model->invalidates;
    if (wave->invalidated == model->invalidates) {
        wmi_race_invalidate(&races->order, races->group, event->wave);
        wave->invalidated = 0;
    }
}

/* False: no memory. */
static bool arrive(struct wmi_races *races, struct wmi_race_group *group, const struct wm_event *event)
{
    return event->barrier.number == WM_BARRIER_CLUSTER
               ? wmi_race_cluster_signal(&races->clusters, &races->order, group, event->wave)
               : wmi_race_arrive(&races->order, group, event->wave, event->barrier.number,
                                 event->barrier.waits, event->pc);
}

static void see_event(void *local, const struct wm_event *event)
{
    struct wmi_races *races = local;
    struct wmi_race_group *group = races->group;
    if (!group)
        return;
    switch (event->kind) {
    case WM_EVENT_BARRIER_ARRIVE:
        if (!arrive(races, group, event))
            races->missed = wmi_race_no_memory;
        break;
    case WM_EVENT_BARRIER_LEAVE:
        if (event->barrier.number == WM_BARRIER_CLUSTER)
            wmi_race_cluster_wait(&races->clusters, &races->order, group, event->wave);
        else
            wmi_race_leave(&races->order, group, event->wave, event->barrier.number);
        break;
    case WM_EVENT_CACHE:
        see_cache(races, event);
        break;
    default:
        break;
    }
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
    const struct wmi_races *races = self;
    return races->shadow.lost || races->order.lost ? wmi_race_no_memory : races->missed;
}

static void *create(unsigned what)
{
    struct wmi_races *races = calloc(1, sizeof *races);
    if (!races || !(races->code = calloc(1, sizeof *races->code))) {
        free(races);
        return NULL;
    }
    races->rules.strict = what & WM_CHECK_STRICT;
    races->what = what;
    races->observer = (struct wmi_observer){
        .self = races,
        .events = WM_EVENT_BARRIER_ARRIVE | WM_EVENT_BARRIER_LEAVE | WM_EVENT_CACHE,
        .lds_moves = true,
        .thread_begin = begin_thread,
        .thread_end = end_thread,
        .access = see_access,
        .summary_lane = see_lane,
        .instruction = add_insn,
        .decoded = add_wait,
        .execute = execute,
        .resume = resume,
        .end = end_group,
        .event = see_event,
        .incomplete = incomplete,
    };
    return races;
}

static void destroy(void *self)
{
    struct wmi_races *races = self;
    for (size_t i = 0; i < races->groups; i++) {
        wmi_race_local_destroy(&races->all[i]->lds);
        for (unsigned wave = 0; wave < WMI_RACE_WAVES; wave++)
            wmi_race_flights_free(&races->all[i]->flights[wave]);
        wmi_race_pending_free(&races->all[i]->pending);
        wmi_race_pending_free(&races->all[i]->coming);
        free(races->all[i]->named);
        free(races->all[i]);
    }
    free(races->all);
    wmi_race_shadow_free(&races->shadow);
    wmi_race_log_free(&races->log);
    wmi_race_clusters_free(&races->clusters);
    wmi_race_order_free(&races->order);
    wmi_found_free(&races->findings);
    free(races->insn);
    free(races->wait);
    free(races->code);
    for (unsigned i = 0; i <= WMI_RACE_PATTERNS; i++)
        free(races->pattern[i]);
    free(races);
}

/* Whether lanes that form one wave here may form two waves on other targets. For kernels whose workgroups
 * always fit into one wave, compilers omit the barriers (LLVM, AMDGPULegalizerInfo and SIISelLowering). */
static bool depends_on_wave_size(const struct wmi_races *races)
{
    enum { NARROW = 32, WIDE = 64 };
    const struct wmi_check_dispatch *dispatch = &races->dispatch;
    const uint64_t items = (uint64_t)dispatch->workgroup[0] * dispatch->workgroup[1] * dispatch->workgroup[2];
    return races->what & WM_CHECK_PORTABILITY && dispatch->wave_lanes == WIDE && items > NARROW &&
           !(dispatch->max_items && dispatch->max_items <= WIDE);
}

static const struct wmi_observer *begin(void *self, const struct wmi_check_dispatch *dispatch)
{
    struct wmi_races *races = self;
    const struct wmi_allocation *scratch =
        dispatch->space && dispatch->scratch ? wmi_space_find(dispatch->space, dispatch->scratch) : NULL;
    races->dispatch = *dispatch;
    races->code->options.target = dispatch->target;
    races->code->options.space = dispatch->space;
    races->rules.model = wmi_race_model(dispatch->target);
    races->run = wmi_race_runner(wmi_cpu_level(), dispatch->wave_lanes);
    races->replay = wmi_race_replayer(wmi_cpu_level(), dispatch->wave_lanes);
    races->observer.summary = wmi_race_summary_build(wmi_cpu_level(), dispatch->wave_lanes);
    races->stores =
        wmi_counter_largest(dispatch->target, WMI_COUNTER_STORE) ? WMI_COUNTER_STORE : WMI_COUNTER_LOAD;
    races->moves = wmi_counter_of_moves(dispatch->target);
    races->counts_tensors = wmi_counts_tensors(dispatch->target);
    races->scratch_low = scratch ? scratch->low : 0;
    races->scratch_high = scratch ? scratch->high : 0;
    races->group = NULL;
    races->missed = NULL;
    if (!dispatch->lowered) {
        races->insns = races->waits = 0;
        races->loads_to_lds = races->waits_for_part = false;
        races->loops = races->waits_for = (struct wmi_race_loop){0};
        add_insn(races, 0, 0);
    }
    for (uint32_t i = 0; i < races->insns; i++) { /* forget what earlier dispatches did */
        struct wmi_race_insn *insn = &races->insn[i];
        insn->communicated = insn->released = false;
        insn->recorded = 0;
        insn->known &= insn->path != WMI_PATH_FLAT;
    }
    wmi_race_shadow_begin(&races->shadow, dispatch->launch);
    wmi_race_log_begin(&races->log);
    wmi_race_clusters_free(&races->clusters);
    races->clusters.size = wmi_grid_cluster(dispatch->cluster);
    wmi_race_order_begin(&races->order);
    races->order.writes_back = races->rules.model->writes_back;
    races->order.lds_most = wmi_counter_largest(dispatch->target, WMI_COUNTER_DS);
    races->order.within = races->rules.model->mode_invalidate && dispatch->split;
    races->order.counts_stores = counts_stores(races);
    races->order.halves = depends_on_wave_size(races);
    races->order.waits_at_barriers = races->rules.model->waits_at_barriers || races->order.within;
    return &races->observer;
}

struct code {
    struct wmi_race_insn *insn;
    uint32_t insns, waits;
    size_t capacity, wait_capacity;
    struct wmi_race_wait *wait;
    bool loads_to_lds, waits_for_part;
    struct wmi_race_loop loops, waits_for;
};

static bool exchange(void *self, void **kept)
{
    struct wmi_races *races = self;
    struct code *code = *kept ? *kept : calloc(1, sizeof *code);
    if (!code)
        return false;
    WMI_EXCHANGE(code->insn, races->insn);
    WMI_EXCHANGE(code->insns, races->insns);
    WMI_EXCHANGE(code->capacity, races->capacity);
    WMI_EXCHANGE(code->wait, races->wait);
    WMI_EXCHANGE(code->waits, races->waits);
    WMI_EXCHANGE(code->wait_capacity, races->wait_capacity);
    WMI_EXCHANGE(code->loads_to_lds, races->loads_to_lds);
    WMI_EXCHANGE(code->waits_for_part, races->waits_for_part);
    WMI_EXCHANGE(code->loops, races->loops);
    WMI_EXCHANGE(code->waits_for, races->waits_for);
    *kept = code;
    return true;
}

static void forget(void *kept)
{
    struct code *code = kept;
    if (!code)
        return;
    free(code->insn);
    free(code->wait);
    free(code);
}

static bool end(void *self, struct wmi_found_set *findings)
{
    struct wmi_races *races = self;
    return wmi_found_move(findings, &races->findings);
}

const struct wmi_checker wmi_checker_races = {
    .name = "races",
    .classes = WM_CHECK_RACES | WM_CHECK_STRICT | WM_CHECK_PORTABILITY,
    .in_order = true,
    .create = create,
    .destroy = destroy,
    .begin = begin,
    .exchange = exchange,
    .forget = forget,
    .end = end,
};
