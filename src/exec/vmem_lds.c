/* SPDX-License-Identifier: MIT */
/* What GLOBAL and SCRATCH instructions have besides: addresses by lane numbers, and loads to LDS. */
#include "exec/vmem.h"

const struct wmi_op *wmi_vmem_thread_offsets(char *restrict frame, const struct wmi_op *op)
{
    uint32_t *to = (uint32_t *)(frame + op->d);
    for (unsigned i = 0; i < ((const struct wmi_frame *)frame)->wave_size; i++)
        to[i] = 4 * i;
    return op + 1;
}

/* What is out of LDS is dropped. Source: CDNA 3 ISA, "Memory Buffer Load to LDS" and "Memory Violations". */
const struct wmi_op *wmi_vmem_to_lds(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_frame *f = (const struct wmi_frame *)frame;
    const struct wmi_memory_op *m = op->data;
    const struct wmi_workgroup *group = wmi_wave_of(frame)->group;
    const uint32_t *value = (const uint32_t *)(frame + op->a);
    const int64_t base = (int64_t)(f->s[WMI_S_M0] & op->y) + m->offset;
    for (uint64_t left = f->exec.bits; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(left);
        const int64_t at = base + 4 * lane;
        if (at >= 0 && at + 4 <= group->lds_size)
            memcpy(group->lds + at, &value[lane], sizeof *value);
    }
    return op + 1;
}
