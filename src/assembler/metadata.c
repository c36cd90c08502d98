/* SPDX-License-Identifier: MIT */
/* Metadata of assembly files: converts the YAML after .amdgpu_metadata to MessagePack in .note.
 *
 * Source: LLVM AMDGPUUsage, "AMDHSA Code Object Metadata"; yaml.org/spec/1.2 for block and flow style, of
 * which the subset used by metadata is supported; types of scalars: metadata_scalar.c. */
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

/* `key`: the scalar is the value of this key of MessagePack, or NULL. `at`: the text, in the current place.
 * A scalar that has an error is put, too, as nil if need be: maps are sorted by what was put for their keys.
 */
static void put_scalar(struct yaml *y, const char *at, const char *end, const char *key, size_t key_length)
{
    const size_t start = y->a->metadata.size;
    const char *const wrong = wmi_asm_metadata_scalar(y->a, at, end, key, key_length);
    if (wrong)
        wmi_asm_error(y->a, at, "expected %s", wrong);
    if (y->a->metadata.size == start)
        put_byte(y, 0xc0);
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
static void put_head(struct yaml *y, size_t start, uint32_t count, bool map)
{
    uint8_t head[5] = {(uint8_t)((map ? 0x80 : 0x90) | (count & 15))};
    size_t size = 1;
    if (count >= 16) {
        const bool wide = count > UINT16_MAX;
        head[0] = (uint8_t)((map ? 0xde : 0xdc) + wide);
        size = wide ? 5 : 3;
        for (size_t i = 1; i < size; i++)
            head[i] = (uint8_t)(count >> 8 * (size - 1 - i));
    }
    const size_t behind = y->a->metadata.size - start;
    wmi_asm_append(y->a, &y->a->metadata, head, size);
    memmove(y->a->metadata.data + start + size, y->a->metadata.data + start, behind);
    memcpy(y->a->metadata.data + start, head, size);
}

/* ---- maps, sorted by key as LLVM's ---- */

/* An entry of a map: where its key, its value and the next entry begin in the output. */
struct entry {
    size_t key, value, end;
    const uint8_t *bytes; /* of the whole output, while sorting */
};

struct entries {
    struct entry *all;
    uint32_t count, capacity;
};

static struct entry *add_entry(struct yaml *y, struct entries *entries)
{
    if (entries->count == entries->capacity) {
        const uint32_t capacity = entries->capacity ? 2 * entries->capacity : 32;
        struct entry *more = wmi_asm_allocate(y->a, capacity, sizeof *more);
        if (entries->count)
            memcpy(more, entries->all, entries->count * sizeof *more);
        entries->all = more;
        entries->capacity = capacity;
    }
    struct entry *made = &entries->all[entries->count++];
    made->key = y->a->metadata.size;
    return made;
}

/* The text of a key; NULL: it is none. */
static const uint8_t *text_of(const uint8_t *at, size_t *length)
{
    *length = *at >> 5 == 5 ? *at & 31 : *at == 0xd9 ? at[1] : *at == 0xda ? (size_t)(at[1] << 8 | at[2]) : 0;
    return *at >> 5 == 5 ? at + 1 : *at == 0xd9 ? at + 2 : *at == 0xda ? at + 3 : NULL;
}

static int by_key(const void *left, const void *right)
{
    const struct entry *l = left, *r = right;
    size_t length, other;
    const uint8_t *a = text_of(l->bytes + l->key, &length), *b = text_of(r->bytes + r->key, &other);
    if (!a || !b)
        return a ? 1 : b ? -1 : l->key < r->key ? -1 : l->key > r->key;
    const int order = memcmp(a, b, length < other ? length : other);
    return order ? order : length < other ? -1 : length > other ? 1 : l->key < r->key ? -1 : l->key > r->key;
}

static void finish_map(struct yaml *y, size_t start, struct entries *entries)
{
    struct wmi_assembler *a = y->a;
    const size_t size = a->metadata.size - start;
    a->scratch.size = 0;
    wmi_asm_append(a, &a->scratch, size ? a->metadata.data + start : NULL, size);
    for (uint32_t i = 0; i < entries->count; i++) {
        entries->all[i].end = i + 1 < entries->count ? entries->all[i + 1].key : start + size;
        entries->all[i].bytes = a->metadata.data;
    }
    if (entries->count)
        qsort(entries->all, entries->count, sizeof *entries->all, by_key);
    for (uint32_t i = 1; i < entries->count; i++) {
        size_t length, other;
        const struct entry *l = &entries->all[i - 1], *r = &entries->all[i];
        const uint8_t *one = text_of(l->bytes + l->key, &length), *two = text_of(r->bytes + r->key, &other);
        if (one && two && length == other && !memcmp(one, two, length))
            wmi_asm_error(a, a->place.line, "expected each key once in a map, not '%.*s' twice",
                          length < 60 ? (int)length : 60, (const char *)one);
    }
    size_t at = start;
    for (uint32_t i = 0; i < entries->count; i++) {
        const struct entry *e = &entries->all[i];
        memcpy(a->metadata.data + at, a->scratch.data + (e->key - start), e->end - e->key);
        at += e->end - e->key;
    }
    put_head(y, start, entries->count, true);
}

/* Puts a value, whose type must suit the entry's key. */
static void put_value(struct yaml *y, const char *at, const char *end, const struct entry *e)
{
    size_t length = 0;
    char key[WMI_ASM_METADATA_KEY] = "";
    const uint8_t *text = e ? text_of(y->a->metadata.data + e->key, &length) : NULL;
    if (text && length < sizeof key)
        memcpy(key, text, length);
    put_scalar(y, at, end, text && length < sizeof key ? key : NULL, length);
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

/* [a, {b: c}]; false on a syntax error. `of`: the entry whose value this is, or NULL. */
static bool put_flow(struct yaml *y, struct wmi_cursor *c, unsigned depth, const struct entry *of)
{
    const size_t start = y->a->metadata.size;
    struct entries entries = {0};
    uint32_t count = 0;
    skip_blanks(c);
    const bool map = take_mark(c, '{');
    if (depth > YAML_DEEPEST)
        return false;
    if (!map && !take_mark(c, '[')) {
        const char *at = c->at;
        c->at = flow_scalar_end(at, c->end);
        put_value(y, at, c->at, of);
        return c->at > at;
    }
    while (!take_mark(c, map ? '}' : ']')) {
        struct entry *e = map ? add_entry(y, &entries) : NULL;
        if (map) {
            const char *at = c->at;
            c->at = flow_scalar_end(at, c->end);
            put_scalar(y, at, c->at, NULL, 0);
            if (!take_mark(c, ':'))
                return false;
        }
        if (!put_flow(y, c, depth + 1, e))
            return false;
        count++;
        skip_blanks(c);
        if (!take_mark(c, ',') && c->at < c->end && *c->at != (map ? '}' : ']'))
            return false;
        if (c->at == c->end)
            return false;
    }
    if (map)
        finish_map(y, start, &entries);
    else
        put_head(y, start, count, false);
    return true;
}

static bool begins_flow(const char *at, const char *end)
{
    return at < end && (*at == '[' || *at == '{');
}

/* The flow collection from `at`, which is in the next line, up to its closing bracket. */
static void put_flow_lines(struct yaml *y, const char *at, const struct entry *of)
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
    const bool good = put_flow(y, &c, 0, of);
    skip_blanks(&c);
    if (!good || c.at < c.end)
        wmi_asm_error(y->a, y->a->place.line, "expected YAML: '%.*s' does not go together",
                      (int)(end - at < 60 ? end - at : 60), at);
}

static void put_block(struct yaml *y, unsigned indent, unsigned depth)
{
    const size_t start = y->a->metadata.size;
    struct entries entries = {0};
    uint32_t count = 0;
    if (y->next >= y->count) {
        put_byte(y, 0xc0);
        return;
    }
    const struct yaml_line *first = &y->lines[y->next];
    y->a->place = first->place;
    if (depth > YAML_DEEPEST) {
        wmi_asm_error(y->a, first->at, "expected YAML that is less deep");
        y->next++;
        return;
    }
    if (begins_flow(first->at, first->end)) {
        put_flow_lines(y, first->at, NULL);
        return;
    }
    const bool sequence = first->at + 1 <= first->end && *first->at == '-' &&
                          (first->at + 1 == first->end || first->at[1] == ' ');
    if (!sequence && !key_end(first->at, first->end)) {
        put_scalar(y, first->at, first->end, NULL, 0);
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
        y->a->place = line->place;
        if (!colon) {
            wmi_asm_error(y->a, line->at, "expected a key and ':'");
            y->next++;
            continue;
        }
        struct entry *e = add_entry(y, &entries);
        put_scalar(y, line->at, colon, NULL, 0);
        const char *value = colon + 1;
        while (value < line->end && isspace((unsigned char)*value))
            value++;
        if (begins_flow(value, line->end)) {
            put_flow_lines(y, value, e);
            continue;
        }
        y->next++;
        if (value < line->end) {
            put_value(y, value, line->end, e);
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
    if (sequence)
        put_head(y, start, count, false);
    else
        finish_map(y, start, &entries);
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
        if (wmi_asm_word_is(at, (size_t)(end - at), ".end_amdgpu_metadata")) {
            closed = true;
            break;
        }
        if (at == end || wmi_asm_word_is(at, (size_t)(end - at), "---") ||
            wmi_asm_word_is(at, (size_t)(end - at), "..."))
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
