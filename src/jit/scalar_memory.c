/* SPDX-License-Identifier: MIT */
/* Loads from scalar memory. A wave that starts usually loads its arguments in several parts, from one base.
 * There the first load checks the range of all of them, and keeps the base's place on the host. */
#include "jit/scalar_memory.h"

enum {
    MOST_CHECKED = 4096, /* offsets below this are checked together; few kernels have more arguments */
    LOOK_AHEAD = 256,    /* steps in which other loads are looked for */
};

/* 1 + the step of the stretch that wrote the scalar last, or 0. */
static size_t last_writer(const struct wmi_stretch *s, uint32_t place)
{
    const struct wmi_extent span = {place, place + 4};
    size_t step = s->at;
    while (step > s->from && !wmi_step_writes_scalars(&s->block->steps[step - 1], span, s->lanes))
        step--;
    return step > s->from ? step : 0;
}

bool wmi_scalars_are_together(const struct wmi_stretch *s, uint32_t place)
{
    return last_writer(s, place) == last_writer(s, place + 4);
}

void wmi_scalars_load_pair(struct wmi_stretch *s, enum wmi_gpr reg, uint32_t place)
{
    if (wmi_scalars_are_together(s, place)) {
        wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, reg, WMI_FRAME, (int32_t)place);
        return;
    }
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, false, reg, WMI_FRAME, (int32_t)place);
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, false, WMI_RCX, WMI_FRAME, (int32_t)place + 4);
    wmi_shift_immediate(&s->host, 4, true, WMI_RCX, 32);
    wmi_scalar_registers(&s->host, WMI_OR, true, reg, WMI_RCX);
}

/* How many dwords the step loads; 0: it is another step. */
static unsigned dwords_of(const struct wmi_step *step)
{
    static const uint8_t dwords[WMI_STEP_COUNT] = {
        [WMI_STEP_scalar_load_1] = 1, [WMI_STEP_scalar_load_2] = 2, [WMI_STEP_scalar_load_3] = 3,
        [WMI_STEP_scalar_load_4] = 4, [WMI_STEP_scalar_load_8] = 8, [WMI_STEP_scalar_load_16] = 16,
    };
    return dwords[step->id];
}

/* The bytes behind its base that it reads, for an offset below MOST_CHECKED. */
static struct wmi_extent range_of(const struct wmi_step *step)
{
    const uint32_t from = (uint32_t)((const struct wmi_memory_op *)step->data)->offset;
    return (struct wmi_extent){from, from + 4 * dwords_of(step)};
}

/* The step of the stretch that has given the scalar its value, if that is a constant of the step; or NULL. */
static const struct wmi_step *find_constant(const struct wmi_stretch *s, uint32_t place)
{
    enum { LOOK_BACK = 16 };
    const struct wmi_extent span = {place, place + 4};
    for (size_t i = s->at; i > s->from && s->at - i < LOOK_BACK && !s->block->leads[i]; i--) {
        const struct wmi_step *step = &s->block->steps[i - 1];
        if (step->id == WMI_STEP_constant && step->d == place)
            return step;
        if (wmi_step_writes_scalars(step, span, s->lanes))
            return NULL;
    }
    return NULL;
}

bool wmi_scalar_constant(const struct wmi_stretch *s, uint32_t place, uint32_t *value)
{
    const struct wmi_code *code = s->block->code;
    const uint32_t first = offsetof(struct wmi_frame, constant);
    if (place < first || place >= first + 8 * code->scalar_constants) {
        const struct wmi_step *step = find_constant(s, place);
        if (step)
            *value = (uint32_t)step->value;
        return step;
    }
    *value = (uint32_t)(code->scalar_constant[(place - first) / 8] >> (place - first) % 8 * 8);
    return true;
}

/* Whether the scalar at the place of the frame is a constant below 4, which addresses ignore. */
static bool is_zero(const struct wmi_stretch *s, uint32_t place)
{
    uint32_t value;
    return wmi_scalar_constant(s, place, &value) && value < 4;
}

/* Whether loads of the step may be checked together with others, from the base at step->a. */
static bool is_plain(const struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_memory_op *m = step->data;
    return is_zero(s, step->b) && m->offset >= 0 && m->offset < MOST_CHECKED;
}

/* What this load and those after it read behind the base, before that changes. */
static struct wmi_extent range_ahead(const struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_block *block = s->block;
    const struct wmi_extent base = {step->a, step->a + 8};
    struct wmi_extent all = range_of(step);
    for (size_t i = s->at; i + 1 < block->count && i - s->at < LOOK_AHEAD; i++) {
        const struct wmi_step *next = &block->steps[i];
        if (dwords_of(next) && next->a == step->a && is_plain(s, next)) {
            const struct wmi_extent range = range_of(next);
            all.from = range.from < all.from ? range.from : all.from;
            all.to = range.to > all.to ? range.to : all.to;
        }
        if (wmi_step_writes_scalars(next, base, s->lanes))
            break;
    }
    return all;
}

static bool is_checked(const struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_checked_scalars *checked = &s->checked;
    const struct wmi_extent base = {step->a, step->a + 8}, range = range_of(step);
    if (!checked->is_valid || checked->base != step->a || range.from < checked->range.from ||
        range.to > checked->range.to)
        return false;
    for (size_t i = checked->step; i < s->at; i++)
        if (wmi_step_writes_scalars(&s->block->steps[i], base, s->lanes))
            return false;
    return true;
}

/* RAX = the base's place on the host. Leaves if it is not in the allocation that the instruction accessed
 * last, with all that is loaded from it. */
static void find_base(struct wmi_stretch *s, const struct wmi_step *step)
{
    const int32_t kept = offsetof(struct wmi_frame, compiled.scalar_base);
    if (is_checked(s, step)) {
        wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_FRAME, kept);
        return;
    }
    const struct wmi_extent range = range_ahead(s, step);
    s->checked =
        (struct wmi_checked_scalars){.is_valid = true, .step = s->at, .base = step->a, .range = range};
    wmi_stretch_find_hit(s, step->data);
    wmi_scalars_load_pair(s, WMI_RAX, step->a);
    wmi_arithmetic_immediate(&s->host, 4, true, WMI_RAX, ~3);
    if (range.from)
        wmi_arithmetic_immediate(&s->host, 0, true, WMI_RAX, (int32_t)range.from);
    wmi_stretch_check_hit(s, range.to - range.from);
    if (range.from)
        wmi_arithmetic_immediate(&s->host, 5, true, WMI_RAX, (int32_t)range.from);
    wmi_scalar_memory(&s->host, WMI_MOV_STORE, true, WMI_RAX, WMI_FRAME, kept);
}

/* RAX = the place of what is loaded on the host. */
static void find_place(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_memory_op *m = step->data;
    wmi_stretch_find_hit(s, m);
    wmi_scalars_load_pair(s, WMI_RAX, step->a);
    wmi_arithmetic_immediate(&s->host, 4, true, WMI_RAX, ~3);
    if (!is_zero(s, step->b)) {
        wmi_scalar_memory(&s->host, WMI_MOV_LOAD, false, WMI_RCX, WMI_FRAME, (int32_t)step->b);
        wmi_arithmetic_immediate(&s->host, 4, false, WMI_RCX, ~3);
        wmi_scalar_registers(&s->host, WMI_ADD, true, WMI_RAX, WMI_RCX);
    }
    if (m->offset)
        wmi_arithmetic_immediate(&s->host, 0, true, WMI_RAX, (int32_t)m->offset);
    wmi_stretch_check_hit(s, 4 * dwords_of(step));
}

/* The dwords at RAX + displacement, in as few stores as possible. */
static void move_dwords(struct wmi_stretch *s, const struct wmi_step *step, int32_t displacement)
{
    const uint32_t vmovups_load = WMI_EVEX_OF(0x10, WMI_MAP_0F, 0, 0, 4) | WMI_EVEX_128,
                   vmovups_store = WMI_EVEX_OF(0x11, WMI_MAP_0F, 0, 0, 4) | WMI_EVEX_128;
    const int32_t d = (int32_t)step->d, bytes = 4 * (int32_t)dwords_of(step);
    if (bytes >= 16) {
        const unsigned reg = wmi_stretch_register(s);
        for (int32_t at = 0; at < bytes; at += 16) {
            wmi_evex_plain(&s->host, vmovups_load, reg, 0, wmi_at(WMI_RAX, displacement + at));
            wmi_evex_plain(&s->host, vmovups_store, reg, 0, wmi_at(WMI_FRAME, d + at));
        }
        return;
    }
    for (int32_t at = 0; at < bytes; at += 8) {
        const bool two = bytes - at > 4;
        wmi_scalar_memory(&s->host, WMI_MOV_LOAD, two, WMI_RCX, WMI_RAX, displacement + at);
        wmi_scalar_memory(&s->host, WMI_MOV_STORE, two, WMI_RCX, WMI_FRAME, d + at);
    }
}

bool wmi_scalar_load(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_memory_op *m = step->data;
    if (m->offset != (int32_t)m->offset)
        return false;
    if (s->version == WMI_LAUNCH && is_plain(s, step)) {
        find_base(s, step);
        move_dwords(s, step, (int32_t)m->offset);
    } else {
        find_place(s, step);
        move_dwords(s, step, 0);
    }
    wmi_stretch_come_back(s);
    return true;
}
