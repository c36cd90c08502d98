/* SPDX-License-Identifier: MIT */
/* Assembled instructions remembered by their text without the numbers of registers. */
#ifndef WMI_PATTERN_H
#define WMI_PATTERN_H

#include "isa/parsed.h"

#include <assert.h>

enum { WMI_PATTERNS = 1 << 12, WMI_PATTERN_PLACES = 1 << 14, WMI_PATTERN_SLOTS = 6, WMI_PATTERN_TEXT = 144 };

/* Marks of a key, which are no characters of text. */
enum {
    WMI_MARK_REGISTER = 128, /* and enum wmi_operand_kind: v7 */
    WMI_MARK_TUPLE = 144,    /* v[2:3]; behind it: */
    WMI_MARK_SIZE = 160,     /* and the dwords less one */
};

enum { WMI_KEY_PADDING = 24 };

/* The text of an instruction, with marks for its registers, and their numbers. */
struct wmi_key {
    uint64_t hash;
    unsigned length, slots;
    struct {
        uint8_t number, file, dwords; /* file: enum wmi_operand_kind */
    } slot[WMI_PATTERN_SLOTS];
    char text[WMI_PATTERN_TEXT + WMI_KEY_PADDING]; /* a word of zeros behind its end */
};

/* False: the text is too long, or has characters that it cannot have. Without `registers` they stay as they
 * are.
 */
bool wmi_read_key(const char *begin, const char *end, bool registers, struct wmi_key *key);

/* A register's number in the text: which may stand there, and at which bit of the words. */
struct wmi_pattern_slot {
    uint8_t pos, drop;      /* drop: low bits that the words leave out */
    uint8_t below_multiple; /* bits that the number may not have */
    uint8_t last;
};

struct wmi_pattern {
    uint8_t length, dwords, slots; /* length: of the text; 0: nothing is remembered here */
    bool as_it_stands;             /* texts like this are remembered with their numbers */
    uint32_t words[WMI_INSTRUCTION_DWORDS];
    struct wmi_pattern_slot slot[WMI_PATTERN_SLOTS];
    char text[WMI_PATTERN_TEXT];
};
static_assert(sizeof(struct wmi_pattern) == 192, "three lines of the cache");

struct wmi_patterns {
    struct wmi_pattern at[WMI_PATTERNS]; /* one behind the other, so that few pages are touched; [0]: none */
    uint16_t place[WMI_PATTERN_PLACES];  /* in `at`, by a hash of the text, of which two are looked at */
    unsigned count;
};
static_assert(sizeof(struct wmi_patterns) <= WMI_PATTERNS_BYTES, "as much as callers have");

/* Remembers the instruction that was assembled from the text between `begin` and the end of the encoder's; it
 * must not depend on a symbol or on where it stands. */
void wmi_keep_pattern(struct wmi_patterns *patterns, const char *begin, const struct wmi_encoder *e,
                      const struct wmi_instruction *insn);
/* The same, for this very text only. */
void wmi_keep_as_it_stands(struct wmi_patterns *patterns, const char *begin, const char *end,
                           const struct wmi_instruction *insn);

#endif
