/* SPDX-License-Identifier: MIT */
/* How the debugger shows values, places and stops; as gdb does, where it has something like it. */
#include "tool/debug/show.h"
#include "tool/debug/calls.h"

#include "tool/debug/typed.h"

#include "tool/tool.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ELEMENTS = 200, /* of an array that are shown */
    REPEATS = 10,   /* equal elements from which on they are shown once */
};

/* ---- formats ---- */

bool debug_parse_format(const char **text, struct debug_format *format, struct wm_diag *diag)
{
    if (**text != '/')
        return true;
    const char *at = *text + 1;
    if (isdigit((unsigned char)*at)) {
        char *end;
        format->count = strtoull(at, &end, 10);
        at = end;
    }
    for (; *at && !isspace((unsigned char)*at); at++) {
        if (strchr("xduotcafzis", *at))
            format->letter = *at;
        else if (strchr("bhwg", *at))
            format->size = *at;
        else
            return tool_because(diag, "Undefined output format \"%c\".", *at);
    }
    if (format->count > 1 << 16)
        return tool_because(diag, "Count %" PRIu64 " is too large.", format->count);
    *text = at + strspn(at, " \t");
    return true;
}

static void print_binary(uint64_t bits, char text[DEBUG_SCALAR])
{
    unsigned digits = 1;
    while (digits < 64 && bits >> digits)
        digits++;
    for (unsigned i = 0; i < digits; i++)
        text[i] = (char)('0' + (bits >> (digits - 1 - i) & 1));
    text[digits] = 0;
}

static int64_t as_signed(const struct debug_value *v)
{
    const unsigned shift = 64 - 8 * v->size;
    return (int64_t)(v->bits << shift) >> shift;
}

static void print_real(const struct debug_value *v, char text[DEBUG_SCALAR])
{
    const struct tool_type *type = tool_type_of('f', v->size);
    char exact[TOOL_SCALAR_TEXT];
    if (!type) {
        snprintf(text, DEBUG_SCALAR, "%" PRIu64, v->bits);
        return;
    }
    tool_scalar_print(type, &v->bits, exact);
    snprintf(text, DEBUG_SCALAR, "%s", exact);
}

const char *debug_scalar(const struct debug_value *v, char letter, char text[DEBUG_SCALAR])
{
    struct debug_value as = *v;
    switch (letter) {
    case 'x':
    case 'a':
        snprintf(text, DEBUG_SCALAR, "0x%" PRIx64, v->bits);
        return text;
    case 'z':
        snprintf(text, DEBUG_SCALAR, "0x%0*" PRIx64, (int)(2 * v->size), v->bits);
        return text;
    case 'o':
        snprintf(text, DEBUG_SCALAR, v->bits ? "0%" PRIo64 : "%" PRIo64, v->bits);
        return text;
    case 't':
        print_binary(v->bits, text);
        return text;
    case 'd':
        snprintf(text, DEBUG_SCALAR, "%" PRId64, as_signed(v));
        return text;
    case 'u':
        snprintf(text, DEBUG_SCALAR, "%" PRIu64, v->bits);
        return text;
    case 'c':
        snprintf(text, DEBUG_SCALAR, isprint((int)(v->bits & 0xff)) ? "%" PRId64 " '%c'" : "%" PRId64,
                 as_signed(v), (int)(v->bits & 0xff));
        return text;
    case 'f':
        as.kind = v->size == 1 ? 'i' : 'f';
        break;
    default:
        break;
    }
    if (as.pointer)
        snprintf(text, DEBUG_SCALAR, "0x%" PRIx64, as.bits);
    else if (as.kind == 'f')
        print_real(&as, text);
    else if (as.kind == 'i')
        snprintf(text, DEBUG_SCALAR, "%" PRId64, as_signed(&as));
    else
        snprintf(text, DEBUG_SCALAR, "%" PRIu64, as.bits);
    return text;
}

/* ---- values ---- */

static void print_run(FILE *out, const char *text, uint64_t repeats, bool first)
{
    if (repeats > REPEATS) {
        fprintf(out, "%s%s <repeats %" PRIu64 " times>", first ? "" : ", ", text, repeats);
        return;
    }
    for (uint64_t i = 0; i < repeats; i++)
        fprintf(out, "%s%s", first && !i ? "" : ", ", text);
}

static bool print_elements(struct debug_session *s, const struct debug_value *v, uint64_t count, char letter,
                           struct wm_diag *diag)
{
    char text[DEBUG_SCALAR], last[DEBUG_SCALAR] = "";
    const uint64_t shown = count < ELEMENTS ? count : ELEMENTS;
    uint64_t repeats = 0;
    bool first = true;
    struct debug_value element;
    if (!debug_element(s, v, 0, &element, diag)) /* before anything is printed */
        return false;
    fputc('{', s->out);
    for (uint64_t i = 0; i < shown; i++) {
        if (!debug_element(s, v, i, &element, diag))
            return false;
        debug_scalar(&element, letter, text);
        if (repeats && strcmp(text, last)) {
            print_run(s->out, last, repeats, first);
            first = false;
            repeats = 0;
        }
        memcpy(last, text, sizeof last);
        repeats++;
    }
    print_run(s->out, last, repeats, first);
    fputs(count > shown ? "...}" : "}", s->out);
    return true;
}

/* "{x = 1, y = {2, 3}}" */
static bool print_aggregate(struct debug_session *s, const struct debug_value *v, char letter, unsigned depth,
                            struct wm_diag *diag)
{
    enum { DEPTH = 8 };
    const uint64_t count = debug_children(v);
    fputc('{', s->out);
    for (uint64_t i = 0; i < count && i < ELEMENTS; i++) {
        const char *name;
        char text[DEBUG_SCALAR];
        struct debug_value child;
        if (!debug_child(s, v, i, &name, &child, diag))
            return false;
        if (i)
            fputs(", ", s->out);
        if (name)
            tool_print(s->out, "%s = ", name);
        if (!child.aggregate)
            fputs(debug_scalar(&child, letter, text), s->out);
        else if (depth == DEPTH)
            fputs("{...}", s->out);
        else if (!print_aggregate(s, &child, letter, depth + 1, diag))
            return false;
    }
    fputs(count > ELEMENTS ? "...}" : "}", s->out);
    return true;
}

bool debug_print_value(struct debug_session *s, const struct debug_value *v, char letter,
                       struct wm_diag *diag)
{
    char text[DEBUG_SCALAR], type[32];
    if (v->aggregate)
        return print_aggregate(s, v, letter, 0, diag);
    if (v->vector)
        return print_elements(s, v, s->wave.wave_size, letter, diag);
    if (v->count > 1)
        return print_elements(s, v, v->count, letter, diag);
    if (v->pointer && !letter)
        fprintf(s->out, "(%s) ", debug_type_name(v, type));
    fputs(debug_scalar(v, letter, text), s->out);
    return true;
}

bool debug_examine(struct debug_session *s, const struct debug_format *format, const struct debug_value *from,
                   struct wm_diag *diag)
{
    struct debug_value v = *from;
    const enum debug_space space = v.pointer                                               ? v.target_space
                                   : v.space == DEBUG_NOWHERE || v.space == DEBUG_REGISTER ? DEBUG_GLOBAL
                                                                                           : v.space;
    uint64_t address =
        v.pointer || v.space == DEBUG_NOWHERE || v.space == DEBUG_REGISTER ? v.bits : v.address;
    if (format->letter == 'i') {
        for (uint64_t i = 0; i < format->count; i++) {
            const unsigned bytes = debug_print_instruction(s, address);
            address += bytes ? bytes : 4;
        }
        return true;
    }
    const unsigned size = format->size == 'b' ? 1 : format->size == 'h' ? 2 : format->size == 'g' ? 8 : 4;
    const unsigned per_line = size == 8 ? 2 : size == 4 ? 4 : 8;
    v = (struct debug_value){.kind = format->letter == 'f'   ? 'f'
                                     : format->letter == 'd' ? 'i'
                                                             : 'u',
                             .size = size,
                             .space = space,
                             .address = address,
                             .lane = s->lane,
                             .count = 1};
    for (uint64_t i = 0; i < format->count; i++) {
        char text[DEBUG_SCALAR];
        struct debug_value element;
        if (!debug_element(s, &v, i, &element, diag)) {
            if (i % per_line)
                fputc('\n', s->out);
            return tool_because(diag, "Cannot access memory at address 0x%" PRIx64, address + i * size);
        }
        if (i % per_line == 0)
            fprintf(s->out, "%s0x%" PRIx64 ":", i ? "\n" : "", address + i * size);
        fprintf(s->out, "\t%s", debug_scalar(&element, format->letter == 'x' ? 'z' : format->letter, text));
    }
    fputc('\n', s->out);
    return true;
}

/* ---- places ---- */

const char *debug_wait_text(enum wm_wait wait)
{
    static const char *const texts[] = {
        [WM_WAIT_NONE] = "",
        [WM_WAIT_BARRIER] = "waits at the barrier for other waves of its workgroup",
        [WM_WAIT_NAMED_BARRIER] = "waits at a named barrier",
        [WM_WAIT_CLUSTER] = "waits at the barrier for other workgroups of its cluster",
        [WM_WAIT_GLOBAL] = "waits in global wave sync for other waves",
        [WM_WAIT_ORDER] = "waits for its turn in an ordered count",
        [WM_WAIT_MEMORY] = "waits in a loop for memory to change",
    };
    return texts[wait];
}

const char *debug_lanes(uint64_t lanes, char text[256])
{
    return lanes ? tool_lane_list(lanes, text) : strcpy(text, "none");
}

const char *debug_wave_text(const uint32_t workgroup[3], uint32_t wave, int lane, char text[96])
{
    const int length =
        snprintf(text, 96, "workgroup (%u,%u,%u) wave %u", workgroup[0], workgroup[1], workgroup[2], wave);
    if (lane >= 0)
        snprintf(text + length, 96 - (size_t)length, " lane %d", lane);
    return text;
}

void debug_print_frame(struct debug_session *s, const struct debug_frame *frame, unsigned number,
                       bool address)
{
    fprintf(s->out, "#%-2u ", number);
    if (address)
        fprintf(s->out, "0x%016" PRIx64 " in ", frame->pc);
    tool_print(s->out, "%s ()", frame->function);
    if (frame->file)
        tool_print(s->out, " at %s:%u", frame->file, frame->line);
    fputc('\n', s->out);
}

static void print_source_line(struct debug_session *s, const char *file, unsigned line)
{
    const char *text = file ? debug_source_line(s, file, line) : NULL;
    if (text) {
        char *escaped = tool_escaped(text);
        fprintf(s->out, "%u\t%s\n", line, escaped);
        free(escaped);
    } else if (file) {
        fprintf(s->out, "%u\t", line);
        tool_print(s->out, "in %s\n", file);
    }
}

unsigned debug_print_instruction(struct debug_session *s, uint64_t pc)
{
    char text[DEBUG_TEXT], symbol[DEBUG_TEXT];
    const struct debug_place place = debug_place_of(s, pc);
    const unsigned bytes = debug_instruction(s, pc, NULL, text);
    const bool here = s->state == DEBUG_STOPPED && pc == s->wave.pc;
    tool_print(s->out, "%s 0x%016" PRIx64 " <%s>:  %s\n", here ? "=>" : "  ", pc,
               debug_symbol_text(&place, symbol), text);
    return bytes;
}

void debug_print_instruction_at(struct debug_session *s, uint64_t pc, unsigned state)
{
    char text[DEBUG_TEXT], symbol[DEBUG_TEXT];
    const struct debug_place place = debug_place_of(s, pc);
    debug_instruction_in(s, pc, state, NULL, text);
    tool_print(s->out, "  %s  %s", debug_symbol_text(&place, symbol), text);
    if (place.file)
        tool_print(s->out, "  %s:%u", place.file, place.line);
    fputc('\n', s->out);
    if (place.file)
        print_source_line(s, place.file, place.line);
}

void debug_print_here(struct debug_session *s)
{
    struct debug_frame frames[DEBUG_FRAMES];
    const unsigned count = debug_stack(s, frames);
    const struct debug_frame *frame = &frames[s->frame < count ? s->frame : 0];
    debug_print_frame(s, frame, s->frame, true);
    if (frame->file)
        print_source_line(s, frame->file, frame->line);
    if (!s->frame)
        debug_print_instruction(s, s->wave.pc);
}

/* ---- stops ---- */

static void print_change(struct debug_session *s, const struct debug_event *event)
{
    char text[DEBUG_SCALAR];
    const struct debug_breakpoint *b = debug_breakpoint(s, event->number);
    tool_print(s->out, "\nHardware %swatchpoint %u: %s",
               !b || !b->reads ? ""
               : b->writes     ? "access (read/write) "
                               : "read ",
               event->number, b ? b->what : "");
    if (b && b->place.count > 1)
        fprintf(s->out, "[%" PRIu64 "]", event->change.index.bits);
    if (event->read) {
        fprintf(s->out, "\n\nValue = %s\n", debug_scalar(&event->change.is, 0, text));
    } else {
        fprintf(s->out, "\n\nOld value = %s\n", debug_scalar(&event->change.was, 0, text));
        fprintf(s->out, "New value = %s\n", debug_scalar(&event->change.is, 0, text));
    }
    fprintf(s->out, event->read ? "read by\n" : "written by\n");
    debug_print_instruction_at(s, event->pc, event->state);
}

static void print_fault(struct debug_session *s, const char *what, const struct wm_fault *fault)
{
    char *text = strdup(fault->text);
    fprintf(s->out, "\n%s: ", what);
    for (char *line = text; line && *line;) {
        char *end = strchr(line, '\n');
        if (end)
            *end++ = 0;
        tool_print(s->out, "%s\n", line);
        line = end;
    }
    free(text);
}

static void print_wave_fault(struct debug_session *s)
{
    char lanes[256];
    fprintf(s->out, "\nThe wave has faulted");
    if (s->stopped.access_lanes)
        fprintf(s->out, ": lanes %s", debug_lanes(s->stopped.access_lanes, lanes));
    if (s->stopped.address)
        fprintf(s->out, ", from 0x%" PRIx64 " on", s->stopped.address);
    fprintf(s->out, ". `continue' ends the kernel and reports it.\n");
}

static void print_reason(struct debug_session *s, const struct debug_event *event)
{
    switch (event->kind) {
    case DEBUG_EVENT_BREAKPOINT:
        fprintf(s->out, "\n%s %u, ", event->temporary ? "Temporary breakpoint" : "Breakpoint", event->number);
        break;
    case DEBUG_EVENT_WATCHPOINT:
        print_change(s, event);
        break;
    case DEBUG_EVENT_FAULT:
        print_wave_fault(s);
        break;
    case DEBUG_EVENT_DEADLOCK:
        print_fault(s, "Deadlock", &s->fault);
        break;
    case DEBUG_EVENT_WAVE_END:
        fprintf(s->out, "[The wave has ended]\n");
        break;
    case DEBUG_EVENT_BEGINNING:
        fprintf(s->out, "\nNo more reverse-execution history.\n");
        break;
    case DEBUG_EVENT_INTERRUPTED:
        fprintf(s->out, "\nInterrupted.\n");
        break;
    default:
        break;
    }
}

void debug_print_event(struct debug_session *s, const struct debug_event *event,
                       const struct wm_stopped *before)
{
    char text[96];
    if (event->kind == DEBUG_EVENT_END || s->state != DEBUG_STOPPED) {
        if (s->fault.kind != WM_FAULT_NONE)
            print_fault(s, "error", &s->fault);
        char of[40] = "";
        if (!s->source->launches)
            snprintf(of, sizeof of, " of %zu", s->job->count);
        tool_print(s->out, "[Kernel %s %s, dispatch %zu%s]\n", debug_dispatch(s)->kernel->source_name,
                   s->fault.kind == WM_FAULT_NONE ? "has ended" : "ended with a fault",
                   debug_dispatch_number(s, s->dispatch), of);
        return;
    }
    if (!before || before->wave != s->wave.wave ||
        memcmp(before->workgroup, s->wave.workgroup, sizeof before->workgroup))
        fprintf(s->out, "[Switching to %s]\n",
                debug_wave_text(s->wave.workgroup, s->wave.wave, (int)s->lane, text));
    print_reason(s, event);
    if (event->kind == DEBUG_EVENT_BREAKPOINT)
        fprintf(s->out, "%s\n", debug_wave_text(s->wave.workgroup, s->wave.wave, (int)s->lane, text));
    debug_print_here(s);
}
