/* SPDX-License-Identifier: MIT */
/* The public API: registers and LDS of a run that is stopped. */
#include "api/stop.h"
#include "base/host_float.h"
#include "base/versioned.h"
#include "exec/dispatch.h"
#include "exec/frame_words.h"
#include "exec/hold.h"
#include "exec/hwreg.h"
#include "exec/program.h"
#include "lower/place.h"

#include <stdlib.h>
#include <strings.h>

/* ---- looking at waves ---- */

/* A wave is stopped. */
static enum wm_status check_stopped(struct wm_run *run, const char *function, struct wm_diag *diag)
{
    const enum wm_status status = wmi_run_check(run, function, diag);
    if (status || run->selected)
        return status;
    return wmi_fail(diag, WM_BAD_ARGUMENT, "%s: %s", function,
                    run->over ? "the kernel has ended" : "no wave is stopped yet: call wm_run_to first");
}

enum wm_status wm_run_select(struct wm_run *run, const uint32_t workgroup[3], uint32_t wave,
                             struct wm_stopped *stopped, struct wm_diag *diag)
{
    enum wm_status status = check_stopped(run, __func__, diag);
    if (status)
        return status;
    if (!workgroup)
        return wmi_null(diag, __func__, "workgroup");
    status =
        stopped ? wmi_check_struct(stopped, sizeof *stopped, sizeof *stopped, "wm_stopped", diag) : WM_OK;
    if (status)
        return status;
    struct wmi_wave *found = wmi_wave_find(run->wave, workgroup, wave);
    if (!found)
        return wmi_fail(diag, WM_NOT_FOUND, "workgroup (%u,%u,%u) has no unfinished wave %u now",
                        workgroup[0], workgroup[1], workgroup[2], wave);
    struct wm_stopped where = run->stopped;
    if (found != run->wave)
        where =
            wmi_run_describe(run, run->stopped.kind, found,
                             wmi_program_pc_of(run->dispatch->program, found->resume), found->instructions);
    run->selected = found;
    run->pc = where.pc;
    if (stopped)
        wmi_give_struct(stopped, &where, sizeof where);
    return WM_OK;
}

/* ---- registers ---- */

enum special { PLAIN, EXEC, SCC, MODE, PC };

/* A register, or several that one name stands for. */
struct place {
    enum special special;
    uint32_t *words; /* in the frame; NULL: MODE, PC */
    size_t count;
};

/* words 0: as many as a lane mask has. */
static const struct {
    const char *name;
    enum special special;
    uint16_t slot, words;
} specials[] = {
    {"vcc", PLAIN, WMI_S_VCC, 0},
    {"vcc_lo", PLAIN, WMI_S_VCC, 1},
    {"vcc_hi", PLAIN, WMI_S_VCC + 1, 1},
    {"exec", EXEC, WMI_S_EXEC, 0},
    {"exec_lo", EXEC, WMI_S_EXEC, 1},
    {"exec_hi", EXEC, WMI_S_EXEC + 1, 1},
    {"m0", PLAIN, WMI_S_M0, 1},
    {"scc", SCC, WMI_S_SCC, 1},
    {"flat_scratch", PLAIN, WMI_S_FLAT_SCRATCH, 2},
    {"flat_scratch_lo", PLAIN, WMI_S_FLAT_SCRATCH, 1},
    {"flat_scratch_hi", PLAIN, WMI_S_FLAT_SCRATCH + 1, 1},
    {"xnack_mask", PLAIN, WMI_S_XNACK_MASK, 2},
    {"xnack_mask_lo", PLAIN, WMI_S_XNACK_MASK, 1},
    {"xnack_mask_hi", PLAIN, WMI_S_XNACK_MASK + 1, 1},
    {"mode", MODE, 0, 1},
    {"pc", PC, 0, 2},
};

/* Whether the name is `prefix` and a number below `limit`. */
static bool is_numbered(const char *name, const char *prefix, uint32_t limit, uint32_t *number)
{
    const size_t length = strlen(prefix);
    char *end;
    if (strncasecmp(name, prefix, length) || name[length] < '0' || name[length] > '9')
        return false;
    const unsigned long value = strtoul(name + length, &end, 10);
    *number = (uint32_t)value;
    return !*end && value < limit;
}

static bool find_special(struct wmi_frame *frame, const char *name, struct place *place)
{
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if (!strcasecmp(name, specials[i].name)) {
            *place = (struct place){.special = specials[i].special,
                                    .words = specials[i].slot ? &frame->s[specials[i].slot] : NULL,
                                    .count = specials[i].words ? specials[i].words : frame->wave_size / 32};
            return true;
        }
    return false;
}

static bool find_numbered(const struct wm_run *run, struct wmi_frame *frame, const char *name,
                          struct place *place)
{
    enum { TTMPS = 16 };
    const struct wmi_code *code = wmi_program_code(run->dispatch->program);
    const uint32_t vgprs = code->options.vgprs;
    uint32_t number;
    *place = (struct place){.count = 1};
    if (is_numbered(name, "s", wmi_target_limit(code->options.target, WMI_LIMIT_sgprs), &number)) {
        place->words = &frame->s[number];
    } else if (is_numbered(name, "ttmp", TTMPS, &number)) {
        place->words = &frame->s[WMI_S_TTMP + number];
    } else {
        const bool vgpr = is_numbered(name, "v", vgprs, &number);
        if (!vgpr && !is_numbered(name, "a", code->options.agprs, &number))
            return false;
        const size_t row = number + (vgpr ? 0 : vgprs);
        place->words = (uint32_t *)((char *)frame + code->vgpr_offset + row * code->row_bytes);
        place->count = frame->wave_size;
    }
    return true;
}

static enum wm_status find_register(struct wm_run *run, const char *function, const char *name,
                                    const void *values, struct place *place, struct wm_diag *diag)
{
    const enum wm_status status = check_stopped(run, function, diag);
    if (status)
        return status;
    if (!name || !values)
        return wmi_null(diag, function, name ? "values" : "name");
    struct wmi_frame *frame = run->selected->frame;
    if (find_special(frame, name, place) || find_numbered(run, frame, name, place))
        return WM_OK;
    const struct wmi_code_options *options = &wmi_program_code(run->dispatch->program)->options;
    return wmi_fail(diag, WM_NOT_FOUND,
                    "'%s': no register of this wave of %s, which has s0 to s%u, %u VGPRs, %u AccVGPRs, and "
                    "others such as vcc, exec, m0, scc, mode, ttmp5",
                    name, wmi_target_name(options->target),
                    wmi_target_limit(options->target, WMI_LIMIT_sgprs) - 1, options->vgprs, options->agprs);
}

static const struct wmi_hwreg whole_mode = {.id = WMI_HWREG_MODE, .mask = UINT32_MAX};

static const struct wmi_hwreg_rules *rules_of(const struct wm_run *run)
{
    const struct wmi_code *code = wmi_program_code(run->dispatch->program);
    return wmi_hwreg_rules(wmi_target_limit(code->options.target, WMI_LIMIT_hardware_registers));
}

enum wm_status wm_run_get(struct wm_run *run, const char *name, uint32_t *values, size_t count,
                          struct wm_diag *diag)
{
    struct place place;
    const enum wm_status status = find_register(run, __func__, name, values, &place, diag);
    if (status)
        return status;
    if (count < place.count)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "wm_run_get: '%s' has %zu values, there is room for %zu", name,
                        place.count, count);
    if (place.special == MODE)
        *values = wmi_hwreg_read(rules_of(run), run->selected->frame, whole_mode);
    else if (place.special == PC)
        memcpy(values, &run->pc, sizeof run->pc);
    else
        memcpy(values, place.words, place.count * sizeof *values);
    return WM_OK;
}

/* As s_setreg does it. The bits of MODE that code is lowered for stay, and so does this thread's float
 * state. */
static enum wm_status set_mode(const struct wm_run *run, uint32_t value, struct wm_diag *diag)
{
    struct wmi_frame *frame = run->selected->frame;
    const uint32_t saved = wmi_host_float_get(), before = frame->mode;
    wmi_hwreg_write(rules_of(run), frame, whole_mode, value);
    const bool state = (before ^ frame->mode) & WMI_MODE_STATE;
    if (state)
        wmi_hwreg_write(rules_of(run), frame, whole_mode, before);
    wmi_host_float_set(saved);
    return state
               ? wmi_fail(diag, WM_UNSUPPORTED,
                          "mode 0x%x: GPR_IDX_EN and VSKIP (bits 27 and 28) cannot be changed; they are 0x%x",
                          value, before & WMI_MODE_STATE)
               : WM_OK;
}

enum wm_status wm_run_set(struct wm_run *run, const char *name, const uint32_t *values, size_t count,
                          struct wm_diag *diag)
{
    struct place place;
    const enum wm_status status = find_register(run, __func__, name, values, &place, diag);
    if (status)
        return status;
    if (count != place.count)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "wm_run_set: '%s' has %zu values, %zu are given", name,
                        place.count, count);
    if (place.special == PC)
        return wmi_fail(diag, WM_UNSUPPORTED, "wm_run_set: the pc of a wave cannot be changed");
    if (place.special == MODE)
        return set_mode(run, *values, diag);
    if (place.special == SCC && *values > 1)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "wm_run_set: scc is %u; expected 0 or 1", *values);
    struct wmi_frame *frame = run->selected->frame;
    memcpy(place.words, values, count * sizeof *values);
    if (place.special == EXEC)
        wmi_lanes_fill(&frame->exec, wmi_frame_64((const char *)frame, 4 * WMI_S_EXEC), frame->wave_size);
    return WM_OK;
}

/* ---- LDS ---- */

static enum wm_status find_lds(struct wm_run *run, const char *function, uint32_t address, const void *bytes,
                               uint32_t size, unsigned char **lds, struct wm_diag *diag)
{
    const enum wm_status status = check_stopped(run, function, diag);
    if (status)
        return status;
    if (!bytes && size)
        return wmi_null(diag, function, "bytes");
    const struct wmi_workgroup *group = run->selected->group;
    if ((uint64_t)address + size > group->lds_size)
        return wmi_fail(diag, WM_OUT_OF_RANGE, "%s: %u bytes at %u; the workgroup has %u bytes of LDS",
                        function, size, address, group->lds_size);
    *lds = group->lds + address;
    return WM_OK;
}

enum wm_status wm_run_read_lds(struct wm_run *run, uint32_t address, void *bytes, uint32_t size,
                               struct wm_diag *diag)
{
    unsigned char *lds = NULL;
    const enum wm_status status = find_lds(run, __func__, address, bytes, size, &lds, diag);
    if (!status && size)
        memcpy(bytes, lds, size);
    return status;
}

enum wm_status wm_run_write_lds(struct wm_run *run, uint32_t address, const void *bytes, uint32_t size,
                                struct wm_diag *diag)
{
    unsigned char *lds = NULL;
    const enum wm_status status = find_lds(run, __func__, address, bytes, size, &lds, diag);
    if (!status && size)
        memcpy(lds, bytes, size);
    return status;
}
