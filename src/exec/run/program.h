/* SPDX-License-Identifier: MIT */
/* A kernel lowered and bound: its steps, which grow as waves reach more code. Serves one dispatch at a time;
 * programs.h keeps it for later ones. */
#ifndef WMI_PROGRAM_H
#define WMI_PROGRAM_H

#include "jit/compile.h"
#include "lower/code.h"

enum { WMI_STEP_LIMIT = 1 << 22 }; /* steps of a program: 200 MB; only a hostile one needs more */

struct wmi_program;

/* Lowers all that can be reached from the entry by direct branches, for this CPU level. NULL: no memory. */
struct wmi_program *wmi_program_create(const struct wmi_code_options *options, enum wmi_cpu_level level);
void wmi_program_destroy(struct wmi_program *program);

/* Instructions that a thread executes for each step of the program before it compiles the program: compiling
 * a step takes about as long. */
enum { WMI_INSTRUCTIONS_PER_STEP = 1000 };

/* Where compiled code finds what it needs of a wave. */
extern const struct wmi_compile_layout wmi_program_layout;

/* What has been compiled. */
struct wmi_compiled {
    size_t bytes;
    double seconds;
    bool refused; /* the host does not execute memory that was written */
};

/* After how many instructions of a thread the program is to be compiled; 0: now. Never, if the program is
 * observed or this host has no compiler. */
uint64_t wmi_program_compile_in(const struct wmi_program *program);
/* Adds instructions that a dispatch executed. */
void wmi_program_add_executed(struct wmi_program *program, uint64_t instructions);
/* Compiles what has been lowered and not compiled; with ALWAYS, code that is lowered later as well.
 * Thread-safe. mode: of most waves; others are interpreted. */
void wmi_program_compile(struct wmi_program *program, const struct wmi_compile_mode *mode);
/* The compiled entry for waves that start, see wmi_compile(), or NULL. *rows: how many VGPRs, from v0 on,
 * must have the values that waves start with; unchanged without an entry. */
const struct wmi_op *wmi_program_launch(const struct wmi_program *program, enum wmi_launch_code code,
                                        unsigned *rows);
struct wmi_compiled wmi_program_compiled(struct wmi_program *program);

/* Whether the program is what wmi_program_create() would make now: of the same options, from code that has
 * not changed since. */
bool wmi_program_serves(const struct wmi_program *program, const struct wmi_code_options *options,
                        enum wmi_cpu_level level);

/* The same of a program whose observers are known to be those of the dispatch, which options need not have.
 */
bool wmi_program_serves_observed(const struct wmi_program *program, const struct wmi_code_options *options);
/* Takes another list of the same observers. */
void wmi_program_set_observers(struct wmi_program *program, const struct wmi_observers *observers);

/* The code that was lowered: options, frames, decoding. */
const struct wmi_code *wmi_program_code(const struct wmi_program *program);
enum wmi_cpu_level wmi_program_level(const struct wmi_program *program);

/* The step that starts the instruction at `place`; lowers it if no branch reached it before. Thread-safe.
 * Where there is no code, a step that faults. NULL: there are WMI_STEP_LIMIT steps already (*full), or the
 * host has no memory for more. */
const struct wmi_op *wmi_program_at(struct wmi_program *program, uint64_t place, bool *full);
/* Number of steps; grows when code is lowered. */
size_t wmi_program_steps(const struct wmi_program *program);
/* Where a wave that goes on at `step` is: the address of a step that a branch can lead to, or of the barrier
 * or s_sleep before it. Slow: for fault reports. */
uint64_t wmi_program_pc_of(struct wmi_program *program, const struct wmi_op *step);

#endif
