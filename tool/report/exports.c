/* SPDX-License-Identifier: MIT */
/* The output of --exports. */
#include "tool/report/exports.h"

#include "tool/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { COMPONENTS = 4 };
static const char *const component_names[COMPONENTS] = {"x", "y", "z", "w"};

/* ---- collecting ---- */

static uint32_t component_of(const struct wm_export *export, unsigned component, unsigned lane)
{
    if (!export->compressed)
        return export->values[component][lane];
    return export->values[component / 2][lane] >> (component % 2 ? 16 : 0) & 0xffff;
}

static bool is_enabled(const struct wm_export *export, unsigned component)
{
    return export->components >> component & 1 &&
           export->values[export->compressed ? component / 2 : component] != NULL;
}

static void add_export(struct tool_exports *exports, const struct wm_event *event)
{
    const struct wm_export *export = &event->exported;
    json_t *values = json_object(), *lanes = json_array();
    for (uint64_t left = event->lanes; left; left &= left - 1)
        json_array_append_new(lanes, json_integer(__builtin_ctzll(left)));
    for (unsigned i = 0; i < COMPONENTS; i++) {
        if (!is_enabled(export, i))
            continue;
        json_t *column = json_array();
        for (uint64_t left = event->lanes; left; left &= left - 1)
            json_array_append_new(
                column, json_integer((json_int_t)component_of(export, i, (unsigned)__builtin_ctzll(left))));
        json_object_set_new(values, component_names[i], column);
    }
    json_array_append_new(
        exports->exports,
        json_pack("{s:[I,I,I], s:I, s:I, s:I, s:s, s:b, s:b, s:b, s:o, s:o, s:o}", "workgroup",
                  (json_int_t)event->workgroup[0], (json_int_t)event->workgroup[1],
                  (json_int_t)event->workgroup[2], "wave", (json_int_t)event->wave, "pc",
                  (json_int_t)event->pc, "target", (json_int_t) export->target, "name", export->name,
                  "compressed", export->compressed, "done", export->done, "valid_mask", export->valid_mask,
                  "row", export->row ? json_integer((json_int_t) export->m0) : json_null(), "lanes", lanes,
                  "values", values));
}

static void count_message(struct tool_exports *exports, const struct wm_message *message)
{
    const bool named = *message->name;
    const json_int_t id = (json_int_t)message->id;
    json_t *entry;
    size_t i;
    json_array_foreach(exports->messages, i, entry)
    {
        const bool same =
            !strcmp(json_string_value(json_object_get(entry, "name")), message->name) &&
            !strcmp(json_string_value(json_object_get(entry, "operation")), message->operation) &&
            (named || json_integer_value(json_object_get(entry, "id")) == id);
        if (!same)
            continue;
        json_t *count = json_object_get(entry, "count");
        json_integer_set(count, json_integer_value(count) + 1);
        return;
    }
    json_array_append_new(exports->messages,
                          json_pack("{s:I, s:s, s:s, s:i}", "id", id, "name", message->name, "operation",
                                    message->operation, "count", 1));
}

static void see(void *user, const struct wm_event *event)
{
    struct tool_exports *exports = user;
    if (event->kind == WM_EVENT_EXPORT)
        add_export(exports, event);
    else
        count_message(exports, &event->message);
}

void tool_exports_begin(struct tool_exports *exports)
{
    *exports = (struct tool_exports){
        .observer = {.struct_size = sizeof exports->observer,
                     .events = WM_EVENT_EXPORT | WM_EVENT_MESSAGE,
                     .user = exports,
                     .event = see},
        .exports = json_array(),
        .messages = json_array(),
    };
}

/* ---- order ---- */

static json_int_t key_of(const json_t *entry, unsigned which)
{
    return which < 3 ? json_integer_value(json_array_get(json_object_get(entry, "workgroup"), 2 - which))
                     : json_integer_value(json_object_get(entry, "wave"));
}

struct place {
    json_t *entry;
    size_t index;
};

static int by_wave(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    for (unsigned i = 0; i < 4; i++)
        if (key_of(a->entry, i) != key_of(b->entry, i))
            return key_of(a->entry, i) < key_of(b->entry, i) ? -1 : 1;
    return a->index < b->index ? -1 : 1;
}

static json_t *sorted(json_t *exports)
{
    const size_t count = json_array_size(exports);
    struct place *places = malloc((count + 1) * sizeof *places);
    json_t *list = json_array();
    if (!places)
        return exports; /* in the order in which they came */
    for (size_t i = 0; i < count; i++)
        places[i] = (struct place){json_array_get(exports, i), i};
    qsort(places, count, sizeof *places, by_wave);
    for (size_t i = 0; i < count; i++)
        json_array_append(list, places[i].entry);
    free(places);
    json_decref(exports);
    return list;
}

json_t *tool_exports_end(struct tool_exports *exports)
{
    json_t *report =
        json_pack("{s:o, s:o}", "exports", sorted(exports->exports), "messages", exports->messages);
    exports->exports = exports->messages = NULL;
    return report;
}

/* ---- text ---- */

static bool flag_of(const json_t *entry, const char *name)
{
    return json_is_true(json_object_get(entry, name));
}

/* f32 or, compressed, f16 have no type in the instruction: bits are what is known. */
static void print_lanes(FILE *file, const json_t *entry)
{
    const json_t *lanes = json_object_get(entry, "lanes"), *values = json_object_get(entry, "values"), *lane;
    const bool compressed = flag_of(entry, "compressed");
    size_t i;
    json_array_foreach(lanes, i, lane)
    {
        fprintf(file, "    lane %2lld", (long long)json_integer_value(lane));
        for (unsigned c = 0; c < COMPONENTS; c++) {
            const json_t *column = json_object_get(values, component_names[c]);
            if (column)
                fprintf(file, "  %s 0x%0*llx", component_names[c], compressed ? 4 : 8,
                        (long long)json_integer_value(json_array_get(column, i)));
        }
        fputc('\n', file);
    }
}

static void print_export(FILE *file, const json_t *entry)
{
    const char *name = json_string_value(json_object_get(entry, "name"));
    const json_t *values = json_object_get(entry, "values"), *row = json_object_get(entry, "row");
    const json_t *group = json_object_get(entry, "workgroup");
    fprintf(file, "  workgroup (%lld,%lld,%lld) wave %lld, 0x%llx: ",
            (long long)json_integer_value(json_array_get(group, 0)),
            (long long)json_integer_value(json_array_get(group, 1)),
            (long long)json_integer_value(json_array_get(group, 2)),
            (long long)json_integer_value(json_object_get(entry, "wave")),
            (long long)json_integer_value(json_object_get(entry, "pc")));
    if (*name)
        tool_print(file, "%s ", name);
    else
        fprintf(file, "target %lld ", (long long)json_integer_value(json_object_get(entry, "target")));
    for (unsigned c = 0; c < COMPONENTS; c++)
        if (json_object_get(values, component_names[c]))
            fputs(component_names[c], file);
    if (!json_object_size(values))
        fputs("off", file);
    fprintf(file, "%s%s%s", flag_of(entry, "compressed") ? " compr" : "",
            flag_of(entry, "done") ? " done" : "", flag_of(entry, "valid_mask") ? " vm" : "");
    if (json_is_integer(row))
        fprintf(file, " row 0x%llx", (long long)json_integer_value(row));
    fputc('\n', file);
    if (json_object_size(values))
        print_lanes(file, entry);
}

void tool_print_exports(FILE *file, const char *kernel, const json_t *report)
{
    const json_t *exports = json_object_get(report, "exports"),
                 *messages = json_object_get(report, "messages");
    json_t *entry;
    size_t i;
    const size_t count = json_array_size(exports);
    tool_print(file, "%s: %zu export%s\n", kernel, count, count == 1 ? "" : "s");
    json_array_foreach(exports, i, entry) print_export(file, entry);
    json_array_foreach(messages, i, entry)
    {
        const char *name = json_string_value(json_object_get(entry, "name"));
        const char *operation = json_string_value(json_object_get(entry, "operation"));
        fputs("  message ", file);
        if (*name)
            tool_print(file, "%s%s%s", name, *operation ? " " : "", operation);
        else
            fprintf(file, "%lld", (long long)json_integer_value(json_object_get(entry, "id")));
        fprintf(file, ": %lld\n", (long long)json_integer_value(json_object_get(entry, "count")));
    }
}
