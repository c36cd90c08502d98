// SPDX-License-Identifier: MIT
// Steps of all work-items, as random_accesses.py makes them up: what each does, and each work-item's address, ~0 if it is idle.
enum { LOAD, STORE, LOAD_BYTE, STORE_BYTE, LOAD_FOUR, STORE_FOUR, BARRIER };

// All bytes depend on all bits, so that of two such values one looks like no copy of what has been loaded.
uint mixed(uint x) {
    x = (x ^ x >> 16) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    return x ^ x >> 16;
}

#define STEPS(space, data, fence)                                                                            \
    const uint me = get_global_id(0);                                                                        \
    uint sum = 0;                                                                                            \
    uint4 four;                                                                                              \
    for (uint step = 0; step < count; step++) {                                                              \
        const uint at = address[step * get_global_size(0) + me], value = step << 16 | (me + 1);              \
        if (what[step] == BARRIER) {                                                                         \
            barrier(fence);                                                                                  \
            continue;                                                                                        \
        }                                                                                                    \
        if (at == ~0u)                                                                                       \
            continue;                                                                                        \
        switch (what[step]) {                                                                                \
        case LOAD:                                                                                           \
            sum += *(space uint *)(data + at);                                                               \
            break;                                                                                           \
        case STORE:                                                                                          \
            *(space uint *)(data + at) = value;                                                              \
            break;                                                                                           \
        case LOAD_BYTE:                                                                                      \
            sum += data[at];                                                                                 \
            break;                                                                                           \
        case STORE_BYTE:                                                                                     \
            data[at] = value;                                                                                \
            break;                                                                                           \
        case LOAD_FOUR:                                                                                      \
            four = *(space uint4 *)(data + at);                                                              \
            sum += four.x + four.y + four.z + four.w;                                                        \
            break;                                                                                           \
        case STORE_FOUR:                                                                                     \
            *(space uint4 *)(data + at) = value;                                                             \
            break;                                                                                           \
        }                                                                                                    \
    }                                                                                                        \
    out[2 * me] = mixed(sum);                                                                                \
    out[2 * me + 1] = mixed(~sum);

kernel void global_steps(global const uint *what, global const uint *address, uint count, global uint *out, global uchar *data) {
    STEPS(global, data, CLK_GLOBAL_MEM_FENCE)
}

kernel void local_steps(global const uint *what, global const uint *address, uint count, global uint *out) {
    local uchar data[32768] __attribute__((aligned(16)));
    STEPS(local, data, CLK_LOCAL_MEM_FENCE)
}
