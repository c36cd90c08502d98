/* SPDX-License-Identifier: MIT */
/* wavemem merge: one result from the parts of a run that --shard split. */
#include "tool/arguments/npy.h"
#include "tool/output.h"
#include "tool/replay.h"
#include "tool/shard/conflicts.h"
#include "tool/text.h"
#include "tool/tool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: wavemem merge PART... [--out NAME=FILE] [--trace FILE] [options of the report]\n"
    "\n"
    "Combines the parts that 'wavemem run' or 'prof' with --shard and --part wrote, all of one dispatch: "
    "the\n"
    "buffers of --out, and the report of 'prof'. Both are those of the whole run if no workgroup of one "
    "part\n"
    "depends on one of another part. A byte of global memory that one part wrote and another part read or\n"
    "wrote is reported instead (exit code 1), and nothing is merged.\n"
    "\n"
    "Two processes, on one machine or on two:\n"
    "  wavemem prof ... --out out=out.npy --shard 1/2 --part p1\n"
    "  wavemem prof ... --out out=out.npy --shard 2/2 --part p2\n"
    "  wavemem merge p1 p2 --out out=out.npy --json=report.json\n"
    "As many as mpirun or Slurm starts:\n"
    "  mpirun -n 8 wavemem prof ... --shard auto --part part.%i && wavemem merge part.*\n"
    "\n"
    "  -o, --out NAME=FILE  write this output of the parts, as .npy or else as raw bytes; repeatable\n"
    "      --trace FILE     keep the merged trace, for 'wavemem replay'\n"
    "      --gpu NAME       the product; default: that of the parts\n"
    "      --json[=FILE]    write the report of 'prof' as JSON to stdout instead of text, or to FILE\n"
    "      --csv FILE, --html FILE, --counters FILE, --fail-if CONDITION, --show COLUMNS, --sort COLUMN,\n"
    "      --source[=DIR], --source-path DIR, --all, --instructions   as for 'wavemem prof'\n"
    "  -h, --help\n"
    "\n"
    "Exit codes: 0 clean, 1 workgroups of different parts communicate, or a condition of --fail-if holds,\n"
    "2 wrong usage or bad parts.\n";

enum { REPORT = 1 }; /* options that are passed on to `replay`: from here on */

struct request {
    bool help;
    struct tool_kept_list outs;
    const char *trace;
};

static const struct tool_option options[] = {
    {"help", 'h', TOOL_NO_VALUE, TOOL_KEEP(help)},
    {"out", 'o', TOOL_VALUE, TOOL_OPTION_LISTED, offsetof(struct request, outs)},
    {"trace", 0, TOOL_VALUE, TOOL_KEEP(trace)},
    {"gpu", 0, TOOL_VALUE, REPORT},
    {"json", 0, TOOL_OPTIONAL_VALUE, REPORT + 1},
    {"csv", 0, TOOL_VALUE, REPORT + 2},
    {"html", 0, TOOL_VALUE, REPORT + 3},
    {"counters", 0, TOOL_VALUE, REPORT + 4},
    {"fail-if", 0, TOOL_VALUE, REPORT + 5},
    {"show", 0, TOOL_VALUE, REPORT + 6},
    {"sort", 0, TOOL_VALUE, REPORT + 7},
    {"source", 0, TOOL_OPTIONAL_VALUE, REPORT + 8},
    {"source-path", 0, TOOL_VALUE, REPORT + 9},
    {"all", 0, TOOL_NO_VALUE, REPORT + 10},
    {"instructions", 0, TOOL_NO_VALUE, REPORT + 11},
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

static int by_first(const void *left, const void *right)
{
    const struct part *a = left, *b = right;
    return (a->first > b->first) - (a->first < b->first);
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

/* Whether the parts are all those of one dispatch; sorts them. */
static int check_parts(struct part *parts, size_t count)
{
    uint64_t next = 0;
    qsort(parts, count, sizeof *parts, by_first);
    for (size_t i = 0; i < count; i++) {
        const struct part *part = &parts[i], *first = &parts[0];
        if (strcmp(part->kernel, first->kernel) || strcmp(part->target, first->target))
            return tool_fail("%s: a part of kernel '%s' for %s; %s is of '%s' for %s", part->path,
                             part->kernel, part->target, first->path, first->kernel, first->target);
        if (strcmp(part->verb, first->verb))
            return tool_fail("%s: a part of '%s'; %s is of '%s'", part->path, part->verb, first->path,
                             first->verb);
        if (part->count != first->count || part->all != first->all)
            return tool_fail("%s: one of %" PRIu64 " parts of %" PRIu64 " workgroups; %s is one of %" PRIu64
                             " of %" PRIu64,
                             part->path, part->count, part->all, first->path, first->count, first->all);
        if (strcmp(part->digest, first->digest))
            return tool_fail("%s: its code, arguments or buffers are not those of %s", part->path,
                             first->path);
        if (!same_outputs(part, first))
            return tool_fail("%s: its --out options are not those of %s", part->path, first->path);
        if (part->first < next)
            return tool_fail("%s: workgroups from number %" PRIu64 " on are also in %s", part->path,
                             part->first, parts[i - 1].path);
        if (part->first > next || (i + 1 == count && part->workgroups != part->all - part->first))
            return tool_fail("parts are missing: of %" PRIu64 " parts there %s %zu, and no workgroup number "
                             "%" PRIu64,
                             part->count, count == 1 ? "is" : "are", count,
                             part->first > next ? next : part->first + part->workgroups);
        if (!part->workgroups || part->workgroups > part->all - part->first)
            return tool_fail("%s: the part is damaged: its workgroups are not those of the grid", part->path);
        next = part->first + part->workgroups;
    }
    return parts[0].whole
               ? TOOL_CLEAN
               : tool_fail("%s: the part is damaged: it has workgroup 0, but is not the first part",
                           parts[0].path);
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

/* Copies the bytes of the page that the output has. False: there are not so many. */
static bool apply_page(const struct part *part, const struct footprint_page *page,
                       const struct part_memory *output, uint8_t *complete, size_t *used)
{
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
        memcpy(complete + (at - output->address), part->data + *used, run);
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
            if (!apply_page(part, &part->pages[p], &part->outputs[i], complete[i], &used))
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
    struct wm_trace_part *traces = calloc(count, sizeof *traces);
    for (size_t i = 0; traces && i < count; i++)
        traces[i] = (struct wm_trace_part){.bytes = parts[i].trace,
                                           .size = parts[i].trace_size,
                                           .name = parts[i].path,
                                           .first_workgroup = parts[i].first,
                                           .workgroup_count = parts[i].workgroups};
    int code = traces ? TOOL_CLEAN : tool_fail("merge: out of memory");
    if (traces && wm_trace_merge(traces, count, path, &diag) != WM_OK)
        code = tool_fail("%s", diag.message);
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

/* ---- the verb ---- */

static int merge(const struct request *request, struct part *parts, size_t count, int word_count,
                 char **words)
{
    int code = check_parts(parts, count);
    code = code ? code : check_outs(&parts[0], &request->outs);
    const bool profiled = !strcmp(parts[0].verb, "prof");
    if (code == TOOL_CLEAN && !profiled && (word_count > 2 || request->trace))
        code = tool_fail("%s: %s is for parts of 'prof'; these are of '%s'", parts[0].path,
                         request->trace ? "--trace" : words[2], parts[0].verb);
    if (code == TOOL_CLEAN && !profiled && !request->outs.count)
        code = tool_fail("merge: nothing to write; expected --out NAME=FILE");
    code = code ? code : part_find_conflicts(parts, count, stderr);
    code = code ? code : merge_outputs(parts, count, &request->outs);
    return code || !profiled ? code : report(request, parts, count, word_count, words);
}

static int read_and_merge(const struct request *request, char **paths, size_t count, int word_count,
                          char **words)
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
    return code;
}

const struct tool_verb tool_verb_merge = {
    "merge", "combine the parts of a run that --shard split", cmd_merge, help, options, NULL};
