/* SPDX-License-Identifier: MIT */
/* One pass of a radix sort, by four bits: counts digits per block, scans the counts, scatters the keys stably. */
#define DIGITS 16
#define ITEMS  64
#define KEYS   16 /* per work-item */
#define SCAN   256

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void radix_count(__global const uint *in, __global uint *counts,
                                                                            uint n, uint shift)
{
    __local uint histogram[DIGITS];
    const uint id = get_local_id(0), group = get_group_id(0);
    if (id < DIGITS)
        histogram[id] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint end = min((group + 1) * ITEMS * KEYS, n);
    for (uint i = group * ITEMS * KEYS + id; i < end; i += ITEMS)
        atomic_inc(&histogram[in[i] >> shift & (DIGITS - 1)]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id < DIGITS)
        counts[id * get_num_groups(0) + group] = histogram[id];
}

__kernel __attribute__((reqd_work_group_size(SCAN, 1, 1))) void radix_scan(__global uint *counts, uint n)
{
    __local uint sums[SCAN];
    const uint id = get_local_id(0);
    uint before = 0;
    for (uint first = 0; first < n; first += SCAN) {
        const uint i = first + id, count = i < n ? counts[i] : 0;
        sums[id] = count;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint step = 1; step < SCAN; step <<= 1) {
            const uint add = id >= step ? sums[id - step] : 0;
            barrier(CLK_LOCAL_MEM_FENCE);
            sums[id] += add;
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (i < n)
            counts[i] = before + sums[id] - count;
        before += sums[SCAN - 1];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
radix_scatter(__global const uint *in, __global const uint *counts, __global uint *out, uint n, uint shift)
{
    __local uint place[DIGITS * ITEMS], sums[ITEMS], base[DIGITS];
    const uint id = get_local_id(0), group = get_group_id(0);
    const uint begin = min((group * ITEMS + id) * KEYS, n), end = min(begin + KEYS, n);

    for (uint digit = 0; digit < DIGITS; digit++)
        place[digit * ITEMS + id] = 0;
    for (uint i = begin; i < end; i++)
        place[(in[i] >> shift & (DIGITS - 1)) * ITEMS + id]++;
    barrier(CLK_LOCAL_MEM_FENCE);

    uint sum = 0;
    for (uint j = 0; j < DIGITS; j++)
        sum += place[id * DIGITS + j];
    sums[id] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1; step < ITEMS; step <<= 1) {
        const uint add = id >= step ? sums[id - step] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sums[id] += add;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint before = sums[id] - sum;
    for (uint j = 0; j < DIGITS; j++) {
        const uint count = place[id * DIGITS + j];
        place[id * DIGITS + j] = before;
        before += count;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id < DIGITS)
        base[id] = counts[id * get_num_groups(0) + group] - place[id * ITEMS];
    barrier(CLK_LOCAL_MEM_FENCE);

    for (uint i = begin; i < end; i++) {
        const uint key = in[i], digit = key >> shift & (DIGITS - 1);
        out[base[digit] + place[digit * ITEMS + id]++] = key;
    }
}
