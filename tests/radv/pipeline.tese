// Weighs the three vertices of a patch.
#version 450
layout(triangles) in;
layout(location = 0) in vec4 colour[];
layout(location = 1) patch in vec4 tint;
layout(location = 0) out vec4 mixed;

void main()
{
    vec3 at = gl_TessCoord;
    gl_Position = at.x * gl_in[0].gl_Position + at.y * gl_in[1].gl_Position + at.z * gl_in[2].gl_Position;
    mixed = at.x * colour[0] + at.y * colour[1] + at.z * colour[2] + tint;
}
