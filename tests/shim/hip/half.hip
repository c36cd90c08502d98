// SPDX-License-Identifier: MIT
// __half, __half2 and hip_bfloat16: conversions and arithmetic.
#include "array.h"
#include <cmath>
#include <cstring>
#include <hip/hip_bfloat16.h>
#include <hip/hip_fp16.h>

__global__ void halves(const float *in, float *out, int n)
{
    const int i = threadIdx.x;
    if (i >= n)
        return;
    const __half a = __float2half(in[i]), b = __float2half(1.5f);
    const __half2 both = __hfma2(__halves2half2(a, b), __halves2half2(b, b), __halves2half2(b, a));
    out[4 * i] = __half2float(__hadd(a, b));
    out[4 * i + 1] = __half2float(__hmul(a, b));
    out[4 * i + 2] = __half2float(__low2half(both));
    out[4 * i + 3] = __half2float(__high2half(both));
}

__global__ void bfloats(const float *in, float *out, int n)
{
    const int i = threadIdx.x;
    if (i < n)
        out[i] = float(hip_bfloat16(in[i]) * hip_bfloat16(2.0f));
}

static float rounded_to_bfloat(float x)
{
    uint32_t bits;
    std::memcpy(&bits, &x, 4);
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
    std::memcpy(&x, &bits, 4);
    return x;
}

int main()
{
    const int n = 200;
    std::vector<float> in(n);
    for (int i = 0; i < n; i++)
        in[i] = (i - 100) * 0.37f;
    const device_array<float> given(in), four(4 * n), one(n);
    halves<<<1, 256>>>(given, four, n);
    bfloats<<<1, 256>>>(given, one, n);
    const std::vector<float> got = four.get(), products = one.get();
    for (int i = 0; i < n; i++) {
        const _Float16 a = static_cast<_Float16>(in[i]), b = 1.5;
        // products of halves are exact in double, as the sums are: one rounding each
        const double da = double(a), db = double(b);
        CHECK(got[4 * i] == float(static_cast<_Float16>(da + db)));
        CHECK(got[4 * i + 1] == float(static_cast<_Float16>(da * db)));
        CHECK(got[4 * i + 2] == float(static_cast<_Float16>(da * db + db)));
        CHECK(got[4 * i + 3] == float(static_cast<_Float16>(db * db + da)));
        CHECK(products[i] == 2 * rounded_to_bfloat(in[i]));
    }
    return 0;
}
