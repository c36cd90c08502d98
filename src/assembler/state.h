/* SPDX-License-Identifier: MIT */
/* State of the assembler for one file: its sections, symbols and messages. Internal to this folder. */
#ifndef WMI_ASSEMBLER_STATE_H
#define WMI_ASSEMBLER_STATE_H

#include "base/arena.h"
#include "base/diag.h"
#include "isa/text/assemble.h"

#include <assert.h>
#include <setjmp.h>
#include <stdio.h>

struct wmi_bytes {
    uint8_t *data;
    size_t size, capacity;
};

/* The base of relative expressions; the first member of sections and of symbols. */
struct wmi_asm_base {
    bool is_section;
};

/* The position of a statement, for messages. */
struct wmi_asm_place {
    const char *name; /* of the file */
    const char *line, *line_end;
    unsigned number;
};

struct wmi_asm_symbol {
    struct wmi_asm_base base;
    struct wmi_asm_symbol *next;  /* in the same bucket */
    struct wmi_asm_symbol *later; /* in file order */
    const char *name;
    struct wmi_asm_section *section; /* of a label; NULL: undefined, or a variable */
    struct wmi_value value;          /* of a variable; offset of a label */
    uint64_t size;
    uint8_t type, binding, visibility; /* STT_, STB_, STV_ */
    bool defined, variable;
    bool named;    /* in the value of another symbol */
    bool reported; /* an error for the undefined symbol has been reported */
    bool builtin;  /* .amdgcn.next_free_vgpr and similar, unless set by the file */
    /* Set by the linker: */
    bool needed;           /* undefined, but used by a relocation */
    uint32_t dynamic, got; /* index in .dynsym; index in .got + 1; 0: none */
    uint32_t dynamic_name; /* offset in .dynstr */
};

struct wmi_asm_relocation {
    struct wmi_asm_relocation *next;
    uint64_t offset;
    const struct wmi_asm_base *base;
    int64_t addend;
    uint32_t type; /* R_AMDGPU_* */
    struct wmi_asm_place place;
};

struct wmi_asm_section {
    struct wmi_asm_base base;
    struct wmi_asm_section *next;
    const char *name;
    unsigned subsection; /* subsections follow the first section of this name, sorted by number */
    uint32_t type;
    uint64_t flags, entry_size, alignment;
    struct wmi_bytes bytes;
    struct wmi_asm_relocation *relocations;
    /* Set by the linker: */
    struct wmi_asm_output *output;
    struct wmi_asm_section *sibling; /* the next section in the same output */
    uint64_t address;                /* if not loaded: offset in its output */
};

/* A statement with forward references, to be read again at the end. */
struct wmi_asm_late {
    struct wmi_asm_late *next;
    struct wmi_asm_section *section;
    uint64_t offset;
    const char *text, *end;
    struct wmi_asm_place place;
    uint8_t bytes;  /* of a number; 0: an instruction; 255: a directive */
    bool is_signed; /* of a LEB128 number */
    unsigned sized; /* index in wmi_asm_sizes + 1; 0: the size does not depend on symbols */
    unsigned numbered[10];
};

/* Sizes of items that depend on forward references (.uleb128, .sleb128, padded branches), in file order. The
 * file is read in several passes, with growing sizes, until all suffice; sizes never shrink. */
struct wmi_asm_sizes {
    uint8_t *bytes;
    unsigned capacity;
    bool grew, last; /* last: no further pass */
};

/* Text being read: a file, or an expansion. */
struct wmi_asm_source {
    struct wmi_asm_source *outer;
    const char *at, *end;
    const char *name; /* of a file; NULL: an expansion */
    unsigned line;
    const char *macro;   /* the name of the expanded macro, or NULL */
    unsigned conditions; /* number of open .if */
};

enum {
    WMI_ASM_BUCKETS = 4096,
    WMI_ASM_CONDITIONS = 64,
    WMI_ASM_MESSAGES = 20,
    WMI_ASM_ENOUGH = 10000, /* errors before reading stops */
    WMI_ASM_PARAMETERS = 32,
    WMI_ASM_LONGEST_CHAIN = 64, /* of symbols defined in terms of each other */
    WMI_ASM_LDS = 1 << 16,      /* bytes that .amdgpu_lds can allocate */
    WMI_ASM_MOST_TEXT = 1 << 27 /* bytes of text that macros, repetitions and files may expand to */
};

struct wmi_asm_parameter {
    const char *name, *otherwise; /* otherwise: default value, or NULL */
    size_t length;
    bool required, takes_rest;
};

struct wmi_asm_macro {
    struct wmi_asm_macro *next;
    const char *name, *body;
    size_t body_size;
    unsigned parameters, used; /* used: number of expansions */
    struct wmi_asm_parameter parameter[WMI_ASM_PARAMETERS];
};

struct wmi_assembler {
    struct wmi_arena arena;
    const struct wmi_target *target;
    const char *target_id; /* gfx90a:xnack+ */
    jmp_buf no_memory;
    struct wmi_asm_symbol *symbols[WMI_ASM_BUCKETS];
    struct wmi_asm_symbol *first_symbol, **last_symbol;
    struct wmi_asm_section *sections, *section, *previous, *text;
    struct {
        struct wmi_asm_section *section, *previous;
    } stack[16]; /* of .pushsection */
    unsigned stack_depth;
    struct wmi_asm_late *late, **last_late;
    struct wmi_asm_sizes *sizes;
    unsigned size_count;
    struct wmi_asm_late_kernel *late_kernels; /* descriptors with forward references */
    struct wmi_asm_source *source;
    struct wmi_asm_macro *macros;
    /* For each open .if; last_part: after .else. */
    bool skipping[WMI_ASM_CONDITIONS], taken[WMI_ASM_CONDITIONS], last_part[WMI_ASM_CONDITIONS];
    unsigned conditions, expansions, macros_used, numbered[10];
    uint64_t expanded; /* bytes of text from macros, repetitions and files */
    bool gave_up;      /* after a fatal message: reading stops */
    bool reading_late, saw_late;
    bool settling;                 /* reading_late, but symbols may still get values */
    uint64_t late_offset;          /* offset of the statement being read again */
    bool alternate;                /* .altmacro */
    bool own_lines;                /* add a row for each instruction's line in the text */
    bool row_pending;              /* the next bytes begin a row for the last .loc */
    struct wmi_asm_lines *lines;   /* NULL until .file or .loc */
    struct wmi_asm_frames *frames; /* NULL until .cfi_startproc or .cfi_sections */
    bool counts_registers;         /* the input refers to .amdgcn.next_free_vgpr or _sgpr */
    struct wmi_asm_place place;
    const char *statement; /* start of the directive or instruction */
    unsigned errors;
    struct wmi_bytes messages;
    struct wmi_bytes scratch, repeated; /* temporary text */
    struct wmi_bytes metadata;          /* temporary MessagePack */
    struct wmi_bytes out;
    bool reads_files, is_raw;
    const char *const *folders; /* searched by .include and .incbin */
    size_t folder_count;
    FILE *open_file;
    unsigned code_object_version;
    uint64_t lds_size;                  /* allocated by .amdgpu_lds */
    struct wmi_text_patterns *patterns; /* cache of instructions without symbols */
    struct wmi_name_memory names[WMI_NAME_MEMORIES];
    struct wmi_symbols resolver;
};

void *wmi_asm_allocate(struct wmi_assembler *a, size_t count, size_t size);
char *wmi_asm_text(struct wmi_assembler *a, const char *text, size_t length);
void wmi_asm_append(struct wmi_assembler *a, struct wmi_bytes *bytes, const void *data, size_t size);
/* "FILE:LINE:COLUMN: error: MESSAGE", the line, and a caret. */
void wmi_asm_error(struct wmi_assembler *a, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void wmi_asm_warning(struct wmi_assembler *a, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void wmi_asm_note(struct wmi_assembler *a, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* FNV-1a. */
static inline uint32_t wmi_asm_hash(const char *text, size_t length)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (uint8_t)text[i]) * 16777619u;
    return hash;
}

struct wmi_asm_symbol *wmi_asm_symbol(struct wmi_assembler *a, const char *name, size_t length);
struct wmi_asm_section *wmi_asm_section(struct wmi_assembler *a, const char *name, size_t length,
                                        uint32_t type, uint64_t flags);
/* Defines the label here; false after a message if it is already defined. */
bool wmi_asm_define(struct wmi_assembler *a, const char *at, struct wmi_asm_symbol *symbol);
/* Writes the name of the `count`th label `digit`: to `name`, at most 32 bytes. Returns its length. */
size_t wmi_asm_numbered_name(char *name, unsigned digit, unsigned count);
/* The value of a symbol in an expression, for struct wmi_symbols; `user` is the assembler. */
void wmi_asm_find_symbol(void *user, const char *name, size_t length, struct wmi_value *value);

#endif
