/* SPDX-License-Identifier: MIT */
/* Rows in runs, in the host's registers: in each strip of 16 lanes, the values grow by the same stride from
 * lane to lane, modulo 2^32. One register is enough for such a row: word i holds the value of the first lane
 * of strip i, and the further words repeat those of the wave's strips. Strides are 0 and powers of two up
 * to 16. */
#ifndef WMI_SPREAD_H
#define WMI_SPREAD_H

#include "compile/host.h"

enum {
    WMI_STRIPS = 4, /* of a wave of 64 lanes */
    WMI_STRIP_LANES = 16,
    WMI_STRIP_BYTES = 64,
    WMI_STRIDES = 6,
};

/* What the host code reads, by the number of a stride. */
struct wmi_spread_tables {
    uint32_t lanes[WMI_STRIDES][WMI_STRIP_LANES]; /* the stride times the lane */
    uint32_t last[WMI_STRIDES];                   /* that of the last lane */
    uint32_t most[WMI_STRIDES];                   /* the highest value of a first lane that does not wrap */
    uint32_t strip[WMI_STRIPS];
};

static inline bool wmi_is_stride(unsigned stride)
{
    return stride <= 16 && !(stride & (stride - 1));
}

static inline unsigned wmi_stride_number(unsigned stride)
{
    return stride ? 1 + (unsigned)__builtin_ctz(stride) : 0;
}

/* R11 = the tables, until the end of the step. */
void wmi_spread_begin(struct wmi_host *host);
/* d = the lanes of a strip, from the register of first lanes. Needs R11. */
void wmi_spread_strip(struct wmi_host *host, unsigned d, unsigned bases, unsigned stride, unsigned strip);

#endif
