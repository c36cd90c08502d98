/* SPDX-License-Identifier: MIT */
/* The summary of each kernel in the page of `prof --html`: bounds, findings, occupancy, caches. */
#include "tool/report/summary.h"
#include "tool/html/parts.h"
#include "tool/report/advice.h"

#include <inttypes.h>
#include <stdlib.h>

static void open_table(FILE *file, const char *class, const char *caption)
{
    fprintf(
        file,
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"%s\"><table class=\"%s\"><caption>",
        class, class);
    html_text(file, caption);
    fputs("</caption>", file);
}

static void put_bounds(FILE *file, const struct wm_profile_kernel *kernel)
{
    char time[TOOL_SHORT], caption[200];
    if (!kernel->binds || kernel->binds->seconds <= 0)
        return;
    tool_time_text(kernel->binds->seconds, time);
    snprintf(caption, sizeof caption, "Takes at least %s, bound by %s: a lower bound, not a prediction", time,
             kernel->binds->name);
    open_table(file, "bounds", caption);
    fputs("<thead><tr><th scope=\"col\" class=\"l\">part</th><th scope=\"col\">at least</th>"
          "<th scope=\"col\" class=\"l\">arithmetic</th></tr></thead><tbody>\n",
          file);
    const struct wm_bound *bounds[WM_PROFILE_BOUNDS];
    const size_t count = tool_bounds(kernel, bounds);
    for (size_t i = 0; i < count; i++) {
        const struct wm_bound *bound = bounds[i];
        tool_time_text(bound->seconds, time);
        fputs("<tr><th scope=\"row\" class=\"l\">", file);
        html_text(file, bound->name);
        fprintf(file, "</th><td class=\"heat part\" style=\"--h:%.0f%%\">",
                100 * bound->seconds / kernel->binds->seconds);
        html_text(file, time);
        fputs("</td><td class=\"l code\">", file);
        html_text(file, bound->arithmetic ? bound->arithmetic : "");
        fputs("</td></tr>\n", file);
    }
    fputs("</tbody></table></div>\n", file);
}

/* The predicted time, and what each part would take alone. */
static void put_predicted(FILE *file, const struct wm_profile_kernel *kernel)
{
    const struct wm_predicted *predicted = &kernel->predicted;
    char time[TOOL_SHORT], text[TOOL_SENTENCES], caption[TOOL_SENTENCES + 80];
    if (!tool_predicted_text(kernel, text))
        return;
    snprintf(caption, sizeof caption, "Predicted: %s. Each part as if nothing else took time", text);
    open_table(file, "bounds predicted", caption);
    fputs("<thead><tr><th scope=\"col\" class=\"l\">part</th><th "
          "scope=\"col\">alone</th></tr></thead><tbody>\n",
          file);
    for (uint32_t i = 0; i < predicted->parts; i++) {
        const struct wm_predicted_part *part = &predicted->part[i];
        tool_time_text(part->seconds, time);
        fputs("<tr><th scope=\"row\" class=\"l\">", file);
        html_text(file, part->name);
        fprintf(file, "</th><td class=\"heat part\" style=\"--h:%.0f%%\">",
                100 * part->seconds / predicted->seconds);
        html_text(file, time);
        fputs("</td></tr>\n", file);
    }
    fputs("</tbody></table></div>\n", file);
}

/* ---- findings ---- */

static void put_finding(FILE *file, const struct tool_report *report,
                        const struct wm_profile_finding *finding)
{
    enum { NAMED = 4 };
    char gain[TOOL_GAIN];
    tool_gain_text(finding, gain);
    fputs("<li><b>", file);
    html_text(file, finding->verdict);
    fputs("</b> <code>", file);
    html_text(file, finding->place);
    fputs("</code><br>", file);
    html_format(file, "%s; %s.", finding->numbers, finding->change);
    fprintf(file, "<br><span%s>", finding->gain > 0 ? " class=\"good\"" : " class=\"soft\"");
    html_text(file, gain);
    fputs("</span>", file);
    for (size_t i = 0; i < finding->row_count && i < NAMED; i++) {
        fprintf(file, "%s<a href=\"#i%zu\"><code>", i ? ", " : "<br>",
                html_number_of(report, finding->rows[i]));
        html_text(file, finding->rows[i]->text);
        fputs("</code></a>", file);
    }
    if (finding->row_count > NAMED)
        fprintf(file, " and %zu more", finding->row_count - NAMED);
    fputs("</li>\n", file);
}

static void put_findings(FILE *file, const struct tool_report *report, const struct wm_profile_kernel *kernel)
{
    const struct wm_profile_finding *finding;
    const size_t count = tool_kernel_findings(report, kernel, &finding);
    if (!count)
        return;
    fputs("<h3>Findings</h3>\n<ol class=\"findings\">\n", file);
    for (size_t i = 0; i < count; i++)
        put_finding(file, report, &finding[i]);
    fputs("</ol>\n", file);
}

/* ---- occupancy ---- */

static void put_occupancy(FILE *file, const struct wm_profile_kernel *kernel)
{
    char caption[TOOL_SENTENCES + 20], text[TOOL_SENTENCES];
    tool_occupancy_text(kernel, text);
    snprintf(caption, sizeof caption, "Occupancy: %s", text);
    open_table(file, "occupancy", caption);
    fputs("<thead><tr><th scope=\"col\" class=\"l\">limit by</th><th scope=\"col\">waves per SIMD</th>"
          "<th scope=\"col\" class=\"l\">workgroups at once</th></tr></thead><tbody>\n",
          file);
    for (uint32_t i = 0; i < kernel->occupancy_limits; i++) {
        const struct wm_occupancy_limit *limit = &kernel->occupancy[i];
        const bool limits =
            limit->name == kernel->occupancy_limit && kernel->waves_per_simd < kernel->waves_per_simd_most;
        const uint32_t shown = limit->waves_per_simd < kernel->waves_per_simd_most
                                   ? limit->waves_per_simd
                                   : kernel->waves_per_simd_most;
        fprintf(
            file,
            "<tr%s><th scope=\"row\" class=\"l\">%s%s</th><td class=\"heat%s\" style=\"--h:%.0f%%\">%" PRIu32
            "</td><td class=\"l\">%" PRIu32 "</td></tr>\n",
            limits ? " class=\"limit\"" : "", limit->name, limits ? ", which limits" : "",
            limits ? "" : " part",
            kernel->waves_per_simd_most ? 100.0 * shown / kernel->waves_per_simd_most : 0,
            limit->waves_per_simd, limit->workgroups);
    }
    fputs("</tbody></table></div>\n", file);
}

/* ---- caches ---- */

static void put_use(FILE *file, const struct wm_cache_use *use)
{
    if (use->requests)
        fprintf(file, "<td>%" PRIu64 "</td><td>%.1f%%</td>", use->requests,
                100 * (double)use->hits / (double)use->requests);
    else
        fputs("<td></td><td></td>", file);
}

static void put_caches(FILE *file, const struct wm_profile_kernel *kernel)
{
    char bytes[TOOL_SHORT], memory[4 * TOOL_SHORT], text[TOOL_SENTENCES];
    open_table(file, "caches", "Caches: requests and hit rates");
    fputs("<thead><tr><th scope=\"col\" class=\"l\">cache</th>"
          "<th scope=\"col\">instances</th><th scope=\"col\">reads</th><th scope=\"col\">hit</th>"
          "<th scope=\"col\">writes</th><th scope=\"col\">hit</th><th scope=\"col\">atomics</th>"
          "<th scope=\"col\">hit</th><th scope=\"col\">bytes</th></tr></thead><tbody>\n",
          file);
    for (uint32_t i = 0; i < kernel->caches; i++) {
        const struct wm_profile_cache *cache = &kernel->cache[i];
        if (!tool_cache_use(cache).requests)
            continue;
        tool_bytes_text(tool_cache_use(cache).bytes, bytes);
        fputs("<tr><th scope=\"row\" class=\"l\">", file);
        html_text(file, cache->name);
        fprintf(file, "</th><td>%" PRIu32 "</td>", cache->instances);
        put_use(file, &cache->read);
        put_use(file, &cache->write);
        put_use(file, &cache->atomic);
        fprintf(file, "<td>%s</td></tr>\n", bytes);
    }
    fputs("</tbody></table></div>\n<p>", file);
    tool_memory_text(kernel, memory);
    fprintf(file, "Memory: %s.", memory);
    if (kernel->vector_invalidations)
        fprintf(file, " Waves invalidated their vector cache %" PRIu64 " times.",
                kernel->vector_invalidations);
    if (kernel->fetches) {
        tool_fetches_text(kernel, text);
        fprintf(file, " Code: %s.", text);
    }
    if (kernel->gpu->assumed) {
        fputs(" Assumed, not documented for this product: ", file);
        html_text(file, kernel->gpu->assumed);
        fputs(".", file);
    }
    if (kernel->gpu->unverified) {
        fputs(" Unverified: ", file);
        html_text(file, kernel->gpu->unverified);
        fputs(".", file);
    }
    fputs("</p>\n", file);
}

/* ---- kernels ---- */

static void put_kernel(FILE *file, const struct tool_report *report, const struct wm_profile_kernel *kernel)
{
    char text[TOOL_SENTENCES], name[TOOL_NAME];
    fputs("<section class=\"kernel\"><h2>", file);
    html_format(file, "%s on %s", tool_name(kernel->kernel, name), kernel->gpu->title);
    fprintf(file,
            "</h2>\n<p class=\"sub\">%" PRIu64 " dispatch%s, %" PRIu64 " workgroups, %" PRIu64
            " waves, %" PRIu64 " instructions</p>\n",
            kernel->dispatches, kernel->dispatches == 1 ? "" : "es", kernel->workgroups, kernel->waves,
            kernel->instructions);
    if (tool_sample_text(kernel, text)) {
        fputs("<p class=\"partial\">Sample: ", file);
        html_text(file, text);
        fputs(".</p>\n", file);
    }
    if (tool_cut_text(kernel, text)) {
        fputs("<p class=\"partial\">Cut: ", file);
        html_text(file, text);
        fputs(".</p>\n", file);
    }
    put_findings(file, report, kernel);
    fputs("<h3>Where the bytes go</h3>\n", file);
    html_memory_chart(file, report, kernel);
    fputs("<div class=\"two\"><div>\n", file);
    put_predicted(file, kernel);
    put_bounds(file, kernel);
    fputs("</div><div>\n", file);
    put_occupancy(file, kernel);
    fputs("</div></div>\n<details><summary>Caches</summary>\n", file);
    put_caches(file, kernel);
    fputs("</details></section>\n", file);
}

void html_summary(FILE *file, const struct tool_report *report)
{
    const struct wm_profile_kernel **kernels;
    const size_t count = html_kernels(report, &kernels);
    for (size_t i = 0; i < count; i++)
        put_kernel(file, report, kernels[i]);
    free(kernels);
}
