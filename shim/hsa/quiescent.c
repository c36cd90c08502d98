/* SPDX-License-Identifier: MIT */
/* Finds out whether the process is quiescent while a kernel waits. If nothing but the kernel itself could
 * still change what it waits for, its wait is a deadlock. The process is quiescent only if every thread waits
 * without a time limit, for another thread or for a signal, or is a thread of libamdhip64 that only answers
 * kernels. */
#include "shim.h"

#include <pthread.h>
#include <sys/syscall.h>
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

/* ---- threads ---- */

/* The caller holds the lock. */
static bool knows(pid_t tid, bool *waits, uint64_t *state)
{
    (void)state;
    for (int i = 0; i < PARTIES; i++) {
        const struct party *party = &parties[i];
        if (party->tid != tid)
            continue;
        const amd_signal_t *signal = party->own ? NULL : shim_signal(party->signal);
        *waits = party->own ||
                 (signal && !shim_holds(party->condition, __atomic_load_n(&signal->value, __ATOMIC_SEQ_CST),
                                        party->compare));
        return true;
    }
    return false;
}

/* own: the thread whose kernel waits. */
static bool all_threads_wait(pid_t own, uint64_t *state)
{
    pthread_mutex_lock(&lock);
    shim_mix(state, entries);
    const bool all = shim_all_threads_wait(own, knows, state);
    pthread_mutex_unlock(&lock);
    return all;
}

uint64_t shim_nobody_acts(pid_t own)
{
    uint64_t state = UINT64_C(0xcbf29ce484222325);
    const uint64_t now = shim_now();
    if (now < __atomic_load_n(&next_answer, __ATOMIC_RELAXED))
        return 0;
    __atomic_store_n(&next_answer, now + RETRY_INTERVAL, __ATOMIC_RELAXED);
    if (shim_kernels_running() != 1 || shim_packets_wait() || shim_has_timers())
        return 0;
    shim_mix(&state, shim_rings(&shim_any_signal));
    if (!all_threads_wait(own, &state) || shim_others_have_memory())
        return 0;
    __atomic_store_n(&next_answer, now + SAMPLE_INTERVAL, __ATOMIC_RELAXED);
    return state | 1;
}
