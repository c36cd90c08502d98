// Texel buffers: typed loads and stores that convert by the format of the descriptor, and limits.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) uniform samplerBuffer colours;       // rgba8 unorm
layout(set = 0, binding = 1) uniform isamplerBuffer pairs;        // rg16 sint
layout(set = 0, binding = 2) uniform samplerBuffer halves;        // rgba16 float
layout(set = 0, binding = 3, r32ui) uniform writeonly uimageBuffer words;
layout(set = 0, binding = 4, rgba8) uniform writeonly imageBuffer stored;
layout(set = 0, binding = 5) writeonly buffer B { uvec4 b[]; };

void main()
{
    int i = int(gl_GlobalInvocationID.x);
    vec4 colour = texelFetch(colours, i);
    ivec2 pair = texelFetch(pairs, i).xy;
    vec4 half4 = texelFetch(halves, i); // the last workgroup is beyond the end
    imageStore(words, i, uvec4(uint(pair.x * pair.y)));
    imageStore(stored, i, vec4(colour.wzyx));
    b[i * 2] = floatBitsToUint(half4);
    b[i * 2 + 1] = uvec4(round(colour * 255.0));
}
