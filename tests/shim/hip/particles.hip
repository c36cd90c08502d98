// SPDX-License-Identifier: MIT
// Particles in a box: cells by counting, forces from the neighbouring cells, velocity Verlet; the same on the host.
#include "check.h"
#include <cmath>
#include <numeric>
#include <vector>

constexpr int SIDE = 8, CELLS = SIDE * SIDE * SIDE;

struct particle {
    float3 position, velocity;
};

__host__ __device__ inline int cell_of(float3 p)
{
    const auto at = [](float x) { return (int)x < 0 ? 0 : (int)x >= SIDE ? SIDE - 1 : (int)x; };
    return (at(p.z) * SIDE + at(p.y)) * SIDE + at(p.x);
}

// Soft spheres of diameter 1.
__host__ __device__ inline void add_force(float3 a, float3 b, float3 &force)
{
    const float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z, d2 = x * x + y * y + z * z;
    if (d2 >= 1 || d2 == 0)
        return;
    const float d = sqrtf(d2), f = 20 * (1 - d) / d;
    force.x += f * x;
    force.y += f * y;
    force.z += f * z;
}

__global__ void count(const particle *p, int n, int *counts)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&counts[cell_of(p[i].position)], 1);
}

// One workgroup.
__global__ void starts(const int *counts, int *start)
{
    __shared__ int sums[CELLS];
    const int i = threadIdx.x;
    sums[i] = counts[i];
    __syncthreads();
    for (int d = 1; d < CELLS; d *= 2) {
        const int other = i >= d ? sums[i - d] : 0;
        __syncthreads();
        sums[i] += other;
        __syncthreads();
    }
    start[i + 1] = sums[i];
    if (!i)
        start[0] = 0;
}

__global__ void fill(const particle *p, int n, const int *start, int *filled, int *order)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int cell = cell_of(p[i].position);
    order[start[cell] + atomicAdd(&filled[cell], 1)] = i;
}

__global__ void forces(const particle *p, int n, const int *start, const int *order, float3 *force)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float3 own = p[i].position;
    const int cell = cell_of(own), cx = cell % SIDE, cy = cell / SIDE % SIDE, cz = cell / SIDE / SIDE;
    float3 sum{0, 0, 0};
    for (int z = max(cz - 1, 0); z <= min(cz + 1, SIDE - 1); z++)
        for (int y = max(cy - 1, 0); y <= min(cy + 1, SIDE - 1); y++)
            for (int x = max(cx - 1, 0); x <= min(cx + 1, SIDE - 1); x++) {
                const int other = (z * SIDE + y) * SIDE + x;
                for (int k = start[other]; k < start[other + 1]; k++)
                    add_force(own, p[order[k]].position, sum);
            }
    force[i] = sum;
}

__global__ void move(particle *p, const float3 *force, int n, float dt)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    particle q = p[i];
    q.velocity.x += force[i].x * dt;
    q.velocity.y += force[i].y * dt;
    q.velocity.z += (force[i].z - 1) * dt;
    q.position.x += q.velocity.x * dt;
    q.position.y += q.velocity.y * dt;
    q.position.z += q.velocity.z * dt;
    const auto bounce = [](float &x, float &v) {
        if (x < 0 || x > SIDE) {
            x = x < 0 ? -x : 2 * SIDE - x;
            v = -v;
        }
    };
    bounce(q.position.x, q.velocity.x);
    bounce(q.position.y, q.velocity.y);
    bounce(q.position.z, q.velocity.z);
    p[i] = q;
}

int main()
{
    const int n = 1500, steps = 6;
    const float dt = 0.01f;
    std::vector<particle> host(n), got(n);
    unsigned seed = 3;
    const auto next = [&] { return ((seed = seed * 1664525 + 1013904223) >> 8) / 16777216.0f; };
    for (auto &p : host)
        p = {{next() * SIDE, next() * SIDE, next() * SIDE}, {next() - 0.5f, next() - 0.5f, next() - 0.5f}};
    particle *p;
    int *counts, *start, *order;
    float3 *force;
    HIP(hipMalloc(&p, n * sizeof *p));
    HIP(hipMalloc(&counts, 2 * CELLS * sizeof *counts));
    HIP(hipMalloc(&start, (CELLS + 1) * sizeof *start));
    HIP(hipMalloc(&order, n * sizeof *order));
    HIP(hipMalloc(&force, n * sizeof *force));
    HIP(hipMemcpy(p, host.data(), n * sizeof *p, hipMemcpyHostToDevice));
    const int groups = (n + 127) / 128;
    for (int s = 0; s < steps; s++) {
        HIP(hipMemsetAsync(counts, 0, 2 * CELLS * sizeof *counts));
        count<<<groups, 128>>>(p, n, counts);
        starts<<<1, CELLS>>>(counts, start);
        fill<<<groups, 128>>>(p, n, start, counts + CELLS, order);
        forces<<<groups, 128>>>(p, n, start, order, force);
        move<<<groups, 128>>>(p, force, n, dt);
    }
    HIP(hipMemcpy(got.data(), p, n * sizeof *p, hipMemcpyDeviceToHost));
    for (int s = 0; s < steps; s++) {
        std::vector<float3> sums(n);
        for (int i = 0; i < n; i++) {
            float3 sum{0, 0, 0};
            for (int k = 0; k < n; k++)
                add_force(host[i].position, host[k].position, sum);
            sums[i] = sum;
        }
        for (int i = 0; i < n; i++) {
            particle &q = host[i];
            q.velocity.x += sums[i].x * dt, q.velocity.y += sums[i].y * dt, q.velocity.z += (sums[i].z - 1) * dt;
            float *x[] = {&q.position.x, &q.position.y, &q.position.z}, *v[] = {&q.velocity.x, &q.velocity.y, &q.velocity.z};
            for (int d = 0; d < 3; d++) {
                *x[d] += *v[d] * dt;
                if (*x[d] < 0 || *x[d] > SIDE)
                    *x[d] = *x[d] < 0 ? -*x[d] : 2 * SIDE - *x[d], *v[d] = -*v[d];
            }
        }
    }
    double worst = 0;
    for (int i = 0; i < n; i++)
        worst = std::fmax(worst, std::fabs(host[i].position.x - got[i].position.x) +
                                     std::fabs(host[i].position.y - got[i].position.y) +
                                     std::fabs(host[i].position.z - got[i].position.z));
    CHECK(worst < 1e-4); // sums in another order
    HIP(hipFree(p));
    HIP(hipFree(counts));
    HIP(hipFree(start));
    HIP(hipFree(order));
    HIP(hipFree(force));
    return 0;
}
