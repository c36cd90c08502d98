/* SPDX-License-Identifier: MIT */
/* The memory chart in the page of `prof --html`: waves, caches and memory as boxes, and what moves between
 * them.
 *
 * Shares of peak are those of the bounds: how busy the part is if the kernel runs as fast as its longest
 * bound. Of a link that has a part's work only in part, such as scalar loads from L2, it is its bytes' part
 * of that share. Links without a known peak have bytes only. */
#include "tool/html/parts.h"
#include "tool/report/summary.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

enum {
    WIDTH = 900,
    BOX_WIDTH = 100,
    PAD = 6,
    LONGEST_TITLE = 12, /* characters */
    BOX_HEIGHT = 62,
    ROW = 84, /* from one box to the one below it */
    TOP = 8,
    MOST_COLUMNS = 6,
};

/* The clients of L2, and LDS. */
enum client { VECTOR, SCALAR, CODE, LDS, CLIENTS };

/* Bytes towards the waves, and away from them. */
struct traffic {
    uint64_t in, out;
};

struct flows {
    const struct wm_profile_kernel *kernel;
    struct traffic waves[CLIENTS];  /* with the waves */
    struct traffic behind[CLIENTS]; /* with GL1 if there is one, else L2 */
    struct traffic beyond[CLIENTS]; /* with L2 */
    uint64_t conflicts, passes;     /* of LDS */
};

static void add(struct traffic *traffic, bool in, uint64_t bytes)
{
    *(in ? &traffic->in : &traffic->out) += bytes;
}

static const struct wm_profile_cache *cache_of(const struct wm_profile_kernel *kernel,
                                               enum wm_cache_level level)
{
    for (uint32_t i = 0; i < kernel->caches; i++)
        if (kernel->cache[i].level == level)
            return &kernel->cache[i];
    return NULL;
}

static struct traffic traffic_of(const struct wm_profile_cache *cache)
{
    struct traffic traffic = {0};
    if (cache)
        traffic = (struct traffic){cache->read.bytes, cache->write.bytes + cache->atomic.bytes};
    return traffic;
}

/* Functions that several kernels may call have rows of their own, which count for the only kernel. */
static bool is_of(const struct tool_report *report, const struct wm_profile_kernel *kernel,
                  const struct wm_profile_row *row)
{
    return tool_row_start(row) == kernel->pc || report->kernel_count == 1;
}

static struct flows flows_of(const struct tool_report *report, const struct wm_profile_kernel *kernel)
{
    struct flows flows = {.kernel = kernel};
    const bool gl1 = cache_of(kernel, WM_CACHE_GL1);
    flows.waves[VECTOR] = traffic_of(cache_of(kernel, WM_CACHE_VECTOR));
    flows.waves[SCALAR] = traffic_of(cache_of(kernel, WM_CACHE_SCALAR));
    flows.waves[CODE] = traffic_of(cache_of(kernel, WM_CACHE_INSTRUCTION));
    for (size_t i = 0; i < report->count; i++) {
        const struct wm_profile_row *row = report->rows[i];
        const enum client client = strcmp(row->path, "SMEM") == 0 ? SCALAR : VECTOR;
        const bool in = strcmp(row->operation, "load") == 0;
        if (!is_of(report, kernel, row))
            continue;
        if (row->has_lds) {
            add(&flows.waves[LDS], in, row->bytes_asked);
            flows.conflicts += row->lds_conflicts;
            flows.passes += row->lds_passes;
        }
        if (!row->has_caches)
            continue;
        add(&flows.beyond[client], in, row->cache[WM_CACHE_L2].bytes);
        add(&flows.behind[client], in, row->cache[gl1 && in ? WM_CACHE_GL1 : WM_CACHE_L2].bytes);
    }
    flows.beyond[CODE].in = kernel->fetch_use[WM_CACHE_L2].bytes;
    flows.behind[CODE].in = kernel->fetch_use[gl1 ? WM_CACHE_GL1 : WM_CACHE_L2].bytes;
    return flows;
}

/* The part's time, divided by that of the part that binds; below 0: unknown. */
static double share_of(const struct wm_profile_kernel *kernel, const char *part)
{
    for (uint32_t i = 0; part && kernel->binds && i < kernel->bounds; i++)
        if (strcmp(kernel->bound[i].name, part) == 0 && kernel->binds->seconds > 0)
            return kernel->bound[i].seconds / kernel->binds->seconds;
    return -1;
}

/* The busiest part that executes what waves issue, as "VALU 40%", and its share; below 0: none. */
static double busiest(const struct wm_profile_kernel *kernel, char text[TOOL_SHORT])
{
    static const char *const parts[] = {"issue", "VALU", "SALU", "branch", "export"};
    double most = -1;
    *text = '\0';
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (share_of(kernel, parts[i]) > most) {
            most = share_of(kernel, parts[i]);
            snprintf(text, TOOL_SHORT, "%s %.0f%%", parts[i], 100 * most);
        }
    return most;
}

/* ---- boxes and links ---- */

static void put_share(FILE *file, int x, int y, double share)
{
    fprintf(file, "<text x=\"%d\" y=\"%d\" class=\"share%s\">%.0f%% peak</text>", x, y,
            share > 0.8 ? " hot" : "", 100 * share);
}

/* Three digits, for the narrow gaps between boxes: "9.74 MiB", "12 KiB". */
static void short_bytes(uint64_t bytes, char text[TOOL_SHORT])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    size_t unit = 0;
    for (; value >= 1000 && unit + 1 < sizeof units / sizeof *units; unit++)
        value /= 1024;
    snprintf(text, TOOL_SHORT, "%.3g %s", value, units[unit]);
}

/* Two words that do not fit beside each other get a line each; returns the height of the title. */
static int put_title(FILE *file, int x, int y, const char *title)
{
    const char *blank = strlen(title) > LONGEST_TITLE ? strchr(title, ' ') : NULL;
    fprintf(file, "<text x=\"%d\" y=\"%d\" class=\"title\">", x, y);
    html_format(file, "%.*s", (int)(blank ? blank - title : (ptrdiff_t)strlen(title)), title);
    if (blank) {
        fprintf(file, "</text><text x=\"%d\" y=\"%d\" class=\"title\">", x, y + 15);
        html_text(file, blank + 1);
    }
    fputs("</text>", file);
    return blank ? 30 : 15;
}

/* A box with a title, up to two lines of text, and at its foot a gauge of its share of peak. */
static void put_box(FILE *file, int x, int y, int height, const char *title, const char *first,
                    const char *second, double share)
{
    const char *hot = share > 0.8 ? " hot" : "";
    const int left = x + PAD, room = BOX_WIDTH - 2 * PAD;
    fprintf(file, "<g><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\" class=\"box%s\"/>", x, y,
            BOX_WIDTH, height, hot);
    if (share >= 0)
        fprintf(file,
                "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"5\" class=\"empty\"/>"
                "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"5\" class=\"gauge%s\"/>",
                left, y + height - 10, room, left, y + height - 10, share * room, hot);
    y += 18 + put_title(file, left, y + 18, title);
    fprintf(file, "<text x=\"%d\" y=\"%d\">", left, y);
    html_text(file, first);
    fprintf(file, "</text><text x=\"%d\" y=\"%d\">", left, y + 13);
    html_text(file, second);
    fputs("</text></g>\n", file);
}

static void put_arrow(FILE *file, int from, int to, int y, bool left)
{
    const int head = left ? 6 : -6, tip = left ? from : to;
    fprintf(file, "<path class=\"link\" d=\"M%d %dH%d\"/><path class=\"head\" d=\"M%d %dl%d -4v8z\"/>",
            left ? from + 5 : from, y, left ? to : to - 5, tip, y, head);
}

/* Both directions between two columns, each with its bytes, and the share of peak below. */
static void put_link(FILE *file, int from, int to, int y, struct traffic traffic, double share)
{
    char bytes[TOOL_SHORT];
    const int middle = (from + to) / 2;
    if (!traffic.in && !traffic.out)
        return;
    if (traffic.in) {
        short_bytes(traffic.in, bytes);
        fprintf(file, "<text x=\"%d\" y=\"%d\" class=\"bytes\">%s</text>", middle, y - 4, bytes);
        put_arrow(file, from + 2, to - 2, y, true);
    }
    if (traffic.out) {
        short_bytes(traffic.out, bytes);
        fprintf(file, "<text x=\"%d\" y=\"%d\" class=\"bytes\">%s</text>", middle, y + 15, bytes);
        put_arrow(file, from + 2, to - 2, y + 19, false);
    }
    if (share >= 0)
        put_share(file, middle, y + (traffic.out ? 32 : 14), share);
}

static void hit_text(const struct wm_profile_cache *cache, char text[TOOL_SHORT])
{
    const struct wm_cache_use use = tool_cache_use(cache);
    *text = '\0';
    if (use.requests)
        snprintf(text, TOOL_SHORT, "%.1f%% hits", 100 * (double)use.hits / (double)use.requests);
}

static void size_text(const struct wm_profile_kernel *kernel, const struct wm_profile_cache *cache,
                      char text[2 * TOOL_SHORT])
{
    char size[TOOL_SHORT];
    const uint64_t bytes = kernel->gpu->cache[cache->level].bytes;
    snprintf(size, sizeof size, bytes >> 20 ? "%" PRIu64 " MiB" : "%" PRIu64 " KiB",
             bytes >> 20 ? bytes >> 20 : bytes >> 10);
    snprintf(text, 2 * TOOL_SHORT, cache->instances > 1 ? "%" PRIu32 " x %s" : "%.0" PRIu32 "%s",
             cache->instances > 1 ? cache->instances : 0, size);
}

static void put_cache(FILE *file, const struct wm_profile_kernel *kernel,
                      const struct wm_profile_cache *cache, int x, int y, int height, double share)
{
    char hits[TOOL_SHORT], size[2 * TOOL_SHORT];
    hit_text(cache, hits);
    size_text(kernel, cache, size);
    put_box(file, x, y, height, cache->name, *hits ? hits : "unused", size, share);
}

/* ---- the chart ---- */

static uint64_t total(struct traffic traffic)
{
    return traffic.in + traffic.out;
}

/* The part of a share that `some` bytes of `all` have; below 0: unknown. */
static double part_of(double share, uint64_t some, uint64_t all)
{
    return share < 0 || !all ? -1 : share * (double)some / (double)all;
}

/* Column 1: caches of a compute unit, and LDS; with their links to the waves and to column 2. */
static void put_near(FILE *file, const struct flows *flows, const int x[MOST_COLUMNS])
{
    static const struct {
        enum client client;
        enum wm_cache_level level;
        const char *link, *box; /* parts whose work they are */
    } near[] = {
        {VECTOR, WM_CACHE_VECTOR, "data", "L1"},
        {LDS, 0, "LDS", "LDS"},
        {SCALAR, WM_CACHE_SCALAR, NULL, NULL},
        {CODE, WM_CACHE_INSTRUCTION, "fetch", NULL},
    };
    const struct wm_profile_kernel *kernel = flows->kernel;
    const bool gl1 = cache_of(kernel, WM_CACHE_GL1);
    uint64_t all = 0;
    for (unsigned i = 0; i < CLIENTS; i++)
        all += total(flows->beyond[i]);
    for (unsigned i = 0; i < CLIENTS; i++) {
        const int y = TOP + (int)i * ROW, middle = y + BOX_HEIGHT / 2 - 8;
        const enum client client = near[i].client;
        double busy = share_of(kernel, near[i].box);
        if (client == LDS) /* instructions come to it one at a time */
            busy = fmax(busy, share_of(kernel, "LDS issue"));
        put_link(file, x[0] + BOX_WIDTH, x[1], middle, flows->waves[client], share_of(kernel, near[i].link));
        if (client != LDS) {
            if (cache_of(kernel, near[i].level))
                put_cache(file, kernel, cache_of(kernel, near[i].level), x[1], y, BOX_HEIGHT, busy);
            put_link(file, x[1] + BOX_WIDTH, x[2], middle, flows->behind[client],
                     gl1 ? -1 : part_of(share_of(kernel, "L2"), total(flows->beyond[client]), all));
            continue;
        }
        char first[TOOL_SHORT] = "unused", second[TOOL_SHORT] = "";
        if (flows->passes) {
            snprintf(first, sizeof first, "%.1f%% lost",
                     100 * (double)flows->conflicts / (double)flows->passes);
            snprintf(second, sizeof second, "to conflicts");
        }
        put_box(file, x[1], y, BOX_HEIGHT, "LDS", first, second, busy);
    }
}

void html_memory_chart(FILE *file, const struct tool_report *report, const struct wm_profile_kernel *kernel)
{
    static const enum wm_cache_level far[] = {WM_CACHE_GL1, WM_CACHE_L2, WM_CACHE_LAST};
    const struct flows flows = flows_of(report, kernel);
    const int height = 3 * ROW + BOX_HEIGHT, middle = TOP + height / 2 - 12;
    int x[MOST_COLUMNS], columns = 3;
    for (size_t i = 0; i < sizeof far / sizeof *far; i++)
        columns += cache_of(kernel, far[i]) != NULL;
    for (int i = 0; i < columns; i++)
        x[i] = i * (WIDTH - BOX_WIDTH - 2) / (columns - 1) + 1;
    char first[2 * TOOL_SHORT], second[2 * TOOL_SHORT];
    fprintf(file, "<svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"memory chart\">\n",
            WIDTH, height + 2 * TOP);
    snprintf(first, sizeof first, "%" PRIu64 " waves", kernel->waves);
    const double busy = busiest(kernel, second);
    put_box(file, x[0], TOP, height, "Waves", first, second, busy);
    put_near(file, &flows, x);
    int column = 2;
    const struct traffic memory = {kernel->memory_read, kernel->memory_written};
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        const struct wm_profile_cache *cache = cache_of(kernel, far[i]);
        if (!cache)
            continue;
        const char *part = far[i] == WM_CACHE_L2 ? "L2" : NULL;
        put_cache(file, kernel, cache, x[column], TOP, height, share_of(kernel, part));
        if (column > 2) /* column 2 has a link from each cache of column 1 */
            put_link(file, x[column - 1] + BOX_WIDTH, x[column], middle, traffic_of(cache),
                     share_of(kernel, part));
        column++;
    }
    put_link(file, x[column - 1] + BOX_WIDTH, x[column], middle, memory, share_of(kernel, "memory"));
    snprintf(first, sizeof first, "%.0f GB/s", kernel->gpu->memory_bandwidth);
    put_box(file, x[column], TOP, height, "Memory", first, "", share_of(kernel, "memory"));
    fputs("</svg>\n<p class=\"sub\">Arrows to the left: loads; to the right: stores and atomics. Shares of "
          "peak are those at which the kernel would run at its bound.",
          file);
    if (kernel->memory_dirty) {
        short_bytes(kernel->memory_dirty, first);
        fprintf(file, " %s of stores are still in the caches at the end.", first);
    }
    fputs("</p>\n", file);
}
