// Lanes that read any other lane, also one that is not active in the other half of the wave.
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_shuffle_relative : require
layout(local_size_x = 128) in;
layout(set = 0, binding = 0) readonly buffer A { uint a[]; };
layout(set = 0, binding = 1) writeonly buffer B { uvec4 b[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x, lane = gl_SubgroupInvocationID, size = gl_SubgroupSize;
    uint x = a[i];
    uint some = 0u;
    uint by_index = subgroupShuffle(x, (lane * 5u + 3u) % size);
    uint mirrored = subgroupShuffle(by_index, size - 1u - lane);
    uint down = subgroupShuffleDown(x, lane % 2u == 0u ? 1u : 0u);
    if ((lane & 1u) != 0u) // odd lanes only
        some = subgroupShuffle(x + by_index, (lane * 7u & ~1u | 1u) % size);
    b[i] = uvec4(by_index, mirrored, down, some);
}
