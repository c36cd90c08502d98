/* SPDX-License-Identifier: MIT */
/* wavemem explain descriptor: the meaning of the fields of a V#, T# or S#, and warnings about them. */
#include "tool/explain/explain.h"
#include "tool/report/table.h"
#include "tool/tool.h"
#include "wavemem/wavemem.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: wavemem explain descriptor -m TARGET [--kind buffer|image|sampler] [--json] WORD...\n"
    "       wavemem explain descriptor -m TARGET [--kind buffer|image|sampler] [--json] FIELD=VALUE ...\n"
    "\n"
    "Decodes a descriptor (a buffer's V#, an image's T#, a sampler's S#) or builds one from fields, and "
    "warns\n"
    "about unusual or invalid settings and their effect.\n"
    "\n"
    "  wavemem explain descriptor -m gfx900 0x00010000 0x00100000 0x00000400 0x00027fac\n"
    "  wavemem explain descriptor -m gfx1030 BASE_ADDRESS=0x10000 STRIDE=8 NUM_RECORDS=20 FORMAT=22\n"
    "  wavemem explain descriptor -m gfx900 0x100 0xc500000 0xfc03f 0x90000fac 0x7e000 0 0 0\n"
    "  wavemem explain descriptor -m gfx1100 --kind sampler CLAMP_X=2 CLAMP_Y=2 XY_MAG_FILTER=1\n"
    "\n"
    "A word is a number (0x for hexadecimal). Fields have AMD's names; case is ignored. Fields that are not "
    "given are 0.\n"
    "\n"
    "  -m, --target NAME  the target: gfx900, gfx90a, gfx1030 ...\n"
    "      --kind KIND    buffer (four words, default), image (eight words) or sampler (four words)\n"
    "      --json         write JSON\n"
    "\n"
    "Exit codes: 0 clean, 2 wrong usage or bad input.\n";

enum { BUFFER_WORDS = 4 };

struct request {
    const char *target;
    enum wm_descriptor_kind kind;
    bool has_kind, json, help;
    uint32_t words[WM_DESCRIPTOR_WORDS];
    size_t word_count;
    char names[WM_DESCRIPTOR_FIELDS][40];
    struct wm_descriptor_field fields[WM_DESCRIPTOR_FIELDS];
    size_t field_count;
};

enum { KIND = 1, HELP };

static const struct tool_option options[] = {
    {"target", 'm', TOOL_VALUE, TOOL_KEEP(target)},
    {"kind", 0, TOOL_VALUE, KIND},
    {"json", 0, TOOL_NO_VALUE, TOOL_KEEP(json)},
    {"help", 'h', TOOL_NO_VALUE, HELP},
    {NULL, 0, TOOL_NO_VALUE, 0},
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
        return tool_fail("--kind %s: did you mean '%s'?", word, nearest);
    return tool_fail("--kind %s: expected buffer, image or sampler", word);
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
    if (equals)
        return parse_field(request, word, equals);
    if (!tool_parse_u64(word, &number) || number > UINT32_MAX)
        return tool_fail("'%s': expected a word of 32 bits, or FIELD=VALUE", word);
    if (request->word_count == WM_DESCRIPTOR_WORDS)
        return tool_fail("'%s': no descriptor has more than %d words", word, WM_DESCRIPTOR_WORDS);
    request->words[request->word_count++] = (uint32_t)number;
    return TOOL_CLEAN;
}

static int check(const struct request *request)
{
    if (!request->target)
        return tool_fail("a target is needed, like -m gfx900");
    if (!wm_target_known(request->target))
        return tool_fail("-m %s: not a target that wavemem knows; expected one like gfx900", request->target);
    if (request->word_count && request->field_count)
        return tool_fail("give words or fields, not both");
    if (!request->word_count && !request->field_count)
        return tool_fail("the descriptor's words are needed, or FIELD=VALUE");
    return TOOL_CLEAN;
}

static int parse(int argc, char **argv, struct request *request)
{
    struct tool_words words = {.verb = "explain descriptor",
                               .options = options,
                               .count = argc - 1,
                               .words = argv + 1,
                               .request = request};
    for (int id; (id = tool_next_option(&words)) != TOOL_OPTION_END;) {
        if (id == TOOL_OPTION_WRONG)
            return TOOL_WRONG;
        if (id == HELP) {
            request->help = true;
            return TOOL_CLEAN;
        }
        const int code = id == KIND ? parse_kind(request, words.value) : parse_operand(request, words.value);
        if (code != TOOL_CLEAN)
            return code;
    }
    if (!request->has_kind && request->word_count > BUFFER_WORDS)
        request->kind = WM_DESCRIPTOR_IMAGE;
    return check(request);
}

/* ---- text ---- */

static void print_fields(FILE *out, const struct wm_descriptor *d)
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
    tool_table_print(&table, out, 2);
    tool_table_free(&table);
}

void tool_print_descriptor(FILE *out, const char *target, const struct wm_descriptor *d)
{
    fprintf(out, "%s %s", target, kinds[d->kind]);
    for (unsigned i = 0; i < d->word_count; i++)
        fprintf(out, " 0x%08" PRIx32, d->words[i]);
    fputc('\n', out);
    print_fields(out, d);
    for (size_t i = 0; i < d->warning_count; i++)
        fprintf(out, "warning: %s\n", d->warning[i]);
}

/* ---- JSON ---- */

static json_t *json_hex(uint64_t value)
{
    return json_sprintf("0x%" PRIx64, value);
}

static int print_json(const struct request *request, const struct wm_descriptor *d)
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
    const int failed = json_dumpf(report, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(report);
    return failed ? tool_fail("explain: no memory for the report") : TOOL_CLEAN;
}

/* ---- the question ---- */

static int explain_descriptor(int argc, char **argv)
{
    struct request request = {0};
    struct wm_descriptor descriptor;
    struct wm_diag diag;
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
        return tool_fail("explain descriptor: %s: %s", kinds[request.kind], diag.message);
    if (request.json)
        return print_json(&request, &descriptor);
    tool_print_descriptor(stdout, request.target, &descriptor);
    return TOOL_CLEAN;
}

const struct tool_verb explain_verb_descriptor = {
    "descriptor",
    "decode the words of a descriptor, or build them from fields",
    explain_descriptor,
    help,
    options,
    NULL};
