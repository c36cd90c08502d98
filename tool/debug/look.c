/* SPDX-License-Identifier: MIT */
/* Commands that look at what is stopped, select parts of it, and change it. */
#include "tool/debug/calls.h"
#include "tool/debug/prompt.h"
#include "tool/tool.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LIST = 10 /* lines */ };

/* ---- values ---- */

static bool keep_value(struct debug_session *s, const struct debug_value *value)
{
    struct debug_value *larger = realloc(s->values, (s->value_count + 1) * sizeof *larger);
    if (!larger)
        return false;
    s->values = larger;
    larger[s->value_count++] = *value;
    return true;
}

/* "PLACE = VALUE" from `equals` on. */
static bool assign(struct debug_session *s, const struct debug_value *place, const char *text,
                   struct wm_diag *diag)
{
    struct debug_value value;
    return debug_evaluate(s, text, s->lane, &value, diag) && debug_assign(s, place, &value, diag);
}

static bool print_value(struct debug_session *s, const char *text, bool keeps, struct wm_diag *diag)
{
    struct debug_format format = {.count = 1};
    struct debug_value value;
    const char *rest;
    if (!debug_parse_format(&text, &format, diag))
        return false;
    if (!*text)
        return tool_because(diag, "Argument required (an expression).");
    if (!debug_evaluate_prefix(s, text, &rest, s->lane, &value, diag))
        return false;
    if (*rest == '=') {
        if (!assign(s, &value, rest + 1, diag) ||
            !debug_evaluate_prefix(s, text, &rest, s->lane, &value, diag))
            return false;
    } else if (*rest) {
        return tool_because(diag, "A syntax error in expression, near `%s'.", rest);
    }
    char *shown = NULL;
    size_t size;
    FILE *out = s->out;
    s->out = open_memstream(&shown, &size);
    if (!s->out) {
        s->out = out;
        return tool_because(diag, "out of memory");
    }
    const bool good = debug_print_value(s, &value, format.letter, diag);
    fclose(s->out);
    s->out = out;
    if (good && keeps && keep_value(s, &value))
        fprintf(out, "$%zu = %s\n", s->value_count, shown);
    else if (good)
        fputs(shown, out);
    free(shown);
    return good;
}

static bool cmd_print(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    if (!strncmp(text, "/v", 2) && (!text[2] || text[2] == ' '))
        return debug_print_descriptor(s, text + 2 + strspn(text + 2, " "), diag);
    return print_value(s, text, true, diag);
}

static bool cmd_output(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    return print_value(s, text, false, diag);
}

static bool cmd_x(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    struct debug_format format = {.count = 1, .letter = 'x'};
    struct debug_value value;
    if (!debug_parse_format(&text, &format, diag))
        return false;
    if (!*text)
        return tool_because(diag, "Argument required (starting display address).");
    return debug_evaluate(s, text, s->lane, &value, diag) && debug_examine(s, &format, &value, diag);
}

static bool cmd_set(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    struct debug_value place;
    const char *rest;
    if (!strcmp(text, "trace-commands on") || !strcmp(text, "trace-commands off")) {
        s->traces = text[16] == 'n';
        return true;
    }
    if (!strncmp(text, "var ", 4) || !strncmp(text, "variable ", 9))
        text = strchr(text, ' ') + 1;
    if (!*text)
        return tool_because(diag, "Argument required (expression to compute).");
    if (!debug_evaluate_prefix(s, text, &rest, s->lane, &place, diag))
        return false;
    if (*rest != '=')
        return tool_because(diag, "Expected REGISTER = VALUE or MEMORY = VALUE, near `%s'.", rest);
    return assign(s, &place, rest + 1, diag);
}

static bool cmd_echo(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    (void)diag;
    for (; *text; text++)
        if (text[0] == '\\' && text[1] == 'n') {
            fputc('\n', s->out);
            text++;
        } else {
            fputc(*text, s->out);
        }
    return true;
}

/* ---- selecting ---- */

static void print_selected(struct debug_session *s)
{
    char text[96];
    fprintf(s->out, "[Switching to %s]\n",
            debug_wave_text(s->wave.workgroup, s->wave.wave, (int)s->lane, text));
    debug_print_here(s);
}

static bool cmd_lane(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    uint64_t lane = s->lane;
    char lanes[256];
    if (!debug_need_wave(s, diag) || (*text && !debug_number(s, text, &lane, diag)))
        return false;
    if (lane >= s->wave.wave_size)
        return tool_because(diag, "No lane %" PRIu64 ": the wave has %u.", lane, s->wave.wave_size);
    s->lane = (unsigned)lane;
    fprintf(s->out, "[Current lane is %u, %s; active: %s]\n", s->lane,
            s->wave.lanes >> lane & 1 ? "active" : "inactive", debug_lanes(s->wave.lanes, lanes));
    return true;
}

/* Up to three numbers "X Y Z" or "X,Y,Z", and behind a colon a wave. */
static bool parse_workgroup(struct debug_session *s, const char *text, uint32_t workgroup[3], uint32_t *wave,
                            struct wm_diag *diag)
{
    uint64_t numbers[4] = {0, 0, 0, 0};
    unsigned count = 0;
    const char *at = text + strspn(text, " (");
    bool behind_colon = false;
    while (*at && *at != ')') {
        char *end;
        const unsigned slot = behind_colon ? 3 : count;
        if (!isdigit((unsigned char)*at) || slot > 3 || (slot == 3 && !behind_colon))
            return tool_because(diag, "Expected a workgroup as X, X,Y or X,Y,Z: `%s'", text);
        numbers[slot] = strtoull(at, &end, 10);
        count++;
        at = end + strspn(end, " ,");
        behind_colon |= *at == ':';
        at += *at == ':';
    }
    uint32_t groups[3], waves;
    debug_grid(s, groups, &waves);
    for (unsigned i = 0; i < 3; i++) {
        if (numbers[i] >= groups[i])
            return tool_because(diag, "No workgroup %s: the grid has %u x %u x %u.", text, groups[0],
                                groups[1], groups[2]);
        workgroup[i] = (uint32_t)numbers[i];
    }
    if (numbers[3] >= waves)
        return tool_because(diag, "No wave %" PRIu64 ": a workgroup has %u.", numbers[3], waves);
    *wave = (uint32_t)numbers[3];
    return count || tool_because(diag, "Expected a workgroup as X, X,Y or X,Y,Z.");
}

static bool cmd_wave(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    uint32_t workgroup[3], wave;
    uint64_t number;
    char where[96];
    if (!debug_need_wave(s, diag))
        return false;
    if (!*text) {
        fprintf(s->out, "[Current wave is %s]\n",
                debug_wave_text(s->wave.workgroup, s->wave.wave, (int)s->lane, where));
        return true;
    }
    if (strchr(text, ':') || strchr(text, ',')) {
        if (!parse_workgroup(s, text, workgroup, &wave, diag))
            return false;
    } else {
        if (!debug_number(s, text, &number, diag))
            return false;
        uint32_t groups[3], waves;
        debug_grid(s, groups, &waves);
        if (number >= waves)
            return tool_because(diag, "No wave %" PRIu64 ": a workgroup has %u.", number, waves);
        memcpy(workgroup, s->wave.workgroup, sizeof workgroup);
        wave = (uint32_t)number;
    }
    if (!debug_select(s, workgroup, wave, diag))
        return false;
    print_selected(s);
    return true;
}

static bool cmd_workgroup(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    uint32_t workgroup[3], wave, groups[3], waves;
    struct wm_diag first;
    if (!debug_need_wave(s, diag) || !parse_workgroup(s, text, workgroup, &wave, diag))
        return false;
    debug_grid(s, groups, &waves);
    if (debug_select(s, workgroup, wave, &first)) {
        print_selected(s);
        return true;
    }
    for (uint32_t i = 0; i < waves; i++)
        if (debug_select(s, workgroup, i, diag)) {
            print_selected(s);
            return true;
        }
    return tool_because(diag, "Workgroup (%u,%u,%u) is not in execution now: it has ended or not begun.",
                        workgroup[0], workgroup[1], workgroup[2]);
}

static bool select_frame(struct debug_session *s, uint64_t number, struct wm_diag *diag)
{
    struct debug_frame frames[DEBUG_FRAMES];
    if (number >= debug_stack(s, frames))
        return tool_because(diag, "No frame at level %" PRIu64 ".", number);
    s->frame = (unsigned)number;
    s->list_line = 0;
    debug_print_here(s);
    return true;
}

static bool cmd_frame(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    uint64_t number = s->frame;
    return debug_need_wave(s, diag) && (!*text || debug_number(s, text, &number, diag)) &&
           select_frame(s, number, diag);
}

static bool cmd_up(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    struct debug_frame frames[DEBUG_FRAMES];
    (void)text;
    if (!debug_need_wave(s, diag))
        return false;
    if (s->frame + 1 >= debug_stack(s, frames))
        return tool_because(diag, "Initial frame selected; you can't go up.");
    return select_frame(s, s->frame + 1, diag);
}

static bool cmd_down(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    (void)text;
    if (!debug_need_wave(s, diag))
        return false;
    if (!s->frame)
        return tool_because(diag, "Bottom (innermost) frame selected; you can't go down.");
    return select_frame(s, s->frame - 1, diag);
}

/* ---- code ---- */

static bool cmd_backtrace(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    struct debug_frame frames[DEBUG_FRAMES];
    (void)text;
    if (!debug_need_wave(s, diag))
        return false;
    const unsigned count = debug_stack(s, frames);
    for (unsigned i = 0; i < count; i++)
        debug_print_frame(s, &frames[i], i, !i || !frames[i - 1].inlined);
    return true;
}

static bool list_from(struct debug_session *s, const char *file, unsigned first, unsigned last,
                      struct wm_diag *diag)
{
    if (!debug_source_line(s, file, first))
        return debug_source_line(s, file, 1)
                   ? tool_because(diag, "Line number %u out of range; \"%s\" has fewer.", first, file)
                   : tool_because(diag, "%s: No such file or directory (--source-path names folders).", file);
    for (unsigned line = first; line <= last; line++) {
        const char *source = debug_source_line(s, file, line);
        if (!source)
            break;
        char *escaped = tool_escaped(source);
        fprintf(s->out, "%u\t%s\n", line, escaped);
        free(escaped);
    }
    snprintf(s->list_file, sizeof s->list_file, "%s", file);
    s->list_line = last + 1;
    return true;
}

static unsigned around(unsigned line)
{
    return line > LIST / 2 ? line - LIST / 2 : 1;
}

static bool cmd_list(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    const struct tool_dispatch *d = debug_dispatch(s);
    struct debug_frame frames[DEBUG_FRAMES];
    const char *file = NULL;
    unsigned line = 0, last = 0;
    int used = 0;
    if (!*text && s->list_line && *s->list_file) {
        char name[sizeof s->list_file];
        memcpy(name, s->list_file, sizeof name);
        return list_from(s, name, s->list_line, s->list_line + LIST - 1, diag);
    }
    if (s->state == DEBUG_STOPPED) {
        const unsigned count = debug_stack(s, frames);
        file = frames[s->frame < count ? s->frame : 0].file;
        line = frames[s->frame < count ? s->frame : 0].line;
    }
    if (!file && !wm_kernel_line(d->object, d->kernel, &file, &line))
        return tool_because(diag, TOOL_HAS_DWARF ? "No source lines: the code object was compiled without -g."
                                                 : TOOL_NO_DWARF);
    if (sscanf(text, "%u , %u%n", &line, &last, &used) == 2 && !text[used])
        return list_from(s, file, line ? line : 1, last, diag);
    if (*text) {
        uint64_t *addresses, number;
        size_t count;
        if (tool_parse_u64(text, &number) && number && number <= UINT32_MAX) {
            line = (unsigned)number;
        } else {
            if (!debug_locate(s, text, &addresses, &count, diag))
                return false;
            const struct debug_place place = debug_place_of(s, addresses[0]);
            free(addresses);
            if (!place.file)
                return tool_because(diag, "%s has no source line.", text);
            file = place.file;
            line = place.line;
        }
    }
    return list_from(s, file, around(line), around(line) + LIST - 1, diag);
}

struct listing {
    struct debug_session *s;
    const char *symbol;
    uint64_t from, to; /* guest addresses; to 0: the whole symbol */
    bool source, any;
    const char *file;
    unsigned line;
};

static bool list_instruction(void *user, const struct debug_place *place, uint64_t pc,
                             const struct wm_instruction *instruction)
{
    struct listing *l = user;
    (void)instruction;
    const bool in = l->to ? pc >= l->from && pc < l->to : place->symbol == l->symbol;
    if (!in)
        return !l->any;
    if (l->source && place->file && (place->line != l->line || place->file != l->file)) {
        const char *source = debug_source_line(l->s, place->file, place->line);
        if (l->any)
            putc('\n', l->s->out);
        tool_print(l->s->out, "%s:%u:\n", place->file, place->line);
        char *escaped = source ? tool_escaped(source) : NULL;
        if (source)
            fprintf(l->s->out, "%u\t%s\n", place->line, escaped);
        free(escaped);
        l->line = place->line;
        l->file = place->file;
    }
    l->any = true;
    debug_print_instruction(l->s, pc);
    return true;
}

/* "START,+LENGTH" or "START,END". */
static bool parse_range(struct debug_session *s, const char *text, struct listing *l, struct wm_diag *diag)
{
    const char *comma = strchr(text, ',');
    char *first = strndup(text, comma ? (size_t)(comma - text) : strlen(text));
    uint64_t *addresses;
    size_t count;
    char place[DEBUG_TEXT];
    snprintf(place, sizeof place, "%s%.500s", isdigit((unsigned char)*text) || *text == '$' ? "*" : "",
             first);
    free(first);
    if (!debug_locate(s, place, &addresses, &count, diag))
        return false;
    l->from = addresses[0];
    free(addresses);
    l->symbol = debug_place_of(s, l->from).symbol;
    if (!comma)
        return true;
    const bool length = comma[1] == '+';
    if (!debug_number(s, comma + 1 + length, &l->to, diag))
        return false;
    l->to += length ? l->from : 0;
    return l->to > l->from || tool_because(diag, "The range is empty.");
}

static bool cmd_disassemble(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    struct listing l = {.s = s, .source = true};
    char symbol[DEBUG_TEXT];
    if (*text == '/') {
        l.source = strchr(text, 's') || strchr(text, 'm');
        text += strcspn(text, " \t");
        text += strspn(text, " \t");
    }
    if (!*text) {
        if (!debug_need_wave(s, diag))
            return false;
        l.from = s->wave.pc;
        l.symbol = debug_place_of(s, s->wave.pc).symbol;
    } else if (!parse_range(s, text, &l, diag)) {
        return false;
    }
    struct debug_place place = debug_place_of(s, l.from);
    place.offset = 0;
    if (!l.to)
        tool_print(s->out, "Dump of assembler code for function %s:\n", debug_symbol_text(&place, symbol));
    debug_each_instruction(s, list_instruction, &l);
    fprintf(s->out, "End of assembler dump.\n");
    return l.any || tool_because(diag, "No instruction is there.");
}

/* ---- others ---- */

static bool cmd_info(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    const size_t length = strcspn(text, " \t");
    if (!length) {
        for (const struct debug_command *c = debug_info_commands; c->name; c++)
            fprintf(s->out, "info %s -- %s\n", c->name, c->help);
        return true;
    }
    const struct debug_command *command =
        debug_find_command(debug_info_commands, text, length, "info command", diag);
    return command && command->run(s, text + length + strspn(text + length, " \t"), diag);
}

static bool cmd_help(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    const struct debug_command *const tables[] = {debug_run_commands, debug_look_commands};
    for (unsigned t = 0; t < 2; t++)
        for (const struct debug_command *c = tables[t]; c->name; c++)
            if (!*text || !strcmp(text, c->name)) {
                fprintf(s->out, "%s%s%s%s -- %s\n", c->name, *c->aliases ? " (" : "", c->aliases,
                        *c->aliases ? ")" : "", c->help);
                if (*text)
                    return true;
            }
    return !*text || tool_because(diag, "Undefined command: \"%s\".  Try \"help\".", text);
}

static bool cmd_quit(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    (void)text, (void)diag;
    s->quits = true;
    return true;
}

static bool cmd_source(struct debug_session *s, const char *text, struct wm_diag *diag)
{
    return debug_execute_file(s, text, diag);
}

const struct debug_command debug_look_commands[] = {
    {"print", "p inspect", cmd_print,
     "print[/x /d /u /f /t /c /z] EXPRESSION: $v3 (all lanes), $s4, $v[4:5].f64, in[5]@8, "
     "{float} local#16, ...; print/v s[4:7]: a descriptor with its fields"},
    {"output", "", cmd_output, "the same without a number and a line feed"},
    {"x", "", cmd_x,
     "x[/COUNT FORMAT SIZE] ADDRESS: memory; formats x d u f i, sizes b h w g; local#OFFSET, "
     "private_lane#OFFSET"},
    {"set", "", cmd_set,
     "set REGISTER = VALUE, set MEMORY = VALUE; a bare VGPR in all active lanes; set trace-commands on|off: "
     "scripts print their commands"},
    {"list", "l", cmd_list, "list [LINE | FIRST,LAST | LOCATION]: source"},
    {"disassemble", "disas", cmd_disassemble,
     "disassemble[/r] [FUNCTION | START,END | START,+LENGTH]: with source lines; /r without"},
    {"backtrace", "bt where", cmd_backtrace, "the functions that the instruction is in, inlined ones too"},
    {"frame", "f", cmd_frame, "frame [NUMBER]"},
    {"up", "", cmd_up, "the frame that calls this one"},
    {"down", "", cmd_down, "the frame that this one calls"},
    {"lane", "la", cmd_lane, "lane [NUMBER]: selects the lane of expressions"},
    {"wave", "thread t", cmd_wave, "wave [NUMBER | X,Y,Z:NUMBER]: selects a wave"},
    {"workgroup", "wg", cmd_workgroup, "workgroup X [Y [Z]]: selects a workgroup that is in execution"},
    {"info", "i", cmd_info, "info SUBJECT; `info' lists them"},
    {"echo", "", cmd_echo, "echo TEXT"},
    {"source", "", cmd_source, "source FILE: commands of a file"},
    {"help", "h", cmd_help, "help [COMMAND]"},
    {"quit", "q exit", cmd_quit, "ends the session"},
    {NULL, NULL, NULL, NULL},
};
