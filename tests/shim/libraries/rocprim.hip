// SPDX-License-Identifier: MIT
// rocPRIM's device-wide algorithms against those of the C++ library.
#include "../hip/check.h"

#include <rocprim/device/device_radix_sort.hpp>
#include <rocprim/device/device_reduce.hpp>
#include <rocprim/device/device_scan.hpp>
#include <rocprim/device/device_select.hpp>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace {

// Calls the algorithm twice, as rocPRIM wants it: the first call asks for the size of its storage.
template <typename Algorithm> void run(Algorithm algorithm)
{
    size_t bytes = 0;
    void *storage;
    HIP(algorithm(static_cast<void *>(nullptr), bytes));
    HIP(hipMalloc(&storage, bytes));
    HIP(algorithm(storage, bytes));
    HIP(hipDeviceSynchronize());
    HIP(hipFree(storage));
}

template <typename T> T *upload(const std::vector<T> &from)
{
    T *pointer;
    HIP(hipMalloc(&pointer, from.size() * sizeof(T)));
    HIP(hipMemcpy(pointer, from.data(), from.size() * sizeof(T), hipMemcpyHostToDevice));
    return pointer;
}

template <typename T> std::vector<T> download(const T *pointer, size_t size)
{
    std::vector<T> to(size);
    HIP(hipMemcpy(to.data(), pointer, size * sizeof(T), hipMemcpyDeviceToHost));
    return to;
}

struct is_odd {
    __host__ __device__ bool operator()(unsigned x) const
    {
        return x & 1;
    }
};

void check(size_t size)
{
    std::mt19937 random(static_cast<unsigned>(size));
    std::vector<unsigned> keys(size), order(size), expected(size);
    for (unsigned &key : keys)
        key = random() % (size < 10000 ? 100 : ~0u); // the small one has equal keys
    std::iota(order.begin(), order.end(), 0u);
    unsigned *in = upload(keys), *numbers = upload(order), *out = upload(keys), *sorted_order = upload(order);
    size_t *count = upload(std::vector<size_t>(1));

    run([&](void *storage, size_t &bytes) {
        return rocprim::radix_sort_pairs(storage, bytes, in, out, numbers, sorted_order, size);
    });
    std::stable_sort(order.begin(), order.end(), [&](unsigned a, unsigned b) { return keys[a] < keys[b]; });
    CHECK(download(sorted_order, size) == order);
    expected = keys;
    std::sort(expected.begin(), expected.end());
    CHECK(download(out, size) == expected);

    run([&](void *storage, size_t &bytes) {
        return rocprim::inclusive_scan(storage, bytes, in, out, size, rocprim::plus<unsigned>());
    });
    std::partial_sum(keys.begin(), keys.end(), expected.begin());
    CHECK(download(out, size) == expected);

    run([&](void *storage, size_t &bytes) {
        return rocprim::exclusive_scan(storage, bytes, in, out, 7u, size, rocprim::plus<unsigned>());
    });
    std::exclusive_scan(keys.begin(), keys.end(), expected.begin(), 7u);
    CHECK(download(out, size) == expected);

    run([&](void *storage, size_t &bytes) {
        return rocprim::reduce(storage, bytes, in, out, 5u, size, rocprim::plus<unsigned>());
    });
    CHECK(download(out, 1)[0] == std::accumulate(keys.begin(), keys.end(), 5u));
    run([&](void *storage, size_t &bytes) {
        return rocprim::reduce(storage, bytes, in, out, 0u, size, rocprim::maximum<unsigned>());
    });
    CHECK(download(out, 1)[0] == *std::max_element(keys.begin(), keys.end()));

    run([&](void *storage, size_t &bytes) {
        return rocprim::select(storage, bytes, in, out, count, size, is_odd());
    });
    expected.clear();
    std::copy_if(keys.begin(), keys.end(), std::back_inserter(expected), is_odd());
    CHECK(download(count, 1)[0] == expected.size());
    CHECK(download(out, expected.size()) == expected);

    for (void *pointer : {static_cast<void *>(in), static_cast<void *>(numbers), static_cast<void *>(out),
                          static_cast<void *>(sorted_order), static_cast<void *>(count)})
        HIP(hipFree(pointer));
}

} // namespace

int main()
{
    check(1);
    check(3001);
    check(200000);
    return 0;
}
