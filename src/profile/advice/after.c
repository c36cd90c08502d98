/* SPDX-License-Identifier: MIT */
/* Predicts the time of a kernel after a change: from the clocks that are left of each part, and from what its
 * waves then issue and wait for. */
#include "profile/advice/after.h"
#include "profile/slots.h"

#include <stdlib.h>
#include <string.h>

/* ---- what waves wait for ---- */

static uint64_t greatest(const uint64_t *values, size_t count)
{
    uint64_t most = 0;
    for (size_t i = 0; i < count; i++)
        most = values[i] > most ? values[i] : most;
    return most;
}

/* The access of which the row has the sums. Latencies are exposed as often as it is executed. */
static void fill(struct wmi_time_access *access, const struct wmi_counts *counts,
                 const struct wm_profile_row *row)
{
    const uint64_t busy[] = {row->address_clocks, row->data_clocks, row->tag_clocks, row->lds_passes};
    const double exposed = (double)counts->exposed / WMI_EXPOSED_ONE;
    access->path = counts->path;
    access->kind = counts->kind;
    access->executions = (double)row->executions;
    access->exposed = counts->executions ? exposed * (double)row->executions / (double)counts->executions : 0;
    access->clocks = (double)greatest(busy, sizeof busy / sizeof *busy);
    for (unsigned level = 0; level < WM_CACHE_LEVELS; level++) {
        access->requests[level] = (double)row->cache[level].requests;
        access->missed[level] = access->requests[level] - (double)row->cache[level].hits;
    }
    access->memory_read = (double)row->memory_read;
}

/* Finds the rows of the accesses that the same waits cover. place: row + 1 by slot. */
static void link_beside(struct wmi_time_access *access, const struct wm_profile *profile,
                        const struct wmi_counts *counts, const uint32_t *place)
{
    for (uint32_t i = 0; i < counts->beside_count; i++) {
        const uint32_t slot = wmi_profile_slot(profile, counts->beside[i].pc, counts->beside[i].id);
        if (slot != WMI_NO_SLOT && place[slot])
            access->beside[access->beside_count++] = place[slot] - 1;
    }
}

static double last_requests(const struct wmi_after_accesses *accesses)
{
    double requests = 0;
    for (size_t i = 0; i < accesses->work.access_count; i++)
        requests += accesses->access[i].requests[WM_CACHE_LAST];
    return requests;
}

bool wmi_after_begin(struct wmi_after_accesses *accesses, const struct wm_profile *profile,
                     const struct wmi_binding *binding, const struct wm_profile_row *const *rows,
                     size_t count)
{
    struct wmi_time_access *access = calloc(count + 1, sizeof *access);
    uint32_t *place = calloc(profile->count + 1, sizeof *place);
    const bool good = access && place;
    *accesses = (struct wmi_after_accesses){
        .work = {.gpu = &profile->gpu,
                 .waves = (double)binding->kernel->waves,
                 .accesses = access,
                 .access_count = good ? count : 0},
        .access = access,
    };
    for (size_t i = 0; good && i < count; i++)
        place[wmi_profile_slot_of(profile, rows[i])] = (uint32_t)i + 1;
    for (size_t i = 0; good && i < count; i++) {
        const struct wmi_counts *counts =
            &profile->instructions[wmi_profile_slot_of(profile, rows[i])].counts;
        fill(&access[i], counts, rows[i]);
        link_beside(&access[i], profile, counts, place);
    }
    free(place);
    accesses->waits = wmi_time_waits(&accesses->work);
    accesses->last = last_requests(accesses);
    return good;
}

void wmi_after_end(struct wmi_after_accesses *accesses)
{
    free(accesses->access);
    *accesses = (struct wmi_after_accesses){0};
}

struct wmi_time_access wmi_after_change(struct wmi_after_accesses *accesses, size_t at,
                                        const struct wm_profile_row *row)
{
    struct wmi_time_access *access = &accesses->access[at];
    const struct wmi_time_access before = *access;
    const struct wmi_counts counts = {.path = before.path,
                                      .kind = before.kind,
                                      .executions = (uint64_t)before.executions,
                                      .exposed = (uint64_t)(before.exposed * WMI_EXPOSED_ONE)};
    fill(access, &counts, row);
    return before;
}

void wmi_after_save(const struct wmi_after_accesses *accesses, struct wmi_after *after)
{
    const double waits = wmi_time_waits(&accesses->work), last = last_requests(accesses);
    after->saved = waits < accesses->waits ? accesses->waits - waits : 0;
    after->last_saved = last < accesses->last ? 1 - last / accesses->last : 0;
}

/* ---- the predicted time ---- */

/* The share of the latency of waves that is left: they are in step at barriers while their busiest unit
 * works, and otherwise issue and wait. */
static double latency_left(const struct wmi_time_sum *time, const double now[WMI_GPU_PARTS],
                           const struct wmi_after *after)
{
    const double busy = wmi_time_together(now), then = wmi_time_together(after->clocks);
    double saved = after->saved;
    if (busy > 0 && then < busy)
        saved += time->together * (1 - then / busy);
    return time->waves > saved ? 1 - saved / time->waves : 0;
}

double wmi_after_predicted(const struct wmi_binding *binding, const double now[WMI_GPU_PARTS],
                           const struct wmi_after *after)
{
    const struct wm_predicted *predicted = &binding->row->predicted;
    const struct wmi_time_sum *time = &binding->kernel->time;
    double part[WMI_TIME_PARTS];
    if (after->predicted > 0)
        return after->predicted;
    memcpy(part, time->part, sizeof part);
    for (unsigned i = 0; i < WMI_GPU_PARTS; i++)
        if (now[i] > 0)
            part[i] *= after->clocks[i] / now[i];
    if (!(now[WMI_GPU_LAST] > 0)) /* the bound does not know its bandwidth, the prediction does */
        part[WMI_GPU_LAST] *= 1 - after->last_saved;
    part[WMI_TIME_LATENCY] *= latency_left(time, now, after);
    const double before = wmi_time_combine(time->part);
    return before > 0 ? predicted->launch +
                            (predicted->seconds - predicted->launch) * wmi_time_combine(part) / before
                      : 0;
}
