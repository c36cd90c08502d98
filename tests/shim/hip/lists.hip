// SPDX-License-Identifier: MIT
// Lists of nodes that the kernel allocates with malloc(): built by one kernel, walked by another, freed by a third.
#include "check.h"
#include <vector>

struct node {
    int value;
    node *next;
};

__global__ void build(node **heads, int lists, int length)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= lists)
        return;
    node *head = nullptr;
    for (int k = 0; k < length + i % 3; k++) {
        node *made = (node *)malloc(sizeof *made);
        if (!made)
            break;
        made->value = i * 100 + k;
        made->next = head;
        head = made;
    }
    heads[i] = head;
}

// All threads push on one list.
__global__ void push(node **shared, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    node *made = new node{i, nullptr};
    unsigned long long *place = (unsigned long long *)shared, expected = *(volatile unsigned long long *)place, seen;
    for (;; expected = seen) {
        made->next = (node *)expected;
        __threadfence();
        seen = atomicCAS(place, expected, (unsigned long long)made);
        if (seen == expected)
            break;
    }
}

__global__ void walk(node *const *heads, int lists, int *sums, int *lengths)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= lists)
        return;
    int sum = 0, length = 0;
    for (const node *at = heads[i]; at; at = at->next, length++)
        sum += at->value;
    sums[i] = sum;
    lengths[i] = length;
}

__global__ void release(node **heads, int lists)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= lists)
        return;
    for (node *at = heads[i]; at;) {
        node *next = at->next;
        free(at);
        at = next;
    }
    heads[i] = nullptr;
}

int main()
{
    const int lists = 100, length = 5, pushed = 200;
    node **heads;
    int *sums, *lengths;
    HIP(hipMalloc(&heads, (lists + 1) * sizeof *heads));
    HIP(hipMalloc(&sums, (lists + 1) * sizeof *sums));
    HIP(hipMalloc(&lengths, (lists + 1) * sizeof *lengths));
    HIP(hipMemset(heads, 0, (lists + 1) * sizeof *heads));
    build<<<2, 64>>>(heads, lists, length);
    push<<<4, 64>>>(heads + lists, pushed);
    walk<<<2, 64>>>(heads, lists + 1, sums, lengths);
    std::vector<int> sum(lists + 1), count(lists + 1);
    HIP(hipMemcpy(sum.data(), sums, sum.size() * 4, hipMemcpyDeviceToHost));
    HIP(hipMemcpy(count.data(), lengths, count.size() * 4, hipMemcpyDeviceToHost));
    for (int i = 0; i < lists; i++) {
        const int k = length + i % 3;
        CHECK(count[i] == k);
        CHECK(sum[i] == i * 100 * k + k * (k - 1) / 2);
    }
    CHECK(count[lists] == pushed);
    CHECK(sum[lists] == pushed * (pushed - 1) / 2);
    release<<<2, 64>>>(heads, lists + 1);
    HIP(hipDeviceSynchronize());
    HIP(hipFree(heads));
    HIP(hipFree(sums));
    HIP(hipFree(lengths));
    return 0;
}
