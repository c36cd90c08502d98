// Atomics of 32 and 64 bits, with and without a result.
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_atomic_int64 : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint count, low, high, bits[61]; uint64_t sum, tops[4]; };
layout(set = 0, binding = 2) writeonly buffer C { uint c[]; };
layout(set = 0, binding = 3) buffer D { uint d[]; };

void main()
{
    uint x = a[gl_GlobalInvocationID.x];
    atomicMin(low, x);
    atomicMax(high, x);
    atomicOr(bits[x % 61u], 1u << (x % 32u));
    atomicAdd(sum, uint64_t(x) << 20);
    uint64_t old = atomicMax(tops[x >> 4 & 3u], uint64_t(x) << 30);
    if ((x & 3u) != 0u && old < (1ul << 62)) {
        uint slot = atomicAdd(count, 1u); // compaction: the order is not determined
        c[slot] = x;
    }
    uint i = x & 15u, seen = d[i], expected;
    do { // d[i] = d[i] * 3 + 1 as often as x has the low bits i
        expected = seen;
        seen = atomicCompSwap(d[i], expected, expected * 3u + 1u);
    } while (seen != expected);
}
