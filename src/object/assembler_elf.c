/* SPDX-License-Identifier: MIT */
/* Writes what was assembled as a code object: sections at their addresses, relocations done, symbols.
 *
 * Source: the System V gABI; LLVM 19 AMDGPUUsage, "ELF Code Object". */
#include "object/assembler.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 0x1000, OSABI_HSA = 64, SEGMENTS = 4 };

/* The features of a target that the ELF header names. Source: AMDGPUUsage, "AMDGPU Processors" (LLVM 19). */
static const struct {
    const char *target;
    bool xnack, sramecc;
} features[] = {
    {"gfx801", true, false},          {"gfx810", true, false},  {"gfx900", true, false},
    {"gfx902", true, false},          {"gfx904", true, false},  {"gfx906", true, true},
    {"gfx908", true, true},           {"gfx909", true, false},  {"gfx90a", true, true},
    {"gfx90c", true, false},          {"gfx940", true, true},   {"gfx941", true, true},
    {"gfx942", true, true},           {"gfx1010", true, false}, {"gfx1011", true, false},
    {"gfx1012", true, false},         {"gfx1013", true, false}, {"gfx9-generic", true, false},
    {"gfx10-1-generic", true, false},
};

static uint32_t feature(const struct wmi_assembler *a, const char *name, uint32_t any)
{
    const char *at = strstr(a->target_id, name);
    if (!at)
        return any;
    return at[strlen(name)] == '+' ? 3 * any : 2 * any;
}

static uint32_t header_flags(const struct wmi_assembler *a)
{
    enum { XNACK_ANY = 0x100, SRAMECC_ANY = 0x400, GENERIC_VERSION = 1 << 24 };
    const char *name = wmi_target_name(a->target);
    uint32_t flags = wmi_target_mach(a->target);
    for (size_t i = 0; i < sizeof features / sizeof *features; i++)
        if (!strcmp(features[i].target, name))
            flags |= (features[i].xnack ? feature(a, ":xnack", XNACK_ANY) : 0) |
                     (features[i].sramecc ? feature(a, ":sramecc", SRAMECC_ANY) : 0);
    return flags | (strstr(name, "generic") ? GENERIC_VERSION : 0);
}

/* Which segment a section is in: read only, code, writable; SEGMENTS: none. */
static unsigned segment_of(const struct wmi_asm_section *s)
{
    return !(s->flags & SHF_ALLOC) ? SEGMENTS : s->flags & SHF_EXECINSTR ? 1 : s->flags & SHF_WRITE ? 2 : 0;
}

static uint64_t align_to(uint64_t value, uint64_t alignment)
{
    return (value + alignment - 1) & ~(alignment - 1);
}

static bool is_section(const struct wmi_assembler *a, const void *base)
{
    for (const struct wmi_asm_section *s = a->sections; s; s = s->next)
        if (s == base)
            return true;
    return false;
}

static void relocate(struct wmi_assembler *a, struct wmi_asm_section *s, const struct wmi_asm_relocation *r)
{
    static const struct {
        uint8_t bytes, shift;
        bool relative;
    } types[] = {[1] = {4, 0, false}, [2] = {4, 32, false}, [3] = {8, 0, false},
                 [4] = {4, 0, true},  [5] = {8, 0, true},   [6] = {4, 0, false},
                 [10] = {4, 0, true}, [11] = {4, 32, true}, [14] = {2, 0, true}};
    struct wmi_asm_symbol *symbol =
        is_section(a, r->base) ? NULL : (struct wmi_asm_symbol *)(uintptr_t)r->base;
    const struct wmi_asm_section *to = symbol ? symbol->section : r->base;
    a->line = a->line_end = "";
    a->line_number = 0;
    if (r->type >= sizeof types / sizeof *types || !types[r->type].bytes) {
        wmi_asm_error(a, a->line, "a relocation of type %u against '%s' needs a linker", r->type,
                      symbol ? symbol->name : s->name);
        return;
    }
    if (symbol && !symbol->defined) {
        if (!symbol->reported)
            wmi_asm_error(a, a->line, "undefined symbol '%s'", symbol->name);
        symbol->reported = true;
        return;
    }
    if (!types[r->type].relative && s->flags & SHF_ALLOC && to && to->flags & SHF_ALLOC) {
        wmi_asm_error(a, a->line, "the address of '%s' is not known before the code object is loaded",
                      symbol ? symbol->name : to->name);
        return;
    }
    uint64_t value =
        (uint64_t)r->addend + (symbol ? (uint64_t)symbol->value.number : 0) + (to ? to->address : 0);
    if (types[r->type].relative)
        value -= s->address + r->offset;
    if (r->type == 14)
        value = (value - 4) / 4;
    value >>= types[r->type].shift;
    if (r->offset + types[r->type].bytes <= s->bytes.size)
        memcpy(s->bytes.data + r->offset, &value, types[r->type].bytes);
}

static uint32_t add_name(struct wmi_assembler *a, struct wmi_bytes *strings, const char *name)
{
    const uint32_t at = (uint32_t)strings->size;
    wmi_asm_append(a, strings, name, strlen(name) + 1);
    return at;
}

/* Local ones first, as ELF wants it; returns how many those are. */
static uint32_t write_symbols(struct wmi_assembler *a, struct wmi_bytes *symbols, struct wmi_bytes *strings)
{
    const Elf64_Sym none = {0};
    uint32_t locals = 1;
    wmi_asm_append(a, symbols, &none, sizeof none);
    wmi_asm_append(a, strings, "", 1);
    for (unsigned global = 0; global < 2; global++) {
        for (unsigned i = 0; i < WMI_ASM_BUCKETS; i++)
            for (const struct wmi_asm_symbol *s = a->symbols[i]; s; s = s->next) {
                if (!s->defined || (s->binding != STB_LOCAL) != global ||
                    (!strncmp(s->name, ".L", 2) || s->name[1] == '\1') || (s->variable && s->value.base))
                    continue;
                const Elf64_Sym symbol = {
                    .st_name = add_name(a, strings, s->name),
                    .st_info = ELF64_ST_INFO(s->binding, s->type),
                    .st_other = s->visibility,
                    .st_shndx = s->section ? (uint16_t)s->section->index : SHN_ABS,
                    .st_value = (uint64_t)s->value.number + (s->section ? s->section->address : 0),
                    .st_size = s->size,
                };
                wmi_asm_append(a, symbols, &symbol, sizeof symbol);
                locals += !global;
            }
    }
    return locals;
}

static void pad_to(struct wmi_assembler *a, struct wmi_bytes *out, uint64_t size)
{
    if (size > out->size)
        wmi_asm_append(a, out, NULL, size - out->size);
}

void wmi_asm_write_elf(struct wmi_assembler *a, struct wmi_bytes *out)
{
    Elf64_Phdr segments[SEGMENTS] = {{.p_type = PT_LOAD, .p_flags = PF_R, .p_align = PAGE},
                                     {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_align = PAGE},
                                     {.p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_align = PAGE},
                                     {.p_type = PT_NOTE, .p_flags = PF_R, .p_align = 4}};
    struct wmi_bytes symbols = {0}, strings = {0}, names = {0}, headers = {0};
    uint64_t at = sizeof(Elf64_Ehdr) + sizeof segments;
    uint32_t count = 1;
    /* Addresses are places in the file, so that offset and address agree within a page. */
    for (unsigned segment = 0; segment <= SEGMENTS; segment++) {
        if (segment == 3)
            continue;
        at = segment ? align_to(at, PAGE) : at;
        const uint64_t start = segment ? at : 0;
        for (struct wmi_asm_section *s = a->sections; s; s = s->next)
            if (segment_of(s) == segment) {
                at = align_to(at, s->alignment);
                s->address = at;
                s->index = count++;
                at += s->bytes.size;
                if (s->type == SHT_NOTE && segment == 0) {
                    segments[3].p_offset = segments[3].p_vaddr = segments[3].p_paddr = s->address;
                    segments[3].p_filesz = segments[3].p_memsz = s->bytes.size;
                }
            }
        if (segment < 3) {
            segments[segment].p_offset = segments[segment].p_vaddr = segments[segment].p_paddr = start;
            segments[segment].p_filesz = segments[segment].p_memsz = at - start;
        }
    }
    for (unsigned i = 0; i < SEGMENTS; i++)
        if (!segments[i].p_filesz)
            segments[i] = (Elf64_Phdr){.p_type = PT_NULL};
    for (struct wmi_asm_section *s = a->sections; s; s = s->next) {
        const uint64_t file = s->address;
        s->address = s->flags & SHF_ALLOC ? file : 0;
        s->entry_size = s->entry_size ? s->entry_size : 0;
    }
    for (struct wmi_asm_section *s = a->sections; s; s = s->next)
        for (const struct wmi_asm_relocation *r = s->relocations; r; r = r->next)
            relocate(a, s, r);
    const uint32_t locals = write_symbols(a, &symbols, &strings);
    Elf64_Ehdr header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT,
                                     OSABI_HSA, (uint8_t)(a->code_object_version - 2)},
                         .e_type = ET_DYN,
                         .e_machine = EM_AMDGPU,
                         .e_version = EV_CURRENT,
                         .e_phoff = sizeof header,
                         .e_flags = header_flags(a),
                         .e_ehsize = sizeof header,
                         .e_phentsize = sizeof(Elf64_Phdr),
                         .e_phnum = SEGMENTS,
                         .e_shentsize = sizeof(Elf64_Shdr),
                         .e_shnum = (uint16_t)(count + 3),
                         .e_shstrndx = (uint16_t)(count + 2)};
    Elf64_Shdr section = {0};
    wmi_asm_append(a, out, &header, sizeof header);
    wmi_asm_append(a, out, segments, sizeof segments);
    wmi_asm_append(a, &names, "", 1);
    wmi_asm_append(a, &headers, &section, sizeof section);
    for (uint32_t index = 1; index < count; index++)
        for (struct wmi_asm_section *s = a->sections; s; s = s->next)
            if (s->index == index) {
                pad_to(a, out, s->flags & SHF_ALLOC ? s->address : align_to(out->size, s->alignment));
                section = (Elf64_Shdr){.sh_name = add_name(a, &names, s->name),
                                       .sh_type = s->type == SHT_NOBITS ? SHT_PROGBITS : s->type,
                                       .sh_flags = s->flags,
                                       .sh_addr = s->address,
                                       .sh_offset = out->size,
                                       .sh_size = s->bytes.size,
                                       .sh_addralign = s->alignment,
                                       .sh_entsize = s->entry_size};
                wmi_asm_append(a, out, s->bytes.data, s->bytes.size);
                wmi_asm_append(a, &headers, &section, sizeof section);
            }
    pad_to(a, out, align_to(out->size, 8));
    section = (Elf64_Shdr){.sh_name = add_name(a, &names, ".symtab"),
                           .sh_type = SHT_SYMTAB,
                           .sh_offset = out->size,
                           .sh_size = symbols.size,
                           .sh_link = count + 1,
                           .sh_info = locals,
                           .sh_addralign = 8,
                           .sh_entsize = sizeof(Elf64_Sym)};
    wmi_asm_append(a, out, symbols.data, symbols.size);
    wmi_asm_append(a, &headers, &section, sizeof section);
    section = (Elf64_Shdr){.sh_name = add_name(a, &names, ".strtab"),
                           .sh_type = SHT_STRTAB,
                           .sh_offset = out->size,
                           .sh_size = strings.size,
                           .sh_addralign = 1};
    wmi_asm_append(a, out, strings.data, strings.size);
    wmi_asm_append(a, &headers, &section, sizeof section);
    section = (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = out->size, .sh_addralign = 1};
    section.sh_name = add_name(a, &names, ".shstrtab");
    section.sh_size = names.size;
    wmi_asm_append(a, out, names.data, names.size);
    wmi_asm_append(a, &headers, &section, sizeof section);
    pad_to(a, out, align_to(out->size, 8));
    header.e_shoff = out->size;
    memcpy(out->data, &header, sizeof header);
    wmi_asm_append(a, out, headers.data, headers.size);
    free(symbols.data);
    free(strings.data);
    free(names.data);
    free(headers.data);
}
