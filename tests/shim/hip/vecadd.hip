// SPDX-License-Identifier: MIT
// hipMalloc, hipMemcpy in both directions, a kernel with a partial last workgroup, hipMemset.
#include "check.h"
#include <vector>

__global__ void add(const float *a, const float *b, float *c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

int main()
{
    const int n = 100001;
    std::vector<float> a(n), b(n), c(n, -1);
    float *da, *db, *dc;
    for (int i = 0; i < n; i++) {
        a[i] = i;
        b[i] = 0.5f * i;
    }
    HIP(hipMalloc(&da, n * sizeof(float)));
    HIP(hipMalloc(&db, n * sizeof(float)));
    HIP(hipMalloc(&dc, n * sizeof(float)));
    HIP(hipMemcpy(da, a.data(), n * sizeof(float), hipMemcpyHostToDevice));
    HIP(hipMemcpy(db, b.data(), n * sizeof(float), hipMemcpyHostToDevice));
    HIP(hipMemset(dc, 0xff, n * sizeof(float)));
    add<<<(n + 255) / 256, 256>>>(da, db, dc, n - 1);
    HIP(hipGetLastError());
    HIP(hipMemcpy(c.data(), dc, n * sizeof(float), hipMemcpyDeviceToHost));
    for (int i = 0; i < n - 1; i++)
        CHECK(c[i] == 1.5f * i);
    CHECK(c[n - 1] != c[n - 1]); // 0xffffffff, not written
    HIP(hipFree(da));
    HIP(hipFree(db));
    HIP(hipFree(dc));
    return 0;
}
