/* SPDX-License-Identifier: MIT */
/* One step of gravitation among n bodies (x, y, z, mass), all pairs, in tiles of bodies that pass through
 * LDS. */
#define GROUP 128

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void nbody(global const float4 *restrict position,
                                                                     global const float4 *restrict velocity,
                                                                     global float4 *restrict new_position,
                                                                     global float4 *restrict new_velocity,
                                                                     uint n, float softening, float step)
{
    local float4 tile[GROUP];
    const uint i = get_global_id(0), item = get_local_id(0);
    const float4 self = i < n ? position[i] : (float4)(0);
    float3 acceleration = (float3)(0);

    for (uint start = 0; start < n; start += GROUP) {
        tile[item] = start + item < n ? position[start + item] : (float4)(0); /* no mass, no pull */
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint j = 0; j < GROUP; j++) {
            const float3 to = tile[j].xyz - self.xyz;
            const float square = fma(to.x, to.x, fma(to.y, to.y, fma(to.z, to.z, softening)));
            const float inverse = rsqrt(square);
            acceleration = fma((float3)(tile[j].w * inverse * inverse * inverse), to, acceleration);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    if (i < n) {
        const float3 speed = fma(acceleration, (float3)(step), velocity[i].xyz);
        new_velocity[i] = (float4)(speed, 0);
        new_position[i] = (float4)(fma(speed, (float3)(step), self.xyz), self.w);
    }
}
