// SPDX-License-Identifier: MIT
// Private and local arrays, structs by value, tables, vectors of odd sizes and pointers of every address space.

constant uint table[16] = {7, 3, 11, 2, 29, 31, 5, 1, 23, 19, 13, 17, 37, 41, 43, 47};
constant ushort squares[8] = {0, 1, 4, 9, 16, 25, 36, 49};

// Private arrays in scratch, with an index that varies by lane. With all 64 rounds in one block, LLVM's
// scheduler takes 10 seconds.
#define PRIVATE(T) \
    kernel void private_##T(global const T *a, global T *out) \
    { \
        const size_t i = get_global_id(0); \
        T x[32]; \
        for (int j = 0; j < 32; j++) \
            x[j] = a[i * 8 + j]; \
        _Pragma("unroll 8") for (int j = 0; j < 64; j++) { \
            const uint from = (uint)(i * 7 + j * j) % 32, to = (uint)(i + j * 5) % 32; \
            x[to] = x[to] * (T)3 + x[from]; \
        } \
        for (int j = 0; j < 8; j++) \
            out[i * 8 + j] = x[(j * 5 + i) % 32]; \
    }
PRIVATE(char)
PRIVATE(ushort)
PRIVATE(half)
PRIVATE(int)
PRIVATE(float)
PRIVATE(long)
PRIVATE(double)
PRIVATE(int4)
PRIVATE(ushort2)

// A few elements stay in registers, selected by comparisons or an index register.
kernel void small_array(global const int *a, global int *out)
{
    const size_t i = get_global_id(0);
    int x[8];
    for (int j = 0; j < 8; j++)
        x[j] = a[i + j];
    int sum = 0;
    for (int j = 0; j < 8; j++)
        sum = sum * 3 + x[(a[i] + j) & 7];
    out[i] = sum;
}

kernel void vector_elements(global const float8 *a, global const uint *which, global float8 *out)
{
    const size_t i = get_global_id(0);
    float8 v = a[i];
    v[which[i] & 7] = 5.0f;
    out[2 * i] = v;
    out[2 * i + 1] = (float8)(v[which[i] >> 3 & 7]) + v.s76543210;
}

// A uniform index, in a scalar register.
kernel void uniform_index(global const int *a, global int *out, global const uint *in)
{
    const size_t i = get_global_id(0);
    int x[16];
    for (int j = 0; j < 16; j++)
        x[j] = a[i + j * 2];
    const uint k = in[get_group_id(0)] & 15;
    x[k] += 1000;
    out[i] = x[(k + 3) & 15] - x[k];
}

// Sorts in scratch: loads and stores that depend on each other.
kernel void insertion_sort(global const int *a, global int *out)
{
    const size_t i = get_global_id(0);
    int x[24];
    for (int j = 0; j < 24; j++)
        x[j] = a[i * 4 + j];
    for (int j = 1; j < 24; j++) {
        const int v = x[j];
        int k = j;
        for (; k > 0 && x[k - 1] > v; k--)
            x[k] = x[k - 1];
        x[k] = v;
    }
    for (int j = 0; j < 24; j++)
        out[i * 24 + j] = x[j];
}

struct particle {
    float3 place, speed;
    uchar kind;
    short charge;
    double mass;
};

__attribute__((noinline)) struct particle move(struct particle p, float by)
{
    p.place += p.speed * by;
    p.kind ^= 5;
    p.charge = (short)(p.charge * 3);
    p.mass *= 0.5;
    return p;
}

kernel void structs(global const float *a, global float *out)
{
    const size_t i = get_global_id(0);
    struct particle p = {{a[i], a[i + 1], a[i + 2]}, {a[i + 3], a[i + 4], a[i + 5]}, (uchar)i, (short)(i * 77), a[i + 6]};
    for (int j = 0; j < 3; j++)
        p = move(p, a[i + j]);
    global float *o = out + 8 * i;
    o[0] = p.place.x;
    o[1] = p.place.y;
    o[2] = p.place.z;
    o[3] = p.kind;
    o[4] = p.charge;
    o[5] = (float)p.mass;
}

struct parameters {
    uchar bytes[6];
    ushort word;
    uint number[2];
    ulong wide[2];
    float unused[2];
};

kernel void struct_argument(struct parameters p, global ulong *out)
{
    const size_t i = get_global_id(0);
    out[i] = p.bytes[i % 6] + p.word * 3 + p.number[i & 1] * 5 + p.wide[i >> 1 & 1] * 7;
}

kernel void tables(global const uint *a, global uint *out)
{
    const size_t i = get_global_id(0);
    out[2 * i] = table[a[i] & 15] + table[i & 15];
    out[2 * i + 1] = squares[a[i] >> 4 & 7] * squares[get_group_id(0) & 7];
}

// Each address space through generic pointers.
__attribute__((noinline)) uint sum_of(const uint *p, uint n)
{
    uint sum = 0;
    for (uint i = 0; i < n; i++)
        sum = sum * 5 + p[i];
    return sum;
}

kernel __attribute__((reqd_work_group_size(64, 1, 1))) void generic_pointers(global const uint *a, global uint *out)
{
    local uint shared[64];
    const size_t i = get_global_id(0), l = get_local_id(0);
    uint own[4];
    for (int j = 0; j < 4; j++)
        own[j] = a[i + j] ^ (uint)l;
    shared[l] = a[i] * 3;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint *p = l % 3 == 0 ? (uint *)own : l % 3 == 1 ? (uint *)(shared + (l & ~3u)) : (uint *)(out + 4 * i);
    if (l % 3 == 2)
        for (int j = 0; j < 4; j++)
            p[j] = a[i + j] + 9;
    const uint sum = sum_of(p, 4);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (l % 3 != 1)
        *p += 1;
    out[4 * i + 3] = sum + *p;
}

kernel __attribute__((reqd_work_group_size(128, 1, 1))) void local_memory(global const uchar *a, global uint *out,
                                                                      local uint *given, local ushort *also)
{
    local uchar bytes[128];
    local double wide[128];
    const size_t i = get_global_id(0), l = get_local_id(0);
    bytes[l] = a[i];
    wide[127 - l] = a[i] * 0.25;
    given[l] = a[i] * 0x01010101u;
    also[l] = a[i] * 257;
    barrier(CLK_LOCAL_MEM_FENCE);
    const size_t other = (l * 37 + 5) % 128;
    const uint4 quad = vload4(other / 4, given);
    out[4 * i] = bytes[other] + (uint)(wide[other] * 4);
    out[4 * i + 1] = given[other] ^ also[127 - other];
    out[4 * i + 2] = quad.x + quad.y * 3 + quad.z * 5 + quad.w * 7;
    out[4 * i + 3] = as_uint(vload2(other / 2, also)) + bytes[(other + 1) & 127];
}

#define WIDTHS(T) \
    kernel void widths_##T(global const T *a, global T *out) \
    { \
        const size_t i = get_global_id(0); \
        vstore2(vload2(i, a) + (T)1, 8 * i, out); \
        vstore3(vload3(i, a + 1), i * 16 / 3 + 1, out); \
        vstore4(vload4(i, a + 3), 4 * i + 2, out); \
        out[16 * i + 14] = a[3 * i]; \
    }
WIDTHS(char)
WIDTHS(ushort)
WIDTHS(half)
WIDTHS(uint)
WIDTHS(double)

kernel void wide_vectors(global const int16 *a, global const double8 *b, global int16 *out, global double8 *wide)
{
    const size_t i = get_global_id(0);
    out[i] = a[i].sfedcba9876543210 + a[i + 1];
    wide[i] = b[i].s10325476 * 3.0 - b[i + 1];
}

kernel void shuffles(global const int4 *a, global const uint4 *mask, global const uchar16 *bytes, global int4 *out,
                     global uchar16 *mixed)
{
    const size_t i = get_global_id(0);
    out[2 * i] = shuffle(a[i], mask[i]);
    out[2 * i + 1] = shuffle2(a[i], a[i + 1], mask[i]);
    mixed[2 * i] = shuffle(bytes[i], bytes[i + 1]);
    mixed[2 * i + 1] = select(bytes[i], bytes[i + 2], as_char16(bytes[i + 3]));
}

kernel __attribute__((reqd_work_group_size(64, 1, 1))) void async_copies(global const float *a, global float *out)
{
    local float tile[200];
    event_t e = async_work_group_copy(tile, a + get_group_id(0) * 150, 200, 0);
    wait_group_events(1, &e);
    const size_t l = get_local_id(0);
    out[get_global_id(0)] = tile[l] + tile[199 - l];
    barrier(CLK_LOCAL_MEM_FENCE);
    e = async_work_group_copy(out + 2000 + get_group_id(0) * 200, tile, 200, 0);
    wait_group_events(1, &e);
}
