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

/* Instructions that a thread executes per step of the program before it compiles the program: compiling one
 * step costs about as much. */
enum { WMI_INSTRUCTIONS_PER_STEP = 1000 };

/* Offsets of the members that compiled code uses. */
extern const struct wmi_compile_layout wmi_program_layout;

/* Result of compilation so far. */
struct wmi_compiled {
    size_t bytes;
    double seconds;
    bool refused; /* the host does not let a process execute memory that it has written */
};

/* Whether this host compiles programs, and such steps of them. */
bool wmi_program_compiles_any(void);
bool wmi_program_compiles(const struct wmi_step *step);
/* The number of instructions per thread after which the program is compiled; 0: before it runs. UINT64_MAX if
 * the program is observed or this host has no compiler. */
uint64_t wmi_program_compile_in(const struct wmi_program *program);
/* Adds instructions that a dispatch executed. */
void wmi_program_add_executed(struct wmi_program *program, uint64_t instructions);
/* Compiles the code that has been lowered and not yet compiled; with WMI_COMPILE_ALWAYS, also code that is
 * lowered later. Thread-safe. mode: the MODE for which code is compiled; waves in another MODE are
 * interpreted. */
void wmi_program_compile(struct wmi_program *program, const struct wmi_compile_mode *mode);
/* The compiled entry for starting waves, see wmi_compile(), or NULL. *rows: the number of VGPRs, from v0 on,
 * that must have their initial values; unchanged without an entry. */
const struct wmi_op *wmi_program_launch(const struct wmi_program *program, enum wmi_launch_code code,
                                        unsigned *rows);
struct wmi_compiled wmi_program_compiled(struct wmi_program *program);

/* Whether the program equals what wmi_program_create() would make now: the options are equal, and the code
 * has not changed since. */
bool wmi_program_serves(const struct wmi_program *program, const struct wmi_code_options *options,
                        enum wmi_cpu_level level);

/* Like wmi_program_serves(), for a program whose observers are known to be those of the dispatch, although
 * options lacks them. */
bool wmi_program_serves_observed(const struct wmi_program *program, const struct wmi_code_options *options);
/* Replaces the list of observers by another list of the same observers. */
void wmi_program_set_observers(struct wmi_program *program, const struct wmi_observers *observers);

/* The code that was lowered: options, frames, decoding. */
const struct wmi_code *wmi_program_code(const struct wmi_program *program);
enum wmi_cpu_level wmi_program_level(const struct wmi_program *program);

/* The first step of the instruction at `place`, which is lowered if no branch has reached it before. Where
 * there is no code, the step faults. Thread-safe. NULL: the program has WMI_STEP_LIMIT steps already (*full),
 * or the host has no memory for more. */
const struct wmi_op *wmi_program_at(struct wmi_program *program, uint64_t place, bool *full);
/* For programs whose waves may go over to others, see wmi_code_options.resumable. The place of a step at
 * which waves resume; false: it is none. The step at which a wave resumes at a place; NULL: as above. The
 * step that holds the instruction at a place; NULL: none does. */
bool wmi_program_place_of(struct wmi_program *program, const struct wmi_op *step, uint64_t *place);
const struct wmi_op *wmi_program_resume_at(struct wmi_program *program, uint64_t place);
const struct wmi_op *wmi_program_hold_at(struct wmi_program *program, uint64_t place);
/* Whether waves of both programs can have the same frames. */
/* The upper bits of VGPR numbers (place.h) in which a wave at this step executes the instruction at pc.
 * False: the step is none where waves are stopped or resume. */
bool wmi_program_msb_of(struct wmi_program *program, const struct wmi_op *step, uint64_t pc, unsigned *msb);
bool wmi_program_shares_frames(const struct wmi_program *program, const struct wmi_program *other);
/* Number of steps; grows when code is lowered. */
size_t wmi_program_steps(const struct wmi_program *program);
/* The address of a wave that resumes at `step`: that of a branch target, or of the barrier or s_sleep before
 * the step. Slow; for fault reports. */
uint64_t wmi_program_pc_of(struct wmi_program *program, const struct wmi_op *step);

#endif
