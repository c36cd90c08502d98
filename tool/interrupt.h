/* SPDX-License-Identifier: MIT */
/* Ctrl-C, which ends a run or a profile with a partial report. */
#ifndef WAVEMEM_TOOL_INTERRUPT_H
#define WAVEMEM_TOOL_INTERRUPT_H

#include <stdbool.h>

/* From now on, the first Ctrl-C (SIGINT) only sets what tool_interrupted() returns. The second ends the
 * command. If SIGINT is ignored (nohup), it stays so. */
void tool_watch_interrupts(void);
/* SIGTERM does the same. */
void tool_watch_termination(void);
bool tool_interrupted(void);

/* From now on, Ctrl-C only sets what tool_take_interrupt() returns. */
void tool_catch_interrupts(void);
/* And ends the process again. */
void tool_leave_interrupts(void);
/* Waits until Ctrl-C is pressed, after tool_catch_interrupts(). */
void tool_await_interrupt(void);
/* Whether Ctrl-C was pressed since the last call. user: ignored. */
bool tool_take_interrupt(void *user);

#endif
