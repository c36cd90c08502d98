/* SPDX-License-Identifier: MIT */
/* Rows that are the same in all active lanes, or 0, at each step of a block; find_uniform.c finds out. */
#ifndef WMI_UNIFORM_H
#define WMI_UNIFORM_H

#include "jit/compile.h"

struct wmi_live;

enum wmi_uniform_kind { WMI_UNIFORM_ANY, WMI_UNIFORM_ZERO, WMI_UNIFORM_KINDS };

struct wmi_uniform {
    const struct wmi_block *block;
    const struct wmi_live *live;
    size_t words;   /* of a set of rows */
    uint64_t *sets; /* in front of each step: [WMI_UNIFORM_KINDS][words] */
};

static inline bool wmi_uniform_has(const struct wmi_uniform *uniform, const uint64_t *set, uint32_t row)
{
    const size_t number = wmi_row_number(uniform->block->code, row);
    return set[number / 64] >> number % 64 & 1;
}

static inline uint64_t *wmi_uniform_set(const struct wmi_uniform *uniform, size_t step,
                                        enum wmi_uniform_kind kind)
{
    return &uniform->sets[(step * WMI_UNIFORM_KINDS + kind) * uniform->words];
}

/* Whether a wave that is about to execute the step has the same value, or 0, in all active lanes of the row,
 * which is no constant. Without `uniform`, that is not known. */
static inline bool wmi_is_uniform(const struct wmi_uniform *uniform, uint32_t row, size_t step,
                                  enum wmi_uniform_kind kind)
{
    return uniform && step < uniform->block->count &&
           wmi_uniform_has(uniform, wmi_uniform_set(uniform, step, kind), row);
}

#endif
