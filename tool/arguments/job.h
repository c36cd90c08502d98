/* SPDX-License-Identifier: MIT */
/* A job: the dispatches of `run` and `prof`, checked against the code object before execution. */
#ifndef WAVEMEM_TOOL_JOB_H
#define WAVEMEM_TOOL_JOB_H

#include "tool/arguments/array.h"
#include "tool/check/request.h"
#include "tool/report/prof.h"
#include "tool/shard/range.h"
#include "tool/sources/sources.h"
#include "tool/tool.h"

#include <stdio.h>

/* The value `key=value` of an option such as --arg. */
struct tool_pair {
    const char *option; /* "--arg" */
    char *key;          /* owned; `value` points into it */
    const char *value;
};

struct tool_pairs {
    struct tool_pair *pairs;
    size_t count;
};

enum { TOOL_ANY_DISPATCH = -1 };

/* Guest memory of a job: allocated by it, or a variable of a code object. */
struct tool_buffer {
    struct tool_buffer *next; /* of the job */
    struct tool_array array;
    char *name;
    bool declared;                     /* by --buffer */
    size_t dispatch;                   /* whose argument made it; TOOL_ANY_DISPATCH */
    uint64_t at;                       /* --allocate-at; 0: anywhere */
    const struct wm_object *symbol_of; /* where the variable is; NULL: allocated. The array has no content */
    struct wm_image image;             /* of images: what the texels are, */
    struct wm_image_layout layout;     /* and where; the array has them without gaps */
    char mode[32];                     /* of tiled images: the swizzle mode, as given; image.mode */
    struct wm_surface *surface;        /* and where texels are; NULL: linear */
    uint64_t address;                  /* 0 until it is allocated */
    bool freed;                        /* --free, by the dispatch or an earlier one */
    bool filled;
    bool digested; /* its content is in the digest of --shard */
};

/* What --symbol writes before a dispatch. */
struct tool_setting {
    const struct tool_pair *pair;
    struct tool_buffer *buffer;
    struct tool_array array;
};

/* The value of one kernel argument. */
struct tool_binding {
    enum tool_binding_kind {
        TOOL_UNBOUND,
        TOOL_VALUE_BYTES, /* a value, or a null or literal pointer */
        TOOL_BUFFER,
        TOOL_DYNAMIC_LDS,
        TOOL_DESCRIPTORS, /* an image, a sampler, or both */
    } kind;
    uint8_t *bytes;             /* TOOL_VALUE_BYTES: of the argument's size; owned */
    struct tool_buffer *buffer; /* TOOL_BUFFER; TOOL_DESCRIPTORS: the texels, or NULL */
    uint64_t offset;            /* TOOL_BUFFER: in bytes */
    uint32_t lds;               /* TOOL_DYNAMIC_LDS: bytes */
    bool has_sampler;           /* TOOL_DESCRIPTORS */
    struct wm_sampler sampler;
};

/* A buffer from an offset on, and the file that it is written to. */
struct tool_output {
    const char *key, *path;
    struct tool_buffer *buffer;
    uint64_t offset;
};

enum { TOOL_OUT_OPTION = 560 };

struct tool_expectation {
    const char *key, *spec; /* `spec` without the tolerance */
    char *owned;            /* the storage of `spec` */
    struct tool_buffer *buffer;
    uint64_t offset;
    struct tool_array reference;
    bool exact;
    double relative, absolute; /* |x - ref| <= absolute + relative * |ref| */
};

/* The wave whose final registers are written. */
struct tool_final {
    const char *path; /* NULL: none are */
    uint32_t workgroup[3], wave;
    bool given; /* --of */
};

struct tool_dispatch {
    char *where; /* prefix of messages: "job.txt:3: "; "" for the command line */
    const char *file, *target, *kernel_name;
    uint32_t grid[3], workgroup[3]; /* work-items, 1 where none are given */
    uint32_t cluster[3];            /* workgroups, all 0 if none are given */
    unsigned dimensions;            /* of the grid, as given */
    uint64_t offset[3];             /* of the grid, work-items */
    bool has_grid, has_workgroup;
    bool counts_blocks; /* --blocks: the grid is in workgroups until tool_job_check() */
    uint32_t lds;       /* --lds */
    uint32_t scratch;   /* --scratch, bytes per lane */
    unsigned wave;      /* --wave: 32, 64 or 0 */
    bool bare, cooperative;
    struct tool_final final;
    struct tool_pairs arguments, outputs, expectations, symbols, places, frees;
    struct tool_pairs registers; /* --sgpr, --vgpr and --register in this order */
    /* Set by tool_job_check(): */
    const struct wm_object *object;
    const struct wm_kernel *kernel;
    const struct wm_argument *formal; /* the explicit arguments; for raw code derived from --arg */
    struct wm_argument *made;         /* the storage of derived arguments; or NULL */
    struct tool_binding *bindings;
    size_t formals;
    struct tool_output *output;
    struct tool_expectation *expect;
    struct tool_buffer **freed;    /* after the dispatch; one for each of `frees` */
    struct tool_setting *settings; /* one for each of `symbols` */
    size_t registers_from;         /* the earliest dispatch whose `registers` apply to this one */
};

struct tool_opened {
    const char *file, *target;
    unsigned wave; /* of raw code */
    struct wm_object *object;
};

struct tool_job {
    struct tool_dispatch *dispatches;
    size_t count;
    struct tool_opened *opened; /* objects, without duplicates */
    size_t opened_count;
    struct tool_pairs declared; /* --buffer */
    struct tool_buffer *buffers;
    struct wm_machine *sizes; /* has code objects loaded whose symbols have been looked up; or NULL */
    char **texts;             /* job files, whose text dispatches point to */
    size_t text_count;
    /* Of the whole job: */
    uint32_t threads;
    uint64_t max_instructions;
    double timeout;
    bool stats, fidelity, exports, help, guess;
    enum wm_alignment alignment;
    struct tool_check_request check;
    struct tool_compile compile;
    const char *verb; /* for the commands in messages, with the words after it */
    char **words;
    int word_count;
    enum wm_scalar_cache scalar_cache;
    bool goes_on, stops;      /* memory violations: continue after them; --on-violation stop is given */
    const struct wm_gpu *gpu; /* prof and --cooperative; NULL: the default of the target */
    unsigned sample;          /* prof only; 0: all workgroups */
    bool keeps_l2;            /* prof only */
    struct tool_prof_outputs outputs; /* JSON: also `run`; others: prof only */
    bool apertures;                   /* --apertures is given, with these bases */
    uint64_t shared_base, private_base;
    struct tool_shard shard;            /* --shard and --part */
    struct {                            /* debug only */
        struct tool_kept_list commands; /* -x FILE, and --eval-command COMMAND, without a letter */
        bool batch;
        const char *gdb; /* --gdb: a port of this host, or "-"; or NULL */
    } debug;
};

/* The options of the verbs that execute. */
extern const struct tool_option tool_job_options[];

/* Parses the words after the verb. Returns TOOL_CLEAN, or TOOL_WRONG after a message. Free the job in any
 * case. */
int tool_job_parse(struct tool_job *job, const char *verb, int count, char **words);
/* Writes the prefix of messages about this file of --out to `text` and returns it. */
const char *tool_out_option(const struct tool_dispatch *dispatch, const struct tool_output *output,
                            char text[TOOL_OUT_OPTION]);
/* The first option given that only profiles have, or NULL. */
const char *tool_profile_option(const struct tool_job *job);
/* Refuses such an option, and --all without checks, for a verb that counts nothing. */
int tool_refuse_profile(const struct tool_job *job);
/* Opens the files, finds the kernels and checks every argument, output and reference. As above. */
int tool_job_check(struct tool_job *job);
/* Warns of sizes of a dispatch that are often a mistake: HIP counts workgroups, wavemem work-items. */
void tool_warn_of_sizes(const struct tool_job *job, size_t index);
void tool_job_free(struct tool_job *job);
/* Frees `text` with the job. */
void tool_keep_text(struct tool_job *job, void *text);

/* In arguments.c: lists the arguments of dispatch `index`, whose kernel is known, and checks the names given
 * for them; binds them, when they are complete. */
int tool_name_arguments(struct tool_job *job, size_t index);
int tool_bind_arguments(struct tool_job *job, size_t index);
/* Reads a value that fills `size` bytes, such as "2.5", "u32:1,2" or "bytes:00ff"; the caller frees. */
bool tool_read_value(const char *text, uint32_t size, uint8_t **bytes, struct wm_diag *diag);
/* In job.c: adds the word NAME=VALUE of an --arg. */
bool tool_add_argument(struct tool_dispatch *d, const char *word, const char *where);
/* In guess.c: whether the dispatch has sizes and all arguments; adds guessed ones with --guess, else lists
 * what is missing. */
int tool_complete_dispatch(struct tool_job *job, size_t index);
/* "64,64": as many numbers as there are dimensions. */
void tool_extent_text(const uint32_t extent[3], unsigned dimensions, char text[40]);

/* ---- checks of single options of dispatch `index` ---- */

/* In places.c: --allocate-at; the words of all buffers and variables, when all names are known. */
int tool_check_places(struct tool_job *job, size_t index);
int tool_check_words(struct tool_job *job);
/* In registers.c: --sgpr, --vgpr, --register. */
int tool_check_start(struct tool_job *job, size_t index);
/* In symbols.c: --symbol; the values of words are left to tool_check_words(). */
int tool_check_symbols(struct tool_job *job, size_t index);

/* ---- variables of code objects; in symbols.c ---- */

/* Writes what --symbol of dispatch `index` says. */
bool tool_write_symbols(struct tool_job *job, size_t index, struct wm_machine *machine, struct wm_diag *diag);

/* ---- comparing; in compare.c ---- */

enum { TOOL_SHOWN = 8 };

struct tool_comparison {
    uint64_t elements, different;
    uint64_t first[TOOL_SHOWN]; /* indices of the first differences */
    uint64_t worst;             /* index of the largest error */
    long double largest;        /* |x - ref| there; infinite if exactly one of them is a NaN */
};

/* Parses "@ref.npy:1e-6,1e-9" or any other array, and checks that its size and type fit the buffer. */
bool tool_expectation_parse(struct tool_expectation *expect, struct wm_diag *diag);
/* Compares the reference with the buffer's `elements`; WM_NO_MEMORY or WM_OK. */
enum wm_status tool_compare(const struct tool_expectation *expect, const void *elements,
                            struct tool_comparison *comparison);
/* Prints the differences in at most TOOL_SHOWN + 1 lines. */
void tool_print_comparison(FILE *file, const struct tool_expectation *expect, const void *elements,
                           const struct tool_comparison *comparison);
/* The element type of `buffer` from `offset` on. */
const struct tool_type *tool_buffer_type(const struct tool_buffer *buffer, uint64_t offset);

#endif
