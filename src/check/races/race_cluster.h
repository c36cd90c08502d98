/* SPDX-License-Identifier: MIT */
/* What the barrier of a cluster orders between its workgroups. Its signals release what the wave knows, as a
 * store to a flag does, and those who have waited have seen them. Within a cluster, a release need not write
 * caches back, and an acquire must invalidate those of the compute unit only (LLVM, SIMemoryLegalizer for
 * gfx12.5: scope SE). */
#ifndef WMI_RACE_CLUSTER_H
#define WMI_RACE_CLUSTER_H

#include "check/races/race_order.h"

/* The barriers of the clusters that run; all zero: none. */
struct wmi_race_clusters {
    struct wmi_race_cluster *first;
    uint32_t size; /* workgroups of a cluster */
};

/* Called when a workgroup begins and ends. number: of the workgroup. False: no memory. */
bool wmi_race_cluster_enter(struct wmi_race_clusters *clusters, uint64_t number);
void wmi_race_cluster_exit(struct wmi_race_clusters *clusters, uint64_t number);
/* Called when the wave signals the barrier of its cluster, and when it has waited for it. False: no memory.
 */
bool wmi_race_cluster_signal(struct wmi_race_clusters *clusters, struct wmi_race_order *order,
                             struct wmi_race_group *group, unsigned wave);
void wmi_race_cluster_wait(struct wmi_race_clusters *clusters, struct wmi_race_order *order,
                           struct wmi_race_group *group, unsigned wave);
void wmi_race_clusters_free(struct wmi_race_clusters *clusters);

#endif
