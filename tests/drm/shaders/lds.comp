#version 450
// SPDX-License-Identifier: MIT
// Sums of workgroups by a tree in shared memory, and of all by an atomic.
layout(local_size_x = 256) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint total; uint sums[]; };
shared uint part[256];
void main()
{
    uint i = gl_LocalInvocationID.x;
    part[i] = a[gl_GlobalInvocationID.x];
    for (uint step = 128; step > 0; step /= 2) {
        barrier();
        if (i < step)
            part[i] += part[i + step];
    }
    if (i == 0) {
        sums[gl_WorkGroupID.x] = part[0];
        atomicAdd(total, part[0]);
    }
}
