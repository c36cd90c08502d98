/* SPDX-License-Identifier: MIT */
/* Commands that run, step, stop and go back. */
#include "tool/arguments/buffers.h"
#include "tool/debug/findings.h"
#include "tool/debug/prompt.h"
#include "tool/tool.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool debug_number(struct debug_session *s, const char *text, uint64_t *number, struct wm_diag *diag)
{
    struct debug_value value;
    if (!debug_evaluate(s, text, s->lane, &value, diag))
        return false;
    *number = value.bits;
    if (value.kind == 'f' || value.count != 1 || value.aggregate)
        return tool_because(diag, "%.60s is no whole number.", text);
    if (value.kind == 'i' && debug_as_signed(&value) < 0)
        return tool_because(diag, "%.60s is negative.", text);
    return true;
}

/* The count behind step and the like; 1: none. */
static bool count_of(struct debug_session *s, const char *text, uint64_t *count, struct wm_diag *diag)
{
    *count = 1;
    return !*text || debug_number(s, text, count, diag);
}

/* "LOCATION if CONDITION": the caller frees *location; *condition points behind `if', or is NULL. */
static bool split_condition(const char *text, char **location, const char **condition, struct wm_diag *diag)
{
    const char *found = strncmp(text, "if ", 3) ? strstr(text, " if ") : text - 1;
    *condition = found ? found + 4 : NULL;
    size_t length = found ? (size_t)(found - text) + (found < text) : strlen(text);
    if (found && found < text) {
        length = 0;
        *condition = text + 3;
    }
    while (length && isspace((unsigned char)text[length - 1]))
        length--;
    *location = strndup(text, length);
    return *location || tool_because(diag, "out of memory");
}

/* ---- breakpoints ---- */

static void print_added(struct debug_session *s, unsigned number)
{
    char text[DEBUG_TEXT];
    const struct debug_breakpoint *b = debug_breakpoint(s, number);
    if (b->watches) {
        fprintf(s->out, "%s %u: ",
                !b->reads   ? "Hardware watchpoint"
                : b->writes ? "Hardware access (read/write) watchpoint"
                            : "Hardware read watchpoint",
                number);
        tool_print(s->out, "%s\n", b->what);
        return;
    }
    if (!b->address_count) {
        fprintf(s->out, "%s %u (", b->temporary ? "Temporary breakpoint" : "Breakpoint", number);
        tool_print(s->out, "%s) pending.\n", b->what);
        return;
    }
    const struct debug_place place = debug_place_of(s, b->addresses[0]);
    fprintf(s->out, "%s %u at ", b->temporary ? "Temporary breakpoint" : "Breakpoint", number);
    if (b->address_count > 1)
        tool_print(s->out, "%s. (%zu locations)\n", b->what, b->address_count);
    else if (place.file)
        tool_print(s->out, "0x%" PRIx64 ": file %s, line %u.\n", b->addresses[0], place.file, place.line);
    else
        tool_print(s->out, "0x%" PRIx64 ": %s\n", b->addresses[0], debug_symbol_text(&place, text));
}

static bool add_break(struct debug_session *s, const char *text, bool temporary, struct wm_diag *diag)
{
    char *location, here[32];
    const char *condition;
    if (!split_condition(text, &location, &condition, diag))
        return false;
    snprintf(here, sizeof here, "*0x%" PRIx64, s->wave.pc);
    const bool none = !*location;
    const unsigned number = none && !debug_need_wave(s, diag)
                                ? 0
                                : debug_break(s, none ? here : location, condition, temporary, diag);
    free(location);
    if (number)
        print_added(s, number);
    return number;
}

static bool cmd_break(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    return add_break(s, text, false, diag);
}

static bool cmd_tbreak(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    return add_break(s, text, true, diag);
}

static bool add_watch(struct debug_session *s, const char *text, bool reads, bool writes,
                      struct wm_diag *diag)
{
    char *expression;
    const char *condition;
    const bool any = !strncmp(text, "-any ", 5);
    if (!*text)
        return tool_because(diag, "Argument required (expression to compute).");
    if (!split_condition(text + (any ? 5 : 0), &expression, &condition, diag))
        return false;
    const unsigned number = debug_watch(s, expression, condition, reads, writes, diag);
    free(expression);
    if (!number)
        return false;
    debug_breakpoint(s, number)->any_write = any || reads;
    print_added(s, number);
    return true;
}

static bool cmd_watch(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    return add_watch(s, text, false, true, diag);
}

static bool cmd_rwatch(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    return add_watch(s, text, true, false, diag);
}

static bool cmd_awatch(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    return add_watch(s, text, true, true, diag);
}

/* Finds the breakpoints that a list of numbers names; none: all. Calls change() when all of them are known.
 */
static bool each_breakpoint(struct debug_session *s, const char *text,
                            void (*change)(struct debug_session *s, unsigned number), struct wm_diag *diag)
{
    for (unsigned pass = 0; pass < 2 && *text; pass++)
        for (const char *at = text; *at;) {
            char *end;
            const unsigned long number = strtoul(at, &end, 10);
            if (end == at || (*end && !isspace((unsigned char)*end)))
                return tool_because(diag, "Bad breakpoint number '%s'", at);
            if (!pass && !debug_breakpoint(s, (unsigned)number))
                return tool_because(diag, "No breakpoint number %lu.", number);
            if (pass && debug_breakpoint(s, (unsigned)number))
                change(s, (unsigned)number);
            at = end + strspn(end, " \t");
        }
    for (size_t i = s->breakpoint_count; i-- > 0 && !*text;)
        change(s, s->breakpoints[i].number);
    return true;
}

static void delete_one(struct debug_session *s, unsigned number)
{
    debug_delete(s, number);
}

static void enable_one(struct debug_session *s, unsigned number)
{
    debug_breakpoint(s, number)->enabled = true;
}

static void disable_one(struct debug_session *s, unsigned number)
{
    debug_breakpoint(s, number)->enabled = false;
}

static bool cmd_delete(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    return each_breakpoint(s, text, delete_one, diag);
}

static bool cmd_enable(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    return each_breakpoint(s, text, enable_one, diag);
}

static bool cmd_disable(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    return each_breakpoint(s, text, disable_one, diag);
}

/* The breakpoint whose number begins the text; *rest is behind it. */
static struct debug_breakpoint *take_breakpoint(struct debug_session *s, const char *text, const char **rest,
                                                struct wm_diag *diag)
{
    char *end;
    const unsigned long number = strtoul(text, &end, 10);
    struct debug_breakpoint *b = end > text ? debug_breakpoint(s, (unsigned)number) : NULL;
    if (end == text)
        tool_because(
            diag, *text ? "Bad breakpoint argument: '%s'" : "Argument required (breakpoint number)%s.", text);
    else if (!b)
        tool_because(diag, "No breakpoint number %lu.", number);
    *rest = end + strspn(end, " \t");
    return b;
}

static bool cmd_condition(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    const char *rest;
    struct debug_value value;
    struct debug_breakpoint *b = take_breakpoint(s, text, &rest, diag);
    if (!b || (*rest && s->state == DEBUG_STOPPED && !b->watches &&
               !debug_evaluate(s, rest, s->lane, &value, diag)))
        return false;
    char *condition = *rest ? strdup(rest) : NULL;
    free(b->condition);
    b->condition = condition;
    if (!condition)
        fprintf(s->out, "Breakpoint %u now unconditional.\n", b->number);
    return true;
}

static bool cmd_ignore(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    const char *rest;
    struct debug_breakpoint *b = take_breakpoint(s, text, &rest, diag);
    if (!b)
        return false;
    if (!*rest)
        return tool_because(diag, "Second argument (specified ignore-count) is missing.");
    if (!debug_number(s, rest, &b->ignore, diag))
        return false;
    fprintf(s->out, "Will ignore next %" PRIu64 " crossings of breakpoint %u.\n", b->ignore, b->number);
    return true;
}

/* ---- running ---- */

static bool cmd_run(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    struct debug_event event;
    if (*text)
        return tool_because(diag, "The arguments of the kernel are those of the command line.");
    if (!debug_run(s, &event, diag))
        return false;
    debug_print_event(s, &event, NULL);
    return true;
}

static bool cmd_starti(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    const struct debug_event event = {.kind = DEBUG_EVENT_STEP};
    (void)text;
    if (!debug_restart(s, diag))
        return false;
    debug_print_event(s, &event, NULL);
    return true;
}

/* Continues; before anything runs, begins. */
static bool go_on(struct debug_session *s, bool backwards, struct wm_diag *diag)
{
    const struct wm_stopped before = s->wave;
    struct debug_event event;
    if (s->source->launches && (s->between || s->state == DEBUG_AFTER) && !backwards)
        return s->leaves = true;
    if (s->state == DEBUG_BEFORE || (s->state == DEBUG_AFTER && !backwards &&
                                     (s->fault.kind != WM_FAULT_NONE || s->dispatch + 1 == s->job->count)))
        return tool_because(diag, "The kernel is not being run.");
    if (!debug_continue(s, backwards, &event, diag))
        return false;
    debug_print_event(s, &event, &before);
    return true;
}

static bool cmd_continue(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    uint64_t count;
    if (!count_of(s, text, &count, diag))
        return false;
    if (*text && s->state == DEBUG_STOPPED)
        for (size_t i = 0; i < s->breakpoint_count; i++)
            for (size_t a = 0; a < s->breakpoints[i].address_count; a++)
                if (s->breakpoints[i].addresses[a] == s->wave.pc && count)
                    s->breakpoints[i].ignore = count - 1;
    return go_on(s, false, diag);
}

static bool cmd_reverse_continue(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    (void)text;
    return go_on(s, true, diag);
}

static bool cmd_detach(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    (void)text;
    if (!s->source->launches)
        return tool_because(diag, "No program is attached; `quit' ends the debugger.");
    return s->leaves = s->detached = true;
}

static bool step_by(struct debug_session *s, const char *text, enum debug_step how, bool backwards,
                    struct wm_diag *diag)
{
    const struct wm_stopped before = s->wave;
    struct debug_event event = {.kind = DEBUG_EVENT_STEP};
    uint64_t count;
    if (!(backwards && s->state == DEBUG_AFTER) && !debug_need_wave(s, diag))
        return false;
    if (!count_of(s, text, &count, diag))
        return false;
    for (uint64_t i = 0; i < count && event.kind == DEBUG_EVENT_STEP; i++)
        if (!debug_step(s, how, backwards, &event, diag))
            return false;
    debug_print_event(s, &event, &before);
    return true;
}

#define STEP(name, how, backwards)                                                                           \
    static bool name(struct debug_session *s, const char *text, struct wm_diag *diag)                        \
    {                                                                                                        \
        return step_by(s, text, how, backwards, diag);                                                       \
    }
STEP(cmd_stepi, DEBUG_STEP_INSTRUCTION, false)
STEP(cmd_nexti, DEBUG_NEXT_INSTRUCTION, false)
STEP(cmd_step, DEBUG_STEP_LINE, false)
STEP(cmd_next, DEBUG_NEXT_LINE, false)
STEP(cmd_finish, DEBUG_FINISH, false)
STEP(cmd_reverse_stepi, DEBUG_STEP_INSTRUCTION, true)
STEP(cmd_reverse_nexti, DEBUG_NEXT_INSTRUCTION, true)
STEP(cmd_reverse_step, DEBUG_STEP_LINE, true)
STEP(cmd_reverse_next, DEBUG_NEXT_LINE, true)
STEP(cmd_reverse_finish, DEBUG_FINISH, true)

static bool cmd_advance(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    const struct wm_stopped before = s->wave;
    struct debug_event event;
    uint64_t *addresses;
    size_t count;
    if (!*text)
        return tool_because(diag, "Argument required (a location).");
    if (!debug_need_wave(s, diag) || !debug_locate(s, text, &addresses, &count, diag))
        return false;
    const bool good = debug_run_to(s, addresses, count, &event, diag);
    free(addresses);
    if (good)
        debug_print_event(s, &event, &before);
    return good;
}

static bool cmd_until(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    return *text ? cmd_advance(s, text, diag) : step_by(s, "", DEBUG_UNTIL, false, diag);
}

/* ---- history ---- */

static bool cmd_goto(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    const struct wm_stopped before = s->wave;
    const struct debug_event event = {.kind = DEBUG_EVENT_STEP};
    struct debug_time time = debug_now(s);
    uint64_t dispatch = debug_dispatch_number(s, s->dispatch);
    const char *colon = strchr(text, ':');
    if (s->state == DEBUG_BEFORE)
        return tool_because(diag, "The kernel is not being run.");
    s->repeated = 0;
    if (!*text || !strcmp(text, "who")) {
        if (!s->has_found)
            return tool_because(diag, "`who' has found nothing yet.");
        if (!debug_go_to_wave(s, s->found, s->found_workgroup, s->found_wave, diag))
            return false;
        s->lane = s->found_lane;
        debug_print_event(s, &event, &before);
        return true;
    }
    if (!strcmp(text, "begin") || !strcmp(text, "start")) {
        time.executed = 0;
    } else if (!strcmp(text, "end")) {
        if (!s->lengths[s->dispatch])
            return tool_because(diag, "The dispatch has not ended yet.");
        if (!debug_go_to_end(s, s->dispatch, diag))
            return false;
        debug_print_event(s, &(struct debug_event){.kind = DEBUG_EVENT_END}, &before);
        return true;
    } else {
        char *first = colon ? strndup(text, (size_t)(colon - text)) : NULL;
        const bool good = (!first || debug_number(s, first, &dispatch, diag)) &&
                          debug_number(s, colon ? colon + 1 : text, &time.executed, diag);
        free(first);
        if (!good)
            return false;
        if (dispatch <= s->before || dispatch > s->before + s->begun)
            return tool_because(diag,
                                dispatch > s->before ? "Dispatch %" PRIu64 " has not begun yet."
                                                     : "Dispatch %" PRIu64 " is not in the history.",
                                dispatch);
        time.dispatch = dispatch - 1 - s->before;
        const uint64_t length = s->lengths[time.dispatch];
        if (length && time.executed >= length)
            return tool_because(diag, "The dispatch has times 0 to %" PRIu64 ".", length - 1);
    }
    if (!debug_go_to(s, time, diag))
        return false;
    debug_print_event(s, &event, &before);
    return true;
}

static bool cmd_record(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    if (!strncmp(text, "goto", 4) && (!text[4] || isspace((unsigned char)text[4])))
        return cmd_goto(s, text + 4 + strspn(text + 4, " \t"), diag);
    return tool_because(diag, "Everything is recorded; `record goto TIME' goes to a time.");
}

/* What the host put into memory where nobody else has written. */
static void print_initial(struct debug_session *s, enum debug_space space, uint64_t address)
{
    struct wm_allocation a = {.struct_size = sizeof a};
    fprintf(s->out, "Nobody has written there before");
    if (space == DEBUG_LDS) {
        fprintf(s->out, ": LDS begins with zeros here, and undefined on hardware.\n");
        return;
    }
    for (struct tool_buffer *b = s->job->buffers; b; b = b->next)
        if (b->address && address >= b->address && address - b->address < tool_buffer_bytes(b)) {
            const char *spec = b->array.spec ? b->array.spec : "zeros";
            tool_print(s->out,
                       strncmp(spec, "uninit", 6) ? " but the host: '%s' begins as %s.\n"
                                                  : ", and the host has not: '%s' begins as %s.\n",
                       b->name, spec);
            return;
        }
    if (wm_find_allocation(s->machine, address, false, &a, NULL) == WM_OK && *a.name)
        tool_print(s->out, " but the host ('%s').\n", a.name);
    else
        fputs(".\n", s->out);
}

static void print_write(struct debug_session *s, const char *what, const struct debug_write_found *write)
{
    char text[96], lanes[256];
    s->found = write->time;
    memcpy(s->found_workgroup, write->workgroup, sizeof s->found_workgroup);
    s->found_wave = write->wave;
    s->found_lane =
        write->lanes >> s->lane & 1 || !write->lanes ? s->lane : 63 - (unsigned)__builtin_clzll(write->lanes);
    s->has_found = true;
    tool_print(s->out, "%s was last written by %s", what,
               debug_wave_text(write->workgroup, write->wave, -1, text));
    if (write->lanes)
        fprintf(s->out, ", lanes %s", debug_lanes(write->lanes, lanes));
    fprintf(s->out, ", dispatch %zu, time %" PRIu64 " (`goto' takes you there)\n",
            debug_dispatch_number(s, write->time.dispatch), write->time.executed);
    debug_print_instruction_at(s, write->pc, write->state);
}

static bool who_register(struct debug_session *s, const struct debug_value *v, const char *text,
                         struct wm_diag *diag)
{
    struct debug_write_found write;
    bool found;
    if (!debug_last_register_write(s, v->name, &write, &found, diag))
        return false;
    if (found)
        print_write(s, text, &write);
    else
        tool_print(s->out, "%s has been the same since the wave began.\n", text);
    return true;
}

/* Refuses what ends behind the allocation in which it begins. */
static bool is_in_one(struct debug_session *s, uint64_t address, uint64_t size, struct wm_diag *diag)
{
    struct wm_allocation a = {.struct_size = sizeof a};
    if (wm_find_allocation(s->machine, address, false, &a, NULL) != WM_OK ||
        size <= a.size - (address - a.address))
        return true;
    return tool_because(
        diag, "%" PRIu64 " bytes at 0x%" PRIx64 ": the allocation ends %" PRIu64 " bytes behind that place.",
        size, address, a.size - (address - a.address));
}

static bool cmd_who(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    struct debug_value v;
    struct debug_write_found write;
    const char *rest;
    char what[DEBUG_TEXT];
    uint64_t size;
    bool found;
    if (!*text)
        return tool_because(diag, "Argument required: an address, an element of a buffer, or a register.");
    if (s->state == DEBUG_BEFORE)
        return tool_because(diag, "The kernel is not being run.");
    if (!debug_evaluate_prefix(s, text, &rest, s->lane, &v, diag))
        return false;
    if (v.space == DEBUG_REGISTER && !*rest)
        return who_register(s, &v, text, diag);
    const bool place = v.space == DEBUG_GLOBAL || v.space == DEBUG_LDS;
    enum debug_space space = place ? v.space : v.pointer ? v.target_space : DEBUG_GLOBAL;
    const uint64_t address = place ? v.address : v.bits;
    size = place ? v.size * v.count : v.pointer ? v.target_size : 4;
    if (v.kind == 'f' && !place)
        return tool_because(diag, "%s is no address.", text);
    if (v.space == DEBUG_PRIVATE || space == DEBUG_PRIVATE)
        return tool_because(diag, "`who' does not look at private memory.");
    if (*rest && !debug_number(s, rest, &size, diag))
        return false;
    if (!size || address + size < address)
        return tool_because(diag, "%" PRIu64 " bytes at 0x%" PRIx64 " are no range.", size, address);
    if (space == DEBUG_LDS ? !debug_need_wave(s, diag) : !is_in_one(s, address, size, diag))
        return false;
    if (!debug_last_write(s, space, address, size, &write, &found, diag))
        return false;
    if (!found) {
        print_initial(s, space, address);
        return true;
    }
    char scalar[DEBUG_SCALAR];
    const size_t length = (size_t)(rest - text);
    if (place && v.count == 1)
        snprintf(what, sizeof what, "%.*s = %s", (int)(length < 300 ? length : 300), text,
                 debug_scalar(&v, 0, scalar));
    else
        snprintf(what, sizeof what, "%" PRIu64 " bytes at 0x%" PRIx64, size, address);
    print_write(s, what, &write);
    return true;
}

static bool cmd_check(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    const struct debug_event event = {.kind = DEBUG_EVENT_STEP};
    const struct debug_time before = debug_now(s);
    const struct wm_stopped wave = s->wave;
    if (!debug_go_to_finding(s, text, diag))
        return false;
    const struct debug_time now = debug_now(s);
    if (s->state == DEBUG_STOPPED && (now.executed != before.executed || now.dispatch != before.dispatch))
        debug_print_event(s, &event, &wave);
    return true;
}

const struct debug_command debug_run_commands[] = {
    {"break", "b br brea", cmd_break,
     "break [LOCATION] [if CONDITION]: LINE, FILE:LINE, KERNEL, KERNEL+OFFSET, *ADDRESS, insn "
     "PATTERN (s_barrier, global_store*, load, store, atomic, branch, barrier, call, lds); "
     "the condition holds if it does in one active lane"},
    {"tbreak", "tb", cmd_tbreak, "break once"},
    {"watch", "wa", cmd_watch,
     "watch [-any] EXPRESSION [if CONDITION]: writes that change memory, or any; a pointer "
     "stands for its buffer; the condition knows $_old, $_new, $_index"},
    {"rwatch", "rw", cmd_rwatch, "reads"},
    {"awatch", "aw", cmd_awatch, "reads and writes"},
    {"delete", "d", cmd_delete, "delete [NUMBER...]: breakpoints and watchpoints, all without a number"},
    {"enable", "en", cmd_enable, "enable [NUMBER...]"},
    {"disable", "dis", cmd_disable, "disable [NUMBER...]"},
    {"condition", "cond", cmd_condition, "condition NUMBER [CONDITION]"},
    {"ignore", "ig", cmd_ignore, "ignore NUMBER COUNT: the next COUNT hits"},
    {"run", "r", cmd_run, "begin again, and run to the first breakpoint"},
    {"starti", "start", cmd_starti, "begin again, and stop before the first instruction"},
    {"continue", "c fg", cmd_continue, "continue [COUNT]"},
    {"detach", "", cmd_detach, "of `exec --debug': let the program go on without stops"},
    {"stepi", "si", cmd_stepi, "stepi [COUNT]: one instruction of the wave"},
    {"nexti", "ni", cmd_nexti, "the same over calls"},
    {"step", "s", cmd_step, "step [COUNT]: to another source line"},
    {"next", "n", cmd_next, "the same over functions, inlined ones too"},
    {"finish", "fin", cmd_finish, "out of the function, inlined or called"},
    {"until", "u", cmd_until, "until [LOCATION]: past a loop, or to a location"},
    {"advance", "adv", cmd_advance, "advance LOCATION"},
    {"reverse-continue", "rc", cmd_reverse_continue, "back to the last breakpoint or watchpoint"},
    {"reverse-stepi", "rsi", cmd_reverse_stepi, "back by one instruction of the wave"},
    {"reverse-nexti", "rni", cmd_reverse_nexti, "the same over calls"},
    {"reverse-step", "rs", cmd_reverse_step, "back to the beginning of the line before"},
    {"reverse-next", "rn", cmd_reverse_next, "the same over functions"},
    {"reverse-finish", "rfin", cmd_reverse_finish, "back to where the function is called"},
    {"who", "", cmd_who, "who EXPRESSION [BYTES]: who wrote this memory or register last, before now"},
    {"goto", "", cmd_goto, "goto [[DISPATCH:]TIME | begin | end]: without a time to what `who' found"},
    {"check", "", cmd_check,
     "check [CLASS...]: the dispatch as `wavemem check' does (memory, uninit, race, sync, wait, hazard, "
     "float), and "
     "to where the first finding is"},
    {"record", "rec", cmd_record, "record goto TIME"},
    {NULL, NULL, NULL, NULL},
};
