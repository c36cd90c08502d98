/* SPDX-License-Identifier: MIT */
/* Access patterns for checked.c. b has no values before the kernel. */
#define ID get_global_id(0)
#define KEEP __asm__ volatile("" ::: "memory") /* accesses before and behind it stay apart */
enum { TIMES = 16, WORDS = 1 << 22 /* of a */ };

#define LOAD(name, type, index)                                                                              \
    kernel void name(global const type *a, global type *b)                                                   \
    {                                                                                                        \
        type sum = 0;                                                                                        \
        for (uint r = 0; r < TIMES; r++)                                                                     \
            sum += a[(index) % (WORDS * 4 / sizeof(type))];                                                  \
        b[ID] = sum;                                                                                         \
    }

LOAD(dwords, uint, ID + 64 * r)
LOAD(bytes, uchar, ID + 64 * r)
LOAD(shorts, ushort, ID + 64 * r)
LOAD(reversed, uint, WORDS - 1 - ID - 64 * r)
LOAD(stride_8, uint, 2 * ID + 128 * r)
LOAD(stride_12, uint, 3 * ID + 192 * r)
LOAD(stride_16, uint, 4 * ID + 256 * r)
LOAD(stride_32, uint, 8 * ID + 512 * r)
LOAD(stride_64, uint, 16 * ID + 1024 * r)
LOAD(stride_128, uint, 32 * ID + 2048 * r)
LOAD(stride_256, uint, 64 * ID + 4096 * r)
LOAD(columns, uint, ID % 1024 * 1024 + ID / 1024 + r)
LOAD(scattered_dwords, uint, (ID + 997 * r) * 2654435761u >> 8)
LOAD(scattered_bytes, uchar, (ID + 997 * r) * 2654435761u >> 6)

kernel void three_bytes(global const uchar *a, global uchar *b)
{
    global const uchar *from = a + 3 * ID;
    global uchar *to = b + 3 * ID;
    uchar x = 0, y = 0, z = 0;
    for (uint r = 0; r < TIMES; r++) {
        x += from[192 * r];
        KEEP;
        y += from[192 * r + 1];
        KEEP;
        z += from[192 * r + 2];
    }
    to[0] = x;
    KEEP;
    to[1] = y;
    KEEP;
    to[2] = z;
}

kernel void three_bytes_stored(global const uchar *a, global uchar *b)
{
    for (uint r = 0; r < TIMES; r++) {
        global uchar *to = b + 3 * ID + 786432 * r;
        to[0] = to[1] = to[2] = r;
    }
}

kernel void four_bytes(global const uchar *a, global uchar *b)
{
    global const uchar *from = a + 4 * ID;
    global uchar *to = b + 4 * ID;
    uchar x = 0, y = 0, z = 0;
    for (uint r = 0; r < TIMES; r++) {
        x += from[256 * r];
        KEEP;
        y += from[256 * r + 1];
        KEEP;
        z += from[256 * r + 3];
    }
    to[0] = x;
    KEEP;
    to[1] = y;
    KEEP;
    to[2] = z;
}

kernel void three_shorts(global const ushort *a, global ushort *b)
{
    global const ushort *from = a + 3 * ID;
    global ushort *to = b + 3 * ID;
    ushort x = 0, y = 0, z = 0;
    for (uint r = 0; r < TIMES; r++) {
        x += from[192 * r];
        KEEP;
        y += from[192 * r + 1];
        KEEP;
        z += from[192 * r + 2];
    }
    to[0] = x;
    KEEP;
    to[1] = y;
    KEEP;
    to[2] = z;
}

kernel void misaligned(global const uchar *a, global uint *b)
{
    uint sum = 0;
    for (uint r = 0; r < TIMES; r++) {
        uint word;
        __builtin_memcpy(&word, a + 5 * ID + 320 * r + 1, 4);
        sum += word;
    }
    b[ID] = sum;
}

struct fields {
    uint of[16];
};

kernel void structs_of_64(global const struct fields *a, global struct fields *b)
{
    global const struct fields *from = a + ID;
    global struct fields *to = b + ID;
#pragma unroll
    for (uint i = 0; i < 16; i++) {
        to->of[i] = from->of[i];
        KEEP;
    }
}

kernel void structs_of_64_updated(global struct fields *a, global struct fields *b)
{
    global struct fields *at = a + ID;
    for (uint r = 0; r < 2; r++)
#pragma unroll
        for (uint i = 0; i < 16; i++) {
            at->of[i] += i;
            KEEP;
        }
}

kernel void structs_of_64_in_loops(global const struct fields *a, global struct fields *b)
{
    global const struct fields *from = a + ID;
    global struct fields *to = b + ID;
#pragma unroll 1
    for (uint i = 0; i < 16; i++)
        to->of[i] = from->of[i];
}

struct vector {
    uint x, y, z;
};

kernel void structs_of_12(global const struct vector *a, global struct vector *b)
{
    global const struct vector *from = a + ID;
    global struct vector *to = b + ID;
    struct vector sum = {0};
    for (uint r = 0; r < TIMES; r++) {
        sum.x += from[64 * r].x;
        KEEP;
        sum.y += from[64 * r].y;
        KEEP;
        sum.z += from[64 * r].z;
    }
    to->x = sum.x;
    KEEP;
    to->y = sum.y;
    KEEP;
    to->z = sum.z;
}

kernel void three_dwords(global const struct vector *a, global struct vector *b)
{
    struct vector sum = {0};
    for (uint r = 0; r < TIMES; r++) {
        const struct vector one = a[ID + 64 * r];
        sum.x += one.x;
        sum.y += one.y;
        sum.z += one.z;
    }
    b[ID] = sum;
}

kernel void some_lanes(global const uint *a, global uint *b)
{
    uint sum = 0;
    if (get_local_id(0) % 3 != 1)
        return;
    for (uint r = 0; r < TIMES; r++)
        sum += a[ID + 64 * r];
    b[ID] = sum;
}

kernel void same_address(global const uint *a, global uint *b)
{
    uint sum = 0;
    for (uint r = 0; r < TIMES; r++)
        sum += a[r + (ID >> 30)];
    b[ID] = sum;
}

kernel void volatile_dwords(global const uint *a, global uint *b)
{
    uint sum = 0;
    for (uint r = 0; r < TIMES; r++)
        sum += ((volatile global const uint *)a)[ID + 64 * r];
    b[ID] = sum;
}

kernel void transposed(global const uint *a, global uint *b)
{
    for (uint r = 0; r < 4; r++)
        b[ID % 1024 * 1024 + ID / 1024 * 4 + r] = a[(ID / 1024 * 4 + r) * 1024 + ID % 1024];
}

kernel void stored_64_apart(global const uint *a, global uint *b)
{
    for (uint r = 0; r < TIMES; r++) {
        b[16 * ID + r] = r;
        KEEP;
    }
}

kernel void stored_scattered(global const uint *a, global uint *b)
{
    for (uint r = 0; r < TIMES; r++)
        b[(ID * TIMES + r) * 2654435761u % WORDS] = r;
}

kernel void atomics(global uint *a, global uint *b)
{
    for (uint r = 0; r < TIMES; r++)
        atomic_add(&a[(7 * ID + 13 * r) % 4096], 1);
}

kernel void atomics_on_one(global uint *a, global uint *b)
{
    for (uint r = 0; r < TIMES; r++)
        atomic_add(&a[r], ID);
}

kernel void lds_dwords(global const uint *a, global uint *b)
{
    local volatile uint tile[256];
    uint sum = 0;
    tile[get_local_id(0)] = ID;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint r = 0; r < TIMES; r++)
        sum += tile[(get_local_id(0) + r) % 256];
    b[ID] = sum;
}

kernel void lds_stride_64(global const uint *a, global uint *b)
{
    local volatile uint tile[4096];
    uint sum = 0;
    for (uint r = 0; r < TIMES; r++)
        tile[16 * get_local_id(0) + r] = r;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint r = 0; r < TIMES; r++)
        sum += tile[16 * get_local_id(0) + r];
    b[ID] = sum;
}

kernel void lds_bytes(global const uint *a, global uint *b)
{
    local volatile uchar tile[1024];
    uint sum = 0;
    for (uint r = 0; r < 3; r++)
        tile[3 * get_local_id(0) + r] = r;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint r = 0; r < TIMES; r++)
        sum += tile[(3 * get_local_id(0) + r) % 768];
    b[ID] = sum;
}

kernel void lds_shorts(global const uint *a, global uint *b)
{
    local volatile ushort tile[256];
    uint sum = 0;
    tile[get_local_id(0)] = ID;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint r = 0; r < TIMES; r++)
        sum += tile[(get_local_id(0) + r) % 256];
    b[ID] = sum;
}

kernel void lds_atomics(global const uint *a, global uint *b)
{
    local uint tile[256];
    tile[get_local_id(0)] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint r = 0; r < TIMES; r++)
        atomic_inc(&tile[(get_local_id(0) * 5 + r) % 64]);
    barrier(CLK_LOCAL_MEM_FENCE);
    b[ID] = tile[get_local_id(0)];
}

kernel void private_arrays(global const uint *a, global uint *b)
{
    volatile uint own[16];
    uint sum = 0;
    for (uint r = 0; r < TIMES; r++)
        own[r] = r + ID;
    for (uint r = 0; r < TIMES; r++)
        sum += own[r * 7 % 16];
    b[ID] = sum;
}
