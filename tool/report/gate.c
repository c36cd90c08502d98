/* SPDX-License-Identifier: MIT */
/* Conditions such as "efficiency<0.5" or "bound==memory" that fail a run when a figure of its profile meets
 * them. */
#include "tool/report/gate.h"

#include "tool/report/figures.h"
#include "tool/text.h"

#include <stdio.h>
#include <string.h>

const char tool_gates_help[] =
    "      --fail-if CONDITION  exit code 1 and a message if the condition is true:\n"
    "                         efficiency<0.5        a figure of any instruction: the keys of the columns,\n"
    "                         wait_depth_most<2     and 'gain' of the first finding that names it\n"
    "                         total.lines>1e6       a sum over all instructions\n"
    "                         occupancy<0.5         of any kernel: waves per SIMD over the maximum;\n"
    "                         waves_per_simd<4\n"
    "                         seconds>20e-6         its minimum time\n"
    "                         predicted>25e-6       its predicted time\n"
    "                         bound==memory         the part that bounds it; also bound!=memory\n"
    "                         bound.LDS>0.8         the time of a part over that of the bounding part\n"
    "                       also <= and >=; may be repeated\n";

/* ---- names ---- */

static const char gain_key[] = "gain"; /* of a row, but not a column */
static const char bound_key[] = "bound";
static const char predicted_key[] = "predicted"; /* the time, in seconds */

static const char *const of_kernels[] = {"occupancy", "waves_per_simd", "seconds", predicted_key, bound_key};
enum { OF_KERNELS = sizeof of_kernels / sizeof *of_kernels };

static bool is_one_of(const char *word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(words[i], word) == 0)
            return true;
    return false;
}

static bool is_part(const char *word)
{
    size_t count;
    const char *const *parts = wm_bound_names(&count);
    return is_one_of(word, parts, count);
}

static int wrong_part(const char *where, const char *text, const char *word)
{
    size_t count, length = 0;
    char names[240] = "";
    const char *const *parts = wm_bound_names(&count);
    for (size_t i = 0; i < count && length < sizeof names; i++)
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", i ? ", " : "", parts[i]);
    return tool_fail("%s %s: no part '%.40s'; expected one of %s", where, text, word, names);
}

/* Prints a message with up to three similar figures. */
static int wrong_figure(const char *where, const char *text, const char *word)
{
    const char *names[TOOL_FIGURES + OF_KERNELS + 1], *nearest;
    char found[3 * 48] = "";
    size_t count = 0, times = 0;
    if (is_one_of(word, of_kernels, OF_KERNELS))
        return tool_fail("%s %s: '%s' is a figure of a kernel, without a total", where, text, word);
    for (size_t i = 0; i < tool_figure_count; i++)
        names[count++] = tool_figures[i].key;
    for (size_t i = 0; i < OF_KERNELS; i++)
        names[count++] = of_kernels[i];
    names[count++] = gain_key;
    while (times < 3 && (nearest = tool_nearest(word, names, count, sizeof *names))) {
        sprintf(found + strlen(found), "%s'%.40s'", times++ ? " or " : "", nearest);
        for (size_t i = 0; i < count; i++)
            if (names[i] == nearest)
                names[i--] = names[--count];
    }
    return times
               ? tool_fail("%s %s: no figure '%s'; did you mean %s?", where, text, word, found)
               : tool_fail(
                     "%s %s: no figure '%s'; expected a column's key, such as efficiency, lines, clocks, or "
                     "a kernel's occupancy, waves_per_simd, seconds, predicted or bound",
                     where, text, word);
}

/* ---- reading ---- */

static int find_figure(struct tool_gate *gate, const char *where, const char *name)
{
    static const char total[] = "total.", part[] = "bound.";
    if (strncmp(name, total, strlen(total)) == 0) {
        gate->scope = TOOL_OF_TOTALS;
        name += strlen(total);
    } else if (strncmp(name, part, strlen(part)) == 0) {
        gate->scope = TOOL_OF_KERNELS;
        if (!is_part(name + strlen(part)))
            return wrong_part(where, gate->text, name + strlen(part));
        snprintf(gate->key, sizeof gate->key, "%s", name);
        return TOOL_CLEAN;
    } else if (is_one_of(name, of_kernels, OF_KERNELS)) {
        gate->scope = TOOL_OF_KERNELS;
    }
    const bool known = gate->scope == TOOL_OF_KERNELS || tool_find_key(name) ||
                       (gate->scope == TOOL_OF_ROWS && strcmp(name, gain_key) == 0);
    if (!known)
        return wrong_figure(where, gate->text, name);
    snprintf(gate->key, sizeof gate->key, "%s", name);
    return TOOL_CLEAN;
}

/* Reads the sign at *at and advances; false: there is none. */
static bool read_sign(const char **at, enum tool_gate_sign *sign)
{
    static const struct {
        const char *text;
        enum tool_gate_sign sign;
    } signs[] = {{"<=", TOOL_LESS_OR_EQUAL}, {">=", TOOL_MORE_OR_EQUAL}, {"==", TOOL_SAME},
                 {"!=", TOOL_OTHER},         {"<", TOOL_LESS},           {">", TOOL_MORE}};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strncmp(*at, signs[i].text, strlen(signs[i].text)) == 0) {
            *sign = signs[i].sign;
            *at += strlen(signs[i].text);
            return true;
        }
    return false;
}

int tool_gates_add(struct tool_gates *gates, const char *where, const char *text)
{
    if (gates->count == TOOL_GATES)
        return tool_fail("%s %s: more than %d conditions", where, text, TOOL_GATES);
    struct tool_gate gate = {.text = text};
    char name[40];
    const size_t length = strcspn(text, "<>=!");
    const char *at = text + length;
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), text);
    const bool sign = read_sign(&at, &gate.sign);
    const bool words = gate.sign == TOOL_SAME || gate.sign == TOOL_OTHER;
    const int code = sign ? find_figure(&gate, where, name) : TOOL_CLEAN;
    if (code != TOOL_CLEAN)
        return code;
    if (sign && strcmp(gate.key, bound_key) == 0) {
        gate.word = at;
        if (!words)
            return tool_fail("%s %s: expected bound==PART or bound!=PART", where, text);
        if (!is_part(at))
            return wrong_part(where, text, at);
    } else if (!sign || words || !tool_parse_real(at, &gate.number)) {
        return tool_fail("%s %s: expected FIGURE<NUMBER, or with <=, > or >=; or bound==PART", where, text);
    }
    gates->gate[gates->count++] = gate;
    return TOOL_CLEAN;
}

/* ---- evaluating ---- */

bool tool_json_figure(const json_t *object, const char *key, double *value)
{
    const json_t *figure = json_object_get(object, key);
    if (!json_is_number(figure))
        return false;
    *value = json_number_value(figure);
    return true;
}

json_t *tool_kernel_figures(const json_t *kernel)
{
    json_t *figures = json_object(), *bound;
    const json_t *occupancy = json_object_get(kernel, "occupancy"), *binds = json_object_get(kernel, "binds");
    double waves, most, predicted, seconds = 0, longest = 0;
    size_t index;
    json_object_set(figures, "kernel", json_object_get(kernel, "kernel"));
    if (tool_json_figure(occupancy, "waves_per_simd", &waves) &&
        tool_json_figure(occupancy, "waves_per_simd_most", &most) && most > 0) {
        json_object_set_new(figures, "waves_per_simd", json_real(waves));
        json_object_set_new(figures, "occupancy", json_real(waves / most));
    }
    if (tool_json_figure(json_object_get(kernel, "predicted"), "seconds", &predicted))
        json_object_set_new(figures, predicted_key, json_real(predicted));
    if (!json_is_string(binds))
        return figures;
    json_object_set(figures, bound_key, (json_t *)binds);
    json_array_foreach(json_object_get(kernel, "bounds"), index,
                       bound) if (json_equal(json_object_get(bound, "part"), binds))
        tool_json_figure(bound, "seconds", &longest);
    json_object_set_new(figures, "seconds", json_real(longest));
    size_t parts;
    const char *const *names = wm_bound_names(&parts);
    for (size_t i = 0; i < parts && longest > 0; i++) { /* a part without work has no time */
        char key[32];
        seconds = 0;
        json_array_foreach(json_object_get(kernel, "bounds"), index, bound)
        {
            const char *part = json_string_value(json_object_get(bound, "part"));
            if (part && strcmp(part, names[i]) == 0)
                tool_json_figure(bound, "seconds", &seconds);
        }
        snprintf(key, sizeof key, "bound.%s", names[i]);
        json_object_set_new(figures, key, json_real(seconds / longest));
    }
    return figures;
}

static bool fails(const struct tool_gate *gate, const json_t *figures)
{
    double value;
    const char *word = json_string_value(json_object_get(figures, gate->key));
    if (gate->word)
        return word && (strcmp(word, gate->word) == 0) == (gate->sign == TOOL_SAME);
    if (!tool_json_figure(figures, gate->key, &value))
        return false;
    switch (gate->sign) {
    case TOOL_LESS:
        return value < gate->number;
    case TOOL_LESS_OR_EQUAL:
        return value <= gate->number;
    case TOOL_MORE:
        return value > gate->number;
    default:
        return value >= gate->number;
    }
}

static void ask(const struct tool_gate *gate, json_t *failed, const json_t *figures)
{
    if (fails(gate, figures))
        json_array_append_new(failed, json_pack("{s:s, s:O?, s:O?, s:O?, s:O}", "condition", gate->text,
                                                "kernel", json_object_get(figures, "kernel"), "offset",
                                                json_object_get(figures, "offset"), "text",
                                                json_object_get(figures, "text"), "value",
                                                json_object_get(figures, gate->key)));
}

json_t *tool_gates_failed(const struct tool_gates *gates, const struct tool_gated *gated)
{
    json_t *failed = json_array(), *object;
    size_t index;
    for (size_t i = 0; i < gates->count; i++) {
        const struct tool_gate *gate = &gates->gate[i];
        if (gate->scope == TOOL_OF_TOTALS)
            ask(gate, failed, gated->totals);
        else
            json_array_foreach(gate->scope == TOOL_OF_ROWS ? gated->rows : gated->kernels, index, object)
                ask(gate, failed, object);
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
        const char *text = json_string_value(json_object_get(object, "text"));
        const json_t *value = json_object_get(object, "value");
        tool_print(stderr,
                   "wavemem: --fail-if %s: ", json_string_value(json_object_get(object, "condition")));
        if (json_is_string(value))
            tool_print(stderr, "it is %s", json_string_value(value));
        else
            fprintf(stderr, "%.6g", json_number_value(value));
        if (kernel && text)
            tool_print(stderr, " at %s+0x%llx  %s", kernel,
                       (unsigned long long)json_integer_value(json_object_get(object, "offset")), text);
        else if (kernel)
            tool_print(stderr, " of %s", kernel);
        fputc('\n', stderr);
    }
    return json_array_size(failed) ? tool_worse(code, TOOL_FINDINGS) : code;
}
