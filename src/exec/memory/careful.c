/* SPDX-License-Identifier: MIT */
/* Shared by the slow paths of memory instructions: faults, and an atomic of one lane. */
#include "exec/memory/careful.h"

struct wmi_fault wmi_fault_of(const struct wmi_memory_op *m, const struct wmi_refused_lanes *causes,
                              unsigned count, uint32_t bytes)
{
    struct wmi_fault fault = {
        .pc = m->pc, .low = UINT64_MAX, .bytes = bytes, .store = m->kind != WMI_ACCESS_LOAD};
    for (unsigned i = 0; i < count && !fault.lanes; i++) {
        fault.kind = causes[i].kind;
        fault.lanes = causes[i].lanes;
        fault.plain = causes[i].plain;
    }
    return fault;
}

void wmi_fault_reaches(struct wmi_fault *fault, uint64_t address, uint32_t bytes)
{
    const uint64_t end = address + bytes - 1 < address ? UINT64_MAX : address + bytes - 1;
    if (address < fault->low)
        fault->low = address;
    if (end > fault->high)
        fault->high = end;
}

static uint64_t pair(const uint32_t *low, unsigned size)
{
    return *low | (uint64_t)low[size] << 32;
}

void wmi_atomic_lane(char *frame, const struct wmi_op *op, enum wmi_atomic operation, unsigned lane,
                     unsigned char *host)
{
    const struct wmi_memory_op *m = op->data;
    const unsigned size = ((const struct wmi_frame *)frame)->wave_size;
    const uint32_t *data = wmi_row_at(frame, op->c, 0) + lane;
    uint32_t *to = wmi_row_at(frame, op->d, 0) + lane;
    const bool compares = wmi_atomic_compares(operation);
    uint64_t before = 0;
    if (host && m->bytes == 4)
        before = wmi_atomic_32(operation, host, *data, compares ? data[size] : 0);
    else if (host)
        before = wmi_atomic_64(operation, host, pair(data, size), compares ? pair(data + 2 * size, size) : 0);
    if (!m->returns)
        return;
    *to = (uint32_t)before;
    if (m->bytes == 8)
        to[size] = (uint32_t)(before >> 32);
}
