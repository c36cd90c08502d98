/* SPDX-License-Identifier: MIT */
/* Scalar memory: loads, stores and atomics of SGPRs in coherent memory, and the clocks.
 *
 * Source: CDNA 3 ISA, "Scalar Memory Operations": the low two bits of every component of an address are
 * dropped; RDNA 4 ISA, the same section: for 16-bit loads only the lowest bit, for 8-bit loads none. */
#include "exec/memory/smem.h"

#include "exec/control/steps.h"
#include "exec/memory/careful.h"
#include "exec/run/clock.h"
#include "exec/run/dispatch.h"
#include "memory/buffer.h"

static uint32_t scalar_32(const char *frame, uint32_t offset)
{
    uint32_t value;
    memcpy(&value, frame + offset, sizeof value);
    return value;
}

/* ---- addresses ---- */

/* Out of line, so that the fast steps keep their values in registers. */
__attribute__((noinline, cold)) const struct wmi_op *
wmi_scalar_refuse(char *frame, const struct wmi_op *op, unsigned kind, const struct wmi_scalar_place *place)
{
    const struct wmi_memory_op *m = op->data;
    const uint64_t end = place->address + place->bytes - 1;
    const struct wmi_fault fault = {
        .kind = kind,
        .pc = m->pc,
        .lanes = 1,
        .low = place->address,
        .high = end < place->address ? UINT64_MAX : end,
        .bytes = place->bytes,
        .store = m->kind != WMI_ACCESS_LOAD,
        .scalar = kind != WM_FAULT_OFFSET,
    };
    if (!wmi_wave_violates(wmi_wave_of(frame), &fault))
        return NULL;
    if (m->kind == WMI_ACCESS_LOAD)
        memset(frame + op->d, 0, m->bytes < 4 ? 4 : place->wanted);
    else if (m->returns)
        memset(frame + op->c, 0, m->bytes);
    return op + 1;
}

/* Host address of the range, via the instruction's hit; NULL unless one allocation holds the whole range. */
static inline unsigned char *reach(char *frame, const struct wmi_op *op, uint64_t address, uint64_t bytes)
{
    const struct wmi_memory_op *m = op->data;
    struct wmi_worker *worker = wmi_wave_of(frame)->worker;
    return wmi_vmem_reach(worker, &worker->hits[m->hit], address, bytes);
}

/* Flags of what reach() found. */
static unsigned reached_flags(char *frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    return wmi_wave_of(frame)->worker->hits[m->hit].flags;
}

/* Address via a V#: dwords past its end read 0 and are not written; small elements and atomics are checked by
 * their first byte. Only base, stride and NUM_RECORDS matter; on gfx12.5 the latter counts bytes ("Scalar
 * Memory" of range checks; the formula of s_buffer_load multiplies it by the stride). Source: RDNA 3 and 4
 * ISA, "Scalar Memory"; Mesa, si_make_buffer_descriptor, on the units of NUM_RECORDS. */
static __attribute__((noinline)) struct wmi_scalar_place
buffer_place(const char *frame, const struct wmi_op *op, uint64_t offset)
{
    const struct wmi_memory_op *m = op->data;
    const uint32_t unit = m->kind == WMI_ACCESS_ATOMIC || m->bytes < 4 ? m->bytes : 4;
    struct wmi_scalar_place place = {.wanted = (uint32_t)m->elements * m->bytes};
    uint32_t v[4];
    memcpy(v, frame + op->a, sizeof v);
    const uint32_t stride = v[1] >> 16 & 0x3fff, low = m->bytes < 4 ? m->bytes - 1u : 3;
    const uint64_t records =
        m->buffer->wide ? wmi_buffer_wide_records(v) : (uint64_t)v[2] * (stride ? stride : 1);
    const uint64_t size = records & ~(uint64_t)(m->size_rounded ? low : 0);
    place.address =
        wmi_buffer_sign_extended(m->buffer, (wmi_buffer_base(m->buffer, v) & ~(uint64_t)low) + offset);
    if (offset < size) {
        const uint64_t inside = (size - offset + unit - 1) / unit * unit;
        place.bytes = inside < place.wanted ? (uint32_t)inside : place.wanted;
    }
    return place;
}

/* A negative immediate is a violation. Source: RDNA 3 and 4 ISA, "SMEM Encoding Field Descriptions". */
const struct wmi_op *wmi_step_scalar_negative(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    const uint32_t bytes = (uint32_t)m->elements * m->bytes;
    const uint64_t base = wmi_frame_64(frame, op->a) & 0xffffffffffff;
    const struct wmi_scalar_place place = {base + (uint64_t)m->offset, bytes, bytes};
    return wmi_scalar_refuse(frame, op, WM_FAULT_OFFSET, &place);
}

static inline __attribute__((always_inline)) struct wmi_scalar_place place_of(const char *frame,
                                                                              const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    const uint32_t low = m->bytes < 4 ? m->bytes - 1u : 3;
    const uint64_t offset = (uint64_t)m->offset + (scalar_32(frame, op->b) & ~low);
    if (op->x)
        return buffer_place(frame, op, offset);
    const uint32_t bytes = (uint32_t)m->elements * m->bytes;
    return (struct wmi_scalar_place){(wmi_frame_64(frame, op->a) & ~(uint64_t)low) + offset, bytes, bytes};
}

struct wmi_scalar_place wmi_scalar_place_of(const char *frame, const struct wmi_op *op)
{
    return place_of(frame, op);
}

/* ---- loads and stores ---- */

static __attribute__((noinline)) const struct wmi_op *show(char *restrict frame, const struct wmi_op *op);

/* Shows a load to the observer that is late. */
static void show_late(char *frame, const struct wmi_op *op)
{
    if (((const struct wmi_memory_op *)op->data)->late)
        wmi_show_late(frame, op, show);
}

/* A load outside the allocation that the hit caches. */
static __attribute__((noinline)) const struct wmi_op *load_elsewhere(char *restrict frame,
                                                                     const struct wmi_op *op)
{
    const struct wmi_scalar_place place = wmi_scalar_place_of(frame, op);
    const unsigned char *host = reach(frame, op, place.address, place.bytes);
    if (!host) {
        show_late(frame, op);
        return wmi_scalar_refuse(frame, op, WM_FAULT_MEMORY, &place);
    }
    wmi_read_guest(frame + op->d, host, place.bytes);
    return wmi_next(frame, op);
}

/* Dwords at an address. */
static inline __attribute__((always_inline)) const struct wmi_op *
load(char *restrict frame, const struct wmi_op *op, unsigned dwords)
{
    const struct wmi_memory_op *m = op->data;
    const struct wmi_hit *hit = &wmi_wave_of(frame)->worker->hits[m->hit];
    const uint64_t address =
        (wmi_frame_64(frame, op->a) & ~UINT64_C(3)) + (uint64_t)m->offset + (scalar_32(frame, op->b) & ~3u);
    const uint64_t at = address - hit->low, size = hit->high - hit->low;
    if (__builtin_expect(at >= size || 4 * dwords > size - at, 0))
        return load_elsewhere(frame, op);
    wmi_read_guest(frame + op->d, hit->host + at, 4 * dwords);
    return wmi_next(frame, op);
}

/* Other loads: dwords via a V#, and elements of 1 or 2 bytes, which are extended to an SGPR. */
const struct wmi_op *wmi_step_scalar_load_any(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    const struct wmi_scalar_place place = wmi_scalar_place_of(frame, op);
    const unsigned char *host = place.bytes ? reach(frame, op, place.address, place.bytes) : NULL;
    if (!host || place.bytes < place.wanted)
        show_late(frame, op);
    if (place.bytes && !host)
        return wmi_scalar_refuse(frame, op, WM_FAULT_MEMORY, &place);
    if (m->bytes < 4) {
        const uint32_t value = host ? wmi_vmem_loaded(m, host, 0) : 0;
        memcpy(frame + op->d, &value, sizeof value);
        return op + 1;
    }
    if (host)
        wmi_read_guest(frame + op->d, host, place.bytes);
    memset(frame + op->d + place.bytes, 0, place.wanted - place.bytes);
    return op + 1;
}

const struct wmi_op *wmi_step_scalar_store(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_scalar_place place = wmi_scalar_place_of(frame, op);
    if (!place.bytes)
        return op + 1;
    unsigned char *host = reach(frame, op, place.address, place.bytes);
    if (!host)
        return wmi_scalar_refuse(frame, op, WM_FAULT_MEMORY, &place);
    if (reached_flags(frame, op) & WM_UNBOUND)
        return op + 1;
    if (reached_flags(frame, op) & WM_READ_ONLY)
        return wmi_scalar_refuse(frame, op, WM_FAULT_READ_ONLY, &place);
    wmi_write_guest(host, frame + op->c, place.bytes);
    return op + 1;
}

/* Out of the buffer's range, an atomic does nothing and returns 0. */
const struct wmi_op *wmi_step_scalar_atomic(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    const struct wmi_scalar_place place = wmi_scalar_place_of(frame, op);
    uint64_t before = 0;
    unsigned char *host = place.bytes ? reach(frame, op, place.address, m->bytes) : NULL;
    if (place.bytes && !(host && reached_flags(frame, op) & WM_UNBOUND)) {
        if (!host)
            return wmi_scalar_refuse(frame, op, WM_FAULT_MEMORY, &place);
        if (place.address % m->bytes)
            return wmi_scalar_refuse(frame, op, WM_FAULT_MISALIGNED, &place);
        if (reached_flags(frame, op) & WM_READ_ONLY)
            return wmi_scalar_refuse(frame, op, WM_FAULT_READ_ONLY, &place);
        const enum wmi_atomic operation = (enum wmi_atomic)m->parameter;
        before =
            m->bytes == 8
                ? wmi_atomic_64(operation, host, wmi_frame_64(frame, op->c), wmi_frame_64(frame, op->c + 8))
                : wmi_atomic_32(operation, host, scalar_32(frame, op->c), scalar_32(frame, op->c + 4));
    }
    if (m->returns)
        memcpy(frame + op->c, &before, m->bytes);
    return op + 1;
}

#define LOAD(dwords)                                                                                         \
    const struct wmi_op *wmi_step_scalar_load_##dwords(char *restrict frame, const struct wmi_op *op)        \
    {                                                                                                        \
        return load(frame, op, dwords);                                                                      \
    }
LOAD(1)
LOAD(2)
LOAD(3)
LOAD(4)
LOAD(8)
LOAD(16)

/* The SGPR is in units of 64 bytes, a dword for each of 16 lanes. Source: CDNA 4 ISA, "Scalar Memory
 * Addressing". */
const struct wmi_op *wmi_step_scalar_scratch_base(char *restrict frame, const struct wmi_op *op)
{
    const uint64_t base =
        (wmi_frame_64(frame, op->a) & ~UINT64_C(3)) + (uint64_t)scalar_32(frame, op->b) * 64;
    memcpy(frame + op->d, &base, sizeof base);
    return op + 1;
}

/* ---- clocks and wave number ---- */

const struct wmi_op *wmi_step_scalar_clock(char *restrict frame, const struct wmi_op *op)
{
    const uint64_t clock = wmi_wave_cycles(wmi_wave_of(frame)) / op->x;
    memcpy(frame + op->d, &clock, sizeof clock);
    return op + 1;
}

const struct wmi_op *wmi_step_scalar_wave_number(char *restrict frame, const struct wmi_op *op)
{
    memcpy(frame + op->d, &wmi_wave_of(frame)->index, sizeof(uint32_t));
    return op + 1;
}

/* ---- reports to observers ---- */

static const struct wmi_op *show(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    const struct wmi_wave *wave = wmi_wave_of(frame);
    const struct wmi_scalar_place place = wmi_scalar_place_of(frame, op);
    const uint64_t address[64] = {place.address}; /* of lane 0; observers may copy all */
    struct wmi_access access;
    wmi_access_begin(&access, m, wave, 1);
    struct wmi_access_buffer dropped;
    access.elements = 1;
    access.bytes = (uint8_t)place.wanted;
    access.element[0] =
        (struct wmi_element){.space = WMI_SPACE_GLOBAL,
                             .mask = 1,
                             .bad_range = place.bytes < place.wanted ||
                                          !wmi_space_host(wave->worker->space, place.address, place.bytes),
                             .dropped = place.bytes < place.wanted,
                             .address = address};
    access.base = wmi_frame_64(frame, op->a) & (op->x ? 0xffffffffffff : UINT64_MAX);
    if (op->x && place.bytes < place.wanted) {
        dropped = (struct wmi_access_buffer){.offset = (uint32_t)m->offset + scalar_32(frame, op->b),
                                             .bytes = place.wanted};
        memcpy(dropped.words, frame + op->a, sizeof dropped.words);
        access.buffer = &dropped;
    }
    wmi_show_access(wave, m, &access);
    return op + 1;
}

const struct wmi_op *wmi_step_scalar_watch(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    const struct wmi_wave *wave = wmi_wave_of(frame);
    const struct wmi_scalar_place place = place_of(frame, op);
    /* The hit describes the previous access: often the same allocation. */
    if (m->shape && place.bytes == place.wanted &&
        m->observer->summary_lane(wave->worker->observers[m->watcher], m->slot, wave->index,
                                  wmi_wave_depth(wave, m), place.address, &wave->worker->hits[m->hit]))
        return wmi_next(frame, op);
    return show(frame, op); /* not wmi_next(): wm_address_explain() runs this step only */
}
