/* SPDX-License-Identifier: MIT */
/* What vector memory instructions have besides: addresses by lane numbers, and moves between LDS and memory.
 */
#include "exec/steps.h"
#include "exec/vmem.h"

const struct wmi_op *wmi_step_vmem_thread_offsets(char *restrict frame, const struct wmi_op *op)
{
    uint32_t *to = (uint32_t *)(frame + op->d);
    for (unsigned i = 0; i < ((const struct wmi_frame *)frame)->wave_size; i++)
        to[i] = 4 * i;
    return op + 1;
}

/* The lane's dword of LDS; NULL: there is none. */
static unsigned char *dword_of(const char *frame, const struct wmi_op *op, unsigned lane)
{
    const struct wmi_memory_op *m = op->data;
    const struct wmi_workgroup *group = wmi_wave_of(frame)->group;
    const int64_t at =
        (int64_t)(((const struct wmi_frame *)frame)->s[WMI_S_M0] & op->y) + m->offset + 4 * lane;
    return at >= 0 && at + 4 <= group->lds_size ? group->lds + at : NULL;
}

/* What is out of LDS is dropped. Source: CDNA 3 ISA, "Memory Buffer Load to LDS" and "Memory Violations". */
const struct wmi_op *wmi_step_vmem_to_lds(char *restrict frame, const struct wmi_op *op)
{
    const uint32_t *value = (const uint32_t *)(frame + op->a);
    for (uint64_t left = ((const struct wmi_frame *)frame)->exec.bits; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(left);
        unsigned char *to = dword_of(frame, op, lane);
        if (to)
            memcpy(to, &value[lane], sizeof *value);
    }
    return op + 1;
}

/* Source: the mirror image of the above; no document says more than that BUFFER_STORE_LDS_DWORD needs no
 * VGPRs.
 */
const struct wmi_op *wmi_step_vmem_from_lds(char *restrict frame, const struct wmi_op *op)
{
    uint32_t *value = (uint32_t *)(frame + op->d);
    for (uint64_t left = ((const struct wmi_frame *)frame)->exec.bits; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(left);
        const unsigned char *from = dword_of(frame, op, lane);
        value[lane] = 0;
        if (from)
            memcpy(&value[lane], from, sizeof *value);
    }
    return op + 1;
}
