/* SPDX-License-Identifier: MIT */
/* All shortest paths (Floyd and Warshall): lets paths go through node k. */
__kernel void floyd(__global int *distance, int n, int k)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= n || y >= n)
        return;
    int through = distance[y * n + k] + distance[k * n + x];
    if (through < distance[y * n + x])
        distance[y * n + x] = through;
}
