/* SPDX-License-Identifier: MIT */
/* A job of the command line as the source of the dispatches of a session. */
#include "tool/debug/session.h"

#include "tool/tool.h"

static bool prepare(struct debug_session *s, size_t index, struct wm_diag *diag)
{
    return tool_prepare(s->job, index, s->machine, &s->prepared[index], diag);
}

static void release(struct debug_session *s, size_t index)
{
    tool_release(&s->prepared[index]);
}

static bool begin(struct debug_session *s, size_t index, struct wm_diag *diag)
{
    const struct tool_dispatch *d = &s->job->dispatches[index];
    struct wm_dispatch request = s->prepared[index].dispatch;
    request.print = debug_print_kernel_text;
    request.print_user = s;
    return wm_run_begin(s->machine, d->object, d->kernel, &request, &s->run, diag) == WM_OK;
}

static bool check(struct debug_session *s, struct wm_check *check, struct wm_diag *diag)
{
    const struct tool_dispatch *d = debug_dispatch(s);
    struct wm_dispatch request = s->prepared[s->dispatch].dispatch;
    struct wm_result result = {.struct_size = sizeof result};
    request.check = check;
    request.threads = 1;
    return wm_dispatch(s->machine, d->object, d->kernel, &request, &result, diag) == WM_OK;
}

static int use_results(struct debug_session *s, const struct wm_result *result)
{
    return result->fault.kind == WM_FAULT_NONE ? tool_use_results(s->job, debug_dispatch(s), s->machine, NULL)
                                               : TOOL_FAULT;
}

static void end(struct debug_session *s)
{
    wm_machine_destroy(s->machine);
}

/* All memory is the guest's alone. */
static bool restores(const struct wm_allocation *allocation)
{
    (void)allocation;
    return true;
}

bool debug_job_begin(struct debug_session *s, struct tool_job *job, struct wm_diag *diag)
{
    static const struct debug_source source = {.prepare = prepare,
                                               .release = release,
                                               .begin = begin,
                                               .check = check,
                                               .use_results = use_results,
                                               .end = end,
                                               .restores = restores};
    return debug_session_begin(s, &source, job, NULL, diag) &&
           tool_make_machine(job, NULL, &s->machine, diag);
}
