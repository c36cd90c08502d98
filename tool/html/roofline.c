/* SPDX-License-Identifier: MIT */
/* The roofline in the page of `prof --html`: wave instructions per second over wave instructions per byte, as
 * in "An Instruction Roofline Model for GPUs" (Ding, Williams; PMBS 2019), applied to AMD's GPUs by
 * Leinhauser et al. (2021). A kernel stands at the instructions per second of its bound, once for each level
 * of memory: below the roof of the level that binds, or touching it. A ring below the point is at the
 * instructions per second of the predicted time. */
#include "tool/html/parts.h"
#include "tool/report/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEFT = 62, RIGHT = 200, TOP = 14, BOTTOM = 44, WIDTH = 900, HEIGHT = 380, LEVELS = 3 };

static const struct {
    enum wm_cache_level level; /* WM_CACHE_LEVELS: memory */
    const char *name, *class;
} levels[LEVELS] = {
    {WM_CACHE_LEVELS, "memory", "memory"}, {WM_CACHE_L2, "L2", "l2"}, {WM_CACHE_VECTOR, "L1", "l1"}};

/* The decades that are shown, as powers of ten. */
struct axes {
    int left, right, bottom, top;
};

/* Bytes per second; 0: unknown. */
static double bandwidth(const struct wm_gpu *gpu, enum wm_cache_level level)
{
    const double clock = 1e6 * gpu->clock_mhz;
    const struct wm_cache *cache = level < WM_CACHE_LEVELS ? &gpu->cache[level] : NULL;
    if (!cache)
        return 1e9 * gpu->memory_bandwidth;
    if (level == WM_CACHE_L2)
        return clock * cache->clock_bytes * cache->channels * gpu->xcds;
    return clock * cache->clock_bytes * gpu->compute_units;
}

static double bytes_of(const struct wm_profile_kernel *kernel, enum wm_cache_level level)
{
    if (level == WM_CACHE_LEVELS)
        return (double)(kernel->memory_read + kernel->memory_written);
    for (uint32_t i = 0; i < kernel->caches; i++)
        if (kernel->cache[i].level == level)
            return (double)tool_cache_use(&kernel->cache[i]).bytes;
    return 0;
}

static double issue_of(const struct wm_gpu *gpu)
{
    return 1e6 * gpu->clock_mhz * gpu->issue * gpu->compute_units;
}

/* Instructions per second if the kernel takes so long; 0: unknown. */
static double rate_in(const struct wm_profile_kernel *kernel, double seconds)
{
    const double scale = kernel->sampled_from ? kernel->sample_scale : 1;
    return seconds > 0 ? scale * (double)kernel->instructions / seconds : 0;
}

/* At the bound. */
static double rate_of(const struct wm_profile_kernel *kernel)
{
    return rate_in(kernel, kernel->binds ? kernel->binds->seconds : 0);
}

static double predicted_rate(const struct wm_profile_kernel *kernel)
{
    return rate_in(kernel, kernel->predicted.seconds);
}

static double x_of(const struct axes *axes, double intensity)
{
    return LEFT + (log10(intensity) - axes->left) / (axes->right - axes->left) * (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct axes *axes, double rate)
{
    return HEIGHT - BOTTOM -
           (log10(rate) - axes->bottom) / (axes->top - axes->bottom) * (HEIGHT - TOP - BOTTOM);
}

static struct axes axes_of(const struct wm_profile_kernel *const *kernels, size_t count)
{
    const struct wm_gpu *gpu = kernels[0]->gpu;
    double low = INFINITY, high = 0, least = INFINITY;
    for (unsigned i = 0; i < LEVELS; i++) /* where the roofs meet */
        if (bandwidth(gpu, levels[i].level) > 0)
            high = fmax(high, issue_of(gpu) / bandwidth(gpu, levels[i].level));
    low = high / 100;
    for (size_t k = 0; k < count; k++) {
        if (rate_of(kernels[k]) > 0)
            least = fmin(least, rate_of(kernels[k]));
        if (predicted_rate(kernels[k]) > 0)
            least = fmin(least, predicted_rate(kernels[k]));
        for (unsigned i = 0; i < LEVELS; i++) {
            const double bytes = bytes_of(kernels[k], levels[i].level);
            if (!(bytes > 0))
                continue;
            low = fmin(low, (double)kernels[k]->instructions / bytes);
            high = fmax(high, (double)kernels[k]->instructions / bytes);
        }
    }
    const double top = issue_of(gpu) * 1.5;
    return (struct axes){(int)floor(log10(low) - 0.1), (int)ceil(log10(high) + 0.1),
                         (int)floor(log10(fmin(least, top / 100)) - 0.1), (int)ceil(log10(top))};
}

static void put_power(FILE *file, int power)
{
    if (power >= -3 && power <= 3)
        fprintf(file, "%g", pow(10, power));
    else
        fprintf(file, "1e%d", power);
}

static void put_axes(FILE *file, const struct axes *axes)
{
    for (int power = axes->left; power <= axes->right; power++) {
        const double x = x_of(axes, pow(10, power));
        fprintf(file, "<path class=\"grid\" d=\"M%.1f %dV%d\"/><text x=\"%.1f\" y=\"%d\" class=\"bytes\">", x,
                TOP, HEIGHT - BOTTOM, x, HEIGHT - BOTTOM + 15);
        put_power(file, power);
        fputs("</text>", file);
    }
    for (int power = axes->bottom; power <= axes->top; power++) {
        const double y = y_of(axes, pow(10, power));
        fprintf(file, "<path class=\"grid\" d=\"M%d %.1fH%d\"/><text x=\"%d\" y=\"%.1f\" class=\"end\">",
                LEFT, y, WIDTH - RIGHT, LEFT - 6, y + 4);
        put_power(file, power - 9);
        fputs("</text>", file);
    }
    fprintf(file,
            "<text x=\"%d\" y=\"%d\" class=\"bytes\">wave instructions per byte</text>"
            "<text x=\"14\" y=\"%d\" class=\"bytes\" transform=\"rotate(-90 14 %d)\">10^9 wave instructions "
            "per second</text>\n",
            (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, (TOP + HEIGHT - BOTTOM) / 2, (TOP + HEIGHT - BOTTOM) / 2);
}

static void put_roofs(FILE *file, const struct axes *axes, const struct wm_gpu *gpu)
{
    const double peak = issue_of(gpu), right = pow(10, axes->right), left = pow(10, axes->left),
                 bottom = pow(10, axes->bottom);
    double ridge = right;
    for (unsigned i = 0; i < LEVELS; i++) {
        const double bytes = bandwidth(gpu, levels[i].level);
        if (!(bytes > 0))
            continue;
        const double from = fmax(left, bottom / bytes), to = fmin(right, peak / bytes);
        ridge = fmin(ridge, to);
        fprintf(file,
                "<path class=\"roof %s\" d=\"M%.1f %.1fL%.1f %.1f\"/>"
                "<text class=\"name %s\" x=\"%d\" y=\"%d\">%s roof: %.3g TB/s</text>\n",
                levels[i].class, x_of(axes, from), y_of(axes, from * bytes), x_of(axes, to),
                y_of(axes, to * bytes), levels[i].class, WIDTH - RIGHT + 24, TOP + 28 + 18 * (int)i,
                levels[i].name, bytes / 1e12);
        fprintf(file, "<path class=\"roof %s\" d=\"M%d %dh14\"/>", levels[i].class, WIDTH - RIGHT + 6,
                TOP + 24 + 18 * (int)i);
    }
    fprintf(file,
            "<path class=\"roof issue\" d=\"M%.1f %.1fH%d\"/><path class=\"roof issue\" d=\"M%d %dh14\"/>"
            "<text class=\"name\" x=\"%d\" y=\"%d\">issue: %.4ge9/s</text>\n",
            x_of(axes, ridge), y_of(axes, peak), WIDTH - RIGHT, WIDTH - RIGHT + 6, TOP + 6,
            WIDTH - RIGHT + 24, TOP + 10, peak / 1e9);
}

/* Of the parts that are not on the way to memory, the one that binds most: with the kernel's mix of
 * instructions, it bounds their rate whatever memory does. NULL: none. */
static const struct wm_bound *core_bound(const struct wm_profile_kernel *kernel)
{
    static const char *const memory[] = {"memory", "L2", "L1", "address", "data"};
    const struct wm_bound *longest = NULL;
    for (uint32_t i = 0; i < kernel->bounds; i++) {
        bool core = kernel->bound[i].seconds > 0;
        for (size_t k = 0; k < sizeof memory / sizeof *memory; k++)
            core &= strcmp(kernel->bound[i].name, memory[k]) != 0;
        if (core && (!longest || kernel->bound[i].seconds > longest->seconds))
            longest = &kernel->bound[i];
    }
    return longest;
}

static void put_core(FILE *file, const struct axes *axes, const struct wm_profile_kernel *kernel)
{
    const struct wm_bound *bound = core_bound(kernel);
    const double rate = bound ? (double)kernel->instructions / bound->seconds : 0;
    const int y = TOP + 28 + 18 * LEVELS;
    if (!(rate > 0) || rate < pow(10, axes->bottom))
        return;
    fprintf(file,
            "<path class=\"roof core\" d=\"M%d %.1fH%d\"/><path class=\"roof core\" d=\"M%d %dh14\"/>"
            "<text class=\"name\" x=\"%d\" y=\"%d\">%s: %.4ge9/s</text>"
            "<text class=\"name\" x=\"%d\" y=\"%d\">by what it executes</text>\n",
            LEFT, y_of(axes, rate), WIDTH - RIGHT, WIDTH - RIGHT + 6, y - 4, WIDTH - RIGHT + 24, y,
            bound->name, rate / 1e9, WIDTH - RIGHT + 24, y + 14);
}

/* A ring at the predicted time, and a line up to the point at the bound. */
static void put_predicted(FILE *file, const struct axes *axes, const struct wm_profile_kernel *kernel)
{
    char name[TOOL_NAME], predicted[TOOL_SENTENCES];
    const double bound = rate_of(kernel), rate = predicted_rate(kernel);
    if (!(rate > 0) || !(bound > 0) || !tool_predicted_text(kernel, predicted))
        return;
    for (unsigned i = LEVELS; i-- > 0;) {
        const double bytes = bytes_of(kernel, levels[i].level);
        if (!(bytes > 0))
            continue;
        const double x = x_of(axes, (double)kernel->instructions / bytes);
        fprintf(file, "<path class=\"stem %s\" d=\"M%.1f %.1fV%.1f\"/>", levels[i].class, x,
                y_of(axes, bound), y_of(axes, rate));
        fprintf(file, "<circle class=\"ring %s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%u\"><title>", levels[i].class,
                x, y_of(axes, rate), 4 + i);
        html_format(file, "%s, %s: predicted %s", tool_name(kernel->kernel, name), levels[i].name, predicted);
        fputs("</title></circle>\n", file);
    }
}

/* What the two kinds of points are. */
static void put_legend(FILE *file)
{
    const int y = TOP + 28 + 18 * LEVELS + 40;
    fprintf(file,
            "<circle class=\"point memory\" cx=\"%d\" cy=\"%d\" r=\"5\"/><text class=\"name\" x=\"%d\" "
            "y=\"%d\">at the bound</text>\n"
            "<circle class=\"ring memory\" cx=\"%d\" cy=\"%d\" r=\"4\"/><text class=\"name\" x=\"%d\" "
            "y=\"%d\">predicted</text>\n",
            WIDTH - RIGHT + 13, y - 4, WIDTH - RIGHT + 24, y, WIDTH - RIGHT + 13, y + 14, WIDTH - RIGHT + 24,
            y + 18);
}

static void put_kernel(FILE *file, const struct axes *axes, const struct wm_profile_kernel *kernel,
                       size_t number)
{
    char name[TOOL_NAME];
    const double rate = rate_of(kernel);
    for (unsigned i = LEVELS; rate > 0 && i-- > 0;) { /* equal intensities: the smaller circle on top */
        const double bytes = bytes_of(kernel, levels[i].level);
        if (!(bytes > 0))
            continue;
        const double intensity = (double)kernel->instructions / bytes;
        fprintf(file, "<circle class=\"point %s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%u\"><title>", levels[i].class,
                x_of(axes, intensity), y_of(axes, rate), 5 + 2 * i);
        html_format(file, "%s, %s: %.3g instructions per byte", tool_name(kernel->kernel, name),
                    levels[i].name, intensity);
        fprintf(file, "</title></circle><text class=\"number\" x=\"%.1f\" y=\"%.1f\">%zu</text>\n",
                x_of(axes, intensity), y_of(axes, rate) + 3.5, number);
    }
}

void html_roofline(FILE *file, const struct tool_report *report)
{
    const struct wm_profile_kernel **kernels;
    const size_t count = html_kernels(report, &kernels);
    char name[TOOL_NAME];
    bool any = false;
    for (size_t i = 0; i < count; i++)
        any |= rate_of(kernels[i]) > 0;
    if (any) {
        const struct axes axes = axes_of(kernels, count);
        fprintf(file,
                "<h2>Roofline</h2>\n<svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" "
                "aria-label=\"roofline\">\n",
                WIDTH, HEIGHT);
        put_axes(file, &axes);
        put_roofs(file, &axes, kernels[0]->gpu);
        if (count == 1)
            put_core(file, &axes, kernels[0]);
        for (size_t i = count; i-- > 0;)
            put_predicted(file, &axes, kernels[i]);
        for (size_t i = count; i-- > 0;)
            put_kernel(file, &axes, kernels[i], i + 1);
        put_legend(file);
        fputs("</svg>\n<p class=\"sub\">A point for each level of memory that a kernel uses, at the "
              "kernel\u2019s "
              "bound: it can only be lower. A ring is at its predicted time. ",
              file);
        for (size_t i = 0; i < count; i++)
            html_format(file, "%s%zu: %s", i ? ", " : "", i + 1, tool_name(kernels[i]->kernel, name));
        fputs(".</p>\n", file);
    }
    free(kernels);
}
