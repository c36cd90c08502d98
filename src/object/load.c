/* SPDX-License-Identifier: MIT */
/* Builds the memory image of an object: segments, zeros, relocations.
 *
 * Source: LLVM 19 AMDGPUUsage, "Relocation Records". */
#include "object/input.h"
#include "object/object.h"
#include "object/parts.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const struct wmi_segment *wmi_object_segments(const struct wm_object *object, size_t *count)
{
    *count = object->segment_count;
    return object->segments;
}

struct wmi_span wmi_object_span(const struct wm_object *object)
{
    const struct wmi_segment *first = &object->segments[0],
                             *last = &object->segments[object->segment_count - 1];
    struct wmi_span span = {first->address, last->address + last->size, 1};
    for (size_t i = 0; i < object->segment_count; i++)
        if (object->segments[i].alignment > span.alignment)
            span.alignment = object->segments[i].alignment;
    span.low &= ~(span.alignment - 1);
    return span;
}

/* The formula of a relocation: S (symbol), A (addend), P (place), B (load bias). */
enum formula { UNKNOWN, NOTHING, S_PLUS_A, S_PLUS_A_MINUS_P, B_PLUS_A, LINKER_ONLY };

static const struct {
    const char *name;
    uint8_t formula, size, shift; /* number of bytes written; right shift of the value */
} types[] = {
    [0] = {"NONE", NOTHING},
    [1] = {"ABS32_LO", S_PLUS_A, 4},
    [2] = {"ABS32_HI", S_PLUS_A, 4, 32},
    [3] = {"ABS64", S_PLUS_A, 8},
    [4] = {"REL32", S_PLUS_A_MINUS_P, 4},
    [5] = {"REL64", S_PLUS_A_MINUS_P, 8},
    [6] = {"ABS32", S_PLUS_A, 4},
    [7] = {"GOTPCREL", LINKER_ONLY},
    [8] = {"GOTPCREL32_LO", LINKER_ONLY},
    [9] = {"GOTPCREL32_HI", LINKER_ONLY},
    [10] = {"REL32_LO", S_PLUS_A_MINUS_P, 4},
    [11] = {"REL32_HI", S_PLUS_A_MINUS_P, 4, 32},
    [13] = {"RELATIVE64", B_PLUS_A, 8},
    [14] = {"REL16", LINKER_ONLY},
};
enum { TYPES = sizeof(types) / sizeof(types[0]) };

struct load {
    const struct wm_object *object;
    struct wmi_span span;
    uint64_t bias;
    uint8_t *image;
    wmi_resolve *resolve;
    void *user;
    struct wm_diag *diag;
};

static enum wm_status symbol_value(const struct load *load, size_t number, uint32_t index, uint64_t *value)
{
    const struct wm_object *object = load->object;
    Elf64_Sym symbol;
    *value = 0;
    if (!index)
        return WM_OK;
    if (index >= object->dynamic_symbol_count)
        return wmi_fail(load->diag, WM_BAD_FILE, "%s: relocation %zu: symbol %u; there are at most %zu",
                        object->name, number, index, object->dynamic_symbol_count);
    memcpy(&symbol, object->dynamic_symbols + index * sizeof(symbol), sizeof(symbol));
    if (symbol.st_shndx == SHN_ABS)
        *value = symbol.st_value;
    else
        *value = symbol.st_value + load->bias;
    if (symbol.st_shndx != SHN_UNDEF)
        return WM_OK;

    const char *name = (const char *)object->dynamic_strings + symbol.st_name;
    if (symbol.st_name >= object->dynamic_strings_size ||
        !memchr(name, 0, object->dynamic_strings_size - symbol.st_name))
        return wmi_fail(load->diag, WM_BAD_FILE,
                        "%s: relocation %zu: symbol %u: name at 0x%x of %zu bytes of strings", object->name,
                        number, index, symbol.st_name, object->dynamic_strings_size);
    *value = 0;
    if (load->resolve && load->resolve(load->user, name, value))
        return WM_OK;
    if (ELF64_ST_BIND(symbol.st_info) == STB_WEAK)
        return WM_OK;
    return wmi_fail(load->diag, WM_NOT_FOUND, "%s: needs the symbol '%s', which it does not define",
                    object->name, name);
}

static enum wm_status relocate(const struct load *load, size_t number)
{
    const struct wm_object *object = load->object;
    Elf64_Rela entry;
    uint64_t symbol;
    memcpy(&entry, object->relocations + number * sizeof(entry), sizeof(entry));
    const uint32_t type = ELF64_R_TYPE(entry.r_info);
    const unsigned formula = type < TYPES ? types[type].formula : UNKNOWN;
    if (formula == NOTHING)
        return WM_OK;
    if (formula == UNKNOWN || formula == LINKER_ONLY)
        return wmi_fail(load->diag, WM_UNSUPPORTED,
                        "%s: relocation %zu: type %u%s%s; only a linker resolves it", object->name, number,
                        type, formula == UNKNOWN ? "" : ", R_AMDGPU_",
                        formula == UNKNOWN ? "" : types[type].name);
    const uint64_t size = load->span.high - load->span.low, into = entry.r_offset - load->span.low;
    if (entry.r_offset < load->span.low || into > size || types[type].size > size - into)
        return wmi_fail(load->diag, WM_BAD_FILE,
                        "%s: relocation %zu: at 0x%llx; the segments span 0x%llx to 0x%llx", object->name,
                        number, (unsigned long long)entry.r_offset, (unsigned long long)load->span.low,
                        (unsigned long long)load->span.high);
    const enum wm_status status = symbol_value(load, number, ELF64_R_SYM(entry.r_info), &symbol);
    if (status)
        return status;
    uint64_t value = (uint64_t)entry.r_addend;
    if (formula == B_PLUS_A)
        value += load->bias;
    else
        value += symbol;
    if (formula == S_PLUS_A_MINUS_P)
        value -= entry.r_offset + load->bias;
    value >>= types[type].shift;
    for (unsigned i = 0; i < types[type].size; i++)
        load->image[into + i] = (uint8_t)(value >> 8 * i);
    return WM_OK;
}

/* Maps, instead of reading, the whole file pages among the `count` bytes at `offset`, to `to`. Returns the
 * offset of the first mapped page and sets *end to the end of the last; both are `count` if there are none.
 */
static uint64_t map_pages(int file, uint64_t offset, unsigned char *to, uint64_t count, uint64_t *end)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t head = (page - offset % page) % page;
    *end = count;
    if (((uintptr_t)to - offset) % page || count < head + page)
        return count;
    const uint64_t size = (count - head) / page * page;
    if (mmap(to + head, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file,
             (off_t)(offset + head)) == MAP_FAILED)
        return count;
    *end = head + size;
    return head;
}

static void fill_segment(const struct wm_object *object, const struct wmi_segment *segment, unsigned char *to,
                         bool pages)
{
    uint64_t end = segment->file_size, head = end;
    if (pages && object->file >= 0)
        head = map_pages(object->file, (uint64_t)(segment->bytes - object->input->bytes), to,
                         segment->file_size, &end);
    memcpy(to, segment->bytes, head);
    memcpy(to + end, segment->bytes + end, segment->file_size - end);
}

enum wm_status wmi_object_image(const struct wm_object *object, uint64_t base, wmi_resolve *resolve,
                                void *user, void *image, bool pages, struct wm_diag *diag)
{
    const struct wmi_span span = wmi_object_span(object);
    const struct load load = {object, span, base - span.low, image, resolve, user, diag};
    uint64_t filled = span.low;
    for (size_t i = 0; i < object->segment_count; i++) {
        const struct wmi_segment *s = &object->segments[i];
        memset(load.image + (filled - span.low), 0, s->address - filled);
        fill_segment(object, s, load.image + (s->address - span.low), pages);
        filled = s->address + s->file_size;
    }
    memset(load.image + (filled - span.low), 0, span.high - filled);
    for (size_t i = 0; i < object->relocation_count; i++) {
        const enum wm_status status = relocate(&load, i);
        if (status)
            return status;
    }
    return WM_OK;
}
