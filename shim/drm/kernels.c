/* SPDX-License-Identifier: MIT */
/* Names of OpenCL kernels. clover uploads code without symbols, but it and radeonsi read the ELF files of
 * LLVM by libelf: the kernels of each file that passes through elf_memory() are noted here, and code in the
 * GPU's memory is recognised by its words, all but those that
 * relocations change.
 * Sources: Mesa 22.3, ac_rtld.c (the upload), clover/llvm/codegen/native.cpp; LLVM AMDGPUUsage, "ELF Code
 * Object". */
#include "shim/drm/drm.h"

#include <dlfcn.h>
#include <gelf.h>
#include <stdlib.h>

enum {
    KERNEL_SYMBOL = STT_LOOS, /* STT_AMDGPU_HSA_KERNEL, the kernels of code object V2 */
    HEADER = 256,             /* amd_kernel_code_t, at the symbol; the code follows it */
};
static const size_t MOST_BYTES = 64 << 20; /* of all programs */

struct kernel {
    uint64_t offset; /* in the code */
    char name[SHIM_OBJECT_NAME];
};

/* The code of an ELF file. */
struct program {
    struct program *next; /* used longer ago */
    size_t count, words;
    struct kernel *kernels;
    uint32_t *code;
    uint32_t *fixed; /* per word: all ones, or 0 if a relocation changes it */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct program *programs;
static size_t bytes; /* that they occupy */

static size_t bytes_of(const struct program *p)
{
    return sizeof *p + 8 * p->words + p->count * sizeof *p->kernels;
}

static void release(struct program *p)
{
    free(p->kernels);
    free(p->code);
    free(p->fixed);
    free(p);
}

/* ---- ELF files ---- */

/* The next section after `at`, or the first, of this type; NULL: none. */
static Elf_Scn *next_section(Elf *elf, Elf_Scn *at, GElf_Word type, GElf_Shdr *header)
{
    while ((at = elf_nextscn(elf, at)))
        if (gelf_getshdr(at, header) && header->sh_type == type)
            return at;
    return NULL;
}

/* Notes the kernels of the symbol table, and sets *section to the one that contains the first of them. */
static bool find_kernels(Elf *elf, struct program *p, size_t *section)
{
    GElf_Shdr header;
    Elf_Scn *table = next_section(elf, NULL, SHT_SYMTAB, &header);
    Elf_Data *data = table ? elf_getdata(table, NULL) : NULL;
    const size_t count = data ? data->d_size / sizeof(Elf64_Sym) : 0;
    p->kernels = calloc(count ? count : 1, sizeof *p->kernels);
    for (size_t i = 0; i < count && p->kernels; i++) {
        GElf_Sym symbol;
        const char *name = gelf_getsym(data, (int)i, &symbol) && GELF_ST_TYPE(symbol.st_info) == KERNEL_SYMBOL
                               ? elf_strptr(elf, header.sh_link, symbol.st_name)
                               : NULL;
        if (!name || symbol.st_value % HEADER || (p->count && symbol.st_shndx != *section))
            continue;
        *section = symbol.st_shndx;
        p->kernels[p->count].offset = symbol.st_value;
        drm_copy_name(p->kernels[p->count++].name, name);
    }
    return p->count;
}

static bool copy_code(Elf *elf, struct program *p, size_t section)
{
    Elf_Scn *text = elf_getscn(elf, section);
    const Elf_Data *data = text ? elf_getdata(text, NULL) : NULL;
    if (!data || !data->d_buf || data->d_size < HEADER || data->d_size > MOST_BYTES / 4)
        return false;
    p->words = data->d_size / 4;
    p->code = malloc(4 * p->words);
    p->fixed = malloc(4 * p->words);
    if (!p->code || !p->fixed)
        return false;
    memcpy(p->code, data->d_buf, 4 * p->words);
    memset(p->fixed, 0xff, 4 * p->words);
    return true;
}

/* Relocations of code change one word each. */
static void note_relocations(Elf *elf, struct program *p, size_t section)
{
    static const GElf_Word types[] = {SHT_REL, SHT_RELA};
    for (size_t i = 0; i < 2; i++) {
        GElf_Shdr header;
        for (Elf_Scn *at = NULL; (at = next_section(elf, at, types[i], &header));) {
            Elf_Data *data = header.sh_info == section ? elf_getdata(at, NULL) : NULL;
            for (int k = 0; data; k++) {
                GElf_Rel rel;
                GElf_Rela rela;
                if (types[i] == SHT_REL ? !gelf_getrel(data, k, &rel) : !gelf_getrela(data, k, &rela))
                    break;
                const uint64_t offset = types[i] == SHT_REL ? rel.r_offset : rela.r_offset;
                if (offset / 4 < p->words)
                    p->fixed[offset / 4] = 0;
            }
        }
    }
}

/* NULL: the file has no kernels. */
static struct program *read_program(Elf *elf)
{
    GElf_Ehdr header;
    size_t section = 0;
    if (!gelf_getehdr(elf, &header) || header.e_machine != EM_AMDGPU || gelf_getclass(elf) != ELFCLASS64)
        return NULL;
    struct program *p = calloc(1, sizeof *p);
    if (p && find_kernels(elf, p, &section) && copy_code(elf, p, section)) {
        note_relocations(elf, p, section);
        return p;
    }
    if (p)
        release(p);
    return NULL;
}

/* ---- what is known ---- */

/* With the lock held. */
static void move_to_front(struct program **at)
{
    struct program *p = *at;
    *at = p->next;
    p->next = programs;
    programs = p;
}

static void drop_oldest(void)
{
    struct program **at = &programs;
    while ((*at)->next)
        at = &(*at)->next;
    bytes -= bytes_of(*at);
    release(*at);
    *at = NULL;
}

/* The same file is read for each of its kernels, and more than once. */
static bool is_same(const struct program *a, const struct program *b)
{
    return a->words == b->words && a->count == b->count &&
           !memcmp(a->kernels, b->kernels, a->count * sizeof *a->kernels) &&
           !memcmp(a->code, b->code, 4 * a->words);
}

static void learn(Elf *elf)
{
    struct program *p = read_program(elf);
    if (!p)
        return;
    pthread_mutex_lock(&lock);
    struct program **at = &programs;
    while (*at && !is_same(*at, p))
        at = &(*at)->next;
    if (*at) {
        release(p);
    } else {
        p->next = NULL;
        *at = p;
        bytes += bytes_of(p);
    }
    move_to_front(at);
    while (bytes > MOST_BYTES && programs->next)
        drop_oldest();
    pthread_mutex_unlock(&lock);
}

SHIM_API Elf *elf_memory(char *image, size_t size)
{
    static Elf *(*next)(char *, size_t);
    next = next ? next : (Elf * (*)(char *, size_t)) dlsym(RTLD_NEXT, "elf_memory");
    Elf *elf = next(image, size);
    if (elf && elf_kind(elf) == ELF_K_ELF)
        learn(elf);
    return elf;
}

/* ---- code in the GPU's memory ---- */

/* The kernel whose header lies there. The whole program is compared, since kernels of a program may have the
 * same code. */
static const struct kernel *match(const struct program *p, struct wm_machine *machine, uint64_t address)
{
    for (size_t i = 0; i < p->count; i++) {
        const uint64_t offset = p->kernels[i].offset;
        const uint32_t *code = offset < 4 * p->words && offset <= address
                                   ? wm_host_pointer(machine, address - offset, 4 * p->words)
                                   : NULL;
        size_t at = 0;
        while (code && at < p->words && !((code[at] ^ p->code[at]) & p->fixed[at]))
            at++;
        if (at == p->words)
            return &p->kernels[i];
    }
    return NULL;
}

bool drm_kernel_name(const struct drm_device *device, uint64_t code, char name[SHIM_OBJECT_NAME])
{
    const struct kernel *found = NULL;
    pthread_mutex_lock(&lock);
    for (struct program **at = &programs; *at && code >= HEADER; at = &(*at)->next)
        if ((found = match(*at, device->gpu.machine, code - HEADER))) {
            memcpy(name, found->name, SHIM_OBJECT_NAME);
            move_to_front(at);
            break;
        }
    pthread_mutex_unlock(&lock);
    return found;
}
