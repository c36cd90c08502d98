/* SPDX-License-Identifier: MIT */
/* The commands of the debugger, and its prompt. */
#ifndef WAVEMEM_DEBUG_PROMPT_H
#define WAVEMEM_DEBUG_PROMPT_H

#include "tool/debug/locations.h"
#include "tool/debug/show.h"

struct debug_command {
    const char *name, *aliases; /* separated by blanks */
    bool (*run)(struct debug_session *s, const char *arguments, struct wm_diag *diag);
    const char *help;
};

/* Tables of commands, up to a row without a name. */
extern const struct debug_command debug_run_commands[], debug_look_commands[], debug_info_commands[];
/* The command that a word names or begins; NULL: see diag. */
const struct debug_command *debug_find_command(const struct debug_command *table, const char *word,
                                               size_t length, const char *kind, struct wm_diag *diag);

/* Frees all that belongs to the session. */
void debug_close(struct debug_session *s);

/* Carries out a command. False: it was wrong or impossible, and has changed nothing. */
bool debug_execute(struct debug_session *s, const char *line, struct wm_diag *diag);
/* Runs the commands of a file, up to the first that fails. */
bool debug_execute_file(struct debug_session *s, const char *path, struct wm_diag *diag);
/* Reads commands from stdin until `quit', or until a program that is debugged goes on. False: the file has
 * ended. */
bool debug_prompt(struct debug_session *s, bool prompts);
/* Whether a program that is debugged goes on: by a command, or because the kernel has ended without a fault.
 */
bool debug_has_left(const struct debug_session *s);

/* The value of the whole text. */
bool debug_number(struct debug_session *s, const char *text, uint64_t *number, struct wm_diag *diag);

#endif
