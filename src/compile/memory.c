/* SPDX-License-Identifier: MIT */
/* Host code of vector loads and stores of dwords. If all lanes are active and their addresses follow one
 * another, one check of the addresses and one of the bounds is enough for the wave. Others check each lane's
 * address. Lanes outside of the allocation that the instruction accessed last leave the compiled code for
 * their step, which comes back. */
#include "compile/lane_access.h"
#include "compile/runs.h"

const uint32_t wmi_lane_offset[WMI_STRIPS * WMI_STRIP_LANES] = {
#define FOUR(i)    4 * (i), 4 * (i) + 4, 4 * (i) + 8, 4 * (i) + 12
#define SIXTEEN(i) FOUR(i), FOUR((i) + 4), FOUR((i) + 8), FOUR((i) + 12)
    SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48)};

enum { AHEAD = 2048 }; /* prefetch distance, as in exec/vmem_lanes.c */

static void prefetch(struct wmi_stretch *s, bool for_store)
{
    for (unsigned i = 0; i < s->strips; i++)
        wmi_prefetch(&s->host, WMI_RAX, (int32_t)(AHEAD + i * WMI_STRIP_BYTES), for_store);
}

/* What the code for one access needs: its rows, and registers that are taken before the code branches. */
struct access {
    enum wmi_vmem_form form;
    struct wmi_rows low, high; /* the lanes' address registers; `high` only with WMI_VMEM_VADDR */
    struct wmi_rows distance;  /* from the start of the allocation */
    uint8_t scratch[2];
    unsigned last, add_low, add_high, ones; /* see find_distances() */
    unsigned bytes;                         /* per lane */
    size_t not_in_a_run[2];                 /* jumps */
};

static void take_rows(struct wmi_stretch *s, const struct wmi_step *step, struct access *access)
{
    access->low = wmi_stretch_use(s, step->a, true);
    access->high = (struct wmi_rows){.uniform = true};
    if (access->form == WMI_VMEM_VADDR)
        access->high = wmi_stretch_use(s, step->a + s->row_bytes, true);
    /* A FLAT address may lead to private memory, where the same address is another place for each lane. */
    const bool shared = ((const struct wmi_memory_op *)step->data)->path != WMI_PATH_FLAT;
    access->distance = wmi_stretch_result(s, shared && access->low.uniform && access->high.uniform);
    for (unsigned i = 0; i < 2; i++)
        access->scratch[i] = (uint8_t)wmi_stretch_register(s);
    access->last = wmi_stretch_register(s);
    access->add_low = wmi_stretch_register(s);
    access->add_high = wmi_stretch_register(s);
    access->ones = wmi_stretch_register(s);
}

/* RAX = the host address of the first lane's dword, if the lanes' dwords follow one another; else the jumps
 * are taken. Leaves if they are not in the allocation that the instruction accessed last. */
static void find_run(struct wmi_stretch *s, const struct wmi_step *step, struct access *access)
{
    enum { OR_DIFFERENCE = 0xf6 }; /* VPTERNLOGD: d | (a ^ b) */
    const struct wmi_memory_op *m = step->data;
    const unsigned bytes = 4 * s->lanes, differs = access->scratch[0], expected = access->scratch[1],
                   first = access->distance.reg[0];
    /* ECX = the first lane's low word, which must not wrap in the last lane. */
    wmi_evex_plain(&s->host, WMI_VMOVD_GPR, access->low.reg[0], 0, wmi_zmm(WMI_RCX));
    wmi_arithmetic_immediate(&s->host, 7, false, WMI_RCX, -(int32_t)bytes);
    access->not_in_a_run[0] = wmi_jump_if(&s->host, WMI_IF_ABOVE);
    wmi_evex_plain(&s->host, WMI_VPBROADCASTD, first, 0, wmi_zmm(access->low.reg[0]));
    wmi_move_immediate(&s->host, WMI_R9, (uintptr_t)wmi_lane_offset);
    for (unsigned i = 0; i < s->strips; i++) {
        wmi_evex_plain(&s->host, WMI_VPADDD, i ? expected : differs, first,
                       wmi_at(WMI_R9, (int32_t)(i * WMI_STRIP_BYTES)));
        if (i)
            wmi_evex(&s->host, WMI_VPTERNLOGD, differs, expected, wmi_zmm(wmi_rows_register(&access->low, i)),
                     WMI_NO_MASK, OR_DIFFERENCE);
        else
            wmi_evex_plain(&s->host, WMI_VPXORD, differs, differs, wmi_zmm(access->low.reg[0]));
    }
    wmi_scalar_registers(&s->host, WMI_MOV_LOAD, false, WMI_RAX, WMI_RCX);
    if (access->form == WMI_VMEM_VADDR) {
        wmi_evex_plain(&s->host, WMI_VMOVD_GPR, access->high.reg[0], 0, wmi_zmm(WMI_RCX));
        if (!access->high.uniform) {
            wmi_evex_plain(&s->host, WMI_VPBROADCASTD, first, 0, wmi_zmm(access->high.reg[0]));
            for (unsigned i = 0; i < s->strips; i++)
                wmi_evex(&s->host, WMI_VPTERNLOGD, differs, first, wmi_zmm(access->high.reg[i]), WMI_NO_MASK,
                         OR_DIFFERENCE);
        }
        wmi_shift_immediate(&s->host, 4, true, WMI_RCX, 32);
        wmi_scalar_registers(&s->host, WMI_OR, true, WMI_RAX, WMI_RCX);
    } else {
        wmi_scalar_memory(&s->host, WMI_ADD, true, WMI_RAX, WMI_FRAME, (int32_t)step->b);
    }
    wmi_evex_plain(&s->host, WMI_VPTESTMD, WMI_K, differs, wmi_zmm(differs));
    wmi_kortest(&s->host, WMI_K, WMI_K);
    access->not_in_a_run[1] = wmi_jump_if(&s->host, WMI_IF_NOT_EQUAL);
    if (m->offset)
        wmi_arithmetic_immediate(&s->host, 0, true, WMI_RAX, (int32_t)m->offset);
    wmi_stretch_find_hit(s, m);
    wmi_stretch_check_hit(s, bytes);
}

/* RCX = the host address of the allocation that the instruction accessed last, and the lanes' distances from
 * it. Leaves if an active lane is not in it, or not in its first 2 GiB. R9 = wmi_lane_offset. */
static void find_distances(struct wmi_stretch *s, const struct wmi_step *step, const struct access *access)
{
    const struct wmi_memory_op *m = step->data;
    const int32_t low = offsetof(struct wmi_hit, low), high = offsetof(struct wmi_hit, high);
    const bool uniform = access->distance.uniform;
    wmi_stretch_find_hit(s, m);
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_R9, high);
    wmi_scalar_memory(&s->host, WMI_SUB, true, WMI_RAX, WMI_R9, low);
    wmi_arithmetic_immediate(&s->host, 5, true, WMI_RAX, (int32_t)access->bytes);
    wmi_stretch_exit_if(s, WMI_IF_BELOW);
    wmi_move_immediate(&s->host, WMI_RCX, INT32_MAX);
    wmi_scalar_registers(&s->host, WMI_CMP, true, WMI_RAX, WMI_RCX);
    wmi_scalar_registers(&s->host, WMI_CMOV | WMI_IF_ABOVE, true, WMI_RAX, WMI_RCX);
    wmi_access_splat(s, access->last);
    /* What is added to the lanes' registers. */
    if (access->form == WMI_VMEM_SADDR)
        wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_FRAME, (int32_t)step->b);
    else
        wmi_move_immediate(&s->host, WMI_RAX, 0);
    if (m->offset)
        wmi_arithmetic_immediate(&s->host, 0, true, WMI_RAX, (int32_t)m->offset);
    wmi_scalar_memory(&s->host, WMI_SUB, true, WMI_RAX, WMI_R9, low);
    wmi_access_splat(s, access->add_low);
    wmi_shift_immediate(&s->host, 5, true, WMI_RAX, 32);
    wmi_access_splat(s, access->add_high);
    const unsigned add_low = access->add_low, ones = access->ones, far = access->scratch[0];
    wmi_evex(&s->host, WMI_VPTERNLOGD, ones, ones, wmi_zmm(ones), WMI_NO_MASK, 0xff);
    for (unsigned i = 0; i < wmi_rows_strips(s, &access->distance); i++) {
        const unsigned mask = uniform ? WMI_NO_MASK : wmi_access_mask(s, i),
                       distance = access->distance.reg[i], carry = WMI_K + 2;
        wmi_evex_plain(&s->host, WMI_VPADDD, distance, wmi_rows_register(&access->low, i), wmi_zmm(add_low));
        wmi_evex(&s->host, WMI_VPCMPUD, carry, distance, wmi_zmm(add_low), WMI_NO_MASK, WMI_BELOW);
        if (access->form == WMI_VMEM_VADDR)
            wmi_evex_plain(&s->host, WMI_VPADDD, far, wmi_rows_register(&access->high, i),
                           wmi_zmm(access->add_high));
        else
            wmi_evex_plain(&s->host, WMI_VMOVDQA32, far, 0, wmi_zmm(access->add_high));
        wmi_evex(&s->host, WMI_VPSUBD, far, far, wmi_zmm(ones), carry, WMI_NO_IMMEDIATE);
        wmi_access_collect(s, WMI_VPTESTMD, far, far, mask, WMI_NO_IMMEDIATE, !i);
        wmi_access_collect(s, WMI_VPCMPUD, distance, access->last, mask, WMI_ABOVE, false);
    }
    wmi_kortest(&s->host, WMI_K, WMI_K);
    wmi_stretch_exit_if(s, WMI_IF_NOT_EQUAL);
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RCX, WMI_R9, offsetof(struct wmi_hit, host));
}

static void land_scattered(struct wmi_stretch *s, const struct access *access)
{
    wmi_land(&s->host, access->not_in_a_run[0]);
    wmi_land(&s->host, access->not_in_a_run[1]);
}

/* Leaves if stores to the allocation need the slow path. */
static void check_store(struct wmi_stretch *s)
{
    enum { TEST = 0xf7, TEST_DIGIT = 0 };
    wmi_scalar_memory(&s->host, TEST, false, TEST_DIGIT, WMI_R9, offsetof(struct wmi_hit, flags));
    wmi_put_32(&s->host, s->block->layout->careful);
    wmi_stretch_exit_if(s, WMI_IF_NOT_EQUAL);
}

static bool is_allowed(const struct wmi_step *step)
{
    const struct wmi_memory_op *m = step->data;
    return m->offset == (int32_t)m->offset;
}

/* ---- addresses in runs ---- */

/* Whether the dwords of a strip follow one another or, for loads, are the same one. */
static bool is_in_runs(const struct wmi_stretch *s, const struct wmi_step *step, enum wmi_vmem_form form,
                       bool loads)
{
    const bool is_flat = ((const struct wmi_memory_op *)step->data)->path == WMI_PATH_FLAT;
    const int stride = wmi_stretch_stride(s, step->a);
    if (stride != 4 && (stride || !loads || is_flat))
        return false;
    return form == WMI_VMEM_SADDR || (wmi_stretch_has_base(s, step->a + s->row_bytes) &&
                                      wmi_stretch_stride(s, step->a + s->row_bytes) <= 0);
}

/* A register with the host addresses of the strips' first lanes, of 64 bits each. Leaves if a strip is not in
 * the allocation that the instruction accessed last. R9 = the hit. */
static unsigned find_strips(struct wmi_stretch *s, const struct wmi_step *step, enum wmi_vmem_form form)
{
    const uint32_t vpmovzxdq = WMI_EVEX(0x35, WMI_MAP_0F38, WMI_PREFIX_66, 0),
                   vpaddq = WMI_EVEX(0xd4, WMI_MAP_0F, WMI_PREFIX_66, 1),
                   vporq = WMI_EVEX(0xeb, WMI_MAP_0F, WMI_PREFIX_66, 1),
                   vpcmpuq = WMI_EVEX(0x1e, WMI_MAP_0F3A, WMI_PREFIX_66, 1),
                   vpbroadcastq = WMI_EVEX(0x7c, WMI_MAP_0F38, WMI_PREFIX_66, 1),
                   shift_64 = WMI_EVEX(0x73, WMI_MAP_0F, WMI_PREFIX_66, 1);
    enum { LEFT = 6 };
    const struct wmi_memory_op *m = step->data;
    const int32_t first = offsetof(struct wmi_hit, low), end = offsetof(struct wmi_hit, high);
    const struct wmi_rows low = wmi_stretch_use_base(s, step->a);
    const unsigned place = wmi_stretch_register(s), other = wmi_stretch_register(s);
    wmi_evex_plain(&s->host, vpmovzxdq, place, 0, wmi_zmm(low.reg[0]));
    if (form == WMI_VMEM_VADDR) {
        const struct wmi_rows high = wmi_stretch_use_base(s, step->a + s->row_bytes);
        wmi_evex_plain(&s->host, vpmovzxdq, other, 0, wmi_zmm(high.reg[0]));
        wmi_evex(&s->host, shift_64, LEFT, other, wmi_zmm(other), WMI_NO_MASK, 32);
        wmi_evex_plain(&s->host, vporq, place, place, wmi_zmm(other));
    }
    wmi_spread_begin(&s->host);
    wmi_runs_leave_if_wraps(s, low.reg[0], low.stride);
    wmi_stretch_find_hit(s, m);
    /* Distances from the start of the allocation. */
    if (form == WMI_VMEM_SADDR)
        wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_FRAME, (int32_t)step->b);
    else
        wmi_move_immediate(&s->host, WMI_RAX, 0);
    if (m->offset)
        wmi_arithmetic_immediate(&s->host, 0, true, WMI_RAX, (int32_t)m->offset);
    wmi_scalar_memory(&s->host, WMI_SUB, true, WMI_RAX, WMI_R9, first);
    wmi_evex_plain(&s->host, vpbroadcastq, other, 0, wmi_zmm(WMI_RAX));
    wmi_evex_plain(&s->host, vpaddq, place, place, wmi_zmm(other));
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_R9, end);
    wmi_scalar_memory(&s->host, WMI_SUB, true, WMI_RAX, WMI_R9, first);
    wmi_arithmetic_immediate(&s->host, 5, true, WMI_RAX, low.stride ? WMI_STRIP_BYTES : 4);
    wmi_stretch_exit_if(s, WMI_IF_BELOW);
    wmi_evex_plain(&s->host, vpbroadcastq, other, 0, wmi_zmm(WMI_RAX));
    wmi_evex(&s->host, vpcmpuq, WMI_K, place, wmi_zmm(other), WMI_NO_MASK, WMI_ABOVE);
    wmi_kortest(&s->host, WMI_K, WMI_K);
    wmi_stretch_exit_if(s, WMI_IF_NOT_EQUAL);
    struct wmi_host_operand host = wmi_at(WMI_R9, offsetof(struct wmi_hit, host));
    host.broadcast = true;
    wmi_evex_plain(&s->host, vpaddq, place, place, host);
    return place;
}

/* RAX = the host address of a strip. Changes `scratch`. */
static void take_strip(struct wmi_stretch *s, unsigned place, unsigned scratch, unsigned strip)
{
    const uint32_t valignq = WMI_EVEX(0x03, WMI_MAP_0F3A, WMI_PREFIX_66, 1),
                   vmovq = WMI_EVEX(0x7e, WMI_MAP_0F, WMI_PREFIX_66, 1) | WMI_EVEX_128;
    if (strip)
        wmi_evex(&s->host, valignq, scratch, place, wmi_zmm(place), WMI_NO_MASK, (int)strip);
    wmi_evex_plain(&s->host, vmovq, strip ? scratch : place, 0, wmi_zmm(WMI_RAX));
}

static void load_runs(struct wmi_stretch *s, const struct wmi_step *step, enum wmi_vmem_form form)
{
    const bool same = !wmi_stretch_stride(s, step->a);
    struct wmi_rows d = wmi_stretch_result(s, false);
    const unsigned place = find_strips(s, step, form), scratch = wmi_stretch_register(s);
    for (unsigned i = 0; i < s->strips; i++) {
        take_strip(s, place, scratch, i);
        wmi_evex_plain(&s->host, same ? WMI_VPBROADCASTD_MEMORY : WMI_VMOVUPS_LOAD, d.reg[i], 0,
                       wmi_at(WMI_RAX, 0));
        if (!same)
            wmi_prefetch(&s->host, WMI_RAX, AHEAD, false);
    }
    wmi_stretch_write(s, step->d, &d);
}

static void store_runs(struct wmi_stretch *s, const struct wmi_step *step, enum wmi_vmem_form form)
{
    const struct wmi_rows data = wmi_stretch_use(s, step->c, true);
    const unsigned place = find_strips(s, step, form), scratch = wmi_stretch_register(s);
    check_store(s);
    for (unsigned i = 0; i < s->strips; i++) {
        take_strip(s, place, scratch, i);
        wmi_evex_plain(&s->host, WMI_VMOVUPS_STORE, wmi_rows_register(&data, i), 0, wmi_at(WMI_RAX, 0));
        wmi_prefetch(&s->host, WMI_RAX, AHEAD, true);
    }
}

/* ---- the steps ---- */

static bool load(struct wmi_stretch *s, const struct wmi_step *step, enum wmi_vmem_form form)
{
    struct access access = {.form = form, .bytes = 4};
    size_t done = 0;
    if (!is_allowed(step))
        return false;
    if (is_in_runs(s, step, form, true)) {
        load_runs(s, step, form);
        return true;
    }
    take_rows(s, step, &access);
    struct wmi_rows d = wmi_stretch_result(s, access.distance.uniform);
    if (!s->partial && !d.uniform) {
        find_run(s, step, &access);
        prefetch(s, false);
        for (unsigned i = 0; i < s->strips; i++)
            wmi_evex_plain(&s->host, WMI_VMOVUPS_LOAD, d.reg[i], 0,
                           wmi_at(WMI_RAX, (int32_t)(i * WMI_STRIP_BYTES)));
        done = wmi_jump(&s->host);
        land_scattered(s, &access);
    }
    find_distances(s, step, &access);
    wmi_move_immediate(&s->host, WMI_R9, (uintptr_t)wmi_lane_offset);
    wmi_access_load(s, &access.distance, &d, access.scratch, AHEAD);
    if (done)
        wmi_land(&s->host, done);
    wmi_stretch_write(s, step->d, &d);
    wmi_stretch_come_back(s);
    return true;
}

static bool store(struct wmi_stretch *s, const struct wmi_step *step, enum wmi_vmem_form form)
{
    struct access access = {.form = form, .bytes = 4};
    size_t done = 0;
    if (!is_allowed(step))
        return false;
    if (is_in_runs(s, step, form, false)) {
        store_runs(s, step, form);
        return true;
    }
    const struct wmi_rows data = wmi_stretch_use(s, step->c, true);
    take_rows(s, step, &access);
    if (!s->partial && !access.distance.uniform) {
        find_run(s, step, &access);
        check_store(s);
        prefetch(s, true);
        for (unsigned i = 0; i < s->strips; i++)
            wmi_evex_plain(&s->host, WMI_VMOVUPS_STORE, wmi_rows_register(&data, i), 0,
                           wmi_at(WMI_RAX, (int32_t)(i * WMI_STRIP_BYTES)));
        done = wmi_jump(&s->host);
        land_scattered(s, &access);
    }
    find_distances(s, step, &access);
    check_store(s);
    wmi_move_immediate(&s->host, WMI_R9, (uintptr_t)wmi_lane_offset);
    wmi_access_store(s, &access.distance, &data, access.scratch, AHEAD);
    if (done)
        wmi_land(&s->host, done);
    wmi_stretch_come_back(s);
    return true;
}

static bool emit_load(struct wmi_stretch *s, const struct wmi_step *step)
{
    return load(s, step, WMI_VMEM_VADDR);
}

static bool emit_load_scalar_base(struct wmi_stretch *s, const struct wmi_step *step)
{
    return load(s, step, WMI_VMEM_SADDR);
}

static bool emit_store(struct wmi_stretch *s, const struct wmi_step *step)
{
    return store(s, step, WMI_VMEM_VADDR);
}

static bool emit_store_scalar_base(struct wmi_stretch *s, const struct wmi_step *step)
{
    return store(s, step, WMI_VMEM_SADDR);
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
