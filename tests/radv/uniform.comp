// A uniform buffer, push constants and a storage buffer whose length comes from its descriptor.
#version 450
layout(local_size_x = 32, local_size_y = 2) in;
layout(set = 0, binding = 0) uniform U { uvec4 table[16]; uint factor; };
layout(set = 0, binding = 1) buffer A { uint a[]; };
layout(push_constant) uniform P { uint seed, shift; ivec2 origin; };

void main()
{
    ivec2 at = ivec2(gl_GlobalInvocationID.xy) + origin;
    uint i = gl_GlobalInvocationID.y * 32u * gl_NumWorkGroups.x + gl_GlobalInvocationID.x;
    if (i >= uint(a.length()))
        return;
    uvec4 row = table[i % 16u];
    a[i] = row[gl_WorkGroupID.y & 3u] * factor + (seed << shift) + uint(at.x * 1000 + at.y);
}
