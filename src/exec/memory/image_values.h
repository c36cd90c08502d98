/* SPDX-License-Identifier: MIT */
/* The result registers of image instructions: the components in DMASK consecutively, 16-bit values packed or
 * unpacked. */
#ifndef WMI_IMAGE_VALUES_H
#define WMI_IMAGE_VALUES_H

#include "exec/memory/careful.h"

struct wmi_image_values {
    uint32_t offset; /* of the first row in the frame */
    uint8_t dmask;
    bool packed; /* two 16-bit values in a row */
    bool status; /* a status row follows: all texels are resident */
};

static inline void wmi_image_put(char *frame, const struct wmi_image_values *to, unsigned lane,
                                 const uint32_t value[4])
{
    unsigned n = 0;
    for (unsigned i = 0; i < 4; i++) {
        if (!(to->dmask >> i & 1))
            continue;
        uint32_t *row = &wmi_row_at(frame, to->offset, to->packed ? n / 2 : n)[lane];
        if (!to->packed)
            *row = value[i];
        else if (n & 1)
            *row = (*row & 0xffff) | value[i] << 16;
        else
            *row = (*row & 0xffff0000) | (value[i] & 0xffff);
        n++;
    }
    if (to->status)
        wmi_row_at(frame, to->offset, to->packed ? (n + 1) / 2 : n)[lane] = 0;
}

#endif
