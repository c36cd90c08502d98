/* SPDX-License-Identifier: MIT */
/* The debugger within a program that launches kernels: `wavemem exec --debug'. */
#ifndef WAVEMEM_DEBUG_LAUNCH_H
#define WAVEMEM_DEBUG_LAUNCH_H

#include <wavemem/wavemem.h>

#include <stdbool.h>
#include <stddef.h>

/* Variables of the environment, by which the command tells the library that commands are wanted: their
 * number, and each one, a letter as in tool_kept and the text behind it. */
#define DEBUG_COMMANDS "WAVEMEM_DEBUG"
#define DEBUG_COMMAND  "WAVEMEM_DEBUG_%zu"
#define DEBUG_BATCH    "WAVEMEM_DEBUG_BATCH"
/* The port on which GDB's remote protocol is served instead of the prompt. */
#define DEBUG_GDB "WAVEMEM_DEBUG_GDB"

/* Whether the environment asks for the debugger. */
bool debug_is_wanted(void);

/* Executes a packet as wm_dispatch_packet() does, under the debugger; other threads wait until the kernel has
 * ended. all_memory: mapped memory of the host is restored, too, to go back. *wrong: a command of --batch was
 * wrong. Ends the process when the user quits. */
enum wm_status debug_packet(struct wm_machine *machine, const struct wm_packet *packet, bool all_memory,
                            bool *wrong, struct wm_diag *diag);

#endif
