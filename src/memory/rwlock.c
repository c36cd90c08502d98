/* SPDX-License-Identifier: MIT */
/* The reader-writer lock of a machine's guest memory. */
#include "memory/rwlock.h"

#include <stddef.h>

static _Thread_local struct wmi_read_lock *innermost;

void wmi_rwlock_init(struct wmi_rwlock *rwlock)
{
    *rwlock = (struct wmi_rwlock){0};
    pthread_mutex_init(&rwlock->mutex, NULL);
    pthread_cond_init(&rwlock->changed, NULL);
}

void wmi_rwlock_destroy(struct wmi_rwlock *rwlock)
{
    pthread_mutex_destroy(&rwlock->mutex);
    pthread_cond_destroy(&rwlock->changed);
}

static void acquire(struct wmi_read_lock *read_lock, bool after_waiting_writers)
{
    struct wmi_rwlock *rwlock = read_lock->rwlock;
    pthread_mutex_lock(&rwlock->mutex);
    while (rwlock->writing || (after_waiting_writers && rwlock->waiting_writers))
        pthread_cond_wait(&rwlock->changed, &rwlock->mutex);
    rwlock->readers++;
    read_lock->writes = rwlock->writes;
    read_lock->held = true;
    pthread_mutex_unlock(&rwlock->mutex);
}

static void release(struct wmi_read_lock *read_lock)
{
    struct wmi_rwlock *rwlock = read_lock->rwlock;
    pthread_mutex_lock(&rwlock->mutex);
    read_lock->held = false;
    if (!--rwlock->readers)
        pthread_cond_broadcast(&rwlock->changed);
    pthread_mutex_unlock(&rwlock->mutex);
}

void wmi_rwlock_read(struct wmi_rwlock *rwlock, struct wmi_read_lock *read_lock)
{
    *read_lock = (struct wmi_read_lock){.rwlock = rwlock, .outer = innermost};
    /* A writer may wait for a read lock that this thread already holds, so waiting for it could deadlock. */
    acquire(read_lock, false);
    innermost = read_lock;
}

void wmi_rwlock_read_unlock(struct wmi_read_lock *read_lock)
{
    innermost = read_lock->outer;
    release(read_lock);
}

void wmi_rwlock_suspend(struct wmi_read_lock *read_lock)
{
    release(read_lock);
}

bool wmi_rwlock_resume(struct wmi_read_lock *read_lock)
{
    const uint64_t before = read_lock->writes;
    acquire(read_lock, true);
    return read_lock->writes != before;
}

void wmi_rwlock_write(struct wmi_rwlock *rwlock)
{
    pthread_mutex_lock(&rwlock->mutex);
    __atomic_fetch_add(&rwlock->waiting_writers, 1, __ATOMIC_RELAXED);
    while (rwlock->writing || rwlock->readers)
        pthread_cond_wait(&rwlock->changed, &rwlock->mutex);
    __atomic_fetch_sub(&rwlock->waiting_writers, 1, __ATOMIC_RELAXED);
    rwlock->writing = true;
    pthread_mutex_unlock(&rwlock->mutex);
}

void wmi_rwlock_write_unlock(struct wmi_rwlock *rwlock)
{
    pthread_mutex_lock(&rwlock->mutex);
    rwlock->writing = false;
    rwlock->writes++;
    pthread_cond_broadcast(&rwlock->changed);
    pthread_mutex_unlock(&rwlock->mutex);
}

enum wmi_read_lock_state wmi_rwlock_read_state(const struct wmi_rwlock *rwlock)
{
    enum wmi_read_lock_state state = WMI_READ_UNLOCKED;
    for (const struct wmi_read_lock *p = innermost; p; p = p->outer)
        if (p->rwlock == rwlock &&
            (state = p->held ? WMI_READ_LOCKED : WMI_READ_SUSPENDED) == WMI_READ_LOCKED)
            return state;
    return state;
}
