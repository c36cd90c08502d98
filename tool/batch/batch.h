/* SPDX-License-Identifier: MIT */
/* The parts of `wavemem batch`: the list of runs, and running them as processes. */
#ifndef WAVEMEM_TOOL_BATCH_H
#define WAVEMEM_TOOL_BATCH_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum { BATCH_RUNS = 1 << 20 }; /* most of them */

/* ---- list.c ---- */

/* A command: the words after "wavemem". */
struct batch_run {
    char **words; /* owned, up to a NULL */
    size_t count;
    bool done; /* it has a result already */
};

struct batch_list {
    struct batch_run *runs;
    size_t count, capacity;
};

/* Reads the file: a command per line, of which {a,b} makes two. TOOL_WRONG, after a message: it cannot. Free
 * the list in any case. */
int batch_read(struct batch_list *list, const char *path);
void batch_free(struct batch_list *list);

/* ---- process.c ---- */

struct batch_settings {
    const struct batch_list *list;
    size_t processes; /* at once */
    double timeout;   /* seconds; 0: none */
    /* Called when a run is over, with its number and its result, which the function must free. False: stop.
     */
    bool (*result)(void *user, size_t number, json_t *result);
    void *user;
};

/* Runs those that are not done. TOOL_WRONG, after a message: no process can be started; TOOL_STOPPED: Ctrl-C,
 * or result() returned false. */
int batch_execute(const struct batch_settings *settings);

#endif
