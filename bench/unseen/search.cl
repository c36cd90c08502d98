/* SPDX-License-Identifier: MIT */
/* Where a pattern occurs in a text: each work-item compares at one place, byte by byte. Counts the places, and finds
 * the first. */
__kernel void search(__global const char *text, uint length, __constant char *pattern, uint pattern_length,
                     __global uint *count, __global uint *first)
{
    uint place = get_global_id(0);
    if (place + pattern_length > length)
        return;
    for (uint i = 0; i < pattern_length; i++)
        if (text[place + i] != pattern[i])
            return;
    atomic_inc(count);
    atomic_min(first, place);
}
