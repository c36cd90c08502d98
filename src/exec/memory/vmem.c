/* SPDX-License-Identifier: MIT */
/* Slow path of vector memory: plans each lane's access, then carries it out.
 *
 * It handles every access; the fast steps are tested to give the same results. The wave size is a run-time
 * value, so it is compiled once. */
#include "exec/memory/vmem.h"
#include "exec/control/steps.h"
#include "exec/memory/careful.h"
#include "exec/memory/lds.h"
#include "exec/run/dispatch.h"
#include "memory/buffer.h"

/* ---- registers ---- */

static unsigned wave_size(const char *frame)
{
    return ((const struct wmi_frame *)frame)->wave_size;
}

static uint64_t active_lanes(const char *frame, const struct wmi_op *op)
{
    return ((const struct wmi_lanes *)(frame + op->lanes))->bits;
}

/* ---- addresses ---- */

bool wmi_vmem_touch(const struct wmi_worker *worker, struct wmi_hit *hit, uint64_t address)
{
    if (!wmi_space_reach(worker->space, address, hit))
        return false;
    const struct wmi_observers *observers = &worker->dispatch->observers;
    for (unsigned i = 0; i < observers->count; i++)
        if (observers->one[i]->guards &&
            observers->one[i]->guards(observers->one[i]->self, hit->low, hit->high))
            hit->flags |= WMI_HIT_GUARDED;
    return true;
}

/* Guest address of byte `offset` of a lane's private memory: dwords of the wave's lanes are interleaved. The
 * memory of a wave in front of this one's is at offsets that wrap.
 * Source: RDNA3 ISA, swizzle with an element size of 4 bytes and an index stride of the wave size. */
static uint64_t interleaved(const char *frame, const struct wmi_memory_op *m, unsigned lane, uint64_t offset)
{
    return wmi_vmem_scratch_base(frame, m) + (offset & ~UINT64_C(3)) * wave_size(frame) + 4 * lane +
           offset % 4;
}

/* Addresses are sign-extended. Source: RDNA4 ISA, "Memory aperture"; CDNA 5 ISA, "Memory Aperture Query". */
static bool in_hole(const struct wmi_memory_op *m, uint64_t address)
{
    const int64_t top = (int64_t)address >> (m->address_bits - 1);
    return top != 0 && top != -1;
}

/* The place in private memory that a FLAT address has: {lane, dword of all waves' scratch, byte}. Source:
 * CDNA 5 ISA, "Flat Addressing" and "Global Shared Scratch Addressing"; unverified of waves whose scratch
 * base is no multiple of 128. */
static void place_shared(const char *frame, struct wmi_vmem_plan *plan, unsigned lane, uint64_t address)
{
    enum { LANE_SHIFT = 52, LANES = 32 };
    const uint64_t own = wmi_frame_slot_64(frame, WMI_S_FLAT_SCRATCH_BASE);
    const uint64_t mask = (UINT64_C(1) << LANE_SHIFT) - 1;
    plan->private_lane[lane] = address >> LANE_SHIFT & (LANES - 1);
    plan->private_offset[lane] = (address & mask) - (own & mask);
}

static bool within(uint64_t address, uint64_t base, uint64_t limit)
{
    return base && address - base <= limit - base;
}

/* Selects the memory that one lane addresses. FLAT tests the apertures before it adds the offset, so an
 * offset cannot lead from one aperture to another; GLOBAL must not address the apertures. Source: RDNA4 ISA,
 * "Memory aperture", which also gives the width of an LDS address; RDNA3 ISA, FLAT. */
static void route(const char *frame, const struct wmi_memory_op *m, struct wmi_vmem_plan *plan, unsigned lane,
                  uint64_t base)
{
    const uint64_t shared = wmi_frame_slot_64(frame, WMI_S_SHARED_BASE);
    const uint64_t private = wmi_frame_slot_64(frame, WMI_S_PRIVATE_BASE);
    const uint64_t bit = 1ULL << lane;
    const bool in_shared = within(base, shared, wmi_frame_slot_64(frame, WMI_S_SHARED_LIMIT));
    const bool in_private = within(base, private, wmi_frame_slot_64(frame, WMI_S_PRIVATE_LIMIT));
    plan->address[lane] = base + (uint64_t)m->offset;
    if (m->path == WMI_PATH_FLAT && in_shared) {
        plan->lds |= bit;
        plan->address[lane] = (plan->address[lane] - shared) & (UINT64_MAX >> (64 - m->flat_lds_bits));
    } else if (m->path == WMI_PATH_FLAT && in_private && m->scratch_shared) {
        plan->scratch |= bit;
        place_shared(frame, plan, lane, plan->address[lane]);
    } else if (m->path == WMI_PATH_FLAT && in_private) {
        plan->scratch |= bit;
        plan->private_lane[lane] = (uint8_t)lane;
        plan->private_offset[lane] =
            (plan->address[lane] - private) & (UINT64_MAX >> (64 - m->flat_private_bits));
    } else {
        plan->global |= bit;
        if (m->path <= WMI_PATH_GLOBAL && m->path >= WMI_PATH_FLAT &&
            (in_shared || in_private || in_hole(m, base)))
            plan->aperture |= bit;
    }
}

static void address_scratch(const char *frame, const struct wmi_op *op, struct wmi_vmem_plan *plan,
                            unsigned lane)
{
    const struct wmi_memory_op *m = op->data;
    uint32_t scalar, vector;
    memcpy(&scalar, frame + op->b, sizeof scalar);
    memcpy(&vector, frame + op->a + 4 * lane, sizeof vector);
    const uint32_t sum = scalar + vector + (uint32_t)m->offset;
    plan->scratch |= 1ULL << lane;
    plan->private_offset[lane] = sum;
    plan->private_lane[lane] = (uint8_t)lane;
    if (wmi_vmem_is_odd(frame, op))
        plan->odd |= 1ULL << lane;
}

static void make_addresses(char *frame, const struct wmi_op *op, struct wmi_vmem_plan *plan)
{
    const struct wmi_memory_op *m = op->data;
    const uint32_t *low = wmi_row_at(frame, op->a, 0), *high = wmi_row_at(frame, op->a, 1);
    for (uint64_t left = plan->lanes; left;) {
        const unsigned lane = wmi_take_lane(&left);
        switch (op->x) {
        case WMI_VMEM_VADDR:
            route(frame, m, plan, lane, low[lane] | (uint64_t)high[lane] << 32);
            break;
        case WMI_VMEM_SADDR:
            route(frame, m, plan, lane, wmi_frame_64(frame, op->b) + low[lane]);
            break;
        default:
            address_scratch(frame, op, plan, lane);
            break;
        }
    }
}

/* Number of contiguous bytes at `offset` of private memory, of the `left` bytes remaining. */
static unsigned piece_bytes(uint64_t offset, unsigned left)
{
    const unsigned in_dword = 4 - offset % 4;
    return left < in_dword ? left : in_dword;
}

/* If FLAT_SCRATCH holds a size, larger offsets are out of range. Source: LLVM review D60772: hardware before
 * gfx9 checked bounds. Unverified: such a load returns 0. */
static void check_scratch(const char *frame, const struct wmi_memory_op *m, struct wmi_vmem_plan *plan,
                          unsigned lane)
{
    const struct wmi_worker *worker = wmi_wave_of(frame)->worker;
    struct wmi_hit *hit = (struct wmi_hit *)&worker->hits[m->hit];
    const bool writes = m->kind != WMI_ACCESS_LOAD;
    const uint64_t base = wmi_vmem_scratch_base(frame, m);
    const uint64_t offset = plan->private_offset[lane], bit = 1ULL << lane;
    const unsigned owner = plan->private_lane[lane];
    plan->address[lane] = interleaved(frame, m, owner, offset);
    if (m->split_scratch && offset + plan->bytes > (uint32_t)wmi_frame_slot_64(frame, WMI_S_FLAT_SCRATCH)) {
        plan->dropped |= bit;
        return;
    }
    for (unsigned done = 0; done < plan->bytes;) {
        const unsigned piece = piece_bytes(offset + done, plan->bytes - done);
        if (!wmi_vmem_reach_private(frame, hit, base, interleaved(frame, m, owner, offset + done), piece,
                                    m->scratch_shared))
            plan->outside |= bit;
        else if (writes && hit->flags & WM_READ_ONLY)
            plan->read_only |= bit;
        done += piece;
    }
}

/* Applies the alignment mode to the lane's address. False: a violation. Private memory, whose dwords are
 * interleaved, is aligned by dwords in all modes (RDNA 3 ISA, "Memory Error Checking", only says that it "may
 * be misaligned"). */
static bool align_lane(const struct wmi_memory_op *m, struct wmi_vmem_plan *plan, unsigned lane)
{
    const bool scratch = plan->scratch >> lane & 1, lds = plan->lds >> lane & 1;
    uint64_t *const place = scratch ? &plan->private_offset[lane] : &plan->address[lane];
    const enum wmi_alignment mode = (enum wmi_alignment)m->alignment;
    if (m->kind == WMI_ACCESS_ATOMIC || m->must_align)
        return !(*place & ((m->must_align ? plan->bytes : m->bytes) - 1u));
    return mode == WMI_ALIGNMENT_UNALIGNED ||
           wmi_align(mode, false,
                     wmi_alignment_unit(mode, scratch ? m->bytes : plan->bytes, lds ? m->lds_alignment : 4),
                     place);
}

/* On targets whose DS instructions need M0, FLAT accesses to LDS are limited by M0 too. Source: LLVM
 * AMDGPUUsage, "M0"; see wmi_step_lds_limit_by_m0() for the meaning of M0. */
static bool out_of_lds(const char *frame, const struct wmi_memory_op *m, uint64_t at, uint32_t bytes)
{
    const uint32_t m0 = ((const struct wmi_frame *)frame)->s[WMI_S_M0];
    uint32_t size = wmi_wave_of(frame)->group->lds_size;
    if (m->lds_m0 && m0 < size)
        size = m0 + 3 < size ? (m0 + 3) & ~3u : size;
    return at > size || bytes > size - at;
}

/* Whether a part of a lane's access that is out of LDS range is carried out. */
static bool partly_in_lds(const char *frame, const struct wmi_memory_op *m, uint64_t at)
{
    return m->lds_partial && m->kind != WMI_ACCESS_ATOMIC && at < wmi_wave_of(frame)->group->lds_size;
}

/* The lane stores nothing and loads 0. */
static void drop(struct wmi_vmem_plan *plan, unsigned lane)
{
    plan->dropped |= 1ULL << lane;
    plan->host[lane] = NULL;
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
    plan->aperture = plan->wide = plan->odd = plan->guarded = plan->partial = 0;
    make_addresses(frame, op, plan);
    for (uint64_t left = plan->lanes; left;) {
        const unsigned lane = wmi_take_lane(&left);
        const uint64_t bit = 1ULL << lane;
        plan->host[lane] = NULL;
        if (!align_lane(m, plan, lane))
            plan->misaligned |= bit;
        if (plan->scratch & bit) {
            check_scratch(frame, m, plan, lane);
        } else if (plan->lds & bit) {
            if (!out_of_lds(frame, m, plan->address[lane], plan->bytes))
                plan->host[lane] = wave->group->lds + plan->address[lane];
            else if (partly_in_lds(frame, m, plan->address[lane]))
                plan->partial |= bit;
            else
                plan->dropped |= bit;
        } else if (!(plan->aperture & bit)) {
            plan->host[lane] = wmi_vmem_reach(wave->worker, hit, plan->address[lane], plan->bytes);
            if (!plan->host[lane])
                plan->outside |= bit;
            else if (writes && hit->flags & WM_UNBOUND)
                drop(plan, lane);
            else if (writes && hit->flags & WM_READ_ONLY)
                plan->read_only |= bit;
            if (plan->host[lane] && writes && hit->flags & WMI_HIT_GUARDED)
                plan->guarded |= bit;
        }
        /* Source: RDNA3 and RDNA4 ISA, FLAT: 4-byte atomics on private memory are allowed, 8-byte ones are
         * MEMVIOL. */
        if ((m->kind == WMI_ACCESS_ATOMIC || m->must_align) && plan->scratch & bit && plan->bytes > 4)
            plan->wide |= bit;
    }
}

/* Lanes with a violation. */
static uint64_t forbidden(const struct wmi_vmem_plan *plan)
{
    return plan->aperture | plan->outside | plan->wide | plan->misaligned | plan->read_only;
}

bool wmi_vmem_plan_faults(const char *frame, const struct wmi_memory_op *m, const struct wmi_vmem_plan *plan,
                          struct wmi_fault *fault)
{
    if (!forbidden(plan))
        return false;
    const struct wmi_refused_lanes causes[] = {
        {WM_FAULT_APERTURE, plan->aperture, false},
        {WM_FAULT_PRIVATE_ATOMIC, plan->wide, false},
        {WM_FAULT_MEMORY, plan->outside, false},
        {WM_FAULT_MISALIGNED, plan->misaligned, m->kind != WMI_ACCESS_ATOMIC && !m->must_align},
        {WM_FAULT_READ_ONLY, plan->read_only, false},
    };
    *fault = wmi_fault_of(m, causes, sizeof causes / sizeof *causes, plan->bytes);
    fault->private = !(fault->lanes & ~plan->scratch);
    if (fault->private && wmi_vmem_is_scratch(frame, wmi_vmem_scratch_base(frame, m)))
        fault->own = ((const struct wmi_frame *)frame)->private_low;
    for (uint64_t left = fault->lanes; left;)
        wmi_fault_reaches(fault, plan->address[wmi_take_lane(&left)], plan->bytes);
    return true;
}

/* ---- execution ---- */

/* Whether the instruction is carried out. On a violation the run may stop, or continue as hardware does: such
 * lanes load 0 and store nothing. Source: CDNA 3 ISA, "Memory Violations". */
static bool may_go_on(char *frame, const struct wmi_memory_op *m, struct wmi_vmem_plan *plan)
{
    struct wmi_fault fault;
    if (!wmi_vmem_plan_faults(frame, m, plan, &fault))
        return true;
    if (!wmi_wave_violates(wmi_wave_of(frame), &fault))
        return false;
    plan->dropped |= forbidden(plan);
    for (uint64_t left = plan->dropped; left;)
        plan->host[wmi_take_lane(&left)] = NULL;
    return true;
}

enum { LANE_BYTES = 16 }; /* maximum bytes per lane of one instruction */

/* Copies a lane's bytes from or to memory; dropped lanes read zeros. */
static void move_lane(const char *frame, const struct wmi_memory_op *m, const struct wmi_vmem_plan *plan,
                      unsigned lane, unsigned char *bytes, bool writes)
{
    const struct wmi_worker *worker = wmi_wave_of(frame)->worker;
    struct wmi_hit *hit = (struct wmi_hit *)&worker->hits[m->hit];
    if (plan->dropped >> lane & 1) {
        if (!writes)
            memset(bytes, 0, plan->bytes);
        return;
    }
    if (plan->partial >> lane & 1) {
        wmi_lds_move_partly(wmi_wave_of(frame)->group, m, plan->address[lane], plan->bytes, bytes, writes);
        return;
    }
    if (plan->host[lane]) {
        if (writes)
            wmi_write_guest(plan->host[lane], bytes, plan->bytes);
        else
            wmi_read_guest(bytes, plan->host[lane], plan->bytes);
        return;
    }
    const uint64_t base = wmi_vmem_scratch_base(frame, m), offset = plan->private_offset[lane];
    const unsigned owner = plan->private_lane[lane];
    for (unsigned done = 0; done < plan->bytes;) {
        const unsigned piece = piece_bytes(offset + done, plan->bytes - done);
        unsigned char *host = wmi_vmem_reach_private(
            frame, hit, base, interleaved(frame, m, owner, offset + done), piece, m->scratch_shared);
        if (writes)
            wmi_write_guest(host, bytes + done, piece);
        else
            wmi_read_guest(bytes + done, host, piece);
        done += piece;
    }
}

/* Shows the access to the observer that is late, if there is anything to see. */
static void show_late(char *frame, const struct wmi_op *op, const struct wmi_vmem_plan *plan)
{
    const struct wmi_memory_op *m = op->data;
    if (m->late && (forbidden(plan) | plan->dropped | plan->partial | plan->odd | plan->guarded))
        wmi_show_late(frame, op, wmi_step_vmem_watch);
}

const struct wmi_op *wmi_step_vmem_careful(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    struct wmi_vmem_plan plan;
    const bool any =
        m->alignment == WMI_ALIGNMENT_UNALIGNED && !m->must_align && !(m->late && wmi_vmem_is_odd(frame, op));
    if ((m->path == WMI_PATH_FLAT || m->path == WMI_PATH_SCRATCH) && any && wmi_vmem_private(frame, op))
        return op + 1;
    wmi_vmem_make_plan(frame, op, &plan);
    show_late(frame, op, &plan);
    if (!may_go_on(frame, m, &plan))
        return NULL;
    for (uint64_t left = plan.lanes; left;) {
        const unsigned lane = wmi_take_lane(&left);
        unsigned char bytes[LANE_BYTES];
        if (m->kind == WMI_ACCESS_STORE) {
            for (unsigned e = 0; e < m->elements; e++) {
                const uint32_t value = wmi_row_at(frame, op->c, e)[lane] >> (m->d16_hi ? 16 : 0);
                memcpy(bytes + e * m->bytes, &value, m->bytes);
            }
            move_lane(frame, m, &plan, lane, bytes, true);
            continue;
        }
        move_lane(frame, m, &plan, lane, bytes, false);
        for (unsigned e = 0; e < m->elements; e++) {
            uint32_t *to = &wmi_row_at(frame, op->d, e)[lane];
            *to = wmi_vmem_loaded(m, bytes + e * m->bytes, *to);
        }
    }
    return op + 1;
}

const struct wmi_op *wmi_step_vmem_atomic(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    struct wmi_wave *wave = wmi_wave_of(frame);
    struct wmi_vmem_plan plan;
    wmi_vmem_make_plan(frame, op, &plan);
    show_late(frame, op, &plan);
    if (!may_go_on(frame, m, &plan))
        return NULL;
    for (uint64_t left = plan.scratch & ~plan.dropped; left;) { /* an aligned dword is contiguous */
        const unsigned lane = wmi_take_lane(&left);
        plan.host[lane] =
            wmi_vmem_reach_private(frame, &wave->worker->hits[m->hit], wmi_vmem_scratch_base(frame, m),
                                   plan.address[lane], plan.bytes, m->scratch_shared);
    }
    for (uint64_t left = plan.lanes; left;) {
        const unsigned lane = wmi_take_lane(&left);
        wmi_atomic_lane(frame, op, (enum wmi_atomic)m->parameter, lane, plan.host[lane]);
    }
    return op + 1;
}

/* ---- reports to observers ---- */

static struct wmi_element element_of(const struct wmi_vmem_plan *plan, enum wmi_address_space space,
                                     uint64_t mask)
{
    return (struct wmi_element){
        .space = space,
        .mask = mask,
        .bad_range = mask & (plan->outside | plan->dropped | plan->partial),
        .dropped = mask & plan->dropped,
        .bad_align = mask & (plan->misaligned | plan->odd),
        .bad_aperture = mask & (plan->aperture | plan->wide),
        .address = plan->address,
    };
}

const struct wmi_op *wmi_step_vmem_watch(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    const struct wmi_wave *wave = wmi_wave_of(frame);
    struct wmi_vmem_plan plan;
    uint64_t dword_address[LANE_BYTES / 4][64], dword_private[LANE_BYTES / 4][64];
    if (wmi_vmem_show_private(frame, op))
        return op + 1;
    wmi_vmem_make_plan(frame, op, &plan);
    struct wmi_access access;
    wmi_access_begin(&access, m, wave, plan.lanes);
    access.bytes = (uint8_t)plan.bytes;
    if (op->x == WMI_VMEM_SADDR)
        access.base = wmi_frame_64(frame, op->b);
    if (!plan.scratch && !(plan.partial && m->observer->explains)) {
        if (plan.global || !plan.lds)
            access.element[access.elements++] = element_of(&plan, WMI_SPACE_GLOBAL, plan.global);
        if (plan.lds)
            access.element[access.elements++] = element_of(&plan, WMI_SPACE_LDS, plan.lds);
    } else {
        /* Private memory is interleaved by dwords, and LDS may be partly in range: each dword is a place,
         * also for the other lanes. */
        access.bytes = m->bytes < 4 ? m->bytes : 4;
        for (unsigned e = 0; e < plan.bytes / access.bytes; e++) {
            for (uint64_t left = plan.lanes; left;) {
                const unsigned lane = wmi_take_lane(&left);
                const bool scratch = plan.scratch >> lane & 1;
                dword_private[e][lane] = scratch ? plan.private_offset[lane] + 4 * e : 0;
                dword_address[e][lane] =
                    scratch ? interleaved(frame, m, plan.private_lane[lane], dword_private[e][lane])
                            : plan.address[lane] + 4 * e;
            }
            for (unsigned in_lds = 0; in_lds < 2; in_lds++) {
                const uint64_t mask = in_lds ? plan.lds : plan.global | plan.scratch;
                if (!mask)
                    continue;
                struct wmi_element *element = &access.element[access.elements++];
                *element = element_of(&plan, in_lds ? WMI_SPACE_LDS : WMI_SPACE_GLOBAL, mask);
                element->address = dword_address[e];
                element->private_offset = in_lds || !plan.scratch ? NULL : dword_private[e];
                for (uint64_t left = in_lds ? plan.partial : 0; left;) {
                    const unsigned lane = wmi_take_lane(&left);
                    if (!out_of_lds(frame, m, dword_address[e][lane], access.bytes))
                        element->bad_range &= ~(1ULL << lane);
                }
                element->reg = (uint8_t)(e * access.bytes / 4);
            }
        }
    }
    wmi_show_access(wave, m, &access);
    return op + 1;
}

const struct wmi_op *wmi_step_vmem_watch_base(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    const struct wmi_worker *worker = wmi_wave_of(frame)->worker;
    const struct wmi_hit *hit = &worker->hits[m->hit];
    const uint64_t lanes = active_lanes(frame, op), base = wmi_frame_64(frame, op->b);
    if (!lanes)
        return wmi_next(frame, op);
    const uint64_t start = base + (uint64_t)m->offset + wmi_row_at(frame, op->a, 0)[__builtin_ctzll(lanes)];
    const uint64_t size = hit->high - hit->low;
    if (base - hit->low <= size && start - hit->low < size)
        return wmi_next(frame, op);
    struct wmi_hit at_start, at_base;
    if (wmi_space_reach(worker->space, start, &at_start) && wmi_space_reach(worker->space, base, &at_base) &&
        at_start.low == at_base.low)
        return wmi_next(frame, op);
    return wmi_step_vmem_watch(frame, op);
}

#define DECLARE(name, level, lanes, suffix) extern const struct wmi_vmem_step name##suffix[];
#define ENTRY(name, level, lanes, suffix)   [level][lanes / 64] = name##suffix,
WMI_LANE_BUILDS(DECLARE, wmi_vmem_steps)

const struct wmi_vmem_step *wmi_vmem_steps(enum wmi_cpu_level level, unsigned lanes)
{
    static const struct wmi_vmem_step *const steps[WMI_CPU_LEVELS][2] = {
        WMI_LANE_BUILDS(ENTRY, wmi_vmem_steps)};
    return steps[level][lanes / 64];
}
