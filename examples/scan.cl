/* SPDX-License-Identifier: MIT */
/* Exclusive prefix sums of any length: scan_blocks makes them within blocks of 1024 and leaves each block's
 * total; the totals are scanned the same way, in place, and scan_add gives every block what lies before it.
 */
#define GROUP 256
#define EACH  4
#define BLOCK (GROUP * EACH)

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
scan_blocks(global const uint *in, global uint *out, global uint *restrict totals, uint n)
{
    local uint sum[GROUP];
    const uint item = get_local_id(0), first = get_group_id(0) * BLOCK + item * EACH;

    uint before[EACH], total = 0;
    for (uint i = 0; i < EACH; i++) {
        before[i] = total;
        total += first + i < n ? in[first + i] : 0;
    }

    /* Hillis and Steele's inclusive scan over the work-items' totals. */
    uint mine = total;
    sum[item] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint distance = 1; distance < GROUP; distance *= 2) {
        if (item >= distance)
            mine += sum[item - distance];
        barrier(CLK_LOCAL_MEM_FENCE);
        sum[item] = mine;
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    for (uint i = 0; i < EACH; i++)
        if (first + i < n)
            out[first + i] = mine - total + before[i];
    if (item == GROUP - 1)
        totals[get_group_id(0)] = mine;
}

kernel void scan_add(global uint *restrict out, global const uint *restrict before, uint n)
{
    const uint i = get_global_id(0);
    if (i < n)
        out[i] += before[i / BLOCK];
}
