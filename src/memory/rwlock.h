/* SPDX-License-Identifier: MIT */
/* The reader-writer lock of a machine's guest memory. Readers use the memory; a writer changes what is
 * allocated. Threads that execute guest code hold the lock for long: they release it at the end of a wave's
 * time slice if a writer waits. */
#ifndef WMI_RWLOCK_H
#define WMI_RWLOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct wmi_rwlock {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    unsigned readers;
    unsigned waiting_writers; /* atomic */
    bool writing;
    uint64_t writes; /* so far */
};

/* A thread's read lock. A callback may use another machine, so a thread can hold several. */
struct wmi_read_lock {
    struct wmi_rwlock *rwlock;
    struct wmi_read_lock *outer;
    bool held;       /* false while suspended */
    uint64_t writes; /* the value of rwlock->writes when the thread last acquired the lock */
};

enum wmi_read_lock_state {
    WMI_READ_UNLOCKED,
    WMI_READ_SUSPENDED, /* in a callback that may change the memory */
    WMI_READ_LOCKED
};

void wmi_rwlock_init(struct wmi_rwlock *rwlock);
void wmi_rwlock_destroy(struct wmi_rwlock *rwlock);

/* Waits for a writer that is active, but not for those that wait, so that a thread may nest read locks.
 * `read_lock` must live until wmi_rwlock_read_unlock(). */
void wmi_rwlock_read(struct wmi_rwlock *rwlock, struct wmi_read_lock *read_lock);
void wmi_rwlock_read_unlock(struct wmi_read_lock *read_lock);
/* Between these two calls the thread does not hold the lock, but wmi_rwlock_read_state() still knows about
 * it. Resuming gives way to waiting writers, and returns whether the memory was changed in between. */
void wmi_rwlock_suspend(struct wmi_read_lock *read_lock);
bool wmi_rwlock_resume(struct wmi_read_lock *read_lock);

/* Whether a writer waits. A reader that holds the lock for long then suspends and resumes. */
static inline bool wmi_rwlock_has_waiting_writer(const struct wmi_rwlock *rwlock)
{
    return __builtin_expect(__atomic_load_n(&rwlock->waiting_writers, __ATOMIC_RELAXED) != 0, 0);
}

/* The calling thread must not hold a read lock. */
void wmi_rwlock_write(struct wmi_rwlock *rwlock);
void wmi_rwlock_write_unlock(struct wmi_rwlock *rwlock);

/* What the calling thread holds of this lock. */
enum wmi_read_lock_state wmi_rwlock_read_state(const struct wmi_rwlock *rwlock);

#endif
