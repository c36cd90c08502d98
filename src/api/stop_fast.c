/* SPDX-License-Identifier: MIT */
#include "api/stop_fast.h"

#include "exec/observe/hold.h"
#include "exec/run/executor.h"
#include "exec/run/program.h"
#include "exec/run/workgroup.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PROGRAMS = 32 /* of a run; beyond, all instructions are held */ };

struct wmi_run_program {
    struct wmi_run_program *next;
    struct wmi_program *program;
    struct wmi_held_code held;
    const struct wmi_observer *watcher[1];
    uint64_t pc[];
};

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Accesses of which kinds stop the run. */
static struct wmi_held_code accesses_of(const struct wm_stop_at *at)
{
    const bool own = at->access_low || at->access_high;
    struct wmi_held_code held = {.loads = own && at->loads,
                                 .stores = own && at->stores,
                                 .lds = own && at->lds,
                                 .memory = own && !at->lds};
    for (size_t i = 0; i < at->range_count; i++) {
        held.loads |= at->ranges[i].loads;
        held.stores |= at->ranges[i].stores;
        held.lds |= at->ranges[i].lds;
        held.memory |= !at->ranges[i].lds;
    }
    return held;
}

static bool is_for(const struct wmi_run_program *one, const struct wmi_held_code *held)
{
    return one->held.count == held->count && one->held.loads == held->loads &&
           one->held.stores == held->stores && one->held.lds == held->lds &&
           one->held.memory == held->memory && !memcmp(one->pc, held->pc, held->count * sizeof *held->pc);
}

static struct wmi_run_program *make(struct wm_run *run, const struct wmi_held_code *held)
{
    const struct wmi_program *all = run->dispatch->program;
    struct wmi_code_options options = wmi_program_code(all)->options;
    struct wmi_run_program *new = malloc(sizeof *new + held->count * sizeof *new->pc);
    if (!new)
        return NULL;
    *new = (struct wmi_run_program){.next = run->fast.list, .held = *held, .watcher = {&run->fast.watcher}};
    memcpy(new->pc, held->pc, held->count * sizeof *new->pc);
    new->held.pc = new->pc;
    options.held = new->held;
    options.observers = (struct wmi_observers){0};
    if (held->loads || held->stores)
        options.observers = (struct wmi_observers){.one = new->watcher, .count = 1};
    new->program = wmi_program_create(&options, wmi_program_level(all));
    if (!new->program || !wmi_program_shares_frames(new->program, all)) {
        wmi_program_destroy(new->program);
        free(new);
        run->fast.allowed = false;
        return NULL;
    }
    run->fast.count++;
    return run->fast.list = new;
}

void wmi_run_choose_fast(struct wm_run *run)
{
    const struct wm_stop_at *at = &run->at;
    struct wmi_held_code held = accesses_of(at);
    uint64_t *pc = malloc((at->address_count + 1) * sizeof *pc);
    run->fast.now = NULL;
    if (!run->fast.allowed || !pc) {
        free(pc);
        return;
    }
    if (at->address_count)
        memcpy(pc, at->addresses, at->address_count * sizeof *pc);
    qsort(pc, at->address_count, sizeof *pc, by_number);
    held.pc = pc;
    held.count = at->address_count;
    struct wmi_run_program *found = run->fast.list;
    while (found && !is_for(found, &held))
        found = found->next;
    if (!found && run->fast.count < MOST_PROGRAMS)
        found = make(run, &held);
    run->fast.now = found;
    free(pc);
}

/* Whether something may stop the wave within so many instructions that the fast program does not hold. */
static bool must_hold(const struct wm_run *run, const struct wmi_wave *wave, bool may_stop, uint64_t total,
                      uint64_t instructions)
{
    const struct wm_stop_at *at = &run->at;
    const bool only_wave = at->at_wave && !run->wanted && !at->address_count && !at->range_count &&
                           !at->executed && !at->access_low && !at->access_high && !at->checkpoint;
    if (run->ends)
        return false;
    if (run->wave_ended || (at->executed && total + instructions >= at->executed))
        return true;
    if (!may_stop)
        return false;
    if (only_wave || (run->wanted && !run->counts))
        return true;
    return run->wanted && !memcmp(run->counted.workgroup, wave->group->id, sizeof wave->group->id) &&
           run->counted.wave == wave->index && wmi_wave_clock(wave) + instructions >= run->target;
}

/* Compiles the program once it has executed enough. */
static void compile(const struct wm_run *run, struct wmi_program *program, uint64_t executed)
{
    const struct wmi_dispatch *dispatch = run->dispatch;
    const struct wmi_compile_mode mode = {dispatch->launch.mode, dispatch->mxcsr32, dispatch->mxcsr64};
    wmi_program_add_executed(program, executed);
    if (!wmi_program_compile_in(program))
        wmi_program_compile(program, &mode);
}

struct wmi_program *wmi_run_program(struct wm_run *run, const struct wmi_wave *wave, bool may_stop,
                                    uint64_t instructions)
{
    const uint64_t total = wmi_executed_by_all(wave, wmi_wave_clock(wave));
    struct wmi_program *all = run->dispatch->program;
    const uint64_t executed = total - run->fast.noted;
    run->fast.noted = total;
    if (!run->fast.now || must_hold(run, wave, may_stop, total, instructions))
        return all;
    compile(run, run->fast.now->program, executed);
    return run->fast.now->program;
}

void wmi_run_free_fast(struct wm_run *run)
{
    for (struct wmi_run_program *one = run->fast.list, *next; one; one = next) {
        next = one->next;
        wmi_program_destroy(one->program);
        free(one);
    }
}
