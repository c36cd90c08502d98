/* SPDX-License-Identifier: MIT */
/* A file of assembly text being read: its sections, symbols and messages. Only this folder reads it. */
#ifndef WMI_ASSEMBLER_STATE_H
#define WMI_ASSEMBLER_STATE_H

#include "base/arena.h"
#include "base/diag.h"
#include "isa/assemble.h"

#include <assert.h>
#include <setjmp.h>
#include <stdio.h>

struct wmi_bytes {
    uint8_t *data;
    size_t size, capacity;
};

/* What an expression can be relative to; the first member of sections and of symbols. */
struct wmi_asm_base {
    bool is_section;
};

/* Where a statement stands, for messages. */
struct wmi_asm_place {
    const char *name; /* of the file */
    const char *line, *line_end;
    unsigned number;
};

struct wmi_asm_symbol {
    struct wmi_asm_base base;
    struct wmi_asm_symbol *next;  /* in its bucket */
    struct wmi_asm_symbol *later; /* in the order of the file */
    const char *name;
    struct wmi_asm_section *section; /* of a label; NULL: undefined, or a variable */
    struct wmi_value value;          /* of a variable; of a label the offset */
    uint64_t size;
    uint8_t type, binding, visibility; /* STT_, STB_, STV_ */
    bool defined, variable;
    bool reported; /* as undefined */
    bool builtin;  /* .amdgcn.next_free_vgpr and its kin, which the file did not set itself */
    /* Set by the linker: */
    bool needed;           /* by a relocation, although it is not defined */
    uint32_t dynamic, got; /* its place in .dynsym, in .got and 1; 0: none */
    uint32_t dynamic_name; /* in .dynstr */
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
    unsigned subsection; /* more of the same name stand behind the first, by this number */
    uint32_t type;
    uint64_t flags, entry_size, alignment;
    struct wmi_bytes bytes;
    struct wmi_asm_relocation *relocations;
    /* Set by the linker: */
    struct wmi_asm_output *output;
    struct wmi_asm_section *sibling; /* the next one in the same output */
    uint64_t address;                /* if it is not loaded: from the begin of its output */
};

/* A statement whose symbols were not all known: it is read again at the end. */
struct wmi_asm_late {
    struct wmi_asm_late *next;
    struct wmi_asm_section *section;
    uint64_t offset;
    const char *text, *end;
    struct wmi_asm_place place;
    uint8_t bytes;  /* of a number; 0: an instruction; 255: a directive that is read again */
    bool is_signed; /* of a LEB128 number */
    unsigned leb;   /* its place in wmi_asm_lebs and 1; 0: it is none */
    unsigned numbered[10];
};

/* How many bytes each .uleb128 and .sleb128 of later symbols has, in the order of the file: the file is read
 * again with more of them as long as these are too few, and none ever has less. */
struct wmi_asm_lebs {
    uint8_t *bytes;
    unsigned room;
    bool grew, last; /* last: it is not read again */
};

/* Text that is read: a file, or what a macro became. */
struct wmi_asm_source {
    struct wmi_asm_source *outer;
    const char *at, *end;
    const char *name; /* of a file; NULL: text that something else became */
    unsigned line;
    const char *macro;   /* the name of the macro that it is of, or NULL */
    unsigned conditions; /* how many .if were open */
};

enum {
    WMI_ASM_BUCKETS = 4096,
    WMI_ASM_CONDITIONS = 64,
    WMI_ASM_MESSAGES = 20,
    WMI_ASM_ENOUGH = 10000, /* errors: nothing more is read */
    WMI_ASM_PARAMETERS = 32,
    WMI_ASM_LONGEST_CHAIN = 64, /* of symbols that are defined by others */
    WMI_ASM_LDS = 1 << 16,      /* bytes that .amdgpu_lds can give away */
    WMI_ASM_MOST_TEXT = 1 << 27 /* bytes of text that macros, repetitions and files may become */
};

struct wmi_asm_parameter {
    const char *name, *otherwise; /* otherwise: its value where none is given, or NULL */
    size_t length;
    bool required, takes_rest;
};

struct wmi_asm_macro {
    struct wmi_asm_macro *next;
    const char *name, *body;
    size_t body_size;
    unsigned parameters, used; /* used: how often */
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
    struct wmi_asm_lebs *lebs;
    unsigned leb_count;
    struct wmi_asm_late_kernel *late_kernels; /* descriptors with numbers that come later */
    struct wmi_asm_source *source;
    struct wmi_asm_macro *macros;
    /* Of each open .if; last_part: .else was there. */
    bool skipping[WMI_ASM_CONDITIONS], taken[WMI_ASM_CONDITIONS], last_part[WMI_ASM_CONDITIONS];
    unsigned conditions, expansions, macros_used, numbered[10];
    uint64_t expanded; /* bytes of text that macros and repetitions became, and of files */
    bool gave_up;      /* after a message: nothing more is read */
    bool reading_late, saw_late;
    uint64_t late_offset;          /* where the statement stands that is read again */
    bool alternate;                /* .altmacro */
    bool own_lines;                /* each instruction has a row for its line in the text */
    bool row_pending;              /* the bytes that come next begin what the last .loc said */
    struct wmi_asm_lines *lines;   /* NULL until .file or .loc */
    struct wmi_asm_frames *frames; /* NULL until .cfi_startproc or .cfi_sections */
    bool counts_registers;         /* something names .amdgcn.next_free_vgpr or _sgpr */
    struct wmi_asm_place place;
    const char *statement; /* where the directive or the instruction begins */
    unsigned errors;
    struct wmi_bytes messages;
    struct wmi_bytes scratch, repeated; /* text being made */
    struct wmi_bytes metadata;          /* MessagePack being made */
    struct wmi_bytes out;
    bool reads_files, is_raw;
    const char *const *folders; /* where .include looks */
    size_t folder_count;
    FILE *open_file;
    unsigned code_object_version;
    uint64_t lds_size;             /* of .amdgpu_lds */
    struct wmi_patterns *patterns; /* lines that were instructions without symbols */
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
/* Defines the label here; false after a message that it is defined already. */
bool wmi_asm_define(struct wmi_assembler *a, const char *at, struct wmi_asm_symbol *symbol);
/* The name of the `count`th label `digit`:, of which `name` has room for 32 bytes. Returns its length. */
size_t wmi_asm_numbered_name(char *name, unsigned digit, unsigned count);
/* The value of a symbol in an expression, for struct wmi_symbols; `user` is the assembler. */
void wmi_asm_find_symbol(void *user, const char *name, size_t length, struct wmi_value *value);

#endif
