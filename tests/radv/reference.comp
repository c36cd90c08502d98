// Buffers that contain addresses of buffers.
#version 450
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 64) in;
layout(buffer_reference) buffer Node;
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer Node { Node next; uint value; uint weight; };
layout(buffer_reference, std430, buffer_reference_align = 4) writeonly buffer Out { uint value; };
layout(set = 0, binding = 0) readonly buffer A { Node heads[]; };
layout(push_constant) uniform P { Out result; uint limit; };

void main()
{
    uint i = gl_GlobalInvocationID.x, sum = 0u, length = 0u;
    for (Node node = heads[i]; uint64_t(node) != 0ul && length < limit; node = node.next) {
        sum += node.value * node.weight + length;
        length++;
    }
    result[i].value = sum;
}
