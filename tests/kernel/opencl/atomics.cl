// SPDX-License-Identifier: MIT
// Atomics of every type, scope and order on global and local memory, so that results do not depend on the order.

#define ALL(T) \
    kernel void global_##T(global const T *a, global T *inout) \
    { \
        const size_t i = get_global_id(0); \
        volatile global atomic_##T *p = (volatile global atomic_##T *)inout + (i % 5) * 16; \
        atomic_fetch_add(p, a[i]); \
        atomic_fetch_sub_explicit(p + 1, a[i], memory_order_relaxed, memory_scope_device); \
        atomic_fetch_and_explicit(p + 2, (T)(a[i] | 0x33), memory_order_acquire, memory_scope_all_svm_devices); \
        atomic_fetch_or_explicit(p + 3, (T)(a[i] & 0x5555), memory_order_release, memory_scope_device); \
        atomic_fetch_xor_explicit(p + 4, a[i], memory_order_acq_rel, memory_scope_work_group); \
        atomic_fetch_min(p + 5, a[i]); \
        atomic_fetch_max_explicit(p + 6, a[i], memory_order_seq_cst, memory_scope_all_svm_devices); \
        if (i < 5) { \
            atomic_store(p + 7, a[i]); \
            const T x = atomic_load(p + 7); \
            atomic_store_explicit(p + 8, (T)(x + 1), memory_order_release, memory_scope_device); \
            inout[i * 16 + 9] = atomic_load_explicit(p + 8, memory_order_acquire, memory_scope_all_svm_devices); \
            inout[i * 16 + 10] = atomic_exchange(p + 11, a[i]); \
            inout[i * 16 + 12] = atomic_exchange_explicit(p + 11, x, memory_order_acq_rel, memory_scope_device); \
        } \
    } \
    kernel __attribute__((reqd_work_group_size(64, 1, 1))) void local_##T(global const T *a, global T *out) \
    { \
        local atomic_##T x[16]; \
        const size_t i = get_global_id(0), l = get_local_id(0); \
        if (l < 16) \
            atomic_init(x + l, a[l]); \
        barrier(CLK_LOCAL_MEM_FENCE); \
        atomic_fetch_add(x, a[i]); \
        atomic_fetch_sub_explicit(x + 1, a[i], memory_order_relaxed, memory_scope_work_group); \
        atomic_fetch_and_explicit(x + 2, (T)(a[i] | 0x33), memory_order_acquire, memory_scope_work_group); \
        atomic_fetch_or_explicit(x + 3, (T)(a[i] & 0x5555), memory_order_release, memory_scope_work_group); \
        atomic_fetch_xor_explicit(x + 4, a[i], memory_order_acq_rel, memory_scope_work_group); \
        atomic_fetch_min_explicit(x + 5, a[i], memory_order_seq_cst, memory_scope_device); \
        atomic_fetch_max(x + 6, a[i]); \
        /* the values passed through plus the last one are the given ones */ \
        atomic_fetch_add(x + 7, atomic_exchange(x + 8, a[i])); \
        barrier(CLK_LOCAL_MEM_FENCE); \
        if (l < 7) \
            out[get_group_id(0) * 16 + l] = atomic_load(x + l); \
        if (l == 7) \
            out[get_group_id(0) * 16 + l] = atomic_load(x + 7) + atomic_load(x + 8); \
    } \
    /* every ticket is drawn once, by any lane; a compare-exchange succeeds once per value */ \
    kernel void tickets_##T(global const T *a, global T *inout, global uint *drawn) \
    { \
        const size_t i = get_global_id(0); \
        volatile global atomic_##T *counter = (volatile global atomic_##T *)(inout + 8); \
        const T base = inout[7]; \
        drawn[(uint)(atomic_fetch_add((volatile global atomic_uint *)(drawn + 8000), 1)) + 8] = 1; \
        T old = atomic_load(counter + 1); \
        while (!atomic_compare_exchange_weak(counter + 1, &old, (T)(old * 3 + 1))) \
            ; \
        old = atomic_load_explicit(counter + 2, memory_order_relaxed, memory_scope_device); \
        while (!atomic_compare_exchange_strong_explicit(counter + 2, &old, (T)(old ^ a[i]), memory_order_acq_rel, \
                                                        memory_order_relaxed, memory_scope_device)) \
            ; \
        if (i == 3) \
            inout[3] = base; \
    }
ALL(int)
ALL(uint)
ALL(long)
ALL(ulong)

#define ORDERS(NAME, ORDER) \
    kernel void orders_##NAME(global const uint *a, global uint *inout) \
    { \
        const size_t i = get_global_id(0); \
        volatile global atomic_uint *p = (volatile global atomic_uint *)inout; \
        atomic_fetch_add_explicit(p, a[i], ORDER, memory_scope_work_group); \
        atomic_fetch_add_explicit(p + 1, a[i], ORDER, memory_scope_device); \
        atomic_fetch_max_explicit(p + 2, a[i], ORDER, memory_scope_all_svm_devices); \
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE, ORDER, memory_scope_device); \
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, ORDER, memory_scope_work_group); \
    }
ORDERS(relaxed, memory_order_relaxed)
ORDERS(acquire, memory_order_acquire)
ORDERS(release, memory_order_release)
ORDERS(acq_rel, memory_order_acq_rel)
ORDERS(seq_cst, memory_order_seq_cst)

#define OLD(T, PREFIX, SPACE, NAME) \
    kernel void NAME(global const T *a, global T *inout) \
    { \
        const size_t i = get_global_id(0); \
        volatile global T *p = inout; \
        PREFIX##add(p, a[i]); \
        PREFIX##sub(p + 1, a[i]); \
        PREFIX##and(p + 2, (T)(a[i] | 0x77)); \
        PREFIX##or(p + 3, (T)(a[i] & 0x1111)); \
        PREFIX##xor(p + 4, a[i]); \
        PREFIX##min(p + 5, a[i]); \
        PREFIX##max(p + 6, a[i]); \
        if (i == 7) \
            inout[8] = PREFIX##xchg(p + 7, a[i]); \
    }
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
OLD(int, atomic_, global, old_int)
OLD(uint, atomic_, global, old_uint)
OLD(long, atom_, global, old_long)
OLD(ulong, atom_, global, old_ulong)

kernel void counters(global int *inout)
{
    volatile global int *p = inout;
    atomic_inc(p);
    atomic_dec(p + 1);
    for (int old = p[2], seen; (seen = atomic_cmpxchg(p + 2, old, (int)((uint)old * 5 + 1))) != old;)
        old = seen;
}

// Floats through compare and exchange: sums of small integers are exact in any order.
kernel void float_sums(global const int *a, global float *out, global double *wide)
{
    const size_t i = get_global_id(0);
    const float x = a[i] & 255;
    volatile global atomic_float *p = (volatile global atomic_float *)out;
    float old = atomic_load(p);
    while (!atomic_compare_exchange_weak(p, &old, old + x))
        ;
    volatile global atomic_double *w = (volatile global atomic_double *)wide;
    double wide_old = atomic_load_explicit(w, memory_order_relaxed, memory_scope_device);
    while (!atomic_compare_exchange_strong_explicit(w, &wide_old, wide_old - x, memory_order_seq_cst, memory_order_relaxed,
                                                    memory_scope_device))
        ;
    if (i == 5)
        out[2] = atomic_xchg((volatile global float *)out + 1, 2.5f);
}

kernel __attribute__((reqd_work_group_size(128, 1, 1))) void local_floats(global const int *a, global float *out)
{
    local float sum[8], low, high;
    const size_t i = get_global_id(0), l = get_local_id(0);
    if (l < 8)
        sum[l] = 0;
    if (l == 8)
        low = high = 3;
    barrier(CLK_LOCAL_MEM_FENCE);
    const float x = a[i] & 1023;
    local_add(sum + (a[i] >> 12 & 7), x);
    local_min(&low, x - 500);
    local_max(&high, x - 500);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 8)
        out[16 * get_group_id(0) + l] = sum[l];
    if (l == 8)
        out[16 * get_group_id(0) + 8] = low * 1000 + high;
}

// A lock taken by waves in turn. (Lanes of one wave would deadlock: the lane that holds it waits for the
// others.)
kernel void spin_lock(global const uint *a, global uint *inout, global uint *out)
{
    volatile global atomic_flag *lock = (volatile global atomic_flag *)(out);
    volatile global uint *sum = inout;
    for (bool done = get_local_id(0) > 0; !done;)
        if (!atomic_flag_test_and_set_explicit(lock, memory_order_acquire, memory_scope_device)) {
            sum[0] += a[get_global_id(0)];
            sum[1] = sum[1] * 3 + 1;
            atomic_flag_clear_explicit(lock, memory_order_release, memory_scope_device);
            done = true;
        }
}

kernel __attribute__((reqd_work_group_size(64, 1, 1))) void local_histogram(global const uchar *a, global uint *out)
{
    local uint bins[64];
    local ulong long_bins[4];
    const size_t l = get_local_id(0);
    bins[l] = 0;
    if (l < 4)
        long_bins[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < 16; j++) {
        const uchar x = a[get_global_id(0) * 16 + j];
        atomic_inc(bins + (x & 63));
        atom_add((volatile local ulong *)long_bins + (x >> 6), (ulong)x << 30);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_group_id(0) * 128 + l] = bins[l];
    if (l < 4)
        out[get_group_id(0) * 128 + 64 + l] = (uint)(long_bins[l] >> 30);
}

// The lanes of one instruction access local and global memory.
kernel __attribute__((reqd_work_group_size(64, 1, 1))) void generic_atomics(global const uint *a, global uint *inout)
{
    local uint shared[4];
    const size_t i = get_global_id(0), l = get_local_id(0);
    if (l < 4)
        shared[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint *p = l & 1 ? (uint *)shared + (l >> 1 & 3) : (uint *)inout + (l >> 1 & 3);
    atomic_fetch_add((volatile atomic_uint *)p, a[i]);
    atomic_fetch_add_explicit((volatile atomic_uint *)p, a[i] * 3, memory_order_relaxed, memory_scope_device);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 4)
        inout[16 + 4 * get_group_id(0) + l] = shared[l];
}
