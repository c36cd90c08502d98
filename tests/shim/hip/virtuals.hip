// SPDX-License-Identifier: MIT
// Virtual functions, new and delete, a linked list on the device's heap.
#include "array.h"

struct shape {
    __device__ virtual int area() const = 0;
    __device__ virtual ~shape() {}
};
struct square : shape {
    int side;
    __device__ explicit square(int side) : side(side) {}
    __device__ int area() const override
    {
        return side * side;
    }
};
struct rectangle : square {
    int other;
    __device__ rectangle(int side, int other) : square(side), other(other) {}
    __device__ int area() const override
    {
        return side * other;
    }
};

__global__ void make(shape **shapes)
{
    const int i = threadIdx.x;
    shapes[i] = i % 2 ? static_cast<shape *>(new square(i)) : new rectangle(i, i + 5);
}

__global__ void measure(shape **shapes, int *out)
{
    out[threadIdx.x] = shapes[threadIdx.x]->area();
    delete shapes[threadIdx.x];
}

struct node {
    int value;
    node *next;
};

__global__ void list(int n, int *sum)
{
    node *head = nullptr;
    for (int i = 0; i < n; i++) {
        node *added = static_cast<node *>(malloc(sizeof(node)));
        added->value = i;
        added->next = head;
        head = added;
    }
    *sum = 0;
    while (head) {
        node *next = head->next;
        *sum += head->value;
        free(head);
        head = next;
    }
}

int main()
{
    const device_array<shape *> shapes(32);
    const device_array<int> areas(32), sum(1);
    make<<<1, 32>>>(shapes);
    measure<<<1, 32>>>(shapes, areas);
    const std::vector<int> got = areas.get();
    for (int i = 0; i < 32; i++)
        CHECK(got[i] == (i % 2 ? i * i : i * (i + 5)));
    list<<<1, 1>>>(20, sum);
    CHECK(sum.get()[0] == 190);
    return 0;
}
