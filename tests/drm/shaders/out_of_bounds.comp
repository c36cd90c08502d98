#version 450
// SPDX-License-Identifier: MIT
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
// Far behind the end of the buffer, through its address.
layout(local_size_x = 64) in;
layout(buffer_reference, std430) buffer Words { uint word[]; };
layout(push_constant) uniform Push { uvec2 to; uint distance; };
void main() { uint i = gl_GlobalInvocationID.x; Words(to).word[i * distance] = i; }
