/* SPDX-License-Identifier: MIT */
/* Bells, on which threads sleep until another thread rings. */
#include "shim/aql/aql.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    /* Intervals in nanoseconds at which waiting threads poll, while a kernel runs and while none does,
     * because kernels change signals and other memory without a bell. */
    LOOK_RUNNING = 50000,
    LOOK_IDLE = 5000000,
};

struct shim_bell shim_any_signal;

static long futex(uint32_t *word, int operation, uint32_t value, const struct timespec *timeout)
{
    return syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, timeout, NULL, 0);
}

void shim_ring(struct shim_bell *bell)
{
    __atomic_fetch_add(&bell->rings, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&bell->sleepers, __ATOMIC_SEQ_CST))
        futex(&bell->rings, FUTEX_WAKE, INT_MAX, NULL);
}

uint32_t shim_rings(const struct shim_bell *bell)
{
    return __atomic_load_n(&bell->rings, __ATOMIC_SEQ_CST);
}

void shim_sleep(struct shim_bell *bell, uint32_t seen, uint64_t nanoseconds)
{
    const struct timespec timeout = {(time_t)(nanoseconds / 1000000000), (long)(nanoseconds % 1000000000)};
    __atomic_fetch_add(&bell->sleepers, 1, __ATOMIC_SEQ_CST);
    futex(&bell->rings, FUTEX_WAIT, seen, &timeout);
    __atomic_fetch_sub(&bell->sleepers, 1, __ATOMIC_SEQ_CST);
}

uint64_t shim_quantum(void)
{
    return shim_kernels_running() ? LOOK_RUNNING : LOOK_IDLE;
}
