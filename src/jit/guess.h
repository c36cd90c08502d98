/* SPDX-License-Identifier: MIT */
/* A guess of how the addresses of LDS steps grow from lane to lane. */
#ifndef WMI_GUESS_H
#define WMI_GUESS_H

#include "jit/compile.h"

enum { WMI_NO_GUESS = INT8_MIN, WMI_MOST_STRIDE = 64 };

/* guess[i] = by how many bytes the row `a` of step i may grow from lane to lane within a strip, from
 * -WMI_MOST_STRIDE to WMI_MOST_STRIDE, or WMI_NO_GUESS. Code that relies on it tests it. */
void wmi_guess_strides(const struct wmi_block *block, int8_t *guess);

#endif
