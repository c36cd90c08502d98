/* SPDX-License-Identifier: MIT */
/* The classes of findings: their names, and what the method of each cannot see. docs/checking.md explains the
 * methods and has the same sentences. */
#include "wavemem/wavemem.h"

#include <stddef.h>

static const struct row {
    enum wm_check_what bit;
    const char *name;
    const char *limits; /* what the class cannot see */
} classes[] = {
    {WM_CHECK_WAITS, "wait", "registers chosen by an index at run time"},
    {WM_CHECK_HAZARDS, "hazard", "what AMD does not document and LLVM does not avoid"},
    {WM_CHECK_MEMORY, "memory", "an index that stays in its allocation, or lands in another one"},
    {WM_CHECK_UNINIT, "uninit", "values without effect in this run, or copied between devices"},
    {WM_CHECK_RACES, "race", "accesses that this run did not make; waits that are right by chance"},
    {WM_CHECK_SYNC, "sync", "barriers that waves skip by ending; deadlocks of another order"},
    {WM_CHECK_PORTABILITY, "portability", "data exchanged in registers; orders that no seed tried"},
    {WM_CHECK_FLOAT, "float", "values that only decide branches; LDS and global memory; floats below 8 bits"},
};

static const struct row *class_of(enum wm_check_what what)
{
    static const struct row none = {.name = "", .limits = ""};
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (classes[i].bit == what)
            return &classes[i];
    return &none;
}

const char *wm_check_class_name(enum wm_check_what what)
{
    return class_of(what)->name;
}

const char *wm_check_class_limits(enum wm_check_what what)
{
    return class_of(what)->limits;
}
