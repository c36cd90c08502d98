/* SPDX-License-Identifier: MIT */
/* A parsed instruction, passed from the parser to the encoder; internal to src/isa. */
#ifndef WMI_PARSED_H
#define WMI_PARSED_H

#include "isa/tables.h"
#include "isa/text/assemble.h"

enum { WMI_LIST = 14, WMI_ENCODED_DWORDS = WMI_INSTRUCTION_DWORDS + 1 };

enum wmi_parsed_what {
    WMI_PARSED_ABSENT, /* not in the text */
    WMI_PARSED_REGISTER,
    WMI_PARSED_NUMBER,
    WMI_PARSED_REAL,
    WMI_PARSED_OFF,
    WMI_PARSED_LIST, /* [v1, v3, v[5:7]] */
};

/* An operand as written. */
struct wmi_parsed {
    uint8_t what;
    uint8_t file, dwords,
        part; /* register: enum wmi_operand_kind, ...; if special, `reg` is enum wmi_special */
    uint16_t reg;
    uint8_t neg, abs, sext;
    uint8_t count;
    const char *at;
    double real;
    struct wmi_value value;
    uint16_t list[WMI_LIST]; /* registers, all in `file` */
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
    unsigned tried;    /* number of forms tried, including this one */
    int32_t field[WMI_FIELD_COUNT];
    const char *field_at[WMI_FIELD_COUNT]; /* position of a modifier in the text; NULL: absent */
    uint32_t words[WMI_ENCODED_DWORDS];
    unsigned dwords;
    bool is_read; /* the form parsed the whole text */
    bool has_literal, late_literal, wide_literal;
    uint64_t literal;
    struct wmi_relocation relocation;
};

/* src/isa/text/encode.c. Sets words and dwords; returns false after a message. */
bool wmi_encode(struct wmi_encoder *e);

/* src/isa/text/parse_immediate.c: immediates with a syntax of their own, and names. */
size_t wmi_word_length(struct wmi_cursor *cursor);
/* Consumes the character, or reports what was expected. */
bool wmi_need(struct wmi_cursor *cursor, char c, const char *what);
/* Consumes a name of the group in any case, with or without `prefix`; false without a message. */
bool wmi_take_name(struct wmi_encoder *e, enum wmi_name_group group, const char *prefix, int32_t *value);
/* The same, or a number. */
bool wmi_name_or_number(struct wmi_encoder *e, enum wmi_name_group group, const char *prefix, int32_t *value);
bool wmi_in_range(struct wmi_encoder *e, const char *at, int64_t value, int64_t low, int64_t high);
bool wmi_parse_immediate(struct wmi_encoder *e, const struct wmi_spec *spec, struct wmi_parsed *operand);
/* src/isa/text/parse_special.c: modifiers. */
/* Whether a modifier of the form is next. */
bool wmi_at_modifier(struct wmi_encoder *e);
bool wmi_parse_modifier(struct wmi_encoder *e);
/* Sets the fields to the values that they have without modifiers. */
void wmi_default_fields(struct wmi_encoder *e);
/* Consumes `word` if it is the next whole word. */
bool wmi_take_word(struct wmi_cursor *cursor, const char *word);

#endif
