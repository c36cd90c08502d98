/* SPDX-License-Identifier: MIT */
/* What emscripten's C library lacks. */
#include "web/missing.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef int order(const void *, const void *, void *);

/* Stable, as glibc's, so that items that compare equal are listed as by the command. */
static void sort(char *items, char *spare, size_t count, size_t size, order *compare, void *user)
{
    const size_t half = count / 2, bytes = count * size;
    if (count < 2)
        return;
    sort(items, spare, half, size, compare, user);
    sort(items + half * size, spare, count - half, size, compare, user);
    const char *a = items, *b = items + half * size, *const middle = b, *const end = items + bytes;
    for (char *to = spare; to < spare + bytes; to += size) {
        const bool second = a == middle || (b < end && compare(a, b, user) > 0);
        memcpy(to, second ? b : a, size);
        *(second ? &b : &a) += size;
    }
    memcpy(items, spare, bytes);
}

void qsort_r(void *items, size_t count, size_t size, order *compare, void *user)
{
    char *spare = malloc(count * size + 1);
    if (!spare)
        abort();
    sort(items, spare, count, size, compare, user);
    free(spare);
}

/* The assembler leaves this way when there is no memory, which ends the module anyway: the page starts a new one. */
int setjmp(jmp_buf place)
{
    (void)place;
    return 0;
}

void longjmp(jmp_buf place, int value)
{
    (void)place, (void)value;
    abort();
}

int pthread_setname_np(pthread_t thread, const char *name)
{
    (void)thread, (void)name;
    return 0;
}
