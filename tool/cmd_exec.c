/* SPDX-License-Identifier: MIT */
/* wavemem exec: runs a program for AMD GPUs with wavemem in place of the driver. */
#include "tool/tool.h"
#include "wavemem/wavemem.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: wavemem exec [--gpu NAME] [-j THREADS] [--timeout SECONDS] PROGRAM ARGUMENT...\n"
    "\n"
    "Runs a HIP program as it was compiled, on a GPU that is not there: libhsa-runtime64.so.1, the\n"
    "library between HIP and the driver, is replaced by one that executes the kernels.\n"
    "\n"
    "  wavemem exec ./app input.txt            on a product that the program was built for\n"
    "  wavemem exec --gpu mi100 ./app          on another one; the program must contain code for it\n"
    "\n"
    "      --gpu NAME         the product, or the target (gfx906); --gpu list lists them\n"
    "  -j, --threads N        host threads of a kernel; default: one per CPU\n"
    "      --timeout SECONDS  stops a kernel that runs longer\n"
    "\n"
    "Words after PROGRAM are its own. Faults of kernels are reported on standard error. The exit code is "
    "the\n"
    "program's; 2 if it could not be started.\n";

struct request {
    const char *gpu, *threads, *timeout;
    bool help;
};

static const struct tool_option options[] = {
    {"help", 'h', TOOL_NO_VALUE, TOOL_KEEP(help)},
    {"gpu", 0, TOOL_VALUE, TOOL_KEEP(gpu)},
    {"threads", 'j', TOOL_VALUE, TOOL_KEEP(threads)},
    {"timeout", 0, TOOL_VALUE, TOOL_KEEP(timeout)},
    {NULL, 0, TOOL_NO_VALUE, 0},
};

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

int cmd_exec(int argc, char **argv)
{
    struct request request = {0};
    struct choice choice = {0};
    struct tool_words line = {
        .verb = "exec", .options = options, .count = argc - 1, .words = argv + 1, .request = &request};
    char path[PATH_MAX], runtime[PATH_MAX];
    int id;
    while ((id = tool_next_option(&line)) == TOOL_OPTION_KEPT)
        ;
    if (id == TOOL_OPTION_WRONG)
        return TOOL_WRONG;
    if (request.help) {
        fputs(help, stdout);
        return TOOL_CLEAN;
    }
    if (check_numbers(&request))
        return TOOL_WRONG;
    if (request.gpu && !strcmp(request.gpu, "list"))
        return tool_choose_gpu("", "list", &choice.gpu);
    if (id == TOOL_OPTION_END)
        return tool_fail("exec: a program is needed; see 'wavemem exec --help'");
    char **program = argv + line.next; /* argv[0] is the verb, which `words` does not count */
    if (choose(&request, find_program(*program, path), &choice) || find_runtime(runtime))
        return TOOL_WRONG;
    if (!preload(runtime) || !set("WAVEMEM_GPU", choice.gpu->name) || !set("WAVEMEM_TARGET", choice.target) ||
        !set("WAVEMEM_THREADS", request.threads) || !set("WAVEMEM_TIMEOUT", request.timeout))
        return tool_fail("exec: the environment has no room");
    execvp(*program, program);
    return tool_fail("exec: '%s': %s", *program, strerror(errno));
}
