/* SPDX-License-Identifier: MIT */
/* What the parser of one instruction tells the encoder; only src/isa reads it. */
#ifndef WMI_PARSED_H
#define WMI_PARSED_H

#include "isa/assemble.h"
#include "isa/tables.h"

enum { WMI_LIST = 14, WMI_ENCODED_DWORDS = WMI_INSTRUCTION_DWORDS + 1 };

enum wmi_parsed_what {
    WMI_PARSED_ABSENT, /* not in the text */
    WMI_PARSED_REGISTER,
    WMI_PARSED_NUMBER,
    WMI_PARSED_REAL,
    WMI_PARSED_OFF,
    WMI_PARSED_LIST, /* [v1, v3, v[5:7]] */
};

/* An operand as it stands in the text. */
struct wmi_parsed {
    uint8_t what;
    uint8_t file, dwords, part; /* of a register: enum wmi_operand_kind, ...; of a special one `reg` is enum
                                   wmi_special */
    uint16_t reg;
    uint8_t neg, abs, sext;
    uint8_t count;
    const char *at;
    double real;
    struct wmi_value value;
    uint16_t list[WMI_LIST]; /* registers, all of `file` */
    uint8_t list_dwords[WMI_LIST];
};

/* An instruction being assembled. */
struct wmi_encoder {
    const struct wmi_target *target;
    struct wmi_cursor *cursor;
    const struct wmi_form *form, *second; /* second: the other half of a pair, or NULL */
    const struct wmi_mnemonic *mnemonic, *second_mnemonic;
    struct wmi_parsed parsed[WMI_OPERANDS];
    unsigned operands; /* of both halves */
    unsigned tried;    /* forms, this one among them */
    int32_t field[WMI_FIELD_COUNT];
    const char *field_at[WMI_FIELD_COUNT]; /* where a modifier stands; NULL: not in the text */
    uint32_t words[WMI_ENCODED_DWORDS];
    unsigned dwords;
    bool is_read; /* the whole text, as the form has it */
    bool has_literal, late_literal;
    uint32_t literal;
    struct wmi_relocation relocation;
};

/* src/isa/encode.c. Sets words and dwords; false after a message. */
bool wmi_encode(struct wmi_encoder *e);

/* src/isa/parse_immediate.c: immediates that have a syntax of their own, and names. */
size_t wmi_word_length(struct wmi_cursor *cursor);
/* Takes the character, or says what was expected. */
bool wmi_need(struct wmi_cursor *cursor, char c, const char *what);
/* Takes a name of the group, case aside, with or without `prefix`; false without a message. */
bool wmi_take_name(struct wmi_encoder *e, enum wmi_name_group group, const char *prefix, int32_t *value);
/* The same, or a number. */
bool wmi_name_or_number(struct wmi_encoder *e, enum wmi_name_group group, const char *prefix, int32_t *value);
bool wmi_in_range(struct wmi_encoder *e, const char *at, int64_t value, int64_t low, int64_t high);
bool wmi_parse_immediate(struct wmi_encoder *e, const struct wmi_spec *spec, struct wmi_parsed *operand);
/* src/isa/parse_special.c: modifiers. */
/* Whether a modifier of the form is next. */
bool wmi_at_modifier(struct wmi_encoder *e);
bool wmi_parse_modifier(struct wmi_encoder *e);
/* What fields are where the text has no modifier. */
void wmi_default_fields(struct wmi_encoder *e);
/* Takes the word if it is next and whole. */
bool wmi_take_word(struct wmi_cursor *cursor, const char *word);

#endif
