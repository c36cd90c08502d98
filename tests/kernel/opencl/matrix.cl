// SPDX-License-Identifier: MIT
// Products of 64x64 matrices through clang's builtins of the matrix units. Elements are integers from -2 to 2, so
// that sums are exact in every format; gfx11's steps move a sum by a last bit, so results are rounded. Each
// workgroup has a tile of 16x16. The layouts are those of AMD's matrix instruction calculator, and on gfx12
// those of ROCm's rocWMMA; those of gfx950's 8-bit formats are in ROCm's Composable Kernel, test/mx_mfma_op.

#define SIDE 64
#define TILES kernel __attribute__((reqd_work_group_size(64, 1, 1))) void
#define ARGUMENTS (global const uchar *a, global const uchar *b, global int *out)

static int left_of(global const uchar *a, int i, int k) { return a[SIDE * i + k] % 5 - 2; }
static int right_of(global const uchar *b, int k, int j) { return b[SIDE * k + j] % 5 - 2; }

#ifdef JUDGE

#define REFERENCE(NAME)                                                                                                \
    TILES NAME ARGUMENTS                                                                                               \
    {                                                                                                                  \
        const int tile = (int)get_group_id(0);                                                                         \
        for (int e = (int)get_local_id(0); e < 256; e += 64) {                                                         \
            const int i = tile / 4 * 16 + e / 16, j = tile % 4 * 16 + e % 16;                                          \
            int sum = 0;                                                                                               \
            for (int k = 0; k < SIDE; k++)                                                                             \
                sum += left_of(a, i, k) * right_of(b, k, j);                                                           \
            out[SIDE * i + j] = sum;                                                                                   \
        }                                                                                                              \
    }
REFERENCE(mfma_f32)
REFERENCE(mfma_f16)
REFERENCE(mfma_f16_32x32)
REFERENCE(mfma_bf16)
REFERENCE(mfma_i8)
REFERENCE(mfma_f64)
REFERENCE(mfma_fp8_bf8)
REFERENCE(smfmac_f16)
REFERENCE(mfma_f16_k32)
REFERENCE(mfma_f16_k16_32x32)
REFERENCE(mfma_bf16_k32)
REFERENCE(mfma_i8_k64)
REFERENCE(smfmac_f16_k64)
REFERENCE(mfma_scaled_fp8_bf8)
REFERENCE(mfma_scaled_fp4_fp6)
REFERENCE(mfma_scaled_bf6_fp8_32x32)
REFERENCE(mfma_fp4_32x32)
REFERENCE(wmma_f16)
REFERENCE(wmma_bf16)
REFERENCE(wmma_packed)
REFERENCE(wmma_i8)
REFERENCE(wmma_fp8_bf8)
REFERENCE(swmmac_f16)
REFERENCE(wmma_scaled_fp8_bf8)
REFERENCE(wmma_fp4)
REFERENCE(wmma_f32)
REFERENCE(wmma_fp6_bf6)
REFERENCE(wmma_scale16)
REFERENCE(swmmac_bf16)
REFERENCE(swmmac_i8)
REFERENCE(swmmac_fp8_bf8)
REFERENCE(transposed_16)
REFERENCE(transposed_8)
REFERENCE(transposed_6)
REFERENCE(transposed_4)

#else

// The lane, and the first row and column of the workgroup's tile.
#define PLACE                                                                                                          \
    const int lane = (int)get_local_id(0) % WAVE, tile = (int)get_group_id(0), row = tile / 4 * 16, column = tile % 4 * 16
#define GFX9 (__gfx908__ || __gfx90a__ || __gfx942__ || __gfx950__)
#define GFX11 (__gfx1100__ || __gfx1101__ || __gfx1102__ || __gfx1103__ || __gfx1150__ || __gfx1151__)
#define GFX12 (__gfx1200__ || __gfx1201__)

static short bf16_of(int x) { return (short)(as_uint((float)x) >> 16); }
static uint byte_of(int x) { return (uint)x & 0xff; }
#if __gfx942__ || __gfx950__ || GFX12 || __gfx1250__
static uint fp8_of(int x) { return (uint)__builtin_amdgcn_cvt_pk_fp8_f32((float)x, 0.0f, 0, false) & 0xff; }
static uint bf8_of(int x) { return (uint)__builtin_amdgcn_cvt_pk_bf8_f32((float)x, 0.0f, 0, false) & 0xff; }
#endif
// COUNT elements of a lane, from k on, of A's row i or B's column j.
#define FILL(X, Y, COUNT, I, J, K, AS)                                                                                 \
    for (int s = 0; s < (COUNT); s++) {                                                                                \
        (X)[s] = AS(left_of(a, (I), (K) + s));                                                                         \
        (Y)[s] = AS(right_of(b, (K) + s, (J)));                                                                        \
    }
// The same packed into integers, BITS each.
#define PACK(X, Y, COUNT, BITS, I, J, K, AS)                                                                           \
    for (int s = 0; s < (COUNT); s++) {                                                                                \
        const int at = s * (BITS);                                                                                     \
        (X)[at / 32] |= (AS(left_of(a, (I), (K) + s)) & (1u << (BITS)) - 1) << at % 32;                                \
        (Y)[at / 32] |= (AS(right_of(b, (K) + s, (J))) & (1u << (BITS)) - 1) << at % 32;                               \
    }

// ---- gfx908 to gfx950 ----

#if GFX9
// Lane l has four rows of column l % 16, from 4 * (l / 16) on.
#define STORE_4(C, ROW)                                                                                                \
    for (int r = 0; r < 4; r++)                                                                                        \
        out[SIDE * (row + (ROW)) + column + lane % 16] = (int)rint((float)(C)[r]);

TILES mfma_f32 ARGUMENTS
{
    PLACE;
    float4 c = 0;
    for (int k = 0; k < SIDE; k += 4)
        c = __builtin_amdgcn_mfma_f32_16x16x4f32((float)left_of(a, row + lane % 16, k + lane / 16),
                                                 (float)right_of(b, k + lane / 16, column + lane % 16), c, 0, 0, 0);
    STORE_4(c, 4 * (lane / 16) + r)
}
TILES mfma_f16 ARGUMENTS
{
    PLACE;
    float4 c = 0;
    for (int k = 0; k < SIDE; k += 16) {
        half4 x, y;
        FILL(x, y, 4, row + lane % 16, column + lane % 16, k + 4 * (lane / 16), (half))
        c = __builtin_amdgcn_mfma_f32_16x16x16f16(x, y, c, 0, 0, 0);
    }
    STORE_4(c, 4 * (lane / 16) + r)
}
// A tile of 32x32 whose other three quarters other workgroups compute, too.
TILES mfma_f16_32x32 ARGUMENTS
{
    PLACE;
    float16 c = 0;
    const int top = row / 32 * 32, left = column / 32 * 32;
    for (int k = 0; k < SIDE; k += 8) {
        half4 x, y;
        FILL(x, y, 4, top + lane % 32, left + lane % 32, k + 4 * (lane / 32), (half))
        c = __builtin_amdgcn_mfma_f32_32x32x8f16(x, y, c, 0, 0, 0);
    }
    for (int r = 0; r < 16; r++)
        out[SIDE * (top + r % 4 + 8 * (r / 4) + 4 * (lane / 32)) + left + lane % 32] = (int)rint(c[r]);
}
TILES mfma_bf16 ARGUMENTS
{
    PLACE;
    float4 c = 0;
#if __gfx908__
    for (int k = 0; k < SIDE; k += 8) {
        short2 x, y;
        FILL(x, y, 2, row + lane % 16, column + lane % 16, k + 2 * (lane / 16), bf16_of)
        c = __builtin_amdgcn_mfma_f32_16x16x8bf16(x, y, c, 0, 0, 0);
    }
#else
    for (int k = 0; k < SIDE; k += 16) {
        short4 x, y;
        FILL(x, y, 4, row + lane % 16, column + lane % 16, k + 4 * (lane / 16), bf16_of)
        c = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(x, y, c, 0, 0, 0);
    }
#endif
    STORE_4(c, 4 * (lane / 16) + r)
}
TILES mfma_i8 ARGUMENTS
{
    PLACE;
    int4 c = 0;
#if __gfx908__ || __gfx90a__
    for (int k = 0; k < SIDE; k += 16) {
        uint x[1] = {0}, y[1] = {0};
        PACK(x, y, 4, 8, row + lane % 16, column + lane % 16, k + 4 * (lane / 16), byte_of)
        c = __builtin_amdgcn_mfma_i32_16x16x16i8((int)x[0], (int)y[0], c, 0, 0, 0);
    }
#else
    for (int k = 0; k < SIDE; k += 32) {
        uint2 x = 0, y = 0;
        PACK(x, y, 8, 8, row + lane % 16, column + lane % 16, k + 8 * (lane / 16), byte_of)
        c = __builtin_amdgcn_mfma_i32_16x16x32_i8(as_long(x), as_long(y), c, 0, 0, 0);
    }
#endif
    STORE_4(c, 4 * (lane / 16) + r)
}
#endif
#if __gfx90a__ || __gfx942__ || __gfx950__
TILES mfma_f64 ARGUMENTS
{
    PLACE;
    double4 c = 0;
    for (int k = 0; k < SIDE; k += 4)
        c = __builtin_amdgcn_mfma_f64_16x16x4f64((double)left_of(a, row + lane % 16, k + lane / 16),
                                                 (double)right_of(b, k + lane / 16, column + lane % 16), c, 0, 0, 0);
    STORE_4(c, 4 * r + lane / 16)
}
#endif
#if __gfx942__ || __gfx950__
TILES mfma_fp8_bf8 ARGUMENTS
{
    PLACE;
    float4 c = 0;
    for (int k = 0; k < SIDE; k += 32) {
        uint2 x = 0, y = 0, unused = 0;
        PACK(x, unused, 8, 8, row + lane % 16, column + lane % 16, k + 8 * (lane / 16), fp8_of)
        PACK(unused, y, 8, 8, row + lane % 16, column + lane % 16, k + 8 * (lane / 16), bf8_of)
        c = __builtin_amdgcn_mfma_f32_16x16x32_fp8_bf8(as_long(x), as_long(y), c, 0, 0, 0);
    }
    STORE_4(c, 4 * (lane / 16) + r)
}
// A with zeros in the second half of each four elements, which are not stored: the first of the products is of
// even quarters, the second of A moved by two.
TILES smfmac_f16 ARGUMENTS
{
    PLACE;
    float4 c = 0;
    for (int k = 0; k < SIDE; k += 32)
        for (int upper = 0; upper < 2; upper++) {
            half4 x;
            half8 y;
            for (int s = 0; s < 4; s++)
                x[s] = left_of(a, row + lane % 16, k + 8 * (lane / 16) + 4 * (s / 2) + 2 * upper + s % 2);
            for (int s = 0; s < 8; s++)
                y[s] = right_of(b, k + 8 * (lane / 16) + s, column + lane % 16);
            c = __builtin_amdgcn_smfmac_f32_16x16x32_f16(x, y, c, upper ? 0xee : 0x44, 0, 0);
        }
    STORE_4(c, 4 * (lane / 16) + r)
}
#endif

#if __gfx950__
TILES mfma_f16_k32 ARGUMENTS
{
    PLACE;
    float4 c = 0;
    for (int k = 0; k < SIDE; k += 32) {
        half8 x, y;
        FILL(x, y, 8, row + lane % 16, column + lane % 16, k + 8 * (lane / 16), (half))
        c = __builtin_amdgcn_mfma_f32_16x16x32_f16(x, y, c, 0, 0, 0);
    }
    STORE_4(c, 4 * (lane / 16) + r)
}
// Like mfma_f16_32x32.
#define PLACE_32                                                                                                       \
    PLACE;                                                                                                             \
    float16 c = 0;                                                                                                     \
    const int top = row / 32 * 32, left = column / 32 * 32;
#define STORE_16(C)                                                                                                    \
    for (int r = 0; r < 16; r++)                                                                                       \
        out[SIDE * (top + r % 4 + 8 * (r / 4) + 4 * (lane / 32)) + left + lane % 32] = (int)rint((C)[r]);
TILES mfma_f16_k16_32x32 ARGUMENTS
{
    PLACE_32
    for (int k = 0; k < SIDE; k += 16) {
        half8 x, y;
        FILL(x, y, 8, top + lane % 32, left + lane % 32, k + 8 * (lane / 32), (half))
        c = __builtin_amdgcn_mfma_f32_32x32x16_f16(x, y, c, 0, 0, 0);
    }
    STORE_16(c)
}
typedef __bf16 bf16x8 __attribute__((ext_vector_type(8)));
TILES mfma_bf16_k32 ARGUMENTS
{
    PLACE;
    float4 c = 0;
    for (int k = 0; k < SIDE; k += 32) {
        short8 x, y;
        FILL(x, y, 8, row + lane % 16, column + lane % 16, k + 8 * (lane / 16), bf16_of)
        c = __builtin_amdgcn_mfma_f32_16x16x32_bf16(__builtin_astype(x, bf16x8), __builtin_astype(y, bf16x8), c, 0, 0, 0);
    }
    STORE_4(c, 4 * (lane / 16) + r)
}
TILES mfma_i8_k64 ARGUMENTS
{
    PLACE;
    uint4 x = 0, y = 0;
    PACK(x, y, 16, 8, row + lane % 16, column + lane % 16, 16 * (lane / 16), byte_of)
    const int4 c = __builtin_amdgcn_mfma_i32_16x16x64_i8(as_int4(x), as_int4(y), (int4)0, 0, 0, 0);
    STORE_4(c, 4 * (lane / 16) + r)
}
// As smfmac_f16.
TILES smfmac_f16_k64 ARGUMENTS
{
    PLACE;
    float4 c = 0;
    for (int upper = 0; upper < 2; upper++) {
        half8 x;
        half16 y;
        for (int s = 0; s < 8; s++)
            x[s] = left_of(a, row + lane % 16, 16 * (lane / 16) + 4 * (s / 2) + 2 * upper + s % 2);
        for (int s = 0; s < 16; s++)
            y[s] = right_of(b, 16 * (lane / 16) + s, column + lane % 16);
        c = __builtin_amdgcn_smfmac_f32_16x16x64_f16(x, y, c, upper ? 0xeeee : 0x4444, 0, 0);
    }
    STORE_4(c, 4 * (lane / 16) + r)
}

// The numbers from -2 to 2 in the formats of OCP's Microscaling Formats 1.0.
static uint fp4_of(int x) { return (x < 0 ? 8u : 0u) | (uint)(abs(x) * 2); }
static uint fp6_of(int x) { return (x < 0 ? 32u : 0u) | (uint)(abs(x) * 8); }
static uint bf6_of(int x) { return (x < 0 ? 32u : 0u) | (x == 0 ? 0u : abs(x) == 1 ? 12u : 16u); }
enum { FP8, BF8, FP6, BF6, FP4 };
// The 32 elements of a lane, BITS each; VALUE is a function of s.
#define PACK_32(X, BITS, VALUE)                                                                                        \
    for (int s = 0; s < 32; s++) {                                                                                     \
        const int at = s * (BITS);                                                                                     \
        const uint value = (VALUE);                                                                                    \
        (X)[at / 32] |= value << at % 32;                                                                              \
        if (at % 32 + (BITS) > 32)                                                                                     \
            (X)[at / 32 + 1] |= value >> (32 - at % 32);                                                               \
    }
// Elements of 8 bits are in two runs of 16, half of k apart; GROUPS groups of lanes.
#define RUN(GROUP, GROUPS) (16 * (GROUP) + s % 16 + 16 * (GROUPS) * (s / 16))
// Twice 64 elements: the first times 2, the second times -1. Groups of lanes hold the scales of 32 elements each.
#define SIGN(K) ((K) < SIDE ? 1 : -1)
TILES mfma_scaled_fp8_bf8 ARGUMENTS
{
    PLACE;
    const int group = lane / 16;
    uint8 x = 0, y = 0;
    PACK_32(x, 8, fp8_of(SIGN(RUN(group, 4)) * left_of(a, row + lane % 16, RUN(group, 4) % SIDE)))
    PACK_32(y, 8, bf8_of(right_of(b, RUN(group, 4) % SIDE, column + lane % 16)))
    const float4 c = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(as_int8(x), as_int8(y), (float4)0, FP8, BF8, 0,
        group < 2 ? 131 : 130, 1, (127 - 3) << 8);
    STORE_4(c, 4 * group + r)
}
TILES mfma_scaled_fp4_fp6 ARGUMENTS
{
    PLACE;
    const int group = lane / 16;
    uint8 x = 0, y = 0;
    PACK_32(x, 4, fp4_of(SIGN(32 * group + s) * left_of(a, row + lane % 16, (32 * group + s) % SIDE)))
    PACK_32(y, 6, fp6_of(right_of(b, (32 * group + s) % SIDE, column + lane % 16)))
    const float4 c = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(as_int8(x), as_int8(y), (float4)0, FP4, FP6, 2,
        (127 + 9) << 16, 3, (group < 2 ? 127 - 8 : 127 - 9) << 24);
    STORE_4(c, 4 * group + r)
}
TILES mfma_scaled_bf6_fp8_32x32 ARGUMENTS
{
    PLACE_32
    const int group = lane / 32;
    uint8 x = 0, y = 0;
    PACK_32(x, 6, bf6_of(left_of(a, top + lane % 32, 32 * group + s)))
    PACK_32(y, 8, fp8_of(right_of(b, RUN(group, 2), left + lane % 32)))
    // The scales of A and B cancel, in each group of 32 products.
    c = __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(as_int8(x), as_int8(y), c, BF6, FP8, 0, 127 + 5 * group, 0, 127 - 5 * group);
    STORE_16(c)
}
TILES mfma_fp4_32x32 ARGUMENTS
{
    PLACE_32
    uint8 x = 0, y = 0;
    PACK_32(x, 4, fp4_of(left_of(a, top + lane % 32, 32 * (lane / 32) + s)))
    PACK_32(y, 4, fp4_of(right_of(b, 32 * (lane / 32) + s, left + lane % 32)))
    c = __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(as_int8(x), as_int8(y), c, FP4, FP4, 0, 127, 0, 127);
    STORE_16(c)
}
#endif

// ---- gfx11 and gfx12 ----

#if GFX11 || GFX12
#if GFX12
// Lane l has `count` elements along k, from that of its group of 16 lanes on, and rows of column l % 16.
#define OF_WAVE(NAME) NAME##_gfx12
#define SLICES (WAVE / 16)
#define GROUP (WAVE == 32 ? lane / 16 : 2 * (lane / 16 % 2) + lane / 32)
#define ROW(R) ((R) + 8 * (lane / 16 % 2) + (WAVE == 64 ? 4 * (lane / 32) : 0))
#else
// Each lane has a whole row or column, as other lanes do.
#define OF_WAVE(NAME) NAME
#define SLICES 1
#define GROUP 0
#define ROW(R) (WAVE / 16 * (R) + lane / 16)
#endif
#if WAVE == 32
#define WMMA(NAME) OF_WAVE(__builtin_amdgcn_wmma_##NAME##_w32)
typedef float results __attribute__((ext_vector_type(8)));
typedef int integers __attribute__((ext_vector_type(8)));
#else
#define WMMA(NAME) OF_WAVE(__builtin_amdgcn_wmma_##NAME##_w64)
typedef float results __attribute__((ext_vector_type(4)));
typedef int integers __attribute__((ext_vector_type(4)));
#endif
typedef half halves __attribute__((ext_vector_type(16 / SLICES)));
typedef short shorts __attribute__((ext_vector_type(16 / SLICES)));
#define STORE_ROWS(C)                                                                                                  \
    for (int r = 0; r < 256 / WAVE; r++)                                                                               \
        out[SIDE * (row + ROW(r)) + column + lane % 16] = (int)rint((float)(C)[r]);

TILES wmma_f16 ARGUMENTS
{
    PLACE;
    results c = 0;
    for (int k = 0; k < SIDE; k += 16) {
        halves x, y;
        FILL(x, y, 16 / SLICES, row + lane % 16, column + lane % 16, k + 16 / SLICES * GROUP, (half))
        c = WMMA(f32_16x16x16_f16)(x, y, c);
    }
    STORE_ROWS(c)
}
TILES wmma_bf16 ARGUMENTS
{
    PLACE;
    results c = 0;
    for (int k = 0; k < SIDE; k += 16) {
        shorts x, y;
        FILL(x, y, 16 / SLICES, row + lane % 16, column + lane % 16, k + 16 / SLICES * GROUP, bf16_of)
        c = WMMA(f32_16x16x16_bf16)(x, y, c);
    }
    STORE_ROWS(c)
}
#if GFX12
#define PACKED(C) WMMA(f16_16x16x16_f16)(x, y, C)
typedef half packed_results __attribute__((ext_vector_type(256 / WAVE)));
#define OF_PACKED(C, R) (C)[R]
#else
#define PACKED(C) WMMA(f16_16x16x16_f16)(x, y, C, true)
typedef half packed_results __attribute__((ext_vector_type(512 / WAVE)));
#define OF_PACKED(C, R) (C)[2 * (R) + 1]
#endif
TILES wmma_packed ARGUMENTS
{
    PLACE;
    packed_results c = 0;
    for (int k = 0; k < SIDE; k += 16) {
        halves x, y;
        FILL(x, y, 16 / SLICES, row + lane % 16, column + lane % 16, k + 16 / SLICES * GROUP, (half))
        c = PACKED(c);
    }
    for (int r = 0; r < 256 / WAVE; r++)
        out[SIDE * (row + ROW(r)) + column + lane % 16] = (int)rint((float)OF_PACKED(c, r));
}
#if 4 / SLICES == 4
typedef uint4 packed_bytes;
#define WORDS(X) as_int4(X)
#elif 4 / SLICES == 2
typedef uint2 packed_bytes;
#define WORDS(X) as_int2(X)
#else
typedef uint packed_bytes __attribute__((ext_vector_type(1)));
#define WORDS(X) (int)(X)[0]
#endif
TILES wmma_i8 ARGUMENTS
{
    PLACE;
    integers c = 0;
    for (int k = 0; k < SIDE; k += 16) {
        packed_bytes x = 0, y = 0;
        PACK(x, y, 16 / SLICES, 8, row + lane % 16, column + lane % 16, k + 16 / SLICES * GROUP, byte_of)
        c = WMMA(i32_16x16x16_iu8)(true, WORDS(x), true, WORDS(y), c, false);
    }
    STORE_ROWS(c)
}
#endif
#if GFX12
TILES wmma_fp8_bf8 ARGUMENTS
{
    PLACE;
    results c = 0;
    for (int k = 0; k < SIDE; k += 16) {
        packed_bytes x = 0, y = 0, unused = 0;
        PACK(x, unused, 16 / SLICES, 8, row + lane % 16, column + lane % 16, k + 16 / SLICES * GROUP, fp8_of)
        PACK(unused, y, 16 / SLICES, 8, row + lane % 16, column + lane % 16, k + 16 / SLICES * GROUP, bf8_of)
        c = WMMA(f32_16x16x16_fp8_bf8)(WORDS(x), WORDS(y), c);
    }
    STORE_ROWS(c)
}
#if WAVE == 32
#define SWMMAC(X, Y, C, INDEX) __builtin_amdgcn_swmmac_f32_16x16x32_f16_w32(X, Y, C, INDEX)
#else
#define SWMMAC(X, Y, C, INDEX) __builtin_amdgcn_swmmac_f32_16x16x32_f16_w64(X, Y, C, INDEX)
#endif
typedef half stored __attribute__((ext_vector_type(16 / SLICES)));
typedef half dense __attribute__((ext_vector_type(32 / SLICES)));
// As smfmac_f16.
TILES swmmac_f16 ARGUMENTS
{
    PLACE;
    results c = 0;
    for (int k = 0; k < SIDE; k += 32)
        for (int upper = 0; upper < 2; upper++) {
            const int first = k + 32 / SLICES * GROUP;
            stored x;
            dense y;
            for (int s = 0; s < 16 / SLICES; s++)
                x[s] = left_of(a, row + lane % 16, first + 4 * (s / 2) + 2 * upper + s % 2);
            for (int s = 0; s < 32 / SLICES; s++)
                y[s] = right_of(b, first + s, column + lane % 16);
            c = SWMMAC(x, y, c, upper ? 0xeeee : 0x4444);
        }
    STORE_ROWS(c)
}
#endif

// ---- gfx1250: CDNA 5 ISA, "Matrix Element Storage in VGPRs" ----

#if __gfx1250__
typedef half halves __attribute__((ext_vector_type(16)));
typedef __bf16 shorts __attribute__((ext_vector_type(16)));
typedef float results __attribute__((ext_vector_type(8)));
typedef int integers __attribute__((ext_vector_type(8)));
typedef int wide __attribute__((ext_vector_type(16)));
// k of element S of a lane: RUN elements are in the lower lanes, the next ones in the upper.
#define K_OF(S, RUN) ((S) / (RUN) * 2 * (RUN) + lane / 16 * (RUN) + (S) % (RUN))
#define PACK_RUNS(X, Y, COUNT, BITS, RUN, LEFT, RIGHT)                                                                 \
    for (int s = 0; s < (COUNT); s++) {                                                                                \
        const int at = s * (BITS);                                                                                     \
        (X)[at / 32] |= (LEFT(left_of(a, row + lane % 16, k + K_OF(s, RUN))) & (1u << (BITS)) - 1) << at % 32;         \
        (Y)[at / 32] |= (RIGHT(right_of(b, k + K_OF(s, RUN), column + lane % 16)) & (1u << (BITS)) - 1) << at % 32;    \
    }
#define STORE_ROWS(C)                                                                                                  \
    for (int r = 0; r < 8; r++)                                                                                        \
        out[SIDE * (row + r + lane / 16 * 8) + column + lane % 16] = (int)rint((float)(C)[r]);
static uint fp4_bits(int x) { return (uint)(x < 0 ? 8 : 0) | abs(x) * 2; }
// Elements beyond the side of 64 are 0.
#define PACK_128(X, Y, COUNT, BITS, RUN, LEFT, RIGHT)                                                                  \
    for (int s = 0; s < (COUNT); s++) {                                                                                \
        const int at = s * (BITS), k = K_OF(s, RUN);                                                                   \
        (X)[at / 32] |= k < SIDE ? LEFT(left_of(a, row + lane % 16, k)) << at % 32 : 0;                                \
        (Y)[at / 32] |= k < SIDE ? RIGHT(right_of(b, k, column + lane % 16)) << at % 32 : 0;                           \
    }

TILES wmma_f16 ARGUMENTS
{
    PLACE;
    results c = 0;
    for (int k = 0; k < SIDE; k += 32) {
        halves x, y;
        for (int s = 0; s < 16; s++) {
            x[s] = (half)left_of(a, row + lane % 16, k + K_OF(s, 8));
            y[s] = (half)right_of(b, k + K_OF(s, 8), column + lane % 16);
        }
        c = __builtin_amdgcn_wmma_f32_16x16x32_f16(false, x, false, y, (short)0, c, false, false);
    }
    STORE_ROWS(c)
}
TILES wmma_bf16 ARGUMENTS
{
    PLACE;
    results c = 0;
    for (int k = 0; k < SIDE; k += 32) {
        integers x = 0, y = 0;
        PACK_RUNS(x, y, 16, 16, 8, bf16_of, bf16_of)
        c = __builtin_amdgcn_wmma_f32_16x16x32_bf16(false, __builtin_astype(x, shorts), false, __builtin_astype(y, shorts), (short)0, c,
                                                    false, false);
    }
    STORE_ROWS(c)
}
TILES wmma_i8 ARGUMENTS
{
    PLACE;
    integers c = 0, x = 0, y = 0;
    const int k = 0;
    PACK_RUNS(x, y, 32, 8, 8, byte_of, byte_of)
    c = __builtin_amdgcn_wmma_i32_16x16x64_iu8(true, x, true, y, c, false, false);
    STORE_ROWS(c)
}
TILES wmma_fp8_bf8 ARGUMENTS
{
    PLACE;
    results c = 0;
    integers x = 0, y = 0;
    const int k = 0;
    PACK_RUNS(x, y, 32, 8, 8, fp8_of, bf8_of)
    c = __builtin_amdgcn_wmma_f32_16x16x64_fp8_bf8(x, y, (short)0, c, false, false);
    STORE_ROWS(c)
}
// Scales of 2 and 1/2.
TILES wmma_scaled_fp8_bf8 ARGUMENTS
{
    PLACE;
    results c = 0;
    wide x = 0, y = 0;
    PACK_128(x, y, 64, 8, 8, fp8_of, bf8_of)
    c = __builtin_amdgcn_wmma_scale_f32_16x16x128_f8f6f4(0, x, 1, y, (short)0, c, 0, 0, 0x80808080, 0, 0, 0x7e7e7e7e, false, false);
    STORE_ROWS(c)
}
TILES wmma_fp4 ARGUMENTS
{
    PLACE;
    results c = 0;
    wide x = 0, y = 0; // the upper half is not used
    PACK_128(x, y, 64, 4, 32, fp4_bits, fp4_bits)
    c = __builtin_amdgcn_wmma_f32_16x16x128_f8f6f4(4, x, 4, y, (short)0, c);
    STORE_ROWS(c)
}
typedef float pair __attribute__((ext_vector_type(2)));
TILES wmma_f32 ARGUMENTS
{
    PLACE;
    results c = 0;
    for (int k = 0; k < SIDE; k += 4) {
        pair x, y;
        FILL(x, y, 2, row + lane % 16, column + lane % 16, k + lane / 16 * 2, (float))
        c = __builtin_amdgcn_wmma_f32_16x16x4_f32(false, x, false, y, (short)0, c, false, false);
    }
    STORE_ROWS(c)
}

// Elements of 6 bits lie across dwords.
static uint fp6_bits(int x) { return (uint)(x < 0 ? 32 : 0) | abs(x) * 8; }
static uint bf6_bits(int x) { return (uint)(x < 0 ? 32 : 0) | (x ? 8 + abs(x) * 4 : 0); }
#define PUT_6(X, S, VALUE)                                                                                             \
    do {                                                                                                               \
        const ulong bits = (ulong)(VALUE) << (S) * 6 % 32;                                                             \
        (X)[(S) * 6 / 32] |= (uint)bits;                                                                               \
        if ((S) * 6 % 32 > 26)                                                                                         \
            (X)[(S) * 6 / 32 + 1] |= (uint)(bits >> 32);                                                               \
    } while (0)
TILES wmma_fp6_bf6 ARGUMENTS
{
    PLACE;
    results c = 0;
    uint x[16] = {0}, y[16] = {0};
    wide p, q;
    for (int s = 0; s < 64; s++) {
        const int k = K_OF(s, 32);
        PUT_6(x, s, k < SIDE ? fp6_bits(left_of(a, row + lane % 16, k)) : 0);
        PUT_6(y, s, k < SIDE ? bf6_bits(right_of(b, k, column + lane % 16)) : 0);
    }
    for (int s = 0; s < 16; s++) {
        p[s] = (int)x[s];
        q[s] = (int)y[s];
    }
    c = __builtin_amdgcn_wmma_f32_16x16x128_f8f6f4(2, p, 3, q, (short)0, c);
    STORE_ROWS(c)
}
// Each block of 16 k of a row has its own scale, by which its elements are divided.
static uint divided(int x, int by) { return (uint)__builtin_amdgcn_cvt_pk_fp8_f32((float)x / (1 << by), 0.0f, 0, false) & 0xff; }
TILES wmma_scale16 ARGUMENTS
{
    PLACE;
    results c = 0;
    wide x = 0, y = 0;
    ulong scale_x = 0, scale_y = 0;
    for (int s = 0; s < 64; s++) {
        const int k = K_OF(s, 16), at = s * 8, block = k / 16;
        x[at / 32] |= k < SIDE ? divided(left_of(a, row + lane % 16, k), block % 3 + lane % 2) << at % 32 : 0;
        y[at / 32] |= k < SIDE ? divided(right_of(b, k, column + lane % 16), 2 - block % 2) << at % 32 : 0;
    }
    for (int block = 0; block < 8; block++) {
        scale_x |= (ulong)(127 + block % 3 + lane % 2) << 8 * block;
        scale_y |= (ulong)(127 + 2 - block % 2) << 8 * block;
    }
    // The upper lanes have no scales of A; those of B are there instead.
    scale_x = lane < 16 ? scale_x : 0x0102030405060708;
    scale_y = lane < 16 ? 0x0102030405060708 : scale_y;
    c = __builtin_amdgcn_wmma_scale16_f32_16x16x128_f8f6f4(0, x, 0, y, (short)0, c, 0, 0, (long)scale_x, 1, 0, (long)scale_y,
                                                           false, false);
    STORE_ROWS(c)
}

// As smfmac_f16: of each four elements of A the first two, then the last two. K of element S that A stores, in steps of
// SIZE.
#define STORED_K(S) (4 * (K_OF(S, 8) / 2) + 2 * upper + (S) % 2)
typedef half many_halves __attribute__((ext_vector_type(32)));
typedef __bf16 many_shorts __attribute__((ext_vector_type(32)));
TILES swmmac_f16 ARGUMENTS
{
    PLACE;
    results c = 0;
    for (int upper = 0; upper < 2; upper++) {
        halves x;
        many_halves y;
        for (int s = 0; s < 16; s++)
            x[s] = (half)left_of(a, row + lane % 16, STORED_K(s));
        for (int s = 0; s < 32; s++)
            y[s] = (half)right_of(b, K_OF(s, 16), column + lane % 16);
        c = __builtin_amdgcn_swmmac_f32_16x16x64_f16(false, x, false, y, c, upper ? 0xeeeeeeee : 0x44444444, false, false);
    }
    STORE_ROWS(c)
}
TILES swmmac_bf16 ARGUMENTS
{
    PLACE;
    results c = 0;
    for (int upper = 0; upper < 2; upper++) {
        integers x = 0;
        wide y = 0;
        for (int s = 0; s < 16; s++)
            x[s / 2] |= (bf16_of(left_of(a, row + lane % 16, STORED_K(s))) & 0xffff) << s % 2 * 16;
        for (int s = 0; s < 32; s++)
            y[s / 2] |= (bf16_of(right_of(b, K_OF(s, 16), column + lane % 16)) & 0xffff) << s % 2 * 16;
        c = __builtin_amdgcn_swmmac_f32_16x16x64_bf16(false, __builtin_astype(x, shorts), false, __builtin_astype(y, many_shorts), c,
                                                      upper ? 0xeeeeeeee : 0x44444444, false, false);
    }
    STORE_ROWS(c)
}
// 128 elements along k, of which those beyond the side of 64 are 0.
#define SPARSE_8(X, Y, LEFT, RIGHT)                                                                                    \
    for (int s = 0; s < 32; s++) {                                                                                     \
        const int k = STORED_K(s);                                                                                     \
        (X)[s / 4] |= k < SIDE ? LEFT(left_of(a, row + lane % 16, k)) << s % 4 * 8 : 0;                                \
    }                                                                                                                  \
    for (int s = 0; s < 64; s++) {                                                                                     \
        const int k = K_OF(s, 16);                                                                                     \
        (Y)[s / 4] |= k < SIDE ? RIGHT(right_of(b, k, column + lane % 16)) << s % 4 * 8 : 0;                           \
    }
TILES swmmac_i8 ARGUMENTS
{
    PLACE;
    integers c = 0;
    for (int upper = 0; upper < 2; upper++) {
        integers x = 0;
        wide y = 0;
        SPARSE_8(x, y, byte_of, byte_of)
        c = __builtin_amdgcn_swmmac_i32_16x16x128_iu8(true, x, true, y, c, upper ? 0xeeeeeeeeeeeeeeee : 0x4444444444444444, false,
                                                      false);
    }
    STORE_ROWS(c)
}
TILES swmmac_fp8_bf8 ARGUMENTS
{
    PLACE;
    results c = 0;
    for (int upper = 0; upper < 2; upper++) {
        integers x = 0;
        wide y = 0;
        SPARSE_8(x, y, fp8_of, bf8_of)
        c = __builtin_amdgcn_swmmac_f32_16x16x128_fp8_bf8(x, y, c, upper ? 0xeeeeeeeeeeeeeeee : 0x4444444444444444, false, false);
    }
    STORE_ROWS(c)
}

// B's rows lie in LDS and, for the second half of k, in global memory, in the place of the tile of results. Loads
// transpose them. Which part of a row a lane loads: CDNA 5 ISA, figure of "WMMA Load-Transpose Instructions".
typedef int words2 __attribute__((ext_vector_type(2)));
typedef int words3 __attribute__((ext_vector_type(3)));
typedef half words8 __attribute__((ext_vector_type(8)));
typedef local words2 *local_2;
typedef global words2 *global_2;
typedef local words3 *local_3;
typedef global words3 *global_3;
#define ROW_AT(R) ((R) % 16 * 64 + (R) / 16 * 32)
#define GLOBAL_AT(AT) ((global uchar *)(out + SIDE * (row + (AT) / 64) + column) + (AT) % 64)
static void put(local uchar *rows, int at, int bits, uint value)
{
    for (int i = 0; i < bits; i++, at++)
        rows[at / 8] = (uchar)((rows[at / 8] & ~(1 << at % 8)) | (value >> i & 1) << at % 8);
}
// Row r is that of k = K. Both waves of the workgroup do the same.
#define STAGE(COUNT, K, BITS, AS)                                                                                      \
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);                                                               \
    for (int r = 0; r < (COUNT); r++)                                                                                  \
        if (lane == 0)                                                                                                 \
            for (int n = 0; n < 16; n++)                                                                               \
                put(rows + ROW_AT(r), n * (BITS), BITS, AS(right_of(b, K, column + n)));                               \
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);                                                               \
    for (int i = lane; i < 256; i += 32)                                                                               \
        *(global uint *)GLOBAL_AT(4 * i) = ((local uint *)rows)[i];                                                    \
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
static uint half_bits(int x) { return as_ushort((half)x); }

TILES transposed_16 ARGUMENTS
{
    PLACE;
    local uchar rows[1024] __attribute__((aligned(16)));
    results c = 0;
    for (int k = 0; k < SIDE; k += 32) {
        halves x, y;
        for (int s = 0; s < 16; s++)
            x[s] = (half)left_of(a, row + lane % 16, k + K_OF(s, 8));
        for (int part = 0; part < 2; part++) {
            const int at = ROW_AT(lane / 16 * 8 + lane % 8) + lane / 8 % 2 * 16;
            words8 z;
            STAGE(16, k + 16 * part + r, 16, half_bits)
            if (k)
                z = __builtin_amdgcn_global_load_tr16_b128_v8f16((global words8 *)GLOBAL_AT(at));
            else
                z = __builtin_amdgcn_ds_load_tr16_b128_v8f16((local words8 *)(rows + at));
            for (int s = 0; s < 8; s++)
                y[8 * part + s] = z[s];
        }
        c = __builtin_amdgcn_wmma_f32_16x16x32_f16(false, x, false, y, (short)0, c, false, false);
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    STORE_ROWS(c)
}
TILES transposed_8 ARGUMENTS
{
    PLACE;
    local uchar rows[1024] __attribute__((aligned(16)));
    integers c = 0, x = 0, y = 0, unused = 0;
    const int k = 0;
    PACK_RUNS(x, unused, 32, 8, 8, byte_of, byte_of)
    for (int part = 0; part < 4; part++) {
        const int at = ROW_AT(lane / 8 * 4 + lane % 4) + lane / 4 % 2 * 8;
        words2 z;
        STAGE(16, 16 * part + r, 8, byte_of)
        if (part > 1)
            z = __builtin_amdgcn_global_load_tr8_b64_v2i32((global_2)GLOBAL_AT(at));
        else
            z = __builtin_amdgcn_ds_load_tr8_b64_v2i32((local_2)(rows + at));
        y[2 * part] = z[0];
        y[2 * part + 1] = z[1];
    }
    c = __builtin_amdgcn_wmma_i32_16x16x64_iu8(true, x, true, y, c, false, false);
    barrier(CLK_GLOBAL_MEM_FENCE);
    STORE_ROWS(c)
}
// A lane loads a whole row: 16 of those of the lower lanes, then 16 of the upper ones.
TILES transposed_6 ARGUMENTS
{
    PLACE;
    local uchar rows[1024] __attribute__((aligned(16)));
    results c = 0;
    uint x[16] = {0};
    wide p, q = 0;
    for (int s = 0; s < 64; s++) {
        const int k = K_OF(s, 32);
        PUT_6(x, s, k < SIDE ? fp6_bits(left_of(a, row + lane % 16, k)) : 0);
    }
    for (int s = 0; s < 16; s++)
        p[s] = (int)x[s];
    for (int part = 0; part < 2; part++) {
        const int quarter = lane / 4 % 4, moved = quarter % 3 ? 3 - quarter : quarter;
        const int at = ROW_AT(lane / 16 * 16 + moved * 4 + lane % 4);
        words3 z;
        STAGE(32, 16 * part + 32 * (r / 16) + r % 16, 6, bf6_bits)
        if (part)
            z = __builtin_amdgcn_global_load_tr6_b96_v3i32((global_3)GLOBAL_AT(at));
        else
            z = __builtin_amdgcn_ds_load_tr6_b96_v3i32((local_3)(rows + at));
        for (int s = 0; s < 3; s++)
            q[3 * part + s] = z[s];
    }
    c = __builtin_amdgcn_wmma_f32_16x16x128_f8f6f4(2, p, 3, q, (short)0, c);
    barrier(CLK_GLOBAL_MEM_FENCE);
    STORE_ROWS(c)
}
TILES transposed_4 ARGUMENTS
{
    PLACE;
    local uchar rows[1024] __attribute__((aligned(16)));
    results c = 0;
    wide x = 0, y = 0, unused = 0;
    PACK_128(x, unused, 64, 4, 32, fp4_bits, fp4_bits)
    for (int part = 0; part < 2; part++) {
        const int at = ROW_AT(lane / 8 % 2 * 16 + lane / 16 * 8 + lane % 8);
        words2 z;
        STAGE(32, 16 * part + 32 * (r / 16) + r % 16, 4, fp4_bits)
        if (part)
            z = __builtin_amdgcn_global_load_tr4_b64_v2i32((global_2)GLOBAL_AT(at));
        else
            z = __builtin_amdgcn_ds_load_tr4_b64_v2i32((local_2)(rows + at));
        y[2 * part] = z[0];
        y[2 * part + 1] = z[1];
    }
    c = __builtin_amdgcn_wmma_f32_16x16x128_f8f6f4(4, x, 4, y, (short)0, c);
    barrier(CLK_GLOBAL_MEM_FENCE);
    STORE_ROWS(c)
}
#endif
#endif
