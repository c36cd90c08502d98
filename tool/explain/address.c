/* SPDX-License-Identifier: MIT */
/* wavemem explain address: the addresses that the lanes of an instruction access, for given registers. */
#include "tool/explain/explain.h"
#include "tool/expression.h"
#include "tool/report/table.h"
#include "tool/tool.h"
#include "wavemem/wavemem.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: wavemem explain address -m TARGET [--set REGISTER=VALUE]... [--lane N] [--lds N]\n"
    "                               [--apertures SHARED_BASE,PRIVATE_BASE] [--json] TEXT\n"
    "\n"
    "Prints the address that each lane of a memory instruction accesses and the checks that it passes; for\n"
    "one lane, also each step of the calculation. Addresses and checks are exactly those of execution.\n"
    "Supports MUBUF, MTBUF, MIMG, FLAT, GLOBAL, SCRATCH, DS and SMEM instructions.\n"
    "\n"
    "  wavemem explain address -m gfx900 'buffer_load_dwordx2 v[1:2], v3, s[4:7], s8 idxen offset:16' \\\n"
    "          --set 's[4:7]=0x00010000,0x00100000,0x00000400,0x00027fac' --set s8=64 --set v3=lane*2 --lane "
    "5\n"
    "  wavemem explain address -m gfx1030 'global_load_dword v1, v2, s[4:5] offset:16' \\\n"
    "          --set 's[4:5]=0x7f0000000000' --set 'v2=lane*8'\n"
    "  wavemem explain address -m gfx900 'flat_load_dword v1, v[2:3]' --set 'v[2:3]=(1<<48)+lane*4'\n"
    "  wavemem explain address -m gfx90a 'ds_read2st64_b32 v[0:1], v2 offset0:1 offset1:2' --set v2=lane*4\n"
    "  wavemem explain address -m gfx1100 's_buffer_load_b64 s[0:1], s[4:7], 0x3fc' \\\n"
    "          --set 's[4:7]=0x10000,0,0x400,0x27fac'\n"
    "\n"
    "  -m, --target NAME         the target: gfx900, gfx90a, gfx1030:wave64 ...\n"
    "      --set REGISTER=VALUE  s4, v3, m0, vcc, flat_scratch, exec; a range such as s[4:7] takes one value "
    "per\n"
    "                            register, a pair also one 64-bit value. A value is an expression of "
    "numbers,\n"
    "                            'lane', + - * / % << >> & ^ | ~ and parentheses. Default 0, exec: all\n"
    "      --lane N              show the calculation for this lane\n"
    "      --lds N               LDS of the workgroup in bytes; default: the maximum\n"
    "      --apertures SHARED_BASE,PRIVATE_BASE  apertures of FLAT for LDS and private memory, multiples of\n"
    "                            4 GiB; default: the target's\n"
    "      --json                write JSON\n"
    "\n"
    "Exit codes: 0 clean, 2 wrong usage or bad input.\n";

enum { TARGET = 1, SET, LANE, LDS, APERTURES, JSON, HELP };

static const struct tool_option options[] = {
    {"target", 'm', TOOL_VALUE, TARGET},     {"set", 0, TOOL_VALUE, SET},
    {"lane", 0, TOOL_VALUE, LANE},           {"lds", 0, TOOL_VALUE, LDS},
    {"json", 0, TOOL_NO_VALUE, JSON},        {"help", 'h', TOOL_NO_VALUE, HELP},
    {"apertures", 0, TOOL_VALUE, APERTURES}, {NULL, 0, TOOL_NO_VALUE, 0},
};

enum { LANES = 64, REGISTERS = 512 };

struct request {
    struct wm_address_request ask;
    struct wm_register registers[REGISTERS];
    char names[REGISTERS][40];
    bool has_lane, json, help;
};

/* ---- registers ---- */

/* The registers "s[4:7]", "v3" or "vcc": prefix, first number and count; `named`: without a number. */
struct target_registers {
    char prefix[20];
    bool named;
    unsigned first, count;
};

static bool parse_target(const char *text, size_t length, struct target_registers *r)
{
    static const char *const pairs[] = {"vcc", "flat_scratch"};
    char name[20], tail;
    if (length == 0 || length >= sizeof name)
        return false;
    memcpy(name, text, length);
    name[length] = 0;
    unsigned last;
    if (sscanf(name, "%1[sv][%u:%u%c", r->prefix, &r->first, &last, &tail) == 4 && tail == ']' &&
        name[length - 1] == ']' && r->first <= last && last < REGISTERS) {
        r->count = last - r->first + 1;
        return true;
    }
    r->count = 1;
    if (sscanf(name, "%1[sv]%u%c", r->prefix, &r->first, &tail) == 2)
        return true;
    r->named = true;
    memcpy(r->prefix, name, length + 1);
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (!strcmp(name, pairs[i]))
            r->count = 2;
    return true;
}

static struct wm_register *add_register(struct request *r, const struct target_registers *t, unsigned index)
{
    if (r->ask.register_count == REGISTERS)
        return NULL;
    const size_t i = r->ask.register_count++;
    if (!t->named)
        snprintf(r->names[i], sizeof r->names[i], "%s%u", t->prefix, t->first + index);
    else if (t->count == 2)
        snprintf(r->names[i], sizeof r->names[i], "%.15s_%s", t->prefix, index ? "hi" : "lo");
    else
        snprintf(r->names[i], sizeof r->names[i], "%s", t->prefix);
    r->registers[i].name = r->names[i];
    return &r->registers[i];
}

static int parse_set(struct request *r, const char *text)
{
    struct target_registers t = {0};
    const char *equals = strchr(text, '='), *at = equals ? equals + 1 : text, *end = NULL;
    uint64_t value[LANES];
    if (!equals || !parse_target(text, (size_t)(equals - text), &t))
        return tool_fail("--set %s: expected REGISTER=VALUE, like v3=lane*4 or s[4:7]=1,2,3,4", text);
    for (unsigned i = 0;; i++) {
        for (unsigned lane = 0; lane < LANES; lane++) {
            struct tool_expression e = {.lane = (int)lane};
            struct wm_diag diag;
            const bool good = tool_evaluate(at, &e, &diag);
            value[lane] = e.value;
            end = e.end;
            if (!good || (*end && *end != ','))
                return tool_fail("--set %s: expected an expression of numbers and 'lane', wrong at '%s'",
                                 text, end);
        }
        if (t.named && !strcmp(t.prefix, "exec")) {
            r->ask.lanes = value[0];
            return *end ? tool_fail("--set %s: exec takes one value", text) : TOOL_CLEAN;
        }
        const bool wide = i == 0 && !*end && t.count == 2; /* one 64-bit value for both registers */
        for (unsigned half = 0; half < (wide ? 2 : 1); half++) {
            struct wm_register *to = i + half < t.count ? add_register(r, &t, i + half) : NULL;
            if (!to)
                return tool_fail("--set %s: more values than registers", text);
            for (unsigned lane = 0; lane < LANES; lane++) {
                if (!wide && value[lane] > UINT32_MAX && ~value[lane] > INT32_MAX)
                    return tool_fail("--set %s: a value has more than 32 bits", text);
                to->value[lane] = (uint32_t)(value[lane] >> 32 * half);
            }
        }
        if (!*end)
            return wide || i + 1 == t.count
                       ? TOOL_CLEAN
                       : tool_fail("--set %s: %u registers, %u values", text, t.count, i + 1);
        at = end + 1;
    }
}

/* ---- the command line ---- */

static int parse_number(const char *option, const char *text, uint32_t limit, uint32_t *number)
{
    uint64_t value;
    if (!tool_parse_u64(text, &value) || value > limit)
        return tool_fail("%s %s: expected a number up to %" PRIu32, option, text, limit);
    *number = (uint32_t)value;
    return TOOL_CLEAN;
}

static int take(struct request *r, int id, const char *value)
{
    uint32_t lane = 0;
    int code = TOOL_CLEAN;
    switch (id) {
    case TOOL_OPTION_OPERAND:
        if (r->ask.text)
            return tool_fail("explain address: '%s': the instruction is one word, in quotation marks", value);
        r->ask.text = value;
        break;
    case TARGET:
        r->ask.target = value;
        break;
    case SET:
        return parse_set(r, value);
    case LANE:
        code = parse_number("--lane", value, LANES - 1, &lane);
        r->ask.lane = lane;
        r->has_lane = true;
        break;
    case LDS:
        code = parse_number("--lds", value, 1 << 20, &r->ask.lds_bytes);
        break;
    case APERTURES:
        return tool_parse_apertures("", value, &r->ask.shared_base, &r->ask.private_base);
    case JSON:
        r->json = true;
        break;
    case HELP:
        r->help = true;
        break;
    default:
        code = TOOL_WRONG;
    }
    return code;
}

static int parse(int argc, char **argv, struct request *r)
{
    struct tool_words words = {
        .verb = "explain address", .options = options, .count = argc - 1, .words = argv + 1};
    for (int id; (id = tool_next_option(&words)) != TOOL_OPTION_END;) {
        const int code = take(r, id, words.value);
        if (code != TOOL_CLEAN || r->help)
            return code;
    }
    if (!r->ask.target)
        return tool_fail("explain address: a target is needed, like -m gfx900");
    if (!r->ask.text)
        return tool_fail("explain address: an instruction is needed, like 'ds_read_b32 v0, v1'");
    return TOOL_CLEAN;
}

/* ---- text ---- */

static const char *verdict(const struct wm_address_answer *a, const struct wm_address_element *e,
                           unsigned lane)
{
    const uint64_t bit = UINT64_C(1) << lane;
    if (!(e->lanes & bit))
        return "not here";
    if (e->bad_range & bit && a->kind[0] == 'l')
        return !strcmp(a->path, "SMEM") ? "out of range: dwords that are give 0"
               : a->format              ? "out of range: gives 0, or 1 where DST_SEL says so"
                                        : "out of range: gives 0";
    if (e->bad_range & bit)
        return a->kind[0] == 's' ? "out of range: the store is dropped"
                                 : "out of range: nothing is done, 0 is returned";
    if (e->bad_align & bit)
        return "misaligned: a memory violation";
    if (e->bad_aperture & bit)
        return "no such aperture: a memory violation";
    return "in range";
}

static void print_lane(const struct wm_address_answer *a, unsigned lane)
{
    for (size_t i = 0; i < a->step_count; i++)
        printf("  %s\n", a->step[i]);
    for (unsigned i = 0; i < a->elements; i++) {
        const struct wm_address_element *e = &a->element[i];
        if (!(e->lanes >> lane & 1))
            continue;
        const bool memory = !strcmp(e->space, "memory");
        if (!strcmp(e->space, "lanes"))
            printf("lane %" PRIu64 "\n", e->address[lane] / 4);
        else
            printf("%u bytes at 0x%" PRIx64 "%s%s: %s\n", a->bytes, e->address[lane], memory ? "" : " of ",
                   memory ? "" : e->space, verdict(a, e, lane));
    }
}

static void print_lanes(const struct wm_address_answer *a)
{
    static const struct tool_column columns[] = {
        {"lane", TOOL_RIGHT}, {"space", TOOL_LEFT}, {"address", TOOL_RIGHT}, {"verdict", TOOL_LEFT}};
    struct tool_table table = {columns, sizeof(columns) / sizeof(columns[0]), NULL, 0};
    for (unsigned lane = 0; lane < a->wave_size; lane++)
        for (unsigned i = 0; i < a->elements; i++) {
            const struct wm_address_element *e = &a->element[i];
            if (!(e->lanes >> lane & 1))
                continue;
            tool_table_cell(&table, "%u", lane);
            tool_table_cell(&table, "%s", e->has_private ? "private" : e->space);
            tool_table_cell(&table, "0x%" PRIx64, e->address[lane]);
            tool_table_cell(&table, "%s", verdict(a, e, lane));
        }
    tool_table_print(&table, stdout, 2);
    tool_table_free(&table);
}

static void print_text(const struct request *r, const struct wm_address_answer *a, unsigned lane)
{
    printf("%s on %s\n%s %s, %u place%s of %u bytes per lane, waves of %u\n\n", a->text, r->ask.target,
           a->path, a->kind, a->elements, a->elements == 1 ? "" : "s", a->bytes, a->wave_size);
    if (r->has_lane || a->lanes == 1) {
        if (strcmp(a->path, "SMEM") != 0)
            printf("lane %u\n", lane);
        print_lane(a, strcmp(a->path, "SMEM") ? lane : 0);
    } else {
        print_lanes(a);
    }
}

/* ---- JSON ---- */

static json_t *json_place(const struct wm_address_answer *a, const struct wm_address_element *e,
                          unsigned lane)
{
    json_t *object = json_object();
    json_object_set_new(object, "space", json_string(e->has_private ? "private" : e->space));
    json_object_set_new(object, "address", json_sprintf("0x%" PRIx64, e->address[lane]));
    if (e->has_private)
        json_object_set_new(object, "private_offset", json_integer((json_int_t)e->private_offset[lane]));
    json_object_set_new(object, "in_range", json_boolean(!(e->bad_range >> lane & 1)));
    json_object_set_new(object, "aligned", json_boolean(!(e->bad_align >> lane & 1)));
    json_object_set_new(object, "verdict", json_string(verdict(a, e, lane)));
    return object;
}

static int print_json(const struct request *r, const struct wm_address_answer *a, unsigned only)
{
    json_t *report = json_object(), *lanes = json_array(), *steps = json_array();
    for (unsigned lane = 0; lane < a->wave_size; lane++) {
        if (!(a->lanes >> lane & 1) || (r->has_lane && a->lanes != 1 && lane != only))
            continue;
        json_t *object = json_object(), *places = json_array();
        for (unsigned i = 0; i < a->elements; i++)
            if (a->element[i].lanes >> lane & 1)
                json_array_append_new(places, json_place(a, &a->element[i], lane));
        json_object_set_new(object, "lane", json_integer(lane));
        json_object_set_new(object, "places", places);
        json_array_append_new(lanes, object);
    }
    json_object_set_new(report, "target", json_string(r->ask.target));
    json_object_set_new(report, "instruction", json_string(a->text));
    json_object_set_new(report, "path", json_string(a->path));
    json_object_set_new(report, "operation", json_string(a->kind));
    json_object_set_new(report, "wave_size", json_integer(a->wave_size));
    json_object_set_new(report, "bytes", json_integer(a->bytes));
    json_object_set_new(report, "lanes", lanes);
    if (r->has_lane || a->lanes == 1) {
        for (size_t i = 0; i < a->step_count; i++)
            json_array_append_new(steps, json_string(a->step[i]));
        json_object_set_new(report, "steps", steps);
    } else {
        json_decref(steps);
    }
    const int failed = json_dumpf(report, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(report);
    return failed ? tool_fail("explain address: no memory for the report") : TOOL_CLEAN;
}

/* The default lane: the first one of EXEC, because wm_address_explain() needs an active lane. */
static unsigned first_lane(uint64_t lanes)
{
    return lanes ? (unsigned)__builtin_ctzll(lanes) : 0;
}

static int answer(struct request *r)
{
    struct wm_address_answer *a = calloc(1, sizeof *a);
    struct wm_diag diag;
    int code;
    if (!a)
        return tool_fail("explain address: out of memory");
    if (!r->has_lane)
        r->ask.lane = first_lane(r->ask.lanes);
    r->ask.registers = r->registers;
    if (wm_address_explain(&r->ask, a, &diag))
        code = tool_fail("explain address: %s", diag.message);
    else if (r->json)
        code = print_json(r, a, r->ask.lane);
    else {
        print_text(r, a, r->ask.lane);
        code = TOOL_CLEAN;
    }
    free(a);
    return code;
}

static int explain_address(int argc, char **argv)
{
    struct request *r = calloc(1, sizeof *r);
    if (!r)
        return tool_fail("explain address: out of memory");
    r->ask.lanes = UINT64_MAX;
    int code = parse(argc, argv, r);
    if (code == TOOL_CLEAN && r->help)
        fputs(help, stdout);
    else if (code == TOOL_CLEAN)
        code = answer(r);
    free(r);
    return code;
}

const struct tool_verb explain_verb_address = {
    "address",       "compute the addresses that the lanes of an instruction access",
    explain_address, help,
    options,         NULL};
