// SPDX-License-Identifier: MIT
// Instructions available through clang's builtins and AMD's media functions: lane movements and byte
// arithmetic, with their definitions for the host reference. Sources: "Vega" ISA, sections 3.7 and 12; the
// extensions cl_amd_media_ops and cl_amd_media_ops2.

#ifdef JUDGE
// The lane that each control reads; -1: none, the result is `old`, or 0 with bound_ctrl.
static int dpp_source(int control, int lane)
{
    const int row = lane & ~15, in_row = lane & 15;
    if (control < 0x100)
        return (lane & ~3) + (control >> 2 * (lane & 3) & 3);
    if (control < 0x110)
        return in_row + (control & 15) < 16 ? lane + (control & 15) : -1;
    if (control < 0x120)
        return in_row >= (control & 15) ? lane - (control & 15) : -1;
    if (control < 0x130)
        return row + ((in_row - (control & 15)) & 15);
    switch (control) {
    case 0x130:
        return lane < 63 ? lane + 1 : -1;
    case 0x134:
        return (lane + 1) & 63;
    case 0x138:
        return lane - 1;
    case 0x13c:
        return (lane - 1) & 63;
    case 0x140:
        return row + 15 - in_row;
    case 0x141:
        return (lane & ~7) + 7 - (lane & 7);
    case 0x142:
        return row >= 16 ? row - 1 : -1;
    default:
        return lane >= 32 ? 31 : -1;
    }
}
#define DPP(OLD, X, CONTROL, ROWS, BANKS, BOUND) dpp(OLD, X, CONTROL, ROWS, BANKS, BOUND)
static int dpp(int old, int x, int control, int rows, int banks, bool bound)
{
    const int lane = (int)get_sub_group_local_id(), from = dpp_source(control, lane);
    const int got = sub_group_shuffle(x, (uint)(from < 0 ? 0 : from));
    if (!(rows >> lane / 16 & 1) || !(banks >> (lane & 15) / 4 & 1))
        return old;
    return from >= 0 ? got : bound ? 0 : old;
}
static int swizzle(int x, int pattern)
{
    const int lane = (int)get_sub_group_local_id();
    const int from = pattern & 0x8000 ? (lane & ~3) + (pattern >> 2 * (lane & 3) & 3)
                                      : (lane & 32) + (((lane & pattern & 31) | (pattern >> 5 & 31)) ^ (pattern >> 10 & 31));
    return sub_group_shuffle(x, (uint)from);
}
#define SWIZZLE(X, PATTERN) swizzle(X, PATTERN)
static int read_first(int x) { return sub_group_shuffle(x, 0); }
static int read_lane(int x, int lane) { return sub_group_shuffle(x, (uint)lane); }
static uint permute_bytes(uint a, uint b, uint s)
{
    uint r = 0;
    for (int i = 0; i < 4; i++) {
        const uint by = s >> 8 * i & 255;
        const ulong both = (ulong)a << 32 | b;
        const uint v = by < 8 ? both >> 8 * by & 255 : by < 12 ? (both >> (16 * (by - 8) + 15) & 1 ? 255 : 0) : by == 12 ? 0 : 255;
        r |= v << 8 * i;
    }
    return r;
}
static uint amd_bitalign(uint a, uint b, uint c) { return (uint)(((ulong)a << 32 | b) >> (c & 31)); }
static uint amd_bytealign(uint a, uint b, uint c) { return (uint)(((ulong)a << 32 | b) >> 8 * (c & 3)); }
#define BYTES(EXPRESSION) \
    uint r = 0; \
    for (int i = 0; i < 4; i++) { \
        const int x = a >> 8 * i & 255, y = b >> 8 * i & 255, z = c >> 8 * i & 255; \
        EXPRESSION; \
    } \
    return r
static uint amd_lerp(uint a, uint b, uint c) { BYTES(r |= (uint)((x + y + (z & 1)) >> 1) << 8 * i); }
static uint amd_sad(uint a, uint b, uint c) { BYTES((void)z; r += (uint)(x < y ? y - x : x - y) + (i ? 0 : c)); }
static uint amd_sadhi(uint a, uint b, uint c) { return (amd_sad(a, b, 0) << 16) + c; }
static uint amd_sadw(uint a, uint b, uint c)
{
    return abs_diff(a & 0xffff, b & 0xffff) + abs_diff(a >> 16, b >> 16) + c;
}
static uint amd_sadd(uint a, uint b, uint c) { return abs_diff(a, b) + c; }
static uint amd_msad(uint a, uint b, uint c) { BYTES((void)z; r += (y ? (uint)(x < y ? y - x : x - y) : 0) + (i ? 0 : c)); }
static ulong amd_qsad(ulong a, uint b, ulong c)
{
    ulong r = 0;
    for (int i = 0; i < 4; i++)
        r |= (ulong)(ushort)(amd_sad((uint)(a >> 8 * i), b, 0) + (uint)(c >> 16 * i & 0xffff)) << 16 * i;
    return r;
}
static uint amd_bfm(uint a, uint b) { return ((1u << (a & 31)) - 1) << (b & 31); }
#define median(x, y, z) max(min(x, y), min(max(x, y), z))
#define amd_max3(x, y, z) max(max(x, y), z)
#define amd_min3(x, y, z) min(min(x, y), z)
#define amd_median3(x, y, z) median(x, y, z)
static float amd_unpack1(uint a) { return (float)(a >> 8 & 255); }
static float amd_unpack3(uint a) { return (float)(a >> 24); }
#else
// In rocm-device-libs; clang declares them in a header that it does not include by default.
__attribute__((overloadable, const)) uint amd_bitalign(uint, uint, uint), amd_bytealign(uint, uint, uint), amd_lerp(uint, uint, uint);
__attribute__((overloadable, const)) uint amd_sad(uint, uint, uint), amd_sadhi(uint, uint, uint), amd_sadw(uint, uint, uint);
__attribute__((overloadable, const)) uint amd_sadd(uint, uint, uint), amd_msad(uint, uint, uint), amd_bfm(uint, uint);
__attribute__((overloadable, const)) uint amd_max3(uint, uint, uint), amd_median3(uint, uint, uint);
__attribute__((overloadable, const)) int amd_min3(int, int, int), amd_median3(int, int, int);
__attribute__((overloadable, const)) float amd_unpack1(uint), amd_unpack3(uint);
__attribute__((overloadable, const)) ulong amd_qsad(ulong, uint, ulong);
#define DPP(OLD, X, CONTROL, ROWS, BANKS, BOUND) __builtin_amdgcn_update_dpp(OLD, X, CONTROL, ROWS, BANKS, BOUND)
#define SWIZZLE(X, PATTERN) __builtin_amdgcn_ds_swizzle(X, PATTERN)
#define read_first(x) __builtin_amdgcn_readfirstlane(x)
#define read_lane(x, lane) __builtin_amdgcn_readlane(x, lane)
#define permute_bytes(a, b, s) __builtin_amdgcn_perm(a, b, s)
#endif

kernel __attribute__((reqd_work_group_size(64, 1, 1))) void dpp_moves(global const int *a, global const int *b, global int *out)
{
    const size_t i = get_global_id(0);
    const int x = a[i], y = b[i];
    global int *o = out + 32 * i;
    o[0] = DPP(y, x, 0x1b, 15, 15, false);
    o[1] = DPP(y, x, 0x4e, 15, 15, true);
    o[2] = DPP(y, x, 0x101, 15, 15, false);
    o[3] = DPP(y, x, 0x10f, 15, 15, true);
    o[4] = DPP(y, x, 0x111, 15, 15, false);
    o[5] = DPP(y, x, 0x118, 15, 15, true);
    o[6] = DPP(y, x, 0x121, 15, 15, false);
    o[7] = DPP(y, x, 0x12b, 5, 15, false);
    o[8] = DPP(y, x, 0x130, 15, 15, false);
    o[9] = DPP(y, x, 0x130, 15, 15, true);
    o[10] = DPP(y, x, 0x134, 15, 15, false);
    o[11] = DPP(y, x, 0x138, 15, 15, false);
    o[12] = DPP(y, x, 0x13c, 15, 15, false);
    o[13] = DPP(y, x, 0x140, 15, 15, false);
    o[14] = DPP(y, x, 0x141, 10, 15, false);
    o[15] = DPP(y, x, 0x142, 10, 15, false);
    o[16] = DPP(y, x, 0x143, 12, 15, false);
    o[17] = DPP(y, x, 0x111, 15, 6, true);
    o[18] = DPP(y, x, 0x104, 9, 3, false);
    o[19] = x + DPP(0, y, 0x112, 15, 15, true);
    o[20] = max(x, DPP(x, x, 0x114, 15, 14, false));
    o[21] = x ^ DPP(0, x, 0xb1, 15, 15, true);
}

kernel __attribute__((reqd_work_group_size(64, 1, 1))) void swizzles(global const int *a, global int *out)
{
    const size_t i = get_global_id(0);
    const int x = a[i];
    global int *o = out + 16 * i;
    o[0] = SWIZZLE(x, 0x801b);
    o[1] = SWIZZLE(x, 0x80b1);
    o[2] = SWIZZLE(x, 0x041f);
    o[3] = SWIZZLE(x, 0x401f);
    o[4] = SWIZZLE(x, 0x7c1f);
    o[5] = SWIZZLE(x, 0x001e);
    o[6] = SWIZZLE(x, 0x01e0);
    o[7] = SWIZZLE(x, 0x0470);
    o[8] = read_first(x);
    o[9] = read_lane(x, 37);
    o[10] = read_lane(x, (int)(get_group_id(0) & 63));
}

kernel void bytes(global const uint *a, global const uint *b, global const uint *c, global const ulong *d, global uint *out,
                  global ulong *wide)
{
    const size_t i = get_global_id(0);
    const uint x = a[i], y = b[i], z = c[i];
    global uint *o = out + 20 * i;
    o[0] = permute_bytes(x, y, z & 0x0f0f0f0f);
    o[1] = permute_bytes(x, y, 0x07010c0d);
    o[2] = amd_bitalign(x, y, z);
    o[3] = amd_bytealign(x, y, z);
    o[4] = amd_lerp(x, y, z);
    o[5] = amd_sad(x, y, z);
    o[6] = amd_sadhi(x, y, z);
    o[7] = amd_sadw(x, y, z);
    o[8] = amd_sadd(x, y, z);
    o[9] = amd_msad(x, y, z);
    o[10] = amd_bfm(x, y);
    o[11] = amd_max3(x, y, z);
    o[12] = amd_min3((int)x, (int)y, (int)z);
    o[13] = amd_median3(x, y, z);
    o[14] = (uint)amd_median3((int)x, (int)y, (int)z);
    o[15] = as_uint(amd_unpack1(x));
    o[16] = as_uint(amd_unpack3(x));
    wide[2 * i] = amd_qsad(d[i], x, d[i + 1] & 0x00ff00ff00ff00ff);
}
