/* SPDX-License-Identifier: MIT */
/* Texts of instructions remembered by their words without the numbers of registers. */
#ifndef WMI_WORD_PATTERN_H
#define WMI_WORD_PATTERN_H

#include "isa/isa.h"

#include <assert.h>

enum {
    WMI_WORD_UNITS = 1 << 13, /* of memory for patterns */
    WMI_WORD_UNIT = 64,       /* bytes: a line of the cache */
    WMI_WORD_PLACES = 1 << 14,
    WMI_WORD_SLOTS = 6,
    WMI_WORD_FEW = 4, /* as many slots as nearly all have */
    WMI_WORD_TEXT = 96,
    WMI_WORD_ROOM = 192,
    WMI_WORD_RULES = 8,
    WMI_WORD_VALUES = 512, /* of an operand's field */
    WMI_WORD_SIZES = 33,   /* of tuples of registers */
    WMI_WORD_FORMS = 512,
};

/* A register's number in the words. */
struct wmi_word_slot {
    uint8_t before; /* characters between the number in front and this one */
    uint8_t dwords; /* 0: the text does not show it */
    uint8_t last;   /* number that may stand here */
    uint8_t below_multiple;
};

/* One that is short takes one unit of memory: the text begins behind the slots that are used. */
struct wmi_word_pattern {
    uint64_t words; /* without the numbers */
    uint16_t form;
    int16_t target; /* of a branch */
    uint8_t dwords; /* 0: words like these have to be decoded */
    bool branch;
  uint8_t slots : 7;
    uint8_t has_long_pieces : 1; /* of text between numbers */
    uint8_t behind;              /* characters behind the last number */
    struct wmi_word_slot slot[];
};
static_assert(sizeof(struct wmi_word_pattern) == 16, "what there is to read first stands together");

/* What a value of an operand's field says, by the rule for such operands. */
struct wmi_word_value {
    uint8_t number, mask; /* of a register, and its bits in the field */
    bool is_register, literal;
};

/* Where the words of a form have operands that may be registers. */
struct wmi_word_form {
    uint16_t form; /* 0: none yet */
    uint8_t dwords;
    uint8_t fields; /* WMI_WORD_FEW or all; there are none in the last ones, perhaps */
    bool refused;
    struct wmi_word_field {
        uint8_t pos, selector; /* which of the rules holds, the bit `selector` of the words says */
        uint16_t mask;
        uint16_t values[2]; /* by that bit: the first one of its rule */
    } field[WMI_WORD_SLOTS];
    uint8_t operand[WMI_WORD_SLOTS];
};

/* The text of a tuple's registers: 7, or 2:3. */
struct wmi_word_number {
    char text[7];
    uint8_t length;
};

/* The patterns of one target; begins as zeros, but for what wmi_word_patterns_begin() sets. */
struct wmi_word_patterns {
    const struct wmi_target *target;
    struct wmi_word_value value[WMI_WORD_RULES * WMI_WORD_VALUES]; /* made when a form needs the rule */
    bool has_values[WMI_WORD_RULES];
    struct wmi_word_number number[WMI_WORD_SIZES << 8]; /* by dwords and the first; made when asked for */
    struct wmi_word_form form[WMI_WORD_FORMS];          /* by the lower bits of their numbers */
    uint16_t place[WMI_WORD_PLACES]; /* in `unit`, by a hash of the words, of which two are looked at */
    unsigned units;                  /* in use */
    /* The patterns, one behind the other, so that few pages are touched; [0]: none. */
    struct wmi_word_unit {
        uint64_t bytes[WMI_WORD_UNIT / sizeof(uint64_t)];
    } unit[WMI_WORD_UNITS + 2]; /* blocks may be read behind the last one */
};

void wmi_word_patterns_begin(struct wmi_word_patterns *patterns, const struct wmi_target *target);

/* Prints the instruction that begins with the dwords `two`, the first in the lower half; of them `available`,
 * 1 or more, are there. `text` has room for WMI_WORD_ROOM characters. Returns the pattern and sets *length;
 * NULL: it has to be decoded. */
const struct wmi_word_pattern *wmi_print_alike(struct wmi_word_patterns *patterns, uint64_t two,
                                               size_t available, char *text, uint32_t *length);

/* Remembers what the decoded instruction's text is. */
void wmi_keep_word_pattern(struct wmi_word_patterns *patterns, const struct wmi_instruction *insn,
                           const char *text, size_t length, bool branch);

#endif
