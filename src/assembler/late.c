/* SPDX-License-Identifier: MIT */
/* Relocations, and statements that are read again when all symbols are known. */
#include "assembler/parts.h"
#include "object/relocation_types.h"

#include <stdlib.h>
#include <string.h>

void wmi_asm_relocate(struct wmi_assembler *a, struct wmi_asm_section *section, uint64_t offset,
                      const struct wmi_value *value, unsigned bytes, bool branch)
{
    static const uint8_t types[] = {[WMI_PART_NONE] = ABS32,
                                    [WMI_PART_ABS32_LO] = ABS32_LO,
                                    [WMI_PART_ABS32_HI] = ABS32_HI,
                                    [WMI_PART_REL32_LO] = REL32_LO,
                                    [WMI_PART_REL32_HI] = REL32_HI,
                                    [WMI_PART_REL64] = REL64,
                                    [WMI_PART_GOT32_LO] = GOTPCREL32_LO,
                                    [WMI_PART_GOT32_HI] = GOTPCREL32_HI,
                                    [WMI_PART_GOT] = GOTPCREL};
    const uint32_t type = branch ? REL16 : bytes == 8 && !value->part ? ABS64 : types[value->part];
    wmi_asm_relocate_as(a, section, offset, value, type);
}

void wmi_asm_relocate_as(struct wmi_assembler *a, struct wmi_asm_section *section, uint64_t offset,
                         const struct wmi_value *value, uint32_t type)
{
    struct wmi_asm_relocation *r = wmi_asm_allocate(a, 1, sizeof *r);
    const struct wmi_asm_symbol *label = value->symbol; /* kept in the relocation, because it may be global */
    *r = (struct wmi_asm_relocation){.next = section->relocations,
                                     .offset = offset,
                                     .base = label ? &label->base : value->base,
                                     .addend = value->number - (label ? label->value.number : 0),
                                     .type = type,
                                     .place = a->place};
    section->relocations = r;
}

struct wmi_asm_late *wmi_asm_note_late(struct wmi_assembler *a, const char *text, const char *end,
                                       unsigned bytes)
{
    struct wmi_asm_late *late = wmi_asm_allocate(a, 1, sizeof *late);
    *late = (struct wmi_asm_late){.section = a->section,
                                  .offset = a->reading_late ? a->late_offset : a->section->bytes.size,
                                  .text = text,
                                  .end = end,
                                  .place = a->place,
                                  .bytes = (uint8_t)bytes};
    memcpy(late->numbered, a->numbered, sizeof late->numbered);
    *a->last_late = late;
    a->last_late = &late->next;
    return late;
}

unsigned wmi_asm_next_size(struct wmi_assembler *a, unsigned least)
{
    struct wmi_asm_sizes *sizes = a->sizes;
    const unsigned number = a->size_count++;
    if (number >= sizes->capacity) {
        const unsigned capacity = 2 * number + 16;
        uint8_t *bytes = realloc(sizes->bytes, capacity);
        if (!bytes)
            longjmp(a->no_memory, 1);
        memset(bytes + sizes->capacity, 0, capacity - sizes->capacity);
        sizes->bytes = bytes;
        sizes->capacity = capacity;
    }
    if (sizes->bytes[number] < least)
        sizes->bytes[number] = (uint8_t)least;
    return sizes->bytes[number];
}

void wmi_asm_grow(struct wmi_assembler *a, const struct wmi_asm_late *late, unsigned bytes, const char *at)
{
    a->sizes->bytes[late->sized - 1] = (uint8_t)bytes;
    a->sizes->grew = true;
    if (a->sizes->last)
        wmi_asm_error(a, at,
                      "the size of this statement does not converge: each time it grows, so does the "
                      "distance that it encodes");
}

void wmi_asm_begin_expression(struct wmi_assembler *a)
{
    const uint64_t offset = a->reading_late ? a->late_offset : a->section->bytes.size;
    a->resolver.here = (struct wmi_value){.number = (int64_t)offset, .base = a->section};
    a->saw_late = false;
}
