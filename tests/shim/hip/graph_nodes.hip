// SPDX-License-Identifier: MIT
// A graph that is built of nodes: fill, two kernels side by side, a kernel that needs both, copy; launched twice.
#include "array.h"

enum { N = 1000 };

__global__ void add(int *p, int value)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        p[i] += value * i;
}

__global__ void join(int *out, const int *a, const int *b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        out[i] += a[i] * b[i];
}

int main()
{
    const device_array<int> a(N), b(std::vector<int>(N, 1)), out(std::vector<int>(N, 0));
    std::vector<int> host(N);
    hipGraph_t graph;
    hipGraphExec_t executable;
    hipGraphNode_t fill, first, second, both, copy;
    hipStream_t stream;
    int *pa = a, *pb = b, *po = out, two = 2, three = 3;
    size_t count = 0;
    HIP(hipStreamCreate(&stream));
    HIP(hipGraphCreate(&graph, 0));
    hipMemsetParams set = {};
    set.dst = pa;
    set.elementSize = 4;
    set.width = N;
    set.height = 1;
    set.value = 0;
    HIP(hipGraphAddMemsetNode(&fill, graph, nullptr, 0, &set));
    const auto kernel = [&](void *function, void **arguments) {
        hipKernelNodeParams parameters = {};
        parameters.func = function;
        parameters.gridDim = dim3((N + 127) / 128);
        parameters.blockDim = dim3(128);
        parameters.kernelParams = arguments;
        return parameters;
    };
    void *add_a[] = {&pa, &two}, *add_b[] = {&pb, &three}, *of_both[] = {&po, &pa, &pb};
    hipKernelNodeParams parameters = kernel(reinterpret_cast<void *>(add), add_a);
    HIP(hipGraphAddKernelNode(&first, graph, &fill, 1, &parameters));
    parameters = kernel(reinterpret_cast<void *>(add), add_b);
    HIP(hipGraphAddKernelNode(&second, graph, nullptr, 0, &parameters));
    parameters = kernel(reinterpret_cast<void *>(join), of_both);
    const hipGraphNode_t needed[] = {first, second};
    HIP(hipGraphAddKernelNode(&both, graph, needed, 2, &parameters));
    HIP(hipGraphAddMemcpyNode1D(&copy, graph, &both, 1, host.data(), po, N * sizeof(int), hipMemcpyDeviceToHost));
    HIP(hipGraphGetNodes(graph, nullptr, &count));
    CHECK(count == 5);
    HIP(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
    int sum = 0, fives = 1; // of element 5
    for (int round = 0; round < 2; round++) {
        HIP(hipGraphLaunch(executable, stream));
        HIP(hipStreamSynchronize(stream));
        fives += 15;
        sum += 10 * fives;
        CHECK(host[5] == sum && host[0] == 0);
    }
    HIP(hipGraphExecDestroy(executable));
    HIP(hipGraphDestroy(graph));
    HIP(hipStreamDestroy(stream));
    return 0;
}
