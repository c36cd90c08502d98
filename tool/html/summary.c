/* SPDX-License-Identifier: MIT */
/* The summary of each kernel in the page of `prof --html`: bounds, occupancy, caches. */
#include "tool/report/summary.h"
#include "tool/html/parts.h"
#include "tool/report/advice.h"

#include <inttypes.h>

static void put_bounds(FILE *file, const struct wm_profile_kernel *kernel)
{
    char time[TOOL_SHORT];
    if (!kernel->binds || kernel->binds->seconds <= 0)
        return;
    tool_time_text(kernel->binds->seconds, time);
    fputs("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"bounds\"><table "
          "class=\"bounds\"><caption>Takes at least ",
          file);
    html_text(file, time);
    fputs(", bound by ", file);
    html_text(file, kernel->binds->name);
    fputs(": a lower bound, not a prediction</caption><thead><tr><th scope=\"col\" class=\"l\">part</th>"
          "<th scope=\"col\">at least</th><th scope=\"col\" class=\"l\">arithmetic</th></tr></thead>"
          "<tbody>\n",
          file);
    for (uint32_t i = 0; i < kernel->bounds; i++) {
        const struct wm_bound *bound = &kernel->bound[i];
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
    char bytes[TOOL_SHORT], memory[4 * TOOL_SHORT];
    fputs("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"caches\"><table "
          "class=\"caches\"><caption>Caches</caption><thead><tr><th scope=\"col\" class=\"l\">cache</th>"
          "<th scope=\"col\">instances</th><th scope=\"col\">reads</th><th scope=\"col\">hit</th>"
          "<th scope=\"col\">writes</th><th scope=\"col\">hit</th><th scope=\"col\">atomics</th>"
          "<th scope=\"col\">hit</th><th scope=\"col\">moved</th></tr></thead><tbody>\n",
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

static void put_finding(FILE *file, const struct tool_report *report,
                        const struct wm_profile_finding *finding)
{
    enum { NAMED = 4 };
    char gain[96];
    tool_gain_text(finding, gain);
    fputs("<li><b>", file);
    html_text(file, finding->verdict);
    fputs("</b> (", file);
    html_text(file, finding->place);
    fputs("): ", file);
    html_text(file, finding->numbers);
    fputs("; ", file);
    html_text(file, finding->change);
    fputs(". ", file);
    html_text(file, gain);
    for (size_t i = 0; i < finding->row_count && i < NAMED; i++) {
        fprintf(file, "%s<a href=\"#i%zu\"><code>", i ? ", " : ": ",
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
    if (count)
        fputs("<ul class=\"advice\">\n", file);
    for (size_t i = 0; i < count; i++)
        put_finding(file, report, &finding[i]);
    if (count)
        fputs("</ul>\n", file);
}

static void put_fetches(FILE *file, const struct wm_profile_kernel *kernel)
{
    char text[TOOL_SENTENCES];
    if (!kernel->fetches)
        return;
    tool_fetches_text(kernel, text);
    fprintf(file, "<p>Code: %s.</p>\n", text);
}

static void put_kernel(FILE *file, const struct tool_report *report, const struct wm_profile_kernel *kernel)
{
    char lds[TOOL_SHORT], text[TOOL_SENTENCES];
    tool_bytes_text(kernel->lds_bytes, lds);
    fputs("<section class=\"kernel\"><h2>", file);
    html_text(file, kernel->kernel);
    fputs(" on ", file);
    html_text(file, kernel->gpu->title);
    fprintf(file,
            "</h2>\n<p>%" PRIu64 " workgroups, %" PRIu64 " waves, %" PRIu64
            " instructions. Occupancy: %" PRIu32 " of %" PRIu32 " waves per SIMD",
            kernel->workgroups, kernel->waves, kernel->instructions, kernel->waves_per_simd,
            kernel->waves_per_simd_most);
    if (kernel->mode)
        fprintf(file, " in %s mode", kernel->mode);
    if (kernel->occupancy_limit) {
        fputs(", limited by ", file);
        html_text(file, kernel->occupancy_limit);
    }
    fprintf(file,
            " (%" PRIu32 " VGPRs, %" PRIu32 " SGPRs per wave; %s of LDS, %" PRIu32
            " work-items per workgroup).</p>\n",
            kernel->vgprs, kernel->sgprs, lds, kernel->workgroup_items);
    put_fetches(file, kernel);
    if (tool_sample_text(kernel, text)) {
        fputs("<p>Sample: ", file);
        html_text(file, text);
        fputs(".</p>\n", file);
    }
    if (tool_cut_text(kernel, text)) {
        fputs("<p>Cut: ", file);
        html_text(file, text);
        fputs(".</p>\n", file);
    }
    put_bounds(file, kernel);
    put_findings(file, report, kernel);
    put_caches(file, kernel);
    fputs("</section>\n", file);
}

void html_summary(FILE *file, const struct tool_report *report)
{
    for (size_t i = 0; i < report->kernel_count; i++)
        if (report->kernels[i].gpu)
            put_kernel(file, report, &report->kernels[i]);
}
