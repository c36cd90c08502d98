/* SPDX-License-Identifier: MIT */
/* What emscripten's C library lacks. */
#include "web/missing.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
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

/* Comparisons of long doubles, which strtod() makes, return an int to the compiler and a long in compiler-rt: a call
 * would end the module. -1: less, 0: equal, 1: greater, 2: a NaN. */
static int compare(long double a, long double b)
{
    const uint64_t largest = UINT64_C(0x7fff) << 48, sign = UINT64_C(1) << 63;
    uint64_t x[2], y[2]; /* low, high */
    memcpy(x, &a, sizeof x);
    memcpy(y, &b, sizeof y);
    const uint64_t p = x[1] & ~sign, q = y[1] & ~sign;
    if (p > largest || (p == largest && x[0]) || q > largest || (q == largest && y[0]))
        return 2;
    if (!(p | x[0] | q | y[0]))
        return 0;
    if ((x[1] ^ y[1]) & sign)
        return x[1] & sign ? -1 : 1;
    const int magnitude = p != q ? (p < q ? -1 : 1) : x[0] != y[0] ? (x[0] < y[0] ? -1 : 1) : 0;
    return x[1] & sign ? -magnitude : magnitude;
}

/* With a NaN, each is false. */
#define COMPARISON(name, with_nan)                                                                                     \
    int name(long double a, long double b);                                                                            \
    int name(long double a, long double b)                                                                             \
    {                                                                                                                  \
        const int order = compare(a, b);                                                                               \
        return order == 2 ? (with_nan) : order;                                                                        \
    }
COMPARISON(__eqtf2, 1)
COMPARISON(__netf2, 1)
COMPARISON(__lttf2, 1)
COMPARISON(__letf2, 1)
COMPARISON(__gttf2, -1)
COMPARISON(__getf2, -1)

int __unordtf2(long double a, long double b);
int __unordtf2(long double a, long double b)
{
    return compare(a, b) == 2;
}
