/* SPDX-License-Identifier: MIT */
/* Compares the predicted times of one run on several products. */
#include "tool/report/products.h"

#include "tool/report/advice.h"
#include "tool/report/kernel_list.h"
#include "tool/report/table.h"
#include "tool/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which ---- */

int tool_choose_products(const char *where, const char *value, struct tool_products *products)
{
    *products = (struct tool_products){0};
    for (const char *at = value; at; at = strchr(at, ',')) {
        char name[64];
        at += *at == ',';
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        if (products->count == TOOL_PRODUCTS)
            return tool_fail("%s--gpu: at most %d products", where, TOOL_PRODUCTS);
        if (tool_choose_gpu(where, name, &products->gpu[products->count]) != TOOL_CLEAN)
            return TOOL_WRONG;
        products->count++;
    }
    return TOOL_CLEAN;
}

int tool_check_products(const struct tool_products *products, const char *target)
{
    struct wm_diag diag;
    for (size_t i = 0; i < products->count; i++)
        if (wm_gpu_fits(products->gpu[i], target, &diag) != WM_OK)
            return tool_fail("--gpu: %s", diag.message);
    return TOOL_CLEAN;
}

/* ---- profiles ---- */

int tool_compare_products(const struct tool_products *products, struct wm_profile *first,
                          const uint8_t *trace, size_t size, const char *name, struct tool_compared *compared)
{
    struct wm_diag diag;
    *compared = (struct tool_compared){.profile = {first}, .count = 1};
    for (size_t i = 1; i < products->count; i++) {
        struct wm_profile **profile = &compared->profile[i];
        if (wm_profile_create(profile, &diag) != WM_OK)
            return tool_fail("%s", diag.message);
        compared->count++;
        if (wm_profile_set_gpu(*profile, products->gpu[i], &diag) != WM_OK ||
            wm_profile_replay(*profile, trace, size, name, &diag) != WM_OK)
            return tool_fail("--gpu %s: %s", products->gpu[i]->name, diag.message);
    }
    return TOOL_CLEAN;
}

void tool_compared_free(struct tool_compared *compared)
{
    for (size_t i = 1; i < compared->count; i++)
        wm_profile_destroy(compared->profile[i]);
    *compared = (struct tool_compared){0};
}

/* ---- text ---- */

static const struct tool_column columns[] = {
    {"product", TOOL_LEFT, 0},   {"predicted", TOOL_RIGHT, 0},    {"x/÷", TOOL_RIGHT, 3},
    {"to first", TOOL_RIGHT, 1}, {"takes longest", TOOL_LEFT, 0}, {"at least", TOOL_RIGHT, 0},
    {"bound by", TOOL_LEFT, 2},  {"best fix", TOOL_LEFT, 0},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static void add_time(struct tool_table *table, double seconds)
{
    char text[TOOL_SHORT];
    tool_time_text(seconds, text);
    tool_table_cell(table, "%s", seconds > 0 ? text : "-");
}

/* to: the predicted time on the first product. */
static void add_ratio(struct tool_table *table, double seconds, double to)
{
    if (seconds > 0 && to > 0)
        tool_table_cell(table, "%.2f", seconds / to);
    else
        tool_table_cell(table, "%s", "-");
}

void tool_fix_text(struct wm_profile *profile, const struct wm_profile_kernel *kernel,
                   char text[TOOL_SENTENCES])
{
    const struct tool_report report = {.profile = profile};
    const struct wm_profile_finding *best = tool_best_finding(&report, kernel);
    char now[TOOL_SHORT], after[TOOL_SHORT];
    tool_time_text(best ? best->predicted : 0, now);
    tool_time_text(best ? best->predicted_after : 0, after);
    if (best && best->predicted_after > 0 && strcmp(now, after) != 0) {
        snprintf(text, TOOL_SENTENCES, "%.120s (%.200s): predicted %s", best->verdict, best->place, after);
    } else if (best) {
        snprintf(text, TOOL_SENTENCES, "%.120s (%.200s)", best->verdict, best->place);
    } else {
        snprintf(text, TOOL_SENTENCES, "%s", kernel->binds ? tool_no_finding_short(kernel) : "-");
    }
}

static void add_product(struct tool_table *table, struct wm_profile *profile,
                        const struct wm_profile_kernel *kernel, double to)
{
    const struct wm_predicted *predicted = &kernel->predicted;
    char fix[TOOL_SENTENCES];
    tool_table_cell(table, "%s", kernel->gpu ? kernel->gpu->name : "-");
    add_time(table, predicted->seconds);
    if (predicted->seconds > 0)
        tool_table_cell(table, "%.2g", predicted->factor);
    else
        tool_table_cell(table, "%s", "-");
    add_ratio(table, predicted->seconds, to);
    tool_table_cell(table, "%s", predicted->parts ? predicted->part[0].name : "-");
    add_time(table, kernel->binds ? kernel->binds->seconds : 0);
    tool_table_cell(table, "%s", kernel->binds ? kernel->binds->name : "-");
    tool_fix_text(profile, kernel, fix);
    tool_table_cell(table, "%s", fix);
}

static void print_table(struct tool_table *table)
{
    bool left_out[COLUMNS] = {false};
    table->left_out = left_out;
    tool_table_fit(table);
    tool_table_print(table, stdout, 0);
    tool_table_free(table);
    putchar('\n');
}

const struct wm_profile_kernel *tool_kernel_at(struct wm_profile *profile, uint64_t pc)
{
    size_t count;
    const struct wm_profile_kernel *kernel = wm_profile_kernels(profile, &count);
    for (size_t i = 0; i < count; i++)
        if (kernel[i].pc == pc)
            return &kernel[i];
    return NULL;
}

static void print_kernel(const struct wm_profile_kernel *first, const struct tool_compared *compared)
{
    struct tool_table table = {.columns = columns, .column_count = COLUMNS, .width = tool_terminal_width()};
    char name[TOOL_NAME];
    tool_print_labelled("compare", TOOL_BOLD, "%s on %zu products", tool_name(first->kernel, name),
                        compared->count);
    for (size_t i = 0; i < compared->count; i++) {
        const struct wm_profile_kernel *kernel = tool_kernel_at(compared->profile[i], first->pc);
        if (kernel)
            add_product(&table, compared->profile[i], kernel, first->predicted.seconds);
    }
    print_table(&table);
}

/* All kernels, one after another. */
static void print_sums(const struct tool_compared *compared)
{
    static const struct tool_column sums[] = {{"product", TOOL_LEFT, 0},
                                              {"predicted", TOOL_RIGHT, 0},
                                              {"to first", TOOL_RIGHT, 0},
                                              {"at least", TOOL_RIGHT, 0}};
    struct tool_table table = {.columns = sums, .column_count = sizeof sums / sizeof *sums};
    double to = 0;
    size_t count;
    for (size_t i = 0; i < compared->count; i++) {
        const struct wm_profile_kernel *kernel = wm_profile_kernels(compared->profile[i], &count);
        double predicted = 0, least = 0;
        for (size_t k = 0; k < count; k++) {
            predicted += kernel[k].predicted.seconds;
            least += kernel[k].binds ? kernel[k].binds->seconds : 0;
        }
        to = i ? to : predicted;
        tool_table_cell(&table, "%s", count && kernel->gpu ? kernel->gpu->name : "-");
        add_time(&table, predicted);
        add_ratio(&table, predicted, to);
        add_time(&table, least);
    }
    wm_profile_kernels(compared->profile[0], &count);
    tool_print_labelled("compare", TOOL_BOLD, "all %zu kernels, one after another", count);
    print_table(&table);
}

void tool_print_compared(const struct tool_report *report)
{
    enum { MOST = 2 }; /* kernels, without --all: as many as the report describes */
    struct tool_group *groups;
    const size_t count = tool_groups(report, &groups);
    size_t printed = 0, kernels = 0;
    for (size_t i = 0; i < count; i++) {
        kernels += groups[i].kernel != NULL;
        if (!groups[i].kernel || (printed == MOST && !report->options->all))
            continue;
        printed++;
        print_kernel(groups[i].kernel, report->compared);
    }
    if (kernels > 1)
        print_sums(report->compared);
    free(groups);
}

/* ---- JSON ---- */

json_t *tool_json_compared(const struct tool_compared *compared)
{
    json_t *list = json_array();
    for (size_t i = 0; i < compared->count; i++) {
        size_t count;
        struct tool_report report = {.profile = compared->profile[i]};
        report.kernels = wm_profile_kernels(report.profile, &count);
        report.kernel_count = count;
        const struct wm_gpu *gpu = count ? report.kernels->gpu : NULL;
        json_array_append_new(list,
                              json_pack("{s:s?, s:s?, s:o, s:o}", "gpu", gpu ? gpu->name : NULL, "title",
                                        gpu ? gpu->title : NULL, "kernels", tool_json_kernels(&report),
                                        "advice", tool_json_advice(&report)));
    }
    return list;
}
