// Floats: operations that are exact or correctly rounded; f32 denormals are flushed, f64 and f16 denormals are not.
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_float64 : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer A { vec4 a[]; };
layout(set = 0, binding = 1) writeonly buffer B { vec4 b[]; };
layout(set = 0, binding = 2) readonly buffer C { dvec2 c[]; };
layout(set = 0, binding = 3) writeonly buffer D { dvec2 d[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    vec4 x = a[i];
    precise vec4 y;
    y.x = x.x * x.y - x.z;
    y.y = (x.x + x.w) * x.z;
    y.z = floor(x.w) + fract(x.w) + min(x.x, x.y);
    y.w = float(int(x.x)) + uintBitsToFloat(packHalf2x16(x.zw));
    b[i] = y;
    precise dvec2 z = c[i] * c[i].yx + c[i];
    z.y = fma(c[i].x, c[i].y, floor(c[i].y));
    d[i] = z;
}
