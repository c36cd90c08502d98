/* SPDX-License-Identifier: MIT */
/* Breadth-first search, a level per pair of dispatches: visits the neighbours of the front, then makes the next
 * front of those that were reached. */
__kernel void bfs_visit(__global const uint *first_edge, __global const uint *edge, __global uchar *front,
                        __global uchar *reached, __global const uchar *visited, __global uint *level, uint nodes)
{
    uint node = get_global_id(0);
    if (node >= nodes || !front[node])
        return;
    front[node] = 0;
    for (uint i = first_edge[node]; i < first_edge[node + 1]; i++) {
        uint next = edge[i];
        if (!visited[next]) {
            level[next] = level[node] + 1;
            reached[next] = 1;
        }
    }
}

__kernel void bfs_advance(__global uchar *front, __global uchar *reached, __global uchar *visited, uint nodes)
{
    uint node = get_global_id(0);
    if (node < nodes && reached[node]) {
        front[node] = 1;
        visited[node] = 1;
        reached[node] = 0;
    }
}
