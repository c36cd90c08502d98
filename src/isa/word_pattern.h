/* SPDX-License-Identifier: MIT */
/* Texts of instructions remembered by their words without the numbers of registers. */
#ifndef WMI_WORD_PATTERN_H
#define WMI_WORD_PATTERN_H

#include "isa/isa.h"

enum {
    WMI_WORD_PATTERNS = 1 << 12,
    WMI_WORD_PLACES = 1 << 14,
    WMI_WORD_SLOTS = 6,
    WMI_WORD_TEXT = 84,
    WMI_WORD_ROOM = 128
};

/* A register's number in the words. */
struct wmi_word_slot {
    uint8_t before; /* characters between the number in front and this one */
    uint8_t dwords; /* 0: the text does not show it */
    uint8_t last;   /* number that may stand here */
    uint8_t below_multiple;
};

struct wmi_word_pattern {
    uint32_t words[2]; /* without the numbers */
    uint16_t form;
    int16_t target; /* of a branch */
    uint8_t dwords; /* 0: words like these have to be decoded */
    bool branch;
    uint8_t slots, behind; /* behind: characters behind the last number */
    struct wmi_word_slot slot[WMI_WORD_SLOTS];
    char text[WMI_WORD_TEXT]; /* without the numbers; whole blocks of it are copied */
};

/* The patterns of one target; begins as zeros, but for what wmi_word_patterns_begin() sets. */
struct wmi_word_patterns {
    const struct wmi_target *target;
    unsigned sgprs; /* codes below it are SGPRs */
    struct {
        char text[3];
        uint8_t length;
    } number[256];
    uint16_t place[WMI_WORD_PLACES]; /* in `at`, by a hash of the words, of which two are looked at */
    unsigned count;
    struct wmi_word_pattern
        at[WMI_WORD_PATTERNS]; /* one behind the other, so that few pages are touched; [0]: none */
};

void wmi_word_patterns_begin(struct wmi_word_patterns *patterns, const struct wmi_target *target);

/* Prints the instruction at `words`, of which `available` may be read, into `text`, which has room for
 * WMI_WORD_ROOM characters. Returns the pattern and sets *length; NULL: it has to be decoded. */
const struct wmi_word_pattern *wmi_print_alike(const struct wmi_word_patterns *patterns,
                                               const uint32_t *words, size_t available, char *text,
                                               uint32_t *length);

/* Remembers what the decoded instruction's text is. */
void wmi_keep_word_pattern(struct wmi_word_patterns *patterns, const struct wmi_instruction *insn,
                           const char *text, size_t length, bool branch);

#endif
