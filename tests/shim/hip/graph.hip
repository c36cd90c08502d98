// SPDX-License-Identifier: MIT
// A captured graph that is launched twice, copies in three dimensions, values that streams write and wait for.
#include "check.h"
#include <vector>

__global__ void increment(int *p, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i]++;
}

static void graph(hipStream_t stream)
{
    const int n = 1000;
    int *p, values[n];
    hipGraph_t captured;
    hipGraphExec_t executable;
    HIP(hipMalloc(&p, sizeof values));
    HIP(hipMemset(p, 0, sizeof values));
    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    increment<<<4, 256, 0, stream>>>(p, n);
    increment<<<4, 256, 0, stream>>>(p, n);
    HIP(hipStreamEndCapture(stream, &captured));
    HIP(hipGraphInstantiate(&executable, captured, nullptr, nullptr, 0));
    HIP(hipGraphLaunch(executable, stream));
    HIP(hipGraphLaunch(executable, stream));
    HIP(hipStreamSynchronize(stream));
    HIP(hipMemcpy(values, p, sizeof values, hipMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        CHECK(values[i] == 4);
}

static void copy_3d()
{
    const hipExtent extent = make_hipExtent(60, 7, 5); // rows of the device are longer
    std::vector<char> in(60 * 7 * 5), out(in.size());
    hipPitchedPtr device;
    for (size_t i = 0; i < in.size(); i++)
        in[i] = static_cast<char>(i * 11 >> 2);
    HIP(hipMalloc3D(&device, extent));
    CHECK(device.pitch > 60);
    hipMemcpy3DParms to = {}, from = {};
    to.srcPtr = make_hipPitchedPtr(in.data(), 60, 60, 7);
    to.dstPtr = from.srcPtr = device;
    from.dstPtr = make_hipPitchedPtr(out.data(), 60, 60, 7);
    to.extent = from.extent = extent;
    to.kind = hipMemcpyHostToDevice;
    from.kind = hipMemcpyDeviceToHost;
    HIP(hipMemcpy3D(&to));
    HIP(hipMemcpy3D(&from));
    CHECK(in == out);
}

static void values(hipStream_t stream)
{
    void *signal;
    HIP(hipExtMallocWithFlags(&signal, 8, hipMallocSignalMemory));
    HIP(hipStreamWriteValue64(stream, signal, 5, 0));
    HIP(hipStreamWaitValue64(stream, signal, 5, hipStreamWaitValueEq));
    HIP(hipStreamSynchronize(stream));
    HIP(hipFree(signal));
}

int main()
{
    hipStream_t stream;
    HIP(hipStreamCreate(&stream));
    graph(stream);
    copy_3d();
    values(stream);
    HIP(hipStreamDestroy(stream));
    return 0;
}
