#version 450
// SPDX-License-Identifier: MIT
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uvec4 b[]; };
void main()
{
    uint i = gl_GlobalInvocationID.x;
    b[i] = uvec4(subgroupAdd(a[i]), subgroupExclusiveAdd(a[i]), subgroupBallotBitCount(subgroupBallot((a[i] & 1) != 0)),
                 subgroupShuffleXor(a[i], 1) | subgroupShuffle(a[i], (gl_SubgroupInvocationID * 5 + 3) % gl_SubgroupSize) << 16);
}
