/* SPDX-License-Identifier: MIT */
/* A code object being linked from what was assembled. Only link.c, dynamic.c and elf.c read it.
 */
#ifndef WMI_ASSEMBLER_LINK_H
#define WMI_ASSEMBLER_LINK_H

#include "assembler/state.h"

enum { WMI_LINK_PAGE = 0x1000, WMI_LINK_OUTPUTS = 4096 };

/* Segments in the order of their addresses; sections of the last are not loaded. */
enum wmi_asm_segment {
    WMI_SEGMENT_READ,
    WMI_SEGMENT_CODE,
    WMI_SEGMENT_WRITABLE_CODE,
    WMI_SEGMENT_RELRO, /* written by the loader only */
    WMI_SEGMENT_WRITE,
    WMI_SEGMENT_NONE,
};

/* A section of the code object: sections of its name, one after the other. */
struct wmi_asm_output {
    const char *name;
    uint32_t type;
    uint64_t flags, entry_size, alignment;
    enum wmi_asm_segment segment;
    unsigned rank; /* within its segment */
    struct wmi_asm_section *first, **last;
    uint64_t address, offset, size;
    uint32_t index, link, info, name_at; /* name_at: in .shstrtab */
};

/* What the loader has to add an address to. */
struct wmi_asm_dynamic {
    const struct wmi_asm_section *section;
    uint64_t offset;
    const struct wmi_asm_symbol
        *symbol; /* NULL: the address of `to` is added, which is known but for the load */
    const struct wmi_asm_section *to;
    int64_t addend;
    bool relative;
};

struct wmi_asm_linker {
    struct wmi_assembler *a;
    struct wmi_asm_output **outputs; /* in the order of their addresses */
    unsigned count;
    /* What the linker makes itself: */
    struct wmi_asm_section *dynsym, *gnu_hash, *hash, *dynstr, *rela, *dynamic, *got, *padding, *symtab,
        *shstrtab, *strtab;
    struct wmi_asm_symbol **exported; /* .dynsym but for its first entry */
    uint32_t exported_count;
    struct wmi_asm_dynamic *relocations;
    uint32_t relocation_count, relative_count, got_count;
};

/* The section that a symbol is in, NULL if it is a number; *value: from there. */
const struct wmi_asm_section *wmi_asm_symbol_section(const struct wmi_asm_symbol *symbol, uint64_t *value);
/* Where a symbol is in the code object. */
uint64_t wmi_asm_symbol_address(const struct wmi_asm_symbol *symbol);
uint32_t wmi_asm_symbol_index(const struct wmi_asm_symbol *symbol); /* of its section; SHN_ABS, SHN_UNDEF */

/* dynamic.c. Before addresses are known: which symbols the loader sees, and room for its tables. */
void wmi_asm_make_dynamic(struct wmi_asm_linker *link);
/* When they are: the tables. */
void wmi_asm_fill_dynamic(struct wmi_asm_linker *link);
void wmi_asm_make_symtab(struct wmi_asm_linker *link);
/* .shstrtab */
void wmi_asm_make_names(struct wmi_asm_linker *link);

/* elf.c: headers and sections to a->out. */
unsigned wmi_asm_program_headers(const struct wmi_asm_linker *link);
void wmi_asm_write_elf(struct wmi_asm_linker *link);

#endif
