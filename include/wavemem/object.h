/* SPDX-License-Identifier: MIT */
/* Code objects, and bundles of them. */
#ifndef WAVEMEM_OBJECT_H
#define WAVEMEM_OBJECT_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct wm_object; /* a parsed code object; immutable, may be shared */

/* .value_kind of the metadata; source: LLVM AMDGPUUsage, "AMDHSA Code Object Metadata". */
enum wm_argument_kind {
    WM_ARGUMENT_BY_VALUE,
    WM_ARGUMENT_GLOBAL_BUFFER,
    WM_ARGUMENT_DYNAMIC_LDS, /* dynamic_shared_pointer */
    WM_ARGUMENT_IMAGE,
    WM_ARGUMENT_SAMPLER,
    WM_ARGUMENT_PIPE,
    WM_ARGUMENT_QUEUE,
    WM_ARGUMENT_HIDDEN, /* filled by wm_dispatch */
};

struct wm_argument {
    const char *name;       /* "" when neither metadata nor DWARF has one */
    const char *type_name;  /* "float*", or "" */
    const char *value_kind; /* the metadata's own word */
    enum wm_argument_kind kind;
    uint32_t offset, size, alignment; /* bytes in the kernarg segment; pointee alignment for dynamic LDS */
    bool is_const;                    /* the metadata says that the kernel only reads it */
};

struct wm_kernel {
    const char *name;        /* the symbol: mangled, if the source is C++ */
    const char *source_name; /* "math::scale<float, 4>"; cut before what wavemem cannot unmangle */
    const char *target;
    uint64_t descriptor, entry;      /* addresses in the object, before loading */
    uint32_t kernarg_size;           /* bytes, hidden arguments included */
    uint32_t lds_size, scratch_size; /* bytes; static LDS of a workgroup, scratch of a lane */
    uint32_t sgprs, vgprs, agprs, sgpr_spills, vgpr_spills;
    uint32_t wave_size;             /* 32 or 64 */
    const char *mode;               /* from gfx10 on "CU" or "WGP", where a workgroup runs; else NULL */
    uint32_t max_workgroup;         /* work-items */
    uint32_t required_workgroup[3]; /* reqd_work_group_size; 0,0,0 when free */
    bool dynamic_stack;
    const struct wm_argument *arguments;
    size_t argument_count;
};

/* Parses `size` bytes, which are copied; `name` is used in messages. They are
 * - an ELF code object; `target`, if not NULL, only says what it must be for;
 * - something that holds code objects: see wm_bundle_open(). `target` chooses the entry: a processor
 *   ("gfx900"), perhaps with features ("gfx90a:xnack+"), or the number that wm_bundle_entry() has it under.
 * Of a feature that it does not name any setting will do, and an entry that does not name a feature fits
 * every setting; one that names the same features goes before others. NULL: the only code object.
 * WM_NOT_FOUND when there is none, WM_BAD_ARGUMENT when there are several; the message lists them;
 * - anything else, with `target` not NULL: raw instructions of that target.
 * Raw instructions have one kernel, "raw", that starts at their first: s[0:1] holds the address of the
 * arguments, s2, s3, s4 the workgroup's id; v0, v1, v2 hold the work-item's, or where the target packs them
 * v0 alone; it has all registers, no static LDS, no scratch; denormals are kept, waves are 64 lanes wide,
 * from gfx10 on 32. */
WM_API enum wm_status wm_object_open(const void *bytes, size_t size, const char *name, const char *target,
                                     struct wm_object **object, struct wm_diag *diag);
/* The same from a file. */
WM_API enum wm_status wm_object_open_file(const char *path, const char *target, struct wm_object **object,
                                          struct wm_diag *diag);
/* The same for its code alone: metadata is not read, and the object has no kernels, unless it is raw. What
 * wm_object_code(), _symbol(), _next_symbol(), _wave_size() and _line() say is the same. */
WM_API enum wm_status wm_object_open_code(const char *path, const char *target, struct wm_object **object,
                                          struct wm_diag *diag);
WM_API void wm_object_close(struct wm_object *object);

struct wm_bundle; /* what a file holds for several targets; immutable, may be shared */

struct wm_bundle_entry {
    const char *id;     /* "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+", "host-x86_64-unknown-linux--" */
    const char *target; /* "gfx90a:xnack+"; "" when it is for no GPU of AMD's, as the host's entry */
    size_t size;        /* bytes, see wm_bundle_bytes() */
    size_t bundle;      /* which bundle of the file, from 0 */
    uint64_t offset;    /* from the beginning of that bundle, decompressed */
    bool compressed;
};

/* Finds the entries of clang's offload bundles: a bundle by itself, plain or compressed (header versions 1 to
 * 3, zstd or zlib), or all bundles in the .hip_fatbin sections of an ELF file for the host. WM_NOT_FOUND when
 * the bytes are none of these. Compressed bundles are decompressed at once, to at most 2^30 bytes a file. */
WM_API enum wm_status wm_bundle_open(const void *bytes, size_t size, const char *name,
                                     struct wm_bundle **bundle, struct wm_diag *diag);
WM_API enum wm_status wm_bundle_open_file(const char *path, struct wm_bundle **bundle, struct wm_diag *diag);
WM_API void wm_bundle_close(struct wm_bundle *bundle);
WM_API size_t wm_bundle_entry_count(const struct wm_bundle *bundle);
WM_API const struct wm_bundle_entry *wm_bundle_entry(const struct wm_bundle *bundle, size_t index);
/* The bytes of an entry, for wm_object_open() when it has a target: valid until wm_bundle_close. A large file
 * is read as far as they ask for it. WM_NOT_FOUND: no such entry; WM_IO: the file cannot be read any more. */
WM_API enum wm_status wm_bundle_bytes(const struct wm_bundle *bundle, size_t index, const uint8_t **bytes,
                                      struct wm_diag *diag);
WM_API const char *wm_object_target(const struct wm_object *object); /* "gfx900" */
/* With the features that it was compiled for: "gfx90a:sramecc+:xnack-". */
WM_API const char *wm_object_target_id(const struct wm_object *object);
WM_API unsigned wm_object_version(const struct wm_object *object); /* code object version; 0: raw */
WM_API size_t wm_object_kernel_count(const struct wm_object *object);
WM_API const struct wm_kernel *wm_object_kernel(const struct wm_object *object, size_t index);
/* By its symbol, or by its source name with or without the last template arguments ("math::scale") if no
 * other kernel has that; with NULL the only kernel. */
WM_API enum wm_status wm_object_find_kernel(const struct wm_object *object, const char *name,
                                            const struct wm_kernel **kernel, struct wm_diag *diag);

/* A stretch of instructions, for disassembly. */
struct wm_code {
    uint64_t address;
    const uint8_t *bytes;
    size_t size;
    const char *section; /* ".text"; NULL or "" when it has no name */
};
/* The executable sections in address order; returns how many there are and fills up to `count`. */
WM_API size_t wm_object_code(const struct wm_object *object, struct wm_code *code, size_t count);
/* The symbol (function, or label) that `address` lies in: its name and the distance to it; NULL when none. */
WM_API const char *wm_object_symbol(const struct wm_object *object, uint64_t address, uint64_t *distance);
/* The first address from `address` on at which a symbol of code begins; UINT64_MAX: there is none. */
WM_API uint64_t wm_object_next_symbol(const struct wm_object *object, uint64_t address);
/* Lanes of a wave of the kernel that begins at `address`, by its descriptor; 0: none begins there. */
WM_API unsigned wm_object_wave_size(const struct wm_object *object, uint64_t address);
/* The source line of `address` from DWARF: file and line; false when unknown. */
WM_API bool wm_object_line(const struct wm_object *object, uint64_t address, const char **file,
                           unsigned *line, unsigned *column);

#ifdef __cplusplus
}
#endif

#endif
