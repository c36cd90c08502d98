/* SPDX-License-Identifier: MIT */
/* The block compiler: turns bound steps into host code. Overview: docs/compiler.md. */
#ifndef WMI_COMPILE_H
#define WMI_COMPILE_H

#include "lower/code.h"
#include "lower/lower.h"

/* Offsets in the structures of src/exec, which compiled code reads. */
struct wmi_compile_layout {
    uint32_t wave_worker, wave_resume, wave_group, wave_counters, wave_entered; /* in struct wmi_wave */
    uint32_t group_lds, group_lds_size, group_id, group_flat_id;                /* in struct wmi_workgroup */
    uint32_t worker_hits, worker_scattered, worker_jumps, worker_blocks,
        worker_running; /* in struct wmi_worker */
    uint32_t worker_first_start, worker_last_start, worker_first_slice, worker_start_scalars, worker_id_place,
        worker_id, worker_groups_ahead, worker_slices_left, worker_next_start;
    unsigned careful; /* flags of a hit whose stores take the slow path */
};

/* What compiled code may assume of the waves that reach it; others are interpreted. */
struct wmi_compile_mode {
    uint32_t mode;             /* the MODE register */
    uint32_t mxcsr32, mxcsr64; /* as in struct wmi_frame */
};

/* Allocations of so many bytes are larger than most caches. */
enum { WMI_PAST_CACHES = 32 << 20 };

/* The first of four temporary rows with the operands and the result of a body that compiled code calls for
 * some lanes. They are the last ones that an instruction may have; no step that is expanded has them. */
enum { WMI_REPAIR_ROW = 12, WMI_REPAIR_ROWS = 4 };

/* Steps to compile and the operations that they are bound to. */
struct wmi_block {
    const struct wmi_code *code;
    const struct wmi_step *steps;
    struct wmi_op *ops;
    size_t count;
    const bool *leads;          /* whether a branch may lead to the step */
    const struct wmi_op *entry; /* of the kernel, if it is one of these */
    enum wmi_cpu_level level;
    uint32_t lanes_from; /* see wmi_lanes_from() */
    struct wmi_compile_mode mode;
    const struct wmi_compile_layout *layout;
    /* The operation at a place, or NULL if it has not been lowered. */
    const struct wmi_op *(*find)(void *user, uint64_t place);
    void *user;
};

/* The number of a row of the frame, from the first temporary one on. */
static inline unsigned wmi_row_number(const struct wmi_code *code, uint32_t row)
{
    return (row - (uint32_t)offsetof(struct wmi_frame, rows)) / code->row_bytes;
}

/* Whether the row of the frame is a constant, and its value. */
static inline bool wmi_code_constant(const struct wmi_code *code, uint32_t row, uint32_t *value)
{
    for (unsigned i = 0; i < code->vector_constants; i++) {
        const struct wmi_vector_constant *c = &code->vector_constant[i];
        if (row >= c->offset && row < c->offset + c->rows * code->row_bytes) {
            *value = (uint32_t)(c->value >> 32 * ((row - c->offset) / code->row_bytes));
            return true;
        }
    }
    return false;
}

/* Host code that stays until the program is destroyed. */
struct wmi_host_memory;

/* Whether this host runs compiled code at this level of bodies. */
bool wmi_can_compile(enum wmi_cpu_level level);
/* In allocations of at least this size, loading one lane after the other is faster on this host than a
 * gather; 0: never. It does not count where nothing is gathered (wmi_vector_set.gathers). With AMD's Zen 4,
 * both take about the same time in a cache, but the host does not prefetch for gathers, so that they take
 * twice as long from memory. */
uint32_t wmi_lanes_from(void);
/* Code for waves that start at the entry with wmi_compiled_state.id_bases set, among each 16 lanes or among
 * all lanes of which v0 grows by 1, without a carry from its low 10 bits, and v1 and v2 do not differ. Other
 * waves may enter it too if EXEC has inactive lanes.
 */
enum wmi_launch_code { WMI_LAUNCH_STRIPS, WMI_LAUNCH_WAVES, WMI_LAUNCHES };

struct wmi_launch_entries {
    wmi_body body[WMI_LAUNCHES];
    unsigned rows; /* VGPRs, from v0 on, of which waves may read what they start with */
};

/* Compiles what can be compiled of the steps and lets their operations lead to the code. Frees nothing; the
 * code is added to *memory. launch: unchanged if there is none. False: the host gave no memory, or refuses to
 * execute it (*refused). */
bool wmi_compile(const struct wmi_block *block, struct wmi_host_memory **memory,
                 struct wmi_launch_entries *launch, bool *refused);
/* Whether this host has host code for such a step. Where that does not hold for what the step does (a NaN,
 * say), it is interpreted, too. */
bool wmi_compiles_step(const struct wmi_step *step);
void wmi_host_memory_free(struct wmi_host_memory *memory);
/* Bytes of host code. */
size_t wmi_host_memory_size(const struct wmi_host_memory *memory);

#endif
