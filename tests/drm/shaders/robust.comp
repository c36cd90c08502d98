#version 450
// SPDX-License-Identifier: MIT
// Indices beyond the end of a.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
layout(push_constant) uniform Push { uint from; };
void main()
{
    uint i = gl_GlobalInvocationID.x;
    b[i] = a[from + i];
    b[64 + i] = a.length();
    if (i % 2 == 1)
        a[from + i] = 7;
}
