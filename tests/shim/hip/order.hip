// SPDX-License-Identifier: MIT
// What tells the host that a copy is complete never comes before its bytes: callbacks, events, values that a stream writes,
// host nodes of graphs.
#include "array.h"

static const size_t sizes[] = {4, 1000, 5 << 18}; // ints; the last copy does not run on the thread that asks for it

__global__ void fill(int *p, size_t n, int value)
{
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        p[i] = value;
}

struct look {
    const int *host;
    size_t size;
    int first = -1, last = -1;
};

static void take(void *user)
{
    look *l = static_cast<look *>(user);
    l->first = l->host[0];
    l->last = l->host[l->size - 1];
}

static void take_in_stream(hipStream_t, hipError_t status, void *user)
{
    CHECK(status == hipSuccess);
    take(user);
}

static void streams(hipStream_t stream, int *device, int *host, unsigned *flag, int value, size_t n)
{
    look l{host, n};
    fill<<<8, 64, 0, stream>>>(device, n, value);
    HIP(hipMemcpyAsync(host, device, n * sizeof *host, hipMemcpyDeviceToHost, stream));
    HIP(hipStreamAddCallback(stream, take_in_stream, &l, 0));
    HIP(hipStreamSynchronize(stream));
    CHECK(l.first == value && l.last == value);

    hipEvent_t event;
    HIP(hipEventCreate(&event));
    fill<<<8, 64, 0, stream>>>(device, n, value + 1);
    HIP(hipMemcpyAsync(host, device, n * sizeof *host, hipMemcpyDeviceToHost, stream));
    HIP(hipEventRecord(event, stream));
    while (hipEventQuery(event) == hipErrorNotReady) {
    }
    CHECK(host[0] == value + 1 && host[n - 1] == value + 1);
    HIP(hipEventDestroy(event));

    fill<<<8, 64, 0, stream>>>(device, n, value + 2);
    HIP(hipMemcpyAsync(host, device, n * sizeof *host, hipMemcpyDeviceToHost, stream));
    HIP(hipStreamWriteValue32(stream, flag, value, 0));
    while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != static_cast<unsigned>(value)) {
    }
    CHECK(host[0] == value + 2 && host[n - 1] == value + 2);
    HIP(hipStreamSynchronize(stream));
}

// HIP before 5.5 orders a host node only in the first launch of an executable graph.
static void graphs(hipStream_t stream, int *device, int *other, int *host, int value, size_t n)
{
    hipGraph_t graph;
    hipGraphExec_t executable;
    hipGraphNode_t kernel, between, copy, call;
    look l{host, n};
    void *arguments[] = {&device, &n, &value};
    hipKernelNodeParams parameters = {};
    hipHostNodeParams calls = {take, &l};
    parameters.func = reinterpret_cast<void *>(fill);
    parameters.gridDim = dim3(8);
    parameters.blockDim = dim3(64);
    parameters.kernelParams = arguments;
    HIP(hipGraphCreate(&graph, 0));
    HIP(hipGraphAddKernelNode(&kernel, graph, nullptr, 0, &parameters));
    HIP(hipGraphAddMemcpyNode1D(&between, graph, &kernel, 1, other, device, n * sizeof *host, hipMemcpyDeviceToDevice));
    HIP(hipGraphAddMemcpyNode1D(&copy, graph, &between, 1, host, other, n * sizeof *host, hipMemcpyDeviceToHost));
    HIP(hipGraphAddHostNode(&call, graph, &copy, 1, &calls));
    HIP(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
    HIP(hipGraphLaunch(executable, stream));
    HIP(hipStreamSynchronize(stream));
    CHECK(l.first == value && l.last == value);
    HIP(hipGraphExecDestroy(executable));
    HIP(hipGraphDestroy(graph));
}

int main()
{
    const size_t most = sizes[2];
    int *device, *other, *host;
    unsigned *flag;
    hipStream_t stream;
    HIP(hipStreamCreate(&stream));
    HIP(hipMalloc(&device, most * sizeof *device));
    HIP(hipMalloc(&other, most * sizeof *other));
    HIP(hipHostMalloc(&host, most * sizeof *host, 0));
    HIP(hipHostMalloc(&flag, sizeof *flag, 0));
    *flag = 0;
    for (int round = 1; round <= 8; round++)
        for (size_t n : sizes)
            if (n < most || round <= 2) {
                const int value = 100 * round + static_cast<int>(n % 97);
                streams(stream, device, host, flag, value, n);
                graphs(stream, device, other, host, value + 10, n);
            }
    HIP(hipFree(device));
    HIP(hipFree(other));
    HIP(hipHostFree(host));
    HIP(hipHostFree(flag));
    HIP(hipStreamDestroy(stream));
    return 0;
}
