/* SPDX-License-Identifier: MIT */
/* Remembers what the model of waits (wait_state.h) found on the paths that waves have taken, so that waves
 * which take them again need not run it.
 *
 * An automaton: its nodes are states of the model, its edges executed instructions. Two states are the same
 * node if they differ only in what cannot matter any more: absolute counts, the ages of operations beyond
 * WMI_WAIT_AGES, and which lanes an operation is about as long as these are the same for all that is pending:
 * a node then says `masked`, and each wave remembers its own lanes. */
#ifndef WMI_WAIT_PATHS_H
#define WMI_WAIT_PATHS_H

#include "check/findings.h"
#include "check/waits/hazard_memo.h"
#include "check/waits/wait_state.h"

/* From this many instructions on, nobody asks how long ago an operation was issued. */
enum { WMI_WAIT_AGES = 256 };

/* What the next state depends on, besides the instruction. */
enum wmi_wait_input {
    WMI_WAIT_NOTHING,
    WMI_WAIT_LANES, /* whether no, some or all lanes are active: wmi_wait_lanes() */
    WMI_WAIT_VALUE, /* the value of a scalar register */
};

struct wmi_wait_edge {
    struct wmi_wait_edge *next; /* others of the node */
    uint32_t number;            /* of the instruction, or WMI_WAIT_WENT_* */
    enum wmi_wait_input by;
    bool plain; /* nothing is found, the wave does not end, and `by` is not a value */
    uint64_t input;
    struct wmi_wait_node *to;
    struct wmi_found *found; /* what the instruction does wrong */
    size_t found_count;
};

/* FLAT accesses, after their instruction. */
enum { WMI_WAIT_WENT_TO_MEMORY = -2, WMI_WAIT_WENT_TO_LDS = -3 };

struct wmi_wait_node {
    struct wmi_wait_edge *edge; /* the one that was taken last comes first */
    unsigned edges;
    bool masked;   /* some pending writes are about `mask` instead of the lanes of the wave that is here */
    uint64_t mask; /* of the wave that came first */
};

/* Of a thread and a dispatch. */
struct wmi_wait_paths;

/* NULL: no memory. */
struct wmi_wait_paths *wmi_wait_paths_create(void);
void wmi_wait_paths_destroy(struct wmi_wait_paths *paths);

/* 0: none; 1: some; 2: all of 64. */
static inline uint64_t wmi_wait_lanes(uint64_t exec)
{
    return !exec ? 0 : exec == UINT64_MAX ? 2 : 1;
}

/* The node of a state of the model, which uses registers below `reach`. hazards: or NULL. number: of the last
 * instruction; without hazards it tells nodes apart, which would have an edge for most instructions of the
 * kernel if nothing is pending. mask: lanes that its pending writes may be about. *is_new: the model's state
 * is the node's to the last bit. NULL: they are about others, or there is no room for more nodes. */
struct wmi_wait_node *wmi_wait_node(struct wmi_wait_paths *paths, const struct wmi_wait_state *state,
                                    const struct wmi_hazard_wave *hazards, uint32_t number, unsigned reach,
                                    uint64_t mask, bool *is_new);

/* Sets the model to the node's state, but for lanes: `mask` takes the place of the node's. *reach: of the
 * registers that the model uses before and after that. */
void wmi_wait_resume(const struct wmi_wait_node *node, struct wmi_wait_state *state,
                     struct wmi_hazard_wave *hazards, unsigned *reach, uint64_t mask);

/* Adds an edge with a copy of `found`. NULL: no memory, or the node has too many. */
struct wmi_wait_edge *wmi_wait_add_edge(struct wmi_wait_node *from, const struct wmi_wait_edge *edge);

#endif
