/* SPDX-License-Identifier: MIT */
/* wavemem merge: one result from the parts of a run that --shard split. */
#include "tool/arguments/npy.h"
#include "tool/check/show.h"
#include "tool/output.h"
#include "tool/replay.h"
#include "tool/report/document.h"
#include "tool/shard/conflicts.h"
#include "tool/shard/report.h"
#include "tool/text.h"
#include "tool/tool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: wavemem merge PART... [--out NAME=FILE] [--trace FILE] [options of the report]\n"
    "\n"
    "Combines the parts that 'wavemem run', 'prof' or 'check' with --shard and --part wrote, all of one "
    "job:\n"
    "the buffers of --out, and the report. Both are those of the whole run if no workgroup of one part "
    "depends\n"
    "on one of another part. A byte of global memory that one part wrote, and another part read or wrote in "
    "the\n"
    "same dispatch, or read in a later one, is reported instead (exit code 1), and nothing is merged. Parts "
    "of\n"
    "'check' are merged all the same, but the check is incomplete then (exit code 4): races between "
    "workgroups\n"
    "of different parts were not looked for.\n"
    "\n"
    "Two processes, on one machine or on two:\n"
    "  wavemem prof ... --out out=out.npy --shard 1/2 --part p1\n"
    "  wavemem prof ... --out out=out.npy --shard 2/2 --part p2\n"
    "  wavemem merge p1 p2 --out out=out.npy --json=report.json\n"
    "As many as mpirun or Slurm starts:\n"
    "  mpirun -n 8 wavemem check ... --shard auto --part part.%i && wavemem merge part.* --sarif "
    "check.sarif\n"
    "\n"
    "  -o, --out NAME=FILE  write this output of the parts, as .npy or else as raw bytes; repeatable\n"
    "      --json[=FILE]    write the report of 'run', 'prof' or 'check' as JSON to stdout instead of text, "
    "or\n"
    "                       to FILE\n"
    "      --all            print all of the report of 'prof' or 'check'\n"
    "Of parts of 'prof':\n"
    "      --trace FILE     keep the merged trace, for 'wavemem replay'\n"
    "      --gpu NAME[,NAME...]  the product; default: that of the parts. Several are compared\n"
    "      --csv FILE, --html FILE, --counters FILE, --fail-if CONDITION, --show COLUMNS, --sort COLUMN,\n"
    "      --source[=DIR], --source-path DIR, --instructions   as for 'wavemem prof'\n"
    "Of parts of 'check':\n"
    "      --only-kernel REGEX, --baseline OLD.json, --suppressions FILE, --write-suppressions FILE,\n"
    "      --sarif FILE, --junit FILE, --github   as for 'wavemem check'\n"
    "  -h, --help\n"
    "\n"
    "Exit codes: those of the verb that made the parts, of 'run' and 'prof' 1 also if workgroups of "
    "different\n"
    "parts communicate; 2 wrong usage or bad parts.\n";

/* Options that are passed on to `replay` begin with REPORT; other verbs have the last two as well. */
enum { REPORT = 1, REPORT_ALL = REPORT + 10, REPORT_JSON };

struct request {
    bool help;
    struct tool_kept_list outs;
    const char *trace;
    bool json;
    const char *json_path; /* NULL: standard output */
    struct tool_check_request check;
};

static const struct tool_option options[] = {
    {"help", 'h', TOOL_NO_VALUE, TOOL_KEEP(help)},
    {"out", 'o', TOOL_VALUE, TOOL_OPTION_LISTED, offsetof(struct request, outs)},
    {"trace", 0, TOOL_VALUE, TOOL_KEEP(trace)},
    {"gpu", 0, TOOL_VALUE, REPORT},
    {"csv", 0, TOOL_VALUE, REPORT + 1},
    {"html", 0, TOOL_VALUE, REPORT + 2},
    {"counters", 0, TOOL_VALUE, REPORT + 3},
    {"fail-if", 0, TOOL_VALUE, REPORT + 4},
    {"show", 0, TOOL_VALUE, REPORT + 5},
    {"sort", 0, TOOL_VALUE, REPORT + 6},
    {"source", 0, TOOL_OPTIONAL_VALUE, REPORT + 7},
    {"source-path", 0, TOOL_VALUE, REPORT + 8},
    {"instructions", 0, TOOL_NO_VALUE, REPORT + 9},
    {"all", 0, TOOL_NO_VALUE, REPORT_ALL},
    {"json", 0, TOOL_OPTIONAL_VALUE, REPORT_JSON},
    {"only-kernel", 0, TOOL_VALUE, TOOL_KEEP(check.only_kernel)},
    {"suppressions", 0, TOOL_VALUE, TOOL_KEEP(check.suppressions)},
    {"write-suppressions", 0, TOOL_VALUE, TOOL_KEEP(check.write_suppressions)},
    {"baseline", 0, TOOL_VALUE, TOOL_KEEP(check.baseline)},
    {"sarif", 0, TOOL_VALUE, TOOL_KEEP(check.sarif)},
    {"junit", 0, TOOL_VALUE, TOOL_KEEP(check.junit)},
    {"github", 0, TOOL_NO_VALUE, TOOL_KEEP(check.github)},
    {NULL, 0, TOOL_NO_VALUE, 0, 0},
};

static const char *option_name(int id)
{
    const struct tool_option *option = options;
    while (option->id != id)
        option++;
    return option->name;
}

/* ---- the parts ---- */

static int by_index(const void *left, const void *right)
{
    const struct part *a = left, *b = right;
    return (a->index > b->index) - (a->index < b->index);
}

static bool same_outputs(const struct part *a, const struct part *b)
{
    bool same = a->output_count == b->output_count;
    for (size_t i = 0; same && i < a->output_count; i++) {
        const struct part_memory *x = &a->outputs[i], *y = &b->outputs[i];
        same = !strcmp(x->name, y->name) && x->address == y->address && x->size == y->size;
    }
    return same;
}

/* Whether the part is of the same job as the first one. */
static int check_job(const struct part *part, const struct part *first)
{
    const char *kernel = part->dispatches[0].kernel, *of_first = first->dispatches[0].kernel;
    if (strcmp(kernel, of_first) || strcmp(part->target, first->target))
        return tool_fail("%s: a part of kernel '%s' for %s; %s is of '%s' for %s", part->path, kernel,
                         part->target, first->path, of_first, first->target);
    if (strcmp(part->verb, first->verb))
        return tool_fail("%s: a part of '%s'; %s is of '%s'", part->path, part->verb, first->path,
                         first->verb);
    if (part->dispatch_count != first->dispatch_count)
        return tool_fail("%s: a part of %zu dispatches; %s is of %zu", part->path, part->dispatch_count,
                         first->path, first->dispatch_count);
    for (size_t d = 0; d < part->dispatch_count; d++)
        if (part->count != first->count || part->dispatches[d].all != first->dispatches[d].all)
            return tool_fail("%s: one of %" PRIu64 " parts of %" PRIu64 " workgroups; %s is one of %" PRIu64
                             " of %" PRIu64,
                             part->path, part->count, part->dispatches[d].all, first->path, first->count,
                             first->dispatches[d].all);
    if (strcmp(part->digest, first->digest))
        return tool_fail("%s: its code, arguments or buffers are not those of %s", part->path, first->path);
    if (!same_outputs(part, first))
        return tool_fail("%s: its --out options are not those of %s", part->path, first->path);
    return TOOL_CLEAN;
}

/* Whether the workgroups of dispatch `index` are those that the part must have. */
static bool has_its_workgroups(const struct part *part, size_t index)
{
    const struct part_dispatch *dispatch = &part->dispatches[index];
    uint64_t first, workgroups;
    if (!dispatch->cluster)
        return false;
    tool_workgroups_of(&(struct tool_range){part->index, part->count}, dispatch->all, dispatch->cluster,
                       &first, &workgroups);
    return dispatch->all && first == dispatch->first && workgroups == dispatch->workgroups;
}

/* Whether the parts are all those of one job; sorts them. */
static int check_parts(struct part *parts, size_t count)
{
    qsort(parts, count, sizeof *parts, by_index);
    for (size_t i = 0; i < count; i++) {
        const struct part *part = &parts[i];
        const int code = check_job(part, &parts[0]);
        if (code != TOOL_CLEAN)
            return code;
        if (part->index >= part->count)
            return tool_fail("%s: the part is damaged: part %" PRIu64 " of %" PRIu64, part->path,
                             part->index + 1, part->count);
        for (size_t d = 0; d < part->dispatch_count; d++)
            if (!has_its_workgroups(part, d))
                return tool_fail("%s: the part is damaged: its workgroups are not those of part %" PRIu64
                                 " of %" PRIu64,
                                 part->path, part->index + 1, part->count);
        if (part->index < i)
            return tool_fail("%s: part %" PRIu64 " is also %s", part->path, part->index + 1,
                             parts[i - 1].path);
        if (part->index > i || (i + 1 == count && part->count > count))
            return tool_fail("parts are missing: of %" PRIu64 " parts there %s %zu, and not number %" PRIu64,
                             part->count, count == 1 ? "is" : "are", count,
                             part->index > i ? (uint64_t)i + 1 : part->index + 2);
    }
    return TOOL_CLEAN;
}

/* ---- outputs ---- */

/* The index of the output called `name`; output_count: none. */
static size_t find_output(const struct part *part, const char *name, size_t length)
{
    size_t i = 0;
    while (i < part->output_count &&
           (strlen(part->outputs[i].name) != length || strncmp(part->outputs[i].name, name, length) != 0))
        i++;
    return i;
}

static int check_outs(const struct part *first, const struct tool_kept_list *outs)
{
    for (size_t i = 0; i < outs->count; i++) {
        const char *word = outs->kept[i].value, *equals = strchr(word, '=');
        if (!equals || equals == word || !equals[1])
            return tool_fail("--out %s: expected NAME=FILE", word);
        if (find_output(first, word, (size_t)(equals - word)) == first->output_count)
            return tool_fail("--out %s: the parts have no output '%.*s'; it must be one of --out when they "
                             "are made",
                             word, (int)(equals - word), word);
        if (tool_check_file("--out", equals + 1) != TOOL_CLEAN)
            return TOOL_WRONG;
    }
    return TOOL_CLEAN;
}

/* Copies the bytes of page `index` that the output has, unless another part wrote them later. False: there
 * are not so many. */
static bool apply_page(const struct part *part, size_t index, const struct part_memory *output,
                       uint8_t *complete, size_t *used)
{
    const struct footprint_page *page = &part->pages[index];
    const uint8_t *overwritten = part->overwritten[index];
    const uint64_t from = page->number * FOOTPRINT_PAGE;
    const uint64_t low = from > output->address ? from : output->address;
    const uint64_t end = output->address + output->size; /* part_read() looks that it does not overflow */
    const uint64_t high = end - from < FOOTPRINT_PAGE ? end : from + FOOTPRINT_PAGE;
    if (end <= from || low >= high)
        return true;
    uint64_t at = low;
    for (uint64_t run; (run = footprint_run(page->written, &at, high)); at += run) {
        if (run > part->data_size - *used)
            return false;
        for (uint64_t i = 0; i < run; i++)
            if (!footprint_has(overwritten, at + i))
                complete[at + i - output->address] = part->data[*used + i];
        *used += run;
    }
    return true;
}

/* Puts the bytes that a part but the first wrote into the complete outputs. */
static bool apply(const struct part *part, uint8_t *const *complete)
{
    size_t used = 0;
    for (size_t p = 0; p < part->page_count; p++)
        for (size_t i = 0; i < part->output_count; i++)
            if (!apply_page(part, p, &part->outputs[i], complete[i], &used))
                return false;
    return used == part->data_size;
}

static int write_output(const struct part_memory *output, const uint8_t *bytes, const char *path)
{
    const struct tool_type *type = tool_type_named(output->type, strlen(output->type));
    const size_t length = strlen(path);
    struct tool_file file;
    if (!tool_begin_file(&file, "--out", path))
        return TOOL_WRONG;
    if (length >= 4 && !strcmp(path + length - 4, ".npy") && type)
        tool_npy_write(file.whole.stream, type, bytes, output->size / type->size,
                       output->shape[0] ? output->shape : NULL);
    else
        fwrite(bytes, 1, output->size, file.whole.stream);
    return tool_end_file(&file);
}

static int merge_outputs(const struct part *parts, size_t count, const struct tool_kept_list *outs)
{
    const struct part *first = &parts[0];
    uint8_t **complete = calloc(first->output_count + 1, sizeof *complete);
    uint8_t *at = (uint8_t *)first->whole; /* the part's own memory, which nothing else needs */
    int code = complete ? TOOL_CLEAN : tool_fail("merge: out of memory");
    for (size_t i = 0; complete && i < first->output_count; i++) {
        complete[i] = at;
        at += first->outputs[i].size;
    }
    for (size_t i = 1; i < count && code == TOOL_CLEAN; i++)
        if (!apply(&parts[i], complete))
            code =
                tool_fail("%s: the part is damaged: its pages and their bytes do not agree", parts[i].path);
    for (size_t i = 0; i < outs->count && code == TOOL_CLEAN; i++) {
        const char *word = outs->kept[i].value, *equals = strchr(word, '=');
        const size_t output = find_output(first, word, (size_t)(equals - word));
        code = write_output(&first->outputs[output], complete[output], equals + 1);
    }
    free(complete);
    return code;
}

/* ---- the profile ---- */

static int merge_traces(const struct part *parts, size_t count, const char *path)
{
    struct wm_diag diag;
    const size_t dispatches = parts[0].dispatch_count; /* of all parts */
    struct wm_trace_part *traces = calloc(count, sizeof *traces);
    struct wm_trace_range *ranges = calloc(count * dispatches, sizeof *ranges);
    for (size_t i = 0; traces && ranges && i < count; i++) {
        struct wm_trace_range *its = &ranges[i * dispatches];
        for (size_t d = 0; d < dispatches; d++)
            its[d] = (struct wm_trace_range){parts[i].dispatches[d].first, parts[i].dispatches[d].workgroups};
        traces[i] =
            (struct wm_trace_part){parts[i].trace, parts[i].trace_size, parts[i].path, its, dispatches};
    }
    int code = traces && ranges ? TOOL_CLEAN : tool_fail("merge: out of memory");
    if (code == TOOL_CLEAN && wm_trace_merge(traces, count, path, &diag) != WM_OK)
        code = tool_fail("%s", diag.message);
    free(ranges);
    free(traces);
    return code;
}

/* words: of `replay`, the options of the report; the first two are set here. */
static int report(const struct request *request, const struct part *parts, size_t count, int word_count,
                  char **words)
{
    static char verb[] = "merge";
    char temporary[] = "/tmp/wavemem-merge-XXXXXX";
    char *path = (char *)request->trace;
    if (!path) {
        const int file = mkstemp(temporary);
        if (file < 0)
            return tool_fail("merge: no temporary file in /tmp");
        close(file);
        path = temporary;
    }
    int code = merge_traces(parts, count, path);
    words[0] = verb;
    words[1] = path;
    if (code == TOOL_CLEAN)
        code = tool_replay(word_count, words, &(struct tool_replay_more){0});
    if (!request->trace)
        unlink(temporary);
    return code;
}

/* ---- the reports of `run` and `check` ---- */

/* What the parts found, in all forms. Returns the exit code. */
static int report_findings(struct request *request, const struct part *parts, size_t count, bool stale,
                           json_t *document, int code)
{
    struct part_findings found;
    char why[160];
    if (!part_merge_findings(&found, parts, count)) {
        part_findings_free(&found);
        return TOOL_WRONG;
    }
    const size_t dropped = stale ? part_drop_uninit(&found) : 0;
    if (dropped) {
        snprintf(why, sizeof why,
                 "%zu finding%s of class uninit left out, because parts read what other parts wrote", dropped,
                 dropped == 1 ? "" : "s");
        tool_incomplete(document, parts[0].dispatches[0].kernel, why);
    }
    request->check.given = request->check.chosen = true;
    request->check.classes = found.classes;
    if (tool_check_prepare(&request->check) != TOOL_CLEAN)
        code = TOOL_WRONG;
    else
        code = tool_check_show(&request->check, found.findings, found.coverage, found.unchecked, document,
                               request->json && !request->json_path ? NULL : stdout, code);
    part_findings_free(&found);
    return code;
}

static int report_job(struct request *request, struct part *parts, size_t count)
{
    const bool checks = !strcmp(parts[0].verb, "check");
    bool stale;
    json_t *document = tool_report(parts[0].verb);
    int code = part_merge_dispatches(parts, count, document);
    const int shared = code == TOOL_WRONG
                           ? code
                           : part_find_conflicts(parts, count, stderr, checks ? document : NULL, &stale);
    if (shared == TOOL_WRONG || (shared != TOOL_CLEAN && !checks)) {
        code = shared;
    } else {
        if (shared == TOOL_CLEAN)
            code = tool_worse(code, merge_outputs(parts, count, &request->outs));
        else if (request->outs.count)
            tool_fail("merge: --out: nothing is written, since parts depend on one another");
        if (checks && code != TOOL_WRONG)
            code = report_findings(request, parts, count, stale, document, code);
        if (request->json && code != TOOL_WRONG)
            code = tool_write_report(document, request->json_path, code);
    }
    json_decref(document);
    return code;
}

/* ---- the verb ---- */

/* The option that parts of this verb have no use for; NULL: none. words: of `replay`. */
static const char *unfit_option(const struct request *request, const char *verb, int word_count,
                                char *const *words)
{
    const struct tool_check_request *check = &request->check;
    const struct {
        bool given;
        const char *name, *verb;
    } options[] = {
        {request->trace, "--trace", "prof"},
        {check->only_kernel, "--only-kernel", "check"},
        {check->suppressions, "--suppressions", "check"},
        {check->write_suppressions, "--write-suppressions", "check"},
        {check->baseline, "--baseline", "check"},
        {check->sarif, "--sarif", "check"},
        {check->junit, "--junit", "check"},
        {check->github, "--github", "check"},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].given && strcmp(options[i].verb, verb) != 0)
            return options[i].name;
    for (int i = 2; i < word_count; i++) {
        const bool json = !strncmp(words[i], "--json", 6), all = !strcmp(words[i], "--all");
        if (strcmp(verb, "prof") != 0 && !json && !(all && !strcmp(verb, "check")))
            return words[i];
    }
    return NULL;
}

static int merge(struct request *request, struct part *parts, size_t count, int word_count, char **words)
{
    bool stale;
    int code = check_parts(parts, count);
    code = code ? code : check_outs(&parts[0], &request->outs);
    if (code != TOOL_CLEAN)
        return code;
    const char *verb = parts[0].verb, *unfit = unfit_option(request, verb, word_count, words);
    if (unfit)
        return tool_fail("%s: these are parts of '%s', for which there is no %.*s", parts[0].path, verb,
                         (int)strcspn(unfit, "="), unfit);
    if (!strcmp(verb, "run") && !request->outs.count && !request->json)
        return tool_fail("merge: nothing to write; expected --out NAME=FILE or --json");
    if (strcmp(verb, "prof") != 0)
        return report_job(request, parts, count);
    code = part_find_conflicts(parts, count, stderr, NULL, &stale);
    code = code ? code : merge_outputs(parts, count, &request->outs);
    return code ? code : report(request, parts, count, word_count, words);
}

static int read_and_merge(struct request *request, char **paths, size_t count, int word_count, char **words)
{
    struct part *parts = calloc(count, sizeof *parts);
    int code = parts ? TOOL_CLEAN : tool_fail("merge: out of memory");
    size_t opened = 0;
    for (; opened < count && code == TOOL_CLEAN; opened++)
        code = part_read(&parts[opened], paths[opened]) ? TOOL_CLEAN : TOOL_WRONG;
    code = code ? code : merge(request, parts, count, word_count, words);
    for (size_t i = 0; i < opened; i++)
        part_free(&parts[i]);
    free(parts);
    return code;
}

static int cmd_merge(int argc, char **argv)
{
    struct request request = {0};
    struct tool_words line = {
        .verb = "merge", .options = options, .count = argc - 1, .words = argv + 1, .request = &request};
    char **paths = calloc((size_t)argc + 1, sizeof *paths);
    char **words = calloc((size_t)argc + 3, sizeof *words); /* of replay; the options' are owned */
    size_t count = 0;
    int word_count = 2, code = paths && words ? TOOL_CLEAN : tool_fail("merge: out of memory");
    for (int id; code == TOOL_CLEAN && (id = tool_next_option(&line)) != TOOL_OPTION_END;) {
        request.check.all |= id == REPORT_ALL;
        request.json |= id == REPORT_JSON;
        request.json_path = id == REPORT_JSON ? line.value : request.json_path;
        if (id == TOOL_OPTION_WRONG)
            code = TOOL_WRONG;
        else if (id == TOOL_OPTION_OPERAND)
            paths[count++] = (char *)line.value;
        else if (asprintf(&words[word_count++], line.value ? "--%s=%s" : "--%s", option_name(id),
                          line.value) < 0)
            code = tool_fail("merge: out of memory");
    }
    if (code == TOOL_CLEAN && request.help)
        fputs(help, stdout);
    else if (code == TOOL_CLEAN && !count)
        code = tool_fail("merge: parts are needed: wavemem merge PART...");
    else if (code == TOOL_CLEAN)
        code = read_and_merge(&request, paths, count, word_count, words);
    for (int i = 2; words && i < word_count; i++)
        free(words[i]);
    free(words);
    free(paths);
    tool_check_free(&request.check);
    return code;
}

const struct tool_verb tool_verb_merge = {
    "merge", "combine the parts of a run that --shard split", cmd_merge, help, options, NULL};
