/* SPDX-License-Identifier: MIT */
/* Shows accesses of GLOBAL and FLAT to the observer the quick way: where all active lanes are inside one
 * allocation, nothing can be refused, and the addresses are all that there is to say. As in vmem_lanes.c no
 * aperture needs to be looked for. The rest is wmi_vmem_watch()'s. */
#include "base/lanes.h"
#include "exec/vmem.h"
#include "exec/watch.h"
#include "exec/workgroup.h"
#include "memory/buffer.h"

/* Whether all active lanes' `bytes` are inside the hit, and aligned as `low_bits` says. Fills in addresses,
 * of inactive lanes any. */
static inline bool make_addresses(const char *frame, const struct wmi_op *op, const struct wmi_lanes *lanes,
                                  const struct wmi_hit *hit, uint64_t base, uint64_t bytes, uint64_t low_bits,
                                  uint64_t *restrict address)
{
    const uint32_t *low = (const uint32_t *)(frame + op->a), *high = low + WMI_LANES;
    const uint64_t start = hit->low, limit = hit->high - hit->low - bytes;
    const bool wide = op->x == WMI_VMEM_VADDR;
    uint64_t bad = 0;
    for (unsigned i = 0; i < WMI_LANES; i++) {
        const uint64_t active = -(lanes->bits >> i & 1);
        const uint64_t at = (low[i] | (wide ? (uint64_t)high[i] << 32 : 0)) + base;
        address[i] = at;
        bad |= ((at - start > limit ? ~0ULL : 0) | (at & low_bits)) & active;
    }
    return !bad;
}

const struct wmi_op *WMI_BUILD_NAME(wmi_vmem_watch_quick)(char *restrict frame, const struct wmi_op *op);
const struct wmi_op *WMI_BUILD_NAME(wmi_vmem_watch_quick)(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    const struct wmi_wave *wave = wmi_wave_of(frame);
    const struct wmi_lanes *lanes = (const struct wmi_lanes *)(frame + op->lanes);
    struct wmi_hit *hit = &wave->worker->hits[m->hit];
    const uint32_t bytes = (uint32_t)m->elements * m->bytes;
    const bool atomic = m->kind == WMI_ACCESS_ATOMIC;
    alignas(64) uint64_t address[64];
    struct wmi_access access; /* element[0] is all that there is of its elements */
    if (!lanes->bits || m->alignment != WMI_ALIGNMENT_UNALIGNED)
        return wmi_vmem_watch(frame, op);
    const unsigned first = (unsigned)__builtin_ctzll(lanes->bits);
    const uint32_t *low = (const uint32_t *)(frame + op->a);
    const uint64_t base = (uint64_t)m->offset + (op->x == WMI_VMEM_SADDR ? wmi_frame_64(frame, op->b) : 0);
    const uint64_t start =
        (low[first] | (op->x == WMI_VMEM_VADDR ? (uint64_t)low[first + WMI_LANES] << 32 : 0)) + base;
    if (!wmi_vmem_reach(wave->worker, hit, start, bytes) ||
        (m->kind != WMI_ACCESS_LOAD && hit->flags & WM_READ_ONLY) ||
        !make_addresses(frame, op, lanes, hit, base, bytes, atomic ? m->bytes - 1u : 0, address))
        return wmi_vmem_watch(frame, op);
    access.pc = m->pc;
    access.instruction = wmi_wave_clock(wave);
    for (unsigned i = 0; i < 3; i++)
        access.workgroup[i] = wave->group->id[i];
    access.wave = wave->index;
    access.path = (enum wmi_path)m->path;
    access.kind = (enum wmi_access_kind)m->kind;
    access.lanes = lanes->bits;
    access.policy = m->policy;
    access.elements = 1;
    access.bytes = (uint8_t)bytes;
    access.element[0] =
        (struct wmi_element){.space = WMI_SPACE_GLOBAL, .mask = lanes->bits, .address = address};
    m->observer->access(wave->worker->observer, &access, m->slot);
    return op + 1; /* and no further: who explains an address only wants this step */
}
