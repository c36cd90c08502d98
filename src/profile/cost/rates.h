/* SPDX-License-Identifier: MIT */
/* The parts of a GPU that can bound a kernel, and how long units of a SIMD take for instructions. */
#ifndef WMI_RATES_H
#define WMI_RATES_H

#include "isa/rules/work.h"
#include "wavemem/wavemem.h"

#include <assert.h>

enum wmi_gpu_part {
    WMI_GPU_MEMORY, /* those of memory instructions */
    WMI_GPU_LAST,
    WMI_GPU_L2,
    WMI_GPU_ATOMIC, /* the channel of L2 that most atomics go to */
    WMI_GPU_L1,
    WMI_GPU_ADDRESS,
    WMI_GPU_DATA,
    WMI_GPU_LDS,
    WMI_GPU_LDS_ISSUE, /* between a SIMD and LDS */
    WMI_GPU_ISSUE,     /* all instructions */
    WMI_GPU_FETCH,     /* from here on those of which no memory instruction has a share */
    WMI_GPU_VALU,
    WMI_GPU_TRANS,  /* transcendental functions, where they have a unit of their own */
    WMI_GPU_DOUBLE, /* f64, likewise */
    WMI_GPU_MATRIX,
    WMI_GPU_SALU,
    WMI_GPU_BRANCH,
    WMI_GPU_EXPORT,
    WMI_GPU_DISPATCH, /* starts workgroups */
    WMI_GPU_PARTS
};
extern const char *const wmi_gpu_part_names[WMI_GPU_PARTS];
static_assert((int)WMI_GPU_PARTS == WM_PROFILE_BOUNDS, "a bound for each part");

/* One kind of instruction in the unit that executes it. */
struct wmi_rate {
    uint8_t part;      /* enum wmi_gpu_part */
    uint8_t clocks[2]; /* with waves of 32 and of 64 lanes; matrices: see WMI_WORK_MATRIX_CLOCKS */
    uint8_t
        halves; /* of f64: `clocks` times the product's double_rate, over 1 << halves, at least `clocks` */
    bool of_f64;
};

struct wmi_rates {
    struct wmi_rate rate[WMI_WORK_KINDS];
    uint8_t lds_bytes; /* that a SIMD exchanges with LDS per clock */
};

/* The rates of a product, by the limit `rates` of its target; NULL: it has no known target. */
const struct wmi_rates *wmi_rates_of(const struct wm_gpu *gpu);

/* Clocks of a unit of a SIMD for an instruction of a wave; 0: another unit executes it. The VALU issues those
 * that other vector units execute, at full rate. */
uint32_t wmi_rate_clocks(const struct wmi_rates *rates, enum wmi_gpu_part part, enum wmi_work work,
                         const struct wm_gpu *gpu, unsigned wave_lanes);

/* Clocks between a SIMD and LDS for so many dwords of each lane of a wave. */
double wmi_lds_clocks(const struct wmi_rates *rates, uint64_t dwords, unsigned wave_lanes);

#endif
