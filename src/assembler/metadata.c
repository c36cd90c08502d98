/* SPDX-License-Identifier: MIT */
/* Metadata of assembly files: converts the YAML after .amdgpu_metadata to MessagePack in .note.
 *
 * Source: LLVM 19 AMDGPUUsage, "AMDHSA Code Object Metadata"; yaml.org/spec/1.2 for block and flow style, of
 * which the subset used by metadata is supported. */
#include "assembler/parts.h"

#include <ctype.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { NOTE_METADATA = 32 };

struct yaml_line {
    const char *at, *end;
    unsigned indent;
    struct wmi_asm_place place;
};

struct yaml {
    struct wmi_assembler *a;
    struct yaml_line *lines;
    size_t count, next;
};

static void put_byte(struct yaml *y, unsigned byte)
{
    const uint8_t b = (uint8_t)byte;
    wmi_asm_append(y->a, &y->a->metadata, &b, 1);
}

static void put_big(struct yaml *y, uint64_t value, unsigned bytes)
{
    while (bytes--)
        put_byte(y, (unsigned)(value >> 8 * bytes));
}

static void put_string(struct yaml *y, const char *text, size_t length)
{
    if (length < 32) {
        put_byte(y, 0xa0 | (unsigned)length);
    } else if (length < 256) {
        put_byte(y, 0xd9);
        put_big(y, length, 1);
    } else {
        put_byte(y, 0xda);
        put_big(y, length, 2);
    }
    wmi_asm_append(y->a, &y->a->metadata, text, length);
}

static void put_integer(struct yaml *y, uint64_t value)
{
    if (value < 128)
        put_byte(y, (unsigned)value);
    else if (value <= UINT8_MAX)
        put_byte(y, 0xcc), put_big(y, value, 1);
    else if (value <= UINT16_MAX)
        put_byte(y, 0xcd), put_big(y, value, 2);
    else if (value <= UINT32_MAX)
        put_byte(y, 0xce), put_big(y, value, 4);
    else
        put_byte(y, 0xcf), put_big(y, value, 8);
}

static void put_negative(struct yaml *y, int64_t value)
{
    if (value >= -32)
        put_byte(y, (unsigned)value & 0xff);
    else if (value >= INT8_MIN)
        put_byte(y, 0xd0), put_big(y, (uint64_t)value, 1);
    else if (value >= INT16_MIN)
        put_byte(y, 0xd1), put_big(y, (uint64_t)value, 2);
    else if (value >= INT32_MIN)
        put_byte(y, 0xd2), put_big(y, (uint64_t)value, 4);
    else
        put_byte(y, 0xd3), put_big(y, (uint64_t)value, 8);
}

static bool is(const char *at, size_t length, const char *word)
{
    return length && *at == *word && strlen(word) == length && !memcmp(at, word, length);
}

/* A quoted string: "a\\n" has C's escapes, 'it''s' only the doubled quote. */
static void put_quoted(struct yaml *y, const char *at, const char *end)
{
    static const char letters[] = "ntr0", meanings[] = "\n\t\r";
    struct wmi_bytes *text = &y->a->scratch;
    const char quote = *at++;
    text->size = 0;
    for (; at < end - 1; at++) {
        char byte = *at;
        if (quote == '\'' && byte == '\'')
            at++;
        if (quote == '"' && byte == '\\' && at + 1 < end - 1) {
            const char *known = strchr(letters, *++at);
            byte = known ? meanings[known - letters] : *at;
        }
        wmi_asm_append(y->a, text, &byte, 1);
    }
    put_string(y, text->size ? (char *)text->data : "", text->size);
}

/* Source: LLVM 19 lib/Support/YAMLParser.cpp, parseBool. Returns -1 if it is not a boolean. */
static int boolean_of(const char *at, size_t length)
{
    static const char *const words[] = {"n",     "N",     "no",    "No",   "NO",   "off", "Off", "OFF",
                                        "false", "False", "FALSE", "y",    "Y",    "yes", "Yes", "YES",
                                        "on",    "On",    "ON",    "true", "True", "TRUE"};
    enum { WORDS = sizeof words / sizeof *words };
    for (int i = 0; i < WORDS; i++)
        if (is(at, length, words[i]))
            return i >= WORDS / 2;
    return -1;
}

/* Source of the tag: LLVM 19 lib/BinaryFormat/MsgPackDocumentYAML.cpp, which writes it before text that would
 * be another type without it: "!str n". */
static void put_scalar(struct yaml *y, const char *at, const char *end)
{
    static const char tag[] = "!str ";
    while (at < end && isspace((unsigned char)*at))
        at++;
    while (end > at && isspace((unsigned char)end[-1]))
        end--;
    const size_t length = (size_t)(end - at);
    char number[32], *rest = number;
    if (length >= sizeof tag && !memcmp(at, tag, sizeof tag - 1)) {
        put_string(y, at + sizeof tag - 1, length - (sizeof tag - 1));
        return;
    }
    if (length >= 2 && (*at == '\'' || *at == '"') && end[-1] == *at) {
        put_quoted(y, at, end);
        return;
    }
    if (boolean_of(at, length) >= 0) {
        put_byte(y, boolean_of(at, length) ? 0xc3 : 0xc2);
        return;
    }
    const bool minus = length && *at == '-';
    if (length > minus && length < sizeof number && isdigit((unsigned char)at[minus])) {
        memcpy(number, at, length);
        number[length] = 0;
        const uint64_t value = strtoull(number, &rest, 0);
        if (!*rest && !minus)
            put_integer(y, value);
        else if (!*rest)
            put_negative(y, (int64_t)value);
        if (!*rest)
            return;
    }
    put_string(y, at, length);
}

/* The end of a key, at its colon; NULL: the line is a scalar. */
static const char *key_end(const char *at, const char *end)
{
    for (; at < end; at++)
        if (*at == ':' && (at + 1 == end || isspace((unsigned char)at[1])))
            return at;
        else if (*at == '\'' || *at == '"')
            return NULL;
    return NULL;
}

/* Inserts the header of a map or list of `count` items before the output from `start` on. */
static void put_head(struct yaml *y, size_t start, unsigned count, bool map)
{
    uint8_t head[3] = {(uint8_t)((map ? 0x80 : 0x90) | count)};
    size_t size = 1;
    if (count >= 16) {
        head[0] = map ? 0xde : 0xdc;
        head[1] = (uint8_t)(count >> 8);
        head[2] = (uint8_t)count;
        size = 3;
    }
    const size_t behind = y->a->metadata.size - start;
    wmi_asm_append(y->a, &y->a->metadata, head, size);
    memmove(y->a->metadata.data + start + size, y->a->metadata.data + start, behind);
    memcpy(y->a->metadata.data + start, head, size);
}

enum { YAML_DEEPEST = 32 };

/* The end of a plain or quoted scalar in flow style. */
static const char *flow_scalar_end(const char *at, const char *end)
{
    if (at < end && (*at == '\'' || *at == '"')) {
        const char quote = *at++;
        for (; at < end && *at != quote; at++)
            at += quote == '"' && *at == '\\' && at + 1 < end;
        return at < end ? at + 1 : end;
    }
    while (at < end && *at != ',' && *at != ']' && *at != '}' &&
           !(*at == ':' && (at + 1 == end || isspace((unsigned char)at[1]))))
        at++;
    return at;
}

static void skip_blanks(struct wmi_cursor *c)
{
    while (c->at < c->end && isspace((unsigned char)*c->at))
        c->at++;
}

static bool take_mark(struct wmi_cursor *c, char mark)
{
    skip_blanks(c);
    const bool taken = c->at < c->end && *c->at == mark;
    c->at += taken;
    return taken;
}

/* [a, {b: c}]; false on a syntax error. */
static bool put_flow(struct yaml *y, struct wmi_cursor *c, unsigned depth)
{
    const size_t start = y->a->metadata.size;
    unsigned count = 0;
    skip_blanks(c);
    const bool map = take_mark(c, '{');
    if (depth > YAML_DEEPEST)
        return false;
    if (!map && !take_mark(c, '[')) {
        const char *at = c->at;
        c->at = flow_scalar_end(at, c->end);
        put_scalar(y, at, c->at);
        return c->at > at;
    }
    while (!take_mark(c, map ? '}' : ']')) {
        if (map) {
            const char *at = c->at;
            c->at = flow_scalar_end(at, c->end);
            put_scalar(y, at, c->at);
            if (!take_mark(c, ':'))
                return false;
        }
        if (!put_flow(y, c, depth + 1))
            return false;
        count++;
        skip_blanks(c);
        if (!take_mark(c, ',') && c->at < c->end && *c->at != (map ? '}' : ']'))
            return false;
        if (c->at == c->end)
            return false;
    }
    put_head(y, start, count, map);
    return true;
}

static bool begins_flow(const char *at, const char *end)
{
    return at < end && (*at == '[' || *at == '{');
}

/* The flow collection from `at`, which is in the next line, up to its closing bracket. */
static void put_flow_lines(struct yaml *y, const char *at)
{
    int open = 0;
    const char *end = at;
    while (y->next < y->count && (open > 0 || end == at)) {
        const char *scan = end == at ? at : y->lines[y->next].at;
        end = y->lines[y->next++].end;
        for (; scan < end; scan++) {
            if (*scan == '\'' || *scan == '"')
                scan = flow_scalar_end(scan, end) - 1;
            else
                open += (*scan == '[' || *scan == '{') - (*scan == ']' || *scan == '}');
        }
    }
    struct wmi_cursor c = {.at = at, .end = end};
    const bool good = put_flow(y, &c, 0);
    skip_blanks(&c);
    if (!good || c.at < c.end)
        wmi_asm_error(y->a, y->a->place.line, "expected YAML: '%.*s' does not go together",
                      (int)(end - at < 60 ? end - at : 60), at);
}

static void put_block(struct yaml *y, unsigned indent, unsigned depth)
{
    const size_t start = y->a->metadata.size;
    unsigned count = 0;
    if (y->next >= y->count || depth > YAML_DEEPEST) {
        put_byte(y, 0xc0);
        y->next += depth > YAML_DEEPEST;
        return;
    }
    const struct yaml_line *first = &y->lines[y->next];
    if (begins_flow(first->at, first->end)) {
        put_flow_lines(y, first->at);
        return;
    }
    const bool sequence = first->at + 1 <= first->end && *first->at == '-' &&
                          (first->at + 1 == first->end || first->at[1] == ' ');
    if (!sequence && !key_end(first->at, first->end)) {
        put_scalar(y, first->at, first->end);
        y->next++;
        return;
    }
    while (y->next < y->count && y->lines[y->next].indent == indent) {
        struct yaml_line *line = &y->lines[y->next];
        const bool item = *line->at == '-' && (line->at + 1 == line->end || line->at[1] == ' ');
        if (item != sequence)
            break;
        count++;
        if (item) { /* the text after "- " is treated as a line with deeper indentation */
            const char *at = line->at + 1;
            while (at < line->end && *at == ' ')
                at++;
            line->indent += (unsigned)(at - line->at);
            line->at = at;
            if (at == line->end)
                y->next++;
            put_block(y, y->next < y->count ? y->lines[y->next].indent : 0, depth + 1);
            continue;
        }
        const char *colon = key_end(line->at, line->end);
        if (!colon) {
            y->next++;
            continue;
        }
        put_scalar(y, line->at, colon);
        const char *value = colon + 1;
        while (value < line->end && isspace((unsigned char)*value))
            value++;
        if (begins_flow(value, line->end)) {
            put_flow_lines(y, value);
            continue;
        }
        y->next++;
        if (value < line->end) {
            put_scalar(y, value, line->end);
        } else {
            const struct yaml_line *next = y->next < y->count ? &y->lines[y->next] : NULL;
            const bool deeper =
                next && (next->indent > indent || (next->indent == indent && *next->at == '-'));
            if (deeper)
                put_block(y, next->indent, depth + 1);
            else
                put_byte(y, 0xc0);
        }
    }
    put_head(y, start, count, !sequence);
}

/* Removes a comment: " #" to the end of the line. */
static const char *without_comment(const char *at, const char *end)
{
    for (const char *c = at; c < end; c++) {
        if (*c == '\'' || *c == '"')
            c = flow_scalar_end(c, end) - 1;
        else if (*c == '#' && (c == at || isspace((unsigned char)c[-1])))
            return c;
    }
    return end;
}

void wmi_asm_metadata(struct wmi_assembler *a)
{
    struct yaml y = {.a = a};
    a->metadata.size = 0;
    const char *begin, *end;
    size_t capacity = 0;
    bool closed = false;
    while (wmi_asm_next_line(a, &begin, &end)) {
        const char *at = begin;
        while (at < end && isspace((unsigned char)*at))
            at++;
        end = without_comment(at, end);
        while (end > at && isspace((unsigned char)end[-1]))
            end--;
        if (is(at, (size_t)(end - at), ".end_amdgpu_metadata")) {
            closed = true;
            break;
        }
        if (at == end || is(at, (size_t)(end - at), "---") || is(at, (size_t)(end - at), "..."))
            continue;
        if (y.count == capacity) {
            struct yaml_line *more = wmi_asm_allocate(a, capacity ? capacity * 2 : 64, sizeof *more);
            if (y.count)
                memcpy(more, y.lines, y.count * sizeof *more);
            y.lines = more;
            capacity = capacity ? capacity * 2 : 64;
        }
        y.lines[y.count++] = (struct yaml_line){at, end, (unsigned)(at - begin), a->place};
    }
    if (!closed) {
        wmi_asm_error(a, a->place.line, "expected .end_amdgpu_metadata before the end of the file");
        return;
    }
    if (y.count)
        put_block(&y, y.lines[0].indent, 0);
    if (y.next < y.count) {
        a->place = y.lines[y.next].place;
        wmi_asm_error(a, y.lines[y.next].at, "expected YAML of maps and lists by indentation");
    }
    struct wmi_asm_section *note = wmi_asm_section(a, ".note", 5, SHT_NOTE, SHF_ALLOC);
    const uint32_t head[] = {7, (uint32_t)a->metadata.size, NOTE_METADATA};
    static const char owner[8] = "AMDGPU", zeros[4];
    note->alignment = 4;
    wmi_asm_append(a, &note->bytes, head, sizeof head);
    wmi_asm_append(a, &note->bytes, owner, sizeof owner);
    wmi_asm_append(a, &note->bytes, a->metadata.data, a->metadata.size);
    wmi_asm_append(a, &note->bytes, zeros, -a->metadata.size & 3);
}
