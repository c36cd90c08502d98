/* SPDX-License-Identifier: MIT */
/* Cache of instruction texts, keyed by the words without register numbers. */
#ifndef WMI_WORD_PATTERN_H
#define WMI_WORD_PATTERN_H

#include "isa/isa.h"

#include <assert.h>

enum {
    WMI_WORD_UNITS = 1 << 13, /* of pattern memory */
    WMI_WORD_UNIT = 64,       /* bytes: a cache line */
    WMI_WORD_PLACES = 1 << 14,
    WMI_WORD_SLOTS = 6,
    WMI_WORD_FEW = 4, /* slots that suffice for nearly all instructions */
    WMI_WORD_TEXT = 96,
    WMI_WORD_ROOM = 192,
    WMI_WORD_RULES = 8,
    WMI_WORD_VALUES = 512, /* values of an operand field */
    WMI_WORD_SIZES = 33,   /* sizes of register tuples */
    WMI_WORD_FORMS = 512,
};

/* A register number in the words. */
struct wmi_word_slot {
    uint8_t before; /* characters between the previous number and this one */
    uint8_t dwords; /* 0: not in the text */
    uint8_t last;   /* largest valid number */
    uint8_t below_multiple;
};

/* The text follows the slots in use, so a short pattern takes one unit of memory. */
struct wmi_word_pattern {
    uint64_t words; /* without the numbers */
    uint16_t form;
    int16_t target; /* low 16 bits of the first word: a branch's offset */
    uint8_t dwords; /* 0: such words have to be decoded */
    bool branch;
  uint8_t slots : 7;
    uint8_t has_long_pieces : 1; /* of text between numbers */
    uint8_t behind;              /* characters after the last number */
    struct wmi_word_slot slot[];
};
static_assert(sizeof(struct wmi_word_pattern) == 16, "what there is to read first stands together");

/* Meaning of a value of an operand field under one rule. */
struct wmi_word_value {
    uint8_t number, mask; /* of a register: its number, and the bits that hold it */
    bool is_register, literal;
};

/* The operands of a form that may be registers. */
struct wmi_word_form {
    uint16_t form; /* 0: empty */
    uint8_t dwords;
    uint8_t fields; /* WMI_WORD_FEW or WMI_WORD_SLOTS; trailing ones may be unused */
    bool refused;
    struct wmi_word_field {
        uint8_t pos, selector; /* bit `selector` of the words chooses the rule */
        uint16_t mask;
        uint16_t values[2]; /* by that bit: index of the rule's first value */
    } field[WMI_WORD_SLOTS];
    uint8_t operand[WMI_WORD_SLOTS];
};

/* The text of a register or tuple: 7, or 2:3. */
struct wmi_word_number {
    char text[7];
    uint8_t length;
};

/* The patterns of one target; initially zero, then set up by wmi_word_patterns_begin(). */
struct wmi_word_patterns {
    const struct wmi_target *target;
    struct wmi_word_value
        value[WMI_WORD_RULES * WMI_WORD_VALUES]; /* computed when a form first needs the rule */
    bool has_values[WMI_WORD_RULES];
    struct wmi_word_number number[WMI_WORD_SIZES << 8]; /* by size and first register; computed when needed */
    struct wmi_word_form form[WMI_WORD_FORMS];          /* by the low bits of the form number */
    uint16_t place[WMI_WORD_PLACES]; /* hash of the words -> index in `unit`; two places per hash */
    unsigned units;                  /* in use */
    /* The patterns, allocated contiguously so that few pages are touched; [0] is empty. */
    struct wmi_word_unit {
        uint64_t bytes[WMI_WORD_UNIT / sizeof(uint64_t)];
    } unit[WMI_WORD_UNITS + 2]; /* padding for block reads after the last pattern */
};

void wmi_word_patterns_begin(struct wmi_word_patterns *patterns, const struct wmi_target *target);

/* Prints the instruction that begins with the dwords `two`, the first in the lower half, of which `available`
 * (at least 1) exist. `text` has room for WMI_WORD_ROOM characters. Returns the pattern and sets *length;
 * NULL: it has to be decoded. */
const struct wmi_word_pattern *wmi_print_alike(struct wmi_word_patterns *patterns, uint64_t two,
                                               size_t available, char *text, uint32_t *length);

/* Caches the text of a decoded instruction. */
void wmi_keep_word_pattern(struct wmi_word_patterns *patterns, const struct wmi_instruction *insn,
                           const char *text, size_t length, bool branch);

#endif
