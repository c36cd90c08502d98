/* SPDX-License-Identifier: MIT */
/* Threads that stay alive between the dispatches of a machine. */
#include "exec/run/pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_THREADS = 256 };

struct wmi_pool {
    pthread_mutex_t lock;
    pthread_cond_t wanted;          /* signalled when a crew needs threads, or when the pool closes */
    pthread_cond_t ended;           /* signalled when a thread leaves its crew */
    struct wmi_crew *first, **last; /* queue of crews that need threads */
    pthread_t thread[MOST_THREADS];
    unsigned threads, busy;
    pid_t process; /* process that owns the threads; a forked child has none of them */
    bool closing;
};

static void init(struct wmi_pool *pool)
{
    *pool = (struct wmi_pool){.process = getpid()};
    pool->last = &pool->first;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wanted, NULL);
    pthread_cond_init(&pool->ended, NULL);
}

struct wmi_pool *wmi_pool_create(void)
{
    struct wmi_pool *pool = malloc(sizeof *pool);
    if (pool)
        init(pool);
    return pool;
}

void wmi_pool_destroy(struct wmi_pool *pool)
{
    if (!pool)
        return;
    if (pool->process == getpid()) {
        pthread_mutex_lock(&pool->lock);
        pool->closing = true;
        pthread_cond_broadcast(&pool->wanted);
        pthread_mutex_unlock(&pool->lock);
        for (unsigned i = 0; i < pool->threads; i++)
            pthread_join(pool->thread[i], NULL);
        pthread_cond_destroy(&pool->ended);
        pthread_cond_destroy(&pool->wanted);
        pthread_mutex_destroy(&pool->lock);
    }
    free(pool);
}

/* Removes a crew from the queue, if it is in it. */
static void withdraw(struct wmi_pool *pool, struct wmi_crew *crew)
{
    struct wmi_crew **link = &pool->first;
    while (*link && *link != crew)
        link = &(*link)->next;
    if (!*link)
        return;
    *link = crew->next;
    if (!*link)
        pool->last = link;
}

static void *serve(void *argument)
{
    struct wmi_pool *pool = argument;
    pthread_mutex_lock(&pool->lock);
    while (!pool->closing) {
        struct wmi_crew *crew = pool->first;
        if (!crew) {
            pthread_cond_wait(&pool->wanted, &pool->lock);
            continue;
        }
        const unsigned number = crew->started++;
        crew->running++;
        pool->busy++;
        if (crew->started == crew->count)
            withdraw(pool, crew);
        pthread_mutex_unlock(&pool->lock);
        crew->work(crew->user, number);
        pthread_mutex_lock(&pool->lock);
        pool->busy--;
        if (!--crew->running)
            pthread_cond_broadcast(&pool->ended);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Blocks all signals in the new thread, so that the program's own threads receive them. */
static bool add_thread(struct wmi_pool *pool)
{
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGILL);
    sigdelset(&all, SIGTRAP);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool ok = !pthread_create(&pool->thread[pool->threads], NULL, serve, pool);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (ok) {
        pthread_setname_np(pool->thread[pool->threads],
                           "wavemem-worker"); /* the HSA runtime recognizes this name */
        pool->threads++;
    }
    return ok;
}

void wmi_pool_start(struct wmi_pool *pool, struct wmi_crew *crew)
{
    crew->started = crew->running = 0;
    crew->next = NULL;
    if (!crew->count)
        return;
    if (pool->process != getpid())
        init(pool);
    pthread_mutex_lock(&pool->lock);
    *pool->last = crew;
    pool->last = &crew->next;
    unsigned unbegun = 0;
    for (const struct wmi_crew *one = pool->first; one; one = one->next)
        unbegun += one->count - one->started;
    while (pool->threads - pool->busy < unbegun && pool->threads < MOST_THREADS)
        if (!add_thread(pool))
            break;
    if (crew->count == 1)
        pthread_cond_signal(&pool->wanted);
    else
        pthread_cond_broadcast(&pool->wanted);
    pthread_mutex_unlock(&pool->lock);
}

void wmi_pool_finish(struct wmi_pool *pool, struct wmi_crew *crew)
{
    if (!crew->count)
        return;
    pthread_mutex_lock(&pool->lock);
    withdraw(pool, crew);
    while (crew->running)
        pthread_cond_wait(&pool->ended, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}
