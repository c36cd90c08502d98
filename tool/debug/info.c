/* SPDX-License-Identifier: MIT */
/* `info': what there is to know about what is stopped. */
#include "tool/arguments/buffers.h"
#include "tool/debug/calls.h"
#include "tool/debug/names.h"
#include "tool/debug/prompt.h"
#include "tool/tool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    WAVES = 256,     /* that are listed */
    LDS_BYTES = 256, /* that are shown without a count */
};

static bool info_breakpoints(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    (void)text, (void)diag;
    if (!s->breakpoint_count)
        fprintf(s->out, "No breakpoints or watchpoints.\n");
    else
        fprintf(s->out, "Num     Type            Disp Enb What\n");
    for (size_t i = 0; i < s->breakpoint_count; i++) {
        const struct debug_breakpoint *b = &s->breakpoints[i];
        const char *type = !b->watches ? "breakpoint"
                           : !b->reads ? "hw watchpoint"
                           : b->writes ? "acc watchpoint"
                                       : "read watchpoint";
        fprintf(s->out, "%-7u %-15s %-4s %c   ", b->number, type, b->temporary ? "del" : "keep",
                b->enabled ? 'y' : 'n');
        tool_print(s->out, "%s\n", b->what);
        if (b->condition)
            tool_print(s->out, "        stop only if %s\n", b->condition);
        if (b->hits)
            fprintf(s->out, "\tbreakpoint already hit %" PRIu64 " time%s\n", b->hits,
                    b->hits == 1 ? "" : "s");
        for (size_t a = 0; a < b->address_count && b->address_count > 1; a++) {
            char symbol[DEBUG_TEXT];
            const struct debug_place place = debug_place_of(s, b->addresses[a]);
            tool_print(s->out, "        0x%" PRIx64 " <%s>\n", b->addresses[a],
                       debug_symbol_text(&place, symbol));
        }
    }
    return true;
}

/* ---- waves ---- */

static void print_wave(struct debug_session *s, const struct wm_stopped *wave, bool selected)
{
    char where[96], lanes[256], text[DEBUG_TEXT], symbol[DEBUG_TEXT];
    const struct debug_place place = debug_place_of(s, wave->pc);
    debug_instruction(s, wave->pc, NULL, text);
    tool_print(s->out, "%c %s: lanes %s, 0x%" PRIx64 " <%s> %s", selected ? '*' : ' ',
               debug_wave_text(wave->workgroup, wave->wave, -1, where), debug_lanes(wave->lanes, lanes),
               wave->pc, debug_symbol_text(&place, symbol), text);
    if (place.file)
        tool_print(s->out, " %s:%u", place.file, place.line);
    fprintf(s->out, wave->waits ? ", %s\n" : "\n", debug_wait_text(wave->waits));
}

static bool info_waves(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    struct wm_stopped waves[WAVES];
    (void)text;
    if (!debug_need_wave(s, diag))
        return false;
    const size_t count = debug_waves(s, waves, WAVES);
    for (size_t i = 0; i < count; i++)
        print_wave(s, &waves[i],
                   waves[i].wave == s->wave.wave &&
                       !memcmp(waves[i].workgroup, s->wave.workgroup, sizeof waves[i].workgroup));
    if (count == WAVES)
        fprintf(s->out, "(the first %u of those in execution)\n", WAVES);
    return true;
}

static bool info_lanes(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    char lanes[256];
    (void)text;
    if (!debug_need_wave(s, diag))
        return false;
    const uint64_t all = s->wave.wave_size == 64 ? UINT64_MAX : UINT32_MAX;
    fprintf(s->out, "active    %s\n", debug_lanes(s->wave.lanes, lanes));
    fprintf(s->out, "inactive  %s\n", debug_lanes(all & ~s->wave.lanes, lanes));
    fprintf(s->out, "selected  %u\n", s->lane);
    return true;
}

/* ---- registers ---- */

static void print_register(struct debug_session *s, const char *name, const struct debug_value *v)
{
    char hex[DEBUG_SCALAR], natural[DEBUG_SCALAR];
    fprintf(s->out, "%-14s %-18s %s\n", name, debug_scalar(v, 'x', hex),
            debug_scalar(v, v->size == 4 ? 'd' : 'u', natural));
}

static bool print_named(struct debug_session *s, const char *name, struct wm_diag *diag)
{
    struct debug_value v;
    char dollar[64];
    snprintf(dollar, sizeof dollar, "$%.60s", name + (*name == '$'));
    if (!debug_evaluate(s, dollar, s->lane, &v, diag))
        return false;
    if (v.space != DEBUG_REGISTER)
        return tool_because(diag, "Invalid register `%s'", name);
    if (!v.vector) {
        print_register(s, name + (*name == '$'), &v);
        return true;
    }
    fprintf(s->out, "%-14s ", name + (*name == '$'));
    if (!debug_print_value(s, &v, 'x', diag))
        return false;
    fputc('\n', s->out);
    return true;
}

static bool info_registers(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    static const char *const specials[] = {"pc", "exec", "vcc", "scc", "m0", "mode"};
    const struct wm_kernel *kernel = debug_dispatch(s)->kernel;
    if (!debug_need_wave(s, diag))
        return false;
    for (const char *at = text; *at; at += strspn(at, " \t")) {
        char name[32];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, " \t"), at);
        if (!print_named(s, name, diag))
            return false;
        at += strcspn(at, " \t");
    }
    for (size_t i = 0; i < sizeof specials / sizeof *specials && !*text; i++)
        if (!print_named(s, specials[i], diag))
            return false;
    /* Those that the kernel uses, by its metadata; all have more, which `info registers s90' shows. */
    for (unsigned i = 0; !*text && i < kernel->sgprs && i < s->wave.sgprs; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%u", i);
        if (!print_named(s, name, diag))
            return false;
    }
    for (unsigned i = 0; !*text && i < kernel->vgprs && i < s->wave.vgprs; i++) {
        char name[16];
        snprintf(name, sizeof name, "v%u", i);
        if (!print_named(s, name, diag))
            return false;
    }
    return true;
}

/* ---- memory ---- */

static bool info_lds(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    uint64_t from = 0, bytes = LDS_BYTES;
    const size_t length = strcspn(text, " \t");
    if (!debug_need_wave(s, diag))
        return false;
    if (length) {
        char *first = strndup(text, length);
        const char *rest = text + length + strspn(text + length, " \t");
        const bool good =
            debug_number(s, first, &from, diag) && (!*rest || debug_number(s, rest, &bytes, diag));
        free(first);
        if (!good)
            return false;
    }
    if (from >= s->wave.lds_bytes && (length || s->wave.lds_bytes))
        return tool_because(diag, "The workgroup has %u bytes of LDS.", s->wave.lds_bytes);
    fprintf(s->out, "LDS of workgroup (%u,%u,%u): %u bytes\n", s->wave.workgroup[0], s->wave.workgroup[1],
            s->wave.workgroup[2], s->wave.lds_bytes);
    const uint64_t room = s->wave.lds_bytes - from;
    const struct debug_format format = {.count = (bytes < room ? bytes : room) / 4, .letter = 'x'};
    const struct debug_value place = {
        .kind = 'u', .size = 4, .space = DEBUG_LDS, .address = from, .count = 1};
    return !format.count || debug_examine(s, &format, &place, diag);
}

static bool info_args(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    const struct tool_dispatch *d = debug_dispatch(s);
    (void)text;
    if (s->state == DEBUG_BEFORE)
        return tool_because(diag, "The kernel is not being run.");
    for (size_t i = 0; i < d->formals; i++) {
        struct debug_value v;
        char title[32];
        snprintf(title, sizeof title, "%zu", i);
        tool_print(s->out, "%s = ", *d->formal[i].name ? d->formal[i].name : title);
        if (!debug_argument(s, i, &v))
            fprintf(s->out, "<%u bytes>", d->formal[i].size);
        else if (!debug_print_value(s, &v, 0, diag))
            return false;
        if (d->bindings && d->bindings[i].buffer)
            tool_print(s->out, "  %s, %" PRIu64 " bytes",
                       d->bindings[i].buffer->array.spec ? d->bindings[i].buffer->array.spec : "",
                       tool_buffer_bytes(d->bindings[i].buffer) - d->bindings[i].offset);
        fputc('\n', s->out);
    }
    if (!d->formals)
        fprintf(s->out, "No arguments.\n");
    return true;
}

static bool info_locals(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    struct wm_variable variable;
    struct debug_value v;
    const char *why;
    bool any = false;
    (void)text;
    if (!debug_need_wave(s, diag))
        return false;
    const unsigned depth = debug_selected_depth(s);
    for (size_t i = 0; debug_variable(s, i, s->lane, &variable, &v, &why); i++) {
        if (variable.depth != depth)
            continue;
        any = true;
        tool_print(s->out, "%s = ", variable.name);
        if (why)
            fputs(why, s->out);
        else if (!debug_print_value(s, &v, 0, diag))
            return false;
        fputc('\n', s->out);
    }
    if (!any)
        fprintf(s->out, TOOL_HAS_DWARF ? "No locals.\n" : TOOL_NO_DWARF "\n");
    return true;
}

/* ---- code ---- */

static bool info_line(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    uint64_t *addresses, here = s->wave.pc;
    size_t count = 1;
    if (!*text && !debug_need_wave(s, diag))
        return false;
    addresses = &here;
    if (*text && !debug_locate(s, text, &addresses, &count, diag))
        return false;
    for (size_t i = 0; i < count; i++) {
        char symbol[DEBUG_TEXT];
        const struct debug_place place = debug_place_of(s, addresses[i]);
        if (place.file)
            tool_print(s->out, "Line %u of \"%s\" is at address 0x%" PRIx64 " <%s>.\n", place.line,
                       place.file, addresses[i], debug_symbol_text(&place, symbol));
        else
            tool_print(s->out, "No line number information available for address 0x%" PRIx64 " <%s>\n",
                       addresses[i], debug_symbol_text(&place, symbol));
    }
    if (addresses != &here)
        free(addresses);
    return true;
}

static bool info_symbol(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    uint64_t address;
    char symbol[DEBUG_TEXT];
    struct wm_allocation a = {.struct_size = sizeof a};
    if (!debug_number(s, text, &address, diag))
        return false;
    const struct debug_place place = debug_place_of(s, address);
    if (place.object)
        tool_print(s->out, "%s\n", debug_symbol_text(&place, symbol));
    else if (wm_find_allocation(s->machine, address, false, &a, NULL) == WM_OK)
        tool_print(s->out, "%s+0x%" PRIx64 " (%" PRIu64 " bytes)\n", a.name, address - a.address, a.size);
    else
        fprintf(s->out, "No symbol matches %s.\n", text);
    return true;
}

static bool info_record(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    uint64_t bytes = 0;
    (void)text;
    if (s->state == DEBUG_BEFORE)
        return tool_because(diag, "The kernel is not being run.");
    for (size_t i = 0; i < s->begun; i++)
        bytes += s->snapshots[i].bytes;
    fprintf(s->out, "dispatch  %zu", debug_dispatch_number(s, s->dispatch));
    if (!s->source->launches)
        fprintf(s->out, " of %zu", s->job->count);
    fprintf(s->out, ", %s\n", s->state == DEBUG_STOPPED ? "stopped" : "ended");
    fprintf(s->out, "time      %" PRIu64, s->now);
    if (s->lengths[s->dispatch])
        fprintf(s->out, " of %" PRIu64, s->lengths[s->dispatch]);
    fprintf(s->out,
            " instructions\nhistory   %" PRIu64 " bytes of memory; %" PRIu64
            " instructions were repeated by the last command that went back\n",
            bytes, s->repeated);
    fprintf(s->out, "          %zu checkpoints within the dispatch, %" PRIu64 " bytes\n", s->checkpoint_count,
            debug_checkpoint_bytes(s));
    fprintf(s->out, "changes   %zu\n", s->edit_count);
    return true;
}

static bool info_frame(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    (void)text;
    if (!debug_need_wave(s, diag))
        return false;
    debug_print_here(s);
    return true;
}

static bool info_dispatches(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    (void)text, (void)diag;
    for (size_t i = 0; i < s->job->count; i++) {
        const struct tool_dispatch *d = &s->job->dispatches[i];
        tool_print(s->out, "%c %zu  %s, grid %u,%u,%u, workgroup %u,%u,%u\n",
                   s->state != DEBUG_BEFORE && i == s->dispatch ? '*' : ' ', debug_dispatch_number(s, i),
                   d->kernel->source_name, d->grid[0], d->grid[1], d->grid[2], d->workgroup[0],
                   d->workgroup[1], d->workgroup[2]);
    }
    return true;
}

const struct debug_command debug_info_commands[] = {
    {"args", "ar", info_args, "arguments of the kernel"},
    {"breakpoints", "b watchpoints", info_breakpoints, "breakpoints and watchpoints"},
    {"descriptor", "desc", debug_print_descriptor,
     "descriptor REGISTERS | ADDRESS [buffer | image | sampler]: fields of a V#, T# or S#"},
    {"dispatches", "", info_dispatches, "dispatches of the job"},
    {"frame", "f", info_frame, "the selected frame"},
    {"lanes", "la", info_lanes, "which lanes are active"},
    {"lds", "", info_lds, "lds [OFFSET [BYTES]]: LDS of the workgroup"},
    {"line", "li", info_line, "line [LOCATION]: source lines and addresses"},
    {"locals", "lo", info_locals, "variables of the selected frame"},
    {"matrix", "mat", debug_print_matrix,
     "matrix [A | B | C | D]: operands of a matrix instruction, here or just executed"},
    {"record", "rec", info_record, "the time, and what the history costs"},
    {"registers", "r reg", info_registers, "registers [NAME...]: those that the kernel uses"},
    {"symbol", "s sym", info_symbol, "symbol ADDRESS: what lies there"},
    {"waves", "w threads", info_waves, "waves in execution"},
    {NULL, NULL, NULL, NULL},
};
