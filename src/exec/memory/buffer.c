/* SPDX-License-Identifier: MIT */
/* Slow path of buffer instructions: plans each element of each lane, then carries out the access. */
#include "exec/memory/buffer.h"
#include "exec/control/steps.h"
#include "exec/memory/careful.h"

enum {
    ELEMENTS = 4,      /* maximum per load or store */
    ELEMENT_BYTES = 8, /* maximum per atomic */
};

/* What the lanes of an instruction access. */
struct plan {
    struct wmi_buffer buffer;
    struct wmi_format format;                /* for instructions that convert */
    unsigned select;                         /* DST_SEL, for instructions that convert */
    unsigned elements, bytes;                /* places per lane, bytes per place */
    unsigned data;                           /* bytes per lane that the alignment mode takes as one access */
    bool aligned;                            /* the alignment mode is not UNALIGNED */
    uint64_t lanes;                          /* EXEC */
    uint64_t in_range[ELEMENTS];             /* subset of `lanes` */
    uint64_t outside, read_only, misaligned; /* subsets of `lanes` with violations */
    uint64_t guarded;                        /* subset of `lanes`: an observer must be shown the store */
    uint64_t address[ELEMENTS][64];          /* of the element's first byte */
    unsigned char *host[ELEMENTS][64];       /* NULL: out of range, or not contiguous */
};

static uint32_t word_at(const char *frame, uint32_t offset)
{
    uint32_t value;
    memcpy(&value, frame + offset, sizeof value);
    return value;
}

/* Whether the V# describes the wave's scratch: interleaved, with the lane as index. */
static bool is_private(const struct wmi_buffer *buffer)
{
    return buffer->swizzle && buffer->lane;
}

/* The sum of the instruction's offset and the VGPR wraps at 32 bits, nothing else; LLVM relies on this, see
 * isLegalMUBUFAddr and privateMemoryResourceIsRangeChecked. */
struct wmi_buffer_place wmi_buffer_place_of(const char *frame, const struct wmi_op *op,
                                            const struct wmi_buffer *buffer, unsigned lane)
{
    const struct wmi_memory_op *m = op->data;
    const uint32_t *row = (const uint32_t *)(frame + op->a) + lane;
    uint32_t offset = (uint32_t)m->offset;
    struct wmi_buffer_place place = {
        .lane = buffer->lane ? lane : 0, .soffset = word_at(frame, op->e), .bytes = m->bytes};
    if (op->y & WMI_BUFFER_ADDR64) {
        place.addr64 = true;
        place.address = *row | (uint64_t)row[((const struct wmi_frame *)frame)->wave_size] << 32;
    }
    if (op->y & WMI_BUFFER_IDXEN) {
        place.index = *row;
        row += ((const struct wmi_frame *)frame)->wave_size;
    }
    if (op->y & WMI_BUFFER_OFFEN)
        offset += *row;
    place.offset = offset;
    return place;
}

/* Number of contiguous bytes at the place, of the `left` bytes remaining in the element. */
static unsigned piece_bytes(const struct plan *plan, const struct wmi_buffer_place *place, unsigned left)
{
    const struct wmi_buffer *buffer = &plan->buffer;
    if (!buffer->swizzle || buffer->contiguous || plan->aligned)
        return left;
    const unsigned in_element = buffer->element_size - (unsigned)(place->offset % buffer->element_size);
    return left < in_element ? left : in_element;
}

/* The place of a lane's element `e`. */
static struct wmi_buffer_place element_place(const char *frame, const struct wmi_op *op,
                                             const struct plan *plan, unsigned lane, unsigned e)
{
    struct wmi_buffer_place place = wmi_buffer_place_of(frame, op, &plan->buffer, lane);
    place.bytes = plan->bytes;
    place.part = e * plan->bytes;
    place.offset += place.part;
    return place;
}

/* The place `by` bytes further on. */
static struct wmi_buffer_place moved(struct wmi_buffer_place place, int64_t by)
{
    place.part += (uint32_t)by;
    place.offset += (uint64_t)by;
    return place;
}

/* The address of a place. The mode DWORD drops low bits of the address of each dword, or of smaller data. */
static uint64_t address_of(const struct wmi_memory_op *m, const struct plan *plan,
                           const struct wmi_buffer_place *place)
{
    if (!plan->aligned)
        return wmi_buffer_address(&plan->buffer, place);
    const unsigned unit = plan->data < 4 ? plan->data : 4, within = place->part % unit;
    const struct wmi_buffer_place start = moved(*place, -(int64_t)within);
    uint64_t address = wmi_buffer_address(&plan->buffer, &start);
    wmi_align((enum wmi_alignment)m->alignment, false, unit, &address);
    return address + within;
}

/* Whether the alignment mode allows the access that `place` is a part of. */
static bool is_aligned(const struct wmi_memory_op *m, const struct plan *plan,
                       const struct wmi_buffer_place *place)
{
    const struct wmi_buffer_place first = moved(*place, -(int64_t)place->part);
    uint64_t address = wmi_buffer_address(&plan->buffer, &first);
    return !plan->aligned ||
           wmi_align((enum wmi_alignment)m->alignment, false,
                     wmi_alignment_unit((enum wmi_alignment)m->alignment, plan->data, 4), &address);
}

/* Host address of `bytes` at the place; NULL: outside. */
static unsigned char *reach(const char *frame, const struct wmi_memory_op *m, const struct plan *plan,
                            const struct wmi_buffer_place *place, unsigned bytes)
{
    const struct wmi_worker *worker = wmi_wave_of(frame)->worker;
    struct wmi_hit *hit = (struct wmi_hit *)&worker->hits[m->hit];
    const uint64_t address = address_of(m, plan, place);
    return is_private(&plan->buffer)
               ? wmi_vmem_reach_private(frame, hit, plan->buffer.base, address, bytes, false)
               : wmi_vmem_reach(worker, hit, address, bytes);
}

static void check_element(const char *frame, const struct wmi_memory_op *m, struct plan *plan,
                          struct wmi_buffer_place place, unsigned e, unsigned lane)
{
    const uint64_t bit = 1ULL << lane;
    const struct wmi_hit *hit = &wmi_wave_of(frame)->worker->hits[m->hit];
    const bool writes = m->kind != WMI_ACCESS_LOAD;
    plan->in_range[e] |= bit;
    plan->address[e][lane] = address_of(m, plan, &place);
    for (unsigned done = 0; done < plan->bytes;) {
        const unsigned piece = piece_bytes(plan, &place, plan->bytes - done);
        unsigned char *host = reach(frame, m, plan, &place, piece);
        if (host && writes && hit->flags & WM_UNBOUND) {
            plan->in_range[e] &= ~bit;
            return;
        }
        if (!host)
            plan->outside |= bit;
        else if (writes && hit->flags & WM_READ_ONLY)
            plan->read_only |= bit;
        if (host && writes && hit->flags & WMI_HIT_GUARDED)
            plan->guarded |= bit;
        if (piece == plan->bytes)
            plan->host[e][lane] = host;
        done += piece;
        place = moved(place, piece);
    }
}

static void plan_format(const char *frame, const struct wmi_op *op, struct plan *plan)
{
    struct wmi_buffer_conversion c;
    wmi_buffer_get_conversion(frame, op, &c);
    plan->buffer = c.buffer;
    plan->format = c.format;
    plan->select = c.select;
    plan->elements = c.elements;
    plan->bytes = c.bytes;
    plan->data = c.format.layout->bytes < 4 ? c.format.layout->bytes : 4; /* RDNA 3 ISA, "Alignment" */
}

/* Lanes whose elements are all in range. In instructions that convert, the other lanes do nothing. Source:
 * CDNA 4 ISA, RDNA 3 ISA, "Range Checking". */
static uint64_t wholly_in_range(const char *frame, const struct wmi_op *op, const struct plan *plan)
{
    uint64_t in_range = 0;
    for (uint64_t left = plan->lanes; left;) {
        const unsigned lane = wmi_take_lane(&left);
        struct wmi_buffer_place place = element_place(frame, op, plan, lane, 0);
        bool all = true;
        for (unsigned e = 0; e < plan->elements; e++, place = moved(place, plan->bytes))
            all &= wmi_buffer_in_range(&plan->buffer, &place);
        in_range |= (uint64_t)all << lane;
    }
    return in_range;
}

static void make_plan(char *frame, const struct wmi_op *op, struct plan *plan)
{
    const struct wmi_memory_op *m = op->data;
    const bool atomic = m->kind == WMI_ACCESS_ATOMIC;
    plan->aligned = m->alignment != WMI_ALIGNMENT_UNALIGNED && !atomic;
    if (m->format) {
        plan_format(frame, op, plan);
    } else {
        plan->buffer = wmi_buffer_of(frame, op);
        plan->elements = m->elements;
        plan->bytes = m->bytes;
        plan->data = plan->elements * plan->bytes;
    }
    if (op->y & WMI_BUFFER_ADDR64)
        plan->buffer.swizzle = false;
    plan->lanes = ((const struct wmi_lanes *)(frame + op->lanes))->bits;
    plan->outside = plan->read_only = plan->misaligned = plan->guarded = 0;
    const uint64_t may = m->format ? wholly_in_range(frame, op, plan) : plan->lanes;
    plan->in_range[0] = 0; /* for formats without elements */
    for (unsigned e = 0; e < plan->elements; e++) {
        plan->in_range[e] = 0;
        for (uint64_t left = plan->lanes; left;) {
            const unsigned lane = wmi_take_lane(&left);
            const struct wmi_buffer_place place = element_place(frame, op, plan, lane, e);
            plan->host[e][lane] = NULL;
            plan->address[e][lane] = wmi_buffer_address(&plan->buffer, &place);
            if (!(may >> lane & 1) || !wmi_buffer_in_range(&plan->buffer, &place))
                continue;
            if (!is_aligned(m, plan, &place))
                plan->misaligned |= 1ULL << lane;
            check_element(frame, m, plan, place, e, lane);
            if (atomic && (plan->address[e][lane] % plan->bytes ||
                           piece_bytes(plan, &place, plan->bytes) < plan->bytes))
                plan->misaligned |= 1ULL << lane;
        }
    }
}

/* Whether the instruction is carried out. A violation either ends the run, or the lanes are treated as out of
 * range. Source: CDNA 3 ISA, "Memory Violations". */
static bool may_go_on(char *frame, const struct wmi_memory_op *m, struct plan *plan)
{
    const struct wmi_refused_lanes causes[] = {
        {WM_FAULT_MEMORY, plan->outside, false},
        {WM_FAULT_MISALIGNED, plan->misaligned, m->kind != WMI_ACCESS_ATOMIC},
        {WM_FAULT_READ_ONLY, plan->read_only, false},
    };
    const uint64_t forbidden = plan->outside | plan->misaligned | plan->read_only;
    if (!forbidden)
        return true;
    struct wmi_fault fault =
        wmi_fault_of(m, causes, sizeof causes / sizeof *causes, plan->elements * plan->bytes);
    fault.private = is_private(&plan->buffer);
    if (fault.private && wmi_vmem_is_scratch(frame, plan->buffer.base))
        fault.own = ((const struct wmi_frame *)frame)->private_low;
    for (unsigned e = 0; e < plan->elements; e++)
        for (uint64_t left = fault.lanes & plan->in_range[e]; left;)
            wmi_fault_reaches(&fault, plan->address[e][wmi_take_lane(&left)], plan->bytes);
    if (!wmi_wave_violates(wmi_wave_of(frame), &fault))
        return false;
    for (unsigned e = 0; e < plan->elements; e++) {
        plan->in_range[e] &= ~forbidden;
        for (uint64_t left = forbidden; left;)
            plan->host[e][wmi_take_lane(&left)] = NULL;
    }
    return true;
}

/* Shows the access to the observer that is late, if there is anything to see. */
static void show_late(char *frame, const struct wmi_op *op, const struct plan *plan)
{
    const struct wmi_memory_op *m = op->data;
    uint64_t lanes = plan->outside | plan->read_only | plan->misaligned | plan->guarded;
    for (unsigned e = 0; e < plan->elements; e++)
        lanes |= plan->lanes & ~plan->in_range[e];
    if (m->late && lanes)
        wmi_show_late(frame, op, wmi_step_buffer_watch);
}

/* Copies bytes that are contiguous in memory. */
static void move_bytes(unsigned char *host, unsigned char *bytes, unsigned count, bool writes)
{
    if (writes)
        wmi_write_guest(host, bytes, count);
    else
        wmi_read_guest(bytes, host, count);
}

/* Copies an in-range element between `bytes` and memory. */
static void move_element(char *frame, const struct wmi_op *op, const struct plan *plan, unsigned e,
                         unsigned lane, unsigned char *bytes, bool writes)
{
    const struct wmi_memory_op *m = op->data;
    struct wmi_buffer_place place = element_place(frame, op, plan, lane, e);
    for (unsigned done = 0; done < plan->bytes;) {
        const unsigned piece = piece_bytes(plan, &place, plan->bytes - done);
        unsigned char *host = plan->host[e][lane];
        if (!host)
            host = reach(frame, m, plan, &place, piece);
        move_bytes(host, bytes + done, piece, writes);
        done += piece;
        place = moved(place, piece);
    }
}

/* Copies a lane's in-range elements. Those that are contiguous are one access, see base/single_copy.h. */
static void move_elements(char *frame, const struct wmi_op *op, const struct plan *plan, unsigned lane,
                          unsigned char *bytes, bool writes)
{
    for (unsigned e = 0, count; e < plan->elements; e += count) {
        unsigned char *host = plan->host[e][lane];
        count = 1;
        while (host && e + count < plan->elements &&
               plan->host[e + count][lane] == host + count * plan->bytes)
            count++;
        if (host)
            move_bytes(host, bytes + e * plan->bytes, count * plan->bytes, writes);
        else if (plan->in_range[e] >> lane & 1)
            move_element(frame, op, plan, e, lane, bytes + e * plan->bytes, writes);
    }
}

const struct wmi_op *wmi_step_buffer_careful(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    struct plan plan;
    make_plan(frame, op, &plan);
    show_late(frame, op, &plan);
    if (!may_go_on(frame, m, &plan))
        return NULL;
    for (uint64_t left = plan.lanes; left;) {
        const unsigned lane = wmi_take_lane(&left);
        unsigned char bytes[ELEMENTS * 4] = {0};
        if (m->kind == WMI_ACCESS_STORE) {
            for (unsigned e = 0; e < plan.elements; e++) {
                const uint32_t value = wmi_row_at(frame, op->c, e)[lane] >> (m->d16_hi ? 16 : 0);
                memcpy(bytes + 4 * e, &value, sizeof value);
            }
            move_elements(frame, op, &plan, lane, bytes, true);
            continue;
        }
        /* Before writing a register: it may be VADDR. */
        move_elements(frame, op, &plan, lane, bytes, false);
        for (unsigned e = 0; e < plan.elements; e++) {
            uint32_t *to = &wmi_row_at(frame, op->d, e)[lane];
            *to = wmi_vmem_loaded(m, bytes + 4 * e, *to);
        }
    }
    return wmi_buffer_next(op);
}

/* Writes one lane's values to its registers, in 16-bit halves if packed. Unverified: a half that is not
 * loaded keeps its value, and the upper half of an unpacked value is 0. */
static void put_values(char *frame, const struct wmi_op *op, unsigned lane, const uint32_t value[4])
{
    const struct wmi_memory_op *m = op->data;
    const bool packed = m->d16 && !(m->parameter & WMI_BUFFER_UNPACKED);
    for (unsigned i = 0; i < m->elements; i++) {
        uint32_t *to = &wmi_row_at(frame, op->d, packed ? i / 2 : i)[lane];
        if (!packed)
            *to = value[i];
        else if (m->d16_hi || i & 1)
            *to = (*to & 0xffff) | value[i] << 16;
        else
            *to = (*to & 0xffff0000) | value[i];
    }
}

static void get_values(char *frame, const struct wmi_op *op, unsigned lane, uint32_t value[4])
{
    const struct wmi_memory_op *m = op->data;
    const bool packed = m->d16 && !(m->parameter & WMI_BUFFER_UNPACKED);
    for (unsigned i = 0; i < m->elements; i++)
        value[i] =
            wmi_row_at(frame, op->c, packed ? i / 2 : i)[lane] >> (packed && (m->d16_hi || i & 1) ? 16 : 0);
    for (unsigned i = m->elements; i < 4; i++) /* RDNA 4 ISA; before gfx12 unverified */
        value[i] = value[0];
}

const struct wmi_op *wmi_step_buffer_format(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    const bool store = m->kind == WMI_ACCESS_STORE;
    struct plan plan;
    make_plan(frame, op, &plan);
    show_late(frame, op, &plan);
    if (!may_go_on(frame, m, &plan))
        return NULL;
    for (uint64_t left = store ? plan.in_range[0] : plan.lanes; left;) {
        const unsigned lane = wmi_take_lane(&left);
        uint32_t value[4] = {0};
        unsigned char element[16] = {0};
        if (store) {
            get_values(frame, op, lane, value);
            wmi_format_select_store(plan.select, value);
            wmi_format_store(&plan.format, value, m->d16, element);
        }
        move_elements(frame, op, &plan, lane, element, store);
        if (store)
            continue;
        if (plan.in_range[0] >> lane & 1)
            wmi_format_load(&plan.format, element, m->d16, value);
        wmi_format_select_load(&plan.format, plan.select, m->d16, value);
        put_values(frame, op, lane, value);
    }
    return wmi_next(frame, op);
}

/* The dwords that one lane loads, including lanes out of range; returns their number. */
static unsigned loaded_value(char *frame, const struct wmi_op *op, const struct plan *plan, unsigned lane,
                             uint32_t value[4])
{
    const struct wmi_memory_op *m = op->data;
    unsigned char element[ELEMENTS * 4] = {0};
    move_elements(frame, op, plan, lane, element, false);
    if (!m->format && m->elements > 1) {
        memcpy(value, element, 4u * m->elements);
        return m->elements;
    }
    if (!m->format) {
        value[0] = wmi_vmem_loaded(m, element, 0);
        return 1;
    }
    if (plan->in_range[0] >> lane & 1)
        wmi_format_load(&plan->format, element, m->d16, value);
    wmi_format_select_load(&plan->format, plan->select, m->d16, value);
    return 1;
}

/* Source: CLRX, "GCN memory handling", with the instruction offset of CDNA 3 ISA, "Memory Buffer Load to
 * LDS"; writes out of LDS range are dropped: CDNA 3 ISA, "Memory Violations". */
const struct wmi_op *wmi_step_buffer_to_lds(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    const struct wmi_workgroup *group = wmi_wave_of(frame)->group;
    const uint32_t m0 = ((const struct wmi_frame *)frame)->s[WMI_S_M0] & op->x;
    struct plan plan;
    make_plan(frame, op, &plan);
    show_late(frame, op, &plan);
    if (!may_go_on(frame, m, &plan))
        return NULL;
    for (uint64_t left = plan.lanes; left;) {
        const unsigned lane = wmi_take_lane(&left);
        uint32_t value[4] = {0};
        const unsigned bytes = 4 * loaded_value(frame, op, &plan, lane, value);
        const uint64_t at = (uint64_t)m0 + (uint32_t)m->offset + (bytes > 4 ? 16 : 4) * lane;
        if (at + bytes <= group->lds_size)
            memcpy(group->lds + at, value, bytes);
    }
    return op + 1;
}

const struct wmi_op *wmi_step_buffer_status(char *restrict frame, const struct wmi_op *op)
{
    for (uint64_t left = ((const struct wmi_lanes *)(frame + op->lanes))->bits; left;)
        wmi_row_at(frame, op->d, 0)[wmi_take_lane(&left)] = 0;
    return wmi_next(frame, op);
}

const struct wmi_op *wmi_step_buffer_atomic(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    struct plan plan;
    make_plan(frame, op, &plan);
    show_late(frame, op, &plan);
    if (!may_go_on(frame, m, &plan))
        return NULL;
    for (uint64_t left = plan.lanes; left;) {
        const unsigned lane = wmi_take_lane(&left);
        wmi_atomic_lane(frame, op, (enum wmi_atomic)m->parameter, lane, plan.host[0][lane]);
    }
    return op + 1;
}

const struct wmi_op *wmi_step_buffer_addr64(char *restrict frame, const struct wmi_op *op)
{
    const unsigned size = ((const struct wmi_frame *)frame)->wave_size;
    const struct wmi_buffer buffer = wmi_buffer_of(frame, op);
    const uint64_t base = (buffer.base & 0xffffffffffff) + word_at(frame, op->e);
    const uint32_t *from = wmi_row_at(frame, op->a, 0);
    uint32_t *to = wmi_row_at(frame, op->x, 0);
    if (buffer.unbound)
        return wmi_step_buffer_careful(frame, op);
    for (unsigned i = 0; i < size; i++) {
        const uint64_t address = base + (from[i] | (uint64_t)from[i + size] << 32);
        to[i] = (uint32_t)address;
        to[i + size] = (uint32_t)(address >> 32);
    }
    return op + 1;
}

/* ---- reports to observers ---- */

static struct wmi_element element_of(const struct plan *plan, unsigned e)
{
    return (struct wmi_element){
        .space = WMI_SPACE_GLOBAL,
        .mask = plan->lanes,
        .bad_range = (plan->lanes & ~plan->in_range[e]) | plan->outside,
        .dropped = plan->lanes & ~plan->in_range[e],
        .bad_align = plan->misaligned,
        .address = plan->address[e],
    };
}

/* Describes the first place that the V# drops; false: it drops none. */
static bool describe_dropped(const char *frame, const struct wmi_op *op, const struct plan *plan,
                             struct wmi_access_buffer *dropped)
{
    for (unsigned e = 0; e < plan->elements; e++) {
        const uint64_t lanes = plan->lanes & ~plan->in_range[e];
        if (!lanes)
            continue;
        const unsigned lane = (unsigned)__builtin_ctzll(lanes);
        const struct wmi_buffer_place place = wmi_buffer_place_of(frame, op, &plan->buffer, lane);
        *dropped = (struct wmi_access_buffer){.idxen = op->y & WMI_BUFFER_IDXEN,
                                              .lane = lane,
                                              .index = place.index,
                                              .offset = (uint32_t)place.offset + e * plan->bytes,
                                              .soffset = place.soffset,
                                              .bytes = plan->bytes};
        memcpy(dropped->words, frame + op->b, sizeof dropped->words);
        return true;
    }
    return false;
}

const struct wmi_op *wmi_step_buffer_watch(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    const struct wmi_wave *wave = wmi_wave_of(frame);
    uint64_t private_offset[ELEMENTS][64];
    struct plan plan;
    make_plan(frame, op, &plan);
    struct wmi_access access;
    struct wmi_access_buffer dropped;
    wmi_access_begin(&access, m, wave, plan.lanes);
    access.base = plan.buffer.base;
    if (describe_dropped(frame, op, &plan, &dropped))
        access.buffer = &dropped;
    /* A lane's bytes are contiguous. */
    bool whole = (!plan.buffer.swizzle || plan.buffer.contiguous) && plan.elements;
    for (unsigned e = 1; e < plan.elements; e++)
        whole &= plan.in_range[e] == plan.in_range[0];
    access.elements = whole ? 1 : (uint8_t)plan.elements;
    access.bytes = (uint8_t)(whole ? plan.bytes * plan.elements : plan.bytes);
    for (unsigned e = 0; e < access.elements; e++) {
        access.element[e] = element_of(&plan, e);
        access.element[e].reg = (uint8_t)(e * ((plan.bytes + 3) / 4));
        if (!is_private(&plan.buffer))
            continue;
        for (uint64_t left = plan.lanes; left;) {
            const unsigned lane = wmi_take_lane(&left);
            private_offset[e][lane] =
                (uint32_t)(wmi_buffer_place_of(frame, op, &plan.buffer, lane).offset + e * plan.bytes);
        }
        access.element[e].private_offset = private_offset[e];
    }
    wmi_show_access(wave, m, &access);
    return op + 1;
}

#define DECLARE(name, level, lanes, suffix) extern const struct wmi_buffer_step name##suffix[];
#define ENTRY(name, level, lanes, suffix)   [level][lanes / 64] = name##suffix,
WMI_LANE_BUILDS(DECLARE, wmi_buffer_steps)

const struct wmi_buffer_step *wmi_buffer_steps(enum wmi_cpu_level level, unsigned lanes)
{
    static const struct wmi_buffer_step *const steps[WMI_CPU_LEVELS][2] = {
        WMI_LANE_BUILDS(ENTRY, wmi_buffer_steps)};
    return steps[level][lanes / 64];
}
