// SPDX-License-Identifier: MIT
// Memory of the device as long as the object lives, with vectors as its contents.
#pragma once
#include "check.h"

#include <vector>

template <typename T> class device_array
{
  public:
    explicit device_array(size_t size) : size(size)
    {
        HIP(hipMalloc(&pointer, size * sizeof(T) + 16));
    }
    explicit device_array(const std::vector<T> &from) : device_array(from.size())
    {
        HIP(hipMemcpy(pointer, from.data(), size * sizeof(T), hipMemcpyHostToDevice));
    }
    ~device_array()
    {
        HIP(hipFree(pointer));
    }
    device_array(const device_array &) = delete;
    operator T *() const
    {
        return pointer;
    }
    // Waits for what the default stream has to do.
    std::vector<T> get() const
    {
        std::vector<T> to(size);
        HIP(hipMemcpy(to.data(), pointer, size * sizeof(T), hipMemcpyDeviceToHost));
        return to;
    }

  private:
    T *pointer = nullptr;
    size_t size;
};
