// 16-bit floats, in pairs.
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer A { f16vec2 a[]; };
layout(set = 0, binding = 1) writeonly buffer B { f16vec2 b[]; };
layout(set = 0, binding = 2) writeonly buffer C { f16vec4 c[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    f16vec2 x = a[i];
    b[i] = x * f16vec2(2.0hf, -0.5hf) + f16vec2(1.0hf, 4.0hf);
    c[i] = f16vec4(floor(x.x), min(x.x, x.y), abs(x.y), float16_t(int(x.x) / 3));
}
