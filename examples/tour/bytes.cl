/* SPDX-License-Identifier: MIT */
/* Counts bytes by their value, with a race: counts are not added atomically. */
kernel void count_bytes(global const uchar *text, global uint *counts, uint n)
{
    uint i = get_global_id(0);
    if (i < n)
#ifdef FIXED
        atomic_inc(&counts[text[i]]);
#else
        counts[text[i]]++;
#endif
}
