// SPDX-License-Identifier: MIT
// Tables of function pointers, recursion, functions that are not inlined, arrays on the stack.
#include "array.h"

typedef int function(int, int);

__device__ __noinline__ int add(int a, int b)
{
    return a + b;
}
__device__ __noinline__ int multiply(int a, int b)
{
    return a * b;
}
__device__ __noinline__ int subtract(int a, int b)
{
    return a - b;
}
__device__ function *table[] = {add, multiply, subtract};

__device__ __noinline__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__device__ __noinline__ void fill(int *local, int seed)
{
    for (int i = 0; i < 16; i++)
        local[i] = seed * i;
}

__global__ void call(int *out)
{
    const int i = threadIdx.x;
    int local[16];
    fill(local, i);
    out[i] = table[i % 3](i, 7) + fibonacci(i % 9) + local[(i * 5) % 16];
}

int main()
{
    const int numbers[] = {0, 1, 1, 2, 3, 5, 8, 13, 21};
    const device_array<int> out(128);
    call<<<1, 128>>>(out);
    const std::vector<int> got = out.get();
    for (int i = 0; i < 128; i++)
        CHECK(got[i] == (i % 3 == 0 ? i + 7 : i % 3 == 1 ? i * 7 : i - 7) + numbers[i % 9] + i * (i * 5 % 16));
    return 0;
}
