/* SPDX-License-Identifier: MIT */
/* Parses the ELF of a code object: every offset and size is checked here, and not again later.
 *
 * Source: the System V gABI; LLVM 19 AMDGPUUsage, "ELF Code Object". */
#include "object/parts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    OSABI_HSA = 64,
    NOTE_METADATA = 32, /* NT_AMDGPU_METADATA */
    MAX_ALIGNMENT = 0x10000,
};
#define MAX_SPAN (UINT64_C(1) << 36) /* most bytes of address space of a loaded object */

static_assert(sizeof(Elf64_Ehdr) == 64 && sizeof(Elf64_Phdr) == 56 && sizeof(Elf64_Shdr) == 64, "ELF64");

static bool inside(uint64_t offset, uint64_t size, uint64_t total)
{
    return offset <= total && size <= total - offset;
}

typedef unsigned long long ull;

/* ---- header ---- */

static enum wm_status check_identity(const struct wm_object *object, const Elf64_Ehdr *header,
                                     struct wm_diag *diag)
{
    static const char *const systems[] = {[OSABI_HSA + 1] = "PAL", [OSABI_HSA + 2] = "Mesa"};
    const char *name = object->name;
    const unsigned char *ident = header->e_ident;
    if (ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB)
        return wmi_fail(diag, WM_BAD_FILE,
                        "%s: ELF class %u, data encoding %u; a code object has 2 (64 bits), 1 "
                        "(little-endian)",
                        name, ident[EI_CLASS], ident[EI_DATA]);
    if (header->e_machine != EM_AMDGPU)
        return wmi_fail(diag, WM_BAD_FILE, "%s: ELF for machine %u; a code object has 224 (AMDGPU)", name,
                        header->e_machine);
    if (ident[EI_OSABI] != OSABI_HSA) {
        const unsigned system = ident[EI_OSABI];
        return wmi_fail(diag, WM_UNSUPPORTED,
                        "%s: OS ABI %u%s%s; only 64 (HSA: HIP, OpenCL, Triton) is supported", name, system,
                        system > OSABI_HSA && system <= OSABI_HSA + 2 ? ", " : "",
                        system > OSABI_HSA && system <= OSABI_HSA + 2 ? systems[system] : "");
    }
    if (ident[EI_ABIVERSION] == 0)
        return wmi_fail(diag, WM_UNSUPPORTED,
                        "%s: code object version 2; versions 3 to 6 are supported (compile "
                        "with -mcode-object-version=5)",
                        name);
    if (ident[EI_ABIVERSION] > 4)
        return wmi_fail(diag, WM_UNSUPPORTED,
                        "%s: ABI version %u; 1 to 4 (code object versions 3 to 6) are "
                        "supported",
                        name, ident[EI_ABIVERSION]);
    if (header->e_type == ET_REL)
        return wmi_fail(diag, WM_UNSUPPORTED, "%s: not linked; make a code object of it with ld.lld -shared",
                        name);
    if (header->e_type != ET_DYN)
        return wmi_fail(diag, WM_BAD_FILE, "%s: ELF type %u; a code object has 3 (shared object)", name,
                        header->e_type);
    return WM_OK;
}

/* Rejects input that is neither ELF, a bundle nor raw instructions. */
static enum wm_status refuse_foreign(const struct wm_object *object, struct wm_diag *diag)
{
    if (object->size < sizeof(Elf64_Ehdr))
        return wmi_fail(diag, WM_BAD_FILE, "%s: %zu bytes; an ELF code object begins with a header of 64",
                        object->name, object->size);
    return wmi_fail(diag, WM_BAD_FILE,
                    "%s: begins with the bytes %02x %02x %02x %02x; an ELF code object begins with "
                    "7f 45 4c 46, an offload bundle with __CLANG_OFFLOAD_BUNDLE__ or CCOB",
                    object->name, object->bytes[0], object->bytes[1], object->bytes[2], object->bytes[3]);
}

/* The target with its features, from the header. Source: AMDGPUUsage, "EF_AMDGPU_FEATURE_*". */
static const char *target_id(struct wm_object *object)
{
    static const char *const settings[] = {"", "", "-", "+"}; /* unsupported, any, off, on */
    char text[64];
    size_t length = strlen(strcpy(text, wmi_target_name(object->target)));
    const uint32_t flags = object->flags;
    const bool v3 = object->version == 3;
    const unsigned xnack = v3 ? (flags & 0x100 ? 3 : 0) : flags >> 8 & 3;
    const unsigned sramecc = v3 ? (flags & 0x200 ? 3 : 0) : flags >> 10 & 3;
    if (*settings[sramecc])
        length += strlen(strcat(strcpy(text + length, ":sramecc"), settings[sramecc]));
    if (*settings[xnack])
        length += strlen(strcat(strcpy(text + length, ":xnack"), settings[xnack]));
    return wmi_arena_text(&object->arena, text, length);
}

/* ---- segments ---- */

static enum wm_status check_segment(const struct wm_object *object, const Elf64_Phdr *p, unsigned index,
                                    const struct wmi_segment *previous, struct wm_diag *diag)
{
    const char *name = object->name;
    if (!inside(p->p_offset, p->p_filesz, object->size))
        return wmi_fail(diag, WM_BAD_FILE, "%s: program header %u: bytes 0x%llx + 0x%llx; the file has 0x%zx",
                        name, index, (ull)p->p_offset, (ull)p->p_filesz, object->size);
    if (p->p_type != PT_LOAD)
        return WM_OK;
    if (p->p_filesz > p->p_memsz)
        return wmi_fail(diag, WM_BAD_FILE,
                        "%s: program header %u: 0x%llx bytes in the file, more than the 0x%llx in "
                        "memory",
                        name, index, (ull)p->p_filesz, (ull)p->p_memsz);
    if (p->p_memsz > MAX_SPAN || p->p_vaddr > UINT64_MAX - MAX_SPAN)
        return wmi_fail(diag, WM_BAD_FILE,
                        "%s: program header %u: 0x%llx bytes at 0x%llx; at most 0x%llx are "
                        "possible",
                        name, index, (ull)p->p_memsz, (ull)p->p_vaddr, (ull)MAX_SPAN);
    if ((p->p_align & (p->p_align - 1)) || p->p_align > MAX_ALIGNMENT)
        return wmi_fail(diag, WM_BAD_FILE,
                        "%s: program header %u: alignment 0x%llx; a power of two up to 0x%x is "
                        "possible",
                        name, index, (ull)p->p_align, MAX_ALIGNMENT);
    if (previous && p->p_vaddr < previous->address + previous->size)
        return wmi_fail(diag, WM_BAD_FILE,
                        "%s: program header %u: begins at 0x%llx, inside the segment before it, "
                        "which ends at 0x%llx",
                        name, index, (ull)p->p_vaddr, (ull)(previous->address + previous->size));
    return WM_OK;
}

static enum wm_status read_segments(struct wm_object *object, const Elf64_Ehdr *header, Elf64_Phdr *dynamic,
                                    struct wm_diag *diag)
{
    const uint64_t table = (uint64_t)header->e_phnum * sizeof(Elf64_Phdr);
    if (header->e_phnum && header->e_phentsize != sizeof(Elf64_Phdr))
        return wmi_fail(diag, WM_BAD_FILE, "%s: program headers of %u bytes; ELF64 has 56", object->name,
                        header->e_phentsize);
    if (!inside(header->e_phoff, table, object->size))
        return wmi_fail(diag, WM_BAD_FILE, "%s: %u program headers at 0x%llx; the file has 0x%zx bytes",
                        object->name, header->e_phnum, (ull)header->e_phoff, object->size);
    object->segments = wmi_arena_array(&object->arena, header->e_phnum, sizeof(*object->segments));
    if (!object->segments)
        return wmi_no_memory(object, diag);
    for (unsigned i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr p;
        memcpy(&p, object->bytes + header->e_phoff + i * sizeof(p), sizeof(p));
        const struct wmi_segment *previous =
            object->segment_count ? &object->segments[object->segment_count - 1] : NULL;
        const enum wm_status status = check_segment(object, &p, i, previous, diag);
        if (status)
            return status;
        if (p.p_type == PT_DYNAMIC)
            *dynamic = p;
        if (p.p_type != PT_LOAD || !p.p_memsz)
            continue;
        object->segments[object->segment_count++] = (struct wmi_segment){
            .address = p.p_vaddr,
            .size = p.p_memsz,
            .bytes = object->bytes + p.p_offset,
            .file_size = p.p_filesz,
            .alignment = p.p_align ? p.p_align : 1,
            .readable = p.p_flags & PF_R,
            .writable = p.p_flags & PF_W,
            .executable = p.p_flags & PF_X,
        };
    }
    if (!object->segment_count)
        return wmi_fail(diag, WM_BAD_FILE,
                        "%s: none of its %u program headers is loaded; expected the code at least",
                        object->name, header->e_phnum);
    const struct wmi_segment *last = &object->segments[object->segment_count - 1];
    if (last->address + last->size - object->segments[0].address > MAX_SPAN)
        return wmi_fail(
            diag, WM_BAD_FILE, "%s: its segments span 0x%llx to 0x%llx; at most 0x%llx bytes are possible",
            object->name, (ull)object->segments[0].address, (ull)(last->address + last->size), (ull)MAX_SPAN);
    return WM_OK;
}

const uint8_t *wmi_object_bytes(const struct wm_object *object, uint64_t address, uint64_t size)
{
    for (size_t i = 0; i < object->segment_count; i++) {
        const struct wmi_segment *s = &object->segments[i];
        if (address >= s->address && inside(address - s->address, size, s->file_size))
            return s->bytes + (address - s->address);
    }
    return NULL;
}

/* File bytes from `address` to the end of its segment. */
static uint64_t bytes_behind(const struct wm_object *object, uint64_t address)
{
    for (size_t i = 0; i < object->segment_count; i++) {
        const struct wmi_segment *s = &object->segments[i];
        if (address >= s->address && address - s->address < s->file_size)
            return s->file_size - (address - s->address);
    }
    return 0;
}

/* ---- the dynamic table ---- */

static enum wm_status place_relocations(struct wm_object *object, uint64_t address, uint64_t size,
                                        struct wm_diag *diag)
{
    if (!size)
        return WM_OK;
    object->relocations = wmi_object_bytes(object, address, size);
    if (!object->relocations || size % sizeof(Elf64_Rela))
        return wmi_fail(diag, WM_BAD_FILE,
                        "%s: relocations of 0x%llx bytes at 0x%llx; expected a multiple of 24 "
                        "bytes inside a segment",
                        object->name, (ull)size, (ull)address);
    object->relocation_count = size / sizeof(Elf64_Rela);
    return WM_OK;
}

static enum wm_status read_dynamic(struct wm_object *object, const Elf64_Phdr *dynamic, struct wm_diag *diag)
{
    uint64_t value[DT_NUM] = {0};
    for (uint64_t i = 0; i < dynamic->p_filesz / sizeof(Elf64_Dyn); i++) {
        Elf64_Dyn entry;
        memcpy(&entry, object->bytes + dynamic->p_offset + i * sizeof(entry), sizeof(entry));
        if (entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag > 0 && entry.d_tag < DT_NUM)
            value[entry.d_tag] = entry.d_un.d_val;
    }
    if (value[DT_REL] || value[DT_JMPREL])
        return wmi_fail(diag, WM_UNSUPPORTED,
                        "%s: its dynamic table has DT_REL or DT_JMPREL; only DT_RELA is "
                        "supported",
                        object->name);
    if (value[DT_SYMTAB]) {
        object->dynamic_strings = wmi_object_bytes(object, value[DT_STRTAB], value[DT_STRSZ]);
        object->dynamic_strings_size = value[DT_STRSZ];
        if (!object->dynamic_strings)
            return wmi_fail(diag, WM_BAD_FILE,
                            "%s: dynamic strings of 0x%llx bytes at 0x%llx; expected inside a "
                            "segment",
                            object->name, (ull)value[DT_STRSZ], (ull)value[DT_STRTAB]);
        /* The size of the table is not recorded: it may extend to the end of its segment. */
        object->dynamic_symbols = wmi_object_bytes(object, value[DT_SYMTAB], sizeof(Elf64_Sym));
        object->dynamic_symbol_count = bytes_behind(object, value[DT_SYMTAB]) / sizeof(Elf64_Sym);
        if (!object->dynamic_symbols)
            return wmi_fail(diag, WM_BAD_FILE, "%s: dynamic symbols at 0x%llx; expected inside a segment",
                            object->name, (ull)value[DT_SYMTAB]);
    }
    return place_relocations(object, value[DT_RELA], value[DT_RELASZ], diag);
}

/* ---- sections ---- */

struct sections {
    Elf64_Shdr *headers;
    size_t count;
    const char *names;
    uint64_t names_size;
};

static const char *section_name(const struct sections *sections, const Elf64_Shdr *section)
{
    const char *name = section->sh_name < sections->names_size ? sections->names + section->sh_name : NULL;
    return name && memchr(name, 0, sections->names_size - section->sh_name) ? name : "?";
}

static enum wm_status read_sections(struct wm_object *object, const Elf64_Ehdr *header,
                                    struct sections *sections, struct wm_diag *diag)
{
    if (!header->e_shoff)
        return WM_OK;
    uint64_t count = header->e_shnum;
    Elf64_Shdr first = {0};
    if (inside(header->e_shoff, sizeof(first), object->size))
        memcpy(&first, object->bytes + header->e_shoff, sizeof(first));
    if (!count)
        count = first.sh_size; /* 0xff00 sections or more */
    if (header->e_shentsize != sizeof(Elf64_Shdr))
        return wmi_fail(diag, WM_BAD_FILE, "%s: section headers of %u bytes; ELF64 has 64", object->name,
                        header->e_shentsize);
    if (count > object->size / sizeof(Elf64_Shdr) ||
        !inside(header->e_shoff, count * sizeof(Elf64_Shdr), object->size))
        return wmi_fail(diag, WM_BAD_FILE, "%s: %llu section headers at 0x%llx; the file has 0x%zx bytes",
                        object->name, (ull)count, (ull)header->e_shoff, object->size);
    sections->headers = wmi_arena_array(&object->arena, count, sizeof(Elf64_Shdr));
    if (!sections->headers)
        return wmi_no_memory(object, diag);
    sections->count = count;
    memcpy(sections->headers, object->bytes + header->e_shoff, count * sizeof(Elf64_Shdr));
    const uint32_t names = header->e_shstrndx == SHN_XINDEX ? first.sh_link : header->e_shstrndx;
    if (names < count &&
        inside(sections->headers[names].sh_offset, sections->headers[names].sh_size, object->size)) {
        sections->names = (const char *)object->bytes + sections->headers[names].sh_offset;
        sections->names_size = sections->headers[names].sh_size;
    }
    for (uint64_t i = 0; i < count; i++) {
        const Elf64_Shdr *s = &sections->headers[i];
        if (s->sh_type == SHT_NULL || s->sh_type == SHT_NOBITS)
            continue;
        if (!inside(s->sh_offset, s->sh_size, object->size))
            return wmi_fail(diag, WM_BAD_FILE,
                            "%s: section %llu (%s): bytes 0x%llx + 0x%llx; the file has 0x%zx", object->name,
                            (ull)i, section_name(sections, s), (ull)s->sh_offset, (ull)s->sh_size,
                            object->size);
        if (s->sh_addr > UINT64_MAX - s->sh_size)
            return wmi_fail(diag, WM_BAD_FILE,
                            "%s: section %llu (%s): 0x%llx bytes at 0x%llx pass the end of the "
                            "address space",
                            object->name, (ull)i, section_name(sections, s), (ull)s->sh_size,
                            (ull)s->sh_addr);
    }
    return WM_OK;
}

static int by_address(const void *a, const void *b)
{
    const uint64_t x = ((const struct wm_code *)a)->address, y = ((const struct wm_code *)b)->address;
    return x < y ? -1 : x > y;
}

/* The executable sections, or, without a section table, the executable segments. */
static enum wm_status list_code(struct wm_object *object, const struct sections *sections,
                                struct wm_diag *diag)
{
    const size_t most = sections->count ? sections->count : object->segment_count;
    object->code = wmi_arena_array(&object->arena, most, sizeof(*object->code));
    if (!object->code)
        return wmi_no_memory(object, diag);
    for (size_t i = 0; i < sections->count; i++) {
        const Elf64_Shdr *s = &sections->headers[i];
        if (s->sh_type == SHT_PROGBITS && (s->sh_flags & SHF_EXECINSTR) && s->sh_size)
            object->code[object->code_count++] = (struct wm_code){s->sh_addr, object->bytes + s->sh_offset,
                                                                  s->sh_size, section_name(sections, s)};
    }
    for (size_t i = 0; !sections->count && i < object->segment_count; i++) {
        const struct wmi_segment *s = &object->segments[i];
        if (s->executable && s->file_size)
            object->code[object->code_count++] = (struct wm_code){s->address, s->bytes, s->file_size};
    }
    qsort(object->code, object->code_count, sizeof(*object->code), by_address);
    return WM_OK;
}

/* ---- symbols ---- */

static enum wmi_symbol_kind symbol_kind(const Elf64_Sym *symbol, const char *name)
{
    const unsigned type = ELF64_ST_TYPE(symbol->st_info);
    const size_t length = strlen(name);
    if (type == STT_FUNC)
        return WMI_SYMBOL_FUNCTION;
    if (type != STT_OBJECT)
        return WMI_SYMBOL_LABEL;
    return length > 3 && strcmp(name + length - 3, ".kd") == 0 ? WMI_SYMBOL_DESCRIPTOR : WMI_SYMBOL_DATA;
}

static enum wm_status read_symbols(struct wm_object *object, const uint8_t *table, size_t count,
                                   const char *strings, uint64_t strings_size, struct wm_diag *diag)
{
    object->symbols = wmi_arena_array(&object->arena, count, sizeof(*object->symbols));
    if (!object->symbols)
        return wmi_no_memory(object, diag);
    for (size_t i = 0; i < count; i++) {
        Elf64_Sym symbol;
        memcpy(&symbol, table + i * sizeof(symbol), sizeof(symbol));
        const unsigned type = ELF64_ST_TYPE(symbol.st_info);
        if (symbol.st_shndx == SHN_UNDEF || type == STT_SECTION || type == STT_FILE || !symbol.st_name)
            continue;
        if (symbol.st_name >= strings_size ||
            !memchr(strings + symbol.st_name, 0, strings_size - symbol.st_name))
            return wmi_fail(diag, WM_BAD_FILE, "%s: symbol %zu: name at 0x%x of 0x%llx bytes of strings",
                            object->name, i, symbol.st_name, (ull)strings_size);
        const char *name = strings + symbol.st_name;
        object->symbols[object->symbol_count++] =
            (struct wmi_symbol){.name = name,
                                .address = symbol.st_value,
                                .size = symbol.st_size,
                                .kind = symbol_kind(&symbol, name),
                                .local = ELF64_ST_BIND(symbol.st_info) == STB_LOCAL};
    }
    return WM_OK;
}

/* Uses .symtab, which includes local symbols, or else .dynsym. */
static enum wm_status find_symbols(struct wm_object *object, const struct sections *sections,
                                   struct wm_diag *diag)
{
    const Elf64_Shdr *chosen = NULL;
    for (size_t i = 0; i < sections->count; i++) {
        const Elf64_Shdr *s = &sections->headers[i];
        if (s->sh_type == SHT_SYMTAB || (s->sh_type == SHT_DYNSYM && !chosen))
            chosen = s;
    }
    if (!chosen)
        return wmi_fail(diag, WM_UNSUPPORTED,
                        "%s: no symbol table among its %zu sections; kernels are found by "
                        "their symbols",
                        object->name, sections->count);
    const Elf64_Shdr *strings =
        chosen->sh_link < sections->count ? &sections->headers[chosen->sh_link] : NULL;
    if (!strings || strings->sh_type != SHT_STRTAB || chosen->sh_entsize != sizeof(Elf64_Sym))
        return wmi_fail(diag, WM_BAD_FILE,
                        "%s: section %td (%s): entries of %llu bytes, strings in section %u; "
                        "expected 24 bytes and a string table",
                        object->name, chosen - sections->headers, section_name(sections, chosen),
                        (ull)chosen->sh_entsize, chosen->sh_link);
    return read_symbols(object, object->bytes + chosen->sh_offset, chosen->sh_size / sizeof(Elf64_Sym),
                        (const char *)object->bytes + strings->sh_offset, strings->sh_size, diag);
}

/* ---- notes ---- */

static uint64_t aligned(uint64_t value)
{
    return (value + 3) & ~UINT64_C(3);
}

static enum wm_status read_notes(struct wm_object *object, uint64_t offset, uint64_t size,
                                 struct wm_diag *diag)
{
    const uint8_t *bytes = object->bytes + offset;
    for (uint64_t at = 0; size - at >= sizeof(Elf64_Nhdr);) {
        Elf64_Nhdr note;
        memcpy(&note, bytes + at, sizeof(note));
        const uint64_t name = at + sizeof(note), contents = name + aligned(note.n_namesz);
        if (!inside(contents, note.n_descsz, size))
            return wmi_fail(diag, WM_BAD_FILE,
                            "%s: note at byte 0x%llx: %u bytes of name, %u of contents; 0x%llx are "
                            "left",
                            object->name, (ull)(offset + at), note.n_namesz, note.n_descsz,
                            (ull)(size - name));
        if (note.n_type == NOTE_METADATA && note.n_namesz == sizeof("AMDGPU") &&
            memcmp(bytes + name, "AMDGPU", sizeof("AMDGPU")) == 0 && !object->metadata) {
            object->metadata = bytes + contents;
            object->metadata_size = note.n_descsz;
        }
        at = contents + aligned(note.n_descsz);
        if (at > size)
            break;
    }
    return WM_OK;
}

static enum wm_status find_notes(struct wm_object *object, const Elf64_Ehdr *header,
                                 const struct sections *sections, struct wm_diag *diag)
{
    enum wm_status status = WM_OK;
    for (unsigned i = 0; i < header->e_phnum && !status; i++) {
        Elf64_Phdr p;
        memcpy(&p, object->bytes + header->e_phoff + i * sizeof(p), sizeof(p));
        if (p.p_type == PT_NOTE)
            status = read_notes(object, p.p_offset, p.p_filesz, diag);
    }
    for (size_t i = 0; i < sections->count && !status && !object->metadata; i++)
        if (sections->headers[i].sh_type == SHT_NOTE)
            status = read_notes(object, sections->headers[i].sh_offset, sections->headers[i].sh_size, diag);
    return status;
}

/* ---- entry point ---- */

enum wm_status wmi_elf_parse(struct wm_object *object, struct wm_diag *diag)
{
    Elf64_Ehdr header;
    Elf64_Phdr dynamic = {0};
    struct sections sections = {0};
    if (object->size < sizeof(header) || memcmp(object->bytes, ELFMAG, SELFMAG) != 0)
        return refuse_foreign(object, diag);
    memcpy(&header, object->bytes, sizeof(header));
    enum wm_status status = check_identity(object, &header, diag);
    if (status)
        return status;
    object->version = header.e_ident[EI_ABIVERSION] + 2u;
    object->flags = header.e_flags;
    object->target = wmi_target_of_mach(header.e_flags);
    if (!object->target)
        return wmi_fail(diag, WM_UNSUPPORTED,
                        "%s: processor 0x%x (EF_AMDGPU_MACH) is none that wavemem knows", object->name,
                        header.e_flags & 0xff);
    object->target_id = target_id(object);
    if (!object->target_id)
        return wmi_no_memory(object, diag);
    if (!status)
        status = read_segments(object, &header, &dynamic, diag);
    if (!status)
        status = read_dynamic(object, &dynamic, diag);
    if (!status)
        status = read_sections(object, &header, &sections, diag);
    if (!status)
        status = list_code(object, &sections, diag);
    if (!status)
        status = find_symbols(object, &sections, diag);
    if (!status)
        status = find_notes(object, &header, &sections, diag);
    return status;
}
