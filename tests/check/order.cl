// SPDX-License-Identifier: MIT
// Results that depend on the order of workgroups and waves, and the same kernels made independent of it. Notes appear at
// the store that the order in dispatch shows.
// TARGETS: gfx900 gfx1030 gfx1100

// Each workgroup stores its number at the same place.
// RUN: last_writer -g 1024 -b 64 --arg out=uninit:u32:64 --only portability --shuffle 1,2
kernel void last_writer(global uint *out)
{
    out[get_local_id(0)] = get_group_id(0); // FINDS: order-dependent
}

// RUN: last_writer_good -g 1024 -b 64 --arg out=uninit:u32:1024 --only portability --shuffle 1,2
kernel void last_writer_good(global uint *out)
{
    out[get_global_id(0)] = get_group_id(0);
}

// A compaction: who gets which place is open.
// RUN: append -g 512 -b 64 --arg out=zero:u32:512 --arg count=zero:u32:1 --only portability --shuffle 1,2
kernel void append(global uint *out, global uint *count)
{
    if (get_global_id(0) % 3 == 0) {
        const uint at = atomic_inc(count);
        out[at] = get_global_id(0); // FINDS: order-dependent
    }
}

// The same with places that the work-item alone decides.
// RUN: append_good -g 512 -b 64 --arg out=zero:u32:512 --arg count=zero:u32:1 --only portability --shuffle 1,2
kernel void append_good(global uint *out, global uint *count)
{
    if (get_global_id(0) % 3 == 0) {
        atomic_inc(count);
        out[get_global_id(0) / 3] = get_global_id(0);
    }
}

// The element that comes first wins; all of them claim it.
// RUN: first_wins -g 256 -b 64 --arg out=zero:u32:1 --only portability --shuffle 1,2
kernel void first_wins(global uint *out)
{
    if (get_local_id(0) == 0)
        atomic_cmpxchg(out, 0, get_group_id(0) + 1); // FINDS: order-dependent
}

// The least one wins.
// RUN: first_wins_good -g 256 -b 64 --arg out=fill:u32:1:1000 --only portability --shuffle 1,2
kernel void first_wins_good(global uint *out)
{
    if (get_local_id(0) == 0)
        atomic_min(out, get_group_id(0) + 1);
}

// A sum of floats: 2^24 absorbs a 1 that is added to it, and not those that are added before.
// RUN: float_sum -g 256 -b 64 --arg in=iota:u32:4 --arg out=zero:u32:1 --only portability --shuffle 1,2
kernel void float_sum(global const uint *in, volatile global uint *out)
{
    if (get_local_id(0) == 0) {
        const float add = in[get_group_id(0)] == 0 ? 16777216.0f : 1.0f;
        uint was, now = *out;
        do {
            was = now;
            now = atomic_cmpxchg(out, was, as_uint(as_float(was) + add)); // FINDS: order-dependent
        } while (now != was);
    }
}

// A sum of integers.
// RUN: integer_sum_good -g 256 -b 64 --arg in=iota:u32:4 --arg out=zero:u32:1 --only portability --shuffle 1,2
kernel void integer_sum_good(global const uint *in, volatile global uint *out)
{
    if (get_local_id(0) == 0)
        atomic_add(out, in[get_group_id(0)]);
}

// Waves of a workgroup: the last one that stores to LDS decides.
// RUN: waves -g 256 -b 256 --arg out=uninit:u32:1 --only portability --shuffle 1,2
kernel void waves(global uint *out)
{
    local uint last;
    if (get_local_id(0) % WAVE == 0)
        last = get_local_id(0) / WAVE;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        *out = last; // FINDS: order-dependent
}

// RUN: waves_good -g 256 -b 256 --arg out=uninit:u32:1 --only portability --shuffle 1,2
kernel void waves_good(global uint *out)
{
    local uint last;
    if (get_local_id(0) == 255)
        last = get_local_id(0) / WAVE;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        *out = last;
}

// The last workgroup that ends sums up what all have stored: any may be the last one.
// RUN: last_block_good -g 1024 -b 64 --arg in=iota:u32:1024 --arg part=uninit:u32:16 --arg ticket=zero:u32:1 --arg out=uninit:u32:1 --only portability --shuffle 1,2
kernel void last_block_good(global const uint *in, global uint *part, volatile global atomic_uint *ticket, global uint *out)
{
    local uint tile[64];
    local uint is_last;
    const uint i = get_local_id(0);
    tile[i] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i == 0) {
        uint sum = 0;
        for (uint k = 0; k < 64; k++)
            sum += tile[k];
        part[get_group_id(0)] = sum;
        is_last = atomic_fetch_add_explicit(ticket, 1, memory_order_acq_rel, memory_scope_device) == get_num_groups(0) - 1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (is_last && i == 0) {
        uint sum = 0;
        for (uint k = 0; k < get_num_groups(0); k++)
            sum += part[k];
        *out = sum;
    }
}
