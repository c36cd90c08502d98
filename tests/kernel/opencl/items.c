/* SPDX-License-Identifier: MIT */
/* Runs the work-items of a kernel compiled for the host; see items.h. */
#include "items.h"

#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { STACK_BYTES = 128 << 10, SLOT_BYTES = 16 };

/* The test program runs one kernel at a time on one thread, and kernels have no context argument. */
static struct {
    uint32_t grid[3], workgroup[3], group[3], size[3]; /* size: of this workgroup; the last may be smaller */
    uint32_t count, current;
    void (*call)(void *user);
    void *user;
    ucontext_t scheduler, item[ITEMS_MOST];
    bool finished[ITEMS_MOST];
    uint8_t slot[2][ITEMS_MOST][SLOT_BYTES]; /* double-buffered: others may still read one */
    unsigned parity[ITEMS_MOST];
    char *stacks;
} now;

static uint32_t local_id(uint32_t dimension)
{
    const uint32_t divisor[3] = {1, now.size[0], now.size[0] * now.size[1]};
    return dimension < 3 ? now.current / divisor[dimension] % now.size[dimension] : 0;
}

uint64_t items_local_id(uint32_t dimension)
{
    return local_id(dimension);
}

uint64_t items_global_id(uint32_t dimension)
{
    return dimension < 3 ? (uint64_t)now.group[dimension] * now.workgroup[dimension] + local_id(dimension)
                         : 0;
}

uint64_t items_group_id(uint32_t dimension)
{
    return dimension < 3 ? now.group[dimension] : 0;
}

uint64_t items_global_size(uint32_t dimension)
{
    return dimension < 3 ? now.grid[dimension] : 1;
}

uint64_t items_local_size(uint32_t dimension)
{
    return dimension < 3 ? now.size[dimension] : 1;
}

uint64_t items_enqueued_local_size(uint32_t dimension)
{
    return dimension < 3 ? now.workgroup[dimension] : 1;
}

uint64_t items_groups(uint32_t dimension)
{
    return dimension < 3 ? (now.grid[dimension] + now.workgroup[dimension] - 1) / now.workgroup[dimension]
                         : 1;
}

uint32_t items_flat_id(void)
{
    return now.current;
}

uint32_t items_count(void)
{
    return now.count;
}

void items_barrier(void)
{
    swapcontext(&now.item[now.current], &now.scheduler);
}

const void *items_exchange(const void *value)
{
    const unsigned parity = now.parity[now.current]++ & 1;
    memcpy(now.slot[parity][now.current], value, SLOT_BYTES);
    items_barrier();
    return now.slot[parity];
}

static void start(void)
{
    now.call(now.user);
    now.finished[now.current] = true;
}

/* Runs each item in turn up to its next barrier, until all have ended. */
static void run_group(void)
{
    now.count = now.size[0] * now.size[1] * now.size[2];
    for (uint32_t i = 0; i < now.count; i++) {
        getcontext(&now.item[i]);
        now.item[i].uc_stack.ss_sp = now.stacks + (size_t)i * STACK_BYTES;
        now.item[i].uc_stack.ss_size = STACK_BYTES;
        now.item[i].uc_link = &now.scheduler;
        makecontext(&now.item[i], start, 0);
        now.finished[i] = false;
        now.parity[i] = 0;
    }
    for (bool left = true; left;) {
        left = false;
        for (now.current = 0; now.current < now.count; now.current++)
            if (!now.finished[now.current]) {
                swapcontext(&now.scheduler, &now.item[now.current]);
                left |= !now.finished[now.current];
            }
    }
}

bool items_run(const uint32_t grid[3], const uint32_t workgroup[3], void (*call)(void *user), void *user)
{
    /* Not malloc(), which fills its memory if the test runner asks for that: most pages are never used. */
    const size_t bytes = (size_t)ITEMS_MOST * STACK_BYTES;
    now.stacks = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (now.stacks == MAP_FAILED)
        return false;
    memcpy(now.grid, grid, sizeof(now.grid));
    memcpy(now.workgroup, workgroup, sizeof(now.workgroup));
    now.call = call;
    now.user = user;
    const uint64_t groups = items_groups(0) * items_groups(1) * items_groups(2);
    for (uint64_t group = 0; group < groups; group++) {
        uint64_t rest = group;
        for (unsigned i = 0; i < 3; i++) {
            now.group[i] = (uint32_t)(rest % items_groups(i));
            rest /= items_groups(i);
            const uint32_t left = grid[i] - now.group[i] * workgroup[i];
            now.size[i] = left < workgroup[i] ? left : workgroup[i];
        }
        run_group();
    }
    munmap(now.stacks, bytes);
    now.stacks = NULL;
    return true;
}
