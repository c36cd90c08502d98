/* SPDX-License-Identifier: MIT */
/* steps: every instruction of one wave with the registers that it changes, as JSON. The words are those of `run`; --registers
 * and --of choose the wave. */
#include "api/stop.h"
#include "tool/arguments/run.h"
#include "tool/report/document.h"
#include "web/playground.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STEPS = 4096, MOST_REGISTERS = 1200, LANES = 64, MOST_LDS = 1 << 16 };

static const char *const specials[] = {"vcc_lo", "vcc_hi", "exec_lo", "exec_hi", "m0", "scc"};

struct recorded {
    char name[12];
    unsigned lanes; /* values; 1: a scalar register */
    uint32_t value[LANES];
};

struct recorder {
    const struct tool_dispatch *dispatch;
    uint64_t entry; /* guest address */
    struct recorded *registers;
    size_t count;
    json_t *first, *steps; /* registers before the first instruction; what each instruction changed */
    json_t *wave, *lds;
    bool cut;
    enum wm_status status;
    struct wm_diag diag;
};

static void add_register(struct recorder *r, const char *name, unsigned lanes)
{
    struct recorded *one = &r->registers[r->count++];
    snprintf(one->name, sizeof one->name, "%s", name);
    one->lanes = lanes;
}

static void add_file(struct recorder *r, const char *prefix, uint32_t count, unsigned lanes)
{
    char name[16];
    for (uint32_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "%s%" PRIu32, prefix, i);
        add_register(r, name, lanes);
    }
}

static void begin(struct recorder *r, const struct wm_stopped *stopped)
{
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        add_register(r, specials[i], 1);
    add_file(r, "s", stopped->sgprs, 1);
    add_file(r, "v", stopped->vgprs, stopped->wave_size);
    add_file(r, "a", stopped->agprs, stopped->wave_size);
    r->wave = json_pack("{s:o, s:i, s:i, s:i}", "workgroup", tool_json_extent(stopped->workgroup), "wave",
                        (int)stopped->wave, "lanes", (int)stopped->wave_size, "lds_bytes",
                        (int)stopped->lds_bytes);
}

static json_t *json_values(const struct recorded *one)
{
    if (one->lanes == 1)
        return json_integer(one->value[0]);
    json_t *list = json_array();
    for (unsigned lane = 0; lane < one->lanes; lane++)
        json_array_append_new(list, json_integer(one->value[lane]));
    return list;
}

/* The registers that have changed since the last call; all of them: the first one. */
static json_t *changes(struct recorder *r, struct wm_run *run, bool all)
{
    json_t *object = json_object();
    for (size_t i = 0; i < r->count && !r->status; i++) {
        struct recorded *one = &r->registers[i];
        uint32_t value[LANES] = {0};
        r->status = wm_run_get(run, one->name, value, one->lanes, &r->diag);
        if (!all && !memcmp(value, one->value, one->lanes * sizeof *value))
            continue;
        memcpy(one->value, value, sizeof value);
        json_object_set_new(object, one->name, json_values(one));
    }
    return object;
}

static void keep_lds(struct recorder *r, struct wm_run *run, const struct wm_stopped *stopped)
{
    const uint32_t bytes = stopped->lds_bytes < MOST_LDS ? stopped->lds_bytes : MOST_LDS;
    uint32_t *words = calloc(bytes / 4 + 1, 4);
    json_t *list = json_array();
    struct wm_diag unused;
    if (words && bytes && wm_run_read_lds(run, 0, words, bytes / 4 * 4, &unused) == WM_OK)
        for (uint32_t i = 0; i < bytes / 4; i++)
            json_array_append_new(list, json_integer(words[i]));
    free(words);
    json_decref(r->lds);
    r->lds = list;
}

/* Before each instruction of the wave. */
static void visit(struct wm_run *run, void *user)
{
    struct recorder *r = user;
    const struct tool_final *final = &r->dispatch->final;
    const struct wm_stopped *stopped = wmi_run_stopped(run);
    struct wm_stop_at at = {.struct_size = sizeof at, .at_wave = true, .wave = final->wave};
    memcpy(at.workgroup, final->workgroup, sizeof at.workgroup);
    const bool own = stopped && stopped->wave == final->wave &&
                     !memcmp(stopped->workgroup, final->workgroup, sizeof final->workgroup);
    if (own) {
        const bool first = !r->count;
        if (first)
            begin(r, stopped);
        json_t *changed = changes(r, run, first);
        if (first)
            r->first = changed;
        else
            json_object_set_new(json_array_get(r->steps, json_array_size(r->steps) - 1), "changed", changed);
        r->cut = json_array_size(r->steps) == MOST_STEPS;
        if (!r->cut)
            json_array_append_new(r->steps, json_pack("{s:I, s:b}", "offset",
                                                      (json_int_t)(stopped->pc - r->entry),
"fault", stopped->kind == WM_STOP_FAULT));
        if (stopped->lds_bytes)
            keep_lds(r, run, stopped);
    }
    const enum wm_status status = wmi_run_next(run, r->status || r->cut ? NULL : &at, &r->diag);
    r->status = r->status ? r->status : status;
}

static int record(struct tool_job *job, json_t *report)
{
    const struct tool_dispatch *d = &job->dispatches[0];
    struct recorder r = {.dispatch = d, .steps = json_array()};
    struct wm_machine *machine = NULL;
    struct tool_prepared prepared = {0};
    struct wm_result result = {.struct_size = sizeof result};
    struct wm_diag diag;
    r.registers = calloc(MOST_REGISTERS, sizeof *r.registers);
    bool good = r.registers && tool_make_machine(job, NULL, &machine, &diag) &&
                tool_prepare(job, 0, machine, &prepared, &diag) &&
                wm_symbol(machine, d->object, d->kernel->name, &r.entry, NULL, &diag) == WM_OK &&
                wmi_run_visiting(machine, d->object, d->kernel, &prepared.dispatch, visit, &r, &result, &diag) ==
                    WM_OK;
    if (good && r.status) {
        good = false;
        diag = r.diag;
    }
    json_object_set_new(report, "wave", r.wave ? r.wave : json_null());
    json_object_set_new(report, "registers", r.first ? r.first : json_object());
    json_object_set_new(report, "steps", r.steps);
    json_object_set_new(report, "lds", r.lds ? r.lds : json_array());
    json_object_set_new(report, "cut", json_boolean(r.cut));
    tool_release(&prepared);
    wm_machine_destroy(machine);
    free(r.registers);
    return good ? TOOL_CLEAN : tool_fail("%s", diag.message);
}

static int cmd_steps(int argc, char **argv)
{
    struct tool_job job;
    int code = tool_job_parse(&job, "run", argc - 1, argv + 1);
    if (code == TOOL_CLEAN)
        code = tool_job_check(&job);
    if (code == TOOL_CLEAN) {
        json_t *report = tool_report("steps");
        code = record(&job, report);
        json_dumpf(report, stdout, JSON_COMPACT);
        putchar('\n');
        json_decref(report);
    }
    tool_job_free(&job);
    return code;
}

const struct tool_verb web_verb_steps = {"steps", "record the registers of a wave", cmd_steps, "", NULL, NULL};
