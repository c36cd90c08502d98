/* SPDX-License-Identifier: MIT */
/* Reads, writes and explains the fields of descriptors. */
#include "memory/descriptor.h"

#include "memory/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

uint64_t wmi_field_get(const struct wmi_descriptor_field *field, const uint32_t *words)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < field->bits; i++) {
        const unsigned bit = field->bit + i;
        value |= (uint64_t)(words[bit / 32] >> bit % 32 & 1) << i;
    }
    return value;
}

void wmi_field_set(const struct wmi_descriptor_field *field, uint32_t *words, uint64_t value)
{
    for (unsigned i = 0; i < field->bits; i++) {
        const unsigned bit = field->bit + i;
        words[bit / 32] = (words[bit / 32] & ~(1u << bit % 32)) | (uint32_t)(value >> i & 1) << bit % 32;
    }
}

const struct wmi_descriptor_field *wmi_field_find(enum wmi_descriptor_layout layout,
                                                  enum wm_descriptor_kind kind, const char *name)
{
    for (const struct wmi_descriptor_field *field = wmi_fields(kind); field->name; field++)
        if (field->layouts >> layout & 1 && !strcasecmp(field->name, name))
            return field;
    return NULL;
}

static void describe(const struct wmi_format_rules *formats, const struct wmi_descriptor_field *field,
                     uint64_t value, char *text, size_t size)
{
    const unsigned long long v = value;
    text[0] = '\0';
    switch ((enum wmi_meaning)field->meaning) {
    case WMI_MEANING_NUMBER:
        return;
    case WMI_MEANING_ADDRESS:
        snprintf(text, size, "0x%llx", v);
        return;
    case WMI_MEANING_ADDRESS_256:
        snprintf(text, size, "0x%llx (x 256)", v << 8);
        return;
    case WMI_MEANING_BYTES:
        snprintf(text, size, "%llu bytes", v);
        return;
    case WMI_MEANING_MINUS_1:
        snprintf(text, size, "%llu (stored minus 1)", v + 1);
        return;
    case WMI_MEANING_INDEX_STRIDE:
        snprintf(text, size, "%llu records", 8ULL << v);
        return;
    case WMI_MEANING_ELEMENT_SIZE:
        snprintf(text, size, "%llu bytes", 2ULL << v);
        return;
    case WMI_MEANING_LOD:
        snprintf(text, size, "%.8g", (double)v / 256);
        return;
    case WMI_MEANING_SIGNED_LOD:
        snprintf(text, size, "%.8g", (double)(int64_t)((v ^ 0x2000) - 0x2000) / 256);
        return;
    case WMI_MEANING_ANISO_RATIO:
        if (value <= 4)
            snprintf(text, size, "%u : 1", 1u << value);
        else
            snprintf(text, size, "reserved");
        return;
    case WMI_MEANING_FORMAT:
    case WMI_MEANING_IMAGE_FORMAT: {
        const struct wmi_format format = field->meaning == WMI_MEANING_FORMAT
                                             ? wmi_format_of(formats, (unsigned)value)
                                             : wmi_format_of_image(formats, (unsigned)value);
        wmi_format_name(&format, text, size);
        return;
    }
    default:
        break;
    }
    const char *name = wmi_meaning_name((enum wmi_meaning)field->meaning, value);
    snprintf(text, size, "%s", name ? name : "reserved");
}

void wmi_descriptor_fields(const struct wmi_descriptor_rules *rules, struct wm_descriptor *d)
{
    d->field_count = 0;
    for (const struct wmi_descriptor_field *field = wmi_fields(d->kind); field->name; field++) {
        if (!(field->layouts >> rules->layout & 1))
            continue;
        struct wm_descriptor_field *out = &d->field[d->field_count++];
        *out = (struct wm_descriptor_field){.name = field->name,
                                            .value = wmi_field_get(field, d->words),
                                            .bit = field->bit,
                                            .bits = field->bits};
        describe(rules->format, field, out->value, out->meaning, sizeof out->meaning);
    }
    /* Sort by bit position; the tables are ordered by name and generation. */
    for (size_t i = 1; i < d->field_count; i++)
        for (size_t k = i; k && d->field[k].bit < d->field[k - 1].bit; k--) {
            const struct wm_descriptor_field swapped = d->field[k];
            d->field[k] = d->field[k - 1];
            d->field[k - 1] = swapped;
        }
}
