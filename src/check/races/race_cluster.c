/* SPDX-License-Identifier: MIT */
#include "check/races/race_cluster.h"

#include "base/grid.h"

#include <stdlib.h>

struct signals {
    struct wmi_race_signal *one;
    uint32_t count, capacity;
};

struct wmi_race_cluster {
    struct wmi_race_cluster *next;
    uint64_t number;
    uint32_t workgroups;                              /* that have begun and not ended */
    uint32_t completed;                               /* how often the barrier was */
    struct signals coming, last;                      /* since then, and those that completed it */
    uint32_t waits[WMI_CLUSTER_MOST][WMI_RACE_WAVES]; /* of each wave, that have ended */
};

static struct wmi_race_cluster **find(struct wmi_race_clusters *clusters, uint64_t workgroup)
{
    struct wmi_race_cluster **at = &clusters->first;
    while (*at && (*at)->number != workgroup / clusters->size)
        at = &(*at)->next;
    return at;
}

static struct wmi_race_cluster *cluster_of(struct wmi_race_clusters *clusters,
                                           const struct wmi_race_order *order,
                                           const struct wmi_race_group *group)
{
    return clusters->size > 1 ? *find(clusters, wmi_race_past(order, group->tag)->number) : NULL;
}

static void free_cluster(struct wmi_race_cluster *cluster)
{
    free(cluster->coming.one);
    free(cluster->last.one);
    free(cluster);
}

bool wmi_race_cluster_enter(struct wmi_race_clusters *clusters, uint64_t number)
{
    if (clusters->size < 2)
        return true;
    struct wmi_race_cluster **at = find(clusters, number);
    if (!*at && !(*at = calloc(1, sizeof **at)))
        return false;
    (*at)->number = number / clusters->size;
    (*at)->workgroups++;
    return true;
}

void wmi_race_cluster_exit(struct wmi_race_clusters *clusters, uint64_t number)
{
    struct wmi_race_cluster **at = clusters->size > 1 ? find(clusters, number) : NULL, *cluster;
    if (!at || !(cluster = *at) || --cluster->workgroups)
        return;
    *at = cluster->next;
    free_cluster(cluster);
}

bool wmi_race_cluster_signal(struct wmi_race_clusters *clusters, struct wmi_race_order *order,
                             struct wmi_race_group *group, unsigned wave)
{
    struct wmi_race_cluster *cluster = cluster_of(clusters, order, group);
    if (!cluster)
        return true;
    struct signals *coming = &cluster->coming;
    if (coming->count == coming->capacity) {
        const uint32_t capacity = coming->capacity ? 2 * coming->capacity : WMI_CLUSTER_MOST;
        struct wmi_race_signal *more = realloc(coming->one, capacity * sizeof *more);
        if (!more)
            return false;
        coming->one = more;
        coming->capacity = capacity;
    }
    coming->one[coming->count++] = wmi_race_signal(order, group, wave);
    return true;
}

void wmi_race_cluster_wait(struct wmi_race_clusters *clusters, struct wmi_race_order *order,
                           struct wmi_race_group *group, unsigned wave)
{
    struct wmi_race_cluster *cluster = cluster_of(clusters, order, group);
    if (!cluster)
        return;
    const uint64_t number = wmi_race_past(order, group->tag)->number;
    uint32_t *waits = &cluster->waits[number % clusters->size][wave];
    if ((*waits)++ == cluster->completed) { /* the first wave that goes on */
        const struct signals before = cluster->last;
        cluster->last = cluster->coming;
        cluster->coming = before;
        cluster->coming.count = 0;
        cluster->completed++;
    }
    for (uint32_t i = 0; i < cluster->last.count; i++)
        wmi_race_learn_signal(order, group, wave, &cluster->last.one[i]);
}

void wmi_race_clusters_free(struct wmi_race_clusters *clusters)
{
    for (struct wmi_race_cluster *cluster = clusters->first, *next; cluster; cluster = next) {
        next = cluster->next;
        free_cluster(cluster);
    }
    clusters->first = NULL;
}
