/* SPDX-License-Identifier: MIT */
/* The four points nearest to each query, by comparing with all of them; of equally near ones, the first. */
#define NEAREST 4

__kernel void knn(__global const float4 *points, __global const float4 *queries, __global int *index, int point_count,
                  int query_count)
{
    int query = get_global_id(0);
    if (query >= query_count)
        return;
    float distance[NEAREST];
    int nearest[NEAREST];
    for (int i = 0; i < NEAREST; i++) {
        distance[i] = FLT_MAX;
        nearest[i] = -1;
    }
    float4 q = queries[query];
    for (int i = 0; i < point_count; i++) {
        float4 d = points[i] - q;
        float d2 = d.x * d.x + d.y * d.y + d.z * d.z;
        if (d2 >= distance[NEAREST - 1])
            continue;
        int place = NEAREST - 1;
        while (place > 0 && d2 < distance[place - 1]) {
            distance[place] = distance[place - 1];
            nearest[place] = nearest[place - 1];
            place--;
        }
        distance[place] = d2;
        nearest[place] = i;
    }
    for (int i = 0; i < NEAREST; i++)
        index[query * NEAREST + i] = nearest[i];
}
