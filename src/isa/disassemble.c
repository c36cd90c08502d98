/* SPDX-License-Identifier: MIT */
/* Texts of long code: decoding and printing with a memory of the words that come again. */
#include "isa/disassemble.h"
#include "isa/word_pattern.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRY_BITS = 13, OPCODE_BITS = 9, ENTRY_TEXT = 58, TEXT = 1024, REMEMBERED_DWORDS = 2 };

/* Of one cache line. Code repeats itself: four in five instructions of librocsparse0 are found here, and most
 * of the others are like an earlier one but for registers (word_pattern.c). */
struct entry {
    int16_t target;
    uint8_t dwords; /* 0: empty */
    uint8_t length;
    bool branch;
    char text[ENTRY_TEXT + 1];
};
static_assert(sizeof(struct entry) == 64,
              "one cache line, and another behind the last one: 64 bytes of text may be read");

struct wm_disassembler {
    const struct wmi_target *target;
    unsigned flags;
    struct entry *entries; /* in `memory`, at the start of a cache line */
    /* By the upper bits of an instruction's first dword: whether the last such one had two dwords. */
    bool is_long[1 << OPCODE_BITS];
    uint64_t words[1 << ENTRY_BITS]; /* of the entries: what is not there is found out without them */
    char text[TEXT];
    struct wmi_word_patterns patterns;
    char memory[(sizeof(struct entry) << ENTRY_BITS) + 2 * sizeof(struct entry)];
};

struct wm_disassembler *wmi_disassembler_create(const struct wmi_target *target, unsigned flags)
{
    struct wm_disassembler *d = calloc(1, sizeof(*d)); /* pages that no code needs are never touched */
    if (!d)
        return NULL;
    const uintptr_t misaligned = (uintptr_t)d->memory % sizeof(struct entry);
    d->entries = (struct entry *)(void *)(d->memory + sizeof(struct entry) - misaligned);
    d->target = target;
    d->flags = flags;
    wmi_word_patterns_begin(&d->patterns, target);
    return d;
}

static inline size_t place_of(uint64_t words)
{
    return words * UINT64_C(0x9e3779b97f4a7c15) >> (64 - ENTRY_BITS);
}

/* The words as they stand. */
static size_t print_data(char *text, const uint32_t *words, unsigned dwords)
{
    size_t length = (size_t)sprintf(text, ".long 0x%08" PRIx32, words[0]);
    for (unsigned i = 1; i < dwords; i++)
        length += (size_t)sprintf(text + length, ", 0x%08" PRIx32, words[i]);
    return length;
}

static bool has_label(const struct wmi_instruction *insn)
{
    for (unsigned i = 0; i < insn->operands; i++)
        if (insn->operand[i].kind == WMI_OPERAND_LABEL)
            return true;
    return false;
}

static void remember(struct wm_disassembler *d, const struct wm_disassembled *line, uint64_t words)
{
    const size_t place = place_of(words);
    struct entry *entry = &d->entries[place];
    d->words[place] = words;
    entry->target = (int16_t)line->target;
    entry->dwords = line->dwords;
    entry->length = (uint8_t)line->length;
    entry->branch = line->branch;
    memcpy(entry->text, d->text, sizeof(entry->text)); /* all of it: a length that is known copies faster */
}

static inline uint64_t two_dwords(const uint32_t *words)
{
    return words[0] | (uint64_t)words[1] << 32;
}

/* Keeps the text for the next time. */
static struct wm_disassembled remembering(struct wm_disassembler *d, const struct wm_disassembled *line,
                                          const uint32_t *words)
{
    d->is_long[words[0] >> (32 - OPCODE_BITS)] = line->dwords > 1;
    if (line->dwords <= REMEMBERED_DWORDS && line->length <= ENTRY_TEXT)
        remember(d, line, line->dwords == 1 ? words[0] : two_dwords(words));
    return *line;
}

static struct wm_disassembled decode(struct wm_disassembler *d, const uint32_t *words, size_t dwords)
{
    struct wmi_instruction insn;
    struct wm_disassembled line = {.text = d->text, .dwords = 1};
    const unsigned length = wmi_decode(d->target, words, dwords, &insn);
    if (!length) {
        line.data = true;
        line.length = (uint32_t)print_data(d->text, words, 1);
        return line;
    }
    line.dwords = (uint8_t)length;
    line.branch = has_label(&insn);
    line.target = (int16_t)words[0];
    if (d->flags & WM_DISASSEMBLE_REASSEMBLABLE && !wmi_reassembles(d->target, &insn))
        line.length = (uint32_t)print_data(d->text, words, length);
    else
        line.length = (uint32_t)wmi_print(d->target, &insn, d->text, TEXT);
    if (!d->flags)
        wmi_keep_word_pattern(&d->patterns, &insn, d->text, line.length, line.branch);
    return remembering(d, &line, words);
}

/* Like an earlier instruction, or decoded. Whether a text reassembles depends on more than patterns know. */
static struct wm_disassembled print(struct wm_disassembler *d, const uint32_t *words, size_t dwords)
{
    struct wm_disassembled line = {.text = d->text};
    const struct wmi_word_pattern *pattern =
        d->flags ? NULL : wmi_print_alike(&d->patterns, words, dwords, d->text, &line.length);
    if (!pattern)
        return decode(d, words, dwords);
    line.dwords = pattern->dwords;
    line.branch = pattern->branch;
    line.target = pattern->target;
    return remembering(d, &line, words);
}

/* Where the text of what stands at `words` is, if it is remembered; its cache line is asked for early. */
static inline void prefetch(struct wm_disassembler *d, const uint32_t *words)
{
    const bool is_long = d->is_long[words[0] >> (32 - OPCODE_BITS)];
    __builtin_prefetch(&d->entries[place_of(is_long ? two_dwords(words) : words[0])]);
}

static inline const struct entry *find(struct wm_disassembler *d, uint64_t words, unsigned dwords)
{
    const size_t place = place_of(words);
    const struct entry *entry = &d->entries[place];
    return d->words[place] == words && entry->dwords == dwords ? entry : NULL;
}

/* The entry's text. `length` is a constant to each caller: the place of the next instruction is then known
 * before the entry has come from memory. */
static inline struct wm_disassembled remembered(struct wm_disassembler *d, const struct entry *entry,
                                                unsigned length, const uint32_t *words, size_t dwords)
{
    if (dwords >= length + 2u)
        prefetch(d, words + length);
    return (struct wm_disassembled){.text = entry->text,
                                    .length = entry->length,
                                    .dwords = (uint8_t)length,
                                    .branch = entry->branch,
                                    .target = entry->target};
}

/* Whether an instruction has one dword, its first one tells alone: longer ones are another entry. */
struct wm_disassembled wm_disassembler_next(struct wm_disassembler *d, const uint32_t *words, size_t dwords)
{
    const bool is_long = d->is_long[words[0] >> (32 - OPCODE_BITS)], two = dwords >= 2;
    const struct entry *entry;
    if (is_long && two && (entry = find(d, two_dwords(words), 2)))
        return remembered(d, entry, 2, words, dwords);
    if ((entry = find(d, words[0], 1)))
        return remembered(d, entry, 1, words, dwords);
    if (!is_long && two && (entry = find(d, two_dwords(words), 2)))
        return remembered(d, entry, 2, words, dwords);
    __builtin_prefetch(&d->entries[place_of(words[0])], 1); /* where the text will be remembered */
    if (two)
        __builtin_prefetch(&d->entries[place_of(two_dwords(words))], 1);
    return print(d, words, dwords);
}
