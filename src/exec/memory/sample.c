/* SPDX-License-Identifier: MIT */
/* Image instructions with a sampler: reads each lane's address, takes the texels that memory/sample.h names,
 * and filters them.
 *
 * Source: RDNA 2 and 3 ISA, Vega ISA, "Image instructions", "Image address VGPRs". Approximate: hardware
 * filters in fixed point of unknown width; ours sums exactly and rounds once. */
#include "memory/sample.h"

#include "arithmetic/float_bits.h"
#include "arithmetic/host_float.h"
#include "exec/control/steps.h"
#include "exec/memory/image_values.h"
#include "exec/memory/vmem.h"
#include "exec/run/resources.h"

#include <math.h>

enum { TEXEL_BYTES = 16, AXES = 3, QUAD = 4 };

/* What one instruction samples. */
struct sampling {
    char *frame;
    const struct wmi_op *op;
    struct wmi_sample_request request;
    const struct wmi_image *image;
    struct wmi_sampler sampler;
    struct wmi_sample_dims dims;
    uint64_t lanes; /* EXEC */
};

static struct sampling begin(char *frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    struct sampling s = {.frame = frame, .op = op, .request = wmi_sample_request_of(m)};
    s.image = wmi_decoded_image(frame, m, op->b, s.request.r128);
    s.sampler = *wmi_decoded_sampler(frame, m, op->c);
    s.sampler.unnormalized |= s.request.unnormalized;
    s.dims = wmi_sample_dims(s.image, s.request.dim, s.request.array);
    s.lanes = ((const struct wmi_lanes *)(frame + op->lanes))->bits;
    return s;
}

static const char *refusal(const struct sampling *s)
{
    if (!s->image->bound)
        return NULL;
    if (!s->image->refused && s->image->samples > 1)
        return "a multisampled image, which has no filter";
    return s->image->refused ? s->image->refused : s->sampler.refused;
}

/* ---- addresses ---- */

/* Reads the registers of a lane's address in order. */
struct reader {
    const struct sampling *s;
    unsigned lane, next; /* `next` counts registers, or with `halves` halves of them */
    bool halves;
};

static uint32_t read_register(const struct sampling *s, unsigned lane, unsigned index)
{
    const struct wmi_memory_op *m = s->op->data;
    return index < s->request.count ? wmi_row_at(s->frame, s->op->a, m->address[index])[lane] : 0;
}

static double read_number(struct reader *r)
{
    const unsigned at = r->next++;
    if (!r->halves)
        return wmi_float_of_bits(read_register(r->s, r->lane, at));
    return wmi_float_of_bits(wmi_float_of_half(read_register(r->s, r->lane, at / 2) >> at % 2 * 16));
}

/* 16-bit values follow from a register on, or end within one. */
static void read_halves(struct reader *r, bool halves)
{
    if (halves && !r->halves)
        r->next *= 2;
    else if (!halves && r->halves)
        r->next = (r->next + 1) / 2;
    else if (halves)
        r->next += r->next & 1;
    r->halves = halves;
}

/* A lane's address. */
struct address {
    int offset[AXES];
    double bias, reference, last; /* last: the level, or its lower bound */
    double gradient[2][AXES];
    double coordinate[AXES], slice;
};

/* Six signed bits for each axis, at bits 0, 8 and 16. Source: RDNA 2 ISA, "Image address VGPRs", offset. */
static void read_offsets(struct reader *r, struct address *a)
{
    const uint32_t word = read_register(r->s, r->lane, r->next++);
    for (unsigned i = 0; i < AXES; i++)
        a->offset[i] = (int)((word >> 8 * i & 63) ^ 32) - 32;
}

static unsigned gradients_of(struct wmi_sample_dims dims)
{
    return dims.axes;
}

static struct address read_address(const struct sampling *s, unsigned lane)
{
    const struct wmi_sample_request *q = &s->request;
    struct reader r = {.s = s, .lane = lane};
    struct address a = {.last = 0};
    if (q->offset)
        read_offsets(&r, &a);
    if (q->level == WMI_LEVEL_BIAS) { /* fills a register in any case (LLVM, packImage16bitOpsToDwords) */
        read_halves(&r, q->a16);
        a.bias = read_number(&r);
        read_halves(&r, false);
    }
    if (q->compare)
        a.reference = read_number(&r);
    for (unsigned direction = 0; q->level == WMI_LEVEL_GRADIENTS && direction < 2; direction++) {
        read_halves(&r, q->g16);
        for (unsigned i = 0; i < gradients_of(s->dims); i++)
            a.gradient[direction][i] = read_number(&r);
    }
    read_halves(&r, false);
    read_halves(&r, q->a16);
    for (unsigned i = 0; i < s->dims.axes; i++)
        a.coordinate[i] = read_number(&r);
    if (s->dims.slice)
        a.slice = read_number(&r);
    if (q->bound || q->level == WMI_LEVEL_GIVEN)
        a.last = read_number(&r);
    return a;
}

/* The differences of coordinates between the first lane of a quad and its right and lower neighbours, whether
 * they are active or not (unverified). */
static void differences(const struct sampling *s, unsigned lane, double gradient[2][AXES])
{
    const unsigned first = lane & ~(QUAD - 1u);
    const struct address a = read_address(s, first);
    for (unsigned direction = 0; direction < 2; direction++) {
        const struct address b = read_address(s, first + 1 + direction);
        for (unsigned i = 0; i < AXES; i++)
            gradient[direction][i] = b.coordinate[i] - a.coordinate[i];
    }
}

/* The level of detail before it is bounded. */
static double raw_level(const struct sampling *s, const struct address *a, unsigned lane)
{
    double gradient[2][AXES];
    switch ((enum wmi_sample_level)s->request.level) {
    case WMI_LEVEL_GIVEN:
        return a->last;
    case WMI_LEVEL_ZERO:
        return 0;
    case WMI_LEVEL_GRADIENTS:
        return wmi_sample_lod(s->image, &s->sampler, s->dims, a->gradient[0], a->gradient[1]);
    default:
        differences(s, lane, gradient);
        return wmi_sample_lod(s->image, &s->sampler, s->dims, gradient[0], gradient[1]) + a->bias;
    }
}

/* Vulkan adds the sampler's bias to levels that are given, too; RADV uses *_lz for a given 0 only if there is
 * none (unverified). */
static double bounded_level(const struct sampling *s, const struct address *a, double raw)
{
    const double least = s->request.bound ? a->last : 0;
    return wmi_sample_limit(s->image, &s->sampler, raw, s->request.level != WMI_LEVEL_ZERO, least);
}

static struct wmi_sample_place place_of(const struct sampling *s, const struct address *a, unsigned lane)
{
    struct wmi_sample_place place = {.slice = a->slice};
    memcpy(place.coordinate, a->coordinate, sizeof place.coordinate);
    memcpy(place.offset, a->offset, sizeof place.offset);
    place.lod = bounded_level(s, a, raw_level(s, a, lane));
    return place;
}

static void footprint_of(const struct sampling *s, const struct address *a, unsigned lane,
                         struct wmi_footprint *f)
{
    const struct wmi_sample_place place = place_of(s, a, lane);
    if (!s->image->format.layout->bytes)
        f->count = 0;
    else if (s->request.action == WMI_SAMPLE_GATHER)
        wmi_gather_footprint(s->image, &s->sampler, s->dims, &place, s->request.row, f);
    else
        wmi_sample_footprint(s->image, &s->sampler, s->dims, &place, f);
}

/* ---- values ---- */

/* The texels of a lane, each as 4 components of 32 bits; or of 16 bits if only one counts and needs no sum.
 */
struct texels {
    struct wmi_footprint footprint;
    uint32_t value[WMI_SAMPLE_TAPS][4];
    bool half;
    uint64_t low, high; /* addresses that are not accessible; low > high: none */
};

static void fetch(const struct sampling *s, const struct address *a, unsigned lane, struct texels *t)
{
    const struct wmi_memory_op *m = s->op->data;
    const struct wmi_worker *worker = wmi_wave_of(s->frame)->worker;
    struct wmi_hit *hit = (struct wmi_hit *)&worker->hits[m->hit];
    const unsigned bytes = s->image->format.layout->bytes;
    footprint_of(s, a, lane, &t->footprint);
    if (wmi_sample_integers(s->image) && s->request.action == WMI_SAMPLE_FILTER && t->footprint.count > 1)
        t->footprint.count = 1; /* unverified: integers are not filtered */
    t->half = s->request.d16 && !s->request.compare &&
              (s->request.action == WMI_SAMPLE_GATHER || t->footprint.count <= 1);
    t->low = UINT64_MAX;
    t->high = 0;
    for (unsigned i = 0; i < t->footprint.count; i++) {
        const struct wmi_tap *tap = &t->footprint.tap[i];
        unsigned char texel[TEXEL_BYTES] = {0};
        if (!tap->border) {
            const uint64_t address = wmi_texel_address(s->image, &tap->texel);
            const unsigned char *host = wmi_vmem_reach(worker, hit, address, bytes);
            if (host)
                wmi_read_guest(texel, host, bytes);
            t->low = host || address > t->low ? t->low : address;
            t->high = host || address < t->high ? t->high : address;
        }
        wmi_sample_texel(s->image, &s->sampler, &tap->texel, tap->border ? NULL : texel, t->half,
                         t->value[i]);
    }
}

static uint32_t bits_of(const struct sampling *s, double x)
{
    const float rounded = (float)x;
    uint32_t bits;
    memcpy(&bits, &rounded, sizeof bits);
    return s->request.d16 ? wmi_half_of_float(bits) : bits;
}

static double component(const struct sampling *s, const struct texels *t, double reference, unsigned tap,
                        unsigned i)
{
    if (s->request.compare)
        return i ? 0 : wmi_sample_compare(s->image, &s->sampler, reference, t->value[tap][0]);
    return wmi_float_of_bits(t->value[tap][i]);
}

/* Component i of the filtered texels. */
static double combined(const struct sampling *s, const struct texels *t, double reference, unsigned i)
{
    double result = 0;
    for (unsigned tap = 0; tap < t->footprint.count; tap++) {
        const double x = component(s, t, reference, tap, i);
        if (s->sampler.mode == WMI_FILTER_BLEND)
            result += t->footprint.tap[tap].weight * x;
        else if (!tap || (s->sampler.mode == WMI_FILTER_MIN ? x < result : x > result))
            result = x;
    }
    return result;
}

static void filter(const struct sampling *s, const struct texels *t, double reference, uint32_t value[4])
{
    const bool whole = t->footprint.count <= 1 && !s->request.compare;
    for (unsigned i = 0; i < 4; i++)
        value[i] = whole ? t->footprint.count ? t->value[0][i] : 0 : bits_of(s, combined(s, t, reference, i));
    if (s->image->bound)
        wmi_format_select_load(&s->image->format, s->image->select, s->request.d16, value);
}

/* DMASK has one bit: the component that is gathered (unverified with several: the lowest). */
static void gather(const struct sampling *s, const struct texels *t, double reference, uint32_t value[4])
{
    const unsigned wanted = s->request.dmask ? (unsigned)__builtin_ctz(s->request.dmask) : 0;
    for (unsigned i = 0; i < WMI_GATHER_TAPS; i++) {
        uint32_t texel[4] = {0};
        if (i < t->footprint.count && s->request.compare)
            texel[0] = bits_of(s, component(s, t, reference, i, 0));
        else if (i < t->footprint.count)
            memcpy(texel, t->value[i], sizeof texel);
        if (s->image->bound)
            wmi_format_select_load(&s->image->format, s->image->select, s->request.d16, texel);
        value[i] = texel[wanted & 3];
    }
}

/* ---- flat samples: the same values, without lists of texels ---- */

static bool is_flat(const struct sampling *s)
{
    return s->request.action == WMI_SAMPLE_FILTER && !s->request.compare && !s->request.d16 &&
           s->sampler.mode == WMI_FILTER_BLEND && s->image->format.layout->bytes &&
           !wmi_sample_integers(s->image) && wmi_sample_is_flat(s->image, &s->sampler, s->dims);
}

/* Whether all texels are accessible. */
static bool sample_flat(const struct sampling *s, const struct address *a, uint32_t value[4])
{
    const struct wmi_memory_op *m = s->op->data;
    const struct wmi_worker *worker = wmi_wave_of(s->frame)->worker;
    struct wmi_hit *hit = (struct wmi_hit *)&worker->hits[m->hit];
    struct wmi_sample_place place = {.lod = 0};
    struct wmi_axis_texels span[AXES];
    double sum[4] = {0};
    memcpy(place.coordinate, a->coordinate, sizeof place.coordinate);
    memcpy(place.offset, a->offset, sizeof place.offset);
    wmi_sample_spans(s->image, &s->sampler, s->dims, &place, 0, false, span);
    for (unsigned corner = 0; corner < 4; corner++) {
        const unsigned i = corner & 1, j = corner >> 1;
        const double weight =
            (i ? span[0].second : 1 - span[0].second) * (j ? span[1].second : 1 - span[1].second);
        const int32_t x = span[0].texel[i], y = span[1].texel[j];
        const struct wmi_texel texel = {.x = (uint32_t)x, .y = (uint32_t)y};
        const unsigned char *from = NULL;
        if (weight <= 0)
            continue;
        if (x >= 0 && y >= 0) {
            from = wmi_vmem_reach(worker, hit, wmi_texel_address(s->image, &texel),
                                  s->image->format.layout->bytes);
            if (!from)
                return false;
        }
        wmi_sample_texel(s->image, &s->sampler, &texel, from, false, value);
        if (weight >= 1)
            break;
        for (unsigned c = 0; c < 4; c++)
            sum[c] += weight * wmi_float_of_bits(value[c]);
    }
    const bool whole = span[0].second <= 0 && span[1].second <= 0;
    for (unsigned c = 0; c < 4 && !whole; c++)
        value[c] = bits_of(s, sum[c]);
    wmi_format_select_load(&s->image->format, s->image->select, false, value);
    return true;
}

/* ---- the steps ---- */

static const struct wmi_op *refuse(const struct sampling *s, const char *why)
{
    const struct wmi_memory_op *m = s->op->data;
    const struct wmi_fault fault = {.kind = WM_FAULT_RESOURCE,
                                    .pc = m->pc,
                                    .detail = why,
                                    .lanes = s->lanes,
                                    .bytes = s->image->format.layout->bytes};
    wmi_wave_fault(wmi_wave_of(s->frame), &fault);
    return NULL;
}

/* Reports texels outside memory. Whether the run goes on; the texels then count as 0. */
static bool may_go_on(const struct sampling *s, uint64_t outside, uint64_t low, uint64_t high)
{
    const unsigned bytes = s->image->format.layout->bytes;
    const struct wmi_refused_lanes cause = {WM_FAULT_MEMORY, outside, false};
    if (!outside)
        return true;
    struct wmi_fault fault = wmi_fault_of(s->op->data, &cause, 1, bytes);
    wmi_fault_reaches(&fault, low, bytes);
    wmi_fault_reaches(&fault, high, bytes);
    return wmi_wave_violates(wmi_wave_of(s->frame), &fault);
}

static void write_values(const struct sampling *s, uint64_t lanes, const uint32_t value[][4])
{
    const struct wmi_image_values to = {.offset = s->op->d,
                                        .dmask =
                                            s->request.action == WMI_SAMPLE_GATHER ? 15 : s->request.dmask,
                                        .packed = s->request.d16 && !s->request.unpacked,
                                        .status = s->request.status};
    while (lanes) {
        const unsigned lane = wmi_take_lane(&lanes);
        wmi_image_put(s->frame, &to, lane, value[lane]);
    }
}

const struct wmi_op *wmi_step_sample(char *restrict frame, const struct wmi_op *op)
{
    const struct sampling s = begin(frame, op);
    const char *why = refusal(&s);
    uint32_t value[64][4];
    uint64_t outside = 0, low = UINT64_MAX, high = 0;
    if (why && s.lanes)
        return refuse(&s, why);
    const bool flat = is_flat(&s);
    const uint32_t mode = wmi_host_float_get();
    wmi_host_float_set(wmi_host_float_word(0, 3));
    for (uint64_t left = s.lanes; left;) {
        const unsigned lane = wmi_take_lane(&left);
        const struct address a = read_address(&s, lane);
        struct texels t;
        if (flat && sample_flat(&s, &a, value[lane]))
            continue;
        fetch(&s, &a, lane, &t);
        if (t.low <= t.high)
            outside |= 1ULL << lane;
        low = t.low < low ? t.low : low;
        high = t.high > high ? t.high : high;
        if (s.request.action == WMI_SAMPLE_GATHER)
            gather(&s, &t, a.reference, value[lane]);
        else
            filter(&s, &t, a.reference, value[lane]);
    }
    wmi_host_float_set(mode);
    if (!may_go_on(&s, outside, low, high))
        return NULL;
    write_values(&s, s.lanes, value);
    return op + 1;
}

/* The bounded level and the level before. Source: RDNA 2 ISA, IMAGE_GET_LOD. */
const struct wmi_op *wmi_step_sample_lod(char *restrict frame, const struct wmi_op *op)
{
    const struct sampling s = begin(frame, op);
    const char *why = refusal(&s);
    uint32_t value[64][4];
    if (why && s.lanes)
        return refuse(&s, why);
    const uint32_t mode = wmi_host_float_get();
    wmi_host_float_set(wmi_host_float_word(0, 3));
    for (uint64_t left = s.lanes; left;) {
        const unsigned lane = wmi_take_lane(&left);
        const struct address a = read_address(&s, lane);
        const double raw = raw_level(&s, &a, lane), bounded = bounded_level(&s, &a, raw);
        const double last = s.image->levels ? s.image->levels - 1.0 : 0;
        memset(value[lane], 0, sizeof value[lane]);
        value[lane][0] = bits_of(&s, bounded < last ? bounded : last);
        value[lane][1] = bits_of(&s, raw);
    }
    wmi_host_float_set(mode);
    write_values(&s, s.lanes, value);
    return op + 1;
}

/* Each tap is an element of the access. */
const struct wmi_op *wmi_step_sample_watch(char *restrict frame, const struct wmi_op *op)
{
    static_assert((int)WMI_SAMPLE_TAPS <= (int)WMI_ACCESS_ELEMENTS, "an element for each tap");
    const struct sampling s = begin(frame, op);
    const struct wmi_memory_op *m = op->data;
    const struct wmi_wave *wave = wmi_wave_of(frame);
    uint64_t address[WMI_SAMPLE_TAPS][64];
    struct wmi_access access;
    if (refusal(&s))
        return op + 1; /* the next step faults */
    wmi_access_begin(&access, m, wave, s.lanes);
    access.bytes = s.image->format.layout->bytes;
    memset(access.element, 0, sizeof access.element);
    const uint32_t mode = wmi_host_float_get();
    wmi_host_float_set(wmi_host_float_word(0, 3));
    for (uint64_t left = s.lanes; left;) {
        const unsigned lane = wmi_take_lane(&left);
        const struct address a = read_address(&s, lane);
        struct wmi_footprint f;
        footprint_of(&s, &a, lane, &f);
        for (unsigned i = 0; i < f.count; i++) {
            if (f.tap[i].border)
                continue;
            for (; access.elements <= i; access.elements++)
                access.element[access.elements] =
                    (struct wmi_element){.space = WMI_SPACE_GLOBAL, .address = address[access.elements]};
            access.element[i].mask |= 1ULL << lane;
            address[i][lane] = wmi_texel_address(s.image, &f.tap[i].texel);
        }
    }
    wmi_host_float_set(mode);
    wmi_show_access(wave, m, &access);
    return op + 1;
}
