/* SPDX-License-Identifier: MIT */
/* Steps that stand for two: see fused.h. */
#include "sem/fused.h"

#include "sem/bodies.h"

static const struct wmi_op *move_scalar(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_lanes *lanes = wmi_op_lanes(frame, op);
    const uint32_t value = *(const wmi_word *)(frame + op->a);
    const wmi_word *mask = lanes->row;
    wmi_word *d = wmi_row(frame, op->d);
    if (lanes->full) {
        for (unsigned i = 0; i < WMI_LANES; i++)
            d[i] = value;
    } else {
        WMI_EACH_LANE
        for (unsigned i = 0; i < WMI_LANES; i++)
            d[i] = (value & mask[i]) | (d[i] & ~mask[i]);
    }
    return op + 1;
}

/* The carry out of x + y (+ carry in) that gave `sum`, in the highest bit. */
WMI_INLINE uint32_t carry_of(uint32_t x, uint32_t y, uint32_t sum)
{
    return (x & y) | ((x | y) & ~sum);
}

#define ADD_64_LOOP(merge_low, merge_high)                                                                   \
    WMI_EACH_LANE                                                                                            \
    for (unsigned i = 0; i < WMI_LANES; i++) {                                                               \
        const uint32_t x = a[i], y = b[i], u = c[i], v = e[i];                                               \
        const uint32_t low = x + y, high = u + v + (carry_of(x, y, low) >> 31);                              \
        out[i] = carry_of(u, v, high);                                                                       \
        d[i] = merge_low;                                                                                    \
        d_high[i] = merge_high;                                                                              \
    }

static const struct wmi_op *add_64(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_lanes *lanes = wmi_op_lanes(frame, op);
    const wmi_word *a = wmi_row(frame, op->a), *b = wmi_row(frame, op->b);
    const wmi_word *c = wmi_row(frame, op->c), *e = wmi_row(frame, op->e), *mask = lanes->row;
    wmi_word *d = wmi_row(frame, op->d), *d_high = wmi_row(frame, op->x);
    wmi_word out[WMI_LANES];
    if (lanes->full) {
        ADD_64_LOOP(low, high)
    } else {
        ADD_64_LOOP((low & mask[i]) | (d[i] & ~mask[i]), (high & mask[i]) | (d_high[i] & ~mask[i]))
    }
    wmi_put_mask(frame, op->y, wmi_lanes_pack(out) & lanes->bits);
    return op + 1;
}

#define TABLE_(suffix) wmi_fused_steps##suffix
#define TABLE(suffix)  TABLE_(suffix)
extern const wmi_body TABLE(WMI_BODY_SUFFIX)[WMI_FUSED_COUNT];
const wmi_body TABLE(WMI_BODY_SUFFIX)[WMI_FUSED_COUNT] = {
    [WMI_FUSED_MOVE_SCALAR] = move_scalar,
    [WMI_FUSED_ADD_64] = add_64,
};
