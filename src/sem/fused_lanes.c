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

#define ADD_64_LOOP(low_a, merge_low, merge_high)                                                            \
    WMI_EACH_LANE                                                                                            \
    for (unsigned i = 0; i < WMI_LANES; i++) {                                                               \
        const uint32_t x = low_a, y = b[i], u = c[i], v = e[i];                                              \
        const uint32_t low = x + y, high = u + v + (carry_of(x, y, low) >> 31);                              \
        out[i] = carry_of(u, v, high);                                                                       \
        d[i] = merge_low;                                                                                    \
        d_high[i] = merge_high;                                                                              \
    }

#define MERGE(value, old) ((value) & mask[i]) | ((old) & ~mask[i])

/* `low_a`: the low word of the first operand in lane i. */
#define ADD_64(name, low_a)                                                                                  \
    static const struct wmi_op *name(char *restrict frame, const struct wmi_op *op)                          \
    {                                                                                                        \
        const struct wmi_lanes *lanes = wmi_op_lanes(frame, op);                                             \
        const wmi_word *a = (const wmi_word *)(frame + op->a), *b = wmi_row(frame, op->b);                   \
        const wmi_word *c = wmi_row(frame, op->c), *e = wmi_row(frame, op->e), *mask = lanes->row;           \
        wmi_word *d = wmi_row(frame, op->d), *d_high = wmi_row(frame, op->x);                                \
        const uint32_t scalar = *a;                                                                          \
        wmi_word out[WMI_LANES];                                                                             \
        (void)scalar;                                                                                        \
        if (lanes->full) {                                                                                   \
            ADD_64_LOOP(low_a, low, high)                                                                    \
        } else {                                                                                             \
            ADD_64_LOOP(low_a, MERGE(low, d[i]), MERGE(high, d_high[i]))                                     \
        }                                                                                                    \
        wmi_put_mask(frame, op->y, wmi_lanes_pack(out) & lanes->bits);                                       \
        return op + 1;                                                                                       \
    }

ADD_64(add_64, a[i])
ADD_64(add_64_scalar, scalar)

static const struct wmi_op *shift_left_64(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_lanes *lanes = wmi_op_lanes(frame, op);
    const wmi_word *b = wmi_row(frame, op->b), *mask = lanes->row;
    wmi_word *d = wmi_row(frame, op->d);
    const uint32_t left = op->x & 31, right = -left & 31;
    if (lanes->full) {
        WMI_EACH_LANE
        for (unsigned i = 0; i < WMI_LANES; i++) {
            const uint32_t low = b[i], high = b[i + WMI_LANES];
            d[i] = low << left;
            d[i + WMI_LANES] = high << left | low >> right;
        }
    } else {
        WMI_EACH_LANE
        for (unsigned i = 0; i < WMI_LANES; i++) {
            const uint32_t low = b[i], high = b[i + WMI_LANES];
            d[i] = MERGE(low << left, d[i]);
            d[i + WMI_LANES] = MERGE(high << left | low >> right, d[i + WMI_LANES]);
        }
    }
    return op + 1;
}

extern const wmi_body WMI_BUILD_NAME(wmi_fused_steps)[WMI_FUSED_COUNT];
const wmi_body WMI_BUILD_NAME(wmi_fused_steps)[WMI_FUSED_COUNT] = {
    [WMI_FUSED_MOVE_SCALAR] = move_scalar,
    [WMI_FUSED_ADD_64] = add_64,
    [WMI_FUSED_ADD_64_SCALAR] = add_64_scalar,
    [WMI_FUSED_SHIFT_LEFT_64] = shift_left_64,
};
