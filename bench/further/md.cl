/* SPDX-License-Identifier: MIT */
/* Molecular dynamics: Lennard-Jones forces from lists of neighbours, of which entry j of all atoms are adjacent. */
__kernel void lennard_jones(__global const float4 *position, __global float4 *force, __global const int *neighbour,
                            int atoms, int neighbours, float cutoff2, float lj1, float lj2)
{
    const int i = get_global_id(0);
    if (i >= atoms)
        return;
    const float4 here = position[i];
    float4 sum = 0;
    for (int j = 0; j < neighbours; j++) {
        const float4 there = position[neighbour[j * atoms + i]];
        const float dx = here.x - there.x, dy = here.y - there.y, dz = here.z - there.z;
        const float r2 = dx * dx + dy * dy + dz * dz;
        if (r2 < cutoff2) {
            const float inverse = 1.0f / r2;
            const float r6 = inverse * inverse * inverse;
            const float f = inverse * r6 * (lj1 * r6 - lj2);
            sum.x += dx * f;
            sum.y += dy * f;
            sum.z += dz * f;
        }
    }
    force[i] = sum;
}
