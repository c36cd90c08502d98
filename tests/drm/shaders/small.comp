#version 450
// SPDX-License-Identifier: MIT
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { uint8_t a[]; };
layout(set = 0, binding = 1) buffer B { uint16_t b[]; };
void main() { uint i = gl_GlobalInvocationID.x; b[i] = uint16_t(uint(a[i]) * 257u); a[i] = uint8_t(uint(a[i]) + 1u); }
