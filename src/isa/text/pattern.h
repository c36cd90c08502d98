/* SPDX-License-Identifier: MIT */
/* Cache of assembled instructions, keyed by their text without register numbers. */
#ifndef WMI_PATTERN_H
#define WMI_PATTERN_H

#include "isa/text/parsed.h"

#include <assert.h>

enum { WMI_PATTERNS = 1 << 12, WMI_PATTERN_PLACES = 1 << 14, WMI_PATTERN_SLOTS = 6, WMI_PATTERN_TEXT = 144 };

/* Marks in a key; not valid characters of text. */
enum {
    WMI_MARK_REGISTER = 128, /* plus enum wmi_operand_kind: v7 */
    WMI_MARK_TUPLE = 144,    /* plus enum wmi_operand_kind: v[2:3]; followed by */
    WMI_MARK_SIZE = 160,     /* plus dwords - 1 */
};

enum { WMI_KEY_PADDING = 24 };

/* The text of an instruction with marks in place of registers, and the register numbers. */
struct wmi_key {
    uint64_t hash;
    unsigned length, slots;
    struct {
        uint8_t number, file, dwords; /* file: enum wmi_operand_kind */
    } slot[WMI_PATTERN_SLOTS];
    char text[WMI_PATTERN_TEXT + WMI_KEY_PADDING]; /* followed by eight zero bytes */
};

/* Returns false if the text is too long or contains marks. Without `registers`, registers are not replaced.
 */
bool wmi_read_key(const char *begin, const char *end, bool registers, struct wmi_key *key);

/* A register number in the text: its valid range, and its position in the words. */
struct wmi_pattern_slot {
    uint8_t pos, drop;      /* drop: low bits that the words omit */
    uint8_t below_multiple; /* alignment - 1: number bits that must be 0 */
    uint8_t last;
};

struct wmi_text_pattern {
    uint8_t length, dwords, slots; /* length of the text; 0: empty */
    bool as_it_stands;             /* such texts are cached with their register numbers */
    uint32_t words[WMI_INSTRUCTION_DWORDS];
    struct wmi_pattern_slot slot[WMI_PATTERN_SLOTS];
    char text[WMI_PATTERN_TEXT];
};
static_assert(sizeof(struct wmi_text_pattern) == 192, "three lines of the cache");

struct wmi_text_patterns {
    struct wmi_text_pattern
        at[WMI_PATTERNS]; /* allocated contiguously so that few pages are touched; [0] is empty */
    uint16_t place[WMI_PATTERN_PLACES]; /* hash of the text -> index in `at`; two places per hash */
    unsigned count;
};
static_assert(sizeof(struct wmi_text_patterns) <= WMI_PATTERNS_BYTES, "as much as callers have");

/* Caches the instruction assembled from `begin` to the end of the encoder's text. It must not depend on
 * symbols or on its address. */
void wmi_keep_pattern(struct wmi_text_patterns *patterns, const char *begin, const struct wmi_encoder *e,
                      const struct wmi_instruction *insn);
/* The same, with the text as it is, including register numbers. */
void wmi_keep_as_it_stands(struct wmi_text_patterns *patterns, const char *begin, const char *end,
                           const struct wmi_instruction *insn);

#endif
