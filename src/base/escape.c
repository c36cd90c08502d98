/* SPDX-License-Identifier: MIT */
/* Escapes control characters and bytes that are not UTF-8. */
#include "base/escape.h"

#include <string.h>

unsigned wmi_utf8_bytes(const char *text, size_t length)
{
    /* By the first byte: number of following bytes, and the range of the second. */
    static const struct {
        unsigned char first, last, more, low, high;
    } rows[] = {
        {0x00, 0x7f, 0, 0x80, 0xbf}, {0xc2, 0xdf, 1, 0x80, 0xbf}, {0xe0, 0xe0, 2, 0xa0, 0xbf},
        {0xe1, 0xec, 2, 0x80, 0xbf}, {0xed, 0xed, 2, 0x80, 0x9f}, {0xee, 0xef, 2, 0x80, 0xbf},
        {0xf0, 0xf0, 3, 0x90, 0xbf}, {0xf1, 0xf3, 3, 0x80, 0xbf}, {0xf4, 0xf4, 3, 0x80, 0x8f},
    };
    const unsigned char *at = (const unsigned char *)text;
    for (size_t i = 0; length && i < sizeof rows / sizeof *rows; i++) {
        if (at[0] < rows[i].first || at[0] > rows[i].last)
            continue;
        if (rows[i].more >= length || (rows[i].more && (at[1] < rows[i].low || at[1] > rows[i].high)))
            return 0;
        for (unsigned byte = 2; byte <= rows[i].more; byte++)
            if ((at[byte] & 0xc0) != 0x80)
                return 0;
        return rows[i].more + 1u;
    }
    return 0;
}

/* Bytes of the character at `text` if it needs no escape, else 0. */
static unsigned plain_bytes(const char *text, size_t length)
{
    const unsigned bytes = wmi_utf8_bytes(text, length);
    const unsigned char first = (unsigned char)text[0], second = bytes > 1 ? (unsigned char)text[1] : 0;
    const bool control = first < ' ' || first == 0x7f || (first == 0xc2 && second < 0xa0);
    return control ? 0 : bytes;
}

size_t wmi_escape(char *to, size_t room, const char *text, size_t length, const char *kept)
{
    static const char digits[] = "0123456789abcdef";
    size_t used = 0;
    bool full = !room;
    for (size_t at = 0, bytes; at < length; at += bytes) {
        const unsigned char byte = (unsigned char)text[at];
        const char escape[] = {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
        const unsigned plain = byte && strchr(kept, byte) ? 1 : plain_bytes(text + at, length - at);
        const size_t size = plain ? plain : sizeof escape;
        bytes = plain ? plain : 1;
        if (!full && used + size < room) {
            memcpy(to + used, plain ? text + at : escape, size);
        } else if (!full) {
            to[used] = '\0';
            full = true;
        }
        used += size;
    }
    if (!full)
        to[used] = '\0';
    return used;
}

bool wmi_is_plain(const char *text, size_t length)
{
    unsigned odd = 0; /* branchless: nearly all text is plain ASCII */
    for (size_t i = 0; i < length; i++)
        odd |= (unsigned char)(text[i] - ' ') > '~' - ' ';
    for (size_t at = 0, bytes; odd && at < length; at += bytes) {
        bytes = plain_bytes(text + at, length - at);
        if (!bytes)
            return false;
    }
    return true;
}
