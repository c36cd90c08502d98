/* SPDX-License-Identifier: MIT */
/* In place of dwarf.c and inlined.c in a build without elfutils (-Ddwarf=disabled): no object has lines. */
#include "object/object.h"
#include "object/parts.h"
#include "wavemem/variable.h"

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

bool wm_object_type(const struct wm_object *object, uint64_t id, struct wm_type *type)
{
    (void)object, (void)id, (void)type;
    return false;
}

bool wm_object_member(const struct wm_object *object, uint64_t type_id, size_t index,
                      struct wm_member *member)
{
    (void)object, (void)type_id, (void)index, (void)member;
    return false;
}
