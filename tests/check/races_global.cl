// SPDX-License-Identifier: MIT
// Communication between workgroups: without a release, an acquire or the scope, and with them.
#define L get_local_id(0)
#define I get_global_id(0)
#define RELAXED memory_order_relaxed
#define ACQUIRE memory_order_acquire
#define RELEASE memory_order_release
#define DEVICE memory_scope_device
#define GROUP memory_scope_work_group
#define load __opencl_atomic_load
#define store __opencl_atomic_store
#define add __opencl_atomic_fetch_add
#define exchange __opencl_atomic_compare_exchange_strong
#define LDS CLK_LOCAL_MEM_FENCE
#define BOTH (CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

// ---- a message: workgroup 0 writes data, workgroup 1 waits for the flag and reads it ----

// RUN: message_good -g 128 -b 64 --arg data=zero:u32:64 --arg flag=zero:u32:1 --arg out=zero:u32:64 --only race
kernel void message_good(global uint *data, global atomic_uint *flag, global uint *out) {
    if (get_group_id(0) == 0) {
        data[L] = L;
        barrier(CLK_GLOBAL_MEM_FENCE);
        if (L == 0)
            store(flag, 1, RELEASE, DEVICE);
    } else {
        while (!load(flag, ACQUIRE, DEVICE))
            ;
        out[L] = data[63 - L];
    }
}

// RUN: message_unreleased -g 64 -b 32 --arg data=zero:u32:32 --arg flag=zero:u32:1 --arg out=zero:u32:32 --only race
kernel void message_unreleased(global uint *data, global atomic_uint *flag, global uint *out) {
    if (get_group_id(0) == 0) {
        data[L] = L;
        if (L == 0)
            store(flag, 1, RELAXED, DEVICE);
    } else {
        while (!load(flag, ACQUIRE, DEVICE))
            ;
        out[L] = data[31 - L]; // FINDS: race-release
    }
}

// RUN: message_unacquired -g 64 -b 32 --arg data=zero:u32:32 --arg flag=zero:u32:1 --arg out=zero:u32:32 --only race
kernel void message_unacquired(global uint *data, global atomic_uint *flag, global uint *out) {
    if (get_group_id(0) == 0) {
        data[L] = L;
        if (L == 0)
            store(flag, 1, RELEASE, DEVICE);
    } else {
        while (!load(flag, RELAXED, DEVICE))
            ;
        out[L] = data[31 - L]; // FINDS: race-acquire
    }
}

// The scope of the workgroup: on gfx10 and gfx11 the code is that of a device scope, and on gfx12 but for the flag's scope.
// RUN: message_narrow_release -g 64 -b 32 --arg data=zero:u32:32 --arg flag=zero:u32:1 --arg out=zero:u32:32 --only race
kernel void message_narrow_release(global uint *data, global atomic_uint *flag, global uint *out) {
    if (get_group_id(0) == 0) {
        data[L] = L;
        if (L == 0)
            store(flag, 1, RELEASE, GROUP);
    } else {
        while (!load(flag, ACQUIRE, DEVICE)) // FINDS gfx942 gfx1200: race-scope
            ;
        out[L] = data[31 - L]; // FINDS gfx9*: race-release
    }
}

// RUN: message_narrow_acquire -g 64 -b 32 --arg data=zero:u32:32 --arg flag=zero:u32:1 --arg out=zero:u32:32 --only race
kernel void message_narrow_acquire(global uint *data, global atomic_uint *flag, global uint *out) {
    if (get_group_id(0) == 0) {
        data[L] = L;
        if (L == 0)
            store(flag, 1, RELEASE, DEVICE);
    } else {
        while (!load(flag, ACQUIRE, GROUP)) // FINDS gfx900 gfx90a: race-global; FINDS gfx942 gfx1030 gfx1200: race-scope
            ;
        out[L] = data[31 - L]; // FINDS gfx900 gfx90a: race-global; FINDS gfx942 gfx1030 gfx1100 gfx1200: race-acquire
    }
}

// ---- the last workgroup to finish adds up what all have written ----

// RUN: last_good -g 512 -b 64 --arg part=zero:u32:8 --arg count=zero:u32:1 --arg out=zero:u32:1 --only race
kernel void last_good(global uint *part, global atomic_uint *count, global uint *out) {
    local uint last;
    if (L == 0) {
        part[get_group_id(0)] = get_group_id(0);
        last = add(count, 1, memory_order_acq_rel, DEVICE) == get_num_groups(0) - 1;
    }
    barrier(LDS);
    if (last && L == 0) {
        uint sum = 0;
        for (uint i = 0; i < get_num_groups(0); i++)
            sum += part[i];
        out[0] = sum;
    }
}

// RUN: last_unreleased -g 512 -b 64 --arg part=zero:u32:8 --arg count=zero:u32:1 --arg out=zero:u32:1 --only race
kernel void last_unreleased(global uint *part, global atomic_uint *count, global uint *out) {
    local uint last;
    if (L == 0) {
        part[get_group_id(0)] = get_group_id(0);
        last = add(count, 1, ACQUIRE, DEVICE) == get_num_groups(0) - 1;
    }
    barrier(LDS);
    if (last && L == 0) {
        uint sum = 0;
        for (uint i = 0; i < get_num_groups(0); i++)
            sum += part[i]; // FINDS: race-release
        out[0] = sum;
    }
}

// RUN: last_unacquired -g 512 -b 64 --arg part=zero:u32:8 --arg count=zero:u32:1 --arg out=zero:u32:1 --only race
kernel void last_unacquired(global uint *part, global atomic_uint *count, global uint *out) {
    local uint last;
    if (L == 0) {
        part[get_group_id(0)] = get_group_id(0);
        last = add(count, 1, RELEASE, DEVICE) == get_num_groups(0) - 1;
    }
    barrier(LDS);
    if (last && L == 0) {
        uint sum = 0;
        for (uint i = 0; i < get_num_groups(0); i++)
            sum += part[i]; // FINDS: race-acquire
        out[0] = sum;
    }
}

// ---- locks ----

// RUN: ticket_good -g 512 -b 64 --arg lock=zero:u32:2 --arg sum=zero:u32:1 --only race
kernel void ticket_good(global atomic_uint *lock, global uint *sum) {
    if (L == 0) {
        uint mine = add(&lock[0], 1, RELAXED, DEVICE);
        while (load(&lock[1], ACQUIRE, DEVICE) != mine)
            ;
        sum[0] += 1;
        store(&lock[1], mine + 1, RELEASE, DEVICE);
    }
}

// RUN: ticket_unreleased -g 512 -b 64 --arg lock=zero:u32:2 --arg sum=zero:u32:1 --only race
kernel void ticket_unreleased(global atomic_uint *lock, global uint *sum) {
    if (L == 0) {
        uint mine = add(&lock[0], 1, RELAXED, DEVICE);
        while (load(&lock[1], ACQUIRE, DEVICE) != mine)
            ;
        sum[0] += 1; // FINDS: race-release
        store(&lock[1], mine + 1, RELAXED, DEVICE);
    }
}

// RUN: spin_good -g 512 -b 64 --arg lock=zero:u32:1 --arg sum=zero:u32:1 --only race
kernel void spin_good(global atomic_uint *lock, global uint *sum) {
    if (L == 0) {
        uint free = 0;
        while (!exchange(lock, &free, 1, ACQUIRE, RELAXED, DEVICE))
            free = 0;
        sum[0] += 1;
        store(lock, 0, RELEASE, DEVICE);
    }
}

// RUN: spin_unacquired -g 512 -b 64 --arg lock=zero:u32:1 --arg sum=zero:u32:1 --only race
kernel void spin_unacquired(global atomic_uint *lock, global uint *sum) {
    if (L == 0) {
        uint free = 0;
        while (!exchange(lock, &free, 1, RELAXED, RELAXED, DEVICE))
            free = 0;
        sum[0] += 1; // FINDS: race-acquire
        store(lock, 0, RELEASE, DEVICE);
    }
}

// ---- prefix sums by decoupled look-back ----

// RUN: packed_good -g 512 -b 64 --arg state=zero:u64:8 --arg out=zero:u32:8 --only race
kernel void packed_good(global atomic_ulong *state, global uint *out) {
    uint g = get_group_id(0), sum = 0;
    if (L == 0) {
        store(&state[g], (1ul << 32) | g, RELAXED, DEVICE);
        for (uint i = g; i > 0; i--) {
            ulong s;
            while (!((s = load(&state[i - 1], RELAXED, DEVICE)) >> 32))
                ;
            sum += (uint)s;
            if (s >> 33)
                break;
        }
        store(&state[g], (2ul << 32) | (sum + g), RELAXED, DEVICE);
        out[g] = sum + g;
    }
}

// RUN: lookback_good -g 512 -b 64 --arg value=zero:u32:8 --arg flag=zero:u32:8 --only race
kernel void lookback_good(global uint *value, global atomic_uint *flag) {
    uint g = get_group_id(0), sum = g;
    if (L == 0) {
        if (g) {
            while (!load(&flag[g - 1], ACQUIRE, DEVICE))
                ;
            sum += value[g - 1];
        }
        value[g] = sum;
        store(&flag[g], 1, RELEASE, DEVICE);
    }
}

// RUN: lookback_unacquired -g 512 -b 64 --arg value=zero:u32:8 --arg flag=zero:u32:8 --only race
kernel void lookback_unacquired(global uint *value, global atomic_uint *flag) {
    uint g = get_group_id(0), sum = g;
    if (L == 0) {
        if (g) {
            while (!load(&flag[g - 1], RELAXED, DEVICE))
                ;
            sum += value[g - 1]; // FINDS: race-acquire
        }
        value[g] = sum;
        store(&flag[g], 1, RELEASE, DEVICE);
    }
}

// ---- a barrier of all workgroups ----

// RUN: grid_good -g 256 -b 64 --arg data=zero:u32:256 --arg count=zero:u32:1 --arg out=zero:u32:256 --only race
kernel void grid_good(global uint *data, global atomic_uint *count, global uint *out) {
    data[I] = I;
    barrier(BOTH);
    if (L == 0) {
        add(count, 1, memory_order_acq_rel, DEVICE);
        while (load(count, ACQUIRE, DEVICE) < get_num_groups(0))
            ;
    }
    barrier(BOTH);
    out[I] = data[255 - I];
}

// RUN: grid_unreleased -g 128 -b 32 --arg data=zero:u32:256 --arg count=zero:u32:1 --arg out=zero:u32:256 --only race
kernel void grid_unreleased(global uint *data, global atomic_uint *count, global uint *out) {
    data[I] = I;
    if (L == 0) {
        add(count, 1, RELAXED, DEVICE);
        while (load(count, ACQUIRE, DEVICE) < get_num_groups(0))
            ;
    }
    out[I] = data[127 - I]; // FINDS: race-release
}

// ---- counters ----

// RUN: histogram_good -g 256 -b 64 --arg count=zero:u32:8 --only race
kernel void histogram_good(global uint *count) {
    atomic_inc(&count[I % 8]);
}

// RUN: histogram -g 256 -b 64 --arg count=zero:u32:256 --only race
kernel void histogram(global uint *count) {
    count[I * 5 % 64] += 1; // FINDS: race-global
}

// RUN: reset -g 256 -b 64 --arg count=zero:u32:8 --only race
kernel void reset(global uint *count) {
    if (L < 8 && get_group_id(0) == 3)
        count[L] = 7; // FINDS: race-mixed
    atomic_inc(&count[I % 8]);
}

// RUN: reset_good -g 256 -b 64 --arg count=zero:u32:8 --only race
kernel void reset_good(global uint *count) {
    if (L < 8 && get_group_id(0) == 3)
        atomic_xchg(&count[L], 7);
    atomic_inc(&count[I % 8]);
}

// RUN: found_it -g 256 -b 64 --arg found=zero:u32:1 --only race
kernel void found_it(global uint *found) {
    if (I % 100 == 0)
        *found = 1; // FINDS: race-same-value
}

// ---- within a workgroup ----

// RUN: swap_good -g 512 -b 256 --arg data=zero:u32:512 --arg out=zero:u32:512 --only race
kernel void swap_good(global uint *data, global uint *out) {
    data[I] = I;
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[I] = data[I ^ 128];
}

// RUN: swap -g 512 -b 256 --arg data=zero:u32:512 --arg out=zero:u32:512 --only race
kernel void swap(global uint *data, global uint *out) {
    data[I] = I; // FINDS: race-global
    out[I] = data[I ^ 128]; // FINDS: race-global
}

// A store replaces what is known of a read that its wave made many barriers before; races with it are found.
// RUN: late -g 512 -b 256 --arg data=zero:u32:256 --arg turns=zero:u32:512 --only race
kernel void late(global uint *data, global uint *turns) {
    const uint value = data[L]; // FINDS: race-global
    for (uint n = 0; n < 20000; n++) {
        turns[I] = n;
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
    data[L] = value + get_group_id(0) + 1; // FINDS: race-global
}

// Loads are logged until something is stored to what they load from: here more than the log may hold.
#define AT(l, n) (((l)*2654435761u + 977u * (n)) >> 7 & 16383)

// RUN: loads_before_store -g 131072 -b 256 --arg data=zero:u32:16384 --arg out=zero:u32:131072 --only race
kernel void loads_before_store(global uint *data, global uint *out) {
    uint sum = 0;
    for (uint n = 0; n < 64; n++)
        sum += data[AT(L, n)]; // FINDS: race-global
    out[I] = sum;
    if (get_group_id(0) == 511)
        data[AT(L, 63)] = sum; // FINDS: race-global
}

// Loads of many pages by one instruction, before and after a store.
// RUN: scattered -g 256 -b 256 --arg data=iota:u32:16384 --arg out=zero:u32:256 --only race
kernel void scattered(global uint *data, global uint *out) {
    uint sum = 7;
    data[AT(L, 5)] = sum + L; // FINDS: race-global
    for (uint n = 0; n < 64; n++)
        sum += data[AT(L ^ 255, n)]; // FINDS: race-global
    out[I] = sum;
}

// Bytes beside those that are stored.
// RUN: bytes_good -g 8192 -b 256 --arg data=zero:u8:65536 --arg out=zero:u32:8192 --only race
kernel void bytes_good(global uchar *data, global uint *out) {
    uint sum = 0;
    for (uint n = 0; n < 64; n++)
        sum += data[4 * AT(L, n)] + *(global ushort *)(data + 4 * AT(L, n + 1) + 2);
    out[I] = sum;
    if (get_group_id(0) == 31)
        data[4 * L + 1] = sum;
}

// RUN: byte_of_loads -g 8192 -b 256 --arg data=zero:u8:65536 --arg out=zero:u32:8192 --only race
kernel void byte_of_loads(global uchar *data, global uint *out) {
    uint sum = 0;
    for (uint n = 0; n < 64; n++)
        sum += *(global ushort *)(data + 4 * AT(L, n) + 2); // FINDS: race-global
    out[I] = sum;
    if (get_group_id(0) == 31)
        data[4 * AT(L, 7) + 3] = sum; // FINDS: race-global
}

// Barriers between loads and stores of a workgroup, so many that no log could hold all loads.
// RUN: loads_and_stores_good -g 256 -b 256 --arg data=zero:u32:16384 --arg more=zero:u32:16384 --arg out=zero:u32:256 --only race
kernel void loads_and_stores_good(global uint *data, global uint *more, global uint *out) {
    uint sum = 0;
    for (uint n = 0; n < 2048; n++)
        sum += data[AT(L, n)] + more[AT(L, 3 * n)];
    barrier(CLK_GLOBAL_MEM_FENCE);
    data[AT(L, 5)] = sum;
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (uint n = 0; n < 64; n++)
        sum += data[AT(L ^ 255, n)] + more[AT(L, n)];
    barrier(CLK_GLOBAL_MEM_FENCE);
    more[L] = sum;
    out[I] = sum;
}

// The same with the barrier in front of some loads only.
// RUN: loads_behind_barrier -g 256 -b 256 --arg data=zero:u32:16384 --arg out=zero:u32:256 --only race
kernel void loads_behind_barrier(global uint *data, global uint *out) {
    uint sum = 0;
    for (uint n = 0; n < 2048; n++)
        sum += data[AT(L, n)];
    barrier(CLK_GLOBAL_MEM_FENCE);
    sum += data[L ^ 255]; // FINDS: race-global
    data[L] = sum; // FINDS: race-global
    out[I] = sum;
}
