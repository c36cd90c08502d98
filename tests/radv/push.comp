// Push constants that are indexed, so that the driver puts them into memory.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) writeonly buffer A { uint a[]; };
layout(push_constant) uniform P { uint first; uint table[24]; };

void main()
{
    uint i = gl_GlobalInvocationID.x, group = gl_WorkGroupID.x;
    a[i] = (table[group * 7u % 24u] << 8 ^ table[group] ^ first) + i;
}
