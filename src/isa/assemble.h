/* SPDX-License-Identifier: MIT */
/* Reading assembly text: expressions, and one instruction in LLVM's syntax to its words. */
#ifndef WMI_ASSEMBLE_H
#define WMI_ASSEMBLE_H

#include "isa/isa.h"

/* Which part of a symbol's address a relocation stores: symbol@rel32@lo. */
enum wmi_symbol_part {
    WMI_PART_NONE,
    WMI_PART_ABS32_LO,
    WMI_PART_ABS32_HI,
    WMI_PART_REL32_LO,
    WMI_PART_REL32_HI,
    WMI_PART_REL64,
    WMI_PART_GOT32_LO,
    WMI_PART_GOT32_HI,
};

/* What an expression is: a number, or a number of bytes from `base`. */
struct wmi_value {
    int64_t number;
    const void *base;   /* whatever the reader of symbols calls a base (a section, an undefined symbol); NULL:
                           absolute */
    const void *symbol; /* the one label that it is made of, as the reader of symbols calls it; or NULL */
    uint8_t part;       /* enum wmi_symbol_part */
    bool late;          /* a symbol in it has no value yet */
    bool literal;       /* known only after the size of its instruction was: never an inline constant */
};

/* Who knows symbols. */
struct wmi_symbols {
    /* Sets *value, always: a name may become known later. */
    void (*find)(void *user, const char *name, size_t length, struct wmi_value *value);
    void *user;
    struct wmi_value here; /* where the instruction stands */
};

/* Instructions that were assembled, by what they have in common: WMI_PATTERNS_BYTES that begin as zeros, and
 * are of one target. */
struct wmi_patterns;
enum { WMI_PATTERNS_BYTES = 819456 };

/* Mnemonics that were looked up, for many instructions of one target; begins as zeros. */
struct wmi_name_memory {
    const char *text; /* which must stay where it is */
    size_t length;
    const struct wmi_mnemonic *found;
    unsigned variants;
};
enum { WMI_NAME_MEMORIES = 256 };

/* Text being read, and where it went wrong. */
struct wmi_cursor {
    const char *at, *end;
    const struct wmi_symbols *symbols; /* or NULL */
    struct wmi_name_memory *names;     /* WMI_NAME_MEMORIES of them, or NULL */
    struct wmi_patterns *patterns;     /* gets what is assembled, or NULL */
    bool asked_symbol;                 /* an expression had a symbol, or "." */
    const char *wrong;                 /* what was expected; may have one %u for `number` */
    const char *wrong_at;
    unsigned number;
};

/* Notes what is wrong, unless something further on was wrong before; returns false. */
bool wmi_expected(struct wmi_cursor *cursor, const char *at, const char *what);
static inline void wmi_skip_space(struct wmi_cursor *cursor)
{
    while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\t' || *cursor->at == '\r'))
        cursor->at++;
}

/* Takes `c` with the blanks before it, if it is next. */
static inline bool wmi_take(struct wmi_cursor *cursor, char c)
{
    wmi_skip_space(cursor);
    if (cursor->at == cursor->end || *cursor->at != c)
        return false;
    cursor->at++;
    return true;
}

/* The length of the name at the cursor, blanks skipped; 0: there is none. */
size_t wmi_name_length(struct wmi_cursor *cursor);
/* Reads an expression with LLVM's operators and their order. */
bool wmi_read_expression(struct wmi_cursor *cursor, struct wmi_value *value);
/* An expression that is a number now. */
bool wmi_read_number(struct wmi_cursor *cursor, int64_t *number);
/* Reads a number with a point or an exponent; false, without a message, if there is none. */
bool wmi_read_real(struct wmi_cursor *cursor, double *real);

/* A word that another tool has to fill in. */
struct wmi_relocation {
    struct wmi_value value; /* base NULL: none */
    uint8_t word;           /* which dword; its 16 low bits for a branch */
    bool branch;
};

/* Assembles the text of one instruction. Sets insn->words and insn->dwords and decodes what it made;
 * `relocation` may be NULL. Returns the length in dwords or 0; then the cursor says what is wrong, and
 * `cursor->wrong` is NULL if the target does not know the mnemonic. */
unsigned wmi_assemble(const struct wmi_target *target, struct wmi_cursor *cursor,
                      struct wmi_instruction *insn, struct wmi_relocation *relocation);

/* Assembles the text if it is like one that `patterns` has, but for the numbers of registers; sets `words`,
 * of which there are WMI_INSTRUCTION_DWORDS. Returns the length in dwords; 0: wmi_assemble() has to look at
 * it. */
unsigned wmi_assemble_alike(const struct wmi_patterns *patterns, const char *begin, const char *end,
                            uint32_t *words);

/* Edits from one word, in any case, to the other in lower case; `most` + 1 if more, or if one is very long.
 */
unsigned wmi_edits(const char *a, size_t length, const char *b, unsigned most);
/* Whether the target has an instruction called so; with or without a suffix such as _e32. */
bool wmi_has_mnemonic(const struct wmi_target *target, const char *name, size_t length);
/* Puts the mnemonics of the target that are spelled most like `name` into `found`, the nearest first, at most
 * `most`; returns how many. */
unsigned wmi_nearest_mnemonics(const struct wmi_target *target, const char *name, size_t length,
                               const char **found, unsigned most);

#endif
