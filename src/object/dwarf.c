/* SPDX-License-Identifier: MIT */
/* Reads the line table and the names and types of kernel arguments with libdw. Called under the object's
 * lock; the resulting tables are independent of libdw. */
#include "object/parts.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* libdw ends the process when there is no memory, unless it is given a function that does not return. */
static _Thread_local jmp_buf no_memory;

static __attribute__((noreturn)) void out_of_memory(void)
{
    longjmp(no_memory, 1);
}

static Dwarf *open_dwarf(const struct wm_object *object)
{
    struct wmi_lazy *lazy = object->lazy;
    if (lazy->has_dwarf)
        return lazy->dwarf;
    lazy->has_dwarf = true;
    if (!object->version || elf_version(EV_CURRENT) == EV_NONE)
        return NULL;
    /* libelf only reads, although the parameter is not const. */
    lazy->elf = elf_memory((char *)(uintptr_t)object->bytes, object->size);
    if (lazy->elf)
        lazy->dwarf = dwarf_begin_elf(lazy->elf, DWARF_C_READ, NULL);
    if (lazy->dwarf)
        dwarf_new_oom_handler(lazy->dwarf, out_of_memory);
    return lazy->dwarf;
}

void wmi_dwarf_close(struct wmi_lazy *lazy)
{
    dwarf_end(lazy->dwarf);
    elf_end(lazy->elf);
}

/* Reads with libdw. What libraries could not do for want of memory shows in errno alone. */
void wmi_dwarf_read(const struct wm_object *object, void (*read)(Dwarf *dwarf, void *user), void *user)
{
    errno = 0;
    if (setjmp(no_memory)) {
        object->lazy->lost = true;
        return;
    }
    Dwarf *dwarf = open_dwarf(object);
    if (dwarf)
        read(dwarf, user);
    object->lazy->lost |= errno == ENOMEM;
}

/* ---- lines ---- */

struct rows {
    struct wmi_line *rows;
    size_t count, room;
};

static bool push(struct rows *table, const struct wmi_line *row)
{
    if (table->count == table->room) {
        const size_t room = table->room ? table->room * 2 : 1024;
        struct wmi_line *rows = realloc(table->rows, room * sizeof(*rows));
        if (!rows)
            return false;
        table->rows = rows;
        table->room = room;
    }
    table->rows[table->count++] = *row;
    return true;
}

static bool read_unit(Dwarf_Die *unit, struct rows *table)
{
    Dwarf_Lines *lines;
    size_t count;
    if (dwarf_getsrclines(unit, &lines, &count) != 0)
        return true; /* no line table, or an invalid one */
    for (size_t i = 0; i < count; i++) {
        Dwarf_Line *line = dwarf_onesrcline(lines, i);
        Dwarf_Addr address;
        int number = 0, column = 0;
        bool end = false;
        if (!line || dwarf_lineaddr(line, &address) != 0 || dwarf_lineno(line, &number) != 0 ||
            dwarf_linecol(line, &column) != 0 || dwarf_lineendsequence(line, &end) != 0)
            continue;
        struct wmi_line row = {.address = address};
        if (!end && number > 0) {
            row.file = dwarf_linesrc(line, NULL, NULL);
            row.line = (uint32_t)number;
            row.column = (uint32_t)column;
        }
        if (row.file && strncmp(row.file, "./", 2) == 0)
            row.file += 2;
        if (!push(table, &row))
            return false;
    }
    return true;
}

struct sorted_line {
    struct wmi_line row;
    size_t index;
};

static int order(const void *a, const void *b)
{
    const struct sorted_line *x = a, *y = b;
    if (x->row.address != y->row.address)
        return x->row.address < y->row.address ? -1 : 1;
    /* One sequence may begin where another ends: rows with a file take precedence. */
    if (!x->row.file != !y->row.file)
        return x->row.file ? 1 : -1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Sorts the rows and keeps the last one of each address. */
static bool sort_rows(struct rows *table)
{
    struct sorted_line *sorted = malloc((table->count + 1) * sizeof(*sorted));
    if (!sorted) {
        table->count = 0;
        return false;
    }
    for (size_t i = 0; i < table->count; i++)
        sorted[i] = (struct sorted_line){table->rows[i], i};
    qsort(sorted, table->count, sizeof(*sorted), order);
    size_t kept = 0;
    for (size_t i = 0; i < table->count; i++) {
        if (kept && table->rows[kept - 1].address == sorted[i].row.address)
            kept--;
        table->rows[kept++] = sorted[i].row;
    }
    table->count = kept;
    free(sorted);
    return true;
}

static void read_lines(Dwarf *dwarf, void *user)
{
    struct rows *table = user;
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    while (dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0)
        if (!read_unit(&die, table))
            break;
}

void wmi_dwarf_lines(const struct wm_object *object)
{
    struct wmi_lazy *lazy = object->lazy;
    struct rows table = {0};
    lazy->has_lines = true;
    wmi_dwarf_read(object, read_lines, &table);
    lazy->lost |= !sort_rows(&table);
    lazy->lines = table.rows;
    lazy->line_count = table.count;
}

bool wm_object_line(const struct wm_object *object, uint64_t address, const char **file, unsigned *line,
                    unsigned *column)
{
    if (!object)
        return false;
    struct wmi_lazy *lazy = object->lazy;
    pthread_mutex_lock(&lazy->lock);
    if (!lazy->has_lines)
        wmi_dwarf_lines(object);
    pthread_mutex_unlock(&lazy->lock);
    size_t low = 0, high = lazy->line_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (lazy->lines[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || !lazy->lines[low - 1].file)
        return false;
    const struct wmi_line *row = &lazy->lines[low - 1];
    if (file)
        *file = row->file;
    if (line)
        *line = row->line;
    if (column)
        *column = row->column;
    return true;
}

/* ---- arguments ---- */

enum { TYPE_DEPTH = 16 };

/* The type that `die` refers to; false: void. */
static bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    return dwarf_attr_integrate(die, DW_AT_type, &attribute) && dwarf_formref_die(&attribute, type);
}

/* Writes a type's name as in metadata: "float*", without const. */
static void append_type(Dwarf_Die *die, unsigned depth, char *text, size_t size)
{
    Dwarf_Die type;
    const char *name = NULL, *suffix = "";
    if (depth > TYPE_DEPTH || !type_of(die, &type)) {
        name = "void";
    } else {
        switch (dwarf_tag(&type)) {
        case DW_TAG_pointer_type:
            suffix = "*";
            break;
        case DW_TAG_reference_type:
            suffix = "&";
            break;
        case DW_TAG_const_type:
        case DW_TAG_volatile_type:
        case DW_TAG_restrict_type:
            break;
        default:
            name = dwarf_diename(&type);
            if (!name)
                name = "?";
        }
    }
    const size_t length = strlen(text);
    if (name)
        snprintf(text + length, size - length, "%s", name);
    else
        append_type(&type, depth + 1, text, size);
    const size_t now = strlen(text);
    snprintf(text + now, size - now, "%s", suffix);
}

/* Sets the parameter's name and type if the metadata lacks them. */
static void name_argument(struct wmi_lazy *lazy, Dwarf_Die *parameter, struct wm_argument *argument)
{
    const char *name = dwarf_diename(parameter);
    if (!*argument->name && name)
        argument->name = name;
    if (*argument->type_name)
        return;
    char text[256] = "";
    append_type(parameter, 0, text, sizeof(text));
    const char *copy = strchr(text, '?') ? NULL : wmi_arena_text(&lazy->arena, text, strlen(text));
    if (copy)
        argument->type_name = copy;
}

static size_t explicit_arguments(const struct wmi_kernel *kernel)
{
    size_t count = 0;
    for (size_t i = 0; i < kernel->public.argument_count; i++)
        count += kernel->arguments[i].kind != WM_ARGUMENT_HIDDEN;
    return count;
}

static bool next_parameter(Dwarf_Die *die, bool first)
{
    Dwarf_Die from = *die;
    int result = first ? dwarf_child(&from, die) : dwarf_siblingof(&from, die);
    while (result == 0 && dwarf_tag(die) != DW_TAG_formal_parameter) {
        from = *die;
        result = dwarf_siblingof(&from, die);
    }
    return result == 0;
}

static void name_arguments(struct wmi_lazy *lazy, Dwarf_Die *function, struct wmi_kernel *kernel)
{
    Dwarf_Die parameter = *function;
    size_t parameters = 0, i = 0;
    for (bool more = next_parameter(&parameter, true); more; more = next_parameter(&parameter, false))
        parameters++;
    /* If the numbers differ, the compiler has split or dropped some, and the order is not reliable. */
    if (parameters != explicit_arguments(kernel))
        return;
    parameter = *function;
    for (bool more = next_parameter(&parameter, true); more; more = next_parameter(&parameter, false)) {
        while (i < kernel->public.argument_count && kernel->arguments[i].kind == WM_ARGUMENT_HIDDEN)
            i++;
        if (i == kernel->public.argument_count)
            return;
        name_argument(lazy, &parameter, &kernel->arguments[i++]);
    }
}

static int visit_function(Dwarf_Die *function, void *user)
{
    const struct wm_object *object = user;
    Dwarf_Addr entry;
    if (dwarf_lowpc(function, &entry) != 0)
        return DWARF_CB_OK;
    for (size_t i = 0; i < object->kernel_count; i++)
        if (object->kernels[i].public.entry == entry)
            name_arguments(object->lazy, function, &object->kernels[i]);
    return DWARF_CB_OK;
}

static void visit_functions(Dwarf *dwarf, int (*visit)(Dwarf_Die *function, void *user), void *user)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    while (dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0)
        dwarf_getfuncs(&die, visit, user, 0);
}

static void read_arguments(Dwarf *dwarf, void *user)
{
    visit_functions(dwarf, visit_function, user);
}

void wmi_dwarf_arguments(const struct wm_object *object)
{
    object->lazy->has_names = true;
    wmi_dwarf_read(object, read_arguments, (void *)(uintptr_t)object);
}

/* ---- declarations of kernels ---- */

/* dwarf_decl_file(), which takes number 0 for none, although it is the first file of DWARF 5 (libdw 0.188).
 */
static const char *declaring_file(Dwarf_Die *function)
{
    Dwarf_Attribute attribute;
    Dwarf_Die unit;
    Dwarf_Files *files;
    Dwarf_Word number;
    size_t count;
    if (!dwarf_attr_integrate(function, DW_AT_decl_file, &attribute) ||
        dwarf_formudata(&attribute, &number) != 0 ||
        !dwarf_cu_die(attribute.cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) ||
        dwarf_getsrcfiles(&unit, &files, &count) != 0 || number >= count)
        return NULL;
    const char *file = dwarf_filesrc(files, number, NULL, NULL);
    return file && strncmp(file, "./", 2) == 0 ? file + 2 : file;
}

static int visit_declaration(Dwarf_Die *function, void *user)
{
    const struct wm_object *object = user;
    Dwarf_Addr entry;
    int line;
    if (dwarf_lowpc(function, &entry) != 0)
        return DWARF_CB_OK;
    for (size_t i = 0; i < object->kernel_count; i++) {
        struct wmi_kernel *kernel = &object->kernels[i];
        if (kernel->public.entry != entry || dwarf_decl_line(function, &line) != 0 || line <= 0)
            continue;
        kernel->file = declaring_file(function);
        kernel->line = (unsigned)line;
    }
    return DWARF_CB_OK;
}

static void read_declarations(Dwarf *dwarf, void *user)
{
    visit_functions(dwarf, visit_declaration, user);
}

bool wm_kernel_line(const struct wm_object *object, const struct wm_kernel *kernel, const char **file,
                    unsigned *line)
{
    if (!object || !kernel)
        return false;
    pthread_mutex_lock(&object->lazy->lock);
    if (!object->lazy->has_places)
        wmi_dwarf_read(object, read_declarations, (void *)(uintptr_t)object);
    object->lazy->has_places = true;
    pthread_mutex_unlock(&object->lazy->lock);
    const struct wmi_kernel *known = (const struct wmi_kernel *)kernel;
    if (!known->file)
        return wm_object_line(object, kernel->entry, file, line, NULL);
    if (file)
        *file = known->file;
    if (line)
        *line = known->line;
    return true;
}
