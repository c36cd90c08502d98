/* SPDX-License-Identifier: MIT */
/* Disassembles long code, caching the text of words that recur. */
#include "isa/text/disassemble.h"
#include "isa/decode/msb.h"
#include "isa/tables.h"
#include "isa/text/word_pattern.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PLACE_BITS = 13,
    PLACES = 1 << PLACE_BITS,
    LENGTH_BITS = 11,
    KNOWN_TEXT = 48,
    TEXT_COLUMNS = 59, /* after the tab; longer texts are directly followed by their comment */
    TO_ADDRESS = 1 + TEXT_COLUMNS + 3,
    SPACES = 64,
    TEXT = 1024,
    WORDS = 8, /* given to the decoder */
    DIGITS = 8,
    ADDRESS_DIGITS = 12,
    ROOM = TO_ADDRESS + TEXT + ADDRESS_DIGITS + WORDS * (1 + DIGITS) + SPACES,
};
static_assert(ROOM <= (int)WM_LINE_ROOM && TEXT > (int)WMI_WORD_ROOM && SPACES > TEXT_COLUMNS, "room");

/* Words whose text is cached. Code repeats itself: four of five instructions of librocsparse0 hit this cache,
 * and most others differ from an earlier one in register numbers only (word_pattern.c). */
struct known {
    uint64_t words;
    int16_t target;
    uint8_t dwords; /* 0: none */
    uint8_t length;
    bool branch;
    char text[KNOWN_TEXT]; /* padded with spaces */
};
static_assert(sizeof(struct known) == 64, "a line of the cache");

struct wm_disassembler {
    const struct wmi_target *target;
    unsigned flags, count;
    unsigned msb; /* upper bits of VGPR numbers that the last s_set_vgpr_msb has set */
    /* By length_class(): whether the last instruction of this class had two dwords. */
    uint8_t is_long[1 << LENGTH_BITS];
    uint16_t place[PLACES]; /* hash of the words -> index in `known` */
    char text[TEXT + SPACES];
    struct wmi_word_patterns patterns;
    /* In `memory`, allocated contiguously so that few pages are touched; [0] is empty. */
    struct known *known;
    char memory[(PLACES + 2) * sizeof(struct known)];
};

struct wm_disassembler *wmi_disassembler_create(const struct wmi_target *target, unsigned flags)
{
    struct wm_disassembler *d = calloc(1, sizeof(*d)); /* unused pages are never touched */
    if (!d)
        return NULL;
    d->known = (void *)(d->memory + sizeof(struct known) - (uintptr_t)d->memory % sizeof(struct known));
    d->target = target;
    d->flags = flags;
    wmi_word_patterns_begin(&d->patterns, target);
    return d;
}

/* ---- the cache ---- */

static inline size_t place_of(uint64_t words)
{
    return words * UINT64_C(0x9e3779b97f4a7c15) >> (64 - PLACE_BITS);
}

/* Predicts, with few exceptions, the length of an instruction from the encoding and from whether a source is
 * a literal. The first source of most scalar and vector instructions is in the lowest byte, the second source
 * of scalar ones in the next; SDWA and DPP are source codes, too. */
static inline unsigned length_class(uint32_t word)
{
    enum { SDWA = 249, LITERAL = 255 };
    return word >> 23 | (unsigned)((uint8_t)word >= SDWA) << 9 |
           (unsigned)((uint8_t)(word >> 8) == LITERAL) << 10;
}

static inline uint64_t two_dwords(const uint32_t *words)
{
    return words[0] | (uint64_t)words[1] << 32;
}

/* The first dword, or both; branchless, because the length is hard to predict. */
static inline uint64_t words_of(uint64_t two, unsigned is_long)
{
    static const uint64_t mask[] = {UINT32_MAX, UINT64_MAX};
    return two & mask[is_long];
}

/* `two`: the words, the first in the lower half. KNOWN_TEXT characters from `text` must be readable. */
static inline void remember(struct wm_disassembler *d, uint64_t two, const struct known *new,
                            const char *text)
{
    const bool is_long = new->dwords > 1;
    const uint64_t key = words_of(two, is_long);
    d->is_long[length_class((uint32_t)two)] = is_long;
    if (new->dwords > 2 || new->length > KNOWN_TEXT)
        return;
    uint16_t *place = &d->place[place_of(key)];
    const bool is_new = !*place;
    d->count += is_new;
    *place = (uint16_t)(is_new ? d->count : *place);
    struct known *known = &d->known[*place];
    known->words = key;
    known->target = new->target;
    known->dwords = new->dwords;
    known->length = new->length;
    known->branch = new->branch;
    memcpy(known->text, text, KNOWN_TEXT); /* all of it: a constant size is faster */
}

/* ---- misses ---- */

/* Text that follows s_set_vgpr_msb shows the VGPRs' whole numbers, up to the end of the block or the symbol,
 * as in LLVM 22. */
static void follow_msb(struct wm_disassembler *d, const struct wmi_instruction *insn)
{
    switch (insn->id) {
    case WMI_INSN_s_set_vgpr_msb:
        d->msb = insn->words[0] & UINT8_MAX;
        break;
    case WMI_INSN_s_branch:
    case WMI_INSN_s_cbranch_scc0:
    case WMI_INSN_s_cbranch_scc1:
    case WMI_INSN_s_cbranch_vccz:
    case WMI_INSN_s_cbranch_vccnz:
    case WMI_INSN_s_cbranch_execz:
    case WMI_INSN_s_cbranch_execnz:
    case WMI_INSN_s_setpc_b64:
    case WMI_INSN_s_endpgm:
    case WMI_INSN_s_endpgm_saved:
        d->msb = 0;
        break;
    default:
        break;
    }
}

static bool has_label(const struct wmi_instruction *insn)
{
    for (unsigned i = 0; i < insn->operands; i++)
        if (insn->operand[i].kind == WMI_OPERAND_LABEL)
            return true;
    return false;
}

/* Prints the words as data. */
static uint32_t print_data(char *text, const uint32_t *words, unsigned dwords)
{
    size_t length = (size_t)sprintf(text, ".long 0x%08" PRIx32, words[0]);
    for (unsigned i = 1; i < dwords; i++)
        length += (size_t)sprintf(text + length, ", 0x%08" PRIx32, words[i]);
    return (uint32_t)length;
}

/* Returns whether the same words mean the same text elsewhere. */
static bool decode(struct wm_disassembler *d, const uint32_t *words, size_t dwords, char *text,
                   struct wm_disassembled *line)
{
    struct wmi_instruction insn;
    const unsigned length = wmi_decode(d->target, words, dwords, &insn);
    const bool in_words = !d->msb; /* what is printed */
    line->data = !length;
    line->dwords = (uint8_t)(length ? length : 1);
    line->branch = length && has_label(&insn);
    line->target = (int16_t)words[0];
    if (!length || (d->flags & WM_DISASSEMBLE_REASSEMBLABLE && !wmi_reassembles(d->target, &insn))) {
        line->length = print_data(text, words, line->dwords);
    } else {
        wmi_extend_vgprs(&insn, d->msb);
        line->length = (uint32_t)wmi_print(d->target, &insn, text, TEXT);
    }
    if (length)
        follow_msb(d, &insn);
    const bool alike = length && in_words && !d->msb;
    if (alike && !d->flags)
        wmi_keep_word_pattern(&d->patterns, &insn, text, line->length, line->branch);
    return alike;
}

static inline void put_spaces(char *to)
{
    static const char spaces[SPACES + 1] = "                                                                ";
    memcpy(to, spaces, SPACES);
}

/* Prints the instruction from the pattern cache or by decoding it, and pads the text with spaces. The pattern
 * cache is not used with flags: whether a text reassembles may depend on register numbers. */
static struct wm_disassembled print(struct wm_disassembler *d, const uint32_t *words, size_t dwords,
                                    char *text)
{
    struct wm_disassembled insn = {.text = text};
    const uint64_t two = dwords > 1 ? two_dwords(words) : words[0];
    const struct wmi_word_pattern *pattern =
        d->flags || d->msb ? NULL : wmi_print_alike(&d->patterns, two, dwords, text, &insn.length);
    bool alike = true;
    if (pattern) {
        insn.dwords = pattern->dwords;
        insn.branch = pattern->branch;
        insn.target = pattern->target;
    } else {
        alike = decode(d, words, dwords, text, &insn);
    }
    put_spaces(text + insn.length);
    const struct known known = {.target = (int16_t)insn.target,
                                .dwords = insn.dwords,
                                .length = (uint8_t)(insn.length < UINT8_MAX ? insn.length : UINT8_MAX),
                                .branch = insn.branch};
    if (!insn.data && alike)
        remember(d, two, &known, text);
    return insn;
}

unsigned wm_disassembler_state(const struct wm_disassembler *d)
{
    return d ? d->msb : 0;
}

void wm_disassembler_begin(struct wm_disassembler *d, unsigned state)
{
    if (d)
        d->msb = state & UINT8_MAX;
}

struct wm_disassembled wm_disassembler_next(struct wm_disassembler *d, const uint32_t *words, size_t dwords)
{
    static const char nothing[64];
    if (!d || !words || !dwords)
        return (struct wm_disassembled){.text = nothing};
    const unsigned is_long = dwords > 1 ? d->is_long[length_class(words[0])] : 0;
    const uint64_t key = is_long ? two_dwords(words) : words[0];
    const struct known *known = &d->known[d->place[place_of(key)]];
    struct wm_disassembled insn = {.text = d->text,
                                   .length = known->length,
                                   .dwords = known->dwords,
                                   .branch = known->branch,
                                   .target = known->target};
    if (known->words == key && known->dwords == 1 + is_long && !d->msb)
        memcpy(d->text, known->text, KNOWN_TEXT);
    else
        insn = print(d, words, dwords, d->text);
    d->text[insn.length] = '\0';
    return insn;
}

/* ---- lines ---- */

typedef uint8_t bytes16 __attribute__((vector_size(16)));
typedef int8_t signed_bytes16 __attribute__((vector_size(16)));
typedef uint64_t pair64 __attribute__((vector_size(16)));

enum { TEN = 10, TO_UPPER = 'A' - '9' - 1 };

static inline bytes16 digits_of(bytes16 values)
{
    return values + '0' + ((bytes16)((signed_bytes16)values >= TEN) & TO_UPPER);
}

/* Address and up to two words of an instruction. Stores exceed the text. */
static inline char *put_place(char *to, uint64_t address, uint64_t words, unsigned is_long)
{
    const bytes16 both = (bytes16)(pair64){__builtin_bswap64(address), __builtin_bswap64(words)};
    const bytes16 high = digits_of((bytes16)((pair64)both >> 4) & 15), low = digits_of(both & 15);
    const pair64 place = (pair64)__builtin_shufflevector(high, low, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21,
                                                         6, 22, 7, 23),
                 digits = (pair64)__builtin_shufflevector(high, low, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13,
                                                          29, 14, 30, 15, 31);
    const uint64_t upper = place[0] >> 32, lower = place[1], second = digits[0], first = digits[1];
    memcpy(to, &upper, DIGITS);
    memcpy(to + ADDRESS_DIGITS - DIGITS, &lower, DIGITS);
    to += ADDRESS_DIGITS;
    memcpy(to, ": ", 2);
    memcpy(to + 2, &first, DIGITS);
    to += 2 + DIGITS;
    *to = ' ';
    memcpy(to + 1, &second, DIGITS);
    to += is_long * (1 + DIGITS);
    *to = '\n';
    return to + 1;
}

static inline char *end_plain(char *text, size_t length)
{
    text[length] = '\n';
    return text + length + 1;
}

/* Prints a line that missed the cache, for the code at offset `at`. NULL: a branch, whose line needs a
 * target. */
static char *put_other_line(struct wm_disassembler *d, const struct wm_lines *lines, size_t at, char *to,
                            size_t *bytes)
{
    const uint8_t *code = (const uint8_t *)lines->code + at;
    const size_t size = lines->size - at;
    uint32_t words[WORDS] = {0};
    const size_t available = size / 4 < WORDS ? size / 4 : WORDS;
    if (available == WORDS)
        memcpy(words, code, sizeof words); /* a constant size is faster */
    else
        memcpy(words, code, 4 * available);
    if (!lines->plain)
        *to++ = '\t';
    const struct wm_disassembled insn = print(d, words, available, to);
    *bytes = 4u * insn.dwords;
    if (lines->plain)
        return end_plain(to, insn.length);
    if (insn.branch)
        return NULL;
    to += insn.length < TEXT_COLUMNS ? TEXT_COLUMNS : insn.length;
    memcpy(to, "// ", 4);
    to = put_place(to + 3, lines->address + at, two_dwords(words), insn.dwords > 1);
    for (unsigned i = 2; i < insn.dwords; i++)
        to += sprintf(to - 1, " %08" PRIX32 "\n", words[i]) - 1;
    return to;
}

/* A single comparison: with two, compilers deduce that the length equals the entry's, which puts a load from
 * memory on the critical path to the next instruction. */
static inline bool is_of(const struct known *known, uint64_t key, unsigned is_long)
{
    return !((known->words ^ key) | (known->dwords ^ (1u + is_long)));
}

/* Copies a text of up to KNOWN_TEXT characters and the padding up to the address. */
static inline char *put_known(char *to, const struct known *known)
{
    static const char behind[] = "           // ";
    static_assert(KNOWN_TEXT + sizeof behind - 1 == TO_ADDRESS - 1, "columns");
    *to++ = '\t';
    memcpy(to, known->text, KNOWN_TEXT);
    memcpy(to + KNOWN_TEXT, behind, sizeof behind);
    return to + TO_ADDRESS - 1;
}

/* Prints the line from the pattern cache unless it is a branch; NULL: it has to be decoded. */
static inline char *put_alike(struct wm_disassembler *d, uint64_t two, uint64_t address, char *to, bool plain,
                              size_t *bytes)
{
    uint32_t length;
    char *const text = to + !plain;
    const struct wmi_word_pattern *pattern =
        d->flags || d->msb ? NULL : wmi_print_alike(&d->patterns, two, 2, text, &length);
    if (!pattern || pattern->branch || length >= TEXT_COLUMNS)
        return NULL;
    const struct known known = {.dwords = pattern->dwords, .length = (uint8_t)length};
    put_spaces(text + length);
    remember(d, two, &known, text);
    *bytes = 4u * known.dwords;
    if (plain)
        return end_plain(text, length);
    *to = '\t';
    memcpy(text + TEXT_COLUMNS, "// ", 4);
    return put_place(to + TO_ADDRESS, address, two, known.dwords > 1);
}

size_t wm_disassembler_lines(struct wm_disassembler *d, const struct wm_lines *lines, size_t *length)
{
    if (length)
        *length = 0;
    if (!d || !lines || !length || !lines->code || !lines->text || lines->room < WM_LINE_ROOM)
        return 0;
    const uint8_t *const code = lines->code;
    const char *const last = lines->text + lines->room - WM_LINE_ROOM;
    const size_t pairs = lines->size < 8 ? 0 : lines->size - 7, end = lines->end < pairs ? lines->end : pairs;
    char *to = lines->text;
    size_t at = 0;
    while (at < end && to <= last) {
        uint64_t two;
        memcpy(&two, code + at, sizeof two);
        const unsigned is_long = d->is_long[length_class((uint32_t)two)];
        const uint64_t key = words_of(two, is_long), address = lines->address + at;
        const struct known *known = &d->known[d->place[place_of(key)]];
        if (is_of(known, key, is_long) && !d->msb) {
            if (lines->plain) {
                memcpy(to, known->text, KNOWN_TEXT);
                to = end_plain(to, known->length);
            } else if (!known->branch) {
                to = put_place(put_known(to, known), address, two, is_long);
            } else {
                goto branch;
            }
            at += 4 + 4 * is_long;
        } else {
            size_t bytes;
            char *behind = put_alike(d, two, address, to, lines->plain, &bytes);
            if (!behind)
                behind = put_other_line(d, lines, at, to, &bytes);
            if (!behind)
                goto branch;
            to = behind;
            at += bytes;
        }
    }
    if (at >= pairs && at < lines->end && lines->size - at >= 4 && to <= last) { /* the last dword */
        size_t bytes;
        char *const behind = put_other_line(d, lines, at, to, &bytes);
        at += behind ? bytes : 0;
        to = behind ? behind : to;
    }
branch:
    *length = (size_t)(to - lines->text);
    return at;
}
