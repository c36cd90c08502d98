// SPDX-License-Identifier: MIT
// COMPILE: -O0
// Values of private memory that nobody wrote, and the same kernels with them written.

// RUN: variable -g 64 -b 64 --arg out=uninit:u32:64 --only uninit
kernel void variable(global uint *out)
{
    uint value;
    const size_t i = get_global_id(0);
    if (i < 32)
        value = i;
    out[i] = value; // FINDS: uninit-scratch
}

// RUN: variable_good -g 64 -b 64 --arg out=uninit:u32:64 --only uninit
kernel void variable_good(global uint *out)
{
    uint value = 0;
    const size_t i = get_global_id(0);
    if (i < 32)
        value = i;
    out[i] = value;
}

// RUN: condition -g 64 -b 64 --arg out=uninit:u32:64 --only uninit
kernel void condition(global uint *out)
{
    uint value;
    const size_t i = get_global_id(0);
    if (i < 32)
        value = i;
    if (value) // FINDS: uninit-scratch
        out[i] = 1;
}

// RUN: condition_good -g 64 -b 64 --arg out=uninit:u32:64 --only uninit
kernel void condition_good(global uint *out)
{
    uint value;
    const size_t i = get_global_id(0);
    if (i < 32) {
        value = i;
        if (value)
            out[i] = 1;
    }
}

// RUN: array -g 64 -b 64 --arg out=uninit:u32:64 --only uninit
kernel void array(global uint *out)
{
    uint values[16];
    for (uint k = 0; k < 15; k++)
        values[k] = k;
    out[get_global_id(0)] = values[get_global_id(0) & 15]; // FINDS: uninit-scratch
}

// RUN: array_good -g 64 -b 64 --arg out=uninit:u32:64 --only uninit
kernel void array_good(global uint *out)
{
    uint values[16];
    for (uint k = 0; k < 16; k++)
        values[k] = k;
    out[get_global_id(0)] = values[get_global_id(0) & 15];
}

// As C's bit fields.
// RUN: fields_good -g 64 -b 64 --arg out=uninit:u32:64 --only uninit
kernel void fields_good(global uint *out)
{
    uint value;
    value = (value & ~(127u << 3)) | 5u << 3;
    value = (value & ~7u) | 1;
    out[get_global_id(0)] = (value >> 3 & 127) + (value & 7);
}

// RUN: fields -g 64 -b 64 --arg out=uninit:u32:64 --only uninit
kernel void fields(global uint *out)
{
    uint value;
    value = (value & ~(127u << 3)) | 5u << 3; // FINDS: uninit-scratch
    out[get_global_id(0)] = (value >> 3 & 127) + (value & 7);
}

struct triple {
    uint first, second, third;
};

void take(struct triple given, global uint *out)
{
    struct triple other = given;
    *out = other.first + other.third;
}

// A struct of which a part has no value is copied, and handed to a function.
// RUN: copies_good -g 64 -b 64 --arg out=uninit:u32:64 --only uninit
kernel void copies_good(global uint *out)
{
    struct triple value, other;
    value.first = 1;
    value.third = 3;
    other = value;
    take(other, &out[get_global_id(0)]);
}
