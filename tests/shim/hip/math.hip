// SPDX-License-Identifier: MIT
// Mathematical functions against the host's, and integer intrinsics against plain arithmetic.
#include "array.h"
#include <cmath>

enum { FUNCTIONS = 12, N = 400 };

__global__ void floats(const float *in, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N)
        return;
    const float x = in[i];
    const float all[FUNCTIONS] = {sinf(x),  cosf(x),  tanf(x),      expf(x),      logf(fabsf(x) + 0.1f), sqrtf(fabsf(x)),
                                  atanf(x), tanhf(x), powf(2.5f, x), erff(x),      cbrtf(x),              fmaf(x, x, 1)};
    for (int f = 0; f < FUNCTIONS; f++)
        out[f * N + i] = all[f];
}

__global__ void doubles(const float *in, double *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        const double x = in[i];
        out[i] = sin(x) * exp(x / 4) + pow(fabs(x), 1.25) + log1p(x * x) + 1 / (x * x + 3);
    }
}

__global__ void integers(const unsigned *in, unsigned *out)
{
    const unsigned a = in[threadIdx.x], b = in[(threadIdx.x + 1) % 64];
    const unsigned results[] = {__umulhi(a, b), unsigned(__mul24(int(a), int(b))), unsigned(__popc(a)), unsigned(__clz(int(a))),
                                unsigned(__ffs(int(a))), __brev(a), unsigned(__popcll(uint64_t(a) << 32 | b)),
                                unsigned(__sad(int(a >> 1), int(b >> 1), 7u))};
    for (int i = 0; i < 8; i++)
        out[8 * threadIdx.x + i] = results[i];
}

int main()
{
    std::vector<float> in(N);
    for (int i = 0; i < N; i++)
        in[i] = (i - N / 2) * 0.0371f;
    const device_array<float> x(in), out(FUNCTIONS * N);
    const device_array<double> wide(N);
    floats<<<4, 128>>>(x, out);
    doubles<<<4, 128>>>(x, wide);
    const std::vector<float> got = out.get();
    const std::vector<double> got_wide = wide.get();
    for (int i = 0; i < N; i++) {
        const double v = in[i];
        const double right[FUNCTIONS] = {std::sin(v),  std::cos(v),  std::tan(v),      std::exp(v), std::log(double(std::fabs(in[i]) + 0.1f)),
                                         std::sqrt(std::fabs(v)), std::atan(v), std::tanh(v), std::pow(2.5, v), std::erf(v),
                                         std::cbrt(v), v * v + 1};
        for (int f = 0; f < FUNCTIONS; f++) // at most 16 ulp, OpenCL's bound for pow
            CHECK(std::fabs(got[f * N + i] - right[f]) <= 16 * 0x1p-23 * std::fabs(right[f]) + 1e-37);
        const double sum = std::sin(v) * std::exp(v / 4) + std::pow(std::fabs(v), 1.25) + std::log1p(v * v) + 1 / (v * v + 3);
        CHECK(std::fabs(got_wide[i] - sum) < 1e-12);
    }
    std::vector<unsigned> words(64);
    for (int i = 0; i < 64; i++)
        words[i] = unsigned(i) * 2654435761u >> i % 20;
    const device_array<unsigned> given(words), results(512);
    integers<<<1, 64>>>(given, results);
    const std::vector<unsigned> r = results.get();
    for (int i = 0; i < 64; i++) {
        const unsigned a = words[i], b = words[(i + 1) % 64], *g = &r[8 * i];
        unsigned reversed = 0;
        for (int k = 0; k < 32; k++)
            reversed |= (a >> k & 1) << (31 - k);
        CHECK(g[0] == unsigned(uint64_t(a) * b >> 32));
        CHECK(g[1] == unsigned((int(a << 8) >> 8) * int64_t(int(b << 8) >> 8)));
        CHECK(int(g[2]) == __builtin_popcount(a) && int(g[3]) == (a ? __builtin_clz(a) : 32) && int(g[4]) == __builtin_ffs(int(a)));
        CHECK(g[5] == reversed && int(g[6]) == __builtin_popcount(a) + __builtin_popcount(b));
        CHECK(g[7] == unsigned(std::abs(int(a >> 1) - int(b >> 1))) + 7);
    }
    return 0;
}
