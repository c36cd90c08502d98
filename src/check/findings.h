/* SPDX-License-Identifier: MIT */
/* What checkers find: one entry per rule and instruction, however often and by whomever it is broken. */
#ifndef WMI_FINDINGS_H
#define WMI_FINDINGS_H

#include "memory/access.h"
#include "wavemem/wavemem.h"

#include <stddef.h>

struct wmi_found;

/* Sets the row's kernel, text and source line for row->pc. The strings are valid until the next call. */
typedef void wmi_describe(void *user, unsigned id, struct wm_profile_row *row);

/* Sets *inlined to the inlined function at this depth that the instruction belongs to, as
 * wm_object_inlined() does; false: there is none. */
typedef bool wmi_inlined_at(void *user, uint64_t pc, unsigned depth, struct wm_inlined *inlined);

/* A variable of the code object, in guest addresses. */
struct wmi_variable {
    const char *name; /* in the source */
    uint64_t address, bytes;
    char text[512]; /* that the name may be in */
};

/* Sets *variable to the variable that contains the address; false: there is none. */
typedef bool wmi_variable_at(void *user, uint64_t address, struct wmi_variable *variable);

/* What the text of a finding may use. */
struct wmi_words {
    wmi_describe *describe;
    wmi_inlined_at *inlined;   /* or NULL */
    wmi_variable_at *variable; /* or NULL */
    void *user;
    const void *checker;              /* that the rule belongs to: what its create() returned */
    const struct wm_finding *finding; /* all of it but the message */
};

/* A rule of a checker. Rules are compared by address, and live as long as their checker. */
struct wmi_check_rule {
    const char *name;   /* "read-before-wait" */
    const char *source; /* the document that states it, or NULL */
    const char *remedy; /* what usually mends it, or NULL */
    enum wm_check_what class;
    enum wm_severity severity;
    bool has_first;     /* it is about two instructions: first_pc is set, or 0 if there is no other one */
    bool nowhere;       /* its address lies in no allocation, and says nothing about the nearest one */
    bool pairs;         /* with has_first: findings about different earlier instructions are different ones */
    bool launches;      /* findings in different dispatches are different ones */
    bool by_allocation; /* findings about one allocation of the program have one cause */
    /* Writes the message: a sentence without a period at its end. */
    void (*word)(const struct wmi_words *words, const struct wmi_found *found, char *message, size_t size);
};

enum { WMI_FOUND_DETAILS = 5, WMI_FOUND_MESSAGE = 1024 };

/* One finding. Everything but `count` is of the case that is shown: the first by launch, workgroup, wave and
 * address, so that threads make no difference. */
struct wmi_found {
    const struct wmi_check_rule *rule;
    uint64_t pc, first_pc; /* the instruction, and the earlier one that it conflicts with (or 0) */
    uint64_t count;        /* executions by a wave; at least 1 */
    bool has_wave;         /* the next two are set */
    uint32_t wave;
    uint64_t group; /* number of the workgroup in the dispatch's order */
    uint64_t lanes; /* 0: it is not about lanes */
    enum wmi_address_space space;
    uint64_t address, bytes;            /* bytes 0: it is not about memory */
    uint64_t distance;                  /* as of struct wm_finding */
    uint64_t detail[WMI_FOUND_DETAILS]; /* what the rule's text needs besides */
    uint32_t launch;                    /* number of the checked dispatch, from 1 */
    size_t worded; /* 1 + number of its wording, 0: it has none; only in the set of all findings */
    /* The allocation that it is about. Its name must be valid until the finding is worded, at the end of the
     * dispatch. NULL: the one at allocation_address or, if that is 0, the one that `address` lies in, or
     * the nearest one. */
    const char *allocation;
    uint64_t allocation_address, allocation_bytes;
};

/* Hash table by rule and instruction: open addressing, at most half full. All zero: empty. */
struct wmi_found_set {
    struct wmi_found *entry;
    size_t count, capacity;
};

/* Adds a finding to those of the same rule and instruction. False: no memory. */
bool wmi_found_add(struct wmi_found_set *set, const struct wmi_found *found);
/* Adds all of `more`, and empties it. False: no memory for some of them. */
bool wmi_found_move(struct wmi_found_set *set, struct wmi_found_set *more);
void wmi_found_free(struct wmi_found_set *set);

#endif
