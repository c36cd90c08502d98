// SPDX-License-Identifier: MIT
// Pitched and 3D memory: parts of boxes, fills, asynchronous copies.
#include "array.h"
#include <cstring>

int main()
{
    const size_t width = 40, height = 11, depth = 6;
    std::vector<unsigned char> in(width * height * depth), out(in.size(), 0xcc), expected(in.size(), 0xaa);
    hipPitchedPtr device;
    hipStream_t stream;
    for (size_t i = 0; i < in.size(); i++)
        in[i] = static_cast<unsigned char>(i * 17 >> 1);
    HIP(hipStreamCreate(&stream));
    HIP(hipMalloc3D(&device, make_hipExtent(width, height, depth)));
    HIP(hipMemset3D(device, 0xaa, make_hipExtent(width, height, depth)));
    hipMemcpy3DParms part = {};
    part.srcPtr = make_hipPitchedPtr(in.data(), width, width, height);
    part.srcPos = make_hipPos(3, 2, 1);
    part.dstPtr = device;
    part.dstPos = make_hipPos(10, 4, 2);
    part.extent = make_hipExtent(20, 5, 3);
    part.kind = hipMemcpyHostToDevice;
    HIP(hipMemcpy3DAsync(&part, stream));
    HIP(hipStreamSynchronize(stream));
    hipMemcpy3DParms all = {};
    all.srcPtr = device;
    all.dstPtr = make_hipPitchedPtr(out.data(), width, width, height);
    all.extent = make_hipExtent(width, height, depth);
    all.kind = hipMemcpyDeviceToHost;
    HIP(hipMemcpy3D(&all));
    for (size_t z = 0; z < 3; z++)
        for (size_t y = 0; y < 5; y++)
            std::memcpy(&expected[((z + 2) * height + y + 4) * width + 10], &in[((z + 1) * height + y + 2) * width + 3], 20);
    CHECK(out == expected);

    void *plane;
    size_t pitch;
    HIP(hipMallocPitch(&plane, &pitch, width, height));
    HIP(hipMemset2D(plane, pitch, 0x11, width, height));
    HIP(hipMemset2DAsync(static_cast<char *>(plane) + 5 * pitch + 7, pitch, 0x22, 9, 3, stream));
    HIP(hipMemcpy2DAsync(out.data(), width, plane, pitch, width, height, hipMemcpyDeviceToHost, stream));
    HIP(hipStreamSynchronize(stream));
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++)
            CHECK(out[y * width + x] == (y >= 5 && y < 8 && x >= 7 && x < 16 ? 0x22 : 0x11));
    HIP(hipFree(device.ptr));
    HIP(hipFree(plane));
    HIP(hipStreamDestroy(stream));
    return 0;
}
