/* SPDX-License-Identifier: MIT */
/* Common parts of the command's verbs: exit codes, messages, options, numbers. */
#ifndef WAVEMEM_TOOL_H
#define WAVEMEM_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit codes of the command. */
enum tool_exit {
    TOOL_CLEAN = 0,
    TOOL_FINDINGS = 1,   /* a comparison failed, or a check found something */
    TOOL_WRONG = 2,      /* wrong usage or bad input */
    TOOL_FAULT = 3,      /* the guest faulted */
    TOOL_INCOMPLETE = 4, /* a part of the request could not be analysed */
    TOOL_STOPPED = 130,  /* Ctrl-C; the report covers what ran until then. 128 + SIGINT, as shells have it */
};

/* Combines two exit codes: Ctrl-C takes precedence over a fault, then wrong input, then findings, then an
 * incomplete analysis. */
int tool_worse(int one, int other);

/* One verb, or a subject of `explain`. Its function gets argv[0] = the verb's name and returns an enum
 * tool_exit. */
struct tool_option;
struct tool_verb {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
    const char *help;                        /* the first part of --help: usage, purpose, examples */
    const struct tool_option *options;       /* NULL: those of `subjects` */
    const struct tool_verb *const *subjects; /* of `explain`, up to a NULL; or NULL */
    bool needs_no_words;                     /* without any, it is run, and does not print its usage */
};

extern const struct tool_verb tool_verb_exec, tool_verb_run, tool_verb_prof, tool_verb_check,
    tool_verb_replay, tool_verb_merge, tool_verb_batch, tool_verb_diff, tool_verb_compile, tool_verb_asm,
    tool_verb_dis, tool_verb_info, tool_verb_isa, tool_verb_explain, tool_verb_tess, tool_verb_tile,
    tool_verb_untile, tool_verb_debug, tool_verb_dap, tool_verb_mcp, tool_verb_loader;

/* All verbs, up to a NULL; in verbs.c. */
enum { TOOL_VERBS = 21 };
extern const struct tool_verb *const tool_verbs[TOOL_VERBS + 1];
/* Finds the one called `name`, or returns NULL. */
const struct tool_verb *tool_find_verb(const struct tool_verb *const *verbs, const char *name);

/* Prints candidates for the last of the words, which follow "wavemem" on a command line, one per line;
 * ":files" stands for names of files. For the completion of shells. */
int tool_complete(int count, char **words);

/* Said where source lines are asked for. */
#define TOOL_NO_DWARF "this wavemem was built without elfutils (-Ddwarf=disabled) and finds no source lines"
#ifdef WMI_WITHOUT_DWARF
enum { TOOL_HAS_DWARF = 0 };
#else
enum { TOOL_HAS_DWARF = 1 };
#endif

/* Prints "wavemem: MESSAGE" and a line feed to stderr, escaped (tool/text.h); returns TOOL_WRONG. */
int tool_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether `text` is valid for -m: a target, or the number of a bundle's entry. If not, prints a message that
 * begins with `where`. */
bool tool_check_target(const char *where, const char *text);

/* The product called `value`; for "list", prints all of them and ends the command. A message begins with
 * `where`. */
struct wm_gpu;
int tool_choose_gpu(const char *where, const char *value, const struct wm_gpu **gpu);

/* ---- options ---- */

enum tool_takes { TOOL_NO_VALUE, TOOL_VALUE, TOOL_OPTIONAL_VALUE };

/* One option, "--name" and perhaps "-letter". A value is the next word, or follows as --name=VALUE or
 * -lVALUE; an optional value only as --name=VALUE. Tables end with a row whose name is NULL. */
struct tool_option {
    const char *name;
    char letter; /* 0: none */
    enum tool_takes takes;
    int id;      /* what tool_next_option() returns; above 0, or TOOL_OPTION_KEPT or TOOL_OPTION_LISTED */
    size_t kept; /* offset in words->request. KEPT: of a bool or a const char * (the value); LISTED: of a
                    struct tool_kept_list, which gets all values */
};

enum {
    TOOL_OPTION_END = 0,
    TOOL_OPTION_OPERAND = -1,
    TOOL_OPTION_WRONG = -2,
    TOOL_OPTION_KEPT = -3,
    TOOL_OPTION_LISTED = -4,
};

/* Values of options that may be repeated, in their order. */
enum { TOOL_KEPT_MOST = 256 };
struct tool_kept_list {
    struct tool_kept {
        char letter; /* of the option; 0: it has none */
        const char *value;
    } kept[TOOL_KEPT_MOST];
    size_t count;
};

/* The last two members of a row whose flag or value is only stored in the verb's struct request. */
#define TOOL_KEEP(member) TOOL_OPTION_KEPT, offsetof(struct request, member)

/* A command line being parsed. Set the first four members, and `request` if an option is kept; zero the rest.
 */
/* An option that other verbs have and this one cannot, and what to do instead. */
struct tool_absent {
    const char *name, *instead;
};

struct tool_words {
    const char *verb; /* for messages */
    const struct tool_option *options;
    const struct tool_absent *absent; /* up to one without a name; or NULL */
    int count;                        /* words after the verb */
    char **words;
    void *request;
    const char *where; /* prefix of messages: "job.txt:3: "; or NULL */
    int next;
    bool operands_only; /* after "--" */
    const char *value;  /* of the option or operand just returned; NULL: none */
};

/* Stores kept options, and returns the next option's id, TOOL_OPTION_OPERAND, TOOL_OPTION_END, or, after a
 * message with the most similar option, TOOL_OPTION_WRONG. */
int tool_next_option(struct tool_words *words);

/* Returns the name most similar to `word`, or NULL. names: `count` pointers to names, `stride` bytes apart.
 */
const char *tool_nearest(const char *word, const void *names, size_t count, size_t stride);

/* Splits a line into words in place: separated by blanks, quoted by '...' or "..."; # begins a comment.
 * Returns the number of words, at most `most`; -1: a quote is not closed. */
int tool_cut_line(char *line, char **words, int most);

/* ---- numbers ---- */

/* Parses an unsigned integer, decimal or 0x hexadecimal; false: anything else, without a message. */
bool tool_parse_u64(const char *text, uint64_t *number);
/* Parses a size: a product of integers, each with k, M or G (2^10, 2^20, 2^30) or without: "1k", "1024*4". */
bool tool_parse_size(const char *text, uint64_t *number);
/* Parses SHARED_BASE,PRIVATE_BASE of --apertures; the library checks the values. `where`: in front of the
 * message. */
int tool_parse_apertures(const char *where, const char *text, uint64_t *shared_base, uint64_t *private_base);
/* Parses a finite number, at least 0. */
bool tool_parse_real(const char *text, double *number);
/* Parse sizes "X", "X,Y" or "X,Y,Z" and return how many there are, or 0 if the text is wrong. A triple leaves
 * missing numbers alone. An extent has numbers from 1 to 2^32-1, and 1 where one is missing. */
unsigned tool_parse_triple(const char *text, uint64_t triple[3]);
unsigned tool_parse_extent(const char *text, uint32_t extent[3]);

#endif
