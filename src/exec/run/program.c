/* SPDX-License-Identifier: MIT */
/* Keeps the steps of a program: lowers code when it is first reached, and binds its steps to functions. */
#include "exec/run/program.h"

#include "base/seconds.h"
#include "exec/control/steps.h"
#include "exec/memory/vmem.h"
#include "exec/run/bind.h"
#include "exec/run/environment.h"
#include "lower/lower.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    SCAN_LIMIT = 1 << 16, /* maximum instructions lowered at once; the rest is lowered when it is reached */
    /* Jumps into the middle of long code would lower its rest again and again, so programs with MANY_STEPS
     * are lowered only SHORT_SCAN instructions at a time. */
    MANY_STEPS = WMI_STEP_LIMIT / 4,
    SHORT_SCAN = 16,
    MOST_COMPILED = 1 << 18,   /* maximum compiled steps; later ones are interpreted */
    MOST_HOST_CODE = 64 << 20, /* maximum bytes of host code */
};

struct chunk {
    struct chunk *next;
    /* Input of the compiler, until the chunk is compiled: lowered steps, and branch targets. */
    struct wmi_step *lowered;
    bool *leads;
    /* Where branches lead, and where waves go on behind pauses, both in the order of their steps. */
    struct wmi_leader *leaders, *resumes;
    size_t leader_count, resume_count;
    size_t count; /* steps */
    struct wmi_op steps[];
};

struct wmi_program {
    struct wmi_code code;
    enum wmi_cpu_level level;
    struct wmi_place_map map;            /* place -> struct wmi_op */
    struct wmi_place_map resumes, holds; /* likewise, of resumable programs */
    struct chunk *chunks;
    size_t step_count;
    enum wmi_compiling compiling;
    bool has_interpreted;  /* there is code that could be compiled */
    uint64_t executed;     /* instructions executed in finished dispatches */
    bool compiles_at_once; /* newly lowered code is compiled at once, in `mode` */
    struct wmi_compile_mode mode;
    struct wmi_host_memory *host_code;
    struct wmi_op launch[WMI_LAUNCHES]; /* entries for starting waves, if they have been compiled */
    unsigned launch_rows;               /* see struct wmi_launch_entries; valid once there is an entry */
    struct wmi_compiled compiled;
    pthread_mutex_t lock;
};

/* ---- compiling ---- */

static enum wmi_compiling wanted(const struct wmi_code_options *options, enum wmi_cpu_level level)
{
    bool allowed = !options->scalar_cache && wmi_can_compile(level);
    for (unsigned i = 0; i < options->observers.count; i++)
        allowed &= options->observers.one[i]->allows_compiled;
    return allowed ? wmi_compile_setting() : WMI_COMPILE_OFF;
}

uint64_t wmi_program_compile_in(const struct wmi_program *program)
{
    const uint64_t worth = program->compiling == WMI_COMPILE_OFF
                               ? UINT64_MAX
                               : WMI_INSTRUCTIONS_PER_STEP * (uint64_t)program->step_count;
    if (!program->has_interpreted)
        return worth;
    return program->compiling == WMI_COMPILE_ALWAYS || program->executed > worth ? 0
                                                                                 : worth - program->executed;
}

void wmi_program_add_executed(struct wmi_program *program, uint64_t instructions)
{
    program->executed += instructions;
}

/* Keeps the compiler's input. If there is no memory, the chunk is not compiled. */
static void keep_lowered(struct wmi_program *program, struct chunk *chunk, const struct wmi_lowered *lowered)
{
    chunk->lowered = malloc(lowered->count * sizeof *chunk->lowered);
    chunk->leads = calloc(lowered->count, sizeof *chunk->leads);
    if (!chunk->lowered || !chunk->leads)
        return;
    memcpy(chunk->lowered, lowered->steps, lowered->count * sizeof *chunk->lowered);
    program->has_interpreted = true;
    for (size_t i = 0; i < lowered->leader_count; i++)
        chunk->leads[lowered->leaders[i].step] = true;
}

static void forget_lowered(struct chunk *chunk)
{
    free(chunk->lowered);
    free(chunk->leads);
    chunk->lowered = NULL;
    chunk->leads = NULL;
}

static const struct wmi_op *find_place(void *user, uint64_t place)
{
    const struct wmi_program *program = user;
    return wmi_place_find(&program->map, place);
}

const struct wmi_compile_layout wmi_program_layout = {
    .wave_worker = offsetof(struct wmi_wave, worker),
    .wave_resume = offsetof(struct wmi_wave, resume),
    .wave_group = offsetof(struct wmi_wave, group),
    .wave_counters = offsetof(struct wmi_wave, counters),
    .wave_entered = offsetof(struct wmi_wave, entered),
    .group_lds = offsetof(struct wmi_workgroup, lds),
    .group_lds_size = offsetof(struct wmi_workgroup, lds_size),
    .group_id = offsetof(struct wmi_workgroup, id),
    .group_flat_id = offsetof(struct wmi_workgroup, flat_id),
    .worker_hits = offsetof(struct wmi_worker, hits),
    .worker_scattered = offsetof(struct wmi_worker, scattered),
    .worker_jumps = offsetof(struct wmi_worker, jumps),
    .worker_blocks = offsetof(struct wmi_worker, blocks),
    .worker_running = offsetof(struct wmi_worker, running),
    .worker_first_start = offsetof(struct wmi_worker, first_start),
    .worker_last_start = offsetof(struct wmi_worker, last_start),
    .worker_first_slice = offsetof(struct wmi_worker, first_slice),
    .worker_start_scalars = offsetof(struct wmi_worker, start_scalars),
    .worker_id_place = offsetof(struct wmi_worker, id_place),
    .worker_id = offsetof(struct wmi_worker, id),
    .worker_groups_ahead = offsetof(struct wmi_worker, groups_ahead),
    .worker_slices_left = offsetof(struct wmi_worker, slices_left),
    .worker_next_start = offsetof(struct wmi_worker, next_start),
    .careful = WMI_HIT_CAREFUL,
};

/* Called with the lock held. */
static void compile_chunk(struct wmi_program *program, struct chunk *chunk)
{
    const struct wmi_block block = {
        .level = program->level,
        .lanes_from = wmi_lanes_from(),
        .code = &program->code,
        .steps = chunk->lowered,
        .ops = chunk->steps,
        .count = chunk->count,
        .leads = chunk->leads,
        .entry = wmi_place_find(&program->map, program->code.options.entry),
        .mode = program->mode,
        .layout = &wmi_program_layout,
        .find = find_place,
        .user = program,
    };
    const double begin = wmi_seconds();
    if (chunk->lowered && chunk->leads && !program->compiled.refused &&
        program->compiled.bytes < MOST_HOST_CODE) {
        struct wmi_launch_entries launch = {{NULL}};
        wmi_compile(&block, &program->host_code, &launch, &program->compiled.refused);
        if (launch.body[WMI_LAUNCH_STRIPS] || launch.body[WMI_LAUNCH_WAVES])
            program->launch_rows = launch.rows; /* must be set before threads see an entry */
        for (unsigned i = 0; i < WMI_LAUNCHES; i++)
            if (launch.body[i])
                __atomic_store_n(&program->launch[i].body, launch.body[i], __ATOMIC_RELEASE);
    }
    forget_lowered(chunk);
    program->compiled.bytes = wmi_host_memory_size(program->host_code);
    program->compiled.seconds += wmi_seconds() - begin;
}

void wmi_program_compile(struct wmi_program *program, const struct wmi_compile_mode *mode)
{
    if (program->compiling == WMI_COMPILE_OFF)
        return;
    pthread_mutex_lock(&program->lock);
    program->mode = *mode;
    program->has_interpreted = false;
    program->compiles_at_once = program->compiling == WMI_COMPILE_ALWAYS;
    for (struct chunk *chunk = program->chunks; chunk; chunk = chunk->next)
        if (chunk->lowered)
            compile_chunk(program, chunk);
    pthread_mutex_unlock(&program->lock);
}

const struct wmi_op *wmi_program_launch(const struct wmi_program *program, enum wmi_launch_code code,
                                        unsigned *rows)
{
    const struct wmi_op *launch = &program->launch[code];
    if (!__atomic_load_n(&launch->body, __ATOMIC_ACQUIRE))
        return NULL;
    *rows = program->launch_rows;
    return launch;
}

bool wmi_program_compiles_any(void)
{
    return wmi_can_compile(wmi_cpu_level());
}

bool wmi_program_compiles(const struct wmi_step *step)
{
    return wmi_compiles_step(step);
}

struct wmi_compiled wmi_program_compiled(struct wmi_program *program)
{
    pthread_mutex_lock(&program->lock);
    const struct wmi_compiled compiled = program->compiled;
    pthread_mutex_unlock(&program->lock);
    return compiled;
}

/* ---- lowering ---- */

static void add_resumable(struct wmi_program *program, const struct wmi_lowered *lowered,
                          const struct wmi_op *steps)
{
    for (size_t i = 0; i < lowered->resume_count; i++)
        wmi_place_add(&program->resumes, lowered->resumes[i].place, &steps[lowered->resumes[i].step]);
    for (size_t i = 0; i < lowered->count; i++)
        if (lowered->steps[i].id == WMI_STEP_hold)
            wmi_place_add(&program->holds,
                          wmi_place_with_msb(lowered->steps[i].value, lowered->steps[i].y) |
                              lowered->steps[i].x,
                          &steps[i]);
}

static void keep_leaders(struct chunk *chunk, struct wmi_lowered *lowered)
{
    chunk->leaders = lowered->leaders;
    chunk->leader_count = lowered->leader_count;
    chunk->resumes = lowered->resumes;
    chunk->resume_count = lowered->resume_count;
    lowered->leaders = lowered->resumes = NULL;
}

/* Binds lowered steps and adds them to the program. If there is no memory, adds nothing. */
static void add(struct wmi_program *program, struct wmi_lowered *lowered)
{
    struct chunk *chunk = malloc(sizeof *chunk + (lowered->count + 1) * sizeof *chunk->steps);
    if (!chunk || !wmi_place_reserve(&program->map, lowered->leader_count) ||
        !wmi_place_reserve(&program->resumes, lowered->resume_count) ||
        (program->code.options.resumable && !wmi_place_reserve(&program->holds, lowered->count))) {
        free(chunk);
        return;
    }
    for (size_t i = 0; i < lowered->count; i++)
        chunk->steps[i] = wmi_bind_step(&lowered->steps[i], program->level, program->code.options.lanes);
    *chunk = (struct chunk){.next = program->chunks, .count = lowered->count};
    if (program->compiling != WMI_COMPILE_OFF && program->step_count < MOST_COMPILED)
        keep_lowered(program, chunk, lowered);
    program->chunks = chunk;
    program->step_count += lowered->count;
    for (size_t i = 0; i < lowered->leader_count; i++)
        wmi_place_add(&program->map, lowered->leaders[i].place, &chunk->steps[lowered->leaders[i].step]);
    if (program->code.options.resumable)
        add_resumable(program, lowered, chunk->steps);
    keep_leaders(chunk, lowered);
    if (program->compiles_at_once)
        compile_chunk(program, chunk);
}

/* Lowers from `entry`. Called with the lock held, or before the program is shared. */
static void build_from(struct wmi_program *program, uint64_t entry)
{
    struct wmi_lowered lowered;
    const size_t limit = program->step_count < MANY_STEPS ? SCAN_LIMIT : SHORT_SCAN;
    const size_t known = program->code.words.word_count;
    if (wmi_lower(&program->code, entry, &program->map, limit, &lowered))
        add(program, &lowered);
    else
        program->code.words.unknown = true;
    /* A wave or the host may have changed the code while it was lowered. */
    program->code.words.unknown |= !wmi_code_is_current(&program->code, known);
    wmi_lowered_free(&lowered);
}

/* ---- from a step to its place ---- */

/* The first of these that leads to the step, or NULL. */
static const struct wmi_leader *find_leader(const struct wmi_leader *leaders, size_t count, size_t step)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (leaders[middle].step < step)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && leaders[low].step == step ? &leaders[low] : NULL;
}

static bool find_step(const struct wmi_program *program, const struct wmi_op *step, bool resumes,
                      uint64_t *place)
{
    const struct chunk *chunk = program->chunks;
    while (chunk && !(step >= chunk->steps && step <= chunk->steps + chunk->count))
        chunk = chunk->next;
    if (!chunk)
        return false;
    const size_t number = (size_t)(step - chunk->steps);
    const struct wmi_leader *found = find_leader(chunk->leaders, chunk->leader_count, number);
    if (!found && resumes)
        found = find_leader(chunk->resumes, chunk->resume_count, number);
    if (found)
        *place = found->place;
    return found;
}

uint64_t wmi_program_pc_of(struct wmi_program *program, const struct wmi_op *step)
{
    uint64_t place;
    pthread_mutex_lock(&program->lock);
    const bool found = find_step(program, step, false, &place);
    pthread_mutex_unlock(&program->lock);
    /* If no branch leads to this step, the wave stopped at the step before it. */
    return found ? wmi_pc_of(place) : step[-1].value;
}

bool wmi_program_place_of(struct wmi_program *program, const struct wmi_op *step, uint64_t *place)
{
    pthread_mutex_lock(&program->lock);
    const bool found = find_step(program, step, true, place);
    pthread_mutex_unlock(&program->lock);
    return found;
}

const struct wmi_op *wmi_program_resume_at(struct wmi_program *program, uint64_t place)
{
    bool full;
    pthread_mutex_lock(&program->lock);
    const struct wmi_op *step = wmi_place_find(&program->resumes, place);
    pthread_mutex_unlock(&program->lock);
    return step ? step : wmi_program_at(program, place, &full);
}

const struct wmi_op *wmi_program_hold_at(struct wmi_program *program, uint64_t place)
{
    pthread_mutex_lock(&program->lock);
    const struct wmi_op *step = wmi_place_find(&program->holds, place);
    pthread_mutex_unlock(&program->lock);
    return step;
}

static bool find_hold(const struct wmi_program *program, const struct wmi_op *step, uint64_t *place)
{
    for (size_t i = 0; i < program->holds.capacity; i++)
        if (program->holds.entries[i].value == step) {
            *place = program->holds.entries[i].place;
            return true;
        }
    return false;
}

bool wmi_program_msb_of(struct wmi_program *program, const struct wmi_op *step, uint64_t pc, unsigned *msb)
{
    uint64_t place = 0;
    pthread_mutex_lock(&program->lock);
    const bool found = find_hold(program, step, &place) || find_step(program, step, true, &place);
    pthread_mutex_unlock(&program->lock);
    *msb = wmi_msb_of(place);
    return found && wmi_pc_of(place) == pc;
}

bool wmi_program_shares_frames(const struct wmi_program *program, const struct wmi_program *other)
{
    const struct wmi_code *a = &program->code, *b = &other->code;
    bool same = a->scalar_constants == b->scalar_constants && a->vector_constants == b->vector_constants &&
                a->constant_rows == b->constant_rows &&
                !memcmp(a->scalar_constant, b->scalar_constant, sizeof a->scalar_constant);
    for (unsigned i = 0; same && i < a->vector_constants; i++)
        same = a->vector_constant[i].value == b->vector_constant[i].value &&
               a->vector_constant[i].rows == b->vector_constant[i].rows &&
               a->vector_constant[i].offset == b->vector_constant[i].offset;
    return same;
}

const struct wmi_op *wmi_program_at(struct wmi_program *program, uint64_t place, bool *full)
{
    pthread_mutex_lock(&program->lock);
    const struct wmi_op *step = wmi_place_find(&program->map, place);
    *full = program->step_count >= WMI_STEP_LIMIT;
    if (!step && !*full) {
        build_from(program, place);
        step = wmi_place_find(&program->map, place);
    }
    pthread_mutex_unlock(&program->lock);
    return step;
}

struct wmi_program *wmi_program_create(const struct wmi_code_options *options, enum wmi_cpu_level level)
{
    struct wmi_program *program = calloc(1, sizeof *program);
    if (!program)
        return NULL;
    wmi_code_init(&program->code, options);
    program->level = level;
    program->compiling = wanted(options, level);
    pthread_mutex_init(&program->lock, NULL);
    build_from(program, options->entry);
    program->code.sealed = true;
    return program;
}

void wmi_program_destroy(struct wmi_program *program)
{
    if (!program)
        return;
    for (struct chunk *chunk = program->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        forget_lowered(chunk);
        free(chunk->leaders);
        free(chunk->resumes);
        free(chunk);
    }
    wmi_host_memory_free(program->host_code);
    wmi_code_free(&program->code);
    free(program->map.entries);
    free(program->resumes.entries);
    free(program->holds.entries);
    pthread_mutex_destroy(&program->lock);
    free(program);
}

static bool is_lowered_from(const struct wmi_program *program, const struct wmi_code_options *options,
                            enum wmi_cpu_level level)
{
    const struct wmi_code_options *own = &program->code.options;
    return program->level == level && own->target == options->target && own->space == options->space &&
           own->entry == options->entry && own->lanes == options->lanes && own->vgprs == options->vgprs &&
           own->shared_vgprs == options->shared_vgprs && own->agprs == options->agprs &&
           own->sgprs == options->sgprs && own->alignment == options->alignment &&
           own->scalar_cache == options->scalar_cache && own->sramecc == options->sramecc &&
           own->tiling.rules == options->tiling.rules && own->tiling.product == options->tiling.product &&
           own->tiling.tables == options->tiling.tables && wmi_code_is_current(&program->code, 0);
}

bool wmi_program_serves(const struct wmi_program *program, const struct wmi_code_options *options,
                        enum wmi_cpu_level level)
{
    return program->compiling == wanted(options, level) && !program->code.options.observers.count &&
           !options->observers.count && is_lowered_from(program, options, level);
}

bool wmi_program_serves_observed(const struct wmi_program *program, const struct wmi_code_options *options)
{
    return is_lowered_from(program, options, wmi_cpu_level());
}

void wmi_program_set_observers(struct wmi_program *program, const struct wmi_observers *observers)
{
    program->code.options.observers = *observers;
}

size_t wmi_program_steps(const struct wmi_program *program)
{
    return program->step_count;
}

const struct wmi_code *wmi_program_code(const struct wmi_program *program)
{
    return &program->code;
}

enum wmi_cpu_level wmi_program_level(const struct wmi_program *program)
{
    return program->level;
}
