// Three dimensions: workgroup ids, numbers of workgroups, ids and index in the workgroup.
#version 450
layout(local_size_x = 4, local_size_y = 6, local_size_z = 5) in;
layout(set = 0, binding = 0) writeonly buffer A { uvec4 a[]; };

void main()
{
    uvec3 size = gl_NumWorkGroups * gl_WorkGroupSize, at = gl_GlobalInvocationID;
    uint i = (at.z * size.y + at.y) * size.x + at.x;
    a[i * 2u] = uvec4(gl_WorkGroupID, gl_LocalInvocationIndex);
    a[i * 2u + 1u] = uvec4(gl_LocalInvocationID, gl_NumWorkGroups.x * 100u + gl_NumWorkGroups.y * 10u + gl_NumWorkGroups.z);
}
