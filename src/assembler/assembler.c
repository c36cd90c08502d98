/* SPDX-License-Identifier: MIT */
/* Assembles a file: lines, macros and conditions, labels, instructions; directives are in
 * assembler_directives.c. */
#include "assembler/parts.h"
#include "object/relocation_types.h"

#include <ctype.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXPANSIONS = 100000, DEPTH = 200, MOST_TEXT = 1 << 27 }; /* of macros and repetitions together */

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

/* Which macros the line that is wrong comes from: `outer` of `inner` of ... */
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

static void add_message(struct wmi_assembler *a, const char *at, const char *kind, const char *format,
                        va_list list)
{
    char text[512], head[1024];
    vsnprintf(text, sizeof text, format, list);
    const struct wmi_asm_place *p = &a->place;
    if (at < p->line || at > p->line_end)
        at = p->line;
    int length;
    char macros[256] = "";
    if (!a->reading_late)
        add_macros(a, macros, sizeof macros);
    if (p->number)
        length = snprintf(head, sizeof head, "%.200s:%u:%td: %s: %s%s\n", p->name, p->number,
                          at - p->line + 1, kind, text, macros);
    else
        length = snprintf(head, sizeof head, "%.200s: %s: %s\n", p->name, kind, text);
    wmi_asm_append(a, &a->messages, head, (size_t)length < sizeof head ? (size_t)length : sizeof head - 1);
    if (!p->number)
        return;
    wmi_asm_append(a, &a->messages, p->line, (size_t)(p->line_end - p->line));
    wmi_asm_append(a, &a->messages, "\n", 1);
    for (const char *c = p->line; c < at; c++)
        wmi_asm_append(a, &a->messages, *c == '\t' ? "\t" : " ", 1);
    wmi_asm_append(a, &a->messages, "^\n", 2);
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

/* The name of the `count`th label `digit`:. */
static size_t numbered_name(char *name, unsigned digit, unsigned count)
{
    return (size_t)sprintf(name, ".\1%u.%u", digit, count);
}

static void find_symbol(void *user, const char *name, size_t length, struct wmi_value *value)
{
    struct wmi_assembler *a = user;
    char numbered[32];
    if (isdigit((unsigned char)*name)) {
        const unsigned digit = (unsigned)(*name - '0');
        length = numbered_name(numbered, digit, a->numbered[digit] + (name[length - 1] == 'f'));
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
    } else if (!a->reading_late) {
        a->saw_late = value->late = true;
    } else if (find_section(a, s->name)) { /* a section's name is the label of its begin */
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

/* ---- lines ---- */

/* A string: returns the place of its closing quote, or of the end of the line. */
static size_t string_end(const char *text, size_t size, size_t i)
{
    for (i++; i < size && text[i] != '"' && text[i] != '\n'; i++)
        i += text[i] == '\\' && i + 1 < size && text[i + 1] != '\n';
    return i < size && text[i] == '"' ? i + 1 : i < size ? i : size;
}

static size_t blank_line(char *text, size_t size, size_t i)
{
    for (; i < size && text[i] != '\n'; i++)
        text[i] = ' ';
    return i;
}

static size_t blank_block(char *text, size_t size, size_t i)
{
    for (; i < size && !(text[i] == '*' && i + 1 < size && text[i + 1] == '/'); i++)
        text[i] = text[i] == '\n' ? '\n' : ' ';
    for (unsigned n = 0; n < 2 && i < size; n++)
        text[i++] = ' ';
    return i;
}

static bool begins_line(const char *text, size_t i)
{
    while (i && (text[i - 1] == ' ' || text[i - 1] == '\t'))
        i--;
    return !i || text[i - 1] == '\n';
}

/* Comments become blanks: ; and // to the end of the line, lines that begin with #, and what C has. */
static void blank_comments(char *text, size_t size)
{
    static const char marks[] = {';', '/', '#', '"'};
    enum { MARKS = sizeof marks };
    size_t next[MARKS] = {0}; /* where each is next, or size */
    for (size_t i = 0; i < size;) {
        size_t at = size;
        for (unsigned m = 0; m < MARKS; m++) {
            if (next[m] <= i && next[m] < size) {
                const char *found = text[i] == marks[m] ? text + i : memchr(text + i, marks[m], size - i);
                next[m] = found ? (size_t)(found - text) : size;
            }
            at = next[m] < at ? next[m] : at;
        }
        if (at == size)
            return;
        const char second = at + 1 < size ? text[at + 1] : 0;
        if (text[at] == '"')
            i = string_end(text, size, at);
        else if (text[at] == ';' || (text[at] == '/' && second == '/') ||
                 (text[at] == '#' && begins_line(text, at)))
            i = blank_line(text, size, at);
        else if (text[at] == '/' && second == '*')
            i = blank_block(text, size, at);
        else
            i = at + 1;
    }
}

bool wmi_asm_next_line(struct wmi_assembler *a, const char **begin, const char **end)
{
    if (a->errors > WMI_ASM_ENOUGH)
        a->source = NULL;
    while (a->source && a->source->at >= a->source->end) {
        if (a->conditions > a->source->conditions)
            wmi_asm_error(a, a->place.line, "expected .endif before the end of %s",
                          a->source->name ? "the file" : "the macro");
        a->conditions = a->source->conditions;
        a->source = a->source->outer;
    }
    struct wmi_asm_source *source = a->source;
    if (!source)
        return false;
    const char *newline = memchr(source->at, '\n', (size_t)(source->end - source->at));
    *begin = source->at;
    *end = newline ? newline : source->end;
    source->at = *end + (newline != NULL);
    if (source->name) {
        a->place.number = ++source->line;
        a->place.name = source->name;
    }
    a->place.line = *begin;
    a->place.line_end = *end;
    return true;
}

static struct wmi_asm_source *push_source(struct wmi_assembler *a, const char *text, size_t size)
{
    unsigned depth = 0;
    for (const struct wmi_asm_source *s = a->source; s; s = s->outer)
        depth++;
    a->expanded += size;
    if (depth > DEPTH || ++a->expansions > EXPANSIONS || a->expanded > MOST_TEXT) {
        wmi_asm_error(a, a->place.line, "macros or files are expanded too deep or too often");
        return NULL;
    }
    struct wmi_asm_source *source = wmi_asm_allocate(a, 1, sizeof *source);
    *source = (struct wmi_asm_source){
        .outer = a->source, .at = text, .end = text + size, .conditions = a->conditions};
    a->source = source;
    return source;
}

void wmi_asm_push_text(struct wmi_assembler *a, const char *text, size_t size, const char *macro)
{
    struct wmi_asm_source *source = push_source(a, text, size);
    if (source)
        source->macro = macro;
}

static bool may_have_comments(const char *text, size_t size)
{
    return size && (memchr(text, ';', size) || memchr(text, '/', size) || memchr(text, '#', size));
}

void wmi_asm_push_file(struct wmi_assembler *a, const char *name, const char *text, size_t size)
{
    if (may_have_comments(text, size)) {
        char *copy = wmi_asm_text(a, text, size);
        blank_comments(copy, size);
        text = copy;
    }
    struct wmi_asm_source *source = push_source(a, text, size);
    if (source)
        source->name = name;
    a->counts_registers |= wmi_asm_names_counts(text, size);
}

bool wmi_asm_word_is(const char *word, size_t length, const char *name)
{
    return strlen(name) == length && !memcmp(word, name, length);
}

/* ---- instructions ---- */

static void mnemonic_error(struct wmi_assembler *a, const char *at, size_t length)
{
    static const char *const shown[] = {"gfx600",  "gfx700",  "gfx803", "gfx900",  "gfx906",
                                        "gfx908",  "gfx90a",  "gfx942", "gfx1010", "gfx1030",
                                        "gfx1100", "gfx1150", "gfx1200"};
    enum { NEAREST = 3 };
    if (a->errors >= WMI_ASM_MESSAGES) {
        wmi_asm_error(a, at, "unknown"); /* is only counted: macros can ask for very many */
        return;
    }
    char targets[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        if (wmi_has_mnemonic(wmi_target_find(shown[i]), at, length))
            used += (size_t)snprintf(targets + used, sizeof targets - used, " %s", shown[i]);
    const char *found[NEAREST];
    const unsigned count = wmi_nearest_mnemonics(a->target, at, length, found, NEAREST);
    char near[256] = "";
    for (unsigned i = 0, end = 0; i < count; i++)
        end += (unsigned)snprintf(near + end, sizeof near - end, i ? ", %s" : "%s", found[i]);
    const int n = length < 64 ? (int)length : 64;
    if (used)
        wmi_asm_error(a, at, "%s does not have '%.*s'; these have it:%s%s%s", wmi_target_name(a->target), n,
                      at, targets, count ? "; nearest here: " : "", near);
    else
        wmi_asm_error(a, at, "unknown instruction '%.*s'%s%s", n, at, count ? "; nearest: " : "", near);
}

void wmi_asm_relocate(struct wmi_assembler *a, struct wmi_asm_section *section, uint64_t offset,
                      const struct wmi_value *value, unsigned bytes, bool branch)
{
    static const uint8_t types[] = {[WMI_PART_NONE] = ABS32,
                                    [WMI_PART_ABS32_LO] = ABS32_LO,
                                    [WMI_PART_ABS32_HI] = ABS32_HI,
                                    [WMI_PART_REL32_LO] = REL32_LO,
                                    [WMI_PART_REL32_HI] = REL32_HI,
                                    [WMI_PART_REL64] = REL64,
                                    [WMI_PART_GOT32_LO] = GOTPCREL32_LO,
                                    [WMI_PART_GOT32_HI] = GOTPCREL32_HI};
    const uint32_t type = branch ? REL16 : bytes == 8 && !value->part ? ABS64 : types[value->part];
    wmi_asm_relocate_as(a, section, offset, value, type);
}

void wmi_asm_relocate_as(struct wmi_assembler *a, struct wmi_asm_section *section, uint64_t offset,
                         const struct wmi_value *value, uint32_t type)
{
    struct wmi_asm_relocation *r = wmi_asm_allocate(a, 1, sizeof *r);
    const struct wmi_asm_symbol *label = value->symbol; /* its name counts if it is global */
    *r = (struct wmi_asm_relocation){.next = section->relocations,
                                     .offset = offset,
                                     .base = label ? &label->base : value->base,
                                     .addend = value->number - (label ? label->value.number : 0),
                                     .type = type,
                                     .place = a->place};
    section->relocations = r;
}

struct wmi_asm_late *wmi_asm_note_late(struct wmi_assembler *a, const char *text, const char *end,
                                       unsigned bytes)
{
    struct wmi_asm_late *late = wmi_asm_allocate(a, 1, sizeof *late);
    *late = (struct wmi_asm_late){.section = a->section,
                                  .offset = a->section->bytes.size,
                                  .text = text,
                                  .end = end,
                                  .place = a->place,
                                  .bytes = (uint8_t)bytes};
    memcpy(late->numbered, a->numbered, sizeof late->numbered);
    *a->last_late = late;
    a->last_late = &late->next;
    return late;
}

void wmi_asm_begin_expression(struct wmi_assembler *a)
{
    const uint64_t offset = a->reading_late ? a->late_offset : a->section->bytes.size;
    a->resolver.here = (struct wmi_value){.number = (int64_t)offset, .base = a->section};
    a->saw_late = false;
}

static unsigned assemble_at(struct wmi_assembler *a, const char *begin, const char *end,
                            struct wmi_asm_section *section, uint64_t offset, struct wmi_instruction *insn)
{
    struct wmi_cursor c = {
        .at = begin, .end = end, .symbols = &a->resolver, .names = a->names, .patterns = a->patterns};
    struct wmi_relocation relocation;
    a->resolver.here = (struct wmi_value){.number = (int64_t)offset, .base = section};
    a->saw_late = false;
    const unsigned dwords = wmi_assemble(a->target, &c, insn, &relocation);
    if (!dwords && !c.wrong) {
        size_t length = 0;
        while (c.at + length < end &&
               (isalnum((unsigned char)c.at[length]) || c.at[length] == '_' || c.at[length] == '.'))
            length++;
        if (length)
            mnemonic_error(a, c.at, length);
        else
            wmi_asm_error(a, c.at, "expected an instruction, a label or a directive");
    } else if (!dwords) {
        char expected[256];
        snprintf(expected, sizeof expected, c.wrong, c.number);
        wmi_asm_error(a, c.wrong_at, "expected %s", expected);
    } else if (relocation.value.base && !a->saw_late) {
        wmi_asm_relocate(a, section, offset + 4u * relocation.word, &relocation.value, 4, relocation.branch);
    }
    return dwords;
}

static bool is_remembered(struct wmi_assembler *a, const char *begin, const char *end)
{
    uint32_t words[WMI_INSTRUCTION_DWORDS];
    const unsigned dwords = wmi_assemble_alike(a->patterns, begin, end, words);
    if (dwords)
        wmi_asm_begin_code(a);
    wmi_asm_append(a, &a->section->bytes, words, 4 * (size_t)dwords);
    return dwords != 0;
}

void wmi_asm_forget(struct wmi_assembler *a)
{
    memset(a->patterns, 0, WMI_PATTERNS_BYTES);
}

static void instruction(struct wmi_assembler *a, const char *begin, const char *end)
{
    struct wmi_instruction insn;
    const unsigned dwords = assemble_at(a, begin, end, a->section, a->section->bytes.size, &insn);
    if (dwords && a->saw_late)
        wmi_asm_note_late(a, begin, end, 0);
    wmi_asm_begin_code(a);
    if (a->counts_registers && dwords)
        wmi_asm_count_registers(a, begin, end, &insn);
    wmi_asm_append(a, &a->section->bytes, insn.words, 4 * dwords);
}

/* ---- statements ---- */

void wmi_asm_statement(struct wmi_assembler *a, const char *begin, const char *end)
{
    struct wmi_cursor c = {.at = begin, .end = end, .symbols = &a->resolver};
    if (!a->counts_registers && is_remembered(a, begin, end))
        return;
    for (;;) {
        wmi_skip_space(&c);
        if (c.at == c.end)
            return;
        const char *at = c.at;
        if (isdigit((unsigned char)*at) && at + 1 < end && at[1] == ':') {
            char name[32];
            const unsigned digit = (unsigned)(*at - '0');
            const size_t length = numbered_name(name, digit, ++a->numbered[digit]);
            wmi_asm_define(a, at, wmi_asm_symbol(a, name, length));
            c.at += 2;
            continue;
        }
        size_t length = wmi_name_length(&c), quotes = 0;
        if (*at == '"') {
            const char *closing = memchr(at + 1, '"', (size_t)(end - at - 1));
            length = closing ? (size_t)(closing - at - 1) : 0;
            quotes = 1;
        }
        const char *name = at + quotes, *behind = name + length + quotes;
        if (length && behind < end && *behind == ':' && !(behind + 1 < end && behind[1] == ':')) {
            wmi_asm_define(a, at, wmi_asm_symbol(a, name, length));
            c.at = behind + 1;
            continue;
        }
        c.at = behind;
        a->statement = at;
        if (length && wmi_take(&c, '=') && !wmi_take(&c, '=')) {
            wmi_asm_set(a, name, length, &c, false);
            return;
        }
        if (length && wmi_asm_expand(a, name, length, behind, end))
            return;
        if (*at == '.')
            wmi_asm_directive(a, at, length, behind, end);
        else
            instruction(a, at, end);
        return;
    }
}

static void read_late_one(struct wmi_assembler *a, const struct wmi_asm_late *late)
{
    struct wmi_instruction insn;
    a->place = late->place;
    memcpy(a->numbered, late->numbered, sizeof a->numbered);
    if (late->bytes == UINT8_MAX) {
        a->section = late->section;
        a->late_offset = late->offset;
        wmi_asm_statement(a, late->text, late->end);
    } else if (late->bytes) {
        struct wmi_cursor c = {.at = late->text, .end = late->end, .symbols = &a->resolver};
        a->resolver.here = (struct wmi_value){.number = (int64_t)late->offset, .base = late->section};
        if (late->leb)
            wmi_asm_read_late_leb(a, &c, late);
        else
            wmi_asm_number(a, &c, late->section, late->offset, late->bytes);
    } else {
        const unsigned dwords = assemble_at(a, late->text, late->end, late->section, late->offset, &insn);
        if (late->offset + 4 * dwords <= late->section->bytes.size)
            memcpy(late->section->bytes.data + late->offset, insn.words, 4 * dwords);
    }
}

/* What named symbols that came later: first those statements that give symbols their values. */
static void read_late(struct wmi_assembler *a)
{
    a->reading_late = true;
    a->saw_late = false;
    for (unsigned values = 2; values-- > 0;)
        for (const struct wmi_asm_late *late = a->late; late; late = late->next)
            if ((late->bytes == UINT8_MAX) == values)
                read_late_one(a, late);
    wmi_asm_read_late_kernels(a);
}

static void read_file(struct wmi_assembler *a, const char *text, size_t size, const char *name)
{
    const char *begin, *end;
    wmi_asm_push_file(a, name, text, size);
    a->text = a->section = wmi_asm_section(a, ".text", 5, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR);
    a->text->alignment = 4;
    wmi_asm_define_counts(a);
    while (wmi_asm_next_line(a, &begin, &end))
        wmi_asm_line(a, begin, end);
    read_late(a);
}

static void close_messages(struct wmi_assembler *a)
{
    char more[64];
    if (a->errors > WMI_ASM_MESSAGES) {
        const int n = snprintf(more, sizeof more, "and: %u errors more\n", a->errors - WMI_ASM_MESSAGES);
        wmi_asm_append(a, &a->messages, more, (size_t)n);
    }
    wmi_asm_append(a, &a->messages, "", 1);
}

static void free_all(struct wmi_assembler *a)
{
    for (struct wmi_asm_section *s = a->sections; s; s = s->next)
        free(s->bytes.data);
    if (a->open_file)
        fclose(a->open_file);
    wmi_asm_free_lines(a);
    wmi_asm_free_frames(a);
    free(a->scratch.data);
    free(a->repeated.data);
    free(a->out.data);
    wmi_arena_free(&a->arena);
    free(a);
}

static enum wm_status assemble_once(const char *text, size_t size, const struct wmi_assemble_options *options,
                                    struct wmi_asm_lebs *lebs, uint8_t **bytes, size_t *bytes_size,
                                    char **messages)
{
    struct wmi_assembler *a = calloc(1, sizeof *a);
    volatile enum wm_status status = WM_OK;
    *bytes = NULL;
    *messages = NULL;
    *bytes_size = 0;
    if (!a)
        return WM_NO_MEMORY;
    a->place.name = options->name;
    a->target = wmi_target_find(options->target);
    a->target_id = options->target;
    a->reads_files = options->reads_files;
    a->is_raw = options->raw;
    a->own_lines = options->lines && !options->raw;
    a->folders = options->folders;
    a->folder_count = options->folder_count;
    a->code_object_version = 5;
    a->last_symbol = &a->first_symbol;
    a->last_late = &a->late;
    a->lebs = lebs;
    a->resolver = (struct wmi_symbols){.find = find_symbol, .user = a};
    if (!a->target) {
        status = WM_NOT_FOUND;
    } else if (setjmp(a->no_memory)) {
        status = WM_NO_MEMORY;
    } else {
        a->patterns = wmi_asm_allocate(a, 1, WMI_PATTERNS_BYTES);
        read_file(a, text, size, options->name);
        if (!a->errors && options->raw) {
            a->out = a->text->bytes;
            a->text->bytes = (struct wmi_bytes){0};
        } else if (!a->errors) {
            wmi_asm_write_frames(a);
            wmi_asm_write_lines(a);
            wmi_asm_write_unit(a);
            wmi_asm_link(a);
        }
        close_messages(a);
        status = a->errors ? WM_BAD_FILE : WM_OK;
    }
    if (status == WM_OK) {
        *bytes = a->out.data ? a->out.data : calloc(1, 1);
        *bytes_size = a->out.size;
        a->out.data = NULL;
    }
    *messages = (char *)a->messages.data;
    free_all(a);
    return *bytes || status ? status : WM_NO_MEMORY;
}

enum wm_status wmi_assemble_file(const char *text, size_t size, const struct wmi_assemble_options *options,
                                 uint8_t **bytes, size_t *bytes_size, char **messages)
{
    enum { MOST_READINGS = 32 };
    struct wmi_asm_lebs lebs = {0};
    enum wm_status status = assemble_once(text, size, options, &lebs, bytes, bytes_size, messages);
    for (unsigned readings = 1; lebs.grew && status != WM_NO_MEMORY && readings < MOST_READINGS; readings++) {
        free(*bytes);
        free(*messages);
        lebs.grew = false;
        lebs.last = readings + 1 == MOST_READINGS;
        status = assemble_once(text, size, options, &lebs, bytes, bytes_size, messages);
    }
    free(lebs.bytes);
    return status;
}
