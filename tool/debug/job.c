/* SPDX-License-Identifier: MIT */
/* A job of the command line as the source of the dispatches of a session. */
#include "tool/debug/session.h"

#include "tool/tool.h"

#include <stdlib.h>

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

/* What of a buffer a machine changes. */
struct kept {
    uint64_t address;
    bool filled;
};

static size_t count_buffers(const struct tool_job *job)
{
    size_t count = 0;
    for (const struct tool_buffer *b = job->buffers; b; b = b->next)
        count++;
    return count;
}

/* Lets another machine fill the buffers from the beginning. */
static bool reset_buffers(const struct tool_job *job, struct kept *kept)
{
    bool good = true;
    for (struct tool_buffer *b = job->buffers; b && good; b = b->next) {
        *kept++ = (struct kept){b->address, b->filled};
        b->address = 0;
        b->filled = b->symbol_of;
        good = tool_array_reload(&b->array);
    }
    return good;
}

static void restore_buffers(const struct tool_job *job, const struct kept *kept)
{
    for (struct tool_buffer *b = job->buffers; b; b = b->next, kept++) {
        b->address = kept->address;
        b->filled = kept->filled;
    }
}

/* Runs the job up to this dispatch on another machine, whose check sees all that the host writes. */
static bool run_checked(struct debug_session *s, struct wm_check *check, struct wm_machine *machine,
                        struct wm_diag *diag)
{
    bool good = true;
    for (size_t i = 0; i <= s->dispatch && good; i++) {
        const struct tool_dispatch *d = &s->job->dispatches[i];
        struct tool_prepared prepared;
        struct wm_result result = {.struct_size = sizeof result};
        good = tool_prepare(s->job, i, machine, &prepared, diag);
        prepared.dispatch.check = check;
        prepared.dispatch.threads = 1;
        prepared.dispatch.on_violation = WM_VIOLATION_GOES_ON; /* as `wavemem check' */
        good = good &&
               wm_dispatch(machine, d->object, d->kernel, &prepared.dispatch, &result, diag) == WM_OK &&
               tool_free_buffers(s->job, d, machine, diag);
        tool_release(&prepared);
    }
    return good;
}

static bool check(struct debug_session *s, struct wm_check *check, struct wm_machine **machine,
                  struct wm_diag *diag)
{
    *machine = NULL;
    struct kept *kept = calloc(count_buffers(s->job) + 1, sizeof *kept);
    if (!kept || !reset_buffers(s->job, kept)) {
        free(kept);
        return tool_because(diag, "out of memory");
    }
    const bool good =
        tool_make_machine(s->job, check, machine, diag) && run_checked(s, check, *machine, diag);
    restore_buffers(s->job, kept);
    free(kept);
    return good;
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
