/* SPDX-License-Identifier: MIT */
/* wavemem replay: profiles a trace of `wavemem prof`, for its product or another one. */
#include "tool/input.h"
#include "tool/replay.h"
#include "tool/report/document.h"
#include "tool/report/prof.h"
#include "tool/report/summary.h"
#include "tool/tool.h"

#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: wavemem replay FILE [--gpu NAME[,NAME...]] [--l1-size BYTES] [--l2-size BYTES] [--last-size "
    "BYTES] ...\n"
    "\n"
    "Repeats the report of the 'wavemem prof' that wrote the trace FILE, without executing the kernel, or\n"
    "models the same accesses on another product of the same generation or with other cache sizes.\n"
    "\n"
    "Would a larger L2 help?\n"
    "  wavemem prof ... --trace kernel.trace\n"
    "  wavemem replay kernel.trace --l2-size 16M\n"
    "Another product, and the differences instruction by instruction:\n"
    "  wavemem replay kernel.trace --json=here.json\n"
    "  wavemem replay kernel.trace --gpu mi100 --json=there.json\n"
    "  wavemem diff here.json there.json\n"
    "Several products in one table:\n"
    "  wavemem replay kernel.trace --gpu mi100,mi210,vega64\n"
    "\n"
    "      --gpu NAME[,NAME...]  the product; default: that of the trace. Several are compared as by\n"
    "                        'wavemem prof'; sizes of caches are then those of each\n"
    "      --l1-size BYTES   size of a vector L1 (L0 from gfx10 on); 0: none. Suffixes K, M and G mean\n"
    "                        2^10, 2^20 and 2^30 bytes\n"
    "      --l2-size BYTES   size of the L2 (per XCD); not 0\n"
    "      --keep-l2         L2 keeps its contents from one dispatch to the next, also if it did not in "
    "FILE\n"
    "      --last-size BYTES size of the last-level cache; 0: none\n"
    "      --all, --instructions, --show COLUMNS, --sort COLUMN, --source[=DIR], --source-path DIR, --csv "
    "FILE,\n"
    "      --counters FILE, --html FILE, --json[=FILE], --fail-if CONDITION   as for 'wavemem prof'\n"
    "  -h, --help\n";

enum {
    OPT_HELP = 1,
    OPT_GPU,
    OPT_L1,
    OPT_L2,
    OPT_LAST,
    OPT_KEEP_L2,
    OPT_SHOW,
    OPT_ALL,
    OPT_INSTRUCTIONS,
    OPT_SORT,
    OPT_SOURCE,
    OPT_SOURCE_PATH,
    OPT_CSV,
    OPT_COUNTERS,
    OPT_HTML,
    OPT_JSON,
    OPT_FAIL_IF,
};

struct options {
    const char *path;
    const char *size[WM_CACHE_LEVELS]; /* as given; NULL: the product's */
    struct tool_prof_outputs outputs;
    bool keeps_l2, help;
};

static int read_size(struct options *options, enum wm_cache_level level, const char *name, const char *value)
{
    uint64_t bytes;
    if (!tool_parse_size(value, &bytes))
        return tool_fail("%s %s: expected bytes, such as 65536, 64K or 4M", name, value);
    options->size[level] = value;
    return TOOL_CLEAN;
}

static int read_option(struct options *options, int id, const char *value)
{
    struct tool_prof_outputs *outputs = &options->outputs;
    switch (id) {
    case OPT_GPU:
        return tool_choose_products("", value, &outputs->products);
    case OPT_L1:
        return read_size(options, WM_CACHE_VECTOR, "--l1-size", value);
    case OPT_L2:
        return read_size(options, WM_CACHE_L2, "--l2-size", value);
    case OPT_LAST:
        return read_size(options, WM_CACHE_LAST, "--last-size", value);
    case OPT_KEEP_L2:
        options->keeps_l2 = true;
        break;
    case OPT_SHOW:
        outputs->show.show = value;
        return tool_check_report_options(&outputs->show);
    case OPT_ALL:
        outputs->show.all = true;
        break;
    case OPT_INSTRUCTIONS:
        outputs->show.instructions = true;
        break;
    case OPT_SORT:
        outputs->show.sort = value;
        return tool_check_report_options(&outputs->show);
    case OPT_SOURCE:
        outputs->show.source = true;
        return value ? tool_add_source_path(&outputs->show, "--source", value) : TOOL_CLEAN;
    case OPT_SOURCE_PATH:
        return tool_add_source_path(&outputs->show, "--source-path", value);
    case OPT_CSV:
        outputs->show.csv_path = value;
        break;
    case OPT_COUNTERS:
        outputs->counters_path = value;
        break;
    case OPT_HTML:
        outputs->html_path = value;
        break;
    case OPT_JSON:
        outputs->json = true;
        outputs->json_path = value;
        break;
    default:
        return tool_gates_add(&outputs->gates, "--fail-if", value);
    }
    return TOOL_CLEAN;
}

static const struct tool_option table[] = {
    {"help", 'h', TOOL_NO_VALUE, OPT_HELP},
    {"gpu", 0, TOOL_VALUE, OPT_GPU},
    {"l1-size", 0, TOOL_VALUE, OPT_L1},
    {"l2-size", 0, TOOL_VALUE, OPT_L2},
    {"last-size", 0, TOOL_VALUE, OPT_LAST},
    {"keep-l2", 0, TOOL_NO_VALUE, OPT_KEEP_L2},
    {"show", 0, TOOL_VALUE, OPT_SHOW},
    {"all", 0, TOOL_NO_VALUE, OPT_ALL},
    {"instructions", 0, TOOL_NO_VALUE, OPT_INSTRUCTIONS},
    {"sort", 0, TOOL_VALUE, OPT_SORT},
    {"source", 0, TOOL_OPTIONAL_VALUE, OPT_SOURCE},
    {"csv", 0, TOOL_VALUE, OPT_CSV},
    {"counters", 0, TOOL_VALUE, OPT_COUNTERS},
    {"html", 0, TOOL_VALUE, OPT_HTML},
    {"json", 0, TOOL_OPTIONAL_VALUE, OPT_JSON},
    {"fail-if", 0, TOOL_VALUE, OPT_FAIL_IF},
    {"source-path", 0, TOOL_VALUE, OPT_SOURCE_PATH},
    {NULL, 0, TOOL_NO_VALUE, 0},
};

static int read_options(struct options *options, int argc, char **argv)
{
    struct tool_words words = {.verb = argv[0], .options = table, .count = argc - 1, .words = argv + 1};
    for (int id; (id = tool_next_option(&words)) != TOOL_OPTION_END;) {
        int code = TOOL_CLEAN;
        if (id == TOOL_OPTION_WRONG)
            return TOOL_WRONG;
        if (id == OPT_HELP) {
            options->help = true;
            return TOOL_CLEAN;
        }
        if (id != TOOL_OPTION_OPERAND)
            code = read_option(options, id, words.value);
        else if (options->path)
            code =
                tool_fail("unexpected '%s': one trace at a time, and it is %s", words.value, options->path);
        else
            options->path = words.value;
        if (code != TOOL_CLEAN)
            return code;
    }
    return options->path ? TOOL_CLEAN : tool_fail("a trace is needed: wavemem replay FILE ...");
}

/* Gives the product the cache sizes of the options. */
static int set_sizes(const struct options *options, struct wm_gpu *gpu)
{
    for (unsigned level = 0; level < WM_CACHE_LEVELS; level++) {
        if (!options->size[level])
            continue;
        const bool has_it = gpu->cache[level].bytes;
        tool_parse_size(options->size[level], &gpu->cache[level].bytes);
        if (gpu->cache[level].bytes && !has_it)
            return tool_fail("--last-size %s: %s has no last-level cache", options->size[level], gpu->name);
    }
    return TOOL_CLEAN;
}

/* Sets the first of the chosen products, or the trace's. sized: room for all of them with the given cache
 * sizes. */
static int choose_gpus(struct options *options, struct wm_profile *profile, struct wm_gpu *sized)
{
    struct wm_diag diag;
    struct tool_products *products = &options->outputs.products;
    if (!products->count) {
        if (wm_trace_gpu(options->outputs.replayed, options->outputs.replayed_bytes, options->path,
                         &products->gpu[0], &diag) != WM_OK)
            return tool_fail("%s", diag.message);
        products->count = 1;
    }
    for (size_t i = 0; i < products->count; i++) {
        sized[i] = *products->gpu[i];
        if (set_sizes(options, &sized[i]) != TOOL_CLEAN)
            return TOOL_WRONG;
        products->gpu[i] = &sized[i];
    }
    return wm_profile_set_gpu(profile, &sized[0], &diag) == WM_OK ? TOOL_CLEAN
                                                                  : tool_fail("%s", diag.message);
}

static json_t *json_dispatches(struct wm_profile *profile)
{
    size_t count;
    const struct wm_profile_dispatch *dispatch = wm_profile_dispatches(profile, &count);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_pack("{s:o, s:s, s:o, s:o}", "kernel",
                                              tool_json_text(dispatch[i].kernel), "target",
                                              dispatch[i].target, "grid", tool_json_extent(dispatch[i].grid),
                                              "workgroup", tool_json_extent(dispatch[i].workgroup)));
    return list;
}

/* Reports what is missing from the trace, and so from its replay. */
static int tell_losses(struct wm_profile *profile, json_t *json)
{
    size_t count;
    const struct wm_profile_kernel *kernel = wm_profile_kernels(profile, &count);
    int code = TOOL_CLEAN;
    for (size_t i = 0; i < count; i++) {
        char why[TOOL_SENTENCES];
        if (tool_loses_accesses(&kernel[i]) && tool_cut_text(&kernel[i], why))
            code = tool_incomplete(json, kernel[i].kernel, why);
    }
    return code;
}

int tool_tell_more(json_t *json, const struct tool_replay_more *more)
{
    int code = more->killed ? tool_incomplete(json, more->who, more->killed) : TOOL_CLEAN;
    for (const char *at = more->losses; at && *at; at += strspn(at, "\n")) {
        char line[TOOL_SENTENCES];
        const size_t length = strcspn(at, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, at);
        code = tool_incomplete(json, more->who, line);
        at += length;
    }
    return code;
}

static int replay(struct options *options, const struct tool_replay_more *more)
{
    struct wm_diag diag;
    struct wm_profile *profile;
    struct wm_gpu sized[TOOL_PRODUCTS];
    uint8_t *bytes;
    size_t size;
    if (!tool_read_file(options->path, &bytes, &size, &diag))
        return tool_fail("%s", diag.message);
    if (wm_profile_create(&profile, &diag) != WM_OK) {
        free(bytes);
        return tool_fail("%s", diag.message);
    }
    options->outputs.replayed = bytes;
    options->outputs.replayed_bytes = size;
    json_t *json = tool_report("prof");
    int code = tool_check_outputs(&options->outputs);
    if (code == TOOL_CLEAN)
        code = choose_gpus(options, profile, sized);
    if (options->keeps_l2)
        wm_profile_keep_l2(profile, &diag);
    if (code == TOOL_CLEAN && wm_profile_replay(profile, bytes, size, options->path, &diag) != WM_OK)
        code = tool_fail("%s", diag.message);
    json_object_set_new(json, "dispatches", json_dispatches(profile));
    if (more->fidelity)
        json_object_set(json, "fidelity", more->fidelity);
    if (code == TOOL_CLEAN) {
        code = tool_worse(more->code, tool_worse(tell_losses(profile, json), tool_tell_more(json, more)));
        code = tool_show_profile(&options->outputs, profile, NULL, 0, json, code);
    }
    json_decref(json);
    wm_profile_destroy(profile);
    free(bytes);
    return code;
}

int tool_check_replay(int argc, char **argv)
{
    struct options options = {0};
    const int code = read_options(&options, argc, argv);
    return code == TOOL_CLEAN ? tool_check_outputs(&options.outputs) : code;
}

int tool_replay(int argc, char **argv, const struct tool_replay_more *more)
{
    struct options options = {0};
    const int code = read_options(&options, argc, argv);
    if (code == TOOL_CLEAN && options.help)
        fputs(help, stdout);
    if (code != TOOL_CLEAN || options.help)
        return code;
    options.outputs.command = tool_command_line(argc, argv);
    const int result = replay(&options, more);
    free(options.outputs.command);
    return result;
}

static int cmd_replay(int argc, char **argv)
{
    return tool_replay(argc, argv, &(struct tool_replay_more){0});
}

const struct tool_verb tool_verb_replay = {
    "replay",   "repeat a profile from a trace, also for another product or cache size",
    cmd_replay, help,
    table,      NULL};
