/* SPDX-License-Identifier: MIT */
/* The public API of descriptors: a target's tables applied to words or fields. */
#include "memory/descriptor.h"

#include "base/diag.h"
#include "isa/isa.h"
#include "memory/buffer.h"
#include "memory/format.h"

#include <inttypes.h>
#include <string.h>

/* Finds the target's rules for descriptors; fails if it has none of `kind`. */
static enum wm_status find_rules(const char *name, enum wm_descriptor_kind kind,
                                 struct wmi_descriptor_rules *rules, struct wm_diag *diag)
{
    static const char *const kinds[] = {[WM_DESCRIPTOR_BUFFER] = "buffer",
                                        [WM_DESCRIPTOR_IMAGE] = "image",
                                        [WM_DESCRIPTOR_SAMPLER] = "sampler"};
    const struct wmi_target *target = wmi_target_find(name);
    if (!target)
        return wmi_fail(diag, WM_NOT_FOUND, "%s: not a target that wavemem knows; expected one like gfx900",
                        name ? name : "(null)");
    if ((unsigned)kind > WM_DESCRIPTOR_SAMPLER)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "descriptor kind %u: there are buffers, images and samplers",
                        (unsigned)kind);
    rules->layout = (enum wmi_descriptor_layout)wmi_target_limit(target, WMI_LIMIT_descriptors);
    rules->buffer = wmi_buffer_rules(wmi_target_limit(target, WMI_LIMIT_buffer_rules));
    rules->format = wmi_format_rules(wmi_target_limit(target, WMI_LIMIT_format_rules));
    if (!rules->buffer || !rules->format || !wmi_descriptor_words(rules->layout, kind))
        return wmi_fail(diag, WM_UNSUPPORTED, "%s has no %s descriptors", wmi_target_name(target),
                        kinds[kind]);
    return WM_OK;
}

enum wm_status wm_descriptor_decode(const char *target, enum wm_descriptor_kind kind, const uint32_t *words,
                                    size_t count, struct wm_descriptor *descriptor, struct wm_diag *diag)
{
    struct wmi_descriptor_rules rules = {0};
    const enum wm_status status = find_rules(target, kind, &rules, diag);
    if (status)
        return status;
    const unsigned wanted = wmi_descriptor_words(rules.layout, kind);
    if (!words || !descriptor)
        return wmi_null(diag, __func__, words ? "descriptor" : "words");
    if (count != wanted)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "%zu words, expected %u", count, wanted);
    memset(descriptor, 0, sizeof *descriptor);
    descriptor->kind = kind;
    descriptor->word_count = wanted;
    memcpy(descriptor->words, words, 4 * count);
    wmi_descriptor_fields(&rules, descriptor);
    wmi_descriptor_check(&rules, descriptor);
    return WM_OK;
}

enum wm_status wm_descriptor_encode(const char *target, enum wm_descriptor_kind kind,
                                    const struct wm_descriptor_field *fields, size_t count,
                                    struct wm_descriptor *descriptor, struct wm_diag *diag)
{
    uint32_t words[WM_DESCRIPTOR_WORDS] = {0};
    struct wmi_descriptor_rules rules = {0};
    const enum wm_status status = find_rules(target, kind, &rules, diag);
    if (status)
        return status;
    if (!descriptor)
        return wmi_null(diag, __func__, "descriptor");
    for (size_t i = 0; i < count; i++) {
        if (!fields || !fields[i].name)
            return wmi_null(diag, __func__, fields ? "a field's name" : "fields");
        const struct wmi_descriptor_field *field = wmi_field_find(rules.layout, kind, fields[i].name);
        if (!field)
            return wmi_fail(diag, WM_NOT_FOUND, "%s: no field of that name on %s", fields[i].name, target);
        if (field->bits < 64 && fields[i].value >> field->bits)
            return wmi_fail(diag, WM_BAD_ARGUMENT, "%s=0x%" PRIx64 ": the field has %u bits", field->name,
                            fields[i].value, field->bits);
        wmi_field_set(field, words, fields[i].value);
    }
    return wm_descriptor_decode(target, kind, words, wmi_descriptor_words(rules.layout, kind), descriptor,
                                diag);
}
