/* SPDX-License-Identifier: MIT */
/* Registers that the caller of a dispatch sets (wavemem/start.h). */
#include "api/start.h"

#include "base/diag.h"
#include "base/versioned.h"
#include "exec/control/hwreg.h"

#include <stdlib.h>

/* What a kind may be put into, and how many scalar registers it takes; VALUES: as many as are given. */
static const struct {
    bool vector, scalar;
    uint8_t words;
} kinds[WM_START_KINDS] = {
    [WM_START_VALUES] = {true, true, 0},           [WM_START_WORKGROUP_ID_X] = {false, true, 1},
    [WM_START_WORKGROUP_ID_Y] = {false, true, 1},  [WM_START_WORKGROUP_ID_Z] = {false, true, 1},
    [WM_START_WORKGROUP_ID_YZ] = {false, true, 1}, [WM_START_WORKGROUP_INFO] = {false, true, 1},
    [WM_START_WAVE_ID] = {false, true, 1},         [WM_START_ARGUMENTS] = {false, true, 2},
    [WM_START_SCRATCH_ADDRESS] = {false, true, 2}, [WM_START_SCRATCH_OFFSET] = {false, true, 1},
    [WM_START_WORKITEM_ID_X] = {true, false, 0},   [WM_START_WORKITEM_ID_Y] = {true, false, 0},
    [WM_START_WORKITEM_ID_Z] = {true, false, 0},   [WM_START_WORKITEM_IDS] = {true, false, 0},
};

enum wm_status wmi_start_take(const struct wm_start *given, struct wm_start *start, struct wm_diag *diag)
{
    *start = (struct wm_start){0};
    if (!given)
        return WM_OK;
    const enum wm_status status = wmi_take_struct(
        start, sizeof *start, offsetof(struct wm_start, scratch_bytes), given, "wm_start", diag);
    if (!status && start->register_count && !start->registers)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "wm_start: register_count is %zu but registers is NULL",
                        start->register_count);
    return status;
}

static enum wm_status check_values(const struct wm_start_register *r, const struct wmi_register_place *place,
                                   uint64_t items, struct wm_diag *diag)
{
    const bool vector = place->kind == WMI_PLACE_VECTOR;
    if (!r->values)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "start register '%s': values is NULL", r->name);
    if (vector && r->count != 1 && r->count != place->words && r->count != items)
        return wmi_fail(
            diag, WM_BAD_ARGUMENT,
            "start register '%s': %zu values; expected 1, %u (lanes of a wave) or %llu (work-items of "
            "a workgroup)",
            r->name, r->count, place->words, (unsigned long long)items);
    if (!vector && (!r->count || r->count > place->more))
        return wmi_fail(
            diag, WM_BAD_ARGUMENT,
            "start register '%s': %zu values; expected 1 to %u, for it and the registers after it", r->name,
            r->count, place->more);
    if (place->kind == WMI_PLACE_SCC && r->values[0] > 1)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "start register 'scc': %u; expected 0 or 1", r->values[0]);
    return WM_OK;
}

static enum wm_status check_place(const struct wm_start_register *r, const struct wmi_register_place *place,
                                  uint64_t items, struct wm_diag *diag)
{
    const bool vector = place->kind == WMI_PLACE_VECTOR;
    if (place->kind == WMI_PLACE_PC)
        return wmi_fail(
            diag, WM_BAD_ARGUMENT,
            "start register 'pc': waves begin at the kernel's entry; open code that begins elsewhere");
    if (r->kind == WM_START_VALUES)
        return check_values(r, place, items, diag);
    if (!(vector ? kinds[r->kind].vector : kinds[r->kind].scalar && place->kind == WMI_PLACE_SCALAR))
        return wmi_fail(diag, WM_BAD_ARGUMENT, "start register '%s' cannot hold this; expected %s", r->name,
                        kinds[r->kind].vector ? "a VGPR" : "an SGPR");
    if (!vector && kinds[r->kind].words > place->more)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "start register '%s' is the last one; 64 bits need two",
                        r->name);
    return WM_OK;
}

static enum wm_status find(const struct wm_start_register *r, const struct wmi_code *code, uint64_t items,
                           struct wmi_register_place *place, struct wm_diag *diag)
{
    if (!r->name)
        return wmi_null(diag, "wm_start", "a register's name");
    if ((unsigned)r->kind >= WM_START_KINDS)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "start register '%s': kind %u is none of enum wm_start_kind",
                        r->name, (unsigned)r->kind);
    if (!wmi_register_find(code, r->name, place))
        return wmi_fail(
            diag, WM_BAD_ARGUMENT,
            "start register '%s': not a register of %s with %u VGPRs and %u AccVGPRs; expected one "
            "such as s4, v3, a0, ttmp9, m0, vcc, exec, scc, mode, flat_scratch",
            r->name, wmi_target_name(code->options.target), code->options.vgprs, code->options.agprs);
    return check_place(r, place, items, diag);
}

enum wm_status wmi_start_prepare(const struct wm_start *start, const struct wmi_code *code,
                                 struct wmi_dispatch *dispatch, struct wm_diag *diag)
{
    const uint64_t items = (uint64_t)dispatch->workgroup[0] * dispatch->workgroup[1] * dispatch->workgroup[2];
    struct wmi_launch *launch = &dispatch->launch;
    if (start->bare)
        *launch = (struct wmi_launch){
            .workgroup_id = {WMI_NO_REGISTER, WMI_NO_REGISTER, WMI_NO_REGISTER},
            .workgroup_info = WMI_NO_REGISTER,
            .scratch_wave_offset = WMI_NO_REGISTER,
            .mode = launch->mode,
            .entry = launch->entry,
        };
    if (!start->register_count)
        return WM_OK;
    struct wmi_start_register *own = calloc(start->register_count, sizeof *own);
    if (!own)
        return wmi_fail(diag, WM_NO_MEMORY, "no memory for %zu registers", start->register_count);
    dispatch->start = own;
    for (size_t i = 0; i < start->register_count; i++) {
        const struct wm_start_register *r = &start->registers[i];
        struct wmi_register_place place;
        const enum wm_status status = find(r, code, items, &place, diag);
        if (status)
            return status;
        if (place.kind == WMI_PLACE_MODE)
            launch->mode = r->values[0] | wmi_hwreg_fixed_mode(wmi_hwreg_rules(wmi_target_limit(
                                              code->options.target, WMI_LIMIT_hardware_registers)));
        else
            own[dispatch->start_count++] = (struct wmi_start_register){
                place, r->kind, r->values, r->kind == WM_START_VALUES ? r->count : kinds[r->kind].words};
    }
    return WM_OK;
}

void wmi_start_release(struct wmi_dispatch *dispatch)
{
    free((void *)dispatch->start);
    dispatch->start = NULL;
    dispatch->start_count = 0;
}
