/* SPDX-License-Identifier: MIT */
/* Cases of instruction tests, as written in a .test file. README.md describes the format. */
#ifndef TESTS_INSTRUCTIONS_CASE_H
#define TESTS_INSTRUCTIONS_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Destination of messages: "FILE:LINE: message". */
struct report {
    FILE *out;
    unsigned messages;
};

__attribute__((format(printf, 4, 5))) void complain(struct report *report, const char *path, unsigned line,
                                                    const char *format, ...);

enum section_kind {
    SECTION_SOURCE,
    SECTION_TARGETS,
    SECTION_WAVES,
    SECTION_RUN,
    SECTION_BEFORE,
    SECTION_CODE,
    SECTION_AFTER,
    SECTION_FAULT,
    SECTION_VIOLATIONS,
    SECTION_ACCESSES,
    SECTION_INSTRUCTIONS,
    SECTION_FAILS,
    SECTION_KINDS
};

/* A set of targets: bit i stands for wm_target_at(i). */
typedef uint64_t target_set;

/* A line of the file without its indentation and trailing blanks. */
struct text_line {
    unsigned number, indent;
    char *text;
};

struct section {
    enum section_kind kind;
    unsigned line;
    target_set targets; /* the targets it applies to */
    struct text_line *lines;
    size_t count;
};

struct test_case {
    const char *title;
    unsigned line;
    target_set targets;
    bool wave32, wave64; /* wave sizes to run with; neither: each target's default */
    struct section *sections;
    size_t count;
};

struct test_file {
    const char *path;
    char *text;
    struct test_case *cases;
    size_t count;
};

/* Splits `text`, of which it takes ownership, into cases. False, with messages, if the file has errors. */
bool parse_test_file(struct test_file *file, const char *path, char *text, struct report *report);
void free_test_file(struct test_file *file);

/* The n-th section of a kind that applies to the target, or NULL. */
const struct section *find_section(const struct test_case *test, enum section_kind kind, target_set target,
                                   unsigned n);

/* The next word of *text, which is advanced; false if there is none. Words end at blanks and `stops`. */
bool next_word(const char **text, const char *stops, char *word, size_t size);

#endif
