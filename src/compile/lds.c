/* SPDX-License-Identifier: MIT */
/* Host code of LDS reads and writes of dwords, for waves in which all lanes are active and all places are in
 * range. Each strip of lanes finds out whether its places follow one another, are the same, or neither. */
#include "compile/stretch.h"

enum { ABOVE = 6, DIFFERS = 4 }; /* immediates of VPCMPUD */

/* The places of the lanes in the LDS, in bytes. */
static struct wmi_rows places_of(struct wmi_stretch *s, const struct wmi_rows *addresses, uint32_t offset)
{
    if (!offset)
        return *addresses;
    struct wmi_rows places = wmi_stretch_result(s, addresses->uniform);
    const unsigned reg = wmi_stretch_register(s);
    wmi_move_immediate(&s->host, WMI_RAX, offset);
    wmi_evex(&s->host, WMI_VPBROADCASTD_GPR, reg, 0, wmi_zmm(WMI_RAX), WMI_NO_MASK, WMI_NO_IMMEDIATE);
    for (unsigned i = 0; i < wmi_rows_strips(s, &places); i++)
        wmi_evex(&s->host, WMI_VPADDD, places.reg[i], wmi_rows_register(addresses, i), wmi_zmm(reg),
                 WMI_NO_MASK, WMI_NO_IMMEDIATE);
    return places;
}

/* RCX = the LDS of the workgroup, R9 = wmi_lane_offset; returns a register with the last place of a dword. */
static unsigned find_lds(struct wmi_stretch *s)
{
    const struct wmi_compile_layout *layout = s->block->layout;
    const unsigned last = wmi_stretch_register(s);
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_FRAME, offsetof(struct wmi_frame, wave));
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_RAX, (int32_t)layout->wave_group);
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RCX, WMI_RAX, (int32_t)layout->group_lds);
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, false, WMI_RAX, WMI_RAX, (int32_t)layout->group_lds_size);
    wmi_arithmetic_immediate(&s->host, 5, false, WMI_RAX, 4);
    wmi_stretch_exit_if(s, WMI_IF_BELOW);
    wmi_evex(&s->host, WMI_VPBROADCASTD_GPR, last, 0, wmi_zmm(WMI_RAX), WMI_NO_MASK, WMI_NO_IMMEDIATE);
    wmi_move_immediate(&s->host, WMI_R9, (uintptr_t)wmi_lane_offset);
    return last;
}

/* Leaves if a place is out of range. */
static void check_range(struct wmi_stretch *s, const struct wmi_rows *places, unsigned last)
{
    for (unsigned i = 0; i < wmi_rows_strips(s, places); i++) {
        wmi_evex(&s->host, WMI_VPCMPUD, i ? WMI_K + 1 : WMI_K, places->reg[i], wmi_zmm(last), WMI_NO_MASK,
                 ABOVE);
        if (i)
            wmi_mask(&s->host, WMI_KOR, WMI_K, WMI_K, WMI_K + 1);
    }
    wmi_kortest(&s->host, WMI_K, WMI_K);
    wmi_stretch_exit_if(s, WMI_IF_NOT_EQUAL);
}

/* RAX = RCX + the place of the strip's first lane; `distance` = from there to each lane. */
static void find_first(struct wmi_stretch *s, unsigned place, unsigned distance)
{
    wmi_evex(&s->host, WMI_VMOVD_GPR, place, 0, wmi_zmm(WMI_RAX), WMI_NO_MASK, WMI_NO_IMMEDIATE);
    wmi_evex(&s->host, WMI_VPBROADCASTD, distance, 0, wmi_zmm(place), WMI_NO_MASK, WMI_NO_IMMEDIATE);
    wmi_evex(&s->host, WMI_VPSUBD, distance, place, wmi_zmm(distance), WMI_NO_MASK, WMI_NO_IMMEDIATE);
    wmi_scalar_registers(&s->host, WMI_ADD, true, WMI_RAX, WMI_RCX);
}

/* A jump taken if the lanes' places do not follow one another. */
static size_t unless_in_a_run(struct wmi_stretch *s, unsigned distance)
{
    wmi_evex(&s->host, WMI_VPCMPUD, WMI_K, distance, wmi_at(WMI_R9, 0), WMI_NO_MASK, DIFFERS);
    wmi_kortest(&s->host, WMI_K, WMI_K);
    return wmi_jump_if(&s->host, WMI_IF_NOT_EQUAL);
}

static struct wmi_rows read_dwords(struct wmi_stretch *s, const struct wmi_rows *places)
{
    struct wmi_rows d = wmi_stretch_result(s, places->uniform);
    const unsigned distance = wmi_stretch_register(s);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++) {
        const unsigned place = places->reg[i];
        size_t scattered = 0, done = 0;
        find_first(s, place, distance);
        if (!places->uniform) {
            const size_t not_in_a_run = unless_in_a_run(s, distance);
            wmi_evex(&s->host, WMI_VMOVUPS_LOAD, d.reg[i], 0, wmi_at(WMI_RAX, 0), WMI_NO_MASK,
                     WMI_NO_IMMEDIATE);
            done = wmi_jump(&s->host);
            wmi_land(&s->host, not_in_a_run);
            wmi_evex(&s->host, WMI_VPTESTMD, WMI_K, distance, wmi_zmm(distance), WMI_NO_MASK,
                     WMI_NO_IMMEDIATE);
            wmi_kortest(&s->host, WMI_K, WMI_K);
            scattered = wmi_jump_if(&s->host, WMI_IF_NOT_EQUAL);
        }
        wmi_evex(&s->host, WMI_VPBROADCASTD_MEMORY, d.reg[i], 0, wmi_at(WMI_RAX, 0), WMI_NO_MASK,
                 WMI_NO_IMMEDIATE);
        if (!places->uniform) {
            const size_t end = wmi_jump(&s->host);
            wmi_land(&s->host, scattered);
            wmi_mask(&s->host, WMI_KXNOR, WMI_K, WMI_K, WMI_K);
            wmi_evex_indexed(&s->host, WMI_VPGATHERDD, d.reg[i], WMI_RCX, place, WMI_K);
            wmi_land(&s->host, end);
            wmi_land(&s->host, done);
        }
    }
    return d;
}

/* In the order of lanes: of those that write the same place, the highest one wins. */
static void write_dwords(struct wmi_stretch *s, const struct wmi_rows *places, const struct wmi_rows *data)
{
    const unsigned distance = wmi_stretch_register(s);
    for (unsigned i = 0; i < s->strips; i++) {
        const unsigned place = wmi_rows_register(places, i), value = wmi_rows_register(data, i);
        find_first(s, place, distance);
        const size_t not_in_a_run = unless_in_a_run(s, distance);
        wmi_evex(&s->host, WMI_VMOVUPS_STORE, value, 0, wmi_at(WMI_RAX, 0), WMI_NO_MASK, WMI_NO_IMMEDIATE);
        const size_t done = wmi_jump(&s->host);
        wmi_land(&s->host, not_in_a_run);
        wmi_mask(&s->host, WMI_KXNOR, WMI_K, WMI_K, WMI_K);
        wmi_evex_indexed(&s->host, WMI_VPSCATTERDD, value, WMI_RCX, place, WMI_K);
        wmi_land(&s->host, done);
    }
}

static bool emit_read(struct wmi_stretch *s, const struct wmi_step *step)
{
    if (s->partial)
        return false;
    const struct wmi_rows addresses = wmi_stretch_use(s, step->a, true);
    const struct wmi_rows places = places_of(s, &addresses, step->x);
    check_range(s, &places, find_lds(s));
    struct wmi_rows d = read_dwords(s, &places);
    wmi_stretch_write(s, step->d, &d);
    wmi_stretch_come_back(s);
    return true;
}

static bool emit_read2(struct wmi_stretch *s, const struct wmi_step *step)
{
    if (s->partial)
        return false;
    const struct wmi_rows addresses = wmi_stretch_use(s, step->a, true);
    const struct wmi_rows first = places_of(s, &addresses, step->x),
                          second = places_of(s, &addresses, step->y);
    const unsigned last = find_lds(s);
    check_range(s, &first, last);
    check_range(s, &second, last);
    struct wmi_rows d = read_dwords(s, &first), e = read_dwords(s, &second);
    wmi_stretch_write(s, step->d, &d);
    wmi_stretch_write(s, step->d + s->row_bytes, &e);
    wmi_stretch_come_back(s);
    return true;
}

static bool emit_write(struct wmi_stretch *s, const struct wmi_step *step)
{
    if (s->partial)
        return false;
    const struct wmi_rows addresses = wmi_stretch_use(s, step->a, true),
                          data = wmi_stretch_use(s, step->b, true);
    const struct wmi_rows places = places_of(s, &addresses, step->x);
    check_range(s, &places, find_lds(s));
    write_dwords(s, &places, &data);
    wmi_stretch_come_back(s);
    return true;
}

static bool emit_write2(struct wmi_stretch *s, const struct wmi_step *step)
{
    if (s->partial)
        return false;
    const struct wmi_rows addresses = wmi_stretch_use(s, step->a, true),
                          data = wmi_stretch_use(s, step->b, true), more = wmi_stretch_use(s, step->c, true);
    const struct wmi_rows first = places_of(s, &addresses, step->x),
                          second = places_of(s, &addresses, step->y);
    const unsigned last = find_lds(s);
    check_range(s, &first, last);
    check_range(s, &second, last);
    write_dwords(s, &first, &data);
    write_dwords(s, &second, &more);
    wmi_stretch_come_back(s);
    return true;
}

wmi_emit_step *wmi_lds_emitter(const struct wmi_step *step)
{
    if (step->lanes != offsetof(struct wmi_frame, exec))
        return NULL;
    switch (step->id) {
    case WMI_STEP_lds_read_b32:
        return emit_read;
    case WMI_STEP_lds_read2_b32:
        return emit_read2;
    case WMI_STEP_lds_write_b32:
        return emit_write;
    case WMI_STEP_lds_write2_b32:
        return emit_write2;
    default:
        return NULL;
    }
}
