/* SPDX-License-Identifier: MIT */
/* What `wavemem check`, and --check of other verbs, are asked for. */
#ifndef WAVEMEM_TOOL_CHECK_REQUEST_H
#define WAVEMEM_TOOL_CHECK_REQUEST_H

#include "tool/tool.h"
#include "wavemem/wavemem.h"

#include <jansson.h>
#include <regex.h>

/* An entry of a file of suppressions. */
struct tool_suppression {
    char *rule, *kernel, *place; /* patterns of fnmatch(); place NULL: any */
    unsigned line;               /* of the file */
    bool used;
    size_t next; /* of those with the same key, or without one; SIZE_MAX: none */
};

struct tool_check_request {
    bool given;       /* `wavemem check`, or --check */
    bool chosen;      /* the classes are a list: --check=LIST */
    unsigned classes; /* enum wm_check_what; 0: nothing is checked */
    /* Options as given, NULL or false without. */
    const char *only, *only_kernel, *suppressions, *write_suppressions, *baseline, *sarif, *junit;
    bool json; /* `exec`: the report as JSON, to json_path or standard output */
    const char *json_path;
    bool all, github, strict, origins, needless, portability, floats, leaks; /* leaks: `exec` only */
    const char *shuffle;                                                     /* seeds */
    /* Set by tool_check_prepare(): */
    bool has_regex;
    regex_t regex; /* only_kernel */
    struct tool_suppression *suppression;
    size_t suppression_count;
    json_t *keyed;   /* the first suppression of each key; NULL: there are none */
    size_t unkeyed;  /* the first one whose place is no key */
    json_t *known;   /* the keys of the baseline's findings, as those of an object; or NULL */
    uint64_t *seeds; /* of `shuffle` */
    size_t seed_count;
};

/* The options that all verbs which check have, for a table of struct tool_option. `type` is the request of
 * the verb, `member` its struct tool_check_request. --check and --all are the verb's own. */
#define TOOL_CHECK_OPTION(name, takes, type, member)                                                         \
    {name, 0, takes, TOOL_OPTION_KEPT, offsetof(type, member)}
#define TOOL_CHECK_OPTIONS(type, check)                                                                      \
    TOOL_CHECK_OPTION("only", TOOL_VALUE, type, check.only),                                                 \
        TOOL_CHECK_OPTION("only-kernel", TOOL_VALUE, type, check.only_kernel),                               \
        TOOL_CHECK_OPTION("suppressions", TOOL_VALUE, type, check.suppressions),                             \
        TOOL_CHECK_OPTION("write-suppressions", TOOL_VALUE, type, check.write_suppressions),                 \
        TOOL_CHECK_OPTION("baseline", TOOL_VALUE, type, check.baseline),                                     \
        TOOL_CHECK_OPTION("sarif", TOOL_VALUE, type, check.sarif),                                           \
        TOOL_CHECK_OPTION("junit", TOOL_VALUE, type, check.junit),                                           \
        TOOL_CHECK_OPTION("github", TOOL_NO_VALUE, type, check.github),                                      \
        TOOL_CHECK_OPTION("strict", TOOL_NO_VALUE, type, check.strict),                                      \
        TOOL_CHECK_OPTION("origins", TOOL_NO_VALUE, type, check.origins),                                    \
        TOOL_CHECK_OPTION("needless", TOOL_NO_VALUE, type, check.needless),                                  \
        TOOL_CHECK_OPTION("portability", TOOL_NO_VALUE, type, check.portability),                            \
        TOOL_CHECK_OPTION("float", TOOL_NO_VALUE, type, check.floats)

extern const char tool_check_help[]; /* these options */

/* Adds the classes of a list like "race,uninit". TOOL_WRONG: an unknown one, after a message. */
int tool_check_add_classes(struct tool_check_request *request, const char *option, const char *list);
/* When all options are known: chooses the classes, reads files, and checks that outputs can be written.
 * TOOL_WRONG after a message. */
int tool_check_prepare(struct tool_check_request *request);
void tool_check_free(struct tool_check_request *request);

/* In suppressions.c and baseline.c: read the files of the request; TOOL_WRONG after a message. */
int tool_read_suppressions(struct tool_check_request *request);
int tool_read_baseline(struct tool_check_request *request);

#endif
