// 8-bit and 16-bit storage and arithmetic.
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer A { int8_t a[]; };
layout(set = 0, binding = 1) readonly buffer B { uint16_t b[]; };
layout(set = 0, binding = 2) writeonly buffer C { int8_t c[]; };
layout(set = 0, binding = 3) writeonly buffer D { uint16_t d[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    int8_t x = a[i];
    uint16_t y = b[i];
    c[i] = int8_t(x * 3s + int16_t(y));
    d[i] = y >> 3us;
}
