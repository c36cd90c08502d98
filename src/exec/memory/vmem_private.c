/* SPDX-License-Identifier: MIT */
/* Private memory accessed by FLAT and SCRATCH, all lanes in one allocation: the common case of the slow path
 * and of its report to observers, without its plan. */
#include "exec/memory/careful.h"
#include "exec/memory/vmem.h"
#include "memory/buffer.h"

enum { LANES = 64 };

struct request {
    const struct wmi_lanes *lanes;
    unsigned size;          /* of the wave in lanes */
    uint32_t offset[LANES]; /* offset in the lane's private memory, for active lanes */
    bool uniform;           /* the active lanes' offsets are equal */
    unsigned char *host;    /* host address of the allocation; place: distance of each lane's first element */
    uint64_t place[LANES];
};

/* Leaves the arrays alone, because clearing them takes long. */
static void begin(const char *frame, const struct wmi_op *op, struct request *r)
{
    r->lanes = (const struct wmi_lanes *)(frame + op->lanes);
    r->size = ((const struct wmi_frame *)frame)->wave_size;
    r->uniform = false;
    r->host = NULL;
}

/* The offsets of FLAT addresses that contain the lane; false unless each active lane addresses its own
 * memory. See place_shared() in vmem.c. */
static bool find_own(const char *frame, const struct wmi_op *op, struct request *r)
{
    enum { LANE_SHIFT = 52 };
    const struct wmi_memory_op *m = op->data;
    const uint32_t *low = (const uint32_t *)(frame + op->a), *high = low + r->size;
    const uint64_t own = wmi_frame_slot_64(frame, WMI_S_FLAT_SCRATCH_BASE);
    uint64_t differ = 0, beyond = 0;
    const unsigned first = (unsigned)__builtin_ctzll(r->lanes->bits);
    for (unsigned i = 0; i < r->size; i++) {
        const uint64_t address = low[i] | (uint64_t)high[i] << 32;
        const uint64_t base = address - own - ((uint64_t)i << LANE_SHIFT),
                       offset = base + (uint64_t)m->offset;
        r->offset[i] = (uint32_t)offset;
        beyond |= ((base | offset) >> 32) * r->lanes->row[i];
        differ |= (low[i] ^ low[first]) & r->lanes->row[i];
    }
    r->uniform = !differ;
    return !beyond;
}

/* Computes the offsets of the active lanes; false if one of them does not address private memory. */
static bool find_offsets(const char *frame, const struct wmi_op *op, struct request *r)
{
    const struct wmi_frame *f = (const struct wmi_frame *)frame;
    const struct wmi_memory_op *m = op->data;
    const uint32_t *low = (const uint32_t *)(frame + op->a), *high = low + r->size;
    const uint32_t *active = r->lanes->row, aperture = f->s[WMI_S_PRIVATE_BASE + 1];
    uint32_t differ = 0, base = 0;
    if (op->x == WMI_VMEM_SCRATCH)
        memcpy(&base, frame + op->b, sizeof base);
    base += (uint32_t)m->offset;
    const unsigned first = (unsigned)__builtin_ctzll(r->lanes->bits);
    for (unsigned i = 0; i < r->size; i++) {
        r->offset[i] = low[i] + base;
        differ |= (low[i] ^ low[first]) & active[i];
    }
    r->uniform = !differ;
    if (op->x == WMI_VMEM_SCRATCH)
        return true;
    if (m->scratch_shared)
        return find_own(frame, op, r);
    /* FLAT: the register must be in the private aperture, and the sum must not leave it. */
    if (f->s[WMI_S_PRIVATE_BASE] || !aperture || m->offset < 0)
        return false;
    const uint32_t bytes = (uint32_t)m->elements * m->bytes;
    const uint32_t size = m->split_scratch ? f->s[WMI_S_FLAT_SCRATCH] : UINT32_MAX;
    const uint32_t limit = size >= bytes ? size - bytes : 0;
    uint32_t other = 0;
    for (unsigned i = 0; i < r->size; i++)
        other |=
            ((high[i] ^ aperture) | (uint32_t)-(r->offset[i] < low[i] || r->offset[i] > limit)) & active[i];
    return !other && size >= bytes;
}

/* Computes the places of the active lanes; false unless each is within dwords of the first lane's
 * allocation. */
static bool find_places(const char *frame, const struct wmi_op *op, struct request *r)
{
    const struct wmi_memory_op *m = op->data;
    const struct wmi_worker *worker = wmi_wave_of(frame)->worker;
    struct wmi_hit *hit = (struct wmi_hit *)&worker->hits[m->hit];
    const uint64_t base = wmi_vmem_scratch_base(frame, m), row = 4 * r->size;
    const uint64_t span = (m->elements - 1u) * row + 4;
    const unsigned first = (unsigned)__builtin_ctzll(r->lanes->bits);
    if (!wmi_vmem_reach_private(frame, hit, base, base + r->offset[first] / 4 * row + 4 * first, span,
                                false) ||
        (m->kind == WMI_ACCESS_STORE && hit->flags & WM_READ_ONLY))
        return false;
    const uint64_t limit = hit->high - hit->low - span;
    uint32_t bad = 0;
    for (unsigned i = 0; i < r->size; i++) {
        const uint64_t at = base - hit->low + r->offset[i] / 4 * row + 4 * i;
        r->place[i] = at + r->offset[i] % 4;
        bad |= (uint32_t)-(at > limit || r->offset[i] % 4 + m->bytes > 4) & r->lanes->row[i];
    }
    r->host = hit->host;
    return !bad;
}

/* The same of all lanes, if they have one offset because only scalars make it: from place[0] on, a dword for
 * each lane. False: it is another form, or they are not known to be in the allocation. */
static bool find_row(const char *frame, const struct wmi_op *op, struct request *r)
{
    const struct wmi_memory_op *m = op->data;
    const struct wmi_worker *worker = wmi_wave_of(frame)->worker;
    struct wmi_hit *hit = (struct wmi_hit *)&worker->hits[m->hit];
    const uint64_t base = wmi_vmem_scratch_base(frame, m), row = 4 * r->size;
    uint32_t scalar;
    if (op->x != WMI_VMEM_SCRATCH || !(op->y & WMI_VMEM_SCALAR_ONLY) || m->bytes != 4)
        return false;
    memcpy(&scalar, frame + op->b, sizeof scalar);
    r->offset[0] = scalar + (uint32_t)m->offset;
    const uint64_t start = base + r->offset[0] / 4 * row;
    if (r->offset[0] % 4 || !wmi_vmem_reach_private(frame, hit, base, start, m->elements * row, false) ||
        (m->kind == WMI_ACCESS_STORE && hit->flags & WM_READ_ONLY))
        return false;
    r->place[0] = start - hit->low;
    r->host = hit->host;
    return true;
}

/* The dwords of all lanes at one offset are contiguous. */
static void load_rows(uint32_t *restrict to, const unsigned char *restrict from,
                      const uint32_t *restrict mask, unsigned size, unsigned rows)
{
    for (unsigned e = 0; e < rows; e++, to += size, from += 4 * size)
        for (unsigned i = 0; i < size; i++) {
            uint32_t value;
            memcpy(&value, from + 4 * i, sizeof value);
            to[i] = (value & mask[i]) | (to[i] & ~mask[i]);
        }
}

static void store_rows(unsigned char *restrict to, const uint32_t *restrict from, uint64_t lanes,
                       unsigned size, unsigned rows)
{
    for (unsigned e = 0; e < rows; e++, to += 4 * size, from += size)
        for (uint64_t left = lanes; left; left &= left - 1) {
            const unsigned i = (unsigned)__builtin_ctzll(left);
            memcpy(to + 4 * i, &from[i], sizeof *from);
        }
}

bool wmi_vmem_private(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    struct request r;
    begin(frame, op, &r);
    const size_t row = 4 * r.size;
    uint32_t *to = (uint32_t *)(frame + op->d);
    const uint32_t *from = (const uint32_t *)(frame + op->c);
    if (m->kind == WMI_ACCESS_ATOMIC || !r.lanes->bits)
        return false;
    if (find_row(frame, op, &r)) {
        if (m->kind == WMI_ACCESS_LOAD)
            load_rows(to, r.host + r.place[0], r.lanes->row, r.size, m->elements);
        else
            store_rows(r.host + r.place[0], from, r.lanes->bits, r.size, m->elements);
        return true;
    }
    if (!find_offsets(frame, op, &r) || !find_places(frame, op, &r))
        return false;
    if (r.uniform && r.lanes->full && m->bytes == 4 && m->kind == WMI_ACCESS_LOAD) {
        load_rows(to, r.host + r.place[0], r.lanes->row, r.size, m->elements);
        return true;
    }
    for (uint64_t left = r.lanes->bits; left; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(left);
        unsigned char *host = r.host + r.place[i];
        for (unsigned e = 0; e < m->elements; e++, host += row) {
            uint32_t *lane = &to[e * r.size + i];
            if (m->kind == WMI_ACCESS_LOAD && m->bytes == 4) {
                memcpy(lane, host, 4);
            } else if (m->kind == WMI_ACCESS_LOAD) {
                *lane = wmi_vmem_loaded(m, host, *lane);
            } else {
                const uint32_t value = from[e * r.size + i] >> (m->d16_hi ? 16 : 0);
                wmi_write_guest(host, &value, m->bytes);
            }
        }
    }
    return true;
}

bool wmi_vmem_show_private(const char *frame, const struct wmi_op *op)
{
    enum { DWORDS = 4 };
    const struct wmi_memory_op *m = op->data;
    const struct wmi_wave *wave = wmi_wave_of(frame);
    struct request r;
    uint64_t address[DWORDS][LANES], offset[DWORDS][LANES];
    begin(frame, op, &r);
    if (m->kind == WMI_ACCESS_ATOMIC || m->alignment != WMI_ALIGNMENT_UNALIGNED || m->observer->explains ||
        (op->x == WMI_VMEM_SCRATCH ? wmi_vmem_is_odd(frame, op)
                                   : m->path != WMI_PATH_FLAT || op->x != WMI_VMEM_VADDR) ||
        !r.lanes->bits)
        return false;
    const bool row = find_row(frame, op, &r);
    if (!row && (!find_offsets(frame, op, &r) || !find_places(frame, op, &r)))
        return false;
    const uint64_t low = wave->worker->hits[m->hit].low;
    struct wmi_access access;
    wmi_access_begin(&access, m, wave, r.lanes->bits);
    access.elements = m->elements;
    access.bytes = m->bytes;
    for (unsigned e = 0; e < m->elements; e++) {
        for (unsigned i = 0; i < r.size; i++) {
            address[e][i] = low + (row ? r.place[0] + 4 * i : r.place[i]) + e * 4 * r.size;
            offset[e][i] = (uint64_t)r.offset[row ? 0 : i] + 4 * e;
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

/* FLAT_SCRATCH is an address, of 57 bits on gfx12.5 and of 48 bits before (RADV sets bits 63:48 to ones
 * whatever bit 47 is: Mesa, aco, init_scratch) or, on GCN 1.1 and 1.2, the size per lane (LO) and the offset
 * in the scratch of all waves in units of 256 bytes (HI). Source: LLVM AMDGPUUsage, "Flat Scratch". */
uint64_t wmi_vmem_scratch_base(const char *frame, const struct wmi_memory_op *m)
{
    const uint64_t value = wmi_frame_slot_64(frame, WMI_S_FLAT_SCRATCH);
    return m->split_scratch
               ? wmi_wave_of(frame)->group->dispatch->scratch_base + (value >> 32) * 256
               : (uint64_t)((int64_t)(value << (64 - m->address_bits)) >> (64 - m->address_bits));
}

bool wmi_vmem_is_odd(const char *frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    const uint32_t bytes = (uint32_t)m->elements * m->bytes;
    const uint32_t whole = bytes == 16 ? 16 : bytes == 8 ? 8 : bytes >= 4 ? 4 : bytes;
    uint32_t scalar;
    if (op->x != WMI_VMEM_SCRATCH || !(op->y & WMI_VMEM_SCALAR_ONLY))
        return false;
    memcpy(&scalar, frame + op->b, sizeof scalar);
    return m->offset % whole || (scalar + (uint32_t)m->offset) % 4;
}
