#version 450
// SPDX-License-Identifier: MIT
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1, rgba8ui) uniform uimage2D image;
layout(push_constant) uniform Push { uint loads; };
void main()
{
    ivec2 at = ivec2(gl_GlobalInvocationID.xy), size = imageSize(image);
    if (any(greaterThanEqual(at, size)))
        return;
    if (loads != 0) {
        uvec4 v = imageLoad(image, size - 1 - at);
        a[at.y * size.x + at.x] = v.x | v.y << 8 | v.z << 16 | v.w << 24;
    } else {
        uint v = a[at.y * size.x + at.x];
        imageStore(image, at, uvec4(v, v >> 8, v >> 16, v >> 24) & 255u);
    }
}
