// SPDX-License-Identifier: MIT
// Functions of work-groups and sub-groups: reductions, scans, broadcasts, votes, shuffles, ballots. Float
// sums use small integers, so that they are exact in any order.

#define GROUP(T, CONVERT) \
    kernel __attribute__((reqd_work_group_size(256, 1, 1))) void work_group_##T(global const T *a, global T *out) \
    { \
        const size_t i = get_global_id(0); \
        const T x = CONVERT(a[i]); \
        global T *o = out + 12 * i; \
        o[0] = work_group_reduce_add(x); \
        o[1] = work_group_reduce_min(x); \
        o[2] = work_group_reduce_max(x); \
        o[3] = work_group_scan_inclusive_add(x); \
        o[4] = work_group_scan_exclusive_add(x); \
        o[5] = work_group_scan_inclusive_min(x); \
        o[6] = work_group_scan_exclusive_max(x); \
        o[7] = work_group_broadcast(x, 77); \
        o[8] = work_group_scan_inclusive_max(x); \
        o[9] = work_group_scan_exclusive_min(x); \
    } \
    kernel __attribute__((reqd_work_group_size(128, 1, 1))) void sub_group_##T(global const T *a, global T *out) \
    { \
        const size_t i = get_global_id(0); \
        const T x = CONVERT(a[i]); \
        global T *o = out + 12 * i; \
        o[0] = sub_group_reduce_add(x); \
        o[1] = sub_group_reduce_min(x); \
        o[2] = sub_group_reduce_max(x); \
        o[3] = sub_group_scan_inclusive_add(x); \
        o[4] = sub_group_scan_exclusive_add(x); \
        o[5] = sub_group_scan_inclusive_min(x); \
        o[6] = sub_group_scan_exclusive_max(x); \
        o[7] = sub_group_broadcast(x, 13); \
        o[8] = sub_group_scan_inclusive_max(x); \
        o[9] = sub_group_scan_exclusive_min(x); \
    }
#define AS_IT_IS(x) (x)
// Without -0: rocm-device-libs' scans for gfx10 and later add 0 to the first lanes of a row.
#define SMALL(x) (rint(x) + 0)
GROUP(int, AS_IT_IS)
GROUP(uint, AS_IT_IS)
GROUP(long, AS_IT_IS)
GROUP(ulong, AS_IT_IS)
GROUP(float, SMALL)
GROUP(double, SMALL)

kernel __attribute__((reqd_work_group_size(64, 1, 1))) void sub_group_half(global const half *a, global half *out)
{
    const size_t i = get_global_id(0);
    const half x = (half)((int)a[i] & 15);
    out[8 * i] = sub_group_reduce_add(x);
    out[8 * i + 1] = sub_group_scan_inclusive_add(x);
    out[8 * i + 2] = sub_group_reduce_max(a[i]);
    out[8 * i + 3] = sub_group_broadcast(a[i], WAVE - 1);
}

// A group size that is not a multiple of the wave size.
kernel __attribute__((reqd_work_group_size(100, 1, 1))) void odd_group(global const int *a, global int *out)
{
    const size_t i = get_global_id(0);
    global int *o = out + 8 * i;
    o[0] = work_group_reduce_add(a[i]);
    o[1] = work_group_scan_inclusive_add(a[i]);
    o[2] = work_group_scan_exclusive_max(a[i]);
    o[3] = work_group_any(a[i] == a[0]);
    o[4] = work_group_all(a[i] < 0x7fffffff);
    o[5] = sub_group_reduce_min(a[i]);
    o[6] = (int)(get_sub_group_size() * 10000 + get_num_sub_groups() * 100 + get_sub_group_id());
}

kernel __attribute__((reqd_work_group_size(16, 8, 1))) void plane(global const uint *a, global uint *out)
{
    const size_t at = get_global_linear_id();
    out[4 * at] = work_group_broadcast(a[at], 5, 3);
    out[4 * at + 1] = work_group_reduce_add(a[at]);
    out[4 * at + 2] = sub_group_scan_exclusive_add(a[at]);
    out[4 * at + 3] = get_sub_group_local_id();
}

kernel __attribute__((reqd_work_group_size(128, 1, 1))) void votes(global const uint *a, global ulong *out)
{
    const size_t i = get_global_id(0);
    const uint x = a[i];
    global ulong *o = out + 8 * i;
    o[0] = sub_group_ballot64(x & 1);
    o[1] = popcount(sub_group_ballot64((x >> 3) % 3 == 0));
    o[2] = sub_group_any((x & 63) == 5);
    o[3] = sub_group_all((x & 63) != 5);
    o[4] = work_group_any((x & 255) == 7) != 0;
    o[5] = work_group_all((x & 255) != 7) != 0;
    const ulong below = ((ulong)1 << get_sub_group_local_id()) - 1;
    o[6] = popcount(sub_group_ballot64(x & 2) & below);
}

kernel __attribute__((reqd_work_group_size(128, 1, 1))) void shuffles(global const int *a, global const float *b,
                                                                  global const double *c, global int *out,
                                                                  global float *floats, global double *doubles)
{
    const size_t i = get_global_id(0);
    const uint lane = get_sub_group_local_id();
    out[8 * i] = sub_group_shuffle(a[i], (lane * 7 + 3) & (WAVE - 1));
    out[8 * i + 1] = sub_group_shuffle(a[i], (uint)a[i] & (WAVE - 1));
    out[8 * i + 2] = sub_group_shuffle_xor(a[i], 1);
    out[8 * i + 3] = sub_group_shuffle_xor(a[i], WAVE / 2);
    int sum = a[i]; // butterfly
    for (uint mask = WAVE / 2; mask; mask >>= 1)
        sum += sub_group_shuffle_xor(sum, mask);
    out[8 * i + 4] = sum;
    int scan = a[i]; // Hillis and Steele
    for (uint by = 1; by < WAVE; by *= 2) {
        const int other = sub_group_shuffle(scan, (lane - by) & (WAVE - 1));
        scan += lane >= by ? other : 0;
    }
    out[8 * i + 5] = scan;
    floats[i] = sub_group_shuffle(b[i], WAVE - 1 - lane);
    doubles[i] = sub_group_shuffle(c[i], lane ^ 21);
}

// A bitonic sort of a wave with shuffles, and a matrix transposed through the LDS.
kernel __attribute__((reqd_work_group_size(64, 1, 1))) void wave_sort(global const int *a, global int *out)
{
    const uint lane = get_sub_group_local_id();
    int x = a[get_global_id(0)];
    for (uint size = 2; size <= WAVE; size *= 2)
        for (uint by = size / 2; by; by /= 2) {
            const int other = sub_group_shuffle_xor(x, by);
            const bool up = !(lane & size), low = !(lane & by);
            x = up == low ? min(x, other) : max(x, other);
        }
    out[get_global_id(0)] = x;
}

kernel __attribute__((reqd_work_group_size(16, 16, 1))) void stages(global const float *a, global float *out)
{
    local float tile[2][16][17];
    const size_t x = get_local_id(0), y = get_local_id(1), at = get_global_linear_id();
    tile[0][y][x] = a[at];
    for (int j = 0; j < 5; j++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        tile[~j & 1][y][x] = tile[j & 1][x][y] * 0.5f + tile[j & 1][(y + 1) & 15][x];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[at] = tile[1][y][x];
}
