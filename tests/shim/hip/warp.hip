// SPDX-License-Identifier: MIT
// Functions of a wave: shuffles, votes, masks; waves have 32 or 64 lanes.
#include "array.h"

struct lane {
    int indexed, up, down, exchanged, narrow, any, all;
    unsigned long long ballot, active;
    int sum;
};

__global__ void ask(lane *out)
{
    const int i = threadIdx.x;
    lane l;
    l.indexed = __shfl(i * 3, 5);
    l.up = __shfl_up(i, 2);
    l.down = __shfl_down(i, 3);
    l.exchanged = __shfl_xor(i, 7);
    l.narrow = __shfl(i, 1, 8); // in groups of 8
    l.any = __any(i == 9);
    l.all = __all(i < warpSize);
    l.ballot = __ballot(i % 3 == 0);
    l.active = 0;
    if (i & 1)
        l.active = __ballot(i != 7); // __ballot(1) becomes EXEC, which clang 15 reads in front of the branch
    l.sum = i;
    for (int k = warpSize / 2; k; k /= 2)
        l.sum += __shfl_xor(l.sum, k);
    out[i] = l;
}

int main()
{
    hipDeviceProp_t properties;
    HIP(hipGetDeviceProperties(&properties, 0));
    const int size = properties.warpSize;
    unsigned long long thirds = 0, odd = 0;
    for (int i = 0; i < size; i++) {
        thirds |= i % 3 ? 0 : 1ull << i;
        odd |= i & 1 && i != 7 ? 1ull << i : 0;
    }
    const device_array<lane> out(size);
    ask<<<1, size>>>(out);
    const std::vector<lane> lanes = out.get();
    for (int i = 0; i < size; i++) {
        const lane &l = lanes[i];
        CHECK(l.indexed == 15 && l.up == (i < 2 ? i : i - 2) && l.down == (i + 3 < size ? i + 3 : i));
        CHECK(l.exchanged == (i ^ 7) && l.narrow == i / 8 * 8 + 1 && l.any && l.all);
        CHECK(l.ballot == thirds && l.active == (i & 1 ? odd : 0) && l.sum == size * (size - 1) / 2);
    }
    return 0;
}
