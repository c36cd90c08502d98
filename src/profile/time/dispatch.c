/* SPDX-License-Identifier: MIT */
/* Predicts each dispatch when it ends, from what it added to the counts of the profile. */
#include "profile/time/dispatch.h"
#include "profile/inside.h"
#include "profile/parts.h"
#include "profile/slots.h"
#include "profile/time/predict.h"
#include "profile/time/timeline.h"

#include <stdlib.h>
#include <string.h>

void wmi_times_begin(struct wm_profile *profile)
{
    struct wmi_before *before = &profile->before;
    uint32_t slots = 0;
    const struct wmi_slot_use *uses = wmi_caches_uses(wmi_rounds_caches(profile->rounds), &slots);
    before->count = 0;
    if (before->capacity < profile->count) {
        struct wmi_before_slot *slot = realloc(before->slot, profile->capacity * sizeof *slot);
        profile->missed |= !slot;
        if (!slot)
            return;
        before->slot = slot;
        before->capacity = profile->capacity;
    }
    before->count = profile->count;
    for (size_t i = 0; i < before->count; i++) {
        struct wmi_before_slot *slot = &before->slot[i];
        const struct wmi_counts *counts = &profile->instructions[i].counts;
        *slot = (struct wmi_before_slot){.executions = counts->executions, .exposed = counts->exposed};
        memcpy(slot->sum, counts->sum, sizeof slot->sum);
        if (i < slots)
            slot->use = uses[i];
    }
}

/* What the dispatch added to an instruction. */
static struct wmi_time_access access_of(const struct wm_profile *profile, size_t at)
{
    static const enum wmi_sum busy[] = {WMI_SUM_ADDRESS_CLOCKS, WMI_SUM_DATA_CLOCKS, WMI_SUM_PREDICTED_TAGS,
                                        WMI_SUM_LDS_PASSES};
    static const struct wmi_before_slot none;
    const struct wmi_before_slot *before = at < profile->before.count ? &profile->before.slot[at] : &none;
    const struct wmi_counts *counts = &profile->instructions[at].counts;
    uint32_t slots = 0;
    const struct wmi_slot_use *uses = wmi_caches_uses(wmi_rounds_caches(profile->rounds), &slots);
    struct wmi_time_access access = {
        .path = counts->path,
        .kind = counts->kind,
        .executions = (double)(counts->executions - before->executions),
        .exposed = (double)(counts->exposed - before->exposed) / WMI_EXPOSED_ONE,
    };
    for (unsigned i = 0; i < sizeof busy / sizeof *busy; i++) {
        const double clocks = (double)(counts->sum[busy[i]] - before->sum[busy[i]]);
        access.clocks = clocks > access.clocks ? clocks : access.clocks;
    }
    for (unsigned level = 0; at < slots && level < WM_CACHE_LEVELS; level++) {
        const struct wm_cache_use *now = &uses[at].use[level], *then = &before->use.use[level];
        access.requests[level] = (double)(now->requests - then->requests);
        access.missed[level] = access.requests[level] - (double)(now->hits - then->hits);
    }
    for (uint32_t i = 0; i < counts->beside_count; i++) {
        const uint32_t slot = wmi_profile_slot(profile, counts->beside[i].pc, counts->beside[i].id);
        if (slot != WMI_NO_SLOT)
            access.beside[access.beside_count++] = slot;
    }
    if (at < slots)
        access.memory_read = (double)(uses[at].memory_read - before->use.memory_read);
    return access;
}

void wmi_times_end(struct wm_profile *profile, const struct wmi_kernel_profile *one,
                   const struct wm_profile_kernel *row, struct wmi_time_sum *sum)
{
    struct wmi_time_access *accesses = malloc((profile->count + 1) * sizeof *accesses);
    struct wmi_time_work work = {.gpu = &profile->gpu,
                                 .wave_lanes = one->wave_lanes,
                                 .workgroups = (double)one->workgroups,
                                 .waves = (double)one->waves,
                                 .resident = one->residence.groups,
                                 .units = one->residence.units,
                                 .scale = 1,
                                 .accesses = accesses};
    profile->missed |= !accesses;
    for (size_t i = 0; accesses && i < profile->count; i++)
        accesses[work.access_count++] = access_of(profile, i);
    for (unsigned i = 0; i < WMI_WORK_COUNTS; i++)
        work.work[i] = (double)one->work[i];
    for (uint32_t i = 0; i < row->bounds; i++)
        work.busy[wmi_part_of(&row->bound[i])] = row->bound[i].clocks;
    if (one->counted[WMI_SUM_TAG_CLOCKS]) /* stores take longer than the bound may say */
        work.busy[WMI_GPU_L1] *=
            (double)one->counted[WMI_SUM_PREDICTED_TAGS] / (double)one->counted[WMI_SUM_TAG_CLOCKS];
    for (unsigned kind = 0; kind < WMI_CACHE_KINDS; kind++)
        work.last_bytes += (double)WMI_LAST_BYTES * (double)one->sums.use[WM_CACHE_LAST][kind].requests;
    work.memory_written = (double)one->sums.memory_written;
    work.memory_bytes = (double)one->sums.memory_read + work.memory_written;
    if (profile->one_in > 1 && one->workgroups)
        work.scale = (double)profile->sampling.groups / (double)one->workgroups;
    const struct wmi_time time = wmi_time_of(&work);
    sum->clocks += time.clocks;
    sum->launch += time.launch;
    sum->waves += time.wave * work.waves;
    sum->together += time.together * work.waves;
    for (unsigned part = 0; part < WMI_TIME_PARTS; part++)
        sum->part[part] += time.part[part];
    if (profile->timelines)
        profile->missed |= !wmi_timelines_end(profile->timelines, profile, &work, &time);
    const double places = (double)profile->gpu.compute_units / work.units;
    work.split = places / (work.workgroups * work.scale);
    sum->filled += work.split > 1 ? wmi_time_of(&work).clocks : time.clocks;
    work.split = 1;
    work.resident *= 2;
    sum->doubled += wmi_time_of(&work).clocks;
    free(accesses);
}
