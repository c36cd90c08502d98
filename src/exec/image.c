/* SPDX-License-Identifier: MIT */
/* Image instructions on linear images: what each lane reaches, and then done.
 *
 * Source: RDNA 2 and 3 ISA, Vega ISA, "Image instructions". Unverified: what a store gives components that
 * DMASK leaves out (0), and that DMASK 0 moves nothing. */
#include "exec/image.h"

enum { TEXEL_BYTES = 16 };

/* What the lanes reach. */
struct plan {
    struct wmi_image image;
    unsigned bytes;                          /* of a lane's access */
    uint64_t lanes;                          /* EXEC */
    uint64_t in_range;                       /* of `lanes` */
    uint64_t outside, read_only, misaligned; /* of `in_range`: may not */
    uint64_t address[64];
    unsigned char *host[64];
};

static uint32_t *row_at(char *frame, uint32_t offset, unsigned row)
{
    return (uint32_t *)(frame + offset) + row * ((const struct wmi_frame *)frame)->wave_size;
}

static unsigned take_lane(uint64_t *lanes)
{
    const unsigned lane = (unsigned)__builtin_ctzll(*lanes);
    *lanes &= *lanes - 1;
    return lane;
}

static struct wmi_image image_of(const char *frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    const struct wmi_image_request r = wmi_image_request_of(m);
    uint32_t words[8] = {0};
    memcpy(words, frame + op->b, r.r128 ? 16 : 32);
    return wmi_image_decode((enum wmi_layout)r.layout, m->format, words);
}

/* Coordinate `index` of a lane; 0 where the address has no such register. */
static uint32_t coordinate(const char *frame, const struct wmi_op *op, unsigned index, unsigned lane)
{
    const struct wmi_image_request r = wmi_image_request_of(op->data);
    const uint32_t rows[WMI_IMAGE_COORDINATES] = {op->a, op->e, op->x, op->y};
    const unsigned row = r.a16 ? index / 2 : index;
    if (row >= r.coordinates)
        return 0;
    const uint32_t value = ((const uint32_t *)(frame + rows[row]))[lane];
    return r.a16 ? value >> index % 2 * 16 & 0xffff : value;
}

static struct wmi_texel texel_of(const char *frame, const struct wmi_op *op, const struct wmi_image *image,
                                 unsigned lane)
{
    const struct wmi_image_request r = wmi_image_request_of(op->data);
    uint32_t coordinates[WMI_IMAGE_COORDINATES];
    for (unsigned i = 0; i < WMI_IMAGE_COORDINATES; i++)
        coordinates[i] = coordinate(frame, op, i, lane);
    return wmi_image_texel(image, r.dim, r.array, r.level, coordinates);
}

static void make_plan(char *frame, const struct wmi_op *op, struct plan *plan)
{
    const struct wmi_memory_op *m = op->data;
    const struct wmi_image_request r = wmi_image_request_of(m);
    const struct wmi_worker *worker = wmi_wave_of(frame)->worker;
    struct wmi_hit *hit = (struct wmi_hit *)&worker->hits[m->hit];
    const bool atomic = m->kind == WMI_ACCESS_ATOMIC;
    plan->image = image_of(frame, op);
    plan->bytes = atomic ? m->bytes : plan->image.format.layout->bytes;
    plan->lanes = ((const struct wmi_lanes *)(frame + op->lanes))->bits;
    plan->in_range = plan->outside = plan->read_only = plan->misaligned = 0;
    for (uint64_t left = plan->lanes; left;) {
        const unsigned lane = take_lane(&left);
        const uint64_t bit = 1ULL << lane;
        plan->host[lane] = NULL;
        plan->address[lane] = 0;
        if (plan->image.refused)
            continue;
        const struct wmi_texel texel = texel_of(frame, op, &plan->image, lane);
        plan->address[lane] = wmi_texel_address(&plan->image, &texel);
        if (!plan->image.bound || !plan->bytes || !r.dmask || !wmi_image_in_range(&plan->image, &texel))
            continue;
        plan->in_range |= bit;
        plan->host[lane] = wmi_vmem_reach(worker, hit, plan->address[lane], plan->bytes);
        if (!plan->host[lane])
            plan->outside |= bit;
        else if (m->kind != WMI_ACCESS_LOAD && hit->flags & WM_READ_ONLY)
            plan->read_only |= bit;
        if (atomic && plan->address[lane] % plan->bytes)
            plan->misaligned |= bit;
    }
}

static bool faults(const struct wmi_memory_op *m, const struct plan *plan, struct wmi_fault *fault)
{
    const uint64_t lanes = plan->image.refused ? plan->lanes
                           : plan->outside     ? plan->outside
                           : plan->misaligned  ? plan->misaligned
                                               : plan->read_only;
    if (!lanes)
        return false;
    *fault = (struct wmi_fault){
        .kind = plan->image.refused ? WM_FAULT_RESOURCE
                : plan->outside     ? WM_FAULT_MEMORY
                : plan->misaligned  ? WM_FAULT_MISALIGNED
                                    : WM_FAULT_READ_ONLY,
        .pc = m->pc,
        .detail = plan->image.refused,
        .lanes = lanes,
        .low = plan->image.refused ? 0 : UINT64_MAX,
        .bytes = plan->bytes,
        .store = m->kind != WMI_ACCESS_LOAD,
    };
    for (uint64_t left = plan->image.refused ? 0 : lanes; left;) {
        const uint64_t address = plan->address[take_lane(&left)];
        if (address < fault->low)
            fault->low = address;
        if (address + plan->bytes - 1 > fault->high)
            fault->high = address + plan->bytes - 1;
    }
    return true;
}

/* ---- registers: the components of DMASK one after the other, halves in pairs or not ---- */

static unsigned value_rows(struct wmi_image_request r)
{
    const unsigned count = (unsigned)__builtin_popcount(r.dmask);
    return r.d16 && !r.unpacked ? (count + 1) / 2 : count;
}

static void put_values(char *frame, const struct wmi_op *op, unsigned lane, const uint32_t value[4])
{
    const struct wmi_image_request r = wmi_image_request_of(op->data);
    const bool packed = r.d16 && !r.unpacked;
    unsigned n = 0;
    for (unsigned i = 0; i < 4; i++) {
        if (!(r.dmask >> i & 1))
            continue;
        uint32_t *to = &row_at(frame, op->d, packed ? n / 2 : n)[lane];
        if (!packed)
            *to = value[i];
        else if (n & 1)
            *to = (*to & 0xffff) | value[i] << 16;
        else
            *to = (*to & 0xffff0000) | (value[i] & 0xffff);
        n++;
    }
    if (r.status)
        row_at(frame, op->d, value_rows(r))[lane] = 0; /* nothing of an image is ever absent */
}

static void get_values(char *frame, const struct wmi_op *op, unsigned lane, uint32_t value[4])
{
    const struct wmi_image_request r = wmi_image_request_of(op->data);
    const bool packed = r.d16 && !r.unpacked;
    unsigned n = 0;
    for (unsigned i = 0; i < 4; i++) {
        if (!(r.dmask >> i & 1))
            continue;
        value[i] = row_at(frame, op->c, packed ? n / 2 : n)[lane] >> (packed && n & 1 ? 16 : 0);
        n++;
    }
}

/* ---- the steps ---- */

static void load(char *frame, const struct wmi_op *op, const struct plan *plan, unsigned lane)
{
    const bool half = wmi_image_request_of(op->data).d16;
    uint32_t value[4] = {0};
    unsigned char element[TEXEL_BYTES] = {0};
    if (plan->host[lane]) {
        memcpy(element, plan->host[lane], plan->bytes);
        wmi_format_load(&plan->image.format, element, half, value);
    }
    if (plan->image.bound)
        wmi_format_select_load(&plan->image.format, plan->image.select, half, value);
    put_values(frame, op, lane, value);
}

static void store(char *frame, const struct wmi_op *op, const struct plan *plan, unsigned lane)
{
    uint32_t value[4] = {0};
    unsigned char element[TEXEL_BYTES] = {0};
    if (!plan->host[lane])
        return;
    get_values(frame, op, lane, value);
    wmi_format_select_store(plan->image.select, value);
    wmi_format_store(&plan->image.format, value, wmi_image_request_of(op->data).d16, element);
    memcpy(plan->host[lane], element, plan->bytes);
}

static void atomic(char *frame, const struct wmi_op *op, const struct plan *plan, unsigned lane)
{
    const struct wmi_memory_op *m = op->data;
    const enum wmi_atomic operation = (enum wmi_atomic)wmi_image_request_of(m).operation;
    const unsigned words = plan->bytes / 4;
    uint32_t data[2] = {0}, compare[2] = {0}, before[2] = {0};
    for (unsigned i = 0; i < words; i++) {
        data[i] = row_at(frame, op->c, i)[lane];
        if (operation == WMI_ATOMIC_CMPSWAP)
            compare[i] = row_at(frame, op->c, words + i)[lane];
    }
    unsigned char *host = plan->host[lane];
    if (host && words == 1) {
        before[0] = wmi_atomic_32(operation, host, data[0], compare[0]);
    } else if (host) {
        const uint64_t old = wmi_atomic_64(operation, host, data[0] | (uint64_t)data[1] << 32,
                                           compare[0] | (uint64_t)compare[1] << 32);
        before[0] = (uint32_t)old;
        before[1] = (uint32_t)(old >> 32);
    }
    for (unsigned i = 0; i < words && m->returns; i++)
        row_at(frame, op->d, i)[lane] = before[i];
}

const struct wmi_op *wmi_image_access(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    struct wmi_fault fault;
    struct plan plan;
    make_plan(frame, op, &plan);
    if (faults(m, &plan, &fault))
        return wmi_wave_fault(wmi_wave_of(frame), &fault);
    for (uint64_t left = plan.lanes; left;) {
        const unsigned lane = take_lane(&left);
        if (m->kind == WMI_ACCESS_LOAD)
            load(frame, op, &plan, lane);
        else if (m->kind == WMI_ACCESS_STORE)
            store(frame, op, &plan, lane);
        else
            atomic(frame, op, &plan, lane);
    }
    return op + 1;
}

/* Width, height, depth or number of slices, and number of levels; sizes are 0 for a level that there is not.
 * Cubes count whole (unverified). Source: Vega ISA and RDNA 2 ISA, IMAGE_GET_RESINFO. */
const struct wmi_op *wmi_image_resinfo(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_image image = image_of(frame, op);
    for (uint64_t left = ((const struct wmi_lanes *)(frame + op->lanes))->bits; left;) {
        const unsigned lane = take_lane(&left);
        const uint32_t mip = coordinate(frame, op, 0, lane), level = image.base_level + mip;
        uint32_t value[4] = {0};
        if (image.bound && mip < image.levels) {
            value[0] = wmi_image_extent(image.width, level);
            value[1] = wmi_image_extent(image.height, level);
            value[2] = image.type == WMI_IMAGE_3D     ? wmi_image_extent(image.depth, level)
                       : image.type == WMI_IMAGE_CUBE ? image.slices / 6
                                                      : image.slices;
        }
        value[3] = image.bound ? image.levels : 0;
        put_values(frame, op, lane, value);
    }
    return op + 1;
}

const struct wmi_op *wmi_image_watch(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    const struct wmi_wave *wave = wmi_wave_of(frame);
    struct plan plan;
    make_plan(frame, op, &plan);
    if (plan.image.refused)
        return op + 1; /* the next step says so */
    const struct wmi_access access = {
        .pc = m->pc,
        .instruction = wmi_wave_clock(wave),
        .workgroup = {wave->group->id[0], wave->group->id[1], wave->group->id[2]},
        .wave = wave->index,
        .path = WMI_PATH_IMAGE,
        .kind = (enum wmi_access_kind)m->kind,
        .lanes = plan.lanes,
        .policy = m->policy,
        .elements = plan.bytes ? 1 : 0,
        .bytes = (uint8_t)plan.bytes,
        .element[0] = {.space = WMI_SPACE_GLOBAL,
                       .mask = plan.lanes,
                       .bad_range = (plan.lanes & ~plan.in_range) | plan.outside,
                       .bad_align = plan.misaligned,
                       .address = plan.address},
    };
    m->observer->access(wave->worker->observer, &access, m->slot);
    return op + 1;
}
