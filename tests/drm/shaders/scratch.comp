#version 450
// SPDX-License-Identifier: MIT
// An array that the compiler cannot keep in registers.
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint length = 4;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
void main()
{
    uint own[256], i = gl_GlobalInvocationID.x, sum = 0;
    for (uint k = 0; k < length; k++)
        own[(k * 7 + a[i]) % length] = k * i;
    for (uint k = 0; k < length; k++)
        sum = sum * 3 + own[(k + a[i + k % 5]) % length];
    b[i] = sum;
}
