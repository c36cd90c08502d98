/* SPDX-License-Identifier: MIT */
/* Warnings about suspicious descriptors, with the behaviour of the hardware. */
#include "base/text.h"
#include "memory/buffer.h"
#include "memory/descriptor.h"
#include "memory/format.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct check {
    struct wm_descriptor *descriptor;
    enum wmi_descriptor_layout layout;
    const struct wmi_buffer_rules *rules;
    const struct wmi_format_rules *formats;
};

__attribute__((format(printf, 2, 3))) static void warn(struct check *c, const char *format, ...)
{
    struct wm_descriptor *d = c->descriptor;
    if (d->warning_count == WM_DESCRIPTOR_WARNINGS)
        return;
    va_list list;
    va_start(list, format);
    wmi_format_list(d->warning[d->warning_count++], sizeof d->warning[0], format, list);
    va_end(list);
}

static bool has(const struct check *c, const char *name)
{
    return wmi_field_find(c->layout, c->descriptor->kind, name) != NULL;
}

/* The value of a field; 0 if the layout does not have it. */
static uint64_t get(const struct check *c, const char *name)
{
    const struct wmi_descriptor_field *field = wmi_field_find(c->layout, c->descriptor->kind, name);
    return field ? wmi_field_get(field, c->descriptor->words) : 0;
}

static bool all_zero(const struct check *c)
{
    uint32_t any = 0;
    for (unsigned i = 0; i < c->descriptor->word_count; i++)
        any |= c->descriptor->words[i];
    return !any;
}

static void check_reserved(struct check *c)
{
    const struct wm_descriptor *d = c->descriptor;
    uint32_t left[WM_DESCRIPTOR_WORDS];
    memcpy(left, d->words, sizeof left);
    for (size_t i = 0; i < d->field_count; i++) {
        const struct wmi_descriptor_field field = {.bit = (uint8_t)d->field[i].bit,
                                                   .bits = (uint8_t)d->field[i].bits};
        if (d->field[i].bit / 32 < d->word_count)
            wmi_field_set(&field, left, 0);
        if (!strcmp(d->field[i].meaning, "reserved"))
            warn(c, "%s %" PRIu64 " is reserved: what the hardware does is not documented", d->field[i].name,
                 d->field[i].value);
    }
    for (unsigned i = 0; i < d->word_count; i++)
        if (left[i])
            warn(c, "word %u has reserved bits set: 0x%08" PRIx32 "; they should be 0", i, left[i]);
}

static void check_buffer_format(struct check *c, const struct wmi_buffer *b)
{
    const bool unified = has(c, "FORMAT");
    const struct wmi_format format =
        wmi_format_of(c->formats, wmi_format_code_of(c->formats, c->descriptor->words[3]));
    const unsigned bytes = format.layout->bytes;
    if (b->add_tid && c->rules->wide_stride) {
        if (get(c, "DATA_FORMAT"))
            warn(c,
                 "ADD_TID_ENABLE makes DATA_FORMAT the upper bits of STRIDE in plain instructions: %" PRIu32
                 " bytes",
                 b->stride);
        return;
    }
    if (!format.layout->components) {
        const char *data = wmi_meaning_name(WMI_MEANING_DATA_FORMAT, get(c, "DATA_FORMAT"));
        if (!unified && get(c, "DATA_FORMAT") && data)
            warn(c,
                 "there is no %s of %s: format loads return 0, format stores are dropped (unverified); plain "
                 "instructions do not look at it",
                 wmi_meaning_name(WMI_MEANING_NUMBER_FORMAT, get(c, "NUM_FORMAT")), data);
        else
            warn(c,
                 "%s is INVALID: format loads return 0, format stores are dropped; plain instructions do not "
                 "look at it",
                 unified ? "FORMAT" : "DATA_FORMAT");
        return;
    }
    if (b->stride && b->stride < bytes)
        warn(c,
             "STRIDE %" PRIu32
             " is less than the %u bytes of the format: elements reach into the next record",
             b->stride, bytes);
    if (b->stride % (bytes < 4 ? bytes : 4))
        warn(c,
             "STRIDE %" PRIu32
             " is no multiple of the format's alignment, %u: in alignment mode DWORD addresses "
             "lose their low bits, in strict ones that is a violation",
             b->stride, bytes < 4 ? bytes : 4);
}

static void check_swizzle(struct check *c, const struct wmi_buffer *b)
{
    if (!b->swizzle) {
        if (wmi_buffer_swizzle_enable(c->rules, c->descriptor->words))
            warn(c, "SWIZZLE_ENABLE has no effect without ADD_TID_ENABLE: the buffer is linear");
        return;
    }
    if (!b->stride && !b->add_tid)
        warn(c, "swizzled with STRIDE 0: records %" PRIu32 " apart share their bytes", b->index_stride);
    else if (b->stride % b->element_size)
        warn(c,
             "STRIDE %" PRIu32 " is no multiple of the swizzle's elements of %" PRIu32
             " bytes: the last element of a record overlaps the next %" PRIu32 " records",
             b->stride, b->element_size, b->index_stride);
}

static void check_range(struct check *c, const struct wmi_buffer *b)
{
    const bool selects = c->rules->check == WMI_BUFFER_CHECK_SELECT;
    if (!b->records)
        warn(c,
             "NUM_RECORDS is 0: everything is out of range%s; loads return 0 (1 where DST_SEL is 1), stores "
             "and atomics are dropped",
             c->rules->private_unchecked && b->add_tid
                 ? " but accesses without an index, which are not checked"
                 : "");
    if (selects && b->select == WMI_BUFFER_STRUCTURED && !b->stride)
        warn(c, "OOB_SELECT 0 with STRIDE 0: no offset is below STRIDE, so everything is out of range");
    if (selects && b->select == WMI_BUFFER_EMPTY_ONLY && b->records && !b->add_tid)
        warn(c, "OOB_SELECT 2: nothing is checked as long as NUM_RECORDS is not 0");
    if (c->rules->check == WMI_BUFFER_CHECK_SWIZZLE && b->stride && !b->swizzle)
        warn(c, "NUM_RECORDS counts bytes for vector instructions, as SWIZZLE_ENABLE is off, and records for "
                "scalar ones");
    if (c->rules->check == WMI_BUFFER_CHECK_IDXEN && b->stride && !b->add_tid)
        warn(c,
             "NUM_RECORDS counts records for instructions with idxen and for scalar ones, bytes for others");
    if ((b->base & 0xffffffffffff) + b->records > 1ULL << 48)
        warn(c, "the buffer ends above 2^48, where there are no addresses");
}

static void check_buffer(struct check *c)
{
    const bool add_tid = get(c, "ADD_TID_ENABLE");
    const struct wmi_buffer b = wmi_buffer_decode(c->rules, c->descriptor->words, true, !add_tid);
    if (all_zero(c)) {
        warn(c, "all words are 0, an unbound buffer: loads return 0, stores and atomics are dropped");
        return;
    }
    if (get(c, "TYPE"))
        warn(c, "TYPE is %" PRIu64 ", that of a buffer is 0: buffer instructions take it for none",
             get(c, "TYPE"));
    if (has(c, "RESOURCE_LEVEL") && !get(c, "RESOURCE_LEVEL"))
        warn(c, "RESOURCE_LEVEL is 0; it must be 1");
    check_buffer_format(c, &b);
    check_swizzle(c, &b);
    check_range(c, &b);
}

static void check_image(struct check *c)
{
    const uint64_t type = get(c, "TYPE"), first = get(c, "BASE_LEVEL"), last = get(c, "LAST_LEVEL");
    if (all_zero(c)) {
        warn(c, "all words are 0, an unbound image: loads return 0, stores and atomics are dropped");
        return;
    }
    if (type < 8)
        warn(c, "TYPE is %" PRIu64 "; those of images are 8 to 15", type);
    if (!get(c, has(c, "FORMAT") ? "FORMAT" : "DATA_FORMAT"))
        warn(c, "the format is INVALID: loads return 0, stores are dropped");
    if (has(c, "RESOURCE_LEVEL") && !get(c, "RESOURCE_LEVEL"))
        warn(c, "RESOURCE_LEVEL is 0; it must be 1");
    const bool samples = type >= 14; /* multisampled: LAST_LEVEL is log2(samples) */
    if (!samples && first > last)
        warn(c, "BASE_LEVEL %" PRIu64 " is above LAST_LEVEL %" PRIu64, first, last);
    if (!samples && has(c, "MAX_MIP") && last > get(c, "MAX_MIP"))
        warn(c, "LAST_LEVEL %" PRIu64 " is above MAX_MIP %" PRIu64 ", the last level that there is", last,
             get(c, "MAX_MIP"));
    if (has(c, "LAST_ARRAY") && get(c, "BASE_ARRAY") > get(c, "LAST_ARRAY"))
        warn(c, "BASE_ARRAY %" PRIu64 " is above LAST_ARRAY %" PRIu64, get(c, "BASE_ARRAY"),
             get(c, "LAST_ARRAY"));
    if (has(c, "PITCH") && get(c, "PITCH") < get(c, "WIDTH") && has(c, "LAST_ARRAY"))
        warn(c, "PITCH %" PRIu64 " is less than WIDTH %" PRIu64 ": rows overlap", get(c, "PITCH") + 1,
             get(c, "WIDTH") + 1);
    if (get(c, "COMPRESSION_EN") && !has(c, "COMPRESSION_ACCESS_MODE")) /* see refusal() in image.c */
        warn(c, "the image may be compressed (DCC, HTILE); wavemem refuses to access it");
}

static void check_sampler(struct check *c)
{
    if (get(c, "MIN_LOD") > get(c, "MAX_LOD"))
        warn(c, "MIN_LOD is above MAX_LOD");
    if ((get(c, "XY_MAG_FILTER") | get(c, "XY_MIN_FILTER")) & 2 && !get(c, "MAX_ANISO_RATIO"))
        warn(c, "an anisotropic filter with MAX_ANISO_RATIO 1 : 1 takes one sample");
    if (get(c, "BORDER_COLOR_PTR") && get(c, "BORDER_COLOR_TYPE") != 3)
        warn(c, "BORDER_COLOR_PTR counts with BORDER_COLOR_TYPE REGISTER only");
}

void wmi_descriptor_check(const struct wmi_descriptor_rules *rules, struct wm_descriptor *descriptor)
{
    static void (*const checks[])(struct check *) = {[WM_DESCRIPTOR_BUFFER] = check_buffer,
                                                     [WM_DESCRIPTOR_IMAGE] = check_image,
                                                     [WM_DESCRIPTOR_SAMPLER] = check_sampler};
    struct check c = {
        .descriptor = descriptor, .layout = rules->layout, .rules = rules->buffer, .formats = rules->format};
    descriptor->warning_count = 0;
    check_reserved(&c);
    checks[descriptor->kind](&c);
}
