// SPDX-License-Identifier: MIT
// Kernels whose reports might depend on the order in which threads run their workgroups: see counts.py.

// Private arrays with computed indices lie in scratch memory. Half of the elements are read before they are written.
kernel void private_array(global const uint *in, global uint *out, uint n)
{
    const uint i = get_global_id(0);
    volatile uint some[40];
    uint sum = 0;
    for (uint k = 0; k < 40; k += 2)
        some[(in[(i * 7 + k) % n] + k) % 40] = k + i;
    for (uint k = 0; k < 20; k++)
        sum += some[(k * in[i % n]) % 40];
    out[i] = in[sum % n];
}

// The stack of functions that are not inlined; they take pointers to private, local and global memory alike.
__attribute__((noinline)) static uint walk(const uint *from, uint *to, uint n, uint seed)
{
    volatile uint kept[24];
    for (uint k = 0; k < 24; k++)
        kept[(seed * k + 5) % 24] = from[(seed + k) % n];
    uint sum = 0;
    for (uint k = 0; k < 24; k++)
        sum += kept[k];
    to[seed % 8] = sum;
    return sum;
}

kernel void stack_calls(global const uint *in, global uint *out, uint n)
{
    const uint i = get_global_id(0);
    local uint shared[64];
    uint mine[8] = {i};
    shared[get_local_id(0)] = in[i % n];
    barrier(CLK_LOCAL_MEM_FENCE);
    uint sum = walk((const uint *)in, mine, n, in[i % n] >> 8);
    sum += walk((const uint *)shared, (uint *)(out + i / 8 * 8), 64, (i & 7) * 9);
    sum += walk(mine, mine, 8, sum);
    out[get_global_size(0) + i] = sum + mine[sum % 8];
}

// Atomics that return nothing, in LDS and in memory, between barriers.
kernel void histogram(global const uint *in, global uint *bins, uint n)
{
    const uint l = get_local_id(0), i = get_global_id(0);
    local uint own[256];
    for (uint k = l; k < 256; k += get_local_size(0))
        own[k] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k <= get_group_id(0) % 5; k++)
        atomic_inc(&own[in[(i * 5 + k) % n] % 256]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = l; k < 256; k += get_local_size(0))
        if (own[k])
            atomic_add(&bins[k], own[k]);
}

// Atomics that return what they found decide where to write.
kernel void compact(global const uint *in, global uint *out, global uint *count, uint n)
{
    const uint i = get_global_id(0), word = in[i % n];
    if (word % 3 == 0)
        out[atomic_inc(count) * 4] = word;
}

// The last of all workgroups adds up what the others have left; which one it is depends on the order.
kernel void last_one(global const uint *in, global uint *part, global uint *count, global uint *out, uint n)
{
    const uint l = get_local_id(0), group = get_group_id(0), groups = get_num_groups(0);
    local uint last;
    if (l == 0) {
        uint sum = 0;
        for (uint k = 0; k < 16; k++)
            sum += in[(group * 16 + k) % n];
        atomic_store_explicit((volatile global atomic_uint *)&part[group], sum, memory_order_relaxed, memory_scope_device);
        last = atomic_inc(count) == groups - 1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (last)
        for (uint k = l; k < groups; k += get_local_size(0))
            out[k] = ((volatile global uint *)part)[k] + group;
}

kernel void spin_lock(global atomic_uint *lock, global uint *number)
{
    if (get_local_id(0))
        return;
    uint free = 0;
    while (!atomic_compare_exchange_weak_explicit(lock, &free, 1, memory_order_acquire, memory_order_relaxed,
                                                  memory_scope_device))
        free = 0;
    *number = *number * 3 + get_group_id(0);
    atomic_store_explicit(lock, 0, memory_order_release, memory_scope_device);
}

// All workgroups meet twice.
kernel void grid_barrier(global atomic_uint *arrived, global const uint *in, global uint *out)
{
    const uint groups = get_num_groups(0), group = get_group_id(0);
    for (uint round = 1; round <= 2; round++) {
        out[get_global_id(0)] = in[(get_global_id(0) * round) % get_global_size(0)];
        if (get_local_id(0) == 0) {
            atomic_fetch_add_explicit(arrived, 1, memory_order_acq_rel, memory_scope_device);
            while (atomic_load_explicit(arrived, memory_order_acquire, memory_scope_device) < round * groups)
                ;
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
}

kernel void prints(global const uint *in)
{
    if (get_local_id(0) == 3)
        printf("%u of %u\n", in[get_group_id(0)], (uint)get_group_id(0));
}

// What these atomics leave depends on the order, and so does what the next dispatch does with it.
kernel void exchange(global const uint *in, global uint *to, uint n)
{
    const uint i = get_global_id(0);
    (void)atomic_xchg(&to[in[i % n] % 64], i);
}

#if defined(__gfx803__) || defined(__gfx906__) || defined(__gfx1030__)
#define add_float(to, term) atomic_add((volatile global uint *)to, as_uint(term)) /* they have no such instruction */
#else
#define add_float(to, term) __builtin_amdgcn_global_atomic_fadd_f32(to, term)
#endif

kernel void float_sum(global const uint *in, global float *to, uint n)
{
    const uint i = get_global_id(0);
    add_float(&to[i / 64 * 7 % 64], (float)in[i % n] * 0x1p-13f);
}

kernel void follow(global const uint *from, global const uint *in, global uint *out, uint n)
{
    const uint i = get_global_id(0);
    uint at = from[i % 64];
    for (uint k = 0; k < from[get_group_id(0) % 64] % 7; k++)
        at = in[(at * 13 + k) % n];
    out[i] = at;
}

// Addresses without a pattern, in loops of different lengths.
kernel void gathers(global const uint *in, global uint *out, uint n)
{
    const uint i = get_global_id(0);
    uint at = in[i % n], sum = 0;
    for (uint k = 0; k < (i >> 5) % 11 + i % 3; k++) {
        at = in[at % n];
        sum += at;
    }
    out[sum % n] = sum;
}
