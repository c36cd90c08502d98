#version 450
// SPDX-License-Identifier: MIT
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_atomic_int64 : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { double a[]; };
layout(set = 0, binding = 1) buffer B { double b[]; };
layout(set = 0, binding = 2) buffer C { uint64_t sum, most; };
void main()
{
    uint i = gl_GlobalInvocationID.x;
    b[i] = a[i] * a[i] + sqrt(a[i]) / 3.0lf;
    atomicAdd(sum, uint64_t(i) << 33);
    atomicMax(most, uint64_t(i) * 1000000007ul);
}
