/* SPDX-License-Identifier: MIT */
/* Reports GLOBAL and FLAT accesses to the observer quickly: if all active lanes are in one allocation, there
 * are no violations, and only the addresses matter. As in vmem_lanes.c, no aperture test is needed. Other
 * accesses take wmi_step_vmem_watch(). */
#include "base/lanes.h"
#include "exec/careful.h"
#include "exec/dispatch.h"
#include "exec/steps.h"
#include "exec/vmem.h"
#include "memory/buffer.h"

/* Computes the addresses; whether `bytes` at each active lane's address are within the hit and aligned
 * (low_bits). high: the upper words; NULL: 0. */
static inline __attribute__((always_inline)) bool
make_addresses(const uint32_t *restrict low, const uint32_t *restrict high, const uint32_t *restrict active,
               const struct wmi_hit *hit, uint64_t base, uint64_t bytes, uint64_t low_bits,
               uint64_t *restrict address)
{
    const uint64_t start = hit->low, limit = hit->high - hit->low - bytes;
    uint64_t bad = 0;
    for (unsigned i = 0; i < WMI_LANES; i++) {
        const uint64_t at = (low[i] | (high ? (uint64_t)high[i] << 32 : 0)) + base;
        const uint64_t outside = at - start > limit ? ~UINT64_C(0) : 0;
        address[i] = at;
        bad |= (outside | (at & low_bits)) & (uint64_t)(int64_t)(int32_t)active[i];
    }
    return !bad;
}

/* Reports the complete access. */
static __attribute__((noinline)) const struct wmi_op *show(char *restrict frame, const struct wmi_op *op,
                                                           const struct wmi_outline *outline)
{
    const struct wmi_memory_op *m = op->data;
    const struct wmi_wave *wave = wmi_wave_of(frame);
    const struct wmi_lanes *lanes = (const struct wmi_lanes *)(frame + op->lanes);
    const struct wmi_hit *hit = &wave->worker->hits[m->hit];
    const uint32_t bytes = (uint32_t)m->elements * m->bytes;
    const uint64_t low_bits = m->kind == WMI_ACCESS_ATOMIC ? m->bytes - 1u : 0;
    uint64_t address[64];
    struct wmi_access access; /* only element[0] is initialised */
    const bool good = outline->high ? make_addresses(outline->low, outline->high, lanes->row, hit,
                                                     outline->base, bytes, low_bits, address)
                                    : make_addresses(outline->low, NULL, lanes->row, hit, outline->base,
                                                     bytes, low_bits, address);
    if (!good)
        return wmi_step_vmem_watch(frame, op);
    wmi_access_begin(&access, m, wave, lanes->bits);
    access.elements = 1;
    access.bytes = (uint8_t)bytes;
    access.element[0] =
        (struct wmi_element){.space = WMI_SPACE_GLOBAL, .mask = lanes->bits, .address = address};
    wmi_show_access(wave, m, &access);
    return op + 1; /* not wmi_next(): wm_address_explain() runs this step only */
}

const struct wmi_op *WMI_BUILD_NAME(wmi_step_vmem_watch_quick)(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    const struct wmi_wave *wave = wmi_wave_of(frame);
    const struct wmi_lanes *lanes = (const struct wmi_lanes *)(frame + op->lanes);
    struct wmi_hit *hit = &wave->worker->hits[m->hit];
    if (!lanes->bits)
        return wmi_step_vmem_watch(frame, op);
    const unsigned first = (unsigned)__builtin_ctzll(lanes->bits);
    const uint32_t *low = (const uint32_t *)(frame + op->a), *high = low + WMI_LANES;
    const bool wide = op->x == WMI_VMEM_VADDR;
    const uint64_t base = (uint64_t)m->offset + (op->x == WMI_VMEM_SADDR ? wmi_frame_64(frame, op->b) : 0);
    const uint64_t start = (low[first] | (wide ? (uint64_t)high[first] << 32 : 0)) + base;
    if (!wmi_vmem_reach(wave->worker, hit, start, (uint32_t)m->elements * m->bytes) ||
        (m->kind != WMI_ACCESS_LOAD && hit->flags & WM_READ_ONLY))
        return wmi_step_vmem_watch(frame, op);
    const struct wmi_outline outline = {.low = low,
                                        .high = wide ? high : NULL,
                                        .base = base,
                                        .lanes = lanes->bits,
                                        .from = hit->low,
                                        .to = hit->high,
                                        .shape = m->shape,
                                        .wave = wave->index,
                                        .depth = wmi_wave_depth(wave, m)};
    if (m->shape && m->observer->outline(wave->worker->observers[m->watcher], &outline, m->slot))
        return op + 1;
    return show(frame, op, &outline);
}
