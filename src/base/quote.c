/* SPDX-License-Identifier: MIT */
/* Formats messages, and shortens the values that they quote. */
#include "base/quote.h"

#include "base/escape.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct out {
    char *to;
    size_t room, used; /* used: of the whole text, also of what has no room */
};

static void put(struct out *out, const char *text, size_t length)
{
    if (out->used < out->room) {
        const size_t left = out->room - out->used - 1;
        memcpy(out->to + out->used, text, length < left ? length : left);
        out->to[out->used + (length < left ? length : left)] = '\0';
    }
    out->used += length;
}

/* The first byte of a character at or after `at`. */
static size_t next_character(const char *text, size_t length, size_t at)
{
    while (at < length && ((unsigned char)text[at] & 0xc0) == 0x80)
        at++;
    return at;
}

/* Puts a text, escaped. If that takes more than `most` characters, "..." replaces its middle, between whole
 * characters and escapes. */
static void put_value(struct out *out, const char *text, size_t length, size_t most, const char *spec)
{
    char part[WMI_QUOTE_MOST + 1];
    if (length <= most && wmi_escape(part, sizeof part, text, length, "") <= most) {
        char padded[WMI_QUOTE_MOST + 1]; /* a column of a table */
        const int width = snprintf(padded, sizeof padded, spec, part);
        const bool fits = width >= 0 && (size_t)width < sizeof padded;
        put(out, fits ? padded : part, strlen(fits ? padded : part));
        return;
    }
    const size_t tail = most / 3, head = most - tail - 3;
    wmi_escape(part, head + 1, text, length < head + 3 ? length : head + 3, ""); /* 3: a whole character */
    put(out, part, strlen(part));
    put(out, "...", 3);
    size_t from = next_character(text, length, length > tail ? length - tail : 0);
    while (wmi_escape(NULL, 0, text + from, length - from, "") > tail)
        from = next_character(text, length, from + 1);
    wmi_escape(part, sizeof part, text + from, length - from, "");
    put(out, part, strlen(part));
}

/* Formats with at most `most` characters of each value. */
static size_t format_list(char *to, size_t room, size_t most, const char *format, va_list list)
{
    struct out out = {to, room, 0};
    va_list values;
    if (room)
        *to = '\0';
    va_copy(values, list);
    while (*format) {
        const size_t plain = strcspn(format, "%");
        put(&out, format, plain);
        format += plain;
        if (!*format)
            break;
        /* %[flags][width][.precision][length]conversion, with the values of '*' */
        char spec[64] = "%";
        size_t size = 1;
        int precision = -1;
        bool dotted = false;
        for (format++; *format && strchr("-+ #0123456789.*'", *format); format++) {
            dotted |= *format == '.';
            if (dotted && *format == '.')
                precision = 0;
            if (*format == '*') {
                const int value = va_arg(values, int);
                if (dotted)
                    precision = value;
                size += (size_t)snprintf(spec + size, sizeof spec - size, "%d", value);
            } else if (size < sizeof spec - 24) {
                if (dotted && *format >= '0' && *format <= '9')
                    precision = precision * 10 + (*format - '0');
                spec[size++] = *format;
            }
        }
        unsigned longs = 0;
        bool sized = false, largest = false;
        for (; *format && strchr("hlzjtL", *format); format++) {
            longs += *format == 'l';
            sized |= *format == 'z' || *format == 't';
            largest |= *format == 'j';
        }
        const char conversion = *format;
        format += conversion != '\0';
        char number[400];
        int length = 0;
        if (conversion == 's') {
            const char *text = va_arg(values, const char *);
            text = text ? text : "(null)";
            const size_t bytes = precision >= 0 ? strnlen(text, (size_t)precision) : strlen(text);
            spec[size] = '\0';
            spec[strcspn(spec, ".")] = '\0'; /* the precision has been applied */
            strcat(spec, "s");
            put_value(&out, text, bytes, most, spec);
        } else if (strchr("di", conversion) && conversion) {
            const intmax_t value = longs > 1 ? va_arg(values, long long)
                                   : longs   ? va_arg(values, long)
                                   : sized   ? va_arg(values, ptrdiff_t)
                                   : largest ? va_arg(values, intmax_t)
                                             : va_arg(values, int);
            snprintf(spec + size, sizeof spec - size, "j%c", conversion);
            length = snprintf(number, sizeof number, spec, value);
        } else if (strchr("uxXo", conversion) && conversion) {
            const uintmax_t value = longs > 1 ? va_arg(values, unsigned long long)
                                    : longs   ? va_arg(values, unsigned long)
                                    : sized   ? va_arg(values, size_t)
                                    : largest ? va_arg(values, uintmax_t)
                                              : va_arg(values, unsigned);
            snprintf(spec + size, sizeof spec - size, "j%c", conversion);
            length = snprintf(number, sizeof number, spec, value);
        } else if (strchr("eEfFgGaA", conversion) && conversion) {
            snprintf(spec + size, sizeof spec - size, "%c", conversion);
            length = snprintf(number, sizeof number, spec, va_arg(values, double));
        } else if (conversion == 'c') {
            snprintf(spec + size, sizeof spec - size, "c");
            length = snprintf(number, sizeof number, spec, va_arg(values, int));
        } else if (conversion == 'p') {
            length = snprintf(number, sizeof number, "%p", va_arg(values, void *));
        } else {
            number[0] = conversion;
            length = conversion != '\0';
        }
        if (length > 0)
            put(&out, number, (size_t)length < sizeof number ? (size_t)length : sizeof number - 1);
    }
    va_end(values);
    return out.used;
}

size_t wmi_quote_list(char *to, size_t room, size_t total, const char *format, va_list list)
{
    size_t least = WMI_QUOTE_LEAST, most = WMI_QUOTE_MOST;
    while (least < most) { /* the most characters of each value with which the message is short enough */
        const size_t middle = (least + most + 1) / 2;
        if (format_list(NULL, 0, most, format, list) <= total)
            least = most;
        else if (format_list(NULL, 0, middle, format, list) <= total)
            least = middle, most--;
        else
            most = middle - 1;
    }
    return format_list(to, room, least, format, list);
}

size_t wmi_quote(char *to, size_t room, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const size_t length = wmi_quote_list(to, room, WMI_QUOTE_MOST, format, list);
    va_end(list);
    return length;
}
