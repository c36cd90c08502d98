/* SPDX-License-Identifier: MIT */
/* Loads from scalar memory. A wave that starts loads several parts of its arguments, often one behind the
 * other, from one base: there the first load of them checks the range of all, once, and keeps the place of
 * its base on the host. */
#include "compile/scalar_memory.h"

enum {
    MOST_CHECKED = 4096, /* bytes that are checked at once: rather much more than all arguments of a kernel */
    LOOK_AHEAD = 256,    /* steps in which the other loads are */
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

static bool is_load(const struct wmi_step *step, unsigned *dwords)
{
    static const struct {
        enum wmi_step_id id;
        uint8_t dwords;
    } loads[] = {{WMI_STEP_scalar_load_1, 1}, {WMI_STEP_scalar_load_2, 2}, {WMI_STEP_scalar_load_3, 3},
                 {WMI_STEP_scalar_load_4, 4}, {WMI_STEP_scalar_load_8, 8}, {WMI_STEP_scalar_load_16, 16}};
    for (unsigned i = 0; i < sizeof loads / sizeof *loads; i++)
        if (loads[i].id == step->id) {
            *dwords = loads[i].dwords;
            return true;
        }
    return false;
}

/* Whether the scalar at the place of the frame is a constant below 4, which addresses ignore. */
static bool is_zero(const struct wmi_stretch *s, uint32_t place)
{
    const struct wmi_code *code = s->block->code;
    const uint32_t first = offsetof(struct wmi_frame, constant);
    if (place < first || place >= first + 8 * code->scalar_constants)
        return false;
    return (uint32_t)(code->scalar_constant[(place - first) / 8] >> (place - first) % 8 * 8) < 4;
}

/* Whether loads of the step may be checked together with others, from the base at step->a. */
static bool is_plain(const struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_memory_op *m = step->data;
    return is_zero(s, step->b) && m->offset >= 0 && m->offset < MOST_CHECKED;
}

/* The bytes behind the base that this load and those after it read, before the base changes. */
static struct wmi_extent range_ahead(const struct wmi_stretch *s, const struct wmi_step *step,
                                     unsigned dwords)
{
    const struct wmi_block *block = s->block;
    const struct wmi_extent base = {step->a, step->a + 8};
    const uint32_t own = (uint32_t)((const struct wmi_memory_op *)step->data)->offset;
    struct wmi_extent range = {own, own + 4 * dwords};
    for (size_t i = s->at; i + 1 < block->count && i - s->at < LOOK_AHEAD; i++) {
        const struct wmi_step *next = &block->steps[i];
        if (is_load(next, &dwords) && next->a == step->a && is_plain(s, next)) {
            const uint32_t at = (uint32_t)((const struct wmi_memory_op *)next->data)->offset;
            range.from = at < range.from ? at : range.from;
            range.to = at + 4 * dwords > range.to ? at + 4 * dwords : range.to;
        }
        if (wmi_step_writes_scalars(next, base, s->lanes))
            break;
    }
    return range;
}

static bool is_checked(const struct wmi_stretch *s, const struct wmi_step *step, unsigned dwords)
{
    const struct wmi_checked_scalars *checked = &s->checked;
    const struct wmi_extent base = {step->a, step->a + 8};
    const uint32_t at = (uint32_t)((const struct wmi_memory_op *)step->data)->offset;
    if (!checked->is_valid || checked->base != step->a || at < checked->range.from ||
        at + 4 * dwords > checked->range.to)
        return false;
    for (size_t i = checked->step; i < s->at; i++)
        if (wmi_step_writes_scalars(&s->block->steps[i], base, s->lanes))
            return false;
    return true;
}

/* RAX = the base's place on the host, if it is in the allocation that the instruction accessed last, with all
 * that is loaded from it. */
static void find_base(struct wmi_stretch *s, const struct wmi_step *step, unsigned dwords)
{
    const int32_t kept = offsetof(struct wmi_frame, scalar_base);
    struct wmi_checked_scalars *checked = &s->checked;
    if (is_checked(s, step, dwords)) {
        wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_FRAME, kept);
        return;
    }
    const struct wmi_extent range = range_ahead(s, step, dwords);
    *checked = (struct wmi_checked_scalars){.is_valid = true, .step = s->at, .base = step->a, .range = range};
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
static void find_place(struct wmi_stretch *s, const struct wmi_step *step, unsigned dwords)
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
    wmi_stretch_check_hit(s, 4 * dwords);
}

bool wmi_scalar_load(struct wmi_stretch *s, const struct wmi_step *step, unsigned dwords)
{
    const struct wmi_memory_op *m = step->data;
    const uint32_t vmovups_load = WMI_EVEX_OF(0x10, WMI_MAP_0F, 0, 0, 4) | WMI_EVEX_128,
                   vmovups_store = WMI_EVEX_OF(0x11, WMI_MAP_0F, 0, 0, 4) | WMI_EVEX_128;
    int32_t from = 0;
    if (m->offset != (int32_t)m->offset)
        return false;
    if (s->version == WMI_LAUNCH && is_plain(s, step)) {
        find_base(s, step, dwords);
        from = (int32_t)m->offset;
    } else {
        find_place(s, step, dwords);
    }
    /* In as few stores as possible: a later load of two dwords that were stored apart waits for both. */
    for (unsigned i = 0; i < dwords && dwords < 4; i += 2) {
        const bool two = dwords - i > 1;
        wmi_scalar_memory(&s->host, WMI_MOV_LOAD, two, WMI_RCX, WMI_RAX, from + (int32_t)(4 * i));
        wmi_scalar_memory(&s->host, WMI_MOV_STORE, two, WMI_RCX, WMI_FRAME, (int32_t)(step->d + 4 * i));
    }
    const unsigned reg = dwords < 4 ? 0 : wmi_stretch_register(s);
    for (unsigned i = 0; i < dwords && dwords >= 4; i += 4) {
        wmi_evex_plain(&s->host, vmovups_load, reg, 0, wmi_at(WMI_RAX, from + (int32_t)(4 * i)));
        wmi_evex_plain(&s->host, vmovups_store, reg, 0, wmi_at(WMI_FRAME, (int32_t)(step->d + 4 * i)));
    }
    wmi_stretch_come_back(s);
    return true;
}
