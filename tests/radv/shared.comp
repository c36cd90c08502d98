// Shared memory: vectors, bytes, doubles and atomics, and a transposition between waves.
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_atomic_int64 : require
layout(local_size_x = 16, local_size_y = 16) in;
layout(set = 0, binding = 0) readonly buffer A { uvec4 a[]; };
layout(set = 0, binding = 1) writeonly buffer B { uvec4 b[]; };
layout(set = 0, binding = 2) writeonly buffer C { uvec4 c[]; };
shared uvec4 tile[16][17];
shared uint8_t bytes[256];
shared uint counts[8];
shared uint64_t sums[3];

void main()
{
    uint x = gl_LocalInvocationID.x, y = gl_LocalInvocationID.y, local = gl_LocalInvocationIndex;
    uint first = gl_WorkGroupID.x * 256u;
    uvec4 value = a[first + local];
    tile[y][x] = value;
    bytes[local ^ 0x55u] = uint8_t(value.x);
    if (local < 8u)
        counts[local] = 0u;
    if (local < 3u)
        sums[local] = 0ul;
    barrier();
    atomicAdd(counts[value.y & 7u], 1u);
    atomicXor(counts[7u - (value.z & 7u)], value.w & 0xffff0000u);
    atomicAdd(sums[value.w % 3u], packUint2x32(value.xy));
    barrier();
    b[first + local] = tile[x][y];
    uvec2 sum = unpackUint2x32(sums[local % 3u]);
    c[first + local] = uvec4(uint(bytes[local]), counts[local & 7u], sum);
}
