/* SPDX-License-Identifier: MIT */
/* The careful path of vector memory: what each lane reaches, decided one lane at a time, and then done.
 *
 * It carries out everything; the fast steps are tested to be the same function. It knows the wave size at run
 * time, so it is compiled once. */
#include "exec/vmem.h"

/* ---- registers ---- */

static unsigned wave_size(const char *frame)
{
    return ((const struct wmi_frame *)frame)->wave_size;
}

static uint32_t *row_at(char *frame, uint32_t offset, unsigned row)
{
    return (uint32_t *)(frame + offset) + row * wave_size(frame);
}

static uint64_t slot_64(const char *frame, unsigned slot)
{
    return wmi_frame_64(frame, (uint32_t)offsetof(struct wmi_frame, s) + 4 * slot);
}

static uint64_t active_lanes(const char *frame, const struct wmi_op *op)
{
    return ((const struct wmi_lanes *)(frame + op->lanes))->bits;
}

/* The next lane of a set, which loses it. */
static unsigned take_lane(uint64_t *lanes)
{
    const unsigned lane = (unsigned)__builtin_ctzll(*lanes);
    *lanes &= *lanes - 1;
    return lane;
}

/* ---- where lanes go ---- */

bool wmi_vmem_touch(const struct wmi_worker *worker, struct wmi_hit *hit, uint64_t address)
{
    return wmi_space_reach(worker->space, address, hit);
}

/* Where byte `offset` of a lane's private memory lies: dwords of the lanes of a wave are interleaved.
 * Source: RDNA3 ISA and hardware.md 3.1, swz() with an element of 4 bytes and an index stride of the wave
 * size. */
static uint64_t interleaved(const char *frame, unsigned lane, uint64_t offset)
{
    return slot_64(frame, WMI_S_FLAT_SCRATCH) + offset / 4 * 4 * wave_size(frame) + 4 * lane + offset % 4;
}

/* What one lane addresses, and in which memory. FLAT decides by the register, before the offset is added, so
 * that an offset cannot lead from one aperture into another. Source: RDNA4 ISA, "Memory aperture"; the RDNA3
 * flat text in hardware.md 3.1. */
static void address_flat(const char *frame, struct wmi_vmem_plan *plan, unsigned lane, uint64_t base,
                         int64_t offset)
{
    const uint64_t shared = slot_64(frame, WMI_S_SHARED_BASE);
    const uint64_t private = slot_64(frame, WMI_S_PRIVATE_BASE);
    const uint64_t bit = 1ULL << lane;
    plan->address[lane] = base + (uint64_t)offset;
    if (base - shared <= slot_64(frame, WMI_S_SHARED_LIMIT) - shared && shared) {
        plan->lds |= bit;
        plan->address[lane] -= shared;
    } else if (base - private <= slot_64(frame, WMI_S_PRIVATE_LIMIT) - private && private) {
        plan->scratch |= bit;
        plan->private_offset[lane] = plan->address[lane] - private;
    } else {
        plan->global |= bit;
    }
}

static void make_addresses(char *frame, const struct wmi_op *op, struct wmi_vmem_plan *plan)
{
    const struct wmi_memory_op *m = op->data;
    const uint32_t *low = row_at(frame, op->a, 0), *high = row_at(frame, op->a, 1);
    for (uint64_t left = plan->lanes; left;) {
        const unsigned lane = take_lane(&left);
        const uint64_t bit = 1ULL << lane;
        switch (op->x) {
        case WMI_VMEM_VADDR:
            if (m->path == WMI_PATH_FLAT) {
                address_flat(frame, plan, lane, low[lane] | (uint64_t)high[lane] << 32, m->offset);
                break;
            }
            plan->global |= bit;
            plan->address[lane] = (low[lane] | (uint64_t)high[lane] << 32) + (uint64_t)m->offset;
            break;
        case WMI_VMEM_SADDR:
            plan->global |= bit;
            plan->address[lane] = wmi_frame_64(frame, op->b) + low[lane] + (uint64_t)m->offset;
            break;
        case WMI_VMEM_SCRATCH_VADDR:
            plan->scratch |= bit;
            plan->private_offset[lane] = (uint32_t)(low[lane] + m->offset);
            break;
        case WMI_VMEM_SCRATCH_SADDR:
            plan->scratch |= bit;
            plan->private_offset[lane] = (uint32_t)(*(const uint32_t *)(frame + op->b) + m->offset);
            break;
        }
    }
}

/* Bytes of an access of private memory from `offset` on that are neighbours in memory too. */
static unsigned piece_bytes(uint64_t offset, unsigned left)
{
    const unsigned in_dword = 4 - offset % 4;
    return left < in_dword ? left : in_dword;
}

static void check_scratch(const char *frame, struct wmi_vmem_plan *plan, const struct wmi_worker *worker,
                          struct wmi_hit *hit, unsigned lane, bool writes)
{
    const uint64_t offset = plan->private_offset[lane], bit = 1ULL << lane;
    plan->address[lane] = interleaved(frame, lane, offset);
    for (unsigned done = 0; done < plan->bytes;) {
        const unsigned piece = piece_bytes(offset + done, plan->bytes - done);
        if (!wmi_vmem_reach(worker, hit, interleaved(frame, lane, offset + done), piece))
            plan->outside |= bit;
        else if (writes && hit->flags & WM_READ_ONLY)
            plan->read_only |= bit;
        done += piece;
    }
}

static bool out_of_lds(const struct wmi_workgroup *group, uint64_t at, uint32_t bytes)
{
    return at > group->lds_size || bytes > group->lds_size - at;
}

void wmi_vmem_make_plan(char *frame, const struct wmi_op *op, struct wmi_vmem_plan *plan)
{
    const struct wmi_memory_op *m = op->data;
    const struct wmi_wave *wave = wmi_wave_of(frame);
    struct wmi_hit *hit = &wave->worker->hits[m->hit];
    const bool writes = m->kind != WMI_ACCESS_LOAD;
    plan->lanes = active_lanes(frame, op);
    plan->bytes = (uint32_t)m->elements * m->bytes;
    plan->global = plan->lds = plan->scratch = 0;
    plan->outside = plan->read_only = plan->misaligned = plan->dropped = 0;
    make_addresses(frame, op, plan);
    for (uint64_t left = plan->lanes; left;) {
        const unsigned lane = take_lane(&left);
        const uint64_t bit = 1ULL << lane;
        plan->host[lane] = NULL;
        if (plan->scratch & bit) {
            check_scratch(frame, plan, wave->worker, hit, lane, writes);
        } else if (plan->lds & bit) {
            if (out_of_lds(wave->group, plan->address[lane], plan->bytes))
                plan->dropped |= bit;
            else
                plan->host[lane] = wave->group->lds + plan->address[lane];
        } else {
            plan->host[lane] = wmi_vmem_reach(wave->worker, hit, plan->address[lane], plan->bytes);
            if (!plan->host[lane])
                plan->outside |= bit;
            else if (writes && hit->flags & WM_READ_ONLY)
                plan->read_only |= bit;
        }
        /* Source: hardware.md 3.1: 4-byte atomics on private memory are fine, 8-byte ones are MEMVIOL. */
        if (m->kind == WMI_ACCESS_ATOMIC &&
            (plan->address[lane] % plan->bytes || (plan->scratch & bit && plan->bytes > 4)))
            plan->misaligned |= bit;
    }
}

bool wmi_vmem_plan_faults(const struct wmi_memory_op *m, const struct wmi_vmem_plan *plan,
                          struct wmi_fault *fault)
{
    if (!(plan->outside | plan->read_only | plan->misaligned))
        return false;
    const uint64_t lanes = plan->outside      ? plan->outside
                           : plan->misaligned ? plan->misaligned
                                              : plan->read_only;
    *fault = (struct wmi_fault){
        .kind = plan->outside      ? WM_FAULT_MEMORY
                : plan->misaligned ? WM_FAULT_MISALIGNED
                                   : WM_FAULT_READ_ONLY,
        .pc = m->pc,
        .lanes = lanes,
        .low = UINT64_MAX,
        .bytes = plan->bytes,
        .store = m->kind != WMI_ACCESS_LOAD,
    };
    for (uint64_t left = lanes; left;) {
        const uint64_t address = plan->address[take_lane(&left)];
        /* An access that wraps around the end of the 64-bit space ends at its end. */
        const uint64_t end = address + plan->bytes - 1 < address ? UINT64_MAX : address + plan->bytes - 1;
        if (address < fault->low)
            fault->low = address;
        if (end > fault->high)
            fault->high = end;
    }
    return true;
}

/* ---- doing it ---- */

enum { LANE_BYTES = 16 }; /* most that a lane moves in one instruction */

/* Moves the bytes of a lane that the plan lets through; dropped lanes read zeros. */
static void move_lane(const char *frame, const struct wmi_vmem_plan *plan, const struct wmi_worker *worker,
                      struct wmi_hit *hit, unsigned lane, unsigned char *bytes, bool writes)
{
    if (plan->dropped >> lane & 1) {
        if (!writes)
            memset(bytes, 0, plan->bytes);
        return;
    }
    if (plan->host[lane]) {
        if (writes)
            memcpy(plan->host[lane], bytes, plan->bytes);
        else
            memcpy(bytes, plan->host[lane], plan->bytes);
        return;
    }
    const uint64_t offset = plan->private_offset[lane];
    for (unsigned done = 0; done < plan->bytes;) {
        const unsigned piece = piece_bytes(offset + done, plan->bytes - done);
        unsigned char *host = wmi_vmem_reach(worker, hit, interleaved(frame, lane, offset + done), piece);
        if (writes)
            memcpy(host, bytes + done, piece);
        else
            memcpy(bytes + done, host, piece);
        done += piece;
    }
}

const struct wmi_op *wmi_vmem_careful(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    struct wmi_wave *wave = wmi_wave_of(frame);
    struct wmi_hit *hit = &wave->worker->hits[m->hit];
    struct wmi_vmem_plan plan;
    struct wmi_fault fault;
    if ((m->path == WMI_PATH_FLAT || m->path == WMI_PATH_SCRATCH) && wmi_vmem_private(frame, op))
        return op + 1;
    wmi_vmem_make_plan(frame, op, &plan);
    if (wmi_vmem_plan_faults(m, &plan, &fault))
        return wmi_wave_fault(wave, &fault);
    for (uint64_t left = plan.lanes; left;) {
        const unsigned lane = take_lane(&left);
        unsigned char bytes[LANE_BYTES];
        if (m->kind == WMI_ACCESS_STORE) {
            for (unsigned e = 0; e < m->elements; e++) {
                const uint32_t value = row_at(frame, op->c, e)[lane] >> (m->d16_hi ? 16 : 0);
                memcpy(bytes + e * m->bytes, &value, m->bytes);
            }
            move_lane(frame, &plan, wave->worker, hit, lane, bytes, true);
            continue;
        }
        move_lane(frame, &plan, wave->worker, hit, lane, bytes, false);
        for (unsigned e = 0; e < m->elements; e++) {
            uint32_t *to = &row_at(frame, op->d, e)[lane];
            *to = wmi_vmem_loaded(m, bytes + e * m->bytes, *to);
        }
    }
    return op + 1;
}

static const struct wmi_op *atomic_32(char *frame, const struct wmi_op *op, const struct wmi_vmem_plan *plan)
{
    const struct wmi_memory_op *m = op->data;
    const uint32_t *data = row_at(frame, op->c, 0), *compare = row_at(frame, op->c, 1);
    uint32_t *to = row_at(frame, op->d, 0);
    for (uint64_t left = plan->lanes; left;) {
        const unsigned lane = take_lane(&left);
        uint32_t before = 0;
        if (plan->host[lane])
            before = wmi_atomic_32((enum wmi_atomic)m->parameter, plan->host[lane], data[lane],
                                   wmi_atomic_compares((enum wmi_atomic)m->parameter) ? compare[lane] : 0);
        if (m->returns)
            to[lane] = before;
    }
    return op + 1;
}

static uint64_t pair(const uint32_t *low, unsigned lane, unsigned size)
{
    return low[lane] | (uint64_t)low[lane + size] << 32;
}

static const struct wmi_op *atomic_64(char *frame, const struct wmi_op *op, const struct wmi_vmem_plan *plan)
{
    const struct wmi_memory_op *m = op->data;
    const unsigned size = wave_size(frame);
    const uint32_t *data = row_at(frame, op->c, 0), *compare = row_at(frame, op->c, 2);
    uint32_t *to = row_at(frame, op->d, 0);
    for (uint64_t left = plan->lanes; left;) {
        const unsigned lane = take_lane(&left);
        uint64_t before = 0;
        if (plan->host[lane])
            before = wmi_atomic_64(
                (enum wmi_atomic)m->parameter, plan->host[lane], pair(data, lane, size),
                wmi_atomic_compares((enum wmi_atomic)m->parameter) ? pair(compare, lane, size) : 0);
        if (m->returns) {
            to[lane] = (uint32_t)before;
            to[lane + size] = (uint32_t)(before >> 32);
        }
    }
    return op + 1;
}

const struct wmi_op *wmi_vmem_atomic(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    struct wmi_wave *wave = wmi_wave_of(frame);
    struct wmi_vmem_plan plan;
    struct wmi_fault fault;
    wmi_vmem_make_plan(frame, op, &plan);
    if (wmi_vmem_plan_faults(m, &plan, &fault))
        return wmi_wave_fault(wave, &fault);
    for (uint64_t left = plan.scratch; left;) { /* an aligned dword lies in one piece */
        const unsigned lane = take_lane(&left);
        plan.host[lane] =
            wmi_vmem_reach(wave->worker, &wave->worker->hits[m->hit], plan.address[lane], plan.bytes);
    }
    return m->bytes == 8 ? atomic_64(frame, op, &plan) : atomic_32(frame, op, &plan);
}

/* ---- showing it ---- */

static struct wmi_element element_of(const struct wmi_vmem_plan *plan, enum wmi_address_space space,
                                     uint64_t mask)
{
    return (struct wmi_element){
        .space = space,
        .mask = mask,
        .bad_range = mask & (plan->outside | plan->dropped),
        .bad_align = mask & plan->misaligned,
        .address = plan->address,
    };
}

const struct wmi_op *wmi_vmem_watch(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    const struct wmi_wave *wave = wmi_wave_of(frame);
    struct wmi_vmem_plan plan;
    uint64_t dword_address[LANE_BYTES / 4][64], dword_private[LANE_BYTES / 4][64];
    wmi_vmem_make_plan(frame, op, &plan);
    struct wmi_access access = {
        .pc = m->pc,
        .instruction = wmi_wave_clock(wave),
        .workgroup = {wave->group->id[0], wave->group->id[1], wave->group->id[2]},
        .wave = wave->index,
        .path = (enum wmi_path)m->path,
        .kind = (enum wmi_access_kind)m->kind,
        .lanes = plan.lanes,
        .policy = m->policy,
        .bytes = (uint8_t)plan.bytes,
    };
    if (!plan.scratch) {
        if (plan.global || !plan.lds)
            access.element[access.elements++] = element_of(&plan, WMI_SPACE_GLOBAL, plan.global);
        if (plan.lds)
            access.element[access.elements++] = element_of(&plan, WMI_SPACE_LDS, plan.lds);
    } else {
        /* Private memory is interleaved by dwords: each is a place of its own, and then of all lanes. */
        access.bytes = m->bytes < 4 ? m->bytes : 4;
        for (unsigned e = 0; e < plan.bytes / access.bytes; e++) {
            for (uint64_t left = plan.lanes; left;) {
                const unsigned lane = take_lane(&left);
                const bool scratch = plan.scratch >> lane & 1;
                dword_private[e][lane] = scratch ? plan.private_offset[lane] + 4 * e : 0;
                dword_address[e][lane] =
                    scratch ? interleaved(frame, lane, dword_private[e][lane]) : plan.address[lane] + 4 * e;
            }
            for (unsigned in_lds = 0; in_lds < 2; in_lds++) {
                const uint64_t mask = in_lds ? plan.lds : plan.global | plan.scratch;
                if (!mask)
                    continue;
                struct wmi_element *element = &access.element[access.elements++];
                *element = element_of(&plan, in_lds ? WMI_SPACE_LDS : WMI_SPACE_GLOBAL, mask);
                element->address = dword_address[e];
                element->private_offset = in_lds ? NULL : dword_private[e];
            }
        }
    }
    m->observer->access(wave->worker->observer, &access, m->slot);
    return op + 1;
}
