// Two vec4 per vertex of a buffer: position and colour.
#version 450
layout(set = 0, binding = 1) readonly buffer B { vec4 b[]; };
layout(location = 0) out vec4 colour;

void main()
{
    gl_Position = b[gl_VertexIndex * 2] * 2.0 + vec4(1.0, 2.0, 0.0, 0.0);
    colour = b[gl_VertexIndex * 2 + 1];
}
