// Divergent loops, switches and early returns; the work-item decides how long it runs.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer A { uint a[]; };
layout(set = 0, binding = 1) writeonly buffer B { uint b[]; };

uint collatz(uint x)
{
    uint steps = 0u;
    while (x != 1u) {
        if (steps > 200u)
            return 999u;
        x = (x & 1u) != 0u ? x * 3u + 1u : x / 2u;
        steps++;
        if (x == 40u)
            continue;
        if (x == 44u)
            break;
    }
    return steps;
}

void main()
{
    uint i = gl_GlobalInvocationID.x, x = a[i], result = 0u;
    switch (x % 5u) {
    case 0u:
        result = collatz(x % 1000u + 1u);
        break;
    case 1u:
        for (uint k = 0u; k < x % 17u; k++) {
            if (a[k] == x)
                break;
            result += a[k] / (x % 7u + 1u);
        }
        break;
    case 2u:
        result = 1u; // falls through
    case 3u:
        result += x % 1000003u;
        break;
    default:
        b[i] = 12345u;
        return;
    }
    b[i] = result;
}
