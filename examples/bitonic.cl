/* SPDX-License-Identifier: MIT */
/* Sorts n unsigned keys in place, n of any size. All comparisons point upwards (the first pass of each merge
 * runs against a mirror image), so keys beyond the end count as the largest and never move.
 *
 * Runs of 512 are sorted and merged in LDS; wider passes are one dispatch each. */
#define GROUP 256
#define BLOCK (GROUP * 2)

static void order(local uint *key, uint low, uint high)
{
    const uint a = key[low], b = key[high];
    key[low] = min(a, b);
    key[high] = max(a, b);
}

/* A pass at `distance` compares these two places; half of all places are the lower one of a pair. */
static uint lower_place(uint pair, uint distance)
{
    return (pair & ~(distance - 1)) * 2 + (pair & (distance - 1));
}

static void load_block(local uint *key, global const uint *keys, uint n)
{
    for (uint i = get_local_id(0); i < BLOCK; i += GROUP) {
        const uint place = get_group_id(0) * BLOCK + i;
        key[i] = place < n ? keys[place] : UINT_MAX;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

static void store_block(local const uint *key, global uint *keys, uint n)
{
    for (uint i = get_local_id(0); i < BLOCK; i += GROUP) {
        const uint place = get_group_id(0) * BLOCK + i;
        if (place < n)
            keys[place] = key[i];
    }
}

/* The straight passes of a merge, from `distance` down. */
static void merge_block(local uint *key, uint distance)
{
    for (; distance > 0; distance /= 2) {
        const uint low = lower_place(get_local_id(0), distance);
        order(key, low, low + distance);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/* Sorts each block. */
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void bitonic_sort(global uint *keys, uint n)
{
    local uint key[BLOCK];
    load_block(key, keys, n);
    for (uint size = 2; size <= BLOCK; size *= 2) {
        const uint low = lower_place(get_local_id(0), size / 2);
        order(key, low, low ^ (size - 1));
        barrier(CLK_LOCAL_MEM_FENCE);
        merge_block(key, size / 4);
    }
    store_block(key, keys, n);
}

/* One pass of a merge that is too wide for LDS: against place ^ mask, which is a mirror image when mask is
 * 2 * distance - 1 and a straight pass when it is distance. */
kernel void bitonic_pass(global uint *keys, uint n, uint distance, uint mask)
{
    const uint low = lower_place(get_global_id(0), distance), high = low ^ mask;
    if (high < n) {
        const uint a = keys[low], b = keys[high];
        if (a > b) {
            keys[low] = b;
            keys[high] = a;
        }
    }
}

/* The rest of a merge, within blocks. */
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void bitonic_merge(global uint *keys, uint n)
{
    local uint key[BLOCK];
    load_block(key, keys, n);
    merge_block(key, BLOCK / 2);
    store_block(key, keys, n);
}
