/* SPDX-License-Identifier: MIT */
/* Reads the operands of directives. */
#include "assembler/parts.h"

#include <ctype.h>
#include <string.h>

bool wmi_asm_failed(struct wmi_assembler *a, const struct wmi_cursor *c)
{
    wmi_asm_error(a, c->wrong_at ? c->wrong_at : c->at, "expected %s",
                  c->wrong ? c->wrong : "something else");
    return false;
}

bool wmi_asm_read_number(struct wmi_assembler *a, struct wmi_cursor *c, int64_t *value)
{
    c->wrong = NULL;
    return wmi_read_number(c, value) || wmi_asm_failed(a, c);
}

bool wmi_asm_at_end(struct wmi_assembler *a, struct wmi_cursor *c)
{
    wmi_skip_space(c);
    if (c->at == c->end)
        return true;
    wmi_asm_error(a, c->at, "expected the end of the line");
    return false;
}

bool wmi_asm_read_name(struct wmi_assembler *a, struct wmi_cursor *c, const char **name, size_t *length)
{
    const bool quoted = wmi_take(c, '"');
    if (quoted) {
        *name = c->at;
        const char *closing = memchr(c->at, '"', (size_t)(c->end - c->at));
        *length = closing ? (size_t)(closing - c->at) : 0;
        c->at += *length + (closing != NULL);
    } else {
        *length = wmi_name_length(c);
        *name = c->at;
        c->at += *length;
    }
    if (!*length)
        wmi_asm_error(a, c->at, "expected a name");
    return *length;
}

/* Reads the character after a backslash, with C's escapes; false if it is not an escape. */
static bool read_escape(struct wmi_cursor *c, char *byte)
{
    static const char letters[] = "btnfr\"\\", meanings[] = "\b\t\n\f\r\"\\";
    const char escape = c->at < c->end ? *c->at++ : 0;
    const char *known = escape ? strchr(letters, escape) : NULL;
    unsigned number = 0;
    if (known) {
        *byte = meanings[known - letters];
        return true;
    }
    if (escape == 'x' || escape == 'X') {
        const char *start = c->at;
        for (; c->at < c->end && isxdigit((unsigned char)*c->at); c->at++)
            number = number * 16 + (isdigit((unsigned char)*c->at)
                                        ? (unsigned)(*c->at - '0')
                                        : (unsigned)(tolower((unsigned char)*c->at) - 'a') + 10);
        *byte = (char)number;
        return c->at > start;
    }
    if (escape < '0' || escape > '7')
        return false;
    number = (unsigned)(escape - '0');
    for (unsigned i = 0; i < 2 && c->at < c->end && *c->at >= '0' && *c->at <= '7'; i++)
        number = number * 8 + (unsigned)(*c->at++ - '0');
    *byte = (char)number;
    return true;
}

bool wmi_asm_read_string(struct wmi_assembler *a, struct wmi_cursor *c, struct wmi_bytes *bytes)
{
    if (!wmi_take(c, '"')) {
        wmi_asm_error(a, c->at, "expected a string");
        return false;
    }
    while (c->at < c->end && *c->at != '"') {
        const char *at = c->at;
        char byte = *c->at++;
        if (byte == '\\' && !read_escape(c, &byte)) {
            wmi_asm_error(a, at,
                          "expected one of \\b \\t \\n \\f \\r \\\" \\\\, octal or hexadecimal digits");
            return false;
        }
        wmi_asm_append(a, bytes, &byte, 1);
    }
    return wmi_take(c, '"') || (wmi_asm_error(a, c->at, "expected '\"'"), false);
}
