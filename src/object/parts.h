/* SPDX-License-Identifier: MIT */
/* The parsed object, internal to src/object. */
#ifndef WMI_OBJECT_PARTS_H
#define WMI_OBJECT_PARTS_H

#include "base/arena.h"
#include "base/diag.h"
#include "isa/isa.h"
#include "object/types.h"

#include <elf.h>
#include <pthread.h>

struct wmi_kernel {
    struct wm_kernel public; /* must be first: wm_kernel pointers that we return point here */
    struct wmi_kernel_descriptor descriptor;
    uint8_t descriptor_bytes[WMI_DESCRIPTOR_BYTES]; /* of a raw blob that was given one */
    struct wm_argument *arguments; /* public.arguments, modifiable until names are read from DWARF */
    const char *file;              /* of the declaration, once `has_places`; or NULL */
    unsigned line;
};

/* A row of the line table, valid up to the next row's address. `file` NULL: no information. */
struct wmi_line {
    uint64_t address;
    const char *file;
    uint32_t line, column;
};

/* A part of the code that is an inlined function: [low, high). */
struct wmi_inlined {
    uint64_t low, high;
    unsigned depth; /* inlined functions around it */
    struct wm_inlined public;
};

/* Entry point of a kernel, and its wave size. */
struct wmi_entry {
    uint64_t address;
    unsigned lanes;
};

/* Computed on first use, under `lock`, and immutable afterwards. */
struct wmi_lazy {
    pthread_mutex_t lock;
    bool has_symbols, has_entries, has_states, has_lines, has_inlined, has_dwarf, has_names, has_places;
    bool lost;                     /* out of memory for some of it */
    struct wmi_symbol *by_address; /* code symbols: functions, then labels */
    size_t functions, labels;
    struct wmi_entry *entries; /* sorted by address */
    size_t entry_count;
    uint16_t **states; /* of each range of code; or NULL, as any of it: see states.c */
    struct wmi_line *lines;
    size_t line_count;
    struct wmi_inlined *inlined;
    size_t inlined_count;
    struct Elf *elf;
    struct Dwarf *dwarf;
    struct wmi_arena arena; /* type names from DWARF */
};

struct wm_object {
    const char *name; /* for messages */
    const uint8_t *bytes;
    size_t size;
    struct wm_bundle *input;         /* the input that contains `bytes` */
    int file;                        /* the input's memfd if it contains `bytes`, or -1 */
    const struct wmi_target *target; /* default wave size */
    const char *target_id;           /* with features, "gfx90a:sramecc+:xnack-" */
    unsigned version;                /* 3 to 6; 0: raw */
    uint32_t flags;                  /* e_flags */

    struct wmi_segment *segments;
    size_t segment_count;
    struct wm_code *code;
    size_t code_count;

    struct wmi_symbol *symbols; /* defined symbols, in file order */
    size_t symbol_count;
    uint32_t *symbol_table; /* hash table by name: index + 1, or 0 */
    size_t symbol_slots;    /* a power of two */

    /* The dynamic table, as validated pointers into the file. */
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

/* elf.c: parses everything up to the location of the metadata. */
enum wm_status wmi_elf_parse(struct wm_object *object, struct wm_diag *diag);
/* The file bytes of [address, address + size) if one segment contains them all, else NULL. */
const uint8_t *wmi_object_bytes(const struct wm_object *object, uint64_t address, uint64_t size);

/* symbols.c */
enum wm_status wmi_symbols_hash(struct wm_object *object, struct wm_diag *diag);

/* metadata.c: creates the kernels. */
enum wm_status wmi_metadata_parse(struct wm_object *object, struct wm_diag *diag);

/* kernel.c: fills `kernel`, whose names are set, from its descriptor. */
enum wm_status wmi_kernel_describe(struct wm_object *object, struct wmi_kernel *kernel, const char *symbol,
                                   struct wm_diag *diag);
/* Decodes the 64 bytes of a descriptor. */
void wmi_descriptor_read(const uint8_t bytes[WMI_DESCRIPTOR_BYTES], const struct wmi_target *target,
                         struct wmi_kernel_descriptor *descriptor);
/* Converts granules to registers. Source: AMDGPUUsage, table compute_pgm_rsrc1. */
void wmi_descriptor_count_registers(struct wmi_kernel_descriptor *d, const struct wmi_target *target);
/* Wave size of a kernel with this descriptor. */
unsigned wmi_lanes(const struct wmi_target *target, const struct wmi_kernel_descriptor *descriptor);
/* Gives the kernel of a raw blob another descriptor. */
enum wm_status wmi_kernel_redescribe(struct wm_object *object, const uint8_t bytes[WMI_DESCRIPTOR_BYTES],
                                     struct wm_diag *diag);
/* The kernel of a raw blob. */
enum wm_status wmi_kernel_raw(struct wm_object *object, struct wm_diag *diag);

/* mangled.c: demangles a C++ name; other names are returned unchanged. NULL if out of memory. */
const char *wmi_source_name(struct wmi_arena *arena, const char *name);
/* Whether `wanted` is this name, with or without its last template arguments, ignoring blanks. */
bool wmi_source_name_is(const char *source_name, const char *wanted);

/* states.c */
void wmi_states_free(struct wm_object *object);

/* dwarf.c; called with the lock held */
void wmi_dwarf_lines(const struct wm_object *object);
void wmi_dwarf_arguments(const struct wm_object *object); /* names and types that the metadata lacks */
void wmi_dwarf_close(struct wmi_lazy *lazy);
/* Calls read() with the object's DWARF, if it has any. */
void wmi_dwarf_read(const struct wm_object *object, void (*read)(struct Dwarf *dwarf, void *user),
                    void *user);

static inline enum wm_status wmi_no_memory(const struct wm_object *object, struct wm_diag *diag)
{
    return wmi_fail(diag, WM_NO_MEMORY, "%s: no memory for what it contains", object->name);
}

#endif
