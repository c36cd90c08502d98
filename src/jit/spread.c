/* SPDX-License-Identifier: MIT */
#include "jit/spread.h"

/* clang-format off */
#define LANES(OF, n) {OF(n, 0), OF(n, 1), OF(n, 2), OF(n, 3), OF(n, 4), OF(n, 5), OF(n, 6), OF(n, 7), \
                      OF(n, 8), OF(n, 9), OF(n, 10), OF(n, 11), OF(n, 12), OF(n, 13), OF(n, 14), OF(n, 15)}
#define STRIDES(OF) {LANES(OF, 0), LANES(OF, 1), LANES(OF, 2), LANES(OF, 4), LANES(OF, 8), LANES(OF, 16)}
/* From the first lane of the strip that word i is of to the last lane. */
#define IN_STRIP(i)   (15)
#define IN_WAVE_64(i) (63 - 16 * ((i) % 4))
#define IN_WAVE_32(i) (31 - 16 * ((i) % 2))
/* clang-format on */
#define GROWTH(n, i)          ((n) * (i))
#define HIGHEST(n, i)         (UINT32_MAX - (n) * (i))
#define LAST_IN_STRIP(n, i)   ((n) * IN_STRIP(i))
#define LAST_IN_WAVE_64(n, i) ((n) * IN_WAVE_64(i))
#define LAST_IN_WAVE_32(n, i) ((n) * IN_WAVE_32(i))
#define MOST_IN_STRIP(n, i)   (UINT32_MAX - LAST_IN_STRIP(n, i))
#define MOST_IN_WAVE_64(n, i) (UINT32_MAX - LAST_IN_WAVE_64(n, i))
#define MOST_IN_WAVE_32(n, i) (UINT32_MAX - LAST_IN_WAVE_32(n, i))

static const struct wmi_spread_tables tables = {
    .lanes = STRIDES(GROWTH),
    .highest = STRIDES(HIGHEST),
    .last = {STRIDES(LAST_IN_STRIP), STRIDES(LAST_IN_WAVE_64), STRIDES(LAST_IN_WAVE_32)},
    .most = {STRIDES(MOST_IN_STRIP), STRIDES(MOST_IN_WAVE_64), STRIDES(MOST_IN_WAVE_32)},
    .even = {0, 2, 4, 6, 8, 10, 12, 14, 0, 2, 4, 6, 8, 10, 12, 14},
    .odd = {1, 3, 5, 7, 9, 11, 13, 15, 1, 3, 5, 7, 9, 11, 13, 15},
    .high_words = UINT64_C(0xffffffff00000000),
    .top_bits = UINT64_C(0xc000000000000000),
    .word = {0, 1, 2, 3, 4, 5, 6, 7},
    .one = 1,
};

void wmi_spread_begin(struct wmi_host *host)
{
    wmi_move_immediate(host, WMI_R11, (uintptr_t)&tables);
}

/* The lanes of a stride in one of the tables. */
static struct wmi_host_operand in_lanes(size_t table, unsigned stride)
{
    return wmi_at(WMI_R11, (int32_t)(table + wmi_stride_number(stride) * WMI_STRIP_BYTES));
}

/* d = a word of a register in all lanes. */
static void take_word(struct wmi_host *host, unsigned d, unsigned reg, unsigned word)
{
    if (!word) {
        wmi_evex_plain(host, WMI_VPBROADCASTD, d, 0, wmi_zmm(reg));
        return;
    }
    const size_t number = offsetof(struct wmi_spread_tables, word) + 4 * word;
    wmi_take_word(host, d, reg, word, wmi_at(WMI_R11, (int32_t)number));
}

static void add_lanes(struct wmi_host *host, unsigned d, unsigned stride)
{
    if (stride)
        wmi_evex_plain(host, WMI_VPADDD, d, d, in_lanes(offsetof(struct wmi_spread_tables, lanes), stride));
}

void wmi_spread_strip(struct wmi_host *host, unsigned d, unsigned bases, unsigned stride, unsigned strip)
{
    take_word(host, d, bases, strip);
    add_lanes(host, d, stride);
}

void wmi_spread_half(struct wmi_host *host, unsigned d, unsigned pair, unsigned stride, unsigned strip,
                     bool high, unsigned mask)
{
    take_word(host, d, pair, 2 * strip);
    if (!high) {
        add_lanes(host, d, stride);
        return;
    }
    if (stride)
        wmi_evex(host, WMI_VPCMPUD, mask, d, in_lanes(offsetof(struct wmi_spread_tables, highest), stride),
                 WMI_NO_MASK, WMI_ABOVE);
    take_word(host, d, pair, 2 * strip + 1);
    if (stride) {
        struct wmi_host_operand one = wmi_at(WMI_R11, offsetof(struct wmi_spread_tables, one));
        one.broadcast = true;
        wmi_evex(host, WMI_VPADDD, d, d, one, mask, WMI_NO_IMMEDIATE);
    }
}
