/* SPDX-License-Identifier: MIT */
/* Observes the program's kernels, one at a time: records a profile for each GPU in a trace that `wavemem
 * exec` replays, the fidelity of what was executed, and a check of all launches, because a launch that the
 * check does not see may have written what another one reads. */
#include "shim/common/common.h"
#include "tool/check/findings.h"
#include "tool/report/document.h"
#include "tool/report/source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

enum { PATIENCE = 10 }; /* seconds that a kernel waits for another kernel that is observed */

static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER; /* held while a kernel is observed; guards what follows */
static const struct shim_gpu *gpus[SHIM_GPUS];
static struct wm_profile *profiles[SHIM_GPUS]; /* by GPU; NULL: none */
static struct wm_check *checks[SHIM_GPUS];     /* by GPU; NULL: none */
/* For each dispatch that the check has seen, the number of its kernel's launch. */
static struct numbers {
    uint32_t *number;
    size_t count, room;
    bool lost; /* some are unknown */
} launches[SHIM_GPUS];
static unsigned gpu_count;
/* Where the program copied an allocation to the host first of which nobody had written something. */
static struct copies {
    struct copy {
        uint64_t low;
        struct shim_site site;
    } *copy;
    size_t count, room;
} copies[SHIM_GPUS];
static pthread_mutex_t copies_lock = PTHREAD_MUTEX_INITIALIZER;
static struct wm_fidelity *fidelity;
static bool ended;
static bool observes,
    profiles_wanted;           /* observes: anything is observed; constant after shim_observe_begin() */
static unsigned checks_wanted; /* bits of enum wm_check_what; constant after shim_observe_begin() */

static bool is_wanted(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value;
}

/* Records that the results are incomplete. */
static void lose(const char *why)
{
    shim_complain("%s", why);
    shim_result("incomplete", why);
}

static bool begin_profile(const struct wm_gpu *gpu, unsigned number, struct wm_profile **profile,
                          struct wm_diag *diag)
{
    char kind[16] = "trace", path[SHIM_PATH];
    if (number)
        snprintf(kind, sizeof kind, "%u.trace", number + 1);
    return shim_result_path(kind, path) && !wm_profile_create(profile, diag) &&
           !wm_profile_set_gpu(*profile, gpu, diag) && !wm_profile_trace(*profile, path, diag);
}

static void add_profile(unsigned number)
{
    char why[sizeof(struct wm_diag) + 40];
    struct wm_diag diag = {0};
    if (begin_profile(gpus[number]->product, number, &profiles[number], &diag))
        return;
    wm_profile_destroy(profiles[number]);
    profiles[number] = NULL;
    snprintf(why, sizeof why, "nothing is profiled: %s", diag.message);
    lose(why);
}

/* WAVEMEM_SHUFFLE: seeds of other orders of workgroups, separated by commas. */
static bool set_seeds(struct wm_check *check, struct wm_diag *diag)
{
    const char *text = is_wanted("WAVEMEM_SHUFFLE") ? getenv("WAVEMEM_SHUFFLE") : "";
    uint64_t *seed = calloc(strlen(text) + 1, sizeof *seed);
    size_t count = 0;
    while (seed && *text) {
        char *end;
        seed[count++] = strtoull(text, &end, 0);
        text = *end ? end + 1 : end;
    }
    const bool ok = seed && (!count || !wm_check_shuffle(check, seed, count, diag));
    free(seed);
    return ok;
}

static void add_check(unsigned number)
{
    struct wm_diag diag = {0};
    if (!wm_check_create(checks_wanted, &checks[number], &diag) &&
        !wm_check_machine(checks[number], gpus[number]->machine, &diag) && set_seeds(checks[number], &diag))
        return;
    wm_check_destroy(checks[number]);
    checks[number] = NULL;
    lose(diag.message);
}

void shim_observe_begin(void)
{
    struct wm_diag diag = {0};
    profiles_wanted = is_wanted("WAVEMEM_PROFILE");
    if (is_wanted("WAVEMEM_CHECK"))
        checks_wanted = (unsigned)strtoul(getenv("WAVEMEM_CHECK"), NULL, 0);
    if (is_wanted("WAVEMEM_FIDELITY") && wm_fidelity_create(&fidelity, &diag))
        lose(diag.message);
    observes = profiles_wanted || fidelity || checks_wanted;
    atexit(shim_observe_end);
}

bool shim_observe_checks(void)
{
    return checks_wanted;
}

void shim_observe_gpu(const struct shim_gpu *gpu)
{
    if (!observes || gpu_count == SHIM_GPUS)
        return;
    gpus[gpu_count] = gpu;
    if (profiles_wanted)
        add_profile(gpu_count);
    if (checks_wanted)
        add_check(gpu_count);
    gpu_count++;
}

/* The GPU's index in the lists, or SHIM_GPUS. */
static unsigned place_of(const struct shim_gpu *gpu)
{
    unsigned i = 0;
    while (i < gpu_count && gpus[i] != gpu)
        i++;
    return i < gpu_count ? i : SHIM_GPUS;
}

uint64_t shim_observe_count(const struct shim_gpu *gpu)
{
    const unsigned place = place_of(gpu);
    return place == SHIM_GPUS ? 0 : __atomic_load_n(&launches[place].count, __ATOMIC_RELAXED);
}

static bool lock_within(unsigned seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += seconds;
    return !pthread_mutex_clocklock(&lock, CLOCK_MONOTONIC, &until);
}

bool shim_observe_enter(const struct shim_launch *launch, const struct shim_gpu *gpu,
                        struct wm_dispatch *options)
{
    char why[SHIM_NAME + 100];
    const unsigned place = observes ? place_of(gpu) : SHIM_GPUS;
    if (place == SHIM_GPUS || !(launch->observed || checks[place]))
        return false;
    if (!lock_within(PATIENCE)) { /* the observed kernel may wait for this one */
        snprintf(why, sizeof why,
                 "launch %" PRIu64 " of %s was not observed, because another one ran for %u seconds",
                 launch->number, launch->symbol, PATIENCE);
        lose(why);
        return false;
    }
    if (ended) {
        pthread_mutex_unlock(&lock);
        return false;
    }
    if (launch->observed) {
        options->profile = profiles[place];
        options->fidelity = fidelity;
    }
    options->check = checks[place];
    if (options->check)
        options->on_violation = WM_VIOLATION_GOES_ON; /* a violation becomes a finding */
    return true;
}

/* Records the number of the kernel's launch, because a check counts the dispatches of all kernels together.
 * ran: false if the dispatch was refused, so that the check may not have seen it. */
static void note_launch(struct numbers *numbers, uint64_t number, bool ran)
{
    if (numbers->count == numbers->room) {
        const size_t room = numbers->room ? 2 * numbers->room : 64;
        uint32_t *more = realloc(numbers->number, room * sizeof *more);
        numbers->lost |= !more;
        numbers->number = more ? more : numbers->number;
        numbers->room = more ? room : numbers->room;
    }
    numbers->lost |= !ran;
    if (!numbers->lost)
        numbers->number[numbers->count] = (uint32_t)number;
    __atomic_store_n(&numbers->count, numbers->count + 1, __ATOMIC_RELAXED);
}

void shim_observe_leave(const struct shim_launch *launch, const struct shim_gpu *gpu, bool ran,
                        const struct wm_result *result)
{
    char why[SHIM_NAME + sizeof result->incomplete + 100];
    const unsigned place = place_of(gpu);
    if (checks[place])
        note_launch(&launches[place], launch->number, ran);
    pthread_mutex_unlock(&lock);
    if (!*result->incomplete)
        return;
    snprintf(why, sizeof why, "launch %" PRIu64 " of %s: %s", launch->number, launch->symbol,
             result->incomplete);
    lose(why);
}

static struct copy *find_copy(struct copies *list, uint64_t low)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->copy[i].low == low)
            return &list->copy[i];
    return NULL;
}

static void note_copy(struct copies *list, uint64_t low, const struct shim_site *site)
{
    if (find_copy(list, low))
        return;
    if (list->count == list->room) {
        const size_t room = list->room ? 2 * list->room : 16;
        struct copy *more = realloc(list->copy, room * sizeof *more);
        if (!more)
            return; /* the finding has no call */
        list->copy = more;
        list->room = room;
    }
    list->copy[list->count++] = (struct copy){low, *site};
}

void shim_observe_copy(const struct shim_gpu *gpu, uint64_t to, uint64_t from, size_t size,
                       const struct shim_site *site)
{
    const unsigned place = place_of(gpu);
    struct wm_allocation found = {.struct_size = sizeof found};
    uint64_t unwritten;
    if (place == SHIM_GPUS || !checks[place] ||
        wm_check_copied(checks[place], to, from, size, &unwritten, NULL) || !unwritten || to ||
        wm_find_allocation(gpu->machine, from, false, &found, NULL))
        return;
    pthread_mutex_lock(&copies_lock);
    note_copy(&copies[place], found.address, site);
    pthread_mutex_unlock(&copies_lock);
}

/* Writes a line for each instruction: grade, executions, name, remark. */
static bool write_fidelity(void)
{
    char path[SHIM_PATH];
    size_t count;
    const struct wm_fidelity_row *rows = wm_fidelity_rows(fidelity, &count);
    FILE *file = shim_result_path("fidelity", path) ? fopen(path, "we") : NULL;
    if (!file)
        return false;
    for (size_t i = 0; i < count; i++)
        fprintf(file, "%u\t%" PRIu64 "\t%s\t%s\n", rows[i].grade, rows[i].executions, rows[i].name,
                rows[i].remark);
    const bool ok = !ferror(file);
    return !fclose(file) && ok;
}

/* "'weights' (4096 bytes), byte 128"; false: the program gave it no name. */
static bool object_text(const struct shim_gpu *gpu, uint64_t address, uint64_t launch, char text[SHIM_NAME])
{
    struct shim_allocation object;
    if (!shim_named_memory(gpu, address, launch, &object))
        return false;
    const uint64_t end = object.low + object.size;
    const int length = snprintf(text, SHIM_NAME, "'%s' (%" PRIu64 " bytes), ", object.name, object.size);
    if (address < object.low)
        snprintf(text + length, SHIM_NAME - (size_t)length, "%" PRIu64 " bytes before it",
                 object.low - address);
    else if (address >= end)
        snprintf(text + length, SHIM_NAME - (size_t)length, "%" PRIu64 " bytes behind its end",
                 address - end);
    else
        snprintf(text + length, SHIM_NAME - (size_t)length, "byte %" PRIu64, address - object.low);
    return true;
}

/* Adds where the program allocated the memory or copied it, and what it calls it, and counts launches by
 * kernel. */
static void complete_finding(json_t *one, unsigned gpu)
{
    const struct numbers *numbers = &launches[gpu];
    const uint64_t launch = (uint64_t)json_integer_value(json_object_get(one, "launch"));
    json_t *memory = json_object_get(one, "memory"), *allocation = json_object_get(memory, "allocation");
    const char *low = json_string_value(json_object_get(allocation, "address"));
    const char *address = json_string_value(json_object_get(memory, "address"));
    const char *space = json_string_value(json_object_get(memory, "space"));
    struct shim_site site;
    char text[512];
    if (!numbers->lost && launch && launch <= numbers->count)
        json_object_set_new(one, "launch", json_integer(numbers->number[launch - 1]));
    if (low && shim_allocation_site(strtoull(low, NULL, 16), &site) &&
        shim_site_text(&site, text, sizeof text))
        json_object_set_new(allocation, "origin", tool_json_text(text));
    if (address && !strcmp(space, wm_space_name(WM_SPACE_GLOBAL)) &&
        object_text(gpus[gpu], strtoull(address, NULL, 16), launch, text))
        json_object_set_new(memory, "object", tool_json_text(text));
    const struct copy *copy = low && !strcmp(json_string_value(json_object_get(one, "rule")), "uninit-copy")
                                  ? find_copy(&copies[gpu], strtoull(low, NULL, 16))
                                  : NULL;
    if (copy && shim_site_text(&copy->site, text, sizeof text))
        json_object_set_new(one, "call", tool_json_text(text));
}

/* The findings and the coverage of all GPUs, as `wavemem check --json` has them. */
static bool write_checks(void)
{
    char path[SHIM_PATH];
    struct wm_diag diag = {0};
    json_t *findings = json_array(), *coverage = json_array();
    for (unsigned i = 0; i < gpu_count; i++) {
        if (!checks[i])
            continue;
        if (is_wanted("WAVEMEM_LEAKS") && wm_check_leaks(checks[i], &diag))
            lose(diag.message);
        json_t *found = tool_json_findings(checks[i]), *covered = tool_json_coverage(checks[i]);
        size_t k;
        json_t *one;
        json_array_foreach(found, k, one)
        {
            complete_finding(one, i);
        }
        json_array_extend(findings, found);
        json_array_extend(coverage, covered);
        json_decref(found);
        json_decref(covered);
    }
    json_t *report = json_pack("{s:o, s:o}", "findings", findings, "coverage", coverage);
    const bool ok = report && shim_result_path("check", path) && !json_dump_file(report, path, 0);
    json_decref(report);
    return ok;
}

/* Copies the sources into the trace. WAVEMEM_SOURCES: folders, separated by colons, from which they may
 * come. */
static void keep_sources(struct wm_profile *profile)
{
    struct tool_report_options options = {0};
    struct tool_report report = {.options = &options, .profile = profile};
    char *folders = getenv("WAVEMEM_SOURCES"), *rest = NULL;
    const struct wm_profile_row *rows = wm_profile_rows(profile, &report.count);
    folders = folders ? strdup(folders) : NULL;
    report.rows = malloc(report.count * sizeof(struct wm_profile_row *) + 1);
    for (char *at = folders ? strtok_r(folders, ":", &rest) : NULL; at; at = strtok_r(NULL, ":", &rest))
        if (options.source_path_count < TOOL_SOURCE_PATHS)
            options.source_paths[options.source_path_count++] = at;
    for (size_t i = 0; report.rows && i < report.count; i++)
        report.rows[i] = &rows[i];
    if (folders && report.rows)
        tool_keep_sources(&report);
    free(report.rows);
    free(folders);
}

static void write_results(void)
{
    struct wm_diag diag = {0};
    char path[SHIM_PATH];
    for (unsigned i = 0; i < gpu_count; i++) {
        if (!profiles[i])
            continue;
        keep_sources(profiles[i]);
        if (wm_profile_end_trace(profiles[i], &diag))
            lose(diag.message);
    }
    if (fidelity && !write_fidelity())
        lose("the fidelity could not be written");
    if (checks_wanted && !write_checks())
        lose("the findings of the check could not be written");
    if (shim_result_path("end", path))
        shim_result("end", "");
}

void shim_observe_end(void)
{
    char path[SHIM_PATH];
    if (!shim_result_path("end", path)) /* no results are requested, or this is a forked child */
        return;
    if (!lock_within(PATIENCE)) {
        lose("a kernel still runs, and what was observed could not be written");
        return;
    }
    if (!ended)
        write_results();
    ended = true;
    pthread_mutex_unlock(&lock);
}
