/* SPDX-License-Identifier: MIT */
/* Functions that are not implemented: each fails, and says on stderr once that it was called. They are weak,
 * so that a definition elsewhere takes its place; this file must not see the functions' real declarations. */
#include <stdio.h>

enum { STATUS_ERROR = 0x1000 }; /* HSA_STATUS_ERROR */

static int refuse(const char *name, int *said)
{
    if (!__atomic_exchange_n(said, 1, __ATOMIC_RELAXED))
        fprintf(stderr, "wavemem: %s is not implemented; it fails\n", name);
    return STATUS_ERROR;
}

#define NAME(name)                                                                                           \
    __attribute__((weak, visibility("default"))) int name(void);                                             \
    int name(void)                                                                                           \
    {                                                                                                        \
        static int said;                                                                                     \
        return refuse(#name, &said);                                                                         \
    }
#include "names.def"
