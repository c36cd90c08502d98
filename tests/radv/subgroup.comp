// Subgroup operations, in divergent control flow too; results depend on the size of a subgroup.
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_shuffle_relative : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_clustered : require
#extension GL_KHR_shader_subgroup_quad : require
layout(local_size_x = 128) in;
layout(set = 0, binding = 0) readonly buffer A { uint a[]; };
layout(set = 0, binding = 1) writeonly buffer B { uint b[][16]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uint x = a[i];
    uint lane = gl_SubgroupInvocationID;
    uvec4 odd = subgroupBallot((x & 1u) != 0u);
    b[i][0] = gl_SubgroupSize | gl_SubgroupID << 8 | lane << 16;
    b[i][1] = odd.x;
    b[i][2] = odd.y;
    b[i][3] = subgroupBallotExclusiveBitCount(odd);
    b[i][4] = subgroupExclusiveXor(x);
    b[i][5] = subgroupShuffleXor(x, 9u);
    b[i][6] = subgroupAdd(x);
    b[i][7] = subgroupInclusiveAdd(x);
    b[i][8] = subgroupExclusiveMax(x);
    b[i][9] = subgroupClusteredXor(x, 8u);
    b[i][10] = subgroupQuadSwapDiagonal(x);
    b[i][11] = subgroupBroadcastFirst(x);
    uint inside = 0u;
    if ((x & 2u) != 0u) // some lanes only
        inside = subgroupAdd(x) + (subgroupElect() ? 1u : 0u) + subgroupMin(x) * 2u;
    b[i][12] = inside;
    b[i][13] = subgroupAny(x == 77u) ? 1u : 0u;
    b[i][14] = subgroupBroadcast(x, 7u);
    b[i][15] = subgroupExclusiveAnd(x | 0xff00ff00u);
}
