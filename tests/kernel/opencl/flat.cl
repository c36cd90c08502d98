// SPDX-License-Identifier: MIT
// Values of every size through generic pointers: private, local and global memory in one instruction. On gfx7
// and later these are FLAT instructions.

#define EVERYWHERE(T, U) \
    __attribute__((noinline)) void pass_##T(T *p, uint n, T value) \
    { \
        for (uint i = 0; i < n; i++) { \
            const T old = p[i]; \
            p[i] = old + value; \
            value = old; \
        } \
    } \
    kernel __attribute__((reqd_work_group_size(64, 1, 1))) void everywhere_##T( \
        global const T *a, global const uint *which, global T *inout) \
    { \
        local T shared[64 * 4]; \
        T own[4]; \
        const size_t i = get_global_id(0), l = get_local_id(0); \
        for (uint j = 0; j < 4; j++) { \
            own[j] = a[i + j]; \
            shared[4 * l + j] = a[i + j] + (T)(U)j; \
        } \
        const uint where = which[i] % 3; \
        T *p = where == 0 ? (T *)own : where == 1 ? (T *)(shared + 4 * l) : (T *)(inout + 8 * i); \
        pass_##T(p, 4, a[i]); \
        pass_##T(p + (which[i] >> 8 & 1), 3, p[2]); \
        for (uint j = 0; j < 4; j++) \
            inout[8 * i + 4 + j] = own[j] ^ shared[4 * l + j]; \
    }
EVERYWHERE(uchar, uchar)
EVERYWHERE(short, short)
EVERYWHERE(uint, uint)
EVERYWHERE(ulong, ulong)
EVERYWHERE(uint2, uint)
EVERYWHERE(uint4, uint)
EVERYWHERE(ushort2, ushort)
EVERYWHERE(ulong2, ulong)

// Private arrays with data-dependent indices, of bytes to vectors.
#define OWN(T) \
    kernel void own_##T(global const T *a, global const uint *which, global T *inout) \
    { \
        const size_t i = get_global_id(0); \
        T own[16]; \
        for (uint j = 0; j < 16; j++) \
            own[j] = a[i + j]; \
        for (uint j = 0; j < 8; j++) { \
            const uint from = which[i + j] & 15, to = which[i + j] >> 4 & 15; \
            own[to] = own[from] + own[to]; \
        } \
        inout[i] = own[which[i] >> 8 & 15]; \
    }
OWN(char)
OWN(ushort)
OWN(int)
OWN(long)
OWN(uint4)
OWN(short4)
