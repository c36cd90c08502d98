/* SPDX-License-Identifier: MIT */
/* Words of 32 bits from text: floats, expressions, descriptors built from fields. */
#include "tool/arguments/dwords.h"

#include "tool/arguments/value.h"
#include "tool/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A place for names that are not known yet; neither 0 nor so large that a sum overflows. */
static bool find_nothing(void *user, const char *name, size_t length, struct tool_place *place,
                         struct wm_diag *diag)
{
    (void)user, (void)name, (void)length, (void)diag;
    *place = (struct tool_place){1 << 16, 1 << 16};
    return true;
}

static const struct tool_names nothing = {find_nothing, NULL};

static void skip_blanks(const char **text)
{
    *text += strspn(*text, " \t");
}

static struct tool_expression expression_of(const struct tool_item_rules *rules)
{
    return (struct tool_expression){.names = rules->names ? rules->names : &nothing, .lane = rules->lane};
}

/* ---- floats ---- */

/* Whether a float is next: "1.5", "-2e3", "3f", "inf", but not "3" or "0x1f". */
static bool read_float(const char **text, uint32_t *word)
{
    char token[48], *end;
    const size_t length = strcspn(*text, ",) \t");
    if (length >= sizeof token)
        return false;
    memcpy(token, *text, length);
    token[length] = 0;
    const char *digits = token + (token[0] == '-');
    const bool special = !strcasecmp(digits, "inf") || !strcasecmp(digits, "nan");
    const bool number = (*digits >= '0' && *digits <= '9') || *digits == '.';
    if (!special && (!number || !digits[strspn(digits, "0123456789")] || strpbrk(digits, "xX")))
        return false;
    const float value = strtof(token, &end);
    if (*end == 'f' && !special)
        end++;
    if (*end || end == token)
        return false;
    memcpy(word, &value, sizeof value);
    *text += length;
    return true;
}

/* ---- descriptors ---- */

static const struct {
    const char *prefix;
    enum wm_descriptor_kind kind;
    unsigned words, base_shift; /* of the address in BASE_ADDRESS */
} descriptors[] = {
    {"V#(", WM_DESCRIPTOR_BUFFER, 4, 0},
    {"T#(", WM_DESCRIPTOR_IMAGE, 8, 8},
    {"S#(", WM_DESCRIPTOR_SAMPLER, 4, 0},
};
enum { DESCRIPTORS = sizeof descriptors / sizeof *descriptors, NAME_BYTES = 40 };

static size_t descriptor_at(const char *text)
{
    size_t i = 0;
    while (i < DESCRIPTORS && strncasecmp(text, descriptors[i].prefix, 3))
        i++;
    return i;
}

bool tool_is_descriptor(const char *text)
{
    return descriptor_at(text) < DESCRIPTORS;
}

struct fields {
    const char *target;            /* NULL: nothing is checked */
    struct wm_descriptor existing; /* all fields that the target has */
    char names[WM_DESCRIPTOR_FIELDS][NAME_BYTES];
    struct wm_descriptor_field given[WM_DESCRIPTOR_FIELDS];
    size_t count;
    bool has_size;
    uint64_t size; /* bytes from the base on */
};

static bool has_field(const struct fields *fields, const char *name)
{
    for (size_t i = 0; i < fields->existing.field_count; i++)
        if (!strcmp(fields->existing.field[i].name, name))
            return true;
    return false;
}

static const struct wm_descriptor_field *given_field(const struct fields *fields, const char *name)
{
    for (size_t i = 0; i < fields->count; i++)
        if (!strcasecmp(fields->given[i].name, name))
            return &fields->given[i];
    return NULL;
}

static bool give(struct fields *fields, const char *name, uint64_t value, struct wm_diag *diag)
{
    if (given_field(fields, name))
        return tool_because(diag, "%s is given twice", name);
    if (fields->count == WM_DESCRIPTOR_FIELDS)
        return tool_because(diag, "more than %d fields", WM_DESCRIPTOR_FIELDS);
    snprintf(fields->names[fields->count], NAME_BYTES, "%s", name);
    fields->given[fields->count] =
        (struct wm_descriptor_field){.name = fields->names[fields->count], .value = value};
    fields->count++;
    return true;
}

static void give_default(struct fields *fields, const char *name, uint64_t value)
{
    struct wm_diag diag;
    if (has_field(fields, name) && !given_field(fields, name))
        give(fields, name, value, &diag);
}

/* "32_32_FLOAT": the field FORMAT, or DATA_FORMAT and NUM_FORMAT. */
static bool give_format(struct fields *fields, const char *name, struct wm_diag *diag)
{
    static const uint32_t element[4];
    struct wm_format_answer answer;
    if (!fields->target)
        return true;
    if (wm_format_load(fields->target, name, NULL, element, &answer, diag) != WM_OK)
        return false;
    if (answer.unified)
        return give(fields, "FORMAT", answer.code, diag);
    return give(fields, "DATA_FORMAT", answer.code & 15, diag) &&
           give(fields, "NUM_FORMAT", answer.code >> 4, diag);
}

static bool read_field(const char **text, const struct tool_item_rules *rules, bool buffer,
                       struct fields *fields, struct wm_diag *diag)
{
    char name[NAME_BYTES], format[NAME_BYTES];
    const size_t length = strcspn(*text, "=,)");
    if ((*text)[length] != '=' || !length || length >= sizeof name)
        return tool_because(diag, "expected FIELD=VALUE or ')', wrong at '%.40s'", *text);
    memcpy(name, *text, length);
    name[length] = 0;
    *text += length + 1;
    const size_t value = strcspn(*text, ",) \t");
    uint64_t number;
    if (buffer && !strcasecmp(name, "format") && value < sizeof format) {
        memcpy(format, *text, value);
        format[value] = 0;
        if (!tool_parse_u64(format, &number)) {
            *text += value;
            return give_format(fields, format, diag);
        }
    }
    struct tool_expression e = expression_of(rules);
    if (!tool_evaluate(*text, &e, diag))
        return false;
    *text = e.end;
    if (buffer && !strcasecmp(name, "size")) {
        fields->has_size = true;
        fields->size = e.value;
        return true;
    }
    return give(fields, name, e.value, diag);
}

/* What drivers set in the V# of a buffer of `size` bytes. Sources: Mesa's ac_descriptors.c, and the comment
 * on NUM_RECORDS in si_make_buffer_descriptor(): gfx8 counts bytes unless the buffer is swizzled. */
static void add_buffer_defaults(struct fields *fields)
{
    enum { SELECT_X = 4, STRUCTURED = 1, RAW = 3 };
    const struct wm_descriptor_field *stride = given_field(fields, "STRIDE");
    const struct wm_descriptor_field *swizzle = given_field(fields, "SWIZZLE_ENABLE");
    const bool bytes =
        !stride || !stride->value || (!strncmp(fields->target, "gfx8", 4) && !(swizzle && swizzle->value));
    static const char *const selects[] = {"DST_SEL_X", "DST_SEL_Y", "DST_SEL_Z", "DST_SEL_W"};
    struct wm_diag diag;
    give_default(fields, "NUM_RECORDS", bytes ? fields->size : fields->size / stride->value);
    for (unsigned i = 0; i < 4; i++)
        give_default(fields, selects[i], SELECT_X + i);
    give_default(fields, "RESOURCE_LEVEL", 1);
    give_default(fields, "OOB_SELECT", stride && stride->value ? STRUCTURED : RAW);
    if (!given_field(fields, "FORMAT") && !given_field(fields, "DATA_FORMAT") &&
        !given_field(fields, "NUM_FORMAT"))
        give_format(fields, "32_UINT", &diag);
}

static bool read_descriptor(const char **text, const struct tool_item_rules *rules, struct tool_item *item,
                            struct wm_diag *diag)
{
    static const uint32_t none[WM_DESCRIPTOR_WORDS];
    const size_t which = descriptor_at(*text);
    const bool buffer = descriptors[which].kind == WM_DESCRIPTOR_BUFFER;
    struct fields fields = {.target = rules->names ? rules->target : NULL};
    struct wm_descriptor descriptor;
    item->count = descriptors[which].words;
    item->named = true;
    if (fields.target && wm_descriptor_decode(fields.target, descriptors[which].kind, none, item->count,
                                              &fields.existing, diag) != WM_OK)
        return false;
    *text += strlen(descriptors[which].prefix);
    for (bool first = true;; first = false) {
        skip_blanks(text);
        if (first && (**text == '@' || **text == '(' || (**text >= '0' && **text <= '9'))) {
            struct tool_expression e = expression_of(rules);
            if (!tool_evaluate(*text, &e, diag))
                return false;
            *text = e.end;
            const uint64_t unit = (1u << descriptors[which].base_shift) - 1;
            if (fields.target && e.value & unit)
                return tool_because(diag, "address 0x%llx: %.2s needs a multiple of %llu",
                                    (unsigned long long)e.value, descriptors[which].prefix,
                                    (unsigned long long)unit + 1);
            fields.has_size = e.named && e.end_of_place > e.value;
            fields.size = fields.has_size ? e.end_of_place - e.value : 0;
            give(&fields, "BASE_ADDRESS", (e.value & 0xffffffffffff) >> descriptors[which].base_shift, diag);
        } else if (!read_field(text, rules, buffer, &fields, diag)) {
            return false;
        }
        skip_blanks(text);
        if (**text != ',')
            break;
        ++*text;
    }
    if (**text != ')')
        return tool_because(diag, "expected ',' or ')' in %.2s, wrong at '%.40s'", descriptors[which].prefix,
                            *text);
    ++*text;
    if (!fields.target)
        return true;
    if (buffer && !fields.has_size && !given_field(&fields, "NUM_RECORDS"))
        return tool_because(diag, "V#: size=BYTES is needed");
    if (buffer)
        add_buffer_defaults(&fields);
    if (wm_descriptor_encode(fields.target, descriptors[which].kind, fields.given, fields.count, &descriptor,
                             diag) != WM_OK)
        return false;
    memcpy(item->words, descriptor.words, sizeof item->words);
    return true;
}

/* ---- items ---- */

static bool read_expression(const char **text, const struct tool_item_rules *rules, struct tool_item *item,
                            struct wm_diag *diag)
{
    struct tool_expression e = expression_of(rules);
    if (!tool_evaluate(*text, &e, diag))
        return false;
    const bool pair = rules->pair || e.wide;
    if (!pair && e.value > UINT32_MAX && ~e.value > INT32_MAX)
        return tool_because(diag, "'%.*s' has more than 32 bits", (int)(e.end - *text), *text);
    item->count = pair ? 2 : 1;
    item->words[0] = (uint32_t)e.value;
    item->words[1] = (uint32_t)(e.value >> 32);
    item->named = e.named;
    *text = e.end;
    return true;
}

bool tool_read_item(const char **text, const struct tool_item_rules *rules, struct tool_item *item,
                    struct wm_diag *diag)
{
    *item = (struct tool_item){.count = 1};
    skip_blanks(text);
    if (!(tool_is_descriptor(*text)                           ? read_descriptor(text, rules, item, diag)
          : !rules->pair && read_float(text, &item->words[0]) ? true
                                                              : read_expression(text, rules, item, diag)))
        return false;
    skip_blanks(text);
    return !**text || **text == ',' || tool_because(diag, "expected ',' or the end at '%.40s'", *text);
}

bool tool_read_items(const char *text, const struct tool_item_rules *rules, uint32_t **words, size_t *count,
                     bool *named, struct wm_diag *diag)
{
    size_t room = 0;
    *words = NULL;
    *count = 0;
    *named = false;
    for (;; text++) {
        struct tool_item item;
        bool good = tool_read_item(&text, rules, &item, diag);
        if (good && *count + item.count > room) {
            room = 2 * room + WM_DESCRIPTOR_WORDS;
            uint32_t *larger = realloc(*words, room * sizeof *larger);
            good = larger || tool_because(diag, "out of memory");
            *words = larger ? larger : *words;
        }
        if (!good) {
            free(*words);
            *words = NULL;
            return false;
        }
        memcpy(*words + *count, item.words, item.count * sizeof **words);
        *count += item.count;
        *named |= item.named;
        if (!*text)
            return true;
    }
}
