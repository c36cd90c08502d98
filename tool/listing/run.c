/* SPDX-License-Identifier: MIT */
/* The instructions of a listing: as printed by llvm-objdump -d -z, with parts omitted or added, or as JSON.
 *
 * Lines are assembled in a buffer, without printf, to be fast for large code. */
#include "tool/listing/run.h"

#include "base/escape.h"
#include "tool/text.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_COLUMNS = 59, ADDRESS_DIGITS = 12, DIGITS = 8, READABLE = 64 };

bool tool_open_output(struct tool_text_buffer *out, size_t room, bool kept)
{
    *out = (struct tool_text_buffer){.buffer = malloc(room + TOOL_LONGEST_TEXT), .room = room, .kept = kept};
    out->at = out->buffer;
    out->limit = out->buffer ? out->buffer + room : NULL;
    return out->buffer;
}

/* Writes or grows the buffer, to make room up to the limit. */
static void flush(struct tool_text_buffer *out)
{
    const size_t used = (size_t)(out->at - out->buffer);
    if (!out->kept) {
        fwrite(out->buffer, 1, used, stdout);
    } else if (used >= out->room) {
        char *larger = realloc(out->buffer, 2 * out->room + TOOL_LONGEST_TEXT);
        if (larger) {
            out->room *= 2;
            out->buffer = larger;
            out->limit = larger + out->room;
            out->at = larger + used;
            return;
        }
        out->failed = true;
    } else {
        return;
    }
    out->at = out->buffer;
}

static inline void put(struct tool_text_buffer *out, const char *text, size_t length)
{
    memcpy(out->at, text, length);
    out->at += length;
}

static void put_text(struct tool_text_buffer *out, const char *text)
{
    put(out, text, strlen(text));
}

static void put_pieces(struct tool_text_buffer *out, const char *name, size_t length)
{
    enum { PIECE = TOOL_LONGEST_TEXT / 8 };
    for (; length > PIECE; length -= PIECE, name += PIECE) {
        put(out, name, PIECE);
        if (out->at >= out->limit)
            flush(out);
    }
    put(out, name, length);
}

/* Puts a NUL-terminated name of any length. */
static void put_long(struct tool_text_buffer *out, const char *name, size_t length)
{
    if (wmi_is_plain(name, length)) {
        put_pieces(out, name, length);
        return;
    }
    char *escaped = tool_escaped(name);
    put_pieces(out, escaped, strlen(escaped));
    free(escaped);
}

static void put_name(struct tool_text_buffer *out, const char *name)
{
    put_long(out, name, strlen(name));
}

/* Puts eight hexadecimal digits. TO_UPPER, TO_LOWER: characters between '9' and the first letter in ASCII. */
enum { TO_UPPER = 'A' - '9' - 1, TO_LOWER = 'a' - '9' - 1 };
static inline void put_hex(char *to, uint32_t value, unsigned to_letters)
{
    uint64_t n = __builtin_bswap32(value); /* spread to a byte per digit, the first one lowest: */
    n = (n | n << 16) & UINT64_C(0x0000ffff0000ffff);
    n = (n | n << 8) & UINT64_C(0x00ff00ff00ff00ff);
    n = (n >> 4 | n << 8) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    const uint64_t above_9 = (n + UINT64_C(0x0606060606060606)) >> 4 & UINT64_C(0x0101010101010101);
    n += UINT64_C(0x3030303030303030) + above_9 * to_letters;
    memcpy(to, &n, sizeof(n));
}

static void put_short_hex(struct tool_text_buffer *out, uint64_t value)
{
    enum { MOST_DIGITS = 16 };
    char digits[MOST_DIGITS];
    put_hex(digits, (uint32_t)(value >> 32), TO_LOWER);
    put_hex(digits + MOST_DIGITS / 2, (uint32_t)value, TO_LOWER);
    const size_t leading = value ? (size_t)__builtin_clzll(value) / 4 : MOST_DIGITS - 1;
    put(out, digits + leading, MOST_DIGITS - leading);
}

static void put_format(struct tool_text_buffer *out, const char *format, uint64_t value)
{
    out->at += sprintf(out->at, format, value);
}

/* ---- labels ---- */

struct wm_disassembled tool_disassemble(const struct tool_run *run, size_t at, uint32_t *words)
{
    const size_t left = (run->code->size - at) / 4;
    const size_t room = left < TOOL_LONGEST_DWORDS ? left : TOOL_LONGEST_DWORDS;
    if (room == TOOL_LONGEST_DWORDS) /* constant lengths are copied faster */
        memcpy(words, run->code->bytes + at, TOOL_LONGEST_DWORDS * sizeof(*words));
    else
        memcpy(words, run->code->bytes + at, room * sizeof(*words));
    return wm_disassembler_next(run->disassembler, words, room);
}

/* Offset in the section of the destination of the branch at `at`. */
static int64_t destination(size_t at, const struct wm_disassembled *insn)
{
    return (int64_t)at + 4 * insn->dwords + 4 * (int64_t)insn->target;
}

static bool is_target(const struct tool_run *run, int64_t at)
{
    return run->targets && at >= 0 && (uint64_t)at + 4 <= run->code->size &&
           run->targets[at / 32] >> (at / 4 % 8) & 1;
}

void tool_enter_symbol(struct tool_run *run, uint64_t address)
{
    const unsigned lanes = wm_object_wave_size(run->listing->object, address);
    run->disassembler = run->disassemblers[lanes == 64];
    wm_disassembler_begin(run->disassembler, 0);
}

bool tool_find_targets(struct tool_run *run)
{
    const size_t size = run->code->size / 32 + 1;
    uint8_t *begins = calloc(2, size), *reached = begins + size;
    uint32_t words[TOOL_LONGEST_DWORDS];
    if (!begins)
        return false;
    for (size_t at = 0; at + 4 <= run->code->size;) {
        const uint64_t address = run->code->address + at;
        if (address >= run->next_symbol) {
            run->next_symbol = wm_object_next_symbol(run->listing->object, address + 1);
            tool_enter_symbol(run, address);
        }
        const struct wm_disassembled insn = tool_disassemble(run, at, words);
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

/* The label that a branch leads to, which text has instead of the distance, as in LLVM; or NULL. */
static const char *label_of(const struct tool_run *run, size_t at, const struct wm_disassembled *insn)
{
    const struct tool_listing *listing = run->listing;
    if (!insn->branch || listing->plain || listing->json || run->targets)
        return NULL;
    return wm_object_label(listing->object, run->code->address + (uint64_t)destination(at, insn));
}

/* Puts the text, with the label, if there is one, as the last word of a branch; returns its columns. */
static size_t put_instruction(struct tool_run *run, size_t at, const struct wm_disassembled *insn)
{
    struct tool_text_buffer *out = run->out;
    const int64_t to = destination(at, insn);
    const char *label = label_of(run, at, insn);
    size_t length = insn->length;
    if (!label && (!insn->branch || !is_target(run, to))) {
        if (length <= READABLE) { /* constant lengths are copied faster */
            memcpy(out->at, insn->text, READABLE);
            out->at += length;
        } else {
            put(out, insn->text, length);
        }
        return length;
    }
    while (length && insn->text[length - 1] != ' ')
        length--;
    put(out, insn->text, length);
    if (label) {
        put_name(out, label);
        return length + strlen(label);
    }
    const char *start = out->at;
    put_format(out, ".L%" PRIx64, (uint64_t)to);
    return length + (size_t)(out->at - start);
}

/* ---- text ---- */

/* Remembers the symbol that contains `address`, if a lookup of its start also finds it (no larger symbol
 * contains it). Then it contains all addresses up to any other one in it, unless a symbol begins in between.
 */
static void enter_here(struct tool_run *run, uint64_t address)
{
    const struct wm_object *object = run->listing->object;
    uint64_t distance, none = 1;
    const char *name = wm_object_symbol(object, address, &distance);
    run->here = NULL;
    if (!name || (distance && (wm_object_symbol(object, address - distance, &none) != name || none)))
        return;
    run->here = name;
    run->here_length = strlen(name);
    run->here_at = address - distance;
    run->here_to = address;
}

/* Puts the destination of a branch: <symbol+0x10>. */
static void put_destination(struct tool_run *run, uint64_t address)
{
    uint64_t distance = address - run->here_at;
    const char *symbol = run->here;
    size_t length = run->here_length;
    if (!symbol || address < run->here_at || address > run->here_to) {
        symbol = wm_object_symbol(run->listing->object, address, &distance);
        if (!symbol)
            return;
        if (symbol == run->here && address < run->next_symbol && address > run->here_to)
            run->here_to = address;
        length = symbol == run->here ? run->here_length : strlen(symbol);
    }
    char name[512];
    if (run->listing->demangled) {
        symbol = wm_source_name(symbol, name, sizeof name);
        length = strlen(symbol);
    }
    put(run->out, " <", 2);
    put_long(run->out, symbol, length);
    if (distance) {
        put(run->out, "+0x", 3);
        put_short_hex(run->out, distance);
    }
    put(run->out, ">", 1);
}

static const char spaces[READABLE + 1] = "                                                                ";

/* Puts address and words after the text, unless the listing omits them. */
static void put_place(struct tool_run *run, uint64_t address, const uint32_t *words, unsigned dwords)
{
    const struct tool_listing *listing = run->listing;
    char *to = run->out->at;
    memcpy(to, "//", 2);
    to += 2;
    if (!listing->no_addresses) {
        *to = ' ';
        put_hex(to + 1, (uint32_t)(address >> 4 * (ADDRESS_DIGITS - DIGITS)), TO_UPPER);
        put_hex(to + 1 + ADDRESS_DIGITS - DIGITS, (uint32_t)address, TO_UPPER);
        to += 1 + ADDRESS_DIGITS;
        *to++ = ':';
    }
    for (unsigned i = 0; i < dwords && !listing->no_bytes; i++) {
        *to = ' ';
        put_hex(to + 1, words[i], TO_UPPER);
        to += 1 + DIGITS;
    }
    run->out->at = to;
}

static void put_line(struct tool_run *run, size_t at, const uint32_t *words,
                     const struct wm_disassembled *insn)
{
    static_assert(READABLE > TEXT_COLUMNS, "as many as there are columns");
    const struct tool_listing *listing = run->listing;
    struct tool_text_buffer *out = run->out;
    *out->at++ = '\t';
    const size_t columns = put_instruction(run, at, insn);
    if (!listing->no_addresses || !listing->no_bytes) {
        memcpy(out->at, spaces, READABLE); /* constant lengths are copied faster */
        out->at += columns < TEXT_COLUMNS ? TEXT_COLUMNS - columns : 0;
        put_place(run, run->code->address + at, words, insn->dwords);
        if (insn->branch && !label_of(run, at, insn))
            put_destination(run, run->code->address + (uint64_t)destination(at, insn));
    }
    *out->at++ = '\n';
}

/* Puts the source line if it changes. */
static void put_source(struct tool_run *run, uint64_t address)
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

/* begins: the symbol that begins here; NULL: none. */
static void put_headings(struct tool_run *run, size_t at, const char *begins)
{
    const struct tool_listing *listing = run->listing;
    struct tool_text_buffer *out = run->out;
    /* As in LLVM, code at the start of a section without a symbol has the section's name. */
    const char *name = begins ? begins : at ? NULL : run->code->section;
    if (name && *name && !listing->plain && (begins || !listing->symbol)) {
        *out->at++ = '\n';
        const uint64_t address = run->code->address + at;
        put_hex(out->at, (uint32_t)(address >> 32), TO_LOWER);
        put_hex(out->at + 8, (uint32_t)address, TO_LOWER);
        out->at += 16;
        char demangled[512];
        put(out, " <", 2);
        put_name(out, listing->demangled ? wm_source_name(name, demangled, sizeof demangled) : name);
        put(out, ">:\n", 3);
    }
    if (is_target(run, (int64_t)at))
        put_format(out, ".L%" PRIx64 ":\n", at);
    if (listing->lines)
        put_source(run, run->code->address + at);
}

/* ---- JSON ---- */

/* JSON is UTF-8 only: other bytes become \xNN, as in tool_json_text(). */
static void put_string(struct tool_text_buffer *out, const char *text)
{
    *out->at++ = '"';
    for (const char *end = text + strlen(text); text < end;) {
        const unsigned bytes = wmi_utf8_bytes(text, (size_t)(end - text));
        if ((unsigned char)*text < ' ') {
            put_format(out, "\\u%04" PRIx64, (unsigned char)*text);
        } else if (!bytes) {
            put_format(out, "\\\\x%02" PRIx64, (unsigned char)*text);
        } else {
            if (*text == '"' || *text == '\\')
                *out->at++ = '\\';
            put(out, text, bytes);
        }
        text += bytes ? bytes : 1;
        if (out->at >= out->limit)
            flush(out);
    }
    *out->at++ = '"';
}

static void put_object(struct tool_run *run, size_t at, const uint32_t *words,
                       const struct wm_disassembled *insn)
{
    struct tool_text_buffer *out = run->out;
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

/* Whether wm_disassembler_lines() can write the lines, except those of branches that are not plain. */
static bool is_common(const struct tool_run *run)
{
    const struct tool_listing *listing = run->listing;
    return !listing->json && (listing->plain || (!listing->no_addresses && !listing->no_bytes)) &&
           !listing->lines && !run->targets;
}

/* Lists from `at` to the next branch or symbol, or until the buffer is full; returns where it stopped. */
static size_t list_common(struct tool_run *run, size_t at, size_t end)
{
    const struct wm_code *code = run->code;
    const uint64_t to_symbol = run->next_symbol - code->address;
    struct tool_text_buffer *out = run->out;
    const struct wm_lines lines = {
        .code = code->bytes + at,
        .size = code->size - at,
        .end = (to_symbol < end ? to_symbol : end) - at,
        .address = code->address + at,
        .text = out->at,
        .room = (size_t)(out->limit - out->at) + TOOL_LONGEST_TEXT,
        .plain = run->listing->plain,
    };
    size_t length;
    const size_t listed = wm_disassembler_lines(run->disassembler, &lines, &length);
    out->at += length;
    run->printed += listed;
    return at + listed;
}

/* Updates the state at an address at which a symbol may begin; returns the symbol that does, or NULL. A label
 * does not end the function that it is in. */
static const char *enter_symbol(struct tool_run *run, uint64_t address)
{
    const struct tool_listing *listing = run->listing;
    uint64_t distance;
    const char *symbol = wm_object_symbol(listing->object, address, &distance);
    const bool begins = symbol && distance == 0;
    run->next_symbol = wm_object_next_symbol(listing->object, address + 1);
    enter_here(run, address);
    if (begins) {
        run->symbol = symbol;
        run->wanted = !listing->symbol || strcmp(symbol, listing->symbol) == 0;
        tool_enter_symbol(run, address);
    }
    return begins ? symbol : wm_object_label(listing->object, address);
}

static void put_one(struct tool_run *run, size_t at, const uint32_t *words,
                    const struct wm_disassembled *insn)
{
    if (run->listing->json) {
        put_object(run, at, words, insn);
    } else if (!run->listing->plain) {
        put_line(run, at, words, insn);
    } else {
        put_instruction(run, at, insn);
        *run->out->at++ = '\n';
    }
    run->printed++;
}

size_t tool_list_range(struct tool_run *run, size_t at, size_t end)
{
    const struct tool_listing *listing = run->listing;
    const struct wm_code *code = run->code;
    struct tool_text_buffer *out = run->out;
    const bool common = is_common(run), has_headings = run->targets || listing->lines;
    while (at + 4 <= code->size && at < end) {
        const uint64_t address = code->address + at;
        uint32_t words[TOOL_LONGEST_DWORDS];
        const char *begins = address >= run->next_symbol ? enter_symbol(run, address) : NULL;
        if (out->at >= out->limit)
            flush(out);
        if (run->wanted && !listing->json && (has_headings || begins || !at))
            put_headings(run, at, begins);
        if (run->wanted && common) {
            at = list_common(run, at, end);
            if (at + 4 > code->size || at >= end || code->address + at >= run->next_symbol ||
                out->at >= out->limit)
                continue;
        }
        const struct wm_disassembled insn = tool_disassemble(run, at, words);
        if (run->wanted)
            put_one(run, at, words, &insn);
        at += 4u * insn.dwords;
    }
    flush(out);
    return at;
}
