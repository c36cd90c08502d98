// SPDX-License-Identifier: MIT
// Histograms: counters in LDS per workgroup and then global ones, of bytes, and of floats with a wave's ballot.
#include "check.h"
#include <vector>

constexpr int BINS = 256;

__global__ void bytes(const uchar4 *data, int n, unsigned *bins)
{
    __shared__ unsigned own[BINS];
    for (int i = threadIdx.x; i < BINS; i += blockDim.x)
        own[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const uchar4 v = data[i];
        atomicAdd(&own[v.x], 1u);
        atomicAdd(&own[v.y], 1u);
        atomicAdd(&own[v.z], 1u);
        atomicAdd(&own[v.w], 1u);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < BINS; i += blockDim.x)
        if (own[i])
            atomicAdd(&bins[i], own[i]);
}

// Each wave adds once per bin that any of its lanes hits.
__global__ void by_wave(const float *data, int n, int bin_count, unsigned long long *bins, float *largest)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool is_in = i < n;
    const float v = is_in ? data[i] : 0;
    const int bin = min(bin_count - 1, (int)(v * bin_count));
    unsigned long long left = __ballot(is_in);
    while (left) {
        const int leader = __ffsll(left) - 1;
        const int theirs = __shfl(bin, leader);
        const unsigned long long same = __ballot(is_in && bin == theirs);
        if ((int)__lane_id() == leader)
            atomicAdd(&bins[theirs], (unsigned long long)__popcll(same));
        left &= ~same;
    }
    if (is_in)
        atomicMax((int *)largest, __float_as_int(v)); // positive floats are ordered as integers
}

int main()
{
    const int n = 50003;
    std::vector<unsigned char> data(4 * n);
    std::vector<unsigned> expected(BINS), got(BINS);
    unsigned seed = 1;
    for (auto &v : data) {
        seed = seed * 1103515245 + 12345;
        v = (seed >> 16 & 0xff) * (seed >> 24) >> 8;
        expected[v]++;
    }
    uchar4 *device_data;
    unsigned *bins;
    HIP(hipMalloc(&device_data, data.size()));
    HIP(hipMalloc(&bins, BINS * sizeof *bins));
    HIP(hipMemcpy(device_data, data.data(), data.size(), hipMemcpyHostToDevice));
    HIP(hipMemset(bins, 0, BINS * sizeof *bins));
    bytes<<<13, 192>>>(device_data, n, bins);
    HIP(hipMemcpy(got.data(), bins, BINS * sizeof *bins, hipMemcpyDeviceToHost));
    CHECK(got == expected);

    const int bin_count = 10, m = 10007;
    std::vector<float> floats(m);
    std::vector<unsigned long long> wanted(bin_count), counted(bin_count);
    float largest = 0, device_largest;
    for (auto &v : floats) {
        seed = seed * 1103515245 + 12345;
        v = (seed >> 8 & 0xffff) / 65536.0f;
        wanted[(int)(v * bin_count)]++;
        largest = v > largest ? v : largest;
    }
    float *device_floats, *most;
    unsigned long long *long_bins;
    HIP(hipMalloc(&device_floats, m * sizeof(float)));
    HIP(hipMalloc(&most, sizeof *most));
    HIP(hipMalloc(&long_bins, bin_count * sizeof *long_bins));
    HIP(hipMemcpy(device_floats, floats.data(), m * sizeof(float), hipMemcpyHostToDevice));
    HIP(hipMemset(long_bins, 0, bin_count * sizeof *long_bins));
    HIP(hipMemset(most, 0, sizeof *most));
    by_wave<<<(m + 255) / 256, 256>>>(device_floats, m, bin_count, long_bins, most);
    HIP(hipMemcpy(counted.data(), long_bins, bin_count * sizeof *long_bins, hipMemcpyDeviceToHost));
    HIP(hipMemcpy(&device_largest, most, sizeof *most, hipMemcpyDeviceToHost));
    CHECK(counted == wanted);
    CHECK(device_largest == largest);
    HIP(hipFree(device_data));
    HIP(hipFree(bins));
    HIP(hipFree(device_floats));
    HIP(hipFree(most));
    HIP(hipFree(long_bins));
    return 0;
}
