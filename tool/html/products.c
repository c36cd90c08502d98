/* SPDX-License-Identifier: MIT */
/* The table in the page of `prof --html` that compares the predicted times on several products. */
#include "tool/report/products.h"
#include "tool/html/parts.h"

#include <stdlib.h>

static void put_time(FILE *file, double seconds)
{
    char time[TOOL_SHORT];
    tool_time_text(seconds, time);
    fprintf(file, "<td>%s</td>", seconds > 0 ? time : "-");
}

/* slowest: the longest predicted time on any of them, which fills its cell. */
static void put_product(FILE *file, struct wm_profile *profile, const struct wm_profile_kernel *kernel,
                        double slowest)
{
    char time[TOOL_SHORT], fix[TOOL_SENTENCES];
    const struct wm_predicted *predicted = &kernel->predicted;
    tool_time_text(predicted->seconds, time);
    fputs("<tr><th scope=\"row\" class=\"l\">", file);
    html_text(file, kernel->gpu ? kernel->gpu->title : "-");
    if (predicted->seconds > 0)
        fprintf(file, "</th><td class=\"heat part\" style=\"--h:%.0f%%\">%s</td><td>%.2g</td>",
                100 * predicted->seconds / slowest, time, predicted->factor);
    else
        fputs("</th><td>-</td><td>-</td>", file);
    fputs("<td class=\"l\">", file);
    html_text(file, predicted->parts ? predicted->part[0].name : "-");
    fputs("</td>", file);
    put_time(file, kernel->binds ? kernel->binds->seconds : 0);
    fputs("<td class=\"l\">", file);
    html_text(file, kernel->binds ? kernel->binds->name : "-");
    fputs("</td><td class=\"l\">", file);
    tool_fix_text(profile, kernel, fix);
    html_text(file, fix);
    fputs("</td></tr>\n", file);
}

static void put_kernel(FILE *file, const struct tool_compared *compared,
                       const struct wm_profile_kernel *first)
{
    char name[TOOL_NAME];
    double slowest = 0;
    for (size_t i = 0; i < compared->count; i++) {
        const struct wm_profile_kernel *kernel = tool_kernel_at(compared->profile[i], first->pc);
        if (kernel && kernel->predicted.seconds > slowest)
            slowest = kernel->predicted.seconds;
    }
    fputs("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"products\">"
          "<table class=\"products\"><caption>",
          file);
    html_text(file, tool_name(first->kernel, name));
    fputs("</caption><thead><tr><th scope=\"col\" class=\"l\">product</th><th scope=\"col\">predicted</th>"
          "<th scope=\"col\">x/\u00f7</th><th scope=\"col\" class=\"l\">takes longest</th>"
          "<th scope=\"col\">at least</th><th scope=\"col\" class=\"l\">bound by</th>"
          "<th scope=\"col\" class=\"l\">best fix</th></tr></thead><tbody>\n",
          file);
    for (size_t i = 0; i < compared->count; i++) {
        const struct wm_profile_kernel *kernel = tool_kernel_at(compared->profile[i], first->pc);
        if (kernel)
            put_product(file, compared->profile[i], kernel, slowest);
    }
    fputs("</tbody></table></div>\n", file);
}

void html_products(FILE *file, const struct tool_report *report)
{
    const struct wm_profile_kernel **kernels;
    if (!report->compared)
        return;
    const size_t count = html_kernels(report, &kernels);
    fputs("<h2>Products</h2>\n<p class=\"sub\">The predicted time of the same run on each, the factor within "
          "which two thirds of measured times were, and the lower bound. All else on this page is of the "
          "first.</p>\n",
          file);
    for (size_t i = 0; i < count; i++)
        put_kernel(file, report->compared, kernels[i]);
    free(kernels);
}
