/* SPDX-License-Identifier: MIT */
/* Threads that stay alive between the dispatches of a machine, because starting a thread takes longer than
 * many dispatches. */
#ifndef WMI_POOL_H
#define WMI_POOL_H

#include <stdbool.h>

struct wmi_pool;

/* Work that several threads share. The caller fills the first three members. */
struct wmi_crew {
    void (*work)(void *user, unsigned number); /* number: 0 to count - 1, each once at most */
    void *user;
    unsigned count;
    unsigned started, running; /* guarded by the pool's lock */
    struct wmi_crew *next;
};

struct wmi_pool *wmi_pool_create(void); /* starts no thread; NULL: no memory */
/* Ends the threads. No crew may be left. NULL is allowed. */
void wmi_pool_destroy(struct wmi_pool *pool);

/* Lets up to crew->count threads work, and starts those that are missing; if the host refuses, fewer threads
 * work, or none. The crew must live until wmi_pool_finish(). */
void wmi_pool_start(struct wmi_pool *pool, struct wmi_crew *crew);
/* Stops threads from joining the crew, and waits for those that work. */
void wmi_pool_finish(struct wmi_pool *pool, struct wmi_crew *crew);

#endif
