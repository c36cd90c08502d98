/* SPDX-License-Identifier: MIT */
/* Lists the variables of a code object: its dynamic symbols that are data. */
#include "variables.h"

#include <gelf.h>
#include <stdlib.h>

static bool add(struct shim_variables *list, const char *name)
{
    char **more = realloc(list->names, (list->count + 1) * sizeof *more);
    if (!more)
        return false;
    list->names = more;
    more[list->count] = strdup(name);
    return more[list->count] && ++list->count;
}

static bool add_table(struct shim_variables *list, Elf *elf, Elf_Scn *section)
{
    GElf_Shdr header;
    GElf_Sym symbol;
    Elf_Data *data = elf_getdata(section, NULL);
    if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNSYM || !data)
        return true;
    for (int i = 0; gelf_getsym(data, i, &symbol); i++) {
        const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
        const size_t length = name ? strlen(name) : 0;
        const bool kernel = length > 3 && !strcmp(name + length - 3, ".kd"); /* kernel descriptor */
        if (GELF_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_shndx != SHN_UNDEF && length && !kernel &&
            !add(list, name))
            return false;
    }
    return true;
}

bool shim_variables_find(const void *bytes, size_t size, struct shim_variables *list)
{
    bool ok = true;
    *list = (struct shim_variables){0};
    elf_version(EV_CURRENT);
    Elf *elf = elf_memory((char *)(uintptr_t)bytes, size); /* libelf does not write to it */
    for (Elf_Scn *section = NULL; ok && elf && (section = elf_nextscn(elf, section));)
        ok = add_table(list, elf, section);
    elf_end(elf);
    if (!ok)
        shim_variables_free(list);
    return ok;
}

void shim_variables_free(struct shim_variables *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->names[i]);
    free(list->names);
    *list = (struct shim_variables){0};
}
