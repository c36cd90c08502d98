/* SPDX-License-Identifier: MIT */
/* The latency path of a wave: how long one wave takes through the code that it executes if it never competes
 * with others.
 *
 * Blocks of code are scanned once when they are lowered. For each wait instruction, the scan finds the memory
 * instruction that it waits for longest, and the part of that one's latency that no other instruction hides.
 * Both depend on the code alone, so multiplied by the executions of the blocks they add up over threads,
 * shards and traces. The latencies themselves depend on the caches and the product and are applied at the end
 * (predict.h). */
#ifndef WMI_PROFILE_PATH_H
#define WMI_PROFILE_PATH_H

#include "isa/isa.h"

#include <stddef.h>

enum {
    WMI_EXPOSED_ONE = 256, /* unit of `exposed`: a whole latency */
    WMI_BESIDE = 4,
};

/* Kinds of accesses by their usual latency. */
enum wmi_path_kind {
    WMI_PATH_KIND_NONE,
    WMI_PATH_KIND_MEMORY,
    WMI_PATH_KIND_LDS,
    WMI_PATH_KIND_SCALAR,
    WMI_PATH_KINDS
};
enum wmi_path_kind wmi_path_kind_of(const struct wmi_row *row);
/* The usual latency of the kind, clocks. */
uint32_t wmi_path_usual_latency(enum wmi_path_kind kind);
/* Clocks from the issue of an instruction to that of the next one that uses its result, where waves may issue
 * each clock. work: enum wmi_work. */
uint32_t wmi_path_result_clocks(unsigned work);
/* Whether a wave may issue an instruction each clock, and waits for results. */
bool wmi_path_each_clock(const struct wmi_target *target);

/* An instruction of the program. */
struct wmi_path_place {
    uint64_t pc;
    uint16_t id;
};

/* What a wave waits for in one execution of a block. */
struct wmi_path_wait {
    struct wmi_path_place at; /* the memory instruction */
    uint32_t exposed;         /* latencies, in units of 1 / WMI_EXPOSED_ONE */
    /* Others that the same wait covers, beside_count of them: whichever takes longest counts. */
    struct wmi_path_place beside[WMI_BESIDE];
    uint32_t beside_count;
};

struct wmi_path_cost {
    struct wmi_path_wait *waits; /* wait_count of them, each instruction once */
    uint32_t wait_count;
    uint32_t stalls;   /* clocks in which an instruction waits for the result of an earlier one */
    uint32_t barriers; /* waits for the other waves of the workgroup */
};

/* Adds a place to the sorted list, which keeps the first ones; returns the new count. */
uint32_t wmi_path_add_place(struct wmi_path_place places[WMI_BESIDE], uint32_t count,
                            struct wmi_path_place place);

/* The blocks of a dispatch. */
struct wmi_paths;

struct wmi_paths *wmi_paths_create(void);        /* NULL: out of memory */
void wmi_paths_destroy(struct wmi_paths *paths); /* NULL is allowed */
/* Starts a dispatch of code for `target` with waves of `lanes`. */
void wmi_paths_begin(struct wmi_paths *paths, const struct wmi_target *target, unsigned lanes);
/* The next instruction of the current block. target_pc: where it may branch to; 0: nowhere. ends: it never
 * goes on at the next instruction. */
void wmi_paths_take(struct wmi_paths *paths, uint64_t pc, const struct wmi_instruction *insn,
                    uint64_t target_pc, bool ends);
/* Ends the current block, [from, to), under this number; UINT32_MAX: it is not kept. */
void wmi_paths_block(struct wmi_paths *paths, uint64_t from, uint64_t to, uint32_t number);
/* Computes the cost of all blocks. False: out of memory, also of earlier calls. */
bool wmi_paths_solve(struct wmi_paths *paths);
/* After wmi_paths_solve(): NULL if there is no such block. */
const struct wmi_path_cost *wmi_paths_cost(const struct wmi_paths *paths, uint32_t number);

#endif
