#version 450
// SPDX-License-Identifier: MIT
// The barrier between the stores and the loads of shared memory is missing.
layout(local_size_x = 256) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
shared uint part[256];
void main()
{
    uint i = gl_LocalInvocationID.x;
    part[i] = a[gl_GlobalInvocationID.x];
    b[gl_GlobalInvocationID.x] = part[255 - i];
}
