/* SPDX-License-Identifier: MIT */
/* Host code of LDS reads and writes whose places are all in range. */
#include "compile/lane_access.h"

/* The places of the lanes in the LDS, in bytes, and how to move them. */
struct lds_places {
    struct wmi_rows at;
    unsigned splat;
};

/* Adds to each place. */
static void move_places(struct wmi_stretch *s, struct lds_places *places, uint32_t by)
{
    wmi_move_immediate(&s->host, WMI_RAX, by);
    wmi_access_splat(s, places->splat);
    for (unsigned i = 0; i < wmi_rows_strips(s, &places->at); i++)
        wmi_evex_plain(&s->host, WMI_VPADDD, places->at.reg[i], places->at.reg[i], wmi_zmm(places->splat));
}

/* Places in registers of the step. */
static struct lds_places places_of(struct wmi_stretch *s, const struct wmi_rows *addresses, uint32_t offset)
{
    struct lds_places places = {.at = wmi_stretch_result(s, addresses->uniform),
                                .splat = wmi_stretch_register(s)};
    wmi_move_immediate(&s->host, WMI_RAX, offset);
    wmi_access_splat(s, places.splat);
    for (unsigned i = 0; i < wmi_rows_strips(s, &places.at); i++)
        wmi_evex_plain(&s->host, WMI_VPADDD, places.at.reg[i], wmi_rows_register(addresses, i),
                       wmi_zmm(places.splat));
    return places;
}

/* RCX = the LDS of the workgroup, R9 = wmi_lane_tables; returns a register with the last place of so many
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
    wmi_move_immediate(&s->host, WMI_R9, (uintptr_t)&wmi_lane_tables);
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

/* The places of an instruction with one of them. */
static struct wmi_rows one_place(struct wmi_stretch *s, const struct wmi_step *step,
                                 struct wmi_lane_shape shape)
{
    const struct wmi_rows addresses = wmi_access_use(s, shape, step->a);
    const struct wmi_rows places = step->x ? places_of(s, &addresses, step->x).at : addresses;
    check_range(s, &places, find_lds(s, shape.bytes));
    return places;
}

/* The first places of an instruction with two, both of which have been checked. The same registers are used
 * for both, because elements of two rows leave no others. */
static struct lds_places first_place(struct wmi_stretch *s, const struct wmi_step *step,
                                     struct wmi_lane_shape shape)
{
    const struct wmi_rows addresses = wmi_access_use(s, shape, step->a);
    struct lds_places places = places_of(s, &addresses, step->y);
    const unsigned last = find_lds(s, shape.bytes);
    check_range(s, &places.at, last);
    move_places(s, &places, step->x - step->y);
    check_range(s, &places.at, last);
    return places;
}

static bool read(struct wmi_stretch *s, const struct wmi_step *step, struct wmi_lane_shape shape)
{
    struct wmi_rows d[WMI_LANE_ROWS];
    const struct wmi_rows places = one_place(s, step, shape);
    wmi_access_results(s, shape, places.uniform, d);
    const struct wmi_access_scratch scratch = wmi_access_scratch(s, shape);
    wmi_access_load(s, shape, &places, d, &scratch, 0);
    s->has_read = true;
    wmi_access_write(s, shape, step->d, d);
    wmi_stretch_come_back(s);
    return true;
}

static bool read2(struct wmi_stretch *s, const struct wmi_step *step, struct wmi_lane_shape shape)
{
    struct wmi_rows d[WMI_LANE_ROWS], e[WMI_LANE_ROWS];
    struct lds_places places = first_place(s, step, shape);
    wmi_access_results(s, shape, places.at.uniform, d);
    wmi_access_results(s, shape, places.at.uniform, e);
    const struct wmi_access_scratch scratch = wmi_access_scratch(s, shape);
    wmi_access_load(s, shape, &places.at, d, &scratch, 0);
    move_places(s, &places, step->y - step->x);
    wmi_access_load(s, shape, &places.at, e, &scratch, 0);
    s->has_read = true;
    wmi_access_write(s, shape, step->d, d);
    wmi_access_write(s, shape, step->d + shape.rows * s->row_bytes, e);
    wmi_stretch_come_back(s);
    return true;
}

static bool write(struct wmi_stretch *s, const struct wmi_step *step, struct wmi_lane_shape shape)
{
    struct wmi_rows data[WMI_LANE_ROWS];
    wmi_access_data(s, shape, step->b, data);
    const struct wmi_rows places = one_place(s, step, shape);
    const struct wmi_access_scratch scratch = wmi_access_scratch(s, shape);
    wmi_access_store(s, shape, &places, data, &scratch, 0);
    wmi_stretch_come_back(s);
    return true;
}

static bool write2(struct wmi_stretch *s, const struct wmi_step *step, struct wmi_lane_shape shape)
{
    struct wmi_rows data[WMI_LANE_ROWS], more[WMI_LANE_ROWS];
    wmi_access_data(s, shape, step->b, data);
    wmi_access_data(s, shape, step->c, more);
    struct lds_places places = first_place(s, step, shape);
    const struct wmi_access_scratch scratch = wmi_access_scratch(s, shape);
    wmi_access_store(s, shape, &places.at, data, &scratch, 0);
    move_places(s, &places, step->y - step->x);
    wmi_access_store(s, shape, &places.at, more, &scratch, 0);
    wmi_stretch_come_back(s);
    return true;
}

/* ---- the table ---- */

/* clang-format off */
#define STEPS(STEP) \
    STEP(read, read_u8, 1, 1, false) \
    STEP(read, read_i8, 1, 1, true) \
    STEP(read, read_u16, 2, 1, false) \
    STEP(read, read_i16, 2, 1, true) \
    STEP(read, read_b32, 4, 1, false) \
    STEP(read, read_b64, 8, 2, false) \
    STEP(read, read_b128, 16, 4, false) \
    STEP(read2, read2_b32, 4, 1, false) \
    STEP(read2, read2_b64, 8, 2, false) \
    STEP(write, write_b8, 1, 1, false) \
    STEP(write, write_b16, 2, 1, false) \
    STEP(write, write_b32, 4, 1, false) \
    STEP(write, write_b64, 8, 2, false) \
    STEP(write, write_b128, 16, 4, false) \
    STEP(write2, write2_b32, 4, 1, false) \
    STEP(write2, write2_b64, 8, 2, false)
/* clang-format on */

#define EMITTER(function, name, ...)                                                                         \
    static bool emit_##name(struct wmi_stretch *s, const struct wmi_step *step)                              \
    {                                                                                                        \
        return function(s, step, (struct wmi_lane_shape){__VA_ARGS__});                                      \
    }
STEPS(EMITTER)

wmi_emit_step *wmi_lds_emitter(const struct wmi_step *step)
{
    if (step->lanes != offsetof(struct wmi_frame, exec))
        return NULL;
    switch (step->id) {
#define CASE(function, name, ...)                                                                            \
    case WMI_STEP_lds_##name:                                                                                \
        return emit_##name;
        STEPS(CASE)
    default:
        return NULL;
    }
}
