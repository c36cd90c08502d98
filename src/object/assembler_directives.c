/* SPDX-License-Identifier: MIT */
/* Directives of assembly files: sections, symbols, data, alignment, macros, repetition, conditions. */
#include "object/assembler_parts.h"

#include <ctype.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_REPEATED = 1 << 24, S_NOP = 0xbf800000 };

static bool failed(struct wmi_assembler *a, const struct wmi_cursor *c)
{
    wmi_asm_error(a, c->wrong_at ? c->wrong_at : c->at, "expected %s",
                  c->wrong ? c->wrong : "something else");
    return false;
}

static bool number(struct wmi_assembler *a, struct wmi_cursor *c, int64_t *value)
{
    c->wrong = NULL;
    return wmi_read_number(c, value) || failed(a, c);
}

static bool at_end(struct wmi_assembler *a, struct wmi_cursor *c)
{
    wmi_skip_space(c);
    if (c->at == c->end)
        return true;
    wmi_asm_error(a, c->at, "expected the end of the line");
    return false;
}

void wmi_asm_set(struct wmi_assembler *a, const char *name, size_t length, struct wmi_cursor *c)
{
    struct wmi_value value;
    a->resolver.here = (struct wmi_value){.number = (int64_t)a->section->bytes.size, .base = a->section};
    a->saw_late = false;
    c->wrong = NULL;
    if (!wmi_read_expression(c, &value)) {
        failed(a, c);
        return;
    }
    if (!at_end(a, c))
        return;
    if (a->saw_late) {
        wmi_asm_note_late(a, a->line, a->line_end, UINT8_MAX);
        return;
    }
    struct wmi_asm_symbol *s = wmi_asm_symbol(a, name, length);
    if (s->defined && !s->variable) {
        wmi_asm_error(a, name, "'%s' is a label", s->name);
        return;
    }
    value.literal = false;
    s->value = value;
    s->defined = s->variable = true;
}

/* ---- data ---- */

void wmi_asm_number(struct wmi_assembler *a, struct wmi_cursor *c, struct wmi_asm_section *section,
                    uint64_t offset, unsigned bytes)
{
    struct wmi_value value;
    c->wrong = NULL;
    wmi_skip_space(c);
    const char *start = c->at;
    if (!wmi_read_expression(c, &value)) {
        failed(a, c);
        return;
    }
    if (value.base && !a->saw_late) {
        if (bytes < 4) {
            wmi_asm_error(a, start, "expected a number: an address has 4 or 8 bytes");
            return;
        }
        wmi_asm_relocate(a, section, offset, &value, bytes, false);
        value.number = 0;
    }
    if (bytes < 8 && !value.base && !value.late && value.number >> 8 * bytes &&
        value.number >> (8 * bytes - 1) != -1)
        wmi_asm_error(a, start, "expected a number of %u bytes", bytes);
    if (offset + bytes <= section->bytes.size)
        memcpy(section->bytes.data + offset, &value.number, bytes);
}

static void numbers(struct wmi_assembler *a, struct wmi_cursor *c, unsigned bytes)
{
    wmi_skip_space(c);
    if (c->at == c->end)
        return;
    do {
        wmi_skip_space(c);
        const char *start = c->at;
        const uint64_t offset = a->section->bytes.size;
        const unsigned errors = a->errors;
        a->resolver.here = (struct wmi_value){.number = (int64_t)offset, .base = a->section};
        a->saw_late = false;
        struct wmi_cursor probe = *c;
        struct wmi_value value;
        probe.wrong = NULL;
        const bool good = wmi_read_expression(&probe, &value);
        if (good && a->saw_late)
            wmi_asm_note_late(a, start, probe.at, bytes);
        wmi_asm_append(a, &a->section->bytes, NULL, bytes);
        if (good && a->saw_late)
            c->at = probe.at;
        else
            wmi_asm_number(a, c, a->section, offset, bytes);
        if (a->errors != errors)
            return;
    } while (wmi_take(c, ','));
    at_end(a, c);
}

static void leb128(struct wmi_assembler *a, struct wmi_cursor *c, bool is_signed)
{
    int64_t value;
    do {
        if (!number(a, c, &value))
            return;
        bool more = true;
        while (more) {
            uint8_t byte = value & 0x7f;
            value = is_signed ? value >> 7 : (int64_t)((uint64_t)value >> 7);
            more = is_signed ? !((value == 0 && !(byte & 0x40)) || (value == -1 && byte & 0x40)) : value != 0;
            byte |= more ? 0x80 : 0;
            wmi_asm_append(a, &a->section->bytes, &byte, 1);
        }
    } while (wmi_take(c, ','));
    at_end(a, c);
}

/* "text" with C's escapes, joined by commas. */
static void strings(struct wmi_assembler *a, struct wmi_cursor *c, bool ends)
{
    static const char letters[] = "btnfr\"\\'", meanings[] = "\b\t\n\f\r\"\\'";
    do {
        if (!wmi_take(c, '"')) {
            wmi_asm_error(a, c->at, "expected a string");
            return;
        }
        while (c->at < c->end && *c->at != '"') {
            char byte = *c->at++;
            if (byte == '\\' && c->at < c->end) {
                const char escape = *c->at++;
                const char *known = strchr(letters, escape);
                byte = known && escape ? meanings[known - letters] : escape;
                if (escape >= '0' && escape <= '7') {
                    unsigned octal = (unsigned)(escape - '0');
                    for (unsigned i = 0; i < 2 && c->at < c->end && *c->at >= '0' && *c->at <= '7'; i++)
                        octal = octal * 8 + (unsigned)(*c->at++ - '0');
                    byte = (char)octal;
                }
            }
            wmi_asm_append(a, &a->section->bytes, &byte, 1);
        }
        if (!wmi_take(c, '"')) {
            wmi_asm_error(a, c->at, "expected '\"'");
            return;
        }
        if (ends)
            wmi_asm_append(a, &a->section->bytes, "", 1);
    } while (wmi_take(c, ','));
    at_end(a, c);
}

static void repeat(struct wmi_assembler *a, const char *at, int64_t count, int64_t bytes, uint64_t value)
{
    if (count < 0 || bytes < 0 || bytes > 8 || count * bytes > MOST_REPEATED) {
        wmi_asm_error(a, at, "expected a count up to 16 MiB of elements up to 8 bytes");
        return;
    }
    for (int64_t i = 0; i < count; i++)
        wmi_asm_append(a, &a->section->bytes, &value, (size_t)bytes);
}

static void fill(struct wmi_assembler *a, struct wmi_cursor *c)
{
    int64_t count, bytes = 1, value = 0;
    const char *at = c->at;
    if (!number(a, c, &count) || (wmi_take(c, ',') && !number(a, c, &bytes)) ||
        (wmi_take(c, ',') && !number(a, c, &value)))
        return;
    repeat(a, at, count, bytes, (uint64_t)value);
}

static void zeros(struct wmi_assembler *a, struct wmi_cursor *c)
{
    int64_t count, value = 0;
    const char *at = c->at;
    if (number(a, c, &count) && (!wmi_take(c, ',') || number(a, c, &value)))
        repeat(a, at, count, 1, (uint64_t)value);
}

/* Code is filled with s_nop 0, as LLVM does. */
static void align(struct wmi_assembler *a, struct wmi_cursor *c, bool power, unsigned unit)
{
    int64_t alignment, value = 0, most = 0;
    bool given = false;
    const char *at = c->at;
    if (!number(a, c, &alignment))
        return;
    if (wmi_take(c, ',')) {
        wmi_skip_space(c);
        given = c->at < c->end && *c->at != ',';
        if ((given && !number(a, c, &value)) || (wmi_take(c, ',') && !number(a, c, &most)))
            return;
    }
    if (!at_end(a, c))
        return;
    if (power ? alignment < 0 || alignment > 16
              : alignment < 1 || alignment > 1 << 16 || alignment & (alignment - 1)) {
        wmi_asm_error(a, at, power ? "expected a power from 0 to 16" : "expected a power of two up to 65536");
        return;
    }
    const uint64_t bytes = power ? UINT64_C(1) << alignment : (uint64_t)alignment;
    struct wmi_asm_section *s = a->section;
    const uint64_t padding = -s->bytes.size & (bytes - 1);
    if (s->alignment < bytes)
        s->alignment = bytes;
    if (most && padding > (uint64_t)most)
        return;
    const uint64_t nop = S_NOP, filler = given ? (uint64_t)value : 0;
    const bool code = !given && s->flags & SHF_EXECINSTR;
    if (code)
        wmi_asm_append(a, &s->bytes, NULL, padding % 4);
    for (uint64_t i = 0; i < (code ? padding / 4 : padding / unit); i++)
        wmi_asm_append(a, &s->bytes, code ? &nop : &filler, code ? 4 : unit);
}

/* ---- sections and symbols ---- */

static void select_section(struct wmi_assembler *a, struct wmi_asm_section *section)
{
    a->previous = a->section;
    a->section = section;
}

static void named_section(struct wmi_assembler *a, struct wmi_cursor *c)
{
    static const struct {
        const char *prefix;
        uint32_t type;
        uint64_t flags;
    } known[] = {{".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR},
                 {".rodata", SHT_PROGBITS, SHF_ALLOC},
                 {".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE},
                 {".bss", SHT_NOBITS, SHF_ALLOC | SHF_WRITE},
                 {".note", SHT_NOTE, 0}};
    const bool quoted = wmi_take(c, '"');
    wmi_skip_space(c);
    const char *name = c->at;
    while (c->at < c->end && (quoted ? *c->at != '"' : !isspace((unsigned char)*c->at) && *c->at != ','))
        c->at++;
    const size_t length = (size_t)(c->at - name);
    c->at += quoted && c->at < c->end;
    uint32_t type = SHT_PROGBITS;
    uint64_t flags = 0, entry_size = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (length >= strlen(known[i].prefix) && !memcmp(name, known[i].prefix, strlen(known[i].prefix))) {
            type = known[i].type;
            flags = known[i].flags;
        }
    if (!length) {
        wmi_asm_error(a, c->at, "expected the name of a section");
        return;
    }
    if (wmi_take(c, ',') && wmi_take(c, '"')) {
        flags = 0;
        for (; c->at < c->end && *c->at != '"'; c->at++)
            flags |= *c->at == 'a'   ? SHF_ALLOC
                     : *c->at == 'w' ? SHF_WRITE
                     : *c->at == 'x' ? SHF_EXECINSTR
                     : *c->at == 'M' ? SHF_MERGE
                     : *c->at == 'S' ? SHF_STRINGS
                                     : 0;
        if (!wmi_take(c, '"')) {
            wmi_asm_error(a, c->at, "expected '\"'");
            return;
        }
        if (wmi_take(c, ',')) {
            if (!wmi_take(c, '@'))
                wmi_take(c, '%');
            const size_t word = wmi_name_length(c);
            type = wmi_asm_word_is(c->at, word, "nobits") ? SHT_NOBITS
                   : wmi_asm_word_is(c->at, word, "note") ? SHT_NOTE
                                                          : SHT_PROGBITS;
            c->at += word;
            int64_t size;
            if (flags & SHF_MERGE && wmi_take(c, ',') && number(a, c, &size))
                entry_size = (uint64_t)size;
        }
    }
    struct wmi_asm_section *section = wmi_asm_section(a, name, length, type, flags);
    section->entry_size = entry_size;
    select_section(a, section);
}

static bool symbol_name(struct wmi_assembler *a, struct wmi_cursor *c, const char **name, size_t *length)
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
        wmi_asm_error(a, c->at, "expected the name of a symbol");
    return *length;
}

/* A property of the symbols named. */
static void mark(struct wmi_assembler *a, struct wmi_cursor *c, int binding, int visibility)
{
    const char *name;
    size_t length;
    do {
        if (!symbol_name(a, c, &name, &length))
            return;
        struct wmi_asm_symbol *s = wmi_asm_symbol(a, name, length);
        if (binding >= 0)
            s->binding = (uint8_t)binding;
        if (visibility >= 0)
            s->visibility = (uint8_t)visibility;
    } while (wmi_take(c, ','));
    at_end(a, c);
}

static void symbol_type(struct wmi_assembler *a, struct wmi_cursor *c)
{
    const char *name;
    size_t length;
    if (!symbol_name(a, c, &name, &length))
        return;
    wmi_take(c, ',');
    if (!wmi_take(c, '@') && !wmi_take(c, '%'))
        wmi_take(c, '#');
    const size_t word = wmi_name_length(c);
    struct wmi_asm_symbol *s = wmi_asm_symbol(a, name, length);
    s->type = wmi_asm_word_is(c->at, word, "function") ? STT_FUNC
              : wmi_asm_word_is(c->at, word, "object") ? STT_OBJECT
                                                       : STT_NOTYPE;
    if (!word)
        wmi_asm_error(a, c->at, "expected @function or @object");
}

static void symbol_size(struct wmi_assembler *a, struct wmi_cursor *c)
{
    const char *name;
    size_t length;
    struct wmi_value value;
    if (!symbol_name(a, c, &name, &length))
        return;
    wmi_take(c, ',');
    a->resolver.here = (struct wmi_value){.number = (int64_t)a->section->bytes.size, .base = a->section};
    a->saw_late = false;
    c->wrong = NULL;
    if (!wmi_read_expression(c, &value))
        failed(a, c);
    else if (a->saw_late)
        wmi_asm_note_late(a, a->line, a->line_end, UINT8_MAX);
    else if (value.base)
        wmi_asm_error(a, name, "expected a size that is a number");
    else
        wmi_asm_symbol(a, name, length)->size = (uint64_t)value.number;
}

static void target_line(struct wmi_assembler *a, struct wmi_cursor *c)
{
    wmi_take(c, '"');
    const char *name = wmi_target_name(a->target), *at = c->at;
    const size_t length = strlen(name);
    for (; at + length <= c->end; at++)
        if (!memcmp(at, name, length) && at > c->at && at[-1] == '-' &&
            (at + length == c->end || !isalnum((unsigned char)at[length]))) {
            const char *end = memchr(at, '"', (size_t)(c->end - at));
            const bool features = strchr(a->target_id, ':') != NULL;
            if (end && at[length] == ':' && !features) /* its features, unless -m gave some */
                a->target_id = wmi_asm_text(a, at, (size_t)(end - at));
            return;
        }
    wmi_asm_error(a, c->at, "expected the target that is assembled for, %s", name);
}

/* ---- macros, repetition, conditions ---- */

/* The lines up to the end that matches; false after a message. */
static bool body_lines(struct wmi_assembler *a, const char *opens, const char *opens_too, const char *closes,
                       const char **body, size_t *size)
{
    const char *begin, *end, *const where = a->line;
    const struct wmi_asm_source *source = a->source;
    unsigned depth = 1;
    *body = source ? source->at : where;
    while (a->source == source && source && source->at < source->end && wmi_asm_next_line(a, &begin, &end)) {
        struct wmi_cursor c = {.at = begin, .end = end};
        const size_t length = wmi_name_length(&c);
        if (wmi_asm_word_is(c.at, length, opens) || wmi_asm_word_is(c.at, length, opens_too))
            depth++;
        if ((wmi_asm_word_is(c.at, length, closes) ||
             (closes[4] == 'm' && wmi_asm_word_is(c.at, length, ".endmacro"))) &&
            --depth == 0) {
            *size = (size_t)(begin - *body);
            return true;
        }
    }
    wmi_asm_error(a, a->line, "expected %s", closes);
    return false;
}

static void define_macro(struct wmi_assembler *a, struct wmi_cursor *c)
{
    struct wmi_asm_macro *m = wmi_asm_allocate(a, 1, sizeof *m);
    const size_t length = wmi_name_length(c);
    if (!length) {
        wmi_asm_error(a, c->at, "expected the name of the macro");
        return;
    }
    m->name = wmi_asm_text(a, c->at, length);
    c->at += length;
    for (;;) {
        wmi_take(c, ',');
        const size_t n = wmi_name_length(c);
        if (!n)
            break;
        if (m->parameters == sizeof m->parameter / sizeof *m->parameter) {
            wmi_asm_error(a, c->at, "expected at most 16 parameters");
            return;
        }
        m->parameter[m->parameters].name = c->at;
        m->parameter[m->parameters].length = n;
        c->at += n;
        if (wmi_take(c, ':')) {
            const size_t qualifier = wmi_name_length(c);
            c->at += qualifier;
        }
        if (wmi_take(c, '=')) {
            wmi_skip_space(c);
            const char *start = c->at;
            while (c->at < c->end && *c->at != ',' && !isspace((unsigned char)*c->at))
                c->at++;
            m->parameter[m->parameters].otherwise = wmi_asm_text(a, start, (size_t)(c->at - start));
        }
        m->parameters++;
    }
    if (body_lines(a, ".macro", ".macro", ".endm", &m->body, &m->body_size)) {
        m->next = a->macros;
        a->macros = m;
    }
}

void wmi_asm_expand(struct wmi_assembler *a, const struct wmi_asm_macro *m, const char *rest, const char *end)
{
    enum { PARAMETERS = 16 };
    const char *value[PARAMETERS] = {0};
    size_t length[PARAMETERS] = {0};
    struct wmi_cursor c = {.at = rest, .end = end};
    for (unsigned i = 0; i < m->parameters; i++) {
        value[i] = m->parameter[i].otherwise ? m->parameter[i].otherwise : "";
        length[i] = strlen(value[i]);
    }
    for (unsigned i = 0; wmi_skip_space(&c), c.at < c.end; i++) {
        const char *start = c.at;
        unsigned depth = 0, at = i;
        while (c.at < c.end && !(*c.at == ',' && !depth)) {
            depth += *c.at == '(' || *c.at == '[';
            depth -= depth && (*c.at == ')' || *c.at == ']');
            c.at++;
        }
        const char *stop = c.at;
        while (stop > start && isspace((unsigned char)stop[-1]))
            stop--;
        struct wmi_cursor named = {.at = start, .end = stop};
        const size_t word = wmi_name_length(&named);
        for (unsigned p = 0; p < m->parameters && word; p++)
            if (word == m->parameter[p].length && !memcmp(start, m->parameter[p].name, word) &&
                start + word < stop && start[word] == '=') {
                at = p;
                start += word + 1;
            }
        if (at >= m->parameters) {
            wmi_asm_error(a, start, "macro '%s' has %u parameters", m->name, m->parameters);
            return;
        }
        if (stop - start >= 2 && *start == '"' && stop[-1] == '"')
            start++, stop--;
        value[at] = start;
        length[at] = (size_t)(stop - start);
        wmi_take(&c, ',');
    }
    struct wmi_bytes text = {0};
    for (const char *at = m->body, *stop = m->body + m->body_size; at < stop;) {
        unsigned p = m->parameters;
        if (*at == '\\' && at + 1 < stop) {
            if (at[1] == '@') {
                char digits[16];
                unsigned n = a->expansions, size = 0;
                do
                    digits[sizeof digits - ++size] = (char)('0' + n % 10);
                while (n /= 10);
                wmi_asm_append(a, &text, digits + sizeof digits - size, size);
                at += 2;
                continue;
            }
            if (at[1] == '(' && at + 2 < stop && at[2] == ')') {
                at += 3;
                continue;
            }
            size_t n = 0;
            while (at + 1 + n < stop && (isalnum((unsigned char)at[1 + n]) || at[1 + n] == '_'))
                n++;
            for (p = 0; p < m->parameters; p++)
                if (m->parameter[p].length == n && !memcmp(m->parameter[p].name, at + 1, n))
                    break;
            if (p < m->parameters) {
                wmi_asm_append(a, &text, value[p], length[p]);
                at += 1 + n;
            }
        }
        if (p == m->parameters)
            wmi_asm_append(a, &text, at++, 1);
    }
    char *copy = wmi_asm_text(a, text.data ? (char *)text.data : "", text.size);
    const size_t size = text.size;
    free(text.data);
    wmi_asm_push_source(a, copy, size);
}

static void repeat_lines(struct wmi_assembler *a, struct wmi_cursor *c)
{
    int64_t count;
    const char *body, *at = c->at;
    size_t size;
    if (!number(a, c, &count) || !body_lines(a, ".rept", ".rep", ".endr", &body, &size))
        return;
    if (count < 0 || (uint64_t)count * (size + 1) > MOST_REPEATED) {
        wmi_asm_error(a, at, "expected a count, and less than 16 MiB of text");
        return;
    }
    char *text = wmi_asm_allocate(a, size * (size_t)count + 1, 1);
    for (int64_t i = 0; i < count; i++)
        memcpy(text + (size_t)i * size, body, size);
    wmi_asm_push_source(a, text, size * (size_t)count);
}

/* Takes the line if it is a condition's. */
static bool condition_line(struct wmi_assembler *a, const char *begin, const char *end)
{
    struct wmi_cursor c = {.at = begin, .end = end, .symbols = &a->resolver};
    const size_t length = wmi_name_length(&c);
    const char *word = c.at;
    const bool outer = a->conditions && a->skipping[a->conditions - 1];
    c.at += length;
    const bool plain = wmi_asm_word_is(word, length, ".if"),
               not_defined =
                   wmi_asm_word_is(word, length, ".ifndef") || wmi_asm_word_is(word, length, ".ifnotdef");
    const bool other = wmi_asm_word_is(word, length, ".elseif");
    if (plain || not_defined || wmi_asm_word_is(word, length, ".ifdef") || other) {
        if (other ? !a->conditions : a->conditions == WMI_ASM_CONDITIONS) {
            wmi_asm_error(a, word, other ? ".elseif without .if" : "conditions are nested too deep");
            return true;
        }
        const unsigned i = other ? a->conditions - 1 : a->conditions++;
        const bool enclosing = i && a->skipping[i - 1];
        int64_t value = 0;
        if (!other)
            a->taken[i] = enclosing;
        if (!a->taken[i] && (plain || other)) {
            number(a, &c, &value);
        } else if (!a->taken[i]) {
            const size_t n = wmi_name_length(&c);
            value = wmi_asm_symbol(a, c.at, n)->defined != not_defined;
        }
        a->skipping[i] = enclosing || a->taken[i] || !value;
        a->taken[i] |= value != 0;
        return true;
    }
    const bool otherwise = wmi_asm_word_is(word, length, ".else");
    if (otherwise || wmi_asm_word_is(word, length, ".endif")) {
        if (!a->conditions) {
            wmi_asm_error(a, word, "%s without .if", otherwise ? ".else" : ".endif");
        } else if (otherwise) {
            const unsigned i = a->conditions - 1;
            a->skipping[i] = a->taken[i] || (i && a->skipping[i - 1]);
            a->taken[i] = true;
        } else {
            a->conditions--;
        }
        return true;
    }
    return outer;
}

void wmi_asm_line(struct wmi_assembler *a, const char *begin, const char *end)
{
    const char *at = begin;
    while (at < end && isspace((unsigned char)*at))
        at++;
    const bool directive = at < end && *at == '.';
    if (a->conditions && a->skipping[a->conditions - 1] && !directive)
        return;
    if (directive && condition_line(a, at, end))
        return;
    wmi_asm_statement(a, at, end);
}

/* ---- all of them ---- */

static void set_line(struct wmi_assembler *a, struct wmi_cursor *c)
{
    const char *name;
    size_t length;
    if (!symbol_name(a, c, &name, &length))
        return;
    if (!wmi_take(c, ','))
        wmi_asm_error(a, c->at, "expected ','");
    else
        wmi_asm_set(a, name, length, c);
}

static void version_line(struct wmi_assembler *a, struct wmi_cursor *c)
{
    int64_t value;
    const char *at = c->at;
    if (!number(a, c, &value))
        return;
    if (value < 4 || value > 6)
        wmi_asm_error(a, at, "expected a version from 4 to 6");
    else
        a->code_object_version = (unsigned)value;
}

static void kernel_lines(struct wmi_assembler *a, struct wmi_cursor *c)
{
    const char *name;
    size_t length;
    if (symbol_name(a, c, &name, &length))
        wmi_asm_kernel(a, name, length);
}

static void push_section(struct wmi_assembler *a, struct wmi_cursor *c, bool pop)
{
    if (pop ? !a->stack_depth : a->stack_depth == sizeof a->stack / sizeof *a->stack) {
        wmi_asm_error(a, c->at, pop ? ".popsection without .pushsection" : "sections are pushed too deep");
    } else if (pop) {
        a->section = a->stack[--a->stack_depth];
    } else {
        a->stack[a->stack_depth++] = a->section;
        named_section(a, c);
    }
}

enum action {
    IGNORED,
    DATA,
    ALIGN_POWER,
    ALIGN_BYTES,
    FILL,
    ZEROS,
    TEXT,
    TEXT_ENDED,
    LEB,
    SECTION,
    THIS_SECTION,
    PUSH,
    POP,
    PREVIOUS,
    BINDING,
    VISIBILITY,
    SYMBOL_TYPE,
    SYMBOL_SIZE,
    SET,
    MACRO,
    REPEAT,
    TARGET,
    VERSION,
    KERNEL,
    METADATA,
};

static const struct {
    const char *name;
    enum action action;
    int value;
} directives[] = {
    {".byte", DATA, 1},
    {".short", DATA, 2},
    {".2byte", DATA, 2},
    {".hword", DATA, 2},
    {".value", DATA, 2},
    {".long", DATA, 4},
    {".int", DATA, 4},
    {".4byte", DATA, 4},
    {".quad", DATA, 8},
    {".8byte", DATA, 8},
    {".p2align", ALIGN_POWER, 1},
    {".p2alignw", ALIGN_POWER, 2},
    {".p2alignl", ALIGN_POWER, 4},
    {".align", ALIGN_BYTES, 1},
    {".balign", ALIGN_BYTES, 1},
    {".balignw", ALIGN_BYTES, 2},
    {".balignl", ALIGN_BYTES, 4},
    {".fill", FILL, 0},
    {".zero", ZEROS, 0},
    {".skip", ZEROS, 0},
    {".space", ZEROS, 0},
    {".ascii", TEXT, 0},
    {".asciz", TEXT_ENDED, 0},
    {".string", TEXT_ENDED, 0},
    {".uleb128", LEB, 0},
    {".sleb128", LEB, 1},
    {".section", SECTION, 0},
    {".text", THIS_SECTION, 0},
    {".data", THIS_SECTION, 0},
    {".bss", THIS_SECTION, 0},
    {".rodata", THIS_SECTION, 0},
    {".pushsection", PUSH, 0},
    {".popsection", POP, 0},
    {".previous", PREVIOUS, 0},
    {".globl", BINDING, STB_GLOBAL},
    {".global", BINDING, STB_GLOBAL},
    {".weak", BINDING, STB_WEAK},
    {".local", BINDING, STB_LOCAL},
    {".hidden", VISIBILITY, STV_HIDDEN},
    {".internal", VISIBILITY, STV_INTERNAL},
    {".protected", VISIBILITY, STV_PROTECTED},
    {".type", SYMBOL_TYPE, 0},
    {".size", SYMBOL_SIZE, 0},
    {".set", SET, 0},
    {".equ", SET, 0},
    {".equiv", SET, 0},
    {".macro", MACRO, 0},
    {".rept", REPEAT, 0},
    {".rep", REPEAT, 0},
    {".amdgcn_target", TARGET, 0},
    {".amdhsa_code_object_version", VERSION, 0},
    {".amdhsa_kernel", KERNEL, 0},
    {".amdgpu_metadata", METADATA, 0},
    {".ident", IGNORED, 0},
    {".addrsig", IGNORED, 0},
    {".addrsig_sym", IGNORED, 0},
    {".file", IGNORED, 0},
    {".loc", IGNORED, 0},
    {".cfi_sections", IGNORED, 0},
    {".cfi_startproc", IGNORED, 0},
    {".cfi_endproc", IGNORED, 0},
};

void wmi_asm_directive(struct wmi_assembler *a, const char *name, size_t length, const char *rest,
                       const char *end)
{
    struct wmi_cursor c = {.at = rest, .end = end, .symbols = &a->resolver};
    size_t i = 0;
    while (i < sizeof directives / sizeof *directives && !wmi_asm_word_is(name, length, directives[i].name))
        i++;
    if (i == sizeof directives / sizeof *directives) {
        wmi_asm_error(a, name, "unknown directive '%.*s'", length < 64 ? (int)length : 64, name);
        return;
    }
    const int value = directives[i].value;
    switch (directives[i].action) {
    case IGNORED:
        break;
    case DATA:
        numbers(a, &c, (unsigned)value);
        break;
    case ALIGN_POWER:
    case ALIGN_BYTES:
        align(a, &c, directives[i].action == ALIGN_POWER, (unsigned)value);
        break;
    case FILL:
        fill(a, &c);
        break;
    case ZEROS:
        zeros(a, &c);
        break;
    case TEXT:
    case TEXT_ENDED:
        strings(a, &c, directives[i].action == TEXT_ENDED);
        break;
    case LEB:
        leb128(a, &c, value != 0);
        break;
    case SECTION:
        named_section(a, &c);
        break;
    case THIS_SECTION: {
        struct wmi_cursor whole = {.at = name, .end = name + length};
        named_section(a, &whole);
        break;
    }
    case PUSH:
    case POP:
        push_section(a, &c, directives[i].action == POP);
        break;
    case PREVIOUS:
        if (a->previous)
            select_section(a, a->previous);
        break;
    case BINDING:
        mark(a, &c, value, -1);
        break;
    case VISIBILITY:
        mark(a, &c, -1, value);
        break;
    case SYMBOL_TYPE:
        symbol_type(a, &c);
        break;
    case SYMBOL_SIZE:
        symbol_size(a, &c);
        break;
    case SET:
        set_line(a, &c);
        break;
    case MACRO:
        define_macro(a, &c);
        break;
    case REPEAT:
        repeat_lines(a, &c);
        break;
    case TARGET:
        target_line(a, &c);
        break;
    case VERSION:
        version_line(a, &c);
        break;
    case KERNEL:
        kernel_lines(a, &c);
        break;
    case METADATA:
        wmi_asm_metadata(a);
        break;
    }
}
