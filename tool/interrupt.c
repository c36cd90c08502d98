/* SPDX-License-Identifier: MIT */
/* Ctrl-C, which ends a run or a profile with a partial report, and stops what the debugger runs. */
#include "tool/interrupt.h"

#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t interrupted;
static sem_t presses; /* how often Ctrl-C was pressed, once tool_catch_interrupts() has been called */

static void note(int signal)
{
    (void)signal;
    interrupted = 1;
}

static void note_press(int signal)
{
    const int error = errno;
    note(signal);
    sem_post(&presses);
    errno = error;
}

void tool_watch_interrupts(void)
{
    struct sigaction before;
    const struct sigaction once = {.sa_handler = note, .sa_flags = SA_RESETHAND | SA_RESTART};
    if (sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGINT, &once, NULL);
}

void tool_catch_interrupts(void)
{
    const struct sigaction always = {.sa_handler = note_press, .sa_flags = SA_RESTART};
    sem_init(&presses, 0, 0);
    sigaction(SIGINT, &always, NULL);
}

void tool_leave_interrupts(void)
{
    signal(SIGINT, SIG_DFL);
}

void tool_await_interrupt(void)
{
    while (sem_wait(&presses))
        ;
}

void tool_watch_termination(void)
{
    const struct sigaction once = {.sa_handler = note, .sa_flags = SA_RESETHAND};
    sigaction(SIGTERM, &once, NULL);
}

bool tool_interrupted(void)
{
    return interrupted;
}

bool tool_take_interrupt(void *user)
{
    (void)user;
    const bool was = interrupted;
    interrupted = 0;
    return was;
}
