/* SPDX-License-Identifier: MIT */
/* The public API: registers and LDS of a run that is stopped. */
#include "api/stop.h"
#include "arithmetic/host_float.h"
#include "base/versioned.h"
#include "exec/control/frame_words.h"
#include "exec/control/hwreg.h"
#include "exec/observe/hold.h"
#include "exec/observe/register_place.h"
#include "exec/run/dispatch.h"
#include "exec/run/program.h"
#include "isa/decode/msb.h"
#include "lower/place.h"

#include <string.h>

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
    status = stopped ? wmi_check_struct(stopped, sizeof *stopped, offsetof(struct wm_stopped, executed),
                                        "wm_stopped", diag)
                     : WM_OK;
    if (status)
        return status;
    struct wmi_wave *found = wmi_wave_find(run->wave, workgroup, wave);
    if (!found)
        return wmi_fail(diag, WM_NOT_FOUND, "workgroup (%u,%u,%u) has no unfinished wave %u now",
                        workgroup[0], workgroup[1], workgroup[2], wave);
    struct wm_stopped where = run->stopped;
    if (found != run->wave)
        where = wmi_run_describe(run, run->stopped.kind, found,
                                 wmi_program_pc_of(found->program, found->resume), found->instructions);
    run->selected = found;
    run->pc = where.pc;
    if (stopped)
        wmi_give_struct(stopped, &where, sizeof where);
    return WM_OK;
}

/* ---- registers ---- */

static enum wm_status find_register(struct wm_run *run, const char *function, const char *name,
                                    const void *values, struct wmi_register_place *place,
                                    struct wm_diag *diag)
{
    const enum wm_status status = check_stopped(run, function, diag);
    if (status)
        return status;
    if (!name || !values)
        return wmi_null(diag, function, name ? "values" : "name");
    const struct wmi_code *code = wmi_program_code(run->dispatch->program);
    const struct wmi_code_options *options = &code->options;
    if (wmi_register_find(code, name, place))
        return WM_OK;
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

/* Of VGPR numbers, in their place in MODE. */
static uint32_t upper_bits(const struct wm_run *run)
{
    return wmi_msb_to_mode(wmi_run_state(run, run->selected, run->pc)) << WMI_MODE_MSB_SHIFT;
}

enum wm_status wm_run_get(struct wm_run *run, const char *name, uint32_t *values, size_t count,
                          struct wm_diag *diag)
{
    struct wmi_register_place place;
    const enum wm_status status = find_register(run, __func__, name, values, &place, diag);
    if (status)
        return status;
    if (count < place.words)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "wm_run_get: '%s' has %u values, there is room for %zu", name,
                        place.words, count);
    if (place.kind == WMI_PLACE_MODE)
        *values = wmi_hwreg_read(rules_of(run), run->selected->frame, whole_mode) | upper_bits(run);
    else if (place.kind == WMI_PLACE_PC)
        memcpy(values, &run->pc, sizeof run->pc);
    else
        memcpy(values, wmi_register_words(run->selected->frame, &place), place.words * sizeof *values);
    return WM_OK;
}

/* As s_setreg does it. The bits of MODE that code is lowered for stay, and so does this thread's float
 * state. */
static enum wm_status set_mode(const struct wm_run *run, uint32_t value, struct wm_diag *diag)
{
    struct wmi_frame *frame = run->selected->frame;
    const uint32_t saved = wmi_host_float_get(), before = frame->mode;
    const struct wmi_code_options *options = &wmi_program_code(run->dispatch->program)->options;
    if (wmi_target_limit(options->target, WMI_LIMIT_vgpr_msb) && (value ^ upper_bits(run)) & WMI_MODE_MSB)
        return wmi_fail(
            diag, WM_UNSUPPORTED,
            "mode 0x%x: the upper bits of VGPR numbers (bits 12 to 19) cannot be changed; they are "
            "0x%x",
            value, upper_bits(run));
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

static bool is_vector(const char *name)
{
    return (*name == 'v' || *name == 'a') && name[1] >= '0' && name[1] <= '9';
}

enum wm_status wm_run_set(struct wm_run *run, const char *name, const uint32_t *values, size_t count,
                          struct wm_diag *diag)
{
    struct wmi_register_place place;
    const enum wm_status status = find_register(run, __func__, name, values, &place, diag);
    if (status)
        return status;
    if (count != place.words)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "wm_run_set: '%s' has %u values, %zu are given", name,
                        place.words, count);
    if (place.kind == WMI_PLACE_PC)
        return wmi_fail(diag, WM_UNSUPPORTED, "wm_run_set: the pc of a wave cannot be changed");
    if (place.kind == WMI_PLACE_MODE)
        return set_mode(run, *values, diag);
    if (place.kind == WMI_PLACE_SCC && *values > 1)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "wm_run_set: scc is %u; expected 0 or 1", *values);
    struct wmi_frame *frame = run->selected->frame;
    if (is_vector(name)) /* compiled code relies on what the kernel has computed in them */
        run->fast.allowed = false;
    memcpy(wmi_register_words(frame, &place), values, count * sizeof *values);
    if (place.kind == WMI_PLACE_EXEC)
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

/* ---- private memory ---- */

/* Copies bytes between `bytes` and the lane's private memory, whose dwords are interleaved with those of the
 * other lanes. Source: LLVM AMDGPUUsage, "Memory Spaces". */
static enum wm_status copy_private(struct wm_run *run, const char *function, unsigned lane, uint32_t address,
                                   unsigned char *bytes, uint32_t size, bool write, struct wm_diag *diag)
{
    const enum wm_status status = check_stopped(run, function, diag);
    if (status)
        return status;
    if (!bytes && size)
        return wmi_null(diag, function, "bytes");
    const struct wmi_frame *frame = run->selected->frame;
    if (lane >= frame->wave_size)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "%s: lane %u; the wave has %u", function, lane,
                        frame->wave_size);
    const uint64_t room = frame->private_bytes / frame->wave_size;
    if ((uint64_t)address + size > room)
        return wmi_fail(diag, WM_OUT_OF_RANGE,
                        "%s: %u bytes at %u; the lane has %llu bytes of private memory", function, size,
                        address, (unsigned long long)room);
    unsigned char *host = (unsigned char *)(uintptr_t)frame->private_host;
    for (uint32_t i = 0; i < size; i++) {
        const uint64_t at = address + i;
        unsigned char *byte = host + at / 4 * 4 * frame->wave_size + 4 * lane + at % 4;
        if (write)
            *byte = bytes[i];
        else
            bytes[i] = *byte;
    }
    return WM_OK;
}

enum wm_status wm_run_read_private(struct wm_run *run, unsigned lane, uint32_t address, void *bytes,
                                   uint32_t size, struct wm_diag *diag)
{
    return copy_private(run, __func__, lane, address, bytes, size, false, diag);
}

enum wm_status wm_run_write_private(struct wm_run *run, unsigned lane, uint32_t address, const void *bytes,
                                    uint32_t size, struct wm_diag *diag)
{
    return copy_private(run, __func__, lane, address, (unsigned char *)(uintptr_t)bytes, size, true, diag);
}
