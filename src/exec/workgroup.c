/* SPDX-License-Identifier: MIT */
/* Runs the workgroups of a dispatch: waves by turns, workgroups by workers, parked when they only wait. */
#include "exec/workgroup.h"
#include "exec/smem_cache.h"

#include "base/host_float.h"
#include "exec/gds.h"
#include "exec/hwreg.h"
#include "exec/launch.h"
#include "exec/program.h"
#include "exec/show.h"
#include "exec/waiting.h"
#include "lower/lower.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    FIRST_TURN =
        1 << 11,     /* instructions that a wave runs before the next wave of its workgroup has its turn */
    TURN_GROWTH = 4, /* as long as it does not wait, the next turn is longer */
    TURN = 1 << 16,  /* and at last this long */
    ROUNDS = 16,     /* turns of all waves without an end before the workgroup is parked */
    WAIT_NANOSECONDS = 5000000, /* between two reports of progress when only other threads work */
    PARKED_BYTES = 1 << 30,     /* what unfinished workgroups of all workers may take */
    LDS_PADDING = 64,
    GROUPS_PER_LOOK = 64,            /* workgroups, */
    INSTRUCTIONS_PER_LOOK = 1 << 19, /* or instructions, between two looks at the clock */
};

/* A workgroup with all that it computes in. */
struct resident {
    struct wmi_workgroup group;
    struct resident *next;
    size_t bytes;
    uint32_t number; /* among the worker's residents: its place in scratch memory */
    bool used;       /* by an earlier workgroup */
    void **watched;  /* what each observer keeps of the workgroup, and behind that of each wave */
    unsigned char *frames;
    struct wmi_wave waves[];
};

/* One host thread's state beyond what steps see. */
struct worker {
    struct wmi_worker steps; /* first: steps know it by this part */
    /* Unfinished workgroups. Each sweep over them goes through the last one's in reverse, so that chains of
     * workgroups that wait for one another end in one sweep, whichever way they lead. */
    struct resident *parked, *swept, *unused;
    unsigned residents, number; /* number: among the workers */
    bool moved, checks; /* in this sweep: a wave did something else than wait; its loads were looked at */
    bool only_loads;    /* those that wait change nothing */
    uint64_t sweep_generation, quiet_generation;
    struct wmi_probe probe;
    size_t frame_size;
    unsigned lanes, waves_per_group;
    wmi_start_frame *start_frame;
    struct wmi_wave_start start;
    alignas(64) uint32_t sgpr[WMI_START_SGPRS]; /* of the wave that starts */
    uint32_t *workitem_rows;                    /* v0, v1, v2 of each wave of a whole workgroup */
    struct wmi_lanes *exec;                     /* and EXEC */
    uint32_t host_word;
    uint64_t instructions, waves;
    uint64_t batch_next, batch_end; /* workgroups taken and not started */
    uint64_t last_flat_id;          /* of the workgroup that started last */
    uint32_t last_id[3];
    uint64_t groups_done; /* and not told to the others */
    uint64_t groups_since_look, next_look;
    bool calls_progress, out_of_memory;
};

enum outcome { DONE, PARKED, FAULTED };

double wmi_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

const struct wmi_op *wmi_wave_fault(struct wmi_wave *wave, const struct wmi_fault *fault)
{
    wave->worker->fault = *fault;
    wave->state = WMI_WAVE_FAULTED;
    return NULL;
}

/* The one of the lower workgroup and wave stays; of one wave the one that came first. */
static void note_violation(struct wmi_violation *all, const struct wmi_violation *one)
{
    if (one->count &&
        (!all->count || one->group < all->group || (one->group == all->group && one->wave < all->wave))) {
        all->group = one->group;
        all->wave = one->wave;
        all->first = one->first;
    }
    all->count += one->count;
}

/* Page faults and what scalar memory does are no violations that the wave hears of. Source: CDNA 3 ISA,
 * "Memory Violations". */
bool wmi_wave_violates(struct wmi_wave *wave, const struct wmi_fault *fault)
{
    struct wmi_worker *worker = wave->worker;
    if (!worker->dispatch->goes_on) {
        wmi_wave_fault(wave, fault);
        return false;
    }
    wave->violated |= fault->kind != WM_FAULT_MEMORY && !fault->scalar;
    note_violation(&worker->violation,
                   &(struct wmi_violation){
                       .count = 1, .group = wave->group->flat_id, .wave = wave->index, .first = *fault});
    return true;
}

static void set_lanes(struct wmi_lanes *set, uint64_t bits, unsigned lanes)
{
    set->bits = bits;
    set->full = bits == (lanes == 64 ? UINT64_MAX : (UINT64_C(1) << lanes) - 1);
    for (unsigned i = 0; i < 64; i++)
        set->row[i] = bits >> i & 1 ? UINT32_MAX : 0;
}

static void *aligned_zero(size_t size)
{
    size = (size + 63) & ~(size_t)63;
    void *memory = aligned_alloc(64, size);
    if (memory)
        memset(memory, 0, size);
    return memory;
}

/* ---- starting a workgroup ---- */

/* One row instead of three: x in bits 9:0, y in 19:10, z in 29:20; what the kernel does not ask for is 0. */
static void pack_workitems(unsigned ids, unsigned lanes, uint32_t *rows)
{
    for (unsigned lane = 0; lane < lanes; lane++)
        for (unsigned i = 1; i < ids; i++)
            rows[lane] |= rows[i * lanes + lane] << 10 * i;
}

/* v0 to v2 and EXEC of wave `wave` in a workgroup of size[] work-items. */
static void place_workitems(const struct wmi_launch *launch, const uint32_t size[3], unsigned wave,
                            unsigned lanes, uint32_t *rows, struct wmi_lanes *exec)
{
    const uint64_t items = (uint64_t)size[0] * size[1] * size[2];
    uint64_t bits = 0;
    for (unsigned lane = 0; lane < lanes; lane++) {
        const uint64_t item = (uint64_t)wave * lanes + lane;
        const bool exists = item < items;
        bits |= (uint64_t)exists << lane;
        rows[lane] = exists ? (uint32_t)(item % size[0]) : 0;
        rows[lanes + lane] = exists ? (uint32_t)(item / size[0] % size[1]) : 0;
        rows[2 * lanes + lane] = exists ? (uint32_t)(item / size[0] / size[1]) : 0;
    }
    if (launch->packed_ids)
        pack_workitems(launch->workitem_ids, lanes, rows);
    set_lanes(exec, bits, lanes);
}

static void free_resident(struct resident *resident)
{
    if (!resident)
        return;
    free(resident->frames);
    free(resident->group.lds);
    free(resident->group.scalar_cache);
    free(resident->watched);
    free(resident);
}

static struct resident *new_resident(struct worker *worker)
{
    const struct wmi_dispatch *dispatch = worker->steps.dispatch;
    const unsigned waves = worker->waves_per_group, watchers = dispatch->observers.count;
    struct resident *resident = calloc(1, sizeof *resident + waves * sizeof *resident->waves);
    const size_t frames = waves * worker->frame_size, lds = dispatch->lds_size + LDS_PADDING;
    if (resident) {
        resident->bytes = frames + lds + waves * dispatch->scratch_piece;
        resident->frames = aligned_zero(frames);
        resident->group.lds = aligned_zero(lds);
    }
    if (resident && watchers)
        resident->watched = calloc((waves + 1) * (size_t)watchers, sizeof *resident->watched);
    if (!resident || !resident->frames || !resident->group.lds || (watchers && !resident->watched)) {
        worker->out_of_memory = true;
        free_resident(resident);
        return NULL;
    }
    resident->group.dispatch = worker->steps.dispatch;
    resident->group.lds_size = dispatch->lds_size;
    resident->group.waves = resident->waves;
    for (unsigned i = 0; i < waves; i++) {
        struct wmi_frame *frame = (struct wmi_frame *)(resident->frames + i * worker->frame_size);
        wmi_code_prepare_frame(wmi_program_code(dispatch->program), frame);
        memcpy(&frame->s[WMI_S_SHARED_BASE], &dispatch->apertures, sizeof dispatch->apertures);
        frame->wave_size = worker->lanes;
        frame->wave = &resident->waves[i];
        resident->waves[i] = (struct wmi_wave){
            .frame = frame, .group = &resident->group, .worker = &worker->steps, .index = i};
        if (watchers)
            resident->waves[i].watched = resident->watched + (i + 1) * (size_t)watchers;
    }
    resident->number = worker->residents++;
    return resident;
}

/* Most often the workgroup is the one behind the last, and then there is nothing to divide. */
static void place_group(struct worker *worker, struct wmi_workgroup *group, uint64_t flat_id)
{
    const struct wmi_dispatch *dispatch = worker->steps.dispatch;
    uint32_t *id = worker->last_id;
    if (flat_id && flat_id == worker->last_flat_id + 1) {
        if (++id[0] == dispatch->groups[0]) {
            id[0] = 0;
            if (++id[1] == dispatch->groups[1]) {
                id[1] = 0;
                id[2]++;
            }
        }
    } else {
        id[0] = (uint32_t)(flat_id % dispatch->groups[0]);
        id[1] = (uint32_t)(flat_id / dispatch->groups[0] % dispatch->groups[1]);
        id[2] = (uint32_t)(flat_id / dispatch->groups[0] / dispatch->groups[1]);
    }
    worker->last_flat_id = flat_id;
    group->flat_id = flat_id;
    memcpy(group->id, id, sizeof worker->last_id);
}

/* The workgroup's numbers where no SGPR holds them: ttmp9 = x, ttmp7 = {z, y}. Source: LLVM 19,
 * SIISelLowering, getPreloadedValue. */
static void place_ttmp(struct worker *worker, const struct wmi_workgroup *group)
{
    const struct wmi_launch *launch = &worker->steps.dispatch->launch;
    worker->sgpr[WMI_S_TTMP + 9] = group->id[0];
    worker->sgpr[WMI_S_TTMP + 7] =
        (launch->ttmp_y ? group->id[1] & 0xffff : 0) | (launch->ttmp_z ? group->id[2] << 16 : 0);
}

static void start_group(struct worker *worker, struct resident *resident, uint64_t flat_id)
{
    const struct wmi_dispatch *dispatch = worker->steps.dispatch;
    const struct wmi_launch *launch = &dispatch->launch;
    struct wmi_workgroup *group = &resident->group;
    const uint32_t place = worker->number * dispatch->residents + resident->number;
    const uint64_t scratch = dispatch->scratch_stride * worker->waves_per_group * place;
    uint32_t size[3];
    bool whole = true;

    place_group(worker, group, flat_id);
    for (unsigned i = 0; i < 3; i++) {
        const uint32_t left = dispatch->grid[i] - group->id[i] * dispatch->workgroup[i];
        size[i] = left < dispatch->workgroup[i] ? left : dispatch->workgroup[i];
        whole &= size[i] == dispatch->workgroup[i];
        if (launch->workgroup_id[i] != WMI_NO_REGISTER)
            worker->sgpr[launch->workgroup_id[i]] = group->id[i];
    }
    if (launch->ttmp)
        place_ttmp(worker, group);
    const uint64_t items = (uint64_t)size[0] * size[1] * size[2];
    group->wave_count =
        whole ? worker->waves_per_group : (uint32_t)((items + worker->lanes - 1) / worker->lanes);
    group->waves_left = group->wave_count;
    group->waves_at_barrier = group->waves_at_signals = group->signals = 0;
    /* What the hardware leaves there is whatever ran before; with zeroes a run can be repeated. */
    if (dispatch->lds_size)
        memset(group->lds, 0, dispatch->lds_size);
    if (dispatch->scratch_piece && resident->used)
        for (unsigned i = 0; i < group->wave_count; i++)
            wmi_space_clear(dispatch->scratch + scratch + i * dispatch->scratch_stride,
                            dispatch->scratch_piece);
    resident->used = true;
    if (resident->watched)
        memset(resident->watched, 0,
               (group->wave_count + 1) * (size_t)dispatch->observers.count * sizeof *resident->watched);
    for (unsigned i = 0; i < group->wave_count; i++) {
        struct wmi_wave *wave = &resident->waves[i];
        alignas(64) uint32_t rows[3 * 64];
        struct wmi_lanes exec;
        if (launch->workgroup_info != WMI_NO_REGISTER) /* first wave [31], waves in the group [5:0] */
            worker->sgpr[launch->workgroup_info] = (uint32_t)(i == 0) << 31 | group->wave_count;
        if (launch->scratch_wave_offset != WMI_NO_REGISTER)
            worker->sgpr[launch->scratch_wave_offset] = (uint32_t)(scratch + i * dispatch->scratch_stride);
        if (launch->flat_scratch)
            worker->start.flat_scratch = dispatch->scratch_base + scratch + i * dispatch->scratch_stride;
        if (launch->ttmp) /* the wave's number in its workgroup [29:25] */
            worker->sgpr[WMI_S_TTMP + 8] = (i & 31) << 25;
        worker->start.ids = worker->workitem_rows + 3 * i * worker->lanes;
        worker->start.exec = &worker->exec[i];
        if (!whole) {
            place_workitems(launch, size, i, worker->lanes, rows, &exec);
            worker->start.ids = rows;
            worker->start.exec = &exec;
        }
        /* What the hardware leaves undefined is zero here, so that a run can be repeated. */
        worker->start_frame(wave->frame, &worker->start);
        wave->state = WMI_WAVE_READY;
        wave->resume = dispatch->entry_step;
        wave->instructions = 0;
        wave->quantum = FIRST_TURN;
        wave->counters = 0;
        wave->waits = wave->barrier_complete = wave->violated = false;
    }
    worker->waves += group->wave_count;
}

/* ---- running ---- */

/* Where all that are left have signalled, those that wait go on, and the others will not wait. */
static void complete_barrier(struct wmi_workgroup *group)
{
    if (!group->signals || group->signals < group->waves_left)
        return;
    for (unsigned i = 0; i < group->wave_count; i++) {
        struct wmi_wave *wave = &group->waves[i];
        wave->barrier_complete = wave->state != WMI_WAVE_SIGNALS;
        if (wave->state == WMI_WAVE_SIGNALS)
            wave->state = WMI_WAVE_READY;
    }
    group->signals = group->waves_at_signals = 0;
}

bool wmi_workgroup_signal(struct wmi_workgroup *group)
{
    const bool first = !group->signals++;
    complete_barrier(group);
    return first;
}

/* Runs `instructions` of the wave, and then on to the next taken branch. */
static void run_wave(struct worker *worker, struct wmi_wave *wave, uint32_t instructions)
{
    const struct wmi_dispatch *dispatch = worker->steps.dispatch;
    struct wmi_frame *frame = wave->frame;
    const uint64_t allowed = dispatch->max_instructions - wave->instructions;
    wave->turn = allowed < instructions ? (int64_t)allowed : instructions;
    frame->left = wave->turn;
    if (frame->mxcsr32 != worker->host_word)
        wmi_host_float_set(frame->mxcsr32);
    const struct wmi_op *op = wave->resume;
    do
        op = op->body((char *)frame, op);
    while (op);
    worker->host_word = frame->mxcsr32;
    const uint64_t executed = (uint64_t)(wave->turn - frame->left);
    wave->instructions += executed;
    wave->turn = frame->left;
    worker->instructions += executed;
    const bool goes_on = wave->state != WMI_WAVE_ENDED && wave->state != WMI_WAVE_FAULTED;
    if (goes_on && wave->instructions >= dispatch->max_instructions)
        wmi_wave_fault(wave, &(struct wmi_fault){.kind = WM_FAULT_BUDGET,
                                                 .pc = wmi_program_pc_of(dispatch->program, wave->resume),
                                                 .lanes = frame->exec.bits});
}

static void run_to_branch(struct wmi_wave *wave)
{
    run_wave((struct worker *)wave->worker, wave, 0);
}

/* Lets the wave run until its turn is over, or if it waits, until that is seen. */
static void take_turn(struct worker *worker, struct wmi_wave *wave)
{
    if (!wave->waits || !(wave->waits = wmi_wave_waits(&worker->probe, wave))) {
        worker->moved = true;
        if (wave->state == WMI_WAVE_READY)
            run_wave(worker, wave, wave->quantum);
        if (wave->state != WMI_WAVE_READY)
            return;
        wave->waits = wmi_wave_waits(&worker->probe, wave);
        if (wave->waits)
            wave->quantum = FIRST_TURN;
        else if (wave->quantum < TURN)
            wave->quantum *= TURN_GROWTH;
    } else if (worker->probe.moved) {
        worker->moved = true;
    } else if (worker->checks && worker->only_loads) {
        worker->only_loads = wmi_waiting_changes_nothing(&worker->probe, wave);
    }
}

/* Keeps the fault if no lower workgroup has one, and lets higher ones go. */
static void report_fault(struct worker *worker, uint64_t group, uint32_t wave)
{
    struct wmi_dispatch *dispatch = worker->steps.dispatch;
    const bool deadlock = worker->steps.fault.kind == WM_FAULT_DEADLOCK;
    pthread_mutex_lock(&dispatch->lock);
    const unsigned known = dispatch->fault.kind;
    /* After another fault workgroups may wait for those that it stopped: that is no news. */
    if (known == WM_FAULT_NONE ||
        (group < dispatch->fault_group && (!deadlock || known == WM_FAULT_DEADLOCK))) {
        dispatch->fault = worker->steps.fault;
        dispatch->fault_group = group;
        dispatch->fault_wave = wave;
        if (group < __atomic_load_n(&dispatch->stop_at, __ATOMIC_RELAXED))
            __atomic_store_n(&dispatch->stop_at, group, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&dispatch->lock);
}

/* Ends the dispatch for a reason that is no workgroup's: none of them need run any more. */
static void stop_all(struct worker *worker, enum wm_fault_kind kind, uint64_t pc, uint64_t group,
                     uint32_t wave)
{
    worker->steps.fault = (struct wmi_fault){.kind = kind, .pc = pc};
    report_fault(worker, group, wave);
    __atomic_store_n(&worker->steps.dispatch->stop_at, 0, __ATOMIC_RELAXED);
}

static bool go_on_says_caller(struct wmi_dispatch *dispatch)
{
    return dispatch->progress(dispatch->progress_user,
                              __atomic_load_n(&dispatch->groups_done, __ATOMIC_RELAXED),
                              dispatch->group_count);
}

/* Whether the dispatch must end now: time, or the caller's wish. Reports it as a fault of this workgroup. */
static bool must_stop(struct worker *worker, const struct resident *resident)
{
    struct wmi_dispatch *dispatch = worker->steps.dispatch;
    enum wm_fault_kind kind = WM_FAULT_NONE;
    if (dispatch->timeout > 0 && wmi_seconds() - dispatch->started > dispatch->timeout)
        kind = WM_FAULT_TIMEOUT;
    else if (worker->calls_progress && !go_on_says_caller(dispatch))
        kind = WM_FAULT_STOPPED;
    if (kind == WM_FAULT_NONE)
        return false;
    const struct wmi_wave *wave = &resident->waves[0];
    for (unsigned i = 0; i < resident->group.wave_count; i++)
        if (resident->waves[i].state != WMI_WAVE_ENDED)
            wave = &resident->waves[i];
    const uint64_t pc =
        wave->state == WMI_WAVE_ENDED ? 0 : wmi_program_pc_of(dispatch->program, wave->resume);
    stop_all(worker, kind, pc, resident->group.flat_id, wave->index);
    return true;
}

/* Whether a lower workgroup's fault, or the end of the whole dispatch, lets this one go. */
static bool is_let_go(const struct wmi_workgroup *group)
{
    return __atomic_load_n(&group->dispatch->stop_at, __ATOMIC_RELAXED) <= group->flat_id;
}

/* ---- what observers see of workgroups and waves ---- */

static bool shows(const struct worker *worker, uint64_t kinds)
{
    return worker->steps.dispatch->observers.events & kinds;
}

/* An event of the workgroup, or of one of its waves. */
static void show(struct worker *worker, const struct resident *resident, const struct wmi_wave *wave,
                 enum wm_event_kind kind, struct wm_extent extent)
{
    struct wm_event event = {.kind = kind, .extent = extent};
    wmi_show_event(&worker->steps, &resident->group, wave, &event);
}

static void show_wave_end(struct worker *worker, const struct wmi_wave *wave)
{
    if (!shows(worker, WM_EVENT_WAVE_END))
        return;
    struct wm_event event = {
        .kind = WM_EVENT_WAVE_END,
        .extent = {.completed = wave->state == WMI_WAVE_ENDED, .instructions = wave->instructions}};
    wmi_show_event(&worker->steps, wave->group, wave, &event);
}

/* A workgroup has been started, */
static void show_begin(struct worker *worker, const struct resident *resident)
{
    const uint32_t waves = resident->group.wave_count;
    if (!shows(worker, WM_EVENT_WORKGROUP_BEGIN | WM_EVENT_WAVE_BEGIN))
        return;
    show(worker, resident, NULL, WM_EVENT_WORKGROUP_BEGIN, (struct wm_extent){.waves = waves});
    for (uint32_t i = 0; i < waves; i++)
        show(worker, resident, &resident->waves[i], WM_EVENT_WAVE_BEGIN, (struct wm_extent){0});
}

/* goes on, */
static void show_turn(struct worker *worker, struct resident *resident)
{
    const struct wmi_observers *observers = &worker->steps.dispatch->observers;
    for (unsigned i = 0; i < observers->count; i++)
        if (observers->one[i]->turn)
            observers->one[i]->turn(worker->steps.observers[i], &resident->watched[i],
                                    resident->group.flat_id, resident->group.wave_count);
}

/* and is over. */
static void show_end(struct worker *worker, struct resident *resident)
{
    const struct wmi_observers *observers = &worker->steps.dispatch->observers;
    struct wm_extent extent = {.completed = true, .waves = resident->group.wave_count};
    if (!observers->count)
        return;
    for (unsigned i = 0; i < resident->group.wave_count; i++) {
        extent.instructions += resident->waves[i].instructions;
        if (resident->waves[i].state == WMI_WAVE_ENDED)
            continue;
        extent.completed = false;
        show_wave_end(worker, &resident->waves[i]);
    }
    for (unsigned i = 0; i < observers->count; i++)
        if (observers->one[i]->end)
            observers->one[i]->end(worker->steps.observers[i], resident->watched[i], extent.instructions);
    if (shows(worker, WM_EVENT_WORKGROUP_END))
        show(worker, resident, NULL, WM_EVENT_WORKGROUP_END, extent);
}

/* Lets the waves run by turns until the workgroup ends, faults, only waits, or has had its rounds. */
static enum outcome run_group(struct worker *worker, struct resident *resident)
{
    struct wmi_workgroup *group = &resident->group;
    /* Waves that meet at barriers all the time never use up a turn: they too have had their round then. */
    const uint64_t round_length = (uint64_t)TURN * group->wave_count;
    uint64_t round_end = worker->instructions + round_length;
    if (is_let_go(group))
        return FAULTED;
    for (unsigned round = 0; round < ROUNDS;) {
        bool out_of_turn = false;
        uint32_t waiting = 0;
        for (unsigned i = 0; i < group->wave_count; i++) {
            struct wmi_wave *wave = &resident->waves[i];
            if (wave->state != WMI_WAVE_READY)
                continue;
            take_turn(worker, wave);
            switch (wave->state) {
            case WMI_WAVE_ENDED:
                group->waves_left--;
                show_wave_end(worker, wave);
                complete_barrier(group);
                break;
            case WMI_WAVE_BARRIER:
                group->waves_at_barrier++;
                break;
            case WMI_WAVE_SIGNALS:
                group->waves_at_signals++;
                break;
            case WMI_WAVE_FAULTED:
                report_fault(worker, group->flat_id, wave->index);
                return FAULTED;
            case WMI_WAVE_READY:
                out_of_turn |= !wave->waits;
                waiting += wave->waits;
                break;
            }
            if (worker->instructions >= worker->next_look) {
                worker->next_look = worker->instructions + INSTRUCTIONS_PER_LOOK;
                if (is_let_go(group) || must_stop(worker, resident))
                    return FAULTED;
            }
        }
        if (!group->waves_left)
            return DONE;
        if (group->waves_at_barrier == group->waves_left) {
            group->waves_at_barrier = 0;
            for (unsigned i = 0; i < group->wave_count; i++)
                if (resident->waves[i].state == WMI_WAVE_BARRIER)
                    resident->waves[i].state = WMI_WAVE_READY;
        } else if (group->waves_at_barrier + group->waves_at_signals + waiting == group->waves_left) {
            return PARKED;
        }
        if (out_of_turn || worker->instructions >= round_end) {
            round++;
            round_end = worker->instructions + round_length;
        }
    }
    return PARKED;
}

static struct resident *pop(struct resident **stack)
{
    struct resident *resident = *stack;
    if (resident)
        *stack = resident->next;
    return resident;
}

static void push(struct resident **stack, struct resident *resident)
{
    resident->next = *stack;
    *stack = resident;
}

/* A sweep over the parked workgroups is over, and no new one can be started. Where all workers find their
 * workgroups waiting, in sweeps that began after the last of them changed anything, nothing will ever happen
 * any more. True: that is so. */
static bool is_deadlock(struct worker *worker)
{
    struct wmi_dispatch *dispatch = worker->steps.dispatch;
    pthread_mutex_lock(&dispatch->lock);
    const bool ends = dispatch->fault.kind != WM_FAULT_NONE; /* what they wait for may have been stopped */
    const bool quiet = !worker->moved && ((worker->checks && worker->only_loads) || ends);
    if (worker->moved) {
        dispatch->generation++;
        dispatch->quiet = 0;
    } else if (quiet && worker->sweep_generation == dispatch->generation &&
               worker->quiet_generation != dispatch->generation) {
        worker->quiet_generation = dispatch->generation;
        dispatch->quiet++;
    }
    dispatch->deadlock |= dispatch->quiet && dispatch->quiet == dispatch->working;
    const bool deadlock = dispatch->deadlock;
    worker->sweep_generation = dispatch->generation;
    pthread_mutex_unlock(&dispatch->lock);
    if (quiet)
        sched_yield(); /* the others have what this one waits for */
    worker->checks = !worker->moved;
    worker->only_loads = true;
    worker->moved = false;
    return deadlock;
}

static bool is_at_barrier(const struct wmi_wave *wave)
{
    return wave->state == WMI_WAVE_BARRIER || wave->state == WMI_WAVE_SIGNALS;
}

/* The lowest workgroup's lowest wave that waits in a loop, or else at a barrier, is the fault's. */
static void report_deadlock(struct worker *worker, struct resident *resident)
{
    struct wmi_dispatch *dispatch = worker->steps.dispatch;
    for (; resident; resident = resident->next) {
        struct wmi_wave *wave = NULL;
        for (unsigned i = resident->group.wave_count; i-- > 0;)
            if (resident->waves[i].state == WMI_WAVE_READY ||
                (is_at_barrier(&resident->waves[i]) && (!wave || is_at_barrier(wave))))
                wave = &resident->waves[i];
        const bool loops = wave->state == WMI_WAVE_READY && wmi_wave_waits(&worker->probe, wave);
        worker->steps.fault =
            (struct wmi_fault){.kind = WM_FAULT_DEADLOCK,
                               .pc = loops ? wmi_waiting_pc(&worker->probe, wave)
                                           : wmi_program_pc_of(dispatch->program, wave->resume),
                               .lanes = wave->frame->exec.bits};
        report_fault(worker, resident->group.flat_id, wave->index);
    }
}

static bool may_grow(const struct worker *worker)
{
    const struct wmi_dispatch *dispatch = worker->steps.dispatch;
    const struct resident *sample = worker->parked ? worker->parked : worker->swept;
    return !sample || (worker->residents < dispatch->residents &&
                       worker->residents * sample->bytes < PARKED_BYTES / dispatch->threads);
}

/* A workgroup that no worker has taken; false when all are. While others wait, it is the lowest that can be
 * had: who waits for another workgroup relies on those before it being started. */
static bool take_group(struct worker *worker, uint64_t *id)
{
    struct wmi_dispatch *dispatch = worker->steps.dispatch;
    const uint64_t stop = __atomic_load_n(&dispatch->stop_at, __ATOMIC_RELAXED);
    const unsigned share = worker->parked || worker->swept ? 0 : worker->number;
    if ((worker->batch_next == worker->batch_end || worker->batch_next >= stop) &&
        !wmi_deal_take(&dispatch->deal, share, stop, &worker->batch_next, &worker->batch_end)) {
        worker->batch_next = worker->batch_end;
        return false;
    }
    *id = worker->batch_next++;
    return true;
}

/* The workgroup to run next: a new one, or a parked one. NULL: nothing is left. */
static struct resident *next_resident(struct worker *worker)
{
    uint64_t id;
    if ((worker->unused || may_grow(worker)) && take_group(worker, &id)) {
        struct resident *resident = pop(&worker->unused);
        if (!resident)
            resident = new_resident(worker);
        if (!resident) {
            __atomic_store_n(&worker->steps.dispatch->stop_at, 0, __ATOMIC_RELAXED);
            return NULL;
        }
        start_group(worker, resident, id);
        show_begin(worker, resident);
        return resident;
    }
    if (!worker->parked && worker->swept) {
        worker->parked = worker->swept;
        worker->swept = NULL;
        if (is_deadlock(worker)) {
            report_deadlock(worker, worker->parked);
            return NULL;
        }
    }
    return pop(&worker->parked);
}

/* Adds the workgroups done to those of all workers. Seldom, because they share that number. */
static void tell_done(struct worker *worker)
{
    __atomic_fetch_add(&worker->steps.dispatch->groups_done, worker->groups_done, __ATOMIC_RELAXED);
    worker->groups_done = 0;
}

static void run_all(struct worker *worker)
{
    const struct wmi_dispatch *dispatch = worker->steps.dispatch;
    struct resident *resident;
    while ((resident = next_resident(worker))) {
        show_turn(worker, resident);
        const enum outcome outcome = run_group(worker, resident);
        if (outcome != PARKED)
            show_end(worker, resident);
        if (outcome != PARKED && resident->group.scalar_cache)
            wmi_scalar_cache_end(&resident->group, outcome == DONE);
        push(outcome == PARKED ? &worker->swept : &worker->unused, resident);
        worker->groups_done += outcome == DONE;
        if (++worker->groups_since_look == GROUPS_PER_LOOK || worker->instructions >= worker->next_look) {
            worker->groups_since_look = 0;
            worker->next_look = worker->instructions + INSTRUCTIONS_PER_LOOK;
            tell_done(worker);
            if (outcome != FAULTED &&
                __atomic_load_n(&dispatch->groups_done, __ATOMIC_RELAXED) < dispatch->group_count)
                must_stop(worker, resident);
        }
    }
    tell_done(worker);
    /* Those that still wait when the dispatch is stopped end, too. */
    for (resident = worker->parked; resident; resident = resident->next)
        show_end(worker, resident);
    for (resident = worker->swept; resident; resident = resident->next)
        show_end(worker, resident);
}

static void free_residents(struct resident *resident)
{
    while (resident) {
        struct resident *next = resident->next;
        free_resident(resident);
        resident = next;
    }
}

static bool prepare_worker(struct worker *worker, struct wmi_dispatch *dispatch, unsigned number)
{
    const uint64_t items = (uint64_t)dispatch->workgroup[0] * dispatch->workgroup[1] * dispatch->workgroup[2];
    const struct wmi_code *code = wmi_program_code(dispatch->program);
    const struct wmi_code_options *options = &code->options;
    const unsigned id_rows = dispatch->launch.packed_ids ? 1 : dispatch->launch.workitem_ids;
    worker->number = number;
    worker->steps.dispatch = dispatch;
    worker->steps.space = dispatch->space;
    worker->lanes = options->lanes;
    worker->frame_size = wmi_code_frame_size(code);
    worker->start_frame = wmi_launcher(wmi_program_level(dispatch->program), options->lanes);
    memcpy(worker->sgpr, dispatch->launch.sgpr, sizeof worker->sgpr);
    worker->start = (struct wmi_wave_start){
        .sgpr = worker->sgpr,
        .vgpr_offset = code->vgpr_offset,
        .id_rows = id_rows < options->vgprs ? id_rows : options->vgprs,
        .mode = dispatch->launch.mode,
        .mxcsr32 = dispatch->mxcsr32,
        .mxcsr64 = dispatch->mxcsr64,
    };
    worker->start.zero_rows = options->vgprs + options->agprs - worker->start.id_rows;
    worker->waves_per_group = (unsigned)((items + worker->lanes - 1) / worker->lanes);
    worker->workitem_rows = aligned_zero(worker->waves_per_group * 3 * worker->lanes * sizeof(uint32_t));
    worker->exec = aligned_zero(worker->waves_per_group * sizeof *worker->exec);
    worker->quiet_generation = UINT64_MAX;
    worker->next_look = INSTRUCTIONS_PER_LOOK;
    worker->probe.run = run_to_branch;
    worker->probe.vgpr_offset = worker->start.vgpr_offset;
    worker->probe.vgpr_bytes = (size_t)(options->vgprs + options->agprs) * code->row_bytes;
    worker->probe.vgprs = malloc(worker->probe.vgpr_bytes + 1);
    if (dispatch->observers.count)
        worker->steps.observers = calloc(dispatch->observers.count, sizeof *worker->steps.observers);
    if (!worker->workitem_rows || !worker->exec || !worker->probe.vgprs ||
        (dispatch->observers.count && !worker->steps.observers))
        return false;
    for (unsigned i = 0; i < worker->waves_per_group; i++)
        place_workitems(&dispatch->launch, dispatch->workgroup, i, worker->lanes,
                        worker->workitem_rows + 3 * i * worker->lanes, &worker->exec[i]);
    return true;
}

/* Tells observers that the worker begins. False: one of them has no memory. */
static bool begin_observers(struct worker *worker)
{
    const struct wmi_observers *observers = &worker->steps.dispatch->observers;
    for (unsigned i = 0; i < observers->count; i++) {
        const struct wmi_observer *one = observers->one[i];
        void *local = worker->steps.observers[i] = one->thread_begin(one->self);
        if (!local || (one->block && !(worker->steps.blocks = one->block_counters(local))) ||
            (one->execution_counters && !(worker->steps.executed = one->execution_counters(local))))
            return false;
    }
    return true;
}

static void end_observers(struct worker *worker)
{
    const struct wmi_observers *observers = &worker->steps.dispatch->observers;
    for (unsigned i = 0; i < observers->count; i++)
        if (worker->steps.observers[i])
            observers->one[i]->thread_end(observers->one[i]->self, worker->steps.observers[i]);
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct wmi_dispatch *dispatch = worker->steps.dispatch;
    const uint32_t saved = wmi_host_float_get();

    worker->host_word = saved;
    if (begin_observers(worker))
        run_all(worker);
    else
        worker->out_of_memory = true;
    end_observers(worker);
    wmi_host_float_set(saved);
    free_residents(worker->parked);
    free_residents(worker->swept);
    free_residents(worker->unused);
    pthread_mutex_lock(&dispatch->lock);
    dispatch->instructions += worker->instructions;
    dispatch->waves += worker->waves;
    note_violation(&dispatch->violation, &worker->steps.violation);
    dispatch->working--;
    dispatch->generation++; /* what it did last may be what another waits for */
    dispatch->quiet = 0;
    pthread_mutex_unlock(&dispatch->lock);
    return NULL;
}

static bool others_work(struct wmi_dispatch *dispatch)
{
    pthread_mutex_lock(&dispatch->lock);
    const bool work = dispatch->working;
    pthread_mutex_unlock(&dispatch->lock);
    return work;
}

/* The thread that calls progress() has nothing left to run, but the others have. */
static void report_until_done(struct worker *worker)
{
    struct wmi_dispatch *dispatch = worker->steps.dispatch;
    const struct timespec wait = {.tv_nsec = WAIT_NANOSECONDS};
    while (others_work(dispatch)) {
        if (!go_on_says_caller(dispatch)) {
            stop_all(worker, WM_FAULT_STOPPED, 0, dispatch->group_count - 1, 0);
            return;
        }
        nanosleep(&wait, NULL);
    }
}

/* Whether an observer relies on workgroups beginning in the order of their numbers. */
static bool wants_order(const struct wmi_observers *observers)
{
    for (unsigned i = 0; i < observers->count; i++)
        if (observers->one[i]->turn)
            return true;
    return false;
}

bool wmi_dispatch_run(struct wmi_dispatch *dispatch)
{
    const unsigned threads =
        dispatch->threads < dispatch->group_count ? dispatch->threads : (unsigned)dispatch->group_count;
    struct worker **workers = calloc(threads ? threads : 1, sizeof *workers);
    pthread_t *handles = calloc(threads ? threads : 1, sizeof *handles);
    unsigned started = 0;
    const bool in_order = wants_order(&dispatch->observers);
    bool ok = workers && handles &&
              wmi_deal_create(&dispatch->deal, dispatch->group_count, threads && !in_order ? threads : 1);
    bool full;

    dispatch->stop_at = dispatch->group_count;
    dispatch->started = wmi_seconds();
    dispatch->mxcsr32 = wmi_host_float_word(dispatch->launch.mode & 3, dispatch->launch.mode >> 4 & 3);
    dispatch->mxcsr64 = wmi_host_float_word(dispatch->launch.mode >> 2 & 3, dispatch->launch.mode >> 6 & 3);
    dispatch->entry_step = wmi_program_at(dispatch->program, dispatch->launch.entry, &full);
    ok = ok && dispatch->entry_step;
    pthread_mutex_init(&dispatch->lock, NULL);
    for (unsigned i = 0; ok && i < threads; i++) {
        workers[i] = aligned_zero(sizeof **workers);
        ok = workers[i] && prepare_worker(workers[i], dispatch, i);
    }
    if (ok && threads) {
        workers[0]->calls_progress = dispatch->progress != NULL;
        dispatch->working = threads;
        for (started = 1; started < threads; started++)
            if (pthread_create(&handles[started], NULL, work, workers[started]))
                break; /* the threads that there are do all the work */
        pthread_mutex_lock(&dispatch->lock);
        dispatch->working -= threads - started;
        pthread_mutex_unlock(&dispatch->lock);
        work(workers[0]);
        if (dispatch->progress)
            report_until_done(workers[0]);
    }
    for (unsigned i = 1; i < started; i++)
        pthread_join(handles[i], NULL);
    for (unsigned i = 0; workers && i < threads; i++) {
        if (!workers[i])
            continue;
        ok &= !workers[i]->out_of_memory;
        free(workers[i]->workitem_rows);
        free(workers[i]->exec);
        free(workers[i]->probe.vgprs);
        free(workers[i]->steps.observers);
        free(workers[i]);
    }
    uint64_t from, to;
    dispatch->some_never_started = ok && wmi_deal_take(&dispatch->deal, 0, dispatch->group_count, &from, &to);
    wmi_deal_destroy(&dispatch->deal);
    wmi_gds_destroy(dispatch->gds);
    dispatch->gds = NULL;
    pthread_mutex_destroy(&dispatch->lock);
    free(workers);
    free(handles);
    return ok;
}
