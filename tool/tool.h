/* SPDX-License-Identifier: MIT */
/* What the verbs of the command share: exit codes, messages, options, numbers. */
#ifndef WAVEMEM_TOOL_H
#define WAVEMEM_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the command returns to the shell. */
enum tool_exit {
    TOOL_CLEAN = 0,
    TOOL_FINDINGS = 1,   /* a comparison failed, or a check found something */
    TOOL_WRONG = 2,      /* wrong usage or bad input */
    TOOL_FAULT = 3,      /* the guest faulted */
    TOOL_INCOMPLETE = 4, /* part of what was asked for could not be analysed */
};

/* The exit code of two results: a fault comes before a wrong input, then findings, then an incomplete
 * analysis. */
int tool_worse(int one, int other);

/* One verb: its entry gets argv[0] = the verb's name and returns an enum tool_exit. */
struct tool_verb {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
};

int cmd_run(int argc, char **argv);
int cmd_prof(int argc, char **argv);
int cmd_asm(int argc, char **argv);
int cmd_dis(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_isa(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_tess(int argc, char **argv);

/* Prints "wavemem: MESSAGE" and a line feed to stderr, escaped (tool/text.h); returns TOOL_WRONG. */
int tool_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether `text` may stand behind -m: a target, or the number of a bundle's entry. Says why not after
 * `where`. */
bool tool_check_target(const char *where, const char *text);

/* ---- options ---- */

enum tool_takes { TOOL_NO_VALUE, TOOL_VALUE, TOOL_OPTIONAL_VALUE };

/* One option, "--name" and perhaps "-letter". A value is the next word, or follows as --name=VALUE or
 * -lVALUE; an optional value only as --name=VALUE. Tables end with a row whose name is NULL. */
struct tool_option {
    const char *name;
    char letter; /* 0: none */
    enum tool_takes takes;
    int id;      /* what tool_next_option() returns; above 0, or TOOL_OPTION_KEPT */
    size_t kept; /* with that: where in words->request a bool is set, or a const char * to the value */
};

enum { TOOL_OPTION_END = 0, TOOL_OPTION_OPERAND = -1, TOOL_OPTION_WRONG = -2, TOOL_OPTION_KEPT = -3 };

/* The last two members of a row that only says where its flag or value goes, in the verb's struct request. */
#define TOOL_KEEP(member) TOOL_OPTION_KEPT, offsetof(struct request, member)

/* A command line being read. Set the first four, and `request` where an option is kept; the rest starts at
 * zero. */
struct tool_words {
    const char *verb; /* for messages */
    const struct tool_option *options;
    int count; /* words that follow the verb */
    char **words;
    void *request;
    const char *where; /* "job.txt:3: ", put before messages; or NULL */
    int next;
    bool operands_only; /* after "--" */
    const char *value;  /* of the option or operand just returned; NULL when it has none */
};

/* Keeps what is to be kept, and returns the next option's id, TOOL_OPTION_OPERAND, TOOL_OPTION_END, or, after
 * a message with the nearest option that exists, TOOL_OPTION_WRONG. */
int tool_next_option(struct tool_words *words);

/* The name among `count` that the writer of `word` probably meant, or NULL. `stride`: bytes from one pointer
 * to a name to the next. */
const char *tool_nearest(const char *word, const void *names, size_t count, size_t stride);

/* ---- numbers ---- */

/* A whole unsigned number, decimal or 0x hexadecimal; false, without a message, for anything else. */
bool tool_parse_u64(const char *text, uint64_t *number);
/* A finite number, at least 0. */
bool tool_parse_real(const char *text, double *number);
/* "X", "X,Y" or "X,Y,Z", each 1 to 2^32-1; what is not given is 1. */
bool tool_parse_extent(const char *text, uint32_t extent[3]);

#endif
