// SPDX-License-Identifier: MIT
// Template kernels, functors, lambdas, arguments by value that are large, packs of arguments.
#include "array.h"

template <typename T, int width> struct chunk {
    T values[width];
};

struct scale {
    double factor;
    template <typename T> __device__ T operator()(T x) const
    {
        return T(x * factor);
    }
};

template <typename T, int width, typename Function> __global__ void apply(chunk<T, width> in, T *out, Function function)
{
    if (threadIdx.x < width)
        out[threadIdx.x] = function(in.values[threadIdx.x]);
}

template <typename... Ts> __device__ auto sum(Ts... values)
{
    return (values + ...);
}

template <typename... Ts> __global__ void total(double *out, Ts... values)
{
    *out = sum(double(values)...);
}

template <typename T, int width> static void check(T offset)
{
    chunk<T, width> in;
    for (int i = 0; i < width; i++)
        in.values[i] = T(i) + offset;
    const device_array<T> out(width);
    apply<<<1, 256>>>(in, static_cast<T *>(out), scale{2.0});
    std::vector<T> got = out.get();
    for (int i = 0; i < width; i++)
        CHECK(got[i] == T(2 * in.values[i]));
    const T extra = 3;
    apply<<<1, 256>>>(in, static_cast<T *>(out), [=] __device__(T x) { return T(x - extra); });
    got = out.get();
    for (int i = 0; i < width; i++)
        CHECK(got[i] == T(in.values[i] - 3));
}

int main()
{
    check<int, 200>(5);
    check<double, 100>(0.5);
    check<unsigned char, 3>(100);
    check<long long, 64>(1ll << 40);
    const device_array<double> out(1);
    total<<<1, 1>>>(static_cast<double *>(out), 1, 2.5f, 3u, char(4), 5ll, 0.25);
    CHECK(out.get()[0] == 15.75);
    return 0;
}
