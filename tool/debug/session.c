/* SPDX-License-Identifier: MIT */
/* The job that is debugged: begins dispatches, moves in their history, and accesses what is stopped. */
#include "tool/debug/session.h"

#include "tool/shard/footprint.h"
#include "tool/tool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    PAGE = 4096,
    TRIES = 1 << 20,    /* workgroups that are asked for waves */
    CHUNK = 1 << 22,    /* instructions between two looks at Ctrl-C */
    INTERVAL = 1 << 23, /* instructions between the first checkpoints */
    CHECKPOINT_BYTES = 256 << 20,
    SHARE = 8, /* execution takes at least so many times the time of a checkpoint, up to the next one */
};

static double seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

const struct tool_dispatch *debug_dispatch(const struct debug_session *s)
{
    return &s->job->dispatches[s->dispatch];
}

void debug_grid(const struct debug_session *s, uint32_t groups[3], uint32_t *waves)
{
    const struct tool_dispatch *d = debug_dispatch(s);
    uint32_t items = 1;
    for (unsigned i = 0; i < 3; i++) {
        groups[i] = (uint32_t)(((uint64_t)d->grid[i] + d->workgroup[i] - 1) / d->workgroup[i]);
        items *= d->workgroup[i];
    }
    *waves = (items + d->kernel->wave_size - 1) / d->kernel->wave_size;
}

/* ---- copies of memory ---- */

static bool is_zero(const uint8_t *bytes, size_t size)
{
    return !bytes[0] && !memcmp(bytes, bytes + 1, size - 1);
}

static size_t bytes_of(const struct debug_block *block, size_t page)
{
    const uint64_t left = block->size - (uint64_t)page * PAGE;
    return left < PAGE ? (size_t)left : PAGE;
}

static size_t pages_of(const struct debug_block *block)
{
    return (size_t)((block->size + PAGE - 1) / PAGE);
}

/* The same page of another snapshot; NULL: it has none. */
static struct debug_page *page_of(const struct debug_snapshot *snapshot, uint64_t address, uint64_t size,
                                  size_t page)
{
    for (size_t i = 0; snapshot && i < snapshot->blocks; i++)
        if (snapshot->block[i].address == address && snapshot->block[i].size == size)
            return snapshot->block[i].page[page];
    return NULL;
}

static struct debug_page *copy_page(struct debug_snapshot *snapshot, struct debug_page *before,
                                    const uint8_t *bytes, size_t size)
{
    if (before && !memcmp(before->bytes, bytes, size)) {
        before->users++;
        return before;
    }
    struct debug_page *page = malloc(sizeof *page + size);
    if (!page)
        return NULL;
    page->users = 1;
    memcpy(page->bytes, bytes, size);
    snapshot->bytes += size;
    return page;
}

static bool copy_block(struct debug_snapshot *snapshot, const struct debug_snapshot *before,
                       const struct wm_allocation *a)
{
    struct debug_block *larger = realloc(snapshot->block, (snapshot->blocks + 1) * sizeof *larger);
    if (!larger)
        return false;
    snapshot->block = larger;
    struct debug_block *block = &larger[snapshot->blocks++];
    *block = (struct debug_block){a->address, a->size, a->flags, strdup(a->name), NULL};
    block->page = calloc(pages_of(block), sizeof *block->page);
    if (!block->name || !block->page)
        return false;
    for (size_t i = 0; i < pages_of(block); i++) {
        const uint8_t *bytes = (const uint8_t *)a->host + i * PAGE;
        const size_t size = bytes_of(block, i);
        if (is_zero(bytes, size))
            continue;
        block->page[i] = copy_page(snapshot, page_of(before, a->address, a->size, i), bytes, size);
        if (!block->page[i])
            return false;
    }
    return true;
}

/* Where the machine allocates next. */
static bool find_next(const struct debug_session *s, uint64_t *next, struct wm_diag *diag)
{
    return wm_allocate(s->machine, PAGE, 0, "a try", next, diag) == WM_OK &&
           wm_free(s->machine, *next, diag) == WM_OK;
}

/* before: another snapshot, with which it shares equal pages; or NULL. all: also of what is not restored to
 * go back. */
static bool take_snapshot(const struct debug_session *s, struct debug_snapshot *snapshot,
                          const struct debug_snapshot *before, bool all, struct wm_diag *diag)
{
    const struct wm_machine *machine = s->machine;
    struct wm_allocation a = {.struct_size = sizeof a};
    *snapshot = (struct debug_snapshot){0};
    for (uint64_t at = 0; wm_find_allocation(machine, at, true, &a, NULL) == WM_OK; at = a.address + a.size)
        if (!(a.flags & (WM_READ_ONLY | WM_UNBOUND)) && (all || s->source->restores(&a)) &&
            !copy_block(snapshot, before, &a))
            return tool_because(diag, "no memory for a copy of the guest's memory");
    return true;
}

static bool restore(const struct debug_snapshot *snapshot, struct wm_machine *machine, struct wm_diag *diag)
{
    for (size_t i = 0; i < snapshot->blocks; i++) {
        const struct debug_block *block = &snapshot->block[i];
        struct wm_allocation a = {.struct_size = sizeof a};
        if (wm_find_allocation(machine, block->address, false, &a, NULL) != WM_OK &&
            (wm_allocate_at(machine, block->address, block->size, block->flags, block->name, diag) != WM_OK ||
             wm_find_allocation(machine, block->address, false, &a, diag) != WM_OK))
            return false;
        for (size_t page = 0; page < pages_of(block); page++) {
            uint8_t *bytes = (uint8_t *)a.host + page * PAGE;
            if (block->page[page])
                memcpy(bytes, block->page[page]->bytes, bytes_of(block, page));
            else if (!is_zero(bytes, bytes_of(block, page)))
                memset(bytes, 0, bytes_of(block, page));
        }
    }
    return true;
}

static void free_snapshot(struct debug_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->blocks; i++) {
        struct debug_block *block = &snapshot->block[i];
        for (size_t page = 0; block->page && page < pages_of(block); page++)
            if (block->page[page] && !--block->page[page]->users)
                free(block->page[page]);
        free(block->page);
        free(block->name);
    }
    free(snapshot->block);
}

/* ---- checkpoints ---- */

static void free_checkpoint(struct debug_checkpoint *checkpoint)
{
    wm_checkpoint_destroy(checkpoint->waves);
    free_snapshot(&checkpoint->memory);
}

/* Forgets those after a time in the dispatch. */
static void forget_checkpoints(struct debug_session *s, uint64_t executed)
{
    while (s->checkpoint_count && s->checkpoints[s->checkpoint_count - 1].executed > executed)
        free_checkpoint(&s->checkpoints[--s->checkpoint_count]);
}

static void forget_all_checkpoints(struct debug_session *s)
{
    while (s->checkpoint_count)
        free_checkpoint(&s->checkpoints[--s->checkpoint_count]);
    s->interval = INTERVAL;
}

uint64_t debug_checkpoint_bytes(const struct debug_session *s)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < s->checkpoint_count; i++)
        bytes += s->checkpoints[i].memory.bytes + wm_checkpoint_bytes(s->checkpoints[i].waves);
    return bytes;
}

/* Forgets every other one. Bytes of pages that the next one shares count for the one that is left. */
static void thin_out(struct debug_session *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->checkpoint_count; i++) {
        if (i % 2) {
            s->checkpoints[kept++] = s->checkpoints[i];
            continue;
        }
        if (i + 1 < s->checkpoint_count)
            s->checkpoints[i + 1].memory.bytes += s->checkpoints[i].memory.bytes;
        free_checkpoint(&s->checkpoints[i]);
    }
    s->checkpoint_count = kept;
    s->interval *= 2;
}

static bool has_edits(const struct debug_session *s)
{
    for (size_t i = 0; i < s->edit_count; i++)
        if (s->edits[i].time.dispatch == s->dispatch)
            return true;
    return false;
}

/* Takes one of a run that is stopped with CHECKPOINT, if it is time, there is memory, and nothing was changed
 * in the dispatch. */
static void take_checkpoint(struct debug_session *s, uint64_t executed)
{
    const uint64_t last = s->checkpoint_count ? s->checkpoints[s->checkpoint_count - 1].executed : 0;
    struct debug_checkpoint new = {.executed = executed};
    struct debug_checkpoint *larger;
    struct wm_diag ignored;
    const double begin = seconds();
    if (executed < last + s->interval || begin - s->checkpoint_seconds < SHARE * s->checkpoint_cost ||
        has_edits(s))
        return;
    const struct debug_snapshot *before =
        s->checkpoint_count ? &s->checkpoints[s->checkpoint_count - 1].memory : &s->snapshots[s->dispatch];
    if (wm_run_save(s->run, &new.waves, &ignored) != WM_OK)
        return;
    larger = take_snapshot(s, &new.memory, before, false, &ignored)
                 ? realloc(s->checkpoints, (s->checkpoint_count + 1) * sizeof *larger)
                 : NULL;
    if (!larger) {
        free_checkpoint(&new);
        return;
    }
    s->checkpoints = larger;
    larger[s->checkpoint_count++] = new;
    s->checkpoint_seconds = seconds();
    s->checkpoint_cost = s->checkpoint_seconds - begin;
    while (s->checkpoint_count > 1 && debug_checkpoint_bytes(s) > CHECKPOINT_BYTES)
        thin_out(s);
}

/* The last one up to a time; NULL: none. */
static const struct debug_checkpoint *checkpoint_at(const struct debug_session *s, size_t dispatch,
                                                    uint64_t executed)
{
    size_t i = dispatch == s->dispatch ? s->checkpoint_count : 0;
    while (i && s->checkpoints[i - 1].executed > executed)
        i--;
    return i ? &s->checkpoints[i - 1] : NULL;
}

uint64_t debug_checkpoint_before(const struct debug_session *s, size_t dispatch, uint64_t executed)
{
    const struct debug_checkpoint *found = executed ? checkpoint_at(s, dispatch, executed - 1) : NULL;
    return found ? found->executed : 0;
}

/* ---- changes ---- */

static bool is_before(struct debug_time a, struct debug_time b)
{
    return a.dispatch != b.dispatch ? a.dispatch < b.dispatch : a.executed < b.executed;
}

/* Forgets what was changed after `time`. */
static void forget_edits(struct debug_session *s, struct debug_time time)
{
    while (s->edit_count && is_before(time, s->edits[s->edit_count - 1].time))
        free(s->edits[--s->edit_count].bytes);
    if (time.dispatch == s->dispatch)
        forget_checkpoints(s, time.executed);
}

static bool log_edit(struct debug_session *s, struct debug_edit edit, const void *bytes, struct wm_diag *diag)
{
    edit.time = debug_now(s);
    memcpy(edit.workgroup, s->wave.workgroup, sizeof edit.workgroup);
    edit.wave = s->wave.wave;
    forget_edits(s, edit.time);
    struct debug_edit *larger = realloc(s->edits, (s->edit_count + 1) * sizeof *larger);
    if (larger)
        s->edits = larger;
    edit.bytes = malloc(edit.size + 1);
    if (!larger || !edit.bytes) {
        free(edit.bytes);
        return tool_because(diag, "out of memory");
    }
    memcpy(edit.bytes, bytes, edit.size);
    s->edits[s->edit_count++] = edit;
    for (size_t i = s->dispatch; i < s->begun; i++) /* what comes later is another history */
        s->lengths[i] = 0;
    return true;
}

/* The lane's private memory lies in the wave's scratch memory, which wm_run_*_private finds. */
static enum wm_status access_space(struct debug_session *s, enum debug_space space, unsigned lane,
                                   uint64_t address, void *bytes, size_t size, bool write,
                                   struct wm_diag *diag)
{
    switch (space) {
    case DEBUG_LDS:
        if (address > UINT32_MAX || size > UINT32_MAX)
            return tool_because(diag, "LDS has no offset 0x%" PRIx64, address), WM_OUT_OF_RANGE;
        return write ? wm_run_write_lds(s->run, (uint32_t)address, bytes, (uint32_t)size, diag)
                     : wm_run_read_lds(s->run, (uint32_t)address, bytes, (uint32_t)size, diag);
    case DEBUG_PRIVATE:
        if (address > UINT32_MAX || size > UINT32_MAX)
            return tool_because(diag, "private memory has no offset 0x%" PRIx64, address), WM_OUT_OF_RANGE;
        return write ? wm_run_write_private(s->run, lane, (uint32_t)address, bytes, (uint32_t)size, diag)
                     : wm_run_read_private(s->run, lane, (uint32_t)address, bytes, (uint32_t)size, diag);
    default:
        return write ? wm_write(s->machine, address, bytes, size, diag)
                     : wm_read(s->machine, address, bytes, size, diag);
    }
}

static void apply_edits(struct debug_session *s)
{
    const struct debug_time now = debug_now(s);
    for (size_t i = 0; i < s->edit_count; i++) {
        const struct debug_edit *edit = &s->edits[i];
        struct wm_diag ignored; /* it was possible before */
        if (is_before(edit->time, now) || is_before(now, edit->time))
            continue;
        if (edit->space != DEBUG_GLOBAL)
            wm_run_select(s->run, edit->workgroup, edit->wave, NULL, &ignored);
        if (edit->space == DEBUG_REGISTER)
            wm_run_set(s->run, edit->name, (const uint32_t *)(const void *)edit->bytes, edit->size / 4,
                       &ignored);
        else
            access_space(s, edit->space, edit->lane, edit->address, edit->bytes, edit->size, true, &ignored);
    }
}

/* The time of the next change in this dispatch after now; 0: there is none. */
static uint64_t next_edit(const struct debug_session *s)
{
    for (size_t i = 0; i < s->edit_count; i++)
        if (s->edits[i].time.dispatch == s->dispatch && s->edits[i].time.executed > s->now)
            return s->edits[i].time.executed;
    return 0;
}

/* ---- beginning ---- */

void debug_print_kernel_text(void *user, const char *text, size_t length)
{
    const struct debug_session *s = user;
    if (!s->lengths[s->dispatch]) /* not again, when it is repeated */
        fwrite(text, 1, length, s->out);
}

static bool remember_dispatch(struct debug_session *s, size_t index, struct wm_diag *diag)
{
    if (index != s->dispatch || !s->begun)
        forget_all_checkpoints(s);
    if (index < s->begun)
        return restore(&s->snapshots[index], s->machine, diag);
    struct tool_prepared *prepared = realloc(s->prepared, (index + 1) * sizeof *prepared);
    s->prepared = prepared ? prepared : s->prepared;
    struct debug_snapshot *snapshots = realloc(s->snapshots, (index + 1) * sizeof *snapshots);
    s->snapshots = snapshots ? snapshots : s->snapshots;
    uint64_t *lengths = realloc(s->lengths, (index + 1) * sizeof *lengths);
    s->lengths = lengths ? lengths : s->lengths;
    if (!prepared || !snapshots || !lengths)
        return tool_because(diag, "out of memory");
    s->lengths[index] = 0;
    if (!s->source->prepare(s, index, diag)) {
        s->source->release(s, index);
        return false;
    }
    if (!take_snapshot(s, &s->snapshots[index], NULL, false, diag) ||
        !find_next(s, &s->snapshots[index].next, diag)) {
        free_snapshot(&s->snapshots[index]);
        s->source->release(s, index);
        return false;
    }
    s->begun = index + 1;
    return true;
}

static void cancel_run(struct debug_session *s)
{
    if (s->run)
        wm_run_end(s->run, true, NULL, NULL);
    s->run = NULL;
}

/* The wave that is about to execute, or has faulted, is the one that is selected. */
static void select_stopped(struct debug_session *s, const struct wm_stopped *stopped)
{
    const bool same = s->wave.wave == stopped->wave &&
                      !memcmp(s->wave.workgroup, stopped->workgroup, sizeof stopped->workgroup);
    s->stopped = s->wave = *stopped;
    s->frame = 0;
    if (!same || s->lane >= stopped->wave_size)
        s->lane = stopped->lanes ? (unsigned)__builtin_ctzll(stopped->lanes) : 0;
}

/* Begins dispatch `index` from its copy of memory, or from memory as it is the first time: stopped before its
 * first instruction. checkpoint: before the first one behind it; or NULL. */
static bool begin_at(struct debug_session *s, size_t index, const struct debug_checkpoint *checkpoint,
                     struct wm_diag *diag)
{
    const struct wm_stop_at first = {.struct_size = sizeof first, .instructions = 1};
    struct wm_stopped stopped = {.struct_size = sizeof stopped};
    struct wm_diag unused;
    cancel_run(s);
    s->state = DEBUG_BEFORE;
    s->faulted = false;
    if (!remember_dispatch(s, index, diag))
        return false;
    s->dispatch = index;
    s->now = 0;
    wm_reset_gws(s->machine, &unused);
    if (wm_set_first_address(s->machine, s->snapshots[index].next, diag) != WM_OK)
        return false;
    if (!s->source->begin(s, index, diag)) {
        s->run = NULL;
        return false;
    }
    if (checkpoint && (wm_run_restore(s->run, checkpoint->waves, diag) != WM_OK ||
                       !restore(&checkpoint->memory, s->machine, diag))) {
        cancel_run(s);
        return false;
    }
    if (wm_run_to(s->run, &first, &stopped, diag) != WM_OK) {
        cancel_run(s);
        return false;
    }
    s->state = DEBUG_STOPPED;
    if (stopped.kind == WM_STOP_END) {
        s->state = DEBUG_AFTER;
        wm_run_end(s->run, false, NULL, NULL);
        s->run = NULL;
        return true;
    }
    s->now = stopped.executed;
    select_stopped(s, &stopped);
    apply_edits(s);
    wm_run_select(s->run, s->wave.workgroup, s->wave.wave, NULL, &unused);
    return true;
}

static bool begin(struct debug_session *s, size_t index, struct wm_diag *diag)
{
    return begin_at(s, index, NULL, diag);
}

bool debug_begin_launch(struct debug_session *s, struct wm_diag *diag)
{
    return begin(s, 0, diag);
}

bool debug_session_begin(struct debug_session *s, const struct debug_source *source, struct tool_job *job,
                         struct wm_machine *machine, struct wm_diag *diag)
{
    *s = (struct debug_session){.source = source, .job = job, .machine = machine, .out = stdout};
    s->files = calloc(job->opened_count + 1, sizeof *s->files);
    if (!s->files)
        return tool_because(diag, "out of memory");
    for (size_t i = 0; i < job->opened_count; i++)
        s->files[i] = job->opened[i].file;
    s->sources = (struct tool_report){
        .files = s->files, .file_count = job->opened_count, .options = &job->outputs.show};
    return true;
}

void debug_forget(struct debug_session *s)
{
    cancel_run(s);
    forget_all_checkpoints(s);
    for (size_t i = 0; i < s->begun; i++) {
        s->source->release(s, i);
        free_snapshot(&s->snapshots[i]);
    }
    for (size_t i = 0; i < s->edit_count; i++)
        free(s->edits[i].bytes);
    s->begun = s->edit_count = s->dispatch = 0;
    s->state = DEBUG_BEFORE;
    s->fault = (struct wm_fault){.kind = WM_FAULT_NONE};
    s->has_found = false;
}

void debug_session_end(struct debug_session *s)
{
    debug_forget(s);
    if (s->source && s->source->end)
        s->source->end(s);
    free(s->prepared);
    free(s->snapshots);
    free(s->lengths);
    free(s->edits);
    free(s->checkpoints);
    free(s->values);
    free(s->files);
    *s = (struct debug_session){0};
}

bool debug_restart(struct debug_session *s, struct wm_diag *diag)
{
    if (s->source->launches)
        return tool_because(diag, "The program runs already; `goto begin' goes back to where this kernel "
                                  "begins.");
    forget_edits(s, (struct debug_time){0, 0});
    while (s->edit_count)
        free(s->edits[--s->edit_count].bytes);
    s->fault = (struct wm_fault){.kind = WM_FAULT_NONE};
    return begin(s, 0, diag);
}

/* ---- moving ---- */

static bool is_wave(const struct wm_stopped *stopped, const uint32_t workgroup[3], uint32_t wave)
{
    return stopped->wave == wave && !memcmp(stopped->workgroup, workgroup, sizeof stopped->workgroup);
}

/* Instructions that wm_run_to has to count until the wave has executed goal->count - 1. */
static uint64_t left_to_count(struct debug_session *s, const struct debug_goal *goal)
{
    struct wm_stopped where = {.struct_size = sizeof where};
    if (is_wave(&s->stopped, goal->workgroup, goal->wave))
        return goal->count - 1 - s->stopped.instructions;
    const bool exists = wm_run_select(s->run, goal->workgroup, goal->wave, &where, NULL) == WM_OK;
    return goal->count - (exists ? where.instructions : 0);
}

/* Whether an event of the goal is due at the instruction where the run was stopped for another reason. */
static bool is_due(struct debug_session *s, const struct debug_goal *goal, struct wm_stopped *stopped)
{
    if (goal->wave_end && wm_run_select(s->run, goal->workgroup, goal->wave, NULL, NULL) != WM_OK)
        return true;
    if (goal->of_wave && !is_wave(stopped, goal->workgroup, goal->wave))
        return false;
    for (size_t i = 0; i < goal->address_count; i++)
        if (goal->addresses[i] == stopped->pc) {
            stopped->kind = WM_STOP_ADDRESS;
            return true;
        }
    return goal->each || (goal->count && stopped->instructions + 1 == goal->count);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return !a || (b && b < a) ? b : a;
}

/* The dispatch has ended after so many instructions: by itself, or by a fault. */
static bool end_dispatch(struct debug_session *s, uint64_t executed, struct wm_diag *diag)
{
    struct wm_result result = {.struct_size = sizeof result};
    const bool again = s->lengths[s->dispatch];
    const enum wm_status status = wm_run_end(s->run, false, &result, diag);
    s->run = NULL;
    s->state = DEBUG_AFTER;
    if (status)
        return false;
    s->now = executed;
    s->faulted = false;
    s->fault = result.fault;
    s->result = result;
    if (!again) {
        s->lengths[s->dispatch] = executed;
        fflush(s->out);
        s->code = tool_worse(s->code, s->source->use_results(s, &result));
    }
    return true;
}

bool debug_advance(struct debug_session *s, const struct debug_goal *goal, struct wm_stopped *stopped,
                   struct wm_diag *diag)
{
    s->interrupted = false;
    s->checkpoint_seconds = seconds();
    const bool between = !goal->of_wave; /* else a wave is followed from stop to stop */
    struct wm_stop_at at = {.struct_size = sizeof at,
                            .addresses = goal->addresses,
                            .address_count = goal->address_count,
                            .ranges = goal->ranges,
                            .range_count = goal->range_count,
                            .at_wave = goal->of_wave,
                            .wave = goal->wave,
                            .at_wave_end = goal->wave_end};
    memcpy(at.workgroup, goal->workgroup, sizeof at.workgroup);
    for (;;) {
        const uint64_t due = earlier(goal->until, next_edit(s));
        at.executed = between ? due : earlier(due, s->now + CHUNK);
        at.checkpoint = between && !s->interrupted ? s->now + CHUNK : 0;
        at.instructions = goal->each || s->interrupted;
        *stopped = s->stopped;
        if (goal->count && !(at.instructions = left_to_count(s, goal)))
            break;
        *stopped = (struct wm_stopped){.struct_size = sizeof *stopped};
        if (wm_run_to(s->run, &at, stopped, diag) != WM_OK)
            return false;
        if (stopped->kind == WM_STOP_END)
            return end_dispatch(s, stopped->executed, diag);
        s->now = stopped->executed;
        if (stopped->kind == WM_STOP_CHECKPOINT) {
            take_checkpoint(s, s->now);
            s->interrupted = s->interrupts && s->interrupts(s->interrupts_user);
            continue;
        }
        s->stopped = *stopped;
        s->faulted = stopped->kind == WM_STOP_FAULT;
        if (stopped->kind != WM_STOP_STEP || s->interrupted || !at.executed || s->now < at.executed)
            break;
        apply_edits(s);
        if ((goal->until && s->now >= goal->until) || is_due(s, goal, stopped))
            break;
        if (!between && s->interrupts && s->interrupts(s->interrupts_user)) {
            s->interrupted = true;
            break;
        }
    }
    select_stopped(s, &s->stopped);
    s->stopped.kind = stopped->kind;
    if (s->faulted && stopped->access_lanes)
        s->lane = (unsigned)__builtin_ctzll(stopped->access_lanes);
    return debug_select(s, s->wave.workgroup, s->wave.wave, diag);
}

bool debug_next_dispatch(struct debug_session *s, bool *last, struct wm_diag *diag)
{
    if (s->source->next)
        return s->source->next(s, last, diag);
    *last = s->source->launches || s->dispatch + 1 == s->job->count || s->fault.kind != WM_FAULT_NONE;
    return !*last && begin(s, s->dispatch + 1, diag);
}

bool debug_may_go_back(const struct debug_session *s, struct wm_diag *diag)
{
    return !s->between ||
           tool_because(diag,
                        "The program is between launches and goes on meanwhile: memory cannot go back.");
}

bool debug_go_to(struct debug_session *s, struct debug_time time, struct wm_diag *diag)
{
    struct wm_stopped stopped;
    const struct debug_goal goal = {.until = time.executed};
    if (!debug_may_go_back(s, diag))
        return false;
    if (time.dispatch >= s->begun)
        return tool_because(diag, "dispatch %zu has not begun yet", debug_dispatch_number(s, time.dispatch));
    const struct debug_checkpoint *near = checkpoint_at(s, time.dispatch, time.executed);
    const bool behind = s->state != DEBUG_STOPPED || time.dispatch != s->dispatch || time.executed < s->now ||
                        (s->faulted && time.executed == s->now);
    if (behind || (near && near->executed > s->now)) {
        const uint64_t from = near ? near->executed : 0;
        if (!begin_at(s, time.dispatch, near, diag))
            return false;
        s->repeated += time.executed - from;
    }
    return s->state != DEBUG_STOPPED || time.executed <= s->now || debug_advance(s, &goal, &stopped, diag);
}

bool debug_go_before(struct debug_session *s, const uint32_t workgroup[3], uint32_t wave, uint64_t count,
                     struct wm_diag *diag)
{
    uint64_t executed = s->now;
    for (;;) {
        struct wm_stopped where = {.struct_size = sizeof where};
        executed = debug_checkpoint_before(s, s->dispatch, executed);
        if (!begin_at(s, s->dispatch, executed ? checkpoint_at(s, s->dispatch, executed) : NULL, diag))
            return false;
        if (!executed || s->state != DEBUG_STOPPED ||
            wm_run_select(s->run, workgroup, wave, &where, NULL) != WM_OK || where.instructions < count)
            break;
    }
    struct wm_diag ignored;
    return s->state != DEBUG_STOPPED || debug_select(s, s->stopped.workgroup, s->stopped.wave, &ignored);
}

bool debug_go_to_end(struct debug_session *s, size_t dispatch, struct wm_diag *diag)
{
    const struct debug_goal goal = {0};
    struct wm_stopped stopped;
    if (!debug_go_to(s, (struct debug_time){dispatch, 0}, diag))
        return false;
    while (s->state == DEBUG_STOPPED)
        if (!debug_advance(s, &goal, &stopped, diag))
            return false;
    return true;
}

/* The byte of a snapshot; false: it has none there. */
static bool byte_of(const struct debug_snapshot *snapshot, uint64_t address, uint8_t *byte)
{
    for (size_t i = 0; i < snapshot->blocks; i++) {
        const struct debug_block *block = &snapshot->block[i];
        const uint64_t offset = address - block->address;
        if (offset >= block->size)
            continue;
        const struct debug_page *page = block->page[offset / PAGE];
        *byte = page ? page->bytes[offset % PAGE] : 0;
        return true;
    }
    return false;
}

/* Takes back stores to memory that is not restored to go back: the bytes alone, as others may store next to
 * them meanwhile. */
static void take_back(const struct debug_session *s, const struct debug_snapshot *before,
                      struct footprint *stores)
{
    size_t count;
    const struct footprint_page *pages = footprint_pages(stores, &count);
    for (size_t i = 0; i < count; i++)
        for (uint64_t byte = 0; byte < FOOTPRINT_PAGE; byte++) {
            const uint64_t address = pages[i].number * FOOTPRINT_PAGE + byte;
            struct wm_allocation a = {.struct_size = sizeof a};
            uint8_t value;
            if (footprint_has(pages[i].written, byte) && byte_of(before, address, &value) &&
                wm_find_allocation(s->machine, address, false, &a, NULL) == WM_OK && !s->source->restores(&a))
                ((uint8_t *)a.host)[address - a.address] = value;
        }
}

bool debug_run_apart(struct debug_session *s,
                     bool (*run)(void *user, const struct wm_observer *observer, struct wm_diag *diag),
                     void *user, struct wm_diag *diag)
{
    if (!debug_may_go_back(s, diag))
        return false;
    const struct debug_time time = debug_now(s);
    struct debug_snapshot before = {0};
    struct footprint *stores = footprint_create();
    cancel_run(s);
    s->state = DEBUG_AFTER;
    bool good = stores || tool_because(diag, "out of memory");
    good = good && restore(&s->snapshots[s->dispatch], s->machine, diag) &&
           take_snapshot(s, &before, NULL, true, diag) && run(user, footprint_observer(stores), diag);
    if (stores)
        take_back(s, &before, stores);
    footprint_destroy(stores);
    free_snapshot(&before);
    return good && debug_go_to(s, time, diag);
}

bool debug_need_wave(const struct debug_session *s, struct wm_diag *diag)
{
    return s->state == DEBUG_STOPPED ||
           tool_because(diag, s->between                 ? "The program is between launches: no wave is left."
                              : s->state == DEBUG_BEFORE ? "The kernel is not being run."
                                                         : "The kernel has ended: no wave is left.");
}

bool debug_select(struct debug_session *s, const uint32_t workgroup[3], uint32_t wave, struct wm_diag *diag)
{
    struct wm_stopped where = {.struct_size = sizeof where};
    if (!debug_need_wave(s, diag) || wm_run_select(s->run, workgroup, wave, &where, diag) != WM_OK)
        return false;
    const bool same = is_wave(&s->wave, workgroup, wave);
    where.executed = s->now;
    s->wave = where;
    if (!same || s->lane >= where.wave_size) {
        s->lane = where.lanes ? (unsigned)__builtin_ctzll(where.lanes) : 0;
        s->frame = 0;
    }
    return true;
}

size_t debug_waves(struct debug_session *s, struct wm_stopped *waves, size_t room)
{
    uint32_t groups[3], count, id[3];
    struct wm_diag none;
    size_t found = 0;
    if (s->state != DEBUG_STOPPED)
        return 0;
    debug_grid(s, groups, &count);
    const uint64_t all = (uint64_t)groups[0] * groups[1] * groups[2];
    for (uint64_t i = 0; i < all && i < TRIES && found < room; i++) {
        id[0] = (uint32_t)(i % groups[0]);
        id[1] = (uint32_t)(i / groups[0] % groups[1]);
        id[2] = (uint32_t)(i / groups[0] / groups[1]);
        for (uint32_t wave = 0; wave < count && found < room; wave++) {
            waves[found] = (struct wm_stopped){.struct_size = sizeof *waves};
            found += wm_run_select(s->run, id, wave, &waves[found], &none) == WM_OK;
        }
    }
    debug_select(s, s->wave.workgroup, s->wave.wave, &none);
    return found;
}

/* ---- access ---- */

bool debug_read(struct debug_session *s, enum debug_space space, unsigned lane, uint64_t address, void *bytes,
                size_t size, struct wm_diag *diag)
{
    if (space != DEBUG_GLOBAL && !debug_need_wave(s, diag))
        return false;
    return access_space(s, space, lane, address, bytes, size, false, diag) == WM_OK;
}

bool debug_write(struct debug_session *s, enum debug_space space, unsigned lane, uint64_t address,
                 const void *bytes, size_t size, struct wm_diag *diag)
{
    if (space != DEBUG_GLOBAL && !debug_need_wave(s, diag))
        return false;
    return access_space(s, space, lane, address, (void *)(uintptr_t)bytes, size, true, diag) == WM_OK &&
           log_edit(s, (struct debug_edit){.space = space, .lane = lane, .address = address, .size = size},
                    bytes, diag);
}

bool debug_get(struct debug_session *s, const char *name, uint32_t *values, size_t count,
               struct wm_diag *diag)
{
    return debug_need_wave(s, diag) && wm_run_get(s->run, name, values, count, diag) == WM_OK;
}

bool debug_set(struct debug_session *s, const char *name, const uint32_t *values, size_t count,
               struct wm_diag *diag)
{
    struct debug_edit edit = {.space = DEBUG_REGISTER, .size = 4 * count};
    if (!debug_need_wave(s, diag) || wm_run_set(s->run, name, values, count, diag) != WM_OK)
        return false;
    snprintf(edit.name, sizeof edit.name, "%s", name);
    return log_edit(s, edit, values, diag) && debug_select(s, s->wave.workgroup, s->wave.wave, diag);
}
