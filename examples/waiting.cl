// SPDX-License-Identifier: MIT
// Kernels whose workgroups wait for one another: a scan with decoupled look-back, a barrier of the whole grid, a
// spin lock, and chains in both directions of the order in which workgroups start.

#define LOAD(place) atomic_load_explicit(place, memory_order_acquire, memory_scope_device)
#define STORE(place, value) atomic_store_explicit(place, value, memory_order_release, memory_scope_device)

enum { SUM = 1, PREFIX = 2 }; // what a workgroup has published so far

// Inclusive sums of `in` in one pass (Merrill and Garland 2016): each workgroup publishes the sum of its part, adds up
// what the ones before have published, and publishes its prefix. state: value in the low half, SUM or PREFIX above.
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void lookback_scan(global const uint *in, global uint *out,
                                                                           global atomic_ulong *state, uint n)
{
    local uint part[256];
    local uint before;
    const uint l = get_local_id(0), group = get_group_id(0), i = get_global_id(0);
    part[l] = i < n ? in[i] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = 1; d < 256; d *= 2) {
        const uint add = l >= d ? part[l - d] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        part[l] += add;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) {
        uint sum = 0;
        STORE(&state[group], (ulong)(group ? SUM : PREFIX) << 32 | part[255]);
        for (uint other = group; other-- > 0;) {
            ulong seen;
            do
                seen = LOAD(&state[other]);
            while (!(seen >> 32));
            sum += (uint)seen;
            if (seen >> 32 == PREFIX)
                break;
        }
        STORE(&state[group], (ulong)PREFIX << 32 | (sum + part[255]));
        before = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < n)
        out[i] = before + part[l];
}

// `steps` times: each workgroup takes its right neighbour's number of the step before and adds 1, with a barrier of all
// workgroups between steps. a and b take turns.
kernel void grid_barrier(global atomic_uint *arrived, global uint *a, global uint *b, uint steps)
{
    const uint groups = get_num_groups(0), group = get_group_id(0);
    for (uint step = 0; step < steps; step++) {
        if (get_local_id(0) == 0) {
            b[group] = a[(group + 1) % groups] + 1;
            atomic_fetch_add_explicit(arrived, 1, memory_order_acq_rel, memory_scope_device);
            while (LOAD(arrived) < (step + 1) * groups)
                ;
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
        global uint *other = a;
        a = b;
        b = other;
    }
}

// Under a lock, each workgroup moves a number on that only one at a time may touch.
kernel void spin_lock(global atomic_uint *lock, global uint *number, uint times)
{
    if (get_local_id(0) != 0)
        return;
    for (uint i = 0; i < times; i++) {
        uint free = 0;
        while (!atomic_compare_exchange_weak_explicit(lock, &free, 1, memory_order_acquire, memory_order_relaxed,
                                                      memory_scope_device))
            free = 0;
        *number = *number * 5 / 4 + 1 - *number / 4; // number + 1, slowly
        STORE(lock, 0);
    }
}

// Each workgroup waits for the number of the one `by` places on around the ring, and publishes that plus one; `first`
// begins. by = -1 waits for workgroups that start earlier, by = 1 for those that start later.
kernel void chain(global atomic_uint *number, uint first, int by)
{
    const uint group = get_group_id(0), groups = get_num_groups(0);
    if (get_local_id(0) != 0)
        return;
    uint value = 0;
    if (group != first)
        while (!(value = LOAD(&number[(group + groups + by) % groups])))
            ;
    STORE(&number[group], value + 1);
}

// The mistake that a GPU punishes: all lanes of a wave want the lock, and the one that has it waits for the others.
kernel void lock_in_lanes(global atomic_uint *lock, global uint *number)
{
    while (atomic_exchange_explicit(lock, 1, memory_order_acquire, memory_scope_device))
        ;
    *number += 1;
    STORE(lock, 0);
}

// Work-item 0 waits for what nobody sends, and the others of its workgroup at a barrier for it.
kernel void wait_for_nobody(global atomic_uint *flag)
{
    if (get_local_id(0) == 0)
        while (!LOAD(flag))
            ;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        STORE(flag, 1);
}
