/* SPDX-License-Identifier: MIT */
/* Tells observers what instruction, code and kernel they look at. */
#include "api/observed.h"

#include "base/diag.h"
#include "check/findings.h"
#include "isa/decode/msb.h"
#include "profile/cost/gpu.h"

#include <stdio.h>

/* The symbol that contains the address and the distance from it. Raw instructions have none: the name of
 * their kernel or "", and the distance from their beginning. */
static const char *symbol_at(const struct wm_object *object, uint64_t address, uint64_t *distance)
{
    const char *symbol = wm_object_symbol(object, address, distance);
    struct wm_code code;
    if (!symbol && wmi_object_code_at(object, address, &code))
        *distance = address - code.address;
    return symbol ? symbol : wmi_object_raw_kernel_name(object);
}

void wmi_observed_describe(void *user, unsigned id, struct wm_profile_row *row)
{
    struct wmi_observed *observed = user;
    const uint64_t address = row->pc - observed->module->bias;
    const struct wmi_allocation *code = wmi_space_find(observed->machine->space, row->pc);
    struct wmi_instruction insn;
    (void)id;
    observed->text[0] = '\0';
    if (code && wmi_decode(observed->machine->target, (const uint32_t *)(code->host + (row->pc - code->low)),
                           (size_t)(code->high - row->pc) / 4, &insn)) {
        wmi_extend_vgprs(&insn, wm_object_state(observed->module->object, address));
        wmi_print(observed->machine->target, &insn, observed->text, sizeof observed->text);
    }
    row->text = observed->text;
    row->kernel = symbol_at(observed->module->object, address, &row->offset);
    if (!wm_object_line(observed->module->object, address, &row->file, &row->line, &row->column)) {
        row->file = NULL;
        row->line = row->column = 0;
    }
}

bool wmi_observed_inlined(void *user, uint64_t pc, unsigned depth, struct wm_inlined *inlined)
{
    const struct wmi_observed *observed = user;
    return wm_object_inlined(observed->module->object, pc - observed->module->bias, depth, inlined);
}

bool wmi_observed_variable(void *user, uint64_t address, struct wmi_variable *variable)
{
    const struct wmi_observed *observed = user;
    const uint64_t bias = observed->module->bias;
    const struct wmi_symbol *symbol = wmi_object_variable_at(observed->module->object, address - bias);
    if (!symbol)
        return false;
    variable->name = wm_source_name(symbol->name, variable->text, sizeof variable->text);
    variable->address = symbol->address + bias;
    variable->bytes = symbol->size;
    return true;
}

bool wmi_observed_is_code(void *user, uint64_t pc)
{
    const struct wmi_observed *observed = user;
    struct wm_code code;
    return wmi_object_code_at(observed->module->object, pc - observed->module->bias, &code);
}

bool wmi_observed_code(void *user, uint64_t pc, struct wm_profile_code *code)
{
    const struct wmi_observed *observed = user;
    const struct wm_object *object = observed->module->object;
    const uint64_t address = pc - observed->module->bias;
    uint64_t distance = 0;
    struct wm_code found;
    const char *symbol = symbol_at(object, address, &distance);
    if (!wmi_object_code_at(object, address, &found) || distance > address - found.address)
        return false;
    const uint64_t next = wm_object_next_symbol(object, address + 1), limit = found.address + found.size;
    *code = (struct wm_profile_code){.kernel = symbol,
                                     .pc = pc - distance,
                                     .bytes = found.bytes + (address - distance - found.address),
                                     .size = (next < limit ? next : limit) - (address - distance)};
    return true;
}

/* The product of a profile without one is that of its first dispatch's target, if there is one. */
enum wm_status wmi_choose_gpu(struct wm_profile *profile, const struct wmi_target *target,
                              struct wm_diag *diag)
{
    const struct wm_gpu *gpu = wmi_profile_gpu(profile);
    char what[64];
    if (!gpu) {
        gpu = wm_gpu_default(wmi_target_name(target));
        if (gpu && !wmi_profile_began(profile))
            wmi_profile_set_gpu(profile, gpu);
        return WM_OK;
    }
    snprintf(what, sizeof what, "the code object is for %s", wmi_target_name(target));
    return wmi_gpu_fits(gpu, target, what, diag);
}

static uint64_t round_up(uint64_t number, uint32_t granule)
{
    return (number + granule - 1) / granule * granule;
}

/* AccVGPRs are in the file of the VGPRs, or in one of their own that is as large. */
struct wmi_profile_dispatch wmi_occupancy_of(const struct wm_machine *machine, const struct wm_kernel *kernel,
                                             const struct wmi_dispatch *dispatch)
{
    const struct wmi_kernel_descriptor *descriptor = wmi_kernel_descriptor(kernel);
    const uint32_t vgprs = descriptor->vgprs, agprs = descriptor->agprs;
    const bool one_file = wmi_target_limit(machine->target, WMI_LIMIT_vgprs_unified);
    return (struct wmi_profile_dispatch){
        .kernel = kernel->name,
        .pc = dispatch->launch.entry,
        .grid = {dispatch->grid[0], dispatch->grid[1], dispatch->grid[2]},
        .workgroup = {dispatch->workgroup[0], dispatch->workgroup[1], dispatch->workgroup[2]},
        .vgprs = one_file        ? vgprs + agprs
                 : vgprs > agprs ? vgprs
                                 : agprs,
        .sgprs = descriptor->sgprs,
        .lds_bytes =
            (uint32_t)round_up(dispatch->lds_size, wmi_target_limit(machine->target, WMI_LIMIT_lds_granule)),
        .wgp_mode = descriptor->wgp_mode,
    };
}

void wmi_tell_scratch(const struct wm_machine *machine, const struct wm_kernel *kernel,
                      const struct wmi_dispatch *dispatch, struct wmi_profile_source *source)
{
    const struct wmi_allocation *all =
        dispatch->scratch_base ? wmi_space_find(machine->space, dispatch->scratch_base) : NULL;
    const uint64_t items = (uint64_t)dispatch->workgroup[0] * dispatch->workgroup[1] * dispatch->workgroup[2];
    if (!all)
        return;
    source->scratch_size = all->high - all->low;
    source->scratch_stride = dispatch->scratch_stride;
    source->scratch_wave =
        round_up(dispatch->scratch_piece, wmi_target_limit(machine->target, WMI_LIMIT_scratch_granule));
    source->dispatch.scratch = dispatch->scratch_base;
    source->dispatch.scratch_bytes =
        (items + kernel->wave_size - 1) / kernel->wave_size * source->scratch_wave;
}
