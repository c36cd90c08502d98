// SPDX-License-Identifier: MIT
// A kernel that stores one element behind its allocation, one that loads what nobody has written, and one without mistakes;
// "clean" runs the last one only.
#include <hip/hip_runtime.h>

#include <string.h>

__global__ void store_behind(int *out, int n)
{
    int i = threadIdx.x;
    if (i <= n)
        out[i] = i; // behind
}

__global__ void load_unwritten(int *out, const int *in)
{
    out[threadIdx.x] = in[threadIdx.x] + 1; // unwritten
}

int main(int argc, char **argv)
{
    const bool clean = argc > 1 && !strcmp(argv[1], "clean");
    int values[32], *written, *copied, *set, *unwritten, *out;
    for (int i = 0; i < 32; i++)
        values[i] = i;
    int failed = 0;
    failed |= hipMalloc(&written, sizeof values);
    failed |= hipMalloc(&copied, sizeof values);
    failed |= hipMalloc(&set, sizeof values);
    failed |= hipMalloc(&unwritten, sizeof values);
    failed |= hipMalloc(&out, sizeof values);
    failed |= hipMemcpyAsync(written, values, sizeof values, hipMemcpyHostToDevice, 0);
    failed |= hipMemcpyAsync(copied, written, sizeof values, hipMemcpyDeviceToDevice, 0);
    failed |= hipMemsetAsync(set, 1, sizeof values, 0);
    if (failed)
        return 10;
    load_unwritten<<<1, 32>>>(out, written);
    load_unwritten<<<1, 32>>>(out, copied);
    load_unwritten<<<1, 32>>>(out, set);
    if (!clean) {
        store_behind<<<1, 64>>>(out, 32);
        load_unwritten<<<1, 32>>>(out, unwritten);
    }
    failed |= hipDeviceSynchronize();
    if (!clean) // what has been freed when the report is made
        failed |= hipFree(out) | hipFree(unwritten);
    return failed ? 11 : 0;
}
