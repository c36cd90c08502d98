// Each vertex takes the colour of the next one; a value per patch.
#version 450
layout(vertices = 3) out;
layout(location = 0) in vec4 colour[];
layout(location = 0) out vec4 next_colour[];
layout(location = 1) patch out vec4 tint;

void main()
{
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    next_colour[gl_InvocationID] = colour[gl_InvocationID == 2 ? 0 : gl_InvocationID + 1];
    if (gl_InvocationID == 0) {
        tint = gl_in[0].gl_Position + gl_in[1].gl_Position;
        gl_TessLevelOuter[0] = gl_in[0].gl_Position.x;
        gl_TessLevelOuter[1] = gl_in[1].gl_Position.x;
        gl_TessLevelOuter[2] = gl_in[2].gl_Position.x;
        gl_TessLevelInner[0] = gl_in[0].gl_Position.y;
    }
}
