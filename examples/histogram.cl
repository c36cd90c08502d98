/* SPDX-License-Identifier: MIT */
/* Counts how often each byte value occurs among n bytes, which come packed in words: first in LDS, then once
 * per workgroup in memory. */
#define GROUP 256
#define BINS  256

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void histogram(global const uint *restrict words,
                                                                         global uint *restrict bins, uint n)
{
    local uint count[BINS];
    const uint item = get_local_id(0);

    for (uint bin = item; bin < BINS; bin += GROUP)
        count[bin] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);

    for (uint i = get_global_id(0); i < (n + 3) / 4; i += get_global_size(0)) {
        const uint word = words[i], bytes = min(n - i * 4, 4u);
        for (uint j = 0; j < bytes; j++)
            atomic_inc(&count[word >> j * 8 & 0xff]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    for (uint bin = item; bin < BINS; bin += GROUP)
        if (count[bin] != 0)
            atomic_add(&bins[bin], count[bin]);
}
