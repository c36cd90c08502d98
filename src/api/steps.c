/* SPDX-License-Identifier: MIT */
/* The public API: how the instructions of a kernel are executed, as steps. */
#include "base/diag.h"
#include "exec/run/program.h"
#include "isa/decode/msb.h"
#include "isa/isa.h"
#include "lower/lower.h"
#include "lower/step_text.h"
#include "object/object.h"
#include "profile/cost/gpu.h"
#include "wavemem/wavemem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_INSTRUCTIONS = 1 << 16, TEXT = 512 };

/* Steps that stay interpreted where the kernel is compiled; those that end a wave give it back in any case.
 */
static bool stays_interpreted(const struct wmi_step *step)
{
    return wmi_program_compiles_any() && !wmi_program_compiles(step) &&
           !(wmi_step_facts_of((enum wmi_step_id)step->id).flags & WMI_STEP_ENDS_WAVE);
}

/* The address of the instruction in the object's own terms, its text, and below it its steps. */
static void write_steps(const struct wm_object *object, const struct wmi_code *code,
                        const struct wmi_lowered *lowered, uint64_t bias,
                        void (*write)(void *user, const char *line), void *user)
{
    char text[TEXT], line[TEXT + 64];
    uint64_t pc = 0;
    size_t interpreted = 0;
    for (size_t i = 0; i < lowered->count; i++) {
        const struct wmi_step *step = &lowered->steps[i];
        struct wmi_instruction insn;
        if ((!i || step->pc != pc) && wmi_code_decode(code, step->pc, &insn)) {
            wmi_extend_vgprs(&insn, wm_object_state(object, step->pc - bias));
            wmi_print(code->options.target, &insn, text, sizeof text);
            snprintf(line, sizeof line, "%" PRIx64 ": %s", step->pc - bias, text);
            write(user, line);
        }
        pc = step->pc;
        wmi_step_text(code, step, text, sizeof text);
        interpreted += stays_interpreted(step);
        snprintf(line, sizeof line, "        %s%s", text, stays_interpreted(step) ? "  (interpreted)" : "");
        write(user, line);
    }
    if (wmi_program_compiles_any()) {
        snprintf(line, sizeof line, "%zu of %zu steps are interpreted, also where the kernel is compiled",
                 interpreted, lowered->count);
        write(user, line);
    }
}

enum wm_status wm_kernel_steps(const struct wm_object *object, const struct wm_kernel *kernel,
                               void (*write)(void *user, const char *line), void *user, struct wm_diag *diag)
{
    if (!object || !kernel || !write)
        return wmi_null(diag, __func__, !object ? "object" : kernel ? "write" : "kernel");
    if (!wmi_object_has_kernel(object, kernel))
        return wmi_fail(diag, WM_BAD_ARGUMENT, "the kernel is not one of the code object's");
    const struct wmi_target *target = wmi_target_find(wm_object_target(object));
    const struct wmi_target *variant = target ? wmi_target_variant(target, kernel->wave_size, false) : NULL;
    const struct wmi_span span = wmi_object_span(object);
    struct wmi_space *space = wmi_space_create();
    uint64_t address = 0;
    enum wm_status status =
        !target
            ? wmi_fail(diag, WM_NOT_FOUND, "%s: not a target that wavemem knows", wm_object_target(object))
        : !space ? wmi_fail(diag, WM_NO_MEMORY, "no memory for a code object")
                 : wmi_space_allocate(space, span.high - span.low, 0, "code object", &address, diag);
    if (status == WM_OK)
        status = wmi_object_image(object, address, NULL, NULL,
                                  wmi_space_host(space, address, span.high - span.low), true, diag);
    if (status == WM_OK) {
        const uint64_t bias = address - span.low;
        const struct wmi_place_map none = {0};
        const unsigned shared = wmi_descriptor_shared_vgprs(wmi_kernel_descriptor(kernel));
        const struct wmi_code_options options = {
            .target = variant ? variant : target,
            .space = space,
            .entry = wmi_kernel_start(kernel) + bias,
            .lanes = kernel->wave_size,
            .vgprs = wmi_kernel_descriptor(kernel)->vgprs + shared,
            .shared_vgprs = shared,
            .agprs = wmi_kernel_descriptor(kernel)->agprs,
            .tiling = wmi_gpu_tiling(NULL, target),
        };
        struct wmi_code code;
        struct wmi_lowered lowered;
        wmi_code_init(&code, &options);
        if (wmi_lower(&code, options.entry, &none, MOST_INSTRUCTIONS, &lowered))
            write_steps(object, &code, &lowered, bias, write, user);
        else
            status = wmi_fail(diag, WM_NO_MEMORY, "no memory for the steps of kernel '%s'", kernel->name);
        wmi_lowered_free(&lowered);
        wmi_code_free(&code);
    }
    wmi_space_destroy(space);
    return status;
}
