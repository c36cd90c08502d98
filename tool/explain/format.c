/* SPDX-License-Identifier: MIT */
/* wavemem explain format: converts an element in memory to register values, or values to an element. */
#include "tool/explain/explain.h"
#include "tool/tool.h"
#include "wavemem/wavemem.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: wavemem explain format -m TARGET [--json] LAYOUT [NUMBER] WORD...\n"
    "       wavemem explain format -m TARGET [--json] LAYOUT [NUMBER] --store VALUE,...\n"
    "\n"
    "Converts an element in memory, given as 32-bit words, as a buffer load with this format does, or up to\n"
    "four values as a store does. Names may have AMD's prefixes; case is ignored.\n"
    "\n"
    "  wavemem explain format -m gfx900 8_8_8_8 unorm 0x80402010\n"
    "  wavemem explain format -m gfx900 16_16 snorm --store 0.5,-1.0\n"
    "  wavemem explain format -m gfx1100 BUF_FMT_10_11_11_FLOAT 0x1e0380c0\n"
    "\n"
    "  -m, --target NAME   the target: gfx900, gfx90a, gfx1030 ...\n"
    "      --store VALUES  numbers, inf or nan; integers for UINT and SINT; missing ones are 0\n"
    "      --json          write JSON\n"
    "\n"
    "Exit codes: 0 clean, 2 wrong usage or bad input.\n";

enum { COMPONENTS = 4 };

struct request {
    const char *target, *layout, *number, *store;
    uint32_t words[COMPONENTS];
    unsigned count; /* of `words` */
    bool json, help;
};

static const struct tool_option options[] = {
    {"target", 'm', TOOL_VALUE, TOOL_KEEP(target)},
    {"store", 0, TOOL_VALUE, TOOL_KEEP(store)},
    {"json", 0, TOOL_NO_VALUE, TOOL_KEEP(json)},
    {"help", 'h', TOOL_NO_VALUE, TOOL_KEEP(help)},
    {NULL, 0, TOOL_NO_VALUE, 0},
};

static int take_operand(struct request *r, const char *word)
{
    uint64_t number;
    if (!r->layout) {
        r->layout = word;
    } else if (!r->number && !r->count && (*word < '0' || *word > '9')) {
        r->number = word;
    } else {
        if (!tool_parse_u64(word, &number) || number > UINT32_MAX)
            return tool_fail("explain format: '%s': expected a word of 32 bits", word);
        if (r->count == COMPONENTS)
            return tool_fail("explain format: '%s': no element has more than 4 words", word);
        r->words[r->count++] = (uint32_t)number;
    }
    return TOOL_CLEAN;
}

static int parse(int argc, char **argv, struct request *r)
{
    struct tool_words words = {
        .verb = "explain format", .options = options, .count = argc - 1, .words = argv + 1, .request = r};
    for (int id; (id = tool_next_option(&words)) != TOOL_OPTION_END;)
        if (id == TOOL_OPTION_WRONG || take_operand(r, words.value) != TOOL_CLEAN)
            return TOOL_WRONG;
    if (r->help)
        return TOOL_CLEAN;
    if (!r->target)
        return tool_fail("explain format: a target is needed, like -m gfx900");
    if (!r->layout)
        return tool_fail("explain format: a format is needed, like 8_8_8_8 unorm");
    if (!r->count == !r->store)
        return tool_fail("explain format: give the element's words, or --store and values");
    return TOOL_CLEAN;
}

/* Parses a value of --store to the bits of its register. False: not a value. */
static bool parse_value(const char *text, bool integer, bool is_signed, const char **end, uint32_t *bits)
{
    char *stop;
    if (integer) {
        const long long number = strtoll(text, &stop, 0);
        *bits = (uint32_t)number;
        *end = stop;
        return stop != text &&
               (is_signed ? number >= INT32_MIN && number <= INT32_MAX : number >= 0 && number <= UINT32_MAX);
    }
    const float number = strtof(text, &stop);
    memcpy(bits, &number, sizeof number);
    *end = stop;
    return stop != text;
}

static int parse_values(const char *text, const struct wm_format_answer *format, uint32_t value[COMPONENTS])
{
    const char *at = text;
    for (unsigned i = 0;; i++) {
        if (i == COMPONENTS)
            return tool_fail("--store %s: more than 4 values", text);
        if (!parse_value(at, format->integer, format->is_signed, &at, &value[i]) || (*at && *at != ','))
            return tool_fail("--store %s: expected %s, separated by commas", text,
                             !format->integer    ? "numbers"
                             : format->is_signed ? "signed integers of 32 bits"
                                                 : "unsigned integers of 32 bits");
        if (!*at++)
            return TOOL_CLEAN;
    }
}

static void put_value(const struct wm_format_answer *a, unsigned i, char *text, size_t size)
{
    float number;
    memcpy(&number, &a->value[i], sizeof number);
    if (a->is_signed)
        snprintf(text, size, "%" PRId32, (int32_t)a->value[i]);
    else if (a->integer)
        snprintf(text, size, "%" PRIu32, a->value[i]);
    else
        snprintf(text, size, "%.9g", (double)number);
}

static void print_text(const struct request *r, const struct wm_format_answer *a)
{
    char value[40];
    printf("%s on %s: ", a->name, r->target);
    if (a->unified)
        printf("FORMAT %u", a->code);
    else
        printf("DATA_FORMAT %u, NUM_FORMAT %u", a->code & 15, a->code >> 4);
    printf("; %u byte%s, %u component%s\n%s is %s\n\n", a->bytes, a->bytes == 1 ? "" : "s", a->components,
           a->components == 1 ? "" : "s", "a component", a->formula);
    for (unsigned i = 0; i < a->components; i++) {
        const struct wm_format_component *c = &a->component[i];
        char bits[16], raw[16];
        put_value(a, i, value, sizeof value);
        snprintf(bits, sizeof bits, "%u:%u", c->shift + c->bits - 1, c->shift);
        snprintf(raw, sizeof raw, "0x%0*" PRIx32, (int)(c->bits + 3) / 4, c->raw);
        if (r->store)
            printf("  %c  %-14s 0x%08" PRIx32 "  ->  bits %-7s %s\n", "XYZW"[i], value, a -> value[i], bits,
                   raw);
        else
            printf("  %c  bits %-7s %-10s  ->  %-14s 0x%08" PRIx32 "\n", "XYZW"[i], bits, raw, value,
                   a -> value[i]);
    }
    if (!r->store && a->components < COMPONENTS)
        printf("  %s  not in the format: 0, or what DST_SEL says\n", &"XYZW"[a->components]);
    if (a->unsigned_alpha && a->is_signed)
        printf("  W is read without sign on this generation\n");
    printf("\nelement");
    for (unsigned i = 0; i < a->bytes; i++)
        printf(" %02x", a->element[i / 4] >> i % 4 * 8 & 0xff);
    printf("   (bytes, lowest address first)\n");
}

static int print_json(const struct request *r, const struct wm_format_answer *a)
{
    json_t *components = json_array(), *element = json_array(), *object = json_object();
    char value[40];
    for (unsigned i = 0; i < a->components; i++) {
        const struct wm_format_component *c = &a->component[i];
        json_t *one = json_object();
        const char name[2] = {"XYZW"[i], 0};
        put_value(a, i, value, sizeof value);
        json_object_set_new(one, "name", json_string(name));
        json_object_set_new(one, "bits", json_integer(c->bits));
        json_object_set_new(one, "shift", json_integer(c->shift));
        json_object_set_new(one, "raw", json_integer(c->raw));
        json_object_set_new(one, "register", json_integer(a->value[i]));
        json_object_set_new(one, "value", json_string(value)); /* a string, because JSON has no NaN */
        json_array_append_new(components, one);
    }
    for (unsigned i = 0; i < a->bytes; i++)
        json_array_append_new(element, json_integer(a->element[i / 4] >> i % 4 * 8 & 0xff));
    json_object_set_new(object, "target", json_string(r->target));
    json_object_set_new(object, "format", json_string(a->name));
    json_object_set_new(object, "code", json_integer(a->code));
    json_object_set_new(object, "direction", json_string(r->store ? "store" : "load"));
    json_object_set_new(object, "formula", json_string(a->formula));
    json_object_set_new(object, "components", components);
    json_object_set_new(object, "element", element);
    const int failed = json_dumpf(object, stdout, JSON_INDENT(2));
    json_decref(object);
    putchar('\n');
    return failed ? tool_fail("explain format: the output could not be written") : TOOL_CLEAN;
}

static int explain_format(int argc, char **argv)
{
    struct request r = {0};
    struct wm_format_answer answer;
    struct wm_diag diag;
    uint32_t value[COMPONENTS] = {0};
    if (parse(argc, argv, &r) != TOOL_CLEAN)
        return TOOL_WRONG;
    if (r.help) {
        fputs(help, stdout);
        return TOOL_CLEAN;
    }
    if (wm_format_load(r.target, r.layout, r.number, r.words, &answer, &diag))
        return tool_fail("explain format: %s", diag.message);
    const unsigned words = (answer.bytes + 3) / 4;
    if (r.count && (r.count != words || (answer.bytes < 4 && r.words[0] >> (8 * answer.bytes))))
        return tool_fail("explain format: %s has %u bytes; expected %u word%s that %s no more", answer.name,
                         answer.bytes, words, words == 1 ? "" : "s", words == 1 ? "has" : "have");
    if (r.store && (parse_values(r.store, &answer, value) ||
                    wm_format_store(r.target, r.layout, r.number, value, &answer, &diag)))
        return TOOL_WRONG;
    if (r.json)
        return print_json(&r, &answer);
    print_text(&r, &answer);
    return TOOL_CLEAN;
}

const struct tool_verb explain_verb_format = {
    "format", "convert elements in memory to values and back", explain_format, help, options, NULL};
