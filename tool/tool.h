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

/* One verb. Its function gets argv[0] = the verb's name and returns an enum tool_exit. */
struct tool_verb {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
};

int cmd_run(int argc, char **argv);
int cmd_prof(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_asm(int argc, char **argv);
int cmd_dis(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_isa(int argc, char **argv);
int cmd_exec(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_tess(int argc, char **argv);
int cmd_tile(int argc, char **argv);
int cmd_untile(int argc, char **argv);

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
    int id;      /* what tool_next_option() returns; above 0, or TOOL_OPTION_KEPT */
    size_t kept; /* TOOL_OPTION_KEPT: offset in words->request of a bool or a const char * (the value) */
};

enum { TOOL_OPTION_END = 0, TOOL_OPTION_OPERAND = -1, TOOL_OPTION_WRONG = -2, TOOL_OPTION_KEPT = -3 };

/* The last two members of a row whose flag or value is only stored in the verb's struct request. */
#define TOOL_KEEP(member) TOOL_OPTION_KEPT, offsetof(struct request, member)

/* A command line being parsed. Set the first four members, and `request` if an option is kept; zero the rest.
 */
struct tool_words {
    const char *verb; /* for messages */
    const struct tool_option *options;
    int count; /* words after the verb */
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

/* ---- numbers ---- */

/* Parses an unsigned integer, decimal or 0x hexadecimal; false: anything else, without a message. */
bool tool_parse_u64(const char *text, uint64_t *number);
/* Parses SHARED_BASE,PRIVATE_BASE of --apertures; the library checks the values. `where`: in front of the
 * message. */
int tool_parse_apertures(const char *where, const char *text, uint64_t *shared_base, uint64_t *private_base);
/* Parses a finite number, at least 0. */
bool tool_parse_real(const char *text, double *number);
/* Parse "X", "X,Y" or "X,Y,Z" and return how many there are, or 0 if the text is wrong. A triple leaves
 * missing numbers alone. An extent has numbers from 1 to 2^32-1, and 1 where one is missing. */
unsigned tool_parse_triple(const char *text, uint64_t triple[3]);
unsigned tool_parse_extent(const char *text, uint32_t extent[3]);

#endif
