/* SPDX-License-Identifier: MIT */
/* Writes a linked code object: ELF header, segments, sections.
 *
 * Source: the System V gABI; LLVM 19 AMDGPUUsage, "ELF Code Object". */
#include "assembler/link.h"
#include "assembler/parts.h"

#include <elf.h>
#include <string.h>

enum { OSABI_HSA = 64 };

/* Target features in the ELF header. Source: AMDGPUUsage, "AMDGPU Processors" (LLVM 19 and 22). */
static const struct {
    const char *target;
    bool xnack, sramecc;
} features[] = {
    {"gfx801", true, false},       {"gfx810", true, false},          {"gfx900", true, false},
    {"gfx902", true, false},       {"gfx904", true, false},          {"gfx906", true, true},
    {"gfx908", true, true},        {"gfx909", true, false},          {"gfx90a", true, true},
    {"gfx90c", true, false},       {"gfx940", true, true},           {"gfx941", true, true},
    {"gfx942", true, true},        {"gfx950", true, true},           {"gfx1010", true, false},
    {"gfx1011", true, false},      {"gfx1012", true, false},         {"gfx1013", true, false},
    {"gfx9-generic", true, false}, {"gfx10-1-generic", true, false}, {"gfx9-4-generic", true, true},
    {"gfx1250", true, true},       {"gfx1251", true, true},
};

static uint32_t feature(const struct wmi_assembler *a, const char *name, uint32_t any)
{
    const char *at = strstr(a->target_id, name);
    if (!at)
        return any;
    return at[strlen(name)] == '+' ? 3 * any : 2 * any;
}

bool wmi_asm_may_replay(const struct wmi_assembler *a)
{
    const char *name = wmi_target_name(a->target);
    for (size_t i = 0; i < sizeof features / sizeof *features; i++)
        if (!strcmp(features[i].target, name))
            return features[i].xnack && feature(a, ":xnack", 1) != 2;
    return false;
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
    const bool versioned = a->code_object_version >= 6 && strstr(name, "generic");
    return flags | (versioned ? GENERIC_VERSION : 0);
}

/* ---- segments ---- */

static bool is_loaded(const struct wmi_asm_linker *link, enum wmi_asm_segment segment)
{
    for (unsigned i = 0; i < link->count; i++)
        for (const struct wmi_asm_section *s = link->outputs[i]->first; s; s = s->sibling)
            if (link->outputs[i]->segment == segment && s->bytes.size)
                return true;
    return false;
}

/* The `n`th run of notes with equal alignment: returns its first section and sets *size; NULL: none. */
static const struct wmi_asm_output *find_notes(const struct wmi_asm_linker *link, unsigned n, uint64_t *size)
{
    const struct wmi_asm_output *first = NULL;
    unsigned runs = 0;
    for (unsigned i = 0; i < link->count; i++) {
        const struct wmi_asm_output *o = link->outputs[i];
        if (o->type != SHT_NOTE || o->segment != WMI_SEGMENT_READ)
            continue;
        if (!first || first->alignment != o->alignment) {
            if (runs++ > n)
                break;
            first = o;
        }
        if (runs == n + 1)
            *size = o->address + o->size - first->address;
    }
    return runs > n ? first : NULL;
}

unsigned wmi_asm_program_headers(const struct wmi_asm_linker *link)
{
    unsigned count = 4; /* PHDR, DYNAMIC, GNU_RELRO, GNU_STACK */
    for (enum wmi_asm_segment segment = 0; segment < WMI_SEGMENT_NONE; segment++)
        count += is_loaded(link, segment);
    uint64_t size = 0;
    for (unsigned n = 0; find_notes(link, n, &size); n++)
        count++;
    return count;
}

/* Spans the first to the last section of a segment; the first segment includes the headers. */
static Elf64_Phdr load(const struct wmi_asm_linker *link, enum wmi_asm_segment segment)
{
    static const uint32_t flags[] = {
        [WMI_SEGMENT_READ] = PF_R,
        [WMI_SEGMENT_CODE] = PF_R | PF_X,
        [WMI_SEGMENT_WRITABLE_CODE] = PF_R | PF_W | PF_X,
        [WMI_SEGMENT_RELRO] = PF_R | PF_W,
        [WMI_SEGMENT_WRITE] = PF_R | PF_W,
    };
    Elf64_Phdr p = {.p_type = PT_LOAD, .p_flags = flags[segment], .p_align = WMI_LINK_PAGE};
    bool begun = segment == WMI_SEGMENT_READ;
    for (unsigned i = 0; i < link->count; i++) {
        const struct wmi_asm_output *o = link->outputs[i];
        if (o->segment != segment)
            continue;
        if (!begun) {
            p.p_offset = o->offset;
            p.p_vaddr = p.p_paddr = o->address;
            begun = true;
        }
        p.p_memsz = o->address + o->size - p.p_vaddr;
        if (o->type != SHT_NOBITS)
            p.p_filesz = p.p_memsz;
    }
    return p;
}

static Elf64_Phdr segment_of(const struct wmi_asm_output *o, uint32_t type, uint32_t flags,
                             uint64_t alignment)
{
    return (Elf64_Phdr){.p_type = type,
                        .p_flags = flags,
                        .p_offset = o->offset,
                        .p_vaddr = o->address,
                        .p_paddr = o->address,
                        .p_filesz = o->size,
                        .p_memsz = o->size,
                        .p_align = alignment};
}

static unsigned make_segments(const struct wmi_asm_linker *link, Elf64_Phdr *segments)
{
    const uint64_t size = wmi_asm_program_headers(link) * sizeof *segments;
    unsigned count = 0;
    segments[count++] = (Elf64_Phdr){.p_type = PT_PHDR,
                                     .p_flags = PF_R,
                                     .p_offset = sizeof(Elf64_Ehdr),
                                     .p_vaddr = sizeof(Elf64_Ehdr),
                                     .p_paddr = sizeof(Elf64_Ehdr),
                                     .p_filesz = size,
                                     .p_memsz = size,
                                     .p_align = 8};
    for (enum wmi_asm_segment segment = 0; segment < WMI_SEGMENT_NONE; segment++)
        if (is_loaded(link, segment))
            segments[count++] = load(link, segment);
    segments[count++] = segment_of(link->dynamic->output, PT_DYNAMIC, PF_R | PF_W, 8);
    segments[count] = load(link, WMI_SEGMENT_RELRO);
    segments[count].p_type = PT_GNU_RELRO;
    segments[count].p_flags = PF_R;
    segments[count++].p_align = 1;
    segments[count++] = (Elf64_Phdr){.p_type = PT_GNU_STACK, .p_flags = PF_R | PF_W};
    const struct wmi_asm_output *note;
    uint64_t bytes = 0;
    for (unsigned n = 0; (note = find_notes(link, n, &bytes)); n++) {
        segments[count] = segment_of(note, PT_NOTE, PF_R, note->alignment);
        segments[count].p_filesz = segments[count].p_memsz = bytes;
        count++;
    }
    return count;
}

/* ---- the file ---- */

static void pad_to(struct wmi_assembler *a, uint64_t size)
{
    if (size > a->out.size)
        wmi_asm_append(a, &a->out, NULL, size - a->out.size);
}

static void write_sections(const struct wmi_asm_linker *link)
{
    struct wmi_assembler *a = link->a;
    for (unsigned i = 0; i < link->count; i++) {
        const struct wmi_asm_output *o = link->outputs[i];
        const uint64_t base = o->segment == WMI_SEGMENT_NONE ? 0 : o->address;
        for (const struct wmi_asm_section *s = o->first; s && o->type != SHT_NOBITS; s = s->sibling) {
            pad_to(a, o->offset + (s->address - base));
            wmi_asm_append(a, &a->out, s->bytes.data, s->bytes.size);
        }
    }
}

static void write_headers(const struct wmi_asm_linker *link)
{
    struct wmi_assembler *a = link->a;
    Elf64_Shdr header = {0};
    wmi_asm_append(a, &a->out, &header, sizeof header);
    for (unsigned i = 0; i < link->count; i++) {
        const struct wmi_asm_output *o = link->outputs[i];
        header = (Elf64_Shdr){.sh_name = o->name_at,
                              .sh_type = o->type,
                              .sh_flags = o->flags,
                              .sh_addr = o->address,
                              .sh_offset = o->offset,
                              .sh_size = o->size,
                              .sh_link = o->link,
                              .sh_info = o->info,
                              .sh_addralign = o->alignment,
                              .sh_entsize = o->entry_size};
        wmi_asm_append(a, &a->out, &header, sizeof header);
    }
}

void wmi_asm_write_elf(struct wmi_asm_linker *link)
{
    struct wmi_assembler *a = link->a;
    Elf64_Phdr *segments = wmi_asm_allocate(a, wmi_asm_program_headers(link), sizeof *segments);
    const unsigned count = make_segments(link, segments);
    Elf64_Ehdr header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT,
                                     OSABI_HSA, (uint8_t)(a->code_object_version - 2)},
                         .e_type = ET_DYN,
                         .e_machine = EM_AMDGPU,
                         .e_version = EV_CURRENT,
                         .e_phoff = sizeof header,
                         .e_flags = header_flags(a),
                         .e_ehsize = sizeof header,
                         .e_phentsize = sizeof(Elf64_Phdr),
                         .e_phnum = (uint16_t)count,
                         .e_shentsize = sizeof(Elf64_Shdr),
                         .e_shnum = (uint16_t)(link->count + 1),
                         .e_shstrndx = (uint16_t)link->shstrtab->output->index};
    wmi_asm_append(a, &a->out, &header, sizeof header);
    wmi_asm_append(a, &a->out, segments, count * sizeof *segments);
    write_sections(link);
    pad_to(a, (a->out.size + 7) & ~UINT64_C(7));
    header.e_shoff = a->out.size;
    memcpy(a->out.data, &header, sizeof header);
    write_headers(link);
}

const struct wmi_asm_section *wmi_asm_symbol_section(const struct wmi_asm_symbol *s, uint64_t *value)
{
    *value = 0;
    for (unsigned i = 0; i < WMI_ASM_LONGEST_CHAIN && s->defined; i++) {
        *value += (uint64_t)s->value.number;
        if (!s->variable)
            return s->section;
        const struct wmi_asm_base *base = s->value.base;
        if (!base || base->is_section)
            return (const struct wmi_asm_section *)base;
        s = (const struct wmi_asm_symbol *)base;
    }
    return NULL;
}

uint64_t wmi_asm_symbol_address(const struct wmi_asm_symbol *s)
{
    uint64_t value;
    const struct wmi_asm_section *section = wmi_asm_symbol_section(s, &value);
    return value + (section ? section->address : 0);
}

uint32_t wmi_asm_symbol_index(const struct wmi_asm_symbol *s)
{
    uint64_t value;
    const struct wmi_asm_section *section = wmi_asm_symbol_section(s, &value);
    return !s->defined ? SHN_UNDEF : section && section->output ? section->output->index : SHN_ABS;
}
