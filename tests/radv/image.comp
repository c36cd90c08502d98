// Linear images: loads, stores and atomics, and reads outside, which return zero.
#version 450
#extension GL_EXT_samplerless_texture_functions : require
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0, r32ui) uniform uimage2D words;
layout(set = 0, binding = 1, rgba8) uniform writeonly image2D colours;
layout(set = 0, binding = 2) uniform utexture2D texels;
layout(set = 0, binding = 3) writeonly buffer B { uvec2 b[]; };

void main()
{
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    uint x = texelFetch(texels, at, 0).x;
    uint outside = imageLoad(words, at + ivec2(40, 32)).x; // the image is 64 wide
    b[at.y * 32 + at.x] = uvec2(x, outside);
    imageStore(colours, at, vec4(unpackUnorm4x8(x).wzyx));
    imageAtomicAdd(words, ivec2(at.x, 0), x & 0xffffu);
    imageStore(words, at + ivec2(0, 16), uvec4(uint(at.x * 100 + at.y)));
}
