/* SPDX-License-Identifier: MIT */
/* Prints steps, with names for locations in the frame. */
#include "lower/step_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* Output buffer. */
struct out {
    char *text;
    size_t size, length;
};

static __attribute__((format(printf, 2, 3))) void put(struct out *o, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const size_t left = o->length < o->size ? o->size - o->length : 0;
    const int written = vsnprintf(left ? o->text + o->length : NULL, left, format, arguments);
    va_end(arguments);
    if (written > 0)
        o->length += (size_t)written;
}

static void put_scalar(struct out *o, uint32_t slot)
{
    static const struct {
        uint32_t slot;
        const char *name;
    } names[] = {
        {WMI_S_VCC, "vcc"},
        {WMI_S_VCC + 1, "vcc_hi"},
        {WMI_S_M0, "m0"},
        {WMI_S_EXEC, "exec"},
        {WMI_S_EXEC + 1, "exec_hi"},
        {WMI_S_NULL, "null"},
        {WMI_S_FLAT_SCRATCH, "flat_scratch"},
        {WMI_S_FLAT_SCRATCH + 1, "flat_scratch_hi"},
        {WMI_S_XNACK_MASK, "xnack_mask"},
        {WMI_S_XNACK_MASK + 1, "xnack_mask_hi"},
        {WMI_S_SHARED_BASE, "shared_base"},
        {WMI_S_SHARED_LIMIT, "shared_limit"},
        {WMI_S_PRIVATE_BASE, "private_base"},
        {WMI_S_PRIVATE_LIMIT, "private_limit"},
        {WMI_S_VCCZ, "vccz"},
        {WMI_S_EXECZ, "execz"},
        {WMI_S_SCC, "scc"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].slot == slot) {
            put(o, "%s", names[i].name);
            return;
        }
    if (slot >= WMI_S_TTMP && slot < WMI_S_M0)
        put(o, "ttmp%u", slot - WMI_S_TTMP);
    else
        put(o, "s%u", slot);
}

static void put_row(struct out *o, const struct wmi_code *code, uint32_t offset)
{
    const uint32_t row_bytes = code->row_bytes, first = (uint32_t)offsetof(struct wmi_frame, rows);
    if (offset < code->vgpr_offset) {
        put(o, "t%u", (offset - first) / row_bytes);
        return;
    }
    if (offset < code->constant_offset) {
        const uint32_t reg = (offset - code->vgpr_offset) / row_bytes, vgprs = code->options.vgprs;
        put(o, "%c%u", reg < vgprs ? 'v' : 'a', reg < vgprs ? reg : reg - vgprs);
        return;
    }
    for (unsigned i = 0; i < code->vector_constants; i++)
        if (code->vector_constant[i].offset == offset) {
            put(o, "#0x%" PRIx64, code->vector_constant[i].value);
            return;
        }
    put(o, "?");
}

/* Prints the name of the location at a byte offset in the frame. */
static void put_place(struct out *o, const struct wmi_code *code, uint32_t offset)
{
    const uint32_t constants = (uint32_t)offsetof(struct wmi_frame, constant);
    const uint32_t sets = (uint32_t)offsetof(struct wmi_frame, lanes);
    if (offset < constants) {
        put_scalar(o, offset / 4);
    } else if (offset < offsetof(struct wmi_frame, exec)) {
        const uint32_t slot = (offset - constants) / 8;
        if (slot < code->scalar_constants)
            put(o, "#0x%" PRIx64, code->scalar_constant[slot]);
        else
            put(o, "temporary%u", slot - WMI_CODE_SCALARS);
    } else if (offset == offsetof(struct wmi_frame, exec)) {
        put(o, "exec");
    } else if (offset == offsetof(struct wmi_frame, first)) {
        put(o, "lane0");
    } else if (offset < offsetof(struct wmi_frame, first)) {
        put(o, "set%u", (unsigned)((offset - sets) / sizeof(struct wmi_lanes)));
    } else {
        put_row(o, code, offset);
    }
}

void wmi_step_text(const struct wmi_code *code, const struct wmi_step *step, char *text, size_t size)
{
    static const char letters[WMI_STEP_OPERANDS] = {'d', 'a', 'b', 'c', 'e', 'x', 'y'};
    const uint32_t values[WMI_STEP_OPERANDS] = {step->d, step->a, step->b, step->c,
                                                step->e, step->x, step->y};
    struct out o = {text, size, 0};
    if (size)
        text[0] = 0;
    put(&o, "%s", wmi_step_facts_of((enum wmi_step_id)step->id).name);
    for (unsigned i = 0; i < WMI_STEP_OPERANDS; i++) {
        if (step->use[i] != WMI_USE_NONE) {
            put(&o, " %c%s", letters[i], step->use[i] & WMI_USE_WRITE ? "<-" : "=");
            put_place(&o, code, values[i]);
        } else if (values[i]) {
            put(&o, " %c=%u", letters[i], values[i]);
        }
    }
    if (step->lanes != offsetof(struct wmi_frame, exec)) {
        put(&o, " lanes=");
        put_place(&o, code, step->lanes);
    }
}
