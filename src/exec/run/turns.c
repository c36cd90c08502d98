/* SPDX-License-Identifier: MIT */
/* Runs the waves of a workgroup in turns, until it ends, faults, or only waits. */
#include "exec/run/executor.h"

#include "arithmetic/host_float.h"
#include "base/random.h"
#include "exec/control/barriers.h"

enum {
    TURN_GROWTH = 4,     /* factor by which the turns of a wave grow while it does not wait */
    TURN = 1 << 16,      /* maximum instructions per turn */
    ROUNDS = 16,         /* rounds of turns before an unfinished workgroup is parked */
    LONG_TURN = 1 << 24, /* more instructions than any turn has */
};

static inline void set_host_mode(const struct wmi_executor *executor, const struct wmi_frame *frame)
{
    if (frame->mxcsr32 != executor->host_word)
        wmi_host_float_set(frame->mxcsr32);
}

/* Runs the wave, whose turn has been prepared, and its successors. Returns the last wave that has run. */
static struct wmi_wave *run_line(struct wmi_executor *executor, struct wmi_wave *wave)
{
    const struct wmi_op *op = wave->resume;
    struct wmi_frame *frame = wave->frame;
    set_host_mode(executor, frame);
    executor->steps.running = frame;
    do {
        op = op->body((char *)frame, op);
        frame = executor->steps.running;
    } while (op);
    executor->host_word = frame->mxcsr32;
    return frame->wave;
}

/* Adds what the wave has executed in its turn to its instructions; returns it. */
static inline uint64_t count_turn(struct wmi_wave *wave)
{
    const int64_t left = wave->frame->left;
    const uint64_t executed = (uint64_t)(wave->turn - left);
    wave->instructions += executed;
    wave->turn = left;
    return executed;
}

static inline void prepare_turn(struct wmi_wave *wave, int64_t instructions)
{
    wave->turn = wave->frame->left = instructions;
}

/* Between turns: another thread may want to change what this one reads. */
static void let_writers_in(struct wmi_executor *executor)
{
    if (!wmi_rwlock_has_waiting_writer(executor->read_lock->rwlock))
        return;
    wmi_suspend_reading(executor);
    wmi_resume_reading(executor);
}

/* Gives the wave a turn of so many instructions, then on to its next taken branch. */
static inline __attribute__((always_inline)) void run_turn(struct wmi_executor *executor,
                                                           struct wmi_wave *wave, int64_t instructions)
{
    struct wmi_frame *frame = wave->frame;
    const struct wmi_op *op = wave->resume;
    prepare_turn(wave, instructions);
    set_host_mode(executor, frame);
    do
        op = op->body((char *)frame, op);
    while (op);
    executor->host_word = frame->mxcsr32;
    executor->instructions += count_turn(wave);
}

/* What is due after a turn because of what has been executed. */
static inline void look_at_counts(struct wmi_executor *executor, struct wmi_wave *wave)
{
    const struct wmi_dispatch *dispatch = executor->steps.dispatch;
    if (__builtin_expect(executor->instructions >= executor->compile_at, 0)) {
        wmi_compile_dispatch(executor->steps.dispatch);
        executor->compile_at += WMI_INSTRUCTIONS_PER_STEP * wmi_program_steps(dispatch->program);
    }
    if (wave->state != WMI_WAVE_ENDED && wave->instructions >= dispatch->max_instructions &&
        wave->state != WMI_WAVE_FAULTED)
        wmi_wave_fault(wave, &(struct wmi_fault){.kind = WM_FAULT_BUDGET,
                                                 .pc = wmi_program_pc_of(dispatch->program, wave->resume),
                                                 .lanes = wave->frame->exec.bits});
}

/* Instructions of the wave's next turn. A turn that has not been used up goes on behind barriers. */
static inline int64_t turn_of(const struct wmi_wave *wave)
{
    const int64_t left = wave->frame->left;
    return left < 0 ? wave->quantum : left;
}

/* Runs the wave for `instructions`, then on to its next taken branch. */
static inline void run_wave(struct wmi_executor *executor, struct wmi_wave *wave, int64_t instructions)
{
    const uint64_t allowed = executor->steps.dispatch->max_instructions - wave->instructions;
    run_turn(executor, wave, allowed < (uint64_t)instructions ? (int64_t)allowed : instructions);
    look_at_counts(executor, wave);
}

void wmi_wave_run_to_branch(struct wmi_wave *wave)
{
    run_wave((struct wmi_executor *)wave->worker, wave, 0);
}

/* What is rare is kept out of line, so that the loop over waves keeps its values in registers. */

/* With a seed, a turn has any length. */
static __attribute__((noinline)) uint32_t random_turn(const struct wmi_executor *executor,
                                                      const struct wmi_wave *wave, uint64_t seed)
{
    return 1 + wmi_random_u32(seed, executor->instructions) % wave->quantum;
}

/* With a seed, waves have their turns in random order, another one in each visit of the workgroup: the wave
 * at this place. */
static __attribute__((noinline)) unsigned random_wave(const struct wmi_workgroup *group, unsigned visit,
                                                      unsigned place, uint64_t seed)
{
    return (unsigned)wmi_random_order(seed + visit + (group->flat_id << 32), group->wave_count, place);
}

/* The wave has had a turn and did not end. */
static __attribute__((noinline)) void look_at(struct wmi_executor *executor, struct wmi_wave *wave)
{
    prepare_turn(wave, WMI_TURN_OVER);
    wave->waits = wmi_wave_waits(&executor->probe, wave);
    if (wave->waits)
        wave->quantum = WMI_FIRST_TURN;
    else if (wave->quantum < TURN)
        wave->quantum *= TURN_GROWTH;
}

/* Whether a wave that was waiting still waits. */
static __attribute__((noinline)) bool waits(struct wmi_executor *executor, struct wmi_wave *wave)
{
    wave->waits = wmi_wave_waits(&executor->probe, wave);
    if (!wave->waits)
        return false;
    if (executor->probe.moved)
        executor->moved = true;
    else if (executor->checks && executor->only_loads)
        executor->only_loads = wmi_waiting_changes_nothing(&executor->probe, wave);
    return true;
}

/* Gives the wave a turn, if it does not wait. */
static inline void take_turn(struct wmi_executor *executor, struct wmi_wave *wave, uint64_t seed)
{
    if (wave->waits && waits(executor, wave))
        return;
    executor->moved = true;
    if (wave->state == WMI_WAVE_READY)
        run_wave(executor, wave, seed ? random_turn(executor, wave, seed) : turn_of(wave));
    if (wave->state == WMI_WAVE_READY)
        look_at(executor, wave);
}

/* ---- waves that meet at s_barrier ---- */

/* Makes each wave the successor of the one before it, and the first one that of the last one, and prepares
 * their turns. False: not all of them are ready, or one may reach its limit, which is `most` plus at least a
 * turn. */
static bool line_up(struct wmi_resident *resident, uint64_t most)
{
    const uint32_t count = resident->group.wave_count;
    for (uint32_t i = 0; i < count; i++) {
        const struct wmi_wave *wave = &resident->waves[i];
        if (wave->state != WMI_WAVE_READY || wave->waits || wave->instructions >= most)
            return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct wmi_wave *wave = &resident->waves[i];
        wave->frame->successor = resident->waves[i + 1 < count ? i + 1 : 0].frame;
        wave->frame->goes_on = wmi_resume_wave;
        prepare_turn(wave, turn_of(wave));
    }
    return true;
}

/* A wave that is alone does not stop at barriers: it goes on itself. */
static void let_lone_wave_pass(const struct wmi_workgroup *group)
{
    struct wmi_frame *frame = group->waves->frame;
    frame->successor = group->wave_count == 1 ? frame : NULL;
}

/* Gives all waves turns, from one barrier to the next one again and again, until a wave has used up its turn
 * or does something else than to get to the barrier. Returns that wave: it has been counted, and the waves
 * before it are at the barrier, the others at the one before it. NULL: none has had a turn. */
static __attribute__((noinline)) struct wmi_wave *run_between_barriers(struct wmi_executor *executor,
                                                                       struct wmi_resident *resident)
{
    struct wmi_workgroup *group = &resident->group;
    const uint64_t limit = executor->steps.dispatch->max_instructions,
                   most = limit > LONG_TURN ? limit - LONG_TURN : 0;
    struct wmi_wave *const end = &resident->waves[group->wave_count];
    if (!line_up(resident, most))
        return NULL;
    let_writers_in(executor);
    struct wmi_wave *wave = run_line(executor, resident->waves);
    executor->moved = true;
    group->waves_at_barrier = wave->index;
    for (struct wmi_wave *each = resident->waves; each < end; each++) {
        each->frame->successor = NULL;
        if (each != wave)
            each->resume = wmi_wave_next_step(each);
        if (each < wave)
            each->state = WMI_WAVE_BARRIER;
        executor->instructions += count_turn(each);
    }
    look_at_counts(executor, wave);
    if (wave->state == WMI_WAVE_READY)
        look_at(executor, wave);
    return wave;
}

/* ---- the workgroup ---- */

/* What the turns of a round have come to. */
struct round {
    bool out_of_turn; /* a wave has used up its turn */
    uint32_t waiting;
};

/* Notes what a wave has come to in its turn. False: the workgroup does not go on. */
static inline bool note_turn(struct wmi_executor *executor, struct wmi_resident *resident,
                             const struct wmi_wave *wave, struct round *round)
{
    struct wmi_workgroup *group = &resident->group;
    switch (wave->state) {
    case WMI_WAVE_ENDED:
        group->waves_left--;
        if (group->dispatch->observers.count)
            wmi_show_wave_end(executor, wave);
        if (group->signals)
            wmi_complete_barrier(group);
        break;
    case WMI_WAVE_BARRIER:
        group->waves_at_barrier++;
        break;
    case WMI_WAVE_SIGNALS:
        group->waves_at_signals++;
        break;
    case WMI_WAVE_NAMED:
        group->waves_at_named++;
        break;
    case WMI_WAVE_FAULTED:
        wmi_report_wave_fault(executor, group->flat_id, wave->index);
        return false;
    case WMI_WAVE_READY:
        round->out_of_turn |= !wave->waits;
        round->waiting += wave->waits;
        break;
    }
    if (executor->instructions >= executor->next_look) {
        executor->next_look = executor->instructions + WMI_INSTRUCTIONS_PER_LOOK;
        return !wmi_is_let_go(group) && !wmi_must_stop(executor, resident);
    }
    return true;
}

/* Gives all waves that are ready a turn, from wave `first` on. False: the workgroup does not go on. */
static inline bool take_turns(struct wmi_executor *executor, struct wmi_resident *resident, unsigned first,
                              unsigned visit, struct round *round)
{
    struct wmi_workgroup *group = &resident->group;
    const uint64_t seed = group->dispatch->shuffle;
    struct wmi_wave *in_order = &resident->waves[first];
    for (unsigned i = first; i < group->wave_count; i++) {
        struct wmi_wave *wave = seed ? &resident->waves[random_wave(group, visit, i, seed)] : in_order;
        in_order++;
        if (wave->state != WMI_WAVE_READY)
            continue;
        let_writers_in(executor);
        take_turn(executor, wave, seed);
        if (!note_turn(executor, resident, wave, round))
            return false;
    }
    return true;
}

/* How many workgroups behind this one compiled code may start: of those that the executor has taken, in a row
 * of the grid, before it looks at the clock. */
static inline uint64_t groups_ahead(const struct wmi_executor *executor, const struct wmi_workgroup *group)
{
    const uint64_t most = (uint64_t)executor->steps.first_turn * group->wave_count,
                   stop = __atomic_load_n(&group->dispatch->stop_at, __ATOMIC_RELAXED),
                   end = executor->batch_end < stop ? executor->batch_end : stop;
    if (!executor->renews || executor->batch_next >= end || executor->instructions >= executor->next_look)
        return 0;
    uint64_t ahead = end - executor->batch_next;
    const uint64_t in_row = group->dispatch->groups[0] - 1 - group->id[0],
                   until_look = WMI_GROUPS_PER_LOOK - 1 - executor->groups_since_look,
                   in_time = (executor->next_look - executor->instructions) / most;
    ahead = in_row < ahead ? in_row : ahead;
    ahead = until_look < ahead ? until_look : ahead;
    return in_time < ahead ? in_time : ahead;
}

/* So many workgroups have been started and have ended in compiled code. */
static inline void count_groups(struct wmi_executor *executor, struct wmi_workgroup *group, uint64_t count)
{
    executor->batch_next += count;
    executor->last_flat_id += count;
    executor->last_id[0] += (uint32_t)count;
    executor->waves += count * group->wave_count;
    executor->groups_started += count;
    executor->groups_done += count;
    executor->groups_since_look += count;
}

/* Starts a wave, and runs it and those after it that compiled code starts where the one before them has
 * ended. From the first wave on, these may be those of `ahead` further workgroups, too. Returns the last wave
 * that has run; the others have ended and are counted. */
static inline struct wmi_wave *run_started(struct wmi_executor *executor, struct wmi_resident *resident,
                                           struct wmi_wave *wave, uint64_t ahead)
{
    struct wmi_workgroup *group = &resident->group;
    struct wmi_worker *worker = &executor->steps;
    const bool starts_alone = executor->has_own_registers || group->signals;
    worker->last_start = starts_alone ? NULL : resident->waves[group->wave_count - 1].frame;
    worker->groups_ahead = ahead;
    worker->turns_left = 0;
    wmi_wave_set_registers(executor, wave,
                           executor->workitem_rows + (size_t)wave->index * 3 * executor->lanes,
                           &executor->exec[wave->index], worker->dispatch->workgroup);
    prepare_turn(wave, worker->first_turn);
    struct wmi_wave *last = run_line(executor, wave);
    worker->next_start = NULL; /* other turns are not counted like these */
    const uint64_t groups = ahead - worker->groups_ahead,
                   ended = groups * group->wave_count + last->index - wave->index;
    if (groups)
        count_groups(executor, group, groups);
    group->waves_left -= last->index - wave->index;
    for (; wave < last; wave++)
        wave->state = WMI_WAVE_ENDED;
    executor->instructions +=
        ended * (uint64_t)worker->first_turn - (uint64_t)worker->turns_left + count_turn(last);
    return last;
}

/* Starts the first wave of the workgroup, and perhaps others. */
static inline struct wmi_wave *run_first(struct wmi_executor *executor, struct wmi_resident *resident)
{
    const struct wmi_workgroup *group = &resident->group;
    let_writers_in(executor);
    executor->moved = true;
    executor->steps.first_start = resident->waves->frame;
    executor->steps.id = group->id[0];
    for (unsigned i = 0; i < executor->id_count; i++)
        executor->scalars[executor->id_register[i]] = group->id[executor->id_dimension[i]];
    return run_started(executor, resident, resident->waves, groups_ahead(executor, group));
}

/* Makes the waves what they were before they started, but for their registers, if all of them have ended in
 * the compiled code in which they started, one after another. */
static inline bool renew(struct wmi_executor *executor, struct wmi_resident *resident,
                         const struct wmi_wave *last)
{
    struct wmi_workgroup *group = &resident->group;
    struct wmi_wave *const end = resident->waves + group->wave_count;
    if (!executor->renews || last + 1 != end || last->state != WMI_WAVE_ENDED || !last->frame->pristine ||
        executor->instructions >= executor->compile_at || executor->instructions >= executor->next_look)
        return false;
    for (struct wmi_wave *wave = resident->waves; wave < end; wave++)
        wave->state = WMI_WAVE_READY;
    end[-1].instructions = 0;
    end[-1].turn = executor->steps.first_turn;
    group->waves_left = 0;
    resident->renewed_by = executor;
    return true;
}

/* Starts the waves behind `last`, which has had its first turn, one by one, and each has its first turn at
 * once: waves often end in it, and what was written to start them is used while it is in the nearest cache.
 * False: the workgroup does not go on. */
static bool take_first_turns(struct wmi_executor *executor, struct wmi_resident *resident,
                             struct wmi_wave *last, struct round *round)
{
    struct wmi_workgroup *group = &resident->group;
    const struct wmi_wave *const end = resident->waves + group->wave_count;
    const uint64_t due =
        executor->compile_at < executor->next_look ? executor->compile_at : executor->next_look;
    for (;; last = run_started(executor, resident, last + 1, 0)) {
        if (last->state == WMI_WAVE_ENDED && executor->instructions < due && !group->signals) {
            group->waves_left--;
        } else {
            look_at_counts(executor, last);
            if (last->state == WMI_WAVE_READY)
                look_at(executor, last);
            if (!note_turn(executor, resident, last, round))
                return false;
        }
        if (last + 1 == end)
            return true;
    }
}

/* Runs the waves in turns until the workgroup ends, faults, only waits, or has used up its rounds.
 * first_turn: the wave that is the last one to have had its first turn, or NULL if they all had theirs. */
static __attribute__((noinline)) enum wmi_outcome
run_rounds(struct wmi_executor *executor, struct wmi_resident *resident, struct wmi_wave *first_turn)
{
    struct wmi_workgroup *group = &resident->group;
    const struct wmi_dispatch *dispatch = group->dispatch;
    /* Waves that keep meeting at barriers may never be out of turn; this many instructions count as a round
     * too. */
    const uint64_t round_length = (uint64_t)TURN * group->wave_count;
    uint64_t round_end = executor->instructions + round_length;
    bool all_met = false;
    for (unsigned rounds = 0, visit = 0; rounds < ROUNDS; visit++) {
        struct round round = {0};
        const struct wmi_wave *last = all_met ? run_between_barriers(executor, resident) : NULL;
        all_met = false;
        if (first_turn ? !take_first_turns(executor, resident, first_turn, &round)
                       : (last && !note_turn(executor, resident, last, &round)) ||
                             !take_turns(executor, resident, last ? last->index + 1 : 0, visit, &round))
            return WMI_FAULTED;
        first_turn = NULL;
        if (!group->waves_left)
            return WMI_DONE;
        if (group->waves_at_barrier == group->waves_left) {
            group->waves_at_barrier = 0;
            all_met =
                !dispatch->shuffle && !dispatch->observers.count && group->waves_left == group->wave_count;
            for (unsigned i = 0; i < group->wave_count; i++)
                if (resident->waves[i].state == WMI_WAVE_BARRIER)
                    resident->waves[i].state = WMI_WAVE_READY;
        } else if (group->waves_at_barrier + group->waves_at_signals + group->waves_at_named +
                       round.waiting ==
                   group->waves_left) {
            return WMI_PARKED;
        }
        if (round.out_of_turn || executor->instructions >= round_end) {
            rounds++;
            round_end = executor->instructions + round_length;
        }
    }
    return WMI_PARKED;
}

enum wmi_outcome wmi_resident_run(struct wmi_executor *executor, struct wmi_resident *resident)
{
    struct wmi_wave *first_turn = NULL;
    if (wmi_is_let_go(&resident->group))
        return WMI_FAULTED;
    let_lone_wave_pass(&resident->group);
    if (resident->unstarted) {
        resident->unstarted = false;
        first_turn = run_first(executor, resident);
        if (renew(executor, resident, first_turn))
            return WMI_DONE;
    }
    return run_rounds(executor, resident, first_turn);
}
