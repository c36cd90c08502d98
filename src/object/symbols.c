/* SPDX-License-Identifier: MIT */
/* Finds symbols by name, with a hash table built on opening, and by address, with tables built on first use.
 */
#include "object/object.h"
#include "object/parts.h"

#include <stdlib.h>
#include <string.h>

/* FNV-1a */
static uint32_t hash(const char *name)
{
    uint32_t value = 0x811c9dc5;
    for (; *name; name++)
        value = (value ^ (unsigned char)*name) * 0x01000193;
    return value;
}

enum wm_status wmi_symbols_hash(struct wm_object *object, struct wm_diag *diag)
{
    object->symbol_slots = 16;
    while (object->symbol_slots < object->symbol_count * 2)
        object->symbol_slots *= 2;
    object->symbol_table =
        wmi_arena_array(&object->arena, object->symbol_slots, sizeof(*object->symbol_table));
    if (!object->symbol_table)
        return wmi_no_memory(object, diag);
    const size_t mask = object->symbol_slots - 1;
    for (size_t i = 0; i < object->symbol_count; i++) {
        const struct wmi_symbol *symbol = &object->symbols[i];
        size_t slot = hash(symbol->name) & mask;
        for (; object->symbol_table[slot]; slot = (slot + 1) & mask) {
            const struct wmi_symbol *other = &object->symbols[object->symbol_table[slot] - 1];
            if (strcmp(other->name, symbol->name) == 0)
                break;
        }
        /* The first symbol of a name takes precedence, but a global one replaces a local one. */
        const uint32_t there = object->symbol_table[slot];
        if (!there || (object->symbols[there - 1].local && !symbol->local))
            object->symbol_table[slot] = (uint32_t)i + 1;
    }
    return WM_OK;
}

const struct wmi_symbol *wmi_object_symbol_named(const struct wm_object *object, const char *name)
{
    if (!object->symbol_slots)
        return NULL;
    const size_t mask = object->symbol_slots - 1;
    for (size_t slot = hash(name) & mask; object->symbol_table[slot]; slot = (slot + 1) & mask) {
        const struct wmi_symbol *symbol = &object->symbols[object->symbol_table[slot] - 1];
        if (strcmp(symbol->name, name) == 0)
            return symbol;
    }
    return NULL;
}

static bool in_code(const struct wm_object *object, uint64_t address)
{
    size_t low = 0, high = object->code_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (object->code[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low && address - object->code[low - 1].address < object->code[low - 1].size;
}

const struct wmi_symbol *wmi_object_variable_at(const struct wm_object *object, uint64_t address)
{
    for (size_t i = 0; i < object->symbol_count; i++) {
        const struct wmi_symbol *symbol = &object->symbols[i];
        if (symbol->kind == WMI_SYMBOL_DATA && address - symbol->address < symbol->size)
            return symbol;
    }
    return NULL;
}

/* Functions before labels, by address; at equal addresses global symbols first, then by name. */
static int order(const void *a, const void *b)
{
    const struct wmi_symbol *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (x->local != y->local)
        return x->local ? 1 : -1;
    return strcmp(x->name, y->name);
}

static void sort_symbols(const struct wm_object *object, struct wmi_lazy *lazy)
{
    lazy->has_symbols = true;
    lazy->by_address = malloc((object->symbol_count + 1) * sizeof(*lazy->by_address));
    if (!lazy->by_address) { /* addresses are then not resolved to names */
        lazy->lost = true;
        return;
    }
    size_t count = 0;
    for (size_t i = 0; i < object->symbol_count; i++) {
        const struct wmi_symbol *symbol = &object->symbols[i];
        const bool function = symbol->kind == WMI_SYMBOL_FUNCTION;
        if ((!function && symbol->kind != WMI_SYMBOL_LABEL) || !in_code(object, symbol->address))
            continue;
        lazy->by_address[count++] = *symbol;
        lazy->functions += function;
    }
    lazy->labels = count - lazy->functions;
    qsort(lazy->by_address, count, sizeof(*lazy->by_address), order);
}

/* The first symbol with the greatest address <= `address`. */
static const struct wmi_symbol *before(const struct wmi_symbol *symbols, size_t count, uint64_t address)
{
    size_t low = 0, high = count; /* symbols[low - 1].address <= address < symbols[high].address */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (symbols[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return NULL;
    for (low--; low && symbols[low - 1].address == symbols[low].address;)
        low--;
    return &symbols[low];
}

static const struct wmi_lazy *sorted_symbols(const struct wm_object *object)
{
    struct wmi_lazy *lazy = object->lazy;
    pthread_mutex_lock(&lazy->lock);
    if (!lazy->has_symbols)
        sort_symbols(object, lazy);
    pthread_mutex_unlock(&lazy->lock);
    return lazy;
}

/* The lowest symbol address >= `address`. */
static uint64_t next_address(const struct wmi_symbol *symbols, size_t count, uint64_t address)
{
    size_t low = 0, high = count; /* symbols[low - 1].address < address <= symbols[high].address */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (symbols[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count ? symbols[low].address : UINT64_MAX;
}

uint64_t wm_object_next_symbol(const struct wm_object *object, uint64_t address)
{
    const struct wmi_lazy *lazy = object ? sorted_symbols(object) : NULL;
    if (!lazy || !lazy->by_address)
        return UINT64_MAX;
    const uint64_t function = next_address(lazy->by_address, lazy->functions, address);
    const uint64_t label = next_address(lazy->by_address + lazy->functions, lazy->labels, address);
    return function < label ? function : label;
}

const char *wm_object_symbol(const struct wm_object *object, uint64_t address, uint64_t *distance)
{
    const struct wmi_lazy *lazy = object ? sorted_symbols(object) : NULL;
    if (!lazy || !lazy->by_address || !in_code(object, address))
        return NULL;
    const struct wmi_symbol *symbol = before(lazy->by_address, lazy->functions, address);
    /* A function with a size contains only its own bytes; hand-written ones of size 0 extend to the next. */
    if (!symbol || (symbol->size && address - symbol->address >= symbol->size))
        symbol = before(lazy->by_address + lazy->functions, lazy->labels, address);
    if (!symbol || (symbol->size && address - symbol->address >= symbol->size))
        return NULL;
    if (distance)
        *distance = address - symbol->address;
    return symbol->name;
}

const char *wm_object_label(const struct wm_object *object, uint64_t address)
{
    const struct wmi_lazy *lazy = object ? sorted_symbols(object) : NULL;
    if (!lazy || !lazy->by_address)
        return NULL;
    const struct wmi_symbol *label = before(lazy->by_address + lazy->functions, lazy->labels, address);
    return label && label->address == address ? label->name : NULL;
}

/* ---- kernel entry points ---- */

static int by_address(const void *a, const void *b)
{
    const uint64_t x = ((const struct wmi_entry *)a)->address, y = ((const struct wmi_entry *)b)->address;
    return x < y ? -1 : x > y;
}

/* Finds entry points from the descriptors in the symbol table; a raw object has only its kernel. */
static void find_entries(const struct wm_object *object, struct wmi_lazy *lazy)
{
    lazy->has_entries = true;
    lazy->entries = malloc((object->symbol_count + object->kernel_count + 1) * sizeof(*lazy->entries));
    if (!lazy->entries) { /* then no entry points are known */
        lazy->lost = true;
        return;
    }
    for (size_t i = 0; i < object->symbol_count; i++) {
        const struct wmi_symbol *symbol = &object->symbols[i];
        struct wmi_kernel_descriptor d;
        const uint8_t *bytes = symbol->kind == WMI_SYMBOL_DESCRIPTOR && symbol->size == WMI_DESCRIPTOR_BYTES
                                   ? wmi_object_bytes(object, symbol->address, WMI_DESCRIPTOR_BYTES)
                                   : NULL;
        if (!bytes)
            continue;
        wmi_descriptor_read(bytes, object->target, &d);
        lazy->entries[lazy->entry_count++] =
            (struct wmi_entry){symbol->address + (uint64_t)d.entry_offset, wmi_lanes(object->target, &d)};
    }
    for (size_t i = 0; i < object->kernel_count && !object->symbol_count; i++)
        lazy->entries[lazy->entry_count++] =
            (struct wmi_entry){object->kernels[i].public.entry, object->kernels[i].public.wave_size};
    qsort(lazy->entries, lazy->entry_count, sizeof(*lazy->entries), by_address);
}

unsigned wm_object_wave_size(const struct wm_object *object, uint64_t address)
{
    if (!object)
        return 0;
    struct wmi_lazy *lazy = object->lazy;
    pthread_mutex_lock(&lazy->lock);
    if (!lazy->has_entries)
        find_entries(object, lazy);
    pthread_mutex_unlock(&lazy->lock);
    const struct wmi_entry wanted = {.address = address};
    const struct wmi_entry *entry = lazy->entry_count ? bsearch(&wanted, lazy->entries, lazy->entry_count,
                                                                sizeof(*lazy->entries), by_address)
                                                      : NULL;
    return entry ? entry->lanes : 0;
}
