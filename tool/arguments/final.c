/* SPDX-License-Identifier: MIT */
/* Final registers of a wave: the dispatch is stopped before the instruction that ends the wave. The keys are
 * described in docs/schema/registers.json. */
#include "tool/arguments/final.h"

#include "tool/arguments/value.h"
#include "tool/output.h"
#include "tool/report/document.h"
#include "tool/tool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 64, SCHEMA = 1 /* increased if the meaning of existing keys changes */ };

/* ---- where waves end ---- */

struct places {
    uint64_t *addresses;
    size_t count, room;
};

static bool add_place(struct places *places, uint64_t address)
{
    if (places->count == places->room) {
        places->room = places->room * 2 + 64;
        uint64_t *larger = realloc(places->addresses, places->room * sizeof *larger);
        if (!larger)
            return false;
        places->addresses = larger;
    }
    places->addresses[places->count++] = address;
    return true;
}

/* Every word that is an instruction which ends a wave if it is executed; literals that look like one are
 * never reached. */
static bool find_ends(const struct wm_object *object, uint64_t bias, struct places *places)
{
    const struct wm_target *target = wm_target(wm_object_target(object));
    const size_t count = wm_object_code(object, NULL, 0);
    struct wm_code *code = calloc(count + 1, sizeof *code);
    bool good = code != NULL;
    if (good)
        wm_object_code(object, code, count);
    for (size_t c = 0; c < count && good; c++)
        for (size_t at = 0; at + 4 <= code[c].size && good; at += 4) {
            struct wm_instruction instruction;
            uint32_t word;
            memcpy(&word, code[c].bytes + at, sizeof word);
            if (wm_decode(target, &word, 1, &instruction) && instruction.flags & WM_INSTRUCTION_ENDS)
                good = add_place(places, code[c].address + at + bias);
        }
    free(code);
    return good;
}

/* ---- the registers ---- */

static json_t *json_values(const uint32_t *values, unsigned count)
{
    json_t *array = json_array();
    for (unsigned i = 0; i < count; i++)
        json_array_append_new(array, json_integer(values[i]));
    return array;
}

/* Registers of `prefix` and a number: of one value each, or of a list of lanes. */
static bool add_file(struct wm_run *run, json_t *object, const char *key, const char *prefix, unsigned count,
                     unsigned lanes, struct wm_diag *diag)
{
    json_t *array = json_array();
    json_object_set_new(object, key, array);
    for (unsigned i = 0; i < count; i++) {
        char name[24];
        uint32_t values[LANES];
        snprintf(name, sizeof name, "%s%u", prefix, i);
        if (wm_run_get(run, name, values, lanes, diag) != WM_OK)
            return false;
        json_array_append_new(array, lanes == 1 ? json_integer(values[0]) : json_values(values, lanes));
    }
    return true;
}

static bool add_specials(struct wm_run *run, json_t *object, struct wm_diag *diag)
{
    static const char *const names[] = {
        "vcc_lo", "vcc_hi",          "exec_lo",         "exec_hi",       "m0",           "scc",
        "mode",   "flat_scratch_lo", "flat_scratch_hi", "xnack_mask_lo", "xnack_mask_hi"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        uint32_t value;
        if (wm_run_get(run, names[i], &value, 1, diag) != WM_OK)
            return false;
        json_object_set_new(object, names[i], json_integer(value));
    }
    return true;
}

static bool read_registers(struct wm_run *run, const struct tool_dispatch *d,
                           const struct wm_stopped *stopped, uint64_t bias, json_t **registers,
                           struct wm_diag *diag)
{
    enum { TTMPS = 16 };
    json_t *object = json_pack("{s:s, s:i}", "wavemem", wm_version(), "schema", SCHEMA);
    *registers = object;
    json_object_set_new(object, "file", tool_json_text(d->file));
    json_object_set_new(object, "kernel", tool_json_text(d->kernel->name));
    json_object_set_new(object, "target", json_string(wm_object_target(d->object)));
    json_object_set_new(object, "workgroup", tool_json_extent(stopped->workgroup));
    json_object_set_new(object, "wave", json_integer(stopped->wave));
    json_object_set_new(object, "wave_size", json_integer(stopped->wave_size));
    json_object_set_new(object, "faulted", json_boolean(stopped->kind == WM_STOP_FAULT));
    json_object_set_new(object, "pc", json_sprintf("0x%" PRIx64, stopped->pc));
    json_object_set_new(object, "offset", json_integer((json_int_t)(stopped->pc - bias - d->kernel->entry)));
    json_object_set_new(object, "instructions", json_integer((json_int_t)stopped->instructions));
    return add_specials(run, object, diag) && add_file(run, object, "ttmps", "ttmp", TTMPS, 1, diag) &&
           add_file(run, object, "sgprs", "s", stopped->sgprs, 1, diag) &&
           add_file(run, object, "vgprs", "v", stopped->vgprs, stopped->wave_size, diag) &&
           add_file(run, object, "agprs", "a", stopped->agprs, stopped->wave_size, diag);
}

/* ---- running ---- */

static bool is_final(const struct tool_dispatch *d, const struct wm_stopped *stopped)
{
    return stopped->wave == d->final.wave &&
           !memcmp(stopped->workgroup, d->final.workgroup, sizeof stopped->workgroup);
}

static enum wm_status run_to_end_of_wave(struct wm_run *run, const struct tool_dispatch *d, uint64_t bias,
                                         const struct places *ends, json_t **registers, struct wm_diag *diag)
{
    struct wm_stop_at at = {.struct_size = sizeof at,
                            .addresses = ends->addresses,
                            .address_count = ends->count,
                            .at_wave = true,
                            .wave = d->final.wave};
    struct wm_stopped stopped = {.struct_size = sizeof stopped};
    memcpy(at.workgroup, d->final.workgroup, sizeof at.workgroup);
    do { /* faults of other waves stop it, too */
        const enum wm_status status = wm_run_to(run, &at, &stopped, diag);
        if (status)
            return status;
        if (stopped.kind == WM_STOP_END)
            return WM_OK;
    } while (!is_final(d, &stopped));
    return read_registers(run, d, &stopped, bias, registers, diag) ? WM_OK : diag->status;
}

enum wm_status tool_run_to_registers(struct wm_machine *machine, const struct tool_dispatch *d,
                                     const struct wm_dispatch *dispatch, struct wm_result *result,
                                     json_t **registers, struct wm_diag *diag)
{
    struct places ends = {0};
    struct wm_run *run;
    uint64_t entry;
    struct wm_diag unused;
    *registers = NULL;
    enum wm_status status = wm_symbol(machine, d->object, d->kernel->name, &entry, NULL, diag);
    if (status)
        return status;
    const uint64_t bias = entry - d->kernel->entry;
    if (!find_ends(d->object, bias, &ends)) {
        tool_because(diag, "out of memory");
        status = WM_NO_MEMORY;
    } else if ((status = wm_run_begin(machine, d->object, d->kernel, dispatch, &run, diag)) == WM_OK) {
        status = run_to_end_of_wave(run, d, bias, &ends, registers, diag);
        const enum wm_status end = wm_run_end(run, status != WM_OK, result, status ? &unused : diag);
        status = status ? status : end;
    }
    free(ends.addresses);
    return status;
}

int tool_write_registers(const struct tool_dispatch *d, const json_t *registers)
{
    struct tool_file file;
    const size_t flags = JSON_INDENT(1) | JSON_PRESERVE_ORDER;
    if (!registers)
        return tool_fail("%s--registers %s: the wave did not end", d->where, d->final.path);
    if (!tool_begin_file(&file, "--registers", d->final.path))
        return TOOL_WRONG;
    if (json_dumpf(registers, file.whole.stream, flags) && !ferror(file.whole.stream)) {
        tool_drop_file(&file);
        return tool_fail("--registers %s: no memory for the registers", d->final.path);
    }
    fputc('\n', file.whole.stream);
    return tool_end_file(&file);
}
