/* SPDX-License-Identifier: MIT */
/* Formats as the public API tells of them: what an element becomes in registers, and the other way. */
#include "memory/format.h"

#include "base/diag.h"
#include "isa/isa.h"
#include "isa/tables.h"
#include "wavemem/wavemem.h"

#include <stdio.h>
#include <string.h>

static const char *const formulas[WMI_NUMBER_COUNT] = {
    [WMI_NUMBER_UNORM] = "x / (2^n - 1)",
    [WMI_NUMBER_SNORM] = "x / (2^(n-1) - 1), not below -1",
    [WMI_NUMBER_USCALED] = "x as a float",
    [WMI_NUMBER_SSCALED] = "x, signed, as a float",
    [WMI_NUMBER_UINT] = "x",
    [WMI_NUMBER_SINT] = "x, signed",
    [WMI_NUMBER_SNORM_OGL] = "(2x + 1) / (2^n - 1)",
    [WMI_NUMBER_FLOAT] = "a float of n bits",
    [WMI_NUMBER_SRGB] = "the sRGB curve at x / (2^n - 1)",
};

static enum wm_status find(const char *target_name, const char *layout, const char *number,
                           struct wmi_format *format, struct wm_format_answer *answer, struct wm_diag *diag)
{
    const struct wmi_target *target = wmi_target_find(target_name);
    if (!target)
        return wmi_fail(diag, WM_BAD_ARGUMENT,
                        "'%s': not a target that wavemem knows; expected one like gfx900",
                        target_name ? target_name : "");
    const struct wmi_format_rules *rules = wmi_format_rules(target->limits[WMI_LIMIT_format_rules]);
    if (!wmi_format_find(rules, layout, number, &answer->code))
        return wmi_fail(diag, WM_NOT_FOUND,
                        "'%s%s%s': %s has no such buffer format; expected one like 8_8_8_8 UNORM", layout,
                        number ? " " : "", number ? number : "", target_name);
    *format = wmi_format_of(rules, answer->code);
    wmi_format_name(format, answer->name, sizeof answer->name);
    answer->formula = formulas[format->number];
    answer->unified = wmi_format_unified(rules);
    answer->bytes = format->layout->bytes;
    answer->components = format->layout->components;
    answer->integer = format->number == WMI_NUMBER_UINT || format->number == WMI_NUMBER_SINT;
    answer->is_signed = format->number == WMI_NUMBER_SINT;
    answer->unsigned_alpha = format->unsigned_alpha;
    return WM_OK;
}

static void take_apart(const struct wmi_format *format, struct wm_format_answer *answer)
{
    for (unsigned i = 0; i < answer->components; i++) {
        struct wm_format_component *c = &answer->component[i];
        c->bits = format->layout->bits[i];
        c->shift = format->layout->shift[i];
        c->raw = answer->element[c->shift / 32] >> c->shift % 32 & (uint32_t)((1ULL << c->bits) - 1);
    }
}

enum wm_status wm_format_load(const char *target, const char *layout, const char *number,
                              const uint32_t element[4], struct wm_format_answer *answer,
                              struct wm_diag *diag)
{
    struct wmi_format format;
    if (!layout || !element || !answer)
        return wmi_null(diag, __func__, !layout ? "layout" : element ? "answer" : "element");
    *answer = (struct wm_format_answer){0};
    const enum wm_status status = find(target, layout, number, &format, answer, diag);
    if (status)
        return status;
    memcpy(answer->element, element, answer->bytes);
    wmi_format_load(&format, (const unsigned char *)answer->element, false, answer->value);
    take_apart(&format, answer);
    return WM_OK;
}

enum wm_status wm_format_store(const char *target, const char *layout, const char *number,
                               const uint32_t value[4], struct wm_format_answer *answer, struct wm_diag *diag)
{
    struct wmi_format format;
    if (!layout || !value || !answer)
        return wmi_null(diag, __func__, !layout ? "layout" : value ? "answer" : "value");
    *answer = (struct wm_format_answer){0};
    const enum wm_status status = find(target, layout, number, &format, answer, diag);
    if (status)
        return status;
    memcpy(answer->value, value, sizeof answer->value);
    wmi_format_store(&format, value, false, (unsigned char *)answer->element);
    take_apart(&format, answer);
    return WM_OK;
}
