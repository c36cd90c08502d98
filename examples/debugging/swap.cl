/* SPDX-License-Identifier: MIT */
/* The halves of each 128 elements change places. A barrier is missing between the store to LDS and the load. */
kernel __attribute__((reqd_work_group_size(128, 1, 1))) void swap(global const int *in, global int *out)
{
    local int part[128];
    const uint item = get_local_id(0);
    part[item] = in[get_global_id(0)];
    out[get_global_id(0)] = part[item ^ 64];
}
