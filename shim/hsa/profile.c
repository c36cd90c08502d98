/* SPDX-License-Identifier: MIT */
/* Profiles the program's kernels: one profile per process, recorded in a trace that `wavemem exec` replays.
 */
#include "shim.h"

#include <errno.h>
#include <pthread.h>
#include <regex.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE = 10 }; /* seconds that a kernel waits for another one that is profiled */

static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER; /* held while a kernel is profiled; guards what follows */
static struct wm_profile *profile;
static bool ended;
static pid_t owner;        /* the process; a child that it forks has no part in the trace */
static const char *folder; /* of traces; NULL: nothing is profiled */
static regex_t wanted;     /* names of kernels */
static bool selects;

void shim_profile_begin(const struct shim_device *device)
{
    const char *kernels = getenv("WAVEMEM_KERNEL"), *where = getenv("WAVEMEM_TRACES");
    struct wm_diag diag = {0};
    char path[4096];
    if (!where)
        return;
    if (kernels && regcomp(&wanted, kernels, REG_EXTENDED | REG_NOSUB)) {
        shim_complain("WAVEMEM_KERNEL: '%s' is not a regular expression; all kernels are profiled", kernels);
        kernels = NULL;
    }
    selects = kernels;
    snprintf(path, sizeof path, "%s/%ld.trace", where, (long)getpid());
    if (wm_profile_create(&profile, &diag) || wm_profile_set_gpu(profile, device->gpu, &diag) ||
        wm_profile_trace(profile, path, &diag)) {
        shim_complain("nothing is profiled: %s", diag.message);
        return;
    }
    folder = where;
    owner = getpid();
    atexit(shim_profile_end);
}

/* The runtime's own kernels are not the program's. */
static bool is_wanted(uint64_t kernel_object)
{
    static const char own[] = "__amd_rocclr_";
    char name[512];
    shim_name_kernel(kernel_object, name, sizeof name);
    return strncmp(name, own, sizeof own - 1) && (!selects || !regexec(&wanted, name, 0, NULL, 0));
}

static bool lock_within(unsigned seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += seconds;
    return !pthread_mutex_clocklock(&lock, CLOCK_MONOTONIC, &until);
}

struct wm_profile *shim_profile_enter(uint64_t kernel_object)
{
    if (!folder || !is_wanted(kernel_object))
        return NULL;
    if (!lock_within(PATIENCE)) { /* which may wait for this one */
        shim_complain("a kernel is not in the profile, because another one ran for %u seconds", PATIENCE);
        return NULL;
    }
    if (!ended)
        return profile;
    pthread_mutex_unlock(&lock);
    return NULL;
}

void shim_profile_leave(struct wm_profile *entered)
{
    if (entered)
        pthread_mutex_unlock(&lock);
}

void shim_profile_end(void)
{
    struct wm_diag diag = {0};
    if (!folder || getpid() != owner)
        return;
    if (!lock_within(PATIENCE)) {
        shim_complain("there is no profile: a kernel still runs");
        return;
    }
    if (!ended && wm_profile_end_trace(profile, &diag))
        shim_complain("there is no profile: %s", diag.message);
    ended = true;
    pthread_mutex_unlock(&lock);
}
