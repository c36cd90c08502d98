/* SPDX-License-Identifier: MIT */
/* Host code of LDS reads and writes of dwords whose places are all in range. */
#include "compile/lane_access.h"

/* The places of the lanes in the LDS, in bytes. */
static struct wmi_rows places_of(struct wmi_stretch *s, const struct wmi_rows *addresses, uint32_t offset)
{
    if (!offset)
        return *addresses;
    struct wmi_rows places = wmi_stretch_result(s, addresses->uniform);
    const unsigned reg = wmi_stretch_register(s);
    wmi_move_immediate(&s->host, WMI_RAX, offset);
    wmi_evex_plain(&s->host, WMI_VPBROADCASTD_GPR, reg, 0, wmi_zmm(WMI_RAX));
    for (unsigned i = 0; i < wmi_rows_strips(s, &places); i++)
        wmi_evex_plain(&s->host, WMI_VPADDD, places.reg[i], wmi_rows_register(addresses, i), wmi_zmm(reg));
    return places;
}

/* RCX = the LDS of the workgroup, R9 = wmi_lane_offset; returns a register with the last place of so many
 * bytes. */
static unsigned find_lds(struct wmi_stretch *s, unsigned bytes)
{
    const struct wmi_compile_layout *layout = s->block->layout;
    const unsigned last = wmi_stretch_register(s);
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_FRAME, offsetof(struct wmi_frame, wave));
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_RAX, (int32_t)layout->wave_group);
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RCX, WMI_RAX, (int32_t)layout->group_lds);
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, false, WMI_RAX, WMI_RAX, (int32_t)layout->group_lds_size);
    wmi_arithmetic_immediate(&s->host, 5, false, WMI_RAX, (int32_t)bytes);
    wmi_stretch_exit_if(s, WMI_IF_BELOW);
    wmi_evex_plain(&s->host, WMI_VPBROADCASTD_GPR, last, 0, wmi_zmm(WMI_RAX));
    wmi_move_immediate(&s->host, WMI_R9, (uintptr_t)wmi_lane_offset);
    return last;
}

/* Leaves if a place of an active lane is out of range. */
static void check_range(struct wmi_stretch *s, const struct wmi_rows *places, unsigned last)
{
    for (unsigned i = 0; i < wmi_rows_strips(s, places); i++)
        wmi_access_collect(s, WMI_VPCMPUD, places->reg[i], last,
                           places->uniform ? WMI_NO_MASK : wmi_access_mask(s, i), WMI_ABOVE, !i);
    wmi_kortest(&s->host, WMI_K, WMI_K);
    wmi_stretch_exit_if(s, WMI_IF_NOT_EQUAL);
}

static struct wmi_rows read_dwords(struct wmi_stretch *s, const struct wmi_rows *places)
{
    struct wmi_rows d = wmi_stretch_result(s, places->uniform);
    const uint8_t scratch[] = {(uint8_t)wmi_stretch_register(s), (uint8_t)wmi_stretch_register(s)};
    wmi_access_load(s, places, &d, scratch, 0);
    return d;
}

static void write_dwords(struct wmi_stretch *s, const struct wmi_rows *places, const struct wmi_rows *data)
{
    const uint8_t scratch[] = {(uint8_t)wmi_stretch_register(s), (uint8_t)wmi_stretch_register(s)};
    wmi_access_store(s, places, data, scratch, 0);
}

static bool emit_read(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_rows addresses = wmi_stretch_use(s, step->a, true);
    const struct wmi_rows places = places_of(s, &addresses, step->x);
    check_range(s, &places, find_lds(s, 4));
    struct wmi_rows d = read_dwords(s, &places);
    wmi_stretch_write(s, step->d, &d);
    wmi_stretch_come_back(s);
    return true;
}

static bool emit_read2(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_rows addresses = wmi_stretch_use(s, step->a, true);
    const struct wmi_rows first = places_of(s, &addresses, step->x),
                          second = places_of(s, &addresses, step->y);
    const unsigned last = find_lds(s, 4);
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
    const struct wmi_rows addresses = wmi_stretch_use(s, step->a, true),
                          data = wmi_stretch_use(s, step->b, true);
    const struct wmi_rows places = places_of(s, &addresses, step->x);
    check_range(s, &places, find_lds(s, 4));
    write_dwords(s, &places, &data);
    wmi_stretch_come_back(s);
    return true;
}

static bool emit_write2(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_rows addresses = wmi_stretch_use(s, step->a, true),
                          data = wmi_stretch_use(s, step->b, true), more = wmi_stretch_use(s, step->c, true);
    const struct wmi_rows first = places_of(s, &addresses, step->x),
                          second = places_of(s, &addresses, step->y);
    const unsigned last = find_lds(s, 4);
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
