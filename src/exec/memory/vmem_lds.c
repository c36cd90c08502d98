/* SPDX-License-Identifier: MIT */
/* Further vector memory steps: offsets of ADDTID instructions, and moves between LDS and memory. */
#include "exec/control/steps.h"
#include "exec/memory/careful.h"
#include "exec/memory/vmem.h"

const struct wmi_op *wmi_step_vmem_thread_offsets(char *restrict frame, const struct wmi_op *op)
{
    uint32_t *to = (uint32_t *)(frame + op->d);
    for (unsigned i = 0; i < ((const struct wmi_frame *)frame)->wave_size; i++)
        to[i] = 4 * i;
    return op + 1;
}

/* Moves whose place in LDS follows from M0 have a mask of M0, at least a dword and at most 16 bytes for each
 * lane: LLVM 22, AMDGPUUsage, llvm.amdgcn.load.to.lds: 4 bytes a lane, or 16 for more, also for three dwords.
 * Those of asynchronous copies have an address for each lane, and move as many bytes as the instruction
 * names. */
static bool has_addresses(const struct wmi_op *op)
{
    return !op->y;
}

static unsigned moved_bytes(const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    const unsigned bytes = (unsigned)m->elements * m->bytes;
    return has_addresses(op) || bytes > 4 ? bytes : 4;
}

/* The LDS address of a lane's bytes. The offset is added on both sides. Source: CDNA 5 ISA, "Asynchronous
 * Memory Load and Store". */
static int64_t address_of(const char *frame, const struct wmi_op *op, unsigned lane)
{
    const struct wmi_memory_op *m = op->data;
    const struct wmi_frame *f = (const struct wmi_frame *)frame;
    return m->offset + (has_addresses(op)
                            ? (int64_t)((const uint32_t *)(frame + op->b))[lane]
                            : (int64_t)(f->s[WMI_S_M0] & op->y) + (m->elements > 1 ? 16 : 4) * (int64_t)lane);
}

/* Host address of the lane's bytes in LDS; NULL if out of range. */
static unsigned char *bytes_of(const char *frame, const struct wmi_op *op, unsigned lane)
{
    const struct wmi_workgroup *group = wmi_wave_of(frame)->group;
    const int64_t at = address_of(frame, op, lane);
    return at >= 0 && at + moved_bytes(op) <= group->lds_size ? group->lds + at : NULL;
}

static uint64_t lanes_of(const char *frame, const struct wmi_op *op)
{
    return ((const struct wmi_lanes *)(frame + op->lanes))->bits;
}

const struct wmi_op *wmi_step_vmem_watch_lds(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    const struct wmi_frame *f = (const struct wmi_frame *)frame;
    const struct wmi_wave *wave = wmi_wave_of(frame);
    uint64_t address[64];
    struct wmi_access access;
    wmi_access_begin(&access, m, wave, lanes_of(frame, op));
    access.kind = op->x ? WMI_ACCESS_STORE : WMI_ACCESS_LOAD;
    access.elements = 1;
    access.bytes = (uint8_t)moved_bytes(op);
    access.element[0] =
        (struct wmi_element){.space = WMI_SPACE_LDS, .mask = lanes_of(frame, op), .address = address};
    for (unsigned lane = 0; lane < f->wave_size; lane++) {
        address[lane] = (uint64_t)address_of(frame, op, lane);
        access.element[0].bad_range |= (uint64_t)!bytes_of(frame, op, lane) << lane;
    }
    access.element[0].bad_range &= lanes_of(frame, op);
    wmi_show_access(wave, m, &access);
    return op + 1;
}

const struct wmi_op *wmi_step_vmem_watch_lds_lanes(char *restrict frame, const struct wmi_op *op)
{
    return wmi_step_vmem_watch_lds(frame, op);
}

/* Writes out of LDS range are dropped. Source: CDNA 3 ISA, "Memory Buffer Load to LDS" and "Memory
 * Violations". */
const struct wmi_op *wmi_step_vmem_to_lds(char *restrict frame, const struct wmi_op *op)
{
    const uint32_t *value = (const uint32_t *)(frame + op->a);
    const unsigned size = ((const struct wmi_frame *)frame)->wave_size, bytes = moved_bytes(op);
    for (uint64_t left = lanes_of(frame, op); left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(left);
        unsigned char *to = bytes_of(frame, op, lane);
        for (unsigned at = 0; to && at < bytes; at += 4)
            memcpy(to + at, &value[at / 4 * size + lane], bytes - at < 4 ? bytes - at : 4);
    }
    return op + 1;
}

const struct wmi_op *wmi_step_vmem_to_lds_lanes(char *restrict frame, const struct wmi_op *op)
{
    return wmi_step_vmem_to_lds(frame, op);
}

/* Assumed to mirror wmi_step_vmem_to_lds(); the documents only say that BUFFER_STORE_LDS_DWORD needs no
 * VGPRs. */
const struct wmi_op *wmi_step_vmem_from_lds(char *restrict frame, const struct wmi_op *op)
{
    uint32_t *value = (uint32_t *)(frame + op->d);
    const unsigned size = ((const struct wmi_frame *)frame)->wave_size, bytes = moved_bytes(op);
    for (uint64_t left = lanes_of(frame, op); left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(left);
        const unsigned char *from = bytes_of(frame, op, lane);
        for (unsigned at = 0; at < bytes; at += 4) {
            value[at / 4 * size + lane] = 0;
            if (from)
                memcpy(&value[at / 4 * size + lane], from + at, bytes - at < 4 ? bytes - at : 4);
        }
    }
    return op + 1;
}

const struct wmi_op *wmi_step_vmem_from_lds_lanes(char *restrict frame, const struct wmi_op *op)
{
    return wmi_step_vmem_from_lds(frame, op);
}
