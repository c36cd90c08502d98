/* SPDX-License-Identifier: MIT */
/* Jobs: parses the command line and job files into dispatches that are ready to run. */
#include "tool/arguments/job.h"

#include "tool/arguments/dwords.h"
#include "tool/input.h"
#include "tool/output.h"
#include "tool/text.h"
#include "tool/tool.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum option_id {
    OPT_HELP = 1,
    OPT_KERNEL,
    OPT_GRID,
    OPT_BLOCKS,
    OPT_GUESS,
    OPT_WORKGROUP,
    OPT_CLUSTER,
    OPT_OFFSET,
    OPT_ARG,
    OPT_OUT,
    OPT_EXPECT,
    OPT_BUFFER,
    OPT_SYMBOL,
    OPT_ALLOCATE_AT,
    OPT_FREE,
    OPT_SGPR,
    OPT_VGPR,
    OPT_REGISTER,
    OPT_BARE,
    OPT_REGISTERS,
    OPT_OF,
    OPT_SCRATCH,
    OPT_WAVE,
    OPT_LDS,
    OPT_TARGET,
    OPT_THEN,
    OPT_JOB,
    OPT_THREADS,
    OPT_STATS,
    OPT_FIDELITY,
    OPT_EXPORTS,
    OPT_COOPERATIVE,
    OPT_ALIGNMENT,
    OPT_CHECK_WAITS,
    OPT_CHECK_HAZARDS,
    OPT_CHECK,
    OPT_JSON,
    OPT_COUNTERS,
    OPT_FAIL_IF,
    OPT_HTML,
    OPT_CSV,
    OPT_TRACE,
    OPT_TIMELINE,
    OPT_VIEWER,
    OPT_SAMPLE,
    OPT_KEEP_L2,
    OPT_SHOW,
    OPT_ALL,
    OPT_INSTRUCTIONS,
    OPT_SORT,
    OPT_SOURCE,
    OPT_SOURCE_PATH,
    OPT_GPU,
    OPT_TIMEOUT,
    OPT_ON_VIOLATION,
    OPT_MAX_INSTRUCTIONS,
    OPT_SCALAR_CACHE,
    OPT_APERTURES,
    OPT_SHARD,
    OPT_PART,
};

const struct tool_option tool_job_options[] = {
    {"help", 'h', TOOL_NO_VALUE, OPT_HELP},
    {"guess", 0, TOOL_NO_VALUE, OPT_GUESS},
    {"kernel", 'k', TOOL_VALUE, OPT_KERNEL},
    {"grid", 'g', TOOL_VALUE, OPT_GRID},
    {"blocks", 0, TOOL_VALUE, OPT_BLOCKS},
    {"workgroup", 'b', TOOL_VALUE, OPT_WORKGROUP},
    {"cluster", 0, TOOL_VALUE, OPT_CLUSTER},
    {"offset", 0, TOOL_VALUE, OPT_OFFSET},
    {"arg", 'a', TOOL_VALUE, OPT_ARG},
    {"out", 'o', TOOL_VALUE, OPT_OUT},
    {"expect", 'e', TOOL_VALUE, OPT_EXPECT},
    {"buffer", 0, TOOL_VALUE, OPT_BUFFER},
    {"symbol", 0, TOOL_VALUE, OPT_SYMBOL},
    {"allocate-at", 0, TOOL_VALUE, OPT_ALLOCATE_AT},
    {"free", 0, TOOL_VALUE, OPT_FREE},
    {"sgpr", 0, TOOL_VALUE, OPT_SGPR},
    {"vgpr", 0, TOOL_VALUE, OPT_VGPR},
    {"register", 0, TOOL_VALUE, OPT_REGISTER},
    {"bare", 0, TOOL_NO_VALUE, OPT_BARE},
    {"registers", 0, TOOL_VALUE, OPT_REGISTERS},
    {"of", 0, TOOL_VALUE, OPT_OF},
    {"scratch", 0, TOOL_VALUE, OPT_SCRATCH},
    {"wave", 0, TOOL_VALUE, OPT_WAVE},
    {"lds", 0, TOOL_VALUE, OPT_LDS},
    {"target", 'm', TOOL_VALUE, OPT_TARGET},
    {"then", 0, TOOL_NO_VALUE, OPT_THEN},
    {"job", 0, TOOL_VALUE, OPT_JOB},
    {"threads", 'j', TOOL_VALUE, OPT_THREADS},
    {"stats", 0, TOOL_NO_VALUE, OPT_STATS},
    {"fidelity", 0, TOOL_NO_VALUE, OPT_FIDELITY},
    {"exports", 0, TOOL_NO_VALUE, OPT_EXPORTS},
    {"cooperative", 0, TOOL_NO_VALUE, OPT_COOPERATIVE},
    {"alignment", 0, TOOL_VALUE, OPT_ALIGNMENT},
    {"check-waits", 0, TOOL_NO_VALUE, OPT_CHECK_WAITS},
    {"check-hazards", 0, TOOL_NO_VALUE, OPT_CHECK_HAZARDS},
    {"check", 0, TOOL_OPTIONAL_VALUE, OPT_CHECK},
    TOOL_CHECK_OPTIONS(struct tool_job, check),
    TOOL_COMPILE_OPTIONS(struct tool_job, compile),
    TOOL_CHECK_OPTION("shuffle", TOOL_VALUE, struct tool_job, check.shuffle),
    {"json", 0, TOOL_OPTIONAL_VALUE, OPT_JSON},
    {"counters", 0, TOOL_VALUE, OPT_COUNTERS},
    {"fail-if", 0, TOOL_VALUE, OPT_FAIL_IF},
    {"html", 0, TOOL_VALUE, OPT_HTML},
    {"csv", 0, TOOL_VALUE, OPT_CSV},
    {"trace", 0, TOOL_VALUE, OPT_TRACE},
    {"timeline", 0, TOOL_VALUE, OPT_TIMELINE},
    {"viewer", 0, TOOL_VALUE, OPT_VIEWER},
    {"sample", 0, TOOL_VALUE, OPT_SAMPLE},
    {"keep-l2", 0, TOOL_NO_VALUE, OPT_KEEP_L2},
    {"show", 0, TOOL_VALUE, OPT_SHOW},
    {"all", 0, TOOL_NO_VALUE, OPT_ALL},
    {"instructions", 0, TOOL_NO_VALUE, OPT_INSTRUCTIONS},
    {"sort", 0, TOOL_VALUE, OPT_SORT},
    {"source", 0, TOOL_OPTIONAL_VALUE, OPT_SOURCE},
    {"source-path", 0, TOOL_VALUE, OPT_SOURCE_PATH},
    {"gpu", 0, TOOL_VALUE, OPT_GPU},
    {"timeout", 0, TOOL_VALUE, OPT_TIMEOUT},
    {"on-violation", 0, TOOL_VALUE, OPT_ON_VIOLATION},
    {"max-instructions", 0, TOOL_VALUE, OPT_MAX_INSTRUCTIONS},
    {"scalar-cache", 0, TOOL_VALUE, OPT_SCALAR_CACHE},
    {"apertures", 0, TOOL_VALUE, OPT_APERTURES},
    {"shard", 0, TOOL_VALUE, OPT_SHARD},
    {"part", 0, TOOL_VALUE, OPT_PART},
    {"command", 'x', TOOL_VALUE, TOOL_OPTION_LISTED, offsetof(struct tool_job, debug.commands)},
    {"eval-command", 0, TOOL_VALUE, TOOL_OPTION_LISTED, offsetof(struct tool_job, debug.commands)},
    {"batch", 0, TOOL_NO_VALUE, TOOL_OPTION_KEPT, offsetof(struct tool_job, debug.batch)},
    {"gdb", 0, TOOL_VALUE, TOOL_OPTION_KEPT, offsetof(struct tool_job, debug.gdb)},
    {NULL, 0, TOOL_NO_VALUE, 0},
};

/* Options whose value is NAME=VALUE: what is expected, and the list that it goes to. */
static const struct pair_option {
    int id;
    const char *name, *form;
    size_t list; /* offset in struct tool_dispatch */
} pair_options[] = {
    {OPT_ARG, "--arg", "NAME=VALUE or POSITION=VALUE", offsetof(struct tool_dispatch, arguments)},
    {OPT_OUT, "--out", "NAME=FILE", offsetof(struct tool_dispatch, outputs)},
    {OPT_EXPECT, "--expect", "NAME=@FILE[:RTOL[,ATOL]] or NAME=i32:1,2,3",
     offsetof(struct tool_dispatch, expectations)},
    {OPT_SYMBOL, "--symbol", "NAME=VALUE or NAME=@FILE", offsetof(struct tool_dispatch, symbols)},
    {OPT_ALLOCATE_AT, "--allocate-at", "NAME=ADDRESS", offsetof(struct tool_dispatch, places)},
    {OPT_SGPR, "--sgpr", "NUMBER=VALUE[,VALUE...], like 4=@out", offsetof(struct tool_dispatch, registers)},
    {OPT_VGPR, "--vgpr", "NUMBER=VALUE, like 0=lane*4", offsetof(struct tool_dispatch, registers)},
    {OPT_REGISTER, "--register", "NAME=VALUE, like m0=5", offsetof(struct tool_dispatch, registers)},
};
enum { PAIR_OPTIONS = sizeof pair_options / sizeof *pair_options };

static char *copy(const char *text)
{
    return tool_checked(strdup(text));
}

/* ---- from words to dispatches ---- */

static struct tool_dispatch *add_dispatch(struct tool_job *job, const char *where)
{
    job->dispatches = tool_checked(realloc(job->dispatches, (job->count + 1) * sizeof(*job->dispatches)));
    struct tool_dispatch *added = &job->dispatches[job->count++];
    *added = (struct tool_dispatch){.where = copy(where)};
    if (job->count > 1) {
        const struct tool_dispatch *before = added - 1;
        added->file = before->file;
        added->target = before->target;
        added->kernel_name = before->kernel_name;
        added->has_grid = before->has_grid;
        added->has_workgroup = before->has_workgroup;
        added->counts_blocks = before->counts_blocks;
        added->lds = before->lds;
        added->scratch = before->scratch;
        added->wave = before->wave;
        memcpy(added->grid, before->grid, sizeof(added->grid));
        added->dimensions = before->dimensions;
        memcpy(added->offset, before->offset, sizeof(added->offset));
        memcpy(added->workgroup, before->workgroup, sizeof(added->workgroup));
        memcpy(added->cluster, before->cluster, sizeof(added->cluster));
    }
    return added;
}

/* word: KEY=VALUE, whose VALUE begins at equals + 1. */
static void add_split(struct tool_pairs *pairs, const char *option, const char *word, size_t equals)
{
    pairs->pairs = tool_checked(realloc(pairs->pairs, (pairs->count + 1) * sizeof(*pairs->pairs)));
    struct tool_pair *added = &pairs->pairs[pairs->count++];
    added->option = option;
    added->key = copy(word);
    added->value = added->key + equals + (added->key[equals] != 0);
    added->key[equals] = 0;
}

static bool add_pair(struct tool_pairs *pairs, const char *option, const char *form, const char *word,
                     const char *where)
{
    const char *equals = strchr(word, '=');
    if (!equals || equals == word || !equals[1]) {
        tool_fail("%s%s %s: expected %s", where, option, word, form);
        return false;
    }
    add_split(pairs, option, word, (size_t)(equals - word));
    return true;
}

bool tool_add_argument(struct tool_dispatch *d, const char *word, const char *where)
{
    return add_pair(&d->arguments, "--arg", "NAME=VALUE", word, where);
}

static const struct pair_option *pair_option(int id)
{
    for (size_t i = 0; i < PAIR_OPTIONS; i++)
        if (pair_options[i].id == id)
            return &pair_options[i];
    return NULL;
}

void tool_keep_text(struct tool_job *job, void *text)
{
    job->texts = tool_checked(realloc(job->texts, (job->text_count + 1) * sizeof(*job->texts)));
    job->texts[job->text_count++] = text;
}

static int read_words(struct tool_job *job, struct tool_words *words, bool in_file);

/* Reads a job file as if its lines were on the command line, separated by --then. */
static int read_job_file(struct tool_job *job, const struct tool_words *outer, const char *path)
{
    struct wm_diag diag;
    uint8_t *bytes;
    size_t size;
    if (!tool_read_file(path, &bytes, &size, &diag))
        return tool_fail("--job %s", diag.message);
    char *text = tool_checked(realloc(bytes, size + 1));
    text[size] = 0;
    tool_keep_text(job, text);
    if (strlen(text) != size)
        return tool_fail("--job %s: not a text file", path);
    bool first = true;
    unsigned number = 1;
    for (char *line = text, *next; line; line = next, number++) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        const int most = (int)(strlen(line) / 2 + 1);
        char **words = tool_checked(malloc((size_t)most * sizeof(*words)));
        tool_keep_text(job, words);
        char where[300];
        snprintf(where, sizeof(where), "%.200s:%u: ", path, number);
        const int count = tool_cut_line(line, words, most);
        if (count < 0)
            return tool_fail("%sa quote is not closed", where);
        if (count == 0)
            continue;
        if (!first) {
            add_dispatch(job, where);
        } else {
            struct tool_dispatch *current = &job->dispatches[job->count - 1];
            free(current->where);
            current->where = copy(where);
        }
        first = false;
        struct tool_words inner = {.verb = outer->verb,
                                   .options = tool_job_options,
                                   .count = count,
                                   .words = words,
                                   .request = job,
                                   .where = where};
        const int code = read_words(job, &inner, true);
        if (code != TOOL_CLEAN)
            return code;
    }
    return first ? tool_fail("--job %s: holds no dispatch", path) : TOOL_CLEAN;
}

/* X[,Y[,Z]][:WAVE] */
static int read_wave(struct tool_final *final, const char *value, const char *where)
{
    uint64_t workgroup[3] = {0}, wave = 0;
    const char *colon = strchr(value, ':');
    char *first = tool_checked(colon ? strndup(value, (size_t)(colon - value)) : strdup(value));
    bool good = tool_parse_triple(first, workgroup) && (!colon || tool_parse_u64(colon + 1, &wave));
    free(first);
    for (unsigned i = 0; i < 3; i++) {
        good = good && workgroup[i] <= UINT32_MAX;
        final->workgroup[i] = (uint32_t)workgroup[i];
    }
    final->wave = (uint32_t)wave;
    final->given = true;
    return good && wave <= UINT32_MAX
               ? TOOL_CLEAN
               : tool_fail("%s--of %s: expected a workgroup and a wave, X,Y,Z:WAVE", where, value);
}

/* Options of the whole job. */
static int read_alignment(struct tool_job *job, const char *value, const char *where)
{
    static const char *const modes[] = {
        [WM_ALIGNMENT_UNALIGNED] = "unaligned",
        [WM_ALIGNMENT_DWORD] = "dword",
        [WM_ALIGNMENT_DWORD_STRICT] = "dword-strict",
        [WM_ALIGNMENT_STRICT] = "strict",
    };
    for (unsigned mode = 0; mode < sizeof(modes) / sizeof(modes[0]); mode++)
        if (strcmp(value, modes[mode]) == 0) {
            job->alignment = (enum wm_alignment)mode;
            return TOOL_CLEAN;
        }
    return tool_fail("%s--alignment %s: expected unaligned, dword, dword-strict or strict", where, value);
}

static int read_setting(struct tool_job *job, int id, const char *value, const char *where)
{
    uint64_t number;
    switch (id) {
    case OPT_THREADS:
        if (!tool_parse_u64(value, &number) || number > 4096)
            return tool_fail("%s-j %s: expected a number of threads (0: one per CPU)", where, value);
        job->threads = (uint32_t)number;
        break;
    case OPT_STATS:
        job->stats = true;
        break;
    case OPT_SCALAR_CACHE:
        job->scalar_cache = !strcmp(value, "check")   ? WM_SCALAR_CACHE_CHECKED
                            : !strcmp(value, "stale") ? WM_SCALAR_CACHE_STALE
                                                      : WM_SCALAR_CACHE_COHERENT;
        if (job->scalar_cache == WM_SCALAR_CACHE_COHERENT && strcmp(value, "coherent") != 0)
            return tool_fail("%s--scalar-cache %s: expected check, stale or coherent", where, value);
        break;
    case OPT_APERTURES:
        job->apertures = true;
        return tool_parse_apertures(where, value, &job->shared_base, &job->private_base);
    case OPT_SHARD:
        job->shard.text = value;
        break;
    case OPT_PART:
        job->shard.part = value;
        break;
    case OPT_FIDELITY:
        job->fidelity = true;
        break;
    case OPT_EXPORTS:
        job->exports = true;
        break;
    case OPT_ALIGNMENT:
        return read_alignment(job, value, where);
    case OPT_CHECK_WAITS:
        job->check.classes |= WM_CHECK_WAITS;
        break;
    case OPT_CHECK_HAZARDS:
        job->check.classes |= WM_CHECK_HAZARDS;
        break;
    case OPT_CHECK:
        job->check.given = true;
        job->check.chosen |= value != NULL;
        return value ? tool_check_add_classes(&job->check, "--check", value) : TOOL_CLEAN;
    case OPT_JSON:
        job->outputs.json = true;
        job->outputs.json_path = value;
        break;
    case OPT_COUNTERS:
        job->outputs.counters_path = value;
        break;
    case OPT_HTML:
        job->outputs.html_path = value;
        break;
    case OPT_SAMPLE:
        if (strncmp(value, "1/", 2) != 0 || !tool_parse_u64(value + 2, &number) || !number ||
            number > UINT32_MAX)
            return tool_fail("%s--sample %s: expected 1/N, such as 1/16", where, value);
        job->sample = (unsigned)number;
        break;
    case OPT_KEEP_L2:
        job->keeps_l2 = true;
        break;
    case OPT_TRACE:
        job->outputs.trace_path = value;
        break;
    case OPT_TIMELINE:
        job->outputs.timeline_path = value;
        break;
    case OPT_VIEWER:
        job->outputs.viewer_path = value;
        break;
    case OPT_CSV:
        job->outputs.show.csv_path = value;
        break;
    case OPT_SHOW:
        job->outputs.show.show = value;
        return tool_check_report_options(&job->outputs.show);
    case OPT_ALL:
        job->outputs.show.all = true;
        break;
    case OPT_INSTRUCTIONS:
        job->outputs.show.instructions = true;
        break;
    case OPT_SORT:
        job->outputs.show.sort = value;
        return tool_check_report_options(&job->outputs.show);
    case OPT_SOURCE:
        job->outputs.show.source = true;
        return value ? tool_add_source_path(&job->outputs.show, "--source", value) : TOOL_CLEAN;
    case OPT_SOURCE_PATH:
        return tool_add_source_path(&job->outputs.show, "--source-path", value);
    case OPT_GPU:
        if (tool_choose_products(where, value, &job->outputs.products) != TOOL_CLEAN)
            return TOOL_WRONG;
        job->gpu = job->outputs.products.gpu[0];
        break;
    case OPT_FAIL_IF:
        return tool_gates_add(&job->outputs.gates, "--fail-if", value);
    case OPT_TIMEOUT:
        if (!tool_parse_real(value, &job->timeout) || job->timeout == 0)
            return tool_fail("%s--timeout %s: expected seconds, above 0", where, value);
        break;
    case OPT_ON_VIOLATION:
        job->goes_on = !strcmp(value, "continue");
        job->stops = !job->goes_on;
        if (job->stops && strcmp(value, "stop"))
            return tool_fail("%s--on-violation %s: expected 'stop' or 'continue'", where, value);
        break;
    default:
        if (!tool_parse_u64(value, &job->max_instructions) || job->max_instructions == 0)
            return tool_fail("%s--max-instructions %s: expected a whole number, above 0", where, value);
        break;
    }
    return TOOL_CLEAN;
}

static int read_words(struct tool_job *job, struct tool_words *words, bool in_file)
{
    const char *where = words->where ? words->where : "";
    bool has_file = false;
    for (int id; (id = tool_next_option(words)) != TOOL_OPTION_END;) {
        struct tool_dispatch *d = &job->dispatches[job->count - 1];
        const char *value = words->value;
        bool good = true;
        uint64_t number;
        int code = TOOL_CLEAN;
        switch (id) {
        case TOOL_OPTION_WRONG:
            return TOOL_WRONG;
        case TOOL_OPTION_OPERAND:
            if (has_file)
                return tool_fail("%sunexpected '%s': %s is the code object already; '--then' begins another "
                                 "dispatch",
                                 where, value, d->file);
            has_file = true;
            d->file = value;
            break;
        case OPT_HELP:
            job->help = true;
            return TOOL_CLEAN;
        case OPT_KERNEL:
            d->kernel_name = value;
            break;
        case OPT_GRID:
        case OPT_BLOCKS:
            d->dimensions = tool_parse_extent(value, d->grid);
            if (!d->dimensions)
                return tool_fail("%s%s %s: expected %s as X, X,Y or X,Y,Z, each at least 1", where,
                                 id == OPT_GRID ? "-g" : "--blocks", value,
                                 id == OPT_GRID ? "work-items" : "workgroups");
            d->has_grid = true;
            d->counts_blocks = id == OPT_BLOCKS;
            break;
        case OPT_GUESS:
            job->guess = true;
            break;
        case OPT_WORKGROUP:
            if (!tool_parse_extent(value, d->workgroup))
                return tool_fail("%s-b %s: expected work-items as X, X,Y or X,Y,Z, each at least 1", where,
                                 value);
            d->has_workgroup = true;
            break;
        case OPT_CLUSTER:
            if (!tool_parse_extent(value, d->cluster))
                return tool_fail("%s--cluster %s: expected workgroups as X, X,Y or X,Y,Z, each at least 1",
                                 where, value);
            break;
        case OPT_OFFSET:
            memset(d->offset, 0, sizeof d->offset);
            if (!tool_parse_triple(value, d->offset))
                return tool_fail("%s--offset %s: expected work-items as X, X,Y or X,Y,Z", where, value);
            break;
        case OPT_BUFFER:
            good = add_pair(&job->declared, "--buffer", "NAME=ARRAY, like sums=zero:u32:64", value, where);
            break;
        case OPT_LDS:
            if (!tool_parse_u64(value, &number) || number > UINT32_MAX)
                return tool_fail("%s--lds %s: expected bytes", where, value);
            d->lds = (uint32_t)number;
            break;
        case OPT_SCRATCH:
            if (!tool_parse_u64(value, &number) || number > UINT32_MAX)
                return tool_fail("%s--scratch %s: expected bytes per lane", where, value);
            d->scratch = (uint32_t)number;
            break;
        case OPT_WAVE:
            if (!tool_parse_u64(value, &number) || (number != 32 && number != 64))
                return tool_fail("%s--wave %s: expected 32 or 64", where, value);
            d->wave = (unsigned)number;
            break;
        case OPT_BARE:
            d->bare = true;
            break;
        case OPT_COOPERATIVE:
            d->cooperative = true;
            break;
        case OPT_REGISTERS:
            d->final.path = value;
            break;
        case OPT_OF:
            code = read_wave(&d->final, value, where);
            break;
        case OPT_FREE:
            add_split(&d->frees, "--free", value, strlen(value));
            break;
        case OPT_TARGET:
            good = tool_check_target(where, value);
            d->target = value;
            break;
        case OPT_THEN:
            add_dispatch(job, where);
            has_file = false;
            break;
        case OPT_JOB:
            if (in_file)
                return tool_fail("%s--job inside a job file", where);
            code = read_job_file(job, words, value);
            break;
        default: {
            const struct pair_option *pair = pair_option(id);
            if (pair)
                good = add_pair((struct tool_pairs *)(void *)((char *)d + pair->list), pair->name, pair->form,
                                value, where);
            else
                code = read_setting(job, id, value, where);
        }
        }
        if (!good || code != TOOL_CLEAN || job->help)
            return good ? code : TOOL_WRONG;
    }
    return TOOL_CLEAN;
}

int tool_job_parse(struct tool_job *job, const char *verb, int count, char **words)
{
    *job = (struct tool_job){.verb = verb, .words = words, .word_count = count};
    add_dispatch(job, "");
    struct tool_words line = {
        .verb = verb, .options = tool_job_options, .count = count, .words = words, .request = job};
    const int code = read_words(job, &line, false);
    const char *option = job->debug.commands.count ? "--command"
                         : job->debug.batch        ? "--batch"
                         : job->debug.gdb          ? "--gdb"
                                                   : NULL;
    if (code == TOOL_CLEAN && option && strcmp(verb, "debug"))
        return tool_fail("%s: only 'wavemem debug' has it", option);
    return code;
}

/* ---- end ---- */

static void free_pairs(struct tool_pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++)
        free(pairs->pairs[i].key);
    free(pairs->pairs);
}

static void free_dispatch(struct tool_dispatch *d)
{
    for (size_t i = 0; d->expect && i < d->expectations.count; i++) {
        tool_array_free(&d->expect[i].reference);
        free(d->expect[i].owned);
    }
    for (size_t i = 0; d->bindings && i < d->formals; i++)
        free(d->bindings[i].bytes);
    for (size_t i = 0; d->settings && i < d->symbols.count; i++)
        tool_array_free(&d->settings[i].array);
    free_pairs(&d->arguments);
    free_pairs(&d->outputs);
    free_pairs(&d->expectations);
    free_pairs(&d->symbols);
    free_pairs(&d->places);
    free_pairs(&d->frees);
    free(d->freed);
    free_pairs(&d->registers);
    free(d->settings);
    free(d->bindings);
    free(d->made);
    free(d->output);
    free(d->expect);
    free(d->where);
}

const char *tool_profile_option(const struct tool_job *job)
{
    const struct tool_prof_outputs *outputs = &job->outputs;
    return outputs->counters_path            ? "--counters"
           : job->sample                     ? "--sample"
           : job->keeps_l2                   ? "--keep-l2"
           : outputs->trace_path             ? "--trace"
           : outputs->timeline_path          ? "--timeline"
           : outputs->viewer_path            ? "--viewer"
           : outputs->html_path              ? "--html"
           : outputs->show.csv_path          ? "--csv"
           : outputs->show.show              ? "--show"
           : outputs->show.instructions      ? "--instructions"
           : outputs->show.sort              ? "--sort"
           : outputs->show.source            ? "--source"
           : outputs->show.source_path_count ? "--source-path"
           : outputs->gates.count            ? "--fail-if"
           : outputs->products.count > 1     ? "--gpu with several products"
                                             : NULL;
}

int tool_refuse_profile(const struct tool_job *job)
{
    const char *option = tool_profile_option(job);
    if (!option && job->outputs.show.all && !job->check.given)
        option = "--all";
    return option ? tool_fail("%s: 'wavemem prof' counts, '%s' does not", option, job->verb) : TOOL_CLEAN;
}

void tool_job_free(struct tool_job *job)
{
    for (size_t i = 0; i < job->count; i++)
        free_dispatch(&job->dispatches[i]);
    free(job->dispatches);
    free_pairs(&job->declared);
    while (job->buffers) {
        struct tool_buffer *next = job->buffers->next;
        tool_array_free(&job->buffers->array);
        free(job->buffers->name);
        wm_surface_destroy(job->buffers->surface);
        free(job->buffers);
        job->buffers = next;
    }
    wm_machine_destroy(job->sizes);
    for (size_t i = 0; i < job->opened_count; i++)
        wm_object_close(job->opened[i].object);
    free(job->opened);
    for (size_t i = 0; i < job->text_count; i++)
        free(job->texts[i]);
    free(job->texts);
    tool_shard_free(&job->shard);
    tool_check_free(&job->check);
    *job = (struct tool_job){0};
}
