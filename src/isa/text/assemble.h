/* SPDX-License-Identifier: MIT */
/* Parses assembly text: expressions, and single instructions in LLVM's syntax. */
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
    WMI_PART_GOT,
};

/* The value of an expression: a number, or `number` bytes from `base`. */
struct wmi_value {
    int64_t number;
    const void *base;   /* section or undefined symbol, as defined by the symbol reader; NULL: absolute */
    const void *symbol; /* the only label in the expression, as defined by the symbol reader; or NULL */
    uint8_t part;       /* enum wmi_symbol_part */
    bool late;          /* contains a symbol without a value so far */
    bool relative;      /* LLVM stores it as a distance from the literal: a label plus a number */
    bool literal;       /* resolved after the instruction's size was fixed, so never an inline constant */
};

/* Symbol lookup. */
struct wmi_symbols {
    /* Always sets *value: a name may be defined later. */
    void (*find)(void *user, const char *name, size_t length, struct wmi_value *value);
    /* Computes name(argument, ...) from numbers, for the functions that LLVM has in expressions; NULL: none.
     * False: unknown name, or wrong arguments. */
    bool (*call)(void *user, const char *name, size_t length, const int64_t *arguments, unsigned count,
                 int64_t *value);
    void *user;
    struct wmi_value here; /* address of the instruction */
};

/* Cache of assembled instructions of one target (pattern.h), WMI_PATTERNS_BYTES long, initially zero. */
struct wmi_text_patterns;
enum { WMI_PATTERNS_BYTES = 819456 };

/* A cached mnemonic lookup, for repeated use with one target; initially zero. */
struct wmi_name_memory {
    const char *text; /* must remain valid while the entry is in use */
    size_t length;
    const struct wmi_mnemonic *found;
    unsigned variants;
};
enum { WMI_NAME_MEMORIES = 256 };

/* Input text, read position and error position. */
struct wmi_cursor {
    const char *at, *end;
    const struct wmi_symbols *symbols;  /* or NULL */
    struct wmi_name_memory *names;      /* WMI_NAME_MEMORIES entries, or NULL */
    struct wmi_text_patterns *patterns; /* assembled instructions are added here; or NULL */
    bool used_symbol;                   /* an expression used a symbol or "." */
    const char *wrong;                  /* what was expected; may contain one %u for `number` */
    const char *wrong_at;
    unsigned number;
};

/* Records an error unless one further on is already recorded; returns false. */
bool wmi_expected(struct wmi_cursor *cursor, const char *at, const char *what);
static inline void wmi_skip_space(struct wmi_cursor *cursor)
{
    while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\t' || *cursor->at == '\r'))
        cursor->at++;
}

/* Consumes `c` and blanks before it, if it is next. */
static inline bool wmi_take(struct wmi_cursor *cursor, char c)
{
    wmi_skip_space(cursor);
    if (cursor->at == cursor->end || *cursor->at != c)
        return false;
    cursor->at++;
    return true;
}

/* Skips blanks and returns the length of the name at the cursor; 0: none. */
size_t wmi_name_length(struct wmi_cursor *cursor);
/* Reads an expression with LLVM's operators and precedence. */
bool wmi_read_expression(struct wmi_cursor *cursor, struct wmi_value *value);
/* Reads an expression whose value is known now. */
bool wmi_read_number(struct wmi_cursor *cursor, int64_t *number);
/* Reads a number with a decimal point or an exponent; false without a message if there is none. */
bool wmi_read_real(struct wmi_cursor *cursor, double *real);

/* A dword, or two, to be filled in by a relocation. */
struct wmi_relocation {
    struct wmi_value value; /* base NULL: none */
    uint8_t word;           /* index of the dword; for a branch its low 16 bits */
    bool branch;
    bool wide; /* a 64-bit literal: two dwords */
};

/* Assembles one instruction. Sets insn->words and insn->dwords and decodes the result into `insn`.
 * `relocation` may be NULL. Returns the length in dwords, or 0 on error; then the cursor holds the error, and
 * `cursor->wrong` is NULL if the target has no such mnemonic. */
unsigned wmi_assemble(const struct wmi_target *target, struct wmi_cursor *cursor,
                      struct wmi_instruction *insn, struct wmi_relocation *relocation);

/* Assembles the text from the cache if it differs from a cached instruction in register numbers only. Sets
 * `words` (WMI_INSTRUCTION_DWORDS of them). Returns the length in dwords; 0: use wmi_assemble(). */
unsigned wmi_assemble_alike(const struct wmi_text_patterns *patterns, const char *begin, const char *end,
                            uint32_t *words);

/* Edit distance from `a`, ignoring case, to `b` in lower case; `most` + 1 if larger, or if a word is too
 * long. */
unsigned wmi_edits(const char *a, size_t length, const char *b, unsigned most);
/* Whether the target has this instruction; `name` may have a suffix such as _e32. */
bool wmi_has_mnemonic(const struct wmi_target *target, const char *name, size_t length);
/* Stores the target's mnemonics closest in spelling to `name`, nearest first, at most `most`; returns the
 * number found. */
unsigned wmi_nearest_mnemonics(const struct wmi_target *target, const char *name, size_t length,
                               const char **found, unsigned most);

#endif
