/* SPDX-License-Identifier: MIT */
/* Variables of code objects: --symbol and symbol:NAME. */
#include "tool/arguments/buffers.h"
#include "tool/arguments/job.h"
#include "tool/arguments/places.h"
#include "tool/tool.h"

#include <stdlib.h>
#include <string.h>

static bool read_array(struct tool_setting *setting, struct wm_diag *diag)
{
    const char *text = setting->pair->value;
    const uint64_t wanted = tool_array_size(&setting->buffer->array);
    struct tool_array *array = &setting->array;
    const struct tool_type *type = tool_type_named(text, strcspn(text, ":")); /* "f32:1,2" */
    if (tool_array_looks_like(text)) {
        if (!tool_array_parse(text, array, diag))
            return false;
        const uint64_t size = tool_array_size(array);
        if (size != wanted)
            return tool_because(diag, "%llu byte%s given; the symbol has %llu", (unsigned long long)size,
                                size == 1 ? "" : "s", (unsigned long long)wanted);
        type = array->type;
    } else {
        *array = (struct tool_array){.kind = TOOL_BYTES, .count = wanted, .spec = text};
        if (wanted > UINT32_MAX || !tool_read_value(text, (uint32_t)wanted, &array->bytes, diag))
            return false;
        array->owned = array->bytes;
    }
    if (type && !setting->buffer->array.type) /* for --out and --expect */
        tool_array_adopt(&setting->buffer->array, type);
    return true;
}

int tool_check_symbols(struct tool_job *job, size_t index)
{
    struct tool_dispatch *d = &job->dispatches[index];
    struct wm_diag diag;
    d->settings = calloc(d->symbols.count + 1, sizeof *d->settings);
    if (!d->settings)
        return tool_fail("out of memory");
    for (size_t i = 0; i < d->symbols.count; i++) {
        const struct tool_pair *pair = &d->symbols.pairs[i];
        struct tool_setting *setting = &d->settings[i];
        setting->pair = pair;
        if (!tool_find_symbol(job, d->object, pair->key, &setting->buffer, &diag) ||
            !read_array(setting, &diag))
            return tool_fail("%s--symbol %s: %s", d->where, pair->key, diag.message);
    }
    return TOOL_CLEAN;
}

bool tool_write_symbols(struct tool_job *job, size_t index, struct wm_machine *machine, struct wm_diag *diag)
{
    const struct tool_dispatch *d = &job->dispatches[index];
    struct tool_scope scope = {job, index, machine};
    for (size_t i = 0; i < d->symbols.count; i++) {
        const struct tool_setting *setting = &d->settings[i];
        struct wm_diag why;
        if (!tool_allocate(machine, setting->buffer, &why) ||
            !tool_write_array(&scope, &setting->array, setting->buffer->address, &why))
            return tool_because(diag, "--symbol %s: %s", setting->pair->key, why.message);
    }
    return true;
}
