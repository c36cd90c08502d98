/* SPDX-License-Identifier: MIT */
/* Links the sections into a code object: joins them, assigns addresses, applies relocations; with the layout
 * of ld.lld -shared.
 *
 * Source: the System V gABI; LLVM 19 AMDGPUUsage, "Relocation Records"; lld/ELF/Writer.cpp for order and
 * layout. */
#include "assembler/link.h"
#include "assembler/parts.h"
#include "object/relocation_types.h"

#include <elf.h>
#include <string.h>

static const struct relocation_type {
    uint8_t bytes, shift;
    bool relative, got;
} types[] = {
    [ABS32_LO] = {4, 0, false, false},     [ABS32_HI] = {4, 32, false, false},
    [ABS64] = {8, 0, false, false},        [REL32] = {4, 0, true, false},
    [REL64] = {8, 0, true, false},         [ABS32] = {4, 0, false, false},
    [GOTPCREL] = {4, 0, true, true},       [GOTPCREL32_LO] = {4, 0, true, true},
    [GOTPCREL32_HI] = {4, 32, true, true}, [REL32_LO] = {4, 0, true, false},
    [REL32_HI] = {4, 32, true, false},     [REL16] = {2, 0, true, false},
};

/* ---- symbols ---- */

/* ---- sections ---- */

static bool begins_with(const char *name, const char *stem)
{
    const size_t length = strlen(stem);
    return !strncmp(name, stem, length) && (!name[length] || name[length] == '.');
}

/* Symbols from .comm precede the rest of .bss. */
static bool is_common(const char *name)
{
    return !strcmp(name, "COMMON");
}

/* The output section: .text for .text.foo. Source: lld/ELF/LinkerScript.cpp, getOutputSectionName. */
static const char *output_name(const char *name)
{
    static const char *const stems[] = {".data.rel.ro", ".data",       ".rodata",     ".bss.rel.ro",
                                        ".bss",         ".init_array", ".fini_array", ".text"};
    for (size_t i = 0; i < sizeof stems / sizeof *stems; i++)
        if (begins_with(name, stems[i]))
            return stems[i];
    return is_common(name) ? ".bss" : name;
}

static bool is_relro(const struct wmi_asm_output *o)
{
    static const char *const names[] = {".dynamic",    ".got",        ".relro_padding", ".data.rel.ro",
                                        ".bss.rel.ro", ".init_array", ".fini_array",    ".preinit_array"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(o->name, names[i]))
            return true;
    return false;
}

/* Source: lld/ELF/Writer.cpp, getSectionRank. */
static void set_rank(struct wmi_asm_output *o)
{
    const bool write = o->flags & SHF_WRITE, code = o->flags & SHF_EXECINSTR;
    o->segment = !(o->flags & SHF_ALLOC) ? WMI_SEGMENT_NONE
                 : code && write         ? WMI_SEGMENT_WRITABLE_CODE
                 : code                  ? WMI_SEGMENT_CODE
                 : !write                ? WMI_SEGMENT_READ
                 : is_relro(o)           ? WMI_SEGMENT_RELRO
                                         : WMI_SEGMENT_WRITE;
    if (o->segment == WMI_SEGMENT_READ)
        o->rank = o->type == SHT_NOTE ? 0 : o->type != SHT_PROGBITS ? 1 : 2;
    else if (o->segment != WMI_SEGMENT_NONE)
        o->rank = o->type == SHT_NOBITS ? strcmp(o->name, ".relro_padding") ? 1 : 2 : 0;
}

static bool is_dropped(const struct wmi_asm_section *s)
{
    return s->flags & SHF_EXCLUDE || !strcmp(s->name, ".note.GNU-stack") || !strcmp(s->name, ".llvm_addrsig");
}

static void add_section(struct wmi_asm_linker *link, struct wmi_asm_section *s)
{
    const char *name = output_name(s->name);
    struct wmi_asm_output *o = NULL;
    if (s->output)
        return;
    for (unsigned i = 0; i < link->count && !o; i++)
        if (!strcmp(link->outputs[i]->name, name))
            o = link->outputs[i];
    if (!o && link->count == WMI_LINK_OUTPUTS) {
        wmi_asm_error(link->a, link->a->place.line, "expected fewer than %u sections", WMI_LINK_OUTPUTS);
        return;
    }
    if (!o) {
        o = wmi_asm_allocate(link->a, 1, sizeof *o);
        *o = (struct wmi_asm_output){.name = name,
                                     .type = s->type,
                                     .flags = s->flags,
                                     .entry_size = s->entry_size,
                                     .alignment = 1,
                                     .last = &o->first};
        link->outputs[link->count++] = o;
    }
    if (o->entry_size != s->entry_size || ((o->flags ^ s->flags) & (SHF_MERGE | SHF_STRINGS)))
        o->entry_size = 0;
    o->flags |= s->flags;
    if (o->type == SHT_NOBITS)
        o->type = s->type;
    if (o->alignment < s->alignment)
        o->alignment = s->alignment;
    s->output = o;
    *o->last = s;
    o->last = &s->sibling;
}

static struct wmi_asm_section *new_section(struct wmi_asm_linker *link, const char *name, uint32_t type,
                                           uint64_t flags, uint64_t alignment, uint64_t entry_size)
{
    struct wmi_asm_section *s = wmi_asm_section(link->a, name, strlen(name), type, flags);
    s->type = type; /* overrides those of a section in the file */
    s->flags = flags;
    s->bytes.size = 0;
    s->relocations = NULL;
    s->alignment = alignment;
    s->entry_size = entry_size;
    return s;
}

static void add_tables(struct wmi_asm_linker *link)
{
    const uint64_t rw = SHF_ALLOC | SHF_WRITE;
    link->dynsym = new_section(link, ".dynsym", SHT_DYNSYM, SHF_ALLOC, 8, sizeof(Elf64_Sym));
    link->gnu_hash = new_section(link, ".gnu.hash", SHT_GNU_HASH, SHF_ALLOC, 8, 0);
    link->hash = new_section(link, ".hash", SHT_HASH, SHF_ALLOC, 4, 4);
    link->dynstr = new_section(link, ".dynstr", SHT_STRTAB, SHF_ALLOC, 1, 0);
    if (link->relocation_count)
        link->rela = new_section(link, ".rela.dyn", SHT_RELA, SHF_ALLOC, 8, sizeof(Elf64_Rela));
    link->padding = new_section(link, ".relro_padding", SHT_NOBITS, rw, 1, 0);
}

static void group_sections(struct wmi_asm_linker *link)
{
    link->outputs = wmi_asm_allocate(link->a, WMI_LINK_OUTPUTS, sizeof *link->outputs);
    for (unsigned others = 0; others < 2; others++)
        for (struct wmi_asm_section *s = link->a->sections; s; s = s->next)
            if (!is_dropped(s) && is_common(s->name) != others)
                add_section(link, s);
    link->symtab = new_section(link, ".symtab", SHT_SYMTAB, 0, 8, sizeof(Elf64_Sym));
    add_section(link, link->symtab);
    link->shstrtab = new_section(link, ".shstrtab", SHT_STRTAB, 0, 1, 0);
    add_section(link, link->shstrtab);
    link->strtab = new_section(link, ".strtab", SHT_STRTAB, 0, 1, 0);
    add_section(link, link->strtab);
    for (unsigned i = 0; i < link->count; i++) {
        struct wmi_asm_output *o = link->outputs[i];
        unsigned at = i;
        set_rank(o);
        for (;
             at && (link->outputs[at - 1]->segment > o->segment ||
                    (link->outputs[at - 1]->segment == o->segment && link->outputs[at - 1]->rank > o->rank));
             at--)
            link->outputs[at] = link->outputs[at - 1];
        link->outputs[at] = o;
    }
    for (unsigned i = 0; i < link->count; i++)
        link->outputs[i]->index = i + 1;
}

/* ---- addresses ---- */

static uint64_t align_to(uint64_t value, uint64_t alignment)
{
    return (value + alignment - 1) & ~(alignment - 1);
}

/* Places the input sections of one output section one after the other. */
static void place_sections(struct wmi_asm_output *o)
{
    const uint64_t address = o->segment == WMI_SEGMENT_NONE ? 0 : o->address;
    uint64_t at = 0;
    for (struct wmi_asm_section *s = o->first; s; s = s->sibling) {
        at = align_to(at, s->alignment);
        s->address = address + at;
        at += s->bytes.size;
    }
    o->size = at;
}

/* Each segment begins on a new page, at the same offset in the page as in the file. Returns the end of the
 * loaded sections in the file. */
static uint64_t place_loaded(struct wmi_asm_linker *link)
{
    uint64_t address = sizeof(Elf64_Ehdr) + wmi_asm_program_headers(link) * sizeof(Elf64_Phdr),
             offset = address;
    const struct wmi_asm_output *first = NULL; /* of the segment; NULL: the headers are first */
    for (unsigned i = 0; i < link->count && link->outputs[i]->segment != WMI_SEGMENT_NONE; i++) {
        struct wmi_asm_output *o = link->outputs[i];
        const bool begins = i && o->segment != link->outputs[i - 1]->segment;
        if (begins)
            address = align_to(address, WMI_LINK_PAGE) + address % WMI_LINK_PAGE;
        address = o->address = align_to(address, o->alignment);
        if (o->first == link->padding) {
            o->offset = offset;
            o->size = align_to(address, WMI_LINK_PAGE) - address;
            continue;
        }
        place_sections(o);
        first = begins ? o : first;
        o->offset = !first   ? o->address
                    : begins ? offset + (o->address - offset) % WMI_LINK_PAGE
                             : first->offset + (o->address - first->address);
        address += o->size;
        if (o->type == SHT_NOBITS)
            o->offset = offset;
        else
            offset = o->offset + o->size;
    }
    return offset;
}

static void place_others(struct wmi_asm_linker *link, uint64_t offset)
{
    for (unsigned i = 0; i < link->count; i++) {
        struct wmi_asm_output *o = link->outputs[i];
        if (o->segment != WMI_SEGMENT_NONE)
            continue;
        o->offset = align_to(offset, o->alignment);
        place_sections(o);
        offset = o->offset + o->size;
    }
}

/* ---- relocations ---- */

static const char *name_of(const struct wmi_asm_base *base)
{
    return base->is_section ? ((const struct wmi_asm_section *)base)->name
                            : ((const struct wmi_asm_symbol *)base)->name;
}

/* The target of a relocation: returns its section (NULL: a number) and sets *symbol (or NULL) and *value. */
static const struct wmi_asm_section *target_of(const struct wmi_asm_relocation *r,
                                               struct wmi_asm_symbol **symbol, uint64_t *value)
{
    *symbol = r->base->is_section ? NULL : (struct wmi_asm_symbol *)(uintptr_t)r->base;
    *value = (uint64_t)r->addend;
    if (!*symbol)
        return (const struct wmi_asm_section *)r->base;
    uint64_t offset;
    const struct wmi_asm_section *section = wmi_asm_symbol_section(*symbol, &offset);
    *value += offset;
    return section;
}

static bool is_exported(const struct wmi_asm_symbol *s)
{
    return s->binding != STB_LOCAL && (s->visibility == STV_DEFAULT || s->visibility == STV_PROTECTED);
}

static void add_dynamic(struct wmi_asm_linker *link, struct wmi_asm_dynamic dynamic)
{
    if (!(link->relocation_count & (link->relocation_count + 1))) { /* 0, 1, 3, 7, ...: full */
        struct wmi_asm_dynamic *more =
            wmi_asm_allocate(link->a, 2 * (size_t)link->relocation_count + 1, sizeof *more);
        if (link->relocation_count)
            memcpy(more, link->relocations, link->relocation_count * sizeof *more);
        link->relocations = more;
    }
    link->relocations[link->relocation_count++] = dynamic;
    link->relative_count += dynamic.relative;
}

/* Adds a dynamic relocation: by name for symbols that can be preempted, else relative to the load address. */
static void add_address(struct wmi_asm_linker *link, const struct wmi_asm_section *s, uint64_t offset,
                        struct wmi_asm_symbol *symbol, const struct wmi_asm_section *to, int64_t addend,
                        uint64_t value)
{
    const bool by_name = symbol && is_exported(symbol) && symbol->visibility == STV_DEFAULT;
    if (!by_name && !to)
        return; /* absolute or undefined */
    add_dynamic(link, (struct wmi_asm_dynamic){.section = s,
                                               .offset = offset,
                                               .symbol = by_name ? symbol : NULL,
                                               .to = by_name ? NULL : to,
                                               .addend = by_name ? addend : (int64_t)value,
                                               .relative = !by_name});
}

/* The defined symbol with the most similar name; NULL: none is similar. */
static const char *nearest_symbol(const struct wmi_assembler *a, const char *name)
{
    const size_t length = strlen(name);
    const char *found = NULL;
    unsigned least = (unsigned)length / 3 + 1;
    for (const struct wmi_asm_symbol *s = a->first_symbol; s && least; s = s->later) {
        const bool counts = s->defined && !s->builtin && s->name[0] && s->name[1] != '\1';
        const unsigned edits = counts ? wmi_edits(name, length, s->name, least - 1) : least;
        if (edits < least) {
            least = edits;
            found = s->name;
        }
    }
    return found;
}

static void report_undefined(struct wmi_assembler *a, const char *name, bool by_kernel)
{
    const struct wmi_asm_place *p = &a->place;
    const char *at = p->line ? memmem(p->line, (size_t)(p->line_end - p->line), name, strlen(name)) : NULL;
    const char *near = a->errors < WMI_ASM_MESSAGES ? nearest_symbol(a, name) : NULL;
    wmi_asm_error(a, at ? at : p->line,
                  "undefined symbol '%s': no label, .set or .amdgpu_lds has this name%s%s%s", name,
                  by_kernel ? "; a kernel needs the label of its code" : "", near ? "; nearest: " : "",
                  near ? near : "");
}

/* Sections that are not loaded may refer to undefined symbols, as debug information does to LDS variables
 * that the compiler has removed. */
static bool is_known(struct wmi_asm_linker *link, const struct wmi_asm_section *s,
                     const struct wmi_asm_relocation *r)
{
    struct wmi_assembler *a = link->a;
    struct wmi_asm_symbol *symbol;
    uint64_t value;
    target_of(r, &symbol, &value);
    if (!symbol || symbol->defined)
        return true;
    symbol->needed = true;
    if (!(s->flags & SHF_ALLOC) && symbol->binding == STB_LOCAL)
        symbol->binding = STB_GLOBAL;
    if (symbol->binding == STB_WEAK || !(s->flags & SHF_ALLOC))
        return true;
    if (!symbol->reported)
        report_undefined(a, symbol->name, r->type == REL64);
    symbol->reported = true;
    return false;
}

/* Finds the dynamic relocations needed; addresses are not assigned yet. */
static void scan(struct wmi_asm_linker *link, const struct wmi_asm_section *s,
                 const struct wmi_asm_relocation *r)
{
    struct wmi_assembler *a = link->a;
    struct wmi_asm_symbol *symbol;
    uint64_t value;
    a->place = r->place;
    if (r->type >= sizeof types / sizeof *types || !types[r->type].bytes) {
        wmi_asm_error(a, a->place.line, "no relocation is known for '%s' here", name_of(r->base));
        return;
    }
    const struct relocation_type *type = &types[r->type];
    if (r->offset > s->bytes.size || s->bytes.size - r->offset < type->bytes) {
        wmi_asm_error(a, a->place.line, "expected %u bytes for .reloc in the %zu of '%s'", type->bytes,
                      s->bytes.size, s->name);
        return;
    }
    const struct wmi_asm_section *to = target_of(r, &symbol, &value);
    if (!is_known(link, s, r))
        return;
    if (to && is_dropped(to)) {
        wmi_asm_error(a, a->place.line, "'%s' is in section '%s', which the linker discards",
                      name_of(r->base), to->name);
        return;
    }
    if (type->got) {
        if (!symbol)
            wmi_asm_error(a, a->place.line, "expected a global symbol for @gotpcrel32, not one in '%s'",
                          name_of(r->base));
        else if (!symbol->got)
            symbol->got = ++link->got_count;
        return;
    }
    const bool undefined = symbol && !symbol->defined;
    if (undefined && type->relative && s->flags & SHF_ALLOC) {
        wmi_asm_error(a, a->place.line, "undefined symbol '%s': there is no distance to it", symbol->name);
        return;
    }
    if (type->relative || !(s->flags & SHF_ALLOC) || !(to ? to->flags & SHF_ALLOC : undefined))
        return;
    if (type->bytes == 8 && s->flags & SHF_WRITE)
        add_address(link, s, r->offset, symbol, to, r->addend, value);
    else
        wmi_asm_error(
            a, a->place.line,
            "the address of '%s' is known when the code object is loaded: only .quad in a writable section "
            "can hold it",
            name_of(r->base));
}

/* Reverses the list of relocations, which begins with the last. */
static void order_relocations(struct wmi_asm_section *s)
{
    struct wmi_asm_relocation *next, *list = NULL;
    for (struct wmi_asm_relocation *r = s->relocations; r; r = next) {
        next = r->next;
        r->next = list;
        list = r;
    }
    s->relocations = list;
}

static void scan_all(struct wmi_asm_linker *link)
{
    struct wmi_assembler *a = link->a;
    for (struct wmi_asm_section *s = a->sections; s; s = s->next)
        if (!is_dropped(s)) {
            order_relocations(s);
            for (const struct wmi_asm_relocation *r = s->relocations; r; r = r->next)
                scan(link, s, r);
        }
}

/* Creates .got. All dynamic relocations must be known before addresses are assigned. */
static void scan_got(struct wmi_asm_linker *link)
{
    const uint64_t rw = SHF_ALLOC | SHF_WRITE;
    link->dynamic = new_section(link, ".dynamic", SHT_DYNAMIC, rw, 8, sizeof(Elf64_Dyn));
    if (!link->got_count)
        return;
    link->got = new_section(link, ".got", SHT_PROGBITS, rw, 8, 0);
    wmi_asm_append(link->a, &link->got->bytes, NULL, 8 * (size_t)link->got_count);
    for (struct wmi_asm_symbol *s = link->a->first_symbol; s; s = s->later) {
        uint64_t value;
        const struct wmi_asm_section *to = wmi_asm_symbol_section(s, &value);
        if (s->got)
            add_address(link, link->got, 8 * (uint64_t)(s->got - 1), s, to, 0, value);
    }
}

/* The address of removed code or data in debug information: 0 would end location and range lists.
 * Source: lld/ELF/InputSection.cpp, relocateNonAlloc. */
static uint64_t nowhere(const char *section)
{
    return !strcmp(section, ".debug_loc") || !strcmp(section, ".debug_ranges");
}

static void relocate(struct wmi_asm_linker *link, struct wmi_asm_section *s,
                     const struct wmi_asm_relocation *r)
{
    const struct relocation_type *type = &types[r->type];
    struct wmi_asm_symbol *symbol;
    uint64_t value;
    const struct wmi_asm_section *to = target_of(r, &symbol, &value);
    value += to ? to->address : 0;
    if (type->got)
        value = link->got->address + 8 * (uint64_t)(symbol->got - 1) + (uint64_t)r->addend;
    else if (!type->relative && type->bytes == 8 && s->flags & SHF_ALLOC && s->flags & SHF_WRITE &&
             (to ? to->flags & SHF_ALLOC : symbol && !symbol->defined))
        return; /* applied by the loader */
    if (symbol && !symbol->defined && !strncmp(s->name, ".debug_", strlen(".debug_")))
        value = nowhere(s->name);
    if (type->relative)
        value -= s->address + r->offset;
    if (r->type == REL16)
        value = (uint64_t)((int64_t)(value - 4) >> 2);
    const bool narrow = r->type == REL16 || r->type == REL32 || r->type == GOTPCREL;
    if (narrow && (int64_t)value >> (8 * type->bytes - 1) != (int64_t)value >> 63) {
        link->a->place = r->place;
        wmi_asm_error(link->a, r->place.line, "'%s' is too far away for %u bits", name_of(r->base),
                      8 * type->bytes);
    }
    value >>= type->shift;
    memcpy(s->bytes.data + r->offset, &value, type->bytes);
}

/* Symbols of discarded sections are undefined, as in lld. */
static void forget_dropped_symbols(struct wmi_assembler *a)
{
    for (struct wmi_asm_symbol *s = a->first_symbol; s; s = s->later) {
        uint64_t value;
        const struct wmi_asm_section *section = wmi_asm_symbol_section(s, &value);
        if (section && is_dropped(section))
            s->defined = false;
    }
}

/* LLVM lists them as undefined symbols, whether anything needs them or not (MCELFStreamer::visitUsedSymbol).
 */
static void list_named_symbols(struct wmi_assembler *a)
{
    for (struct wmi_asm_symbol *s = a->first_symbol; s; s = s->later)
        if (s->named && !s->defined && !s->builtin) {
            s->needed = true;
            s->binding = s->binding == STB_LOCAL ? STB_GLOBAL : s->binding;
        }
}

/* A section without bytes in the file can only hold zeros. */
static void check_zeros(struct wmi_assembler *a)
{
    for (const struct wmi_asm_section *s = a->sections; s; s = s->next) {
        size_t i = 0;
        while (s->type == SHT_NOBITS && i < s->bytes.size && !s->bytes.data[i])
            i++;
        if (s->type == SHT_NOBITS && (i < s->bytes.size || s->relocations))
            wmi_asm_error(a, a->place.line, "expected zeros only in section '%s', whose type is @nobits",
                          s->name);
    }
}

void wmi_asm_resolve_raw(struct wmi_assembler *a)
{
    struct wmi_asm_linker link = {.a = a};
    order_relocations(a->text);
    for (struct wmi_asm_relocation *r = a->text->relocations; r; r = r->next) {
        struct wmi_asm_symbol *symbol;
        uint64_t value;
        const bool distance = r->type < sizeof types / sizeof *types && types[r->type].relative &&
                              !types[r->type].got && target_of(r, &symbol, &value) == a->text;
        a->place = r->place;
        if (!r->base->is_section && !((const struct wmi_asm_symbol *)r->base)->defined)
            report_undefined(a, name_of(r->base), false);
        else if (!distance)
            wmi_asm_error(a, a->place.line,
                          "'%s' has no value here: raw instructions can only use distances within .text",
                          name_of(r->base));
        else if (r->offset > a->text->bytes.size || a->text->bytes.size - r->offset < types[r->type].bytes)
            wmi_asm_error(a, a->place.line, "expected %u bytes for .reloc in the %zu of .text",
                          types[r->type].bytes, a->text->bytes.size);
        else
            relocate(&link, a->text, r);
    }
}

void wmi_asm_link(struct wmi_assembler *a)
{
    struct wmi_asm_linker link = {.a = a};
    forget_dropped_symbols(a);
    list_named_symbols(a);
    check_zeros(a);
    scan_all(&link);
    if (a->errors)
        return;
    scan_got(&link);
    add_tables(&link);
    wmi_asm_make_dynamic(&link);
    group_sections(&link);
    const uint64_t end = place_loaded(&link);
    wmi_asm_make_symtab(&link);
    wmi_asm_make_names(&link);
    place_others(&link, end);
    for (struct wmi_asm_section *s = a->sections; s; s = s->next)
        for (const struct wmi_asm_relocation *r = s->relocations; r && !is_dropped(s); r = r->next)
            relocate(&link, s, r);
    wmi_asm_fill_dynamic(&link);
    if (!a->errors)
        wmi_asm_write_elf(&link);
}
