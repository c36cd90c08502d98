/* SPDX-License-Identifier: MIT */
/* What instructions of the vector memory share: the shape of an access and the steps that carry it out. */
#include "lower/classes.h"

#include "memory/buffer.h"

int wmi_vmem_shape_index(const struct wmi_memory_op *m)
{
#define SHAPE(kind, ...) {WMI_ACCESS_##kind, __VA_ARGS__},
    static const struct {
        uint8_t kind, elements, bytes;
        bool is_signed, d16, d16_hi;
    } shapes[] = {WMI_VMEM_SHAPES(SHAPE)};
#undef SHAPE
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (shapes[i].kind == m->kind && shapes[i].elements == m->elements && shapes[i].bytes == m->bytes &&
            shapes[i].is_signed == m->is_signed && shapes[i].d16 == m->d16 && shapes[i].d16_hi == m->d16_hi)
            return (int)i;
    return -1;
}

enum wmi_step_id wmi_lower_fast_global(const struct wmi_memory_op *m, enum wmi_vmem_form form)
{
    if (m->alignment != WMI_ALIGNMENT_UNALIGNED || m->must_align)
        return WMI_STEP_vmem_careful;
    const int shape = wmi_vmem_shape_index(m);
    return shape < 0 ? WMI_STEP_NONE
                     : (enum wmi_step_id)(WMI_STEP_FIRST_GLOBAL + shape * WMI_VMEM_FAST_FORMS + (int)form);
}

void wmi_lower_lds_move(struct wmi_builder *b, const struct wmi_memory_op *m, const struct wmi_step *step,
                        bool writes)
{
    struct wmi_step watch = *step;
    struct wmi_memory_op *mine;
    watch.x = writes;
    for (unsigned next = 0; (mine = wmi_builder_next_watch(b, (struct wmi_memory_op *)m, true, &next));) {
        watch.data = mine;
        wmi_emit_as(b, step->y ? WMI_STEP_vmem_watch_lds : WMI_STEP_vmem_watch_lds_lanes, &watch);
    }
}
