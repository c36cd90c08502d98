/* SPDX-License-Identifier: MIT */
/* Directives that select sections or set properties of symbols. */
#include "assembler/parts.h"

#include <ctype.h>
#include <elf.h>
#include <string.h>

/* ---- sections ---- */

/* A pending .loc applies only to bytes in its own section, as in LLVM. */
static void go_to(struct wmi_assembler *a, struct wmi_asm_section *section)
{
    a->row_pending &= a->section == section;
    a->section = section;
}

static void select_section(struct wmi_assembler *a, struct wmi_asm_section *section)
{
    a->previous = a->section;
    go_to(a, section);
}

/* Default type and flags of sections by name. A name that ends in "." is a prefix.
 * Source: LLVM 19 ELFAsmParser.cpp, ParseSectionArguments. */
static const struct known_section {
    const char *name;
    uint32_t type;
    uint32_t flags;
} known_sections[] = {
    {".text.", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR},
    {".init.", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR},
    {".fini.", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR},
    {".rodata.", SHT_PROGBITS, SHF_ALLOC},
    {".rodata1", SHT_PROGBITS, SHF_ALLOC},
    {".data.", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE},
    {".data1", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE},
    {".bss.", SHT_NOBITS, SHF_ALLOC | SHF_WRITE},
    {".init_array.", SHT_INIT_ARRAY, SHF_ALLOC | SHF_WRITE},
    {".fini_array.", SHT_FINI_ARRAY, SHF_ALLOC | SHF_WRITE},
    {".preinit_array.", SHT_PREINIT_ARRAY, SHF_ALLOC | SHF_WRITE},
};

static struct known_section what_is(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof known_sections / sizeof *known_sections; i++) {
        const struct known_section *known = &known_sections[i];
        const size_t n = strlen(known->name), stem = n - (known->name[n - 1] == '.');
        if (length >= stem && !memcmp(name, known->name, stem) &&
            (length == stem || (stem < n && name[stem] == '.')))
            return *known;
    }
    const bool note = length >= strlen(".note") && !memcmp(name, ".note", strlen(".note"));
    return (struct known_section){NULL, note ? SHT_NOTE : SHT_PROGBITS, 0};
}

/* Subsection `number` of the section of `part`. Subsections are joined by the linker, so references between
 * them need relocations, and each begins aligned. */
static struct wmi_asm_section *find_part(struct wmi_assembler *a, struct wmi_asm_section *part,
                                         unsigned number)
{
    struct wmi_asm_section *at = wmi_asm_section(a, part->name, strlen(part->name), part->type, part->flags);
    while (at->subsection < number && at->next && at->next->name == at->name &&
           at->next->subsection <= number)
        at = at->next;
    if (at->subsection == number)
        return at;
    struct wmi_asm_section *made = wmi_asm_allocate(a, 1, sizeof *made);
    *made = (struct wmi_asm_section){.base = at->base,
                                     .next = at->next,
                                     .name = at->name,
                                     .subsection = number,
                                     .type = at->type,
                                     .flags = at->flags,
                                     .entry_size = at->entry_size,
                                     .alignment = 1};
    at->next = made;
    return made;
}

/* .subsection number; .text number */
void wmi_asm_subsection(struct wmi_assembler *a, struct wmi_cursor *c, int unused)
{
    int64_t number = 0;
    (void)unused;
    wmi_skip_space(c);
    const char *at = c->at;
    if ((at < c->end && !wmi_asm_read_number(a, c, &number)) || !wmi_asm_at_end(a, c))
        return;
    if (number < 0 || number > INT32_MAX)
        wmi_asm_error(a, at, "expected the number of a subsection from 0 to 2147483647");
    else if (a->is_raw && number)
        wmi_asm_error(a, at, "expected a code object to make: raw instructions have no subsections");
    else
        select_section(a, find_part(a, a->section, (unsigned)number));
}

/* .text, .data and similar, with or without a subsection number. */
void wmi_asm_known_section(struct wmi_assembler *a, const char *name, size_t length, struct wmi_cursor *c)
{
    const struct known_section known = what_is(name, length);
    struct wmi_asm_section *const before = a->section;
    a->section = wmi_asm_section(a, name, length, known.type, known.flags); /* owner of the subsections */
    const unsigned errors = a->errors;
    wmi_asm_subsection(a, c, 0);
    if (a->errors != errors)
        a->section = before;
    a->previous = before;
    a->row_pending &= before == a->section;
}

/* There is no thread-local memory on AMD GPUs. */
static bool is_allowed(struct wmi_assembler *a, const char *at, uint64_t flags)
{
    if (flags & SHF_TLS)
        wmi_asm_error(a, at, "expected no thread-local section: AMD GPUs have no thread-local memory");
    return !(flags & SHF_TLS);
}

/* "axw", or a number in quotes. */
static bool read_flags(struct wmi_assembler *a, struct wmi_cursor *c, uint64_t *flags)
{
    static const char letters[] = "awxMSGTeoR?";
    static const uint32_t bits[] = {SHF_ALLOC, SHF_WRITE, SHF_EXECINSTR,         SHF_MERGE, SHF_STRINGS,
                                    SHF_GROUP, SHF_TLS,   (uint32_t)SHF_EXCLUDE, 0,         0,
                                    0};
    const char *const start = c->at;
    int64_t number;
    *flags = 0;
    if (c->at < c->end && isdigit((unsigned char)*c->at)) {
        if (!wmi_asm_read_number(a, c, &number))
            return false;
        *flags = (uint64_t)number;
    }
    for (; c->at < c->end && *c->at != '"'; c->at++) {
        const char *known = strchr(letters, *c->at);
        if (c->at > start && isdigit((unsigned char)*start))
            known = NULL;
        if (!known || !*c->at) {
            wmi_asm_error(a, c->at, "expected flags of a section: a number, or letters of %s", letters);
            return false;
        }
        *flags |= bits[known - letters];
    }
    if (!is_allowed(a, start, *flags))
        return false;
    return wmi_take(c, '"') || (wmi_asm_error(a, c->at, "expected '\"'"), false);
}

/* #alloc,#write: Sun's syntax. Consumes a comma behind the flags. */
static bool read_sun_flags(struct wmi_assembler *a, struct wmi_cursor *c, uint64_t *flags)
{
    static const struct {
        const char *name;
        uint32_t bit;
    } names[] = {{"alloc", SHF_ALLOC}, {"execinstr", SHF_EXECINSTR}, {"write", SHF_WRITE}, {"tls", SHF_TLS}};
    enum { NAMES = sizeof names / sizeof *names };
    *flags = 0;
    const char *const start = c->at;
    while (wmi_take(c, '#')) {
        const size_t length = wmi_name_length(c);
        size_t i = 0;
        while (i < NAMES && !(strlen(names[i].name) == length && !memcmp(c->at, names[i].name, length)))
            i++;
        if (i == NAMES) {
            wmi_asm_error(a, c->at, "expected #alloc, #write or #execinstr");
            return false;
        }
        *flags |= names[i].bit;
        c->at += length;
        if (!wmi_take(c, ','))
            break;
    }
    return is_allowed(a, start, *flags);
}

/* @progbits and similar, or @0x7000001. */
static bool read_type(struct wmi_assembler *a, struct wmi_cursor *c, uint32_t *type)
{
    static const struct {
        const char *name;
        uint32_t type;
    } types[] = {
        {"progbits", SHT_PROGBITS},     {"nobits", SHT_NOBITS},         {"note", SHT_NOTE},
        {"init_array", SHT_INIT_ARRAY}, {"fini_array", SHT_FINI_ARRAY}, {"preinit_array", SHT_PREINIT_ARRAY},
        {"unwind", SHT_PROGBITS}};
    int64_t number;
    if (!wmi_take(c, '@') && !wmi_take(c, '%'))
        wmi_take(c, '"');
    const size_t length = wmi_name_length(c);
    for (size_t i = 0; i < sizeof types / sizeof *types && length; i++)
        if (wmi_asm_word_is(c->at, length, types[i].name)) {
            *type = types[i].type;
            c->at += length;
            wmi_take(c, '"');
            return true;
        }
    if (length) {
        wmi_asm_error(a, c->at,
                      "expected the type of a section: @progbits, @nobits, @note, @init_array, ...");
        return false;
    }
    if (!wmi_asm_read_number(a, c, &number))
        return false;
    *type = (uint32_t)number;
    return true;
}

/* A section name ends at the next comma; it may be quoted. */
static bool read_section_name(struct wmi_assembler *a, struct wmi_cursor *c, const char **name,
                              size_t *length)
{
    wmi_skip_space(c);
    const bool quoted = wmi_take(c, '"');
    *name = c->at;
    while (c->at < c->end && (quoted ? *c->at != '"' : !isspace((unsigned char)*c->at) && *c->at != ','))
        c->at++;
    *length = (size_t)(c->at - *name);
    c->at += quoted && c->at < c->end;
    if (!*length)
        wmi_asm_error(a, *name, "expected the name of a section");
    return *length;
}

/* The rest of .section after the flags: [@type[, entry size][, group, comdat][, section of link order]
 * [, unique, number]]. *apart: in LLVM a section of its own. */
static bool read_details(struct wmi_assembler *a, struct wmi_cursor *c, uint64_t flags, uint32_t *type,
                         int64_t *entry_size, bool *apart)
{
    const char *group;
    size_t length;
    int64_t number;
    if (!read_type(a, c, type))
        return false;
    if (flags & SHF_MERGE) {
        if (!wmi_take(c, ',')) {
            wmi_asm_error(a, c->at, "expected ',' and the size of an entry");
            return false;
        }
        if (!wmi_asm_read_number(a, c, entry_size))
            return false;
    }
    while (wmi_take(c, ',')) { /* groups and links have no effect without other object files */
        wmi_skip_space(c);
        *apart = true;
        if (c->at < c->end && isdigit((unsigned char)*c->at)) {
            if (!wmi_asm_read_number(a, c, &number))
                return false;
        } else if (!read_section_name(a, c, &group, &length)) {
            return false;
        }
    }
    return true;
}

/* Whether LLVM's assembler makes the section itself, so that its flags are given. */
static bool is_own(const char *name, size_t length)
{
    static const char *const own[] = {".text", ".data", ".bss", ".rodata", ".data.rel.ro", ".eh_frame"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strlen(own[i]) == length && !memcmp(own[i], name, length))
            return true;
    return false;
}

/* A section as in LLVM 19 ELFAsmParser.cpp, ParseSectionArguments: name[, "flags"[, details]], or
 * name, #flag, ...[, details]. `pushes`: a subsection may precede the flags. */
static void section_line(struct wmi_assembler *a, struct wmi_cursor *c, bool pushes)
{
    const char *name;
    size_t length;
    int64_t entry_size = 0, subsection = 0;
    if (!read_section_name(a, c, &name, &length))
        return;
    bool apart = false, said = false;
    const struct known_section known = what_is(name, length);
    uint32_t type = known.type;
    uint64_t flags = 0;
    bool more = wmi_take(c, ',');
    wmi_skip_space(c);
    const char *at = c->at;
    if (more && pushes && !(at < c->end && *at == '"')) {
        if (!wmi_asm_read_number(a, c, &subsection))
            return;
        if (subsection < 0 || subsection > INT32_MAX) {
            wmi_asm_error(a, at, "expected the number of a subsection from 0 to 2147483647");
            return;
        }
        more = wmi_take(c, ',');
        wmi_skip_space(c);
    }
    const char *const flags_at = c->at;
    if (more) {
        const bool sun = c->at < c->end && *c->at == '#';
        if (!sun && !wmi_take(c, '"')) {
            wmi_asm_error(a, c->at, "expected flags such as \"aw\" or #alloc,#write");
            return;
        }
        if (!(sun ? read_sun_flags(a, c, &flags) : read_flags(a, c, &flags)) ||
            (wmi_take(c, ',') && !read_details(a, c, flags, &type, &entry_size, &apart)))
            return;
        said = true;
    }
    if (!wmi_asm_at_end(a, c))
        return;
    flags |= known.flags;
    flags &= ~(uint64_t)SHF_GROUP;
    struct wmi_asm_section *section = wmi_asm_section(a, name, length, type, flags);
    if (said && !apart && (section->flags != flags || (is_own(name, length) && flags != known.flags))) {
        wmi_asm_error(a, flags_at, "expected the flags that section '%s' has, 0x%llx", section->name,
                      (unsigned long long)(section->flags != flags ? section->flags : known.flags));
        return;
    }
    section->entry_size = (uint64_t)entry_size;
    select_section(a, subsection ? find_part(a, section, (unsigned)subsection) : section);
}

void wmi_asm_named_section(struct wmi_assembler *a, struct wmi_cursor *c, int unused)
{
    (void)unused;
    section_line(a, c, false);
}

void wmi_asm_push_section(struct wmi_assembler *a, struct wmi_cursor *c, int unused)
{
    (void)unused;
    if (a->stack_depth == sizeof a->stack / sizeof *a->stack) {
        wmi_asm_error(a, c->at, "sections are pushed too deep");
        return;
    }
    a->stack[a->stack_depth].section = a->section;
    a->stack[a->stack_depth++].previous = a->previous;
    section_line(a, c, true);
}

void wmi_asm_pop_section(struct wmi_assembler *a, struct wmi_cursor *c, int unused)
{
    (void)unused;
    if (!a->stack_depth) {
        wmi_asm_error(a, c->at, ".popsection without .pushsection");
        return;
    }
    go_to(a, a->stack[--a->stack_depth].section);
    a->previous = a->stack[a->stack_depth].previous;
}

void wmi_asm_previous_section(struct wmi_assembler *a, struct wmi_cursor *c, int unused)
{
    (void)unused;
    if (!a->previous)
        wmi_asm_error(a, c->at, ".previous without a section before this one");
    else
        select_section(a, a->previous);
}

/* .ident "text" goes to .comment, which begins with an empty string. */
void wmi_asm_identify(struct wmi_assembler *a, struct wmi_cursor *c, int unused)
{
    (void)unused;
    struct wmi_asm_section *comment =
        wmi_asm_section(a, ".comment", strlen(".comment"), SHT_PROGBITS, SHF_MERGE | SHF_STRINGS);
    comment->entry_size = 1;
    if (!comment->bytes.size)
        wmi_asm_append(a, &comment->bytes, "", 1);
    if (wmi_asm_read_string(a, c, &comment->bytes)) {
        wmi_asm_append(a, &comment->bytes, "", 1);
        wmi_asm_at_end(a, c);
    }
}

/* .version "text": a note of type NT_VERSION with a name and no description. */
void wmi_asm_version(struct wmi_assembler *a, struct wmi_cursor *c, int unused)
{
    uint32_t head[] = {0, 0, NT_VERSION}; /* size of the name, size of the description, type */
    struct wmi_asm_section *note = wmi_asm_section(a, ".note", strlen(".note"), SHT_NOTE, 0);
    (void)unused;
    a->scratch.size = 0;
    if (!wmi_asm_read_string(a, c, &a->scratch) || !wmi_asm_at_end(a, c))
        return;
    wmi_asm_append(a, &a->scratch, "", 1);
    head[0] = (uint32_t)a->scratch.size;
    if (note->alignment < 4)
        note->alignment = 4;
    wmi_asm_append(a, &note->bytes, head, sizeof head);
    wmi_asm_append(a, &note->bytes, a->scratch.data, a->scratch.size);
    wmi_asm_append(a, &note->bytes, NULL, -note->bytes.size & 3);
}

/* ---- symbols ---- */

static bool next_symbol(struct wmi_assembler *a, struct wmi_cursor *c, struct wmi_asm_symbol **symbol)
{
    const char *name;
    size_t length;
    if (!wmi_asm_read_name(a, c, &name, &length))
        return false;
    *symbol = wmi_asm_symbol(a, name, length);
    return true;
}

static bool comma(struct wmi_assembler *a, struct wmi_cursor *c)
{
    return wmi_take(c, ',') || (wmi_asm_error(a, c->at, "expected ','"), false);
}

void wmi_asm_bind(struct wmi_assembler *a, struct wmi_cursor *c, int binding)
{
    struct wmi_asm_symbol *s;
    do {
        if (!next_symbol(a, c, &s))
            return;
        s->binding = (uint8_t)binding;
    } while (wmi_take(c, ','));
    wmi_asm_at_end(a, c);
}

void wmi_asm_show(struct wmi_assembler *a, struct wmi_cursor *c, int visibility)
{
    struct wmi_asm_symbol *s;
    do {
        if (!next_symbol(a, c, &s))
            return;
        s->visibility = (uint8_t)visibility;
    } while (wmi_take(c, ','));
    wmi_asm_at_end(a, c);
}

/* .type name, @function; also %function, #function, "function" and STT_FUNC */
void wmi_asm_symbol_type(struct wmi_assembler *a, struct wmi_cursor *c, int unused)
{
    static const struct {
        const char *name, *constant;
        uint8_t type;
    } types[] = {{"function", "STT_FUNC", STT_FUNC},
                 {"object", "STT_OBJECT", STT_OBJECT},
                 {"notype", "STT_NOTYPE", STT_NOTYPE},
                 {"tls_object", "STT_TLS", STT_TLS},
                 {"common", "STT_COMMON", STT_OBJECT},
                 {"gnu_unique_object", "", STT_OBJECT},
                 {"gnu_indirect_function", "STT_GNU_IFUNC", STT_GNU_IFUNC}};
    struct wmi_asm_symbol *s;
    (void)unused;
    if (!next_symbol(a, c, &s))
        return;
    wmi_take(c, ',');
    if (!wmi_take(c, '@') && !wmi_take(c, '%') && !wmi_take(c, '#'))
        wmi_take(c, '"');
    const size_t length = wmi_name_length(c);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (length && (wmi_asm_word_is(c->at, length, types[i].name) ||
                       wmi_asm_word_is(c->at, length, types[i].constant))) {
            s->type = types[i].type;
            c->at += length;
            wmi_take(c, '"');
            wmi_asm_at_end(a, c);
            return;
        }
    wmi_asm_error(a, c->at, "expected @function, @object or @notype");
}

void wmi_asm_symbol_size(struct wmi_assembler *a, struct wmi_cursor *c, int unused)
{
    struct wmi_asm_symbol *s;
    struct wmi_value value;
    (void)unused;
    if (!next_symbol(a, c, &s) || !comma(a, c))
        return;
    wmi_asm_begin_expression(a);
    c->wrong = NULL;
    const char *at = c->at;
    if (!wmi_read_expression(c, &value))
        wmi_asm_failed(a, c);
    else if (a->saw_late)
        wmi_asm_note_late(a, a->statement, c->end, UINT8_MAX);
    else if (value.base)
        wmi_asm_error(a, at, "expected a size that is a number");
    else if (wmi_asm_at_end(a, c))
        s->size = (uint64_t)value.number;
}

static bool read_alignment(struct wmi_assembler *a, struct wmi_cursor *c, int64_t *alignment)
{
    enum { MOST = 1 << 16 };
    const char *at = c->at;
    if (!wmi_asm_read_number(a, c, alignment))
        return false;
    if (*alignment >= 1 && *alignment <= MOST && !(*alignment & (*alignment - 1)))
        return true;
    wmi_asm_error(a, at, "expected a power of two up to 65536");
    return false;
}

static bool read_size(struct wmi_assembler *a, struct wmi_cursor *c, int64_t most, int64_t *size)
{
    const char *at = c->at;
    if (!wmi_asm_read_number(a, c, size))
        return false;
    if (*size >= 0 && *size <= most)
        return true;
    wmi_asm_error(a, at, "expected a size from 0 to %lld bytes", (long long)most);
    return false;
}

/* .comm name, size[, power of its alignment]: allocated here, because no other object file defines it. */
void wmi_asm_common(struct wmi_assembler *a, struct wmi_cursor *c, int binding)
{
    enum { MOST = 1 << 24, MOST_POWER = 16 };
    static const char name[] = "COMMON";
    struct wmi_asm_symbol *s;
    int64_t size, power = 0;
    wmi_skip_space(c);
    const char *at = c->at;
    if (!next_symbol(a, c, &s) || !comma(a, c) || !read_size(a, c, MOST, &size) ||
        (wmi_take(c, ',') && !wmi_asm_read_number(a, c, &power)) || !wmi_asm_at_end(a, c))
        return;
    if (power < 0 || power > MOST_POWER) {
        wmi_asm_error(a, at, "expected an alignment that is a power from 0 to %u", MOST_POWER);
        return;
    }
    const int64_t alignment = INT64_C(1) << power;
    struct wmi_asm_section *const before = a->section;
    struct wmi_asm_section *bss = wmi_asm_section(a, name, strlen(name), SHT_NOBITS, SHF_ALLOC | SHF_WRITE);
    if (bss->alignment < (uint64_t)alignment)
        bss->alignment = (uint64_t)alignment;
    wmi_asm_append(a, &bss->bytes, NULL, -bss->bytes.size & (size_t)(alignment - 1));
    a->section = bss;
    if (wmi_asm_define(a, at, s)) {
        s->binding = (uint8_t)binding;
        s->type = STT_OBJECT;
        s->size = (uint64_t)size;
        wmi_asm_append(a, &bss->bytes, NULL, (size_t)size);
    }
    a->section = before;
}

/* .amdgpu_lds name, size[, alignment]: an LDS variable. It is not part of the code object; because no other
 * object file is linked, it gets its LDS offset here: in file order, aligned. (LLVM leaves this to the
 * linker, and Debian's does not do it.) Source: LLVM 19 AMDGPUAsmParser.cpp, ParseDirectiveAMDGPULDS. */
void wmi_asm_lds(struct wmi_assembler *a, struct wmi_cursor *c, int unused)
{

    struct wmi_asm_symbol *s;
    int64_t size, alignment = 4;
    (void)unused;
    wmi_skip_space(c);
    const char *at = c->at;
    if (!next_symbol(a, c, &s) || !comma(a, c) || !read_size(a, c, WMI_ASM_LDS, &size) ||
        (wmi_take(c, ',') && !read_alignment(a, c, &alignment)) || !wmi_asm_at_end(a, c))
        return;
    if (s->defined) {
        wmi_asm_error(a, at, "'%s' is defined already", s->name);
        return;
    }
    a->lds_size = (a->lds_size + (uint64_t)alignment - 1) & ~(uint64_t)(alignment - 1);
    s->value = (struct wmi_value){.number = (int64_t)a->lds_size, .literal = true};
    s->defined = true;
    s->binding = STB_GLOBAL;
    s->type = STT_OBJECT;
    s->size = (uint64_t)size;
    a->lds_size += (uint64_t)size;
}
