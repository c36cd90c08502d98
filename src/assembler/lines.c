/* SPDX-License-Identifier: MIT */
/* .file and .loc: the source line of each instruction, emitted as .debug_line.
 *
 * Source: DWARF 5, section 6.2; LLVM 19 MCDwarf.cpp where the standard leaves a choice, so that the bytes
 * equal LLVM's; AsmParser.cpp, parseDirectiveFile and parseDirectiveLoc. The version is 4 unless a file has
 * the number 0, which requires version 5. */
#include "assembler/dwarf_numbers.h"
#include "assembler/parts.h"

#include <ctype.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FILES = 1 << 14, MD5_BYTES = 16, BUCKETS = 1 << 10 };
enum { IS_STMT = 1, BASIC_BLOCK = 2, PROLOGUE_END = 4, EPILOGUE_BEGIN = 8 };
enum { LINE_BASE = -5, LINE_RANGE = 14, OPCODE_BASE = 13, INSTRUCTION_BYTES = 4 };

/* LLVM's extension: the text of a source file. */
enum { DW_LNCT_LLVM_SOURCE = 0x2001 };

struct source_file {
    const char *name;   /* NULL: the number is unused */
    const char *source; /* its text, or NULL */
    const char *path;   /* as in messages, for files of own lines; always the same pointer */
    unsigned folder;    /* folder number + 1; 0: the compilation folder */
    bool has_md5;
    uint8_t md5[MD5_BYTES];
};

struct row {
    uint64_t offset; /* in its section */
    uint32_t file, line, discriminator;
    uint16_t column;
    uint8_t isa, flags;
};

/* The rows of one section. */
struct sequence {
    struct sequence *next;
    struct wmi_asm_section *section;
    struct wmi_bytes rows;
};

/* A text with a number, in a hash table bucket. */
struct numbered {
    struct numbered *next;
    const char *text;
    size_t number;
};

struct wmi_asm_lines {
    unsigned version;
    const char *folder;      /* compilation folder */
    struct source_file root; /* number 0 */
    struct source_file *files;
    const char **folders;
    unsigned file_count, file_room; /* the first entry means no file */
    unsigned folder_count, folder_room;
    bool all_md5, any_md5, any_source, warned;
    struct row now; /* from the last .loc */
    struct sequence *sequences, **last;
    struct wmi_bytes strings;                                   /* .debug_line_str */
    struct numbered *folder_numbers[BUCKETS], *places[BUCKETS]; /* places: in strings */
};

static struct wmi_asm_lines *lines_of(struct wmi_assembler *a)
{
    if (!a->lines) {
        a->lines = wmi_asm_allocate(a, 1, sizeof *a->lines);
        *a->lines = (struct wmi_asm_lines){
            .version = 4, .folder = "", .all_md5 = true, .now.flags = IS_STMT, .last = &a->lines->sequences};
    }
    return a->lines;
}

void wmi_asm_free_lines(struct wmi_assembler *a)
{
    if (!a->lines)
        return;
    for (struct sequence *s = a->lines->sequences; s; s = s->next)
        free(s->rows.data);
    free(a->lines->strings.data);
}

/* ---- .file ---- */

static bool read_text(struct wmi_assembler *a, struct wmi_cursor *c, const char **text)
{
    wmi_skip_space(c);
    a->scratch.size = 0;
    if (!wmi_asm_read_string(a, c, &a->scratch))
        return false;
    *text = wmi_asm_text(a, a->scratch.size ? (char *)a->scratch.data : "", a->scratch.size);
    return true;
}

/* 0x and up to 32 digits */
static bool read_md5(struct wmi_assembler *a, struct wmi_cursor *c, uint8_t *md5)
{
    unsigned __int128 number = 0;
    wmi_skip_space(c);
    const char *const start = c->at;
    const bool hexadecimal = c->end - start > 2 && start[0] == '0' && (start[1] == 'x' || start[1] == 'X');
    const char *at = start + (hexadecimal ? 2 : 0);
    for (; hexadecimal && at < c->end && isxdigit((unsigned char)*at); at++)
        number = number << 4 |
                 (unsigned)(isdigit((unsigned char)*at) ? *at - '0' : tolower((unsigned char)*at) - 'a' + 10);
    if (at - start < 3 || at - start > 2 + 2 * MD5_BYTES) {
        wmi_asm_error(a, start, "expected 0x and 32 hexadecimal digits");
        return false;
    }
    for (unsigned i = 0; i < MD5_BYTES; i++)
        md5[i] = (uint8_t)(number >> 8 * (MD5_BYTES - 1 - i));
    c->at = at;
    return true;
}

/* The array with room for another element, reallocated if necessary. */
static void *with_room(struct wmi_assembler *a, void *array, unsigned count, unsigned *room, size_t size)
{
    enum { FIRST = 16 };
    if (count < *room)
        return array;
    *room = 2 * count > FIRST ? 2 * count : FIRST;
    char *more = wmi_asm_allocate(a, *room, size);
    if (array)
        memcpy(more, array, count * size);
    return more;
}

/* The text's number in the table; a new text gets `number`. The text is not copied. */
static size_t number_of(struct wmi_assembler *a, struct numbered **table, const char *text, size_t number)
{
    struct numbered **at = &table[wmi_asm_hash(text, strlen(text)) % BUCKETS];
    while (*at && strcmp((*at)->text, text))
        at = &(*at)->next;
    if (!*at) {
        *at = wmi_asm_allocate(a, 1, sizeof **at);
        **at = (struct numbered){.text = text, .number = number};
    }
    return (*at)->number;
}

static unsigned number_of_folder(struct wmi_assembler *a, const char *name)
{
    struct wmi_asm_lines *lines = a->lines;
    const size_t number = number_of(a, lines->folder_numbers, name, lines->folder_count + 1);
    if (number <= lines->folder_count)
        return (unsigned)number;
    lines->folders =
        with_room(a, lines->folders, lines->folder_count, &lines->folder_room, sizeof *lines->folders);
    lines->folders[lines->folder_count++] = name;
    return lines->folder_count;
}

static void note_md5(struct wmi_asm_lines *lines, const struct source_file *file)
{
    lines->all_md5 &= file->has_md5;
    lines->any_md5 |= file->has_md5;
    lines->any_source |= file->source != NULL;
}

static bool is_root(const struct wmi_asm_lines *lines, const struct source_file *file)
{
    return lines->version >= 5 && lines->root.name && !strcmp(lines->root.name, file->name) &&
           lines->root.has_md5 == file->has_md5 && !memcmp(lines->root.md5, file->md5, MD5_BYTES);
}

/* Splits a file name at its last slash, unless the folder is given separately. */
static void split_name(struct wmi_assembler *a, const char **folder, const char **name)
{
    const char *slash = strrchr(*name, '/');
    if (**folder || !slash || !slash[1])
        return;
    const char *end = slash;
    while (end > *name + 1 && end[-1] == '/')
        end--;
    *folder = wmi_asm_text(a, *name, end > *name ? (size_t)(end - *name) : 1);
    *name = slash + 1;
}

static void add_file(struct wmi_assembler *a, int64_t number, const char *folder, struct source_file *file)
{
    struct wmi_asm_lines *lines = a->lines;
    if (!strcmp(folder, lines->folder))
        folder = "";
    if (!*file->name) {
        file->name = "<stdin>";
        folder = "";
    }
    if (!lines->file_count)
        note_md5(lines, file);
    if (is_root(lines, file))
        return;
    while (lines->file_count <= number) {
        lines->files = with_room(a, lines->files, lines->file_count, &lines->file_room, sizeof *file);
        lines->files[lines->file_count++] = (struct source_file){0};
    }
    if (lines->files[number].name) {
        wmi_asm_error(a, a->statement, "file %u has a name already, '%s'", (unsigned)number,
                      lines->files[number].name);
        return;
    }
    split_name(a, &folder, &file->name);
    file->folder = *folder ? number_of_folder(a, folder) : 0;
    lines->files[number] = *file;
    note_md5(lines, file);
}

/* Options after a file name: md5 0x..., source "..." */
static bool read_file_options(struct wmi_assembler *a, struct wmi_cursor *c, struct source_file *file)
{
    for (;;) {
        const size_t length = wmi_name_length(c);
        const char *word = c->at;
        if (c->at == c->end)
            return true;
        c->at += length;
        if (wmi_asm_word_is(word, length, "md5")) {
            if (!read_md5(a, c, file->md5))
                return false;
            file->has_md5 = true;
        } else if (wmi_asm_word_is(word, length, "source")) {
            if (!read_text(a, c, &file->source))
                return false;
        } else {
            wmi_asm_error(a, word, "expected md5, source or the end of the line");
            return false;
        }
    }
}

/* .file "name" | .file number ["folder"] "name" [md5 0x...] [source "text"] */
void wmi_asm_file(struct wmi_assembler *a, struct wmi_cursor *c, int unused)
{
    struct source_file file = {0};
    const char *folder = "";
    int64_t number;
    (void)unused;
    wmi_skip_space(c);
    const char *at = c->at;
    if (c->at < c->end && *c->at == '"') { /* a name alone is for the symbol table, which omits it */
        if (read_text(a, c, &file.name))
            wmi_asm_at_end(a, c);
        return;
    }
    if (!wmi_asm_read_number(a, c, &number))
        return;
    if (number < 0 || number >= MOST_FILES) {
        wmi_asm_error(a, at, "expected the number of a file from 0 to %u", MOST_FILES - 1);
        return;
    }
    if (!read_text(a, c, &file.name))
        return;
    wmi_skip_space(c);
    if (c->at < c->end && *c->at == '"') {
        folder = file.name;
        if (!read_text(a, c, &file.name))
            return;
    }
    if (!read_file_options(a, c, &file))
        return;
    if (a->own_lines && a->lines) {
        wmi_asm_error(a, at, "expected .file with a number before the first instruction");
        return;
    }
    a->own_lines = false; /* the text has line information of its own */
    struct wmi_asm_lines *lines = lines_of(a);
    if (number) {
        add_file(a, number, folder, &file);
    } else {
        lines->version = 5;
        lines->folder = folder;
        lines->root = file;
        note_md5(lines, &file);
    }
    if (!lines->warned && lines->file_count && lines->all_md5 != lines->any_md5) {
        lines->warned = true;
        wmi_asm_warning(a, a->statement, "some files have an md5 and some do not: none is written");
    }
}

/* ---- .loc ---- */

void wmi_asm_add_row(struct wmi_assembler *a)
{
    struct wmi_asm_lines *lines = a->lines;
    struct sequence *s = lines->sequences;
    while (s && s->section != a->section)
        s = s->next;
    if (!s) {
        s = wmi_asm_allocate(a, 1, sizeof *s);
        s->section = a->section;
        *lines->last = s;
        lines->last = &s->next;
    }
    lines->now.offset = a->section->bytes.size;
    a->row_pending = false;
    wmi_asm_append(a, &s->rows, &lines->now, sizeof lines->now);
}

/* The number of the file being read; called for every line. */
static unsigned own_file(struct wmi_assembler *a)
{
    struct wmi_asm_lines *lines = lines_of(a);
    const char *name = a->place.name;
    for (unsigned i = lines->file_count; i-- > 1;)
        if (lines->files[i].path == name || !strcmp(lines->files[i].path, name))
            return i;
    if (lines->file_count >= MOST_FILES)
        return 1;
    const unsigned number = lines->file_count ? lines->file_count : 1;
    struct source_file file = {.name = strcmp(name, "-") ? name : "<stdin>", .path = name};
    add_file(a, number, "", &file);
    return number;
}

void wmi_asm_add_own_row(struct wmi_assembler *a)
{
    const unsigned file = own_file(a);
    a->lines->now = (struct row){.file = file, .line = a->place.number, .flags = IS_STMT};
    wmi_asm_add_row(a);
}

static bool read_row_options(struct wmi_assembler *a, struct wmi_cursor *c, struct row *row)
{
    static const struct {
        const char *name;
        uint8_t flag;
    } flags[] = {
        {"basic_block", BASIC_BLOCK}, {"prologue_end", PROLOGUE_END}, {"epilogue_begin", EPILOGUE_BEGIN}};
    int64_t value;
    for (;;) {
        const size_t length = wmi_name_length(c);
        const char *word = c->at;
        bool known = false;
        if (c->at == c->end)
            return true;
        c->at += length;
        for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
            if (wmi_asm_word_is(word, length, flags[i].name)) {
                row->flags |= flags[i].flag;
                known = true;
            }
        if (known)
            continue;
        const bool is_stmt = wmi_asm_word_is(word, length, "is_stmt"),
                   isa = wmi_asm_word_is(word, length, "isa");
        if (!is_stmt && !isa && !wmi_asm_word_is(word, length, "discriminator")) {
            wmi_asm_error(
                a, word, "expected basic_block, prologue_end, epilogue_begin, is_stmt, isa or discriminator");
            return false;
        }
        if (!wmi_asm_read_number(a, c, &value))
            return false;
        if (is_stmt ? value != 0 && value != 1 : isa && value < 0) {
            wmi_asm_error(a, word, is_stmt ? "expected 0 or 1 for is_stmt" : "expected a positive number");
            return false;
        }
        if (is_stmt)
            row->flags = (uint8_t)((row->flags & ~IS_STMT) | value);
        else if (isa)
            row->isa = (uint8_t)value;
        else
            row->discriminator = (uint32_t)value;
    }
}

static bool has_file(const struct wmi_asm_lines *lines, int64_t number)
{
    return number == 0 ? lines->version >= 5
                       : number > 0 && number < lines->file_count && lines->files[number].name;
}

static bool at_digit(struct wmi_cursor *c)
{
    wmi_skip_space(c);
    return c->at < c->end && isdigit((unsigned char)*c->at);
}

/* .loc file [line [column]] [options] */
void wmi_asm_location(struct wmi_assembler *a, struct wmi_cursor *c, int unused)
{
    struct wmi_asm_lines *lines = lines_of(a);
    int64_t file, line = 0, column = 0;
    (void)unused;
    wmi_skip_space(c);
    const char *at = c->at;
    if (!at_digit(c)) {
        wmi_asm_error(a, at, "expected the number of a file");
        return;
    }
    if (!wmi_asm_read_number(a, c, &file))
        return;
    if (!has_file(lines, file)) {
        wmi_asm_error(a, at, "no .file %lld \"name\" comes before this", (long long)file);
        return;
    }
    if ((at_digit(c) && !wmi_asm_read_number(a, c, &line)) ||
        (at_digit(c) && !wmi_asm_read_number(a, c, &column)))
        return;
    struct row row = {.file = (uint32_t)file,
                      .line = (uint32_t)line,
                      .column = (uint16_t)column,
                      .flags = lines->now.flags & IS_STMT};
    if (!read_row_options(a, c, &row))
        return;
    if (a->row_pending) /* two in a row: emit the first, too */
        wmi_asm_add_row(a);
    lines->now = row;
    a->row_pending = true;
}

/* ---- .debug_line ---- */

static void put(struct wmi_assembler *a, struct wmi_asm_section *s, uint64_t value, size_t bytes)
{
    wmi_asm_append(a, &s->bytes, &value, bytes);
}

static void put_leb(struct wmi_assembler *a, struct wmi_asm_section *s, int64_t value)
{
    wmi_asm_append_leb(a, &s->bytes, value, false);
}

/* Sets the length field at `at` to the number of bytes that follow it. */
static void patch_length(struct wmi_asm_section *s, size_t at)
{
    const uint32_t length = (uint32_t)(s->bytes.size - at - 4);
    memcpy(s->bytes.data + at, &length, sizeof length);
}

/* Emits the offset of a string in .debug_line_str, without duplicates. */
static void put_string(struct wmi_assembler *a, struct wmi_asm_section *s, const char *text)
{
    struct wmi_bytes *strings = &a->lines->strings;
    struct wmi_asm_section *section = wmi_asm_section(a, ".debug_line_str", strlen(".debug_line_str"),
                                                      SHT_PROGBITS, SHF_MERGE | SHF_STRINGS);
    const size_t at = number_of(a, a->lines->places, text, strings->size);
    section->entry_size = 1;
    if (at == strings->size)
        wmi_asm_append(a, strings, text, strlen(text) + 1);
    wmi_asm_relocate(a, s, s->bytes.size, &(struct wmi_value){.number = (int64_t)at, .base = section}, 4,
                     false);
    put(a, s, 0, 4);
}

static void put_file(struct wmi_assembler *a, struct wmi_asm_section *s, const struct source_file *file)
{
    put_string(a, s, file->name);
    put_leb(a, s, file->folder);
    if (a->lines->all_md5)
        wmi_asm_append(a, &s->bytes, file->md5, MD5_BYTES);
    if (a->lines->any_source)
        put_string(a, s, file->source ? file->source : "");
}

static void put_files_5(struct wmi_assembler *a, struct wmi_asm_section *s)
{
    const struct wmi_asm_lines *lines = a->lines;
    const uint16_t formats[][2] = {{DW_LNCT_path, DW_FORM_line_strp},
                                   {DW_LNCT_directory_index, DW_FORM_udata},
                                   {DW_LNCT_MD5, DW_FORM_data16},
                                   {DW_LNCT_LLVM_SOURCE, DW_FORM_line_strp}};
    const bool used[] = {true, true, lines->all_md5, lines->any_source};
    put(a, s, 1, 1);
    put_leb(a, s, DW_LNCT_path);
    put_leb(a, s, DW_FORM_line_strp);
    put_leb(a, s, lines->folder_count + 1);
    put_string(a, s, lines->folder);
    for (unsigned i = 0; i < lines->folder_count; i++)
        put_string(a, s, lines->folders[i]);
    put(a, s, 2u + lines->all_md5 + lines->any_source, 1);
    for (size_t i = 0; i < sizeof used; i++)
        for (unsigned part = 0; used[i] && part < 2; part++)
            put_leb(a, s, formats[i][part]);
    put_leb(a, s, lines->file_count ? lines->file_count : 1);
    put_file(a, s, &lines->root);
    for (unsigned i = 1; i < lines->file_count; i++)
        put_file(a, s, &lines->files[i]);
}

static void put_files_4(struct wmi_assembler *a, struct wmi_asm_section *s)
{
    const struct wmi_asm_lines *lines = a->lines;
    for (unsigned i = 0; i < lines->folder_count; i++)
        wmi_asm_append(a, &s->bytes, lines->folders[i], strlen(lines->folders[i]) + 1);
    put(a, s, 0, 1);
    for (unsigned i = 1; i < lines->file_count; i++) {
        const char *name = lines->files[i].name;
        wmi_asm_append(a, &s->bytes, name, strlen(name) + 1);
        put_leb(a, s, lines->files[i].folder);
        put(a, s, 0, 2); /* no time and size */
    }
    put(a, s, 0, 1);
}

/* Emits the advance of one row, or with `ends` the end of a sequence. */
static void put_step(struct wmi_assembler *a, struct wmi_asm_section *s, int64_t lines, uint64_t bytes,
                     bool ends)
{
    enum { MOST_STEP = (255 - OPCODE_BASE) / LINE_RANGE };
    const uint64_t step = bytes / INSTRUCTION_BYTES;
    if (ends) {
        if (step == MOST_STEP) {
            put(a, s, DW_LNS_const_add_pc, 1);
        } else if (step) {
            put(a, s, DW_LNS_advance_pc, 1);
            put_leb(a, s, (int64_t)step);
        }
        put(a, s, DW_LNE_end_sequence << 16 | 1 << 8, 3); /* extended opcode of one byte */
        return;
    }
    const bool far = lines < LINE_BASE || lines >= LINE_BASE + LINE_RANGE;
    if (far) {
        put(a, s, DW_LNS_advance_line, 1);
        wmi_asm_append_leb(a, &s->bytes, lines, true);
        lines = 0;
    }
    if (!lines && !step) {
        put(a, s, DW_LNS_copy, 1);
        return;
    }
    const uint64_t special = (uint64_t)(lines - LINE_BASE + OPCODE_BASE);
    if (step <= MOST_STEP && special + step * LINE_RANGE <= 255) {
        put(a, s, special + step * LINE_RANGE, 1);
    } else if (step >= MOST_STEP && step <= 2 * MOST_STEP &&
               special + (step - MOST_STEP) * LINE_RANGE <= 255) {
        put(a, s, DW_LNS_const_add_pc, 1);
        put(a, s, special + (step - MOST_STEP) * LINE_RANGE, 1);
    } else {
        put(a, s, DW_LNS_advance_pc, 1);
        put_leb(a, s, (int64_t)step);
        put(a, s, far ? DW_LNS_copy : special, 1);
    }
}

static void put_address(struct wmi_assembler *a, struct wmi_asm_section *s,
                        const struct wmi_asm_section *section, uint64_t offset)
{
    put(a, s, DW_LNE_set_address << 16 | 9 << 8, 3);
    wmi_asm_relocate(a, s, s->bytes.size, &(struct wmi_value){.number = (int64_t)offset, .base = section}, 8,
                     false);
    put(a, s, 0, 8);
}

/* Emits the changes from the previous row other than line and address. */
static void put_changes(struct wmi_assembler *a, struct wmi_asm_section *s, const struct row *before,
                        const struct row *row)
{
    static const struct {
        uint8_t flag, opcode;
    } marks[] = {{BASIC_BLOCK, DW_LNS_set_basic_block},
                 {PROLOGUE_END, DW_LNS_set_prologue_end},
                 {EPILOGUE_BEGIN, DW_LNS_set_epilogue_begin}};
    if (before->file != row->file) {
        put(a, s, DW_LNS_set_file, 1);
        put_leb(a, s, row->file);
    }
    if (before->column != row->column) {
        put(a, s, DW_LNS_set_column, 1);
        put_leb(a, s, row->column);
    }
    if (row->discriminator) { /* reset by each row */
        unsigned length = 2;
        for (uint32_t rest = row->discriminator; rest >>= 7;)
            length++;
        put(a, s, 0, 1);
        put_leb(a, s, length);
        put(a, s, DW_LNE_set_discriminator, 1);
        put_leb(a, s, row->discriminator);
    }
    if (before->isa != row->isa) {
        put(a, s, DW_LNS_set_isa, 1);
        put_leb(a, s, row->isa);
    }
    if ((before->flags ^ row->flags) & IS_STMT)
        put(a, s, DW_LNS_negate_stmt, 1);
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (row->flags & marks[i].flag)
            put(a, s, marks[i].opcode, 1);
}

static void put_sequence(struct wmi_assembler *a, struct wmi_asm_section *s, const struct sequence *sequence)
{
    struct row before = {.file = 1, .line = 1, .flags = IS_STMT};
    const struct row *rows = (const struct row *)(const void *)sequence->rows.data;
    const size_t count = sequence->rows.size / sizeof *rows;
    for (size_t i = 0; i < count; i++) {
        put_changes(a, s, &before, &rows[i]);
        if (!i)
            put_address(a, s, sequence->section, rows[i].offset);
        put_step(a, s, (int64_t)rows[i].line - before.line, i ? rows[i].offset - before.offset : 0, false);
        before = rows[i];
    }
    put_step(a, s, 0, sequence->section->bytes.size - before.offset, true);
}

void wmi_asm_write_lines(struct wmi_assembler *a)
{
    static const uint8_t operands[OPCODE_BASE - 1] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
    const struct wmi_asm_lines *lines = a->lines;
    if (!lines || (lines->version < 5 && !lines->file_count))
        return;
    for (unsigned i = 1; i < lines->file_count; i++)
        if (!lines->files[i].name) {
            wmi_asm_error(a, a->place.line, "no .file has the number %u, but one has %u", i,
                          lines->file_count - 1);
            return;
        }
    struct wmi_asm_section *s = wmi_asm_section(a, ".debug_line", strlen(".debug_line"), SHT_PROGBITS, 0);
    const size_t begin = s->bytes.size;
    put(a, s, 0, 4);
    put(a, s, lines->version, 2);
    if (lines->version >= 5)
        put(a, s, 8, 2); /* address size, segment selector size */
    const size_t header = s->bytes.size;
    put(a, s, 0, 4);
    put(a, s, INSTRUCTION_BYTES, 1);
    put(a, s, 1, 1); /* operations per instruction */
    put(a, s, 1, 1); /* default_is_stmt */
    put(a, s, (uint8_t)LINE_BASE, 1);
    put(a, s, LINE_RANGE, 1);
    put(a, s, OPCODE_BASE, 1);
    wmi_asm_append(a, &s->bytes, operands, sizeof operands);
    if (lines->version >= 5)
        put_files_5(a, s);
    else
        put_files_4(a, s);
    patch_length(s, header);
    for (const struct sequence *q = lines->sequences; q; q = q->next)
        put_sequence(a, s, q);
    patch_length(s, begin);
    if (lines->version >= 5) {
        struct wmi_asm_section *strings =
            wmi_asm_section(a, ".debug_line_str", strlen(".debug_line_str"), SHT_PROGBITS, 0);
        wmi_asm_append(a, &strings->bytes, lines->strings.data, lines->strings.size);
    }
}

/* ---- own lines ---- */

static struct wmi_asm_section *debug_section(struct wmi_assembler *a, const char *name)
{
    return wmi_asm_section(a, name, strlen(name), SHT_PROGBITS, 0);
}

/* Emits an address or offset as a relocation. */
static void put_place(struct wmi_assembler *a, struct wmi_asm_section *s, const struct wmi_asm_section *to,
                      uint64_t offset, unsigned bytes)
{
    wmi_asm_relocate(a, s, s->bytes.size, &(struct wmi_value){.number = (int64_t)offset, .base = to}, bytes,
                     false);
    put(a, s, 0, bytes);
}

/* Writes a compilation unit with only its address range and line table. */
void wmi_asm_write_unit(struct wmi_assembler *a)
{
    static const uint8_t abbreviations[] = {1,
                                            DW_TAG_compile_unit,
                                            DW_CHILDREN_no,
                                            DW_AT_stmt_list,
                                            DW_FORM_sec_offset,
                                            DW_AT_ranges,
                                            DW_FORM_sec_offset,
                                            DW_AT_language,
                                            DW_FORM_data2,
                                            DW_AT_name,
                                            DW_FORM_string,
                                            DW_AT_low_pc,
                                            DW_FORM_addr,
                                            0,
                                            0,
                                            0};
    if (!a->own_lines || !a->lines || !a->lines->sequences)
        return;
    struct wmi_asm_section *info = debug_section(a, ".debug_info"),
                           *ranges = debug_section(a, ".debug_ranges"),
                           *abbrev = debug_section(a, ".debug_abbrev");
    const char *name = a->lines->files[1].name;
    const size_t begin = info->bytes.size;
    put(a, info, 0, 4);
    put(a, info, 4, 2); /* version */
    put_place(a, info, abbrev, abbrev->bytes.size, 4);
    put(a, info, 8, 1); /* address size */
    put(a, info, 1, 1); /* abbreviation code */
    put_place(a, info, debug_section(a, ".debug_line"), 0, 4);
    put_place(a, info, ranges, ranges->bytes.size, 4);
    put(a, info, DW_LANG_Mips_Assembler, 2);
    wmi_asm_append(a, &info->bytes, name, strlen(name) + 1);
    put(a, info, 0, 8);
    patch_length(info, begin);
    for (const struct sequence *s = a->lines->sequences; s; s = s->next) {
        put_place(a, ranges, s->section, 0, 8);
        put_place(a, ranges, s->section, s->section->bytes.size, 8);
    }
    wmi_asm_append(a, &ranges->bytes, NULL, 16);
    wmi_asm_append(a, &abbrev->bytes, abbreviations, sizeof abbreviations);
}
