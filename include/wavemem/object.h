/* SPDX-License-Identifier: MIT */
/* Code objects and offload bundles. */
#ifndef WAVEMEM_OBJECT_H
#define WAVEMEM_OBJECT_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct wm_object; /* a parsed code object; immutable, may be shared between threads */

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
    const char *name;       /* "" if neither metadata nor DWARF names it */
    const char *type_name;  /* "float*", or "" */
    const char *value_kind; /* .value_kind as in the metadata */
    enum wm_argument_kind kind;
    uint32_t offset, size,
        alignment; /* bytes, in the kernarg segment; dynamic LDS: alignment of the pointee */
    bool is_const; /* the metadata declares it as only read */
};

struct wm_kernel {
    const char *name; /* the symbol, mangled for C++ */
    const char
        *source_name; /* demangled, "math::scale<float, 4>"; truncated where wavemem cannot demangle it */
    const char *target;
    uint64_t descriptor, entry;      /* addresses within the object, before relocation to guest memory */
    uint32_t kernarg_size;           /* bytes, including hidden arguments */
    uint32_t lds_size, scratch_size; /* bytes: static LDS per workgroup, scratch per lane */
    uint32_t sgprs, vgprs, agprs, sgpr_spills, vgpr_spills;
    uint32_t wave_size;             /* 32 or 64 */
    const char *mode;               /* gfx10 and later: "CU" or "WGP" mode; else NULL */
    uint32_t max_workgroup;         /* work-items */
    uint32_t required_workgroup[3]; /* reqd_work_group_size; 0,0,0 if none */
    bool dynamic_stack;
    uint32_t dimensions; /* of work-item and workgroup ids that the kernel may read: 1 to 3 */
    const struct wm_argument *arguments;
    size_t argument_count;
    /* What the descriptor allocates: all that the code may use. sgprs, vgprs and agprs are the metadata's
     * counts of registers that it does use; vgprs of gfx90a and gfx940 include AccVGPRs, allocated_vgprs do
     * not. */
    uint32_t allocated_sgprs, allocated_vgprs, allocated_agprs;
    uint32_t required_cluster[3]; /* workgroups of a cluster (.cluster_dims); 0,0,0 if none */
};

/* Parses `size` bytes and keeps a copy. `name` appears in messages. The bytes are one of:
 * - an ELF code object. If `target` is not NULL, the object must be for this target.
 * - a file with offload bundles, see wm_bundle_open(). `target` selects the entry: a processor ("gfx900"), a
 *   processor with features ("gfx90a:xnack+"), or an entry's index in wm_bundle_entry(). A feature that
 * either the request or the entry leaves unspecified matches any setting; an entry that specifies the same
 * features is preferred. NULL selects the only code object. WM_NOT_FOUND: no entry matches; WM_BAD_ARGUMENT:
 * several match; the message lists the entries.
 * - anything else, if `target` is not NULL: raw instructions of that target.
 * Raw instructions form one kernel, "raw", whose entry is the first instruction. s[0:1] holds the address of
 * the arguments and s2, s3, s4 the workgroup id; v0, v1, v2 hold the work-item id (v0 alone on targets that
 * pack it). The kernel has all registers, no static LDS and no scratch. Denormals are preserved. Waves have
 * 64 lanes, from gfx10 on 32. */
WM_API enum wm_status wm_object_open(const void *bytes, size_t size, const char *name, const char *target,
                                     struct wm_object **object, struct wm_diag *diag);
/* Opens a file as wm_object_open() does. */
WM_API enum wm_status wm_object_open_file(const char *path, const char *target, struct wm_object **object,
                                          struct wm_diag *diag);
/* Opens a file for disassembly only, which is faster: metadata is not read, so the object has no kernels
 * unless it is raw. wm_object_code(), _symbol(), _next_symbol(), _wave_size() and _line() work as usual. */
WM_API enum wm_status wm_object_open_code(const char *path, const char *target, struct wm_object **object,
                                          struct wm_diag *diag);
WM_API void wm_object_close(struct wm_object *object);

struct wm_bundle; /* the offload bundles of a file; immutable, may be shared between threads */

struct wm_bundle_entry {
    const char *id;     /* "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+", "host-x86_64-unknown-linux--" */
    const char *target; /* "gfx90a:xnack+"; "" if it is not for an AMD GPU, as the host's entry */
    size_t size;        /* bytes, see wm_bundle_bytes() */
    size_t bundle;      /* index of the bundle in the file */
    uint64_t offset;    /* bytes from the start of that bundle, decompressed */
    bool compressed;
};

/* Reads the entries of clang's offload bundles: either a single bundle, plain or compressed (header versions
 * 1 to 3, zstd or zlib), or all bundles in the .hip_fatbin sections of a host ELF file. WM_NOT_FOUND: the
 * bytes are neither. Compressed bundles are decompressed immediately, to at most 2^30 bytes per file. */
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
/* The target with the features that the object was compiled for: "gfx90a:sramecc+:xnack-". */
WM_API const char *wm_object_target_id(const struct wm_object *object);
WM_API unsigned wm_object_version(const struct wm_object *object); /* code object version; 0: raw */
WM_API size_t wm_object_kernel_count(const struct wm_object *object);
WM_API const struct wm_kernel *wm_object_kernel(const struct wm_object *object, size_t index);
/* Finds a kernel by its symbol or its source name. The last template arguments may be omitted ("math::scale")
 * if only one kernel matches. NULL selects the only kernel. */
WM_API enum wm_status wm_object_find_kernel(const struct wm_object *object, const char *name,
                                            const struct wm_kernel **kernel, struct wm_diag *diag);

/* Finds where the source declares the kernel, in the object's debug information; without it, the line of the
 * kernel's first instruction. Returns false if neither is known. */
WM_API bool wm_kernel_line(const struct wm_object *object, const struct wm_kernel *kernel, const char **file,
                           unsigned *line);

/* Writes the name that a symbol has in the source, as wm_kernel.source_name, to `text` of `size` bytes, cut
 * to fit; the symbol itself if it is not mangled. Returns `text`. */
WM_API const char *wm_source_name(const char *symbol, char *text, size_t size);

/* A contiguous range of code, for disassembly. */
struct wm_code {
    uint64_t address;
    const uint8_t *bytes;
    size_t size;
    const char *section; /* ".text"; NULL or "" when it has no name */
};
/* The executable sections in address order; returns how many there are and fills up to `count`. */
WM_API size_t wm_object_code(const struct wm_object *object, struct wm_code *code, size_t count);
/* Returns the name of the symbol (function or label) that contains `address`, and sets *distance to the
 * offset within it in bytes; NULL: no symbol. */
WM_API const char *wm_object_symbol(const struct wm_object *object, uint64_t address, uint64_t *distance);
/* What the code in front of `address` has set that the meaning of the instruction there depends on, for
 * wm_decode_in() and wm_disassembler_begin(): the last s_set_vgpr_msb of gfx1250, on all ways that lead there
 * from where a symbol begins. 0: none has, it is not known, or the ways differ. */
WM_API unsigned wm_object_state(const struct wm_object *object, uint64_t address);
/* Returns the label (a symbol without a type, as hand-written code has them) at `address`, or NULL. */
WM_API const char *wm_object_label(const struct wm_object *object, uint64_t address);
/* Returns the lowest address >= `address` at which a code symbol begins, or UINT64_MAX. */
WM_API uint64_t wm_object_next_symbol(const struct wm_object *object, uint64_t address);
/* Returns the wave size (32 or 64) in the descriptor of the kernel whose entry is `address`; 0: no such
 * kernel. */
WM_API unsigned wm_object_wave_size(const struct wm_object *object, uint64_t address);
/* Finds the source file, line and column of `address` in the DWARF line table. Returns false if unknown. */
WM_API bool wm_object_line(const struct wm_object *object, uint64_t address, const char **file,
                           unsigned *line, unsigned *column);
/* A function that the compiler inlined, and where it was called. */
struct wm_inlined {
    const char *function;            /* "" when it has no name */
    const char *call_file;           /* NULL when unknown */
    unsigned call_line, call_column; /* 0 when unknown */
};
/* The inlined functions that `address` belongs to, by DWARF: `depth` 0 is the innermost one, which contains
 * the line of wm_object_line(), 1 the one into which that was inlined. Returns false if there are not so
 * many. Strings are valid as long as the object. */
WM_API bool wm_object_inlined(const struct wm_object *object, uint64_t address, unsigned depth,
                              struct wm_inlined *inlined);

#ifdef __cplusplus
}
#endif

#endif
