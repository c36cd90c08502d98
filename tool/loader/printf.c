/* SPDX-License-Identifier: MIT */
/* printf of a program on the GPU, which the host formats: it gets the format, says how many bytes of
 * arguments that takes, gets these, and asks for the strings that they point to.
 *
 * Source: LLVM, libc/src/__support/RPC/rpc_server.h, handle_printf(). */
#include "tool/loader/loader.h"

#include "tool/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH_MOST = 1 << 16 }; /* of a field, and of its precision */

/* The arguments of a lane. */
struct arguments {
    const uint8_t *bytes; /* NULL: they are only counted */
    uint64_t size, at;
    bool packed; /* else each is aligned to its size */
};

/* The strings that a lane's arguments point to, in the order of the arguments. */
struct strings {
    uint64_t *address;
    char **text; /* count of them, when they have come */
    size_t count, next;
};

static uint64_t take(struct arguments *arguments, uint64_t size)
{
    uint64_t value = 0;
    if (!arguments->packed)
        arguments->at = (arguments->at + size - 1) / size * size;
    if (arguments->bytes && arguments->at + size <= arguments->size)
        memcpy(&value, arguments->bytes + arguments->at, size);
    arguments->at += size;
    return value;
}

/* "%-08.3lf": between the % and the conversion. */
struct directive {
    char flags[8];
    int width, precision; /* below 0: none is given */
    bool is_long;         /* 8 bytes */
    char conversion;
};

static int take_number(const char **at, struct arguments *arguments)
{
    if (**at == '*') {
        ++*at;
        return (int)take(arguments, 4);
    }
    long number = 0;
    for (; isdigit((unsigned char)**at); ++*at)
        number = number <= WIDTH_MOST ? number * 10 + (**at - '0') : number;
    return (int)number;
}

/* Reads a directive behind its %, and moves on behind it. */
static struct directive parse(const char **at, struct arguments *arguments)
{
    struct directive d = {.width = -1, .precision = -1};
    size_t flags = 0;
    for (; **at && strchr("-+ #0", **at); ++*at)
        if (flags + 1 < sizeof d.flags)
            d.flags[flags++] = **at;
    if (**at == '*' || isdigit((unsigned char)**at))
        d.width = take_number(at, arguments);
    if (**at == '.') {
        ++*at;
        d.precision = take_number(at, arguments);
    }
    for (; **at && strchr("hlqjztL", **at); ++*at)
        d.is_long |= **at != 'h';
    d.conversion = **at;
    *at += **at != 0;
    return d;
}

/* The directive as the host's printf takes it, with this length. */
static bool host_format(struct directive *d, const char *length, char format[64])
{
    char width[16] = "", precision[16] = "";
    if (d->width < -1 && !strchr(d->flags, '-') && strlen(d->flags) + 1 < sizeof d->flags)
        strcat(d->flags, "-"); /* a width of -8 from an argument */
    if (d->width < -1)
        d->width = -d->width;
    if (d->width > WIDTH_MOST || d->precision > WIDTH_MOST)
        return false;
    if (d->width >= 0)
        snprintf(width, sizeof width, "%d", d->width);
    if (d->precision >= 0)
        snprintf(precision, sizeof precision, ".%d", d->precision);
    snprintf(format, 64, "%%%s%s%s%s%c", d->flags, width, precision, length, d->conversion);
    return true;
}

/* Adds the address of a string, or takes the string when it has come. */
static const char *string_of(struct strings *strings, uint64_t address, bool prints)
{
    if (prints)
        return !address ? "(null)" : strings->next < strings->count ? strings->text[strings->next++] : "";
    if (address) {
        strings->address =
            tool_checked(realloc(strings->address, (strings->count + 1) * sizeof *strings->address));
        strings->address[strings->count++] = address;
    }
    return "";
}

/* Prints one directive to `out`; NULL: its arguments are only read. False: it cannot be printed. */
static bool put(FILE *out, struct directive d, struct arguments *arguments, struct strings *strings)
{
    char format[64];
    bool good = true;
    switch (d.conversion) {
    case '%':
        return !out || fputc('%', out) != EOF;
    case 'd':
    case 'i': {
        const uint64_t value = take(arguments, d.is_long ? 8 : 4);
        good = host_format(&d, "ll", format);
        if (out && good)
            fprintf(out, format, d.is_long ? (long long)value : (long long)(int32_t)value);
        return good;
    }
    case 'u':
    case 'o':
    case 'x':
    case 'X':
    case 'b': {
        const uint64_t value = take(arguments, d.is_long ? 8 : 4);
        good = host_format(&d, "ll", format);
        if (out && good)
            fprintf(out, format, (unsigned long long)value);
        return good;
    }
    case 'c': {
        const int value = (int)take(arguments, 4);
        good = host_format(&d, "", format);
        if (out && good)
            fprintf(out, format, value);
        return good;
    }
    case 'p': {
        void *const value = (void *)(uintptr_t)take(arguments, 8);
        good = host_format(&d, "", format);
        if (out && good)
            fprintf(out, format, value);
        return good;
    }
    case 's': {
        const char *text = string_of(strings, take(arguments, 8), out);
        good = host_format(&d, "", format);
        if (out && good)
            fprintf(out, format, text);
        return good;
    }
    case 'a':
    case 'A':
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G': {
        const uint64_t bits = take(arguments, 8); /* long double is double there */
        double value;
        memcpy(&value, &bits, sizeof value);
        good = host_format(&d, "", format);
        if (out && good)
            fprintf(out, format, value);
        return good;
    }
    default: /* %n, and what there is not */
        return false;
    }
}

/* Walks through the format: counts or reads arguments, collects strings, and prints to `out` unless it is
 * NULL. */
static bool walk(const char *format, FILE *out, struct arguments *arguments, struct strings *strings)
{
    bool good = true;
    while (*format) {
        const char *next = format + strcspn(format, "%");
        if (out)
            fwrite(format, 1, (size_t)(next - format), out);
        format = next;
        if (!*format++)
            break;
        good &= put(out, parse(&format, arguments), arguments, strings);
    }
    return good;
}

/* ---- the conversation ---- */

struct call {
    struct loader_data format, arguments;
    struct strings strings[LOADER_LANES];
    bool packed;
};

static bool send_two(struct loader_port *port, const uint64_t first[LOADER_LANES],
                     const uint64_t second[LOADER_LANES])
{
    if (!loader_begin_send(port))
        return false;
    for (uint32_t lane = 0; lane < LOADER_LANES; lane++) {
        if (!loader_has_lane(port, lane))
            continue;
        loader_packet(port, lane)->data[0] = first[lane];
        loader_packet(port, lane)->data[1] = second[lane];
    }
    loader_sent(port);
    return true;
}

/* Gets the arguments of all lanes, and the addresses of their strings. */
static bool get_arguments(struct loader_port *port, struct call *call)
{
    uint64_t sizes[LOADER_LANES] = {0};
    const uint64_t nothing[LOADER_LANES] = {0};
    if (!loader_receive_data(port, &call->format))
        return false;
    for (uint32_t lane = 0; lane < LOADER_LANES; lane++) {
        struct arguments counted = {.packed = call->packed};
        struct strings none = {0};
        if (call->format.bytes[lane])
            walk((const char *)call->format.bytes[lane], NULL, &counted, &none);
        sizes[lane] = counted.at;
    }
    if (!send_two(port, sizes, nothing) || !loader_receive_data(port, &call->arguments))
        return false;
    for (uint32_t lane = 0; lane < LOADER_LANES; lane++) {
        struct arguments read = {call->arguments.bytes[lane], call->arguments.size[lane], 0, call->packed};
        if (call->format.bytes[lane] && read.bytes)
            walk((const char *)call->format.bytes[lane], NULL, &read, &call->strings[lane]);
        call->strings[lane].text = tool_checked(calloc(call->strings[lane].count + 1, sizeof(char *)));
    }
    return true;
}

/* Gets the strings, the last one of each lane first. */
static bool get_strings(struct loader_port *port, struct call *call)
{
    size_t most = 0;
    for (uint32_t lane = 0; lane < LOADER_LANES; lane++)
        most = call->strings[lane].count > most ? call->strings[lane].count : most;
    for (size_t round = 0; round < most; round++) {
        uint64_t first[LOADER_LANES] = {0}, address[LOADER_LANES] = {0};
        struct loader_data data = {0};
        for (uint32_t lane = 0; lane < LOADER_LANES; lane++)
            if (round < call->strings[lane].count)
                address[lane] = call->strings[lane].address[call->strings[lane].count - 1 - round];
        if (!send_two(port, first, address) || !loader_receive_data(port, &data)) {
            loader_free_data(&data);
            return false;
        }
        for (uint32_t lane = 0; lane < LOADER_LANES; lane++) {
            if (round < call->strings[lane].count && data.bytes[lane]) {
                call->strings[lane].text[call->strings[lane].count - 1 - round] = (char *)data.bytes[lane];
                data.bytes[lane] = NULL;
            }
        }
        loader_free_data(&data);
    }
    return true;
}

/* Prints the lane's text; returns its length, or -1. */
static uint64_t print_lane(struct call *call, uint32_t lane, FILE *file)
{
    struct arguments read = {call->arguments.bytes[lane], call->arguments.size[lane], 0, call->packed};
    char *text = NULL;
    size_t size = 0;
    FILE *out = tool_checked(open_memstream(&text, &size));
    const bool good = walk((const char *)call->format.bytes[lane], out, &read, &call->strings[lane]);
    fclose(out);
    const bool written = file && text && fwrite(text, 1, size, file) == size;
    free(text);
    return good && written ? size : (uint64_t)-1;
}

void loader_printf(struct loader_port *port, FILE *const files[LOADER_LANES], bool packed)
{
    struct call call = {.packed = packed};
    uint64_t results[LOADER_LANES] = {0};
    const uint64_t nothing[LOADER_LANES] = {0};
    if (get_arguments(port, &call) && get_strings(port, &call)) {
        for (uint32_t lane = 0; lane < LOADER_LANES; lane++)
            if (call.format.bytes[lane])
                results[lane] = print_lane(&call, lane, files[lane]);
        send_two(port, results, nothing);
    }
    for (uint32_t lane = 0; lane < LOADER_LANES; lane++) {
        for (size_t i = 0; call.strings[lane].text && i < call.strings[lane].count; i++)
            free(call.strings[lane].text[i]);
        free(call.strings[lane].text);
        free(call.strings[lane].address);
    }
    loader_free_data(&call.format);
    loader_free_data(&call.arguments);
}
