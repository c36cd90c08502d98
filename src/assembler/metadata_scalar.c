/* SPDX-License-Identifier: MIT */
/* Scalars of metadata: their types in MessagePack.
 *
 * Source: LLVM 22 lib/BinaryFormat/MsgPackDocumentYAML.cpp (fromString), MsgPackWriter.cpp, YAMLParser.cpp
 * (unescapeDoubleQuoted), AMDGPUMetadataVerifier.cpp. LLVM 19 reads more words as booleans, such as n and on,
 * and refuses them as texts. They are booleans here, too, unless the key needs a text. */
#include "assembler/parts.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum kind { TEXT, INTEGER, BOOLEAN, REAL, NIL };

/* Types that the values of keys must have. */
static const struct known_key {
    const char *name;
    enum kind kind;
} known_keys[] = {
    {".name", TEXT},
    {".type_name", TEXT},
    {".size", INTEGER},
    {".offset", INTEGER},
    {".value_kind", TEXT},
    {".pointee_align", INTEGER},
    {".address_space", TEXT},
    {".access", TEXT},
    {".actual_access", TEXT},
    {".is_const", BOOLEAN},
    {".is_restrict", BOOLEAN},
    {".is_volatile", BOOLEAN},
    {".is_pipe", BOOLEAN},
    {".symbol", TEXT},
    {".language", TEXT},
    {".vec_type_hint", TEXT},
    {".device_enqueue_symbol", TEXT},
    {".kernarg_segment_size", INTEGER},
    {".group_segment_fixed_size", INTEGER},
    {".private_segment_fixed_size", INTEGER},
    {".uses_dynamic_stack", BOOLEAN},
    {".workgroup_processor_mode", INTEGER},
    {".kernarg_segment_align", INTEGER},
    {".wavefront_size", INTEGER},
    {".sgpr_count", INTEGER},
    {".vgpr_count", INTEGER},
    {".max_flat_workgroup_size", INTEGER},
    {".sgpr_spill_count", INTEGER},
    {".vgpr_spill_count", INTEGER},
    {".uniform_work_group_size", INTEGER},
};

/* ---- MessagePack ---- */

static void put_byte(struct wmi_assembler *a, unsigned byte)
{
    const uint8_t b = (uint8_t)byte;
    wmi_asm_append(a, &a->metadata, &b, 1);
}

static void put_big(struct wmi_assembler *a, uint64_t value, unsigned bytes)
{
    while (bytes--)
        put_byte(a, (unsigned)(value >> 8 * bytes));
}

static void put_text(struct wmi_assembler *a, const char *text, size_t length)
{
    if (length < 32)
        put_byte(a, 0xa0 | (unsigned)length);
    else if (length <= UINT8_MAX)
        put_byte(a, 0xd9), put_big(a, length, 1);
    else if (length <= UINT16_MAX)
        put_byte(a, 0xda), put_big(a, length, 2);
    else
        put_byte(a, 0xdb), put_big(a, length, 4);
    wmi_asm_append(a, &a->metadata, text, length);
}

static void put_unsigned(struct wmi_assembler *a, uint64_t value)
{
    if (value < 128)
        put_byte(a, (unsigned)value);
    else if (value <= UINT8_MAX)
        put_byte(a, 0xcc), put_big(a, value, 1);
    else if (value <= UINT16_MAX)
        put_byte(a, 0xcd), put_big(a, value, 2);
    else if (value <= UINT32_MAX)
        put_byte(a, 0xce), put_big(a, value, 4);
    else
        put_byte(a, 0xcf), put_big(a, value, 8);
}

static void put_negative(struct wmi_assembler *a, int64_t value)
{
    if (value >= -32)
        put_byte(a, (unsigned)value & 0xff);
    else if (value >= INT8_MIN)
        put_byte(a, 0xd0), put_big(a, (uint64_t)value, 1);
    else if (value >= INT16_MIN)
        put_byte(a, 0xd1), put_big(a, (uint64_t)value, 2);
    else if (value >= INT32_MIN)
        put_byte(a, 0xd2), put_big(a, (uint64_t)value, 4);
    else
        put_byte(a, 0xd3), put_big(a, (uint64_t)value, 8);
}

/* A single unless it is outside the range of normal ones. */
static void put_real(struct wmi_assembler *a, double value)
{
    const bool single = fabs(value) >= (double)FLT_MIN && fabs(value) <= (double)FLT_MAX;
    const float narrow = single ? (float)value : 0;
    uint64_t bits;
    uint32_t narrow_bits;
    memcpy(&bits, &value, sizeof bits);
    memcpy(&narrow_bits, &narrow, sizeof narrow_bits);
    put_byte(a, single ? 0xca : 0xcb);
    put_big(a, single ? narrow_bits : bits, single ? 4 : 8);
}

/* ---- text ---- */

static void append_utf8(struct wmi_assembler *a, struct wmi_bytes *text, uint32_t code)
{
    uint8_t bytes[4];
    const unsigned more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const uint8_t marks[] = {0, 0xc0, 0xe0, 0xf0};
    bytes[0] = (uint8_t)(marks[more] | code >> 6 * more);
    for (unsigned i = 1; i <= more; i++)
        bytes[i] = (uint8_t)(0x80 | (code >> 6 * (more - i) & 0x3f));
    wmi_asm_append(a, text, bytes, more + 1);
}

/* Reads the escape behind a backslash; returns its end, or NULL. */
static const char *read_escape(struct wmi_assembler *a, struct wmi_bytes *text, const char *at,
                               const char *end)
{
    static const struct {
        char letter;
        uint16_t code;
    } escapes[] = {{'0', 0},     {'a', 7},   {'b', 8},    {'t', 9},    {'\t', 9},     {'n', 10},
                   {'v', 11},    {'f', 12},  {'r', 13},   {'e', 27},   {'"', '"'},    {'/', '/'},
                   {'\\', '\\'}, {' ', ' '}, {'N', 0x85}, {'_', 0xa0}, {'L', 0x2028}, {'P', 0x2029}};
    const char letter = at < end ? *at++ : 0;
    for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++)
        if (letter == escapes[i].letter && letter) {
            append_utf8(a, text, escapes[i].code);
            return at;
        }
    const unsigned digits = letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
    uint32_t code = 0;
    for (unsigned i = 0; i < digits; i++, at++) {
        if (at >= end || !isxdigit((unsigned char)*at))
            return NULL;
        const unsigned char c = (unsigned char)*at;
        code = code << 4 | (uint32_t)(isdigit(c) ? c - '0' : tolower(c) - 'a' + 10);
    }
    if (!digits || code > 0x10ffff)
        return NULL;
    append_utf8(a, text, code);
    return at;
}

/* Sets a->scratch to a quoted text; what is wrong with it, or NULL. */
static const char *read_quoted(struct wmi_assembler *a, const char *at, const char *end)
{
    struct wmi_bytes *text = &a->scratch;
    const char quote = *at++;
    text->size = 0;
    for (end--; at < end;) {
        const char byte = *at++;
        if (quote == '"' && byte == '\\') {
            at = read_escape(a, text, at, end);
            if (!at)
                return "an escape of YAML, such as \\n or \\x41";
            continue;
        }
        if (byte == quote && (quote == '"' || at == end || *at++ != quote))
            return "one quoted text";
        wmi_asm_append(a, text, &byte, 1);
    }
    return NULL;
}

/* ---- types ---- */

static bool is(const char *at, size_t length, const char *word)
{
    return strlen(word) == length && !memcmp(at, word, length);
}

/* LLVM's booleans: true and false, or with `more` also those of YAML 1.1. Returns -1 if it is none. */
static int boolean_of(const char *at, size_t length, bool more)
{
    static const char *const words[] = {"false", "n",     "N",     "no",   "No",   "NO",  "off", "Off",
                                        "OFF",   "False", "FALSE", "true", "y",    "Y",   "yes", "Yes",
                                        "YES",   "on",    "On",    "ON",   "True", "TRUE"};
    enum { WORDS = sizeof words / sizeof *words };
    for (int i = 0; i < WORDS; i++)
        if ((more || i % (WORDS / 2) == 0) && is(at, length, words[i]))
            return i >= WORDS / 2;
    return -1;
}

/* Digits with the prefixes 0x, 0b, 0o and 0. */
static bool read_digits(const char *at, size_t length, uint64_t *value)
{
    unsigned base = 10;
    *value = 0;
    if (length > 1 && *at == '0') {
        const int prefix = tolower((unsigned char)at[1]);
        const bool named = prefix == 'x' || prefix == 'b' || prefix == 'o';
        base = prefix == 'x' ? 16 : prefix == 'b' ? 2 : named || isdigit(prefix) ? 8 : 10;
        at += named ? 2 : 1;
        length -= named ? 2 : 1;
    }
    for (size_t i = 0; i < length; i++) {
        const int c = tolower((unsigned char)at[i]);
        const unsigned digit = isdigit(c) ? (unsigned)(c - '0') : isalpha(c) ? (unsigned)(c - 'a') + 10 : 99;
        if (digit >= base || *value > (UINT64_MAX - digit) / base)
            return false;
        *value = *value * base + digit;
    }
    return length;
}

static bool put_integer(struct wmi_assembler *a, const char *at, size_t length)
{
    uint64_t value;
    const bool minus = length && *at == '-';
    if (!read_digits(at + minus, length - minus, &value) || (minus && value > UINT64_C(1) << 63))
        return false;
    if (minus && value)
        put_negative(a, (int64_t)(0 - value));
    else
        put_unsigned(a, value);
    return true;
}

/* The empty text is 0.0 in LLVM. */
static bool read_real(const char *at, size_t length, double *value)
{
    char text[256], *end;
    if (length >= sizeof text || memchr(at, 0, length))
        return false;
    memcpy(text, at, length);
    text[length] = 0;
    *value = strtod(text, &end);
    return !*end;
}

/* Splits a tag such as !str off; returns its length, 0: none. YAML's own !!str is no tag for LLVM. */
static size_t tag_length(const char *at, const char *end)
{
    const char *behind = at;
    while (behind < end && !isspace((unsigned char)*behind))
        behind++;
    return at < end && *at == '!' ? (size_t)(behind - at) : 0;
}

static enum kind put_typed(struct wmi_assembler *a, const char *at, size_t length, bool more_booleans)
{
    double real;
    if (put_integer(a, at, length))
        return INTEGER;
    const int boolean = boolean_of(at, length, more_booleans);
    if (boolean >= 0) {
        put_byte(a, boolean ? 0xc3 : 0xc2);
        return BOOLEAN;
    }
    if (read_real(at, length, &real)) {
        put_real(a, real);
        return REAL;
    }
    put_text(a, at, length);
    return TEXT;
}

/* Of a scalar with a tag; what was expected, or NULL. */
static const char *put_tagged(struct wmi_assembler *a, const char *tag, size_t tag_size, const char *at,
                              size_t length, enum kind *kind)
{
    double real;
    *kind = is(tag, tag_size, "!int")     ? INTEGER
            : is(tag, tag_size, "!bool")  ? BOOLEAN
            : is(tag, tag_size, "!float") ? REAL
            : is(tag, tag_size, "!nil")   ? NIL
                                          : TEXT;
    switch (*kind) {
    case INTEGER:
        return put_integer(a, at, length) ? NULL : "an integer";
    case BOOLEAN:
        if (boolean_of(at, length, true) < 0)
            return "true or false";
        put_byte(a, boolean_of(at, length, true) ? 0xc3 : 0xc2);
        return NULL;
    case REAL:
        if (!read_real(at, length, &real))
            return "a number";
        put_real(a, real);
        return NULL;
    case NIL:
        put_byte(a, 0xc0);
        return NULL;
    default:
        put_text(a, at, length);
        return NULL;
    }
}

const char *wmi_asm_metadata_scalar(struct wmi_assembler *a, const char *at, const char *end, const char *key,
                                    size_t key_length)
{
    static const char *const needed[] = {
        [TEXT] = "a text, with the tag !str if it looks like a number or a boolean",
        [INTEGER] = "an integer",
        [BOOLEAN] = "true or false"};
    static const char special[] = "&*|>@`%";
    const struct known_key *known = NULL;
    for (size_t i = 0; key && !known && i < sizeof known_keys / sizeof *known_keys; i++)
        known = is(key, key_length, known_keys[i].name) ? &known_keys[i] : NULL;
    while (at < end && isspace((unsigned char)*at))
        at++;
    while (end > at && isspace((unsigned char)end[-1]))
        end--;
    const char *const tag = at;
    size_t tag_size = tag_length(at, end);
    at += tag_size;
    while (at < end && isspace((unsigned char)*at))
        at++;
    const char *text = at;
    size_t length = (size_t)(end - at);
    const bool item = length && *at == '-' && (length == 1 || at[1] == ' '); /* of a list in the same line */
    if (length && (item || strchr(special, *at)))
        return "a plain or a quoted text";
    if (length && (*at == '\'' || *at == '"')) {
        const char *wrong = length > 1 && end[-1] == *at ? read_quoted(a, at, end) : "a closing quote";
        if (wrong)
            return wrong;
        text = a->scratch.size ? (const char *)a->scratch.data : "";
        length = a->scratch.size;
    }
    enum kind kind;
    if (is(tag, tag_size, "!!str") || (is(tag, tag_size, "!str") && known && known->kind != TEXT))
        tag_size = 0;
    const char *wrong = tag_size ? put_tagged(a, tag, tag_size, text, length, &kind) : NULL;
    if (!tag_size)
        kind = put_typed(a, text, length, known ? known->kind == BOOLEAN : key != NULL);
    if (wrong || !known || kind == known->kind)
        return wrong;
    return needed[known->kind];
}
