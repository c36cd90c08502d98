/* SPDX-License-Identifier: MIT */
/* libFuzzer: arbitrary words as instructions of every target. The first byte selects the target.
 *
 * Decoding must not read past the given words, and printing must not write past its buffer of any size. The
 * assembler either rejects the text with a position within it, or encodes the same words or equivalent ones.
 * The disassembler and the assembler give the same results regardless of their caches. */
#include "isa/text/assemble.h"
#include "isa/text/disassemble.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const targets[] = {
    "gfx600",
    "gfx700",
    "gfx803",
    "gfx900",
    "gfx906",
    "gfx908",
    "gfx90a",
    "gfx942",
    "gfx1010",
    "gfx1030",
    "gfx1100",
    "gfx1150",
    "gfx1200",
    "gfx1030:wave64",
    "gfx1200:wave64",
    "gfx1100:real-true16",
    "gfx1200:wave64:real-true16",
};

enum { MOST_TEXT = 512 };

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void print(const struct wmi_target *target, const struct wmi_instruction *insn)
{
    char whole[MOST_TEXT], part[24];
    const size_t length = wmi_print(target, insn, whole, sizeof whole);
    require(length < sizeof whole && strlen(whole) == length);
    /* A truncated text returns the full length and is a prefix of the text. */
    require(wmi_print(target, insn, part, sizeof part) == length);
    require(strlen(part) < sizeof part && strncmp(part, whole, strlen(part)) == 0);
}

static bool is_constant(const struct wmi_operand *o)
{
    return o->kind == WMI_OPERAND_CONSTANT || o->kind == WMI_OPERAND_LITERAL;
}

/* gfx7's SMRD: an offset that fits the field can also be encoded as a literal dword. */
static bool is_offset(const struct wmi_operand *o)
{
    return o->kind == WMI_OPERAND_IMMEDIATE || o->kind == WMI_OPERAND_LITERAL;
}

/* Whether two instructions are equal except for ignored bits and the encoding of constants. */
static bool alike(const struct wmi_instruction *a, const struct wmi_instruction *b)
{
    if (a->id != b->id || a->second_id != b->second_id || a->operands != b->operands)
        return false;
    for (unsigned i = 0; i < a->operands + a->second_operands; i++) {
        const struct wmi_operand *x = &a->operand[i], *y = &b->operand[i];
        if (is_offset(x) && is_offset(y) && x->value == y->value)
            continue;
        if (is_constant(x) != is_constant(y) ||
            (!is_constant(x) && (x->kind != y->kind || x->reg != y->reg)) || x->neg != y->neg ||
            x->abs != y->abs || x->sext != y->sext)
            return false;
    }
    return true;
}

/* Exports of two VGPRs name each VGPR twice; LLVM's assembler and ours use the first name. */
static bool names_halves(const struct wmi_instruction *insn)
{
    return insn->id == WMI_INSN_exp && insn->field[WMI_FIELD_compr];
}

/* Cache of assembled texts; kept across inputs, like the disassembler's. */
static struct wmi_text_patterns *patterns_of(unsigned index)
{
    static struct wmi_text_patterns *patterns[sizeof targets / sizeof targets[0]];
    if (!patterns[index])
        patterns[index] = calloc(1, WMI_PATTERNS_BYTES);
    require(patterns[index]);
    return patterns[index];
}

static void assemble(const struct wmi_target *target, unsigned index, const struct wmi_instruction *insn)
{
    char text[512];
    struct wmi_instruction again;
    uint32_t words[WMI_INSTRUCTION_DWORDS];
    struct wmi_text_patterns *patterns = patterns_of(index);
    const size_t length = wmi_print(target, insn, text, sizeof text);
    char *exact = malloc(length); /* so that the sanitizer detects reads past the end */
    memcpy(exact, text, length);
    struct wmi_cursor cursor = {.at = exact, .end = exact + length, .patterns = patterns};
    const unsigned by_pattern = wmi_assemble_alike(patterns, exact, cursor.end, words);
    const unsigned dwords = wmi_assemble(target, &cursor, &again, NULL);
    require(!by_pattern || (by_pattern == dwords && !memcmp(words, again.words, 4 * dwords)));
    if (!dwords) {
        require(cursor.wrong && cursor.wrong_at >= exact && cursor.wrong_at <= cursor.end);
    } else if (dwords != insn->dwords || memcmp(again.words, insn->words, 4 * dwords) != 0) {
        require(alike(insn, &again) || names_halves(insn));
    }
    free(exact);
}

/* Prints the instruction at `words` and returns its length. */
static unsigned text_of(const struct wmi_target *target, const uint32_t *words, size_t count,
                        char text[MOST_TEXT])
{
    struct wmi_instruction insn;
    const unsigned dwords = wmi_decode(target, words, count, &insn);
    if (dwords)
        require(wmi_print(target, &insn, text, MOST_TEXT) < MOST_TEXT);
    else
        snprintf(text, MOST_TEXT, ".long 0x%08x", words[0]);
    return dwords;
}

/* Lists the words as plain text and as lines of a listing, which end before branches. */
static void list(struct wm_disassembler *disassembler, const struct wmi_target *target, const uint32_t *words,
                 size_t count, bool plain)
{
    enum { ROOM = WM_LINE_ROOM + MOST_TEXT, COLUMNS = 61 };
    char text[MOST_TEXT], *room = malloc(ROOM);
    for (size_t at = 0; at < count;) {
        size_t length;
        const struct wm_lines lines = {.code = words + at,
                                       .size = 4 * (count - at),
                                       .end = 4 * (count - at),
                                       .address = 4 * at,
                                       .text = room,
                                       .room = ROOM,
                                       .plain = plain};
        const size_t listed = wm_disassembler_lines(disassembler, &lines, &length);
        require(length <= ROOM && (listed || !plain));
        const char *line = room;
        for (const size_t end = at + listed / 4; at < end;) {
            const unsigned dwords = text_of(target, words + at, count - at, text);
            const char *const stop = memchr(line, '\n', (size_t)(room + length - line));
            const size_t size = strlen(text);
            require(stop && stop - line >= (plain ? (ptrdiff_t)size : COLUMNS));
            require(!memcmp(line + !plain, text, size) && (!plain || stop == line + size));
            line = stop + 1;
            at += dwords ? dwords : 1;
        }
        require(line == room + length);
        if (!listed)
            at += wm_disassembler_next(disassembler, words + at, count - at).dwords;
    }
    free(room);
}

/* The disassembler with its cache must agree with decoding and printing. It is kept across inputs, so that
 * earlier inputs fill its cache. */
static void disassemble(const struct wmi_target *target, unsigned index, const uint32_t *words, size_t count)
{
    static struct wm_disassembler *disassemblers[sizeof targets / sizeof targets[0]];
    if (!disassemblers[index])
        disassemblers[index] = wmi_disassembler_create(target, 0);
    require(disassemblers[index]);
    for (size_t at = 0; at < count;) {
        char text[MOST_TEXT];
        const struct wm_disassembled line =
            wm_disassembler_next(disassemblers[index], words + at, count - at);
        const unsigned dwords = text_of(target, words + at, count - at, text);
        require(line.data == !dwords && line.dwords == (dwords ? dwords : 1));
        require(line.length == strlen(text) && !memcmp(line.text, text, line.length + 1));
        at += line.dwords;
    }
    list(disassemblers[index], target, words, count, true);
    list(disassemblers[index], target, words, count, false);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < 5)
        return 0;
    const unsigned index = bytes[0] % (sizeof targets / sizeof targets[0]);
    const struct wmi_target *target = wmi_target_find(targets[index]);
    require(target);
    const size_t count = (size - 1) / 4;
    /* Exactly as long as the input, so that the sanitizer detects reads past the end. */
    uint32_t *words = malloc(4 * count);
    memcpy(words, bytes + 1, 4 * count);
    for (size_t at = 0; at < count;) {
        struct wmi_instruction insn;
        const unsigned dwords = wmi_decode(target, words + at, count - at, &insn);
        require(dwords <= count - at && dwords <= WMI_INSTRUCTION_DWORDS);
        if (dwords) {
            require(insn.dwords == dwords && insn.operands <= WMI_OPERANDS);
            require(insn.id != WMI_INSN_NONE && insn.id < WMI_INSN_COUNT);
            print(target, &insn);
            assemble(target, index, &insn);
        }
        at += dwords ? dwords : 1;
    }
    disassemble(target, index, words, count);
    free(words);
    return 0;
}
