/* SPDX-License-Identifier: MIT */
/* Stream compaction: keeps the elements above a threshold, in order. Counts per block, scans the counts, scatters. */
#define BLOCK 256

__kernel void compact_count(__global const uint *in, __global uint *counts, uint n, uint threshold)
{
    __local uint kept;
    uint i = get_global_id(0);
    if (get_local_id(0) == 0)
        kept = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < n && in[i] > threshold)
        atomic_inc(&kept);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        counts[get_group_id(0)] = kept;
}

uint scan_block(__local uint *sums, uint value)
{
    uint id = get_local_id(0);
    sums[id] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1; step < BLOCK; step <<= 1) {
        uint add = id >= step ? sums[id - step] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sums[id] += add;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return sums[id];
}

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1))) void compact_scan(__global uint *counts, uint blocks,
                                                                            __global uint *total)
{
    __local uint sums[BLOCK];
    uint before = 0;
    for (uint first = 0; first < blocks; first += BLOCK) {
        uint i = first + get_local_id(0);
        uint count = i < blocks ? counts[i] : 0;
        uint sum = scan_block(sums, count);
        if (i < blocks)
            counts[i] = before + sum - count;
        before += sums[BLOCK - 1];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (get_local_id(0) == 0)
        *total = before;
}

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1))) void
compact_scatter(__global const uint *in, __global const uint *offsets, __global uint *out, uint n, uint threshold)
{
    __local uint sums[BLOCK];
    uint i = get_global_id(0);
    uint value = i < n ? in[i] : 0;
    uint keep = i < n && value > threshold;
    uint place = scan_block(sums, keep);
    if (keep)
        out[offsets[get_group_id(0)] + place - 1] = value;
}
