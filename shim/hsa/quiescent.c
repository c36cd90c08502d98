/* SPDX-License-Identifier: MIT */
/* Finds out whether the process is quiescent while a kernel waits. If nothing but the kernel itself could
 * still change what it waits for, its wait is a deadlock. The process is quiescent only if every thread waits
 * without a time limit, for another thread or for a signal, or is a thread of libamdhip64 that only answers
 * kernels. */
#include "shim.h"

#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

enum {
    PARTIES = 512,
    /* nanoseconds between two samples; longer than threads sleep that poll memory */
    SAMPLE_INTERVAL = 50000000,
    RETRY_INTERVAL =
        5000000, /* nanoseconds to the next sample after an inconclusive one, because sampling is slow */
};

/* A thread that is asleep in the runtime. */
static struct party {
    pid_t tid;     /* 0: the slot is free */
    bool own;      /* belongs to the runtime, and wakes if a signal changes or a packet arrives */
    bool listener; /* see shim_is_listener(); keeps its slot while it checks whether the signal has changed */
    hsa_signal_t signal;
    hsa_signal_condition_t condition;
    int64_t compare;
} parties[PARTIES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows, and `parties` */
static uint64_t entries;     /* number of times that a thread has gone to sleep on a signal */
static uint64_t next_answer; /* time of the next sample; atomic */

/* Finds the slot that a listener has kept if it still waits for the same signal; else frees that slot.
 * PARTIES: none. */
static int find_kept(const struct party *given)
{
    int found = PARTIES;
    for (int i = 0; i < PARTIES; i++) {
        struct party *party = &parties[i];
        if (party->tid != given->tid || !party->listener)
            continue;
        if (party->signal.handle == given->signal.handle && party->condition == given->condition &&
            party->compare == given->compare)
            found = i;
        else
            party->tid = 0;
    }
    return found;
}

static int enter(struct party given)
{
    given.tid = (pid_t)syscall(SYS_gettid);
    pthread_mutex_lock(&lock);
    int i = given.listener ? find_kept(&given) : PARTIES;
    if (i == PARTIES) {
        i = 0;
        while (i < PARTIES && parties[i].tid)
            i++;
        if (i < PARTIES)
            parties[i] = given;
        entries += !given.own;
    }
    pthread_mutex_unlock(&lock);
    return i < PARTIES ? i : -1;
}

int shim_asleep(void)
{
    return enter((struct party){.own = true});
}

int shim_asleep_for(hsa_signal_t signal, hsa_signal_condition_t condition, int64_t compare, bool listener)
{
    return enter(
        (struct party){.listener = listener, .signal = signal, .condition = condition, .compare = compare});
}

/* Two kinds of wait in libamdhip64 have a time limit, after which they only wait again. Its thread for
 * hostcall, through which kernels print, assert and allocate, waits for a value other than the last one, at
 * most 16 ms each time. In between it only looks at the value; if that has changed, it answers what kernels
 * wrote to its buffer. Source: ROCclr 5.2, device/devhostcall.cpp, HostcallListener::consumePackets(). And
 * from HIP 7 on, threads wait for the end of a command in turns of 100 us and then 4 ms, whose name in the
 * source says 4 s. Source: ROCclr 7.0 to 7.15, rocvirtual.hpp, WaitForSignal(). */
bool shim_is_listener(const void *caller, hsa_signal_condition_t condition, int64_t compare, uint64_t limit)
{
    const bool ends =
        condition == HSA_SIGNAL_CONDITION_LT && compare == 1 && (limit == 100000 || limit == 4000000);
    return (condition == HSA_SIGNAL_CONDITION_NE || ends) && shim_hip_library(caller);
}

void shim_awake(int slot)
{
    if (slot < 0)
        return;
    pthread_mutex_lock(&lock);
    parties[slot].tid = 0;
    pthread_mutex_unlock(&lock);
}

static void mix(uint64_t *state, uint64_t number)
{
    *state = (*state ^ number) * UINT64_C(0x100000001b3);
}

/* ---- threads ---- */

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
        mix(state, sleeps);
    return found;
}

/* Whether the thread executes the kernel; src/exec/run/pool.c names such threads. */
static bool is_worker(pid_t tid)
{
    char line[32];
    return read_line(tid, "comm", line, sizeof line) && !strcmp(line, "wavemem-worker\n");
}

/* The caller holds the lock. */
static bool thread_waits(pid_t tid, uint64_t *state)
{
    for (int i = 0; i < PARTIES; i++) {
        const struct party *party = &parties[i];
        if (party->tid != tid)
            continue;
        const amd_signal_t *signal = party->own ? NULL : shim_signal(party->signal);
        mix(state, (uint64_t)tid);
        return party->own ||
               (signal && !shim_holds(party->condition, __atomic_load_n(&signal->value, __ATOMIC_SEQ_CST),
                                      party->compare));
    }
    mix(state, (uint64_t)tid);
    return waits_for_thread(tid) ? count_sleeps(tid, state) : is_worker(tid);
}

/* own: the thread whose kernel waits. */
static bool all_threads_wait(pid_t own, uint64_t *state)
{
    bool all = true;
    DIR *tasks = opendir("/proc/self/task");
    if (!tasks)
        return false;
    pthread_mutex_lock(&lock);
    mix(state, entries);
    for (const struct dirent *entry; all && (entry = readdir(tasks));) {
        const pid_t tid = atoi(entry->d_name);
        all = !tid || tid == own || thread_waits(tid, state);
    }
    pthread_mutex_unlock(&lock);
    closedir(tasks);
    return all;
}

/* Whether the process has timers. They end in signals, whose handlers may do anything. */
static bool has_timers(void)
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

uint64_t shim_nobody_acts(pid_t own)
{
    uint64_t state = UINT64_C(0xcbf29ce484222325);
    const uint64_t now = shim_now();
    if (now < __atomic_load_n(&next_answer, __ATOMIC_RELAXED))
        return 0;
    __atomic_store_n(&next_answer, now + RETRY_INTERVAL, __ATOMIC_RELAXED);
    if (shim_kernels_running() != 1 || shim_packets_wait() || has_timers())
        return 0;
    mix(&state, shim_rings(&shim_any_signal));
    if (!all_threads_wait(own, &state) || shim_others_have_memory())
        return 0;
    __atomic_store_n(&next_answer, now + SAMPLE_INTERVAL, __ATOMIC_RELAXED);
    return state | 1;
}
