/* SPDX-License-Identifier: MIT */
/* Executes the dispatches of a job: buffers in, kernel, comparisons and outputs. */
#include "tool/arguments/run.h"
#include "tool/arguments/buffers.h"

#include "tool/arguments/final.h"
#include "tool/arguments/image.h"
#include "tool/arguments/npy.h"
#include "tool/arguments/places.h"
#include "tool/arguments/registers.h"
#include "tool/check/findings.h"
#include "tool/check/show.h"
#include "tool/check/stale.h"
#include "tool/interrupt.h"
#include "tool/output.h"
#include "tool/progress.h"
#include "tool/report/document.h"
#include "tool/report/exports.h"
#include "tool/report/fidelity.h"
#include "tool/shard/report.h"
#include "tool/shard/shard.h"
#include "tool/text.h"
#include "tool/tool.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- progress, and Ctrl-C ---- */

struct progress {
    struct tool_progress shown;
    uint64_t done; /* workgroups when the dispatch was stopped */
    FILE *text;    /* what the kernel prints goes here */
};

static bool show_progress(void *user, uint64_t done, uint64_t workgroups)
{
    struct progress *progress = user;
    if (tool_interrupted()) {
        progress->done = done;
        return false;
    }
    tool_progress_show(&progress->shown, done, workgroups);
    return true;
}

/* ---- what kernels print ---- */

static void print_text(void *user, const char *text, size_t length)
{
    const struct progress *progress = user;
    tool_progress_clear();
    fwrite(text, 1, length, progress->text);
}

/* ---- what the scalar cache would show ---- */

struct stales {
    json_t *report; /* or NULL */
    bool silent;
    size_t count;
    json_t *findings; /* of the check, to which they belong; NULL: of none */
    struct tool_stale_place place;
};

static void add_stale(void *user, const struct wm_stale *stale)
{
    static const char *const kinds[] = {[WM_STALE_LOAD] = "stale load",
                                        [WM_STALE_STORE] = "lost store",
                                        [WM_STALE_VECTOR_LOAD] = "vector load of a dirty line"};
    struct stales *stales = user;
    if (stales->findings) {
        json_array_append_new(stales->findings, tool_stale_finding(&stales->place, stale));
        return;
    }
    stales->count++;
    if (!stales->silent)
        printf("found: %s\n", stale->text);
    if (stales->report)
        json_array_append_new(stales->report,
                              json_pack("{s:s, s:I, s:I, s:[I,I,I], s:I, s:I, s:s}", "kind",
                                        kinds[stale->kind], "pc", (json_int_t)stale->pc, "count",
                                        (json_int_t)stale->count, "workgroup",
                                        (json_int_t)stale->workgroup[0], (json_int_t)stale->workgroup[1],
                                        (json_int_t)stale->workgroup[2], "wave", (json_int_t)stale->wave,
                                        "address", (json_int_t)stale->address, "text", stale->text));
}

/* ---- memory and arguments ---- */

/* Lays the arguments out as the kernel finds them; sets *size and the total of dynamic LDS. The caller frees.
 */
static uint8_t *lay_out_arguments(struct wm_machine *machine, const struct tool_dispatch *d, uint64_t *size,
                                  uint32_t *dynamic_lds, struct wm_diag *diag)
{
    *size = 0;
    for (size_t i = 0; i < d->formals; i++) {
        const uint64_t end = (uint64_t)d->formal[i].offset + d->formal[i].size;
        *size = end > *size ? end : *size;
    }
    uint8_t *bytes = calloc(1, *size + 1);
    if (!bytes) {
        tool_because(diag, "out of memory");
        return NULL;
    }
    uint64_t lds = d->kernel->lds_size;
    for (size_t i = 0; i < d->formals; i++) {
        const struct wm_argument *formal = &d->formal[i];
        const struct tool_binding *binding = &d->bindings[i];
        uint64_t value;
        switch (binding->kind) {
        case TOOL_VALUE_BYTES:
            memcpy(bytes + formal->offset, binding->bytes, formal->size);
            continue;
        case TOOL_BUFFER:
            if (!tool_allocate(machine, binding->buffer, diag)) {
                free(bytes);
                return NULL;
            }
            value = binding->buffer->address + binding->offset;
            break;
        case TOOL_DESCRIPTORS:
            if ((binding->buffer && !tool_allocate(machine, binding->buffer, diag)) ||
                !tool_place_descriptors(machine, wm_object_target(d->object), binding, &value, diag)) {
                free(bytes);
                return NULL;
            }
            break;
        default: /* dynamic LDS: its offset, behind the static part and the ones before it */
            if (formal->alignment > 1)
                lds = (lds + formal->alignment - 1) / formal->alignment * formal->alignment;
            value = lds;
            lds += binding->lds;
        }
        memcpy(bytes + formal->offset, &value, formal->size < 8 ? formal->size : 8);
    }
    lds += d->lds;
    if (lds > UINT32_MAX) {
        tool_because(diag, "%" PRIu64 " bytes of LDS are too many", lds);
        free(bytes);
        return NULL;
    }
    *dynamic_lds = (uint32_t)lds - d->kernel->lds_size;
    return bytes;
}

static struct wm_dispatch request_of(const struct tool_job *job, const struct tool_dispatch *d)
{
    return (struct wm_dispatch){
        .struct_size = sizeof(struct wm_dispatch),
        .scalar_cache = job->scalar_cache,
        .grid = {d->grid[0], d->dimensions > 1 ? d->grid[1] : 0, d->dimensions > 2 ? d->grid[2] : 0},
        .global_offset = {d->offset[0], d->offset[1], d->offset[2]},
        .workgroup = {d->workgroup[0], d->workgroup[1], d->workgroup[2]},
        .cluster = {d->cluster[0], d->cluster[1], d->cluster[2]},
        .threads = job->threads,
        .max_instructions = job->max_instructions,
        .timeout = job->timeout,
        .alignment = job->alignment,
        .on_violation = job->goes_on ? WM_VIOLATION_GOES_ON : WM_VIOLATION_STOPS,
        .cooperative = d->cooperative,
        .gpu = job->gpu,
    };
}

bool tool_prepare(struct tool_job *job, size_t index, struct wm_machine *machine,
                  struct tool_prepared *prepared, struct wm_diag *diag)
{
    const struct tool_dispatch *d = &job->dispatches[index];
    struct wm_dispatch *dispatch = &prepared->dispatch;
    *prepared = (struct tool_prepared){.dispatch = request_of(job, d)};
    prepared->arguments =
        lay_out_arguments(machine, d, &dispatch->arguments_size, &dispatch->dynamic_lds, diag);
    dispatch->arguments = prepared->arguments;
    if (!prepared->arguments || !tool_write_symbols(job, index, machine, diag) ||
        !tool_start_make(job, index, machine, &prepared->start, diag) ||
        !tool_fill_buffers(job, machine, diag))
        return false;
    dispatch->start = prepared->start.given ? &prepared->start.start : NULL;
    return true;
}

void tool_release(struct tool_prepared *prepared)
{
    tool_start_free(&prepared->start);
    free(prepared->arguments);
}

/* ---- results ---- */

static const char *const fault_names[] = {
    [WM_FAULT_NONE] = "none",
    [WM_FAULT_MEMORY] = "memory",
    [WM_FAULT_READ_ONLY] = "read_only",
    [WM_FAULT_MISALIGNED] = "misaligned",
    [WM_FAULT_INSTRUCTION] = "instruction",
    [WM_FAULT_TODO] = "todo",
    [WM_FAULT_TRAP] = "trap",
    [WM_FAULT_BUDGET] = "budget",
    [WM_FAULT_TIMEOUT] = "timeout",
    [WM_FAULT_DEADLOCK] = "deadlock",
    [WM_FAULT_STOPPED] = "stopped",
    [WM_FAULT_CODE_LIMIT] = "code_limit",
    [WM_FAULT_NO_MEMORY] = "no_memory",
    [WM_FAULT_APERTURE] = "aperture",
    [WM_FAULT_PRIVATE_ATOMIC] = "private_atomic",
    [WM_FAULT_RESOURCE] = "resource",
    [WM_FAULT_OFFSET] = "offset",
};

static json_t *json_hex(uint64_t number)
{
    return json_sprintf("0x%" PRIx64, number);
}

static json_t *json_fault(const struct wm_fault *fault)
{
    if (fault->kind == WM_FAULT_NONE)
        return json_null();
    const bool known = fault->kind < sizeof(fault_names) / sizeof(fault_names[0]);
    json_t *object = json_object();
    json_object_set_new(object, "kind", json_string(known ? fault_names[fault->kind] : "unknown"));
    json_object_set_new(object, "pc", json_hex(fault->pc));
    json_object_set_new(object, "workgroup", tool_json_extent(fault->workgroup));
    json_object_set_new(object, "wave", json_integer(fault->wave));
    json_object_set_new(object, "lanes", json_hex(fault->lanes));
    json_object_set_new(object, "low", json_hex(fault->low));
    json_object_set_new(object, "high", json_hex(fault->high));
    json_object_set_new(object, "bytes", json_integer(fault->bytes));
    json_object_set_new(object, "store", json_boolean(fault->store));
    json_object_set_new(object, "text", json_string(fault->text));
    return object;
}

static json_t *json_dependence(const struct wm_dependence *dependence)
{
    static const char *const kinds[] = {
        [WM_INDEPENDENT] = "none",     [WM_DEPENDS_BY_ATOMIC] = "atomic",
        [WM_DEPENDS_BY_LOAD] = "load", [WM_DEPENDS_BY_INVALIDATION] = "invalidation",
        [WM_DEPENDS_BY_GDS] = "gds",   [WM_DEPENDS_BY_LOOP] = "loop",
        [WM_DEPENDS_BY_CODE] = "code",
    };
    if (dependence->kind == WM_INDEPENDENT)
        return json_null();
    return json_pack("{s:s, s:s, s:I, s:s}", "kind", kinds[dependence->kind], "function",
                     dependence->function, "offset", (json_int_t)dependence->offset, "instruction",
                     dependence->text);
}

static double rate(const struct wm_result *result)
{
    return result->seconds > 0 ? (double)result->wave_instructions / result->seconds : 0;
}

static json_t *json_dispatch(const struct tool_dispatch *d, const struct wm_result *result)
{
    json_t *object = json_object();
    json_object_set_new(object, "file", tool_json_text(d->file));
    json_object_set_new(object, "kernel", tool_json_text(d->kernel->name));
    json_object_set_new(object, "target", json_string(wm_object_target(d->object)));
    json_object_set_new(object, "grid", tool_json_extent(d->grid));
    json_object_set_new(object, "workgroup", tool_json_extent(d->workgroup));
    json_object_set_new(object, "workgroups", json_integer((json_int_t)result->workgroups));
    json_object_set_new(object, "waves", json_integer((json_int_t)result->waves));
    json_object_set_new(object, "wave_instructions", json_integer((json_int_t)result->wave_instructions));
    json_object_set_new(object, "seconds", json_real(result->seconds));
    json_object_set_new(object, "wave_instructions_per_second", json_real(rate(result)));
    json_object_set_new(object, "fault", json_fault(&result->fault));
    json_object_set_new(object, "violations", json_integer((json_int_t)result->violations));
    json_object_set_new(object, "violation", json_fault(&result->violation));
    json_object_set_new(object, "expect", json_array());
    return object;
}

static json_t *json_comparison(const struct tool_expectation *expect,
                               const struct tool_comparison *comparison)
{
    json_t *object = json_object(), *first = json_array();
    json_object_set_new(object, "argument", tool_json_text(expect->key));
    json_object_set_new(object, "reference", tool_json_text(expect->spec));
    json_object_set_new(object, "rtol", expect->exact ? json_null() : json_real(expect->relative));
    json_object_set_new(object, "atol", expect->exact ? json_null() : json_real(expect->absolute));
    json_object_set_new(object, "elements", json_integer((json_int_t)comparison->elements));
    json_object_set_new(object, "different", json_integer((json_int_t)comparison->different));
    for (uint64_t i = 0; i < comparison->different && i < TOOL_SHOWN; i++)
        json_array_append_new(first, json_integer((json_int_t)comparison->first[i]));
    json_object_set_new(object, "first", first);
    const bool finite = comparison->different && isfinite((double)comparison->largest);
    json_object_set_new(object, "largest_error",
                        finite ? json_real((double)comparison->largest) : json_null());
    return object;
}

static void print_stats(FILE *file, const struct tool_dispatch *d, const struct wm_result *result,
                        bool reproducible)
{
    tool_print(file,
               "%s: %" PRIu64 " workgroups, %" PRIu64 " waves, %" PRIu64
               " wave-instructions%s in %.3f ms, %.1f M/s\n",
               d->kernel->source_name, result->workgroups, result->waves, result->wave_instructions,
               reproducible ? "" : " (varies with -j)", result->seconds * 1e3, rate(result) * 1e-6);
    if (result->compile_refused)
        tool_print(file, "  interpreted: this host does not execute code that wavemem made\n");
    else if (result->compiled_bytes)
        tool_print(file, "  compiled to %" PRIu64 " bytes of host code in %.3f ms, %.1f %% of the time\n",
                   result->compiled_bytes, result->compile_seconds * 1e3,
                   result->seconds > 0 ? 100 * result->compile_seconds / result->seconds : 0);
}

/* The host's view of a buffer from `offset` to its end; NULL after a message. Of an image, a copy without
 * gaps, which the caller frees: *copy. */
static const void *results(struct wm_machine *machine, const struct tool_buffer *buffer, uint64_t offset,
                           void **copy)
{
    const uint64_t size = tool_buffer_bytes(buffer) - offset;
    const void *bytes = buffer->address ? wm_host_pointer(machine, buffer->address + offset, size) : NULL;
    *copy = NULL;
    if (!bytes) {
        tool_fail("the memory of '%s' is not there", buffer->name);
        return NULL;
    }
    if (!tool_is_image(buffer))
        return bytes;
    *copy = malloc(tool_array_size(&buffer->array));
    if (*copy)
        tool_pack_rows(buffer, bytes, *copy);
    else
        tool_fail("out of memory");
    return *copy;
}

static int compare_results(const struct tool_job *job, const struct tool_dispatch *d,
                           struct wm_machine *machine, json_t *entry)
{
    FILE *text = job->outputs.json && !job->outputs.json_path ? stderr : stdout;
    int code = TOOL_CLEAN;
    for (size_t i = 0; i < d->expectations.count; i++) {
        const struct tool_expectation *expect = &d->expect[i];
        void *copy;
        const void *bytes = results(machine, expect->buffer, expect->offset, &copy);
        struct tool_comparison comparison;
        if (!bytes)
            return TOOL_WRONG;
        if (tool_compare(expect, bytes, &comparison) != WM_OK) {
            free(copy);
            return tool_fail("--expect %s: out of memory", expect->key);
        }
        if (comparison.different)
            code = TOOL_FINDINGS;
        else if (text == stdout)
            tool_print(stdout, "expect %s: all %" PRIu64 " elements agree with %s\n", expect->key,
                       comparison.elements, expect->spec + (expect->spec[0] == '@'));
        tool_print_comparison(text, expect, bytes, &comparison);
        if (entry)
            json_array_append_new(json_object_get(entry, "expect"), json_comparison(expect, &comparison));
        free(copy);
    }
    return code;
}

static int write_output(const struct tool_dispatch *d, const struct tool_output *output,
                        struct wm_machine *machine)
{
    const struct tool_buffer *buffer = output->buffer;
    const struct tool_type *type = tool_buffer_type(buffer, output->offset);
    const uint64_t size = tool_array_size(&buffer->array) - output->offset;
    void *copy;
    const void *bytes = results(machine, buffer, output->offset, &copy);
    const size_t length = strlen(output->path);
    char option[TOOL_OUT_OPTION];
    struct tool_file file;
    if (!bytes || !tool_begin_file(&file, tool_out_option(d, output, option), output->path)) {
        free(copy);
        return TOOL_WRONG;
    }
    if (length >= 4 && strcmp(output->path + length - 4, ".npy") == 0) {
        const char *shape = output->offset == 0 && buffer->array.shape[0] ? buffer->array.shape : NULL;
        tool_npy_write(file.whole.stream, type, bytes, size / type->size, shape);
    } else {
        fwrite(bytes, 1, size, file.whole.stream);
    }
    free(copy);
    return tool_end_file(&file);
}

/* ---- running ---- */

/* What looks on; each may be NULL. */
struct watchers {
    struct wm_profile *profile;
    struct wm_check *check;
    struct wm_fidelity *fidelity;
    json_t *stales; /* findings of the scalar cache, if there is a check of waits */
};

static void show_fault(const char *what, const struct wm_fault *fault)
{
    const size_t length = strlen(fault->text);
    fflush(stdout);
    tool_print_label(stderr, TOOL_RED, what);
    fprintf(stderr, "%s%s", fault->text, length && fault->text[length - 1] == '\n' ? "" : "\n");
}

bool tool_make_machine(struct tool_job *job, struct wm_check *check, struct wm_machine **machine,
                       struct wm_diag *diag)
{
    struct wm_diag why;
    const char *requested = job->opened[0].target; /* whether SRAM-ECC is on is up to the machine */
    bool good = wm_machine_create(requested && strstr(requested, ":sramecc")
                                      ? requested
                                      : wm_object_target(job->opened[0].object),
                                  machine, diag) == WM_OK;
    if (good && check)
        good = wm_check_machine(check, *machine, diag) == WM_OK;
    if (good && job->apertures &&
        wm_set_apertures(*machine, job->shared_base, job->private_base, &why) != WM_OK)
        good = tool_because(diag, "--apertures: %s", why.message);
    for (size_t i = 0; i < job->opened_count && good; i++)
        good = wm_load(*machine, job->opened[i].object, diag) == WM_OK;
    for (struct tool_buffer *b = job->buffers; b && good; b = b->next) /* before others take their place */
        if (b->at || b->symbol_of)
            good = tool_allocate(*machine, b, diag);
    for (struct tool_buffer *b = job->buffers; b && good; b = b->next)
        if (b->declared && !tool_allocate(*machine, b, &why))
            good = tool_because(diag, "--buffer %s: %s", b->name, why.message);
    return good && tool_fill_buffers(job, *machine, diag);
}

/* Arguments and words keep the addresses, which no other buffer of the job may get, so all buffers are
 * allocated first. */
bool tool_free_buffers(const struct tool_job *job, const struct tool_dispatch *d, struct wm_machine *machine,
                       struct wm_diag *diag)
{
    for (struct tool_buffer *b = job->buffers; b && d->frees.count; b = b->next)
        if (!tool_allocate(machine, b, diag))
            return false;
    for (size_t i = 0; i < d->frees.count; i++)
        if (wm_free(machine, d->freed[i]->address, diag) != WM_OK)
            return false;
    return true;
}

/* ---- deadlocks ---- */

static void ignore_text(void *user, const char *text, size_t length)
{
    (void)user, (void)text, (void)length;
}

/* Runs dispatch `index` without output. */
static bool run_silently(struct tool_job *job, size_t index, struct wm_machine *machine, uint32_t threads,
                         struct wm_result *result)
{
    const struct tool_dispatch *d = &job->dispatches[index];
    struct tool_prepared prepared;
    struct wm_diag diag;
    *result = (struct wm_result){.struct_size = sizeof(*result)};
    bool good = tool_prepare(job, index, machine, &prepared, &diag);
    prepared.dispatch.threads = threads;
    prepared.dispatch.print = ignore_text; /* so that it has a buffer for its text, as before */
    good = good && wm_dispatch(machine, d->object, d->kernel, &prepared.dispatch, result, &diag) == WM_OK;
    tool_release(&prepared);
    return good && tool_free_buffers(job, d, machine, &diag);
}

/* Which waves wait in a deadlock may depend on the order of workgroups. So the job is run again from its
 * beginning, and dispatch `index` on one thread, where the order is always the same. */
static void settle_deadlock(struct tool_job *job, size_t index, struct wm_machine **machine,
                            struct wm_result *result)
{
    struct wm_result again;
    struct wm_diag diag;
    wm_machine_destroy(*machine);
    *machine = NULL;
    bool good = true;
    for (struct tool_buffer *b = job->buffers; b && good; b = b->next) {
        b->address = 0;
        b->filled = b->symbol_of;
        good = tool_array_reload(&b->array);
    }
    good = good && tool_make_machine(job, NULL, machine, &diag);
    for (size_t i = 0; i < index && good; i++)
        good = run_silently(job, i, *machine, job->threads, &again) && again.fault.kind == WM_FAULT_NONE;
    good = good && run_silently(job, index, *machine, 1, &again) && again.fault.kind == WM_FAULT_DEADLOCK;
    if (good) {
        again.seconds = result->seconds;
        *result = again;
    } else {
        strncat(result->fault.text, "\n  this may depend on the order in which workgroups run: try -j 1",
                sizeof result->fault.text - strlen(result->fault.text) - 1);
    }
}

/* Runs the dispatch, and writes the registers that it should end with. */
static int execute(struct wm_machine *machine, const struct tool_dispatch *d,
                   const struct wm_dispatch *dispatch, struct wm_result *result)
{
    struct wm_diag diag;
    json_t *registers = NULL;
    const enum wm_status status = d->final.path
                                      ? tool_run_to_registers(machine, d, dispatch, result, &registers, &diag)
                                      : wm_dispatch(machine, d->object, d->kernel, dispatch, result, &diag);
    int code = TOOL_CLEAN;
    tool_progress_clear();
    if (status != WM_OK)
        code = tool_fail("%s%s", d->where, diag.message);
    else if (registers || (d->final.path && result->fault.kind == WM_FAULT_NONE))
        code = tool_write_registers(d, registers);
    json_decref(registers);
    return code;
}

/* Says that Ctrl-C ended the dispatch when `done` workgroups were complete. */
static int tell_stopped(json_t *report, const struct tool_dispatch *d, uint64_t done)
{
    char why[120];
    uint64_t all = 1;
    for (unsigned i = 0; i < 3; i++)
        all *= ((uint64_t)d->grid[i] + d->workgroup[i] - 1) / d->workgroup[i];
    snprintf(why, sizeof why, "stopped by Ctrl-C when %" PRIu64 " of %" PRIu64 " workgroups were complete",
             done, all);
    tool_incomplete(report, d->kernel->name, why);
    return TOOL_STOPPED;
}

/* The dispatch's entry of the report; takes the lists of stale values and of exports, which may be NULL. */
static json_t *make_entry(const struct tool_dispatch *d, const struct wm_result *result,
                          const struct wm_dependence *dependence, bool reproducible, json_t *stale,
                          json_t *exported)
{
    json_t *entry = json_dispatch(d, result);
    json_object_set_new(entry, "dependence", json_dependence(dependence));
    json_object_set_new(entry, "reproducible", json_boolean(reproducible));
    if (stale)
        json_object_set_new(entry, "scalar_cache", stale);
    if (exported)
        json_object_update(entry, exported);
    json_decref(exported);
    return entry;
}

static int tell_fault(const struct tool_job *job, const struct tool_dispatch *d,
                      const struct wm_result *result, json_t *report)
{
    const bool refused = result->fault.kind == WM_FAULT_MEMORY || result->fault.kind == WM_FAULT_READ_ONLY;
    show_fault("error", &result->fault);
    if (refused && !job->check.given)
        fputs("  hint: --on-violation continue goes on as the hardware does; 'wavemem check' with the same "
              "options finds all such accesses\n",
              stderr);
    if (job->shard.text && result->fault.kind == WM_FAULT_DEADLOCK)
        fputs("  workgroups of other shards do not run here\n", stderr);
    if (report && job->check.given)
        json_array_append_new(
            json_object_get(report, "incomplete"),
            json_pack("{s:o, s:s}", "what", tool_json_text(d->kernel->name), "why", "it ended with a fault"));
    return TOOL_FAULT;
}

/* Sets the observer of --exports or of a shard, which has no exports; neither: there is none. */
static bool begin_observer(struct tool_job *job, size_t index, struct wm_machine *machine,
                           struct tool_exports *exports, struct wm_dispatch *dispatch,
                           const struct wm_observer **observer, struct wm_diag *diag)
{
    if (job->exports) {
        tool_exports_begin(exports);
        *observer = &exports->observer;
    } else if (job->shard.text && !tool_shard_begin(job, index, machine, dispatch, observer, diag)) {
        return false;
    }
    dispatch->observers = observer;
    dispatch->observer_count = *observer != NULL;
    return true;
}

int tool_use_results(const struct tool_job *job, const struct tool_dispatch *d, struct wm_machine *machine,
                     json_t *entry)
{
    struct wm_diag diag;
    int code = compare_results(job, d, machine, entry);
    for (size_t i = 0; i < d->outputs.count && code != TOOL_WRONG; i++)
        if (write_output(d, &d->output[i], machine) != TOOL_CLEAN)
            code = TOOL_WRONG;
    if (!tool_free_buffers(job, d, machine, &diag))
        return tool_fail("%s%s", d->where, diag.message);
    return code;
}

static int run_dispatch(struct tool_job *job, size_t index, struct wm_machine **machine,
                        const struct watchers *watchers, json_t *report)
{
    struct tool_dispatch *d = &job->dispatches[index];
    struct wm_diag diag = {0};
    struct tool_prepared prepared;
    const bool watched = watchers->profile || watchers->check || watchers->fidelity || job->scalar_cache ||
                         job->exports || job->shard.text;
    if (!tool_prepare(job, index, *machine, &prepared, &diag)) {
        tool_release(&prepared);
        return tool_fail("%s%s", d->where, diag.message);
    }
    struct progress progress = {.shown = tool_progress_begin(d->kernel->source_name)};
    progress.text = job->outputs.json && !job->outputs.json_path
                        ? stderr
                        : stdout; /* not between the braces of the report */
    struct stales stales = {.report = report && job->scalar_cache ? json_array() : NULL,
                            .silent = job->outputs.json && !job->outputs.json_path,
                            .findings = watchers->stales,
                            .place = {*machine, d->object, d->kernel, (uint32_t)index + 1}};
    struct wm_dispatch *dispatch = &prepared.dispatch;
    dispatch->stale = add_stale;
    dispatch->stale_user = &stales;
    dispatch->profile = watchers->profile;
    dispatch->check = watchers->check;
    dispatch->fidelity = watchers->fidelity;
    dispatch->progress = show_progress;
    dispatch->progress_user = &progress;
    dispatch->print = print_text;
    dispatch->print_user = &progress;
    struct tool_exports exports;
    const struct wm_observer *observer = NULL;
    if (!begin_observer(job, index, *machine, &exports, dispatch, &observer, &diag)) {
        tool_release(&prepared);
        return tool_fail("%s", diag.message);
    }
    struct wm_result result = {.struct_size = sizeof(result)};
    const int executed = execute(*machine, d, dispatch, &result);
    json_t *exported = job->exports ? tool_exports_end(&exports) : NULL;
    tool_release(&prepared);
    if (executed != TOOL_CLEAN) {
        json_decref(stales.report);
        json_decref(exported);
        return executed;
    }
    if (exported && progress.text == stdout)
        tool_print_exports(stdout, d->kernel->source_name, exported);
    struct wm_dependence dependence = {.kind = WM_INDEPENDENT};
    const bool deadlock = result.fault.kind == WM_FAULT_DEADLOCK && !watched;
    if ((report || job->stats || deadlock) &&
        wm_find_dependence(*machine, d->object, d->kernel, &dependence, &diag) != WM_OK) {
        json_decref(stales.report);
        json_decref(exported);
        return tool_fail("%s%s", d->where, diag.message);
    }
    if (deadlock && dependence.kind != WM_INDEPENDENT && job->threads != 1 && !d->final.path)
        settle_deadlock(job, index, machine, &result);
    const bool reproducible = watched
                                  ? result.reproducible
                                  : dependence.kind == WM_INDEPENDENT && result.fault.kind == WM_FAULT_NONE;
    json_t *entry = NULL;
    if (report) {
        entry = make_entry(d, &result, &dependence, reproducible, stales.report, exported);
        json_array_append_new(json_object_get(report, "dispatches"), entry);
    } else {
        json_decref(exported);
    }
    int code = TOOL_CLEAN;
    if (job->stats && !(job->outputs.json && !job->outputs.json_path))
        print_stats(stdout, d, &result, reproducible);
    if (watched && !reproducible && result.fault.kind != WM_FAULT_STOPPED) {
        tool_print_label(stderr, TOOL_YELLOW, "note");
        tool_print(stderr, "%s: %s, so the report may differ with another -j\n", d->kernel->source_name,
                   result.fault.kind == WM_FAULT_NONE ? "code was found only when it was executed"
                                                      : "it ended early");
    }
    if (*result.incomplete)
        code = tool_incomplete(report, d->kernel->name, result.incomplete);
    const bool violated =
        result.violations && !(job->check.classes & WM_CHECK_MEMORY) && !job->shard.text; /* merge says it */
    if (violated) {
        show_fault("warning", &result.violation);
        fprintf(stderr, "  this is the first of %" PRIu64 " such accesses\n", result.violations);
    }
    if (result.fault.kind == WM_FAULT_STOPPED)
        return tell_stopped(report, d, progress.done);
    if (result.fault.kind != WM_FAULT_NONE)
        return tell_fault(job, d, &result, report);
    if (job->shard.text)
        return code;
    if (stales.count || violated)
        code = tool_worse(code, TOOL_FINDINGS);
    return tool_worse(code, tool_use_results(job, d, *machine, entry));
}

/* The kernels of the code objects that did not run. */
static json_t *unchecked_kernels(const struct tool_job *job, const json_t *coverage)
{
    json_t *list = json_array();
    for (size_t o = 0; o < job->opened_count; o++)
        for (size_t k = 0; k < wm_object_kernel_count(job->opened[o].object); k++) {
            const char *name = wm_object_kernel(job->opened[o].object, k)->name;
            bool ran = false;
            size_t i;
            json_t *row;
            json_array_foreach(coverage, i, row) ran |= !strcmp(tool_text_of(row, "kernel"), name);
            if (!ran)
                json_array_append_new(list, tool_json_text(name));
        }
    return list;
}

/* Shows what the watchers saw, in the report and as text; returns the job's exit code. */
static int show_watchers(struct tool_job *job, const struct watchers *watchers, json_t *report, int worst)
{
    const bool text = worst != TOOL_WRONG && !(job->outputs.json && !job->outputs.json_path);
    if (watchers->fidelity && report)
        json_object_set_new(report, "fidelity", tool_json_fidelity(watchers->fidelity));
    if (watchers->fidelity && text)
        tool_print_fidelity(stdout, watchers->fidelity);
    if (!watchers->check || worst == TOOL_WRONG)
        return worst;
    json_t *findings = tool_json_findings(watchers->check), *coverage = tool_json_coverage(watchers->check),
           *unchecked = unchecked_kernels(job, coverage);
    json_array_extend(findings, watchers->stales);
    if (job->shard.text) {
        job->shard.found = tool_part_findings(job, watchers->check, findings, coverage, unchecked);
        json_decref(findings);
        json_decref(coverage);
        json_decref(unchecked);
        return worst;
    }
    worst = tool_check_show(&job->check, findings, coverage, unchecked, report, text ? stdout : NULL, worst);
    json_decref(findings);
    json_decref(coverage);
    json_decref(unchecked);
    return worst;
}

static bool ends_job(int code)
{
    return code == TOOL_WRONG || code == TOOL_FAULT || code == TOOL_STOPPED;
}

int tool_job_run(struct tool_job *job, struct wm_profile *profile, json_t *report)
{
    struct wm_diag diag;
    struct wm_machine *machine = NULL;
    if (report)
        json_object_set_new(report, "dispatches", json_array());
    int worst = TOOL_CLEAN;
    struct watchers watchers = {.profile = profile};
    /* Whether a wait was needless is known when all parts have told which of them they needed. */
    const unsigned more = job->shard.text && job->check.classes & WM_CHECK_NEEDLESS ? WM_CHECK_EVERY_WAIT : 0;
    tool_watch_interrupts();
    if (job->check.given && job->check.classes & WM_CHECK_WAITS)
        watchers.stales = json_array();
    if ((job->fidelity && wm_fidelity_create(&watchers.fidelity, &diag) != WM_OK) ||
        (job->check.classes && wm_check_create(job->check.classes | more, &watchers.check, &diag) != WM_OK) ||
        (job->check.seed_count &&
         wm_check_shuffle(watchers.check, job->check.seeds, job->check.seed_count, &diag) != WM_OK) ||
        !tool_make_machine(job, watchers.check, &machine, &diag))
        worst = tool_fail("%s", diag.message);
    for (size_t i = 0; i < job->count && !ends_job(worst); i++)
        worst = tool_worse(worst, run_dispatch(job, i, &machine, &watchers, report));
    worst = show_watchers(job, &watchers, report, worst);
    if (job->shard.text && (worst == TOOL_CLEAN || (watchers.check && worst != TOOL_WRONG)) &&
        !tool_shard_end(job, machine, report, &diag))
        worst = tool_fail("%s", diag.message);
    fflush(stdout);
    for (size_t i = 0; i < job->count && worst != TOOL_WRONG; i++)
        tool_warn_of_sizes(job, i);
    if (job->guess && (worst == TOOL_FINDINGS || worst == TOOL_FAULT)) {
        tool_print_label(stderr, TOOL_YELLOW, "note");
        fputs("sizes or arguments were guessed, and may be what is wrong: start from the command above\n",
              stderr);
    }
    json_decref(watchers.stales);
    wm_fidelity_destroy(watchers.fidelity);
    wm_check_destroy(watchers.check);
    wm_machine_destroy(machine);
    return worst;
}
