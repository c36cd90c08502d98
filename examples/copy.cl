/* SPDX-License-Identifier: MIT */
/* The least that a kernel can do: one dword from here to there per work-item. */
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void copy(global const uint *restrict in,
                                                                  global uint *restrict out)
{
    const size_t i = get_global_id(0);
    out[i] = in[i];
}
