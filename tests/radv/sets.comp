// Two sets with arrays of buffers, indexed by the workgroup and by the work-item.
#version 450
#extension GL_EXT_nonuniform_qualifier : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) writeonly buffer Out { uint value[]; } result;
layout(set = 0, binding = 3) readonly buffer In { uint value[]; } inputs[4];
layout(set = 2, binding = 1) readonly buffer More { uvec2 value[]; } more[5];

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uint by_group = inputs[gl_WorkGroupID.x % 4u].value[i];
    uvec2 by_item = more[nonuniformEXT(i % 5u)].value[i];
    result.value[i] = by_group + by_item.x * 5u + (by_item.y ^ i);
}
