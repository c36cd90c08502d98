/* SPDX-License-Identifier: MIT */
/* Fused steps, see fused.h. */
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
    return wmi_next(frame, op);
}

#define MERGE(value, old) ((value) & mask[i]) | ((old) & ~mask[i])

#define ADD_64(name, scalar_low, scalar_high, carry)                                                         \
    static const struct wmi_op *name(char *restrict frame, const struct wmi_op *op)                          \
    {                                                                                                        \
        const struct wmi_lanes *lanes = wmi_op_lanes(frame, op);                                             \
        const struct wmi_lanes_64 x = {(const wmi_word *)(frame + op->a), (const wmi_word *)(frame + op->c), \
                                       scalar_low, scalar_high};                                             \
        const uint64_t carries = wmi_lanes_add_64(wmi_row(frame, op->d), wmi_row(frame, op->x), x,           \
                                                  wmi_row(frame, op->b), wmi_row(frame, op->e), lanes);      \
        if (carry)                                                                                           \
            wmi_put_mask(frame, op->y, carries & lanes->bits);                                               \
        return wmi_next(frame, op);                                                                          \
    }

ADD_64(add_64, false, false, true)
ADD_64(add_64_scalar, true, false, true)
ADD_64(add_64_scalars, true, true, true)
ADD_64(add_64_alone, false, false, false)
ADD_64(add_64_scalar_alone, true, false, false)
ADD_64(add_64_scalars_alone, true, true, false)

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
    return wmi_next(frame, op);
}

extern const wmi_body WMI_BUILD_NAME(wmi_fused_steps)[WMI_FUSED_COUNT];
const wmi_body WMI_BUILD_NAME(wmi_fused_steps)[WMI_FUSED_COUNT] = {
    [WMI_FUSED_MOVE_SCALAR] = move_scalar,
    [WMI_FUSED_ADD_64] = add_64,
    [WMI_FUSED_ADD_64_SCALAR] = add_64_scalar,
    [WMI_FUSED_ADD_64_SCALARS] = add_64_scalars,
    [WMI_FUSED_ADD_64_ALONE] = add_64_alone,
    [WMI_FUSED_ADD_64_SCALAR_ALONE] = add_64_scalar_alone,
    [WMI_FUSED_ADD_64_SCALARS_ALONE] = add_64_scalars_alone,
    [WMI_FUSED_SHIFT_LEFT_64] = shift_left_64,
};
