/* SPDX-License-Identifier: MIT */
/* Rows in runs, in the host's registers: in each strip of 16 lanes, the values grow by the same stride from
 * lane to lane, modulo 2^32. One register is enough for such a row: word i holds the value of the first lane
 * of strip i, and the further words repeat those of the wave's strips. Strides are 0 and powers of two up
 * to 16. A run is whole if the values grow so from the wave's first lane to its last one.
 *
 * A pair of rows, low and high words, can be in runs of 64-bit values: quadword i of its register holds the
 * value of the first lane of strip i, and the stride is added modulo 2^64. */
#ifndef WMI_SPREAD_H
#define WMI_SPREAD_H

#include "jit/host.h"

enum {
    WMI_STRIPS = 4, /* of a wave of 64 lanes */
    WMI_STRIP_LANES = 16,
    WMI_STRIP_BYTES = 64,
    WMI_STRIDES = 6,
};

/* How far a value may grow from the first lane of a strip on: to the strip's last lane; to that of a wave of
 * 64 or of 32 lanes, whose runs are whole. */
enum wmi_reach { WMI_IN_STRIP, WMI_IN_WAVE_64, WMI_IN_WAVE_32, WMI_REACHES };

/* What the host code reads, by the number of a stride. */
struct wmi_spread_tables {
    uint32_t lanes[WMI_STRIDES][WMI_STRIP_LANES];   /* the stride times the lane */
    uint32_t highest[WMI_STRIDES][WMI_STRIP_LANES]; /* the highest value to which that can be added */
    /* What is added to first lanes to get to the last lane, and the highest first lanes that do not wrap. */
    uint32_t last[WMI_REACHES][WMI_STRIDES][WMI_STRIP_LANES];
    uint32_t most[WMI_REACHES][WMI_STRIDES][WMI_STRIP_LANES];
    uint32_t even[WMI_STRIP_LANES], odd[WMI_STRIP_LANES]; /* the words of quadwords, twice */
    uint64_t high_words, top_bits;
    uint32_t word[2 * WMI_STRIPS], one;
};

static inline bool wmi_is_stride(unsigned stride)
{
    return stride <= 16 && !(stride & (stride - 1));
}

static inline unsigned wmi_stride_number(unsigned stride)
{
    return stride ? 1 + (unsigned)__builtin_ctz(stride) : 0;
}

/* R11 = the tables: in code for waves that start, from its beginning on. */
void wmi_spread_begin(struct wmi_host *host);
/* d = the lanes of a strip, from the register of first lanes. Needs R11. */
void wmi_spread_strip(struct wmi_host *host, unsigned d, unsigned bases, unsigned stride, unsigned strip);
/* The same from a pair: its low or its high words. Changes `mask`. */
void wmi_spread_half(struct wmi_host *host, unsigned d, unsigned pair, unsigned stride, unsigned strip,
                     bool high, unsigned mask);

#endif
