// Vectors of 16-bit integers: operations on either half of a register.
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer A { i16vec4 a[]; };
layout(set = 0, binding = 1) writeonly buffer B { i16vec4 b[]; };
layout(set = 0, binding = 2) writeonly buffer C { i16vec3 c[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    i16vec4 x = a[i];
    b[i] = i16vec4(x.x + x.y, int16_t(uint16_t(x.z) >> 3us), max(x.y, x.w), x.z * x.w);
    c[i] = i16vec3(x.w >> 2s, min(x.x, x.z), int16_t(max(uint16_t(x.x), uint16_t(x.y)) << 1us));
}
