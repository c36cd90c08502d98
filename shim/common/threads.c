/* SPDX-License-Identifier: MIT */
/* Whether all threads of the process wait without a time limit, so that nobody will change what a kernel
 * waits for. */
#include "shim/common/common.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>

void shim_mix(uint64_t *state, uint64_t number)
{
    *state = (*state ^ number) * UINT64_C(0x100000001b3);
}

/* Reads the first line of a file about the thread. False: the thread has ended, or the host does not provide
 * the file. */
static bool read_line(pid_t tid, const char *name, char *line, int size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/%s", (int)tid, name);
    FILE *file = fopen(path, "re");
    const bool ok = file && fgets(line, size, file);
    if (file)
        fclose(file);
    return ok;
}

/* Whether the thread waits for another thread of the process without a time limit. */
static bool waits_for_thread(pid_t tid)
{
    enum { WAIT = 0, WAIT_BITSET = 9, COMMANDS = 0x7f, PRIVATE = 0x80 }; /* of futex() */
    unsigned long long address, operation, value, timeout;
    long number;
    char line[256];
    return read_line(tid, "syscall", line, sizeof line) &&
           sscanf(line, "%ld %llx %llx %llx %llx", &number, &address, &operation, &value, &timeout) == 5 &&
           number == SYS_futex && ((operation & COMMANDS) == WAIT || (operation & COMMANDS) == WAIT_BITSET) &&
           operation & PRIVATE && !timeout;
}

/* Adds the number of times that the thread has slept so far. */
static bool count_sleeps(pid_t tid, uint64_t *state)
{
    char path[64], line[128];
    unsigned long long sleeps;
    bool found = false;
    snprintf(path, sizeof path, "/proc/self/task/%d/status", (int)tid);
    FILE *file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof line, file))
        found = sscanf(line, "voluntary_ctxt_switches: %llu", &sleeps) == 1;
    if (file)
        fclose(file);
    if (found)
        shim_mix(state, sleeps);
    return found;
}

/* Whether the thread executes the kernel; src/exec/run/pool.c names such threads. */
static bool is_worker(pid_t tid)
{
    char line[32];
    return read_line(tid, "comm", line, sizeof line) && !strcmp(line, "wavemem-worker\n");
}

static bool thread_waits(pid_t tid, shim_knows_thread *knows, uint64_t *state)
{
    bool waits = false;
    shim_mix(state, (uint64_t)tid);
    if (knows(tid, &waits, state))
        return waits;
    return waits_for_thread(tid) ? count_sleeps(tid, state) : is_worker(tid);
}

bool shim_all_threads_wait(pid_t own, shim_knows_thread *knows, uint64_t *state)
{
    bool all = true;
    DIR *tasks = opendir("/proc/self/task");
    if (!tasks)
        return false;
    for (const struct dirent *entry; all && (entry = readdir(tasks));) {
        const pid_t tid = atoi(entry->d_name);
        all = !tid || tid == own || thread_waits(tid, knows, state);
    }
    closedir(tasks);
    return all;
}

/* Whether the process has timers. They end in signals, whose handlers may do anything. */
bool shim_has_timers(void)
{
    struct itimerval timer;
    char line[64];
    if (getitimer(ITIMER_REAL, &timer) || timer.it_value.tv_sec || timer.it_value.tv_usec)
        return true;
    FILE *file = fopen("/proc/self/timers", "re"); /* not every host has this file */
    const bool any = file && fgets(line, sizeof line, file);
    if (file)
        fclose(file);
    return any;
}
