/* SPDX-License-Identifier: MIT */
/* Listings of code: as llvm-objdump -d -z prints them, with parts left out or added, or as JSON.
 *
 * Long code is what this has to be fast for: lines are put together in a buffer, not by printf. */
#include "listing.h"
#include "tool.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUFFER = 1 << 16,
    LONGEST_TEXT = 2048, /* a line's, but for names */
    TEXT_COLUMNS = 59,
    ADDRESS_DIGITS = 12,
    LONGEST_DWORDS = 8,
};

/* What is being written. */
struct output {
    char *at, *limit; /* past the limit a line may begin no more */
    char buffer[BUFFER + LONGEST_TEXT];
};

/* A section on its way to the output. */
struct run {
    const struct tool_listing *listing;
    const struct wm_code *code;
    struct wm_disassembler *disassembler;
    struct output *out;
    uint8_t *targets;     /* --labels: a bit for each dword that a branch leads to; or NULL */
    uint64_t next_symbol; /* the next address with a symbol */
    const char *symbol;   /* that the last instruction belongs to */
    const char *source;   /* file and line shown last */
    unsigned line;
    uint64_t printed;
};

static void flush(struct output *out)
{
    fwrite(out->buffer, 1, (size_t)(out->at - out->buffer), stdout);
    out->at = out->buffer;
}

static inline void put(struct output *out, const char *text, size_t length)
{
    memcpy(out->at, text, length);
    out->at += length;
}

static void put_text(struct output *out, const char *text)
{
    put(out, text, strlen(text));
}

/* A name of any length. */
static void put_name(struct output *out, const char *name)
{
    const size_t length = strlen(name);
    if (length < LONGEST_TEXT / 2) {
        put(out, name, length);
        return;
    }
    flush(out);
    fwrite(name, 1, length, stdout);
}

static inline void put_hex(struct output *out, uint64_t value, unsigned digits, const char *alphabet)
{
    for (unsigned i = digits; i--;) {
        out->at[i] = alphabet[value & 15];
        value >>= 4;
    }
    out->at += digits;
}

static void put_format(struct output *out, const char *format, uint64_t value)
{
    out->at += sprintf(out->at, format, value);
}

static const char upper[] = "0123456789ABCDEF", lower[] = "0123456789abcdef";

/* ---- labels ---- */

static struct wm_disassembled disassemble(const struct run *run, size_t at, uint32_t *words)
{
    const size_t left = (run->code->size - at) / 4, room = left < LONGEST_DWORDS ? left : LONGEST_DWORDS;
    memcpy(words, run->code->bytes + at, room * 4);
    return wm_disassembler_next(run->disassembler, words, room);
}

/* The bytes from the start of the section to where the branch at `at` leads. */
static int64_t destination(size_t at, const struct wm_disassembled *insn)
{
    return (int64_t)at + 4 * insn->dwords + 4 * (int64_t)insn->target;
}

static bool is_target(const struct run *run, int64_t at)
{
    return run->targets && at >= 0 && (uint64_t)at + 4 <= run->code->size &&
           run->targets[at / 32] >> (at / 4 % 8) & 1;
}

/* Waves of what comes next, if a symbol begins here. */
static void enter_symbol(struct run *run, uint64_t address)
{
    const unsigned lanes = wm_object_wave_size(run->listing->object, address);
    run->disassembler = run->listing->disassembler[lanes == 64];
}

/* Marks the places that branches lead to, if an instruction begins there. */
static bool find_targets(struct run *run)
{
    const size_t size = run->code->size / 32 + 1;
    uint8_t *begins = calloc(2, size), *reached = begins + size;
    uint32_t words[LONGEST_DWORDS];
    if (!begins)
        return false;
    for (size_t at = 0; at + 4 <= run->code->size;) {
        const uint64_t address = run->code->address + at;
        if (address >= run->next_symbol) {
            run->next_symbol = wm_object_next_symbol(run->listing->object, address + 1);
            enter_symbol(run, address);
        }
        const struct wm_disassembled insn = disassemble(run, at, words);
        const int64_t to = destination(at, &insn);
        begins[at / 32] |= (uint8_t)(1u << (at / 4 % 8));
        if (insn.branch && to >= 0 && (uint64_t)to < run->code->size)
            reached[to / 32] |= (uint8_t)(1u << (to / 4 % 8));
        at += 4u * insn.dwords;
    }
    for (size_t i = 0; i < size; i++)
        begins[i] &= reached[i];
    run->targets = begins;
    return true;
}

/* The text, in which the last word of a branch gives way to a label; returns its columns. */
static size_t put_instruction(struct run *run, size_t at, const struct wm_disassembled *insn)
{
    struct output *out = run->out;
    const int64_t to = destination(at, insn);
    size_t length = insn->length;
    if (!insn->branch || !is_target(run, to)) {
        put(out, insn->text, length);
        return length;
    }
    while (length && insn->text[length - 1] != ' ')
        length--;
    put(out, insn->text, length);
    const char *start = out->at;
    put_format(out, ".L%" PRIx64, (uint64_t)to);
    return length + (size_t)(out->at - start);
}

/* ---- text ---- */

/* Where a branch leads: <symbol+0x10>. */
static void put_destination(struct run *run, uint64_t address)
{
    uint64_t distance;
    const char *symbol = wm_object_symbol(run->listing->object, address, &distance);
    if (!symbol)
        return;
    put(run->out, " <", 2);
    put_name(run->out, symbol);
    if (distance)
        put_format(run->out, "+0x%" PRIx64, distance);
    put(run->out, ">", 1);
}

static void put_line(struct run *run, size_t at, const uint32_t *words, const struct wm_disassembled *insn)
{
    static const char spaces[] = "                                                           ";
    static_assert(sizeof(spaces) == TEXT_COLUMNS + 1, "as many as there are columns");
    const struct tool_listing *listing = run->listing;
    struct output *out = run->out;
    *out->at++ = '\t';
    const size_t columns = put_instruction(run, at, insn);
    if (listing->no_addresses && listing->no_bytes) {
        *out->at++ = '\n';
        return;
    }
    if (columns < TEXT_COLUMNS)
        put(out, spaces, TEXT_COLUMNS - columns);
    put(out, "//", 2);
    if (!listing->no_addresses) {
        *out->at++ = ' ';
        put_hex(out, run->code->address + at, ADDRESS_DIGITS, upper);
        *out->at++ = ':';
    }
    for (unsigned i = 0; i < insn->dwords && !listing->no_bytes; i++) {
        *out->at++ = ' ';
        put_hex(out, words[i], 8, upper);
    }
    if (insn->branch)
        put_destination(run, run->code->address + (uint64_t)destination(at, insn));
    *out->at++ = '\n';
}

/* The source line, where another begins. */
static void put_source(struct run *run, uint64_t address)
{
    const char *file;
    unsigned line;
    if (!wm_object_line(run->listing->object, address, &file, &line, NULL) ||
        (file == run->source && line == run->line))
        return;
    run->source = file;
    run->line = line;
    put_text(run->out, "; ");
    put_name(run->out, file);
    put_format(run->out, ":%" PRIu64 "\n", line);
}

static void put_headings(struct run *run, size_t at, bool begins)
{
    const struct tool_listing *listing = run->listing;
    struct output *out = run->out;
    /* as LLVM does: code that begins without a symbol has the section's name */
    const char *name = begins ? run->symbol : at ? NULL : run->code->section;
    if (name && *name && !listing->plain && (begins || !listing->symbol)) {
        *out->at++ = '\n';
        put_hex(out, run->code->address + at, 16, lower);
        put(out, " <", 2);
        put_name(out, name);
        put(out, ">:\n", 3);
    }
    if (is_target(run, (int64_t)at))
        put_format(out, ".L%" PRIx64 ":\n", at);
    if (listing->lines)
        put_source(run, run->code->address + at);
}

/* ---- JSON ---- */

static void put_string(struct output *out, const char *text)
{
    *out->at++ = '"';
    for (; *text; text++) {
        if ((unsigned char)*text < ' ')
            put_format(out, "\\u%04" PRIx64, (unsigned char)*text);
        else {
            if (*text == '"' || *text == '\\')
                *out->at++ = '\\';
            *out->at++ = *text;
        }
        if (out->at >= out->limit)
            flush(out);
    }
    *out->at++ = '"';
}

static void put_object(struct run *run, size_t at, const uint32_t *words, const struct wm_disassembled *insn)
{
    struct output *out = run->out;
    const uint64_t address = run->code->address + at;
    const char *file;
    unsigned line, column;
    put_text(out, run->printed ? ",\n{\"address\":" : "\n{\"address\":");
    put_format(out, "%" PRIu64 ",\"words\":[", address);
    for (unsigned i = 0; i < insn->dwords; i++)
        put_format(out, i ? ",%" PRIu64 : "%" PRIu64, words[i]);
    put_text(out, "],\"text\":");
    put_string(out, insn->text);
    if (insn->data)
        put_text(out, ",\"data\":true");
    if (insn->branch)
        put_format(out, ",\"target\":%" PRIu64, run->code->address + (uint64_t)destination(at, insn));
    if (run->symbol) {
        put_text(out, ",\"symbol\":");
        put_string(out, run->symbol);
    }
    if (run->code->section && run->code->section[0]) {
        put_text(out, ",\"section\":");
        put_string(out, run->code->section);
    }
    if (wm_object_line(run->listing->object, address, &file, &line, &column)) {
        put_text(out, ",\"file\":");
        put_string(out, file);
        put_format(out, ",\"line\":%" PRIu64, line);
        put_format(out, ",\"column\":%" PRIu64, column);
    }
    *out->at++ = '}';
}

/* ---- sections ---- */

static void list_instructions(struct run *run)
{
    const struct tool_listing *listing = run->listing;
    const struct wm_code *code = run->code;
    struct output *out = run->out;
    bool wanted = !listing->symbol;
    size_t at = 0;
    run->next_symbol = code->address;
    while (at + 4 <= code->size) {
        const uint64_t address = code->address + at;
        uint32_t words[LONGEST_DWORDS];
        bool begins = false;
        if (address >= run->next_symbol) {
            uint64_t distance;
            const char *symbol = wm_object_symbol(listing->object, address, &distance);
            begins = symbol && distance == 0;
            run->next_symbol = wm_object_next_symbol(listing->object, address + 1);
            if (begins) {
                run->symbol = symbol;
                wanted = !listing->symbol || strcmp(symbol, listing->symbol) == 0;
                enter_symbol(run, address);
            }
        }
        const struct wm_disassembled insn = disassemble(run, at, words);
        if (out->at >= out->limit)
            flush(out);
        if (wanted) {
            if (listing->json) {
                put_object(run, at, words, &insn);
            } else if (!listing->plain) {
                put_headings(run, at, begins);
                put_line(run, at, words, &insn);
            } else {
                put_headings(run, at, begins);
                put_instruction(run, at, &insn);
                *out->at++ = '\n';
            }
            run->printed++;
        }
        at += 4u * insn.dwords;
    }
    flush(out);
    for (; at < code->size && wanted && !listing->json; at++)
        printf("%s.byte 0x%02x\n", listing->plain ? "" : "\t", code->bytes[at]);
}

static int list_section(struct run *run)
{
    const struct tool_listing *listing = run->listing;
    const bool heading = !listing->plain && !listing->json && !listing->symbol;
    if (heading && run->code->section && run->code->section[0])
        printf("\nDisassembly of section %s:\n", run->code->section);
    run->disassembler = listing->disassembler[0];
    run->next_symbol = run->code->address;
    if (listing->labels && !find_targets(run))
        return tool_fail("out of memory");
    run->disassembler = listing->disassembler[0];
    list_instructions(run);
    free(run->targets);
    run->targets = NULL;
    return TOOL_CLEAN;
}

int tool_list(const struct tool_listing *listing, const struct wm_code *code, size_t count)
{
    struct output *out = malloc(sizeof(*out));
    if (!out)
        return tool_fail("out of memory");
    out->at = out->buffer;
    out->limit = out->buffer + BUFFER;
    if (!listing->plain && !listing->json && !listing->symbol)
        printf("\n%s:\tfile format %s, %s\n", listing->file,
               wm_object_version(listing->object) ? "elf64-amdgpu" : "raw instructions",
               wm_object_target(listing->object));
    if (listing->json)
        fputs("[", stdout);
    struct run run = {.listing = listing, .out = out};
    int result = TOOL_CLEAN;
    for (size_t i = 0; i < count && result == TOOL_CLEAN; i++) {
        run.code = &code[i];
        run.symbol = NULL;
        result = list_section(&run);
    }
    if (listing->json)
        fputs("\n]\n", stdout);
    free(out);
    if (result == TOOL_CLEAN && listing->symbol && !run.printed)
        return tool_fail("%s: no code belongs to a symbol '%s'", listing->file, listing->symbol);
    return result;
}
