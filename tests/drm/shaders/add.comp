#version 450
// SPDX-License-Identifier: MIT
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
layout(push_constant) uniform Push { uint factor; };
void main() { uint i = gl_GlobalInvocationID.x; b[i] = a[i] * factor + i; }
