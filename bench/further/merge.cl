/* SPDX-License-Identifier: MIT */
/* Merges two sorted arrays: each key finds its place by binary search in the other array. Equal keys of `a` come
 * before those of `b`. */
__kernel void merge(__global const uint *a, __global const uint *b, __global uint *out, uint na, uint nb)
{
    uint i = get_global_id(0);
    if (i >= na + nb)
        return;
    bool first = i < na;
    uint own = first ? i : i - na;
    uint key = first ? a[own] : b[own];
    __global const uint *other = first ? b : a;
    uint low = 0, high = first ? nb : na;
    while (low < high) {
        uint middle = (low + high) / 2;
        uint value = other[middle];
        if (first ? value < key : value <= key)
            low = middle + 1;
        else
            high = middle;
    }
    out[own + low] = key;
}
