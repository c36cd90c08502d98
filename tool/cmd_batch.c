/* SPDX-License-Identifier: MIT */
/* wavemem batch: runs a list of commands, and writes a line of JSON for each. */
#include "tool/batch/batch.h"
#include "tool/input.h"
#include "tool/report/document.h"
#include "tool/shard/range.h"
#include "tool/text.h"
#include "tool/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char help[] =
    "usage: wavemem batch FILE [--out RESULTS] [-j N] [--timeout S] [--shard I/N] [--list]\n"
    "\n"
    "Runs each line of FILE ('-': standard input) as a wavemem command in a process of its own, and writes "
    "a\n"
    "line of JSON for each, whatever happens to it. A batch that was killed goes on where it stopped if it "
    "is\n"
    "started again with the same --out.\n"
    "\n"
    "A file of six runs, of which the second line makes four (the choices in braces; # begins a comment):\n"
    "  run vecadd.co -g 256 -b 64 --arg a=iota:f32:256 --arg b=iota:f32:256 --arg c=zero:f32:256 --arg "
    "n=256\n"
    "  prof transpose.co -k {transpose_naive,transpose_lds} --guess --gpu {vega56,vega64}\n"
    "  check transpose.co -k transpose_naive --guess\n"
    "Two processes at once; what failed:\n"
    "  wavemem batch runs.txt --out results.jsonl -j 2 --timeout 600\n"
    "  jq -c 'select(.exit != 0) | [.number, .exit, .signal, .stderr]' results.jsonl\n"
    "As many processes as mpirun or Slurm starts; each has a file of its own:\n"
    "  mpirun -n 8 wavemem batch runs.txt --shard auto --out results.%i.jsonl\n"
    "\n"
    "A line has: number, in the list, from 1 on; command, its words; exit, its exit code, or null; signal,\n"
    "that ended it, or null; timed_out; seconds; report, the document of --json, which is added for verbs\n"
    "that have it (at most 64 MiB), or stdout; stderr. Lines stand in the order in which runs ended. Texts\n"
    "are cut after 64 KiB.\n"
    "\n"
    "  -o, --out FILE       write the lines to FILE, and leave out runs that have one there; default: to "
    "stdout\n"
    "  -j, --threads N      processes at once; 0 (default): one per CPU. Give -j 1 in the commands too\n"
    "      --timeout S      end a run after S seconds\n"
    "      --shard I/N      only run number I, I + N, I + 2 N, ...; auto: as for 'wavemem run'. %i in the "
    "name\n"
    "                       of FILE is I\n"
    "      --list           print the commands that would be run, one a line, for a shell\n"
    "  -h, --help\n"
    "\n"
    "Exit codes: 0 all runs have exit code 0, 1 some have not, 2 wrong usage or bad input, 130 stopped by\n"
    "Ctrl-C.\n";

struct request {
    bool help, list;
    const char *out, *processes, *timeout, *shard;
};

static const struct tool_option options[] = {
    {"help", 'h', TOOL_NO_VALUE, TOOL_KEEP(help)},
    {"out", 'o', TOOL_VALUE, TOOL_KEEP(out)},
    {"threads", 'j', TOOL_VALUE, TOOL_KEEP(processes)},
    {"timeout", 0, TOOL_VALUE, TOOL_KEEP(timeout)},
    {"shard", 0, TOOL_VALUE, TOOL_KEEP(shard)},
    {"list", 0, TOOL_NO_VALUE, TOOL_KEEP(list)},
    {NULL, 0, TOOL_NO_VALUE, 0, 0},
};

/* ---- results ---- */

struct results {
    const char *path;
    int file;
    size_t failed;
    bool broken; /* a line could not be written */
};

static bool failed(const json_t *result)
{
    const json_t *code = json_object_get(result, "exit");
    return !json_is_integer(code) || json_integer_value(code) != 0;
}

/* Appends the line at once, so that a kill leaves whole lines but for the last. */
static bool write_result(void *user, size_t number, json_t *result)
{
    struct results *results = user;
    char *text = json_dumps(result, JSON_COMPACT | JSON_ENSURE_ASCII), *line = NULL;
    const int size = text ? asprintf(&line, "%s\n", text) : -1;
    size_t written = 0;
    (void)number;
    results->failed += failed(result);
    while (size > 0 && written < (size_t)size) {
        const ssize_t now = write(results->file, line + written, (size_t)size - written);
        if (now < 0 && errno != EINTR)
            break;
        written += now > 0 ? (size_t)now : 0;
    }
    results->broken = size < 0 || written < (size_t)size;
    if (results->broken)
        tool_fail("%s: a result cannot be written: %s", results->path, strerror(errno));
    free(line);
    free(text);
    json_decref(result);
    return !results->broken;
}

static bool same_command(const json_t *command, const struct batch_run *run)
{
    bool same = json_array_size(command) == run->count;
    for (size_t i = 0; same && i < run->count; i++) {
        json_t *word = tool_json_text(run->words[i]);
        same = json_equal(word, json_array_get(command, i));
        json_decref(word);
    }
    return same;
}

/* Marks the runs that have a line. *whole: bytes of complete lines. */
static int read_results(const char *path, struct batch_list *list, struct results *results, size_t *whole)
{
    struct wm_diag diag;
    uint8_t *bytes;
    size_t size;
    *whole = 0;
    if (access(path, F_OK) != 0)
        return TOOL_CLEAN;
    if (!tool_read_file(path, &bytes, &size, &diag))
        return tool_fail("--out %s", diag.message);
    int code = TOOL_CLEAN;
    unsigned line = 1;
    for (uint8_t *at = bytes, *end;
         code == TOOL_CLEAN && (end = memchr(at, '\n', size - (size_t)(at - bytes))); at = end + 1, line++) {
        json_t *result = json_loadb((char *)at, (size_t)(end - at), 0, NULL);
        const json_int_t number = json_integer_value(json_object_get(result, "number"));
        if (number < 1 || (uint64_t)number > list->count ||
            !same_command(json_object_get(result, "command"), &list->runs[number - 1]))
            code = tool_fail("--out %s:%u: no result of this batch; expected a new file, or one of the same "
                             "list",
                             path, line);
        else if (!list->runs[number - 1].done) {
            list->runs[number - 1].done = true;
            results->failed += failed(result);
        }
        json_decref(result);
        *whole = (size_t)(end + 1 - bytes);
    }
    /* A file of another kind is not cut: the rest has to be the beginning of a result. */
    static const char begin[] = "{\"number\":";
    const size_t rest = size - *whole, most = sizeof begin - 1;
    if (code == TOOL_CLEAN && rest && memcmp(bytes + *whole, begin, rest < most ? rest : most) != 0)
        code = tool_fail("--out %s: ends with something that is no result of a batch", path);
    free(bytes);
    return code;
}

/* Opens the file behind its complete lines. */
static int open_results(const char *path, struct batch_list *list, struct results *results)
{
    size_t whole;
    struct stat status;
    results->path = path;
    results->file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (results->file < 0)
        return tool_fail("--out %s: cannot be written: %s", path, strerror(errno));
    if (flock(results->file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return tool_fail("--out %s: another batch writes this file", path);
    const bool regular = fstat(results->file, &status) == 0 && S_ISREG(status.st_mode);
    const int code = regular ? read_results(path, list, results, &whole) : TOOL_CLEAN;
    if (code != TOOL_CLEAN || !regular)
        return code;
    if ((size_t)status.st_size > whole && ftruncate(results->file, (off_t)whole) != 0)
        return tool_fail("--out %s: cannot be written: %s", path, strerror(errno));
    return TOOL_CLEAN;
}

/* ---- the verb ---- */

static void print_list(const struct batch_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->runs[i].done)
            continue;
        fputs("wavemem", stdout);
        for (size_t word = 0; word < list->runs[i].count; word++) {
            putchar(' ');
            tool_print_word(stdout, list->runs[i].words[word]);
        }
        putchar('\n');
    }
}

static int read_numbers(const struct request *request, struct batch_settings *settings)
{
    uint64_t processes = 0;
    if (request->processes && (!tool_parse_u64(request->processes, &processes) || processes > 4096))
        return tool_fail("-j %s: expected a number of processes (0: one per CPU)", request->processes);
    if (request->timeout && (!tool_parse_real(request->timeout, &settings->timeout) || !settings->timeout))
        return tool_fail("--timeout %s: expected seconds, above 0", request->timeout);
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    settings->processes = processes ? processes : cpus > 0 ? (size_t)cpus : 1;
    return TOOL_CLEAN;
}

/* Leaves the runs of the shard. *path: of the results; the caller frees it. */
static int choose_shard(const struct request *request, struct batch_list *list, char **path)
{
    struct tool_range range = {0, 1};
    if (request->shard && !tool_parse_range("--shard", request->shard, &range))
        return TOOL_WRONG;
    if (request->shard && range.count > 1 && request->out && !strstr(request->out, "%i"))
        return tool_fail(
            "--out %s: all shards would write the same file; expected a name with %%i, the number "
            "of the shard",
            request->out);
    *path = request->out ? tool_range_path(request->out, &range) : NULL;
    for (size_t i = 0; i < list->count; i++)
        list->runs[i].done = i % range.count != range.index;
    return request->out && !*path ? tool_fail("batch: out of memory") : TOOL_CLEAN;
}

static int batch(const struct request *request, const char *file)
{
    struct batch_list list = {0};
    struct results results = {.path = "standard output", .file = STDOUT_FILENO};
    struct batch_settings settings = {.list = &list, .result = write_result, .user = &results};
    char *path = NULL;
    int code = read_numbers(request, &settings);
    code = code ? code : batch_read(&list, file);
    code = code ? code : choose_shard(request, &list, &path);
    if (code == TOOL_CLEAN && request->list)
        print_list(&list);
    else if (code == TOOL_CLEAN && (!path || (code = open_results(path, &list, &results)) == TOOL_CLEAN))
        code = batch_execute(&settings);
    if (results.broken)
        code = TOOL_WRONG;
    if (code == TOOL_CLEAN && results.failed)
        code = TOOL_FINDINGS;
    if (path && results.file > STDERR_FILENO)
        close(results.file);
    free(path);
    batch_free(&list);
    return code;
}

static int cmd_batch(int argc, char **argv)
{
    struct request request = {0};
    struct tool_words line = {
        .verb = "batch", .options = options, .count = argc - 1, .words = argv + 1, .request = &request};
    const char *file = NULL;
    for (int id; (id = tool_next_option(&line)) != TOOL_OPTION_END; file = line.value) {
        if (id == TOOL_OPTION_WRONG)
            return TOOL_WRONG;
        if (file)
            return tool_fail("unexpected '%s': one file at a time, and it is %s", line.value, file);
    }
    if (request.help) {
        fputs(help, stdout);
        return TOOL_CLEAN;
    }
    return file ? batch(&request, file)
                : tool_fail("batch: a file of commands is needed: wavemem batch FILE");
}

const struct tool_verb tool_verb_batch = {
    "batch", "run a list of commands, and write a line of JSON for each", cmd_batch, help, options, NULL};
