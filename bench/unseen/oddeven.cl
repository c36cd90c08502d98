/* SPDX-License-Identifier: MIT */
/* Batcher's odd-even merge sort of blocks of 64-bit keys, each in a workgroup's local memory. */
#define ITEMS 256
#define KEYS  (2 * ITEMS)

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void oddeven(__global const ulong *in, __global ulong *out,
                                                                        uint n)
{
    __local ulong key[KEYS];
    const uint id = get_local_id(0), first = get_group_id(0) * KEYS;
    for (uint i = id; i < KEYS; i += ITEMS)
        key[i] = first + i < n ? in[first + i] : ULONG_MAX;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint sorted = 1; sorted < KEYS; sorted *= 2)
        for (uint step = sorted; step > 0; step /= 2) {
            const uint low = step % sorted + id / step * 2 * step + id % step, high = low + step;
            if (high < KEYS && low / (2 * sorted) == high / (2 * sorted)) {
                const ulong a = key[low], b = key[high];
                if (a > b) {
                    key[low] = b;
                    key[high] = a;
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    for (uint i = id; i < KEYS && first + i < n; i += ITEMS)
        out[first + i] = key[i];
}
