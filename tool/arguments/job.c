/* SPDX-License-Identifier: MIT */
/* Jobs: parses the command line and job files into dispatches that are ready to run. */
#include "tool/arguments/job.h"

#include "tool/arguments/dwords.h"
#include "tool/input.h"
#include "tool/output.h"
#include "tool/tool.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum option_id {
    OPT_HELP = 1,
    OPT_KERNEL,
    OPT_GRID,
    OPT_WORKGROUP,
    OPT_OFFSET,
    OPT_ARG,
    OPT_OUT,
    OPT_EXPECT,
    OPT_BUFFER,
    OPT_SYMBOL,
    OPT_ALLOCATE_AT,
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
};

static const struct tool_option options[] = {
    {"help", 'h', TOOL_NO_VALUE, OPT_HELP},
    {"kernel", 'k', TOOL_VALUE, OPT_KERNEL},
    {"grid", 'g', TOOL_VALUE, OPT_GRID},
    {"workgroup", 'b', TOOL_VALUE, OPT_WORKGROUP},
    {"offset", 0, TOOL_VALUE, OPT_OFFSET},
    {"arg", 'a', TOOL_VALUE, OPT_ARG},
    {"out", 'o', TOOL_VALUE, OPT_OUT},
    {"expect", 'e', TOOL_VALUE, OPT_EXPECT},
    {"buffer", 0, TOOL_VALUE, OPT_BUFFER},
    {"symbol", 0, TOOL_VALUE, OPT_SYMBOL},
    {"allocate-at", 0, TOOL_VALUE, OPT_ALLOCATE_AT},
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
    {"json", 0, TOOL_OPTIONAL_VALUE, OPT_JSON},
    {"counters", 0, TOOL_VALUE, OPT_COUNTERS},
    {"fail-if", 0, TOOL_VALUE, OPT_FAIL_IF},
    {"html", 0, TOOL_VALUE, OPT_HTML},
    {"csv", 0, TOOL_VALUE, OPT_CSV},
    {"trace", 0, TOOL_VALUE, OPT_TRACE},
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
    {OPT_EXPECT, "--expect", "NAME=@FILE[:RTOL[,ATOL]]", offsetof(struct tool_dispatch, expectations)},
    {OPT_SYMBOL, "--symbol", "NAME=VALUE or NAME=@FILE", offsetof(struct tool_dispatch, symbols)},
    {OPT_ALLOCATE_AT, "--allocate-at", "NAME=ADDRESS", offsetof(struct tool_dispatch, places)},
    {OPT_SGPR, "--sgpr", "NUMBER=VALUE[,VALUE...], like 4=@out", offsetof(struct tool_dispatch, registers)},
    {OPT_VGPR, "--vgpr", "NUMBER=VALUE, like 0=lane*4", offsetof(struct tool_dispatch, registers)},
    {OPT_REGISTER, "--register", "NAME=VALUE, like m0=5", offsetof(struct tool_dispatch, registers)},
};
enum { PAIR_OPTIONS = sizeof pair_options / sizeof *pair_options };

static void *checked(void *memory)
{
    if (!memory) {
        fputs("wavemem: out of memory\n", stderr);
        exit(TOOL_WRONG);
    }
    return memory;
}

static char *copy(const char *text)
{
    return checked(strdup(text));
}

/* ---- from words to dispatches ---- */

static struct tool_dispatch *add_dispatch(struct tool_job *job, const char *where)
{
    job->dispatches = checked(realloc(job->dispatches, (job->count + 1) * sizeof(*job->dispatches)));
    struct tool_dispatch *added = &job->dispatches[job->count++];
    *added = (struct tool_dispatch){.where = copy(where)};
    if (job->count > 1) {
        const struct tool_dispatch *before = added - 1;
        added->file = before->file;
        added->target = before->target;
        added->kernel_name = before->kernel_name;
        added->has_grid = before->has_grid;
        added->has_workgroup = before->has_workgroup;
        added->lds = before->lds;
        added->scratch = before->scratch;
        added->wave = before->wave;
        memcpy(added->grid, before->grid, sizeof(added->grid));
        added->dimensions = before->dimensions;
        memcpy(added->offset, before->offset, sizeof(added->offset));
        memcpy(added->workgroup, before->workgroup, sizeof(added->workgroup));
    }
    return added;
}

static bool add_pair(struct tool_pairs *pairs, const char *option, const char *form, const char *word,
                     const char *where)
{
    const char *equals = strchr(word, '=');
    if (!equals || equals == word || !equals[1]) {
        tool_fail("%s%s %s: expected %s", where, option, word, form);
        return false;
    }
    pairs->pairs = checked(realloc(pairs->pairs, (pairs->count + 1) * sizeof(*pairs->pairs)));
    struct tool_pair *added = &pairs->pairs[pairs->count++];
    added->option = option;
    added->key = copy(word);
    added->key[equals - word] = 0;
    added->value = added->key + (equals - word) + 1;
    return true;
}

static const struct pair_option *pair_option(int id)
{
    for (size_t i = 0; i < PAIR_OPTIONS; i++)
        if (pair_options[i].id == id)
            return &pair_options[i];
    return NULL;
}

static bool keep_text(struct tool_job *job, char *text)
{
    job->texts = checked(realloc(job->texts, (job->text_count + 1) * sizeof(*job->texts)));
    job->texts[job->text_count++] = text;
    return true;
}

static int read_words(struct tool_job *job, struct tool_words *words, bool in_file);

/* Splits a line into words in place: separated by blanks, quoted by '...' or "..."; # begins a comment.
 * Returns the number of words; -1: a quote is not closed. */
static int cut_line(char *line, char **words, int most)
{
    int count = 0;
    char *out = line;
    while (*line) {
        while (*line == ' ' || *line == '\t' || *line == '\r')
            line++;
        if (*line == 0 || *line == '#' || count == most)
            break;
        if (out < line)
            out = line;
        words[count++] = out;
        char quote = 0;
        for (; *line && (quote || !strchr(" \t\r", *line)); line++) {
            if (quote ? *line == quote : *line == '\'' || *line == '"')
                quote = quote ? 0 : *line;
            else
                *out++ = *line;
        }
        if (quote)
            return -1;
        if (*line)
            line++;
        *out++ = 0;
    }
    return count;
}

/* Reads a job file as if its lines were on the command line, separated by --then. */
static int read_job_file(struct tool_job *job, const struct tool_words *outer, const char *path)
{
    struct wm_diag diag;
    uint8_t *bytes;
    size_t size;
    if (!tool_read_file(path, &bytes, &size, &diag))
        return tool_fail("--job %s", diag.message);
    char *text = checked(realloc(bytes, size + 1));
    text[size] = 0;
    keep_text(job, text);
    if (strlen(text) != size)
        return tool_fail("--job %s: not a text file", path);
    bool first = true;
    unsigned number = 1;
    for (char *line = text, *next; line; line = next, number++) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        const int most = (int)(strlen(line) / 2 + 1);
        char **words = checked(malloc((size_t)most * sizeof(*words)));
        keep_text(job, (char *)words);
        char where[300];
        snprintf(where, sizeof(where), "%.200s:%u: ", path, number);
        const int count = cut_line(line, words, most);
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
                                   .options = options,
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
    char *first = checked(colon ? strndup(value, (size_t)(colon - value)) : strdup(value));
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
        return tool_choose_gpu(where, value, &job->gpu);
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
            d->dimensions = tool_parse_extent(value, d->grid);
            if (!d->dimensions)
                return tool_fail("%s-g %s: expected work-items as X, X,Y or X,Y,Z, each at least 1", where,
                                 value);
            d->has_grid = true;
            break;
        case OPT_WORKGROUP:
            if (!tool_parse_extent(value, d->workgroup))
                return tool_fail("%s-b %s: expected work-items as X, X,Y or X,Y,Z, each at least 1", where,
                                 value);
            d->has_workgroup = true;
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
    *job = (struct tool_job){0};
    add_dispatch(job, "");
    struct tool_words line = {
        .verb = verb, .options = options, .count = count, .words = words, .request = job};
    return read_words(job, &line, false);
}

/* ---- checks ---- */

struct tool_buffer *tool_add_buffer(struct tool_job *job, const char *name, const struct tool_array *array)
{
    struct tool_buffer *buffer = checked(calloc(1, sizeof(*buffer)));
    buffer->name = copy(name);
    buffer->array = *array;
    buffer->dispatch = (size_t)TOOL_ANY_DISPATCH;
    buffer->next = job->buffers;
    job->buffers = buffer;
    return buffer;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Raw code has the wave size of its target, unless --wave selects the other. */
static int open_with_wave(const struct tool_dispatch *d, struct wm_object **object)
{
    char target[64];
    struct wm_diag diag;
    if (wm_object_open_file(d->file, d->target, object, &diag) != WM_OK)
        return tool_fail("%s%s", d->where, diag.message);
    if (!d->wave || wm_object_version(*object) || wm_object_kernel(*object, 0)->wave_size == d->wave)
        return TOOL_CLEAN;
    snprintf(target, sizeof target, "%s:wave%u", wm_object_target(*object), d->wave);
    if (strstr(d->target, ":wave") || !wm_target_known(target))
        return TOOL_CLEAN; /* find_kernel() refuses it */
    wm_object_close(*object);
    *object = NULL;
    if (wm_object_open_file(d->file, target, object, &diag) != WM_OK)
        return tool_fail("%s%s", d->where, diag.message);
    return TOOL_CLEAN;
}

static int open_object(struct tool_job *job, struct tool_dispatch *d)
{
    for (size_t i = 0; i < job->opened_count; i++) {
        const struct tool_opened *opened = &job->opened[i];
        if (same_text(opened->file, d->file) && same_text(opened->target, d->target) &&
            (opened->wave == d->wave || wm_object_version(opened->object))) {
            d->object = opened->object;
            return TOOL_CLEAN;
        }
    }
    struct wm_object *object = NULL;
    const int code = open_with_wave(d, &object);
    if (!object)
        return code;
    job->opened = checked(realloc(job->opened, (job->opened_count + 1) * sizeof(*job->opened)));
    job->opened[job->opened_count++] = (struct tool_opened){d->file, d->target, d->wave, object};
    d->object = object;
    const char *first = wm_object_target(job->opened[0].object), *here = wm_object_target(object);
    if (strcmp(first, here) != 0)
        return tool_fail("%s%s is for %s, %s for %s; one run has one target", d->where, d->file, here,
                         job->opened[0].file, first);
    return TOOL_CLEAN;
}

static int find_kernel(struct tool_dispatch *d)
{
    struct wm_diag diag;
    if (wm_object_find_kernel(d->object, d->kernel_name, &d->kernel, &diag) != WM_OK)
        return tool_fail("%s%s%s", d->where, d->kernel_name ? "" : "-k KERNEL is needed: ", diag.message);
    if (d->wave && d->wave != d->kernel->wave_size)
        return tool_fail("%s--wave %u: %s of %s has waves of %u lanes", d->where, d->wave, d->kernel->name,
                         d->file, d->kernel->wave_size);
    return TOOL_CLEAN;
}

static int check_sizes(struct tool_dispatch *d)
{
    const uint32_t *required = d->kernel->required_workgroup;
    const char *name = d->kernel->name;
    if (!d->has_grid)
        return tool_fail("%s-g X[,Y[,Z]] is needed: the work-items of the whole grid of %s", d->where, name);
    if (required[0] && !d->has_workgroup)
        memcpy(d->workgroup, required, sizeof(d->workgroup));
    else if (!d->has_workgroup)
        return tool_fail("%s-b X[,Y[,Z]] is needed: the work-items of a workgroup of %s", d->where, name);
    if (required[0] && memcmp(d->workgroup, required, sizeof(d->workgroup)) != 0)
        return tool_fail("%s-b %u,%u,%u: %s was compiled for workgroups of %u,%u,%u", d->where,
                         d->workgroup[0], d->workgroup[1], d->workgroup[2], name, required[0], required[1],
                         required[2]);
    const uint64_t plane = (uint64_t)d->workgroup[0] * d->workgroup[1];
    const uint64_t most = d->kernel->max_workgroup ? d->kernel->max_workgroup : 1024;
    if (plane > most || plane * d->workgroup[2] > most)
        return tool_fail("%s-b %u,%u,%u: a workgroup of %s has at most %llu work-items", d->where,
                         d->workgroup[0], d->workgroup[1], d->workgroup[2], name, (unsigned long long)most);
    return TOOL_CLEAN;
}

static int check_final(const struct tool_dispatch *d)
{
    const struct tool_final *final = &d->final;
    const uint32_t items = d->workgroup[0] * d->workgroup[1] * d->workgroup[2];
    const uint32_t waves = (items + d->kernel->wave_size - 1) / d->kernel->wave_size;
    uint64_t grid[3];
    bool inside = final->wave < waves;
    if (final->given && !final->path)
        return tool_fail("%s--of is for --registers FILE", d->where);
    for (unsigned i = 0; i < 3; i++) {
        grid[i] = ((uint64_t)d->grid[i] + d->workgroup[i] - 1) / d->workgroup[i];
        inside = inside && final->workgroup[i] < grid[i];
    }
    if (!inside)
        return tool_fail("%s--of %u,%u,%u:%u: there are %llu x %llu x %llu workgroups of %u wave%s", d->where,
                         final->workgroup[0], final->workgroup[1], final->workgroup[2], final->wave,
                         (unsigned long long)grid[0], (unsigned long long)grid[1],
                         (unsigned long long)grid[2], waves, waves == 1 ? "" : "s");
    return final->path ? tool_check_file("--registers", final->path) : TOOL_CLEAN;
}

const char *tool_out_option(const struct tool_dispatch *d, const struct tool_output *output,
                            char text[TOOL_OUT_OPTION])
{
    snprintf(text, TOOL_OUT_OPTION, "%s--out %.200s:", d->where, output->key);
    return text;
}

static int check_results(struct tool_job *job, size_t index)
{
    struct tool_dispatch *d = &job->dispatches[index];
    struct wm_diag diag;
    d->output = checked(calloc(d->outputs.count + 1, sizeof(*d->output)));
    d->expect = checked(calloc(d->expectations.count + 1, sizeof(*d->expect)));
    for (size_t i = 0; i < d->outputs.count; i++) {
        struct tool_output *o = &d->output[i];
        o->key = d->outputs.pairs[i].key;
        o->path = d->outputs.pairs[i].value;
        if (!tool_find_buffer(job, index, o->key, &o->buffer, &o->offset, &diag))
            return tool_fail("%s--out %s: %s", d->where, o->key, diag.message);
        char option[TOOL_OUT_OPTION];
        if (tool_check_file(tool_out_option(d, o, option), o->path) != TOOL_CLEAN)
            return TOOL_WRONG;
    }
    for (size_t i = 0; i < d->expectations.count; i++) {
        struct tool_expectation *e = &d->expect[i];
        e->key = d->expectations.pairs[i].key;
        e->spec = d->expectations.pairs[i].value;
        if (!tool_find_buffer(job, index, e->key, &e->buffer, &e->offset, &diag) ||
            !tool_expectation_parse(e, &diag))
            return tool_fail("%s--expect %s: %s", d->where, e->key, diag.message);
    }
    return TOOL_CLEAN;
}

/* --buffer also takes words without "words:", unless they begin as a file name does. */
static const char *array_text(struct tool_job *job, const char *value)
{
    if (!strchr("0123456789.-~(", value[0]) && !tool_is_descriptor(value))
        return value;
    static const char prefix[] = "words:";
    char *text = checked(malloc(strlen(prefix) + strlen(value) + 1));
    sprintf(text, "%s%s", prefix, value);
    keep_text(job, text);
    return text;
}

static int declare_buffers(struct tool_job *job)
{
    for (size_t i = 0; i < job->declared.count; i++) {
        const struct tool_pair *pair = &job->declared.pairs[i];
        struct tool_array array;
        struct wm_diag diag;
        for (size_t before = 0; before < i; before++)
            if (strcmp(job->declared.pairs[before].key, pair->key) == 0)
                return tool_fail("--buffer %s is given twice", pair->key);
        if (!tool_array_parse(array_text(job, pair->value), &array, &diag)) {
            const bool list = pair->value[0] == '@' && strchr(pair->value, ',');
            return tool_fail("--buffer %s: %s%s", pair->key, diag.message,
                             list ? "; a list that begins with an address begins with words:" : "");
        }
        tool_add_buffer(job, pair->key, &array)->declared = true;
    }
    return TOOL_CLEAN;
}

/* Registers stay from dispatch to dispatch of the same kernel, as arguments do. */
static void inherit_registers(struct tool_job *job, size_t index)
{
    struct tool_dispatch *d = &job->dispatches[index];
    const struct tool_dispatch *before = index ? d - 1 : NULL;
    const bool same = before && before->kernel == d->kernel;
    d->registers_from = same ? before->registers_from : index;
    d->bare |= same && before->bare;
    d->cooperative |= same && before->cooperative;
}

int tool_job_check(struct tool_job *job)
{
    int code = declare_buffers(job);
    for (size_t i = 0; i < job->count && code == TOOL_CLEAN; i++) {
        struct tool_dispatch *d = &job->dispatches[i];
        if (!d->file)
            return tool_fail("%sa code object is needed: FILE -k KERNEL -g X,Y -b X,Y ...", d->where);
        code = open_object(job, d);
        code = code ? code : find_kernel(d);
        code = code ? code : check_sizes(d);
        code = code ? code : check_final(d);
        code = code ? code : tool_bind_arguments(job, i);
        code = code ? code : tool_check_symbols(job, i);
        code = code ? code : tool_check_places(job, i);
        inherit_registers(job, i);
        code = code ? code : tool_check_start(job, i);
        code = code ? code : check_results(job, i);
    }
    code = code ? code : tool_check_words(job);
    wm_machine_destroy(job->sizes); /* all symbols are known now */
    job->sizes = NULL;
    job->check.all = job->outputs.show.all;
    job->goes_on |= job->check.given && !job->stops;
    code = code ? code : tool_check_prepare(&job->check);
    return code ? code : tool_check_outputs(&job->outputs);
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
    free_pairs(&d->registers);
    free(d->settings);
    free(d->bindings);
    free(d->made);
    free(d->output);
    free(d->expect);
    free(d->where);
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
    tool_check_free(&job->check);
    *job = (struct tool_job){0};
}
