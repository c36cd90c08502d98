/* SPDX-License-Identifier: MIT */
/* Call sites: where the program called the runtime. Recording one takes a walk up the stack; only reports
 * read the line tables. */
#include "shim.h"

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <execinfo.h>
#include <link.h>
#include <stdlib.h>
#include <unistd.h>

/* Whether the file's name begins with the library's. */
static bool is_library(const char *path, const char *library)
{
    const char *name = strrchr(path, '/');
    return !strncmp(name ? name + 1 : path, library, strlen(library));
}

/* Whether the path is that of a runtime library, whose frames do not help the program's author. */
static bool is_runtime(const char *path)
{
    static const char *const names[] = {"libhsa-runtime64.so", "libamdhip64.so", "libhiprtc.so",
                                        "libamdocl64.so"};
    for (size_t i = 0; i < SHIM_COUNT(names); i++)
        if (is_library(path, names[i]))
            return true;
    return false;
}

/* The file that the code was loaded from: "" for the program itself. */
static const char *module_of(const void *code)
{
#if __GLIBC_PREREQ(2, 35) /* much faster than dladdr(), which also looks for a symbol */
    struct dl_find_object found;
    return _dl_find_object((void *)code, &found) ? "" : found.dlfo_link_map->l_name;
#else
    Dl_info info;
    return dladdr(code, &info) ? info.dli_fname : "";
#endif
}

const char *shim_hip_library(const void *address)
{
    const char *path = address ? module_of(address) : "";
    return is_library(path, "libamdhip64.so") ? path : NULL;
}

void shim_note_site(struct shim_site *site)
{
    enum { DEEPEST = 32 };
    void *frames[DEEPEST];
    const int count = backtrace(frames, DEEPEST);
    int i = 0, kept = 0;
    while (i < count && is_runtime(module_of(frames[i])))
        i++;
    while (i < count && kept < SHIM_FRAMES)
        site->frames[kept++] = frames[i++];
}

/* ---- line tables ---- */

struct line {
    const char *file, *function;
    int line;
};

/* Whether the file is a header of HIP, which defines functions such as hipMalloc<T>(). */
static bool is_header(const char *file)
{
    return strstr(file, "/include/hip/") != NULL;
}

static int attribute(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute found;
    Dwarf_Word value;
    return dwarf_attr(die, name, &found) && !dwarf_formudata(&found, &value) ? (int)value : 0;
}

/* The innermost line at the address that is not of a header of HIP: the one of the instruction, or where the
 * function that is inlined there was called. */
static bool find_line(Dwarf_Die *unit, Dwarf_Addr address, struct line *line)
{
    Dwarf_Die *scopes = NULL;
    Dwarf_Files *files = NULL;
    size_t file_count = 0;
    Dwarf_Line *at = dwarf_getsrc_die(unit, address);
    if (!at || !(line->file = dwarf_linesrc(at, NULL, NULL)) || dwarf_lineno(at, &line->line))
        return false;
    dwarf_getsrcfiles(unit, &files, &file_count);
    const int count = dwarf_getscopes(unit, address, &scopes);
    for (int i = 0; i < count; i++) {
        const int tag = dwarf_tag(&scopes[i]);
        const int file = attribute(&scopes[i], DW_AT_call_file);
        if (tag == DW_TAG_inlined_subroutine && is_header(line->file) && files && (size_t)file < file_count) {
            line->file = dwarf_filesrc(files, (size_t)file, NULL, NULL);
            line->line = attribute(&scopes[i], DW_AT_call_line);
        }
        if (tag == DW_TAG_subprogram)
            line->function = dwarf_diename(&scopes[i]);
        if (!line->file)
            break;
    }
    free(scopes);
    return line->file != NULL;
}

/* Looks at each unit, because clang writes no table of their addresses. */
static Dwarf_Die *find_unit(Dwfl_Module *module, Dwarf_Addr address, Dwarf_Addr *bias)
{
    Dwarf_Die *unit = NULL;
    while ((unit = dwfl_module_nextcu(module, unit, bias)) && dwarf_haspc(unit, address - *bias) <= 0)
        ;
    return unit;
}

static bool describe_frame(Dwfl *dwfl, const void *frame, char *text, size_t size)
{
    const Dwarf_Addr address =
        (uintptr_t)frame - 1; /* address within the call, not of the instruction after it */
    Dwfl_Module *module = dwfl_addrmodule(dwfl, address);
    Dwarf_Addr bias = 0;
    struct line line = {0};
    char name[SHIM_NAME];
    Dwarf_Die *unit = module ? find_unit(module, address, &bias) : NULL;
    const char *symbol = module ? dwfl_module_addrname(module, address) : NULL;
    if (symbol)
        wm_source_name(symbol, name, sizeof name);
    if (unit && find_line(unit, address - bias, &line) && !is_header(line.file)) {
        const char *file = strrchr(line.file, '/');
        snprintf(text, size, "%s (%s:%d)",
                 symbol          ? name
                 : line.function ? line.function
                                 : "?",
                 file ? file + 1 : line.file, line.line);
        return true;
    }
    if (symbol && !*text) /* in case that no frame has a line */
        snprintf(text, size, "%s", name);
    return false;
}

static int find_no_debug_file(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
                              const char *file, const char *link, GElf_Word crc, char **found)
{
    (void)module, (void)user, (void)name, (void)base, (void)file, (void)link, (void)crc, (void)found;
    return -1; /* use only what the program's own files contain */
}

bool shim_site_text(const struct shim_site *site, char *text, size_t size)
{
    static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
                                             .find_debuginfo = find_no_debug_file};
    *text = 0;
    if (!site->frames[0])
        return false;
    Dwfl *dwfl = dwfl_begin(&callbacks);
    if (dwfl && !dwfl_linux_proc_report(dwfl, getpid()) && !dwfl_report_end(dwfl, NULL, NULL))
        for (unsigned i = 0; i < SHIM_FRAMES && site->frames[i]; i++)
            if (describe_frame(dwfl, site->frames[i], text, size))
                break;
    dwfl_end(dwfl);
    return *text;
}
