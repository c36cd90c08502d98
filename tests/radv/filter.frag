// A texture with levels, filtered by the derivatives of the interpolated coordinates, and the samples of another one.
#version 450
#extension GL_EXT_samplerless_texture_functions : require
layout(set = 0, binding = 0) uniform sampler s;
layout(set = 0, binding = 1) uniform texture2D t;
layout(set = 0, binding = 2) uniform texture2DMS samples;
layout(location = 0) in vec4 colour;
layout(location = 0) out vec4 result;

void main()
{
    ivec2 at = ivec2(colour.zw);
    result.x = texture(sampler2D(t, s), colour.xy).x;
    result.y = texelFetch(samples, at, 0).x;
    result.z = texelFetch(samples, at, 1).x + 2.0 * texelFetch(samples, at, 2).x;
    result.w = texelFetch(samples, at, 3).x;
}
