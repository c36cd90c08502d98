#version 450
// SPDX-License-Identifier: MIT
// Which workgroups of a box ran.
layout(local_size_x = 4, local_size_y = 2, local_size_z = 2) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(push_constant) uniform Push { uint wide, high; };
void main()
{
    uvec3 g = gl_GlobalInvocationID;
    atomicAdd(a[(g.z * high + g.y) * wide + g.x], 1 + g.x + 100 * g.y + 10000 * g.z);
}
