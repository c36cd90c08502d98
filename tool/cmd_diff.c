/* SPDX-License-Identifier: MIT */
/* wavemem diff: compares two reports of `wavemem prof`, instruction by instruction. */
#include "tool/output.h"
#include "tool/report/document.h"
#include "tool/report/figures.h"
#include "tool/report/gate.h"
#include "tool/report/summary.h"
#include "tool/report/table.h"
#include "tool/text.h"
#include "tool/tool.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: wavemem diff OLD.json NEW.json [--all] [--fail-if FIGURE<RATIO] [--json[=FILE]]\n"
    "\n"
    "Shows which instructions cost more or less in NEW than in OLD; both are reports of 'wavemem prof "
    "--json'.\n"
    "\n"
    "The effect of a change:\n"
    "  wavemem prof ... --json=old.json     # before\n"
    "  wavemem prof ... --json=new.json     # after\n"
    "  wavemem diff old.json new.json\n"
    "A test that allows at most 5 % more cache lines in total:\n"
    "  wavemem diff old.json new.json --fail-if 'total.lines>1.05'\n"
    "\n"
    "Instructions are paired by kernel, offset and text, the remaining ones by kernel, source line and\n"
    "mnemonic, then by kernel and mnemonic, then by kernel, path and operation ('was' shows the old\n"
    "mnemonic), in order of their offsets. If each report has one kernel, its name does not matter.\n"
    "For each kernel, the bound before and after comes first, and which causes are gone, remain or are new: "
    "the\n"
    "findings of both reports, paired by cause and place, then by cause.\n"
    "'min time' is the instruction's share of its kernel's minimum time. The largest changes of it come\n"
    "first, then of lines, then of clocks. A changed figure is shown as 'old -> new'.\n"
    "\n"
    "      --all            also show unchanged instructions\n"
    "      --fail-if FIGURE<RATIO  exit code 1 if the new figure of an instruction divided by the old one "
    "meets\n"
    "                       the condition; also <=, >, >=. Prefix 'total.': the sums over all instructions.\n"
    "                       Of kernels: occupancy, waves_per_simd, seconds, predicted and bound.PART;\n"
    "                       bound==PART tests the part that bounds NEW\n"
    "      --json[=FILE]    write the pairs with both figures, for scripts\n"
    "  -h, --help\n";

/* One instruction in both reports, or in one of them. */
struct pair {
    json_t *old, *new;          /* NULL: absent from that report */
    double seconds[2];          /* share of the kernel's minimum time, old and new */
    double time, lines, clocks; /* changes */
    size_t order;
};

/* The figures that the table compares. */
static const char *const compared[] = {"executions", "lines",           "efficiency", "clocks",
                                       "conflicts",  "vector_hit_rate", "l2_hit_rate"};
enum { FIGURES = sizeof compared / sizeof *compared, COLUMNS = 1 + FIGURES + 3 };

static const char *text_of(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text ? text : "";
}

static double sum_of(const json_t *row, const char *key)
{
    double value;
    return row && tool_json_figure(row, key, &value) ? value : 0;
}

/* ---- reading ---- */

/* Returns the report in the file; NULL: failed, with a message. */
static json_t *read_report(const char *path)
{
    json_error_t error;
    json_t *report = json_load_file(path, 0, &error);
    if (!report) {
        tool_fail("%s:%d: %s; expected a report of 'wavemem prof --json'", path,
                  error.line < 0 ? 0 : error.line, error.text);
        return NULL;
    }
    const json_t *schema = json_object_get(report, "schema");
    json_t *rows = json_object_get(report, "rows"), *row;
    bool good = false;
    size_t index;
    if (strcmp(text_of(report, "verb"), "prof") != 0) {
        tool_fail("%s: not a report of 'wavemem prof --json'", path);
    } else if (json_integer_value(schema) != TOOL_REPORT_SCHEMA) {
        tool_fail("%s: a report of schema %lld; this wavemem reads schema %d", path,
                  (long long)json_integer_value(schema), TOOL_REPORT_SCHEMA);
    } else {
        good = json_is_array(rows) && json_is_object(json_object_get(report, "totals"));
        json_array_foreach(rows, index, row) good =
            good && *text_of(row, "text") && json_is_integer(json_object_get(row, "offset"));
        if (!good)
            tool_fail("%s: not what 'wavemem prof --json' writes: rows with text and offset, and totals",
                      path);
    }
    if (good)
        return report;
    json_decref(report);
    return NULL;
}

/* Prints why the report in the file is incomplete, and adds it to the comparison; returns an exit code. */
static int tell_losses(const json_t *report, const char *path, json_t *comparison)
{
    const json_t *losses = json_object_get(report, "incomplete"), *loss;
    size_t index;
    int code = TOOL_CLEAN;
    json_array_foreach(losses, index, loss)
    {
        char what[512];
        snprintf(what, sizeof what, "%s: %s", path, text_of(loss, "what"));
        code = tool_incomplete(comparison, what, text_of(loss, "why"));
    }
    return code;
}

/* ---- pairing ---- */

static int by_place(const void *left, const void *right)
{
    const json_t *a = *(json_t *const *)left, *b = *(json_t *const *)right;
    const int kernel = strcmp(text_of(a, "kernel"), text_of(b, "kernel"));
    const json_int_t x = json_integer_value(json_object_get(a, "offset"));
    const json_int_t y = json_integer_value(json_object_get(b, "offset"));
    return kernel ? kernel : (x > y) - (x < y);
}

/* The rows sorted by place; NULL: out of memory. */
static json_t **sorted_rows(const json_t *report, size_t *count)
{
    const json_t *rows = json_object_get(report, "rows");
    *count = json_array_size(rows);
    json_t **sorted = malloc((*count + 1) * sizeof *sorted);
    for (size_t i = 0; sorted && i < *count; i++)
        sorted[i] = json_array_get(rows, i);
    if (sorted)
        qsort(sorted, *count, sizeof *sorted, by_place);
    return sorted;
}

/* Criteria for pairing two rows, from strict to loose. */
enum likeness { SAME_PLACE, SAME_LINE, SAME_MNEMONIC, SAME_KIND, LIKENESSES };

static json_t *key_of(const json_t *row, enum likeness likeness, bool any_kernel)
{
    const char *kernel = any_kernel ? "" : text_of(row, "kernel"), *text = text_of(row, "text");
    const int mnemonic = (int)strcspn(text, " ");
    if (likeness == SAME_PLACE)
        return json_sprintf("%s\n%lld\n%s", kernel,
                            (long long)json_integer_value(json_object_get(row, "offset")), text);
    if (likeness == SAME_LINE)
        return json_sprintf("%s\n%s:%lld\n%.*s", kernel, text_of(row, "file"),
                            (long long)json_integer_value(json_object_get(row, "line")), mnemonic, text);
    if (likeness == SAME_MNEMONIC)
        return json_sprintf("%s\n%.*s", kernel, mnemonic, text);
    return json_sprintf("%s\n%s\n%s", kernel, text_of(row, "path"), text_of(row, "operation"));
}

/* Pairs the remaining rows: those with equal keys, in order. */
static void pair_rows(struct pair *pairs, size_t *old_pair, json_t **old, size_t old_count, size_t new_count,
                      enum likeness likeness, bool any_kernel)
{
    json_t *waiting = json_object(); /* key -> numbers of old rows, in descending order */
    for (size_t i = old_count; i-- > 0;) {
        if (old_pair[i] != SIZE_MAX)
            continue;
        json_t *key = key_of(old[i], likeness, any_kernel);
        json_t *list = json_object_get(waiting, json_string_value(key));
        if (!list) {
            list = json_array();
            json_object_set_new(waiting, json_string_value(key), list);
        }
        json_array_append_new(list, json_integer((json_int_t)i));
        json_decref(key);
    }
    for (size_t i = 0; i < new_count; i++) {
        if (pairs[i].old)
            continue;
        json_t *key = key_of(pairs[i].new, likeness, any_kernel);
        json_t *list = json_object_get(waiting, json_string_value(key));
        const size_t left = json_array_size(list);
        if (left) {
            const size_t found = (size_t)json_integer_value(json_array_get(list, left - 1));
            json_array_remove(list, left - 1);
            pairs[i].old = old[found];
            old_pair[found] = i;
        }
        json_decref(key);
    }
    json_decref(waiting);
}

/* The bound that limits the kernel; NULL: unknown. */
static const json_t *binding(const json_t *kernel)
{
    const json_t *bounds = json_object_get(kernel, "bounds"), *bound;
    size_t index;
    json_array_foreach(bounds, index,
                       bound) if (!strcmp(text_of(bound, "part"), text_of(kernel, "binds"))) return bound;
    return NULL;
}

/* The row's share of its kernel's minimum time in seconds; 0: unknown. */
static double seconds_of(const json_t *report, const json_t *row)
{
    const json_t *kernel;
    size_t index;
    json_array_foreach(json_object_get(report, "kernels"), index,
                       kernel) if (row && strcmp(text_of(kernel, "kernel"), text_of(row, "kernel")) == 0 &&
                                   binding(kernel)) return sum_of(row, "share") *
        sum_of(binding(kernel), "seconds");
    return 0;
}

/* Whether all rows, sorted by kernel, belong to one kernel. If both reports have only one, the two are
 * compared regardless of their names. */
static bool one_kernel(json_t **rows, size_t count)
{
    return count && strcmp(text_of(rows[0], "kernel"), text_of(rows[count - 1], "kernel")) == 0;
}

static int largest_change_first(const void *left, const void *right)
{
    const struct pair *a = left, *b = right;
    if (fabs(a->time) != fabs(b->time))
        return fabs(a->time) > fabs(b->time) ? -1 : 1;
    if (fabs(a->lines) != fabs(b->lines))
        return fabs(a->lines) > fabs(b->lines) ? -1 : 1;
    if (fabs(a->clocks) != fabs(b->clocks))
        return fabs(a->clocks) > fabs(b->clocks) ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

/* Pairs all rows of both reports; NULL: out of memory. */
static struct pair *make_pairs(const json_t *old_report, const json_t *new_report, size_t *count)
{
    size_t old_count, new_count;
    json_t **old = sorted_rows(old_report, &old_count), **new = sorted_rows(new_report, &new_count);
    size_t *old_pair = malloc((old_count + 1) * sizeof *old_pair);
    struct pair *pairs = calloc(old_count + new_count + 1, sizeof *pairs);
    *count = 0;
    if (old && new && old_pair && pairs) {
        for (size_t i = 0; i < old_count; i++)
            old_pair[i] = SIZE_MAX;
        for (size_t i = 0; i < new_count; i++)
            pairs[i].new = new[i];
        const bool any_kernel = one_kernel(old, old_count) && one_kernel(new, new_count);
        for (enum likeness likeness = 0; likeness < LIKENESSES; likeness++)
            pair_rows(pairs, old_pair, old, old_count, new_count, likeness, any_kernel);
        *count = new_count;
        for (size_t i = 0; i < old_count; i++)
            if (old_pair[i] == SIZE_MAX)
                pairs[(*count)++].old = old[i];
        for (size_t i = 0; i < *count; i++) {
            struct pair *pair = &pairs[i];
            pair->order = i;
            pair->seconds[0] = seconds_of(old_report, pair->old);
            pair->seconds[1] = seconds_of(new_report, pair->new);
            pair->time = pair->seconds[1] - pair->seconds[0];
            pair->lines = sum_of(pair->new, "lines") - sum_of(pair->old, "lines");
            pair->clocks = sum_of(pair->new, "address_clocks") + sum_of(pair->new, "lds_passes") -
                           sum_of(pair->old, "address_clocks") - sum_of(pair->old, "lds_passes");
        }
        qsort(pairs, *count, sizeof *pairs, largest_change_first);
    } else {
        free(pairs);
        pairs = NULL;
    }
    free(old);
    free(new);
    free(old_pair);
    return pairs;
}

static bool changed(const json_t *old, const json_t *new)
{
    for (size_t i = 0; i < FIGURES; i++)
        if (!json_equal(json_object_get(old, compared[i]), json_object_get(new, compared[i])))
            return true;
    return false;
}

/* ---- text ---- */

static void print_figure(char *text, size_t size, const char *key, const json_t *row)
{
    const struct tool_figure *figure = tool_find_key(key);
    double value;
    if (!row || !tool_json_figure(row, key, &value))
        snprintf(text, size, "-");
    else if (!tool_figure_is_whole(figure) && *figure->unit == '%')
        snprintf(text, size, "%.1f%%", 100 * value);
    else
        snprintf(text, size, tool_figure_is_whole(figure) ? "%.0f" : "%.1f", value);
}

static void add_figures(struct tool_table *table, const json_t *old, const json_t *new)
{
    for (size_t i = 0; i < FIGURES; i++) {
        char before[64], after[64];
        print_figure(before, sizeof before, compared[i], old);
        print_figure(after, sizeof after, compared[i], new);
        if (strcmp(before, after) == 0)
            tool_table_cell(table, "%s", after);
        else
            tool_table_cell(table, "%s -> %s", before, after);
    }
}

/* Adds the cell with an instruction's share of the minimum time. */
static void add_time(struct tool_table *table, const double seconds[2])
{
    char text[2][TOOL_SHORT] = {"-", "-"};
    for (unsigned i = 0; i < 2; i++)
        if (seconds[i] > 0)
            tool_time_text(seconds[i], text[i]);
    if (strcmp(text[0], text[1]) == 0)
        tool_table_cell(table, "%s", text[1]);
    else
        tool_table_cell(table, "%s -> %s", text[0], text[1]);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Formats a number; old and new one if both exist and differ. */
static void number_text(const char *format, const struct pair *pair, const char *key,
                        char text[TOOL_SHORT * 2])
{
    const json_t *of[2] = {pair->old ? pair->old : pair->new, pair->new ? pair->new : pair->old};
    char one[2][TOOL_SHORT];
    for (unsigned i = 0; i < 2; i++)
        snprintf(one[i], sizeof one[i], format,
                 (unsigned long long)json_integer_value(json_object_get(of[i], key)));
    snprintf(text, TOOL_SHORT * 2, strcmp(one[0], one[1]) ? "%s -> %s" : "%s", one[0], one[1]);
}

static void add_pair(struct tool_table *table, const struct pair *pair)
{
    const json_t *row = pair->new ? pair->new : pair->old;
    const char *file = text_of(row, "file"), *text = text_of(row, "text"), *old = text_of(pair->old, "text");
    char number[TOOL_SHORT * 2], name[TOOL_NAME];
    add_time(table, pair->seconds);
    add_figures(table, pair->old, pair->new);
    number_text("+0x%llx", pair, "offset", number);
    tool_table_cell(table, "%s%s", tool_name(text_of(row, "kernel"), name), number);
    number_text("%llu", pair, "line", number);
    tool_table_cell(table, *file ? "%s:%s" : "-", base_name(file), number);
    if (!pair->old || !pair->new)
        tool_table_cell(table, "%s  (only in the %s one)", text, pair->new ? "new" : "old");
    else if (strcspn(text, " ") != strcspn(old, " ") || strncmp(text, old, strcspn(text, " ")) != 0)
        tool_table_cell(table, "%s  (was %.*s)", text, (int)strcspn(old, " "), old);
    else
        tool_table_cell(table, "%s", text);
}

/* Whether two kernels have the same name, or are the only ones of their reports. */
static bool same_kernel(const json_t *old_report, const json_t *old, const json_t *new_report,
                        const json_t *new)
{
    return (json_array_size(json_object_get(old_report, "kernels")) == 1 &&
            json_array_size(json_object_get(new_report, "kernels")) == 1) ||
           strcmp(text_of(old, "kernel"), text_of(new, "kernel")) == 0;
}

/* ---- causes ---- */

static bool is_of(const json_t *finding, const json_t *kernel)
{
    return strcmp(text_of(finding, "kernel"), text_of(kernel, "kernel")) == 0 &&
           strcmp(text_of(finding, "pc"), text_of(kernel, "pc")) == 0;
}

/* The findings of the kernel; a new array. */
static json_t *findings_of(const json_t *report, const json_t *kernel)
{
    json_t *list = json_array(), *finding;
    size_t index;
    json_array_foreach(json_object_get(report, "advice"), index, finding)
    {
        if (is_of(finding, kernel))
            json_array_append(list, finding);
    }
    return list;
}

/* Removes and returns the first finding of the list with the same cause, and place if `placed`; NULL: none.
 */
static json_t *take_like(json_t *list, const json_t *like, bool placed)
{
    json_t *finding;
    size_t index;
    json_array_foreach(list, index, finding)
    {
        if (strcmp(text_of(finding, "cause"), text_of(like, "cause")) != 0 ||
            (placed && strcmp(text_of(finding, "place"), text_of(like, "place")) != 0))
            continue;
        json_incref(finding);
        json_array_remove(list, index);
        return finding;
    }
    return NULL;
}

/* How a kernel changed: its bounds, and the findings that are gone, that remain and that are new. Findings
 * are paired by cause and place, then by cause, because places move when the source changes. */
static json_t *json_change(const json_t *old_report, const json_t *old, const json_t *new_report,
                           const json_t *new)
{
    json_t *before = findings_of(old_report, old), *after = findings_of(new_report, new);
    json_t *remain = json_array(), *gone = json_array();
    for (unsigned placed = 2; placed-- > 0;) {
        json_t *next = json_array(), *finding;
        size_t index;
        json_array_foreach(before, index, finding)
        {
            json_t *pair = take_like(after, finding, placed);
            if (pair)
                json_array_append_new(remain, pair);
            else
                json_array_append(placed ? next : gone, finding);
        }
        json_decref(before);
        before = next;
    }
    json_decref(before);
    const json_t *was = binding(old), *is = binding(new);
    return json_pack("{s:O, s:O?, s:O?, s:O?, s:O?, s:O?, s:O?, s:o, s:o, s:o}", "kernel",
                     json_object_get(new, "kernel"), "old_gpu", json_object_get(old, "gpu"), "gpu",
                     json_object_get(new, "gpu"), "old_predicted", json_object_get(old, "predicted"),
                     "new_predicted", json_object_get(new, "predicted"), "old", was, "new", is, "gone", gone,
                     "remaining", remain, "added", after);
}

/* The changes of the kernels that both reports contain: those of the same name, or the only ones. */
static json_t *json_changes(const json_t *old, const json_t *new)
{
    json_t *list = json_array(), *from, *to;
    size_t i, k;
    json_array_foreach(json_object_get(new, "kernels"), i, to)
    {
        json_array_foreach(json_object_get(old, "kernels"), k, from)
        {
            if (!same_kernel(old, from, new, to))
                continue;
            json_array_append_new(list, json_change(old, from, new, to));
            break;
        }
    }
    return list;
}

static void print_findings(const char *label, enum tool_style style, const json_t *findings, bool numbers)
{
    const json_t *finding;
    size_t index;
    json_array_foreach(findings, index, finding)
        tool_print_labelled(label, style, numbers ? "%s (%s): %s" : "%s (%s)", text_of(finding, "verdict"),
                            text_of(finding, "place"), text_of(finding, "numbers"));
}

/* ", 12% lower"; empty if equal or unknown. */
static void less_text(double before, double after, char text[TOOL_SHORT])
{
    *text = '\0';
    if (before > 0 && after > 0 && after != before)
        snprintf(text, TOOL_SHORT, ", %.3g%% %s", 100 * fabs(after / before - 1),
                 after < before ? "lower" : "higher");
}

static void print_predicted(const json_t *was, const json_t *is)
{
    char time[2][TOOL_SHORT], less[TOOL_SHORT];
    const double before = sum_of(was, "seconds"), after = sum_of(is, "seconds");
    if (!(before > 0) || !(after > 0) || before == after)
        return;
    tool_time_text(before, time[0]);
    tool_time_text(after, time[1]);
    less_text(before, after, less);
    tool_print_labelled("predicted", TOOL_PLAIN, "%s, bound by %s -> %s, bound by %s%s", time[0],
                        text_of(was, "binds"), time[1], text_of(is, "binds"), less);
}

/* Prints the bound before and after, and which causes disappeared, if anything of that changed. */
static void print_change(const json_t *change)
{
    const json_t *was = json_object_get(change, "old"), *is = json_object_get(change, "new");
    const json_t *gone = json_object_get(change, "gone"), *added = json_object_get(change, "added");
    const char *gpu[2] = {text_of(change, "old_gpu"), text_of(change, "gpu")};
    const bool other = strcmp(gpu[0], gpu[1]) != 0;
    char time[2][TOOL_SHORT], name[TOOL_NAME], less[TOOL_SHORT];
    const double before = sum_of(was, "seconds"), after = sum_of(is, "seconds");
    if (json_is_null(was) || json_is_null(is) ||
        (json_equal(was, is) && !json_array_size(gone) && !json_array_size(added)))
        return;
    tool_time_text(before, time[0]);
    tool_time_text(after, time[1]);
    less_text(before, after, less);
    tool_print(stdout, "%s%s%s%s%s: at least %s, bound by %s -> %s, bound by %s%s\n",
               tool_name(text_of(change, "kernel"), name), other ? ", " : "", other ? gpu[0] : "",
               other ? " -> " : "", other ? gpu[1] : "", time[0], text_of(was, "part"), time[1],
               text_of(is, "part"), less);
    print_predicted(json_object_get(change, "old_predicted"), json_object_get(change, "new_predicted"));
    print_findings("gone", TOOL_GREEN, gone, false);
    print_findings("remains", TOOL_PLAIN, json_object_get(change, "remaining"), true);
    print_findings("new", TOOL_RED, added, true);
}

static void print_text(const struct pair *pairs, size_t count, const json_t *old, const json_t *new, bool all)
{
    struct tool_column columns[COLUMNS] = {[0] = {"min time", TOOL_RIGHT},
                                           [1 + FIGURES] = {"place", TOOL_LEFT},
                                           {"source", TOOL_LEFT},
                                           {"instruction", TOOL_LEFT}};
    struct tool_table table = {.columns = columns, .column_count = COLUMNS};
    size_t shown = 0;
    for (size_t i = 0; i < FIGURES; i++)
        columns[1 + i] = (struct tool_column){tool_figure_title(tool_find_key(compared[i])), TOOL_RIGHT};
    for (size_t i = 0; i < count; i++)
        if (all || changed(pairs[i].old, pairs[i].new)) {
            add_pair(&table, &pairs[i]);
            shown++;
        }
    if (shown) {
        tool_table_cell(&table, "%s", "");
        add_figures(&table, old, new);
        tool_table_cell(&table, "total");
        tool_table_cell(&table, "%s", "");
        tool_table_cell(&table, "%s", "");
        tool_table_print(&table, stdout, 0);
    }
    if (shown < count)
        printf("%s%zu of %zu instructions are unchanged\n", shown ? "\n" : "", count - shown, count);
    tool_table_free(&table);
}

/* ---- conditions and JSON ---- */

/* New figures divided by old ones, if both reports have them. 0 / 0 is no change. */
static json_t *ratios(const json_t *old, const json_t *new)
{
    json_t *object = json_object(), *figure;
    const char *key;
    json_object_foreach((json_t *)new, key, figure)
    {
        double before, after;
        if (!tool_json_figure(old, key, &before) || !tool_json_figure(new, key, &after))
            continue;
        const double ratio = before != 0 ? after / before : after != 0 ? HUGE_VAL : 1;
        json_object_set_new(object, key, isinf(ratio) ? json_real(1e308) : json_real(ratio));
    }
    if (json_object_get(new, "bound")) /* a name has no ratio: the new bound */
        json_object_set(object, "bound", json_object_get(new, "bound"));
    json_object_set(object, "kernel", json_object_get(new, "kernel"));
    json_object_set(object, "offset", json_object_get(new, "offset"));
    json_object_set(object, "text", json_object_get(new, "text"));
    return object;
}

/* Ratios of the kernels that both reports contain. */
static json_t *kernel_ratios(const json_t *old_report, const json_t *new_report)
{
    json_t *list = json_array(), *from, *to;
    size_t i, k;
    json_array_foreach(json_object_get(new_report, "kernels"), i, to)
    {
        json_array_foreach(json_object_get(old_report, "kernels"), k, from)
        {
            if (!same_kernel(old_report, from, new_report, to))
                continue;
            json_t *old = tool_kernel_figures(from), *new = tool_kernel_figures(to);
            json_array_append_new(list, ratios(old, new));
            json_decref(old);
            json_decref(new);
            break;
        }
    }
    return list;
}

static json_t *failures(const struct tool_gates *gates, const struct pair *pairs, size_t count,
                        const json_t *old_report, const json_t *new_report)
{
    const json_t *old = json_object_get(old_report, "totals"), *new = json_object_get(new_report, "totals");
    json_t *rows = json_array(), *totals = ratios(old, new);
    for (size_t i = 0; i < count; i++)
        if (pairs[i].old && pairs[i].new)
            json_array_append_new(rows, ratios(pairs[i].old, pairs[i].new));
    json_object_del(totals, "kernel");
    json_t *kernels = kernel_ratios(old_report, new_report);
    const struct tool_gated gated = {rows, totals, kernels};
    json_t *failed = tool_gates_failed(gates, &gated);
    json_decref(kernels);
    json_decref(rows);
    json_decref(totals);
    return failed;
}

static json_t *json_pairs(const struct pair *pairs, size_t count, json_t *failed)
{
    json_t *report = tool_report("diff"), *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list,
                              json_pack("{s:b, s:O?, s:O?}", "changed", changed(pairs[i].old, pairs[i].new),
                                        "old", pairs[i].old, "new", pairs[i].new));
    json_object_set_new(report, "pairs", list);
    json_object_set(report, "failed", failed);
    return report;
}

/* ---- the verb ---- */

enum { OPT_HELP = 1, OPT_ALL, OPT_FAIL_IF, OPT_JSON };

struct request {
    const char *path[2], *json_path;
    int paths;
    bool all, json, help;
    struct tool_gates gates;
};

static const struct tool_option options[] = {
    {"help", 'h', TOOL_NO_VALUE, OPT_HELP},
    {"all", 0, TOOL_NO_VALUE, OPT_ALL},
    {"fail-if", 0, TOOL_VALUE, OPT_FAIL_IF},
    {"json", 0, TOOL_OPTIONAL_VALUE, OPT_JSON},
    {NULL, 0, TOOL_NO_VALUE, 0},
};

static int read_options(struct request *request, int argc, char **argv)
{
    struct tool_words words = {.verb = argv[0], .options = options, .count = argc - 1, .words = argv + 1};
    int code = TOOL_CLEAN;
    for (int id; code == TOOL_CLEAN && (id = tool_next_option(&words)) != TOOL_OPTION_END;) {
        switch (id) {
        case OPT_HELP:
            request->help = true;
            return TOOL_CLEAN;
        case OPT_ALL:
            request->all = true;
            break;
        case OPT_FAIL_IF:
            code = tool_gates_add(&request->gates, "--fail-if", words.value);
            break;
        case OPT_JSON:
            request->json = true;
            request->json_path = words.value;
            break;
        case TOOL_OPTION_OPERAND:
            if (request->paths == 2)
                return tool_fail("diff: %s is a third file; expected OLD.json NEW.json", words.value);
            request->path[request->paths++] = words.value;
            break;
        default:
            return TOOL_WRONG;
        }
    }
    if (code == TOOL_CLEAN && request->paths != 2)
        return tool_fail("diff: expected OLD.json NEW.json");
    return code == TOOL_CLEAN && request->json_path ? tool_check_file("--json", request->json_path) : code;
}

static int compare(const struct request *request, const json_t *old, const json_t *new)
{
    size_t count;
    struct pair *pairs = make_pairs(old, new, &count);
    if (!pairs)
        return tool_fail("out of memory");
    const json_t *old_totals = json_object_get(old, "totals"), *new_totals = json_object_get(new, "totals");
    json_t *failed = failures(&request->gates, pairs, count, old, new), *changes = json_changes(old, new);
    if (!request->json || request->json_path) {
        json_t *change;
        size_t index;
        json_array_foreach(changes, index, change) print_change(change);
        print_text(pairs, count, old_totals, new_totals, request->all);
    }
    json_t *report = json_pairs(pairs, count, failed);
    json_object_set_new(report, "kernels", changes);
    int code = tell_losses(old, request->path[0], report);
    code = tool_worse(code, tell_losses(new, request->path[1], report));
    code = tool_gates_report(failed, code);
    if (request->json)
        code = tool_write_report(report, request->json_path, code);
    json_decref(report);
    json_decref(failed);
    free(pairs);
    return code;
}

static int cmd_diff(int argc, char **argv)
{
    struct request request = {0};
    int code = read_options(&request, argc, argv);
    if (code == TOOL_CLEAN && request.help) {
        fputs(help, stdout);
        return code;
    }
    if (code != TOOL_CLEAN)
        return code;
    json_t *old = read_report(request.path[0]), *new = old ? read_report(request.path[1]) : NULL;
    code = new ? compare(&request, old, new) : TOOL_WRONG;
    json_decref(old);
    json_decref(new);
    return code;
}

const struct tool_verb tool_verb_diff = {
    "diff", "compare two JSON reports of prof, instruction by instruction", cmd_diff, help, options, NULL};
