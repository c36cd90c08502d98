/* SPDX-License-Identifier: MIT */
/* Variables of the source, by DWARF: which ones are in scope, and where their values are. */
#include "wavemem/variable.h"

bool wm_object_variable(const struct wm_object *object, uint64_t address, size_t index,
                        struct wm_variable *variable)
{
    (void)object, (void)address, (void)index, (void)variable;
    return false;
}

enum wm_variable_state wm_object_variable_read(const struct wm_object *object, uint64_t address, size_t index,
                                               const struct wm_variable_reader *reader, void *bytes,
                                               size_t size)
{
    (void)object, (void)address, (void)index, (void)reader, (void)bytes, (void)size;
    return WM_VARIABLE_OPTIMISED_OUT;
}
