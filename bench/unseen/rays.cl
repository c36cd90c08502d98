/* SPDX-License-Identifier: MIT */
/* Colours of what rays from the origin meet: the nearest of some spheres, lit by a lamp far away, or the sky. */
struct sphere {
    float4 place;  /* and radius */
    float4 colour;
};

__kernel void rays(__global const float4 *direction, __global float4 *colour, __constant struct sphere *spheres,
                   int count, int ray_count, float lamp_x, float lamp_y, float lamp_z)
{
    int ray = get_global_id(0);
    if (ray >= ray_count)
        return;
    float3 d = direction[ray].xyz, lamp = (float3)(lamp_x, lamp_y, lamp_z);
    float nearest = INFINITY;
    int hit = -1;
    for (int i = 0; i < count; i++) {
        float3 centre = spheres[i].place.xyz;
        float radius = spheres[i].place.w;
        float along = dot(d, centre);
        float square = along * along - dot(centre, centre) + radius * radius;
        if (square < 0)
            continue;
        float distance = along - sqrt(square);
        if (distance > 0 && distance < nearest) {
            nearest = distance;
            hit = i;
        }
    }
    if (hit < 0) {
        colour[ray] = mix((float4)(1.0f), (float4)(0.5f, 0.7f, 1.0f, 1.0f), 0.5f * (d.y + 1.0f));
        return;
    }
    float3 normal = (nearest * d - spheres[hit].place.xyz) / spheres[hit].place.w;
    colour[ray] = spheres[hit].colour * (0.2f + 0.8f * fmax(dot(normal, lamp), 0.0f));
}
