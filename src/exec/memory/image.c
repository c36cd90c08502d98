/* SPDX-License-Identifier: MIT */
/* Image instructions: plans each lane's access, then carries it out.
 *
 * Source: RDNA 2 to 4 ISA, Vega ISA, "Image Instructions". Unverified: DMASK of *_pck selects dwords. */
#include "memory/image.h"
#include "exec/control/steps.h"
#include "exec/memory/image_values.h"
#include "exec/memory/vmem.h"
#include "exec/run/resources.h"

#include "exec/memory/careful.h"

enum { TEXEL_BYTES = 16 };

/* What the lanes access. */
struct plan {
    const struct wmi_image *image;
    unsigned bytes;                          /* per lane */
    uint64_t lanes;                          /* EXEC */
    uint64_t in_range;                       /* subset of `lanes` */
    uint64_t outside, read_only, misaligned; /* subsets of `in_range` with violations */
    uint64_t address[64];
    unsigned char *host[64];
    struct wmi_texel texel[64];
};

static const struct wmi_image *image_of(const char *frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    const struct wmi_image_request r = wmi_image_request_of(m);
    return wmi_decoded_image(frame, m, op->b, r.r128);
}

/* Coordinate `index` of a lane; 0 if the address has no such register. */
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

/* more: number of samples after the one in the address. */
static struct wmi_texel texel_of(const char *frame, const struct wmi_op *op, const struct wmi_image *image,
                                 unsigned lane, unsigned more)
{
    const struct wmi_image_request r = wmi_image_request_of(op->data);
    uint32_t coordinates[WMI_IMAGE_COORDINATES];
    for (unsigned i = 0; i < WMI_IMAGE_COORDINATES; i++)
        coordinates[i] = coordinate(frame, op, i, lane);
    struct wmi_texel texel = wmi_image_texel(image, r.dim, r.array, r.level, coordinates);
    texel.sample += texel.sample < image->samples ? more : 0;
    return texel;
}

static void make_plan(char *frame, const struct wmi_op *op, unsigned more, struct plan *plan)
{
    const struct wmi_memory_op *m = op->data;
    const struct wmi_image_request r = wmi_image_request_of(m);
    const struct wmi_worker *worker = wmi_wave_of(frame)->worker;
    struct wmi_hit *hit = (struct wmi_hit *)&worker->hits[m->hit];
    const bool atomic = m->kind == WMI_ACCESS_ATOMIC;
    plan->image = image_of(frame, op);
    plan->bytes = atomic ? m->bytes : plan->image->format.layout->bytes;
    plan->lanes = ((const struct wmi_lanes *)(frame + op->lanes))->bits;
    plan->in_range = plan->outside = plan->read_only = plan->misaligned = 0;
    for (uint64_t left = plan->lanes; left;) {
        const unsigned lane = wmi_take_lane(&left);
        const uint64_t bit = 1ULL << lane;
        plan->host[lane] = NULL;
        plan->address[lane] = 0;
        if (plan->image->refused)
            continue;
        const struct wmi_texel *texel = &plan->texel[lane];
        plan->texel[lane] = texel_of(frame, op, plan->image, lane, more);
        plan->address[lane] = wmi_texel_address(plan->image, texel);
        if (!plan->image->bound || !plan->bytes || !r.dmask || !wmi_image_in_range(plan->image, texel))
            continue;
        plan->in_range |= bit;
        plan->host[lane] = wmi_vmem_reach(worker, hit, plan->address[lane], plan->bytes);
        if (!plan->host[lane]) {
            plan->outside |= bit;
        } else if (m->kind != WMI_ACCESS_LOAD && hit->flags & WM_UNBOUND) {
            plan->in_range &= ~bit;
            plan->host[lane] = NULL;
        } else if (m->kind != WMI_ACCESS_LOAD && hit->flags & WM_READ_ONLY) {
            plan->read_only |= bit;
        }
        if (atomic && plan->address[lane] % plan->bytes)
            plan->misaligned |= bit;
    }
}

/* Why the instruction cannot be carried out on the image, or NULL. */
static const char *refusal(const struct wmi_memory_op *m, const struct wmi_image *image)
{
    const struct wmi_image_request r = wmi_image_request_of(m);
    if (image->refused)
        return image->refused;
    if (image->compressed && (m->kind != WMI_ACCESS_LOAD || r.raw))
        return "an image of compressed blocks, which can only be loaded with conversion and sampled";
    if (r.msaa == WMI_MSAA_ONLY && image->format.layout->components > 1)
        return "an image of several components, for which image_msaa_load is wrong here";
    return NULL;
}

/* Whether the instruction, which has `count` plans for the same lanes, is carried out. A violation either
 * ends the run, or the lanes are treated as out of range. An unsupported image always ends the run. */
static bool may_go_on(char *frame, const struct wmi_memory_op *m, struct plan *plan, unsigned count)
{
    struct wmi_refused_lanes causes[] = {
        {WM_FAULT_MEMORY, 0, false}, {WM_FAULT_MISALIGNED, 0, false}, {WM_FAULT_READ_ONLY, 0, false}};
    uint64_t forbidden = 0;
    const char *why = refusal(m, plan->image);
    if (why && plan->lanes) {
        const struct wmi_fault fault = {.kind = WM_FAULT_RESOURCE,
                                        .pc = m->pc,
                                        .detail = why,
                                        .lanes = plan->lanes,
                                        .bytes = plan->bytes,
                                        .store = m->kind != WMI_ACCESS_LOAD};
        wmi_wave_fault(wmi_wave_of(frame), &fault);
        return false;
    }
    for (unsigned i = 0; i < count; i++) {
        causes[0].lanes |= plan[i].outside;
        causes[1].lanes |= plan[i].misaligned;
        causes[2].lanes |= plan[i].read_only;
        forbidden |= plan[i].outside | plan[i].misaligned | plan[i].read_only;
    }
    if (!forbidden)
        return true;
    struct wmi_fault fault = wmi_fault_of(m, causes, sizeof causes / sizeof *causes, plan->bytes);
    for (unsigned i = 0; i < count; i++)
        for (uint64_t left = fault.lanes & plan[i].in_range; left;)
            wmi_fault_reaches(&fault, plan[i].address[wmi_take_lane(&left)], plan->bytes);
    if (!wmi_wave_violates(wmi_wave_of(frame), &fault))
        return false;
    for (unsigned i = 0; i < count; i++)
        for (uint64_t left = forbidden; left;)
            plan[i].host[wmi_take_lane(&left)] = NULL;
    return true;
}

/* ---- registers: the components in DMASK consecutively, 16-bit values packed or unpacked ---- */

/* DMASK 0 gives zeros in one register. Source: RDNA 3 and 4 ISA, "Image Instructions", DMASK. */
static void put_values(char *frame, const struct wmi_op *op, unsigned lane, const uint32_t value[4])
{
    static const uint32_t zeros[4];
    const struct wmi_image_request r = wmi_image_request_of(op->data);
    const struct wmi_image_values to = {
        .offset = op->d, .dmask = r.dmask ? r.dmask : 1, .packed = r.d16 && !r.unpacked, .status = r.status};
    wmi_image_put(frame, &to, lane, r.dmask ? value : zeros);
}

/* What DMASK leaves out of a store: 0, or the first component. Sources: Vega to RDNA 3 ISA, and RDNA 4 ISA,
 * "Image Instructions", DMASK. */
static const bool repeats_first[WMI_LAYOUTS] = {[WMI_LAYOUT_GFX1200] = true};

static void get_values(char *frame, const struct wmi_op *op, unsigned lane, uint32_t value[4])
{
    const struct wmi_image_request r = wmi_image_request_of(op->data);
    const bool packed = r.d16 && !r.unpacked;
    unsigned n = 0;
    for (unsigned i = 0; i < 4; i++) {
        if (!(r.dmask >> i & 1))
            continue;
        value[i] = wmi_row_at(frame, op->c, packed ? n / 2 : n)[lane] >> (packed && n & 1 ? 16 : 0);
        n++;
    }
    if (!r.dmask || r.raw || !repeats_first[((const struct wmi_memory_op *)op->data)->image->layout])
        return;
    for (unsigned i = 0; i < 4; i++)
        if (!(r.dmask >> i & 1))
            value[i] = value[__builtin_ctz(r.dmask)];
}

/* ---- the steps ---- */

enum { SAMPLES = 4 }; /* of an MSAA load */

/* Loads the dwords of a texel. Source: Vega ISA, IMAGE_LOAD_PCK and IMAGE_LOAD_PCK_SGN. */
static void load_raw(const unsigned char *element, unsigned bytes, bool is_signed, uint32_t value[4])
{
    memcpy(value, element, TEXEL_BYTES);
    if (is_signed && bytes && bytes < 4)
        value[0] = (uint32_t)((int32_t)(value[0] << (32 - 8 * bytes)) >> (32 - 8 * bytes));
}

/* The components of a lane's texel. */
static void load(const struct wmi_op *op, const struct plan *plan, unsigned lane, uint32_t value[4])
{
    const struct wmi_image_request r = wmi_image_request_of(op->data);
    const bool half = r.d16;
    unsigned char element[TEXEL_BYTES] = {0};
    memset(value, 0, 4 * sizeof *value);
    if (plan->host[lane])
        wmi_read_guest(element, plan->host[lane], plan->bytes);
    if (r.raw)
        load_raw(element, plan->bytes, r.is_signed, value);
    else if (plan->host[lane])
        wmi_texel_load(plan->image, &plan->texel[lane], element, half, value);
    if (plan->image->bound && !r.raw && r.msaa != WMI_MSAA_STORED)
        wmi_format_select_load(&plan->image->format, plan->image->select, half, value);
}

static void store(char *frame, const struct wmi_op *op, const struct plan *plan, unsigned lane)
{
    uint32_t value[4] = {0};
    unsigned char element[TEXEL_BYTES] = {0};
    const struct wmi_image_request r = wmi_image_request_of(op->data);
    if (!plan->host[lane])
        return;
    get_values(frame, op, lane, value);
    if (r.raw) {
        wmi_write_guest(plan->host[lane], value, plan->bytes);
        return;
    }
    wmi_format_select_store(plan->image->select, value);
    wmi_format_store(&plan->image->format, value, r.d16, element);
    wmi_write_guest(plan->host[lane], element, plan->bytes);
}

const struct wmi_op *wmi_step_image_access(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    const enum wmi_atomic operation = (enum wmi_atomic)wmi_image_request_of(m).operation;
    struct plan plan;
    make_plan(frame, op, 0, &plan);
    if (!may_go_on(frame, m, &plan, 1))
        return NULL;
    for (uint64_t left = plan.lanes; left;) {
        const unsigned lane = wmi_take_lane(&left);
        uint32_t value[4];
        if (m->kind == WMI_ACCESS_LOAD) {
            load(op, &plan, lane, value);
            put_values(frame, op, lane, value);
        } else if (m->kind == WMI_ACCESS_STORE)
            store(frame, op, &plan, lane);
        else
            wmi_atomic_lane(frame, op, operation, lane, plan.host[lane]);
    }
    return op + 1;
}

/* Four samples of a texel, one component each. Source: RDNA 3 ISA, IMAGE_MSAA_LOAD; LLVM,
 * AMDGPUImageIntrinsicOptimizer, which makes it of four loads whose first sample is a multiple of four.
 * Unverified: that others also count from the given sample on, samples that the image does not have (ours 0),
 * DMASK with several bits (ours the lowest), and on gfx10.3 that DMASK chooses samples. */
const struct wmi_op *wmi_step_image_samples(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    const struct wmi_image_request r = wmi_image_request_of(m);
    const unsigned wanted = r.msaa == WMI_MSAA_ONLY || !r.dmask ? 0 : (unsigned)__builtin_ctz(r.dmask);
    const struct wmi_image_values to = {.offset = op->d,
                                        .dmask = r.msaa == WMI_MSAA_ONLY ? r.dmask : (1 << SAMPLES) - 1,
                                        .packed = r.d16,
                                        .status = r.status};
    struct plan plan[SAMPLES];
    for (unsigned i = 0; i < SAMPLES; i++)
        make_plan(frame, op, i, &plan[i]);
    if (!may_go_on(frame, m, plan, SAMPLES))
        return NULL;
    for (uint64_t left = plan->lanes; left;) {
        const unsigned lane = wmi_take_lane(&left);
        uint32_t result[SAMPLES];
        for (unsigned i = 0; i < SAMPLES; i++) {
            uint32_t value[4];
            load(op, &plan[i], lane, value);
            result[i] = value[wanted];
        }
        wmi_image_put(frame, &to, lane, result);
    }
    return op + 1;
}

/* Width, height, depth or number of slices, and number of levels; sizes are 0 if the level does not exist.
 * Each face of a cube counts as a slice. Source: RDNA 3 and 4 ISA, "Image Instructions", IMAGE_GET_RESINFO.
 */
const struct wmi_op *wmi_step_image_resinfo(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_image *image = image_of(frame, op);
    for (uint64_t left = ((const struct wmi_lanes *)(frame + op->lanes))->bits; left;) {
        const unsigned lane = wmi_take_lane(&left);
        const uint32_t mip = coordinate(frame, op, 0, lane), level = image->base_level + mip;
        uint32_t value[4] = {0};
        if (image->bound && mip < image->levels) {
            value[0] = wmi_image_extent(image->width, level);
            value[1] = wmi_image_extent(image->height, level);
            value[2] = image->type == WMI_IMAGE_3D ? wmi_image_extent(image->depth, level) : image->slices;
        }
        value[3] = image->bound ? image->levels : 0;
        put_values(frame, op, lane, value);
    }
    return op + 1;
}

const struct wmi_op *wmi_step_image_watch(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    const struct wmi_wave *wave = wmi_wave_of(frame);
    const unsigned count = wmi_image_request_of(m).msaa ? SAMPLES : 1;
    struct plan plan[SAMPLES];
    make_plan(frame, op, 0, &plan[0]);
    if (refusal(m, plan[0].image))
        return op + 1; /* the next step faults */
    struct wmi_access access;
    wmi_access_begin(&access, m, wave, plan[0].lanes);
    access.elements = plan[0].bytes ? count : 0;
    access.bytes = (uint8_t)plan[0].bytes;
    for (unsigned i = 0; i < access.elements; i++) {
        struct plan *p = &plan[i];
        make_plan(frame, op, i, p);
        access.element[i] = (struct wmi_element){.space = WMI_SPACE_GLOBAL,
                                                 .mask = i ? p->in_range : p->lanes,
                                                 .bad_range = (i ? 0 : p->lanes & ~p->in_range) | p->outside,
                                                 .dropped = i ? 0 : p->lanes & ~p->in_range,
                                                 .bad_align = p->misaligned,
                                                 .address = p->address};
    }
    wmi_show_access(wave, m, &access);
    return op + 1;
}
