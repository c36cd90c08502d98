/* SPDX-License-Identifier: MIT */
/* A file of assembly text being read: its sections, symbols and messages. Only assembler*.c read it. */
#ifndef WMI_ASSEMBLER_H
#define WMI_ASSEMBLER_H

#include "base/arena.h"
#include "base/diag.h"
#include "isa/assemble.h"

#include <setjmp.h>

struct wmi_bytes {
    uint8_t *data;
    size_t size, capacity;
};

struct wmi_asm_symbol {
    struct wmi_asm_symbol *next; /* in its bucket */
    const char *name;
    struct wmi_asm_section *section; /* of a label; NULL: undefined, or a variable */
    struct wmi_value value;          /* of a variable; of a label the offset */
    uint64_t size;
    uint8_t type, binding, visibility; /* STT_, STB_, STV_ */
    bool defined, variable, used;
    bool reported;  /* as undefined */
    uint32_t index; /* in the symbol table */
};

struct wmi_asm_relocation {
    uint64_t offset;
    const void *base; /* a section or a symbol */
    int64_t addend;
    uint32_t type; /* R_AMDGPU_* */
    struct wmi_asm_relocation *next;
};

struct wmi_asm_section {
    struct wmi_asm_section *next;
    const char *name;
    uint32_t type;
    uint64_t flags, entry_size, alignment;
    struct wmi_bytes bytes;
    struct wmi_asm_relocation *relocations;
    uint64_t address; /* set by the writer */
    uint32_t index;
};

/* A statement whose symbols were not all known: it is read again at the end. */
struct wmi_asm_late {
    struct wmi_asm_late *next;
    struct wmi_asm_section *section;
    uint64_t offset;
    const char *text, *end;
    const char *line, *line_end;
    unsigned line_number;
    uint8_t bytes; /* of a number; 0: an instruction; 255: a directive that is read again */
    unsigned numbered[10];
};

/* Text that is read: the file, or what a macro became. */
struct wmi_asm_source {
    struct wmi_asm_source *outer;
    const char *at, *end;
    unsigned line;
    bool is_file;
    unsigned conditions; /* how many .if were open */
};

struct wmi_asm_macro {
    struct wmi_asm_macro *next;
    const char *name, *body;
    size_t body_size;
    unsigned parameters;
    struct {
        const char *name, *otherwise; /* otherwise: NULL when it must be given */
        size_t length;
    } parameter[16];
};

enum { WMI_ASM_BUCKETS = 4096, WMI_ASM_CONDITIONS = 64, WMI_ASM_MESSAGES = 20 };

struct wmi_assembler {
    struct wmi_arena arena;
    const char *name; /* of the file */
    const struct wmi_target *target;
    const char *target_id; /* gfx90a:xnack+ */
    jmp_buf no_memory;
    struct wmi_asm_symbol *symbols[WMI_ASM_BUCKETS];
    struct wmi_asm_section *sections, *section, *previous, *text;
    struct wmi_asm_section *stack[16];
    unsigned stack_depth;
    struct wmi_asm_late *late;
    struct wmi_asm_source *source;
    struct wmi_asm_macro *macros;
    bool skipping[WMI_ASM_CONDITIONS], taken[WMI_ASM_CONDITIONS]; /* of each open .if */
    unsigned conditions, expansions, numbered[10];
    bool reading_late, saw_late;
    const char *line, *line_end; /* the statement's line, for messages */
    unsigned line_number;
    unsigned errors;
    struct wmi_bytes messages;
    unsigned code_object_version;
    struct wmi_symbols resolver;
};

void *wmi_asm_allocate(struct wmi_assembler *a, size_t count, size_t size);
char *wmi_asm_text(struct wmi_assembler *a, const char *text, size_t length);
void wmi_asm_append(struct wmi_assembler *a, struct wmi_bytes *bytes, const void *data, size_t size);
/* "FILE:LINE:COLUMN: error: MESSAGE", the line, and a caret. */
void wmi_asm_error(struct wmi_assembler *a, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
struct wmi_asm_symbol *wmi_asm_symbol(struct wmi_assembler *a, const char *name, size_t length);
struct wmi_asm_section *wmi_asm_section(struct wmi_assembler *a, const char *name, size_t length,
                                        uint32_t type, uint64_t flags);
/* The next line of the file, without its comment; false at the end. */
bool wmi_asm_next_line(struct wmi_assembler *a, const char **begin, const char **end);

/* src/object/assembler_hsa.c: what lies between .amdhsa_kernel or .amdgpu_metadata and its end. */
void wmi_asm_kernel(struct wmi_assembler *a, const char *name, size_t length);
void wmi_asm_metadata(struct wmi_assembler *a);

/* src/object/assembler_elf.c: the finished code object. */
void wmi_asm_write_elf(struct wmi_assembler *a, struct wmi_bytes *out);

/* Assembles `text`. Returns WM_OK with malloc'ed *bytes; otherwise, and with warnings, *messages is malloc'ed
 * text, lines of "name:line:column: error: ...". `raw`: only the section .text. */
enum wm_status wmi_assemble_file(const char *text, size_t size, const char *name, const char *target,
                                 bool raw, uint8_t **bytes, size_t *bytes_size, char **messages);

#endif
