/* SPDX-License-Identifier: MIT */
/* Opens files for all verbs: code objects as they are, sources after compiling or assembling them. */
#ifndef WAVEMEM_TOOL_SOURCES_H
#define WAVEMEM_TOOL_SOURCES_H

#include "tool/tool.h"
#include "wavemem/wavemem.h"

/* What the options of compilation say. */
struct tool_compile {
    const char *clang, *level;     /* --clang, -O; NULL: not given */
    struct tool_kept_list options; /* -D, -I and --compile-option, in this order */
    struct tool_kept_list symbols; /* --defsym */
};

/* These options for a table of struct tool_option. `type` is the request of the verb, `member` its struct
 * tool_compile. */
#define TOOL_COMPILE_OPTIONS(type, member)                                                                   \
    {"clang", 0, TOOL_VALUE, TOOL_OPTION_KEPT, offsetof(type, member.clang)},                                \
        {"optimize", 'O', TOOL_VALUE, TOOL_OPTION_KEPT, offsetof(type, member.level)},                       \
        {"define", 'D', TOOL_VALUE, TOOL_OPTION_LISTED, offsetof(type, member.options)},                     \
        {"include", 'I', TOOL_VALUE, TOOL_OPTION_LISTED, offsetof(type, member.options)},                    \
        {"defsym", 0, TOOL_VALUE, TOOL_OPTION_LISTED, offsetof(type, member.symbols)},                       \
    {                                                                                                        \
        "compile-option", 0, TOOL_VALUE, TOOL_OPTION_LISTED, offsetof(type, member.options)                  \
    }

extern const char tool_compile_help[]; /* these options */

/* A file to open. */
struct tool_open {
    const char *where;                  /* prefix of messages, or "" */
    const char *file, *target, *kernel; /* target and kernel may be NULL */
    unsigned wave;                      /* 32, 64, or 0: what the target says */
    const struct wm_gpu *gpu;           /* the default target of sources; or NULL */
    const struct tool_compile *compile;
    const char *verb; /* for the commands in messages */
    bool code_only;   /* for disassembly: wm_object_open_code() will do */
};

/* Whether the name is that of a source: .cl, .hip, .s, .S, .ll or .bc. */
bool tool_is_source(const char *file);

/* Opens the file. A source is compiled, or taken from the cache. In a file with several bundles, `kernel`
 * chooses among the entries that fit the target. Returns TOOL_CLEAN, or TOOL_WRONG after a message. */
int tool_open(const struct tool_open *how, struct wm_object **object);
/* Makes the code object of a source. The caller frees *bytes. As above. */
int tool_make_object(const struct tool_open *how, uint8_t **bytes, size_t *size);

/* ---- the parts of compilation ---- */

/* A growing list of words, or text. */
struct tool_list {
    char **words;
    size_t count;
};

/* Adds a formatted word; exits if out of memory. */
void tool_list_add(struct tool_list *list, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tool_list_free(struct tool_list *list);

enum tool_language { TOOL_NO_SOURCE, TOOL_OPENCL, TOOL_HIP, TOOL_IR, TOOL_ASSEMBLY };
enum tool_language tool_language_of(const char *file);

/* In sources.c: the target that assembly or LLVM's text names, or "" . */
void tool_named_target(enum tool_language language, const char *text, size_t size, char target[64]);
/* Compiles how->file for `target`; the caller frees *bytes. */
int tool_compile_source(const struct tool_open *how, enum tool_language language, const char *target,
                        const char *text, size_t text_size, uint8_t **bytes, size_t *size);

/* In compilers.c. */
/* The compilers to try, best first: paths. */
void tool_find_compilers(const char *clang, struct tool_list *paths);
/* The folder of AMD's device library, or "". `looked`: where it was searched. */
void tool_find_device_library(char folder[512], char *looked, size_t size);
/* The folder that --rocm-path wants: the parent of include/hip; or "". */
void tool_find_rocm(char folder[512]);

/* In cache.c: objects that were compiled before. */
struct tool_cache_entry {
    char *messages; /* of the compiler */
    uint8_t *bytes;
    size_t size;
};
/* The folder of the cache; "" if there is none, for want of a place to write. */
void tool_cache_folder(char folder[512]);
/* Finds the object made from `key`, if the files that it depends on are unchanged. The caller frees both
 * members of *entry. */
bool tool_cache_find(const char *folder, const char *key, size_t key_size, struct tool_cache_entry *entry);
/* Keeps an object. `dependencies`: the compiler's list of files, in make's syntax. Errors are ignored. */
void tool_cache_keep(const char *folder, const char *key, size_t key_size, const char *dependencies,
                     const struct tool_cache_entry *entry);

#endif
