#version 450
// SPDX-License-Identifier: MIT
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(local_size_x = 64) in;
layout(buffer_reference, std430) buffer Words { uint word[]; };
layout(push_constant) uniform Push { uvec2 from, to; };
void main() { uint i = gl_GlobalInvocationID.x; Words(to).word[i] = Words(from).word[i] ^ 0x55aa55aau; }
