/* SPDX-License-Identifier: MIT */
/* k-means: assigns each point to the nearest centre. Features are stored one after the other, centres one after
 * the other. */
__kernel void kmeans_assign(__global const float *feature, __global const float *centre, __global int *membership,
                            int points, int centres, int features)
{
    int point = get_global_id(0);
    if (point >= points)
        return;
    int nearest = 0;
    float least = FLT_MAX;
    for (int i = 0; i < centres; i++) {
        float distance = 0;
        for (int j = 0; j < features; j++) {
            float d = feature[j * points + point] - centre[i * features + j];
            distance += d * d;
        }
        if (distance < least) {
            least = distance;
            nearest = i;
        }
    }
    membership[point] = nearest;
}
