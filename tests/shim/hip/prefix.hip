// SPDX-License-Identifier: MIT
// A prefix sum as libraries do it: one pass, workgroups take tickets and look back at those before them.
#include "check.h"
#include <vector>

constexpr int THREADS = 256, ITEMS = 4, TILE = THREADS * ITEMS;
enum state : unsigned { NOTHING, SUM, PREFIX };

struct work {
    unsigned ticket;
};

template <typename T, typename F> __device__ T scan_wave(T value, F f)
{
    for (int d = 1; d < warpSize; d *= 2) {
        const T other = __shfl_up(value, d);
        if ((int)__lane_id() >= d)
            value = f(other, value);
    }
    return value;
}

// Exclusive sum of the workgroup; *total: of all.
__device__ unsigned scan_group(unsigned value, unsigned *total)
{
    __shared__ unsigned sums[THREADS / 32];
    const auto add = [](unsigned a, unsigned b) { return a + b; };
    const unsigned inclusive = scan_wave(value, add);
    const int wave = threadIdx.x / warpSize, waves = THREADS / warpSize;
    if ((int)__lane_id() == warpSize - 1)
        sums[wave] = inclusive;
    __syncthreads();
    unsigned before = 0, all = 0;
    for (int i = 0; i < waves; i++) {
        before += i < wave ? sums[i] : 0;
        all += sums[i];
    }
    __syncthreads();
    *total = all;
    return before + inclusive - value;
}

__global__ __launch_bounds__(THREADS) void scan(const unsigned *in, unsigned *out, int n, work *w,
                                                unsigned long long *states)
{
    __shared__ unsigned tile, before;
    if (!threadIdx.x)
        tile = atomicAdd(&w->ticket, 1);
    __syncthreads();
    const int first = tile * TILE + threadIdx.x * ITEMS;
    unsigned item[ITEMS], sum = 0, total;
    for (int i = 0; i < ITEMS; i++)
        sum += item[i] = first + i < n ? in[first + i] : 0;
    const unsigned own = scan_group(sum, &total);
    if (!threadIdx.x) {
        const auto say = [&](state s, unsigned value) {
            __atomic_store_n(&states[tile], (unsigned long long)s << 32 | value, __ATOMIC_RELEASE);
        };
        unsigned prefix = 0;
        if (tile)
            say(SUM, total);
        for (int i = (int)tile - 1; i >= 0;) {
            const unsigned long long seen = __atomic_load_n(&states[i], __ATOMIC_ACQUIRE);
            if (seen >> 32 == NOTHING)
                continue;
            prefix += (unsigned)seen;
            if (seen >> 32 == PREFIX)
                break;
            i--;
        }
        say(PREFIX, prefix + total);
        before = prefix;
    }
    __syncthreads();
    unsigned running = before + own;
    for (int i = 0; i < ITEMS; i++) {
        if (first + i < n)
            out[first + i] = running;
        running += item[i];
    }
}

int main()
{
    for (const int n : {1, TILE, TILE + 1, 40000}) {
        const int tiles = (n + TILE - 1) / TILE;
        std::vector<unsigned> in(n), got(n);
        for (int i = 0; i < n; i++)
            in[i] = i * 7919u % 101;
        unsigned *from, *to;
        work *w;
        unsigned long long *states;
        HIP(hipMalloc(&from, n * 4));
        HIP(hipMalloc(&to, n * 4));
        HIP(hipMalloc(&w, sizeof *w));
        HIP(hipMalloc(&states, tiles * sizeof *states));
        HIP(hipMemcpy(from, in.data(), n * 4, hipMemcpyHostToDevice));
        HIP(hipMemset(w, 0, sizeof *w));
        HIP(hipMemset(states, 0, tiles * sizeof *states));
        scan<<<tiles, THREADS>>>(from, to, n, w, states);
        HIP(hipMemcpy(got.data(), to, n * 4, hipMemcpyDeviceToHost));
        unsigned sum = 0;
        for (int i = 0; i < n; i++) {
            CHECK(got[i] == sum);
            sum += in[i];
        }
        HIP(hipFree(from));
        HIP(hipFree(to));
        HIP(hipFree(w));
        HIP(hipFree(states));
    }
    return 0;
}
