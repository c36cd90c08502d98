/* SPDX-License-Identifier: MIT */
/* The parsed object, as the files of this room build and read it. */
#ifndef WMI_OBJECT_PARTS_H
#define WMI_OBJECT_PARTS_H

#include "base/arena.h"
#include "base/diag.h"
#include "isa/isa.h"
#include "object/types.h"

#include <elf.h>
#include <pthread.h>

struct wmi_kernel {
    struct wm_kernel public; /* first: a wm_kernel that we hand out is one of these */
    struct wmi_kernel_descriptor descriptor;
    struct wm_argument *arguments; /* public.arguments, while they may still get their names */
};

/* A row of the line table: from `address` to the next row's. `file` NULL: nothing is known there. */
struct wmi_line {
    uint64_t address;
    const char *file;
    uint32_t line, column;
};

/* Where a kernel begins, and the lanes of its waves. */
struct wmi_entry {
    uint64_t address;
    unsigned lanes;
};

/* Made when somebody asks, under `lock`; once made, not changed. */
struct wmi_lazy {
    pthread_mutex_t lock;
    bool has_symbols, has_entries, has_lines, has_dwarf, has_names;
    bool lost;                     /* there was no memory for all of it */
    struct wmi_symbol *by_address; /* of code: functions, then labels */
    size_t functions, labels;
    struct wmi_entry *entries; /* by address */
    size_t entry_count;
    struct wmi_line *lines;
    size_t line_count;
    struct Elf *elf;
    struct Dwarf *dwarf;
    struct wmi_arena arena; /* type names from DWARF */
};

struct wm_object {
    const char *name; /* for messages */
    const uint8_t *bytes;
    size_t size;
    struct wm_bundle *input;         /* that `bytes` are a part of */
    int file;                        /* of the input's in memory that `bytes` are in, or -1 */
    const struct wmi_target *target; /* with waves of the usual size */
    const char *target_id;           /* with features, "gfx90a:sramecc+:xnack-" */
    unsigned version;                /* 3 to 6; 0: raw */
    uint32_t flags;                  /* e_flags */

    struct wmi_segment *segments;
    size_t segment_count;
    struct wm_code *code;
    size_t code_count;

    struct wmi_symbol *symbols; /* defined ones, in file order */
    size_t symbol_count;
    uint32_t *symbol_table; /* hash by name: index + 1, or 0 */
    size_t symbol_slots;    /* a power of two */

    /* The dynamic table, as file offsets that were checked. */
    const uint8_t *relocations, *dynamic_symbols, *dynamic_strings;
    size_t relocation_count, dynamic_symbol_count, dynamic_strings_size;

    const uint8_t *metadata;
    size_t metadata_size;
    const char **printf_formats;
    size_t printf_count;

    struct wmi_kernel *kernels;
    size_t kernel_count;

    struct wmi_arena arena;
    struct wmi_lazy *lazy;
};

/* elf.c: fills everything up to the metadata's place. */
enum wm_status wmi_elf_parse(struct wm_object *object, struct wm_diag *diag);
/* File bytes of [address, address + size) if a segment holds them all, else NULL. */
const uint8_t *wmi_object_bytes(const struct wm_object *object, uint64_t address, uint64_t size);

/* symbols.c */
enum wm_status wmi_symbols_hash(struct wm_object *object, struct wm_diag *diag);

/* metadata.c: makes the kernels. */
enum wm_status wmi_metadata_parse(struct wm_object *object, struct wm_diag *diag);

/* kernel.c: what the descriptor says, into `kernel`, whose names are set. */
enum wm_status wmi_kernel_describe(struct wm_object *object, struct wmi_kernel *kernel, const char *symbol,
                                   struct wm_diag *diag);
/* Splits the 64 bytes of a descriptor. */
void wmi_descriptor_read(const uint8_t bytes[WMI_DESCRIPTOR_BYTES], const struct wmi_target *target,
                         struct wmi_kernel_descriptor *descriptor);
/* Lanes of the waves of a kernel with this descriptor. */
unsigned wmi_lanes(const struct wmi_target *target, const struct wmi_kernel_descriptor *descriptor);
/* The kernel of a raw blob. */
enum wm_status wmi_kernel_raw(struct wm_object *object, struct wm_diag *diag);

/* mangled.c: the name in the source of a mangled C++ name, else `name` itself; NULL when there is no memory.
 */
const char *wmi_source_name(struct wmi_arena *arena, const char *name);
/* Whether `wanted` is that name, with or without its last template arguments; blanks do not count. */
bool wmi_source_name_is(const char *source_name, const char *wanted);

/* dwarf.c, all under the lock */
void wmi_dwarf_lines(const struct wm_object *object);
void wmi_dwarf_arguments(const struct wm_object *object); /* names and types that the metadata lacks */
void wmi_dwarf_close(struct wmi_lazy *lazy);

static inline enum wm_status wmi_no_memory(const struct wm_object *object, struct wm_diag *diag)
{
    return wmi_fail(diag, WM_NO_MEMORY, "%s: no memory for what it contains", object->name);
}

#endif
