/* SPDX-License-Identifier: MIT */
/* Formats the output of kernels: the records of the printf buffer, in order, with the formats of the
 * metadata.
 *
 * A record contains the number of its format and the arguments, with the sizes that the format specifies.
 * Sources: LLVM 19, AMDGPUPrintfRuntimeBinding.cpp, for records and formats; The OpenCL C Specification 3.0,
 * section 6.15.14, for conversions. */
#include "report/printf.h"

#include "memory/format.h"
#include "object/object.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS = 64, MOST_WIDTH = 1000, MOST_TEXT = 256 << 20 };

/* ---- buffered output ---- */

struct sink {
    void (*print)(void *user, const char *text, size_t length);
    void *user;
    size_t used, total;
    char block[4096];
};

static void flush(struct sink *sink)
{
    if (sink->used)
        sink->print(sink->user, sink->block, sink->used);
    sink->used = 0;
}

static void put(struct sink *sink, const char *text, size_t length)
{
    sink->total += length;
    while (length) {
        const size_t space = sizeof(sink->block) - sink->used, now = length < space ? length : space;
        memcpy(sink->block + sink->used, text, now);
        sink->used += now;
        text += now;
        length -= now;
        if (sink->used == sizeof(sink->block))
            flush(sink);
    }
}

static void put_text(struct sink *sink, const char *text)
{
    put(sink, text, strlen(text));
}

/* ---- formats ---- */

struct format {
    uint32_t id, count, bytes; /* count: of arguments; bytes: of all arguments */
    uint32_t size[ARGUMENTS];
    const char *text; /* NULL: invalid */
};

/* Parses "ID:COUNT:SIZE:...:TEXT". The text has no colon; there may be fewer sizes than COUNT. */
static void parse_format(const char *from, struct format *format)
{
    *format = (struct format){0};
    const char *text = strrchr(from, ':');
    uint32_t numbers[ARGUMENTS + 2], count = 0;
    for (const char *at = from; text && at <= text; count++) {
        char *end;
        const unsigned long number = strtoul(at, &end, 10);
        if (end == at || *end != ':' || number > UINT16_MAX || count == ARGUMENTS + 2)
            return;
        numbers[count] = (uint32_t)number;
        at = end + 1;
    }
    if (count < 2)
        return;
    format->id = numbers[0];
    for (uint32_t i = 2; i < count; i++) {
        if (numbers[i] % 4)
            return;
        format->size[format->count++] = numbers[i];
        format->bytes += numbers[i];
    }
    format->text = text + 1;
}

/* ---- conversions ---- */

struct conversion {
    char flags[8];
    int width, precision; /* -1: not given */
    unsigned elements;    /* of a vector; 0: a scalar */
    unsigned bytes;       /* of an element, by the length modifier; 0: no modifier */
    char letter;
};

static const char *read_number(const char *at, int *number)
{
    for (*number = 0; *at >= '0' && *at <= '9'; at++)
        if (*number < MOST_WIDTH)
            *number = *number * 10 + (*at - '0');
    *number = *number < MOST_WIDTH ? *number : MOST_WIDTH;
    return at;
}

/* Parses the conversion after a %; returns its end. */
static const char *read_conversion(const char *at, struct conversion *c)
{
    static const struct {
        const char *text;
        unsigned bytes;
    } modifiers[] = {{"hh", 1}, {"hl", 4}, {"h", 2}, {"ll", 8}, {"l", 8}}; /* the longer ones first */
    size_t flags = 0;
    *c = (struct conversion){.width = -1, .precision = -1};
    for (; *at && strchr("-+ #0", *at); at++)
        if (flags < sizeof(c->flags) - 1 && !strchr(c->flags, *at))
            c->flags[flags++] = *at;
    if (*at >= '0' && *at <= '9')
        at = read_number(at, &c->width);
    if (*at == '.')
        at = read_number(at + 1, &c->precision);
    if (*at == 'v') {
        int elements;
        at = read_number(at + 1, &elements);
        c->elements = elements == 2 || elements == 3 || elements == 4 || elements == 8 || elements == 16
                          ? (unsigned)elements
                          : 1;
    }
    for (size_t i = 0; i < sizeof(modifiers) / sizeof(modifiers[0]); i++)
        if (strncmp(at, modifiers[i].text, strlen(modifiers[i].text)) == 0) {
            c->bytes = modifiers[i].bytes;
            at += strlen(modifiers[i].text);
            break;
        }
    c->letter = *at;
    return *at ? at + 1 : at;
}

/* Writes the C library's conversion specification for one element, with the length `modifier`. */
static void host_specification(const struct conversion *c, const char *modifier, char *text, size_t size)
{
    char width[16] = "", precision[16] = "";
    if (c->width >= 0)
        snprintf(width, sizeof(width), "%d", c->width);
    if (c->precision >= 0)
        snprintf(precision, sizeof(precision), ".%d", c->precision);
    snprintf(text, size, "%%%s%s%s%s%c", c->flags, width, precision, modifier, c->letter);
}

static double float_of(const uint8_t *from, unsigned bytes)
{
    if (bytes == 8) {
        double wide;
        memcpy(&wide, from, 8);
        return wide;
    }
    float narrow;
    memcpy(&narrow, from, 4);
    if (bytes == 2) {
        const uint32_t bits = wmi_float_of_half(from[0] | (uint32_t)from[1] << 8);
        memcpy(&narrow, &bits, 4);
    }
    return (double)narrow;
}

static uint64_t integer_of(const uint8_t *from, unsigned bytes, unsigned meant, bool is_signed)
{
    uint64_t bits = 0;
    memcpy(&bits, from, bytes);
    const unsigned kept = meant && meant < bytes ? meant : bytes, unused = 64 - 8 * kept;
    return is_signed ? (uint64_t)((int64_t)(bits << unused) >> unused) : bits << unused >> unused;
}

static void put_element(struct sink *sink, const struct conversion *c, const uint8_t *from, unsigned bytes)
{
    char text[MOST_WIDTH + 400], specification[64]; /* a double has up to 309 digits before the point */
    if (strchr("di", c->letter)) {
        host_specification(c, "j", specification, sizeof(specification));
        snprintf(text, sizeof(text), specification, (intmax_t)integer_of(from, bytes, c->bytes, true));
    } else if (strchr("ouxX", c->letter)) {
        host_specification(c, "j", specification, sizeof(specification));
        snprintf(text, sizeof(text), specification, (uintmax_t)integer_of(from, bytes, c->bytes, false));
    } else if (strchr("fFeEgGaA", c->letter)) {
        host_specification(c, "", specification, sizeof(specification));
        snprintf(text, sizeof(text), specification, float_of(from, bytes));
    } else {
        host_specification(c, "", specification, sizeof(specification));
        snprintf(text, sizeof(text), specification, (int)integer_of(from, bytes, 1, false));
        if (c->letter == 'c' && integer_of(from, bytes, 1, false) == 0) { /* prints a NUL character */
            put(sink, "", 1);
            return;
        }
    }
    put_text(sink, text);
}

static void put_string(struct sink *sink, const struct conversion *c, const uint8_t *from, unsigned bytes)
{
    size_t length = strnlen((const char *)from, bytes);
    if (c->precision >= 0 && (size_t)c->precision < length)
        length = (size_t)c->precision;
    const size_t pad = c->width > 0 && (size_t)c->width > length ? (size_t)c->width - length : 0;
    const bool left = strchr(c->flags, '-') != NULL;
    for (size_t i = 0; i < pad && !left; i++)
        put(sink, " ", 1);
    put(sink, (const char *)from, length);
    for (size_t i = 0; i < pad && left; i++)
        put(sink, " ", 1);
}

static void put_argument(struct sink *sink, const struct conversion *c, const uint8_t *from, unsigned bytes)
{
    if (c->letter == 's') {
        put_string(sink, c, from, bytes);
    } else if (c->letter == 'p') {
        char text[32];
        snprintf(text, sizeof(text), "0x%" PRIx64, integer_of(from, bytes < 8 ? bytes : 8, 0, false));
        put_text(sink, text);
    } else {
        const unsigned count = c->elements ? c->elements : 1, places = count == 3 ? 4 : count;
        const unsigned each = bytes / places;
        if (each != 1 && each != 2 && each != 4 && each != 8) {
            put_text(sink, "(?)");
            return;
        }
        for (unsigned i = 0; i < count; i++) {
            if (i)
                put(sink, ",", 1);
            put_element(sink, c, from + i * each, each);
        }
    }
}

/* ---- records ---- */

static bool unwritten(const uint8_t *at)
{
    uint32_t word;
    memcpy(&word, at, 4);
    return word == WMI_PRINTF_UNWRITTEN;
}

/* Whether the dword can be the last one of a string: at least one character, then zero padding. */
static bool ends_string(const uint8_t *last)
{
    return last[0] && !last[3] && (last[1] || !last[2]);
}

/* For a string whose length is a multiple of four, LLVM 19 reserves four bytes more than it stores; later
 * versions do not. The unused dwords are unwritten at the end of the record. Shortens the strings that they
 * come from: those that cannot end where the format says, then the last ones. */
static void shorten_strings(const struct format *format, const char *letters, const uint8_t *record,
                            uint32_t *size)
{
    uint32_t missing = 0, strings = 0;
    for (uint32_t i = 0; i < format->count; i++)
        strings += letters[i] == 's' && size[i] > 4;
    while (missing < strings && unwritten(record + format->bytes - 4 * (missing + 1)))
        missing++;
    for (uint32_t i = 0; i < format->count && missing; record += size[i], i++)
        if (letters[i] == 's' && size[i] > 4) {
            if (strings-- == missing || !ends_string(record + size[i] - 4)) {
                size[i] -= 4;
                missing--;
            }
        }
}

/* The letters of the conversions that take an argument, in order. */
static void list_letters(const char *text, char letters[ARGUMENTS])
{
    memset(letters, 0, ARGUMENTS);
    for (unsigned count = 0; *text && count < ARGUMENTS;)
        if (*text++ == '%') {
            struct conversion c;
            text = read_conversion(text, &c);
            if (c.letter != '%')
                letters[count++] = c.letter;
        }
}

/* Decodes an escape sequence of LLVM's. Returns its length, or 0. */
static size_t unescape(const char *text, char *character)
{
    static const char escapes[] = "a\ab\bf\fn\nr\rv\v";
    if (text[0] != '\\')
        return 0;
    if (text[1] == '7' && text[2] == '2') {
        *character = ':';
        return 3;
    }
    for (const char *at = escapes; *at; at += 2)
        if (text[1] == *at) {
            *character = at[1];
            return 2;
        }
    return 0;
}

static void put_record(struct sink *sink, const struct format *format, const uint8_t *arguments)
{
    uint32_t size[ARGUMENTS], next = 0;
    char letters[ARGUMENTS], character;
    memcpy(size, format->size, sizeof(size));
    list_letters(format->text, letters);
    shorten_strings(format, letters, arguments, size);
    for (const char *at = format->text; *at;) {
        const size_t escape = unescape(at, &character);
        const size_t plain = strcspn(at, "%\\");
        if (escape) {
            put(sink, &character, 1);
            at += escape;
        } else if (plain || *at == '\\') {
            put(sink, at, plain ? plain : 1);
            at += plain ? plain : 1;
        } else {
            struct conversion c;
            at = read_conversion(at + 1, &c);
            if (c.letter == '%') {
                put(sink, "%", 1);
            } else if (next == format->count || !c.letter || !strchr("diouxXfFeEgGaAcsp", c.letter)) {
                put_text(sink, "(?)");
            } else {
                put_argument(sink, &c, arguments, size[next]);
                arguments += size[next++];
            }
        }
    }
}

static const struct format *find_format(const struct format *formats, size_t count, uint32_t id)
{
    for (size_t i = 0; i < count; i++)
        if (formats[i].text && formats[i].id == id)
            return &formats[i];
    return NULL;
}

/* Prints the records, which begin at the buffer's third dword. Returns why it stopped early, or NULL. */
static const char *put_records(struct sink *sink, const struct format *formats, size_t count,
                               const uint8_t *buffer, size_t size)
{
    uint32_t used, most = 0;
    memcpy(&used, buffer, 4);
    if (used > size - WMI_PRINTF_HEADER)
        return "the printf buffer is corrupt";
    for (size_t at = 0; at < used;) {
        const uint8_t *record = buffer + WMI_PRINTF_HEADER + at;
        uint32_t id;
        if (used - at < 4)
            return "the printf buffer is corrupt";
        memcpy(&id, record, 4);
        if (id == WMI_PRINTF_UNWRITTEN)
            return "the kernel ended while it printed";
        const struct format *format = find_format(formats, count, id);
        if (!format)
            return "the printf buffer names a format that the metadata does not have";
        if (used - at - 4 < format->bytes)
            return "the printf buffer is corrupt";
        put_record(sink, format, record + 4);
        if (sink->total > MOST_TEXT)
            return "the kernel printed more than 256 MiB";
        at += 4 + format->bytes;
    }
    for (size_t i = 0; i < count; i++)
        most = formats[i].bytes + 4 > most ? formats[i].bytes + 4 : most;
    return size - WMI_PRINTF_HEADER - used < most ? "the printf buffer is full: later output is missing"
                                                  : NULL;
}

void wmi_print_buffer(const char *const *texts, size_t format_count, const uint8_t *buffer, size_t size,
                      void (*print)(void *user, const char *text, size_t length), void *user)
{
    struct format *formats = calloc(format_count + 1, sizeof(*formats));
    struct sink *sink = malloc(sizeof(*sink));
    if (formats && sink) {
        *sink = (struct sink){.print = print, .user = user};
        for (size_t i = 0; i < format_count; i++)
            parse_format(texts[i], &formats[i]);
        const char *stopped = put_records(sink, formats, format_count, buffer, size);
        if (stopped) {
            put_text(sink, "\nwavemem: ");
            put_text(sink, stopped);
            put_text(sink, "\n");
        }
        flush(sink);
    }
    free(sink);
    free(formats);
}
