/* SPDX-License-Identifier: MIT */
/* The tables of a code object for loaders and debuggers: symbols, hash tables, relocations.
 *
 * Source: the System V gABI, "Symbol Table", "Hash Table", "Dynamic Section"; for .gnu.hash, which the gABI
 * does not describe, lld/ELF/SyntheticSections.cpp, GnuHashTableSection. */
#include "assembler/link.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { SECOND_HASH = 26, LOAD_FACTOR = 4, BLOOM_BITS = 12, WORD_BITS = 64 };

static uint32_t add_name(struct wmi_asm_linker *link, struct wmi_asm_section *strings, const char *name)
{
    const uint32_t at = (uint32_t)strings->bytes.size;
    wmi_asm_append(link->a, &strings->bytes, name, strlen(name) + 1);
    return at;
}

/* The label that a symbol is an alias of, or the symbol itself. */
static const struct wmi_asm_symbol *original(const struct wmi_asm_symbol *s)
{
    return s->variable && s->value.symbol && !s->type ? s->value.symbol : s;
}

static Elf64_Sym symbol_of(const struct wmi_asm_symbol *s, uint32_t name, bool local)
{
    return (Elf64_Sym){
        .st_name = name,
        .st_info = ELF64_ST_INFO(local ? STB_LOCAL : s->binding, original(s)->type),
        .st_other = s->visibility,
        .st_shndx = (uint16_t)wmi_asm_symbol_index(s),
        .st_value = s->defined ? wmi_asm_symbol_address(s) : 0,
        .st_size = s->size ? s->size : original(s)->size,
    };
}

/* ---- .dynsym ---- */

static uint32_t gnu_hash(const char *name)
{
    uint32_t hash = 5381;
    while (*name)
        hash = hash * 33 + (uint8_t)*name++;
    return hash;
}

static uint32_t sysv_hash(const char *name)
{
    uint32_t hash = 0;
    while (*name) {
        hash = (hash << 4) + (uint8_t)*name++;
        hash ^= hash >> 24 & 0xf0;
        hash &= 0xfffffff;
    }
    return hash;
}

static bool ends_undefined(const struct wmi_asm_symbol *s)
{
    for (unsigned i = 0; i < WMI_ASM_LONGEST_CHAIN && s->defined; i++) {
        const struct wmi_asm_base *base = s->variable ? s->value.base : NULL;
        if (!base || base->is_section)
            return false;
        s = (const struct wmi_asm_symbol *)base;
    }
    return true;
}

/* As in LLVM, which leaves out symbols whose value is an undefined one. */
static bool is_private(const struct wmi_asm_symbol *s)
{
    return s->builtin || (s->variable && ends_undefined(s)) || !strncmp(s->name, ".L", 2) ||
           (s->name[0] == '.' && s->name[1] == '\1');
}

static bool is_global(const struct wmi_asm_symbol *s)
{
    return s->binding != STB_LOCAL && (s->visibility == STV_DEFAULT || s->visibility == STV_PROTECTED) &&
           (s->defined || s->needed);
}

struct hashed {
    struct wmi_asm_symbol *symbol;
    uint32_t hash, bucket, order;
};

static int by_bucket(const void *left, const void *right)
{
    const struct hashed *l = left, *r = right;
    return l->bucket != r->bucket ? (l->bucket < r->bucket ? -1 : 1)
           : l->order < r->order  ? -1
                                  : l->order > r->order;
}

/* Sorts the exported symbols: undefined ones, then the others by hash bucket. Returns the number of the
 * latter.
 */
static uint32_t sort_exported(struct wmi_asm_linker *link, struct hashed *sorted, uint32_t *buckets)
{
    uint32_t undefined = 0, defined = 0;
    for (uint32_t i = 0; i < link->exported_count; i++)
        if (link->exported[i]->defined)
            sorted[defined++] = (struct hashed){.symbol = link->exported[i], .order = i};
        else
            link->exported[undefined++] = link->exported[i];
    *buckets = defined / LOAD_FACTOR ? defined / LOAD_FACTOR : 1;
    for (uint32_t i = 0; i < defined; i++) {
        sorted[i].hash = gnu_hash(sorted[i].symbol->name);
        sorted[i].bucket = sorted[i].hash % *buckets;
    }
    if (defined)
        qsort(sorted, defined, sizeof *sorted, by_bucket);
    for (uint32_t i = 0; i < defined; i++)
        link->exported[undefined + i] = sorted[i].symbol;
    for (uint32_t i = 0; i < link->exported_count; i++)
        link->exported[i]->dynamic = i + 1;
    return defined;
}

/* Header, Bloom filter, buckets, hashes; bit 0 marks the last hash of a bucket. */
static void make_gnu_hash(struct wmi_asm_linker *link, const struct hashed *sorted, uint32_t count,
                          uint32_t buckets)
{
    struct wmi_assembler *a = link->a;
    const uint64_t words_wanted = (uint64_t)count * BLOOM_BITS / WORD_BITS;
    uint32_t words = 1;
    while (count && words <= words_wanted)
        words *= 2;
    const uint32_t head[] = {buckets, link->exported_count + 1 - count, words, SECOND_HASH};
    uint64_t *bloom = wmi_asm_allocate(a, words, sizeof *bloom);
    uint32_t *first = wmi_asm_allocate(a, buckets, sizeof *first);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t hash = sorted[i].hash;
        bloom[hash / WORD_BITS & (words - 1)] |=
            UINT64_C(1) << hash % WORD_BITS | UINT64_C(1) << (hash >> SECOND_HASH) % WORD_BITS;
        if (!first[sorted[i].bucket])
            first[sorted[i].bucket] = sorted[i].symbol->dynamic;
    }
    wmi_asm_append(a, &link->gnu_hash->bytes, head, sizeof head);
    wmi_asm_append(a, &link->gnu_hash->bytes, bloom, words * sizeof *bloom);
    wmi_asm_append(a, &link->gnu_hash->bytes, first, buckets * sizeof *first);
    for (uint32_t i = 0; i < count; i++) {
        const bool last = i + 1 == count || sorted[i + 1].bucket != sorted[i].bucket;
        const uint32_t chained = (sorted[i].hash & ~UINT32_C(1)) | last;
        wmi_asm_append(a, &link->gnu_hash->bytes, &chained, sizeof chained);
    }
}

static void make_hash(struct wmi_asm_linker *link)
{
    const uint32_t count = link->exported_count + 1, head[] = {count, count};
    uint32_t *buckets = wmi_asm_allocate(link->a, 2 * (size_t)count, sizeof *buckets),
             *chains = buckets + count;
    for (uint32_t i = 1; i < count; i++) {
        uint32_t *bucket = &buckets[sysv_hash(link->exported[i - 1]->name) % count];
        chains[i] = *bucket;
        *bucket = i;
    }
    wmi_asm_append(link->a, &link->hash->bytes, head, sizeof head);
    wmi_asm_append(link->a, &link->hash->bytes, buckets, 2 * (size_t)count * sizeof *buckets);
}

/* Arrays of functions to call, with the entries of .dynamic for their address and size. */
static const struct {
    const char *section;
    int64_t address, size;
} arrays[] = {{".init_array", DT_INIT_ARRAY, DT_INIT_ARRAYSZ},
              {".fini_array", DT_FINI_ARRAY, DT_FINI_ARRAYSZ}};
enum { ARRAYS = sizeof arrays / sizeof *arrays };

static const struct wmi_asm_section *find_section(const struct wmi_asm_linker *link, const char *name)
{
    const struct wmi_asm_section *s = link->a->sections;
    while (s && strcmp(s->name, name))
        s = s->next;
    return s;
}

static size_t dynamic_entries(const struct wmi_asm_linker *link)
{
    size_t count = 7 + (link->rela ? 3 : 0) + (link->relative_count ? 1 : 0);
    for (unsigned i = 0; i < ARRAYS; i++)
        count += find_section(link, arrays[i].section) ? 2 : 0;
    return count;
}

void wmi_asm_make_dynamic(struct wmi_asm_linker *link)
{
    struct wmi_assembler *a = link->a;
    uint32_t count = 0, buckets;
    for (const struct wmi_asm_symbol *s = a->first_symbol; s; s = s->later)
        count += is_global(s) && !is_private(s);
    link->exported = wmi_asm_allocate(a, count + 1, sizeof *link->exported);
    for (struct wmi_asm_symbol *s = a->first_symbol; s; s = s->later)
        if (is_global(s) && !is_private(s))
            link->exported[link->exported_count++] = s;
    wmi_asm_append(a, &link->dynstr->bytes, "", 1);
    for (uint32_t i = 0; i < count; i++)
        link->exported[i]->dynamic_name = add_name(link, link->dynstr, link->exported[i]->name);
    struct hashed *sorted = wmi_asm_allocate(a, count + 1, sizeof *sorted);
    const uint32_t hashed = sort_exported(link, sorted, &buckets);
    make_gnu_hash(link, sorted, hashed, buckets);
    make_hash(link);
    wmi_asm_append(a, &link->dynsym->bytes, NULL, (count + 1) * sizeof(Elf64_Sym));
    if (link->rela)
        wmi_asm_append(a, &link->rela->bytes, NULL, link->relocation_count * sizeof(Elf64_Rela));
    wmi_asm_append(a, &link->dynamic->bytes, NULL, dynamic_entries(link) * sizeof(Elf64_Dyn));
}

/* ---- after addresses are assigned ---- */

static void fill_dynsym(struct wmi_asm_linker *link)
{
    Elf64_Sym *symbols = (Elf64_Sym *)(void *)link->dynsym->bytes.data;
    for (uint32_t i = 0; i < link->exported_count; i++)
        symbols[i + 1] = symbol_of(link->exported[i], link->exported[i]->dynamic_name, false);
}

/* Orders relocations: relative ones (without a symbol) first, then by symbol and offset. */
static int by_kind(const void *left, const void *right)
{
    const Elf64_Rela *l = left, *r = right;
    const uint64_t lsymbol = ELF64_R_SYM(l->r_info), rsymbol = ELF64_R_SYM(r->r_info);
    return lsymbol != rsymbol          ? (lsymbol < rsymbol ? -1 : 1)
           : l->r_offset < r->r_offset ? -1
                                       : l->r_offset > r->r_offset;
}

static void fill_rela(struct wmi_asm_linker *link)
{
    enum { ABS64 = 3, RELATIVE64 = 13 };
    if (!link->rela)
        return;
    Elf64_Rela *rela = (Elf64_Rela *)(void *)link->rela->bytes.data;
    for (uint32_t i = 0; i < link->relocation_count; i++) {
        const struct wmi_asm_dynamic *d = &link->relocations[i];
        rela[i] = (Elf64_Rela){
            .r_offset = d->section->address + d->offset,
            .r_info =
                d->relative ? ELF64_R_INFO(0, RELATIVE64) : ELF64_R_INFO((uint64_t)d->symbol->dynamic, ABS64),
            .r_addend = d->addend + (d->relative ? (int64_t)d->to->address : 0),
        };
    }
    qsort(rela, link->relocation_count, sizeof *rela, by_kind);
}

static void fill_entries(struct wmi_asm_linker *link)
{
    Elf64_Dyn *entry = (Elf64_Dyn *)(void *)link->dynamic->bytes.data;
    if (link->rela) {
        *entry++ = (Elf64_Dyn){DT_RELA, {link->rela->address}};
        *entry++ = (Elf64_Dyn){DT_RELASZ, {link->rela->bytes.size}};
        *entry++ = (Elf64_Dyn){DT_RELAENT, {sizeof(Elf64_Rela)}};
    }
    if (link->relative_count)
        *entry++ = (Elf64_Dyn){DT_RELACOUNT, {link->relative_count}};
    *entry++ = (Elf64_Dyn){DT_SYMTAB, {link->dynsym->address}};
    *entry++ = (Elf64_Dyn){DT_SYMENT, {sizeof(Elf64_Sym)}};
    *entry++ = (Elf64_Dyn){DT_STRTAB, {link->dynstr->address}};
    *entry++ = (Elf64_Dyn){DT_STRSZ, {link->dynstr->bytes.size}};
    *entry++ = (Elf64_Dyn){DT_GNU_HASH, {link->gnu_hash->address}};
    *entry++ = (Elf64_Dyn){DT_HASH, {link->hash->address}};
    for (unsigned i = 0; i < ARRAYS; i++) {
        const struct wmi_asm_section *s = find_section(link, arrays[i].section);
        if (s && s->output) {
            *entry++ = (Elf64_Dyn){arrays[i].address, {s->output->address}};
            *entry++ = (Elf64_Dyn){arrays[i].size, {s->output->size}};
        }
    }
    *entry = (Elf64_Dyn){DT_NULL, {0}};
}

static void set_link(const struct wmi_asm_section *s, const struct wmi_asm_section *to, uint32_t info)
{
    if (!s || !s->output || !to->output)
        return;
    s->output->link = to->output->index;
    s->output->info = info;
}

void wmi_asm_fill_dynamic(struct wmi_asm_linker *link)
{
    fill_dynsym(link);
    fill_rela(link);
    fill_entries(link);
    set_link(link->dynsym, link->dynstr, 1);
    set_link(link->gnu_hash, link->dynsym, 0);
    set_link(link->hash, link->dynsym, 0);
    set_link(link->rela, link->dynsym, 0);
    set_link(link->dynamic, link->dynstr, 0);
}

/* ---- .symtab ---- */

static void add_symbol(struct wmi_asm_linker *link, const struct wmi_asm_symbol *s, bool local)
{
    const Elf64_Sym symbol = symbol_of(s, add_name(link, link->strtab, s->name), local);
    wmi_asm_append(link->a, &link->symtab->bytes, &symbol, sizeof symbol);
}

/* Local symbols first, as ELF requires: those of the file, then those that are hidden from the loader. */
void wmi_asm_make_symtab(struct wmi_asm_linker *link)
{
    struct wmi_assembler *a = link->a;
    const struct wmi_asm_symbol marker = {
        .name = "_DYNAMIC", .section = link->dynamic, .defined = true, .visibility = STV_HIDDEN};
    const Elf64_Sym none = {0};
    wmi_asm_append(a, &link->symtab->bytes, &none, sizeof none);
    wmi_asm_append(a, &link->strtab->bytes, "", 1);
    for (const struct wmi_asm_symbol *s = a->first_symbol; s; s = s->later)
        if (s->defined && !is_private(s) && s->binding == STB_LOCAL)
            add_symbol(link, s, true);
    for (const struct wmi_asm_symbol *s = a->first_symbol; s; s = s->later)
        if (s->defined && !is_private(s) && s->binding != STB_LOCAL && !is_global(s))
            add_symbol(link, s, true);
    add_symbol(link, &marker, true);
    set_link(link->symtab, link->strtab, (uint32_t)(link->symtab->bytes.size / sizeof none));
    for (const struct wmi_asm_symbol *s = a->first_symbol; s; s = s->later)
        if (is_global(s) && !is_private(s))
            add_symbol(link, s, false);
}

void wmi_asm_make_names(struct wmi_asm_linker *link)
{
    wmi_asm_append(link->a, &link->shstrtab->bytes, "", 1);
    for (unsigned i = 0; i < link->count; i++)
        link->outputs[i]->name_at = add_name(link, link->shstrtab, link->outputs[i]->name);
}
