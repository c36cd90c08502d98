// SPDX-License-Identifier: MIT
// Branches: switches, divergent loops, calls with many arguments, recursion and calls through pointers.

#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable

kernel void switches(global const uint *a, global uint *out)
{
    const size_t i = get_global_id(0);
    uint x = a[i], sum = 0;
    for (int j = 0; j < 8; j++, x = x >> 3 | x << 29)
        switch (x & 15) {
        case 0:
            sum += 17;
            break;
        case 1:
            sum *= 3;
            break;
        case 2:
            sum ^= x;
            // falls through
        case 3:
            sum += j;
            break;
        case 4:
            sum = sum << 3 | sum >> 29;
            break;
        case 5:
            sum -= x >> 7;
            break;
        case 6:
            if (sum & 1)
                continue;
            sum |= 0x100;
            break;
        case 9:
            sum = ~sum;
            break;
        case 14:
            j++;
            break;
        default:
            sum += popcount(x);
        }
    out[i] = sum;
}

kernel void sparse_switch(global const int *a, global int *out)
{
    const size_t i = get_global_id(0);
    switch (a[i] % 5000) {
    case -4000:
    case 0:
        out[i] = 1;
        return;
    case 1:
        out[i] = 7;
        return;
    case -1:
        out[i] = 9;
        break;
    case 4999:
        out[i] = 11;
        break;
    default:
        out[i] = -a[i];
    }
    out[i] += 100;
}

// Each lane leaves each loop in a different iteration.
kernel void collatz(global const uint *a, global uint *out)
{
    const size_t i = get_global_id(0);
    uint n = a[i] % 10000 + 1, steps = 0, most = n;
    while (n != 1) {
        n = n % 2 ? 3 * n + 1 : n / 2;
        most = max(most, n);
        if (++steps > 150)
            break;
        for (uint j = n & 3; j > 0; j--)
            if ((most + j) % 11 == 0)
                goto next;
        most ^= 1;
    next:;
    }
    out[2 * i] = steps;
    out[2 * i + 1] = most;
}

kernel void early_exit(global const int *a, global int *out, uint n)
{
    const size_t i = get_global_id(0);
    if (i * 2 >= n || a[i] < 0)
        return;
    out[i] = a[i] % 7 == 0 ? 3 : 5;
}

// More arguments than registers: the rest is passed on the stack.
__attribute__((noinline)) ulong many(int a0, long a1, float a2, double a3, int4 a4, long4 a5, double4 a6, int8 a7, uint8 a8,
                                     short a9, char b0, uchar b1, half b2, int b3, ulong b4, int b5)
{
    const long4 s = (long4)(a4.x, a4.y, a4.z, a4.w) + a5 * 3;
    const double4 d = a6 * a3;
    return (ulong)(a0 + a1 + (long)a2 + s.x + s.y * 5 + s.z * 7 + s.w * 11) + as_ulong(d.x + d.y) + as_ulong(d.z - d.w) +
           (ulong)(a7.s0 + a7.s7 * 13) + a8.s1 + a8.s6 + (ulong)(a9 + b0 * 3 + b1 * 5 + (int)b2 + b3) + b4 * 3 + (ulong)b5;
}

kernel void many_arguments(global const int *a, global const double *b, global ulong *out)
{
    const size_t i = get_global_id(0);
    const int4 v = {a[i], a[i + 1], a[i + 2], a[i + 3]};
    const long4 w = {a[i], a[i + 4], b[i] > 0, i};
    const double4 d = {b[i], b[i + 1], b[i + 2], b[i + 3]};
    const int8 e = {v, v.wzyx};
    out[i] = many(a[i], (long)a[i + 1] << 20, (float)b[i], b[i + 1], v, w, d, e, as_uint8(e.s76543210), (short)a[i], (char)a[i],
                  (uchar)a[i + 1], (half)b[i], a[i + 2], (ulong)i, a[i + 3]);
}

// Recursion through a second function: LLVM 19 computes the stack of a self-recursive function for one call
// only.
__attribute__((noinline)) uint deeper(uint m, uint n);
__attribute__((noinline)) uint ackermann_like(uint m, uint n)
{
    uint local_values[4] = {m, n, m ^ n, m + n};
    if (m == 0)
        return n + 1;
    if (n == 0)
        return deeper(m - 1, 1) + local_values[(m + n) & 3];
    return deeper(m - 1, (deeper(m, n - 1) + local_values[n & 3]) % 5);
}
__attribute__((noinline)) uint deeper(uint m, uint n)
{
    return ackermann_like(m, n) + (m ^ n);
}

kernel void recursion(global const uint *a, global uint *out)
{
    const size_t i = get_global_id(0);
    out[i] = ackermann_like(a[i] % 4, (a[i] >> 2) % 4);
}

__attribute__((noinline)) uint even(uint n);
__attribute__((noinline)) uint odd(uint n)
{
    return n == 0 ? 1000 : even(n - 1) + n;
}
__attribute__((noinline)) uint even(uint n)
{
    return n == 0 ? 1 : odd(n - 1) * 3;
}

kernel void mutual_recursion(global const uint *a, global uint *out)
{
    const size_t i = get_global_id(0);
    out[i] = even(a[i] % 23);
}

typedef int operation(int, int);
static int plus(int a, int b) { return a + b; }
static int minus(int a, int b) { return a - b; }
static int times(int a, int b) { return a * b; }
static int shifted(int a, int b) { return a >> (b & 7); }

kernel void uniform_pointer(global const int *a, global int *out, global const uint *in)
{
    const size_t i = get_global_id(0);
    operation *const operations[4] = {plus, minus, times, shifted};
    int sum = a[i];
    for (int j = 0; j < 6; j++)
        sum = operations[in[j] & 3](sum, a[i + j]);
    out[i] = sum;
}

// Lanes of one wave call different functions.
kernel void divergent_pointer(global const int *a, global int *out)
{
    const size_t i = get_global_id(0);
    operation *const operations[4] = {plus, minus, times, shifted};
    int sum = a[i];
    for (int j = 0; j < 6; j++)
        sum = operations[(a[i] >> j & 3) ^ (j & 1)](sum, a[i + j]);
    out[i] = sum;
}

// Two and three dimensions.
kernel __attribute__((reqd_work_group_size(8, 4, 2))) void places(global uint *out)
{
    const size_t at = get_global_linear_id();
    out[8 * at] = (uint)(get_global_id(0) + 100 * get_global_id(1) + 10000 * get_global_id(2));
    out[8 * at + 1] = (uint)(get_local_id(0) + 100 * get_local_id(1) + 10000 * get_local_id(2));
    out[8 * at + 2] = (uint)(get_group_id(0) + 100 * get_group_id(1) + 10000 * get_group_id(2));
    out[8 * at + 3] = (uint)(get_global_size(0) + 10000 * get_global_size(1) * get_global_size(2));
    out[8 * at + 4] = (uint)(get_local_size(0) + 100 * get_local_size(1) + 10000 * get_local_size(2));
    out[8 * at + 5] = (uint)(get_num_groups(0) + 1000 * get_num_groups(1) * get_num_groups(2));
    out[8 * at + 6] = (uint)(get_local_linear_id() + 1000 * get_work_dim());
}

// The last workgroup is smaller.
kernel void rest(global uint *out)
{
    const size_t i = get_global_id(0);
    out[4 * i] = (uint)get_local_size(0);
    out[4 * i + 1] = (uint)get_enqueued_local_size(0);
    out[4 * i + 2] = (uint)get_num_groups(0);
    out[4 * i + 3] = (uint)get_global_size(0);
}

// Two waves use deep stacks at the same time.
__attribute__((noinline)) uint down(uint n, uint x);
__attribute__((noinline)) uint further(uint n, uint x)
{
    return n == 0 ? x : down(n - 1, x * 3 + n) ^ x;
}
__attribute__((noinline)) uint down(uint n, uint x)
{
    if (n == 0) {
        barrier(CLK_LOCAL_MEM_FENCE);
        return x;
    }
    return further(n - 1, x + 7) * 5 + x;
}

kernel __attribute__((reqd_work_group_size(128, 1, 1))) void stacks_apart(global const uint *a, global uint *out)
{
    const size_t i = get_global_id(0);
    out[i] = down(24, a[i]);
}
