/* SPDX-License-Identifier: MIT */
/* The order in which the workgroups of a grid are dispatched: X fastest, then Y, then Z. Clusters are
 * dispatched one after another in this order, and so are the workgroups of each (the order of hardware is
 * unverified). */
#ifndef WMI_GRID_H
#define WMI_GRID_H

#include <stdint.h>

enum { WMI_CLUSTER_MOST = 16 }; /* workgroups of a cluster. Source: CDNA 5 ISA, "Workgroup Clusters" */

static inline void wmi_grid_split(const uint32_t size[3], uint64_t number, uint32_t place[3])
{
    place[0] = (uint32_t)(number % size[0]);
    place[1] = (uint32_t)(number / size[0] % size[1]);
    place[2] = (uint32_t)(number / size[0] / size[1]);
}

static inline uint64_t wmi_grid_join(const uint32_t size[3], const uint32_t place[3])
{
    return place[0] + (uint64_t)size[0] * (place[1] + (uint64_t)size[1] * place[2]);
}

static inline uint32_t wmi_grid_cluster(const uint32_t cluster[3])
{
    return cluster[0] * cluster[1] * cluster[2];
}

/* From the number of a workgroup to its place in the grid. groups: of the grid; cluster: workgroups of a
 * cluster, 1 in each dimension if there are none. */
static inline void wmi_grid_place(const uint32_t groups[3], const uint32_t cluster[3], uint64_t number,
                                  uint32_t id[3])
{
    const uint32_t size = wmi_grid_cluster(cluster);
    const uint32_t clusters[3] = {groups[0] / cluster[0], groups[1] / cluster[1], groups[2] / cluster[2]};
    uint32_t of[3], within[3];
    wmi_grid_split(clusters, number / size, of);
    wmi_grid_split(cluster, number % size, within);
    for (unsigned i = 0; i < 3; i++)
        id[i] = of[i] * cluster[i] + within[i];
}

/* And back. */
static inline uint64_t wmi_grid_number(const uint32_t groups[3], const uint32_t cluster[3],
                                       const uint32_t id[3])
{
    const uint32_t clusters[3] = {groups[0] / cluster[0], groups[1] / cluster[1], groups[2] / cluster[2]};
    uint32_t of[3], within[3];
    for (unsigned i = 0; i < 3; i++) {
        of[i] = id[i] / cluster[i];
        within[i] = id[i] % cluster[i];
    }
    return wmi_grid_join(clusters, of) * wmi_grid_cluster(cluster) + wmi_grid_join(cluster, within);
}

#endif
