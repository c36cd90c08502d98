/* SPDX-License-Identifier: MIT */
/* Fast path that reports GLOBAL, FLAT and buffer accesses to the observer: if all active lanes lie in one
 * allocation, there are no violations, and only the addresses matter. As in vmem_lanes.c, no aperture test is
 * needed. Other accesses take wmi_step_vmem_watch() or wmi_step_buffer_watch(). */
#include "base/lanes.h"
#include "exec/control/steps.h"
#include "exec/memory/buffer_private.h"
#include "exec/memory/careful.h"
#include "exec/run/dispatch.h"

/* Computes the addresses. Returns whether the `bytes` at each active lane's address lie within the hit and
 * are aligned (low_bits). high: the upper words; NULL: 0. */
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

/* Reports the complete access. False: a lane may violate its allocation. */
static __attribute__((noinline)) bool show(char *restrict frame, const struct wmi_op *op,
                                           const struct wmi_address_summary *summary)
{
    const struct wmi_memory_op *m = op->data;
    const struct wmi_wave *wave = wmi_wave_of(frame);
    const struct wmi_lanes *lanes = (const struct wmi_lanes *)(frame + op->lanes);
    const struct wmi_hit *hit = &wave->worker->hits[m->hit];
    const uint32_t bytes = (uint32_t)m->elements * m->bytes;
    const uint64_t low_bits = m->kind == WMI_ACCESS_ATOMIC ? m->bytes - 1u : 0;
    uint64_t address[64];
    struct wmi_access access; /* only element[0] is initialised */
    const bool good = summary->high ? make_addresses(summary->low, summary->high, lanes->row, hit,
                                                     summary->base, bytes, low_bits, address)
                                    : make_addresses(summary->low, NULL, lanes->row, hit, summary->base,
                                                     bytes, low_bits, address);
    if (!good)
        return false;
    wmi_access_begin(&access, m, wave, lanes->bits);
    access.elements = 1;
    access.bytes = (uint8_t)bytes;
    if (m->buffer)
        access.base = wmi_buffer_of(frame, op).base;
    else if (op->x == WMI_VMEM_SADDR)
        access.base = wmi_frame_64(frame, op->b);
    access.element[0] =
        (struct wmi_element){.space = WMI_SPACE_GLOBAL, .mask = lanes->bits, .address = address};
    wmi_show_access(wave, m, &access);
    return true;
}

/* Reports the lanes' accesses at low + high + base. start: address of the first active lane. False: a lane
 * may violate its allocation. */
static inline __attribute__((always_inline)) bool show_lanes(char *restrict frame, const struct wmi_op *op,
                                                             const uint32_t *low, const uint32_t *high,
                                                             uint64_t base, uint64_t start)
{
    const struct wmi_memory_op *m = op->data;
    const struct wmi_wave *wave = wmi_wave_of(frame);
    struct wmi_hit *hit = &wave->worker->hits[m->hit];
    if (!wmi_vmem_reach(wave->worker, hit, start, (uint32_t)m->elements * m->bytes) ||
        (m->kind != WMI_ACCESS_LOAD && hit->flags & WM_READ_ONLY))
        return false;
    const struct wmi_address_summary summary = {.low = low,
                                                .high = high,
                                                .base = base,
                                                .lanes =
                                                    ((const struct wmi_lanes *)(frame + op->lanes))->bits,
                                                .from = hit->low,
                                                .to = hit->high,
                                                .shape = m->shape,
                                                .wave = wave->index,
                                                .depth = wmi_wave_depth(wave, m)};
    return (m->shape && m->observer->summary(wave->worker->observers[m->watcher], &summary, m->slot)) ||
           show(frame, op, &summary);
}

const struct wmi_op *WMI_BUILD_NAME(wmi_step_vmem_watch_quick)(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    const struct wmi_lanes *lanes = (const struct wmi_lanes *)(frame + op->lanes);
    if (!lanes->bits)
        return wmi_step_vmem_watch(frame, op);
    const unsigned first = (unsigned)__builtin_ctzll(lanes->bits);
    const uint32_t *low = (const uint32_t *)(frame + op->a), *high = low + WMI_LANES;
    const bool wide = op->x == WMI_VMEM_VADDR;
    const uint64_t base = (uint64_t)m->offset + (op->x == WMI_VMEM_SADDR ? wmi_frame_64(frame, op->b) : 0);
    const uint64_t start = (low[first] | (wide ? (uint64_t)high[first] << 32 : 0)) + base;
    return show_lanes(frame, op, low, wide ? high : NULL, base, start)
               ? op + 1 /* not wmi_next(), because wm_address_explain() runs only this step */
               : wmi_step_vmem_watch(frame, op);
}

/* ---- buffers ---- */

/* Reports accesses of linear buffers and buffers of records. */
static bool show_linear(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    const struct wmi_buffer buffer = wmi_buffer_of(frame, op);
    const unsigned first = (unsigned)__builtin_ctzll(((const struct wmi_lanes *)(frame + op->lanes))->bits);
    struct wmi_buffer_place most;
    alignas(64) uint32_t distance[WMI_LANES];
    if (!most_place(frame, op, &buffer, (m->elements - 1u) * m->bytes, m->bytes, &most))
        return false;
    fill_distances(frame, op, &buffer, distance, 0);
    const uint64_t base = buffer.base + most.soffset + (uint64_t)m->offset;
    return show_lanes(frame, op, distance, NULL, base, base + distance[first]);
}

/* Reports accesses of private memory. */
static bool show_private(char *restrict frame, const struct wmi_op *op)
{
    enum { ELEMENTS = 4 };
    const struct wmi_memory_op *m = op->data;
    const struct wmi_wave *wave = wmi_wave_of(frame);
    const struct shape shape = {.elements = m->elements, .bytes = m->bytes};
    const uint32_t *row = (const uint32_t *)(frame + op->a);
    uint64_t place[WMI_LANES], address[ELEMENTS][64], offset[ELEMENTS][64];
    struct request r;
    if (!begin_private(frame, op, &r, shape) ||
        (r.uniform ? !private_rows(frame, &r, shape) : !private_places(frame, op, &r, shape, place)) ||
        (m->kind != WMI_ACCESS_LOAD && r.hit->flags & WM_READ_ONLY))
        return false;
    struct wmi_access access;
    wmi_access_begin(&access, m, wave, r.lanes->bits);
    access.elements = m->elements;
    access.bytes = m->bytes;
    for (unsigned e = 0; e < m->elements; e++) {
        for (unsigned i = 0; i < WMI_LANES; i++) {
            const uint32_t own = r.uniform ? r.offset : row[i] + (uint32_t)m->offset;
            offset[e][i] = own + e * m->bytes;
            address[e][i] = r.base + (uint64_t)(own / 4 + e) * PRIVATE_ROW + 4 * i + own % 4;
        }
        access.element[e] = (struct wmi_element){.space = WMI_SPACE_GLOBAL,
                                                 .mask = r.lanes->bits,
                                                 .address = address[e],
                                                 .private_offset = offset[e],
                                                 .reg = (uint8_t)e};
    }
    wmi_show_access(wave, m, &access);
    return true;
}

const struct wmi_op *WMI_BUILD_NAME(wmi_step_buffer_watch_quick)(char *restrict frame,
                                                                 const struct wmi_op *op)
{
    const bool any = ((const struct wmi_lanes *)(frame + op->lanes))->bits;
    return any && (show_private(frame, op) || show_linear(frame, op)) ? op + 1
                                                                      : wmi_step_buffer_watch(frame, op);
}
