/* SPDX-License-Identifier: MIT */
/* What a stand-in says of memory that knows nothing about it: those that do define these functions again. */
#include "shim/common/common.h"

#define UNLESS_DEFINED __attribute__((weak))

UNLESS_DEFINED bool shim_allocation_site(uint64_t low, struct shim_site *site)
{
    (void)low, (void)site;
    return false;
}

UNLESS_DEFINED bool shim_site_text(const struct shim_site *site, char *text, size_t size)
{
    (void)site, (void)text, (void)size;
    return false;
}

UNLESS_DEFINED bool shim_named_memory(const struct shim_gpu *gpu, uint64_t address, uint64_t launch,
                                      struct shim_allocation *found)
{
    (void)gpu, (void)address, (void)launch, (void)found;
    return false;
}
