// SPDX-License-Identifier: MIT
// Three streams, as a pipeline over chunks in two buffers: copies in, kernels, copies out, ordered by events.
#include "check.h"
#include <vector>

__global__ void square(const int *in, int *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * in[i] + 1;
}

int main()
{
    constexpr int CHUNK = 4096, CHUNKS = 12, BUFFERS = 2;
    int *host_in, *host_out, *in[BUFFERS], *out[BUFFERS];
    hipStream_t up, compute, down;
    hipEvent_t uploaded[BUFFERS], computed[BUFFERS], downloaded[BUFFERS], first, last;
    HIP(hipHostMalloc(&host_in, CHUNKS * CHUNK * sizeof(int)));
    HIP(hipHostMalloc(&host_out, CHUNKS * CHUNK * sizeof(int), hipHostMallocNonCoherent));
    HIP(hipStreamCreateWithFlags(&up, hipStreamNonBlocking));
    HIP(hipStreamCreateWithFlags(&compute, hipStreamNonBlocking));
    HIP(hipStreamCreate(&down));
    HIP(hipEventCreate(&first));
    HIP(hipEventCreate(&last));
    for (int b = 0; b < BUFFERS; b++) {
        HIP(hipMalloc(&in[b], CHUNK * sizeof(int)));
        HIP(hipMalloc(&out[b], CHUNK * sizeof(int)));
        HIP(hipEventCreateWithFlags(&uploaded[b], hipEventDisableTiming));
        HIP(hipEventCreateWithFlags(&computed[b], hipEventDisableTiming));
        HIP(hipEventCreateWithFlags(&downloaded[b], hipEventDisableTiming));
    }
    for (int i = 0; i < CHUNKS * CHUNK; i++)
        host_in[i] = i % 1000 - 500;
    HIP(hipEventRecord(first, up));
    for (int c = 0; c < CHUNKS; c++) {
        const int b = c % BUFFERS;
        if (c >= BUFFERS)
            HIP(hipStreamWaitEvent(up, computed[b], 0));
        HIP(hipMemcpyAsync(in[b], host_in + c * CHUNK, CHUNK * sizeof(int), hipMemcpyHostToDevice, up));
        HIP(hipEventRecord(uploaded[b], up));
        HIP(hipStreamWaitEvent(compute, uploaded[b], 0));
        if (c >= BUFFERS)
            HIP(hipStreamWaitEvent(compute, downloaded[b], 0));
        square<<<(CHUNK + 127) / 128, 128, 0, compute>>>(in[b], out[b], CHUNK);
        HIP(hipEventRecord(computed[b], compute));
        HIP(hipStreamWaitEvent(down, computed[b], 0));
        HIP(hipMemcpyAsync(host_out + c * CHUNK, out[b], CHUNK * sizeof(int), hipMemcpyDeviceToHost, down));
        HIP(hipEventRecord(downloaded[b], down));
    }
    HIP(hipEventRecord(last, down));
    HIP(hipEventSynchronize(last));
    float milliseconds = -1;
    HIP(hipEventElapsedTime(&milliseconds, first, last));
    CHECK(milliseconds > 0);
    for (int i = 0; i < CHUNKS * CHUNK; i++)
        CHECK(host_out[i] == host_in[i] * host_in[i] + 1);
    CHECK(hipStreamQuery(up) == hipSuccess && hipStreamQuery(down) == hipSuccess);
    for (int b = 0; b < BUFFERS; b++) {
        HIP(hipFree(in[b]));
        HIP(hipFree(out[b]));
        HIP(hipEventDestroy(uploaded[b]));
        HIP(hipEventDestroy(computed[b]));
        HIP(hipEventDestroy(downloaded[b]));
    }
    HIP(hipEventDestroy(first));
    HIP(hipEventDestroy(last));
    HIP(hipStreamDestroy(up));
    HIP(hipStreamDestroy(compute));
    HIP(hipStreamDestroy(down));
    HIP(hipHostFree(host_in));
    HIP(hipHostFree(host_out));
    return 0;
}
