// SPDX-License-Identifier: MIT
// Every atomic function on memory of the device and on LDS: 1000 work-items on one address.
#include "array.h"
#include <algorithm>

enum { N = 1000 };

struct results {
    int add, sub, min, max, exchange, swap;
    unsigned increment, decrement, and_, or_, xor_;
    unsigned long long add64, max64, or64, swap64;
    float add_float;
    double add_double;
    int lds;
};

__global__ void all(results *r)
{
    __shared__ int local;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (!threadIdx.x)
        local = 0;
    __syncthreads();
    if (i < N) {
        atomicAdd(&r->add, i);
        atomicSub(&r->sub, i);
        atomicMin(&r->min, (i * 7919 + 13) % 5000 - 100);
        atomicMax(&r->max, (i * 7919 + 13) % 5000 - 100);
        atomicExch(&r->exchange, i);
        for (int old = r->swap, now; (now = atomicCAS(&r->swap, old, old + 2)) != old;)
            old = now;
        atomicInc(&r->increment, 17);
        atomicDec(&r->decrement, 17);
        atomicAnd(&r->and_, ~(1u << i % 31));
        atomicOr(&r->or_, 1u << i % 29);
        atomicXor(&r->xor_, unsigned(i));
        atomicAdd(&r->add64, (unsigned long long)i << 32);
        atomicMax(&r->max64, (unsigned long long)i << 40 | i);
        atomicOr(&r->or64, 1ull << i % 61);
        atomicCAS(&r->swap64, 5ull, 6ull << 33);
        atomicAdd(&r->add_float, 0.5f);
        atomicAdd(&r->add_double, 0.25);
        atomicAdd(&local, i);
    }
    __syncthreads();
    if (!threadIdx.x)
        atomicAdd(&r->lds, local);
}

int main()
{
    const int sum = N * (N - 1) / 2;
    std::vector<results> given(1);
    given[0] = {0, 0, 1 << 30, -(1 << 30), -1, 3, 0, 17, ~0u, 0, 0, 1, 0, 0, 5, 0, 0, 0};
    int least = 1 << 30, most = -(1 << 30);
    unsigned xored = 0;
    for (int i = 0; i < N; i++) {
        least = std::min(least, (i * 7919 + 13) % 5000 - 100);
        most = std::max(most, (i * 7919 + 13) % 5000 - 100);
        xored ^= unsigned(i);
    }
    const device_array<results> p(given);
    all<<<8, 128>>>(p);
    const results r = p.get()[0];
    CHECK(r.add == sum && r.sub == -sum && r.min == least && r.max == most);
    CHECK(r.exchange >= 0 && r.exchange < N && r.swap == 3 + 2 * N);
    CHECK(r.increment == N % 18 && r.decrement == (17 + 18 * N - N) % 18);
    CHECK(r.and_ == 1u << 31 && r.or_ == (1u << 29) - 1 && r.xor_ == xored);
    CHECK(r.add64 == ((unsigned long long)sum << 32 | 1) && r.max64 == (999ull << 40 | 999));
    CHECK(r.or64 == (1ull << 61) - 1 && r.swap64 == 6ull << 33);
    CHECK(r.add_float == N * 0.5f && r.add_double == N * 0.25 && r.lds == sum);
    return 0;
}
