// Attributes from a vertex buffer.
#version 450
layout(location = 0) in vec4 position;
layout(location = 1) in vec4 vertex_colour;
layout(location = 0) out vec4 colour;

void main()
{
    gl_Position = position * 2.0 + vec4(1.0, 2.0, 0.0, 0.0);
    colour = vertex_colour;
}
