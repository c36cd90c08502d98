/* SPDX-License-Identifier: MIT */
/* wavemem exec: runs a program for AMD GPUs with wavemem in place of the driver. */
#include "tool/debug/launch.h"
#include "tool/exec/exec.h"
#include "wavemem/wavemem.h"

#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: wavemem exec [--gpu NAME[,NAME...]] [-j THREADS] [--timeout SECONDS] [--prof] PROGRAM "
    "ARGUMENT...\n"
    "\n"
    "Runs a HIP, Vulkan or OpenCL program as it was compiled, on a GPU that is not there. Under HIP,\n"
    "libhsa-runtime64.so.1 is replaced by a library that executes the kernels; under Mesa's drivers\n"
    "(RADV for Vulkan, clover for OpenCL), the kernel driver amdgpu is, for compute and transfers.\n"
    "\n"
    "  wavemem exec ./app input.txt            on a product that the program was built for\n"
    "  wavemem exec --gpu rx6800 ./app         a Vulkan program; Mesa compiles its shaders for the product\n"
    "  wavemem exec --gpu mi100 ./app          on another one; the program must contain code for it\n"
    "  wavemem exec --gpu mi100,mi210 ./app    on two GPUs\n"
    "  wavemem exec --html app.html ./app      and what the memory instructions of its kernels cost\n"
    "  wavemem exec --kernel '^gemm' --launches 3-5 ./app   the same of a few launches only\n"
    "\n"
    "      --gpu NAME         the product, or the target (gfx906); --gpu list lists them; several, "
    "separated\n"
    "                         by commas; the program must contain code for each\n"
    "  -j, --threads N        host threads of a kernel; default: one per CPU\n"
    "      --timeout SECONDS  stops a kernel that runs longer\n"
    "      --on-fault HOW     stop: a fault ends its queue, and libamdhip64 5.2 then the program (default);\n"
    "                         continue: the rest of the kernel is skipped, and the program goes on\n"
    "      --queues KIND      Vulkan: all queues of the driver (default), or compute: those without "
    "graphics, where\n"
    "                         images are copied by dispatches instead of draws, which are not executed\n"
    "      --packets FILE     Vulkan, OpenCL: writes the command buffers that the driver submits as text\n"
    "      --fidelity         lists the instructions that the kernels executed, with counts and whether "
    "each\n"
    "                         is exact, approximate or unverified\n"
    "      --prof             when the program has ended, reports what its memory instructions cost, as\n"
    "                         'wavemem prof' does, a section per kernel\n"
    "      --check[=LIST]     finds errors that the hardware lets pass, as 'wavemem check' does, in all "
    "launches;\n"
    "                         the options below; --kernel restricts the report, --json and --all are the\n"
    "                         check's without --prof. Implies --on-fault continue for memory violations\n"
    "      --leaks            with --check, notes of memory of the device that was never freed, with the "
    "place\n"
    "                         that allocated it\n"
    "      --kernel REGEX     observes only kernels whose name or symbol matches\n"
    "      --launches LIST    observes only these launches of each kernel, counted from 1: 3, 3-5, 7-, "
    "1,3-5\n"
    "      --debug            stops before the first kernel, at a prompt with the commands of 'wavemem "
    "debug';\n"
    "                         -x FILE, --eval-command COMMAND and --batch as there; it prints on standard "
    "error.\n"
    "                         --gdb PORT serves GDB's protocol instead, as there.\n"
    "                         With --check, it also stops where a launch has the first finding of its own\n"
    "      --trace FILE       keeps the trace of the profile, for 'wavemem replay', with the sources\n"
    "      --show COLUMNS, --sort COLUMN, --all, --instructions, --source[=DIR], --source-path DIR,\n"
    "      --csv FILE, --counters FILE, --html FILE, --json[=FILE], --fail-if CONDITION   as for 'wavemem "
    "prof'\n"
    "\n"
    "Words after PROGRAM are its own, and so is its standard output: faults and reports go to standard\n"
    "error. --prof is implied by what follows it above; by --kernel and --launches only without --fidelity "
    "and\n"
    "--check.\n"
    "Kernels of the runtime (__amd_rocclr_*) are not observed. While a kernel is observed, others wait. If\n"
    "several processes of the program ran kernels, each has its report; that to FILE.json goes to\n"
    "FILE.1.json, FILE.2.json ..., in the order in which they called the runtime first.\n"
    "\n"
    "The exit code is the program's, 128 and the signal's number if a signal ended it, unless wavemem has\n"
    "something to say. The first that applies: 130 Ctrl-C ended the program; 3 a kernel faulted or could\n"
    "not be started, whatever the program made of it; 2 wrong usage, the program could not be started, a\n"
    "report could not be written, or no kernel was profiled although the program succeeded; 1 a condition\n"
    "of --fail-if holds; 4 something that was to be observed was not, as when the program was killed.\n"
    "If the program itself exits with 1 to 4, the last line on standard error says so, and so does\n"
    "program_exit_code in the JSON of --check.\n";

struct request {
    const char *gpu, *threads, *timeout, *on_fault, *queues, *packets, *kernel, *launches;
    bool help, debug, batch;
    const char *gdb;
    struct tool_kept_list commands;
    struct tool_check_request check;
    struct exec_wanted wanted;
};

/* Ids of the options of the report: of those that name files, and of the others. */
enum { FILES = 1, JSON = 50, OTHERS = 100, ALL = 150, CHECK = 200 };

static const struct tool_option options[] = {
    {"help", 'h', TOOL_NO_VALUE, TOOL_KEEP(help)},
    {"gpu", 0, TOOL_VALUE, TOOL_KEEP(gpu)},
    {"threads", 'j', TOOL_VALUE, TOOL_KEEP(threads)},
    {"timeout", 0, TOOL_VALUE, TOOL_KEEP(timeout)},
    {"on-fault", 0, TOOL_VALUE, TOOL_KEEP(on_fault)},
    {"queues", 0, TOOL_VALUE, TOOL_KEEP(queues)},
    {"packets", 0, TOOL_VALUE, TOOL_KEEP(packets)},
    {"kernel", 0, TOOL_VALUE, TOOL_KEEP(kernel)},
    {"launches", 0, TOOL_VALUE, TOOL_KEEP(launches)},
    {"fidelity", 0, TOOL_NO_VALUE, TOOL_KEEP(wanted.fidelity)},
    {"prof", 0, TOOL_NO_VALUE, TOOL_KEEP(wanted.profile)},
    {"trace", 0, TOOL_VALUE, TOOL_KEEP(wanted.trace)},
    {"debug", 0, TOOL_NO_VALUE, TOOL_KEEP(debug)},
    {"gdb", 0, TOOL_VALUE, TOOL_KEEP(gdb)},
    {"command", 'x', TOOL_VALUE, TOOL_OPTION_LISTED, offsetof(struct request, commands)},
    {"eval-command", 0, TOOL_VALUE, TOOL_OPTION_LISTED, offsetof(struct request, commands)},
    {"batch", 0, TOOL_NO_VALUE, TOOL_KEEP(batch)},
    {"check", 0, TOOL_OPTIONAL_VALUE, CHECK},
    TOOL_CHECK_OPTIONS(struct request, check),
    {"leaks", 0, TOOL_NO_VALUE, TOOL_KEEP(check.leaks)},
    {"shuffle", 0, TOOL_VALUE, TOOL_KEEP(check.shuffle)},
    {"csv", 0, TOOL_VALUE, FILES},
    {"counters", 0, TOOL_VALUE, FILES + 1},
    {"html", 0, TOOL_VALUE, FILES + 2},
    {"json", 0, TOOL_OPTIONAL_VALUE, JSON},
    {"show", 0, TOOL_VALUE, OTHERS},
    {"sort", 0, TOOL_VALUE, OTHERS + 1},
    {"source", 0, TOOL_OPTIONAL_VALUE, OTHERS + 2},
    {"source-path", 0, TOOL_VALUE, OTHERS + 3},
    {"fail-if", 0, TOOL_VALUE, OTHERS + 4},
    {"all", 0, TOOL_NO_VALUE, ALL},
    {"instructions", 0, TOOL_NO_VALUE, OTHERS + 6},
    {NULL, 0, TOOL_NO_VALUE, 0},
};

static const char shard_instead[] =
    "the program reads what one launch computed before it starts the next; 'wavemem prof PROGRAM -k KERNEL "
    "--shard I/N --part FILE', 'run' and 'check' split one kernel of it, 'wavemem batch' a list of programs";
static const struct tool_absent absent[] = {
    {"shard", shard_instead},
    {"part", shard_instead},
    {NULL, NULL},
};

/* Keeps an option of the report. */
static bool keep(struct exec_wanted *wanted, int id, const char *value)
{
    const struct tool_option *option = options;
    while (option->id != id)
        option++;
    if (wanted->kept_count == EXEC_KEPT)
        return false;
    wanted->kept[wanted->kept_count].name = option->name;
    wanted->kept[wanted->kept_count].value = value;
    wanted->kept[wanted->kept_count++].is_file = id < OTHERS;
    wanted->profile |= id != JSON && id != ALL;
    wanted->hides_text |= !strcmp(option->name, "json") && !value;
    return true;
}

/* ---- checks before the program runs ---- */

/* "3", "3-5", "7-", separated by commas. */
static bool is_launches(const char *text)
{
    static const char digits[] = "0123456789";
    for (;;) {
        char first[24], last[24];
        const size_t length = strspn(text, digits);
        uint64_t from, to;
        snprintf(first, sizeof first, "%.*s", (int)length, text);
        if (length >= sizeof first || !tool_parse_u64(first, &from) || !from)
            return false;
        text += length;
        if (*text == '-') {
            const size_t more = strspn(++text, digits);
            snprintf(last, sizeof last, "%.*s", (int)more, text);
            if (more && (more >= sizeof last || !tool_parse_u64(last, &to) || to < from))
                return false;
            text += more;
        }
        if (*text++ != ',')
            return !text[-1];
    }
}

static int check_values(const struct request *request)
{
    uint64_t threads;
    double seconds;
    regex_t regex;
    if (request->threads && (!tool_parse_u64(request->threads, &threads) || !threads || threads > 256))
        return tool_fail("-j %s: expected 1 to 256 threads", request->threads);
    if (request->timeout && (!tool_parse_real(request->timeout, &seconds) || seconds <= 0))
        return tool_fail("--timeout %s: expected seconds", request->timeout);
    if (request->on_fault && strcmp(request->on_fault, "stop") && strcmp(request->on_fault, "continue"))
        return tool_fail("--on-fault %s: expected stop or continue", request->on_fault);
    if (request->queues && strcmp(request->queues, "all") && strcmp(request->queues, "compute"))
        return tool_fail("--queues %s: expected all or compute", request->queues);
    if (request->launches && !is_launches(request->launches))
        return tool_fail("--launches %s: expected numbers from 1 on, such as 3, 3-5, 7- or 1,3-5",
                         request->launches);
    if (request->kernel && regcomp(&regex, request->kernel, REG_EXTENDED | REG_NOSUB))
        return tool_fail("--kernel %s: expected a regular expression", request->kernel);
    if (request->kernel)
        regfree(&regex);
    return TOOL_CLEAN;
}

/* ---- running ---- */

/* The folders from which sources may go into traces: the current one, and those of --source-path and
 * --source. NULL: no trace is kept, or out of memory. */
static char *source_folders(const struct exec_wanted *wanted)
{
    char *text = NULL;
    size_t size;
    FILE *out = wanted->trace ? open_memstream(&text, &size) : NULL;
    char *path = realpath(".", NULL);
    if (out && path)
        fputs(path, out);
    free(path);
    for (int i = 0; out && i < wanted->kept_count; i++) {
        if (strncmp(wanted->kept[i].name, "source", 6) || !wanted->kept[i].value)
            continue;
        path = realpath(wanted->kept[i].value, NULL);
        fprintf(out, ":%s", path ? path : "");
        free(path);
    }
    if (out)
        fclose(out);
    return text;
}

/* Creates a machine, as the runtime will do, which refuses wrong variables of the environment. */
static int try_machine(const char *target)
{
    struct wm_machine *machine;
    struct wm_diag diag;
    if (wm_machine_create(target, &machine, &diag) != WM_OK)
        return tool_fail("%s", diag.message);
    wm_machine_destroy(machine);
    return TOOL_CLEAN;
}

/* Makes the file of --packets empty, and finds its full name, since processes of the program may be in other
 * folders. */
static int begin_packets(const char *name, char path[PATH_MAX])
{
    FILE *file = name ? fopen(name, "we") : NULL;
    if (file)
        fclose(file);
    return !name || (file && realpath(name, path)) ? TOOL_CLEAN
                                                   : tool_fail("--packets %s: %s", name, strerror(errno));
}

/* Hands the commands of the debugger to the library that the program loads. */
static bool set_commands(const struct request *request)
{
    char count[24];
    bool good = !unsetenv(DEBUG_COMMANDS) && !unsetenv(DEBUG_BATCH) && !unsetenv(DEBUG_GDB);
    snprintf(count, sizeof count, "%zu", request->commands.count);
    if (request->debug)
        good &= !setenv(DEBUG_COMMANDS, count, 1) && !(request->batch && setenv(DEBUG_BATCH, "1", 1)) &&
                !(request->gdb && setenv(DEBUG_GDB, request->gdb, 1));
    for (size_t i = 0; i < request->commands.count; i++) {
        const struct tool_kept *one = &request->commands.kept[i];
        char name[48], *value = NULL;
        snprintf(name, sizeof name, DEBUG_COMMAND, i);
        good = good && asprintf(&value, "%c%s", one->letter == 'x' ? 'x' : 'e', one->value) >= 0 &&
               !setenv(name, value, 1);
        free(value);
    }
    return good;
}

/* Files of commands are read by the program's process, perhaps in another folder: makes their paths absolute.
 */
static int check_commands(struct request *request, char **paths)
{
    for (size_t i = 0; i < request->commands.count; i++) {
        struct tool_kept *one = &request->commands.kept[i];
        if (one->letter != 'x')
            continue;
        paths[i] = realpath(one->value, NULL);
        if (!paths[i] || access(paths[i], R_OK))
            return tool_fail("-x %s: %s", one->value, strerror(errno));
        one->value = paths[i];
    }
    uint64_t port;
    if (request->gdb && (!tool_parse_u64(request->gdb, &port) || port > UINT16_MAX))
        return tool_fail("exec: --gdb %s: expected a port", request->gdb);
    if (request->gdb && (request->commands.count || request->batch || request->wanted.check))
        return tool_fail("exec: --gdb cannot be combined with -x, --eval-command, --batch and --check");
    if (!request->debug && (request->commands.count || request->batch || request->gdb))
        return tool_fail("exec: %s needs --debug", request->gdb               ? "--gdb"
                                                   : !request->commands.count ? "--batch"
                                                   : request->commands.kept[0].letter == 'x'
                                                       ? "-x"
                                                       : "--eval-command");
    if (request->debug && (request->wanted.profile || request->wanted.fidelity || request->check.shuffle))
        return tool_fail(
            "exec: --debug cannot be combined with --prof, --fidelity, --shuffle and their options");
    return TOOL_CLEAN;
}

static int run(const struct request *request, char **program)
{
    char path[PATH_MAX], folder[PATH_MAX], packets[PATH_MAX];
    struct exec_libraries libraries;
    struct exec_driver driver;
    struct exec_gpus gpus;
    char classes[16];
    int own;
    snprintf(classes, sizeof classes, "0x%x", request->check.classes);
    if (exec_choose_gpus(request->gpu, exec_find_program(*program, path), &gpus) ||
        try_machine(gpus.target[0]) || exec_find_libraries(&libraries) ||
        begin_packets(request->packets, packets) || exec_make_folder(folder))
        return TOOL_WRONG;
    const bool compute = request->queues && !strcmp(request->queues, "compute");
    if (exec_find_driver(&libraries, folder, compute, &driver)) {
        exec_remove_folder(folder);
        return TOOL_WRONG;
    }
    char *sources = source_folders(&request->wanted);
    const struct exec_setting settings[] = {
        {"WAVEMEM_GPU", gpus.names},
        {"WAVEMEM_TARGET", gpus.targets},
        {"WAVEMEM_THREADS", request->threads},
        {"WAVEMEM_TIMEOUT", request->timeout},
        {"WAVEMEM_ON_FAULT", request->on_fault},
        {"WAVEMEM_KERNEL", request->kernel},
        {"WAVEMEM_LAUNCHES", request->launches},
        {"WAVEMEM_PROFILE", request->wanted.profile ? "1" : NULL},
        {"WAVEMEM_LEAKS", request->check.leaks ? "1" : NULL},
        {"WAVEMEM_SHUFFLE", request->wanted.check ? request->check.shuffle : NULL},
        {"WAVEMEM_CHECK", request->wanted.check ? classes : NULL},
        {"WAVEMEM_FIDELITY", request->wanted.fidelity ? "1" : NULL},
        {"WAVEMEM_RESULTS", folder},
        {"WAVEMEM_SOURCES", sources},
        {"WAVEMEM_PACKETS", request->packets ? packets : NULL},
        {"WAVEMEM_QUEUES", request->queues},
        {*driver.manifest ? "VK_DRIVER_FILES" : NULL, driver.manifest}, /* or the end of the list */
        {"VK_ICD_FILENAMES", driver.manifest},
        {"WAVEMEM_RADV", driver.radv},
        {NULL, NULL},
    };
    int code = set_commands(request) ? exec_run(program, &libraries, settings, &own)
                                     : tool_fail("exec: the environment has no room");
    if (code == TOOL_CLEAN)
        code = exec_report(&request->wanted, folder, own);
    exec_remove_folder(folder);
    free(sources);
    return code;
}

/* Decides whose options those are that a profile and a check both have. */
static void share_options(struct request *request)
{
    struct exec_wanted *wanted = &request->wanted;
    struct tool_check_request *check = &request->check;
    wanted->profile |= wanted->trace != NULL;
    if (check->given) {
        wanted->check = check;
        if (!check->only_kernel)
            check->only_kernel = request->kernel;
    } else {
        wanted->profile |= wanted->kept_count > 0;
        wanted->profile |= (request->kernel || request->launches) && !wanted->fidelity;
    }
    for (int i = 0; i < wanted->kept_count && check->given; i++) {
        check->all |= !strcmp(wanted->kept[i].name, "all");
        if (strcmp(wanted->kept[i].name, "json") || wanted->profile)
            continue;
        check->json = true;
        check->json_path = wanted->kept[i].value;
    }
    if (!wanted->profile && check->given)
        wanted->kept_count = 0;
}

static int exec(struct request *request, int argc, char **argv)
{
    struct tool_words line = {.verb = "exec",
                              .options = options,
                              .absent = absent,
                              .count = argc - 1,
                              .words = argv + 1,
                              .request = request};
    const struct wm_gpu *gpu;
    int id;
    while ((id = tool_next_option(&line)) >= FILES)
        if (id == CHECK) {
            request->check.given = true;
            request->check.chosen |= line.value != NULL;
            if (line.value && tool_check_add_classes(&request->check, "--check", line.value))
                return TOOL_WRONG;
        } else if (!keep(&request->wanted, id, line.value)) {
            return tool_fail("exec: too many options");
        }
    if (id == TOOL_OPTION_WRONG)
        return TOOL_WRONG;
    if (request->help) {
        fputs(help, stdout);
        putchar('\n');
        fputs(tool_check_help, stdout);
        return TOOL_CLEAN;
    }
    share_options(request);
    if (check_values(request) || tool_check_prepare(&request->check) || exec_check_wanted(&request->wanted))
        return TOOL_WRONG;
    if (request->gpu && !strcmp(request->gpu, "list"))
        return tool_choose_gpu("", "list", &gpu);
    if (id == TOOL_OPTION_END)
        return tool_fail("exec: a program is needed; see 'wavemem exec --help'");
    char *paths[TOOL_KEPT_MOST] = {NULL};
    int code = check_commands(request, paths);
    if (code == TOOL_CLEAN)
        code = run(request, argv + line.next); /* argv[0] is the verb, which `words` does not count */
    for (size_t i = 0; i < TOOL_KEPT_MOST; i++)
        free(paths[i]);
    return code;
}

static int cmd_exec(int argc, char **argv)
{
    struct request request = {0};
    const int code = exec(&request, argc, argv);
    tool_check_free(&request.check);
    return code;
}

const struct tool_verb tool_verb_exec = {
    "exec", "run a HIP, Vulkan or OpenCL program as it is, on a simulated GPU", cmd_exec, help, options,
    NULL};
