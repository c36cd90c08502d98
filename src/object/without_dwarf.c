/* SPDX-License-Identifier: MIT */
/* In place of dwarf.c and inlined.c in a build without elfutils (-Ddwarf=disabled): no object has lines. */
#include "object/object.h"
#include "object/parts.h"

void wmi_dwarf_close(struct wmi_lazy *lazy)
{
    (void)lazy;
}

void wmi_dwarf_arguments(const struct wm_object *object)
{
    object->lazy->has_names = true;
}

bool wm_object_line(const struct wm_object *object, uint64_t address, const char **file, unsigned *line,
                    unsigned *column)
{
    (void)object, (void)address, (void)file, (void)line, (void)column;
    return false;
}

bool wm_object_inlined(const struct wm_object *object, uint64_t address, unsigned depth,
                       struct wm_inlined *inlined)
{
    (void)object, (void)address, (void)depth, (void)inlined;
    return false;
}

bool wm_kernel_line(const struct wm_object *object, const struct wm_kernel *kernel, const char **file,
                    unsigned *line)
{
    (void)object, (void)kernel, (void)file, (void)line;
    return false;
}
