/* SPDX-License-Identifier: MIT */
/* wavemem explain: what a descriptor means, and which address a buffer instruction touches, step by step. */
#include "table.h"
#include "tool.h"
#include "wavemem/wavemem.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: wavemem explain buffer|image|sampler -m TARGET [--json] WORD...\n"
    "       wavemem explain buffer|image|sampler -m TARGET [--json] FIELD=VALUE ...\n"
    "       wavemem explain buffer ... [--index N] [--offset N] [--inst-offset N] [--soffset N] [--lane N]\n"
    "       wavemem explain format ...                     (--help says more)\n"
    "\n"
    "Takes a descriptor apart (a buffer's V#, an image's T#, a sampler's S#), or makes one of fields, and\n"
    "says what is odd about it and what the hardware does then. For a buffer it also computes the address\n"
    "of one lane and checks its range, with every step.\n"
    "\n"
    "  wavemem explain buffer -m gfx900 0x00010000 0x00100000 0x00000400 0x00027fac\n"
    "  wavemem explain buffer -m gfx900 0x00010000 0x00100000 0x00000400 0x00027fac \\\n"
    "          --index 10 --inst-offset 16 --soffset 64 --bytes 8     a dwordx2 with idxen\n"
    "  wavemem explain buffer -m gfx1030 BASE_ADDRESS=0x10000 STRIDE=8 NUM_RECORDS=20 FORMAT=22\n"
    "  wavemem explain image -m gfx900 0x100 0xc500000 0xfc03f 0x90000fac 0x7e000 0 0 0\n"
    "  wavemem explain sampler -m gfx1100 CLAMP_X=2 CLAMP_Y=2 XY_MAG_FILTER=1\n"
    "\n"
    "A word is a number (0x for hexadecimal): four for a buffer or a sampler, eight for an image. Fields "
    "have\n"
    "AMD's names, in any case; those that are not given are 0.\n"
    "\n"
    "  -m, --target NAME    the target: gfx900, gfx90a, gfx1030 ...\n"
    "      --index N        the index register's value, and idxen\n"
    "      --offset N       the offset register's value, and offen\n"
    "      --addr64 N       the 64-bit address in registers, and addr64 (gfx6, gfx7)\n"
    "      --inst-offset N  the instruction's own offset\n"
    "      --soffset N      the scalar offset\n"
    "      --lane N         the lane, which ADD_TID_ENABLE adds to the index\n"
    "      --bytes N        what a lane moves: 1, 2, 4, 8, 12 or 16; 4 if not given\n"
    "      --format         the instruction converts by the descriptor's format\n"
    "      --atomic         the instruction is an atomic\n"
    "      --json           as JSON\n"
    "\n"
    "Exit codes: 0 clean, 2 wrong use or bad input.\n";

enum { TARGET = 1, INDEX, OFFSET, ADDR64, INST_OFFSET, SOFFSET, LANE, BYTES, FORMAT, ATOMIC, JSON, HELP };

static const struct tool_option options[] = {
    {"target", 'm', TOOL_VALUE, TARGET},
    {"index", 0, TOOL_VALUE, INDEX},
    {"offset", 0, TOOL_VALUE, OFFSET},
    {"addr64", 0, TOOL_VALUE, ADDR64},
    {"inst-offset", 0, TOOL_VALUE, INST_OFFSET},
    {"soffset", 0, TOOL_VALUE, SOFFSET},
    {"lane", 0, TOOL_VALUE, LANE},
    {"bytes", 0, TOOL_VALUE, BYTES},
    {"format", 0, TOOL_NO_VALUE, FORMAT},
    {"atomic", 0, TOOL_NO_VALUE, ATOMIC},
    {"json", 0, TOOL_NO_VALUE, JSON},
    {"help", 'h', TOOL_NO_VALUE, HELP},
    {NULL, 0, TOOL_NO_VALUE, 0},
};

struct request {
    const char *target;
    enum wm_descriptor_kind kind;
    bool has_kind, json, help, asks_address;
    uint32_t words[WM_DESCRIPTOR_WORDS];
    size_t word_count;
    char names[WM_DESCRIPTOR_FIELDS][40];
    struct wm_descriptor_field fields[WM_DESCRIPTOR_FIELDS];
    size_t field_count;
    struct wm_buffer_request access;
};

/* ---- the command line ---- */

static const char *const kinds[] = {
    [WM_DESCRIPTOR_BUFFER] = "buffer", [WM_DESCRIPTOR_IMAGE] = "image", [WM_DESCRIPTOR_SAMPLER] = "sampler"};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static int parse_kind(struct request *request, const char *word)
{
    for (size_t i = 0; i < KINDS; i++)
        if (strcmp(word, kinds[i]) == 0) {
            request->kind = (enum wm_descriptor_kind)i;
            request->has_kind = true;
            return TOOL_CLEAN;
        }
    const char *nearest = tool_nearest(word, kinds, KINDS, sizeof(kinds[0]));
    if (nearest)
        return tool_fail("explain '%s': did you mean '%s'?", word, nearest);
    return tool_fail("explain '%s': expected buffer, image or sampler", word);
}

static int parse_field(struct request *request, const char *word, const char *equals)
{
    struct wm_descriptor_field *field = &request->fields[request->field_count];
    const size_t length = (size_t)(equals - word);
    if (request->field_count == WM_DESCRIPTOR_FIELDS)
        return tool_fail("'%s': more than %d fields", word, WM_DESCRIPTOR_FIELDS);
    if (length >= sizeof(request->names[0]))
        return tool_fail("'%s': no field has so long a name", word);
    if (!tool_parse_u64(equals + 1, &field->value))
        return tool_fail("'%s': expected a number behind the '='", word);
    char *name = request->names[request->field_count++];
    memcpy(name, word, length);
    name[length] = 0;
    field->name = name;
    return TOOL_CLEAN;
}

static int parse_operand(struct request *request, const char *word)
{
    const char *equals = strchr(word, '=');
    uint64_t number;
    if (!request->has_kind)
        return parse_kind(request, word);
    if (equals)
        return parse_field(request, word, equals);
    if (!tool_parse_u64(word, &number) || number > UINT32_MAX)
        return tool_fail("'%s': expected a word of 32 bits, or FIELD=VALUE", word);
    if (request->word_count == WM_DESCRIPTOR_WORDS)
        return tool_fail("'%s': no descriptor has more than %d words", word, WM_DESCRIPTOR_WORDS);
    request->words[request->word_count++] = (uint32_t)number;
    return TOOL_CLEAN;
}

/* An option that says what the instruction gives the lane. */
static int parse_access(struct request *request, int id, const char *value)
{
    struct wm_buffer_request *a = &request->access;
    uint64_t number = 0;
    request->asks_address = true;
    if (value && (!tool_parse_u64(value, &number) || (id != ADDR64 && number > UINT32_MAX) ||
                  (id == INST_OFFSET && number > INT32_MAX)))
        return tool_fail("'%s': expected a number of %d bits", value,
                         id == ADDR64        ? 64
                         : id == INST_OFFSET ? 31
                                             : 32);
    switch (id) {
    case INDEX:
        a->idxen = true;
        a->index = (uint32_t)number;
        break;
    case OFFSET:
        a->offen = true;
        a->offset = (uint32_t)number;
        break;
    case ADDR64:
        a->addr64 = true;
        a->address = number;
        break;
    case INST_OFFSET:
        a->inst_offset = (int32_t)number;
        break;
    case SOFFSET:
        a->soffset = (uint32_t)number;
        break;
    case LANE:
        a->lane = (unsigned)number;
        break;
    case BYTES:
        a->bytes = (unsigned)number;
        break;
    case FORMAT:
        a->format = true;
        break;
    default:
        a->atomic = true;
        break;
    }
    return TOOL_CLEAN;
}

static int check(const struct request *request)
{
    if (!request->has_kind)
        return tool_fail("what is to be explained? wavemem explain buffer|image|sampler -m TARGET WORD...");
    if (!request->target)
        return tool_fail("a target is needed, like -m gfx900");
    if (!wm_target_known(request->target))
        return tool_fail("-m %s: not a target that wavemem knows; expected one like gfx900", request->target);
    if (request->word_count && request->field_count)
        return tool_fail("give words or fields, not both");
    if (!request->word_count && !request->field_count)
        return tool_fail("the descriptor's words are needed, or FIELD=VALUE");
    if (request->asks_address && request->kind != WM_DESCRIPTOR_BUFFER)
        return tool_fail("addresses are computed for buffers only, not for 'explain %s'",
                         kinds[request->kind]);
    return TOOL_CLEAN;
}

static int parse(int argc, char **argv, struct request *request)
{
    struct tool_words words = {.verb = argv[0], .options = options, .count = argc - 1, .words = argv + 1};
    request->access.bytes = 4;
    for (int id; (id = tool_next_option(&words)) != TOOL_OPTION_END;) {
        int code = TOOL_CLEAN;
        switch (id) {
        case TOOL_OPTION_WRONG:
            return TOOL_WRONG;
        case TOOL_OPTION_OPERAND:
            code = parse_operand(request, words.value);
            break;
        case TARGET:
            request->target = words.value;
            break;
        case JSON:
            request->json = true;
            break;
        case HELP:
            request->help = true;
            return TOOL_CLEAN;
        default:
            code = parse_access(request, id, words.value);
            break;
        }
        if (code != TOOL_CLEAN)
            return code;
    }
    return check(request);
}

/* ---- text ---- */

static void print_fields(const struct wm_descriptor *d)
{
    static const struct tool_column columns[] = {
        {"bits", TOOL_RIGHT}, {"field", TOOL_LEFT}, {"value", TOOL_RIGHT}, {"meaning", TOOL_LEFT}};
    struct tool_table table = {columns, sizeof(columns) / sizeof(columns[0]), NULL, 0};
    for (size_t i = 0; i < d->field_count; i++) {
        const struct wm_descriptor_field *f = &d->field[i];
        if (f->bits == 1)
            tool_table_cell(&table, "%u", f->bit);
        else
            tool_table_cell(&table, "%u-%u", f->bit, f->bit + f->bits - 1);
        tool_table_cell(&table, "%s", f->name);
        tool_table_cell(&table, f->value < 1 << 20 ? "%" PRIu64 : "0x%" PRIx64, f->value);
        tool_table_cell(&table, "%s", f->meaning);
    }
    tool_table_print(&table, stdout, 2);
    tool_table_free(&table);
}

static const char *verdict(const struct request *request, bool in_range)
{
    if (in_range)
        return "in range";
    return request->access.atomic ? "out of range: dropped, returns 0"
                                  : "out of range: a load gives 0 (1 where DST_SEL is 1), a store is dropped";
}

static void print_text(const struct request *request, const struct wm_descriptor *d,
                       const struct wm_buffer_answer *answer)
{
    printf("%s %s", request->target, kinds[d->kind]);
    for (unsigned i = 0; i < d->word_count; i++)
        printf(" 0x%08" PRIx32, d->words[i]);
    putchar('\n');
    print_fields(d);
    for (size_t i = 0; i < d->warning_count; i++)
        printf("warning: %s\n", d->warning[i]);
    if (!answer)
        return;
    putchar('\n');
    for (size_t i = 0; i < answer->step_count; i++)
        printf("  %s\n", answer->step[i]);
    for (unsigned i = 0; i < answer->elements; i++) {
        if (answer->elements > 1)
            printf("dword %u at ", i);
        printf("0x%" PRIx64 ": %s\n", answer->address[i], verdict(request, answer->in_range[i]));
    }
}

/* ---- JSON ---- */

static json_t *json_hex(uint64_t value)
{
    return json_sprintf("0x%" PRIx64, value);
}

static json_t *json_access(const struct wm_buffer_answer *answer)
{
    json_t *object = json_object(), *elements = json_array(), *steps = json_array();
    for (unsigned i = 0; i < answer->elements; i++) {
        json_t *element = json_object();
        json_object_set_new(element, "address", json_hex(answer->address[i]));
        json_object_set_new(element, "in_range", json_boolean(answer->in_range[i]));
        json_array_append_new(elements, element);
    }
    for (size_t i = 0; i < answer->step_count; i++)
        json_array_append_new(steps, json_string(answer->step[i]));
    json_object_set_new(object, "elements", elements);
    json_object_set_new(object, "steps", steps);
    return object;
}

static int print_json(const struct request *request, const struct wm_descriptor *d,
                      const struct wm_buffer_answer *answer)
{
    json_t *report = json_object(), *words = json_array(), *fields = json_array(), *warnings = json_array();
    for (unsigned i = 0; i < d->word_count; i++)
        json_array_append_new(words, json_hex(d->words[i]));
    for (size_t i = 0; i < d->field_count; i++) {
        const struct wm_descriptor_field *f = &d->field[i];
        json_t *field = json_object();
        json_object_set_new(field, "name", json_string(f->name));
        json_object_set_new(field, "bit", json_integer(f->bit));
        json_object_set_new(field, "bits", json_integer(f->bits));
        json_object_set_new(field, "value", json_integer((json_int_t)f->value));
        json_object_set_new(field, "meaning", json_string(f->meaning));
        json_array_append_new(fields, field);
    }
    for (size_t i = 0; i < d->warning_count; i++)
        json_array_append_new(warnings, json_string(d->warning[i]));
    json_object_set_new(report, "target", json_string(request->target));
    json_object_set_new(report, "kind", json_string(kinds[d->kind]));
    json_object_set_new(report, "words", words);
    json_object_set_new(report, "fields", fields);
    json_object_set_new(report, "warnings", warnings);
    if (answer)
        json_object_set_new(report, "access", json_access(answer));
    const int failed = json_dumpf(report, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(report);
    return failed ? tool_fail("explain: no memory for the report") : TOOL_CLEAN;
}

/* ---- the verb ---- */

int cmd_explain(int argc, char **argv)
{
    struct request request = {0};
    struct wm_descriptor descriptor;
    struct wm_buffer_answer answer;
    struct wm_diag diag;
    if (argc > 1 && !strcmp(argv[1], "format"))
        return explain_format(argc - 1, argv + 1);
    const int code = parse(argc, argv, &request);
    if (code != TOOL_CLEAN)
        return code;
    if (request.help) {
        fputs(help, stdout);
        return TOOL_CLEAN;
    }
    const enum wm_status status = request.field_count
                                      ? wm_descriptor_encode(request.target, request.kind, request.fields,
                                                             request.field_count, &descriptor, &diag)
                                      : wm_descriptor_decode(request.target, request.kind, request.words,
                                                             request.word_count, &descriptor, &diag);
    if (status)
        return tool_fail("explain %s: %s", kinds[request.kind], diag.message);
    if (request.asks_address &&
        wm_buffer_explain(request.target, descriptor.words, &request.access, &answer, &diag))
        return tool_fail("explain buffer: %s", diag.message);
    const struct wm_buffer_answer *shown = request.asks_address ? &answer : NULL;
    if (request.json)
        return print_json(&request, &descriptor, shown);
    print_text(&request, &descriptor, shown);
    return TOOL_CLEAN;
}
