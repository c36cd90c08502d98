/* SPDX-License-Identifier: MIT */
/* State of the assembler: memory, messages, symbols and sections. */
#include "assembler/state.h"

#include "base/escape.h"
#include "base/quote.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory and messages ---- */

void *wmi_asm_allocate(struct wmi_assembler *a, size_t count, size_t size)
{
    void *memory = wmi_arena_array(&a->arena, count, size);
    if (!memory)
        longjmp(a->no_memory, 1);
    return memory;
}

char *wmi_asm_text(struct wmi_assembler *a, const char *text, size_t length)
{
    char *copy = wmi_arena_text(&a->arena, text, length);
    if (!copy)
        longjmp(a->no_memory, 1);
    return copy;
}

void wmi_asm_append(struct wmi_assembler *a, struct wmi_bytes *bytes, const void *data, size_t size)
{
    enum { LARGEST = 1 << 30 };
    if (!size)
        return;
    if (bytes->size + size > bytes->capacity) {
        size_t capacity = bytes->capacity ? bytes->capacity : 256;
        while (capacity < bytes->size + size)
            capacity *= 2;
        uint8_t *more = capacity <= LARGEST ? realloc(bytes->data, capacity) : NULL;
        if (!more)
            longjmp(a->no_memory, 1);
        bytes->data = more;
        bytes->capacity = capacity;
    }
    if (data)
        memcpy(bytes->data + bytes->size, data, size);
    else
        memset(bytes->data + bytes->size, 0, size);
    bytes->size += size;
}

/* The macros that the current line comes from: `inner` of `outer` ... */
static void add_macros(struct wmi_assembler *a, char *text, size_t size)
{
    size_t used = 0;
    *text = 0;
    for (const struct wmi_asm_source *s = a->source; s && used < size && !s->name; s = s->outer)
        if (s->macro)
            used += (size_t)snprintf(text + used, size - used, "%s '%.60s'", used ? " of" : " (in macro",
                                     s->macro);
    if (used && used < size)
        snprintf(text + used, size - used, ")");
}

/* Appends text of the file to the messages, escaped except for tabs. */
static void add_escaped(struct wmi_assembler *a, const char *text, size_t length)
{
    const size_t begin = a->messages.size, size = wmi_escape(NULL, 0, text, length, "\t") + 1;
    wmi_asm_append(a, &a->messages, NULL, size);
    wmi_escape((char *)a->messages.data + begin, size, text, length, "\t");
    a->messages.size--; /* the NUL */
}

/* Up to how many of the bytes before or after `at` a message shows: whole characters of a width of SIDE. */
enum { SIDE = 100 };

static size_t bytes_before(const char *begin, const char *at)
{
    size_t bytes = at - begin > SIDE ? SIDE : (size_t)(at - begin);
    while (bytes && (wmi_escape(NULL, 0, at - bytes, bytes, "\t") > SIDE ||
                     (bytes == SIDE && ((unsigned char)at[-(long)bytes] & 0xc0) == 0x80)))
        bytes--;
    return bytes;
}

static size_t bytes_after(const char *at, const char *end)
{
    size_t bytes = end - at > SIDE ? SIDE : (size_t)(end - at);
    for (unsigned i = 0; i < 3 && bytes && at + bytes < end && ((unsigned char)at[bytes] & 0xc0) == 0x80; i++)
        bytes--;
    while (bytes && wmi_escape(NULL, 0, at, bytes, "\t") > SIDE)
        bytes--;
    return bytes;
}

/* Appends the line, or if it is long, what is near `at`, and a caret below `at`. */
static void add_line(struct wmi_assembler *a, const struct wmi_asm_place *p, const char *at)
{
    static const char dots[] = "...";
    const size_t begin = a->messages.size;
    const size_t before = at - p->line > 2 * SIDE || p->line_end - p->line > 2 * SIDE
                              ? bytes_before(p->line, at)
                              : (size_t)(at - p->line);
    const char *from = at - before;
    const char *to = p->line_end - p->line > 2 * SIDE ? at + bytes_after(at, p->line_end) : p->line_end;
    const bool head = from > p->line, tail = to < p->line_end;
    if (head)
        wmi_asm_append(a, &a->messages, dots, sizeof dots - 1);
    add_escaped(a, from, (size_t)(at - from));
    const size_t end = a->messages.size;
    add_escaped(a, at, (size_t)(to - at));
    if (tail)
        wmi_asm_append(a, &a->messages, dots, sizeof dots - 1);
    wmi_asm_append(a, &a->messages, "\n", 1);
    for (size_t i = begin; i < end; i++) {
        const uint8_t byte = a->messages.data[i];
        if ((byte & 0xc0) != 0x80) /* one column per character */
            wmi_asm_append(a, &a->messages, byte == '\t' ? "\t" : " ", 1);
    }
    wmi_asm_append(a, &a->messages, "^\n", 2);
}

static void add_message(struct wmi_assembler *a, const char *at, const char *kind, const char *format,
                        va_list list)
{
    char text[512], head[1024];
    wmi_quote_list(text, sizeof text, WMI_QUOTE_MOST, format, list);
    const struct wmi_asm_place *p = &a->place;
    if (at < p->line || at > p->line_end)
        at = p->line;
    char macros[256] = "";
    if (!a->reading_late)
        add_macros(a, macros, sizeof macros);
    if (p->number)
        wmi_quote(head, sizeof head, "%s:%u:%td: %s: %s%s", p->name, p->number, at - p->line + 1, kind, text,
                  macros);
    else
        wmi_quote(head, sizeof head, "%s: %s: %s", p->name, kind, text);
    add_escaped(a, head, strlen(head));
    wmi_asm_append(a, &a->messages, "\n", 1);
    if (p->number)
        add_line(a, p, at);
}

void wmi_asm_error(struct wmi_assembler *a, const char *at, const char *format, ...)
{
    va_list list;
    if (a->errors++ >= WMI_ASM_MESSAGES)
        return;
    va_start(list, format);
    add_message(a, at, "error", format, list);
    va_end(list);
}

void wmi_asm_warning(struct wmi_assembler *a, const char *at, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    add_message(a, at, "warning", format, list);
    va_end(list);
}

void wmi_asm_note(struct wmi_assembler *a, const char *at, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    add_message(a, at, "note", format, list);
    va_end(list);
}

/* ---- symbols and sections ---- */

struct wmi_asm_symbol *wmi_asm_symbol(struct wmi_assembler *a, const char *name, size_t length)
{
    struct wmi_asm_symbol **bucket = &a->symbols[wmi_asm_hash(name, length) % WMI_ASM_BUCKETS];
    for (struct wmi_asm_symbol *s = *bucket; s; s = s->next)
        if (!strncmp(s->name, name, length) && !s->name[length])
            return s;
    struct wmi_asm_symbol *s = wmi_asm_allocate(a, 1, sizeof *s);
    s->name = wmi_asm_text(a, name, length);
    s->next = *bucket;
    *bucket = s;
    *a->last_symbol = s;
    a->last_symbol = &s->later;
    return s;
}

static struct wmi_asm_section *find_section(struct wmi_assembler *a, const char *name)
{
    struct wmi_asm_section *s = a->sections;
    while (s && strcmp(s->name, name))
        s = s->next;
    return s;
}

struct wmi_asm_section *wmi_asm_section(struct wmi_assembler *a, const char *name, size_t length,
                                        uint32_t type, uint64_t flags)
{
    struct wmi_asm_section **at = &a->sections;
    for (; *at; at = &(*at)->next)
        if (!strncmp((*at)->name, name, length) && !(*at)->name[length])
            return *at;
    *at = wmi_asm_allocate(a, 1, sizeof **at);
    (*at)->base.is_section = true;
    (*at)->name = wmi_asm_text(a, name, length);
    (*at)->type = type;
    (*at)->flags = flags;
    (*at)->alignment = 1;
    return *at;
}

size_t wmi_asm_numbered_name(char *name, unsigned digit, unsigned count)
{
    return (size_t)sprintf(name, ".\1%u.%u", digit, count);
}

void wmi_asm_find_symbol(void *user, const char *name, size_t length, struct wmi_value *value)
{
    struct wmi_assembler *a = user;
    char numbered[32];
    if (isdigit((unsigned char)*name)) {
        const unsigned digit = (unsigned)(*name - '0');
        length = wmi_asm_numbered_name(numbered, digit, a->numbered[digit] + (name[length - 1] == 'f'));
        name = numbered;
    }
    struct wmi_asm_symbol *s = wmi_asm_symbol(a, name, length);
    *value = (struct wmi_value){.base = s, .literal = a->reading_late};
    if (s->defined) {
        *value = s->value;
        value->literal |= a->reading_late;
        if (!s->variable) {
            value->base = s->section;
            value->symbol = s;
        }
    } else if (!a->reading_late || a->settling) {
        a->saw_late = value->late = true;
    } else if (find_section(a, s->name)) { /* a section's name is a label at its beginning */
        value->base = find_section(a, s->name);
    }
}

bool wmi_asm_define(struct wmi_assembler *a, const char *at, struct wmi_asm_symbol *s)
{
    if (s->defined) {
        wmi_asm_error(a, at, "'%s' is defined already", s->name);
        return false;
    }
    s->section = a->section;
    s->value = (struct wmi_value){.number = (int64_t)a->section->bytes.size};
    s->defined = true;
    return true;
}
