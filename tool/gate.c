/* SPDX-License-Identifier: MIT */
/* Conditions such as "efficiency<0.5" that fail a run when a figure of its profile meets them. */
#include "gate.h"

#include "figures.h"

#include <stdio.h>
#include <string.h>

/* The key of a figure; NULL: there is none. */
static const char *find_figure(const char *name, size_t length)
{
    for (size_t i = 0; i < tool_figure_count; i++)
        if (strlen(tool_figures[i].key) == length && memcmp(tool_figures[i].key, name, length) == 0)
            return tool_figures[i].key;
    return NULL;
}

static int wrong_figure(const char *where, const char *text, const char *name, size_t length)
{
    char word[40];
    const size_t kept = length < sizeof word ? length : sizeof word - 1;
    memcpy(word, name, kept);
    word[kept] = '\0';
    const char *nearest = tool_nearest(word, &tool_figures[0].key, tool_figure_count, sizeof *tool_figures);
    return nearest ? tool_fail("%s %s: no figure '%s'; did you mean '%s'?", where, text, word, nearest)
                   : tool_fail(
                         "%s %s: no figure '%s'; expected one of a row's, such as efficiency, lines, clocks",
                         where, text, word);
}

int tool_gates_add(struct tool_gates *gates, const char *where, const char *text)
{
    if (gates->count == TOOL_GATES)
        return tool_fail("%s %s: more than %d conditions", where, text, TOOL_GATES);
    struct tool_gate gate = {.text = text, .total = strncmp(text, "total.", 6) == 0};
    const char *name = text + (gate.total ? 6 : 0);
    const size_t length = strcspn(name, "<>");
    const char *at = name + length;
    gate.key = find_figure(name, length);
    if (*at && !gate.key)
        return wrong_figure(where, text, name, length);
    gate.sign = *at == '<' ? -1 : 1;
    at += *at != '\0';
    gate.or_equal = *at == '=';
    at += gate.or_equal;
    if (!gate.key || !tool_parse_real(at, &gate.number))
        return tool_fail("%s %s: expected FIGURE<NUMBER, or with <=, > or >=", where, text);
    gates->gate[gates->count++] = gate;
    return TOOL_CLEAN;
}

bool tool_json_figure(const json_t *object, const char *key, double *value)
{
    const json_t *figure = json_object_get(object, key);
    if (!json_is_number(figure))
        return false;
    *value = json_number_value(figure);
    return true;
}

static bool fails(const struct tool_gate *gate, double value)
{
    return (gate->or_equal && value == gate->number) ||
           (gate->sign < 0 ? value < gate->number : value > gate->number);
}

static void ask(const struct tool_gate *gate, json_t *failed, json_t *figures)
{
    double value;
    if (!tool_json_figure(figures, gate->key, &value) || !fails(gate, value))
        return;
    json_t *object =
        json_pack("{s:s, s:O?, s:O?, s:O?, s:f}", "condition", gate->text, "kernel",
                  json_object_get(figures, "kernel"), "offset", json_object_get(figures, "offset"), "text",
                  json_object_get(figures, "text"), "value", value);
    json_array_append_new(failed, object);
}

json_t *tool_gates_failed(const struct tool_gates *gates, const json_t *rows, json_t *totals)
{
    json_t *failed = json_array(), *row;
    size_t index;
    for (size_t i = 0; i < gates->count; i++) {
        if (gates->gate[i].total)
            ask(&gates->gate[i], failed, totals);
        else
            json_array_foreach(rows, index, row) ask(&gates->gate[i], failed, row);
    }
    return failed;
}

int tool_gates_report(const json_t *failed, int code)
{
    json_t *object;
    size_t index;
    json_array_foreach(failed, index, object)
    {
        const char *kernel = json_string_value(json_object_get(object, "kernel"));
        const char *condition = json_string_value(json_object_get(object, "condition"));
        const double value = json_number_value(json_object_get(object, "value"));
        if (kernel)
            fprintf(stderr, "wavemem: --fail-if %s: %.6g at %s+0x%llx  %s\n", condition, value, kernel,
                    (unsigned long long)json_integer_value(json_object_get(object, "offset")),
                    json_string_value(json_object_get(object, "text")));
        else
            fprintf(stderr, "wavemem: --fail-if %s: %.6g\n", condition, value);
    }
    return code == TOOL_CLEAN && json_array_size(failed) ? TOOL_FINDINGS : code;
}
