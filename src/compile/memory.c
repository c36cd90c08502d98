/* SPDX-License-Identifier: MIT */
/* Host code of vector loads and stores of dwords whose addresses follow one another: one check of the
 * addresses and one of the bounds for the wave. All others leave the compiled code for their step and come
 * back. */
#include "compile/stretch.h"

const uint32_t wmi_lane_offset[WMI_STRIPS * WMI_STRIP_LANES] = {
#define FOUR(i)    4 * (i), 4 * (i) + 4, 4 * (i) + 8, 4 * (i) + 12
#define SIXTEEN(i) FOUR(i), FOUR((i) + 4), FOUR((i) + 8), FOUR((i) + 12)
    SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48)};

enum { AHEAD = 2048 }; /* prefetch distance, as in exec/vmem_lanes.c */

static void prefetch(struct wmi_stretch *s, bool for_store)
{
    for (unsigned i = 0; i < s->strips; i++)
        wmi_scalar_memory(&s->host, for_store ? 0x10d : 0x118, false, 1, WMI_RAX,
                          (int32_t)(AHEAD + i * WMI_STRIP_BYTES));
}

/* RAX = the host address of the first lane's dword, if the lanes' dwords follow one another in the allocation
 * that the instruction accessed last; else an exit. */
static bool find_run(struct wmi_stretch *s, const struct wmi_step *step, enum wmi_vmem_form form)
{
    enum { OR_DIFFERENCE = 0xf6 }; /* VPTERNLOGD: d | (a ^ b) */
    const struct wmi_memory_op *m = step->data;
    const bool has_high = form == WMI_VMEM_VADDR;
    const unsigned bytes = 4 * s->lanes;
    const struct wmi_rows low = wmi_stretch_use(s, step->a, true);
    struct wmi_rows high = {.uniform = true};
    if (has_high)
        high = wmi_stretch_use(s, step->a + s->row_bytes, true);
    if (low.uniform)
        return false;
    /* ECX = the first lane's low word, which must not wrap in the last lane. */
    wmi_evex(&s->host, WMI_VMOVD_GPR, low.reg[0], 0, wmi_zmm(WMI_RCX), WMI_NO_MASK, WMI_NO_IMMEDIATE);
    wmi_arithmetic_immediate(&s->host, 7, false, WMI_RCX, -(int32_t)bytes);
    wmi_stretch_exit_if(s, WMI_IF_ABOVE);
    const unsigned differs = wmi_stretch_register(s), expected = wmi_stretch_register(s),
                   first = wmi_stretch_register(s);
    wmi_evex(&s->host, WMI_VPBROADCASTD_GPR, first, 0, wmi_zmm(WMI_RCX), WMI_NO_MASK, WMI_NO_IMMEDIATE);
    wmi_move_immediate(&s->host, WMI_R9, (uintptr_t)wmi_lane_offset);
    for (unsigned i = 0; i < s->strips; i++) {
        wmi_evex(&s->host, WMI_VPADDD, i ? expected : differs, first,
                 wmi_at(WMI_R9, (int32_t)(i * WMI_STRIP_BYTES)), WMI_NO_MASK, WMI_NO_IMMEDIATE);
        if (i)
            wmi_evex(&s->host, WMI_VPTERNLOGD, differs, expected, wmi_zmm(low.reg[i]), WMI_NO_MASK,
                     OR_DIFFERENCE);
        else
            wmi_evex(&s->host, WMI_VPXORD, differs, differs, wmi_zmm(low.reg[0]), WMI_NO_MASK,
                     WMI_NO_IMMEDIATE);
    }
    wmi_scalar_registers(&s->host, WMI_MOV_LOAD, false, WMI_RAX, WMI_RCX);
    if (has_high) {
        wmi_evex(&s->host, WMI_VMOVD_GPR, high.reg[0], 0, wmi_zmm(WMI_RCX), WMI_NO_MASK, WMI_NO_IMMEDIATE);
        if (!high.uniform) {
            wmi_evex(&s->host, WMI_VPBROADCASTD_GPR, first, 0, wmi_zmm(WMI_RCX), WMI_NO_MASK,
                     WMI_NO_IMMEDIATE);
            for (unsigned i = 0; i < s->strips; i++)
                wmi_evex(&s->host, WMI_VPTERNLOGD, differs, first, wmi_zmm(high.reg[i]), WMI_NO_MASK,
                         OR_DIFFERENCE);
        }
        wmi_shift_immediate(&s->host, 4, true, WMI_RCX, 32);
        wmi_scalar_registers(&s->host, WMI_OR, true, WMI_RAX, WMI_RCX);
    } else {
        wmi_scalar_memory(&s->host, WMI_ADD, true, WMI_RAX, WMI_FRAME, (int32_t)step->b);
    }
    wmi_evex(&s->host, WMI_VPTESTMD, WMI_K, differs, wmi_zmm(differs), WMI_NO_MASK, WMI_NO_IMMEDIATE);
    wmi_kortest(&s->host, WMI_K, WMI_K);
    wmi_stretch_exit_if(s, WMI_IF_NOT_EQUAL);
    if (m->offset)
        wmi_arithmetic_immediate(&s->host, 0, true, WMI_RAX, (int32_t)m->offset);
    wmi_stretch_find_hit(s, m);
    wmi_stretch_check_hit(s, bytes);
    return true;
}

static bool is_allowed(const struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_memory_op *m = step->data;
    return !s->partial && m->offset == (int32_t)m->offset;
}

static bool load_run(struct wmi_stretch *s, const struct wmi_step *step, enum wmi_vmem_form form)
{
    if (!is_allowed(s, step) || !find_run(s, step, form))
        return false;
    prefetch(s, false);
    struct wmi_rows d = wmi_stretch_result(s, false);
    for (unsigned i = 0; i < s->strips; i++)
        wmi_evex(&s->host, WMI_VMOVUPS_LOAD, d.reg[i], 0, wmi_at(WMI_RAX, (int32_t)(i * WMI_STRIP_BYTES)),
                 WMI_NO_MASK, WMI_NO_IMMEDIATE);
    wmi_stretch_write(s, step->d, &d);
    wmi_stretch_come_back(s);
    return true;
}

static bool store_run(struct wmi_stretch *s, const struct wmi_step *step, enum wmi_vmem_form form)
{
    enum { TEST = 0xf7, TEST_DIGIT = 0 };
    if (!is_allowed(s, step))
        return false;
    const struct wmi_rows data = wmi_stretch_use(s, step->c, true);
    if (!find_run(s, step, form))
        return false;
    wmi_scalar_memory(&s->host, TEST, false, TEST_DIGIT, WMI_R9, offsetof(struct wmi_hit, flags));
    wmi_put_32(&s->host, s->block->layout->careful);
    wmi_stretch_exit_if(s, WMI_IF_NOT_EQUAL);
    prefetch(s, true);
    for (unsigned i = 0; i < s->strips; i++)
        wmi_evex(&s->host, WMI_VMOVUPS_STORE, wmi_rows_register(&data, i), 0,
                 wmi_at(WMI_RAX, (int32_t)(i * WMI_STRIP_BYTES)), WMI_NO_MASK, WMI_NO_IMMEDIATE);
    wmi_stretch_come_back(s);
    return true;
}

static bool emit_load(struct wmi_stretch *s, const struct wmi_step *step)
{
    return load_run(s, step, WMI_VMEM_VADDR);
}

static bool emit_load_scalar_base(struct wmi_stretch *s, const struct wmi_step *step)
{
    return load_run(s, step, WMI_VMEM_SADDR);
}

static bool emit_store(struct wmi_stretch *s, const struct wmi_step *step)
{
    return store_run(s, step, WMI_VMEM_VADDR);
}

static bool emit_store_scalar_base(struct wmi_stretch *s, const struct wmi_step *step)
{
    return store_run(s, step, WMI_VMEM_SADDR);
}

wmi_emit_step *wmi_memory_emitter(const struct wmi_step *step)
{
    if (step->lanes != offsetof(struct wmi_frame, exec))
        return NULL;
    switch (step->id) {
    case WMI_STEP_global_LOAD_1x4_000_VADDR:
        return emit_load;
    case WMI_STEP_global_LOAD_1x4_000_SADDR:
        return emit_load_scalar_base;
    case WMI_STEP_global_STORE_1x4_000_VADDR:
        return emit_store;
    case WMI_STEP_global_STORE_1x4_000_SADDR:
        return emit_store_scalar_base;
    default:
        return NULL;
    }
}
