// SPDX-License-Identifier: MIT
// Kernels that need much of the shadow of a check; see limits.py.

// Four waves of 64 store the four bytes of each dword, and then read those of another wave.
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void bytes(global uchar *data)
{
    const uint lane = get_local_id(0) % 64, wave = get_local_id(0) / 64;
    global uchar *own = data + 256 * get_group_id(0);
    own[4 * lane + wave] = lane;
    barrier(CLK_GLOBAL_MEM_FENCE);
    const uchar other = own[4 * (63 - lane) + (wave + 1) % 4];
    barrier(CLK_GLOBAL_MEM_FENCE);
    own[4 * lane + wave] = other;
}

// Each wave of 64 stores every fourth dword of its workgroup's 256, in another order.
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void dwords(global uint *data)
{
    const uint lane = get_local_id(0) % 64, wave = get_local_id(0) / 64;
    data[256 * get_group_id(0) + 4 * (lane * 29 % 64) + wave] = lane;
    barrier(CLK_GLOBAL_MEM_FENCE);
    data[256 * get_group_id(0) + get_local_id(0)] += 1;
}

// The dwords of each 128 bytes are stored by different workgroups.
kernel __attribute__((reqd_work_group_size(64, 1, 1))) void scattered(global uint *data)
{
    const uint group = get_group_id(0);
    data[2048 * (group / 32) + 32 * get_local_id(0) + group % 32] = group;
}
