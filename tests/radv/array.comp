// An array of each work-item that is indexed by data: it needs scratch memory.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer A { uint a[]; };
layout(set = 0, binding = 1) writeonly buffer B { uint b[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x, x = a[i];
    uint box[160];
    for (uint k = 0u; k < 160u; k++)
        box[k] = k * x;
    for (uint k = 0u; k < 40u; k++) {
        x = x * 1664525u + 1013904223u;
        box[x >> 8 & 127u] += box[x >> 20 & 127u] + i;
    }
    uint sum = 0u;
    for (uint k = 0u; k < 160u; k++)
        sum = sum * 31u + box[k];
    b[i] = sum;
}
