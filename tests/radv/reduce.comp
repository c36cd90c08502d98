// Sums in shared memory with barriers; the workgroup has several waves.
#version 450
layout(local_size_x = 256) in;
layout(set = 0, binding = 0) readonly buffer A { uint a[]; };
layout(set = 0, binding = 1) writeonly buffer B { uvec2 b[]; };
shared uint sums[256];
shared uint largest;

void main()
{
    uint local = gl_LocalInvocationID.x;
    uint x = a[gl_GlobalInvocationID.x];
    if (local == 0u)
        largest = 0u;
    sums[local] = x;
    barrier();
    atomicMax(largest, x);
    for (uint step = 128u; step > 0u; step /= 2u) {
        if (local < step)
            sums[local] += sums[local + step];
        barrier();
    }
    if (local == 0u)
        b[gl_WorkGroupID.x] = uvec2(sums[0], largest);
}
