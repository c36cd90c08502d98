/* SPDX-License-Identifier: MIT */
/* The public API: whether workgroups may depend on one another; and their order when somebody watches. */
#include "exec/run/dependence.h"

#include "api/observed.h"
#include "base/diag.h"
#include "base/text.h"
#include "exec/run/program.h"

#include <stdio.h>

static struct wmi_dependence_source source_of(struct wmi_observed *observed, const struct wm_kernel *kernel,
                                              const struct wmi_code *code)
{
    return (struct wmi_dependence_source){.code = code,
                                          .unknown_calls = kernel->dynamic_stack,
                                          .is_code = wmi_observed_is_code,
                                          .user = observed};
}

enum wm_status wm_find_dependence(struct wm_machine *machine, const struct wm_object *object,
                                  const struct wm_kernel *kernel, struct wm_dependence *dependence,
                                  struct wm_diag *diag)
{
    if (!machine || !object)
        return wmi_null(diag, __func__, machine ? "object" : "machine");
    if (!kernel || !dependence)
        return wmi_null(diag, __func__, kernel ? "dependence" : "kernel");
    const struct wmi_module *module = wmi_module_of(machine, object);
    if (!module)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "the code object is not loaded: call wm_load first");
    if (!wmi_object_has_kernel(object, kernel))
        return wmi_fail(diag, WM_BAD_ARGUMENT, "the kernel is not one of the code object's");
    const struct wmi_code code = {.options = {.target = wmi_target_of_waves(machine, kernel->wave_size),
                                              .space = machine->space,
                                              .entry = kernel->entry + module->bias}};
    struct wmi_observed observed = {machine, module, ""};
    const struct wmi_dependence_source source = source_of(&observed, kernel, &code);
    struct wmi_place_list entries;
    const bool ok = wmi_find_dependence(&source, dependence, &entries);
    wmi_place_list_free(&entries);
    if (!ok)
        return wmi_fail(diag, WM_NO_MEMORY, "no memory to examine the code of kernel '%s'", kernel->name);
    if (dependence->kind == WM_INDEPENDENT)
        return WM_OK;
    struct wm_profile_row row = {.pc = dependence->pc};
    wmi_observed_describe(&observed, 0, &row);
    dependence->offset = row.offset;
    wmi_format(dependence->function, sizeof dependence->function, "%s", row.kernel);
    wmi_format(dependence->text, sizeof dependence->text, "%s", row.text);
    return WM_OK;
}

bool wmi_fix_order(struct wmi_observed *observed, const struct wm_kernel *kernel,
                   struct wmi_dispatch *dispatch)
{
    const struct wmi_dependence_source source =
        source_of(observed, kernel, wmi_program_code(dispatch->program));
    struct wm_dependence dependence;
    struct wmi_place_list entries;
    bool full;
    const bool ok = wmi_find_dependence(&source, &dependence, &entries);
    dispatch->in_one_order = dependence.kind != WM_INDEPENDENT || dispatch->cluster_size > 1;
    if (dispatch->in_one_order)
        dispatch->threads = 1;
    for (size_t i = 0; ok && !dispatch->in_one_order && i < entries.count; i++)
        wmi_program_at(dispatch->program, entries.place[i], &full);
    wmi_place_list_free(&entries);
    return ok;
}
