/* SPDX-License-Identifier: MIT */
/* wavemem exec: runs a program for AMD GPUs with wavemem in place of the driver. */
#include "tool/tool.h"
#include "wavemem/wavemem.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char help[] =
    "usage: wavemem exec [--gpu NAME] [-j THREADS] [--timeout SECONDS] [--prof] PROGRAM ARGUMENT...\n"
    "\n"
    "Runs a HIP program as it was compiled, on a GPU that is not there: libhsa-runtime64.so.1, the\n"
    "library between HIP and the driver, is replaced by one that executes the kernels.\n"
    "\n"
    "  wavemem exec ./app input.txt            on a product that the program was built for\n"
    "  wavemem exec --gpu mi100 ./app          on another one; the program must contain code for it\n"
    "  wavemem exec --html app.html ./app      and what the memory instructions of its kernels cost\n"
    "\n"
    "      --gpu NAME         the product, or the target (gfx906); --gpu list lists them\n"
    "  -j, --threads N        host threads of a kernel; default: one per CPU\n"
    "      --timeout SECONDS  stops a kernel that runs longer\n"
    "\n"
    "Words after PROGRAM are its own. Faults of kernels are reported on standard error. The exit code is\n"
    "the program's; 2 if it could not be started.\n"
    "\n"
    "      --prof             when the program has ended, reports what its memory instructions cost, as\n"
    "                         'wavemem prof' does, on standard error, a section per kernel\n"
    "      --kernel REGEX     profiles only kernels whose symbol matches; implies --prof\n"
    "      --show COLUMNS, --sort COLUMN, --all, --instructions, --source[=DIR], --source-path DIR,\n"
    "      --csv FILE, --counters FILE, --html FILE, --json[=FILE], --fail-if CONDITION   as for 'wavemem "
    "prof'; each implies --prof\n"
    "\n"
    "With --prof the exit code is 128 and the signal's number if a signal ended the program; and if the\n"
    "program's is 0, it is that of the report: 1, 2 or 4 as for 'wavemem prof'.\n";

enum { MOST_WORDS = 64 };

struct request {
    const char *gpu, *threads, *timeout, *kernel;
    bool help, prof;
    char *words[MOST_WORDS + 1]; /* for `replay`: its name, options of the report, the trace */
    int word_count;
};

enum { REPORT = 1 }; /* the first option of the report */

static const struct tool_option options[] = {
    {"help", 'h', TOOL_NO_VALUE, TOOL_KEEP(help)},
    {"gpu", 0, TOOL_VALUE, TOOL_KEEP(gpu)},
    {"threads", 'j', TOOL_VALUE, TOOL_KEEP(threads)},
    {"timeout", 0, TOOL_VALUE, TOOL_KEEP(timeout)},
    {"kernel", 0, TOOL_VALUE, TOOL_KEEP(kernel)},
    {"prof", 0, TOOL_NO_VALUE, TOOL_KEEP(prof)},
    {"show", 0, TOOL_VALUE, REPORT},
    {"sort", 0, TOOL_VALUE, REPORT + 1},
    {"source", 0, TOOL_OPTIONAL_VALUE, REPORT + 2},
    {"source-path", 0, TOOL_VALUE, REPORT + 3},
    {"csv", 0, TOOL_VALUE, REPORT + 4},
    {"counters", 0, TOOL_VALUE, REPORT + 5},
    {"html", 0, TOOL_VALUE, REPORT + 6},
    {"json", 0, TOOL_OPTIONAL_VALUE, REPORT + 7},
    {"fail-if", 0, TOOL_VALUE, REPORT + 8},
    {"all", 0, TOOL_NO_VALUE, REPORT + 9},
    {"instructions", 0, TOOL_NO_VALUE, REPORT + 10},
    {NULL, 0, TOOL_NO_VALUE, 0},
};

/* Keeps an option of the report for `replay`. */
static bool keep(struct request *request, int id, const char *value)
{
    const struct tool_option *option = options;
    while (option->id != id)
        option++;
    char **word = &request->words[request->word_count];
    if (request->word_count == MOST_WORDS - 1 ||
        asprintf(word, "--%s%s%s", option->name, value ? "=" : "", value ? value : "") < 0)
        return false;
    request->word_count++;
    request->prof = true;
    return true;
}

/* ---- the GPU ---- */

struct choice {
    const struct wm_gpu *gpu;
    char target[16];
};

/* The target that a name of --gpu stands for: itself, or the product's. */
static void set_target(struct choice *choice, const char *name)
{
    const char *text = name && !strncmp(name, "gfx", 3) ? name : choice->gpu->targets;
    snprintf(choice->target, sizeof choice->target, "%.*s", (int)strcspn(text, " ,:"), text);
}

/* The file that would be executed; the name itself if PATH does not have it. */
static const char *find_program(const char *name, char path[PATH_MAX])
{
    const char *rest = strchr(name, '/') ? NULL : getenv("PATH");
    while (rest && *rest) {
        const size_t length = strcspn(rest, ":");
        snprintf(path, PATH_MAX, "%.*s/%s", (int)length, rest, name);
        if (!access(path, X_OK))
            return path;
        rest += length + (rest[length] == ':');
    }
    return name;
}

/* Appends a word to a list, once. */
static void list(char *text, size_t size, const char *word)
{
    const size_t used = strlen(text), length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at += length)
        if (at[length] == 0 || at[length] == ',')
            return;
    if (used + length + 3 < size)
        snprintf(text + used, size - used, "%s%s", used ? ", " : "", word);
}

/* Chooses from the program's own code objects. A program without any, such as an interpreter, has them
 * elsewhere: gfx900, or what --gpu says. */
static int choose(const struct request *request, const char *program, struct choice *choice)
{
    char targets[400] = "";
    struct wm_bundle *bundle = NULL;
    const struct wm_gpu *first = NULL;
    char first_target[16] = "";
    bool found = false;
    if (request->gpu && tool_choose_gpu("", request->gpu, &choice->gpu))
        return TOOL_WRONG;
    if (!request->gpu)
        choice->gpu = wm_gpu_default("gfx900");
    set_target(choice, request->gpu);
    if (wm_bundle_open_file(program, &bundle, NULL))
        return TOOL_CLEAN;
    for (size_t i = 0; i < wm_bundle_entry_count(bundle); i++) {
        char target[16];
        const char *id = wm_bundle_entry(bundle, i)->target;
        if (!*id)
            continue;
        snprintf(target, sizeof target, "%.*s", (int)strcspn(id, ":"), id);
        list(targets, sizeof targets, target);
        found |= !strcmp(target, choice->target);
        if (!first && (first = wm_gpu_default(target)))
            memcpy(first_target, target, sizeof first_target);
    }
    wm_bundle_close(bundle);
    if (found || !*targets)
        return TOOL_CLEAN;
    if (!first)
        return tool_fail("exec: '%s' is built for %s, and no product with such a target is known", program,
                         targets);
    if (request->gpu)
        return tool_fail("exec: '%s' is built for %s; %s is %s: use --gpu %s", program, targets,
                         choice->gpu->name, choice->target, first->name);
    choice->gpu = first;
    memcpy(choice->target, first_target, sizeof choice->target);
    return TOOL_CLEAN;
}

/* ---- the environment ---- */

/* The library: in the build folder, or where `make install` puts it. */
static int find_runtime(char path[PATH_MAX])
{
    static const char *const places[] = {"shim/hsa", "../lib/wavemem"};
    char own[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    own[length < 0 ? 0 : length] = 0;
    char *end = strrchr(own, '/');
    if (end)
        *end = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (snprintf(path, PATH_MAX, "%s/%s/libhsa-runtime64.so.1", own, places[i]) < PATH_MAX &&
            !access(path, R_OK))
            return TOOL_CLEAN;
    return tool_fail(
        "exec: wavemem's libhsa-runtime64.so.1 is not there: it is built where libhsa-runtime-dev is "
        "installed");
}

/* LD_PRELOAD instead of the search path, because a library's own RPATH comes before that. */
static bool preload(const char *runtime)
{
    const char *before = getenv("LD_PRELOAD");
    const size_t size = strlen(runtime) + (before ? strlen(before) : 0) + 2;
    char *value = malloc(size);
    if (!value)
        return false;
    snprintf(value, size, "%s%s%s", runtime, before && *before ? ":" : "", before ? before : "");
    const bool ok = !setenv("LD_PRELOAD", value, 1);
    free(value);
    return ok;
}

static bool set(const char *name, const char *value)
{
    return value ? !setenv(name, value, 1) : !unsetenv(name);
}

static int check_numbers(const struct request *request)
{
    uint64_t threads;
    double seconds;
    if (request->threads && (!tool_parse_u64(request->threads, &threads) || !threads || threads > 256))
        return tool_fail("-j %s: expected 1 to 256 threads", request->threads);
    if (request->timeout && (!tool_parse_real(request->timeout, &seconds) || seconds <= 0))
        return tool_fail("--timeout %s: expected seconds", request->timeout);
    return TOOL_CLEAN;
}

/* Checks what is used only when the program runs or has ended. */
static int check_profile(struct request *request)
{
    char trace[] = "trace"; /* not read */
    regex_t regex;
    if (request->kernel && regcomp(&regex, request->kernel, REG_EXTENDED | REG_NOSUB))
        return tool_fail("--kernel %s: expected a regular expression", request->kernel);
    if (request->kernel)
        regfree(&regex);
    request->prof |= request->kernel != NULL;
    request->words[request->word_count] = trace;
    const int code = request->prof ? tool_check_replay(request->word_count + 1, request->words) : TOOL_CLEAN;
    request->words[request->word_count] = NULL;
    return code;
}

/* ---- running ---- */

/* Traces have the numbers of their processes as names. */
static int compare_names(const struct dirent **one, const struct dirent **other)
{
    return atol((*one)->d_name) < atol((*other)->d_name) ? -1 : 1;
}

static int is_trace(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return length > 6 && !strcmp(entry->d_name + length - 6, ".trace");
}

static int is_file(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int show_traces(struct request *request, const char *folder, struct dirent **names, int count)
{
    char path[PATH_MAX];
    int code = TOOL_CLEAN;
    if (count > 1 && request->word_count > 1)
        return tool_fail("exec: %d processes ran kernels; options of the report are for one", count);
    dup2(STDERR_FILENO, STDOUT_FILENO); /* standard output is the program's */
    for (int i = 0; i < count; i++) {
        if (snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name) >= PATH_MAX)
            return tool_fail("exec: %s: the name is too long", folder);
        if (count > 1)
            printf("process %ld\n", atol(names[i]->d_name));
        request->words[request->word_count] = path;
        code = tool_worse(code, cmd_replay(request->word_count + 1, request->words));
        request->words[request->word_count] = NULL;
    }
    return code;
}

/* Reports the traces of all processes. own: the program's exit code. */
static int report(struct request *request, const char *folder, int own)
{
    struct dirent **names;
    const int count = scandir(folder, &names, is_trace, compare_names);
    if (count < 0)
        return tool_fail("exec: %s: %s", folder, strerror(errno));
    int code = TOOL_CLEAN;
    if (count)
        code = show_traces(request, folder, names, count);
    else if (!own)
        code = tool_fail("exec: no kernel was profiled");
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
    return code;
}

static void remove_folder(const char *folder)
{
    struct dirent **names;
    char path[PATH_MAX];
    const int count = scandir(folder, &names, is_file, NULL);
    for (int i = 0; i < count; i++) {
        if (snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name) < PATH_MAX)
            unlink(path);
        free(names[i]);
    }
    if (count >= 0)
        free(names);
    rmdir(folder);
}

static int become(char **program)
{
    execvp(*program, program);
    return tool_fail("exec: '%s': %s", *program, strerror(errno));
}

/* Runs the program in a child, and then reports. */
static int run_and_report(struct request *request, char **program)
{
    const char *temporary = getenv("TMPDIR");
    char folder[PATH_MAX];
    int status;
    snprintf(folder, sizeof folder, "%s/wavemem-XXXXXX", temporary && *temporary ? temporary : "/tmp");
    if (!mkdtemp(folder))
        return tool_fail("exec: %s: %s", folder, strerror(errno));
    const pid_t child = set("WAVEMEM_TRACES", folder) ? fork() : -1;
    if (!child)
        _exit(become(program));
    signal(SIGINT, SIG_IGN); /* the program gets it, too, and the folder must go */
    signal(SIGQUIT, SIG_IGN);
    if (child < 0 || waitpid(child, &status, 0) < 0) {
        rmdir(folder);
        return tool_fail("exec: no process can be started: %s", strerror(errno));
    }
    const int own = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    const int code = report(request, folder, own);
    remove_folder(folder);
    return own ? own : code;
}

static int run(struct request *request, int argc, char **argv)
{
    struct choice choice = {0};
    struct tool_words line = {
        .verb = "exec", .options = options, .count = argc - 1, .words = argv + 1, .request = request};
    char path[PATH_MAX], runtime[PATH_MAX];
    int id;
    while ((id = tool_next_option(&line)) >= REPORT)
        if (!keep(request, id, line.value))
            return tool_fail("exec: too many options");
    if (id == TOOL_OPTION_WRONG)
        return TOOL_WRONG;
    if (request->help) {
        fputs(help, stdout);
        return TOOL_CLEAN;
    }
    if (check_numbers(request) || check_profile(request))
        return TOOL_WRONG;
    if (request->gpu && !strcmp(request->gpu, "list"))
        return tool_choose_gpu("", "list", &choice.gpu);
    if (id == TOOL_OPTION_END)
        return tool_fail("exec: a program is needed; see 'wavemem exec --help'");
    char **program = argv + line.next; /* argv[0] is the verb, which `words` does not count */
    if (choose(request, find_program(*program, path), &choice) || find_runtime(runtime))
        return TOOL_WRONG;
    if (!preload(runtime) || !set("WAVEMEM_GPU", choice.gpu->name) || !set("WAVEMEM_TARGET", choice.target) ||
        !set("WAVEMEM_THREADS", request->threads) || !set("WAVEMEM_TIMEOUT", request->timeout) ||
        !set("WAVEMEM_KERNEL", request->kernel) || !set("WAVEMEM_TRACES", NULL))
        return tool_fail("exec: the environment has no room");
    return request->prof ? run_and_report(request, program) : become(program);
}

int cmd_exec(int argc, char **argv)
{
    struct request request = {.words = {(char *)"replay"}, .word_count = 1};
    const int code = run(&request, argc, argv);
    for (int i = 1; i < request.word_count; i++)
        free(request.words[i]);
    return code;
}
