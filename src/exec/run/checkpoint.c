/* SPDX-License-Identifier: MIT */
#include "exec/run/checkpoint.h"

#include "exec/memory/gds.h"
#include "exec/run/switch.h"

#include <stdlib.h>
#include <string.h>

/* A wave: its members without pointers, and those of its frame that outlast a block. */
struct saved_wave {
    struct wmi_wave wave; /* its pointers are not used */
    uint64_t place;       /* at which it resumes */
    uint32_t s[WMI_SCALARS];
    struct wmi_lanes exec;
    uint32_t mode, mxcsr32, mxcsr64;
    int64_t left;
};

/* A workgroup. Its waves are followed by their VGPRs, and by its LDS. */
struct saved_group {
    struct saved_group *next;
    uint32_t number; /* of its resident */
    struct wmi_workgroup group;
    bool ended; /* its workgroup, while others of the cluster run */
    struct {
        uint32_t left, signals;
        uint64_t completed;
        struct saved_group *others; /* in order */
    } cluster;                      /* of its first workgroup */
    unsigned char *rows, *lds;
    struct saved_wave wave[];
};

/* The executor's and the dispatch's members that change. */
struct saved_progress {
    uint64_t instructions, waves, groups_started, batch_next, batch_end, last_flat_id, groups_done,
        groups_since_poll, next_poll, sweep_generation, quiescent_generation;
    uint32_t last_id[3];
    bool progressed, checks, only_loads;
    struct wmi_violation violation;
    uint64_t share, done, generation;
    unsigned quiescent;
    uint32_t resident_count;
};

/* Residents without a workgroup, the next one first. */
struct saved_numbers {
    uint32_t *number;
    size_t count;
};

struct wm_checkpoint {
    uint64_t entry;
    uint32_t grid[3], workgroup[3];
    struct saved_progress progress;
    struct saved_group *parked, *swept;
    struct saved_numbers unused, spare;
    struct wmi_gds *gds; /* NULL: nothing has used it */
    struct wmi_gws_state gws;
    uint32_t gws_waiting[WMI_GWS_RESOURCES];
    size_t bytes;
};

/* False: a wave waits within an instruction (global wave sync, ordered count). */
static bool have_places(struct wmi_resident *list)
{
    uint64_t place;
    for (; list; list = list->next)
        for (uint32_t i = 0; i < wmi_resident_members(list); i++) {
            const struct wmi_resident *one = wmi_resident_member(list, i);
            for (uint32_t j = 0; j < one->group.wave_count && !one->ended; j++)
                if (one->waves[j].state != WMI_WAVE_ENDED &&
                    !wmi_program_place_of(one->waves[j].program, one->waves[j].resume, &place))
                    return false;
        }
    return true;
}

bool wmi_checkpoint_is_possible(const struct wmi_executor *executor)
{
    const struct wmi_dispatch *dispatch = executor->steps.dispatch;
    return !dispatch->stales.mode && dispatch->observers.count == 1 && have_places(executor->parked) &&
           have_places(executor->swept);
}

static size_t row_bytes(const struct wmi_executor *executor)
{
    return executor->probe.vgpr_bytes;
}

static unsigned char *rows_of(const struct wmi_executor *executor, const struct wmi_wave *wave)
{
    return (unsigned char *)wave->frame + executor->probe.vgpr_offset;
}

/* ---- saving ---- */

static bool save_wave(struct wmi_executor *executor, const struct wmi_wave *wave, struct saved_wave *saved,
                      unsigned char *rows)
{
    const struct wmi_frame *frame = wave->frame;
    *saved = (struct saved_wave){.wave = *wave,
                                 .exec = frame->exec,
                                 .mode = frame->mode,
                                 .mxcsr32 = frame->mxcsr32,
                                 .mxcsr64 = frame->mxcsr64,
                                 .left = frame->left};
    memcpy(saved->s, frame->s, sizeof saved->s);
    memcpy(rows, rows_of(executor, wave), row_bytes(executor));
    return wave->state == WMI_WAVE_ENDED || wmi_program_place_of(wave->program, wave->resume, &saved->place);
}

static void free_groups(struct saved_group *group)
{
    for (struct saved_group *next; group; group = next) {
        next = group->next;
        free_groups(group->cluster.others);
        free(group->rows);
        free(group->lds);
        free(group);
    }
}

/* NULL: no memory, or a wave resumes at a step that has no place. */
static struct saved_group *save_group(struct wmi_executor *executor, const struct wmi_resident *resident,
                                      size_t *bytes)
{
    const struct wmi_workgroup *group = &resident->group;
    const size_t head = sizeof(struct saved_group) + group->wave_count * sizeof(struct saved_wave),
                 rows = group->wave_count * row_bytes(executor);
    struct saved_group *saved = calloc(1, head);
    if (!saved)
        return NULL;
    saved->number = resident->number;
    saved->group = *group;
    saved->ended = resident->ended;
    saved->rows = malloc(rows + 1);
    saved->lds = malloc(group->lds_size + 1);
    bool good = saved->rows && saved->lds && !group->scalar_cache;
    for (uint32_t i = 0; i < group->wave_count && good; i++)
        good =
            save_wave(executor, &resident->waves[i], &saved->wave[i], saved->rows + i * row_bytes(executor));
    if (!good) {
        free_groups(saved);
        return NULL;
    }
    memcpy(saved->lds, group->lds, group->lds_size);
    *bytes += head + rows + group->lds_size;
    return saved;
}

static bool save_members(struct wmi_executor *executor, struct wmi_resident *first, struct saved_group *saved,
                         size_t *bytes)
{
    const struct wmi_cluster *cluster = first->group.cluster;
    struct saved_group **next = &saved->cluster.others;
    if (cluster) {
        saved->cluster.left = cluster->left;
        saved->cluster.signals = cluster->signals;
        saved->cluster.completed = cluster->completed;
    }
    for (uint32_t i = 1; i < wmi_resident_members(first); i++, next = &(*next)->next)
        if (!(*next = save_group(executor, wmi_resident_member(first, i), bytes)))
            return false;
    return true;
}

/* Keeps the order of the list. */
static bool save_list(struct wmi_executor *executor, struct wmi_resident *list, struct saved_group **saved,
                      size_t *bytes)
{
    for (; list; list = list->next) {
        if (!(*saved = save_group(executor, list, bytes)) || !save_members(executor, list, *saved, bytes))
            return false;
        saved = &(*saved)->next;
    }
    return true;
}

static bool save_numbers(const struct wmi_resident *list, struct saved_numbers *saved, size_t *bytes)
{
    size_t count = 0;
    for (const struct wmi_resident *one = list; one; one = one->next)
        count++;
    saved->number = malloc((count + 1) * sizeof *saved->number);
    if (!saved->number)
        return false;
    for (const struct wmi_resident *one = list; one; one = one->next)
        saved->number[saved->count++] = one->number;
    *bytes += count * sizeof *saved->number;
    return true;
}

static struct saved_progress progress_of(const struct wmi_executor *e)
{
    const struct wmi_dispatch *d = e->steps.dispatch;
    return (struct saved_progress){
        .instructions = e->instructions,
        .waves = e->waves,
        .groups_started = e->groups_started,
        .batch_next = e->batch_next,
        .batch_end = e->batch_end,
        .last_flat_id = e->last_flat_id,
        .groups_done = e->groups_done,
        .groups_since_poll = e->groups_since_poll,
        .next_poll = e->next_poll,
        .sweep_generation = e->sweep_generation,
        .quiescent_generation = e->quiescent_generation,
        .last_id = {e->last_id[0], e->last_id[1], e->last_id[2]},
        .progressed = e->progressed,
        .checks = e->checks,
        .only_loads = e->only_loads,
        .violation = e->steps.violation,
        .share = d->deal.shares->next,
        .done = d->groups_done,
        .generation = d->generation,
        .quiescent = d->quiescent,
        .resident_count = d->resident_count,
    };
}

struct wm_checkpoint *wmi_checkpoint_save(struct wmi_executor *executor)
{
    const struct wmi_dispatch *dispatch = executor->steps.dispatch;
    struct wm_checkpoint *checkpoint = calloc(1, sizeof *checkpoint);
    if (!checkpoint)
        return NULL;
    checkpoint->entry = dispatch->launch.entry;
    memcpy(checkpoint->grid, dispatch->grid, sizeof checkpoint->grid);
    memcpy(checkpoint->workgroup, dispatch->workgroup, sizeof checkpoint->workgroup);
    checkpoint->progress = progress_of(executor);
    checkpoint->bytes = sizeof *checkpoint + (dispatch->gds ? wmi_gds_bytes : 0);
    checkpoint->gds = dispatch->gds ? wmi_gds_copy(dispatch->gds) : NULL;
    if (dispatch->gws)
        wmi_gws_save(dispatch->gws, &checkpoint->gws);
    memcpy(checkpoint->gws_waiting, dispatch->gws_waiting, sizeof checkpoint->gws_waiting);
    if (!checkpoint->gds == !dispatch->gds &&
        save_list(executor, executor->parked, &checkpoint->parked, &checkpoint->bytes) &&
        save_list(executor, executor->swept, &checkpoint->swept, &checkpoint->bytes) &&
        save_numbers(executor->unused, &checkpoint->unused, &checkpoint->bytes) &&
        save_numbers(dispatch->spare, &checkpoint->spare, &checkpoint->bytes))
        return checkpoint;
    wmi_checkpoint_free(checkpoint);
    return NULL;
}

/* ---- restoring ---- */

bool wmi_checkpoint_fits(const struct wmi_executor *executor, const struct wm_checkpoint *checkpoint)
{
    const struct wmi_dispatch *dispatch = executor->steps.dispatch;
    return checkpoint->entry == dispatch->launch.entry &&
           !memcmp(checkpoint->grid, dispatch->grid, sizeof checkpoint->grid) &&
           !memcmp(checkpoint->workgroup, dispatch->workgroup, sizeof checkpoint->workgroup);
}

/* wmi_resident_create() numbers the first workgroup of a cluster from the cluster's number. */
static uint32_t number_of(const struct wmi_executor *executor, uint32_t number)
{
    return number / executor->steps.dispatch->cluster_size;
}

/* All waves resume in the dispatch's own program. */
static bool restore_wave(const struct wmi_executor *executor, const struct saved_wave *saved,
                         const unsigned char *rows, struct wmi_wave *wave)
{
    struct wmi_frame *frame = wave->frame;
    const struct wmi_wave own = *wave;
    *wave = saved->wave;
    wave->frame = own.frame;
    wave->group = own.group;
    wave->watched = own.watched;
    wave->worker = frame->worker = (struct wmi_worker *)(uintptr_t)&executor->steps;
    wave->program = executor->steps.dispatch->program;
    wave->resume = NULL;
    memcpy(frame->s, saved->s, sizeof frame->s);
    frame->exec = saved->exec;
    frame->mode = saved->mode;
    frame->mxcsr32 = saved->mxcsr32;
    frame->mxcsr64 = saved->mxcsr64;
    frame->left = saved->left;
    memcpy(rows_of(executor, wave), rows, row_bytes(executor));
    wmi_wave_forget_compiled(wave);
    if (wave->state == WMI_WAVE_ENDED)
        return true;
    wave->resume = wmi_program_resume_at(wave->program, saved->place);
    return wave->resume;
}

static bool restore_group(struct wmi_executor *executor, const struct saved_group *saved,
                          struct wmi_resident *resident)
{
    struct wmi_workgroup *group = &resident->group;
    const struct wmi_workgroup own = *group;
    *group = saved->group;
    group->dispatch = own.dispatch;
    group->cluster = own.cluster;
    group->lds = own.lds;
    group->waves = own.waves;
    group->scalar_cache = NULL;
    memcpy(group->lds, saved->lds, group->lds_size);
    resident->used = true;
    resident->ended = saved->ended;
    bool good = true;
    for (uint32_t i = 0; i < group->wave_count && good; i++)
        good = restore_wave(executor, &saved->wave[i], saved->rows + i * row_bytes(executor),
                            &resident->waves[i]);
    return good;
}

static bool restore_members(struct wmi_executor *executor, const struct saved_group *saved,
                            struct wmi_resident *first)
{
    bool good = true;
    struct wmi_cluster *cluster = first->group.cluster;
    if (cluster) {
        cluster->left = saved->cluster.left;
        cluster->signals = saved->cluster.signals;
        cluster->completed = saved->cluster.completed;
    }
    const struct saved_group *member = saved->cluster.others;
    for (uint32_t i = 1; member && good; i++, member = member->next)
        good = restore_group(executor, member, wmi_resident_member(first, i));
    return good;
}

static bool restore_list(struct wmi_executor *executor, const struct saved_group *saved,
                         struct wmi_resident **list)
{
    for (; saved; saved = saved->next, list = &(*list)->next)
        if (!(*list = wmi_resident_create(executor, number_of(executor, saved->number))) ||
            !restore_group(executor, saved, *list) || !restore_members(executor, saved, *list))
            return false;
    return true;
}

static bool restore_numbers(struct wmi_executor *executor, const struct saved_numbers *saved,
                            struct wmi_resident **list)
{
    for (size_t i = 0; i < saved->count; i++, list = &(*list)->next) {
        if (!(*list = wmi_resident_create(executor, number_of(executor, saved->number[i]))))
            return false;
        for (uint32_t j = 0; j < wmi_resident_members(*list); j++)
            wmi_resident_member(*list, j)->used = true;
    }
    return true;
}

static void restore_progress(struct wmi_executor *e, const struct saved_progress *p)
{
    struct wmi_dispatch *d = e->steps.dispatch;
    e->instructions = p->instructions;
    e->waves = p->waves;
    e->groups_started = p->groups_started;
    e->batch_next = p->batch_next;
    e->batch_end = p->batch_end;
    e->last_flat_id = p->last_flat_id;
    e->groups_done = p->groups_done;
    e->groups_since_poll = p->groups_since_poll;
    e->next_poll = p->next_poll;
    e->sweep_generation = p->sweep_generation;
    e->quiescent_generation = p->quiescent_generation;
    memcpy(e->last_id, p->last_id, sizeof e->last_id);
    e->progressed = p->progressed;
    e->checks = p->checks;
    e->only_loads = p->only_loads;
    e->steps.violation = p->violation;
    d->deal.shares->next = p->share;
    d->groups_done = p->done;
    d->generation = p->generation;
    d->quiescent = p->quiescent;
    d->resident_count = p->resident_count;
}

bool wmi_checkpoint_restore(struct wmi_executor *executor, const struct wm_checkpoint *checkpoint)
{
    if (!restore_list(executor, checkpoint->parked, &executor->parked) ||
        !restore_list(executor, checkpoint->swept, &executor->swept) ||
        !restore_numbers(executor, &checkpoint->unused, &executor->unused) ||
        !restore_numbers(executor, &checkpoint->spare, &executor->steps.dispatch->spare))
        return false;
    restore_progress(executor, &checkpoint->progress);
    struct wmi_dispatch *dispatch = executor->steps.dispatch;
    if (dispatch->gws)
        wmi_gws_restore(dispatch->gws, &checkpoint->gws);
    memcpy(dispatch->gws_waiting, checkpoint->gws_waiting, sizeof dispatch->gws_waiting);
    wmi_gds_destroy(dispatch->gds);
    dispatch->gds = checkpoint->gds ? wmi_gds_copy(checkpoint->gds) : NULL;
    return !checkpoint->gds == !dispatch->gds;
}

size_t wmi_checkpoint_bytes(const struct wm_checkpoint *checkpoint)
{
    return checkpoint->bytes;
}

void wmi_checkpoint_free(struct wm_checkpoint *checkpoint)
{
    if (!checkpoint)
        return;
    free_groups(checkpoint->parked);
    free_groups(checkpoint->swept);
    wmi_gds_destroy(checkpoint->gds);
    free(checkpoint->unused.number);
    free(checkpoint->spare.number);
    free(checkpoint);
}
