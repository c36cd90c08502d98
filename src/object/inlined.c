/* SPDX-License-Identifier: MIT */
/* Which code is an inlined function, and where it was called: DWARF 5, section 3.3.8, "Inlinable and Inlined
 * Subroutines". */
#include "object/object.h"
#include "object/parts.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>

enum { NESTING = 256 /* of entries; compilers stay far below */ };

struct table {
    struct wmi_inlined *rows;
    size_t count, room;
    size_t entries; /* that may still be visited: more than the file has bytes would be a loop */
    Dwarf_Files *files;
    bool lost;
};

static unsigned number_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &value) != 0 || value > UINT32_MAX)
        return 0;
    return (unsigned)value;
}

static bool push(struct table *table, const struct wmi_inlined *row)
{
    if (table->count == table->room) {
        const size_t room = table->room ? table->room * 2 : 64;
        struct wmi_inlined *rows = realloc(table->rows, room * sizeof *rows);
        if (!rows)
            return false;
        table->rows = rows;
        table->room = room;
    }
    table->rows[table->count++] = *row;
    return true;
}

static void add(struct table *table, Dwarf_Die *die, unsigned depth)
{
    const char *name = dwarf_diename(die), *file = NULL;
    Dwarf_Addr base, low, high;
    if (table->files)
        file = dwarf_filesrc(table->files, number_of(die, DW_AT_call_file), NULL, NULL);
    if (file && file[0] == '.' && file[1] == '/')
        file += 2;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &low, &high)) > 0;)
        table->lost |=
            !push(table, &(struct wmi_inlined){.low = low,
                                               .high = high,
                                               .depth = depth,
                                               .public = {.function = name ? name : "",
                                                          .call_file = file,
                                                          .call_line = number_of(die, DW_AT_call_line),
                                                          .call_column = number_of(die, DW_AT_call_column)}});
}

/* Visits the entries below `parent`. */
static void visit(struct table *table, Dwarf_Die *parent, unsigned depth, unsigned nesting)
{
    Dwarf_Die die, from;
    if (nesting == NESTING || dwarf_child(parent, &die) != 0)
        return;
    do {
        if (!table->entries)
            return;
        table->entries--;
        const int tag = dwarf_tag(&die);
        const bool inlined = tag == DW_TAG_inlined_subroutine;
        if (inlined)
            add(table, &die, depth);
        if (inlined || tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block || tag == DW_TAG_namespace)
            visit(table, &die, depth + inlined, nesting + 1);
        from = die;
    } while (dwarf_siblingof(&from, &die) == 0);
}

static void read_inlined(Dwarf *dwarf, void *user)
{
    struct table *table = user;
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    size_t files;
    while (dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0) {
        if (dwarf_getsrcfiles(&die, &table->files, &files) != 0)
            table->files = NULL;
        visit(table, &die, 0, 0);
    }
}

static const struct wmi_lazy *lazy_of(const struct wm_object *object)
{
    struct wmi_lazy *lazy = object->lazy;
    pthread_mutex_lock(&lazy->lock);
    if (!lazy->has_inlined) {
        struct table table = {.entries = object->size};
        lazy->has_inlined = true;
        wmi_dwarf_read(object, read_inlined, &table);
        lazy->lost |= table.lost;
        lazy->inlined = table.rows;
        lazy->inlined_count = table.count;
    }
    pthread_mutex_unlock(&lazy->lock);
    return lazy;
}

bool wm_object_inlined(const struct wm_object *object, uint64_t address, unsigned depth,
                       struct wm_inlined *inlined)
{
    if (!object || !inlined)
        return false;
    const struct wmi_lazy *lazy = lazy_of(object);
    unsigned around = 0; /* functions that the address belongs to */
    for (size_t i = 0; i < lazy->inlined_count; i++)
        if (lazy->inlined[i].low <= address && address < lazy->inlined[i].high &&
            lazy->inlined[i].depth >= around)
            around = lazy->inlined[i].depth + 1;
    for (size_t i = 0; i < lazy->inlined_count && depth < around; i++)
        if (lazy->inlined[i].low <= address && address < lazy->inlined[i].high &&
            lazy->inlined[i].depth == around - 1 - depth) {
            *inlined = lazy->inlined[i].public;
            return true;
        }
    return false;
}
