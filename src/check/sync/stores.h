/* SPDX-License-Identifier: MIT */
/* What a dispatch stores to global memory, byte by byte, so that it can be undone, repeated and compared
 * while other bytes change. */
#ifndef WMI_CHECK_STORES_H
#define WMI_CHECK_STORES_H

#include "memory/space.h"
#include "observe/observer.h"

enum { WMI_STORES_LINE = 64 };

struct wmi_stores_line {
    uint64_t address; /* a multiple of WMI_STORES_LINE */
    uint64_t mask;    /* bytes that were stored to; 0: the entry is free */
    unsigned char before[WMI_STORES_LINE], after[WMI_STORES_LINE];
};

/* Observes a dispatch on one thread, except its stores to scratch memory. */
struct wmi_stores {
    struct wmi_observer observer;
    const struct wmi_space *space;
    struct wmi_stores_line *line; /* hash table by address, at most half full */
    size_t count, capacity;
    size_t recent; /* entry of the last store */
    struct wmi_hit hit;
    bool to_host; /* it stored to the caller's memory, which others may see at once */
    bool lost;    /* no memory for all of them */
};

void wmi_stores_init(struct wmi_stores *stores, const struct wmi_space *space);
void wmi_stores_free(struct wmi_stores *stores);
/* Remembers what is in memory now as the result. */
void wmi_stores_keep(struct wmi_stores *stores);
/* Writes back what was there before, or the result; not to memory that has been freed. */
void wmi_stores_undo(const struct wmi_stores *stores);
void wmi_stores_redo(const struct wmi_stores *stores);

/* How the results of two executions of a dispatch differ. */
struct wmi_stores_difference {
    uint64_t address;  /* of the first aligned dword that differs, */
    unsigned size;     /* bytes of it that lie in the allocation */
    uint32_t was, now; /* its value in the first result, and in the second */
    uint64_t bytes;    /* that differ, in all; 0: none does */
};

/* Compares memory, which the second execution has left, with the result of the first one, as far as they
 * stored to allocations for which `wanted` returns true. */
void wmi_stores_compare(const struct wmi_stores *first, const struct wmi_stores *second,
                        bool (*wanted)(void *user, const struct wmi_allocation *allocation), void *user,
                        struct wmi_stores_difference *difference);

#endif
