// A texture where the interpolated colour says.
#version 450
layout(set = 0, binding = 0) uniform sampler s;
layout(set = 0, binding = 1) uniform texture2D t;
layout(location = 0) in vec4 colour;
layout(location = 0) out vec4 result;

void main()
{
    result = texture(sampler2D(t, s), colour.xy * 0.0625) * 2.0 + colour;
}
