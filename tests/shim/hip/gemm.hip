// SPDX-License-Identifier: MIT
// A tiled product of matrices: two LDS buffers in turn, registers hold a 4 by 4 tile, edges are partial.
#include "check.h"
#include <cmath>
#include <vector>

constexpr int TILE = 64, DEPTH = 16, OWN = 4;

struct shape {
    int m, n, k;
};

__device__ void fetch(const float *from, int rows, int columns, int row, int column, int pitch, float *to)
{
    for (int i = threadIdx.x; i < TILE * DEPTH; i += blockDim.x) {
        const int y = i / DEPTH, x = i % DEPTH;
        to[x * (TILE + 1) + y] = row + y < rows && column + x < columns ? from[(row + y) * pitch + column + x] : 0;
    }
}

__device__ void fetch_b(const float *from, int rows, int columns, int row, int column, float *to)
{
    for (int i = threadIdx.x; i < TILE * DEPTH; i += blockDim.x) {
        const int y = i / TILE, x = i % TILE;
        to[y * TILE + x] = row + y < rows && column + x < columns ? from[(row + y) * columns + column + x] : 0;
    }
}

__global__ __launch_bounds__(256) void gemm(const float *a, const float *b, float *c, shape s, float alpha, float beta)
{
    __shared__ float as[2][DEPTH * (TILE + 1)], bs[2][DEPTH * TILE];
    const int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
    const int ty = threadIdx.x / (TILE / OWN), tx = threadIdx.x % (TILE / OWN);
    float sum[OWN][OWN] = {};
    fetch(a, s.m, s.k, row, 0, s.k, as[0]);
    fetch_b(b, s.k, s.n, 0, column, bs[0]);
    __syncthreads();
    int now = 0;
    for (int k = 0; k < s.k; k += DEPTH, now ^= 1) {
        if (k + DEPTH < s.k) {
            fetch(a, s.m, s.k, row, k + DEPTH, s.k, as[now ^ 1]);
            fetch_b(b, s.k, s.n, k + DEPTH, column, bs[now ^ 1]);
        }
        for (int d = 0; d < DEPTH; d++) {
            float x[OWN], y[OWN];
            for (int i = 0; i < OWN; i++) {
                x[i] = as[now][d * (TILE + 1) + ty * OWN + i];
                y[i] = bs[now][d * TILE + tx * OWN + i];
            }
            for (int i = 0; i < OWN; i++)
                for (int j = 0; j < OWN; j++)
                    sum[i][j] += x[i] * y[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < OWN; i++)
        for (int j = 0; j < OWN; j++) {
            const int y = row + ty * OWN + i, x = column + tx * OWN + j;
            if (y < s.m && x < s.n)
                c[y * s.n + x] = alpha * sum[i][j] + (beta == 0 ? 0 : beta * c[y * s.n + x]);
        }
}

int main()
{
    const shape shapes[] = {{128, 128, 128}, {100, 70, 33}, {1, 1, 1}, {65, 129, 17}};
    for (const shape &s : shapes) {
        std::vector<float> a(s.m * s.k), b(s.k * s.n), c(s.m * s.n);
        unsigned seed = 7;
        const auto next = [&] { return (int)((seed = seed * 1664525 + 1013904223) >> 28) - 8; };
        for (float &v : a)
            v = next();
        for (float &v : b)
            v = next();
        for (float &v : c)
            v = next();
        float *da, *db, *dc;
        HIP(hipMalloc(&da, a.size() * 4));
        HIP(hipMalloc(&db, b.size() * 4));
        HIP(hipMalloc(&dc, c.size() * 4));
        HIP(hipMemcpy(da, a.data(), a.size() * 4, hipMemcpyHostToDevice));
        HIP(hipMemcpy(db, b.data(), b.size() * 4, hipMemcpyHostToDevice));
        for (const float beta : {0.0f, 2.0f}) {
            HIP(hipMemcpy(dc, c.data(), c.size() * 4, hipMemcpyHostToDevice));
            gemm<<<dim3((s.n + TILE - 1) / TILE, (s.m + TILE - 1) / TILE), 256>>>(da, db, dc, s, 0.5f, beta);
            HIP(hipGetLastError());
            std::vector<float> got(c.size());
            HIP(hipMemcpy(got.data(), dc, c.size() * 4, hipMemcpyDeviceToHost));
            for (int y = 0; y < s.m; y++)
                for (int x = 0; x < s.n; x++) {
                    int sum = 0; // small integers: exact
                    for (int k = 0; k < s.k; k++)
                        sum += (int)a[y * s.k + k] * (int)b[k * s.n + x];
                    CHECK(got[y * s.n + x] == 0.5f * sum + beta * c[y * s.n + x]);
                }
        }
        HIP(hipFree(da));
        HIP(hipFree(db));
        HIP(hipFree(dc));
    }
    return 0;
}
