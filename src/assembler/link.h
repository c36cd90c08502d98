/* SPDX-License-Identifier: MIT */
/* State of the linker; internal to link.c, dynamic.c and elf.c. */
#ifndef WMI_ASSEMBLER_LINK_H
#define WMI_ASSEMBLER_LINK_H

#include "assembler/state.h"

enum { WMI_LINK_PAGE = 0x1000, WMI_LINK_OUTPUTS = 4096 };

/* Segments by address; sections in the last are not loaded. */
enum wmi_asm_segment {
    WMI_SEGMENT_READ,
    WMI_SEGMENT_CODE,
    WMI_SEGMENT_WRITABLE_CODE,
    WMI_SEGMENT_RELRO, /* written by the loader only */
    WMI_SEGMENT_WRITE,
    WMI_SEGMENT_NONE,
};

/* An output section: the concatenated input sections of its name. */
struct wmi_asm_output {
    const char *name;
    uint32_t type;
    uint64_t flags, entry_size, alignment;
    enum wmi_asm_segment segment;
    unsigned rank; /* order within its segment */
    struct wmi_asm_section *first, **last;
    uint64_t address, offset, size;
    uint32_t index, link, info, name_at; /* name_at: in .shstrtab */
};

/* A dynamic relocation. */
struct wmi_asm_dynamic {
    const struct wmi_asm_section *section;
    uint64_t offset;
    const struct wmi_asm_symbol *symbol; /* NULL: relative, to an address in `to` */
    const struct wmi_asm_section *to;
    int64_t addend;
    bool relative;
};

struct wmi_asm_linker {
    struct wmi_assembler *a;
    struct wmi_asm_output **outputs; /* sorted by address */
    unsigned count;
    /* Synthetic sections: */
    struct wmi_asm_section *dynsym, *gnu_hash, *hash, *dynstr, *rela, *dynamic, *got, *padding, *symtab,
        *shstrtab, *strtab;
    struct wmi_asm_symbol **exported; /* .dynsym without its first entry */
    uint32_t exported_count;
    struct wmi_asm_dynamic *relocations;
    uint32_t relocation_count, relative_count, got_count;
};

/* The section of a symbol, NULL if it is a number; *value: offset in the section. */
const struct wmi_asm_section *wmi_asm_symbol_section(const struct wmi_asm_symbol *symbol, uint64_t *value);
/* Address of a symbol in the code object. */
uint64_t wmi_asm_symbol_address(const struct wmi_asm_symbol *symbol);
uint32_t wmi_asm_symbol_index(const struct wmi_asm_symbol *symbol); /* section index; SHN_ABS, SHN_UNDEF */

/* dynamic.c. Before addresses are assigned: chooses the exported symbols and reserves space for the tables.
 */
void wmi_asm_make_dynamic(struct wmi_asm_linker *link);
/* After addresses are assigned: fills the tables. */
void wmi_asm_fill_dynamic(struct wmi_asm_linker *link);
void wmi_asm_make_symtab(struct wmi_asm_linker *link);
/* .shstrtab */
void wmi_asm_make_names(struct wmi_asm_linker *link);

/* elf.c: writes headers and sections to a->out. */
unsigned wmi_asm_program_headers(const struct wmi_asm_linker *link);
void wmi_asm_write_elf(struct wmi_asm_linker *link);

#endif
